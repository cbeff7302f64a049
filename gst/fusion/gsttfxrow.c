/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrow.c: filters that run as one.
 */
#include "gsttfxrow.h"

#include <errno.h>

#include "gsttfxcount.h"
#include "gsttfxtrace.h"

#define GST_CAT_DEFAULT gst_tfx_row_debug

GST_DEBUG_CATEGORY_STATIC (gst_tfx_row_debug);

/* ---- shared filters ------------------------------------------------------ */

GstTfxSharedFilter *
gst_tfx_shared_filter_new (TfxFilter *filter)
{
  static gsize once;
  GstTfxSharedFilter *self = g_new0 (GstTfxSharedFilter, 1);

  if (g_once_init_enter (&once)) {
    GST_DEBUG_CATEGORY_INIT (gst_tfx_row_debug, "tfxfusion", 0,
        "filters that run as one");
    g_once_init_leave (&once, 1);
  }
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

void
gst_tfx_shared_filter_drop_plan (GstTfxSharedFilter *self)
{
  TfxFilter *filters[GST_TFX_ROW_MAX];
  TfxPlan *plan;
  gsize n;

  tfx_filter_lock (self->filter);
  plan = g_steal_pointer (&self->plan);
  self->plan_stats = (TfxStats){ 0 };
  tfx_filter_unlock (self->filter);
  if (!plan)
    return;
  /* The references keep the filters alive until they are unlocked. */
  n = tfx_plan_n_filters (plan);
  for (gsize i = 0; i < n; i++)
    filters[i] = tfx_filter_ref (tfx_plan_filters (plan)[i]);
  tfx_filter_lock_all (filters, n);
  tfx_plan_free (&plan);
  tfx_filter_unlock_all (filters, n);
  for (gsize i = 0; i < n; i++)
    tfx_filter_unref (&filters[i]);
}

void
gst_tfx_shared_filter_set_backend (GstTfxSharedFilter *self,
    const TfxBackend *backend, GstObject *context)
{
  gboolean is_other;
  GstObject *old;

  tfx_filter_lock (self->filter);
  is_other = backend != self->backend;
  old = self->context;
  self->context = context ? gst_object_ref (context) : NULL;
  self->backend = backend;
  self->counts.error = 0;
  self->is_mixing = FALSE;
  tfx_filter_unlock (self->filter);
  if (is_other)
    gst_tfx_shared_filter_drop_plan (self);
  gst_clear_object (&old);
}

/* ---- plans --------------------------------------------------------------- */

/* The CPU runs the row if the backend does not support one of its stages. */
static const TfxBackend *
gst_tfx_row_backend (const GstTfxRow *self)
{
  const TfxBackend *cpu = tfx_cpu_backend ();

  if (self->last->backend == cpu || self->last->is_mixing)
    return cpu;
  for (gsize i = 0; i < self->n; i++) {
    if (!tfx_filter_runs_on (self->filters[i], self->last->backend))
      return cpu;
  }
  return self->last->backend;
}

void
gst_tfx_row_lock (const GstTfxRow *self)
{
  GstTfxSharedFilter *last = self->last;

  for (;;) {
    tfx_filter_lock_all (self->filters, self->n);
    if (G_UNLIKELY (last->is_mixing) && !gst_tfx_row_is_changing (self) &&
        !tfx_plan_is_in_progress (last->backend))
      last->is_mixing = FALSE;
    if (!last->plan || tfx_plan_is_for (last->plan, self->filters, self->n,
                           gst_tfx_row_backend (self)))
      return;
    /* A change has ended. */
    if (tfx_plan_is_for (last->plan, self->filters, self->n,
            tfx_cpu_backend ()) &&
        tfx_plan_switch (&last->plan, gst_tfx_row_backend (self)) == 0)
      return;
    /* The plan may have filters that are not locked. */
    tfx_filter_unlock_all (self->filters, self->n);
    gst_tfx_shared_filter_drop_plan (last);
  }
}

void
gst_tfx_row_unlock (const GstTfxRow *self)
{
  tfx_filter_unlock_all (self->filters, self->n);
}

void
gst_tfx_row_leave_device (const GstTfxRow *self, gint err)
{
  GstTfxSharedFilter *last = self->last;

  if (err == -ENOTSUP || err == -EINPROGRESS) {
    GST_DEBUG ("row %p: the CPU runs a change: %s", last, g_strerror (-err));
    last->is_mixing = TRUE;
    if (last->plan && tfx_plan_switch (&last->plan, tfx_cpu_backend ()) == 0)
      return;
  } else {
    GST_INFO ("row %p: the device failed: %s", last, g_strerror (-err));
    last->backend = tfx_cpu_backend ();
    last->counts.error = err;
  }
  tfx_plan_free (&last->plan);
  last->plan_stats = (TfxStats){ 0 };
}

gint
gst_tfx_row_compile (const GstTfxRow *self)
{
  GstTfxSharedFilter *last = self->last;

  while (!last->plan) {
    const TfxBackend *backend = gst_tfx_row_backend (self);
    const gboolean is_cpu = backend == tfx_cpu_backend ();
    gint err = tfx_plan_new (self->filters, self->n, backend, &last->plan);

    GST_DEBUG ("row %p: new plan of %" G_GSIZE_FORMAT " filters on %s: %s",
        last, self->n, is_cpu ? "the CPU" : "a device",
        err == 0 ? "done" : g_strerror (-err));
    if (err == 0 || err == -EINVAL || is_cpu)
      return err;
    gst_tfx_row_leave_device (self, err);
  }
  return 0;
}

gboolean
gst_tfx_row_is_on_device (const GstTfxRow *self)
{
  return gst_tfx_row_compile (self) == 0 &&
         gst_tfx_row_backend (self) != tfx_cpu_backend ();
}

/* ---- runs ---------------------------------------------------------------- */

static gpointer
gst_tfx_row_free_retired (gpointer data)
{
  TfxRetired *retired = data;

  tfx_retired_free (&retired);
  return NULL;
}

/* Call after a run: adds what the plan has counted, and frees what changes that
 * ended have replaced, in another thread if one can be made: this one
 * streams. */
static inline void
gst_tfx_row_note_run (const GstTfxRow *self)
{
  GstTfxSharedFilter *last = self->last;
  GstTfxRowCounts *counts = &last->counts;
  TfxStats *sum = &counts->stats, *old = &last->plan_stats, now;

  tfx_plan_get_stats (last->plan, &now);
  gst_tfx_count_sum_stats (&now, &now, old, -1);
  gst_tfx_count_sum_stats (sum, sum, &now, 1);
  gst_tfx_count_sum_stats (old, old, &now, 1);
  sum->device = now.device;
  sum->kernel = now.kernel;
  counts->n_stages = tfx_plan_n_stages (last->plan);
  counts->n_sections = tfx_plan_n_sections (last->plan);
  for (gsize i = 0; i < self->n; i++) {
    TfxRetired *retired = tfx_filter_take_retired (self->filters[i]);
    GThread *thread;

    if (G_LIKELY (!retired))
      continue;
    thread =
        g_thread_try_new ("tfx-free", gst_tfx_row_free_retired, retired, NULL);
    if (thread)
      g_thread_unref (thread);
    else
      tfx_retired_free (&retired);
  }
}

/* Runs the plan, and notifies tracers.  @flight: NULL for a whole run; else it
 * starts, or finishes if @out is NULL. */
static gint
gst_tfx_row_call (const GstTfxRow *self, const gchar *what, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight)
{
  const GstTfxRowCounts *counts = &self->last->counts;
  TfxPlan *plan = self->last->plan;
  const gboolean is_traced = gst_tfx_trace_is_on ();
  GstTfxTraceRun run;
  gint err;

  if (is_traced) {
    run = (GstTfxTraceRun){ .what = what,
      .filters = self->filters,
      .n = self->n,
      .n_frames = in->n_frames };
    gst_tfx_count_sum_stats (&run.added, &run.added, &counts->stats, -1);
    gst_tfx_trace_begin (&run);
  }
  if (G_LIKELY (!flight))
    err = tfx_plan_run (plan, in, out);
  else if (out)
    err = tfx_plan_start (plan, in, out, flight);
  else
    err = tfx_plan_finish (plan, flight);
  gst_tfx_row_note_run (self);
  if (is_traced) {
    run.n_stages = counts->n_stages;
    run.n_sections = counts->n_sections;
    run.err = err;
    gst_tfx_count_sum_stats (&run.added, &run.added, &counts->stats, 1);
    run.added.device = counts->stats.device;
    run.added.kernel = counts->stats.kernel;
    gst_tfx_trace_end (&run);
  }
  return err;
}

TfxBlock
gst_tfx_row_rest (const TfxBlock *block, gsize from)
{
  TfxBlock rest = *block;
  gsize width =
      block->type == TFX_SAMPLE_F32 ? sizeof (gfloat) : sizeof (gdouble);

  rest.data =
      (guint8 *)rest.data + (gssize)(from * width) * block->frame_stride;
  rest.n_frames -= from;
  return rest;
}

/* @err: 0 if the row has left the device already. */
gint
gst_tfx_row_run_rest (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, gsize n_done, gint err)
{
  const TfxBlock rest_in = gst_tfx_row_rest (in, n_done);
  const TfxBlock rest_out = gst_tfx_row_rest (out, n_done);

  if (err < 0)
    gst_tfx_row_leave_device (self, err);
  err = gst_tfx_row_compile (self);
  return err < 0 ? err
                 : gst_tfx_row_call (self, "rest", &rest_in, &rest_out, NULL);
}

gint
gst_tfx_row_run (const GstTfxRow *self, const TfxBlock *in, const TfxBlock *out,
    gboolean in_host)
{
  gint err = gst_tfx_row_compile (self);

  if (err < 0)
    return err;
  err = gst_tfx_row_call (self, "run", in, out, NULL);
  if (G_LIKELY (err >= 0) || !in_host || err == -EINVAL ||
      gst_tfx_row_backend (self) == tfx_cpu_backend ())
    return err;
  return gst_tfx_row_run_rest (self, in, out, gst_tfx_row_n_done (self), err);
}

gsize
gst_tfx_row_n_done (const GstTfxRow *self)
{
  return self->last->plan ? tfx_plan_n_done (self->last->plan) : 0;
}

gboolean
gst_tfx_row_can_start (const GstTfxRow *self)
{
  return gst_tfx_row_is_on_device (self) &&
         tfx_plan_can_start (self->last->plan);
}

gint
gst_tfx_row_start (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight)
{
  return gst_tfx_row_call (self, "start", in, out, flight);
}

gint
gst_tfx_row_finish (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight)
{
  gint err = 0;

  /* Without a plan no run is in flight. */
  if (self->last->plan)
    err = gst_tfx_row_call (self, "finish", in, NULL, flight);
  /* Freeing the plan, here or earlier, finishes the runs that it can. */
  if (err < 0)
    gst_tfx_row_leave_device (self, err);
  if (flight->n_done == in->n_frames)
    return 0;
  return gst_tfx_row_run_rest (self, in, out, flight->n_done,
      err == 0 ? -EIO : 0);
}

/* ---- silence and changes ------------------------------------------------- */

void
gst_tfx_row_pass (const GstTfxRow *self, gsize n_frames)
{
  gint err = gst_tfx_row_compile (self);

  while (err == 0 && n_frames > 0) {
    err = tfx_plan_pass (self->last->plan, n_frames);
    n_frames -= tfx_plan_n_done (self->last->plan);
    if (err < 0) {
      gst_tfx_row_leave_device (self, err);
      err = gst_tfx_row_compile (self);
    }
  }
}

gboolean
gst_tfx_row_is_changing (const GstTfxRow *self)
{
  for (gsize i = 0; i < self->n; i++) {
    if (tfx_filter_is_changing (self->filters[i]))
      return TRUE;
  }
  return FALSE;
}
