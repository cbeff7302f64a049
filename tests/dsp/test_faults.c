/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_faults.c: NaN, infinity, overflow and denormal numbers in the stream.
 */
#include "buffer.h"
#include "common.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#define RATE 48000.0
/* Frames after the last bad one by which the output is finite again. */
#define RECOVERY 4096

static const unsigned channel_counts[] = { 1, 2, 3, 8, 11 };
#define N_COUNTS (sizeof channel_counts / sizeof channel_counts[0])
static const double bad_values[] = { NAN, -NAN, INFINITY, -INFINITY };
#define N_BAD 4

static size_t
design (TfxSos *sos, unsigned mode, unsigned order, double cutoff)
{
  const TfxDesign d = { TFX_FAMILY_CHEBYSHEV1, (TfxMode)mode, order, cutoff,
    2 * cutoff, 0.1, 0 };

  return (size_t)tfx_design_sections (&d, RATE, sos);
}

/* A stream in which one sample is bad, next to the same stream without. */
typedef struct Trial
{
  const TfxBackend *backend;
  const char *kernel;
  unsigned n_channels, channel;
  TfxSample type;
  bool is_planar;
  size_t position, n_frames, piece; /* piece: frames of a block */
  double bad;
  const TfxSos *sos;
  size_t n_sos;
} Trial;

typedef struct Outcome
{
  bool ran, finite, others_same, clean_is_finite;
  size_t last_bad; /* the last frame that is not finite, from 1; 0: none */
  uint64_t recoveries, clean_recoveries;
  double forgotten; /* the difference at the end, of the largest value */
} Outcome;

/* A block of n frames in planes. */
static bool
run_planes (TestFilter *row, const Trial *t, double *x, size_t n)
{
  TestBuffer b =
      test_buffer_new (TEST_LAYOUT_PLANAR, t->type, t->n_channels, n, 0);
  bool good;

  test_buffer_set (&b, x);
  good = !test_filter_run (row, &b.block, &b.block);
  test_buffer_get (&b, x);
  test_buffer_clear (&b);
  return good;
}

static bool
run_stream (const Trial *t, double *x, uint64_t *recoveries)
{
  TestFilter *row =
      test_filter_new (t->sos, t->n_sos, t->n_channels, t->backend);
  size_t n_values = t->n_frames * t->n_channels;
  float *f32 = test_alloc (n_values * sizeof *f32);
  TfxStats stats = { 0 };
  bool good = row != NULL;

  for (size_t i = 0; i < n_values; i++)
    f32[i] = (float)x[i];
  for (size_t done = 0; good && done < t->n_frames; done += t->piece) {
    size_t n = t->n_frames - done < t->piece ? t->n_frames - done : t->piece;
    if (t->is_planar)
      good = run_planes (row, t, x + done * t->n_channels, n);
    else
      good = t->type == TFX_SAMPLE_F32
                 ? !test_filter_f32 (row, f32 + done * t->n_channels,
                       t->n_channels, n)
                 : !test_filter_f64 (row, x + done * t->n_channels,
                       t->n_channels, n);
  }
  for (size_t i = 0; t->type == TFX_SAMPLE_F32 && !t->is_planar && i < n_values;
       i++)
    x[i] = f32[i];
  if (row)
    test_filter_get_stats (row, &stats);
  *recoveries = stats.recoveries;
  test_filter_free (&row);
  free (f32);
  return good;
}

