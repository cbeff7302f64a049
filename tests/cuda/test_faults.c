/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_faults.c: every call into the driver failing, once.
 *
 * A stream runs on the backend "cuda" until a call fails, and then on the CPU, from
 * the same sample on with the state of the filter: no sample is wrong, none is lost,
 * and the error text names the call. */
#include "core/block.h"
#include "common-cuda.h"
#include "cudarow.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RATE 48000.0
#define N_CHANNELS 2
#define N_BLOCKS 5
#define N_FRAMES 2400 /* of a block: more than a tile */
#define N_SAMPLES (N_BLOCKS * N_FRAMES * N_CHANNELS)
/* More calls than the stream makes. */
#define MAX_CALLS 2000

static char report_path[64];

/* Cascades of one group and of two, a delay line, a sum, FIRs directly and by
 * transforms. */
static TfxChain *
make_chain (void)
{
  static const TfxTap taps[] = { { 100, 0.5, true }, { 3000, -0.25, false } };
  TfxChain *chain = tfx_chain_new (), *branches[2], *longer;
  static const double kernel[] = { 0.5, 0.25, -0.125 };
  static const double *const kernels[] = { kernel };
  static double room[300] = { 1, [100] = 0.5, [299] = -0.25 };
  static const double *const rooms[] = { room };
  /* FIRs side by side would be one. */
  static const unsigned order[] = { 1, 7, 2, 3, 4, 5, 6 };
  TfxStage *stages[8];
  TfxSos sos[10];

  test_cuda_equaliser (sos, 10);
  branches[0] = tfx_chain_new ();
  stages[0] = tfx_stage_new_sections (tfx_stage_new_id (), sos, 2);
  branches[1] = tfx_chain_append (branches[0], stages[0]);
  stages[1] = tfx_stage_new_sections (tfx_stage_new_id (), sos + 1, 9);
  stages[2] = tfx_stage_new_delay (tfx_stage_new_id (), 1, taps, 2);
  stages[3] = tfx_stage_new_sum (tfx_stage_new_id (), branches, 2);
  stages[4] = tfx_stage_new_gain (tfx_stage_new_id (), 0.5);
  stages[5] = tfx_stage_new_sections (tfx_stage_new_id (), sos, 3);
  stages[6] =
      tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, 3, TFX_FIR_DIRECT);
  stages[7] =
      tfx_stage_new_fir (tfx_stage_new_id (), rooms, 1, 300, TFX_FIR_FFT);
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    longer = tfx_chain_append (chain, stages[order[i]]);
    tfx_chain_unref (&chain);
    chain = longer;
  }
  for (unsigned i = 0; i < 8; i++)
    tfx_stage_unref (&stages[i]);
  tfx_chain_unref (&branches[0]);
  tfx_chain_unref (&branches[1]);
  return chain;
}

/* The injected failure, or "" without one. */
static const char *
injected (void)
{
  static char line[256];
  FILE *file = fopen (report_path, "r");

  line[0] = '\0';
  if (file) {
    if (fgets (line, sizeof line, file))
      line[strcspn (line, "\n")] = '\0';
    fclose (file);
  }
  return line;
}

static TfxFilter *
filter_of (TfxChain *chain)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = N_CHANNELS,
    .sample = TFX_SAMPLE_F32 };
  TfxFilter *filter = NULL;

  if (tfx_filter_new (chain, &spec, &filter) < 0)
    tap_diag ("no filter");
  return filter;
}

typedef struct Outcome
{
  bool has_device, has_failed, is_lost;
  char error[512];
} Outcome;

/* What the device has left of a block. */
static void
run_by_cpu (TfxFilter *filter, TfxPlan **cpu, const TfxBlock *block,
    size_t n_done)
{
  TfxBlock rest = tfx_block_part (block, n_done, block->n_frames - n_done, 0,
      block->n_channels);

  if (!*cpu)
    tfx_plan_new (&filter, 1, tfx_cpu_backend_for ("c"), cpu);
  tfx_plan_run (*cpu, &rest, &rest);
}

