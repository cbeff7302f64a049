/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_kernels.c: every variant of the CPU kernels, over lengths, channels,
 * layouts, splits and numbers of sections.
 *
 * Two oracles.  Whatever must not matter -- layout, alignment, in place or
 * apart, the split into blocks, a second run -- is compared to the bit with
 * the same variant.  What differs between variants is the rounding, and the
 * bound on that is taken from the reference kernel: its own error against
 * the same recursion in long double, over 4096 frames of the same kind of
 * signal, times ERROR_FACTOR.
 */
#include "buffer.h"
#include "common.h"
#include "cpu/cascade-forms.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* How much larger than the largest error of the reference that of a variant
 * may be: 6 dB, as the contract has it for rms, and the spread of the largest
 * of a few thousand random errors about its mean, another 6 dB. */
#define ERROR_FACTOR 4
#define MAX_FRAMES 4096
#define REFERENCE_CHANNELS 4

static const size_t lengths[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
  14, 15, 16, 17, 31, 64, 511, 4096 };
static const unsigned channel_counts[] = { 1, 2, 3, 4, 5, 8, 9, 10, 11, 16,
  64 };
#define N_LENGTHS (sizeof lengths / sizeof lengths[0])
#define N_COUNTS (sizeof channel_counts / sizeof channel_counts[0])

/* A cascade, what it does to noise, and how well the reference does it. */
typedef struct Cascade
{
  char name[64];
  size_t n_sos;
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  double error; /* the reference kernel's largest, over MAX_FRAMES */
} Cascade;

/* What to run: a cascade and a shape. */
typedef struct Case
{
  const Cascade *cascade;
  const char *kernel;
  TfxSample type;
  unsigned n_channels;
  size_t n_frames;
} Case;

static bool
run_reference (const Cascade *c, const double *in, double *out, size_t n_frames,
    unsigned n_channels)
{
  TestFilter *row =
      test_filter_new (c->sos, c->n_sos, n_channels, tfx_cpu_backend_for ("c"));
  TfxBlock block;
  int err = -1;

  memcpy (out, in, n_frames * n_channels * sizeof *out);
  block = tfx_block_interleaved (out, TFX_SAMPLE_F64, n_channels, n_frames);
  if (row)
    err = test_filter_run (row, &block, &block);
  test_filter_free (&row);
  return err == 0;
}

/* The error of the reference, after which variants are judged. */
static void
cascade_measure (Cascade *cascade)
{
  const size_t n = MAX_FRAMES;
  double *in = test_alloc (n * REFERENCE_CHANNELS * sizeof *in);
  double *out = test_alloc (n * REFERENCE_CHANNELS * sizeof *out);
  double *one = test_alloc (n * sizeof *one);
  long double *exact = test_alloc (n * sizeof *exact);

  test_noise_f64 (in, n * REFERENCE_CHANNELS);
  cascade->error = 0;
  if (!run_reference (cascade, in, out, n, REFERENCE_CHANNELS))
    cascade->error = NAN;
  for (unsigned c = 0; c < REFERENCE_CHANNELS; c++) {
    for (size_t i = 0; i < n; i++)
      one[i] = in[i * REFERENCE_CHANNELS + c];
    test_run_long (cascade->sos, cascade->n_sos, one, exact, n);
    for (size_t i = 0; i < n; i++) {
      double e = fabs ((double)(out[i * REFERENCE_CHANNELS + c] - exact[i]));
      if (!(e <= cascade->error))
        cascade->error = e;
    }
  }
  free (exact);
  free (one);
  free (out);
  free (in);
}

/* Every part of the cascade has a largest gain of one, so that the signal
 * stays near its level through all of it. */
static Cascade *
cascade_random (size_t n_sos)
{
  Cascade *c = test_alloc (sizeof *c);

  snprintf (c->name, sizeof c->name, "%zu random sections", n_sos);
  c->n_sos = n_sos;
  for (size_t k = 0; k < n_sos; k++) {
    double peak = 0;

    c->sos[k] = test_random_section (0.995);
    for (unsigned i = 0; i <= 256; i++) {
      TfxComplex h = tfx_response_at (c->sos, k + 1, i, 512);
      peak = fmax (peak, hypot (h.re, h.im));
    }
    c->sos[k].b0 /= peak;
    c->sos[k].b1 /= peak;
    c->sos[k].b2 /= peak;
  }
  cascade_measure (c);
  return c;
}

