/* SPDX-License-Identifier: LGPL-2.1-or-later
 * counts.c: the cost of a sample on a device, counted without a device.
 *
 *   ptx_counts [api] [fir] [fft] [sections] [units]
 *   ptx_counts check
 *
 * Runs blocks on the stand-in that interprets PTX, which counts instructions of
 * threads, 32-byte sectors of global memory and passes over the banks of shared
 * memory, and computes times from the published rates of some cards.  These times
 * are lower bounds, not measurements.
 *
 * "check" says as TAP whether cuda/cost.c, by which device=auto decides, reckons
 * with what is counted, and whether a sample costs no more than it may. */
#include "buffer.h"
#include "chains.h"
#include "copy.h"
#include "cost.h"
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
  const char *text; /* NULL: n_sections, at random or the api chain */
  unsigned n_channels;
  bool is_planar;
  TfxSample type;
  size_t n_frames, n_sections;
} Case;

/* clang-format off */
#define API(text, n, planar, type)                                             \
  { "api", text, NULL, n, planar, TFX_SAMPLE_##type, 48000, TEST_API_SECTIONS }
#define SECTIONS(n, channels, type)                                            \
  { "sections", #n " sections, " #channels " ch, " #type, NULL, channels,      \
    false, TFX_SAMPLE_##type, 48000, n }
#define FIR(group, name, frames, text)                                         \
  { group, name, text, 2, true, TFX_SAMPLE_F32, frames, 0 }
#define UNIT(name, channels, text)                                             \
  { "units", name, text, channels, false, TFX_SAMPLE_F32, 48000, 0 }
/* clang-format on */
#define SECTIONS_ALL(channels, type)                                           \
  SECTIONS (1, channels, type), SECTIONS (2, channels, type),                  \
      SECTIONS (3, channels, type), SECTIONS (4, channels, type),              \
      SECTIONS (5, channels, type), SECTIONS (12, channels, type),             \
      SECTIONS (24, channels, type)

/* Each channel is a sum of all of them. */
#define ROW_OF_8 "[1, 1, 1, 1, 1, 1, 1, 1]"

static const Case cases[] = {
  API ("api, 1 ch", 1, false, F32),
  API ("api, 2 ch interleaved", 2, false, F32),
  API ("api, 8 ch interleaved", 8, false, F32),
  API ("api, 64 ch interleaved", 64, false, F32),
  API ("api, 2 ch planar", 2, true, F32),
  API ("api, 8 ch planar", 8, true, F32),
  API ("api, 64 ch planar", 64, true, F32),
  API ("api, 8 ch interleaved, F64", 8, false, F64),
  API ("api, 8 ch planar, F64", 8, true, F64),
  FIR ("fir", "FIR 101 taps, direct", 48000,
      "DesignableFIR(2000, 101, conv_mode='direct')"),
  FIR ("fir", "FIR 511 taps, direct", 48000,
      "DesignableFIR(2000, 511, conv_mode='direct')"),
  FIR ("fir", "one echo", 48000, "Delay(1000, taps=1)"),
  FIR ("fir", "16 echoes", 48000, "Delay(1000, taps=16)"),
  UNIT ("Compressor, 2 ch", 2, "Compressor(-20, 4)"),
  UNIT ("Compressor, rms, 2 ch", 2, "Compressor(-20, 4, detector='rms')"),
  UNIT ("Compressor, linked, 8 ch", 8, "Compressor(-20, 4, link=True)"),
  UNIT ("Limiter, 2 ch", 2, "Limiter(-6, 0.005)"),
  UNIT ("Limiter, 0.2 s ahead, 2 ch", 2, "Limiter(-6, 0.2)"),
  UNIT ("Reverb, 2 ch", 2, "Reverb()"),
  UNIT ("Gain, clamp=True, 2 ch", 2, "Gain(2, clamp=True)"),
  /* It vanishes, and leaves a copy. */
  UNIT ("a copy, 2 ch", 2, "Gain(1)"),
  UNIT ("Mix, 2 ch", 2, "Mix([[0.125, 0.125], [0.125, 0.125]])"),
  UNIT ("Mix, 8 ch", 8,
      "Mix([" ROW_OF_8 ", " ROW_OF_8 ", " ROW_OF_8 ", " ROW_OF_8 ", " ROW_OF_8
      ", " ROW_OF_8 ", " ROW_OF_8 ", " ROW_OF_8 "])"),
  FIR ("fft", "FIR 4096 taps, FFT", 48000,
      "DesignableFIR(2000, 4096, conv_mode='fft')"),
  FIR ("fft", "FIR 65536 taps, FFT", 96000,
      "DesignableFIR(2000, 65536, conv_mode='fft')"),
  SECTIONS_ALL (1, F32),
  SECTIONS_ALL (8, F32),
  SECTIONS (6, 1, F64),
  SECTIONS_ALL (8, F64),
};

#define MAX_SECTIONS 24

/* How far cuda/cost.c may be off. */
#define CLOSE 1.3

#define N_CASES N_OF (cases)

static TfxCuda *cudas[2];
static char path[64];

static TfxChain *
make_chain (const Case *c)
{
  TfxSos sos[MAX_SECTIONS];

  if (c->text)
    return test_cuda_parse (c->text, c->n_channels);
  if (c->n_sections == TEST_API_SECTIONS)
    test_cuda_api (sos);
  else
    test_cuda_random (sos, c->n_sections);
  return test_cuda_chain (tfx_stage_new_id (), sos, c->n_sections);
}

/* What cuda/cost.c makes of the one step of the case, or of none. */
static TfxCost
reckon (const Case *c, const TfxPlan *plan)
{
  TfxCost copy = { .real = TFX_REAL_DOUBLE };
  TfxCudaCard card;

  if (plan->top.n == 0) {
    tfx_cuda_copy_cost (&copy);
    return copy;
  }
  tfx_cuda_get_card (-1, &card);
  return tfx_cost_step (&card, &plan->top.steps[0], c->n_channels, c->n_frames);
}

/* Runs two blocks and counts the second: its filter has history. */
static bool
count (const Case *c, TfxCuda *cuda, Counts *counts, TfxCost *cost)
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
  bool good = true;

  for (int block = 0; good && block < 2; block++) {
    test_buffer_set (&buffer, noise);
    test_cuda_set ("TFX_STANDIN_COUNTS", block == 1 ? path : NULL);
    good = cuda_row_run (row, &buffer.block, &buffer.block) == 0;
  }
  good = good && row->n_by_cpu == 0;
  if (good)
    *cost = reckon (c, row->plan);
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
  TfxCost cost;

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
      if (!count (&cases[i], cudas[k], &counts[i][k], &cost)) {
        fprintf (stderr, "%s, %s: it was not run, or nothing was counted\n",
            cases[i].name, reals[k]);
        exit (1);
      }
      print_counts (&cases[i], reals[k], &counts[i][k]);
    }
  }
  print_cards ((const Counts (*)[2])counts, chosen);
}

