/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamic-eq.c: a bell or a high shelf whose gain follows the level of its band.
 *
 * Two state-variable filters by the trapezoidal rule (see design/svf.c) run for each
 * channel.  With g = tan (pi f / rate), states m and l, and damping k, one is
 *
 *   v = (m + g (x - l)) / (1 + g (g + k)),  w = l + g v,
 *   m' = 2 v - m,  l' = 2 w - l,
 *
 * where v is the band and w the low-pass of x.  The detector has k = 1/Q.  Its signal is
 * the band-pass k v of a bell, 1 at the frequency, and the high-pass x - k v - w of a
 * shelf.  The level follows that signal as the level of a compressor does:
 *
 *   held = max (|signal|, release held),  level = attack level + (1 - attack) held
 *
 * Above the threshold the gain in dB is slope (level - threshold), or its negative, up to
 * the range.  With the square root A of the gain, the filter of the output is
 *
 *   bell   k = 1 / (Q A),  y = x + (A^2 - 1) k v
 *   shelf  g sqrt (A) in place of g,  k = 1/Q,
 *          y = A^2 x + (1 - A) A k v + (1 - A^2) w
 *
 * (A. Simper, 2013).  For a steady A these are the sections of rbj.c: peaking and high
 * shelf, boosted or cut.  m and l are signals, whatever A is, so that A may change at
 * each frame. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "unit.h"

/* The parameters. */
enum
{
  G,
  DAMPING,
  THRESHOLD_DB,
  SLOPE,
  RANGE_DB,
  ATTACK,
  RELEASE,
  N_VALUES
};

static const TfxField fields[] = {
  TFX_PARAM (dynamic_eq.g, 1e-12, 1e12),
  TFX_PARAM (dynamic_eq.damping, 1e-6, 1e6),
  TFX_PARAM (dynamic_eq.threshold_db, -400, 400),
  TFX_PARAM (dynamic_eq.slope, -1, 0),
  TFX_PARAM (dynamic_eq.range_db, -120, 120),
  TFX_PARAM (dynamic_eq.attack, 0, TFX_BELOW_1),
  TFX_PARAM (dynamic_eq.release, 0, TFX_BELOW_1),
  TFX_BOOL (dynamic_eq.is_shelf),
  TFX_BOOL (dynamic_eq.is_linked),
  TFX_SIZE (dynamic_eq.n_unmeasured, 0, TFX_MAX_CHANNELS),
};

static double
find_gain_db (double over_db, double slope, double range_db)
{
  const double change = over_db > 0.0 ? slope * over_db : 0.0;

  return range_db < 0.0 ? fmax (change, range_db) : fmin (-change, range_db);
}

static bool
dynamic_eq_is_identity (const TfxStage *stage)
{
  return stage->u.dynamic_eq.slope == 0.0 ||
         stage->u.dynamic_eq.range_db == 0.0;
}

static double
dynamic_eq_gain_at (const TfxStage *stage, double level_db)
{
  return find_gain_db (level_db - stage->u.dynamic_eq.threshold_db,
      stage->u.dynamic_eq.slope, stage->u.dynamic_eq.range_db);
}

/* Not zero: the unit has state, which only its own functions read. */
static size_t
dynamic_eq_state_size (const TfxStage *stage)
{
  return 1;
}

static double
dynamic_eq_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return 40.0;
}

/* ---- the unit ------------------------------------------------------------------- */

typedef struct Svf
{
  double m, l;
} Svf;

typedef struct State
{
  Svf detector, filter;
  double held,
      level; /* of all channels in that of the first if they are linked */
} State;

#define N_STATE (sizeof (State) / sizeof (double))

typedef struct Unit
{
  TfxUnit unit;
  bool is_shelf, is_linked;
  unsigned n_measured;
  /* [n_channels], and [n_channels] after a cross-fade */
  State *states;
  double most_db; /* the gain farthest from 0 since the last read */
  double *signals,
      *others; /* of a frame: the detectors', and for cross-fades */
} Unit;

static void run_part (void *data, size_t n_frames, TfxSample type);

