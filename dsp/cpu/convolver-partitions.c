/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-partitions.c: the FIR engine's form partitioned.
 *
 * Time is cut into blocks, for each level into those of its size B; block k of
 * a level is the frames [k B, (k + 1) B).  X_k is the transform of the window
 * of the blocks k - 1 and k, H_p that of partition p.  By overlap-save, the
 * imaginary part of the inverse transform of
 *
 *   sum_p H_p X_(m - d - p)
 *
 * is what the partitions add to the output in block m; d = 0 at level 0, whose
 * taps start at 0, and d = 2 at the others, whose taps start at 2 B.
 *
 * Level 0, the head: if a whole block comes in one call, X_m is there when
 * block m is due.  Otherwise the output of H_0 is summed up directly, and the
 * other partitions, which need X_(m - 1) at most, are transformed when the
 * block starts.
 *
 * The others: during block k the level computes X_(k - 1) and then the output
 * for block k + 1, in steps, so that the part of the work that is done keeps
 * up with the part of the block that has passed.
 *
 * Only the input is state: spectra are those of its windows.  So no rounding error
 * outlasts the partitions, and other taps can be put
 * in at any time. */
#include "convolver-private.h"

#include <math.h>
#include <string.h>

/* A step costs about this much, in ns, unless a single leaf costs more. */
#define STEP_COST 400.0
#define FORWARD_BATCH TFX_LEAF_BATCH
/* Values of a part of a pass. */
#define PASS_VALUES ((size_t)2048)

/* Where the work of a level for one side stands, in its current block. */
typedef struct LevelWork
{
  size_t n_done; /* steps */
  double cost_done;
} LevelWork;

typedef struct Level
{
  size_t number; /* 0 is the head */
  size_t size, n_parts, first;
  size_t n_slots;      /* spectra that are kept: partitions and one more */
  size_t batch;        /* leaves of a step back */
  size_t n_pass_parts; /* in which a pass is done */
  void *spectra;       /* T[n_ins][leaf][n_slots][64] */
  void *re, *im;       /* T[size]: the steps' scratch */
  /* T[2 of the cross-fade pair][2][n_outs][size]: the output for this and the next block;
   * level 0 has only this one's, of all partitions but the first */
  void *output;
  /* T[2][n_outs][leaf][64], see TfxTileSum: of the sum whose newest spectrum has this
   * number; NULL where it does not pay */
  void *ahead;
  uint64_t ahead_of[2];
  uint64_t period;     /* the number of the current block */
  uint64_t first_back; /* of the blocks in which steps back are taken */
  /* [0]: to a spectrum, [1]: back */
  size_t n_steps[2];                /* for each input, and each output */
  double cost_all[2];               /* of all of them */
  double cost_pass, cost_leaves[2]; /* of a step */
  /* Its tasks: the spectrum of the last block, and for each side the output for the
   * next one. */
  LevelWork work[3];
} Level;

struct TfxConvolverPartitions
{
  size_t n_levels;
  Level levels[TFX_CONVOLVER_MAX_LEVELS];
  uint64_t time; /* frames before the current block of level 0 */
  size_t at;     /* frames of that block that have come */
  bool is_whole; /* the current segment is a block */
  void *scratch, *restored_re, *restored_im; /* T[largest size] */

  /* The past that was put in and is not transformed yet: that of the first n_unrestored
   * levels, before the block in which `sought` lies; of the last of them the windows from
   * number `window` on, and of that one the steps from restored_steps on, of all
   * inputs. */
  size_t n_unrestored, restored_steps;
  uint64_t sought, window;
  /* T[n_channels][past_stride]: the input.  After room for one block of the head, the
   * input of frame t is at t % n_kept; n_kept is a multiple of the largest size.  The room
   * has a copy of the last block, as history of the first for the direct form. */
  void *past;
  size_t past_stride;
};

/* ---- addresses --------------------------------------------------------------- */

