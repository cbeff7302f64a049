/* SPDX-License-Identifier: LGPL-2.1-or-later
 * scan.h: the state of a group of sections, carried along the lanes of a warp.
 *
 * Element i of a channel (a segment, a tile, a node of tiles) takes the state
 * from s to A^m s + e[i], with one matrix A^m for all of them and e[i] the
 * state that the element's samples leave behind when it starts at rest.  A is
 * block lower triangular: section k is driven by sections 0 to k - 1.  So the
 * sections are computed in order; section k adds the contributions of the earlier
 * states, and its 2 x 2 recursion is a scan over the lanes
 * (Hillis and Steele) with the powers D^1, D^2, D^4 ... of its block.  The
 * order of all operations is fixed. */
#ifndef TFX_KERNEL_SCAN_H
#define TFX_KERNEL_SCAN_H

#include "matrix.h"
#include "table.h"

/* y += block x, a 2 x 2 block; the caller settles y. */
template <typename R>
TFX_DEVICE_FN void
block_apply (const R *block, R x0, R x1, R &y0, R &y1)
{
  Pair<R> upper = ((const Pair<R> *)block)[0];
  Pair<R> lower = ((const Pair<R> *)block)[1];

  y0 = real_gather (upper.a, x0, real_gather (upper.b, x1, y0));
  y1 = real_gather (lower.a, x0, real_gather (lower.b, x1, y1));
}

/* y += A^m x. */
template <typename R, int G>
TFX_DEVICE_FN void
power_apply (const R *power, const R (&x)[2 * G], R (&y)[2 * G])
{
#pragma unroll
  for (int k = 0; k < G; k++) {
#pragma unroll
    for (int i = 0; i < k; i++)
      block_apply (power + 4 * (G + k * (k - 1) / 2 + i), x[2 * i],
          x[2 * i + 1], y[2 * k], y[2 * k + 1]);
    block_apply (power + 4 * k, x[2 * k], x[2 * k + 1], y[2 * k], y[2 * k + 1]);
    y[2 * k] = real_settle (y[2 * k]);
    y[2 * k + 1] = real_settle (y[2 * k + 1]);
  }
}

/* v = D^d u + v on the lanes from `from` + d on, u being v d = 2^step lanes
 * before. */
template <typename R>
TFX_DEVICE_FN void
scan_step (const R *diagonal, unsigned d, unsigned n_lanes, unsigned lane,
    unsigned from, R &v0, R &v1)
{
  R u0 = real_shuffle_up (v0, d, n_lanes);
  R u1 = real_shuffle_up (v1, d, n_lanes);
  R w0 = v0, w1 = v1;

  if (real_is_short (R ())) {
    if (lane < from + d) {
      real_set (0.0f, &u0);
      real_set (0.0f, &u1);
    }
    block_apply (diagonal, u0, u1, v0, v1);
    return;
  }
  /* On all lanes, so that the numbers of the table can be uniform operands. */
  block_apply (diagonal, u0, u1, w0, w1);
  if (lane >= from + d) {
    v0 = real_settle (w0);
    v1 = real_settle (w1);
  }
}

/* A scan over n_lanes adjacent lanes; lane is the index of this one. */
struct Scan
{
  unsigned level; /* see table_level() */
  unsigned n_lanes, lane;
  unsigned from;   /* the lanes before it are cut off from this one */
  bool reset;      /* the lane leaves the state zero */
  unsigned result; /* the lane whose v is wanted */
};

/*   v in:  e of the lane's element    out: the state at its end
 *   s in:  on lane 0, the first state out: the state at its start */
template <typename R, int G, bool FIXED>
TFX_DEVICE_FN void
scan_lanes (const R *level, const Scan &scan, R (&v)[2 * G], R (&s)[2 * G])
{
  /* Without a loop and its branches where the arithmetic is fast, if registers are
   * left for the numbers that then are loaded ahead. */
  const bool is_plain =
      TFX_HAS_MATRIX && real_is_short (R ()) && (FIXED || G == TFX_GROUP_MAX);

#pragma unroll
  for (int k = 0; k < G; k++) {
    const R *diagonal = level + 4 * k;
    R v0 = v[2 * k], v1 = v[2 * k + 1], w0, w1;

#pragma unroll
    for (int i = 0; i < k; i++)
      block_apply (table_below<R, G, FIXED> (level, k, i), s[2 * i],
          s[2 * i + 1], v0, v1);
    w0 = v0;
    w1 = v1;
    block_apply (diagonal, s[2 * k], s[2 * k + 1], w0, w1);
    v0 = real_settle (scan.lane == 0 ? w0 : v0);
    v1 = real_settle (scan.lane == 0 ? w1 : v1);
    if (scan.reset) {
      real_set (0.0f, &v0);
      real_set (0.0f, &v1);
    }
    /* Of fewer lanes the last steps change none. */
#pragma unroll(is_plain ? 5 : 1)
    for (unsigned d = 1; d < (is_plain ? TFX_WARP : scan.n_lanes); d *= 2) {
      scan_step (diagonal, d, scan.n_lanes, scan.lane, scan.from, v0, v1);
      diagonal += table_diagonal_stride<G, FIXED> ();
    }
    v[2 * k] = v0;
    v[2 * k + 1] = v1;
    v0 = real_shuffle_up (v0, 1, scan.n_lanes);
    v1 = real_shuffle_up (v1, 1, scan.n_lanes);
    if (scan.lane > 0) {
      s[2 * k] = v0;
      s[2 * k + 1] = v1;
    }
  }
}

#endif
