/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-dynamic-eq.c: DynamicEQ and DeEss, whose gain follows the level of a band. */
#include <math.h>

#include "class.h"

static double
find_coefficient (const TfxNode *node, const char *param, double rate_hz)
{
  const double seconds = tfx_class_number (node, param);

  return seconds > 0.0 ? exp (-1.0 / (seconds * rate_hz)) : 0.0;
}

static int
dynamic_eq_design (TfxBuild *build, const TfxNode *node)
{
  const double ratio = tfx_class_number (node, "ratio");
  const double freq_hz = tfx_class_fit_frequency (build, "frequency", -1,
      tfx_class_number (node, "frequency"), 1e-6);
  const double q =
      tfx_class_has (node, "q") ? tfx_class_number (node, "q") : M_SQRT1_2;
  TfxStage values = { .kind = &tfx_kind_dynamic_eq };

  values.u.dynamic_eq.g = tan (M_PI * freq_hz / build->rate_hz);
  values.u.dynamic_eq.damping = 1.0 / q;
  values.u.dynamic_eq.threshold_db = tfx_class_number (node, "threshold");
  values.u.dynamic_eq.slope =
      ratio < TFX_RATIO_INFINITE ? 1.0 / ratio - 1.0 : -1.0;
  values.u.dynamic_eq.range_db = tfx_class_number (node, "range");
  values.u.dynamic_eq.attack =
      find_coefficient (node, "attack", build->rate_hz);
  values.u.dynamic_eq.release =
      find_coefficient (node, "release", build->rate_hz);
  values.u.dynamic_eq.is_shelf = !tfx_class_has (node, "q");
  values.u.dynamic_eq.is_linked = tfx_class_number (node, "link") != 0.0;
  values.u.dynamic_eq.n_unmeasured = build->n_keys;
  return tfx_class_make (build, values);
}

const TfxClassOps tfx_dynamic_eq_ops = { .design = dynamic_eq_design };