static Outcome
run_trial (const Trial *t)
{
  size_t n = t->n_frames * t->n_channels;
  double *bad = test_alloc (n * sizeof *bad);
  double *clean = test_alloc (n * sizeof *clean);
  Outcome o = { true, true, true, true, 0, 0, 0, 0 };
  double peak = 0, apart = 0;

  test_noise_f64 (clean, n);
  memcpy (bad, clean, n * sizeof *bad);
  bad[t->position * t->n_channels + t->channel] = t->bad;
  o.ran = run_stream (t, clean, &o.clean_recoveries) &&
          run_stream (t, bad, &o.recoveries);
  for (size_t i = 0; i < n; i++) {
    size_t frame = i / t->n_channels;

    o.clean_is_finite = o.clean_is_finite && isfinite (clean[i]);
    if (i % t->n_channels != t->channel)
      o.others_same =
          o.others_same && !memcmp (&bad[i], &clean[i], sizeof bad[i]);
    else if (!isfinite (bad[i]))
      o.last_bad = frame + 1;
    else if (frame + 500 > t->n_frames) {
      apart = fmax (apart, fabs (bad[i] - clean[i]));
      peak = fmax (peak, fabs (clean[i]));
    }
  }
  o.finite = o.last_bad <= t->position + 1 + RECOVERY;
  o.forgotten = apart / peak;
  free (bad);
  free (clean);
  return o;
}

typedef struct Checks
{
  TapMany finite, others, counted, forgotten;
  size_t longest;
} Checks;

static Checks
checks_new (void)
{
  return (Checks){ .finite = tap_many (
                       "finite again 4096 frames after it left the input"),
    .others = tap_many ("the other channels keep every bit"),
    .counted = tap_many ("each recovery is counted, and no more"),
    .forgotten = tap_many ("in the end as if it had not been") };
}

static void
checks_end (Checks *checks)
{
  tap_diag ("at most %zu frames until the output was finite", checks->longest);
  tap_many_end (&checks->finite);
  tap_many_end (&checks->others);
  tap_many_end (&checks->counted);
  tap_many_end (&checks->forgotten);
}

static void
check_trial (Checks *checks, const Trial *t)
{
  Outcome o = run_trial (t);
  char text[200];

  snprintf (text, sizeof text,
      "%s %s%s, %zu sections, %g in frame %zu of "
      "channel %u of %u, blocks of %zu",
      t->kernel, t->type == TFX_SAMPLE_F32 ? "F32" : "F64",
      t->is_planar ? ", planar" : "", t->n_sos, t->bad, t->position, t->channel,
      t->n_channels, t->piece);
  tap_many_check (&checks->finite, o.ran && o.clean_is_finite && o.finite,
      "%s: the last that is not finite is frame %zu", text, o.last_bad);
  tap_many_check (&checks->others, o.others_same, "%s", text);
  tap_many_check (&checks->counted,
      o.recoveries == 1 && o.clean_recoveries == 0,
      "%s: %u recoveries, %u without it", text, (unsigned)o.recoveries,
      (unsigned)o.clean_recoveries);
  tap_many_check (&checks->forgotten, o.forgotten < 1e-6, "%s: %.3g apart",
      text, o.forgotten);
  if (o.last_bad > t->position + 1 &&
      o.last_bad - t->position - 1 > checks->longest)
    checks->longest = o.last_bad - t->position - 1;
}

/* At every position of a group of samples and of a block, in every channel. */
static void
test_positions (void)
{
  Checks checks = checks_new ();
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  Trial t = { .sos = sos, .n_frames = 6000 };

  t.n_sos = design (sos, TFX_MODE_LOW_PASS, 8, 1000);
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    t.kernel = test_kernels[k];
    t.backend = test_backend_for (t.kernel);
    for (size_t i = 0; t.backend && i < N_COUNTS; i++) {
      t.n_channels = channel_counts[i];
      for (t.position = 0; t.position < 40;
           t.position += part_is_wanted () ? 3 : 1) {
        unsigned v = tap_random_below (100);
        static const size_t pieces[] = { 1, 7, 64, 1000, 6000 };
        t.channel = v % t.n_channels;
        t.bad = bad_values[v % N_BAD];
        t.type = (TfxSample)(v / 4 % 2);
        t.piece = pieces[t.position % 5];
        check_trial (&checks, &t);
      }
    }
  }
  checks_end (&checks);
}

