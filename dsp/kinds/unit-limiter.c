/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-limiter.c: a limiter on the CPU.
 *
 * The largest of a window takes three comparisons a sample, whatever its length
 * (van Herk; Gil and Werman): time is cut into blocks as long as the window, which
 * then is the end of one block and the beginning of the next.
 *
 * The inputs stand one behind the other in a line, of which the part that is still
 * needed is moved to the front when it is full: the block, and what is still to come
 * out, are found in it without another copy.  The frames by which it is late without
 * looking at them stand behind those that it looks at. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "cpu/dynamics.h"
#include "kind-limiter.h"
#include "numbers.h"
#include "samples.h"
#include "unit.h"

/* What moves. */
enum
{
  THRESHOLD_DB,
  ATTACK,
  RELEASE
};

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  unsigned n_channels, n_levels; /* 1 if all have the same gain */
  size_t part_frames, stride, group_frames;
  size_t n_ahead, n_late, n_held; /* n_held: both */
  bool is_linked;
  TfxNumbers numbers;
  TfxLimits limits;
  /* What comes out is limited to it: the threshold, or what it was.  It falls as
   * the gain does, or what is too loud for the new one would be cut off. */
  double ceiling;
  double lowest; /* gain since it was asked last */

  size_t n_window, position; /* frames of a block; of them, so many are over */
  size_t n_silent; /* frames that still come before the first input comes out */
  /* [n_line][n_channels]: inputs, the next one that it looks at at frame `at`; what
   * the level is taken of is the same, or one number a frame. */
  size_t n_line, at;
  double *line, *heard;
  /* [n_window + 1][n_levels]: the largest of what is left of the last block from
   * each frame on; 0 at its end. */
  double *rest;
  double *most;    /* [stride], of this block */
  double *state;   /* [stride], the gain in front of the group */
  double *now;     /* the same, behind the last frame */
  size_t n_begun;  /* frames of the group */
  double *samples; /* of a part */
  double *targets; /* the same, behind those of the group that has begun */
  double *gains;   /* the same, with the group in front */
} Unit;

static TfxNumberSet
get_numbers (const TfxStage *stage)
{
  return (TfxNumberSet){ { [THRESHOLD_DB] = stage->u.limiter.threshold_db,
      [ATTACK] = stage->u.limiter.attack,
      [RELEASE] = stage->u.limiter.release } };
}

static void
take_numbers (Unit *u)
{
  const double *n = u->numbers.now;

  u->limits.threshold = pow (10.0, n[THRESHOLD_DB] / 20.0);
  if (u->limits.attack[0] != n[ATTACK])
    tfx_dynamics_powers (n[ATTACK], u->limits.attack);
  if (u->limits.release[0] != n[RELEASE])
    tfx_dynamics_powers (n[RELEASE], u->limits.release);
}

/* A ceiling that is so near to the threshold is there. */
#define CEILING_NEAR 1e-6

/* All changes are over. */
static void
take_ends (Unit *u)
{
  take_numbers (u);
  u->ceiling = u->limits.threshold;
}

static bool
is_moving (const Unit *u)
{
  return tfx_numbers_are_moving (&u->numbers) ||
         u->ceiling > u->limits.threshold;
}

/* ---- life ------------------------------------------------------------------------ */

static void
unit_free (void *data)
{
  Unit *u = data;

  free (u->line);
  if (u->is_linked)
    free (u->heard);
  free (u->rest);
  free (u->most);
  free (u->samples);
  free (u);
}

/* A line that is short has room for some of its kind, so that it is rarely moved. */
#define SHORT_LINE 8192
#define N_SHORT 4

