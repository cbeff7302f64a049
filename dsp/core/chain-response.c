/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chain-response.c: the frequency response of a chain, stage after stage. */
#include <errno.h>
#include <math.h>

#include "kind.h"

/* Half the distance in Hz over which a phase is followed, in parts of the rate: a
 * delay of a million frames turns it by less than half a cycle. */
#define STEP 1e-8

static TfxComplex
stage_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  if (!stage->kind->response)
    return (TfxComplex){ 1.0, 0.0 };
  return stage->kind->response (stage, channel, freq_hz, rate_hz);
}

static void
spread (const TfxStage *stage, TfxComplex *h, double freq_hz, double rate_hz)
{
  if (stage->kind->spread) {
    stage->kind->spread (stage, h, freq_hz, rate_hz);
    return;
  }
  for (unsigned c = 0; c < TFX_MIX_MAX_CHANNELS; c++) {
    if (h[c].re != 0.0 || h[c].im != 0.0)
      h[c] = tfx_complex_product (h[c],
          stage_response (stage, c, freq_hz, rate_hz));
  }
}

void
tfx_chain_spread (const TfxChain *chain, TfxComplex *h, double freq_hz,
    double rate_hz)
{
  for (size_t i = 0; i < chain->n_stages; i++)
    spread (chain->stages[i], h, freq_hz, rate_hz);
}

/* (Channels beyond those of a Mix are independent.) */
TfxComplex
tfx_chain_response_at (const TfxChain *chain, unsigned channel, double freq_hz,
    double rate_hz)
{
  TfxComplex h[TFX_MIX_MAX_CHANNELS] = { { 0.0, 0.0 } }, all = { 1.0, 0.0 };

  if (channel < TFX_MIX_MAX_CHANNELS) {
    h[channel].re = 1.0;
    tfx_chain_spread (chain, h, freq_hz, rate_hz);
    return h[channel];
  }
  for (size_t i = 0; i < chain->n_stages; i++)
    all = tfx_complex_product (all,
        stage_response (chain->stages[i], channel, freq_hz, rate_hz));
  return all;
}

/* Of magnitude 1, so that in a stop band no product of two is too small. */
static TfxComplex
direction_of (TfxComplex h)
{
  const double magnitude = hypot (h.re, h.im);

  return magnitude > 0.0 ? (TfxComplex){ h.re / magnitude, h.im / magnitude }
                         : h;
}

static TfxComplex
response_between (const TfxChain *chain, unsigned from, unsigned to,
    double freq_hz, double rate_hz)
{
  TfxComplex h[TFX_MIX_MAX_CHANNELS] = { { 0.0, 0.0 } };

  if (from == to)
    return tfx_chain_response_at (chain, from, freq_hz, rate_hz);
  if (from >= TFX_MIX_MAX_CHANNELS || to >= TFX_MIX_MAX_CHANNELS)
    return (TfxComplex){ 0.0, 0.0 };
  h[from].re = 1.0;
  tfx_chain_spread (chain, h, freq_hz, rate_hz);
  return h[to];
}

/* By how much the phase rises from one frequency to another, within half a cycle. */
static double
turn_between (const TfxChain *chain, unsigned from, unsigned to, double from_hz,
    double to_hz, double rate_hz)
{
  const TfxComplex lower =
      direction_of (response_between (chain, from, to, from_hz, rate_hz));
  const TfxComplex upper =
      direction_of (response_between (chain, from, to, to_hz, rate_hz));
  const TfxComplex turn =
      tfx_complex_product (upper, (TfxComplex){ lower.re, -lower.im });

  return atan2 (turn.im, turn.re);
}

/* A zero on the unit circle, such as a notch's, turns the phase by half a cycle, which is
 * no delay: there the group delay is measured beside it. */
double
tfx_chain_group_delay_between (const TfxChain *chain, unsigned from,
    unsigned to, double freq_hz, double rate_hz)
{
  const double step_hz = STEP * rate_hz;
  double turn = turn_between (chain, from, to, freq_hz - step_hz,
      freq_hz + step_hz, rate_hz);

  if (fabs (turn) > M_PI_2)
    turn = turn_between (chain, from, to, freq_hz + step_hz,
        freq_hz + 3.0 * step_hz, rate_hz);
  return -turn / (4.0 * M_PI * STEP);
}

double
tfx_chain_group_delay_at (const TfxChain *chain, unsigned channel,
    double freq_hz, double rate_hz)
{
  return tfx_chain_group_delay_between (chain, channel, channel, freq_hz,
      rate_hz);
}

/* ---- where to sample a response ------------------------------------------------------ */

size_t
tfx_chain_resonances (const TfxChain *chain, double rate_hz, double *freq_hz,
    size_t max)
{
  size_t n = 0;

  for (size_t i = 0; i < chain->n_stages; i++) {
    const TfxStage *stage = chain->stages[i];

    if (stage->kind->resonances)
      n += stage->kind->resonances (stage, rate_hz,
          freq_hz + (n < max ? n : max), n < max ? max - n : 0);
    for (size_t b = 0; tfx_branches_are_in (stage) && b < stage->u.sum.n; b++)
      n += tfx_chain_resonances (stage->u.sum.branches[b], rate_hz,
          freq_hz + (n < max ? n : max), n < max ? max - n : 0);
  }
  return n;
}

size_t
tfx_chain_memory (const TfxChain *chain)
{
  size_t longest = 0;

  for (size_t i = 0; i < chain->n_stages; i++) {
    const TfxStage *stage = chain->stages[i];
    size_t n = stage->kind->response && !stage->kind->resonances
                   ? tfx_stage_state_size (stage)
                   : 0;

    longest = n > longest ? n : longest;
    for (size_t b = 0; tfx_branches_are_in (stage) && b < stage->u.sum.n; b++) {
      n = tfx_chain_memory (stage->u.sum.branches[b]);
      longest = n > longest ? n : longest;
    }
  }
  return longest;
}

/* ---- dynamics ------------------------------------------------------------------------ */

int
tfx_stage_gain_at (const TfxStage *stage, double level_db, double *gain_db)
{
  if (!stage->kind->gain_at)
    return -ENOENT;
  *gain_db = stage->kind->gain_at (stage, level_db);
  return 0;
}
