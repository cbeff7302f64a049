/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_convolver.c: the output of the FIR engine against exact sums, for
 * every form, kernel and split of a stream.
 */
#include "common.h"
#include "fircase.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const method_names[] = { "auto", "direct", "fft" };
static const char *const type_names[] = { "F32", "F64" };

/* The largest error of each test, by form and type. */
static double worst_db[2][2];

static void
clear_worst (void)
{
  for (int i = 0; i < 4; i++)
    worst_db[i / 2][i % 2] = -INFINITY;
}

static void
show_worst (void)
{
  tap_diag ("largest error: direct %.1f dB in F32, %.1f dB in F64; "
            "by transforms %.1f dB, %.1f dB",
      worst_db[0][0], worst_db[0][1], worst_db[1][0], worst_db[1][1]);
}

static void
keep_worst (TfxFirMethod method, TfxSample type, double error_db)
{
  double *worst = &worst_db[method == TFX_FIR_FFT][type];
  *worst = fmax (*worst, error_db);
}

/* Where the direct form is what costs least, products are summed up in float. */
#define SUMS_DB -145.0
/* How near the mean of few outputs, as they are drawn, is to that: six times the
 * spread of a mean of n squares. */
static double
spread_db (const FirCase *c)
{
  return 10.0 *
         log10 (1.0 + 6.0 / sqrt ((double)(c->n_points * c->n_channels)));
}

/* The case in one way of running it; the error is checked against the bound of
 * the form that ran. */
static void
check_run (TapMany *many, const FirCase *c, const TfxConvolverSpec *spec,
    FirSplit split, const char *split_name, double slack_db)
{
  TfxConvolverTaps *taps = fir_taps_new (spec);
  TfxConvolver *convolver = fir_convolver_of (taps);
  const bool is_direct = strcmp (tfx_convolver_taps_text (taps), "direct") == 0;
  double *out = test_alloc (c->n_channels * c->n_frames * sizeof *out);
  double bound = fir_bound_db (spec->method, spec->precision) +
                 (c->matrix ? FIR_MATRIX_DB : 0.0);
  double error;

  fir_case_run (c, convolver, spec->precision, split, 0, c->n_frames, out);
  error = fir_case_error_db (c, out, 0);
  keep_worst (is_direct ? TFX_FIR_DIRECT : TFX_FIR_FFT, spec->precision, error);
  if (spec->method == TFX_FIR_AUTO && spec->precision == TFX_SAMPLE_F32 &&
      is_direct)
    bound = slack_db + SUMS_DB + (c->matrix ? FIR_MATRIX_DB : 0.0);
  tap_many_check (many, error <= bound,
      "%zu taps, %u channels, %s %s, %s, blocks of %zu, split %s, %s: %.1f dB "
      "is above %.0f dB",
      c->n_taps, c->n_channels, type_names[spec->precision],
      method_names[spec->method], spec->kernel, spec->block_frames, split_name,
      tfx_convolver_taps_text (taps), error, bound);
  free (out);
  tfx_convolver_free (&convolver);
  tfx_convolver_taps_unref (&taps);
}

static void
check_splits (TapMany *many, const FirCase *c, TfxConvolverSpec spec)
{
  static const size_t hints[] = { 0, 64, 256, 480, 1024 };

  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
    spec.block_frames = hints[i];
    if (spec.method == TFX_FIR_DIRECT && i > 0)
      break;
    if (i > 0 && !part_has ((unsigned)i, 2))
      continue;
    fir_split_frames = hints[i] ? hints[i] : 256;
    check_run (many, c, &spec, fir_split_fixed, "even", 0.0);
    check_run (many, c, &spec, fir_split_random, "random", 0.0);
    if (i % 2 == 1)
      continue;
    check_run (many, c, &spec, fir_split_all, "none", 0.0);
    check_run (many, c, &spec, fir_split_one, "one frame", 0.0);
  }
}

/* Every method, type and kernel; in a part each fourth combination, starting with another
 * one for each case. */
