/* SPDX-License-Identifier: LGPL-2.1-or-later
 * units.c: see units.h. */
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const TfxCudaUnitKind *
tfx_cuda_units_find (const TfxStage *stage)
{
  static const TfxCudaUnitKind *const all[] = { &tfx_cuda_clip, &tfx_cuda_delay,
    &tfx_cuda_dynamics, &tfx_cuda_fir, &tfx_cuda_limiter, &tfx_cuda_mix,
    &tfx_cuda_reverb };

  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i]->kind == stage->kind)
      return !all[i]->can_run || all[i]->can_run (stage) ? all[i] : NULL;
  }
  return NULL;
}

/* ---- life ----------------------------------------------------------------------- */

int
tfx_cuda_units_make (TfxCudaStream *stream, unsigned n_channels,
    const TfxStage *stage, TfxCudaUnit **unit)
{
  const TfxCudaUnitKind *kind = tfx_cuda_units_find (stage);
  TfxCudaUnit *u = kind ? calloc (1, kind->size) : NULL;
  int ret = 0;

  *unit = u;
  if (!u)
    return kind ? -ENOMEM : -ENOTSUP;
  *u = (TfxCudaUnit){ .kind = kind,
    .stream = stream,
    .n_channels = n_channels,
    .state = { .stream = stream, .n_channels = n_channels } };
  if (kind->make)
    ret = kind->make (u, stage);
  if (ret < 0)
    tfx_cuda_units_free (unit);
  return ret;
}

void
tfx_cuda_units_free (TfxCudaUnit **unit)
{
  TfxCudaUnit *u = *unit;

  *unit = NULL;
  if (!u)
    return;
  if (u->kind->clear)
    u->kind->clear (u);
  tfx_cuda_state_clear (&u->state);
  free (u);
}

void
tfx_cuda_units_set_stage (TfxCudaUnit *u, const TfxStage *stage, double gain)
{
  u->is_changed = u->is_changed || u->stage != stage || u->gain != gain;
  u->stage = stage;
  u->gain = gain;
  if (u->kind->set_stage)
    u->kind->set_stage (u);
}

/* ---- running -------------------------------------------------------------------- */

int
tfx_cuda_units_prepare (TfxCudaUnit *u, bool is_double, size_t n_frames)
{
  const int ret = u->kind->prepare (u, is_double, n_frames);

  return ret < 0 ? ret : tfx_cuda_state_reserve (&u->state, n_frames);
}

void
tfx_cuda_units_commit (TfxCudaUnit *u)
{
  tfx_cuda_state_commit (&u->state);
  if (u->kind->commit)
    u->kind->commit (u);
}

void
tfx_cuda_units_abandon (TfxCudaUnit *u)
{
  if (u->kind->abandon)
    u->kind->abandon (u);
}

/* ---- state ---------------------------------------------------------------------- */

int
tfx_cuda_units_copy_state (TfxCudaUnit *u, const TfxCudaUnit *from)
{
  const int ret = tfx_cuda_state_copy (&u->state, &from->state);

  return ret == 0 && u->kind->copy_state ? u->kind->copy_state (u, from) : ret;
}

int
tfx_cuda_units_get_state (TfxCudaUnit *u, double *state)
{
  return u->kind->get_state ? u->kind->get_state (u, state)
                            : tfx_cuda_state_get (&u->state, state);
}

int
tfx_cuda_units_set_state (TfxCudaUnit *u, const double *state)
{
  return u->kind->set_state ? u->kind->set_state (u, state)
                            : tfx_cuda_state_set (&u->state, state);
}

double
tfx_cuda_units_state_peak (TfxCudaUnit *u)
{
  const size_t n = u->n_channels * (u->state.n_past + u->state.n_numbers);
  double *state = malloc ((n + 1) * sizeof *state);
  double peak = 0.0;

  if (!state || tfx_cuda_units_get_state (u, state) < 0)
    peak = INFINITY;
  else if (u->kind->state_peak)
    peak = u->kind->state_peak (u, state);
  else
    for (size_t i = 0; i < n; i++)
      peak = fmax (peak, fabs (state[i]));
  free (state);
  return peak;
}