static Cascade *
cascade_designed (const TfxDesign *design)
{
  Cascade *c = test_alloc (sizeof *c);
  char text[TEST_TEXT_SIZE];
  int n = tfx_design_sections (design, 48000, c->sos);

  snprintf (c->name, sizeof c->name, "%.63s",
      test_design_text (design, 48000, text));
  c->n_sos = n > 0 ? (size_t)n : 0;
  cascade_measure (c);
  return c;
}

static const char *
case_text (const Case *c, char *text)
{
  snprintf (text, TEST_TEXT_SIZE, "%s, %s %s, %u channels, %zu frames",
      c->cascade->name, c->kernel, c->type == TFX_SAMPLE_F32 ? "F32" : "F64",
      c->n_channels, c->n_frames);
  return text;
}

/* How to run it. */
typedef struct Way
{
  TestLayout layout;
  unsigned shift; /* samples off an aligned address */
  bool in_place;
  unsigned piece; /* frames of a block at most; 0: one block */
} Way;

static const Way plain_way = { TEST_LAYOUT_INTERLEAVED, 0, false, 0 };

/* In blocks of random lengths from 0 to piece. */
static int
run_blocks (TestFilter *row, const TfxBlock *in, const TfxBlock *out,
    unsigned piece)
{
  size_t done = 0;
  int err;

  if (!piece)
    return test_filter_run (row, in, out);
  do {
    size_t n = tap_random_below (piece + 1);
    TfxBlock from, to;

    if (n > in->n_frames - done)
      n = in->n_frames - done;
    from = test_block_part (in, done, n);
    to = test_block_part (out, done, n);
    err = test_filter_run (row, &from, &to);
    done += n;
  } while (!err && done < in->n_frames);
  return err;
}

/* The block, and then TAIL frames more in a block of their own: these show the
 * state that the first leaves. */
#define TAIL 19

static bool
run_in_buffers (const Case *c, const Way *way, const TestBuffer *from,
    const TestBuffer *to)
{
  TestFilter *row = test_filter_new (c->cascade->sos, c->cascade->n_sos,
      c->n_channels, test_backend_for (c->kernel));
  bool good = row != NULL;

  for (unsigned part = 0; good && part < 2; part++) {
    size_t first = part ? c->n_frames : 0, n = part ? TAIL : c->n_frames;
    TfxBlock in = test_block_part (&from->block, first, n);
    TfxBlock out = test_block_part (&to->block, first, n);
    good = !run_blocks (row, &in, &out, way->piece);
  }
  test_filter_free (&row);
  return good;
}

/* From rest; in and out hold n_frames + TAIL frames.  False, after a
 * diagnostic, if it fails or writes where it must not. */
static bool
run_case (const Case *c, const Way *way, const double *in, double *out)
{
  size_t n = c->n_frames + TAIL;
  TestBuffer from =
      test_buffer_new (way->layout, c->type, c->n_channels, n, way->shift);
  TestBuffer to =
      test_buffer_new (way->layout, c->type, c->n_channels, n, way->shift ^ 1);
  unsigned char *before = test_alloc (from.size);
  const char *fault = NULL;
  char text[TEST_TEXT_SIZE];

  test_buffer_set (&from, in);
  memcpy (before, from.memory, from.size);
  if (!run_in_buffers (c, way, &from, way->in_place ? &from : &to))
    fault = "does not run";
  else if (!test_buffer_is_guarded (&from) || !test_buffer_is_guarded (&to))
    fault = "writes outside of its samples";
  else if (!way->in_place && memcmp (before, from.memory, from.size) != 0)
    fault = "changes its input";
  test_buffer_get (way->in_place ? &from : &to, out);
  if (fault)
    tap_diag ("%s, layout %d: %s", case_text (c, text), (int)way->layout,
        fault);
  free (before);
  test_buffer_clear (&from);
  test_buffer_clear (&to);
  return !fault;
}

