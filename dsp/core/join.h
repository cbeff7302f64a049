/* SPDX-License-Identifier: LGPL-2.1-or-later
 * join.h: the stages of a chain that run as they are, or as one. */
#ifndef TFX_JOIN_H
#define TFX_JOIN_H

#include "kind.h"

typedef struct TfxJoined
{
  size_t n;
  TfxStage **stages; /* references */
  bool *are_joined;
} TfxJoined;

/* 0 or -ENOMEM. */
int tfx_join_stages (const TfxChain *chain, const TfxFilterSpec *spec,
    TfxJoined *joined);
void tfx_join_clear (TfxJoined *joined);

#endif
