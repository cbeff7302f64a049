/* SPDX-License-Identifier: LGPL-2.1-or-later
 * levels.c: dynamics as plain recursions in double.
 */
#include "levels.h"

#include "design/true-peak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0

/* The static curve in dB, case by case. */
double
levels_gain_db (const TfxDynamics *d, double level)
{
  const double level_db = 20 * log10 (level > 1e-12 ? level : 1e-12);
  const double over =
      d->is_downward ? d->threshold_db - level_db : level_db - d->threshold_db;
  const double w = d->knee_db;
  double gain;

  if (w > 0 && 2 * fabs (over) <= w)
    gain = d->slope * (over + w / 2) * (over + w / 2) / (2 * w);
  else
    gain = over > 0 ? d->slope * over : 0;
  return gain > d->floor_db ? gain : d->floor_db;
}

typedef struct Level
{
  double held, out, square;
} Level;

static double
follow (const TfxDynamics *d, Level *l, double r)
{
  if (d->is_rms) {
    l->square = d->attack * l->square + (1 - d->attack) * (r * r);
    r = sqrt (l->square);
  }
  l->held = fmax (r, d->release * l->held);
  l->out = d->attack * l->out + (1 - d->attack) * l->held;
  return l->out;
}

/* All channels through the sections of the key, in place. */
static void
filter_key (const TfxDynamics *d, double *x, size_t n_frames,
    unsigned n_channels)
{
  for (size_t i = 0; i < d->n_key_sos * n_channels; i++) {
    const TfxSos *s = &d->key_sos[i / n_channels];
    double s1 = 0, s2 = 0;

    for (size_t k = i % n_channels; k < n_frames * n_channels;
         k += n_channels) {
      const double y = s->b0 * x[k] + s1;

      s1 = s->b1 * x[k] - s->a1 * y + s2;
      s2 = s->b2 * x[k] - s->a2 * y;
      x[k] = y;
    }
  }
}

double
levels_run (const TfxDynamics *d, double *samples, size_t n_frames,
    unsigned n_channels)
{
  const bool is_linked = d->is_linked || d->key;
  double *x = test_copy_f64 (samples, n_frames * n_channels);
  Level *levels = test_alloc (n_channels * sizeof *levels);
  double lowest = 0, gain_db = 0;

  filter_key (d, x, n_frames, n_channels);
  memset (levels, 0, n_channels * sizeof *levels);
  for (size_t i = 0; i < n_frames; i++) {
    double most = 0;

    for (unsigned c = 0; c < n_channels; c++)
      if (d->key ? c < 64 && d->key >> c & 1 : c < n_channels - d->n_unmeasured)
        most = fmax (most, fabs (x[i * n_channels + c]));
    if (is_linked)
      gain_db = levels_gain_db (d, follow (d, levels, most));
    for (unsigned c = 0; c < n_channels; c++) {
      if (c < 64 && d->key >> c & 1)
        continue;
      if (!is_linked)
        gain_db = levels_gain_db (d,
            follow (d, &levels[c], fabs (x[i * n_channels + c])));
      lowest = fmin (lowest, gain_db);
      samples[i * n_channels + c] *= pow (10, (gain_db + d->makeup_db) / 20);
    }
  }
  free (x);
  free (levels);
  return lowest;
}

void
levels_limit (const TfxLimiter *l, double *samples, size_t n_frames,
    unsigned n_channels)
{
  const double t = pow (10, l->threshold_db / 20);
  const unsigned step = l->is_linked ? 1 : n_channels;
  double *x = test_copy_f64 (samples, n_frames * n_channels);

  for (unsigned c = 0; c < n_channels; c++) {
    double g = 1;

    for (size_t i = 0; i < n_frames; i++) {
      size_t k = i < l->n_ahead ? 0 : (i - l->n_ahead) * n_channels;
      double most = 1e-12, r, a, y;

      for (k += l->is_linked ? 0 : c; k < (i + 1) * n_channels; k += step)
        most = fmax (most, fabs (x[k]));
      r = fmin (1, t / most);
      a = i < l->n_ahead ? 1 : r < g ? l->attack : l->release;
      g = a * g + (1 - a) * r;
      y = i < l->n_ahead ? 0 : g * x[(i - l->n_ahead) * n_channels + c];
      samples[i * n_channels + c] = fmax (fmin (y, t), -t);
    }
  }
  free (x);
}

