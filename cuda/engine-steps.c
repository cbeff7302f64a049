/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-steps.c: puts the steps of a plan on a stream.
 *
 * A step reads one block and writes another; intermediate blocks are doubles in
 * device memory.  Each branch of a sum adds the output of the previous branch to
 * its output.  Each branch of a split works on its channels only.  The gain of a
 * sum or split is passed on to its branches.
 *
 * The state does not change before all steps are on the stream. */
#include "engine-private.h"

#include "core/block.h"
#include "core/branches.h"
#include "units.h"

static const TfxKernelBlock no_sum;

/* A buffer as a block of doubles, channel after channel. */
static TfxKernelBlock
buffer_block (const TfxEngine *e, size_t index, size_t n_frames)
{
  return (TfxKernelBlock){
    .data = e->buffers[index].data,
    .frame_stride = 1,
    .channel_stride = (long long)n_frames,
    .is_double = 1,
  };
}

static int run_list (TfxEngine *e, const TfxSteps *list, const List *l,
    const TfxUnitRun *run);

static int
copy (TfxEngine *e, const TfxUnitRun *run, const TfxCudaChannels *channels,
    double gain)
{
  return tfx_cuda_copy_run (&e->copy, run, channels, gain);
}

/* Input that must not be overwritten while it is read goes to a separate buffer. */
static int
put_apart (TfxEngine *e, unsigned n_channels, TfxUnitRun *run)
{
  const TfxCudaChannels all = { 0, 0, n_channels };
  TfxUnitRun r = *run;
  int ret;

  if (run->in.data != run->out.data)
    return 0;
  ret = tfx_buffer_reserve (&e->stream, &e->buffers[e->copy_buffer],
      run->n_frames * e->plan->n_channels * sizeof (double));
  r.out = buffer_block (e, e->copy_buffer, run->n_frames);
  r.sum = no_sum;
  run->in = r.out;
  return ret < 0 ? ret : copy (e, &r, &all, 1.0);
}

/* ---- branches ---------------------------------------------------------------- */

/* Each branch adds what is there to what it puts out; the last one puts out
 * the sum. */
static int
run_sum (TfxEngine *e, const TfxStep *s, const TfxUnitRun *run)
{
  const Node *node = &e->nodes[s->index];
  const TfxKernelBlock so_far =
      buffer_block (e, node->sum_buffer, run->n_frames);
  TfxUnitRun r = *run;
  int ret = 0;

  for (size_t k = 0; ret == 0 && k < s->n_branches; k++) {
    r.out = k + 1 == s->n_branches ? run->out : so_far;
    ret = run_list (e, &s->branches[k], &node->branches[k], &r);
    r.sum = so_far;
  }
  return ret;
}

/* Channels that are evenly spaced; of no block: none. */
static TfxKernelBlock
find_channels (const TfxKernelBlock *block, unsigned first, unsigned step)
{
  const long long size = block->is_double ? sizeof (double) : sizeof (float);
  TfxKernelBlock found = *block;

  if (block->data)
    found.data += (CUdeviceptr)(first * block->channel_stride * size);
  found.channel_stride *= step;
  return found;
}

/* A branch of a split, where its channels lie or else in buffers. */
static int
run_branch (TfxEngine *e, const TfxStep *s, size_t k, const TfxUnitRun *run)
{
  const Node *node = &e->nodes[s->index];
  const uint64_t channels = s->stage->u.sum.channels[k];
  const unsigned n = node->branches[k].n_channels;
  const TfxCudaChannels gather = { channels, 0, n },
                        scatter = { 0, channels, n };
  TfxUnitRun r = *run, ends = *run;
  unsigned first, step;
  int ret;

  if (tfx_branches_find_even (channels, &first, &step)) {
    r.in = find_channels (&run->in, first, step);
    r.out = find_channels (&run->out, first, step);
    r.sum = find_channels (&run->sum, first, step);
    return run_list (e, &s->branches[k], &node->branches[k], &r);
  }
  r.in = ends.out = buffer_block (e, node->gather_buffer, run->n_frames);
  r.out = buffer_block (e, node->gather_buffer + 1, run->n_frames);
  r.sum = ends.sum = no_sum;
  ret = copy (e, &ends, &gather, 1.0);
  if (ret == 0)
    ret = run_list (e, &s->branches[k], &node->branches[k], &r);
  ends = *run;
  ends.in = r.out;
  return ret < 0 ? ret : copy (e, &ends, &scatter, 1.0);
}

