/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_curves.c: the classes whose magnitude follows a curve: RIAA, weightings,
 * graphic equalisers, drawn curves, loudness contours; and FIR filters with another
 * phase.
 */
#include "common.h"
#include "core/stage.h"
#include "design/equal-loudness.h"
#include "plain.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
magnitude_db (const TfxChain *chain, double freq_hz, double rate_hz)
{
  const TfxComplex h = plain_response (chain, freq_hz, rate_hz).h;

  return 20.0 * log10 (hypot (h.re, h.im));
}

/* ---- the standards' own formulas ---------------------------------------------------- */

static double
riaa_power (double freq_hz)
{
  const double w = 2.0 * M_PI * freq_hz;

  return (1.0 + w * w * 318e-6 * 318e-6) /
         ((1.0 + w * w * 3180e-6 * 3180e-6) * (1.0 + w * w * 75e-6 * 75e-6));
}

/* IEC 61672-1, annex E. */
static double
c_power (double f)
{
  const double ff = f * f, low = 20.598997 * 20.598997;
  const double high = 12194.217 * 12194.217;
  const double r = high * ff / ((ff + low) * (ff + high));

  return r * r;
}

static double
a_power (double f)
{
  const double ff = f * f;
  const double two = 107.65265 * 107.65265, three = 737.86223 * 737.86223;

  return c_power (f) * ff * ff / ((ff + two) * (ff + three));
}

typedef struct Standard
{
  const char *text;
  double (*power) (double freq_hz);
  double sign; /* of its decibels */
} Standard;

static const Standard standards[] = {
  { "RIAA()", riaa_power, 1.0 },
  { "RIAA('recording')", riaa_power, -1.0 },
  { "Weighting('A')", a_power, 1.0 },
  { "Weighting('C')", c_power, 1.0 },
};

static void
test_standards (void)
{
  static const double rates[] = { 8000.0, 11025.0, 16000.0, 32000.0, 44100.0,
    48000.0, 88200.0, 96000.0, 192000.0, 384000.0, 768000.0 };
  TapMany many = tap_many (
      "follow their analog curves to 0.05 dB, to 20 kHz or 0.45 of the rate");
  double worst = 0.0, worst_1k = 0.0;

  for (size_t i = 0; i < sizeof standards / sizeof standards[0]; i++) {
    for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
      const Standard *s = &standards[i];
      TfxChain *chain = test_build_at (s->text, rates[k], 1);
      const double top = fmin (20000.0, 0.45 * rates[k]);

      worst_1k = fmax (worst_1k, fabs (magnitude_db (chain, 1000.0, rates[k])));
      for (double f = 10.0; f < top; f *= 1.01) {
        const double wanted =
            s->sign * 10.0 * log10 (s->power (f) / s->power (1000.0));
        const double off = magnitude_db (chain, f, rates[k]) - wanted;

        worst = fmax (worst, fabs (off));
        tap_many_check (&many, fabs (off) <= 0.05,
            "%s at %g Hz: %.3f dB off at %.1f Hz", s->text, rates[k], off, f);
      }
      tfx_chain_unref (&chain);
    }
  }
  tap_diag ("at most %.4f dB off", worst);
  tap_check (worst_1k < 1e-9, "0 dB at 1 kHz: %.2g dB off", worst_1k);
  tap_many_end (&many);
}

/* Recommendation ITU-R BS.1770, tables 1 and 2. */
static void
test_k (void)
{
  static const double rates[] = { 32000.0, 44100.0, 88200.0, 96000.0,
    192000.0 };
  static const TfxSos table[] = { { 1.53512485958697, -2.69169618940638,
                                      1.19839281085285, -1.69065929318241,
                                      0.73248077421585 },
    { 1.0, -2.0, 1.0, -1.99004745483398, 0.99007225036621 } };
  TfxChain *chain = test_build ("Weighting('K')", 1);
  double worst = 0.0;

  for (double f = 10.0; f < 20000.0; f *= 1.01) {
    const TfxComplex is = plain_response (chain, f, 48000.0).h;
    const TfxComplex wanted = tfx_response_at (table, 2, f, 48000.0);

    worst = fmax (worst, hypot (is.re - wanted.re, is.im - wanted.im));
  }
  tap_check (worst < 1e-9, "K at 48000 Hz is the recommendation's, %.1e off",
      worst);
  for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
    TfxChain *other = test_build_at ("Weighting('K')", rates[k], 1);
    const double top = fmin (20000.0, 0.45 * rates[k]);

    worst = 0.0;
    for (double f = 10.0; f < top; f *= 1.01)
      worst = fmax (worst, fabs (magnitude_db (chain, f, 48000.0) -
                                 magnitude_db (other, f, rates[k])));
    tap_check (worst < 0.1, "and at %g Hz the same to %.3f dB", rates[k],
        worst);
    tfx_chain_unref (&other);
  }
  tfx_chain_unref (&chain);
}

