/* SPDX-License-Identifier: LGPL-2.1-or-later
 * full_tmpl.c: full vectors of channels; part of kernels-vec.c.
 *
 * A vector is one section of W channels.  R vectors, 1 or 2, of a frame do not wait for each
 * other: one section alone would spend its time waiting for its own state.
 *
 * Interleaved frames may lack the last channels.  Planes of floats are transposed in registers,
 * W frames of W planes at a time. */

/* Whether a pass of N vectors has s2: few sections would wait for it. */
static inline __attribute__ ((always_inline)) bool
rows_have_s2 (const unsigned N, const bool factored)
{
  return N >= (factored ? S2_FULL_FACTORED : S2_FULL);
}

/* A step of all sections from the vector x. */
static inline __attribute__ ((always_inline)) V
row_step (Sections *w, const V *k, V g, V x, const unsigned N,
    const bool factored)
{
  if (factored)
    x = v_mul (g, x);
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++, k += TFX_SECTION_COEF)
    x = section_step (&w[v], k, x, factored, rows_have_s2 (N, factored));
  return x;
}

/* Vector number r of the next frame. */
static inline __attribute__ ((always_inline)) Way
get_vector (const Way *way, const unsigned r)
{
  const ptrdiff_t size = way->is_f32 ? sizeof (float) : sizeof (double);
  Way vector = *way;

  vector.at += (ptrdiff_t)(r * W) * size;
  vector.n = way->n < (r + 1) * W ? way->n - r * W : W;
  return vector;
}

/* The addresses step where GCC lays registers out best. */
static inline __attribute__ ((always_inline)) void
run_row (Sections *w, Way *in, Way *out, const V *k, V g, const unsigned N,
    const unsigned R, const bool factored)
{
#pragma GCC unroll 2
  for (unsigned r = 0; r < R; r++) {
    Way to = get_vector (out, r);
    Way from = get_vector (in, r);
    V x = next_row (&from, W, factored);

    if (r + 1 == R)
      in->at += in->step;
    x = row_step (w + r * N, k, g, x, N, factored);
    if (r + 1 == R)
      out->at += out->step;
    put_row (&to, x, W, factored);
  }
}

/* With 16 registers the coefficients are read again for each frame, rather than that the
 * compiler keeps the state on the stack; it does not where that has s2. */
static inline __attribute__ ((always_inline)) bool
rows_reload (const unsigned N, const bool factored)
{
  return V_REGISTERS < 32 && N > (W == 2 ? 1 : 2) && factored &&
         !rows_have_s2 (N, factored);
}

/* Frames at a time: several save moves of the state. */
static inline __attribute__ ((always_inline)) unsigned
rows_turns (const unsigned N, const bool factored)
{
  if (N == 1)
    return 4;
  return rows_have_s2 (N, factored) ? 1 : 2;
}

/* n frames, `turns` at a time; types and numbers of channels are constants where that pays. */
static inline __attribute__ ((always_inline)) void
run_rows (Sections *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const unsigned R,
    const unsigned turns, const bool factored, const bool in_f32,
    const bool out_f32, const unsigned n_in, const unsigned n_out)
{
  const bool reloads = rows_reload (N, factored);
  const V *again = (const V *)coef;
  Way in = get_way (from), out = get_way (to);
  V k[TFX_SECTION_COEF * TFX_MAX_VECTORS];

  load_coef (k, coef, N, R);
  in.is_f32 = in_f32;
  out.is_f32 = out_f32;
  in.n = n_in;
  out.n = n_out;
  for (; n >= turns && turns > 1; n -= turns) {
#pragma GCC unroll 4
    for (unsigned i = 0; i < turns; i++) {
      if (reloads)
        __asm__("" : "+r"(again));
      run_row (w, &in, &out, reloads ? again : k, g, N, R, factored);
    }
  }
  for (; n > 0; n--) {
    if (reloads)
      __asm__("" : "+r"(again));
    run_row (w, &in, &out, reloads ? again : k, g, N, R, factored);
  }
}

