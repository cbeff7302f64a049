/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_key.c: dynamics whose level is that of key channels, or of a filtered signal. */
#include "common.h"
#include "core/stage.h"
#include "jump.h"
#include "lang/expr.h"
#include "levels.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_FRAMES 12000

/* The first stage of a chain. */
static TfxDynamics
dynamics_of (const char *text, unsigned n_channels)
{
  TfxChain *chain = test_build_at (text, RATE, n_channels);
  const TfxDynamics d = chain->stages[0]->u.dynamics;

  tfx_chain_unref (&chain);
  return d;
}

static TfxChain *
chain_for (const TfxDynamics *d)
{
  return test_chain_of_one (tfx_stage_new_dynamics (1, d));
}

/* ---- against the recursion ------------------------------------------------------- */

typedef struct Setting
{
  const char *text, *next; /* of the same structure */
  unsigned n_channels[3];
} Setting;

static const Setting settings[] = {
  { "Compressor(-30, key=[1])", "Compressor(-24, 8, key=[1])", { 2, 3, 9 } },
  { "Compressor(-30, key=[2, 0], detector='rms')",
      "Compressor(-30, key=[0, 2], detector='rms', makeup_gain=6)",
      { 4, 5, 17 } },
  { "Gate(-30, key=[0])", "Gate(-50, key=[0])", { 2, 8, 70 } },
  { "Expander(-20, 3, key=[1], key_filter=HiButterworth(200))",
      "Expander(-20, 3, key=[1], key_filter=HiButterworth(250))", { 2, 3, 4 } },
  { "Compressor(-30, 4, 0, 0, key_filter=Notch(300, 1) | HiShelving1(500, 3))",
      "Compressor(-30, 4, 0, 0, key_filter=Notch(90, 1) | HiShelving1(90, 2))",
      { 1, 3, 8 } },
  { "Compressor(link=True, detector='rms', key_filter=HiButterworth(100, 16))",
      "Compressor(link=True, detector='rms', key_filter=HiButterworth(99, 16))",
      { 1, 2, 5 } },
};
#define N_SETTINGS (sizeof settings / sizeof *settings)

static double
run_plain (const void *dynamics, double *x, size_t n_frames,
    unsigned n_channels)
{
  return levels_run (dynamics, x, n_frames, n_channels);
}

static void
test_recursion (void)
{
  TapMany many = tap_many (
      "each sample is the recursion's to -140 dB, and the lowest gain is read");

  for (unsigned i = 0; i < 3 * N_SETTINGS; i++) {
    const Setting *s = &settings[i / 3];
    const unsigned n_channels = s->n_channels[i % 3];
    const TfxDynamics d = dynamics_of (s->text, n_channels);

    levels_check_run (&many, s->text, chain_for (&d), run_plain, &d, N_FRAMES,
        n_channels, 1e-7, true);
  }
  tap_many_end (&many);
}

static void
test_splits (void)
{
  TapMany many = tap_many ("any split gives the same bits");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned i = 0; i < 2 * N_SETTINGS; i++) {
      const Setting *s = &settings[i / 2];
      const unsigned n_channels = s->n_channels[(i + k) % 3];
      const TfxDynamics d = dynamics_of (s->text, n_channels);
      const TfxDynamics next = dynamics_of (s->next, n_channels);

      levels_check_split (&many, s->text, chain_for (&d),
          i % 2 ? chain_for (&next) : NULL, 5000, N_FRAMES, n_channels, kernel);
    }
  }
  tap_many_end (&many);
}

/* ---- against SciPy ----------------------------------------------------------------- */

#define MAX_VALUES 32
#define MAX_CHANNELS 4
#define N_GOLDEN 3000

typedef struct Golden
{
  size_t n_at, at[MAX_VALUES];
  double rate_hz;
  unsigned n_channels;
  char text[256];
  double energy[MAX_CHANNELS], y[MAX_CHANNELS][MAX_VALUES];
} Golden;

static void
check_golden (TapMany *many, const Golden *g)
{
  const TfxFilterSpec spec = { g->rate_hz, g->n_channels, TFX_SAMPLE_F64, 0 };
  TfxChain *chain = test_build_at (g->text, g->rate_hz, g->n_channels);
  TestFilter *filter = test_filter_for (chain, &spec, tfx_cpu_backend ());
  double x[N_GOLDEN * MAX_CHANNELS], error = 0;

  for (unsigned c = 0; c < g->n_channels; c++) {
    uint32_t noise = c + 1;

    for (size_t i = 0; i < N_GOLDEN; i++) {
      const double loud = i / (300 + 100 * c) % 2 ? 1 : 0.03125;

      noise = 69069u * noise + 1u;
      x[i * g->n_channels + c] = (noise / 2147483648.0 - 1) * loud;
    }
  }
  test_filter_pieces (filter, x, g->n_channels, N_GOLDEN, 100, 0, NULL);
  for (unsigned c = 0; c < g->n_channels; c++) {
    double energy = 0;

    for (size_t i = 0; i < N_GOLDEN; i++)
      energy += x[i * g->n_channels + c] * x[i * g->n_channels + c];
    error = fmax (error, fabs (energy / g->energy[c] - 1));
    for (size_t i = 0; i < g->n_at; i++)
      error = fmax (error, fabs (x[g->at[i] * g->n_channels + c] - g->y[c][i]));
  }
  tap_many_check (many, error < 1e-7, "%s: %g", g->text, error);
  test_filter_free (&filter);
  tfx_chain_unref (&chain);
}

