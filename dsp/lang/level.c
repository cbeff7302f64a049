/* SPDX-License-Identifier: LGPL-2.1-or-later
 * level.c: Normalize and Loudness, and a Limiter of true peaks: gains that are
 * found ahead, cell by cell. */
#include <errno.h>
#include <math.h>

#include "class.h"
#include "error.h"
#include "design/k-weighting.h"
#include "core/kind.h"

static double
to_db (double factor)
{
  return 20.0 * log10 (factor);
}

static double
cell_coefficient (double seconds, size_t n_cell, double rate_hz)
{
  return seconds > 0.0 ? exp (-(double)n_cell / (seconds * rate_hz)) : 0.0;
}

static double
at_least (double value, double lowest)
{
  return value > lowest ? value : lowest;
}

/* ---- Normalize ---------------------------------------------------------------- */

/* Cells of a window, about; and the fewest. */
#define WINDOW_CELLS 256.0
#define FEWEST_CELLS 8.0

static void
set_window (TfxLeveller *l, double seconds, double rate_hz)
{
  const double n_frames = at_least (seconds * rate_hz, FEWEST_CELLS);

  l->n_cell = (size_t)ceil (n_frames / WINDOW_CELLS);
  l->n_window =
      (size_t)at_least (rint (n_frames / (double)l->n_cell), FEWEST_CELLS);
  l->n_ahead = l->n_window / 2;
  l->n_smooth = l->n_ahead / 2;
}

void
tfx_normalize_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  TfxLeveller l;

  if (rate_hz <= 0.0)
    return;
  set_window (&l, tfx_class_number (node, "window"), rate_hz);
  extent->delay += (double)(l.n_ahead * l.n_cell);
}

int
tfx_normalize_design (const TfxBuild *build, const TfxNode *node,
    TfxMoved *moved)
{
  TfxLeveller *l = &moved->leveller;

  moved->kind = &tfx_kind_leveller;
  *l = (TfxLeveller){
    .measure = tfx_class_is (node, "strategy", "rms") ? TFX_LEVELLER_RMS
                                                      : TFX_LEVELLER_PEAK,
    .is_linked = !tfx_class_is (node, "strategy", "per-channel"),
    .target_db = to_db (tfx_class_number (node, "peak")),
    .max_gain_db = tfx_class_number (node, "max_gain"),
  };
  set_window (l, tfx_class_number (node, "window"), build->rate_hz);
  return 0;
}

/* ---- Limiter ------------------------------------------------------------------ */

/* Frames of its cells: what it looks ahead is rounded up to them. */
#define LIMITER_CELL 16

/* A peak between samples may be found in the cell behind. */
static void
set_look_ahead (TfxLeveller *l, double seconds, double rate_hz)
{
  l->n_cell = LIMITER_CELL;
  while (seconds * rate_hz / (double)l->n_cell > TFX_LEVELLER_MAX_CELLS - 1)
    l->n_cell *= 2;
  l->n_ahead =
      (size_t)at_least (ceil (seconds * rate_hz / (double)l->n_cell - 1e-9),
          3.0);
  l->n_smooth = l->n_ahead - 2;
  l->n_window = l->n_ahead;
}

size_t
tfx_true_peak_limiter_delay (const TfxNode *node, double rate_hz)
{
  TfxLeveller l;

  set_look_ahead (&l, tfx_class_number (node, "lookahead"), rate_hz);
  return l.n_ahead * l.n_cell;
}

int
tfx_true_peak_limiter_design (const TfxBuild *build, const TfxNode *node,
    TfxMoved *moved)
{
  TfxLeveller *l = &moved->leveller;

  moved->kind = &tfx_kind_leveller;
  *l = (TfxLeveller){
    .measure = TFX_LEVELLER_TRUE_PEAK,
    .is_linked = tfx_class_number (node, "link") != 0.0,
    .target_db = tfx_class_number (node, "threshold"),
  };
  set_look_ahead (l, tfx_class_number (node, "lookahead"), build->rate_hz);
  l->release = cell_coefficient (tfx_class_number (node, "release"), l->n_cell,
      build->rate_hz);
  return 0;
}

/* ---- Loudness ----------------------------------------------------------------- */

static size_t
count_steps (const TfxNode *node)
{
  if (tfx_class_value (node, "target")->type == TFX_VALUE_NONE)
    return 0;
  return (
      size_t)at_least (rint (tfx_class_number (node, "lookahead") * 10.0), 2.0);
}

static size_t
step_frames (double rate_hz)
{
  return (size_t)at_least (floor (rate_hz / 10.0 + 0.5), 1.0);
}

void
tfx_loudness_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->delay += (double)(count_steps (node) * step_frames (rate_hz));
}

int
tfx_loudness_design (const TfxBuild *build, const TfxNode *node,
    TfxMoved *moved)
{
  TfxLeveller *l = &moved->leveller;
  const size_t n_frames = step_frames (build->rate_hz);

  if (!(build->rate_hz > TFX_K_WEIGHTING_LOWEST_RATE_HZ) ||
      n_frames > TFX_LEVELLER_MAX_CELL)
    return tfx_class_refuse (build,
        "the sample rate must be from 4001 to 1310720 Hz");
  moved->kind = &tfx_kind_leveller;
  *l = (TfxLeveller){
    .measure = TFX_LEVELLER_LOUDNESS,
    .is_linked = true,
    .n_cell = n_frames,
    .n_ahead = count_steps (node),
    .max_gain_db = tfx_class_number (node, "max_gain"),
    .step_db = tfx_class_number (node, "speed") / 10.0,
    .positions = build->positions ? build->positions
                                  : tfx_positions_default (build->n_channels),
  };
  l->n_smooth = l->n_ahead > 0 ? 1 : 0;
  l->n_window = l->n_ahead;
  if (l->n_ahead > 0)
    l->target_db = tfx_class_number (node, "target");
  tfx_k_weighting_design (build->rate_hz, l->weighting);
  return 0;
}
