/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfirstage.h: the stage of a FIR filter: an impulse response with its delay.
 */
#ifndef GST_TFX_FIR_STAGE_H
#define GST_TFX_FIR_STAGE_H

#include "gsttfxelement.h"
#include "gsttfximpulse.h"
#include "gsttfxworker.h"

G_BEGIN_DECLS

/* The settings of a stage. */
typedef struct
{
  GstTfxImpulse *impulse;
  gsize n_leading; /* leading zeros */
  gsize n_taps;    /* in all, with leading and trailing zeros */
  gsize delay;     /* of the output, in frames */
  TfxFirMethod method;
} GstTfxFirSetting;

/* Makes stages: copies the taps, computes their spectra and allocates the memory of the
 * filter; long ones in a thread.  Used by the streaming thread.  Start with zeros and an
 * id, end with gst_tfx_fir_stager_clear(). */
typedef struct
{
  guint64 id;               /* of all its stages */
  GstTfxFirSetting running; /* of the current stage */
  GstTfxFirSetting offered; /* of the last stage returned */
  GstTfxWorker worker;
  GPtrArray *moving; /* stages for parameter ramps; reused */
  gdouble *room;     /* for taps with zeros around them */
  gsize n_room;
} GstTfxFirStager;

/* Call before each build: the last stage returned is in use unless it was refused. */
void
gst_tfx_fir_stager_settle (GstTfxFirStager *self, const GstTfxBuild *build);

/* Returns the stage for an impulse response that delays the output by @delay frames, or by
 * the delay of the stream if that is longer; or the stage of a step before it.  Sets the
 * results in @build.  NULL with an error for the user.  NULL without an error: not yet,
 * gst_tfx_element_mark_ready() will be called or the build asks again. */
TfxStage *gst_tfx_fir_stager_get (GstTfxFirStager *self, GstTfxElement *element,
    GstTfxImpulse *impulse, gsize delay, TfxFirMethod method,
    GstTfxBuild *build, GError **error);

/* Whether the taps of the current stage can move, and the frames between two points of a
 * curve at which they can. */
gboolean
gst_tfx_fir_stager_can_move (const GstTfxFirStager *self, TfxFirMethod method);
gsize gst_tfx_fir_stager_grid_frames (const GstTfxFirStager *self);

/* Allocates what moving taps needs; for reserve of the element. */
void gst_tfx_fir_stager_reserve (GstTfxFirStager *self, GstTfxElement *element);

/* Moves the current stage to other taps; FALSE if their number or delay differs, or
 * memory is short. */
gboolean gst_tfx_fir_stager_move (GstTfxFirStager *self, GstTfxElement *element,
    const GstTfxBuild *build, GstTfxImpulse *impulse, gsize delay);

/* Waits for the thread and frees all but the id. */
void gst_tfx_fir_stager_clear (GstTfxFirStager *self);

G_END_DECLS

#endif /* GST_TFX_FIR_STAGE_H */
