/* SPDX-License-Identifier: LGPL-2.1-or-later
 * classcalls.h: calls of all classes, and where their numbers go.
 */
#ifndef TEST_CLASSCALLS_H
#define TEST_CLASSCALLS_H

#include "lang/expr.h"

/* Each class of the catalogue in at least one call, up to a NULL: all numbers of it
 * matter to a sine of 440 Hz and -6 dB.  One names a file. */
#define CLASS_CALLS_FILE "tfx-test-class.txt"
extern const char *const class_calls[];

/* Numbers that do not move: the stream's own; which channel of a file is read;
 * and how far a stage looks ahead, which stays while a stream runs. */
bool class_number_is_fixed (const TfxParam *param);

/* Values that a number goes to, one after the other, up to a 0 that is not the
 * first; NULL if it is not listed. */
#define CLASS_CALLS_VALUES 3
const double *class_number_way (const TfxClass *klass, const TfxParam *param);

#endif
