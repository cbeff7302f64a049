/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb-vec.c: a reverb over a part of the stream; compiled once for each instruction set. */
#include <string.h>

#include "reverb.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)

/* Four frames, in as many registers as that takes. */
typedef double V __attribute__ ((vector_size (32)));
/* The same where it lies in memory. */
typedef double Unaligned
    __attribute__ ((vector_size (32), aligned (8), may_alias));

#define N_SIDE 4 /* combs at a time: each waits for the frames before */

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

typedef struct Weights
{
  double now, before, before2, before3, pole, feedback;
} Weights;

static inline void
push (double *past, unsigned n, double value)
{
  for (unsigned i = 1; i < n; i++)
    past[i - 1] = past[i];
  past[n - 1] = value;
}

/* The frames behind the last four. */
static void
run_rest (const TfxReverbPart *c, const Weights *w, unsigned k, size_t from,
    size_t n)
{
  double *past = c->past[k], *pole = c->pole[k];

  for (size_t i = from; i < n; i++) {
    const double now = c->line[k][i];
    const double y = w->now * now + w->before * past[3] +
                     (w->before2 * past[2] + w->before3 * past[1]) +
                     w->pole * pole[0];

    c->line[k][i] = TFX_REVERB_INPUT * c->x[i] + w->feedback * y;
    push (past, TFX_REVERB_PAST + 1, now);
    push (pole, TFX_REVERB_POLE, y);
  }
}

/* wet = the sum of these combs, and of what it is if is_first is false. */
static inline __attribute__ ((always_inline)) void
run_side (const TfxReverbPart *c, Weights w, unsigned first, size_t n,
    const bool is_first)
{
  typedef int64_t Lanes __attribute__ ((vector_size (32)));
  V past[N_SIDE], pole[N_SIDE];
  double *line[N_SIDE];

  for (unsigned k = 0; k < N_SIDE; k++) {
    line[k] = c->line[first + k];
    past[k] = load (c->past[first + k]);
    pole[k] = load (c->pole[first + k]);
  }
  for (size_t i = 0; i < n; i += 4) {
    const V x = TFX_REVERB_INPUT * load (c->x + i);
    V sum = { 0 };

    if (!is_first)
      sum = load (c->wet + i);
    for (unsigned k = 0; k < N_SIDE; k++) {
      const V now = load (line[k] + i);
      const V before2 = __builtin_shuffle (past[k], now, (Lanes){ 2, 3, 4, 5 });
      const V before = __builtin_shuffle (before2, now, (Lanes){ 1, 4, 3, 6 });
      const V before3 =
          __builtin_shuffle (past[k], before2, (Lanes){ 1, 4, 3, 6 });

      sum += now;
      pole[k] = w.now * now + w.before * before +
                (w.before2 * before2 + w.before3 * before3) + w.pole * pole[k];
      store (line[k] + i, x + w.feedback * pole[k]);
      past[k] = now;
    }
    store (c->wet + i, sum);
  }
  for (unsigned k = 0; k < N_SIDE; k++) {
    store (c->past[first + k], past[k]);
    store (c->pole[first + k], pole[k]);
  }
}

static void
run_combs (const TfxReverbPart *c, size_t n)
{
  const double d = c->damp;
  const Weights w = { 1.0 - d, (1.0 - d) * d, (1.0 - d) * (d * d),
    (1.0 - d) * (d * d * d), d * d * (d * d), c->feedback };
  const size_t n_whole = n / 4 * 4;

  run_side (c, w, 0, n_whole, true);
  for (unsigned k = N_SIDE; k < TFX_REVERB_COMBS; k += N_SIDE)
    run_side (c, w, k, n_whole, false);
  /* (In the order of the combs, as above.) */
  for (size_t i = n_whole; i < n; i++) {
    c->wet[i] = 0.0;
    for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
      c->wet[i] += c->line[k][i];
  }
  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
    run_rest (c, &w, k, n_whole, n);
}

/* All-passes and the mix.  What is no number if the sum is none. */
static double
run_all_passes (const TfxReverbPart *c, size_t n)
{
  double *const *line = c->line + TFX_REVERB_COMBS;
  double is_bad = 0.0;
  V bad = { 0 };
  size_t i = 0;

  for (; i + 4 <= n; i += 4) {
    V wet = load (c->wet + i);

    for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
      const V out = load (line[k] + i);

      store (line[k] + i, wet + 0.5 * out);
      wet = out - wet;
    }
    bad += 0.0 * wet;
    store (c->x + i, c->dry_gain * load (c->x + i) + c->wet_gain * wet);
  }
  for (; i < n; i++) {
    double wet = c->wet[i];

    for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
      const double out = line[k][i];

      line[k][i] = wet + 0.5 * out;
      wet = out - wet;
    }
    is_bad += 0.0 * wet;
    c->x[i] = c->dry_gain * c->x[i] + c->wet_gain * wet;
  }
  return is_bad + (bad[0] + bad[1]) + (bad[2] + bad[3]);
}

double
CAT (tfx_reverb_run, CONVOLVER_ISA) (const TfxReverbPart *c, size_t n)
{
  run_combs (c, n);
  return run_all_passes (c, n);
}
