/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_update.c: new values in an old structure change what has new values, and
 * nothing else.
 */
#include "common.h"
#include "heap.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define BLOCK 256
#define N_BLOCKS 60
#define N_TAPS 3000

enum
{
  NOTCH = 1,
  KERNEL,
  GAIN,
  N_STAGES
};

static uint64_t ids[N_STAGES];
static double taps[N_TAPS];

/* A notch that wanders. */
static TfxStage *
make_notch (unsigned step)
{
  double w = 2.0 * M_PI * (500.0 + 100.0 * step) / RATE, a = 0.05;
  TfxSos sos = { 1.0 / (1.0 + a), -2.0 * cos (w) / (1.0 + a), 1.0 / (1.0 + a),
    -2.0 * cos (w) / (1.0 + a), (1.0 - a) / (1.0 + a) };

  return tfx_stage_new_sections (ids[NOTCH], &sos, 1);
}

static TfxStage *
make_kernel (double scale, TfxFirMethod method)
{
  double scaled[N_TAPS];
  const double *kernels[] = { scaled };

  for (size_t i = 0; i < N_TAPS; i++)
    scaled[i] = scale * taps[i];
  return tfx_stage_new_fir (ids[KERNEL], kernels, 1, N_TAPS, 0, method);
}

/* The stages in series, as a plan; takes them over. */
static TfxPlan *
make_plan (TfxStage **stages, size_t n)
{
  TfxPlanSpec spec = { .rate_hz = RATE,
    .n_channels = 1,
    .sample = TFX_SAMPLE_F64,
    .block_frames = BLOCK,
    .backend = tfx_cpu_backend () };
  TfxChain *chain = tfx_chain_new ();
  TfxPlan *plan = NULL;

  for (size_t i = 0; i < n; i++) {
    TfxChain *longer = tfx_chain_append (chain, stages[i]);

    tfx_chain_unref (&chain);
    tfx_stage_unref (&stages[i]);
    chain = longer;
  }
  tfx_plan_compile_for (chain, &spec, &plan);
  tfx_chain_unref (&chain);
  return plan;
}

/* From here on the executor runs this plan. */
static void
use (TfxExec **exec, TfxPlan *plan)
{
  if (*exec)
    tfx_exec_set_plan (*exec, plan, 0);
  else
    tfx_exec_new (plan, exec);
  tfx_plan_unref (&plan);
}

static void
run (TfxExec *exec, double *samples)
{
  TfxBlock block = tfx_block_interleaved (samples, TFX_SAMPLE_F64, 1, BLOCK);

  tfx_exec_run (exec, &block, &block);
}

static void
make_signals (void)
{
  for (size_t i = 1; i < N_STAGES; i++)
    ids[i] = tfx_stage_new_id ();
  for (size_t i = 0; i < N_TAPS; i++)
    taps[i] = tap_random_uniform (-1.0, 1.0) * exp (-3.0 * i / N_TAPS) / 50.0;
}

/* A kernel next to a section that moves: to the bit what it does alone, behind
 * that section, and nothing is made of it anew. */
static void
test_beside (TfxFirMethod method, const char *name)
{
  TfxExec *both = NULL, *notch = NULL, *kernel = NULL;
  double a[BLOCK], b[BLOCK];
  bool same = true;
  size_t most = 0;

  make_signals ();
  for (unsigned i = 0; i < N_BLOCKS; i++) {
    if (i % 3 == 0) {
      TfxStage *stages[] = { make_notch (i), make_kernel (1.0, method) };
      TfxStage *first[] = { make_notch (i) };
      TfxStage *second[] = { make_kernel (1.0, method) };

      TfxPlan *plan = make_plan (stages, 2);
      bool is_change = both != NULL;
      HeapCounts counts;

      heap_watch (0);
      use (&both, plan);
      counts = heap_unwatch ();
      if (is_change && counts.n_bytes > most)
        most = counts.n_bytes;
      use (&notch, make_plan (first, 1));
      if (!kernel)
        use (&kernel, make_plan (second, 1));
      else
        tfx_stage_unref (&second[0]);
    }
    for (size_t k = 0; k < BLOCK; k++)
      a[k] = b[k] = tap_random_uniform (-1.0, 1.0);
    run (both, a);
    run (notch, b);
    run (kernel, b);
    same = same && memcmp (a, b, sizeof a) == 0;
  }
  tap_check (same, "a kernel (%s) beside a section that moves", name);
  tap_check (most < sizeof taps / 2, "is not made anew: %zu bytes", most);
  tfx_exec_free (&both);
  tfx_exec_free (&notch);
  tfx_exec_free (&kernel);
}

static void
test_beside_sections (void)
{
  test_beside (TFX_FIR_FFT, "by FFT");
  test_beside (TFX_FIR_DIRECT, "tap by tap");
}

/* A kernel that does get other taps, a gain that is folded into it, and both
 * back again. */
static void
test_changed (void)
{
  static const struct
  {
    double scale, gain;
  } values[] = { { 1.0, 1.0 }, { 3.0, 1.0 }, { 3.0, 0.7 }, { 1.0, 0.7 },
    { 1.0, 1.0 } };
  TfxExec *exec = NULL, *alone = NULL;
  TfxStage *plain[2];
  double a[BLOCK], b[BLOCK], worst = 0.0;

  make_signals ();
  plain[0] = make_notch (0);
  plain[1] = make_kernel (1.0, TFX_FIR_FFT);
  use (&alone, make_plan (plain, 2));
  for (unsigned i = 0; i < 100; i++) {
    double factor = values[i / 20].scale * values[i / 20].gain;

    if (i % 20 == 0) {
      TfxStage *stages[] = { make_notch (0),
        tfx_stage_new_gain (ids[GAIN], values[i / 20].gain),
        make_kernel (values[i / 20].scale, TFX_FIR_FFT) };
      use (&exec, make_plan (stages, 3));
    }
    for (size_t k = 0; k < BLOCK; k++)
      a[k] = b[k] = sin (2.0 * M_PI * 3000.0 * (i * BLOCK + k) / RATE);
    run (exec, a);
    run (alone, b);
    /* Behind a fade, and at rest, the power of a block tells the gain. */
    if (i % 20 > 15) {
      double pa = 0.0, pb = 0.0;

      for (size_t k = 0; k < BLOCK; k++) {
        pa += a[k] * a[k];
        pb += b[k] * b[k];
      }
      worst = fmax (worst, fabs (sqrt (pa / pb) / factor - 1.0));
    }
  }
  tap_check (worst < 1e-9, "other taps and gains: off by %g", worst);
  tfx_exec_free (&exec);
  tfx_exec_free (&alone);
}

static const TapTest tests[] = {
  { "beside", test_beside_sections },
  { "changed", test_changed },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
