/* SPDX-License-Identifier: LGPL-2.1-or-later
 * wave_tmpl.c: sections in the lanes; part of kernels-vec.c.
 *
 * A vector is W / C sections of C channels each, section after section.  In a
 * step section k works on frame t - 2 k: its input is what the section before
 * it put out two steps ago, so that nothing in a step waits for anything else
 * in it, and the recursion is one multiply-add deep.  A block begins with steps
 * in which the sections behind have nothing to do yet, and ends with steps in
 * which those in front have nothing left: their state is kept as it is.  So
 * the arithmetic is that of one section after the other, to the bit.
 *
 * With C = W a vector is one section, and there is nothing to wait for. */

/* The state of a vector of sections, and the outputs of the last two steps. */
typedef struct Wave
{
  V s, last_s, last_x;
  V y, last_y;
} Wave;

/* Of the sections of a vector, first in the wave, those that work in step t of
 * a block of n frames: from, to but not including. */
typedef struct Working
{
  unsigned from, to;
} Working;

static inline __attribute__ ((always_inline)) Working
wave_working (size_t t, size_t n, unsigned first, const unsigned n_sections)
{
  const size_t to = t / 2 + 1, from = t < n ? 0 : (t - n) / 2 + 1;
  Working w = { 0, 0 };

  if (to > first)
    w.to = to - first < n_sections ? (unsigned)(to - first) : n_sections;
  if (from > first)
    w.from = from - first < n_sections ? (unsigned)(from - first) : n_sections;
  return w;
}

/* One step of the sections of a vector with coefficients k[TFX_WAVE_COEF]. */
static inline __attribute__ ((always_inline)) V
wave_section (Wave *w, const V *k, V x, const bool factored)
{
  const V y = factored ? v_fma (k[0], w->s, x) : v_fma (k[0], x, w->s);
  const V input = factored ? v_fma (k[2], w->last_x, x)
                           : v_fma (k[2], w->last_x, v_mul (k[1], x));
  const V s = v_fnma (k[3], w->s, v_fnma (k[4], w->last_s, input));

  w->last_s = w->s;
  w->last_x = x;
  w->s = s;
  return y;
}

/* The same with s2 in the place of the last x, for rows in the direct form: it
 * takes a register less, and the next section has something to do meanwhile. */
static inline __attribute__ ((always_inline)) V
row_section (Wave *w, const V *k, V x)
{
  const V y = v_fma (k[0], x, w->s);
  const V s = v_fnma (k[3], w->s, v_fma (k[1], x, w->last_x));

  w->last_x = v_fnma (k[4], w->s, v_mul (k[2], x));
  w->s = s;
  return y;
}

/* A step of all vectors from the row x, where not all sections have work. */
static inline __attribute__ ((always_inline)) V
wave_step_partly (Wave *w, const V *k, V x, size_t t, size_t n,
    const unsigned C, const unsigned N, const bool factored)
{
#pragma GCC unroll 4
  for (unsigned v = N; v-- > 0;) {
    const Working at = wave_working (t, n, v * (W / C), W / C);
    const V input = v_shift_in (w[v].last_y, v ? w[v - 1].last_y : x, C);
    const Wave old = w[v];

    w[v].last_y = old.y;
    if (at.from < at.to) {
      const VMask lanes = v_lanes (at.from * C, at.to * C);

      w[v].y = wave_section (&w[v], k + TFX_WAVE_COEF * v, input, factored);
      w[v].s = v_blend (lanes, w[v].s, old.s);
      w[v].last_s = v_blend (lanes, w[v].last_s, old.last_s);
      w[v].last_x = v_blend (lanes, w[v].last_x, old.last_x);
    }
  }
  return w[N - 1].y;
}

