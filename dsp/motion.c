/* SPDX-License-Identifier: LGPL-2.1-or-later
 * motion.c: how the values of a slot of sections or a gain go from one setting to
 * another. */
#include "motion.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "state-map.h"
#include "weight.h"

/* Vectors of values are so long at the most. */
#define MAX_LANES 8

/* How far sections may glide in one motion: all of them together, in octaves of
 * frequency and quality, each of which turns phases by up to a cycle and a half;
 * and one of them on its way along a curve, from one point to the next. */
#define MOST_OCTAVES 1.0
#define MOST_RATIO_OF_CELL 1.189207115002721 /* a quarter of an octave */

int
tfx_motion_init (TfxSlot *slot, const TfxFilterSpec *spec)
{
  TfxMotion *m = &slot->motion;
  const size_t n = (slot->n_sos + MAX_LANES - 1) / MAX_LANES * MAX_LANES;

  m->n_lanes = n;
  m->n_channels = spec->n_channels;
  m->n_fade_cells = tfx_slot_fade_cells (spec);
  if (n == 0)
    return 0;
  m->values = calloc (3 * TFX_MOTION_VALUES * n, sizeof *m->values);
  m->state = calloc (2 * n, spec->n_channels * sizeof *m->state);
  m->from = calloc (2 * n, sizeof *m->from);
  m->room[0] = m->values;
  m->room[1] = m->from;
  if (!m->values || !m->state || !m->from)
    return -ENOMEM;
  m->after = m->values + TFX_MOTION_VALUES * n;
  m->rates = m->after + TFX_MOTION_VALUES * n;
  m->to = m->from + n;
  /* Lanes without a section: g = k = 1 for ever, and nothing comes out. */
  for (size_t i = 0; i < 2 * n; i++)
    m->values[i] = m->after[i] = m->rates[i] = 1.0;
  return 0;
}

void
tfx_motion_clear (TfxSlot *slot)
{
  TfxMotion *m = &slot->motion;

  free (m->room[0]);
  free (m->room[1]);
  free (m->state);
  *m = (TfxMotion){ 0 };
}

/* ---- begins and ends ------------------------------------------------------------ */

/* What part of a gain changes. */
static double
part_of (double from, double to)
{
  const double most = fmax (fabs (from), fabs (to));

  return most > 0.0 ? fabs (to - from) / most : 0.0;
}

/* Of frequency and quality together, 1 or more. */
static double
ratio_of (const TfxShape *a, const TfxShape *b)
{
  const double g = b->g > a->g ? b->g / a->g : a->g / b->g;

  return b->k > a->k ? g * b->k / a->k : g * a->k / b->k;
}

/* Gains on the way of a glide are straight lines from point to point: half of one
 * counts as an octave. */
static bool
is_far (const TfxSlot *slot)
{
  double sum = 0.0;

  for (size_t k = 0; k < slot->n_sos; k++) {
    const TfxShape *a = &slot->motion.from[k], *b = &slot->motion.to[k];

    sum += log2 (ratio_of (a, b));
    sum += 2.0 *
           fmax (part_of (a->low, b->low),
               fmax (part_of (a->band, b->band), part_of (a->high, b->high)));
  }
  return sum > MOST_OCTAVES;
}

static bool
is_far_on_curve (const TfxSlot *slot)
{
  bool found = false;

  for (size_t k = 0; !found && k < slot->n_sos; k++)
    found = ratio_of (&slot->motion.from[k], &slot->motion.to[k]) >
            MOST_RATIO_OF_CELL;
  return found;
}

/* The state of what has run, whose values are `to` in these shapes. */
static void
take_state (TfxSlot *slot, const TfxShape *shapes)
{
  const TfxMotion *m = &slot->motion;

  for (unsigned c = 0; m->is_entered && c < m->n_channels; c++) {
    double *s = slot->state + 2 * c * slot->n_sos;
    const double *state = m->state + 2 * c * m->n_lanes;

    for (size_t k = 0; k < slot->n_sos; k++) {
      const double ml[2] = { state[k], state[m->n_lanes + k] };

      if (m->is_fade)
        memcpy (s + 2 * k, state + 2 * k, 2 * sizeof *s);
      else
        tfx_shape_set_state (&slot->to[k], &shapes[k], ml, s + 2 * k);
    }
  }
}

static void
finish (TfxSlot *slot)
{
  if (slot->n_sos > 0)
    memcpy (slot->sos, slot->to, slot->n_sos * sizeof *slot->sos);
  slot->gain = slot->gain_to;
  slot->motion.n_cells = 0;
  slot->motion.is_entered = false;
}

