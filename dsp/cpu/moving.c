/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving.c: a step of sections and gains while its values move.
 *
 * Sections that glide run as state-variable filters, whose values change at every frame of a
 * cell of the grid; all others channel by channel, as they are. */
#include "moving.h"

#include <string.h>

#include "copy.h"
#include "core/block.h"
#include "core/state.h"
#include "core/ramp.h"

/* The most channels that run at a time, with a bit each. */
#define MOST_CHANNELS 64

/* Sections in their textbook form over a channel, samples a stride apart; state[n_sos][2] */
static void
run_sections (const TfxSos *sos, size_t n_sos, double *state, double *x,
    size_t stride, size_t n)
{
  for (size_t i = 0; i < n; i++, x += stride) {
    double v = *x;

    for (size_t k = 0; k < n_sos; k++) {
      const TfxSos *b = &sos[k];
      double *s = state + 2 * k;
      const double y = b->b0 * v + s[0];

      s[0] = (b->b1 * v - b->a1 * y) + s[1];
      s[1] = b->b2 * v - b->a2 * y;
      v = y;
    }
    *x = v;
  }
}

/* Clears the state of a channel if it is not finite; returns whether it was. */
static bool
recover (double *state, size_t n, size_t stride)
{
  double sum = 0.0;

  for (size_t i = 0; i < n; i++)
    sum += 0.0 * state[i * stride];
  for (size_t i = 0; sum != 0.0 && i < n; i++)
    state[i * stride] = 0.0;
  return sum != 0.0;
}

static bool
glides (const TfxSlot *slot, uint64_t frame)
{
  return slot->n_sos > 0 && !slot->ramp.is_fade && tfx_ramp_is_on (slot, frame);
}

/* A slot over some frames of a cell, and over the channels from `first` on: x[n][n_channels].
 * Returns those that were cleared, a bit for each. */
static uint64_t
run_slot (const TfxKernels *kernels, TfxSlot *slot, uint64_t frame,
    unsigned first, unsigned n_channels, double *x, size_t n)
{
  const size_t n_sos = slot->n_sos, n_state = 2 * n_sos;
  TfxRamp *ramp = &slot->ramp;
  const bool is_on = tfx_ramp_is_on (slot, frame);
  uint64_t cleared = 0;
  double w[TFX_GRID_FRAMES + 8], rise[TFX_GRID_FRAMES], y[TFX_GRID_FRAMES];

  if (n_sos == 0) {
    tfx_ramp_gains (slot, frame, n, w);
    kernels->ramp (x, TFX_SAMPLE_F64, x, TFX_SAMPLE_F64, n, n_channels, w);
    return 0;
  }
  if (glides (slot, frame)) {
    const bool is_narrow = kernels->half && n_channels <= kernels->half->width;
    const size_t stride = slot->n_channels;
    double *state = ramp->state + first;
    TfxMovingKernel *moving = n_channels == 1 ? kernels->moving_one
                              : is_narrow     ? kernels->half->moving
                                              : kernels->moving;

    moving (x, n, n_channels, state, stride,
        ramp->coef + frame % TFX_GRID_FRAMES, n_sos);
    for (unsigned c = 0; c < n_channels; c++)
      cleared |= (uint64_t)recover (state + c, n_state, stride) << c;
    return cleared;
  }
  if (is_on) {
    tfx_ramp_rise (slot, frame, n, rise);
    tfx_ramp_weights (slot, frame, n, w);
  }
  for (unsigned c = 0; c < n_channels; c++) {
    double *state = slot->state + (first + c) * n_state;
    double *new_state = ramp->state + (first + c) * n_state;

    for (size_t i = 0; is_on && i < n; i++)
      y[i] = rise[i] * x[i * n_channels + c];
    run_sections (slot->sos, n_sos, state, x + c, n_channels, n);
    cleared |= (uint64_t)recover (state, n_state, 1) << c;
    if (!is_on)
      continue;
    run_sections (slot->to, n_sos, new_state, y, 1, n);
    cleared |= (uint64_t)recover (new_state, n_state, 1) << c;
    for (size_t i = 0; i < n; i++)
      x[i * n_channels + c] += w[i] * (y[i] - x[i * n_channels + c]);
  }
  return cleared;
}

