/* SPDX-License-Identifier: LGPL-2.1-or-later
 * leveller-cells.c: what gain the cells of a stream ask for. */
#include "leveller-cells.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "peak-line.h"

/* The largest, or the sum, of the last n rows of n_levels numbers.  Rows are counted in
 * turns of n: of a turn that is over what comes behind each row is kept, of the one that
 * has begun what has come up to now (van Herk; Gil and Werman). */
typedef struct Window
{
  size_t n;
  bool is_sum;
  double *ring;  /* [n][n_levels] */
  double *rest;  /* [n + 1][n_levels]; the last row is 0 */
  double *begun; /* [n_levels] */
} Window;

struct TfxCells
{
  const TfxDynamicsKernels *kernels;
  TfxLevellerMeasure measure;
  unsigned n_channels, n_levels;
  TfxPeakLine line; /* of true peaks alone */

  double n_over; /* cells, a whole number */
  /* [n_levels]: of the cell that has begun the largest magnitude or, with what is in
   * `sums`, the sum of squares, and of how many; and what was asked for last. */
  double *most, *n, *asked, *held;
  double *sums;                   /* [TFX_DYNAMICS_ROWS][n_levels] */
  Window measures, counts, gains; /* of the last cells; gains: those held */
  double *memory;

  const double *next; /* what is heard of the next frame */
  double *squares;    /* of a part, [n_frames][n_levels]; of a mean alone */
};

static unsigned
count_levels (const TfxLeveller *l, unsigned n_channels)
{
  return l->is_linked ? 1 : n_channels;
}

/* ---- life ------------------------------------------------------------------------- */

void
tfx_cells_free (TfxCells **cells)
{
  TfxCells *c = *cells;

  *cells = NULL;
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
count_memory (const TfxCells *c)
{
  return c->n_levels * (size_t)(4 + TFX_DYNAMICS_ROWS) +
         count_window (&c->measures, c->n_levels) +
         count_window (&c->counts, c->n_levels) +
         count_window (&c->gains, c->n_levels);
}

static int
make_room (TfxCells *c, size_t most_frames)
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
  if (c->measure == TFX_LEVELLER_TRUE_PEAK)
    return tfx_peak_line_init (&c->line, c->kernels, c->n_channels,
        most_frames);
  if (c->measure == TFX_LEVELLER_RMS)
    c->squares = tfx_block_new_samples (most_frames * n);
  return c->squares || c->measure != TFX_LEVELLER_RMS ? 0 : -ENOMEM;
}

int
tfx_cells_new (const TfxLeveller *l, const TfxDynamicsKernels *kernels,
    unsigned n_channels, size_t most_frames, TfxCells **cells)
{
  TfxCells *c = *cells = calloc (1, sizeof *c);

  if (!c)
    return -ENOMEM;
  c->kernels = kernels;
  c->measure = l->measure;
  c->n_channels = n_channels;
  c->n_levels = count_levels (l, n_channels);
  c->measures.n = c->counts.n = l->n_window;
  c->measures.is_sum = l->measure == TFX_LEVELLER_RMS;
  c->gains.n = l->n_smooth;
  c->counts.is_sum = c->gains.is_sum = true;
  if (make_room (c, most_frames) < 0) {
    tfx_cells_free (cells);
    return -ENOMEM;
  }
  tfx_cells_reset (c);
  return 0;
}

void
tfx_cells_reset (TfxCells *c)
{
  c->n_over = 0.0;
  memset (c->memory, 0, count_memory (c) * sizeof *c->memory);
  for (unsigned k = 0; k < c->n_levels; k++)
    c->asked[k] = c->held[k] = 1.0;
  if (c->measure == TFX_LEVELLER_TRUE_PEAK)
    tfx_peak_line_reset (&c->line);
}

/* ---- windows ---------------------------------------------------------------------- */

#define INLINE static inline __attribute__ ((always_inline))

INLINE double
join (double a, double b, const bool is_sum)
{
  return is_sum ? a + b : a > b ? a : b;
}

/* Of the rows from `first` to the end what comes from each on. */
INLINE void
find_rest (Window *w, size_t first, unsigned n_levels, const bool is_sum)
{
  const size_t n = (w->n - first) * n_levels;
  const double *ring = w->ring + first * n_levels;
  double *rest = w->rest + first * n_levels;

  for (size_t i = n; i-- > 0;)
    rest[i] = join (rest[i + n_levels], ring[i], is_sum);
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
  find_rest (w, 0, n_levels, is_sum);
  memset (begun, 0, n_levels * sizeof *begun);
}

