/* SPDX-License-Identifier: LGPL-2.1-or-later
 * arguments.h: the arguments of a call. */
#ifndef TFX_LANG_ARGUMENTS_H
#define TFX_LANG_ARGUMENTS_H

#include "parser.h"

/* Reads the arguments from "(" to ")" into the values of a new call, and sees
 * that the parameters without default are there.  name is that of the class, as it
 * is written.  0, or the code of the error. */
int
tfx_arguments_parse (TfxParser *parser, TfxNode *call, const TfxToken *name);

/* The "(" is ahead.  Refuses the name of a file without quotes, which would be
 * the first parameter, of that name. */
int tfx_arguments_check_file_name (TfxParser *parser, const char *klass,
    const char *param);

#endif /* TFX_LANG_ARGUMENTS_H */
