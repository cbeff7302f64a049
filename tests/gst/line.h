/* SPDX-License-Identifier: LGPL-2.1-or-later
 * line.h: a stream of numbered frames through elements, from a pad to a pad, and
 * when each frame is heard: by its running time, whatever the segments are.
 */
#ifndef TFX_LINE_H
#define TFX_LINE_H

#include "tfxcheck.h"

typedef struct
{
  GstElement *element; /* one, or a bin */
  GstBus *bus;
  GstPad *src, *sink;
  GstAudioInfo info; /* of what goes in */
  gchar *launch;

  /* What came out, frame by frame. */
  gdouble *heard;   /* [n_frames][channels], 0 where nothing is heard */
  guint *n_times;   /* [n_frames], how often */
  guint64 n_frames; /* of the whole stream */
  guint64 n_heard, n_buffers;
  gboolean is_marked; /* the next buffer that goes in says DISCONT */
  GArray *sound;      /* of gdouble: as it came, one after another */
  gint64 worst_late;  /* ns by which a time misses that of a frame */
  GstSegment segment; /* that is under way at the end */
  GstFlowReturn flow; /* what the end says */
  gboolean is_ended;
  guint n_gaps;
} TfxLine;

/* Elements from a launch line, playing, fused or not.  They have caps, but no
 * segment yet. */
void tfx_line_open (TfxLine *self, const gchar *launch,
    const GstAudioInfo *info, gboolean fuse, guint64 n_frames);
void tfx_line_close (TfxLine *self);

/* Two that are compared. */
typedef TfxLine TfxLines[2];
void tfx_lines_close (TfxLines *self);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TfxLine, tfx_line_close)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TfxLines, tfx_lines_close)

/* An element in it; a reference. */
GstElement *tfx_line_get (TfxLine *self, const gchar *name);

/* The object that has a property, "x::cutoff" or "x::child::gain"; a reference. */
GstObject *tfx_line_find (TfxLine *self, const gchar *path, GParamSpec **spec);

/* The kernel of a tfxfir is an impulse after n frames, which it holds. */
void tfx_line_set_impulse (TfxLine *self, const gchar *name, gsize n);

/* A segment from `start` on, the beginning of which has the running time of a
 * frame. */
void tfx_line_push_segment (TfxLine *self, GstClockTime start, guint64 frame);

void tfx_line_push_start (TfxLine *self, const gchar *id);
void tfx_line_push_caps (TfxLine *self, const GstAudioInfo *info);

/* Frames of the input from one number on, in a segment as above; its beginning
 * has been given.  The time may be wrong by some ns. */
GstFlowReturn tfx_line_push (TfxLine *self, const gdouble *in, guint64 from,
    gsize n, GstClockTime start, guint64 start_frame, gint64 jitter);

/* Frames of noise in buffers of up to `most`, in one segment. */
void tfx_line_play (TfxLine *self, const gdouble *in, guint64 from, guint64 to,
    gsize most);

void tfx_line_end (TfxLine *self);

/* All that came out, one after another. */
const gdouble *tfx_line_sound (const TfxLine *self);

/* Each frame has been heard once, at its time. */
void tfx_line_expect_whole (const TfxLine *self);

/* The power of a - b against that of b, in dB. */
gdouble tfx_line_error_db (const gdouble *a, const gdouble *b, gsize n);

#endif /* TFX_LINE_H */
