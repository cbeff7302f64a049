/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulse.h: impulse responses.
 */
#ifndef GST_TFX_IMPULSE_H
#define GST_TFX_IMPULSE_H

#include <stdio.h>

#include <glib.h>

#include "tfx.h"

G_BEGIN_DECLS

/* The largest magnitude of a tap; leaves room for sums in float32. */
#define GST_TFX_IMPULSE_MAX 1e30

/* Reference-counted; immutable when its taps are set; any thread. */
typedef struct
{
  gint refs;       /* atomic */
  guint rate;      /* Hz; 0: that of the stream, whatever it is */
  guint n_kernels; /* 1 for all channels, or one for each */
  gsize n_taps;
  gdouble *taps; /* [n_kernels][n_taps]; full scale is 1 */
  /* All kernels are symmetric or antisymmetric within rounding: every frequency
   * has the same delay. */
  gboolean is_linear_phase;
  /* The frame of time 0: a resampler adds frames before it. */
  gsize beginning;
  /* The default delay: the middle, rounded down, if it has linear phase, else its
   * beginning. */
  gsize delay;
} GstTfxImpulse;

/* NULL if memory is short.  The caller sets the taps and then calls
 * gst_tfx_impulse_finish(), which computes the other fields. */
GstTfxImpulse *gst_tfx_impulse_new (guint rate, guint n_kernels, gsize n_taps);
void gst_tfx_impulse_finish (GstTfxImpulse *self);

GstTfxImpulse *gst_tfx_impulse_ref (GstTfxImpulse *self);
/* NULL is allowed. */
void gst_tfx_impulse_unref (GstTfxImpulse *self);

/* Reads a sound file that libsndfile supports, or a text file of numbers, for a stream
 * of @n_channels (0: any number): it must have one channel, or @n_channels.  NULL with
 * an error for the user if it cannot be read or is not a kernel. */
GstTfxImpulse *
gst_tfx_impulse_file_read (const gchar *path, guint n_channels, GError **error);

/* Fits an impulse response, read from @path, to a stream: resamples it if the rates
 * differ, and keeps its frequency response.  NULL with an error for the user if the
 * channels do not match, or it cannot be resampled. */
GstTfxImpulse *gst_tfx_impulse_file_fit (GstTfxImpulse *impulse, guint rate,
    guint n_channels, const gchar *path, GError **error);

/* ---- gsttfximpulsetext.c: for gst_tfx_impulse_file_read() ----------------- */

/* Whether the first bytes of an open file are text. */
gboolean gst_tfx_impulse_text_is (FILE *file);

/* Its numbers, of gdouble, frame by frame, not checked yet; NULL with the reason
 * in *why, to be freed.  Rate 0: the file names none. */
GArray *gst_tfx_impulse_text_read (const gchar *path, guint *n_channels,
    guint *rate, gchar **why);

G_END_DECLS

#endif /* GST_TFX_IMPULSE_H */
