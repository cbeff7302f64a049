/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcontrol.h: properties under control take their values at the points of
 * the filter's grid, inside of buffers too.
 *
 * All of this is of the streaming thread.
 */
#ifndef GST_TFX_CONTROL_H
#define GST_TFX_CONTROL_H

#include "gsttfxcurves.h"
#include "gsttfxelement.h"
#include "gsttfxrow.h"

G_BEGIN_DECLS

/* Points that are read ahead: buffers of more than 65,536 frames are run in parts. */
#define GST_TFX_CONTROL_POINTS 2048

/* Starts with all zero, ends with gst_tfx_control_clear(). */
typedef struct
{
  GstTfxCurves curves;
  gboolean is_followed; /* values are read at the points of the grid, */
  guint64 point;        /* up to this one */
  guint64 start;        /* the filter's number of the next frame, */
  gsize n_ready;        /* from which on so many can be run */
  gboolean is_due;      /* another structure begins at it */
  gboolean is_put_off;  /* to another point, and nothing else was set */
  gboolean is_inside;   /* of a buffer: the delay can not grow */
  gboolean has_delays;  /* curves have those of the chain in force */
  GstClockTime anchor;  /* a time of the stream, and */
  guint64 anchor_frame; /* the frame that had it */
} GstTfxControl;

/* Whether any property of the element or of its children is under control. */
gboolean gst_tfx_control_is_wanted (GstTfxElement *self);

/* Frames come that begin at @pts; GST_CLOCK_TIME_NONE: where the last ended.
 * Where curves begin, properties get their values for the first frame. */
void gst_tfx_control_begin (GstTfxElement *self, GstClockTime pts);

/* The same if any is under control, which it returns. */
gboolean gst_tfx_control_enter (GstTfxElement *self, GstClockTime pts);

/* Reads values for the next frames, up to @n_frames, and queues them. */
void gst_tfx_control_cover (GstTfxElement *self, gsize n_frames);
/* The same where frames of the buffer have gone out, or are to: no filter may become
 * later before the next one. */
void gst_tfx_control_cover_rest (GstTfxElement *self, gsize n_frames);

/* Whether more has to be read before all of them can be run. */
gboolean gst_tfx_control_is_partial (GstTfxElement *self, gsize n_frames);

/* Whether the element runs by itself, not fused: more has to be read, or a curve
 * leads to other structures.  With those it would leave its row now and then, at
 * frames that depend on how the stream is cut. */
gboolean gst_tfx_control_is_alone (GstTfxElement *self, gsize n_frames);

/* Nothing is under control any more, nor will be. */
void gst_tfx_control_clear (GstTfxElement *self);

/* Filters in to out, in host memory, and reads on meanwhile.  With the row, which
 * is the element's filter alone, locked; 0 or a negative errno value. */
gint gst_tfx_control_run (GstTfxElement *self, const GstTfxRow *row,
    const TfxBlock *in, const TfxBlock *out);

G_END_DECLS

#endif /* GST_TFX_CONTROL_H */
