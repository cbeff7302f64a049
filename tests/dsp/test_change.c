/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_change.c: an executor changes to another plan in mid-stream: the state
 * that it takes over, and cross-fades.
 */
#include "common.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000.0
#define N 3000
#define MAX_CHANNELS 11
/* -250 dB of the largest value. */
#define SAME 3e-13

static const unsigned channel_counts[] = { 1, 2, 3, 8, 11 };
#define N_COUNTS (sizeof channel_counts / sizeof channel_counts[0])

/* Three filters and a gain, by number. */
static TfxSos filter_sos[3][8];
static size_t filter_n_sos[3];

static void
make_filters (void)
{
  static const TfxDesign designs[] = {
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 5, 3000, 0, 0, 0 },
    { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_HIGH_PASS, 4, 2000, 0, 0.5, 0 },
    { TFX_FAMILY_CHEBYSHEV2, TFX_MODE_BAND_REJECT, 2, 2000, 6000, 0, 40 },
  };

  for (unsigned i = 0; i < 3; i++)
    filter_n_sos[i] =
        (size_t)tfx_design_sections (&designs[i], RATE, filter_sos[i]);
}

/* Chains as text: a letter is a filter of that number, a digit a gain. */
static size_t
parse_chain (const char *text, TestStage *stages)
{
  size_t n = 0;

  for (; text[n]; n++) {
    unsigned i = (unsigned)(text[n] - 'a');
    if (text[n] >= 'a')
      stages[n] = (TestStage){ 1 + i, filter_sos[i], filter_n_sos[i], 0 };
    else
      stages[n] = (TestStage){ 100, NULL, 0, text[n] - '0' };
  }
  return n;
}

static TfxPlan *
plan_of (const char *chain, unsigned n_channels, const TfxBackend *backend)
{
  TestStage stages[8];
  size_t n = parse_chain (chain, stages);

  return test_plan_of (stages, n, n_channels, backend);
}

/* The textbook's filters, with their state, keyed like the stages' ids. */
typedef struct Model
{
  double state[3][8][2];
} Model;

static void
model_run (Model *model, const char *chain, double *x, size_t n)
{
  for (const char *c = chain; *c; c++) {
    if (*c >= 'a') {
      unsigned i = (unsigned)(*c - 'a');
      test_run_f64 (filter_sos[i], filter_n_sos[i], x, x, n, model->state[i]);
    } else {
      for (size_t k = 0; k < n; k++)
        x[k] *= *c - '0';
    }
  }
  /* Who is not in the chain loses its state. */
  for (unsigned i = 0; i < 3; i++)
    if (!strchr (chain, 'a' + (int)i))
      memset (model->state[i], 0, sizeof model->state[i]);
}

/* Chains that follow each other, at lengths that leave groups of samples
 * unfinished. */
static double
sequence_distance (const char *const *chains, unsigned n_channels,
    const TfxBackend *const *backends)
{
  static const size_t pieces[] = { 501, 1, 2, 700, 1003, 793 };
  double *x = test_alloc (N * n_channels * sizeof *x);
  double *want = test_alloc (N * sizeof *want);
  double *got = test_alloc (N * sizeof *got);
  double worst = 0;
  TfxExec *exec = NULL;
  size_t done = 0;
  Model model = { 0 };

  test_noise_f64 (x, N * n_channels);
  for (size_t i = 0; i < N; i++)
    want[i] = x[i * n_channels + n_channels - 1];
  for (unsigned i = 0; i < 6; i++) {
    TfxPlan *plan = plan_of (chains[i], n_channels, backends[i % 2]);

    if (!plan ||
        (exec ? tfx_exec_set_plan (exec, plan, 0) : tfx_exec_new (plan, &exec)))
      worst = NAN;
    else
      test_exec_f64 (exec, x + done * n_channels, n_channels, pieces[i]);
    tfx_plan_unref (&plan);
    model_run (&model, chains[i], want + done, pieces[i]);
    for (size_t k = done; k < done + pieces[i]; k++)
      got[k] = x[k * n_channels + n_channels - 1];
    done += pieces[i];
  }
  worst = fmax (worst, test_distance (got, want, N));
  tfx_exec_free (&exec);
  free (got);
  free (want);
  free (x);
  return worst;
}

