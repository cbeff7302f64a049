/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxregistry.c: which element has the state of a stage.
 *
 * Where elements begin or cease to run as one, state moves from the executor
 * of one element to that of another.  An element that stops leaves its executor
 * behind as long as it has the state of stages of elements that go on.
 *
 * The lock is taken where plans change, never for each buffer.  Under it the
 * stream locks of other elements are only tried, so it cannot lead to a
 * deadlock.
 */
#include "gsttfxregistry.h"

#include "gsttfxprivate.h"

#define GST_CAT_DEFAULT gst_tfx_filter_debug

/* The executor of an element that has stopped. */
typedef struct
{
  gint refs;
  TfxExec *exec;
  GstObject *context; /* what exec runs on, or NULL */
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

static gboolean
gst_tfx_registry_adopt (GstTfxFilter *self, TfxExec *exec, Entry *entry)
{
  GstPad *pad = NULL;
  TfxExec *from;
  gint err;

  if (entry->heirloom) {
    from = entry->heirloom->exec;
  } else {
    pad = GST_BASE_TRANSFORM_SINK_PAD (entry->element);
    /* Mostly it is of this very thread. */
    if (!GST_PAD_STREAM_TRYLOCK (pad)) {
      GST_WARNING_OBJECT (self, "%s is busy: a filter starts at rest",
          GST_OBJECT_NAME (entry->element));
      return FALSE;
    }
    from = gst_tfx_filter_get_private (entry->element)->engine.exec;
  }
  err = from ? tfx_exec_adopt_stage (exec, from, entry->id) : 0;
  GST_DEBUG_OBJECT (self, "state of %" G_GUINT64_FORMAT " from %s", entry->id,
      pad ? GST_OBJECT_NAME (entry->element) : "one that has stopped");
  if (err < 0)
    GST_WARNING_OBJECT (self, "a filter starts at rest: %s", g_strerror (-err));
  if (pad)
    GST_PAD_STREAM_UNLOCK (pad);
  return from && err == 0;
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

void
gst_tfx_registry_claim (GstTfxFilter *self, GstTfxEngine *engine)
{
  Entry kept = { 0, self, NULL };

  g_mutex_lock (&registry_lock);
  if (!registry)
    registry = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL,
        gst_tfx_registry_free_entry);
  for (gsize i = 0; i < tfx_plan_n_states (engine->plan); i++) {
    guint64 id = tfx_plan_state_id (engine->plan, i);
    Entry *entry = gst_tfx_registry_find (id);

    if (!entry) {
      entry = g_new0 (Entry, 1);
      entry->id = id;
      g_hash_table_insert (registry, &entry->id, entry);
    } else if (entry->element != self) {
      /* It is not at rest any more. */
      if (gst_tfx_registry_adopt (self, engine->exec, entry))
        engine->used = TRUE;
      gst_tfx_registry_drop_heirloom (entry);
    }
    entry->element = self;
  }
  /* The executor has dropped what it does not run any more. */
  g_hash_table_foreach_remove (registry, gst_tfx_registry_is_stale, &kept);
  gst_tfx_registry_tidy ();
  g_mutex_unlock (&registry_lock);
}

gboolean
gst_tfx_registry_has_all (GstTfxFilter *self, const TfxPlan *plan)
{
  gboolean all = TRUE;

  g_mutex_lock (&registry_lock);
  for (gsize i = 0; all && i < tfx_plan_n_states (plan); i++) {
    Entry *entry = gst_tfx_registry_find (tfx_plan_state_id (plan, i));

    all = entry && entry->element == self;
  }
  g_mutex_unlock (&registry_lock);
  return all;
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
      engine->exec = NULL;
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
