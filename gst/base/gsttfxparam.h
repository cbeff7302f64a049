/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxparam.h: properties whose range is what one usually wants.
 */
#ifndef GST_TFX_PARAM_H
#define GST_TFX_PARAM_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Where frequencies end for sliders, in Hz: half of the highest rates in use. */
#define GST_TFX_PARAM_USUAL_HZ 100000.0

/* A GParamSpecDouble from @minimum to @usual, which is what a slider shows and what
 * GstDirectControlBinding spreads 0 to 1 over; values up to @maximum are taken
 * too. */
GParamSpec *gst_tfx_param_new_double (const gchar *name, const gchar *nick,
    const gchar *blurb, gdouble minimum, gdouble usual, gdouble maximum,
    gdouble initial, GParamFlags flags);

G_END_DECLS

#endif /* GST_TFX_PARAM_H */