/* The largest magnitude of sample i of a channel and of the points half of the taps
 * before it. */
static double
find_true_peak (const double *x, size_t i, unsigned n_channels)
{
  double most = fabs (x[i * n_channels]);
  TfxTruePeak true_peak;

  tfx_true_peak_init (&true_peak);
  for (unsigned p = 0; p < TFX_TRUE_PEAK_POINTS; p++) {
    double sum = 0;

    for (size_t k = 0; k < TFX_TRUE_PEAK_TAPS && k <= i; k++)
      sum += true_peak.taps[p][TFX_TRUE_PEAK_TAPS - 1 - k] *
             x[(i - k) * n_channels];
    most = fmax (most, fabs (sum));
  }
  return most;
}

/* The measure of channel c over the window that ends with a block. */
static double
find_measure (const TfxAgc *l, const double *x, size_t block,
    unsigned n_channels, unsigned c)
{
  const size_t over = block + 1 > l->n_window ? block + 1 - l->n_window : 0;
  double most = 0, sum = 0, n = 0;

  for (size_t i = over * l->n_block; i < (block + 1) * l->n_block; i++) {
    double square = 0;

    for (unsigned k = 0; k < n_channels; k++) {
      const double a = x[i * n_channels + k];

      if (!l->is_linked && k != c)
        continue;
      most = fmax (most, fabs (a));
      square += a * a;
    }
    if (square > TFX_AGC_SILENT) {
      sum += square;
      n += l->is_linked ? n_channels : 1;
    }
  }
  if (l->measure == TFX_AGC_RMS)
    return n > 0 ? sqrt (sum / n) : 0;
  return most;
}

/* The gain after each block, gains[n_blocks]. */
static void
find_block_gains (const TfxAgc *l, const double *x, size_t n_blocks,
    unsigned n_channels, unsigned c, double *gains)
{
  const double most = pow (10, l->max_gain_db / 20);
  double *held = test_alloc (n_blocks * sizeof *held);
  double asked = 1, last = 1;

  for (size_t j = 0; j < n_blocks; j++) {
    const size_t n = j + 1 < l->n_smooth ? j + 1 : l->n_smooth;
    const double m = find_measure (l, x, j, n_channels, c);

    if (m * m > TFX_AGC_SILENT)
      asked = fmin (most, pow (10, l->target_db / 20) / m);
    else if (most <= 1)
      asked = most;
    held[j] = last = fmin (asked, l->release * last + (1 - l->release) * most);
    gains[j] = 0;
    for (size_t k = 0; k < n; k++)
      gains[j] += held[j - k] / (double)n;
  }
  free (held);
}

void
levels_level (const TfxAgc *l, double *samples, size_t n_frames,
    unsigned n_channels)
{
  const bool is_between = l->measure == TFX_AGC_TRUE_PEAK;
  const size_t n_blocks = n_frames / l->n_block, size = n_frames * n_channels;
  const size_t late = l->n_ahead * l->n_block;
  double *x = test_copy_f64 (samples, size), *heard = test_alloc_f64 (size);
  double *gains = test_alloc_f64 (n_blocks + 1);

  for (size_t i = 0; is_between && i < size; i++)
    heard[i] = find_true_peak (x + i % n_channels, i / n_channels, n_channels);
  for (unsigned c = 0; c < n_channels; c++) {
    find_block_gains (l, is_between ? heard : x, n_blocks, n_channels, c,
        gains);
    for (size_t i = 0; i < n_frames; i++) {
      const size_t block = i / l->n_block;
      const double part = (double)(i % l->n_block + 1) / (double)l->n_block;
      const double from = block > 1 ? gains[block - 2] : 1;
      const double to = block > 0 ? gains[block - 1] : 1;

      samples[i * n_channels + c] = i < late ? 0
                                             : x[(i - late) * n_channels + c] *
                                                   (from + part * (to - from));
    }
  }
  free (x);
  free (heard);
  free (gains);
}

void
levels_signal (double *samples, size_t n_frames, unsigned n_channels)
{
  test_noise_f64 (samples, n_frames * n_channels);
  for (size_t i = 0; i < n_frames; i++) {
    const double t = (double)i / RATE;

    for (unsigned c = 0; c < n_channels; c++) {
      double *x = &samples[i * n_channels + c];
      /* Loud and soft in turns, each channel in its own time. */
      const unsigned turn = (unsigned)(t * (90 + 20 * (c % 5))) % 6;
      static const double loudness[] = { 1, 0.01, 0.2, 0, 1e-5, 1e-8 };

      *x = loudness[turn] * (0.5 * *x + 0.5 * sin (2e3 * t * (1 + c)));
    }
  }
}

