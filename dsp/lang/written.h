/* SPDX-License-Identifier: LGPL-2.1-or-later
 * written.h: values as they are written. */
#ifndef TFX_LANG_WRITTEN_H
#define TFX_LANG_WRITTEN_H

#include "parser.h"

/* A value as it is written.  A tuple or list may begin with a word, as in
 * ("kaiser", 8.6): word is not empty then, and value a list. */
typedef struct TfxWritten
{
  TfxValue value;
  char word[TFX_EXPR_MAX_NAME + 1];
  bool is_bare;    /* the word has no quotes */
  TfxToken string; /* if it has, and is no part of a tuple */
  size_t offset;
  size_t n_columns; /* a list of rows: the length of each; else 0 */
} TfxWritten;

/* Reads the value that is ahead.  0, or the code of the error, which has its place;
 * written->value may hold a list even then. */
int tfx_written_parse (TfxParser *parser, TfxWritten *written);

#endif /* TFX_LANG_WRITTEN_H */
