/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxspectrum.c: the mean spectrum of samples.
 *
 * Welch's method: Hann windows that overlap by half, their power spectra
 * averaged over time and channels (P. D. Welch, IEEE Trans. Audio
 * Electroacoust. AU-15, 1967).  The lines are as far apart as 1/24 octave,
 * each the mean of the bins around it.  0 dB is the power of a sine at full
 * scale, spread over 1 Hz; so white noise is level at any length of transform.
 */
#include "gsttfxspectrum.h"

#include <math.h>
#include <string.h>

#include <gst/fft/gstfftf64.h>

#define FLOOR_DB -300.0

struct GstTfxSpectrum
{
  gint rate_hz, n_channels;
  guint64 n_frames;
  gdouble peak;

  guint n;               /* frames in a segment */
  guint fill;            /* frames waiting, < n */
  guint64 n_segments;    /* each counts once per channel */
  gdouble *frames;       /* [n_channels][n], planar */
  gdouble *window, *buf; /* [n] */
  gdouble window_power;  /* sum of the window's squares */
  GstFFTF64 *fft;
  GstFFTF64Complex *bins; /* [n / 2 + 1] */
  gdouble *power;         /* [n / 2 + 1], sum of |X|^2 over all segments */
};

GstTfxSpectrum *
gst_tfx_spectrum_new (gint rate_hz, gint n_channels, gdouble bin_hz)
{
  GstTfxSpectrum *s = g_new0 (GstTfxSpectrum, 1);

  s->rate_hz = rate_hz;
  s->n_channels = n_channels;
  for (s->n = 1024; rate_hz > bin_hz * s->n;)
    s->n *= 2;
  s->frames = g_new0 (gdouble, (gsize)s->n * n_channels);
  s->window = g_new (gdouble, s->n);
  s->buf = g_new (gdouble, s->n);
  s->bins = g_new (GstFFTF64Complex, s->n / 2 + 1);
  s->power = g_new0 (gdouble, s->n / 2 + 1);
  s->fft = gst_fft_f64_new (s->n, FALSE);
  for (guint i = 0; i < s->n; i++) {
    s->window[i] = 0.5 - 0.5 * cos (2.0 * G_PI * i / s->n);
    s->window_power += s->window[i] * s->window[i];
  }
  return s;
}

void
gst_tfx_spectrum_free (GstTfxSpectrum *s)
{
  g_free (s->frames);
  g_free (s->window);
  g_free (s->buf);
  g_free (s->bins);
  g_free (s->power);
  gst_fft_f64_free (s->fft);
  g_free (s);
}

gsize
gst_tfx_spectrum_get_length (const GstTfxSpectrum *s)
{
  return s->n;
}

void
gst_tfx_spectrum_reset (GstTfxSpectrum *s)
{
  memset (s->power, 0, (s->n / 2 + 1) * sizeof *s->power);
  s->n_frames = s->n_segments = 0;
  s->peak = 0.0;
  s->fill = 0;
}

static void
add_segment (GstTfxSpectrum *s)
{
  for (gint c = 0; c < s->n_channels; c++) {
    const gdouble *x = s->frames + (gsize)c * s->n;

    for (guint i = 0; i < s->n; i++)
      s->buf[i] = x[i] * s->window[i];
    gst_fft_f64_fft (s->fft, s->buf, s->bins);
    for (guint k = 0; k <= s->n / 2; k++)
      s->power[k] += s->bins[k].r * s->bins[k].r + s->bins[k].i * s->bins[k].i;
    s->n_segments++;
  }
}

void
gst_tfx_spectrum_add (GstTfxSpectrum *s, const gdouble *x, gsize n_frames)
{
  s->n_frames += n_frames;
  for (gsize f = 0; f < n_frames; f++) {
    for (gint c = 0; c < s->n_channels; c++, x++) {
      s->frames[(gsize)c * s->n + s->fill] = *x;
      if (fabs (*x) > s->peak)
        s->peak = fabs (*x);
    }
    if (++s->fill < s->n)
      continue;
    add_segment (s);
    for (gint c = 0; c < s->n_channels; c++) {
      gdouble *row = s->frames + (gsize)c * s->n;

      memmove (row, row + s->n / 2, s->n / 2 * sizeof *row);
    }
    s->fill = s->n / 2;
  }
}

void
gst_tfx_spectrum_finish (GstTfxSpectrum *s)
{
  if (s->n_segments > 0 || s->n_frames == 0)
    return;
  for (gint c = 0; c < s->n_channels; c++)
    memset (s->frames + (gsize)c * s->n + s->fill, 0,
        (s->n - s->fill) * sizeof *s->frames);
  add_segment (s);
}

/* Power density at bin k, where a sine at full scale (power 1/2) is 1. */
static gdouble
density_at (const GstTfxSpectrum *s, guint k)
{
  /* Both halves of the spectrum, but 0 Hz and half the rate have one bin. */
  gdouble sides = k == 0 || k == s->n / 2 ? 1.0 : 2.0;

  return sides * s->power[k] /
         (0.5 * s->rate_hz * s->window_power * (gdouble)s->n_segments);
}

gdouble
gst_tfx_spectrum_get_level (const GstTfxSpectrum *s, gdouble freq_hz)
{
  gdouble bin = freq_hz * s->n / s->rate_hz;
  gdouble half = exp2 (0.5 / GST_TFX_SPECTRUM_LINES);
  guint last = s->n / 2;
  guint lo = (guint)ceil (bin / half), hi = (guint)floor (bin * half);
  gdouble sum = 0.0;

  if (bin > last)
    return NAN;
  if (hi > last)
    hi = last;
  if (hi < lo + 1) {
    guint k = MIN ((guint)bin, last - 1);
    gdouble a = density_at (s, k), b = density_at (s, k + 1);

    sum = a + (b - a) * (bin - k);
  } else {
    for (guint k = lo; k <= hi; k++)
      sum += density_at (s, k);
    sum /= hi - lo + 1;
  }
  return MAX (10.0 * log10 (sum), FLOOR_DB);
}

guint64
gst_tfx_spectrum_get_n_frames (const GstTfxSpectrum *s)
{
  return s->n_frames;
}

gdouble
gst_tfx_spectrum_get_peak (const GstTfxSpectrum *s)
{
  return s->peak;
}
