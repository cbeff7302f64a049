/* SPDX-License-Identifier: LGPL-2.1-or-later
 * loudness.h: how loud a programme is, by EBU R 128 (ITU-R BS.1770-5, EBU Tech
 * 3341 and 3342).
 *
 * Frequencies are weighted by K, powers of the channels are added, each with the
 * weight of its position.  Blocks of 400 ms follow each other every 100 ms
 * (a step).  Integrated loudness is that of the mean of the blocks above -70 LUFS
 * and above 10 LU less than the mean of these.  The range lies between 10 % and 95
 * % of the values over 3 s above -70 LUFS and above 20 LU less than their mean.
 *
 * Blocks are counted in classes of 0.01 LU together with their powers, so that a
 * stream may be of any length; only the threshold of 10 LU is rounded to that. */
#ifndef TFX_LOUDNESS_H
#define TFX_LOUDNESS_H

#include "cpu/dynamics.h"
#include "design/k-weighting.h"

typedef struct TfxLoudnessSpec
{
  unsigned n_channels;
  uint64_t positions;
  TfxSos weighting[TFX_K_WEIGHTING_N_SOS];
  size_t step_frames; /* 100 ms */
} TfxLoudnessSpec;

typedef struct TfxLoudness TfxLoudness;

/* Nothing has been heard; for parts of up to most_frames frames.  0 or -ENOMEM. */
int tfx_loudness_new (const TfxLoudnessSpec *spec,
    const TfxDynamicsKernels *kernels, size_t most_frames,
    TfxLoudness **loudness);
void tfx_loudness_free (TfxLoudness **loudness);
void tfx_loudness_reset (TfxLoudness *loudness);

/* Of a channel, a mean of squares: 100 dB above full scale. */
#define TFX_LOUDNESS_MOST_POWER 1e10

/* How many frames are left of the step. */
size_t tfx_loudness_step_left (const TfxLoudness *loudness);
/* Frames, interleaved, no more than are left of the step and than a part has; true if
 * it ends with them.  TFX_DYNAMICS_SLACK samples behind them are read. */
bool tfx_loudness_add (TfxLoudness *loudness, const double *samples,
    size_t n_frames);

/* Frames of silence that came last. */
size_t tfx_loudness_n_silent (const TfxLoudness *loudness);

/* Adds the blocks, the maxima and the true peak of another programme, as for an album. */
void tfx_loudness_merge (TfxLoudness *loudness, const TfxLoudness *other);

/* In LUFS; -INFINITY: nothing that counts has been heard. */
TfxLoudnessValues tfx_loudness_read (const TfxLoudness *loudness);
/* The integrated loudness alone. */
double tfx_loudness_integrated (const TfxLoudness *loudness);

#endif
