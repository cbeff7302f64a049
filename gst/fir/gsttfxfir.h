/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxfir.h: the element tfxfir.
 *
 * A property travels from gsttfxfir.c, which stores it, through gsttfxkernel.c,
 * which makes the impulse response, to gsttfxfirstage.c, which makes or moves
 * the stage.
 */
#ifndef GST_TFX_FIR_H
#define GST_TFX_FIR_H

#include "gsttfxband.h"
#include "gsttfximpulse.h"
#include "gsttfxworker.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_tfx_fir_debug);

GST_ELEMENT_REGISTER_DECLARE (tfxfir);

/* The values of the properties. */
typedef struct
{
  /* The kernel: a file overrides numbers, and numbers override a design.  Each
   * setting makes another string or array, which identifies it. */
  gchar *location; /* GRefString, or NULL */
  GArray *numbers; /* of gdouble, immutable; or NULL */
  GstTfxBand band;
  gint n_taps;
  gint window; /* TfxWindow */
  gdouble beta;
  gint phase; /* TfxPhase; any but the original takes long */

  gint method; /* TfxFirMethod */
  gboolean align;
  gint delay; /* frames; -1: that of the kernel */
} GstTfxFirAsked;

/* The settings of a stage. */
typedef struct
{
  GstTfxImpulse *impulse;
  gsize n_leading; /* leading zeros */
  gsize n_taps;    /* in all, with leading and trailing zeros */
  gsize delay;     /* of the output, in frames */
  TfxFirMethod method;
} GstTfxFirSetting;

typedef struct _GstTfxKernel GstTfxKernel;

G_DECLARE_FINAL_TYPE (GstTfxFir, gst_tfx_fir, GST, TFX_FIR, GstTfxElement)
struct _GstTfxFir
{
  GstTfxElement parent;

  GstTfxFirAsked asked; /* under the object lock */
  gint n_kernels;       /* atomic; of a file: one for each channel, or 1 */

  /* Of the streaming thread: the impulse response. */
  GstTfxKernel *good;  /* the last valid one, or a file read at the start */
  GstTfxKernel *bad;   /* a later request that failed, or NULL */
  GstTfxKernel *spare; /* for parameter ramps, or NULL */
  GstTfxWorker kernel_worker;

  /* Of the streaming thread: the stage. */
  guint64 id;               /* of all its stages */
  GstTfxFirSetting running; /* of the current stage */
  GstTfxFirSetting offered; /* of the last stage returned */
  GstTfxWorker stage_worker;
  GPtrArray *moving; /* stages for parameter ramps; reused */
  gdouble *room;     /* for the taps of such a stage, with their zeros */
};

/* ---- gsttfxkernel.c: the impulse response --------------------------------- */

/* Copies the values of the properties.  Allocates nothing.  Any thread. */
void gst_tfx_kernel_read_asked (GstTfxFir *self, GstTfxFirAsked *asked);
/* Releases a copy; all but location and numbers stays valid. */
void gst_tfx_kernel_clear_asked (GstTfxFirAsked *asked);

/* The method start of GstTfxElementClass: reads the kernel's file, if it has
 * one, before caps negotiation, because its channels limit the caps.
 * gst_tfx_kernel_get() reports errors. */
gboolean gst_tfx_kernel_start (GstTfxElement *element);

/* Whether making the kernel takes too long for the streaming thread: more than
 * a tenth of the duration of a buffer. */
gboolean gst_tfx_kernel_takes_long (const GstTfxFirAsked *asked,
    const GstTfxBuild *build);

/* Returns the requested impulse response for a stream; @self owns it until the
 * next call.  If it cannot be used, posts a warning and returns the last valid
 * one; without one, NULL with an error for the user.  NULL without an error
 * while a background task loads it; gst_tfx_element_mark_ready() will be
 * called. */
GstTfxImpulse *gst_tfx_kernel_get (GstTfxFir *self, const GstTfxFirAsked *asked,
    const GstTfxBuild *build, GError **error);

/* The same for a kernel with the number of taps and the delay of the last one.
 * Allocates nothing after the first call.  NULL if it differs in more than
 * values: call gst_tfx_kernel_get(). */
GstTfxImpulse *gst_tfx_kernel_move (GstTfxFir *self,
    const GstTfxFirAsked *asked, const GstTfxBuild *build);

/* Waits for the background task and frees all. */
void gst_tfx_kernel_clear (GstTfxFir *self);

/* ---- gsttfxfirstage.c: the stage; methods of GstTfxElementClass ----------- */

TfxChain *gst_tfx_fir_stage_build_chain (GstTfxElement *element,
    GstTfxBuild *build, GError **error);
gboolean gst_tfx_fir_stage_move (GstTfxElement *element, GstTfxBuild *build);
void
gst_tfx_fir_stage_reserve (GstTfxElement *element, const GstTfxBuild *build);

/* Waits for the background task and frees all but the id. */
void gst_tfx_fir_stage_clear (GstTfxFir *self);

G_END_DECLS

#endif /* GST_TFX_FIR_H */
