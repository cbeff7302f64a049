/* SPDX-License-Identifier: LGPL-2.1-or-later
 * frames_tmpl.c: frames in the lanes; part of kernels-vec.c.
 *
 * A group is FRAMES_VECTORS vectors of interleaved frames of C channels.  The state of all
 * sections is one vector or two.  Both are linear in the group's input and the state before it:
 *
 *   y = H x + O s;  s' = B x + A s
 *
 * The recursion is one multiplication of s with A long; the sums of the rest are short and do
 * not depend on it.  A lane never depends on a later frame, so an unfinished group is computed
 * for the frames that are there, and again, from the same state, with the next ones. */

/* Vectors of a group: enough to cover the latency of its recursion. */
#define FRAMES_VECTORS (W > 4 ? 1 : 2)
#define FRAMES_MAX 2
#define GROUP_FRAMES(C) (FRAMES_VECTORS * W / (C))
/* Vectors of state, 2 N C numbers, and the most that there are. */
#define STATE_VECTORS(C, N) ((2 * (N) * (C) + W - 1) / W)
#define MAX_STATE_VECTORS (8 / W)

/* One group in place, x aligned, and the state behind it.  k: the columns for each
 * frame, first of H, then of B, and then those of O and A for each number of
 * state. */
static inline __attribute__ ((always_inline)) void
frames_group (double *x, V *s, const V *k, const unsigned C, const unsigned N)
{
  const unsigned G = FRAMES_VECTORS, F = GROUP_FRAMES (C);
  const unsigned S = STATE_VECTORS (C, N);
  const V zero = v_set1 (0.0);
  V y[FRAMES_MAX], ring[FRAMES_MAX];
  V even[MAX_STATE_VECTORS], odd[MAX_STATE_VECTORS];

#pragma GCC unroll 4
  for (unsigned j = 0; j < G; j++)
    y[j] = ring[j] = zero;
#pragma GCC unroll 4
  for (unsigned j = 0; j < S; j++)
    even[j] = odd[j] = zero;
#pragma GCC unroll 8
  for (unsigned i = 0; i < F; i++, k += G + S) {
    const V row = v_load_row_f64 (x + i * C, C, C);

#pragma GCC unroll 4
    for (unsigned j = i * C / W; j < G; j++)
      y[j] = v_fma (k[j], row, y[j]);
#pragma GCC unroll 4
    for (unsigned j = 0; j < S; j++) {
      V *sum = i % 2 == 0 ? &even[j] : &odd[j];
      *sum = v_fma (k[G + j], row, *sum);
    }
  }
#pragma GCC unroll 8
  for (unsigned i = 0; i < 2 * N; i++, k += G + S) {
    const V number = v_repeat (s[i * C / W], i * C % W, C);

#pragma GCC unroll 4
    for (unsigned j = 0; j < G; j++)
      ring[j] = v_fma (k[j], number, ring[j]);
#pragma GCC unroll 4
    for (unsigned j = 0; j < S; j++) {
      V *sum = i % 2 == 0 ? &even[j] : &odd[j];
      *sum = v_fma (k[G + j], number, *sum);
    }
  }
#pragma GCC unroll 4
  for (unsigned j = 0; j < G; j++)
    v_store (x + j * W, v_add (y[j], ring[j]));
#pragma GCC unroll 4
  for (unsigned j = 0; j < S; j++)
    s[j] = v_add (even[j], odd[j]);
}

/* n frames from number `first` on to interleaved doubles, or back. */
static __attribute__ ((noinline)) void
move_frames (double *x, const TfxRows *rows, size_t first, unsigned n,
    const unsigned C, const bool is_back)
{
  const ptrdiff_t apart = rows->apart ? rows->apart : 1;

  for (unsigned i = 0; i < n * C; i++) {
    const ptrdiff_t at =
        (ptrdiff_t)(first + i / C) * rows->stride + i % C * apart;
    char *sample = (char *)rows->data + at * sample_bytes (rows->type);

    if (is_back)
      set_sample_at (sample, x[i], rows->type);
    else
      x[i] = sample_at (sample, rows->type);
  }
}

