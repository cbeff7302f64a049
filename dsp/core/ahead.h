/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ahead.h: values that stages of a chain that waits for the end of a cross-fade are
 * to have at points of the grid.
 *
 * The chain begins with those that hold where it begins; those behind are queued
 * then. */
#ifndef TFX_AHEAD_H
#define TFX_AHEAD_H

#include "filter.h"

/* Keeps a reference to the stage.  0; -ENOENT: the chain has none of its id; -ENOMEM. */
int tfx_ahead_add (TfxFilter *filter, TfxStage *stage, uint64_t frame);

/* The chain that waits, with the values that hold at frame `now`; UINT64_MAX: with the
 * last ones.  0 or -ENOMEM. */
int tfx_ahead_chain (const TfxFilter *filter, uint64_t now, TfxChain **chain);

/* The chain has begun: what is ahead is queued for the stages that do not have it. */
void tfx_ahead_queue (TfxFilter *filter);

/* The stage has been set by hand since. */
void tfx_ahead_drop (TfxFilter *filter, uint64_t id);

void tfx_ahead_clear (TfxFilter *filter);

#endif
