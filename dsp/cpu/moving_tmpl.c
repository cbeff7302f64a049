/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving_tmpl.c: LANES channels through state-variable filters whose values move;
 * part of moving-vec.c.
 *
 * Sections go over the frames in fours, each one frame behind the one before it, so
 * that none waits for another one of its step. */

#define NAME(name) CAT (name, LANES)

#if LANES == 1
typedef double NAME (L);
typedef double NAME (LMemory);
#else
typedef double NAME (L) __attribute__ ((vector_size (8 * LANES), may_alias));
typedef double NAME (LMemory)
    __attribute__ ((vector_size (8 * LANES), may_alias, aligned (8)));
#endif

/* The integrators of sections, and what the one before each puts out. */
typedef struct NAME (Block)
{
  NAME (L) m[MOST_SECTIONS], l[MOST_SECTIONS], v[MOST_SECTIONS + 1];
} NAME (Block);

/* A frame of section s, whose coefficients are c. */
static inline __attribute__ ((always_inline)) void
NAME (step) (NAME (Block) * b, unsigned s, const double *c)
{
  const NAME (L) u = b->v[s] - b->l[s], m = b->m[s];

  b->v[s + 1] = c[0] * u + (c[N] * m + c[2 * N] * b->l[s]);
  b->l[s] = (b->l[s] + c[3 * N] * m) + c[4 * N] * u;
  b->m[s] = c[5 * N] * m + c[3 * N] * u;
}

/* Section s works on frame i - s, the last one first: all that have one there, or
 * (is_inside) all. */
static inline __attribute__ ((always_inline)) void
NAME (step_all) (NAME (Block) * b, double *x, size_t n, size_t i,
    const double *coef, const unsigned n_sections, const bool is_inside)
{
  if (is_inside || i < n)
    b->v[0] = *(const NAME (LMemory) *)(x + i * LANES);
  for (unsigned s = n_sections; s-- > 0;) {
    if (is_inside || (i >= s && i - s < n))
      NAME (step) (b, s, coef + s * (TFX_SVF_COEF * N - 1) + i);
  }
  if (is_inside || i + 1 >= n_sections)
    *(NAME (LMemory) *)(x + (i + 1 - n_sections) * LANES) = b->v[n_sections];
}

/* n_sections at most MOST_SECTIONS, from the frame that coef begins with. */
static inline __attribute__ ((always_inline)) void
NAME (run_sections) (double *x, size_t n, double *m, double *l, size_t stride,
    const double *coef, const unsigned n_sections)
{
  NAME (Block) b;
  size_t i = 0;

  for (unsigned s = 0; s < n_sections; s++) {
    b.m[s] = *(const NAME (LMemory) *)(m + s * stride);
    b.l[s] = *(const NAME (LMemory) *)(l + s * stride);
    b.v[s + 1] = (NAME (L)){ 0 };
  }
  for (; i + 1 < n_sections; i++)
    NAME (step_all) (&b, x, n, i, coef, n_sections, false);
  for (; i < n; i++)
    NAME (step_all) (&b, x, n, i, coef, n_sections, true);
  for (; i < n + n_sections - 1; i++)
    NAME (step_all) (&b, x, n, i, coef, n_sections, false);
  for (unsigned s = 0; s < n_sections; s++) {
    *(NAME (LMemory) *)(m + s * stride) = b.m[s];
    *(NAME (LMemory) *)(l + s * stride) = b.l[s];
  }
}

static void
NAME (run) (double *x, size_t n, double *state, size_t stride,
    const double *coef, size_t n_sections)
{
  for (size_t s = 0; s < n_sections; s += MOST_SECTIONS) {
    const size_t left = n_sections - s;
    const double *c = coef + s * TFX_SVF_COEF * N;
    double *m = state + s * stride, *l = m + n_sections * stride;

    if (left >= 4)
      NAME (run_sections) (x, n, m, l, stride, c, 4);
    else if (left == 3)
      NAME (run_sections) (x, n, m, l, stride, c, 3);
    else if (left == 2)
      NAME (run_sections) (x, n, m, l, stride, c, 2);
    else
      NAME (run_sections) (x, n, m, l, stride, c, 1);
  }
}

#undef NAME
#undef LANES
