/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ahead.c: values for stages of a chain that waits for the end of a cross-fade. */
#include "ahead.h"

#include <errno.h>
#include <stdlib.h>

#include "branches.h"
#include "follow.h"
#include "setting.h"

#define FIRST_ROOM 16

struct TfxAhead
{
  uint64_t frame;
  TfxStage *stage;
};

static int
make_room (TfxFilter *f)
{
  const size_t room = f->ahead_room ? 2 * f->ahead_room : FIRST_ROOM;
  TfxAhead *more;

  if (f->n_ahead < f->ahead_room)
    return 0;
  more = realloc (f->ahead, room * sizeof *more);
  if (!more)
    return -ENOMEM;
  f->ahead = more;
  f->ahead_room = room;
  return 0;
}

int
tfx_ahead_add (TfxFilter *f, TfxStage *stage, uint64_t frame)
{
  int ret = tfx_branches_find (f->next, stage->id) ? make_room (f) : -ENOENT;

  if (ret == 0)
    f->ahead[f->n_ahead++] = (TfxAhead){ frame, tfx_stage_ref (stage) };
  return ret;
}

/* Whether another one of the same stage follows up to then. */
static bool
is_outdated (const TfxFilter *f, size_t i, uint64_t now)
{
  bool found = false;

  for (size_t k = i + 1; !found && k < f->n_ahead; k++)
    found = f->ahead[k].stage->id == f->ahead[i].stage->id &&
            f->ahead[k].frame <= tfx_queue_point (f->ahead[k].stage, now);
  return found;
}

int
tfx_ahead_chain (const TfxFilter *f, uint64_t now, TfxChain **out)
{
  TfxChain *chain = tfx_chain_ref (f->next);
  int ret = 0;

  for (size_t i = 0; ret == 0 && i < f->n_ahead; i++) {
    const TfxAhead *a = &f->ahead[i];
    TfxChain *replaced = NULL;

    if (a->frame > tfx_queue_point (a->stage, now) || is_outdated (f, i, now))
      continue;
    ret = tfx_setting_replace (chain, a->stage, &replaced);
    if (ret == 0) {
      tfx_chain_unref (&chain);
      chain = replaced;
    }
  }
  if (ret < 0)
    tfx_chain_unref (&chain);
  *out = chain;
  return ret;
}

void
tfx_ahead_queue (TfxFilter *f)
{
  for (size_t i = 0; i < f->n_ahead; i++) {
    const TfxAhead *a = &f->ahead[i];
    const TfxPlace *place = tfx_slots_find (&f->places, a->stage->id);

    if (place && a->frame > tfx_queue_point (a->stage, f->n_run) &&
        a->frame > tfx_queue_end (place->slot))
      tfx_follow_add (f, place->slot, a->stage, a->frame);
  }
  tfx_ahead_clear (f);
}

void
tfx_ahead_drop (TfxFilter *f, uint64_t id)
{
  size_t n = 0;

  for (size_t i = 0; i < f->n_ahead; i++) {
    if (f->ahead[i].stage->id == id)
      tfx_stage_unref (&f->ahead[i].stage);
    else
      f->ahead[n++] = f->ahead[i];
  }
  f->n_ahead = n;
}

void
tfx_ahead_clear (TfxFilter *f)
{
  while (f->n_ahead > 0)
    tfx_stage_unref (&f->ahead[--f->n_ahead].stage);
  free (f->ahead);
  f->ahead = NULL;
  f->ahead_room = 0;
}
