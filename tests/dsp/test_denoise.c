/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_denoise.c: Denoise against values of NumPy, any split of the stream, and what it
 * makes of noise, of voices, and of both.
 */
#include "common.h"
#include "core/backend.h"
#include "core/kind.h"
#include "cpu/stft.h"
#include "design/fft.h"
#include "heap.h"
#include "jump.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TestFilter *
filter_at (const char *text, double rate_hz, unsigned n_channels,
    const char *kernel)
{
  const TfxFilterSpec spec = { rate_hz, n_channels, TFX_SAMPLE_F64, 0 };
  TfxChain *chain = test_build_at (text, rate_hz, n_channels);
  TestFilter *filter = test_filter_for (chain, &spec,
      kernel ? test_backend_for (kernel) : tfx_cpu_backend ());

  tfx_chain_unref (&chain);
  return filter;
}

/* In place. */
static void
run (const char *text, double rate_hz, double *x, size_t n_frames,
    unsigned n_channels)
{
  TestFilter *filter = filter_at (text, rate_hz, n_channels, NULL);

  test_filter_pieces (filter, x, n_channels, n_frames, 1000, 0, NULL);
  test_filter_free (&filter);
}

static double
find_power (const double *x, size_t n)
{
  double sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += x[i] * x[i];
  return sum;
}

/* The power of have - want, as a part of that of want. */
static double
find_error_db (const double *have, const double *want, size_t n)
{
  double sum = 0;

  for (size_t i = 0; i < n; i++)
    sum += (have[i] - want[i]) * (have[i] - want[i]);
  return 10 * log10 (sum / find_power (want, n) + DBL_MIN);
}

/* ---- signals -------------------------------------------------------------------- */

/* Independent samples of a normal distribution, by the sum of twelve even ones. */
static double
normal (void)
{
  double sum = 0;

  for (unsigned i = 0; i < 12; i++)
    sum += tap_random_uniform (-0.5, 0.5);
  return sum;
}

/* Noise of this level: white, or pink from 60 Hz on, by P. Kellet's filter of three poles.
 * (What is slower than a window is no steady noise.) */
static void
make_noise_at (double *x, size_t n, double rate_hz, bool is_pink, double level)
{
  double b0 = 0, b1 = 0, b2 = 0, power;

  for (size_t i = 0; i < n; i++) {
    const double white = normal ();

    b0 = 0.99765 * b0 + white * 0.0990460;
    b1 = 0.96300 * b1 + white * 0.2965164;
    b2 = 0.57000 * b2 + white * 1.0526913;
    x[i] = is_pink ? b0 + b1 + b2 + white * 0.1848 : white;
  }
  if (is_pink)
    run ("HiButterworth(60, order=4)", rate_hz, x, n, 1);
  power = find_power (x, n) / (double)n;
  for (size_t i = 0; i < n; i++)
    x[i] *= level / sqrt (power);
}

static void
make_noise (double *x, size_t n, double level)
{
  make_noise_at (x, n, 48000, false, level);
}

/* After `lead` seconds of silence, syllables of harmonics with three formants and a pitch
 * that glides, with pauses; their RMS, pauses aside, is 0.1. */
static void
make_voice (double *x, size_t n, double rate_hz, double lead)
{
  static const double formants[][2] = { { 500, 250 }, { 1500, 350 },
    { 2500, 450 } };
  double phase = 0, sum = 0;
  size_t n_loud = 0;

  for (size_t i = 0; i < n; i++) {
    const double t = (double)i / rate_hz - lead;
    const double syllable = fmod (4 * t, 1) / 0.75;
    const bool is_on = t > 0 && fmod (floor (4 * t), 8) < 6 && syllable < 1;

    phase += 120 * (1 + 0.15 * sin (2 * M_PI * 0.7 * t)) / rate_hz;
    x[i] = 0;
    for (unsigned k = 1; is_on && k <= 30 && k * 140 < rate_hz / 2; k++) {
      double loud = 0.02;

      for (unsigned f = 0; f < 3; f++)
        loud += exp (-pow ((k * 120 - formants[f][0]) / formants[f][1], 2));
      x[i] +=
          loud * sin (2 * M_PI * k * phase) * pow (sin (M_PI * syllable), 2);
    }
    sum += x[i] * x[i];
    n_loud += is_on;
  }
  for (size_t i = 0; i < n; i++)
    x[i] *= 0.1 / sqrt (sum / (double)n_loud);
}

/* ---- values of NumPy --------------------------------------------------------------- */

typedef struct Golden
{
  double rate;
  unsigned n_channels;
  size_t n_frames, silent[2];
  char text[128];
} Golden;

