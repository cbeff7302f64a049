/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-grid.c: the FIR engine's form partitioned.
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
#include <string.h>

#include "convolver-private.h"

/* Where the work of a level for one side stands, in its current block. */
typedef struct Work
{
  size_t n_done; /* steps */
  double cost_done;
} Work;

typedef struct Level
{
  size_t size, n_parts, first;
  size_t n_slots; /* spectra that are kept: partitions and one more */
  size_t batch;   /* leaves of a step back */
  void *spectra;  /* T[n_channels][leaf][n_slots][64] */
  void *re, *im;  /* T[size]: the steps' scratch */
  /* T[2 sides][2][n_channels][size]: the output for this and the next block;
   * level 0 has only this one's, of all partitions but the first */
  void *output;
  uint64_t period;                      /* the number of the current block */
  size_t n_steps_forward, n_steps_back; /* for each channel */
  double cost_pass, cost_forward, cost_back; /* of a step */
  double cost_all_forward, cost_all_back;    /* of all channels */
  Work forward, back[2];
} Level;

struct TfxConvolverGrid
{
  size_t n_levels;
  Level levels[TFX_CONVOLVER_MAX_LEVELS];
  uint64_t time;  /* frames before the current block of level 0 */
  uint64_t start; /* what time is at rest: late enough for all history */
  size_t at;      /* frames of that block that have come */
  bool is_whole;  /* the current segment is a block */
  void *head;     /* T[n_channels][head_stride]: blocks k - 1 and k */
  size_t head_stride;
  void *past;         /* T[n_channels][past_length]: input, frame t at
                      * t % past_length */
  size_t past_length; /* a multiple of all sizes */
  void *scratch;      /* T[largest size] */
};

/* A step costs about this much, in ns, unless a single leaf costs more. */
#define STEP_COST 500.0
#define FORWARD_BATCH TFX_LEAF_BATCH

/* ---- set-up ------------------------------------------------------------------ */

static size_t
divide_up (size_t a, size_t b)
{
  return (a + b - 1) / b;
}

/* The addresses of the arrays of level i, and its numbers. */
static void
place_level (const TfxConvolver *c, Level *l, size_t i, TfxArena *arena)
{
  const TfxConvolverLevel *layout = &c->layout.levels[i];
  const size_t value_size = c->value_size, size = layout->size;
  const double leaf_back =
      c->cost.leaf + (double)(TFX_LEAF * layout->n_parts) * c->cost.sum;

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

  l->batch = (size_t)(STEP_COST / leaf_back);
  if (l->batch < 1)
    l->batch = 1;
  if (l->batch > TFX_LEAF_BATCH)
    l->batch = TFX_LEAF_BATCH;
  l->n_steps_forward =
      c->fft[i].n_passes + divide_up (c->fft[i].n_leaves, FORWARD_BATCH);
  l->n_steps_back =
      c->fft[i].n_passes + divide_up (c->fft[i].n_leaves, l->batch);
  l->cost_pass = (double)size * c->cost.pass;
  l->cost_forward = FORWARD_BATCH * c->cost.leaf;
  l->cost_back = (double)l->batch * leaf_back;
  l->cost_all_forward =
      (double)c->n_channels * ((double)c->fft[i].n_passes * l->cost_pass +
                                  (double)c->fft[i].n_leaves * c->cost.leaf);
  l->cost_all_back =
      (double)c->n_channels * ((double)c->fft[i].n_passes * l->cost_pass +
                                  (double)c->fft[i].n_leaves * leaf_back);
}

size_t
tfx_convolver_grid_place (TfxConvolver *c, TfxArena *arena)
{
  const TfxConvolverLayout *layout = &c->layout;
  const TfxConvolverLevel *last = &layout->levels[layout->n_levels - 1];
  TfxConvolverGrid grid = { 0 };
  TfxConvolverGrid *g = tfx_arena_take (arena, sizeof grid);

  grid.n_levels = layout->n_levels;
  for (size_t i = 0; i < grid.n_levels; i++)
    place_level (c, &grid.levels[i], i, arena);
  grid.head_stride = 2 * layout->levels[0].size + TFX_CONVOLVER_PAD;
  grid.head =
      tfx_arena_take (arena, c->n_channels * grid.head_stride * c->value_size);
  /* as much as any output may depend on, be it by rounding */
  grid.past_length = (divide_up (c->n_taps, last->size) + 4) * last->size;
  grid.past =
      tfx_arena_take (arena, c->n_channels * grid.past_length * c->value_size);
  grid.scratch = tfx_arena_take (arena, last->size * c->value_size);
  grid.start = (last->n_parts + 8) * last->size;
  c->grid = g;
  if (g)
    *g = grid;
  return layout->levels[0].size;
}

