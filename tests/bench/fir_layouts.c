/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fir_layouts.c: compares the layouts of FIR filters with partitions of other
 * sizes, over a grid of lengths, channels and blocks.
 *
 *   fir_layouts [KERNEL]
 *
 * The others have heads of the block's length, a half and a quarter of it, levels
 * that are 2, 4, 8 and 16 times as long as the one before, and 16, 32 and 64
 * partitions in the last level at the most.  They take turns with the chosen one; a
 * layout's time is its shortest.  The last line has how much the choices cost more
 * than the best, on average and at most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/backend.h"
#include "cpu/convolver-private.h"

#define MOST_LAYOUTS 37
#define N_TURNS 5
#define TURN_NS 2e6
/* Frames between two looks at the clock, which takes as long as a short block. */
#define LEAST_FRAMES 65536

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

/* Number i of the other layouts; false if there is none. */
static bool
lay_out (const TfxConvolverSpec *spec, unsigned i, TfxConvolverLayout *layout)
{
  const size_t ratio = (size_t)2 << i / 3 % 4, most = (size_t)16 << i / 12;
  size_t size = spec->block_frames >> i % 3, first = 0;

  *layout = (TfxConvolverLayout){ TFX_CONVOLVER_PARTITIONED };
  while (first < spec->n_taps) {
    TfxConvolverLevel *level = &layout->levels[layout->n_levels++];

    level->size = size;
    level->first = first;
    level->n_parts = (spec->n_taps - first + size - 1) / size;
    if (size < TFX_LEAF || size > TFX_CONVOLVER_MAX_LEVEL)
      return false;
    if (level->n_parts > most && ratio * size <= TFX_CONVOLVER_MAX_LEVEL)
      level->n_parts = (2 * ratio * size - first) / size;
    first += level->n_parts * size;
    size *= ratio;
    if (first < spec->n_taps && layout->n_levels == TFX_CONVOLVER_MAX_LEVELS)
      return false;
  }
  return true;
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

  memset (trial, 0, sizeof *trial);
  trial->ns = INFINITY;
  if (tfx_convolver_taps_lay_out (spec, layout, &trial->taps) < 0 ||
      tfx_convolver_new (trial->taps, &trial->convolver) < 0)
    return false;
  layout = &trial->convolver->layout;
  /* whole ones of the longest partitions, which are powers of two */
  if (layout->form == TFX_CONVOLVER_PARTITIONED &&
      layout->levels[layout->n_levels - 1].size > longest)
    longest = layout->levels[layout->n_levels - 1].size;
  trial->n_blocks = (longest + spec->block_frames - 1) / spec->block_frames;
  return true;
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
  Trial trials[MOST_LAYOUTS];
  size_t n = 0, best = 0;
  void *samples = calloc (spec->n_channels * spec->block_frames, 8);
  const TfxBlock block = tfx_block_interleaved (samples, spec->precision,
      spec->n_channels, spec->block_frames);
  double ratio, model;

  for (unsigned i = 0; i < MOST_LAYOUTS; i++) {
    TfxConvolverLayout layout;

    if (i > 0 && !lay_out (spec, i - 1, &layout))
      continue;
    if (!samples || !trial_init (&trials[n], spec, i > 0 ? &layout : NULL)) {
      fprintf (stderr, "error: no convolver\n");
      exit (1);
    }
    n++;
  }
  model = trials[0].convolver->layout.cost;
  for (int turn = 0; turn < N_TURNS; turn++) {
    for (size_t i = 0; i < n; i++)
      take_turn (&trials[i], &block);
  }
  for (size_t i = 1; i < n; i++)
    best = trials[i].ns < trials[best].ns ? i : best;
  ratio = trials[0].ns / trials[best].ns;
  printf ("%6zu taps %u ch %5zu frames %s: %7.3f ns, model %7.3f, %s",
      spec->n_taps, spec->n_channels, spec->block_frames,
      spec->precision == TFX_SAMPLE_F32 ? "F32" : "F64", trials[0].ns, model,
      tfx_convolver_taps_text (trials[0].taps));
  if (best > 0)
    printf ("; best of %zu: %.3f ns (%.2f), %s", n, trials[best].ns, ratio,
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
