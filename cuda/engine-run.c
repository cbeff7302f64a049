/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-run.c: runs the steps of a plan on the device.
 *
 * A step reads one block and writes another; what lies between steps are
 * doubles in device memory.  The branches of a sum add themselves up: each adds
 * what the one before it has left to its own output.  Gains of sums are passed
 * on to their branches.
 *
 * Nothing of the state changes before all of a run has succeeded. */
#include "engine-private.h"

#include "block.h"

/* Frames of a chunk that belong to the stream: see dsp/cpu/engine.c. */
typedef struct Gate
{
  size_t start, end;
  bool ended;
} Gate;

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

static int run_list (TfxEngine *e, const TfxSteps *list, List *l,
    const TfxKernelBlock *in, const TfxKernelBlock *out,
    const TfxKernelBlock *sum, size_t n_frames, Gate *gate);

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
        n_frames, NULL);
  return ret;
}

static int
run_one (TfxEngine *e, TfxCudaWindow *window, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  return tfx_cuda_window_run (window, in, out, sum, n_frames,
      e->double_arithmetic, (CUdeviceptr)(uintptr_t)e->cleared.data,
      &e->n_launches);
}

/* A window reads places that others have written: not where it writes. */
static int
run_window (TfxEngine *e, TfxCudaWindow *window, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  TfxKernelBlock copy = buffer_block (e, e->copy_buffer, n_frames);
  int ret = 0;

  if (in->data == out->data && tfx_cuda_window_is_apart (window)) {
    ret = run_one (e, e->copier, in, &copy, &no_sum, n_frames);
    in = &copy;
  }
  return ret < 0 ? ret : run_one (e, window, in, out, sum, n_frames);
}

static int
run_step (TfxEngine *e, const TfxStep *s, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  Node *node = &e->nodes[s->index];

  if (node->window)
    return run_window (e, node->window, in, out, sum, n_frames);
  if (!node->cascade)
    return run_sum (e, s, in, out, sum, n_frames);
  e->n_launches++;
  return tfx_cuda_cascade_run (node->cascade, in, out, sum, n_frames,
      e->double_arithmetic, (CUdeviceptr)(uintptr_t)e->cleared.data);
}

static int
clear_frames (TfxEngine *e, const TfxKernelBlock *block, size_t first, size_t n)
{
  size_t size = block->is_double ? sizeof (double) : sizeof (float);
  TfxKernelBlock part = *block;

  if (n == 0)
    return 0;
  part.data += first * (size_t)block->frame_stride * size;
  return run_one (e, e->clearer, &part, &part, &no_sum, n);
}

/* The frames before the stream's start and after its end are zero. */
static int
pass_gate (TfxEngine *e, Node *node, const TfxKernelBlock *block,
    size_t n_frames, Gate *gate)
{
  size_t left = n_frames - gate->start;
  size_t dropped = node->skip < left ? node->skip : left;
  int ret = clear_frames (e, block, gate->start, dropped);

  gate->start += dropped;
  node->skip -= dropped;
  if (!gate->ended || ret < 0)
    return ret;
  left = n_frames - gate->end;
  left = node->rest < left ? node->rest : left;
  gate->end += left;
  node->rest -= left;
  return clear_frames (e, block, gate->end, n_frames - gate->end);
}

static int
run_list (TfxEngine *e, const TfxSteps *list, List *l, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames,
    Gate *gate)
{
  TfxKernelBlock from = *in;
  int ret = 0;

  if (list->n == 0)
    return run_one (e, l->copy, in, out, sum, n_frames);
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    bool is_last = i + 1 == list->n;
    TfxKernelBlock to =
        is_last ? *out : buffer_block (e, l->between + i % 2, n_frames);

    /* The stream has ended for the steps before this one: what they ring on
     * with is not of it. */
    if (i > 0 && s->delay > 0 && gate->ended)
      ret = clear_frames (e, &from, gate->end, n_frames - gate->end);
    if (ret == 0)
      ret = run_step (e, s, &from, &to, is_last ? sum : &no_sum, n_frames);
    if (ret == 0 && s->delay > 0)
      ret = pass_gate (e, &e->nodes[s->index], &to, n_frames, gate);
    from = to;
  }
  return ret;
}

/* All of it has succeeded, or not. */
static void
commit_or_abandon (TfxEngine *e, bool good)
{
  for (size_t i = 0; i < e->n_nodes; i++) {
    Node *node = &e->nodes[i];

    if (!good) {
      node->skip = node->old_skip;
      node->rest = node->old_rest;
    }
    if (node->cascade && good)
      tfx_cuda_cascade_commit (node->cascade);
    else if (node->cascade)
      tfx_cuda_cascade_abandon (node->cascade);
    if (node->window && good)
      tfx_cuda_window_commit (node->window);
    else if (node->window)
      tfx_cuda_window_abandon (node->window);
  }
}

/* The driver says of memory that it does not know that the value is invalid.
 * Whatever else it says tells nothing of the memory, which must not be touched
 * then. */
static int
find_samples (TfxEngine *e, const TfxBlock *block, bool *on_device)
{
  unsigned type = CU_MEMORYTYPE_HOST;
  CUresult result = e->cuda->driver->pointer_get_attribute (&type,
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)block->data);

  *on_device = result == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE;
  if (result == CUDA_ERROR_INVALID_VALUE)
    return 0;
  return tfx_context_check (e->cuda, result, "asking where the samples are");
}

static int
record (TfxEngine *e, CUevent event)
{
  return tfx_context_check (e->cuda,
      e->cuda->driver->event_record (event, e->cuda->stream),
      "recording an event");
}

