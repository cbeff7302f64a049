/* SPDX-License-Identifier: LGPL-2.1-or-later
 * arguments.h: the arguments of a call. */
#ifndef TFX_LANG_ARGUMENTS_H
#define TFX_LANG_ARGUMENTS_H

#include "parser.h"

/* Reads the arguments from "(" to ")" into the values of a new call, and sees
 * that the parameters without default are there.  class_offset is the place of
 * the class name.  0, or the code of the error. */
int tfx_arguments_parse (TfxParser *parser, TfxNode *call, size_t class_offset);

#endif /* TFX_LANG_ARGUMENTS_H */
