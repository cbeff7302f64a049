/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ramp.c: parameter ramps of sections and gains. */
#include "ramp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "design/svf.h"
#include "design/weight.h"

/* Doubles of coef, and of all, for a section. */
#define N_COEF (TFX_SVF_COEF * TFX_GRID_FRAMES)
#define N_DOUBLES (N_COEF + 2 * TFX_RAMP_VALUES)

/* coef is aligned to lines of the cache. */
#define LINE_BYTES 64

/* The limits of a sweep: for all sections together, in octaves of frequency and quality,
 * each of up to a cycle and a half of phase; and for one section from one automation
 * event to the next. */
#define MOST_OCTAVES 1.0
#define MOST_RATIO_OF_CELL 1.189207115002721 /* a quarter of an octave */

/* A cross-fade lasts until the new sections have settled by SWING_NEPERS, at most
 * MOST_FADES times its usual length. */
#define SWING_NEPERS 2.5
#define MOST_FADES 4

int
tfx_ramp_init (TfxSlot *slot, const TfxFilterSpec *spec)
{
  TfxRamp *m = &slot->ramp;
  const size_t n = slot->n_sos;

  m->n_fade_cells = tfx_slot_fade_cells (spec);
  m->cell = UINT64_MAX;
  if (n == 0)
    return 0;
  m->coef = aligned_alloc (LINE_BYTES,
      (N_DOUBLES * n * sizeof *m->coef + LINE_BYTES - 1) / LINE_BYTES *
          LINE_BYTES);
  m->state = calloc (2 * n, spec->n_channels * sizeof *m->state);
  m->room = m->from = calloc (2 * n, sizeof *m->from);
  if (!m->coef || !m->state || !m->from)
    return -ENOMEM;
  m->values = m->coef + N_COEF * n;
  m->rates = m->values + TFX_RAMP_VALUES * n;
  m->to = m->from + n;
  return 0;
}

void
tfx_ramp_clear (TfxSlot *slot)
{
  TfxRamp *m = &slot->ramp;

  free (m->coef);
  free (m->room);
  free (m->state);
  *m = (TfxRamp){ 0 };
}

/* ---- begins and ends ------------------------------------------------------------ */

/* The change of frequency and quality together, high / low, is 1 or more. */
static inline void
find_ratio (const TfxSvf *a, const TfxSvf *b, double *high, double *low)
{
  *high = (b->g > a->g ? b->g : a->g) * (b->k > a->k ? b->k : a->k);
  *low = (b->g > a->g ? a->g : b->g) * (b->k > a->k ? a->k : b->k);
}

/* The relative change of a gain. */
static double
part_of (double from, double to)
{
  const double most = fmax (fabs (from), fabs (to));

  return most > 0.0 ? fabs (to - from) / most : 0.0;
}

/* Whether sections are cross-faded.  Gains are linear between points: a change by a half
 * counts as an octave. */
static bool
is_far (const TfxSlot *slot)
{
  double sum = 0.0, high, low;

  for (size_t k = 0; k < slot->n_sos; k++) {
    const TfxSvf *a = &slot->ramp.from[k], *b = &slot->ramp.to[k];

    find_ratio (a, b, &high, &low);
    if (slot->ramp.is_curve && high > MOST_RATIO_OF_CELL * low)
      return true;
    if (slot->ramp.is_curve)
      continue;
    sum += log2 (high / low);
    sum += 2.0 *
           fmax (part_of (a->low, b->low),
               fmax (part_of (a->band, b->band), part_of (a->high, b->high)));
  }
  return sum > MOST_OCTAVES;
}

/* Moves the state back from the ramp, which has ended at `to`, in these shapes. */
static void
take_state (TfxSlot *slot, const TfxSvf *shapes)
{
  const TfxRamp *m = &slot->ramp;

  for (unsigned c = 0; m->is_entered && c < slot->n_channels; c++) {
    double *s = slot->state + 2 * c * slot->n_sos;

    if (m->is_fade)
      memcpy (s, m->state + 2 * c * slot->n_sos, 2 * slot->n_sos * sizeof *s);
    for (size_t k = 0; !m->is_fade && k < slot->n_sos; k++) {
      const double ml[2] = { m->state[k * slot->n_channels + c],
        m->state[(slot->n_sos + k) * slot->n_channels + c] };

      tfx_svf_set_state (&slot->to[k], &shapes[k], ml, s + 2 * k);
    }
  }
}

static void
finish (TfxSlot *slot)
{
  if (slot->n_sos > 0)
    memcpy (slot->sos, slot->to, slot->n_sos * sizeof *slot->sos);
  slot->gain = slot->gain_to;
  slot->ramp.n_cells = 0;
  slot->ramp.is_entered = false;
  slot->ramp.cell = UINT64_MAX;
}

