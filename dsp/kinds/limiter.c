/* SPDX-License-Identifier: LGPL-2.1-or-later
 * limiter.c: limiters.
 *
 * The maximum of a window takes three comparisons a sample at any length (van Herk; Gil
 * and Werman): time is divided into blocks as long as the window, which then is the end
 * of one block and the beginning of the next.
 *
 * The line keeps the inputs in order and moves those still needed to its front when it is
 * full, so the block and the delayed samples need no other copy.  A delay without
 * look-ahead (n_late) follows the frames of the look-ahead. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "core/branches.h"
#include "unit.h"

/* The parameters. */
enum
{
  THRESHOLD_DB,
  ATTACK,
  RELEASE
};

static const TfxField fields[] = {
  TFX_PARAM (limiter.threshold_db, -400, 400),
  TFX_PARAM (limiter.attack, 0, TFX_BELOW_1),
  TFX_PARAM (limiter.release, 0, TFX_BELOW_1),
  TFX_SIZE (limiter.n_ahead, 0, TFX_LIMITER_MAX_AHEAD),
  TFX_SIZE (limiter.n_late, 0, TFX_LIMITER_MAX_AHEAD),
  TFX_BOOL (limiter.is_linked),
};

TfxStage *
tfx_stage_new_limiter (uint64_t id, const TfxLimiter *limiter)
{
  const TfxStage values = { .id = id,
    .kind = &tfx_kind_limiter,
    .u.limiter = *limiter };

  return tfx_stage_new_like (&values);
}

static size_t
limiter_latency (const TfxStage *stage)
{
  return stage->u.limiter.n_ahead + stage->u.limiter.n_late;
}

/* The last inputs and the gain; all 0 at rest. */
static size_t
limiter_state_size (const TfxStage *stage)
{
  return limiter_latency (stage) + 1;
}

static double
limiter_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[] = { 10.0, 1.7, 2.3, 1.1 };

  return tfx_unit_cost (costs, spec);
}

static double
limiter_gain_at (const TfxStage *stage, double level_db)
{
  return fmin (0.0, stage->u.limiter.threshold_db - level_db);
}

/* ---- chains of the same latency -------------------------------------------------- */

/* The stage; of a limiter, one with the latency of that in the other chain.  NULL if
 * memory is short. */
static TfxStage *
keep_stage (TfxStage *stage, const TfxChain *other)
{
  TfxLimiter l;

  for (size_t i = 0; i < other->n_stages; i++) {
    const TfxStage *s = other->stages[i];

    if (stage->kind != &tfx_kind_limiter || s->kind != &tfx_kind_limiter ||
        s->id != stage->id || limiter_latency (s) <= limiter_latency (stage))
      continue;
    l = stage->u.limiter;
    l.n_late = limiter_latency (s) - l.n_ahead;
    return tfx_stage_new_limiter (stage->id, &l);
  }
  return tfx_stage_ref (stage);
}

static TfxChain *
keep_chain (const TfxChain *chain, const TfxChain *other)
{
  TfxChain *kept = tfx_chain_new ();

  for (size_t i = 0; kept && i < chain->n_stages; i++) {
    if (tfx_chain_take (&kept, keep_stage (chain->stages[i], other)) < 0)
      tfx_chain_unref (&kept);
  }
  return kept;
}

/* Later stages with state would get a gap. */
static bool
can_step (const TfxChain *running, const TfxChain *step)
{
  bool has_gap = false;

  for (size_t i = 0; i < running->n_stages; i++) {
    const TfxStage *s = running->stages[i];

    if (has_gap && (tfx_branches_are_in (s) || tfx_stage_state_size (s) > 0))
      return false;
    has_gap = has_gap || s != step->stages[i];
  }
  return true;
}

int
tfx_chain_keep_latency (const TfxChain *chain, const TfxChain *running,
    TfxChain **kept, TfxChain **step)
{
  int ret = 0;

  *kept = keep_chain (chain, running);
  *step = keep_chain (running, chain);
  if (!*kept || !*step)
    ret = -ENOMEM;
  else if (tfx_chain_latency (*kept) != tfx_chain_latency (*step) ||
           !can_step (running, *step))
    ret = -ERANGE;
  if (ret < 0 && *kept)
    tfx_chain_unref (kept);
  if (*step &&
      (ret < 0 || tfx_chain_latency (*step) == tfx_chain_latency (running)))
    tfx_chain_unref (step);
  return ret;
}

/* ---- the unit ------------------------------------------------------------------- */

