/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-vec.c: gains that follow the level of the signal; compiled once for
 * each instruction set. */
#include "dynamics.h"
#include "dynamics-math.h"

/* Whether a sum of 0 times samples is not 0: one of them is not finite. */
static bool
is_bad (V sum)
{
  double all = 0.0;

  for (unsigned i = 0; i < W; i++)
    all += sum[i];
  return all != 0.0;
}

/* In a register. */
INLINE V
v_load_once (const double *p)
{
  V a = v_load_f64 (p);

#if defined(__aarch64__)
  __asm__("" : "+w"(a));
#else
  __asm__("" : "+v"(a));
#endif
  return a;
}

#include "dynamics-channels_tmpl.c"
#include "dynamics-levels_tmpl.c"
#include "dynamics-limits_tmpl.c"
#include "dynamics-blocks_tmpl.c"
#include "dynamics-noise_tmpl.c"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)

/* Converts and checks in one pass; replaces bad samples, which are rare, in another. */
INLINE size_t
load_type (double *x, const void *from, size_t n, const bool is_f32)
{
  const V zero = v_set1 (0.0);
  V sum = zero, other = zero;
  size_t i = 0, n_bad = 0;

  for (; i + 2 * W <= n; i += 2 * W) {
    const V a = load_samples (from, i, is_f32);
    const V b = load_samples (from, i + W, is_f32);

    sum = v_fma (a, zero, sum);
    other = v_fma (b, zero, other);
    v_store_f64 (x + i, a);
    v_store_f64 (x + i + W, b);
  }
  for (; i < n; i++) {
    x[i] = get_sample (from, i, is_f32);
    sum[0] += 0.0 * x[i];
  }
  for (i = is_bad (sum + other) ? 0 : n; i < n; i++) {
    const bool is_finite = x[i] - x[i] == 0.0;

    x[i] = is_finite ? x[i] : 0.0;
    n_bad += !is_finite;
  }
  return n_bad;
}

static size_t
load (double *x, const void *from, TfxSample type, size_t n)
{
  return type == TFX_SAMPLE_F32 ? load_type (x, from, n, true)
                                : load_type (x, from, n, false);
}

const TfxDynamicsKernels CAT (tfx_dynamics, ISA) = {
  .copies = &CAT (tfx_kernels, ISA),
  .group_frames = group_frames,
  .load = load,
  .run = run,
  .are_finite = are_finite,
  .find_rest = find_rest,
  .limit_frames = limit_frames,
  .limit = limit,
  .find_true_peaks = find_true_peaks,
  .find_most = find_most,
  .add_up = add_up,
  .weigh = weigh,
  .swap_ramp = swap_ramp,
  .clip = clip,
  .multiply = multiply,
  .suppress = suppress,
  .link = link,
  .mix = mix,
  .mix_floats = mix_floats,
};
