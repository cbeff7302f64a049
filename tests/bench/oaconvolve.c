/* SPDX-License-Identifier: LGPL-2.1-or-later
 * oaconvolve.c: starts oaconvolve_peer.py and talks with it. */
#include "oaconvolve.h"

#include <stdlib.h>

#include "process.h"

typedef struct Subject
{
  Process *process;
  char variant[64];
} Subject;

static void
subject_free (void *data)
{
  Subject *s = data;

  process_close (&s->process);
  free (s);
}

static bool
subject_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Subject *s = data;

  return process_ask (s->process, &time->cpu_ns, &time->elapsed_ns, "%u\n",
      n_blocks);
}

/* Debian's SciPy is for this Python. */
#define PYTHON "/usr/bin/python3"

static Process *
start (size_t n_taps, size_t n_samples)
{
  char taps[32], samples[32];
  const char *const argv[] = { PYTHON, OACONVOLVE_PEER, taps, samples, NULL };

  snprintf (taps, sizeof taps, "%zu", n_taps);
  snprintf (samples, sizeof samples, "%zu", n_samples);
  return process_open (argv);
}

bool
oaconvolve_init_subject (BenchSubject *subject, size_t n_taps, size_t n_samples)
{
  Subject *s = calloc (1, sizeof *s);
  char version[128];

  if (!s)
    return false;
  s->process = start (n_taps, n_samples);
  if (!s->process || !process_read (s->process, version, sizeof version)) {
    subject_free (s);
    return false;
  }
  snprintf (s->variant, sizeof s->variant, "%zu at once", n_samples);
  *subject = (BenchSubject){
    .name = "SciPy oaconvolve",
    .variant = s->variant,
    .n_channels = 1,
    .n_frames = n_samples,
    .units = (double)n_samples,
    .limit = BENCH_NONE,
    .run = subject_run,
    .data = s,
    .free = subject_free,
  };
  return true;
}
