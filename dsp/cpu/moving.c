/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving.c: a step of sections and gains while its values move.
 *
 * Cell by cell of the grid, channel by channel.  What glides runs as
 * state-variable filters, their values others at every frame; all else as the
 * sections are. */
#include "moving.h"

#include <math.h>
#include <string.h>

#include "../filter.h"
#include "../motion.h"

/* A part over some frames of a cell. */
typedef struct Run
{
  const TfxKernels *kernels;
  TfxSlot *slot;
  uint64_t frame; /* of the filter */
  unsigned channel;
  size_t n;
} Run;

/* ---- sections that stand still ---------------------------------------------------- */

/* state[n_sos][2] */
static void
run_sections (const TfxSos *sos, size_t n_sos, double *state, double *x,
    size_t n)
{
  for (size_t i = 0; i < n; i++) {
    double v = x[i];

    for (size_t k = 0; k < n_sos; k++) {
      const TfxSos *b = &sos[k];
      double *s = state + 2 * k;
      const double y = b->b0 * v + s[0];

      s[0] = (b->b1 * v - b->a1 * y) + s[1];
      s[1] = b->b2 * v - b->a2 * y;
      v = y;
    }
    x[i] = v;
  }
}

/* ---- on the way --------------------------------------------------------------------- */

static void
run_gain (const Run *r, double *x)
{
  const TfxSlot *slot = r->slot;
  double w[TFX_GRID_FRAMES];

  if (!tfx_motion_is_on (slot, r->frame)) {
    for (size_t i = 0; i < r->n; i++)
      x[i] *= slot->gain;
    return;
  }
  tfx_motion_weights (slot, r->frame, r->n, w);
  for (size_t i = 0; i < r->n; i++)
    x[i] *= slot->gain + w[i] * (slot->gain_to - slot->gain);
}

static double *
motion_state (const Run *r)
{
  const TfxMotion *m = &r->slot->motion;

  return m->state + 2 * r->channel * m->n_lanes;
}

static void
run_fade (const Run *r, double *state, double *x)
{
  const TfxSlot *slot = r->slot;
  double y[TFX_GRID_FRAMES], w[TFX_GRID_FRAMES];

  tfx_motion_rise (slot, r->frame, r->n, w);
  for (size_t i = 0; i < r->n; i++)
    y[i] = w[i] * x[i];
  tfx_motion_weights (slot, r->frame, r->n, w);
  run_sections (slot->sos, slot->n_sos, state, x, r->n);
  run_sections (slot->to, slot->n_sos, motion_state (r), y, r->n);
  for (size_t i = 0; i < r->n; i++)
    x[i] += w[i] * (y[i] - x[i]);
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

static bool
run_part (const Run *r, double *x)
{
  TfxSlot *slot = r->slot;
  const TfxMotion *m = &slot->motion;
  const size_t n_state = 2 * slot->n_sos;
  double *state = slot->state + r->channel * n_state;

  if (!slot->sos) {
    run_gain (r, x);
    return true;
  }
  if (!tfx_motion_is_on (slot, r->frame)) {
    run_sections (slot->sos, slot->n_sos, state, x, r->n);
    return is_clean (state, n_state);
  }
  if (m->is_fade) {
    run_fade (r, state, x);
    /* Both of them. */
    return is_clean (state, n_state) & is_clean (motion_state (r), n_state);
  }
  r->kernels->moving (x, r->n, motion_state (r), m->values, m->rates, m->after,
      m->n_lanes, slot->n_sos);
  return is_clean (motion_state (r), 2 * m->n_lanes);
}

/* ---- a step --------------------------------------------------------------------------- */

static void
load (const TfxBlock *b, size_t first, unsigned channel, size_t n, double *x)
{
  const ptrdiff_t at = (ptrdiff_t)first * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;
  const ptrdiff_t stride = b->frame_stride;

  if (b->type == TFX_SAMPLE_F32) {
    for (size_t i = 0; i < n; i++)
      x[i] = ((const float *)b->data)[at + (ptrdiff_t)i * stride];
  } else {
    for (size_t i = 0; i < n; i++)
      x[i] = ((const double *)b->data)[at + (ptrdiff_t)i * stride];
  }
}

static void
store (const TfxBlock *b, size_t first, unsigned channel, size_t n,
    const double *x)
{
  const ptrdiff_t at = (ptrdiff_t)first * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;
  const ptrdiff_t stride = b->frame_stride;

  if (b->type == TFX_SAMPLE_F32) {
    for (size_t i = 0; i < n; i++)
      ((float *)b->data)[at + (ptrdiff_t)i * stride] = (float)x[i];
  } else {
    for (size_t i = 0; i < n; i++)
      ((double *)b->data)[at + (ptrdiff_t)i * stride] = x[i];
  }
}

static bool
glides (const TfxSlot *slot, uint64_t frame)
{
  return slot->n_sos > 0 && !slot->motion.is_fade &&
         tfx_motion_is_on (slot, frame);
}

/* How many frames lie in the cells that the parts are in, which begin. */
static size_t
begin_cells (const TfxStep *step, size_t first, size_t n_left)
{
  size_t n = n_left < TFX_GRID_FRAMES ? n_left : TFX_GRID_FRAMES;

  for (size_t i = 0; i < step->n_parts; i++) {
    TfxSlot *slot = step->parts[i].slot;
    const uint64_t frame =
        step->plan->filters[step->parts[i].filter]->n_run + first;
    const size_t in_cell = (size_t)(frame % TFX_GRID_FRAMES);

    if (!glides (slot, frame))
      continue;
    if (in_cell == 0)
      tfx_motion_begin_cell (slot, frame);
    n = TFX_GRID_FRAMES - in_cell < n ? TFX_GRID_FRAMES - in_cell : n;
  }
  return n;
}

static bool
run_channel (const TfxKernels *kernels, const TfxStep *step, size_t first,
    unsigned channel, double *x, size_t n)
{
  bool is_finite = true;

  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    const Run r = { kernels, part->slot,
      step->plan->filters[part->filter]->n_run + first, channel, n };

    is_finite = run_part (&r, x) && is_finite;
  }
  return is_finite;
}

static void
end_cells (const TfxStep *step, size_t first)
{
  for (size_t i = 0; i < step->n_parts; i++) {
    const TfxPlanPart *part = &step->parts[i];
    TfxMotion *m = &part->slot->motion;
    double *values = m->values;

    if (!glides (part->slot, step->plan->filters[part->filter]->n_run + first))
      continue;
    m->values = m->after;
    m->after = values;
  }
}

int
tfx_moving_run (const TfxKernels *kernels, const TfxStep *step, size_t first,
    const TfxBlock *in, const TfxBlock *out)
{
  int n_cleared = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    n = begin_cells (step, first + i, in->n_frames - i);
    for (unsigned c = 0; c < in->n_channels; c++) {
      double x[TFX_GRID_FRAMES];

      load (in, i, c, n, x);
      n_cleared += !run_channel (kernels, step, first + i, c, x, n);
      store (out, i, c, n, x);
    }
    end_cells (step, first + i);
  }
  return n_cleared;
}
