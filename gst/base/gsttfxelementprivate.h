/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxelementprivate.h: what the files of the base class share.
 */
#ifndef GST_TFX_ELEMENT_PRIVATE_H
#define GST_TFX_ELEMENT_PRIVATE_H

#include "gsttfxbuffer.h"
#include "gsttfxcontrol.h"
#include "gsttfxcounts.h"
#include "gsttfxcudabuffer.h"
#include "gsttfxdevice.h"
#include "gsttfxelement.h"
#include "gsttfxkey.h"
#include "gsttfxpending.h"
#include "gsttfxtimes.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_element_debug);

/* A mapped buffer, on the device or for the CPU. */
typedef struct
{
  TfxBlock block;
  gboolean is_mapped, is_device;
  GstTfxBuffer host;
  GstTfxCudaBuffer device;
} GstTfxMapped;

/* The filters that run over a buffer, and its samples. */
typedef struct
{
  GstTfxRow row;
  GstTfxMapped in;
  gboolean is_fused; /* else the element's filter runs alone */
  /*< private >*/
  GstTfxPendingRun pending;
} GstTfxRun;

/* A buffer in flight. */
typedef struct
{
  GstBuffer *buffer;
  gsize n_frames;
  GstTfxRun run;
  GstTfxScratch scratch;
  TfxFlight flight;
  TfxFilter *filters[GST_TFX_ROW_MAX]; /* the row, references */
  gboolean is_done;
  gint err;
} GstTfxFlight;

/* Initialize with zeros. */
typedef struct
{
  GstTfxFlight *slots; /* two, or NULL before the first use */
  GstTfxFlight *held;  /* one of them, or NULL */
  gint is_known;       /* atomic: is_wanted is valid */
  gboolean is_wanted;  /* the settings and the stream allow it */
  gsize delay;         /* latency in frames */
} GstTfxFlights;

/* Properties whose values were out of range, so that each is reported once. */
typedef struct
{
  GArray *items;    /* one for each property noted, or NULL */
  gint n_clamped;   /* how many of them are out of range now */
  gboolean by_hand; /* the application has set properties */
} GstTfxClamps;

typedef struct
{
  GstPad *sink, *src;
  GstTfxKeys *keys; /* NULL: an element without request pads */

  /* Atomic; elements upstream read them too. */
  gint device_setting; /* of GstTfxDevice */
  gint cuda_device_id;
  gint device_delay;
  gint fuse;
  gint widens;   /* input is copied to buffers with more channels */
  gint has_keys; /* there are key pads, or were since the start */

  /* Atomic. */
  gint dirty, set_by_hand; /* properties have changed; not only by curves */
  gint relinked;           /* look up the downstream peer again */
  gpointer control_thread; /* is setting properties to values of curves */

  /* Under the object lock. */
  GstClockTime latency;
  gdouble stream_rate; /* of this stream, or the last one */
  guint stream_channels;
  guint64 stream_positions;

  /* Written by the streaming thread, read by any. */
  GstTfxCounts counts;
  gint wants_reset;                       /* of the counts, atomic */
  GstClockTime position_in, position_out; /* end of the last buffer */
  GstClockTime first_in;                  /* begin in buffer_done */
  gboolean begins_segment;

  /* Of the streaming thread. */
  /* NULL without caps.  Set with the object lock held. */
  GstTfxSharedFilter *filter;
  TfxFilterSpec spec;   /* of the filter */
  GstAudioInfo info;    /* of the filter's buffers */
  GstAudioInfo in_info; /* of the input */
  GstTfxChannels channels;
  GstSegment segment;
  gchar *stream_id;
  gboolean is_running;      /* samples were filtered since the last reset */
  gboolean is_identity;     /* output equals input, and nothing changes */
  gboolean may_be_identity; /* check again */
  GstTfxTimes times;
  gsize delay;          /* the filter's delay in frames */
  gsize skip;           /* output frames that are still to be dropped */
  gboolean discont_in;  /* a dropped buffer was marked DISCONT: mark the next */
  gboolean discont_out; /* mark the next output buffer */

  /* The downstream peer. */
  const GstPad *seen_peer; /* the pad at the last lookup; not a reference */
  gboolean can_defer;      /* processing can be deferred to it */

  /* The chain. */
  gboolean was_refused;       /* the last one was rejected, */
  gboolean waits_for_reset;   /* and is built again after one */
  gboolean is_switch_refused; /* downstream rejects its number of channels */
  gboolean is_switch_put_off; /* the chain is not ready */
  gboolean is_step;           /* it is only a step to the requested one, */
  gsize min_frames;           /* for this number of frames */
  gsize excess_delay;  /* frames of delay that the next one does not need */
  gboolean has_failed; /* the last caps were rejected with an error: */
  GstAudioInfo failed_info;

  /* Lengths and times of buffers. */
  gsize last_frames, usual_frames;
  gsize reserved_frames; /* longest buffer whose changes need no memory */
  guint n_untimed;       /* buffers before the next timed one */
  gdouble ns_per_frame;  /* of the last timed one */

  gboolean bad_told;    /* a warning on NaN or infinity was posted, */
  gboolean places_told; /* and one on channels without positions */
  GstTfxClamps clamps;
  GstTfxControl control;
  GstTfxScratch scratch;
  GstTfxDeviceState device;
  GstTfxFlights flights;
} GstTfxElementPrivate;

