/* SPDX-License-Identifier: LGPL-2.1-or-later
 * order.cc: what orders accesses of memory.
 *
 * Races: two accesses of a word by two threads, one of them a write, with
 * nothing between that orders them: a barrier of the block, or one of the warp
 * (bar.warp.sync; a shuffle orders nothing).  Between blocks: a fence, then a
 * volatile store or an atomic; a volatile load or an atomic that finds it (of that
 * place, whatever its value), then a fence.
 *
 * Weak memory: stores of a block to global memory become visible to other blocks
 * late and in any order, until a fence.  A second load may return the old value,
 * unless it is volatile or cg, or a fence comes between. */
#include "ptx.h"

namespace ptx {
static uint32_t
barrier_of (const Context &c)
{
  return c.block->n_barriers + 1;
}

/* ---- races ------------------------------------------------------------------- */

static std::string
who (const Shadow &s, bool write)
{
  return write ? "block " + std::to_string (s.write_block) + " thread " +
                     std::to_string (s.write_thread)
               : "block " + std::to_string (s.read_block) + " warp " +
                     std::to_string (s.read_warp) + " lanes " +
                     hex (s.read_lanes);
}

/* ---- what blocks know of each other ----------------------------------------- */

typedef std::vector<uint32_t> Clock;

static void
merge (Clock &to, const Clock &from)
{
  if (to.size () < from.size ())
    to.resize (from.size ());
  for (size_t k = 0; k < from.size (); k++)
    to[k] = to[k] < from[k] ? from[k] : to[k];
}

/* A volatile store or an atomic hands over what was before the last fence. */
static void
hand_over (Context &c, uint64_t at)
{
  if (!c.block->fenced.empty ())
    merge (c.grid->handed[at], c.block->fenced);
}

/* A volatile load or an atomic receives the time; it counts after a fence. */
static void
hear (Context &c, uint64_t at)
{
  auto it = c.grid->handed.find (at);

  if (it != c.grid->handed.end ())
    merge (c.block->heard, it->second);
}

static void
clock_fence (Context &c)
{
  Block &b = *c.block;

  merge (b.clock, b.heard);
  b.fenced = b.clock;
  b.clock[b.index]++;
}

static bool
is_over (const Context &c, uint32_t block, uint32_t clock)
{
  return block == c.block->index || c.block->clock[block] >= clock;
}

/* The clocks at which blocks have read a word, those but the last that did. */
static void
keep_reader (Context &c, uint64_t at, uint32_t block, uint32_t clock)
{
  Clock &clocks = c.grid->readers[at];

  if (clocks.size () <= block)
    clocks.resize (block + 1);
  clocks[block] = clock;
}

static void
check_readers (Context &c, const Instruction &i, int lane, uint64_t at)
{
  auto it = c.grid->readers.find (at);

  if (it == c.grid->readers.end ())
    return;
  for (uint32_t k = 0; k < it->second.size (); k++) {
    if (it->second[k] > 0 && !is_over (c, k, it->second[k]))
      fail (c, i, lane,
          "writes what block " + std::to_string (k) +
              " has just read, unordered, at " + hex (at));
  }
}

static void
race_check (Context &c, const Instruction &i, int lane, Shadow &s, bool write,
    uint64_t at)
{
  unsigned block = c.block->index, warp = c.warp->index;
  unsigned thread = warp * WARP + (unsigned)lane;
  uint32_t barrier = barrier_of (c), sync = c.warp->n_syncs;

  if (s.launch != c.grid->id) {
    s = Shadow ();
    s.launch = c.grid->id;
  }
  if (s.write_barrier && !(s.write_volatile && i.is_volatile)) {
    bool unordered =
        s.write_block != block
            ? !is_over (c, s.write_block, s.write_clock)
            : s.write_barrier == barrier && s.write_thread != thread &&
                  (s.write_thread / WARP != warp || s.write_sync == sync);
    if (unordered)
      fail (c, i, lane,
          std::string (write ? "writes" : "reads") + " what " + who (s, true) +
              " has just written, unordered, at " + hex (at));
  }
  if (write && s.read_barrier && !i.is_volatile) {
    bool unordered =
        s.read_block != block
            ? !is_over (c, s.read_block, s.read_clock)
            : s.read_barrier == barrier &&
                  ((s.read_warps & ~(1u << (warp & 31))) ||
                      (s.read_warp == warp && s.read_sync == sync &&
                          (s.read_lanes & ~(1u << lane))));
    if (unordered)
      fail (c, i, lane,
          "writes what " + who (s, false) + " has just read, unordered, at " +
              hex (at));
  }
  if (write && !i.is_volatile && i.space == S_GLOBAL)
    check_readers (c, i, lane, at);
  if (write) {
    s.write_block = block;
    s.write_thread = thread;
    s.write_barrier = barrier;
    s.write_sync = sync;
    s.write_clock = c.block->clock[block];
    s.write_volatile = i.is_volatile;
  } else if (!i.is_volatile) {
    if (s.read_barrier && s.read_block != block && i.space == S_GLOBAL)
      keep_reader (c, at, s.read_block, s.read_clock);
    if (s.read_block != block || s.read_barrier != barrier) {
      s.read_block = block;
      s.read_barrier = barrier;
      s.read_warps = 0;
      s.read_warp = ~0u;
    }
    s.read_clock = c.block->clock[block];
    s.read_warps |= 1u << (warp & 31);
    if (s.read_warp != warp || s.read_sync != sync) {
      s.read_warp = warp;
      s.read_sync = sync;
      s.read_lanes = 0;
    }
    s.read_lanes |= 1u << lane;
  }
}

/* The words of each allocation. */
static std::map<uint64_t, std::vector<Shadow>> global_shadow;

void
race_access (Context &c, const Instruction &i, int lane, uint64_t at,
    unsigned size, bool write)
{
  Shadow *first;

  if (i.space == S_SHARED) {
    first = &c.block->shadow[at / 4];
  } else {
    auto &words = global_shadow[i.low];
    if (words.size () < (i.high - i.low) / 4 + 1)
      words.resize ((i.high - i.low) / 4 + 1);
    first = &words[(at - i.low) / 4];
  }
  if (i.space == S_GLOBAL && i.is_volatile) {
    if (write)
      hand_over (c, at);
    else
      hear (c, at);
  }
  /* Bytes of a word count as different ones: those of one byte are left out. */
  if (size < 4)
    return;
  for (unsigned k = 0; k < size / 4; k++)
    race_check (c, i, lane, first[k], write, at + 4 * k);
}

void
race_atomic (Context &c, uint64_t at)
{
  hear (c, at);
  hand_over (c, at);
}

/* ---- weak memory --------------------------------------------------------------- */

static bool
overlaps (const PendingStore &p, uint64_t at, unsigned size)
{
  return at < p.at + p.size && p.at < at + size;
}

static void
commit (Block &block, size_t which)
{
  PendingStore p = block.pending[which];

  memcpy ((void *)p.at, &p.data, p.size);
  block.pending.erase (block.pending.begin () + (long)which);
}

/* In any order, but those of one place as they came. */
void
memory_drain (Grid &grid, Block &block, size_t keep)
{
  while (block.pending.size () > keep) {
    size_t which = grid.random () % block.pending.size ();
    for (size_t k = 0; k < which; k++) {
      if (overlaps (block.pending[k], block.pending[which].at,
              block.pending[which].size)) {
        which = k;
        k = (size_t)-1;
      }
    }
    commit (block, which);
  }
}

/* Makes some pending stores visible, so that their number stays bounded. */
void
memory_settle (Grid &grid, Block &block)
{
  size_t n = block.pending.size (), few = grid.random () % 16;

  if (n > 0 && grid.random () % 2)
    memory_drain (grid, block, n > few ? n - few : 0);
  memory_drain (grid, block, 2048);
}

void
memory_fence (Context &c, uint32_t mask)
{
  Block &b = *c.block;
  uint32_t barrier = barrier_of (c);

  if (c.grid->launch->options.races)
    clock_fence (c);
  if (!c.grid->launch->options.weak)
    return;
  for (size_t k = 0; k < b.pending.size ();) {
    const PendingStore &p = b.pending[k];
    bool own = p.thread / WARP == c.warp->index &&
               ((mask >> (p.thread % WARP) & 1) || p.sync < c.warp->n_syncs);
    if (own || p.barrier < barrier)
      commit (b, k);
    else
      k++;
  }
  b.cache.clear ();
}

void
weak_store (Context &c, int lane, uint64_t at, const void *data, unsigned size)
{
  PendingStore p = { at, 0, size, c.warp->index * WARP + (unsigned)lane,
    barrier_of (c), c.warp->n_syncs };
  auto line = c.block->cache.find (at & ~(uint64_t)127);

  memcpy (&p.data, data, size);
  c.block->pending.push_back (p);
  if (line != c.block->cache.end ())
    memcpy (&line->second[at & 127], data, size);
}

void
weak_load (Context &c, const Instruction &i, uint64_t at, void *data,
    unsigned size)
{
  Block &b = *c.block;

  for (size_t k = b.pending.size (); k-- > 0;) {
    const PendingStore &p = b.pending[k];
    if (!overlaps (p, at, size))
      continue;
    if (p.at == at && p.size == size) {
      memcpy (data, &p.data, size);
      return;
    }
    memory_drain (*c.grid, b, 0);
    break;
  }
  if (i.is_strong) {
    memcpy (data, (const void *)at, size);
    return;
  }
  std::vector<uint8_t> &line = b.cache[at & ~(uint64_t)127];
  if (line.empty () || c.grid->random () % 4 == 0) {
    line.resize (128);
    memcpy (line.data (), (const void *)(at & ~(uint64_t)127), 128);
    for (const PendingStore &p : b.pending) {
      if ((p.at & ~(uint64_t)127) == (at & ~(uint64_t)127))
        memcpy (&line[p.at & 127], &p.data, p.size);
    }
  }
  memcpy (data, &line[at & 127], size);
}

void
weak_arrive (Context &c, uint64_t at, unsigned size)
{
  for (const PendingStore &p : c.block->pending) {
    if (overlaps (p, at, size)) {
      memory_drain (*c.grid, *c.block, 0);
      return;
    }
  }
}
} // namespace ptx
