/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pipelined_tmpl.c: sections in the lanes; part of kernels-vec.c.
 *
 * A vector is W / C sections of C channels each, section after section.  In a
 * step section k works on frame t - 2 k: its input is what the section before
 * it put out two steps ago, so that no lane waits for another one in a
 * step, and the recursion is one multiply-add deep.  In a pass of a single vector it is t - 3 k,
 * to cover the time that a number takes from lane to lane.  At the start of a block the later
 * sections are idle, at its end the earlier ones; a mask keeps their state.  The arithmetic is that
 * of one section after the other, to the bit.  Spare lanes are the first ones. */

static inline ptrdiff_t
sample_bytes (const TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double);
}

static inline __attribute__ ((always_inline)) double
sample_at (const char *p, const TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? *(const float *)p : *(const double *)p;
}

static inline __attribute__ ((always_inline)) void
set_sample_at (char *p, double v, const TfxSample type)
{
  if (type == TFX_SAMPLE_F32)
    *(float *)p = (float)v;
  else
    *(double *)p = v;
}

/* State of a vector of sections, and its outputs in the last steps, newest first. */
typedef struct Sections
{
  V s, last_s, last_x; /* or s, -, s2 */
  V y[3];
} Sections;

/* Whether a pass of N vectors has s2, and the frames from a section to the next. */
#define PIPELINED_HAS_S2(N, factored)                                          \
  ((N) >= ((factored) ? S2_PIPELINED_FACTORED : S2_PIPELINED))
#define SKEW(N) ((N) == 1 && V_HAS_FMA ? 3 : 2)

/* The next s without a1 s, which does not depend on s.
 *
 * With s2 in place of the last x, as in the textbook form, x reaches the state sooner and the
 * state takes a register less, but every other step the recursion is two operations longer. */
static inline __attribute__ ((always_inline)) V
section_rest (const Sections *w, const V *k, V x, const bool factored,
    const bool has_s2)
{
  if (has_s2)
    return factored ? v_add (x, w->last_x) : v_fma (k[1], x, w->last_x);
  return v_fnma (k[4], w->last_s,
      factored ? v_fma (k[2], w->last_x, x)
               : v_fma (k[1], x, v_mul (k[2], w->last_x)));
}

/* One step of the sections of a vector with coefficients k[TFX_SECTION_COEF]: the
 * recursion is one operation long, and in the form factored there is one less. */
static inline __attribute__ ((always_inline)) V
section_step (Sections *w, const V *k, V x, const bool factored,
    const bool has_s2)
{
  const V y = factored ? v_fma (k[0], w->s, x) : v_fma (k[0], x, w->s);
  const V s = v_fnma (k[3], w->s, section_rest (w, k, x, factored, has_s2));

  w->last_x = has_s2 ? v_fnma (k[4], w->s, v_mul (k[2], x)) : x;
  w->last_s = has_s2 ? w->last_s : w->s;
  w->s = s;
  return y;
}

/* Input of vector number v: the output of the one before it, or `first`. */
static inline __attribute__ ((always_inline)) V
vector_input (const Sections *w, const unsigned v, V first, const unsigned C,
    const unsigned N)
{
  const unsigned oldest = SKEW (N) - 1;

  return v ? v_shift_in (w[v].y[oldest], w[v - 1].y[oldest], C) : first;
}

static inline __attribute__ ((always_inline)) void
put_output (Sections *w, V y)
{
  w->y[2] = w->y[1];
  w->y[1] = w->y[0];
  w->y[0] = y;
}

/* A step of N vectors of sections; `first` is the input of the first one. */
static inline __attribute__ ((always_inline)) void
step_all (Sections *w, const V *k, V first, const unsigned C, const unsigned N,
    const bool factored)
{
#pragma GCC unroll 4
  for (unsigned v = N; v-- > 0;) {
    const V input = vector_input (w, v, first, C, N);
    const V *of = k + TFX_SECTION_COEF * v;

    put_output (&w[v], section_step (&w[v], of, input, factored,
                           PIPELINED_HAS_S2 (N, factored)));
  }
}

/* Where a kernel reads or writes, frame by frame: n of C interleaved channels. */
typedef struct Way
{
  char *at;
  ptrdiff_t step;
  bool is_f32;
  unsigned n;
} Way;

static inline __attribute__ ((always_inline)) Way
get_way (const TfxRows *rows)
{
  const ptrdiff_t size = sample_bytes (rows->type);

  return (Way){ rows->data, rows->stride * size, rows->type == TFX_SAMPLE_F32,
    rows->n };
}

/* The next frame; doubles in the direct form. */
static inline __attribute__ ((always_inline)) V
next_row (Way *way, const unsigned C, const bool factored)
{
  const char *row = way->at;

  way->at += way->step;
  return factored && way->is_f32
             ? v_load_row_f32 ((const float *)row, C, way->n)
             : v_load_row_f64 ((const double *)row, C, way->n);
}