void
tfx_convolver_grid_reset (TfxConvolver *c)
{
  TfxConvolverGrid *g = c->grid;

  g->time = g->start;
  g->at = 0;
  memset (g->head, 0, c->n_channels * g->head_stride * c->value_size);
  memset (g->past, 0, c->n_channels * g->past_length * c->value_size);
  for (size_t i = 0; i < g->n_levels; i++) {
    Level *l = &g->levels[i];
    memset (l->spectra, 0,
        c->n_channels * 2 * l->size * l->n_slots * c->value_size);
    memset (l->output, 0,
        (i == 0 ? 2 : 4) * c->n_channels * l->size * c->value_size);
    l->period = g->time / l->size;
    memset (&l->forward, 0, sizeof l->forward);
    memset (l->back, 0, sizeof l->back);
  }
}

/* ---- addresses --------------------------------------------------------------- */

/* The input from frame `time` on; up to the end of a block of any level. */
static void *
past_at (const TfxConvolver *c, unsigned channel, uint64_t time)
{
  const TfxConvolverGrid *g = c->grid;
  return tfx_convolver_at (c, g->past,
      channel * g->past_length + time % g->past_length);
}

static void *
head_at (const TfxConvolver *c, unsigned channel, size_t i)
{
  return tfx_convolver_at (c, c->grid->head,
      channel * c->grid->head_stride + i);
}

/* The newest frames in the head. */
static void *
input_at (const TfxConvolver *c, unsigned channel)
{
  return head_at (c, channel, c->grid->levels[0].size + c->grid->at);
}

/* The first tile of X_k; the other leaves are n_slots tiles apart. */
static void *
spectrum_at (const TfxConvolver *c, const Level *l, unsigned channel,
    uint64_t k)
{
  return tfx_convolver_at (c, l->spectra,
      channel * 2 * l->size * l->n_slots + k % l->n_slots * TFX_TILE);
}

/* What the level adds to the output in block k. */
static void *
output_at (const TfxConvolver *c, const Level *l, unsigned side,
    unsigned channel, uint64_t k)
{
  const size_t n_blocks = l->first == 0 ? 1 : 2;
  return tfx_convolver_at (c, l->output,
      ((side * n_blocks + k % n_blocks) * c->n_channels + channel) * l->size);
}

/* sum_p H_p X_(newest - p) for p from skip on, p < n_parts */
static TfxTileSum
level_sum (const TfxConvolver *c, const Level *l, unsigned side,
    unsigned channel, uint64_t newest, size_t skip)
{
  const size_t level = (size_t)(l - c->grid->levels);
  const uint64_t oldest = newest - (l->n_parts - 1);
  const size_t n = l->n_parts - skip,
               n_to_end = l->n_slots - oldest % l->n_slots;
  const size_t n_first = n < n_to_end ? n : n_to_end;
  const void *h = tfx_convolver_spectra (c, c->sides[side], level, channel);
  TfxTileSum sum;

  sum.x[0] = spectrum_at (c, l, channel, oldest);
  sum.x[1] = spectrum_at (c, l, channel, 0); /* slot 0 */
  sum.h[0] = h;
  sum.h[1] = tfx_convolver_at (c, h, n_first * TFX_TILE);
  sum.n[0] = n_first;
  sum.n[1] = n - n_first;
  sum.x_stride = l->n_slots * TFX_TILE;
  sum.h_stride = l->n_parts * TFX_TILE;
  return sum;
}

/* ---- the steps of the levels after the first --------------------------------- */

/* One step on the way to X_(period - 1). */
static void
step_forward (TfxConvolver *c, Level *l)
{
  const TfxFft *fft = &c->fft[l - c->grid->levels];
  const unsigned channel = (unsigned)(l->forward.n_done / l->n_steps_forward);
  const size_t step = l->forward.n_done % l->n_steps_forward;

  l->forward.n_done++;
  if (step < fft->n_passes) {
    const void *a = l->re, *b = l->im;
    if (step == 0) {
      a = past_at (c, channel, (l->period - 2) * l->size);
      b = past_at (c, channel, (l->period - 1) * l->size);
    }
    tfx_fft_split (fft, step, l->re, l->im, a, b);
    l->forward.cost_done += l->cost_pass;
  } else {
    const size_t first = (step - fft->n_passes) * FORWARD_BATCH;
    const size_t n_left = fft->n_leaves - first;
    tfx_fft_leaves_forward (fft, first,
        n_left < FORWARD_BATCH ? n_left : FORWARD_BATCH, l->re, l->im,
        spectrum_at (c, l, channel, l->period - 1), l->n_slots * TFX_TILE);
    l->forward.cost_done += l->cost_forward;
  }
}

