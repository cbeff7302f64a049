/* SPDX-License-Identifier: LGPL-2.1-or-later
 * segments_tmpl.c: the form segments; part of cascade_tmpl.c.
 *
 * A group is W / L segments of TFX_SEGMENT_FRAMES frames, one after the other
 * in the stream, of L channels; they lie side by side in the lanes.  Each
 * segment is run from rest; a scan over the lanes finds the state at the start
 * of each; and what that state adds to the outputs is added.  The state of the
 * whole comes in last, so that the recursion from group to group is two
 * multiply-adds deep.
 *
 * Some groups are run side by side, because the steps within one wait for each
 * other.  What is computed for a group does not depend on how many. */

#define SEGMENT TFX_SEGMENT_FRAMES
#define SEGMENT_GROUPS 4

/* Where a load can spread a number over the lanes, the compiler had better
 * read the coefficients again for the next groups than keep them on the stack. */
#if V_HAS_FMA
#define SEGMENT_RELOAD(c) __asm__("" : "+r"(c))
#else
#define SEGMENT_RELOAD(c)
#endif

/* (u, d) at the end, or before the start, of each segment of a group. */
typedef struct SegmentState
{
  V u, d;
} SegmentState;

/* The state of the whole between two groups: s in all lanes, and the last
 * frame in the last lanes of x. */
typedef struct SegmentCarry
{
  SegmentState s;
  V x;
} SegmentCarry;

/* a + (m[0] u + m[1] d, m[2] u + m[3] d); what is large, u, comes last and is
 * rounded once. */
static inline __attribute__ ((always_inline)) SegmentState
segment_add (SegmentState a, const V m[4], SegmentState s)
{
  return (SegmentState){ v_fma (m[0], s.u, v_fma (m[1], s.d, a.u)),
    v_fma (m[3], s.d, v_fma (m[2], s.u, a.d)) };
}

static inline __attribute__ ((always_inline)) void
segment_matrix (V m[4], const double *numbers)
{
#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; i++)
    m[i] = v_set1 (numbers[i]);
}

/* K groups from rest, in place. */
static inline __attribute__ ((always_inline)) void
segments_from_rest (double *x, const TfxSegmentCoef *c, SegmentCarry *carry,
    SegmentCarry *before, SegmentState *end, const unsigned L, const unsigned K)
{
  const V feed = v_set1 (c->c), r = v_set1 (c->r);
  const V na1 = v_set1 (c->na1), na2 = v_set1 (c->na2);
  V u[SEGMENT_GROUPS], u_before[SEGMENT_GROUPS], x_before[SEGMENT_GROUPS];

#pragma GCC unroll 4
  for (unsigned k = 0; k < K; k++) {
    V last = v_load (x + ((k + 1) * SEGMENT - 1) * W);
    x_before[k] = v_shift_in (last, carry->x, L);
    before->x = carry->x;
    carry->x = last;
    u[k] = u_before[k] = v_set1 (0.0);
  }
#pragma GCC unroll 8
  for (unsigned j = 0; j < SEGMENT; j++) {
#pragma GCC unroll 4
    for (unsigned k = 0; k < K; k++) {
      double *row = x + (k * SEGMENT + j) * W;
      V v = v_load (row);
      V next = v_fma (r, x_before[k], v);

      if (j > 0) {
        if (j > 1)
          next = v_fma (na2, u_before[k], next);
        next = v_fma (na1, u[k], next);
        v_store (row, v_fma (feed, u[k], v));
      }
      u_before[k] = u[k];
      u[k] = next;
      x_before[k] = v;
    }
  }
#pragma GCC unroll 4
  for (unsigned k = 0; k < K; k++)
    end[k] =
        (SegmentState){ u[k], v_fnma (v_set1 (c->sign), u_before[k], u[k]) };
}

/* From the states at the end of each segment, each from rest, those before
 * each, and the group's own in its last lanes: both as if the group began at
 * rest. */
