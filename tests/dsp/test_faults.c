/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_faults.c: NaN, infinity, overflow and denormal numbers in the stream.
 */
#include "buffer.h"
#include "common.h"

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
  const char *kernel;
  unsigned n_channels, channel;
  TfxSample type;
  bool is_planar;
  size_t position, n_frames, piece; /* piece: frames of a block */
  double bad;
  const TfxSos *sos;
  size_t n_sos;
} Trial;

/* Returns the recoveries. */
static uint64_t
run_stream (const Trial *t, double *x)
{
  TestFilter *row = test_filter_new (t->sos, t->n_sos, t->n_channels,
      test_backend_for (t->kernel));
  TestBuffer b = test_buffer_new (t->is_planar ? TEST_LAYOUT_PLANAR
                                               : TEST_LAYOUT_INTERLEAVED,
      t->type, t->n_channels, t->n_frames, 0);
  TfxStats stats = { 0 };

  test_buffer_set (&b, x);
  for (size_t done = 0, n; done < t->n_frames; done += n) {
    TfxBlock block;

    n = t->n_frames - done < t->piece ? t->n_frames - done : t->piece;
    block = test_block_part (&b.block, done, n);
    test_filter_run (row, &block, &block);
  }
  test_buffer_get (&b, x);
  test_buffer_clear (&b);
  test_filter_get_stats (row, &stats);
  test_filter_free (&row);
  return stats.recoveries;
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
                       "finite again 4096 frames after the bad sample"),
    .others = tap_many ("the other channels keep every bit"),
    .counted = tap_many ("each recovery is counted, and no more"),
    .forgotten = tap_many ("in the end as without it") };
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
  const size_t n = t->n_frames * t->n_channels;
  double *clean = test_alloc_f64 (n), *bad, peak = 0, apart = 0;
  uint64_t recoveries, clean_recoveries;
  bool others_same = true;
  size_t last_bad = 0; /* frame, from 1; 0: none */
  char text[200];

  test_noise_f64 (clean, n);
  bad = test_copy_f64 (clean, n);
  bad[t->position * t->n_channels + t->channel] = t->bad;
  clean_recoveries = run_stream (t, clean);
  recoveries = run_stream (t, bad);
  for (size_t i = 0; i < n; i++) {
    const size_t frame = i / t->n_channels;

    if (i % t->n_channels != t->channel)
      others_same = others_same && !memcmp (&bad[i], &clean[i], sizeof bad[i]);
    else if (!isfinite (bad[i]))
      last_bad = frame + 1;
    else if (frame + 500 > t->n_frames) {
      apart = fmax (apart, fabs (bad[i] - clean[i]));
      peak = fmax (peak, fabs (clean[i]));
    }
  }
  snprintf (text, sizeof text,
      "%s %s%s, %zu sections, %g in frame %zu of "
      "channel %u of %u, blocks of %zu",
      t->kernel, t->type == TFX_SAMPLE_F32 ? "F32" : "F64",
      t->is_planar ? ", planar" : "", t->n_sos, t->bad, t->position, t->channel,
      t->n_channels, t->piece);
  tap_many_check (&checks->finite,
      test_is_finite (clean, n) && last_bad <= t->position + 1 + RECOVERY,
      "%s: the last that is not finite is frame %zu", text, last_bad);
  tap_many_check (&checks->others, others_same, "%s", text);
  tap_many_check (&checks->counted, recoveries == 1 && clean_recoveries == 0,
      "%s: %u recoveries, %u without it", text, (unsigned)recoveries,
      (unsigned)clean_recoveries);
  tap_many_check (&checks->forgotten, apart / peak < 1e-6, "%s: %.3g apart",
      text, apart / peak);
  if (last_bad > t->position + 1 &&
      last_bad - t->position - 1 > checks->longest)
    checks->longest = last_bad - t->position - 1;
  free (bad);
  free (clean);
}

