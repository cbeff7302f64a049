/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxaside.h: a buffer that is sent by a thread of its own.
 */
#ifndef GST_TFX_ASIDE_H
#define GST_TFX_ASIDE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Pushes the buffer, which it takes.  Returns when the buffer has arrived at the
 * sink pad, which is in front of the next element or further on, however long that
 * keeps it: a sink that is paused does so until it plays.  The pads may be unlinked
 * then.  cut (or NULL) is a source pad on the way there that was linked to it, and
 * is no more.  FALSE: there is no thread to be had, and the buffer is dropped, since
 * that sink would keep the caller. */
gboolean
gst_tfx_aside_push (GstPad *src, GstPad *cut, GstPad *sink, GstBuffer *buffer);

G_END_DECLS

#endif /* GST_TFX_ASIDE_H */
