/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_backend.c: the backend "cuda" behind the executor: state, changes,
 * chains of everything, memory on either side, counts. */
#include "buffer.h"
#include "common-cuda.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N_OF(array) (sizeof array / sizeof *array)

static TfxCuda *cuda;

/* The largest difference, relative to the largest value of b; NaN if there is
 * one. */
static double
distance (const double *a, const double *b, size_t n)
{
  double most = 0, peak = 0;

  for (size_t i = 0; i < n; i++) {
    if (!(fabs (a[i] - b[i]) <= most))
      most = fabs (a[i] - b[i]);
    peak = fmax (peak, fabs (b[i]));
  }
  return peak > 0 ? most / peak : most;
}

static TfxExec *
exec_of (const TfxChain *chain, unsigned n_channels, const TfxBackend *backend)
{
  const TfxPlanSpec spec = { .rate_hz = RATE,
    .n_channels = n_channels,
    .sample = TFX_SAMPLE_F64,
    .backend = backend };
  TfxPlan *plan;
  TfxExec *exec = NULL;
  int ret = tfx_plan_compile_for (chain, &spec, &plan);

  if (ret == 0)
    ret = tfx_exec_new (plan, &exec);
  if (ret < 0)
    tap_diag ("no executor on %s: %d", backend->name, ret);
  tfx_plan_unref (&plan);
  return exec;
}

/* Adds the stage, which it takes over, to the chain. */
static void
append (TfxChain **chain, TfxStage *stage)
{
  TfxChain *longer = tfx_chain_append (*chain, stage);

  tfx_chain_unref (chain);
  tfx_stage_unref (&stage);
  *chain = longer;
}

static TfxChain *
chain_of_sections (uint64_t id, const TfxSos *sos, size_t n_sos)
{
  TfxChain *chain = tfx_chain_new ();

  append (&chain, tfx_stage_new_sections (id, sos, n_sos));
  return chain;
}

/* Runs interleaved doubles in blocks of random length up to piece. */
static int
run_pieces (TfxExec *exec, double *samples, unsigned n_channels,
    size_t n_frames, unsigned piece)
{
  size_t done = 0;
  int ret = 0;

  while (ret == 0 && done < n_frames) {
    size_t n = 1 + tap_random_below (piece);
    n = n < n_frames - done ? n : n_frames - done;
    ret = test_exec_f64 (exec, samples + done * n_channels, n_channels, n);
    done += n;
  }
  return ret;
}

/* ---- chains --------------------------------------------------------------------- */

/* Taps of a delay line and kernels of a FIR, for the reference. */
static double *
noise_of (size_t n)
{
  double *noise = test_alloc ((n + 1) * sizeof *noise);

  test_noise_f64 (noise, n);
  return noise;
}

static TfxStage *
random_delay (unsigned longest)
{
  TfxTap taps[4];
  size_t n = tap_random_below (5);

  for (size_t i = 0; i < n; i++)
    taps[i] = (TfxTap){ tap_random_below (longest + 1),
      tap_random_uniform (-1, 1), tap_random_below (2) };
  return tfx_stage_new_delay (tfx_stage_new_id (), tap_random_uniform (-1, 1),
      taps, n);
}

static TfxStage *
random_fir (unsigned longest)
{
  size_t n_taps = 1 + tap_random_below (longest < 300 ? longest : 300);
  double *kernel = noise_of (n_taps);
  const double *const kernels[] = { kernel };
  TfxStage *stage = tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, n_taps,
      0, TFX_FIR_DIRECT);

  free (kernel);
  return stage;
}

static TfxStage *random_sum (unsigned depth, unsigned longest);

/* Sections, gains, FIRs, delay lines and sums, those to a depth. */
static TfxChain *
random_chain (unsigned depth, unsigned longest)
{
  TfxChain *chain = tfx_chain_new ();
  unsigned n = tap_random_below (4);

  for (unsigned i = 0; i < n; i++) {
    TfxSos sos[8];
    size_t n_sos = 1 + tap_random_below (8);

    switch (tap_random_below (depth > 0 ? 5 : 4)) {
      case 0:
        test_cuda_equaliser (sos, n_sos);
        append (&chain,
            tfx_stage_new_sections (tfx_stage_new_id (), sos, n_sos));
        break;
      case 1:
        append (&chain, tfx_stage_new_gain (tfx_stage_new_id (),
                            tap_random_uniform (-1, 1)));
        break;
      case 2:
        append (&chain, random_delay (longest));
        break;
      case 3:
        append (&chain, random_fir (longest));
        break;
      default:
        append (&chain, random_sum (depth - 1, longest));
    }
  }
  return chain;
}

