/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_plan.c: random compositions of sections, gains, FIRs, delay lines and
 * sums, compiled and run in blocks of random length, against a plain walk over
 * the composition that filters the whole signal stage by stage.
 */
#include "common.h"
#include "rows.h"
#include "tap.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "cpu/convolver.h"
#include "core/stage.h"

#define MAX_TAPS 400
#define MAX_FRAMES 3000
#define MAX_CHANNELS 5
#define MAX_DEPTH 3

/* The present composition in words, for a failure's diagnostic. */
static char text[2000];

static void __attribute__ ((format (printf, 1, 2)))
tell (const char *format, ...)
{
  size_t used = strlen (text);
  va_list args;

  va_start (args, format);
  vsnprintf (text + used, sizeof text - used, format, args);
  va_end (args);
}

typedef struct Signal
{
  size_t n_frames;
  unsigned n_channels;
  double *x; /* [n_frames][n_channels] */
} Signal;

/* The largest energy of any signal within the present composition: where
 * branches cancel, rounding is in proportion to what they were. */
static double loudest;

static void
note_energy (const Signal *s)
{
  double energy = 0.0;

  for (size_t i = 0; i < s->n_frames * s->n_channels; i++)
    energy += s->x[i] * s->x[i];
  loudest = fmax (loudest, energy);
}

static Signal
signal_copy (const Signal *s)
{
  Signal copy = *s;

  copy.x = test_alloc (s->n_frames * s->n_channels * sizeof (double));
  memcpy (copy.x, s->x, s->n_frames * s->n_channels * sizeof (double));
  return copy;
}

static double
sample_at (const Signal *s, ptrdiff_t frame, unsigned channel)
{
  if (frame < 0 || frame >= (ptrdiff_t)s->n_frames)
    return 0.0;
  return s->x[(size_t)frame * s->n_channels + channel];
}

static void
apply_sections (Signal *s, const TfxSos *sos, size_t n_sos)
{
  for (unsigned c = 0; c < s->n_channels; c++) {
    for (size_t k = 0; k < n_sos; k++) {
      double s1 = 0.0, s2 = 0.0;
      for (size_t i = 0; i < s->n_frames; i++) {
        double *x = &s->x[i * s->n_channels + c];
        double y = sos[k].b0 * *x + s1;
        s1 = sos[k].b1 * *x - sos[k].a1 * y + s2;
        s2 = sos[k].b2 * *x - sos[k].a2 * y;
        *x = y;
      }
    }
  }
}

static void
apply_fir (Signal *s, const double *const *kernels, unsigned n_kernels,
    size_t n_taps)
{
  Signal in = signal_copy (s);

  for (size_t i = 0; i < s->n_frames; i++) {
    for (unsigned c = 0; c < s->n_channels; c++) {
      const double *kernel = kernels[n_kernels == 1 ? 0 : c];
      double sum = 0.0;
      for (size_t k = 0; k < n_taps; k++)
        sum += kernel[k] * sample_at (&in, (ptrdiff_t)i - (ptrdiff_t)k, c);
      s->x[i * s->n_channels + c] = sum;
    }
  }
  free (in.x);
}

static void
apply_delay (Signal *s, double direct, const TfxTap *taps, size_t n_taps)
{
  Signal in = signal_copy (s);

  for (size_t i = 0; i < s->n_frames; i++) {
    for (unsigned c = 0; c < s->n_channels; c++) {
      double sum = direct * sample_at (&in, (ptrdiff_t)i, c);
      for (size_t k = 0; k < n_taps; k++) {
        unsigned other = (c ^ 1) < s->n_channels ? c ^ 1 : c;
        sum += taps[k].gain * sample_at (&in,
                                  (ptrdiff_t)i - (ptrdiff_t)taps[k].delay,
                                  taps[k].swap ? other : c);
      }
      s->x[i * s->n_channels + c] = sum;
    }
  }
  free (in.x);
}

static void
apply_gain (Signal *s, double gain)
{
  for (size_t i = 0; i < s->n_frames * s->n_channels; i++)
    s->x[i] *= gain;
}

