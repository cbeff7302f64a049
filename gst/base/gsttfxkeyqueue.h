/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkeyqueue.h: the queues of the key pads, for the files of gsttfxkey.h.
 *
 * The frames of all streams have numbers on one axis: running time times rate.
 * A stream continues at its next frame; it is placed by its timestamps where it
 * begins, after a mark DISCONT, after a jump of a second, and if it has been off
 * by 40 ms for a second.
 *
 * The streaming thread of a key appends buffers to its queue, that of the main
 * stream copies them.  One lock guards all queues; it is held while frames are
 * copied, but never while another element is called.
 */
#ifndef GST_TFX_KEYQUEUE_H
#define GST_TFX_KEYQUEUE_H

#include "gsttfxelementprivate.h"

G_BEGIN_DECLS

/* Seconds of a key in its queue, in addition to the latency. */
#define GST_TFX_KEYQUEUE_SECONDS 1

/* Before all frames. */
#define GST_TFX_KEYQUEUE_NOWHERE (G_MININT64 / 4)

/* The numbers of the frames of a stream. */
typedef struct
{
  gboolean is_set;
  gint64 next;      /* the frame after the last one */
  gboolean is_off;  /* timestamps differ by the threshold, */
  gint64 off_since; /* from this frame on */
} GstTfxKeyPlace;

/* A buffer in the queue of a key. */
typedef struct
{
  GstBuffer *buffer;
  GstAudioInfo info;
  gint64 begin; /* its first frame in playback order */
  gint64 n_frames;
  gboolean is_reversed; /* the stream plays backwards */
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
  gboolean is_ended, is_flushing, is_seeking, is_live;
  gboolean is_unused; /* until a segment begins: the main one is done */
  GThread *thread;    /* that streams into the pad; NULL: not known */
  /* Of its streaming thread. */
  GstAudioInfo info; /* rate 0: no caps */
  GstSegment segment;
  GstTfxKeyPlace place;
  gint64 n_refused; /* frames at another rate, since the last caps */
} GstTfxKey;

struct _GstTfxKeys
{
  GMutex lock;
  GCond cond; /* anything below has changed */
  /* Under the lock. */
  GPtrArray *list; /* of GstTfxKey, by number */
  gint rate;       /* of the main stream; 0: no caps */
  gboolean is_started, is_stopped, is_playing;
  gboolean is_ended; /* the main stream */
  gboolean is_waiting, has_warned;
  gint64 wanted;        /* end of the frames that it waits for */
  gint64 passed;        /* end of the frames that it has used */
  GstTfxKeyPlace place; /* of the main stream */
  gboolean is_latency_known, is_live;
  GstClockTime latency;
  guint64 n_used, n_silent, n_dropped; /* frames, for stats */
};

static inline GstTfxKeys *
gst_tfx_keyqueue_get (GstTfxElement *self)
{
  return gst_tfx_element_get_private (self)->keys;
}

/* The first of n frames whose playback begins at this time (or none), which are
 * the next ones of the stream. */
gint64 gst_tfx_keyqueue_place (GstTfxKeyPlace *place, const GstSegment *segment,
    gint rate, GstClockTime begin, gboolean is_discont, gint64 n_frames);

/* When the playback of a buffer of the segment begins, or none. */
static inline GstClockTime
gst_tfx_keyqueue_begin (const GstSegment *segment, GstClockTime start,
    GstClockTime length)
{
  return segment->rate < 0.0 && GST_CLOCK_TIME_IS_VALID (start) ? start + length
                                                                : start;
}

/* The rest is called with the lock held. */

/* Appends an item, whose buffer it takes, unless all of its frames are
 * passed. */
void gst_tfx_keyqueue_append (GstTfxKeys *keys, GstTfxKey *key,
    const GstTfxKeyItem *item);

/* Drops the first item. */
void gst_tfx_keyqueue_pop (GstTfxKey *key);

/* Drops the queue, and forgets where the stream is. */
void gst_tfx_keyqueue_clear (GstTfxKey *key);

/* Forgets the stream, but not its number of channels. */
void gst_tfx_keyqueue_reset (GstTfxKey *key);

/* The streaming thread of the key waits until the rate is known and there is
 * room.  FALSE: the buffer is dropped, with *flow. */
gboolean gst_tfx_keyqueue_wait (GstTfxKeys *keys, GstTfxKey *key, GstPad *pad,
    GstFlowReturn *flow);

G_END_DECLS

#endif /* GST_TFX_KEYQUEUE_H */
