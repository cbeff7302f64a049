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

#include "../tfx.h"

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
  double threshold, attack, release;
} TfxLimits;

/* Levels below are taken for this. */
#define TFX_LEVEL_LOWEST 1e-12

typedef struct TfxDynamicsKernels
{
  const char *name;
  /* How many frames of so many channels make a group: groups are counted from
   * where the state was set. */
  unsigned (*group_frames) (unsigned n_channels);

  /* x[n] = from[n], by TfxSample, with 0 for what is not finite.  How many of
   * them that is, at least. */
  size_t (*load[2]) (double *x, const void *from, size_t n);
  void (*store[2]) (void *to, const double *x, size_t n);

  /* level[n_frames][n_channels] of x; state[TFX_N_LEVELS][stride] at the start
   * becomes that at the start of the last group that is not full, or behind
   * all; end = behind all.  stride: n_channels, rounded up to the slack.  May
   * read and write TFX_DYNAMICS_SLACK numbers behind x and level. */
  void (*detect) (const double *x, double *level, size_t n_frames,
      unsigned n_channels, const TfxBallistics *ballistics, double *state,
      double *end);

  /* x[n_frames][width] times the gain of level[n_frames].  The lowest gain, in
   * octaves and without makeup.  Writes over level if width > 1. */
  double (*apply) (double *level, double *x, size_t n_frames, unsigned width,
      const TfxGainCurve *curve);

  /* levels[n] = magnitudes of x. */
  void (*find_levels) (const double *x, double *levels, size_t n);

  /* The largest of a window: most[n_channels] = the largest of the frames up to
   * now in this block of the window's length, peaks = the larger one of that and
   * of what is left of the block before, rest[n_frames][n_channels].  Slack as
   * above, behind most too. */
  void (*find_peaks) (const double *levels, const double *rest, double *peaks,
      size_t n_frames, unsigned n_channels, double *most);

  /* Of a block that is over: the largest from each frame on. */
  void (*find_rest) (double *rest, size_t n_frames, unsigned n_channels);

  /* samples[n] go to past[n], and become what stood there `ahead` numbers further on
   * before that. */
  void (*exchange) (double *past, double *samples, size_t n, size_t ahead);

  /* With r = the least of 1 and threshold / peak, gain[n] becomes
   *   attack gain[n - 1] + (1 - attack) r    where that is below gain[n - 1],
   *   release gain[n - 1] + (1 - release) r  elsewhere;
   * last[n_channels] is the last one.  Writes over peaks.  The lowest of them and
   * 1. */
  double (*find_gains) (double *peaks, double *gains, size_t n_frames,
      unsigned n_channels, const TfxLimits *limits, double *last);

  /* x[n_frames][width] times gain[n_frames], no larger than limit. */
  void (*limit) (double *x, const double *gain, size_t n_frames, unsigned width,
      double limit);
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

/* A to the power of 1, 2, 3 ... */
void tfx_dynamics_powers (double a, double powers[TFX_DYNAMICS_SLACK]);

#endif
