/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.c: runs the steps of a plan on the device.
 *
 * A step reads one block and writes another; what lies between steps are
 * doubles in device memory.  The branches of a sum add themselves up: each adds
 * what the one before it has left to its own output.  Gains of sums are passed
 * on to their branches.
 *
 * Nothing of the state changes before all of a run has succeeded. */
#include "engine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "cascade.h"
#include "transfer.h"
#include "window.h"

/* Samples that are run at a time; larger blocks are run in parts. */
#define MAX_SAMPLES ((size_t)1 << 28)

/* Kernels and memory are made ready when an engine is made, for blocks of as
 * many frames as the plan knows of, or as these; memory grows when larger ones
 * come. */
#define PREPARE_FRAMES 1024

/* New taps of a FIR take over in a cross-fade of this length. */
#define FIR_FADE_SECONDS 0.01

/* Steps in series. */
typedef struct List
{
  TfxCudaWindow *copy; /* of no steps at all */
  size_t between;      /* the first of two buffers; of two steps or more */
} List;

/* What a step of the plan has at run time, by its index. */
typedef struct Node
{
  TfxCudaCascade *cascade;
  TfxCudaWindow *window;
  List *branches;    /* sums */
  size_t sum_buffer; /* sums */
  /* Steps with a delay: frames still to be dropped, and frames still to come
   * after the end of the stream; and what they were before the run. */
  size_t skip, rest, old_skip, old_rest;
} Node;

struct TfxEngine
{
  TfxCuda *cuda;
  const TfxPlan *plan;
  size_t n_nodes;
  Node *nodes;
  List top;
  TfxCudaWindow *copier, *clearer; /* y = x, y = 0 */
  TfxBuffer *buffers;              /* each a block of doubles */
  size_t n_buffers, copy_buffer;

  /* Two, so that one is filled while the other is on its way. */
  TfxTransfer in[2], out;
  CUevent in_moved[2], done;
  bool in_is_moving[2]; /* a run has not waited for its end */
  unsigned next_in;

  TfxPinned cleared; /* byte[n_channels]: the device clears a state */
  bool double_arithmetic;
  uint64_t n_launches, n_uploads, n_downloads;
};

/* Frames of a chunk that belong to the stream: see dsp/cpu/engine.c. */
typedef struct Gate
{
  size_t start, end;
  bool ended;
} Gate;

/* ---- making --------------------------------------------------------------------- */

static size_t
take_buffer (TfxEngine *e)
{
  return e->n_buffers++;
}

static int make_list (TfxEngine *e, const TfxSteps *list, List *out);

static int
make_node (TfxEngine *e, const TfxStep *s)
{
  Node *node = &e->nodes[s->index];
  unsigned n_channels = e->plan->n_channels;
  int ret = 0;

  switch (s->kind) {
    case TFX_STEP_CASCADE:
      return tfx_cuda_cascade_new (e->cuda, n_channels, s->n_sos,
          &node->cascade);
    case TFX_STEP_FIR:
      return tfx_cuda_window_new (e->cuda, n_channels, true,
          s->stage->u.fir.n_taps - 1, &node->window);
    case TFX_STEP_DELAY:
      return tfx_cuda_window_new (e->cuda, n_channels, false,
          s->stage->u.delay.longest, &node->window);
    case TFX_STEP_SUM:
      break;
  }
  node->branches = calloc (s->n_branches, sizeof *node->branches);
  if (!node->branches)
    return -ENOMEM;
  node->sum_buffer = take_buffer (e);
  for (size_t k = 0; ret == 0 && k < s->n_branches; k++)
    ret = make_list (e, &s->branches[k], &node->branches[k]);
  return ret;
}

static int
make_list (TfxEngine *e, const TfxSteps *list, List *out)
{
  int ret = 0;

  if (list->n == 0)
    ret = tfx_cuda_window_new (e->cuda, e->plan->n_channels, false, 0,
        &out->copy);
  if (list->n > 1) {
    out->between = take_buffer (e);
    take_buffer (e);
  }
  for (size_t i = 0; ret == 0 && i < list->n; i++)
    ret = make_node (e, &list->steps[i]);
  return ret;
}

