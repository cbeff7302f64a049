/* SPDX-License-Identifier: LGPL-2.1-or-later
 * leveller.c: a gain that is found cell by cell, on the device. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/unit-args.h"
#include "design/true-peak.h"
#include "unit.h"
#include "kinds/kind-leveller.h"
#include "kinds/leveller-cells.h"
#include "kinds/loudness.h"

_Static_assert(TFX_LEVELLER_PAST == TFX_TRUE_PEAK_TAPS - 1 &&
                   TFX_LEVELLER_POINTS == TFX_TRUE_PEAK_POINTS,
    "the kernel takes the same points");
_Static_assert(TFX_LEVELLER_LEVEL == TFX_CELLS_LEVEL &&
                   TFX_LOUD_CLASSES == TFX_LOUDNESS_CLASSES &&
                   TFX_LOUD_PLACES == TFX_LOUDNESS_PLACES &&
                   TFX_LOUD_STEPS == TFX_LOUDNESS_STEPS &&
                   TFX_LOUD_CHANNEL == TFX_LOUDNESS_CHANNEL,
    "the kernel's state is the CPU's");

/* Numbers of the classes; see TfxLevellerArgs. */
#define N_CLASSES (4 * (size_t)TFX_LOUD_CLASSES)

/* Frames of a cell that a thread goes over, at the least. */
#define FRAMES_OF_THREAD 16

typedef struct Unit
{
  TfxCudaUnit base;
  TfxLeveller values; /* when it was made */
  unsigned n_levels;
  bool is_loudness, has_points; /* between samples */
  size_t delay;         /* of which the past is, or of what the points take */
  TfxLevellerArgs args; /* what does not depend on the block */
  TfxCudaPair classes;
  double *rest; /* of the numbers */
  size_t in_cell, n_running;
  uint64_t n_over; /* cells */
  TfxKernel kernel;
} Unit;

/* What has no look-ahead is there to be read, which the CPU can. */
static bool
can_run (const TfxStage *stage)
{
  return stage->u.leveller.n_ahead > 0;
}

/* ---- life ------------------------------------------------------------------------ */

static void
unit_clear (void *data)
{
  Unit *u = data;

  tfx_cuda_pair_clear (&u->classes);
  free (u->rest);
}

/* Of `heard` what is among the numbers, and where it is there. */
static size_t
first_heard (const Unit *u, const TfxLevellerState *s)
{
  return u->is_loudness ? N_CLASSES : s->n_sums + 1;
}

static size_t
first_number (const Unit *u)
{
  return 3 * u->n_levels + u->is_loudness;
}

/* The numbers of a state; nothing has come out since it was asked.  A device has one
 * sum where the CPU has several. */
static void
pack (const Unit *u, const TfxLevellerState *s, double *numbers)
{
  for (unsigned k = 0; k < 2 * u->n_levels; k++)
    numbers[k] = s->gains[k];
  for (unsigned k = 0; k < u->n_levels; k++)
    numbers[2 * u->n_levels + k] = INFINITY;
  if (u->is_loudness)
    numbers[3 * u->n_levels] = s->place->gain_db;
  memcpy (numbers + first_number (u), s->heard + first_heard (u, s),
      (s->n_heard - first_heard (u, s)) * sizeof *numbers);
  for (size_t i = 0; i < s->n_sums; i++)
    numbers[first_number (u) + i % u->n_levels * TFX_LEVELLER_LEVEL] +=
        s->heard[i];
}

static int
make_rest (Unit *u)
{
  const size_t size = tfx_leveller_state_size (&u->values, u->base.n_channels);
  double *state = calloc (size, sizeof *state);
  TfxLevellerState s;
  int ret = -ENOMEM;

  u->rest = calloc (u->base.numbers.n, sizeof *u->rest);
  if (state && u->rest) {
    s = tfx_leveller_state (&u->values, u->base.n_channels, state);
    for (unsigned k = 0; k < 2 * u->n_levels; k++)
      s.gains[k] = 1.0;
    if (u->is_loudness)
      tfx_loudness_rest (u->values.positions, u->base.n_channels, s.heard);
    else
      tfx_cells_rest (&u->values, u->base.n_channels, s.heard);
    pack (u, &s, u->rest);
    ret = 0;
  }
  free (state);
  return ret;
}

