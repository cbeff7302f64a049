/* SPDX-License-Identifier: LGPL-2.1-or-later
 * value.h: values of parameters; each owns its list and its text. */
#ifndef TFX_LANG_VALUE_H
#define TFX_LANG_VALUE_H

#include "expr.h"

/* Frees what it owns; the value is None then. */
void tfx_value_clear (TfxValue *value);

/* to, which holds nothing, becomes a copy.  0 or -ENOMEM. */
int tfx_value_copy (TfxValue *to, const TfxValue *from);

/* Makes value one that the parameter takes: a word becomes the one that it is
 * an alias of, None the default where that is meant.  thing is what the
 * messages call the parameter's owner ("HiButterworth").  0, -EINVAL, -ERANGE. */
int tfx_value_fit (TfxValue *value, const TfxParam *param, const char *thing,
    TfxExprError *error);

/* The word of a value of that type; one that is too long is cut, which makes
 * it no word of any parameter. */
void tfx_value_set_word (TfxValue *value, const char *word);

/* A number as a value. */
TfxValue tfx_value_number (double number);

#endif /* TFX_LANG_VALUE_H */
