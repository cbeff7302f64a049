/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-overlap.c: the FIR engine's forms direct and block.
 *
 * The samples of each channel stand in a line, the history before the new
 * ones.  When the line is full, the history moves back to its start.  It is
 * long enough to fill the largest transform together with a new frame; what is
 * in it beyond n_taps - 1 frames has no effect but by rounding. */
#include <math.h>
#include <string.h>

#include "convolver-private.h"

/* How n frames are begun: the costs are not compared for each call. */
typedef struct Plan
{
  size_t n, level, n_done;
} Plan;

#define N_PLANS 4

struct TfxConvolverOverlap
{
  Plan plans[N_PLANS]; /* of the first parts of a call, n = 0: none */
  size_t n_history;    /* frames that are kept */
  size_t max_frames;   /* of a segment */
  size_t capacity;     /* frames of a line */
  size_t stride;       /* from line to line */
  size_t at;           /* the first new frame */
  void *samples;       /* T[n_channels][stride] */
  void *re, *im;       /* T[largest transform], scratch */
  void *tiles;         /* T[2 largest transform], scratch */
};

static size_t
place (TfxConvolver *c, TfxArena *arena)
{
  TfxConvolverOverlap line = { 0 };
  TfxConvolverOverlap *l = tfx_arena_take (arena, sizeof line);
  const size_t block = c->fade_pair[0]->block_frames;
  const size_t size = c->layout.n_levels > 0 ? c->layout.levels[0].size : 0;

  line.max_frames = tfx_convolver_catch_up_frames (block);
  c->n_window = c->n_leading + 2 * size;
  if (c->n_window < c->n_taps - 1)
    c->n_window = c->n_taps - 1;
  line.n_history = c->n_taps - 1 + tfx_convolver_catch_up_frames (block);
  if (line.n_history < c->n_window)
    line.n_history = c->n_window;
  c->n_kept = line.n_history;
  /* Twice the history at least: it moves once in so many frames. */
  line.capacity = 2 * line.n_history + 2 * line.max_frames;
  line.stride = (line.capacity + TFX_CONVOLVER_PAD + 15) / 16 * 16;
  line.samples =
      tfx_arena_take (arena, c->n_channels * line.stride * c->value_size);
  /* apart by a cache line more than a power of two */
  line.re = tfx_arena_take (arena, size * c->value_size + 64);
  line.im = tfx_arena_take (arena, size * c->value_size + 64);
  line.tiles = tfx_arena_take (arena, 2 * size * c->value_size);
  c->overlap = l;
  if (l)
    *l = line;
  return line.max_frames;
}

static void
reset (TfxConvolver *c)
{
  TfxConvolverOverlap *l = c->overlap;

  l->at = l->n_history;
  memset (l->samples, 0, c->n_channels * l->stride * c->value_size);
}

/* Frame number `frame` of a channel's line. */
static void *
line_at (const TfxConvolver *c, unsigned channel, size_t frame)
{
  return tfx_convolver_at (c, c->overlap->samples,
      channel * c->overlap->stride + frame);
}

static size_t
begin (TfxConvolver *c, size_t n_left)
{
  TfxConvolverOverlap *l = c->overlap;
  const size_t n = n_left < l->max_frames ? n_left : l->max_frames;

  if (l->at + n > l->capacity) {
    for (unsigned channel = 0; channel < c->n_channels; channel++)
      memmove (line_at (c, channel, 0),
          line_at (c, channel, l->at - l->n_history),
          l->n_history * c->value_size);
    l->at = l->n_history;
  }
  return n;
}

static void *
input (TfxConvolver *c, size_t *stride)
{
  *stride = c->overlap->stride;
  return line_at (c, 0, c->overlap->at);
}

/* n frames from frame `first` on by transform number `level`. */
static void
render_transform (TfxConvolver *c, unsigned side, unsigned channel,
    size_t first, size_t n, size_t level, void *y)
{
  TfxConvolverTaps *taps = c->fade_pair[side];
  TfxConvolverOverlap *l = c->overlap;
  const TfxFft *fft = &c->fft[level];
  const void *h = tfx_convolver_spectra (c, taps, level, channel);
  const TfxTileSum sum = { { l->tiles, l->tiles }, { h, h }, { 1, 0 }, TFX_TILE,
    TFX_TILE };
  /* The window's first half is the real part, its second the imaginary. */
  const void *window =
      line_at (c, channel, l->at + first + n - c->n_leading - 2 * fft->size);
  const size_t n_im = n < fft->size ? n : fft->size, n_re = n - n_im;

  if (taps->unfilled & 1u << level)
    tfx_convolver_taps_fill_level (taps, level);
  tfx_fft_forward (fft, window, tfx_convolver_at (c, window, fft->size), l->re,
      l->im, l->tiles, TFX_TILE);
  tfx_fft_back (fft, &sum, l->re, l->im);

  /* What is right: the last n of the window. */
  memcpy (y, tfx_convolver_at (c, l->re, fft->size - n_re),
      n_re * c->value_size);
  memcpy (tfx_convolver_at (c, y, n_re),
      tfx_convolver_at (c, l->im, fft->size - n_im), n_im * c->value_size);
}

/* What n frames begin with, part number i of a call. */
static Plan
find_plan (TfxConvolver *c, size_t i, size_t n)
{
  Plan *plan = &c->overlap->plans[i % N_PLANS];

  if (plan->n != n) {
    *plan = (Plan){ n, 0, n };
    if (c->layout.n_levels > 0)
      tfx_convolver_layout_plan (&c->layout, &c->cost, c->n_core,
          c->fade_pair[c->active]->is_fft_asked, n, &plan->level,
          &plan->n_done);
  }
  return *plan;
}

static void
render (TfxConvolver *c, unsigned side, unsigned channel, size_t n, void *y)
{
  for (size_t first = 0, i = 0; first < n; i++) {
    const Plan plan = find_plan (c, i, n - first);
    void *y_part = tfx_convolver_at (c, y, first);

    if (plan.level < c->layout.n_levels)
      render_transform (c, side, channel, first, plan.n_done, plan.level,
          y_part);
    else
      tfx_convolver_taps_sum_up (c->fade_pair[side], channel, y_part,
          line_at (c, channel, c->overlap->at + first - c->n_leading),
          plan.n_done);
    first += plan.n_done;
  }
}

static void
end (TfxConvolver *c, size_t n)
{
  c->overlap->at += n;
}

static void *
past (const TfxConvolver *c, unsigned channel, size_t age, size_t *n)
{
  const size_t n_kept = c->overlap->n_history;

  if (age <= n_kept)
    return line_at (c, channel, c->overlap->at - age);
  *n = *n < age - n_kept ? *n : age - n_kept;
  return NULL;
}

/* The line is all that there is. */
static void
received (TfxConvolver *c, unsigned channel, size_t n)
{
  (void)c, (void)channel, (void)n;
}

static size_t
advance (TfxConvolver *c, size_t n)
{
  (void)c, (void)n;
  return 0;
}

static void
prime (TfxConvolver *c, unsigned side)
{
  (void)c, (void)side;
}

static void
restore (TfxConvolver *c)
{
  (void)c;
}

const TfxConvolverWays tfx_convolver_overlap = { place, reset, begin, input,
  received, render, end, advance, prime, past, restore };
