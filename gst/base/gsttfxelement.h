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
 * @rate: stream rate in Hz
 * @n_channels: number of input channels
 * @positions: channel mask of the input; 0: none; and TFX_POSITIONS_KEYS
 * @n_out: number of output channels
 * @is_running: samples have been filtered since the last reset
 * @by_hand: the application has set properties, not only controllers
 * @is_switch_refused: downstream accepts only @n_out channels.  If %FALSE, and
 *   the chain has another number of output channels, set @ask_again: the base
 *   class first negotiates them
 * @was_refused: the last chain was rejected; the previous one stays in use
 * @is_settled: no parameter ramp and no cross-fade is running
 * @spec: specification of the filter
 * @delay: in: present delay of the output in frames, 0 after a reset.  Out:
 *   delay of this chain in frames; the base class removes it from the stream
 *   and reports it as latency.  While the stream runs it must not become
 *   smaller
 * @at_once: set by the subclass: this chain has the output of the present one,
 *   delayed by the increase of @delay, so it replaces it without a cross-fade
 * @min_frames: set by the subclass if this chain is only a step to the
 *   requested one, else 0.  The base class asks for that one after this number
 *   of frames, and after it has dropped the frames by which @delay increased
 * @excess_delay: set by the subclass: the part of @delay that only the previous
 *   chain needs.  After a reset the base class asks for a chain without it
 * @waits_for_reset: set by the subclass with an error: ask for this chain again
 *   after a reset
 * @point: for move_stage: the grid point of values of curves, in frames of the
 *   filter; 0 for values from the next frame on
 * @ask_again: set by build_chain when it returns %NULL: call it again with the
 *   next buffer.  Set by move_stage when it returns %TRUE for a point: call it
 *   again at the next point
 * @is_for_next_buffer: set by move_stage with @ask_again: call it again with
 *   the next buffer, not at the next point
 *
 * Input and output of @build_chain and @move_stage.
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
  gboolean waits_for_reset;
  guint64 point;
  gboolean ask_again;
  gboolean is_for_next_buffer;
} GstTfxBuild;

/**
 * GstTfxElementClass:
 * @build_chain: makes the chain for the element's properties.  The streaming
 *   thread calls it before a buffer or when caps are set, with no lock held.
 *   It copies the properties under the object lock, and reports values out of
 *   range with gst_tfx_element_report_clamp().  A subclass makes the ids of its
 *   stages once (tfx_stage_new_id()) and keeps them; the filter decides whether
 *   a stage ramps to its new values or is cross-faded.  %NULL without an error:
 *   nothing changes now, and the subclass calls gst_tfx_element_mark_ready()
 *   later.  %NULL with an error: a running stream keeps its chain, and new caps
 *   fail.  The error's text follows a colon and has no full stop
 * @move_stage: called before @build_chain, in the same thread.  If only values
 *   of stages have changed, designs these stages without allocation, passes
 *   each to gst_tfx_element_set_stage(), and returns %TRUE.  Otherwise returns
 *   %FALSE, and @build_chain is called.  May be %NULL
 * @reserve: called in the same thread before and after the first buffer, and
 *   when buffers become longer.  Allocates what @move_stage will need, and
 *   calls gst_tfx_element_reserve_stage() for each stage.  May be %NULL
 * @make_chain: the chain for the properties, for a stream of this rate with
 *   this channel, for queries without caps.  Any thread.  May be %NULL
 * @get_channels: whether the properties require one number of input channels.
 *   %TRUE: fills in the numbers of input and output channels and of the
 *   filter's.  %FALSE: any number from @least on; fills in the number of output
 *   channels, 0 for as many, and the least of the filter's.  Any thread; %NULL:
 *   any number
 * @has_controlled_children: whether a child object has controlled properties.
 *   %NULL: no children
 * @get_children: the child objects, a reference for the caller
 * @get_stage_id: the id of a child object's stage; 0: none
 * @start: READY to PAUSED, before any buffer.  %FALSE fails the state change.
 *   May be %NULL
 * @stop: PAUSED to READY, after the last buffer.  May be %NULL
 * @buffer_done: a buffer that ends at @end (or none) has been filtered and
 *   pushed.  @begin is its start time for the first buffer, for the first one
 *   after a flush or a new segment, and for each one of a stream that plays
 *   backwards; otherwise none.  Streaming thread.  May be %NULL
 *
 * A subclass stores its properties under the object lock, calls
 * gst_tfx_element_mark_dirty() after each change, and implements @build_chain.
 * The base class owns the filter, runs it over the buffers or defers it to the
 * next tfx element, removes its delay from the stream, reports the delay as
 * latency, and drains the filter at the end.
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

/* The properties have changed, by the application or by a curve: before the
 * next frames the streaming thread calls move_stage, or build_chain.  Any
 * thread. */
void gst_tfx_element_mark_dirty (GstTfxElement *self);

/* Whether this thread is setting properties to values of curves. */
gboolean gst_tfx_element_is_controlling (GstTfxElement *self);

/* A background task has finished its work for properties that were set before.
 * Any thread. */
void gst_tfx_element_mark_ready (GstTfxElement *self);

/* Reads the level meters of a stage.  FALSE if it has none, or has not run.
 * Any thread. */
gboolean gst_tfx_element_read_stage (GstTfxElement *self, guint64 id,
    TfxReadings *readings);

/* Sets the values of a stage of the chain in force, or queues them for
 * build->point.  FALSE if a new chain is needed.  For move_stage only. */
gboolean gst_tfx_element_set_stage (GstTfxElement *self,
    const GstTfxBuild *build, TfxStage *stage);

/* The filter's chain, or the next one that waits: a reference, or NULL.  For
 * build_chain and move_stage only. */
TfxChain *gst_tfx_element_get_running (GstTfxElement *self);

/* Allocates memory in the filter for changes of a stage's values; will_follow:
 * by curves too.  Returns the number of stages that the filter may hold at a
 * time.  For reserve only. */
guint gst_tfx_element_reserve_stage (GstTfxElement *self, guint64 id,
    gsize n_grid_frames, gboolean will_follow);

/**
 * GstTfxClamp:
 * @property: the name of the property
 * @unit: its unit, a static string, may be empty
 * @asked: the requested value
 * @used: the value in use
 * @lowest: the lowest valid value at present
 * @highest: the highest valid value at present
 * @lowest_is: another limit, a static string that is printed after the range
 *   and begins with ", ", or %NULL
 * @because: a requirement other than a range that depends on the rate, a static
 *   string that begins with "must", or %NULL
 *
 * The requested and the used value of a property.
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

/* Posts one warning if @used differs from @asked.  It is repeated if the range
 * changes, if the application sets another value out of range, or if the value
 * was in range since; a controller never repeats it.  For build_chain and
 * move_stage only. */
void gst_tfx_element_report_clamp (GstTfxElement *self,
    const GstTfxClamp *clamp, gdouble rate);
/* Whether any reported property is out of range. */
gboolean gst_tfx_element_has_clamped (GstTfxElement *self);

/* Rate, number of channels and channel mask of the stream.  FALSE without caps:
 * then they are those of the last stream, or 48000 Hz and 0.  Any thread. */
gboolean gst_tfx_element_get_stream (GstTfxElement *self, gdouble *rate,
    guint *n_channels, guint64 *positions);

/* Posts a warning that a change was rejected, with the text of @error after a
 * colon. */
void gst_tfx_element_report_refusal (GstTfxElement *self, const GError *error);

G_END_DECLS

#endif /* GST_TFX_ELEMENT_H */
