/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay.c: y[n] = direct x[n] + sum over taps of gain x[n - delay].
 *
 * The past is in a ring of frames, which has space for a part of a block and the longest
 * delay.  A plain tap, the same for all channels, is a multiply-add of two runs of
 * samples, split at the end of the ring.  A tap of one side, or across, is one of runs of
 * pairs.  Up to four taps run over the output together, added in their order. */
#include "delay.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "copy.h"
#include "kernels.h"
#include "shuffle.h"

/* Frames and samples of a part, at most, so that its output stays in the cache. */
#define PART_FRAMES 1024
#define PART_SAMPLES 2048

struct TfxDelay
{
  const TfxKernels *kernels;
  unsigned n_channels;
  size_t longest, size, position; /* the ring's; the next frame */
  size_t part_frames;
  double *ring; /* [size][n_channels] */
  /* [part_frames][n_channels]: rows in place of planes, or an output; and that of the next
   * taps. */
  double *line, *next;
  size_t
      n_known; /* frames of the past: all, or those since the state was set */
  size_t n_quiet; /* frames since the last one above TFX_SILENCE */
};

/* ---- life ---------------------------------------------------------------------- */

int
tfx_delay_new (const char *kernel, unsigned n_channels, size_t longest,
    TfxDelay **out)
{
  TfxDelay *d = *out = calloc (1, sizeof *d);
  const size_t part = PART_SAMPLES / n_channels;

  if (!d)
    return -ENOMEM;
  d->kernels = tfx_kernels_for (kernel);
  d->n_channels = n_channels;
  d->longest = longest;
  /* whole lines of the cache */
  d->size = d->n_known = (longest + PART_FRAMES + 15) / 16 * 16;
  d->n_quiet = longest;
  d->part_frames = part < 1 ? 1 : part > PART_FRAMES ? PART_FRAMES : part;
  d->ring = tfx_block_new_samples (d->size * n_channels);
  d->line = tfx_block_new_samples (d->part_frames * n_channels);
  d->next = tfx_block_new_samples (d->part_frames * n_channels);
  if (d->ring && d->line && d->next)
    return 0;
  tfx_delay_free (out);
  return -ENOMEM;
}

void
tfx_delay_free (TfxDelay **delay)
{
  TfxDelay *d = *delay;

  *delay = NULL;
  if (!d)
    return;
  free (d->ring);
  free (d->line);
  free (d->next);
  free (d);
}

/* ---- taps ------------------------------------------------------------------------ */

/* The frame of the ring that was input `age` frames before the next one; 0 to size. */
static size_t
find_frame (const TfxDelay *d, size_t age)
{
  const size_t at = d->position + d->size - age;

  return at >= d->size ? at - d->size : at;
}

/* rows[n] = the rows of the ring from frames at[n] on.  Returns how many frames they have
 * before the end of the ring, at most n_frames, and advances `at` by that. */
static size_t
find_run (const TfxDelay *d, size_t *at, size_t n, size_t n_frames,
    const double **rows)
{
  size_t run = n_frames;

  for (size_t k = 0; k < n; k++) {
    at[k] = at[k] == d->size ? 0 : at[k];
    rows[k] = d->ring + at[k] * d->n_channels;
    run = d->size - at[k] < run ? d->size - at[k] : run;
  }
  for (size_t k = 0; k < n; k++)
    at[k] += run;
  return run;
}

/* y = direct times the input, or if !is_first y itself, and up to four plain taps. */
static void
sum_taps (const TfxDelay *d, bool is_first, double direct, const TfxTap *taps,
    size_t n_taps, void *y, TfxSample type, size_t n_frames)
{
  const size_t size = d->n_channels * tfx_sample_size (type);
  const double *rows[TFX_SUM_MAX_ROWS];
  double gains[TFX_SUM_MAX_ROWS] = { direct };
  size_t at[TFX_SUM_MAX_ROWS] = { d->position };

  for (size_t k = 0; k < n_taps; k++) {
    gains[k + 1] = taps[k].gain;
    at[k + 1] = find_frame (d, taps[k].delay);
  }
  for (size_t run; n_frames > 0; n_frames -= run) {
    run = find_run (d, at, n_taps + 1, n_frames, rows);
    if (!is_first)
      rows[0] = y;
    d->kernels->sum (y, type, rows, gains, (unsigned)n_taps + 1,
        run * d->n_channels);
    y = (char *)y + run * size;
  }
}

/* Two channels side by side. */
typedef double Pair __attribute__ ((vector_size (16), aligned (8), may_alias));
typedef long long Lanes __attribute__ ((vector_size (16)));

