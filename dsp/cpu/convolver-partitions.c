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
 * Only the input is state: spectra hold nothing but windows of it, so that
 * nothing that was in them outlasts its partitions, and other taps can be put
 * in at any time. */
#include "convolver-private.h"

#include <string.h>

struct TfxConvolverPartitions
{
  size_t n_levels;
  TfxLevel levels[TFX_CONVOLVER_MAX_LEVELS];
  uint64_t time;  /* frames before the current block of level 0 */
  uint64_t start; /* what time is at rest: late enough for all history */
  size_t at;      /* frames of that block that have come */
  bool is_whole;  /* the current segment is a block */
  void *head;     /* T[n_channels][head_stride]: blocks k - 1 and k */
  size_t head_stride;
  void *scratch; /* T[largest size] */
};

/* ---- set-up ------------------------------------------------------------------ */

size_t
tfx_convolver_partitions_place (TfxConvolver *c, TfxArena *arena)
{
  const TfxConvolverLayout *layout = &c->layout;
  const TfxConvolverLevel *last = &layout->levels[layout->n_levels - 1];
  TfxConvolverPartitions grid = { 0 };
  TfxConvolverPartitions *g = tfx_arena_take (arena, sizeof grid);

  grid.n_levels = layout->n_levels;
  for (size_t i = 0; i < grid.n_levels; i++)
    tfx_level_place (c, &grid.levels[i], i, arena);
  grid.head_stride = 2 * layout->levels[0].size + TFX_CONVOLVER_PAD;
  grid.head =
      tfx_arena_take (arena, c->n_channels * grid.head_stride * c->value_size);
  /* as much as any output may depend on, be it by rounding */
  c->past_length =
      (tfx_level_divide_up (c->n_taps + tfx_convolver_catch_up_frames (
                                            c->fade_pair[0]->block_frames),
           last->size) +
          4) *
      last->size;
  c->past =
      tfx_arena_take (arena, c->n_channels * c->past_length * c->value_size);
  grid.scratch = tfx_arena_take (arena, last->size * c->value_size);
  grid.start =
      (tfx_level_divide_up (c->n_taps, last->size) + last->n_parts + 8) *
      last->size;
  c->partitions = g;
  if (g)
    *g = grid;
  return layout->levels[0].size;
}

void
tfx_convolver_partitions_reset (TfxConvolver *c)
{
  TfxConvolverPartitions *g = c->partitions;

  g->time = g->start;
  g->at = 0;
  memset (g->head, 0, c->n_channels * g->head_stride * c->value_size);
  memset (c->past, 0, c->n_channels * c->past_length * c->value_size);
  for (size_t i = 0; i < g->n_levels; i++)
    tfx_level_reset (c, &g->levels[i], g->time);
}

/* ---- addresses --------------------------------------------------------------- */

static void *
head_at (const TfxConvolver *c, unsigned channel, size_t i)
{
  return tfx_convolver_at (c, c->partitions->head,
      channel * c->partitions->head_stride + i);
}

/* The newest frames in the head. */
static void *
input_at (const TfxConvolver *c, unsigned channel)
{
  return head_at (c, channel,
      c->partitions->levels[0].size + c->partitions->at);
}

/* ---- level 0 ------------------------------------------------------------------ */

/* X_k of the block in the head. */
static void
head_forward (TfxConvolver *c, unsigned channel)
{
  TfxLevel *l = &c->partitions->levels[0];

  tfx_fft_forward (&c->fft[0], head_at (c, channel, 0),
      head_at (c, channel, l->size), l->re, l->im,
      tfx_level_spectrum (c, l, channel, l->period), l->n_slots * TFX_TILE);
}

/* The output of the partitions from number skip on, in the current block. */
static void
head_back (TfxConvolver *c, unsigned side, unsigned channel, size_t skip)
{
  TfxLevel *l = &c->partitions->levels[0];
  const TfxTileSum sum =
      skip > 0 ? tfx_level_sum (c, l, side, channel, l->period, skip)
               : tfx_level_sum_ahead (c, l, side, channel, l->period);

  tfx_fft_back (&c->fft[0], &sum, l->re,
      tfx_level_output (c, l, side, channel, l->period));
  if (skip == 0 && channel == c->n_channels - 1)
    l->ahead_of[side] = l->period + 1;
}

size_t
tfx_convolver_partitions_begin (TfxConvolver *c, size_t n_left)
{
  TfxConvolverPartitions *g = c->partitions;
  const size_t size = g->levels[0].size, n_block = size - g->at;
  const size_t n = n_left < n_block ? n_left : n_block;

  g->is_whole = n == size && !c->fade_pair[c->active]->is_reproducible;
  return n;
}

/* Where there are zeros in front the input goes to the past first: the
 * partitions get it n_leading frames later. */
void *
tfx_convolver_partitions_input (TfxConvolver *c, size_t *stride)
{
  *stride = c->n_leading > 0 ? c->output_stride : c->partitions->head_stride;
  return c->n_leading > 0 ? c->output : input_at (c, 0);
}

/* n frames from x to the past, as those that the partitions see at `time`. */
static void
write_past (TfxConvolver *c, unsigned channel, uint64_t time, const void *x,
    size_t n)
{
  const size_t n_row = c->past_length - (size_t)(time % c->past_length);
  const size_t n_first = n < n_row ? n : n_row;

  memcpy (tfx_level_past (c, channel, time), x, n_first * c->value_size);
  memcpy (tfx_level_past (c, channel, time + n_first),
      tfx_convolver_at (c, x, n_first), (n - n_first) * c->value_size);
}

