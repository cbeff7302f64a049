/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_row.c: stages, chains, filters and plans: their life, their errors,
 * and what they compute together.
 */
#include "common.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const TfxSos section = { 0.2, 0.3, 0.1, -0.9, 0.4 };
/* Unstable, or not finite. */
static const TfxSos bad[] = { { 1, 0, 0, -2.1, 1.2 }, { 1, NAN, 0, 0, 0 },
  { INFINITY, 0, 0, 0, 0 } };

static void
test_stage (void)
{
  TfxSos copy[2] = { section, section };
  uint64_t one = tfx_stage_new_id (), two = tfx_stage_new_id ();
  TfxStage *stage, *other, *none = NULL;

  tap_check (one && two && one != two, "ids are unique and not 0");
  stage = tfx_stage_new_sections (one, copy, 2);
  tap_check (stage && tfx_stage_id (stage) == one, "a stage has its id");
  other = tfx_stage_ref (stage);
  tap_check (other == stage, "a reference is the same stage");
  tfx_stage_unref (&other);
  tap_check (!other, "unref clears the caller's pointer");
  tap_check (tfx_stage_id (stage) == one, "the stage lives on");
  tfx_stage_unref (&stage);
  tfx_stage_unref (&none);
  tap_check (!stage && !none, "unref of NULL is allowed");

  for (unsigned i = 0; i < 3; i++) {
    copy[1] = bad[i];
    tap_check (!tfx_stage_new_sections (one, copy, 2), "bad section %u", i);
  }
  stage = tfx_stage_new_sections (one, NULL, 0);
  tap_check (stage != NULL, "no section is an identity");
  tfx_stage_unref (&stage);
  tap_check (!tfx_stage_new_gain (one, NAN) &&
                 !tfx_stage_new_gain (one, INFINITY) &&
                 !tfx_stage_new_gain (one, -INFINITY),
      "a gain is finite");
}

static void
test_chain (void)
{
  TfxStage *stage = tfx_stage_new_gain (tfx_stage_new_id (), 2);
  TfxChain *empty = tfx_chain_new (), *one, *two, *other, *none = NULL;
  TfxChain *alone = tfx_chain_append (NULL, stage);

  tap_check (empty && tfx_chain_n_stages (empty) == 0, "an empty chain");
  tap_check (tfx_chain_n_stages (alone) == 1, "a chain of a stage");
  tap_check (!tfx_chain_append (empty, NULL), "no stage makes no chain");
  tfx_chain_unref (&alone);
  one = tfx_chain_append (empty, stage);
  two = tfx_chain_append (one, stage);
  tap_check (tfx_chain_n_stages (one) == 1 && tfx_chain_n_stages (two) == 2,
      "appending counts");
  tap_check (tfx_chain_n_stages (empty) == 0, "and leaves the old chain");
  tfx_stage_unref (&stage);
  tfx_chain_unref (&one);
  tfx_chain_unref (&empty);
  other = tfx_chain_ref (two);
  tfx_chain_unref (&two);
  tap_check (!two && tfx_chain_n_stages (other) == 2,
      "a chain outlives the chains that it was made of");
  tfx_chain_unref (&other);
  tfx_chain_unref (&none);
}

/* A block, changed in one field. */
static TfxBlock
change (TfxBlock b, unsigned n_channels, size_t n_frames, int type)
{
  b.n_channels = n_channels;
  b.n_frames = n_frames;
  b.type = (TfxSample)type;
  return b;
}