/* y += sum over k < n_rows of gains[k] rows[k], two channels of `width`. */
static inline __attribute__ ((always_inline)) void
add_rows (double *y, const double *const *rows, const Pair *gains,
    const unsigned n_rows, const bool swap, size_t width, size_t n_frames)
{
  for (size_t i = 0; i < n_frames * width; i += width) {
    Pair sum = *(const Pair *)(y + i);

#pragma GCC unroll 4
    for (unsigned k = 0; k < n_rows; k++) {
      const Pair in = *(const Pair *)(rows[k] + i);

      sum += gains[k] * (swap ? tfx_shuffle (in, ((Lanes){ 1, 0 })) : in);
    }
    *(Pair *)(y + i) = sum;
  }
}

static void
add_pairs (double *y, const double *const *rows, const Pair *gains,
    size_t n_rows, bool swap, size_t width, size_t n_frames)
{
  if (n_rows == 4 && swap)
    add_rows (y, rows, gains, 4, true, width, n_frames);
  else if (n_rows == 4)
    add_rows (y, rows, gains, 4, false, width, n_frames);
  else if (swap)
    add_rows (y, rows, gains, 1, true, width, n_frames);
  else
    add_rows (y, rows, gains, 1, false, width, n_frames);
}

/* The last of an odd number of channels has no partner: it is its own. */
static void
add_last (double *y, const double *const *rows, const Pair *gains,
    size_t n_rows, size_t width, size_t n_frames)
{
  for (size_t i = 0; i < n_frames * width; i += width) {
    for (size_t k = 0; k < n_rows; k++)
      y[i] += gains[k][0] * rows[k][i + width - 1];
  }
}

/* One tap or four of one side or across, all across or none of them. */
static void
add_sided (const TfxDelay *d, const TfxTap *taps, size_t n_taps, double *y,
    size_t n_frames)
{
  const size_t width = d->n_channels;
  const double *rows[4];
  Pair gains[4];
  size_t at[4];

  for (size_t k = 0; k < n_taps; k++) {
    const TfxTap *t = &taps[k];

    gains[k] = (Pair){ t->side == TFX_TAP_RIGHT ? 0.0 : t->gain,
      t->side == TFX_TAP_LEFT ? 0.0 : t->gain };
    at[k] = find_frame (d, t->delay);
  }
  for (size_t run; n_frames > 0; n_frames -= run, y += run * width) {
    run = find_run (d, at, n_taps, n_frames, rows);
    for (size_t c = 0; c + 1 < width; c += 2) {
      const double *pair[4];

      for (size_t k = 0; k < n_taps; k++)
        pair[k] = rows[k] + c;
      add_pairs (y + c, pair, gains, n_taps, taps->swap, width, run);
    }
    if (width % 2 == 1)
      add_last (y + width - 1, rows, gains, n_taps, width, run);
  }
}

static bool
is_plain (const TfxTap *tap)
{
  return !tap->swap && tap->side == TFX_TAP_BOTH;
}

/* How many taps from number `first` on are of the same sort, at most four. */
static size_t
count_alike (const TfxDelayTaps *taps, size_t first)
{
  const TfxTap *a = taps->taps + first;
  size_t n = 1;

  while (n < 4 && first + n < taps->n && is_plain (a) == is_plain (a + n) &&
         a->swap == a[n].swap)
    n++;
  return n;
}

/* How many taps the pass over the input includes. */
static size_t
count_first (const TfxDelayTaps *taps)
{
  return taps->n > 0 && is_plain (taps->taps) ? count_alike (taps, 0) : 0;
}

/* The output of the n_frames in the ring from `position` on, y[n_frames][n_channels];
 * doubles if there are more taps than count_first(). */
static void
render (const TfxDelay *d, const TfxDelayTaps *taps, void *y, TfxSample type,
    size_t n_frames)
{
  size_t k = count_first (taps), n;

  sum_taps (d, true, taps->direct, taps->taps, k, y, type, n_frames);
  for (; k < taps->n; k += n) {
    n = count_alike (taps, k);
    if (is_plain (&taps->taps[k])) {
      sum_taps (d, false, 1.0, taps->taps + k, n, y, type, n_frames);
    } else {
      n = n == 4 ? 4 : 1;
      add_sided (d, taps->taps + k, n, y, n_frames);
    }
  }
}

/* ---- blocks ---------------------------------------------------------------------- */

