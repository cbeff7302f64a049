/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-past.c: the past of a convolver as numbers, and one that takes over
 * that of another one, a little with each block.
 *
 * That one first gets the samples of the past, oldest first and faster than new ones
 * come.  Then their spectra are computed while new frames are received, and when all are
 * there, the output of each level for a whole block; from the next one on it is right.
 *
 * Frames are numbered by the source (n_run); both have blocks that start at
 * multiples of their size. */
#include <math.h>
#include <string.h>

#include "convolver-private.h"

/* ---- as numbers --------------------------------------------------------------- */

void
tfx_convolver_get_history (const TfxConvolver *c, double *history)
{
  const size_t n = c->n_taps - 1;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    for (size_t i = 0, n_row; i < n; i += n_row) {
      const void *x;

      n_row = n - i;
      x = c->ways->past (c, channel, n - i, &n_row);
      for (size_t k = 0; k < n_row; k++)
        *history++ = tfx_convolver_get_value (c->precision, x, k);
    }
  }
}

/* The past was put in. */
static void
restore_all (TfxConvolver *c)
{
  double credit = INFINITY;

  if (!c->ways->restore)
    return;
  c->ways->seek (c);
  c->ways->restore (c, &credit);
}

void
tfx_convolver_set_history (TfxConvolver *c, const double *history)
{
  const size_t n = c->n_taps - 1;

  c->n_run = TFX_CONVOLVER_START;
  c->known = c->n_run - n;
  c->n_quiet = c->n_kept;
  c->ways->reset (c);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    size_t n_quiet = c->n_kept;

    for (size_t i = 0, n_row; i < n; i += n_row) {
      size_t n_last;
      void *x;

      n_row = n - i;
      x = c->ways->past (c, channel, n - i, &n_row);
      for (size_t k = 0; k < n_row; k++)
        tfx_convolver_set_value (c->precision, x, k, *history++);
      tfx_convolver_clean (c, x, n_row);
      n_last = tfx_convolver_count_quiet (c, x, n_row);
      n_quiet = n_last < n_row ? n_last : n_quiet + n_row;
    }
    c->n_quiet = n_quiet < c->n_quiet ? n_quiet : c->n_quiet;
  }
  restore_all (c);
}

/* ---- that of another one ------------------------------------------------------ */

/* The share of the mean work of a block that transforms of the past may have. */
#define RESTORED_WORK 0.6
/* Frames that are copied for each one that comes, and values besides. */
#define COPIED_FRAMES 8
#define COPIED_VALUES 16384

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
  const size_t n_sounding = c->fade_pair[c->active]->n_sounding;
  const size_t n_wanted = c->n_taps - 1;
  const size_t n_past = least (n_wanted, n_kept);
  TfxConvolverCatchUp *f = &c->catch_up;

  f->begin = source->n_run - n_past;
  f->is_cut = n_past < n_wanted;
  c->known = f->begin;
  /* The same taps between more zeros use the same frames: none of them may
   * change, and missing ones have no effect. */
  if (source->known > 0 &&
      n_sounding == source->fade_pair[source->active]->n_sounding)
    f->is_cut = false;
  f->rise = least (TFX_WEIGHT_RISE, least (n_past, n_wanted - n_past));
  f->at = f->begin;
  f->is_copied = false;
  f->credit = 0.0;
}

bool
tfx_convolver_catch_up_start (TfxConvolver *c, const TfxConvolver *source)
{
  if (c->n_channels != source->n_channels || c->precision != source->precision)
    return false;
  memset (&c->catch_up, 0, sizeof c->catch_up);
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

/* Frames [first, end) of the source's past. */
static void
copy_past (TfxConvolver *c, const TfxConvolver *source, uint64_t first,
    uint64_t end)
{
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    size_t n_row;

    for (uint64_t at = first; at < end; at += n_row) {
      void *x;

      n_row = (size_t)(end - at);
      x = c->ways->past (c, channel, (size_t)(c->n_run - at), &n_row);
      read_past (source, channel, at, n_row, x);
      soften_past (c, at, n_row, x);
    }
  }
}

/* The frames that have come since the last call.  The longest steps of the two are
 * not to come in the same block. */
static void
receive (TfxConvolver *c, const TfxConvolver *source)
{
  c->work_beside = source->work_ahead;
  while (c->n_run < source->n_run) {
    const size_t n = c->ways->begin (c, (size_t)(source->n_run - c->n_run));
    size_t stride;
    void *x = c->ways->input (c, &stride);

    for (unsigned channel = 0; channel < c->n_channels; channel++) {
      read_past (source, channel, c->n_run, n,
          tfx_convolver_at (c, x, channel * stride));
      c->ways->received (c, channel, n);
    }
    c->ways->end (c, n);
    c->n_run += n;
  }
  c->work_beside = 0.0;
}

size_t
tfx_convolver_catch_up (TfxConvolver *c, const TfxConvolver *source,
    size_t n_frames)
{
  TfxConvolverCatchUp *f = &c->catch_up;
  size_t n_copied;

  c->n_quiet = source->n_quiet < source->n_kept ? source->n_quiet : c->n_kept;
  if (n_frames == SIZE_MAX || !c->partitions) {
    const uint64_t n_known = source->n_run - source->known;

    /* A device returns no more frames than the taps need. */
    set_begin (c, source,
        n_known < source->n_kept ? (size_t)n_known : source->n_kept);
    c->ways->reset (c);
    c->n_run = source->n_run;
    if (c->ways->seek)
      c->ways->seek (c);
    copy_past (c, source, f->begin, c->n_run);
    restore_all (c);
    return 0;
  }
  if (f->is_copied) {
    receive (c, source);
    f->credit += (double)n_frames * c->mean_work * RESTORED_WORK;
    return c->ways->restore (c, &f->credit) ? 0 : 1;
  }
  c->n_run = source->n_run;
  c->ways->seek (c);
  n_copied = least (COPIED_FRAMES * n_frames + COPIED_VALUES / c->n_channels,
      (size_t)(c->n_run - f->at));
  copy_past (c, source, f->at, f->at + n_copied);
  f->at += n_copied;
  f->is_copied = f->at == c->n_run;
  if (f->is_copied)
    c->ways->seek (c);
  return 1 + (size_t)(c->n_run - f->at);
}
