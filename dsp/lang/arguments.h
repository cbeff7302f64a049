/* SPDX-License-Identifier: LGPL-2.1-or-later
 * arguments.h: the arguments of a call. */
#ifndef TFX_LANG_ARGUMENTS_H
#define TFX_LANG_ARGUMENTS_H

#include "lexer.h"
#include "node.h"

/* Reads the arguments from "(" to ")" into the values of a new call, and checks that
 * all required ones are there.  name is the class in the text, files reads the
 * files or is NULL.  *has_thousands: the call has "1,500", which may be one number. */
void tfx_arguments_read (TfxLexer *lexer, TfxNode *call, const TfxToken *name,
    const TfxFileReader *files, bool *has_thousands);

/* At "(": refuses the name of a file without quotes, which would be the first
 * parameter, of that name. */
void tfx_arguments_check_file_name (TfxLexer *lexer, const char *klass,
    const char *param);

#endif /* TFX_LANG_ARGUMENTS_H */