/* A motion to sections whose shapes are in m->to, from those in m->from; after one
 * along the same curve it goes on with the integrators. */
static void
begin_sections (TfxSlot *slot, const TfxSos *to, bool was_gliding)
{
  TfxMotion *m = &slot->motion;
  const bool fades = m->is_curve ? is_far_on_curve (slot) : is_far (slot);

  if (fades && was_gliding) {
    take_state (slot, m->from);
    m->is_entered = false;
  }
  if (was_gliding)
    memcpy (slot->sos, slot->to, slot->n_sos * sizeof *slot->sos);
  memcpy (slot->to, to, slot->n_sos * sizeof *to);
  m->is_fade = fades;
  if (fades && m->is_curve)
    m->n_cells = m->n_fade_cells;
}

/* Begins at `first`, where the one before it has come to its end; or in place of
 * one that has not begun. */
static void
begin (TfxSlot *slot, const TfxSos *to, double gain_to, unsigned n_cells,
    uint64_t first)
{
  TfxMotion *m = &slot->motion;
  const bool was_gliding =
      m->n_cells == 1 && n_cells == 1 && m->is_entered && !m->is_fade;

  if (m->n_cells > 0 && !was_gliding && first >= tfx_motion_end (slot)) {
    take_state (slot, m->to);
    finish (slot);
  }
  m->n_cells = n_cells;
  m->is_curve = n_cells == 1;
  m->first = first;
  if (was_gliding)
    slot->gain = slot->gain_to;
  slot->gain_to = gain_to;
  if (slot->n_sos == 0)
    return;
  if (was_gliding) {
    TfxShape *last = m->to;

    m->to = m->from;
    m->from = last;
  }
  for (size_t k = 0; k < slot->n_sos; k++) {
    if (!was_gliding)
      m->from[k] = tfx_shape_of (&slot->sos[k]);
    m->to[k] = tfx_shape_of (&to[k]);
  }
  begin_sections (slot, to, was_gliding);
}

static bool
are_same (const TfxSos *a, const TfxSos *b, size_t n)
{
  return n == 0 || memcmp (a, b, n * sizeof *a) == 0;
}

static void
set_at_once (TfxSlot *slot, const TfxStage *stage)
{
  if (slot->n_sos > 0)
    memcpy (slot->to, stage->u.sections.sos, slot->n_sos * sizeof *slot->to);
  else if (!slot->sos)
    slot->gain_to = stage->u.gain;
  slot->n_wait = 0;
  finish (slot);
}

static void
wait_for_end (TfxSlot *slot, const TfxSos *sos, double gain, unsigned n_cells)
{
  if (slot->n_sos > 0)
    memcpy (slot->wait, sos, slot->n_sos * sizeof *sos);
  slot->gain_wait = gain;
  slot->n_wait = n_cells;
}

/* The ramp of a gain that is on goes on from where it is to another end, a point
 * of a curve. */
static void
lead_to (TfxSlot *slot, double gain_to, uint64_t now)
{
  double w = 0.0, gain;

  if (now >= slot->motion.first)
    tfx_motion_weights (slot, now, 1, &w);
  gain = slot->gain + w * (slot->gain_to - slot->gain);
  slot->gain = (gain - w * gain_to) / (1.0 - w);
  slot->gain_to = gain_to;
}

void
tfx_motion_update (TfxSlot *slot, uint64_t now)
{
  const unsigned n_cells = slot->n_wait;

  if (slot->motion.n_cells == 0 || now < tfx_motion_end (slot))
    return;
  if (n_cells > 0) {
    slot->n_wait = 0;
    begin (slot, slot->wait, slot->gain_wait, n_cells, tfx_motion_end (slot));
    return;
  }
  take_state (slot, slot->motion.to);
  finish (slot);
}

