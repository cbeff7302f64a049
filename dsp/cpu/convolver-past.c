/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-past.c: the past of a convolver as numbers, and one that takes over
 * that of another one, a little with each block.
 *
 * That one runs over the frames that the source has kept, faster than new ones come,
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

void
tfx_convolver_set_history (TfxConvolver *c, const double *history)
{
  const size_t n = c->n_taps - 1;

  c->n_run = TFX_CONVOLVER_START;
  c->known = c->n_run - n;
  c->n_quiet = c->n_kept;
  c->spectra_only = false;
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
  if (c->ways->restore)
    c->ways->restore (c);
}

/* ---- that of another one ------------------------------------------------------ */

/* What a block may cost with the work of its call, as a multiple of the mean one; less
 * over the first frames. */
#define MOST_WORK 2.4
#define FIRST_FRAMES 2048
/* How much longer work takes than the model says, which has all that it needs in the
 * cache, where spectra are far larger than CACHE_BYTES: the first transforms, those
 * behind them, the first sums, and the rest. */
#define CACHE_BYTES 524288.0
#define FIRST_SPECTRA 2.5
#define SPECTRA 1.5
#define FIRST_SUMS 2.0
#define SUMS 0.2
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
  const size_t n_sounding = c->fade_pair[c->active]->n_sounding;
  const size_t n_wanted = c->n_taps - 1;
  const size_t n_past = least (n_wanted, n_kept);
  TfxConvolverCatchUp *f = &c->catch_up;

  f->begin = source->n_run - n_past;
  f->is_cut = n_past < n_wanted;
  c->known = f->begin;
  /* The same taps between more zeros go on with those frames that they had: none
   * of them is to be changed, and what they lack is not heard. */
  if (source->known > 0 &&
      n_sounding == source->fade_pair[source->active]->n_sounding)
    f->is_cut = false;
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
  const bool is_last = source->n_run - f->at <= c->layout.levels[0].size;
  size_t stride;
  void *x;

  c->ways->begin (c, n);
  x = c->ways->input (c, &stride);
  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    void *x_channel = tfx_convolver_at (c, x, channel * stride);

    read_past (source, channel, f->at, n, x_channel);
    soften_past (c, f->at, n, x_channel);
    c->ways->received (c, channel, n);
    /* The rest of a block that has begun needs what comes with its start, and the next
     * block what is known ahead of it. */
    if (is_last)
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

/* What work takes, as a multiple of what the model says. */
static double
coldness (const TfxConvolver *c)
{
  const TfxConvolverCatchUp *f = &c->catch_up;
  const double n_bytes = 4.0 * (double)(c->n_core * c->value_size);
  const double share = fmax (1.0 - CACHE_BYTES / n_bytes, 0.0);

  if (c->spectra_only)
    return 1.0 +
           share * (f->at < f->begin + 2 * f->size ? FIRST_SPECTRA : SPECTRA);
  return 1.0 + share * (f->is_right ? SUMS : FIRST_SUMS);
}

/* One step: a slice of the work that waits, or a block of the head at most. */
static void
take_step (TfxConvolver *c, const TfxConvolver *source)
{
  TfxConvolverCatchUp *f = &c->catch_up;
  const double before = c->work;
  const double cold = coldness (c);

  if (f->n_behind == 0) {
    const size_t head = c->layout.levels[0].size;
    const size_t n_left = (size_t)(source->n_run - f->at);
    const size_t n = least (head - (size_t)(f->at % head), n_left);

    run_past (c, source, n);
    f->n_behind = c->ways->advance (c, 0);
  } else {
    f->n_behind = c->ways->advance (c, c->layout.levels[0].size / N_SLICES);
  }
  f->credit -= cold * (c->work - before);
  if (f->n_behind == 0)
    settle (c, source);
}

/* Work for n_frames: where the source had much to do there is less of it. */
static double
allot_work (TfxConvolver *c, const TfxConvolver *source, size_t n_frames)
{
  TfxConvolverCatchUp *f = &c->catch_up;
  const double mean = (double)n_frames * c->mean_work;
  double work = mean * MOST_WORK;

  work -= source->partitions && f->n_heard > 0 ? source->work - f->source_work
                                               : mean;
  f->source_work = source->work;
  f->n_heard += n_frames;
  return f->n_heard < FIRST_FRAMES ? work * (double)f->n_heard / FIRST_FRAMES
                                   : work;
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

  c->n_quiet = source->n_quiet < source->n_kept ? source->n_quiet : c->n_kept;
  if (n_frames == SIZE_MAX || !c->partitions)
    set_begin (c, source, n_kept (source));
  if (!c->partitions) {
    copy_past (c, source);
    return 0;
  }
  f->credit +=
      n_frames == SIZE_MAX ? INFINITY : allot_work (c, source, n_frames);
  while ((f->at < source->n_run || f->n_behind > 0) && f->credit > 0.0)
    take_step (c, source);
  c->n_run = f->at;
  if (f->at < source->n_run || f->n_behind > 0)
    return (size_t)(source->n_run - f->at) + 1;
  f->credit = 0.0;
  return f->is_right ? 0 : 1;
}
