/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-drawn.c: Curve and LoudnessContour, FIR filters whose magnitude is drawn. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "curve-text.h"
#include "design/equal-loudness.h"
#include "design/fir-curve.h"
#include "design/phase.h"
#include "error.h"

/* Without a number of taps: a tap for each 5 Hz, so that what is 15 Hz wide or wider
 * is followed at any rate. */
#define HZ_PER_TAP 5.0
/* Of a chain whose rate is not known. */
#define USUAL_RATE_HZ 48000.0

static size_t
find_n_taps (const TfxNode *node, double rate_hz)
{
  const TfxValue *taps = tfx_class_value (node, "taps");

  if (taps->type == TFX_VALUE_NUMBER)
    return (size_t)taps->number;
  return 2 * (size_t)fmin (rate_hz / (2.0 * HZ_PER_TAP),
                 TFX_CURVE_MAX_TAPS / 2) +
         1;
}

int
tfx_drawn_check_points (const TfxNode *node, const char *param,
    const char *thing, TfxExprError *error)
{
  const TfxValue *points = tfx_class_value (node, param);
  char fault[TFX_FILE_WHY_SIZE];

  for (size_t i = 0; i < points->n_list; i += 2) {
    if (!tfx_curve_text_check (points->list + i, i > 0, fault))
      return tfx_error_set (error, -ERANGE, "%s of %s: point %zu %s", param,
          thing, i / 2 + 1, fault);
  }
  return 0;
}

int
tfx_drawn_check_taps (const TfxNode *node, const char *thing,
    TfxExprError *error)
{
  const TfxValue *taps = tfx_class_value (node, "taps");

  if (taps->type == TFX_VALUE_NUMBER && fmod (taps->number, 2.0) == 0.0)
    return tfx_error_set (error, -EINVAL,
        "taps of %s is %s, but must be odd: an even number of taps gives a "
        "zero at half the sample rate",
        thing, TFX_NUMBER_TEXT (taps->number));
  return 0;
}

static int
drawn_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const int code = tfx_class_has (node, "points")
                       ? tfx_drawn_check_points (node, "points", thing, error)
                       : 0;

  return code < 0 ? code : tfx_drawn_check_taps (node, thing, error);
}

static void
drawn_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const size_t n = find_n_taps (node, rate_hz > 0.0 ? rate_hz : USUAL_RATE_HZ);

  extent->taps += n;
  if (tfx_class_is (node, "phase", "minimum"))
    extent->phase_taps += n;
}

/* With linear phase the middle tap is at time 0. */
static int
drawn_design (TfxBuild *build, const TfxNode *node)
{
  double contour[2 * TFX_EQUAL_LOUDNESS_POINTS];
  const double *points = contour;
  size_t n_points = TFX_EQUAL_LOUDNESS_POINTS;
  const bool is_linear = tfx_class_is (node, "phase", "linear");
  const size_t n = find_n_taps (node, build->rate_hz);
  const TfxValue *drawn = NULL;
  double *linear, *minimum;
  const double *taps;
  int code = -ENOMEM;

  if (tfx_class_has (node, "points")) {
    drawn = tfx_class_value (node, "points");
    points = drawn->list;
    n_points = drawn->n_list / 2;
    if (n_points == 0)
      return tfx_class_refuse_unread (build, drawn);
  } else
    tfx_equal_loudness_points (tfx_class_number (node, "phon"),
        tfx_class_number (node, "reference"), contour);
  linear = malloc (n * sizeof *linear);
  minimum = is_linear ? NULL : malloc (n * sizeof *minimum);
  taps = is_linear ? linear : minimum;
  if (linear && taps)
    code = tfx_fir_curve_design (points, n_points, build->rate_hz, linear, n);
  if (code == 0 && !is_linear)
    code = tfx_phase_make_minimum (linear, n, minimum);
  if (code == 0)
    code = tfx_class_make_fir (build, &taps, 1, n,
        (TfxFirMethod)tfx_class_word (node, "conv_mode"));
  else
    code = tfx_class_refuse (build,
        code == -ENOMEM ? NULL
                        : "no minimum-phase filter has its magnitude to -100 "
                          "dB");
  if (code == 0 && is_linear)
    build->stage->u.fir.n_late = n / 2;
  free (linear);
  free (minimum);
  return code;
}

const TfxClassOps tfx_drawn_ops = {
  .design = drawn_design,
  .check = drawn_check,
  .measure = drawn_measure,
  .is_rebuilt = true,
};