/* Arrays have slack behind them, and those of groups room for one in front. */
static int
make_room (Unit *u)
{
  const size_t slack = TFX_DYNAMICS_SLACK;
  const size_t front = slack * u->n_levels;
  const size_t n = front + u->part_frames * u->n_channels + slack;
  const size_t n_moved = u->n_held * u->n_channels;

  u->n_line = u->part_frames + (n_moved < SHORT_LINE ? N_SHORT : 2) * u->n_held;
  u->line = tfx_block_new_samples (u->n_line * u->n_channels + slack);
  u->heard = u->is_linked ? tfx_block_new_samples (u->n_line + slack) : u->line;
  u->rest = tfx_block_new_samples ((u->n_window + 1) * u->n_levels + slack);
  u->most = tfx_block_new_samples (3 * u->stride);
  u->samples = tfx_block_new_samples (3 * n);
  if (!u->line || !u->heard || !u->rest || !u->most || !u->samples)
    return -ENOMEM;
  u->state = u->most + u->stride;
  u->now = u->state + u->stride;
  u->targets = u->samples + n + front;
  u->gains = u->samples + 2 * n + front;
  return 0;
}

/* What comes is a new group. */
static void
end_group (Unit *u)
{
  memcpy (u->state, u->now, u->stride * sizeof *u->state);
  u->n_begun = 0;
}

/* To the next frame; only while something moves. */
static void
step (Unit *u)
{
  double a, to;

  if (tfx_numbers_are_moving (&u->numbers)) {
    end_group (u);
    tfx_numbers_step (&u->numbers);
    take_numbers (u);
  }
  a = u->limits.attack[0];
  to = u->limits.threshold;
  u->ceiling = to + a * (u->ceiling - to);
  if (u->ceiling <= to * (1.0 + CEILING_NEAR))
    u->ceiling = to;
}

static void
go_to_rest (Unit *u)
{
  u->position = 0;
  u->at = u->n_ahead;
  u->n_silent = u->n_held;
  memset (u->line, 0, u->n_held * u->n_channels * sizeof *u->line);
  memset (u->heard, 0, u->n_held * u->n_levels * sizeof *u->heard);
  memset (u->rest, 0, (u->n_window + 1) * u->n_levels * sizeof *u->rest);
  memset (u->most, 0, u->stride * sizeof *u->most);
  for (size_t i = 0; i < u->stride; i++)
    u->now[i] = 1.0;
  end_group (u);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  const TfxLimiter *l = &stage->u.limiter;
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernels = tfx_dynamics_limiter_for (spec->kernel, spec->n_channels);
  u->n_channels = spec->n_channels;
  u->is_linked = l->is_linked && spec->n_channels > 1;
  u->n_levels = u->is_linked ? 1 : spec->n_channels;
  u->part_frames = tfx_samples_part_frames (spec->n_channels);
  u->stride = tfx_dynamics_stride (u->n_levels);
  u->group_frames = u->kernels->limit_frames (u->n_levels);
  u->n_ahead = l->n_ahead;
  u->n_late = l->n_late;
  u->n_held = l->n_ahead + l->n_late;
  u->n_window = l->n_ahead + 1;
  u->lowest = 1.0;
  tfx_numbers_init (&u->numbers, get_numbers (stage).n);
  take_ends (u);
  if (make_room (u) < 0) {
    unit_free (u);
    return -ENOMEM;
  }
  go_to_rest (u);
  *unit = u;
  return 0;
}

/* ---- frames ----------------------------------------------------------------------- */

/* The block is over: the largest from each of its frames on. */
static void
end_block (Unit *u)
{
  u->kernels->find_rest (u->heard + (u->at - u->n_window) * u->n_levels,
      u->rest, u->n_window, u->n_levels);
  memset (u->most, 0, u->stride * sizeof *u->most);
  u->position = 0;
}

/* The line is full: what is still needed of it goes to the front. */
static void
move_back (Unit *u)
{
  const size_t first = u->at - u->n_ahead, width = u->n_channels;

  memmove (u->line, u->line + first * width,
      u->n_held * width * sizeof *u->line);
  if (u->is_linked)
    memmove (u->heard, u->heard + first, u->n_held * sizeof *u->heard);
  u->at = u->n_ahead;
}

