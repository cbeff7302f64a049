/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stft.c: the short-time Fourier transform of a stream, by overlap-add. */
#include "stft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convolver-private.h"
#include "core/block.h"

/* Quarters of a window: frames begin at each. */
#define QUARTERS 4
/* Silent quarters after which all arrays are silent: four until the last frame with sound,
 * and four until it is output. */
#define REST 8

struct TfxStft
{
  unsigned n_channels;
  size_t n_window, n_hop;
  TfxStftProcess process;
  void *data;
  TfxFft fft;
  unsigned *bins;
  bool *are_full; /* [n_channels] */

  /* The window, and that of the synthesis, which also scales. */
  double *window, *back;
  double *frame, *spectra; /* [n_window]; [n_channels][n_window] */

  /* [n_channels][n_window] in quarters: inputs; sums of outputs.  Quarter number `quarter`
   * is filled, and emptied, up to frame `at`. */
  double *in, *out;
  size_t quarter, at, n_state;
  /* [n_channels]: a bit for each quarter with sound, the newest in bit 0. */
  unsigned char *heard;
  unsigned n_quiet; /* quarters without sound, up to REST: at rest */
};

size_t
tfx_stft_window (double rate_hz)
{
  size_t n = TFX_STFT_SHORTEST;

  while ((double)n < 0.032 * rate_hz && n < TFX_STFT_LONGEST) {
    if ((double)(n / 2 * 3) >= 0.032 * rate_hz && n > TFX_STFT_SHORTEST)
      return n / 2 * 3;
    n *= 2;
  }
  return n;
}

/* ---- life ------------------------------------------------------------------------ */

/* The spectrum of an impulse one frame late is exp (2 pi i f), with the frequency f of each
 * value, or its negative. */
static void
find_bins (TfxStft *s)
{
  memset (s->frame, 0, s->n_window * sizeof *s->frame);
  s->frame[1] = 1.0;
  tfx_fft_forward (&s->fft, s->frame, s->frame + s->n_window / 2, s->back,
      s->back + s->n_window / 2, s->spectra, TFX_TILE);
  for (size_t i = 0; i < s->n_window / 2; i++) {
    const double *re =
        s->spectra + i / TFX_STFT_RUN * TFX_TILE + i % TFX_STFT_RUN;
    const double turns = fabs (atan2 (re[TFX_STFT_RUN], *re)) / (2.0 * M_PI);

    s->bins[i] = (unsigned)lrint (turns * (double)s->n_window - 0.5);
  }
}

TfxStft *
tfx_stft_new (unsigned n_channels, size_t n_window, const char *kernel,
    TfxStftProcess process, void *data)
{
  const TfxConvolverOps *ops =
      &tfx_convolver_kernels_for (kernel)->ops[TFX_SAMPLE_F64];
  const size_t n = n_window, n_all = n_channels * n;
  TfxStft *s = calloc (1, sizeof *s);

  if (!s)
    return NULL;
  *s = (TfxStft){ .n_channels = n_channels,
    .n_window = n,
    .n_hop = n / QUARTERS,
    .process = process,
    .data = data,
    .bins = malloc (n / 2 * sizeof *s->bins),
    .are_full = calloc (n_channels, sizeof *s->are_full),
    .heard = calloc (n_channels, sizeof *s->heard),
    .window = tfx_block_new_samples (3 * n + 3 * n_all),
    .n_state = 2 * n_all };
  if (!s->bins || !s->are_full || !s->heard || !s->window ||
      tfx_fft_init (&s->fft, ops, TFX_SAMPLE_F64, n / 2) < 0) {
    tfx_stft_free (&s);
    return NULL;
  }
  s->back = s->window + n;
  s->frame = s->back + n;
  s->spectra = s->frame + n;
  s->in = s->spectra + n_all;
  s->out = s->in + n_all;
  find_bins (s);
  /* The transform multiplies by n / 2, and the squares add up to 2. */
  for (size_t i = 0; i < n; i++) {
    s->window[i] = sin (M_PI * ((double)i + 0.5) / (double)n);
    s->back[i] = s->window[i] / (double)n;
  }
  tfx_stft_reset (s);
  return s;
}

void
tfx_stft_free (TfxStft **stft)
{
  TfxStft *s = *stft;

  *stft = NULL;
  if (!s)
    return;
  tfx_fft_clear (&s->fft);
  free (s->bins);
  free (s->are_full);
  free (s->heard);
  free (s->window);
  free (s);
}

const unsigned *
tfx_stft_bins (const TfxStft *stft)
{
  return stft->bins;
}

/* ---- frames ----------------------------------------------------------------------- */

