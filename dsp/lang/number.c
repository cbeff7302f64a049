/* SPDX-License-Identifier: LGPL-2.1-or-later
 * number.c: decimal text to double and back, whatever the locale.
 *
 * A program that calls setlocale() may have a comma as decimal point; the C
 * library's conversions are right to the last bit, so they are used, with the
 * thread's own locale set to "C" meanwhile. */
#include "number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
tfx_number_parse (const char *text, double *number)
{
  locale_t c = newlocale (LC_ALL_MASK, "C", (locale_t)0), previous;
  char *end;

  if (c == (locale_t)0)
    return false;
  previous = uselocale (c);
  *number = strtod (text, &end);
  uselocale (previous);
  freelocale (c);
  return *end == '\0' && end != text && isfinite (*number);
}

/* The digits of |number| without the point and without zeros behind, and the
 * decimal exponent of the first one. */
static int
find_digits (double number, char digits[20])
{
  char text[32];
  size_t n = 0;

  /* 15 digits survive the way through a double, fewer through a denormal one; 17
   * always tell one apart. */
  for (int precision = fabs (number) < DBL_MIN ? 1 : 15; precision <= 17;
       precision++) {
    snprintf (text, sizeof text, "%.*e", precision - 1, fabs (number));
    if (strtod (text, NULL) == fabs (number))
      break;
  }
  for (const char *p = text; *p != 'e'; p++) {
    if (*p >= '0' && *p <= '9')
      digits[n++] = *p;
  }
  while (n > 1 && digits[n - 1] == '0')
    n--;
  digits[n] = '\0';
  return atoi (strchr (text, 'e') + 1);
}

char *
tfx_number_print (double number, char text[TFX_NUMBER_SIZE])
{
  locale_t c = newlocale (LC_ALL_MASK, "C", (locale_t)0), previous;
  char digits[20];
  int exponent, n;
  const char *sign = signbit (number) ? "-" : "";

  /* Without memory for a locale the digits come out all the same: they are
   * picked one by one. */
  previous = c != (locale_t)0 ? uselocale (c) : (locale_t)0;
  exponent = find_digits (number, digits);
  if (c != (locale_t)0) {
    uselocale (previous);
    freelocale (c);
  }

  n = (int)strlen (digits);
  if (exponent < -5 || exponent > 15)
    snprintf (text, TFX_NUMBER_SIZE, "%s%c%s%se%d", sign, digits[0],
        n > 1 ? "." : "", digits + 1, exponent);
  else if (exponent < 0)
    snprintf (text, TFX_NUMBER_SIZE, "%s0.%.*s%s", sign, -exponent - 1, "00000",
        digits);
  else if (n <= exponent + 1)
    snprintf (text, TFX_NUMBER_SIZE, "%s%s%.*s", sign, digits, exponent + 1 - n,
        "000000000000000");
  else
    snprintf (text, TFX_NUMBER_SIZE, "%s%.*s.%s", sign, exponent + 1, digits,
        digits + exponent + 1);
  return text;
}
