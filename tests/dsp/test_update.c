/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_update.c: new values in an old structure change what has new values, and
 * nothing else.
 */
#include "common.h"
#include "heap.h"
#include "rows.h"
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

  for (size_t i = 0; i < N_TAPS; i++)
    scaled[i] = scale * taps[i];
  return rows_fir (ids[KERNEL], scaled, N_TAPS, method);
}

/* A row of one filter; it takes the references to the stages. */
static TestFilter *
make_row (TfxStage **stages, size_t n)
{
  const TfxFilterSpec spec = { RATE, 1, TFX_SAMPLE_F64, BLOCK };
  TfxChain *chain = rows_chain (stages, n);
  TestFilter *row = test_filter_for (chain, &spec, tfx_cpu_backend ());

  tfx_chain_unref (&chain);
  return row;
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
 * that section, and it is not made anew. */
static void
test_beside (TfxFirMethod method, const char *name)
{
  TfxStage *stages[3];
  TestFilter *both, *notch, *kernel;
  double a[BLOCK], b[BLOCK];
  bool same = true;
  size_t most = 0;

  make_signals ();
  stages[0] = make_notch (0);
  stages[1] = make_kernel (1.0, method);
  both = make_row (stages, 2);
  stages[0] = make_notch (0);
  notch = make_row (stages, 1);
  stages[0] = make_kernel (1.0, method);
  kernel = make_row (stages, 1);
  for (unsigned i = 0; i < N_BLOCKS; i++) {
    if (i % 3 == 2) {
      HeapCounts counts;

      stages[0] = make_notch (i);
      stages[1] = make_kernel (1.0, method);
      stages[2] = make_notch (i);
      heap_watch (0);
      test_filter_set_chain (both, rows_chain (stages, 2));
      counts = heap_unwatch ();
      if (counts.n_bytes > most)
        most = counts.n_bytes;
      test_filter_set_chain (notch, rows_chain (&stages[2], 1));
    }
    for (size_t k = 0; k < BLOCK; k++)
      a[k] = b[k] = tap_random_uniform (-1.0, 1.0);
    test_filter_f64 (both, a, 1, BLOCK);
    test_filter_f64 (notch, b, 1, BLOCK);
    test_filter_f64 (kernel, b, 1, BLOCK);
    same = same && memcmp (a, b, sizeof a) == 0;
  }
  tap_check (same, "a kernel (%s) beside a section that moves", name);
  tap_check (most < sizeof taps / 2, "is not made anew: %zu bytes", most);
  test_filter_free (&both);
  test_filter_free (&notch);
  test_filter_free (&kernel);
}

static void
test_beside_sections (void)
{
  test_beside (TFX_FIR_FFT, "by FFT");
  test_beside (TFX_FIR_DIRECT, "tap by tap");
}

/* A kernel that does get other taps, a gain before it, and both
 * back again. */
static void
test_changed (void)
{
  static const struct
  {
    double scale, gain;
  } values[] = { { 1.0, 1.0 }, { 3.0, 1.0 }, { 3.0, 0.7 }, { 1.0, 0.7 },
    { 1.0, 1.0 } };
  TestFilter *row = NULL, *alone;
  TfxStage *plain[2];
  double a[BLOCK], b[BLOCK], worst = 0.0;

  make_signals ();
  plain[0] = make_notch (0);
  plain[1] = make_kernel (1.0, TFX_FIR_FFT);
  alone = make_row (plain, 2);
  for (unsigned i = 0; i < 100; i++) {
    double factor = values[i / 20].scale * values[i / 20].gain;

    if (i % 20 == 0) {
      TfxStage *stages[] = { make_notch (0),
        tfx_stage_new_gain (ids[GAIN], values[i / 20].gain),
        make_kernel (values[i / 20].scale, TFX_FIR_FFT) };
      if (row)
        test_filter_set_chain (row, rows_chain (stages, 3));
      else
        row = make_row (stages, 3);
    }
    for (size_t k = 0; k < BLOCK; k++)
      a[k] = b[k] = sin (2.0 * M_PI * 3000.0 * (i * BLOCK + k) / RATE);
    test_filter_f64 (row, a, 1, BLOCK);
    test_filter_f64 (alone, b, 1, BLOCK);
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
  test_filter_free (&row);
  test_filter_free (&alone);
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
