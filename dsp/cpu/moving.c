/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving.c: a step of sections and gains while its values move.
 *
 * Cell by cell of the grid, as many channels at a time as a vector has lanes.  What
 * glides runs as state-variable filters, their values others at every frame; all
 * else channel by channel, as the sections are. */
#include "moving.h"

#include <math.h>
#include <string.h>

#include "core/block.h"
#include "core/state.h"
#include "core/ramp.h"

/* A part over some frames of a cell, for some channels side by side. */
typedef struct Run
{
  const TfxKernels *kernels;
  TfxSlot *slot;
  uint64_t frame; /* of the filter */
  unsigned channel, n_lanes;
  size_t n;
} Run;

/* The most channels side by side. */
#define MOST_LANES 8

/* ---- sections that stand still ---------------------------------------------------- */

/* A channel of x[n][n_lanes]; state[n_sos][2] */
static void
run_sections (const TfxSos *sos, size_t n_sos, double *state, double *x,
    unsigned n_lanes, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    double v = x[i * n_lanes];

    for (size_t k = 0; k < n_sos; k++) {
      const TfxSos *b = &sos[k];
      double *s = state + 2 * k;
      const double y = b->b0 * v + s[0];

      s[0] = (b->b1 * v - b->a1 * y) + s[1];
      s[1] = b->b2 * v - b->a2 * y;
      v = y;
    }
    x[i * n_lanes] = v;
  }
}

/* ---- on the way --------------------------------------------------------------------- */

static void
run_gain (const Run *r, double *x)
{
  double gains[TFX_GRID_FRAMES + 8];

  tfx_ramp_gains (r->slot, r->frame, r->n, gains);
  r->kernels->ramp (x, TFX_SAMPLE_F64, x, TFX_SAMPLE_F64, r->n, r->n_lanes,
      gains);
}

/* Of a channel: y is faded in. */
static void
run_fade (const Run *r, double *state, double *new_state, double *x)
{
  const TfxSlot *slot = r->slot;
  double y[TFX_GRID_FRAMES], w[TFX_GRID_FRAMES];
  const unsigned n_lanes = r->n_lanes;

  tfx_ramp_rise (slot, r->frame, r->n, w);
  for (size_t i = 0; i < r->n; i++)
    y[i] = w[i] * x[i * n_lanes];
  tfx_ramp_weights (slot, r->frame, r->n, w);
  run_sections (slot->sos, slot->n_sos, state, x, n_lanes, r->n);
  run_sections (slot->to, slot->n_sos, new_state, y, 1, r->n);
  for (size_t i = 0; i < r->n; i++)
    x[i * n_lanes] += w[i] * (y[i] - x[i * n_lanes]);
}

static bool
are_finite (const double *state, size_t n)
{
  double sum = 0.0;

  for (size_t i = 0; i < n; i++)
    sum += 0.0 * state[i];
  return sum == 0.0;
}

/* Whether its state is finite; else it is cleared. */
static bool
is_clean (double *state, size_t n)
{
  const bool is = are_finite (state, n);

  if (!is)
    memset (state, 0, n * sizeof *state);
  return is;
}

/* Sections that stand still or are cross-faded; returns the channels that were
 * cleared, a bit for each. */
static unsigned
run_channels (const Run *r, double *x)
{
  TfxSlot *slot = r->slot;
  const size_t n_state = 2 * slot->n_sos;
  const bool is_on = tfx_ramp_is_on (slot, r->frame);
  unsigned cleared = 0;

  for (unsigned c = 0; c < r->n_lanes; c++) {
    const size_t at = (r->channel + c) * n_state;
    double *state = slot->state + at;
    bool is = true;

    if (is_on) {
      run_fade (r, state, slot->ramp.state + at, x + c);
      is = is_clean (slot->ramp.state + at, n_state);
    } else {
      run_sections (slot->sos, slot->n_sos, state, x + c, r->n_lanes, r->n);
    }
    if (!(is_clean (state, n_state) && is))
      cleared |= 1u << c;
  }
  return cleared;
}