/* Powers of the matrix that takes the state of both sections over a run of frames. */
static void
find_powers (const TfxSos weighting[2], double powers[TFX_LOUD_POWERS][4][4])
{
  const TfxSos a = weighting[0], b = weighting[1];

  for (unsigned k = 0; k < 4; k++) {
    double s[4] = { 0.0 };

    s[k] = 1.0;
    for (unsigned i = 0; i < TFX_UNIT_RUN; i++) {
      const double m = s[0], y = b.b0 * m + s[2];

      s[0] = s[1] - a.a1 * m;
      s[1] = -a.a2 * m;
      s[2] = b.b1 * m - b.a1 * y + s[3];
      s[3] = b.b2 * m - b.a2 * y;
    }
    for (unsigned i = 0; i < 4; i++)
      powers[0][i][k] = s[i];
  }
  for (unsigned n = 1; n < TFX_LOUD_POWERS; n++)
    for (unsigned i = 0; i < 4; i++)
      for (unsigned k = 0; k < 4; k++) {
        powers[n][i][k] = 0.0;
        for (unsigned j = 0; j < 4; j++)
          powers[n][i][k] += powers[n - 1][i][j] * powers[n - 1][j][k];
      }
}

static void
set_fixed (Unit *u)
{
  const TfxLeveller *l = &u->values;
  TfxLevellerArgs *args = &u->args;
  TfxTruePeak points;

  args->n_channels = u->base.n_channels;
  args->n_levels = u->n_levels;
  args->measure = l->measure == TFX_LEVELLER_TRUE_PEAK ? TFX_LEVELLER_BETWEEN
                  : l->measure == TFX_LEVELLER_RMS     ? TFX_LEVELLER_SQUARES
                                                       : TFX_LEVELLER_SAMPLES;
  while (args->group_log2 < 5 &&
         l->n_cell >> (args->group_log2 + 1) >= FRAMES_OF_THREAD)
    args->group_log2++;
  args->n_cell = (unsigned)l->n_cell;
  args->n_ahead = (unsigned)l->n_ahead;
  args->n_smooth = (unsigned)l->n_smooth;
  args->n_window = (unsigned)l->n_window;
  args->delay = (long long)u->delay;
  args->per_frame = 1.0 / (double)l->n_cell;
  tfx_true_peak_init (&points);
  memcpy (args->taps, points.taps, sizeof args->taps);
  for (unsigned i = 0; u->is_loudness && i < 2; i++) {
    const TfxSos s = l->weighting[i];
    const double section[] = { s.b0, s.b1, s.b2, s.a1, s.a2 };

    memcpy (args->sections[i], section, sizeof section);
  }
  if (u->is_loudness)
    find_powers (l->weighting, args->powers);
}

static int
unit_make (void *data, const TfxStage *stage)
{
  Unit *u = data;
  const TfxLeveller *l = &stage->u.leveller;
  const TfxLevellerState s = tfx_leveller_state (l, u->base.n_channels, NULL);

  u->values = *l;
  u->n_levels = s.n_levels;
  u->is_loudness = l->measure == TFX_LEVELLER_LOUDNESS;
  u->has_points = u->is_loudness || l->measure == TFX_LEVELLER_TRUE_PEAK;
  u->delay = u->base.past.length = tfx_leveller_delay (l);
  if (u->has_points && u->delay < TFX_LEVELLER_PAST)
    u->base.past.length = TFX_LEVELLER_PAST;
  u->base.numbers.n = first_number (u) + s.n_heard - first_heard (u, &s);
  tfx_cuda_pair_init (&u->classes, u->base.queue,
      u->is_loudness ? N_CLASSES : 0);
  set_fixed (u);
  return make_rest (u);
}

/* ---- running -------------------------------------------------------------------- */

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  Unit *u = data;
  int ret = 0;

  if (u->is_loudness)
    ret = tfx_cuda_pair_reserve (&u->classes);
  if (ret == 0 && !u->base.numbers.has_state)
    ret = tfx_cuda_pair_set (&u->base.numbers, u->rest);
  return ret < 0 ? ret
                 : tfx_cuda_unit_load (u->base.queue,
                       u->is_loudness ? "loudness" : "leveller", &u->kernel);
}

static double
from_db (double db)
{
  return pow (10.0, db / 20.0);
}

static void
set_values (const Unit *u, bool is_double, TfxLevellerArgs *args)
{
  const TfxLeveller *l = &u->base.stage->u.leveller;

  args->gain = u->base.gain;
  args->target = u->is_loudness ? l->target_db
                                : from_db (l->target_db) *
                                      tfx_leveller_headroom (l, is_double);
  args->max_gain = u->is_loudness ? l->max_gain_db : from_db (l->max_gain_db);
  args->release = l->release;
  args->step = l->step_db;
}

