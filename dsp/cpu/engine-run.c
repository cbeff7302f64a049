/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-run.c: runs the steps of a plan.
 *
 * One step alone works on the caller's block.  Several go over it in chunks
 * that stay in the cache: the first step reads the block, the last one writes
 * it, and what lies between are doubles in a scratch.  The branches of a sum
 * read the same chunk one after the other. */
#include "engine-private.h"

#include <string.h>

#include "core/block.h"
#include "core/branches.h"
#include "core/automation.h"
#include "core/step.h"
#include "core/state.h"
#include "copy.h"
#include "moving.h"

static int run_steps (TfxEngine *e, const TfxSteps *list, const TfxBlock *in,
    const TfxBlock *out);

static const TfxKernels *
kernels_of (const TfxEngine *e)
{
  return e->plan->backend->data;
}

static bool
are_planes (const TfxBlock *in, const TfxBlock *out)
{
  return in->frame_stride == 1 && out->frame_stride == 1;
}

/* A chunk for as many channels and frames. */
static TfxBlock
chunk_block (double *data, const TfxBlock *like)
{
  return tfx_block_interleaved (data, TFX_SAMPLE_F64, like->n_channels,
      like->n_frames);
}

/* The same, channel after channel. */
static TfxBlock
chunk_planes (double *data, TfxSample type, unsigned n_channels,
    size_t n_frames)
{
  const size_t line = type == TFX_SAMPLE_F32 ? TFX_LINE_F32 : TFX_LINE_F64;
  const size_t n_lines = (n_frames + line - 1) / line;

  return tfx_block_planar (data, type, n_channels, n_frames,
      (n_lines | 1) * line);
}

/* What has been summed, and the last of n branches, to the output. */
static void
end_sum (const TfxEngine *e, const TfxStep *s, const TfxBlock *out, size_t n)
{
  const Node *node = &e->nodes[s->index];
  const double *rows[] = { node->sum, node->branch };
  const double gains[] = { 1.0, 1.0 };
  const size_t n_samples = out->n_frames * out->n_channels;
  const TfxBlock sum = chunk_block (node->sum, out);

  if (n > 1 && tfx_block_is_interleaved (out)) {
    kernels_of (e)->sum (out->data, out->type, rows, gains, 2, n_samples);
    return;
  }
  if (n > 1)
    kernels_of (e)->add (node->sum, node->branch, n_samples);
  tfx_cpu_copy (kernels_of (e), &sum, out, 1.0);
}

/* The first joint that begins with branch k and is to be run for it, or NULL. */
static TfxJoint *
find_joint (TfxEngine *e, const Node *node, size_t k)
{
  for (size_t i = 0; i < node->n_joints; i++) {
    if (node->joints[i].first == k &&
        tfx_joint_enter (e, node, &node->joints[i], true))
      return &node->joints[i];
  }
  return NULL;
}

static int
run_branches (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  const TfxBlock blocks[] = { chunk_block (node->sum, in),
    chunk_block (node->branch, in) };
  size_t n_done = 0; /* blocks to be added up */
  int n_cleared = 0;

  for (size_t k = 0, n; k < s->n_branches; k += n, n_done++) {
    const TfxJoint *joint = find_joint (e, node, k);
    const TfxBlock *to = &blocks[n_done > 0];

    n = joint ? joint->n : 1;
    if (n == s->n_branches && joint)
      return tfx_cascade_run (joint->cascade, e->type, in, out);
    if (n_done > 1)
      kernels_of (e)->add (node->sum, node->branch,
          in->n_frames * in->n_channels);
    n_cleared += joint ? tfx_cascade_run (joint->cascade, e->type, in, to)
                       : run_steps (e, &s->branches[k], in, to);
  }
  end_sum (e, s, out, n_done);
  return n_cleared;
}

/* How many frames from one on a joint runs in one way: as one, or as its branches. */
static size_t
glide_joint (const TfxJoint *j, size_t first, size_t n_left)
{
  size_t n = n_left, n_apart = 0;

  for (size_t k = 0; k < j->n; k++) {
    TfxStep *step = tfx_joint_step (&j->branches[k]);
    bool is_apart = false;
    size_t m = n_left;

    if (step && step->is_moving)
      m = tfx_step_run_ramps (step, first, n_left, &is_apart);
    n = m < n ? m : n;
    if (is_apart)
      m = tfx_step_count_apart (step, first, n_left);
    n_apart = is_apart && m > n_apart ? m : n_apart;
  }
  return n_apart > 0 ? n_apart : n;
}

