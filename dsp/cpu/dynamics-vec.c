/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-vec.c: gains that follow the level of the signal; compiled once for
 * each instruction set. */
#include "dynamics.h"
#include "dynamics-math.h"

#include <string.h>

/* Whether a sum of 0 times samples has one that is not finite. */
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
#include "dynamics-cells_tmpl.c"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)
#define STRING2(a) #a
#define STRING(a) STRING2 (a)

static size_t
clean (double *x, size_t n)
{
  size_t n_bad = 0;

  for (size_t i = 0; i < n; i++) {
    const bool is_finite = x[i] - x[i] == 0.0;

    x[i] = is_finite ? x[i] : 0.0;
    n_bad += !is_finite;
  }
  return n_bad;
}

INLINE size_t
load (double *x, const void *from, size_t n, const bool is_f32)
{
  const float *f32 = from;
  const double *f64 = from;
  const V zero = v_set1 (0.0);
  V sum = zero, other = zero;
  size_t i = 0;

  for (; i + 2 * W <= n; i += 2 * W) {
    const V a = is_f32 ? v_load_f32 (f32 + i) : v_load_f64 (f64 + i);
    const V b = is_f32 ? v_load_f32 (f32 + i + W) : v_load_f64 (f64 + i + W);

    sum = v_fma (a, zero, sum);
    other = v_fma (b, zero, other);
    v_store_f64 (x + i, a);
    v_store_f64 (x + i + W, b);
  }
  for (; i < n; i++) {
    x[i] = get_sample (from, i, is_f32);
    sum[0] += 0.0 * x[i];
  }
  return is_bad (sum + other) ? clean (x, n) : 0;
}

static size_t
load_f32 (double *x, const void *from, size_t n)
{
  return load (x, from, n, true);
}

static size_t
load_f64 (double *x, const void *from, size_t n)
{
  return load (x, from, n, false);
}

static void
store_f32 (void *to, const double *x, size_t n)
{
  float *samples = to;
  size_t i = 0;

  /* (A function that names no wide register would leave their upper halves in use, for
   * which what follows waits.) */
  for (; i + W <= n; i += W)
    v_store_f32 (samples + i, v_load_once (x + i));
  for (; i < n; i++)
    samples[i] = (float)x[i];
}

static void
store_f64 (void *to, const double *x, size_t n)
{
  memcpy (to, x, n * sizeof *x);
}

const TfxDynamicsKernels CAT (tfx_dynamics, ISA) = {
  .copies = &CAT (tfx_kernels, ISA),
  .group_frames = group_frames,
  .load = { load_f32, load_f64 },
  .store = { store_f32, store_f64 },
  .run = run,
  .are_finite = are_finite,
  .takes_floats = takes_floats,
  .run_floats = run_floats,
  .find_targets = find_targets,
  .find_rest = find_rest,
  .limit_frames = limit_frames,
  .follow = follow,
  .limit = limit,
  .limits_lanes = limits_lanes,
  .limit_channels = limit_channels,
  .find_true_peaks = find_true_peaks,
  .find_most = find_most,
  .add_up = add_up,
  .weigh = weigh,
  .swap_ramp = swap_ramp,
  .clip = clip,
  .multiply = multiply,
  .link = link,
  .mix = mix,
  .mix_floats = mix_floats,
};
