/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_loudness.c: loudness on the EBU's test signals (Tech 3341, table 1, and
 * Tech 3342), which are made here, against what they must come to and against
 * libebur128, where that is; and gains that reach a loudness.
 */
#include "core/backend.h"
#include "common.h"
#include "cpu/dynamics.h"
#include "kinds/loudness.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_EBUR128
#include <ebur128.h>
#endif

#define RATE 48000u
#define MAX_PARTS 8

/* A sine of 1000 Hz whose level changes; of level_db each channel has so much. */
typedef struct Signal
{
  const char *name;
  unsigned n_channels, n_repeats;
  struct
  {
    double seconds, level_db;
  } parts[MAX_PARTS];
  double channels_db[6];
} Signal;

static size_t
count_frames (const Signal *s)
{
  double seconds = 0;

  for (unsigned i = 0; i < MAX_PARTS; i++)
    seconds += s->parts[i].seconds;
  return (size_t)(seconds * s->n_repeats * RATE + 0.5);
}

static double *
alloc_samples (size_t n)
{
  return test_alloc ((n + TFX_DYNAMICS_SLACK) * sizeof (double));
}

static double *
make_signal (const Signal *s)
{
  const size_t n = count_frames (s);
  double *x = alloc_samples ((n + 1) * s->n_channels);
  double sine[48], end = 0;
  size_t i = 0;

  for (unsigned k = 0; k < 48; k++)
    sine[k] = sin (2 * M_PI * k / 48);
  for (unsigned p = 0; p < MAX_PARTS * s->n_repeats; p++) {
    const double level = s->parts[p % MAX_PARTS].level_db;

    end += s->parts[p % MAX_PARTS].seconds * RATE;
    for (; i < n && (double)i < end - 0.25; i++) {
      for (unsigned c = 0; c < s->n_channels; c++)
        x[i * s->n_channels + c] =
            sine[i % 48] * pow (10, (level + s->channels_db[c]) / 20);
    }
  }
  return x;
}

/* By our meter, in blocks of various lengths.  x has slack after its samples.
 * kernel: NULL for the best. */
static TfxLoudness *
make_meter (const char *kernel, const double *x, size_t n_frames,
    unsigned n_channels, unsigned rate)
{
  TfxLoudnessSpec spec = { .n_channels = n_channels,
    .positions = tfx_positions_default (n_channels),
    .step_frames = (rate + 5) / 10 };
  TfxLoudness *l;

  tfx_k_weighting_design (rate, spec.weighting);
  if (tfx_loudness_new (&spec,
          tfx_dynamics_kernels_for (
              kernel ? kernel : tfx_cpu_backend ()->kernel),
          1234, &l) < 0)
    abort ();
  for (size_t i = 0, m; i < n_frames; i += m) {
    m = 1 + i % 1234;
    m = m < n_frames - i ? m : n_frames - i;
    m = m < tfx_loudness_step_left (l) ? m : tfx_loudness_step_left (l);
    tfx_loudness_add (l, x + i * n_channels, m);
  }
  return l;
}

static TfxLoudnessValues
measure_by (const char *kernel, const double *x, size_t n_frames,
    unsigned n_channels, unsigned rate)
{
  TfxLoudness *l = make_meter (kernel, x, n_frames, n_channels, rate);
  const TfxLoudnessValues values = tfx_loudness_read (l);

  tfx_loudness_free (&l);
  return values;
}

static TfxLoudnessValues
measure (const double *x, size_t n_frames, unsigned n_channels, unsigned rate)
{
  return measure_by (NULL, x, n_frames, n_channels, rate);
}

static TfxLoudnessValues
measure_signal (const Signal *s)
{
  double *x = make_signal (s);
  const TfxLoudnessValues v =
      measure (x, count_frames (s), s->n_channels, RATE);

  free (x);
  return v;
}

/* ---- libebur128 ------------------------------------------------------------------------ */

