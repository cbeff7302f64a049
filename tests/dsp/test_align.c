/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_align.c: Align against the ideal delay, its units, and the FIR filters and
 * delays of branches in time with each other.
 */
#include "common.h"
#include "core/stage.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N_FRAMES 800

/* The error of a fractional delay to 0.45 of the rate, and its latency: delays from 0
 * to 80 samples, and a long one. */
static void
test_fractions (void)
{
  TapMany many = tap_many ("fractions of a sample to -110 dB, to 0.45 rate");
  double worst = 0.0;

  for (unsigned i = 0; i <= 160; i++) {
    const double delay = i == 160 ? 12345.678 : 0.5 * i + 0.0031 * (i % 97);
    char text[80];
    TfxChain *chain;

    snprintf (text, sizeof text, "Align(%.10g, 'samples')", delay);
    chain = test_build (text, 1);
    tap_many_check (&many,
        tfx_chain_latency (chain) ==
            (delay < 40.0 && delay != floor (delay) ? 40 : 0),
        "%g samples: latency %zu", delay, tfx_chain_latency (chain));
    for (double f = 0.0; f <= 0.45; f += 0.005) {
      const TfxComplex h = tfx_chain_response_at (chain, 0, f, 1.0);
      const double error =
          cabs (h.re + I * h.im - cexp (-2.0 * I * M_PI * f * delay));

      worst = fmax (worst, error);
      tap_many_check (&many, error < pow (10.0, -110.0 / 20.0),
          "%g samples at %g: %.1f dB", delay, f, 20.0 * log10 (error));
    }
    tfx_chain_unref (&chain);
  }
  tap_diag ("the largest error is %.1f dB", 20.0 * log10 (worst));
  tap_many_end (&many);
}

/* At 48000 Hz. */
static void
test_units (void)
{
  static const struct
  {
    const char *text;
    double samples;
    size_t latency;
    bool is_line; /* a delay line, no FIR */
  } cases[] = {
    { "Align(2.5)", 120.0, 0, true },
    { "Align(2.5, unit='ms')", 120.0, 0, true },
    { "Align(343, 'm')", 48000.0, 0, true },
    { "Align(1, 'm')", 48000.0 / 343.0, 0, false },
    { "Align(10, unit='ft')", 3.048 * 48000.0 / 343.0, 0, false },
    { "Align(0.05, 'm')", 0.05 * 48000.0 / 343.0, 40, false },
    { "Align(3, 'samples')", 3.0, 0, true },
    /* short and whole: the same latency as a fraction */
    { "Align(0.5, 'ms')", 24.0, 40, false },
    { "Align(0, 'ms')", 0.0, 40, false },
    { "Align(0, 'samples')", 0.0, 0, true },
    { "Align(40, 'samples')", 40.0, 0, true },
    { "Align(0.833333333333333333, 'ms')", 40.0, 0, true },
  };
  TapMany many = tap_many ("units, whole samples and latency");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TfxChain *chain = test_build (cases[i].text, 1);
    /* the phase at a frequency low enough for less than a turn */
    const TfxComplex h = tfx_chain_response_at (chain, 0, 0.4, 48000.0);
    const double samples = -carg (h.re + I * h.im) / (2 * M_PI * 0.4) * 48e3;

    tap_many_check (&many,
        fabs (samples - cases[i].samples) < 1e-3 &&
            tfx_chain_latency (chain) == cases[i].latency &&
            (tfx_stage_fir_peak (chain->stages[0], &(size_t){ 0 }) < 0) ==
                cases[i].is_line,
        "%s: %.6f samples, latency %zu", cases[i].text, samples,
        tfx_chain_latency (chain));
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
}

