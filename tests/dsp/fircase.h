/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fircase.h: what the tests of the FIR engine share: a signal, taps, and what
 * must come out at some frames.
 */
#ifndef FIRCASE_H
#define FIRCASE_H

#include "cpu/convolver.h"

/* Kinds of taps. */
typedef enum
{
  FIR_NOISE,   /* white: no tap is less than the others */
  FIR_DECAY,   /* noise that falls by 60 dB: a room */
  FIR_LOW_PASS /* a design: neighbours cancel each other */
} FirKind;

/* Signal and taps are values that a float holds.  Channels have signals of
 * their own. */
typedef struct FirCase
{
  size_t n_taps, n_frames;
  unsigned n_channels, n_kernels;
  const int *matrix; /* as that of TfxConvolverSpec, or NULL */
  double *taps;      /* [n_kernels][n_taps] */
  double *signal;    /* [n_channels][n_frames] */
  size_t n_points;
  size_t *points;      /* frames, ascending, the last one among them */
  long double *values; /* [n_channels][n_points]: exact output there */
} FirCase;

FirCase *fir_case_new (FirKind kind, size_t n_taps, unsigned n_kernels,
    unsigned n_channels, size_t n_frames, size_t n_points);
/* With a static matrix, [n_channels][n_channels]; NULL: none. */
FirCase *fir_case_new_matrix (FirKind kind, size_t n_taps, unsigned n_kernels,
    unsigned n_channels, const int *matrix, size_t n_frames, size_t n_points);
void fir_case_free (FirCase **c);

/* A spec with the case's taps and channels, and the best kernel of this machine. */
TfxConvolverSpec fir_case_spec (const FirCase *c, TfxSample precision,
    TfxFirMethod method, size_t block_frames);

/* Taps and a convolver for the spec, or the end of the program. */
TfxConvolverTaps *fir_taps_new (const TfxConvolverSpec *spec);
TfxConvolver *fir_convolver_of (TfxConvolverTaps *taps);
TfxConvolver *fir_convolver_new (const TfxConvolverSpec *spec);

/* Into how many frames a stream is cut; n_left of them are left. */
typedef size_t (*FirSplit) (size_t n_left);
size_t
fir_split_one (size_t n_left); /* 1; of each 16384 frames the last 4096 */
size_t fir_split_all (size_t n_left);    /* all */
size_t fir_split_random (size_t n_left); /* 1 to 4000, often few */
/* The same number each time. */
extern size_t fir_split_frames;
size_t fir_split_fixed (size_t n_left);

/* Frames [first, first + n) of the case's signal through the convolver, in
 * pieces, interleaved blocks of the type, in place.  Output goes to
 * out[n_channels][n_frames]. */
void fir_case_run (const FirCase *c, TfxConvolver *convolver, TfxSample type,
    FirSplit split, size_t first, size_t n, double *out);

/* The error of out at the case's points that are `from` at least: power
 * relative to that of the exact output, in dB. */
double fir_case_error_db (const FirCase *c, const double *out, size_t from);

/* The largest error that is allowed with a method that is asked for, in dB. */
double fir_bound_db (TfxFirMethod method, TfxSample type);
/* A matrix rounds each term and then their sum: the error is twice that. */
#define FIR_MATRIX_DB 3.0

/* The kernels that this machine has, the last one the best. */
size_t fir_kernels (const char **names);

#endif /* FIRCASE_H */
