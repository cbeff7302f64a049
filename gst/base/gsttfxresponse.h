/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxresponse.h: the action signals "response" and "gain-curve", for
 * applications that draw a filter.
 */
#ifndef GST_TFX_RESPONSE_H
#define GST_TFX_RESPONSE_H

#include <gst/gst.h>

#include "tfx.h"

G_BEGIN_DECLS

/* What a chain does to a channel at @frequencies, doubles in Hz, as a dictionary:
 * rate (d, Hz), channel (u), latency (t, ns), and of as many numbers as there
 * are frequencies real, imaginary, group-delay (ad, frames).  @latency:
 * GST_CLOCK_TIME_NONE is the chain's own.  NULL without a chain, or with a warning if
 * that are no doubles; the other of an own reference. */
GVariant *gst_tfx_response_new (const TfxChain *chain, guint channel,
    gdouble rate, GstClockTime latency, GVariant *frequencies);

/* The gain in dB of dynamics at @levels in dB, doubles both; NULL if the gain does
 * not go by the level. */
GVariant *gst_tfx_response_new_curve (const TfxStage *stage, GVariant *levels);

/* Adds an action signal to a class: a GVariant for a GVariant; with a channel
 * behind that or not. */
void gst_tfx_response_add_signal (GType type, const gchar *name,
    gboolean has_channel, GCallback handler);

G_END_DECLS

#endif /* GST_TFX_RESPONSE_H */
