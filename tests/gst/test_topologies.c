/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_topologies.c: whatever the topology, and whatever is done to it while it
 * plays, each frame that goes in comes out once, at its time.
 *
 *   TFX_TEST_SEED        the first pipeline's number
 *   TFX_TEST_TOPOLOGIES  how many pipelines
 *   TFX_TEST_WITHOUT     kinds of actions that are left out, a bit for each: 0x1
 *                        fuse, 0x2 chains, 0x4 probes, 0x8 flushes, 0x10 starts,
 *                        0x20 segments, 0x40 formats, 0x1ff80 changes
 *   TFX_TEST_VERBOSE     each one's story before it is judged
 *
 * A pipeline is the same for the same number, but for what happens in other
 * threads at the same time.
 */
#include <stdlib.h>

#include "topology.h"

#define N_STEPS 24 /* buffers */
#define N_GROUPS 10

/* ---- what comes, goes and moves ---------------------------------------------- */

/* By GStreamer's own recipes: a pad is blocked, and what is behind it is linked
 * anew. */
typedef enum
{
  INSERT,
  REMOVE,
  REMOVE_ENDED, /* after an EOS through the element */
  RELINK,
  RESTART, /* the element alone */
  N
} ChangeKind;

static const gchar *const change_names[] = { "insert", "remove",
  "remove after EOS", "relink in front of", "restart" };

typedef struct
{
  gint refs; /* atomic: whoever began it, and the probe */
  TfxTopology *topology;
  ChangeKind kind;
  TfxTopologyBranch *branch;
  guint at;              /* the node, or where one comes, in the branch */
  TfxTopologyNode *node; /* that comes, goes or restarts; or none */
  GstState low;          /* for a restart */
  GstPad *pad;           /* blocked for it */
  gulong probe;
  gint state; /* atomic: 0 waits, 1 is under way, 2 is done, 3 given up */
} Change;

static gboolean
is_here (const TfxTopologyNode *node)
{
  return node->model->gone == TFX_MODEL_NEVER;
}

/* In the streaming thread, with the pad blocked. */
static GstPadProbeReturn
make_change (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Change *self = data;
  TfxTopology *topology = self->topology;
  TfxTopologyNode *node = self->node;
  g_autoptr (GstEvent) event = NULL;
  g_autoptr (GstPad) after = NULL;
  const GstSegment *segment;
  guint64 number = 0;
  gboolean ok = TRUE;

  /* Given up, and removed by whoever did. */
  if (!g_atomic_int_compare_and_exchange (&self->state, 0, 1))
    return GST_PAD_PROBE_PASS;
  event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  gst_event_parse_segment (event, &segment);
  if (!tfx_deeds_number (info->data, segment, topology->info.rate, &number))
    tfx_topology_complain (topology, "a pad is blocked at no frame");
  tfx_topology_tell (topology, ", done at %" G_GUINT64_FORMAT, number);
  switch (self->kind) {
    case INSERT:
      ok = tfx_check_put_behind (GST_BIN (topology->bin), pad, node->element);
      node->model->came = number;
      g_ptr_array_insert (self->branch->nodes, self->at, node);
      break;
    case RELINK:
    case RESTART:
      /* An element's pads forget the events that came before, so it is linked
       * anew. */
      after = gst_pad_get_peer (pad);
      gst_pad_unlink (pad, after);
      if (self->kind == RESTART) {
        gst_element_set_state (node->element, self->low);
        tfx_model_node_reset (node->model, number);
      }
      ok = tfx_check_link_waiting (pad, after) &&
           (self->kind == RELINK ||
               gst_element_sync_state_with_parent (node->element));
      break;
    default:
      if (self->kind == REMOVE_ENDED)
        ok = tfx_check_send_eos (node->element);
      ok = tfx_check_take_out (node->element) && ok;
      node->model->gone = number;
      break;
  }
  if (!ok)
    tfx_topology_complain (topology, "%s: no link, no start or no EOS",
        change_names[self->kind]);
  g_atomic_int_set (&self->state, 2);
  return GST_PAD_PROBE_REMOVE;
}

static void
unref (gpointer data)
{
  Change *self = data;

  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  gst_object_unref (self->pad);
  g_free (self);
}

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
may_go (const Change *self)
{
  if (self->kind == REMOVE_ENDED)
    return self->node->can_go_ended;
  return self->node->can_go;
}

/* Draws a change and has it done when the next buffer comes by.  NULL if there is
 * nothing that could be done. */
