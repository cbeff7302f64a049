/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.c: delay lines with taps. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "cpu/delay.h"
#include "unit.h"

/* Sets the numbers of a stage that has space for the taps; false: they are not valid. */
static bool
set_taps (TfxStage *stage, double direct, const TfxTap *taps, size_t n_taps)
{
  size_t longest = 0;

  for (size_t i = 0; i < n_taps; i++) {
    if (!isfinite (taps[i].gain) || taps[i].delay > TFX_DELAY_MAX)
      return false;
    longest = taps[i].delay > longest ? taps[i].delay : longest;
  }
  if (!isfinite (direct))
    return false;
  stage->u.delay.direct = direct;
  stage->u.delay.longest = longest;
  if (n_taps > 0)
    memcpy (stage->u.delay.taps, taps, n_taps * sizeof *taps);
  return true;
}

TfxStage *
tfx_stage_new_delay (uint64_t id, double direct, const TfxTap *taps,
    size_t n_taps)
{
  TfxStage *stage = tfx_stage_alloc (id, &tfx_kind_delay);

  if (!stage)
    return NULL;
  stage->u.delay.n_taps = n_taps;
  stage->u.delay.taps = tfx_stage_copy (taps, n_taps, sizeof *taps);
  if (!stage->u.delay.taps || !set_taps (stage, direct, taps, n_taps))
    tfx_stage_unref (&stage);
  return stage;
}

TfxStage *
tfx_stage_new_wait (uint64_t id, size_t n_frames)
{
  const TfxTap tap = { .delay = n_frames, .gain = 1.0 };
  TfxStage *stage = tfx_stage_new_delay (id, 0.0, &tap, 1);

  if (stage)
    stage->u.delay.is_wait = true;
  return stage;
}

bool
tfx_stage_reuse_delay (TfxStage *stage, double direct, const TfxTap *taps,
    size_t n_taps)
{
  return stage->kind == &tfx_kind_delay && stage->u.delay.n_taps == n_taps &&
         tfx_stage_is_unshared (stage) &&
         set_taps (stage, direct, taps, n_taps);
}

static bool
delay_is_identity (const TfxStage *stage)
{
  return stage->u.delay.direct == 1.0 && stage->u.delay.n_taps == 0;
}

/* The taps share one past. */
static bool
delay_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->u.delay.longest == b->u.delay.longest;
}

static bool
delay_is_same (const TfxStage *a, const TfxStage *b)
{
  if (a->u.delay.direct != b->u.delay.direct ||
      a->u.delay.n_taps != b->u.delay.n_taps)
    return false;
  for (size_t i = 0; i < a->u.delay.n_taps; i++) {
    const TfxTap *s = &a->u.delay.taps[i], *t = &b->u.delay.taps[i];
    if (s->delay != t->delay || s->gain != t->gain || s->swap != t->swap ||
        s->side != t->side)
      return false;
  }
  return true;
}

static size_t
delay_state_size (const TfxStage *stage)
{
  return stage->u.delay.longest;
}

/* ns for a tap and a sample */
#define TAP_NS 0.5

static size_t
delay_latency (const TfxStage *stage)
{
  return stage->u.delay.is_wait ? stage->u.delay.longest : 0;
}

static double
delay_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return TAP_NS * (double)stage->u.delay.n_taps;
}

static void
delay_clear (TfxStage *stage)
{
  free (stage->u.delay.taps);
}

/* The response of the taps from the channel itself, or (swap) from the other one of its
 * pair.  Removes whole periods of a long delay first.  A wait is latency, which does not
 * count. */
static TfxComplex
add_taps (const TfxStage *stage, unsigned channel, bool swap, double freq_hz,
    double rate_hz)
{
  const TfxTapSide other = channel % 2 ? TFX_TAP_LEFT : TFX_TAP_RIGHT;
  const bool is_wait = stage->u.delay.is_wait;
  TfxComplex h = { swap ? 0.0 : is_wait ? 1.0 : stage->u.delay.direct, 0.0 };

  for (size_t i = 0; i < stage->u.delay.n_taps; i++) {
    const TfxTap *tap = &stage->u.delay.taps[i];
    const double periods =
        fmod ((double)tap->delay * freq_hz, rate_hz) / rate_hz;

    if (is_wait || tap->swap != swap || tap->side == other)
      continue;
    h.re += tap->gain * cos (2.0 * M_PI * periods);
    h.im -= tap->gain * sin (2.0 * M_PI * periods);
  }
  return h;
}