/* The largest error of out in units of the error allowed. */
static double
error_of_case (const Case *c, const double *in, const double *out)
{
  size_t n = c->n_frames + TAIL;
  double *one = test_alloc (n * sizeof *one);
  long double *exact = test_alloc (n * sizeof *exact);
  double worst = 0;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    long double peak = 0;

    for (size_t i = 0; i < n; i++)
      one[i] = in[i * c->n_channels + channel];
    test_run_long (c->cascade->sos, c->cascade->n_sos, one, exact, n);
    for (size_t i = 0; i < n; i++)
      peak = fmaxl (peak, fabsl (exact[i]));
    for (size_t i = 0; i < n; i++) {
      double y = (double)fabsl (exact[i]);
      double e = fabs ((double)(out[i * c->n_channels + channel] - exact[i]));
      /* Half a unit of the largest result for each of the five operations of
       * a section: what even an exact reference allows. */
      double allowed = fmax (ERROR_FACTOR * c->cascade->error,
          5 * c->cascade->n_sos * DBL_EPSILON / 2 * (double)peak + DBL_MIN);
      /* For a float the kernel may do a 32nd of the rounding to float, which
       * leaves the contract's -145 dB where it is, at -152. */
      if (c->type == TFX_SAMPLE_F32)
        allowed = FLT_EPSILON / 2 * y + FLT_MIN +
                  fmax (allowed, FLT_EPSILON / 64 * (double)peak);
      if (!(e / allowed <= worst))
        worst = e / allowed;
    }
  }
  free (exact);
  free (one);
  return worst;
}

/* The checks of each case. */
typedef struct Checks
{
  TapMany error, layout, place, split, again;
  double worst[TEST_N_KERNELS];
} Checks;

static Checks
checks_new (void)
{
  return (Checks){ .error = tap_many ("error within that of the reference"),
    .layout = tap_many ("layout and alignment do not matter"),
    .place = tap_many ("in place or apart does not matter"),
    .split = tap_many ("the split into blocks does not matter"),
    .again = tap_many ("a second run gives the same bits") };
}

static void
checks_end (Checks *checks)
{
  for (unsigned k = 0; k < TEST_N_KERNELS; k++)
    if (checks->worst[k])
      tap_diag ("%-6s F64 at worst %.2f of the error allowed", test_kernels[k],
          checks->worst[k]);
  tap_many_end (&checks->error);
  tap_many_end (&checks->layout);
  tap_many_end (&checks->place);
  tap_many_end (&checks->split);
  tap_many_end (&checks->again);
}

static void
check_way (TapMany *many, const Case *c, const Way *way, const double *in,
    const double *plain)
{
  size_t size = (c->n_frames + TAIL) * c->n_channels * sizeof (double);
  double *out = test_alloc (size);
  char text[TEST_TEXT_SIZE];
  bool good = run_case (c, way, in, out);

  tap_many_check (many, good && !memcmp (out, plain, size),
      "%s: layout %d, shift %u, %s, blocks to %u", case_text (c, text),
      (int)way->layout, way->shift, way->in_place ? "in place" : "apart",
      way->piece);
  free (out);
}

static void
check_ways (Checks *checks, const Case *c, const double *in,
    const double *plain)
{
  static const unsigned pieces[] = { 1, 3, 7, 16, 100, 3000 };
  const Way layout = { (TestLayout)(1 + tap_random_below (TEST_N_LAYOUTS - 1)),
    tap_random_below (16), false, 0 };
  const Way place = { TEST_LAYOUT_INTERLEAVED, tap_random_below (16), true, 0 };
  const Way split = { TEST_LAYOUT_INTERLEAVED, tap_random_below (16),
    tap_random_below (2), pieces[tap_random_below (6)] };

  check_way (&checks->layout, c, &layout, in, plain);
  check_way (&checks->place, c, &place, in, plain);
  check_way (&checks->split, c, &split, in, plain);
  check_way (&checks->again, c, &plain_way, in, plain);
}