void
levels_break (double *samples, size_t n_frames, unsigned n_channels,
    double magnitude)
{
  const size_t n = n_frames * n_channels;

  for (size_t i = 0; i < n; i++)
    samples[i] = 0.1 * sin (0.3 * (double)i);
  for (size_t i = n / 3; i < n - n / 3; i++)
    samples[i] = i % 3 ? magnitude : -magnitude;
}

void
levels_wild (float *samples, size_t n, double most)
{
  for (size_t i = 0; i < n; i++)
    samples[i] = (float)(tap_random_uniform (-1, 1) *
                         exp2 (tap_random_uniform (-10, most)));
}

static double
coefficient (double seconds)
{
  return seconds > 0 ? exp (-1 / (seconds * RATE)) : 0;
}

TfxDynamics
levels_compressor (double threshold_db, double ratio, double attack,
    double release, double knee_db)
{
  return (TfxDynamics){ .threshold_db = threshold_db,
    .slope = 1 / ratio - 1,
    .knee_db = knee_db,
    .floor_db = TFX_DYNAMICS_LOWEST_DB,
    .attack = coefficient (attack),
    .release = coefficient (release) };
}

TfxDynamics
levels_expander (double threshold_db, double ratio, double attack,
    double release, double knee_db, double floor_db)
{
  return (TfxDynamics){ .is_downward = true,
    .threshold_db = threshold_db,
    .slope = 1 - ratio,
    .knee_db = knee_db,
    .floor_db = floor_db,
    .attack = coefficient (attack),
    .release = coefficient (release) };
}

/* ---- checks ----------------------------------------------------------------------- */

void
levels_check_run (TapMany *many, const char *what, TfxChain *chain,
    LevelsRun run, const void *setting, size_t n_frames, unsigned n_channels,
    double bound, bool has_gain)
{
  const size_t n = n_frames * n_channels;
  double *x = test_alloc_f64 (n), *want, gain_db;
  const char *kernel;

  levels_signal (x, n_frames, n_channels);
  want = test_copy_f64 (x, n);
  gain_db = run (setting, want, n_frames, n_channels);
  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    TestFilter *filter =
        test_filter_start_chain (tfx_chain_ref (chain), n_channels, kernel);
    double *have = test_copy_f64 (x, n), error, read_db;

    test_filter_pieces (filter, have, n_channels, n_frames, 97, 0, NULL);
    error = test_relative (have, want, n, 1e-15);
    read_db = test_filter_read (filter, 1).gain_db;
    tap_many_check (many, error < bound, "%s, %u channels, %s: %g", what,
        n_channels, kernel, error);
    if (has_gain)
      tap_many_check (many, fabs (read_db - gain_db) < 1e-6,
          "%s, %u channels, %s: %g of %g dB", what, n_channels, kernel, read_db,
          gain_db);
    test_filter_free (&filter);
    free (have);
  }
  tfx_chain_unref (&chain);
  free (x);
  free (want);
}

void
levels_check_split (TapMany *many, const char *what, TfxChain *first,
    TfxChain *next, size_t at, size_t n_frames, unsigned n_channels,
    const char *kernel)
{
  double *x = test_alloc_f64 (n_frames * n_channels);

  levels_signal (x, n_frames, n_channels);
  test_check_splits (many, what, first, next, at, x, n_frames, n_channels,
      kernel);
  tfx_chain_unref (&first);
  tfx_chain_unref (&next);
  free (x);
}

void
levels_check_limit (TapMany *many, TestFilter *filter, unsigned run,
    double limit_db)
{
  static float x[20000];
  const double limit = pow (10, limit_db / 20);
  size_t n_above = 0;

  levels_wild (x, 20000, run % 3 ? 2 : 20);
  test_filter_f32 (filter, x, 2, 10000);
  for (size_t i = 0; i < 20000; i++)
    n_above += !(fabs ((double)x[i]) <= limit);
  tap_many_check (many, n_above == 0, "run %u: %zu above %.17g", run, n_above,
      limit);
}
