/* SPDX-License-Identifier: LGPL-2.1-or-later
 * numbers.c: a few numbers that go to others. */
#include "numbers.h"

#include <string.h>

void
tfx_numbers_init (TfxNumbers *n, const double values[TFX_NUMBERS_MAX])
{
  TfxNumbers made;

  /* (The values may be some of its own.) */
  memset (&made, 0, sizeof made);
  memcpy (made.now, values, sizeof made.now);
  *n = made;
}

static void
begin (TfxNumbers *n, const double values[TFX_NUMBERS_MAX], size_t length,
    TfxWeight weight)
{
  memcpy (n->from, n->now, sizeof n->from);
  memmove (n->to, values, sizeof n->to);
  n->done = 0;
  n->length = length;
  n->weight = weight;
}

void
tfx_numbers_set (TfxNumbers *n, const double values[TFX_NUMBERS_MAX],
    size_t n_frames, TfxWeight weight)
{
  if (n_frames == 0) {
    tfx_numbers_init (n, values);
  } else if (n->length > 0) {
    memcpy (n->waiting, values, sizeof n->waiting);
    n->waiting_length = n_frames;
    n->waiting_weight = weight;
  } else {
    begin (n, values, n_frames, weight);
  }
}

void
tfx_numbers_step (TfxNumbers *n)
{
  const double w = tfx_weight_at (n->weight, ++n->done, n->length);

  for (size_t i = 0; i < TFX_NUMBERS_MAX; i++)
    n->now[i] = n->from[i] + w * (n->to[i] - n->from[i]);
  if (n->done < n->length)
    return;
  memcpy (n->now, n->to, sizeof n->now);
  n->length = 0;
  if (n->waiting_length == 0)
    return;
  begin (n, n->waiting, n->waiting_length, n->waiting_weight);
  n->waiting_length = 0;
}

void
tfx_numbers_finish (TfxNumbers *n)
{
  if (n->waiting_length > 0)
    tfx_numbers_init (n, n->waiting);
  else if (n->length > 0)
    tfx_numbers_init (n, n->to);
}
