/* SPDX-License-Identifier: LGPL-2.1-or-later
 * filter.h: the sections of a group over a thread's segment, step 3 of
 * cascade.h. */
#ifndef TFX_KERNEL_FILTER_H
#define TFX_KERNEL_FILTER_H

#include "table.h"
#include "tile.h"

/* CASCADE_RUN samples through one section, in place, in the forms of args.h.  s2
 * is what the past adds to the next s but one; between the first sample and the
 * last it is put in its place, so that the recursion from s to s is one
 * multiply-add deep. */
template <typename R, bool NORMALISED>
TFX_DEVICE_FN void
section_run (const R *section, R (&x)[CASCADE_RUN], R &s, R &s2)
{
  Pair<R> c = ((const Pair<R> *)section)[0];
  Pair<R> a = ((const Pair<R> *)section)[1];
  R b0 = section[4], a1 = real_neg (a.a), a2 = real_neg (a.b);
  R x1 = x[0], s1 = s;

#pragma unroll
  for (int n = 0; n < CASCADE_RUN; n++) {
    R x0 = x[n], t = NORMALISED ? x0 : real_mul (c.a, x0);

    x[n] = NORMALISED ? real_fma (c.a, s, x0) : real_fma (b0, x0, s);
    if (n == 0)
      t = real_add (t, s2);
    else
      t = real_gather (c.b, x1, real_gather (a2, s1, t));
    s1 = s;
    s = real_settle (real_gather (a1, s, t));
    x1 = x0;
  }
  s2 = real_fma (c.b, x1, real_mul (a2, s1));
}

/* From stash, as cascade_filter has it. */
template <typename R, int G>
TFX_DEVICE_FN void
state_store (const TfxCascadeArgs &args, const R *head, unsigned channel,
    unsigned group, const R *stash)
{
  double *state = args.state_out +
                  ((size_t)channel * args.n_sections + (size_t)group * G) * 2;
  unsigned left = args.n_sections - group * G;
  int n = left < G ? 2 * (int)left : 2 * G;
  bool finite = true;

#pragma unroll 1
  for (int i = 0; i < 2 * G; i++)
    finite = finite && real_is_finite (stash[i * TFX_WARP]);
  if (!finite)
    args.cleared[channel] = 1;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    R scale = head[TFX_TABLE_SCALE (G) + i / 2 * 2 + 1];

    state[i] =
        finite ? real_to_double (real_mul (stash[i * TFX_WARP], scale)) : 0.0;
  }
}

/* The last samples of a channel, less than CASCADE_RUN of them at `rest`, one by one,
 * from what is in stash to the state at the end of the launch. */
template <typename W, typename R, int G, bool NORMALISED>
TFX_DEVICE_FN void
cascade_end (W *rest, const R *head, unsigned n, R *stash)
{
#pragma unroll 1
  for (unsigned i = 0; i < n; i++) {
    R x;

    real_set (rest[i], &x);
#pragma unroll 1
    for (int k = 0; k < G; k++) {
      const R *c = head + 6 * k;
      R s0 = stash[2 * k * TFX_WARP], s2 = stash[(2 * k + 1) * TFX_WARP];
      R y = NORMALISED ? real_fma (c[0], s0, x) : real_fma (c[4], x, s0);

      s2 = NORMALISED ? real_add (x, s2) : real_fma (c[0], x, s2);
      stash[2 * k * TFX_WARP] = real_fma (real_neg (c[2]), s0, s2);
      stash[(2 * k + 1) * TFX_WARP] =
          real_fma (c[1], x, real_mul (real_neg (c[3]), s0));
      x = y;
    }
    real_get (real_mul (head[TFX_TABLE_GAIN (G)], x), &rest[i]);
  }
}

/* Step 3, over the frames of the thread's segment that are in shared memory,
 * `begin` and those behind it, from s, the plain s and s2 of the sections, which
 * it leaves for the next ones.  Where an operation is long these are in stash, so
 * that the sections are a loop and not as many times its code. */
template <typename W, typename R, int G, bool NORMALISED>
TFX_DEVICE_FN void
cascade_filter (const TfxCascadeArgs &args, const volatile Tile &tile,
    unsigned begin, W *segment, const R *head, unsigned group, R *stash,
    R (&s)[2 * G])
{
  unsigned last = tile.n_frames - 1, end_at = ~0u;
  unsigned end = begin + (1u << args.round_log2);
  unsigned in_tile = threadIdx.x >> args.lanes_log2;
  unsigned lane = threadIdx.x & ((1u << args.lanes_log2) - 1);
  R gain = head[TFX_TABLE_GAIN (G)];

  /* Where the channel's last run of samples begins that is not whole.  Nothing
   * behind it counts. */
  if (tile.index + 1 == args.n_tiles && lane == last >> args.segment_log2 &&
      in_tile < tile.n_channels)
    end_at =
        ((last & ((1u << args.segment_log2) - 1)) + 1) & ~(CASCADE_RUN - 1u);
  if (!real_is_short (R ()) && begin == 0) {
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      stash[i * TFX_WARP] = s[i];
  }
#pragma unroll 1
  for (unsigned n = begin;; n += CASCADE_RUN, segment += CASCADE_RUN) {
    R x[CASCADE_RUN];

    /* What begins here is the next ones'. */
    if (n == end && !(n >> args.segment_log2))
      break;
    if (n == end_at) {
      if (real_is_short (R ())) {
#pragma unroll
        for (int i = 0; i < 2 * G; i++)
          stash[i * TFX_WARP] = s[i];
      }
      cascade_end<W, R, G, NORMALISED> (segment, head,
          tile.n_frames & (CASCADE_RUN - 1), stash);
      state_store<R, G> (args, head, tile.channel + in_tile, group, stash);
      break;
    }
    if (n == end)
      break;
#pragma unroll
    for (int i = 0; i < CASCADE_RUN; i++)
      real_set (segment[i], &x[i]);
    if (real_is_short (R ())) {
#pragma unroll
      for (int k = 0; k < G; k++)
        section_run<R, NORMALISED> (head + 6 * k, x, s[2 * k], s[2 * k + 1]);
    } else {
#pragma unroll 1
      for (int k = 0; k < G; k++) {
        R s0 = stash[2 * k * TFX_WARP], s2 = stash[(2 * k + 1) * TFX_WARP];

        section_run<R, NORMALISED> (head + 6 * k, x, s0, s2);
        stash[2 * k * TFX_WARP] = s0;
        stash[(2 * k + 1) * TFX_WARP] = s2;
      }
    }
#pragma unroll
    for (int i = 0; i < CASCADE_RUN; i++)
      real_get (real_mul (gain, x[i]), &segment[i]);
  }
}

#endif
