/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops.h: the innermost loops of the FIR engine, one table for each
 * instruction set and sample type T (float or double).
 *
 * A complex array is split: re[], im[].  A tile is one leaf of a transform
 * (convolver-fft.h): re[32], im[32].  Pointers to T are aligned to 64 bytes
 * unless a comment says otherwise; sizes are multiples of 32.  Arrays do not
 * overlap unless a comment says so.  The loops cannot fail. */
#ifndef TFX_CONVOLVER_OPS_H
#define TFX_CONVOLVER_OPS_H

#include "../tfx.h"

#define TFX_LEAF 32
#define TFX_TILE (2 * TFX_LEAF)
#define TFX_LEAF_BATCH 8

/* Taps that the direct form takes as they are. */
#define TFX_CONVOLVER_SHORT 12

/* A sum of products of tiles, sum_p x[p] h[p]: the first n[0] at x[0] and
 * h[0], n[1] more at x[1] and h[1].  That is for leaf 0; those of the
 * following leaves lie x_stride and h_stride values further on. */
typedef struct TfxTileSum
{
  const void *x[2], *h[2];
  size_t n[2];
  size_t x_stride, h_stride;
} TfxTileSum;

typedef struct TfxConvolverOps
{
  /* y[n] = sum_k taps[k] x[n - k], n < n_frames, k < n_taps.  No alignment.
   * Frames up to the next multiple of 16 are read from x and written to y.
   * Each y[n] is the same to the bit whatever n_frames is. */
  void (*direct) (void *y, const void *x, const void *taps, size_t n_taps,
      size_t n_frames);

  /* Split n_blocks polynomials of radix * m coefficients into radix of m, and
   * join them again; radix 2, 3 and 4 at index 0, 1 and 2.  factors are those
   * of the pass, see convolver-fft.c.  split: src may be
   * dst; it needs no alignment. */
  void (*split[3]) (void *re, void *im, const void *src_re, const void *src_im,
      const void *factors, size_t n_blocks, size_t m);
  void (*join[3]) (void *re, void *im, const void *factors, size_t n_blocks,
      size_t m);

  /* n_leaves leaves at re, im, transformed, to tiles, stride values apart.
   * Number i of the functions takes 4 << i polynomials of 8 coefficients at a
   * time; n_leaves is a multiple of 1 << i, the weights are made for it.  Of the
   * functions of double the first ones up to max_lanes are fast, the others
   * there to make spectra for those of float. */
  size_t max_lanes;
  void (*leaves_forward[3]) (void *tiles, size_t stride, const void *re,
      const void *im, const void *weights, size_t n_leaves);
  /* For each leaf the sum of products of tiles, transformed back, to re, im. */
  void (*leaves_back[3]) (void *re, void *im, const TfxTileSum *sum,
      const void *weights, size_t n_leaves);

  /* y += a; any n, no alignment. */
  void (*add) (void *y, const void *a, size_t n);

  /* Channels of n values, stride apart, from samples that lie frame after frame,
   * n_channels a frame; and back.  No alignment. */
  void (*deinterleave) (void *to, size_t stride, const void *from,
      unsigned n_channels, size_t n);
  void (*interleave) (void *to, const void *from, size_t stride,
      unsigned n_channels, size_t n);

  /* True if no sample is infinite, NaN or beyond what a transform can carry
   * (2^100 for float, 2^1000 for double); any n, no alignment. */
  bool (*is_sound) (const void *x, size_t n);
} TfxConvolverOps;

/* Costs in ns on the machine where bench_fir measured them; the ratios are what
 * counts. */
typedef struct TfxConvolverCost
{
  double direct;       /* a tap and a frame, direct form */
  double direct_call;  /* a tap, whatever the number of frames of the call */
  double direct_frame; /* a frame, whatever the number of taps */
  double sum_near;     /* a product of a tile sum, all tiles in 24 KiB */
  double sum;          /* in 512 KiB */
  double sum_far;      /* in 16 MiB */
  /* a leaf's transform, one way, in groups of 1, 2 and 4; where there are no
   * such groups, in the largest */
  double leaf[3];
  double pass; /* a complex value through a split or join of radix 4 */
  double call; /* what a block of one channel costs besides */
} TfxConvolverCost;

typedef struct TfxConvolverKernels
{
  const char *name;
  TfxConvolverOps ops[2]; /* by TfxSample */
  TfxConvolverCost cost[2];
} TfxConvolverKernels;

extern const TfxConvolverKernels tfx_convolver_kernels_c;
extern const TfxConvolverKernels tfx_convolver_kernels_sse2;
extern const TfxConvolverKernels tfx_convolver_kernels_avx2;
extern const TfxConvolverKernels tfx_convolver_kernels_avx512;
extern const TfxConvolverKernels tfx_convolver_kernels_neon;

/* The kernels called name (c, sse2, avx2, avx512, neon), NULL if this build has
 * none of that name.  Whether the machine can run them the caller knows. */
const TfxConvolverKernels *tfx_convolver_kernels_for (const char *name);

#endif
