/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_reverb.c: the reverb against its plain recursion, however the stream is
 * cut, while its numbers move, and after what is no number. */
#include "core/backend.h"
#include "common.h"
#include "jump.h"
#include "plain.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 44100.0
#define N_FRAMES 12000

/* Channels run side by side, in groups of 8, 4, 2 and 1. */
#define N_COUNTS 6
static const unsigned counts[N_COUNTS] = { 1, 2, 3, 4, 7, 9 };

static TfxStage *
make_stage (double room_size, double damping, double mix, double rate_hz)
{
  static const unsigned lengths[] = { 1116, 1188, 1277, 1356, 1422, 1491, 1557,
    1617, 556, 441, 341, 225 };
  TfxReverb r = { .feedback = 0.7 + 0.28 * room_size,
    .damp = 0.4 * damping,
    .dry = 1 - mix,
    .wet = mix };

  for (unsigned i = 0; i < 12; i++) {
    const size_t n = (size_t)fmax (1, round (lengths[i] * rate_hz / 44100));

    if (i < TFX_REVERB_COMBS)
      r.combs[i] = n;
    else
      r.all_passes[i - TFX_REVERB_COMBS] = n;
  }
  return tfx_stage_new_reverb (1, &r);
}

/* x[n_channels][N_FRAMES], in blocks of up to longest; from frame 4000 on other
 * values are set, if there are any. */
static bool
run (TfxChain *chain, TfxChain *other, const char *kernel, double *x,
    unsigned n_channels, size_t longest)
{
  const TfxFilterSpec spec = { RATE, n_channels, TFX_SAMPLE_F64, 0 };
  TestFilter *row =
      test_filter_for (chain, &spec, tfx_cpu_backend_for (kernel));
  bool is_ok = row != NULL;

  for (size_t i = 0, n; is_ok && i < N_FRAMES; i += n) {
    TfxBlock all = tfx_block_planar (x + i, TFX_SAMPLE_F64, n_channels,
        N_FRAMES, N_FRAMES);

    n = 1 + tap_random_below ((unsigned)longest);
    n = n < N_FRAMES - i ? n : N_FRAMES - i;
    if (i < 4000 && i + n > 4000)
      n = 4000 - i;
    if (i == 4000 && other) {
      tfx_filter_lock (row->filter);
      is_ok = tfx_filter_set_chain (row->filter, other) == 0;
      tfx_filter_unlock (row->filter);
    }
    all.n_frames = n;
    is_ok = is_ok && test_filter_run (row, &all, &all) == 0;
  }
  test_filter_free (&row);
  return is_ok;
}

static void
test_plain (void)
{
  static const double rates[] = { 44100, 8000, 300, 40, 192000 };
  TapMany many = tap_many ("the reverb is its plain recursion to -240 dB");
  double worst = 0;

  for (unsigned r = 0; r < 5; r++) {
    for (unsigned i = 0; i < N_COUNTS; i++) {
      const unsigned n_channels = counts[i];
      const size_t n = n_channels * (size_t)N_FRAMES;
      double *x = test_alloc (n * sizeof *x), *y = test_alloc (n * sizeof *y);
      TfxChain *chain =
          test_chain_of_one (make_stage (0.9, 0.4, 0.6, rates[r]));
      double error = 0;

      test_noise_f64 (x, n);
      memcpy (y, x, n * sizeof *x);
      plain_run (chain, y, n_channels, N_FRAMES);
      if (!run (chain, NULL, tfx_cpu_backend ()->kernel, x, n_channels, 700))
        error = INFINITY;
      for (size_t k = 0; k < n; k++)
        error = fmax (error, fabs (x[k] - y[k]));
      worst = fmax (worst, error);
      tap_many_check (&many, error <= 1e-12, "%g Hz, %u channels: %g", rates[r],
          n_channels, error);
      tfx_chain_unref (&chain);
      free (x);
      free (y);
    }
  }
  tap_diag ("at most %.1f dB", 20 * log10 (worst));
  tap_many_end (&many);
}

static void
check_split (TapMany *many, TfxChain *chain, TfxChain *other,
    unsigned n_channels)
{
  static const size_t longest[] = { N_FRAMES, 512, 33, 5 };
  const size_t n = (size_t)n_channels * N_FRAMES;
  double *in = test_alloc (n * sizeof *in), *want = test_alloc (n * sizeof *in);
  double *first = test_alloc (n * sizeof *in);
  double *x = test_alloc (n * sizeof *x);
  const char *kernel;

  test_noise_f64 (in, n);
  memcpy (first, in, n * sizeof *in);
  run (chain, other, "c", first, n_channels, N_FRAMES);
  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    double error = 0;

    memcpy (want, in, n * sizeof *in);
    run (chain, other, kernel, want, n_channels, N_FRAMES);
    for (size_t i = 0; i < n; i++)
      error = fmax (error, fabs (want[i] - first[i]));
    tap_many_check (many, error < 1e-13, "%s, %u channels: %g", kernel,
        n_channels, error);
    for (unsigned b = 1; b < 4; b++) {
      memcpy (x, in, n * sizeof *in);
      tap_many_check (many,
          run (chain, other, kernel, x, n_channels, longest[b]) &&
              memcmp (x, want, n * sizeof *x) == 0,
          "%s, %u channels, blocks up to %zu", kernel, n_channels, longest[b]);
    }
  }
  free (in);
  free (want);
  free (first);
  free (x);
}

