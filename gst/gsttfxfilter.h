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
 * GstTfxFilterClass:
 * @build_stage: makes the stage that the element's properties ask for at a
 *   rate in Hz and a channel count.  Called in the streaming thread with no
 *   lock held, never twice at a time: it takes its snapshot of the properties
 *   under the object lock, and reports values that it cannot meet through
 *   gst_tfx_filter_report_value().  The stage carries the id that
 *   gst_tfx_filter_get_stage_id() or gst_tfx_filter_renew_stage_id() gives.
 *   On failure it returns %NULL and sets *@why to a text for the user, to be
 *   freed by the caller.
 *
 * A subclass stores its properties under the object lock, calls
 * gst_tfx_filter_mark_dirty() after each change, and implements @build_stage.
 * The base class does the rest: it compiles the stage into a plan and runs it
 * over the buffers, in place.
 */
struct _GstTfxFilterClass
{
  GstAudioFilterClass parent_class;

  TfxStage *(*build_stage) (GstTfxFilter *self, gdouble rate, guint n_channels,
      gchar **why);

  gpointer _gst_reserved[GST_PADDING];
};

/* The properties have changed: the next buffer is filtered by a new stage.
 * Any thread. */
void gst_tfx_filter_mark_dirty (GstTfxFilter *self);

/* The id of the element's stage.  While it stays, a new stage takes over the
 * state of the old one.  For build_stage only. */
guint64 gst_tfx_filter_get_stage_id (GstTfxFilter *self);

/* Another id from now on, which it returns: the next stage is another filter,
 * to which the old state means nothing.  It starts at rest and is cross-faded
 * in.  For build_stage only. */
guint64 gst_tfx_filter_renew_stage_id (GstTfxFilter *self);

/**
 * GstTfxValue:
 * @property: the name of the property, a static string
 * @unit: its unit, a static string, may be empty
 * @asked: the value it was set to
 * @used: the value that is used
 * @lowest: the lowest value that works at present
 * @highest: the highest value that works at present
 * @lowest_is: what @lowest depends on beside the rate, a static string, or
 *   %NULL
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
} GstTfxValue;

/* Says how far a property is met.  If @used is not @asked a warning is posted,
 * once per situation: again if the range changes, if the application sets
 * another value that cannot be met, or if the value was met meanwhile.  A
 * controller that moves a value outside of the range repeats nothing.  For
 * build_stage only. */
void gst_tfx_filter_report_value (GstTfxFilter *self, const GstTfxValue *value,
    gdouble rate);

G_END_DECLS

#endif /* GST_TFX_FILTER_H */
