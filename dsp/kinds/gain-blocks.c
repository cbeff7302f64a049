/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gain-blocks.c: the gains that the blocks of a stream need. */
#include "gain-blocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "peak-line.h"

/* The maximum or the sum of the last n rows of n_levels numbers.  Rows are counted in turns
 * of n: rest has the suffix results of the last turn, begun the result of this one so far
 * (van Herk; Gil and Werman). */
typedef struct Window
{
  size_t n;
  bool is_sum;
  double *ring;  /* [n][n_levels] */
  double *rest;  /* [n + 1][n_levels]; the last row is 0 */
  double *begun; /* [n_levels] */
} Window;

struct TfxGainBlocks
{
  const TfxDynamicsKernels *kernels;
  TfxAgcMeasure measure;
  unsigned n_channels, n_levels;
  TfxPeakLine line; /* of true peaks alone */

  size_t n_done; /* blocks */
  /* [n_levels]: of this block the largest magnitude or, with sums, the sum of squares,
   * and their number; the last gains needed and held. */
  double *most, *n, *asked, *held;
  double *sums;                   /* [TFX_DYNAMICS_ROWS][n_levels] */
  Window measures, counts, gains; /* of the last blocks; gains: those held */
  double *memory;

  const double *next; /* magnitudes or squares from the next frame on */
  double *squares;    /* of a part, [n_frames][n_levels]; for the RMS only */
};

static unsigned
count_levels (const TfxAgc *l, unsigned n_channels)
{
  return l->is_linked ? 1 : n_channels;
}

/* ---- life ------------------------------------------------------------------------- */

void
tfx_gain_blocks_free (TfxGainBlocks **blocks)
{
  TfxGainBlocks *c = *blocks;

  *blocks = NULL;
  if (!c)
    return;
  tfx_peak_line_clear (&c->line);
  free (c->memory);
  free (c->squares);
  free (c);
}

static double *
take (double **memory, size_t n)
{
  double *taken = *memory;

  *memory += n;
  return taken;
}

static size_t
count_window (const Window *w, unsigned n_levels)
{
  return 2 * (w->n + 1) * n_levels;
}

static void
place_window (Window *w, unsigned n_levels, double **memory)
{
  w->ring = take (memory, w->n * n_levels);
  w->rest = take (memory, (w->n + 1) * n_levels);
  w->begun = take (memory, n_levels);
}

static size_t
count_memory (const TfxGainBlocks *c)
{
  return c->n_levels * (size_t)(4 + TFX_DYNAMICS_ROWS) +
         count_window (&c->measures, c->n_levels) +
         count_window (&c->counts, c->n_levels) +
         count_window (&c->gains, c->n_levels);
}

static int
make_room (TfxGainBlocks *c, size_t most_frames)
{
  const size_t n = c->n_levels;
  double *memory;

  c->memory = memory = tfx_block_new_samples (count_memory (c));
  if (!memory)
    return -ENOMEM;
  c->most = take (&memory, n);
  c->n = take (&memory, n);
  c->asked = take (&memory, n);
  c->held = take (&memory, n);
  c->sums = take (&memory, TFX_DYNAMICS_ROWS * n);
  place_window (&c->measures, c->n_levels, &memory);
  place_window (&c->counts, c->n_levels, &memory);
  place_window (&c->gains, c->n_levels, &memory);
  if (c->measure == TFX_AGC_TRUE_PEAK)
    return tfx_peak_line_init (&c->line, c->kernels, c->n_channels,
        most_frames);
  if (c->measure == TFX_AGC_RMS)
    c->squares = tfx_block_new_samples (most_frames * n);
  return c->squares || c->measure != TFX_AGC_RMS ? 0 : -ENOMEM;
}

int
tfx_gain_blocks_new (const TfxAgc *l, const TfxDynamicsKernels *kernels,
    unsigned n_channels, size_t most_frames, TfxGainBlocks **blocks)
{
  TfxGainBlocks *c = *blocks = calloc (1, sizeof *c);

  if (!c)
    return -ENOMEM;
  c->kernels = kernels;
  c->measure = l->measure;
  c->n_channels = n_channels;
  c->n_levels = count_levels (l, n_channels);
  c->measures.n = c->counts.n = l->n_window;
  c->measures.is_sum = l->measure == TFX_AGC_RMS;
  c->gains.n = l->n_smooth;
  c->counts.is_sum = c->gains.is_sum = true;
  if (make_room (c, most_frames) < 0) {
    tfx_gain_blocks_free (blocks);
    return -ENOMEM;
  }
  tfx_gain_blocks_reset (c);
  return 0;
}

void
tfx_gain_blocks_reset (TfxGainBlocks *c)
{
  c->n_done = 0;
  memset (c->memory, 0, count_memory (c) * sizeof *c->memory);
  for (unsigned k = 0; k < c->n_levels; k++)
    c->asked[k] = c->held[k] = 1.0;
  if (c->measure == TFX_AGC_TRUE_PEAK)
    tfx_peak_line_reset (&c->line);
}

/* ---- windows ---------------------------------------------------------------------- */

#define INLINE static inline __attribute__ ((always_inline))

INLINE double
join (double a, double b, const bool is_sum)
{
  return is_sum ? a + b : a > b ? a : b;
}

/* Finds the suffix results. */
INLINE void
find_rest (Window *w, unsigned n_levels, const bool is_sum)
{
  for (size_t i = w->n * n_levels; i-- > 0;)
    w->rest[i] = join (w->rest[i + n_levels], w->ring[i], is_sum);
}

