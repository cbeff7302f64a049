/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-c.c: gains that follow the level of the signal, sample by sample: the
 * reference. */
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

/* In octaves. */
static double
reduce (const TfxGainCurve *c, double level)
{
  const double over =
      c->sign * (log2 (fmax (level, TFX_LEVEL_LOWEST)) - c->threshold);
  const double q = fmin (fmax (over + c->half_knee, 0.0), 2.0 * c->half_knee);
  const double h = q * q * c->per_knee + fmax (over - c->half_knee, 0.0);

  return fmax (c->slope * h, c->floor);
}

static double
run (const double *x, double *y, size_t n_frames, unsigned n_channels,
    bool is_product, const TfxBallistics *b, const TfxGainCurve *curve,
    bool is_f32, double *state, double *end)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  const double attack = b->attack[0], release = b->release[0];
  double lowest = 0.0;

  for (unsigned c = 0; c < n_channels; c++) {
    double held = state[TFX_LEVEL_HELD * stride + c];
    double out = state[TFX_LEVEL_OUT * stride + c];
    double square = state[TFX_LEVEL_SQUARE * stride + c];

    for (size_t i = c; i < n_frames * n_channels; i += n_channels) {
      double r = fabs (x[i]), reduction, gain;

      if (b->is_rms) {
        r = fmin (r * r, TFX_LEVEL_MOST_SQUARE);
        square = attack * square + (1.0 - attack) * r;
        r = sqrt (square);
      }
      held = fmax (r, release * held);
      out = attack * out + (1.0 - attack) * held;
      reduction = reduce (curve, out);
      gain = exp2 (reduction + curve->makeup);
      y[i] = is_product ? gain * x[i] : gain;
      lowest = fmin (lowest, reduction);
    }
    state[TFX_LEVEL_HELD * stride + c] = held;
    state[TFX_LEVEL_OUT * stride + c] = out;
    state[TFX_LEVEL_SQUARE * stride + c] = square;
  }
  memcpy (end, state, TFX_N_LEVELS * stride * sizeof *end);
  return lowest;
}

static void
find_targets (const double *x, const double *rest, double *targets,
    size_t n_frames, unsigned n_channels, const double *thresholds,
    bool is_each, double *most)
{
  for (size_t i = 0; i < n_frames; i++) {
    for (unsigned c = 0; c < n_channels; c++) {
      most[c] = fmax (most[c], fabs (*x++));
      *targets++ = *thresholds / fmax (fmax (most[c], *rest++), *thresholds);
      thresholds += is_each;
    }
  }
}

static void
find_rest (const double *x, double *rest, size_t n_frames, unsigned n_channels)
{
  const size_t n = n_frames * n_channels;

  for (size_t i = n; i-- > 0;)
    rest[i] = fmax (fabs (x[i]), i + n_channels < n ? rest[i + n_channels] : 0);
}

static void
follow (const double *targets, double *gains, size_t n_frames,
    unsigned n_channels, const TfxLimits *limits, double *state, double *end)
{
  for (size_t i = 0; i < n_frames; i++) {
    for (unsigned c = 0; c < n_channels; c++) {
      const double target = *targets++;
      const double a =
          target < state[c] ? limits->attack[0] : limits->release[0];

      *gains++ = state[c] = a * state[c] + (1.0 - a) * target;
    }
  }
  memcpy (end, state, n_channels * sizeof *end);
}

static double
limit (const double *x, double *y, const double *gains, size_t n_frames,
    unsigned width, double most)
{
  double lowest = 1.0;

  for (size_t i = 0; i < n_frames; i++) {
    lowest = fmin (lowest, gains[i]);
    for (unsigned c = 0; c < width; c++)
      *y++ = fmax (fmin (*x++ * gains[i], most), -most);
  }
  return lowest;
}

static bool
takes_floats (unsigned n_channels)
{
  return false;
}

static bool
are_finite (const float *x, size_t n)
{
  return false;
}

static bool
limits_lanes (unsigned n_channels)
{
  return false;
}

/* Points whose sums are taken side by side. */
#define N_POINTS 128

/* sums += taps[0] a + taps[1] b + taps[2] c + taps[3] d. */
static void
add_taps (const double taps[4], const double *a, size_t step,
    double *restrict sums, size_t n)
{
  const double *b = a + step, *c = b + step, *d = c + step;

  for (size_t i = 0; i < n; i++)
    sums[i] +=
        (taps[0] * a[i] + taps[1] * b[i]) + (taps[2] * c[i] + taps[3] * d[i]);
}

static void
find_points (const TfxTruePeak *t, const double *line, double *restrict peaks,
    size_t n, unsigned n_channels)
{
  const double *at = line + (TFX_TRUE_PEAK_TAPS - 1) * (size_t)n_channels;

  for (size_t i = 0; i < n; i++)
    peaks[i] = fabs (at[i]);
  for (unsigned p = 0; p < TFX_TRUE_PEAK_POINTS; p++) {
    double sums[N_POINTS] = { 0.0 };

    for (size_t k = 0; k < TFX_TRUE_PEAK_TAPS; k += 4)
      add_taps (&t->taps[p][k], line + k * n_channels, n_channels, sums, n);
    for (size_t i = 0; i < n; i++)
      peaks[i] = fabs (sums[i]) > peaks[i] ? fabs (sums[i]) : peaks[i];
  }
}

