/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxnotes.h: values of a chain that are probably not what was meant. */
#ifndef GST_TFX_NOTES_H
#define GST_TFX_NOTES_H

#include <glib.h>

#include "lang/expr.h"

G_BEGIN_DECLS

/* A sentence for each such value, with what was probably meant, in the order of the
 * stages: factors that read as decibels, milliseconds as seconds or samples, levels as
 * decibels, kilohertz as hertz.  Free it with g_ptr_array_unref(). */
GPtrArray *gst_tfx_notes_find (const TfxExpr *expr, gdouble rate_hz);

/* "+15.6 dB" of a level in dB, never -0.0; free it. */
gchar *gst_tfx_notes_format_db (gdouble level_db);

G_END_DECLS

#endif /* GST_TFX_NOTES_H */