/* The filters that remember longest, and many sections. */
static void
test_filters (void)
{
  static const struct
  {
    unsigned mode, order;
    double cutoff;
  } filters[] = { { 0, 1, 1000 }, { 1, 2, 2000 }, { 2, 3, 2000 },
    { 3, 4, 1000 }, { 0, 16, 4000 }, { 1, 32, 8000 } };
  Checks checks = checks_new ();
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  Trial t = { .sos = sos, .n_frames = 24000, .piece = 512 };

  for (size_t f = 0; f < sizeof filters / sizeof filters[0]; f++) {
    t.n_sos =
        design (sos, filters[f].mode, filters[f].order, filters[f].cutoff);
    for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
      t.kernel = test_kernels[k];
      t.backend = test_backend_for (t.kernel);
      for (size_t i = 0; t.backend && i < N_COUNTS; i++) {
        t.n_channels = channel_counts[i];
        t.channel = tap_random_below (t.n_channels);
        t.position = tap_random_below (2000);
        t.bad = bad_values[i % N_BAD];
        t.type = (TfxSample)tap_random_below (2);
        check_trial (&checks, &t);
      }
    }
  }
  checks_end (&checks);
}

/* One and two sections, for which there is code for each number of channels: in every
 * channel, interleaved and in planes. */
static void
test_short_cascades (void)
{
  Checks checks = checks_new ();
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  Trial t = { .sos = sos, .n_frames = 5000, .piece = 512, .bad = NAN };

  for (unsigned order = 2; order <= 4; order += 2) {
    t.n_sos = design (sos, TFX_MODE_LOW_PASS, order, 3000);
    for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
      t.kernel = test_kernels[k];
      t.backend = test_backend_for (t.kernel);
      for (t.n_channels = 3; t.backend && t.n_channels <= 17; t.n_channels++) {
        for (t.channel = 0; t.channel < t.n_channels; t.channel++) {
          for (unsigned i = 0; i < 2; i++) {
            t.type = (TfxSample)((t.n_channels + t.channel) % 2);
            t.is_planar = i;
            t.position = 100 + t.channel;
            check_trial (&checks, &t);
          }
        }
      }
    }
  }
  checks_end (&checks);
}

/* In blocks longer than the kernels' scratch, and one block for all. */
static void
test_long_blocks (void)
{
  static const size_t pieces[] = { 5000, 100000, 200000 };
  Checks checks = checks_new ();
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  Trial t = { .sos = sos, .n_frames = 200000, .bad = NAN };

  t.n_sos = design (sos, TFX_MODE_LOW_PASS, 4, 3000);
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    t.kernel = test_kernels[k];
    t.backend = test_backend_for (t.kernel);
    for (unsigned i = 0; t.backend && i < 9; i++) {
      t.n_channels = i % 3 + 1;
      t.piece = pieces[i / 3];
      t.type = (TfxSample)(i % 2);
      t.position = tap_random_below (190000);
      check_trial (&checks, &t);
    }
  }
  checks_end (&checks);
}

/* Bad samples keep coming, in all channels; then they stop. */
static void
test_storm (void)
{
  TapMany many = tap_many ("after a storm of NaN and infinity");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  size_t n_sos = design (sos, TFX_MODE_HIGH_PASS, 6, 3000), n_frames = 20000;

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = test_backend_for (test_kernels[k]);

    for (size_t i = 0; backend && i < N_COUNTS; i++) {
      unsigned n = channel_counts[i];
      double *x = test_alloc (n_frames * n * sizeof *x);
      TestFilter *row = test_filter_new (sos, n_sos, n, backend);
      bool finite = true;
      TfxStats then, now;

      test_noise_f64 (x, n_frames * n);
      for (size_t f = 0; f < n_frames / 2 * n; f++)
        if (!tap_random_below (20))
          x[f] = bad_values[tap_random_below (N_BAD)];
      for (size_t done = 0; done < n_frames; done += 500) {
        if (done == n_frames / 2 + 500)
          test_filter_get_stats (row, &then);
        test_filter_f64 (row, x + done * n, n, 500);
      }
      test_filter_get_stats (row, &now);
      for (size_t f = (n_frames / 2 + RECOVERY) * n; f < n_frames * n; f++)
        finite = finite && isfinite (x[f]);
      tap_many_check (&many, finite, "%s, %u channels: not finite",
          test_kernels[k], n);
      tap_many_check (&many,
          then.recoveries >= n && now.recoveries == then.recoveries,
          "%s, %u channels: %u recoveries, then %u", test_kernels[k], n,
          (unsigned)then.recoveries, (unsigned)now.recoveries);
      test_filter_free (&row);
      free (x);
    }
  }
  tap_many_end (&many);
}