/* New sections start at rest, and the cross-fade lasts until they have settled. */
static unsigned
count_fade_cells (const TfxRamp *m, size_t n_sos)
{
  double frames = 0.0;

  for (size_t k = 0; k < n_sos; k++) {
    const TfxSvf *s = &m->to[k];
    /* Decay of the slower pole in nepers per frame. */
    const double decay =
        2.0 * atan (s->g) * (s->k < 2.0 ? 0.5 * s->k : 1.0 / s->k);

    frames = fmax (frames, SWING_NEPERS / decay);
  }
  return (unsigned)fmax (m->n_fade_cells,
      fmin (frames / TFX_GRID_FRAMES, MOST_FADES * m->n_fade_cells));
}

/* Begins a ramp at `first`, after the last one; or in place of a ramp that has not begun.  After
 * a sweep along the same curve the integrators continue. */
static void
begin (TfxSlot *slot, const TfxSlotValues *to, unsigned n_cells, uint64_t first)
{
  TfxRamp *m = &slot->ramp;
  const bool was_gliding =
      m->n_cells == 1 && n_cells == 1 && m->is_entered && !m->is_fade;
  bool fades;

  if (m->n_cells > 0 && !was_gliding && first >= tfx_ramp_end (slot)) {
    take_state (slot, m->to);
    finish (slot);
  }
  m->n_cells = n_cells;
  m->is_curve = n_cells == 1;
  m->first = first;
  m->cell = UINT64_MAX;
  if (was_gliding)
    slot->gain = slot->gain_to;
  slot->gain_to = to->gain;
  if (slot->n_sos == 0)
    return;
  if (was_gliding) {
    TfxSvf *last = m->to;

    m->to = m->from;
    m->from = last;
  }
  for (size_t k = 0; k < slot->n_sos; k++) {
    if (!was_gliding)
      m->from[k] = tfx_svf_of (&slot->sos[k]);
    m->to[k] = to->shapes ? to->shapes[k] : tfx_svf_of (&to->sos[k]);
  }
  fades = is_far (slot);
  if (fades && was_gliding) {
    take_state (slot, m->from);
    m->is_entered = false;
  }
  m->is_fade = fades;
  if (was_gliding)
    memcpy (slot->sos, slot->to, slot->n_sos * sizeof *slot->sos);
  memcpy (slot->to, to->sos, slot->n_sos * sizeof *slot->to);
  if (fades)
    m->n_cells = count_fade_cells (m, slot->n_sos);
}

void
tfx_ramp_update (TfxSlot *slot, uint64_t now)
{
  if (slot->ramp.n_cells == 0 || now < tfx_ramp_end (slot))
    return;
  take_state (slot, slot->ramp.to);
  finish (slot);
}

/* Whether a ramp has begun before that frame, perhaps while silence was skipped. */
static bool
has_begun (const TfxRamp *m, uint64_t now)
{
  return m->is_entered || (m->n_cells > 0 && m->first < now);
}

bool
tfx_ramp_must_wait (const TfxSlot *slot, unsigned n_cells, uint64_t now)
{
  const TfxRamp *m = &slot->ramp;

  if (m->n_cells == 0 || now >= tfx_ramp_end (slot) ||
      !(has_begun (m, now) || (n_cells == 1 && !m->is_curve)))
    return false;
  return slot->sos || m->n_cells == n_cells;
}

void
tfx_ramp_set (TfxSlot *slot, const TfxSlotValues *to, unsigned n_cells,
    uint64_t now)
{
  const TfxRamp *m = &slot->ramp;
  const size_t n_bytes = slot->n_sos * sizeof *slot->sos;
  const uint64_t first =
      (now + TFX_GRID_FRAMES - 1) / TFX_GRID_FRAMES * TFX_GRID_FRAMES;
  const bool is_same =
      slot->sos ? n_bytes == 0 || memcmp (to->sos, slot->sos, n_bytes) == 0
                : to->gain == slot->gain;
  double w = 0.0, gain;

  if (n_cells == 0 || (!has_begun (m, now) && is_same)) {
    /* At once; or back to the current values before the ramp has begun. */
    if (n_bytes > 0)
      memcpy (slot->to, to->sos, n_bytes);
    slot->gain_to = to->gain;
    finish (slot);
  } else if (m->n_cells > 0 && now < tfx_ramp_end (slot) &&
             (has_begun (m, now) || (n_cells == 1 && !m->is_curve))) {
    /* The running ramp of a gain gets another end. */
    if (now >= m->first)
      tfx_ramp_weights (slot, now, 1, &w);
    gain = slot->gain + w * (slot->gain_to - slot->gain);
    slot->gain = (gain - w * to->gain) / (1.0 - w);
    slot->gain_to = to->gain;
  } else {
    begin (slot, to, n_cells, first);
  }
}

void
tfx_ramp_reset (TfxSlot *slot)
{
  finish (slot);
}