/* Also while values move. */
static void
test_split (void)
{
  TapMany many = tap_many ("the same bits for any split, all kernels alike");
  TfxChain *chain = test_chain_of_one (make_stage (0.5, 0.5, 0.3, RATE));
  TfxChain *other = test_chain_of_one (make_stage (1.0, 0.1, 0.8, RATE));

  for (unsigned i = 0; i < N_COUNTS; i++)
    check_split (&many, chain, other, counts[i]);
  tap_many_end (&many);
  tfx_chain_unref (&chain);
  tfx_chain_unref (&other);
}

static void
test_jumps (void)
{
  static const double all[][6] = { { 0.5, 0.5, 0.3, 0.5, 0.5, 1.0 },
    { 0.5, 0.5, 1.0, 0.5, 0.5, 0.0 }, { 0.1, 0.5, 0.7, 1.0, 0.5, 0.7 },
    { 1.0, 0.0, 0.7, 0.0, 1.0, 0.7 }, { 0.5, 0.0, 0.7, 0.5, 1.0, 0.7 } };
  TapMany high = tap_many ("numbers of a reverb jump: -80 dB above 2 kHz");
  TapMany bend = tap_many ("and a second difference of 1.5 times");

  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    const double *a = all[i];
    const TestJump j = test_jump_between (test_chain_of_one (make_stage (a[0],
                                              a[1], a[2], RATE)),
        test_chain_of_one (make_stage (a[3], a[4], a[5], RATE)), 1, 480);

    /* (The sine's own beginning still rings where little is damped.) */
    const TestJump none =
        test_jump_between (test_chain_of_one (
                               make_stage (a[0], a[1], a[2], RATE)),
            test_chain_of_one (make_stage (a[0], a[1], a[2], RATE)), 1, 480);

    tap_diag ("%.1f %.1f", j.high_db, none.high_db);
    tap_many_check (&high, j.high_db <= fmax (-80, none.high_db),
        "jump %u: %.1f dB, without it %.1f", i, j.high_db, none.high_db);
    tap_many_check (&bend, j.bend <= 1.5, "jump %u: %.2f", i, j.bend);
  }
  tap_many_end (&high);
  tap_many_end (&bend);
}

static void
test_recovery (void)
{
  TfxChain *chain = test_chain_of_one (make_stage (0.9, 0.4, 0.6, RATE));
  double *x = test_alloc (2 * N_FRAMES * sizeof *x);
  bool is_finite = true;

  test_noise_f64 (x, 2 * N_FRAMES);
  x[1000] = NAN;
  x[1001] = INFINITY;
  x[N_FRAMES + 2000] = 1e308;
  run (chain, NULL, tfx_cpu_backend ()->kernel, x, 2, 300);
  for (size_t i = 5000; i < N_FRAMES; i++)
    is_finite = is_finite && isfinite (x[i]) && isfinite (x[N_FRAMES + i]);
  tap_check (is_finite, "it gets over what is no number");
  tfx_chain_unref (&chain);
  free (x);
}

/* A sum of what a double just holds: the lines are cleared, and what comes out is. */
static void
test_overflow (void)
{
  TfxChain *chain = test_chain_of_one (make_stage (1.0, 0.0, 0.6, 300));
  double *x = test_alloc (N_FRAMES * sizeof *x), late = 0;
  bool is_finite = true;

  for (size_t i = 0; i < N_FRAMES; i++)
    x[i] = i < N_FRAMES / 2 ? 1.7e308 : 0.0;
  tap_check (run (chain, NULL, tfx_cpu_backend ()->kernel, x, 1, 300),
      "it runs");
  for (size_t i = 0; i < N_FRAMES; i++) {
    is_finite = is_finite && isfinite (x[i]);
    late = i < N_FRAMES - 300 ? 0 : fmax (late, fabs (x[i]));
  }
  tap_check (is_finite, "what comes out is finite where the lines overflow");
  tap_check (late < 1e308, "and fades: %g", late);
  tfx_chain_unref (&chain);
  free (x);
}

/* Channels that run side by side. */
static void
test_neighbours (void)
{
  TapMany many = tap_many ("the channels beside one that overflows");

  for (unsigned i = 1; i < N_COUNTS; i++) {
    const unsigned n_channels = counts[i], bad = n_channels / 2;
    const size_t n = (size_t)n_channels * N_FRAMES;
    double *want = test_alloc (n * sizeof *want),
           *x = test_alloc (n * sizeof *x);
    TfxChain *chain = test_chain_of_one (make_stage (1.0, 0.0, 0.6, 300));

    test_noise_f64 (want, n);
    memset (want + bad * N_FRAMES, 0, N_FRAMES * sizeof *want);
    memcpy (x, want, n * sizeof *x);
    for (size_t k = 0; k < N_FRAMES / 2; k++)
      x[bad * N_FRAMES + k] = 1.7e308;
    run (chain, NULL, tfx_cpu_backend ()->kernel, want, n_channels, N_FRAMES);
    run (chain, NULL, tfx_cpu_backend ()->kernel, x, n_channels, N_FRAMES);
    memcpy (want + bad * N_FRAMES, x + bad * N_FRAMES, N_FRAMES * sizeof *want);
    tap_many_check (&many, memcmp (x, want, n * sizeof *x) == 0, "%u channels",
        n_channels);
    tfx_chain_unref (&chain);
    free (want);
    free (x);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "plain", test_plain },
  { "split", test_split },
  { "jumps", test_jumps },
  { "recovery", test_recovery },
  { "overflow", test_overflow },
  { "neighbours", test_neighbours },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
