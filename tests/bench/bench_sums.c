/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_sums.c: filters side by side whose outputs are added up, every kernel beside a
 * plain C loop and scipy.signal.sosfilt of each. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "scipy.h"
#include "sum_loops.h"

#define N_FRAMES 1024
#define MAX_SECTIONS 16

static const struct
{
  const char *name;
  unsigned n_branches;
  TfxDesign designs
      [2]; /* of a bank its first one, an octave or less below the next */
} cases[] = {
  { "a bank of ten band-passes", 10,
      { { TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_PASS, 1, 40, 50, 0, 0 } } },
  { "a crossover of order 4", 2,
      { { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 4, 400, 0, 0, 0 },
          { TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS, 4, 400, 0, 0, 0 } } },
};

typedef struct Sums
{
  Bench *bench;
  Process *scipy; /* NULL: absent */
} Sums;

/* All sections, branch after branch, as many of each. */
static size_t
make_sections (unsigned i, TfxSos *sos)
{
  size_t n = 0;

  for (unsigned k = 0; k < cases[i].n_branches; k++) {
    TfxDesign d = cases[i].designs[cases[i].n_branches > 2 ? 0 : k];
    int made;

    if (cases[i].n_branches > 2) {
      d.lower_hz *= pow (1.9, k);
      d.upper_hz *= pow (1.9, k);
    }
    made = tfx_design_sections (&d, CASCADES_RATE, sos + n);
    n += made > 0 ? (size_t)made : 0;
  }
  return n;
}

static TfxChain *
make_chain (const SumLoops *sum)
{
  TfxChain *branches[MAX_SECTIONS], *chain;
  TfxStage *stage;

  for (size_t k = 0; k < sum->n_branches; k++) {
    stage = tfx_stage_new_sections (tfx_stage_new_id (),
        sum->sos + k * sum->n_each, sum->n_each);
    branches[k] = tfx_chain_append (NULL, stage);
    tfx_stage_unref (&stage);
  }
  stage = tfx_stage_new_sum (tfx_stage_new_id (), branches, sum->n_branches);
  chain = tfx_chain_append (NULL, stage);
  tfx_stage_unref (&stage);
  for (size_t k = 0; k < sum->n_branches; k++)
    tfx_chain_unref (&branches[k]);
  return chain;
}

/* ---- the plain loop ------------------------------------------------------------ */

static void
plain_free (void *data)
{
  SumLoops *s = data;

  free (s->in.data);
  free (s->out.data);
  free (s->state);
  free (s->row);
  free (s);
}

static bool
plain_run (void *data, unsigned n_blocks, BenchTime *time)
{
  SumLoops *s = data;
  BenchTime start = bench_time_now ();

  for (unsigned i = 0; i < n_blocks; i++)
    s->run (s);
  *time = bench_time_since (start);
  return true;
}

/* The fastest of its orders. */
static void
choose_order (SumLoops *s)
{
  double least = HUGE_VAL;
  SumLoop best = NULL;

  for (unsigned i = 0; i < SUM_LOOPS_ORDERS; i++) {
    BenchTime time;

    s->run = sum_loops[s->in.type][i];
    for (unsigned turn = 0; turn < 5; turn++) {
      plain_run (s, 100, &time);
      if (time.cpu_ns < least) {
        least = time.cpu_ns;
        best = s->run;
      }
    }
  }
  s->run = best;
}

/* A copy of the sum with blocks of the case; NULL, if memory is short. */
static SumLoops *
plain_new (const SumLoops *sum, const CoreCase *c)
{
  SumLoops *s = calloc (1, sizeof *s);

  if (!s)
    return NULL;
  *s = *sum;
  s->state = calloc (c->n_channels, 2 * c->n_sos * sizeof *s->state);
  s->row = calloc (2, (c->n_frames + c->n_channels) * sizeof *s->row);
  if (!s->state || !s->row || !core_new_block (c, true, &s->in) ||
      !core_new_block (c, false, &s->out)) {
    plain_free (s);
    return NULL;
  }
  return s;
}

static unsigned
add_plain (Bench *bench, const SumLoops *sum, const CoreCase *c)
{
  SumLoops *s = plain_new (sum, c);
  BenchSubject subject = {
    .name = "plain loop",
    .variant = c->kernel,
    .n_channels = c->n_channels,
    .n_frames = c->n_frames,
    .n_sections = c->n_sos,
    .units = (double)c->n_frames * c->n_channels,
    .limit = BENCH_NONE,
    .run = plain_run,
    .data = s,
    .free = plain_free,
  };

  if (!s) {
    bench_fail (bench, "no memory");
    return BENCH_NONE;
  }
  choose_order (s);
  return bench_add (bench, &subject);
}

/* ---- SciPy ---------------------------------------------------------------------- */

static void
add_scipy (const Sums *sums, const SumLoops *sum, const CoreCase *c)
{
  CoreCase f32 = *c;
  BenchSubject subject;
  SumLoops *s;

  f32.type = TFX_SAMPLE_F32;
  s = plain_new (sum, &f32);
  if (!s)
    return;
  sum_loops[TFX_SAMPLE_F32][0](s);
  if (scipy_init_subject (sums->scipy, &subject, c->sos, c->n_sos,
          sum->n_branches, c->n_channels, c->n_frames,
          c->type == TFX_SAMPLE_F32, s->out.data))
    bench_add (sums->bench, &subject);
  else
    bench_fail (sums->bench, "SciPy cannot be compared");
  plain_free (s);
}

/* ---- groups ---------------------------------------------------------------------- */

static void
measure (const Sums *sums, unsigned i, unsigned n_channels, TfxSample type)
{
  TfxSos sos[MAX_SECTIONS];
  const size_t n_sos = make_sections (i, sos);
  const SumLoops sum = { .sos = sos,
    .n_branches = cases[i].n_branches,
    .n_each = n_sos / cases[i].n_branches };
  CoreCase c = { .kernel = "",
    .type = type,
    .n_channels = n_channels,
    .n_frames = N_FRAMES,
    .sos = sos,
    .n_sos = n_sos };
  const char *kernel;

  if (!bench_begin_group (sums->bench, "%s, %u channels, %s", cases[i].name,
          n_channels, type == TFX_SAMPLE_F32 ? "F32" : "F64"))
    return;
  bench_set_reference (sums->bench, add_plain (sums->bench, &sum, &c));
  if (sums->scipy)
    add_scipy (sums, &sum, &c);
  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    c.kernel = kernel;
    chains_add (sums->bench, &c, "sum", make_chain (&sum), BENCH_NONE, 0.0);
  }
  bench_measure (sums->bench);
}

int
main (int argc, char **argv)
{
  static const unsigned channels[] = { 1, 2, 8 };
  Sums sums = { bench_open (argc, argv, "sums"), NULL };
  char why[256];
  int code;

  sums.scipy = scipy_open (why, sizeof why);
  printf ("SciPy: %s\n", why);
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (size_t k = 0; k < sizeof channels / sizeof *channels; k++) {
      for (int type = 0; type < 2; type++)
        measure (&sums, i, channels[k], (TfxSample)type);
    }
  }
  code = bench_close (&sums.bench);
  process_close (&sums.scipy);
  return code;
}
