/* SPDX-License-Identifier: LGPL-2.1-or-later
 * limiter.c: limiters.
 *
 * The maximum of a window takes three comparisons a sample at any length (van Herk; Gil
 * and Werman): time is divided into blocks of the window's length, so that the window is
 * the end of one block and the beginning of the next.
 *
 * The line keeps the inputs in order and moves those still needed to its front when it is
 * full, so the block and the delayed samples need no other copy.  A delay without
 * look-ahead (n_late) follows the frames of the look-ahead. */
#include <errno.h>
#include <float.h>
#include <math.h>
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
  TFX_SIZE (limiter.n_unmeasured, 0, TFX_MAX_CHANNELS),
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

/* A chain whose limiters have the latency of the limiters in the other chain, if larger.
 * NULL if memory is short. */
static TfxChain *
keep_chain (const TfxChain *chain, const TfxChain *other)
{
  TfxChain *kept = tfx_chain_new ();

  for (size_t i = 0; kept && i < chain->n_stages; i++) {
    TfxStage *stage = chain->stages[i], *longer = NULL;

    for (size_t k = 0; !longer && k < other->n_stages; k++) {
      const TfxStage *s = other->stages[k];
      TfxLimiter l = stage->u.limiter;

      if (stage->kind != &tfx_kind_limiter || s->kind != &tfx_kind_limiter ||
          s->id != stage->id || limiter_latency (s) <= limiter_latency (stage))
        continue;
      l.n_late = limiter_latency (s) - l.n_ahead;
      longer = tfx_stage_new_limiter (stage->id, &l);
      if (!longer)
        goto failed;
    }
    if (tfx_chain_take (&kept, longer ? longer : tfx_stage_ref (stage)) < 0)
      goto failed;
  }
  return kept;
failed:
  tfx_chain_unref (&kept);
  return NULL;
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
  TfxUnit unit;
  bool is_linked;
  unsigned n_measured;
  size_t stride, group_frames;
  size_t n_ahead, n_late, n_held; /* n_held: both */
  TfxLimit limit; /* level states [stride], targets and gains of a part */
  /* The output is clipped to the ceiling.  It follows a falling threshold as slowly as the
   * gain does, or the threshold would cut off peaks. */
  double threshold, ceiling;
  double lowest; /* gain since the last read */

  size_t n_window, position; /* frames of a block, and those that are done */
  size_t n_silent;           /* frames of output before the first input */
  /* [n_line][n_channels]: inputs, the next one for the level at frame `at`.  The input of
   * the level is the same, or one number a frame. */
  size_t n_line, at;
  double *line, *heard;
  double *
      rest; /* [n_window + 1][n_levels]: suffix maxima of the last block, then 0 */
  double *samples; /* of a part */
  /* [TFX_GRID_FRAMES][n_levels], while they change. */
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
  tfx_params_powers (&u->unit.params, ATTACK, u->limit.attack);
  tfx_params_powers (&u->unit.params, RELEASE, u->limit.release);
}

/* A ceiling so near to the threshold has reached it. */
#define CEILING_NEAR 1e-6

/* Ends all changes. */
static void
take_ends (Unit *u)
{
  take_times (u);
  u->ceiling = u->threshold = threshold_of (u->unit.params.now[THRESHOLD_DB]);
}

static bool
unit_is_changing (const void *data)
{
  const Unit *u = data;

  return tfx_params_are_ramping (&u->unit.params) || u->ceiling > u->threshold;
}

/* ---- life ------------------------------------------------------------------------ */

/* A short line has space for several moves. */
#define SHORT_LINE 8192
#define N_SHORT 4