/* The stream, with the CPU at hand.  floats: in and out.  n_again: 0, or the device is
 * tried again with each block, and its calls work again from that block on. */
static Outcome
play (TfxChain *chain, float *floats, unsigned n_again)
{
  TfxFilter *filter = filter_of (chain);
  TfxPlan *cpu = NULL, *device = NULL;
  Outcome outcome = { false };
  TfxCuda *cuda = NULL;

  tfx_filter_lock (filter);
  tfx_cuda_new (-1, &cuda, outcome.error, sizeof outcome.error);
  for (unsigned i = 0; i < N_BLOCKS; i++) {
    TfxBlock block = tfx_block_interleaved (floats + i * N_FRAMES * N_CHANNELS,
        TFX_SAMPLE_F32, N_CHANNELS, N_FRAMES);
    int ret = -ENODEV;
    size_t n_done = 0;

    if (i > 0 && i == n_again)
      test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    if (cuda && (n_again > 0 || !outcome.has_failed)) {
      ret = device
                ? 0
                : tfx_plan_new (&filter, 1, tfx_cuda_backend (cuda), &device);
      outcome.has_device = outcome.has_device || device;
      if (ret == 0) {
        ret = tfx_plan_run (device, &block, &block);
        n_done = tfx_plan_n_done (device);
      }
    }
    if (ret < 0 && cuda && !outcome.has_failed)
      tfx_cuda_error (cuda, outcome.error, sizeof outcome.error);
    outcome.has_failed = outcome.has_failed || ret < 0;
    if (ret < 0)
      run_by_cpu (filter, &cpu, &block, n_done);
  }
  tfx_plan_free (&device);
  tfx_plan_free (&cpu);
  if (cuda)
    outcome.is_lost = tfx_cuda_is_lost (cuda);
  if (cuda && !outcome.has_failed)
    tfx_cuda_error (cuda, outcome.error, sizeof outcome.error);
  tfx_filter_unlock (filter);
  tfx_filter_unref (&filter);
  tfx_cuda_unref (&cuda);
  return outcome;
}

static double
distance (const float *a, const float *b)
{
  double most = 0, peak = 0;

  for (size_t i = 0; i < N_SAMPLES; i++) {
    if (!(fabs ((double)a[i] - b[i]) <= most))
      most = fabs ((double)a[i] - b[i]);
    peak = fmax (peak, fabs (b[i]));
  }
  return most / peak;
}

/* Noise, and what the CPU makes of it. */
static void
make_samples (TfxChain *chain, float **in, float **expected)
{
  CudaRow *row = cuda_row_new (chain, N_CHANNELS, tfx_cpu_backend_for ("c"));

  *in = test_alloc (N_SAMPLES * sizeof **in);
  *expected = test_alloc (N_SAMPLES * sizeof **in);
  test_noise_f32 (*in, N_SAMPLES);
  memcpy (*expected, *in, N_SAMPLES * sizeof **in);
  cuda_row_f32 (row, *expected, N_CHANNELS, N_BLOCKS * N_FRAMES);
  cuda_row_free (&row);
}

/* A call in vain must not be what the outcome hangs on. */
static bool
is_harmless (const char *what)
{
  return strstr (what, "Destroy") || strstr (what, "Free") ||
         strstr (what, "Unload") || strstr (what, "Release") ||
         strstr (what, "PopCurrent") || strstr (what, "PointerGetAttribute") ||
         strstr (what, "StreamQuery") || strstr (what, "PushCurrent") ||
         strstr (what, "GetFunction") || strstr (what, "DriverGetVersion") ||
         strstr (what, "ModuleLoad");
}

/* The state from the slots and back is asked for twice, and so are copies of
 * samples, records of events and waits; state is cleared from the host, or read there, where that
 * fails on the device; the first failure is kept as the error. */
static bool
is_tried_again (const char *what, const char *error)
{
  return error[0] != '\0' &&
         (strstr (what, "Memcpy") || strstr (what, "Memset") ||
             strstr (what, "MemAlloc") || strstr (what, "EventQuery") ||
             strstr (what, "EventRecord"));
}

