/* SPDX-License-Identifier: LGPL-2.1-or-later
 * jump.c: how much of a change of settings is heard. */
#include "jump.h"

#include <math.h>
#include <stdlib.h>

#define RATE 48000.0
#define FRAMES 48000
#define AT 24000
#define SIZE 16384     /* of the spectrum: a third of a second */
#define STEADY 2400    /* frames that are looked at before, and after */
#define CHANGING 12000 /* frames within which a change is over */

typedef struct Complex
{
  double re, im;
} Complex;

/* exp(-2 pi j i / SIZE), made when it is first asked for. */
static const Complex *
find_turns (void)
{
  static Complex turns[SIZE / 2];

  for (size_t i = 0; turns[0].re == 0 && i < SIZE / 2; i++) {
    /* The first one last: it says that all are there. */
    const size_t k = SIZE / 2 - 1 - i;

    turns[k] = (Complex){ cos (2 * M_PI * (double)k / SIZE),
      -sin (2 * M_PI * (double)k / SIZE) };
  }
  return turns;
}

/* In place, n a power of two of at most SIZE; spare[n]. */
static void
transform (Complex *x, Complex *spare, const Complex *turns, size_t n)
{
  if (n == 1)
    return;
  for (size_t i = 0; i < n / 2; i++) {
    spare[i] = x[2 * i];
    spare[n / 2 + i] = x[2 * i + 1];
  }
  transform (spare, x, turns, n / 2);
  transform (spare + n / 2, x, turns, n / 2);
  for (size_t i = 0; i < n / 2; i++) {
    const double c = turns[i * (SIZE / n)].re, s = turns[i * (SIZE / n)].im;
    const Complex a = spare[i], b = spare[n / 2 + i];
    const Complex t = { c * b.re - s * b.im, c * b.im + s * b.re };

    x[i] = (Complex){ a.re + t.re, a.im + t.im };
    x[n / 2 + i] = (Complex){ a.re - t.re, a.im - t.im };
  }
}

/* Nuttall's window of four terms, whose side lobes fall by 18 dB an octave. */
static double
window_at (size_t i)
{
  const double t = 2 * M_PI * (double)i / SIZE;

  return 0.338946 - 0.481973 * cos (t) + 0.161054 * cos (2 * t) -
         0.018027 * cos (3 * t);
}

double
test_jump_high_db (const double *x)
{
  Complex *bins = test_alloc (2 * SIZE * sizeof *bins);
  double all = 0, high = 0;

  for (size_t i = 0; i < SIZE; i++)
    bins[i] = (Complex){ x[i] * window_at (i), 0 };
  transform (bins, bins + SIZE, find_turns (), SIZE);
  for (size_t k = 0; k < SIZE / 2; k++) {
    const double energy = bins[k].re * bins[k].re + bins[k].im * bins[k].im;

    all += energy;
    high += (double)k * RATE / SIZE > 2000 ? energy : 0;
  }
  free (bins);
  return 10 * log10 (high / all);
}

typedef struct Extremes
{
  double peak, bend;
} Extremes;

static Extremes
find_extremes (const double *x, size_t n)
{
  Extremes e = { 0, 0 };

  for (size_t i = 1; i + 1 < n; i++) {
    e.peak = fmax (e.peak, fabs (x[i]));
    e.bend = fmax (e.bend, fabs (x[i + 1] - 2 * x[i] + x[i - 1]));
  }
  return e;
}

TestJump
test_jump_measure (const double *frames)
{
  const Extremes before = find_extremes (frames + AT - STEADY, STEADY - 1);
  const Extremes at = find_extremes (frames + AT - 2, CHANGING);
  const Extremes after = find_extremes (frames + FRAMES - STEADY, STEADY);

  return (TestJump){ test_jump_high_db (frames + AT - SIZE / 2),
    at.bend / fmax (before.bend, after.bend),
    20 * log10 (at.peak / fmax (before.peak, after.peak)),
    fmax (before.peak, after.peak) };
}

TestJump
test_jump_between (TfxChain *before, TfxChain *after, unsigned n_channels,
    size_t block_frames)
{
  const TfxFilterSpec spec = { RATE, n_channels, TFX_SAMPLE_F64, block_frames };
  double *x = test_alloc (FRAMES * n_channels * sizeof *x);
  TestFilter *filter = test_filter_for (before, &spec, tfx_cpu_backend ());
  TestJump jump = { INFINITY, INFINITY, INFINITY, INFINITY };
  bool good = filter != NULL;

  for (size_t i = 0; i < FRAMES * n_channels; i++)
    x[i] = 0.5 * sin (2 * M_PI * 440 * (double)(i / n_channels) / RATE);
  for (size_t i = 0, n; good && i < FRAMES; i += n) {
    if (i == AT) {
      good = test_filter_set_chain (filter, after) == 0;
      after = NULL;
    }
    n = (i < AT ? AT : FRAMES) - i;
    n = n < block_frames ? n : block_frames;
    good = good &&
           test_filter_f64 (filter, x + i * n_channels, n_channels, n) >= 0;
  }
  for (size_t i = 0; i < FRAMES; i++)
    x[i] = x[i * n_channels];
  if (good)
    jump = test_jump_measure (x);
  tfx_chain_unref (&before);
  tfx_chain_unref (&after);
  test_filter_free (&filter);
  free (x);
  return jump;
}