static void
lay_out (void *data, const TfxStage *stage, TfxRoom *room)
{
  const TfxLimiter *l = &stage->u.limiter;
  Unit *u = data;
  const unsigned n_channels = u->unit.n_channels;
  const size_t part = u->unit.part_frames * n_channels;
  const size_t front = TFX_DYNAMICS_SLACK * n_channels; /* of a group */

  u->is_linked = l->is_linked && n_channels > 1;
  u->n_measured = tfx_unit_measured (n_channels, l->n_unmeasured);
  u->limit.n_channels = n_channels;
  u->limit.n_levels = u->is_linked ? 1 : n_channels;
  u->stride = tfx_dynamics_stride (u->limit.n_levels);
  u->group_frames = u->unit.kernels->limit_frames (u->limit.n_levels);
  u->n_ahead = l->n_ahead;
  u->n_late = l->n_late;
  u->n_held = l->n_ahead + l->n_late;
  u->n_window = l->n_ahead + 1;
  u->n_line = u->unit.part_frames +
              (u->n_held * n_channels < SHORT_LINE ? N_SHORT : 2) * u->n_held;
  u->line = tfx_room_take (room, 0, u->n_line * n_channels);
  u->heard = u->is_linked ? tfx_room_take (room, 0, u->n_line) : u->line;
  u->rest = tfx_room_take (room, 0, (u->n_window + 1) * u->limit.n_levels);
  u->limit.most = tfx_room_take (room, 0, u->stride);
  u->limit.state = tfx_room_take (room, 0, u->stride);
  u->limit.end = tfx_room_take (room, 0, u->stride);
  u->samples = tfx_room_take (room, 0, part);
  u->limit.targets = tfx_room_take (room, front, part);
  u->limit.gains = tfx_room_take (room, front, part);
  u->thresholds = tfx_room_take (room, 0, TFX_GRID_FRAMES * u->limit.n_levels);
  u->ceilings = tfx_room_take (room, 0, TFX_GRID_FRAMES * u->limit.n_levels);
}

/* The next frame begins a group. */
static void
end_group (Unit *u)
{
  memcpy (u->limit.state, u->limit.end, u->stride * sizeof *u->limit.state);
  u->limit.n_begun = 0;
}

static void
go_to_rest (Unit *u)
{
  u->position = 0;
  u->at = u->n_ahead;
  u->n_silent = u->n_held;
  memset (u->line, 0, u->n_held * u->unit.n_channels * sizeof *u->line);
  memset (u->heard, 0, u->n_held * u->limit.n_levels * sizeof *u->heard);
  memset (u->rest, 0, (u->n_window + 1) * u->limit.n_levels * sizeof *u->rest);
  memset (u->limit.most, 0, u->stride * sizeof *u->limit.most);
  for (size_t i = 0; i < u->stride; i++)
    u->limit.end[i] = 1.0;
  end_group (u);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = *unit = tfx_unit_new (sizeof *u, stage, spec, lay_out);

  if (!u)
    return -ENOMEM;
  u->lowest = 1.0;
  take_ends (u);
  go_to_rest (u);
  return 0;
}

/* ---- frames ----------------------------------------------------------------------- */

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

/* The thresholds of the next n frames of a grid cell.  On a line in dB they are a
 * progression from the start of the cell, whatever the split. */
static void
find_thresholds (const TfxParams *p, size_t n, double *thresholds)
{
  const size_t first = p->done % TFX_GRID_FRAMES;
  const double from = p->from[THRESHOLD_DB], by = p->to[THRESHOLD_DB] - from;
  double powers[TFX_GRID_FRAMES], start;

  if (p->weight != TFX_WEIGHT_LINEAR) {
    tfx_params_read (p, THRESHOLD_DB, powers, n);
    for (size_t i = 0; i < n; i++)
      thresholds[i] = threshold_of (powers[i]);
    return;
  }
  start = threshold_of (
      from + tfx_weight_at (p->weight, p->done - first, p->length) * by);
  powers[0] = threshold_of (by / (double)p->length);
  for (size_t k = 1; k < TFX_GRID_FRAMES; k *= 2) {
    for (size_t j = 0; j < k; j++)
      powers[k + j] = powers[j] * powers[k - 1];
  }
  for (size_t i = 0; i < n; i++)
    thresholds[i] = start * powers[first + i];
}

/* Advances n frames of a grid cell during a change.  Returns whether these have thresholds
 * and ceilings of their own. */