/* signal() of denoise.py. */
static double *
make_golden (const Golden *g)
{
  double *x = test_alloc_f64 (g->n_frames * g->n_channels);
  unsigned state = 1;

  for (size_t i = 0; i < g->n_frames; i++) {
    const double t = (double)i / g->rate;
    const double loud = pow (fmax (0, sin (2 * M_PI * 3 * t)), 2);
    double voice = 0;

    for (unsigned k = 1; k < 9; k++)
      voice += sin (2 * M_PI * 140 * k * t) / k;
    for (unsigned c = 0; c < g->n_channels; c++) {
      state = (1103515245u * state + 12345u) % (1u << 31);
      x[i * g->n_channels + c] =
          i >= g->silent[0] && i < g->silent[1]
              ? 0
              : 0.2 * loud * voice / (c + 1) + 0.02 * (state / 0x1p30 - 1);
    }
  }
  return x;
}

/* Compares the lines of a chain with its output y. */
static void
check_golden (TapMany *many, FILE *file, const Golden *g, const double *y,
    const char *kernel)
{
  const long start = ftell (file);
  double sum = 0, power = 0;
  size_t i, n = 0;

  while (fscanf (file, " y %zu", &i) == 1) {
    for (unsigned c = 0; c < g->n_channels; c++) {
      double want, d;

      if (fscanf (file, "%lf", &want) != 1 || i >= g->n_frames)
        abort ();
      d = y[i * g->n_channels + c] - want;
      sum += d * d;
      power += want * want;
      n++;
    }
  }
  tap_many_check (many, n > 150 && power > 0 && sum < 1e-14 * power,
      "%s at %g Hz, kernel %s: %.1f dB over %zu samples", g->text, g->rate,
      kernel, 10 * log10 (sum / power), n);
  fseek (file, start, SEEK_SET);
}

static void
test_golden (void)
{
  FILE *file = fopen (GOLDEN_DIR "/denoise.txt", "r");
  TapMany many = tap_many ("each kernel gives NumPy's values to -140 dB");
  char line[512];
  Golden g;

  while (file && fgets (line, sizeof line, file)) {
    const char *kernel;

    if (sscanf (line, "chain %lf %u %zu %zu %zu %127[^\n]", &g.rate,
            &g.n_channels, &g.n_frames, &g.silent[0], &g.silent[1],
            g.text) != 6)
      continue;
    for (size_t k = 0; (kernel = test_kernel (k)); k++) {
      TestFilter *filter = filter_at (g.text, g.rate, g.n_channels, kernel);
      double *y = make_golden (&g);

      test_filter_f64 (filter, y, g.n_channels, g.n_frames);
      check_golden (&many, file, &g, y, kernel);
      test_filter_free (&filter);
      free (y);
    }
  }
  tap_check (file != NULL, "denoise.txt is there");
  if (file)
    fclose (file);
  tap_many_end (&many);
}

/* ---- the transform ---------------------------------------------------------------- */

/* Without reduction the output is the input, a window late. */
static void
test_identity (void)
{
  static const double rates[] = { 1000, 8000, 11025, 22050, 44100, 48000, 88200,
    192000 };
  static const unsigned channels[] = { 1, 2, 3, 9 };
  TapMany many = tap_many ("a reduction of 0 dB gives the input again");
  const char *kernel;

  for (size_t k = 0; (kernel = test_kernel (k)); k++) {
    for (unsigned i = 0; i < 32; i++) {
      const double rate_hz = rates[i % 8];
      const unsigned n_channels = channels[i / 8];
      const size_t n_late = tfx_stft_window (rate_hz), n = 3 * n_late + 77;
      TestFilter *filter =
          filter_at ("Denoise(0)", rate_hz, n_channels, kernel);
      double *x = test_alloc_f64 (n * n_channels), *y, error;

      test_noise_f64 (x, n * n_channels);
      y = test_copy_f64 (x, n * n_channels);
      test_filter_f64 (filter, y, n_channels, n);
      error =
          find_error_db (y + n_late * n_channels, x, (n - n_late) * n_channels);
      tap_many_check (&many,
          error < -280 && find_power (y, n_late * n_channels) < 1e-28 &&
              tfx_filter_latency_at (filter->filter, 0) == n_late,
          "%g Hz, %u channels, %s: %.1f dB", rate_hz, n_channels, kernel,
          error);
      test_filter_free (&filter);
      free (x);
      free (y);
    }
  }
  tap_many_end (&many);
}

/* 32 ms to 48 ms, of a length that there is. */
static void
test_windows (void)
{
  TapMany many = tap_many ("windows of 32 to 48 ms");

  for (double rate_hz = 3000; rate_hz < 400000; rate_hz *= 1.013) {
    const size_t n = tfx_stft_window (rate_hz);
    const double ms = 1e3 * (double)n / rate_hz;
    size_t odd = n;

    while (odd % 2 == 0)
      odd /= 2;
    tap_many_check (&many, ms >= 32 && ms < 48.1 && (odd == 1 || odd == 3),
        "%g Hz: %zu, %g ms", rate_hz, n, ms);
  }
  tap_many_end (&many);
  tap_check (tfx_stft_window (48000) == 1536 && tfx_stft_window (8000) == 256,
      "1536 at 48 kHz, 256 at 8 kHz");
}

