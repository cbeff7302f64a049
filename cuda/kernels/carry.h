/* SPDX-License-Identifier: LGPL-2.1-or-later
 * carry.h: carries the state from tile to tile of a channel in one pass.
 *
 * A ticket assigns tiles in the order of time, so a tile waits only for tiles of
 * blocks that already run.  32 tiles are a node, 32 nodes a super node.  Three
 * states are published for each group of sections:
 *
 *   tile    the zero-state response at the end of a tile; by the tile
 *   node    the zero-state response at the end of a node; by its last tile
 *   start   the state at the start of a node; by its first tile
 *
 * The state at the start of a tile is always computed from the start of its node
 * and all earlier tiles of the node; that of a node from the start of its super
 * node and all earlier nodes there; that of a super node from the start and the end
 * of the node before it.  Operands and their order depend only on the position,
 * never on timing, so that two runs give the same bits.  The longest chain of waits
 * is two per super node.
 *
 * A value is sent in words of 8 bytes: 4 bytes of the value and a tag, the epoch of
 * the launch.  A word is written atomically, so a reader that finds the tag has the
 * value: this needs no fence, no flag and no clearing between launches.  The lowest
 * bit of the tag marks a value that is not finite; the filter then restarts after
 * it. */
#ifndef TFX_KERNEL_CARRY_H
#define TFX_KERNEL_CARRY_H

#include "scan.h"

/* Where the carries of one channel and group are, and the launch's epoch. */
struct Carry
{
  volatile tfx_u64 *tiles, *nodes, *starts;
  unsigned epoch;
};

template <int G>
TFX_DEVICE_FN Carry
carry_of (const TfxCascadeArgs &args, unsigned channel, unsigned group,
    unsigned epoch)
{
  size_t n_nodes = (args.n_tiles + 31) / 32;
  size_t n_super = n_nodes > 1 ? (n_nodes + 31) / 32 : 0;
  volatile tfx_u64 *at =
      args.carry + ((size_t)channel * args.n_groups + group) *
                       (n_nodes + 2 * n_super) * TFX_CARRY_WORDS (G);

  return Carry{ at, at + n_nodes * TFX_CARRY_WORDS (G),
    at + (n_nodes + n_super) * TFX_CARRY_WORDS (G), epoch };
}

/* The words of one number lie 32 apart, so that neighbouring lanes read
 * neighbouring places. */
template <int G>
TFX_DEVICE_FN volatile tfx_u64 *
carry_slot (volatile tfx_u64 *base, unsigned place)
{
  return base + (size_t)(place / 32) * TFX_CARRY_WORDS (G) + place % 32;
}

/* Returns true if v is finite. */
template <typename R, int G>
TFX_DEVICE_FN bool
carry_publish (volatile tfx_u64 *slot, unsigned epoch, const R (&v)[2 * G])
{
  bool finite = true;
  tfx_u64 tag;

#pragma unroll
  for (int i = 0; i < 2 * G; i++)
    finite = finite && real_is_finite (v[i]);
  tag = (tfx_u64)(epoch * 2 + (finite ? 0 : 1)) << 32;
#pragma unroll
  for (int i = 0; i < 2 * G; i++) {
    unsigned high, low;

    real_split (v[i], &high, &low);
    slot[(2 * i) * 32] = tag | high;
    slot[(2 * i + 1) * 32] = tag | low;
  }
  return finite;
}

/* Waits until the lane's slot is there, where it is wanted; v is zero where
 * not.  Returns true if it was not finite. */
template <typename R, int G>
TFX_DEVICE_FN bool
carry_take (const volatile tfx_u64 *slot, bool wanted, unsigned epoch,
    R (&v)[2 * G])
{
  bool reset = false, ready = false;

#pragma unroll 1
  for (;;) {
    if (!ready) {
      ready = true;
      if (wanted) {
#pragma unroll
        for (int i = 0; i < 2 * G; i++) {
          tfx_u64 high = slot[(2 * i) * 32], low = slot[(2 * i + 1) * 32];

          ready = ready && (unsigned)(high >> 33) == epoch &&
                  (unsigned)(low >> 33) == epoch;
          reset = (high >> 32) & 1;
          real_join ((unsigned)high, (unsigned)low, &v[i]);
        }
      }
    }
    if (__all_sync (TFX_ALL_LANES, ready))
      break;
    /* Waits for the word that is written last, not for all words. */
    while (!ready && (unsigned)(slot[(4 * G - 1) * 32] >> 33) != epoch)
      TFX_SLEEP (100);
  }
  if (!wanted || reset) {
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      real_set (0.0f, &v[i]);
  }
  return reset;
}

