/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeyqueue.h: the queues of the key pads, for the files of gsttfxkey.h.
 *
 * The frames of all streams have numbers on one axis: running time times rate.
 * A stream continues at its next frame; it is placed by its timestamps where it
 * begins, after a mark DISCONT, after a jump of a second, and if it has been off
 * by 40 ms for a second.
 *
 * The streaming thread of a key converts its buffers to the rate and format of
 * the main stream; that of the main stream copies them.  Each buffer is kept as
 * it came, and converted again if the main stream changes its rate.  One lock
 * guards all queues, but is never held while another element is called.
 */
#ifndef GST_TFX_KEYQUEUE_H
#define GST_TFX_KEYQUEUE_H

#include "gsttfxelementprivate.h"

G_BEGIN_DECLS

/* Seconds of a key in its queue, in addition to the latency. */
#define GST_TFX_KEYQUEUE_SECONDS 1

/* Before all frames and times; as a time: none. */
#define GST_TFX_KEYQUEUE_NOWHERE (G_MININT64 / 4)

/* The numbers of the frames of a stream. */
typedef struct
{
  gboolean is_set;
  gint64 next;      /* the frame after the last one */
  gint64 last_good; /* timestamp that differed by less than the threshold */
} GstTfxKeyPlace;

/* A buffer in the queue of a key. */
typedef struct
{
  GstBuffer *buffer; /* in playback order; NULL: the rest from a resampler */
  GstAudioInfo info;
  gint64 n_in, time; /* its frames, and when it begins, in ns on the axis */
  guint8 *samples;   /* converted and interleaved: */
  gint64 begin, n_frames;
} GstTfxKeyItem;

/* A key pad.  A released one stays until the element stops, as silence. */
typedef struct
{
  guint number;
  GstPad *pad;         /* NULL: released */
  gboolean is_leaving; /* released, but still a pad of the element */
  guint n_channels;    /* of the last caps; 0: there were none */
  GQueue items;
  gint64 n_queued;
  gint64 end; /* the frames before this one are queued, or missing for good */
  GstTfxKeyPlace place;
  /* Converts a run of contiguous buffers, all of run_info.  It begins at frame
   * run_begin; n_in frames have come, and n_out have left it. */
  GstAudioConverter *converter;
  GstAudioInfo run_info;
  gint64 run_begin, n_in, n_out;
  GstClockTime lag; /* of the resampler, added to the latency */
  gboolean is_ended, is_flushing, is_seeking, is_live;
  gboolean is_unused; /* main segment done: drops frames until the next one */
  GThread *thread;    /* that streams into the pad; NULL: not known */
  /* Of its streaming thread. */
  GstAudioInfo info; /* rate 0: no caps */
  GstSegment segment;
} GstTfxKey;

struct _GstTfxKeys
{
  GMutex lock;
  GCond cond; /* anything below has changed */
  /* Under the lock. */
  GPtrArray *list;   /* of GstTfxKey, by number */
  GstAudioInfo info; /* of the main stream; rate 0: no caps */
  gboolean is_started, is_stopped, is_playing;
  gboolean is_ended; /* the main stream */
  gboolean has_warned;
  gint64 wanted;        /* end of the frames that it waits for, or NOWHERE */
  gint64 passed;        /* end of the frames that it has used */
  GstTfxKeyPlace place; /* of the main stream */
  gboolean is_latency_known, is_live;
  GstClockTime latency;
  GstClockTime block; /* the longest buffer of the main stream */
  guint64 n_used, n_silent, n_dropped; /* frames, for stats */
};

static inline GstTfxKeys *
gst_tfx_keyqueue_get (GstTfxElement *self)
{
  return gst_tfx_element_get_private (self)->keys;
}

/* The time on the axis, in ns, of a time of the segment; or NOWHERE. */
gint64 gst_tfx_keyqueue_time (const GstSegment *segment, GstClockTime begin);

/* Places the next n frames of a stream, and returns the number of the first one.
 * time: when their playback begins, on the axis, or NOWHERE. */
gint64 gst_tfx_keyqueue_place (GstTfxKeyPlace *place, gint rate, gint64 time,
    gboolean is_discont, gint64 n_frames);

/* The latency may have changed.  Any thread, without the lock. */
void gst_tfx_keyqueue_change_latency (GstTfxElement *self);

/* The rest is called with the lock held. */

/* The streaming thread of the key waits until the rate is known and there is
 * room.  FALSE: the buffer is dropped, with *flow. */
gboolean gst_tfx_keyqueue_wait (GstTfxKeys *keys, GstTfxKey *key, GstPad *pad,
    GstFlowReturn *flow);

/* Converts n_in frames, in playback order, and appends them.  Takes the buffer.
 * FALSE: the rates are too far apart, so it is dropped. */
gboolean
gst_tfx_keyqueue_append (GstTfxKeys *keys, GstTfxKey *key, GstBuffer *buffer,
    const GstAudioInfo *info, gint64 n_in, gint64 time, gboolean is_discont);

/* Appends what the resampler holds, before a break or the end. */
void gst_tfx_keyqueue_finish (GstTfxKeys *keys, GstTfxKey *key);

/* Converts all queues to other caps of the main stream. */
void gst_tfx_keyqueue_set_info (GstTfxKeys *keys, const GstAudioInfo *info);

/* Copies the frames from @first on to channels of a buffer of the main stream.
 * Returns their number. */
gint64 gst_tfx_keyqueue_copy (const GstTfxKey *key, GstAudioBuffer *to,
    guint channel, guint n_channels, gint64 first, gboolean is_reversed);

/* Drops the items that end before a frame. */
void gst_tfx_keyqueue_pass (GstTfxKey *key, gint64 end);

/* Drops the queue and the place of the stream.  The second function also drops
 * caps, segment and flags, but not n_channels. */
void gst_tfx_keyqueue_clear (GstTfxKey *key);
void gst_tfx_keyqueue_reset (GstTfxKey *key);

G_END_DECLS

#endif /* GST_TFX_KEYQUEUE_H */