#ifdef HAVE_EBUR128
static TfxLoudnessValues
measure_by_library (const double *x, size_t n_frames, unsigned n_channels,
    unsigned rate, bool is_peak_measured)
{
  const int mode = EBUR128_MODE_I | EBUR128_MODE_LRA |
                   (is_peak_measured ? EBUR128_MODE_TRUE_PEAK : 0);
  ebur128_state *state = ebur128_init (n_channels, rate, mode);
  TfxLoudnessValues v = { 0 };

  ebur128_add_frames_double (state, x, n_frames);
  ebur128_loudness_global (state, &v.integrated);
  ebur128_loudness_momentary (state, &v.momentary);
  ebur128_loudness_shortterm (state, &v.short_term);
  ebur128_loudness_range (state, &v.range);
  for (unsigned c = 0; is_peak_measured && c < n_channels; c++) {
    double peak = 0;

    ebur128_true_peak (state, c, &peak);
    v.true_peak_db = fmax (v.true_peak_db, peak);
  }
  v.true_peak_db = 20 * log10 (v.true_peak_db);
  ebur128_destroy (&state);
  return v;
}

/* Noise comes to other ranges, as the library looks at it once a second; and at 96
 * kHz to another peak, as it looks at one point between two samples there. */
static void
compare (const char *name, const TfxLoudnessValues *have, const double *x,
    size_t n_frames, unsigned n_channels, unsigned rate, bool is_noise)
{
  const bool has_peak = is_noise && rate < 96000;
  const TfxLoudnessValues want =
      measure_by_library (x, n_frames, n_channels, rate, has_peak);

  tap_check (fabs (have->integrated - want.integrated) <= 0.01 &&
                 (is_noise || fabs (have->range - want.range) <= 0.1) &&
                 (!has_peak ||
                     fabs (have->true_peak_db - want.true_peak_db) <= 0.1),
      "%s, libebur128: %.4f of %.4f LUFS, %.2f of %.2f LU, %.2f of %.2f dBTP",
      name, have->integrated, want.integrated, have->range, want.range,
      have->true_peak_db, want.true_peak_db);
}

static void
test_library (void)
{
  static const unsigned rates[] = { 44100, 48000, 96000, 22050 };
  const unsigned n_rates = part_is_wanted () ? 1 : 4;

  for (unsigned i = 0; i < n_rates; i++) {
    const unsigned n_channels = i == 0 ? 6 : i == 1 ? 4 : 1 + i % 3;
    const size_t n = 2u * rates[i];
    double *x = alloc_samples (n * n_channels);
    TfxLoudnessValues v;
    char name[80];

    test_noise_low (x, n, n_channels);
    for (size_t k = 0; k < n; k++) {
      static const double loud[] = { 0.5, 0.05, 0.3, 0.0001, 0.9 };

      for (unsigned c = 0; c < n_channels; c++)
        x[k * n_channels + c] *= loud[5 * k / rates[i] % 5];
    }
    snprintf (name, sizeof name, "noise, %u channels at %u Hz", n_channels,
        rates[i]);
    v = measure (x, n, n_channels, rates[i]);
    compare (name, &v, x, n, n_channels, rates[i], true);
    free (x);
  }
}
/* An album: programmes of other levels, rates and channels. */
static void
test_merged (void)
{
  static const unsigned rates[] = { 44100, 48000, 48000 };
  static const double levels[] = { 0.7, 0.2, 0.01 };
  const TfxLoudnessSpec spec = { .n_channels = 1, .step_frames = 1 };
  const char *kernel = tfx_cpu_backend ()->kernel;
  ebur128_state *states[3];
  TfxLoudness *album, *l;
  TfxLoudnessValues have;
  double want = 0, highest = -INFINITY;

  if (tfx_loudness_new (&spec, tfx_dynamics_kernels_for (kernel), 1, &album) <
      0)
    abort ();
  for (unsigned i = 0; i < 3; i++) {
    const unsigned n_channels = 1 + i % 2;
    const size_t n = (i + 2u) * rates[i];
    double *x = alloc_samples (n * n_channels);

    test_noise_low (x, n, n_channels);
    for (size_t k = 0; k < n * n_channels; k++)
      x[k] *= levels[i];
    l = make_meter (kernel, x, n, n_channels, rates[i]);
    tfx_loudness_merge (album, l);
    highest = fmax (highest, tfx_loudness_read (l).true_peak_db);
    tfx_loudness_free (&l);
    states[i] = ebur128_init (n_channels, rates[i], EBUR128_MODE_I);
    ebur128_add_frames_double (states[i], x, n);
    free (x);
  }
  ebur128_loudness_global_multiple (states, 3, &want);
  have = tfx_loudness_read (album);
  tap_check (fabs (have.integrated - want) <= 0.01 &&
                 fabs (have.true_peak_db - highest) <= 1e-12,
      "an album, libebur128: %.4f of %.4f LUFS, %.2f of %.2f dBTP",
      have.integrated, want, have.true_peak_db, highest);
  tfx_loudness_free (&album);
  for (unsigned i = 0; i < 3; i++)
    ebur128_destroy (&states[i]);
}
#else
static void
test_merged (void)
{
  tap_skip ("there is no libebur128", "an album");
}

