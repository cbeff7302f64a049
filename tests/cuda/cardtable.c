/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cardtable.c: what device=auto makes of cards, as the tables in
 * docs/dev/cuda-backend.md.
 *
 * Computed as tfx_cuda_estimate() does it, not measured.  The CPU is the one that
 * this runs on, one core, by tfx_plan_cost(). */
#include "cardcase.h"

#include <math.h>
#include <stdio.h>

/* The gain that is required, as in gst/base/gsttfxdeviceauto.c. */
#define ENTER_RATIO 1.5

static double
cpu_ns (const CardCase *c, size_t n_frames)
{
  CudaRow *row = cardcase_row (c);
  double ns = (double)n_frames * tfx_plan_cost (row->plan, n_frames);

  cuda_row_free (&row);
  return ns;
}

static void
print_head (const char *first)
{
  printf ("\n| %s | CPU |", first);
  for (unsigned i = 0; standin_card_at (i); i++)
    printf (" %s |", standin_card_at (i)->title);
  printf ("\n| --- | ---: |");
  for (unsigned i = 0; standin_card_at (i); i++)
    printf (" ---: |");
  printf ("\n");
}

static void
print_times (void)
{
  static const struct
  {
    const char *name;
    CardCase c;
    size_t n_frames;
    bool on_device;
  } rows[] = {
    { "api, 8 ch × 120 s", { 6, 0, 8, TFX_SAMPLE_F32 }, 5292000, false },
    { "the same, in CUDA memory", { 6, 0, 8, TFX_SAMPLE_F32 }, 5292000, true },
    { "60 sections, 8 ch × 120 s", { 60, 0, 8, TFX_SAMPLE_F32 }, 5292000,
        false },
    { "the same, F64", { 60, 0, 8, TFX_SAMPLE_F64 }, 5292000, false },
    { "60 sections, 2 ch × 120 s", { 60, 0, 2, TFX_SAMPLE_F32 }, 5292000,
        false },
    { "FIR 511 taps, 8 ch × 120 s", { 0, 511, 8, TFX_SAMPLE_F32 }, 5292000,
        false },
    { "FIR 65536 taps, 2 ch × 120 s", { 0, 65536, 2, TFX_SAMPLE_F32 }, 5292000,
        false },
    { "FIR 65536 taps, 64 ch × 120 s", { 0, 65536, 64, TFX_SAMPLE_F32 },
        5292000, false },
    { "api, 2 ch × 1024 frames", { 6, 0, 2, TFX_SAMPLE_F32 }, 1024, false },
    { "60 sections, 64 ch × 1024 frames", { 60, 0, 64, TFX_SAMPLE_F32 }, 1024,
        false },
    { "FIR 65536 taps, 64 ch × 1024 frames", { 0, 65536, 64, TFX_SAMPLE_F32 },
        1024, false },
  };

  printf ("ms a block:\n");
  print_head ("");
  for (size_t i = 0; i < N_OF (rows); i++) {
    printf ("| %s | %.3g |", rows[i].name,
        1e-6 * cpu_ns (&rows[i].c, rows[i].n_frames));
    for (unsigned k = 0; standin_card_at (k); k++) {
      TfxCudaCard card = cardcase_card (standin_card_at (k));

      printf (" %.3g |", 1e-6 * cardcase_estimate (&card, &rows[i].c,
                                    rows[i].n_frames, rows[i].on_device));
    }
    printf ("\n");
  }
}

/* The least that each card is chosen for, or 0: of sections, or of taps. */
static void
find_least (const CardCase *c, size_t n_frames, size_t most, size_t *least)
{
  for (size_t n = 1; n <= most; n += 1 + n / 10) {
    const TfxCudaJob job = { .n_frames = n_frames };
    CardCase now = *c;
    CudaRow *row;
    double cpu, ns;

    if (c->n_taps > 0)
      now.n_taps = n;
    else
      now.n_sections = n;
    row = cardcase_row (&now);
    cpu = (double)n_frames * tfx_plan_cost (row->plan, n_frames);
    for (unsigned k = 0; standin_card_at (k); k++) {
      TfxCudaCard card = cardcase_card (standin_card_at (k));

      if (least[k] == 0 && tfx_cuda_estimate (&card, row->plan, &job, &ns) &&
          cpu > ENTER_RATIO * ns)
        least[k] = n;
    }
    cuda_row_free (&row);
  }
}

static void
print_least (void)
{
  static const CardCase sections = { 1, 0, 8, TFX_SAMPLE_F32 },
                        doubles = { 1, 0, 8, TFX_SAMPLE_F64 },
                        taps = { 0, 1, 8, TFX_SAMPLE_F32 };
  static const struct
  {
    const char *name;
    const CardCase *c;
    size_t n_frames, most;
  } rows[] = {
    { "sections, 1024 frames", &sections, 1024, 1000 },
    { "sections, 48,000 frames", &sections, 48000, 1000 },
    { "sections, 10 s", &sections, 480000, 1000 },
    { "sections, F64, 10 s", &doubles, 480000, 1000 },
    { "taps, 1024 frames", &taps, 1024, 100000 },
    { "taps, 48,000 frames", &taps, 48000, 100000 },
    { "taps, 10 s", &taps, 480000, 100000 },
  };

  printf ("\n8 channels from system memory and back, where auto uses "
          "the device:\n");
  print_head ("frames from");
  for (size_t i = 0; i < N_OF (rows); i++) {
    size_t least[16] = { 0 };

    printf ("| %s | |", rows[i].name);
    find_least (rows[i].c, rows[i].n_frames, rows[i].most, least);
    for (unsigned k = 0; standin_card_at (k); k++) {
      if (least[k] > 0)
        printf (" %zu |", least[k]);
      else
        printf (" never |");
    }
    printf ("\n");
    fflush (stdout);
  }
}

int
main (void)
{
  print_times ();
  print_least ();
  return 0;
}
