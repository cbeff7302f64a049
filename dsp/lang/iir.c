/* SPDX-License-Identifier: LGPL-2.1-or-later
 * iir.c: Butterworth, Chebyshev, elliptic, Bessel and Linkwitz-Riley
 * classes. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "design/band.h"
#include "class.h"
#include "error.h"
#include "number.h"
#include "design/svf-design.h"

static TfxMode
find_mode (const TfxNode *node)
{
  if (node->klass->ops->mode != TFX_CLASS_MODE_BTYPE)
    return (TfxMode)node->klass->ops->mode;
  if (tfx_class_is (node, "btype", "lowpass"))
    return TFX_MODE_LOW_PASS;
  if (tfx_class_is (node, "btype", "highpass"))
    return TFX_MODE_HIGH_PASS;
  return tfx_class_is (node, "btype", "bandpass") ? TFX_MODE_BAND_PASS
                                                  : TFX_MODE_BAND_REJECT;
}

static bool
is_twice (const TfxNode *node)
{
  return node->klass->ops->variant == TFX_CLASS_LINKWITZ_RILEY;
}

static bool
order_is_db (const TfxNode *node)
{
  return tfx_class_has (node, "order_scale") &&
         tfx_class_is (node, "order_scale", "db");
}

/* The order of the whole filter: 6 dB per octave are one. */
static int
find_order (const TfxNode *node)
{
  /* (Far beyond what any of them may be.) */
  int order = (int)fmin (fmax (tfx_class_number (node, "order"), -1e6), 1e6);

  if (order_is_db (node))
    order /= 6;
  return order;
}

/* order_scale='db' gives each order 6 numbers. */
_Static_assert(TFX_DESIGN_MAX_ORDER == 64, "the texts name the orders");

void
tfx_iir_fit (const TfxNode *node, TfxFit *fit)
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
  int used = (int)fmin (fmax (asked, lowest), highest);
  int order = used / step;

  if (order % times != 0) {
    int below = order * step - 1, above = (order + 1) * step;

    used = used - below <= above - used ? below : above;
  }
  *fit = (TfxFit){ "order", asked, used, lowest, highest,
    because[scaled][times - 1] };
}

/* All but the frequencies. */
static void
describe (const TfxNode *node, TfxDesign *design)
{
  memset (design, 0, sizeof *design);
  design->mode = find_mode (node);
  design->order = (unsigned)find_order (node);
  if (is_twice (node)) {
    design->family = TFX_FAMILY_BUTTERWORTH;
    design->order /= 2;
    return;
  }
  design->family = (TfxFamily)node->klass->ops->variant;
  if (design->family == TFX_FAMILY_CHEBYSHEV1)
    design->ripple_db = tfx_class_number (node, "ripple");
  if (design->family == TFX_FAMILY_CHEBYSHEV2)
    design->attenuation_db = tfx_class_number (node, "ripple");
  if (design->family == TFX_FAMILY_ELLIPTIC) {
    design->ripple_db = tfx_class_number (node, "passband_ripple");
    design->attenuation_db = tfx_class_number (node, "stopband_attenuation");
  }
  if (design->family == TFX_FAMILY_BESSEL)
    design->norm = tfx_class_is (node, "norm", "delay") ? TFX_NORM_DELAY
                   : tfx_class_is (node, "norm", "mag") ? TFX_NORM_MAGNITUDE
                                                        : TFX_NORM_PHASE;
}

static int
check_order (const TfxNode *node, const char *thing, TfxExprError *error)
{
  int order = find_order (node), limit = TFX_DESIGN_MAX_ORDER;
  const char *scaled = "";

  if (order_is_db (node))
    scaled = " (order_scale is 'db': 6 dB per order)";
  if (is_twice (node)) {
    limit *= 2;
    if (order < 2 || order > limit || order % 2 != 0)
      return tfx_error_set (error, -ERANGE,
          "order of %s is %d%s, but must be even, from 2 to %d", thing, order,
          scaled, limit);
    return 0;
  }
  if (order < 1 || order > limit)
    return tfx_error_set (error, -ERANGE,
        "order of %s is %d%s, out of range (1 to %d): higher orders exceed "
        "double precision; for a steeper filter use two in series (a | b)",
        thing, order, scaled, limit);
  return 0;
}

