/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir_layouts.c: tries the layouts of FIR filters, over a grid of lengths,
 * channels and blocks, and prints where the one that is chosen is not the best.
 *
 *   fir_layouts [KERNEL]
 *
 * Of each shape those are tried whose cost by the model is at most WIDTH times
 * that of the chosen one, in turns; a layout's time is its shortest.  The last
 * line tells how much the choices cost more than the best, on average and at
 * most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/backend.h"
#include "cpu/convolver-private.h"

#define WIDTH 1.6
#define MOST_LAYOUTS 40
#define N_TURNS 5
#define TURN_NS 2e6
/* Frames between two looks at the clock, which takes as long as a short block. */
#define LEAST_FRAMES 65536

typedef struct List
{
  TfxConvolverLayout *layouts;
  size_t n, room;
} List;

typedef struct Trial
{
  TfxConvolverTaps *taps;
  TfxConvolver *convolver;
  size_t n_blocks; /* of a turn */
  double ns;       /* a frame of a channel */
} Trial;

static double
now_ns (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double
keep (void *data, const TfxConvolverLayout *layout)
{
  List *list = data;

  if (list->n == list->room) {
    list->room = 2 * list->room + 1000;
    list->layouts = realloc (list->layouts, list->room * sizeof *list->layouts);
    if (!list->layouts) {
      fprintf (stderr, "error: out of memory\n");
      exit (1);
    }
  }
  list->layouts[list->n++] = *layout;
  return INFINITY;
}

static int
compare_costs (const void *a, const void *b)
{
  const double x = ((const TfxConvolverLayout *)a)->cost;
  const double y = ((const TfxConvolverLayout *)b)->cost;

  return (x > y) - (x < y);
}

/* A turn: all work of the longest partitions, as often as it takes. */
static void
take_turn (Trial *trial, const TfxBlock *block)
{
  const double n = (double)trial->n_blocks * (double)block->n_frames *
                   (double)block->n_channels;
  double time = now_ns (), end;
  size_t n_rounds = 0;

  do {
    for (size_t i = 0; i < trial->n_blocks; i++)
      tfx_convolver_run (trial->convolver, block, block);
    end = now_ns ();
    n_rounds++;
  } while (end - time < TURN_NS);
  trial->ns = fmin (trial->ns, (end - time) / ((double)n_rounds * n));
}

static bool
trial_init (Trial *trial, const TfxConvolverSpec *spec,
    const TfxConvolverLayout *layout)
{
  size_t longest = LEAST_FRAMES;

  /* whole ones of the longest partitions, which are powers of two */
  if (layout->form == TFX_CONVOLVER_PARTITIONED &&
      layout->levels[layout->n_levels - 1].size > longest)
    longest = layout->levels[layout->n_levels - 1].size;
  memset (trial, 0, sizeof *trial);
  trial->ns = INFINITY;
  trial->n_blocks = (longest + spec->block_frames - 1) / spec->block_frames;
  return tfx_convolver_taps_lay_out (spec, layout, &trial->taps) == 0 &&
         tfx_convolver_new (trial->taps, &trial->convolver) == 0;
}

static void
trial_clear (Trial *trial)
{
  tfx_convolver_free (&trial->convolver);
  tfx_convolver_taps_unref (&trial->taps);
}

/* The chosen layout's time over the best one's. */
static double
try_shape (const TfxConvolverSpec *spec)
{
  static List list;
  Trial trials[MOST_LAYOUTS];
  size_t n = 0, best = 0;
  void *samples = calloc (spec->n_channels * spec->block_frames, 8);
  const TfxBlock block = tfx_block_interleaved (samples, spec->precision,
      spec->n_channels, spec->block_frames);
  double ratio;

  list.n = 0;
  tfx_convolver_layout_visit (spec, tfx_convolver_kernels_for (spec->kernel),
      keep, &list);
  qsort (list.layouts, list.n, sizeof *list.layouts, compare_costs);
  while (n < MOST_LAYOUTS && n < list.n &&
         list.layouts[n].cost <= WIDTH * list.layouts[0].cost) {
    if (!samples || !trial_init (&trials[n], spec, &list.layouts[n])) {
      fprintf (stderr, "error: no convolver\n");
      exit (1);
    }
    n++;
  }
  for (int turn = 0; turn < N_TURNS; turn++) {
    for (size_t i = 0; i < n; i++)
      take_turn (&trials[i], &block);
  }
  for (size_t i = 1; i < n; i++)
    best = trials[i].ns < trials[best].ns ? i : best;
  ratio = trials[0].ns / trials[best].ns;
  printf ("%6zu taps %u ch %5zu frames %s: %7.3f ns, model %7.3f, %s",
      spec->n_taps, spec->n_channels, spec->block_frames,
      spec->precision == TFX_SAMPLE_F32 ? "F32" : "F64", trials[0].ns,
      list.layouts[0].cost, tfx_convolver_taps_text (trials[0].taps));
  if (best > 0)
    printf ("; best of %zu: %.3f ns (%.2f), model %.3f, %s", n, trials[best].ns,
        ratio, list.layouts[best].cost,
        tfx_convolver_taps_text (trials[best].taps));
  printf ("\n");
  fflush (stdout);
  for (size_t i = 0; i < n; i++)
    trial_clear (&trials[i]);
  free (samples);
  return ratio;
}

int
main (int argc, char **argv)
{
  static const size_t lengths[] = { 31, 63, 101, 511, 2047, 16384, 65536 };
  static const size_t frames[] = { 64, 256, 1024, 4096, 16384 };
  static const unsigned channels[] = { 1, 2, 8 };
  const char *kernel = argc > 1 ? argv[1] : tfx_cpu_backend ()->kernel;
  double sum = 0.0, worst = 0.0;
  unsigned n = 0;

  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
    double *taps = calloc (lengths[l], sizeof *taps);
    for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
      for (size_t c = 0; c < sizeof channels / sizeof *channels; c++) {
        for (int type = 0; type < 2; type++) {
          const TfxConvolverSpec spec = { .taps = taps,
            .n_taps = lengths[l],
            .n_kernels = 1,
            .n_channels = channels[c],
            .precision = (TfxSample)type,
            .block_frames = frames[f],
            .kernel = kernel };
          const double ratio = try_shape (&spec);
          sum += log (ratio);
          worst = fmax (worst, ratio);
          n++;
        }
      }
    }
    free (taps);
  }
  printf ("%u shapes: %.1f %% above the best on average, %.0f %% at most\n", n,
      100.0 * (exp (sum / n) - 1.0), 100.0 * (worst - 1.0));
  return 0;
}
