/* SPDX-License-Identifier: LGPL-2.1-or-later
 * key.h: the channels that a level is measured of, filtered.
 *
 * The sections run as state-variable filters, in double, whose values ramp and whose
 * integrators stay. */
#ifndef TFX_KEY_H
#define TFX_KEY_H

#include "unit.h"

typedef struct TfxKey
{
  bool is_on;        /* else the level is that of the input itself */
  uint64_t channels; /* TfxDynamics.key */
  unsigned n;        /* measured: these, or the first ones */
  unsigned n_channels;
  size_t n_sos;
  /* At the start of the cell, and at the end of the ramp. */
  TfxSvf shapes[TFX_DYNAMICS_MAX_KEY_SOS], to[TFX_DYNAMICS_MAX_KEY_SOS];
  size_t n_left;  /* frames of the ramp after this start; 0: there is none */
  size_t n_moved; /* frames of the cell */
  double *coef;   /* as TfxMovingKernel takes it */
  double *state;  /* [2 n_sos][n] */
} TfxKey;

void tfx_key_lay_out (TfxKey *key, const TfxDynamics *dynamics,
    unsigned n_channels, TfxRoom *room);

/* Ramps to other sections, of the same number, over n_frames; 0: at once. */
void tfx_key_set (TfxKey *key, const TfxDynamics *dynamics,
    const TfxKernels *kernels, size_t n_frames);

/* Picks the channels out of samples[n_frames][n_channels] and filters them into
 * x[n_frames][n].  Sections that overflow start at rest again, and give 0. */
void tfx_key_run (TfxKey *key, const TfxDynamicsKernels *kernels,
    const double *samples, double *x, size_t n_frames);

/* Multiplies all channels but these by gains[n_frames]. */
void tfx_key_apply (const TfxKey *key, const double *gains, double *samples,
    size_t n_frames);

/* At rest; ends the ramp. */
void tfx_key_reset (TfxKey *key, const TfxKernels *kernels);
double tfx_key_peak (const TfxKey *key);
/* The state of a channel, state[2 n_sos]. */
void tfx_key_get_state (const TfxKey *key, unsigned channel, double *state);
void tfx_key_set_state (TfxKey *key, unsigned channel, const double *state);
/* That of another key; at rest if it has other channels or sections. */
void tfx_key_copy_state (TfxKey *key, const TfxKey *from);

#endif
