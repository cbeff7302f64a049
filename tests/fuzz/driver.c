/* SPDX-License-Identifier: LGPL-2.1-or-later
 * driver.c: see driver.h. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint8_t *input;
static size_t input_size;

void
fuzz_begin (const uint8_t *data, size_t size)
{
  input = data;
  input_size = size;
}

void
fuzz_fail (const char *what, int line)
{
  printf ("not ok 1 - line %d: %s\n# the input, %zu bytes:\n", line, what,
      input_size);
  fwrite (input, 1, input_size, stdout);
  printf ("\n1..1\n");
  fflush (stdout);
  abort ();
}

char *
fuzz_make_folder (void)
{
  char *path = strdup ("/dev/shm/tfxfuzz-XXXXXX");

  if (path && mkdtemp (path))
    return path;
  free (path);
  path = strdup ("/tmp/tfxfuzz-XXXXXX");
  if (!path || !mkdtemp (path))
    fuzz_fail ("a folder", __LINE__);
  return path;
}

void
fuzz_remove_folder (const char *path)
{
  char command[64];

  snprintf (command, sizeof command, "rm -r '%s'", path);
  if (system (command) != 0)
    printf ("# %s is left\n", path);
}

#ifndef TFX_FUZZER

#include "chaingen.h"
#include "part.h"

#define MAX_INPUT 4096
#define MAX_SEEDS 256
/* An input that takes longer ends the program. */
#define TIMEOUT_S 120

typedef struct Seed
{
  char bytes[MAX_INPUT];
  size_t n;
} Seed;

static Seed seeds[MAX_SEEDS];
static unsigned n_seeds;

static void
add_seed (const char *path)
{
  FILE *file = fopen (path, "rb");
  Seed *seed = &seeds[n_seeds];

  if (!file || n_seeds == MAX_SEEDS) {
    printf ("Bail out! cannot take %s\n", path);
    exit (1);
  }
  seed->n = fread (seed->bytes, 1, MAX_INPUT, file);
  n_seeds++;
  fclose (file);
}

/* ---- mutations ------------------------------------------------------------------ */

static size_t
insert (char *text, size_t n, size_t at, const char *bytes, size_t n_bytes)
{
  if (n + n_bytes > MAX_INPUT)
    return n;
  memmove (text + at + n_bytes, text + at, n - at);
  memcpy (text + at, bytes, n_bytes);
  return n + n_bytes;
}

static size_t
mutate (const FuzzTarget *target, uint64_t *state, char *text, size_t n)
{
  size_t at = chaingen_below (state, (unsigned)n + 1);
  size_t span = 1 + chaingen_below (state, 1u << chaingen_below (state, 6));
  char byte = (char)chaingen_random (state);
  const char *token;

  if (span > n - at)
    span = n - at;
  switch (chaingen_below (state, target->is_binary ? 8 : 6)) {
    case 0: /* another byte */
      if (at < n)
        text[at] = byte;
      return n;
    case 1: /* one more */
      return insert (text, n, at, &byte, 1);
    case 2: /* a token more */
      token = target->tokens[chaingen_below (state, target->n_tokens)];
      return insert (text, n, at, token, strlen (token));
    case 3: /* a part less */
      memmove (text + at, text + at + span, n - at - span);
      return n - span;
    case 4: { /* a part twice */
      char part[64];
      memcpy (part, text + at, span);
      return insert (text, n, at, part, span);
    }
    case 6: /* a token in the place of as many bytes */
      token = target->tokens[chaingen_below (state, target->n_tokens)];
      memcpy (text + at, token, strnlen (token, n - at));
      return n;
    case 7: /* zeros, or a little more or less */
      if (byte & 1)
        memset (text + at, 0, span);
      else if (at < n)
        text[at] = (char)(text[at] + byte / 32);
      return n;
    default: { /* a part of another seed */
      const Seed *other = &seeds[chaingen_below (state, n_seeds)];
      size_t from = chaingen_below (state, (unsigned)other->n + 1);

      if (span > other->n - from)
        span = other->n - from;
      return insert (text, n, at, other->bytes + from, span);
    }
  }
}

static size_t
make_input (const FuzzTarget *target, uint64_t *state, char *text)
{
  size_t n;
  unsigned n_mutations;

  if (target->generate && (n_seeds == 0 || chaingen_below (state, 2) == 0)) {
    n = target->generate (state, text, MAX_INPUT);
  } else {
    const Seed *seed = &seeds[chaingen_below (state, n_seeds)];

    n = seed->n;
    memcpy (text, seed->bytes, n);
  }
  n_mutations =
      target->generate && chaingen_below (state, 2)
          ? 0
          : 1 + chaingen_below (state, 1u << chaingen_below (state, 5));
  for (unsigned i = 0; i < n_mutations && n_seeds > 0; i++)
    n = mutate (target, state, text, n);
  return n;
}

/* ---- the program ------------------------------------------------------------------ */

/* Memory of just that size, so that the sanitizer sees a byte too far. */
static void
run_exact (const char *bytes, size_t n)
{
  uint8_t *exact = malloc (n ? n : 1);

  if (!exact)
    exit (1);
  memcpy (exact, bytes, n);
  LLVMFuzzerTestOneInput (exact, n);
  free (exact);
}

static bool
goes_on (unsigned long i, unsigned long n_runs, time_t end)
{
  return end ? time (NULL) < end : i < n_runs;
}

int
fuzz_main (const FuzzTarget *target, int argc, char **argv)
{
  unsigned long n_runs = argc > 1 ? strtoul (argv[1], NULL, 10) : 200000, i;
  uint64_t state = argc > 2 ? strtoull (argv[2], NULL, 10) : 1;
  const char *seconds = getenv ("TFX_TEST_FUZZ_SECONDS");
  const time_t end = seconds ? time (NULL) + atol (seconds) : 0;
  char text[MAX_INPUT], line[256] = "";
  bool passed;

  if (part_is_wanted ())
    n_runs /= 4;
  state = state * 0x9e3779b97f4a7c15ull + 1;
  for (int k = 3; k < argc; k++)
    add_seed (argv[k]);
  alarm (TIMEOUT_S);
  for (unsigned k = 0; k < n_seeds; k++)
    run_exact (seeds[k].bytes, seeds[k].n);
  for (i = 0; goes_on (i, n_runs, end); i++) {
    alarm (TIMEOUT_S);
    run_exact (text, make_input (target, &state, text));
  }
  passed = target->judge (i, line, sizeof line);
  printf ("%s 1 - %lu runs: %s\n1..1\n", passed ? "ok" : "not ok", i, line);
  return passed ? 0 : 1;
}

#endif /* TFX_FUZZER */
