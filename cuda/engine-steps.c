/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-steps.c: puts the steps of a plan on the queue.
 *
 * A step reads one block and writes another; what lies between steps are
 * doubles in device memory.  The branches of a sum add themselves up: each adds
 * what the one before it has left to its own output.  Gains of sums are passed
 * on to their branches.
 *
 * Nothing of the state changes before all of it is on the queue. */
#include "engine-private.h"

#include "block.h"

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

static int
run_list (TfxEngine *e, const TfxSteps *list, List *l, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames);

/* Each branch adds what is there to what it puts out; the last one puts out
 * the sum. */
static int
run_sum (TfxEngine *e, const TfxStep *s, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  Node *node = &e->nodes[s->index];
  TfxKernelBlock so_far = buffer_block (e, node->sum_buffer, n_frames);
  int ret = 0;

  for (size_t k = 0; ret == 0 && k < s->n_branches; k++)
    ret = run_list (e, &s->branches[k], &node->branches[k], in,
        k + 1 == s->n_branches ? out : &so_far, k == 0 ? sum : &so_far,
        n_frames);
  return ret;
}

static int
run_one (TfxEngine *e, TfxCudaWindow *window, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  return tfx_cuda_window_run (window, in, out, sum, n_frames,
      e->double_arithmetic, e->cleared, &e->n_launches);
}

static int
copy_input (TfxEngine *e, const TfxKernelBlock *in, TfxKernelBlock *copy,
    size_t n_frames)
{
  int ret = tfx_buffer_reserve (&e->queue, &e->buffers[e->copy_buffer],
      n_frames * e->plan->n_channels * sizeof (double));

  *copy = buffer_block (e, e->copy_buffer, n_frames);
  return ret < 0 ? ret : run_one (e, e->copier, in, copy, &no_sum, n_frames);
}

/* A window reads samples of before, which other threads may have overwritten: it
 * does not write where it reads. */
static int
run_window (TfxEngine *e, TfxCudaWindow *window, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  TfxKernelBlock from = *in;
  int ret = 0;

  if (in->data == out->data && tfx_cuda_window_is_apart (window))
    ret = copy_input (e, in, &from, n_frames);
  return ret < 0 ? ret : run_one (e, window, &from, out, sum, n_frames);
}

/* In place only where the unit can. */
static int
run_unit (TfxEngine *e, const Node *node, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  TfxUnitRun run = { *in, *out, *sum, n_frames, e->double_arithmetic,
    e->cleared };
  int ret = 0;

  if (in->data == out->data && node->kind->is_apart)
    ret = copy_input (e, in, &run.in, n_frames);
  if (ret < 0)
    return ret;
  e->n_launches++;
  return node->kind->run (node->unit, &run);
}

static int
run_step (TfxEngine *e, const TfxStep *s, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  Node *node = &e->nodes[s->index];

  if (node->window)
    return run_window (e, node->window, in, out, sum, n_frames);
  if (node->unit)
    return run_unit (e, node, in, out, sum, n_frames);
  if (!node->cascade)
    return run_sum (e, s, in, out, sum, n_frames);
  e->n_launches++;
  return tfx_cuda_cascade_run (node->cascade, in, out, sum, n_frames,
      e->double_arithmetic, e->cleared);
}

static int
run_list (TfxEngine *e, const TfxSteps *list, List *l, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  TfxKernelBlock from = *in;
  size_t next = 0;
  int ret = 0;

  if (list->n == 0)
    return run_one (e, l->copy, in, out, sum, n_frames);
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    bool is_last = tfx_cuda_engine_is_last (list, i);
    TfxKernelBlock to =
        is_last ? *out : buffer_block (e, l->between + next, n_frames);

    if (tfx_cuda_engine_is_folded (list, i))
      continue;
    ret = run_step (e, s, &from, &to, is_last ? sum : &no_sum, n_frames);
    from = to;
    next = !next;
  }
  return ret;
}

/* All of it is on the queue, or not. */
static void
commit_or_abandon (TfxEngine *e, bool good)
{
  for (size_t i = 0; i < e->n_nodes; i++) {
    Node *node = &e->nodes[i];

    if (node->cascade && good)
      tfx_cuda_cascade_commit (node->cascade);
    else if (node->cascade)
      tfx_cuda_cascade_abandon (node->cascade);
    if (node->window && good)
      tfx_cuda_window_commit (node->window);
    else if (node->window)
      tfx_cuda_window_abandon (node->window);
    if (node->unit && good)
      node->kind->commit (node->unit);
    else if (node->unit)
      node->kind->abandon (node->unit);
  }
}

int
tfx_cuda_engine_run_steps (TfxEngine *e, const TfxKernelBlock *in,
    const TfxKernelBlock *out, size_t n_frames)
{
  return run_list (e, &e->plan->top, &e->top, in, out, &no_sum, n_frames);
}

void
tfx_cuda_engine_commit (TfxEngine *e)
{
  commit_or_abandon (e, true);
}

void
tfx_cuda_engine_abandon (TfxEngine *e)
{
  commit_or_abandon (e, false);
}