/* Offset of the private data; class_init sets it. */
extern gint gst_tfx_element_private_offset;

static inline GstTfxElementPrivate *
gst_tfx_element_get_private (GstTfxElement *self)
{
  return G_STRUCT_MEMBER_P (self, gst_tfx_element_private_offset);
}

/* Sets the format of the input; the numbers of channels stay. */
static inline void
gst_tfx_element_take_info (GstTfxElementPrivate *priv, const GstAudioInfo *info)
{
  priv->in_info = *info;
  priv->info = gst_tfx_channels_make_info (info, priv->channels.most);
}

/* Forgets which values were reported. */
void gst_tfx_element_clear_clamps (GstTfxElementPrivate *priv);

/* Makes the upstream element look up its peer again. */
void gst_tfx_element_ask_upstream (GstTfxElement *self);

/* ---- gsttfxfusion.c: fusion with the neighbours -------------------------- */

/* Whether processing can be deferred to the downstream peer. */
gboolean gst_tfx_fusion_defers (GstTfxElement *self);

/* The filters of a row of elements, the first one first.  The caps of all are
 * set, and their buffers arrive, in the thread that asks. */
typedef struct
{
  TfxFilter *filters[GST_TFX_ROW_MAX];
  gsize n;
  gboolean is_running; /* one of them has processed samples */
} GstTfxMembers;

/* Appends the filters of the row that ends with @self. */
void gst_tfx_fusion_list_row (GstTfxElement *self, GstTfxMembers *row);

/* The element that probably defers its filter to @self; a reference, or NULL.
 * Its own flag may be older than a change of the channels of @self. */
GstTfxElement *gst_tfx_fusion_find_upstream (GstTfxElement *self);

/* Whether a buffer must not be fused: it runs in parts, or a curve changes the
 * structure.  Otherwise the element would leave its row at frames that depend
 * on the split of the stream. */
gboolean gst_tfx_fusion_is_alone (GstTfxElement *self, gsize n_frames);

/* Maps a buffer's samples and locks the filters to run over them until
 * gst_tfx_fusion_end(): what is pending in the buffer and the element's own as
 * one row; or, if that is impossible, the element's own alone, after what is
 * pending has run.  on_device: CUDA memory of the element's context is mapped
 * for the device, to be read.  If run->in.is_mapped is FALSE, mapping failed.
 *
 * Memory of other elements is mapped before the lock is taken, because its map
 * may wait for a thread that needs the filter. */
void gst_tfx_fusion_begin (GstTfxElement *self, GstBuffer *buffer,
    gsize n_frames, gboolean on_device, GstTfxScratch *scratch, GstTfxRun *run);

/* Notes the counts and unlocks the filters.  The samples stay mapped. */
void gst_tfx_fusion_end (GstTfxElement *self, GstTfxRun *run);

/* Between the two: maps the samples for the CPU in place of the device; after a
 * run on the device that has not failed (@err >= 0) it only unmaps them.  A
 * filter that runs alone is unlocked during that.  Returns @err, or -EIO if the
 * device failed before its work on the memory ended. */
gint gst_tfx_fusion_leave_memory (GstTfxElement *self, GstBuffer *buffer,
    gint err, GstTfxRun *run);

/* Maps a buffer: for the device with this access if its memory is of the
 * element's context; else, or if @access is 0, for the CPU. */
void gst_tfx_fusion_map (GstTfxElement *self, GstBuffer *buffer,
    GstMapFlags access, GstTfxScratch *scratch, GstTfxMapped *mapped);

/* Returns FALSE if the device failed before its work on the memory ended. */
gboolean gst_tfx_fusion_unmap (GstTfxMapped *mapped);

/* ---- gsttfxcudaflow.c: buffers with input or output in CUDA memory -------- */

/* Only for elements with CUDA memory in the caps of a pad
 * (device.has_cuda_memory). */