static void
test_run_errors (void)
{
  TestFilter *row = test_filter_new (&section, 1, 2, tfx_cpu_backend ());
  TfxPlan *none = NULL;
  double in[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, out[8] = { 0 };
  const double zero[8] = { 0 };
  const TfxBlock i = tfx_block_interleaved (in, TFX_SAMPLE_F64, 2, 4);
  const TfxBlock o = tfx_block_interleaved (out, TFX_SAMPLE_F64, 2, 4);
  const TfxBlock nothing = tfx_block_interleaved (NULL, TFX_SAMPLE_F64, 2, 0);
  const struct
  {
    const char *name;
    TfxBlock in, out;
  } cases[] = {
    { "too few channels", change (i, 1, 4, 1), change (i, 1, 4, 1) },
    { "too many channels", change (i, 3, 4, 1), change (i, 3, 4, 1) },
    { "other channels out", i, change (o, 1, 4, 1) },
    { "other frames out", i, change (o, 2, 3, 1) },
    { "another type out", i, change (o, 2, 4, TFX_SAMPLE_F32) },
    { "an unknown type", change (i, 2, 4, 2), change (i, 2, 4, 2) },
    { "an unknown type", change (i, 2, 4, -1), change (i, 2, 4, -1) },
  };
  TfxStats stats;

  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    tap_check (test_filter_run (row, &cases[k].in, &cases[k].out) == -EINVAL,
        "%s", cases[k].name);
  tap_check (!memcmp (out, zero, sizeof out) && test_filter_is_silent (row),
      "no sample is written, and the state stays");
  tap_check (!test_filter_run (row, &nothing, &nothing),
      "a block of no frames");
  tap_check (!test_filter_run (row, &i, &o), "a block that fits");
  test_filter_get_stats (row, &stats);
  tap_check (stats.recoveries == 0 && stats.launches == 0 &&
                 stats.uploads == 0 && stats.downloads == 0 &&
                 !strcmp (stats.device, "cpu"),
      "nothing recovered, the device is the cpu");
  tfx_filter_lock (row->filter);
  tfx_plan_free (&row->plan);
  tfx_filter_unlock (row->filter);
  tfx_plan_free (&none);
  tap_check (!row->plan && !none, "free clears the pointer and takes NULL");
  test_filter_free (&row);
}

static void
test_counts (void)
{
  TfxSos sections[50];
  const TestStage stages[] = { { 1, sections, 30, 0 }, { 2, NULL, 0, 0.5 },
    { 3, sections + 30, 20, 0 } };
  TestFilter *row;
  TfxStats stats;
  double x[2 * 64] = { 0 };

  for (unsigned i = 0; i < 50; i++)
    sections[i] = section;
  row = test_filter_of (stages, 3, 2, tfx_cpu_backend ());
  tap_check (row && tfx_plan_n_stages (row->plan) == 3 &&
                 tfx_plan_n_sections (row->plan) == 50,
      "three stages, fifty sections");
  test_filter_free (&row);
  row = test_filter_new (sections, 50, 2, tfx_cpu_backend ());
  for (unsigned i = 0; i < 7; i++)
    test_filter_f64 (row, x, 2, 64);
  test_filter_get_stats (row, &stats);
  tap_check (stats.dispatches == 7, "50 sections are one dispatch a block: %u",
      (unsigned)stats.dispatches);
  test_filter_free (&row);
}

/* The stages in turn, for one channel, by the textbook. */
static void
run_stages (const TestStage *stages, size_t n_stages, double *x, size_t n)
{
  for (size_t i = 0; i < n_stages; i++) {
    if (stages[i].sos)
      test_run_f64 (stages[i].sos, stages[i].n_sos, x, x, n, NULL);
    else
      for (size_t k = 0; k < n; k++)
        x[k] *= stages[i].gain;
  }
}

#define N 1000

/* -250 dB: what the contract allows between orders of rounding. */
#define SAME 3e-13

static void
test_compositions (void)
{
  const TfxSos a[] = { { 0.2, 0.3, 0.1, -0.9, 0.4 }, { 1, -1, 0.2, 0.3, 0.1 } };
  const TfxSos b[] = { { 0.5, 0, -0.5, -0.1, -0.3 } };
  const TfxSos identity[] = { { 1, 0, 0, 0, 0 }, { 1, -0.5, 0.2, -0.5, 0.2 } };
  const TfxSos silence[] = { { 0, 0, 0, -0.5, 0.2 } };
  static const struct
  {
    const char *name;
    unsigned order[6]; /* of the stages below, from 1; 0 ends */
  } cases[] = { { "nothing", { 0 } }, { "a gain", { 1 } },
    { "two gains", { 1, 2 } }, { "sections", { 3 } },
    { "sections, gain", { 3, 1 } }, { "gain, sections", { 1, 3 } },
    { "gain, sections, gain, sections, gain", { 1, 3, 2, 4, 1 } },
    { "an identity", { 5 } }, { "identity, sections", { 5, 3 } },
    { "sections, identity, gain", { 3, 5, 1 } }, { "gain 0", { 6 } },
    { "sections, gain 0, sections", { 3, 6, 4 } },
    { "silence, sections", { 7, 3 } }, { "gain, silence", { 1, 7 } },
    { "an empty stage", { 8 } }, { "sections, empty stage", { 3, 8, 4 } },
    { "a tiny and a huge gain", { 9, 3, 10 } } };
  const TestStage stages[] = { { 1, NULL, 0, 0.25 }, { 2, NULL, 0, -3 },
    { 3, a, 2, 0 }, { 4, b, 1, 0 }, { 5, identity, 2, 0 }, { 6, NULL, 0, 0 },
    { 7, silence, 1, 0 }, { 8, a, 0, 0 }, { 9, NULL, 0, 1e-200 },
    { 10, NULL, 0, 1e200 } };
  TapMany many = tap_many ("chains compute what their stages do in a row");
  const char *kernel;

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TestStage list[6];
    double noise[N], want[N], got[N], x[N * 3];
    size_t n = 0;

    for (; cases[i].order[n]; n++)
      list[n] = stages[cases[i].order[n] - 1];
    test_noise_f64 (noise, N);
    memcpy (want, noise, sizeof want);
    run_stages (list, n, want, N);
    for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
      TestFilter *row =
          test_filter_of (list, n, 3, tfx_cpu_backend_for (kernel));
      double worst = 0;

      for (unsigned j = 0; j < 3 * N; j++)
        x[j] = noise[j / 3];
      if (test_filter_f64 (row, x, 3, N) < 0)
        worst = INFINITY;
      for (unsigned channel = 0; channel < 3; channel++) {
        for (unsigned j = 0; j < N; j++)
          got[j] = x[3 * j + channel];
        worst = fmax (worst, test_distance (got, want, N));
      }
      tap_many_check (&many, worst <= SAME, "%s, %s: %.3g apart", cases[i].name,
          kernel, worst);
      test_filter_free (&row);
    }
  }
  tap_many_end (&many);
}

