/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfilter.h: GstTfxFilter, the base class of all tfx elements.
 */
#ifndef GST_TFX_FILTER_H
#define GST_TFX_FILTER_H

#include <gst/audio/audio.h>
#include <gst/audio/gstaudiofilter.h>
#include <gst/gst.h>

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

#define GST_TYPE_TFX_FILTER (gst_tfx_filter_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstTfxFilter, gst_tfx_filter, GST, TFX_FILTER,
    GstAudioFilter)

/**
 * GstTfxBuild:
 * @rate: of the stream, in Hz
 * @n_channels: of the stream
 * @is_running: samples flow; otherwise the stream is about to start
 * @delay: the frames by which the output of a running stream is late.  A new
 *   stage must not have less; to have more, see @at_once and @n_hold
 * @is_settled: no cross-fade is under way
 * @was_refused: the stage that was made last could not be used, the one before
 *   it is still running
 * @by_hand: the application has set properties, not controllers alone
 * @spec: what plans are compiled for
 * @before: the stages that are compiled into one plan with this one, before it;
 *   or %NULL
 * @exec: what runs that plan; %NULL if the stream is about to start, or if
 *   another element runs this one's stage
 * @at_once: set by the subclass: this stage does what the one before it did,
 *   and takes over without a cross-fade
 * @n_hold: set by the subclass: this stage is only a step on the way.  The
 *   next one is asked for after so many frames, and not before the frames by
 *   which the delay grew were dropped from the output
 * @n_spare: set by the subclass: so much of the stage's delay is due to the
 *   one before it; when the stream starts again, a stage without it is asked
 *   for
 * @ask_again: set by the subclass together with a return value of %NULL: ask
 *   again with the next buffer
 *
 * What a new stage is for, and what is to be done with it.
 */
typedef struct
{
  gdouble rate;
  guint n_channels;
  gboolean is_running;
  gsize delay;
  gboolean is_settled;
  gboolean was_refused;
  gboolean by_hand;
  const TfxPlanSpec *spec;
  TfxChain *before;
  TfxExec *exec;

  gboolean at_once;
  gsize n_hold;
  gsize n_spare;
  gboolean ask_again;
} GstTfxBuild;

/**
 * GstTfxFilterClass:
 * @build_stage: makes the stage that the element's properties ask for.  Called
 *   in the streaming thread with no lock held, never twice at a time: it takes
 *   its snapshot of the properties under the object lock, and reports values
 *   that it cannot meet through gst_tfx_filter_report_value().  The stage
 *   carries the id that gst_tfx_filter_get_stage_id() or
 *   gst_tfx_filter_renew_stage_id() gives.  %NULL without an error: nothing
 *   changes now.  %NULL with an error for the user, worded to go on after a
 *   colon and without a stop at its end: a running stream goes on as it was
 * @build_chain: the same for an element that is more than one stage; called in
 *   place of @build_stage if it is there.  The stages carry ids of their own
 * @has_controlled_children: whether a child object has properties under
 *   control.  %NULL: there are no children
 * @sync_children: gives these properties their values for a buffer's stream
 *   time, in the streaming thread
 *
 * A subclass stores its properties under the object lock, calls
 * gst_tfx_filter_mark_dirty() after each change, and implements @build_stage or
 * @build_chain.  The base class does the rest: it compiles the stages into a
 * plan and runs it over the buffers, in place; it takes their delay out of the
 * stream, tells of it as latency, and sends what the filter still holds at the
 * end.
 */
struct _GstTfxFilterClass
{
  GstAudioFilterClass parent_class;

  TfxStage *(
      *build_stage) (GstTfxFilter *self, GstTfxBuild *build, GError **error);
  TfxChain *(
      *build_chain) (GstTfxFilter *self, GstTfxBuild *build, GError **error);
  gboolean (*has_controlled_children) (GstTfxFilter *self);
  void (*sync_children) (GstTfxFilter *self, GstClockTime stream_time);

  gpointer _gst_reserved[GST_PADDING];
};

/* The properties have changed: the next buffer is filtered by a new stage.
 * Any thread. */
void gst_tfx_filter_mark_dirty (GstTfxFilter *self);

/* A stage for properties that were set before is ready to be built.  Any
 * thread. */
void gst_tfx_filter_mark_ready (GstTfxFilter *self);

/* The id of the element's stage.  While it stays, a new stage takes over the
 * state of the old one.  For build_stage only. */
guint64 gst_tfx_filter_get_stage_id (GstTfxFilter *self);

/* Another id from now on, which it returns: the next stage is another filter,
 * to which the old state means nothing.  It starts at rest and is cross-faded
 * in.  For build_stage only. */
guint64 gst_tfx_filter_renew_stage_id (GstTfxFilter *self);

/**
 * GstTfxValue:
 * @property: the name of the property
 * @unit: its unit, a static string, may be empty
 * @asked: the value it was set to
 * @used: the value that is used
 * @lowest: the lowest value that works at present
 * @highest: the highest value that works at present
 * @lowest_is: what @lowest depends on beside the rate, a static string, or
 *   %NULL
 * @because: a static string that says what the value must be, if that is not
 *   a range that depends on the rate, or %NULL
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
} GstTfxValue;

/* Tells the user that a change could not be made: what is right of the colon
 * comes from @error. */
void gst_tfx_filter_report_refusal (GstTfxFilter *self, const GError *error);

/* Says how far a property is met.  If @used is not @asked a warning is posted,
 * once per situation: again if the range changes, if the application sets
 * another value that cannot be met, or if the value was met meanwhile.  A
 * controller that moves a value outside of the range repeats nothing.  For
 * build_stage only. */
void gst_tfx_filter_report_value (GstTfxFilter *self, const GstTfxValue *value,
    gdouble rate);

G_END_DECLS

#endif /* GST_TFX_FILTER_H */
