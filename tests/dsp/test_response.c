/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_response.c: frequency response and group delay of sections, against
 * quadruple precision, against SciPy, and against each other; and of chains.
 */
#include "common.h"
#include "factor.h"
#include "golden.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Frequencies from near DC to near half the rate and beyond, as the public
 * function takes any; and around the section's own pole. */
static double
some_frequency (double rate_hz)
{
  switch (tap_random_below (4)) {
    case 0:
      return rate_hz * pow (10, tap_random_uniform (-6, -0.31));
    case 1:
      return rate_hz * (0.5 - pow (10, tap_random_uniform (-6, -0.31)));
    case 2:
      return rate_hz * tap_random_uniform (-2, 2);
    default:
      return rate_hz * tap_random_uniform (0, 0.5);
  }
}

static void
test_direct (void)
{
  TapMany many = tap_many ("tfx_response_at() against direct evaluation");
  TapMany delays = tap_many ("tfx_response_group_delay() against its formula");
  double closest = 0, closest_delay = 0;
  TfxSos sos[32];

  for (unsigned i = 0; i < (part_is_wanted () ? 4000 : 20000); i++) {
    size_t n = 1 + tap_random_below (32);
    double radius = 1 - pow (10, tap_random_uniform (-8, 0));
    double rate = tap_random_uniform (8000, 384000);
    double freq = some_frequency (rate), delay, error, bound;
    const TestAngle w = test_angle (freq, rate);
    const double move = 4 * TEST_UNIT * fabs ((double)w.w);
    TestQuad wanted = 0;
    TfxComplex h;

    for (size_t k = 0; k < n; k++)
      sos[k] = test_random_section (radius);
    h = tfx_response_at (sos, n, freq, rate);
    error = test_complex_distance ((TestQuadComplex){ h.re, h.im },
        test_response_quad (sos, n, freq, rate));
    bound = test_response_bound (sos, n, freq, rate);
    closest = fmax (closest, error / bound);
    tap_many_check (&many, error <= bound,
        "%zu sections at %.17g Hz of %.17g: %.3g off, bound %.3g", n, freq,
        rate, error, bound);
    bound = 0;
    /* slope = Im (F' conj F) / |F|^2: an error e of F / |F| is one of up to
     * 3 e |F'| / |F| of the slope. */
    for (size_t k = 0; k < 2 * n; k++) {
      const TfxSos *s = &sos[k / 2];
      const double c[3] = { k % 2 ? s->b0 : 1, k % 2 ? s->b1 : s->a1,
        k % 2 ? s->b2 : s->a2 };
      const TestFactor f = test_factor_at (c[0], c[1], c[2], &w);
      const double steep = test_factor_steepness (&f);

      wanted += k % 2 ? -test_factor_slope (&f) : test_factor_slope (&f);
      bound += 3 *
               (test_factor_error (c[0], c[1], c[2], &f) + move * steep +
                   8 * TEST_UNIT) *
               (steep + 1);
    }
    delay = tfx_response_group_delay (sos, n, freq, rate);
    error = fabs ((double)(delay - wanted));
    closest_delay = fmax (closest_delay, error / bound);
    tap_many_check (&delays, error <= bound,
        "%zu sections at %.17g Hz of %.17g: %.17g samples, %.3g off, bound "
        "%.3g",
        n, freq, rate, delay, error, bound);
  }
  tap_diag ("the largest errors are %.2g and %.2g of their bounds", closest,
      closest_delay);
  tap_many_end (&many);
  tap_many_end (&delays);
}

/* The evaluation in double costs less than the contract's 1e-9 on top of what
 * test_design.c shows of the sections, even for poles of the highest Q. */