static void
fail (void *data, const TfxStftFrame *frame)
{
}

/* A tone in the middle of a bin is the largest value of this bin. */
static void
test_bins (void)
{
  static const size_t windows[] = { 64, 192, 256, 1536, 2048 };
  TapMany many = tap_many ("each value has its bin");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned w = 0; w < 5; w++) {
      const size_t n = windows[w];
      TfxStft *stft = tfx_stft_new (1, n, kernel, fail, NULL);
      unsigned char *seen = test_alloc (n / 2);
      size_t n_seen = 0;

      memset (seen, 0, n / 2);
      for (size_t i = 0; i < n / 2; i++) {
        const unsigned bin = tfx_stft_bins (stft)[i];

        n_seen += bin < n / 2 && !seen[bin]++;
      }
      tap_many_check (&many, n_seen == n / 2, "%zu, %s: %zu bins", n, kernel,
          n_seen);
      free (seen);
      tfx_stft_free (&stft);
    }
  }
  tap_many_end (&many);
}

static size_t loudest;

static void
find_loudest (void *data, const TfxStftFrame *frame)
{
  const size_t n = *(const size_t *)data;
  double most = 0;

  for (size_t i = 0; i < n / 2; i++) {
    const double *re =
        frame->spectra + i / TFX_STFT_RUN * 2 * TFX_STFT_RUN + i % TFX_STFT_RUN;
    const double size = hypot (re[0], re[TFX_STFT_RUN]);

    if (size > most) {
      most = size;
      loudest = i;
    }
  }
}

static void
test_tones (void)
{
  size_t n = 1536;
  TapMany many = tap_many ("a tone is loudest in its bin");
  double *x = test_alloc_f64 (n);

  for (unsigned bin = 0; bin < n / 2; bin += 37) {
    TfxStft *stft =
        tfx_stft_new (1, n, tfx_cpu_backend ()->kernel, find_loudest, &n);

    for (size_t i = 0; i < n; i++)
      x[i] = sin (2 * M_PI * (bin + 0.5) * (double)i / (double)n);
    for (size_t i = 0, m; i < n; i += m) {
      m = tfx_stft_left (stft);
      m = m < n - i ? m : n - i;
      tfx_stft_run (stft, x + i, m);
    }
    tap_many_check (&many, tfx_stft_bins (stft)[loudest] == bin,
        "bin %u, not %u", tfx_stft_bins (stft)[loudest], bin);
    tfx_stft_free (&stft);
  }
  free (x);
  tap_many_end (&many);
}

/* ---- the stream ---------------------------------------------------------------------- */

/* At frame 3000 it gets other values, or another way to find the noise. */
static void
test_splits (void)
{
  static const char *const texts[][2] = {
    { "x=Denoise(20)", "x=Denoise(6, smoothing=0.1)" },
    { "x=Denoise(20, link=True)", "x=Denoise(20, learn=0.05, link=True)" },
    { "x=Denoise(20, learn=0.06)", "x=Denoise(12)" },
    { "x=Denoise(12)", "x=Denoise(12, link=True)" },
    { "x=Denoise(9)", "x=Denoise(9, profile=[[900, -60]])" },
    { "x=Denoise(9, profile=[[900, -60]])", "x=Denoise(9, link=True)" },
    { "x=Denoise(20, profile=[[900, -60]])",
        "x=Denoise(6, profile=[[900, -60]])" },
  };
  const unsigned n_texts = sizeof texts / sizeof *texts;
  const size_t n = 9000;
  TapMany many = tap_many ("any split gives the same bits");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned i = 0; i < 2 * n_texts; i++) {
      const unsigned n_channels = 1 + i % 3;
      TfxExpr *before = test_parse (texts[i % n_texts][0]);
      TfxExpr *after = test_parse (texts[i % n_texts][1]);
      double *x = test_alloc_f64 (n * n_channels);
      TfxChain *first, *next;

      tfx_expr_adopt_ids (after, before);
      first = test_build_expr (before, n_channels);
      next = test_build_expr (after, n_channels);
      make_noise (x, n * n_channels, 0.1);
      memset (x, 0, 700 * sizeof *x);
      memset (x + 2000, 0, 3500 * sizeof *x);
      test_check_splits (&many, texts[i % n_texts][0], first, next, 3000, x, n,
          n_channels, kernel);
      tfx_chain_unref (&first);
      tfx_chain_unref (&next);
      tfx_expr_free (&before);
      tfx_expr_free (&after);
      free (x);
    }
  }
  tap_many_end (&many);
}

