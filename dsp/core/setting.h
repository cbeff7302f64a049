/* SPDX-License-Identifier: LGPL-2.1-or-later
 * setting.h: chains with one stage replaced. */
#ifndef TFX_SETTING_H
#define TFX_SETTING_H

#include "filter.h"

/* A chain with a stage in place of the one with its id, within sums too.  0,
 * -ENOENT or -ENOMEM. */
int tfx_setting_replace (const TfxChain *chain, TfxStage *stage,
    TfxChain **replaced);

/* The same of what a filter is set to, or goes to; NULL: with nothing in the place
 * of anything. */
int
tfx_setting_chain (const TfxFilter *filter, TfxStage *stage, TfxChain **chain);

#endif
