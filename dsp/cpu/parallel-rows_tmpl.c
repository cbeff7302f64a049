/* SPDX-License-Identifier: LGPL-2.1-or-later
 * parallel-rows_tmpl.c: full vectors of channels through sections, or cascades, that all hear
 * the input; part of kernels-vec.c.
 *
 * Rows are read once and written once, some at a time; in between each pass adds what its
 * sections come to. */

/* Rows at a time, and the most sections that go over them together. */
#define PARTS_ROWS 64
#define PARTS_PASS 4

/* How many of the next n rows are read or written whole, though they have fewer channels
 * than there are lanes: those before the last ones, behind which there is nothing.  Nobody hears
 * what the lanes too many hear; what is no number there is cleared as in a channel. */
static inline size_t
count_whole (const TfxRows *rows, size_t n)
{
  const size_t stride = (size_t)rows->stride;
  const size_t behind = rows->n < W ? (W - rows->n + stride - 1) / stride : 0;

  return n > behind ? n - behind : 0;
}

static inline __attribute__ ((always_inline)) V
take_row (Way *way, bool is_whole)
{
  const char *row = way->at;

  way->at += way->step;
  if (way->is_f32)
    return is_whole ? v_load_row_f32 ((const float *)row, W, W)
                    : v_load_row_f32 ((const float *)row, W, way->n);
  return is_whole ? v_load_row_f64 ((const double *)row, W, W)
                  : v_load_row_f64 ((const double *)row, W, way->n);
}

static inline __attribute__ ((always_inline)) void
give_row (Way *way, V y, bool is_whole)
{
  char *row = way->at;

  way->at += way->step;
  if (way->is_f32 && is_whole)
    v_store_row_f32 ((float *)row, y, W, W);
  else if (way->is_f32)
    v_store_row_f32 ((float *)row, y, W, way->n);
  else if (is_whole)
    v_store_row_f64 ((double *)row, y, W, W);
  else
    v_store_row_f64 ((double *)row, y, W, way->n);
}

/* Some rows on their way: what all sections hear, and the sum so far. */
typedef struct Tile
{
  double x[PARTS_ROWS * W] __attribute__ ((aligned (64)));
  double y[PARTS_ROWS * W] __attribute__ ((aligned (64)));
  Way in, out;
  size_t n, n_whole_in, n_whole_out; /* rows */
  V d;
} Tile;

/* A row and the sum so far: the first ones of all read it, and the last ones write
 * the sum. */
static inline __attribute__ ((always_inline)) V
begin_row (Tile *tile, Way *in, size_t i, V *sum, const bool is_first)
{
  const V row =
      is_first ? take_row (in, i < tile->n_whole_in) : v_load (tile->x + i * W);

  *sum = is_first ? v_mul (tile->d, row) : v_load (tile->y + i * W);
  return row;
}

static inline __attribute__ ((always_inline)) void
end_row (Tile *tile, Way *out, size_t i, V row, V sum, const bool is_first,
    const bool is_last)
{
  if (is_first && !is_last)
    v_store (tile->x + i * W, row);
  if (is_last)
    give_row (out, sum, i < tile->n_whole_out);
  else
    v_store (tile->y + i * W, sum);
}

/* Adds N sections. */
static inline __attribute__ ((always_inline)) V
add_parts (Tile *tile, double *state, const double *coef, const unsigned N,
    const bool is_first, const bool is_last)
{
  Way in = tile->in, out = tile->out;
  V k[TFX_PARALLEL_COEF * PARTS_PASS];
  Parts w[PARTS_PASS];

  load_parts (w, k, state, coef, N);
  for (size_t i = 0; i < tile->n; i++) {
    V sum;
    const V row = begin_row (tile, &in, i, &sum, is_first);

    if (N > 0)
      sum = v_add (sum, step_parts (w, k, row, N));
    end_row (tile, &out, i, row, sum, is_first, is_last);
  }
  tile->in = in;
  tile->out = out;
  return store_parts (w, state, N);
}

/* The last ones, by how many they are. */
static inline __attribute__ ((always_inline)) V
add_last_parts (Tile *tile, double *state, const double *coef, unsigned N,
    const bool is_first)
{
  switch (N) {
    case 1:
      return add_parts (tile, state, coef, 1, is_first, true);
    case 2:
      return add_parts (tile, state, coef, 2, is_first, true);
    case 3:
      return add_parts (tile, state, coef, 3, is_first, true);
    default:
      return add_parts (tile, state, coef, 4, is_first, true);
  }
}

/* In one go if that is enough.  But rows that are written whole and in part must all have
 * been read before. */
static inline __attribute__ ((always_inline)) V
add_sections (Tile *tile, double *state, const double *coef, unsigned n,
    bool is_full)
{
  V ends = v_set1 (0.0);

  if (n <= PARTS_PASS && is_full)
    return add_last_parts (tile, state, coef, n, true);
  if (n <= PARTS_PASS) {
    add_parts (tile, state, coef, 0, true, false);
    return add_last_parts (tile, state, coef, n, false);
  }
  for (bool is_first = true; n > PARTS_PASS; is_first = false) {
    ends = v_add (ends,
        is_first ? add_parts (tile, state, coef, PARTS_PASS, true, false)
                 : add_parts (tile, state, coef, PARTS_PASS, false, false));
    state += PARTS_PASS * TFX_STATE * W;
    coef += PARTS_PASS * TFX_PARALLEL_COEF * W;
    n -= PARTS_PASS;
  }
  return v_add (ends, add_last_parts (tile, state, coef, n, false));
}

