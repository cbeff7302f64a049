/* SPDX-License-Identifier: LGPL-2.1-or-later
 * limiter.c: a limiter on the device. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/unit-args.h"
#include "unit.h"

typedef struct Unit
{
  TfxCudaUnit base;
  unsigned n_ahead;
  bool is_linked;
  size_t n_silent, n_running; /* frames; of the block that is being run */
  /* Far: see TfxLimiterArgs. */
  TfxBuffer tops;
  unsigned n_tops, tile, n_over;
  bool has_tops;
  TfxKernel kernel;
} Unit;

static bool
can_run (const TfxStage *stage)
{
  const TfxLimiter *l = &stage->u.limiter;

  return l->n_late == 0 && !(l->is_linked && l->n_unmeasured > 0);
}

static void
unit_clear (void *data)
{
  Unit *u = data;

  tfx_buffer_free (u->base.stream, &u->tops);
}

static int
unit_make (void *data, const TfxStage *stage)
{
  const TfxLimiter *l = &stage->u.limiter;
  Unit *u = data;

  u->n_ahead = (unsigned)l->n_ahead;
  u->is_linked = l->is_linked && u->base.n_channels > 1;
  u->n_silent = l->n_ahead;
  if (l->n_ahead > TFX_LIMITER_NEAR)
    u->n_tops = (unsigned)(l->n_ahead / TFX_UNIT_TILE + 1);
  u->base.state.n_past = l->n_ahead;
  u->base.state.n_numbers = 1;
  return 0;
}

/* ---- running -------------------------------------------------------------------- */

static unsigned
n_levels_of (const Unit *u)
{
  return u->is_linked ? 1 : u->base.n_channels;
}

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  Unit *u = data;
  int ret = tfx_cuda_unit_load (u->base.stream,
      u->n_tops > 0 ? "limiter_far" : "limiter", &u->kernel);

  if (ret == 0 && u->n_tops > 0)
    ret = tfx_buffer_reserve (u->base.stream, &u->tops,
        n_levels_of (u) * u->n_tops * sizeof (double));
  return ret;
}

/* The largest float that is no larger. */
static double
round_down (double value)
{
  const float rounded = (float)value;

  return rounded > value ? nextafterf (rounded, 0.0f) : rounded;
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  const TfxLimiter *l = &u->base.stage->u.limiter;
  const double threshold = pow (10.0, l->threshold_db / 20.0);
  TfxLimiterArgs args = {
    .run = tfx_cuda_unit_args (run, u->base.n_channels),
    .n_levels = n_levels_of (u),
    .n_ahead = u->n_ahead,
    .n_silent = (unsigned)u->n_silent,
    .threshold = threshold,
    .limit = run->is_double ? threshold : round_down (threshold),
    .attack = l->attack,
    .release = l->release,
    .gain = u->base.gain,
    .n_tops = u->n_tops,
    .tile = u->tile,
    .n_over = u->n_over,
    .is_new = !u->has_tops,
    .state_in = tfx_cuda_state_in (&u->base.state),
    .state_out = tfx_cuda_state_out (&u->base.state),
    .ring = tfx_cuda_state_ring (&u->base.state, run->n_frames),
    .tops = u->tops.data,
  };

  u->n_running = run->n_frames;
  return tfx_module_launch (u->base.stream, &u->kernel, args.n_levels,
      TFX_UNIT_THREADS, TFX_LIMITER_SHARED, &args);
}

static void
unit_commit (void *data)
{
  Unit *u = data;

  u->n_silent -= u->n_running < u->n_silent ? u->n_running : u->n_silent;
  if (u->n_tops > 0) {
    const size_t n = u->n_over + u->n_running;

    u->tile = (unsigned)((u->tile + n / TFX_UNIT_TILE) % u->n_tops);
    u->n_over = (unsigned)(n % TFX_UNIT_TILE);
    u->has_tops = true;
  }
}

/* The kernel may have written anything to the tiles of the past. */
static void
unit_abandon (void *data)
{
  ((Unit *)data)->has_tops = false;
}

/* ---- state ---------------------------------------------------------------------- */

/* Behind the past the gain of a channel; before the first output, minus the number of
 * frames since rest. */
static int
unit_get_state (void *data, double *state)
{
  Unit *u = data;
  const size_t n = u->n_ahead;
  const int ret = tfx_cuda_state_get (&u->base.state, state);

  for (unsigned c = 0; u->n_silent > 0 && c < u->base.n_channels; c++)
    state[c * (n + 1) + n] = -(double)(n - u->n_silent);
  return ret;
}

static int
unit_copy_state (void *data, const void *from)
{
  Unit *u = data;

  u->n_silent = ((const Unit *)from)->n_silent;
  u->has_tops = false;
  return 0;
}

static int
unit_set_state (void *data, const double *state)
{
  Unit *u = data;
  const size_t n = u->n_ahead, size = (n + 1) * u->base.n_channels;
  double *copy = malloc (size * sizeof *copy);
  int ret;

  if (!copy)
    return -ENOMEM;
  memcpy (copy, state, size * sizeof *copy);
  for (size_t i = n; i < size; i += n + 1)
    copy[i] = copy[i] > 0.0 ? copy[i] : 1.0;
  ret = tfx_cuda_state_set (&u->base.state, copy);
  u->n_silent = state[n] > 0.0 ? 0 : n - (size_t)-state[n];
  u->has_tops = false;
  free (copy);
  return ret;
}

/* A gain that is so near to 1 is at rest: rounding may keep it there. */
#define REST 1e-9

static double
unit_state_peak (const void *data, const double *state)
{
  const Unit *u = data;
  const size_t n = u->n_ahead, size = (n + 1) * u->base.n_channels;
  double peak = 0.0;

  for (size_t i = 0; i < size; i++) {
    if (i % (n + 1) < n)
      peak = fmax (peak, fabs (state[i]));
    else if (state[i] > 0.0 && fabs (1.0 - state[i]) > REST)
      peak = fmax (peak, 1.0);
  }
  return peak;
}

/* ---- cost ----------------------------------------------------------------------- */

/* Instructions that a thread could do while it waits for memory and for the other
 * threads in a tile. */
#define TILE_WAIT 500.0

/* By channel for what is done with each sample, by level for what is done with
 * that; tile after tile. */
static void
unit_cost (const TfxStage *stage, unsigned n_channels, size_t n_frames,
    TfxCost *cost)
{
  const double per_level = stage->u.limiter.is_linked ? 1.0 / n_channels : 1.0;
  const double n_tiles = ceil ((double)n_frames / TFX_UNIT_TILE);

  cost->issued = 60.0 + per_level * 171.0;
  cost->arithmetic = 8.0 + per_level * 46.8;
  cost->integer = 35.0 + per_level * 72.0;
  cost->passes = 0.05 + per_level * 1.04;
  /* Read three times and written once, in sectors of interleaved samples. */
  cost->cached = fmin (2.0 * cost->bytes * n_channels, 128.0);
  cost->serial = n_tiles * (TFX_UNIT_RUN * 231.0 + TILE_WAIT);
}

const TfxCudaUnitKind tfx_cuda_limiter = {
  .kind = &tfx_kind_limiter,
  .can_run = can_run,
  .is_apart = true,
  .size = sizeof (Unit),
  .make = unit_make,
  .clear = unit_clear,
  .prepare = unit_prepare,
  .run = unit_run,
  .commit = unit_commit,
  .abandon = unit_abandon,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .copy_state = unit_copy_state,
  .state_peak = unit_state_peak,
  .cost = unit_cost,
};
