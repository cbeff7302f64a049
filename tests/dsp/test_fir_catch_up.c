/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_catch_up.c: long FIRs that take over while samples flow: the past is
 * handed over a little with each block, and is all there at the end.
 */
#include "common.h"
#include "fircase.h"
#include "rows.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/convolver.h"

/* ---- convolvers ----------------------------------------------------------- */

static const struct
{
  size_t n_old, n_new, block;
  unsigned n_channels;
  bool is_matrix;
} pairs[] = {
  { 20000, 20000, 256, 2, false },
  { 60000, 40000, 256, 1, false },
  { 40000, 40000, 1000, 1, false },
  { 30000, 30000, 4096, 1, false },
  { 20000, 20000, 37, 1, false },
  { 50000, 600, 480, 2, false },
  { 600, 500, 1024, 2, false },
  { 600, 600, 1024, 1, false },
  { 3000, 3000, 64, 3, false },
  { 700, 20000, 256, 1, false },
  { 1, 1, 100, 1, false },
  { 20000, 1, 100, 1, false },
  { 700, 20000, 256, 3, true },
  { 20000, 600, 1024, 3, true },
};

static const int matrix[9] = { 0, 1, 0, -1, -1, 0, -1, -1, -1 };

static size_t
catch_up_pair (TapMany *many, size_t p, TfxSample type)
{
  const size_t block = pairs[p].block;
  const size_t n_frames =
      pairs[p].n_old + 3 * pairs[p].n_new + 60000 / block * block;
  FirCase *c = fir_case_new_matrix (FIR_DECAY, pairs[p].n_new,
      pairs[p].is_matrix ? 2 : 1, pairs[p].n_channels,
      pairs[p].is_matrix ? matrix : NULL, n_frames, 400);
  FirCase *old_case =
      fir_case_new (FIR_NOISE, pairs[p].n_old, 1, pairs[p].n_channels, 1, 1);
  const TfxConvolverSpec spec = fir_case_spec (c, type, TFX_FIR_AUTO, block);
  const TfxConvolverSpec old_spec =
      fir_case_spec (old_case, type, TFX_FIR_AUTO, block);
  TfxConvolver *source = fir_convolver_new (&old_spec);
  TfxConvolver *late = fir_convolver_new (&spec);
  const size_t start = (pairs[p].n_old + 5000) / block * block;
  double *out = test_alloc (c->n_channels * n_frames * sizeof *out);
  size_t at = 0, exact;

  fir_split_frames = block;
  fir_case_run (c, source, type, fir_split_fixed, 0, start, out);
  tap_many_check (many, tfx_convolver_catch_up_start (late, source),
      "pair %zu cannot catch up", p);
  for (at = start; at + block < n_frames;) {
    size_t left;

    fir_case_run (c, source, type, fir_split_all, at, block, out);
    at += block;
    left = tfx_convolver_catch_up (late, source, block);
    if (left == 0)
      break;
  }
  tap_many_check (many,
      at - start <= pairs[p].n_new + 32768 && at + pairs[p].n_new < n_frames,
      "pair %zu takes %zu frames", p, at - start);
  fir_case_run (c, late, type, fir_split_fixed, at, n_frames - at, out);
  /* what the source had not kept is not to be had */
  exact = pairs[p].n_new <= pairs[p].n_old ? at : at + pairs[p].n_new;
  tap_many_check (many,
      fir_case_error_db (c, out, exact) <= fir_bound_db (TFX_FIR_FFT, type),
      "pair %zu, type %d: %.1f dB", p, type, fir_case_error_db (c, out, exact));
  free (out);
  tfx_convolver_free (&source);
  tfx_convolver_free (&late);
  fir_case_free (&c);
  fir_case_free (&old_case);
  return at - start;
}

static void
test_pairs (void)
{
  TapMany many = tap_many ("a convolver gets to where another one is");

  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    for (int type = 0; type < 2; type++) {
      size_t n = catch_up_pair (&many, p, (TfxSample)type);
      if (pairs[p].n_new >= 20000)
        tap_diag ("%zu taps after %zu, blocks of %zu: %zu frames",
            pairs[p].n_new, pairs[p].n_old, pairs[p].block, n);
    }
  }
  tap_many_end (&many);
}

