/* SPDX-License-Identifier: LGPL-2.1-or-later
 * peak-line.h: how far a stream rises between its samples, part by part. */
#ifndef TFX_PEAK_LINE_H
#define TFX_PEAK_LINE_H

#include "cpu/dynamics.h"

/* Frames before a part that its points need. */
#define TFX_PEAK_LINE_PAST (TFX_TRUE_PEAK_TAPS - 1)

typedef struct TfxPeakLine
{
  const TfxDynamicsKernels *kernels;
  TfxTruePeak true_peak;
  unsigned n_channels;
  /* [TFX_PEAK_LINE_PAST + most_frames][n_channels]; and what is found of them. */
  double *samples, *peaks;
} TfxPeakLine;

/* Silence; for parts of up to most_frames frames.  0 or -ENOMEM; it can be cleared
 * either way. */
int tfx_peak_line_init (TfxPeakLine *line, const TfxDynamicsKernels *kernels,
    unsigned n_channels, size_t most_frames);
void tfx_peak_line_clear (TfxPeakLine *line);

/* Takes the next part, interleaved: the largest magnitude of each sample and of
 * the points TFX_TRUE_PEAK_SIDE frames before it.  They are there until the next
 * call. */
const double *
tfx_peak_line_find (TfxPeakLine *line, const double *samples, size_t n_frames);

/* The same; *most becomes the largest of all and of itself. */
void tfx_peak_line_raise (TfxPeakLine *line, const double *samples,
    size_t n_frames, double *most);

void tfx_peak_line_reset (TfxPeakLine *line);

#endif
