/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevice.h: where an element filters, and in which memory its buffers
 * are.
 *
 * An element whose device is "cuda" filters on a CUDA device from the start of
 * its stream, and one whose device is "auto" from the buffer on of which
 * gsttfxcost.h says that it pays.  Where the device cannot be used, or a call of
 * its driver fails, the CPU filters instead until the element is started anew.
 */
#ifndef GST_TFX_DEVICE_H
#define GST_TFX_DEVICE_H

#include "gsttfxcuda.h"
#include "gsttfxfilter.h"

G_BEGIN_DECLS

/* What a pad may have to do with buffers in CUDA memory. */
typedef enum
{
  GST_TFX_MEMORY_SYSTEM,       /* nothing */
  GST_TFX_MEMORY_SYSTEM_FIRST, /* where nothing else is possible */
  GST_TFX_MEMORY_CUDA_FIRST    /* wherever the other side has it too */
} GstTfxMemory;

/* Why CUDA is not used though the device setting allows for it. */
typedef enum
{
  GST_TFX_CUDA_FINE,
  GST_TFX_CUDA_FAILED, /* a call failed; memory can still be read */
  GST_TFX_CUDA_GONE    /* there is none, or it does not answer */
} GstTfxCudaState;

/* Of the streaming thread, unless it says otherwise.  Starts with all zero. */
typedef struct
{
  gboolean may_meet;       /* buffers in CUDA memory may come or go */
  gint state;              /* atomic, of GstTfxCudaState */
  gint is_chosen;          /* atomic: device=auto has chosen CUDA */
  gint seen_setting;       /* of the device property, plus 1 */
  gboolean told;           /* a warning that it is missing was posted */
  gboolean is_setting;     /* caps are being set */
  gboolean in_cuda;        /* the sink pad's caps say CUDA memory, */
  gboolean out_cuda;       /* and so do the source pad's */
  GstCudaContext *context; /* also set by the application */
  TfxCuda *cuda;           /* its backend, or NULL */
  gboolean runs;           /* the engine is to run on it */
  /* device=auto: what was last thought about. */
  const TfxPlan *seen_plan;
  gsize seen_frames, last_frames;
  gboolean from_device; /* the samples come in CUDA memory */
  GstBufferPool *pool;  /* for the output */
} GstTfxDevicePlace;

/* The stream starts, and ends. */
void gst_tfx_device_start (GstTfxFilter *self);
void gst_tfx_device_stop (GstTfxFilter *self);

/* A reference to what the engine's executor runs on, to be held as long as the
 * executor; NULL if that is the CPU. */
GstObject *gst_tfx_device_ref_context (GstTfxFilter *self);

/* The element goes back to NULL: the context is let go. */
void gst_tfx_device_forget (GstTfxFilter *self);

/* Any thread: which memory the element's pads are to have. */
GstTfxMemory gst_tfx_device_get_memory (GstTfxFilter *self);

/* The caps of both pads are known: makes CUDA ready if they ask for it.  FALSE
 * after an error message if it cannot be. */
gboolean
gst_tfx_device_set_caps (GstTfxFilter *self, GstCaps *in, GstCaps *out);

/* The backend for the next plan.  Says so if it is not the one that is asked
 * for. */
const TfxBackend *gst_tfx_device_choose (GstTfxFilter *self);

/* The engine is about to run a buffer of so many frames: with device=auto this
 * may be the place to go over to another backend. */
void
gst_tfx_device_consider (GstTfxFilter *self, GstBuffer *buffer, gsize n_frames);

/* Caps are set and the engine has a plan: it goes to the backend for them, and
 * what takes time the first time is done now. */
void gst_tfx_device_settle (GstTfxFilter *self);

/* A call for the engine, or for memory, has failed with @err, a negative errno
 * value.  If CUDA was to blame, says so, and TRUE: the engine goes on on the CPU,
 * with the state of its filters if that is not lost, and the output is in
 * system memory if what follows takes that. */
gboolean gst_tfx_device_fall_back (GstTfxFilter *self, gint err);

/* ---- for gsttfxauto.c --------------------------------------------------------- */

/* What the property asks for, or where that is "auto", the environment. */
GstTfxDevice gst_tfx_device_get_setting (GstTfxFilter *self);

/* Opens the device unless it failed before, and says so. */
gboolean gst_tfx_device_try_open (GstTfxFilter *self);

/* The engine goes to the backend that is chosen now. */
void gst_tfx_device_move (GstTfxFilter *self);

/* Both pads are to negotiate anew. */
void gst_tfx_device_reconfigure (GstTfxFilter *self);

/* ---- contexts ----------------------------------------------------------------- */

/* GstElementClass::set_context and GST_QUERY_CONTEXT. */
void gst_tfx_device_set_context (GstTfxFilter *self, GstContext *context);
gboolean gst_tfx_device_answer_query (GstTfxFilter *self, GstQuery *query);

G_END_DECLS

#endif /* GST_TFX_DEVICE_H */