static void
test_golden (void)
{
  FILE *file = fopen (tap_data (GOLDEN_DIR "/key.txt"), "r");
  TapMany many = tap_many ("chains are SciPy's to -140 dB");
  Golden g = { .n_at = 0 };
  unsigned n_chains = 0;
  char *line = NULL, *at;
  size_t size = 0;

  while (file && getline (&line, &size, file) >= 0) {
    at = line + 2;
    if (strncmp (line, "at ", 3) == 0) {
      while (*at == ' ' && g.n_at < MAX_VALUES)
        g.at[g.n_at++] = strtoul (at, &at, 10);
    } else if (strncmp (line, "y ", 2) == 0) {
      const unsigned long channel = strtoul (at, &at, 10) % MAX_CHANNELS;

      g.energy[channel] = strtod (at, &at);
      for (size_t i = 0; i < g.n_at; i++)
        g.y[channel][i] = strtod (at, &at);
      if (channel + 1 == g.n_channels) {
        check_golden (&many, &g);
        n_chains++;
      }
    } else if (line[0] != '#') {
      tap_many_check (&many,
          sscanf (line, "chain %lf %u %255[^\n]", &g.rate_hz, &g.n_channels,
              g.text) == 3,
          "not read: %s", line);
    }
  }
  tap_check (n_chains == 7, "%u chains", n_chains);
  tap_many_end (&many);
  free (line);
  if (file)
    fclose (file);
}

/* ---- changes ----------------------------------------------------------------------- */

static void
test_jumps (void)
{
  static const char *const filters[] = { "LoButterworth(100, 2)",
    "LoButterworth(5000, 2)", "Notch(440, 2)", "Notch(600, 0.5)" };
  TapMany many = tap_many ("a key filter that jumps makes no click");

  for (unsigned i = 0; i < 8; i++) {
    TfxDynamics d[2];
    TestJump j;

    for (unsigned k = 0; k < 2; k++) {
      char text[100];

      snprintf (text, sizeof text,
          "Compressor(-30, attack=0.02, release=0.2, key_filter=%s)",
          filters[i / 2 % 2 * 2 + (i + k) % 2]);
      d[k] = dynamics_of (text, 1);
    }
    j = test_jump_between (chain_for (&d[0]), chain_for (&d[1]), 1 + i / 4,
        480);
    tap_many_check (&many, j.high_db <= -80 && j.bend <= 1.5 && j.peak_db <= 1,
        "%u: %.1f dB, %.2f, peak %.2f dB", i, j.high_db, j.bend, j.peak_db);
  }
  tap_many_end (&many);
}

/* From peaks to mean squares: another unit takes over the filter. */
static void
test_detector (void)
{
  TfxDynamics d =
      dynamics_of ("Compressor(-40, 4, 0, 0, key_filter=LoButterworth(1))", 2);
  TestFilter *filter = test_filter_start_chain (chain_for (&d), 2, NULL);
  double x[2 * 2000], want = 0, error = 0;

  for (unsigned k = 0; k < 60; k++) {
    if (k == 59) {
      d.is_rms = true;
      test_filter_set_chain (filter, chain_for (&d));
    }
    for (unsigned i = 0; i < 2 * 2000; i++)
      x[i] = 0.5;
    want = k == 59 ? want : x[0];
    test_filter_f64 (filter, x, 2, 2000);
    want = k == 58 ? x[2 * 1999] : want;
  }
  for (unsigned i = 0; i < 2 * 2000; i++)
    error = fmax (error, fabs (x[i] / want - 1));
  tap_check (error < 1e-3 && want < 0.1,
      "another detector keeps the filter's state: off by %g", error);
  test_filter_free (&filter);
}

/* ---- state -------------------------------------------------------------------------- */

static void
test_rest (void)
{
  TapMany many = tap_many ("a reset clears the state, and silence too");

  for (unsigned s = 0; s < N_SETTINGS; s++) {
    const unsigned n_channels = settings[s].n_channels[0];
    const size_t n = N_FRAMES * n_channels;
    const TfxDynamics d = dynamics_of (settings[s].text, n_channels);
    TestFilter *filter =
        test_filter_start_chain (chain_for (&d), n_channels, NULL);
    double *x = test_alloc_f64 (n), *want;
    unsigned k = 0;

    levels_signal (x, N_FRAMES, n_channels);
    want = test_copy_f64 (x, n);
    test_filter_f64 (filter, want, n_channels, N_FRAMES);
    tap_many_check (&many, !test_filter_is_silent (filter), "%s: silent",
        settings[s].text);
    test_filter_reset (filter);
    test_filter_f64 (filter, x, n_channels, N_FRAMES);
    tap_many_check (&many, memcmp (x, want, n * sizeof *x) == 0,
        "%s: other bits after a reset", settings[s].text);
    memset (x, 0, n * sizeof *x);
    while (!test_filter_is_silent (filter) && k++ < 400)
      test_filter_f64 (filter, x, n_channels, N_FRAMES);
    tap_many_check (&many, k < 400 && test_is_finite (x, n),
        "%s: not silent after %u blocks", settings[s].text, k);
    test_filter_free (&filter);
    free (x);
    free (want);
  }
  tap_many_end (&many);
}

