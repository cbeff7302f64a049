/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.c: what units share. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "core/block.h"
#include "cpu/copy.h"

/* ---- parameter ramps ------------------------------------------------------------ */

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
tfx_params_take (TfxParams *p, TfxStage *stage, size_t n_frames,
    TfxWeight weight)
{
  double values[TFX_PARAMS_MAX] = { 0.0 };

  tfx_stage_params (stage, values);
  tfx_stage_unref (&stage);
  if (n_frames == 0) {
    memset (p, 0, sizeof *p);
    memcpy (p->now, values, sizeof p->now);
  } else if (p->length == 0) {
    begin (p, values, n_frames, weight);
  } else {
    memcpy (p->waiting, values, sizeof p->waiting);
    p->waiting_length = n_frames;
    p->waiting_weight = weight;
  }
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
  double value = p->now[i], power = 1.0;

  if (tfx_params_are_ramping (p))
    value = p->from[i] +
            tfx_weight_at (p->weight, end, p->length) * (p->to[i] - p->from[i]);
  if (powers[0] == value)
    return;
  for (unsigned k = 0; k < TFX_DYNAMICS_SLACK; k++)
    powers[k] = power *= value;
}

void
tfx_params_finish (TfxParams *p)
{
  while (p->length > 0)
    tfx_params_advance (p, p->length - p->done);
}

static void
begin_stage (TfxStageRamp *r, TfxStage *stage, size_t length, TfxWeight weight)
{
  r->next = stage;
  r->done = 0;
  r->length = length;
  r->weight = weight;
}

void
tfx_stage_ramp_take (TfxStageRamp *r, TfxStage *stage, size_t n_frames,
    TfxWeight weight)
{
  tfx_stage_unref (&r->waiting);
  if (r->next && n_frames > 0) {
    r->waiting = stage;
    r->waiting_length = n_frames;
    r->waiting_weight = weight;
    return;
  }
  tfx_stage_unref (&r->next);
  begin_stage (r, stage, n_frames, weight);
  tfx_stage_ramp_advance (r, 0);
}

void
tfx_stage_ramp_advance (TfxStageRamp *r, size_t n)
{
  r->done += n;
  if (!r->next || r->done < r->length)
    return;
  tfx_stage_unref (&r->now);
  r->now = r->next;
  begin_stage (r, r->waiting, r->waiting_length, r->waiting_weight);
  r->waiting = NULL;
}

void
tfx_stage_ramp_finish (TfxStageRamp *r)
{
  while (r->next)
    tfx_stage_ramp_advance (r, r->length);
}

void
tfx_stage_ramp_clear (TfxStageRamp *r)
{
  tfx_stage_unref (&r->now);
  tfx_stage_unref (&r->next);
  tfx_stage_unref (&r->waiting);
}

/* ---- units ---------------------------------------------------------------------- */

double *
tfx_room_take (TfxRoom *room, size_t front, size_t n)
{
  const size_t first = room->n;

  room->n += ((front + n) / TFX_DYNAMICS_SLACK + 2) * TFX_DYNAMICS_SLACK;
  return room->memory ? room->memory + first + front : NULL;
}

void *
tfx_unit_new (size_t size, const TfxStage *stage, const TfxUnitSpec *spec,
    void (*lay_out) (void *unit, const TfxStage *stage, TfxRoom *room))
{
  TfxUnit *u = calloc (1, size);
  TfxRoom room = { NULL, 0 };

  if (!u)
    return NULL;
  u->kernel = spec->kernel;
  u->kernels = tfx_dynamics_kernels_for (spec->kernel);
  u->n_channels = spec->n_channels;
  u->part_frames = tfx_samples_part_frames (spec->n_channels);
  tfx_stage_params (stage, u->params.now);
  lay_out (u, stage, &room);
  u->memory = room.memory = tfx_block_new_samples (room.n);
  if (!u->memory) {
    free (u);
    return NULL;
  }
  room.n = 0;
  lay_out (u, stage, &room);
  return u;
}

void
tfx_unit_free (void *unit)
{
  free (((TfxUnit *)unit)->memory);
  free (unit);
}

void
tfx_unit_set_values (void *unit, void *values, size_t n_frames,
    TfxWeight weight)
{
  tfx_params_take (&((TfxUnit *)unit)->params, values, n_frames, weight);
}

bool
tfx_unit_is_changing (const void *unit)
{
  return tfx_params_are_ramping (&((const TfxUnit *)unit)->params);
}

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

/* ---- blocks as interleaved doubles ---------------------------------------------- */

size_t
tfx_samples_load (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    double *samples)
{
  const size_t n = in->n_frames * in->n_channels;
  TfxBlock x;

  if (tfx_block_is_interleaved (in))
    return kernels->load (samples, in->data, in->type, n);
  x = tfx_block_interleaved (samples, TFX_SAMPLE_F64, in->n_channels,
      in->n_frames);
  tfx_cpu_copy (kernels->copies, in, &x, 1.0);
  return kernels->load (samples, samples, TFX_SAMPLE_F64, n);
}

void
tfx_samples_store (const TfxDynamicsKernels *kernels, const double *samples,
    const TfxBlock *out)
{
  const TfxBlock x = tfx_block_interleaved ((double *)samples, TFX_SAMPLE_F64,
      out->n_channels, out->n_frames);

  tfx_cpu_copy (kernels->copies, &x, out, 1.0);
}

int
tfx_samples_run (TfxUnit *unit, const TfxBlock *in, const TfxBlock *out,
    double *samples, const double *result, size_t part_frames,
    void (*run) (void *unit, size_t n_frames, TfxSample type))
{
  size_t n_bad = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t left = in->n_frames - i;
    TfxBlock from, to;

    n = left < part_frames ? left : part_frames;
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    n_bad += tfx_samples_load (unit->kernels, &from, samples);
    run (unit, n, out->type);
    tfx_samples_store (unit->kernels, result, &to);
  }
  return n_bad > 0;
}

int
tfx_unit_run (void *unit, const TfxBlock *in, const TfxBlock *out)
{
  TfxUnit *u = unit;

  return tfx_samples_run (u, in, out, u->samples, u->samples, u->part_frames,
      u->run_part);
}
