/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsharedfilter.c: a filter that an element shares with the buffers in
 * which it is pending.
 */
#include "gsttfxsharedfilter.h"

#include "gsttfxcount.h"

GstTfxSharedFilter *
gst_tfx_shared_filter_new (TfxFilter *filter)
{
  GstTfxSharedFilter *self = g_new0 (GstTfxSharedFilter, 1);

  self->refs = 1;
  self->filter = filter;
  self->backend = tfx_cpu_backend ();
  return self;
}

GstTfxSharedFilter *
gst_tfx_shared_filter_ref (GstTfxSharedFilter *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
gst_tfx_shared_filter_unref (GstTfxSharedFilter *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  gst_tfx_shared_filter_drop_plan (self);
  gst_clear_object (&self->context);
  if (self->spare)
    self->free_spare (self->spare);
  tfx_filter_unref (&self->filter);
  g_free (self);
}

/* ---- plans --------------------------------------------------------------- */

void
gst_tfx_shared_filter_count (GstTfxSharedFilter *self)
{
  TfxStats *sum = &self->counts.stats, *old = &self->plan_stats, now;

  tfx_plan_get_stats (self->plan, &now);
  gst_tfx_count_sum_stats (&now, &now, old, -1);
  gst_tfx_count_sum_stats (sum, sum, &now, 1);
  gst_tfx_count_sum_stats (old, old, &now, 1);
  sum->device = now.device;
  sum->kernel = now.kernel;
  self->counts.n_stages = tfx_plan_n_stages (self->plan);
  self->counts.n_sections = tfx_plan_n_sections (self->plan);
}

void
gst_tfx_shared_filter_free_plan (GstTfxSharedFilter *self)
{
  tfx_plan_free (&self->plan);
  self->plan_stats = (TfxStats){ 0 };
}

/* Frees a plan that was taken out of its filter. */
static void
gst_tfx_shared_filter_free_old (TfxPlan *plan)
{
  TfxFilter *filters[GST_TFX_ROW_MAX];
  gsize n = tfx_plan_n_filters (plan);

  /* The references keep the filters alive until they are unlocked. */
  for (gsize i = 0; i < n; i++)
    filters[i] = tfx_filter_ref (tfx_plan_filters (plan)[i]);
  tfx_filter_lock_all (filters, n);
  tfx_plan_free (&plan);
  tfx_filter_unlock_all (filters, n);
  for (gsize i = 0; i < n; i++)
    tfx_filter_unref (&filters[i]);
}

static TfxPlan *
gst_tfx_shared_filter_steal_plan (GstTfxSharedFilter *self)
{
  self->plan_stats = (TfxStats){ 0 };
  return g_steal_pointer (&self->plan);
}

void
gst_tfx_shared_filter_drop_plan (GstTfxSharedFilter *self)
{
  TfxPlan *plan;

  tfx_filter_lock (self->filter);
  plan = gst_tfx_shared_filter_steal_plan (self);
  tfx_filter_unlock (self->filter);
  if (plan)
    gst_tfx_shared_filter_free_old (plan);
}

void
gst_tfx_shared_filter_set_backend (GstTfxSharedFilter *self,
    const TfxBackend *backend, GstObject *context)
{
  GstObject *old;
  TfxPlan *plan = NULL;

  tfx_filter_lock (self->filter);
  if (backend != self->backend)
    plan = gst_tfx_shared_filter_steal_plan (self);
  old = self->context;
  self->context = context ? gst_object_ref (context) : NULL;
  self->backend = backend;
  self->counts.error = 0;
  self->is_mixing = FALSE;
  tfx_filter_unlock (self->filter);
  if (plan)
    gst_tfx_shared_filter_free_old (plan);
  gst_clear_object (&old);
}
