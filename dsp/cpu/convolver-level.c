/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-level.c: the partitions of one size, and the steps in which those
 * of all levels but the head are computed; see convolver-partitions.c. */
#include "convolver-private.h"

#include <string.h>

/* A step costs about this much, in ns, unless a single leaf costs more. */
#define STEP_COST 400.0
#define FORWARD_BATCH TFX_LEAF_BATCH
/* Values of a part of a pass. */
#define PASS_VALUES ((size_t)2048)

/* ---- set-up ------------------------------------------------------------- */

void
tfx_level_place (const TfxConvolver *c, TfxLevel *l, size_t i, TfxArena *arena)
{
  const TfxConvolverLevel *layout = &c->layout.levels[i];
  const size_t value_size = c->value_size, size = layout->size;
  const size_t group = (size_t)1 << c->fft[i].group;
  const double leaf = tfx_convolver_layout_leaf_cost (&c->cost, size);
  const double leaf_back =
      leaf + (double)(TFX_LEAF * layout->n_parts) * c->cost.sum;
  size_t n_pass_steps;

  l->number = i;
  l->size = size;
  l->n_parts = layout->n_parts;
  l->first = layout->first;
  l->n_slots = layout->n_parts + 1;
  l->spectra = tfx_arena_take (arena,
      c->n_channels * 2 * size * l->n_slots * value_size);
  /* im apart from re by a cache line more than a power of two */
  l->re = tfx_arena_take (arena, size * value_size + 64);
  l->im = tfx_arena_take (arena, size * value_size + 64);
  l->output = tfx_arena_take (arena,
      (i == 0 ? 2 : 4) * c->n_channels * size * value_size);
  l->ahead = NULL;
  /* Two leaves at least, so that each block has as much to do. */
  if (l->n_parts >= TFX_CONVOLVER_AHEAD_PARTS && c->fft[i].n_leaves > 1)
    l->ahead =
        tfx_arena_take (arena, 2 * c->n_channels * 2 * size * value_size);

  l->batch = (size_t)(STEP_COST / leaf_back);
  l->batch = l->batch / group * group;
  if (l->batch < group)
    l->batch = group;
  if (l->batch > TFX_LEAF_BATCH)
    l->batch = TFX_LEAF_BATCH;
  l->n_pass_parts = size > PASS_VALUES ? size / PASS_VALUES : 1;
  l->n_steps_forward = c->fft[i].n_passes * l->n_pass_parts +
                       tfx_level_divide_up (c->fft[i].n_leaves, FORWARD_BATCH);
  l->n_steps_back = c->fft[i].n_passes * l->n_pass_parts +
                    tfx_level_divide_up (c->fft[i].n_leaves, l->batch);
  l->cost_pass = (double)(size / l->n_pass_parts) * c->cost.pass;
  l->cost_forward = FORWARD_BATCH * leaf;
  l->cost_back = (double)l->batch * leaf_back;
  n_pass_steps = c->fft[i].n_passes * l->n_pass_parts;
  l->cost_all_forward =
      (double)c->n_channels *
      ((double)n_pass_steps * l->cost_pass + (double)c->fft[i].n_leaves * leaf);
  l->cost_all_back =
      (double)c->n_channels * ((double)n_pass_steps * l->cost_pass +
                                  (double)c->fft[i].n_leaves * leaf_back);
}

void
tfx_level_reset (const TfxConvolver *c, TfxLevel *l, uint64_t time)
{
  memset (l->spectra, 0,
      c->n_channels * 2 * l->size * l->n_slots * c->value_size);
  memset (l->output, 0,
      (l->number == 0 ? 2 : 4) * c->n_channels * l->size * c->value_size);
  l->period = time / l->size;
  l->ahead_of[0] = l->ahead_of[1] = 0;
  memset (&l->forward, 0, sizeof l->forward);
  memset (l->back, 0, sizeof l->back);
}

/* ---- addresses ---------------------------------------------------------- */

