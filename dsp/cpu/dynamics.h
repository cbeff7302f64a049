/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics.h: the innermost loops of gains that depend on the level of the signal, one
 * table for each instruction set.
 *
 * The level of a channel, with attack A and release R (0 to 1):
 *   ms = A ms + (1 - A) x^2,  r = sqrt (ms);  or r = abs (x)
 *   y1 = max (r, R y1),  y = A y + (1 - A) y1
 * All of these compose: max (c, a y) of max (d, b y) is a function of the same form, as
 * is a y + c.  So with fewer channels than lanes the lanes are frames, and a frame gets the
 * effect of all earlier ones in log2 (frames) steps.
 *
 * The gain of a level y, everything in octaves (6.02 dB), the level itself too:
 *   over = log2 (y) - threshold, or its negative
 *   q = over + half the knee, limited to 0 ... the knee
 *   h = q^2 / (2 knee) + max (over - half the knee, 0)
 *   gain = 2^(max (slope h, floor) + makeup)
 * (Giannoulis, Massberg, Reiss: Digital Dynamic Range Compressor Design, 2012.)
 *
 * Kernels cannot fail.  They may read and write TFX_DYNAMICS_SLACK numbers after the last
 * one of an array of doubles. */
#ifndef TFX_DYNAMICS_H
#define TFX_DYNAMICS_H

#include "tfx.h"
#include "design/true-peak.h"
#include "kernels.h"

/* Lanes, at most. */
#define TFX_DYNAMICS_SLACK 8

