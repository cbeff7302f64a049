/* SPDX-License-Identifier: LGPL-2.1-or-later
 * error.h: making errors of the language. */
#ifndef TFX_LANG_ERROR_H
#define TFX_LANG_ERROR_H

#include <stdarg.h>

#include "expr.h"

/* Writes code and message, without a place; returns code.  error may be NULL.
 * A message that is too long is cut. */
int tfx_error_set (TfxExprError *error, int code, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

int tfx_error_set_list (TfxExprError *error, int code, const char *format,
    va_list args);

/* Memory is short: -ENOMEM. */
int tfx_error_set_no_memory (TfxExprError *error);

/* Stores the place of the node if code is an error; returns code.  error may be
 * NULL. */
int tfx_error_set_place (TfxExprError *error, size_t place, int code);

/* Adds the place: byte offset of text[length], with the line and the caret. */
void tfx_error_place (TfxExprError *error, const char *text, size_t length,
    size_t offset);

/* The bytes of the UTF-8 sequence at text[0] within n bytes; 0 if there is none. */
size_t tfx_error_sequence (const char *text, size_t n);

/* Copies n bytes of text for a message: control characters become '?', and a text
 * longer than the buffer is cut and ends in "...".  Returns buffer. */
char *tfx_error_quote (char *buffer, size_t size, const char *text, size_t n);

/* The same of a string, valid until the end of the enclosing block. */
#define TFX_ERROR_QUOTE(size, text)                                            \
  tfx_error_quote ((char[size]){ 0 }, size, text, strlen (text))

/* ---- the name that a misspelt one was meant to be ------------------------------- */

typedef struct TfxSuggestion
{
  const char *word; /* the misspelt one; the rest is 0 at first */
  const char *best; /* the nearest candidate so far, NULL if none is near */
  unsigned distance;
  const char *second; /* the next nearest, or NULL */
  unsigned second_distance;
} TfxSuggestion;

/* Looks at one candidate; the pointer is kept. */
void tfx_suggestion_try (TfxSuggestion *suggestion, const char *candidate);

/* Takes a candidate that ends in the word, as ParametricEQ in EQ, if none is near. */
void tfx_suggestion_try_end (TfxSuggestion *suggestion, const char *candidate);

#endif /* TFX_LANG_ERROR_H */
