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

static TfxBlock
block_of (double *x, bool planar, unsigned n_channels, size_t n)
{
  return planar ? tfx_block_planar (x, TFX_SAMPLE_F64, n_channels, n, n)
                : tfx_block_interleaved (x, TFX_SAMPLE_F64, n_channels, n);
}

/* in and out on host or device, apart or in place; layouts. */
static void
check_places (TapMany *many, TfxChain *chain, bool planar, const double *in,
    const double *expected, unsigned n_channels, size_t n)
{
  size_t size = n * n_channels;
  double *out = test_alloc (size * sizeof *out);

  for (unsigned way = 0; way < 5; way++) {
    bool in_place = way == 4, in_there = way & 1 || in_place;
    bool out_there = way & 2 || in_place;
    CudaRow *row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
    double *host = test_alloc (size * sizeof *host);
    double *d_in = to_device (in, size), *d_out = to_device (in, size);
    TfxBlock from = block_of (in_there ? d_in : host, planar, n_channels, n);
    TfxBlock to = from;
    int ret;

    memcpy (host, in, size * sizeof *host);
    if (!in_place)
      to.data = out_there ? d_out : out;
    ret = cuda_row_run (row, &from, &to);
    if (out_there)
      test_cuda_download (cuda, out, to.data, size * sizeof *out);
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

/* As from and to the host, in the same layout; and two channels that change places:
 * each is read after the other may have been written. */
static void
test_places (void)
{
  static const TfxTap swap = { .gain = 1.0, .swap = true };
  TapMany many = tap_many ("host or device memory does not matter");
  TapMany swaps = tap_many ("a delay line of no delay that swaps channels");

  for (unsigned i = 0; i < 17; i++) {
    const bool swaps_them = i == 16, planar = i % 4 < 2 && !swaps_them;
    const unsigned n_channels = swaps_them ? 2 : 1 + i % 4;
    const size_t n = i % 3 ? 333 : 3333;
    TfxChain *chain =
        swaps_them ? test_cuda_chain_of (tfx_stage_new_delay (1, 0, &swap, 1))
                   : test_cuda_random_chain (2, 400);
    double *in = test_cuda_noise (n * n_channels);
    double *expected = test_alloc (n * n_channels * sizeof *expected);
    TfxBlock from = block_of (in, planar, n_channels, n);
    TfxBlock to = block_of (expected, planar, n_channels, n);
    CudaRow *row;

    if (i % 2)
      test_cuda_append (&chain, test_cuda_random_delay (400));
    row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
    if (swaps_them) {
      for (size_t k = 0; k < 2 * n; k++)
        expected[k] = in[k ^ 1];
    } else {
      tap_many_check (&many, cuda_row_run (row, &from, &to) == 0, "chain %u",
          i);
    }
    check_places (swaps_them ? &swaps : &many, chain, planar, in, expected,
        n_channels, n);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
    free (in);
    free (expected);
  }
  tap_many_end (&many);
  tap_many_end (&swaps);
}

/* Two plans in a row on the device, without waiting between; buffer after
 * buffer goes through. */
static void
test_no_waiting (void)
{
  const size_t n = 777;
  TfxSos sos[12];
  double *memory = test_cuda_alloc (cuda, n * sizeof *memory);
  TfxBlock device = tfx_block_interleaved (memory, TFX_SAMPLE_F64, 1, n);
  CudaRow *one, *two;
  double *in;
  CudaPair p;

  test_cuda_equaliser (sos, 12);
  one = cuda_row_new_sections (sos, 6, 1, tfx_cuda_backend (cuda));
  two = cuda_row_new_sections (sos + 6, 6, 1, tfx_cuda_backend (cuda));
  p = cuda_pair_new (test_cuda_chain (tfx_stage_new_id (), sos, 12), 1, n * 5,
      cuda);
  in = test_alloc (p.n * sizeof *in);
  memcpy (in, p.want, p.n * sizeof *in);
  cuda_row_go_to (p.plain, p.backends[0]);
  tfx_cuda_set_waiting (cuda, false);
  for (unsigned i = 0; p.ret == 0 && i < 5; i++) {
    TfxBlock from = tfx_block_interleaved (in + i * n, TFX_SAMPLE_F64, 1, n);
    TfxBlock to = tfx_block_interleaved (p.have + i * n, TFX_SAMPLE_F64, 1, n);

    p.ret = cuda_row_run (one, &from, &device);
    /* The caller's memory has been read. */
    memset (in + i * n, 0, n * sizeof *in);
    if (p.ret == 0)
      p.ret = cuda_row_run (two, &device, i % 2 ? &device : &to);
    if (p.ret == 0 && i % 2) {
      p.ret = tfx_cuda_wait (cuda);
      test_cuda_download (cuda, to.data, memory, n * sizeof *in);
    }
  }
  tfx_cuda_set_waiting (cuda, true);
  cuda_pair_there (&p, 0, n * 5);
  tap_check (cuda_pair_agrees (&p, 1e-12),
      "two in a row without waiting: returns %d, %g", p.ret,
      cuda_pair_distance (&p));
  cuda_row_free (&one);
  cuda_row_free (&two);
  cuda_pair_free (&p);
  test_cuda_free (cuda, memory);
  free (in);
}

/* ---- counts -------------------------------------------------------------------------------------- */

/* Cascades, and what TorchFX users put together: a launch for each step. */
static void
test_counts (void)
{
  static const struct
  {
    const char *text;
    unsigned n_launches;
  } effects[] = {
    { "Delay(4410, feedback=0.5, taps=1) | Gain(0.5)", 1 },
    { "Delay(300, strategy='ping-pong', taps=3) | Gain(0.5)", 1 },
    { "Gain(0.5)", 1 },
    { "HiButterworth(300, order=4) + LoButterworth(900, order=4)", 2 },
    { "Delay(4410, feedback=0.5, taps=1) | "
      "Delay(300, strategy='ping-pong', taps=3) | Gain(0.5) | "
      "(HiButterworth(300, order=4) + LoButterworth(900, order=4))",
        4 },
  };
  static const size_t depths[] = { 1, 2, 6, 7, 20, 50 };
  TapMany many = tap_many ("one upload, one download, a launch for each step");
  TfxSos sos[50];
  char what[32];

  test_cuda_equaliser (sos, 50);
  for (size_t i = 0; i < N_OF (depths); i++) {
    CudaRow *row =
        cuda_row_new_sections (sos, depths[i], 1, tfx_cuda_backend (cuda));

    snprintf (what, sizeof what, "%zu sections", depths[i]);
    cuda_row_check_work (&many, row, cuda, 1, TFX_SAMPLE_F32, 3000, 1, what);
    cuda_row_free (&row);
  }
  for (size_t i = 0; i < N_OF (effects); i++) {
    TfxChain *chain = test_cuda_parse (effects[i].text, 2);
    CudaRow *row = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));

    cuda_row_check_work (&many, row, cuda, 2, TFX_SAMPLE_F64, 1024,
        effects[i].n_launches, effects[i].text);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
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
    "cuEventCreate:1", "cuEventQuery:2", "cuMemcpyHtoDAsync_v2:2",
    "cuMemcpyDtoHAsync_v2:2" };
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

  w->ret = 0;
  for (size_t i = 0; w->ret == 0 && i + 100 <= w->n; i += 100)
    w->ret = cuda_row_f64 (row, w->samples + i, 1, 100);
  cuda_row_free (&row);
  return NULL;
}

static void
test_threads (void)
{
  TapMany many = tap_many ("several threads on one device");
  double *expected[4];
  TfxSos sos[4][4];
  Worker workers[4];
  pthread_t threads[4];

  for (unsigned i = 0; i < 4; i++) {
    test_cuda_equaliser (sos[i], 4);
    workers[i] = (Worker){ sos[i], 1 + i, test_cuda_noise (2000), 2000, 0 };
    expected[i] = test_alloc (2000 * sizeof *expected[i]);
    test_run_f64 (sos[i], 1 + i, workers[i].samples, expected[i], 2000, NULL);
  }
  for (unsigned i = 0; i < 4; i++)
    pthread_create (&threads[i], NULL, worker_run, &workers[i]);
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
  { "no-waiting", test_no_waiting },
  { "counts", test_counts },
  { "no-allocation", test_no_allocation },
  { "threads", test_threads },
  { "error-of-thread", test_error_of_thread },
  { "errors", test_errors },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, tests, TEST_CUDA_DOUBLE, &cuda);
}
