/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxiir.h: GstTfxIir, the base class of the designed recursive filters.
 */
#ifndef GST_TFX_IIR_H
#define GST_TFX_IIR_H

#include "gsttfxelement.h"

G_BEGIN_DECLS

#define GST_TYPE_TFX_IIR (gst_tfx_iir_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstTfxIir, gst_tfx_iir, GST, TFX_IIR, GstTfxElement)

/**
 * GstTfxIirClass:
 * @describe: sets the fields of the design that only the subclass knows: the
 *   family and its ripples.  Called with no lock held.
 *
 * Has the properties mode, cutoff, lower-frequency, upper-frequency and order, and
 * makes a stage from them.
 */
struct _GstTfxIirClass
{
  GstTfxElementClass parent_class;

  void (*describe) (GstTfxIir *self, TfxDesign *design);
};

G_END_DECLS

#endif /* GST_TFX_IIR_H */
