/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.c: what units share. */
#include "unit.h"

#include <string.h>

#include "core/backend.h"
#include "core/block.h"
#include "cpu/copy.h"

size_t
tfx_samples_load (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    double *samples)
{
  const size_t n = in->n_frames * in->n_channels;
  TfxBlock x;

  if (tfx_block_is_interleaved (in))
    return kernels->load[in->type](samples, in->data, n);
  x = tfx_block_interleaved (samples, TFX_SAMPLE_F64, in->n_channels,
      in->n_frames);
  tfx_cpu_copy (kernels->copies, in, &x, 1.0);
  return kernels->load[TFX_SAMPLE_F64](samples, samples, n);
}

void
tfx_samples_store (const TfxDynamicsKernels *kernels, const double *samples,
    const TfxBlock *out)
{
  const TfxBlock x = tfx_block_interleaved ((double *)samples, TFX_SAMPLE_F64,
      out->n_channels, out->n_frames);

  if (tfx_block_is_interleaved (out))
    kernels->store[out->type](out->data, samples,
        out->n_frames * out->n_channels);
  else
    tfx_cpu_copy (kernels->copies, &x, out, 1.0);
}

bool
tfx_samples_are_floats (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    const TfxBlock *out)
{
  return in->type == TFX_SAMPLE_F32 && out->type == TFX_SAMPLE_F32 &&
         tfx_block_is_interleaved (in) && tfx_block_is_interleaved (out) &&
         kernels->are_finite (in->data, in->n_frames * in->n_channels);
}

int
tfx_samples_run (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    const TfxBlock *out, double *samples, const double *result,
    size_t part_frames,
    void (*run) (void *data, size_t n_frames, TfxSample type), void *data)
{
  size_t n_bad = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t left = in->n_frames - i;
    TfxBlock from, to;

    n = left < part_frames ? left : part_frames;
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    n_bad += tfx_samples_load (kernels, &from, samples);
    run (data, n, out->type);
    tfx_samples_store (kernels, result, &to);
  }
  return n_bad > 0;
}

/* ---- parameter ramps ------------------------------------------------------------ */

static void
set_at_once (TfxParams *p, const double *values)
{
  TfxParams set;

  /* (The values may be in *p.) */
  memset (&set, 0, sizeof set);
  memcpy (set.now, values, sizeof set.now);
  *p = set;
}

static void
begin (TfxParams *p, const double *values, size_t length, TfxWeight weight)
{
  memcpy (p->from, p->now, sizeof p->from);
  memmove (p->to, values, sizeof p->to);
  p->done = 0;
  p->length = length;
  p->weight = weight;
}

void
tfx_params_init (TfxParams *p, const TfxStage *stage)
{
  tfx_params_set (p, stage, 0, TFX_WEIGHT_LINEAR);
}

void
tfx_params_set (TfxParams *p, const TfxStage *stage, size_t n_frames,
    TfxWeight weight)
{
  double values[TFX_PARAMS_MAX] = { 0.0 };

  tfx_stage_params (stage, values);
  if (n_frames == 0) {
    set_at_once (p, values);
  } else if (p->length == 0) {
    begin (p, values, n_frames, weight);
  } else {
    memcpy (p->waiting, values, sizeof p->waiting);
    p->waiting_length = n_frames;
    p->waiting_weight = weight;
  }
}

void
tfx_params_take (TfxParams *p, TfxStage *stage, size_t n_frames,
    TfxWeight weight)
{
  tfx_params_set (p, stage, n_frames, weight);
  tfx_stage_unref (&stage);
}

void
tfx_params_read (const TfxParams *p, unsigned i, double *values, size_t n)
{
  const double from = p->from[i], by = p->to[i] - from;

  for (size_t k = 0; k < n; k++)
    values[k] =
        from + tfx_weight_at (p->weight, p->done + 1 + k, p->length) * by;
}

void
tfx_params_advance (TfxParams *p, size_t n)
{
  double w;

  p->done += n;
  w = tfx_weight_at (p->weight, p->done, p->length);
  for (size_t i = 0; i < TFX_PARAMS_MAX; i++)
    p->now[i] = p->from[i] + w * (p->to[i] - p->from[i]);
  if (p->done < p->length)
    return;
  memcpy (p->now, p->to, sizeof p->now);
  p->length = 0;
  if (p->waiting_length == 0)
    return;
  begin (p, p->waiting, p->waiting_length, p->waiting_weight);
  p->waiting_length = 0;
}

void
tfx_params_powers (const TfxParams *p, unsigned i,
    double powers[TFX_DYNAMICS_SLACK])
{
  const size_t end = p->done + tfx_params_cell (p, SIZE_MAX);
  double value = p->now[i];

  if (tfx_params_are_ramping (p))
    value = p->from[i] +
            tfx_weight_at (p->weight, end, p->length) * (p->to[i] - p->from[i]);
  if (powers[0] != value)
    tfx_dynamics_powers (value, powers);
}

void
tfx_params_finish (TfxParams *p)
{
  if (p->waiting_length > 0)
    set_at_once (p, p->waiting);
  else if (p->length > 0)
    set_at_once (p, p->to);
}

/* ---- entries of tables ---------------------------------------------------------- */

const char *
tfx_unit_cpu_kernel (void)
{
  return tfx_cpu_backend ()->kernel;
}

double
tfx_unit_cost (const double *costs, const TfxUnitSpec *spec)
{
  const unsigned n = spec->n_channels;

  if (strcmp (spec->kernel, "c") == 0)
    return costs[0];
  return costs[n == 1 ? 1 : n < 8 ? 2 : 3];
}
