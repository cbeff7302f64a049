/* SPDX-License-Identifier: LGPL-2.1-or-later
 * parallel_tmpl.c: sections in the lanes that all have the same input; part of
 * kernels-vec.c.
 *
 * A vector is W / C sections of C channels, each a part of the output (see
 * cascade-parallel.c):
 *
 *   y = d x + sum (c1 u[n-1] + c2 u[n-2]);  u = x - a1 u[n-1] - a2 u[n-2]
 *
 * The recursion is one multiply-add deep and leads through no other lane, and a
 * block neither fills nor drains.  The lanes of W / C frames are summed
 * together, those of each frame in the same order wherever in a block it lies.
 *
 * Merged: the lanes have cascades, each section after section in the direct form, whose
 * outputs are summed in the same way. */

/* u[n-1] and u[n-2]. */
typedef struct Parts
{
  V last, before;
} Parts;

static inline __attribute__ ((always_inline)) void
load_parts (Parts *w, V *k, const double *state, const double *coef,
    const unsigned N)
{
#pragma GCC unroll 16
  for (unsigned i = 0; i < TFX_PARALLEL_COEF * N; i++)
    k[i] = v_load (coef + i * W);
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++, state += TFX_STATE * W)
    w[v] = (Parts){ v_load (state), v_load (state + W) };
}

/* Returns numbers if all is finite. */
static inline __attribute__ ((always_inline)) V
store_parts (const Parts *w, double *state, const unsigned N)
{
  V ends = v_set1 (0.0);

#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++, state += TFX_STATE * W) {
    v_store (state, w[v].last);
    v_store (state + W, w[v].before);
    ends = v_add (ends, (w[v].last - w[v].last) + (w[v].before - w[v].before));
  }
  return ends;
}

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

/* State of the lanes: parts, or merged cascades, which have gains. */
typedef struct Lanes
{
  Parts parts[TFX_MAX_VECTORS];
  Sections cascades[TFX_MAX_VECTORS];
  V gains;
} Lanes;

/* k[TFX_SECTION_COEF * TFX_MAX_VECTORS] */
static inline __attribute__ ((always_inline)) void
load_lanes (Lanes *w, V *k, const double *state, const double *coef,
    const unsigned N, const bool merged)
{
  if (!merged) {
    load_parts (w->parts, k, state, coef, N);
    return;
  }
  load_sections (w->cascades, state, N, 1, false);
  load_coef (k, coef, N, 1);
  w->gains = v_load (coef + TFX_SECTION_COEF * N * W);
}

static inline __attribute__ ((always_inline)) V
store_lanes (const Lanes *w, double *state, const unsigned N, const bool merged)
{
  return merged ? store_sections (w->cascades, state, N, 1, false)
                : store_parts (w->parts, state, N);
}

/* One frame x of N sections in the form direct.  They have no s2: they wait for themselves
 * alone. */
static inline __attribute__ ((always_inline)) V
step_cascade (Sections *w, const V *k, V x, const unsigned N)
{
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++, k += TFX_SECTION_COEF)
    x = section_step (&w[v], k, x, false, false);
  return x;
}

/* Outputs of the lanes for a frame x. */
static inline __attribute__ ((always_inline)) V
step_lanes (Lanes *w, const V *k, V x, const unsigned N, const bool merged)
{
  return merged ? v_mul (w->gains, step_cascade (w->cascades, k, x, N))
                : step_parts (w->parts, k, x, N);
}

/* A group, from x to y, aligned. */
static inline __attribute__ ((always_inline)) void
run_group_lanes (const double *x, double *y, Lanes *w, const V *k, V d,
    const unsigned C, const unsigned N, const bool merged)
{
#pragma GCC unroll 2
  for (unsigned v = 0; v < FRAMES_VECTORS; v++, x += W, y += W) {
    const V input = v_load (x);
    V rows[W];

#pragma GCC unroll 8
    for (unsigned i = 0; i < W / C; i++)
      rows[i] = step_lanes (w, k, v_load_row_f64 (x + i * C, C, C), N, merged);
    v_store (y, v_fma (d, input, sum_parts (rows, C)));
  }
}

/* The first n frames of a group in place, in little code. */
static inline __attribute__ ((always_inline)) void
run_last_lanes (double *x, unsigned n, Lanes *w, const V *k, V d,
    const unsigned C, const unsigned N, const bool merged)
{
#pragma GCC unroll 1
  for (unsigned done = 0; done < n; done += W / C, x += W) {
    const unsigned left = n - done < W / C ? n - done : W / C;
    const V input = v_load (x);
    V rows[W] = { { 0 } };

#pragma GCC unroll 1
    for (unsigned i = 0; i < left; i++)
      rows[i] = step_lanes (w, k, v_load_row_f64 (x + i * C, C, C), N, merged);
    v_store (x, v_fma (d, input, sum_parts (rows, C)));
  }
}

