/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-c.c: gains that follow the level of the signal, sample by sample: the
 * reference; and the choice of kernels. */
#include <math.h>
#include <string.h>

#include "dynamics.h"

void
tfx_dynamics_powers (double a, double powers[TFX_DYNAMICS_SLACK])
{
  double power = 1.0;

  for (unsigned i = 0; i < TFX_DYNAMICS_SLACK; i++)
    powers[i] = power *= a;
}

static unsigned
group_frames (unsigned n_channels)
{
  return 1;
}

static size_t
load_f32 (double *x, const void *from, size_t n)
{
  const float *samples = from;
  size_t n_bad = 0;

  for (size_t i = 0; i < n; i++) {
    const bool is_finite = samples[i] - samples[i] == 0.0f;

    x[i] = is_finite ? samples[i] : 0.0;
    n_bad += !is_finite;
  }
  return n_bad;
}

static size_t
load_f64 (double *x, const void *from, size_t n)
{
  const double *samples = from;
  size_t n_bad = 0;

  for (size_t i = 0; i < n; i++) {
    const bool is_finite = samples[i] - samples[i] == 0.0;

    x[i] = is_finite ? samples[i] : 0.0;
    n_bad += !is_finite;
  }
  return n_bad;
}

static void
store_f32 (void *to, const double *x, size_t n)
{
  float *samples = to;

  for (size_t i = 0; i < n; i++)
    samples[i] = (float)x[i];
}

static void
store_f64 (void *to, const double *x, size_t n)
{
  memcpy (to, x, n * sizeof *x);
}

static void
detect (const double *x, double *level, size_t n_frames, unsigned n_channels,
    const TfxBallistics *b, double *state, double *end)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  const double attack = b->attack[0], release = b->release[0];

  for (unsigned c = 0; c < n_channels; c++) {
    double held = state[TFX_LEVEL_HELD * stride + c];
    double out = state[TFX_LEVEL_OUT * stride + c];
    double square = state[TFX_LEVEL_SQUARE * stride + c];

    for (size_t i = 0; i < n_frames; i++) {
      double r = fabs (x[i * n_channels + c]);

      if (b->is_rms) {
        square = attack * square + (1.0 - attack) * (r * r);
        r = sqrt (square);
      }
      held = release * held;
      held = r > held ? r : held;
      out = attack * out + (1.0 - attack) * held;
      level[i * n_channels + c] = out;
    }
    state[TFX_LEVEL_HELD * stride + c] = held;
    state[TFX_LEVEL_OUT * stride + c] = out;
    state[TFX_LEVEL_SQUARE * stride + c] = square;
  }
  memcpy (end, state, TFX_N_LEVELS * stride * sizeof *end);
}

static double
apply (double *level, double *x, size_t n_frames, unsigned width,
    const TfxGainCurve *curve)
{
  double lowest = 0.0;

  for (size_t i = 0; i < n_frames; i++) {
    const double over =
        curve->sign *
        (log2 (fmax (level[i], TFX_LEVEL_LOWEST)) - curve->threshold);
    const double q =
        fmin (fmax (over + curve->half_knee, 0.0), 2.0 * curve->half_knee);
    const double h =
        q * q * curve->per_knee + fmax (over - curve->half_knee, 0.0);
    const double reduction = fmax (curve->slope * h, curve->floor);
    const double gain = exp2 (reduction + curve->makeup);

    lowest = fmin (lowest, reduction);
    for (unsigned c = 0; c < width; c++)
      x[i * width + c] *= gain;
  }
  return lowest;
}

static void
find_levels (const double *x, double *levels, size_t n)
{
  for (size_t i = 0; i < n; i++)
    levels[i] = fabs (x[i]);
}

static void
find_rest (double *rest, size_t n_frames, unsigned n_channels)
{
  for (size_t i = n_frames * n_channels; i-- > n_channels;) {
    double *before = &rest[i - n_channels];

    *before = rest[i] > *before ? rest[i] : *before;
  }
}

static void
exchange (double *past, double *samples, size_t n, size_t ahead)
{
  for (size_t i = 0; i < n; i++) {
    const double out = past[i + ahead];

    past[i] = samples[i];
    samples[i] = out;
  }
}

static void
find_peaks (const double *levels, const double *rest, double *peaks,
    size_t n_frames, unsigned n_channels, double *most)
{
  for (size_t i = 0; i < n_frames; i++) {
    for (unsigned c = 0; c < n_channels; c++) {
      const double level = *levels++, left = *rest++;

      most[c] = level > most[c] ? level : most[c];
      *peaks++ = left > most[c] ? left : most[c];
    }
  }
}

static double
find_gains (double *peaks, double *gains, size_t n_frames, unsigned n_channels,
    const TfxLimits *limits, double *last)
{
  double least = 1.0;

  for (size_t i = 0; i < n_frames; i++) {
    for (unsigned c = 0; c < n_channels; c++) {
      const double peak = fmax (*peaks++, TFX_LEVEL_LOWEST);
      const double target = fmin (limits->threshold / peak, 1.0);
      const double a = target < last[c] ? limits->attack : limits->release;

      *gains++ = last[c] = a * last[c] + (1.0 - a) * target;
      least = last[c] < least ? last[c] : least;
    }
  }
  return least;
}

static void
limit (double *x, const double *gain, size_t n_frames, unsigned width,
    double most)
{
  for (size_t i = 0; i < n_frames; i++) {
    for (unsigned c = 0; c < width; c++, x++)
      *x = fmax (fmin (*x * gain[i], most), -most);
  }
}

const TfxDynamicsKernels tfx_dynamics_c = {
  .name = "c",
  .group_frames = group_frames,
  .load = { load_f32, load_f64 },
  .store = { store_f32, store_f64 },
  .detect = detect,
  .apply = apply,
  .find_levels = find_levels,
  .find_peaks = find_peaks,
  .find_rest = find_rest,
  .exchange = exchange,
  .find_gains = find_gains,
  .limit = limit,
};

const TfxDynamicsKernels *
tfx_dynamics_kernels_for (const char *name)
{
  static const TfxDynamicsKernels *const all[] = {
#if defined(__x86_64__)
    &tfx_dynamics_sse2,
    &tfx_dynamics_avx2,
    &tfx_dynamics_avx512,
#elif defined(__aarch64__)
    &tfx_dynamics_neon,
#endif
    &tfx_dynamics_c,
  };
  size_t i = 0;

  while (all[i] != &tfx_dynamics_c && strcmp (all[i]->name, name) != 0)
    i++;
  return all[i];
}