static void
compare (const char *name, const TfxLoudnessValues *have, const double *x,
    size_t n_frames, unsigned n_channels, unsigned rate, bool is_noise)
{
}

static void
test_library (void)
{
  tap_skip ("there is no libebur128", "the same as libebur128");
}
#endif

/* ---- the EBU's signals --------------------------------------------------------------- */

static const Signal signals[] = {
  { "case 1", 2, 1, { { 20, -23 } } },
  { "case 2", 2, 1, { { 20, -33 } } },
  { "case 3", 2, 1, { { 10, -36 }, { 60, -23 }, { 10, -36 } } },
  { "case 4", 2, 1,
      { { 10, -72 }, { 10, -36 }, { 60, -23 }, { 10, -36 }, { 10, -72 } } },
  { "case 5", 2, 1, { { 20, -26 }, { 20.1, -20 }, { 20, -26 } } },
  { "case 6", 5, 1, { { 20, 0 } }, { -28, -28, -24, -30, -30 } },
  { "louder than any class", 2, 1, { { 5, 45 } } },
};
static const double wanted[] = { -23, -33, -23, -23, -23, -23, 45 };

static void
test_integrated (void)
{
  for (unsigned i = 0; i < sizeof signals / sizeof *signals;
       i += part_is_wanted () ? 2 : 1) {
    const Signal *s = &signals[i];
    double *x = make_signal (s);
    const TfxLoudnessValues v =
        measure (x, count_frames (s), s->n_channels, RATE);

    tap_check (fabs (v.integrated - wanted[i]) <= 0.1,
        "Tech 3341, %s: %.3f LUFS of %g", s->name, v.integrated, wanted[i]);
    compare (s->name, &v, x, count_frames (s), s->n_channels, RATE, false);
    if (i < 2)
      tap_check (fabs (v.momentary - wanted[i]) <= 0.1 &&
                     fabs (v.short_term - wanted[i]) <= 0.1,
          "%s: momentary %.3f, short-term %.3f", s->name, v.momentary,
          v.short_term);
    free (x);
  }
}

static void
test_short (void)
{
  static const Signal s9 = { "case 9", 2, 5, { { 1.34, -20 }, { 1.66, -30 } } };
  static const Signal s12 = { "case 12", 2, 25,
    { { 0.18, -20 }, { 0.22, -30 } } };
  TfxLoudnessValues v = measure_signal (&s9);

  tap_check (fabs (v.short_term - -23) <= 0.1 &&
                 fabs (v.short_term_max - -23) <= 0.1,
      "Tech 3341, case 9: short-term %.3f, at most %.3f", v.short_term,
      v.short_term_max);
  v = measure_signal (&s12);
  tap_check (fabs (v.momentary - -23) <= 0.1 &&
                 fabs (v.momentary_max - -23) <= 0.1,
      "case 12: momentary %.3f, at most %.3f", v.momentary, v.momentary_max);
}

static void
test_true_peak (void)
{
  /* Cases 15 to 19: frames of a period, phase in degrees, amplitude, dBTP. */
  static const double cases[][4] = { { 4, 0, 0.5, -6 }, { 4, 45, 0.5, -6 },
    { 6, 60, 0.5, -6 }, { 8, 67.5, 0.5, -6 }, { 4, 45, 1.41, 3 } };
  double *x = alloc_samples (RATE);

  for (unsigned i = 0; i < 5; i++) {
    const double *c = cases[i];
    TfxLoudnessValues v;

    for (size_t k = 0; k < RATE; k++)
      x[k] = c[2] * sin (2 * M_PI * ((double)k / c[0] + c[1] / 360)) *
             (k < 480 ? (double)k / 480 : 1);
    v = measure (x, RATE, 1, RATE);
    tap_check (v.true_peak_db <= c[3] + 0.2 && v.true_peak_db >= c[3] - 0.4,
        "Tech 3341, case %u: %.2f dBTP of %g", 15 + i, v.true_peak_db, c[3]);
  }
  free (x);
}

