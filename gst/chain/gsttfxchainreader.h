/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainreader.h: reads chains with the files that they name.
 */
#ifndef GST_TFX_CHAIN_READER_H
#define GST_TFX_CHAIN_READER_H

#include <glib.h>

#include "lang/expr.h"

G_BEGIN_DECLS

/* Like tfx_expr_parse().  File names are relative to @folder (NULL: the working
 * folder).  Adds each file in the text to @files (of GstTfxChainSeen *, or
 * NULL), readable or not, and notes on filter settings to @notes (of gchar *,
 * or NULL).  Any thread. */
TfxExpr *gst_tfx_chain_reader_parse (const gchar *text, const gchar *folder,
    GPtrArray *files, GPtrArray *notes, TfxExprError *error);

/* The same for the chain of a stranger: reads only files in the folder @root or below, and
 * follows no link out of it; "": no files. */
TfxExpr *gst_tfx_chain_reader_parse_below (const gchar *text, const gchar *root,
    TfxExprError *error);

/* The same chain with absolute file names, to be freed; NULL if it is invalid.
 * @notes as above. */
gchar *gst_tfx_chain_reader_make_absolute (const gchar *text,
    const gchar *folder, GPtrArray *notes, TfxExprError *error);

/* Reads the file that @value names, as in a chain: see tfx_arguments_read_file().
 * FALSE with the reason. */
gboolean gst_tfx_chain_reader_open (TfxValue *value, const TfxParam *param,
    const gchar *folder, gchar why[TFX_FILE_WHY_SIZE]);

G_END_DECLS

#endif /* GST_TFX_CHAIN_READER_H */
