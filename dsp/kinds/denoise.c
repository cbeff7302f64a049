/* SPDX-License-Identifier: LGPL-2.1-or-later
 * denoise.c: reduction of steady noise, on a short-time Fourier transform.
 *
 * For the power P of a value of the spectrum, frame by frame:
 *
 *   noise     N: given, or the mean of P over the first n_learn frames, which stays, or
 *             follows by
 *             T. Gerkmann and R. C. Hendriks, Unbiased MMSE-based noise power estimation
 *             with low complexity and low tracking delay (2012):
 *               p = 1 / (1 + (1 + X) exp (-P / N X / (1 + X))), X = 15 dB,
 *               m = b m + (1 - b) p, and p at most 0.99 where m is above that,
 *               N = a N + (1 - a) (p N + (1 - p) P)
 *   gain      a Wiener filter of the decision-directed signal-to-noise ratio s, by
 *             Y. Ephraim and D. Malah (1984), P. Scalart and J. V. Filho (1996):
 *               g = P / (2 N),
 *               s = c w + (1 - c) max (g - 1, 0), w = W^2 g of the frame before,
 *               W = s / (1 + s),
 *               gain = max (W, lowest)
 *
 * Noise is overestimated by 3 dB (M. Berouti, R. Schwartz, J. Makhoul, 1979), and W is
 * fed back without the lowest gain.  Both keep noise at the lowest gain: with c = 0.98
 * no series of g up to 4.1 takes s above 0.13, since c s^2 g + (1 - c) (g - 1) = s has a
 * solution there.  P above 2 * 4.1 N has a probability of exp (-8.2), 0.03 %. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/stft.h"
#include "unit.h"

/* The parameters. */
enum
{
  REDUCTION_DB,
  SMOOTHING
};

static const TfxField fields[] = {
  TFX_PARAM (denoise.reduction_db, 0, 400),
  TFX_PARAM (denoise.smoothing, 0, TFX_BELOW_1),
  TFX_PARAM (denoise.noise_keep, 0, TFX_BELOW_1),
  TFX_PARAM (denoise.presence_keep, 0, TFX_BELOW_1),
  TFX_SIZE (denoise.n_window, TFX_STFT_SHORTEST, TFX_STFT_LONGEST),
  TFX_SIZE (denoise.n_learn, 0, 1u << 24),
  TFX_BOOL (denoise.is_following),
  TFX_BOOL (denoise.is_linked),
  TFX_SIZE (denoise.n_unmeasured, 0, TFX_MAX_CHANNELS),
};

static bool
denoise_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  const double *noise = a->u.denoise.noise, *other = b->u.denoise.noise;
  const size_t n = a->u.denoise.n_window / 2;

  return noise && other ? memcmp (noise, other, n * sizeof *noise) == 0
                        : noise == other;
}

static void
denoise_clear (TfxStage *stage)
{
  free (stage->u.denoise.noise);
}

/* Not zero: the unit has state, which only its own functions read. */
static size_t
denoise_state_size (const TfxStage *stage)
{
  return 1;
}

static size_t
denoise_latency (const TfxStage *stage)
{
  return stage->u.denoise.n_window;
}

static double
denoise_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[] = { 55.0, 20.0, 20.0, 20.0 };

  return tfx_unit_cost (costs, spec);
}

/* ---- the unit ------------------------------------------------------------------- */

#define N_SUMS 8

typedef struct Unit
{
  TfxUnit unit;
  TfxStft *stft;
  unsigned n_levels, n_measured; /* channels of a level */
  size_t n_values, n_learn;
  TfxSuppression suppression;
  double *presence, *prior, *noise; /* [n_levels][n_values] */
  double *n_learned;                /* [n_levels] */
  size_t n_state; /* numbers from presence on; up to the noise, if given */
  double *powers, *gains; /* [n_values] */
  /* Powers since the last read. */
  double sums_in[N_SUMS], sums_out[N_SUMS];
} Unit;

