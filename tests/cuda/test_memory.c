/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_memory.c: the backend "cuda": memory on either side, counts,
 * threads. */
#include "chains.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TfxCuda *cuda;

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
check_places (TapMany *many, TfxChain *chain, bool planar, const double *in,
    const double *expected, unsigned n_channels, size_t n)
{
  size_t size = n * n_channels;
  double *out = test_alloc (size * sizeof *out);

  for (unsigned way = 0; way < 5; way++) {
    bool in_there = way & 1, out_there = way & 2, in_place = way == 4;
    CudaRow *row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
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
    ret = cuda_row_run (row, &from, &to);
    if (in_place)
      test_cuda_download (cuda, out, d_in, size * sizeof *out);
    else if (out_there)
      test_cuda_download (cuda, out, d_out, size * sizeof *out);
    tap_many_check (many,
        ret == 0 && memcmp (out, expected, size * sizeof *out) == 0,
        "way %u, %s, %zu frames: returns %d", way,
        planar ? "planar" : "interleaved", n, ret);
    cuda_row_free (&row);
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
    TfxChain *chain = test_cuda_random_chain (2, 400);
    double *in = test_cuda_noise (n * n_channels);
    double *expected = test_alloc (n * n_channels * sizeof *expected);
    TfxBlock from, to;
    CudaRow *row;

    if (i % 2)
      test_cuda_append (&chain, test_cuda_random_delay (400));
    row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
    from = i % 4 < 2
               ? tfx_block_planar (in, TFX_SAMPLE_F64, n_channels, n, n)
               : tfx_block_interleaved (in, TFX_SAMPLE_F64, n_channels, n);
    to = from;
    to.data = expected;
    if (cuda_row_run (row, &from, &to) == 0)
      check_places (&many, chain, i % 4 < 2, in, expected, n_channels, n);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
    free (in);
    free (expected);
  }
  tap_many_end (&many);
}

/* Two channels that change places: each is read after the other may have been
 * written. */
static void
test_swap (void)
{
  TapMany many = tap_many ("a delay line of no delay that swaps channels");
  const TfxTap tap = { .gain = 1.0, .swap = true };
  const size_t n = 333;
  TfxChain *chain = NULL;
  double *in = test_cuda_noise (2 * n);
  double *expected = test_alloc (2 * n * sizeof *expected);

  for (size_t i = 0; i < 2 * n; i++)
    expected[i] = in[i ^ 1];
  test_cuda_append (&chain, tfx_stage_new_delay (1, 0.0, &tap, 1));
  check_places (&many, chain, false, in, expected, 2, n);
  tfx_chain_unref (&chain);
  free (in);
  free (expected);
  tap_many_end (&many);
}

/* Two plans in a row on the device, without waiting between; buffer after
 * buffer goes through. */
