/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-curves.c: rows of sections that follow a curve: a graphic equaliser, RIAA
 * and the weightings of level meters. */
#include <math.h>

#include "class.h"
#include "design/k-weighting.h"
#include "design/matched.h"
#include "design/rbj.h"
#include "design/sos.h"
#include "error.h"

static const TfxSos identity = { 1.0, 0.0, 0.0, 0.0, 0.0 };

/* ---- GraphicEQ -------------------------------------------------------------------
 * The bands overlap, so their gains are found together.  The gain of a section in dB
 * is nearly proportional to its setting, so the settings for the wanted gains at the
 * centres and halfway between them are the solution of linear equations (V. Valimaki
 * and J. Liski, Accurate cascade graphic equalizer, 2017); a few turns repeat this
 * with the sections found. */

#define MAX_BANDS TFX_LEAST_SQUARES_MAX
#define MAX_POINTS (2 * MAX_BANDS - 1)
#define N_TURNS 4
#define CENTRE_WEIGHT 3.0 /* of a centre; 1 halfway */
/* The setting of a section to measure if its gain is 0 dB. */
#define PROBE_DB 6.0
/* The highest centre, as a part of the rate. */
#define HIGHEST_CENTRE 0.49

/* Centres are spread evenly over the logarithm of the frequency; those too high for
 * the rate are left out.  A band is 1.5 times as wide as the distance of centres. */
static int
graphic_design (TfxBuild *build, const TfxNode *node)
{
  const TfxValue *gains = tfx_class_value (node, "gains");
  const double rate_hz = build->rate_hz, highest = HIGHEST_CENTRE * rate_hz;
  const double asked_hz = tfx_class_number (node, "f_min");
  const double f_min = fmin (asked_hz, highest);
  const double ratio = pow (tfx_class_number (node, "f_max") / f_min,
      1.0 / (double)(gains->n_list - 1));
  const double q = sqrt (ratio) / (1.5 * (ratio - 1.0));
  double centre_hz[MAX_BANDS], gain_db[MAX_BANDS];
  double point_hz[MAX_POINTS], wanted_db[MAX_POINTS];
  double a[MAX_BANDS * MAX_POINTS], b[MAX_POINTS];
  size_t n = 0, n_points;
  TfxSos sos[MAX_BANDS];
  int code = 0;

  if (f_min < asked_hz)
    tfx_class_report (build, &(TfxExprClamp){ "f_min", -1, asked_hz, f_min,
                                 1e-6 * rate_hz, highest });
  for (; n < gains->n_list; n++) {
    centre_hz[n] = f_min * pow (ratio, (double)n);
    if (!(centre_hz[n] <= highest))
      break;
    point_hz[2 * n] = centre_hz[n];
    wanted_db[2 * n] = gain_db[n] = gains->list[n];
    if (n > 0) {
      point_hz[2 * n - 1] = centre_hz[n] / sqrt (ratio);
      wanted_db[2 * n - 1] = 0.5 * (gains->list[n - 1] + gains->list[n]);
    }
  }
  n_points = 2 * n - 1;
  for (int turn = 0; turn < N_TURNS && code == 0; turn++) {
    for (size_t i = 0; i < n && code == 0; i++) {
      const double probe = fabs (gain_db[i]) > 0.1 ? gain_db[i] : PROBE_DB;

      code = tfx_rbj_section (TFX_RBJ_PEAKING, centre_hz[i], q,
          pow (10.0, probe / 20.0), rate_hz, sos);
      for (size_t k = 0; k < n_points && code == 0; k++) {
        const TfxComplex h = tfx_response_at (sos, 1, point_hz[k], rate_hz);
        const double weight = k % 2 == 0 ? CENTRE_WEIGHT : 1.0;

        a[i * n_points + k] =
            weight * 10.0 * log10 (h.re * h.re + h.im * h.im) / probe;
        b[k] = weight * wanted_db[k];
      }
    }
    if (code == 0)
      tfx_least_squares (a, b, n_points, n, gain_db);
  }
  for (size_t i = 0; i < gains->n_list && code == 0; i++) {
    sos[i] = identity;
    if (i < n)
      code = tfx_rbj_section (TFX_RBJ_PEAKING, centre_hz[i], q,
          pow (10.0, gain_db[i] / 20.0), rate_hz, &sos[i]);
  }
  if (code < 0)
    return tfx_class_refuse (build,
        "f_min is too low, or its bands are too narrow, for stable sections in "
        "double precision");
  return tfx_class_make_sections (build, sos, NULL, gains->n_list);
}

const TfxClassOps tfx_graphic_ops = {
  .design = graphic_design,
  .check = tfx_class_check_range,
  .sections = "gains",
};

/* ---- curves of standards ------------------------------------------------------------
 *   RIAA (IEC 60098), playback, T = 3180, 318 and 75 microseconds:
 *     H(s) = (1 + s T2) / ((1 + s T1) (1 + s T3))
 *   A and C (IEC 61672), p = 2 pi (20.598997, 107.65265, 737.86223, 12194.217):
 *     C(s) = s^2 / ((s + p1)^2 (s + p4)^2),  A(s) = C(s) s^2 / ((s + p2) (s + p3))
 *   K (ITU-R BS.1770): a shelf and a high-pass, whose analog values at any rate
 *     are those of libebur128, which give the recommendation's coefficients at
 *     48000 Hz.
 *
 * RIAA, A and C are 0 dB at 1000 Hz.  Poles go to z = exp (p / rate), and the
 * zeros follow the curve's magnitude (matched.c). */

#define MAX_HIGH_PASSES 2
#define REFERENCE_HZ 1000.0
/* Four sections for each weighting, so that curve can change by a ramp. */
#define N_WEIGHTING 4

