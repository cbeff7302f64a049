/* SPDX-License-Identifier: LGPL-2.1-or-later
 * warp.cc: a warp's turn.
 *
 * The lanes of a warp with the same program counter run together.  The group with
 * the lowest counter runs first, so that groups meet again; with
 * Options.divergence, any group. */
#include <algorithm>

#include "ptx.h"

namespace ptx {
/* All threads of the block are at the barrier. */
static void
release (Block &block)
{
  for (Warp &w : block.warps) {
    for (uint32_t r = w.at_barrier; r; r &= r - 1)
      w.pc[first_lane (r)]++;
    w.at_barrier = 0;
    w.n_syncs++;
  }
  block.n_waiting = 0;
  block.n_barriers++;
}

static void
arrive (Context &c, const Instruction &i, uint32_t group, uint32_t mask, int pc)
{
  Warp &w = *c.warp;
  Block &b = *c.block;

  if (mask != group)
    fail (c, i, first_lane (group & ~mask), "not all lanes meet the barrier");
  for (Warp &other : b.warps) {
    if (other.at_barrier && other.pc[first_lane (other.at_barrier)] != pc)
      fail (c, i, first_lane (mask), "other threads wait at another barrier");
  }
  if (b.n_alive < c.grid->launch->block)
    fail (c, i, first_lane (mask), "a barrier after other threads have ended");
  for (uint32_t r = mask; r; r &= r - 1)
    w.pc[first_lane (r)] = pc;
  w.at_barrier |= mask;
  b.n_waiting += (unsigned)__builtin_popcount (mask);
  if (b.n_waiting == b.n_alive)
    release (b);
}

/* A function of several lanes.  Returns those that continue; 0: they wait. */
static uint32_t
meet (Context &c, const Instruction &i, uint32_t group, uint32_t mask, int pc)
{
  Warp &w = *c.warp;
  /* The mask of lanes is the last operand. */
  int n = 0;
  while (n + 1 < MAX_SOURCES && (i.s[n + 1].offset || i.s[n + 1].is_constant))
    n++;
  const uint32_t *members =
      (const uint32_t *)(c.base[i.s[n].is_constant] + i.s[n].offset);
  uint32_t wanted = members[first_lane (mask)], here = 0;

  if (mask != group)
    fail (c, i, first_lane (group & ~mask),
        "not all lanes take part in a function of the warp");
  for (uint32_t r = mask; r; r &= r - 1) {
    int l = first_lane (r);
    if (members[l] != wanted)
      fail (c, i, l, "lanes name different lanes to meet");
    if (!(wanted >> l & 1))
      fail (c, i, l, "a lane that is not among those that meet");
  }
  if (wanted & ~w.alive)
    fail (c, i, first_lane (mask), "waits for lanes that have ended");
  if (mask == wanted)
    return mask;
  for (uint32_t r = mask; r; r &= r - 1)
    w.pc[first_lane (r)] = pc;
  w.at_collective |= mask;
  for (uint32_t r = w.at_collective; r; r &= r - 1) {
    if (w.pc[first_lane (r)] == pc)
      here |= 1u << first_lane (r);
  }
  if ((here & wanted) != wanted)
    return 0;
  w.at_collective &= ~wanted;
  return wanted;
}

/* Which lanes run next, from where, and how far they may go before others are
 * to be looked at again. */
struct Turn
{
  uint32_t group = 0;
  int pc = 0x7fffffff, limit = 0x7fffffff;
};

static Turn
choose (Grid &g, const Warp &w, uint32_t ready)
{
  int divergence = g.launch->options.divergence;
  Turn t;

  if (divergence && g.random () % 4) {
    uint32_t r = ready;
    for (unsigned skip =
             (unsigned)(g.random () % (unsigned)__builtin_popcount (ready));
         skip > 0; skip--)
      r &= r - 1;
    t.pc = w.pc[first_lane (r)];
  } else {
    for (uint32_t r = ready; r; r &= r - 1)
      t.pc = std::min (t.pc, w.pc[first_lane (r)]);
  }
  for (uint32_t r = ready; r; r &= r - 1) {
    int l = first_lane (r);
    if (w.pc[l] == t.pc)
      t.group |= 1u << l;
    else if (w.pc[l] > t.pc)
      t.limit = std::min (t.limit, w.pc[l]);
  }
  if (divergence == 2 && g.random () % 2) {
    uint32_t part = t.group & (uint32_t)g.random ();
    if (part && part != t.group) {
      t.group = part;
      t.limit = std::min (t.limit, t.pc + 1 + (int)(g.random () % 64));
    }
  }
  return t;
}

static void
set_places (Warp &w, uint32_t lanes, int pc)
{
  for (uint32_t r = lanes; r; r &= r - 1)
    w.pc[first_lane (r)] = pc;
}

/* Lanes of the mask end, the others of the group continue. */
static void
leave (Context &c, const Instruction &i, uint32_t group, uint32_t mask, int pc)
{
  Warp &w = *c.warp;

  set_places (w, group & ~mask, pc + 1);
  w.alive &= ~mask;
  c.block->n_alive -= (unsigned)__builtin_popcount (mask);
  if (mask && c.block->n_waiting)
    fail (c, i, first_lane (mask), "ends while others wait at a barrier");
  if (mask && w.at_collective)
    fail (c, i, first_lane (mask), "ends while other lanes wait for some");
}

/* An instruction after which the group may be another one.  Returns true if it
 * is not: t.pc has gone on. */
static bool
part (Context &c, const Instruction &i, Turn &t, uint32_t mask)
{
  Warp &w = *c.warp;

  switch (i.flow) {
    case Flow::branch:
      if (mask == t.group || !mask) {
        t.pc = mask ? i.target : t.pc + 1;
        return true;
      }
      set_places (w, mask, i.target);
      set_places (w, t.group & ~mask, t.pc + 1);
      return false;
    case Flow::ret:
      leave (c, i, t.group, mask, t.pc);
      return false;
    case Flow::barrier:
      arrive (c, i, t.group, mask, t.pc);
      return false;
    case Flow::collective:
      mask = meet (c, i, t.group, mask, t.pc);
      if (!mask)
        return false;
      i.run (c, i, mask);
      if (mask == t.group) {
        t.pc++;
        return true;
      }
      set_places (w, mask, t.pc + 1);
      return false;
    default:
      return true;
  }
}

bool
run_warp (Context &c, long quantum)
{
  Warp &w = *c.warp;
  Grid &g = *c.grid;
  const Instruction *code = g.kernel->code.data ();
  bool did = false;

  for (;;) {
    uint32_t ready = w.alive & ~w.at_barrier & ~w.at_collective;
    bool together = true;

    if (!ready || quantum <= 0)
      return did;
    did = true;
    Turn t = choose (g, w, ready);
    while (together && t.pc < t.limit && quantum-- > 0) {
      const Instruction &i = code[t.pc];
      uint32_t mask = t.group;

      if (i.predicate >= 0) {
        uint32_t p = *(const uint32_t *)(c.registers + i.predicate);
        mask &= i.negated ? ~p : p;
      }
      i.n_warp++;
      i.n_thread += (unsigned)__builtin_popcount (mask);
      if (i.flow == Flow::next) {
        if (mask)
          i.run (c, i, mask);
        t.pc++;
      } else if (i.flow == Flow::sleep) {
        t.pc++;
        g.n_sleeps++;
        quantum = 0;
      } else {
        together = part (c, i, t, mask);
      }
    }
    if (together)
      set_places (w, t.group, t.pc);
  }
}
} // namespace ptx
