/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfirstage.h: the stage of a FIR filter: an impulse response, and how
 * late it is.
 */
#ifndef GST_TFX_FIR_STAGE_H
#define GST_TFX_FIR_STAGE_H

#include "gsttfxelement.h"
#include "gsttfximpulse.h"
#include "gsttfxworker.h"

G_BEGIN_DECLS

/* What the stage is to be. */
typedef struct
{
  GstTfxImpulse *impulse;
  gsize n_leading; /* zeros in front of it */
  gsize n_taps;    /* in all, with zeros behind it */
  gsize delay;     /* by which it makes the output late */
  TfxFirMethod method;
} GstTfxFirSetting;

/* Makes stages, long ones in a thread: the copy of the taps, their spectra, and
 * the memory that a filter of so many taps needs.  Of the streaming thread.
 * Starts with all zero but the id, ends with gst_tfx_fir_stager_clear(). */
typedef struct
{
  guint64 id;               /* of all its stages */
  GstTfxFirSetting running; /* what is in force */
  GstTfxFirSetting offered; /* what was given out last */
  GstTfxWorker worker;
  GPtrArray *moving; /* stages for values that move, used again and again */
  gdouble *room;     /* for taps with zeros around them */
  gsize n_room;
} GstTfxFirStager;

/* Before each build: what was given out last is in force, or was refused. */
void
gst_tfx_fir_stager_settle (GstTfxFirStager *self, const GstTfxBuild *build);

/* The stage for an impulse response that makes the output late by @delay, or
 * later still if the stream is; or for a step on the way there.  Fills in what
 * the build has to say.  NULL with a text for the user; or NULL without: later,
 * gst_tfx_element_mark_ready() will be called or the build asks again. */
TfxStage *gst_tfx_fir_stager_get (GstTfxFirStager *self, GstTfxElement *element,
    GstTfxImpulse *impulse, gsize delay, TfxFirMethod method,
    GstTfxBuild *build, GError **error);

/* Whether the running stage is one whose taps can move; and the frames between two
 * points of a curve at which they can. */
gboolean
gst_tfx_fir_stager_can_move (const GstTfxFirStager *self, TfxFirMethod method);
gsize gst_tfx_fir_stager_grid_frames (const GstTfxFirStager *self);

/* What that takes is there; of the element's reserve. */
void gst_tfx_fir_stager_reserve (GstTfxFirStager *self, GstTfxElement *element);

/* The running stage gets other taps, as many and as late.  FALSE if that cannot
 * be. */
gboolean gst_tfx_fir_stager_move (GstTfxFirStager *self, GstTfxElement *element,
    const GstTfxBuild *build, GstTfxImpulse *impulse, gsize delay);

/* Waits for what is being made, and forgets all but the id. */
void gst_tfx_fir_stager_clear (GstTfxFirStager *self);

G_END_DECLS

#endif /* GST_TFX_FIR_STAGE_H */