/* The input from frame `time` on; up to the end of a block of any level. */
static void *
level_past (const TfxConvolver *c, unsigned channel, uint64_t time)
{
  const TfxConvolverPartitions *g = c->partitions;

  return tfx_convolver_at (c, g->past,
      channel * g->past_stride + g->levels[0].size + time % c->n_kept);
}

/* The first tile of an input's X_k; the other leaves are n_slots tiles apart. */
static void *
level_spectrum (const TfxConvolver *c, const Level *l, unsigned in, uint64_t k)
{
  return tfx_convolver_at (c, l->spectra,
      in * 2 * l->size * l->n_slots + k % l->n_slots * TFX_TILE);
}

/* What the level adds to an output in block k. */
static void *
level_output (const TfxConvolver *c, const Level *l, unsigned side,
    unsigned out, uint64_t k)
{
  const size_t n_blocks = l->first == 0 ? 1 : 2;
  const size_t n_outs = tfx_convolver_paths (c)->n_outs;

  return tfx_convolver_at (c, l->output,
      ((side * n_blocks + k % n_blocks) * n_outs + out) * l->size);
}

/* ---- set-up ------------------------------------------------------------------ */

/* Takes the arrays of level number i from the arena, and sets its numbers. */
static void
level_place (const TfxConvolver *c, Level *l, size_t i, TfxArena *arena)
{
  const TfxConvolverLevel *layout = &c->layout.levels[i];
  const size_t value_size = c->value_size, size = layout->size;
  const TfxConvolverPaths *paths = tfx_convolver_paths (c);
  const size_t group = (size_t)1 << c->fft[i].group;
  const double leaf = tfx_convolver_layout_leaf_cost (&c->cost, size);
  const double leaf_back = leaf + (double)(TFX_LEAF * layout->n_parts) *
                                      tfx_convolver_paths_mean (paths) *
                                      c->cost.sum;
  const size_t n_leaves = c->fft[i].n_leaves;
  const double passes = tfx_convolver_layout_pass_cost (&c->cost, size);
  size_t n_pass_steps;

  l->number = i;
  l->size = size;
  l->n_parts = layout->n_parts;
  l->first = layout->first;
  l->n_slots = layout->n_parts + 1;
  l->spectra =
      tfx_arena_take (arena, paths->n_ins * 2 * size * l->n_slots * value_size);
  /* im apart from re by a cache line more than a power of two */
  l->re = tfx_arena_take (arena, size * value_size + 64);
  l->im = tfx_arena_take (arena, size * value_size + 64);
  l->output = tfx_arena_take (arena,
      (i == 0 ? 2 : 4) * paths->n_outs * size * value_size);
  l->ahead = NULL;
  if (l->n_parts >= TFX_CONVOLVER_AHEAD_PARTS && n_leaves > 1)
    l->ahead =
        tfx_arena_take (arena, 2 * paths->n_outs * 2 * size * value_size);

  l->batch = (size_t)(STEP_COST / leaf_back);
  l->batch = l->batch / group * group;
  if (l->batch < group)
    l->batch = group;
  if (l->batch > TFX_LEAF_BATCH)
    l->batch = TFX_LEAF_BATCH;
  l->n_pass_parts = size > PASS_VALUES ? size / PASS_VALUES : 1;
  n_pass_steps = c->fft[i].n_passes * l->n_pass_parts;
  l->n_steps[0] = n_pass_steps + (n_leaves + FORWARD_BATCH - 1) / FORWARD_BATCH;
  l->n_steps[1] = n_pass_steps + (n_leaves + l->batch - 1) / l->batch;
  l->cost_pass = n_pass_steps > 0 ? passes / (double)n_pass_steps : 0.0;
  l->cost_leaves[0] = FORWARD_BATCH * leaf;
  l->cost_leaves[1] = (double)l->batch * leaf_back;
  for (int way = 0; way < 2; way++)
    l->cost_all[way] = (double)(way ? paths->n_outs : paths->n_ins) *
                       (passes + (double)n_leaves * (way ? leaf_back : leaf));
}