/* The last channel of a plan that changes, against the model. */
static void
test_takeover (void)
{
  static const char *const sequences[][6] = {
    { "a", "ab", "abc", "ab", "a", "ac" },
    { "abc", "bc", "c", "bc", "abc", "b" },
    { "ab", "ba", "ab", "cab", "bac", "abc" },
    { "a", "", "a", "b", "", "ab" },
    { "a", "a3", "a2", "ab4", "ab", "a9" },
    { "abc", "abc", "abc", "abc", "abc", "abc" },
  };
  TapMany many = tap_many ("stages keep their state in another chain");

  make_filters ();
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);
    const TfxBackend *backends[] = { backend, backend };

    for (size_t i = 0; backend && i < N_COUNTS; i++) {
      for (size_t s = 0; s < sizeof sequences / sizeof sequences[0]; s++) {
        double d =
            sequence_distance (sequences[s], channel_counts[i], backends);
        tap_many_check (&many, d <= SAME,
            "%s, %u channels, %s - %s - %s...: %.3g apart", test_kernels[k],
            channel_counts[i], sequences[s][0], sequences[s][1],
            sequences[s][2], d);
      }
    }
  }
  tap_many_end (&many);
}

/* A gain in front of a filter changes: what rings in the filter came in under
 * the old gain. */
static void
test_takeover_behind_gain (void)
{
  static const char *const sequences[][6] = {
    { "a", "3a", "a", "2a", "5ab", "a2b" },
    { "ab", "a0b", "ab", "0ab", "a0b", "ab" },
  };
  TapMany many = tap_many ("stages keep their state behind another gain");

  make_filters ();
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);
    const TfxBackend *backends[] = { backend, backend };

    for (size_t s = 0; backend && s < 2; s++) {
      double d = sequence_distance (sequences[s], 2, backends);
      tap_many_check (&many, d <= SAME, "%s, %s - %s...: %.3g apart",
          test_kernels[k], sequences[s][0], sequences[s][1], d);
    }
  }
  tap_many_end (&many);
}

/* State goes from one variant to another. */
static void
test_takeover_between_kernels (void)
{
  static const char *const chains[6] = { "abc", "abc", "ab", "ab", "abc",
    "cab" };
  TapMany many = tap_many ("state goes from kernel to kernel");

  make_filters ();
  for (unsigned k = 0; k < TEST_N_KERNELS * TEST_N_KERNELS; k++) {
    const char *one = test_kernels[k / TEST_N_KERNELS];
    const char *two = test_kernels[k % TEST_N_KERNELS];
    const TfxBackend *backends[] = { tfx_cpu_backend_for (one),
      tfx_cpu_backend_for (two) };

    for (size_t i = 0; backends[0] && backends[1] && i < N_COUNTS; i++) {
      double d = sequence_distance (chains, channel_counts[i], backends);
      tap_many_check (&many, d <= SAME, "%s to %s, %u channels: %.3g apart",
          one, two, channel_counts[i], d);
    }
  }
  tap_many_end (&many);
}

/* The same plan, or one of the same values, changes no bit. */
static void
test_same_plan (void)
{
  TapMany many = tap_many ("a plan of the same values changes no bit");

  make_filters ();
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);

    for (size_t i = 0; backend && i < N_COUNTS; i++) {
      unsigned n = channel_counts[i];
      double x[MAX_CHANNELS * 300], y[MAX_CHANNELS * 300];
      TfxExec *one = NULL, *two = NULL;
      TfxPlan *plan = plan_of ("ab", n, backend);
      TfxPlan *again = plan_of ("ab", n, backend);

      test_noise_f64 (x, n * 300);
      memcpy (y, x, sizeof y);
      tap_many_check (&many,
          plan && again && !tfx_exec_new (plan, &one) &&
              !tfx_exec_new (plan, &two),
          "no executor");
      test_exec_f64 (one, x, n, 300);
      for (unsigned f = 0; f < 300; f += 3) {
        test_exec_f64 (two, y + f * n, n, 3);
        tap_many_check (&many,
            !tfx_exec_set_plan (two, f % 2 ? plan : again, f % 4 ? 100 : 0),
            "refused");
      }
      tap_many_check (&many, !memcmp (x, y, n * 300 * sizeof *x),
          "%s, %u channels", test_kernels[k], n);
      tfx_exec_free (&one);
      tfx_exec_free (&two);
      tfx_plan_unref (&plan);
      tfx_plan_unref (&again);
    }
  }
  tap_many_end (&many);
}

