/* SPDX-License-Identifier: LGPL-2.1-or-later
 * changes.c: what it takes to change a long FIR while samples flow.
 *
 * The same change several times; each block counts with the shortest of its
 * times, so that what other programs take does not count. */
#include "changes.h"

#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "tfx.h"

#define N_PASSES 8

typedef struct Changes
{
  TfxFilterSpec spec;
  const TfxBackend *backend;
  double *taps; /* [2][n_taps] */
  size_t n_taps, n_blocks;
  float *samples[2];
  double *blocks; /* [n_blocks], ns */
} Changes;

/* A chain of one FIR, with taps number `which`; made ready if it is the
 * second. */
static TfxChain *
chain_new (const Changes *c, unsigned which)
{
  const double *kernels[1] = { c->taps + which * c->n_taps };
  TfxStage *stage = tfx_stage_new_fir (1, kernels, 1, c->n_taps, TFX_FIR_AUTO);
  TfxChain *chain = NULL;

  if (stage && (which == 0 || tfx_stage_prepare (stage, &c->spec) == 0))
    chain = tfx_chain_append (NULL, stage);
  tfx_stage_unref (&stage);
  return chain;
}

static double
run (const Changes *c, TfxPlan *plan)
{
  const unsigned n = c->spec.n_channels;
  const TfxBlock in = tfx_block_interleaved (c->samples[0], TFX_SAMPLE_F32, n,
      c->spec.block_frames);
  const TfxBlock out = tfx_block_interleaved (c->samples[1], TFX_SAMPLE_F32, n,
      c->spec.block_frames);
  const BenchTime start = bench_time_now ();

  tfx_plan_run (plan, &in, &out);
  return bench_time_since (start).elapsed_ns;
}

/* One change; false if memory is short. */
static bool
change (const Changes *c, ChangeTimes *times)
{
  BenchTime start = bench_time_now ();
  TfxChain *to = chain_new (c, 1), *from;
  TfxFilter *filter = NULL;
  TfxPlan *plan = NULL;
  double sum = 0.0;
  bool ok;

  times->prepare = fmin (times->prepare, bench_time_since (start).elapsed_ns);
  from = chain_new (c, 0);
  ok = from && to && tfx_filter_new (from, &c->spec, &filter) == 0;
  if (ok)
    tfx_filter_lock (filter);
  ok = ok && tfx_plan_new (&filter, 1, c->backend, &plan) == 0;
  for (size_t i = 0; ok && i < c->n_blocks; i++)
    sum += run (c, plan);
  times->mean = fmin (times->mean, sum / (double)c->n_blocks);
  start = bench_time_now ();
  ok = ok && tfx_filter_set_chain (filter, to) == 0;
  times->set = fmin (times->set, bench_time_since (start).elapsed_ns);
  times->n_blocks = 0;
  while (
      ok && times->n_blocks < c->n_blocks && tfx_filter_is_changing (filter)) {
    double *block = &c->blocks[times->n_blocks++];
    *block = fmin (*block, run (c, plan));
  }
  tfx_plan_free (&plan);
  if (filter)
    tfx_filter_unlock (filter);
  tfx_filter_unref (&filter);
  tfx_chain_unref (&from);
  tfx_chain_unref (&to);
  return ok;
}

static bool
changes_init (Changes *c, const char *kernel, size_t n_taps,
    unsigned n_channels, size_t n_frames)
{
  float *noise = malloc (2 * n_taps * sizeof *noise);

  *c = (Changes){ .spec = { .rate_hz = 48000.0,
                      .n_channels = n_channels,
                      .sample = TFX_SAMPLE_F32,
                      .block_frames = n_frames },
    .backend = tfx_cpu_backend_for (kernel),
    .n_taps = n_taps,
    .n_blocks = n_taps / n_frames + 64 };
  c->taps = malloc (2 * n_taps * sizeof *c->taps);
  c->blocks = malloc (c->n_blocks * sizeof *c->blocks);
  for (int i = 0; i < 2; i++)
    c->samples[i] = calloc (n_frames * n_channels, sizeof (float));
  if (!noise || !c->taps || !c->blocks || !c->samples[0] || !c->samples[1]) {
    free (noise);
    return false;
  }
  bench_fill_noise (noise, 2 * n_taps);
  for (size_t i = 0; i < 2 * n_taps; i++)
    c->taps[i] = noise[i];
  bench_fill_noise (c->samples[0], n_frames * n_channels);
  for (size_t i = 0; i < c->n_blocks; i++)
    c->blocks[i] = INFINITY;
  free (noise);
  return true;
}

bool
changes_measure (const char *kernel, size_t n_taps, unsigned n_channels,
    size_t n_frames, ChangeTimes *times)
{
  Changes c;
  bool ok = changes_init (&c, kernel, n_taps, n_channels, n_frames);

  *times =
      (ChangeTimes){ .mean = INFINITY, .set = INFINITY, .prepare = INFINITY };
  for (int pass = 0; ok && pass < N_PASSES; pass++)
    ok = change (&c, times);
  for (size_t i = 0; ok && i < times->n_blocks; i++)
    times->worst = fmax (times->worst, c.blocks[i]);
  free (c.taps);
  free (c.blocks);
  free (c.samples[0]);
  free (c.samples[1]);
  return ok;
}
