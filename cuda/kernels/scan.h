/* SPDX-License-Identifier: LGPL-2.1-or-later
 * scan.h: the state of a group of sections, carried along the lanes of a warp.
 *
 * Element i of a channel (a segment, a tile, a node of tiles) takes the state
 * from s to A^m s + e[i], with one matrix A^m for all of them and e[i] the
 * state that the element's samples leave behind when it starts at rest.  A is
 * block lower triangular: section k is driven by sections 0 to k - 1.  So the
 * sections are taken in order; section k gets what the states of those before
 * it drive into it, and its own 2 x 2 recursion is a scan over the lanes
 * (Hillis and Steele) with the powers D^1, D^2, D^4 ... of its block.  The
 * order of all operations is fixed. */
#ifndef TFX_KERNEL_SCAN_H
#define TFX_KERNEL_SCAN_H

#include "args.h"
#include "real.h"

/* y += block x, a 2 x 2 block. */
template <typename R>
TFX_DEVICE_FN void
block_apply (const R *block, R x0, R x1, R &y0, R &y1)
{
  Pair<R> upper = ((const Pair<R> *)block)[0];
  Pair<R> lower = ((const Pair<R> *)block)[1];

  y0 = real_fma (upper.a, x0, real_fma (upper.b, x1, y0));
  y1 = real_fma (lower.a, x0, real_fma (lower.b, x1, y1));
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
  }
}

/* x = A^m x. */
template <typename R, int G>
TFX_DEVICE_FN void
power_apply_in_place (const R *power, R (&x)[2 * G])
{
#pragma unroll
  for (int k = G - 1; k >= 0; k--) {
    R y0, y1;

    real_set (0.0f, &y0);
    real_set (0.0f, &y1);
    block_apply (power + 4 * k, x[2 * k], x[2 * k + 1], y0, y1);
#pragma unroll
    for (int i = 0; i < k; i++)
      block_apply (power + 4 * (G + k * (k - 1) / 2 + i), x[2 * i],
          x[2 * i + 1], y0, y1);
    x[2 * k] = y0;
    x[2 * k + 1] = y1;
  }
}

/* On n_lanes neighbouring lanes, of which this one is the lane-th:
 *
 *   v in:  e of the lane's element    out: the state at its end
 *   s in:  on lane 0, the first state out: the state at its start
 *
 * powers holds A^(2^i), m = 2^m_log2.  The lanes before `from` are cut off
 * from this one; a lane with reset set leaves the state zero. */
template <typename R, int G>
TFX_DEVICE_FN void
scan_lanes (const R *powers, unsigned m_log2, unsigned n_lanes, unsigned lane,
    unsigned from, bool reset, R (&v)[2 * G], R (&s)[2 * G])
{
  const R *unit = powers + m_log2 * TFX_POWER_SIZE (G);

#pragma unroll
  for (int k = 0; k < G; k++) {
    R v0 = v[2 * k], v1 = v[2 * k + 1];
    const R *diagonal = unit + 4 * k;

#pragma unroll
    for (int i = 0; i < k; i++)
      block_apply (unit + 4 * (G + k * (k - 1) / 2 + i), s[2 * i], s[2 * i + 1],
          v0, v1);
    if (lane == 0)
      block_apply (diagonal, s[2 * k], s[2 * k + 1], v0, v1);
    if (reset) {
      real_set (0.0f, &v0);
      real_set (0.0f, &v1);
    }
#pragma unroll 1
    for (unsigned d = 1; d < n_lanes; d *= 2) {
      R u0 = real_shuffle_up (v0, d, n_lanes);
      R u1 = real_shuffle_up (v1, d, n_lanes);

      if (lane >= from + d)
        block_apply (diagonal, u0, u1, v0, v1);
      diagonal += TFX_POWER_SIZE (G);
    }
    v[2 * k] = v0;
    v[2 * k + 1] = v1;
    v0 = real_shuffle_up (v0, 1, n_lanes);
    v1 = real_shuffle_up (v1, 1, n_lanes);
    if (lane > 0) {
      s[2 * k] = v0;
      s[2 * k + 1] = v1;
    }
  }
}

#endif
