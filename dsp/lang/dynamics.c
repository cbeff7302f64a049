/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics.c: Compressor, Expander, Gate and Limiter. */
#include <math.h>

#include "class.h"
#include "core/kind.h"

/* TorchFX's stand-in for a ratio of infinity. */
#define GATE_SLOPE -1e6

static double
find_coefficient (const TfxNode *node, const char *param, double rate_hz)
{
  const double seconds = tfx_class_number (node, param);

  return seconds > 0.0 ? exp (-1.0 / (seconds * rate_hz)) : 0.0;
}

static void
begin_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  moved->kind = &tfx_kind_dynamics;
  moved->dynamics = (TfxDynamics){
    .is_rms = tfx_class_is (node, "detector", "rms"),
    .is_linked = tfx_class_number (node, "link") != 0.0,
    .threshold_db = tfx_class_number (node, "threshold"),
    .knee_db = tfx_class_number (node, "knee"),
    .attack = find_coefficient (node, "attack", build->rate_hz),
    .release = find_coefficient (node, "release", build->rate_hz),
  };
}

int
tfx_compressor_design (const TfxBuild *build, const TfxNode *node,
    TfxMoved *moved)
{
  const double ratio = tfx_class_number (node, "ratio");

  begin_design (build, node, moved);
  moved->dynamics.slope = ratio < TFX_RATIO_INFINITE ? 1.0 / ratio - 1.0 : -1.0;
  moved->dynamics.floor_db = TFX_DYNAMICS_LOWEST_DB;
  moved->dynamics.makeup_db = tfx_class_number (node, "makeup_gain");
  return 0;
}

static double
find_floor (const TfxNode *node)
{
  const TfxValue *floor = tfx_class_value (node, "floor");

  return floor->type == TFX_VALUE_NONE ? TFX_EXPR_NO_FLOOR_DB : floor->number;
}

int
tfx_expander_design (const TfxBuild *build, const TfxNode *node,
    TfxMoved *moved)
{
  const double ratio = tfx_class_number (node, "ratio");

  begin_design (build, node, moved);
  moved->dynamics.is_downward = true;
  moved->dynamics.slope = ratio < TFX_RATIO_INFINITE ? 1.0 - ratio : GATE_SLOPE;
  moved->dynamics.floor_db = find_floor (node);
  return 0;
}

int
tfx_gate_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  begin_design (build, node, moved);
  moved->dynamics.is_downward = true;
  moved->dynamics.slope = GATE_SLOPE;
  moved->dynamics.floor_db = find_floor (node);
  return 0;
}

/* ---- Limiter ---------------------------------------------------------------- */

void
tfx_limiter_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->delay +=
      tfx_class_number (node, "true_peak") != 0.0
          ? (double)tfx_true_peak_limiter_delay (node, rate_hz)
          : floor (tfx_class_number (node, "lookahead") * rate_hz + 0.5);
}

int
tfx_limiter_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  /* To the even one in between, as Python rounds. */
  const double n_ahead =
      rint (tfx_class_number (node, "lookahead") * build->rate_hz);

  if (tfx_class_number (node, "true_peak") != 0.0)
    return tfx_true_peak_limiter_design (build, node, moved);
  if (n_ahead > TFX_LIMITER_MAX_AHEAD)
    return tfx_class_refuse (build, "its look-ahead is too long");
  moved->kind = &tfx_kind_limiter;
  moved->limiter = (TfxLimiter){
    .threshold_db = tfx_class_number (node, "threshold"),
    .n_ahead = (size_t)n_ahead,
    .attack = find_coefficient (node, "lookahead", build->rate_hz),
    .release = find_coefficient (node, "release", build->rate_hz),
    .is_linked = tfx_class_number (node, "link") != 0.0,
  };
  return 0;
}