/* A cell ends in a block of so many frames. */
static bool
ends_cell (const Unit *u, size_t n_frames)
{
  return u->in_cell + n_frames >= u->values.n_cell;
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  TfxLevellerArgs args = u->args;

  args.in = run->in;
  args.out = run->out;
  args.sum = run->sum;
  args.n_frames = run->n_frames;
  args.in_cell = (unsigned)u->in_cell;
  args.n_over = u->n_over;
  args.state_in = tfx_cuda_pair_in (&u->base.numbers);
  args.state_out = tfx_cuda_pair_out (&u->base.numbers);
  if (u->is_loudness && ends_cell (u, run->n_frames)) {
    args.classes_in = tfx_cuda_pair_in (&u->classes);
    args.classes_out = tfx_cuda_pair_out (&u->classes);
  }
  args.ring = tfx_cuda_past_ring (&u->base.past, run->n_frames);
  args.cleared = run->cleared;
  set_values (u, run->is_double, &args);
  u->n_running = run->n_frames;
  return tfx_module_launch (u->base.queue, &u->kernel, u->n_levels,
      TFX_UNIT_THREADS, TFX_LEVELLER_SHARED, &args);
}

static void
unit_commit (void *data)
{
  Unit *u = data;
  const size_t n = u->in_cell + u->n_running;

  if (u->is_loudness && ends_cell (u, u->n_running))
    tfx_cuda_pair_commit (&u->classes);
  u->n_over += n / u->values.n_cell;
  u->in_cell = n % u->values.n_cell;
}

/* ---- state ---------------------------------------------------------------------- */

/* Of a channel, the last samples that the points take, within what has been heard. */
static double *
points_of (const Unit *u, const TfxLevellerState *s, unsigned channel)
{
  if (u->is_loudness)
    return s->heard + s->n_heard -
           (u->base.n_channels - channel) * TFX_LOUD_CHANNEL +
           TFX_LOUD_CHANNEL - TFX_LEVELLER_PAST;
  return s->heard + s->n_heard -
         (u->base.n_channels - channel) * TFX_LEVELLER_PAST;
}

/* Where frame i of the past, the newest last, of a channel is in a state. */
static double *
past_of (const Unit *u, const TfxLevellerState *s, unsigned channel, size_t i)
{
  const size_t n_back = u->base.past.length - i;

  if (n_back > u->delay)
    return points_of (u, s, channel) + TFX_LEVELLER_PAST - n_back;
  return s->past + (u->delay - n_back) * u->base.n_channels + channel;
}

/* past[n_channels][length] of the device into a state. */
static void
unpack_past (const Unit *u, const TfxLevellerState *s, const double *past)
{
  for (unsigned c = 0; c < u->base.n_channels;
       c++, past += u->base.past.length) {
    for (size_t i = 0; i < u->base.past.length; i++)
      *past_of (u, s, c, i) = past[i];
    if (u->has_points)
      memcpy (points_of (u, s, c),
          past + u->base.past.length - TFX_LEVELLER_PAST,
          TFX_LEVELLER_PAST * sizeof *past);
  }
}

static void
unpack (const Unit *u, const TfxLevellerState *s, const double *numbers)
{
  *s->place = (TfxLevellerPlace){ .in_cell = (double)u->in_cell,
    .n_over = fmin ((double)u->n_over, (double)u->values.n_ahead + 1.0) };
  memcpy (s->gains, numbers, 2 * u->n_levels * sizeof *numbers);
  if (u->is_loudness)
    s->place->gain_db = numbers[3 * u->n_levels];
  else
    s->heard[s->n_sums] = (double)u->n_over;
  memcpy (s->heard + first_heard (u, s), numbers + first_number (u),
      (s->n_heard - first_heard (u, s)) * sizeof *numbers);
}

static int
get_numbers (Unit *u, double *numbers)
{
  if (u->base.numbers.has_state)
    return tfx_cuda_pair_get (&u->base.numbers, numbers);
  memcpy (numbers, u->rest, u->base.numbers.n * sizeof *numbers);
  return 0;
}