static void
check_all (TapMany *many, const FirCase *c, size_t n_kernels_to_try)
{
  static unsigned n_calls;
  unsigned number = n_calls++;
  const char *names[TEST_N_KERNELS];
  const size_t n = fir_kernels (names);

  for (size_t k = n - (n_kernels_to_try < n ? n_kernels_to_try : n); k < n;
       k++) {
    for (int type = 0; type < 2; type++) {
      for (int method = 0; method < 3; method++) {
        TfxConvolverSpec spec =
            fir_case_spec (c, (TfxSample)type, (TfxFirMethod)method, 0);
        spec.kernel = names[k];
        if ((method != TFX_FIR_DIRECT || c->n_taps <= 4096) &&
            part_has (number++, 4))
          check_splits (many, c, spec);
      }
    }
  }
}

/* Cases of all lengths, channels and kinds; the lists end with 0. */
typedef struct Grid
{
  const char *name;
  size_t lengths[10];
  unsigned channels[4];
  FirKind first, last; /* kinds */
  bool has_kernels;    /* one for each channel */
  size_t n_more;       /* frames after the taps */
  size_t n_points;
  bool has_all;   /* kernels: for one channel, or for all */
  bool is_parted; /* of a part each second case */
} Grid;

static void
check_grid (const Grid *g)
{
  TapMany many = tap_many (g->name);

  clear_worst ();
  for (unsigned i = 0; g->lengths[i]; i++) {
    for (unsigned k = 0; g->channels[k]; k++) {
      for (unsigned kind = g->first; kind <= (unsigned)g->last; kind++) {
        const unsigned n = g->channels[k];
        const bool has_all =
            g->has_all && (g->is_parted || (k == 0 && !part_is_wanted ()));
        FirCase *c;

        if (g->is_parted && !part_has (i + k + kind, 2))
          continue;
        c = fir_case_new ((FirKind)kind, g->lengths[i], g->has_kernels ? n : 1,
            n, g->lengths[i] + g->n_more, g->n_points);
        check_all (&many, c, has_all ? TEST_N_KERNELS : 1);
        fir_case_free (&c);
      }
    }
  }
  tap_many_end (&many);
  show_worst ();
}

static void
test_short (void)
{
  check_grid (&(Grid){ "up to 101 taps", { 1, 2, 3, 7, 11, 12, 21, 64, 101 },
      { 1, 2, 8 }, FIR_NOISE, FIR_NOISE, false, 3500, 1000, true, true });
}

static void
test_medium (void)
{
  check_grid (&(Grid){ "511 and 4096 taps", { 511, 4096 }, { 1, 2, 8 },
      FIR_NOISE, FIR_NOISE, false, 3000, 400, true, false });
}

/* ---- matrices ------------------------------------------------------------------- */

#define O -1

/* From inputs (columns) to outputs. */
static const struct
{
  unsigned n_channels, n_kernels;
  int numbers[49];
} matrices[] = {
  { 2, 4, { 0, 2, 1, 3 } },                /* true stereo */
  { 3, 3, { O, 0, O, O, 1, O, O, 2, O } }, /* one to three, from the second */
  { 4, 4,
      { 3, 2, 1, 0, O, O, O, O, O, O, O, O, O, O, O, O } }, /* four to one */
  { 5, 2,
      { 0, O, O, O, O, O, O, O, O, O, O, O, 1, O, O, O, O, 0, O, 1, O, 1, O, O,
          O } },
  { 7, 14,
      { 0, 8, 6, 4, 12, 2, 10, 1, 7, 13, 5, 11, 3, 9, O, O, O, O, O, O, O, O, O,
          O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O, O,
          O, O, O } },
};

static void
test_matrix (void)
{
  static const size_t lengths[] = { 1, 5, 40, 300, 4096, 20000 };
  const size_t n = sizeof matrices / sizeof *matrices;
  TapMany many = tap_many ("matrices of kernels");

  clear_worst ();
  for (size_t i = 0; i < n * sizeof lengths / sizeof *lengths; i++) {
    const size_t m = i % n, n_taps = lengths[i / n];
    FirCase *c;

    if (!part_has ((unsigned)i, 3))
      continue;
    c = fir_case_new_matrix (i % 2 ? FIR_NOISE : FIR_DECAY, n_taps,
        matrices[m].n_kernels, matrices[m].n_channels, matrices[m].numbers,
        n_taps + 3000, n_taps < 1000 ? 1000 : 200);
    check_all (&many, c, m == 0 ? TEST_N_KERNELS : 1);
    fir_case_free (&c);
  }
  tap_many_end (&many);
  show_worst ();
}

