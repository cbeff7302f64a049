/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stft.h: the short-time Fourier transform of a stream: frames of a window's length, a
 * quarter of it apart, whose spectra a callback may change.
 *
 * Analysis and synthesis have the same window, the square root of a Hann window:
 * w[n] = sin (pi (n + 1/2) / L), n < L.  Of four frames that overlap the squares add up to
 * 2, so that spectra that stay give the input again, L frames later, to rounding.  With
 * this overlap no frame contributes more than half of a sample, so changes from frame to
 * frame are faded, and the aliasing of a changed spectrum is low.
 *
 * A frame has L / 2 bins at (bin + 1/2) / L of the sample rate (see
 * convolver-transform.c): none of them is real, so all are treated alike.
 *
 * Frames are counted from the first sample that is not silent, whatever the blocks; they
 * end with two windows of silence.  So a stream and its splits give the same output, and
 * so do silence and a gap in its place. */
#ifndef TFX_STFT_H
#define TFX_STFT_H

#include "tfx.h"

typedef struct TfxStft TfxStft;

/* A spectrum is in runs: this number of real parts, then their imaginary parts. */
#define TFX_STFT_RUN 32
/* A larger magnitude counts as 0: powers stay finite. */
#define TFX_STFT_LARGEST 0x1p300

/* Frames of the window at a rate: the shortest of at least 32 ms, at most
 * TFX_STFT_LONGEST.  Up to 48 ms, below 3 kHz 64 ms.  It is a power of two, or three times
 * one. */
#define TFX_STFT_SHORTEST ((size_t)64)
#define TFX_STFT_LONGEST ((size_t)1 << 17)
size_t tfx_stft_window (double rate_hz);

/* A frame of all channels.  Value i of a spectrum is that of a bin (tfx_stft_bins()), or its
 * complex conjugate. */
typedef struct TfxStftFrame
{
  double *spectra; /* [n_channels][n_bins / TFX_STFT_RUN][2][TFX_STFT_RUN] */
  /* [n_channels]: whether there is sound in each quarter of the window */
  const bool *are_full;
} TfxStftFrame;

/* Changes the spectra of a frame; allocates nothing. */
typedef void (*TfxStftProcess) (void *data, const TfxStftFrame *frame);

/* n_window: of tfx_stft_window().  kernel: the name of a CPU backend.  At rest.  NULL
 * without memory. */
TfxStft *tfx_stft_new (unsigned n_channels, size_t n_window, const char *kernel,
    TfxStftProcess process, void *data);
void tfx_stft_free (TfxStft **stft);

/* bins[n_window / 2]: the bin of each value of a spectrum. */
const unsigned *tfx_stft_bins (const TfxStft *stft);

/* Frames of the stream up to the end of the next window, at least 1. */
size_t tfx_stft_left (const TfxStft *stft);

/* Exchanges samples[n_frames][n_channels] for those n_window frames before, processed.
 * n_frames: at most tfx_stft_left().  Calls process where a window ends. */
void tfx_stft_run (TfxStft *stft, double *samples, size_t n_frames);

void tfx_stft_reset (TfxStft *stft);
/* Whether all that is left is silence. */
bool tfx_stft_is_at_rest (const TfxStft *stft);
/* Takes over the state of another one with as many channels and the same window. */
void tfx_stft_take (TfxStft *stft, const TfxStft *from);

#endif
