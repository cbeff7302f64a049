/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxelementprivate.h: what the files of the base class share.
 */
#ifndef GST_TFX_ELEMENT_PRIVATE_H
#define GST_TFX_ELEMENT_PRIVATE_H

#include "gsttfxbuffer.h"
#include "gsttfxclampreport.h"
#include "gsttfxcontrol.h"
#include "gsttfxcounts.h"
#include "gsttfxdevice.h"
#include "gsttfxelement.h"
#include "gsttfxflight.h"
#include "gsttfxpending.h"
#include "gsttfxtimes.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_element_debug);

typedef struct
{
  GstPad *sink, *src;

  /* Atomic; elements upstream read them too. */
  gint device_setting; /* of GstTfxDevice */
  gint cuda_device_id;
  gint device_delay;
  gint fuse;
  gint widens; /* what comes in is copied into buffers of more channels */

  /* Atomic. */
  gint dirty, set_by_hand; /* properties have changed; not only by curves */
  gint relinked;           /* look for the next element anew */
  gpointer control_thread; /* is setting properties to values of curves */

  /* Under the object lock. */
  GstClockTime latency;
  gdouble stream_rate; /* of what the filter is made for, or the last one was */
  guint stream_channels;
  guint64 stream_positions;

  /* Written by the streaming thread, read by any. */
  GstTfxCounts counts;
  gint wants_reset;                       /* of the counts, atomic */
  GstClockTime position_in, position_out; /* where the last buffer ended */
  GstClockTime
      first_in; /* where that began, if it does not follow from the last one */
  gboolean begins_segment;

  /* Of the streaming thread. */
  /* NULL: no caps have come.  Set with the object lock held. */
  GstTfxSharedFilter *filter;
  TfxFilterSpec spec;   /* that it is made for */
  GstAudioInfo info;    /* of what it runs over */
  GstAudioInfo in_info; /* of what comes in */
  GstTfxChannels channels;
  GstSegment segment;
  gchar *stream_id;
  gboolean is_running;      /* samples were filtered since the last reset */
  gboolean is_identity;     /* output is input, and nothing is under way */
  gboolean may_be_identity; /* that has to be looked at */
  GstTfxTimes times;
  gsize delay;          /* frames that the filter makes the output late, */
  gsize skip;           /* and those still to be dropped of the output */
  gboolean discont_in;  /* a mark of what lay outside of the segment */
  gboolean discont_out; /* the next buffer that goes out is to say so */

  /* The next element. */
  const GstPad *seen_peer; /* where it was looked for; not a reference */
  gboolean can_defer;      /* it runs what is left to it */

  /* The chain. */
  gboolean was_refused;       /* the last one could not be used */
  gboolean waits_for_rest;    /* but can when the stream starts again */
  gboolean is_switch_refused; /* nobody takes the channels that it makes */
  gboolean is_switch_put_off; /* the chain is not ready yet */
  gboolean is_step;           /* it is but a step, */
  gsize min_frames;           /* for so many frames still */
  gsize excess_delay;  /* frames of delay that its successor does not need */
  gboolean has_failed; /* the last caps were refused, with an error: */
  GstAudioInfo failed_info;

  /* How long the buffers are. */
  gsize last_frames, usual_frames;
  gsize
      reserved_frames;  /* buffers of so many can be moved without any memory */
  guint n_untimed;      /* buffers until the next is timed */
  gdouble ns_per_frame; /* of the last that was */

  gboolean bad_told;    /* a warning on NaN or infinity was posted, */
  gboolean places_told; /* and one on channels without places */
  GstTfxClampReport clamps;
  GstTfxControl control;
  GstTfxScratch scratch;
  GstTfxDeviceState device;
  GstTfxFlights flights;
} GstTfxElementPrivate;

/* From the start of an element to what is private in it; the class sets it. */
extern gint gst_tfx_element_private_offset;

