/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tremolo.c: a kind of stage in one file, as an example: the class `Tremolo` of the
 * chain language, its setting and its run functions.
 *
 *   y[n] = x[n] (1 - depth (1 - cos (2 pi phase[n])) / 2),
 *   phase[n + 1] = phase[n] + rate / sample rate.
 *
 * CONTRIBUTING.md shows the three lines that add it to the tree;
 * tests/dsp/test_new_kind.c builds and runs it. */
#include <errno.h>
#include <math.h>

#include "kinds/unit.h"
#include "lang/class.h"

/* ---- the setting ----------------------------------------------------------------- */

/* Parameters, in TfxStage.u.own: cycles per frame, and depth. */
enum
{
  RATE,
  DEPTH
};

static const TfxField fields[] = {
  TFX_PARAM (own[RATE], 0.0, 0.5),
  TFX_PARAM (own[DEPTH], 0.0, 1.0),
};

static bool
tremolo_is_identity (const TfxStage *stage)
{
  return stage->u.own[DEPTH] == 0.0;
}

static double
tremolo_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return 20.0 / spec->n_channels + 0.5;
}

/* ---- the unit: its state is the phase ---------------------------------------------- */

typedef struct Tremolo
{
  TfxUnit unit;
  double phase; /* 0 <= phase < 1 */
} Tremolo;

static void run_part (void *unit, size_t n_frames, TfxSample type);

static void
lay_out (void *unit, const TfxStage *stage, TfxRoom *room)
{
  Tremolo *t = unit;

  t->unit.run_part = run_part;
  t->unit.samples =
      tfx_room_take (room, 0, t->unit.part_frames * t->unit.n_channels);
}

static int
tremolo_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  *unit = tfx_unit_new (sizeof (Tremolo), stage, spec, lay_out);
  return *unit ? 0 : -ENOMEM;
}

/* Filters n_frames of t->unit.samples.  A ramp is read up to the end of its grid cell. */
static void
run_part (void *unit, size_t n_frames, TfxSample type)
{
  Tremolo *t = unit;
  TfxParams *p = &t->unit.params;
  double *samples = t->unit.samples;

  for (size_t n; n_frames > 0;
       n_frames -= n, samples += n * t->unit.n_channels) {
    double rates[TFX_GRID_FRAMES], depths[TFX_GRID_FRAMES],
        gains[TFX_GRID_FRAMES];
    const bool is_ramping = tfx_params_are_ramping (p);

    n = n_frames < TFX_GRID_FRAMES ? n_frames : TFX_GRID_FRAMES;
    if (is_ramping) {
      n = tfx_params_cell (p, n);
      tfx_params_read (p, RATE, rates, n);
      tfx_params_read (p, DEPTH, depths, n);
      tfx_params_advance (p, n);
    }
    for (size_t i = 0; i < n; i++) {
      const double depth = is_ramping ? depths[i] : p->now[DEPTH];

      gains[i] = 1.0 - depth * (1.0 - cos (2.0 * M_PI * t->phase)) / 2.0;
      t->phase += is_ramping ? rates[i] : p->now[RATE];
      t->phase -= floor (t->phase);
    }
    t->unit.kernels->multiply (samples, gains, n, t->unit.n_channels);
  }
}

static void
tremolo_reset (void *unit)
{
  Tremolo *t = unit;

  tfx_params_finish (&t->unit.params);
  t->phase = 0.0;
}

/* The phase advances in silence too, so no block may be skipped. */
static double
tremolo_state_peak (const void *unit)
{
  return 1.0;
}

static const TfxUnitKind tremolo_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = tremolo_make,
  .free = tfx_unit_free,
  .run = tfx_unit_run,
  .set_values = tfx_unit_set_values,
  .is_changing = tfx_unit_is_changing,
  .reset = tremolo_reset,
  .state_peak = tremolo_state_peak,
};

static const TfxKind tremolo_kind = {
  .step = TFX_STEP_UNIT,
  .unit = &tremolo_unit,
  TFX_FIELDS (fields),
  .is_identity = tremolo_is_identity,
  .cost = tremolo_cost,
};

/* ---- the class ------------------------------------------------------------------- */

static const TfxParam params[] = {
  { .name = "rate",
      .types = TFX_VALUE_NUMBER,
      .flags = TFX_PARAM_REQUIRED | TFX_PARAM_ABOVE_MINIMUM,
      .unit = "Hz",
      .maximum = 20.0,
      .initial = { .type = TFX_VALUE_NUMBER, .number = 5.0 },
      .doc = "cycles per second" },
  { .name = "depth",
      .types = TFX_VALUE_NUMBER,
      .unit = "",
      .maximum = 1.0,
      .initial = { .type = TFX_VALUE_NUMBER, .number = 0.5 },
      .doc = "1: down to silence" },
};

/* Designs a new stage, or refills one for a value that moves. */
static int
tremolo_design (TfxBuild *build, const TfxNode *node)
{
  return tfx_class_make (build,
      (TfxStage){ .kind = &tremolo_kind,
          .u.own = { [RATE] = tfx_class_number (node, "rate") / build->rate_hz,
              [DEPTH] = tfx_class_number (node, "depth") } });
}

static const TfxClassOps tremolo_ops = { .design = tremolo_design };

const TfxClass tfx_tremolo_class = {
  .name = "Tremolo",
  .kind = TFX_CLASS_OTHER,
  .n_positional = 1,
  .params = params,
  .n_params = sizeof params / sizeof *params,
  .doc = "periodic change of the level",
  .example = "Tremolo(5, depth=0.8)",
  .ops = &tremolo_ops,
};
