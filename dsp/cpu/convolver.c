/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver.c: FIR filters on the CPU: the object, the way of a block, and the forms
 * direct and block. */
#include "convolver.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "convolver-private.h"
#include "copy.h"

/* ---- samples of blocks, to and from values ---------------------------------------- */

/* n frames of values, channels `stride` apart. */
static inline TfxBlock
describe (const TfxConvolver *c, void *values, size_t stride, size_t n)
{
  return (
      TfxBlock){ values, c->precision, c->n_channels, n, 1, (ptrdiff_t)stride };
}

/* A channel's frames lie one after the other, and are values. */
static inline bool
is_line (const TfxConvolver *c, const TfxBlock *block)
{
  return block->type == c->precision && block->frame_stride == 1;
}

/* n frames from number `first` of a block on. */
static inline void
load (const TfxConvolver *c, void *values, size_t stride, const TfxBlock *block,
    size_t first, size_t n)
{
  /* one channel, in short blocks: a fast path for the fixed cost */
  if (c->n_channels == 1 && is_line (c, block)) {
    memcpy (values, tfx_convolver_at (c, block->data, first),
        n * c->value_size);
  } else {
    const TfxBlock from = tfx_block_part (block, first, n, 0, c->n_channels);
    const TfxBlock to = describe (c, values, stride, n);

    tfx_cpu_copy (c->copies, &from, &to, 1.0);
  }
}

static void
store (const TfxConvolver *c, void *values, size_t stride,
    const TfxBlock *block, size_t first, size_t n)
{
  const TfxBlock from = describe (c, values, stride, n);
  const TfxBlock to = tfx_block_part (block, first, n, 0, c->n_channels);

  tfx_cpu_copy (c->copies, &from, &to, 1.0);
}

void
tfx_convolver_clean (const TfxConvolver *c, void *values, size_t n)
{
  const double limit = c->precision == TFX_SAMPLE_F32 ? 0x1p100 : 0x1p1000;

  for (size_t i = 0; i < n; i++) {
    if (!(fabs (tfx_convolver_get_value (c->precision, values, i)) < limit))
      tfx_convolver_set_value (c->precision, values, i, 0.0);
  }
}

size_t
tfx_convolver_count_quiet (const TfxConvolver *c, const void *values, size_t n)
{
  size_t n_left = n;

  while (n_left > 0 && fabs (tfx_convolver_get_value (c->precision, values,
                           n_left - 1)) <= TFX_SILENCE)
    n_left--;
  return n - n_left;
}

/* y[i] goes from y[i] to to[i] with the cross-fade. */
static void
mix (const TfxConvolver *c, void *y, const void *to, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    const double weight =
        tfx_weight_at (c->weight, c->fade_done + i + 1, c->fade_frames);
    const double a = tfx_convolver_get_value (c->precision, y, i);
    const double b = tfx_convolver_get_value (c->precision, to, i);

    tfx_convolver_set_value (c->precision, y, i,
        weight < 1.0 ? a + (b - a) * weight : b);
  }
}

/* To whole lines of the cache. */
static size_t
round_up (size_t n_values)
{
  return (n_values + 15) / 16 * 16;
}

/* ---- forms direct and block ------------------------------------------------------
 *
 * The samples of each channel are one line, the history before the new
 * ones.  When the line is full, the history moves back to its start.  It is
 * long enough to fill the largest transform together with a new frame;
 * frames beyond n_taps - 1 have no effect but by rounding. */

struct TfxConvolverOverlap
{
  size_t n_history;  /* frames that are kept */
  size_t max_frames; /* of a segment */
  size_t capacity;   /* frames of a line */
  size_t stride;     /* from line to line */
  size_t at;         /* the first new frame */
  void *samples;     /* T[n_channels][stride] */
  void *re, *im;     /* T[largest transform], scratch */
  /* T[2 largest transform]: scratch; of a matrix for each input, of the segment. */
  void *tiles;
  size_t level; /* of a matrix: the transform of the segment */
};

/* What all channels of a segment take, so that it is still near the core when it is put
 * out. */
#define SEGMENT_BYTES 65536