static inline GstTfxElementPrivate *
gst_tfx_element_get_private (GstTfxElement *self)
{
  return G_STRUCT_MEMBER_P (self, gst_tfx_element_private_offset);
}

/* This comes in; the channels stay. */
static inline void
gst_tfx_element_take_info (GstTfxElementPrivate *priv, const GstAudioInfo *info)
{
  priv->in_info = *info;
  priv->info = gst_tfx_channels_make_info (info, priv->channels.most);
}

/* The element upstream is to look at this one again. */
void gst_tfx_element_ask_upstream (GstTfxElement *self);

/* ---- gsttfxfusion.c: fusion with the neighbours -------------------------------------- */

/* Whether processing can be deferred to the downstream peer. */
gboolean gst_tfx_fusion_defers (GstTfxElement *self);

/* Whether a buffer must not be fused: it runs in parts, or a curve changes the
 * structure.  Otherwise the element would leave its row at frames that depend
 * on the split of the stream. */
gboolean gst_tfx_fusion_is_alone (GstTfxElement *self, gsize n_frames);

/* Begins to run the buffer's pending filters and the element's own as one row,
 * whose locks are held until gst_tfx_pending_end().  FALSE if no filter is
 * pending, or if that is impossible: then the pending filters have run, and the
 * element's runs alone. */
gboolean gst_tfx_fusion_begin (GstTfxElement *self, GstBuffer *buffer,
    gsize n_frames, GstTfxPendingRun *run);

/* ---- gsttfxout.c: what leaves the element ------------------------------------------- */

/* Where a buffer ends, or none. */
static inline GstClockTime
gst_tfx_out_end (GstBuffer *buffer)
{
  if (GST_BUFFER_PTS_IS_VALID (buffer) && GST_BUFFER_DURATION_IS_VALID (buffer))
    return GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
  return GST_BUFFER_PTS (buffer);
}

/* Pushes the events that are due: those whose frames have all gone. */
void gst_tfx_out_push_events (GstTfxElementPrivate *priv);

/* Pushes a buffer, with as many channels as go out. */
GstFlowReturn gst_tfx_out_push (GstTfxElementPrivate *priv, GstBuffer *buffer);

/* Takes a buffer of n_frames that were filtered, or none; what stands before the
 * start of the stream is dropped, the rest is sent with its times, and with the
 * events that were held for it. */
GstFlowReturn
gst_tfx_out_send (GstTfxElement *self, GstBuffer *buffer, gsize n_frames);

/* ---- gsttfxpads.c: the way of a buffer ------------------------------------------- */

GstFlowReturn
gst_tfx_pads_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer);

/* ---- gsttfxrun.c: the filter and the samples ------------------------------------ */

/* Filters *@buffer, which is writable, with what is pending on it; another one
 * may take its place.  FALSE after an error message. */
gboolean
gst_tfx_run_buffer (GstTfxElement *self, GstBuffer **buffer, gsize n_frames);

/* Reverses the frames of a writable buffer.  FALSE after an error message. */
gboolean gst_tfx_run_reverse (GstTfxElement *self, GstBuffer *buffer);

/* Something has run over a buffer, or failed: what there is to tell.  FALSE after
 * an error message. */
gboolean
gst_tfx_run_conclude (GstTfxElement *self, GstBuffer *buffer, gint err);

/* What a buffer took. */
void gst_tfx_run_note_time (GstTfxElement *self, GstClockTime elapsed,
    gsize n_frames);

/* Whether silence gives silence; the filter lets as much time go by with it. */
gboolean gst_tfx_run_is_silent (GstTfxElement *self);
void gst_tfx_run_pass (GstTfxElement *self, gsize n_frames);

/* Runs n_frames of silence into a new buffer; NULL after an error message. */
GstBuffer *gst_tfx_run_silence (GstTfxElement *self, gsize n_frames);

/* ---- gsttfxtail.c: what the filter still holds ------------------------------------ */

/* The stream ends: what the filter holds goes out, and it is at rest. */
GstFlowReturn gst_tfx_tail_end (GstTfxElement *self, const gchar *because);