static inline __attribute__ ((always_inline)) bool
run_lanes (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, const unsigned C, const unsigned N,
    const bool merged)
{
  const TfxRows in = *from, out = *to;
  const bool in_f32 = in.type == TFX_SAMPLE_F32;
  const bool out_f32 = out.type == TFX_SAMPLE_F32;
  const unsigned F = GROUP_FRAMES (C);
  const V d = v_set1 (*gain);
  V k[TFX_SECTION_COEF * TFX_MAX_VECTORS];
  Lanes w;
  size_t i = 0;

  load_lanes (&w, k, state, coef, N, merged);
  for (; i + F <= n; i += F) {
    double x[FRAMES_VECTORS * W] __attribute__ ((aligned (64)));
    double y[FRAMES_VECTORS * W] __attribute__ ((aligned (64)));

    read_group (x, &in, i, C, in_f32, false);
    /* From memory a frame comes into all lanes without a permutation. */
    if (W == 8)
      __asm__("" : "+m"(x));
    run_group_lanes (x, y, &w, k, d, C, N, merged);
    write_group (&out, i, y, C, out_f32, false);
  }
  if (i < n) {
    double x[FRAMES_VECTORS * W] __attribute__ ((aligned (64))) = { 0 };

    read_frames (x, from, i, (unsigned)(n - i), C);
    run_last_lanes (x, (unsigned)(n - i), &w, (const V *)coef, d, C, N, merged);
    write_frames (to, i, (unsigned)(n - i), x, C);
  }
  return v_is_number (store_lanes (&w, state, N, merged));
}

/* No more than 16 sections.  In vectors of eight only what is more than one. */
static inline __attribute__ ((always_inline)) bool
run_parts_sections (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *gain, const double *coef, unsigned n_sections,
    const unsigned C)
{
  switch ((n_sections * C + W - 1) / W) {
    case 1:
      return W == 8 || run_lanes (in, out, n, state, gain, coef, C, 1, false);
    case 2:
      return run_lanes (in, out, n, state, gain, coef, C, 2, false);
    case 3:
      return (W == 8 && C == 1) ||
             run_lanes (in, out, n, state, gain, coef, C, 3, false);
    default:
      return (W == 8 && C == 1) ||
             run_lanes (in, out, n, state, gain, coef, C, 4, false);
  }
}

/* Up to four sections of each cascade. */
static inline __attribute__ ((always_inline)) bool
run_merged_sections (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *gain, const double *coef, unsigned n_sections,
    const unsigned C)
{
  switch (n_sections) {
    case 1:
      return run_lanes (in, out, n, state, gain, coef, C, 1, true);
    case 2:
      return run_lanes (in, out, n, state, gain, coef, C, 2, true);
    case 3:
      return run_lanes (in, out, n, state, gain, coef, C, 3, true);
    default:
      return run_lanes (in, out, n, state, gain, coef, C, 4, true);
  }
}

/* ---- full vectors of channels ---------------------------------------------------------
 *
 * Some frames at a time stay in the first-level cache, where each pass adds the outputs of its
 * sections, or cascades. */

#define TILE_FRAMES 64
/* Cascades of N sections in a pass, so that they do not wait for their own state. */
#define CASCADES_OF(N) ((N) == 1 ? 4 : (N) == 2 ? 2 : 1)

/* Adds N sections. */
static inline __attribute__ ((always_inline)) V
add_parts (double *y, const double *x, size_t n, double *state,
    const double *coef, const unsigned N)
{
  V k[TFX_PARALLEL_COEF * TFX_MAX_VECTORS];
  Parts w[TFX_MAX_VECTORS];

  load_parts (w, k, state, coef, N);
  for (size_t i = 0; i < n * W; i += W)
    v_store (y + i,
        v_add (v_load (y + i), step_parts (w, k, v_load (x + i), N)));
  return store_parts (w, state, N);
}

/* Adds M cascades of N sections each. */
static inline __attribute__ ((always_inline)) V
add_cascades (double *y, const double *x, size_t n, double *state,
    const double *coef, const unsigned M, const unsigned N)
{
  V k[TFX_MAX_VECTORS][TFX_SECTION_COEF * TFX_MAX_VECTORS];
  V gains[TFX_MAX_VECTORS], ends = v_set1 (0.0);
  Sections w[TFX_MAX_VECTORS][TFX_MAX_VECTORS];

#pragma GCC unroll 4
  for (unsigned m = 0; m < M; m++) {
    load_sections (w[m], state + m * N * TFX_STATE * W, N, 1, false);
    load_coef (k[m], coef + m * TFX_MERGED_COEF (N) * W, N, 1);
    gains[m] = v_load (coef + ((m + 1) * TFX_MERGED_COEF (N) - 1) * W);
  }
  for (size_t i = 0; i < n * W; i += W) {
    const V row = v_load (x + i);
    V sum = v_load (y + i);

#pragma GCC unroll 4
    for (unsigned m = 0; m < M; m++)
      sum = v_fma (gains[m], step_cascade (w[m], k[m], row, N), sum);
    v_store (y + i, sum);
  }
#pragma GCC unroll 4
  for (unsigned m = 0; m < M; m++)
    ends = v_add (ends,
        store_sections (w[m], state + m * N * TFX_STATE * W, N, 1, false));
  return ends;
}