static int
unit_get_state (void *data, double *state)
{
  Unit *u = data;
  const size_t n_past = u->base.past.length * u->base.n_channels;
  TfxLevellerState s =
      tfx_leveller_state (&u->values, u->base.n_channels, state);
  double *all = malloc ((u->base.numbers.n + n_past) * sizeof *all);
  int ret = -ENOMEM;

  memset (state, 0, (size_t)(s.heard + s.n_sums - state) * sizeof *state);
  if (all)
    ret = get_numbers (u, all);
  if (ret == 0)
    ret = tfx_cuda_past_get_state (&u->base.past, all + u->base.numbers.n);
  if (ret == 0 && u->is_loudness)
    ret = tfx_cuda_pair_get (&u->classes, s.heard);
  if (ret == 0) {
    unpack (u, &s, all);
    unpack_past (u, &s, all + u->base.numbers.n);
  }
  free (all);
  return ret;
}

static void
rest (Unit *u)
{
  tfx_cuda_past_reset (&u->base.past);
  tfx_cuda_pair_reset (&u->base.numbers);
  tfx_cuda_pair_reset (&u->classes);
  u->in_cell = 0;
  u->n_over = 0;
}

/* All 0 is rest. */
static int
unit_set_state (void *data, const double *state)
{
  Unit *u = data;
  /* Only read. */
  TfxLevellerState s =
      tfx_leveller_state (&u->values, u->base.n_channels, (double *)state);
  const size_t n_past = u->base.past.length * u->base.n_channels;
  double *all, *past;
  int ret = 0;

  if (s.gains[0] <= 0.0) {
    rest (u);
    return 0;
  }
  all = malloc ((u->base.numbers.n + n_past) * sizeof *all);
  if (!all)
    return -ENOMEM;
  past = all + u->base.numbers.n;
  pack (u, &s, all);
  for (unsigned c = 0; c < u->base.n_channels; c++) {
    for (size_t i = 0; i < u->base.past.length; i++)
      *past++ = *past_of (u, &s, c, i);
  }
  ret = tfx_cuda_pair_set (&u->base.numbers, all);
  if (ret == 0 && u->is_loudness)
    ret = tfx_cuda_pair_set (&u->classes, s.heard);
  if (ret == 0)
    ret = tfx_cuda_past_set_state (&u->base.past, all + u->base.numbers.n);
  u->in_cell = (size_t)s.place->in_cell;
  u->n_over = (uint64_t)s.heard[u->is_loudness ? N_CLASSES + 1 : s.n_sums];
  free (all);
  return ret;
}

static int
unit_copy_state (void *data, const void *from)
{
  const Unit *other = from;
  Unit *u = data;

  u->in_cell = other->in_cell;
  u->n_over = other->n_over;
  return u->is_loudness ? tfx_cuda_pair_copy (&u->classes, &other->classes) : 0;
}

/* Gains and what was measured are no sound. */
static double
unit_state_peak (void *data)
{
  return ((const Unit *)data)->base.numbers.has_state ? INFINITY : 0.0;
}

/* ---- cost ----------------------------------------------------------------------- */

/* Instructions that a thread could do while it waits for memory and for the other
 * threads in a tile. */
#define TILE_WAIT 2000.0

/* Estimates, on the high side: instructions for a sample, and of them those of the
 * arithmetic.  All channels of a loudness are one block of threads. */
static void
unit_cost (const TfxStage *stage, unsigned n_channels, size_t n_frames,
    TfxCost *cost)
{
  const TfxLevellerMeasure measure = stage->u.leveller.measure;
  const bool is_loudness = measure == TFX_LEVELLER_LOUDNESS;
  const double n_tiles = ceil ((double)n_frames / TFX_UNIT_TILE);
  const double points = measure == TFX_LEVELLER_TRUE_PEAK ? 85.0 : 0.0;

  cost->arithmetic = is_loudness ? 160.0 : 30.0 + points;
  cost->issued = is_loudness ? 600.0 : 300.0 + 2.0 * points;
  cost->integer = 150.0;
  cost->passes = 3.0;
  cost->cached = fmin (2.0 * cost->bytes * n_channels, 128.0);
  cost->serial = n_tiles * (TFX_UNIT_RUN * cost->issued *
                                   (is_loudness ? n_channels : 1.0) +
                               TILE_WAIT);
}

const TfxCudaUnitKind tfx_cuda_leveller = {
  .kind = &tfx_kind_leveller,
  .can_run = can_run,
  .is_apart = true,
  .size = sizeof (Unit),
  .make = unit_make,
  .clear = unit_clear,
  .prepare = unit_prepare,
  .run = unit_run,
  .commit = unit_commit,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .copy_state = unit_copy_state,
  .state_peak = unit_state_peak,
  .cost = unit_cost,
};