/* All kernels that the machine has, for one cascade and shape, both types. */
static void
check_shape (Checks *checks, const Cascade *cascade, unsigned n_channels,
    size_t n_frames)
{
  size_t n = (n_frames + TAIL) * n_channels;
  float *noise = test_alloc (n * sizeof *noise);
  double *in = test_alloc (n * sizeof *in);
  double *out = test_alloc (n * sizeof *out);
  char text[TEST_TEXT_SIZE];

  /* Values of a float, so that both types get the same. */
  test_noise_f32 (noise, n);
  for (size_t i = 0; i < n; i++)
    in[i] = noise[i];
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    Case c = { cascade, test_kernels[k], TFX_SAMPLE_F32, n_channels, n_frames };

    if (!test_backend_for (c.kernel))
      continue;
    for (unsigned type = 0; type < 2; type++) {
      double error = NAN;

      c.type = (TfxSample)type;
      if (run_case (&c, &plain_way, in, out))
        error = error_of_case (&c, in, out);
      if (c.type == TFX_SAMPLE_F64 && !(error <= checks->worst[k]))
        checks->worst[k] = error;
      tap_many_check (&checks->error, error <= 1,
          "%s: %.3g times the error allowed (%.3g)", case_text (&c, text),
          error, ERROR_FACTOR * cascade->error);
      check_ways (checks, &c, in, out);
    }
  }
  free (out);
  free (in);
  free (noise);
}

static void
check_lengths (const Cascade *cascade)
{
  Checks checks = checks_new ();

  tap_diag ("%s: the reference's largest error is %.3g", cascade->name,
      cascade->error);
  for (size_t i = 0; i < N_LENGTHS; i++) {
    for (size_t j = 0; j < N_COUNTS; j++) {
      if (part_is_wanted () && lengths[i] * channel_counts[j] > 20000)
        continue;
      check_shape (&checks, cascade, channel_counts[j], lengths[i]);
    }
  }
  checks_end (&checks);
}

static void
test_lengths_random (void)
{
  static const size_t counts[] = { 1, 2, 3, 5 };

  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    Cascade *cascade = cascade_random (counts[i]);
    check_lengths (cascade);
    free (cascade);
  }
}

static void
test_lengths_designed (void)
{
  static const TfxDesign designs[] = {
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 2, 20, 0, 0, 0 },
    { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_HIGH_PASS, 7, 60, 0, 0.5, 0 },
    { TFX_FAMILY_CHEBYSHEV2, TFX_MODE_BAND_PASS, 4, 300, 3400, 0, 40 },
  };

  for (size_t i = 0; i < sizeof designs / sizeof designs[0]; i++) {
    Cascade *cascade = cascade_designed (&designs[i]);
    check_lengths (cascade);
    free (cascade);
  }
}

/* 1 to 64 sections: the passes of the kernels end in every way.  Of the shortest there is
 * code for every number of channels. */
static void
test_sections (void)
{
  static const unsigned few_channels[] = { 1, 2, 3, 6, 8, 11 };
  Checks checks = checks_new ();

  for (size_t n = 1; n <= TFX_DESIGN_MAX_SECTIONS; n++) {
    Cascade *cascade = cascade_random (n);
    TfxDesign d = { (TfxFamily)(n % 3), (TfxMode)(n / 3 % 4), (unsigned)n, 1000,
      3000, 0.5, 60 };
    Cascade *designed = cascade_designed (&d);

    for (size_t i = 0; i < sizeof few_channels / sizeof few_channels[0]; i++) {
      check_shape (&checks, cascade, few_channels[i], 511);
      check_shape (&checks, designed, few_channels[i], 511);
    }
    for (unsigned c = 1; n <= 2 && c <= 19; c++) {
      check_shape (&checks, cascade, c, 511);
      check_shape (&checks, designed, c, 511);
    }
    free (cascade);
    free (designed);
  }
  checks_end (&checks);
}

/* ---- each kernel, number of channels and type ------------------------------------------- */

typedef void (*Check) (TapMany *many, const Case *c);

/* Checks cascades of `sections`, which end with 0, from `first` to `last` channels. */
static void
check_each (const char *what, const size_t *sections, unsigned first,
    unsigned last, Check check)
{
  TapMany many = tap_many (what);
  const char *kernel;

  for (; *sections; sections++) {
    Cascade *cascade = cascade_random (*sections);

    for (size_t k = 0; (kernel = test_kernel (k)); k++) {
      for (unsigned n = first; n <= last; n++) {
        for (unsigned type = 0; type < 2; type++)
          check (&many, &(Case){ cascade, kernel, (TfxSample)type, n, 0 });
      }
    }
    free (cascade);
  }
  tap_many_end (&many);
}

