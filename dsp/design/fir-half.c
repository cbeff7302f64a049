/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir-half.c: half of a windowed sinc, quickly.
 *
 * A tap d samples from the middle is w(d) f(d) / (pi d), where f(d) is
 *
 *   low-pass     sin (pi c d)
 *   high-pass    -sin (pi c d)                           (d is whole)
 *   band-pass    2 cos (pi m d) sin (pi h d)
 *   band-reject  -2 cos (pi m d) sin (pi h d)            (d is whole)
 *
 * with c the cutoff, m the middle of a band and h half its width, 1 being half the
 * rate.  As products bands lose no digits where they are narrow.
 *
 * Sines go from tap to tap by turning them: with alpha = 2 sin^2 (delta / 2) and
 * beta = sin delta
 *
 *   sin (t + delta) = sin t - (alpha sin t - beta cos t)
 *   cos (t + delta) = cos t - (alpha cos t + beta sin t)
 *
 * (Singleton 1967), which keeps the digits of small sines too; after SYNC taps
 * they are computed anew.  LANES taps go side by side. */
#include "fir-half.h"

#include <math.h>

#include "band.h"
#include "window.h"

#define LANES 8
#define SYNC (32 * LANES)

/* sin and cos (pi freq d) of LANES taps. */
typedef struct Wave
{
  double freq;
  double alpha, beta;                      /* of LANES taps */
  double lane_sin[LANES], lane_cos[LANES]; /* from the first lane to each */
  double sin[LANES], cos[LANES];
} Wave;

/* pi freq d, less whole turns. */
static double
find_angle (double freq, double d)
{
  const double turns = freq * d;

  return M_PI * (turns - 2.0 * rint (0.5 * turns) + fma (freq, d, -turns));
}

static inline void
turn (double *s, double *c, double alpha, double beta)
{
  const double t = *s;

  *s -= alpha * t - beta * *c;
  *c -= alpha * *c + beta * t;
}

static void
find_turn (double angle, double *alpha, double *beta)
{
  const double half = sin (0.5 * angle);

  *alpha = 2.0 * half * half;
  *beta = sin (angle);
}

static void
wave_init (Wave *w, double freq)
{
  double alpha, beta;

  w->freq = freq;
  find_turn (find_angle (freq, 1.0), &alpha, &beta);
  w->lane_sin[0] = 0.0;
  w->lane_cos[0] = 1.0;
  for (int i = 1; i < LANES; i++) {
    w->lane_sin[i] = w->lane_sin[i - 1];
    w->lane_cos[i] = w->lane_cos[i - 1];
    turn (&w->lane_sin[i], &w->lane_cos[i], alpha, beta);
  }
  find_turn (find_angle (freq, LANES), &w->alpha, &w->beta);
}

/* The lanes from d on. */
static void
wave_set (Wave *w, double d)
{
  const double angle = find_angle (w->freq, d), s = sin (angle),
               c = cos (angle);

  for (int i = 0; i < LANES; i++) {
    w->sin[i] = s * w->lane_cos[i] + c * w->lane_sin[i];
    w->cos[i] = c * w->lane_cos[i] - s * w->lane_sin[i];
  }
}

static void
wave_advance (Wave *w)
{
  for (int i = 0; i < LANES; i++)
    turn (&w->sin[i], &w->cos[i], w->alpha, w->beta);
}

/* ---- a design ---------------------------------------------------------------- */

typedef struct Half
{
  TfxMode mode;
  size_t n_taps;
  Wave edge;   /* c, or h of a band */
  Wave centre; /* m of a band */
  Wave window; /* t, of cosine sums */
  TfxWindowShape shape;
  double d[LANES]; /* of the lanes */
} Half;

/* The window in the middle: v = 1. */
static double
shape_peak (const TfxWindowShape *shape)
{
  double sum = 0.0;

  for (size_t k = 0; k < shape->n; k++)
    sum += shape->a[k];
  return sum;
}

/* Returns the tap in the middle, which an even number of taps does not have. */
static double
half_init (Half *half, const TfxFirDesign *design, double rate_hz)
{
  const double nyquist = 0.5 * rate_hz;
  const bool rejects = design->mode == TFX_MODE_HIGH_PASS ||
                       design->mode == TFX_MODE_BAND_REJECT;
  double width = design->lower_hz / nyquist;

  half->mode = design->mode;
  half->n_taps = design->n_taps;
  tfx_window_shape (design->window, design->beta, &half->shape);
  if (half->shape.variable == TFX_WINDOW_COSINE)
    wave_init (&half->window, 2.0 / (double)(half->n_taps - 1));
  if (tfx_band_has_two (half->mode)) {
    const double span = (design->upper_hz - design->lower_hz) / nyquist;

    wave_init (&half->edge, 0.5 * span);
    wave_init (&half->centre,
        0.5 * (design->lower_hz / nyquist + design->upper_hz / nyquist));
    width = span;
  } else {
    wave_init (&half->edge, width);
  }
  return (rejects ? 1.0 - width : width) * shape_peak (&half->shape);
}

