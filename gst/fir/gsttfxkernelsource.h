/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxkernelsource.h: the properties for the kernel of a FIR filter.
 */
#ifndef GST_TFX_KERNEL_SOURCE_H
#define GST_TFX_KERNEL_SOURCE_H

#include "gsttfxband.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_WINDOW (gst_tfx_window_get_type ())
GType gst_tfx_window_get_type (void);

/* The source of a kernel.  A file overrides values, values override a design. */
typedef struct
{
  /* A design: */
  GstTfxBand band;
  guint n_taps;
  TfxWindow window;
  gdouble beta;

  GArray *values; /* of gdouble, immutable; or NULL */

  gchar *location; /* of a file, or NULL */
  guint serial;    /* changes with each setting of the location */
} GstTfxKernelSource;

/* The properties; their ids are these plus first_id. */
enum
{
  GST_TFX_KERNEL_SOURCE_TAPS,
  GST_TFX_KERNEL_SOURCE_WINDOW,
  GST_TFX_KERNEL_SOURCE_BETA,
  GST_TFX_KERNEL_SOURCE_KERNEL,
  GST_TFX_KERNEL_SOURCE_KERNEL_LOCATION,
  GST_TFX_KERNEL_SOURCE_BAND /* the first of four */
};

/* Installs the properties with ids from first_id up. */
void
gst_tfx_kernel_source_install_properties (GObjectClass *klass, guint first_id);

/* Sets the defaults. */
void gst_tfx_kernel_source_init (GstTfxKernelSource *self);

/* Sets or gets one property, GST_TFX_KERNEL_SOURCE_...; FALSE if the number is
 * unknown.  With the owner's object lock held. */
gboolean gst_tfx_kernel_source_set (GstTfxKernelSource *self, guint property,
    const GValue *value);
gboolean gst_tfx_kernel_source_get (const GstTfxKernelSource *self,
    guint property, GValue *value);

/* Makes a copy, to be cleared. */
void gst_tfx_kernel_source_copy (GstTfxKernelSource *self,
    const GstTfxKernelSource *from);
void gst_tfx_kernel_source_clear (GstTfxKernelSource *self);

/* Whether both give the same kernel. */
gboolean gst_tfx_kernel_source_equal (const GstTfxKernelSource *self,
    const GstTfxKernelSource *other);

G_END_DECLS

#endif /* GST_TFX_KERNEL_SOURCE_H */
