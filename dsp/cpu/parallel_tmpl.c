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
    const double *gain, const double *coef, const unsigned C, const bool merged,
    const unsigned N)
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

    move_frames (x, from, i, (unsigned)(n - i), C, false);
    run_last_lanes (x, (unsigned)(n - i), &w, (const V *)coef, d, C, N, merged);
    move_frames (x, to, i, (unsigned)(n - i), C, true);
  }
  return v_is_number (store_lanes (&w, state, N, merged));
}

/* N vectors of sections.  Those of eight lanes have no shape with one of them, or, of one channel,
 * more than two. */
static inline __attribute__ ((always_inline)) bool
run_parts (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *gain, const double *coef, const unsigned C, const unsigned N)
{
  return (W == 8 && (N == 1 || (C == 1 && N > 2))) ||
         run_lanes (in, out, n, state, gain, coef, C, false, N);
}

static inline __attribute__ ((always_inline)) bool
run_parts_sections (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *gain, const double *coef, unsigned n_sections,
    const unsigned C)
{
  return WITH_N ((n_sections * C + W - 1) / W, run_parts, in, out, n, state,
      gain, coef, C);
}

static inline __attribute__ ((always_inline)) bool
run_merged_sections (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *gain, const double *coef, unsigned n_sections,
    const unsigned C)
{
  return WITH_N (n_sections, run_lanes, in, out, n, state, gain, coef, C, true);
}

/* ---- full vectors of channels ---------------------------------------------------------
 *
 * If one pass has all sections, or cascades, it runs over the frames themselves.  Otherwise
 * some frames at a time stay in the first-level cache, where each pass adds its outputs. */

#define TILE_FRAMES 64
/* Cascades of N sections in a pass, so that they do not wait for their own state. */
#define CASCADES_OF(N) ((N) == 1 ? 4 : (N) == 2 ? 2 : 1)

/* Where a pass adds to the next frame: to d times the frame itself if it is the only one. */
static inline __attribute__ ((always_inline)) V
begin_sum (const Way *out, V d, V row, const bool is_only)
{
  return is_only ? v_mul (d, row)
                 : v_load_row_f64 ((const double *)out->at, W, W);
}

/* Frames of all channels. */
static inline __attribute__ ((always_inline)) Way
get_whole (const Way *way, const bool is_f32)
{
  return (Way){ way->at, way->step, is_f32, W };
}

/* Adds N sections; frames are floats if it is the only pass. */
static inline __attribute__ ((always_inline)) V
add_parts (const Way *from, const Way *to, size_t n, V d, double *state,
    const double *coef, const bool is_only, const unsigned N)
{
  Way in = get_whole (from, is_only), out = get_whole (to, is_only);
  /* With 16 registers only the state stays in them, if the loop is unrolled. */
  const bool reloads = V_REGISTERS < 32 && N > 2;
  const V *again = (const V *)coef;
  V k[TFX_PARALLEL_COEF * TFX_MAX_VECTORS];
  Parts w[TFX_MAX_VECTORS];

  load_parts (w, k, state, coef, N);
#pragma GCC unroll 2
  for (; n > 0; n--) {
    V row, sum;

    if (reloads)
      __asm__("" : "+r"(again), "+m"(d));
    row = next_row (&in, W, true);
    sum = begin_sum (&out, d, row, is_only);
    put_row (&out, v_add (sum, step_parts (w, reloads ? again : k, row, N)), W,
        true);
  }
  return store_parts (w, state, N);
}

/* Adds M cascades of N sections each. */
static inline __attribute__ ((always_inline)) V
add_cascades (const Way *from, const Way *to, size_t n, V d, double *state,
    const double *coef, const bool is_only, const unsigned M, const unsigned N)
{
  Way in = get_whole (from, false), out = get_whole (to, false);
  V k[TFX_MAX_VECTORS][TFX_SECTION_COEF * TFX_MAX_VECTORS];
  V gains[TFX_MAX_VECTORS], ends = v_set1 (0.0);
  Sections w[TFX_MAX_VECTORS][TFX_MAX_VECTORS];

#pragma GCC unroll 4
  for (unsigned m = 0; m < M; m++) {
    load_sections (w[m], state + m * N * TFX_STATE * W, N, 1, false);
    load_coef (k[m], coef + m * TFX_MERGED_COEF (N) * W, N, 1);
    gains[m] = v_load (coef + ((m + 1) * TFX_MERGED_COEF (N) - 1) * W);
  }
  for (; n > 0; n--) {
    const V row = next_row (&in, W, true);
    V sum = begin_sum (&out, d, row, is_only);

#pragma GCC unroll 4
    for (unsigned m = 0; m < M; m++)
      sum = v_fma (gains[m], step_cascade (w[m], k[m], row, N), sum);
    put_row (&out, sum, W, true);
  }
#pragma GCC unroll 4
  for (unsigned m = 0; m < M; m++)
    ends = v_add (ends,
        store_sections (w[m], state + m * N * TFX_STATE * W, N, 1, false));
  return ends;
}