static void
lay_out (void *data, const TfxStage *stage, TfxRoom *room)
{
  Unit *u = data;
  const size_t n = stage->u.denoise.n_window / 2;
  size_t first;

  u->n_levels = stage->u.denoise.is_linked ? 1 : u->unit.n_channels;
  u->n_measured = tfx_unit_measured (u->unit.n_channels / u->n_levels,
      stage->u.denoise.n_unmeasured);
  u->n_values = n;
  u->n_learn = stage->u.denoise.n_learn;
  u->powers = tfx_room_take (room, 0, n);
  u->gains = tfx_room_take (room, 0, n);
  u->unit.samples =
      tfx_room_take (room, 0, u->unit.part_frames * u->unit.n_channels);
  first = room->n;
  u->presence = tfx_room_take (room, 0, u->n_levels * n);
  u->prior = tfx_room_take (room, 0, u->n_levels * n);
  u->n_state = room->n - first;
  u->noise = tfx_room_take (room, 0, u->n_levels * n);
  u->n_learned = tfx_room_take (room, 0, u->n_levels);
  if (u->n_learn > 0)
    u->n_state = room->n - first;
}

static void
unit_free (void *data)
{
  tfx_stft_free (&((Unit *)data)->stft);
  tfx_unit_free (data);
}

static void run_part (void *data, size_t n_frames, TfxSample type);
static void process (void *data, const TfxStftFrame *frame);

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = tfx_unit_new (sizeof *u, stage, spec, lay_out);

  if (!u)
    return -ENOMEM;
  u->unit.run_part = run_part;
  u->suppression = (TfxSuppression){ .noise_keep = stage->u.denoise.noise_keep,
    .presence_keep = stage->u.denoise.presence_keep,
    .is_following = stage->u.denoise.is_following };
  u->stft = tfx_stft_new (spec->n_channels, stage->u.denoise.n_window,
      spec->kernel, process, u);
  if (!u->stft) {
    unit_free (u);
    return -ENOMEM;
  }
  for (size_t i = 0; u->n_learn == 0 && i < u->n_levels * u->n_values; i++)
    u->noise[i] =
        stage->u.denoise.noise[tfx_stft_bins (u->stft)[i % u->n_values]];
  *unit = u;
  return 0;
}

/* ---- frames ----------------------------------------------------------------------- */

/* The mean power of n channels. */
static void
find_powers (const double *restrict spectra, size_t n_values, unsigned n,
    double *restrict powers)
{
  memset (powers, 0, n_values * sizeof *powers);
  for (unsigned c = 0; c < n; c++) {
    for (size_t i = 0; i < n_values; i += TFX_STFT_RUN) {
      for (size_t k = 0; k < TFX_STFT_RUN; k++, spectra++) {
        const double re = spectra[0], im = spectra[TFX_STFT_RUN];

        powers[i + k] += (re * re + im * im) / n;
      }
      spectra += TFX_STFT_RUN;
    }
  }
}

/* The noise becomes the mean with one frame more. */
static void
learn (double *restrict noise, const double *restrict powers, size_t n,
    double n_learned)
{
  for (size_t i = 0; i < n; i++)
    noise[i] += (powers[i] - noise[i]) / n_learned;
}

/* For readings: sums that do not wait for each other. */
static void
add_up (Unit *u)
{
  for (size_t i = 0; i < u->n_values; i += N_SUMS) {
    for (size_t k = 0; k < N_SUMS; k++) {
      const double out = u->powers[i + k] * u->gains[i + k] * u->gains[i + k];

      u->sums_in[k] += u->powers[i + k];
      u->sums_out[k] += out;
    }
  }
}

/* One level, of n channels of the spectra. */
static void
process_level (Unit *u, unsigned level, double *restrict spectra, unsigned n,
    bool is_full)
{
  const size_t n_values = u->n_values, at = level * n_values;
  const bool is_learning = is_full && u->n_learned[level] < (double)u->n_learn;
  TfxSuppression s = u->suppression;

  find_powers (spectra, n_values, u->n_measured, u->powers);
  if (is_learning)
    learn (u->noise + at, u->powers, n_values, u->n_learned[level] += 1.0);
  s.noise = u->noise + at;
  s.presence = u->presence + at;
  s.prior = u->prior + at;
  s.is_following = s.is_following && is_full && !is_learning;
  u->unit.kernels->suppress (&s, u->powers, u->gains, n_values);
  if (u->n_learned[level] == 0.0 && u->n_learn > 0) {
    memset (s.prior, 0, n_values * sizeof *s.prior);
    for (size_t i = 0; i < n_values; i++)
      u->gains[i] = s.lowest;
  }
  add_up (u);
  for (unsigned c = 0; c < n; c++) {
    for (size_t i = 0; i < n_values; i += TFX_STFT_RUN) {
      for (size_t k = 0; k < TFX_STFT_RUN; k++, spectra++) {
        spectra[0] *= u->gains[i + k];
        spectra[TFX_STFT_RUN] *= u->gains[i + k];
      }
      spectra += TFX_STFT_RUN;
    }
  }
}

