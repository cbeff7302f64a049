/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-iir.c: Butterworth, Chebyshev, elliptic, Bessel and Linkwitz-Riley
 * classes. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "class.h"
#include "design/band.h"
#include "design/svf-design.h"
#include "error.h"

static bool
is_twice (const TfxNode *node)
{
  return node->klass->variant == TFX_CLASS_LINKWITZ_RILEY;
}

/* Whether order is a slope: each 6 dB per octave are one order. */
static bool
order_is_db (const TfxNode *node)
{
  return tfx_class_has (node, "order_scale") &&
         tfx_class_is (node, "order_scale", "db");
}

/* All but the frequencies.  order: of the whole filter. */
static TfxDesign
describe (const TfxNode *node, int *order)
{
  const double number = tfx_class_number (node, "order");
  TfxDesign design = { .mode = (TfxMode)node->klass->mode };

  /* (Far beyond any range.) */
  *order = (int)fmin (fmax (number, -1e6), 1e6) / (order_is_db (node) ? 6 : 1);
  design.order = (unsigned)*order;
  if (node->klass->mode == TFX_CLASS_MODE_BTYPE)
    design.mode = (TfxMode)tfx_class_word (node, "btype");
  if (is_twice (node)) {
    design.family = TFX_FAMILY_BUTTERWORTH;
    design.order /= 2;
    return design;
  }
  design.family = (TfxFamily)node->klass->variant;
  if (design.family == TFX_FAMILY_CHEBYSHEV1)
    design.ripple_db = tfx_class_number (node, "ripple");
  if (design.family == TFX_FAMILY_CHEBYSHEV2)
    design.attenuation_db = tfx_class_number (node, "ripple");
  if (design.family == TFX_FAMILY_ELLIPTIC) {
    design.ripple_db = tfx_class_number (node, "passband_ripple");
    design.attenuation_db = tfx_class_number (node, "stopband_attenuation");
  }
  if (design.family == TFX_FAMILY_BESSEL)
    design.norm = (TfxNorm)tfx_class_word (node, "norm");
  return design;
}

/* order_scale='db' gives each order 6 numbers. */
_Static_assert(TFX_DESIGN_MAX_ORDER == 64, "the texts name the orders");

static void
iir_fit (const TfxNode *node, TfxExprClamp *fit)
{
  static const char *const because[2][2] = {
    { "must be from 1 to 64", "must be even, from 2 to 128" },
    { "must be from 6 to 389, as order_scale is 'db'",
        "must give an even order at 6 dB per order, from 12 to 773, as "
        "order_scale is 'db'" },
  };
  const bool scaled = order_is_db (node);
  const int step = scaled ? 6 : 1, times = is_twice (node) ? 2 : 1;
  const int lowest = times * step;
  const int highest = (times * TFX_DESIGN_MAX_ORDER + 1) * step - 1;
  const double asked = tfx_class_number (node, "order");
  int used = (int)fmin (fmax (asked, lowest), highest), order = used / step;

  if (order % times != 0) {
    int below = order * step - 1, above = (order + 1) * step;

    used = used - below <= above - used ? below : above;
  }
  *fit = (TfxExprClamp){ "order", -1, asked, used, lowest, highest,
    because[scaled][times - 1] };
}

static int
iir_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *cutoff = tfx_class_value (node, "cutoff");
  int order, limit = TFX_DESIGN_MAX_ORDER;
  const TfxDesign design = describe (node, &order);
  const bool band = tfx_band_has_two (design.mode);
  const char *scaled =
      order_is_db (node) ? " (order_scale is 'db': 6 dB per order)" : "";

  if (is_twice (node) && (order < 2 || order > 2 * limit || order % 2 != 0))
    return tfx_error_set (error, -ERANGE,
        "order of %s is %d%s, but must be even, from 2 to %d", thing, order,
        scaled, 2 * limit);
  if (!is_twice (node) && (order < 1 || order > limit))
    return tfx_error_set (error, -ERANGE,
        "order of %s is %d%s, out of range (1 to %d): higher orders exceed "
        "double precision; for a steeper filter use two in series (a | b)",
        thing, order, scaled, limit);
  if (band && cutoff->type != TFX_VALUE_LIST)
    return tfx_error_set (error, -EINVAL,
        "cutoff of %s must be a list of two frequencies, [lower, upper], as "
        "btype is '%s'",
        thing, tfx_class_value (node, "btype")->word);
  if (!band && cutoff->type == TFX_VALUE_LIST)
    return tfx_error_set (error, -EINVAL,
        "cutoff of %s must be a single number, as btype is '%s'", thing,
        tfx_class_value (node, "btype")->word);
  if (band && !(cutoff->list[0] < cutoff->list[1]))
    return tfx_error_set (error, -ERANGE,
        "cutoff of %s is [%s, %s] Hz, but the first frequency must be lower "
        "than the second",
        thing, TFX_NUMBER_TEXT (cutoff->list[0]),
        TFX_NUMBER_TEXT (cutoff->list[1]));
  if (design.family == TFX_FAMILY_ELLIPTIC &&
      !(design.attenuation_db > design.ripple_db))
    return tfx_error_set (error, -ERANGE,
        "stopband_attenuation of %s is "
        "%s dB, but must be greater than the passband_ripple of %s dB",
        thing, TFX_NUMBER_TEXT (design.attenuation_db),
        TFX_NUMBER_TEXT (design.ripple_db));
  return 0;
}