/* Adds M cascades of N sections each, as add_parts() does. */
static inline __attribute__ ((always_inline)) V
add_cascades (Tile *tile, double *state, const double *coef, const unsigned M,
    const unsigned N, const bool is_first, const bool is_last)
{
  Way in = tile->in, out = tile->out;
  V k[TFX_MAX_VECTORS][TFX_SECTION_COEF * TFX_MAX_VECTORS];
  V gains[TFX_MAX_VECTORS], ends = v_set1 (0.0);
  Wave w[TFX_MAX_VECTORS][TFX_MAX_VECTORS];

#pragma GCC unroll 4
  for (unsigned m = 0; m < M; m++) {
    load_wave (w[m], state + m * N * TFX_STATE * W, N, 1, false);
    load_coef (k[m], coef + m * TFX_MERGED_COEF (N) * W, N, 1);
    gains[m] = v_load (coef + ((m + 1) * TFX_MERGED_COEF (N) - 1) * W);
  }
  for (size_t i = 0; i < tile->n; i++) {
    V sum;
    const V row = begin_row (tile, &in, i, &sum, is_first);

#pragma GCC unroll 4
    for (unsigned m = 0; m < M; m++)
      sum = v_fma (gains[m], step_cascade (w[m], k[m], row, N), sum);
    end_row (tile, &out, i, row, sum, is_first, is_last);
  }
  tile->in = in;
  tile->out = out;
#pragma GCC unroll 4
  for (unsigned m = 0; m < M; m++)
    ends = v_add (ends,
        store_wave (w[m], state + m * N * TFX_STATE * W, N, 1, false));
  return ends;
}

/* The same by whether they are the first and the last ones. */
static inline __attribute__ ((always_inline)) V
add_cascades_at (Tile *tile, double *state, const double *coef,
    const unsigned M, const unsigned N, bool is_first, bool is_last)
{
  if (is_first)
    return is_last ? add_cascades (tile, state, coef, M, N, true, true)
                   : add_cascades (tile, state, coef, M, N, true, false);
  return is_last ? add_cascades (tile, state, coef, M, N, false, true)
                 : add_cascades (tile, state, coef, M, N, false, false);
}

/* n cascades, as many at a time as wait for each other little. */
static inline __attribute__ ((always_inline)) V
add_all_cascades (Tile *tile, double *state, const double *coef, unsigned n,
    const unsigned N, bool is_full)
{
  const unsigned M = N == 1 ? 4 : N == 2 ? 2 : 1;
  bool is_first = is_full || (n != M && n > 1);
  V ends = v_set1 (0.0);

  if (!is_first)
    add_parts (tile, state, coef, 0, true, false);
  while (n > 0) {
    const unsigned m = n >= M ? M : 1;

    ends = v_add (ends,
        m == M ? add_cascades_at (tile, state, coef, M, N, is_first, n == m)
               : add_cascades_at (tile, state, coef, 1, N, is_first, n == m));
    state += m * N * TFX_STATE * W;
    coef += m * TFX_MERGED_COEF (N) * W;
    n -= m;
    is_first = false;
  }
  return ends;
}

/* Up to four sections of each. */
static inline __attribute__ ((always_inline)) V
add_merged (Tile *tile, double *state, const double *coef, unsigned n,
    unsigned n_sections, bool is_full)
{
  switch (n_sections) {
    case 1:
      return add_all_cascades (tile, state, coef, n, 1, is_full);
    case 2:
      return add_all_cascades (tile, state, coef, n, 2, is_full);
    case 3:
      return add_all_cascades (tile, state, coef, n, 3, is_full);
    default:
      return add_all_cascades (tile, state, coef, n, 4, is_full);
  }
}

/* Rows of up to W channels, each a lane, through any number of sections, or of cascades. */
static inline __attribute__ ((always_inline)) bool
run_all_rows (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_sections,
    const bool merged)
{
  const bool is_full = from->n >= W && to->n >= W;
  const bool is_dense = to->n >= W || to->stride == to->n;
  Tile tile;
  V ends = v_set1 (0.0);

  tile.in = get_way (from);
  tile.out = get_way (to);
  tile.d = v_set1 (*gain);
  for (; n > 0; n -= tile.n) {
    tile.n = n < PARTS_ROWS ? n : PARTS_ROWS;
    tile.n_whole_in = count_whole (from, n);
    tile.n_whole_out = is_dense ? count_whole (to, tile.n) : 0;
    ends = v_add (ends,
        merged ? add_merged (&tile, state, coef, (unsigned)gain[W], n_sections,
                     is_full)
               : add_sections (&tile, state, coef, n_sections, is_full));
  }
  return v_is_number (ends);
}
