/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulse.h: impulse responses.
 */
#ifndef GST_TFX_IMPULSE_H
#define GST_TFX_IMPULSE_H

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

/* Designs a windowed-sinc kernel into *impulse; if that has other references or another
 * size, into a new one that replaces it.  Returns 0, or a negative errno value of
 * tfx_fir_design() and leaves *impulse without valid taps, or NULL. */
gint gst_tfx_impulse_set_design (GstTfxImpulse **impulse,
    const TfxFirDesign *design, guint rate);

/* The same with given taps.  FALSE with an error for the user if the values are not a
 * kernel. */
gboolean gst_tfx_impulse_set_values (GstTfxImpulse **impulse,
    const gdouble *values, gsize n, GError **error);

GstTfxImpulse *gst_tfx_impulse_ref (GstTfxImpulse *self);
/* NULL is allowed. */
void gst_tfx_impulse_unref (GstTfxImpulse *self);

/* A FIR stage of the kernels with @n_leading leading zeros, and trailing zeros up to
 * @n_taps in all.  NULL with an error for the user if that is too long, or memory is
 * short. */
TfxStage *gst_tfx_impulse_make_stage (const GstTfxImpulse *self, guint64 id,
    gsize n_leading, gsize n_taps, TfxFirMethod method, GError **error);

/* Sets the taps of a stage that has no other references, from one kernel.  room[n_taps] is
 * scratch for the zeros.  FALSE if that is not possible. */
gboolean
gst_tfx_impulse_reuse_stage (const GstTfxImpulse *self, TfxStage *stage,
    gsize n_leading, gsize n_taps, TfxFirMethod method, gdouble *room);

G_END_DECLS

#endif /* GST_TFX_IMPULSE_H */