/* Branches with channels of their own, and those channels that have none.  Each
 * branch counts what it clears by itself. */
static int
run_split (TfxEngine *e, const TfxStep *s, const TfxUnitRun *run)
{
  const Node *node = &e->nodes[s->index];
  TfxUnitRun r = *run;
  int ret = 0;

  for (size_t k = 0; ret == 0 && k < s->n_branches; k++) {
    ret = run_branch (e, s, k, &r);
    r.cleared += node->branches[k].n_channels;
  }
  if (node->rest.n == 0 ||
      (run->in.data == run->out.data && !run->sum.data && node->gain == 1.0))
    return ret;
  return ret < 0 ? ret : copy (e, run, &node->rest, node->gain);
}

/* ---- steps ------------------------------------------------------------------- */

/* In place only where the unit can. */
static int
run_unit (TfxEngine *e, TfxCudaUnit *unit, const TfxUnitRun *run)
{
  TfxUnitRun r = *run;
  int ret = tfx_cuda_units_prepare (unit, run->is_double, run->n_frames);

  if (ret == 0 && unit->kind->is_apart)
    ret = put_apart (e, unit->n_channels, &r);
  return ret < 0 ? ret : unit->kind->run (unit, &r);
}

static int
run_step (TfxEngine *e, const TfxStep *s, const TfxUnitRun *run)
{
  const Node *node = &e->nodes[s->index];

  if (node->unit)
    return run_unit (e, node->unit, run);
  if (s->kind == TFX_STEP_SPLIT)
    return run_split (e, s, run);
  if (!node->cascade)
    return run_sum (e, s, run);
  return tfx_cuda_cascade_run (node->cascade, run);
}

static int
run_list (TfxEngine *e, const TfxSteps *list, const List *l,
    const TfxUnitRun *run)
{
  const TfxCudaChannels all = { 0, 0, l->n_channels };
  TfxUnitRun r = *run;
  size_t next = 0;
  int ret = 0;

  if (list->n == 0)
    return copy (e, run, &all, l->gain);
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const bool is_last = tfx_cuda_engine_is_last (list, i);

    if (tfx_cuda_engine_is_folded (list, i))
      continue;
    r.out =
        is_last ? run->out : buffer_block (e, l->between + next, run->n_frames);
    r.sum = is_last ? run->sum : no_sum;
    ret = run_step (e, &list->steps[i], &r);
    r.in = r.out;
    next = !next;
  }
  return ret;
}

int
tfx_cuda_engine_run_steps (TfxEngine *e, const TfxKernelBlock *in,
    const TfxKernelBlock *out, size_t n_frames)
{
  const TfxUnitRun run = { *in, *out, no_sum, n_frames, e->double_arithmetic,
    e->cleared };

  return run_list (e, &e->plan->top, &e->top, &run);
}

static void
each_node (const TfxEngine *e, void (*cascade) (TfxCudaCascade *cascade),
    void (*unit) (TfxCudaUnit *unit))
{
  for (size_t i = 0; i < e->n_nodes; i++) {
    const Node *node = &e->nodes[i];

    if (node->cascade)
      cascade (node->cascade);
    if (node->unit)
      unit (node->unit);
  }
}

void
tfx_cuda_engine_commit (TfxEngine *e)
{
  each_node (e, tfx_cuda_cascade_commit, tfx_cuda_units_commit);
}

void
tfx_cuda_engine_abandon (TfxEngine *e)
{
  each_node (e, tfx_cuda_cascade_abandon, tfx_cuda_units_abandon);
}