/* The next row, number n_over from the beginning on; of all n, all[n_levels]. */
static void
window_put (Window *w, size_t n_over, const double *row, double *all,
    unsigned n_levels)
{
  if (w->is_sum)
    put (w, n_over % w->n, row, all, n_levels, true);
  else
    put (w, n_over % w->n, row, all, n_levels, false);
}

/* The ring was set, behind n_over rows. */
static void
window_wake (Window *w, size_t n_over, unsigned n_levels)
{
  const size_t n = w->n > 0 ? n_over % w->n : 0;

  if (w->n == 0)
    return;
  find_rest (w, n, n_levels, w->is_sum);
  memset (w->begun, 0, n_levels * sizeof *w->begun);
  for (size_t i = 0; i < n * n_levels; i++)
    w->begun[i % n_levels] =
        join (w->begun[i % n_levels], w->ring[i], w->is_sum);
}

/* ---- numbers ---------------------------------------------------------------------- */

size_t
tfx_cells_n_sums (const TfxLeveller *l, unsigned n_channels)
{
  return TFX_DYNAMICS_ROWS * (size_t)count_levels (l, n_channels);
}

size_t
tfx_cells_n_numbers (const TfxLeveller *l, unsigned n_channels)
{
  const size_t n_levels = count_levels (l, n_channels);

  return tfx_cells_n_sums (l, n_channels) + 1 +
         n_levels * (TFX_CELLS_LEVEL + 2 * l->n_window + l->n_smooth) +
         n_channels * (size_t)TFX_PEAK_LINE_PAST;
}

static double *
get_window (const TfxCells *c, const Window *w, double *numbers)
{
  memcpy (numbers, w->ring, w->n * c->n_levels * sizeof *numbers);
  return numbers + w->n * c->n_levels;
}

static const double *
set_window (const TfxCells *c, Window *w, const double *numbers)
{
  memcpy (w->ring, numbers, w->n * c->n_levels * sizeof *numbers);
  window_wake (w, (size_t)c->n_over, c->n_levels);
  return numbers + w->n * c->n_levels;
}

void
tfx_cells_get_numbers (const TfxCells *c, double *numbers)
{
  const size_t n_sums = TFX_DYNAMICS_ROWS * (size_t)c->n_levels;

  memcpy (numbers, c->sums, n_sums * sizeof *numbers);
  numbers += n_sums;
  *numbers++ = c->n_over;
  for (unsigned k = 0; k < c->n_levels; k++, numbers += TFX_CELLS_LEVEL) {
    numbers[0] = c->most[k];
    numbers[1] = c->n[k];
    numbers[2] = c->asked[k];
    numbers[3] = c->held[k];
  }
  numbers = get_window (c, &c->measures, numbers);
  numbers = get_window (c, &c->counts, numbers);
  numbers = get_window (c, &c->gains, numbers);
  for (unsigned k = 0; k < c->n_channels; k++, numbers += TFX_PEAK_LINE_PAST) {
    if (c->measure == TFX_LEVELLER_TRUE_PEAK)
      tfx_peak_line_get_past (&c->line, k, numbers);
    else
      memset (numbers, 0, TFX_PEAK_LINE_PAST * sizeof *numbers);
  }
}

void
tfx_cells_set_numbers (TfxCells *c, const double *numbers)
{
  const size_t n_sums = TFX_DYNAMICS_ROWS * (size_t)c->n_levels;

  memcpy (c->sums, numbers, n_sums * sizeof *numbers);
  numbers += n_sums;
  c->n_over = *numbers++;
  for (unsigned k = 0; k < c->n_levels; k++, numbers += TFX_CELLS_LEVEL) {
    c->most[k] = numbers[0];
    c->n[k] = numbers[1];
    c->asked[k] = numbers[2] > 0.0 ? numbers[2] : 1.0;
    c->held[k] = numbers[3] > 0.0 ? numbers[3] : 1.0;
  }
  numbers = set_window (c, &c->measures, numbers);
  numbers = set_window (c, &c->counts, numbers);
  numbers = set_window (c, &c->gains, numbers);
  for (unsigned k = 0;
       c->measure == TFX_LEVELLER_TRUE_PEAK && k < c->n_channels;
       k++, numbers += TFX_PEAK_LINE_PAST)
    tfx_peak_line_set_past (&c->line, k, numbers);
}

