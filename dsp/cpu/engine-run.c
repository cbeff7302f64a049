/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-run.c: runs the steps of a plan.
 *
 * A single step works on the caller's block.  Several steps go over it in chunks that stay in
 * the cache: the first step reads the block, the last one writes it, and between them are
 * doubles in a chunk of the engine.  The branches of a sum read the same chunk in turn. */
#include "engine-private.h"

#include <string.h>

#include "copy.h"
#include "core/block.h"
#include "core/branches.h"
#include "core/state.h"
#include "core/step.h"
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

static void
copy (const TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  tfx_cpu_copy (kernels_of (e), in, out, 1.0);
}

/* A chunk for as many channels and frames. */
static TfxBlock
chunk_block (const TfxEngine *e, size_t chunk, const TfxBlock *like)
{
  return tfx_block_interleaved (e->chunks + chunk * e->chunk_size,
      TFX_SAMPLE_F64, like->n_channels, like->n_frames);
}

/* The same in planes.  They are an odd number of lines apart: planes that begin a multiple of
 * 4096 bytes apart share the places of the cache. */
static TfxBlock
chunk_planes (const TfxEngine *e, size_t chunk, TfxSample type,
    unsigned n_channels, size_t n_frames)
{
  const size_t line = type == TFX_SAMPLE_F32 ? TFX_LINE_F32 : TFX_LINE_F64;
  const size_t n_lines = (n_frames + line - 1) / line;

  return tfx_block_planar (e->chunks + chunk * e->chunk_size, type, n_channels,
      n_frames, (n_lines | 1) * line);
}

/* ---- sums ----------------------------------------------------------------- */

static int
run_sum (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  const TfxBlock sum = chunk_block (e, node->chunks, in);
  const TfxBlock branch = chunk_block (e, node->chunks + 1, in);
  const size_t n_samples = in->n_frames * in->n_channels;
  size_t n_done = 0; /* blocks; all but the last are added up */
  int n_cleared = 0;

  for (size_t k = 0, n; k < s->n_branches; k += n, n_done++) {
    const TfxBlock *to = n_done > 0 ? &branch : &sum;
    const Merged *merged = NULL;

    for (size_t i = 0; !merged && i < node->n_merged; i++) {
      if (node->merged[i].first == k &&
          tfx_engine_enter_merged (e, node, &node->merged[i], true))
        merged = &node->merged[i];
    }
    n = merged ? merged->n : 1;
    if (merged && n == s->n_branches)
      return tfx_cascade_run (merged->cascade, e->type, in, out);
    if (n_done > 1)
      kernels_of (e)->add (sum.data, branch.data, n_samples);
    n_cleared += merged ? tfx_cascade_run (merged->cascade, e->type, in, to)
                        : run_steps (e, &s->branches[k], in, to);
  }

  if (n_done > 1 && tfx_block_is_interleaved (out)) {
    const double *rows[] = { sum.data, branch.data };
    const double gains[] = { 1.0, 1.0 };

    kernels_of (e)->sum (out->data, out->type, rows, gains, 2, n_samples);
    return n_cleared;
  }
  if (n_done > 1)
    kernels_of (e)->add (sum.data, branch.data, n_samples);
  copy (e, &sum, out);
  return n_cleared;
}

/* ---- splits --------------------------------------------------------------- */

/* Some channels of a stream, one after the other, times a gain.  Each block has all channels,
 * or these alone. */
static void
copy_channels (const TfxEngine *e, const TfxBlock *from, const TfxBlock *to,
    uint64_t channels, double gain)
{
  const unsigned n = (unsigned)__builtin_popcountll (channels);

  for (unsigned k = 0; k < n; k++, channels &= channels - 1) {
    const unsigned c = (unsigned)__builtin_ctzll (channels);
    const TfxBlock in = tfx_block_part (from, 0, from->n_frames,
        from->n_channels == n ? k : c, 1);
    const TfxBlock out =
        tfx_block_part (to, 0, to->n_frames, to->n_channels == n ? k : c, 1);

    tfx_cpu_copy (kernels_of (e), &in, &out, gain);
  }
}

/* The channels of terms without sections, from a block to the first chunk of the node; or
 * back, with their gain. */
static void
copy_bare (const TfxEngine *e, const Node *node, const TfxBlock *block,
    bool is_back)
{
  const Merged *merged = node->merged;
  TfxBlock bare = chunk_block (e, node->chunks, block);
  uint64_t left = UINT64_MAX >> (64 - block->n_channels);

  for (size_t k = 0; k < merged->n_terms; k++) {
    const TfxCascadeTerm *t = &merged->terms[k];
    const uint64_t channels = k < merged->n ? t->channels : left;

    left &= ~channels;
    if (t->n_sos > 0 || channels == 0)
      continue;
    bare = tfx_block_interleaved (bare.data, TFX_SAMPLE_F64,
        (unsigned)__builtin_popcountll (channels), bare.n_frames);
    copy_channels (e, is_back ? &bare : block, is_back ? block : &bare,
        channels, is_back ? t->gain : 1.0);
    bare.data = (double *)bare.data + bare.n_channels * bare.n_frames;
  }
}