/* The same for dense frames with some of the channels, on one side or both; on the other side
 * they have all.  All lanes are read and stored; the next frame, which is read before, is stored
 * over the excess.  The extra lanes are ignored.  The last frames are read and stored by
 * themselves, in little code. */
static inline __attribute__ ((always_inline)) void
run_dense (Sections *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const bool factored,
    const bool in_f32, const bool out_f32)
{
  Way in = get_way (from), out = get_way (to);
  const unsigned n_in = in.n, n_out = out.n;
  const bool reloads = rows_reload (N, factored);
  const unsigned turns = rows_have_s2 (N, factored) ? 1 : 2;
  const V *again = (const V *)coef;
  V k[TFX_SECTION_COEF * TFX_MAX_VECTORS], x;

  /* Or what other loops keep in registers moves those of this one. */
  __asm__("" : "+r"(coef));
  load_coef (k, coef, N, 1);
  in.is_f32 = in_f32;
  out.is_f32 = out_f32;
  in.n = n > 1 ? W : n_in;
  out.n = W;
  x = next_row (&in, W, factored);
  for (; n > 1 + turns; n -= turns) {
#pragma GCC unroll 2
    for (unsigned i = 0; i < turns; i++) {
      const V next = next_row (&in, W, factored);

      if (reloads)
        __asm__("" : "+r"(again));
      put_row (&out, row_step (w, reloads ? again : k, g, x, N, factored), W,
          factored);
      x = next;
    }
  }
#pragma GCC unroll 1
  for (; n > 0; n--) {
    V next = x;

    in.n = n > 2 ? W : n_in;
    out.n = n > 1 ? W : n_out;
    if (n > 1)
      next = next_row (&in, W, factored);
    put_row (&out, row_step (w, (const V *)coef, g, x, N, factored), W,
        factored);
    x = next;
  }
}

/* As run_rows() for pairs whose second vector has some of its channels. */
static inline __attribute__ ((always_inline)) void
run_part (Sections *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const bool is_f32)
{
#pragma GCC unroll 4
  for (unsigned C = W + 1; C < 2 * W; C++) {
    if (from->n == C)
      run_rows (w, from, to, n, coef, g, N, 2, rows_turns (N, is_f32), is_f32,
          is_f32, is_f32, C, C);
  }
}

/* ---- planes of floats ------------------------------------------------------------ */

/* W planes at the offsets `at`; n are present, at least `least`.  A missing one has the first
 * one's offset. */
typedef struct Planes
{
  char *data;
  ptrdiff_t at[W];
  unsigned n, least;
} Planes;

static inline __attribute__ ((always_inline)) bool
is_there (const Planes *p, const unsigned c)
{
  return c < p->least || c < p->n;
}

/* Those of vector number `first` of a frame. */
static inline __attribute__ ((always_inline)) Planes
get_planes (const TfxRows *rows, const unsigned first, const unsigned least)
{
  const ptrdiff_t apart = rows->apart * sample_bytes (rows->type);
  Planes p = { .data = rows->data, .n = rows->n - first * W, .least = least };

#pragma GCC unroll 8
  for (unsigned c = 0; c < W; c++)
    p.at[c] = is_there (&p, c) ? c * apart : 0;
  p.data += (ptrdiff_t)(first * W) * apart;
  return p;
}

