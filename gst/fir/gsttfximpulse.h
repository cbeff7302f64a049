/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulse.h: impulse responses.
 */
#ifndef GST_TFX_IMPULSE_H
#define GST_TFX_IMPULSE_H

#include <glib.h>

#include "tfx.h"

G_BEGIN_DECLS

/* The largest magnitude of a tap: float32 has some room to sum them up. */
#define GST_TFX_IMPULSE_MAX 1e30

/* Reference-counted; immutable once it is filled; any thread. */
typedef struct
{
  gint refs;       /* atomic */
  guint rate;      /* Hz; 0: that of the stream, whatever it is */
  guint n_kernels; /* 1 for all channels, or one for each */
  gsize n_taps;
  gdouble *taps; /* [n_kernels][n_taps]; full scale is 1 */
  /* Symmetric or antisymmetric within rounding, all of them: every frequency
   * is late by the same time. */
  gboolean is_linear_phase;
  /* Where its time 0 is: what a resampler has put in front. */
  gsize beginning;
  /* The delay that it suggests itself: the middle if it is of linear phase,
   * rounded down, else its beginning. */
  gsize delay;
} GstTfxImpulse;

/* NULL if memory is short.  The taps are not set yet; gst_tfx_impulse_finish()
 * finds the rest when they are. */
GstTfxImpulse *gst_tfx_impulse_new (guint rate, guint n_kernels, gsize n_taps);
void gst_tfx_impulse_finish (GstTfxImpulse *self);

/* A windowed-sinc kernel, in the place of *impulse if that is free, else in that of
 * another one.  0, or the negative errno value of tfx_fir_design(): *impulse is then
 * free or NULL. */
gint gst_tfx_impulse_set_design (GstTfxImpulse **impulse,
    const TfxFirDesign *design, guint rate);

/* One kernel for all channels, likewise.  FALSE with a text for the user if values
 * is no kernel. */
gboolean gst_tfx_impulse_set_values (GstTfxImpulse **impulse,
    const gdouble *values, gsize n, GError **error);

GstTfxImpulse *gst_tfx_impulse_ref (GstTfxImpulse *self);
/* NULL is allowed. */
void gst_tfx_impulse_unref (GstTfxImpulse *self);

/* A FIR stage of the kernels with @n_leading zeros in front of them, and zeros
 * behind them up to @n_taps in all.  NULL with a text for the user if that is
 * too long, or memory is short. */
TfxStage *gst_tfx_impulse_make_stage (const GstTfxImpulse *self, guint64 id,
    gsize n_leading, gsize n_taps, TfxFirMethod method, GError **error);

/* The same with other taps, of one kernel, where nobody else holds the stage.
 * room[n_taps] is used if there are zeros; FALSE if it cannot be done. */
gboolean
gst_tfx_impulse_reuse_stage (const GstTfxImpulse *self, TfxStage *stage,
    gsize n_leading, gsize n_taps, TfxFirMethod method, gdouble *room);

G_END_DECLS

#endif /* GST_TFX_IMPULSE_H */