typedef struct Unit
{
  const TfxDynamicsKernels *kernels;
  unsigned n_channels, n_levels; /* 1 if all have the same gain */
  size_t part_frames, stride, group_frames;
  size_t n_ahead, n_late, n_held; /* n_held: both */
  bool is_linked;
  TfxParams params;
  TfxLimits limits;
  /* The output is clipped to it.  It follows a falling threshold as slowly as the gain
   * does, or the threshold would cut off peaks. */
  double ceiling;
  double lowest; /* gain since the last read */

  size_t n_window, position; /* frames of a block, and those that are done */
  size_t n_silent;           /* frames of output before the first input */
  /* [n_line][n_channels]: inputs, the next one for the level at frame `at`.  The input of
   * the level is the same, or one number a frame. */
  size_t n_line, at;
  double *line, *heard;
  /* [n_window + 1][n_levels]: suffix maxima of the last block; 0 at its end. */
  double *rest;
  double *most;    /* [stride], maximum of this block */
  double *state;   /* [stride], the gain before the group */
  double *now;     /* the same, after the last frame */
  size_t n_begun;  /* frames of the group */
  double *samples; /* of a part */
  double *targets; /* the same, after those of the group that has begun */
  double *gains;   /* the same, with the group before them */
  /* While something moves, those of each frame of a part. */
  double *thresholds, *ceilings;
} Unit;

static double
threshold_of (double db)
{
  return exp2 (db * (3.3219280948873623 / 20.0)); /* log2 (10) */
}

/* Attack and release of the next frames; during a ramp, of its grid cell. */
static void
take_times (Unit *u)
{
  tfx_params_powers (&u->params, ATTACK, u->limits.attack);
  tfx_params_powers (&u->params, RELEASE, u->limits.release);
}

/* A ceiling so near to the threshold has reached it. */
#define CEILING_NEAR 1e-6

/* Ends all changes. */
static void
take_ends (Unit *u)
{
  take_times (u);
  u->limits.threshold = threshold_of (u->params.now[THRESHOLD_DB]);
  u->ceiling = u->limits.threshold;
}