/* Finite numbers that overflow in the filter: the same. */
static void
test_overflow (void)
{
  TapMany many = tap_many ("after an overflow inside");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  size_t n_sos = design (sos, TFX_MODE_LOW_PASS, 8, 1000), n_frames = 20000;

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = test_backend_for (test_kernels[k]);

    for (size_t i = 0; backend && i < N_COUNTS; i++) {
      unsigned n = channel_counts[i];
      double *x = test_alloc (n_frames * n * sizeof *x);
      TestFilter *row = test_filter_new (sos, n_sos, n, backend);
      bool finite = true;

      test_noise_f64 (x, n_frames * n);
      for (size_t f = 0; f < 1000 * n; f++)
        x[f] = f / n / 24 % 2 ? DBL_MAX : -DBL_MAX;
      for (size_t done = 0; done < n_frames; done += 500)
        test_filter_f64 (row, x + done * n, n, 500);
      for (size_t f = (1000 + RECOVERY) * n; f < n_frames * n; f++)
        finite = finite && isfinite (x[f]);
      /* Back at the level of the input, not of the overflow's tail. */
      for (size_t f = (n_frames - 100) * n; f < n_frames * n; f++)
        finite = finite && fabs (x[f]) < 10;
      tap_many_check (&many, finite, "%s, %u channels", test_kernels[k], n);
      test_filter_free (&row);
      free (x);
    }
  }
  tap_many_end (&many);
}

/* The chain changes while the state is not finite, and in a cross-fade. */
static void
test_change_with_nan (void)
{
  TapMany many = tap_many ("a change does not keep a NaN");
  TfxSos one[TFX_DESIGN_MAX_SECTIONS], two[2][TFX_DESIGN_MAX_SECTIONS];
  size_t n_one = design (one, TFX_MODE_LOW_PASS, 8, 3000);
  /* What is far is cross-faded, what is near glides. */
  size_t n_two = design (two[0], TFX_MODE_LOW_PASS, 8, 2000);

  design (two[1], TFX_MODE_LOW_PASS, 8, 2950);
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = test_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < 24; i++) {
      const TestStage before[] = { { 1, one, n_one, 0 } };
      const TestStage after[] = { { 1, two[i / 6 % 2], n_two, 0 },
        { 2, one, 1, 0 } };
      unsigned n_channels = i % 3 + 1;
      TestFilter *row = test_filter_of (before, 1, n_channels, backend);
      double x[10000 * 3];
      bool finite = true;

      test_noise_f64 (x, 10000 * 3);
      for (unsigned c = 0; c < n_channels; c++)
        x[(90 + i % 10) * n_channels + c] = bad_values[i % N_BAD];
      x[150 * n_channels] = NAN;
      tap_many_check (&many,
          row && !test_filter_f64 (row, x, n_channels, 101) &&
              !test_filter_set_chain (row,
                  test_chain_of (after, 1 + i / 3 % 2)),
          "%s: refused", test_kernels[k]);
      test_filter_f64 (row, x + 101 * n_channels, n_channels, 10000 - 101);
      for (size_t f = (151 + RECOVERY) * n_channels; f < 10000 * n_channels;
           f++)
        finite = finite && isfinite (x[f]);
      tap_many_check (&many, finite, "%s, case %u", test_kernels[k], i);
      test_filter_free (&row);
    }
  }
  tap_many_end (&many);
}

