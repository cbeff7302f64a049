/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moved.c: the stage that something designed alone becomes. */
#include "expr.h"

#include <errno.h>

#include "branches.h"

TfxStage *
tfx_moved_make_stage (const TfxMoved *moved)
{
  const double *kernel = moved->kernel;

  if (moved->is_dynamics)
    return tfx_stage_new_dynamics (moved->id, &moved->dynamics);
  if (moved->is_reverb)
    return tfx_stage_new_reverb (moved->id, &moved->reverb);
  if (moved->is_limiter)
    return tfx_stage_new_limiter (moved->id, &moved->limiter);
  if (moved->is_leveller)
    return tfx_stage_new_leveller (moved->id, &moved->leveller);
  if (moved->is_clip)
    return tfx_stage_new_clip (moved->id, moved->gain);
  if (moved->n_kernel > 0)
    return tfx_stage_new_fir (moved->id, &kernel, 1, moved->n_kernel,
        moved->method);
  if (moved->n_taps > 0)
    return tfx_stage_new_delay (moved->id, moved->direct, moved->taps,
        moved->n_taps);
  if (moved->n_sos > 0)
    return tfx_stage_new_sections (moved->id, moved->sos, moved->n_sos);
  return tfx_stage_new_gain (moved->id, moved->gain);
}

bool
tfx_moved_is_copied (const TfxMoved *moved)
{
  return !moved->is_dynamics && !moved->is_reverb && !moved->is_limiter &&
         !moved->is_leveller && !moved->is_clip && moved->n_kernel == 0 &&
         moved->n_taps == 0;
}

int
tfx_moved_keep_latency (TfxMoved *moved, const TfxChain *chain)
{
  const TfxStage *stage = NULL;
  size_t n = 0;

  if (chain && (moved->is_limiter || moved->is_leveller))
    stage = tfx_branches_find (chain, moved->id);
  if (!stage)
    return 0;
  if (moved->is_limiter && stage->kind == &tfx_kind_limiter) {
    moved->limiter.n_late = stage->u.limiter.n_late;
    n = moved->limiter.n_ahead + moved->limiter.n_late;
  } else if (moved->is_leveller) {
    n = moved->leveller.n_ahead * moved->leveller.n_cell;
  }
  return n == stage->kind->latency (stage) ? 0 : -ENOTSUP;
}

bool
tfx_moved_reuse_stage (const TfxMoved *moved, TfxStage *stage)
{
  const double *kernel = moved->kernel;

  if (tfx_stage_id (stage) != moved->id)
    return false;
  if (moved->is_dynamics)
    return tfx_stage_reuse_dynamics (stage, &moved->dynamics);
  if (moved->is_reverb)
    return tfx_stage_reuse_reverb (stage, &moved->reverb);
  if (moved->is_limiter)
    return tfx_stage_reuse_limiter (stage, &moved->limiter);
  if (moved->is_leveller)
    return tfx_stage_reuse_leveller (stage, &moved->leveller);
  if (moved->is_clip)
    return tfx_stage_reuse_clip (stage, moved->gain);
  if (moved->n_kernel > 0)
    return tfx_stage_reuse_fir (stage, &kernel, 1, moved->n_kernel,
        moved->method);
  if (moved->n_taps > 0)
    return tfx_stage_reuse_delay (stage, moved->direct, moved->taps,
        moved->n_taps);
  if (moved->has_shapes)
    return tfx_stage_reuse_shapes (stage, moved->sos, moved->shapes,
        moved->n_sos);
  if (moved->n_sos > 0)
    return tfx_stage_reuse_sections (stage, moved->sos, moved->n_sos);
  return tfx_stage_reuse_gain (stage, moved->gain);
}