/* After two windows of silence the filter is at rest, and more silence changes nothing. */
static void
test_silence (void)
{
  enum
  {
    N = 20000,
    GAP = 3072
  };
  double *x = test_alloc_f64 (2 * N), *y[2];
  bool is_silent[2];

  make_noise (x, 2 * N, 0.1);
  for (unsigned k = 0; k < 2; k++) {
    const size_t more = k * 1234;
    TestFilter *filter = filter_at ("Denoise(12)", 48000, 1, NULL);
    double silence[GAP + 1234 + 384] = { 0 };

    y[k] = test_copy_f64 (x, 2 * N);
    test_filter_f64 (filter, y[k], 1, N);
    is_silent[0] = test_filter_is_silent (filter);
    test_filter_f64 (filter, silence, 1, GAP + 384 + more);
    is_silent[1] = test_filter_is_silent (filter);
    test_filter_f64 (filter, y[k] + N, 1, N);
    test_filter_free (&filter);
  }
  tap_check (!is_silent[0] && is_silent[1], "at rest after two windows");
  tap_check (memcmp (y[0], y[1], 2 * N * sizeof *x) == 0,
      "the length of silence does not matter");
  free (x);
  free (y[0]);
  free (y[1]);
}

/* A sample that is not finite, or above 2^300, counts as 0. */
static void
test_bad_samples (void)
{
  static const double bad[] = { NAN, INFINITY, -INFINITY, 1e308, -1e200, 1e90 };
  enum
  {
    N = 96000
  };
  TapMany many = tap_many ("the output is finite, and soon that of good input");
  double *good = test_alloc_f64 (N), *x;

  make_noise (good, N, 0.1);
  x = test_copy_f64 (good, N);
  run ("Denoise()", 48000, x, N, 1);
  for (unsigned i = 0; i < 6; i++) {
    double *y = test_copy_f64 (good, N), error;

    y[20000] = bad[i];
    run ("Denoise()", 48000, y, N, 1);
    error = find_error_db (y + N / 2, x + N / 2, N / 2);
    tap_many_check (&many, test_is_finite (y, N) && error < -20, "%g: %.1f dB",
        bad[i], error);
    free (y);
  }
  tap_many_end (&many);
  free (good);
  free (x);
}

/* ---- noise ----------------------------------------------------------------------------- */

/* The power of steady noise falls by the reduction. */
static void
test_reduction (void)
{
  static const double rates[] = { 8000, 44100, 192000 };
  static const char *const texts[] = { "Denoise(%g)", "Denoise(%g, learn=1)",
    "Denoise(%g, link=True)" };
  static const double reductions[] = { 3, 6, 12, 20 };
  TapMany many = tap_many ("noise is reduced by the reduction, to 1 dB");

  for (unsigned i = 0; i < 3 * 2 * 3 * 4; i++) {
    const double rate_hz = rates[i % 3], wanted = reductions[i / 18];
    const bool is_pink = i / 3 % 2;
    const unsigned n_channels = i / 6 % 3 == 2 && !is_pink ? 2 : 1;
    const size_t n = (size_t)(3 * rate_hz), skip = n / 3 * n_channels;
    double *x, *y, found;
    char text[64];

    if (rate_hz > 50000 && (wanted != 12 || is_pink))
      continue;
    x = test_alloc_f64 (n * n_channels);
    make_noise_at (x, n * n_channels, rate_hz, is_pink, 0.02);
    y = test_copy_f64 (x, n * n_channels);
    snprintf (text, sizeof text, texts[i / 6 % 3], wanted);
    run (text, rate_hz, y, n, n_channels);
    found = 10 * log10 (find_power (x + skip, n * n_channels - skip) /
                        find_power (y + skip, n * n_channels - skip));
    tap_many_check (&many, fabs (found - wanted) < 1,
        "%s at %g Hz, %s: %.2f dB", text, rate_hz, is_pink ? "pink" : "white",
        found);
    free (x);
    free (y);
  }
  tap_many_end (&many);
}

/* White noise of variance v has a density of 2 v / rate per Hz, and twice that where a sine
 * at full scale is 0 dB.  A profile of this level reduces it from the first frame on, also
 * after a reset.  A profile 30 dB lower keeps it, until the first profile is set. */