/* The lanes from tap number `first` beside the middle on. */
static void
half_seek (Half *half, size_t first)
{
  const double d = (half->n_taps % 2 == 1 ? 1.0 : 0.5) + (double)first;

  for (int i = 0; i < LANES; i++)
    half->d[i] = d + i;
  if (first % SYNC == 0) {
    wave_set (&half->edge, d);
    if (tfx_band_has_two (half->mode))
      wave_set (&half->centre, d);
    if (half->shape.variable == TFX_WINDOW_COSINE)
      wave_set (&half->window, d);
    return;
  }
  wave_advance (&half->edge);
  if (tfx_band_has_two (half->mode))
    wave_advance (&half->centre);
  if (half->shape.variable == TFX_WINDOW_COSINE)
    wave_advance (&half->window);
}

/* The window; 0 beyond its end. */
static void
half_window (const Half *half, double w[LANES])
{
  const TfxWindowShape *shape = &half->shape;
  const double end = 0.5 * (double)(half->n_taps - 1);
  double v[LANES];

  for (int i = 0; i < LANES; i++) {
    const double x = half->d[i] / end;

    v[i] = shape->variable == TFX_WINDOW_COSINE     ? half->window.cos[i]
           : shape->variable == TFX_WINDOW_TRIANGLE ? 1.0 - x
                                                    : (1.0 - x) * (1.0 + x);
    w[i] = shape->a[shape->n - 1];
  }
  for (size_t k = shape->n - 1; k-- > 0;) {
    for (int i = 0; i < LANES; i++)
      w[i] = w[i] * v[i] + shape->a[k];
  }
  for (int i = 0; i < LANES; i++)
    w[i] = half->d[i] > end ? 0.0 : w[i];
}

/* The taps of the lanes, and what each pair adds to the response where it is to
 * be 1: at 0 Hz, half the rate or in the middle of the band. */
static void
half_taps (const Half *half, double taps[LANES], double parts[LANES])
{
  double w[LANES];

  half_window (half, w);
  for (int i = 0; i < LANES; i++)
    taps[i] = w[i] * half->edge.sin[i] / (M_PI * half->d[i]);
  switch (half->mode) {
    case TFX_MODE_LOW_PASS:
      for (int i = 0; i < LANES; i++)
        parts[i] = taps[i];
      break;
    case TFX_MODE_HIGH_PASS: /* (-1)^d: the first d is odd */
      for (int i = 0; i < LANES; i++) {
        parts[i] = i % 2 == 0 ? taps[i] : -taps[i];
        taps[i] = -taps[i];
      }
      break;
    case TFX_MODE_BAND_PASS:
      for (int i = 0; i < LANES; i++) {
        taps[i] *= 2.0 * half->centre.cos[i];
        parts[i] = taps[i] * half->centre.cos[i];
      }
      break;
    default:
      for (int i = 0; i < LANES; i++)
        parts[i] = taps[i] *= -2.0 * half->centre.cos[i];
      break;
  }
}

TfxFirSums
tfx_fir_half_make (const TfxFirDesign *design, double rate_hz, double *taps)
{
  const size_t n_side = design->n_taps / 2;
  Half half;
  const double middle = half_init (&half, design, rate_hz);
  TfxFirSums sums = { 0.0, 0.0 };
  double lane_taps[LANES], parts[LANES];

  if (design->n_taps % 2 == 1) {
    sums = (TfxFirSums){ middle, fabs (middle) };
    if (taps)
      taps[n_side] = middle;
  }
  for (size_t first = 0, n; first < n_side; first += n) {
    double response = 0.0, magnitude = 0.0;

    /* In parts, so that few digits are lost in long sums. */
    for (n = 0; n < SYNC && first + n < n_side; n += LANES) {
      half_seek (&half, first + n);
      half_taps (&half, lane_taps, parts);
      for (int i = 0; i < LANES; i++) {
        response += parts[i];
        magnitude += fabs (lane_taps[i]);
      }
      for (size_t i = first + n; taps && i < n_side && i < first + n + LANES;
           i++)
        taps[n_side - 1 - i] = taps[design->n_taps - n_side + i] =
            lane_taps[i - first - n];
    }
    sums.response += 2.0 * response;
    sums.magnitude += 2.0 * magnitude;
  }
  return sums;
}
