/* SPDX-License-Identifier: LGPL-2.1-or-later
 * topology.c: pipelines of elements that are identities or delays.
 */
#include "topology.h"

#include <stdarg.h>
#include <string.h>

#define N_OF(array, rand) g_rand_int_range (rand, 0, G_N_ELEMENTS (array))

void
tfx_topology_tell (TfxTopology *self, const gchar *format, ...)
{
  va_list args;

  g_mutex_lock (&self->lock);
  va_start (args, format);
  g_string_append_vprintf (self->tale, format, args);
  va_end (args);
  g_mutex_unlock (&self->lock);
}

void
tfx_topology_complain (TfxTopology *self, const gchar *format, ...)
{
  va_list args;

  g_mutex_lock (&self->lock);
  va_start (args, format);
  if (!self->error)
    self->error = g_strdup_vprintf (format, args);
  va_end (args);
  g_mutex_unlock (&self->lock);
}

/* ---- nodes ---------------------------------------------------------------- */

/* Texts that mean the same, also while one fades into another. */
static const gchar *const identities[] = { "", "Gain(1)", "Gain(1) | Gain(1)",
  "FIR([1])", "(Gain(0.25) + Gain(0.75))" };
static const gchar *const delays[][2] = {
  { "d=FIR([0, 1])", "d=FIR([0, 1]) | Gain(1)" },
  { "d=FIR([0, 0, 1])", "Gain(1) | d=FIR([0, 0, 1])" },
  { "d=Delay(delay_samples=7, mix=1, taps=1)",
      "Gain(1) | d=Delay(delay_samples=7, mix=1, taps=1) | FIR([1])" },
  { "Gain(2) | d=FIR([0, 0, 0, 0.5])", "Gain(2) | d=FIR([0, 0, 0, 0.5])" },
};
static const gsize delay_frames[] = { 1, 2, 7, 3 };

/* "<0,0,1>" */
static GstElement *
make_fir (GRand *rand, gsize n_taps, gsize at, gboolean align)
{
  static const gchar *const methods[] = { "auto", "direct", "fft" };
  GString *line = g_string_new ("tfxfir kernel=\"<");
  GstElement *element;

  for (gsize i = 0; i < n_taps; i++)
    g_string_append_printf (line, "%s%d.0", i ? "," : "", i == at);
  g_string_append_printf (line, ">\" align=%s method=%s",
      align ? "true" : "false", methods[N_OF (methods, rand)]);
  element = gst_parse_launch (line->str, NULL);
  fail_unless (element != NULL, "%s", line->str);
  g_string_free (line, TRUE);
  return element;
}

/* A tfx element; *holds frames. */
static GstElement *
draw_filter (TfxTopology *self, GRand *rand, gsize *delay, gsize *holds,
    GString *name)
{
  GstElement *element;
  guint which = g_rand_int_range (rand, 0, self->has_holds ? 4 : 3), at;

  *delay = *holds = 0;
  switch (which) {
    case 0:
      at = N_OF (identities, rand);
      element = gst_element_factory_make ("tfxchain", NULL);
      g_object_set (element, "chain", identities[at], NULL);
      g_object_set_data (G_OBJECT (element), "texts", GUINT_TO_POINTER (1));
      g_string_append_printf (name, "tfxchain chain=\"%s\"", identities[at]);
      break;
    case 1:
      at = N_OF (delays, rand);
      element = gst_element_factory_make ("tfxchain", NULL);
      *delay = delay_frames[at];
      g_object_set (element, "chain", delays[at][0], NULL);
      g_object_set_data (G_OBJECT (element), "texts",
          GUINT_TO_POINTER (2 + at));
      g_string_append_printf (name, "tfxchain chain=\"%s\"", delays[at][0]);
      break;
    case 2:
      *delay = g_rand_int_range (rand, 0, g_rand_boolean (rand) ? 4 : 200);
      element = make_fir (rand, *delay + 1, *delay, FALSE);
      g_string_append_printf (name, "tfxfir align=false delay=%u",
          (guint)*delay);
      break;
    default:
      *holds = g_rand_int_range (rand, 0, g_rand_boolean (rand) ? 4 : 100);
      element = make_fir (rand, 2 * *holds + 1, *holds, TRUE);
      g_string_append_printf (name, "tfxfir align=true holds=%u",
          (guint)*holds);
      break;
  }
  return element;
}

