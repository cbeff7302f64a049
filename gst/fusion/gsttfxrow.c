/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrow.c: filters that run as one.
 */
#include "gsttfxrow.h"

#include <errno.h>

#include "gsttfxcount.h"
#include "gsttfxtrace.h"

#define GST_CAT_DEFAULT gst_tfx_row_get_category ()

static gpointer
gst_tfx_row_make_category (gpointer data)
{
  GstDebugCategory *category = NULL;

  GST_DEBUG_CATEGORY_INIT (category, "tfxfusion", 0, "filters that run as one");
  return category;
}

static GstDebugCategory *G_GNUC_UNUSED
gst_tfx_row_get_category (void)
{
  static GOnce once = G_ONCE_INIT;

  return g_once (&once, gst_tfx_row_make_category, NULL);
}

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
  } else {
    GST_INFO ("row %p: the device failed: %s", last, g_strerror (-err));
    last->backend = tfx_cpu_backend ();
    last->counts.error = err;
  }
  if (last->plan)
    gst_tfx_shared_filter_free_plan (last);
}

gint
gst_tfx_row_compile (const GstTfxRow *self)
{
  GstTfxSharedFilter *last = self->last;
  gint err;

  if (last->plan)
    return 0;
  err = tfx_plan_new (self->filters, self->n, gst_tfx_row_backend (self),
      &last->plan);
  GST_DEBUG ("row %p: new plan of %" G_GSIZE_FORMAT " filters on %s: %s", last,
      self->n,
      gst_tfx_row_backend (self) == tfx_cpu_backend () ? "the CPU" : "a device",
      err == 0 ? "done" : g_strerror (-err));
  if (err == 0 || gst_tfx_row_backend (self) == tfx_cpu_backend () ||
      err == -EINVAL)
    return err;
  gst_tfx_row_leave_device (self, err);
  return tfx_plan_new (self->filters, self->n, tfx_cpu_backend (), &last->plan);
}