/* The frame of a part's filter, for frame `first` of a run. */
static uint64_t
frame_of (const TfxStep *step, size_t part, size_t first)
{
  return step->plan->filters[step->parts[part].filter]->n_run + first;
}

/* Begins the cells of all parts.  Returns the frames before the end of the first of them. */
static size_t
begin_cells (const TfxKernels *kernels, const TfxStep *step, size_t first,
    size_t n_left)
{
  size_t n = n_left < TFX_GRID_FRAMES ? n_left : TFX_GRID_FRAMES;

  for (size_t i = 0; i < step->n_parts; i++) {
    TfxSlot *slot = step->parts[i].slot;
    const TfxRamp *m = &slot->ramp;
    const uint64_t frame = frame_of (step, i, first);
    const size_t in_cell = (size_t)(frame % TFX_GRID_FRAMES);

    if (!glides (slot, frame))
      continue;
    /* A run of silence may end within a cell. */
    if (m->cell != frame - in_cell) {
      tfx_ramp_begin_cell (slot, frame - in_cell);
      kernels->moving_coef (m->values, m->rates, slot->n_sos, slot->n_sos,
          m->coef);
    }
    n = TFX_GRID_FRAMES - in_cell < n ? TFX_GRID_FRAMES - in_cell : n;
  }
  return n;
}

static void *
sample_at (const TfxBlock *b, size_t frame, unsigned channel)
{
  const ptrdiff_t at = (ptrdiff_t)frame * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;

  return (char *)b->data + at * (ptrdiff_t)tfx_sample_size (b->type);
}

/* A gain alone, plane by plane, or all channels of interleaved samples. */
static void
run_gain (const TfxKernels *kernels, const TfxSlot *slot, uint64_t frame,
    const TfxBlock *in, const TfxBlock *out)
{
  const unsigned n_rows = in->frame_stride == 1 ? in->n_channels : 1;
  double gains[TFX_GRID_FRAMES + 8];

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    n = in->n_frames - i < TFX_GRID_FRAMES ? in->n_frames - i : TFX_GRID_FRAMES;
    tfx_ramp_gains (slot, frame + i, n, gains);
    for (unsigned c = 0; c < n_rows; c++)
      kernels->ramp (sample_at (out, i, c), out->type, sample_at (in, i, c),
          in->type, n, in->n_channels / n_rows, gains);
  }
}

int
tfx_moving_run (const TfxKernels *kernels, const TfxStep *step, size_t first,
    const TfxBlock *in, const TfxBlock *out)
{
  const TfxPlanPart *parts = step->parts;
  const bool is_dense = out->type == TFX_SAMPLE_F64 &&
                        tfx_block_is_interleaved (out) &&
                        out->n_channels <= MOST_CHANNELS;
  double samples[TFX_GRID_FRAMES * MOST_CHANNELS];
  int n_cleared = 0;

  if (step->n_parts == 1 && step->n_sos == 0 &&
      ((in->frame_stride == 1 && out->frame_stride == 1) ||
          (tfx_block_is_interleaved (in) && tfx_block_is_interleaved (out)))) {
    run_gain (kernels, parts->slot, frame_of (step, 0, first), in, out);
    return 0;
  }
  for (size_t i = 0, n; i < in->n_frames; i += n) {
    n = begin_cells (kernels, step, first + i, in->n_frames - i);
    for (unsigned c = 0, n_channels; c < in->n_channels; c += n_channels) {
      TfxBlock from, to, x;
      uint64_t cleared = 0;

      n_channels = in->n_channels - c < MOST_CHANNELS ? in->n_channels - c
                                                      : MOST_CHANNELS;
      from = tfx_block_part (in, i, n, c, n_channels);
      to = tfx_block_part (out, i, n, c, n_channels);
      x = (TfxBlock){ is_dense ? to.data : samples, TFX_SAMPLE_F64, n_channels,
        n, n_channels, 1 };
      tfx_cpu_copy (kernels, &from, &x, 1.0);
      for (size_t k = 0; k < step->n_parts; k++)
        cleared |= run_slot (kernels, parts[k].slot,
            frame_of (step, k, first + i), c, n_channels, x.data, n);
      if (!is_dense)
        tfx_cpu_copy (kernels, &x, &to, 1.0);
      n_cleared += __builtin_popcountll (cleared);
    }
  }
  return n_cleared;
}