static TfxStage *
random_sections (Signal *s)
{
  TfxSos sos[5];
  size_t n = tap_random_below (5);

  for (size_t k = 0; k < n; k++)
    sos[k] = test_random_section (0.95);
  tell (" sections(%zu)", n);
  apply_sections (s, sos, n);
  return tfx_stage_new_sections (tfx_stage_new_id (), sos, n);
}

static TfxStage *
random_fir (Signal *s)
{
  static double taps[MAX_CHANNELS][MAX_TAPS];
  const double *kernels[MAX_CHANNELS];
  unsigned n_kernels = tap_random_below (2) ? 1 : s->n_channels;
  size_t n_taps = 1 + tap_random_below (MAX_TAPS);
  unsigned method = tap_random_below (3);

  for (unsigned k = 0; k < n_kernels; k++) {
    for (size_t i = 0; i < n_taps; i++)
      taps[k][i] = tap_random_uniform (-1.0, 1.0) / sqrt ((double)n_taps);
    kernels[k] = taps[k];
  }
  tell (" fir(%zu taps, %u kernels, method %u)", n_taps, n_kernels, method);
  apply_fir (s, kernels, n_kernels, n_taps);
  return tfx_stage_new_fir (tfx_stage_new_id (), kernels, n_kernels, n_taps,
      (TfxFirMethod)method);
}

static TfxStage *
random_delay (Signal *s)
{
  TfxTap taps[4];
  size_t n = tap_random_below (5);
  double direct = tap_random_uniform (-1.0, 1.0);

  for (size_t k = 0; k < n; k++)
    taps[k] = (TfxTap){ tap_random_below (1500), tap_random_uniform (-1, 1),
      tap_random_below (2) };
  tell (" delay(%zu taps)", n);
  apply_delay (s, direct, taps, n);
  return tfx_stage_new_delay (tfx_stage_new_id (), direct, taps, n);
}

static TfxChain *random_chain (Signal *s, unsigned depth);

static TfxStage *
random_sum (Signal *s, unsigned depth)
{
  TfxChain *branches[3];
  size_t n = 1 + tap_random_below (3);
  Signal sum = signal_copy (s);
  TfxStage *stage;

  memset (sum.x, 0, sum.n_frames * sum.n_channels * sizeof (double));
  for (size_t k = 0; k < n; k++) {
    Signal branch = signal_copy (s);
    tell ("%s", k ? " +" : " (");
    branches[k] = random_chain (&branch, depth + 1);
    for (size_t i = 0; i < sum.n_frames * sum.n_channels; i++)
      sum.x[i] += branch.x[i];
    free (branch.x);
  }
  tell (" )");
  free (s->x);
  s->x = sum.x;
  stage = tfx_stage_new_sum (tfx_stage_new_id (), branches, n);
  for (size_t k = 0; k < n; k++)
    tfx_chain_unref (&branches[k]);
  return stage;
}

/* A chain of up to five stages; s becomes what comes out of it. */
static TfxChain *
random_chain (Signal *s, unsigned depth)
{
  TfxChain *chain = tfx_chain_new ();
  unsigned n = tap_random_below (6);

  for (unsigned i = 0; i < n; i++) {
    TfxStage *stage = NULL;
    TfxChain *longer;

    switch (tap_random_below (depth < MAX_DEPTH ? 5 : 4)) {
      case 0:
        stage = random_sections (s);
        break;
      case 1:
        stage = random_fir (s);
        break;
      case 2: {
        double gain = tap_random_below (8) ? tap_random_uniform (-2.0, 2.0) : 0;
        tell (" gain(%g)", gain);
        apply_gain (s, gain);
        stage = tfx_stage_new_gain (tfx_stage_new_id (), gain);
        break;
      }
      case 3:
        stage = random_delay (s);
        break;
      case 4:
        stage = random_sum (s, depth);
        break;
    }
    note_energy (s);
    longer = tfx_chain_append (chain, stage);
    tfx_chain_unref (&chain);
    tfx_stage_unref (&stage);
    chain = longer;
  }
  return chain;
}