/* The caller keeps the state s1, s2 of the sections, the kernels s, s2 as in
 * args.h; the state that is carried is s and s2 + r s with r = -a1/2, the real part
 * of the poles. Near the real ends of the unit circle s2 is close to -r s while a
 * pair of poles rings, and the difference is the information. */
template <typename R, int G>
TFX_DEVICE_FN void
state_load (const TfxCascadeArgs &args, const R *head, unsigned channel,
    unsigned group, R (&s)[2 * G])
{
  const double *state;

  TFX_OPAQUE (group);
  state = args.state_in +
          ((size_t)channel * args.n_sections + (size_t)group * G) * 2;

#pragma unroll
  for (int i = 0; i < 2 * G; i++) {
    R x, scale = head[TFX_TABLE_SCALE (G) + i / 2 * 2];

    real_set (group * G + i / 2 < args.n_sections ? state[i] : 0.0, &x);
    s[i] = real_mul (x, scale);
    if (i % 2 == 1)
      s[i] = real_fma (head[6 * (i / 2) + 5], s[i - 1], s[i]);
  }
}

/* Steps 1 to 3 of the state at the start of a tile (cascade.h): the values to scan,
 * from the carry of the lane. All lanes of the warp take part; the carry of the
 * tile has been published. False if the tile has no such step. */
template <typename R, int G>
TFX_DEVICE_FN bool
carry_gather (const TfxCascadeArgs &args, const Carry &carry, const R *head,
    unsigned channel, unsigned group, unsigned tile, int step, Scan &scan,
    R (&v)[2 * G])
{
  const volatile tfx_u64 *slot;
  unsigned node = tile / 32, in_node = tile % 32, in_super = node % 32;
  unsigned resets;
  bool is_first = false;

  scan.level = 1;
  if (step == 1) {
    /* The node that ends with this tile: 32 tiles. */
    if (in_node != 31 || tile + 1 == args.n_tiles)
      return false;
    slot = carry_slot<G> (carry.tiles, node * 32 + scan.lane);
    scan.result = 31;
  } else if (step == 2) {
    /* The start of the node that begins with this tile. */
    unsigned start = in_super == 0 ? node - 1 : node - in_super;

    if (in_node != 0 || node == 0)
      return false;
    slot = scan.lane == 0 ? carry_slot<G> (carry.starts, start)
                          : carry_slot<G> (carry.nodes, start + scan.lane - 1);
    scan.result = node - start;
    scan.level = 2;
    is_first = scan.lane == 0 && node < 32;
  } else {
    slot = scan.lane == 0
               ? carry_slot<G> (carry.starts, node)
               : carry_slot<G> (carry.tiles, node * 32 + scan.lane - 1);
    scan.result = in_node;
    /* The start of node 0 is the start of the block. */
    is_first = scan.lane == 0 && node == 0;
  }

  scan.reset = carry_take<R, G> (slot, scan.lane <= scan.result && !is_first,
      carry.epoch, v);
  if (is_first)
    state_load<R, G> (args, head, channel, group, v);
  resets = __ballot_sync (TFX_ALL_LANES, scan.reset);
  resets &= 0xffffffffu >> (31 - scan.lane);
  scan.from = resets ? 31 - (unsigned)__clz ((int)resets) : 0;
  return true;
}

/* Step 0 to 2: the lane that has what others wait for, s, publishes it. */
template <typename R, int G>
TFX_DEVICE_FN void
carry_hand_on (const TfxCascadeArgs &args, const Carry &carry, unsigned channel,
    unsigned tile, int step, const R (&s)[2 * G])
{
  volatile tfx_u64 *slot = step == 0 ? carry_slot<G> (carry.tiles, tile)
                           : step == 1
                               ? carry_slot<G> (carry.nodes, tile / 32)
                               : carry_slot<G> (carry.starts, tile / 32);

  if (!carry_publish<R, G> (slot, carry.epoch, s) && step == 0)
    args.cleared[channel] = 1;
}

#endif