/* At rest, in the block that starts at `time`. */
static void
level_reset (const TfxConvolver *c, Level *l, uint64_t time)
{
  const TfxConvolverPaths *paths = tfx_convolver_paths (c);

  memset (l->spectra, 0,
      paths->n_ins * 2 * l->size * l->n_slots * c->value_size);
  memset (l->output, 0,
      (l->number == 0 ? 2 : 4) * paths->n_outs * l->size * c->value_size);
  l->period = time / l->size;
  l->first_back = 0;
  l->ahead_of[0] = l->ahead_of[1] = 0;
  memset (l->work, 0, sizeof l->work);
}

static size_t
place (TfxConvolver *c, TfxArena *arena)
{
  const TfxConvolverLayout *layout = &c->layout;
  const TfxConvolverLevel *last = &layout->levels[layout->n_levels - 1];
  TfxConvolverPartitions grid = { 0 };
  TfxConvolverPartitions *g = tfx_arena_take (arena, sizeof grid);

  grid.n_levels = layout->n_levels;
  c->mean_work = 0.0;
  for (size_t i = 0; i < grid.n_levels; i++) {
    const Level *l = &grid.levels[i];

    level_place (c, &grid.levels[i], i, arena);
    c->mean_work += (l->cost_all[0] + l->cost_all[1]) / (double)l->size;
  }
  /* the frames that output depends on, at least by rounding */
  c->n_kept =
      ((c->n_taps +
           tfx_convolver_catch_up_frames (c->fade_pair[0]->block_frames) +
           last->size - 1) /
              last->size +
          4) *
      last->size;
  c->n_window = c->n_kept;
  grid.past_stride = layout->levels[0].size + c->n_kept + TFX_CONVOLVER_PAD;
  grid.past =
      tfx_arena_take (arena, c->n_channels * grid.past_stride * c->value_size);
  grid.scratch = tfx_arena_take (arena, last->size * c->value_size);
  grid.restored_re = tfx_arena_take (arena, last->size * c->value_size);
  grid.restored_im = tfx_arena_take (arena, last->size * c->value_size);
  c->partitions = g;
  if (g)
    *g = grid;
  return layout->levels[0].size;
}

static void
reset (TfxConvolver *c)
{
  TfxConvolverPartitions *g = c->partitions;

  g->time = TFX_CONVOLVER_START;
  g->at = g->n_unrestored = 0;
  memset (g->past, 0, c->n_channels * g->past_stride * c->value_size);
  for (size_t i = 0; i < g->n_levels; i++)
    level_reset (c, &g->levels[i], g->time);
}

/* ---- sums of products ---------------------------------------------------------- */

/* sum_p H_p X_(newest - p) for p from skip on, p < n_parts, over all paths of an output;
 * from 0 on with what is ahead of it.  Valid until the next one. */
static TfxTileSum
level_sum (const TfxConvolver *c, const Level *l, unsigned side, unsigned out,
    uint64_t newest, size_t skip)
{
  const TfxConvolverTaps *taps = c->fade_pair[side];
  const uint32_t begin = taps->paths->firsts[out];
  const uint64_t oldest = newest - (l->n_parts - 1);
  const size_t n = l->n_parts - skip,
               n_to_end = l->n_slots - oldest % l->n_slots;
  const size_t n_first = n < n_to_end ? n : n_to_end;
  TfxTileSum sum = { 0 };

  sum.terms = c->terms;
  sum.n_terms = taps->paths->firsts[out + 1] - begin;
  for (size_t i = 0; i < sum.n_terms; i++) {
    const TfxConvolverPath path = taps->paths->paths[begin + i];

    c->terms[i] = (TfxTileTerm){ { level_spectrum (c, l, path.in, oldest),
                                     level_spectrum (c, l, path.in, 0) },
      tfx_convolver_spectra (c, taps, l->number, path.kernel) };
  }
  sum.n[0] = n_first;
  sum.n[1] = n - n_first;
  sum.x_stride = l->n_slots * TFX_TILE;
  sum.h_stride = l->n_parts * TFX_TILE;
  if (l->ahead && skip == 0)
    sum.ahead = tfx_convolver_at (c, l->ahead,
        (side * taps->paths->n_outs + out) * 2 * l->size);
  sum.is_known = l->ahead_of[side] == newest;
  sum.turn = newest;
  return sum;
}