/* The leading cascades of all branches, merged.  Channels without sections bypass them, since
 * a cascade would keep what is not finite. */
static int
run_front (TfxEngine *e, const Node *node, const TfxBlock *in,
    const TfxBlock *out)
{
  int n_cleared;

  copy_bare (e, node, in, false);
  n_cleared = tfx_cascade_run (node->merged->cascade, e->type, in, out);
  copy_bare (e, node, out, true);
  return n_cleared;
}

/* The branches run one after the other in their own channels: where these lie, in planes, or, if
 * they are unevenly spaced, in a chunk.  Planes are read as they are, without the merged
 * front. */
static int
run_split (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const Node *node = &e->nodes[s->index];
  const bool has_planes = are_planes (in, out);
  const bool is_merged =
      node->n_merged > 0 && tfx_engine_enter_merged (e, node, node->merged,
                                !(has_planes && node->merged->has_rest));
  const bool transposes =
      wants_planes (node, e->type) && !(has_planes && in->type == out->type);
  const size_t scratch = transposes ? node->chunks + 1 : node->chunks;
  TfxBlock from = *in, to = *out;
  int n_cleared = 0;

  if (is_merged && !node->merged->has_rest)
    return run_front (e, node, in, out);
  if (is_merged) {
    from = chunk_block (e, node->chunks + 1, in);
    n_cleared = run_front (e, node, in, &from);
  }
  if (transposes)
    to = chunk_planes (e, node->chunks,
        from.type == out->type ? from.type : TFX_SAMPLE_F64, in->n_channels,
        in->n_frames);
  if (from.data != to.data)
    copy (e, &from, &to);
  if (transposes)
    from = to;

  for (size_t k = 0; k < s->n_branches; k++) {
    const uint64_t channels = s->stage->u.sum.channels[k];
    const unsigned n = (unsigned)__builtin_popcountll (channels);
    TfxSteps rest = s->branches[k];
    TfxBlock x, y;
    unsigned first, step;

    if (is_merged && leading_cascade (&rest)) {
      rest.steps++;
      rest.n--;
    }
    if (rest.n == 0)
      continue;
    if (tfx_branches_find_even (channels, &first, &step)) {
      x = tfx_block_part (&from, 0, from.n_frames, first, n);
      y = tfx_block_part (&to, 0, to.n_frames, first, n);
      x.channel_stride *= (ptrdiff_t)step;
      y.channel_stride *= (ptrdiff_t)step;
      n_cleared += run_steps (e, &rest, &x, &y);
      continue;
    }
    x = chunk_planes (e, scratch, TFX_SAMPLE_F64, n, from.n_frames);
    copy_channels (e, &from, &x, channels, 1.0);
    n_cleared += run_steps (e, &rest, &x, &x);
    copy_channels (e, &x, &to, channels, 1.0);
  }
  if (transposes)
    copy (e, &to, out);
  return n_cleared;
}

/* ---- cross-fades ---------------------------------------------------------- */

/* From the first branch to the second.  The input of a second branch that `rises` fades in, by
 * way of the other chunk.  After the lead this branch keeps its level, since its input did
 * fade in, and the first one fades out of the sum of both. */
static __attribute__ ((noinline)) int
run_fade (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  const TfxKernels *kernels = kernels_of (e);
  const size_t chunks = e->nodes[s->index].chunks;
  const TfxBlock from = chunk_block (e, chunks, in);
  const TfxBlock to = chunk_block (e, chunks + 1, in);
  const size_t n_samples = in->n_frames * in->n_channels;
  const size_t done = s->fade->done + e->n_done, lead = s->fade->lead;
  const size_t length = s->fade->length - lead + 1;
  const bool rises = s->fade->rises;
  int n_cleared;

  if (rises) {
    copy (e, in, &from);
    memset (to.data, 0, n_samples * sizeof (double));
    kernels->fade (to.data, from.data, in->n_frames, in->n_channels,
        TFX_WEIGHT_SMOOTH, done, length);
  }
  n_cleared = run_steps (e, &s->branches[1], rises ? &to : in, &to);
  n_cleared += run_steps (e, &s->branches[0], in, &from);
  if (rises && lead == 0)
    kernels->add (from.data, to.data, n_samples);
  if (done >= lead)
    kernels->fade (from.data, to.data, in->n_frames, in->n_channels,
        TFX_WEIGHT_SMOOTH, done - lead, length);
  copy (e, &from, out);
  return n_cleared;
}

/* ---- steps ---------------------------------------------------------------- */