/* Behind a louder sample: the highest that a point can be above its samples. */
static void
test_highest_point (void)
{
  double *x = alloc_samples (RATE), most = 0;
  TfxTruePeak true_peak;
  TfxLoudnessValues v;

  tfx_true_peak_init (&true_peak);
  memset (x, 0, RATE * sizeof *x);
  x[100] = 1.15;
  for (unsigned k = 0; k < TFX_TRUE_PEAK_TAPS; k++) {
    const double tap = true_peak.taps[1][k];

    x[30000 + k] = tap < 0 ? -0.5 : 0.5;
    most += 0.5 * fabs (tap);
  }
  v = measure (x, RATE, 1, RATE);
  tap_check (fabs (v.true_peak_db - 20 * log10 (most)) < 1e-9 && most > 1.15,
      "a point that is as high as can be: %.6f dBTP", v.true_peak_db);
  free (x);
}

static void
test_range (void)
{
  static const Signal all[] = {
    { "case 1", 2, 1, { { 20, -20 }, { 20, -30 } } },
    { "case 2", 2, 1, { { 20, -20 }, { 20, -15 } } },
    { "case 3", 2, 1, { { 20, -40 }, { 20, -20 } } },
    { "case 4", 2, 1,
        { { 20, -50 }, { 20, -35 }, { 20, -20 }, { 20, -35 }, { 20, -50 } } },
  };
  static const double lu[] = { 10, 5, 20, 15 };

  for (unsigned i = 0; i < (part_is_wanted () ? 1 : 4); i++) {
    const TfxLoudnessValues v = measure_signal (&all[i]);

    tap_check (fabs (v.range - lu[i]) <= 1, "Tech 3342, %s: %.2f LU of %g",
        all[i].name, v.range, lu[i]);
  }
}

static void
test_silence (void)
{
  double *x = alloc_samples (RATE);
  TfxLoudnessValues v;

  memset (x, 0, RATE * sizeof *x);
  v = measure (x, RATE, 1, RATE);
  tap_check (v.integrated == -INFINITY && v.true_peak_db == -INFINITY &&
                 v.range == 0,
      "silence has no loudness");
  for (unsigned k = 0; k < 4; k++) {
    static const double damage[] = { 1e300, 1e38, 1e8, 3e4 };

    for (size_t i = 0; i < RATE; i++)
      x[i] = i == 1000 ? damage[k] : 0.1 * sin ((double)i);
    v = measure (x, RATE, 1, RATE);
    tap_check (isfinite (v.integrated) && (v.integrated < 0) == (k < 3),
        "a sample of %g %s: %g LUFS", damage[k],
        k < 3 ? "is damage, and does not stay" : "is loud", v.integrated);
  }
  free (x);
}

/* Bursts, so that the gates and the range have something to do; each channel in its
 * turn, so that no peak hides another. */
static void
test_each_kernel (void)
{
  static const unsigned channels[] = { 1, 2, 3, 5, 6, 8, 9 };
  TapMany many = tap_many ("each kernel measures the same");

  for (unsigned i = 0; i < 7; i++) {
    const unsigned n_channels = channels[i];
    const size_t n = 4 * RATE;
    double *x = alloc_samples (n * n_channels);
    TfxLoudnessValues want = { 0 };
    const char *kernel;

    test_noise_f64 (x, n * n_channels);
    for (size_t k = 0; k < n * n_channels; k++)
      x[k] *= exp2 (-(double)(k / n_channels / 4801 % (5 + k % n_channels)));
    for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
      const TfxLoudnessValues v = measure_by (kernel, x, n, n_channels, RATE);

      want = k == 0 ? v : want;
      tap_many_check (&many,
          fabs (v.integrated - want.integrated) < 1e-9 &&
              fabs (v.momentary_max - want.momentary_max) < 1e-9 &&
              fabs (v.short_term - want.short_term) < 1e-9 &&
              fabs (v.range - want.range) < 1e-9 &&
              fabs (v.true_peak_db - want.true_peak_db) < 1e-9,
          "%u channels, %s: %.12f LUFS, %.12f dBTP", n_channels, kernel,
          v.integrated, v.true_peak_db);
    }
    free (x);
  }
  tap_many_end (&many);
}

