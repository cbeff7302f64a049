/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxelement.h: GstTfxElement, the base class of all tfx elements.
 */
#ifndef GST_TFX_ELEMENT_H
#define GST_TFX_ELEMENT_H

#include <gst/audio/audio.h>
#include <gst/gst.h>

#include "gsttfxchannels.h"
#include "tfx.h"

G_BEGIN_DECLS

/**
 * GstTfxDevice:
 * @GST_TFX_DEVICE_AUTO: the device that suits the work per buffer
 * @GST_TFX_DEVICE_CPU: the CPU
 * @GST_TFX_DEVICE_CUDA: a CUDA device
 *
 * Where an element filters.
 */
typedef enum
{
  GST_TFX_DEVICE_AUTO,
  GST_TFX_DEVICE_CPU,
  GST_TFX_DEVICE_CUDA
} GstTfxDevice;

#define GST_TYPE_TFX_DEVICE (gst_tfx_device_get_type ())
GType gst_tfx_device_get_type (void);

#define GST_TYPE_TFX_ELEMENT (gst_tfx_element_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstTfxElement, gst_tfx_element, GST, TFX_ELEMENT,
    GstElement)

/**
 * GstTfxBuild:
 * @rate: of the stream, in Hz
 * @n_channels: of the stream that comes in
 * @positions: of the channels that come in, a channel mask; 0: none
 * @n_out: of the stream that goes out
 * @is_running: samples have been filtered since the last reset
 * @by_hand: the application has set properties, not controllers alone
 * @is_switch_refused: what follows does not take other channels than those that
 *   go out; if not, and a chain makes others, ask again
 * @was_refused: what was built last could not be used; the chain before it is
 *   still in force
 * @is_settled: no parameter ramp and no cross-fade is running
 * @spec: what the filter is made for
 * @delay: going in, the frames by which the output of a running stream is late
 *   now, 0 at rest; coming out, the frames by which this chain makes it late,
 *   which are taken out of the stream and reported as latency.  While the stream
 *   runs they may not become fewer
 * @at_once: set by the subclass: this chain does what the one in force does,
 *   later by as many frames as the delay grows
 * @min_frames: set by the subclass: this chain is only a step on the way.  The next
 *   one is asked for after so many frames, and not before those by which the
 *   delay grew have been dropped from the output
 * @excess_delay: set by the subclass: so much of the delay is due to the chain before
 *   this one; when the stream starts again a chain without it is asked for
 * @waits_for_rest: set by the subclass together with an error: when the stream starts
 *   again it is asked for this chain anew
 * @point: for move_stage: 0 if values are set from the next frame on; else values of
 *   curves, for this grid point, in frames of the filter
 * @ask_again: set by build_chain, which returns %NULL: call it again with the next
 *   buffer.  Set by move_stage for a point, which returns %TRUE: call it again at the
 *   next point
 * @is_for_next_buffer: set by move_stage with @ask_again: not before the next buffer
 *
 * What a new chain is for, and what is to be done with it.
 */
typedef struct
{
  gdouble rate;
  guint n_channels, n_out;
  guint64 positions;
  gboolean is_running;
  gboolean by_hand;
  gboolean was_refused;
  gboolean is_switch_refused;
  gboolean is_settled;
  const TfxFilterSpec *spec;

  gsize delay;
  gboolean at_once;
  gsize min_frames;
  gsize excess_delay;
  gboolean waits_for_rest;
  guint64 point;
  gboolean ask_again;
  gboolean is_for_next_buffer;
} GstTfxBuild;

/**
 * GstTfxElementClass:
 * @build_chain: makes the chain that the element's properties ask for.  Called in
 *   the streaming thread, before a buffer or when caps are set, with no lock
 *   held and never twice at a time: it takes its snapshot of the properties under
 *   the object lock, and reports values that it cannot meet through
 *   gst_tfx_element_report_clamp().  A subclass makes the ids of its stages once
 *   (tfx_stage_new_id()) and keeps them: the filter sees for itself whether a
 *   stage glides to its new values or is cross-faded.  %NULL without an error:
 *   nothing changes now, and gst_tfx_element_mark_ready() will be called when
 *   there is something.  %NULL with an error for the user, worded to go on after
 *   a colon and without a stop at its end: a running stream goes on as it was;
 *   where caps are set it is an error of the element
 * @move_stage: called before @build_chain, in the same thread.  If only values of
 *   stages have changed, designs these stages without allocation, passes each to
 *   gst_tfx_element_set_stage(), and returns TRUE.  Otherwise returns FALSE, and
 *   @build_chain is called.  May be %NULL
 * @reserve: called in the same thread before and after the first buffer, and when buffers
 *   become longer.  Allocates what @move_stage will need, and calls
 *   gst_tfx_element_reserve_stage() for each stage.  May be %NULL
 * @make_chain: the chain that the properties ask for, of a stream of that rate that
 *   has such a channel, to be looked at while there is none.  Any thread; %NULL: there
 *   is no such thing
 * @get_channels: whether the properties allow one number of input channels only:
 *   how many must come in, how many come out, and for how many, of these and
 *   those on the way, the filter is to be made.  FALSE: any number from @least
 *   on, and as many come out.  Any thread; %NULL: any number
 * @has_controlled_children: whether a child object has properties under
 *   control.  %NULL: there are no children
 * @get_children: the child objects, a reference for the caller
 * @get_stage_id: the id of the stage that a child object stands for; 0: none
 * @start: READY to PAUSED, before any buffer.  FALSE fails the change of state.
 *   May be %NULL
 * @stop: PAUSED to READY, after the last buffer.  May be %NULL
 * @buffer_done: a buffer that ends at @end (or none) has been filtered and sent; where
 *   it begins, if it is the first one, or the first behind a flush or of a segment, or
 *   the stream plays backwards.  In the streaming thread.  May be %NULL
 *
 * A subclass stores its properties under the object lock, calls
 * gst_tfx_element_mark_dirty() after each change, and implements @build_chain.
 * The base class does the rest: it keeps the filter, runs it over the buffers or
 * leaves it to the next tfx element, takes its delay out of the stream, tells of
 * that as latency, and sends what the filter still holds at the end.
 */
