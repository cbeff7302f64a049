/* SPDX-License-Identifier: LGPL-2.1-or-later
 * wave_tmpl.c: sections in the lanes; part of kernels-vec.c.
 *
 * A vector is W / C sections of C channels each, section after section.  In a
 * step section k works on frame t - 2 k: its input is what the section before
 * it put out two steps ago, so that nothing in a step waits for anything else
 * in it, and the recursion is one multiply-add deep.  A block begins with steps
 * in which the sections behind have nothing to do yet, and ends with steps in
 * which those in front have nothing left.  What they compute then is thrown away:
 * the state of a section is put in place before its first step, and kept behind
 * its last one.  So the arithmetic is that of one section after the other, to the
 * bit.  Where a vector has lanes to spare, the first ones are idle.
 *
 * With C = W a vector is one section, and there is nothing to wait for. */

/* The state of a vector of sections, and the outputs of the last two steps. */
typedef struct Wave
{
  V s, last_s, last_x; /* or s, -, s2 */
  V y, last_y;
} Wave;

/* One step of the sections of a vector with coefficients k[TFX_WAVE_COEF]: the
 * recursion is one operation long, and in the form factored there is one less. */
static inline __attribute__ ((always_inline)) V
section_step (Wave *w, const V *k, V x, const bool factored)
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

/* The same with s2 in the place of the last x, as the textbook form has it: the
 * state hears of x sooner, and takes a register less, but every other step the
 * recursion is two operations longer. */
static inline __attribute__ ((always_inline)) V
section_step_s2 (Wave *w, const V *k, V x, const bool factored)
{
  const V s2 = w->last_x;
  const V y = factored ? v_fma (k[0], w->s, x) : v_fma (k[0], x, w->s);
  const V input = factored ? v_add (x, s2) : v_fma (k[1], x, s2);
  const V s = v_fnma (k[3], w->s, input);

  w->last_x = v_fnma (k[4], w->s, v_mul (k[2], x));
  w->s = s;
  return y;
}

/* Whether full vectors of channels have s2: a few sections would wait for it, in the
 * form factored it is an operation more. */
static inline __attribute__ ((always_inline)) bool
rows_have_s2 (const unsigned N, const bool factored)
{
  return !factored && N >= TFX_ROWS_S2_VECTORS;
}

/* A step of full vectors of channels from the row x. */
static inline __attribute__ ((always_inline)) V
row_step (Wave *w, const V *k, V x, const unsigned N, const bool factored)
{
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++) {
    const V *of = k + TFX_WAVE_COEF * v;

    x = rows_have_s2 (N, factored) ? section_step_s2 (&w[v], of, x, factored)
                                   : section_step (&w[v], of, x, factored);
  }
  return x;
}

/* A step of the vectors [from, to) of sections from the row x.  They have s2: x
 * comes through other lanes of the state before it. */
static inline __attribute__ ((always_inline)) void
wave_step (Wave *w, const V *k, V x, const unsigned C, const unsigned from,
    const unsigned to, const bool factored)
{
#pragma GCC unroll 4
  for (unsigned v = to; v-- > from;) {
    const V input = v_shift_in (w[v].last_y, v ? w[v - 1].last_y : x, C);

    w[v].last_y = w[v].y;
    w[v].y = section_step_s2 (&w[v], k + TFX_WAVE_COEF * v, input, factored);
  }
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

/* With s2 there is no last s: that costs no register then. */
static inline __attribute__ ((always_inline)) Wave
load_state (const double *state, const bool has_s2)
{
  const V zero = v_set1 (0.0);

  return (Wave){ v_load (state), has_s2 ? zero : v_load (state + W),
    v_load (state + 2 * W), zero, zero };
}

static inline __attribute__ ((always_inline)) void
load_wave (Wave *w, V *k, const double *state, const double *coef,
    const unsigned N, const bool has_s2)
{
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++)
    w[v] = load_state (state + 3 * v * W, has_s2);
#pragma GCC unroll 20
  for (unsigned i = 0; i < TFX_WAVE_COEF * N; i++)
    k[i] = v_load (coef + i * W);
}