/* ---- the stage ------------------------------------------------------------------------- */

/* The readings of the first stage of a text with n_in input and n_channels output
 * channels.  Returns the loudness of the output. */
static double
run_stage (const char *text, const double *x, size_t n_frames, unsigned n_in,
    unsigned n_channels, const char *positions, unsigned rate, TfxReadings *r)
{
  const TfxFilterSpec spec = { rate, n_channels, TFX_SAMPLE_F64, 0 };
  TfxExpr *expr = test_parse (text);
  TfxChain *chain = NULL;
  TestFilter *filter;
  size_t late, n;
  double *y, found;

  tfx_expr_build_at (expr, rate, n_in, test_parse_positions (positions), NULL,
      NULL, &chain, NULL);
  late = tfx_chain_latency (chain);
  n = n_frames + late;
  y = alloc_samples (n * n_channels);
  memcpy (y, x, n_frames * n_channels * sizeof *y);
  memset (y + n_frames * n_channels, 0, late * n_channels * sizeof *y);
  filter = test_filter_for (chain, &spec, tfx_cpu_backend ());
  test_filter_f64 (filter, y, n_channels, n);
  *r = test_filter_read (filter, tfx_expr_stage_id (expr, 0));
  found =
      measure (y + late * n_channels, n_frames, n_channels, rate).integrated;
  test_filter_free (&filter);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
  free (y);
  return found;
}

static void
test_stage (void)
{
  static const struct
  {
    Signal signal;
    double wanted, bound; /* LUFS of the output, LU */
  } all[] = {
    { { "even", 2, 1, { { 12, -35 } } }, -23, 0.01 },
    { { "loud", 2, 1, { { 12, -3 } } }, -23, 0.01 },
    { { "in steps", 2, 4, { { 5, -30 }, { 5, -26 } } }, -23, 1 },
    { { "below -70 LUFS", 2, 1, { { 8, -90 } } }, -INFINITY, 0 },
  };
  TfxReadings r;

  for (unsigned i = 0; i < (part_is_wanted () ? 1 : 4); i++) {
    const Signal *s = &all[i].signal;
    const size_t n = count_frames (s);
    double *x = make_signal (s), found;
    const double before = measure (x, n, 2, RATE).integrated;

    found = run_stage ("Loudness(-23)", x, n, 2, 2, "", RATE, &r);
    tap_check (found == all[i].wanted ||
                   fabs (found - all[i].wanted) <= all[i].bound,
        "%s, %.2f LUFS: the output has %.3f", s->name, before, found);
    if (i == 3)
      tap_check (r.gain_db == 0, "with a gain of 0 dB");
    found = run_stage ("Loudness(None)", x, n, 2, 2, "", RATE, &r);
    tap_check (found == before && r.has_loudness &&
                   (r.loudness.integrated == before ||
                       fabs (r.loudness.integrated - before) < 1e-9),
        "without a target it only measures: %.3f LUFS", r.loudness.integrated);
    free (x);
  }
}

/* ---- keys ------------------------------------------------------------------------------ */

/* The output of a chain, shifted by its latency. */
static double *
run_at (const char *text, const double *x, size_t n_frames, unsigned n_channels,
    uint64_t positions)
{
  const TfxFilterSpec spec = { RATE, n_channels, TFX_SAMPLE_F64, 0 };
  double *y = alloc_samples (n_frames * n_channels);
  TfxExpr *expr = test_parse (text);
  TfxChain *chain = NULL;
  TestFilter *filter;

  tfx_expr_build_at (expr, RATE, n_channels, positions, NULL, NULL, &chain,
      NULL);
  memcpy (y, x, n_frames * n_channels * sizeof *y);
  filter = test_filter_for (chain, &spec, tfx_cpu_backend ());
  test_filter_f64 (filter, y, n_channels, n_frames);
  test_filter_free (&filter);
  tfx_chain_unref (&chain);
  tfx_expr_free (&expr);
  return y;
}

