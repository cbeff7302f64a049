/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-samples_tmpl.c: samples as they come and go; see
 * convolver-ops_tmpl.c. */

static void
OP (add) (void *y_io, const void *a_in, size_t n)
{
  const T *a = a_in;
  T *y = y_io;
  size_t i = 0;

  for (; i + LANES <= n; i += LANES)
    v (storeu) (y + i, v (add) (v (loadu) (y + i), v (loadu) (a + i)));
  for (; i < n; i++)
    y[i] += a[i];
}

/* n_channels vectors, a power of two, of interleaved values become one of each
 * channel: the even vector halves are separated log2 (n_channels) times. */
INLINE void
OP (unzip_all) (V *x, const unsigned n_channels)
{
  V y[8];

#pragma GCC unroll 3
  for (unsigned step = 1; step < n_channels; step *= 2) {
#pragma GCC unroll 4
    for (unsigned i = 0; i < n_channels / 2; i++)
      v (unzip) (x[2 * i], x[2 * i + 1], &y[i], &y[n_channels / 2 + i]);
#pragma GCC unroll 8
    for (unsigned i = 0; i < n_channels; i++)
      x[i] = y[i];
  }
}

INLINE void
OP (zip_all) (V *x, const unsigned n_channels)
{
  V y[8];

#pragma GCC unroll 3
  for (unsigned step = 1; step < n_channels; step *= 2) {
#pragma GCC unroll 4
    for (unsigned i = 0; i < n_channels / 2; i++)
      v (zip) (x[i], x[n_channels / 2 + i], &y[2 * i], &y[2 * i + 1]);
#pragma GCC unroll 8
    for (unsigned i = 0; i < n_channels; i++)
      x[i] = y[i];
  }
}

/* For lanes and a power of two channels. */
INLINE size_t
OP (deinterleave_lanes) (T *to, size_t stride, const T *from,
    const unsigned n_channels, size_t n)
{
  size_t i = 0;

  for (; i + LANES <= n; i += LANES) {
    V x[8];
#pragma GCC unroll 8
    for (unsigned k = 0; k < n_channels; k++)
      x[k] = v (loadu) (from + i * n_channels + k * LANES);
    OP (unzip_all) (x, n_channels);
#pragma GCC unroll 8
    for (unsigned k = 0; k < n_channels; k++)
      v (storeu) (to + k * stride + i, x[k]);
  }
  return i;
}

INLINE size_t
OP (interleave_lanes) (T *to, const T *from, size_t stride,
    const unsigned n_channels, size_t n)
{
  size_t i = 0;

  for (; i + LANES <= n; i += LANES) {
    V x[8];
#pragma GCC unroll 8
    for (unsigned k = 0; k < n_channels; k++)
      x[k] = v (loadu) (from + k * stride + i);
    OP (zip_all) (x, n_channels);
#pragma GCC unroll 8
    for (unsigned k = 0; k < n_channels; k++)
      v (storeu) (to + i * n_channels + k * LANES, x[k]);
  }
  return i;
}

static void
OP (deinterleave) (void *to_out, size_t stride, const void *from_in,
    unsigned n_channels, size_t n)
{
  const T *from = from_in;
  T *to = to_out;
  size_t done = 0;

  if (n_channels == 2)
    done = OP (deinterleave_lanes) (to, stride, from, 2, n);
  else if (n_channels == 4)
    done = OP (deinterleave_lanes) (to, stride, from, 4, n);
  else if (n_channels == 8)
    done = OP (deinterleave_lanes) (to, stride, from, 8, n);
  for (unsigned k = 0; k < n_channels; k++) {
    for (size_t i = done; i < n; i++)
      to[k * stride + i] = from[i * n_channels + k];
  }
}

static void
OP (interleave) (void *to_out, const void *from_in, size_t stride,
    unsigned n_channels, size_t n)
{
  const T *from = from_in;
  T *to = to_out;
  size_t done = 0;

  if (n_channels == 2)
    done = OP (interleave_lanes) (to, from, stride, 2, n);
  else if (n_channels == 4)
    done = OP (interleave_lanes) (to, from, stride, 4, n);
  else if (n_channels == 8)
    done = OP (interleave_lanes) (to, from, stride, 8, n);
  for (unsigned k = 0; k < n_channels; k++) {
    for (size_t i = done; i < n; i++)
      to[i * n_channels + k] = from[k * stride + i];
  }
}

/* x * SCALE is infinite where x is too large; and 0 times that, or times a
 * NaN, is a NaN, which stays in the sum. */
#define SCALE (sizeof (T) == 4 ? (T)0x1p28 : (T)0x1p24)

static bool
OP (is_sound) (const void *x_in, size_t n)
{
  const T *x = x_in;
  /* several sums, to hide the latency */
  V sums[4] = { v (set1) (0), v (set1) (0), v (set1) (0), v (set1) (0) };
  T lanes[LANES], sum = 0;
  size_t i = 0;

  for (; i + 4 * LANES <= n; i += 4 * LANES) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; k++)
      sums[k] =
          v (fma) (v (mul) (v (loadu) (x + i + k * LANES), v (set1) (SCALE)),
              v (set1) (0), sums[k]);
  }
  v (storeu) (lanes,
      v (add) (v (add) (sums[0], sums[1]), v (add) (sums[2], sums[3])));
  for (size_t k = 0; k < LANES; k++)
    sum += lanes[k];
  for (; i < n; i++)
    sum += x[i] * SCALE * 0;
  return sum == 0;
}

#undef SCALE