/* A frame with silence in it changes no noise. */
static void
process (void *data, const TfxStftFrame *frame)
{
  Unit *u = data;
  const unsigned n = u->unit.n_channels / u->n_levels;

  u->suppression.lowest = pow (10.0, -u->unit.params.now[REDUCTION_DB] / 20.0);
  u->suppression.prior_keep = u->unit.params.now[SMOOTHING];
  for (unsigned k = 0; k < u->n_levels; k++) {
    bool is_full = false;

    for (unsigned c = k * n; c < k * n + u->n_measured; c++)
      is_full = is_full || frame->are_full[c];
    process_level (u, k, frame->spectra + k * n * 2 * u->n_values, n, is_full);
  }
}

static void
run_part (void *data, size_t n_frames, TfxSample type)
{
  Unit *u = data;
  TfxParams *p = &u->unit.params;
  double *samples = u->unit.samples;

  for (size_t n; n_frames > 0; n_frames -= n) {
    const size_t left = tfx_stft_left (u->stft);

    n = left < n_frames ? left : n_frames;
    for (size_t k = 0, m; k < n && tfx_params_are_ramping (p); k += m) {
      m = tfx_params_cell (p, n - k);
      tfx_params_advance (p, m);
    }
    tfx_stft_run (u->stft, samples, n);
    samples += n * u->unit.n_channels;
  }
}

/* ---- state --------------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  tfx_stft_reset (u->stft);
  memset (u->presence, 0, u->n_state * sizeof *u->presence);
  tfx_params_finish (&u->unit.params);
}

static double
unit_state_peak (const void *data)
{
  return tfx_stft_is_at_rest (((const Unit *)data)->stft) ? 0.0 : INFINITY;
}

/* Keeps the noise of the source, unless it is given; with another n_learn a unit learns it
 * anew. */
static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  Unit *u = data;
  const Unit *from = source;
  const size_t n = u->n_values;

  tfx_stft_take (u->stft, from->stft);
  for (unsigned k = 0; k < u->n_levels; k++) {
    const unsigned old = k < from->n_levels ? k : 0;

    if (u->n_learn > 0)
      memcpy (u->noise + k * n, from->noise + old * n, n * sizeof *u->noise);
    memcpy (u->presence + k * n, from->presence + old * n,
        n * sizeof *u->presence);
    memcpy (u->prior + k * n, from->prior + old * n, n * sizeof *u->prior);
    u->n_learned[k] = from->n_learned[old];
    if (u->n_learn != from->n_learn)
      u->n_learned[k] = u->suppression.is_following ? (double)u->n_learn : 0.0;
  }
  return 0;
}

static void
unit_read (void *data, TfxReadings *readings)
{
  Unit *u = data;

  double in = 0.0, out = 0.0;

  for (size_t k = 0; k < N_SUMS; k++) {
    in += u->sums_in[k];
    out += u->sums_out[k];
    u->sums_in[k] = u->sums_out[k] = 0.0;
  }
  readings->gain_db = in > 0.0 && out > 0.0 ? 10.0 * log10 (out / in) : 0.0;
}

static const TfxUnitKind denoise_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = tfx_unit_run,
  .set_values = tfx_unit_set_values,
  .is_changing = tfx_unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .catch_up = unit_catch_up,
  .read = unit_read,
};

const TfxKind tfx_kind_denoise = {
  .step = TFX_STEP_UNIT,
  .unit = &denoise_unit,
  TFX_FIELDS (fields),
  .is_same_structure = denoise_is_same_structure,
  .state_size = denoise_state_size,
  .latency = denoise_latency,
  .cost = denoise_cost,
  .clear = denoise_clear,
};