/* Gains of n frames, whose targets are there. */
static void
find_gains (Unit *u, size_t n)
{
  const size_t n_levels = u->n_levels, n_all = u->n_begun + n;
  double *targets = u->targets - u->n_begun * n_levels;

  u->kernels->follow (targets, u->gains - u->n_begun * n_levels, n_all,
      n_levels, &u->limits, u->state, u->now);
  u->n_begun = n_all % u->group_frames;
  memmove (u->targets - u->n_begun * n_levels,
      targets + (n_all - u->n_begun) * n_levels,
      u->n_begun * n_levels * sizeof *targets);
}

/* n frames of the line behind each other: targets, gains, and what comes of them. */
static double
limit_frames (Unit *u, const double *heard, const double *rest,
    const double *late, double *samples, size_t n, double limit)
{
  const TfxDynamicsKernels *k = u->kernels;
  double lowest;

  if (!u->is_linked && u->n_silent == 0 && k->limits_lanes (u->n_channels)) {
    lowest = k->limit_channels (heard, rest, late, samples, n, u->n_channels,
        &u->limits, u->most, u->state, limit);
    memcpy (u->now, u->state, u->stride * sizeof *u->now);
    return lowest;
  }
  k->find_targets (heard, rest, u->targets, n, u->n_levels, u->limits.threshold,
      u->most);
  if (u->n_silent > 0) {
    u->n_silent -= n;
    memset (samples, 0, n * u->n_channels * sizeof *samples);
    return 1.0;
  }
  find_gains (u, n);
  return u->is_linked
             ? k->limit (late, samples, u->gains, n, u->n_channels, limit)
             : k->limit (late, samples, u->gains, n * u->n_channels, 1, limit);
}

/* n frames that have come into the line, within a block, whose numbers stay; what
 * comes out goes to samples. */
static void
run_frames (Unit *u, double *samples, size_t n, double limit)
{
  const double *heard = u->heard + u->at * u->n_levels;
  const double *rest = u->rest + (u->position + 1) * u->n_levels;
  const double *late = u->line + (u->at - u->n_ahead) * u->n_channels;
  const double lowest = limit_frames (u, heard, rest, late, samples, n, limit);

  u->lowest = fmin (u->lowest, lowest);
  u->at += n;
  u->position += n;
  if (u->position == u->n_window)
    end_block (u);
}

/* The largest number of a type that is no larger. */
static double
round_down (double value, TfxSample type)
{
  float rounded = (float)value;

  if (type == TFX_SAMPLE_F64)
    return value;
  return rounded > value ? nextafterf (rounded, 0.0f) : rounded;
}

/* n_frames that have come into the line. */
static void
run_part (Unit *u, size_t n_frames, TfxSample type)
{
  double limit = round_down (u->ceiling, type);

  for (size_t i = 0, n; i < n_frames; i += n) {
    const size_t left = u->n_window - u->position;

    n = n_frames - i < left ? n_frames - i : left;
    n = u->n_silent > 0 && u->n_silent < n ? u->n_silent : n;
    if (is_moving (u)) {
      step (u);
      limit = round_down (u->ceiling, type);
      n = 1;
    }
    run_frames (u, u->samples + i * u->n_channels, n, limit);
  }
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  size_t n_bad = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t left = in->n_frames - i;
    double *line;
    TfxBlock from, to;

    n = left < u->part_frames ? left : u->part_frames;
    from = tfx_block_part (in, i, n, 0, u->n_channels);
    to = tfx_block_part (out, i, n, 0, u->n_channels);
    if (u->at + u->n_late + n > u->n_line)
      move_back (u);
    line = u->line + (u->at + u->n_late) * u->n_channels;
    n_bad += tfx_samples_load (u->kernels, &from, line);
    if (u->is_linked)
      u->kernels->link (line, u->heard + u->at + u->n_late, n, u->n_channels);
    run_part (u, n, out->type);
    tfx_samples_store (u->kernels, u->samples, &to);
  }
  return n_bad > 0;
}

