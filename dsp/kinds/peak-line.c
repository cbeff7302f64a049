/* SPDX-License-Identifier: LGPL-2.1-or-later
 * peak-line.c: how far a stream rises between its samples, part by part. */
#include "peak-line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"

int
tfx_peak_line_init (TfxPeakLine *l, const TfxDynamicsKernels *kernels,
    unsigned n_channels, size_t most_frames)
{
  const size_t n = most_frames * n_channels + TFX_TRUE_PEAK_SLACK;

  l->kernels = kernels;
  l->n_channels = n_channels;
  l->samples =
      tfx_block_new_samples (TFX_PEAK_LINE_PAST * (size_t)n_channels + n);
  l->peaks = tfx_block_new_samples (n);
  tfx_true_peak_init (&l->true_peak);
  return l->samples && l->peaks ? 0 : -ENOMEM;
}

void
tfx_peak_line_clear (TfxPeakLine *l)
{
  free (l->samples);
  free (l->peaks);
  l->samples = l->peaks = NULL;
}

/* Appends the samples and returns their number. */
static size_t
begin (TfxPeakLine *l, const double *samples, size_t n_frames)
{
  const size_t n = n_frames * l->n_channels;

  memcpy (l->samples + TFX_PEAK_LINE_PAST * (size_t)l->n_channels, samples,
      n * sizeof *samples);
  return n;
}

static void
find (TfxPeakLine *l, size_t n)
{
  l->kernels->find_true_peaks (&l->true_peak, l->samples, l->peaks, n,
      l->n_channels);
}

static void
end (TfxPeakLine *l, size_t n)
{
  memmove (l->samples, l->samples + n,
      TFX_PEAK_LINE_PAST * (size_t)l->n_channels * sizeof *l->samples);
}

const double *
tfx_peak_line_find (TfxPeakLine *l, const double *samples, size_t n_frames)
{
  const size_t n = begin (l, samples, n_frames);

  find (l, n);
  end (l, n);
  return l->peaks;
}

void
tfx_peak_line_raise (TfxPeakLine *l, const double *samples, size_t n_frames,
    double *most)
{
  const size_t n = begin (l, samples, n_frames);
  double loudest = 0.0;

  l->kernels->find_most (l->samples,
      TFX_PEAK_LINE_PAST * (size_t)l->n_channels + n, 1, &loudest);
  if (loudest * TFX_TRUE_PEAK_MOST > *most) {
    find (l, n);
    l->kernels->find_most (l->peaks, n, 1, most);
  }
  end (l, n);
}

void
tfx_peak_line_reset (TfxPeakLine *l)
{
  memset (l->samples, 0,
      TFX_PEAK_LINE_PAST * (size_t)l->n_channels * sizeof *l->samples);
}
