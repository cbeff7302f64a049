/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxiir.h: the elements tfxbutterworth and tfxchebyshev.
 */
#ifndef GST_TFX_IIR_H
#define GST_TFX_IIR_H

#include <gst/gst.h>

G_BEGIN_DECLS

GST_ELEMENT_REGISTER_DECLARE (tfxbutterworth);
GST_ELEMENT_REGISTER_DECLARE (tfxchebyshev);

G_END_DECLS

#endif /* GST_TFX_IIR_H */
