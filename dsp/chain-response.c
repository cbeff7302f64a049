/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chain-response.c: the frequency response of a chain, stage after stage. */
#include "kind.h"

#include <errno.h>
#include <math.h>

/* Half the distance in Hz over which a phase is followed, in parts of the rate: a
 * delay of a million frames turns it by less than half a cycle. */
#define STEP 1e-8

static TfxComplex
multiply (TfxComplex a, TfxComplex b)
{
  return (TfxComplex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

TfxComplex
tfx_stage_response_at (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  if (!stage->kind->response)
    return (TfxComplex){ 1.0, 0.0 };
  return stage->kind->response (stage, channel, freq_hz, rate_hz);
}

TfxComplex
tfx_chain_response_at (const TfxChain *chain, unsigned channel, double freq_hz,
    double rate_hz)
{
  TfxComplex all = { 1.0, 0.0 };

  for (size_t i = 0; i < chain->n_stages; i++)
    all = multiply (all,
        tfx_stage_response_at (chain->stages[i], channel, freq_hz, rate_hz));
  return all;
}

double
tfx_chain_group_delay_at (const TfxChain *chain, unsigned channel,
    double freq_hz, double rate_hz)
{
  const double step_hz = STEP * rate_hz;
  const TfxComplex above =
      tfx_chain_response_at (chain, channel, freq_hz + step_hz, rate_hz);
  const TfxComplex below =
      tfx_chain_response_at (chain, channel, freq_hz - step_hz, rate_hz);
  const TfxComplex turn = multiply (above, (TfxComplex){ below.re, -below.im });

  return -atan2 (turn.im, turn.re) / (4.0 * M_PI * STEP);
}

int
tfx_stage_gain_at (const TfxStage *stage, double level_db, double *gain_db)
{
  if (!stage->kind->gain_at)
    return -ENOENT;
  *gain_db = stage->kind->gain_at (stage, level_db);
  return 0;
}
