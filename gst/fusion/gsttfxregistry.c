/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxregistry.c: which element has the state of a stage.
 *
 * Where elements begin or cease to run as one, state moves from the executor
 * of one element to that of another, and with it the frames that a stage holds
 * back, whose times are told in GstTfxTimes.  An element that stops leaves both
 * behind as long as it has the state of stages of elements that go on.
 *
 * The lock is taken where plans change, never for each buffer.  Under it the
 * stream locks of other elements are only tried, so it cannot lead to a
 * deadlock.
 */
#include "gsttfxregistry.h"

#include <string.h>

#include "gsttfxprivate.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* Of an element that has stopped. */
typedef struct
{
  gint refs;
  TfxExec *exec;
  GstObject *context; /* what exec runs on, or NULL */
  GstTfxTimes times;
} Heirloom;

/* Who has the state of a stage: one of the two. */
typedef struct
{
  guint64 id;
  GstTfxFilter *element; /* no reference: it leaves before it goes */
  Heirloom *heirloom;
} Entry;

static GMutex registry_lock;
static GHashTable *registry; /* guint64 to Entry; NULL while empty */

static void
gst_tfx_registry_drop_heirloom (Entry *entry)
{
  Heirloom *heirloom = entry->heirloom;

  entry->heirloom = NULL;
  if (!heirloom || --heirloom->refs > 0)
    return;
  tfx_exec_free (&heirloom->exec);
  gst_clear_object (&heirloom->context);
  gst_tfx_times_clear (&heirloom->times);
  g_free (heirloom);
}

static void
gst_tfx_registry_free_entry (gpointer data)
{
  gst_tfx_registry_drop_heirloom (data);
  g_free (data);
}

static Entry *
gst_tfx_registry_find (guint64 id)
{
  return registry ? g_hash_table_lookup (registry, &id) : NULL;
}

static void
gst_tfx_registry_remove (guint64 id)
{
  if (registry)
    g_hash_table_remove (registry, &id);
}

/* An empty table would be left behind by the last element. */
static void
gst_tfx_registry_tidy (void)
{
  if (registry && g_hash_table_size (registry) == 0)
    g_clear_pointer (&registry, g_hash_table_unref);
}

static gboolean
gst_tfx_registry_plan_has (const TfxPlan *plan, guint64 id)
{
  for (gsize i = 0; plan && i < tfx_plan_n_states (plan); i++) {
    if (tfx_plan_state_id (plan, i) == id)
      return TRUE;
  }
  return FALSE;
}

/* Frames that @self takes over from downstream, and the times that tell of
 * them. */
typedef struct
{
  GstTfxTimes *times;
  gsize n_frames;
} Loan;

static void
gst_tfx_registry_take_loan (GstTfxFilter *self, Loan *loan)
{
  GstTfxTimes own = { 0 };

  if (loan->times) {
    gst_tfx_times_split (&own, loan->times, loan->n_frames);
    gst_tfx_times_join (&gst_tfx_filter_get_private (self)->times, &own);
    gst_tfx_times_clear (&own);
  }
  *loan = (Loan){ NULL, 0 };
}

/* A stage that another executor has run; its frames come along.  Those of an
 * element upstream come all at once; what comes from downstream is put
 * together. */
static gboolean
gst_tfx_registry_adopt_from (GstTfxFilter *self, guint64 id, TfxExec *from,
    GstTfxTimes *times, gboolean from_upstream, Loan *loan)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  TfxExec *exec = priv->engine.exec;
  gint err = tfx_exec_adopt_stage (exec, from, id);

  if (err < 0) {
    GST_WARNING_OBJECT (self, "a filter starts at rest: %s", g_strerror (-err));
    return FALSE;
  }
  if (from_upstream || loan->times != times)
    gst_tfx_registry_take_loan (self, loan);
  if (from_upstream) {
    gst_tfx_times_join (&priv->times, times);
  } else {
    loan->times = times;
    loan->n_frames += tfx_exec_held (exec, id);
  }
  return TRUE;
}