/* ---- GraphicEQ ---------------------------------------------------------------------- */

#define MAX_BANDS 31

static void
check_equaliser (TapMany *many, const double *gains, size_t n, double f_min,
    double f_max, double *worst)
{
  TfxChain *chain;
  char text[1024];
  size_t used = (size_t)snprintf (text, sizeof text, "GraphicEQ([");

  for (size_t i = 0; i < n; i++)
    used += (size_t)snprintf (text + used, sizeof text - used, "%s%g",
        i ? ", " : "", gains[i]);
  snprintf (text + used, sizeof text - used, "], f_min=%g, f_max=%g)", f_min,
      f_max);
  chain = test_build (text, 1);
  for (size_t i = 0; i < n; i++) {
    const double f = f_min * pow (f_max / f_min, (double)i / (double)(n - 1));
    const double off = magnitude_db (chain, f, 48000.0) - gains[i];

    *worst = fmax (*worst, fabs (off));
    tap_many_check (many, fabs (off) <= 0.5, "%s: band %zu is %.2f dB off",
        text, i, off);
  }
  tfx_chain_unref (&chain);
}

static void
test_graphic (void)
{
  static const struct
  {
    size_t n;
    double f_min, f_max;
  } kinds[] = { { 2, 100.0, 5000.0 }, { 10, 31.25, 16000.0 },
    { 31, 20.0, 20000.0 }, { 5, 60.0, 14000.0 } };
  TapMany many = tap_many ("bands have their gains to 0.5 dB");
  double gains[MAX_BANDS], worst = 0.0;
  unsigned seed = 1;

  for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
    const size_t n = kinds[k].n;

    for (unsigned turn = 0; turn < 40; turn++) {
      for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        /* All up, all down, a zigzag, and random ones. */
        gains[i] = turn == 0   ? 12.0
                   : turn == 1 ? -12.0
                   : turn == 2 ? (i % 2 ? 12.0 : -12.0)
                   : turn == 3 ? 0.0
                               : (double)(seed >> 8) / (1 << 24) * 24.0 - 12.0;
      }
      check_equaliser (&many, gains, n, kinds[k].f_min, kinds[k].f_max, &worst);
    }
  }
  tap_diag ("at most %.2f dB off", worst);
  tap_many_end (&many);
}

/* ---- Curve -------------------------------------------------------------------------- */

typedef struct Drawn
{
  const char *points, *taps;
  size_t n_points, n_taps;
  double point[8];
  double bound_db; /* from 20 Hz to 20 kHz; INFINITY: the curve is too steep */
} Drawn;

static const Drawn drawns[] = {
  { "[20, -3], [100, 2], [20000, 0]", "", 3, 9601, { 20, -3, 100, 2, 20000, 0 },
      0.3 },
  { "[60, 6], [120, 0], [10000, 0], [16000, -4]", "", 4, 9601,
      { 60, 6, 120, 0, 10000, 0, 16000, -4 }, 0.3 },
  { "[1000, 0], [2000, -100]", ", taps=4801", 2, 4801, { 1000, 0, 2000, -100 },
      0.6 },
  { "[1000, -6]", ", taps=31", 1, 31, { 1000, -6 }, 1e-9 },
  { "[1000, 120], [1001, -300]", ", taps=2001", 2, 2001,
      { 1000, 120, 1001, -300 }, INFINITY },
  { "[30, -60], [31, 40]", ", taps=101", 2, 101, { 30, -60, 31, 40 },
      INFINITY },
};

/* By the definition of the page: a straight line over log f. */
static double
drawn_db (const Drawn *d, double f)
{
  const double *p = d->point;

  for (size_t i = 0; i + 1 < d->n_points; i++, p += 2) {
    if (f < p[2])
      return f <= p[0]
                 ? p[1]
                 : p[1] + (p[3] - p[1]) * log2 (f / p[0]) / log2 (p[2] / p[0]);
  }
  return p[1];
}