static void
check_layouts (TapMany *many, const Case *of)
{
  double in[(37 + TAIL) * 19], out[(37 + TAIL) * 19];
  Case c = *of;

  c.n_frames = 37;
  test_noise_f64 (in, sizeof in / sizeof in[0]);
  tap_many_check (many, run_case (&c, &plain_way, in, out), "does not run");
  for (unsigned i = 0; i < 16 * TEST_N_LAYOUTS; i++) {
    const Way way = { (TestLayout)(i / 16), i % 16, i / 2 % 2, 0 };

    check_way (many, &c, &way, in, out);
  }
}

static void
test_layouts (void)
{
  static const size_t sections[] = { 1, 2, 5, 0 };

  check_each ("every layout and alignment, in place and apart", sections, 1, 19,
      check_layouts);
}

/* Runs c.n_frames from one layout to another, apart, and ends the filter.  False if it fails or
 * writes elsewhere. */
static bool
run_between (TestFilter *row, const Case *c, const TestLayout layouts[2],
    const unsigned shifts[2], const double *in, double *out)
{
  TestBuffer from = test_buffer_new (layouts[0], c->type, c->n_channels,
      c->n_frames, shifts[0]);
  TestBuffer to = test_buffer_new (layouts[1], c->type, c->n_channels,
      c->n_frames, shifts[1]);
  bool good;

  test_buffer_set (&from, in);
  good = row && !test_filter_run (row, &from.block, &to.block) &&
         test_buffer_is_guarded (&to);
  test_buffer_get (&to, out);
  test_buffer_clear (&from);
  test_buffer_clear (&to);
  test_filter_free (&row);
  return good;
}

static void
check_transposed (TapMany *many, const Case *of)
{
  double in[100 * 7], want[100 * 7], out[100 * 7];
  char text[TEST_TEXT_SIZE];
  Case c = *of;

  c.n_frames = 100;
  test_noise_f64 (in, 100 * c.n_channels);
  for (unsigned pair = 0; pair < 36; pair++) {
    const TestLayout layouts[2] = { (TestLayout)(pair / 6),
      (TestLayout)(pair % 6) };
    const bool good = run_between (test_filter_new (c.cascade->sos,
                                       c.cascade->n_sos, c.n_channels,
                                       test_backend_for (c.kernel)),
        &c, layouts, (unsigned[2]){ pair, pair / 3 }, in, pair ? out : want);

    tap_many_check (many,
        good &&
            (!pair || !memcmp (out, want, 100 * c.n_channels * sizeof *out)),
        "%s: from layout %u to %u", case_text (&c, text), pair / 6, pair % 6);
  }
}

static void
test_transposed (void)
{
  static const size_t sections[] = { 1, 2, 3, 6, 0 };

  check_each ("input and output of different strides", sections, 2, 7,
      check_transposed);
}

/* One plane for all channels, as a broadcast array has it, and a plane for each. */
static void
check_broadcast (TapMany *many, const Case *of)
{
  double in[100 * 7], out[2][100 * 7];
  char text[TEST_TEXT_SIZE];
  Case c = *of;
  TestBuffer from = test_buffer_new (TEST_LAYOUT_PLANAR, c.type, c.n_channels,
      c.n_frames = 100, 0);
  bool good = true;

  test_noise_f64 (in, 100);
  for (unsigned i = 100 * c.n_channels; i-- > 0;)
    in[i] = in[i / c.n_channels];
  test_buffer_set (&from, in);
  for (unsigned i = 0; i < 2; i++) {
    TestFilter *row = test_filter_new (c.cascade->sos, c.cascade->n_sos,
        c.n_channels, test_backend_for (c.kernel));
    TestBuffer to =
        test_buffer_new (TEST_LAYOUT_PLANAR, c.type, c.n_channels, 100, 0);
    TfxBlock block = from.block;

    if (i == 1)
      block.channel_stride = 0;
    good = good && row && !test_filter_run (row, &block, &to.block);
    test_buffer_get (&to, out[i]);
    test_buffer_clear (&to);
    test_filter_free (&row);
  }
  test_buffer_clear (&from);
  tap_many_check (many,
      good && !memcmp (out[0], out[1], 100 * c.n_channels * sizeof **out), "%s",
      case_text (&c, text));
}