void *
tfx_level_spectrum (const TfxConvolver *c, const TfxLevel *l, unsigned channel,
    uint64_t k)
{
  return tfx_convolver_at (c, l->spectra,
      channel * 2 * l->size * l->n_slots + k % l->n_slots * TFX_TILE);
}

void *
tfx_level_output (const TfxConvolver *c, const TfxLevel *l, unsigned side,
    unsigned channel, uint64_t k)
{
  const size_t n_blocks = l->first == 0 ? 1 : 2;
  return tfx_convolver_at (c, l->output,
      ((side * n_blocks + k % n_blocks) * c->n_channels + channel) * l->size);
}

TfxTileSum
tfx_level_sum (const TfxConvolver *c, const TfxLevel *l, unsigned side,
    unsigned channel, uint64_t newest, size_t skip)
{
  const uint64_t oldest = newest - (l->n_parts - 1);
  const size_t n = l->n_parts - skip,
               n_to_end = l->n_slots - oldest % l->n_slots;
  const size_t n_first = n < n_to_end ? n : n_to_end;
  const void *h =
      tfx_convolver_spectra (c, c->fade_pair[side], l->number, channel);
  TfxTileSum sum = { 0 };

  sum.x[0] = tfx_level_spectrum (c, l, channel, oldest);
  sum.x[1] = tfx_level_spectrum (c, l, channel, 0); /* slot 0 */
  sum.h[0] = h;
  sum.h[1] = tfx_convolver_at (c, h, n_first * TFX_TILE);
  sum.n[0] = n_first;
  sum.n[1] = n - n_first;
  sum.x_stride = l->n_slots * TFX_TILE;
  sum.h_stride = l->n_parts * TFX_TILE;
  return sum;
}

TfxTileSum
tfx_level_sum_ahead (const TfxConvolver *c, const TfxLevel *l, unsigned side,
    unsigned channel, uint64_t newest)
{
  TfxTileSum sum = tfx_level_sum (c, l, side, channel, newest, 0);

  if (l->ahead)
    sum.ahead = tfx_convolver_at (c, l->ahead,
        (side * c->n_channels + channel) * 2 * l->size);
  sum.is_known = l->ahead_of[side] == newest;
  sum.turn = newest % 2;
  return sum;
}

/* ---- the steps of the levels after the first --------------------------------- */

/* One step on the way to X_(period - 1); its cost. */
static double
step_forward (TfxConvolver *c, TfxLevel *l)
{
  const TfxFft *fft = &c->fft[l->number];
  const unsigned channel = (unsigned)(l->forward.n_done / l->n_steps_forward);
  const size_t step = l->forward.n_done % l->n_steps_forward;

  l->forward.n_done++;
  if (step < fft->n_passes * l->n_pass_parts) {
    const void *a = l->re, *b = l->im;
    if (step < l->n_pass_parts) {
      a = tfx_level_past (c, channel, (l->period - 2) * l->size);
      b = tfx_level_past (c, channel, (l->period - 1) * l->size);
    }
    tfx_fft_split (fft, step / l->n_pass_parts, step % l->n_pass_parts,
        l->n_pass_parts, l->re, l->im, a, b);
    return l->cost_pass;
  } else {
    const size_t first =
        (step - fft->n_passes * l->n_pass_parts) * FORWARD_BATCH;
    const size_t n_left = fft->n_leaves - first;
    tfx_fft_leaves_forward (fft, first,
        n_left < FORWARD_BATCH ? n_left : FORWARD_BATCH, l->re, l->im,
        tfx_level_spectrum (c, l, channel, l->period - 1),
        l->n_slots * TFX_TILE);
    return l->cost_forward;
  }
}

/* Step number `step` of n_steps_back to the output in block k.  The real part,
 * which is of no use, is left in re. */