/* The newest n frames are x[n][n_channels]. */
static void
note_quiet (TfxDelay *d, const double *x, size_t n)
{
  size_t n_left = n * d->n_channels;

  while (n_left > 0 && fabs (x[n_left - 1]) <= TFX_SILENCE)
    n_left--;
  if (n_left > 0)
    d->n_quiet = n - (n_left + d->n_channels - 1) / d->n_channels;
  else if (d->n_quiet < d->longest)
    d->n_quiet += n;
}

/* Copies n frames of the input from frame `first` on to x[n][n_channels]; a sample that is
 * not finite would stay for the length of the line. */
static void
load (TfxDelay *d, double *x, const TfxBlock *in, size_t first, size_t n)
{
  TfxBlock from = tfx_block_part (in, first, n, 0, in->n_channels);

  if (!tfx_block_is_interleaved (in)) {
    const TfxBlock rows =
        tfx_block_interleaved (d->line, in->type, in->n_channels, n);

    tfx_cpu_copy (d->kernels, &from, &rows, 1.0);
    from = rows;
  }
  d->kernels->clean (x, from.data, in->type, n * in->n_channels);
  note_quiet (d, x, n);
}

void
tfx_delay_run (TfxDelay *d, const TfxDelayTaps *taps, const TfxDelayTaps *next,
    TfxWeight weight, size_t done, size_t length, const TfxBlock *in,
    const TfxBlock *out)
{
  const TfxSample type =
      !next && count_first (taps) == taps->n ? out->type : TFX_SAMPLE_F64;
  const bool is_direct = tfx_block_is_interleaved (out) && out->type == type;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const size_t left = in->n_frames - i, space = d->size - d->position;
    TfxBlock to, rows;
    size_t n_first;

    n = left < d->part_frames ? left : d->part_frames;
    n_first = space < n ? space : n;
    to = tfx_block_part (out, i, n, 0, d->n_channels);
    rows = tfx_block_interleaved (is_direct ? to.data : d->line, type,
        d->n_channels, n);
    load (d, d->ring + d->position * d->n_channels, in, i, n_first);
    load (d, d->ring, in, i + n_first, n - n_first);
    render (d, taps, rows.data, type, n);
    if (next) {
      render (d, next, d->next, TFX_SAMPLE_F64, n);
      d->kernels->fade (rows.data, d->next, n, d->n_channels, weight, done + i,
          length);
    }
    if (!is_direct)
      tfx_cpu_copy (d->kernels, &rows, &to, 1.0);
    d->position = (d->position + n) % d->size;
    d->n_known = d->n_known + n < d->size ? d->n_known + n : d->size;
  }
}

/* ---- state -------------------------------------------------------------------------- */

/* What the other line does not know is silence, from which the rest rises. */
void
tfx_delay_seed (TfxDelay *d, const TfxDelay *from)
{
  const bool is_cut = from->n_known < d->longest;
  const size_t n = is_cut ? from->n_known : d->longest;
  const size_t rise = n < TFX_WEIGHT_RISE ? n : TFX_WEIGHT_RISE;

  tfx_delay_reset (d);
  for (size_t i = 0; i < n; i++) {
    const double *past = from->ring + find_frame (from, n - i) * d->n_channels;
    const double w = is_cut ? tfx_weight_at (TFX_WEIGHT_SMOOTH, i, rise) : 1.0;

    for (unsigned c = 0; c < d->n_channels; c++)
      d->ring[i * d->n_channels + c] = w * past[c];
  }
  d->position = d->n_known = n;
  note_quiet (d, d->ring, n);
}

void
tfx_delay_get_state (const TfxDelay *d, double *state)
{
  for (unsigned c = 0; c < d->n_channels; c++) {
    for (size_t age = d->longest; age > 0; age--)
      *state++ = d->ring[find_frame (d, age) * d->n_channels + c];
  }
}

void
tfx_delay_set_state (TfxDelay *d, const double *state)
{
  tfx_delay_reset (d);
  for (unsigned c = 0; c < d->n_channels; c++) {
    for (size_t i = 0; i < d->longest; i++)
      d->ring[i * d->n_channels + c] = *state++;
  }
  d->position = d->n_known = d->longest;
  note_quiet (d, d->ring, d->longest);
}

void
tfx_delay_reset (TfxDelay *d)
{
  memset (d->ring, 0, d->n_channels * d->size * sizeof *d->ring);
  d->position = 0;
  d->n_known = d->size;
  d->n_quiet = d->longest;
}

bool
tfx_delay_is_silent (const TfxDelay *d)
{
  return d->n_quiet >= d->longest;
}
