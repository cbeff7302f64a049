/* SPDX-License-Identifier: LGPL-2.1-or-later
 * jump.c: how audible a change of settings is. */
#include "jump.h"

#include <math.h>
#include <stdlib.h>

#define RATE 48000.0
#define FRAMES 48000
#define AT 24000
#define SIZE 16384     /* of the spectrum: a third of a second */
#define STEADY 2400    /* frames measured before, and after */
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
    /* The first one last: it marks that all are there. */
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

double
test_jump_bend (const double *frames, size_t n)
{
  return find_extremes (frames, n).bend;
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

/* A sine, weighted by weigh(), in blocks through one chain and from frame AT on, unless it
 * is NULL, through another: channel 0, to be freed; NULL if one is refused. */
static double *
run_sine (TfxChain *before, TfxChain *after, unsigned n_channels,
    size_t block_frames, double (*weigh) (size_t frame))
{
  const TfxFilterSpec spec = { RATE, n_channels, TFX_SAMPLE_F64, block_frames };
  double *x = test_alloc_f64 (FRAMES * n_channels);
  TestFilter *filter = test_filter_for (before, &spec, tfx_cpu_backend ());
  int ret = filter ? 0 : -1;

  for (size_t i = 0; i < FRAMES * n_channels; i++)
    x[i] = weigh (i / n_channels) *
           sin (2 * M_PI * 440 * (double)(i / n_channels) / RATE);
  for (size_t i = 0, n; ret >= 0 && i < FRAMES; i += n) {
    if (i == AT && after)
      ret = test_filter_set_chain (filter, tfx_chain_ref (after));
    n = (i < AT ? AT : FRAMES) - i;
    n = n < block_frames ? n : block_frames;
    if (ret >= 0)
      ret = test_filter_f64 (filter, x + i * n_channels, n_channels, n);
  }
  for (size_t i = 0; i < FRAMES; i++)
    x[i] = x[i * n_channels];
  test_filter_free (&filter);
  if (ret >= 0)
    return x;
  free (x);
  return NULL;
}

/* A soft onset: a reverb would keep a click of it for long. */
static double
weigh_all (size_t frame)
{
  const double t = fmin ((double)frame / 4800, 1);

  return 0.5 * (0.5 - 0.5 * cos (M_PI * t));
}

TestJump
test_jump_between (TfxChain *before, TfxChain *after, unsigned n_channels,
    size_t block_frames)
{
  double *x = run_sine (before, after, n_channels, block_frames, weigh_all);
  const TestJump none = { INFINITY, INFINITY, INFINITY, INFINITY };
  const TestJump jump = x ? test_jump_measure (x) : none;

  tfx_chain_unref (&before);
  tfx_chain_unref (&after);
  free (x);
  return jump;
}

/* ---- no jump ------------------------------------------------------------------- */

/* The part of the second one: half a cosine. */
static double
find_part (size_t frame)
{
  const double t = ((double)frame - AT) / (0.01 * RATE);

  return 0.5 - 0.5 * cos (M_PI * fmin (fmax (t, 0), 1));
}

static double
weigh_last (size_t frame)
{
  return frame < AT ? 0 : 0.5;
}

TestJump
test_jump_fade (TfxChain *before, TfxChain *after, unsigned n_channels,
    TestFade fade)
{
  double *x = run_sine (before, NULL, n_channels, 480, weigh_all);
  double *y = run_sine (after, NULL, n_channels, 480,
      fade == TEST_FADE_BEGIN ? weigh_last : weigh_all);
  TestJump jump = { INFINITY, INFINITY, INFINITY, INFINITY };

  for (size_t i = 0; x && y && i < FRAMES; i++)
    x[i] += find_part (i) * (y[i] - x[i]);
  if (x && y)
    jump = test_jump_measure (x);
  tfx_chain_unref (&before);
  tfx_chain_unref (&after);
  free (x);
  free (y);
  return jump;
}
