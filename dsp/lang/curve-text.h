/* SPDX-License-Identifier: LGPL-2.1-or-later
 * curve-text.h: drawn curves as text. */
#ifndef TFX_LANG_CURVE_TEXT_H
#define TFX_LANG_CURVE_TEXT_H

#include "expr.h"

#define TFX_CURVE_MIN_DB -300.0
#define TFX_CURVE_MAX_DB 120.0

/* Whether a point, Hz and dB, is valid after the previous one, which is stored before
 * it.  If not, fault continues a sentence that begins with the point. */
bool tfx_curve_text_check (const double *point, bool has_previous,
    char fault[TFX_FILE_WHY_SIZE]);

/* Reads a text of rows of numbers, or Equalizer APO's GraphicEQ line.  Sets
 * *points[*n] to Hz and dB in turn, valid and from malloc().  0, or a negative errno
 * value with the line and the reason. */
int tfx_curve_text_read (const char *text, double **points, size_t *n,
    char why[TFX_FILE_WHY_SIZE]);

#endif /* TFX_LANG_CURVE_TEXT_H */
