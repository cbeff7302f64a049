/* SPDX-License-Identifier: LGPL-2.1-or-later
 * counts.c: what a sample costs a device, counted where there is none.
 *
 *   ptx_counts [api] [fir] [fft]
 *
 * Runs blocks on the stand-in that interprets PTX, which counts instructions of
 * threads, 32-byte sectors of global memory and passes over the banks of shared
 * memory; and says what published rates of some cards make of them.  That is
 * computed, not measured: no card takes less, all take more. */
#include "buffer.h"
#include "chains.h"
#include "counts.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The api chain of 8 channels × 120 s at 44,100 Hz. */
#define SAMPLES 42336000.0

typedef struct Case
{
  const char *group, *name;
  unsigned n_channels;
  bool is_planar;
  TfxSample type;
  size_t n_taps; /* 0: the api chain */
  TfxFirMethod method;
  size_t n_frames;
} Case;

#define API(text, n, planar, type)                                             \
  {                                                                            \
    "api", text, n, planar, type, 0, TFX_FIR_AUTO, 48000                       \
  }
#define FIR(group, text, taps, method, frames)                                 \
  {                                                                            \
    group, text, 2, true, TFX_SAMPLE_F32, taps, method, frames                 \
  }

static const Case cases[] = {
  API ("api, 1 ch", 1, false, TFX_SAMPLE_F32),
  API ("api, 2 ch interleaved", 2, false, TFX_SAMPLE_F32),
  API ("api, 8 ch interleaved", 8, false, TFX_SAMPLE_F32),
  API ("api, 64 ch interleaved", 64, false, TFX_SAMPLE_F32),
  API ("api, 2 ch planar", 2, true, TFX_SAMPLE_F32),
  API ("api, 8 ch planar", 8, true, TFX_SAMPLE_F32),
  API ("api, 64 ch planar", 64, true, TFX_SAMPLE_F32),
  API ("api, 8 ch interleaved, F64", 8, false, TFX_SAMPLE_F64),
  API ("api, 8 ch planar, F64", 8, true, TFX_SAMPLE_F64),
  FIR ("fir", "FIR 101 taps, direct", 101, TFX_FIR_DIRECT, 48000),
  FIR ("fir", "FIR 511 taps, direct", 511, TFX_FIR_DIRECT, 48000),
  FIR ("fft", "FIR 4096 taps, FFT", 4096, TFX_FIR_FFT, 48000),
  FIR ("fft", "FIR 65536 taps, FFT", 65536, TFX_FIR_FFT, 96000),
};

#define N_CASES N_OF (cases)

static TfxCuda *cudas[2];
static char path[64];

static TfxChain *
make_chain (const Case *c)
{
  TfxChain *chain = tfx_chain_new ();

  if (c->n_taps == 0) {
    TfxSos sos[TEST_API_SECTIONS];

    test_cuda_api (sos);
    test_cuda_append (&chain,
        tfx_stage_new_sections (tfx_stage_new_id (), sos, TEST_API_SECTIONS));
  } else {
    double *taps = test_cuda_noise (c->n_taps);
    const double *kernels[] = { taps };

    test_cuda_append (&chain, tfx_stage_new_fir (tfx_stage_new_id (), kernels,
                                  1, c->n_taps, c->method));
    free (taps);
  }
  return chain;
}

/* Two blocks, of which the second one counts: its filter has a past. */
static bool
count (const Case *c, TfxCuda *cuda, Counts *counts)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = c->n_channels,
    .sample = c->type };
  size_t n = c->n_frames * c->n_channels;
  TestBuffer buffer = test_buffer_new (c->is_planar ? TEST_LAYOUT_PLANAR
                                                    : TEST_LAYOUT_INTERLEAVED,
      c->type, c->n_channels, c->n_frames, 0);
  double *noise = test_cuda_noise (n);
  TfxChain *chain = make_chain (c);
  CudaRow *row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
  bool good = row != NULL;

  for (int block = 0; good && block < 2; block++) {
    test_buffer_set (&buffer, noise);
    test_cuda_set ("TFX_STANDIN_COUNTS", block == 1 ? path : NULL);
    good = cuda_row_run (row, &buffer.block, &buffer.block) == 0;
  }
  good = good && row->n_by_cpu == 0;
  test_cuda_set ("TFX_STANDIN_COUNTS", NULL);
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  test_buffer_clear (&buffer);
  free (noise);
  return good && counts_read (counts, path, (double)n);
}

