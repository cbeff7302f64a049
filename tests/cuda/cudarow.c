/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cudarow.c: see cudarow.h. */
#include "cudarow.h"

#include "core/block.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

/* A plan for the filter, in place of *plan. */
static int
plan_of (CudaRow *row, const TfxBackend *backend, TfxPlan **plan)
{
  int ret;

  tfx_filter_lock (row->filter);
  tfx_plan_free (plan);
  ret = tfx_plan_new (&row->filter, 1, backend, plan);
  tfx_filter_unlock (row->filter);
  return ret;
}

CudaRow *
cuda_row_new_for (TfxChain *chain, const TfxFilterSpec *spec,
    const TfxBackend *backend)
{
  CudaRow *row = test_alloc (sizeof *row);
  int ret;

  *row = (CudaRow){ NULL, NULL, NULL, 0 };
  ret = tfx_filter_new (chain, spec, &row->filter);
  if (ret == 0)
    ret = plan_of (row, backend, &row->plan);
  if (ret < 0) {
    printf ("Bail out! no plan on %s: %d\n", backend->name, ret);
    exit (1);
  }
  return row;
}

CudaRow *
cuda_row_new (TfxChain *chain, unsigned n_channels, const TfxBackend *backend)
{
  const TfxFilterSpec spec = { .rate_hz = 48000,
    .n_channels = n_channels,
    .sample = TFX_SAMPLE_F64 };

  return cuda_row_new_for (chain, &spec, backend);
}

CudaRow *
cuda_row_new_sections (const TfxSos *sos, size_t n_sos, unsigned n_channels,
    const TfxBackend *backend)
{
  TfxStage *stage = tfx_stage_new_sections (tfx_stage_new_id (), sos, n_sos);
  TfxChain *chain = tfx_chain_append (NULL, stage);
  CudaRow *row = cuda_row_new (chain, n_channels, backend);

  tfx_stage_unref (&stage);
  tfx_chain_unref (&chain);
  return row;
}

void
cuda_row_free (CudaRow **row)
{
  CudaRow *r = *row;

  *row = NULL;
  if (!r)
    return;
  tfx_filter_lock (r->filter);
  tfx_plan_free (&r->plan);
  tfx_plan_free (&r->cpu);
  tfx_filter_unlock (r->filter);
  tfx_filter_unref (&r->filter);
  free (r);
}

TfxEngine *
cuda_row_engine (CudaRow *row)
{
  TfxEngine *engine = NULL;

  if (row->plan->backend->engine_new (row->plan, &engine) < 0) {
    printf ("Bail out! no engine\n");
    exit (1);
  }
  return engine;
}

int
cuda_row_go_to (CudaRow *row, const TfxBackend *backend)
{
  return plan_of (row, backend, &row->plan);
}

/* What the backend cannot run, from where it has come to. */
static int
run_by_cpu (CudaRow *row, const TfxBlock *in, const TfxBlock *out,
    size_t n_done)
{
  size_t n = in->n_frames - n_done;
  TfxBlock from = tfx_block_part (in, n_done, n, 0, in->n_channels);
  TfxBlock to = tfx_block_part (out, n_done, n, 0, out->n_channels);
  int ret = row->cpu ? 0
                     : tfx_plan_new (&row->filter, 1, tfx_cpu_backend_for ("c"),
                           &row->cpu);

  if (ret == 0)
    ret = tfx_plan_run (row->cpu, &from, &to);
  if (ret == 0)
    row->n_by_cpu += n;
  return ret;
}

int
cuda_row_run (CudaRow *row, const TfxBlock *in, const TfxBlock *out)
{
  int ret;

  tfx_filter_lock (row->filter);
  ret = tfx_plan_run (row->plan, in, out);
  if (ret == -ENOTSUP)
    ret = run_by_cpu (row, in, out, tfx_plan_n_done (row->plan));
  tfx_filter_unlock (row->filter);
  return ret;
}

int
cuda_row_f64 (CudaRow *row, double *samples, unsigned n_channels,
    size_t n_frames)
{
  TfxBlock block =
      tfx_block_interleaved (samples, TFX_SAMPLE_F64, n_channels, n_frames);

  return cuda_row_run (row, &block, &block);
}

int
cuda_row_f32 (CudaRow *row, float *samples, unsigned n_channels,
    size_t n_frames)
{
  TfxBlock block =
      tfx_block_interleaved (samples, TFX_SAMPLE_F32, n_channels, n_frames);

  return cuda_row_run (row, &block, &block);
}

int
cuda_row_pieces (CudaRow *row, double *samples, unsigned n_channels,
    size_t n_frames, unsigned piece)
{
  size_t done = 0;
  int ret = 0;

  while (ret == 0 && done < n_frames) {
    size_t n = 1 + tap_random_below (piece);
    n = n < n_frames - done ? n : n_frames - done;
    ret = cuda_row_f64 (row, samples + done * n_channels, n_channels, n);
    done += n;
  }
  return ret;
}

int
cuda_row_set_chain (CudaRow *row, TfxChain *chain)
{
  int ret;

  tfx_filter_lock (row->filter);
  ret = tfx_filter_set_chain (row->filter, chain);
  tfx_filter_unlock (row->filter);
  return ret;
}

void
cuda_row_reset (CudaRow *row)
{
  tfx_filter_lock (row->filter);
  tfx_filter_reset (row->filter);
  tfx_filter_unlock (row->filter);
}

bool
cuda_row_is_silent (CudaRow *row)
{
  bool is_silent;

  tfx_filter_lock (row->filter);
  is_silent = tfx_plan_is_silent (row->plan);
  tfx_filter_unlock (row->filter);
  return is_silent;
}

TfxStats
cuda_row_stats (CudaRow *row)
{
  TfxStats stats;

  tfx_plan_get_stats (row->plan, &stats);
  return stats;
}