/* ---- as cuda/cost.c has it ----------------------------------------------------- */

static void
check_number (const Case *c, const char *real, const char *what, double counted,
    double reckoned)
{
  /* Planar blocks of doubles take less, which the estimate ignores. */
  const bool may_be_less = c->is_planar && c->type == TFX_SAMPLE_F64;

  tap_check (counted <= CLOSE * reckoned + 1 &&
                 (may_be_less || reckoned <= CLOSE * counted + 1),
      "%s, %s: %.2f %s a sample are counted, %.2f reckoned with", c->name, real,
      counted, what, reckoned);
}

static void
check_case (const Case *c, int k)
{
  static const char *const reals[] = { "double", "twofold" };
  Counts counted;
  TfxCost cost;

  test_cuda_set ("TFX_CUDA", reals[k]);
  if (!count (c, cudas[k], &counted, &cost)) {
    tap_check (false, "%s, %s: it was not run", c->name, reals[k]);
    return;
  }
  check_number (c, reals[k], "instructions", counts_issued (&counted),
      cost.issued);
  check_number (c, reals[k], "of the arithmetic",
      counted.warps[cost.real == TFX_REAL_DOUBLE ? COUNT_FP64 : COUNT_FP32],
      cost.arithmetic);
  check_number (c, reals[k], "of integers", counted.warps[COUNT_INT],
      cost.integer);
  check_number (c, reals[k], "passes", counted.passes, cost.passes);
  counts_check_limits (c->name, k, &counted);
}

static void
test_check (void)
{
  for (size_t i = 0; i < N_CASES; i++) {
    for (int k = 0; k < (cases[i].type == TFX_SAMPLE_F64 ? 1 : 2); k++)
      check_case (&cases[i], k);
  }
  counts_check_all_limits ();
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = { { "check", test_check }, { NULL, NULL } };
  static const char *const reals[] = { "double", "twofold" };
  int fd, ret = 0;

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
  if (argc == 2 && strcmp (argv[1], "check") == 0)
    ret = tap_main (1, argv, tests);
  else
    run (argc, argv);
  unlink (path);
  for (int i = 0; i < 2; i++)
    tfx_cuda_unref (&cudas[i]);
  return ret;
}
