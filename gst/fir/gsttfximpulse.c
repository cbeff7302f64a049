/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulse.c: impulse responses.
 */
#include "gsttfximpulse.h"

#include <errno.h>
#include <gst/gst.h>
#include <math.h>
#include <string.h>

/* Largest difference of two equal taps, as a fraction of the largest tap: float32 and
 * 24-bit files round by less. */
#define SYMMETRY_TOLERANCE 1e-6

/* ---- making and freeing ----------------------------------------------------- */

GstTfxImpulse *
gst_tfx_impulse_new (guint rate, guint n_kernels, gsize n_taps)
{
  GstTfxImpulse *self = g_new0 (GstTfxImpulse, 1);

  self->refs = 1;
  self->rate = rate;
  self->n_kernels = n_kernels;
  self->n_taps = n_taps;
  if (n_taps <= G_MAXSIZE / n_kernels)
    self->taps = g_try_new (gdouble, n_kernels * n_taps);
  if (!self->taps)
    g_clear_pointer (&self, gst_tfx_impulse_unref);
  return self;
}

GstTfxImpulse *
gst_tfx_impulse_ref (GstTfxImpulse *self)
{
  g_atomic_int_inc (&self->refs);
  return self;
}

void
gst_tfx_impulse_unref (GstTfxImpulse *self)
{
  if (!self || !g_atomic_int_dec_and_test (&self->refs))
    return;
  g_free (self->taps);
  g_free (self);
}

/* Whether it is one kernel of n_taps without other references, so that its taps may be
 * set.  NULL is allowed. */
static gboolean
gst_tfx_impulse_is_free (const GstTfxImpulse *self, gsize n_taps)
{
  return self && g_atomic_int_get (&self->refs) == 1 && self->n_kernels == 1 &&
         self->n_taps == n_taps;
}

/* Replaces *impulse unless its taps may be set.  FALSE if memory is short. */
static gboolean
gst_tfx_impulse_make_free (GstTfxImpulse **impulse, guint rate, gsize n_taps)
{
  if (!gst_tfx_impulse_is_free (*impulse, n_taps)) {
    gst_tfx_impulse_unref (*impulse);
    *impulse = gst_tfx_impulse_new (rate, 1, n_taps);
  }
  if (*impulse)
    (*impulse)->rate = rate;
  return *impulse != NULL;
}

/* Whether taps[n - 1 - i] is sign * taps[i]. */
static gboolean
gst_tfx_impulse_is_mirrored (const gdouble *taps, gsize n, gdouble sign,
    gdouble tolerance)
{
  for (gsize i = 0; i < (n + 1) / 2; i++) {
    if (!(fabs (taps[n - 1 - i] - sign * taps[i]) <= tolerance))
      return FALSE;
  }
  return TRUE;
}

static gboolean
gst_tfx_impulse_find_linear_phase (const GstTfxImpulse *self)
{
  const gdouble *taps = self->taps;
  const gsize n = self->n_taps;

  for (guint k = 0; k < self->n_kernels; k++, taps += n) {
    gdouble tolerance = 0.0;

    for (gsize i = 0; i < n; i++)
      tolerance = MAX (tolerance, SYMMETRY_TOLERANCE * fabs (taps[i]));
    if (!gst_tfx_impulse_is_mirrored (taps, n, 1.0, tolerance) &&
        !gst_tfx_impulse_is_mirrored (taps, n, -1.0, tolerance))
      return FALSE;
  }
  return TRUE;
}

void
gst_tfx_impulse_finish (GstTfxImpulse *self)
{
  self->is_linear_phase = gst_tfx_impulse_find_linear_phase (self);
  self->delay = self->is_linear_phase ? (self->n_taps - 1) / 2 : 0;
}

