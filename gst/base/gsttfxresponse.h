/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxresponse.h: the action signals "response" and "gain-curve", for
 * applications that draw a filter.
 */
#ifndef GST_TFX_RESPONSE_H
#define GST_TFX_RESPONSE_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/* Returns the response of a chain for a channel at @frequencies, doubles in Hz,
 * as a dictionary: rate (d, Hz), channel (u), latency (t, ns), and one number
 * per frequency in real, imaginary and group-delay (ad, frames).  @latency
 * GST_CLOCK_TIME_NONE: that of the chain.  Returns a reference; NULL without a
 * chain, or with a warning if @frequencies has another type. */
GVariant *gst_tfx_response_new (const TfxChain *chain, guint channel,
    gdouble rate, GstClockTime latency, GVariant *frequencies);

/* Returns the gain in dB of dynamics at @levels in dB, both doubles; NULL if
 * the gain does not depend on the level. */
GVariant *gst_tfx_response_new_curve (const TfxStage *stage, GVariant *levels);

/* Adds an action signal to a class that takes a GVariant, and a channel if
 * @has_channel, and returns a GVariant. */
void gst_tfx_response_add_signal (GType type, const gchar *name,
    gboolean has_channel, GCallback handler);

G_END_DECLS

#endif /* GST_TFX_RESPONSE_H */
