/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.c: makes a plan ready to run on the device, and changes its values. */
#include "engine-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/branches.h"
#include "fir.h"
#include "units.h"

/* A new engine loads kernels and allocates memory for blocks of the length that the
 * plan expects, or of this length if it expects none. Memory grows with longer
 * blocks. */
#define PREPARE_FRAMES 1024

/* ---- making --------------------------------------------------------------------- */

static size_t
take_buffer (TfxEngine *e)
{
  return e->n_buffers++;
}

bool
tfx_cuda_engine_is_folded (const TfxSteps *list, size_t i)
{
  const TfxStep *s = &list->steps[i];
  TfxStepKind before;

  if (i == 0 || s->kind != TFX_STEP_CASCADE || s->n_sos > 0 || s->is_alone)
    return false;
  before = list->steps[i - 1].kind;
  return before == TFX_STEP_FIR || before == TFX_STEP_UNIT;
}

bool
tfx_cuda_engine_is_last (const TfxSteps *list, size_t i)
{
  return i + 1 == list->n ||
         (i + 2 == list->n && tfx_cuda_engine_is_folded (list, i + 1));
}

static int
make_list (TfxEngine *e, const TfxSteps *list, unsigned n_channels, List *out);

/* Where the channels of branches that are not evenly spaced are gathered, and
 * those of no branch. */
static void
lay_out_split (TfxEngine *e, const TfxStep *s, Node *node)
{
  bool are_even = true;
  uint64_t all = 0;

  for (size_t k = 0; k < s->n_branches; k++) {
    const uint64_t channels = s->stage->u.sum.channels[k];
    unsigned first, step;

    are_even = are_even && tfx_branches_find_even (channels, &first, &step);
    all |= channels;
  }
  all = ~all;
  if (node->n_channels < TFX_SPLIT_MAX_CHANNELS)
    all &= ((uint64_t)1 << node->n_channels) - 1;
  node->rest = (TfxCudaChannels){ all, all,
    (unsigned)__builtin_popcountll (all) +
        (node->n_channels > TFX_SPLIT_MAX_CHANNELS
                ? node->n_channels - TFX_SPLIT_MAX_CHANNELS
                : 0) };
  if (!are_even) {
    node->gather_buffer = take_buffer (e);
    take_buffer (e);
  }
}

static int
make_node (TfxEngine *e, const TfxStep *s, unsigned n_channels)
{
  Node *node = &e->nodes[s->index];
  int ret = 0;

  node->n_channels = n_channels;
  switch (s->kind) {
    case TFX_STEP_CASCADE:
      return tfx_cuda_cascade_new (&e->stream, n_channels, s->n_sos,
          &node->cascade);
    case TFX_STEP_FIR:
    case TFX_STEP_UNIT:
      return tfx_cuda_units_make (&e->stream, n_channels, s->stage,
          &node->unit);
    case TFX_STEP_SPLIT:
      lay_out_split (e, s, node);
      e->has_splits = true;
      break;
    case TFX_STEP_SUM:
    case TFX_STEP_FADE:
      node->sum_buffer = take_buffer (e);
      break;
  }
  node->branches = calloc (s->n_branches, sizeof *node->branches);
  if (!node->branches)
    return -ENOMEM;
  for (size_t k = 0; ret == 0 && k < s->n_branches; k++) {
    const unsigned n = s->kind == TFX_STEP_SPLIT
                           ? tfx_branches_n_channels (s->stage, k, n_channels)
                           : n_channels;

    ret = make_list (e, &s->branches[k], n, &node->branches[k]);
  }
  return ret;
}

static int
make_list (TfxEngine *e, const TfxSteps *list, unsigned n_channels, List *out)
{
  int ret = 0;

  out->n_channels = n_channels;
  if (list->n > 1) {
    out->between = take_buffer (e);
    take_buffer (e);
  }
  for (size_t i = 0; ret == 0 && i < list->n; i++) {
    if (!tfx_cuda_engine_is_folded (list, i))
      ret = make_node (e, &list->steps[i], n_channels);
  }
  return ret;
}

static int
make_event (TfxCuda *cuda, CUevent *event)
{
  return tfx_context_check (cuda,
      cuda->driver->event_create (event, CU_EVENT_DISABLE_TIMING),
      "making an event");
}

static int
make_part (TfxEngine *e, Part *p)
{
  int ret = make_event (e->cuda, &p->uploaded);

  if (ret == 0)
    ret = make_event (e->cuda, &p->ran);
  if (ret == 0)
    ret = make_event (e->cuda, &p->done);
  if (ret == 0)
    ret = tfx_pinned_reserve (&e->stream, &p->cleared, e->plan->n_channels);
  if (ret == 0)
    memset (p->cleared.data, 0, e->plan->n_channels);
  return ret;
}

