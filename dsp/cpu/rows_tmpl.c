/* SPDX-License-Identifier: LGPL-2.1-or-later
 * rows_tmpl.c: full vectors of channels; part of kernels-vec.c.
 *
 * A vector is one section of W channels.  A row is R of them, 1 or 2, that do not wait for
 * each other: one section alone would spend its time waiting for its own state. */

/* Whether full vectors of channels have s2: a few sections would wait for it, in the
 * form factored it is an operation more where there are multiply-adds. */
static inline __attribute__ ((always_inline)) bool
rows_have_s2 (const unsigned N, const bool factored)
{
  return N >= (factored ? V_S2_FACTORED : V_S2_DIRECT);
}

/* A step of all sections from the vector x. */
static inline __attribute__ ((always_inline)) V
row_step (Wave *w, const V *k, V g, V x, const unsigned N, const bool factored)
{
  if (factored)
    x = v_mul (g, x);
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++, k += TFX_WAVE_COEF)
    x = section_step (&w[v], k, x, factored, rows_have_s2 (N, factored));
  return x;
}

/* Vector number r of the row that comes next. */
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
run_row (Wave *w, Way *in, Way *out, const V *k, V g, const unsigned N,
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

/* So many rows at a time spare moves: of what waits for itself, and of the last s. */
static inline __attribute__ ((always_inline)) unsigned
rows_turns (const unsigned N, const bool factored)
{
  if (N == 1)
    return 4;
  return rows_have_s2 (N, factored) ? 1 : 2;
}

/* n rows side by side, `turns` at a time; the types and how many of a row are there are constants
 * where that pays. */
static inline __attribute__ ((always_inline)) void
run_rows (Wave *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const unsigned R,
    const unsigned turns, const bool factored, const bool in_f32,
    const bool out_f32, const unsigned n_in, const unsigned n_out)
{
  const bool reloads = rows_reload (N, factored);
  const V *again = (const V *)coef;
  Way in = get_way (from), out = get_way (to);
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS];

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

/* The same for rows in part that lie one behind the other, on one side or both, where on the other
 * one they are full: all lanes are read and stored, and then the next row, which has been read
 * before, over those too many.  Nobody hears what they hear.  The last rows, behind which there
 * is none, are read and stored by themselves, in little code. */
static inline __attribute__ ((always_inline)) void
run_dense (Wave *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const bool factored,
    const bool in_f32, const bool out_f32)
{
  Way in = get_way (from), out = get_way (to);
  const unsigned n_in = in.n, n_out = out.n;
  const bool reloads = rows_reload (N, factored);
  const unsigned turns = rows_have_s2 (N, factored) ? 1 : 2;
  const V *again = (const V *)coef;
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS], x;

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

/* As run_rows() for rows of two vectors of which the second one is there in part. */
static inline __attribute__ ((always_inline)) void
run_part (Wave *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const bool is_f32)
{
#pragma GCC unroll 4
  for (unsigned C = W + 1; C < 2 * W; C++) {
    if (from->n == C)
      run_rows (w, from, to, n, coef, g, N, 2, rows_turns (N, is_f32), is_f32,
          is_f32, is_f32, C, C);
  }
}

/* n rows of planes, several tiles of them, by way of memory. */
static inline __attribute__ ((always_inline)) void
run_stored (Wave *w, Planes *in, Planes *out, ptrdiff_t in_step,
    ptrdiff_t out_step, const unsigned n, const V *k, V g, const unsigned N,
    const bool factored, const bool in_rows, const bool in_f32,
    const bool out_rows, const bool out_f32)
{
  V rows[8];

#pragma GCC unroll 4
  for (unsigned i = 0; i < n; i += W) {
    load_tile (rows + i, in, 0, in_rows, in_f32);
    in->data += W * in_step;
  }
  __asm__("" : "+m"(rows));
#pragma GCC unroll 1
  for (unsigned i = 0; i < n; i++)
    rows[i] = row_step (w, k, g, rows[i], N, factored);
  __asm__("" : "+m"(rows));
#pragma GCC unroll 4
  for (unsigned i = 0; i < n; i += W) {
    store_tile (out, 0, out_rows, out_f32, rows + i);
    out->data += W * out_step;
  }
}

/* n rows side by side, `vectors` of the R of each, from number `first` on, whose channels lie
 * apart, on at least one side.  On the other one there are W doubles in a row (R = 1).  A tile of W
 * rows stays in registers, and the next one is turned ahead of what the sections still wait
 * for; where registers are few, the coefficients are read again, or the tile lies in
 * memory. */
static inline __attribute__ ((always_inline)) void
run_tiles (Wave *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const unsigned R,
    const unsigned first, const unsigned vectors, const unsigned least,
    const bool factored, const bool in_rows, const bool in_f32,
    const bool out_rows, const bool out_f32)
{
  const ptrdiff_t in_step = from->stride * sample_bytes (from->type);
  const ptrdiff_t out_step = to->stride * sample_bytes (to->type);
  const bool reloads = N > (W == 4 ? 1 : 2);
  const bool is_in_memory = V_REGISTERS < 32 && N > 3;
  const bool is_ahead = vectors == 1 || V_REGISTERS >= 32;
  const unsigned tile = is_in_memory ? 8 : W;
  Planes in = get_planes (from, first, least);
  Planes out = get_planes (to, first, least);
  V k[TFX_WAVE_COEF * TFX_WAVE_MAX_VECTORS], rows[8], next[2][W];
  const V *again = R == 1 ? (const V *)coef : k;

  load_coef (k, coef, N, R);
  if (!is_in_memory && is_ahead && n >= W) {
#pragma GCC unroll 2
    for (unsigned r = 0; r < vectors; r++)
      load_tile (next[r], &in, r, in_rows, in_f32);
  }
  for (; n >= tile; n -= tile) {
    if (reloads)
      __asm__("" : "+r"(again));
    if (is_in_memory) {
      run_stored (w, &in, &out, in_step, out_step, tile, k, g, N, factored,
          in_rows, in_f32, out_rows, out_f32);
      continue;
    }
#pragma GCC unroll 2
    for (unsigned r = 0; r < vectors; r++) {
      if (!is_ahead)
        load_tile (next[r], &in, r, in_rows, in_f32);
#pragma GCC unroll 8
      for (unsigned i = 0; i < W; i++)
        rows[r * W + i] = row_step (w + r * N, reloads ? again : k, g,
            next[r][i], N, factored);
    }
    in.data += W * in_step;
    if (is_ahead && n >= 2 * W) {
#pragma GCC unroll 2
      for (unsigned r = 0; r < vectors; r++)
        load_tile (next[r], &in, r, in_rows, in_f32);
    }
#pragma GCC unroll 2
    for (unsigned r = 0; r < vectors; r++)
      store_tile (&out, r, out_rows, out_f32, rows + r * W);
    out.data += W * out_step;
  }
  for (; n > 0; n--, in.data += in_step, out.data += out_step) {
#pragma GCC unroll 2
    for (unsigned r = 0; r < vectors; r++) {
      const unsigned channel = (first + r) * W;
      V x = load_channels (in.data + r * in.vector, from, channel);

      x = row_step (w + r * N, R == 1 ? (const V *)coef : k, g, x, N, factored);
      store_channels (out.data + r * out.vector, to, channel, x);
    }
  }
}

/* By which types: those that come often have loops of their own. */
static inline __attribute__ ((always_inline)) void
run_planes (Wave *w, const TfxRows *from, const TfxRows *to, size_t n,
    const double *coef, V g, const unsigned N, const unsigned R,
    const unsigned first, const unsigned vectors, const unsigned least,
    const bool factored)
{
  const bool in_f32 = factored && from->type == TFX_SAMPLE_F32;
  const bool out_f32 = factored && to->type == TFX_SAMPLE_F32;
  const bool in_rows = !from->apart, out_rows = !to->apart;

  if (W < 8 && !in_rows && in_f32 && !out_rows && out_f32)
    run_tiles (w, from, to, n, coef, g, N, R, first, vectors, least, factored,
        false, true, false, true);
  else if (W < 8 && R == 1 && !in_rows && in_f32 && out_rows)
    run_tiles (w, from, to, n, coef, g, N, R, first, vectors, least, factored,
        false, true, true, false);
  else if (W < 8 && R == 1 && in_rows && !out_rows && out_f32)
    run_tiles (w, from, to, n, coef, g, N, R, first, vectors, least, factored,
        true, false, false, true);
  else
    run_tiles (w, from, to, n, coef, g, N, R, first, vectors, least, factored,
        R == 1 && in_rows, in_f32, R == 1 && out_rows, out_f32);
}

/* Full vectors of channels, by where they lie and their types. */
static inline __attribute__ ((always_inline)) bool
run_full (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, const unsigned N, const unsigned R,
    const bool factored)
{
  const bool has_s2 = rows_have_s2 (N, factored);
  const bool in_f32 = factored && from->type == TFX_SAMPLE_F32;
  const bool out_f32 = factored && to->type == TFX_SAMPLE_F32;
  const unsigned C = W * R, turns = rows_turns (N, factored);
  const bool can_be_part = C > 2 && !(R == 2 && W == 8); /* those are full */
  const bool is_in_part = can_be_part && C > from->n;
  const bool is_out_part = can_be_part && C > to->n;
  /* of four, three are there, or all */
  const bool is_four = R == 1 && W == 4 && from->n > 2 && to->n > 2;
  const unsigned n_in = !is_in_part ? C : is_four ? 3 : from->n;
  const unsigned n_out = !is_out_part ? C : is_four ? 3 : to->n;
  const bool is_dense =
      R == 1 && (is_in_part || is_out_part) && n > 0 &&
      (!is_in_part || (from->stride == from->n && 2 * from->n > W)) &&
      (!is_out_part || (to->stride == to->n && 2 * to->n > W));
  const V g = v_load (gain);
  Wave w[TFX_WAVE_MAX_VECTORS];
  V ends = v_set1 (0.0);

  if (R == 2 && (from->apart || to->apart) &&
      !(W == 2 && N == 1 && from->n == C && to->n == C)) {
#pragma GCC unroll 1
    for (unsigned r = 0; r < R; r++) {
      load_wave (w, state + r * W, N, R, has_s2);
      run_planes (w, from, to, n, coef, g, N, R, r, 1, can_be_part ? 1 : W,
          factored);
      ends = v_add (ends, store_wave (w, state + r * W, N, R, has_s2));
    }
    return v_is_number (ends);
  }
#pragma GCC unroll 2
  for (unsigned r = 0; r < R; r++)
    load_wave (w + r * N, state + r * W, N, R, has_s2);
  if (from->apart || to->apart) {
    run_planes (w, from, to, n, coef, g, N, R, 0, R, R == 2 ? W : W / 2 + 1,
        factored);
  } else if (R == 2 && is_in_part && is_out_part && in_f32 == factored &&
             out_f32 == factored) {
    run_part (w, from, to, n, coef, g, N, factored);
  } else if (is_dense && in_f32 && out_f32) {
    run_dense (w, from, to, n, coef, g, N, factored, true, true);
  } else if (is_dense && in_f32) {
    run_dense (w, from, to, n, coef, g, N, factored, true, false);
  } else if (is_dense && out_f32) {
    run_dense (w, from, to, n, coef, g, N, factored, false, true);
  } else if (is_dense) {
    run_dense (w, from, to, n, coef, g, N, factored, false, false);
  } else if (is_four && is_in_part && is_out_part && in_f32 && out_f32) {
    run_rows (w, from, to, n, coef, g, N, 1, turns, factored, true, true, 3, 3);
  } else if (is_four && is_in_part && !is_out_part && in_f32) {
    run_rows (w, from, to, n, coef, g, N, 1, turns, factored, true, false, 3,
        W);
  } else if (is_four && !is_in_part && is_out_part && out_f32) {
    run_rows (w, from, to, n, coef, g, N, 1, turns, factored, false, true, W,
        3);
  } else if (is_in_part || is_out_part) {
    run_rows (w, from, to, n, coef, g, N, R, N == 1 ? turns : 1, factored,
        in_f32, out_f32, n_in, n_out);
  } else if (in_f32 && out_f32) {
    run_rows (w, from, to, n, coef, g, N, R, turns, factored, true, true, C, C);
  } else if (R == 2 && factored) {
    run_rows (w, from, to, n, coef, g, N, R, turns, factored, in_f32, out_f32,
        C, C);
  } else if (!in_f32 && !out_f32) {
    run_rows (w, from, to, n, coef, g, N, R, turns, factored, false, false, C,
        C);
  } else if (in_f32) {
    run_rows (w, from, to, n, coef, g, N, R, turns, factored, true, false, C,
        C);
  } else {
    run_rows (w, from, to, n, coef, g, N, R, turns, factored, false, true, C,
        C);
  }
#pragma GCC unroll 2
  for (unsigned r = 0; r < R; r++)
    ends = v_add (ends, store_wave (w + r * N, state + r * W, N, R, has_s2));
  return v_is_number (ends);
}
