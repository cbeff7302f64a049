/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevice.h: where an element filters, and in which memory its buffers
 * are.
 *
 * An element whose device is "cuda" filters on a CUDA device from the start of
 * its stream, and one whose device is "auto" from the buffer on of which
 * gsttfxcost.h says that it is worthwhile.  One that is set to "cuda" while it
 * plays goes on on the CPU until the device is open.  Without a usable device the CPU
 * filters instead.  After a failed call the device is tried again when a second of the
 * stream has passed, after the next failure two seconds, up to 64.
 */
#ifndef GST_TFX_DEVICE_H
#define GST_TFX_DEVICE_H

#include "gsttfxcuda.h"
#include "gsttfxelement.h"
#include "gsttfxmemory.h"
#include "gsttfxopener.h"

G_BEGIN_DECLS

/* Why CUDA is not used though the device setting allows for it. */
typedef enum
{
  GST_TFX_CUDA_FINE,
  GST_TFX_CUDA_FAILED, /* a call failed; memory can still be read */
  GST_TFX_CUDA_GONE    /* there is none, or it does not answer */
} GstTfxCudaState;

/* The filters of a row of elements, the first one first.  The caps of all are set, and
 * their buffers arrive, in the thread that asks. */
typedef struct
{
  TfxFilter *filters[GST_TFX_ROW_MAX];
  gsize n;
  gboolean is_running; /* one of them has processed samples */
} GstTfxDeviceRow;

/* Of the streaming thread, unless it says otherwise.  Starts with all zero. */
typedef struct
{
  gboolean may_have_cuda_memory; /* buffers in CUDA memory may come or go */
  gboolean has_cuda_memory;      /* the caps of a pad say so */
  gint state;                    /* atomic, of GstTfxCudaState */
  guint n_failures;              /* since the start */
  guint64 n_until_retry;         /* frames; in GST_TFX_CUDA_FAILED */
  gint is_chosen;                /* atomic: device=auto has chosen CUDA */
  gint seen_setting;             /* atomic: the device property plus 1, or 0 */
  gboolean was_warned;           /* a warning that it is missing was posted */
  gboolean is_setting;           /* caps are being set */
  gboolean in_cuda;              /* the sink pad's caps say CUDA memory, */
  gboolean out_cuda;             /* and so do the source pad's */
  GstCudaContext *context;       /* see gst_tfx_cuda_ensure_context() */
  TfxCuda *cuda;                 /* its backend, or NULL; written atomically */
  GstTfxOpener opener;           /* opens it beside the stream */
  gboolean runs;                 /* the filter is to run on it */
  /* device=auto: what was last thought about. */
  gsize seen_frames, last_frames;
  guint64 seen_stages, seen_sections;
  gboolean from_device; /* the samples come in CUDA memory */
  GstBufferPool *pool;  /* for the output */
} GstTfxDeviceState;

/* The stream starts, and ends. */
void gst_tfx_device_start (GstTfxElement *self);
void gst_tfx_device_stop (GstTfxElement *self);

/* The element goes back to NULL: the context is let go. */
void gst_tfx_device_forget (GstTfxElement *self);

/* Any thread: which memory the element's pads are to have. */
GstTfxMemory gst_tfx_device_get_memory (GstTfxElement *self);

/* The caps of both pads are known: makes CUDA ready if they ask for it.  FALSE
 * after an error message if it cannot be. */
gboolean
gst_tfx_device_set_caps (GstTfxElement *self, GstCaps *in, GstCaps *out);

/* The device property may have been set. */
void gst_tfx_device_update (GstTfxElement *self);

/* The filter is about to run over a buffer of so many frames: with device=auto this
 * may be the place to go over to another backend. */
void gst_tfx_device_consider (GstTfxElement *self, GstBuffer *buffer,
    gsize n_frames);

/* Whether a buffer of so many frames in system memory is run by the device, and
 * device=auto has nothing to think about. */
gboolean gst_tfx_device_stays (GstTfxElement *self, gsize n_frames);

/* Caps are set and the filter is there: it goes to the backend for them, and what
 * takes time the first time is done now. */
void gst_tfx_device_switch_backend (GstTfxElement *self);

/* n_frames pass while the CPU filters because the device has failed: tries the device
 * again when it is time. */
void gst_tfx_device_retry (GstTfxElement *self, gsize n_frames);

/* A run, or a call for memory, has failed with @err, a negative errno value.  If
 * CUDA was to blame, says so: the CPU goes on, with the state of the filter if that
 * is not lost, and the output is in system memory if what follows takes that. */
void gst_tfx_device_fall_back (GstTfxElement *self, gint err);

/* ---- for gsttfxdeviceauto.c --------------------------------------------------------- */

/* What the property asks for, or where that is "auto", the environment. */
GstTfxDevice gst_tfx_device_get_setting (GstTfxElement *self);

/* Opens the device unless it failed before, and says so. */
gboolean gst_tfx_device_try_open (GstTfxElement *self);

/* The filter goes to the backend that is chosen now. */
void gst_tfx_device_move (GstTfxElement *self);

/* Both pads are to negotiate anew. */
void gst_tfx_device_reconfigure (GstTfxElement *self);

/* ---- gsttfxdeviceauto.c, for gsttfxdevice.c ------------------------------------------ */

/* Appends the filters of the row that ends with @self. */
void gst_tfx_device_row_list (GstTfxElement *self, GstTfxDeviceRow *row);

/* ---- contexts ----------------------------------------------------------------- */

/* GstElementClass::set_context and GST_QUERY_CONTEXT. */
void gst_tfx_device_set_context (GstTfxElement *self, GstContext *context);
gboolean gst_tfx_device_answer_query (GstTfxElement *self, GstQuery *query);

G_END_DECLS

#endif /* GST_TFX_DEVICE_H */
