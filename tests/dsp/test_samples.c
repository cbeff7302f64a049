/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_samples.c: kernels that clean, add and cross-fade samples, to the bit, of any length
 * and alignment. */
#include "cpu/kernels.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define MAX_FRAMES 45
#define MAX_CHANNELS 9
#define MAX_SAMPLES (MAX_FRAMES * MAX_CHANNELS)
/* Doubles in front of the samples, and behind them. */
#define GUARD 8
#define N_ALL (MAX_SAMPLES + 2 * GUARD)

static double
random_sample (void)
{
  static const double special[] = { INFINITY, -INFINITY, NAN, 0.0, -0.0 };

  return tap_random_below (8) == 0 ? special[tap_random_below (5)]
                                   : tap_random_uniform (-1.0, 1.0);
}

static void
fill (double *x)
{
  for (size_t i = 0; i < N_ALL; i++)
    x[i] = tap_random_uniform (-1.0, 1.0);
}

static void
test_clean (void)
{
  TapMany many = tap_many ("NaN and infinity become 0");
  const char *name;

  for (size_t k = 0; (name = tfx_cpu_kernel (k)); k++) {
    for (size_t n = 0; n <= MAX_FRAMES; n++) {
      const bool is_f32 = n % 2 == tap_random_below (2);
      const size_t at = GUARD + tap_random_below (2);
      double f64[MAX_FRAMES], want[N_ALL], got[N_ALL];
      float f32[MAX_FRAMES];

      fill (got);
      memcpy (want, got, sizeof want);
      for (size_t i = 0; i < n; i++) {
        f64[i] = random_sample ();
        f32[i] = (float)f64[i];
        want[at + i] = is_f32 ? f32[i] : f64[i];
        want[at + i] = isfinite (want[at + i]) ? want[at + i] : 0.0;
      }
      tfx_kernels_for (name)->clean (got + at, is_f32 ? (void *)f32 : f64,
          is_f32 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64, n);
      tap_many_check (&many, memcmp (got, want, sizeof got) == 0,
          "%s, %zu samples, %s", name, n, is_f32 ? "F32" : "F64");
    }
  }
  tap_many_end (&many);
}

/* Into doubles or floats at `at`. */
static void
check_sum (TapMany *many, const char *name, unsigned n_rows, size_t n,
    bool is_f32)
{
  const size_t at = GUARD + tap_random_below (3);
  const double *rows[TFX_SUM_MAX_ROWS];
  double x[TFX_SUM_MAX_ROWS][N_ALL], gains[TFX_SUM_MAX_ROWS];
  double f64[N_ALL], want64[N_ALL];
  float f32[N_ALL], want32[N_ALL];

  fill (f64);
  memcpy (want64, f64, sizeof f64);
  memset (f32, 0x7e, sizeof f32);
  memset (want32, 0x7e, sizeof f32);
  for (unsigned k = 0; k < n_rows; k++) {
    fill (x[k]);
    rows[k] = k == 0 && !is_f32 ? f64 + at : x[k] + tap_random_below (9);
    gains[k] = tap_random_uniform (-2.0, 2.0);
  }
  for (size_t i = 0; i < n; i++) {
    volatile double sum = gains[0] * rows[0][i];

    for (unsigned k = 1; k < n_rows; k++) {
      volatile const double product = gains[k] * rows[k][i];

      sum = sum + product;
    }
    want64[at + i] = sum;
    want32[at + i] = (float)sum;
  }
  tfx_kernels_for (name)->sum (is_f32 ? (void *)(f32 + at) : f64 + at,
      is_f32 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64, rows, gains, n_rows, n);
  tap_many_check (many,
      is_f32 ? memcmp (f32, want32, sizeof f32) == 0
             : memcmp (f64, want64, sizeof f64) == 0,
      "%s, %u rows, %zu samples, %s", name, n_rows, n, is_f32 ? "F32" : "F64");
}

static void
test_sums (void)
{
  TapMany many = tap_many ("rows are added up in their order, in place too");
  const char *name;

  for (size_t k = 0; (name = tfx_cpu_kernel (k)); k++) {
    for (unsigned n_rows = 1; n_rows <= TFX_SUM_MAX_ROWS; n_rows++) {
      for (size_t n = 0; n <= MAX_FRAMES; n++) {
        check_sum (&many, name, n_rows, n, false);
        check_sum (&many, name, n_rows, n, true);
      }
    }
  }
  tap_many_end (&many);
}

/* From x to y, from frame `done` of `length` on; it ends on the way if that is
 * less than what there is. */
static void
check_fade (TapMany *many, const char *name, unsigned n_channels, size_t n,
    TfxWeight weight)
{
  const size_t done = tap_random_below (40), length = 1 + tap_random_below (90);
  double x[N_ALL], y[N_ALL], want[N_ALL];

  fill (x);
  fill (y);
  memcpy (want, x, sizeof x);
  for (size_t i = 0; i < n; i++) {
    const double w = tfx_weight_at (weight, done + i + 1, length);

    for (size_t c = 0; c < n_channels; c++) {
      double *v = &want[GUARD + i * n_channels + c];
      volatile const double part = w * (y[i * n_channels + c] - *v);

      *v = *v + part;
    }
  }
  tfx_kernels_for (name)->fade (x + GUARD, y, n, n_channels, weight, done,
      length);
  tap_many_check (many, memcmp (x, want, sizeof x) == 0,
      "%s, %u channels, %zu frames, %zu of %zu done", name, n_channels, n, done,
      length);
}

static void
test_fades (void)
{
  TapMany many = tap_many ("one signal becomes another");
  const char *name;

  for (size_t k = 0; (name = tfx_cpu_kernel (k)); k++) {
    for (unsigned n_channels = 1; n_channels <= MAX_CHANNELS; n_channels++) {
      for (size_t n = 0; n <= MAX_FRAMES; n++) {
        check_fade (&many, name, n_channels, n, TFX_WEIGHT_SMOOTH);
        check_fade (&many, name, n_channels, n, TFX_WEIGHT_LINEAR);
      }
    }
  }
  tap_many_end (&many);
}

static const TapTest tests[] = { { "clean", test_clean }, { "sums", test_sums },
  { "fades", test_fades }, { NULL, NULL } };

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