/* ---- the steps of the levels after the first --------------------------------- */

/* Step number `step` of n_steps[0] to X_k, with re, im for scratch; its cost. */
static double
forward_step (TfxConvolver *c, const Level *l, unsigned in, uint64_t k,
    size_t step, void *re, void *im)
{
  const TfxFft *fft = &c->fft[l->number];
  const unsigned channel = tfx_convolver_paths (c)->ins[in];
  const size_t n_pass_steps = fft->n_passes * l->n_pass_parts;
  /* Without passes the leaf needs a copy that is aligned. */
  const bool is_first = step < l->n_pass_parts;
  const void *a = is_first ? level_past (c, channel, (k - 1) * l->size) : re;
  const void *b = is_first ? level_past (c, channel, k * l->size) : im;

  if (step < n_pass_steps) {
    tfx_fft_split (fft, step / l->n_pass_parts, step % l->n_pass_parts,
        l->n_pass_parts, re, im, a, b);
    return l->cost_pass;
  }
  if (n_pass_steps == 0) {
    memcpy (re, a, l->size * c->value_size);
    memcpy (im, b, l->size * c->value_size);
  }
  const size_t first = (step - n_pass_steps) * FORWARD_BATCH;
  const size_t n_left = fft->n_leaves - first;

  tfx_fft_leaves_forward (fft, first,
      n_left < FORWARD_BATCH ? n_left : FORWARD_BATCH, re, im,
      level_spectrum (c, l, in, k), l->n_slots * TFX_TILE);
  return l->cost_leaves[0];
}

/* Step number `step` of n_steps[1] to the output in block k; its cost.  The real part,
 * which is of no use, is left in re. */
static double
render_step (TfxConvolver *c, Level *l, unsigned side, unsigned out, uint64_t k,
    size_t step, void *re)
{
  const TfxFft *fft = &c->fft[l->number];
  const size_t n_batches = l->n_steps[1] - fft->n_passes * l->n_pass_parts;
  void *im = level_output (c, l, side, out, k);

  if (step < n_batches) {
    const TfxTileSum sum = level_sum (c, l, side, out, k - 2, 0);
    const size_t first = step * l->batch, n_left = fft->n_leaves - first;
    tfx_fft_leaves_back (fft, first, n_left < l->batch ? n_left : l->batch,
        &sum, re, im);
    return l->cost_leaves[1];
  }
  const size_t undone = l->n_steps[1] - 1 - step;
  tfx_fft_join (fft, undone / l->n_pass_parts, undone % l->n_pass_parts,
      l->n_pass_parts, re, im);
  return l->cost_pass;
}

static bool
is_computed (const TfxConvolver *c, const Level *l, unsigned side)
{
  return c->fade_pair[side] && l->period >= l->first_back;
}

/* The steps of a task: of the inputs to spectra, of the outputs back. */
static size_t
level_n_steps (const TfxConvolver *c, const Level *l, unsigned task)
{
  const TfxConvolverPaths *paths = tfx_convolver_paths (c);

  return task == 0 ? paths->n_ins * l->n_steps[0]
                   : paths->n_outs * l->n_steps[1];
}

/* Work of a level that is due after `passed` frames of its block, less the work done. */
static double
level_behind (const TfxConvolver *c, const Level *l, size_t passed)
{
  double due = 0.0, done = 0.0;

  /* All work of this block is done; it does not offset that of other levels. */
  if (l->period < l->first_back && l->work[0].n_done == level_n_steps (c, l, 0))
    return 0.0;

  for (unsigned task = 0; task < 3; task++) {
    if (task == 0 || is_computed (c, l, task - 1)) {
      due += l->cost_all[task > 0];
      done += l->work[task].cost_done;
    }
  }
  return due * (double)passed / (double)l->size - done;
}

