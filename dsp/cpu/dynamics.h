/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics.h: the innermost loops of gains that follow the level of the signal,
 * one table for each instruction set.
 *
 * The level of a channel, with attack A and release R (0 to 1):
 *   ms = A ms + (1 - A) x^2,  r = root of ms;  or r = abs x
 *   y1 = max (r, R y1),  y = A y + (1 - A) y1
 * All of these compose: max (c, a y) of max (d, b y) is a function of the same
 * form, as is a y + c.  So where there are fewer channels than lanes, these are
 * frames: each takes up what the ones before it add in log2 (frames) steps.
 *
 * The gain of a level y, everything in octaves (6.02 dB), the level itself too:
 *   over = (log2 (y) - threshold) or its negative,
 *   q = over + half the knee, limited to 0 ... the knee,
 *   h = q^2 / (2 knee) + max (over - half the knee, 0),
 *   gain = 2^(max (slope h, floor) + makeup)
 * (Giannoulis, Massberg, Reiss: Digital Dynamic Range Compressor Design, 2012.)
 *
 * Kernels cannot fail. */
#ifndef TFX_DYNAMICS_H
#define TFX_DYNAMICS_H

#include "tfx.h"
#include "design/true-peak.h"
#include "kernels.h"

/* The most lanes that there are: what is read and written behind the last
 * number of an array. */
#define TFX_DYNAMICS_SLACK 8

/* Rows of level states. */
enum
{
  TFX_LEVEL_HELD, /* y1 */
  TFX_LEVEL_OUT,  /* y */
  TFX_LEVEL_SQUARE /* ms */,
  TFX_N_LEVELS
};

typedef struct TfxBallistics
{
  bool is_rms;
  /* A and R to the power of 1, 2, 3 ... */
  double attack[TFX_DYNAMICS_SLACK], release[TFX_DYNAMICS_SLACK];
} TfxBallistics;

typedef struct TfxGainCurve
{
  double sign; /* 1, or -1: below the threshold */
  double threshold, slope, half_knee, floor, makeup;
  double per_knee; /* 1 / (2 knee); 0: there is none */
} TfxGainCurve;

typedef struct TfxLimits
{
  double threshold;
  /* To the power of 1, 2, 3 ... */
  double attack[TFX_DYNAMICS_SLACK], release[TFX_DYNAMICS_SLACK];
} TfxLimits;

/* A gain that goes in a line from one end of a cell to the other: behind frame i of
 * it, from + (i + 1) per_frame (to - from). */
typedef struct TfxRamp
{
  unsigned n_levels; /* 1: all channels have the same gain; or n_channels */
  size_t first;      /* frame of the cell */
  double per_frame;  /* 1 / frames of a cell */
  const double *from, *to; /* [n_levels] */
} TfxRamp;

/* Sums that are taken side by side, so that they do not wait for each other. */
#define TFX_DYNAMICS_ROWS 8

/* Rows of what is weighed: a sum of squares, and s1 and s2 of each section; see TfxSos. */
#define TFX_N_WEIGHED 5

/* What true peaks are read and written behind the last one. */
#define TFX_TRUE_PEAK_SLACK 32

/* Levels below are taken for this. */
#define TFX_LEVEL_LOWEST 1e-12
/* Squares above are taken for this: what is beyond all numbers would stay. */
#define TFX_LEVEL_MOST_SQUARE 1e300