static int
make_event (TfxCuda *cuda, CUevent *event)
{
  return tfx_context_check (cuda,
      cuda->driver->event_create (event, CU_EVENT_DISABLE_TIMING),
      "making an event");
}

static void
free_list (const TfxSteps *list, List *l, TfxEngine *e)
{
  tfx_cuda_window_free (&l->copy);
  for (size_t i = 0; e->nodes && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];

    tfx_cuda_cascade_free (&node->cascade);
    tfx_cuda_window_free (&node->window);
    for (size_t k = 0; node->branches && k < s->n_branches; k++)
      free_list (&s->branches[k], &node->branches[k], e);
    free (node->branches);
  }
}

static void
engine_clear (TfxEngine *e)
{
  const TfxDriver *d = e->cuda->driver;

  free_list (&e->plan->top, &e->top, e);
  tfx_cuda_window_free (&e->copier);
  tfx_cuda_window_free (&e->clearer);
  for (size_t i = 0; e->buffers && i < e->n_buffers; i++)
    tfx_buffer_free (e->cuda, &e->buffers[i]);
  for (int i = 0; i < 2; i++) {
    tfx_transfer_free (e->cuda, &e->in[i]);
    if (e->in_moved[i])
      d->event_destroy (e->in_moved[i]);
  }
  tfx_transfer_free (e->cuda, &e->out);
  if (e->done)
    d->event_destroy (e->done);
  tfx_pinned_free (e->cuda, &e->cleared);
}

static void
cuda_engine_free (TfxEngine *e)
{
  bool entered;

  if (!e)
    return;
  /* What the device may still do with the memory comes first.  Where there is
   * no device any more the host's part is freed all the same. */
  entered = tfx_context_enter (e->cuda) == 0;
  e->cuda->driver->stream_synchronize (e->cuda->stream);
  engine_clear (e);
  if (entered)
    tfx_context_leave (e->cuda);
  free (e->nodes);
  free (e->buffers);
  tfx_cuda_unref (&e->cuda);
  free (e);
}

static void
rearm_gates (TfxEngine *e)
{
  for (size_t i = 0; i < e->plan->top.n; i++) {
    const TfxStep *s = &e->plan->top.steps[i];
    e->nodes[s->index].skip = e->nodes[s->index].rest = s->delay;
  }
}

/* scale: a gain behind the last step. */
static void
update_list (TfxEngine *e, const TfxSteps *list, List *l, double scale)
{
  size_t fade = (size_t)(e->plan->rate_hz * FIR_FADE_SECONDS);

  if (list->n == 0)
    tfx_cuda_window_set_gain (l->copy, scale);
  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];
    double gain = s->gain * (i + 1 == list->n ? scale : 1.0);

    if (node->cascade)
      tfx_cuda_cascade_set_sections (node->cascade, s->sos, gain);
    if (node->window)
      tfx_cuda_window_set_stage (node->window, s->stage, gain, fade);
    for (size_t k = 0; k < s->n_branches; k++)
      update_list (e, &s->branches[k], &node->branches[k], gain);
  }
}

static int
cuda_engine_update (TfxEngine *e, const TfxPlan *plan)
{
  e->plan = plan;
  update_list (e, &plan->top, &e->top, 1.0);
  /* Now rather than in the next run.  What fails is tried again there. */
  if (tfx_context_enter (e->cuda) < 0)
    return 0;
  for (size_t i = 0; i < e->n_nodes; i++) {
    if (e->nodes[i].window)
      tfx_cuda_window_prepare (e->nodes[i].window, plan->sample, 1);
  }
  tfx_context_leave (e->cuda);
  return 0;
}

/* ---- memory for a block ------------------------------------------------------------ */

