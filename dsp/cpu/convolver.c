/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver.c: FIR filters on the CPU: the object and the way of a block. */
#include "convolver.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"
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

/* n frames from number `first` of a block on. */
static void
load (const TfxConvolver *c, void *values, size_t stride, const TfxBlock *block,
    size_t first, size_t n)
{
  const TfxBlock from = tfx_block_part (block, first, n, 0, c->n_channels);
  const TfxBlock to = describe (c, values, stride, n);

  if (c->n_channels == 1 && block->type == c->precision &&
      block->frame_stride == 1)
    memcpy (values, from.data, n * c->value_size);
  else
    tfx_cpu_copy (c->copies, &from, &to, 1.0);
}

static void
store (const TfxConvolver *c, void *values, size_t stride,
    const TfxBlock *block, size_t first, size_t n)
{
  const TfxBlock from = describe (c, values, stride, n);
  const TfxBlock to = tfx_block_part (block, first, n, 0, c->n_channels);

  tfx_cpu_copy (c->copies, &from, &to, 1.0);
}

/* Samples that are not sound (TfxConvolverOps) become 0. */
static void
clean (const TfxConvolver *c, void *values, size_t n)
{
  const double limit = c->precision == TFX_SAMPLE_F32 ? 0x1p100 : 0x1p1000;

  for (size_t i = 0; i < n; i++) {
    if (!(fabs (tfx_convolver_get_value (c->precision, values, i)) < limit))
      tfx_convolver_set_value (c->precision, values, i, 0.0);
  }
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

/* ---- the object --------------------------------------------------------------- */

/* Takes all arrays from the arena. */
static void
place (TfxConvolver *c, TfxArena *arena)
{
  const size_t n_segment = c->ways->place (c, arena);

  c->output_stride = (n_segment + TFX_CONVOLVER_PAD + 15) / 16 * 16;
  c->output =
      tfx_arena_take (arena, c->n_channels * c->output_stride * c->value_size);
  c->other = tfx_arena_take (arena, c->output_stride * c->value_size);
}

/* A convolver with what does not need memory of its own. */
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
  c->cost = taps->kernels->cost[taps->precision];
  c->layout = taps->layout;
  c->ways = taps->layout.form == TFX_CONVOLVER_PARTITIONED
                ? &tfx_convolver_partitions
                : &tfx_convolver_overlap;
  c->fade_pair[0] = taps;
}

static int
make_transforms (TfxConvolver *c)
{
  int result = 0;

  for (size_t i = 0; !result && i < c->layout.n_levels; i++)
    result = tfx_fft_init (&c->fft[i], c->ops, c->precision,
        c->layout.levels[i].size);
  return result;
}