static void
test_response_golden (void)
{
  TapMany many;
  double largest = 0;
  GoldenDesign g;

  if (!TEST_HAVE_QUAD) {
    tap_skip ("no 113-bit arithmetic here", "tfx_response_at() of designs");
    return;
  }
  many = tap_many ("tfx_response_at() of designs is exact to 1e-9");
  while (golden_next ("designs.txt", &g)) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    int n = tfx_design_sections (&g.design, g.rate_hz, sos);
    double worst = 0;

    if (!tap_many_check (&many, n > 0, "%s: refused", g.text))
      continue;
    for (size_t i = 0; i < g.n_points; i++) {
      const GoldenPoint *p = &g.points[i];
      TfxComplex h = tfx_response_at (sos, (size_t)n, p->freq_hz, g.rate_hz);
      TestQuadComplex own =
          test_response_quad (sos, (size_t)n, p->freq_hz, g.rate_hz);

      worst = test_worse (worst,
          test_complex_distance ((TestQuadComplex){ h.re, h.im }, own));
    }
    tap_many_check (&many, worst <= 1e-9,
        "%s: evaluation %.3g off; sosfreqz %.3g", g.text, worst,
        g.sosfreqz_error);
    largest = fmax (largest, worst);
  }
  tap_diag ("the largest error of the evaluation: %.2g", largest);
  tap_many_end (&many);
}

/* The delay is what its name says: the phase of tfx_response_at() falls by it.
 * Central differences of second order, h = 1e-4 of the distance over which the
 * response changes: error about h^2 = 1e-8, and rounding 1e-16 / h. */
static void
test_delay_is_slope (void)
{
  TapMany many = tap_many ("group delay against the slope of the phase");

  for (unsigned i = 0; i < 5000; i++) {
    size_t n = 1 + tap_random_below (16);
    double rate = 48000, freq = tap_random_uniform (10, 23990);
    double step = 1e-4 * rate / (2 * M_PI) * 0.1, delay, slope;
    TfxSos sos[16];
    TfxComplex lower, upper;

    for (size_t k = 0; k < n; k++)
      sos[k] = test_random_section (0.9);
    for (size_t k = 0; k < n; k++) {
      /* Zeros inside the circle also, so that no phase jumps. */
      sos[k].b1 *= 0.9;
      sos[k].b2 *= 0.81;
    }
    lower = tfx_response_at (sos, n, freq - step, rate);
    upper = tfx_response_at (sos, n, freq + step, rate);
    slope = -atan2 (upper.im * lower.re - upper.re * lower.im,
                upper.re * lower.re + upper.im * lower.im) /
            (2 * step * 2 * M_PI / rate);
    delay = tfx_response_group_delay (sos, n, freq, rate);
    tap_many_check (&many, fabs (delay - slope) <= 1e-5 * (fabs (delay) + n),
        "%zu sections at %.17g Hz: delay %.12g, slope %.12g", n, freq, delay,
        slope);
  }
  tap_many_end (&many);
}

/* To 1e-9, or to the error of SciPy's own delay where that is larger: the
 * delay near a pole of high Q feels the rounding of the coefficients more than
 * the response does. */
static void
test_delay_golden (void)
{
  TapMany many = tap_many ("group delay of designs agrees with SciPy to 1e-9");
  unsigned n_scipy = 0;
  GoldenDesign g;

  while (golden_next ("designs.txt", &g)) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    int n = tfx_design_sections (&g.design, g.rate_hz, sos);
    double ours = 0, theirs = 0;

    for (size_t i = 0; n > 0 && i < g.n_delays; i++) {
      const GoldenDelay *p = &g.delays[i];
      double delay =
          tfx_response_group_delay (sos, (size_t)n, p->freq_hz, g.rate_hz);
      ours = fmax (ours, fabs (delay / p->exact - 1));
      theirs = fmax (theirs, fabs (p->scipy / p->exact - 1));
      if (isnan (delay))
        ours = INFINITY;
    }
    if (!g.n_delays)
      continue;
    n_scipy += theirs > 1e-9;
    tap_many_check (&many, n > 0 && ours <= fmax (1e-9, theirs),
        "%s: %.3g off, SciPy %.3g", g.text, ours, theirs);
  }
  tap_diag ("SciPy's own delay misses 1e-9 in %u designs", n_scipy);
  tap_many_end (&many);
}

