/* SPDX-License-Identifier: LGPL-2.1-or-later
 * note.h: note values, such as a dotted eighth. */
#ifndef TFX_LANG_NOTE_H
#define TFX_LANG_NOTE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads "n/d", "n/dd" (dotted: half as long again) or "n/dt" (triplet: three
 * in the time of two), n and d from 1 to 999, as a fraction of a whole note. */
bool tfx_note_parse (const char *text, double *fraction);

/* How long that is: a beat is a quarter note. */
double tfx_note_seconds (double fraction, double beats_per_minute);

#endif /* TFX_LANG_NOTE_H */
