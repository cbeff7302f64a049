/* SPDX-License-Identifier: LGPL-2.1-or-later
 * moving_tmpl.c: state-variable filters whose values move, over n_lanes adjacent channels, one
 * in each lane; compiled for each instruction set.
 *
 * ROW is a vector, or a double for a single channel; LOAD (p) and STORE (p, a) access n_lanes
 * numbers.  Sections go over the frames in fours, each one frame behind the one before it, so
 * that none waits for another one of its step. */
#define MOST_SECTIONS 4

/* The integrators of sections, and the output of the section before each. */
typedef struct Rows
{
  ROW m[MOST_SECTIONS], l[MOST_SECTIONS], v[MOST_SECTIONS + 1];
} Rows;

/* Section s works on frame i - s, the last one first: all that have one there, or
 * (is_inside) all. */
static inline __attribute__ ((always_inline)) void
step_all (Rows *r, double *x, size_t n, size_t i, unsigned n_channels,
    const unsigned n_lanes, const double *coef, const unsigned n_sections,
    const bool is_inside)
{
  if (is_inside || i < n)
    r->v[0] = LOAD (x + i * n_channels);
  for (unsigned s = n_sections; s-- > 0;) {
    const double *c = coef + s * (TFX_SVF_COEF * TFX_GRID_FRAMES - 1) + i;

    if (is_inside || (i >= s && i - s < n)) {
      const ROW u = r->v[s] - r->l[s], m = r->m[s];

      r->v[s + 1] = c[0] * u +
                    (c[TFX_GRID_FRAMES] * m + c[2 * TFX_GRID_FRAMES] * r->l[s]);
      r->l[s] =
          (r->l[s] + c[3 * TFX_GRID_FRAMES] * m) + c[4 * TFX_GRID_FRAMES] * u;
      r->m[s] = c[5 * TFX_GRID_FRAMES] * m + c[3 * TFX_GRID_FRAMES] * u;
    }
  }
  if (is_inside || i + 1 >= n_sections)
    STORE (x + (i + 1 - n_sections) * n_channels, r->v[n_sections]);
}

/* Up to MOST_SECTIONS, from the frame that coef begins with. */
static inline __attribute__ ((always_inline)) void
run_some (double *x, size_t n, unsigned n_channels, const unsigned n_lanes,
    double *m, double *l, size_t stride, const double *coef,
    const unsigned n_sections)
{
  Rows r;
  size_t i = 0;

  r.v[0] = LOAD (x);
  for (unsigned s = 0; s < n_sections; s++) {
    r.m[s] = LOAD (m + s * stride);
    r.l[s] = LOAD (l + s * stride);
    r.v[s + 1] = r.v[0];
  }
  for (; i + 1 < n_sections; i++)
    step_all (&r, x, n, i, n_channels, n_lanes, coef, n_sections, false);
  for (; i < n; i++)
    step_all (&r, x, n, i, n_channels, n_lanes, coef, n_sections, true);
  for (; i < n + n_sections - 1; i++)
    step_all (&r, x, n, i, n_channels, n_lanes, coef, n_sections, false);
  for (unsigned s = 0; s < n_sections; s++) {
    STORE (m + s * stride, r.m[s]);
    STORE (l + s * stride, r.l[s]);
  }
}

static inline __attribute__ ((always_inline)) void
run_lanes (double *x, size_t n, unsigned n_channels, const unsigned n_lanes,
    double *state, size_t stride, const double *coef, size_t n_sections)
{
  for (size_t s = 0; s < n_sections; s += MOST_SECTIONS) {
    const size_t left = n_sections - s;
    const double *c = coef + s * TFX_SVF_COEF * TFX_GRID_FRAMES;
    double *m = state + s * stride, *l = m + n_sections * stride;

    if (left >= 4)
      run_some (x, n, n_channels, n_lanes, m, l, stride, c, 4);
    else if (left == 3)
      run_some (x, n, n_channels, n_lanes, m, l, stride, c, 3);
    else if (left == 2)
      run_some (x, n, n_channels, n_lanes, m, l, stride, c, 2);
    else
      run_some (x, n, n_channels, n_lanes, m, l, stride, c, 1);
  }
}