/* The next step; its cost, or 0 if all is done. */
static double
level_step (TfxConvolver *c, Level *l)
{
  for (unsigned task = 0; task < 3; task++) {
    LevelWork *work = &l->work[task];
    const size_t n_steps = l->n_steps[task > 0];
    const unsigned number = (unsigned)(work->n_done / n_steps);
    const size_t step = work->n_done % n_steps;
    double cost;

    if (work->n_done == level_n_steps (c, l, task) ||
        (task > 0 && !is_computed (c, l, task - 1)))
      continue;
    /* back: X_(period - 1) is there, its scratch is free: one array for each side */
    cost = task == 0
               ? forward_step (c, l, number, l->period - 1, step, l->re, l->im)
               : render_step (c, l, task - 1, number, l->period + 1, step,
                     task == 1 ? l->re : l->im);
    work->n_done++;
    work->cost_done += cost;
    return cost;
  }
  return 0.0;
}

/* Computes the output in the current block at once, for a level that is not the head;
 * scratch is T[size].  Its work for the next block starts anew. */
static void
level_prime (TfxConvolver *c, Level *l, unsigned side, void *scratch)
{
  l->ahead_of[side] = 0;
  for (unsigned out = 0; out < tfx_convolver_paths (c)->n_outs; out++) {
    for (size_t step = 0; step < l->n_steps[1]; step++)
      render_step (c, l, side, out, l->period, step, scratch);
  }
  l->work[1 + side] = (LevelWork){ 0 };
  l->ahead_of[side] = l->period - 1;
}

/* At the end of a block of level 0: does the work of the next levels that is due.
 * The total is the same in each block, to a step of one level; the level with the
 * most work due goes first.  At the end of a level's block its next block becomes
 * current. */
static void
level_advance (TfxConvolver *c, Level *levels, size_t n_levels, uint64_t time)
{
  double behind[TFX_CONVOLVER_MAX_LEVELS], total = 0.0;

  for (size_t i = 0; i < n_levels; i++) {
    const size_t passed = (size_t)((time - 1) % levels[i].size) + 1;

    behind[i] = level_behind (c, &levels[i], passed);
    total += behind[i];
  }
  while (total > c->work_beside) {
    size_t most = 0;
    double cost;

    for (size_t i = 1; i < n_levels; i++)
      most = behind[i] > behind[most] ? i : most;
    if (behind[most] <= 0.0)
      break;
    cost = level_step (c, &levels[most]);
    /* all is done, but for rounding */
    if (cost == 0.0)
      cost = behind[most];
    behind[most] -= cost;
    total -= cost;
  }
  c->work_ahead = total < 0.0 ? -total : 0.0;
  for (size_t i = 0; i < n_levels; i++) {
    Level *l = &levels[i];

    if (time % l->size > 0)
      continue;
    while (level_step (c, l) > 0.0)
      ;
    for (unsigned side = 0; side < 2; side++) {
      l->ahead_of[side] = is_computed (c, l, side) ? l->period : 0;
    }
    l->period++;
    memset (l->work, 0, sizeof l->work);
  }
}

/* ---- level 0 ------------------------------------------------------------------ */

/* X_k of an input in the current block. */
static void
head_forward (TfxConvolver *c, unsigned in)
{
  const unsigned channel = tfx_convolver_paths (c)->ins[in];
  Level *l = &c->partitions->levels[0];

  tfx_fft_forward (&c->fft[0],
      level_past (c, channel, c->partitions->time - l->size),
      level_past (c, channel, c->partitions->time), l->re, l->im,
      level_spectrum (c, l, in, l->period), l->n_slots * TFX_TILE);
}

/* The output of the partitions from number skip on, in the current block. */
static void
head_back (TfxConvolver *c, unsigned side, unsigned out, size_t skip)
{
  Level *l = &c->partitions->levels[0];
  const TfxTileSum sum = level_sum (c, l, side, out, l->period, skip);

  tfx_fft_back (&c->fft[0], &sum, l->re,
      level_output (c, l, side, out, l->period));
  if (skip == 0 && out == tfx_convolver_paths (c)->n_outs - 1)
    l->ahead_of[side] = l->period + 1;
}

