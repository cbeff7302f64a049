/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb-vec.c: a reverb over a part of the stream; compiled once for each instruction set. */
#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "reverb.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)

/* Four frames, in as many registers as that takes. */
typedef double V __attribute__ ((vector_size (32)));
/* The same where it lies in memory. */
typedef double Unaligned
    __attribute__ ((vector_size (32), aligned (8), may_alias));

/* Combs at a time, as many as the registers hold: each waits for the frames before. */
#if defined(__AVX512VL__) || defined(__aarch64__)
#define N_SIDE 4
#else
#define N_SIDE 2
#endif

static inline __attribute__ ((always_inline)) V
load (const double *p)
{
  return *(const Unaligned *)p;
}

static inline __attribute__ ((always_inline)) void
store (double *p, V v)
{
  *(Unaligned *)p = v;
}

/* a b + c, with AVX2 and AVX-512 rounded once: one number, and four. */
static inline double
multiply_add (double a, double b, double c)
{
#if defined(__FMA__)
  return __builtin_fma (a, b, c);
#else
  return a * b + c;
#endif
}

static inline __attribute__ ((always_inline)) V
multiply_add_all (double a, V b, V c)
{
#if defined(__FMA__)
  return (V)_mm256_fmadd_pd (_mm256_set1_pd (a), (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

/* d, its powers, and the rest. */
typedef struct Weights
{
  double damp, damp2, damp4, now, feedback;
} Weights;

/* The frames behind the last four. */
static void
run_rest (const TfxReverbPart *c, const Weights *w, unsigned k, size_t from,
    size_t n)
{
  double *pole = c->pole[k], *past = c->past[k];

  for (size_t i = from; i < n; i++) {
    const double now = c->line[k][i];
    const double zero = multiply_add (w->damp, past[2], now);
    const double before = multiply_add (w->damp, past[0], past[1]);
    const double y = multiply_add (w->damp4, pole[0],
        w->now * multiply_add (w->damp2, before, zero));

    c->wet[i] = k == 0 ? now : c->wet[i] + now;
    c->line[k][i] = multiply_add (w->feedback, y, TFX_REVERB_INPUT * c->x[i]);
    tfx_reverb_keep (past, TFX_REVERB_PAST, now);
    tfx_reverb_keep (pole, TFX_REVERB_POLE, y);
  }
}

/* wet = the sum of these combs, and of what it is if is_first is false. */
static inline __attribute__ ((always_inline)) void
run_side (const TfxReverbPart *c, Weights w, unsigned first, size_t n,
    const bool is_first)
{
  typedef int64_t Lanes __attribute__ ((vector_size (32)));
  V before[N_SIDE], zero[N_SIDE], pole[N_SIDE];
  const double *input = c->x;
  double *line[N_SIDE], *wet = c->wet;

  for (unsigned k = 0; k < N_SIDE; k++) {
    double *past = c->past[first + k];

    line[k] = c->line[first + k];
    before[k] = (V){ past[2], line[k][0], line[k][1], line[k][2] };
    zero[k] = (V){ 0, 0, multiply_add (w.damp, past[0], past[1]),
      multiply_add (w.damp, past[1], past[2]) };
    pole[k] = load (c->pole[first + k]);
    for (unsigned i = 0; i < TFX_REVERB_PAST; i++)
      past[i] = line[k][n - TFX_REVERB_PAST + i];
  }
  for (size_t i = 0; i < n; i += 4) {
    const V x = TFX_REVERB_INPUT * load (input + i);
    V sum = { 0 };

    if (!is_first)
      sum = load (wet + i);
    for (unsigned k = 0; k < N_SIDE; k++) {
      const V now = load (line[k] + i);
      const V z = multiply_add_all (w.damp, before[k], now);
      const V z2 = __builtin_shuffle (zero[k], z, (Lanes){ 2, 3, 4, 5 });

      sum = is_first && k == 0 ? now : sum + now;
      pole[k] = multiply_add_all (w.damp4, pole[k],
          w.now * multiply_add_all (w.damp2, z2, z));
      /* (What comes next looks back at, before it is gone.) */
      before[k] = load (line[k] + i + 3);
      store (line[k] + i, multiply_add_all (w.feedback, pole[k], x));
      zero[k] = z;
    }
    store (wet + i, sum);
  }
  for (unsigned k = 0; k < N_SIDE; k++)
    store (c->pole[first + k], pole[k]);
}

static void
run_combs (const TfxReverbPart *c, size_t n)
{
  const double d = c->damp, d2 = d * d;
  const Weights w = { d, d2, d2 * d2, 1.0 - d, c->feedback };
  const size_t n_whole = n / 4 * 4;

  if (n_whole > 0)
    run_side (c, w, 0, n_whole, true);
  for (unsigned k = N_SIDE; n_whole > 0 && k < TFX_REVERB_COMBS; k += N_SIDE)
    run_side (c, w, k, n_whole, false);
  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
    run_rest (c, &w, k, n_whole, n);
}

/* All-passes and the mix.  What is no number if the sum is none. */
static double
run_all_passes (const TfxReverbPart *c, size_t n)
{
  double *const *line = c->line + TFX_REVERB_COMBS;
  const double dry_gain = c->dry_gain, wet_gain = c->wet_gain;
  double *x = c->x, is_bad = 0.0;
  V bad = { 0 };
  size_t i = 0;

  for (; i + 4 <= n; i += 4) {
    V wet = load (c->wet + i);

    for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
      const V now = load (line[k] + i);

      store (line[k] + i, wet + 0.5 * now);
      wet = now - wet;
    }
    bad += 0.0 * wet;
    store (x + i, dry_gain * load (x + i) + wet_gain * wet);
  }
  for (; i < n; i++) {
    double wet = c->wet[i];

    for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
      const double now = line[k][i];

      line[k][i] = wet + 0.5 * now;
      wet = now - wet;
    }
    is_bad += 0.0 * wet;
    x[i] = dry_gain * x[i] + wet_gain * wet;
  }
  return is_bad + (bad[0] + bad[1]) + (bad[2] + bad[3]);
}

double
CAT (tfx_reverb_run, CONVOLVER_ISA) (const TfxReverbPart *c, size_t n)
{
  run_combs (c, n);
  return run_all_passes (c, n);
}