/* Returns zeros if all is finite: infinity less infinity is none. */
static inline __attribute__ ((always_inline)) V
store_state (const Wave *w, double *state, const bool has_s2)
{
  const V ends = (w->s - w->s) + (w->last_x - w->last_x);

  v_store (state, w->s);
  if (!has_s2)
    v_store (state + W, w->last_s);
  v_store (state + 2 * W, w->last_x);
  return has_s2 ? ends : v_add (ends, w->last_s - w->last_s);
}

static inline __attribute__ ((always_inline)) bool
store_wave (const Wave *w, double *state, const unsigned N, const bool has_s2)
{
  V sum = v_set1 (0.0);

#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++)
    sum = v_add (sum, store_state (&w[v], state + 3 * v * W, has_s2));
  return v_is_number (sum);
}

/* The state of the lanes of one into the other. */
static inline __attribute__ ((always_inline)) void
put_state (Wave *to, const Wave *from, VMask lanes)
{
  to->s = v_select (lanes, from->s, to->s);
  to->last_x = v_select (lanes, from->last_x, to->last_x);
}

/* Full vectors of channels that lie apart, on at least one side.  On the other one
 * there are W doubles in a row.  A tile of W rows stays in registers, and the next
 * one is turned ahead of what the sections still wait for; where registers are few,
 * the coefficients are read again, or the tile lies in memory. */
static inline __attribute__ ((always_inline)) bool
run_tiles (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, const unsigned N,
    const bool factored, const unsigned n_planes)
{
  const TfxSample in_type = from->type, out_type = to->type;
  const ptrdiff_t in_size = sample_bytes (in_type);
  const ptrdiff_t out_size = sample_bytes (out_type);
  const ptrdiff_t in_apart = from->apart * in_size;
  const ptrdiff_t out_apart = to->apart * out_size;
  const ptrdiff_t in_step = from->stride * in_size;
  const ptrdiff_t out_step = to->stride * out_size;
  const char *in = from->data;
  char *out = to->data;
  const V g = v_set1 (*gain);
  const bool reloads = N > (W == 4 ? 1 : 2);
  const bool is_in_memory = V_REGISTERS < 32 && N > 2;
  const unsigned tile = is_in_memory ? 8 : W;
  const V *again = (const V *)coef;
  Wave w[TFX_WAVE_MAX_VECTORS];
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS], rows[8], next[W] = { { 0 } };

  load_wave (w, k, state, coef, N, rows_have_s2 (N, factored));
  if (!is_in_memory && n >= W)
    load_tile (next, in, in_apart, n_planes, in_type);
  for (; n >= tile; n -= tile, in += tile * in_step, out += tile * out_step) {
    if (reloads)
      __asm__("" : "+r"(again));
    if (is_in_memory) {
#pragma GCC unroll 4
      for (unsigned i = 0; i < tile; i += W)
        load_tile (rows + i, in + i * in_step, in_apart, n_planes, in_type);
      __asm__("" : "+m"(rows));
#pragma GCC unroll 1
      for (unsigned i = 0; i < tile; i++)
        rows[i] = row_step (w, k, factored ? v_mul (g, rows[i]) : rows[i], N,
            factored);
      __asm__("" : "+m"(rows));
    } else {
#pragma GCC unroll 8
      for (unsigned i = 0; i < W; i++)
        rows[i] = row_step (w, reloads ? again : k,
            factored ? v_mul (g, next[i]) : next[i], N, factored);
      if (n >= 2 * W)
        load_tile (next, in + W * in_step, in_apart, n_planes, in_type);
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < tile; i += W)
      store_tile (out + i * out_step, out_apart, n_planes, out_type, rows + i);
  }
  for (; n > 0; n--, in += in_step, out += out_step) {
    V x = load_channels (in, from);

    x = row_step (w, (const V *)coef, factored ? v_mul (g, x) : x, N, factored);
    store_channels (out, to, x);
  }
  return store_wave (w, state, N, rows_have_s2 (N, factored));
}

