/* SPDX-License-Identifier: LGPL-2.1-or-later
 * change.h: a filter changes from one setting to another. */
#ifndef TFX_CHANGE_H
#define TFX_CHANGE_H

#include "slot.h"

/* Sets a running filter to a chain.  0, or negative errno: nothing has changed. */
int tfx_change_begin (TfxFilter *filter, TfxChain *chain);

/* The same without cross-fades.  -EBUSY while something changes. */
int tfx_change_at_once (TfxFilter *filter, TfxChain *chain);

/* Frames before the next change; SIZE_MAX: there is none. */
size_t tfx_change_frames (TfxFilter *filter);
/* Advances running changes by n_frames. */
void tfx_change_go_on (TfxFilter *filter, size_t n_frames);

/* The filter has run n_frames. */
static inline void
tfx_change_advance (TfxFilter *filter, size_t n_frames)
{
  filter->n_run += n_frames;
  if (filter->is_changing)
    tfx_change_go_on (filter, n_frames);
}

/* The next setting comes into force if no cross-fade runs. */
void tfx_change_begin_next (TfxFilter *filter);
/* A plan has been compiled: cross-fades begin, and slots that have faded out are freed. */
void tfx_change_settle (TfxFilter *filter);
/* Ends all changes at once; the state is undefined. */
void tfx_change_finish (TfxFilter *filter);

#endif