#if W == 8
/* Eight rows of floats become columns: vector k holds numbers k and k + 4. */
static inline __attribute__ ((always_inline)) void
turn_f32 (__m512 *r)
{
  const __m512i even = _mm512_setr_epi64 (0, 8, 4, 12, 2, 10, 6, 14);
  const __m512i odd = _mm512_setr_epi64 (1, 9, 5, 13, 3, 11, 7, 15);
  const __m512d a = _mm512_castps_pd (_mm512_unpacklo_ps (r[0], r[1]));
  const __m512d b = _mm512_castps_pd (_mm512_unpacklo_ps (r[2], r[3]));
  const __m512d c = _mm512_castps_pd (_mm512_unpackhi_ps (r[0], r[1]));
  const __m512d d = _mm512_castps_pd (_mm512_unpackhi_ps (r[2], r[3]));

  r[0] = _mm512_castpd_ps (_mm512_permutex2var_pd (a, even, b));
  r[1] = _mm512_castpd_ps (_mm512_permutex2var_pd (a, odd, b));
  r[2] = _mm512_castpd_ps (_mm512_permutex2var_pd (c, even, d));
  r[3] = _mm512_castpd_ps (_mm512_permutex2var_pd (c, odd, d));
}

static inline __attribute__ ((always_inline)) void
turn_to_rows_f32 (V *rows, const Planes *p)
{
  __m512 r[4];

#pragma GCC unroll 4
  for (unsigned c = 0; c < 4; c++)
    r[c] = _mm512_insertf32x8 (_mm512_castps256_ps512 (
                                   *(const VFloats *)(p->data + p->at[c])),
        *(const VFloats *)(p->data + p->at[c + 4]), 1);
  turn_f32 (r);
#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; i++) {
    rows[i] = v_widen (_mm512_castps512_ps256 (r[i]));
    rows[i + 4] = v_widen (_mm512_extractf32x8_ps (r[i], 1));
  }
}

static inline __attribute__ ((always_inline)) void
turn_to_planes_f32 (const Planes *p, const V *rows)
{
  __m512 r[4];

#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; i++)
    r[i] = _mm512_insertf32x8 (_mm512_castps256_ps512 (v_narrow (rows[i])),
        v_narrow (rows[i + 4]), 1);
  turn_f32 (r);
#pragma GCC unroll 4
  for (unsigned c = 0; c < 4; c++) {
    *(VFloats *)(p->data + p->at[c]) = _mm512_castps512_ps256 (r[c]);
    if (is_there (p, c + 4))
      *(VFloats *)(p->data + p->at[c + 4]) = _mm512_extractf32x8_ps (r[c], 1);
  }
}
#else
/* Rows of floats become columns. */
static inline __attribute__ ((always_inline)) void
turn_f32 (VFloats *r)
{
#if W == 2
  const VFloats low = { r[0][0], r[1][0] };

  r[1] = (VFloats){ r[0][1], r[1][1] };
  r[0] = low;
#else
  const VFloats a = _mm_unpacklo_ps (r[0], r[1]);
  const VFloats b = _mm_unpackhi_ps (r[0], r[1]);
  const VFloats c = _mm_unpacklo_ps (r[2], r[3]);
  const VFloats d = _mm_unpackhi_ps (r[2], r[3]);

  r[0] = _mm_shuffle_ps (a, c, 0x44);
  r[1] = _mm_shuffle_ps (a, c, 0xee);
  r[2] = _mm_shuffle_ps (b, d, 0x44);
  r[3] = _mm_shuffle_ps (b, d, 0xee);
#endif
}

static inline __attribute__ ((always_inline)) void
turn_to_rows_f32 (V *rows, const Planes *p)
{
  VFloats r[W];

#pragma GCC unroll 4
  for (unsigned c = 0; c < W; c++)
    r[c] = *(const VFloats *)(p->data + p->at[c]);
  turn_f32 (r);
#pragma GCC unroll 4
  for (unsigned i = 0; i < W; i++)
    rows[i] = v_widen (r[i]);
}

static inline __attribute__ ((always_inline)) void
turn_to_planes_f32 (const Planes *p, const V *rows)
{
  VFloats r[W];

#pragma GCC unroll 4
  for (unsigned i = 0; i < W; i++)
    r[i] = v_narrow (rows[i]);
  turn_f32 (r);
#pragma GCC unroll 4
  for (unsigned c = 0; c < W; c++) {
    if (is_there (p, c))
      *(VFloats *)(p->data + p->at[c]) = r[c];
  }
}
#endif

