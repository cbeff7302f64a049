/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkernel.h: impulse responses ready to become a stage.
 */
#ifndef GST_TFX_KERNEL_H
#define GST_TFX_KERNEL_H

#include <glib.h>

#include "gsttfxsound.h"
#include "tfx.h"

G_BEGIN_DECLS

/* Immutable; any thread. */
typedef struct
{
  guint n_kernels; /* 1 for all channels, or one for each */
  gsize n_taps;
  /* Symmetric or antisymmetric within rounding, all of them: every frequency
   * is late by the same time. */
  gboolean is_linear_phase;
  /* That time, rounded down to samples; of others 0, but for what a resampler
   * has put in front. */
  gsize delay;
  gdouble *taps; /* [n_kernels][n_taps] */
} GstTfxKernel;

/* A windowed-sinc kernel.  0, or the negative errno value of
 * tfx_fir_design(). */
gint gst_tfx_kernel_new_design (const TfxFirDesign *design, gdouble rate,
    GstTfxKernel **kernel);

/* One kernel for all channels.  NULL with a text for the user if values is no
 * kernel. */
GstTfxKernel *
gst_tfx_kernel_new_values (const gdouble *values, gsize n, GError **error);

/* The kernels that a sound is, at @rate; @path is for the user's text. */
GstTfxKernel *gst_tfx_kernel_new_sound (GstTfxSound *sound, guint rate,
    const gchar *path, GError **error);

GstTfxKernel *gst_tfx_kernel_ref (GstTfxKernel *self);
/* NULL is allowed. */
void gst_tfx_kernel_unref (GstTfxKernel *self);

/* A FIR stage with @n_front zeros before the kernel, and zeros behind it up to
 * @n_taps in all, that takes @delay out of the stream.  NULL with a text for
 * the user if that is too long, or memory is short. */
TfxStage *
gst_tfx_kernel_make_stage (const GstTfxKernel *self, guint64 id, gsize n_front,
    gsize n_taps, gsize delay, TfxFirMethod method, GError **error);

G_END_DECLS

#endif /* GST_TFX_KERNEL_H */