static void
test_every_call (void)
{
  TapMany samples = tap_many ("every sample is right");
  TapMany errors = tap_many ("an error says what failed");
  TfxChain *chain = make_chain ();
  float *in, *expected;
  float *out = test_alloc (N_SAMPLES * sizeof *in);
  unsigned n, n_failed = 0, step = part_is_wanted () ? 17 : 1;

  make_samples (chain, &in, &expected);
  test_cuda_set ("TFX_STANDIN_REPORT", report_path);
  for (n = 1; n < MAX_CALLS; n += step) {
    char setting[64];
    Outcome outcome;
    const char *what;
    double error;

    unlink (report_path);
    snprintf (setting, sizeof setting, "%u,%d", n, n % 3 ? 719 : 2);
    test_cuda_set ("TFX_STANDIN_FAIL", setting);
    memcpy (out, in, N_SAMPLES * sizeof *in);
    outcome = play (chain, out, 0);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    what = injected ();
    if (what[0] == '\0')
      break;
    error = distance (out, expected);
    tap_many_check (&samples, error < 1e-6 && !outcome.is_lost,
        "call %u, %s: %g%s", n, what, error, outcome.is_lost ? ", lost" : "");
    n_failed += outcome.has_failed;
    tap_many_check (&errors,
        outcome.has_failed
            ? outcome.error[0] != '\0'
            : is_harmless (what) || is_tried_again (what, outcome.error),
        "call %u, %s: \"%s\"", n, what, outcome.error);
  }
  tap_diag ("%u calls, %u of them end the device's part", n - 1, n_failed);
  tap_many_end (&samples);
  tap_many_end (&errors);
  tap_check (n > 100 && n < MAX_CALLS && n_failed > n / (4 * step),
      "calls have failed, and not in vain");
  test_cuda_set ("TFX_STANDIN_REPORT", NULL);
  unlink (report_path);
  tfx_chain_unref (&chain);
  free (in);
  free (expected);
  free (out);
}

/* Device memory is short from allocation n until block k. The CPU continues with
 * the state, the device takes it back, and no sample is lost. */
static void
test_shortage (void)
{
  static const char *const functions[] = { "cuMemAlloc_v2", "cuMemHostAlloc" };
  TapMany samples = tap_many ("every sample is right while memory is short");
  TfxChain *chain = make_chain ();
  float *in, *expected;
  float *out = test_alloc (N_SAMPLES * sizeof *in);
  unsigned n_tried = 0;

  make_samples (chain, &in, &expected);
  test_cuda_set ("TFX_STANDIN_REPORT", report_path);
  for (unsigned k = 0; k < 2 * N_BLOCKS; k++) {
    for (unsigned n = 1; n < MAX_CALLS; n++) {
      char setting[64];
      Outcome outcome;

      unlink (report_path);
      snprintf (setting, sizeof setting, "%s:%u,2,short",
          functions[k / N_BLOCKS], n);
      test_cuda_set ("TFX_STANDIN_FAIL", setting);
      memcpy (out, in, N_SAMPLES * sizeof *in);
      outcome = play (chain, out, 1 + k % N_BLOCKS);
      test_cuda_set ("TFX_STANDIN_FAIL", NULL);
      if (injected ()[0] == '\0')
        break;
      tap_many_check (&samples,
          distance (out, expected) < 1e-6 && !outcome.is_lost,
          "%s until block %u: %g%s", setting, 1 + k % N_BLOCKS,
          distance (out, expected), outcome.is_lost ? ", lost" : "");
      n_tried++;
    }
  }
  tap_many_end (&samples);
  tap_check (n_tried > 100, "%u times", n_tried);
  test_cuda_set ("TFX_STANDIN_REPORT", NULL);
  unlink (report_path);
  tfx_chain_unref (&chain);
  free (in);
  free (expected);
  free (out);
}