/* W frames: planes of floats, or interleaved doubles between two passes. */
static inline __attribute__ ((always_inline)) void
load_tile (V *rows, const Planes *p, const bool is_planar)
{
  if (is_planar) {
    turn_to_rows_f32 (rows, p);
    return;
  }
#pragma GCC unroll 8
  for (unsigned i = 0; i < W; i++)
    rows[i] = v_load ((const double *)p->data + i * W);
}

static inline __attribute__ ((always_inline)) void
store_tile (const Planes *p, const V *rows, const bool is_planar)
{
  if (is_planar) {
    turn_to_planes_f32 (p, rows);
    return;
  }
#pragma GCC unroll 8
  for (unsigned i = 0; i < W; i++)
    v_store ((double *)p->data + i * W, rows[i]);
}

/* One frame. */
static __attribute__ ((noinline)) V
load_frame (const Planes *p, const bool is_planar)
{
  V x = v_set1 (0.0);

  if (!is_planar)
    return v_load ((const double *)p->data);
  for (unsigned c = 0; c < W && c < p->n; c++)
    x[c] = *(const float *)(p->data + p->at[c]);
  return x;
}

static __attribute__ ((noinline)) void
store_frame (const Planes *p, V x, const bool is_planar)
{
  if (!is_planar) {
    v_store ((double *)p->data, x);
    return;
  }
  for (unsigned c = 0; c < W && c < p->n; c++)
    *(float *)(p->data + p->at[c]) = (float)x[c];
}

/* n frames whose channels are planes of floats, on one side at least.  The next tile of a single
 * vector is transposed before the sections need it. */
static inline __attribute__ ((always_inline)) void
run_planes (Sections *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const unsigned R,
    const bool in_planar, const bool out_planar)
{
  const unsigned least = R == 2 ? 1 : W / 2 + 1;
  const ptrdiff_t in_step = from->stride * sample_bytes (from->type);
  const ptrdiff_t out_step = to->stride * sample_bytes (to->type);
  const bool reloads = N > (W == 4 ? 1 : 2);
  Planes in[2], out[2];
  V k[TFX_SECTION_COEF * TFX_MAX_VECTORS], rows[2][W], next[W];
  const V *again = R == 1 ? (const V *)coef : k;

  load_coef (k, coef, N, R);
#pragma GCC unroll 2
  for (unsigned r = 0; r < R; r++) {
    in[r] = get_planes (from, r, r + 1 < R ? W : least);
    out[r] = get_planes (to, r, r + 1 < R ? W : least);
  }
  if (n >= W && R == 1)
    load_tile (next, &in[0], in_planar);
  for (; n >= W; n -= W) {
    if (reloads)
      __asm__("" : "+r"(again));
#pragma GCC unroll 2
    for (unsigned r = 0; r < R && R > 1; r++)
      load_tile (rows[r], &in[r], in_planar);
#pragma GCC unroll 8
    for (unsigned i = 0; i < W; i++) {
#pragma GCC unroll 2
      for (unsigned r = 0; r < R; r++)
        rows[r][i] = row_step (w + r * N, reloads ? again : k, g,
            R == 1 ? next[i] : rows[r][i], N, true);
    }
#pragma GCC unroll 2
    for (unsigned r = 0; r < R; r++) {
      in[r].data += W * in_step;
      if (n >= 2 * W && R == 1)
        load_tile (next, &in[0], in_planar);
      store_tile (&out[r], rows[r], out_planar);
      out[r].data += W * out_step;
    }
  }
  for (; n > 0; n--) {
#pragma GCC unroll 2
    for (unsigned r = 0; r < R; r++) {
      const V x = load_frame (&in[r], in_planar);

      in[r].data += in_step;
      store_frame (&out[r],
          row_step (w + r * N, R == 1 ? (const V *)coef : k, g, x, N, true),
          out_planar);
      out[r].data += out_step;
    }
  }
}

