/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-passes_tmpl.c: polynomials to their remainders and back; see
 * convolver-fft.c for the equations, convolver-ops_tmpl.c for the rest. */

static void
OP (split2) (void *re_out, void *im_out, const void *src_re, const void *src_im,
    const void *factors, size_t n_blocks, size_t m)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;

  for (; n_blocks > 0; n_blocks--, f += 2) {
    const C f1 = OP (c_factor) (f, 0);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_loadu) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_loadu) (sr + m + n, si + m + n), f1);
      OP (c_store) (re + n, im + n, OP (c_add) (a, b));
      OP (c_store) (re + m + n, im + m + n, OP (c_sub) (a, b));
    }
    re += 2 * m, im += 2 * m, sr += 2 * m, si += 2 * m;
  }
}

static void
OP (join2) (void *re_io, void *im_io, const void *factors, size_t n_blocks,
    size_t m)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;

  for (; n_blocks > 0; n_blocks--, f += 2, re += 2 * m, im += 2 * m) {
    const C f1 = OP (c_factor) (f, 0);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_load) (re + n, im + n);
      C b = OP (c_load) (re + m + n, im + m + n);
      OP (c_store) (re + n, im + n, OP (c_add) (a, b));
      OP (c_store)
      (re + m + n, im + m + n, OP (c_mul_conj) (OP (c_sub) (a, b), f1));
    }
  }
}

#define HALF_SQRT3 ((T)0.86602540378443864676)

static void
OP (split3) (void *re_out, void *im_out, const void *src_re, const void *src_im,
    const void *factors, size_t n_blocks, size_t m)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;
  const V half = v (set1) ((T)0.5), root = v (set1) (HALF_SQRT3);

  for (; n_blocks > 0; n_blocks--, f += 4) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_loadu) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_loadu) (sr + m + n, si + m + n), f1);
      C c = OP (c_mul) (OP (c_loadu) (sr + 2 * m + n, si + 2 * m + n), f2);
      C sum = OP (c_add) (b, c), diff = OP (c_sub) (b, c);
      C p = { v (fnma) (half, sum.re, a.re), v (fnma) (half, sum.im, a.im) };
      C q = { v (mul) (root, diff.re), v (mul) (root, diff.im) };
      OP (c_store) (re + n, im + n, OP (c_add) (a, sum));
      OP (c_store) (re + m + n, im + m + n, OP (c_add_i) (p, q));
      OP (c_store) (re + 2 * m + n, im + 2 * m + n, OP (c_sub_i) (p, q));
    }
    re += 3 * m, im += 3 * m, sr += 3 * m, si += 3 * m;
  }
}

static void
OP (join3) (void *re_io, void *im_io, const void *factors, size_t n_blocks,
    size_t m)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;
  const V half = v (set1) ((T)0.5), root = v (set1) (HALF_SQRT3);

  for (; n_blocks > 0; n_blocks--, f += 4, re += 3 * m, im += 3 * m) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_load) (re + n, im + n);
      C b = OP (c_load) (re + m + n, im + m + n);
      C c = OP (c_load) (re + 2 * m + n, im + 2 * m + n);
      C sum = OP (c_add) (b, c), diff = OP (c_sub) (b, c);
      C p = { v (fnma) (half, sum.re, a.re), v (fnma) (half, sum.im, a.im) };
      C q = { v (mul) (root, diff.re), v (mul) (root, diff.im) };
      OP (c_store) (re + n, im + n, OP (c_add) (a, sum));
      OP (c_store)
      (re + m + n, im + m + n, OP (c_mul_conj) (OP (c_sub_i) (p, q), f1));
      OP (c_store)
      (re + 2 * m + n, im + 2 * m + n,
          OP (c_mul_conj) (OP (c_add_i) (p, q), f2));
    }
  }
}

static void
OP (split4) (void *re_out, void *im_out, const void *src_re, const void *src_im,
    const void *factors, size_t n_blocks, size_t m)
{
  const T *f = factors, *sr = src_re, *si = src_im;
  T *re = re_out, *im = im_out;

  for (; n_blocks > 0; n_blocks--, f += 6) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    const C f3 = OP (c_factor) (f, 2);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_loadu) (sr + n, si + n);
      C b = OP (c_mul) (OP (c_loadu) (sr + m + n, si + m + n), f1);
      C c = OP (c_mul) (OP (c_loadu) (sr + 2 * m + n, si + 2 * m + n), f2);
      C d = OP (c_mul) (OP (c_loadu) (sr + 3 * m + n, si + 3 * m + n), f3);
      C p = OP (c_add) (a, c), q = OP (c_sub) (a, c);
      C r = OP (c_add) (b, d), s = OP (c_sub) (b, d);
      OP (c_store) (re + n, im + n, OP (c_add) (p, r));
      OP (c_store) (re + m + n, im + m + n, OP (c_add_i) (q, s));
      OP (c_store) (re + 2 * m + n, im + 2 * m + n, OP (c_sub) (p, r));
      OP (c_store) (re + 3 * m + n, im + 3 * m + n, OP (c_sub_i) (q, s));
    }
    re += 4 * m, im += 4 * m, sr += 4 * m, si += 4 * m;
  }
}

static void
OP (join4) (void *re_io, void *im_io, const void *factors, size_t n_blocks,
    size_t m)
{
  const T *f = factors;
  T *re = re_io, *im = im_io;

  for (; n_blocks > 0; n_blocks--, f += 6, re += 4 * m, im += 4 * m) {
    const C f1 = OP (c_factor) (f, 0), f2 = OP (c_factor) (f, 1);
    const C f3 = OP (c_factor) (f, 2);
    for (size_t n = 0; n < m; n += LANES) {
      C a = OP (c_load) (re + n, im + n);
      C b = OP (c_load) (re + m + n, im + m + n);
      C c = OP (c_load) (re + 2 * m + n, im + 2 * m + n);
      C d = OP (c_load) (re + 3 * m + n, im + 3 * m + n);
      C p = OP (c_add) (a, c), q = OP (c_sub) (a, c);
      C r = OP (c_add) (b, d), s = OP (c_sub) (b, d);
      OP (c_store) (re + n, im + n, OP (c_add) (p, r));
      OP (c_store)
      (re + m + n, im + m + n, OP (c_mul_conj) (OP (c_sub_i) (q, s), f1));
      OP (c_store)
      (re + 2 * m + n, im + 2 * m + n, OP (c_mul_conj) (OP (c_sub) (p, r), f2));
      OP (c_store)
      (re + 3 * m + n, im + 3 * m + n,
          OP (c_mul_conj) (OP (c_add_i) (q, s), f3));
    }
  }
}

#undef HALF_SQRT3