/* The stage of a Curve with one of the phases. */
static TfxChain *
build_drawn (const Drawn *d, const char *phase)
{
  char text[200];

  snprintf (text, sizeof text, "Curve([%s], '%s'%s)", d->points, phase,
      d->taps);
  return test_build (text, 1);
}

static void
test_drawn (void)
{
  TapMany follow = tap_many ("a drawn curve is followed, and never left");
  TapMany linear_phase = tap_many ("linear phase: symmetric, with latency");
  TapMany minimum_phase = tap_many (
      "minimum phase: the same magnitude to -100 dB of its peak, earlier");
  double worst = 0.0;

  for (size_t k = 0; k < sizeof drawns / sizeof *drawns; k++) {
    const Drawn *d = &drawns[k];
    TfxChain *linear = build_drawn (d, "linear");
    TfxChain *minimum = build_drawn (d, "minimum");
    const TfxStage *a = linear->stages[0], *b = minimum->stages[0];
    const size_t n = a->u.fir.n_taps;
    double low = INFINITY, high = -INFINITY, peak = 0.0, late = 0.0;
    double error = 0.0;
    bool is_symmetric = true, is_early = true;

    for (size_t i = 0; i < d->n_points; i++) {
      low = fmin (low, d->point[2 * i + 1]);
      high = fmax (high, d->point[2 * i + 1]);
    }
    for (double f = 1.0; f < 24000.0; f *= 1.02) {
      const double is_db = magnitude_db (linear, f, 48000.0);
      const TfxComplex other = plain_response (minimum, f, 48000.0).h;
      const double gain = pow (10.0, is_db / 20.0);

      peak = fmax (peak, gain);
      error = fmax (error, fabs (gain - hypot (other.re, other.im)));
      tap_many_check (&follow,
          is_db >= low - 1e-3 && is_db <= high + 1e-3 &&
              (f < 20.0 || f > 20000.0 ||
                  fabs (is_db - drawn_db (d, f)) <= d->bound_db),
          "[%s]: %.3f dB at %.1f Hz, not %.3f", d->points, is_db, f,
          drawn_db (d, f));
    }
    worst = fmax (worst, error / peak);
    /* Of all filters with a magnitude the minimum-phase one has the most energy in
     * its first taps, however many they are. */
    for (size_t i = 0; i < n; i++) {
      const double *x = a->u.fir.taps, *y = b->u.fir.taps;

      is_symmetric = is_symmetric && x[i] == x[n - 1 - i];
      late += x[i] * x[i] - y[i] * y[i];
      is_early = is_early && late <= 1e-5 * peak * peak;
    }
    tap_many_check (&linear_phase,
        is_symmetric && n == d->n_taps &&
            tfx_chain_latency (linear) == (n - 1) / 2,
        "[%s]: %zu taps, latency %zu", d->points, n,
        tfx_chain_latency (linear));
    tap_many_check (&minimum_phase,
        error <= 1e-5 * peak && is_early && b->u.fir.n_taps == n &&
            tfx_chain_latency (minimum) == 0,
        "[%s]: %.1f dB, %s, %zu taps", d->points, 20.0 * log10 (error / peak),
        is_early ? "early" : "late", b->u.fir.n_taps);
    tfx_chain_unref (&linear);
    tfx_chain_unref (&minimum);
  }
  tap_diag ("the magnitudes differ by %.1f dB of the peak", 20 * log10 (worst));
  tap_many_end (&follow);
  tap_many_end (&linear_phase);
  tap_many_end (&minimum_phase);
}

/* Mixed phase: the mean of the others, h^2 = linear minimum, without their latency.  The
 * gain is in the range of the curve. */