/* Where a kernel reads and writes, row by row. */
typedef struct Way
{
  const char *in;
  char *out;
  ptrdiff_t in_step, out_step, in_apart, out_apart;
} Way;

static inline __attribute__ ((always_inline)) Way
get_way (const TfxRows *from, const TfxRows *to, const TfxSample in_type,
    const TfxSample out_type)
{
  return (Way){ from->data, to->data, from->stride * sample_bytes (in_type),
    to->stride * sample_bytes (out_type), from->apart * sample_bytes (in_type),
    to->apart * sample_bytes (out_type) };
}

/* Full vectors of channels side by side; n_row of them are there. */
static inline __attribute__ ((always_inline)) bool
run_full (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, const unsigned N,
    const bool factored, const unsigned n_row, const TfxSample in_type,
    const TfxSample out_type)
{
  const ptrdiff_t in_step = from->stride * sample_bytes (in_type);
  const ptrdiff_t out_step = to->stride * sample_bytes (out_type);
  const char *in = from->data;
  char *out = to->data;
  const V g = v_set1 (*gain);
  /* With 16 registers the coefficients are read again for each frame, rather than
   * that the compiler keeps the state on the stack. */
  const bool reloads = V_REGISTERS < 32 && N > (W == 2 ? 1 : 2) && factored;
  const V *again = (const V *)coef;
  Wave w[TFX_WAVE_MAX_VECTORS];
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS];
  size_t t = 0;

  load_wave (w, k, state, coef, N, rows_have_s2 (N, factored));
  if (N == 1) {
    for (; t + 4 <= n; t += 4) {
#pragma GCC unroll 4
      for (unsigned i = 0; i < 4; i++, in += in_step, out += out_step) {
        const V x = load_row (in, 0, in_type, W, n_row);

        store_row (out, 0,
            row_step (w, k, factored ? v_mul (g, x) : x, N, factored), out_type,
            W, n_row);
      }
    }
  }
  for (; t < n; t++, in += in_step, out += out_step) {
    const V x = load_row (in, 0, in_type, W, n_row);

    if (reloads)
      __asm__("" : "+r"(again));
    store_row (out, 0,
        row_step (w, reloads ? again : k, factored ? v_mul (g, x) : x, N,
            factored),
        out_type, W, n_row);
  }
  return store_wave (w, state, N, rows_have_s2 (N, factored));
}

/* The next row, times the gain. */
static inline __attribute__ ((always_inline)) V
next_row (Way *way, V g, const unsigned C, const bool factored,
    const unsigned n_row, const TfxSample type)
{
  const V x = load_row (way->in, way->in_apart, type, C, n_row);

  way->in += way->in_step;
  return factored ? v_mul (g, x) : x;
}

static inline __attribute__ ((always_inline)) void
put_row (Way *way, V y, const unsigned C, const unsigned n_row,
    const TfxSample type)
{
  store_row (way->out, way->out_apart, y, type, C, n_row);
  way->out += way->out_step;
}

/* The same for sections of C channels, whose first n_idle are none: rows go through
 * their lanes ahead of the others.  2 (N W / C - 1) frames at least. */
static inline __attribute__ ((always_inline)) bool
run_wave (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_idle, const unsigned C,
    const unsigned N, const bool factored, const unsigned n_row,
    const TfxSample type)
{
  const unsigned n_together = W / C;
  const V g = v_set1 (*gain), zero = v_set1 (0.0);
  Way way = get_way (from, to, type, type);
  Wave w[TFX_WAVE_MAX_VECTORS];
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS], sum = zero;

  load_wave (w, k, state, coef, N, true);