/* Rows of level states. */
enum
{
  TFX_LEVEL_HELD,   /* y1 */
  TFX_LEVEL_OUT,    /* y */
  TFX_LEVEL_SQUARE, /* ms */
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

/* Frames of a limiter, all within one block of its window.  Its levels are the channels,
 * or one for all of them. */
typedef struct TfxLimit
{
  size_t n_frames;
  unsigned n_channels, n_levels;
  /* To the power of 1, 2, 3 ... */
  double attack[TFX_DYNAMICS_SLACK], release[TFX_DYNAMICS_SLACK];
  /* [n_frames][n_levels]: the input of the level; and the suffix maxima of the block
   * before, of the frames that are still in the window. */
  const double *heard, *rest;
  const double *late; /* [n_frames][n_channels], delayed input */
  double *y;          /* the same, output */
  /* [n_frames][n_levels] if they change, or one of each: the limit, and where y clips. */
  bool is_changing;
  const double *thresholds, *ceilings;
  double *most; /* [n_levels], the largest magnitude of this block */
  /* [n_levels]: the gain at the start becomes that at the start of the last group that is
   * not full, or after all frames; end = after all frames. */
  double *state, *end;
  /* [n_frames][n_levels], after n_begun frames of a group that has begun. */
  double *targets, *gains;
  size_t n_begun;
} TfxLimit;

/* A linear gain from one end of a block to the other: after frame i,
 * from + (i + 1) per_frame (to - from). */
typedef struct TfxRamp
{
  unsigned n_levels; /* 1: all channels have the same gain; or n_channels */
  size_t first;      /* frame of the block */
  double per_frame;  /* 1 / frames of a block */
  const double *from, *to; /* [n_levels] */
} TfxRamp;

/* The state and the settings of a noise suppressor, see kinds/denoise.c. */
typedef struct TfxSuppression
{
  double *noise, *presence, *prior;             /* N, m, s's first term / c */
  double noise_keep, presence_keep, prior_keep; /* a, b, c */
  double lowest;                                /* gain */
  bool is_following;                            /* false: N and m stay */
} TfxSuppression;

/* X / (1 + X) and 1 + X, X = 15 dB. */
#define TFX_PRESENCE_SLOPE (1.0 - 1.0 / TFX_PRESENCE_FACTOR)
#define TFX_PRESENCE_FACTOR 32.622776601683793
#define TFX_PRESENCE_MOST 0.99
/* The factor and the lower limit of the power of noise. */
#define TFX_NOISE_FACTOR 2.0
#define TFX_NOISE_LOWEST 1e-30

/* Independent partial sums, whose additions do not wait for each other. */
#define TFX_DYNAMICS_ROWS 8

/* Rows of a weighted power: the sum of squares, and s1 and s2 of both sections; see
 * TfxSos. */
#define TFX_N_WEIGHED 5

/* Numbers after the last one that find_true_peaks() may read and write. */
#define TFX_TRUE_PEAK_SLACK 32

/* The lowest level; lower ones count as this. */
#define TFX_LEVEL_LOWEST 1e-12
/* The largest square: an infinite one would stay. */
#define TFX_LEVEL_MOST_SQUARE 1e300

typedef struct TfxDynamicsKernels
{
  const TfxKernels *copies; /* of the same instruction set */

  /* Frames of a group, for `run` with n_channels, and for `limit` with n_levels.  Groups
   * are counted from where the state was set. */
  unsigned (*group_frames) (unsigned n_channels);
  unsigned (*limit_frames) (unsigned n_levels);

  /* x[n] = from[n], or 0 if it is not finite.  Returns the number of these or more. */
  size_t (*load) (double *x, const void *from, TfxSample type, size_t n);
  /* Whether n floats are all finite. */
  bool (*are_finite) (const float *x, size_t n);

  /* y[n_frames][n_channels] = x times the gain of its level by curves[0], or the gain if
   * !is_product; y_to the same by curves[1], unless it is NULL.
   * state[TFX_N_LEVELS][stride] at the start becomes that at the start of the last group
   * that is not full, or after all frames; end = after all frames.  stride: n_channels,
   * rounded up to the slack.  is_f32: gains may be 2e-9 off, for samples that are rounded
   * to 6e-8; else 1e-11.  Returns the lowest gain, in octaves and without makeup. */
  double (*run) (const double *x, double *y, double *y_to, size_t n_frames,
      unsigned n_channels, bool is_product, const TfxBallistics *ballistics,
      const TfxGainCurve curves[2], bool is_f32, double *state, double *end);

  /* rest[n_frames][n_channels] = the largest magnitude from each frame on. */
  void (*find_rest) (const double *x, double *rest, size_t n_frames,
      unsigned n_channels);
  /* The target of a frame is threshold / the largest magnitude of its window, at most 1.
   *   gain = attack gain[n - 1] + (1 - attack) target     if the target is lower
   *          release gain[n - 1] + (1 - release) target   otherwise
   * y = late times the gain, no larger than the ceiling.  Returns the lowest gain, or 1. */
  double (*limit) (const TfxLimit *limit);

  /* peaks[n]: the largest magnitude of each sample and of the points TFX_TRUE_PEAK_SIDE
   * frames before it.  line[]: TFX_TRUE_PEAK_TAPS - 1 earlier frames, then these. */
  void (*find_true_peaks) (const TfxTruePeak *true_peak, const double *line,
      double *peaks, size_t n, unsigned n_channels);
  /* most[n_channels] = the largest magnitude of itself and of the frames. */
  void (*find_most) (const double *x, size_t n_frames, unsigned n_channels,
      double *most);
  /* most[n_frames] = the largest magnitude of all channels. */
  void (*link) (const double *x, double *most, size_t n_frames,
      unsigned n_channels);
  /* sums[TFX_DYNAMICS_ROWS][n_channels] += the frames, in turns; `first` is the number of
   * the first frame. */
  void (*add_up) (const double *x, size_t n_frames, unsigned n_channels,
      size_t first, double *sums);
  /* state[TFX_N_WEIGHED][tfx_dynamics_stride (n_channels)]: adds the squares of the
   * output of both sections, and advances the sections' state. */
  void (*weigh) (const double *x, size_t n_frames, unsigned n_channels,
      const TfxSos sections[2], double *state);

  /* Exchanges x for past times the gain, and past for x. */
  void (*swap_ramp) (double *x, double *past, size_t n_frames,
      unsigned n_channels, const TfxRamp *ramp);
  /* x = gain x, limited to -1 ... 1. */
  void (*clip) (double *x, size_t n, double gain);
  /* x[n_frames][width] times gains[n_frames]. */
  void (*multiply) (double *x, const double *gains, size_t n_frames,
      unsigned width);
  /* gains[n] of the values of a frame; n: a multiple of 32.  The powers are below 1e250. */
  void (*suppress) (const TfxSuppression *s, const double *powers,
      double *gains, size_t n);
  /* y = sums of the first n_heard channels of x, apart, by columns[n_channels]
   * [tfx_dynamics_stride (n_channels)]: the gains of a channel to each, then 0. */
  void (*mix) (const double *x, double *y, size_t n_frames, unsigned n_channels,
      unsigned n_heard, const double *columns);
  /* The same for two channels of finite floats.  NULL: not available. */
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

/* The kernels of the CPU backend of that name. */
const TfxDynamicsKernels *tfx_dynamics_kernels_for (const char *name);

#endif