static gboolean
gst_tfx_registry_adopt (GstTfxFilter *self, Entry *entry, Loan *loan)
{
  GstTfxFilterPrivate *priv;
  gboolean is_adopted = FALSE;
  GstPad *pad;

  GST_DEBUG_OBJECT (self, "state of %" G_GUINT64_FORMAT " from %s", entry->id,
      entry->element ? GST_OBJECT_NAME (entry->element)
                     : "one that has stopped");
  if (entry->heirloom)
    return gst_tfx_registry_adopt_from (self, entry->id, entry->heirloom->exec,
        &entry->heirloom->times, FALSE, loan);

  pad = GST_BASE_TRANSFORM_SINK_PAD (entry->element);
  /* Mostly it is of this very thread. */
  if (!GST_PAD_STREAM_TRYLOCK (pad)) {
    GST_WARNING_OBJECT (self, "%s is busy: a filter starts at rest",
        GST_OBJECT_NAME (entry->element));
    return FALSE;
  }
  priv = gst_tfx_filter_get_private (entry->element);
  /* It must ask for the state again if it goes on with the stage. */
  priv->engine.is_new = TRUE;
  if (priv->engine.exec)
    is_adopted = gst_tfx_registry_adopt_from (self, entry->id,
        priv->engine.exec, &priv->times, priv->fusion.defers, loan);
  GST_PAD_STREAM_UNLOCK (pad);
  return is_adopted;
}

static gboolean
gst_tfx_registry_is_stale (gpointer key, gpointer value, gpointer data)
{
  const Entry *entry = value, *kept = data;

  return entry->element == kept->element &&
         !gst_tfx_registry_plan_has (gst_tfx_filter_get_private (kept->element)
                                         ->engine.plan,
             entry->id);
}

/* From the last stage to the first: the order of the frames that they hold,
 * from the oldest on. */
void
gst_tfx_registry_claim (GstTfxFilter *self, GstTfxEngine *engine)
{
  Entry kept = { 0, self, NULL };
  Loan loan = { NULL, 0 };

  g_mutex_lock (&registry_lock);
  if (!registry)
    registry = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL,
        gst_tfx_registry_free_entry);
  for (gsize i = tfx_plan_n_states (engine->plan); i-- > 0;) {
    guint64 id = tfx_plan_state_id (engine->plan, i);
    Entry *entry = gst_tfx_registry_find (id);

    if (!entry) {
      entry = g_new0 (Entry, 1);
      entry->id = id;
      g_hash_table_insert (registry, &entry->id, entry);
    } else if (entry->element != self) {
      /* It is not at rest any more. */
      if (gst_tfx_registry_adopt (self, entry, &loan))
        engine->used = TRUE;
      if (entry->heirloom && entry->heirloom->refs == 1)
        gst_tfx_registry_take_loan (self, &loan);
      gst_tfx_registry_drop_heirloom (entry);
    }
    entry->element = self;
  }
  gst_tfx_registry_take_loan (self, &loan);
  /* The executor has dropped what it does not run any more. */
  g_hash_table_foreach_remove (registry, gst_tfx_registry_is_stale, &kept);
  gst_tfx_registry_tidy ();
  g_mutex_unlock (&registry_lock);
}

void
gst_tfx_registry_forget (const TfxPlan *plan, const TfxPlan *but)
{
  g_mutex_lock (&registry_lock);
  for (gsize i = 0; i < tfx_plan_n_states (plan); i++) {
    guint64 id = tfx_plan_state_id (plan, i);

    if (!gst_tfx_registry_plan_has (but, id))
      gst_tfx_registry_remove (id);
  }
  gst_tfx_registry_tidy ();
  g_mutex_unlock (&registry_lock);
}

/* The stages of others whose state @self has. */
static void
gst_tfx_registry_bequeath (GstTfxFilter *self, GstTfxEngine *engine)
{
  GstTfxFilterPrivate *priv = gst_tfx_filter_get_private (self);
  Heirloom *heirloom = NULL;
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, registry);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    Entry *entry = value;

    if (entry->element != self)
      continue;
    if (!heirloom) {
      heirloom = g_new0 (Heirloom, 1);
      heirloom->exec = engine->exec;
      heirloom->context = gst_tfx_device_ref_context (self);
      heirloom->times = priv->times;
      engine->exec = NULL;
      memset (&priv->times, 0, sizeof priv->times);
    }
    heirloom->refs++;
    entry->heirloom = heirloom;
    entry->element = NULL;
  }
}

void
gst_tfx_registry_leave (GstTfxFilter *self, GstTfxEngine *engine)
{
  g_mutex_lock (&registry_lock);
  for (gsize i = 0; engine->own && i < tfx_plan_n_states (engine->own); i++)
    gst_tfx_registry_remove (tfx_plan_state_id (engine->own, i));
  if (registry)
    gst_tfx_registry_bequeath (self, engine);
  gst_tfx_registry_tidy ();
  g_mutex_unlock (&registry_lock);
}