/* A block that the backend takes in parts: those that are done count. */
static void
test_parts (void)
{
  const size_t part = 500;
  TapMany many = tap_many ("parts of a block that fails count");
  TfxChain *chain = make_chain ();
  float *in, *expected;
  unsigned most = 0;

  make_samples (chain, &in, &expected);
  for (unsigned n = 1; n < 60; n += 4) {
    TfxCuda *cuda = test_cuda_new (NULL);
    TfxBackend backend = *tfx_cuda_backend (cuda);
    TfxFilter *filter = filter_of (chain);
    float *out = test_alloc (N_SAMPLES * sizeof *out);
    TfxBlock block = tfx_block_interleaved (out, TFX_SAMPLE_F32, N_CHANNELS,
        N_BLOCKS * N_FRAMES);
    TfxPlan *device = NULL, *cpu = NULL;
    char setting[64];
    size_t n_done;
    int ret;

    backend.max_samples = part * N_CHANNELS;
    memcpy (out, in, N_SAMPLES * sizeof *out);
    tfx_filter_lock (filter);
    ret = tfx_plan_new (&filter, 1, &backend, &device);
    snprintf (setting, sizeof setting, "cuLaunchKernel:%u", n);
    test_cuda_set ("TFX_STANDIN_FAIL", setting);
    if (ret == 0)
      ret = tfx_plan_run (device, &block, &block);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    n_done = tfx_plan_n_done (device);
    most = n_done > most ? (unsigned)n_done : most;
    if (ret < 0)
      run_by_cpu (filter, &cpu, &block, n_done);
    tap_many_check (&many,
        ret < 0 && n_done % part == 0 && distance (out, expected) < 1e-6,
        "launch %u: returns %d, %zu frames done, %g", n, ret, n_done,
        distance (out, expected));
    tfx_plan_free (&device);
    tfx_plan_free (&cpu);
    tfx_filter_unlock (filter);
    tfx_filter_unref (&filter);
    tfx_cuda_unref (&cuda);
    free (out);
  }
  tap_many_end (&many);
  tap_check (most > 2 * part, "up to %u frames were done", most);
  tfx_chain_unref (&chain);
  free (in);
  free (expected);
}

/* A device that goes and does not come back: it is said, and nothing hangs. */
static void
test_device_lost (void)
{
  const unsigned step = part_is_wanted () ? 29 : 7;
  TapMany many = tap_many ("a device that has gone");
  unsigned n_failed = 0;
  TfxChain *chain = make_chain ();
  float *out = test_alloc (N_SAMPLES * sizeof *out);

  test_cuda_set ("TFX_STANDIN_REPORT", report_path);
  for (unsigned n = 1; n < MAX_CALLS; n += step) {
    char setting[64];
    Outcome outcome;
    const char *what;
    bool finite = true;

    unlink (report_path);
    test_noise_f32 (out, N_SAMPLES);
    snprintf (setting, sizeof setting, "%u,719,sticky", n);
    test_cuda_set ("TFX_STANDIN_FAIL", setting);
    outcome = play (chain, out, 0);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    what = injected ();
    if (what[0] == '\0')
      break;
    for (size_t k = 0; k < N_SAMPLES; k++)
      finite = finite && isfinite (out[k]);
    /* Gone while memory was being given back, it is not missed. */
    tap_many_check (&many,
        finite && (outcome.has_failed ? outcome.is_lost || !outcome.has_device
                                      : outcome.is_lost || is_harmless (what)),
        "from call %u on, %s: failed %d, lost %d, \"%s\"", n, what,
        outcome.has_failed, outcome.is_lost, outcome.error);
    n_failed += outcome.has_failed;
  }
  test_cuda_set ("TFX_STANDIN_REPORT", NULL);
  unlink (report_path);
  tap_many_end (&many);
  tap_check (n_failed > 100 / step, "it has been missed %u times", n_failed);
  tfx_chain_unref (&chain);
  free (out);
}

static const TapTest tests[] = {
  { "every-call", test_every_call },
  { "shortage", test_shortage },
  { "parts", test_parts },
  { "device-lost", test_device_lost },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  snprintf (report_path, sizeof report_path, "/tmp/tfx-faults-%d",
      (int)getpid ());
  if (tfx_driver_get (NULL) && !test_cuda_is_standin ()) {
    printf ("1..0 # SKIP needs the stand-in\n");
    return 0;
  }
  return tap_main (argc, argv, tests);
}
