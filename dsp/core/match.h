/* SPDX-License-Identifier: LGPL-2.1-or-later
 * match.h: the slots of a running filter against the stages of another chain. */
#ifndef TFX_MATCH_H
#define TFX_MATCH_H

#include "filter.h"

/* Makes everything ready that can fail.  is_structural: whether a place would
 * be cross-faded; moves_times: with what is as late as it was not.  0 or negative
 * errno.  Abort or commit is next. */
int tfx_match_prepare (TfxFilter *filter, const TfxChain *chain,
    bool *is_structural, bool *moves_times);
void tfx_match_abort (TfxPlaces *list);
void tfx_match_commit (TfxFilter *filter, TfxPlaces *list);

#endif