/* Step number `step` of n_steps_back to the output in block k.  The real part,
 * which is of no use, is left in re. */
static void
render_step (TfxConvolver *c, Level *l, unsigned side, unsigned channel,
    uint64_t k, size_t step, void *re)
{
  const TfxFft *fft = &c->fft[l - c->grid->levels];
  const size_t n_batches = l->n_steps_back - fft->n_passes;
  void *im = output_at (c, l, side, channel, k);

  if (step < n_batches) {
    const TfxTileSum sum = level_sum (c, l, side, channel, k - 2, 0);
    const size_t first = step * l->batch, n_left = fft->n_leaves - first;
    tfx_fft_leaves_back (fft, first, n_left < l->batch ? n_left : l->batch,
        &sum, re, im);
  } else {
    tfx_fft_join (fft, l->n_steps_back - 1 - step, re, im);
  }
}

/* One step on the way to the output in block period + 1. */
static void
step_back (TfxConvolver *c, Level *l, unsigned side)
{
  const size_t n_batches =
      l->n_steps_back - c->fft[l - c->grid->levels].n_passes;
  Work *work = &l->back[side];
  const unsigned channel = (unsigned)(work->n_done / l->n_steps_back);
  const size_t step = work->n_done % l->n_steps_back;

  /* X_(period - 1) is there, its scratch is free: one array for each side */
  render_step (c, l, side, channel, l->period + 1, step,
      side == 0 ? l->re : l->im);
  work->n_done++;
  work->cost_done += step < n_batches ? l->cost_back : l->cost_pass;
}

/* Brings the work of a level to the given part of what is due in its block. */
static void
level_work (TfxConvolver *c, Level *l, double part)
{
  const size_t n_forward = c->n_channels * l->n_steps_forward;
  const size_t n_back = c->n_channels * l->n_steps_back;
  double due = l->cost_all_forward, done = l->forward.cost_done;

  for (unsigned side = 0; side < 2; side++) {
    due += c->sides[side] ? l->cost_all_back : 0.0;
    done += c->sides[side] ? l->back[side].cost_done : 0.0;
  }
  due *= part;
  while (l->forward.n_done < n_forward && (done < due || part >= 1.0)) {
    done -= l->forward.cost_done;
    step_forward (c, l);
    done += l->forward.cost_done;
  }
  for (unsigned side = 0; side < 2; side++) {
    Work *work = &l->back[side];
    while (c->sides[side] && l->forward.n_done == n_forward &&
           work->n_done < n_back && (done < due || part >= 1.0)) {
      done -= work->cost_done;
      step_back (c, l, side);
      done += work->cost_done;
    }
  }
}

/* The time has come to the end of a block of level 0. */
static void
levels_advance (TfxConvolver *c)
{
  TfxConvolverGrid *g = c->grid;

  for (size_t i = 1; i < g->n_levels; i++) {
    Level *l = &g->levels[i];
    const size_t passed = (size_t)(g->time % l->size);

    if (passed > 0) {
      level_work (c, l, (double)passed / (double)l->size);
      continue;
    }
    level_work (c, l, 1.0);
    l->period++;
    memset (&l->forward, 0, sizeof l->forward);
    memset (l->back, 0, sizeof l->back);
  }
}

/* ---- level 0 ------------------------------------------------------------------ */

/* X_k of the block in the head. */
static void
head_forward (TfxConvolver *c, unsigned channel)
{
  Level *l = &c->grid->levels[0];

  tfx_fft_forward (&c->fft[0], head_at (c, channel, 0),
      head_at (c, channel, l->size), l->re, l->im,
      spectrum_at (c, l, channel, l->period), l->n_slots * TFX_TILE);
}

/* The output of the partitions from number skip on, in the current block. */
static void
head_back (TfxConvolver *c, unsigned side, unsigned channel, size_t skip)
{
  Level *l = &c->grid->levels[0];
  const TfxTileSum sum = level_sum (c, l, side, channel, l->period, skip);

  tfx_fft_back (&c->fft[0], &sum, l->re,
      output_at (c, l, side, channel, l->period));
}

size_t
tfx_convolver_grid_begin (TfxConvolver *c, size_t n_left)
{
  TfxConvolverGrid *g = c->grid;
  const size_t size = g->levels[0].size, n_block = size - g->at;
  const size_t n = n_left < n_block ? n_left : n_block;

  g->is_whole = n == size && !c->sides[c->heard]->is_reproducible;
  return n;
}

void *
tfx_convolver_grid_input (TfxConvolver *c, size_t *stride)
{
  *stride = c->grid->head_stride;
  return input_at (c, 0);
}