/* Frames in which merged branches run in one way: as one, or by themselves. */
static size_t
count_merged_frames (const Merged *m, size_t first, size_t n_left)
{
  size_t n = n_left, n_apart = 0;

  for (size_t k = 0; k < m->n; k++) {
    TfxStep *step = leading_cascade (&m->branches[k]);
    bool is_apart = false;
    size_t n_same = n_left;

    if (step && step->is_moving)
      n_same = tfx_step_run_ramps (step, first, n_left, &is_apart);
    n = n_same < n ? n_same : n;
    if (is_apart)
      n_same = tfx_step_count_apart (step, first, n_left);
    n_apart = is_apart && n_same > n_apart ? n_same : n_apart;
  }
  return n_apart > 0 ? n_apart : n;
}

/* Frames before the next change of a step's values.  *is_apart: the slots have the values and
 * the state until then. */
static size_t
count_frames (TfxEngine *e, TfxStep *s, size_t n_left, bool *is_apart)
{
  const Node *node = &e->nodes[s->index];
  size_t n = n_left;

  *is_apart = false;
  if (s->kind == TFX_STEP_CASCADE)
    return tfx_step_run_ramps (s, e->n_done, n_left, is_apart);
  if (node->n_merged == 0)
    return tfx_step_run_events (s, e->n_done, n_left);
  for (size_t i = 0; i < node->n_merged; i++)
    n = count_merged_frames (&node->merged[i], e->n_done, n);
  return n;
}

static inline int
run_standing (TfxEngine *e, const TfxStep *s, const TfxBlock *in,
    const TfxBlock *out)
{
  switch (s->kind) {
    case TFX_STEP_CASCADE:
      return tfx_cascade_run (e->nodes[s->index].cascade, e->type, in, out);
    case TFX_STEP_SUM:
      return run_sum (e, s, in, out);
    case TFX_STEP_SPLIT:
      return run_split (e, s, in, out);
    case TFX_STEP_FADE:
      return run_fade (e, s, in, out);
    case TFX_STEP_FIR:
    case TFX_STEP_UNIT:
      return s->unit_kind->run (s->unit, in, out);
  }
  return 0;
}

/* A step, from one change of its values to the next. */
static __attribute__ ((noinline)) int
run_moving (TfxEngine *e, TfxStep *s, const TfxBlock *in, const TfxBlock *out)
{
  const size_t first = e->n_done;
  int n_cleared = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    TfxBlock from, to;
    bool is_apart;

    e->n_done = first + i;
    n = count_frames (e, s, in->n_frames - i, &is_apart);
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    n_cleared += is_apart
                     ? tfx_moving_run (kernels_of (e), s, e->n_done, &from, &to)
                     : run_standing (e, s, &from, &to);
  }
  e->n_done = first;
  return n_cleared;
}

static inline int
run_step (TfxEngine *e, TfxStep *s, const TfxBlock *in, const TfxBlock *out)
{
  return s->is_moving || e->nodes[s->index].n_merged > 0
             ? run_moving (e, s, in, out)
             : run_standing (e, s, in, out);
}

static bool
is_planar (const TfxBlock *b)
{
  return b->frame_stride == 1 && b->n_channels > 1;
}

/* Steps in series over a chunk.  Cascades that read or write doubles on the other side take
 * planes more slowly than a transposed copy. */
static int
run_steps (TfxEngine *e, const TfxSteps *list, const TfxBlock *in,
    const TfxBlock *out)
{
  const size_t last = list->n - 1;
  TfxBlock between;
  int n_cleared = 0;

  if (list->n == 0) {
    copy (e, in, out);
    return 0;
  }
  if (list->n == 1)
    return run_step (e, list->steps, in, out);
  between = chunk_block (e, e->nodes[list->steps->index].between, in);
  if (is_planar (in) && list->steps->kind == TFX_STEP_CASCADE) {
    copy (e, in, &between);
    in = &between;
  }
  for (size_t i = 0; i < last; i++)
    n_cleared +=
        run_step (e, &list->steps[i], i == 0 ? in : &between, &between);
  if (!is_planar (out) || list->steps[last].kind != TFX_STEP_CASCADE)
    return n_cleared + run_step (e, &list->steps[last], &between, out);
  n_cleared += run_step (e, &list->steps[last], &between, &between);
  copy (e, &between, out);
  return n_cleared;
}

int
tfx_engine_run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  const size_t most = are_planes (in, out) ? e->chunk_frames : e->turn_frames;
  int n_cleared = 0;

  e->n_done = 0;
  e->type = in->type;
  if (e->alone)
    return run_step (e, e->alone, in, out);
  for (size_t i = 0; i < in->n_frames; i += most) {
    const size_t n = in->n_frames - i < most ? in->n_frames - i : most;
    const TfxBlock from = tfx_block_part (in, i, n, 0, in->n_channels);
    const TfxBlock to = tfx_block_part (out, i, n, 0, in->n_channels);

    e->n_done = i;
    n_cleared += run_steps (e, &e->plan->top, &from, &to);
  }
  return n_cleared;
}
