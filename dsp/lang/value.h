/* SPDX-License-Identifier: LGPL-2.1-or-later
 * value.h: values of parameters, each with its own list and text; numbers and notes
 * as text. */
#ifndef TFX_LANG_VALUE_H
#define TFX_LANG_VALUE_H

#include "expr.h"

/* ---- values -------------------------------------------------------------------- */

TfxValue tfx_value_number (double number);

/* The word of a value of that type, cut to its size, so that a longer one is unknown
 * to every parameter. */
void tfx_value_set_word (TfxValue *value, const char *word);

/* Frees what it owns; the value is None then. */
void tfx_value_clear (TfxValue *value);

/* Makes to, which owns nothing, a copy.  0 or -ENOMEM. */
int tfx_value_copy (TfxValue *to, const TfxValue *from);

/* Makes the value one that the parameter takes: an alias becomes its word, and None
 * the default where this is allowed.  thing is the parameter's owner in messages
 * ("HiButterworth").  0, -EINVAL, -ERANGE. */
int tfx_value_fit (TfxValue *value, const TfxParam *param, const char *thing,
    TfxExprError *error);

/* ---- numbers: decimal text, whatever the locale ---------------------------------- */

#define TFX_NUMBER_SIZE 40

/* The double nearest to a decimal number of C (digits, '.', exponent), if text is one
 * and nothing else.  False if it is not finite or memory is short. */
bool tfx_number_parse (const char *text, double *number);

/* Writes a finite number with the fewest digits that read back as the same double:
 * "1000", "0.1", "-2.5e-07".  Returns text. */
char *tfx_number_print (double number, char text[TFX_NUMBER_SIZE]);

/* The same, valid until the end of the enclosing block. */
#define TFX_NUMBER_TEXT(number)                                                \
  tfx_number_print (number, (char[TFX_NUMBER_SIZE]){ 0 })

/* ---- note values -------------------------------------------------------------------- */

/* Reads "n/d", "n/dd" (dotted: half as long again) or "n/dt" (triplet: three
 * in the time of two), n and d from 1 to 999, as a fraction of a whole note. */
bool tfx_note_parse (const char *text, double *fraction);

#endif /* TFX_LANG_VALUE_H */