static void
print_counts (const Case *c, const char *real, const Counts *k)
{
  printf ("| %s | %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f | %.2f "
          "|\n",
      c->name, real, counts_total (k), k->kinds[COUNT_FP64],
      k->kinds[COUNT_FP32], k->kinds[COUNT_INT], k->read, k->written,
      32 * k->passes, k->passes > 0 ? k->passes / k->ideal : 1);
  fflush (stdout);
}

static void
print_cards (const Counts (*counts)[2], const bool *chosen)
{
  printf ("\nAt the least, ms for %.1f M samples, and what sets the limit:\n\n"
          "| |",
      SAMPLES / 1e6);
  for (unsigned i = 0; standin_card_at (i); i++)
    printf (" %s |", standin_card_at (i)->title);
  printf ("\n| --- |");
  for (unsigned i = 0; standin_card_at (i); i++)
    printf (" ---: |");
  for (size_t i = 0; i < N_CASES; i++) {
    if (!chosen[i])
      continue;
    printf ("\n| %s |", cases[i].name);
    for (unsigned k = 0; standin_card_at (k); k++) {
      const StandinCard *card = standin_card_at (k);
      bool is_twofold = cases[i].type == TFX_SAMPLE_F32 &&
                        card->n_float >= 8 * card->n_double;
      const char *limit;
      double seconds = counts_seconds (&counts[i][is_twofold], card, &limit);

      printf (" %.3g %s |", 1e3 * SAMPLES * seconds, limit);
    }
  }
  printf ("\n");
}

static void
run (int argc, char **argv)
{
  static Counts counts[N_CASES][2];
  static const char *const reals[] = { "double", "twofold" };
  bool chosen[N_CASES];

  printf ("For a sample, PTX for compute capability 9.0:\n\n"
          "| | arithmetic | instructions | FP64 | FP32 | integer | bytes read "
          "| bytes written | shared passes a warp | times the ideal |\n"
          "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
          "|\n");
  for (size_t i = 0; i < N_CASES; i++) {
    chosen[i] = argc < 2;
    for (int k = 1; k < argc; k++)
      chosen[i] |= strcmp (argv[k], cases[i].group) == 0;
    for (int k = 0; chosen[i] && k < 2; k++) {
      if (k == 1 && cases[i].type == TFX_SAMPLE_F64)
        continue;
      if (!count (&cases[i], cudas[k], &counts[i][k])) {
        fprintf (stderr, "%s, %s: it was not run, or nothing was counted\n",
            cases[i].name, reals[k]);
        exit (1);
      }
      print_counts (&cases[i], reals[k], &counts[i][k]);
    }
  }
  print_cards ((const Counts (*)[2])counts, chosen);
}

int
main (int argc, char **argv)
{
  static const char *const reals[] = { "double", "twofold" };
  int fd;

  if (!tfx_driver_get (NULL) || !test_cuda_is_standin ()) {
    printf ("this counts on the stand-in that interprets PTX alone\n");
    return 0;
  }
  test_cuda_set ("TFX_STANDIN_CC", TEST_CUDA_DOUBLE);
  for (int i = 0; i < 2; i++) {
    test_cuda_set ("TFX_CUDA", reals[i]);
    cudas[i] = test_cuda_new (NULL);
  }
  snprintf (path, sizeof path, "/tmp/tfx-counts-XXXXXX");
  fd = mkstemp (path);
  if (fd < 0)
    return 1;
  close (fd);
  run (argc, argv);
  unlink (path);
  for (int i = 0; i < 2; i++)
    tfx_cuda_unref (&cudas[i]);
  return 0;
}
