/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-transform.c: the transform of the FIR engine.
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
 * polynomial modulo all factors is the polynomial modulo z^N - i, by the
 * Chinese remainder theorem.  The passes split and join it so, down to leaves of
 * 32 coefficients, and one more pass to m = 8.  With z = c^(1/m) u that becomes a
 * product modulo u^8 - 1: a cyclic convolution, which a transform of 8 points
 * diagonalizes.  One spectrum can be multiplied with several, and a sum of
 * products be transformed back as one.
 *
 * A pass takes each z^(r m) - c to its r factors z^m - s w^k, with
 * s = c^(1/r) and w = exp (2 pi i / r), k < r.  With the polynomial cut into
 * p_0 ... p_(r-1) of m coefficients each, its remainders are
 *
 *   q_k = sum_j (s^j p_j) w^(jk),
 *
 * an r-point transform of s^j p_j at each coefficient, and back
 *
 *   r p_j = s^-j sum_k q_k w^(-jk).
 *
 * The factors of a pass are s, s^2 ... s^(r-1) of each of its blocks; angles
 * are in turns. */
#include "convolver-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* exp (2 pi i turns) */
static TfxComplex
unit_root (double turns)
{
  const double angle = 2.0 * M_PI * (turns - floor (turns));
  return (TfxComplex){ cos (angle), sin (angle) };
}

unsigned
tfx_fft_radix (size_t n_leaves)
{
  return n_leaves % 3 == 0 ? 3 : n_leaves % 4 == 0 ? 4 : 2;
}

void
tfx_fft_plan (TfxFft *fft, size_t size, const TfxConvolverOps *ops)
{
  size_t left = size / TFX_LEAF, n_blocks = 1;

  memset (fft, 0, sizeof *fft);
  fft->size = size;
  fft->n_leaves = left;
  while ((size_t)8 << fft->group <= ops->max_lanes &&
         left % ((size_t)2 << fft->group) == 0)
    fft->group++;

  while (left > 1) {
    const unsigned radix = tfx_fft_radix (left);
    left /= radix;
    fft->passes[fft->n_passes++] =
        (TfxFftPass){ radix, n_blocks, left * TFX_LEAF, NULL };
    n_blocks *= radix;
  }
}

/* Value number i and the next one. */
static void
set_complex (const TfxFft *fft, void *array, size_t i, TfxComplex value)
{
  tfx_convolver_set_value (fft->type, array, i, value.re);
  tfx_convolver_set_value (fft->type, array, i + 1, value.im);
}

/* The lane of a quarter of a leaf of a group. */
static size_t
find_lane (const TfxFft *fft, size_t leaf, size_t quarter)
{
  /* a vector of 16 lanes holds the same quarter of two leaves */
  return fft->group < 2 ? 4 * leaf + quarter
                        : leaf / 2 * 8 + 2 * quarter + leaf % 2;
}

size_t
tfx_fft_place (const TfxFft *fft, size_t leaf, size_t quarter, size_t k)
{
  const size_t first = leaf >> fft->group << fft->group;
  const size_t at =
      (k << (fft->group + 2)) + find_lane (fft, leaf - first, quarter);

  return (first + at / TFX_LEAF) * TFX_TILE + at % TFX_LEAF;
}

/* The weights of a group of leaves, whose angles are turns[]: the factors of each
 * leaf's pass to four polynomials of 8 coefficients, in the place of weights that
 * are 1, and then the weights c^(n / 8), n = 1 ... 7, of each lane's. */
