/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_traps.c: faults that a device rejects, or turns into wrong samples, and a
 * host does not notice: memory that is freed or read too early, memory of another
 * device, unnecessary memory. */
#include "chains.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Blocks grow on the device without waits: smaller buffers are freed while kernels
 * still use them. */
static void
test_grow (void)
{
  static const size_t lengths[] = { 500, 1000, 2000, 4000, 9000 };
  const size_t n_all = 16500;
  TapMany many = tap_many ("memory is freed when nothing uses it any more");

  for (unsigned k = 0; k < 6; k++) {
    TfxCuda *cuda = test_cuda_new (NULL);
    TfxChain *chain = test_cuda_random_chain (2, 700);
    const char *report;
    double *memory;
    size_t first = 0;
    CudaPair p;

    test_cuda_append (&chain, test_cuda_random_sum (2, 600));
    test_cuda_set ("TFX_STANDIN_ASYNC", k % 2 ? "late" : "apart");
    p = cuda_pair_new (chain, 1, n_all, cuda);
    memory = test_cuda_alloc (cuda, n_all * sizeof *memory);
    test_cuda_upload (cuda, memory, p.have, n_all * sizeof *memory);
    tfx_cuda_set_waiting (cuda, false);
    for (size_t i = 0; p.ret == 0 && i < N_OF (lengths); i++) {
      TfxBlock block =
          tfx_block_interleaved (memory + first, TFX_SAMPLE_F64, 1, lengths[i]);

      /* Nobody waits for a compiler either. */
      while ((p.ret = cuda_row_run (p.row, &block, &block)) == -EINPROGRESS)
        usleep (1000);
      first += lengths[i];
    }
    test_cuda_download (cuda, p.have, memory, n_all * sizeof *memory);
    cuda_row_free (&p.row);
    test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
    cuda_pair_there (&p, 0, n_all);
    tap_many_check (&many, p.ret == 0 && cuda_pair_distance (&p) < 1e-11,
        "returns %d, %g", p.ret, cuda_pair_distance (&p));
    report = test_cuda_report ();
    tap_many_check (&many, report[0] == '\0', "the stand-in has seen it: %s",
        report);
    cuda_pair_free (&p);
    test_cuda_free (cuda, memory);
    tfx_cuda_unref (&cuda);
  }
  tap_many_end (&many);
}

/* A kernel that gets memory of another device faults, and the context with it. */
static void
test_other_device (void)
{
  TapMany many = tap_many ("memory of another device is refused");
  const TfxSos sos = { .b0 = 0.5 };
  double *samples[2], x[100] = { 0 };
  TfxCuda *cudas[2] = { NULL, NULL };
  char why[256] = "";
  CudaRow *row;

  test_cuda_set ("TFX_STANDIN_DEVICES", "2");
  if (tfx_cuda_new (0, &cudas[0], why, sizeof why) < 0 ||
      tfx_cuda_new (1, &cudas[1], why, sizeof why) < 0) {
    tap_skip ("needs two devices", "memory of another device: %s", why);
    tfx_cuda_unref (&cudas[0]);
    return;
  }
  for (unsigned i = 0; i < 2; i++)
    samples[i] = test_cuda_alloc (cudas[i], sizeof x);
  row = cuda_row_new_sections (&sos, 1, 1, tfx_cuda_backend (cudas[0]));
  for (unsigned i = 1; i < 4; i++) {
    TfxBlock in = tfx_block_interleaved (i & 1 ? samples[1] : samples[0],
        TFX_SAMPLE_F64, 1, 100);
    TfxBlock out = tfx_block_interleaved (i & 2 ? samples[1] : samples[0],
        TFX_SAMPLE_F64, 1, 100);
    uint64_t before = cuda_row_stats (row).launches;
    int ret = tfx_plan_run (row->plan, &in, &out);

    tfx_cuda_error (cudas[0], why, sizeof why);
    tap_many_check (&many,
        ret == -EINVAL && cuda_row_stats (row).launches == before,
        "%u: returns %d", i, ret);
    tap_many_check (&many,
        strstr (why, "memory of CUDA device 1, and this is device 0") != NULL,
        "it says \"%s\"", why);
  }
  tap_many_check (&many,
      cuda_row_f64 (row, x, 1, 100) == 0 && !tfx_cuda_is_lost (cudas[0]),
      "and the device continues");
  cuda_row_free (&row);
  for (unsigned i = 0; i < 2; i++) {
    test_cuda_free (cudas[i], samples[i]);
    tfx_cuda_unref (&cudas[i]);
  }
  test_cuda_set ("TFX_STANDIN_DEVICES", NULL);
  tap_many_end (&many);
}

