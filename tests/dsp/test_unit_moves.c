/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_unit_moves.c: FIRs and delay lines whose values move: no click, the same
 * output however the stream is cut, and no memory.
 */
#include "common.h"
#include "jump.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0

/* ---- chains ------------------------------------------------------------------ */

/* A chain of the stage, which it lets go of. */
static TfxChain *
chain_of (TfxStage *stage)
{
  TfxChain *empty = tfx_chain_new ();
  TfxChain *chain = stage ? tfx_chain_append (empty, stage) : NULL;

  tfx_chain_unref (&empty);
  tfx_stage_unref (&stage);
  return chain;
}

static TfxStage *
designed (TfxMode mode, size_t n_taps, double hz)
{
  const TfxFirDesign d = { mode, TFX_WINDOW_HAMMING, 0, n_taps, hz, 1.5 * hz };
  double *taps = test_alloc (n_taps * sizeof *taps);
  const double *kernels[] = { taps };
  TfxStage *stage = NULL;

  if (tfx_fir_design (&d, RATE, taps) == 0)
    stage = tfx_stage_new_fir (1, kernels, 1, n_taps, TFX_FIR_AUTO);
  free (taps);
  return stage;
}

/* As the language's Delay has it. */
static TfxStage *
echoes (size_t delay, size_t n, double feedback, double mix)
{
  TfxTap taps[16] = { { 0 } };
  double gain = mix;

  for (size_t k = 0; k < n; k++, gain *= feedback)
    taps[k] = (TfxTap){ .delay = (k + 1) * delay, .gain = gain };
  return tfx_stage_new_delay (1, 1 - mix, taps, n);
}

/* ---- jumps ------------------------------------------------------------------- */

typedef struct Bars
{
  TapMany high, bend, peak;
  TestJump worst;
} Bars;

static Bars
begin (const char *what)
{
  static char texts[3][128];

  snprintf (texts[0], 128, "%s: -80 dB above 2 kHz", what);
  snprintf (texts[1], 128, "%s: a second difference of 1.5 times", what);
  snprintf (texts[2], 128, "%s: no peak above either, and 1 dB", what);
  return (Bars){ tap_many (texts[0]), tap_many (texts[1]), tap_many (texts[2]),
    { -INFINITY, 0, -INFINITY } };
}

static void
look_at (Bars *bars, TfxStage *before, TfxStage *after, const char *what)
{
  const TestJump j =
      test_jump_between (chain_of (before), chain_of (after), 1, 480);

  tap_many_check (&bars->high, j.high_db <= -80, "%s: %.1f dB", what,
      j.high_db);
  tap_many_check (&bars->bend, j.bend <= 1.5, "%s: %.2f", what, j.bend);
  tap_many_check (&bars->peak, j.peak_db <= 1, "%s: %.2f dB", what, j.peak_db);
  if (getenv ("JUMPS"))
    tap_diag ("%s: %.1f dB, %.2f, peak %.2f dB", what, j.high_db, j.bend,
        j.peak_db);
  bars->worst.high_db = fmax (bars->worst.high_db, j.high_db);
  bars->worst.bend = fmax (bars->worst.bend, j.bend);
  bars->worst.peak_db = fmax (bars->worst.peak_db, j.peak_db);
}

static void
end (Bars *bars)
{
  tap_diag ("at most %.1f dB, %.2f times, peak %.2f dB", bars->worst.high_db,
      bars->worst.bend, bars->worst.peak_db);
  tap_many_end (&bars->high);
  tap_many_end (&bars->bend);
  tap_many_end (&bars->peak);
}