static void
render_step (TfxConvolver *c, TfxLevel *l, unsigned side, unsigned channel,
    uint64_t k, size_t step, void *re)
{
  const TfxFft *fft = &c->fft[l->number];
  const size_t n_batches = l->n_steps_back - fft->n_passes * l->n_pass_parts;
  void *im = tfx_level_output (c, l, side, channel, k);

  if (step < n_batches) {
    const TfxTileSum sum = tfx_level_sum_ahead (c, l, side, channel, k - 2);
    const size_t first = step * l->batch, n_left = fft->n_leaves - first;
    tfx_fft_leaves_back (fft, first, n_left < l->batch ? n_left : l->batch,
        &sum, re, im);
  } else {
    const size_t undone = l->n_steps_back - 1 - step;
    tfx_fft_join (fft, undone / l->n_pass_parts, undone % l->n_pass_parts,
        l->n_pass_parts, re, im);
  }
}

/* One step on the way to the output in block period + 1; its cost. */
static double
step_back (TfxConvolver *c, TfxLevel *l, unsigned side)
{
  const size_t n_batches =
      l->n_steps_back - c->fft[l->number].n_passes * l->n_pass_parts;
  TfxLevelWork *work = &l->back[side];
  const unsigned channel = (unsigned)(work->n_done / l->n_steps_back);
  const size_t step = work->n_done % l->n_steps_back;

  /* X_(period - 1) is there, its scratch is free: one array for each side */
  render_step (c, l, side, channel, l->period + 1, step,
      side == 0 ? l->re : l->im);
  work->n_done++;
  return step < n_batches ? l->cost_back : l->cost_pass;
}

static bool
is_computed (const TfxConvolver *c, unsigned side)
{
  return c->fade_pair[side] && !c->spectra_only;
}

/* What is due of a level's work when `passed` frames of its block are over, less what is
 * done. */
static double
level_behind (const TfxConvolver *c, const TfxLevel *l, size_t passed)
{
  double due = l->cost_all_forward, done = l->forward.cost_done;

  for (unsigned side = 0; side < 2; side++) {
    if (is_computed (c, side)) {
      due += l->cost_all_back;
      done += l->back[side].cost_done;
    }
  }
  return due * (double)passed / (double)l->size - done;
}

/* The next step; its cost, or 0 if all is done. */
static double
level_step (TfxConvolver *c, TfxLevel *l)
{
  double cost;

  if (l->forward.n_done < c->n_channels * l->n_steps_forward) {
    cost = step_forward (c, l);
    l->forward.cost_done += cost;
    return cost;
  }
  for (unsigned side = 0; side < 2; side++) {
    if (is_computed (c, side) &&
        l->back[side].n_done < c->n_channels * l->n_steps_back) {
      cost = step_back (c, l, side);
      l->back[side].cost_done += cost;
      return cost;
    }
  }
  return 0.0;
}

void
tfx_level_prime (TfxConvolver *c, TfxLevel *l, unsigned side, void *scratch)
{
  l->ahead_of[side] = 0;
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t step = 0; step < l->n_steps_back; step++)
      render_step (c, l, side, channel, l->period, step, scratch);
  }
  l->back[side] = (TfxLevelWork){ 0 };
  l->ahead_of[side] = l->period - 1;
}

void
tfx_level_advance (TfxConvolver *c, TfxLevel *levels, size_t n_levels,
    uint64_t time)
{
  double behind[TFX_CONVOLVER_MAX_LEVELS], total = 0.0;

  for (size_t i = 0; i < n_levels; i++) {
    const size_t passed = (size_t)((time - 1) % levels[i].size) + 1;

    behind[i] = level_behind (c, &levels[i], passed);
    total += behind[i];
  }
  while (total > 0.0) {
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
  for (size_t i = 0; i < n_levels; i++) {
    TfxLevel *l = &levels[i];

    if (time % l->size > 0)
      continue;
    while (level_step (c, l) > 0.0)
      ;
    for (unsigned side = 0; side < 2; side++)
      l->ahead_of[side] = is_computed (c, side) ? l->period : 0;
    l->period++;
    memset (&l->forward, 0, sizeof l->forward);
    memset (l->back, 0, sizeof l->back);
  }
}