static void
lay_out (void *data, const TfxStage *stage, TfxRoom *room)
{
  Unit *u = data;
  const unsigned n = u->unit.n_channels;

  u->is_shelf = stage->u.dynamic_eq.is_shelf;
  u->is_linked = stage->u.dynamic_eq.is_linked;
  u->n_measured = tfx_unit_measured (n, stage->u.dynamic_eq.n_unmeasured);
  u->states = (State *)tfx_room_take (room, 0, 2 * N_STATE * n);
  u->signals = tfx_room_take (room, 0, n);
  u->others = tfx_room_take (room, 0, n);
  u->unit.run_part = run_part;
  u->unit.samples = tfx_room_take (room, 0, n * u->unit.part_frames);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  *unit = tfx_unit_new (sizeof (Unit), stage, spec, lay_out);
  return *unit ? 0 : -ENOMEM;
}

/* The band v and the low-pass w of x. */
static inline void
run_svf (Svf *s, double x, double g, double k, double *v, double *w)
{
  *v = (s->m + g * (x - s->l)) / (1.0 + g * (g + k));
  *w = s->l + g * *v;
  s->m = 2.0 * *v - s->m;
  s->l = 2.0 * *w - s->l;
}

/* The parameters of a frame, and its curve: (1 - weight) of one, weight of another. */
typedef struct Frame
{
  double p[N_VALUES];
  const double *from, *to;
  double weight;
  double threshold; /* the lower one, as a sample value */
} Frame;

/* The root A of the gain after the next sample of the detector. */
static double
follow (Unit *u, State *s, const Frame *f, double signal)
{
  double level_db, gain_db;

  s->held = fmax (signal, f->p[RELEASE] * s->held);
  s->level = f->p[ATTACK] * s->level + (1.0 - f->p[ATTACK]) * s->held;
  if (!(s->level > f->threshold))
    return 1.0;
  level_db = 20.0 / M_LN10 * log (s->level);
  gain_db = find_gain_db (level_db - f->from[THRESHOLD_DB], f->from[SLOPE],
      f->from[RANGE_DB]);
  if (f->weight > 0.0)
    gain_db += f->weight * (find_gain_db (level_db - f->to[THRESHOLD_DB],
                                f->to[SLOPE], f->to[RANGE_DB]) -
                               gain_db);
  if (fabs (gain_db) > fabs (u->most_db))
    u->most_db = gain_db;
  return exp (M_LN10 / 40.0 * gain_db);
}

static void
run_frame (Unit *u, State *states, const Frame *f, double *x)
{
  const unsigned n = u->unit.n_channels;
  const double g = f->p[G], k = f->p[DAMPING];
  double v, w, most = 0.0, a = 1.0;

  for (unsigned c = 0; c < n; c++) {
    run_svf (&states[c].detector, x[c], g, k, &v, &w);
    u->signals[c] = fabs (u->is_shelf ? x[c] - k * v - w : k * v);
    if (c < u->n_measured)
      most = fmax (most, u->signals[c]);
  }
  for (unsigned c = 0; c < n; c++) {
    State *s = &states[c];

    if (c == 0 || !u->is_linked)
      a = follow (u, s, f, u->is_linked ? most : u->signals[c]);
    if (u->is_shelf) {
      run_svf (&s->filter, x[c], g * sqrt (a), k, &v, &w);
      x[c] = a * a * x[c] + (1.0 - a) * a * k * v + (1.0 - a * a) * w;
    } else {
      run_svf (&s->filter, x[c], g, k / a, &v, &w);
      x[c] += (a * a - 1.0) * (k / a) * v;
    }
  }
}

/* Frequencies farther apart, in nepers, are cross-faded. */
#define MOST_NEPERS 1.0

/* Values move from those of before to those of after.  A cross-fade goes from the filters
 * of before to others, which begin at rest with the same level. */