static void
test_known_values (void)
{
  static const TfxSos half = { 0.5, 0.5, 0, 0, 0 }, delay = { 0, 0, 1, 0, 0 };
  static const struct
  {
    const char *name;
    double freq_hz, re, im;
  } cases[] = {
    { "at DC", 0, 1, 0 },
    { "at half the rate", 24000, 0, 0 },
    { "at a quarter of the rate", 12000, 0.5, -0.5 },
    { "at a negative frequency", -12000, 0.5, 0.5 },
    { "one rate higher", 60000, 0.5, -0.5 },
  };
  TfxComplex h = tfx_response_at (NULL, 0, 1000, 48000);

  tap_check (h.re == 1 && h.im == 0 &&
                 tfx_response_group_delay (NULL, 0, 1000, 48000) == 0,
      "no section: 1, and no delay");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    h = tfx_response_at (&half, 1, cases[i].freq_hz, 48000);
    tap_check (hypot (h.re - cases[i].re, h.im - cases[i].im) < 1e-14,
        "mean of two samples %s", cases[i].name);
  }
  tap_check (fabs (tfx_response_group_delay (&half, 1, 5000, 48000) - 0.5) <
                 1e-15,
      "mean of two: half a sample of delay");
  tap_check (fabs (tfx_response_group_delay (&delay, 1, 5000, 48000) - 2) <
                 1e-15,
      "z^-2: two samples of delay");
}

/* ---- chains ---------------------------------------------------------------------- */

#define N_IMPULSE 32768

/* The chain's impulse response from a channel to another, without its latency. */
static double *
find_impulse_response (TfxChain *chain, unsigned n_channels, unsigned from,
    unsigned to)
{
  const size_t latency = tfx_chain_latency (chain);
  TestFilter *row =
      test_filter_start_chain (tfx_chain_ref (chain), n_channels, NULL);
  double *x = calloc (N_IMPULSE * n_channels, sizeof *x);

  x[from] = 1;
  if (test_filter_f64 (row, x, n_channels, N_IMPULSE) < 0)
    x[0] = NAN;
  for (size_t i = 0; i < N_IMPULSE; i++)
    x[i] = i + latency < N_IMPULSE ? x[(i + latency) * n_channels + to] : 0;
  test_filter_free (&row);
  return x;
}

static void
check_chain (TapMany *many, const char *text, unsigned n_channels)
{
  TfxChain *chain = test_build (text, n_channels);

  for (unsigned pair = 0; pair < n_channels * n_channels; pair++) {
    const unsigned c = pair / n_channels, to = pair % n_channels;
    double *h = find_impulse_response (chain, n_channels, c, to);

    for (double f = 20; f < 24000; f *= 1.3) {
      TfxComplex all[TFX_MIX_MAX_CHANNELS] = { { 0, 0 } }, found;
      double re = 0, im = 0;

      all[c].re = 1;
      tfx_chain_spread (chain, all, f, 48000);
      found = c == to ? tfx_chain_response_at (chain, c, f, 48000) : all[to];
      tap_many_check (many, found.re == all[to].re && found.im == all[to].im,
          "%s, channel %u at %g Hz: the same by itself", text, c, f);
      for (size_t i = 0; i < N_IMPULSE; i++) {
        const double w = 2 * M_PI * fmod (f * (double)i, 48000) / 48000;

        if (h[i] == 0)
          continue;
        re += h[i] * cos (w);
        im -= h[i] * sin (w);
      }
      tap_many_check (many, hypot (found.re - re, found.im - im) < 1e-9,
          "%s, channel %u to %u at %g Hz: %g%+gj, measured %g%+gj", text, c, to,
          f, found.re, found.im, re, im);
    }
    free (h);
  }
  tfx_chain_unref (&chain);
}

/* The response of a chain is that of its output: also by way of other channels, and
 * next to a branch with look-ahead. */