static size_t
line_place (TfxConvolver *c, TfxArena *arena)
{
  TfxConvolverOverlap line = { 0 };
  TfxConvolverOverlap *l = tfx_arena_take (arena, sizeof line);
  const TfxConvolverPaths *paths = tfx_convolver_paths (c);
  const size_t block = c->fade_pair[0]->block_frames;
  const size_t size = c->layout.n_levels > 0 ? c->layout.levels[0].size : 0;
  const size_t most = tfx_convolver_catch_up_frames (block);
  const size_t step = size > 0 ? c->layout.levels[0].n_step : 128;
  const size_t near = SEGMENT_BYTES / (c->n_channels * c->value_size);

  /* The longest segment: whole steps of the largest transform. */
  line.max_frames = near < step ? step : near / step * step;
  if (line.max_frames > most)
    line.max_frames = most;
  c->n_window = c->n_leading + 2 * size;
  if (c->n_window < c->n_taps - 1)
    c->n_window = c->n_taps - 1;
  line.n_history = c->n_taps - 1 + most;
  if (line.n_history < c->n_window)
    line.n_history = c->n_window;
  /* or each input vector would cross cache lines */
  line.n_history = round_up (line.n_history);
  c->n_kept = line.n_history;
  /* Twice the history at least: it moves once in n_history frames. */
  line.capacity = 2 * line.n_history + 2 * line.max_frames;
  line.stride = round_up (line.capacity + TFX_CONVOLVER_PAD);
  line.samples =
      tfx_arena_take (arena, c->n_channels * line.stride * c->value_size);
  /* apart by a cache line more than a power of two */
  line.re = tfx_arena_take (arena, size * c->value_size + 64);
  line.im = tfx_arena_take (arena, size * c->value_size + 64);
  line.tiles = tfx_arena_take (arena,
      (paths->is_matrix ? paths->n_ins : 1) * 2 * size * c->value_size);
  c->overlap = l;
  if (l)
    *l = line;
  return line.max_frames;
}

static void
line_reset (TfxConvolver *c)
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