/* A bin of one or two tfx elements; its pads may have functions. */
static GstElement *
draw_bin (TfxTopology *self, GRand *rand, gsize *delay, gsize *holds,
    GString *name, GstPad **ghost)
{
  GstElement *bin = gst_bin_new (NULL), *elements[2] = { NULL };
  const guint n = g_rand_int_range (rand, 1, 3);
  GstPad *pad;

  g_string_append (name, "( ");
  *delay = *holds = 0;
  for (guint i = 0; i < n; i++) {
    gsize d, h;

    g_string_append (name, i ? " ! " : "");
    elements[i] = draw_filter (self, rand, &d, &h, name);
    *delay += d;
    *holds += h;
    gst_bin_add (GST_BIN (bin), elements[i]);
  }
  g_string_append (name, " )");
  if (n == 2)
    fail_unless (gst_element_link (elements[0], elements[1]));
  pad = gst_element_get_static_pad (elements[0], "sink");
  *ghost = gst_ghost_pad_new ("sink", pad);
  gst_element_add_pad (bin, *ghost);
  gst_object_unref (pad);
  pad = gst_element_get_static_pad (elements[n - 1], "src");
  gst_element_add_pad (bin, gst_ghost_pad_new ("src", pad));
  gst_object_unref (pad);
  return bin;
}

static GstElement *
draw_foreign (TfxTopology *self, GRand *rand, gboolean may_queue, GString *name,
    gboolean *is_queue)
{
  static const gchar *const factories[] = { "identity", "audioconvert",
    "volume", "level", "queue" };
  guint at = g_rand_int_range (rand, 0, may_queue ? 5 : 4);
  GstElement *element;

  /* Some have no planes. */
  if ((at == 2 || at == 3) && self->has_planes)
    at = 0;
  element = gst_element_factory_make (factories[at], NULL);
  fail_unless (element != NULL, "no %s", factories[at]);
  if (at == 3)
    g_object_set (element, "post-messages", FALSE, NULL);
  *is_queue = at == 4;
  g_string_append (name, factories[at]);
  return element;
}

static TfxDeedsKind
draw_deed (TfxTopology *self, GRand *rand)
{
  return g_rand_int_range (rand, 0,
      self->has_holds ? TFX_DEEDS_DROP : TFX_DEEDS_N);
}

static TfxDeeds *
add_deeds (TfxTopology *self, TfxDeedsKind kind, TfxModelSpot *spot)
{
  TfxDeeds *deeds = tfx_deeds_new (kind, spot, self->info.rate);

  g_ptr_array_add (self->deeds, deeds);
  return deeds;
}

TfxTopologyNode *
tfx_topology_draw_node (TfxTopology *self, GRand *rand, gboolean may_queue)
{
  TfxTopologyNode *node = g_new0 (TfxTopologyNode, 1);
  GString *name = g_string_new (NULL);
  gsize delay = 0, holds = 0;
  gboolean is_queue = FALSE, has_function = FALSE;
  GstPad *ghost = NULL;
  guint which = g_rand_int_range (rand, 0, 10);
  TfxDeedsKind kind = TFX_DEEDS_N;

  if (which < 3)
    node->element = draw_foreign (self, rand, may_queue, name, &is_queue);
  else if (which < 7)
    node->element = draw_filter (self, rand, &delay, &holds, name);
  else
    node->element = draw_bin (self, rand, &delay, &holds, name, &ghost);
  has_function = ghost && g_rand_int_range (rand, 0, 4) > 0;
  if (has_function) {
    kind = draw_deed (self, rand);
    g_string_append_printf (name, " with a pad that does '%s'",
        tfx_deeds_name (kind));
  }
  gst_object_ref_sink (node->element);
  node->model = tfx_model_node_new (name->str, delay);
  node->can_go = !is_queue && holds == 0;
  node->can_go_ended = !is_queue;
  if (has_function)
    tfx_deeds_ghost (add_deeds (self, kind, &node->model->before), ghost);
  if (!self->fuse)
    tfx_check_set_fuse (node->element, FALSE);
  g_ptr_array_add (self->nodes, node);
  g_string_free (name, TRUE);
  return node;
}

