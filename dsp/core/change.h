/* SPDX-License-Identifier: LGPL-2.1-or-later
 * change.h: a filter goes from one setting to another. */
#ifndef TFX_CHANGE_H
#define TFX_CHANGE_H

#include "filter.h"

/* A running filter begins to go to a chain.  0 or negative errno: it goes on as
 * it was. */
int tfx_change_begin (TfxFilter *filter, TfxChain *chain);

/* The same without cross-fades.  -EBUSY while something changes. */
int tfx_change_at_once (TfxFilter *filter, TfxChain *chain);

/* The frames up to where something has to be done; SIZE_MAX: nothing. */
size_t tfx_change_frames (TfxFilter *filter);
/* What is under way has come so many frames further. */
void tfx_change_go_on (TfxFilter *filter, size_t n_frames);

/* The filter has run so many frames. */
static inline void
tfx_change_advance (TfxFilter *filter, size_t n_frames)
{
  filter->n_run += n_frames;
  if (filter->is_changing)
    tfx_change_go_on (filter, n_frames);
}

/* What waited for the end of a cross-fade begins if there is none any more. */
void tfx_change_begin_next (TfxFilter *filter);
/* A plan has been compiled as the places stand: cross-fades begin, and what has
 * been faded out goes. */
void tfx_change_settle (TfxFilter *filter);
/* All changes come to their end at once; the state does not count. */
void tfx_change_finish (TfxFilter *filter);

#endif