static void
test_broadcast (void)
{
  static const size_t sections[] = { 1, 2, 3, 6, 0 };

  check_each ("all channels from one plane", sections, 2, 7, check_broadcast);
}

/* A chain without stages copies rows to planes, and back. */
static void
check_turned (TapMany *many, const Case *c)
{
  static const TestLayout layouts[][2] = { { TEST_LAYOUT_INTERLEAVED,
                                               TEST_LAYOUT_PLANAR },
    { TEST_LAYOUT_PLANAR, TEST_LAYOUT_INTERLEAVED } };
  static const unsigned shifts[2] = { 1, 3 };
  const TestStage none = { 0 };
  const size_t n = c->n_frames * c->n_channels;
  double *in = test_alloc (n * sizeof *in), *out = test_alloc (n * sizeof *out);
  char text[TEST_TEXT_SIZE];

  for (size_t i = 0; i < n; i++)
    in[i] = (double)i;
  for (unsigned back = 0; back < 2; back++) {
    const bool good = run_between (test_filter_of (&none, 0, c->n_channels,
                                       test_backend_for (c->kernel)),
        c, layouts[back], shifts, in, out);

    tap_many_check (many, good && !memcmp (out, in, n * sizeof *out), "%s: %s",
        case_text (c, text), back ? "planes to rows" : "rows to planes");
  }
  free (in);
  free (out);
}

static void
test_turned (void)
{
  static const unsigned n_channels[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65,
    66, 67, 128, 129, 131, 200, 300 };
  static const size_t n_frames[] = { 1, 15, 40, 50, 63, 64, 65, 127, 1000 };
  static const Cascade none = { .name = "no stages" };
  TapMany many = tap_many ("planes to rows, and back");
  const char *kernel;

  for (size_t k = 0; (kernel = test_kernel (k)); k++) {
    for (unsigned c = 0; c < sizeof n_channels / sizeof *n_channels; c++) {
      for (unsigned i = 0; i < 2 * sizeof n_frames / sizeof *n_frames; i++)
        check_turned (&many, &(Case){ &none, kernel, (TfxSample)(i % 2),
                                 n_channels[c], n_frames[i / 2] });
    }
  }
  tap_many_end (&many);
}

/* Blocks whose last sample is the last one of a page.  The next page must not be read or
 * written: to touch it ends the program. */
static unsigned char *page_end;

static void
check_page (TapMany *many, const Case *of)
{
  static const size_t n_frames[] = { 1, 2, 3, 4, 17, 40 };
  const size_t size =
      of->type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double);
  char text[TEST_TEXT_SIZE];
  double in[40 * 12];

  for (size_t i = 0; i < sizeof n_frames / sizeof *n_frames; i++) {
    const Case c = { of->cascade, of->kernel, of->type, of->n_channels,
      n_frames[i] };
    const size_t n_samples = c.n_frames * c.n_channels;
    unsigned char *samples = page_end - n_samples * size;
    TestBuffer b = test_buffer_new (TEST_LAYOUT_INTERLEAVED, c.type,
        c.n_channels, c.n_frames, 0);
    const TfxBlock page =
        tfx_block_interleaved (samples, c.type, c.n_channels, c.n_frames);
    const TfxBlock *blocks[2] = { &page, &b.block };
    bool good = true;

    test_noise_f64 (in, n_samples);
    test_buffer_set (&b, in);
    memcpy (samples, b.block.data, n_samples * size);
    for (unsigned j = 0; j < 2; j++) {
      TestFilter *row = test_filter_new (c.cascade->sos, c.cascade->n_sos,
          c.n_channels, test_backend_for (c.kernel));

      good = good && row && !test_filter_run (row, blocks[j], blocks[j]);
      test_filter_free (&row);
    }
    tap_many_check (many,
        good && !memcmp (samples, b.block.data, n_samples * size), "%s",
        case_text (&c, text));
    test_buffer_clear (&b);
  }
}