static TfxComplex
delay_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  return add_taps (stage, channel, false, freq_hz, rate_hz);
}

static void
delay_spread (const TfxStage *stage, TfxComplex *h, double freq_hz,
    double rate_hz)
{
  for (unsigned c = 0; c < TFX_MIX_MAX_CHANNELS; c += 2) {
    const TfxComplex in[2] = { h[c], h[c + 1] };

    if (in[0].re == 0.0 && in[0].im == 0.0 && in[1].re == 0.0 &&
        in[1].im == 0.0)
      continue;
    for (unsigned k = 0; k < 2; k++) {
      const TfxComplex own = tfx_complex_product (in[k],
          add_taps (stage, c + k, false, freq_hz, rate_hz));
      const TfxComplex other = tfx_complex_product (in[1 - k],
          add_taps (stage, c + k, true, freq_hz, rate_hz));

      h[c + k] = (TfxComplex){ own.re + other.re, own.im + other.im };
    }
  }
}

/* ---- the unit ------------------------------------------------------------------- */

typedef struct Unit
{
  TfxDelay *line;
  TfxStageRamp ramp; /* taps are cross-faded */
} Unit;

static void
unit_free (void *data)
{
  Unit *u = data;

  tfx_delay_free (&u->line);
  tfx_stage_ramp_clear (&u->ramp);
  free (u);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->ramp.now = tfx_stage_ref (stage);
  if (tfx_delay_new (spec->kernel, spec->n_channels, stage->u.delay.longest,
          &u->line) < 0) {
    unit_free (u);
    return -ENOMEM;
  }
  *unit = u;
  return 0;
}

static TfxDelayTaps
taps_of (const TfxStage *stage)
{
  return (TfxDelayTaps){ stage->u.delay.direct, stage->u.delay.taps,
    stage->u.delay.n_taps };
}

/* After a cross-fade the output is that of the new taps alone, to the bit. */
static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  TfxStageRamp *r = &u->ramp;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const TfxDelayTaps taps = taps_of (r->now);
    const TfxDelayTaps next = taps_of (r->next ? r->next : r->now);
    TfxBlock from, to;

    n = in->n_frames - i;
    if (r->next && n > r->length - r->done)
      n = r->length - r->done;
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, in->n_channels);
    tfx_delay_run (u->line, &taps, r->next ? &next : NULL, r->weight, r->done,
        r->length, &from, &to);
    tfx_stage_ramp_advance (r, n);
  }
  return 0;
}

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  tfx_stage_ramp_take (&((Unit *)data)->ramp, values, n_frames, weight);
}

static bool
unit_is_changing (const void *data)
{
  return ((const Unit *)data)->ramp.next != NULL;
}

static void
unit_reset (void *data)
{
  Unit *u = data;

  tfx_delay_reset (u->line);
  tfx_stage_ramp_finish (&u->ramp);
}

static double
unit_state_peak (const void *data)
{
  return tfx_delay_is_silent (((const Unit *)data)->line) ? 0.0 : 1.0;
}

static void
unit_get_state (const void *data, double *state)
{
  tfx_delay_get_state (((const Unit *)data)->line, state);
}

static void
unit_set_state (void *data, const double *state)
{
  tfx_delay_set_state (((Unit *)data)->line, state);
}

static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  tfx_delay_seed (((Unit *)data)->line, ((const Unit *)source)->line);
  return 0;
}

static const TfxUnitKind delay_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .set_values = unit_set_values,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .catch_up = unit_catch_up,
};

const TfxKind tfx_kind_delay = {
  .step = TFX_STEP_UNIT,
  .unit = &delay_unit,
  .is_identity = delay_is_identity,
  .is_same_structure = delay_is_same_structure,
  .is_same = delay_is_same,
  .state_size = delay_state_size,
  .latency = delay_latency,
  .response = delay_response,
  .spread = delay_spread,
  .cost = delay_cost,
  .clear = delay_clear,
};
