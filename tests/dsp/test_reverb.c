/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_reverb.c: the reverb against its plain recursion, any split of the stream,
 * parameters that change, and recovery from NaN and overflow. */
#include "common.h"
#include "jump.h"
#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 44100.0
#define N_FRAMES 12000

/* Channels run side by side, in groups of 8, 4, 2 and 1. */
#define N_COUNTS 6
static const unsigned counts[N_COUNTS] = { 1, 2, 3, 4, 7, 9 };

static TfxChain *
make_chain (double room_size, double damping, double mix, double rate_hz)
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
  return test_chain_of_one (tfx_stage_new_reverb (1, &r));
}

/* x[n_channels][N_FRAMES], in blocks of up to 700 frames; takes the chain. */
static bool
run (TfxChain *chain, double *x, unsigned n_channels)
{
  TestFilter *row = test_filter_start_chain (chain, n_channels, NULL);
  bool is_ok = true;

  for (size_t i = 0, n; is_ok && i < N_FRAMES; i += n) {
    TfxBlock block = tfx_block_planar (x + i, TFX_SAMPLE_F64, n_channels,
        N_FRAMES, N_FRAMES);

    n = 1 + tap_random_below (700);
    block.n_frames = n = n < N_FRAMES - i ? n : N_FRAMES - i;
    is_ok = test_filter_run (row, &block, &block) == 0;
  }
  test_filter_free (&row);
  return is_ok;
}

static void
test_plain (void)
{
  static const double rates[] = { 44100, 8000, 300, 40, 192000 };
  TapMany many = tap_many ("the reverb is its plain recursion to -240 dB");

  for (unsigned i = 0; i < 5 * N_COUNTS; i++) {
    const unsigned n_channels = counts[i % N_COUNTS];
    const size_t n = n_channels * (size_t)N_FRAMES;
    double *x = test_alloc_f64 (n), *y, error;
    TfxChain *chain = make_chain (0.9, 0.4, 0.6, rates[i / N_COUNTS]);

    test_noise_f64 (x, n);
    y = test_copy_f64 (x, n);
    plain_run (chain, y, n_channels, N_FRAMES);
    error = run (chain, x, n_channels) ? test_difference (x, y, n) : INFINITY;
    tap_many_check (&many, error <= 1e-12, "%g Hz, %u channels: %g",
        rates[i / N_COUNTS], n_channels, error);
    free (x);
    free (y);
  }
  tap_many_end (&many);
}

/* Also while values change. */
static void
test_split (void)
{
  TapMany many = tap_many ("any split gives the same bits");
  TapMany alike = tap_many ("all kernels agree to -260 dB");
  TfxChain *chain = make_chain (0.5, 0.5, 0.3, RATE);
  TfxChain *other = make_chain (1.0, 0.1, 0.8, RATE);
  const char *kernel;

  for (unsigned i = 0; i < N_COUNTS; i++) {
    const size_t n = (size_t)counts[i] * N_FRAMES;
    double *in = test_alloc_f64 (n), *first = NULL;

    test_noise_f64 (in, n);
    for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
      TestFilter *row =
          test_filter_start_chain (tfx_chain_ref (chain), counts[i], kernel);
      double *x = test_copy_f64 (in, n);

      test_filter_pieces (row, x, counts[i], N_FRAMES, 0, 4000,
          tfx_chain_ref (other));
      test_filter_free (&row);
      if (!first)
        first = test_copy_f64 (x, n);
      tap_many_check (&alike, test_difference (x, first, n) < 1e-13,
          "%s, %u channels: %g", kernel, counts[i],
          test_difference (x, first, n));
      free (x);
      test_check_splits (&many, "reverb", chain, other, 4000, in, N_FRAMES,
          counts[i], kernel);
    }
    free (in);
    free (first);
  }
  tap_many_end (&many);
  tap_many_end (&alike);
  tfx_chain_unref (&chain);
  tfx_chain_unref (&other);
}

static void
test_jumps (void)
{
  static const double all[][6] = { { 0.5, 0.5, 0.3, 0.5, 0.5, 1.0 },
    { 0.5, 0.5, 1.0, 0.5, 0.5, 0.0 }, { 0.1, 0.5, 0.7, 1.0, 0.5, 0.7 },
    { 1.0, 0.0, 0.7, 0.0, 1.0, 0.7 }, { 0.5, 0.0, 0.7, 0.5, 1.0, 0.7 } };
  TapMany many = tap_many ("parameters that jump make no click");

  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
    const double *a = all[i];
    const TestJump j = test_jump_between (make_chain (a[0], a[1], a[2], RATE),
        make_chain (a[3], a[4], a[5], RATE), 1, 480);
    /* With little damping the onset of the sine still rings. */
    const TestJump none =
        test_jump_between (make_chain (a[0], a[1], a[2], RATE),
            make_chain (a[0], a[1], a[2], RATE), 1, 480);

    tap_many_check (&many,
        j.high_db <= fmax (-80, none.high_db) && j.bend <= 1.5,
        "jump %u: %.1f dB above 2 kHz, without it %.1f; %.2f", i, j.high_db,
        none.high_db, j.bend);
  }
  tap_many_end (&many);
}

static void
test_recovery (void)
{
  double *x = test_alloc_f64 (2 * N_FRAMES);

  test_noise_f64 (x, 2 * N_FRAMES);
  x[1000] = NAN;
  x[1001] = INFINITY;
  x[N_FRAMES + 2000] = 1e308;
  run (make_chain (0.9, 0.4, 0.6, RATE), x, 2);
  tap_check (test_is_finite (x + 5000, N_FRAMES - 5000) &&
                 test_is_finite (x + N_FRAMES + 5000, N_FRAMES - 5000),
      "it recovers from NaN and infinity");
  free (x);
}

/* A sum that overflows clears the delay lines; the output stays finite. */
static void
test_overflow (void)
{
  double *x = test_alloc_f64 (N_FRAMES), late = 0;

  for (size_t i = 0; i < N_FRAMES; i++)
    x[i] = i < N_FRAMES / 2 ? 1.7e308 : 0.0;
  tap_check (run (make_chain (1.0, 0.0, 0.6, 300), x, 1), "it runs");
  for (size_t i = N_FRAMES - 300; i < N_FRAMES; i++)
    late = fmax (late, fabs (x[i]));
  tap_check (test_is_finite (x, N_FRAMES) && late < 1e308,
      "the output is finite where the delay lines overflow, and fades: %g",
      late);
  free (x);
}

/* Channels that run side by side. */
static void
test_neighbours (void)
{
  TapMany many = tap_many ("an overflow leaves the other channels alone");

  for (unsigned i = 1; i < N_COUNTS; i++) {
    const unsigned n_channels = counts[i], bad = n_channels / 2;
    const size_t n = (size_t)n_channels * N_FRAMES;
    double *want = test_alloc_f64 (n), *x;

    test_noise_f64 (want, n);
    memset (want + bad * N_FRAMES, 0, N_FRAMES * sizeof *want);
    x = test_copy_f64 (want, n);
    for (size_t k = 0; k < N_FRAMES / 2; k++)
      x[bad * N_FRAMES + k] = 1.7e308;
    run (make_chain (1.0, 0.0, 0.6, 300), want, n_channels);
    run (make_chain (1.0, 0.0, 0.6, 300), x, n_channels);
    memcpy (want + bad * N_FRAMES, x + bad * N_FRAMES, N_FRAMES * sizeof *want);
    tap_many_check (&many, memcmp (x, want, n * sizeof *x) == 0, "%u channels",
        n_channels);
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
