/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxrecipe.h: what the kernel of a FIR filter is made from, and the making.
 */
#ifndef GST_TFX_RECIPE_H
#define GST_TFX_RECIPE_H

#include "gsttfxband.h"
#include "gsttfxkernel.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_WINDOW (gst_tfx_window_get_type ())
GType gst_tfx_window_get_type (void);

/* What is asked.  A file comes before values, values before a design. */
typedef struct
{
  GstTfxBand band;
  guint n_taps;
  TfxWindow window;
  gdouble beta;

  GArray *values; /* of gdouble, immutable; or NULL */

  gchar *location; /* or NULL */
  guint serial;    /* of the location: another one, another reading */
} GstTfxRecipe;

/* A kernel and how far it is what was asked. */
typedef struct
{
  GstTfxKernel *kernel;
  GstTfxSound *sound; /* what the file holds */
  /* Of a design: */
  GstTfxBand used_band;
  gdouble margin_hz;
  guint used_taps;
  const gchar *because; /* of another number of taps; static */
} GstTfxProduct;

/* The properties, in the order of their ids. */
enum
{
  GST_TFX_RECIPE_TAPS,
  GST_TFX_RECIPE_WINDOW,
  GST_TFX_RECIPE_BETA,
  GST_TFX_RECIPE_KERNEL,
  GST_TFX_RECIPE_KERNEL_LOCATION,
  GST_TFX_RECIPE_BAND, /* the first of GST_TFX_BAND_N_PROPERTIES */
  GST_TFX_RECIPE_N_PROPERTIES = GST_TFX_RECIPE_BAND + GST_TFX_BAND_N_PROPERTIES
};

/* Installs them with the ids from first_id on. */
void gst_tfx_recipe_install_properties (GObjectClass *klass, guint first_id);

/* The defaults. */
void gst_tfx_recipe_init (GstTfxRecipe *self);

/* Sets or gets one property, GST_TFX_RECIPE_...; FALSE if there is no such.
 * With the owner's object lock held. */
gboolean
gst_tfx_recipe_set (GstTfxRecipe *self, guint property, const GValue *value);
gboolean
gst_tfx_recipe_get (const GstTfxRecipe *self, guint property, GValue *value);

/* Deep enough a copy: the caller's own. */
void gst_tfx_recipe_copy (GstTfxRecipe *self, const GstTfxRecipe *from);
void gst_tfx_recipe_clear (GstTfxRecipe *self);

/* Whether both lead to the same kernel. */
gboolean
gst_tfx_recipe_equal (const GstTfxRecipe *self, const GstTfxRecipe *other);

/* Whether the making may take longer than a stream can wait. */
gboolean gst_tfx_recipe_takes_long (const GstTfxRecipe *self);

/* Makes the kernel.  @sound is what the file holds, if that is known already.
 * Any thread.  FALSE with a text for the user if it cannot be made. */
gboolean
gst_tfx_recipe_make (const GstTfxRecipe *self, guint rate, guint n_channels,
    GstTfxSound *sound, GstTfxProduct *product, GError **error);

void gst_tfx_product_clear (GstTfxProduct *self);

/* Tells the user of what in a design is not what was asked. */
void gst_tfx_product_report (const GstTfxProduct *self,
    const GstTfxRecipe *recipe, GstTfxFilter *filter, gdouble rate);

G_END_DECLS

#endif /* GST_TFX_RECIPE_H */