static void
test_mixed (void)
{
  static const Drawn smooth = { "[60, 6], [800, 0], [9000, -4]", "", 3, 9601,
    { 60, 6, 800, 0, 9000, -4 }, 0.1 };
  TfxChain *linear = build_drawn (&smooth, "linear");
  TfxChain *minimum = build_drawn (&smooth, "minimum");
  TfxChain *mixed = build_drawn (&smooth, "mixed");
  TapMany many = tap_many ("mixed phase: half the latency, no gain beyond");
  double worst = 0.0, turn = 0.0;

  for (double f = 30.0; f < 20000.0; f *= 1.02) {
    const TfxComplex a = tfx_chain_response_at (linear, 0, f, 48000.0);
    const TfxComplex b = tfx_chain_response_at (minimum, 0, f, 48000.0);
    const TfxComplex h = tfx_chain_response_at (mixed, 0, f, 48000.0);
    const double re = a.re * b.re - a.im * b.im;
    const double im = a.re * b.im + a.im * b.re;

    worst = fmax (worst,
        hypot (h.re * h.re - h.im * h.im - re, 2.0 * h.re * h.im - im) /
            hypot (re, im));
    turn = fmax (turn, fabs (atan2 (im, re)));
  }
  tap_check (worst < 0.02 && turn > 0.3,
      "the phase is a mean to %.4f, of up to %.2f", worst, turn);
  for (size_t k = 0; k < sizeof drawns / sizeof *drawns; k++) {
    const Drawn *d = &drawns[k];
    TfxChain *chain = build_drawn (d, "mixed");
    double low = d->point[1], high = low, least = INFINITY, most = -INFINITY;

    for (size_t i = 1; i < d->n_points; i++) {
      low = fmin (low, d->point[2 * i + 1]);
      high = fmax (high, d->point[2 * i + 1]);
    }
    for (double f = 1.0; f < 24000.0; f *= 1.02) {
      least = fmin (least, magnitude_db (chain, f, 48000.0));
      most = fmax (most, magnitude_db (chain, f, 48000.0));
    }
    tap_many_check (&many,
        least >= low - 1e-3 && most <= high + 1e-3 &&
            chain->stages[0]->u.fir.n_taps == d->n_taps &&
            tfx_chain_latency (chain) == ((d->n_taps - 1) / 2 | 1) / 2,
        "[%s]: %.3f to %.3f dB, latency %zu", d->points, least, most,
        tfx_chain_latency (chain));
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
  tfx_chain_unref (&linear);
  tfx_chain_unref (&minimum);
  tfx_chain_unref (&mixed);
}

/* Without a number of taps there is one for each 5 Hz, at any rate. */
static void
test_drawn_rates (void)
{
  static const struct
  {
    double rate_hz;
    size_t n_taps;
  } rates[] = { { 8000.0, 1601 }, { 44100.0, 8821 }, { 48000.0, 9601 },
    { 192000.0, 38401 }, { 768000.0, 131071 } };

  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    TfxChain *chain =
        test_build_at ("Curve([[100, -3], [1000, 0]])", rates[i].rate_hz, 1);
    const size_t n = chain->stages[0]->u.fir.n_taps;

    tap_check (n == rates[i].n_taps, "at %g Hz %zu taps", rates[i].rate_hz, n);
    tfx_chain_unref (&chain);
  }
}

/* ---- LoudnessContour ---------------------------------------------------------------- */

/* At 48000 Hz: the formula at each frequency of the standard, and values of its annex B,
 * which are rounded to 0.1 dB. */
static void
test_contour (void)
{
  static const struct
  {
    double phon, reference, freq_hz, gain_db;
  } published[] = {
    { 40, 80, 20, (99.7 - 40) - (118.9 - 80) },
    { 20, 80, 20, (89.5 - 20) - (118.9 - 80) },
    { 90, 80, 20, (123.6 - 90) - (118.9 - 80) },
    { 20, 80, 12500, (33.0 - 20) - (85.6 - 80) },
    { 40, 90, 4000, (36.7 - 40) - (88.8 - 90) },
    { 20, 90, 1000, 0.0 },
  };
  static const struct
  {
    double phon, reference;
    const char *taps;
    double bound_db, bound_20_db; /* from 25 Hz on, and at 20 Hz */
  } levels[] = {
    { 40, 80, "", 0.11, 0.5 },
    { 60, 80, "", 0.05, 0.25 },
    { 90, 70, "", 0.05, 0.25 },
    { 40, 80, ", taps=24001", 0.025, 0.25 },
  };
  TapMany values = tap_many ("values of ISO 226:2023, annex B");
  TapMany follow = tap_many ("the contours are followed");
  double worst = 0.0;

  for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
    double points[2 * TFX_EQUAL_LOUDNESS_POINTS];

    tfx_equal_loudness_points (published[i].phon, published[i].reference,
        points);
    for (unsigned k = 0; k < TFX_EQUAL_LOUDNESS_POINTS; k++) {
      if (points[2 * k] == published[i].freq_hz)
        tap_many_check (&values,
            fabs (points[2 * k + 1] - published[i].gain_db) < 0.101,
            "%g phon at %g Hz: %.3f, not %.1f dB", published[i].phon,
            published[i].freq_hz, points[2 * k + 1], published[i].gain_db);
    }
  }
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    double points[2 * TFX_EQUAL_LOUDNESS_POINTS];
    char text[80];
    TfxChain *chain;

    snprintf (text, sizeof text, "LoudnessContour(%g, reference=%g%s)",
        levels[i].phon, levels[i].reference, levels[i].taps);
    chain = test_build (text, 1);
    tfx_equal_loudness_points (levels[i].phon, levels[i].reference, points);
    for (unsigned k = 0; k < TFX_EQUAL_LOUDNESS_POINTS; k++) {
      const double *p = points + 2 * k;
      const double error = fabs (magnitude_db (chain, p[0], 48000.0) - p[1]);

      worst = fmax (worst, error);
      tap_many_check (&follow,
          error < (k == 0 ? levels[i].bound_20_db : levels[i].bound_db) &&
              tfx_chain_latency (chain) == 0,
          "%s: %.3f dB off at %g Hz", text, error, p[0]);
    }
    tfx_chain_unref (&chain);
  }
  tap_diag ("at most %.3f dB off", worst);
  tap_many_end (&values);
  tap_many_end (&follow);
}