typedef int (*RunBranches) (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out);

/* The branches from one change of their joints to the next. */
static int
run_between (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out, RunBranches run)
{
  const Node *node = &e->nodes[s->index];
  const size_t first = e->n_done;
  int n_cleared = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    TfxBlock from, to;

    n = in->n_frames - i;
    for (size_t k = 0; k < node->n_joints; k++)
      n = glide_joint (&node->joints[k], first + i, n);
    if (n == in->n_frames)
      return run (e, s, in, out);
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    e->n_done = first + i;
    n_cleared += run (e, s, &from, &to);
  }
  e->n_done = first;
  return n_cleared;
}

static __attribute__ ((noinline)) int
run_sum (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  return run_between (e, s, in, out, run_branches);
}

/* Channel after channel of some of a block's, to a block of these alone, or back, times
 * `gain`. */
static void
copy_channels (const TfxEngine *e, const TfxBlock *from, const TfxBlock *to,
    uint64_t channels, bool is_back, double gain)
{
  const size_t n = from->n_frames;

  for (unsigned k = 0; channels != 0; k++, channels &= channels - 1) {
    const unsigned c = (unsigned)__builtin_ctzll (channels);
    const TfxBlock in = tfx_block_part (from, 0, n, is_back ? k : c, 1);
    const TfxBlock out = tfx_block_part (to, 0, n, is_back ? c : k, 1);

    tfx_cpu_copy (kernels_of (e), &in, &out, gain);
  }
}

/* Some channels of a block, if they are evenly spaced. */
static bool
find_channels (const TfxBlock *block, uint64_t channels, TfxBlock *found)
{
  unsigned first, step;

  if (!tfx_branches_find_even (channels, &first, &step))
    return false;
  *found = tfx_block_part (block, 0, block->n_frames, first, 1);
  found->n_channels = (unsigned)__builtin_popcountll (channels);
  found->channel_stride *= (ptrdiff_t)step;
  return true;
}

/* Channels of terms without sections go around the cascade, which would hold on to what is no
 * number; one after the other in the chunk, or back. */
static void
copy_bare (const TfxEngine *e, const TfxStep *s, const TfxJoint *joint,
    const TfxBlock *block, bool is_back)
{
  double *at = e->nodes[s->index].branch;
  uint64_t left = UINT64_MAX >> (64 - block->n_channels);

  for (size_t k = 0; k < joint->n_terms; k++) {
    const TfxCascadeTerm *t = &joint->terms[k];
    const uint64_t channels = k < s->n_branches ? t->channels : left;
    const TfxBlock bare = tfx_block_interleaved (at, TFX_SAMPLE_F64,
        (unsigned)__builtin_popcountll (channels), block->n_frames);

    left &= ~channels;
    if (t->n_sos > 0)
      continue;
    copy_channels (e, is_back ? &bare : block, is_back ? block : &bare,
        channels, is_back, is_back ? t->gain : 1.0);
    at += bare.n_channels * bare.n_frames;
  }
}

/* What is left of a branch behind the joint. */
static TfxSteps
find_rest (const TfxJoint *joint, const TfxStep *s, size_t k)
{
  TfxSteps rest = s->branches[k];

  if (joint && tfx_joint_step (&rest)) {
    rest.steps++;
    rest.n--;
  }
  return rest;
}

/* Channels in which no branch of a split does anything; rows with all that they have. */
static void
copy_rest (const TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  uint64_t left = UINT64_MAX;

  if (in->data == out->data)
    return;
  if (!are_planes (in, out)) {
    tfx_cpu_copy (kernels_of (e), in, out, 1.0);
    return;
  }
  for (size_t k = 0; k < s->n_branches; k++)
    left &= s->branches[k].n > 0 ? ~s->stage->u.sum.channels[k] : UINT64_MAX;
  for (unsigned c = 0; c < in->n_channels; c++) {
    const TfxBlock from = tfx_block_part (in, 0, in->n_frames, c, 1);
    const TfxBlock to = tfx_block_part (out, 0, in->n_frames, c, 1);

    if (c >= TFX_SPLIT_MAX_CHANNELS || left >> c & 1)
      tfx_cpu_copy (kernels_of (e), &from, &to, 1.0);
  }
}

