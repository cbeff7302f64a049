/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainreader.h: reads chains with the files that they name.
 */
#ifndef GST_TFX_CHAIN_READER_H
#define GST_TFX_CHAIN_READER_H

#include <glib.h>

#include "lang/expr.h"

G_BEGIN_DECLS

/* As tfx_expr_parse().  Names of files are relative to @folder, or where that is
 * NULL to the working folder; what was read, or was to be, is added to @files
 * (of GstTfxChainSeen *, or NULL), and how filter settings were read to @notes (of
 * gchar *, or NULL).  Any thread. */
TfxExpr *gst_tfx_chain_reader_parse (const gchar *text, const gchar *folder,
    GPtrArray *files, GPtrArray *notes, TfxExprError *error);

/* The same chain for elsewhere, to be freed: where it names files it is written anew,
 * with their full names.  NULL if it is wrong.  @notes as above. */
gchar *gst_tfx_chain_reader_make_absolute (const gchar *text,
    const gchar *folder, GPtrArray *notes, TfxExprError *error);

/* The impulse response in one file, as in a chain; NULL with why not. */
TfxFile *gst_tfx_chain_reader_open (const gchar *name, const gchar *folder,
    gchar why[TFX_FILE_WHY_SIZE]);

G_END_DECLS

#endif /* GST_TFX_CHAIN_READER_H */
