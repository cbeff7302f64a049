/* SPDX-License-Identifier: LGPL-2.1-or-later
 * loudness.h: the loudness of a programme by EBU R 128 (ITU-R BS.1770-5, EBU Tech 3341 and
 * 3342), and true peaks.
 *
 * Samples are K-weighted; the powers of the channels are added, each with the weight of its
 * position.  A block of 400 ms begins every 100 ms (a step).  Integrated loudness is that
 * of the mean power of the blocks above two gates: -70 LUFS, and 10 LU below the mean of
 * the blocks above -70 LUFS.  The range is the distance from the 10th to the 95th
 * percentile of the values over 3 s, above -70 LUFS and 20 LU below their mean.
 *
 * A histogram has classes of 0.01 LU with the powers of their blocks, so a stream may be of
 * any length; only the gates are rounded to a class. */
#ifndef TFX_LOUDNESS_H
#define TFX_LOUDNESS_H

#include "cpu/dynamics.h"
#include "design/k-weighting.h"

typedef struct TfxLoudnessSpec
{
  unsigned n_channels;
  uint64_t positions;
  TfxSos weighting[TFX_K_WEIGHTING_N_SOS];
  size_t step_frames;    /* 100 ms */
  bool skips_true_peaks; /* they stay at -INFINITY */
} TfxLoudnessSpec;

typedef struct TfxLoudness TfxLoudness;

/* At rest; for parts of up to most_frames frames.  0 or -ENOMEM. */
int tfx_loudness_new (const TfxLoudnessSpec *spec,
    const TfxDynamicsKernels *kernels, size_t most_frames,
    TfxLoudness **loudness);
void tfx_loudness_free (TfxLoudness **loudness);
void tfx_loudness_reset (TfxLoudness *loudness);

/* The largest mean square of a channel: 100 dB above full scale. */
#define TFX_LOUDNESS_MOST_POWER 1e10

/* How many frames are left of the step. */
size_t tfx_loudness_step_left (const TfxLoudness *loudness);
/* Adds interleaved frames, at most those left of the step and most_frames; returns whether
 * the step ends with them.  Reads TFX_DYNAMICS_SLACK samples after them. */
bool tfx_loudness_add (TfxLoudness *loudness, const double *samples,
    size_t n_frames);

/* The number of silent frames at the end. */
size_t tfx_loudness_n_silent (const TfxLoudness *loudness);

/* Adds the blocks, the maxima and the true peak of another programme, as for an album. */
void tfx_loudness_merge (TfxLoudness *loudness, const TfxLoudness *other);

/* In LUFS; -INFINITY: no block is above the gates. */
TfxLoudnessValues tfx_loudness_read (const TfxLoudness *loudness);
/* The integrated loudness alone. */
double tfx_loudness_integrated (const TfxLoudness *loudness);

/* ---- true peaks ----------------------------------------------------------------- */

/* Frames before a part that its points need. */
#define TFX_PEAK_LINE_PAST (TFX_TRUE_PEAK_TAPS - 1)

typedef struct TfxPeakLine
{
  const TfxDynamicsKernels *kernels;
  TfxTruePeak true_peak;
  unsigned n_channels;
  /* [TFX_PEAK_LINE_PAST + most_frames][n_channels]; and the peaks of a part. */
  double *samples, *peaks;
} TfxPeakLine;

/* At rest; for parts of up to most_frames frames.  0 or -ENOMEM; clear it either way. */
int tfx_peak_line_init (TfxPeakLine *line, const TfxDynamicsKernels *kernels,
    unsigned n_channels, size_t most_frames);
void tfx_peak_line_clear (TfxPeakLine *line);
void tfx_peak_line_reset (TfxPeakLine *line);

/* Takes the next part, interleaved.  Returns for each sample the largest magnitude of it and
 * of the points TFX_TRUE_PEAK_SIDE frames before it, valid until the next call.  Or raises
 * *most to the largest of all, unless it is NULL; then the result has no meaning. */
const double *tfx_peak_line_find (TfxPeakLine *line, const double *samples,
    size_t n_frames, double *most);

#endif