/* Branches with channels of their own, one after the other, where these lie or else in a
 * chunk: what of them is not in the joint. */
static int
run_each (TfxEngine *e, const TfxStep *s, const TfxJoint *joint,
    const TfxBlock *in, const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  int n_cleared = 0;

  copy_rest (e, s, in, out);
  for (size_t k = 0; k < s->n_branches; k++) {
    const uint64_t channels = s->stage->u.sum.channels[k];
    const TfxSteps rest = find_rest (joint, s, k);
    TfxBlock from, to;

    if (rest.n == 0)
      continue;
    if (find_channels (in, channels, &from) &&
        find_channels (out, channels, &to)) {
      n_cleared += run_steps (e, &rest, &from, &to);
      continue;
    }
    from = chunk_planes (node->branch, TFX_SAMPLE_F64,
        (unsigned)__builtin_popcountll (channels), in->n_frames);
    copy_channels (e, in, &from, channels, false, 1.0);
    n_cleared += run_steps (e, &rest, &from, &from);
    copy_channels (e, &from, out, channels, true, 1.0);
  }
  return n_cleared;
}

/* The joint, and what goes around it. */
static int
run_joint (TfxEngine *e, const TfxStep *s, const TfxJoint *joint,
    const TfxBlock *in, const TfxBlock *out)
{
  int n_cleared;

  copy_bare (e, s, joint, in, false);
  n_cleared = tfx_cascade_run (joint->cascade, e->type, in, out);
  copy_bare (e, s, joint, out, true);
  return n_cleared;
}

/* The joint of a split to planes of doubles, a part at a time. */
static int
run_front (TfxEngine *e, const TfxStep *s, const TfxJoint *joint,
    const TfxBlock *in, const TfxBlock *out)
{
  const size_t most = TFX_TURN_SIZE / in->n_channels;
  double front[TFX_TURN_SIZE];
  int n_cleared = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    TfxBlock from, to, rows;

    n = in->n_frames - i < most ? in->n_frames - i : most;
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    rows = chunk_block (front, &from);
    n_cleared += run_joint (e, s, joint, &from, &rows);
    tfx_cpu_copy (kernels_of (e), &rows, &to, 1.0);
  }
  return n_cleared;
}

/* The joint that a split is to begin with, or NULL; planes that come in are read as they are,
 * without it, if more is to follow. */
static const TfxJoint *
find_front (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  const bool is_wanted = !are_planes (in, out) || !tfx_joint_has_rest (s);

  if (node->n_joints == 0 ||
      !tfx_joint_enter (e, node, node->joints, is_wanted))
    return NULL;
  return node->joints;
}

/* Each branch of a split in planes of its channels. */
static int
run_planes (TfxEngine *e, const TfxStep *s, const TfxJoint *joint,
    const TfxBlock *in, const TfxBlock *out)
{
  const TfxSample type =
      in->type == out->type && !joint ? in->type : TFX_SAMPLE_F64;
  const TfxBlock planes =
      chunk_planes (e->nodes[s->index].sum, type, in->n_channels, in->n_frames);
  int n_cleared = 0;

  if (joint)
    n_cleared = run_front (e, s, joint, in, &planes);
  else
    tfx_cpu_copy (kernels_of (e), in, &planes, 1.0);
  n_cleared += run_each (e, s, joint, &planes, &planes);
  tfx_cpu_copy (kernels_of (e), &planes, out, 1.0);
  return n_cleared;
}

/* What the branches of a split begin with, as one, and then each by itself. */
static int
run_channels (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  const TfxJoint *joint = find_front (e, s, in, out);
  TfxBlock front;
  int n_cleared;

  if (joint && !tfx_joint_has_rest (s))
    return run_joint (e, s, joint, in, out);
  if (node->is_planar[e->type] &&
      !(in->type == out->type && are_planes (in, out)))
    return run_planes (e, s, joint, in, out);
  if (!joint)
    return run_each (e, s, NULL, in, out);
  front = chunk_block (node->sum, in);
  n_cleared = run_joint (e, s, joint, in, &front);
  return n_cleared + run_each (e, s, joint, &front, out);
}