/* Another rate or channel count: at rest. */
static void
test_unrelated (void)
{
  TfxStage *stage;
  TfxChain *empty = tfx_chain_new (), *chain;
  TfxPlan *plans[3] = { NULL };
  TfxExec *exec = NULL;
  double x[64];

  make_filters ();
  stage = tfx_stage_new_sections (1, filter_sos[0], filter_n_sos[0]);
  chain = tfx_chain_append (empty, stage);
  tfx_plan_compile (chain, 48000, 2, tfx_cpu_backend (), &plans[0]);
  tfx_plan_compile (chain, 44100, 2, tfx_cpu_backend (), &plans[1]);
  tfx_plan_compile (chain, 44100, 1, tfx_cpu_backend (), &plans[2]);
  tap_check (!tfx_exec_new (plans[0], &exec), "an executor");
  for (unsigned i = 1; i < 3; i++) {
    test_noise_f64 (x, 64);
    test_exec_f64 (exec, x, i == 1 ? 2 : 2, 32);
    tap_check (!tfx_exec_is_silent (exec), "rings");
    tap_check (!tfx_exec_set_plan (exec, plans[i], i == 1 ? 1000 : 0) &&
                   tfx_exec_is_silent (exec),
        "another %s: at rest", i == 1 ? "rate" : "channel count");
  }
  test_noise_f64 (x, 64);
  tap_check (!test_exec_f64 (exec, x, 1, 64), "and runs with it");
  tfx_exec_free (&exec);
  for (unsigned i = 0; i < 3; i++)
    tfx_plan_unref (&plans[i]);
  tfx_chain_unref (&chain);
  tfx_chain_unref (&empty);
  tfx_stage_unref (&stage);
}

/* The weight of the old plan in each frame of a cross-fade from "a" to "ab":
 * w = (y - new) / (old - new). */
static void
check_fade (TapMany *many, const TfxBackend *backend, unsigned n_channels,
    size_t length, const char *from, const char *to)
{
  double *x = test_alloc (N * n_channels * sizeof *x);
  double old[N], new[N], last = 1;
  size_t start = 501;
  TfxExec *exec = NULL;
  TfxPlan *one = plan_of (from, n_channels, backend);
  TfxPlan *two = plan_of (to, n_channels, backend);
  Model old_model = { 0 }, new_model;
  bool within = true, falls = true;

  test_noise_f64 (x, N * n_channels);
  for (size_t i = 0; i < N; i++)
    old[i] = new[i] = x[i * n_channels];
  model_run (&old_model, from, old, start);
  new_model = old_model;
  model_run (&old_model, from, old + start, N - start);
  model_run (&new_model, to, new + start, N - start);
  tap_many_check (many,
      one && two && !tfx_exec_new (one, &exec) &&
          !test_exec_f64 (exec, x, n_channels, start) &&
          !tfx_exec_set_plan (exec, two, length),
      "does not run");
  for (size_t done = start; done < N;) {
    size_t n = 1 + tap_random_below (200);
    n = n < N - done ? n : N - done;
    test_exec_f64 (exec, x + done * n_channels, n_channels, n);
    done += n;
  }
  for (size_t i = start; i < start + length; i++) {
    double gap = old[i] - new[i];
    double w = (x[i * n_channels] - new[i]) / gap;
    /* Where both say the same there is no weight to be seen. */
    if (fabs (gap) < 1e-3)
      continue;
    within = within && w > -1e-6 && w < 1 + 1e-6;
    falls = falls && w < last + 1e-6;
    last = w;
  }
  tap_many_check (many, within && falls && (length < 100 || last < 0.1),
      "%u channels, %s to %s in %zu frames: weights%s%s, at last %g",
      n_channels, from, to, length, within ? "" : " outside of 0 to 1",
      falls ? "" : " that rise", last);
  for (size_t i = 0; i < N; i++)
    old[i] = x[i * n_channels];
  tap_many_check (many,
      test_distance (old + start + length, new + start + length,
          N - start - length) <= SAME,
      "%u channels, %s to %s in %zu frames: not the new plan at the end",
      n_channels, from, to, length);
  tfx_exec_free (&exec);
  tfx_plan_unref (&one);
  tfx_plan_unref (&two);
  free (x);
}

static void
test_fade (void)
{
  static const size_t lengths[] = { 0, 1, 2, 100, 255, 256, 257, 480, 2000 };
  TapMany many = tap_many ("a cross-fade goes from the old plan to the new");

  make_filters ();
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);

    for (size_t i = 0; backend && i < N_COUNTS; i++) {
      for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        check_fade (&many, backend, channel_counts[i], lengths[l], "a", "ab");
        check_fade (&many, backend, channel_counts[i], lengths[l], "abc", "c");
        check_fade (&many, backend, channel_counts[i], lengths[l], "", "b");
      }
    }
  }
  tap_many_end (&many);
}