int
tfx_convolver_new (TfxConvolverTaps *taps, TfxConvolver **convolver)
{
  TfxConvolver *c = malloc (sizeof *c);
  TfxArena arena = { 0 };
  int result;

  *convolver = NULL;
  if (!c)
    return -ENOMEM;
  set_up (c, taps);
  tfx_convolver_taps_ref (taps);
  result = make_transforms (c);
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

size_t
tfx_convolver_taps_state_memory (const TfxConvolverTaps *taps)
{
  TfxConvolver c;
  TfxArena arena = { 0 };
  size_t n_tables = 0;

  set_up (&c, (TfxConvolverTaps *)taps);
  for (size_t i = 0; i < c.layout.n_levels; i++) {
    const TfxConvolverLevel *l = &c.layout.levels[i];
    tfx_fft_plan (&c.fft[i], l->size, c.ops->max_lanes);
    n_tables += tfx_fft_memory (c.precision, l->size);
  }
  place (&c, &arena);
  return sizeof c + arena.used + n_tables;
}

/* ---- a cross-fade -------------------------------------------------------------- */

/* The active taps are heard no more.  Between two calls of unref_retired() at
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
      taps->is_fft_asked != now->is_fft_asked ||
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

bool
tfx_convolver_is_fading (const TfxConvolver *c)
{
  return c->fade_frames > 0;
}

size_t
tfx_convolver_fade_frames (const TfxConvolver *c)
{
  return c->fade_frames - c->fade_done;
}

/* ---- the way of a block --------------------------------------------------------- */

/* n frames of a channel that have come, x, to y.  True if all of them were
 * sound. */
static bool
run_channel (TfxConvolver *c, unsigned channel, void *x, void *y, size_t n)
{
  const bool is_sound = c->ops->is_sound (x, n);

  if (!is_sound)
    clean (c, x, n);
  c->ways->received (c, channel, n);
  c->ways->render (c, c->active, channel, n, y);
  if (c->fade_frames > 0) {
    c->ways->render (c, !c->active, channel, n, c->other);
    mix (c, y, c->other, n);
  }
  return is_sound;
}

/* How many of n_left frames come next.  Where taps wait a cross-fade ends with
 * its last frame, so that the next one does not depend on how a stream is
 * split. */
static size_t
begin_segment (TfxConvolver *c, size_t n_left)
{
  const size_t n_fade = c->fade_frames - c->fade_done;

  if (c->waiting && n_left > n_fade)
    n_left = n_fade;
  return c->ways->begin (c, n_left);
}

/* Where the output of a channel can be computed: in the block itself, if its
 * frames lie one after the other, or in `output`. */
static void *
output_at (const TfxConvolver *c, const TfxBlock *out, unsigned channel,
    size_t first)
{
  if (out->type == c->precision && out->frame_stride == 1)
    return tfx_convolver_at (c, out->data,
        channel * (size_t)out->channel_stride + first);
  return tfx_convolver_at (c, c->output, channel * c->output_stride);
}

/* At most n_left frames from frame `first` of the blocks on; how many. */
static size_t
run_segment (TfxConvolver *c, const TfxBlock *in, const TfxBlock *out,
    size_t first, size_t n_left, unsigned *n_unsound)
{
  const size_t n = begin_segment (c, n_left);
  size_t stride;
  void *x = c->ways->input (c, &stride);

  load (c, x, stride, in, first, n);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    if (!run_channel (c, channel, tfx_convolver_at (c, x, channel * stride),
            output_at (c, out, channel, first), n))
      *n_unsound += 1;
  }
  if (out->type != c->precision || out->frame_stride != 1)
    store (c, c->output, c->output_stride, out, first, n);
  c->ways->end (c, n);
  if (c->fade_frames > 0) {
    c->fade_done += n;
    if (c->fade_done >= c->fade_frames)
      end_fade (c);
  }
  c->n_run += n;
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
  c->spectra_only = false;
  c->ways->reset (c);
}

void
tfx_convolver_get_history (const TfxConvolver *c, double *history)
{
  const size_t n = c->n_taps - 1;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t i = 0, n_row; i < n; i += n_row) {
      const void *x;

      n_row = n - i;
      x = c->ways->past (c, channel, n - i, &n_row);
      for (size_t k = 0; k < n_row; k++)
        *history++ = tfx_convolver_get_value (c->precision, x, k);
    }
  }
}

void
tfx_convolver_set_history (TfxConvolver *c, const double *history)
{
  const size_t n = c->n_taps - 1;

  c->n_run = TFX_CONVOLVER_START;
  c->known = c->n_run - n;
  c->spectra_only = false;
  c->ways->reset (c);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t i = 0, n_row; i < n; i += n_row) {
      void *x;

      n_row = n - i;
      x = c->ways->past (c, channel, n - i, &n_row);
      for (size_t k = 0; k < n_row; k++)
        tfx_convolver_set_value (c->precision, x, k, *history++);
      clean (c, x, n_row);
    }
  }
  c->ways->restore (c);
}

double
tfx_convolver_state_peak (const TfxConvolver *c)
{
  const size_t n = c->n_window;
  double peak = 0.0;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t i = 0, n_row; i < n; i += n_row) {
      const void *x;

      n_row = n - i;
      x = c->ways->past (c, channel, n - i, &n_row);
      for (size_t k = 0; k < n_row; k++) {
        const double a = fabs (tfx_convolver_get_value (c->precision, x, k));
        peak = a > peak ? a : peak;
      }
    }
  }
  return peak;
}