static void
test_profile (void)
{
  enum
  {
    N = 48000
  };
  const double level_db = 10 * log10 (4 * 0.1 * 0.1 / 48000);
  TestFilter *filter;
  double *x = test_alloc_f64 (N), *y, reduced[2], kept, changed;
  const size_t late = tfx_stft_window (48000);
  TfxExpr *before, *after;
  char texts[2][128];

  for (unsigned i = 0; i < 2; i++)
    snprintf (texts[i], sizeof *texts,
        "x=Denoise(12, profile=[[100, %.2f], [101, %.2f]])", level_db,
        level_db - (i ? 30 : 0));
  before = test_parse (texts[1]);
  after = test_parse (texts[0]);
  tfx_expr_adopt_ids (after, before);
  make_noise (x, N, 0.1);
  filter = filter_at (texts[0], 48000, 1, NULL);
  for (unsigned turn = 0; turn < 2; turn++) {
    y = test_copy_f64 (x, N);
    test_filter_f64 (filter, y, 1, N);
    reduced[turn] = 10 * log10 (find_power (y + 2 * late, 4000) /
                                find_power (x + late, 4000));
    free (y);
    test_filter_reset (filter);
  }
  test_filter_free (&filter);
  filter = test_filter_start_chain (test_build_expr (before, 1), 1, NULL);
  y = test_copy_f64 (x, N);
  test_filter_pieces (filter, y, 1, N, 700, N / 2, test_build_expr (after, 1));
  kept = find_error_db (y + late, x, N / 2 - late);
  changed = 10 * log10 (find_power (y + N / 2 + 4000, N / 2 - 4000) /
                        find_power (x + N / 2 + 4000 - late, N / 2 - 4000));
  tap_check (fabs (reduced[0] + 12) < 1 && fabs (reduced[1] + 12) < 1,
      "as loud as the profile: %.2f dB, after a reset %.2f dB", reduced[0],
      reduced[1]);
  tap_check (kept < -20 && fabs (changed + 12) < 1,
      "30 dB louder: %.1f dB; with another profile %.2f dB", kept, changed);
  test_filter_free (&filter);
  tfx_expr_free (&before);
  tfx_expr_free (&after);
  free (x);
  free (y);
}

/* How musical noise is: of the power in each point of a spectrogram the fourth moment as a
 * part of the square of the second, and the deviation of its level in dB. */
typedef struct Musical
{
  double kurtosis, deviation_db;
} Musical;

#define N_FFT 1024

static Musical
measure_musical (const double *x, size_t n)
{
  TfxComplex *turns = tfx_fft_new_turns (N_FFT), *z;
  double p2 = 0, p4 = 0, sum = 0, squares = 0, count = 0;

  z = test_alloc (N_FFT * sizeof *z);
  for (size_t at = 0; at + N_FFT <= n; at += N_FFT / 2) {
    for (size_t i = 0; i < N_FFT; i++) {
      const double w = pow (sin (M_PI * (double)i / N_FFT), 2);

      z[i] = (TfxComplex){ w * x[at + i], 0 };
    }
    tfx_fft_run (turns, z, N_FFT);
    for (size_t i = 4; i < N_FFT / 2 - 4; i++) {
      const double p = z[i].re * z[i].re + z[i].im * z[i].im;
      const double db = 10 * log10 (p);

      p2 += p * p;
      p4 += p * p * p * p;
      sum += db;
      squares += db * db;
      count++;
    }
  }
  free (z);
  free (turns);
  return (Musical){ p4 * count / (p2 * p2),
    sqrt (squares / count - sum * sum / (count * count)) };
}

/* Musical noise is tones at random: points where the gain is not the lowest.  By the
 * equation in kinds/denoise.c that takes powers of more than 8.2 times the mean, frame
 * after frame; 0.027 % of the points have that.  If all of them had a gain of 1, the
 * deviation of the level, 5.57 dB, would rise by at most R sqrt (0.00027), for a reduction
 * of R dB: 0.2 dB for 12 dB.  The ratio of the fourth moments (Uemura et al., 2008) is 1
 * without musical noise.  In 16 simulations by tests/golden/denoise.py's formulas it is at
 * most 1.09 for noise that is followed and 1.01 for learned noise; without the 3 dB,
 * or with a smoothing of 0.1 s, it is 4 and more. */
static void
test_musical_noise (void)
{
  static const struct
  {
    const char *text;
    double kurtosis, rise_db;
  } cases[] = { { "Denoise()", 1.2, 0.2 }, { "Denoise(learn=1)", 1.05, 0.2 },
    { "Denoise(6)", 1.05, 0.1 }, { "Denoise(6, learn=1)", 1.05, 0.1 } };
  const size_t n = 16 * 16000, skip = 2 * 16000;
  double *x = test_alloc_f64 (n), *y;
  Musical before, after;

  make_noise (x, n, 0.02);
  before = measure_musical (x + skip, n - skip);
  tap_check (fabs (before.deviation_db - 5.57) < 0.05 &&
                 fabs (before.kurtosis / 6 - 1) < 0.1,
      "noise: kurtosis %.2f, deviation %.2f dB", before.kurtosis,
      before.deviation_db);
  for (unsigned i = 0; i < 4; i++) {
    y = test_copy_f64 (x, n);
    run (cases[i].text, 16000, y, n, 1);
    after = measure_musical (y + skip, n - skip);
    tap_check (after.kurtosis < cases[i].kurtosis * before.kurtosis &&
                   after.deviation_db < before.deviation_db + cases[i].rise_db,
        "%s: kurtosis ratio %.3f, deviation %+.3f dB", cases[i].text,
        after.kurtosis / before.kurtosis,
        after.deviation_db - before.deviation_db);
    free (y);
  }
  /* The measure finds it. */
  y = test_copy_f64 (x, n);
  run ("Denoise(20, smoothing=0.02)", 16000, y, n, 1);
  after = measure_musical (y + skip, n - skip);
  tap_check (after.kurtosis > 5 * before.kurtosis,
      "too little smoothing is musical: %.1f",
      after.kurtosis / before.kurtosis);
  free (x);
  free (y);
}