/* A convolver whose history was set, as after a device, has no more than that: the history
 * that it hands over fades in there, without a jump. */
static void
check_given (size_t n_old, size_t n_new, size_t n_run)
{
  FirCase *old_case = fir_case_new (FIR_NOISE, n_old, 1, 1, n_run + 1, 1);
  FirCase *c = fir_case_new (FIR_NOISE, n_new, 1, 1, 1, 1);
  const TfxConvolverSpec old_spec =
      fir_case_spec (old_case, TFX_SAMPLE_F64, TFX_FIR_AUTO, 256);
  const TfxConvolverSpec spec =
      fir_case_spec (c, TFX_SAMPLE_F64, TFX_FIR_AUTO, 256);
  TfxConvolver *source = fir_convolver_new (&old_spec);
  TfxConvolver *late = fir_convolver_new (&spec);
  double *history = test_alloc ((n_old + n_new) * sizeof *history);
  double *ones = test_alloc ((n_run + 1) * sizeof *ones), *first, jump = 0.0;
  TfxBlock block = tfx_block_interleaved (ones, TFX_SAMPLE_F64, 1, n_run);
  const size_t n_known = n_old - 1 + n_run;

  for (size_t i = 0; i < n_old; i++)
    history[i] = 1.0;
  for (size_t i = 0; i < n_run; i++)
    ones[i] = 1.0;
  tfx_convolver_set_history (source, history);
  tfx_convolver_run (source, &block, &block);
  tfx_convolver_catch_up_start (late, source);
  tfx_convolver_catch_up (late, source, SIZE_MAX);
  tfx_convolver_get_history (late, history);
  first = history + n_new - 1 - n_known;
  for (size_t i = 1; i < n_known; i++)
    jump = fmax (jump, fabs (first[i] - first[i - 1]));
  tap_check (first[-1] == 0.0 && first[0] == 0.0 && jump < 2.0 / 500.0 &&
                 first[n_known - 1] > 0.999,
      "%zu taps that were given back and %zu frames, then %zu taps: the past "
      "begins with %g, has steps of %g and ends with %g",
      n_old, n_run, n_new, first[0], jump, first[n_known - 1]);
  free (history);
  free (ones);
  tfx_convolver_free (&source);
  tfx_convolver_free (&late);
  fir_case_free (&c);
  fir_case_free (&old_case);
}

static void
test_given (void)
{
  check_given (501, 3000, 0);
  check_given (501, 30000, 700);
  check_given (6000, 30000, 100);
  check_given (600, 1300, 50);
}

static void
test_others (void)
{
  FirCase *c = fir_case_new (FIR_NOISE, 3000, 1, 2, 1, 1);
  TfxConvolverSpec spec = fir_case_spec (c, TFX_SAMPLE_F32, TFX_FIR_AUTO, 256);
  TfxConvolver *a = fir_convolver_new (&spec), *b;

  spec.precision = TFX_SAMPLE_F64;
  b = fir_convolver_new (&spec);
  tap_check (!tfx_convolver_catch_up_start (b, a),
      "another precision is refused");
  tfx_convolver_free (&b);
  spec.precision = TFX_SAMPLE_F32;
  spec.n_channels = 1;
  b = fir_convolver_new (&spec);
  tap_check (!tfx_convolver_catch_up_start (b, a), "so are other channels");
  tfx_convolver_free (&b);
  tfx_convolver_free (&a);
  fir_case_free (&c);
}

/* ---- filters ---------------------------------------------------------------- */

#define N_TAPS 20000
#define BLOCK 480
#define FADE 480
#define N_BLOCKS 200
#define N_FRAMES (N_BLOCKS * BLOCK)
#define CHANGE 70 /* the block before which the chain changes */

static const TfxSos section = { 0.5, 0.25, 0.125, -0.5, 0.25 };
static const TfxFilterSpec filter_spec = { 48000.0, 1, TFX_SAMPLE_F64, BLOCK };