struct _GstTfxElementClass
{
  GstElementClass parent_class;

  TfxChain *(
      *build_chain) (GstTfxElement *self, GstTfxBuild *build, GError **error);
  gboolean (*move_stage) (GstTfxElement *self, GstTfxBuild *build);
  void (*reserve) (GstTfxElement *self, const GstTfxBuild *build);
  TfxChain *(*make_chain) (GstTfxElement *self, gdouble rate, guint channel);
  gboolean (*get_channels) (GstTfxElement *self, GstTfxChannels *channels,
      guint *least);
  gboolean (*has_controlled_children) (GstTfxElement *self);
  GPtrArray *(*get_children) (GstTfxElement *self);
  guint64 (*get_stage_id) (GstTfxElement *self, GstObject *child);
  gboolean (*start) (GstTfxElement *self);
  void (*stop) (GstTfxElement *self);
  void (*buffer_done) (GstTfxElement *self, GstClockTime begin,
      GstClockTime end, const GstSegment *segment);
};

/* The properties have changed, by the application or by a curve: before the next frames
 * the streaming thread calls move_stage, or build_chain.  Any thread. */
void gst_tfx_element_mark_dirty (GstTfxElement *self);

/* Whether this thread is setting properties to values of curves. */
gboolean gst_tfx_element_is_controlling (GstTfxElement *self);

/* What was being made in another thread, for properties that were set before, is
 * there.  Any thread. */
void gst_tfx_element_mark_ready (GstTfxElement *self);

/* What a stage of the filter makes of its level.  FALSE if it does not listen, or
 * has not run.  Any thread. */
gboolean gst_tfx_element_read_stage (GstTfxElement *self, guint64 id,
    TfxReadings *readings);

/* Sets the values of a stage of the chain in force, or queues them for build->point.
 * FALSE if a new chain is needed.  For move_stage only. */
gboolean gst_tfx_element_set_stage (GstTfxElement *self,
    const GstTfxBuild *build, TfxStage *stage);

/* What the filter is set to, or is to be set to next: a reference; NULL if there is
 * none.  For build_chain and move_stage only. */
TfxChain *gst_tfx_element_get_running (GstTfxElement *self);

/* Allocates memory in the filter for changes of a stage's values; will_follow: by curves
 * too.  Returns the number of stages that the filter may hold at a time.  For reserve
 * only. */
guint gst_tfx_element_reserve_stage (GstTfxElement *self, guint64 id,
    gsize n_grid_frames, gboolean will_follow);

/**
 * GstTfxClamp:
 * @property: the name of the property
 * @unit: its unit, a static string, may be empty
 * @asked: the value it was set to
 * @used: the value that is used
 * @lowest: the lowest value that works at present
 * @highest: the highest value that works at present
 * @lowest_is: what else limits the value, a static string that is printed after
 *   the range and begins with ", ", or %NULL
 * @because: what the value must be if that is not a range that depends on the
 *   rate, a static string that begins with "must", or %NULL
 *
 * How far a property is met.
 */
typedef struct
{
  const gchar *property;
  const gchar *unit;
  gdouble asked, used;
  gdouble lowest, highest;
  const gchar *lowest_is;
  const gchar *because;
} GstTfxClamp;

/* Says how far a property is met.  If @used is not @asked a warning is posted,
 * once: again if the range changes, if the application sets another value that
 * cannot be met, or if the value was met meanwhile.  A controller that moves a
 * value outside of the range repeats nothing.  For build_chain and move_stage
 * only. */
void gst_tfx_element_report_clamp (GstTfxElement *self,
    const GstTfxClamp *clamp, gdouble rate);
/* Whether any property is not met, as far as that was said. */
gboolean gst_tfx_element_has_clamped (GstTfxElement *self);

/* The rate, the channels and their positions of the stream.  FALSE if no caps have come:
 * those of the last one; 48000 Hz and 0 if there was none.  Any thread. */
gboolean gst_tfx_element_get_stream (GstTfxElement *self, gdouble *rate,
    guint *n_channels, guint64 *positions);

/* Tells the user that a change could not be made: what is right of the colon
 * comes from @error. */
void gst_tfx_element_report_refusal (GstTfxElement *self, const GError *error);

G_END_DECLS

#endif /* GST_TFX_ELEMENT_H */
