/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-c.c: gains that depend on the level of the signal, sample by sample: the
 * reference. */
#include <math.h>
#include <string.h>

#include "dynamics.h"

static unsigned
group_frames (unsigned n_channels)
{
  return 1;
}

static size_t
load (double *x, const void *from, TfxSample type, size_t n)
{
  const bool is_f32 = type == TFX_SAMPLE_F32;
  size_t n_bad = 0;

  for (size_t i = 0; i < n; i++) {
    const double v =
        is_f32 ? ((const float *)from)[i] : ((const double *)from)[i];
    const bool is_finite = v - v == 0.0;

    x[i] = is_finite ? v : 0.0;
    n_bad += !is_finite;
  }
  return n_bad;
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
run (const double *x, double *y, double *y_to, size_t n_frames,
    unsigned n_channels, bool is_product, const TfxBallistics *b,
    const TfxGainCurve curves[2], bool is_f32, double *state, double *end)
{
  const size_t stride = tfx_dynamics_stride (n_channels);
  const double attack = b->attack[0], release = b->release[0];
  double lowest = 0.0;

  for (unsigned c = 0; c < n_channels; c++) {
    double held = state[TFX_LEVEL_HELD * stride + c];
    double out = state[TFX_LEVEL_OUT * stride + c];
    double square = state[TFX_LEVEL_SQUARE * stride + c];

    for (size_t i = c; i < n_frames * n_channels; i += n_channels) {
      const double factor = is_product ? x[i] : 1.0;
      double r = fabs (x[i]), reduction;

      if (b->is_rms) {
        r = fmin (r * r, TFX_LEVEL_MOST_SQUARE);
        square = attack * square + (1.0 - attack) * r;
        r = sqrt (square);
      }
      held = fmax (r, release * held);
      out = attack * out + (1.0 - attack) * held;
      reduction = reduce (&curves[0], out);
      y[i] = exp2 (reduction + curves[0].makeup) * factor;
      lowest = fmin (lowest, reduction);
      if (!y_to)
        continue;
      reduction = reduce (&curves[1], out);
      y_to[i] = exp2 (reduction + curves[1].makeup) * factor;
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
find_rest (const double *x, double *rest, size_t n_frames, unsigned n_channels)
{
  const size_t n = n_frames * n_channels;

  for (size_t i = n; i-- > 0;)
    rest[i] = fmax (fabs (x[i]), i + n_channels < n ? rest[i + n_channels] : 0);
}

static double
limit (const TfxLimit *p)
{
  const unsigned width = p->n_channels / p->n_levels;
  const double *late = p->late;
  double lowest = 1.0, *y = p->y;

  for (size_t i = 0; i < p->n_frames * p->n_levels; i++) {
    const unsigned c = i % p->n_levels;
    const double threshold = p->thresholds[p->is_changing ? i : 0];
    const double high = p->ceilings[p->is_changing ? i : 0];
    double *gain = &p->state[c], target, a;

    p->most[c] = fmax (p->most[c], fabs (p->heard[i]));
    target = threshold / fmax (fmax (p->most[c], p->rest[i]), threshold);
    a = target < *gain ? p->attack[0] : p->release[0];
    *gain = a * *gain + (1.0 - a) * target;
    lowest = fmin (lowest, *gain);
    for (unsigned k = 0; k < width; k++)
      *y++ = fmax (fmin (*late++ * *gain, high), -high);
  }
  memcpy (p->end, p->state, p->n_levels * sizeof *p->end);
  return lowest;
}

static bool
are_finite (const float *x, size_t n)
{
  return false;
}

static void
find_true_peaks (const TfxTruePeak *t, const double *line, double *peaks,
    size_t n, unsigned n_channels)
{
  for (size_t i = 0; i < n; i++, line++) {
    peaks[i] = fabs (line[(TFX_TRUE_PEAK_TAPS - 1) * (size_t)n_channels]);
    for (unsigned p = 0; p < TFX_TRUE_PEAK_POINTS; p++) {
      const double *taps = t->taps[p], *x = line;
      double sum = 0.0;

      for (size_t k = 0; k < TFX_TRUE_PEAK_TAPS; k += 4, x += 4 * n_channels)
        sum +=
            (taps[k] * x[0] + taps[k + 1] * x[n_channels]) +
            (taps[k + 2] * x[2 * n_channels] + taps[k + 3] * x[3 * n_channels]);
      peaks[i] = fmax (fabs (sum), peaks[i]);
    }
  }
}

static void
find_most (const double *x, size_t n_frames, unsigned n_channels, double *most)
{
  for (size_t i = 0; i < n_frames; i++) {
    for (unsigned c = 0; c < n_channels; c++)
      most[c] = fmax (fabs (*x++), most[c]);
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
      all = fmax (fabs (*x++), all);
    most[i] = all;
  }
}

static void
mix (const double *x, double *y, size_t n_frames, unsigned n_channels,
    unsigned n_heard, const double *columns)
{
  const size_t stride = tfx_dynamics_stride (n_channels);

  for (size_t i = 0; i < n_frames; i++, x += n_channels) {
    for (unsigned c = 0; c < n_channels; c++) {
      double sum = 0.0;

      for (unsigned k = 0; k < n_heard; k++)
        sum += columns[k * stride + c] * x[k];
      *y++ = sum;
    }
  }
}

static void
suppress (const TfxSuppression *s, const double *powers, double *gains,
    size_t n)
{
  for (size_t i = 0; i < n; i++) {
    double noise = fmax (s->noise[i], TFX_NOISE_LOWEST), g, prior, wiener;

    if (s->is_following) {
      const double p =
          1.0 / (1.0 + TFX_PRESENCE_FACTOR *
                           exp (-TFX_PRESENCE_SLOPE * powers[i] / noise));
      const double mean =
          s->presence_keep * s->presence[i] + (1.0 - s->presence_keep) * p;
      const double part =
          mean > TFX_PRESENCE_MOST ? fmin (p, TFX_PRESENCE_MOST) : p;

      s->presence[i] = mean;
      noise = s->noise_keep * noise +
              (1.0 - s->noise_keep) * (part * noise + (1.0 - part) * powers[i]);
      noise = fmax (noise, TFX_NOISE_LOWEST);
    }
    g = powers[i] / (TFX_NOISE_FACTOR * noise);
    prior = s->prior_keep * s->prior[i] +
            (1.0 - s->prior_keep) * fmax (g - 1.0, 0.0);
    wiener = prior / (1.0 + prior);
    s->noise[i] = noise;
    s->prior[i] = wiener * wiener * g;
    gains[i] = fmax (wiener, s->lowest);
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
  .load = load,
  .run = run,
  .are_finite = are_finite,
  .find_rest = find_rest,
  .limit_frames = group_frames,
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
};