/* A stage without effect changes no bit. */
static void
test_identity_bits (void)
{
  const TestStage gain = { 1, NULL, 0, 1 };
  double x[64], y[64];

  test_noise_f64 (x, 64);
  memcpy (y, x, sizeof y);
  for (size_t n = 0; n < 2; n++) {
    TestFilter *row = test_filter_of (&gain, n, 1, tfx_cpu_backend ());

    tap_check (row && !test_filter_f64 (row, y, 1, 64) &&
                   !memcmp (x, y, sizeof x),
        "%zu gains of 1 change no bit", n);
    test_filter_free (&row);
  }
}

static void
test_many_channels (void)
{
  static const unsigned counts[] = { 255, 256, 257, 1024, TFX_MAX_CHANNELS };
  TapMany many = tap_many ("as many channels as the interface allows");

  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    unsigned n = counts[i];
    TestFilter *row = test_filter_new (&section, 1, n, tfx_cpu_backend ());
    double *x = test_alloc (3 * n * sizeof *x);
    double want[3] = { 1, 0, 0 };

    for (unsigned j = 0; j < 3 * n; j++)
      x[j] = j < n ? 1 + j : 0;
    test_run_f64 (&section, 1, want, want, 3, NULL);
    tap_many_check (&many, row && !test_filter_f64 (row, x, n, 3), "%u", n);
    for (unsigned j = 0; j < 3 * n; j++) {
      double w = want[j / n] * (1 + j % n);
      if (!tap_many_check (&many, fabs (x[j] - w) <= 1e-15 * (1 + j % n),
              "%u channels, channel %u, frame %u: %g, not %g", n, j % n, j / n,
              x[j], w))
        break;
    }
    free (x);
    test_filter_free (&row);
  }
  tap_many_end (&many);
}

