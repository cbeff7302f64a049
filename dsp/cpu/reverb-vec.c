/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb-vec.c: a reverb over a part of the stream; compiled once for each instruction set. */
#if defined(__FMA__)
#include <immintrin.h>
#endif

#include <string.h>

#include "reverb.h"
#include "shuffle.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define INLINE static inline __attribute__ ((always_inline))

/* Lanes, and the combs that run at a time with m channels: all that fit the registers, because
 * each waits for its earlier frames. */
#if defined(__AVX512F__)
#define W 8
#elif defined(__AVX2__)
#define W 4
#else
#define W 2
#endif
#define N_SIDE(m) (W == 4 && (m) == 1 ? 2 : 4)

typedef double V __attribute__ ((vector_size (8 * W)));
typedef int64_t Lanes __attribute__ ((vector_size (8 * W)));
/* The same at any address. */
typedef double Unaligned
    __attribute__ ((vector_size (8 * W), aligned (8), may_alias));

INLINE V
load (const double *p)
{
  return *(const Unaligned *)p;
}

INLINE void
store (double *p, V v)
{
  *(Unaligned *)p = v;
}

/* a b + c, with AVX2 and AVX-512 rounded once: one number, and all lanes. */
INLINE double
multiply_add (double a, double b, double c)
{
#if defined(__FMA__)
  return __builtin_fma (a, b, c);
#else
  return a * b + c;
#endif
}

INLINE V
multiply_add_all (double a, V b, V c)
{
#if defined(__AVX512F__)
  return (V)_mm512_fmadd_pd (_mm512_set1_pd (a), (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  return (V)_mm256_fmadd_pd (_mm256_set1_pd (a), (__m256d)b, (__m256d)c);
#else
  return a * b + c;
#endif
}

/* The last n lanes of a, after the first ones of b. */
INLINE V
shift (V a, V b, const unsigned n)
{
  Lanes lanes;

  for (unsigned i = 0; i < W; i++)
    lanes[i] = W - n + i;
  return tfx_shuffle2 (a, b, lanes);
}

/* d, its powers, and the rest. */
typedef struct Weights
{
  double damp, damp2, last, now, feedback;
} Weights;

INLINE Weights
weights_of (const TfxReverbPart *c, const unsigned look)
{
  const double d = c->damp, d2 = d * d;

  return (Weights){ d, d2,
    look == 1   ? d
    : look == 2 ? d2
                : d2 * d2,
    1.0 - d, c->feedback };
}

/* The one-poles of a vector; *last has those that it looks back at. */
INLINE V
step_poles (const Weights *w, V *last, V now, const unsigned n_rows)
{
#if W == 8
  /* The second half looks back at the first. */
  if (n_rows > TFX_REVERB_POLE) {
    const __m256d back = _mm256_set1_pd (w->last);
    const __m512d x = (__m512d)now;
    const __m256d first = _mm256_fmadd_pd (back,
        _mm512_castpd512_pd256 ((__m512d)*last), _mm512_castpd512_pd256 (x));
    const __m256d second =
        _mm256_fmadd_pd (back, first, _mm512_extractf64x4_pd (x, 1));

    *last = (V)_mm512_castpd256_pd512 (second);
    return (V)_mm512_insertf64x4 (_mm512_castpd256_pd512 (first), second, 1);
  }
#endif
  (void)n_rows;
  return *last = multiply_add_all (w->last, *last, now);
}

/* Of comb k. */
INLINE double *
past_of (const TfxReverbPart *c, unsigned k)
{
  return c->past + k * TFX_REVERB_PAST * c->n_channels;
}

INLINE double *
pole_of (const TfxReverbPart *c, unsigned k)
{
  return c->pole + k * TFX_REVERB_POLE * c->n_channels;
}

/* The rows behind the last vector. */
static void
run_rest (const TfxReverbPart *c, const Weights *w, unsigned k, size_t from,
    size_t n)
{
  const unsigned m = c->n_channels, look = tfx_reverb_look (W, m);

  for (size_t i = from * m; i < n * m; i++) {
    const unsigned channel = i % m;
    double *pole = pole_of (c, k), *past = past_of (c, k);
    const double now = c->line[k][i];
    double z = now, y;

    if (look > 1)
      z = multiply_add (w->damp, past[2 * m + channel], now);
    if (look > 2)
      z = multiply_add (w->damp2,
          multiply_add (w->damp, past[channel], past[m + channel]), z);
    y = multiply_add (w->last, pole[(TFX_REVERB_POLE - look) * m + channel],
        w->now * z);
    c->wet[i] = k == 0 ? now : c->wet[i] + now;
    c->line[k][i] = multiply_add (w->feedback, y, TFX_REVERB_INPUT * c->x[i]);
    tfx_reverb_keep (past, TFX_REVERB_PAST, m, channel, now);
    tfx_reverb_keep (pole, TFX_REVERB_POLE, m, channel, y);
  }
}

/* Loads the past of a comb, which ends at `end`: its outputs, one frame before each of a vector,
 * and z of the last two frames in the last lanes. */
INLINE void
begin_comb (const Weights *w, const double *end, const double *line,
    const unsigned m, V *before, V *zero)
{
  const V newest = load (end - W), older = load (end - W - m);

  *before = shift (newest, load (line), m);
  *zero = multiply_add_all (w->damp, older, newest);
}

/* Writes the sum of the combs to n values of wet, or adds it if is_first is false. */
INLINE void
run_side (const TfxReverbPart *c, Weights w, unsigned first, size_t n,
    const unsigned m, const bool is_first)
{
  const unsigned n_rows = W / m, look = tfx_reverb_look (W, m);
  const unsigned n_side = N_SIDE (m);
  V before[TFX_REVERB_COMBS], zero[TFX_REVERB_COMBS], pole[TFX_REVERB_COMBS];
  double *line[TFX_REVERB_COMBS], *wet = c->wet;
  const double *input = c->x;

#pragma GCC unroll 4
  for (unsigned k = 0; k < n_side; k++) {
    line[k] = c->line[first + k];
    if (look > 1)
      begin_comb (&w, past_of (c, first + k + 1), line[k], m, &before[k],
          &zero[k]);
    pole[k] = load (pole_of (c, first + k) + (TFX_REVERB_POLE - look) * m);
  }
  for (unsigned k = 0; k < n_side; k++)
    memcpy (past_of (c, first + k), line[k] + n - TFX_REVERB_PAST * m,
        TFX_REVERB_PAST * m * sizeof (double));
  for (size_t i = 0; i < n; i += W) {
    const V x = TFX_REVERB_INPUT * load (input + i);
    V sum = { 0 };

    if (!is_first)
      sum = load (wet + i);
#pragma GCC unroll 4
    for (unsigned k = 0; k < n_side; k++) {
      const V now = load (line[k] + i);
      V z = now;

      if (look > 1)
        z = multiply_add_all (w.damp, before[k], now);
      if (look > 2) {
        const V z2 = shift (zero[k], z, 2 * m);

        zero[k] = z;
        z = multiply_add_all (w.damp2, z2, z);
      }
      sum = is_first && k == 0 ? now : sum + now;
      z = step_poles (&w, &pole[k], w.now * z, n_rows);
      /* (What comes next looks back at, before it is gone.) */
      if (look > 1)
        before[k] = load (line[k] + i + W - m);
      store (line[k] + i, multiply_add_all (w.feedback, z, x));
    }
    store (wet + i, sum);
  }
#pragma GCC unroll 4
  for (unsigned k = 0; k < n_side; k++)
    memcpy (pole_of (c, first + k) + (TFX_REVERB_POLE - look) * m, &pole[k],
        look * m * sizeof (double));
}

/* All-passes and the mix, over n values. */
INLINE void
run_all_passes (const TfxReverbPart *c, size_t n, const unsigned m, double *bad)
{
  double *const *line = c->line + TFX_REVERB_COMBS;
  const double dry_gain = c->dry_gain, wet_gain = c->wet_gain;
  double *x = c->x;
  double lanes[W];
  V is_bad = { 0 };
  size_t i = 0;

  for (; i + W <= n; i += W) {
    V wet = load (c->wet + i);

    for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
      const V now = load (line[k] + i);

      store (line[k] + i, multiply_add_all (0.5, now, wet));
      wet = now - wet;
    }
    is_bad = multiply_add_all (0.0, wet, is_bad);
    store (x + i, dry_gain * load (x + i) + wet_gain * wet);
  }
  store (lanes, is_bad);
  for (unsigned k = 0; k < m; k++) {
    bad[k] = lanes[k];
    for (unsigned row = m; row < W; row += m)
      bad[k] += lanes[row + k];
  }
  for (; i < n; i++) {
    double wet = c->wet[i];

    for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
      const double now = line[k][i];

      line[k][i] = wet + 0.5 * now;
      wet = now - wet;
    }
    bad[i % m] += 0.0 * wet;
    x[i] = dry_gain * x[i] + wet_gain * wet;
  }
}

