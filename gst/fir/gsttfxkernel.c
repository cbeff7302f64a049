/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkernel.c: impulse responses ready to become a stage.
 */
#include "gsttfxkernel.h"

#include <errno.h>
#include <gst/gst.h>
#include <math.h>
#include <string.h>

/* How far two taps may differ and still count as equal, as a part of the
 * largest: float32 and 24-bit files round by less. */
#define SYMMETRY_TOLERANCE 1e-6

static GstTfxKernel *
gst_tfx_kernel_new (guint n_kernels, gsize n_taps)
{
  GstTfxKernel *self = g_atomic_rc_box_new0 (GstTfxKernel);

  self->n_kernels = n_kernels;
  self->n_taps = n_taps;
  self->taps = g_try_new (gdouble, n_kernels * n_taps);
  if (!self->taps) {
    gst_tfx_kernel_unref (self);
    return NULL;
  }
  return self;
}

static void
gst_tfx_kernel_clear (gpointer data)
{
  g_free (((GstTfxKernel *)data)->taps);
}

GstTfxKernel *
gst_tfx_kernel_ref (GstTfxKernel *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
gst_tfx_kernel_unref (GstTfxKernel *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, gst_tfx_kernel_clear);
}

/* Whether taps[n - 1 - i] is sign * taps[i]. */
static gboolean
gst_tfx_kernel_is_mirrored (const gdouble *taps, gsize n, gdouble sign,
    gdouble tolerance)
{
  for (gsize i = 0; i < (n + 1) / 2; i++) {
    if (!(fabs (taps[n - 1 - i] - sign * taps[i]) <= tolerance))
      return FALSE;
  }
  return TRUE;
}

static gboolean
gst_tfx_kernel_find_linear_phase (guint n_kernels, gsize n_taps,
    const gdouble *taps)
{
  for (guint k = 0; k < n_kernels; k++, taps += n_taps) {
    gdouble peak = 0.0;

    for (gsize i = 0; i < n_taps; i++)
      peak = MAX (peak, fabs (taps[i]));
    if (!gst_tfx_kernel_is_mirrored (taps, n_taps, 1.0,
            SYMMETRY_TOLERANCE * peak) &&
        !gst_tfx_kernel_is_mirrored (taps, n_taps, -1.0,
            SYMMETRY_TOLERANCE * peak))
      return FALSE;
  }
  return TRUE;
}

gint
gst_tfx_kernel_new_design (const TfxFirDesign *design, gdouble rate,
    GstTfxKernel **kernel)
{
  GstTfxKernel *self = gst_tfx_kernel_new (1, design->n_taps);
  gint err = self ? tfx_fir_design (design, rate, self->taps) : -ENOMEM;

  *kernel = NULL;
  if (err < 0) {
    gst_tfx_kernel_unref (self);
    return err;
  }
  self->is_linear_phase = TRUE;
  self->delay = (self->n_taps - 1) / 2;
  *kernel = self;
  return 0;
}

GstTfxKernel *
gst_tfx_kernel_new_values (const gdouble *values, gsize n, GError **error)
{
  GstTfxKernel *self;

  if (n > TFX_FIR_MAX_TAPS) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "kernel has %" G_GSIZE_FORMAT " taps, and %u is the most", n,
        TFX_FIR_MAX_TAPS);
    return NULL;
  }
  for (gsize i = 0; i < n; i++) {
    if (!(fabs (values[i]) <= GST_TFX_SOUND_MAX)) {
      g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
          "tap %" G_GSIZE_FORMAT " of kernel is %g, and must lie between %g "
          "and %g",
          i, values[i], -GST_TFX_SOUND_MAX, GST_TFX_SOUND_MAX);
      return NULL;
    }
  }
  self = gst_tfx_kernel_new (1, n);
  if (!self) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "no memory for the %" G_GSIZE_FORMAT " taps of kernel", n);
    return NULL;
  }
  memcpy (self->taps, values, n * sizeof (gdouble));
  self->is_linear_phase = gst_tfx_kernel_find_linear_phase (1, n, values);
  if (self->is_linear_phase)
    self->delay = (n - 1) / 2;
  return self;
}

GstTfxKernel *
gst_tfx_kernel_new_sound (GstTfxSound *sound, guint rate, const gchar *path,
    GError **error)
{
  /* Resampling would hide it. */
  gboolean is_linear_phase =
      gst_tfx_kernel_find_linear_phase (sound->n_channels, sound->n_frames,
          sound->samples);
  gdouble middle = 0.5 * (gdouble)(sound->n_frames - 1) * rate / sound->rate;
  GstTfxSound *used = NULL;
  GstTfxKernel *self;
  gsize n_lead = 0;

  if (sound->rate == rate)
    used = gst_tfx_sound_ref (sound);
  else
    used = gst_tfx_sound_resample (sound, rate, path, &n_lead, error);
  if (!used)
    return NULL;

  self = gst_tfx_kernel_new (used->n_channels, used->n_frames);
  if (self) {
    memcpy (self->taps, used->samples,
        used->n_channels * used->n_frames * sizeof (gdouble));
    self->is_linear_phase = is_linear_phase;
    self->delay = n_lead + (is_linear_phase ? (gsize)middle : 0);
  } else {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "no memory for %u impulse responses of %" G_GSIZE_FORMAT " taps",
        used->n_channels, used->n_frames);
  }
  gst_tfx_sound_unref (used);
  return self;
}

/* The kernels, each with its zeros; NULL if memory is short. */
static gdouble *
gst_tfx_kernel_pad (const GstTfxKernel *self, gsize n_front, gsize n_taps)
{
  gdouble *padded = NULL;

  if (n_taps < G_MAXSIZE / sizeof (gdouble) / self->n_kernels)
    padded = g_try_new0 (gdouble, n_taps * self->n_kernels);
  for (guint k = 0; padded && k < self->n_kernels; k++)
    memcpy (padded + k * n_taps + n_front, self->taps + k * self->n_taps,
        self->n_taps * sizeof (gdouble));
  return padded;
}

TfxStage *
gst_tfx_kernel_make_stage (const GstTfxKernel *self, guint64 id, gsize n_front,
    gsize n_taps, gsize delay, TfxFirMethod method, GError **error)
{
  const gdouble **kernels;
  gdouble *padded = NULL;
  TfxStage *stage = NULL;

  if (n_taps > TFX_FIR_MAX_TAPS) {
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
        "with the delay that the stream has it takes %" G_GSIZE_FORMAT
        " taps, and %u is the most",
        n_taps, TFX_FIR_MAX_TAPS);
    return NULL;
  }
  if (n_taps > self->n_taps)
    padded = gst_tfx_kernel_pad (self, n_front, n_taps);
  kernels = g_new (const gdouble *, self->n_kernels);
  for (guint k = 0; k < self->n_kernels; k++)
    kernels[k] = (padded ? padded : self->taps) + k * n_taps;
  if (padded || n_taps == self->n_taps)
    stage =
        tfx_stage_new_fir (id, kernels, self->n_kernels, n_taps, delay, method);
  if (!stage)
    g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_INIT,
        "no memory for its %" G_GSIZE_FORMAT " taps", n_taps);
  g_free (kernels);
  g_free (padded);
  return stage;
}