static void
test_reading (void)
{
  const size_t n = 48000;
  TestFilter *filter = filter_at ("Denoise(9)", 48000, 2, NULL);
  double *x = test_alloc_f64 (2 * n);
  TfxChain *chain;
  double gain_db[3];
  uint64_t id;

  tfx_filter_get_chain (filter->filter, &chain);
  id = tfx_stage_id (chain->stages[0]);
  gain_db[0] = test_filter_read (filter, id).gain_db;
  for (unsigned k = 1; k < 3; k++) {
    make_noise (x, 2 * n, 0.1);
    test_filter_f64 (filter, x, 2, n);
    gain_db[k] = test_filter_read (filter, id).gain_db;
  }
  tap_check (gain_db[0] == 0 && fabs (gain_db[2] + 9) < 0.3,
      "the gain that is read: %.2f dB, %.2f dB", gain_db[0], gain_db[2]);
  tfx_chain_unref (&chain);
  test_filter_free (&filter);
  free (x);
}

/* ---- voices ------------------------------------------------------------------------------ */

#define RATE 16000
#define LEAD 1.0

/* The mean of the ratios of parts of 30 ms with a voice, from -10 to 35 dB each. */
static double
find_segmental_db (const double *voice, const double *y, size_t n)
{
  const size_t part = RATE * 3 / 100;
  double sum = 0, count = 0, most = 0;

  for (unsigned turn = 0; turn < 2; turn++) {
    for (size_t i = 0; i + part <= n; i += part) {
      const double power = find_power (voice + i, part);

      most = fmax (most, power);
      if (turn == 0 || power < 1e-3 * most)
        continue;
      sum += fmax (-10, fmin (35, -find_error_db (y + i, voice + i, part)));
      count++;
    }
  }
  return sum / count;
}

/* The noise falls by 12 dB in pauses, and less in a voice.  The improvement is at least a
 * third of 12 dB, or, for pink noise, whose band is that of the voice, a quarter; the
 * segmental one, without pauses, at least half as much. */
static void
test_voice (void)
{
  static const char *const texts[] = { "Denoise()", "Denoise(learn=0.8)",
    "Denoise(learn=0.8, smoothing=0.1)" };
  const size_t n = 9 * RATE, late = tfx_stft_window (RATE), m = n - late;
  TapMany many = tap_many ("a voice in noise has less of it");
  double *voice = test_alloc_f64 (n);

  make_voice (voice, n, RATE, LEAD);
  for (unsigned i = 0; i < 2 * 2 * 3; i++) {
    const double snr_db = i % 2 ? 20 : 10;
    const bool is_pink = i / 2 % 2;
    const double least_db = is_pink ? 12.0 / 4 : 12.0 / 3;
    double *x = test_alloc_f64 (n), *y, all, segmental;

    make_noise_at (x, n, RATE, is_pink, 0.1 * pow (10, -snr_db / 20));
    for (size_t k = 0; k < n; k++)
      x[k] += voice[k];
    y = test_copy_f64 (x, n);
    run (texts[i / 4], RATE, y, n, 1);
    all = find_error_db (x, voice, m) - find_error_db (y + late, voice, m);
    segmental = find_segmental_db (voice, y + late, m) -
                find_segmental_db (voice, x, m);
    tap_many_check (&many, all > least_db && segmental > least_db / 2,
        "%s, %g dB, %s: better by %.2f dB, segmental %.2f dB", texts[i / 4],
        snr_db, is_pink ? "pink" : "white", all, segmental);
    free (x);
    free (y);
  }
  free (voice);
  tap_many_end (&many);
}

/* A voice in noise 60 dB below it changes by less than -30 dB. */
static void
test_clean (void)
{
  static const char *const texts[] = { "Denoise()", "Denoise(learn=0.8)" };
  const size_t n = 9 * RATE, late = tfx_stft_window (RATE), m = n - late;
  double *voice = test_alloc_f64 (n), *x = test_alloc_f64 (n);

  make_voice (voice, n, RATE, LEAD);
  make_noise (x, n, 1e-4);
  for (unsigned i = 0; i < 2; i++) {
    double *y = test_alloc_f64 (n), error;

    for (size_t k = 0; k < n; k++)
      y[k] = x[k] + voice[k];
    run (texts[i], RATE, y, n, 1);
    error = find_error_db (y + late, voice, m);
    tap_check (error < -30, "%s: a clean voice changes by %.1f dB", texts[i],
        error);
    free (y);
  }
  free (voice);
  free (x);
}

