/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chain-response.c: the frequency response of a chain, stage after stage. */
#include "kind.h"

TfxComplex
tfx_chain_response_at (const TfxChain *chain, unsigned channel, double freq_hz,
    double rate_hz)
{
  TfxComplex all = { 1.0, 0.0 };

  for (size_t i = 0; i < chain->n_stages; i++) {
    const TfxStage *stage = chain->stages[i];
    TfxComplex h;

    if (!stage->kind->response)
      continue;
    h = stage->kind->response (stage, channel, freq_hz, rate_hz);
    all = (TfxComplex){ all.re * h.re - all.im * h.im,
      all.re * h.im + all.im * h.re };
  }
  return all;
}