/* The same where all of them have. */
static inline __attribute__ ((always_inline)) V
wave_step (Wave *w, const V *k, V x, const unsigned C, const unsigned N,
    const bool factored)
{
  if (C == W) {
#pragma GCC unroll 4
    for (unsigned v = 0; v < N; v++)
      x = factored ? wave_section (&w[v], k + TFX_WAVE_COEF * v, x, true)
                   : row_section (&w[v], k + TFX_WAVE_COEF * v, x);
    return x;
  }
#pragma GCC unroll 4
  for (unsigned v = N; v-- > 0;) {
    const V input = v_shift_in (w[v].last_y, v ? w[v - 1].last_y : x, C);

    w[v].last_y = w[v].y;
    w[v].y = wave_section (&w[v], k + TFX_WAVE_COEF * v, input, factored);
  }
  return w[N - 1].y;
}

/* A row of a block whose channels are `apart` bytes from one another, or side by
 * side: 0.  The compiler shall make no loop of its own for either. */
static inline __attribute__ ((always_inline)) V
load_row (const char *row, ptrdiff_t apart, const TfxSample type,
    const unsigned C, const unsigned n)
{
  if (C > 1 && C < W) {
    __asm__("" : "+r"(apart));
    if (apart)
      return load_apart (row, apart, type, C, n);
  }
  return type == TFX_SAMPLE_F32 ? v_load_row_f32 ((const float *)row, C, n)
                                : v_load_row_f64 ((const double *)row, C, n);
}

static inline __attribute__ ((always_inline)) void
store_row (char *row, ptrdiff_t apart, V a, const TfxSample type,
    const unsigned C, const unsigned n)
{
  if (C > 1 && C < W) {
    __asm__("" : "+r"(apart));
    if (apart) {
      store_apart (row, apart, a, type, C, n);
      return;
    }
  }
  if (type == TFX_SAMPLE_F32)
    v_store_row_f32 ((float *)row, a, C, n);
  else
    v_store_row_f64 ((double *)row, a, C, n);
}

/* Rows in the direct form have no last s: that costs no register then. */
static inline __attribute__ ((always_inline)) void
load_wave (Wave *w, V *k, const double *state, const double *coef,
    const unsigned N, const bool has_s2)
{
  const V zero = v_set1 (0.0);

#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++)
    w[v] = (Wave){ v_load (state + 3 * v * W),
      has_s2 ? zero : v_load (state + (3 * v + 1) * W),
      v_load (state + (3 * v + 2) * W), zero, zero };
#pragma GCC unroll 20
  for (unsigned i = 0; i < TFX_WAVE_COEF * N; i++)
    k[i] = v_load (coef + (i + 1) * W);
}

/* Returns whether all is finite: zero times infinity is no number. */
static inline __attribute__ ((always_inline)) bool
store_wave (const Wave *w, double *state, const unsigned N, const bool has_s2)
{
  const V zero = v_set1 (0.0);
  V a = zero, b = zero;

#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++) {
    v_store (state + 3 * v * W, w[v].s);
    if (!has_s2)
      v_store (state + (3 * v + 1) * W, w[v].last_s);
    v_store (state + (3 * v + 2) * W, w[v].last_x);
    a = v_fma (zero, w[v].s, a);
    b = v_fma (zero, w[v].last_x, b);
    if (!has_s2)
      b = v_fma (zero, w[v].last_s, b);
  }
  return v_is_number (v_add (a, b));
}

static inline __attribute__ ((always_inline)) void
step_tile (Wave *w, const V *k, V g, double *tile, size_t n, const unsigned N,
    const bool factored)
{
#pragma GCC unroll 1
  for (const double *end = tile + n * W; tile < end; tile += W) {
    const V x = v_load (tile);

    v_store (tile,
        wave_step (w, k, factored ? v_mul (g, x) : x, W, N, factored));
  }
}

/* Full vectors of channels that lie apart, on at least one side.  On the other one
 * there are W doubles in a row, which are worked on in place. */