static void
fill_group (const TfxFft *fft, size_t first, const double *turns)
{
  const size_t n_leaves = (size_t)1 << fft->group, lanes = 4 * n_leaves;
  const size_t at = first * TFX_TILE;

  for (size_t leaf = 0; leaf < n_leaves; leaf++) {
    for (size_t j = 1; j < 4; j++)
      set_complex (fft, fft->weights, at + 6 * leaf + 2 * (j - 1),
          unit_root (turns[leaf] * (double)j / 4.0));
  }
  for (size_t i = 0; i < lanes; i++) {
    const size_t lane = find_lane (fft, i / 4, i % 4);
    const double turn = (turns[i / 4] + (double)(i % 4)) / 4.0;

    for (size_t n = 1; n < 8; n++) {
      const TfxComplex w = unit_root (turn * (double)n / 8.0);
      tfx_convolver_set_value (fft->type, fft->weights,
          at + 2 * n * lanes + lane, w.re);
      tfx_convolver_set_value (fft->type, fft->weights,
          at + (2 * n + 1) * lanes + lane, w.im);
    }
  }
}

/* Factors of the passes and weights of the leaves.  turns[n_leaves] is
 * scratch: the angle of each block's c. */
static void
fill_tables (TfxFft *fft, double *turns)
{
  const size_t value_size = fft->type == TFX_SAMPLE_F32 ? 4 : 8;
  size_t n_values = 0;

  turns[0] = 0.25; /* i */
  for (size_t p = 0; p < fft->n_passes; p++) {
    TfxFftPass *pass = &fft->passes[p];
    const unsigned r = pass->radix;

    pass->factors = (char *)fft->factors + n_values * value_size;
    for (size_t b = 0; b < pass->n_blocks; b++) {
      for (unsigned j = 1; j < r; j++) {
        set_complex (fft, fft->factors, n_values, unit_root (turns[b] * j / r));
        n_values += 2;
      }
    }
    for (size_t b = pass->n_blocks; b-- > 0;) {
      const double t = turns[b];
      for (unsigned k = r; k-- > 0;)
        turns[b * r + k] = (t + k) / r;
    }
  }
  for (size_t leaf = 0; leaf < fft->n_leaves; leaf += (size_t)1 << fft->group)
    fill_group (fft, leaf, turns + leaf);
}

void
tfx_fft_clear (TfxFft *fft)
{
  free (fft->factors);
  free (fft->weights);
  memset (fft, 0, sizeof *fft);
}

static size_t
round_up (size_t size)
{
  return (size + 63) / 64 * 64;
}

int
tfx_fft_init (TfxFft *fft, const TfxConvolverOps *ops, TfxSample type,
    size_t size)
{
  const size_t value_size = type == TFX_SAMPLE_F32 ? 4 : 8;
  double *turns;
  int result;

  memset (fft, 0, sizeof *fft);
  tfx_fft_plan (fft, size, ops);
  fft->type = type;
  fft->ops = ops;
  /* n_blocks (radix - 1) complex factors for each pass: n_leaves - 1 in all */
  fft->factors = aligned_alloc (64, round_up (2 * fft->n_leaves * value_size));
  fft->weights = aligned_alloc (64, 2 * size * value_size);
  turns = malloc (fft->n_leaves * sizeof *turns);
  result = fft->factors && fft->weights && turns ? 0 : -ENOMEM;
  if (!result)
    fill_tables (fft, turns);
  else
    tfx_fft_clear (fft);
  free (turns);
  return result;
}

/* The address of value i. */
static void *
value_at (const TfxFft *fft, const void *array, size_t i)
{
  return (char *)array + i * (fft->type == TFX_SAMPLE_F32 ? 4 : 8);
}

/* A part of a pass: some of its blocks, or some columns of one. */
typedef struct Part
{
  size_t at; /* the first value */
  size_t n_blocks, n_columns;
  const void *factors;
} Part;

static Part
find_part (const TfxFft *fft, size_t i, size_t part, size_t n_parts)
{
  const TfxFftPass *p = &fft->passes[i];
  const size_t n_columns_parts =
      n_parts > p->n_blocks ? n_parts / p->n_blocks : 1;
  const size_t n_blocks = n_parts > p->n_blocks ? 1 : p->n_blocks / n_parts;
  const size_t n_columns = p->m / n_columns_parts;
  const size_t block = part / n_columns_parts * n_blocks;

  return (Part){ block * p->radix * p->m + part % n_columns_parts * n_columns,
    n_blocks, n_columns,
    value_at (fft, p->factors, block * 2 * (p->radix - 1)) };
}