static void
test_no_waiting (void)
{
  const size_t n = 777;
  TfxSos sos[12];
  CudaRow *one, *two, *both;
  double *in = test_cuda_noise (n * 5), *out = test_alloc (n * 5 * sizeof *out);
  double *expected = test_alloc (n * 5 * sizeof *expected);
  double *memory = test_cuda_alloc (cuda, n * sizeof *memory);
  TfxBlock device = tfx_block_interleaved (memory, TFX_SAMPLE_F64, 1, n);
  int ret = 0;

  test_cuda_equaliser (sos, 12);
  one = cuda_row_new_sections (sos, 6, 1, tfx_cuda_backend (cuda));
  two = cuda_row_new_sections (sos + 6, 6, 1, tfx_cuda_backend (cuda));
  both = cuda_row_new_sections (sos, 12, 1, tfx_cuda_backend (cuda));
  memcpy (expected, in, n * 5 * sizeof *in);
  tfx_cuda_set_waiting (cuda, false);
  for (unsigned i = 0; ret == 0 && i < 5; i++) {
    TfxBlock from = tfx_block_interleaved (in + i * n, TFX_SAMPLE_F64, 1, n);
    TfxBlock to = tfx_block_interleaved (out + i * n, TFX_SAMPLE_F64, 1, n);

    ret = cuda_row_run (one, &from, &device);
    /* The caller's memory has been read. */
    memset (in + i * n, 0, n * sizeof *in);
    if (ret == 0)
      ret = cuda_row_run (two, &device, i % 2 ? &device : &to);
    if (ret == 0 && i % 2) {
      ret = tfx_cuda_wait (cuda);
      test_cuda_download (cuda, to.data, memory, n * sizeof *out);
    }
  }
  tfx_cuda_set_waiting (cuda, true);
  if (ret == 0)
    ret = cuda_row_f64 (both, expected, 1, n * 5);
  tap_check (ret == 0 && test_cuda_distance (out, expected, n * 5) < 1e-12,
      "two in a row without waiting: %g",
      test_cuda_distance (out, expected, n * 5));
  cuda_row_free (&one);
  cuda_row_free (&two);
  cuda_row_free (&both);
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
    CudaRow *row =
        cuda_row_new_sections (sos, depths[i], 1, tfx_cuda_backend (cuda));
    TfxStats stats;
    int ret = 0;

    for (unsigned k = 0; ret == 0 && k < 3; k++)
      ret = cuda_row_f32 (row, x, 1, 3000);
    stats = cuda_row_stats (row);
    tap_many_check (&many,
        ret == 0 && stats.launches == 3 &&
            stats.uploads == test_cuda_copies (cuda, 3) &&
            stats.downloads == test_cuda_copies (cuda, 3) &&
            stats.dispatches == 3,
        "%zu sections: %llu launches, %llu uploads, %llu downloads", depths[i],
        (unsigned long long)stats.launches, (unsigned long long)stats.uploads,
        (unsigned long long)stats.downloads);
    tap_many_check (&many, strcmp (stats.device, "cuda") == 0, "device %s",
        stats.device);
    cuda_row_free (&row);
  }
  tap_many_end (&many);
}

/* What TorchFX users put together, a launch for each step. */
static void
test_effects (void)
{
  static const TfxTap echo[] = { { 4410, 0.5, false, TFX_TAP_BOTH } };
  static const TfxTap ping_pong[] = { { 300, 0.5, false, TFX_TAP_RIGHT },
    { 600, 0.25, true, TFX_TAP_LEFT }, { 900, 0.125, true, TFX_TAP_RIGHT } };
  TapMany many = tap_many ("a launch for each step of a chain");
  TfxSos sos[4];

  test_cuda_equaliser (sos, 4);
  for (unsigned i = 0; i < 5; i++) {
    TfxChain *chain = tfx_chain_new ();
    TfxChain *branches[2] = { test_cuda_chain (tfx_stage_new_id (), sos, 2),
      test_cuda_chain (tfx_stage_new_id (), sos + 2, 2) };
    static const unsigned expected[] = { 1, 1, 1, 2, 4 };
    CudaRow *row;
    TfxStats stats;
    double *x = test_cuda_noise (2 * 1024);
    int ret = 0;

    if (i == 0 || i == 4)
      test_cuda_append (&chain,
          tfx_stage_new_delay (tfx_stage_new_id (), 1, echo, 1));
    if (i == 1 || i == 4)
      test_cuda_append (&chain,
          tfx_stage_new_delay (tfx_stage_new_id (), 0.8, ping_pong, 3));
    if (i != 3)
      test_cuda_append (&chain, tfx_stage_new_gain (tfx_stage_new_id (), 0.5));
    if (i == 3 || i == 4)
      test_cuda_append (&chain,
          tfx_stage_new_sum (tfx_stage_new_id (), branches, 2));
    row = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
    for (unsigned k = 0; ret == 0 && k < 3; k++)
      ret = cuda_row_f64 (row, x, 2, 1024);
    stats = cuda_row_stats (row);
    tap_many_check (&many,
        ret == 0 && stats.launches == 3 * expected[i] &&
            stats.uploads == test_cuda_copies (cuda, 3) &&
            stats.downloads == test_cuda_copies (cuda, 3),
        "chain %u: returns %d, %llu launches, %llu uploads, %llu downloads", i,
        ret, (unsigned long long)stats.launches,
        (unsigned long long)stats.uploads, (unsigned long long)stats.downloads);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
    tfx_chain_unref (&branches[0]);
    tfx_chain_unref (&branches[1]);
    free (x);
  }
  tap_many_end (&many);
}

