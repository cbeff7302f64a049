/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tap.c: the test harness of tap.h.
 */
#include "tap.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_SEED 1
/* Failures of one TapMany that are shown. */
#define MAX_SHOWN 10

static unsigned n_checks, n_failed;
static const char *current_test = "";
static uint64_t random_state[4];

/* splitmix64, by which xoshiro's authors advise to seed it. */
static void
tap_seed (uint64_t seed)
{
  for (unsigned i = 0; i < 4; i++) {
    uint64_t z = (seed += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    random_state[i] = z ^ (z >> 31);
  }
}

static uint64_t
rotate_left (uint64_t x, unsigned n)
{
  return (x << n) | (x >> (64 - n));
}

/* Blackman and Vigna, "Scrambled linear pseudorandom number generators". */
uint64_t
tap_random (void)
{
  uint64_t *s = random_state;
  uint64_t result = rotate_left (s[1] * 5, 7) * 9;
  uint64_t t = s[1] << 17;

  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate_left (s[3], 45);
  return result;
}

unsigned
tap_random_below (unsigned n)
{
  return (unsigned)(((tap_random () >> 32) * n) >> 32);
}

double
tap_random_uniform (double low, double high)
{
  return low + (high - low) * ((double)(tap_random () >> 11) * 0x1p-53);
}

static void
print_comment (const char *format, va_list args)
{
  char text[2048];

  vsnprintf (text, sizeof text, format, args);
  for (char *line = text; line;) {
    char *end = strchr (line, '\n');
    if (end)
      *end++ = '\0';
    printf ("# %s\n", line);
    line = end;
  }
  fflush (stdout);
}

void
tap_diag (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  print_comment (format, args);
  va_end (args);
}

static void
print_result (bool passed, const char *format, va_list args)
{
  n_checks++;
  if (!passed)
    n_failed++;
  printf ("%s %u - %s: ", passed ? "ok" : "not ok", n_checks, current_test);
  vprintf (format, args);
}

bool
tap_check (bool passed, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  print_result (passed, format, args);
  va_end (args);
  putchar ('\n');
  fflush (stdout);
  return passed;
}

void
tap_skip (const char *reason, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  print_result (true, format, args);
  va_end (args);
  printf (" # SKIP %s\n", reason);
  fflush (stdout);
}

TapMany
tap_many (const char *name)
{
  return (TapMany){ .name = name };
}

bool
tap_many_check (TapMany *many, bool passed, const char *format, ...)
{
  many->n_cases++;
  if (passed)
    return true;
  if (many->n_failed++ < MAX_SHOWN) {
    va_list args;

    va_start (args, format);
    print_comment (format, args);
    va_end (args);
  }
  return false;
}

bool
tap_many_end (TapMany *many)
{
  if (many->n_cases == 0)
    return tap_check (false, "%s: no case was tried", many->name);
  if (many->n_failed)
    return tap_check (false, "%s: %lu of %lu cases fail", many->name,
        many->n_failed, many->n_cases);
  return tap_check (true, "%s (%lu cases)", many->name, many->n_cases);
}

static uint64_t
choose_seed (void)
{
  const char *text = getenv ("TFX_TEST_SEED");

  if (!text || !*text)
    return DEFAULT_SEED;
  if (!strcmp (text, "random"))
    return (uint64_t)time (NULL) * 1000003u ^ (uint64_t)getpid ();
  return strtoull (text, NULL, 0);
}

static bool
is_wanted (const char *name, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (!fnmatch (argv[i], name, 0))
      return true;
  return argc < 2;
}

static double
seconds_now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int
tap_main (int argc, char **argv, const TapTest *tests)
{
  uint64_t seed = choose_seed ();
  unsigned n_run = 0;

  if (argc == 2 && !strcmp (argv[1], "--list")) {
    for (const TapTest *t = tests; t->name; t++)
      puts (t->name);
    return 0;
  }
  tap_diag ("TFX_TEST_SEED=%llu", (unsigned long long)seed);
  for (const TapTest *t = tests; t->name; t++) {
    unsigned before = n_checks;
    double start = seconds_now ();

    if (!is_wanted (t->name, argc, argv))
      continue;
    current_test = t->name;
    tap_seed (seed);
    t->run ();
    if (n_checks == before)
      tap_check (false, "made no check");
    tap_diag ("%s: %.1f s", t->name, seconds_now () - start);
    n_run++;
  }
  current_test = "";
  if (!n_run)
    tap_check (false, "no test has such a name; see --list");
  printf ("1..%u\n", n_checks);
  if (n_failed)
    tap_diag ("%u of %u checks failed", n_failed, n_checks);
  return n_failed != 0;
}

const char *
tap_data (const char *path)
{
  static char moved[4096];
  const char *folder = getenv ("TFX_TEST_DATA"), *name = strrchr (path, '/');

  if (!folder || !*folder || !name)
    return path;
  snprintf (moved, sizeof moved, "%s%s", folder, name);
  return moved;
}