/* A stream may change its sample type: the state is double for both. */
static void
test_types_mixed (void)
{
  TfxSos sos[8];
  const TfxDesign d = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 8, 1000, 0,
    0, 0 };
  int n = tfx_design_sections (&d, 48000, sos);
  TestFilter *row = test_filter_new (sos, (size_t)n, 1, tfx_cpu_backend ());
  float f32[N];
  double want[N], got[N];

  test_noise_f32 (f32, N);
  for (unsigned i = 0; i < N; i++)
    want[i] = got[i] = f32[i];
  test_run_f64 (sos, (size_t)n, want, want, N, NULL);
  test_filter_f64 (row, got, 1, 333);
  test_filter_f32 (row, f32 + 333, 1, 333);
  for (unsigned i = 333; i < 666; i++)
    got[i] = f32[i];
  test_filter_f64 (row, got + 666, 1, N - 666);
  tap_check (test_distance (got, want, 333) < SAME &&
                 test_distance (got + 333, want + 333, 333) < 1e-7 &&
                 test_distance (got + 666, want + 666, N - 666) < SAME,
      "F64, F32 and F64 again in one stream");
  test_filter_free (&row);
}

static void
test_reset (void)
{
  TapMany many = tap_many ("after a reset as if new");
  const char *kernel;

  for (unsigned i = 0; (kernel = tfx_cpu_kernel (i / 11)); i++) {
    const unsigned channels = 1 + i % 11;
    TestFilter *row =
        test_filter_new (&section, 1, channels, tfx_cpu_backend_for (kernel));
    double first[11 * 67], again[11 * 67];
    bool is_silent;

    test_noise_f64 (first, 11 * 67);
    memcpy (again, first, sizeof first);
    test_filter_f64 (row, first, channels, 67);
    test_filter_reset (row);
    is_silent = test_filter_is_silent (row);
    test_filter_f64 (row, again, channels, 67);
    tap_many_check (&many, is_silent && !memcmp (first, again, sizeof first),
        "%s, %u channels", kernel, channels);
    test_filter_free (&row);
  }
  tap_many_end (&many);
}

/* Silent means that zeros give zeros, and nothing else does. */
static void
check_silent (TapMany *many, const char *kernel, unsigned channels,
    unsigned loud)
{
  const TfxBackend *backend = tfx_cpu_backend_for (kernel);
  const TfxSos delay = { 0, 0, 1, 0, 0 };
  TestFilter *row = test_filter_new (&section, 1, channels, backend);
  double x[11] = { 0 }, peak = 0;
  unsigned frames = 0;
  bool was_silent = test_filter_is_silent (row), is_silent, is_late = true;

  x[loud] = 1;
  test_filter_f64 (row, x, channels, 1);
  is_silent = test_filter_is_silent (row);
  for (; frames < 1000 && !test_filter_is_silent (row); frames++) {
    memset (x, 0, sizeof x);
    test_filter_f64 (row, x, channels, 1);
  }
  for (unsigned i = 0; i < 50; i++) {
    memset (x, 0, sizeof x);
    test_filter_f64 (row, x, channels, 1);
    for (unsigned c = 0; c < channels; c++)
      peak = fmax (peak, fabs (x[c]));
  }
  test_filter_free (&row);
  row = test_filter_new (&delay, 1, channels, backend);
  x[loud] = 1;
  for (unsigned i = 0; i < 2; i++) {
    test_filter_f64 (row, x, channels, 1);
    is_late = is_late && !test_filter_is_silent (row);
    x[loud] = 0;
  }
  test_filter_free (&row);
  /* Poles at 0.63 from the origin: -400 dB is 100 frames away. */
  tap_many_check (many,
      was_silent && !is_silent && is_late && frames > 80 && frames < 200 &&
          peak <= 1e-19,
      "%s, channel %u of %u: silent when new %d, after a pulse %d, with one on "
      "its way %d; rings for %u frames, then %g",
      kernel, loud, channels, was_silent, is_silent, !is_late, frames, peak);
}

static void
test_silent (void)
{
  TapMany many = tap_many ("a filter is silent after its tail");
  const char *kernel;

  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    for (unsigned channels = 1; channels <= 11; channels++) {
      for (unsigned loud = 0; loud < channels; loud++)
        check_silent (&many, kernel, channels, loud);
    }
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "stage", test_stage },
  { "chain", test_chain },
  { "counts", test_counts },
  { "run-errors", test_run_errors },
  { "compositions", test_compositions },
  { "identity-bits", test_identity_bits },
  { "many-channels", test_many_channels },
  { "types-mixed", test_types_mixed },
  { "reset", test_reset },
  { "silent", test_silent },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