void
tfx_convolver_grid_received (TfxConvolver *c, unsigned channel, size_t n)
{
  TfxConvolverGrid *g = c->grid;

  memcpy (past_at (c, channel, g->time + g->at), input_at (c, channel),
      n * c->value_size);
  if (g->is_whole)
    head_forward (c, channel);
}

void
tfx_convolver_grid_render (TfxConvolver *c, unsigned side, unsigned channel,
    size_t n, void *y)
{
  TfxConvolverGrid *g = c->grid;
  Level *head = &g->levels[0];

  if (g->at == 0 && (g->is_whole || head->n_parts > 1))
    head_back (c, side, channel, g->is_whole ? 0 : 1);
  if (g->is_whole) {
    memcpy (y, output_at (c, head, side, channel, head->period),
        n * c->value_size);
  } else {
    c->ops->direct (y, input_at (c, channel),
        tfx_convolver_direct_taps (c, c->sides[side], channel), head->size, n);
    if (head->n_parts > 1)
      c->ops->add (y,
          tfx_convolver_at (c, output_at (c, head, side, channel, head->period),
              g->at),
          n);
  }
  for (size_t i = 1; i < g->n_levels; i++) {
    Level *l = &g->levels[i];
    c->ops->add (y,
        tfx_convolver_at (c, output_at (c, l, side, channel, l->period),
            (g->time + g->at) % l->size),
        n);
  }
}

void
tfx_convolver_grid_end (TfxConvolver *c, size_t n)
{
  TfxConvolverGrid *g = c->grid;
  Level *head = &g->levels[0];

  g->at += n;
  if (g->at < head->size)
    return;
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    if (!g->is_whole)
      head_forward (c, channel);
    memcpy (head_at (c, channel, 0), head_at (c, channel, head->size),
        head->size * c->value_size);
  }
  g->at = 0;
  g->time += head->size;
  head->period++;
  levels_advance (c);
}

/* ---- taps and history that are put in ------------------------------------------ */

void
tfx_convolver_grid_prime (TfxConvolver *c, unsigned side)
{
  TfxConvolverGrid *g = c->grid;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    if (g->at > 0 && g->levels[0].n_parts > 1)
      head_back (c, side, channel, 1);
    for (size_t i = 1; i < g->n_levels; i++) {
      Level *l = &g->levels[i];
      for (size_t step = 0; step < l->n_steps_back; step++)
        render_step (c, l, side, channel, l->period, step, g->scratch);
      l->back[side] = (Work){ 0 };
    }
  }
}

void
tfx_convolver_grid_get_history (const TfxConvolver *c, double *history)
{
  const TfxConvolverGrid *g = c->grid;
  const size_t n = c->n_taps - 1;
  const uint64_t first = g->time + g->at - n;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t i = 0; i < n; i++)
      history[channel * n + i] =
          tfx_convolver_get_value (c, past_at (c, channel, first + i), 0);
  }
}

/* The window of the blocks k - 1 and k, long past, to a and b. */
static void
copy_window (const TfxConvolver *c, const Level *l, unsigned channel,
    uint64_t k, void *a, void *b)
{
  memcpy (a, past_at (c, channel, (k - 1) * l->size), l->size * c->value_size);
  memcpy (b, past_at (c, channel, k * l->size), l->size * c->value_size);
}

void
tfx_convolver_grid_set_history (TfxConvolver *c, const double *history)
{
  TfxConvolverGrid *g = c->grid;
  const size_t n = c->n_taps - 1;
  const size_t size = g->levels[0].size;

  tfx_convolver_grid_reset (c);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t i = 0; i < n; i++) {
      void *x = past_at (c, channel, g->time - n + i);
      tfx_convolver_set_value (c, x, 0, history[channel * n + i]);
      tfx_convolver_clean (c, x, 1);
    }
    memcpy (head_at (c, channel, 0), past_at (c, channel, g->time - size),
        size * c->value_size);
    for (size_t i = 0; i < g->n_levels; i++) {
      Level *l = &g->levels[i];
      for (size_t back = 1; back <= l->n_slots; back++) {
        const uint64_t k = l->period - back;
        copy_window (c, l, channel, k, l->re, l->im);
        tfx_fft_forward (&c->fft[i], l->re, l->im, l->re, l->im,
            spectrum_at (c, l, channel, k), l->n_slots * TFX_TILE);
      }
    }
  }
  for (unsigned side = 0; side < 2; side++) {
    if (c->sides[side])
      tfx_convolver_grid_prime (c, side);
  }
}

double
tfx_convolver_grid_peak (const TfxConvolver *c)
{
  return tfx_convolver_peak (c, c->grid->past,
      c->n_channels * c->grid->past_length);
}