/* Once it has run, a run asks the driver for no memory, and waits once. */
static void
test_no_allocation (void)
{
  static const char *const functions[] = { "cuMemAlloc_v2:1",
    "cuMemHostAlloc:1", "cuMemFree_v2:1", "cuMemFreeHost:1",
    "cuModuleLoadData:1", "cuModuleGetFunction:1", "cuStreamCreate:1",
    "cuEventCreate:1", "cuStreamQuery:1", "cuEventQuery:2",
    "cuMemcpyHtoDAsync_v2:2", "cuMemcpyDtoHAsync_v2:2" };
  TapMany many = tap_many ("no allocation and one wait while it runs");
  TfxChain *chain;
  CudaRow *row;
  float x[2 * 2500] = { 1 };
  int ret;

  if (!test_cuda_is_standin ()) {
    tap_skip ("needs the stand-in", "no allocation and one wait while it runs");
    return;
  }
  chain = test_cuda_random_chain (2, 1000);
  test_cuda_append (&chain, test_cuda_random_sum (2, 300));
  row = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
  ret = cuda_row_f32 (row, x, 2, 2500);
  for (size_t i = 0; i < N_OF (functions); i++) {
    for (unsigned k = 0; ret == 0 && k < 4; k++) {
      test_cuda_set ("TFX_STANDIN_FAIL", functions[i]);
      ret = cuda_row_f32 (row, x, 2, 2500 - 800 * k);
      /* Counting starts afresh. */
      test_cuda_set ("TFX_STANDIN_FAIL", NULL);
      tfx_cuda_wait (cuda);
    }
    tap_many_check (&many, ret == 0, "%s is called", functions[i]);
    ret = 0;
  }
  tap_many_end (&many);
  cuda_row_free (&row);
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
  CudaRow *row =
      cuda_row_new_sections (w->sos, w->n_sos, 1, tfx_cuda_backend (cuda));

  w->ret = row ? 0 : -1;
  for (size_t i = 0; w->ret == 0 && i + 100 <= w->n; i += 100)
    w->ret = cuda_row_f64 (row, w->samples + i, 1, 100);
  cuda_row_free (&row);
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
    workers[i] = (Worker){ sos[i], 1 + i, test_cuda_noise (2000), 2000, 0 };
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
            test_cuda_distance (workers[i].samples, expected[i], 2000) < 1e-11,
        "thread %u: %g", i,
        test_cuda_distance (workers[i].samples, expected[i], 2000));
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

/* The error of a stream is not that of another one on the same device. */
static void
test_error_of_thread (void)
{
  double samples[200] = { 1 };
  TfxSos sos[4];
  Worker worker = { sos, 4, samples, 200, 0 };
  pthread_t thread;
  char before[256], here[256], there[256];

  if (!test_cuda_is_standin ()) {
    tap_skip ("needs the stand-in", "an error is that of its thread");
    return;
  }
  test_cuda_equaliser (sos, 4);
  tfx_cuda_error (cuda, before, sizeof before);
  test_cuda_set ("TFX_STANDIN_FAIL", "cuLaunchKernel:1");
  pthread_create (&thread, NULL, worker_run, &worker);
  pthread_join (thread, NULL);
  test_cuda_set ("TFX_STANDIN_FAIL", NULL);
  tfx_cuda_error (cuda, here, sizeof here);
  tap_check (worker.ret < 0 && strcmp (here, before) == 0,
      "another thread fails (%d): \"%s\"", worker.ret, here);
  /* Counting starts afresh. */
  tfx_cuda_wait (cuda);
  test_cuda_set ("TFX_STANDIN_FAIL", "cuLaunchKernel:1");
  worker_run (&worker);
  test_cuda_set ("TFX_STANDIN_FAIL", NULL);
  tfx_cuda_error (cuda, there, sizeof there);
  tap_check (strstr (there, "starting a kernel"), "this one fails: \"%s\"",
      there);
}

static const TapTest tests[] = {
  { "places", test_places },
  { "swap", test_swap },
  { "no-waiting", test_no_waiting },
  { "counts", test_counts },
  { "effects", test_effects },
  { "no-allocation", test_no_allocation },
  { "threads", test_threads },
  { "error-of-thread", test_error_of_thread },
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
