/* SPDX-License-Identifier: LGPL-2.1-or-later
 * weighting.c: curves of standards.
 *
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
#include <math.h>
#include <string.h>

#include "class.h"
#include "design/k-weighting.h"
#include "design/matched.h"
#include "design/sos.h"

#define MAX_HIGH_PASSES 2
#define REFERENCE_HZ 1000.0

typedef struct Curve
{
  double pole_hz[2];                  /* of the matched sections */
  double zero_hz;                     /* 0: none */
  size_t n_high_passes;               /* s^2 / ((s + a) (s + b)) */
  double high_hz[MAX_HIGH_PASSES][2]; /* a and b */
  double rate_hz;                     /* whose high-passes to make up for */
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

/* |s + p|^2 / |p|^2 */
static double
corner_power (double freq_hz, double pole_hz)
{
  const double ratio = freq_hz / pole_hz;

  return 1.0 + ratio * ratio;
}

/* Of all but the high-passes, whatever its gain. */
static double
low_power (const Curve *curve, double freq_hz)
{
  double power = 1.0;

  if (curve->zero_hz > 0.0)
    power *= corner_power (freq_hz, curve->zero_hz);
  for (size_t i = 0; i < 2; i++)
    power /= corner_power (freq_hz, curve->pole_hz[i]);
  return power;
}

static double
high_power (const Curve *curve, double freq_hz)
{
  const double square = freq_hz * freq_hz;
  double power = 1.0;

  for (size_t i = 0; i < curve->n_high_passes; i++) {
    for (size_t k = 0; k < 2; k++) {
      const double pole = curve->high_hz[i][k];

      power *= square / (square + pole * pole);
    }
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

/* What is left for the matched sections. */
static double
wanted_power (double freq_hz, const void *data)
{
  const Curve *curve = data;
  TfxSos sos[MAX_HIGH_PASSES];
  TfxComplex made;

  make_high_passes (curve, sos);
  made = tfx_response_at (sos, curve->n_high_passes, freq_hz, curve->rate_hz);
  return low_power (curve, freq_hz) * high_power (curve, freq_hz) /
         (low_power (curve, REFERENCE_HZ) * high_power (curve, REFERENCE_HZ)) /
         (made.re * made.re + made.im * made.im);
}

/* What follows the curve to a few hundredths of a dB is 0 dB at 1000 Hz, if the rate
 * has that. */
static void
set_reference (TfxMoved *moved, double rate_hz)
{
  const TfxComplex h =
      tfx_response_at (moved->sos, moved->n_sos, REFERENCE_HZ, rate_hz);
  const double gain =
      rate_hz > 2.0 * REFERENCE_HZ ? 1.0 / hypot (h.re, h.im) : 1.0;

  tfx_sos_scale (&moved->sos[0], gain);
}

static int
design_curve (const TfxBuild *build, const Curve *asked, TfxMoved *moved)
{
  Curve curve = *asked;

  curve.rate_hz = build->rate_hz;
  make_high_passes (&curve, moved->sos);
  moved->n_sos = curve.n_high_passes + TFX_MATCHED_N_SOS;
  if (tfx_matched_sections (make_pole (curve.pole_hz[0], build->rate_hz),
          make_pole (curve.pole_hz[1], build->rate_hz), wanted_power, &curve,
          build->rate_hz, moved->sos + curve.n_high_passes) < 0)
    return tfx_class_refuse (build,
        "no stable filter matches its curve at this sample rate");
  set_reference (moved, build->rate_hz);
  return 0;
}

/* ---- RIAA ----------------------------------------------------------------------- */

void
tfx_riaa_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections += TFX_MATCHED_N_SOS;
}

static void
invert (TfxSos *s)
{
  *s = (TfxSos){ 1.0 / s->b0, s->a1 / s->b0, s->a2 / s->b0, s->b1 / s->b0,
    s->b2 / s->b0 };
}

int
tfx_riaa_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  const int code = design_curve (build, &riaa, moved);

  if (code == 0 && tfx_class_is (node, "mode", "recording")) {
    /* The zeros lie within the unit circle. */
    invert (&moved->sos[0]);
    invert (&moved->sos[1]);
  }
  return code;
}

/* ---- weightings -------------------------------------------------------------------- */

/* Four sections, whatever the curve, so that one can glide to another. */
#define N_WEIGHTING 4

void
tfx_weighting_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections += N_WEIGHTING;
}

int
tfx_weighting_design (const TfxBuild *build, const TfxNode *node,
    TfxMoved *moved)
{
  int code = 0;

  if (tfx_class_is (node, "curve", "K")) {
    if (!(build->rate_hz > TFX_K_WEIGHTING_LOWEST_RATE_HZ))
      return tfx_class_refuse (build, "the sample rate must be above 4000 Hz");
    tfx_k_weighting_design (build->rate_hz, moved->sos);
    moved->n_sos = TFX_K_WEIGHTING_N_SOS;
  } else {
    code = design_curve (build,
        tfx_class_is (node, "curve", "A") ? &weighting_a : &weighting_c, moved);
  }
  while (code == 0 && moved->n_sos < N_WEIGHTING)
    moved->sos[moved->n_sos++] = (TfxSos){ 1.0, 0.0, 0.0, 0.0, 0.0 };
  return code;
}