/* A section, a FIR and a section, ids 1 to 3; made ready for `prepared`, or not if that
 * is NULL. */
static TfxChain *
chain_new (size_t n_taps, double scale, const TfxFilterSpec *prepared)
{
  double *taps = test_alloc (n_taps * sizeof *taps);
  const double *kernels[1] = { taps };
  uint32_t number = 1;
  TfxStage *stages[3];

  /* The same ones each time. */
  for (size_t i = 0; i < n_taps; i++, number = number * 1664525 + 1013904223)
    taps[i] = scale * ((double)number / 0x1p31 - 1.0);
  for (unsigned i = 0; i < 3; i++)
    stages[i] = i == 1 ? tfx_stage_new_fir (2, kernels, 1, n_taps, TFX_FIR_AUTO)
                       : tfx_stage_new_sections (i + 1, &section, 1);
  if (prepared)
    tap_check (tfx_stage_prepare (stages[1], prepared) == 0, "prepared");
  free (taps);
  return rows_chain (stages, 3);
}

static double *
run_all (TfxChain *chain, const double *noise)
{
  TestFilter *row = test_filter_for (chain, &filter_spec, tfx_cpu_backend ());
  double *out = test_alloc (N_FRAMES * sizeof *out);

  memcpy (out, noise, N_FRAMES * sizeof *out);
  for (size_t i = 0; i < N_BLOCKS; i++)
    test_filter_f64 (row, out + i * BLOCK, 1, BLOCK);
  test_filter_free (&row);
  return out;
}

/* The largest difference over some frames. */
static double
apart (const double *a, const double *b, size_t first, size_t end)
{
  double most = 0.0;

  for (size_t i = first; i < end; i++)
    most = fmax (most, fabs (a[i] - b[i]));
  return most;
}

/* The output is that with the old FIR, then that with the new one, as if it had
 * always run; between them lies one cross-fade. */
static void
check_catch_up (size_t n_taps, bool is_set_twice)
{
  double *noise = test_alloc (N_FRAMES * sizeof *noise);
  double *out = test_alloc (N_FRAMES * sizeof *out), *old, *new;
  TfxChain *first = chain_new (N_TAPS, 1.0, NULL);
  TfxChain *other = chain_new (n_taps + 1, 0.5, &filter_spec);
  TfxChain *last = chain_new (n_taps, -0.5, &filter_spec);
  TfxChain *same = chain_new (n_taps, -0.5, NULL);
  TestFilter *row = test_filter_for (first, &filter_spec, tfx_cpu_backend ());
  size_t start = CHANGE * BLOCK, end = CHANGE;

  test_noise_f64 (noise, N_FRAMES);
  old = run_all (first, noise);
  new = run_all (same, noise);
  memcpy (out, noise, N_FRAMES * sizeof *out);
  for (size_t i = 0; i < N_BLOCKS; i++) {
    if (i == CHANGE)
      test_filter_set_chain (row, tfx_chain_ref (is_set_twice ? other : last));
    if (i == CHANGE + 3 && is_set_twice)
      test_filter_set_chain (row, tfx_chain_ref (last));
    test_filter_f64 (row, out + i * BLOCK, 1, BLOCK);
    if (test_filter_is_changing (row))
      end = i + 1;
  }
  while (start < N_FRAMES && fabs (out[start] - old[start]) < 1e-7)
    start++;
  tap_check (start > (CHANGE + 4) * BLOCK && end > CHANGE + 4,
      "it does not take over before it has its past: frame %zu",
      start - CHANGE * BLOCK);
  tap_check (start < CHANGE * BLOCK + N_TAPS / 2 && end * BLOCK < start + 1500,
      "but soon, and is changing for so long: block %zu", end - CHANGE);
  tap_check (apart (out, new, start + FADE + 200, N_FRAMES) < 1e-7,
      "then all of it: %g", apart (out, new, start + FADE + 200, N_FRAMES));
  test_filter_free (&row);
  tfx_chain_unref (&first);
  tfx_chain_unref (&other);
  tfx_chain_unref (&last);
  tfx_chain_unref (&same);
  free (noise);
  free (out);
  free (old);
  free (new);
}