/* Whether the channels from a on of one output are those from b on of another. */
static bool
is_same (const double *x, unsigned n_x, unsigned a, const double *y,
    unsigned n_y, unsigned b, unsigned n, size_t n_frames)
{
  for (size_t i = 0; i < n_frames; i++) {
    if (memcmp (x + i * n_x + a, y + i * n_y + b, n * sizeof *x) != 0)
      return false;
  }
  return true;
}

/* Key channels, louder than the others, change no gain; and they are measured where there
 * are no others. */
static void
test_keys (void)
{
  static const char *const texts[] = { "Loudness(-23, lookahead=1)",
    "Normalize(0.5, window=1)", "Normalize(0.1, strategy='rms', window=1)",
    "Normalize(0.5, strategy='per-channel', window=1)",
    "Compressor(-40, 4, link=True)", "Gate(-20, link=True)",
    "Compressor(-40, 4, link=True, key_filter=HiButterworth(100))",
    "Limiter(-30, link=True)", "Limiter(-30, link=True, true_peak=True)",
    "DynamicEQ(300, 1, -40, link=True)", "DeEss(300, -40, link=True)",
    "Denoise(learn=1, link=True)", "ch[0, 1]: Loudness(-23, lookahead=1)",
    "ch[0, 1, 3]: Normalize(0.5, window=1)" };
  const size_t n = 4 * RATE;
  const uint64_t stereo =
      (uint64_t)1 << TFX_POSITION_FL | (uint64_t)1 << TFX_POSITION_FR;
  const uint64_t both = TFX_POSITIONS_KEYS (2);
  double *x = alloc_samples (4 * n), *two = alloc_samples (2 * n), *y, *z;

  for (size_t i = 0; i < n; i++) {
    for (unsigned c = 0; c < 4; c++)
      x[4 * i + c] =
          (c < 2 ? 0.05 : 0.5) * sin ((double)i * (0.05 + 0.031 * c));
    memcpy (two + 2 * i, x + 4 * i, 2 * sizeof *two);
  }
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    const char *text = k == sizeof texts / sizeof *texts - 1
                           ? "ch[0, 1]: Normalize(0.5, window=1)"
                           : texts[k];

    z = run_at (text, two, n, 2, stereo);
    for (unsigned i = 0; i < 2; i++) {
      y = run_at (texts[k], x, n, 4, both | (i ? stereo : 0));
      tap_check (is_same (y, 4, 0, z, 2, 0, 2, n), "%s%s", texts[k],
          i ? "" : ", no positions");
      free (y);
    }
    free (z);
  }
  y = run_at ("ch[2, 3]: Loudness(-23, lookahead=1)", x, n, 4, both);
  z = run_at ("ch[2, 3]: Loudness(-23, lookahead=1)", x, n, 4, 0);
  tap_check (is_same (y, 4, 2, z, 4, 2, 2, n), "keys alone");
  free (y);
  free (z);
  free (x);
  free (two);
}

/* ---- layouts ------------------------------------------------------------------------- */

/* Of each position its weight by the recommendation's table 4: s 1.41. */
static const struct
{
  const char *name, *positions, *weights;
} layouts[] = {
  { "mono", "FC", "1" },
  { "stereo", "FL FR", "11" },
  { "2.1", "FL FR LFE", "110" },
  { "3.0", "FL FR FC", "111" },
  { "3.1", "FL FR FC LFE", "1110" },
  { "3.0 back", "FL FR BC", "111" },
  { "4.0", "FL FR FC BC", "1111" },
  { "quad", "FL FR BL BR", "11ss" },
  { "quad side", "FL FR SL SR", "11ss" },
  { "4.1", "FL FR FC LFE BC", "11101" },
  { "5.0", "FL FR FC BL BR", "111ss" },
  { "5.0 side", "FL FR FC SL SR", "111ss" },
  { "5.1", "FL FR FC LFE BL BR", "1110ss" },
  { "5.1 side", "FL FR FC LFE SL SR", "1110ss" },
  { "6.0", "FL FR FC BC SL SR", "1111ss" },
  { "6.1", "FL FR FC LFE BC SL SR", "11101ss" },
  { "hexagonal", "FL FR FC BL BR BC", "111ss1" },
  { "7.0", "FL FR FC BL BR SL SR", "11111ss" },
  { "7.1", "FL FR FC LFE BL BR SL SR", "111011ss" },
  { "7.1 wide", "FL FR FC LFE BL BR FLC FRC", "1110ss11" },
  { "5.1.4", "FL FR FC LFE SL SR TFL TFR TBL TBR", "1110ss1111" },
  { "7.1.2", "FL FR FC LFE BL BR SL SR TSL TSR", "111011ss11" },
  { "9.2", "FL FR FC LFE BL BR LFE2 SL SR BFC WL WR", "1110110ss1ss" },
};