/* A cutoff that follows a curve, and so never comes to the end of its glide. */
static void
test_curve_with_nan (void)
{
  TapMany many = tap_many ("a curve does not keep a NaN");

  for (unsigned n_channels = 1; n_channels <= 9; n_channels++) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    size_t n = design (sos, TFX_MODE_LOW_PASS, 4, 3000);
    const TestStage stage = { 1, sos, n, 0 };
    TestFilter *row =
        test_filter_of (&stage, 1, n_channels, tfx_cpu_backend ());
    double x[32 * 9];
    bool finite = row != NULL;

    for (uint64_t i = 32; finite && i < 6400; i += 32) {
      TfxStage *point;

      n = design (sos, TFX_MODE_LOW_PASS, 4, 3000 + 0.01 * (double)i);
      point = tfx_stage_new_sections (1, sos, n);
      tfx_filter_lock (row->filter);
      finite = tfx_filter_queue_stage (row->filter, i, point) == 0;
      tfx_filter_unlock (row->filter);
      tfx_stage_unref (&point);
      test_noise_f64 (x, 32 * n_channels);
      for (unsigned c = 0; i == 640 && c < n_channels; c++)
        x[(3 + c) * n_channels + c] = bad_values[c % N_BAD];
      test_filter_f64 (row, x, n_channels, 32);
      for (size_t k = 0; i > 640 + 32 + RECOVERY && k < 32 * n_channels; k++)
        finite = finite && isfinite (x[k]);
    }
    tap_many_check (&many, finite, "%u channels", n_channels);
    test_filter_free (&row);
  }
  tap_many_end (&many);
}

/* Without state there is nothing to recover: one sample in, one out. */
static void
test_stateless (void)
{
  const TestStage gain = { 1, NULL, 0, 0.5 };
  TestFilter *row = test_filter_of (&gain, 1, 2, tfx_cpu_backend ());
  double x[8] = { 1, 2, NAN, 4, 5, INFINITY, 7, 8 };

  test_filter_f64 (row, x, 2, 4);
  tap_check (x[0] == 0.5 && isnan (x[2]) && x[3] == 2 && isinf (x[5]) &&
                 x[7] == 4,
      "a gain passes what is not finite, and nothing of it stays");
  test_filter_free (&row);
}

/* A filter rings out to nothing, and never through denormal numbers.  A limit
 * cycle of the very least normal numbers may remain: it costs no time. */
static void
test_ring_out (void)
{
  TapMany denormal = tap_many ("no denormal number comes out");
  TapMany zero = tap_many ("in the end nothing is left");

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = test_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < 4 * N_COUNTS; i++) {
      unsigned n = channel_counts[i % N_COUNTS], mode = i / N_COUNTS;
      TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
      size_t n_sos = design (sos, mode, 4, 2000), n_frames = 48000;
      double *x = test_alloc (n_frames * n * sizeof *x);
      TestFilter *row = test_filter_new (sos, n_sos, n, backend);
      bool clean = true, ended = true;

      memset (x, 0, n_frames * n * sizeof *x);
      for (unsigned c = 0; c < n; c++)
        x[c] = 1;
      for (size_t done = 0; done < n_frames; done += 1000)
        test_filter_f64 (row, x + done * n, n, 1000);
      for (size_t f = 0; f < n_frames * n; f++)
        clean = clean && fpclassify (x[f]) != FP_SUBNORMAL;
      for (size_t f = (n_frames - 1000) * n; f < n_frames * n; f++)
        ended = ended && fabs (x[f]) < 1e-306;
      tap_many_check (&denormal, clean, "%s, %u channels, mode %u",
          test_kernels[k], n, mode);
      tap_many_check (&zero, ended && test_filter_is_silent (row),
          "%s, %u channels, mode %u: %g at the end", test_kernels[k], n, mode,
          x[n_frames * n - 1]);
      test_filter_free (&row);
      free (x);
    }
  }
  tap_many_end (&denormal);
  tap_many_end (&zero);
}

