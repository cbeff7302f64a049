/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moved.c: the stage that something designed alone becomes. */
#include "expr.h"

#include <errno.h>

#include "core/branches.h"

/* Of one that is no more than numbers. */
static TfxStage
get_numbers (const TfxMoved *moved)
{
  TfxStage stage = { .id = moved->id, .kind = moved->kind };

  if (moved->kind == &tfx_kind_dynamics)
    stage.u.dynamics = moved->dynamics;
  else if (moved->kind == &tfx_kind_reverb)
    stage.u.reverb = moved->reverb;
  else if (moved->kind == &tfx_kind_limiter)
    stage.u.limiter = moved->limiter;
  else if (moved->kind == &tfx_kind_leveller)
    stage.u.leveller = moved->leveller;
  else
    stage.u.gain = moved->gain;
  return stage;
}

TfxStage *
tfx_moved_make_stage (const TfxMoved *moved)
{
  const double *kernel = moved->kernel;
  TfxStage numbers;

  if (moved->kind == &tfx_kind_fir)
    return tfx_stage_new_fir (moved->id, &kernel, 1, moved->n_kernel,
        moved->method);
  if (moved->kind == &tfx_kind_delay)
    return tfx_stage_new_delay (moved->id, moved->direct, moved->taps,
        moved->n_taps);
  if (moved->kind == &tfx_kind_sections)
    return tfx_stage_new_sections (moved->id, moved->sos, moved->n_sos);
  numbers = get_numbers (moved);
  return tfx_stage_new_like (&numbers);
}

bool
tfx_moved_is_copied (const TfxMoved *moved)
{
  return !moved->kind->unit;
}

int
tfx_moved_keep_latency (TfxMoved *moved, const TfxChain *chain)
{
  const TfxStage *stage = NULL;
  TfxStage numbers;

  if (chain &&
      (moved->kind == &tfx_kind_limiter || moved->kind == &tfx_kind_leveller))
    stage = tfx_branches_find (chain, moved->id);
  if (!stage)
    return 0;
  if (moved->kind == &tfx_kind_limiter && stage->kind == &tfx_kind_limiter)
    moved->limiter.n_late = stage->u.limiter.n_late;
  if (moved->kind == &tfx_kind_leveller && stage->kind == &tfx_kind_leveller)
    moved->leveller.positions = stage->u.leveller.positions;
  numbers = get_numbers (moved);
  return tfx_stage_latency (&numbers) == tfx_stage_latency (stage) ? 0
                                                                   : -ENOTSUP;
}

bool
tfx_moved_reuse_stage (const TfxMoved *moved, TfxStage *stage)
{
  const double *kernel = moved->kernel;
  TfxStage numbers;

  if (tfx_stage_id (stage) != moved->id)
    return false;
  if (moved->kind == &tfx_kind_fir)
    return tfx_stage_reuse_fir (stage, &kernel, 1, moved->n_kernel,
        moved->method);
  if (moved->kind == &tfx_kind_delay)
    return tfx_stage_reuse_delay (stage, moved->direct, moved->taps,
        moved->n_taps);
  if (moved->kind == &tfx_kind_sections && moved->has_shapes)
    return tfx_stage_reuse_shapes (stage, moved->sos, moved->shapes,
        moved->n_sos);
  if (moved->kind == &tfx_kind_sections)
    return tfx_stage_reuse_sections (stage, moved->sos, moved->n_sos);
  numbers = get_numbers (moved);
  return tfx_stage_take (stage, &numbers);
}
