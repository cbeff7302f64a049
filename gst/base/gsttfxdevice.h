/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxdevice.h: the device that an element filters on, and the memory of its
 * buffers.
 *
 * An element with device=cuda filters on a CUDA device from the start of its
 * stream.  With device=auto it does so from the first buffer for which
 * it is estimated to be faster.  If device=cuda is set while the element
 * plays, the CPU filters until the device is open.  Without a usable device the
 * CPU filters.  After a failed call the device is tried again once a second of
 * the stream has passed; the time doubles with each failure, up to 64 seconds.
 */
#ifndef GST_TFX_DEVICE_H
#define GST_TFX_DEVICE_H

#include "gsttfxcuda.h"
#include "gsttfxelement.h"
#include "gsttfxmemory.h"
#include "gsttfxrow.h"
#include "gsttfxworker.h"

G_BEGIN_DECLS

/* Whether the device can be used. */
typedef enum
{
  GST_TFX_CUDA_FINE,
  GST_TFX_CUDA_FAILED, /* a call failed; device memory can still be read */
  GST_TFX_CUDA_GONE    /* there is no device, or it is lost */
} GstTfxCudaState;

/* Used in the streaming thread, unless a field is atomic.  Initialize with
 * zeros. */
typedef struct
{
  gboolean may_have_cuda_memory; /* pads may have CUDA memory */
  gboolean has_cuda_memory;      /* the caps of a pad have CUDA memory */
  gint state;                    /* atomic, of GstTfxCudaState */
  guint n_failures;              /* since the start */
  guint64 n_until_retry;         /* frames; in GST_TFX_CUDA_FAILED */
  gint is_chosen;                /* atomic: device=auto has chosen CUDA */
  gint seen_setting;             /* atomic: the device property plus 1, or 0 */
  gboolean was_warned;     /* the warning that CUDA is missing was posted */
  gboolean is_setting;     /* caps are being set */
  gboolean in_cuda;        /* the caps of the sink pad have CUDA memory */
  gboolean out_cuda;       /* those of the source pad do */
  GstCudaContext *context; /* see gst_tfx_cuda_ensure_context() */
  TfxCuda *cuda;           /* its backend, or NULL; written atomically */
  GstTfxWorker opener;     /* opens it while the stream plays */
  gint is_opening;         /* atomic: until the result is taken */
  gboolean runs;           /* the filter is to run on it */
  /* device=auto: what the last decision was made for. */
  gsize seen_frames, last_frames;
  guint64 seen_stages, seen_sections;
  gboolean from_device; /* the samples come in CUDA memory */
  GstBufferPool *pool;  /* for the output */
} GstTfxDeviceState;

/* Called when a stream starts and stops. */
void gst_tfx_device_start (GstTfxElement *self);
void gst_tfx_device_stop (GstTfxElement *self);

/* Which memory the element's pads should have.  Any thread. */
GstTfxMemory gst_tfx_device_get_memory (GstTfxElement *self);

/* Sets the caps of both pads, and opens the device if they have CUDA memory.
 * Returns FALSE after an error message if it cannot be opened. */
gboolean
gst_tfx_device_set_caps (GstTfxElement *self, GstCaps *in, GstCaps *out);

/* Handles a change of the device property, and the end of the background task.
 * Called before each buffer. */
void gst_tfx_device_update (GstTfxElement *self);

/* device=auto: decides before a buffer of n_frames whether to change the
 * backend. */
void gst_tfx_device_consider (GstTfxElement *self, GstBuffer *buffer,
    gsize n_frames);

/* Whether a buffer of n_frames in system memory runs on the device, with no
 * decision of device=auto due. */
gboolean gst_tfx_device_stays (GstTfxElement *self, gsize n_frames);

/* Called when caps are set and the filter exists: moves it to the right
 * backend, and does now what takes long the first time. */
void gst_tfx_device_switch_backend (GstTfxElement *self);

/* Counts n_frames filtered on the CPU after a failure, and tries the device
 * again when it is time. */
void gst_tfx_device_retry (GstTfxElement *self, gsize n_frames);

/* Handles a run or an allocation that failed with @err, a negative errno value.
 * If CUDA failed, posts a warning and continues on the CPU: with the state of
 * the filter unless that is lost, and with output in system memory if the
 * downstream peer accepts it. */
void gst_tfx_device_fall_back (GstTfxElement *self, gint err);

/* ---- gsttfxdevice.c, for gsttfxdeviceauto.c ------------------------------ */

/* The device property, or if that is "auto", TFX_DEVICE. */
GstTfxDevice gst_tfx_device_get_setting (GstTfxElement *self);

/* Opens the device unless it failed before.  Reports a failure. */
gboolean gst_tfx_device_try_open (GstTfxElement *self);

/* Moves the filter to the backend that is to run it now. */
void gst_tfx_device_move (GstTfxElement *self);

/* Renegotiates both pads. */
void gst_tfx_device_reconfigure (GstTfxElement *self);

/* ---- gsttfxopener.c ------------------------------------------------------ */

/* Starts a background task that opens the device, and warms it up for the row
 * that ends with the element.  Marks the element as ready at the end.  Returns
 * FALSE if no thread can be made. */
gboolean gst_tfx_opener_start (GstTfxElement *self);

/* Takes the result of the task: device.cuda, or *why there is none, to be
 * freed.  Returns FALSE if the task was not started, or still runs and may_wait
 * is FALSE. */
gboolean
gst_tfx_opener_take (GstTfxElement *self, gboolean may_wait, gchar **why);

/* Makes the plan of a locked row, whose filters have processed nothing.  If it
 * runs on a device, waits for kernels to be compiled, which a running stream
 * does not do, runs the filters on silence, and resets them.  @cuda: that of
 * the row's backend, or NULL.  Returns 0 or a negative errno value.  Any
 * thread. */
gint gst_tfx_opener_warm_up (const GstTfxRow *row, const TfxFilterSpec *spec,
    TfxCuda *cuda);

G_END_DECLS

#endif /* GST_TFX_DEVICE_H */
