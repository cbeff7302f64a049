/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcontrol.h: automation.  The curves of a GstController are read at the
 * grid points of the filter, within buffers too.
 *
 * Only the streaming thread calls these functions, with no lock held unless
 * noted: setters take the object lock, and queueing takes the filter's.
 */
#ifndef GST_TFX_CONTROL_H
#define GST_TFX_CONTROL_H

#include "gsttfxelement.h"
#include "gsttfxrow.h"

G_BEGIN_DECLS

/* Most grid points that are read before a run: a buffer of more than 65,536
 * frames runs in parts. */
#define GST_TFX_CONTROL_POINTS 2048

typedef struct _GstTfxCurve GstTfxCurve;

/* Initialize with zeros; release with gst_tfx_control_clear(). */
typedef struct
{
  GstTfxCurve *curves; /* control bindings with their values */
  guint n, n_room;
  gboolean has_steps;   /* a curve is of a property that is not a double */
  gboolean is_followed; /* curves are read at grid points */
  guint64 point;        /* the last grid point read, in frames of the filter */
  guint64 start;        /* the filter's number of the next frame */
  gsize n_ready;        /* frames from start on that can run */
  gboolean is_due;      /* another structure begins at point */
  gboolean is_put_off;  /* move_stage is called again at the next point */
  gboolean is_inside;   /* a buffer has begun: its latency cannot grow */
  gboolean has_delays;  /* curves have the delays of the chain in force */
  GstClockTime anchor;  /* timestamp of anchor_frame */
  guint64 anchor_frame;
} GstTfxControl;

/* Whether any property of the element or of its children has a control
 * binding. */
gboolean gst_tfx_control_is_wanted (GstTfxElement *self);

/* Call before frames that begin at @pts, or where the last ones ended
 * (GST_CLOCK_TIME_NONE).  Finds the curves.  After a start or a break, or if a
 * curve is new, sets all controlled properties to their values at the first
 * grid point. */
void gst_tfx_control_begin (GstTfxElement *self, GstClockTime pts);

/* Does that if a property has a control binding, or else forgets the curves.
 * Returns whether one has. */
gboolean gst_tfx_control_enter (GstTfxElement *self, GstClockTime pts);

/* Applies changed properties, then reads the curves at the grid points of the
 * next @n_frames and queues a stage for each point.  Sets n_ready. */
void gst_tfx_control_cover (GstTfxElement *self, gsize n_frames);
/* The same within a buffer: a change that adds latency waits for the next
 * buffer. */
void gst_tfx_control_cover_rest (GstTfxElement *self, gsize n_frames);

/* Whether curves must be read again before @n_frames have run. */
gboolean gst_tfx_control_is_partial (GstTfxElement *self, gsize n_frames);

/* Allocates memory for the first curves. */
void gst_tfx_control_reserve (GstTfxElement *self);

/* Releases all curves. */
void gst_tfx_control_clear (GstTfxElement *self);

/* Filters in to out, in host memory, in parts of n_ready frames, and reads the
 * curves between them.  The row is the element's filter alone.  The caller has
 * locked it; it is unlocked while curves are read.  Returns 0 or a negative
 * errno value. */
gint gst_tfx_control_run (GstTfxElement *self, const GstTfxRow *row,
    const TfxBlock *in, const TfxBlock *out);

G_END_DECLS

#endif /* GST_TFX_CONTROL_H */