/* Block after block into out[n_frames][n_channels]. */
static bool
run_in_blocks (TestFilter *row, const Signal *in, double *out, TfxSample type)
{
  const unsigned C = in->n_channels;
  static double block_f64[900 * MAX_CHANNELS];
  static float block_f32[900 * MAX_CHANNELS];

  for (size_t done = 0, n; done < in->n_frames; done += n) {
    const size_t left = in->n_frames - done;
    TfxBlock block;

    n = 1 + tap_random_below (tap_random_below (2) ? 900 : 20);
    n = n < left ? n : left;
    for (size_t i = 0; i < n * C; i++) {
      block_f64[i] = in->x[done * C + i];
      block_f32[i] = (float)block_f64[i];
    }
    block = tfx_block_interleaved (type == TFX_SAMPLE_F32 ? (void *)block_f32
                                                          : (void *)block_f64,
        type, C, n);
    if (test_filter_run (row, &block, &block) < 0)
      return false;
    for (size_t i = 0; i < n * C; i++)
      out[done * C + i] = type == TFX_SAMPLE_F32 ? block_f32[i] : block_f64[i];
  }
  return true;
}

static double
error_db (const double *a, const double *b, size_t n)
{
  double error = 0.0;

  for (size_t i = 0; i < n; i++)
    error += (a[i] - b[i]) * (a[i] - b[i]);
  return 10.0 * log10 (error / loudest + 1e-40);
}

/* Against the loudest signal in the composition: FIRs by FFT in single
 * precision are worst. */
static const double limit_db[] = { -125.0, -250.0 };

static void
test_random (TfxSample type)
{
  TapMany error = tap_many ("compiled equals walked");
  unsigned n_cases = part_is_wanted () ? 60 : 300;
  static double out[MAX_FRAMES * MAX_CHANNELS];

  for (unsigned k = 0; k < n_cases; k++) {
    Signal in = { 1 + tap_random_below (MAX_FRAMES),
      1 + tap_random_below (MAX_CHANNELS), NULL };
    size_t n = in.n_frames * in.n_channels;
    Signal expected;
    TfxChain *chain;
    TestFilter *row;
    TfxFilterSpec spec = { 48000.0, in.n_channels, type, 0 };
    double db;

    in.x = test_alloc (n * sizeof (double));
    for (size_t i = 0; i < n; i++)
      in.x[i] = (float)tap_random_uniform (-1.0, 1.0);
    expected = signal_copy (&in);
    text[0] = 0;
    loudest = 1e-12;
    note_energy (&in);
    chain = random_chain (&expected, 0);
    row = test_filter_for (chain, &spec, tfx_cpu_backend ());
    if (!tap_many_check (&error, row && run_in_blocks (row, &in, out, type),
            "case %u does not run", k))
      break;

    db = error_db (out, expected.x, n);
    tap_many_check (&error, db <= limit_db[type],
        "case %u, %zu frames of %u channels: %.1f dB:%s", k, in.n_frames,
        in.n_channels, db, text);

    test_filter_free (&row);
    tfx_chain_unref (&chain);
    free (in.x);
    free (expected.x);
  }
  tap_many_end (&error);
}

static void
test_random_f32 (void)
{
  test_random (TFX_SAMPLE_F32);
}

static void
test_random_f64 (void)
{
  test_random (TFX_SAMPLE_F64);
}