/* Sums, or channels: the frame of the largest sample in each of two channels. */
static void
test_branches (void)
{
  static const struct
  {
    const char *text;
    size_t latency, peaks[2];
  } cases[] = {
    /* FIR filters of other lengths are in time, and so is the rest. */
    { "ch[0]: FIR([0, 0, 0, 1, 0.5], delay='peak'); ch[1]: Gain(1)", 3,
        { 3, 3 } },
    { "ch[0]: DesignableFIR(500, 255, delay='peak'); ch[1]: "
      "DesignableFIR(500, 101, pass_zero=False, delay='peak')",
        127, { 127, 127 } },
    { "ch[0]: DesignableFIR(500, 255, delay='peak')", 127, { 127, 127 } },
    { "ch[1]: Curve([[100, 0], [1000, -20]], taps=101) | Limiter(20, 0.001)",
        98, { 98, 98 } },
    /* An alignment stays; its latency does not. */
    { "ch[0]: Align(10, 'samples'); ch[1]: Gain(1)", 0, { 10, 0 } },
    { "ch[0]: Align(10.01, 'samples'); ch[1]: Gain(1)", 40, { 50, 40 } },
    { "ch[0]: DesignableFIR(500, 255, delay='peak') | Align(1, 'ms'); ch[1]: "
      "DesignableFIR(500, 101, pass_zero=False, delay='peak')",
        127, { 175, 127 } },
    { "DesignableFIR(500, 255, delay='peak') | Gain(2)", 127, { 127, 127 } },
    { "DesignableFIR(500, 255) | Gain(2)", 0, { 127, 127 } },
    { "DesignableFIR(500, 255, delay=100)", 100, { 127, 127 } },
  };
  TapMany many = tap_many ("branches with FIR filters stay in time");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double x[2 * N_FRAMES] = { 1.0, 1.0 };
    TfxChain *chain = test_build (cases[i].text, 2);
    const size_t latency = tfx_chain_latency (chain);
    TestFilter *filter = test_filter_start_chain (chain, 2, NULL);
    size_t peaks[2] = { 0, 0 };

    test_filter_pieces (filter, x, 2, N_FRAMES, 100, 0, NULL);
    for (size_t k = 0; k < 2 * N_FRAMES; k++) {
      if (fabs (x[k]) > fabs (x[2 * peaks[k % 2] + k % 2]))
        peaks[k % 2] = k / 2;
    }
    tap_many_check (&many,
        latency == cases[i].latency && peaks[0] == cases[i].peaks[0] &&
            peaks[1] == cases[i].peaks[1],
        "%s: latency %zu, peaks at %zu and %zu", cases[i].text, latency,
        peaks[0], peaks[1]);
    test_filter_free (&filter);
  }
  tap_many_end (&many);
}

/* Ways of an active loudspeaker, each with its FIR filter: their sum is the input,
 * later.  The low-pass and the high-pass of one window add up to 1. */
static void
test_crossover (void)
{
  TfxChain *chain =
      test_build ("Mix([[1], [1]]) | (ch[0]: DesignableFIR(800, 401, "
                  "window='hann', "
                  "delay='peak'); ch[1]: (Gain(1) + (DesignableFIR(800, 401, "
                  "window='hann', delay='peak') | Gain(-1)))) | Mix([[1, 1]])",
          1);
  TestFilter *filter;
  double *x = test_alloc_f64 (2 * N_FRAMES), *want, error = 0.0;

  tap_check (tfx_chain_latency (chain) == 200, "latency %zu",
      tfx_chain_latency (chain));
  test_noise_f64 (x, 2 * N_FRAMES);
  want = test_copy_f64 (x, 2 * N_FRAMES);
  filter = test_filter_start_chain (chain, 2, NULL);
  test_filter_pieces (filter, x, 2, N_FRAMES, 97, 0, NULL);
  for (size_t i = 200; i < N_FRAMES; i++)
    error = fmax (error, fabs (x[2 * i] - want[2 * (i - 200)]));
  tap_check (error < 1e-13, "the ways of a crossover add up: %g", error);
  test_filter_free (&filter);
  free (x);
  free (want);
}

static const TapTest tests[] = {
  { "fractions", test_fractions },
  { "units", test_units },
  { "branches", test_branches },
  { "crossover", test_crossover },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
