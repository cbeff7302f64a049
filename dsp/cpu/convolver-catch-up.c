/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-catch-up.c: a convolver takes over the past of another one, a little
 * with each block.
 *
 * It runs over the frames that the source has kept, faster than new ones come,
 * until it stands where the source does.  Frames so far in the past that no
 * output will be asked for them are only transformed (spectra only).  For the
 * last of them all is computed, so that the outputs of all levels are there at
 * the end: those of a block are computed in the block before.
 *
 * Frames are numbered by the source (n_run); both have blocks that start at
 * multiples of their size. */
#include <math.h>
#include <string.h>

#include "convolver-private.h"

/* The work of a call, as a multiple of what the block itself costs. */
#define WORK 3.0

static size_t
least (size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Where the past that is run over begins, n_kept frames ago at the most.  One that
 * is cut off rises there, over no more frames than are missing. */
static void
set_begin (TfxConvolver *c, const TfxConvolver *source, size_t n_kept)
{
  const size_t n_wanted = c->n_taps - 1;
  const size_t n_past = least (n_wanted, n_kept);
  TfxConvolverCatchUp *f = &c->catch_up;

  f->begin = source->n_run - n_past;
  f->is_cut = n_past < n_wanted;
  c->known = 0;
  /* The same taps between more zeros go on with those frames that they had: none
   * of them is to be changed, and what they lack is not heard. */
  if (f->is_cut && source->known > 0 && c->n_core == source->n_core) {
    f->is_cut = false;
    c->known = f->begin;
  }
  f->rise = least (TFX_WEIGHT_RISE, least (n_past, n_wanted - n_past));
  if (!c->partitions)
    return;
  f->size = c->layout.levels[c->layout.n_levels - 1].size;
  f->at = f->begin / f->size * f->size;
  c->spectra_only = source->n_run - f->at >= 3 * f->size;
  f->is_right = !c->spectra_only;
}

/* All that there is, if it is taken at once.  What a device has given back is no
 * longer than the taps. */
static size_t
n_kept (const TfxConvolver *source)
{
  const size_t n = source->n_kept;
  const uint64_t n_known = source->n_run - source->known;

  return n_known < n ? (size_t)n_known : n;
}

bool
tfx_convolver_catch_up_start (TfxConvolver *c, const TfxConvolver *source)
{
  if (c->n_channels != source->n_channels || c->precision != source->precision)
    return false;
  memset (&c->catch_up, 0, sizeof c->catch_up);
  c->catch_up.is_on = true;
  set_begin (c, source, source->n_taps - 1);
  return true;
}

/* A past that is cut off begins softly: n frames of it, the first of them
 * `first`. */
static void
soften_past (const TfxConvolver *c, uint64_t first, size_t n, void *x)
{
  const uint64_t begin = c->catch_up.begin;

  for (size_t i = 0; c->catch_up.is_cut && i < n; i++) {
    const uint64_t at = first + i;
    double w;

    if (at >= begin + c->catch_up.rise)
      return;
    w = at < begin ? 0.0
                   : tfx_weight_at (TFX_WEIGHT_SMOOTH, (size_t)(at - begin),
                         c->catch_up.rise);
    tfx_convolver_set_value (c->precision, x, i,
        w * tfx_convolver_get_value (c->precision, x, i));
  }
}

/* n frames of the source's past from frame `first` on; those that it has not
 * kept are 0. */
static void
read_past (const TfxConvolver *source, unsigned channel, uint64_t first,
    size_t n, void *x)
{
  for (size_t i = 0, n_read; i < n; i += n_read) {
    void *to = tfx_convolver_at (source, x, i);
    const void *from;

    n_read = n - i;
    from = source->ways->past (source, channel,
        (size_t)(source->n_run - first - i), &n_read);
    if (from)
      memcpy (to, from, n_read * source->value_size);
    else
      memset (to, 0, n_read * source->value_size);
  }
}

/* n frames that lie within one block of the head. */
static void
run_past (TfxConvolver *c, const TfxConvolver *source, size_t n)
{
  TfxConvolverCatchUp *f = &c->catch_up;
  const bool is_near = source->n_run - f->at < 2 * c->layout.levels[0].size;
  size_t stride;
  void *x;

  c->ways->begin (c, n);
  x = c->ways->input (c, &stride);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    void *x_channel = tfx_convolver_at (c, x, channel * stride);

    read_past (source, channel, f->at, n, x_channel);
    soften_past (c, f->at, n, x_channel);
    c->ways->received (c, channel, n);
    /* The rest of a block that has begun needs what comes with its start. */
    if (is_near)
      c->ways->render (c, c->active, channel, n, c->output);
  }
  c->ways->end (c, n);
  f->at += n;
  if (f->at % f->size > 0)
    return;
  if (c->spectra_only && source->n_run - f->at < 3 * f->size)
    c->spectra_only = false;
  else if (!c->spectra_only)
    f->is_right = true;
}

/* ns for a frame of one channel, of spectra only.  Memory that was not
 * used for long, and long transforms, take twice what the transforms in the
 * cache do. */
static double
spectra_cost (const TfxConvolver *c)
{
  double cost = 0.0;

  for (size_t i = 0; i < c->layout.n_levels; i++)
    cost +=
        tfx_convolver_layout_forward_cost (&c->cost, c->layout.levels[i].size);
  return 2.0 * cost;
}

size_t
tfx_convolver_catch_up (TfxConvolver *c, const TfxConvolver *source,
    size_t n_frames)
{
  TfxConvolverCatchUp *f = &c->catch_up;
  const double costs[2] = { c->layout.cost, spectra_cost (c) };
  const size_t head = c->layout.levels[0].size;

  f->n_done = 0;
  if (n_frames == SIZE_MAX || !c->partitions)
    set_begin (c, source, n_kept (source));
  if (!c->partitions) {
    const size_t n = (size_t)(source->n_run - f->begin);
    size_t n_row = n;

    c->ways->reset (c);
    for (unsigned channel = 0; channel < c->n_channels; channel++) {
      void *x = c->ways->past (c, channel, n, &n_row);

      read_past (source, channel, f->begin, n, x);
      soften_past (c, f->begin, n, x);
    }
    c->n_run = source->n_run;
    return 0;
  }
  f->credit += (double)n_frames * c->layout.cost * WORK;
  while (f->at < source->n_run) {
    const size_t n_block = head - (size_t)(f->at % head);
    const size_t n_left = (size_t)(source->n_run - f->at);
    const size_t n = n_left < n_block ? n_left : n_block;
    const double cost = (double)n * costs[c->spectra_only];

    if (f->credit < cost)
      break;
    run_past (c, source, n);
    f->n_done += n;
    f->credit -= cost;
  }
  c->n_run = f->at;
  if (f->at == source->n_run)
    f->credit = 0.0;
  return f->at == source->n_run && f->is_right
             ? 0
             : (size_t)(source->n_run - f->at) + 1;
}

bool
tfx_convolver_is_catching_up (const TfxConvolver *c)
{
  return c->catch_up.is_on;
}

size_t
tfx_convolver_catch_up_work (const TfxConvolver *c)
{
  return c->catch_up.n_done;
}