static void
test_chains (void)
{
  static const struct
  {
    const char *text;
    unsigned n_channels;
  } chains[] = {
    { "HiButterworth(80) | (LoChebyshev1(5000) + Gain(-0.5) | FIR([0, 1]))",
        1 },
    { "Mix([[0.5, 0.5], [0.5, -0.5]]) | (ch[1]: HiButterworth(200)) | "
      "Mix([[1, 1], [1, -1]])",
        2 },
    { "Delay(100, strategy='ping-pong', taps=2, mix=0.5) | "
      "Delay(300, strategy='ping-pong', taps=3, mix=0.7)",
        2 },
    { "Mix([[0, 1, 0], [0, 0, 1], [1, 0, 0]]) | (Gain(1) + "
      "Mix([[0, 0.5, 0], [1, 0, 1], [0, 0.5, 1]])) | "
      "(ch[0, 2]: Mix([[1, 1], [2, 1]]))",
        3 },
    { "Limiter(40) + Gain(1)", 1 },
    { "(ch[0]: Limiter(40) | Gain(2); ch[2]: LoButterworth(1000)) | "
      "(Limiter(40) + LoButterworth(300))",
        3 },
  };
  TapMany many = tap_many ("as the impulse response");

  for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
    check_chain (&many, chains[i].text, chains[i].n_channels);
  tap_many_end (&many);
}

/* As that of its sections, also deep in the stop band. */
static void
test_chain_delay (void)
{
  const TfxDesign design = { .family = TFX_FAMILY_BUTTERWORTH,
    .mode = TFX_MODE_HIGH_PASS,
    .order = 64,
    .lower_hz = 20000 };
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const int n = tfx_design_sections (&design, 48000, sos);
  TfxChain *chain =
      test_chain_of_one (tfx_stage_new_sections (1, sos, (size_t)n));

  for (double f = 20; f < 24000; f *= 3) {
    const double found = tfx_chain_group_delay_at (chain, 0, f, 48000);
    const double wanted = tfx_response_group_delay (sos, (size_t)n, f, 48000);

    tap_check (fabs (found - wanted) < 1e-5 * wanted,
        "at %g Hz: %.9g frames, %.9g of the sections", f, found, wanted);
  }
  tfx_chain_unref (&chain);
}

/* The group delay at a zero is that of the frequencies next to it. */
static void
test_delay_at_zeros (void)
{
  static const struct
  {
    const char *text;
    double freq_hz;
  } zeros[] = {
    { "Notch(1000, 1)", 1000 },
    { "Hum(50)", 50 },
    { "Hum(50)", 400 },
    { "Hum(50) | Gain(-2) | HiButterworth(80)", 200 },
    { "LogFilterBank(2, f_min=100, f_max=200) | Notch(300, 30)", 300 },
    { "FIR([1, 0, 0, 0, -1])", 0 },
    { "FIR([1, 0, 0, 0, -1])", 12000 },
    { "FIR([1, 0, 0, 0, -1])", 24000 },
    { "LoButterworth(1000, order=3)", 24000 },
  };
  TapMany many = tap_many ("the delay at a zero is that beside it");

  for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
    const char *text = zeros[i].text;
    const double f = zeros[i].freq_hz;
    TfxChain *chain = test_build (text, 1);
    double at, beside;

    at = tfx_chain_group_delay_at (chain, 0, f, 48000);
    beside = tfx_chain_group_delay_at (chain, 0, f + 0.004, 48000);
    tap_many_check (&many, fabs (at - beside) < 1e-2 * fabs (beside),
        "%s at %g Hz: %g frames, beside it %g", text, f, at, beside);
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
}

/* Between channels the delay is that of the taps; without a path it is 0. */
static void
test_delay_between (void)
{
  TfxChain *chain =
      test_build ("Mix([[0, 1], [1, 0]]) | (ch[1]: FIR([0, 0, 1]))", 2);

  tap_check (fabs (tfx_chain_group_delay_between (chain, 0, 1, 1000, 48000) -
                   2) < 1e-6,
      "from 0 to 1: two samples");
  tap_check (fabs (tfx_chain_group_delay_between (chain, 1, 0, 1000, 48000)) <
                 1e-6,
      "from 1 to 0: none");
  tap_check (tfx_chain_group_delay_at (chain, 0, 1000, 48000) == 0,
      "from 0 to 0 nothing passes");
  tfx_chain_unref (&chain);
}