INLINE void
run_rows (const TfxReverbPart *c, size_t n, const unsigned m, double *bad)
{
  const Weights w = weights_of (c, tfx_reverb_look (W, m));
  size_t n_whole = n * m / W * W;

  /* Vectors are what is looked back at. */
  if (n_whole < TFX_REVERB_PAST * m)
    n_whole = 0;
  if (n_whole > 0)
    run_side (c, w, 0, n_whole, m, true);
  for (unsigned k = N_SIDE (m); n_whole > 0 && k < TFX_REVERB_COMBS;
       k += N_SIDE (m))
    run_side (c, w, k, n_whole, m, false);
  for (unsigned k = 0; n_whole < n * m && k < TFX_REVERB_COMBS; k++)
    run_rest (c, &w, k, n_whole / m, n);
  run_all_passes (c, n * m, m, bad);
}

static void
run (const TfxReverbPart *c, size_t n, double *bad)
{
  switch (c->n_channels) {
    case 1:
      run_rows (c, n, 1, bad);
      break;
#if W > 4
    case 4:
      run_rows (c, n, 4, bad);
      break;
#endif
#if W > 2
    case 2:
      run_rows (c, n, 2, bad);
      break;
#endif
    default:
      run_rows (c, n, W, bad);
      break;
  }
#if defined(__AVX__)
  /* (GCC leaves that out where zeros are all that it stores from the upper halves.) */
  _mm256_zeroupper ();
#endif
}

const TfxReverbKernel CAT (tfx_reverb, CONVOLVER_ISA) = { run, W };