static __attribute__ ((noinline)) int
run_split (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  return run_between (e, s, in, out, run_channels);
}

/* The input of what is faded in, from 0 up to itself, by way of the other chunk: as it
 * is faded in, or while it is not heard yet. */
static void
run_rise (const TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *risen)
{
  const Node *node = &e->nodes[s->index];
  const TfxBlock whole = chunk_block (node->sum, in);
  const size_t length = s->fade->length - s->fade->lead;

  tfx_cpu_copy (kernels_of (e), in, &whole, 1.0);
  memset (node->branch, 0,
      in->n_frames * in->n_channels * sizeof *node->branch);
  kernels_of (e)->fade (risen->data, whole.data, in->n_frames, in->n_channels,
      TFX_WEIGHT_SMOOTH, s->fade->done + e->n_done, length + 1);
}

/* From the first branch to the second. */
static __attribute__ ((noinline)) int
run_fade (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  const size_t done = s->fade->done + e->n_done, lead = s->fade->lead;
  TfxBlock from = chunk_block (node->sum, in);
  TfxBlock to = chunk_block (node->branch, in);
  int n_cleared;

  if (s->fade->rises)
    run_rise (e, s, in, &to);
  n_cleared = run_steps (e, &s->branches[1], s->fade->rises ? &to : in, &to);
  n_cleared += run_steps (e, &s->branches[0], in, &from);
  /* What rises of itself is heard whole, or it would be faded in twice: from the sum of
   * both to it alone, the other one is faded out. */
  if (s->fade->rises && lead == 0)
    kernels_of (e)->add (node->sum, node->branch,
        in->n_frames * in->n_channels);
  if (done >= lead)
    kernels_of (e)->fade (node->sum, node->branch, in->n_frames, in->n_channels,
        TFX_WEIGHT_SMOOTH, done - lead, s->fade->length - lead + 1);
  tfx_cpu_copy (kernels_of (e), &from, out, 1.0);
  return n_cleared;
}

/* Sections, from one change of their values to the next. */
static __attribute__ ((noinline)) int
run_moving_cascade (TfxEngine *e, TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  TfxCascade *cascade = e->nodes[s->index].cascade;
  int n_cleared = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t first = e->n_done + i;
    TfxBlock from, to;
    bool is_apart;

    n = tfx_step_run_ramps (s, first, in->n_frames - i, &is_apart);
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    n_cleared +=
        is_apart ? tfx_moving_run (e->plan->backend->data, s, first, &from, &to)
                 : tfx_cascade_run (cascade, e->type, &from, &to);
  }
  return n_cleared;
}

/* A FIR or a delay line, from one change of its values to the next. */
static __attribute__ ((noinline)) int
run_moving_unit (const TfxEngine *e, TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  int n_cleared = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    TfxBlock from, to;

    n = tfx_step_run_events (s, e->n_done + i, in->n_frames - i);
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
      return s->is_moving ? run_moving_cascade (e, s, in, out)
                          : tfx_cascade_run (e->nodes[s->index].cascade,
                                e->type, in, out);
    case TFX_STEP_SUM:
      return run_sum (e, s, in, out);
    case TFX_STEP_SPLIT:
      return run_split (e, s, in, out);
    case TFX_STEP_FADE:
      return run_fade (e, s, in, out);
    case TFX_STEP_FIR:
    case TFX_STEP_UNIT:
      return s->is_moving ? run_moving_unit (e, s, in, out)
                          : s->unit_kind->run (s->unit, in, out);
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
    between = chunk_block (e->nodes[list->steps[0].index].between, in);
  for (size_t i = 0; i < list->n; i++) {
    TfxStep *s = &list->steps[i];
    const TfxBlock *to = i + 1 == list->n ? out : &between;

    n_cleared += run_step (e, s, i == 0 ? in : &between, to);
  }
  return n_cleared;
}

static __attribute__ ((noinline)) int
run_chunks (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  const unsigned n_channels = out->n_channels;
  const size_t most =
      are_planes (in, out) ? e->chunk_frames : e->turn_frames[e->type];
  int n_cleared = 0;

  for (size_t i = 0; i < out->n_frames; i += most) {
    size_t left = out->n_frames - i;
    size_t n = left < most ? left : most;
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
  if (e->alone)
    return run_step (e, e->alone, in, out);
  return run_chunks (e, in, out);
}