/* Taps as they are in practice. */
static void
test_kinds (void)
{
  check_grid (&(Grid){ "low-passes and decays, a kernel for each channel",
      { 101, 1023, 8191, 40001 }, { 3 }, FIR_DECAY, FIR_LOW_PASS, true, 5000,
      400, false, true });
}

/* Long taps and many channels, in blocks and split at random, both types and
 * methods. */
static void
check_long (TapMany *many, size_t n_taps, unsigned n_kernels,
    unsigned n_channels)
{
  FirCase *c = fir_case_new (FIR_NOISE, n_taps, n_kernels, n_channels,
      n_taps + 40000, 30);

  for (int type = 0; type < 2; type++) {
    for (int method = TFX_FIR_AUTO; method <= TFX_FIR_FFT; method++) {
      TfxConvolverSpec spec =
          fir_case_spec (c, (TfxSample)type, (TfxFirMethod)method, 256);
      if (method == TFX_FIR_DIRECT)
        continue;
      check_run (many, c, &spec, fir_split_random, "random", 0.0);
    }
  }
  fir_case_free (&c);
}

static void
test_long (void)
{
  TapMany many = tap_many ("65536 and 480000 taps, by transforms");

  clear_worst ();
  for (unsigned channels = 1; channels <= 2; channels++) {
    FirCase *c;

    if (!part_has (channels, 2))
      continue;
    c = fir_case_new (FIR_NOISE, 65536, 1, channels, 80000, 100);
    check_all (&many, c, 1);
    fir_case_free (&c);
  }
  if (!part_is_wanted ()) {
    FirCase *c = fir_case_new (FIR_NOISE, 480000, 1, 1, 520000, 60);
    check_all (&many, c, 1);
    fir_case_free (&c);
    check_long (&many, 65536, 8, 8);
    check_long (&many, 480000, 1, 2);
    check_long (&many, 480000, 1, 8);
  }
  tap_many_end (&many);
  show_worst ();
}

/* Direct, after a history of the length of the taps was set. */
static void
check_long_direct (TapMany *many, size_t n_taps, unsigned n_channels)
{
  const size_t n_history = n_taps - 1, n = n_taps + 500;
  FirCase *c = fir_case_new (FIR_NOISE, n_taps, 1, n_channels, n, 100);
  double *out = test_alloc (n_channels * n * sizeof *out);
  double *history = test_alloc (n_channels * n_history * sizeof *history);

  /* all points behind the history */
  for (size_t k = 0; k < c->n_points; k++)
    c->points[k] = n_history + k * 5;
  for (unsigned channel = 0; channel < n_channels; channel++) {
    const double *x = c->signal + channel * n;
    for (size_t k = 0; k < c->n_points; k++) {
      long double sum = 0.0L;
      for (size_t j = 0; j < n_taps; j++)
        sum += c->taps[j] * x[c->points[k] - j];
      c->values[channel * c->n_points + k] = sum;
    }
    memcpy (history + channel * n_history, x, n_history * sizeof *history);
  }
  for (int type = 0; type < 2; type++) {
    TfxConvolverSpec spec =
        fir_case_spec (c, (TfxSample)type, TFX_FIR_DIRECT, 0);
    TfxConvolver *convolver = fir_convolver_new (&spec);
    double error;

    tfx_convolver_set_history (convolver, history);
    fir_case_run (c, convolver, spec.precision, fir_split_random, n_history,
        n - n_history, out);
    error = fir_case_error_db (c, out, n_history);
    keep_worst (TFX_FIR_DIRECT, spec.precision, error);
    tap_many_check (many,
        error <= fir_bound_db (TFX_FIR_DIRECT, spec.precision),
        "%zu taps, %u channels, %s: %.1f dB", n_taps, n_channels,
        type_names[type], error);
    tfx_convolver_free (&convolver);
  }
  free (out);
  free (history);
  fir_case_free (&c);
}

static void
test_long_direct (void)
{
  TapMany many = tap_many ("65536 and 480000 taps, directly");

  clear_worst ();
  for (unsigned channels = 1; channels <= 8;
       channels *= channels == 1 ? 2 : 4) {
    if (channels > 1 && part_is_wanted ())
      break;
    check_long_direct (&many, 65536, channels);
    check_long_direct (&many, 480000, channels);
  }
  tap_many_end (&many);
  show_worst ();
}