static void
free_node (gpointer data)
{
  TfxTopologyNode *node = data;

  gst_element_set_state (node->element, GST_STATE_NULL);
  gst_object_unref (node->element);
  tfx_model_node_free (node->model);
  g_free (node);
}

/* ---- settings ------------------------------------------------------------- */

static void
gather_chain (const GValue *item, gpointer data)
{
  GObject *element = g_value_get_object (item);

  if (g_object_get_data (element, "texts"))
    g_ptr_array_add (data, g_object_ref (element));
}

void
tfx_topology_draw_text (TfxTopology *self, GRand *rand)
{
  g_autoptr (GPtrArray) chains =
      g_ptr_array_new_with_free_func (g_object_unref);
  GstIterator *all = gst_bin_iterate_recurse (GST_BIN (self->bin));
  const guint at = g_rand_int (rand), which = g_rand_int (rand);

  while (
      gst_iterator_foreach (all, gather_chain, chains) == GST_ITERATOR_RESYNC) {
    g_ptr_array_set_size (chains, 0);
    gst_iterator_resync (all);
  }
  gst_iterator_free (all);
  if (chains->len > 0) {
    GObject *chain = g_ptr_array_index (chains, at % chains->len);
    guint texts = GPOINTER_TO_UINT (g_object_get_data (chain, "texts"));
    const gchar *text = texts == 1
                            ? identities[which % G_N_ELEMENTS (identities)]
                            : delays[texts - 2][which % 2];

    g_object_set (chain, "chain", text, NULL);
    tfx_topology_tell (self, " chain=\"%s\"", text);
  }
}

void
tfx_topology_draw_probe (TfxTopology *self, GRand *rand)
{
  TfxTopologyBranch *branch =
      &self->branches[g_rand_int_range (rand, 0, self->n_branches)];
  TfxDeedsKind kind = draw_deed (self, rand);
  guint at = g_rand_int (rand);
  TfxTopologyNode *node;
  GstPad *pad;

  if (branch->nodes->len == 0)
    return;
  node = g_ptr_array_index (branch->nodes, at % branch->nodes->len);
  if (node->has_probe || node->model->gone != TFX_MODEL_NEVER)
    return;
  node->has_probe = TRUE;
  tfx_topology_tell (self, " '%s' behind %s", tfx_deeds_name (kind),
      node->model->name);
  pad = gst_element_get_static_pad (node->element, "src");
  tfx_deeds_probe (add_deeds (self, kind, &node->model->after), pad);
  gst_object_unref (pad);
}

/* ---- the pipeline ------------------------------------------------------------ */

static void
draw_branch (TfxTopology *self, TfxTopologyBranch *branch, GRand *rand, guint n,
    GstPad *end)
{
  GstPad *src = gst_object_ref (branch->head), *pad;

  branch->nodes = g_ptr_array_new ();
  for (guint i = 0; i < n; i++) {
    TfxTopologyNode *node = tfx_topology_draw_node (self, rand, TRUE);

    tfx_topology_tell (self, " ! %s", node->model->name);
    gst_bin_add (GST_BIN (self->bin), node->element);
    pad = gst_element_get_static_pad (node->element, "sink");
    fail_unless_equals_int (gst_pad_link (src, pad), GST_PAD_LINK_OK);
    gst_object_unref (pad);
    gst_object_unref (src);
    src = gst_element_get_static_pad (node->element, "src");
    g_ptr_array_add (branch->nodes, node);
  }
  fail_unless_equals_int (gst_pad_link (src, end), GST_PAD_LINK_OK);
  gst_object_unref (src);
}