/* A segment of a matrix is that of one transform. */
static size_t
line_begin (TfxConvolver *c, size_t n_left)
{
  TfxConvolverOverlap *l = c->overlap;
  size_t n = n_left < l->max_frames ? n_left : l->max_frames;

  if (tfx_convolver_paths (c)->is_matrix)
    n = tfx_convolver_layout_next (&c->layout, n, &l->level);
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
line_input (TfxConvolver *c, size_t *stride)
{
  *stride = c->overlap->stride;
  return line_at (c, 0, c->overlap->at);
}

static void *
tiles_of (const TfxConvolver *c, unsigned in)
{
  const TfxConvolverOverlap *l = c->overlap;

  if (!tfx_convolver_paths (c)->is_matrix)
    return l->tiles;
  return tfx_convolver_at (c, l->tiles, in * 2 * c->layout.levels[0].size);
}

/* The spectrum of an input, for the n frames from frame `first` on. */
static void
transform_input (TfxConvolver *c, unsigned in, size_t first, size_t n,
    size_t level)
{
  TfxConvolverOverlap *l = c->overlap;
  const TfxFft *fft = &c->fft[level];
  const unsigned channel = tfx_convolver_paths (c)->ins[in];
  /* The window's first half is the real part, its second the imaginary. */
  const void *window =
      line_at (c, channel, l->at + first + n - c->n_leading - 2 * fft->size);

  tfx_fft_forward (fft, window, tfx_convolver_at (c, window, fft->size), l->re,
      l->im, tiles_of (c, in), TFX_TILE);
}

static void
line_received (TfxConvolver *c, unsigned channel, size_t n)
{
  const TfxConvolverPaths *paths = tfx_convolver_paths (c);

  if (paths->is_matrix && c->overlap->level < c->layout.n_levels &&
      paths->in_of[channel] != TFX_CONVOLVER_NONE)
    transform_input (c, paths->in_of[channel], 0, n, c->overlap->level);
}

/* n frames of an output from the spectra of its inputs. */
static void
transform_output (TfxConvolver *c, unsigned side, unsigned out, size_t n,
    size_t level, void *y)
{
  TfxConvolverTaps *taps = c->fade_pair[side];
  const TfxConvolverPaths *paths = taps->paths;
  const uint32_t begin = paths->firsts[out], end = paths->firsts[out + 1];
  TfxConvolverOverlap *l = c->overlap;
  const TfxFft *fft = &c->fft[level];
  const TfxTileSum sum = { c->terms, end - begin, { 1, 0 }, TFX_TILE,
    TFX_TILE };
  const size_t n_im = n < fft->size ? n : fft->size, n_re = n - n_im;

  if (taps->filler)
    tfx_convolver_taps_fill_block (taps);
  for (uint32_t i = begin; i < end; i++) {
    void *tiles = tiles_of (c, paths->paths[i].in);

    c->terms[i - begin] = (TfxTileTerm){ { tiles, tiles },
      tfx_convolver_spectra (c, taps, level, paths->paths[i].kernel) };
  }
  tfx_fft_back (fft, &sum, l->re, l->im);

  /* The valid part: the last n of the window. */
  memcpy (y, tfx_convolver_at (c, l->re, fft->size - n_re),
      n_re * c->value_size);
  memcpy (tfx_convolver_at (c, y, n_re),
      tfx_convolver_at (c, l->im, fft->size - n_im), n_im * c->value_size);
}

static void
line_render (TfxConvolver *c, unsigned side, unsigned out, size_t n, void *y)
{
  const TfxConvolverOverlap *l = c->overlap;
  const bool is_matrix = tfx_convolver_paths (c)->is_matrix;

  for (size_t first = 0, n_part; first < n; first += n_part) {
    void *y_part = tfx_convolver_at (c, y, first);
    size_t level = l->level;

    n_part = n;
    if (!is_matrix)
      n_part = tfx_convolver_layout_next (&c->layout, n - first, &level);
    if (level == c->layout.n_levels) {
      tfx_convolver_taps_sum_up (c->fade_pair[side], out, y_part,
          line_at (c, 0, l->at + first - c->n_leading), l->stride, n_part);
      continue;
    }
    if (!is_matrix)
      transform_input (c, out, first, n_part, level);
    transform_output (c, side, out, n_part, level, y_part);
  }
}

static void
line_end (TfxConvolver *c, size_t n)
{
  c->overlap->at += n;
}

static void *
line_past (const TfxConvolver *c, unsigned channel, size_t age, size_t *n)
{
  const size_t n_kept = c->overlap->n_history;

  if (age <= n_kept)
    return line_at (c, channel, c->overlap->at - age);
  *n = *n < age - n_kept ? *n : age - n_kept;
  return NULL;
}

/* The line is all that there is: the rest has nothing to do. */
static const TfxConvolverWays overlap = { .place = line_place,
  .reset = line_reset,
  .begin = line_begin,
  .input = line_input,
  .received = line_received,
  .render = line_render,
  .end = line_end,
  .past = line_past };

/* ---- the object --------------------------------------------------------------- */

/* Takes all arrays from the arena. */
static void
place (TfxConvolver *c, TfxArena *arena)
{
  const size_t n_segment = c->ways->place (c, arena);

  c->output_stride = round_up (n_segment + TFX_CONVOLVER_PAD);
  c->output =
      tfx_arena_take (arena, c->n_channels * c->output_stride * c->value_size);
  c->other = tfx_arena_take (arena, c->output_stride * c->value_size);
  c->terms =
      tfx_arena_take (arena, tfx_convolver_paths (c)->most * sizeof *c->terms);
}

/* Sets all fields that need no memory. */
static void
set_up (TfxConvolver *c, TfxConvolverTaps *taps)
{
  memset (c, 0, sizeof *c);
  c->n_taps = taps->n_taps;
  c->n_leading = taps->n_leading;
  c->n_core = taps->n_core;
  c->n_channels = taps->n_channels;
  c->precision = taps->precision;
  c->value_size = taps->precision == TFX_SAMPLE_F32 ? 4 : 8;
  c->ops = &taps->kernels->ops[taps->precision];
  c->copies = tfx_kernels_for (taps->kernels->name);
  c->cost = *tfx_convolver_costs (taps->kernels, taps->precision);
  c->layout = taps->layout;
  c->ways = taps->layout.form == TFX_CONVOLVER_PARTITIONED
                ? &tfx_convolver_partitions
                : &overlap;
  c->fade_pair[0] = taps;
}

int
tfx_convolver_new (TfxConvolverTaps *taps, TfxConvolver **convolver)
{
  TfxConvolver *c = malloc (sizeof *c);
  TfxArena arena = { 0 };
  int result = 0;

  *convolver = NULL;
  if (!c)
    return -ENOMEM;
  set_up (c, taps);
  tfx_convolver_taps_ref (taps);
  for (size_t i = 0; !result && i < c->layout.n_levels; i++)
    result = tfx_fft_init (&c->fft[i], c->ops, c->precision,
        c->layout.levels[i].size);
  if (!result) {
    place (c, &arena);
    c->arena = aligned_alloc (64, arena.used);
    if (!c->arena)
      result = -ENOMEM;
  }
  if (result) {
    tfx_convolver_free (&c);
    return result;
  }
  /* No page of it is touched for the first time while samples flow. */
  memset (c->arena, 0, arena.used);
  arena = (TfxArena){ c->arena, 0 };
  place (c, &arena);
  tfx_convolver_reset (c);
  *convolver = c;
  return 0;
}

/* Lets go of taps that were in use; not while samples flow. */
static void
unref_retired (TfxConvolver *c)
{
  for (int i = 0; i < 2; i++)
    tfx_convolver_taps_unref (&c->retired[i]);
}

void
tfx_convolver_free (TfxConvolver **convolver)
{
  TfxConvolver *c = *convolver;

  *convolver = NULL;
  if (!c)
    return;
  for (int side = 0; side < 2; side++)
    tfx_convolver_taps_unref (&c->fade_pair[side]);
  tfx_convolver_taps_unref (&c->waiting);
  unref_retired (c);
  for (size_t i = 0; i < TFX_CONVOLVER_MAX_LEVELS; i++)
    tfx_fft_clear (&c->fft[i]);
  free (c->arena);
  free (c);
}

/* ---- a cross-fade -------------------------------------------------------------- */

/* The active taps are out of use.  Between two calls of unref_retired() at
 * most two retire: those of the running cross-fade, and those that wait. */
static void
retire (TfxConvolver *c)
{
  c->retired[c->retired[0] ? 1 : 0] = c->fade_pair[c->active];
  c->fade_pair[c->active] = NULL;
  c->active = !c->active;
  c->fade_frames = c->fade_done = 0;
}

/* Puts taps, whose reference it takes, beside the active ones. */
static void
start_fade (TfxConvolver *c, TfxConvolverTaps *taps, size_t fade_frames,
    TfxWeight weight)
{
  const unsigned side = !c->active;

  c->fade_pair[side] = taps;
  c->fade_frames = fade_frames > 0 ? fade_frames : 1;
  c->fade_done = 0;
  c->weight = weight;
  if (c->ways->prime)
    c->ways->prime (c, side);
  if (fade_frames == 0)
    retire (c);
}

/* The new taps are active; those that wait come next. */
static void
end_fade (TfxConvolver *c)
{
  retire (c);
  if (c->waiting) {
    TfxConvolverTaps *taps = c->waiting;
    c->waiting = NULL;
    start_fade (c, taps, c->waiting_fade_frames, c->waiting_weight);
  }
}

int
tfx_convolver_set_taps (TfxConvolver *c, TfxConvolverTaps *taps,
    size_t fade_frames, TfxWeight weight)
{
  const TfxConvolverTaps *now = c->fade_pair[c->active];

  if (taps->n_taps != now->n_taps || taps->n_leading != now->n_leading ||
      taps->n_core != now->n_core || taps->n_channels != now->n_channels ||
      taps->precision != now->precision || taps->kernels != now->kernels ||
      taps->block_frames != now->block_frames ||
      !tfx_convolver_paths_are_equal (taps->paths, now->paths,
          now->n_channels) ||
      !tfx_convolver_layout_is_equal (&taps->layout, &c->layout))
    return -EINVAL;
  unref_retired (c);
  tfx_convolver_taps_ref (taps);
  if (c->fade_frames == 0) {
    start_fade (c, taps, fade_frames, weight);
    return 0;
  }
  tfx_convolver_taps_unref (&c->waiting);
  c->waiting = taps;
  c->waiting_fade_frames = fade_frames;
  c->waiting_weight = weight;
  return 0;
}

size_t
tfx_convolver_fade_frames (const TfxConvolver *c)
{
  return c->fade_frames - c->fade_done;
}

/* ---- the way of a block --------------------------------------------------------- */

/* Puts out n frames of a channel, which lie in c->output or at frame `first` of the
 * block. */
static void
render_channel (TfxConvolver *c, unsigned channel, const TfxBlock *out,
    size_t first, size_t n)
{
  const unsigned number = tfx_convolver_paths (c)->out_of[channel];
  void *y = is_line (c, out)
                ? tfx_convolver_at (c, out->data,
                      channel * (size_t)out->channel_stride + first)
                : tfx_convolver_at (c, c->output, channel * c->output_stride);

  if (number == TFX_CONVOLVER_NONE) {
    memset (y, 0, n * c->value_size);
    return;
  }
  c->ways->render (c, c->active, number, n, y);
  if (c->fade_frames > 0) {
    c->ways->render (c, !c->active, number, n, c->other);
    mix (c, y, c->other, n);
  }
}

/* Runs at most n_left frames from frame `first` of the blocks on; how many. */
static size_t
run_segment (TfxConvolver *c, const TfxBlock *in, const TfxBlock *out,
    size_t first, size_t n_left, unsigned *n_unsound)
{
  const size_t n_fade = c->fade_frames - c->fade_done;
  const bool is_matrix = tfx_convolver_paths (c)->is_matrix;
  size_t n, n_quiet, stride;
  char *inputs;

  /* Where taps wait a cross-fade ends with its last frame, so that the next one does
   * not depend on how a stream is split. */
  if (c->waiting && n_left > n_fade)
    n_left = n_fade;
  n = n_quiet = c->ways->begin (c, n_left);
  inputs = c->ways->input (c, &stride);
  load (c, inputs, stride, in, first, n);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    void *x = inputs + channel * stride * c->value_size;
    size_t n_last;

    if (!c->ops->is_sound (x, n)) {
      tfx_convolver_clean (c, x, n);
      *n_unsound += 1;
    }
    n_last = tfx_convolver_count_quiet (c, x, n);
    n_quiet = n_last < n_quiet ? n_last : n_quiet;
    c->ways->received (c, channel, n);
    if (!is_matrix)
      render_channel (c, channel, out, first, n);
  }
  for (unsigned channel = 0; is_matrix && channel < c->n_channels; channel++)
    render_channel (c, channel, out, first, n);
  if (!is_line (c, out))
    store (c, c->output, c->output_stride, out, first, n);
  c->ways->end (c, n);
  if (c->fade_frames > 0) {
    c->fade_done += n;
    if (c->fade_done >= c->fade_frames)
      end_fade (c);
  }
  c->n_run += n;
  if (n_quiet < n)
    c->n_quiet = n_quiet;
  else if (c->n_quiet < c->n_kept)
    c->n_quiet += n;
  return n;
}

unsigned
tfx_convolver_run (TfxConvolver *c, const TfxBlock *in, const TfxBlock *out)
{
  unsigned n_unsound = 0;

  for (size_t first = 0; first < in->n_frames;)
    first += run_segment (c, in, out, first, in->n_frames - first, &n_unsound);
  return n_unsound;
}

/* ---- state ---------------------------------------------------------------------- */

void
tfx_convolver_reset (TfxConvolver *c)
{
  unref_retired (c);
  if (c->waiting) {
    tfx_convolver_taps_unref (&c->fade_pair[!c->active]);
    c->fade_pair[!c->active] = c->waiting;
    c->waiting = NULL;
  }
  if (c->fade_frames > 0)
    retire (c);
  unref_retired (c);
  c->n_run = TFX_CONVOLVER_START;
  c->known = 0;
  c->n_quiet = c->n_kept;
  c->ways->reset (c);
}

bool
tfx_convolver_is_silent (const TfxConvolver *c)
{
  return c->n_quiet >= c->n_window;
}
