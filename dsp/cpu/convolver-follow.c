/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-follow.c: a convolver takes over the past of another one, a little
 * with each block.
 *
 * The follower runs over the frames that the leader has kept, faster than new
 * ones come, until it stands where the leader does.  Frames that are as far in
 * the past that no output will be asked for them are only transformed (it
 * listens).  For the last of them all is computed, so that the outputs of all
 * levels are there at the end: those of a block are computed in the block
 * before.
 *
 * Frames are numbered by the leader (n_run); both have blocks that start at
 * multiples of their size. */
#include <math.h>
#include <string.h>

#include "convolver-private.h"

/* The work of a call, as a multiple of what the block itself costs. */
#define WORK 3.0

bool
tfx_convolver_follow_start (TfxConvolver *c, const TfxConvolver *leader)
{
  const size_t n_new = c->n_taps - 1, n_old = leader->n_taps - 1;
  const size_t n_past = n_new < n_old ? n_new : n_old;
  TfxConvolverFollow *f = &c->follow;

  if (c->n_channels != leader->n_channels || c->precision != leader->precision)
    return false;
  memset (f, 0, sizeof *f);
  f->is_on = true;
  if (!c->grid)
    return true;
  f->size = c->layout.levels[c->layout.n_levels - 1].size;
  f->at = (leader->n_run - n_past) / f->size * f->size;
  c->is_listening = leader->n_run - f->at >= 3 * f->size;
  f->is_right = !c->is_listening;
  return true;
}

/* n frames of the leader's past from frame `first` on; those that it has not
 * kept are 0. */
static void
read_past (const TfxConvolver *leader, unsigned channel, uint64_t first,
    size_t n, void *x)
{
  for (size_t i = 0, n_read; i < n; i += n_read) {
    void *to = tfx_convolver_at (leader, x, i);
    const void *from;

    n_read = n - i;
    from = leader->grid ? tfx_convolver_grid_get_past (leader, channel,
                              (size_t)(leader->n_run - first - i), &n_read)
                        : tfx_convolver_line_get_past (leader, channel,
                              (size_t)(leader->n_run - first - i), &n_read);
    if (from)
      memcpy (to, from, n_read * leader->value_size);
    else
      memset (to, 0, n_read * leader->value_size);
  }
}

/* n frames that lie within one block of the head. */
static void
run_past (TfxConvolver *c, const TfxConvolver *leader, size_t n)
{
  TfxConvolverFollow *f = &c->follow;
  const bool is_near = leader->n_run - f->at < 2 * c->layout.levels[0].size;
  size_t stride;
  void *x;

  tfx_convolver_grid_begin (c, n);
  x = tfx_convolver_grid_input (c, &stride);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    read_past (leader, channel, f->at, n,
        tfx_convolver_at (c, x, channel * stride));
    tfx_convolver_grid_received (c, channel, n);
    /* The rest of a block that has begun needs what comes with its start. */
    if (is_near)
      tfx_convolver_grid_render (c, c->heard, channel, n, c->output);
  }
  tfx_convolver_grid_end (c, n);
  f->at += n;
  if (f->at % f->size > 0)
    return;
  if (c->is_listening && leader->n_run - f->at < 3 * f->size)
    c->is_listening = false;
  else if (!c->is_listening)
    f->is_right = true;
}

/* ns for a frame of one channel, as long as it listens.  Memory that was not
 * used for long, and long transforms, take twice what the transforms in the
 * cache do. */
static double
listening_cost (const TfxConvolver *c)
{
  double cost = 0.0;

  for (size_t i = 0; i < c->layout.n_levels; i++)
    cost +=
        tfx_convolver_layout_forward_cost (&c->cost, c->layout.levels[i].size);
  return 2.0 * cost;
}

size_t
tfx_convolver_follow (TfxConvolver *c, const TfxConvolver *leader,
    size_t n_frames)
{
  TfxConvolverFollow *f = &c->follow;
  const double costs[2] = { c->layout.cost, listening_cost (c) };
  const size_t head = c->layout.levels[0].size;

  f->n_done = 0;
  if (!c->grid) {
    tfx_convolver_line_reset (c);
    for (unsigned channel = 0; channel < c->n_channels; channel++) {
      size_t n = c->n_taps - 1;
      if (n > leader->n_taps - 1)
        n = leader->n_taps - 1;
      read_past (leader, channel, leader->n_run - n, n,
          tfx_convolver_line_history (c, channel, n));
    }
    c->n_run = leader->n_run;
    return 0;
  }
  f->credit += (double)n_frames * c->layout.cost * WORK;
  while (f->at < leader->n_run) {
    const size_t n_block = head - (size_t)(f->at % head);
    const size_t n_left = (size_t)(leader->n_run - f->at);
    const size_t n = n_left < n_block ? n_left : n_block;
    const double cost = (double)n * costs[c->is_listening];

    if (f->credit < cost)
      break;
    run_past (c, leader, n);
    f->n_done += n;
    f->credit -= cost;
  }
  c->n_run = f->at;
  if (f->at == leader->n_run)
    f->credit = 0.0;
  return f->at == leader->n_run && f->is_right
             ? 0
             : (size_t)(leader->n_run - f->at) + 1;
}

bool
tfx_convolver_is_following (const TfxConvolver *c)
{
  return c->follow.is_on;
}

size_t
tfx_convolver_follow_work (const TfxConvolver *c)
{
  return c->follow.n_done;
}