/* Integrators of the channels, of which few are ever not finite. */
static unsigned
clean_integrators (const Run *r, double *state)
{
  const size_t stride = r->slot->n_channels, n = 2 * r->slot->n_sos;
  unsigned cleared = 0;

  for (unsigned c = 0; c < r->n_lanes; c++) {
    double sum = 0.0;

    for (size_t i = 0; i < n; i++)
      sum += 0.0 * state[i * stride + c];
    if (sum == 0.0)
      continue;
    cleared |= 1u << c;
    for (size_t i = 0; i < n; i++)
      state[i * stride + c] = 0.0;
  }
  return cleared;
}

static unsigned
run_glide (const Run *r, double *x)
{
  const TfxRamp *m = &r->slot->ramp;
  double *state = m->state + r->channel;

  r->kernels->moving (x, r->n, r->n_lanes, state, r->slot->n_channels,
      m->coef + r->frame % TFX_GRID_FRAMES, r->slot->n_sos);
  return clean_integrators (r, state);
}

static bool
glides (const TfxSlot *slot, uint64_t frame)
{
  return slot->n_sos > 0 && !slot->ramp.is_fade && tfx_ramp_is_on (slot, frame);
}

static unsigned
run_part (const Run *r, double *x)
{
  if (glides (r->slot, r->frame))
    return run_glide (r, x);
  if (r->slot->sos)
    return run_channels (r, x);
  run_gain (r, x);
  return 0;
}

/* ---- a step --------------------------------------------------------------------------- */

/* n samples, `from` and `to` of them apart. */
static inline __attribute__ ((always_inline)) void
read_row (double *x, size_t to, const TfxBlock *b, ptrdiff_t at, ptrdiff_t from,
    size_t n)
{
  if (b->type == TFX_SAMPLE_F32) {
    for (size_t i = 0; i < n; i++)
      x[i * to] = ((const float *)b->data)[at + (ptrdiff_t)i * from];
  } else {
    for (size_t i = 0; i < n; i++)
      x[i * to] = ((const double *)b->data)[at + (ptrdiff_t)i * from];
  }
}

static inline __attribute__ ((always_inline)) void
write_row (const double *x, size_t from, const TfxBlock *b, ptrdiff_t at,
    ptrdiff_t to, size_t n)
{
  if (b->type == TFX_SAMPLE_F32) {
    for (size_t i = 0; i < n; i++)
      ((float *)b->data)[at + (ptrdiff_t)i * to] = (float)x[i * from];
  } else {
    for (size_t i = 0; i < n; i++)
      ((double *)b->data)[at + (ptrdiff_t)i * to] = x[i * from];
  }
}

/* Whether they lie side by side in the block too. */
static bool
are_adjacent (const TfxBlock *b, unsigned n_lanes)
{
  return b->frame_stride == (ptrdiff_t)n_lanes &&
         (n_lanes == 1 || b->channel_stride == 1);
}

static void *
sample_at (const TfxBlock *b, ptrdiff_t at)
{
  return (char *)b->data + at * (ptrdiff_t)tfx_sample_size (b->type);
}

/* Samples of the channels from `channel` on to x[n][n_lanes], and back. */
static void
load (const TfxKernels *k, const TfxBlock *b, size_t first, unsigned channel,
    unsigned n_lanes, size_t n, double *x)
{
  const ptrdiff_t at = (ptrdiff_t)first * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;

  if (are_adjacent (b, n_lanes))
    k->scale (x, TFX_SAMPLE_F64, sample_at (b, at), b->type, n * n_lanes, 1.0);
  else
    for (unsigned c = 0; c < n_lanes; c++)
      read_row (x + c, n_lanes, b, at + (ptrdiff_t)c * b->channel_stride,
          b->frame_stride, n);
}

static void
store (const TfxKernels *k, const TfxBlock *b, size_t first, unsigned channel,
    unsigned n_lanes, size_t n, const double *x)
{
  const ptrdiff_t at = (ptrdiff_t)first * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;

  if (are_adjacent (b, n_lanes))
    k->scale (sample_at (b, at), b->type, x, TFX_SAMPLE_F64, n * n_lanes, 1.0);
  else
    for (unsigned c = 0; c < n_lanes; c++)
      write_row (x + c, n_lanes, b, at + (ptrdiff_t)c * b->channel_stride,
          b->frame_stride, n);
}

