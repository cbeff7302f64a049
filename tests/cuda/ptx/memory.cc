/* SPDX-License-Identifier: LGPL-2.1-or-later
 * memory.cc: loads, stores, atomics.
 *
 * An address of global memory is an address of the host.  Each access must be
 * aligned to its size and within an allocation. */
#include <cstdlib>

#include "ptx.h"

namespace ptx {
/* ---- addresses -------------------------------------------------------------------- */

/* Where an access of `size` bytes goes. */
static uint8_t *
place (Context &c, const Instruction &i, int lane, uint64_t at, unsigned size)
{
  if (at & (size - 1))
    fail (c, i, lane,
        "address " + hex (at) + " is not aligned to " + std::to_string (size));
  switch (i.space) {
    case S_PARAM:
      if (at + size > c.grid->args.size ())
        fail (c, i, lane, "beyond the parameters: " + hex (at));
      return c.grid->args.data () + at;
    case S_SHARED:
      if (at + size > c.block->shared.size ())
        fail (c, i, lane, "beyond the shared memory: " + hex (at));
      return c.block->shared.data () + at;
    default:
      break;
  }
  if (at < i.low || at + size > i.high) {
    Range range;
    if (!c.grid->launch->find (at, &range) || at + size > range.high)
      fail (c, i, lane, "outside of all allocations: " + hex (at));
    i.low = range.low;
    i.high = range.high;
  }
  return (uint8_t *)at;
}

/* 32-byte sectors that a warp's access of global memory touches. */
static uint64_t
count_sectors (uint32_t mask, const uint64_t *at)
{
  uint64_t seen[WARP]; /* an access is aligned: a lane has one sector */
  unsigned n = 0;

  for (uint32_t r = mask; r; r &= r - 1) {
    uint64_t sector = at[first_lane (r)] / 32;
    unsigned k = n;

    while (k > 0 && seen[k - 1] != sector)
      k--;
    if (k == 0)
      seen[n++] = sector;
  }
  return n;
}

/* Passes over the 32 banks of 4 bytes that an access of shared memory takes: as
 * many as the fullest bank has words, for 32, 16 or 8 lanes at a time.  And as
 * many as its words need at least. */
static void
count_passes (const Instruction &i, uint32_t mask, const uint64_t *at,
    unsigned size)
{
  int n_lanes = size <= 4 ? 32 : size <= 8 ? 16 : 8;

  for (int first = 0; first < WARP; first += n_lanes) {
    uint64_t words[32][32];
    int n[32] = {}, most = 0, all = 0;

    for (int l = first; l < first + n_lanes; l++) {
      if (!(mask >> l & 1))
        continue;
      for (uint64_t w = at[l] / 4; w < (at[l] + size + 3) / 4; w++) {
        int bank = (int)(w % 32), k = 0;
        while (k < n[bank] && words[bank][k] != w)
          k++;
        if (k < n[bank])
          continue;
        words[bank][n[bank]++] = w;
        most = n[bank] > most ? n[bank] : most;
        all++;
      }
    }
    i.n_passes += (uint64_t)most;
    i.n_ideal += (uint64_t)(all + 31) / 32;
  }
}

static void
touch (Context &c, const Instruction &i, uint32_t mask, const uint64_t *at)
{
  Touched &t = c.grid->touched[i.low / 32];
  std::vector<bool> &seen = i.kind == K_STORE_GLOBAL ? t.written : t.read;

  seen.resize (i.high / 32 - i.low / 32 + 1);
  for (uint32_t r = mask; r; r &= r - 1) {
    uint64_t address = at[first_lane (r)];
    if (address >= i.low && address < i.high)
      seen[address / 32 - i.low / 32] = true;
  }
}

static void
count_access (Context &c, const Instruction &i, uint32_t mask,
    const uint64_t *at, unsigned size)
{
  if (i.space == S_GLOBAL) {
    i.n_sectors += count_sectors (mask, at);
    touch (c, i, mask, at);
  } else if (i.space == S_SHARED) {
    count_passes (i, mask, at, size);
  }
}

/* What the lanes have as address; a target may overwrite the register.  One of 32 bits
 * may be less than 0 before the displacement is added, as compilers have it. */
static void
addresses (const Context &c, const Instruction &i, uint64_t (&at)[WARP])
{
  const uint8_t *from = c.base[i.s[0].is_constant] + i.s[0].offset;
  const uint64_t displacement = (uint64_t)i.displacement;

  for (int l = 0; l < WARP; l++)
    at[l] = i.narrow_address
                ? (uint32_t)(((const uint32_t *)from)[l] + displacement)
                : ((const uint64_t *)from)[l] + displacement;
}

/* R: the type in the register. */
template <typename T, typename R>
static void
load (Context &c, const Instruction &i, uint32_t mask)
{
  const Options &options = c.grid->launch->options;
  uint64_t at[WARP];
  bool hooks = (options.races || options.weak) && i.space != S_PARAM;
  unsigned size = sizeof (T) * i.n_vector;

  addresses (c, i, at);
  for (uint32_t r = mask; r; r &= r - 1) {
    int l = first_lane (r);
    const uint8_t *from = place (c, i, l, at[l], size);
    T v[4];

    if (hooks && options.races)
      race_access (c, i, l, at[l], size, false);
    if (hooks && options.weak && i.space == S_GLOBAL) {
      for (int k = 0; k < i.n_vector; k++)
        weak_load (c, i, at[l] + sizeof (T) * (unsigned)k, &v[k], sizeof (T));
    } else {
      memcpy (v, from, size);
    }
    for (int k = 0; k < i.n_vector; k++)
      ((R *)(c.registers + i.d[k].offset))[l] = (R)v[k];
  }
  if (options.counts)
    count_access (c, i, mask, at, size);
}

template <typename T, typename R>
static void
store (Context &c, const Instruction &i, uint32_t mask)
{
  const Options &options = c.grid->launch->options;
  uint64_t at[WARP];
  bool hooks = options.races || options.weak;
  unsigned size = sizeof (T) * i.n_vector;

  addresses (c, i, at);
  for (uint32_t r = mask; r; r &= r - 1) {
    int l = first_lane (r);
    uint8_t *to = place (c, i, l, at[l], size);
    T v[4];

    for (int k = 0; k < i.n_vector; k++)
      v[k] = (T)((
          const R *)(c.base[i.s[1 + k].is_constant] + i.s[1 + k].offset))[l];
    if (hooks && options.races)
      race_access (c, i, l, at[l], size, true);
    if (hooks && options.weak && i.space == S_GLOBAL) {
      for (int k = 0; k < i.n_vector; k++)
        weak_store (c, l, at[l] + sizeof (T) * (unsigned)k, &v[k], sizeof (T));
    } else {
      memcpy (to, v, size);
    }
  }
  if (options.counts)
    count_access (c, i, mask, at, size);
}

static void
atomic_add (Context &c, const Instruction &i, uint32_t mask)
{
  uint64_t at[WARP];
  const uint32_t *b =
      (const uint32_t *)(c.base[i.s[1].is_constant] + i.s[1].offset);
  uint32_t *d = (uint32_t *)(c.registers + i.d[0].offset);

  addresses (c, i, at);
  for (uint32_t r = mask; r; r &= r - 1) {
    int l = first_lane (r);
    uint32_t *p = (uint32_t *)place (c, i, l, at[l], 4);
    uint32_t old;

    weak_arrive (c, at[l], 4);
    if (c.grid->launch->options.races)
      race_atomic (c, at[l]);
    old = *p;
    *p = old + b[l];
    d[l] = old;
  }
  if (c.grid->launch->options.counts)
    count_access (c, i, mask, at, 4);
}

/* It reads nothing, so it neither races nor counts.  Its address must be in an
 * allocation, which a device does not check: a prefetch outside is a mistake. */
static void
prefetch (Context &c, const Instruction &i, uint32_t mask)
{
  uint64_t at[WARP];

  addresses (c, i, at);
  for (uint32_t r = mask; r; r &= r - 1) {
    int l = first_lane (r);
    place (c, i, l, at[l], 1);
  }
}

Operation
find_prefetch (void)
{
  return prefetch;
}

template <typename T>
static Operation
load_of (bool wide)
{
  /* Signed numbers keep their sign. */
  typedef typename std::conditional<std::is_signed<T>::value, int64_t,
      uint64_t>::type Wide;
  typedef typename std::conditional<std::is_signed<T>::value, int32_t,
      uint32_t>::type Narrow;

  return wide ? (Operation)load<T, Wide> : (Operation)load<T, Narrow>;
}

template <typename T>
static Operation
store_of (bool wide)
{
  return wide ? (Operation)store<T, uint64_t> : (Operation)store<T, uint32_t>;
}

Operation
find_load (const std::string &type, bool wide)
{
  bool is_signed = type[0] == 's';

  switch (atoi (type.c_str () + 1)) {
    case 8:
      return is_signed ? load_of<int8_t> (wide) : load_of<uint8_t> (wide);
    case 16:
      return is_signed ? load_of<int16_t> (wide) : load_of<uint16_t> (wide);
    case 32:
      return is_signed ? load_of<int32_t> (wide) : load_of<uint32_t> (wide);
    case 64:
      return wide ? load<uint64_t, uint64_t> : nullptr;
    default:
      return nullptr;
  }
}

Operation
find_store (const std::string &type, bool wide)
{
  if (type == "atom.add.u32")
    return atomic_add;
  switch (atoi (type.c_str () + 1)) {
    case 8:
      return store_of<uint8_t> (wide);
    case 16:
      return store_of<uint16_t> (wide);
    case 32:
      return store_of<uint32_t> (wide);
    case 64:
      return wide ? store<uint64_t, uint64_t> : nullptr;
    default:
      return nullptr;
  }
}
} // namespace ptx
