/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsofa.h: head-related impulse responses in SOFA files (AES69).
 */
#ifndef GST_TFX_SOFA_H
#define GST_TFX_SOFA_H

#include <glib.h>

#include "gsttfximpulse.h"
#include "lang/expr.h"

G_BEGIN_DECLS

/* Immutable; any thread. */
typedef struct
{
  guint rate;     /* Hz */
  gsize n_frames; /* with the longest delay */
  struct MYSOFA_HRTF *hrtf;
  struct MYSOFA_LOOKUP *lookup;
  struct MYSOFA_NEIGHBORHOOD *neighborhood;
} GstTfxSofa;

/* Whether the name is that of a SOFA file: it ends in .sofa. */
gboolean gst_tfx_sofa_is (const gchar *path);

/* Reads a file of the convention SimpleFreeFieldHRIR, with libmysofa.  NULL with an
 * error for the user. */
GstTfxSofa *gst_tfx_sofa_read (const gchar *path, GError **error);
/* NULL is allowed. */
void gst_tfx_sofa_free (GstTfxSofa *self);

gboolean gst_tfx_sofa_is_same (const GstTfxSofa *a, const GstTfxSofa *b);

/* Two kernels for each direction, left and right, at the rate of the file.  Between the
 * measured directions libmysofa interpolates.  NULL with an error for the user; @path is
 * for its message. */
GstTfxImpulse *gst_tfx_sofa_find (const GstTfxSofa *self,
    const TfxDirection *directions, guint n, const gchar *path, GError **error);

G_END_DECLS

#endif /* GST_TFX_SOFA_H */