/* ---- another phase ------------------------------------------------------------------ */

#define MAX_KERNEL 24000

/* Its taps and a bound for the magnitude in dB of its peak. */
typedef struct Kernel
{
  const char *name;
  size_t n;
  double decay; /* per tap, of noise; 0: one of the others */
  double bound_db;
} Kernel;

static const Kernel kernels[] = {
  { "a room", 24000, 3e-4, -140.0 },
  { "a short room", 9000, 3e-3, -140.0 },
  { "noise without decay", 3000, 1e-12, -140.0 },
  { "a room without 0 Hz", 6001, 1e-3, -140.0 },
  /* With zeros on the circle, simple, double and fourfold. */
  { "a comb", 1001, 0.0, -140.0 },
  { "a mean", 64, 0.0, -140.0 },
  { "a triangle", 127, 0.0, -120.0 },
  { "fourth difference", 5, 0.0, -120.0 },
  { "a delay", 300, 0.0, -140.0 },
  { "one tap", 1, 0.0, -140.0 },
};

static void
make_kernel (const Kernel *k, double *taps)
{
  static const double difference[] = { 1, -4, 6, -4, 1 };
  double sum = 0.0;
  unsigned seed = 1;

  for (size_t i = 0; i < k->n; i++) {
    double noise = -6.0;

    for (int turn = 0; turn < 12; turn++) {
      seed = seed * 1664525u + 1013904223u;
      noise += (double)(seed >> 8) / (1 << 24);
    }
    taps[i] = k->decay > 0.0 ? noise * exp (-k->decay * (double)i)
              : k->n == 1001 ? (i == 0 || i == 1000)
              : k->n == 64   ? 1.0 / 64.0
              : k->n == 127  ? fmin ((double)i + 1.0, 127.0 - (double)i)
              : k->n == 5    ? difference[i]
              : k->n == 300  ? -2.0 * (i == 100)
                             : 0.5;
    sum += taps[i];
  }
  for (size_t i = 0; i < k->n && strstr (k->name, "0 Hz"); i++)
    taps[i] -= sum / (double)k->n;
}

/* The magnitude of a plain sum at w, in radians per sample. */
static double
sum_taps (const double *taps, size_t n, double w)
{
  const double re_step = cos (w), im_step = -sin (w);
  double re = 0.0, im = 0.0;

  /* Horner's rule. */
  for (size_t i = n; i-- > 0;) {
    const double other = re * re_step - im * im_step + taps[i];

    im = re * im_step + im * re_step;
    re = other;
  }
  return hypot (re, im);
}

/* At angles that no transform has; near the zeros of a comb too. */
#define N_ANGLES 500