static void
iir_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  int order;
  const TfxDesign design = describe (node, &order);

  extent->sections +=
      (size_t)(tfx_band_has_two (design.mode) ? order : order / 2 + 1);
}

/* How far frequencies may be moved, as a part of the rate.  An elliptic filter that
 * is not possible that far from 0 and half the rate has too high an order. */
#define MOST_MARGIN 0.11
#define MOST_MARGIN_ELLIPTIC 0.0011

/* The sections for the frequencies, or for the nearest ones that double precision
 * allows: each is margin away from 0, from half the rate and from the other one. */
static int
iir_design (TfxBuild *build, const TfxNode *node)
{
  TfxSos sos[2 * TFX_DESIGN_MAX_SECTIONS];
  TfxSvf shapes[2 * TFX_DESIGN_MAX_SECTIONS];
  const TfxValue *cutoff = tfx_class_value (node, "cutoff");
  const double rate_hz = build->rate_hz;
  int order, n_sos = 0;
  TfxDesign design = describe (node, &order);
  const bool band = tfx_band_has_two (design.mode);
  const double lower = band ? cutoff->list[0] : cutoff->number;
  const double upper = band ? cutoff->list[1] : 0.0;
  const double most =
      design.family == TFX_FAMILY_ELLIPTIC ? MOST_MARGIN_ELLIPTIC : MOST_MARGIN;
  double used_margin = 0.0, margin_hz;
  const char *why = "";
  bool has_shapes;
  size_t n;

  design.lower_hz = lower;
  design.upper_hz = upper;
  if (build->is_curve)
    n_sos =
        tfx_designer_shapes (build->designer, &design, rate_hz, sos, shapes);
  has_shapes = n_sos > 0;
  if (!has_shapes)
    n_sos = tfx_designer_sections (build->designer, &design, rate_hz, sos);
  for (double margin = 1e-6; n_sos < 0 && margin < most; margin *= 10.0) {
    used_margin = margin;
    design.lower_hz = tfx_class_clamp_frequency (build, lower, margin);
    if (band) {
      design.lower_hz = fmin (design.lower_hz, (0.5 - 2.0 * margin) * rate_hz);
      design.upper_hz = tfx_class_clamp_frequency (build,
          fmax (upper, design.lower_hz + margin * rate_hz), margin);
    }
    n_sos = tfx_designer_sections (build->designer, &design, rate_hz, sos);
  }
  if (n_sos < 0) {
    tfx_design_check (&design, rate_hz, &why);
    return tfx_class_refuse (build, why);
  }
  margin_hz = used_margin * rate_hz;
  if (design.lower_hz != lower)
    tfx_class_report (build,
        &(TfxExprClamp){ "cutoff", band ? 0 : -1, lower, design.lower_hz,
            margin_hz, 0.5 * rate_hz - (band ? 2.0 : 1.0) * margin_hz });
  if (design.upper_hz != upper)
    tfx_class_report (build,
        &(TfxExprClamp){ "cutoff", 1, upper, design.upper_hz,
            design.lower_hz + margin_hz, 0.5 * rate_hz - margin_hz });
  n = (size_t)n_sos;
  if (is_twice (node)) {
    memcpy (sos + n, sos, n * sizeof *sos);
    if (has_shapes)
      memcpy (shapes + n, shapes, n * sizeof *shapes);
    n *= 2;
  }
  return tfx_class_make_sections (build, sos, has_shapes ? shapes : NULL, n);
}

const TfxClassOps tfx_iir_ops = {
  .design = iir_design,
  .check = iir_check,
  .measure = iir_measure,
  .fit = iir_fit,
};
