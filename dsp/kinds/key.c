/* SPDX-License-Identifier: LGPL-2.1-or-later
 * key.c: the channels that a level is measured of, filtered. */
#include "key.h"

#include <math.h>
#include <string.h>

void
tfx_key_lay_out (TfxKey *key, const TfxDynamics *dynamics, unsigned n_channels,
    TfxRoom *room)
{
  const uint64_t channels = dynamics->key;

  key->channels = channels;
  key->n_channels = n_channels;
  key->n = channels ? (unsigned)__builtin_popcountll (channels)
                    : tfx_unit_measured (n_channels,
                          dynamics->is_linked ? dynamics->n_unmeasured : 0);
  key->is_on = key->n < n_channels || dynamics->n_key_sos > 0;
  key->n_sos = dynamics->n_key_sos;
  key->coef =
      tfx_room_take (room, 0, key->n_sos * TFX_SVF_COEF * TFX_GRID_FRAMES);
  key->state = tfx_room_take (room, 0, 2 * key->n_sos * key->n);
}

/* ---- values --------------------------------------------------------------------- */

/* The coefficients of the next frames, up to a cell.  (Frequency and quality move by a
 * factor.) */
static void
begin_cell (TfxKey *key, const TfxKernels *kernels)
{
  enum
  {
    N = TFX_DYNAMICS_MAX_KEY_SOS
  };
  const double part = key->n_left > 0 ? 1.0 / (double)key->n_left : 0.0;
  double values[5 * N], rates[5 * N];

  for (size_t i = 0; i < key->n_sos; i++) {
    const TfxSvf *a = &key->shapes[i], *b = &key->to[i];
    const double from[] = { a->g, a->k, a->low, a->band, a->high };
    const double by[] = { pow (b->g / a->g, part), pow (b->k / a->k, part),
      part * (b->low - a->low), part * (b->band - a->band),
      part * (b->high - a->high) };

    for (size_t k = 0; k < 5; k++) {
      values[k * N + i] = from[k];
      rates[k * N + i] = by[k];
    }
  }
  kernels->moving_coef (values, rates, N, key->n_sos, key->coef);
  key->n_moved = 0;
}

/* Moves the shapes to those after the frames of the cell. */
static void
end_cell (TfxKey *key)
{
  const double part = key->n_left > key->n_moved
                          ? (double)key->n_moved / (double)key->n_left
                          : 1.0;

  for (size_t i = 0; i < key->n_sos; i++) {
    TfxSvf *a = &key->shapes[i];
    const TfxSvf *b = &key->to[i];

    if (part == 1.0) {
      *a = *b;
      continue;
    }
    a->g *= pow (b->g / a->g, part);
    a->k *= pow (b->k / a->k, part);
    a->low += part * (b->low - a->low);
    a->band += part * (b->band - a->band);
    a->high += part * (b->high - a->high);
  }
  key->n_left = part == 1.0 ? 0 : key->n_left - key->n_moved;
}

void
tfx_key_set (TfxKey *key, const TfxDynamics *dynamics,
    const TfxKernels *kernels, size_t n_frames)
{
  TfxSvf to[TFX_DYNAMICS_MAX_KEY_SOS];
  const size_t size = key->n_sos * sizeof *to;

  for (size_t i = 0; i < key->n_sos; i++)
    to[i] = tfx_svf_of (&dynamics->key_sos[i]);
  if (n_frames > 0 && memcmp (key->to, to, size) == 0)
    return;
  if (key->n_left > 0)
    end_cell (key);
  memcpy (key->to, to, size);
  if (n_frames == 0)
    memcpy (key->shapes, to, size);
  key->n_left = n_frames;
  begin_cell (key, kernels);
}

/* ---- frames ---------------------------------------------------------------------- */

static void
filter (TfxKey *key, const TfxKernels *kernels, double *x, size_t n_frames)
{
  TfxMovingKernel *run = key->n == 1 ? kernels->moving_one : kernels->moving;

  for (size_t n; n_frames > 0; n_frames -= n, x += n * key->n) {
    const bool is_moving = key->n_left > 0;
    const size_t cell = is_moving && key->n_left < TFX_GRID_FRAMES
                            ? key->n_left
                            : TFX_GRID_FRAMES;

    n = n_frames < cell - key->n_moved ? n_frames : cell - key->n_moved;
    run (x, n, key->n, key->state, key->n, key->coef + key->n_moved,
        key->n_sos);
    if (!is_moving)
      continue;
    key->n_moved += n;
    if (key->n_moved == cell) {
      end_cell (key);
      begin_cell (key, kernels);
    }
  }
}

void
tfx_key_run (TfxKey *key, const TfxDynamicsKernels *kernels,
    const double *samples, double *x, size_t n_frames)
{
  const size_t n = n_frames * key->n;
  double *to = x;

  for (size_t i = 0; !key->channels && i < n_frames; i++)
    memcpy (x + i * key->n, samples + i * key->n_channels, key->n * sizeof *x);
  for (uint64_t left = key->channels; left != 0; left &= left - 1, to++) {
    const double *from = samples + __builtin_ctzll (left);

    for (size_t i = 0; i < n_frames; i++)
      to[i * key->n] = from[i * key->n_channels];
  }
  if (key->n_sos == 0)
    return;
  filter (key, kernels->copies, x, n_frames);
  if (kernels->load (x, x, TFX_SAMPLE_F64, n) > 0)
    memset (key->state, 0, 2 * key->n_sos * key->n * sizeof *key->state);
}

void
tfx_key_apply (const TfxKey *key, const double *gains, double *samples,
    size_t n_frames)
{
  for (size_t i = 0; i < n_frames; i++, samples += key->n_channels) {
    for (unsigned c = 0; c < key->n_channels; c++) {
      const bool is_key = c < 64 && key->channels >> c & 1;

      samples[c] *= is_key ? 1.0 : gains[i];
    }
  }
}

/* ---- state -------------------------------------------------------------------------- */

void
tfx_key_reset (TfxKey *key, const TfxKernels *kernels)
{
  memset (key->state, 0, 2 * key->n_sos * key->n * sizeof *key->state);
  memcpy (key->shapes, key->to, key->n_sos * sizeof *key->to);
  key->n_left = 0;
  begin_cell (key, kernels);
}

double
tfx_key_peak (const TfxKey *key)
{
  double peak = 0.0;

  for (size_t i = 0; i < 2 * key->n_sos * key->n; i++)
    peak = fmax (peak, fabs (key->state[i]));
  return peak;
}

void
tfx_key_get_state (const TfxKey *key, unsigned channel, double *state)
{
  for (size_t i = 0; i < 2 * key->n_sos; i++)
    state[i] = channel < key->n ? key->state[i * key->n + channel] : 0.0;
}

void
tfx_key_set_state (TfxKey *key, unsigned channel, const double *state)
{
  for (size_t i = 0; i < 2 * key->n_sos && channel < key->n; i++)
    key->state[i * key->n + channel] = state[i];
}

void
tfx_key_copy_state (TfxKey *key, const TfxKey *from)
{
  if (key->n_sos == from->n_sos && key->n == from->n)
    memcpy (key->state, from->state,
        2 * key->n_sos * key->n * sizeof *key->state);
}