/* n_cascades cascades of N sections. */
static inline __attribute__ ((always_inline)) V
add_all_cascades (const Way *in, const Way *out, size_t n, V d, double *state,
    const double *coef, unsigned n_cascades, const bool is_only,
    const unsigned N)
{
  const unsigned M = CASCADES_OF (N);
  V ends = v_set1 (0.0);

  if (is_only)
    return add_cascades (in, out, n, d, state, coef, true, M, N);
  for (unsigned m; n_cascades > 0; n_cascades -= m) {
    m = n_cascades >= M ? M : 1;
    ends = v_add (ends,
        m == M ? add_cascades (in, out, n, d, state, coef, false, M, N)
               : add_cascades (in, out, n, d, state, coef, false, 1, N));
    state += m * N * TFX_STATE * W;
    coef += m * TFX_MERGED_COEF (N) * W;
  }
  return ends;
}

/* Up to four sections of each of n_cascades cascades, or, if that is 0, any number of sections,
 * up to four in a pass. */
static inline __attribute__ ((always_inline)) V
add_all (const Way *in, const Way *out, size_t n, V d, double *state,
    const double *coef, unsigned n_sections, unsigned n_cascades,
    const bool merged, const bool is_only)
{
  V ends = v_set1 (0.0);

  if (merged)
    return WITH_N (n_sections, add_all_cascades, in, out, n, d, state, coef,
        n_cascades, is_only);
  for (; n_sections > 4; n_sections -= 4) {
    ends = v_add (ends, add_parts (in, out, n, d, state, coef, false, 4));
    state += 4 * TFX_STATE * W;
    coef += 4 * TFX_PARALLEL_COEF * W;
  }
  return v_add (ends,
      WITH_N (n_sections, add_parts, in, out, n, d, state, coef, is_only));
}

/* n frames to x, and times d to y; and from y. */
static inline __attribute__ ((always_inline)) void
read_tile (double *x, double *y, Way *way, size_t n, V d, const bool is_f32,
    const unsigned n_channels)
{
  Way in = { way->at, way->step, is_f32, n_channels };

#pragma GCC unroll 2
  for (size_t i = 0; i < n * W; i += W) {
    const V row = next_row (&in, W, true);

    v_store (x + i, row);
    v_store (y + i, v_mul (d, row));
  }
  way->at = in.at;
}

static inline __attribute__ ((always_inline)) void
write_tile (Way *way, const double *y, size_t n, const bool is_f32,
    const unsigned n_channels)
{
  Way out = { way->at, way->step, is_f32, n_channels };

#pragma GCC unroll 2
  for (size_t i = 0; i < n * W; i += W)
    put_row (&out, v_load (y + i), W, true);
  way->at = out.at;
}

/* Up to W channels, each a lane, through any number of sections, or of cascades. */
static inline __attribute__ ((always_inline)) bool
run_all_rows (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const bool merged)
{
  const unsigned n_cascades = merged ? (unsigned)gain[W] : 0;
  const V d = v_set1 (*gain);
  double x[TILE_FRAMES * W] __attribute__ ((aligned (64)));
  double y[TILE_FRAMES * W] __attribute__ ((aligned (64)));
  const Way tile[2] = { { (char *)x, W * sizeof *x, false, W },
    { (char *)y, W * sizeof *y, false, W } };
  Way in = get_way (from), out = get_way (to);
  V ends = v_set1 (0.0);
  /* Cascades are of doubles, other sections of floats. */
  const bool is_plain =
      in.n == W && out.n == W && in.is_f32 != merged && out.is_f32 != merged;

  if (is_plain &&
      (merged ? n_cascades == CASCADES_OF (n_sections) : n_sections <= 4))
    return v_is_number (add_all (&in, &out, n, d, state, coef, n_sections,
        n_cascades, merged, true));
  for (size_t m; n > 0; n -= m) {
    m = n < TILE_FRAMES ? n : TILE_FRAMES;
    if (is_plain)
      read_tile (x, y, &in, m, d, !merged, W);
    else
      read_tile (x, y, &in, m, d, in.is_f32, in.n);
    ends = v_add (ends, add_all (&tile[0], &tile[1], m, d, state, coef,
                            n_sections, n_cascades, merged, false));
    if (is_plain)
      write_tile (&out, y, m, !merged, W);
    else
      write_tile (&out, y, m, out.is_f32, out.n);
  }
  return v_is_number (ends);
}