/* Two runs are in flight, and both clear a channel: their bytes are read when the
 * kernels have ended, for each run separately. */
static void
test_recoveries (void)
{
  TapMany many = tap_many ("clearances are counted behind the kernels");

  for (unsigned late = 0; late < 2; late++) {
    const size_t n = 600;
    TfxCuda *cuda = test_cuda_new (NULL);
    double *x = test_cuda_noise (4 * n * 2);
    double *memory = test_cuda_alloc (cuda, 4 * n * 2 * sizeof *x);
    TfxSos sos[2];
    CudaRow *row;
    TfxStats stats;
    int ret = 0;

    test_cuda_set ("TFX_STANDIN_ASYNC", late ? "late" : NULL);
    test_cuda_equaliser (sos, 2);
    row = cuda_row_new_sections (sos, 2, 2, tfx_cuda_backend (cuda));
    for (unsigned i = 0; i < 2; i++)
      x[i * n * 2 + 40] = x[i * n * 2 + 41] = NAN;
    test_cuda_upload (cuda, memory, x, 4 * n * 2 * sizeof *x);
    tfx_cuda_set_waiting (cuda, false);
    for (unsigned i = 0; ret == 0 && i < 4; i++) {
      TfxBlock block =
          tfx_block_interleaved (memory + i * n * 2, TFX_SAMPLE_F64, 2, n);

      if (i == 3)
        tfx_cuda_set_waiting (cuda, true);
      ret = cuda_row_run (row, &block, &block);
    }
    stats = cuda_row_stats (row);
    tap_many_check (&many, ret == 0 && stats.recoveries == 4,
        "%s: returns %d, %llu of 4 clearances", late ? "late" : "early", ret,
        (unsigned long long)stats.recoveries);
    test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
    cuda_row_free (&row);
    test_cuda_free (cuda, memory);
    tfx_cuda_unref (&cuda);
    free (x);
  }
  tap_many_end (&many);
}

/* The most bytes that were there at a time, beside those at the start. */
static void
read_memory (const char *path, double *device, double *pinned)
{
  FILE *file = fopen (path, "r");
  char line[256];

  *device = *pinned = 0;
  while (file && fgets (line, sizeof line, file))
    sscanf (line, "memory %lf %lf", device, pinned);
  if (file)
    fclose (file);
  unlink (path);
}

/* A block of floats takes its size in pinned memory and on the device, up and
 * down. */
static void
test_room (void)
{
  const size_t n = 300000;
  const double size = (double)n * sizeof (float), rest = 200e3;
  char path[96];
  TfxCuda *cuda = test_cuda_new (NULL);
  float *x = test_alloc (n * sizeof *x);
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = 1,
    .sample = TFX_SAMPLE_F32,
    .block_frames = n };
  TfxSos sos[2];
  TfxChain *chain;
  CudaRow *row;
  double device, pinned;
  int ret;

  snprintf (path, sizeof path, "/tmp/tfx-traps-%d", (int)getpid ());
  test_cuda_equaliser (sos, 2);
  chain = test_cuda_chain (tfx_stage_new_id (), sos, 2);
  test_noise_f32 (x, n);
  test_cuda_set ("TFX_STANDIN_TIMELINE", path);
  test_cuda_set ("TFX_STANDIN_KERNELS", "none");
  row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
  ret = cuda_row_f32 (row, x, 1, n);
  test_cuda_set ("TFX_STANDIN_KERNELS", NULL);
  test_cuda_set ("TFX_STANDIN_TIMELINE", NULL);
  read_memory (path, &device, &pinned);
  tap_check (ret == 0 && pinned > 0 && pinned < 2 * size + rest,
      "pinned memory is %.1f times the block's size", pinned / size);
  tap_check (device > 0 && device < 2 * size + rest,
      "and device memory %.1f times", device / size);
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  tfx_cuda_unref (&cuda);
  free (x);
}

static const TapTest tests[] = {
  { "grow", test_grow },
  { "other-device", test_other_device },
  { "recoveries", test_recoveries },
  { "room", test_room },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  test_cuda_report ();
  return test_cuda_main_standin (argc, argv, tests);
}