/* A few of each form, for an emulator. */
static void
test_few (void)
{
  static const size_t lengths[] = { 1, 3, 12, 21, 101, 511, 4096 };
  const char *names[TEST_N_KERNELS];
  const size_t n = fir_kernels (names);
  TapMany many = tap_many ("a few of each form and kernel");

  clear_worst ();
  fir_split_frames = 256;
  for (size_t i = 0; i < 4 * n * sizeof lengths / sizeof *lengths; i++) {
    const size_t n_taps = lengths[i / (4 * n)];
    FirCase *c =
        fir_case_new (FIR_NOISE, n_taps, 1, 1 + i % 3, n_taps + 1500, 30);

    for (int method = TFX_FIR_DIRECT; method <= TFX_FIR_FFT; method++) {
      TfxConvolverSpec spec = fir_case_spec (c, (TfxSample)(i % 2),
          (TfxFirMethod)method, i / 2 % 2 ? 256 : 0);

      spec.kernel = names[i / 4 % n];
      check_run (&many, c, &spec, fir_split_fixed, "even", 0.0);
      check_run (&many, c, &spec, fir_split_random, "random", 0.0);
    }
    fir_case_free (&c);
  }
  tap_many_end (&many);
  show_worst ();
}

/* Output of the whole stream to the bit, whatever the split. */
static void
check_same_bits (TapMany *many, const FirCase *c, const TfxConvolverSpec *spec)
{
  static const FirSplit splits[] = { fir_split_one, fir_split_random,
    fir_split_fixed };
  const size_t size = c->n_channels * c->n_frames * sizeof (double);
  double *whole = test_alloc (size), *out = test_alloc (size);
  TfxConvolver *convolver = fir_convolver_new (spec);

  fir_case_run (c, convolver, spec->precision, fir_split_all, 0, c->n_frames,
      whole);
  fir_split_frames = 96;
  for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
    tfx_convolver_reset (convolver);
    fir_case_run (c, convolver, spec->precision, splits[i], 0, c->n_frames,
        out);
    tap_many_check (many, memcmp (whole, out, size) == 0,
        "%zu taps, %s, %s, split %zu", c->n_taps, type_names[spec->precision],
        spec->kernel, i);
  }
  tfx_convolver_free (&convolver);
  free (whole);
  free (out);
}