/* n frames that continue the unfinished group.  `pending` has its frames, and their number
 * behind TFX_GROUP samples.  If they complete it, the state advances. */
static inline __attribute__ ((always_inline)) void
run_partly (V *state, double *pending, const TfxRows *in, const TfxRows *out,
    size_t first, unsigned n, const V *k, const unsigned C, const unsigned N)
{
  const unsigned start = (unsigned)pending[TFX_GROUP];
  double x[FRAMES_VECTORS * W] __attribute__ ((aligned (64))) = { 0 };
  V next[MAX_STATE_VECTORS];

  move_frames (pending + start * C, in, first, n, C, false);
  for (unsigned i = 0; i < (start + n) * C; i++)
    x[i] = pending[i];
  for (unsigned j = 0; j < STATE_VECTORS (C, N); j++)
    next[j] = state[j];
  frames_group (x, next, k, C, N);
  move_frames (x + start * C, out, first, n, C, true);
  pending[TFX_GROUP] = start + n;
  if (start + n < GROUP_FRAMES (C))
    return;
  for (unsigned i = 0; i <= TFX_GROUP; i++)
    pending[i] = 0.0;
  for (unsigned j = 0; j < STATE_VECTORS (C, N); j++)
    state[j] = next[j];
}

/* A group of two planes of floats, to interleaved doubles and back. */
typedef float Four __attribute__ ((vector_size (16)));
typedef float FourAt __attribute__ ((vector_size (16), may_alias, aligned (4)));

static inline __attribute__ ((always_inline)) void
load_pairs (double *x, const float *left, const float *right)
{
#if W > 2
  const Four a = *(const FourAt *)left, b = *(const FourAt *)right;
#endif

#if W == 8
  v_store (x, v_widen (__builtin_shufflevector (a, b, 0, 4, 1, 5, 2, 6, 3, 7)));
#elif W == 4
  v_store (x, v_widen (__builtin_shufflevector (a, b, 0, 4, 1, 5)));
  v_store (x + 4, v_widen (__builtin_shufflevector (a, b, 2, 6, 3, 7)));
#else
  for (unsigned i = 0; i < 2; i++) {
    x[2 * i] = left[i];
    x[2 * i + 1] = right[i];
  }
#endif
}

static inline __attribute__ ((always_inline)) void
store_pairs (float *left, float *right, const double *x)
{
#if W > 2
  const VFloats a = v_narrow (v_load (x));
  const VFloats b = W == 4 ? v_narrow (v_load (x + 4)) : a;

  *(FourAt *)left = __builtin_shufflevector (a, b, 0, 2, 4, 6);
  *(FourAt *)right = __builtin_shufflevector (a, b, 1, 3, 5, 7);
#else
  for (unsigned i = 0; i < 2; i++) {
    left[i] = (float)x[2 * i];
    right[i] = (float)x[2 * i + 1];
  }
#endif
}

/* A group from frame i on, to or from interleaved doubles; planes are floats. */
static inline __attribute__ ((always_inline)) void
read_group (double *x, const TfxRows *rows, size_t i, const unsigned C,
    const bool is_f32, const bool is_planar)
{
  const float *f32 = (const float *)rows->data + i * C;
  const double *f64 = (const double *)rows->data + i * C;

  if (is_planar) {
    load_pairs (x, f32 - i, f32 - i + rows->apart);
    return;
  }
#pragma GCC unroll 4
  for (unsigned j = 0; j < FRAMES_VECTORS * W; j += W)
    v_store (x + j, is_f32 ? v_load_f32 (f32 + j) : v_load_f64 (f64 + j));
}