void
tfx_convolver_partitions_received (TfxConvolver *c, unsigned channel, size_t n)
{
  TfxConvolverPartitions *g = c->partitions;

  if (c->n_leading > 0) {
    write_past (c, channel, g->time + g->at + c->n_leading,
        tfx_convolver_at (c, c->output, channel * c->output_stride), n);
    memcpy (input_at (c, channel), tfx_level_past (c, channel, g->time + g->at),
        n * c->value_size);
  } else {
    memcpy (tfx_level_past (c, channel, g->time + g->at), input_at (c, channel),
        n * c->value_size);
  }
  if (g->is_whole)
    head_forward (c, channel);
}

void
tfx_convolver_partitions_render (TfxConvolver *c, unsigned side,
    unsigned channel, size_t n, void *y)
{
  TfxConvolverPartitions *g = c->partitions;
  TfxLevel *head = &g->levels[0];

  if (g->at == 0 && (g->is_whole || head->n_parts > 1))
    head_back (c, side, channel, g->is_whole ? 0 : 1);
  if (g->is_whole) {
    memcpy (y, tfx_level_output (c, head, side, channel, head->period),
        n * c->value_size);
  } else {
    tfx_convolver_sum_up (c, side, channel, y, input_at (c, channel), n);
    if (head->n_parts > 1)
      c->ops->add (y,
          tfx_convolver_at (c,
              tfx_level_output (c, head, side, channel, head->period), g->at),
          n);
  }
  for (size_t i = 1; i < g->n_levels; i++) {
    TfxLevel *l = &g->levels[i];
    c->ops->add (y,
        tfx_convolver_at (c, tfx_level_output (c, l, side, channel, l->period),
            (g->time + g->at) % l->size),
        n);
  }
}

void
tfx_convolver_partitions_end (TfxConvolver *c, size_t n)
{
  TfxConvolverPartitions *g = c->partitions;
  TfxLevel *head = &g->levels[0];

  g->at += n;
  if (g->at < head->size)
    return;
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    /* one partition alone, when it is summed up directly, needs no spectra */
    if (!g->is_whole && head->n_parts > 1)
      head_forward (c, channel);
    memcpy (head_at (c, channel, 0), head_at (c, channel, head->size),
        head->size * c->value_size);
  }
  g->at = 0;
  g->time += head->size;
  head->period++;
  tfx_level_advance (c, g->levels + 1, g->n_levels - 1, g->time);
}

/* ---- taps and history that are put in ------------------------------------------ */

void
tfx_convolver_partitions_prime (TfxConvolver *c, unsigned side)
{
  TfxConvolverPartitions *g = c->partitions;

  g->levels[0].ahead_of[side] = 0;
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    if (g->at > 0 && g->levels[0].n_parts > 1)
      head_back (c, side, channel, 1);
  }
  for (size_t i = 1; i < g->n_levels; i++)
    tfx_level_prime (c, &g->levels[i], side, g->scratch);
}

void
tfx_convolver_partitions_get_history (const TfxConvolver *c, double *history)
{
  const TfxConvolverPartitions *g = c->partitions;
  const size_t n = c->n_taps - 1;
  const uint64_t first = g->time + g->at + c->n_leading - n;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t i = 0; i < n; i++)
      history[channel * n + i] = tfx_convolver_get_value (c,
          tfx_level_past (c, channel, first + i), 0);
  }
}

const void *
tfx_convolver_partitions_get_past (const TfxConvolver *c, unsigned channel,
    size_t age, size_t *n)
{
  const uint64_t time =
      c->partitions->time + c->partitions->at + c->n_leading - age;
  const size_t n_row = c->past_length - (size_t)(time % c->past_length);

  if (age > c->past_length) {
    *n = *n < age - c->past_length ? *n : age - c->past_length;
    return NULL;
  }
  *n = *n < n_row ? *n : n_row;
  return tfx_level_past (c, channel, time);
}

/* The window of the blocks k - 1 and k, long past, to a and b. */
static void
copy_window (const TfxConvolver *c, const TfxLevel *l, unsigned channel,
    uint64_t k, void *a, void *b)
{
  memcpy (a, tfx_level_past (c, channel, (k - 1) * l->size),
      l->size * c->value_size);
  memcpy (b, tfx_level_past (c, channel, k * l->size), l->size * c->value_size);
}

void
tfx_convolver_partitions_set_history (TfxConvolver *c, const double *history)
{
  TfxConvolverPartitions *g = c->partitions;
  const size_t n = c->n_taps - 1;
  const size_t size = g->levels[0].size;

  tfx_convolver_partitions_reset (c);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t i = 0; i < n; i++) {
      void *x = tfx_level_past (c, channel, g->time + c->n_leading - n + i);
      tfx_convolver_set_value (c->precision, x, 0, history[channel * n + i]);
      tfx_convolver_clean (c, x, 1);
    }
    memcpy (head_at (c, channel, 0),
        tfx_level_past (c, channel, g->time - size), size * c->value_size);
    for (size_t i = 0; i < g->n_levels; i++) {
      TfxLevel *l = &g->levels[i];
      for (size_t back = 1; back <= l->n_slots; back++) {
        const uint64_t k = l->period - back;
        copy_window (c, l, channel, k, l->re, l->im);
        tfx_fft_forward (&c->fft[i], l->re, l->im, l->re, l->im,
            tfx_level_spectrum (c, l, channel, k), l->n_slots * TFX_TILE);
      }
    }
  }
  for (unsigned side = 0; side < 2; side++) {
    if (c->fade_pair[side])
      tfx_convolver_partitions_prime (c, side);
  }
}

double
tfx_convolver_partitions_peak (const TfxConvolver *c)
{
  return tfx_convolver_peak (c, c->past, c->n_channels * c->past_length);
}