static inline __attribute__ ((always_inline)) void
put_row (Way *way, V y, const unsigned C, const bool factored)
{
  char *row = way->at;

  way->at += way->step;
  if (factored && way->is_f32)
    v_store_row_f32 ((float *)row, y, C, way->n);
  else
    v_store_row_f64 ((double *)row, y, C, way->n);
}

/* The sections of one of R vectors.  With s2 there is no last s, which saves a register. */
static inline __attribute__ ((always_inline)) void
load_sections (Sections *w, const double *state, const unsigned N,
    const unsigned R, const bool has_s2)
{
  const V zero = v_set1 (0.0);

#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++, state += TFX_STATE * R * W)
    w[v] = (Sections){ v_load (state), has_s2 ? zero : v_load (state + R * W),
      v_load (state + 2 * R * W), { zero, zero, zero } };
}

static inline __attribute__ ((always_inline)) void
load_coef (V *k, const double *coef, const unsigned N, const unsigned R)
{
#pragma GCC unroll 20
  for (unsigned i = 0; i < TFX_SECTION_COEF * N; i++)
    k[i] = v_load (coef + i * R * W);
}

/* Returns numbers if all is finite: infinity less infinity is none. */
static inline __attribute__ ((always_inline)) V
store_sections (const Sections *w, double *state, const unsigned N,
    const unsigned R, const bool has_s2)
{
  V ends = v_set1 (0.0);

#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++, w++, state += TFX_STATE * R * W) {
    v_store (state, w->s);
    v_store (state + 2 * R * W, w->last_x);
    ends = v_add (ends, (w->s - w->s) + (w->last_x - w->last_x));
    if (has_s2)
      continue;
    v_store (state + R * W, w->last_s);
    ends = v_add (ends, w->last_s - w->last_s);
  }
  return ends;
}

/* Input of the first vector: the next frame, or zeros if `in` is NULL. */
static inline __attribute__ ((always_inline)) V
first_input (const Sections *w, Way *in, V g, const unsigned C,
    const unsigned N, const bool factored)
{
  const V y = w[0].y[SKEW (N) - 1];
  V x = v_set1 (0.0);

  if (in) {
    x = next_row (in, C, factored);
    x = factored ? v_mul (g, x) : x;
    if (2 * C == W && factored && in->is_f32)
      return v_join_halves (x, y); /* the frame is in the first half */
  }
  return v_shift_in (y, x, C);
}

/* The lanes [from, to), counted over all vectors, of each vector. */
static inline __attribute__ ((always_inline)) void
set_lanes (VMask *lanes, unsigned from, unsigned to, const unsigned N)
{
#pragma GCC unroll 4
  for (unsigned v = 0; v < N; v++)
    lanes[v] = v_lanes_of (from, to, v);
}

/* As step_all() for the lanes [from, to). */
static inline __attribute__ ((always_inline)) void
step_partly (Sections *w, const V *k, V first, const VMask *lanes,
    unsigned from, unsigned to, const unsigned C, const unsigned N,
    const bool factored)
{
#pragma GCC unroll 4
  for (unsigned v = N; v-- > 0;) {
    const V input = vector_input (w, v, first, C, N);
    const Sections old = w[v];

    put_output (&w[v], old.y[0]);
    if (N == 1 || (from < W * (v + 1) && to > W * v)) {
      const V *of = k + TFX_SECTION_COEF * v;
      const bool has_s2 = PIPELINED_HAS_S2 (N, factored);

      w[v].y[0] = section_step (&w[v], of, input, factored, has_s2);
      w[v].s = v_fnma_or_a (lanes[v], old.s, of[3],
          section_rest (&old, of, input, factored, has_s2));
      if (!has_s2)
        w[v].last_s = v_select (lanes[v], w[v].last_s, old.last_s);
      w[v].last_x = v_select (lanes[v], w[v].last_x, old.last_x);
    }
  }
}

/* A step of all sections; returns the output of the last ones. */
static inline __attribute__ ((always_inline)) V
run_step (Sections *w, const V *k, Way *in, V g, const unsigned C,
    const unsigned N, const bool factored)
{
  step_all (w, k, first_input (w, in, g, C, N, factored), C, N, factored);
  return w[N - 1].y[0];
}

/* n of them; types and numbers of channels are constants where that pays.  is_joined: outputs
 * are stored two frames at a time. */
