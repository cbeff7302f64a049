/* SPDX-License-Identifier: LGPL-2.1-or-later
 * topochange.c: what comes, goes and moves in a topology while it plays.
 */
#include "topochange.h"

static gboolean
is_here (const TfxTopologyNode *node)
{
  return node->model->gone == TFX_MODEL_NEVER;
}

static void
link_pads (TfxTopochange *self, GstPad *src, GstPad *sink)
{
  if (gst_pad_link (src, sink) != GST_PAD_LINK_OK)
    tfx_topology_complain (self->topology, "pads cannot be linked");
}

/* ---- in the streaming thread, with the pad blocked -------------------------- */

static void
insert (TfxTopochange *self, guint64 number)
{
  g_autoptr (GstPad) after = gst_pad_get_peer (self->pad);
  g_autoptr (GstPad) sink =
      gst_element_get_static_pad (self->node->element, "sink");
  g_autoptr (GstPad) src =
      gst_element_get_static_pad (self->node->element, "src");

  gst_pad_unlink (self->pad, after);
  gst_bin_add (GST_BIN (self->topology->bin), self->node->element);
  link_pads (self, src, after);
  link_pads (self, self->pad, sink);
  if (!gst_element_sync_state_with_parent (self->node->element))
    tfx_topology_complain (self->topology, "what comes does not start");
  self->node->model->came = number;
  g_ptr_array_insert (self->branch->nodes, self->at, self->node);
}

static GstPadProbeReturn
drop_eos (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gboolean *has_come = data;

  if (GST_EVENT_TYPE (info->data) != GST_EVENT_EOS)
    return GST_PAD_PROBE_OK;
  *has_come = TRUE;
  return GST_PAD_PROBE_DROP;
}

static void
send_eos (TfxTopochange *self, GstPad *sink, GstPad *src)
{
  gboolean has_come = FALSE;
  gulong probe = gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      drop_eos, &has_come, NULL);

  gst_pad_send_event (sink, gst_event_new_eos ());
  if (!has_come)
    tfx_topology_complain (self->topology, "an EOS does not come through");
  gst_pad_remove_probe (src, probe);
}

static void
take_out (TfxTopochange *self, guint64 number)
{
  g_autoptr (GstPad) sink =
      gst_element_get_static_pad (self->node->element, "sink");
  g_autoptr (GstPad) src =
      gst_element_get_static_pad (self->node->element, "src");
  g_autoptr (GstPad) after = gst_pad_get_peer (src);

  if (self->kind == TFX_TOPOCHANGE_REMOVE_ENDED)
    send_eos (self, sink, src);
  gst_pad_unlink (self->pad, sink);
  gst_pad_unlink (src, after);
  gst_element_set_state (self->node->element, GST_STATE_NULL);
  gst_bin_remove (GST_BIN (self->topology->bin), self->node->element);
  link_pads (self, self->pad, after);
  self->node->model->gone = number;
}

static void
relink (TfxTopochange *self)
{
  g_autoptr (GstPad) after = gst_pad_get_peer (self->pad);

  gst_pad_unlink (self->pad, after);
  link_pads (self, self->pad, after);
}

/* Its pads forget the events that came before, so it is linked anew. */
static void
restart (TfxTopochange *self, guint64 number)
{
  g_autoptr (GstPad) after = gst_pad_get_peer (self->pad);

  gst_pad_unlink (self->pad, after);
  gst_element_set_state (self->node->element, self->low);
  link_pads (self, self->pad, after);
  if (!gst_element_sync_state_with_parent (self->node->element))
    tfx_topology_complain (self->topology, "what stopped does not start");
  tfx_model_node_reset (self->node->model, number);
}

static GstPadProbeReturn
act (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  TfxTopochange *self = data;
  GstEvent *event;
  const GstSegment *segment;
  guint64 number = 0;

  /* Given up, and removed by whoever did. */
  if (!g_atomic_int_compare_and_exchange (&self->state, 0, 1))
    return GST_PAD_PROBE_PASS;
  event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  gst_event_parse_segment (event, &segment);
  if (!tfx_deeds_number (info->data, segment, self->topology->info.rate,
          &number))
    tfx_topology_complain (self->topology, "a pad is blocked at no frame");
  gst_event_unref (event);
  tfx_topology_tell (self->topology, ", done at %" G_GUINT64_FORMAT, number);
  switch (self->kind) {
    case TFX_TOPOCHANGE_INSERT:
      insert (self, number);
      break;
    case TFX_TOPOCHANGE_RELINK:
      relink (self);
      break;
    case TFX_TOPOCHANGE_RESTART:
      restart (self, number);
      break;
    default:
      take_out (self, number);
      break;
  }
  g_atomic_int_set (&self->state, 2);
  return GST_PAD_PROBE_REMOVE;
}

static void
unref (gpointer data)
{
  TfxTopochange *self = data;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  gst_object_unref (self->pad);
  g_free (self);
}

/* ---- which ---------------------------------------------------------------- */

/* The src pad of what is in front of a place now. */
static GstPad *
find_pad (const TfxTopologyBranch *branch, guint at)
{
  while (at-- > 0) {
    TfxTopologyNode *node = g_ptr_array_index (branch->nodes, at);

    if (is_here (node))
      return gst_element_get_static_pad (node->element, "src");
  }
  return gst_object_ref (branch->head);
}

static gboolean
may_go (const TfxTopochange *self)
{
  if (self->kind == TFX_TOPOCHANGE_REMOVE_ENDED)
    return self->node->can_go_ended;
  return self->node->can_go;
}

TfxTopochange *
tfx_topochange_begin (TfxTopology *topology, GRand *rand)
{
  static const gchar *const names[] = { "insert ", "remove ",
    "remove after EOS ", "relink in front of ", "restart " };
  const guint which = g_rand_int (rand), where = g_rand_int (rand);
  TfxTopochange *self = g_new0 (TfxTopochange, 1);

  self->topology = topology;
  self->kind = which % TFX_TOPOCHANGE_N;
  self->branch = &topology->branches[where % topology->n_branches];
  self->low = which / TFX_TOPOCHANGE_N % 2 ? GST_STATE_READY : GST_STATE_NULL;
  if (self->kind == TFX_TOPOCHANGE_INSERT) {
    self->at = where / 3 % (self->branch->nodes->len + 1);
    self->node = tfx_topology_draw_node (topology, rand, FALSE);
  } else if (self->branch->nodes->len > 0) {
    self->at = where / 3 % self->branch->nodes->len;
    self->node = g_ptr_array_index (self->branch->nodes, self->at);
    if (!is_here (self->node) ||
        (self->kind != TFX_TOPOCHANGE_RELINK && !may_go (self)))
      self->node = NULL;
  }
  if (!self->node) {
    g_free (self);
    return NULL;
  }
  tfx_topology_tell (topology, "%s%s", names[self->kind],
      self->node->model->name);
  self->pad = find_pad (self->branch, self->at);
  self->refs = 2;
  self->probe = gst_pad_add_probe (self->pad,
      GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, act, self, unref);
  return self;
}

gboolean
tfx_topochange_is_done (TfxTopochange *self)
{
  return g_atomic_int_get (&self->state) == 2;
}

void
tfx_topochange_end (TfxTopochange *self)
{
  if (g_atomic_int_compare_and_exchange (&self->state, 0, 3))
    gst_pad_remove_probe (self->pad, self->probe);
  while (g_atomic_int_get (&self->state) == 1)
    g_usleep (100);
  unref (self);
}