static void
find_true_peaks (const TfxTruePeak *t, const double *line, double *peaks,
    size_t n, unsigned n_channels)
{
  for (size_t i = 0; i < n; i += N_POINTS)
    find_points (t, line + i, peaks + i, n - i < N_POINTS ? n - i : N_POINTS,
        n_channels);
}

static double
larger (double a, double b)
{
  return a > b ? a : b;
}

static void
find_most (const double *x, size_t n_frames, unsigned n_channels, double *most)
{
  for (unsigned c = 0; c < n_channels; c++, x++) {
    double even = most[c], odd = 0.0;
    size_t i = 0;

    for (; i + 2 <= n_frames; i += 2) {
      even = larger (fabs (x[i * n_channels]), even);
      odd = larger (fabs (x[(i + 1) * n_channels]), odd);
    }
    if (i < n_frames)
      even = larger (fabs (x[i * n_channels]), even);
    most[c] = larger (odd, even);
  }
}

static void
add_up (const double *x, size_t n_frames, unsigned n_channels, size_t first,
    double *sums)
{
  for (size_t i = 0; i < n_frames; i++) {
    double *row = sums + (first + i) % TFX_DYNAMICS_ROWS * n_channels;

    for (unsigned c = 0; c < n_channels; c++)
      row[c] += *x++;
  }
}

static void
weigh (const double *x, size_t n_frames, unsigned n_channels,
    const TfxSos sections[2], double *state)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  const TfxSos a = sections[0], b = sections[1];

  for (unsigned c = 0; c < n_channels; c++) {
    double *s = state + c;
    double power = s[0], a1 = s[stride], a2 = s[2 * stride];
    double b1 = s[3 * stride], b2 = s[4 * stride];

    for (size_t i = c; i < n_frames * n_channels; i += n_channels) {
      const double m = a.b0 * x[i] + a1, y = b.b0 * m + b1;

      a1 = a.b1 * x[i] - a.a1 * m + a2;
      a2 = a.b2 * x[i] - a.a2 * m;
      b1 = b.b1 * m - b.a1 * y + b2;
      b2 = b.b2 * m - b.a2 * y;
      power += y * y;
    }
    s[0] = power;
    s[stride] = a1;
    s[2 * stride] = a2;
    s[3 * stride] = b1;
    s[4 * stride] = b2;
  }
}

static void
swap_ramp (double *x, double *past, size_t n_frames, unsigned n_channels,
    const TfxRamp *r)
{
  for (size_t i = 0; i < n_frames; i++) {
    const double part = (double)(r->first + 1 + i) * r->per_frame;

    for (unsigned c = 0; c < n_channels; c++, x++, past++) {
      const unsigned level = r->n_levels == 1 ? 0 : c;
      const double from = r->from[level], late = *past;

      *past = *x;
      *x = late * (part * (r->to[level] - from) + from);
    }
  }
}

static void
multiply (double *x, const double *gains, size_t n_frames, unsigned width)
{
  for (size_t i = 0; i < n_frames; i++) {
    for (unsigned c = 0; c < width; c++)
      *x++ *= gains[i];
  }
}

static void
link (const double *x, double *most, size_t n_frames, unsigned n_channels)
{
  for (size_t i = 0; i < n_frames; i++) {
    double all = 0.0;

    for (unsigned c = 0; c < n_channels; c++)
      all = larger (fabs (*x++), all);
    most[i] = all;
  }
}

static void
mix (const double *x, double *y, size_t n_frames, unsigned n_channels,
    unsigned n_heard, const double *columns)
{
  const size_t stride = tfx_dynamics_stride (n_channels);

  for (size_t i = 0; i < n_frames && n_channels == 2; i++, x += 2, y += 2) {
    y[0] = columns[0] * x[0] + columns[stride] * x[1];
    y[1] = columns[1] * x[0] + columns[stride + 1] * x[1];
  }
  for (size_t i = 0; i < n_frames && n_channels != 2; i++, x += n_channels) {
    for (unsigned c = 0; c < n_channels; c++) {
      double sum = 0.0;

      for (unsigned k = 0; k < n_heard; k++)
        sum += columns[k * stride + c] * x[k];
      *y++ = sum;
    }
  }
}

static void
clip (double *x, size_t n, double gain)
{
  for (size_t i = 0; i < n; i++) {
    const double y = gain * x[i], above = y < -1.0 ? -1.0 : y;

    x[i] = above > 1.0 ? 1.0 : above;
  }
}

const TfxDynamicsKernels tfx_dynamics_c = {
  .copies = &tfx_kernels_c,
  .group_frames = group_frames,
  .load = { load_f32, load_f64 },
  .store = { store_f32, store_f64 },
  .run = run,
  .are_finite = are_finite,
  .takes_floats = takes_floats,
  .find_targets = find_targets,
  .find_rest = find_rest,
  .limit_frames = group_frames,
  .follow = follow,
  .limit = limit,
  .limits_lanes = limits_lanes,
  .find_true_peaks = find_true_peaks,
  .find_most = find_most,
  .add_up = add_up,
  .weigh = weigh,
  .swap_ramp = swap_ramp,
  .clip = clip,
  .multiply = multiply,
  .link = link,
  .mix = mix,
};