static int
prepare_node (Node *node, TfxSample type, size_t n_frames)
{
  int ret = 0;

  if (node->cascade)
    ret = tfx_cuda_cascade_prepare (node->cascade, type, n_frames);
  if (ret == 0 && node->window)
    ret = tfx_cuda_window_prepare (node->window, type, n_frames);
  return ret;
}

static int
reserve (TfxEngine *e, size_t n_frames)
{
  size_t n_samples = n_frames * e->plan->n_channels;
  int ret = 0;

  for (size_t i = 0; ret == 0 && i < e->n_buffers; i++)
    ret = tfx_buffer_reserve (e->cuda, &e->buffers[i],
        n_samples * sizeof (double));
  return ret;
}

static int
prepare (TfxEngine *e)
{
  TfxSample type = e->plan->sample;
  size_t n_frames =
      e->plan->block_frames > 0 ? e->plan->block_frames : PREPARE_FRAMES;
  size_t n_samples;
  int ret = 0;

  if (n_frames > MAX_SAMPLES / e->plan->n_channels)
    n_frames = MAX_SAMPLES / e->plan->n_channels;
  n_samples = n_frames * e->plan->n_channels;
  for (size_t i = 0; ret == 0 && i < e->n_nodes; i++)
    ret = prepare_node (&e->nodes[i], type, n_frames);
  if (ret == 0 && e->top.copy)
    ret = tfx_cuda_window_prepare (e->top.copy, type, n_frames);
  for (int i = 0; ret == 0 && i < 2; i++)
    ret = tfx_transfer_reserve (e->cuda, &e->in[i], n_samples);
  if (ret == 0)
    ret = tfx_transfer_reserve (e->cuda, &e->out, n_samples);
  return ret < 0 ? ret : reserve (e, n_frames);
}

static int
engine_make (TfxEngine *e)
{
  const TfxPlan *plan = e->plan;
  int ret = make_list (e, &plan->top, &e->top);

  e->copy_buffer = take_buffer (e);
  e->buffers = calloc (e->n_buffers, sizeof *e->buffers);
  if (ret == 0 && !e->buffers)
    ret = -ENOMEM;
  if (ret == 0)
    ret = tfx_cuda_window_new (e->cuda, plan->n_channels, false, 0, &e->copier);
  if (ret == 0)
    ret =
        tfx_cuda_window_new (e->cuda, plan->n_channels, false, 0, &e->clearer);
  if (ret == 0)
    tfx_cuda_window_set_gain (e->clearer, 0.0);
  for (int i = 0; ret == 0 && i < 2; i++)
    ret = make_event (e->cuda, &e->in_moved[i]);
  if (ret == 0)
    ret = make_event (e->cuda, &e->done);
  if (ret == 0)
    ret = tfx_pinned_reserve (e->cuda, &e->cleared, plan->n_channels);
  if (ret < 0)
    return ret;
  memset (e->cleared.data, 0, plan->n_channels);
  update_list (e, &plan->top, &e->top, 1.0);
  return prepare (e);
}

static int
cuda_engine_new (const TfxPlan *plan, TfxEngine **engine)
{
  TfxEngine *e = calloc (1, sizeof *e);
  int ret = -ENOMEM;

  *engine = NULL;
  if (!e)
    return -ENOMEM;
  e->plan = plan;
  e->cuda = tfx_cuda_ref ((TfxCuda *)plan->backend->data);
  e->n_nodes = plan->n_all_steps;
  e->nodes = calloc (e->n_nodes + 1, sizeof *e->nodes);
  if (e->nodes)
    ret = tfx_context_enter (e->cuda);
  if (ret == 0) {
    ret = engine_make (e);
    tfx_context_leave (e->cuda);
  }
  if (ret < 0) {
    cuda_engine_free (e);
    return ret;
  }
  rearm_gates (e);
  *engine = e;
  return 0;
}

/* ---- running ------------------------------------------------------------------------ */

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