static inline __attribute__ ((always_inline)) void
run_steps (Sections *w, const V *k, Way *from, Way *to, size_t n, V g,
    const unsigned C, const unsigned N, const bool factored, const bool in_f32,
    const bool out_f32, const unsigned n_in, const unsigned n_out,
    const bool is_joined)
{
  /* Two steps need fewer registers to move what is a frame old. */
  const bool is_in_turns = is_joined || (N == 3 && factored);
  Way in = { from->at, from->step, in_f32, n_in };
  Way out = { to->at, to->step, out_f32, n_out };

  for (; is_in_turns && n > 1; n -= 2) {
    const V a = run_step (w, k, &in, g, C, N, factored);

    if (is_joined) {
      const V b = run_step (w, k, &in, g, C, N, factored);

      v_store_rows_f32 ((float *)out.at, (float *)(out.at + out.step), a, b);
      out.at += 2 * out.step;
    } else {
      put_row (&out, a, C, factored);
      put_row (&out, run_step (w, k, &in, g, C, N, factored), C, factored);
    }
  }
  for (; n > 0; n--)
    put_row (&out, run_step (w, k, &in, g, C, N, factored), C, factored);
  from->at = in.at;
  to->at = out.at;
}

/* Whether all lanes can be read or written: the frame has all, or the next one follows. */
static inline bool
is_whole (const Way *way, const unsigned C)
{
  const ptrdiff_t size = way->is_f32 ? sizeof (float) : sizeof (double);

  return way->n == C || way->step == (ptrdiff_t)way->n * size;
}

/* n of them, by the types.  Of three interleaved channels that follow one another four lanes are
 * read and written: the fourth is ignored, and the next frame overwrites what it wrote.  No frame
 * follows the last one, which is read by itself. */
static inline __attribute__ ((always_inline)) void
run_whole_steps (Sections *w, const V *k, Way *in, Way *out, size_t n, V g,
    const unsigned C, const unsigned N, const bool factored)
{
  const bool in_f32 = factored && in->is_f32;
  const bool out_f32 = factored && out->is_f32;
  size_t last = in->n < C;

#define RUN(IN_F32, OUT_F32)                                                   \
  run_steps (w, k, in, out, n - last, g, C, N, factored, IN_F32, OUT_F32, C,   \
      C, OUT_F32 && 2 * C == W)
  if (!is_whole (in, C) || !is_whole (out, C))
    last = n;
  else if (in_f32 && out_f32)
    RUN (true, true);
  else if (in_f32)
    RUN (true, false);
  else if (out_f32)
    RUN (false, true);
  else
    RUN (false, false);
#undef RUN
  if (C > 2)
    run_steps (w, k, in, out, last, g, C, N, factored, in->is_f32, out->is_f32,
        in->n, out->n, false);
}

/* Sections of C channels.  Masks keep the state of idle sections at both ends of the block. */
static inline __attribute__ ((always_inline)) bool
run_sections (const TfxRows *from, const TfxRows *to, size_t n, double *state,
    const double *gain, const double *coef, unsigned n_idle, const unsigned C,
    const unsigned N, const bool factored)
{
  const unsigned skew = SKEW (N);
  const size_t fill = skew * (N * (W / C) - 1);
  /* Steps between which no section begins or ends; few gain nothing. */
  const unsigned turns = N > 1 && (n >= fill || n % skew == 0) ? skew : 1;
  const V g = factored ? v_load (gain) : v_set1 (1.0);
  Way in = get_way (from), out = get_way (to);
  Sections w[TFX_MAX_VECTORS];
  V k[TFX_SECTION_COEF * TFX_MAX_VECTORS];
  size_t t = 0;

  load_sections (w, state, N, 1, PIPELINED_HAS_S2 (N, factored));
  load_coef (k, coef, N, 1);
  for (; t < fill; t += turns) {
    const unsigned begun = (unsigned)t / skew + 1;
    unsigned done = 0;
    VMask lanes[TFX_MAX_VECTORS];

    if (t >= n) {
      done = (unsigned)(t - n) / skew + 1;
      done = done < begun ? done : begun;
    }
    set_lanes (lanes, done * C, begun * C, N);
#pragma GCC unroll 1
    for (size_t i = t; i < t + turns; i++) {
      const V first = first_input (w, i < n ? &in : NULL, g, C, N, factored);

      if (begun <= n_idle)
        put_output (&w[0], first);
      else
        step_partly (w, k, first, lanes, done * C, begun * C, C, N, factored);
    }
  }
  if (t < n) {
    run_whole_steps (w, k, &in, &out, n - t, g, C, N, factored);
    t = n;
  }
  for (; t < n + fill; t += turns) {
    const unsigned done = (unsigned)(t - n) / skew + 1;
    VMask lanes[TFX_MAX_VECTORS];

    set_lanes (lanes, done * C, N * W, N);
#pragma GCC unroll 1
    for (unsigned i = 0; i < turns; i++) {
      step_partly (w, k, first_input (w, NULL, g, C, N, factored), lanes,
          done * C, N * W, C, N, factored);
      put_row (&out, w[N - 1].y[0], C, factored);
    }
  }
  return v_is_number (
      store_sections (w, state, N, 1, PIPELINED_HAS_S2 (N, factored)));
}
