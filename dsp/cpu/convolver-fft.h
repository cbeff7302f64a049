/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-fft.h: the transform of the FIR engine.
 *
 * For real sequences a product modulo z^N - i is a linear convolution folded
 * once: with y = a * b (2 N values, zeros at the end),
 *
 *   a(z) b(z) mod (z^N - i) = sum_n (y[n] + i y[n + N]) z^n.
 *
 * So N complex values hold 2 N real ones, and no step is lost on the symmetry
 * of a real signal's spectrum.  (Nussbaumer calls it the right-angle circular
 * convolution.)
 *
 * z^N - i is a product of factors z^m - c, |c| = 1, down to the leaves; a
 * polynomial modulo all of these is the polynomial modulo z^N - i, by the
 * Chinese remainder theorem.  The passes split and join it so, down to leaves of
 * 32 coefficients, and one more pass to m = 8.  With z = c^(1/m) u that becomes a
 * product modulo u^8 - 1: a cyclic convolution, which a transform of 8 points
 * diagonalizes.  What is transformed once can be multiplied with many, and many
 * products be transformed back as one. */
#ifndef TFX_CONVOLVER_FFT_H
#define TFX_CONVOLVER_FFT_H

#include "convolver-ops.h"

#define TFX_FFT_MAX_PASSES 14
/* The sizes: 32 times a power of two, or that times three. */
#define TFX_FFT_MIN_SIZE TFX_LEAF
#define TFX_FFT_MAX_SIZE ((size_t)1 << 22)

typedef struct TfxFftPass
{
  unsigned radix;
  size_t n_blocks, m;  /* n_blocks polynomials of radix * m coefficients */
  const void *factors; /* T[n_blocks][radix - 1][2] */
} TfxFftPass;

typedef struct TfxFft
{
  TfxSample type; /* T */
  size_t size;    /* N */
  size_t n_leaves;
  unsigned group; /* leaves of a group are 1 << group */
  const TfxConvolverOps *ops;
  size_t n_passes;
  TfxFftPass passes[TFX_FFT_MAX_PASSES];
  void *factors; /* of all passes */
  void *weights; /* T[n_leaves][64], see convolver-group_tmpl.c */
} TfxFft;

bool tfx_fft_is_size (size_t size);

/* The numbers of a transform of a size that is one, without its tables; not to
 * be cleared. */
void tfx_fft_plan (TfxFft *fft, size_t size, size_t max_lanes);

/* Bytes that the tables of a transform take. */
size_t tfx_fft_memory (TfxSample type, size_t size);

/* max_lanes: ops->max_lanes, or those of the other type, to get tiles that are
 * laid out as its.  0, -EINVAL or -ENOMEM; the object is then as after
 * tfx_fft_clear(). */
int tfx_fft_init (TfxFft *fft, const TfxConvolverOps *ops, TfxSample type,
    size_t size, size_t max_lanes);

/* What the result of all passes and leaves is times the product. */
double tfx_fft_scale (const TfxFft *fft);
void tfx_fft_clear (TfxFft *fft);

/* Pass number i (from 0) of n_passes: from a + i b, or in place, to re, im.
 * All of T[size]; a and b need no alignment. */
void tfx_fft_split (const TfxFft *fft, size_t i, void *re, void *im,
    const void *a, const void *b);

/* The passes undone, number n_passes - 1 first, each in place. */
void tfx_fft_join (const TfxFft *fft, size_t i, void *re, void *im);

/* n_leaves leaves from first on, both multiples of a group's, after the last split, to tiles that are
 * stride values apart. */
void tfx_fft_leaves_forward (const TfxFft *fft, size_t first, size_t n_leaves,
    const void *re, const void *im, void *tiles, size_t stride);

/* n_leaves leaves from first on: sums of products, transformed back.  The sum
 * describes leaf 0. */
void tfx_fft_leaves_back (const TfxFft *fft, size_t first, size_t n_leaves,
    const TfxTileSum *sum, void *re, void *im);

/* All of it: a + i b to tiles, with re, im for scratch. */
void tfx_fft_forward (const TfxFft *fft, const void *a, const void *b, void *re,
    void *im, void *tiles, size_t stride);

/* All of it: sums of products to re, im. */
void
tfx_fft_back (const TfxFft *fft, const TfxTileSum *sum, void *re, void *im);

#endif