static void
test_damage (void)
{
  static const double damage[] = { NAN, INFINITY, DBL_MAX, -1e160 };
  const TfxDynamics d =
      dynamics_of ("Compressor(-20, 4, 0, 0.0001, "
                   "key=[1], key_filter=ParametricEQ(9000, 0.5, 6))",
          2);
  TapMany many = tap_many ("a filter recovers from a damaged key");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    double y[2][2 * 12000];

    for (unsigned i = 0; i < 4; i++) {
      for (unsigned run = 0; run < 2; run++) {
        TestFilter *filter =
            test_filter_start_chain (chain_for (&d), 2, kernel);

        for (unsigned n = 0; n < 2 * 12000; n++)
          y[run][n] = run && n == 21 ? damage[i] : 0.3 * sin (0.2 * (n / 2));
        test_filter_pieces (filter, y[run], 2, 12000, 500, 0, NULL);
        test_filter_free (&filter);
      }
      tap_many_check (&many,
          test_is_finite (y[1], 2 * 12000) &&
              test_relative (y[1] + 23000, y[0] + 23000, 1000, 1e-15) < 1e-9,
          "%s, %g", kernel, damage[i]);
    }
  }
  tap_many_end (&many);
}

/* ---- refusals ----------------------------------------------------------------------- */

static void
test_stages (void)
{
  TfxDynamics d = { .slope = -0.5 };
  const TfxFilterSpec spec = { RATE, 2, TFX_SAMPLE_F64, 0 };
  static const uint64_t keys[] = { 4, 3, (uint64_t)1 << 63 };
  TfxFilter *filter;

  for (unsigned i = 0; i < 3; i++) {
    TfxChain *chain;

    d.key = keys[i];
    chain = chain_for (&d);
    tap_check (tfx_filter_new (chain, &spec, &filter) == -EINVAL,
        "key %u of two channels", i);
    tfx_chain_unref (&chain);
  }
  d = (TfxDynamics){ .slope = -0.5, .n_key_sos = TFX_DYNAMICS_MAX_KEY_SOS + 1 };
  tap_check (!tfx_stage_new_dynamics (1, &d), "too many sections");
  d.n_key_sos = 1;
  d.key_sos[0] = (TfxSos){ 1, 0, 0, 0, 1 };
  tap_check (!tfx_stage_new_dynamics (1, &d), "an unstable section");
}

static void
test_language (void)
{
  static const struct
  {
    const char *text;
    unsigned n_channels;
    const char *message; /* NULL: it is built */
  } all[] = {
    { "Compressor(key=[2])", 3, NULL },
    { "c=Compressor(key=[2])", 2,
        "key of stage 'c' (Compressor) is channel 2, out of range: its input "
        "has 2 channels, counted from 0" },
    { "Gate(key=[1])", 1, "its input has 1 channel, counted" },
    { "Gate(key=[1, 0])", 2, "has all channels of its input" },
    { "ch[0, 3]: Gate(key=[1])", 4, NULL },
    { "ch[0, 3]: Gate(key=[3])", 4, "out of range: its input has 2 channels" },
    { "Mix([[1, 0], [0, 1], [1, 1]]) | Gate(key=[2])", 2, NULL },
    { "Gate(key_filter=LoButterworth(99, 9) | HiButterworth(9, 6))", 1, NULL },
    { "g=Gate(key_filter=LoButterworth(99, 9) | HiButterworth(9, 7))", 1,
        "key_filter of stage 'g' (Gate) has 9 second-order sections; at most 8 "
        "are allowed" },
  };

  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    TfxExprError error = { 0 };
    TfxExpr *expr = tfx_expr_parse (all[i].text, strlen (all[i].text), &error);
    TfxChain *chain = NULL;

    if (expr)
      tfx_expr_build (expr, RATE, all[i].n_channels, NULL, NULL, &chain,
          &error);
    tap_check (all[i].message ? !chain && strstr (error.message, all[i].message)
                              : chain != NULL,
        "%s, %u channels: %s", all[i].text, all[i].n_channels, error.message);
    tfx_chain_unref (&chain);
    tfx_expr_free (&expr);
  }
}

static const TapTest tests[] = {
  { "recursion", test_recursion },
  { "splits", test_splits },
  { "golden", test_golden },
  { "jumps", test_jumps },
  { "detector", test_detector },
  { "rest", test_rest },
  { "damage", test_damage },
  { "stages", test_stages },
  { "language", test_language },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