static bool
step (Unit *u, size_t n, TfxSample type)
{
  TfxParams *p = &u->unit.params;
  const unsigned n_levels = u->limit.n_levels;
  const bool is_ramp = tfx_params_change (p, THRESHOLD_DB);
  double thresholds[TFX_GRID_FRAMES], ceiling = u->ceiling, a;

  if (p->done % TFX_GRID_FRAMES == 0 &&
      (tfx_params_change (p, ATTACK) || tfx_params_change (p, RELEASE))) {
    end_group (u);
    take_times (u);
  }
  for (size_t i = 0; i < TFX_GRID_FRAMES; i++)
    thresholds[i] = u->threshold;
  if (is_ramp)
    find_thresholds (p, n, thresholds);
  if (tfx_params_are_ramping (p))
    tfx_params_advance (p, n);
  if (!is_ramp && ceiling == u->threshold)
    return false;
  a = u->limit.attack[0];
  for (size_t i = 0; i < n; i++) {
    const double threshold = thresholds[i];
    double high;

    ceiling = a * ceiling + (1.0 - a) * threshold;
    if (ceiling <= threshold * (1.0 + CEILING_NEAR))
      ceiling = threshold;
    high = round_down (ceiling, type);
    for (unsigned c = 0; c < n_levels; c++) {
      u->thresholds[i * n_levels + c] = threshold;
      u->ceilings[i * n_levels + c] = high;
    }
  }
  u->threshold = thresholds[n - 1];
  u->ceiling = ceiling;
  return true;
}

/* Limits n frames of the line. */
static void
limit_frames (Unit *u, double *samples, size_t n, TfxSample type)
{
  const TfxDynamicsKernels *k = u->unit.kernels;
  const bool is_changing = unit_is_changing (u) && step (u, n, type);
  const double ceiling = round_down (u->ceiling, type);
  TfxLimit *l = &u->limit;
  const size_t n_levels = l->n_levels, n_all = l->n_begun + n;
  double *targets = l->targets - l->n_begun * n_levels;

  l->heard = u->heard + u->at * n_levels;
  if (u->n_silent > 0) {
    u->n_silent -= n;
    k->find_most (l->heard, n, l->n_levels, l->most);
    memset (samples, 0, n * l->n_channels * sizeof *samples);
    return;
  }
  l->n_frames = n;
  l->rest = u->rest + (u->position + 1) * n_levels;
  l->late = u->line + (u->at - u->n_ahead) * l->n_channels;
  l->y = samples;
  l->is_changing = is_changing;
  l->thresholds = is_changing ? u->thresholds : &u->threshold;
  l->ceilings = is_changing ? u->ceilings : &ceiling;
  u->lowest = fmin (u->lowest, k->limit (l));
  l->n_begun = n_all % u->group_frames;
  memmove (l->targets - l->n_begun * n_levels,
      targets + (n_all - l->n_begun) * n_levels,
      l->n_begun * n_levels * sizeof *targets);
}

/* Runs n_frames that are in the line, in pieces within a block and a grid cell.  At the end
 * of a block finds its suffix maxima. */
static void
run_part (Unit *u, size_t n_frames, TfxSample type)
{
  for (size_t i = 0, n; i < n_frames; i += n) {
    const size_t left = u->n_window - u->position;

    n = n_frames - i < left ? n_frames - i : left;
    n = u->n_silent > 0 && u->n_silent < n ? u->n_silent : n;
    if (tfx_params_are_ramping (&u->unit.params))
      n = tfx_params_cell (&u->unit.params, n);
    else if (unit_is_changing (u) && n > TFX_GRID_FRAMES)
      n = TFX_GRID_FRAMES;
    limit_frames (u, u->samples + i * u->unit.n_channels, n, type);
    u->at += n;
    u->position += n;
    if (u->position < u->n_window)
      continue;
    u->unit.kernels->find_rest (u->heard +
                                    (u->at - u->n_window) * u->limit.n_levels,
        u->rest, u->n_window, u->limit.n_levels);
    memset (u->limit.most, 0, u->stride * sizeof *u->limit.most);
    u->position = 0;
  }
}