/* Fifty stages of order 2 with gains between are one step: one cascade. */
static void
test_one_dispatch (void)
{
  TfxChain *chain = tfx_chain_new ();
  TfxDesign design = { .family = TFX_FAMILY_BUTTERWORTH,
    .mode = TFX_MODE_HIGH_PASS,
    .order = 2 };
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const TfxFilterSpec spec = { 48000.0, 2, TFX_SAMPLE_F32, 64 };
  TestFilter *row;
  TfxStats stats;
  float x[2 * 64] = { 1.0f };
  TfxBlock block = tfx_block_interleaved (x, TFX_SAMPLE_F32, 2, 64);

  for (unsigned i = 0; i < 100; i++) {
    TfxChain *longer;
    TfxStage *stage;
    int n;

    design.lower_hz = 20.0 + i;
    n = tfx_design_sections (&design, 48000.0, sos);
    stage = i % 2 ? tfx_stage_new_gain (tfx_stage_new_id (), 1.01)
                  : tfx_stage_new_sections (tfx_stage_new_id (), sos, n);
    longer = tfx_chain_append (chain, stage);
    tfx_chain_unref (&chain);
    tfx_stage_unref (&stage);
    chain = longer;
  }
  row = test_filter_for (chain, &spec, tfx_cpu_backend ());
  tap_check (row != NULL, "compiles");
  tap_check (tfx_plan_n_sections (row->plan) == 50, "fifty sections");
  tap_check (row->plan->top.n == 1, "one step");
  for (unsigned i = 0; i < 10; i++)
    test_filter_run (row, &block, &block);
  test_filter_get_stats (row, &stats);
  tap_check (stats.dispatches == 10, "one dispatch for each block");
  test_filter_free (&row);
  tfx_chain_unref (&chain);
}

/* ---- two FIRs as one ------------------------------------------------------- */

static const struct
{
  size_t n_taps[2];
  TfxFirMethod methods[2];
  size_t block_frames;
  int is_one; /* for all kernels; -1: as the costs are */
} couples[] = {
  { { 101, 102 }, { TFX_FIR_AUTO, TFX_FIR_AUTO }, 1024, 1 },
  { { 1, 500 }, { TFX_FIR_AUTO, TFX_FIR_AUTO }, 256, 1 },
  { { 3000, 4000 }, { TFX_FIR_AUTO, TFX_FIR_AUTO }, 256, 1 },
  { { 3000, 4000 }, { TFX_FIR_FFT, TFX_FIR_FFT }, 0, 1 },
  /* The one would have to be direct, too: 8000 taps of it. */
  { { 30, 8000 }, { TFX_FIR_DIRECT, TFX_FIR_AUTO }, 256, 0 },
  { { 8000, 30 }, { TFX_FIR_AUTO, TFX_FIR_DIRECT }, 1024, 0 },
  { { 30, 8000 }, { TFX_FIR_DIRECT, TFX_FIR_FFT }, 256, -1 },
  { { 513, 5 }, { TFX_FIR_AUTO, TFX_FIR_AUTO }, 1024, -1 },
  { { 5, 513 }, { TFX_FIR_AUTO, TFX_FIR_AUTO }, 1024, -1 },
  { { 500, 500 }, { TFX_FIR_DIRECT, TFX_FIR_DIRECT }, 1024, -1 },
};

static double
couple_cost (const TfxFilterSpec *spec, size_t n_taps, TfxFirMethod method)
{
  const TfxConvolverSpec convolver = { .n_taps = n_taps,
    .n_kernels = 1,
    .n_channels = spec->n_channels,
    .precision = spec->sample,
    .method = method,
    .block_frames = spec->block_frames,
    .kernel = tfx_cpu_backend ()->kernel };

  return tfx_convolver_cost (&convolver);
}

/* The chain has as many filters as it should; its output does not depend on
 * that. */