void
tfx_fft_split (const TfxFft *fft, size_t i, size_t part, size_t n_parts,
    void *re, void *im, const void *a, const void *b)
{
  const TfxFftPass *p = &fft->passes[i];
  const Part q = find_part (fft, i, part, n_parts);

  fft->ops->split[p->radix - 2](value_at (fft, re, q.at),
      value_at (fft, im, q.at), value_at (fft, a, q.at),
      value_at (fft, b, q.at), q.factors, q.n_blocks, p->m, q.n_columns);
}

void
tfx_fft_join (const TfxFft *fft, size_t i, size_t part, size_t n_parts,
    void *re, void *im)
{
  const TfxFftPass *p = &fft->passes[i];
  const Part q = find_part (fft, i, part, n_parts);

  fft->ops->join[p->radix - 2](value_at (fft, re, q.at),
      value_at (fft, im, q.at), q.factors, q.n_blocks, p->m, q.n_columns);
}

void
tfx_fft_leaves_forward (const TfxFft *fft, size_t first, size_t n_leaves,
    const void *re, const void *im, void *tiles, size_t stride)
{
  fft->ops->leaves_forward[fft->group](value_at (fft, tiles, first * stride),
      stride, value_at (fft, re, first * TFX_LEAF),
      value_at (fft, im, first * TFX_LEAF),
      value_at (fft, fft->weights, first * TFX_TILE), n_leaves);
}

void
tfx_fft_leaves_back (const TfxFft *fft, size_t first, size_t n_leaves,
    const TfxTileSum *sum, void *re, void *im)
{
  double tiles[TFX_LEAF_BATCH * TFX_TILE] __attribute__ ((aligned (64)));
  const bool is_product = sum->n_terms == 1 && sum->n[0] == 1 && sum->n[1] == 0;

  for (size_t n; n_leaves > 0; n_leaves -= n, first += n) {
    const void *weights = value_at (fft, fft->weights, first * TFX_TILE);
    void *to_re = value_at (fft, re, first * TFX_LEAF);
    void *to_im = value_at (fft, im, first * TFX_LEAF);

    /* A batch of sums, so that no transform waits for one. */
    n = is_product || n_leaves < TFX_LEAF_BATCH ? n_leaves : TFX_LEAF_BATCH;
    if (is_product) {
      fft->ops->leaves_back[fft->group](to_re, to_im,
          value_at (fft, sum->terms->x[0], first * sum->x_stride),
          sum->x_stride, value_at (fft, sum->terms->h, first * sum->h_stride),
          sum->h_stride, weights, n);
    } else {
      fft->ops->sums (tiles, sum, first, n);
      fft->ops->leaves_back[fft->group](to_re, to_im, tiles, TFX_TILE, NULL, 0,
          weights, n);
    }
  }
}

void
tfx_fft_forward (const TfxFft *fft, const void *a, const void *b, void *re,
    void *im, void *tiles, size_t stride)
{
  const size_t n_bytes = fft->size * (fft->type == TFX_SAMPLE_F32 ? 4 : 8);

  for (size_t i = 0; i < fft->n_passes; i++) {
    tfx_fft_split (fft, i, 0, 1, re, im, a, b);
    a = re;
    b = im;
  }
  /* One leaf alone needs a copy that is aligned. */
  if (fft->n_passes == 0) {
    memmove (re, a, n_bytes);
    memmove (im, b, n_bytes);
  }
  tfx_fft_leaves_forward (fft, 0, fft->n_leaves, re, im, tiles, stride);
}

void
tfx_fft_back (const TfxFft *fft, const TfxTileSum *sum, void *re, void *im)
{
  tfx_fft_leaves_back (fft, 0, fft->n_leaves, sum, re, im);
  for (size_t i = fft->n_passes; i-- > 0;)
    tfx_fft_join (fft, i, 0, 1, re, im);
}