static inline __attribute__ ((always_inline)) void
segments_scan (const TfxSegmentCoef *c, SegmentState *end, SegmentState *start,
    const unsigned L, const unsigned K)
{
  const V zero = v_set1 (0.0);
  V m[4];

#pragma GCC unroll 4
  for (unsigned k = 0; k < K; k++)
    start[k] = (SegmentState){ v_shift_in (end[k].u, zero, L),
      v_shift_in (end[k].d, zero, L) };
#pragma GCC unroll 3
  for (unsigned level = 0; (1u << level) + 1 < W / L; level++) {
    segment_matrix (m, c->power[level]);
#pragma GCC unroll 4
    for (unsigned k = 0; k < K; k++) {
      SegmentState s = { v_shift_in (start[k].u, zero, L << level),
        v_shift_in (start[k].d, zero, L << level) };
      start[k] = segment_add (start[k], m, s);
    }
  }
  segment_matrix (m, c->power[0]);
#pragma GCC unroll 4
  for (unsigned k = 0; k < K; k++) {
    end[k] = segment_add (end[k], m, start[k]);
    end[k] = (SegmentState){ v_repeat_last (end[k].u, L),
      v_repeat_last (end[k].d, L) };
  }
}

/* Adds the state of the whole, and takes it to the end. */
static inline __attribute__ ((always_inline)) void
segments_carry (const TfxSegmentCoef *c, const double *lanes, SegmentState *end,
    SegmentState *start, SegmentCarry *carry, SegmentCarry *before,
    const unsigned K)
{
  V m[4], p[4];

  segment_matrix (m, c->group);
#pragma GCC unroll 4
  for (unsigned i = 0; i < 4; i++)
    p[i] = v_load (lanes + i * W);
#pragma GCC unroll 4
  for (unsigned k = 0; k < K; k++) {
    start[k] = segment_add (start[k], p, carry->s);
    before->s = carry->s;
    carry->s = segment_add (end[k], m, carry->s);
  }
}

/* What the states before the segments add to their outputs. */
static inline __attribute__ ((always_inline)) void
segments_respond (double *x, const TfxSegmentCoef *c, const SegmentState *start,
    const unsigned K)
{
#pragma GCC unroll 8
  for (unsigned j = 0; j < SEGMENT; j++) {
    const V p = v_set1 (c->p[j]), q = v_set1 (c->q[j]);
#pragma GCC unroll 4
    for (unsigned k = 0; k < K; k++) {
      double *row = x + (k * SEGMENT + j) * W;
      V y = v_load (row);
      if (j > 0) /* q[0] = 0 */
        y = v_fma (q, start[k].d, y);
      y = v_fma (p, start[k].u, y);
      v_store (row, y);
    }
  }
}

/* K groups.  *before is the carry before the last of them. */
static inline __attribute__ ((always_inline)) void
segments_groups (double *x, const double *coef, SegmentCarry *carry,
    SegmentCarry *before, const unsigned L, const unsigned K)
{
  const TfxSegmentCoef *c = (const TfxSegmentCoef *)coef;
  SegmentState end[SEGMENT_GROUPS], start[SEGMENT_GROUPS];

  SEGMENT_RELOAD (c);
  segments_from_rest (x, c, carry, before, end, L, K);
  segments_scan (c, end, start, L, K);
  segments_carry (c, (const double *)(c + 1), end, start, carry, before, K);
  segments_respond (x, c, start, K);
}

static inline __attribute__ ((always_inline)) void
run_segments (double *x, size_t n, bool is_unfinished, double *state,
    const double *coef, const unsigned L)
{
  SegmentCarry carry = { { v_repeat (state, L), v_repeat (state + L, L) },
    v_repeat (state + 2 * L, L) };
  SegmentCarry before = carry;

  for (; n >= SEGMENT_GROUPS; n -= SEGMENT_GROUPS) {
    segments_groups (x, coef, &carry, &before, L, SEGMENT_GROUPS);
    x += SEGMENT_GROUPS * SEGMENT * W;
  }
  switch (n) {
    case 3:
      segments_groups (x, coef, &carry, &before, L, 3);
      break;
    case 2:
      segments_groups (x, coef, &carry, &before, L, 2);
      break;
    case 1:
      segments_groups (x, coef, &carry, &before, L, 1);
      break;
  }
  if (is_unfinished)
    carry = before;
  v_store_first (state, carry.s.u, L);
  v_store_first (state + L, carry.s.d, L);
  v_store_first (state + 2 * L, v_repeat_last (carry.x, L), L);
}

static void
KERNEL (segments1) (double *x, size_t n, bool is_unfinished, double *state,
    const double *coef)
{
  run_segments (x, n, is_unfinished, state, coef, 1);
}

#if W > 2
static void
KERNEL (segments2) (double *x, size_t n, bool is_unfinished, double *state,
    const double *coef)
{
  run_segments (x, n, is_unfinished, state, coef, 2);
}
#endif