static inline __attribute__ ((always_inline)) void
write_group (const TfxRows *rows, size_t i, const double *x, const unsigned C,
    const bool is_f32, const bool is_planar)
{
  float *f32 = (float *)rows->data + i * C;
  double *f64 = (double *)rows->data + i * C;

  if (is_planar) {
    store_pairs (f32 - i, f32 - i + rows->apart, x);
    return;
  }
#pragma GCC unroll 4
  for (unsigned j = 0; j < FRAMES_VECTORS * W; j += W) {
    if (is_f32)
      v_store_f32 (f32 + j, v_load (x + j));
    else
      v_store_f64 (f64 + j, v_load (x + j));
  }
}

/* All groups from frame i on that are whole; returns where they end.  The types and
 * is_planar, of in and out, are constants where that pays. */
static inline __attribute__ ((always_inline)) size_t
run_groups (const TfxRows *in, const TfxRows *out, size_t i, size_t n, V *s,
    const V *k, const unsigned C, const unsigned N, const bool in_f32,
    const bool out_f32, const bool in_planar, const bool out_planar)
{
  const unsigned F = GROUP_FRAMES (C);

  for (; i + F <= n; i += F) {
    double x[FRAMES_VECTORS * W] __attribute__ ((aligned (64)));

    read_group (x, in, i, C, in_f32, in_planar);
    frames_group (x, s, k, C, N);
    write_group (out, i, x, C, out_f32, out_planar);
  }
  return i;
}

static inline __attribute__ ((always_inline)) bool
run_frames (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *coef, const unsigned C, const unsigned N)
{
  enum
  {
    G = FRAMES_VECTORS,
    MAX_COLUMNS = 16 * (FRAMES_VECTORS + MAX_STATE_VECTORS)
  };
  const unsigned S = STATE_VECTORS (C, N), F = GROUP_FRAMES (C);
  double *pending = state + S * W;
  const TfxRows in = *from, out = *to;
  const bool in_f32 = in.type == TFX_SAMPLE_F32;
  const bool out_f32 = out.type == TFX_SAMPLE_F32;
  const bool in_planar = C == 2 && in.apart, out_planar = C == 2 && out.apart;
  V k[MAX_COLUMNS], s[MAX_STATE_VECTORS], sum = v_set1 (0.0);
  size_t i = 0, part = 0;

#pragma GCC unroll 96
  for (unsigned j = 0; j < (F + 2 * N) * (G + S); j++)
    k[j] = v_load (coef + j * W);
#pragma GCC unroll 4
  for (unsigned j = 0; j < S; j++)
    s[j] = v_load (state + j * W);
  if (pending[TFX_GROUP] > 0.0) {
    part = F - (unsigned)pending[TFX_GROUP];
    part = part < n ? part : n;
  }
  for (;;) {
    if (part > 0)
      run_partly (s, pending, from, to, i, (unsigned)part, (const V *)coef, C,
          N);
    i += part;
    if (C == 2 && in_f32 && out_f32 && !in_planar && !out_planar)
      i = run_groups (&in, &out, i, n, s, k, C, N, true, true, false, false);
    else if (C == 2 && in_planar && out_planar)
      i = run_groups (&in, &out, i, n, s, k, C, N, true, true, true, true);
    else
      i = run_groups (&in, &out, i, n, s, k, C, N, in_f32, out_f32, in_planar,
          out_planar);
    part = n - i;
    if (part == 0)
      break;
  }
#pragma GCC unroll 4
  for (unsigned j = 0; j < S; j++) {
    v_store (state + j * W, s[j]);
    sum = v_add (sum, s[j] - s[j]);
  }
  return v_is_number (sum);
}

/* Vectors of four have all numbers of a short state. */
static inline __attribute__ ((always_inline)) bool
run_frames_of (const TfxRows *in, const TfxRows *out, size_t n, double *state,
    const double *coef, const unsigned C, const unsigned N)
{
  return N * C > FRAMES_MOST || N * C < FRAMES_LEAST ||
         run_frames (in, out, n, state, coef, C, N);
}

static inline __attribute__ ((always_inline)) bool
run_frames_sections (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *gain, const double *coef, unsigned n_sections,
    const unsigned C)
{
  return WITH_N (n_sections, run_frames_of, in, out, n, state, coef, C);
}