static void
test_fir_jumps (void)
{
  static const double hz[][2] = { { 500, 5000 }, { 5000, 500 }, { 20, 15000 },
    { 15000, 20 }, { 400, 480 }, { 1000, 2000 } };
  static const size_t n_taps[] = { 31, 101, 511, 2047, 8191 };
  Bars bars = begin ("the cutoff of a FIR jumps");

  for (unsigned i = 0; i < 6 * 5 * 3; i++) {
    const double *f = hz[i % 6];
    const size_t n = n_taps[i / 6 % 5];
    const TfxMode mode = (TfxMode)(i / 30);
    char what[80];

    snprintf (what, sizeof what, "mode %d, %zu taps, %g to %g Hz", mode, n,
        f[0], f[1]);
    look_at (&bars, designed (mode, n, f[0]), designed (mode, n, f[1]), what);
  }
  end (&bars);
}

static void
test_fir_lengths (void)
{
  static const size_t n[][2] = { { 101, 301 }, { 301, 101 }, { 11, 2047 },
    { 2047, 8191 }, { 8191, 31 }, { 101, 102 } };
  Bars bars = begin ("a FIR gets another length");

  for (unsigned i = 0; i < 6 * 2; i++) {
    const double hz = i < 6 ? 3000 : 500;
    char what[80];

    snprintf (what, sizeof what, "%zu to %zu taps, %g Hz", n[i % 6][0],
        n[i % 6][1], hz);
    look_at (&bars, designed (TFX_MODE_LOW_PASS, n[i % 6][0], 1000),
        designed (TFX_MODE_LOW_PASS, n[i % 6][1], hz), what);
  }
  end (&bars);
}

static void
test_own_kernels (void)
{
  static const double a[4] = { 1, 0, 0, 0 }, b[4] = { -0.5, 0.25, 0, 0.1 },
                      c[4] = { 0, 0, 0, 0 };
  static const double *const kernels[][2] = { { a, b }, { b, a }, { a, c },
    { c, a } };
  Bars bars = begin ("an own kernel becomes another");

  for (unsigned i = 0; i < 4; i++) {
    char what[80];

    snprintf (what, sizeof what, "kernels %u", i);
    look_at (&bars, tfx_stage_new_fir (1, &kernels[i][0], 1, 4, TFX_FIR_AUTO),
        tfx_stage_new_fir (1, &kernels[i][1], 1, 4, TFX_FIR_AUTO), what);
  }
  end (&bars);
}

typedef struct Echoes
{
  size_t delay, n;
  double feedback, mix;
} Echoes;

static void
test_delays (void)
{
  static const Echoes all[][2] = {
    { { 1000, 3, 0.3, 0.2 }, { 1000, 3, 0.3, 0.9 } },
    { { 1000, 3, 0.9, 0.9 }, { 1000, 3, 0.1, 0.1 } },
    { { 1000, 1, 0.3, 0 }, { 1000, 1, 0.3, 1 } },
    { { 1000, 3, 0.3, 0.5 }, { 1500, 3, 0.3, 0.5 } },
    { { 1500, 3, 0.3, 0.5 }, { 1000, 3, 0.3, 0.5 } },
    { { 100, 1, 0, 1 }, { 4000, 1, 0, 1 } },
    { { 4000, 1, 0, 1 }, { 100, 1, 0, 1 } },
    { { 1, 1, 0, 1 }, { 2, 1, 0, 1 } },
    { { 500, 2, 0.5, 0.5 }, { 500, 8, 0.5, 0.5 } },
    { { 500, 8, 0.5, 0.5 }, { 501, 8, 0.5, 0.5 } },
  };
  Bars bars = begin ("mix, feedback and length of a delay jump");

  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    const Echoes *a = &all[i][0], *b = &all[i][1];
    char what[80];

    snprintf (what, sizeof what, "%zu x %zu fb %g mix %g to %zu x %zu %g %g",
        a->delay, a->n, a->feedback, a->mix, b->delay, b->n, b->feedback,
        b->mix);
    look_at (&bars, echoes (a->delay, a->n, a->feedback, a->mix),
        echoes (b->delay, b->n, b->feedback, b->mix), what);
  }
  end (&bars);
}

static const TapTest tests[] = {
  { "fir-jumps", test_fir_jumps },
  { "fir-lengths", test_fir_lengths },
  { "own-kernels", test_own_kernels },
  { "delays", test_delays },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
