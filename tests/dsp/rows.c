/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rows.c: filters and rows of them, for tests. */
#include "rows.h"

#include <math.h>
#include <stdlib.h>

#include "tap.h"

#define MOST 64

TfxChain *
rows_chain (TfxStage **stages, size_t n)
{
  TfxChain *chain = tfx_chain_new ();

  for (size_t i = 0; i < n; i++) {
    TfxChain *longer = tfx_chain_append (chain, stages[i]);
    tfx_chain_unref (&chain);
    tfx_stage_unref (&stages[i]);
    chain = longer;
  }
  return chain;
}

TfxFilter *
rows_filter_of (TfxChain *chain, unsigned n_channels, TfxSample sample)
{
  const TfxFilterSpec spec = { 48000, n_channels, sample, 0 };
  TfxFilter *filter = NULL;

  if (tfx_filter_new (chain, &spec, &filter) < 0)
    abort ();
  return filter;
}

TfxFilter *
rows_filter (TfxStage **stages, size_t n, unsigned n_channels, TfxSample sample)
{
  TfxChain *chain = rows_chain (stages, n);
  TfxFilter *filter = rows_filter_of (chain, n_channels, sample);

  tfx_chain_unref (&chain);
  return filter;
}

void
rows_clear (TfxFilter **row, size_t n)
{
  for (size_t i = 0; i < n; i++)
    tfx_filter_unref (&row[i]);
}

TfxPlan *
rows_plan (TfxFilter *const *row, size_t n)
{
  TfxPlan *plan = NULL;
  int ret;

  tfx_filter_lock_all (row, n);
  ret = tfx_plan_new (row, n, tfx_cpu_backend (), &plan);
  tfx_filter_unlock_all (row, n);
  if (ret < 0)
    abort ();
  return plan;
}

TfxPlan *
rows_open (TfxStage **stages, size_t n, unsigned n_channels, TfxSample sample,
    TfxFilter **filter)
{
  TfxFilter *f = rows_filter (stages, n, n_channels, sample);
  TfxPlan *plan = rows_plan (&f, 1);

  *filter = f;
  tfx_filter_unref (&f);
  return plan;
}

void
rows_free (TfxPlan **plan)
{
  TfxFilter *held[MOST];
  const size_t n = tfx_plan_n_filters (*plan);

  for (size_t i = 0; i < n; i++)
    held[i] = tfx_filter_ref (tfx_plan_filters (*plan)[i]);
  tfx_filter_lock_all (held, n);
  tfx_plan_free (plan);
  tfx_filter_unlock_all (held, n);
  rows_clear (held, n);
}

void
rows_reset (TfxFilter *const *row, size_t n)
{
  tfx_filter_lock_all (row, n);
  for (size_t i = 0; i < n; i++)
    tfx_filter_reset (row[i]);
  tfx_filter_unlock_all (row, n);
}

int
rows_set_chain (TfxFilter *filter, TfxChain *chain)
{
  int ret;

  tfx_filter_lock (filter);
  ret = tfx_filter_set_chain (filter, chain);
  tfx_filter_unlock (filter);
  tfx_chain_unref (&chain);
  return ret;
}

int
rows_set (TfxFilter *filter, TfxStage *stage)
{
  int ret;

  tfx_filter_lock (filter);
  ret = tfx_filter_set_stage (filter, stage);
  tfx_filter_unlock (filter);
  tfx_stage_unref (&stage);
  return ret;
}

int
rows_queue (TfxFilter *filter, uint64_t frame, TfxStage *stage)
{
  int ret;

  tfx_filter_lock (filter);
  ret = tfx_filter_queue_stage (filter, frame, stage);
  tfx_filter_unlock (filter);
  tfx_stage_unref (&stage);
  return ret;
}

int
rows_run (TfxPlan *plan, double *x, unsigned n_channels, size_t n_frames)
{
  TfxFilter *const *row = tfx_plan_filters (plan);
  const size_t n = tfx_plan_n_filters (plan);
  TfxBlock block;
  int ret;

  tfx_filter_lock_all (row, n);
  block = tfx_block_interleaved (x, TFX_SAMPLE_F64, n_channels, n_frames);
  ret = tfx_plan_run (plan, &block, &block);
  tfx_filter_unlock_all (row, n);
  return ret;
}

void
rows_run_blocks (TfxPlan *plan, double *x, unsigned n_channels, size_t n_frames,
    size_t n_block)
{
  for (size_t i = 0, n; i < n_frames; i += n) {
    n = n_frames - i < n_block ? n_frames - i : n_block;
    rows_run (plan, x + i * n_channels, n_channels, n);
  }
}

TfxStage *
rows_low_pass (uint64_t id, unsigned order, double hz)
{
  const TfxDesign d = { .family = TFX_FAMILY_BUTTERWORTH,
    .mode = TFX_MODE_LOW_PASS,
    .order = order,
    .lower_hz = hz };
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const int n = tfx_design_sections (&d, 48000, sos);

  return tfx_stage_new_sections (id, sos, (size_t)n);
}

TfxStage *
rows_peaking (uint64_t id, double hz, double gain_db)
{
  const double w = 2.0 * M_PI * hz / 48000, alpha = sin (w) / 2.0;
  const double a = pow (10.0, gain_db / 40.0), d = 1.0 + alpha / a;
  const TfxSos sos = { (1.0 + alpha * a) / d, -2.0 * cos (w) / d,
    (1.0 - alpha * a) / d, -2.0 * cos (w) / d, (1.0 - alpha / a) / d };

  return tfx_stage_new_sections (id, &sos, 1);
}

TfxStage *
rows_fir (uint64_t id, const double *taps, size_t n_taps, TfxFirMethod method)
{
  return tfx_stage_new_fir (id, &taps, 1, n_taps, method);
}

TfxStage *
rows_sum (uint64_t id, TfxChain *a, TfxChain *b)
{
  TfxChain *branches[2] = { a, b };
  TfxStage *stage = tfx_stage_new_sum (id, branches, 2);

  tfx_chain_unref (&branches[0]);
  tfx_chain_unref (&branches[1]);
  return stage;
}

TfxChain *
rows_random_chain (uint64_t first, unsigned n_most, int depth,
    RowsMakeStage make)
{
  TfxChain *chain = tfx_chain_new ();

  for (unsigned i = 0; i < n_most; i++) {
    TfxStage *stage;
    TfxChain *longer;

    if (tap_random_below (3) == 0)
      continue;
    stage = make (first + i, depth);
    longer = tfx_chain_append (chain, stage);
    tfx_chain_unref (&chain);
    tfx_stage_unref (&stage);
    chain = longer;
  }
  return chain;
}
