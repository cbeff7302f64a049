/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-run.c: runs the steps of a plan.
 *
 * One step alone works on the caller's block.  Several go over it in chunks
 * that stay in the cache: the first step reads the block, the last one writes
 * it, and what lies between are doubles in a scratch.  The branches of a sum
 * read the same chunk one after the other. */
#include "engine-private.h"

#include "../block.h"
#include "../follow.h"
#include "../glide.h"
#include "../slot.h"
#include "../weight.h"
#include "copy.h"
#include "moving.h"

static int run_steps (TfxEngine *e, const TfxSteps *list, const TfxBlock *in,
    const TfxBlock *out);

static const TfxKernels *
kernels_of (const TfxEngine *e)
{
  return e->plan->backend->data;
}

static TfxBlock
chunk_block (const TfxEngine *e, double *data, size_t n_frames)
{
  return tfx_block_interleaved (data, TFX_SAMPLE_F64, e->plan->n_channels,
      n_frames);
}

static int
run_sum (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  const size_t n = in->n_frames * e->plan->n_channels;
  TfxBlock sum = chunk_block (e, node->sum, in->n_frames);
  TfxBlock branch = chunk_block (e, node->branch, in->n_frames);
  int n_cleared = 0;

  for (size_t k = 0; k < s->n_branches; k++) {
    n_cleared += run_steps (e, &s->branches[k], in, k == 0 ? &sum : &branch);
    if (k > 0)
      kernels_of (e)->add (node->sum, node->branch, n);
  }
  tfx_cpu_copy (kernels_of (e), &sum, out, s->gain);
  return n_cleared;
}

/* x += w (y - x), with a weight that rises smoothly. */
static void
fade (double *restrict x, const double *restrict y, size_t n_frames,
    unsigned n_channels, size_t start, size_t length)
{
  for (size_t i = 0; i < n_frames; i++) {
    const double w =
        tfx_weight_at (TFX_WEIGHT_SMOOTH, start + i + 1, length + 1);

    for (unsigned c = 0; c < n_channels; c++, x++, y++)
      *x += w * (*y - *x);
  }
}

/* From the first branch to the second. */
static int
run_fade (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  TfxBlock from = chunk_block (e, node->sum, in->n_frames);
  TfxBlock to = chunk_block (e, node->branch, in->n_frames);
  int n_cleared = run_steps (e, &s->branches[0], in, &from);

  n_cleared += run_steps (e, &s->branches[1], in, &to);
  fade (node->sum, node->branch, in->n_frames, e->plan->n_channels,
      s->fade->done + e->n_done, s->fade->length);
  tfx_cpu_copy (kernels_of (e), &from, out, 1.0);
  return n_cleared;
}

/* Sections, from one change of their values to the next. */
static int
run_cascade (TfxEngine *e, TfxStep *s, const TfxBlock *in, const TfxBlock *out)
{
  TfxCascade *cascade = e->nodes[s->index].cascade;
  int n_cleared = 0;

  if (!s->is_moving)
    return tfx_cascade_run (cascade, e->type, in, out);
  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t first = e->n_done + i;
    TfxBlock from, to;
    bool is_apart;

    n = tfx_glide_run (s, first, in->n_frames - i, &is_apart);
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    n_cleared +=
        is_apart ? tfx_moving_run (e->plan->backend->data, s, first, &from, &to)
                 : tfx_cascade_run (cascade, e->type, &from, &to);
  }
  return n_cleared;
}

/* A FIR or a delay line, from one change of its values to the next. */
static int
run_unit (const TfxEngine *e, TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  int n_cleared = 0;

  if (!s->is_moving)
    return s->unit_kind->run (s->unit, in, out);
  for (size_t i = 0, n; i < in->n_frames; i += n) {
    TfxBlock from, to;

    n = tfx_follow_run (s, e->n_done + i, in->n_frames - i);
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    n_cleared += s->unit_kind->run (s->unit, &from, &to);
  }
  return n_cleared;
}

/* One step over a chunk. */
static int
run_step (TfxEngine *e, TfxStep *s, const TfxBlock *in, const TfxBlock *out)
{
  switch (s->kind) {
    case TFX_STEP_CASCADE:
      return run_cascade (e, s, in, out);
    case TFX_STEP_SUM:
      return run_sum (e, s, in, out);
    case TFX_STEP_FADE:
      return run_fade (e, s, in, out);
    case TFX_STEP_FIR:
    case TFX_STEP_DELAY:
    case TFX_STEP_UNIT:
      return run_unit (e, s, in, out);
  }
  return 0;
}

/* Steps in series over a chunk. */
static int
run_steps (TfxEngine *e, const TfxSteps *list, const TfxBlock *in,
    const TfxBlock *out)
{
  TfxBlock between;
  int n_cleared = 0;

  if (list->n == 0) {
    tfx_cpu_copy (kernels_of (e), in, out, 1.0);
    return 0;
  }
  if (list->n > 1)
    between =
        chunk_block (e, e->nodes[list->steps[0].index].between, in->n_frames);
  for (size_t i = 0; i < list->n; i++) {
    TfxStep *s = &list->steps[i];
    const TfxBlock *to = i + 1 == list->n ? out : &between;

    n_cleared += run_step (e, s, i == 0 ? in : &between, to);
  }
  return n_cleared;
}

static int
run_chunks (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  const unsigned n_channels = out->n_channels;
  int n_cleared = 0;

  for (size_t i = 0; i < out->n_frames; i += e->chunk_frames) {
    size_t left = out->n_frames - i;
    size_t n = left < e->chunk_frames ? left : e->chunk_frames;
    TfxBlock from = tfx_block_part (in, i, n, 0, n_channels);
    TfxBlock to = tfx_block_part (out, i, n, 0, n_channels);

    e->n_done = i;
    n_cleared += run_steps (e, &e->plan->top, &from, &to);
  }
  return n_cleared;
}

int
tfx_engine_run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  e->n_done = 0;
  e->type = in->type;
  if (tfx_engine_runs_whole_blocks (e->plan))
    return run_step (e, &e->plan->top.steps[0], in, out);
  return run_chunks (e, in, out);
}
