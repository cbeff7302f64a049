/* SPDX-License-Identifier: LGPL-2.1-or-later
 * delay-taps.c: the taps of a delay line.
 *
 * A tap that is the same for all channels is a multiply-add of two runs of
 * samples, cut where the ring ends; one of a side, or from across, of runs of
 * pairs.  Four of them go over the output together, added up in their order. */
#include "delay-private.h"
#include "shuffle.h"

#include "core/block.h"

/* Up to where the ring ends for one of n rows, which begin at `at`: rows gets
 * where they lie, and `at` goes on behind them. */
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

/* y = direct times the input (is_first) or itself, and n_taps taps that are the
 * same for all channels, at most four. */
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
    at[k + 1] = tfx_delay_find_start (d, taps[k].delay);
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

static bool
is_plain (const TfxTap *tap)
{
  return !tap->swap && tap->side == TFX_TAP_BOTH;
}

/* ---- taps of one side, or across ---------------------------------------------------- */

/* Two channels side by side. */
typedef double Pair __attribute__ ((vector_size (16), aligned (8), may_alias));
typedef long long Lanes __attribute__ ((vector_size (16)));

static Pair
find_gain (const TfxTap *tap)
{
  return (Pair){ tap->side == TFX_TAP_RIGHT ? 0.0 : tap->gain,
    tap->side == TFX_TAP_LEFT ? 0.0 : tap->gain };
}

/* y += sum over k < n_rows of gains[k] rows[k], two channels of `width`. */
static inline __attribute__ ((always_inline)) void
add_pairs (double *y, const double *const *rows, const Pair *gains,
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
choose_pairs (double *y, const double *const *rows, const Pair *gains,
    size_t n_rows, bool swap, size_t width, size_t n_frames)
{
  if (n_rows == 4 && swap)
    add_pairs (y, rows, gains, 4, true, width, n_frames);
  else if (n_rows == 4)
    add_pairs (y, rows, gains, 4, false, width, n_frames);
  else if (swap)
    add_pairs (y, rows, gains, 1, true, width, n_frames);
  else
    add_pairs (y, rows, gains, 1, false, width, n_frames);
}

/* The last channel has no other if their number is odd. */
static void
add_last (double *y, const double *const *rows, const Pair *gains,
    size_t n_rows, size_t width, size_t n_frames)
{
  for (size_t i = width - 1; i < n_frames * width; i += width) {
    for (size_t k = 0; k < n_rows; k++)
      y[i] += gains[k][0] * rows[k][i];
  }
}

/* n_taps taps, one or four, that are all across or none of them. */
static void
add_sided (const TfxDelay *d, const TfxTap *taps, size_t n_taps, double *y,
    size_t n_frames)
{
  const size_t width = d->n_channels;
  const double *rows[4];
  Pair gains[4];
  size_t at[4];

  for (size_t k = 0; k < n_taps; k++) {
    gains[k] = find_gain (&taps[k]);
    at[k] = tfx_delay_find_start (d, taps[k].delay);
  }
  while (n_frames > 0) {
    const size_t run = find_run (d, at, n_taps, n_frames, rows);

    for (size_t c = 0; c + 1 < width; c += 2) {
      const double *pair[4];

      for (size_t k = 0; k < n_taps; k++)
        pair[k] = rows[k] + c;
      choose_pairs (y + c, pair, gains, n_taps, taps->swap, width, run);
    }
    if (width % 2 == 1)
      add_last (y, rows, gains, n_taps, width, run);
    y += run * width;
    n_frames -= run;
  }
}

/* ---- all of them -------------------------------------------------------------------- */

static bool
is_like (const TfxTap *a, const TfxTap *b)
{
  return is_plain (a) ? is_plain (b) : !is_plain (b) && a->swap == b->swap;
}

/* How many taps from number `first` on are alike, four at the most. */
static size_t
count_alike (const TfxDelayTaps *taps, size_t first)
{
  size_t n = 1;

  while (n < 4 && first + n < taps->n &&
         is_like (&taps->taps[first], &taps->taps[first + n]))
    n++;
  return n;
}

/* Of the first taps those that go with the input. */
static size_t
count_first (const TfxDelayTaps *taps)
{
  return taps->n > 0 && is_plain (taps->taps) ? count_alike (taps, 0) : 0;
}

bool
tfx_delay_is_one_pass (const TfxDelayTaps *taps)
{
  return count_first (taps) == taps->n;
}

void
tfx_delay_render (const TfxDelay *d, const TfxDelayTaps *taps, void *y,
    TfxSample type, size_t n_frames)
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
