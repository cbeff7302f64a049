/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tap.h: a harness for plain C tests that speak the Test Anything Protocol.
 *
 *   static void
 *   test_sum (void)
 *   {
 *     tap_check (1 + 1 == 2, "one and one are two");
 *   }
 *
 *   static const TapTest tests[] = { { "sum", test_sum }, { NULL, NULL } };
 *
 *   int
 *   main (int argc, char **argv)
 *   {
 *     return tap_main (argc, argv, tests);
 *   }
 *
 * Arguments name the tests to run, as shell patterns; none means all, --list
 * shows the names.  The plan line comes last.  The program's exit status is 0
 * if every check passed and no test ended without a check, 1 otherwise.
 *
 * TFX_TEST_SEED seeds the random numbers: a number, or "random".  The seed is
 * printed.  Each test starts from it anew, so that a test alone sees the same
 * numbers as in the whole program.
 */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct TapTest
{
  const char *name; /* NULL ends the list */
  void (*run) (void);
} TapTest;

/* Runs the tests that the arguments name; the exit status for main(). */
int tap_main (int argc, char **argv, const TapTest *tests);

/* One check, one line "ok" or "not ok".  Returns its argument. */
bool tap_check (bool passed, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* A check that cannot be made here, and why. */
void tap_skip (const char *reason, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Text for the reader; each line gets its "# ". */
void tap_diag (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* A check over many cases: counts the failures, shows the first few, and ends
 * in one line.
 *
 *   TapMany many = tap_many ("gain");
 *   for (...)
 *     tap_many_check (&many, good, "%s: gain is %g", name, gain);
 *   tap_many_end (&many);
 *
 * An end without a single case is a failure. */
typedef struct TapMany
{
  const char *name;
  unsigned long n_cases, n_failed;
} TapMany;

TapMany tap_many (const char *name);
bool tap_many_check (TapMany *many, bool passed, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));
bool tap_many_end (TapMany *many);

/* Random numbers: xoshiro256**, seeded as said above. */
uint64_t tap_random (void);
/* 0 to n - 1; n > 0 */
unsigned tap_random_below (unsigned n);
/* low to high, uniform */
double tap_random_uniform (double low, double high);

/* The path of a file that a test reads; where TFX_TEST_DATA names a folder, of
 * the file of that name in it.  Valid until the next call. */
const char *tap_data (const char *path);

#endif /* TAP_H */
