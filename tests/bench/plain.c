/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain.c: the choice of a plain loop, and what it works on. */
#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plain-private.h"

/* Each order is tried so often, and so long at the least. */
#define TRIES 5
#define TRY_NS 50e3

typedef void (*Run) (Plain *);

typedef struct Subject
{
  Plain plain;
  TfxBlock in, out;
  Run run;
} Subject;

static const PlainLoops *
loops_for (const char *kernel)
{
#if defined(__x86_64__)
  if (strcmp (kernel, "avx512") == 0)
    return &plain_loops_avx512;
  if (strcmp (kernel, "avx2") == 0)
    return &plain_loops_avx2;
#endif
  return &plain_loops_base;
}

static void
subject_free (void *data)
{
  Subject *s = data;

  if (!s)
    return;
  free (s->in.data);
  free (s->out.data);
  free (s->plain.state);
  free (s->plain.row);
  free (s);
}

static bool
subject_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Subject *s = data;
  BenchTime start = bench_time_now ();

  for (unsigned i = 0; i < n_blocks; i++)
    s->run (&s->plain);
  *time = bench_time_since (start);
  return true;
}

static void
clear_state (Subject *s)
{
  memset (s->plain.state, 0,
      2 * s->plain.n_sos * s->plain.n_channels * sizeof *s->plain.state);
}

/* Whether its first block is the core's. */
static bool
is_right (Subject *s, const CoreCase *c)
{
  float *expected = malloc (c->n_frames * c->n_channels * sizeof *expected);
  bool ok = expected && core_filter_noise (c, expected);
  double error = 0.0, power = 0.0;

  clear_state (s);
  s->run (&s->plain);
  clear_state (s);
  for (size_t i = 0; ok && i < c->n_frames; i++) {
    for (unsigned k = 0; k < c->n_channels; k++) {
      const double y = expected[i * c->n_channels + k];
      const double d = core_get_sample (&s->out, i, k) - y;

      error += d * d;
      power += y * y;
    }
  }
  free (expected);
  return ok && error <= 1e-12 * power;
}

static double
time_order (Subject *s)
{
  double least = HUGE_VAL;
  unsigned n = 1;
  BenchTime time;

  for (;; n *= 2) {
    subject_run (s, n, &time);
    if (time.cpu_ns > TRY_NS)
      break;
  }
  for (unsigned i = 0; i < TRIES; i++) {
    subject_run (s, n, &time);
    least = fmin (least, time.cpu_ns / n);
  }
  return least;
}

static void
choose_order (Subject *s, const Run *runs)
{
  double least = HUGE_VAL;
  Run best = runs[0];

  for (unsigned i = 0; i < PLAIN_ORDERS; i++) {
    double ns;

    s->run = runs[i];
    ns = time_order (s);
    if (ns < least) {
      least = ns;
      best = runs[i];
    }
  }
  s->run = best;
}

bool
plain_init_subject (BenchSubject *subject, const CoreCase *c)
{
  const size_t n_row =
      c->n_frames > c->n_channels ? c->n_frames : c->n_channels;
  Subject *s = calloc (1, sizeof *s);
  Plain *p;

  if (!s)
    return false;
  p = &s->plain;
  p->state = calloc (c->n_channels, 2 * c->n_sos * sizeof *p->state);
  p->row = calloc (n_row, sizeof *p->row);
  if (!p->state || !p->row || !core_new_block (c, true, &s->in) ||
      !core_new_block (c, false, &s->out)) {
    subject_free (s);
    return false;
  }
  p->in = s->in.data;
  p->out = s->out.data;
  p->frame_stride = s->in.frame_stride;
  p->channel_stride = s->in.channel_stride;
  p->n_frames = c->n_frames;
  p->n_channels = c->n_channels;
  p->sos = c->sos;
  p->n_sos = c->n_sos;
  choose_order (s, loops_for (c->kernel)->run[c->type]);
  if (!is_right (s, c)) {
    subject_free (s);
    return false;
  }
  *subject = (BenchSubject){
    .name = "plain loop",
    .variant = c->kernel,
    .n_channels = c->n_channels,
    .n_frames = c->n_frames,
    .n_sections = c->n_sos,
    .units = (double)c->n_frames * c->n_channels,
    .limit = BENCH_NONE,
    .run = subject_run,
    .data = s,
    .free = subject_free,
  };
  return true;
}