static void
run_cell (Unit *u, size_t n_frames, double *x)
{
  TfxParams *params = &u->unit.params;
  const unsigned n = u->unit.n_channels;
  const bool is_far =
      fabs (log (params->to[G] / params->from[G])) > MOST_NEPERS;
  State *next = u->states + n;
  Frame f = { .from = params->from, .to = params->to }, after = f;
  double values[N_VALUES][TFX_GRID_FRAMES];

  f.threshold = after.threshold =
      pow (10.0, fmin (f.from[THRESHOLD_DB], f.to[THRESHOLD_DB]) / 20.0);
  for (unsigned k = 0; k < N_VALUES; k++)
    tfx_params_read (params, k, values[k], n_frames);
  memcpy (f.p, params->from, sizeof f.p);
  memcpy (after.p, params->to, sizeof after.p);
  after.weight = 1.0;
  for (unsigned c = 0; is_far && params->done == 0 && c < n; c++)
    next[c] = (State){ .held = u->states[c].held, .level = u->states[c].level };
  for (size_t i = 0; i < n_frames; i++, x += n) {
    const double weight =
        tfx_weight_at (params->weight, params->done + i + 1, params->length);

    if (is_far) {
      memcpy (u->others, x, n * sizeof *x);
      run_frame (u, next, &after, u->others);
    } else {
      f.weight = weight;
      for (unsigned k = 0; k < N_VALUES; k++)
        f.p[k] = values[k][i];
    }
    run_frame (u, u->states, &f, x);
    for (unsigned c = 0; is_far && c < n; c++)
      x[c] += weight * (u->others[c] - x[c]);
  }
  tfx_params_advance (params, n_frames);
  if (is_far && (params->length == 0 || params->done == 0)) {
    memcpy (u->states, next, n * sizeof *next);
    memset (next, 0, n * sizeof *next);
  }
}

/* During a ramp the gains of the old and the new curve are cross-faded, as in dynamics.c;
 * frequency, Q and times ramp frame by frame. */
static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  const TfxParams *params = &u->unit.params;
  double *x = u->unit.samples;
  Frame f = { .from = params->now, .to = params->now };

  for (size_t n; n_frames > 0 && tfx_params_are_ramping (params);
       n_frames -= n, x += n * u->unit.n_channels) {
    n = tfx_params_cell (params, n_frames);
    run_cell (u, n, x);
  }
  memcpy (f.p, params->now, sizeof f.p);
  f.threshold = pow (10.0, f.p[THRESHOLD_DB] / 20.0);
  for (; n_frames > 0; n_frames--, x += u->unit.n_channels)
    run_frame (u, u->states, &f, x);
}

/* ---- state -------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  memset (u->states, 0, 2 * u->unit.n_channels * sizeof *u->states);
  tfx_params_finish (&u->unit.params);
}

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  const double *state = (const double *)u->states;
  double peak = 0.0;

  for (size_t i = 0; i < 2 * u->unit.n_channels * N_STATE; i++)
    peak = fmax (peak, fabs (state[i]));
  return peak;
}

/* Takes over the whole state: the filters are the same but for their gain. */
static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  Unit *u = data;
  const Unit *from = source;

  for (unsigned c = 0; c < u->unit.n_channels; c++) {
    const State *level = &from->states[from->is_linked ? 0 : c];

    u->states[c] = from->states[c];
    u->states[c].held = level->held;
    u->states[c].level = level->level;
  }
  return 0;
}

static void
unit_read (void *data, TfxReadings *readings)
{
  Unit *u = data;

  readings->gain_db = u->most_db;
  u->most_db = 0.0;
}

static const TfxUnitKind dynamic_eq_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = tfx_unit_free,
  .run = tfx_unit_run,
  .set_values = tfx_unit_set_values,
  .is_changing = tfx_unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .catch_up = unit_catch_up,
  .read = unit_read,
};

const TfxKind tfx_kind_dynamic_eq = {
  .step = TFX_STEP_UNIT,
  .unit = &dynamic_eq_unit,
  TFX_FIELDS (fields),
  .is_identity = dynamic_eq_is_identity,
  .state_size = dynamic_eq_state_size,
  .gain_at = dynamic_eq_gain_at,
  .cost = dynamic_eq_cost,
};