/* How many frames lie in the cells that the parts are in, which begin. */
static size_t
begin_cells (const TfxKernels *kernels, const TfxStep *step, size_t first,
    size_t n_left)
{
  size_t n = n_left < TFX_GRID_FRAMES ? n_left : TFX_GRID_FRAMES;

  for (size_t i = 0; i < step->n_parts; i++) {
    TfxSlot *slot = step->parts[i].slot;
    const TfxRamp *m = &slot->ramp;
    const uint64_t frame =
        step->plan->filters[step->parts[i].filter]->n_run + first;
    const size_t in_cell = (size_t)(frame % TFX_GRID_FRAMES);

    if (!glides (slot, frame))
      continue;
    /* Silence may have gone by up to within it. */
    if (m->cell != frame - in_cell) {
      tfx_ramp_begin_cell (slot, frame - in_cell);
      kernels->moving_coef (m->values, m->rates, slot->n_sos, slot->n_sos,
          m->coef);
    }
    n = TFX_GRID_FRAMES - in_cell < n ? TFX_GRID_FRAMES - in_cell : n;
  }
  return n;
}

/* Returns the channels that were cleared. */
static unsigned
run_parts (const TfxKernels *kernels, const TfxStep *step, size_t first,
    unsigned channel, unsigned n_lanes, double *x, size_t n)
{
  unsigned cleared = 0;

  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    const Run r = { kernels, part->slot,
      step->plan->filters[part->filter]->n_run + first, channel, n_lanes, n };

    cleared |= run_part (&r, x);
  }
  return cleared;
}

/* Powers of two. */
static unsigned
count_lanes (const TfxKernels *kernels, unsigned n_left)
{
  unsigned n = kernels->width;

  while (n > n_left)
    n /= 2;
  return n;
}

/* A gain alone: planes one by one, or frames of channels side by side. */
static void
run_gain_alone (const TfxKernels *k, const TfxSlot *slot, uint64_t frame,
    const TfxBlock *in, const TfxBlock *out)
{
  const unsigned n_rows = in->frame_stride == 1 ? in->n_channels : 1;
  const unsigned n_lanes = in->n_channels / n_rows;
  double gains[TFX_GRID_FRAMES + 8];

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    n = in->n_frames - i < TFX_GRID_FRAMES ? in->n_frames - i : TFX_GRID_FRAMES;
    tfx_ramp_gains (slot, frame + i, n, gains);
    for (unsigned c = 0; c < n_rows; c++) {
      const TfxBlock from = tfx_block_part (in, i, n, c, n_lanes);
      const TfxBlock to = tfx_block_part (out, i, n, c, n_lanes);

      k->ramp (to.data, to.type, from.data, from.type, n, n_lanes, gains);
    }
  }
}

/* Both in planes, or both in frames of channels side by side. */
static bool
is_rows (const TfxBlock *in, const TfxBlock *out)
{
  return (in->frame_stride == 1 && out->frame_stride == 1) ||
         (tfx_block_is_interleaved (in) && tfx_block_is_interleaved (out));
}

int
tfx_moving_run (const TfxKernels *kernels, const TfxStep *step, size_t first,
    const TfxBlock *in, const TfxBlock *out)
{
  const TfxPlanPart *part = step->parts;
  int n_cleared = 0;

  if (step->n_parts == 1 && part->n_sos == 0 && is_rows (in, out)) {
    run_gain_alone (kernels, part->slot,
        step->plan->filters[part->filter]->n_run + first, in, out);
    return 0;
  }

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    n = begin_cells (kernels, step, first + i, in->n_frames - i);
    for (unsigned c = 0, n_lanes; c < in->n_channels; c += n_lanes) {
      double x[TFX_GRID_FRAMES * MOST_LANES];

      n_lanes = count_lanes (kernels, in->n_channels - c);
      load (kernels, in, i, c, n_lanes, n, x);
      for (unsigned cleared =
               run_parts (kernels, step, first + i, c, n_lanes, x, n);
           cleared > 0; cleared &= cleared - 1)
        n_cleared++;
      store (kernels, out, i, c, n_lanes, n, x);
    }
  }
  return n_cleared;
}