/* A window reads places that others have written: not where it writes. */
static int
run_window (TfxEngine *e, TfxCudaWindow *window, const TfxKernelBlock *in,
    const TfxKernelBlock *out, const TfxKernelBlock *sum, size_t n_frames)
{
  TfxKernelBlock copy = buffer_block (e, e->copy_buffer, n_frames);
  int ret = 0;

  if (in->data == out->data) {
    ret = tfx_cuda_window_run (e->copier, in, &copy, &no_sum, n_frames, false,
        &e->n_launches);
    in = &copy;
  }
  if (ret == 0)
    ret = tfx_cuda_window_run (window, in, out, sum, n_frames,
        e->double_arithmetic, &e->n_launches);
  return ret;
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
  return tfx_cuda_window_run (e->clearer, &part, &part, &no_sum, n, false,
      &e->n_launches);
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
    return tfx_cuda_window_run (l->copy, in, out, sum, n_frames, false,
        &e->n_launches);
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    bool is_last = i + 1 == list->n;
    TfxKernelBlock to =
        is_last ? *out : buffer_block (e, l->between + i % 2, n_frames);

    ret = run_step (e, s, &from, &to, is_last ? sum : &no_sum, n_frames);
    if (ret == 0 && s->delay > 0)
      ret = pass_gate (e, &e->nodes[s->index], &to, n_frames, gate);
    from = to;
  }
  return ret;
}

/* All of it has succeeded, or not. */
static void
settle (TfxEngine *e, bool good)
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
  }
}

static bool
is_on_device (TfxEngine *e, const TfxBlock *block)
{
  unsigned type = CU_MEMORYTYPE_HOST;
  CUresult result = e->cuda->driver->pointer_get_attribute (&type,
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)block->data);

  return result == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE;
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
  int ret = reserve (e, n_frames);

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
look_if_lost (TfxEngine *e)
{
  if (e->cuda->driver->stream_synchronize (e->cuda->stream) != CUDA_SUCCESS &&
      e->cuda->driver->stream_synchronize (e->cuda->stream) != CUDA_SUCCESS)
    __atomic_store_n (&e->cuda->lost, true, __ATOMIC_RELEASE);
}

static int
run_parts (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  bool in_on_device = in && is_on_device (e, in);
  bool out_on_device = is_on_device (e, out);
  size_t most = MAX_SAMPLES / out->n_channels;
  int n_cleared = 0;

  e->double_arithmetic = out->type == TFX_SAMPLE_F64;
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
    settle (e, ret == 0);
    if (ret < 0) {
      look_if_lost (e);
      return ret;
    }
    n_cleared += count_cleared (e);
  }
  return n_cleared;
}

static int
cuda_engine_run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  int ret = tfx_context_enter (e->cuda);

  if (ret < 0)
    return ret;
  ret = run_parts (e, in, out);
  tfx_context_leave (e->cuda);
  return ret;
}

static int
cuda_engine_drain (TfxEngine *e, const TfxBlock *out)
{
  return cuda_engine_run (e, NULL, out);
}

/* ---- state ---------------------------------------------------------------------------- */

static void
state_is_lost (TfxEngine *e)
{
  __atomic_store_n (&e->cuda->lost, true, __ATOMIC_RELEASE);
}

/* Whatever fails is tried once more: what is asked of a device that has just
 * failed is worth it. */
static int
try_get_state (TfxEngine *e, const TfxPlanStage *s, double *state)
{
  Node *node = &e->nodes[s->step->index];
  int ret = tfx_context_enter (e->cuda);

  if (ret < 0)
    return ret;
  if (node->cascade)
    ret = tfx_cuda_cascade_get_state (node->cascade, s->first_sos, s->n_sos,
        state);
  else if (node->window)
    ret = tfx_cuda_window_get_state (node->window, state);
  tfx_context_leave (e->cuda);
  return ret;
}