void
tfx_motion_set (TfxSlot *slot, const TfxStage *stage, unsigned n_cells,
    uint64_t now)
{
  const TfxMotion *m = &slot->motion;
  const TfxSos *sos = slot->sos ? stage->u.sections.sos : NULL;
  const double gain = slot->sos ? 1.0 : stage->u.gain;
  const uint64_t first =
      (now + TFX_GRID_FRAMES - 1) / TFX_GRID_FRAMES * TFX_GRID_FRAMES;

  if (n_cells == 0) {
    set_at_once (slot, stage);
    return;
  }
  if (slot->n_wait > 0)
    tfx_motion_update (slot, now);
  if (m->n_cells > 0 && now < tfx_motion_end (slot) &&
      (m->is_entered || (n_cells == 1 && !m->is_curve))) {
    if (slot->sos || m->n_cells == n_cells)
      wait_for_end (slot, sos, gain, n_cells);
    else
      lead_to (slot, gain, now);
    return;
  }
  /* There and back before anything was heard of it. */
  if (!m->is_entered && (slot->sos ? are_same (sos, slot->sos, slot->n_sos)
                                   : gain == slot->gain)) {
    set_at_once (slot, stage);
    return;
  }
  slot->n_wait = 0;
  begin (slot, sos, gain, n_cells, first);
}

void
tfx_motion_reset (TfxSlot *slot)
{
  if (slot->n_sos > 0)
    memmove (slot->to, tfx_slot_target (slot), slot->n_sos * sizeof *slot->to);
  slot->gain_to = tfx_slot_target_gain (slot);
  slot->n_wait = 0;
  finish (slot);
}

void
tfx_motion_enter (TfxSlot *slot)
{
  TfxMotion *m = &slot->motion;

  m->is_entered = true;
  if (m->n_lanes == 0)
    return;
  memset (m->state, 0, 2 * m->n_lanes * m->n_channels * sizeof *m->state);
  for (unsigned c = 0; !m->is_fade && c < m->n_channels; c++) {
    double *state = m->state + 2 * c * m->n_lanes;

    for (size_t k = 0; k < slot->n_sos; k++) {
      double ml[2];

      tfx_shape_get_state (&slot->sos[k], &m->from[k],
          slot->state + 2 * (c * slot->n_sos + k), ml);
      state[k] = ml[0];
      state[m->n_lanes + k] = ml[1];
    }
  }
}

/* ---- on the way ------------------------------------------------------------------- */

/* The weight of the new values at a point of a motion that takes so many frames. */
static double
weight_at (const TfxMotion *m, uint64_t frame, size_t length)
{
  return tfx_weight_at (m->n_cells == 1 ? TFX_WEIGHT_LINEAR : TFX_WEIGHT_SMOOTH,
      (size_t)(frame - m->first), length);
}

void
tfx_motion_weights (const TfxSlot *slot, uint64_t frame, size_t n,
    double *weights)
{
  const TfxMotion *m = &slot->motion;

  for (size_t i = 0; i < n; i++)
    weights[i] = weight_at (m, frame + i, m->n_cells * TFX_GRID_FRAMES);
}

void
tfx_motion_rise (const TfxSlot *slot, uint64_t frame, size_t n, double *weights)
{
  const TfxMotion *m = &slot->motion;

  for (size_t i = 0; i < n; i++)
    weights[i] = weight_at (m, frame + i, m->n_cells * TFX_GRID_FRAMES / 2);
}

/* ratio^part */
static double
power (double ratio, double part)
{
  const double e = ratio - 1.0;

  if (fabs (e) > 1e-4)
    return exp (part * log (ratio));
  return 1.0 + part * e * (1.0 + 0.5 * (part - 1.0) * e);
}

void
tfx_motion_begin_cell (TfxSlot *slot, uint64_t frame)
{
  TfxMotion *m = &slot->motion;
  const size_t n = m->n_lanes;
  const size_t length = m->n_cells * TFX_GRID_FRAMES;
  const double w = weight_at (m, frame, length);
  const double next = weight_at (m, frame + TFX_GRID_FRAMES, length);
  const double part = (next - w) / TFX_GRID_FRAMES;

  for (size_t k = 0; k < slot->n_sos; k++) {
    const TfxShape *a = &m->from[k], *b = &m->to[k];
    const double g = b->g / a->g, q = b->k / a->k;

    m->values[k] = w > 0.0 ? a->g * power (g, w) : a->g;
    m->values[n + k] = w > 0.0 ? a->k * power (q, w) : a->k;
    m->values[2 * n + k] = a->low + w * (b->low - a->low);
    m->values[3 * n + k] = a->band + w * (b->band - a->band);
    m->values[4 * n + k] = a->high + w * (b->high - a->high);
    m->rates[k] = power (g, part);
    m->rates[n + k] = power (q, part);
    m->rates[2 * n + k] = part * (b->low - a->low);
    m->rates[3 * n + k] = part * (b->band - a->band);
    m->rates[4 * n + k] = part * (b->high - a->high);
  }
}
