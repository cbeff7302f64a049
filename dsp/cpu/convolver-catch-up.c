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

/* The work of a call, as a multiple of what the block itself costs; less in the first
 * calls, whose memory is in no cache. */
#define WORK 2.1
#define N_FIRST_CALLS 2
/* Before sums are known ahead they cost more, and their spectra are in no cache. */
#define FIRST_SUMS 2.2
/* Parts in which the work of long partitions for a block of the head is done. */
#define N_SLICES 4

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
  c->is_patient = true;
  c->ways->end (c, n);
  c->is_patient = false;
  f->at += n;
}

/* All is done for what has come: what follows for the next block. */
static void
settle (TfxConvolver *c, const TfxConvolver *source)
{
  TfxConvolverCatchUp *f = &c->catch_up;

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
  return 2.6 * cost;
}

/* ns for a frame of one channel, now. */
static double
frame_cost (const TfxConvolver *c)
{
  if (c->spectra_only)
    return spectra_cost (c);
  return c->layout.cost * (c->catch_up.is_right ? 1.0 : FIRST_SUMS);
}

/* One step: a slice of the work that waits, or a block of the head at most.  False if
 * that is more than the call may do. */
static bool
take_step (TfxConvolver *c, const TfxConvolver *source)
{
  TfxConvolverCatchUp *f = &c->catch_up;
  const size_t head = c->layout.levels[0].size, slice = head / N_SLICES;
  const double share = c->layout.n_levels > 1 ? 0.5 : 1.0;
  const size_t n_block = head - (size_t)(f->at % head);
  const size_t n_left = (size_t)(source->n_run - f->at);
  const size_t n = f->n_behind > 0    ? slice
                   : n_left < n_block ? n_left
                                      : n_block;
  const double cost =
      (double)n * frame_cost (c) * (f->n_behind > 0 ? 1.0 - share : share);

  if (f->credit < cost)
    return false;
  f->credit -= cost;
  if (f->n_behind == 0) {
    run_past (c, source, n);
    f->n_done += n;
    f->n_behind = c->ways->advance (c, 0);
  } else {
    f->n_behind = c->ways->advance (c, slice);
  }
  if (f->n_behind == 0)
    settle (c, source);
  return true;
}

/* A form that keeps nothing but the past takes it at once. */
static void
copy_past (TfxConvolver *c, const TfxConvolver *source)
{
  const uint64_t begin = c->catch_up.begin;
  const size_t n = (size_t)(source->n_run - begin);
  size_t n_row = n;

  c->ways->reset (c);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    void *x = c->ways->past (c, channel, n, &n_row);

    read_past (source, channel, begin, n, x);
    soften_past (c, begin, n, x);
  }
  c->n_run = source->n_run;
}

size_t
tfx_convolver_catch_up (TfxConvolver *c, const TfxConvolver *source,
    size_t n_frames)
{
  TfxConvolverCatchUp *f = &c->catch_up;
  double work;

  f->n_done = 0;
  if (n_frames == SIZE_MAX || !c->partitions)
    set_begin (c, source, n_kept (source));
  if (!c->partitions) {
    copy_past (c, source);
    return 0;
  }
  work = (double)n_frames * c->layout.cost * WORK;
  if (n_frames != SIZE_MAX && f->n_calls < N_FIRST_CALLS)
    work *= (double)++f->n_calls / (N_FIRST_CALLS + 1);
  f->credit += work;
  while (f->at < source->n_run || f->n_behind > 0) {
    if (!take_step (c, source))
      break;
  }
  c->n_run = f->at;
  if (f->at < source->n_run || f->n_behind > 0)
    return (size_t)(source->n_run - f->at) + 1;
  f->credit = 0.0;
  return f->is_right ? 0 : 1;
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