/* n_cascades cascades of N sections. */
static inline __attribute__ ((always_inline)) V
add_all_cascades (double *y, const double *x, size_t n, double *state,
    const double *coef, unsigned n_cascades, const unsigned N)
{
  const unsigned M = CASCADES_OF (N);
  V ends = v_set1 (0.0);

  for (unsigned m; n_cascades > 0; n_cascades -= m) {
    m = n_cascades >= M ? M : 1;
    ends = v_add (ends, m == M ? add_cascades (y, x, n, state, coef, M, N)
                               : add_cascades (y, x, n, state, coef, 1, N));
    state += m * N * TFX_STATE * W;
    coef += m * TFX_MERGED_COEF (N) * W;
  }
  return ends;
}

/* All sections, up to four in a pass. */
static inline __attribute__ ((always_inline)) V
add_all_parts (double *y, const double *x, size_t n, double *state,
    const double *coef, unsigned n_sections)
{
  V ends = v_set1 (0.0);

  for (; n_sections > 4; n_sections -= 4) {
    ends = v_add (ends, add_parts (y, x, n, state, coef, 4));
    state += 4 * TFX_STATE * W;
    coef += 4 * TFX_PARALLEL_COEF * W;
  }
  switch (n_sections) {
    case 1:
      return v_add (ends, add_parts (y, x, n, state, coef, 1));
    case 2:
      return v_add (ends, add_parts (y, x, n, state, coef, 2));
    case 3:
      return v_add (ends, add_parts (y, x, n, state, coef, 3));
    default:
      return v_add (ends, add_parts (y, x, n, state, coef, 4));
  }
}

/* Up to four sections of each cascade. */
static inline __attribute__ ((always_inline)) V
add_merged (double *y, const double *x, size_t n, double *state,
    const double *coef, unsigned n_cascades, unsigned n_sections)
{
  switch (n_sections) {
    case 1:
      return add_all_cascades (y, x, n, state, coef, n_cascades, 1);
    case 2:
      return add_all_cascades (y, x, n, state, coef, n_cascades, 2);
    case 3:
      return add_all_cascades (y, x, n, state, coef, n_cascades, 3);
    default:
      return add_all_cascades (y, x, n, state, coef, n_cascades, 4);
  }
}

/* n frames to x, and times d to y. */
static inline __attribute__ ((always_inline)) void
read_tile (double *x, double *y, Way *in, size_t n, V d, const bool is_f32,
    const unsigned n_channels)
{
  Way way = { in->at, in->step, is_f32, n_channels };

#pragma GCC unroll 2
  for (size_t i = 0; i < n * W; i += W) {
    const V row = next_row (&way, W, true);

    v_store (x + i, row);
    v_store (y + i, v_mul (d, row));
  }
  in->at = way.at;
}

static inline __attribute__ ((always_inline)) void
write_tile (Way *out, const double *y, size_t n, const bool is_f32,
    const unsigned n_channels)
{
  Way way = { out->at, out->step, is_f32, n_channels };

#pragma GCC unroll 2
  for (size_t i = 0; i < n * W; i += W)
    put_row (&way, v_load (y + i), W, true);
  out->at = way.at;
}

/* Up to W channels, each a lane, through any number of sections, or of cascades. */
static inline __attribute__ ((always_inline)) bool
run_all_rows (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const bool merged)
{
  const V d = v_set1 (*gain);
  double x[TILE_FRAMES * W] __attribute__ ((aligned (64)));
  double y[TILE_FRAMES * W] __attribute__ ((aligned (64)));
  Way in = get_way (from), out = get_way (to);
  V ends = v_set1 (0.0);

  for (size_t m; n > 0; n -= m) {
    m = n < TILE_FRAMES ? n : TILE_FRAMES;
    if (in.n < W)
      read_tile (x, y, &in, m, d, in.is_f32, in.n);
    else if (in.is_f32)
      read_tile (x, y, &in, m, d, true, W);
    else
      read_tile (x, y, &in, m, d, false, W);
    ends = v_add (ends,
        merged
            ? add_merged (y, x, m, state, coef, (unsigned)gain[W], n_sections)
            : add_all_parts (y, x, m, state, coef, n_sections));
    if (out.n < W)
      write_tile (&out, y, m, out.is_f32, out.n);
    else if (out.is_f32)
      write_tile (&out, y, m, true, W);
    else
      write_tile (&out, y, m, false, W);
  }
  return v_is_number (ends);
}