INLINE void
put (Window *w, size_t at, const double *row, double *all, unsigned n_levels,
    const bool is_sum)
{
  double *ring = w->ring + at * n_levels, *begun = w->begun;
  const double *rest = w->rest + (at + 1) * n_levels;

  for (unsigned k = 0; k < n_levels; k++) {
    ring[k] = row[k];
    begun[k] = join (begun[k], row[k], is_sum);
    all[k] = join (rest[k], begun[k], is_sum);
  }
  if (at + 1 < w->n)
    return;
  find_rest (w, n_levels, is_sum);
  memset (begun, 0, n_levels * sizeof *begun);
}

/* Adds row number n_done; all[n_levels] = the result of the last n rows. */
static void
window_put (Window *w, size_t n_done, const double *row, double *all,
    unsigned n_levels)
{
  if (w->is_sum)
    put (w, n_done % w->n, row, all, n_levels, true);
  else
    put (w, n_done % w->n, row, all, n_levels, false);
}

/* ---- adding ----------------------------------------------------------------------- */

/* 0 for silent frames. */
INLINE double
loud (double square)
{
  return square > TFX_AGC_SILENT ? square : 0.0;
}

/* Sums the squares of width channels. */
static void
square (double *restrict squares, const double *restrict samples, size_t n,
    unsigned width)
{
  for (size_t i = 0; i < n && width == 1; i++)
    squares[i] = loud (samples[i] * samples[i]);
  for (size_t i = 0; i < n && width > 1; i++, samples += width) {
    double sum = samples[0] * samples[0];

    for (unsigned m = 1; m < width; m++)
      sum += samples[m] * samples[m];
    squares[i] = loud (sum);
  }
}

void
tfx_gain_blocks_load (TfxGainBlocks *c, const double *samples, size_t n_frames)
{
  c->next = samples;
  if (c->measure == TFX_AGC_TRUE_PEAK) {
    c->next = tfx_peak_line_find (&c->line, samples, n_frames);
  } else if (c->measure == TFX_AGC_RMS) {
    square (c->squares, samples, n_frames * c->n_levels,
        c->n_channels / c->n_levels);
    c->next = c->squares;
  }
}

/* Counts frames that are not silent. */
static size_t
count_loud (const double *squares, size_t n_frames, unsigned n_levels)
{
  size_t n = 0;

  for (size_t i = 0; i < n_frames; i++)
    n += squares[i * n_levels] > 0.0;
  return n;
}

/* Adds each frame to the row of its number, so that the split of the stream does not
 * matter. */
static void
add_squares (TfxGainBlocks *c, size_t first, size_t n_frames)
{
  const unsigned n = c->n_levels;

  c->kernels->add_up (c->next, n_frames, n, first, c->sums);
  for (unsigned k = 0; k < n; k++)
    c->n[k] += (double)(c->n_channels / n) *
               (double)count_loud (c->next + k, n_frames, n);
  c->next += n_frames * n;
}

void
tfx_gain_blocks_add (TfxGainBlocks *c, size_t first, size_t n_frames)
{
  const unsigned width = c->n_channels / c->n_levels;

  if (c->measure == TFX_AGC_RMS) {
    add_squares (c, first, n_frames);
    return;
  }
  c->kernels->find_most (c->next, n_frames * width, c->n_levels, c->most);
  c->next += n_frames * c->n_channels;
}

/* ---- the end of a block -------------------------------------------------------------- */

/* Adds the block to the window, and sets most to the measures of the window, 0 for
 * silence. */
static void
measure (TfxGainBlocks *c)
{
  const size_t n_done = c->n_done++;
  const unsigned n = c->n_levels;

  if (c->measure != TFX_AGC_RMS) {
    window_put (&c->measures, n_done, c->most, c->most, n);
    return;
  }
  for (unsigned i = 0; i < TFX_DYNAMICS_ROWS; i++) {
    for (unsigned k = 0; k < n; k++)
      c->most[k] += c->sums[i * n + k];
  }
  memset (c->sums, 0, TFX_DYNAMICS_ROWS * n * sizeof *c->sums);
  window_put (&c->measures, n_done, c->most, c->most, n);
  window_put (&c->counts, n_done, c->n, c->n, n);
  for (unsigned k = 0; k < n; k++)
    c->most[k] = c->n[k] > 0.0 ? sqrt (c->most[k] / c->n[k]) : 0.0;
}

static double
least (double a, double b)
{
  return a < b ? a : b;
}

void
tfx_gain_blocks_end (TfxGainBlocks *c, const TfxGainAim *aim, double *gains)
{
  const size_t n_done = c->n_done;
  const double n_smooth =
      (double)(n_done < c->gains.n ? n_done + 1 : c->gains.n);

  measure (c);
  for (unsigned k = 0; k < c->n_levels; k++) {
    const double found = c->most[k];

    /* Silence needs no gain, but none below the largest either. */
    if (found * found > TFX_AGC_SILENT)
      c->asked[k] = least (aim->max_gain, aim->target / found);
    else if (aim->max_gain <= 1.0)
      c->asked[k] = aim->max_gain;
    c->held[k] = least (c->asked[k],
        aim->release * c->held[k] + (1.0 - aim->release) * aim->max_gain);
    c->most[k] = c->n[k] = 0.0;
  }
  window_put (&c->gains, n_done, c->held, gains, c->n_levels);
  for (unsigned k = 0; k < c->n_levels; k++)
    gains[k] /= n_smooth;
}