#pragma GCC unroll 1
  for (unsigned i = 0; i < 2 * n_idle; i++) {
    const V y = v_shift_in (w[0].last_y,
        next_row (&way, g, C, factored, n_row, type), C);

    w[0].last_y = w[0].y;
    w[0].y = y;
  }
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++) {
    const Wave start = load_state (state + 3 * v * W, true);
    const unsigned end = v == N - 1 ? n_together - 1 : n_together;

#pragma GCC unroll 1
    for (unsigned i = v == 0 ? n_idle : 0; i < end; i++) {
      put_state (&w[v], &start, v_lanes (i * C, (i + 1) * C));
#pragma GCC unroll 2
      for (unsigned twice = 0; twice < 2; twice++)
        wave_step (w, k, next_row (&way, g, C, factored, n_row, type), C, 0,
            v + 1, factored);
    }
    if (v == N - 1)
      put_state (&w[v], &start, v_lanes (W - C, W));
  }
  for (size_t t = 2 * (N * n_together - 1); t < n; t++) {
    wave_step (w, k, next_row (&way, g, C, factored, n_row, type), C, 0, N,
        factored);
    put_row (&way, w[N - 1].y, C, n_row, type);
  }
#pragma GCC unroll 1
  for (unsigned i = 0; i < 2 * n_idle; i++) {
    wave_step (w, k, zero, C, 0, N, factored);
    put_row (&way, w[N - 1].y, C, n_row, type);
  }
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++) {
    const unsigned end = v == N - 1 ? n_together - 1 : n_together;
    Wave last = { zero, zero, zero, zero, zero };

#pragma GCC unroll 1
    for (unsigned i = v == 0 ? n_idle : 0; i < end; i++) {
      put_state (&last, &w[v], v_lanes (i * C, (i + 1) * C));
#pragma GCC unroll 2
      for (unsigned twice = 0; twice < 2; twice++) {
        wave_step (w, k, zero, C, v, N, factored);
        put_row (&way, w[N - 1].y, C, n_row, type);
      }
    }
    if (v == N - 1)
      put_state (&last, &w[v], v_lanes (W - C, W));
    sum = v_add (sum, store_state (&last, state + 3 * v * W, true));
  }
  return v_is_number (sum);
}

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

/* A step of all vectors from the row x, where not all sections have work. */
static inline __attribute__ ((always_inline)) void
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

      w[v].y = section_step_s2 (&w[v], k + TFX_WAVE_COEF * v, input, factored);
      w[v].s = v_select (lanes, w[v].s, old.s);
      w[v].last_x = v_select (lanes, w[v].last_x, old.last_x);
    }
  }
}

/* The same for any number of frames, by masks; and where registers are few: a
 * compiler then keeps more of the state there than in run_wave(). */
static inline __attribute__ ((always_inline)) bool
run_masked (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, const unsigned C, const unsigned N,
    const bool factored, const unsigned n_row, const TfxSample type)
{
  const size_t fill = 2 * (N * (W / C) - 1);
  const V g = v_set1 (*gain), zero = v_set1 (0.0);
  Way way = get_way (from, to, type, type);
  Wave w[TFX_WAVE_MAX_VECTORS];
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS];
  size_t t = 0;

  load_wave (w, k, state, coef, N, true);
#pragma GCC unroll 1
  for (; t < fill; t++)
    wave_step_partly (w, k,
        t < n ? next_row (&way, g, C, factored, n_row, type) : zero, t, n, C, N,
        factored);
  for (; t < n; t++) {
    wave_step (w, k, next_row (&way, g, C, factored, n_row, type), C, 0, N,
        factored);
    put_row (&way, w[N - 1].y, C, n_row, type);
  }
#pragma GCC unroll 1
  for (; t < n + fill; t++) {
    wave_step_partly (w, k, zero, t, n, C, N, factored);
    put_row (&way, w[N - 1].y, C, n_row, type);
  }
  return store_wave (w, state, N, true);
}