/* ---- by types and layout ----------------------------------------------------------- */

/* Interleaved frames with all channels; is_dense: with some, of one vector. */
static inline __attribute__ ((always_inline)) void
run_interleaved (Sections *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const unsigned R,
    const bool factored, const bool is_dense)
{
  const bool in_f32 = factored && from->type == TFX_SAMPLE_F32;
  const bool out_f32 = factored && to->type == TFX_SAMPLE_F32;
  const unsigned turns = rows_turns (N, factored), C = W * R;

#define RUN(IN_F32, OUT_F32)                                                   \
  (is_dense                                                                    \
          ? run_dense (w, from, to, n, coef, g, N, factored, IN_F32, OUT_F32)  \
          : run_rows (w, from, to, n, coef, g, N, R, turns, factored, IN_F32,  \
                OUT_F32, C, C))
  if (in_f32 && out_f32)
    RUN (true, true);
  else if (R == 2 && factored)
    RUN (in_f32, out_f32);
  else if (in_f32)
    RUN (true, false);
  else if (out_f32)
    RUN (false, true);
  else
    RUN (false, false);
#undef RUN
}

static inline __attribute__ ((always_inline)) bool
run_full (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, const unsigned N, const unsigned R,
    const bool factored)
{
  const bool has_s2 = rows_have_s2 (N, factored);
  const bool in_f32 = factored && from->type == TFX_SAMPLE_F32;
  const bool out_f32 = factored && to->type == TFX_SAMPLE_F32;
  const unsigned C = W * R;
  const bool is_in_part = C > 2 && C > from->n;
  const bool is_out_part = C > 2 && C > to->n;
  const bool is_dense =
      R == 1 && (is_in_part || is_out_part) && n > 0 &&
      (!is_in_part || (from->stride == from->n && 2 * from->n > W)) &&
      (!is_out_part || (to->stride == to->n && 2 * to->n > W));
  const V g = v_load (gain);
  Sections w[TFX_MAX_VECTORS];
  V ends = v_set1 (0.0);

  assert (C > 2 || (from->n == C && to->n == C));
#pragma GCC unroll 2
  for (unsigned r = 0; r < R; r++)
    load_sections (w + r * N, state + r * W, N, R, has_s2);
  if (factored && from->apart && (R == 2 || to->apart))
    run_planes (w, from, to, n, coef, g, N, R, true, true);
  else if (factored && from->apart)
    run_planes (w, from, to, n, coef, g, N, R, true, false);
  else if (factored && to->apart)
    run_planes (w, from, to, n, coef, g, N, R, false, true);
  else if (R == 2 && is_in_part && is_out_part && in_f32 == factored &&
           out_f32 == factored)
    run_part (w, from, to, n, coef, g, N, factored);
  else if (is_dense)
    run_interleaved (w, from, to, n, coef, g, N, 1, factored, true);
  else if (N == 1 && !factored && from->n == 1 && to->n == 1)
    run_rows (w, from, to, n, coef, g, N, R, rows_turns (N, factored), false,
        false, false, 1, 1);
  else if (is_in_part || is_out_part)
    run_rows (w, from, to, n, coef, g, N, R,
        N == 1 ? rows_turns (N, factored) : 1, factored, in_f32, out_f32,
        is_in_part ? from->n : C, is_out_part ? to->n : C);
  else
    run_interleaved (w, from, to, n, coef, g, N, R, factored, false);
#pragma GCC unroll 2
  for (unsigned r = 0; r < R; r++)
    ends =
        v_add (ends, store_sections (w + r * N, state + r * W, N, R, has_s2));
  return v_is_number (ends);
}
