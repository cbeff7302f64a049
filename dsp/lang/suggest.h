/* SPDX-License-Identifier: LGPL-2.1-or-later
 * suggest.h: the name that a misspelt one was meant to be. */
#ifndef TFX_LANG_SUGGEST_H
#define TFX_LANG_SUGGEST_H

#include <stddef.h>

typedef struct TfxSuggestion
{
  const char *word; /* what was written: word[length] */
  size_t length;
  const char *best; /* the nearest candidate so far, NULL if none is near */
  unsigned distance;
  const char *second; /* the one that comes next, or NULL */
  unsigned second_distance;
} TfxSuggestion;

void tfx_suggestion_init (TfxSuggestion *suggestion, const char *word,
    size_t length);

/* Looks at one candidate; the pointer is kept. */
void tfx_suggestion_try (TfxSuggestion *suggestion, const char *candidate);

/* The same where none is near: one that ends in the word, as ParametricEQ does in
 * EQ. */
void tfx_suggestion_try_end (TfxSuggestion *suggestion, const char *candidate);

#endif /* TFX_LANG_SUGGEST_H */