static Change *
begin_change (TfxTopology *topology, GRand *rand)
{
  const guint which = g_rand_int (rand), where = g_rand_int (rand);
  Change *self = g_new0 (Change, 1);

  self->topology = topology;
  self->kind = which % N;
  self->branch = &topology->branches[where % topology->n_branches];
  self->low = which / N % 2 ? GST_STATE_READY : GST_STATE_NULL;
  if (self->kind == INSERT) {
    self->at = where / 3 % (self->branch->nodes->len + 1);
    self->node = tfx_topology_draw_node (topology, rand, FALSE);
  } else if (self->branch->nodes->len > 0) {
    self->at = where / 3 % self->branch->nodes->len;
    self->node = g_ptr_array_index (self->branch->nodes, self->at);
    if (!is_here (self->node) || (self->kind != RELINK && !may_go (self)))
      self->node = NULL;
  }
  if (!self->node) {
    g_free (self);
    return NULL;
  }
  tfx_topology_tell (topology, "%s %s", change_names[self->kind],
      self->node->model->name);
  self->pad = find_pad (self->branch, self->at);
  self->refs = 2;
  self->probe = gst_pad_add_probe (self->pad,
      GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, make_change, self,
      unref);
  return self;
}

/* Gives it up if it has not begun, and lets go of it. */
static void
finish_change (Change *self)
{
  if (g_atomic_int_compare_and_exchange (&self->state, 0, 3))
    gst_pad_remove_probe (self->pad, self->probe);
  while (g_atomic_int_get (&self->state) == 1)
    g_usleep (100);
  unref (self);
}

/* ---- one pipeline ----------------------------------------------------------- */

typedef struct
{
  guint seed;
  gboolean fuse;
  gboolean is_threaded;  /* the stream has a thread of its own */
  guint64 without;       /* steps at which nothing is done: one bit for each */
  TfxTopology *topology; /* what plays */
  Change *change;        /* under way, or NULL */

  GMutex lock;
  GCond cond;
  guint step, n_allowed; /* buffers pushed, and how many may be */
  guint n_asked;         /* the same, for who allows it */
} Play;

static guint
number_of (const gchar *name, guint otherwise)
{
  const gchar *text = g_getenv (name);

  return text ? strtoul (text, NULL, 0) : otherwise;
}

static GRand *
rand_of (const Play *play, guint what)
{
  const guint32 words[] = { play->seed, what };

  return g_rand_new_with_seed_array (words, 2);
}

static void
push (Play *play, guint step)
{
  g_autoptr (GRand) rand = rand_of (play, 1000 + step);

  tfx_topology_push (play->topology,
      g_rand_int_range (rand, 1, g_rand_boolean (rand) ? 64 : 600));
}

static gpointer
drive (gpointer data)
{
  Play *play = data;

  for (;;) {
    gboolean is_over;

    g_mutex_lock (&play->lock);
    while (play->step >= play->n_allowed)
      g_cond_wait (&play->cond, &play->lock);
    is_over = play->n_allowed == G_MAXUINT;
    g_mutex_unlock (&play->lock);
    if (is_over)
      return NULL;
    push (play, play->step);
    g_mutex_lock (&play->lock);
    play->step++;
    g_cond_broadcast (&play->cond);
    g_mutex_unlock (&play->lock);
  }
}

/* The stream may go on to there; in a thread of its own, or here. */
static void
allow (Play *play, guint n)
{
  play->n_asked = n;
  if (play->is_threaded) {
    g_mutex_lock (&play->lock);
    play->n_allowed = n;
    g_cond_broadcast (&play->cond);
    g_mutex_unlock (&play->lock);
    return;
  }
  for (; n < G_MAXUINT && play->step < n; play->step++)
    push (play, play->step);
}

static void
wait_for (Play *play, guint n)
{
  g_mutex_lock (&play->lock);
  while (play->step < n)
    g_cond_wait (&play->cond, &play->lock);
  g_mutex_unlock (&play->lock);
}

/* What is done from outside, at any time. */
static void
interfere (Play *play, GRand *rand, guint what)
{
  static const gchar *const names[] = { "fuse", "chain", "probe", "flush",
    "restart all" };
  TfxTopology *topology = play->topology;
  gboolean on;
  guint at;

  tfx_topology_tell (topology, "%s", names[what]);
  switch (what) {
    case 0:
      on = g_rand_boolean (rand);
      at = g_rand_int_range (rand, 0, MAX (topology->nodes->len, 1));
      tfx_topology_tell (topology, "=%d, node %u", on, at);
      if (play->fuse && at < topology->nodes->len)
        tfx_check_set_fuse (((TfxTopologyNode *)
                                    g_ptr_array_index (topology->nodes, at))
                                ->element,
            on);
      break;
    case 1:
      tfx_topology_draw_text (topology, rand);
      break;
    case 2:
      tfx_topology_draw_probe (topology, rand);
      break;
    case 3:
      tfx_topology_flush (topology);
      break;
    default:
      tfx_topology_restart (topology,
          g_rand_boolean (rand) ? GST_STATE_READY : GST_STATE_NULL);
      break;
  }
}

/* What is done to the stream, between two buffers. */
static void
turn (Play *play, GRand *rand, guint what)
{
  tfx_topology_tell (play->topology, what ? "format" : "segment");
  wait_for (play, play->is_threaded ? play->n_asked : play->step);
  if (what)
    tfx_topology_push_format (play->topology, rand);
  else
    tfx_topology_push_segment (play->topology, g_rand_int (rand));
}