static bool
has_resonance (const double *freq_hz, size_t n, double wanted_hz)
{
  for (size_t i = 0; i < n; i++) {
    if (fabs (freq_hz[i] - wanted_hz) < 1e-6 * wanted_hz)
      return true;
  }
  return false;
}

/* The zeros of all notches, those within branches too; real poles and zeros are none. */
static void
test_resonances (void)
{
  TfxChain *chain = test_build ("Hum(50) | (ch[1]: Notch(1000, 30)) | "
                                "(Gain(1) + Notch(3000, 5) | Gain(2))",
      2);
  double freq_hz[64];
  size_t n = tfx_chain_resonances (chain, 48000, freq_hz, 64);

  tap_check (n == 20, "two for each of ten notches: %zu", n);
  for (int k = 1; k <= 8; k++)
    tap_check (has_resonance (freq_hz, n, 50 * k), "a zero at %d Hz", 50 * k);
  tap_check (has_resonance (freq_hz, n, 1000), "within ch[1]");
  tap_check (has_resonance (freq_hz, n, 3000), "within a sum");
  freq_hz[3] = -1;
  tap_check (tfx_chain_resonances (chain, 48000, freq_hz, 3) == 20 &&
                 freq_hz[3] == -1,
      "no more than there is room for");
  tfx_chain_unref (&chain);
  chain = test_build ("LoButterworth(1000, order=1) | Gain(2)", 1);
  tap_check (tfx_chain_resonances (chain, 48000, freq_hz, 64) == 0,
      "none of the first order");
  tfx_chain_unref (&chain);
}

static void
test_memory (void)
{
  static const struct
  {
    const char *text;
    size_t n_frames;
  } memories[] = {
    { "Hum(50) | Limiter(-1)", 0 },
    { "Gain(1) + (FIR([1, 2, 3, 4]) | Echo(300))", 300 },
    { "ch[0]: DesignableFIR(1000, 501)", 500 },
    { "Curve([[20, -3], [100, 2]])", 9600 },
  };

  for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) {
    TfxChain *chain = test_build (memories[i].text, 1);
    const size_t n = tfx_chain_memory (chain);

    tap_check (n == memories[i].n_frames, "%s: %zu frames", memories[i].text,
        n);
    tfx_chain_unref (&chain);
  }
}

static void
test_fir_peak (void)
{
  static const double left[] = { 0, 1, -3, 2 }, right[] = { 0, 4, 0, 0 };
  const double *kernels[] = { left, right };
  TfxStage *stage = tfx_stage_new_fir (1, kernels, 1, 4, TFX_FIR_AUTO);
  size_t frame = 9;

  tap_check (tfx_stage_fir_peak (stage, &frame) == 0 && frame == 2,
      "of one kernel");
  tfx_stage_unref (&stage);
  stage = tfx_stage_new_fir (1, kernels, 2, 4, TFX_FIR_AUTO);
  tap_check (tfx_stage_fir_peak (stage, &frame) == 0 && frame == 1,
      "of the larger one of two");
  tfx_stage_unref (&stage);
  stage = tfx_stage_new_gain (1, 2);
  tap_check (tfx_stage_fir_peak (stage, &frame) == -ENOENT, "a gain has none");
  tfx_stage_unref (&stage);
}

static const TapTest tests[] = {
  { "fir-peak", test_fir_peak },
  { "delay-between", test_delay_between },
  { "resonances", test_resonances },
  { "memory", test_memory },
  { "chain-delay", test_chain_delay },
  { "delay-at-zeros", test_delay_at_zeros },
  { "chains", test_chains },
  { "known-values", test_known_values },
  { "direct", test_direct },
  { "response-golden", test_response_golden },
  { "delay-is-slope", test_delay_is_slope },
  { "delay-golden", test_delay_golden },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