static GstAudioInfo
draw_info (GRand *rand)
{
  return tfx_check_info (g_rand_boolean (rand) ? GST_AUDIO_FORMAT_F64
                                               : GST_AUDIO_FORMAT_F32,
      g_rand_boolean (rand) ? 48000 : 44100, g_rand_int_range (rand, 1, 4),
      g_rand_int_range (rand, 0, 4) ? GST_AUDIO_LAYOUT_INTERLEAVED
                                    : GST_AUDIO_LAYOUT_NON_INTERLEAVED);
}

TfxTopology *
tfx_topology_new (GRand *rand, gboolean fuse)
{
  TfxTopology *self = g_new0 (TfxTopology, 1);
  gboolean has_tee = g_rand_int_range (rand, 0, 3) == 0;
  GstPad *pad;

  self->fuse = fuse;
  self->has_holds = g_rand_boolean (rand);
  self->info = draw_info (rand);
  self->has_planes = self->info.layout != GST_AUDIO_LAYOUT_INTERLEAVED;
  self->tale = g_string_new (NULL);
  self->nodes = g_ptr_array_new_with_free_func (free_node);
  self->deeds = g_ptr_array_new_with_free_func ((GDestroyNotify)tfx_deeds_free);
  self->eras = g_array_new (FALSE, FALSE, sizeof (TfxModelEra));
  self->bin = gst_object_ref_sink (gst_bin_new (NULL));
  self->bus = gst_bus_new ();
  gst_element_set_bus (self->bin, self->bus);
  self->src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
  tfx_topology_open_ends (self, has_tee ? 2 : 1);
  tfx_topology_tell (self, "%s %d Hz, %d channels, %s%s\n  source",
      gst_audio_format_to_string (GST_AUDIO_INFO_FORMAT (&self->info)),
      self->info.rate, self->info.channels,
      self->info.layout ? "planar" : "interleaved", fuse ? ", fused" : "");
  self->n_branches = has_tee ? 3 : 1;
  self->branches[0].head = gst_object_ref (self->src);
  if (!has_tee) {
    draw_branch (self, &self->branches[0], rand, g_rand_int_range (rand, 1, 7),
        self->ends[0].pad);
  } else {
    self->tee = gst_element_factory_make ("tee", NULL);
    gst_bin_add (GST_BIN (self->bin), self->tee);
    pad = gst_element_get_static_pad (self->tee, "sink");
    draw_branch (self, &self->branches[0], rand, g_rand_int_range (rand, 0, 4),
        pad);
    gst_object_unref (pad);
    for (guint i = 0; i < 2; i++) {
      tfx_topology_tell (self, "\n  tee");
      self->branches[1 + i].head =
          gst_element_request_pad_simple (self->tee, "src_%u");
      draw_branch (self, &self->branches[1 + i], rand,
          g_rand_int_range (rand, 0, 4), self->ends[i].pad);
    }
  }
  tfx_topology_start (self);
  return self;
}

void
tfx_topology_free (TfxTopology *self)
{
  gst_pad_set_active (self->src, FALSE);
  gst_element_set_state (self->bin, GST_STATE_NULL);
  for (guint i = 0; i < self->deeds->len; i++)
    tfx_deeds_end (g_ptr_array_index (self->deeds, i));
  for (guint i = 0; i < self->n_branches; i++) {
    if (i > 0)
      gst_element_release_request_pad (self->tee, self->branches[i].head);
    gst_object_unref (self->branches[i].head);
    g_ptr_array_unref (self->branches[i].nodes);
  }
  gst_object_unref (self->src);
  tfx_topology_close_ends (self);
  gst_element_set_bus (self->bin, NULL);
  gst_object_unref (self->bus);
  gst_object_unref (self->bin);
  g_ptr_array_unref (self->deeds);
  g_ptr_array_unref (self->nodes);
  g_array_unref (self->eras);
  g_string_free (self->tale, TRUE);
  g_free (self->error);
  g_free (self);
}