int
tfx_iir_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *cutoff = tfx_class_value (node, "cutoff");
  bool band = tfx_band_has_two (find_mode (node));
  TfxDesign design;
  int code = check_order (node, thing, error);

  if (code < 0)
    return code;
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
  describe (node, &design);
  if (design.family == TFX_FAMILY_ELLIPTIC &&
      !(design.attenuation_db > design.ripple_db))
    return tfx_error_set (error, -ERANGE,
        "stopband_attenuation of %s is "
        "%s dB, but must be greater than the passband_ripple of %s dB",
        thing, TFX_NUMBER_TEXT (design.attenuation_db),
        TFX_NUMBER_TEXT (design.ripple_db));
  return 0;
}

void
tfx_iir_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  size_t order = (size_t)find_order (node);

  extent->sections +=
      tfx_band_has_two (find_mode (node)) ? order : order / 2 + 1;
}

/* How far frequencies may be moved, as a part of the rate.  An elliptic filter that
 * cannot be met further away from 0 and from half the rate has too high an order. */
#define MOST_MARGIN 0.11
#define MOST_MARGIN_ELLIPTIC 0.0011

/* The sections for the frequencies that are asked for, or for the nearest ones
 * of which double precision can make a filter.  *margin_hz is how far these
 * keep from 0, from half the rate and from each other; 0 as they are asked
 * for. */
static int
find_sections (const TfxBuild *build, const TfxNode *node, TfxDesign *design,
    TfxMoved *moved, double *margin_hz)
{
  const TfxValue *cutoff = tfx_class_value (node, "cutoff");
  bool band = tfx_band_has_two (design->mode);
  double lower = band ? cutoff->list[0] : cutoff->number;
  double upper = band ? cutoff->list[1] : 0.0;
  const double most = design->family == TFX_FAMILY_ELLIPTIC
                          ? MOST_MARGIN_ELLIPTIC
                          : MOST_MARGIN;
  TfxBuild quiet = *build;
  TfxSos *sos = moved->sos;
  int n_sos = 0;

  design->lower_hz = lower;
  design->upper_hz = upper;
  *margin_hz = 0.0;
  if (build->is_curve)
    n_sos = tfx_designer_shapes (build->designer, design, build->rate_hz, sos,
        moved->shapes);
  moved->has_shapes = n_sos > 0;
  if (n_sos > 0)
    return n_sos;
  n_sos = tfx_designer_sections (build->designer, design, build->rate_hz, sos);
  quiet.report = NULL;
  for (double margin = 1e-6; n_sos < 0 && margin < most; margin *= 10.0) {
    *margin_hz = margin * build->rate_hz;
    design->lower_hz =
        tfx_class_fit_frequency (&quiet, "cutoff", -1, lower, margin);
    if (band) {
      design->lower_hz =
          fmin (design->lower_hz, (0.5 - 2.0 * margin) * build->rate_hz);
      design->upper_hz = tfx_class_fit_frequency (&quiet, "cutoff", -1,
          fmax (upper, design->lower_hz + *margin_hz), margin);
    }
    n_sos =
        tfx_designer_sections (build->designer, design, build->rate_hz, sos);
  }
  return n_sos;
}

static void
report_change (const TfxBuild *build, const TfxNode *node,
    const TfxDesign *design, double margin_hz)
{
  const TfxValue *cutoff = tfx_class_value (node, "cutoff");
  double top = 0.5 * build->rate_hz - margin_hz;

  if (!tfx_band_has_two (design->mode)) {
    if (design->lower_hz != cutoff->number)
      tfx_class_report (build, "cutoff", -1, cutoff->number, design->lower_hz,
          margin_hz, top);
    return;
  }
  if (design->lower_hz != cutoff->list[0])
    tfx_class_report (build, "cutoff", 0, cutoff->list[0], design->lower_hz,
        margin_hz, top - margin_hz);
  if (design->upper_hz != cutoff->list[1])
    tfx_class_report (build, "cutoff", 1, cutoff->list[1], design->upper_hz,
        design->lower_hz + margin_hz, top);
}

int
tfx_iir_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  TfxDesign design;
  double margin_hz;
  int n_sos;

  describe (node, &design);
  n_sos = find_sections (build, node, &design, moved, &margin_hz);
  if (n_sos < 0) {
    const char *why = "";

    tfx_design_check (&design, build->rate_hz, &why);
    return tfx_class_refuse (build, why);
  }
  report_change (build, node, &design, margin_hz);
  moved->n_sos = (size_t)n_sos;
  if (is_twice (node)) {
    memcpy (moved->sos + n_sos, moved->sos, moved->n_sos * sizeof (TfxSos));
    if (moved->has_shapes)
      memcpy (moved->shapes + n_sos, moved->shapes,
          moved->n_sos * sizeof (TfxSvf));
    moved->n_sos *= 2;
  }
  return 0;
}