static void
end_change (Play *play)
{
  if (play->change)
    finish_change (play->change);
  play->change = NULL;
}

/* At some steps something is done; a change of the pipeline is given a few
 * buffers' time. */
static void
act (Play *play, guint step)
{
  g_autoptr (GRand) rand = rand_of (play, step);
  guint what = g_rand_int_range (rand, 0, 32);

  /* Who runs what changes most often. */
  if (what >= 30)
    what = 0;
  if (what < 17 && !(number_of ("TFX_TEST_WITHOUT", 0) >> what & 1) &&
      !(play->without & (G_GUINT64_CONSTANT (1) << step))) {
    if (what >= 5 && what < 7)
      end_change (play);
    tfx_topology_tell (play->topology, "\n  %u: ", step);
    if (what < 5) {
      end_change (play);
      interfere (play, rand, what);
    } else if (what < 7) {
      turn (play, rand, what - 5);
    } else {
      end_change (play);
      play->change = begin_change (play->topology, rand);
    }
    if (play->is_threaded && step % 2)
      g_usleep (100);
  }
}

/* Plays it; the text of what went wrong, or NULL.  *tale is the story. */
static gchar *
play_one (Play *play, gchar **tale)
{
  GRand *rand = rand_of (play, G_MAXUINT);
  GThread *thread = NULL;
  gchar *error;

  play->topology = tfx_topology_new (rand, play->fuse);
  play->change = NULL;
  play->step = play->n_allowed = play->n_asked = 0;
  if (play->is_threaded)
    thread = g_thread_new ("drive", drive, play);
  for (guint step = 0; step < N_STEPS; step++) {
    act (play, step);
    /* In a thread, some of it is done while a buffer is under way. */
    allow (play, step + 1);
    for (guint i = 0; play->is_threaded && i < play->topology->deeds->len; i++)
      tfx_deeds_read_one (g_ptr_array_index (play->topology->deeds, i));
    if (play->is_threaded && step % 3 == 0)
      wait_for (play, step);
  }
  if (play->is_threaded)
    wait_for (play, N_STEPS);
  end_change (play);
  if (thread) {
    allow (play, G_MAXUINT);
    g_thread_join (thread);
  }
  error = tfx_topology_end (play->topology);
  if (tale)
    *tale = g_strdup (play->topology->tale->str);
  tfx_topology_free (play->topology);
  g_rand_free (rand);
  return error;
}

/* ---- those that go wrong ----------------------------------------------------- */

static gchar *
play_without (Play *play, guint64 without, gchar **tale)
{
  play->without = without;
  return play_one (play, tale);
}

/* Leaves out what is not needed for it to go wrong, and tells the rest. */
static void
tell_shortest (Play *play, const gchar *first)
{
  guint64 without = 0;
  gchar *error = NULL, *tale = NULL;

  for (guint step = 0; step < N_STEPS; step++) {
    const guint64 less = without | G_GUINT64_CONSTANT (1) << step;

    error = play_without (play, less, NULL);
    if (error)
      without = less;
    g_free (error);
  }
  error = play_without (play, without, &tale);
  fail ("TFX_TEST_SEED=%u TFX_TEST_TOPOLOGIES=1%s\n%s\nat its shortest: "
        "%s\n%s\n",
      play->seed, play->is_threaded ? " (in a thread)" : "", first,
      error ? error : "(goes right this time)", tale);
}

static void
play_seed (guint seed)
{
  gchar *error, *tale = NULL;
  Play play = { seed };

  g_mutex_init (&play.lock);
  g_cond_init (&play.cond);
  play.is_threaded = seed % 3 == 2;
  for (guint fuse = 0; fuse < 2; fuse++) {
    play.fuse = fuse;
    error = play_without (&play, 0, &tale);
    if (g_getenv ("TFX_TEST_VERBOSE"))
      g_print ("seed %u: %s\n%s\n", seed, error ? error : "right", tale);
    if (error)
      tell_shortest (&play, error);
    g_free (tale);
    g_free (error);
  }
  g_mutex_clear (&play.lock);
  g_cond_clear (&play.cond);
}

GST_START_TEST (test_topologies)
{
  const guint first = number_of ("TFX_TEST_SEED", 1);
  const guint n = number_of ("TFX_TEST_TOPOLOGIES", 50);

  for (guint i = __i__; i < n; i += N_GROUPS)
    play_seed (first + i);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("topologies");

  g_print ("TFX_TEST_SEED=%u TFX_TEST_TOPOLOGIES=%u\n",
      number_of ("TFX_TEST_SEED", 1), number_of ("TFX_TEST_TOPOLOGIES", 50));
  tcase_add_loop_test (tc, test_topologies, 0, N_GROUPS);
  return tfx_check_run (argc, argv, tc);
}