static void
test_minimum (void)
{
  static double taps[MAX_KERNEL];
  TapMany same = tap_many ("minimum phase: the magnitude of any kernel");
  TapMany early = tap_many ("and no kernel with it has its energy earlier");

  for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
    const size_t n = kernels[k].n;
    double *made, peak = 0.0, error = 0.0, late = 0.0, energy = 0.0;
    size_t n_made, delay;
    bool is_early = true;
    int code;

    make_kernel (&kernels[k], taps);
    code = tfx_fir_set_phase (TFX_PHASE_MINIMUM, taps, 1, n, &made, &n_made,
        &delay);
    for (int i = 0; i < N_ANGLES && code == 0; i++) {
      const double w = M_PI * pow (((double)i + 0.37) / N_ANGLES, 2.0);
      const double gain = sum_taps (taps, n, w);

      peak = fmax (peak, gain);
      error = fmax (error, fabs (sum_taps (made, n, w) - gain));
    }
    for (size_t i = 0; i < n && code == 0; i++) {
      energy += taps[i] * taps[i];
      late += taps[i] * taps[i] - made[i] * made[i];
      is_early = is_early && late <= 1e-9 * energy + 1e-9 * peak * peak;
    }
    error = 20.0 * log10 (error / peak);
    tap_diag ("%s: %.0f dB", kernels[k].name, error);
    tap_many_check (&same,
        code == 0 && n_made == n && delay == 0 && error <= kernels[k].bound_db,
        "%s: code %d, %.1f dB of the peak", kernels[k].name, code, error);
    tap_many_check (&early,
        code == 0 && is_early && fabs (late) <= 1e-6 * energy, "%s: late by %g",
        kernels[k].name, late / energy);
    if (code == 0)
      free (made);
  }
  tap_many_end (&same);
  tap_many_end (&early);
}

/* A linear phase is symmetric, and delayed by its middle; notches of no width are
 * refused. */
static void
test_linear (void)
{
  static double taps[2 * 1001];
  double *made, peak = 0.0, error = 0.0;
  size_t n_made, delay;
  bool is_symmetric = true;
  int code;

  for (size_t i = 0; i < 1001; i++) {
    taps[i] = (i == 3 ? -1.0 : 0.1 * sin ((double)i)) *
              exp (-0.03 * (double)i) * (i < 3 ? 0.1 : 1.0);
    taps[1001 + i] = i == 500;
  }
  code = tfx_fir_set_phase (TFX_PHASE_LINEAR, taps, 2, 1001, &made, &n_made,
      &delay);
  tap_check (code == 0 && n_made == 2001 && delay == 1000,
      "two kernels: code %d, %zu taps, delay %zu", code, n_made, delay);
  if (code == 0) {
    for (size_t i = 0; i < n_made; i++)
      is_symmetric = is_symmetric && made[i] == made[n_made - 1 - i];
    for (int i = 0; i < N_ANGLES; i++) {
      const double w = M_PI * ((double)i + 0.37) / N_ANGLES;
      const double gain = sum_taps (taps, 1001, w);

      peak = fmax (peak, gain);
      error = fmax (error, fabs (sum_taps (made, n_made, w) - gain));
    }
    tap_check (is_symmetric && error <= 1e-5 * peak,
        "symmetric, the magnitude to %.0f dB", 20.0 * log10 (error / peak));
    free (made);
  }
  code = tfx_fir_set_phase (TFX_PHASE_LINEAR, taps + 1001, 1, 1001, &made,
      &n_made, &delay);
  tap_check (code == 0 && n_made == 1001 && delay == 500 && made[500] == 1.0,
      "a symmetric one is kept");
  free (made);
}

/* Neither a room's notches nor a million taps and one. */
static void
test_no_phase (void)
{
  static double taps[MAX_KERNEL];
  double *made = NULL;
  size_t n_made, delay;
  int code;

  make_kernel (&kernels[2], taps);
  code = tfx_fir_set_phase (TFX_PHASE_LINEAR, taps, 1, kernels[2].n, &made,
      &n_made, &delay);
  tap_check (code == -ERANGE && !made, "linear phase of noise: code %d", code);
  code = tfx_fir_set_phase (TFX_PHASE_MINIMUM, taps, 1,
      (size_t)TFX_PHASE_MAX_TAPS + 1, &made, &n_made, &delay);
  tap_check (code == -E2BIG && !made, "too many taps: code %d", code);
}

static const TapTest tests[] = {
  { "standards", test_standards },
  { "k", test_k },
  { "graphic", test_graphic },
  { "drawn", test_drawn },
  { "mixed", test_mixed },
  { "drawn-rates", test_drawn_rates },
  { "contour", test_contour },
  { "minimum", test_minimum },
  { "linear", test_linear },
  { "no-phase", test_no_phase },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
