/* SPDX-License-Identifier: LGPL-2.1-or-later
 * note.c: note values, such as a dotted eighth. */
#include "note.h"

/* One to three digits, not 0; NULL if there are none. */
static const char *
read_count (const char *text, unsigned *count)
{
  unsigned n = 0;

  *count = 0;
  for (; text[n] >= '0' && text[n] <= '9'; n++) {
    if (n == 3)
      return NULL;
    *count = 10 * *count + (unsigned)(text[n] - '0');
  }
  return *count > 0 ? text + n : NULL;
}

bool
tfx_note_parse (const char *text, double *fraction)
{
  unsigned numerator, denominator;

  text = read_count (text, &numerator);
  if (!text || *text != '/')
    return false;
  text = read_count (text + 1, &denominator);
  if (!text)
    return false;
  *fraction = (double)numerator / denominator;
  if (*text == 'd') {
    *fraction *= 1.5;
    text++;
  } else if (*text == 't') {
    *fraction *= 2.0 / 3.0;
    text++;
  }
  return *text == '\0';
}

double
tfx_note_seconds (double fraction, double beats_per_minute)
{
  return fraction * 4.0 * 60.0 / beats_per_minute;
}