/* Moves what is still needed of a full line to its front. */
static void
move_back (Unit *u)
{
  const size_t first = u->at - u->n_ahead, width = u->unit.n_channels;

  memmove (u->line, u->line + first * width,
      u->n_held * width * sizeof *u->line);
  if (u->is_linked)
    memmove (u->heard, u->heard + first, u->n_held * sizeof *u->heard);
  u->at = u->n_ahead;
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  const TfxDynamicsKernels *k = u->unit.kernels;
  size_t n_bad = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t left = in->n_frames - i;
    size_t step; /* frames that are linked at once */
    double *line;
    TfxBlock from, to;

    n = left < u->unit.part_frames ? left : u->unit.part_frames;
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    if (u->at + u->n_late + n > u->n_line)
      move_back (u);
    line = u->line + (u->at + u->n_late) * in->n_channels;
    n_bad += tfx_samples_load (k, &from, line);
    step = u->n_measured < in->n_channels ? 1 : n;
    for (size_t f = 0; u->is_linked && f < n; f += step)
      k->link (line + f * in->n_channels, u->heard + u->at + u->n_late + f,
          step, u->n_measured);
    run_part (u, n, out->type);
    tfx_samples_store (k, u->samples, &to);
  }
  return n_bad > 0;
}

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  tfx_params_take (&u->unit.params, values, n_frames, weight);
  if (n_frames == 0) {
    end_group (u);
    take_ends (u);
  }
}

/* ---- state --------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  go_to_rest (u);
  tfx_params_finish (&u->unit.params);
  take_ends (u);
}

/* A gain so near to 1 is at rest: rounding may keep it there. */
#define REST 1e-9

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  const double *late = u->line + (u->at - u->n_ahead) * u->unit.n_channels;
  double peak = 0.0;

  for (unsigned c = 0; c < u->limit.n_levels; c++) {
    if (fabs (1.0 - u->limit.end[c]) > REST)
      peak = 1.0;
  }
  for (size_t i = 0; i < u->n_held * u->unit.n_channels; i++)
    peak = fmax (peak, fabs (late[i]));
  return peak;
}

/* Each channel: its past, then its gain; before the first output of an input, minus the
 * number of inputs. */
static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;
  const double *late = u->line + (u->at - u->n_ahead) * u->unit.n_channels;
  const double n_heard = (double)(u->n_held - u->n_silent);

  for (unsigned c = 0; c < u->unit.n_channels; c++) {
    for (size_t i = 0; i < u->n_held; i++)
      *state++ = late[i * u->unit.n_channels + c];
    *state++ = u->n_silent > 0 ? -n_heard : u->limit.end[u->is_linked ? 0 : c];
  }
}

/* Begins a block with the first n_ahead frames of the line done. */
static void
begin_block (Unit *u)
{
  if (u->is_linked)
    u->unit.kernels->link (u->line, u->heard, u->n_held, u->unit.n_channels);
  u->unit.kernels->find_most (u->heard, u->n_ahead, u->limit.n_levels,
      u->limit.most);
  u->position = u->n_ahead;
  u->n_silent = 0;
}

static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  go_to_rest (u);
  for (unsigned c = 0; c < u->unit.n_channels; c++) {
    for (size_t i = 0; i < u->n_held; i++)
      u->line[i * u->unit.n_channels + c] = *state++;
    u->limit.end[u->is_linked ? 0 : c] = *state > 0.0 ? *state : 1.0;
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
  memcpy (u->line + (u->n_held - n) * u->unit.n_channels,
      from->line + (from->at + from->n_late - n) * u->unit.n_channels,
      n * u->unit.n_channels * sizeof *u->line);
  for (unsigned c = 0; c < u->limit.n_levels; c++)
    u->limit.end[c] = from->limit.end[c < from->limit.n_levels ? c : 0];
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
  .free = tfx_unit_free,
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