/* Whether the samples are on a device, or the output has to be. */
gboolean gst_tfx_cuda_flow_is_needed (GstTfxElement *self, GstBuffer *buffer);

/* For such a buffer: filters *buffer, which must be writable, and what is
 * pending on it, into another buffer that replaces it, on the device or the
 * CPU.  is_gap: the output is silence too, and *buffer stays.  Returns 0 or a
 * negative errno value. */
gint gst_tfx_cuda_flow_filter (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames, gboolean is_gap);

/* Whether the buffer is in the memory of the source pad's caps. */
gboolean gst_tfx_cuda_flow_fits (GstTfxElement *self, GstBuffer *buffer);

/* Moves a filtered buffer to the memory of the source pad's caps if necessary,
 * which replaces *buffer.  Returns FALSE after an error message. */
gboolean gst_tfx_cuda_flow_deliver (GstTfxElement *self, GstBuffer **buffer,
    gsize n_frames);

/* Proposes a pool of CUDA memory upstream.  Returns FALSE if there is none. */
gboolean gst_tfx_cuda_flow_propose (GstTfxElement *self, GstQuery *query);

/* ---- gsttfxrun.c: the filter and the samples ----------------------------- */

/* Runs the buffer's pending filters and the element's own over *@buffer, which
 * must be writable and may be replaced.  FALSE after an error message. */
gboolean
gst_tfx_run_buffer (GstTfxElement *self, GstBuffer **buffer, gsize n_frames);

/* Reports the result of a run over a buffer: @err is 0 or a negative errno
 * value.  FALSE after an error message. */
gboolean
gst_tfx_run_conclude (GstTfxElement *self, GstBuffer *buffer, gint err);

/* Counts the processing time of a buffer. */
void gst_tfx_run_note_time (GstTfxElement *self, GstClockTime elapsed,
    gsize n_frames);

/* Reverses the frames of a writable buffer, unless its memory is lost. */
void gst_tfx_run_reverse (GstBuffer *buffer, const GstAudioInfo *info,
    GstTfxScratch *scratch);

/* Whether the filter puts out silence for silence. */
gboolean gst_tfx_run_is_silent (GstTfxElement *self);

/* Advances such a filter by n_frames. */
void gst_tfx_run_advance (GstTfxElement *self, gsize n_frames);

/* Filters up to *n_frames of silence in a new buffer, and sets *n_frames to
 * their number; with the keys from @begin on, or if that is none, without keys.
 * NULL after an error message. */
GstBuffer *
gst_tfx_run_silence (GstTfxElement *self, GstClockTime begin, gsize *n_frames);

/* ---- gsttfxout.c: output ------------------------------------------------- */

/* End time of a buffer, or none. */
static inline GstClockTime
gst_tfx_out_end (GstBuffer *buffer)
{
  if (GST_BUFFER_PTS_IS_VALID (buffer) && GST_BUFFER_DURATION_IS_VALID (buffer))
    return GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);
  return GST_BUFFER_PTS (buffer);
}

/* Pushes a buffer, converted to the number of output channels.  Takes it. */
GstFlowReturn gst_tfx_out_push (GstTfxElement *self, GstBuffer *buffer);

/* Pushes the held events that are due: the frames before them have been
 * pushed. */
void gst_tfx_out_push_events (GstTfxElementPrivate *priv);

/* Sends a buffer of n_frames filtered frames: drops those before the start of
 * the stream, stamps the others and pushes them with the events held for them.
 * Takes the buffer. */
GstFlowReturn
gst_tfx_out_send (GstTfxElement *self, GstBuffer *buffer, gsize n_frames);

/* Drains the filter and resets it; @because is the reason, for the log. */
GstFlowReturn gst_tfx_out_drain (GstTfxElement *self, const gchar *because);

/* Resets the filter and drops held frames; @because is the reason, for the
 * log. */
void gst_tfx_out_reset (GstTfxElement *self, const gchar *because);

/* Sends a serialized event after the frames that preceded it.  Takes it. */
gboolean gst_tfx_out_event (GstTfxElement *self, GstEvent *event);

/* ---- gsttfxstream.c: input ----------------------------------------------- */

GstFlowReturn
gst_tfx_stream_chain (GstPad *pad, GstObject *parent, GstBuffer *buffer);

/* Filters a GAP event as silence of its length.  Takes it. */
gboolean gst_tfx_stream_gap (GstTfxElement *self, GstEvent *event);

/* ---- gsttfxflight.c: two buffers in flight ------------------------------- */