/* ---- values ------------------------------------------------------------------------ */

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  tfx_numbers_set (&u->numbers, get_numbers (values).n, n_frames, weight);
  tfx_unit_drop_stage (values);
  if (n_frames == 0) {
    end_group (u);
    take_ends (u);
  }
}

static bool
unit_is_changing (const void *unit)
{
  return is_moving (unit);
}

/* ---- state --------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  go_to_rest (u);
  tfx_numbers_finish (&u->numbers);
  take_ends (u);
}

/* A gain that is so near to 1 is at rest: rounding may keep it there. */
#define REST 1e-9

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  const double *late = u->line + (u->at - u->n_ahead) * u->n_channels;
  double peak = 0.0;

  for (unsigned c = 0; c < u->n_levels; c++) {
    if (fabs (1.0 - u->now[c]) > REST)
      peak = 1.0;
  }
  for (size_t i = 0; i < u->n_held * u->n_channels; i++)
    peak = fmax (peak, fabs (late[i]));
  return peak;
}

/* Behind the past of a channel its gain; or, as long as no input has come out, how
 * many have come in, negative. */
static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;
  const double *late = u->line + (u->at - u->n_ahead) * u->n_channels;
  const double n_heard = (double)(u->n_held - u->n_silent);

  for (unsigned c = 0; c < u->n_channels; c++) {
    for (size_t i = 0; i < u->n_held; i++)
      *state++ = late[i * u->n_channels + c];
    *state++ = u->n_silent > 0 ? -n_heard : u->now[u->is_linked ? 0 : c];
  }
}

/* A block of which the first n_ahead frames of the line are over, and none before. */
static void
begin_block (Unit *u)
{
  const size_t n = u->n_ahead * u->n_levels;

  if (u->is_linked)
    u->kernels->link (u->line, u->heard, u->n_held, u->n_channels);
  for (size_t i = 0; i < n; i++) {
    double *most = &u->most[i % u->n_levels];

    *most = fmax (*most, fabs (u->heard[i]));
  }
  u->position = u->n_ahead;
  u->n_silent = 0;
}

static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  go_to_rest (u);
  for (unsigned c = 0; c < u->n_channels; c++) {
    for (size_t i = 0; i < u->n_held; i++)
      u->line[i * u->n_channels + c] = *state++;
    u->now[u->is_linked ? 0 : c] = *state > 0.0 ? *state : 1.0;
    state++;
  }
  end_group (u);
  begin_block (u);
  if (state[-1] <= 0.0)
    u->n_silent = u->n_held - (size_t)-state[-1];
}

/* Another look-ahead: the past that there is, and the gains.  Those stay until the
 * first frame of it comes out: of one that is as late, or later, that is where the
 * source is. */
static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  Unit *u = data;
  const Unit *from = source;
  const size_t n_heard = from->n_held - from->n_silent;
  const size_t n = u->n_held < n_heard ? u->n_held : n_heard;

  go_to_rest (u);
  memcpy (u->line + (u->n_held - n) * u->n_channels,
      from->line + (from->at + from->n_late - n) * u->n_channels,
      n * u->n_channels * sizeof *u->line);
  for (unsigned c = 0; c < u->n_levels; c++)
    u->now[c] = from->now[c < from->n_levels ? c : 0];
  u->ceiling = fmax (u->ceiling, from->ceiling);
  end_group (u);
  begin_block (u);
  u->n_silent = u->n_held - n;
  return 0;
}

static void
unit_read (void *data, TfxReadings *readings)
{
  Unit *u = data;

  readings->gain_db = 20.0 * log10 (fmax (u->lowest, DBL_MIN));
  u->lowest = 1.0;
}

const TfxUnitKind tfx_limiter_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .prepare_values = tfx_unit_keep_stage,
  .set_values = unit_set_values,
  .drop_values = tfx_unit_drop_stage,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .catch_up = unit_catch_up,
  .read = unit_read,
};