static size_t
begin (TfxConvolver *c, size_t n_left)
{
  TfxConvolverPartitions *g = c->partitions;
  const size_t size = g->levels[0].size, n_block = size - g->at;
  const size_t n = n_left < n_block ? n_left : n_block;

  g->is_whole = n == size;
  return n;
}

/* With leading zeros the partitions get their input n_leading frames later: it is
 * received in the output's memory, and copied. */
static void *
input (TfxConvolver *c, size_t *stride)
{
  const TfxConvolverPartitions *g = c->partitions;

  *stride = c->n_leading > 0 ? c->output_stride : g->past_stride;
  return c->n_leading > 0 ? c->output : level_past (c, 0, g->time + g->at);
}

static void
received (TfxConvolver *c, unsigned channel, size_t n)
{
  const TfxConvolverPartitions *g = c->partitions;
  const void *x = tfx_convolver_at (c, c->output, channel * c->output_stride);
  const uint64_t time = g->time + g->at + c->n_leading;
  const size_t n_row = c->n_kept - (size_t)(time % c->n_kept);
  const size_t n_first = n < n_row ? n : n_row;
  const unsigned in = tfx_convolver_paths (c)->in_of[channel];

  if (c->n_leading > 0) {
    memcpy (level_past (c, channel, time), x, n_first * c->value_size);
    memcpy (level_past (c, channel, time + n_first),
        tfx_convolver_at (c, x, n_first), (n - n_first) * c->value_size);
  }
  if (g->is_whole && in != TFX_CONVOLVER_NONE)
    head_forward (c, in);
}

static void
render (TfxConvolver *c, unsigned side, unsigned out, size_t n, void *y)
{
  TfxConvolverPartitions *g = c->partitions;
  Level *head = &g->levels[0];

  if (g->at == 0 && (g->is_whole || head->n_parts > 1))
    head_back (c, side, out, g->is_whole ? 0 : 1);
  if (g->is_whole) {
    memcpy (y, level_output (c, head, side, out, head->period),
        n * c->value_size);
  } else {
    tfx_convolver_taps_sum_up (c->fade_pair[side], out, y,
        level_past (c, 0, g->time + g->at), g->past_stride, n);
    if (head->n_parts > 1)
      c->ops->add (y,
          tfx_convolver_at (c, level_output (c, head, side, out, head->period),
              g->at),
          n);
  }
  for (size_t i = 1; i < g->n_levels; i++) {
    Level *l = &g->levels[i];
    c->ops->add (y,
        tfx_convolver_at (c, level_output (c, l, side, out, l->period),
            (g->time + g->at) % l->size),
        n);
  }
}

/* Copies the last block to the room before the first. */
static void
copy_last (TfxConvolver *c)
{
  const size_t size = c->partitions->levels[0].size;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    char *first = level_past (c, channel, 0);

    memcpy (first - size * c->value_size,
        first + (c->n_kept - size) * c->value_size, size * c->value_size);
  }
}

static void
end (TfxConvolver *c, size_t n)
{
  TfxConvolverPartitions *g = c->partitions;
  Level *head = &g->levels[0];

  g->at += n;
  if (g->at < head->size)
    return;
  /* one partition alone, when it is summed up directly, needs no spectra */
  for (unsigned in = 0; in < tfx_convolver_paths (c)->n_ins; in++) {
    if (!g->is_whole && head->n_parts > 1)
      head_forward (c, in);
  }
  g->at = 0;
  g->time += head->size;
  head->period++;
  if (g->time % c->n_kept == 0)
    copy_last (c);
  level_advance (c, g->levels + 1, g->n_levels - 1, g->time);
}

/* ---- taps and history that are put in ------------------------------------------ */

