/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-products_tmpl.c: leaves that are multiplied without a transform;
 * see convolver-ops_tmpl.c.
 *
 * A leaf is a polynomial of m = LANES coefficients, modulo z^m - c.  With
 * z^m = c the product of x and h is
 *
 *   y[n] = sum_k h[k] w[m + n - k],   w = c x, then x: 2 m values,
 *
 * so that each coefficient of h is broadcast, and meets the vector of w that
 * starts m - k values from its beginning. */

/* Leaves are taken in batches: where windows are loads, those that overlap two
 * stores would have to wait for these to leave the store buffer. */
#define BATCH 8

/* w of one leaf: re[2 m], im[2 m]. */
INLINE void
OP (leaf_extend) (T *w, const T *re, const T *im, C factor)
{
  const C x = OP (c_load) (re, im), cx = OP (c_mul) (x, factor);

  OP (c_store) (w, w + 2 * LANES, cx);
  OP (c_store) (w + LANES, w + 3 * LANES, x);
}

/* h x.  Products of real and imaginary parts are summed up apart, in two
 * chains each that take turns, to hide the latency of a product. */
INLINE C
OP (leaf_product) (const T *w, const T *h)
{
  V sums[2][4];

#pragma GCC unroll 16
  for (int k = 0; k < LANES; k++) {
    V *sum = sums[k % 2];
    const V h_re = v (set1) (h[k]), h_im = v (set1) (h[LANES + k]);
    const V re = v (keep) (v (window) (w, LANES - k));
    const V im = v (keep) (v (window) (w + 2 * LANES, LANES - k));

    sum[0] = k < 2 ? v (mul) (re, h_re) : v (fma) (re, h_re, sum[0]);
    sum[1] = k < 2 ? v (mul) (im, h_im) : v (fma) (im, h_im, sum[1]);
    sum[2] = k < 2 ? v (mul) (re, h_im) : v (fma) (re, h_im, sum[2]);
    sum[3] = k < 2 ? v (mul) (im, h_re) : v (fma) (im, h_re, sum[3]);
  }
  return (C){ v (sub) (v (add) (sums[0][0], sums[1][0]),
                  v (add) (sums[0][1], sums[1][1])),
    v (add) (v (add) (sums[0][2], sums[1][2]),
        v (add) (sums[0][3], sums[1][3])) };
}

static void
OP (multiply) (void *re_io, void *im_io, const void *h_in, const void *factors,
    size_t n_leaves)
{
  T w[BATCH][4 * LANES] __attribute__ ((aligned (64)));
  const T *h = h_in, *f = factors;
  T *re = re_io, *im = im_io;

  for (size_t n; n_leaves > 0; n_leaves -= n, f += 2 * n) {
    n = n_leaves < BATCH ? n_leaves : BATCH;
    for (size_t i = 0; i < n; i++)
      OP (leaf_extend)
    (w[i], re + i * LANES, im + i * LANES, OP (c_factor) (f, i));
    for (size_t i = 0; i < n; i++) {
      OP (c_store) (re, im, OP (leaf_product) (w[i], h));
      re += LANES, im += LANES, h += 2 * LANES;
    }
  }
}

#undef BATCH
