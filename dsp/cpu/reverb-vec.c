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

/* The frames behind the last four. */
static void
run_rest (const TfxReverbPart *c, const Weights *w, unsigned k, size_t from,
    size_t n)
{
  const double *out = c->out[k];
  double *pole = c->pole[k];

  for (size_t i = from; i < n; i++) {
    const double y = w->now * out[i] + w->before * out[i - 1] +
                     (w->before2 * out[i - 2] + w->before3 * out[i - 3]) +
                     w->pole * pole[0];

    c->in[k][i] = c->fed[i] + w->feedback * y;
    memmove (pole, pole + 1, (TFX_REVERB_POLE - 1) * sizeof *pole);
    pole[TFX_REVERB_POLE - 1] = y;
  }
}

static void
run_side (const TfxReverbPart *c, Weights w, unsigned first, size_t n)
{
  const double *out[N_SIDE], *fed = c->fed;
  double *in[N_SIDE], *wet = c->wet;
  V pole[N_SIDE];

  for (unsigned k = 0; k < N_SIDE; k++) {
    out[k] = c->out[first + k];
    in[k] = c->in[first + k];
    pole[k] = load (c->pole[first + k]);
  }
  for (size_t i = 0; i < n; i += 4) {
    const V x = load (fed + i);
    V sum = load (wet + i);

    for (unsigned k = 0; k < N_SIDE; k++) {
      const double *o = out[k] + i;
      const V now = load (o);

      sum += now;
      pole[k] = w.now * now + w.before * load (o - 1) +
                (w.before2 * load (o - 2) + w.before3 * load (o - 3)) +
                w.pole * pole[k];
      store (in[k] + i, x + w.feedback * pole[k]);
    }
    store (wet + i, sum);
  }
  for (unsigned k = 0; k < N_SIDE; k++)
    store (c->pole[first + k], pole[k]);
}

static void
run_combs (const TfxReverbPart *c, size_t n)
{
  const double d = c->damp;
  const Weights w = { 1.0 - d, (1.0 - d) * d, (1.0 - d) * (d * d),
    (1.0 - d) * (d * d * d), d * d * (d * d), c->feedback };
  const size_t n_whole = n / 4 * 4;

  for (unsigned k = 0; k < TFX_REVERB_COMBS; k += N_SIDE)
    run_side (c, w, k, n_whole);
  /* (In the order of the combs, as above.) */
  for (size_t i = n_whole; i < n; i++) {
    for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
      c->wet[i] += c->out[k][i];
  }
  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
    run_rest (c, &w, k, n_whole, n);
}

static void
run_all_pass (const double *restrict out, double *restrict in,
    double *restrict wet, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    in[i] = wet[i] + 0.5 * out[i];
    wet[i] = out[i] - wet[i];
  }
}

static void
feed (const double *restrict x, double *restrict fed, double *restrict wet,
    size_t n)
{
  for (size_t i = 0; i < n; i++) {
    fed[i] = TFX_REVERB_INPUT * x[i];
    wet[i] = 0.0;
  }
}

static double
mix (double *restrict x, const double *restrict wet, double dry_gain,
    double wet_gain, size_t n)
{
  V bad = { 0 };
  double is_bad = 0.0;
  size_t i = 0;

  for (; i + 4 <= n; i += 4) {
    bad += 0.0 * load (wet + i);
    store (x + i, dry_gain * load (x + i) + wet_gain * load (wet + i));
  }
  for (; i < n; i++) {
    is_bad += 0.0 * wet[i];
    x[i] = dry_gain * x[i] + wet_gain * wet[i];
  }
  return is_bad + (bad[0] + bad[1]) + (bad[2] + bad[3]);
}

double
CAT (tfx_reverb_run, CONVOLVER_ISA) (const TfxReverbPart *c, size_t n)
{
  feed (c->x, c->fed, c->wet, n);
  run_combs (c, n);
  for (unsigned k = TFX_REVERB_COMBS; k < TFX_REVERB_LINES; k++)
    run_all_pass (c->out[k], c->in[k], c->wet, n);
  return mix (c->x, c->wet, c->dry_gain, c->wet_gain, n);
}