gint
gst_tfx_impulse_set_design (GstTfxImpulse **impulse, const TfxFirDesign *design,
    guint rate)
{
  gint err = -ENOMEM;

  if (gst_tfx_impulse_make_free (impulse, rate, design->n_taps))
    err = tfx_fir_design (design, rate, (*impulse)->taps);
  if (err == 0) {
    (*impulse)->is_linear_phase = TRUE;
    (*impulse)->beginning = 0;
    (*impulse)->delay = (design->n_taps - 1) / 2;
  }
  return err;
}

gboolean
gst_tfx_impulse_set_values (GstTfxImpulse **impulse, const gdouble *values,
    gsize n, GError **error)
{
  if (n > TFX_FIR_MAX_TAPS) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "kernel has %" G_GSIZE_FORMAT " taps; at most %u are allowed", n,
        TFX_FIR_MAX_TAPS);
    return FALSE;
  }
  for (gsize i = 0; i < n; i++) {
    if (!(fabs (values[i]) <= GST_TFX_IMPULSE_MAX)) {
      g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
          "tap %" G_GSIZE_FORMAT " of kernel is %g, but must be from %g to "
          "%g",
          i, values[i], -GST_TFX_IMPULSE_MAX, GST_TFX_IMPULSE_MAX);
      return FALSE;
    }
  }
  if (!gst_tfx_impulse_make_free (impulse, 0, n)) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "out of memory for the %" G_GSIZE_FORMAT " taps of kernel", n);
    return FALSE;
  }
  memcpy ((*impulse)->taps, values, n * sizeof (gdouble));
  (*impulse)->beginning = 0;
  gst_tfx_impulse_finish (*impulse);
  return TRUE;
}

/* ---- stages --------------------------------------------------------------------- */

/* The kernels with their zeros, to be freed; NULL if memory is short. */
static gdouble *
gst_tfx_impulse_pad (const GstTfxImpulse *self, gsize n_leading, gsize n_taps)
{
  gdouble *padded = NULL;

  if (n_taps <= G_MAXSIZE / self->n_kernels)
    padded = g_try_new0 (gdouble, n_taps * self->n_kernels);
  for (guint k = 0; padded && k < self->n_kernels; k++)
    memcpy (padded + k * n_taps + n_leading, self->taps + k * self->n_taps,
        self->n_taps * sizeof (gdouble));
  return padded;
}

TfxStage *
gst_tfx_impulse_make_stage (const GstTfxImpulse *self, guint64 id,
    gsize n_leading, gsize n_taps, TfxFirMethod method, GError **error)
{
  const gdouble **kernels;
  gdouble *padded = NULL, *taps = self->taps;
  TfxStage *stage = NULL;

  if (n_taps > TFX_FIR_MAX_TAPS) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "with the current latency it needs %" G_GSIZE_FORMAT
        " taps; at most %u are allowed",
        n_taps, TFX_FIR_MAX_TAPS);
    return NULL;
  }
  if (n_taps > self->n_taps)
    taps = padded = gst_tfx_impulse_pad (self, n_leading, n_taps);
  kernels = g_new (const gdouble *, self->n_kernels);
  for (guint k = 0; taps && k < self->n_kernels; k++)
    kernels[k] = taps + k * n_taps;
  if (taps)
    stage = tfx_stage_new_fir (id, kernels, self->n_kernels, n_taps, method);
  if (!stage)
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "out of memory for its %" G_GSIZE_FORMAT " taps", n_taps);
  g_free (kernels);
  g_free (padded);
  return stage;
}

gboolean
gst_tfx_impulse_reuse_stage (const GstTfxImpulse *self, TfxStage *stage,
    gsize n_leading, gsize n_taps, TfxFirMethod method, gdouble *room)
{
  const gdouble *taps = self->taps;

  if (self->n_kernels != 1 || n_leading + self->n_taps > n_taps)
    return FALSE;
  if (n_taps > self->n_taps) {
    memset (room, 0, n_taps * sizeof *room);
    memcpy (room + n_leading, self->taps, self->n_taps * sizeof *room);
    taps = room;
  }
  return tfx_stage_reuse_fir (stage, &taps, 1, n_taps, method);
}
