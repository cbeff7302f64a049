/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfximpulsetext.h: impulse responses as text.
 */
#ifndef GST_TFX_IMPULSE_TEXT_H
#define GST_TFX_IMPULSE_TEXT_H

#include "gsttfximpulse.h"

G_BEGIN_DECLS

/* Whether the first bytes of the file are text. */
gboolean gst_tfx_impulse_text_is (const gchar *path);

/* Its numbers, not checked yet; NULL with the reason in *why, to be freed. */
GstTfxImpulse *gst_tfx_impulse_text_read (const gchar *path, gchar **why);

G_END_DECLS

#endif /* GST_TFX_IMPULSE_TEXT_H */