/* Denormal input counts as zero. */
static void
test_denormal_input (void)
{
  TapMany many = tap_many ("denormal input leaves the filter at rest");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  size_t n_sos = design (sos, TFX_MODE_LOW_PASS, 4, 2000);

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = test_backend_for (test_kernels[k]);

    for (size_t i = 0; backend && i < N_COUNTS; i++) {
      unsigned n = channel_counts[i];
      TestFilter *row = test_filter_new (sos, n_sos, n, backend);
      double x[100 * 11];
      float y[100 * 11];
      bool zero = true;

      for (unsigned f = 0; f < 100 * n; f++) {
        x[f] = f % 2 ? 1e-310 : -3e-320;
        y[f] = f % 2 ? 1e-40f : -3e-44f;
      }
      test_filter_f64 (row, x, n, 100);
      test_filter_f32 (row, y, n, 100);
      for (unsigned f = 0; f < 100 * n; f++)
        zero = zero && x[f] == 0 && fabsf (y[f]) <= 1e-39f &&
               fpclassify (y[f]) != FP_SUBNORMAL;
      tap_many_check (&many, zero && test_filter_is_silent (row),
          "%s, %u channels", test_kernels[k], n);
      test_filter_free (&row);
    }
  }
  tap_many_end (&many);
}

/* Control bits of the processor, and what they may be set to. */
#if defined(__SSE2__)
/* Masks, rounding, flush to zero, denormals are zero. */
#define CONTROL 0xffc0u
static const unsigned modes[] = { 0x1f80, 0x9f80, 0x1fc0, 0x9fc0, 0x3f80 };

static unsigned
get_mode (void)
{
  return _mm_getcsr ();
}

static void
set_mode (unsigned mode)
{
  _mm_setcsr (mode);
}
#elif defined(__aarch64__)
/* Default NaN, flush to zero, rounding. */
#define CONTROL 0x03c00000u
static const unsigned modes[] = { 0, 1u << 24, 1u << 25, 3u << 24, 1u << 22 };

static unsigned
get_mode (void)
{
  uint64_t mode;

  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return (unsigned)mode;
}

static void
set_mode (unsigned mode)
{
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode));
}
#endif

#ifdef CONTROL
static void
test_caller_mode (void)
{
  TapMany many = tap_many ("the caller's floating-point mode is put back");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  size_t n_sos = design (sos, TFX_MODE_LOW_PASS, 4, 2000);

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = test_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < 5 * N_COUNTS; i++) {
      unsigned n = channel_counts[i % N_COUNTS], mode = modes[i / N_COUNTS];
      unsigned before = get_mode (), good, bad, empty;
      TestFilter *row = test_filter_new (sos, n_sos, n, backend);
      double x[64 * 11] = { 1, NAN, 1e-310 };
      TfxBlock wrong = tfx_block_interleaved (x, TFX_SAMPLE_F64, n + 1, 10);

      set_mode (mode);
      test_filter_f64 (row, x, n, 64);
      good = get_mode () & CONTROL;
      test_filter_run (row, &wrong, &wrong);
      bad = get_mode () & CONTROL;
      test_filter_f64 (row, x, n, 0);
      empty = get_mode () & CONTROL;
      set_mode (before);
      tap_many_check (&many, good == mode && bad == mode && empty == mode,
          "%s, %u channels: was %x, is %x, after an error %x, after nothing %x",
          test_kernels[k], n, mode, good, bad, empty);
      test_filter_free (&row);
    }
  }
  tap_many_end (&many);
}
#else
static void
test_caller_mode (void)
{
  tap_skip ("not written for this processor", "the caller's mode");
}
#endif

static const TapTest tests[] = {
  { "positions", test_positions },
  { "filters", test_filters },
  { "short-cascades", test_short_cascades },
  { "long-blocks", test_long_blocks },
  { "storm", test_storm },
  { "overflow", test_overflow },
  { "change-with-nan", test_change_with_nan },
  { "curve-with-nan", test_curve_with_nan },
  { "stateless", test_stateless },
  { "ring-out", test_ring_out },
  { "denormal-input", test_denormal_input },
  { "caller-mode", test_caller_mode },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