/* At every position of a group of samples and of a block, in every channel. */
static void
test_positions (void)
{
  Checks checks = checks_new ();
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  Trial t = { .sos = sos, .n_frames = 6000 };

  t.n_sos = design (sos, TFX_MODE_LOW_PASS, 8, 1000);
  for (size_t k = 0; (t.kernel = test_kernel (k)); k++) {
    for (size_t i = 0; i < N_COUNTS; i++) {
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

/* The filters with the longest decay, and many sections. */
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
    for (size_t k = 0; (t.kernel = test_kernel (k)); k++) {
      for (size_t i = 0; i < N_COUNTS; i++) {
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

/* One and two sections, which have code of their own for each channel count: in every
 * channel, interleaved and in planes. */
static void
test_short_cascades (void)
{
  Checks checks = checks_new ();
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  Trial t = { .sos = sos, .n_frames = 5000, .piece = 512, .bad = NAN };

  for (unsigned order = 2; order <= 4; order += 2) {
    t.n_sos = design (sos, TFX_MODE_LOW_PASS, order, 3000);
    for (size_t k = 0; (t.kernel = test_kernel (k)); k++) {
      for (t.n_channels = 3; t.n_channels <= 17; t.n_channels++) {
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
  for (size_t k = 0; (t.kernel = test_kernel (k)); k++) {
    for (unsigned i = 0; i < 9; i++) {
      t.n_channels = i % 3 + 1;
      t.piece = pieces[i / 3];
      t.type = (TfxSample)(i % 2);
      t.position = tap_random_below (190000);
      check_trial (&checks, &t);
    }
  }
  checks_end (&checks);
}

/* Damage to a stream of noise, and what must hold afterwards, by every kernel. */
typedef struct Storm
{
  const char *name;
  unsigned mode, order;
  double cutoff;
  size_t n_bad; /* frames with damage */
  bool overflows;
} Storm;

/* Bad samples in all channels, for half of the time; or finite numbers that overflow in
 * the filter. */
static void
test_storm (void)
{
  static const Storm storms[] = {
    { "a storm of NaN and infinity", TFX_MODE_HIGH_PASS, 6, 3000, 10000 },
    { "an overflow", TFX_MODE_LOW_PASS, 8, 1000, 1000, true },
  };
  const size_t n_frames = 20000;
  const char *kernel;

  for (const Storm *s = storms; s < storms + 2; s++) {
    TapMany many = tap_many (s->name);
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    const size_t n_sos = design (sos, s->mode, s->order, s->cutoff);

    for (unsigned i = 0; (kernel = test_kernel (i / N_COUNTS)); i++) {
      const unsigned n = channel_counts[i % N_COUNTS];
      double *x = test_alloc_f64 (n_frames * n), peak = 0;
      TestFilter *row =
          test_filter_new (sos, n_sos, n, test_backend_for (kernel));
      TfxStats then, now;

      test_noise_f64 (x, n_frames * n);
      for (size_t f = 0; f < s->n_bad * n; f++) {
        if (s->overflows)
          x[f] = f / n / 24 % 2 ? DBL_MAX : -DBL_MAX;
        else if (!tap_random_below (20))
          x[f] = bad_values[tap_random_below (N_BAD)];
      }
      for (size_t done = 0; done < n_frames; done += 500) {
        if (done == s->n_bad + 500)
          test_filter_get_stats (row, &then);
        test_filter_f64 (row, x + done * n, n, 500);
      }
      test_filter_get_stats (row, &now);
      /* At the level of the input again, not of the overflow's tail. */
      for (size_t f = (n_frames - 100) * n; f < n_frames * n; f++)
        peak = fmax (peak, fabs (x[f]));
      tap_many_check (&many,
          test_is_finite (x + (s->n_bad + RECOVERY) * n,
              (n_frames - s->n_bad - RECOVERY) * n) &&
              peak < 10 &&
              (s->overflows ||
                  (then.recoveries >= n && now.recoveries == then.recoveries)),
          "%s, %u channels: peak %g; %u recoveries, then %u", kernel, n, peak,
          (unsigned)then.recoveries, (unsigned)now.recoveries);
      test_filter_free (&row);
      free (x);
    }
    tap_many_end (&many);
  }
}

/* The chain changes while the state is not finite, and in a cross-fade. */
static void
test_change_with_nan (void)
{
  TapMany many = tap_many ("a change does not keep a NaN");
  TfxSos one[TFX_DESIGN_MAX_SECTIONS], two[2][TFX_DESIGN_MAX_SECTIONS];
  size_t n_one = design (one, TFX_MODE_LOW_PASS, 8, 3000);
  /* A far value is cross-faded, a near one is smoothed. */
  size_t n_two = design (two[0], TFX_MODE_LOW_PASS, 8, 2000);
  const char *kernel;

  design (two[1], TFX_MODE_LOW_PASS, 8, 2950);
  for (unsigned k = 0; (kernel = test_kernel (k / 24)); k++) {
    const unsigned i = k % 24, n_channels = i % 3 + 1;
    const TestStage before[] = { { 1, one, n_one, 0 } };
    const TestStage after[] = { { 1, two[i / 6 % 2], n_two, 0 },
      { 2, one, 1, 0 } };
    TestFilter *row =
        test_filter_of (before, 1, n_channels, test_backend_for (kernel));
    double x[10000 * 3];
    int ret;

    test_noise_f64 (x, 10000 * 3);
    for (unsigned c = 0; c < n_channels; c++)
      x[(90 + i % 10) * n_channels + c] = bad_values[i % N_BAD];
    x[150 * n_channels] = NAN;
    test_filter_f64 (row, x, n_channels, 101);
    ret = test_filter_set_chain (row, test_chain_of (after, 1 + i / 3 % 2));
    test_filter_f64 (row, x + 101 * n_channels, n_channels, 10000 - 101);
    tap_many_check (&many,
        ret == 0 && test_is_finite (x + (151 + RECOVERY) * n_channels,
                        (10000 - 151 - RECOVERY) * n_channels),
        "%s, case %u: %d", kernel, i, ret);
    test_filter_free (&row);
  }
  tap_many_end (&many);
}

/* A cutoff under a curve, whose smoothing never ends. */
static void
test_curve_with_nan (void)
{
  TapMany many = tap_many ("a curve does not keep a NaN");

  for (unsigned n_channels = 1; n_channels <= 9; n_channels++) {
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    size_t n = design (sos, TFX_MODE_LOW_PASS, 4, 3000);
    TestFilter *row = test_filter_start (tfx_stage_new_sections (1, sos, n),
        n_channels, NULL);
    double x[32 * 9];
    bool finite = true;

    for (uint64_t i = 32; finite && i < 6400; i += 32) {
      n = design (sos, TFX_MODE_LOW_PASS, 4, 3000 + 0.01 * (double)i);
      finite = test_filter_queue_stage (row, i,
                   tfx_stage_new_sections (1, sos, n)) == 0;
      test_noise_f64 (x, 32 * n_channels);
      for (unsigned c = 0; i == 640 && c < n_channels; c++)
        x[(3 + c) * n_channels + c] = bad_values[c % N_BAD];
      test_filter_f64 (row, x, n_channels, 32);
      if (i > 640 + 32 + RECOVERY)
        finite = finite && test_is_finite (x, 32 * n_channels);
    }
    tap_many_check (&many, finite, "%u channels", n_channels);
    test_filter_free (&row);
  }
  tap_many_end (&many);
}

/* A gain has no state: a bad sample is the only bad one. */
static void
test_stateless (void)
{
  TestFilter *row = test_filter_start (tfx_stage_new_gain (1, 0.5), 2, NULL);
  double x[8] = { 1, 2, NAN, 4, 5, INFINITY, 7, 8 };

  test_filter_f64 (row, x, 2, 4);
  tap_check (x[0] == 0.5 && isnan (x[2]) && x[3] == 2 && isinf (x[5]) &&
                 x[7] == 4,
      "a gain passes bad samples, and keeps none of them");
  test_filter_free (&row);
}

/* A filter decays to nothing, and never through denormal numbers.  A limit
 * cycle of the least normal numbers may remain: it costs no time. */
static void
test_ring_out (void)
{
  TapMany denormal = tap_many ("no denormal number comes out");
  TapMany zero = tap_many ("the output decays to zero");
  const size_t n_frames = 48000;
  const char *kernel;

  for (unsigned i = 0; (kernel = test_kernel (i / N_COUNTS / 4)); i++) {
    const unsigned n = channel_counts[i % N_COUNTS], mode = i / N_COUNTS % 4;
    TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
    const size_t n_sos = design (sos, mode, 4, 2000);
    double *x = test_alloc_f64 (n_frames * n);
    TestFilter *row =
        test_filter_new (sos, n_sos, n, test_backend_for (kernel));
    bool clean = true, ended = true;

    for (size_t f = 0; f < n_frames * n; f++)
      x[f] = f < n;
    for (size_t done = 0; done < n_frames; done += 1000)
      test_filter_f64 (row, x + done * n, n, 1000);
    for (size_t f = 0; f < n_frames * n; f++) {
      clean = clean && fpclassify (x[f]) != FP_SUBNORMAL;
      ended = ended && (f < (n_frames - 1000) * n || fabs (x[f]) < 1e-306);
    }
    tap_many_check (&denormal, clean, "%s, %u channels, mode %u", kernel, n,
        mode);
    tap_many_check (&zero, ended && test_filter_is_silent (row),
        "%s, %u channels, mode %u: %g at the end", kernel, n, mode,
        x[n_frames * n - 1]);
    test_filter_free (&row);
    free (x);
  }
  tap_many_end (&denormal);
  tap_many_end (&zero);
}

/* Denormal input counts as zero. */
static void
test_denormal_input (void)
{
  TapMany many = tap_many ("denormal input leaves the filter silent");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const size_t n_sos = design (sos, TFX_MODE_LOW_PASS, 4, 2000);
  const char *kernel;

  for (unsigned i = 0; (kernel = test_kernel (i / N_COUNTS)); i++) {
    const unsigned n = channel_counts[i % N_COUNTS];
    TestFilter *row =
        test_filter_new (sos, n_sos, n, test_backend_for (kernel));
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
        "%s, %u channels", kernel, n);
    test_filter_free (&row);
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
  TapMany many = tap_many ("the caller's floating-point mode is restored");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const size_t n_sos = design (sos, TFX_MODE_LOW_PASS, 4, 2000);
  const unsigned before = get_mode ();
  const char *kernel;

  for (unsigned i = 0; (kernel = test_kernel (i / N_COUNTS / 5)); i++) {
    const unsigned n = channel_counts[i % N_COUNTS];
    const unsigned mode = modes[i / N_COUNTS % 5];
    TestFilter *row =
        test_filter_new (sos, n_sos, n, test_backend_for (kernel));
    double x[64 * 11] = { 1, NAN, 1e-310 };
    TfxBlock wrong = tfx_block_interleaved (x, TFX_SAMPLE_F64, n + 1, 10);
    unsigned good, bad, empty;

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
        kernel, n, mode, good, bad, empty);
    test_filter_free (&row);
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
