/* SPDX-License-Identifier: LGPL-2.1-or-later
 * scipy.c: starts scipy_peer.py and talks with it. */
#include "scipy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two float32 outputs of the same double sections: rounding, and what is left
 * of it after the cascade. */
#define TOLERANCE_DB -130.0

typedef struct Subject
{
  Process *peer;
  unsigned id;
  char variant[64];
} Subject;

/* Those that may have SciPy; Debian's package is for the first one. */
static const char *const pythons[] = { "/usr/bin/python3", "python3" };

Process *
scipy_open (char *why, size_t why_size)
{
  for (size_t i = 0; i < sizeof pythons / sizeof pythons[0]; i++) {
    const char *const argv[] = { pythons[i], SCIPY_PEER, NULL };
    Process *peer = process_open (argv);

    if (peer && process_read (peer, why, why_size))
      return peer;
    process_close (&peer);
  }
  snprintf (why, why_size,
      "no python3 that can import scipy "
      "(Debian package python3-scipy)");
  return NULL;
}

static bool
subject_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Subject *s = data;

  return process_ask (s->peer, &time->cpu_ns, &time->elapsed_ns, "run %u %u\n",
      s->id, n_blocks);
}

static void
subject_free (void *data)
{
  Subject *s = data;

  fprintf (s->peer->to, "drop %u\n", s->id);
  fflush (s->peer->to);
  free (s);
}

/* Sends the sections and the noise; learns the layout. */
static bool
set_up (Subject *subject, const TfxSos *sos, size_t n_sos, size_t n_branches,
    unsigned n_channels, size_t n_frames, bool convert)
{
  Process *s = subject->peer;
  size_t n = n_frames * n_channels;
  float *noise = malloc (n * sizeof *noise);
  char answer[128], layout[48];
  bool ok;

  if (!noise)
    return false;
  bench_fill_noise (noise, n);
  fprintf (s->to, "setup %s %zu %zu %u %zu\n", convert ? "f32" : "f64", n_sos,
      n_frames, n_channels, n_branches);
  for (size_t i = 0; i < n_sos; i++) {
    const TfxSos *c = &sos[i];
    double row[6] = { c->b0, c->b1, c->b2, 1.0, c->a1, c->a2 };
    fwrite (row, sizeof row, 1, s->to);
  }
  ok = fwrite (noise, sizeof *noise, n, s->to) == n && fflush (s->to) == 0 &&
       fgets (answer, sizeof answer, s->from) &&
       sscanf (answer, "ready %u %47[^\n]", &subject->id, layout) == 2;
  free (noise);
  if (ok)
    snprintf (subject->variant, sizeof subject->variant, "%s%s", layout,
        convert ? ", F32" : ", F64");
  return ok;
}

/* The peer does the same filter, or there is nothing to compare. */
static bool
agrees (Subject *subject, const float *expected, size_t n)
{
  Process *s = subject->peer;
  float *out = malloc (n * sizeof *out);
  double error = 0.0, power = 0.0, error_db;
  char answer[128];
  size_t n_out = 0;
  bool ok;

  fprintf (s->to, "check %u\n", subject->id);
  ok = out && fflush (s->to) == 0 && fgets (answer, sizeof answer, s->from) &&
       sscanf (answer, "output %zu", &n_out) == 1 && n_out == n &&
       fread (out, sizeof *out, n, s->from) == n;
  for (size_t i = 0; ok && i < n; i++) {
    error += ((double)out[i] - expected[i]) * ((double)out[i] - expected[i]);
    power += (double)expected[i] * expected[i];
  }
  free (out);
  error_db = 10.0 * log10 (error / power + 1e-30);
  if (ok && !(error_db < TOLERANCE_DB)) {
    fprintf (stderr,
        "error: SciPy's output differs from the core's by "
        "%.1f dB\n",
        error_db);
    return false;
  }
  return ok;
}

bool
scipy_init_subject (Process *scipy, BenchSubject *subject, const TfxSos *sos,
    size_t n_sos, size_t n_branches, unsigned n_channels, size_t n_frames,
    bool convert, const float *expected)
{
  Subject *own = calloc (1, sizeof *own);

  if (!own)
    return false;
  own->peer = scipy;
  if (!set_up (own, sos, n_sos, n_branches, n_channels, n_frames, convert) ||
      !agrees (own, expected, n_frames * n_channels)) {
    fprintf (stderr, "error: the SciPy process does not answer as it should\n");
    free (own);
    return false;
  }
  *subject = (BenchSubject){
    .name = "SciPy sosfilt",
    .variant = own->variant,
    .n_channels = n_channels,
    .n_frames = n_frames,
    .n_sections = n_sos,
    .units = (double)n_frames * n_channels,
    .limit = BENCH_NONE,
    .run = subject_run,
    .data = own,
    .free = subject_free,
  };
  return true;
}
