/* SPDX-License-Identifier: LGPL-2.1-or-later
 * leveller-cells.c: what gain the cells of a stream ask for. */
#include "leveller-cells.h"

#include <math.h>
#include <string.h>

#include "../true-peak.h"

/* Of one gain: the cell that has begun, and what was asked for last. */
typedef struct Level
{
  double measure; /* the largest magnitude, or a sum of squares */
  double n;       /* of how many */
  double asked, held;
} Level;

struct TfxCells
{
  TfxLevellerMeasure measure;
  unsigned n_channels, n_levels;
  size_t n_window, n_smooth, n_numbers;
  TfxTruePeak true_peak;
  double n_over; /* cells, a whole number */
  /* Level[n_levels]; the measures, [n_window][n_levels], and of how many; the
   * gains that were held, [n_smooth][n_levels]; and the last samples of each
   * channel, for true peaks. */
  double data[];
};

#define LEVEL_DOUBLES TFX_CELLS_LEVEL
_Static_assert(sizeof (Level) == LEVEL_DOUBLES * sizeof (double),
    "levels are numbers");
#define N_PAST (TFX_TRUE_PEAK_TAPS - 1)

size_t
tfx_cells_size (const TfxLeveller *l, unsigned n_channels)
{
  const size_t n_levels = l->is_linked ? 1 : n_channels;

  return sizeof (TfxCells) +
         sizeof (double) *
             (n_levels * (LEVEL_DOUBLES + 2 * l->n_window + l->n_smooth) +
                 n_channels * N_PAST);
}

size_t
tfx_cells_n_numbers (const TfxLeveller *l, unsigned n_channels)
{
  return (tfx_cells_size (l, n_channels) - offsetof (TfxCells, n_over)) /
         sizeof (double);
}

void
tfx_cells_get_numbers (const TfxCells *c, double *numbers)
{
  memcpy (numbers, &c->n_over, sizeof c->n_over);
  memcpy (numbers + 1, c->data, (c->n_numbers - 1) * sizeof *numbers);
}

void
tfx_cells_set_numbers (TfxCells *c, const double *numbers)
{
  Level *levels = (Level *)c->data;

  c->n_over = numbers[0];
  memcpy (c->data, numbers + 1, (c->n_numbers - 1) * sizeof *numbers);
  for (unsigned k = 0; k < c->n_levels; k++) {
    levels[k].asked = levels[k].asked > 0.0 ? levels[k].asked : 1.0;
    levels[k].held = levels[k].held > 0.0 ? levels[k].held : 1.0;
  }
}

void
tfx_cells_init (TfxCells *c, const TfxLeveller *l, unsigned n_channels)
{
  Level *levels = (Level *)c->data;

  memset (c, 0, tfx_cells_size (l, n_channels));
  c->measure = l->measure;
  c->n_channels = n_channels;
  c->n_levels = l->is_linked ? 1 : n_channels;
  c->n_window = l->n_window;
  c->n_smooth = l->n_smooth;
  c->n_numbers = tfx_cells_n_numbers (l, n_channels);
  tfx_true_peak_init (&c->true_peak);
  for (unsigned k = 0; k < c->n_levels; k++)
    levels[k].asked = levels[k].held = 1.0;
}

/* ---- adding ----------------------------------------------------------------------- */

static void
add_peaks (TfxCells *c, const double *samples, size_t n_frames)
{
  Level *levels = (Level *)c->data;

  for (unsigned k = 0; k < c->n_channels; k++) {
    Level *level = &levels[c->n_levels == 1 ? 0 : k];
    double most = level->measure;

    for (size_t i = 0; i < n_frames; i++) {
      const double a = fabs (samples[i * c->n_channels + k]);

      most = a > most ? a : most;
    }
    level->measure = most;
  }
}

/* Channel after channel within a frame, and frame after frame, so that it does not
 * matter how the stream is cut. */
static void
add_squares (TfxCells *c, const double *samples, size_t n_frames)
{
  Level *levels = (Level *)c->data;
  const unsigned width = c->n_channels / c->n_levels;

  for (size_t i = 0; i < n_frames; i++) {
    for (unsigned k = 0; k < c->n_levels; k++) {
      double sum = 0.0;

      for (unsigned m = 0; m < width; m++, samples++)
        sum += *samples * *samples;
      levels[k].measure += sum;
      levels[k].n += sum > 0.0 ? width : 0;
    }
  }
}

static void
add_true_peaks (TfxCells *c, const double *samples, double *room,
    size_t n_frames)
{
  double *past =
      c->data + c->n_levels * (LEVEL_DOUBLES + 2 * c->n_window + c->n_smooth);

  for (unsigned k = 0; k < c->n_channels; k++)
    tfx_true_peak_run (&c->true_peak, samples + k, room + k, n_frames,
        c->n_channels, past + k * N_PAST);
  add_peaks (c, room, n_frames);
}

void
tfx_cells_add (TfxCells *c, const double *samples, double *room,
    size_t n_frames)
{
  if (c->measure == TFX_LEVELLER_RMS)
    add_squares (c, samples, n_frames);
  else if (c->measure == TFX_LEVELLER_TRUE_PEAK)
    add_true_peaks (c, samples, room, n_frames);
  else
    add_peaks (c, samples, n_frames);
}

/* ---- the end of a cell -------------------------------------------------------------- */

/* Of the window; 0 if it is silent. */
static double
find_level (const TfxCells *c, unsigned k)
{
  const double *measures = c->data + c->n_levels * LEVEL_DOUBLES + k;
  const double *counts = measures + c->n_window * c->n_levels;
  double most = 0.0, sum = 0.0, n = 0.0;

  for (size_t i = 0; i < c->n_window; i++) {
    const double m = measures[i * c->n_levels];

    most = m > most ? m : most;
    sum += m;
    n += counts[i * c->n_levels];
  }
  if (c->measure == TFX_LEVELLER_RMS)
    return n > 0.0 ? sqrt (sum / n) : 0.0;
  return most;
}

static double
smooth (TfxCells *c, unsigned k, double held)
{
  double *gains = c->data + c->n_levels * (LEVEL_DOUBLES + 2 * c->n_window) + k;
  const size_t n_over = (size_t)c->n_over;
  const size_t n = n_over < c->n_smooth ? n_over : c->n_smooth;
  double sum = 0.0;

  gains[(n_over - 1) % c->n_smooth * c->n_levels] = held;
  for (size_t i = 0; i < n; i++)
    sum += gains[i * c->n_levels];
  return sum / (double)n;
}

void
tfx_cells_end (TfxCells *c, const TfxCellsAim *aim, double *gains)
{
  double *measures = c->data + c->n_levels * LEVEL_DOUBLES;
  const size_t at = (size_t)c->n_over++ % c->n_window * c->n_levels;
  double *counts = measures + c->n_window * c->n_levels;
  Level *levels = (Level *)c->data;

  for (unsigned k = 0; k < c->n_levels; k++) {
    Level *level = &levels[k];
    double found;

    measures[at + k] = level->measure;
    counts[at + k] = level->n;
    level->measure = level->n = 0.0;
    found = find_level (c, k);
    /* Silence asks for nothing, but nor does it for less than there may be. */
    if (found > 0.0)
      level->asked = fmin (aim->max_gain, aim->target / found);
    else if (aim->max_gain <= 1.0)
      level->asked = aim->max_gain;
    level->held = fmin (level->asked,
        aim->release * level->held + (1.0 - aim->release) * aim->max_gain);
    gains[k] = smooth (c, k, level->held);
  }
}