static void
cuda_engine_get_state (TfxEngine *e, size_t stage, double *state)
{
  const TfxPlanStage *s = &e->plan->stages[stage];

  if (try_get_state (e, s, state) == 0 || try_get_state (e, s, state) == 0)
    return;
  memset (state, 0, e->plan->n_channels * s->state_size * sizeof *state);
  state_is_lost (e);
}

static int
try_set_state (TfxEngine *e, const TfxPlanStage *s, const double *state)
{
  Node *node = &e->nodes[s->step->index];
  int ret = tfx_context_enter (e->cuda);

  if (ret < 0)
    return ret;
  if (node->cascade)
    ret = tfx_cuda_cascade_set_state (node->cascade, s->first_sos, s->n_sos,
        state);
  else if (node->window)
    ret = tfx_cuda_window_set_state (node->window, state);
  tfx_context_leave (e->cuda);
  return ret;
}

static void
cuda_engine_set_state (TfxEngine *e, size_t stage, const double *state)
{
  const TfxPlanStage *s = &e->plan->stages[stage];

  if (try_set_state (e, s, state) < 0 && try_set_state (e, s, state) < 0)
    state_is_lost (e);
}

static size_t
cuda_engine_get_skip (const TfxEngine *e, size_t stage)
{
  size_t skip = 0;

  if (stage != SIZE_MAX)
    return e->nodes[e->plan->stages[stage].step->index].skip;
  for (size_t i = 0; i < e->n_nodes; i++)
    skip += e->nodes[i].skip;
  return skip;
}

static void
cuda_engine_set_skip (TfxEngine *e, size_t stage, size_t skip)
{
  e->nodes[e->plan->stages[stage].step->index].skip = skip;
}

static void
cuda_engine_reset (TfxEngine *e)
{
  bool entered = tfx_context_enter (e->cuda) == 0;

  for (size_t i = 0; i < e->n_nodes; i++) {
    if (e->nodes[i].cascade)
      tfx_cuda_cascade_reset (e->nodes[i].cascade);
    if (e->nodes[i].window)
      tfx_cuda_window_reset (e->nodes[i].window);
  }
  rearm_gates (e);
  if (entered)
    tfx_context_leave (e->cuda);
}

static double
cuda_engine_state_peak (const TfxEngine *e)
{
  double peak = 0.0;

  if (tfx_context_enter (e->cuda) < 0)
    return INFINITY;
  for (size_t i = 0; i < e->n_nodes; i++) {
    const Node *node = &e->nodes[i];
    double p = 0.0;

    if (node->cascade)
      p = tfx_cuda_cascade_state_peak (node->cascade);
    else if (node->window)
      p = tfx_cuda_window_state_peak (node->window);
    peak = p > peak ? p : peak;
  }
  tfx_context_leave (e->cuda);
  return peak;
}

static void
cuda_engine_add_stats (const TfxEngine *e, TfxStats *stats)
{
  stats->launches += e->n_launches;
  stats->uploads += e->n_uploads;
  stats->downloads += e->n_downloads;
}

void
tfx_cuda_engine_force (TfxEngine *e, int segment_log2, int lanes_log2,
    unsigned max_grid)
{
  for (size_t i = 0; i < e->n_nodes; i++) {
    if (e->nodes[i].cascade)
      tfx_cuda_cascade_force (e->nodes[i].cascade, segment_log2, lanes_log2,
          max_grid);
  }
}

const TfxBackend *
tfx_cuda_engine_backend (void)
{
  static const TfxBackend backend = {
    .name = "cuda",
    .engine_new = cuda_engine_new,
    .engine_free = cuda_engine_free,
    .run = cuda_engine_run,
    .update = cuda_engine_update,
    .get_state = cuda_engine_get_state,
    .set_state = cuda_engine_set_state,
    .drain = cuda_engine_drain,
    .get_skip = cuda_engine_get_skip,
    .set_skip = cuda_engine_set_skip,
    .reset = cuda_engine_reset,
    .state_peak = cuda_engine_state_peak,
    .add_stats = cuda_engine_add_stats,
  };

  return &backend;
}
