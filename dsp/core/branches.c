/* SPDX-License-Identifier: LGPL-2.1-or-later
 * branches.c: sums and splits.  Stages in branches have their own slots and steps. */
#include "branches.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TfxStage *
tfx_branches_new (uint64_t id, const TfxKind *kind, TfxChain *const *branches,
    const uint64_t *channels, size_t n)
{
  TfxStage *stage;
  unsigned depth = 0;

  if (n < 1)
    return NULL;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < branches[i]->n_stages; k++) {
      const TfxStage *s = branches[i]->stages[k];

      if (tfx_branches_are_in (s) && s->u.sum.depth > depth)
        depth = s->u.sum.depth;
    }
  }
  if (depth >= TFX_SUM_MAX_DEPTH)
    return NULL;
  stage = tfx_stage_alloc (id, kind);
  if (!stage)
    return NULL;
  stage->u.sum.depth = depth + 1;
  stage->u.sum.branches = tfx_stage_copy (branches, n, sizeof *branches);
  if (channels)
    stage->u.sum.channels = tfx_stage_copy (channels, n, sizeof *channels);
  if (!stage->u.sum.branches || (channels && !stage->u.sum.channels)) {
    tfx_stage_unref (&stage);
    return NULL;
  }
  stage->u.sum.n = n;
  for (size_t i = 0; i < n; i++)
    tfx_chain_ref (branches[i]);
  return stage;
}

TfxStage *
tfx_branches_new_like (const TfxStage *stage, TfxChain *const *branches)
{
  return tfx_branches_new (stage->id, stage->kind, branches,
      stage->u.sum.channels, stage->u.sum.n);
}

bool
tfx_branches_find_even (uint64_t channels, unsigned *first, unsigned *step)
{
  unsigned last = (unsigned)__builtin_ctzll (channels), apart = 0;

  *first = last;
  for (uint64_t rest = channels & (channels - 1); rest; rest &= rest - 1) {
    const unsigned c = (unsigned)__builtin_ctzll (rest);

    if (apart > 0 && c - last != apart)
      return false;
    apart = c - last;
    last = c;
  }
  *step = apart > 0 ? apart : 1;
  return true;
}

const TfxStage *
tfx_branches_find (const TfxChain *chain, uint64_t id)
{
  const TfxStage *found = NULL;

  for (size_t i = 0; !found && i < chain->n_stages; i++) {
    const TfxStage *s = chain->stages[i];

    found = s->id == id ? s : NULL;
    for (size_t b = 0; !found && tfx_branches_are_in (s) && b < s->u.sum.n; b++)
      found = tfx_branches_find (s->u.sum.branches[b], id);
  }
  return found;
}

/* ---- both kinds ------------------------------------------------------------- */

static bool
branches_is_same (const TfxStage *a, const TfxStage *b)
{
  return a == b;
}

static int
branches_prepare (TfxStage *stage, const TfxFilterSpec *spec)
{
  int ret = 0;

  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const TfxChain *branch = stage->u.sum.branches[i];
    TfxFilterSpec own = *spec;

    own.n_channels = tfx_branches_n_channels (stage, i, spec->n_channels);
    for (size_t k = 0; ret == 0 && k < branch->n_stages; k++)
      ret = tfx_stage_prepare (branch->stages[k], &own);
  }
  return ret;
}

static size_t
branches_latency (const TfxStage *stage)
{
  size_t most = 0;

  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const size_t n = tfx_chain_latency (stage->u.sum.branches[i]);

    most = n > most ? n : most;
  }
  return most;
}

/* H (exp (j 2 pi f / rate)) of the advance of a branch with less latency than its stage;
 * responses do not count latency. */
static TfxComplex
branches_advance_at (const TfxStage *stage, size_t branch, double freq_hz,
    double rate_hz)
{
  const size_t n = branches_latency (stage) -
                   tfx_chain_latency (stage->u.sum.branches[branch]);
  const double angle =
      2.0 * M_PI * fmod ((double)n * freq_hz, rate_hz) / rate_hz;

  return (TfxComplex){ cos (angle), sin (angle) };
}

static void
branches_clear (TfxStage *stage)
{
  for (size_t i = 0; i < stage->u.sum.n; i++)
    tfx_chain_unref (&stage->u.sum.branches[i]);
  free (stage->u.sum.branches);
  free (stage->u.sum.channels);
}

/* ---- sums ------------------------------------------------------------------- */

TfxStage *
tfx_stage_new_sum (uint64_t id, TfxChain *const *branches, size_t n_branches)
{
  return tfx_branches_new (id, &tfx_kind_sum, branches, NULL, n_branches);
}

/* Differences within a branch are found there. */
static bool
sum_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->u.sum.n == b->u.sum.n;
}

static void
add (TfxComplex *to, TfxComplex a, TfxComplex b)
{
  const TfxComplex h = tfx_complex_product (a, b);

  to->re += h.re;
  to->im += h.im;
}

static TfxComplex
sum_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  TfxComplex all = { 0.0, 0.0 };

  for (size_t i = 0; i < stage->u.sum.n; i++)
    add (&all, branches_advance_at (stage, i, freq_hz, rate_hz),
        tfx_chain_response_at (stage->u.sum.branches[i], channel, freq_hz,
            rate_hz));
  return all;
}

static void
sum_spread (const TfxStage *stage, TfxComplex *h, double freq_hz,
    double rate_hz)
{
  TfxComplex in[TFX_MIX_MAX_CHANNELS], out[TFX_MIX_MAX_CHANNELS];

  memcpy (in, h, sizeof in);
  memset (h, 0, sizeof in);
  for (size_t i = 0; i < stage->u.sum.n; i++) {
    const TfxComplex advance = branches_advance_at (stage, i, freq_hz, rate_hz);

    memcpy (out, in, sizeof out);
    tfx_chain_spread (stage->u.sum.branches[i], out, freq_hz, rate_hz);
    for (unsigned c = 0; c < TFX_MIX_MAX_CHANNELS; c++)
      add (&h[c], advance, out[c]);
  }
}

const TfxKind tfx_kind_sum = {
  .step = TFX_STEP_SUM,
  .is_same_structure = sum_is_same_structure,
  .is_same = branches_is_same,
  .response = sum_response,
  .spread = sum_spread,
  .latency = branches_latency,
  .prepare = branches_prepare,
  .clear = branches_clear,
};

/* ---- splits ----------------------------------------------------------------- */

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
      return tfx_complex_product (branches_advance_at (stage, i, freq_hz,
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
    const TfxComplex advance = branches_advance_at (stage, i, freq_hz, rate_hz);
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
  .is_same = branches_is_same,
  .response = split_response,
  .spread = split_spread,
  .latency = branches_latency,
  .prepare = branches_prepare,
  .clear = branches_clear,
};