typedef struct TfxDynamicsKernels
{
  const TfxKernels *copies; /* of the same instruction set */

  /* How many frames of so many channels make a group: groups are counted from
   * where the state was set. */
  unsigned (*group_frames) (unsigned n_channels);

  /* x[n] = from[n], by TfxSample, with 0 for what is not finite.  How many of
   * them that is, at least. */
  size_t (*load[2]) (double *x, const void *from, size_t n);
  void (*store[2]) (void *to, const double *x, size_t n);

  /* y[n_frames][n_channels] = x times the gain of its level; or the gain, of one
   * channel.  state[TFX_N_LEVELS][stride] at the start becomes that at the start of
   * the last group that is not full, or behind all; end = behind all.  stride:
   * n_channels, rounded up to the slack.  May read and write TFX_DYNAMICS_SLACK
   * numbers behind x and y.  is_f32: gains may be 2e-9 off, for samples that are
   * rounded to 6e-8; else 1e-11.  The lowest gain, in octaves and without makeup. */
  double (*run) (const double *x, double *y, size_t n_frames,
      unsigned n_channels, bool is_product, const TfxBallistics *ballistics,
      const TfxGainCurve *curve, bool is_f32, double *state, double *end);

  /* Whether n floats are all finite; false also where no loop here takes floats. */
  bool (*are_finite) (const float *x, size_t n);

  /* The same as run without doubles between, as a product, of floats that are finite,
   * where takes_floats says so of so many channels. */
  bool (*takes_floats) (unsigned n_channels);
  double (*run_floats) (const float *x, float *y, size_t n_frames,
      unsigned n_channels, const TfxBallistics *ballistics,
      const TfxGainCurve *curve, double *state, double *end);

  /* The largest of a window: most[n_channels] = the largest magnitude up to now
   * in this block of the window's length, and of the block before what is left is
   * rest[n_frames][n_channels].  targets[n_frames][n_channels] = threshold / the
   * larger one of the two, at most 1.  thresholds[n_frames][n_channels] if is_each,
   * else one.  Slack as above, behind most and thresholds too. */
  void (*find_targets) (const double *x, const double *rest, double *targets,
      size_t n_frames, unsigned n_channels, const double *thresholds,
      bool is_each, double *most);

  /* Of a block that is over: the largest magnitude from each frame on. */
  void (*find_rest) (const double *x, double *rest, size_t n_frames,
      unsigned n_channels);

  /* As group_frames, for the next one. */
  unsigned (*limit_frames) (unsigned n_channels);

  /* gains[n] becomes
   *   attack gains[n - 1] + (1 - attack) targets[n]    where that goes down,
   *   release gains[n - 1] + (1 - release) targets[n]  elsewhere.
   * state[n_channels] and end as in run, with one row; n_frames > 0. */
  void (*follow) (const double *targets, double *gains, size_t n_frames,
      unsigned n_channels, const TfxLimits *limits, double *state, double *end);

  /* y[n_frames][width] = x times gains[n_frames], no larger than most.  The lowest
   * gain, or 1. */
  double (*limit) (const double *x, double *y, const double *gains,
      size_t n_frames, unsigned width, double most);

  /* All of that in one pass, for so many channels if limits_lanes says so: y = late
   * times the gains, no larger than high.  Slack as above. */
  bool (*limits_lanes) (unsigned n_channels);
  double (*limit_channels) (const double *x, const double *rest,
      const double *late, double *y, size_t n_frames, unsigned n_channels,
      const TfxLimits *limits, double *most, double *state, double high);

  /* Cells, frame after frame.  peaks[n]: of n numbers the largest magnitude of the
   * sample and of the points TFX_TRUE_PEAK_SIDE frames before it; line[]: first
   * TFX_TRUE_PEAK_TAPS - 1 frames that were before.  Slack behind both. */
  void (*find_true_peaks) (const TfxTruePeak *true_peak, const double *line,
      double *peaks, size_t n, unsigned n_channels);

  /* most[n_channels] = the largest magnitude of these and of the frames.  Slack behind
   * x. */
  void (*find_most) (const double *x, size_t n_frames, unsigned n_channels,
      double *most);

  /* sums[TFX_DYNAMICS_ROWS][n_channels] += the frames, each to the row of its number:
   * the first one's is first, in any number of rows. */
  void (*add_up) (const double *x, size_t n_frames, unsigned n_channels,
      size_t first, double *sums);

  /* state[TFX_N_WEIGHED][tfx_dynamics_stride (n_channels)]: the sum of squares of the
   * frames behind both sections is added up, and the state of these goes on.  Slack
   * behind x. */
  void (*weigh) (const double *x, size_t n_frames, unsigned n_channels,
      const TfxSos sections[2], double *state);

  /* x becomes past times the gain, and past what x was.  Slack behind all. */
  void (*swap_ramp) (double *x, double *past, size_t n_frames,
      unsigned n_channels, const TfxRamp *ramp);

  /* x = gain x, limited to -1 ... 1. */
  void (*clip) (double *x, size_t n, double gain);

  /* x[n_frames][width] times gains[n_frames]. */
  void (*multiply) (double *x, const double *gains, size_t n_frames,
      unsigned width);

  /* most[n_frames] = the largest magnitude of all channels. */
  void (*link) (const double *x, double *most, size_t n_frames,
      unsigned n_channels);

  /* y = sums of the first n_heard channels of x, apart, by columns[n_channels]
   * [tfx_dynamics_stride (n_channels)]: what a channel gives to each, then 0.  Slack
   * behind y. */
  void (*mix) (const double *x, double *y, size_t n_frames, unsigned n_channels,
      unsigned n_heard, const double *columns);
  /* Of two channels that are finite. */
  void (*mix_floats) (const float *x, float *y, size_t n_frames,
      const double *columns);
} TfxDynamicsKernels;

static inline unsigned
tfx_dynamics_stride (unsigned n_channels)
{
  return (n_channels + TFX_DYNAMICS_SLACK - 1) / TFX_DYNAMICS_SLACK *
         TFX_DYNAMICS_SLACK;
}

extern const TfxDynamicsKernels tfx_dynamics_c;
extern const TfxDynamicsKernels tfx_dynamics_sse2;
extern const TfxDynamicsKernels tfx_dynamics_avx2;
extern const TfxDynamicsKernels tfx_dynamics_avx512;
extern const TfxDynamicsKernels tfx_dynamics_neon;

/* Those of the CPU backend of that name. */
const TfxDynamicsKernels *tfx_dynamics_kernels_for (const char *name);

/* Those of a limiter of so many channels: of three and four vectors of eight lanes would
 * reach over two lines of the caches most of the time. */
const TfxDynamicsKernels *
tfx_dynamics_limiter_for (const char *name, unsigned n_channels);

/* A to the power of 1, 2, 3 ... */
void tfx_dynamics_powers (double a, double powers[TFX_DYNAMICS_SLACK]);

#endif
