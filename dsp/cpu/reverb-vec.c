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

/* d, its powers, and the rest. */
typedef struct Weights
{
  double damp, damp2, damp4, now, feedback;
} Weights;

static inline double
run_zero (const double *out, const Weights *w)
{
  return out[0] + w->damp * out[-1];
}

/* The frames behind the last four. */
static void
run_rest (const TfxReverbPart *c, const Weights *w, unsigned k, size_t from,
    size_t n)
{
  double *pole = c->pole[k];

  for (size_t i = from; i < n; i++) {
    const double *out = c->out[k] + i;
    const double all = run_zero (out, w) + w->damp2 * run_zero (out - 2, w);
    const double y = w->now * all + w->damp4 * pole[0];

    c->in[k][i] = TFX_REVERB_INPUT * c->x[i] + w->feedback * y;
    memmove (pole, pole + 1, (TFX_REVERB_POLE - 1) * sizeof *pole);
    pole[TFX_REVERB_POLE - 1] = y;
  }
}

/* wet = the sum of these combs, and of what it is if is_first is false. */
static inline __attribute__ ((always_inline)) void
run_side (const TfxReverbPart *c, Weights w, unsigned first, size_t n,
    const bool is_first)
{
  typedef int64_t Lanes __attribute__ ((vector_size (32)));
  V zero[N_SIDE], pole[N_SIDE];
  const double *out[N_SIDE], *input = c->x;
  double *in[N_SIDE], *wet = c->wet;

  for (unsigned k = 0; k < N_SIDE; k++) {
    out[k] = c->out[first + k];
    in[k] = c->in[first + k];
    zero[k] = (V){ 0, 0, run_zero (out[k] - 2, &w), run_zero (out[k] - 1, &w) };
    pole[k] = load (c->pole[first + k]);
  }
  for (size_t i = 0; i < n; i += 4) {
    const V x = TFX_REVERB_INPUT * load (input + i);
    V sum = { 0 };

    if (!is_first)
      sum = load (wet + i);
    for (unsigned k = 0; k < N_SIDE; k++) {
      const V now = load (out[k] + i);
      const V z = now + w.damp * load (out[k] + i - 1);
      const V z2 = __builtin_shuffle (zero[k], z, (Lanes){ 2, 3, 4, 5 });

      sum += now;
      pole[k] = w.now * (z + w.damp2 * z2) + w.damp4 * pole[k];
      store (in[k] + i, x + w.feedback * pole[k]);
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

  run_side (c, w, 0, n_whole, true);
  for (unsigned k = N_SIDE; k < TFX_REVERB_COMBS; k += N_SIDE)
    run_side (c, w, k, n_whole, false);
  /* (In the order of the combs, as above.) */
  for (size_t i = n_whole; i < n; i++) {
    c->wet[i] = 0.0;
    for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
      c->wet[i] += c->out[k][i];
  }
  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
    run_rest (c, &w, k, n_whole, n);
}

/* All-passes and the mix.  What is no number if the sum is none. */
static double
run_all_passes (const TfxReverbPart *c, size_t n)
{
  const double *const *out = c->out + TFX_REVERB_COMBS;
  double *const *in = c->in + TFX_REVERB_COMBS;
  const double dry_gain = c->dry_gain, wet_gain = c->wet_gain;
  double *x = c->x, is_bad = 0.0;
  V bad = { 0 };
  size_t i = 0;

  for (; i + 4 <= n; i += 4) {
    V wet = load (c->wet + i);

    for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
      const V now = load (out[k] + i);

      store (in[k] + i, wet + 0.5 * now);
      wet = now - wet;
    }
    bad += 0.0 * wet;
    store (x + i, dry_gain * load (x + i) + wet_gain * wet);
  }
  for (; i < n; i++) {
    double wet = c->wet[i];

    for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
      const double now = out[k][i];

      in[k][i] = wet + 0.5 * now;
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