static TfxStage *
random_sum (unsigned depth, unsigned longest)
{
  TfxChain *branches[3];
  size_t n = 1 + tap_random_below (3);
  TfxStage *stage;

  for (size_t i = 0; i < n; i++)
    branches[i] = random_chain (depth, longest);
  stage = tfx_stage_new_sum (tfx_stage_new_id (), branches, n);
  for (size_t i = 0; i < n; i++)
    tfx_chain_unref (&branches[i]);
  return stage;
}

/* The same chain on the CPU and here, both in blocks, not the same ones. */
static void
test_chains (void)
{
  static const unsigned pieces[] = { 1, 50, 700, 5000 };
  TapMany many = tap_many ("random chains against the CPU");

  for (unsigned i = 0; i < (test_is_sanitized () ? 30 : 120); i++) {
    unsigned n_channels = 1 + tap_random_below (5);
    unsigned longest = i % 2 ? 20 : 3000;
    unsigned piece = pieces[i % 4];
    size_t n_frames = piece == 1 ? 60 : 4000;
    TfxChain *chain = random_chain (3, longest);
    TfxExec *here = exec_of (chain, n_channels, tfx_cuda_backend (cuda));
    TfxExec *there = exec_of (chain, n_channels, tfx_cpu_backend_for ("c"));
    double *a = noise_of (n_frames * n_channels);
    double *b = test_alloc (n_frames * n_channels * sizeof *b);
    double error = NAN;

    memcpy (b, a, n_frames * n_channels * sizeof *b);
    if (here && there &&
        run_pieces (here, a, n_channels, n_frames, piece) == 0 &&
        test_exec_f64 (there, b, n_channels, n_frames) == 0)
      error = distance (a, b, n_frames * n_channels);
    tap_many_check (&many, error < 1e-11,
        "chain %u of %zu stages, %u channels, blocks to %u: %g", i,
        tfx_chain_n_stages (chain), n_channels, piece, error);
    tfx_exec_free (&here);
    tfx_exec_free (&there);
    tfx_chain_unref (&chain);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* ---- FIR ---------------------------------------------------------------------------- */

/* y[n] = sum of kernel[k] x[n - k], exactly enough. */
static void
convolve (const double *kernel, size_t n_taps, const double *in, double *out,
    unsigned n_channels, unsigned channel, size_t n_frames)
{
  for (size_t i = 0; i < n_frames; i++) {
    long double sum = 0;
    for (size_t k = 0; k < n_taps && k <= i; k++)
      sum += (long double)kernel[k] * in[(i - k) * n_channels + channel];
    out[i * n_channels + channel] = (double)sum;
  }
}

static void
check_fir (TapMany *many, size_t n_taps, bool per_channel, TfxSample type,
    unsigned piece)
{
  const unsigned n_channels = 3;
  const size_t n_frames = piece == 1 ? 100 : 2500;
  double *kernels[3], *in = noise_of (n_frames * n_channels);
  double *expected = test_alloc (n_frames * n_channels * sizeof *expected);
  double *out = test_alloc (n_frames * n_channels * sizeof *out);
  float *floats = test_alloc (n_frames * n_channels * sizeof *floats);
  TfxChain *chain = tfx_chain_new ();
  TfxExec *exec;
  size_t done = 0;
  int ret = 0;
  double error = NAN;

  for (unsigned c = 0; c < n_channels; c++)
    kernels[c] = noise_of (n_taps);
  for (size_t i = 0; i < n_frames * n_channels; i++)
    in[i] = floats[i] = (float)in[i];
  for (unsigned c = 0; c < n_channels; c++)
    convolve (kernels[per_channel ? c : 0], n_taps, in, expected, n_channels, c,
        n_frames);
  append (&chain,
      tfx_stage_new_fir (tfx_stage_new_id (), (const double *const *)kernels,
          per_channel ? n_channels : 1, n_taps, 0, TFX_FIR_DIRECT));
  exec = exec_of (chain, n_channels, tfx_cuda_backend (cuda));
  memcpy (out, in, n_frames * n_channels * sizeof *out);
  while (exec && ret == 0 && done < n_frames) {
    size_t n = n_frames - done < piece ? n_frames - done : piece;
    ret = type == TFX_SAMPLE_F32
              ? test_exec_f32 (exec, floats + done * n_channels, n_channels, n)
              : test_exec_f64 (exec, out + done * n_channels, n_channels, n);
    done += n;
  }
  for (size_t i = 0; type == TFX_SAMPLE_F32 && i < n_frames * n_channels; i++)
    out[i] = floats[i];
  if (exec && ret == 0)
    error = distance (out, expected, n_frames * n_channels);
  /* Half a unit of the largest float, or -240 dB. */
  tap_many_check (many, error < (type == TFX_SAMPLE_F32 ? 6e-8 : 1e-12),
      "%zu taps, %s, type %d, blocks of %u: %g", n_taps,
      per_channel ? "each channel its own" : "one kernel", (int)type, piece,
      error);
  tfx_exec_free (&exec);
  tfx_chain_unref (&chain);
  for (unsigned c = 0; c < n_channels; c++)
    free (kernels[c]);
  free (in);
  free (expected);
  free (out);
  free (floats);
}

static void
test_firs (void)
{
  static const size_t taps[] = { 1, 2, 3, 8, 21, 101, 128, 129, 511, 1500 };
  static const unsigned pieces[] = { 1, 37, 1024, 2500 };
  static const char *const devices[] = { TEST_CUDA_DOUBLE, TEST_CUDA_TWOFOLD };
  TapMany many = tap_many ("FIRs against exact sums");

  for (size_t d = 0; d < N_OF (devices); d++) {
    TfxCuda *first = cuda;

    cuda = test_cuda_new (devices[d]);
    for (size_t i = 0; i < N_OF (taps) * N_OF (pieces);
         i += test_is_sanitized () ? 9 : 1)
      check_fir (&many, taps[i / 4], i % 3 == 0,
          d == 0 && i % 2 ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32, pieces[i % 4]);
    tfx_cuda_unref (&cuda);
    cuda = first;
  }
  tap_many_end (&many);
}

/* A FIR that takes its delay out of the stream: what is dropped and what comes
 * at the end make up the whole convolution. */
static void
test_aligned (void)
{
  const size_t n_taps = 65, delay = 32, n_frames = 1000, total = 1032;
  double *kernel = noise_of (n_taps), *in = noise_of (total);
  double expected[1032], out[1032];
  const double *const kernels[] = { kernel };
  TfxChain *chain = tfx_chain_new ();
  TfxSos sos[2];
  TfxExec *exec;
  TfxBlock block;
  size_t skips[3], done;
  int ret;

  test_cuda_equaliser (sos, 2);
  for (size_t i = n_frames; i < total; i++)
    in[i] = 0;
  convolve (kernel, n_taps, in, expected, 1, 0, total);
  /* The cascade gets what the FIR has not dropped. */
  test_run_f64 (sos, 2, expected + delay, expected + delay, n_frames, NULL);

  append (&chain, tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, n_taps,
                      delay, TFX_FIR_DIRECT));
  append (&chain, tfx_stage_new_sections (tfx_stage_new_id (), sos, 2));
  exec = exec_of (chain, 1, tfx_cuda_backend (cuda));
  memcpy (out, in, sizeof out);
  skips[0] = tfx_exec_skip (exec);
  ret = test_exec_f64 (exec, out, 1, 10);
  skips[1] = tfx_exec_skip (exec);
  for (done = 10; ret == 0 && done < n_frames; done += 110)
    ret = test_exec_f64 (exec, out + done, 1, 110);
  skips[2] = tfx_exec_skip (exec);
  block = tfx_block_interleaved (out + n_frames, TFX_SAMPLE_F64, 1, delay);
  if (ret == 0)
    ret = tfx_exec_drain (exec, &block);
  tap_check (ret == 0 && skips[0] == delay && skips[1] == delay - 10 &&
                 skips[2] == 0,
      "to be dropped: %zu, then %zu, then %zu frames", skips[0], skips[1],
      skips[2]);
  tap_check (distance (out + delay, expected + delay, n_frames) < 1e-12,
      "an aligned FIR and a cascade, drained: %g",
      distance (out + delay, expected + delay, n_frames));
  tfx_exec_free (&exec);
  tfx_chain_unref (&chain);
  free (kernel);
  free (in);
}

/* New taps while it runs: from one filter to the other without a jump. */
static void
test_fir_change (void)
{
  const size_t fade = (size_t)(RATE / 100), n = 256;
  const double a[] = { 1, 0.5 }, b[] = { -1, 0.25 };
  const double *const ka[] = { a }, *const kb[] = { b };
  uint64_t id = tfx_stage_new_id ();
  TfxChain *ca = tfx_chain_new (), *cb = tfx_chain_new ();
  TfxExec *exec;
  TfxPlan *plan;
  double *x = noise_of (n * 8), *y = test_alloc (n * 8 * sizeof *y);
  double worst = 0;
  int ret = 0;

  append (&ca, tfx_stage_new_fir (id, ka, 1, 2, 0, TFX_FIR_DIRECT));
  append (&cb, tfx_stage_new_fir (id, kb, 1, 2, 0, TFX_FIR_DIRECT));
  exec = exec_of (ca, 1, tfx_cuda_backend (cuda));
  tfx_plan_compile (cb, RATE, 1, tfx_cuda_backend (cuda), &plan);
  memcpy (y, x, n * 8 * sizeof *y);
  for (size_t i = 0; ret == 0 && i < 8; i++) {
    if (i == 2)
      ret = tfx_exec_set_plan (exec, plan, 0);
    if (ret == 0)
      ret = test_exec_f64 (exec, y + i * n, 1, n);
  }
  for (size_t i = 1; i < n * 8; i++) {
    double old = a[0] * x[i] + a[1] * x[i - 1];
    double new = b[0] * x[i] + b[1] * x[i - 1];
    double w = i < 2 * n ? 1 : 1 - (double)(i - 2 * n) / (double)fade;
    worst = fmax (worst, fabs (y[i] - (w > 0 ? new + w *(old - new) : new)));
  }
  tap_check (ret == 0 && worst < 1e-12, "new taps come in a cross-fade: %g",
      worst);
  tfx_exec_free (&exec);
  tfx_plan_unref (&plan);
  tfx_chain_unref (&ca);
  tfx_chain_unref (&cb);
  free (x);
  free (y);
}

/* ---- state ------------------------------------------------------------------------------- */

/* A stream that goes from backend to backend is the stream on one. */
static void
test_hand_over (void)
{
  TapMany many = tap_many ("the state goes from backend to backend");

  for (unsigned i = 0; i < 24; i++) {
    unsigned n_channels = 1 + i % 3;
    size_t n = 700;
    TfxChain *chain = random_chain (2, 500);
    TfxExec *execs[2] = { exec_of (chain, n_channels, tfx_cuda_backend (cuda)),
      exec_of (chain, n_channels, tfx_cpu_backend_for ("c")) };
    TfxExec *plain = exec_of (chain, n_channels, tfx_cpu_backend_for ("c"));
    double *a = noise_of (6 * n * n_channels);
    double *b = test_alloc (6 * n * n_channels * sizeof *b);
    int ret = 0;

    memcpy (b, a, 6 * n * n_channels * sizeof *b);
    for (unsigned k = 0; ret == 0 && k < 6; k++) {
      if (k > 0)
        ret = tfx_exec_adopt (execs[k % 2], execs[(k + 1) % 2]);
      if (ret == 0)
        ret =
            test_exec_f64 (execs[k % 2], a + k * n * n_channels, n_channels, n);
    }
    if (ret == 0)
      ret = test_exec_f64 (plain, b, n_channels, 6 * n);
    tap_many_check (&many,
        ret == 0 && distance (a, b, 6 * n * n_channels) < 1e-11,
        "chain %u: returns %d, %g", i, ret,
        distance (a, b, 6 * n * n_channels));
    tfx_exec_free (&execs[0]);
    tfx_exec_free (&execs[1]);
    tfx_exec_free (&plain);
    tfx_chain_unref (&chain);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* New values in the same structure, again and again. */
static void
test_new_values (void)
{
  uint64_t id = tfx_stage_new_id ();
  const size_t n = 300, n_sos = 8;
  double *a = noise_of (n * 20), *b = test_alloc (n * 20 * sizeof *b);
  TfxExec *here = NULL, *there = NULL;
  int ret = 0;

  memcpy (b, a, n * 20 * sizeof *b);
  for (unsigned i = 0; ret == 0 && i < 20; i++) {
    TfxSos sos[8];
    TfxChain *chain;
    TfxPlan *p, *q;

    test_cuda_equaliser (sos, n_sos);
    chain = chain_of_sections (id, sos, n_sos);
    tfx_plan_compile (chain, RATE, 1, tfx_cuda_backend (cuda), &p);
    tfx_plan_compile (chain, RATE, 1, tfx_cpu_backend_for ("c"), &q);
    if (i == 0) {
      ret = tfx_exec_new (p, &here) || tfx_exec_new (q, &there) ? -1 : 0;
    } else {
      ret = tfx_exec_set_plan (here, p, 0) || tfx_exec_set_plan (there, q, 0)
                ? -1
                : 0;
    }
    if (ret == 0)
      ret = test_exec_f64 (here, a + i * n, 1, n) ||
            test_exec_f64 (there, b + i * n, 1, n);
    tfx_plan_unref (&p);
    tfx_plan_unref (&q);
    tfx_chain_unref (&chain);
  }
  /* From one equaliser to any other: the state goes through matrices that need
   * not be well conditioned. */
  tap_check (ret == 0 && distance (a, b, n * 20) < 1e-9,
      "coefficients that move: %g", distance (a, b, n * 20));
  tfx_exec_free (&here);
  tfx_exec_free (&there);
  free (a);
  free (b);
}

/* Other structures in a cross-fade. */
static void
test_new_structure (void)
{
  const size_t n = 400;
  double *a = noise_of (n * 12 * 2), *b = test_alloc (n * 12 * 2 * sizeof *b);
  TfxChain *chain = random_chain (2, 100);
  TfxExec *here = exec_of (chain, 2, tfx_cuda_backend (cuda));
  TfxExec *there = exec_of (chain, 2, tfx_cpu_backend_for ("c"));
  int ret = 0;

  memcpy (b, a, n * 12 * 2 * sizeof *b);
  for (unsigned i = 0; ret == 0 && i < 12; i++) {
    if (i % 3 == 2) {
      TfxPlan *p, *q;

      tfx_chain_unref (&chain);
      chain = random_chain (2, 100);
      tfx_plan_compile (chain, RATE, 2, tfx_cuda_backend (cuda), &p);
      tfx_plan_compile (chain, RATE, 2, tfx_cpu_backend_for ("c"), &q);
      ret =
          tfx_exec_set_plan (here, p, 500) || tfx_exec_set_plan (there, q, 500);
      tfx_plan_unref (&p);
      tfx_plan_unref (&q);
    }
    if (ret == 0)
      ret = test_exec_f64 (here, a + i * n * 2, 2, n) ||
            test_exec_f64 (there, b + i * n * 2, 2, n);
  }
  tap_check (ret == 0 && distance (a, b, n * 24) < 1e-11,
      "chains that change: %g", distance (a, b, n * 24));
  tfx_exec_free (&here);
  tfx_exec_free (&there);
  tfx_chain_unref (&chain);
  free (a);
  free (b);
}

static void
test_reset (void)
{
  const size_t n = 500;
  TfxSos sos[3];
  TfxChain *chain;
  TfxExec *exec;
  double *x = noise_of (n * 2), *first = test_alloc (n * 2 * sizeof *first);
  double *again = test_alloc (n * 2 * sizeof *again);
  bool silent[3];
  int ret;

  test_cuda_equaliser (sos, 3);
  chain = chain_of_sections (tfx_stage_new_id (), sos, 3);
  append (&chain, random_sum (2, 100));
  exec = exec_of (chain, 2, tfx_cuda_backend (cuda));
  memcpy (first, x, n * 2 * sizeof *x);
  memcpy (again, x, n * 2 * sizeof *x);
  silent[0] = tfx_exec_is_silent (exec);
  ret = test_exec_f64 (exec, first, 2, n);
  silent[1] = tfx_exec_is_silent (exec);
  tfx_exec_reset (exec);
  silent[2] = tfx_exec_is_silent (exec);
  if (ret == 0)
    ret = test_exec_f64 (exec, again, 2, n);
  tap_check (ret == 0 && memcmp (first, again, n * 2 * sizeof *first) == 0,
      "after a reset the same bits come");
  tap_check (silent[0] && silent[2], "at rest it is silent");
  tap_check (!silent[1], "and not while it rings");
  tfx_exec_free (&exec);
  tfx_chain_unref (&chain);
  free (x);
  free (first);
  free (again);
}

/* Any split of the stream: the same but for rounding. */
static void
test_splits (void)
{
  static const unsigned pieces[] = { 1, 3, 7, 16, 100, 1000, 3000 };
  TapMany many = tap_many ("the split into blocks changes rounding only");
  TfxSos sos[TEST_API_SECTIONS];
  const size_t n = 6000;

  test_cuda_api (sos);
  for (size_t i = 0; i < N_OF (pieces); i++) {
    TfxExec *one = test_exec_new (sos, 6, 2, tfx_cuda_backend (cuda));
    TfxExec *many_blocks = test_exec_new (sos, 6, 2, tfx_cuda_backend (cuda));
    double *a = noise_of (n * 2), *b = test_alloc (n * 2 * sizeof *b);
    int ret;

    memcpy (b, a, n * 2 * sizeof *b);
    ret = test_exec_f64 (one, a, 2, n);
    if (ret == 0)
      ret = run_pieces (many_blocks, b, 2, pieces[i] == 1 ? 300 : n, pieces[i]);
    tap_many_check (&many,
        ret == 0 && distance (b, a, pieces[i] == 1 ? 600 : n * 2) < 3e-13,
        "blocks to %u: %g", pieces[i], distance (b, a, n * 2));
    tfx_exec_free (&one);
    tfx_exec_free (&many_blocks);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* ---- what is not finite ---------------------------------------------------------------------- */

static bool
all_finite (const double *x, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (!isfinite (x[i]))
      return false;
  }
  return true;
}

static void
test_recovery (void)
{
  static const double bad[] = { NAN, INFINITY, -INFINITY, 1e300 };
  static const size_t lengths[] = { 100, 1000, 5000, 40000 };
  TapMany many = tap_many ("what is not finite is gone in 4096 frames");
  TfxSos sos[8];

  for (size_t i = 0; i < N_OF (bad) * N_OF (lengths) * 2; i++) {
    const size_t n = lengths[i / 2 % 4], at = n / 3, blocks = n < 5000 ? 8 : 2;
    const size_t last = at + 1 + 4096;
    TfxExec *exec;
    TfxStats stats;
    double *x;
    int ret = 0;

    test_cuda_random (sos, 8);
    /* One group, or two. */
    exec = test_exec_new (sos, i % 2 ? 8 : 2, 2, tfx_cuda_backend (cuda));
    x = noise_of (n * blocks * 2);
    x[at * 2] = bad[i / 8];
    for (size_t k = 0; ret == 0 && k < blocks; k++)
      ret = test_exec_f64 (exec, x + k * n * 2, 2, n);
    tfx_exec_get_stats (exec, &stats);
    for (size_t k = 0; k < n * blocks; k++) {
      if (!isfinite (x[k * 2 + 1]))
        ret = -1000;
    }
    tap_many_check (&many,
        ret == 0 && (last >= n * blocks ||
                        all_finite (x + last * 2, (n * blocks - last) * 2)),
        "%g in %zu frames: returns %d", bad[i / 8], n, ret);
    /* Too much is not what is not finite. */
    tap_many_check (&many, (stats.recoveries > 0) == (i / 8 < 3) || i / 8 == 3,
        "%g in %zu frames: %llu recoveries", bad[i / 8], n,
        (unsigned long long)stats.recoveries);
    tfx_exec_free (&exec);
    free (x);
  }
  tap_many_end (&many);
}

/* ---- memory on either side --------------------------------------------------------------------- */

/* A device copy of n doubles. */
static double *
to_device (const double *x, size_t n)
{
  double *memory = test_cuda_alloc (cuda, n * sizeof *x);

  test_cuda_upload (cuda, memory, x, n * sizeof *x);
  return memory;
}

/* in and out on host or device, apart or in place; layouts. */
static void
check_places (TapMany *many, const TfxChain *chain, bool planar,
    const double *in, const double *expected, unsigned n_channels, size_t n)
{
  size_t size = n * n_channels;
  double *out = test_alloc (size * sizeof *out);

  for (unsigned way = 0; way < 5; way++) {
    bool in_there = way & 1, out_there = way & 2, in_place = way == 4;
    TfxExec *exec = exec_of (chain, n_channels, tfx_cuda_backend (cuda));
    double *host = test_alloc (size * sizeof *host);
    double *d_in = to_device (in, size), *d_out = to_device (in, size);
    TfxBlock from, to;
    int ret;

    memcpy (host, in, size * sizeof *host);
    from = planar ? tfx_block_planar (in_there || in_place ? d_in : host,
                        TFX_SAMPLE_F64, n_channels, n, n)
                  : tfx_block_interleaved (in_there || in_place ? d_in : host,
                        TFX_SAMPLE_F64, n_channels, n);
    to = from;
    if (!in_place)
      to.data = out_there ? d_out : out;
    ret = tfx_exec_run (exec, &from, &to);
    if (in_place)
      test_cuda_download (cuda, out, d_in, size * sizeof *out);
    else if (out_there)
      test_cuda_download (cuda, out, d_out, size * sizeof *out);
    tap_many_check (many,
        ret == 0 && memcmp (out, expected, size * sizeof *out) == 0,
        "way %u, %s, %zu frames: returns %d", way,
        planar ? "planar" : "interleaved", n, ret);
    tfx_exec_free (&exec);
    test_cuda_free (cuda, d_in);
    test_cuda_free (cuda, d_out);
    free (host);
  }
  free (out);
}

static void
test_places (void)
{
  TapMany many = tap_many ("host or device memory does not matter");

  for (unsigned i = 0; i < 16; i++) {
    const unsigned n_channels = 1 + i % 4;
    const size_t n = i % 3 ? 333 : 3333;
    TfxChain *chain = random_chain (2, 400);
    double *in = noise_of (n * n_channels);
    double *expected = test_alloc (n * n_channels * sizeof *expected);
    TfxBlock from, to;
    TfxExec *exec;

    if (i % 2)
      append (&chain, random_delay (400));
    exec = exec_of (chain, n_channels, tfx_cuda_backend (cuda));
    from = i % 4 < 2
               ? tfx_block_planar (in, TFX_SAMPLE_F64, n_channels, n, n)
               : tfx_block_interleaved (in, TFX_SAMPLE_F64, n_channels, n);
    to = from;
    to.data = expected;
    if (tfx_exec_run (exec, &from, &to) == 0)
      check_places (&many, chain, i % 4 < 2, in, expected, n_channels, n);
    tfx_exec_free (&exec);
    tfx_chain_unref (&chain);
    free (in);
    free (expected);
  }
  tap_many_end (&many);
}

/* Two executors in a row on the device, without waiting between; buffer after
 * buffer goes through. */
static void
test_no_waiting (void)
{
  const size_t n = 777;
  TfxSos sos[12];
  TfxExec *one, *two, *both;
  double *in = noise_of (n * 5), *out = test_alloc (n * 5 * sizeof *out);
  double *expected = test_alloc (n * 5 * sizeof *expected);
  double *memory = test_cuda_alloc (cuda, n * sizeof *memory);
  TfxBlock device = tfx_block_interleaved (memory, TFX_SAMPLE_F64, 1, n);
  int ret = 0;

  test_cuda_equaliser (sos, 12);
  one = test_exec_new (sos, 6, 1, tfx_cuda_backend (cuda));
  two = test_exec_new (sos + 6, 6, 1, tfx_cuda_backend (cuda));
  both = test_exec_new (sos, 12, 1, tfx_cuda_backend (cuda));
  memcpy (expected, in, n * 5 * sizeof *in);
  tfx_cuda_set_waiting (cuda, false);
  for (unsigned i = 0; ret == 0 && i < 5; i++) {
    TfxBlock from = tfx_block_interleaved (in + i * n, TFX_SAMPLE_F64, 1, n);
    TfxBlock to = tfx_block_interleaved (out + i * n, TFX_SAMPLE_F64, 1, n);

    ret = tfx_exec_run (one, &from, &device);
    /* The caller's memory has been read. */
    memset (in + i * n, 0, n * sizeof *in);
    if (ret == 0)
      ret = tfx_exec_run (two, &device, i % 2 ? &device : &to);
    if (ret == 0 && i % 2) {
      ret = tfx_cuda_wait (cuda);
      test_cuda_download (cuda, to.data, memory, n * sizeof *out);
    }
  }
  tfx_cuda_set_waiting (cuda, true);
  if (ret == 0)
    ret = test_exec_f64 (both, expected, 1, n * 5);
  tap_check (ret == 0 && distance (out, expected, n * 5) < 1e-12,
      "two in a row without waiting: %g", distance (out, expected, n * 5));
  tfx_exec_free (&one);
  tfx_exec_free (&two);
  tfx_exec_free (&both);
  test_cuda_free (cuda, memory);
  free (in);
  free (out);
  free (expected);
}

/* ---- counts -------------------------------------------------------------------------------------- */

static void
test_counts (void)
{
  static const size_t depths[] = { 1, 2, 6, 7, 20, 50 };
  TapMany many = tap_many ("one upload, one launch, one download");
  TfxSos sos[50];

  test_cuda_equaliser (sos, 50);
  for (size_t i = 0; i < N_OF (depths); i++) {
    float x[3000] = { 1 };
    TfxExec *exec = test_exec_new (sos, depths[i], 1, tfx_cuda_backend (cuda));
    TfxStats stats;
    int ret = 0;

    for (unsigned k = 0; ret == 0 && k < 3; k++)
      ret = test_exec_f32 (exec, x, 1, 3000);
    tfx_exec_get_stats (exec, &stats);
    tap_many_check (&many,
        ret == 0 && stats.launches == 3 && stats.uploads == 3 &&
            stats.downloads == 3 && stats.dispatches == 3,
        "%zu sections: %llu launches, %llu uploads, %llu downloads", depths[i],
        (unsigned long long)stats.launches, (unsigned long long)stats.uploads,
        (unsigned long long)stats.downloads);
    tap_many_check (&many, strcmp (stats.device, "cuda") == 0, "device %s",
        stats.device);
    tfx_exec_free (&exec);
  }
  tap_many_end (&many);
}

/* Once it has run, a run asks the driver for no memory. */
static void
test_no_allocation (void)
{
  static const char *const functions[] = { "cuMemAlloc_v2", "cuMemHostAlloc",
    "cuMemFree_v2", "cuMemFreeHost", "cuModuleLoadData", "cuStreamCreate",
    "cuEventCreate" };
  TapMany many = tap_many ("no allocation while it runs");
  TfxChain *chain;
  TfxExec *exec;
  float x[2 * 2500] = { 1 };
  int ret;

  if (!test_cuda_is_standin ()) {
    tap_skip ("needs the stand-in", "no allocation while it runs");
    return;
  }
  chain = random_chain (2, 1000);
  append (&chain, random_sum (2, 300));
  exec = exec_of (chain, 2, tfx_cuda_backend (cuda));
  ret = test_exec_f32 (exec, x, 2, 2500);
  for (size_t i = 0; i < N_OF (functions); i++) {
    char setting[64];

    snprintf (setting, sizeof setting, "%s:1", functions[i]);
    test_cuda_set ("TFX_STANDIN_FAIL", setting);
    for (unsigned k = 0; ret == 0 && k < 4; k++)
      ret = test_exec_f32 (exec, x, 2, 2500 - 800 * k);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    tap_many_check (&many, ret == 0, "%s is called", functions[i]);
    ret = 0;
  }
  tap_many_end (&many);
  tfx_exec_free (&exec);
  tfx_chain_unref (&chain);
}

/* ---- threads ---------------------------------------------------------------------------------------- */

typedef struct Worker
{
  const TfxSos *sos;
  size_t n_sos;
  double *samples;
  size_t n;
  int ret;
} Worker;

static void *
worker_run (void *data)
{
  Worker *w = data;
  TfxExec *exec = test_exec_new (w->sos, w->n_sos, 1, tfx_cuda_backend (cuda));

  w->ret = exec ? 0 : -1;
  for (size_t i = 0; w->ret == 0 && i + 100 <= w->n; i += 100)
    w->ret = test_exec_f64 (exec, w->samples + i, 1, 100);
  tfx_exec_free (&exec);
  return NULL;
}

static void
test_threads (void)
{
  TapMany many = tap_many ("several threads on one device");
  TfxSos sos[4][4];
  Worker workers[4];
  pthread_t threads[4];

  for (unsigned i = 0; i < 4; i++) {
    test_cuda_equaliser (sos[i], 4);
    workers[i] = (Worker){ sos[i], 1 + i, noise_of (2000), 2000, 0 };
  }
  double *expected[4];
  for (unsigned i = 0; i < 4; i++) {
    expected[i] = test_alloc (2000 * sizeof (double));
    test_run_f64 (sos[i], 1 + i, workers[i].samples, expected[i], 2000, NULL);
    pthread_create (&threads[i], NULL, worker_run, &workers[i]);
  }
  for (unsigned i = 0; i < 4; i++) {
    pthread_join (threads[i], NULL);
    tap_many_check (&many,
        workers[i].ret == 0 &&
            distance (workers[i].samples, expected[i], 2000) < 1e-11,
        "thread %u: %g", i, distance (workers[i].samples, expected[i], 2000));
    free (workers[i].samples);
    free (expected[i]);
  }
  tap_many_end (&many);
}

/* ---- what cannot be had ------------------------------------------------------------------------------- */

static void
test_errors (void)
{
  TfxCuda *none;
  char why[256] = "";
  int ret = tfx_cuda_new (99, &none, why, sizeof why);

  tap_check (ret == -ENODEV && !none && strstr (why, "99"),
      "device 99: %d, \"%s\"", ret, why);
  tap_check (tfx_cuda_is_available (NULL), "there is a driver");
  tap_check (tfx_cuda_device (cuda) == 0 && tfx_cuda_name (cuda)[0] != '\0',
      "device %d is \"%s\"", tfx_cuda_device (cuda), tfx_cuda_name (cuda));
}

static const TapTest tests[] = {
  { "chains", test_chains },
  { "firs", test_firs },
  { "aligned", test_aligned },
  { "fir-change", test_fir_change },
  { "hand-over", test_hand_over },
  { "new-values", test_new_values },
  { "new-structure", test_new_structure },
  { "reset", test_reset },
  { "splits", test_splits },
  { "recovery", test_recovery },
  { "places", test_places },
  { "no-waiting", test_no_waiting },
  { "counts", test_counts },
  { "no-allocation", test_no_allocation },
  { "threads", test_threads },
  { "errors", test_errors },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  int status;

  cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  status = tap_main (argc, argv, tests);
  tfx_cuda_unref (&cuda);
  return status;
}