static void
test_page_end (void)
{
  static const size_t sections[] = { 1, 2, 3, 4, 6, 13, 0 };
  const size_t page = (size_t)sysconf (_SC_PAGESIZE), room = 4 * page;
  unsigned char *memory = mmap (NULL, room + page, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (memory == MAP_FAILED || mprotect (memory + room, page, PROT_NONE) != 0) {
    tap_check (false, "memory before a page that must not be touched");
    return;
  }
  page_end = memory + room;
  check_each ("blocks that end where a page does", sections, 1, 12, check_page);
  munmap (memory, room + page);
}

/* Sections where a form that factors something out may divide by zero. */
static const TfxSos special[] = {
  { 1, 0, 0, 0, 0 },                  /* an identity */
  { 0, 0, 0, 0, 0 },                  /* silence */
  { 0, 0, 0, -1.2, 0.5 },             /* silence, with poles */
  { -1, 0, 0, 0, 0 },                 /* a change of sign */
  { 0, 1, 0, 0, 0 },                  /* delays */
  { 0, 0, 1, 0, 0 },                  /* */
  { 0, 0.5, 0, -0.5, 0 },             /* b0 = 0 */
  { 0, 1, 0.5, -1.2, 0.5 },           /* */
  { 0, 0, 1, -0.5, 0.25 },            /* */
  { 1e-30, 1, 0.5, -0.5, 0.2 },       /* b0 next to nothing */
  { 1e-18, 1, 0, 0, 0 },              /* */
  { 0.5, -0.6, 0.3, -1.2, 0.5 },      /* b1 = a1 b0 */
  { 0.5, 0.1, 0.25, -1.2, 0.5 },      /* b2 = a2 b0 */
  { 0.5, -0.6, 0.25, -1.2, 0.5 },     /* poles on zeros */
  { 0.5, -1.2, 1, -1.2, 0.5 },        /* an all-pass */
  { 0.25, 0.5, 0.25, 0, 0 },          /* no poles */
  { 0.1, 0.1, 0, -0.8, 0 },           /* first order */
  { 0.1, 0.1, 0, 0.8, 0 },            /* */
  { 1, 0, 1, 0, 0.9 },                /* a1 = 0 */
  { 1e-30, 2e-30, 1e-30, -1.2, 0.5 }, /* far from 1 */
  { 1e30, 2e30, 1e30, -1.2, 0.5 },    /* */
  { 1e-6, 2e-6, 1e-6, -1.998, 0.998002 },
  { 1, 2, 1, 1.998, 0.998002 },
  { 1, 0, -1, 0, -0.99 },
};
#define N_SPECIAL (sizeof special / sizeof special[0])

static bool
is_silence (const TfxSos *s)
{
  return s->b0 == 0 && s->b1 == 0 && s->b2 == 0;
}

static void
test_special_sections (void)
{
  Checks checks = checks_new ();

  for (size_t i = 0; i < N_SPECIAL; i++) {
    for (size_t n = 1; n <= 6; n += i % 2 ? 3 : 5) {
      Cascade *cascade = cascade_random (n);

      cascade->sos[tap_random_below ((unsigned)n)] = special[i];
      snprintf (cascade->name, sizeof cascade->name,
          "special %zu of %zu sections", i, n);
      cascade_measure (cascade);
      for (size_t j = 0; j < N_COUNTS - 1; j++)
        check_shape (&checks, cascade, channel_counts[j], 200);
      free (cascade);
    }
  }
  checks_end (&checks);
}

/* One section does not put the others into a form that takes twice as long: a peak at a
 * quarter of the rate, 12 kHz of 48, has no factor before x[n - 1]. */
static void
test_factored (void)
{
  const TfxSos peak = { 1.2, 0, 0.5, 0, 0.7 };

  tap_check (tfx_cascade_form_can_factor (&peak, 1), "a peak can be factored");
  for (size_t i = 0; i < N_SPECIAL; i++) {
    TfxSos sos[] = { peak, special[i], peak };

    tap_check (tfx_cascade_form_can_factor (sos, 3) != is_silence (&special[i]),
        "special %zu: all but silence can be factored", i);
  }
}

/* Channels do not know of each other: each alone gives what it gives among
 * others, within the rounding. */
static void
test_channels_apart (void)
{
  TapMany many = tap_many ("noise in one channel leaves the others silent");
  Cascade *cascade = cascade_random (4);
  size_t n = 100;

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    for (size_t j = 0; j < N_COUNTS; j++) {
      unsigned n_channels = channel_counts[j];
      Case c = { cascade, test_kernels[k], TFX_SAMPLE_F64, n_channels, n };
      size_t size = (n + TAIL) * n_channels * sizeof (double);
      double *in = test_alloc (size), *out = test_alloc (size);

      for (unsigned loud = 0; loud < n_channels; loud++) {
        bool silent = true, heard = false;

        if (!test_backend_for (c.kernel))
          break;
        memset (in, 0, size);
        for (size_t i = 0; i < n; i++)
          in[i * n_channels + loud] = tap_random_uniform (-1, 1);
        silent = run_case (&c, &plain_way, in, out);
        for (size_t i = 0; i < (n + TAIL) * n_channels; i++) {
          if (i % n_channels != loud)
            silent = silent && out[i] == 0;
          else
            heard = heard || out[i] != 0;
        }
        tap_many_check (&many, silent && heard, "%s, %u channels, channel %u",
            c.kernel, n_channels, loud);
      }
      free (in);
      free (out);
    }
  }
  free (cascade);
  tap_many_end (&many);
}