static inline __attribute__ ((always_inline)) bool
run_tiles (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, const unsigned N, const bool factored)
{
  const TfxSample f32 = TFX_SAMPLE_F32, f64 = TFX_SAMPLE_F64;
  const ptrdiff_t in_size = sample_bytes (from->type);
  const ptrdiff_t out_size = sample_bytes (to->type);
  const ptrdiff_t in_apart = from->apart * in_size;
  const ptrdiff_t out_apart = to->apart * out_size;
  const char *in = from->data;
  char *out = to->data;
  double own[W * W] __attribute__ ((aligned (64))) = { 0 };
  double *tile = !in_apart ? from->data : !out_apart ? to->data : own;
  const size_t step = tile == own ? 0 : W * W;
  const V g = v_set1 (coef[0]);
  Wave w[TFX_WAVE_MAX_VECTORS];
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS];

  load_wave (w, k, state, coef, N, !factored);
  for (; n >= W; n -= W, tile += step) {
    if (in_apart && from->type == f32)
      turn_to_rows (tile, in, in_apart, from->n, f32);
    else if (in_apart)
      turn_to_rows (tile, in, in_apart, from->n, f64);
    step_tile (w, k, g, tile, W, N, factored);
    if (out_apart && to->type == f32)
      turn_to_planes (out, out_apart, to->n, tile, f32);
    else if (out_apart)
      turn_to_planes (out, out_apart, to->n, tile, f64);
    in += W * in_size;
    out += W * out_size;
  }
  if (n > 0) {
    if (in_apart)
      load_some (tile, in, in_apart, from->n, n, from->type);
    step_tile (w, k, g, tile, n, N, factored);
    if (out_apart)
      store_some (out, out_apart, to->n, tile, n, to->type);
  }
  return store_wave (w, state, N, !factored);
}

/* n_row of the C channels are there. */
static inline __attribute__ ((always_inline)) bool
run_wave (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, const unsigned C, const unsigned N, const bool factored,
    const unsigned n_row, const TfxSample in_type, const TfxSample out_type)
{
  const char *in = from->data;
  char *out = to->data;
  const ptrdiff_t in_step = from->stride * sample_bytes (in_type);
  const ptrdiff_t out_step = to->stride * sample_bytes (out_type);
  const ptrdiff_t in_apart = from->apart * sample_bytes (in_type);
  const ptrdiff_t out_apart = to->apart * sample_bytes (out_type);
  const size_t fill = C == W ? 0 : 2 * (N * (W / C) - 1);
  const V g = v_set1 (coef[0]), zero = v_set1 (0.0);
  /* With 16 registers the coefficients are read again for each frame, rather than
   * that the compiler keeps the state on the stack. */
  const bool reloads = V_REGISTERS < 32 && C == W && N > 2 && factored;
  const V *again = (const V *)(coef + W);
  Wave w[TFX_WAVE_MAX_VECTORS];
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS];
  size_t t = 0;

  load_wave (w, k, state, coef, N, C == W && !factored);
#pragma GCC unroll 1
  for (; t < fill; t++) {
    V x = zero;

    if (t < n) {
      x = load_row (in, in_apart, in_type, C, n_row);
      in += in_step;
    }
    wave_step_partly (w, k, factored ? v_mul (g, x) : x, t, n, C, N, factored);
  }
  if (C == W && N == 1) {
    for (; t + 4 <= n; t += 4) {
#pragma GCC unroll 4
      for (unsigned i = 0; i < 4; i++, in += in_step, out += out_step) {
        const V x = load_row (in, 0, in_type, C, n_row);

        store_row (out, 0,
            wave_step (w, k, factored ? v_mul (g, x) : x, C, N, factored),
            out_type, C, n_row);
      }
    }
  }
  for (; t < n; t++, in += in_step, out += out_step) {
    const V x = load_row (in, in_apart, in_type, C, n_row);

    if (reloads)
      __asm__("" : "+r"(again));
    store_row (out, out_apart,
        wave_step (w, reloads ? again : k, factored ? v_mul (g, x) : x, C, N,
            factored),
        out_type, C, n_row);
  }
  if (C < W) {
#pragma GCC unroll 1
    for (; t < n + fill; t++, out += out_step)
      store_row (out, out_apart,
          wave_step_partly (w, k, zero, t, n, C, N, factored), out_type, C,
          n_row);
  }
  return store_wave (w, state, N, C == W && !factored);
}