void
tfx_ramp_enter (TfxSlot *slot)
{
  TfxRamp *m = &slot->ramp;

  m->is_entered = true;
  if (slot->n_sos == 0)
    return;
  memset (m->state, 0, 2 * slot->n_sos * slot->n_channels * sizeof *m->state);
  for (unsigned c = 0; !m->is_fade && c < slot->n_channels; c++) {
    for (size_t k = 0; k < slot->n_sos; k++) {
      double ml[2];

      tfx_svf_get_state (&slot->sos[k], &m->from[k],
          slot->state + 2 * (c * slot->n_sos + k), ml);
      m->state[k * slot->n_channels + c] = ml[0];
      m->state[(slot->n_sos + k) * slot->n_channels + c] = ml[1];
    }
  }
}

/* ---- values ------------------------------------------------------------------- */

/* The weight of the new values in a ramp of `length` frames. */
static double
weight_at (const TfxRamp *m, uint64_t frame, size_t length)
{
  return tfx_weight_at (m->n_cells == 1 ? TFX_WEIGHT_LINEAR : TFX_WEIGHT_SMOOTH,
      (size_t)(frame - m->first), length);
}

void
tfx_ramp_weights (const TfxSlot *slot, uint64_t frame, size_t n,
    double *weights)
{
  const TfxRamp *m = &slot->ramp;

  for (size_t i = 0; i < n; i++)
    weights[i] = weight_at (m, frame + i, m->n_cells * TFX_GRID_FRAMES);
}

void
tfx_ramp_gains (const TfxSlot *slot, uint64_t frame, size_t n, double *gains)
{
  const double from = slot->gain, apart = slot->gain_to - slot->gain;

  if (!tfx_ramp_is_on (slot, frame)) {
    for (size_t i = 0; i < n; i++)
      gains[i] = from;
  } else if (slot->ramp.n_cells == 1) {
    const double first = (double)(frame - slot->ramp.first);

    /* Exact, as TFX_GRID_FRAMES is a power of two. */
    for (int i = 0; i < (int)n; i++)
      gains[i] = from + (first + i) * (1.0 / TFX_GRID_FRAMES) * apart;
  } else {
    tfx_ramp_weights (slot, frame, n, gains);
    for (size_t i = 0; i < n; i++)
      gains[i] = from + gains[i] * apart;
  }
}

void
tfx_ramp_rise (const TfxSlot *slot, uint64_t frame, size_t n, double *weights)
{
  const TfxRamp *m = &slot->ramp;

  /* In half of the usual length. */
  for (size_t i = 0; i < n; i++)
    weights[i] =
        weight_at (m, frame + i, m->n_fade_cells * TFX_GRID_FRAMES / 2);
}

/* (to / from)^part.  From frame to frame the ratio is near 1 and the exponent near 0, so
 * series suffice; the logarithm is 2 artanh ((to - from) / (to + from)). */
static double
power (double from, double to, double part)
{
  const double t = (to - from) / (to + from), t2 = t * t, t4 = t2 * t2;
  double y, y2, log_part, exp_part;

  if (t == 0.0)
    return 1.0;
  if (fabs (t) > 0.09 || part > 0.1)
    return exp (part * log (to / from));
  log_part =
      (1.0 / 9.0 + t2 * (1.0 / 11.0)) + t4 * (1.0 / 13.0 + t2 * (1.0 / 15.0));
  log_part = (1.0 / 5.0 + t2 * (1.0 / 7.0)) + t4 * log_part;
  y = part * 2.0 * (t + t * t2 * (1.0 / 3.0 + t2 * log_part));
  y2 = y * y;
  exp_part = (1.0 / 24.0 + y * (1.0 / 120.0)) +
             y2 * (1.0 / 720.0 + y * (1.0 / 5040.0));
  return 1.0 + (y + y2 * ((0.5 + y * (1.0 / 6.0)) + y2 * exp_part));
}

void
tfx_ramp_begin_cell (TfxSlot *slot, uint64_t frame)
{
  TfxRamp *m = &slot->ramp;
  const size_t n = slot->n_sos;
  const size_t length = m->n_cells * TFX_GRID_FRAMES;
  double w = 0.0, next = 1.0, part;

  m->cell = frame;
  if (m->n_cells > 1) {
    w = weight_at (m, frame, length);
    next = weight_at (m, frame + TFX_GRID_FRAMES, length);
  }
  part = (next - w) / TFX_GRID_FRAMES;

  for (size_t k = 0; k < slot->n_sos; k++) {
    const TfxSvf *a = &m->from[k], *b = &m->to[k];

    m->values[k] = w > 0.0 ? a->g * power (a->g, b->g, w) : a->g;
    m->values[n + k] = w > 0.0 ? a->k * power (a->k, b->k, w) : a->k;
    m->values[2 * n + k] = a->low + w * (b->low - a->low);
    m->values[3 * n + k] = a->band + w * (b->band - a->band);
    m->values[4 * n + k] = a->high + w * (b->high - a->high);
    m->rates[k] = power (a->g, b->g, part);
    m->rates[n + k] = power (a->k, b->k, part);
    m->rates[2 * n + k] = part * (b->low - a->low);
    m->rates[3 * n + k] = part * (b->band - a->band);
    m->rates[4 * n + k] = part * (b->high - a->high);
  }
}
