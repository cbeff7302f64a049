/* SPDX-License-Identifier: LGPL-2.1-or-later
 * parallel_tmpl.c: sections in the lanes that all hear the input; part of
 * kernels-vec.c.
 *
 * A vector is W / C sections of C channels, each a part of the output (see
 * cascade-parallel.c):
 *
 *   y = d x + sum (c1 u' + c2 u'');  u = x - a1 u' - a2 u''
 *
 * The recursion is one multiply-add deep and leads through no other lane, and a
 * block neither fills nor drains.  The lanes of W / C frames are summed
 * together, those of each frame in the same order wherever in a block it lies. */

/* u' and u''. */
typedef struct Parts
{
  V last, before;
} Parts;

/* The sums of a vector of frames of C channels: each of W / C rows has the parts
 * of a frame. */
static inline __attribute__ ((always_inline)) V
sum_parts (V *rows, const unsigned C)
{
#if W == 8
#pragma GCC unroll 4
  for (unsigned i = 0; C == 1 && i < 4; i++)
    rows[i] = v_add (_mm512_unpacklo_pd (rows[2 * i], rows[2 * i + 1]),
        _mm512_unpackhi_pd (rows[2 * i], rows[2 * i + 1]));
#pragma GCC unroll 2
  for (unsigned i = 0; i < 2; i++)
    rows[i] = v_add (_mm512_shuffle_f64x2 (rows[2 * i], rows[2 * i + 1], 0x88),
        _mm512_shuffle_f64x2 (rows[2 * i], rows[2 * i + 1], 0xdd));
  return v_add (_mm512_shuffle_f64x2 (rows[0], rows[1], 0x88),
      _mm512_shuffle_f64x2 (rows[0], rows[1], 0xdd));
#elif W == 4
#pragma GCC unroll 2
  for (unsigned i = 0; C == 1 && i < 2; i++)
    rows[i] = v_add (_mm256_unpacklo_pd (rows[2 * i], rows[2 * i + 1]),
        _mm256_unpackhi_pd (rows[2 * i], rows[2 * i + 1]));
  return v_add (_mm256_permute2f128_pd (rows[0], rows[1], 0x20),
      _mm256_permute2f128_pd (rows[0], rows[1], 0x31));
#else
  return v_add (__builtin_shufflevector (rows[0], rows[1], 0, 2),
      __builtin_shufflevector (rows[0], rows[1], 1, 3));
#endif
}

/* The parts of a frame x. */
static inline __attribute__ ((always_inline)) V
step_parts (Parts *w, const V *k, V x, const unsigned N)
{
  V sum = v_mul (k[1], w[0].before);

#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++, k += TFX_PARALLEL_COEF) {
    const V u = v_fnma (k[2], w[v].last, v_fnma (k[3], w[v].before, x));

    if (v > 0)
      sum = v_fma (k[1], w[v].before, sum);
    sum = v_fma (k[0], w[v].last, sum);
    w[v].before = w[v].last;
    w[v].last = u;
  }
  return sum;
}

/* A group, from x to y, aligned. */
static inline __attribute__ ((always_inline)) void
run_group_parts (const double *x, double *y, Parts *w, const V *k, V d,
    const unsigned C, const unsigned N)
{
#pragma GCC unroll 2
  for (unsigned v = 0; v < FRAMES_VECTORS; v++, x += W, y += W) {
    const V input = v_load (x);
    V rows[W];

#pragma GCC unroll 8
    for (unsigned i = 0; i < W / C; i++)
      rows[i] = step_parts (w, k, v_load_row_f64 (x + i * C, C, C), N);
    v_store (y, v_fma (d, input, sum_parts (rows, C)));
  }
}

/* The first n frames of a group in place, in little code. */
static inline __attribute__ ((always_inline)) void
run_last_parts (double *x, unsigned n, Parts *w, const V *k, V d,
    const unsigned C, const unsigned N)
{
#pragma GCC unroll 1
  for (unsigned done = 0; done < n; done += W / C, x += W) {
    const unsigned left = n - done < W / C ? n - done : W / C;
    const V input = v_load (x);
    V rows[W] = { { 0 } };

#pragma GCC unroll 1
    for (unsigned i = 0; i < left; i++)
      rows[i] = step_parts (w, k, v_load_row_f64 (x + i * C, C, C), N);
    v_store (x, v_fma (d, input, sum_parts (rows, C)));
  }
}

static inline __attribute__ ((always_inline)) bool
run_parts (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, const unsigned C, const unsigned N)
{
  const TfxRows in = *from, out = *to;
  const bool in_f32 = in.type == TFX_SAMPLE_F32;
  const bool out_f32 = out.type == TFX_SAMPLE_F32;
  const bool in_planar = C == 2 && in.apart, out_planar = C == 2 && out.apart;
  const unsigned F = GROUP_FRAMES (C);
  const V d = v_set1 (*gain);
  V k[TFX_PARALLEL_COEF * TFX_PARALLEL_MAX_VECTORS], ends = v_set1 (0.0);
  Parts w[TFX_PARALLEL_MAX_VECTORS];
  size_t i = 0;

#pragma GCC unroll 16
  for (unsigned j = 0; j < TFX_PARALLEL_COEF * N; j++)
    k[j] = v_load (coef + j * W);
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++)
    w[v] = (Parts){ v_load (state + TFX_STATE * v * W),
      v_load (state + (TFX_STATE * v + 1) * W) };
  for (; i + F <= n; i += F) {
    double x[FRAMES_VECTORS * W] __attribute__ ((aligned (64)));
    double y[FRAMES_VECTORS * W] __attribute__ ((aligned (64)));

    read_group (x, &in, i, C, in_f32, in_planar);
    /* From memory a frame comes into all lanes without a permutation. */
    if (W == 8)
      __asm__("" : "+m"(x));
    run_group_parts (x, y, w, k, d, C, N);
    write_group (&out, i, y, C, out_f32, out_planar);
  }
  if (i < n) {
    double x[FRAMES_VECTORS * W] __attribute__ ((aligned (64))) = { 0 };

    read_frames (x, from, i, (unsigned)(n - i), C);
    run_last_parts (x, (unsigned)(n - i), w, (const V *)coef, d, C, N);
    write_frames (to, i, (unsigned)(n - i), x, C);
  }
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++) {
    v_store (state + TFX_STATE * v * W, w[v].last);
    v_store (state + (TFX_STATE * v + 1) * W, w[v].before);
    ends = v_add (ends, (w[v].last - w[v].last) + (w[v].before - w[v].before));
  }
  return v_is_number (ends);
}

/* No more than 16 sections.  In vectors of eight only what is more than one. */
static inline __attribute__ ((always_inline)) bool
run_parts_sections (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *gain, const double *coef, unsigned n_sections,
    const unsigned C)
{
  switch ((n_sections * C + W - 1) / W) {
    case 1:
      return W == 8 || run_parts (in, out, n, state, gain, coef, C, 1);
    case 2:
      return run_parts (in, out, n, state, gain, coef, C, 2);
    case 3:
      return (W == 8 && C == 1) ||
             run_parts (in, out, n, state, gain, coef, C, 3);
    default:
      return (W == 8 && C == 1) ||
             run_parts (in, out, n, state, gain, coef, C, 4);
  }
}