typedef struct Curve
{
  double pole_hz[2];                  /* of the matched sections */
  double zero_hz;                     /* 0: none */
  size_t n_high_passes;               /* s^2 / ((s + a) (s + b)) */
  double high_hz[MAX_HIGH_PASSES][2]; /* a and b */
  double rate_hz;
} Curve;

static const Curve riaa = { { 1.0 / (2.0 * M_PI * 3180e-6),
                                1.0 / (2.0 * M_PI * 75e-6) },
  1.0 / (2.0 * M_PI * 318e-6), 0, { { 0.0 } }, 0.0 };
#define HIGHEST_HZ 12194.217
#define LOWEST_HZ 20.598997
static const Curve weighting_a = { { HIGHEST_HZ, HIGHEST_HZ }, 0.0, 2,
  { { LOWEST_HZ, LOWEST_HZ }, { 107.65265, 737.86223 } }, 0.0 };
static const Curve weighting_c = { { HIGHEST_HZ, HIGHEST_HZ }, 0.0, 1,
  { { LOWEST_HZ, LOWEST_HZ } }, 0.0 };

/* |H|^2 of the analog curve, up to a factor. */
static double
curve_power (const Curve *curve, double freq_hz)
{
  const double square = freq_hz * freq_hz;
  double power = 1.0;

  if (curve->zero_hz > 0.0)
    power *= 1.0 + square / (curve->zero_hz * curve->zero_hz);
  for (size_t i = 0; i < 2; i++)
    power /= 1.0 + square / (curve->pole_hz[i] * curve->pole_hz[i]);
  for (size_t i = 0; i < 2 * curve->n_high_passes; i++) {
    const double pole = curve->high_hz[i / 2][i % 2];

    power *= square / (square + pole * pole);
  }
  return power;
}

static double
make_pole (double pole_hz, double rate_hz)
{
  return exp (-2.0 * M_PI * pole_hz / rate_hz);
}

static void
make_high_passes (const Curve *curve, TfxSos *sos)
{
  for (size_t i = 0; i < curve->n_high_passes; i++) {
    const double p = make_pole (curve->high_hz[i][0], curve->rate_hz);
    const double q = make_pole (curve->high_hz[i][1], curve->rate_hz);

    sos[i] = (TfxSos){ 1.0, -2.0, 1.0, -(p + q), p * q };
  }
}

/* The power that the matched sections must have beside the high-passes. */
static double
wanted_power (double freq_hz, const void *data)
{
  const Curve *curve = data;
  TfxSos sos[MAX_HIGH_PASSES];
  TfxComplex made;

  make_high_passes (curve, sos);
  made = tfx_response_at (sos, curve->n_high_passes, freq_hz, curve->rate_hz);
  return curve_power (curve, freq_hz) / curve_power (curve, REFERENCE_HZ) /
         (made.re * made.re + made.im * made.im);
}

static int
design_curve (const TfxBuild *build, const Curve *analog, TfxSos *sos,
    size_t *n_sos)
{
  const double rate_hz = build->rate_hz;
  Curve curve = *analog;
  TfxComplex h;

  curve.rate_hz = rate_hz;
  make_high_passes (&curve, sos);
  *n_sos = curve.n_high_passes + TFX_MATCHED_N_SOS;
  if (tfx_matched_sections (make_pole (curve.pole_hz[0], rate_hz),
          make_pole (curve.pole_hz[1], rate_hz), wanted_power, &curve, rate_hz,
          sos + curve.n_high_passes) < 0)
    return tfx_class_refuse (build,
        "no stable filter matches its curve at this sample rate");
  /* The match is good to a few hundredths of a dB; 1000 Hz is exact. */
  if (rate_hz > 2.0 * REFERENCE_HZ) {
    h = tfx_response_at (sos, *n_sos, REFERENCE_HZ, rate_hz);
    tfx_sos_scale (&sos[0], 1.0 / hypot (h.re, h.im));
  }
  return 0;
}

static int
riaa_design (TfxBuild *build, const TfxNode *node)
{
  TfxSos sos[TFX_MATCHED_N_SOS];
  size_t n;
  const int code = design_curve (build, &riaa, sos, &n);

  if (code < 0)
    return code;
  /* The inverse is stable: the zeros are inside the unit circle. */
  for (size_t i = 0; i < n && tfx_class_is (node, "mode", "recording"); i++) {
    const TfxSos s = sos[i];

    sos[i] = (TfxSos){ 1.0 / s.b0, s.a1 / s.b0, s.a2 / s.b0, s.b1 / s.b0,
      s.b2 / s.b0 };
  }
  return tfx_class_make_sections (build, sos, NULL, n);
}

static int
weighting_design (TfxBuild *build, const TfxNode *node)
{
  TfxSos sos[N_WEIGHTING];
  size_t n = TFX_K_WEIGHTING_N_SOS;
  int code;

  if (!tfx_class_is (node, "curve", "K")) {
    code = design_curve (build,
        tfx_class_is (node, "curve", "A") ? &weighting_a : &weighting_c, sos,
        &n);
    if (code < 0)
      return code;
  } else {
    if (!(build->rate_hz > TFX_K_WEIGHTING_LOWEST_RATE_HZ))
      return tfx_class_refuse (build, "the sample rate must be above 4000 Hz");
    tfx_k_weighting_design (build->rate_hz, sos);
  }
  while (n < N_WEIGHTING)
    sos[n++] = identity;
  return tfx_class_make_sections (build, sos, NULL, N_WEIGHTING);
}

const TfxClassOps tfx_riaa_ops = {
  .design = riaa_design,
  .n_sections = TFX_MATCHED_N_SOS,
};

const TfxClassOps tfx_weighting_ops = {
  .design = weighting_design,
  .n_sections = N_WEIGHTING,
};
