/* SPDX-License-Identifier: LGPL-2.1-or-later
 * number.h: decimal text to double and back, whatever the locale. */
#ifndef TFX_LANG_NUMBER_H
#define TFX_LANG_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#define TFX_NUMBER_SIZE 40

/* The double nearest to a decimal number of C (digits, '.', exponent), which
 * text holds and nothing else.  False if it is not finite or memory is short. */
bool tfx_number_parse (const char *text, double *number);

/* Writes a finite number with as few digits as read back to the same double:
 * "1000", "0.1", "-2.5e-07".  Returns text. */
char *tfx_number_print (double number, char text[TFX_NUMBER_SIZE]);

/* The same, valid as long as the block around it. */
#define TFX_NUMBER_TEXT(number)                                                \
  tfx_number_print (number, (char[TFX_NUMBER_SIZE]){ 0 })

#endif /* TFX_LANG_NUMBER_H */
