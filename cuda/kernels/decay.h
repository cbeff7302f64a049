/* SPDX-License-Identifier: LGPL-2.1-or-later
 * decay.h: y[n] = x[n] + a y[n - 1], or the larger one of x[n] and a y[n - 1],
 * over the frames of a channel at once.
 *
 * Both compose: of frames that begin with y the end is e + a^m y, or the larger
 * one, with e the end of the same frames begun at rest.  A thread has a run of
 * frames, a block of threads a tile; a tile publishes its e and gets its y from
 * those before it, as in carry.h: tiles are handed out in the order of time, 32
 * of them are a node, and what is combined depends on the place alone.  The
 * first tile of a node publishes the y at its start.
 *
 * All numbers are finite and at least 0. */
#ifndef TFX_KERNEL_DECAY_H
#define TFX_KERNEL_DECAY_H

#include "unit-args.h"
#include "real.h"

/* Where the carries of a decay of one channel are. */
struct DecayCarry
{
  volatile tfx_u64 *tiles, *starts;
  unsigned tile, n_tiles, epoch;
};

template <bool MAX>
TFX_DEVICE_FN double
decay_join (double power, double before, double e)
{
  if (MAX) {
    double held = __dmul_rn (power, before);

    return e > held ? e : held;
  }
  return __fma_rn (power, before, e);
}

/* The first of powers to an exponent below 64. */
TFX_DEVICE_FN double
decay_power (const double *powers, unsigned exponent)
{
  double power = 1.0;

#pragma unroll
  for (unsigned i = 0; i < 6; i++) {
    double with = __dmul_rn (power, powers[i]);

    power = exponent >> i & 1 ? with : power;
  }
  return power;
}

/* Inclusive, over lanes that are 2^i runs long each. */
template <bool MAX>
TFX_DEVICE_FN double
decay_scan_lanes (const double *powers, unsigned lane, double e)
{
#pragma unroll
  for (unsigned i = 0; i < 5; i++) {
    double before = real_shuffle_up (e, 1u << i, TFX_WARP);
    double both = decay_join<MAX> (powers[i], before, e);

    e = lane >= 1u << i ? both : e;
  }
  return e;
}

/* A number is two words with a tag, stride apart: see carry.h. */
TFX_DEVICE_FN void
decay_publish (volatile tfx_u64 *slot, size_t stride, unsigned epoch, double e)
{
  tfx_u64 tag = (tfx_u64)epoch << 32;
  unsigned high, low;

  real_split (e, &high, &low);
  slot[0] = tag | high;
  slot[stride] = tag | low;
}

/* Waits until it is there, on the lanes that want it; 0 on the others. */
TFX_DEVICE_FN double
decay_take (const volatile tfx_u64 *slot, size_t stride, bool wanted,
    unsigned epoch)
{
  bool ready = !wanted;
  double e = 0.0;

#pragma unroll 1
  for (;;) {
    if (!ready) {
      tfx_u64 high = slot[0], low = slot[stride];

      ready = (unsigned)(high >> 32) == epoch && (unsigned)(low >> 32) == epoch;
      real_join ((unsigned)high, (unsigned)low, &e);
    }
    if (__all_sync (TFX_ALL_LANES, ready))
      return e;
    while (!ready && (unsigned)(slot[stride] >> 32) != epoch)
      TFX_SLEEP (100);
  }
}

/* y at the start of the tile, on all lanes of a warp; state: of the block. */
template <bool MAX>
TFX_DEVICE_FN double
decay_look_back (const DecayCarry &carry, const TfxDecay &decay, unsigned lane,
    double state)
{
  const double *powers = decay.powers + TFX_DECAY_TILE;
  unsigned node = carry.tile / TFX_UNIT_NODE;
  unsigned n = carry.tile % TFX_UNIT_NODE;
  unsigned from = n == 0 && node > 0 ? node - 1 : node;
  unsigned n_nodes = (carry.n_tiles + TFX_UNIT_NODE - 1) / TFX_UNIT_NODE;
  double e, start;

  n = from < node ? TFX_UNIT_NODE : n;
  e = decay_take (carry.tiles + from * TFX_UNIT_NODE + (lane < n ? lane : 0),
      carry.n_tiles, lane < n, carry.epoch);
  start = decay_take (carry.starts + from, n_nodes, lane == 0 && from > 0,
      carry.epoch);
  start = from > 0 ? start : state;
  e = __dmul_rn (decay_power (powers, lane < n ? n - 1 - lane : 0), e);
  start = decay_join<MAX> (decay_power (powers, n), start, e);
  e = lane == 0 ? start : e;
  /* The sum, or the maximum, of the values of all lanes. */
#pragma unroll
  for (unsigned i = 0; i < 5; i++) {
    double before = real_shuffle_up (e, 1u << i, TFX_WARP);
    double both = decay_join<MAX> (1.0, before, e);

    e = lane >= 1u << i ? both : e;
  }
  e = real_shuffle (e, 31);
  if (from < node && lane == 0)
    decay_publish (carry.starts + node, n_nodes, carry.epoch, e);
  return e;
}

/* Returns y before the thread's run, with the inputs x. All threads of the block
 * take part; room: TFX_UNIT_ROOM numbers for this function. */
template <bool MAX>
TFX_DEVICE_FN double
decay_start (const double (&x)[TFX_UNIT_RUN], const TfxDecay &decay,
    const DecayCarry &carry, double state, double *room)
{
  const unsigned n_warps = TFX_UNIT_THREADS / TFX_WARP;
  unsigned lane = threadIdx.x % TFX_WARP, warp = threadIdx.x / TFX_WARP;
  const double warp_power = decay.powers[TFX_DECAY_WARP];
  double e = x[0], before;

#pragma unroll
  for (int i = 1; i < TFX_UNIT_RUN; i++)
    e = decay_join<MAX> (decay.once, e, x[i]);
  e = decay_scan_lanes<MAX> (decay.powers, lane, e);
  before = real_shuffle_up (e, 1, TFX_WARP);
  if (lane == TFX_WARP - 1)
    room[warp] = e;
  __syncthreads ();
  if (carry.n_tiles > 1) {
    if (warp == 0) {
      double all = room[0];

#pragma unroll 1
      for (unsigned i = 1; i < n_warps; i++)
        all = decay_join<MAX> (warp_power, all, room[i]);
      if (lane == 0 && carry.tile + 1 < carry.n_tiles)
        decay_publish (carry.tiles + carry.tile, carry.n_tiles, carry.epoch,
            all);
      state = decay_look_back<MAX> (carry, decay, lane, state);
      if (lane == 0)
        room[n_warps] = state;
    }
    __syncthreads ();
    state = room[n_warps];
  }
#pragma unroll 1
  for (unsigned i = 0; i < warp; i++)
    state = decay_join<MAX> (warp_power, state, room[i]);
  return decay_join<MAX> (decay_power (decay.powers, lane), state,
      lane > 0 ? before : 0.0);
}

#endif
