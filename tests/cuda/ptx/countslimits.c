/* SPDX-License-Identifier: LGPL-2.1-or-later
 * countslimits.c: the highest cost of a sample, independent of the cost model. */
#include "chains.h"
#include "counts.h"
#include "tap.h"

#include <string.h>

/* Nought: no limit. */
typedef struct Limit
{
  const char *name; /* of the case, as counts.c has it */
  int is_twofold;
  double instructions;  /* of threads */
  double read, written; /* bytes, whole sectors */
  double passes;        /* over shared memory, times the fewest */
} Limit;

static const Limit limits[] = {
  /* Samples twice; in double also the table of step 1, which a cache has that is
   * nearer than what is counted. */
  { "api, 8 ch interleaved", 0, 75, 16, 4.4, 1.3 },
  { "api, 8 ch interleaved", 1, 700, 8.6, 4.4, 1.3 },
  { "api, 8 ch planar", 0, 75, 16, 4.4, 1.3 },
  { "api, 8 ch planar", 1, 700, 8.6, 4.4, 1.3 },
  { "FIR 101 taps, direct", 0, 0, 4.8, 4.4, 1.3 },
  { "FIR 101 taps, direct", 1, 0, 4.8, 4.4, 1.3 },
  { "FIR 4096 taps, FFT", 0, 0, 0, 0, 1.3 },
  { "FIR 4096 taps, FFT", 1, 0, 0, 0, 1.3 },
  { "FIR 65536 taps, FFT", 0, 0, 0, 0, 1.3 },
  { "FIR 65536 taps, FFT", 1, 0, 0, 0, 1.3 },
};

static bool was_checked[N_OF (limits)];

static void
check_number (const Limit *l, const char *what, double counted, double most)
{
  if (most > 0)
    tap_check (counted > 0 && counted <= most,
        "%s, %s: %.2f %s a sample, at most %.1f", l->name,
        l->is_twofold ? "twofold" : "double", counted, what, most);
}

void
counts_check_limits (const char *name, int is_twofold, const Counts *k)
{
  for (unsigned i = 0; i < N_OF (limits); i++) {
    const Limit *l = &limits[i];

    if (strcmp (name, l->name) != 0 || is_twofold != l->is_twofold)
      continue;
    check_number (l, "instructions", counts_total (k), l->instructions);
    check_number (l, "bytes read", k->read, l->read);
    check_number (l, "bytes written", k->written, l->written);
    check_number (l, "times the fewest passes", k->passes / k->ideal,
        l->passes);
    was_checked[i] = true;
  }
}

void
counts_check_all_limits (void)
{
  for (unsigned i = 0; i < N_OF (limits); i++)
    tap_check (was_checked[i], "%s, %s is counted", limits[i].name,
        limits[i].is_twofold ? "twofold" : "double");
}