static void
test_catch_up (void)
{
  check_catch_up (N_TAPS, false);
  check_catch_up (N_TAPS - 3000, false);
}

/* Another one takes its place before it is there. */
static void
test_replaced (void)
{
  check_catch_up (N_TAPS - 1000, true);
}

/* A reset, or other samples, on the way: it is there at once. */
static void
test_ended (void)
{
  double *noise = test_alloc (N_FRAMES * sizeof *noise);
  double *out = test_alloc (N_FRAMES * sizeof *out), *new;
  TfxChain *first = chain_new (N_TAPS, 1.0, NULL);
  TfxChain *last = chain_new (N_TAPS - 1, -0.5, &filter_spec);
  TestFilter *row = test_filter_for (first, &filter_spec, tfx_cpu_backend ());

  test_noise_f64 (noise, N_FRAMES);
  new = run_all (last, noise);
  tfx_chain_unref (&last);
  last = chain_new (N_TAPS - 1, -0.5, &filter_spec);
  for (int way = 0; way < 2; way++) {
    const size_t from = way == 0 ? 0 : CHANGE + 3;

    memcpy (out, noise, N_FRAMES * sizeof *out);
    test_filter_reset (row);
    test_filter_set_chain (row, tfx_chain_ref (first));
    for (size_t i = 0; i < CHANGE; i++)
      test_filter_f64 (row, out + i * BLOCK, 1, BLOCK);
    test_filter_set_chain (row, tfx_chain_ref (last));
    test_filter_f64 (row, out + CHANGE * BLOCK, 1, BLOCK);
    tfx_filter_lock (row->filter);
    if (way == 0)
      tfx_filter_reset (row->filter);
    else
      tap_check (tfx_filter_set_format (row->filter, TFX_SAMPLE_F64, 256) == 0,
          "other blocks");
    tfx_filter_unlock (row->filter);
    if (way == 0)
      memcpy (out, noise, N_FRAMES * sizeof *out);
    for (size_t i = way == 0 ? 0 : CHANGE + 1; i < N_BLOCKS; i++)
      test_filter_f64 (row, out + i * BLOCK, 1, BLOCK);
    tap_check (!test_filter_is_changing (row) &&
                   apart (out, new, from * BLOCK, N_FRAMES) < 1e-7,
        "%s: %g", way == 0 ? "a reset" : "another format",
        apart (out, new, from * BLOCK, N_FRAMES));
  }
  test_filter_free (&row);
  tfx_chain_unref (&first);
  tfx_chain_unref (&last);
  free (noise);
  free (out);
  free (new);
}

/* A block in parts costs a long FIR more than a whole one: for any split of the stream a
 * cross-fade ends at the end of a whole block. */
static void
test_fade_ends (void)
{
  const size_t blocks[] = { 256, 480, 800 };

  for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
    const size_t part = 32, change = 10 * blocks[k];
    TfxChain *first = chain_new (N_TAPS, 1.0, NULL), *last;
    TfxFilterSpec spec = filter_spec;
    TestFilter *row;
    double noise[32];
    size_t at = 0;

    spec.block_frames = blocks[k];
    last = chain_new (N_TAPS - 1, 1.0, &spec);
    row = test_filter_for (first, &spec, tfx_cpu_backend ());
    do {
      if (at == change)
        test_filter_set_chain (row, tfx_chain_ref (last));
      test_noise_f64 (noise, part);
      test_filter_f64 (row, noise, 1, part);
      at += part;
    } while (at <= change || test_filter_is_changing (row));
    at -= part; /* that is when it is looked at */
    tap_check (at % blocks[k] == 0 && at > change + FADE,
        "blocks of %zu: the change ends with frame %zu", blocks[k], at);
    test_filter_free (&row);
    tfx_chain_unref (&first);
    tfx_chain_unref (&last);
  }
}

static const TapTest tests[] = {
  { "pairs", test_pairs },
  { "given", test_given },
  { "others", test_others },
  { "catch-up", test_catch_up },
  { "replaced", test_replaced },
  { "ended", test_ended },
  { "fade-ends", test_fade_ends },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