static void
free_part (TfxEngine *e, Part *p)
{
  const TfxDriver *d = e->cuda->driver;
  CUevent events[] = { p->uploaded, p->ran, p->done };

  tfx_transfer_free (&e->stream, &p->in);
  tfx_transfer_free (&e->stream, &p->out);
  tfx_pinned_free (&e->stream, &p->cleared);
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if (events[i])
      d->event_destroy (events[i]);
  }
}

static void
free_list (const TfxSteps *list, TfxEngine *e)
{
  for (size_t i = 0; e->nodes && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];

    tfx_cuda_cascade_free (&node->cascade);
    tfx_cuda_units_free (&node->unit);
    for (size_t k = 0; node->branches && k < s->n_branches; k++)
      free_list (&s->branches[k], e);
    free (node->branches);
  }
}

static void
engine_clear (TfxEngine *e)
{
  free_list (&e->plan->top, e);
  for (size_t i = 0; e->buffers && i < e->n_buffers; i++)
    tfx_buffer_free (&e->stream, &e->buffers[i]);
  for (unsigned i = 0; i < TFX_N_PARTS; i++)
    free_part (e, &e->parts[i]);
  tfx_context_give_stream (e->cuda, &e->own);
  tfx_context_give_stream (e->cuda, &e->up);
  tfx_context_give_stream (e->cuda, &e->down);
}

int
tfx_cuda_engine_drain (const TfxEngine *e)
{
  const CUstream streams[] = { e->stream.handle, e->up, e->down };
  int ret = 0;

  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
    const TfxCudaStream stream = { e->cuda, streams[i] };

    if (streams[i] && tfx_context_drain (&stream) < 0)
      ret = -EIO;
  }
  return ret;
}

void
tfx_cuda_engine_free (TfxEngine **engine)
{
  TfxEngine *e = *engine;
  bool entered;

  *engine = NULL;
  if (!e)
    return;
  /* What the device may still do with the memory comes first.  Where there is
   * no device any more the host's part is freed all the same. */
  entered = tfx_context_enter (e->cuda) == 0;
  tfx_cuda_engine_drain (e);
  engine_clear (e);
  if (entered)
    tfx_context_leave (e->cuda);
  free (e->nodes);
  free (e->buffers);
  free (e);
}

/* scale: a gain behind the last step. */
static void
update_list (TfxEngine *e, const TfxSteps *list, List *l, double scale)
{
  l->gain = scale;
  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    Node *node = &e->nodes[s->index];
    double gain = s->gain;

    if (tfx_cuda_engine_is_folded (list, i))
      continue;
    if (i + 1 < list->n && tfx_cuda_engine_is_folded (list, i + 1))
      gain *= list->steps[i + 1].gain;
    if (tfx_cuda_engine_is_last (list, i))
      gain *= scale;
    node->gain = gain;
    if (node->cascade)
      tfx_cuda_cascade_set_sections (node->cascade, s->sos, gain);
    if (node->unit)
      tfx_cuda_units_set_stage (node->unit, s->stage, gain);
    for (size_t k = 0; k < s->n_branches; k++)
      update_list (e, &s->branches[k], &node->branches[k], gain);
  }
}

int
tfx_cuda_engine_update (TfxEngine *e, const TfxPlan *plan)
{
  /* Of the stream, once there is one. */
  const bool is_double =
      e->has_run ? e->double_arithmetic : plan->sample == TFX_SAMPLE_F64;

  e->plan = plan;
  update_list (e, &plan->top, &e->top, 1.0);
  /* Now rather than in the next run.  What fails is tried again there. */
  if (tfx_context_enter (e->cuda) < 0)
    return 0;
  for (size_t i = 0; i < e->n_nodes; i++) {
    if (e->nodes[i].unit)
      tfx_cuda_units_prepare (e->nodes[i].unit, is_double, 1);
  }
  tfx_context_leave (e->cuda);
  return 0;
}

/* ---- memory for a block ------------------------------------------------------------ */

static int
prepare_node (Node *node, TfxSample type, size_t n_frames, bool is_whole)
{
  if (node->cascade)
    return tfx_cuda_cascade_prepare (node->cascade, type, n_frames, is_whole);
  return node->unit ? tfx_cuda_units_prepare (node->unit,
                          type == TFX_SAMPLE_F64, n_frames)
                    : 0;
}

int
tfx_cuda_engine_reserve (TfxEngine *e, size_t n_frames)
{
  size_t n_samples = n_frames * e->plan->n_channels;
  int ret = 0;

  /* The one that few need is made when it is. */
  for (size_t i = 0; ret == 0 && i < e->n_buffers; i++) {
    if (i != e->copy_buffer)
      ret = tfx_buffer_reserve (&e->stream, &e->buffers[i],
          n_samples * sizeof (double));
  }
  return ret;
}

/* On the device a single step needs no room beside the block. */
size_t
tfx_cuda_engine_part_frames (const TfxEngine *e, TfxCudaPlace in,
    TfxCudaPlace out)
{
  size_t n_samples = e->part_samples, n_frames;

  if (in == TFX_PLACE_DEVICE && out == TFX_PLACE_DEVICE && e->n_buffers == 1)
    n_samples = TFX_MAX_SAMPLES;
  n_frames = n_samples / e->plan->n_channels;
  return n_frames > 0 ? n_frames : 1;
}