/* The filter is at rest, and what it held is lost. */
void gst_tfx_tail_reset (GstTfxElement *self, const gchar *because);

/* Sends a serialized event, behind the frames that came before it.  Takes it. */
gboolean gst_tfx_tail_forward (GstTfxElement *self, GstEvent *event);

/* A GAP event: silence of that length.  Takes it. */
gboolean gst_tfx_tail_gap (GstTfxElement *self, GstEvent *event);

/* ---- gsttfxsettings.c: the filter and the properties ---------------------------- */

/* Makes the filter for a stream.  FALSE with an error if the properties cannot be
 * met. */
gboolean gst_tfx_settings_start (GstTfxElement *self, const GstAudioInfo *info,
    GError **error);

/* What is to come in, for the channels that the properties ask for now. */
void gst_tfx_settings_set_info (GstTfxElement *self, const GstAudioInfo *info);

/* Applies changed properties from the next frame on.  FALSE if the filter stays as it
 * is. */
gboolean gst_tfx_settings_update (GstTfxElement *self);

/* Queues the changed values of a stage for a grid point.  FALSE if they need another
 * chain, which gst_tfx_settings_update() sets at that point. */
gboolean gst_tfx_settings_follow (GstTfxElement *self, guint64 point);

/* Other samples, or blocks of another length: the state stays. */
gboolean gst_tfx_settings_set_format (GstTfxElement *self, TfxSample sample,
    gsize block_frames);

/* A buffer of another length than the last one comes. */
void gst_tfx_settings_expect (GstTfxElement *self, gsize n_frames);

/* The latency may have changed. */
void gst_tfx_settings_note_latency (GstTfxElement *self);

/* Allocates memory for curves and changes of values, for buffers of n_frames. */
void gst_tfx_settings_reserve (GstTfxElement *self, gsize n_frames);

/* A step to another chain is over when so many frames more have passed. */
void gst_tfx_settings_count_step (GstTfxElement *self, gsize n_frames);

/* Looks whether the filter is an identity. */
void gst_tfx_settings_find_identity (GstTfxElement *self);

/* There is no filter any more. */
void gst_tfx_settings_stop (GstTfxElement *self);

/* ---- gsttfxchannelswitch.c -------------------------------------------------------- */

/* The properties have changed: as many channels go out as they ask for, from here
 * on, if what follows takes them. */
GstFlowReturn gst_tfx_channel_switch_follow (GstTfxElement *self);

/* ---- gsttfxcaps.c ------------------------------------------------------------------ */

GstCaps *gst_tfx_caps_query (GstTfxElement *self, GstPad *pad, GstCaps *filter);

/* Whether the properties exclude some numbers of channels. */
gboolean gst_tfx_caps_limits_channels (GstTfxElement *self);

gboolean gst_tfx_caps_is_in_template (GstPad *pad, GstCaps *caps);

/* The CAPS event; takes it. */
gboolean gst_tfx_caps_event (GstTfxElement *self, GstEvent *event);

/* The source pad is to be negotiated anew. */
gboolean gst_tfx_caps_renegotiate (GstTfxElement *self);

/* What is linked to the source pad has changed.  Any thread. */
void gst_tfx_caps_see_link (GstTfxElement *self);

gboolean gst_tfx_caps_allocation (GstTfxElement *self, GstQuery *query);

/* ---- gsttfxevents.c: events and queries ------------------------------------------- */

/* Where the stream is is not known. */
void gst_tfx_events_forget_position (GstTfxElement *self);
gboolean gst_tfx_events_sink (GstPad *pad, GstObject *parent, GstEvent *event);
gboolean gst_tfx_events_src (GstPad *pad, GstObject *parent, GstEvent *event);
gboolean gst_tfx_events_query (GstPad *pad, GstObject *parent, GstQuery *query);

G_END_DECLS

#endif /* GST_TFX_ELEMENT_PRIVATE_H */
