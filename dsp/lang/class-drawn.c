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

/* The words of phase. */
enum
{
  LINEAR,
  MINIMUM,
  MIXED
};

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
  if (tfx_class_word (node, "phase") != LINEAR)
    extent->phase_taps += n;
}

/* Makes taps[n].  *n_late: the tap at time 0.  Mixed phase: a linear-phase filter and a
 * minimum-phase one in series, each with half of the dB.  Errors as of
 * tfx_fir_set_phase(). */
static int
make_taps (const double *points, size_t n_points, double rate_hz,
    unsigned phase, double *taps, size_t n, size_t *n_late)
{
  const double share = phase == MIXED ? 0.5 : 1.0;
  const size_t n_linear = phase == MIXED ? ((n - 1) / 2) | 1 : n;
  const size_t n_minimum = phase == MIXED ? n + 1 - n_linear : n;
  double *linear = malloc (n * sizeof *linear);
  double *minimum = malloc (n * sizeof *minimum);
  int code = linear && minimum ? 0 : -ENOMEM;

  *n_late = phase == MINIMUM ? 0 : n_linear / 2;
  if (code == 0 && phase != LINEAR) {
    code = tfx_fir_curve_design (points, n_points, share, rate_hz, linear,
        n_minimum);
    if (code == 0)
      code = tfx_phase_make_minimum (linear, n_minimum, minimum);
  }
  if (code == 0 && phase != MINIMUM)
    code = tfx_fir_curve_design (points, n_points, share, rate_hz, linear,
        n_linear);
  if (code == 0 && phase == MIXED)
    tfx_fir_convolve (linear, n_linear, minimum, n_minimum, taps);
  else if (code == 0)
    memcpy (taps, phase == LINEAR ? linear : minimum, n * sizeof *taps);
  free (linear);
  free (minimum);
  return code;
}

static int
drawn_design (TfxBuild *build, const TfxNode *node)
{
  double contour[2 * TFX_EQUAL_LOUDNESS_POINTS];
  const double *points = contour;
  size_t n_points = TFX_EQUAL_LOUDNESS_POINTS;
  const size_t n = find_n_taps (node, build->rate_hz);
  const TfxValue *drawn = NULL;
  size_t n_late = 0;
  double *taps;
  int code;

  if (tfx_class_has (node, "points")) {
    drawn = tfx_class_value (node, "points");
    points = drawn->list;
    n_points = drawn->n_list / 2;
    if (n_points == 0)
      return tfx_class_refuse_unread (build, drawn);
  } else
    tfx_equal_loudness_points (tfx_class_number (node, "phon"),
        tfx_class_number (node, "reference"), contour);
  taps = malloc (n * sizeof *taps);
  code = taps ? make_taps (points, n_points, build->rate_hz,
                    tfx_class_word (node, "phase"), taps, n, &n_late)
              : -ENOMEM;
  if (code == 0)
    code = tfx_class_make_fir (build, (const double *const *)&taps, 1, n,
        (TfxFirMethod)tfx_class_word (node, "conv_mode"));
  else
    code = tfx_class_refuse (build,
        code == -ENOMEM ? NULL
                        : "no minimum-phase filter has its magnitude to -100 "
                          "dB");
  if (code == 0)
    build->stage->u.fir.n_late = n_late;
  free (taps);
  return code;
}

const TfxClassOps tfx_drawn_ops = {
  .design = drawn_design,
  .check = drawn_check,
  .measure = drawn_measure,
  .is_rebuilt = true,
};