/* A sine of 997 Hz, whose loudness is that of its power; channel c has c + 1 times the
 * power of channel 0. */
static double *
make_layout (size_t n_frames, unsigned n_channels)
{
  double *x = alloc_samples (n_frames * n_channels);

  for (size_t i = 0; i < n_frames * n_channels; i++)
    x[i] = 0.1 * sqrt (i % n_channels + 1) *
           sin (2 * M_PI * 997 / RATE * (double)(i / n_channels));
  return x;
}

/* Of channels with these weights. */
static double
sum_layout (const char *weights)
{
  double power = 0;

  for (unsigned c = 0; weights[c]; c++)
    power += (c + 1) * (weights[c] == 's'      ? 1.41
                           : weights[c] == '1' ? 1.0
                                               : 0.0);
  return 10 * log10 (0.01 * power) - 3.01;
}

static double
measure_layout (const char *text, const double *x, size_t n_frames,
    unsigned n_in, unsigned n_channels, const char *positions)
{
  TfxReadings r;

  run_stage (text, x, n_frames, n_in, n_channels, positions, RATE, &r);
  return r.loudness.integrated;
}

#ifdef HAVE_EBUR128
/* By the recommendation's names of loudspeakers, which the library weighs. */
static double
measure_layout_by_library (const double *x, size_t n_frames, unsigned layout)
{
  static const int channels[TFX_N_POSITIONS] = { EBUR128_Mp030, EBUR128_Mm030,
    EBUR128_Mp000, EBUR128_UNUSED, EBUR128_Mp135, EBUR128_Mm135, EBUR128_MpSC,
    EBUR128_MmSC, EBUR128_Mp180, EBUR128_UNUSED, EBUR128_Mp090, EBUR128_Mm090,
    EBUR128_Up030, EBUR128_Um030, EBUR128_Up000, EBUR128_Tp000, EBUR128_Up135,
    EBUR128_Um135, EBUR128_Up090, EBUR128_Um090, EBUR128_Up180, EBUR128_Bp000,
    EBUR128_Bp045, EBUR128_Bm045, EBUR128_Mp060, EBUR128_Mm060, EBUR128_Mp110,
    EBUR128_Mm110 };
  const bool has_sides = strstr (layouts[layout].positions, "SL") != NULL;
  const unsigned n_channels = (unsigned)strlen (layouts[layout].weights);
  ebur128_state *state = ebur128_init (n_channels, RATE, EBUR128_MODE_I);
  uint64_t left = test_parse_positions (layouts[layout].positions);
  double lufs;

  for (unsigned c = 0; c < n_channels; c++, left &= left - 1) {
    unsigned position = (unsigned)__builtin_ctzll (left);

    if (!has_sides && position == TFX_POSITION_BL)
      position = TFX_POSITION_SDL;
    if (!has_sides && position == TFX_POSITION_BR)
      position = TFX_POSITION_SDR;
    ebur128_set_channel (state, c, channels[position]);
  }
  ebur128_add_frames_double (state, x, n_frames);
  ebur128_loudness_global (state, &lufs);
  ebur128_destroy (&state);
  return lufs;
}
#else
static double
measure_layout_by_library (const double *x, size_t n_frames, unsigned layout)
{
  return sum_layout (layouts[layout].weights);
}
#endif