/* A device can transfer one buffer while it filters another.  So a buffer is
 * started and kept, and is sent after the next one has been started: one buffer
 * of latency.  Serialized events, and buffers that cannot be started, first
 * drain the buffer in flight.  Unlinking a pad sends nothing: the buffer is
 * sent with the next one, or at EOS.  All functions run in the streaming
 * thread, except gst_tfx_flight_ask_again(). */

/* Whether the buffer can be in flight.  It must be writable. */
gboolean
gst_tfx_flight_takes (GstTfxElement *self, GstBuffer *buffer, gsize n_frames);

/* Starts such a buffer and sends the previous one.  Takes the buffer. */
GstFlowReturn
gst_tfx_flight_run (GstTfxElement *self, GstBuffer *buffer, gsize n_frames);

/* Sends the buffer in flight. */
GstFlowReturn gst_tfx_flight_drain (GstTfxElement *self);

/* Drops the buffer in flight, at a flush. */
void gst_tfx_flight_drop (GstTfxElement *self);

/* Drops the buffer in flight when the element stops, with a warning if a pad is
 * unlinked, and frees all. */
void gst_tfx_flight_stop (GstTfxElement *self);

/* Decides again whether buffers can be in flight.  Any thread. */
void gst_tfx_flight_ask_again (GstTfxElement *self);

/* ---- gsttfxsettings.c: the filter and the properties --------------------- */

/* Makes the filter for a stream.  FALSE with an error if the properties are not
 * possible. */
gboolean gst_tfx_settings_start (GstTfxElement *self, const GstAudioInfo *info,
    GError **error);

/* Sets the format of the input, and the numbers of channels for the
 * properties. */
void gst_tfx_settings_set_info (GstTfxElement *self, const GstAudioInfo *info);

/* Applies changed properties from the next frame on.  FALSE if the filter
 * does not change. */
gboolean gst_tfx_settings_update (GstTfxElement *self);

/* Applies changed properties at a later grid point, as events of the filter's
 * stages.  FALSE if they need another chain, which gst_tfx_settings_update()
 * sets at that point. */
gboolean gst_tfx_settings_follow (GstTfxElement *self, guint64 point);

/* Sets another sample type or block length; the filter keeps its state. */
gboolean gst_tfx_settings_set_format (GstTfxElement *self, TfxSample sample,
    gsize block_frames);

/* Call before a buffer of another length, or the first one: prepares the filter
 * for buffers of n_frames. */
void gst_tfx_settings_expect (GstTfxElement *self, gsize n_frames);

/* Posts a LATENCY message if the latency has changed. */
void gst_tfx_settings_note_latency (GstTfxElement *self);

/* Allocates memory for curves and changes of values, for buffers of
 * n_frames. */
void gst_tfx_settings_reserve (GstTfxElement *self, gsize n_frames);

/* Counts n_frames that the step in force has run; after the last one the next
 * chain is built. */
void gst_tfx_settings_count_step (GstTfxElement *self, gsize n_frames);

/* Checks whether the filter is an identity. */
void gst_tfx_settings_find_identity (GstTfxElement *self);

/* Releases the filter. */
void gst_tfx_settings_stop (GstTfxElement *self);

/* ---- gsttfxcaps.c -------------------------------------------------------- */

GstCaps *gst_tfx_caps_query (GstTfxElement *self, GstPad *pad, GstCaps *filter);

/* Whether the properties exclude some numbers of channels. */
gboolean gst_tfx_caps_limits_channels (GstTfxElement *self);

gboolean gst_tfx_caps_is_in_template (GstPad *pad, GstCaps *caps);

/* The CAPS event; takes it. */
gboolean gst_tfx_caps_event (GstTfxElement *self, GstEvent *event);

/* Negotiates the source pad again. */
GstFlowReturn gst_tfx_caps_renegotiate (GstTfxElement *self);

/* Changes the number of output channels if the properties ask for it and the
 * downstream elements accept it. */
GstFlowReturn gst_tfx_caps_switch_channels (GstTfxElement *self);

/* The peer of the source pad has changed.  Any thread. */
void gst_tfx_caps_see_link (GstTfxElement *self);

gboolean gst_tfx_caps_allocation (GstTfxElement *self, GstQuery *query);

/* ---- gsttfxevents.c: events and queries ---------------------------------- */

/* Makes the position unknown. */
void gst_tfx_events_forget_position (GstTfxElement *self);
gboolean gst_tfx_events_sink (GstPad *pad, GstObject *parent, GstEvent *event);
gboolean gst_tfx_events_src (GstPad *pad, GstObject *parent, GstEvent *event);
gboolean gst_tfx_events_query (GstPad *pad, GstObject *parent, GstQuery *query);

G_END_DECLS

#endif /* GST_TFX_ELEMENT_PRIVATE_H */