bool
tfx_cuda_engine_reads_once (const TfxPlan *plan)
{
  const TfxStep *first = plan->top.steps;
  const TfxCudaUnitKind *unit;
  TfxGroups groups;

  if (plan->top.n == 0)
    return true;
  switch (first->kind) {
    case TFX_STEP_CASCADE:
      /* A thread with a long segment waits for the bus again and again. */
      groups = tfx_tables_group (first->n_sos, plan->sample == TFX_SAMPLE_F64);
      return tfx_tables_min_segment_log2 (groups) == 0;
    case TFX_STEP_UNIT:
      unit = tfx_cuda_units_find (first->stage);
      return unit && unit->reads_once;
    default:
      return false;
  }
}

static int
prepare (TfxEngine *e)
{
  TfxSample type = e->plan->sample;
  size_t n_frames =
      e->plan->block_frames > 0 ? e->plan->block_frames : PREPARE_FRAMES;
  size_t most = tfx_cuda_engine_part_frames (e, TFX_PLACE_HOST, TFX_PLACE_HOST);
  TfxKernelBlock samples;
  TfxBlock block;
  bool is_short;
  int ret = 0;

  if (e->plan->run_frames > n_frames)
    n_frames = e->plan->run_frames;
  if (n_frames > most)
    n_frames = most;
  block = tfx_block_interleaved (NULL, type, e->plan->n_channels, n_frames);
  is_short = tfx_transfer_is_short (n_frames, e->plan->n_channels, type);
  for (size_t i = 0; ret == 0 && i < e->n_nodes; i++)
    ret =
        prepare_node (&e->nodes[i], type, n_frames, e->plan->n_all_steps == 1);
  if (ret == 0 && e->plan->top.n == 0)
    ret = tfx_cuda_copy_prepare (&e->copy);
  if (ret == 0)
    ret = tfx_transfer_reserve (&e->stream, &e->parts[0].in, &block, false,
        is_short && tfx_cuda_engine_reads_once (e->plan), &samples);
  if (ret == 0)
    ret = tfx_transfer_reserve (&e->stream, &e->parts[0].out, &block, false,
        is_short, &samples);
  return ret < 0 ? ret : tfx_cuda_engine_reserve (e, n_frames);
}

static int
engine_make (TfxEngine *e)
{
  const TfxPlan *plan = e->plan;
  int ret = tfx_context_take_stream (e->cuda, &e->own);

  if (ret < 0)
    return ret;
  e->stream.handle = e->own;
  e->copy.stream = &e->stream;
  ret = make_list (e, &plan->top, plan->n_channels, &e->top);

  e->copy_buffer = take_buffer (e);
  e->buffers = calloc (e->n_buffers, sizeof *e->buffers);
  if (ret == 0 && !e->buffers)
    ret = -ENOMEM;
  for (unsigned i = 0; ret == 0 && i < TFX_N_PARTS; i++)
    ret = make_part (e, &e->parts[i]);
  if (ret < 0)
    return ret;
  update_list (e, &plan->top, &e->top, 1.0);
  return prepare (e);
}

int
tfx_cuda_engine_new (TfxCuda *cuda, const TfxPlan *plan, TfxEngine **engine)
{
  TfxEngine *e = calloc (1, sizeof *e);
  int ret = -ENOMEM;

  *engine = NULL;
  if (!e)
    return -ENOMEM;
  e->plan = plan;
  e->cuda = cuda;
  e->stream = (TfxCudaStream){ .cuda = cuda, .handle = cuda->stream };
  e->part_samples = TFX_PART_SAMPLES;
  e->n_nodes = plan->n_all_steps;
  e->nodes = calloc (e->n_nodes + 1, sizeof *e->nodes);
  if (e->nodes)
    ret = tfx_context_enter (e->cuda);
  if (ret == 0) {
    ret = engine_make (e);
    tfx_context_leave (e->cuda);
  }
  if (ret < 0) {
    tfx_cuda_engine_free (&e);
    return ret;
  }
  *engine = e;
  return 0;
}

/* ---- the rest of the table --------------------------------------------------------- */

void
tfx_cuda_engine_add_stats (const TfxEngine *e, TfxStats *stats)
{
  stats->launches += e->stream.n_launches;
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

void
tfx_cuda_engine_force_parts (TfxEngine *e, size_t n_samples)
{
  e->part_samples = n_samples;
}

void
tfx_cuda_engine_force_fft (TfxEngine *e, unsigned log2, unsigned max_tiles)
{
  for (size_t i = 0; i < e->n_nodes; i++) {
    TfxCudaUnit *unit = e->nodes[i].unit;

    if (unit && unit->kind == &tfx_cuda_fir)
      tfx_cuda_fir_force (unit, log2, max_tiles);
  }
}