static void
test_layouts (void)
{
  const size_t n = 2 * RATE;

  for (unsigned i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    const unsigned n_channels = (unsigned)strlen (layouts[i].weights);
    const double expected = sum_layout (layouts[i].weights);
    double *x = make_layout (n, n_channels);
    const double found = measure_layout ("Loudness(None)", x, n, n_channels,
        n_channels, layouts[i].positions);
    const double by_library = measure_layout_by_library (x, n, i);

    tap_check (fabs (found - expected) < 0.02 &&
                   fabs (by_library - expected) < 0.02,
        "%s: %.3f of %.3f LUFS, libebur128: %.3f", layouts[i].name, found,
        expected, by_library);
    free (x);
  }
}

/* Within chains; without positions the number of channels decides. */
static void
test_placed (void)
{
  static const struct
  {
    const char *text, *positions, *weights;
  } cases[] = {
    { "Loudness(None)", "", "111" },
    { "Loudness(None)", "", "11ss" },
    { "Loudness(None)", "", "111ss" },
    { "Loudness(None)", "", "1110ss" },
    { "Loudness(None)", "", "1110ss1" },
    { "Loudness(None)", "", "111011ss" },
    { "Loudness(None)", "", "1110ss111" },
    { "ch[SL, SR]: Loudness(None)", "FL FR SL SR", "00ss" },
    { "ch[FR, LFE]: Loudness(None)", "FL FR LFE", "010" },
    { "ch[1:3]: Loudness(None)", "FL FR LFE", "010" },
    { "ch[BL, BR]: (ch[1]: Loudness(None))", "FL FR BL BR", "000s" },
    { "ch[2, 3]: Loudness(None)", "", "0011" },
  };
  const size_t n = 2 * RATE;

  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    const unsigned n_channels = (unsigned)strlen (cases[i].weights);
    const double expected = sum_layout (cases[i].weights);
    double *x = make_layout (n, n_channels);
    const double found = measure_layout (cases[i].text, x, n, n_channels,
        n_channels, cases[i].positions);

    tap_check (fabs (found - expected) < 0.02,
        "%s of %u channels, %s: %.3f of %.3f LUFS", cases[i].text, n_channels,
        cases[i].positions, found, expected);
    free (x);
  }
}

/* The chain adds two channels to the four of its input, which is quadrophony. */
static void
test_widened (void)
{
  const char *text = "Loudness(None) | Mix([[1, 0, 0, 0], [0, 1, 0, 0], "
                     "[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])";
  const size_t n = 2 * RATE;
  double *x = make_layout (n, 6), found;

  for (size_t i = 0; i < n; i++)
    x[6 * i + 4] = x[6 * i + 5] = 0;
  found = measure_layout (text, x, n, 4, 6, "");
  tap_check (fabs (found - sum_layout ("11ss")) < 0.02,
      "four channels, before a Mix to six: %.3f of %.3f LUFS", found,
      sum_layout ("11ss"));
  free (x);
}

/* Up to those of the fastest recordings. */
static void
test_rates (void)
{
  static const unsigned rates[] = { 8000, 352800, 705600, 768000 };

  for (unsigned i = 0; i < 4; i++) {
    const size_t n = rates[i];
    double *x = alloc_samples (n);
    TfxReadings r;

    for (size_t k = 0; k < n; k++)
      x[k] = 0.1 * sin (2 * M_PI * 997 / rates[i] * (double)k);
    run_stage ("Loudness(None)", x, n, 1, 1, "", rates[i], &r);
    tap_check (r.has_loudness && fabs (r.loudness.integrated + 23.01) < 0.1,
        "a sine of 997 Hz at %u Hz: %.3f LUFS", rates[i],
        r.loudness.integrated);
    free (x);
  }
}

static const TapTest tests[] = {
  { "integrated", test_integrated },
  { "short", test_short },
  { "true-peak", test_true_peak },
  { "highest-point", test_highest_point },
  { "range", test_range },
  { "silence", test_silence },
  { "library", test_library },
  { "merged", test_merged },
  { "kernels", test_each_kernel },
  { "stage", test_stage },
  { "keys", test_keys },
  { "layouts", test_layouts },
  { "placed", test_placed },
  { "widened", test_widened },
  { "rates", test_rates },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