/* ---- channels ------------------------------------------------------------------------------ */

/* Apart, each channel is as if alone.  Linked, both have one gain, from their power: a
 * turn of the plane commutes with it. */
static void
test_channels (void)
{
  const size_t n = 24000;
  double *x = test_alloc_f64 (2 * n), *y, *z = test_alloc_f64 (2 * n);
  double one[2], turned = 0, apart = 0;

  make_noise (x, 2 * n, 0.1);
  for (size_t i = 0; i < n; i++)
    x[2 * i] += 0.2 * sin (0.1 * (double)i) * (sin (1e-3 * (double)i) > 0);
  y = test_copy_f64 (x, 2 * n);
  run ("Denoise()", 48000, y, n, 2);
  for (unsigned c = 0; c < 2; c++) {
    double *part = z + c * n;
    double sum = 0;

    for (size_t i = 0; i < n; i++)
      part[i] = x[2 * i + c];
    run ("Denoise()", 48000, part, n, 1);
    for (size_t i = 0; i < n; i++)
      sum = fmax (sum, fabs (part[i] - y[2 * i + c]));
    one[c] = sum;
  }
  tap_check (one[0] < 1e-12 && one[1] < 1e-12, "apart: %g, %g", one[0], one[1]);
  for (unsigned linked = 0; linked < 2; linked++) {
    const char *text = linked ? "Denoise(link=True)" : "Denoise()";

    memcpy (y, x, 2 * n * sizeof *x);
    run (text, 48000, y, n, 2);
    for (size_t i = 0; i < n; i++) {
      z[2 * i] = 0.6 * x[2 * i] - 0.8 * x[2 * i + 1];
      z[2 * i + 1] = 0.8 * x[2 * i] + 0.6 * x[2 * i + 1];
    }
    run (text, 48000, z, n, 2);
    for (size_t i = 0; i < n; i++) {
      const double a = y[2 * i];

      y[2 * i] = 0.6 * a - 0.8 * y[2 * i + 1];
      y[2 * i + 1] = 0.8 * a + 0.6 * y[2 * i + 1];
    }
    *(linked ? &turned : &apart) = find_error_db (z, y, 2 * n);
  }
  tap_check (turned < -200 && apart > -60, "linked: %.1f dB, apart: %.1f dB",
      turned, apart);
  free (x);
  free (y);
  free (z);
}

/* ---- changes ------------------------------------------------------------------------------- */

/* The tone counts as noise, so each change of the reduction has its full effect. */
static void
test_jumps (void)
{
  static const char *const texts[][2] = {
    { "x=Denoise(0)", "x=Denoise(12)" },
    { "x=Denoise(30)", "x=Denoise(0)" },
    { "x=Denoise(12)", "x=Denoise(12, smoothing=0.01)" },
    { "x=Denoise(12)", "x=Denoise(12, learn=0.1)" },
    { "x=Denoise(12)", "x=Denoise(12, link=True)" },
  };
  TapMany many = tap_many ("no change clicks");

  for (unsigned i = 0; i < 5; i++) {
    TfxExpr *before = test_parse (texts[i][0]);
    TfxExpr *after = test_parse (texts[i][1]);
    TestJump j;

    tfx_expr_adopt_ids (after, before);
    j = test_jump_between (test_build_expr (before, 2),
        test_build_expr (after, 2), 2, 480);
    tap_many_check (&many, j.high_db <= -80 && j.bend <= 1.5 && j.peak_db <= 1,
        "%s, %s: %.1f dB above 2 kHz, a second difference of %.2f times, peak "
        "%.2f dB",
        texts[i][0], texts[i][1], j.high_db, j.bend, j.peak_db);
    tfx_expr_free (&before);
    tfx_expr_free (&after);
  }
  tap_many_end (&many);
}

/* A new `learn` learns from where it is set. */
static void
test_learn_again (void)
{
  const size_t n = 48000, at = 16000;
  TfxExpr *before = test_parse ("x=Denoise(20, learn=0.1)");
  TfxExpr *after = test_parse ("x=Denoise(20, learn=0.5)");
  double *x = test_alloc_f64 (2 * n), found[2];

  tfx_expr_adopt_ids (after, before);
  for (unsigned turn = 0; turn < 2; turn++) {
    TestFilter *filter =
        test_filter_start_chain (test_build_expr (before, 1), 1, NULL);

    make_noise (x, 2 * n, 0.1);
    for (size_t i = 0; i < at; i++)
      x[i] *= 0.01;
    test_filter_pieces (filter, x, 1, 2 * n, 700, at,
        turn ? test_build_expr (after, 1) : NULL);
    found[turn] = 10 * log10 (find_power (x + n, n) / (0.1 * 0.1 * (double)n));
    test_filter_free (&filter);
  }
  tap_check (found[0] > -1 && found[1] < -19,
      "noise that came later: %.1f dB; learned again: %.1f dB", found[0],
      found[1]);
  tfx_expr_free (&before);
  tfx_expr_free (&after);
  free (x);
}