gboolean
gst_tfx_row_is_on_device (const GstTfxRow *self)
{
  return gst_tfx_row_compile (self) == 0 &&
         gst_tfx_row_backend (self) != tfx_cpu_backend ();
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

/* ---- runs, and notes for tracers ----------------------------------------- */

/* A run, filled in only if there is a tracer. */
typedef struct
{
  GstTfxTraceRun run;
  TfxStats before;
} GstTfxRowNote;

/* Call before a run; @what: see GstTfxTraceRun. */
static inline void
gst_tfx_row_note_begin (const GstTfxRow *self, GstTfxRowNote *note,
    const gchar *what)
{
  if (!gst_tfx_trace_is_on ())
    return;
  note->run =
      (GstTfxTraceRun){ .what = what, .filters = self->filters, .n = self->n };
  note->before = self->last->counts.stats;
  gst_tfx_trace_begin (&note->run);
  note->run.start = gst_util_get_timestamp ();
}

static gpointer
gst_tfx_row_free_retired (gpointer data)
{
  TfxRetired *retired = data;

  tfx_retired_free (&retired);
  return NULL;
}

/* Frees it in another thread if one can be made, because this one streams. */
static void
gst_tfx_row_free_later (TfxRetired *retired)
{
  GThread *thread =
      g_thread_try_new ("tfx-free", gst_tfx_row_free_retired, retired, NULL);

  if (thread)
    g_thread_unref (thread);
  else
    tfx_retired_free (&retired);
}

/* Call after a run: counts it, and frees what changes that ended have
 * replaced. */
static inline void
gst_tfx_row_note_end (const GstTfxRow *self, GstTfxRowNote *note,
    gsize n_frames, gint err)
{
  const GstTfxRowCounts *counts = &self->last->counts;
  GstTfxTraceRun *run = &note->run;

  gst_tfx_shared_filter_count (self->last);
  for (gsize i = 0; i < self->n; i++) {
    TfxRetired *retired = tfx_filter_take_retired (self->filters[i]);

    if (G_UNLIKELY (retired))
      gst_tfx_row_free_later (retired);
  }
  if (!gst_tfx_trace_is_on ())
    return;
  run->end = gst_util_get_timestamp ();
  run->n_frames = n_frames;
  run->n_stages = counts->n_stages;
  run->n_sections = counts->n_sections;
  run->err = err;
  run->added = counts->stats;
  gst_tfx_count_sum_stats (&run->added, &run->added, &note->before, -1);
  gst_tfx_trace_end (run);
}

/* Runs the frames after n_done on the CPU.  The row has left the device. */
static gint
gst_tfx_row_go_on (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, gsize n_done)
{
  const TfxBlock rest_in = gst_tfx_row_rest (in, n_done);
  const TfxBlock rest_out = gst_tfx_row_rest (out, n_done);
  GstTfxRowNote note;
  gint err = gst_tfx_row_compile (self);

  if (err < 0)
    return err;
  gst_tfx_row_note_begin (self, &note, "rest");
  err = tfx_plan_run (self->last->plan, &rest_in, &rest_out);
  gst_tfx_row_note_end (self, &note, rest_in.n_frames, err);
  return err;
}

gint
gst_tfx_row_run_rest (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, gsize n_done, gint err)
{
  gst_tfx_row_leave_device (self, err);
  return gst_tfx_row_go_on (self, in, out, n_done);
}

gint
gst_tfx_row_run (const GstTfxRow *self, const TfxBlock *in, const TfxBlock *out,
    gboolean in_host)
{
  GstTfxSharedFilter *last = self->last;
  GstTfxRowNote note;
  gint err = gst_tfx_row_compile (self);

  if (err < 0)
    return err;
  gst_tfx_row_note_begin (self, &note, "run");
  err = tfx_plan_run (last->plan, in, out);
  gst_tfx_row_note_end (self, &note, in->n_frames, err);
  if (G_LIKELY (err >= 0) || !in_host || err == -EINVAL ||
      gst_tfx_row_backend (self) == tfx_cpu_backend ())
    return err;
  return gst_tfx_row_run_rest (self, in, out, tfx_plan_n_done (last->plan),
      err);
}

/* ---- in-flight runs ------------------------------------------------------ */

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
  GstTfxRowNote note;
  gint err;

  gst_tfx_row_note_begin (self, &note, "start");
  err = tfx_plan_start (self->last->plan, in, out, flight);
  gst_tfx_row_note_end (self, &note, in->n_frames, err);
  return err;
}

gint
gst_tfx_row_finish (const GstTfxRow *self, const TfxBlock *in,
    const TfxBlock *out, TfxFlight *flight)
{
  GstTfxSharedFilter *last = self->last;
  GstTfxRowNote note;
  gint err = 0;

  /* Without a plan no run is in flight. */
  if (last->plan) {
    gst_tfx_row_note_begin (self, &note, "finish");
    err = tfx_plan_finish (last->plan, flight);
    gst_tfx_row_note_end (self, &note, in->n_frames, err);
  }
  /* Freeing the plan, here or earlier, finishes the runs that it can. */
  if (err < 0)
    gst_tfx_row_leave_device (self, err);
  if (flight->n_done == in->n_frames)
    return 0;
  if (err == 0)
    gst_tfx_row_leave_device (self, -EIO);
  return gst_tfx_row_go_on (self, in, out, flight->n_done);
}

gsize
gst_tfx_row_n_done (const GstTfxRow *self)
{
  return self->last->plan ? tfx_plan_n_done (self->last->plan) : 0;
}

gboolean
gst_tfx_row_is_silent (const GstTfxRow *self)
{
  for (gsize i = 0; i < self->n; i++) {
    if (!tfx_filter_is_silent (self->filters[i]))
      return FALSE;
  }
  return TRUE;
}

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