static void
transform (TfxStft *s, unsigned channel)
{
  const double *in = s->in + channel * s->n_window;
  double *x = s->frame, *im = s->spectra + channel * s->n_window;

  for (size_t k = 1; k <= QUARTERS; k++) {
    const double *from = in + (s->quarter + k) % QUARTERS * s->n_hop;
    const double *w = s->window + (k - 1) * s->n_hop;

    for (size_t i = 0; i < s->n_hop; i++)
      *x++ = w[i] * from[i];
  }
  x = s->frame;
  /* The passes work in place. */
  tfx_fft_forward (&s->fft, x, x + s->n_window / 2, x, x + s->n_window / 2, im,
      TFX_TILE);
}

/* The newest quarter of the sums begins with this frame. */
static void
transform_back (TfxStft *s, unsigned channel)
{
  const TfxFft *fft = &s->fft;
  double *y = s->frame, *im = y + s->n_window / 2;
  double *out = s->out + channel * s->n_window;

  fft->ops->leaves_back[fft->group](y, im, s->spectra + channel * s->n_window,
      TFX_TILE, NULL, 0, fft->weights, fft->n_leaves);
  for (size_t i = fft->n_passes; i-- > 0;)
    tfx_fft_join (fft, i, 0, 1, y, im);
  for (size_t k = 1; k <= QUARTERS; k++, y += s->n_hop) {
    double *to = out + (s->quarter + k) % QUARTERS * s->n_hop;
    const double *w = s->back + (k - 1) * s->n_hop;

    for (size_t i = 0; i < s->n_hop; i++)
      to[i] = k < QUARTERS ? to[i] + w[i] * y[i] : w[i] * y[i];
  }
}

/* Ends a quarter, and with it a frame. */
static void
end_quarter (TfxStft *s)
{
  const TfxStftFrame frame = { s->spectra, s->are_full };
  bool is_quiet = true;

  for (unsigned c = 0; c < s->n_channels; c++) {
    transform (s, c);
    s->are_full[c] = s->heard[c] % (1u << QUARTERS) == (1u << QUARTERS) - 1;
    is_quiet = is_quiet && s->heard[c] % 2 == 0;
    s->heard[c] = (unsigned char)(s->heard[c] << 1);
  }
  s->process (s->data, &frame);
  for (unsigned c = 0; c < s->n_channels; c++)
    transform_back (s, c);
  s->quarter = (s->quarter + 1) % QUARTERS;
  s->at = 0;
  s->n_quiet = is_quiet ? s->n_quiet + 1 : 0;
  if (s->n_quiet == REST)
    tfx_stft_reset (s);
}

size_t
tfx_stft_left (const TfxStft *stft)
{
  return stft->n_hop - stft->at;
}

void
tfx_stft_run (TfxStft *s, double *samples, size_t n_frames)
{
  const unsigned n = s->n_channels;
  size_t first = s->quarter * s->n_hop + s->at, n_silent = 0;

  if (tfx_stft_is_at_rest (s)) {
    while (n_silent < n_frames * n && fabs (samples[n_silent]) <= TFX_SILENCE)
      samples[n_silent++] = 0.0;
    n_frames -= n_silent / n;
    samples += n_silent / n * n;
    if (n_frames == 0)
      return;
    s->n_quiet = 0;
  }
  for (unsigned c = 0; c < n; c++) {
    double *in = s->in + c * s->n_window + first, *x = samples + c;
    const double *out = s->out + c * s->n_window + first;
    double most = 0.0;

    for (size_t i = 0; i < n_frames; i++, x += n) {
      const double size = fabs (*x);

      in[i] = size < TFX_STFT_LARGEST ? *x : 0.0;
      most = size > most ? size : most;
      *x = out[i];
    }
    s->heard[c] |= most > TFX_SILENCE;
  }
  s->at += n_frames;
  if (s->at == s->n_hop)
    end_quarter (s);
}

/* ---- state ------------------------------------------------------------------------ */

void
tfx_stft_reset (TfxStft *stft)
{
  memset (stft->in, 0, stft->n_state * sizeof *stft->in);
  memset (stft->heard, 0, stft->n_channels * sizeof *stft->heard);
  stft->quarter = stft->at = 0;
  stft->n_quiet = REST;
}

bool
tfx_stft_is_at_rest (const TfxStft *stft)
{
  return stft->n_quiet == REST;
}

void
tfx_stft_take (TfxStft *stft, const TfxStft *from)
{
  memcpy (stft->in, from->in, stft->n_state * sizeof *stft->in);
  memcpy (stft->heard, from->heard, stft->n_channels * sizeof *stft->heard);
  stft->quarter = from->quarter;
  stft->at = from->at;
  stft->n_quiet = from->n_quiet;
}
