/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-split.c: stages that give channels chains of their own. */
#include <errno.h>
#include <string.h>

#include "branches.h"

TfxStage *
tfx_stage_new_split (uint64_t id, TfxChain *const *branches,
    const uint64_t *channels, size_t n)
{
  uint64_t all = 0;

  for (size_t i = 0; i < n; i++) {
    if (channels[i] == 0 || (channels[i] & all))
      return NULL;
    all |= channels[i];
  }
  return tfx_branches_new (id, &tfx_kind_split, branches, channels, n);
}

/* Whether the stream has all channels of the branches. */
static int
split_check (const TfxStage *stage, const TfxFilterSpec *spec)
{
  uint64_t all = 0;

  for (size_t i = 0; i < stage->u.sum.n; i++)
    all |= stage->u.sum.channels[i];
  return spec->n_channels >= TFX_SPLIT_MAX_CHANNELS ||
                 all >> spec->n_channels == 0
             ? 0
             : -EINVAL;
}

static bool
split_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->u.sum.n == b->u.sum.n &&
         memcmp (a->u.sum.channels, b->u.sum.channels,
             a->u.sum.n * sizeof *a->u.sum.channels) == 0;
}

static TfxComplex
split_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  const uint64_t bit =
      channel < TFX_SPLIT_MAX_CHANNELS ? (uint64_t)1 << channel : 0;

  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const uint64_t channels = stage->u.sum.channels[i];

    if (channels & bit)
      return tfx_complex_product (tfx_branches_advance_at (stage, i, freq_hz,
                                      rate_hz),
          tfx_chain_response_at (stage->u.sum.branches[i],
              (unsigned)__builtin_popcountll (channels & (bit - 1)), freq_hz,
              rate_hz));
  }
  return (TfxComplex){ 1.0, 0.0 };
}

static void
split_spread (const TfxStage *stage, TfxComplex *h, double freq_hz,
    double rate_hz)
{
  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const TfxComplex advance =
        tfx_branches_advance_at (stage, i, freq_hz, rate_hz);
    TfxComplex of_branch[TFX_MIX_MAX_CHANNELS] = { { 0.0, 0.0 } };
    unsigned n = 0;

    for (unsigned c = 0; c < TFX_SPLIT_MAX_CHANNELS; c++) {
      if (stage->u.sum.channels[i] >> c & 1)
        of_branch[n++] = h[c];
    }
    tfx_chain_spread (stage->u.sum.branches[i], of_branch, freq_hz, rate_hz);
    n = 0;
    for (unsigned c = 0; c < TFX_SPLIT_MAX_CHANNELS; c++) {
      if (stage->u.sum.channels[i] >> c & 1)
        h[c] = tfx_complex_product (advance, of_branch[n++]);
    }
  }
}

_Static_assert(TFX_SPLIT_MAX_CHANNELS == TFX_MIX_MAX_CHANNELS,
    "amplitudes are of as many channels");

const TfxKind tfx_kind_split = {
  .step = TFX_STEP_SPLIT,
  .check = split_check,
  .is_same_structure = split_is_same_structure,
  .is_same = tfx_branches_is_same,
  .response = split_response,
  .spread = split_spread,
  .latency = tfx_branches_latency,
  .prepare = tfx_branches_prepare,
  .clear = tfx_branches_clear,
};