static void
check_couple (TapMany *many, size_t number, unsigned *n_one)
{
  const size_t *n = couples[number].n_taps, n_frames = 4096;
  const TfxFirMethod *methods = couples[number].methods;
  const TfxFirMethod method = methods[0] == methods[1]     ? methods[0]
                              : methods[0] == TFX_FIR_AUTO ? methods[1]
                              : methods[1] == TFX_FIR_AUTO ? methods[0]
                                                           : TFX_FIR_AUTO;
  const TfxFilterSpec spec = { 48000.0, 1, TFX_SAMPLE_F64,
    couples[number].block_frames };
  double *taps[2], *together, *apart;
  TfxStage *stages[2];
  TfxChain *chains[3];
  TestFilter *rows[3];
  bool is_one;

  for (int i = 0; i < 2; i++) {
    taps[i] = test_alloc (n[i] * sizeof *taps[i]);
    test_noise_f64 (taps[i], n[i]);
    stages[i] = rows_fir (tfx_stage_new_id (), taps[i], n[i], methods[i]);
  }
  for (int i = 0; i < 2; i++) {
    TfxStage *one[1] = { tfx_stage_ref (stages[i]) };
    chains[i] = rows_chain (one, 1);
  }
  chains[2] = rows_chain (stages, 2);
  for (int i = 0; i < 3; i++)
    rows[i] = test_filter_for (chains[i], &spec, tfx_cpu_backend ());
  together = test_alloc (n_frames * sizeof *together);
  apart = test_alloc (n_frames * sizeof *apart);
  test_noise_f64 (together, n_frames);
  memcpy (apart, together, n_frames * sizeof *apart);
  test_filter_f64 (rows[2], together, 1, n_frames);
  test_filter_f64 (rows[0], apart, 1, n_frames);
  test_filter_f64 (rows[1], apart, 1, n_frames);
  is_one = rows[2]->plan->top.n == 1;
  tap_many_check (many, test_distance (together, apart, n_frames) < 1e-9,
      "couple %zu: %g", number, test_distance (together, apart, n_frames));
  tap_many_check (many,
      is_one == (couple_cost (&spec, n[0] + n[1] - 1, method) <=
                    couple_cost (&spec, n[0], methods[0]) +
                        couple_cost (&spec, n[1], methods[1])) &&
          (couples[number].is_one < 0 || couples[number].is_one == is_one),
      "couple %zu: %s", number, is_one ? "one" : "two");
  *n_one += is_one;
  for (int i = 0; i < 3; i++) {
    test_filter_free (&rows[i]);
    tfx_chain_unref (&chains[i]);
  }
  free (taps[0]);
  free (taps[1]);
  free (together);
  free (apart);
}

static void
test_couples (void)
{
  TapMany many = tap_many ("two FIRs become one if that costs less");
  const size_t n = sizeof couples / sizeof *couples;
  unsigned n_one = 0;

  for (size_t i = 0; i < n; i++)
    check_couple (&many, i, &n_one);
  tap_many_check (&many, n_one > 0 && n_one < n, "%u of %zu", n_one, n);
  tap_many_end (&many);
}

/* What zeros at its ends a stage leaves out. */
static void
test_zeros (void)
{
  double taps[2][300] = { { 0 } };
  const double *kernels[2] = { taps[0], taps[1] };
  TfxStage *stage;

  taps[0][40] = taps[0][60] = taps[1][50] = taps[1][250] = 1.0;
  stage = tfx_stage_new_fir (1, kernels, 2, 300, TFX_FIR_AUTO);
  tap_check (stage->u.fir.n_leading == 40 && stage->u.fir.n_trailing == 49,
      "zeros of all kernels at once");
  tfx_stage_unref (&stage);
  stage = tfx_stage_new_fir (1, kernels, 1, 300, TFX_FIR_AUTO);
  tap_check (stage->u.fir.n_leading == 40 && stage->u.fir.n_trailing == 239,
      "or of one");
  tfx_stage_unref (&stage);
  kernels[0] += 20;
  stage = tfx_stage_new_fir (1, kernels, 1, 80, TFX_FIR_AUTO);
  tap_check (stage->u.fir.n_leading == 0 && stage->u.fir.n_trailing == 39,
      "a few do not count");
  tfx_stage_unref (&stage);
  kernels[0] = taps[1] + 60;
  stage = tfx_stage_new_fir (1, kernels, 1, 190, TFX_FIR_AUTO);
  tap_check (stage->u.fir.n_leading + stage->u.fir.n_trailing == 189,
      "zeros alone leave one tap");
  tfx_stage_unref (&stage);
}

static const TapTest tests[] = { { "random-f32", test_random_f32 },
  { "random-f64", test_random_f64 }, { "one-dispatch", test_one_dispatch },
  { "couples", test_couples }, { "zeros", test_zeros }, { NULL, NULL } };

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