/* Plans come faster than cross-fades end: no jump, and the last one wins. */
static void
test_fade_in_fade (void)
{
  static const char *const chains[] = { "a", "ab", "abc", "b", "", "ca", "3a" };
  TapMany many = tap_many ("the last plan wins, whatever was fading");
  const size_t all = 100000, tail = 20000;
  double *x = test_alloc (all * sizeof *x);
  double *want = test_alloc (tail * sizeof *want);

  make_filters ();
  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = tfx_cpu_backend_for (test_kernels[k]);

    for (unsigned run = 0; backend && run < 20; run++) {
      TfxPlan *plan = plan_of ("a", 1, backend);
      TfxExec *exec = NULL;
      const char *chain = "a";
      double peak = 0, end;
      size_t done = 0;
      Model model = { 0 };

      test_noise_f64 (x, all);
      tap_many_check (&many, plan && !tfx_exec_new (plan, &exec), "%s",
          test_kernels[k]);
      tfx_plan_unref (&plan);
      while (done < 50000) {
        size_t n = tap_random_below (700);

        chain = chains[tap_random_below (7)];
        plan = plan_of (chain, 1, backend);
        tap_many_check (&many,
            plan &&
                !tfx_exec_set_plan (exec, plan,
                    tap_random_below (3) ? tap_random_below (1000) : 0) &&
                !test_exec_f64 (exec, x + done, 1, n),
            "%s: %s refused", test_kernels[k], chain);
        tfx_plan_unref (&plan);
        done += n;
      }
      /* The cross-fades end early in what is left, and its end has forgotten
       * that the model starts at rest. */
      memcpy (want, x + all - tail, tail * sizeof *want);
      test_exec_f64 (exec, x + done, 1, all - done);
      model_run (&model, chain, want, tail);
      end = test_distance (x + all - 300, want + tail - 300, 300);
      for (size_t i = 0; i < all; i++)
        peak = fmax (peak, isnan (x[i]) ? INFINITY : fabs (x[i]));
      tap_many_check (&many, end < 1e-11, "%s: the end is not \"%s\": %.3g",
          test_kernels[k], chain, end);
      tap_many_check (&many, peak < 12, "%s: peak %g", test_kernels[k], peak);
      tfx_exec_free (&exec);
    }
  }
  free (want);
  free (x);
  tap_many_end (&many);
}

/* What fades out is heard although what fades in is at rest. */
static void
test_silent_in_fade (void)
{
  TfxPlan *rings, *rests;
  TfxExec *exec = NULL;
  double x[200];

  make_filters ();
  rings = plan_of ("a", 1, tfx_cpu_backend ());
  rests = plan_of ("b", 1, tfx_cpu_backend ());
  tfx_exec_new (rings, &exec);
  test_noise_f64 (x, 200);
  test_exec_f64 (exec, x, 1, 200);
  tfx_exec_set_plan (exec, rests, 300);
  tap_check (!tfx_exec_is_silent (exec), "not silent when a fade begins");
  memset (x, 0, sizeof x);
  test_exec_f64 (exec, x, 1, 200);
  tap_check (!tfx_exec_is_silent (exec), "not silent within it");
  memset (x, 0, sizeof x);
  test_exec_f64 (exec, x, 1, 200);
  tap_check (tfx_exec_is_silent (exec), "silent when it has ended");
  tfx_exec_free (&exec);
  tfx_plan_unref (&rings);
  tfx_plan_unref (&rests);
}

static void
test_reset_in_fade (void)
{
  TfxPlan *one, *two, *three;
  TfxExec *exec = NULL, *fresh = NULL;
  double x[500], y[500];

  make_filters ();
  one = plan_of ("a", 1, tfx_cpu_backend ());
  two = plan_of ("ab", 1, tfx_cpu_backend ());
  three = plan_of ("b", 1, tfx_cpu_backend ());
  tfx_exec_new (one, &exec);
  tfx_exec_new (three, &fresh);
  test_noise_f64 (x, 500);
  test_exec_f64 (exec, x, 1, 100);
  tfx_exec_set_plan (exec, two, 1000);
  test_exec_f64 (exec, x, 1, 100);
  tfx_exec_set_plan (exec, three, 1000);
  test_exec_f64 (exec, x, 1, 100);
  tap_check (!tfx_exec_is_silent (exec), "a cross-fade is not silent");
  tfx_exec_reset (exec);
  tap_check (tfx_exec_is_silent (exec), "after a reset it is");
  test_noise_f64 (x, 500);
  memcpy (y, x, sizeof y);
  test_exec_f64 (exec, x, 1, 500);
  test_exec_f64 (fresh, y, 1, 500);
  tap_check (!memcmp (x, y, sizeof x), "and runs the last plan from rest");
  tfx_exec_free (&exec);
  tfx_exec_free (&fresh);
  tfx_plan_unref (&one);
  tfx_plan_unref (&two);
  tfx_plan_unref (&three);
}

static const TapTest tests[] = {
  { "takeover", test_takeover },
  { "takeover-behind-gain", test_takeover_behind_gain },
  { "takeover-between-kernels", test_takeover_between_kernels },
  { "same-plan", test_same_plan },
  { "unrelated", test_unrelated },
  { "fade", test_fade },
  { "fade-in-fade", test_fade_in_fade },
  { "silent-in-fade", test_silent_in_fade },
  { "reset-in-fade", test_reset_in_fade },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