static bool
is_moving (const Unit *u)
{
  return tfx_params_are_ramping (&u->params) ||
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

/* A short line has space for several moves. */
#define SHORT_LINE 8192
#define N_SHORT 4

/* Arrays have slack after them, and those of groups space for one before them. */
static int
make_room (Unit *u)
{
  const size_t slack = TFX_DYNAMICS_SLACK;
  const size_t front = slack * u->n_levels;
  const size_t n = front + u->part_frames * u->n_channels + slack;
  const size_t n_moved = u->n_held * u->n_channels;
  const size_t n_block = TFX_GRID_FRAMES * (u->n_levels + 1) + slack;

  u->n_line = u->part_frames + (n_moved < SHORT_LINE ? N_SHORT : 2) * u->n_held;
  u->line = tfx_block_new_samples (u->n_line * u->n_channels + slack);
  u->heard = u->is_linked ? tfx_block_new_samples (u->n_line + slack) : u->line;
  u->rest = tfx_block_new_samples ((u->n_window + 1) * u->n_levels + slack);
  u->most = tfx_block_new_samples (3 * u->stride);
  u->samples = tfx_block_new_samples (3 * n + n_block);
  if (!u->line || !u->heard || !u->rest || !u->most || !u->samples)
    return -ENOMEM;
  u->state = u->most + u->stride;
  u->now = u->state + u->stride;
  u->targets = u->samples + n + front;
  u->gains = u->samples + 2 * n + front;
  u->ceilings = u->samples + 3 * n;
  u->thresholds = u->ceilings + TFX_GRID_FRAMES;
  return 0;
}

/* The next frame begins a group. */
static void
end_group (Unit *u)
{
  memcpy (u->state, u->now, u->stride * sizeof *u->state);
  u->n_begun = 0;
}

/* Advances n frames of a grid cell while something moves.  Returns whether these have
 * thresholds and ceilings of their own. */
static bool
step (Unit *u, size_t n)
{
  TfxParams *p = &u->params;
  const bool is_ramp = tfx_params_change (p, THRESHOLD_DB);
  double db[TFX_GRID_FRAMES], threshold = u->limits.threshold, a;

  if (p->done % TFX_GRID_FRAMES == 0 &&
      (tfx_params_change (p, ATTACK) || tfx_params_change (p, RELEASE))) {
    end_group (u);
    take_times (u);
  }
  if (is_ramp)
    tfx_params_read (p, THRESHOLD_DB, db, n);
  if (tfx_params_are_ramping (p))
    tfx_params_advance (p, n);
  if (!is_ramp && u->ceiling == threshold)
    return false;
  a = u->limits.attack[0];
  for (size_t i = 0; i < n; i++) {
    threshold = is_ramp ? threshold_of (db[i]) : threshold;
    u->ceiling = threshold + a * (u->ceiling - threshold);
    if (u->ceiling <= threshold * (1.0 + CEILING_NEAR))
      u->ceiling = threshold;
    for (unsigned c = 0; c < u->n_levels; c++)
      u->thresholds[i * u->n_levels + c] = threshold;
    u->ceilings[i] = u->ceiling;
  }
  u->limits.threshold = threshold;
  return true;
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
  tfx_params_init (&u->params, stage);
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

/* Ends the block: finds its suffix maxima. */
static void
end_block (Unit *u)
{
  u->kernels->find_rest (u->heard + (u->at - u->n_window) * u->n_levels,
      u->rest, u->n_window, u->n_levels);
  memset (u->most, 0, u->stride * sizeof *u->most);
  u->position = 0;
}

/* Moves what is still needed of a full line to its front. */
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

/* Finds the gains of n frames from their targets. */
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

/* The largest number of a type that is not larger than a positive value. */
static inline double
round_down (double value, TfxSample type)
{
  float rounded = (float)value;
  uint32_t bits;

  if (type == TFX_SAMPLE_F64)
    return value;
  memcpy (&bits, &rounded, sizeof bits);
  bits -= rounded > value;
  memcpy (&rounded, &bits, sizeof bits);
  return rounded;
}

/* Delayed samples times gains, clipped to the ceiling of each frame; returns the lowest
 * gain, or 1. */
static double
limit_moving (const Unit *u, const double *late, double *samples, size_t n,
    TfxSample type)
{
  const double *gain = u->gains;
  double lowest = 1.0;

  for (size_t i = 0; i < n; i++) {
    const double high = round_down (u->ceilings[i], type);

    for (unsigned c = 0; c < u->n_channels; c++) {
      const double g = u->is_linked ? gain[i] : *gain++;
      const double y = g * *late++, below = y < high ? y : high;

      *samples++ = below > -high ? below : -high;
      lowest = g < lowest ? g : lowest;
    }
  }
  return lowest;
}

/* Limits n frames of the line: targets, gains, output.  Returns the lowest gain. */
static double
limit_frames (Unit *u, double *samples, size_t n, bool moves, TfxSample type)
{
  const TfxDynamicsKernels *k = u->kernels;
  const double *heard = u->heard + u->at * u->n_levels;
  const double *rest = u->rest + (u->position + 1) * u->n_levels;
  const double *late = u->line + (u->at - u->n_ahead) * u->n_channels;
  const double limit = round_down (u->ceiling, type);

  if (!moves && !u->is_linked && u->n_silent == 0 &&
      k->limits_lanes (u->n_channels)) {
    const double lowest = k->limit_channels (heard, rest, late, samples, n,
        u->n_channels, &u->limits, u->most, u->state, limit);

    memcpy (u->now, u->state, u->stride * sizeof *u->now);
    return lowest;
  }
  k->find_targets (heard, rest, u->targets, n, u->n_levels,
      moves ? u->thresholds : &u->limits.threshold, moves, u->most);
  if (u->n_silent > 0) {
    u->n_silent -= n;
    memset (samples, 0, n * u->n_channels * sizeof *samples);
    return 1.0;
  }
  find_gains (u, n);
  if (moves)
    return limit_moving (u, late, samples, n, type);
  return u->is_linked
             ? k->limit (late, samples, u->gains, n, u->n_channels, limit)
             : k->limit (late, samples, u->gains, n * u->n_channels, 1, limit);
}

/* Runs n_frames that are in the line. */
static void
run_part (Unit *u, size_t n_frames, TfxSample type)
{
  for (size_t i = 0, n; i < n_frames; i += n) {
    const size_t left = u->n_window - u->position;
    bool moves = is_moving (u);

    n = n_frames - i < left ? n_frames - i : left;
    n = u->n_silent > 0 && u->n_silent < n ? u->n_silent : n;
    if (tfx_params_are_ramping (&u->params))
      n = tfx_params_cell (&u->params, n);
    else if (moves && n > TFX_GRID_FRAMES)
      n = TFX_GRID_FRAMES;
    moves = moves && step (u, n);
    u->lowest = fmin (u->lowest,
        limit_frames (u, u->samples + i * u->n_channels, n, moves, type));
    u->at += n;
    u->position += n;
    if (u->position == u->n_window)
      end_block (u);
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

  tfx_params_take (&u->params, values, n_frames, weight);
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
  tfx_params_finish (&u->params);
  take_ends (u);
}

/* A gain so near to 1 is at rest: rounding may keep it there. */
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

/* Each channel: its past, then its gain; before the first output of an input, minus the
 * number of inputs. */
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

/* Begins a block with the first n_ahead frames of the line done. */
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

/* Another look-ahead takes over the past and the gains, which stay until the first frame
 * after them is output. */
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

static const TfxUnitKind limiter_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .set_values = unit_set_values,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .catch_up = unit_catch_up,
  .read = unit_read,
};

const TfxKind tfx_kind_limiter = {
  .step = TFX_STEP_UNIT,
  .unit = &limiter_unit,
  TFX_FIELDS (fields),
  .state_size = limiter_state_size,
  .latency = limiter_latency,
  .gain_at = limiter_gain_at,
  .cost = limiter_cost,
};