/* In a Multiband that gets another band, a Denoise knows its noise. */
static void
test_bands (void)
{
  const size_t n = 48000, at = 16000;
  TfxExpr *before =
      test_parse ("Multiband(300, None, x=Denoise(20, learn=0.1))");
  TfxExpr *after = test_parse (
      "Multiband([300, 400], None, None, x=Denoise(20, learn=0.1))");
  double *x = test_alloc_f64 (2 * n), change_db;
  TestFilter *filter =
      test_filter_start_chain (test_build_expr (before, 1), 1, NULL);

  tfx_expr_adopt_ids (after, before);
  make_noise (x, 2 * n, 0.1);
  for (size_t i = 0; i < at; i++)
    x[i] *= 0.01;
  test_filter_pieces (filter, x, 1, 2 * n, 700, at, test_build_expr (after, 1));
  change_db = 10 * log10 (find_power (x + n, n) / (0.1 * 0.1 * (double)n));
  tap_check (change_db > -1, "noise that came later: %.1f dB", change_db);
  test_filter_free (&filter);
  tfx_expr_free (&before);
  tfx_expr_free (&after);
  free (x);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* A unit whose n-th allocation fails is none, and frees the others. */
static void
test_short_memory (void)
{
  const TfxUnitSpec spec = { .n_channels = 2,
    .sample = TFX_SAMPLE_F64,
    .kernel = tfx_cpu_backend ()->kernel };
  const TfxUnitKind *kind = tfx_kind_denoise.unit;
  TfxChain *chain = test_build ("Denoise()", 2);
  unsigned n_failed = 0;
  bool is_clean = true;
  void *unit = NULL;

  for (int ret = -ENOMEM; ret < 0 && n_failed < 100; n_failed += ret < 0) {
    const long n_alive = heap_n_alive ();

    heap_watch (n_failed + 1);
    ret = kind->make (chain->stages[0], &spec, &unit);
    heap_unwatch ();
    is_clean = is_clean &&
               (ret == 0 || (ret == -ENOMEM && heap_n_alive () == n_alive));
  }
  tap_check (is_clean && unit && n_failed >= 8, "%u allocations that fail",
      n_failed);
  if (unit)
    kind->free (unit);
  tfx_chain_unref (&chain);
}

/* Frames of a running filter, also while its values ramp, take no memory. */
static void
test_no_memory (void)
{
  TestFilter *filter = filter_at ("x=Denoise()", 48000, 2, NULL);
  static double x[2 * 500];
  TfxChain *chain;
  HeapCounts counts;
  TfxStage *next;

  tfx_filter_get_chain (filter->filter, &chain);
  next = tfx_stage_new_like (&(TfxStage){ .id = tfx_stage_id (chain->stages[0]),
      .kind = &tfx_kind_denoise,
      .u = chain->stages[0]->u });
  next->u.denoise.reduction_db = 30;
  make_noise (x, 2 * 500, 0.1);
  test_filter_f64 (filter, x, 2, 500);
  tfx_filter_lock (filter->filter);
  tfx_filter_set_stage (filter->filter, next);
  tfx_filter_unlock (filter->filter);
  heap_watch (0);
  for (unsigned i = 0; i < 20; i++)
    test_filter_f64 (filter, x, 2, 500);
  counts = heap_unwatch ();
  tap_check (counts.n_allocations == 0 && counts.n_frees == 0,
      "running: %u allocations", counts.n_allocations);
  tfx_stage_unref (&next);
  tfx_chain_unref (&chain);
  test_filter_free (&filter);
}

static const TapTest tests[] = {
  { "golden", test_golden },
  { "identity", test_identity },
  { "windows", test_windows },
  { "bins", test_bins },
  { "tones", test_tones },
  { "splits", test_splits },
  { "silence", test_silence },
  { "bad-samples", test_bad_samples },
  { "reduction", test_reduction },
  { "profile", test_profile },
  { "musical-noise", test_musical_noise },
  { "reading", test_reading },
  { "voice", test_voice },
  { "clean", test_clean },
  { "channels", test_channels },
  { "jumps", test_jumps },
  { "learn-again", test_learn_again },
  { "bands", test_bands },
  { "short-memory", test_short_memory },
  { "no-memory", test_no_memory },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
