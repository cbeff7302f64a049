/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_waits.c: how the host waits for a slow device, and for one that hangs. */
#include "core/block.h"
#include "chains.h"
#include "levels.h"
#include "tap.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define N_CHANNELS 2
#define N_FRAMES 480

static char report_path[64];

static double
seconds (clockid_t clock)
{
  struct timespec t;

  clock_gettime (clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static CudaRow *
new_row (TfxCuda *cuda)
{
  TfxSos sos[TEST_API_SECTIONS];

  test_cuda_api (sos);
  return cuda_row_new_sections (sos, TEST_API_SECTIONS, N_CHANNELS,
      tfx_cuda_backend (cuda));
}

/* Blocks of noise on the device alone. */
static int
run (CudaRow *row, size_t n_frames, unsigned n_blocks)
{
  float *x = test_alloc (n_frames * N_CHANNELS * sizeof *x);
  const TfxBlock block =
      tfx_block_interleaved (x, TFX_SAMPLE_F32, N_CHANNELS, n_frames);
  int ret = 0;

  test_noise_f32 (x, n_frames * N_CHANNELS);
  tfx_filter_lock (row->filter);
  for (unsigned i = 0; ret >= 0 && i < n_blocks; i++)
    ret = tfx_plan_run (row->plan, &block, &block);
  tfx_filter_unlock (row->filter);
  free (x);
  return ret;
}

/* ---- a slow device ---------------------------------------------------------- */

/* The waiting thread sleeps. */
static void
test_sleeps (void)
{
  TfxCuda *cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  CudaRow *row = new_row (cuda);
  double wall, cpu;
  int ret = run (row, N_FRAMES, 2);

  test_cuda_set ("TFX_STANDIN_KERNELS", "none");
  test_cuda_set ("TFX_STANDIN_SLOW", "20000");
  wall = seconds (CLOCK_MONOTONIC);
  cpu = seconds (CLOCK_THREAD_CPUTIME_ID);
  if (ret == 0)
    ret = run (row, N_FRAMES, 10);
  cpu = seconds (CLOCK_THREAD_CPUTIME_ID) - cpu;
  wall = seconds (CLOCK_MONOTONIC) - wall;
  test_cuda_set ("TFX_STANDIN_SLOW", NULL);
  test_cuda_set ("TFX_STANDIN_KERNELS", NULL);
  tap_check (ret == 0 && wall > 0.2 && cpu < 0.1 * wall,
      "%d: %.3f s of a core in %.3f s", ret, cpu, wall);
  cuda_row_free (&row);
  tfx_cuda_unref (&cuda);
}

/* The driver's own waits, which have no timeout, are not called; and once the usual
 * time is known there are few queries. */
static void
test_calls (void)
{
  static const char *const functions[] = { "cuEventSynchronize:1,719,short",
    "cuStreamSynchronize:1,719,short", "cuEventQuery:25,719,short" };
  TapMany many = tap_many ("calls that wait for 3 ms");
  TfxCuda *cuda = test_cuda_new (TEST_CUDA_DOUBLE);

  test_cuda_set ("TFX_STANDIN_SLOW", "3000");
  for (size_t i = 0; i < N_OF (functions); i++) {
    CudaRow *row = new_row (cuda);
    int ret = run (row, N_FRAMES, 2);

    test_cuda_set ("TFX_STANDIN_FAIL", functions[i]);
    if (ret == 0)
      ret = run (row, N_FRAMES, 1);
    if (ret == 0)
      ret = tfx_cuda_wait (cuda);
    cuda_row_free (&row);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    tap_many_check (&many, ret == 0, "%s is called", functions[i]);
  }
  test_cuda_set ("TFX_STANDIN_SLOW", NULL);
  tfx_cuda_unref (&cuda);
  tap_many_end (&many);
}

/* A long run may take more than a second. */
static void
test_patience (void)
{
  TfxCuda *cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  CudaRow *row = new_row (cuda);
  int ret;

  test_cuda_set ("TFX_STANDIN_SLOW", "1200000");
  ret = run (row, 200000, 1);
  test_cuda_set ("TFX_STANDIN_SLOW", NULL);
  tap_check (ret == 0 && !tfx_cuda_is_lost (cuda),
      "400000 samples in 1.2 s: %d", ret);
  cuda_row_free (&row);
  tfx_cuda_unref (&cuda);
}

/* Keeps the stream that device memory uses busy, until the waiting thread has returned or
 * for 0.9 s. */
typedef struct Feeder
{
  CudaRow *row;
  TfxBlock block;
  bool is_back; /* atomic: the waiting thread has returned */
  int ret;
} Feeder;

static void *
feed (void *data)
{
  Feeder *feeder = data;
  const double start = seconds (CLOCK_MONOTONIC);
  double time = 0.0;

  for (unsigned n = 0; feeder->ret == 0 && time < 0.9 &&
                       !__atomic_load_n (&feeder->is_back, __ATOMIC_ACQUIRE);
       time = seconds (CLOCK_MONOTONIC) - start) {
    /* 20 ms of work are always left. */
    if ((double)n * 0.003 < time + 0.02) {
      feeder->ret = cuda_row_run (feeder->row, &feeder->block, &feeder->block);
      n++;
    }
    usleep (100);
  }
  return NULL;
}

/* A wait ends with the work that was queued before it. */
static void
test_busy_stream (void)
{
  TfxCuda *cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  Feeder feeder = { .row = new_row (cuda),
    .block = tfx_block_interleaved (test_cuda_alloc (cuda,
                                        N_FRAMES * N_CHANNELS * sizeof (float)),
        TFX_SAMPLE_F32, N_CHANNELS, N_FRAMES) };
  pthread_t thread;
  double start;
  int ret;

  tfx_cuda_set_waiting (cuda, false);
  do {
    feeder.ret = cuda_row_run (feeder.row, &feeder.block, &feeder.block);
  } while (feeder.ret == -EINPROGRESS); /* the kernel is being compiled */
  test_cuda_set ("TFX_STANDIN_KERNELS", "none");
  test_cuda_set ("TFX_STANDIN_SLOW", "3000");
  if (pthread_create (&thread, NULL, feed, &feeder) != 0)
    exit (1);
  usleep (50000);
  start = seconds (CLOCK_MONOTONIC);
  ret = tfx_cuda_wait (cuda);
  start = seconds (CLOCK_MONOTONIC) - start;
  __atomic_store_n (&feeder.is_back, true, __ATOMIC_RELEASE);
  pthread_join (thread, NULL);
  test_cuda_set ("TFX_STANDIN_SLOW", NULL);
  test_cuda_set ("TFX_STANDIN_KERNELS", NULL);
  tap_check (ret == 0 && feeder.ret == 0 && start < 0.5,
      "a wait on a busy stream returns after %.3f s: %d, %d", start, ret,
      feeder.ret);
  cuda_row_free (&feeder.row);
  tfx_cuda_unref (&cuda);
}

/* ---- a device that hangs ---------------------------------------------------- */

/* By intent these are never freed. */
static TfxCuda *hung[3];

/* Each test opens another device, since it cannot be used afterwards. */
static TfxCuda *
open_device (int ordinal)
{
  char why[256];

  test_cuda_set ("TFX_STANDIN_DEVICES", "3");
  test_cuda_set ("TFX_STANDIN_REPORT", report_path);
  unlink (report_path);
  if (tfx_cuda_new (ordinal, &hung[ordinal], why, sizeof why) < 0) {
    tap_diag ("%s", why);
    exit (1);
  }
  return hung[ordinal];
}

/* From here on kernels do not end.  Returns the time. */
static double
hang (void)
{
  test_cuda_set ("TFX_STANDIN_SLOW", "never");
  alarm (20);
  return seconds (CLOCK_MONOTONIC);
}

/* All waits together took a second, and no call was made in which a driver would wait
 * for the device. */
static void
end (TfxCuda *cuda, double start)
{
  const double time = seconds (CLOCK_MONOTONIC) - start;

  alarm (0);
  tap_check (time > 0.9 && time < 1.9, "all of it takes %.2f s", time);
  tap_check (tfx_cuda_is_lost (cuda), "the device is lost");
  tfx_cuda_unref (&cuda);
  tap_check (access (report_path, F_OK) != 0, "no call waits for the device");
  test_cuda_set ("TFX_STANDIN_SLOW", NULL);
  test_cuda_set ("TFX_STANDIN_REPORT", NULL);
  unlink (report_path);
}

/* Whether the CPU can run the filter. */
static bool
cpu_runs (CudaRow *row)
{
  float x[N_FRAMES * N_CHANNELS] = { 1.0f };
  int ret = cuda_row_go_to (row, tfx_cpu_backend ());

  if (ret == 0)
    ret = cuda_row_f32 (row, x, N_CHANNELS, N_FRAMES);
  return ret == 0 && x[0] != 1.0f;
}

static void
test_hangs (void)
{
  TfxCuda *cuda = open_device (0);
  CudaRow *row = new_row (cuda), *other = new_row (cuda);
  const int fine = run (row, N_FRAMES, 2) + run (other, N_FRAMES, 2);
  const double start = hang ();
  const int ret = run (row, N_FRAMES, 1);
  char error[512], expected[512];

  tfx_cuda_error (cuda, error, sizeof error);
  snprintf (expected, sizeof expected,
      "%s: the device has not answered for 1.0 s", tfx_cuda_name (cuda));
  tap_check (fine == 0 && ret == -EIO, "a run returns: %d, %d", fine, ret);
  tap_check (strcmp (error, expected) == 0, "the error is \"%s\"", error);
  tap_check (run (other, N_FRAMES, 1) == -EIO && tfx_cuda_wait (cuda) == -EIO,
      "other streams have lost it too");
  tap_check (cpu_runs (row), "the CPU continues");
  cuda_row_free (&row);
  cuda_row_free (&other);
  end (cuda, start);
}

/* The first wait is that of a read of the state, after a run in device memory. */
static void
test_hangs_reading (void)
{
  TfxCuda *cuda = open_device (1);
  const TfxDynamics dynamics = levels_compressor (-20, 4, 0.001, 0.05, 6);
  TfxChain *chain = tfx_chain_new ();
  CudaRow *row;
  void *x = test_cuda_alloc (cuda, N_FRAMES * N_CHANNELS * sizeof (double));
  const TfxBlock block =
      tfx_block_interleaved (x, TFX_SAMPLE_F64, N_CHANNELS, N_FRAMES);
  double start;
  int ret;

  /* Two kinds of state. */
  test_cuda_append (&chain,
      tfx_stage_new_dynamics (tfx_stage_new_id (), &dynamics));
  test_cuda_append (&chain, test_cuda_random_delay (900));
  row = cuda_row_new (chain, N_CHANNELS, tfx_cuda_backend (cuda));
  ret = cuda_row_run (row, &block, &block);
  tfx_cuda_set_waiting (cuda, false);
  start = hang ();
  if (ret == 0)
    ret = cuda_row_run (row, &block, &block);
  tap_check (ret == 0 && row->n_by_cpu == 0, "a run is queued");
  tap_check (!cuda_row_is_silent (row), "a state that is lost is not silent");
  tap_check (cpu_runs (row), "the CPU continues");
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  end (cuda, start);
}

/* In-flight blocks, whose plan is freed afterwards. */
static void
test_hangs_in_flight (void)
{
  TfxCuda *cuda = open_device (2);
  CudaRow *row = new_row (cuda);
  float x[2][N_FRAMES * N_CHANNELS] = { { 1.0f } };
  TfxFlight flights[2] = { { 0 } };
  double start;
  int ret = run (row, N_FRAMES, 2);

  start = hang ();
  tfx_filter_lock (row->filter);
  for (unsigned i = 0; ret == 0 && i < 2; i++) {
    const TfxBlock block =
        tfx_block_interleaved (x[i], TFX_SAMPLE_F32, N_CHANNELS, N_FRAMES);

    ret = tfx_plan_start (row->plan, &block, &block, &flights[i]);
  }
  tap_check (ret == 0 && tfx_plan_finish (row->plan, &flights[0]) == -EIO,
      "a flight returns: %d", ret);
  tfx_filter_unlock (row->filter);
  tap_check (cpu_runs (row), "the CPU continues");
  tap_check (flights[0].n_done + flights[1].n_done == 0, "no frame is done");
  cuda_row_free (&row);
  end (cuda, start);
}

static void
test_nothing (void)
{
  tap_skip ("needs the stand-in", "waits");
}

int
main (int argc, char **argv)
{
  /* The first device is of no use after "hangs". */
  static const TapTest tests[] = { { "sleeps", test_sleeps },
    { "calls", test_calls }, { "busy-stream", test_busy_stream },
    { "patience", test_patience }, { "hangs", test_hangs },
    { "hangs-reading", test_hangs_reading },
    { "hangs-in-flight", test_hangs_in_flight }, { NULL, NULL } };
  static const TapTest none[] = { { "waits", test_nothing }, { NULL, NULL } };

  snprintf (report_path, sizeof report_path, "/tmp/tfx-waits-%d",
      (int)getpid ());
  return tap_main (argc, argv, test_cuda_is_standin () ? tests : none);
}