/* The output in the rest of the current block. */
static void
head_prime (TfxConvolver *c, unsigned side)
{
  const TfxConvolverPartitions *g = c->partitions;

  for (unsigned out = 0; out < tfx_convolver_paths (c)->n_outs; out++) {
    if (g->at > 0 && g->levels[0].n_parts > 1)
      head_back (c, side, out, 1);
  }
}

static void
prime (TfxConvolver *c, unsigned side)
{
  TfxConvolverPartitions *g = c->partitions;

  g->levels[0].ahead_of[side] = 0;
  head_prime (c, side);
  for (size_t i = 1; i < g->n_levels; i++)
    level_prime (c, &g->levels[i], side, g->scratch);
}

static void *
past (const TfxConvolver *c, unsigned channel, size_t age, size_t *n)
{
  const uint64_t time =
      c->partitions->time + c->partitions->at + c->n_leading - age;
  const size_t n_row = c->n_kept - (size_t)(time % c->n_kept);

  if (age > c->n_kept) {
    *n = *n < age - c->n_kept ? *n : age - c->n_kept;
    return NULL;
  }
  *n = *n < n_row ? *n : n_row;
  return level_past (c, channel, time);
}

/* In the current blocks no steps are taken: restore() computes what those forward
 * would. */
static void
seek (TfxConvolver *c)
{
  TfxConvolverPartitions *g = c->partitions;
  const size_t size = g->levels[0].size;

  g->at = (size_t)(c->n_run % size);
  g->time = g->sought = c->n_run - g->at;
  g->n_unrestored = g->n_levels;
  g->window = g->restored_steps = 0;
  for (size_t i = 0; i < g->n_levels; i++) {
    Level *l = &g->levels[i];

    l->period = g->time / l->size;
    l->first_back = UINT64_MAX;
    l->ahead_of[0] = l->ahead_of[1] = 0;
    memset (l->work, 0, sizeof l->work);
    l->work[0] = (LevelWork){ level_n_steps (c, l, 0), l->cost_all[0] };
  }
  copy_last (c);
}

/* The next step for the last level that is not restored; its cost. */
static double
restore_step (TfxConvolver *c)
{
  TfxConvolverPartitions *g = c->partitions;
  Level *l = &g->levels[g->n_unrestored - 1];
  const uint64_t known = (c->known + c->n_leading) / l->size;
  /* the oldest that the current block needs; level 0 takes the place of one before */
  const uint64_t needed = l->period - l->n_slots + (l->number == 0);
  const uint64_t oldest = known > needed ? known : needed;
  double cost;

  if (g->window < oldest) {
    g->window = oldest;
    g->restored_steps = 0;
  }
  if (g->window >= g->sought / l->size) {
    l->first_back = l->period + 1;
    g->n_unrestored--;
    g->window = g->restored_steps = 0;
    return 0.0;
  }
  cost = forward_step (c, l, (unsigned)(g->restored_steps / l->n_steps[0]),
      g->window, g->restored_steps % l->n_steps[0], g->restored_re,
      g->restored_im);
  if (++g->restored_steps == level_n_steps (c, l, 0)) {
    g->window++;
    g->restored_steps = 0;
  }
  return cost;
}

static bool
restore (TfxConvolver *c, double *credit)
{
  TfxConvolverPartitions *g = c->partitions;

  while (g->n_unrestored > 0 && *credit > 0.0)
    *credit -= restore_step (c);
  if (g->n_unrestored > 0)
    return false;
  if (*credit == INFINITY) {
    for (size_t i = 0; i < g->n_levels; i++)
      g->levels[i].first_back = 0;
    for (unsigned side = 0; side < 2; side++) {
      if (c->fade_pair[side])
        prime (c, side);
    }
    return true;
  }
  for (size_t i = 1; i < g->n_levels; i++) {
    if (g->time < (g->levels[i].first_back + 1) * g->levels[i].size)
      return false;
  }
  head_prime (c, c->active);
  return true;
}

const TfxConvolverWays tfx_convolver_partitions = { place, reset, begin, input,
  received, render, end, prime, past, seek, restore };