void
tfx_cells_rest (const TfxLeveller *l, unsigned n_channels, double *numbers)
{
  double *levels = numbers + tfx_cells_n_sums (l, n_channels) + 1;

  memset (numbers, 0, tfx_cells_n_numbers (l, n_channels) * sizeof *numbers);
  for (unsigned k = 0; k < count_levels (l, n_channels); k++)
    levels[k * TFX_CELLS_LEVEL + 2] = levels[k * TFX_CELLS_LEVEL + 3] = 1.0;
}

/* ---- adding ----------------------------------------------------------------------- */

/* Those of silent frames are 0. */
INLINE double
loud (double square)
{
  return square > TFX_LEVELLER_SILENT ? square : 0.0;
}

/* Channel after channel within a frame. */
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
tfx_cells_hear (TfxCells *c, const double *samples, size_t n_frames)
{
  c->next = samples;
  if (c->measure == TFX_LEVELLER_TRUE_PEAK) {
    c->next = tfx_peak_line_find (&c->line, samples, n_frames);
  } else if (c->measure == TFX_LEVELLER_RMS) {
    square (c->squares, samples, n_frames * c->n_levels,
        c->n_channels / c->n_levels);
    c->next = c->squares;
  }
}

/* Those that are not silent. */
static size_t
count_loud (const double *squares, size_t n_frames, unsigned n_levels)
{
  size_t n = 0;

  for (size_t i = 0; i < n_frames; i++)
    n += squares[i * n_levels] > 0.0;
  return n;
}

/* In any split the same: each frame is added to the row of its number. */
static void
add_squares (TfxCells *c, size_t first, size_t n_frames)
{
  const unsigned n = c->n_levels;

  c->kernels->add_up (c->next, n_frames, n, first, c->sums);
  for (unsigned k = 0; k < n; k++)
    c->n[k] += (double)(c->n_channels / n) *
               (double)count_loud (c->next + k, n_frames, n);
  c->next += n_frames * n;
}

void
tfx_cells_add (TfxCells *c, size_t first, size_t n_frames)
{
  const unsigned width = c->n_channels / c->n_levels;

  if (c->measure == TFX_LEVELLER_RMS) {
    add_squares (c, first, n_frames);
    return;
  }
  c->kernels->find_most (c->next, n_frames * width, c->n_levels, c->most);
  c->next += n_frames * c->n_channels;
}

/* ---- the end of a cell -------------------------------------------------------------- */

/* The cell that is over is one of the window, whose measures, 0 where it is silent, go to
 * `most`. */
static void
measure (TfxCells *c)
{
  const size_t n_over = (size_t)c->n_over++;
  const unsigned n = c->n_levels;

  if (c->measure != TFX_LEVELLER_RMS) {
    window_put (&c->measures, n_over, c->most, c->most, n);
    return;
  }
  for (unsigned i = 0; i < TFX_DYNAMICS_ROWS; i++) {
    for (unsigned k = 0; k < n; k++)
      c->most[k] += c->sums[i * n + k];
  }
  memset (c->sums, 0, TFX_DYNAMICS_ROWS * n * sizeof *c->sums);
  window_put (&c->measures, n_over, c->most, c->most, n);
  window_put (&c->counts, n_over, c->n, c->n, n);
  for (unsigned k = 0; k < n; k++)
    c->most[k] = c->n[k] > 0.0 ? sqrt (c->most[k] / c->n[k]) : 0.0;
}

static double
least (double a, double b)
{
  return a < b ? a : b;
}

void
tfx_cells_end (TfxCells *c, const TfxCellsAim *aim, double *gains)
{
  const size_t n_over = (size_t)c->n_over;
  const double n_smooth =
      (double)(n_over < c->gains.n ? n_over + 1 : c->gains.n);

  measure (c);
  for (unsigned k = 0; k < c->n_levels; k++) {
    const double found = c->most[k];

    /* Silence asks for nothing, but nor does it for less than there may be. */
    if (found * found > TFX_LEVELLER_SILENT)
      c->asked[k] = least (aim->max_gain, aim->target / found);
    else if (aim->max_gain <= 1.0)
      c->asked[k] = aim->max_gain;
    c->held[k] = least (c->asked[k],
        aim->release * c->held[k] + (1.0 - aim->release) * aim->max_gain);
    c->most[k] = c->n[k] = 0.0;
  }
  window_put (&c->gains, n_over, c->held, gains, c->n_levels);
  for (unsigned k = 0; k < c->n_levels; k++)
    gains[k] /= n_smooth;
}