static int
wait_for (TfxEngine *e, CUevent event)
{
  return tfx_context_check (e->cuda, e->cuda->driver->event_synchronize (event),
      "waiting for the device");
}

/* Upload, or zeros where there is no input. */
static int
bring_in (TfxEngine *e, const TfxBlock *in, const TfxBlock *shape,
    TfxKernelBlock *block)
{
  unsigned i = e->next_in;
  TfxTransfer *t = &e->in[i];
  size_t n_samples = shape->n_frames * shape->n_channels;
  int ret = e->in_is_moving[i] ? wait_for (e, e->in_moved[i]) : 0;

  e->in_is_moving[i] = ret < 0;
  e->next_in = !i;
  /* Both, so that the next run finds its own. */
  for (int k = 0; ret == 0 && k < 2; k++)
    ret = tfx_transfer_reserve (e->cuda, &e->in[k], n_samples);
  if (ret < 0)
    return ret;
  *block = tfx_transfer_block (t, shape);
  if (!in)
    return tfx_context_check (e->cuda,
        e->cuda->driver->memset_d8_async (t->device.data, 0,
            n_samples * tfx_sample_size (shape->type), e->cuda->stream),
        "clearing device memory");
  e->n_uploads++;
  return tfx_transfer_upload (e->cuda, t, in);
}

/* The output is there: for the host at any rate. */
static int
bring_out (TfxEngine *e, const TfxBlock *out, bool on_device)
{
  unsigned used = !e->next_in;
  int ret = 0;

  if (on_device && !__atomic_load_n (&e->cuda->waiting, __ATOMIC_RELAXED)) {
    e->in_is_moving[used] = true;
    return record (e, e->in_moved[used]);
  }
  if (!on_device) {
    e->n_downloads++;
    ret = tfx_transfer_download (e->cuda, &e->out, out);
  }
  if (ret == 0)
    ret = record (e, e->done);
  if (ret == 0)
    ret = wait_for (e, e->done);
  if (ret == 0 && !on_device)
    tfx_transfer_finish (&e->out, out);
  return ret;
}

/* in: NULL for zeros, and then the input has ended. */
static int
run_part (TfxEngine *e, const TfxBlock *in, const TfxBlock *out,
    bool in_on_device, bool out_on_device)
{
  size_t n_frames = out->n_frames;
  Gate gate = { 0, in ? n_frames : 0, !in };
  TfxKernelBlock from, to;
  int ret = tfx_cuda_engine_reserve (e, n_frames);

  if (ret == 0 && in && in_on_device)
    from = tfx_transfer_device_block (in);
  else if (ret == 0)
    ret = bring_in (e, in, in ? in : out, &from);
  if (ret == 0 && !out_on_device)
    ret = tfx_transfer_reserve (e->cuda, &e->out, n_frames * out->n_channels);
  if (ret < 0)
    return ret;
  to = out_on_device ? tfx_transfer_device_block (out)
                     : tfx_transfer_block (&e->out, out);
  ret = run_list (e, &e->plan->top, &e->top, &from, &to, &no_sum, n_frames,
      &gate);
  return ret < 0 ? ret : bring_out (e, out, out_on_device);
}

/* How many channels the device has cleared since the last time. */
static int
count_cleared (TfxEngine *e)
{
  unsigned char *cleared = e->cleared.data;
  int n = 0;

  for (unsigned c = 0; c < e->plan->n_channels; c++) {
    n += cleared[c] != 0;
    cleared[c] = 0;
  }
  return n;
}

/* The device does not answer any more, not even to a call that failed once. */
static void
check_lost (TfxEngine *e)
{
  if (e->cuda->driver->stream_synchronize (e->cuda->stream) != CUDA_SUCCESS &&
      e->cuda->driver->stream_synchronize (e->cuda->stream) != CUDA_SUCCESS)
    __atomic_store_n (&e->cuda->lost, true, __ATOMIC_RELEASE);
}

static int
run_parts (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  bool in_on_device = false, out_on_device;
  size_t most = TFX_MAX_SAMPLES / out->n_channels;
  int n_cleared = 0;
  int where = find_samples (e, out, &out_on_device);

  if (where == 0 && in)
    where = find_samples (e, in, &in_on_device);
  if (where < 0) {
    check_lost (e);
    return where;
  }

  e->double_arithmetic = out->type == TFX_SAMPLE_F64;
  e->has_run = true;
  for (size_t i = 0; i < out->n_frames; i += most) {
    size_t n = out->n_frames - i < most ? out->n_frames - i : most;
    TfxBlock from, to = tfx_block_part (out, i, n, 0, out->n_channels);
    int ret;

    if (in)
      from = tfx_block_part (in, i, n, 0, in->n_channels);
    for (size_t k = 0; k < e->n_nodes; k++) {
      e->nodes[k].old_skip = e->nodes[k].skip;
      e->nodes[k].old_rest = e->nodes[k].rest;
    }
    ret = run_part (e, in ? &from : NULL, &to, in_on_device, out_on_device);
    commit_or_abandon (e, ret == 0);
    if (ret < 0) {
      check_lost (e);
      return ret;
    }
    n_cleared += count_cleared (e);
  }
  return n_cleared;
}

static int
run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  int ret = tfx_context_enter (e->cuda);

  if (ret < 0)
    return ret;
  ret = run_parts (e, in, out);
  tfx_context_leave (e->cuda);
  return ret;
}

int
tfx_cuda_engine_run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  return run (e, in, out);
}

int
tfx_cuda_engine_drain (TfxEngine *e, const TfxBlock *out)
{
  return run (e, NULL, out);
}