static void
test_reproducible (void)
{
  static const size_t lengths[] = { 1, 5, 31, 64, 333, 3000 };
  const char *names[TEST_N_KERNELS];
  const size_t n = fir_kernels (names);
  TapMany many = tap_many ("direct: any split gives the same bits");

  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    FirCase *c =
        fir_case_new (FIR_NOISE, lengths[i], 1, 2, lengths[i] + 4000, 1);
    for (size_t k = 0; k < n; k++) {
      for (int type = 0; type < 2; type++) {
        TfxConvolverSpec spec =
            fir_case_spec (c, (TfxSample)type, TFX_FIR_DIRECT, 0);
        spec.kernel = names[k];
        check_same_bits (&many, c, &spec);
      }
    }
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

/* Zeros before and after the taps: the same output, later, at the same cost, with a
 * history for all of them. */
static void
check_zeros (TapMany *many, const FirCase *c, TfxConvolverSpec spec,
    size_t n_leading, size_t n_trailing)
{
  const size_t n = n_leading + c->n_taps + n_trailing;
  double *taps = test_alloc (n * sizeof *taps);
  double *out = test_alloc (c->n_frames * sizeof *out);
  double *history = test_alloc (n * sizeof *history);
  TfxConvolver *convolver, *other;
  const double cost = tfx_convolver_cost (&spec);
  const size_t half = c->n_frames / 2;
  double error;
  bool is_past = true;

  memset (taps, 0, n * sizeof *taps);
  memcpy (taps + n_leading, c->taps, c->n_taps * sizeof *taps);
  spec.taps = taps;
  spec.n_taps = n;
  spec.n_leading = n_leading;
  spec.n_trailing = n_trailing;
  tap_many_check (many, tfx_convolver_cost (&spec) == cost,
      "%zu, %zu, %zu cost %g instead of %g", n_leading, c->n_taps, n_trailing,
      tfx_convolver_cost (&spec), cost);

  /* half of it, and the rest by another convolver with its history */
  convolver = fir_convolver_new (&spec);
  other = fir_convolver_new (&spec);
  fir_case_run (c, convolver, spec.precision, fir_split_random, 0, half, out);
  tfx_convolver_get_history (convolver, history);
  for (size_t i = 0; i < n - 1 && i < half; i++)
    is_past = is_past && history[n - 2 - i] == c->signal[half - 1 - i];
  tap_many_check (many, is_past, "%zu, %zu, %zu: the past", n_leading,
      c->n_taps, n_trailing);
  tfx_convolver_set_history (other, history);
  fir_case_run (c, other, spec.precision, fir_split_fixed, half,
      c->n_frames - half, out);
  memmove (out, out + n_leading, (c->n_frames - n_leading) * sizeof *out);
  error = fir_case_error_db (c, out, 0);
  tap_many_check (many, error <= fir_bound_db (TFX_FIR_FFT, spec.precision),
      "%zu, %zu, %zu in %zu, %s %s: %.1f dB", n_leading, c->n_taps, n_trailing,
      spec.block_frames, type_names[spec.precision], method_names[spec.method],
      error);
  tfx_convolver_free (&convolver);
  tfx_convolver_free (&other);
  free (taps);
  free (out);
  free (history);
}

static void
test_zeros (void)
{
  static const size_t sizes[][3] = { { 1, 1, 0 }, { 500, 1, 500 },
    { 2000, 101, 0 }, { 0, 101, 3000 }, { 777, 511, 88 }, { 3000, 5000, 10 },
    { 1, 5000, 4000 }, { 20000, 9000, 0 }, { 0, 3, 12000 } };
  static const size_t blocks[] = { 0, 64, 1000, 1024 };
  TapMany many = tap_many ("zeros at the ends cost nothing");

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const size_t n_frames = 2 * (sizes[i][0] + sizes[i][1] + 4000);
    FirCase *c = fir_case_new (FIR_NOISE, sizes[i][1], 1, 1, n_frames, 200);
    while (c->points[c->n_points - 1] + sizes[i][0] >= n_frames)
      c->n_points--;
    for (int type = 0; type < 2; type++) {
      for (int method = 0; method < 3; method++) {
        for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
          fir_split_frames = blocks[k] ? blocks[k] : 300;
          check_zeros (&many, c,
              fir_case_spec (c, (TfxSample)type, (TfxFirMethod)method,
                  blocks[k]),
              sizes[i][0], sizes[i][2]);
        }
      }
    }
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

static size_t
random_size (double most)
{
  return (size_t)exp (tap_random_uniform (0.0, log (most)));
}

/* Whatever the numbers are. */
static void
test_random (void)
{
  static const FirSplit splits[] = { fir_split_random, fir_split_fixed,
    fir_split_all };
  const char *names[TEST_N_KERNELS];
  const size_t n = fir_kernels (names);
  const unsigned n_cases = part_build_is_slow () ? 30
                           : part_is_wanted ()   ? 60
                                                 : 300;
  TapMany many = tap_many ("random numbers of everything");

  clear_worst ();
  for (unsigned i = 0; i < n_cases; i++) {
    const unsigned n_channels = 1 + tap_random_below (9);
    const size_t n_taps = random_size (30000.0);
    FirCase *c = fir_case_new (FIR_NOISE, n_taps,
        tap_random_below (2) ? 1 : n_channels, n_channels,
        n_taps + random_size (8000.0), n_taps <= 1000 ? 1000 : 60);
    TfxConvolverSpec spec = fir_case_spec (c, (TfxSample)tap_random_below (2),
        (TfxFirMethod)tap_random_below (3), random_size (6000.0) - 1);

    spec.kernel = names[tap_random_below ((unsigned)n)];
    fir_split_frames = tap_random_below (2) && spec.block_frames
                           ? spec.block_frames
                           : random_size (3000.0);
    check_run (&many, c, &spec, splits[tap_random_below (3)], "any",
        spread_db (c));
    fir_case_free (&c);
  }
  tap_many_end (&many);
  show_worst ();
}

static const TapTest tests[] = {
  { "short", test_short },
  { "medium", test_medium },
  { "long", test_long },
  { "long_direct", test_long_direct },
  { "few", test_few },
  { "kinds", test_kinds },
  { "matrix", test_matrix },
  { "zeros", test_zeros },
  { "reproducible", test_reproducible },
  { "random", test_random },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
