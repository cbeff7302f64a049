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
      e->double_arithmetic, (CUdeviceptr)(uintptr_t)e->cleared.data,
      &e->n_launches);
}

/* A window reads samples of before, which other threads may have overwritten: it
 * does not write where it reads. */
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

/* All of it has succeeded, or not. */
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

static int
upload (TfxEngine *e, const TfxBlock *in, TfxKernelBlock *block)
{
  unsigned i = e->next_in;
  TfxTransfer *t = &e->in[i];
  size_t n_samples = in->n_frames * in->n_channels;
  int ret = e->in_is_moving[i] ? wait_for (e, e->in_moved[i]) : 0;

  e->in_is_moving[i] = ret < 0;
  e->next_in = !i;
  /* Both, so that the next run finds its own. */
  for (int k = 0; ret == 0 && k < 2; k++)
    ret = tfx_transfer_reserve (e->cuda, &e->in[k], n_samples);
  if (ret < 0)
    return ret;
  *block = tfx_transfer_block (t, in);
  e->n_uploads++;
  return tfx_transfer_upload (e->cuda, t, in);
}

/* The output is there: for the host at any rate. */
static int
finish_output (TfxEngine *e, const TfxBlock *out, bool on_device)
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

static int
run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  bool in_on_device = false, out_on_device = false;
  size_t n_frames = out->n_frames;
  TfxKernelBlock from, to;
  int ret = find_samples (e, out, &out_on_device);

  if (ret == 0)
    ret = find_samples (e, in, &in_on_device);
  if (ret == 0)
    ret = tfx_cuda_engine_reserve (e, n_frames);
  if (ret == 0 && in_on_device)
    from = tfx_transfer_device_block (in);
  else if (ret == 0)
    ret = upload (e, in, &from);
  if (ret == 0 && !out_on_device)
    ret = tfx_transfer_reserve (e->cuda, &e->out, n_frames * out->n_channels);
  if (ret < 0)
    return ret;
  to = out_on_device ? tfx_transfer_device_block (out)
                     : tfx_transfer_block (&e->out, out);
  ret = run_list (e, &e->plan->top, &e->top, &from, &to, &no_sum, n_frames);
  return ret < 0 ? ret : finish_output (e, out, out_on_device);
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

int
tfx_cuda_engine_run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  int ret = tfx_context_enter (e->cuda);

  if (ret < 0)
    return ret;
  e->double_arithmetic = out->type == TFX_SAMPLE_F64;
  e->has_run = true;
  ret = run (e, in, out);
  commit_or_abandon (e, ret == 0);
  if (ret == 0)
    ret = count_cleared (e);
  else
    check_lost (e);
  tfx_context_leave (e->cuda);
  return ret;
}