/* The kernel's name as an executor tells it, NULL if there is none. */
static const char *
kernel_of (const TfxBackend *backend)
{
  const TfxSos identity = { 1, 0, 0, -0.5, 0 };
  TestFilter *row = backend ? test_filter_new (&identity, 1, 1, backend) : NULL;
  TfxStats stats = { 0 };

  if (row)
    test_filter_get_stats (row, &stats);
  test_filter_free (&row);
  return stats.kernel;
}

/* In a separate process, because the choice is made once. */
static bool
choice_is (const char *value, const char *wanted)
{
  int status = -1;
  pid_t child;

  fflush (stdout);
  child = fork ();
  if (child == 0) {
    const char *kernel;

    if (value)
      setenv ("TFX_CPU", value, 1);
    else
      unsetenv ("TFX_CPU");
    kernel = kernel_of (tfx_cpu_backend ());
    _exit (kernel && !strcmp (kernel, wanted) ? 0 : 1);
  }
  return child > 0 && waitpid (child, &status, 0) == child &&
         WIFEXITED (status) && WEXITSTATUS (status) == 0;
}

static void
test_choice (void)
{
  const char *best = "c";

  for (unsigned k = 0; k + 1 < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);
    const char *name = kernel_of (backend);

    if (!backend) {
      tap_skip ("this machine lacks it", "%s", test_kernels[k]);
      continue;
    }
    tap_check (name && !strcmp (name, test_kernels[k]), "%s tells its name",
        test_kernels[k]);
    tap_check (choice_is (test_kernels[k], test_kernels[k]), "TFX_CPU=%s",
        test_kernels[k]);
    best = test_kernels[k];
  }
  tap_check (tfx_cpu_backend_for ("c") != NULL,
      "the reference is always there");
  tap_check (!tfx_cpu_backend_for ("pdp11"), "no kernel of an unknown name");
  tap_check (!tfx_cpu_backend_for (""), "no kernel without a name");
  tap_check (choice_is (NULL, best), "by default the best: %s", best);
  tap_check (choice_is ("pdp11", best), "an unknown TFX_CPU: the best");
}

static const TapTest tests[] = {
  { "choice", test_choice },
  { "layouts", test_layouts },
  { "transposed", test_transposed },
  { "broadcast", test_broadcast },
  { "turned", test_turned },
  { "page-end", test_page_end },
  { "channels-apart", test_channels_apart },
  { "lengths-random", test_lengths_random },
  { "lengths-designed", test_lengths_designed },
  { "sections", test_sections },
  { "special-sections", test_special_sections },
  { "factored", test_factored },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
