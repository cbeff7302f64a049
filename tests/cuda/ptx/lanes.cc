/* SPDX-License-Identifier: LGPL-2.1-or-later
 * lanes.cc: predicates, halves of registers, special registers, and what the
 * lanes of a warp do together. */
#include "operation.h"

namespace ptx {
const char *const kind_names[N_KINDS] = { "fp64", "fp32", "int", "move",
  "convert", "ld.param", "ld.global", "st.global", "ld.shared", "st.shared",
  "shuffle", "control", "barrier", "atomic" };

/* Predicates. */
template <int OP>
static void
logic (Context &c, const Instruction &i, uint32_t m)
{
  uint32_t a = mask_of (c, i.s[0]);
  uint32_t b = OP < 3 ? mask_of (c, i.s[1]) : 0;
  set_mask (c, i.d[0], m,
      OP == 0   ? a & b
      : OP == 1 ? a | b
      : OP == 2 ? a ^ b
      : OP == 3 ? ~a
                : a);
}

/* Halves of a register of 64 bits. */
static void
pack (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<uint64_t> (c, i.d[0]);
  auto *a = from<uint32_t> (c, i.s[0]);
  auto *b = from<uint32_t> (c, i.s[1]);
  lanes (m, [=] (int l) { d[l] = (uint64_t)b[l] << 32 | a[l]; });
}
static void
unpack (Context &c, const Instruction &i, uint32_t m)
{
  auto *a = from<uint64_t> (c, i.s[0]);
  auto *d = to<uint32_t> (c, i.d[0]);
  auto *e = to<uint32_t> (c, i.d[1]);
  lanes (m, [=] (int l) {
    uint64_t v = a[l];
    d[l] = (uint32_t)v;
    e[l] = (uint32_t)(v >> 32);
  });
}

/* Special registers. */
template <int WHICH>
static void
special (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<uint32_t> (c, i.d[0]);
  const Launch &launch = *c.grid->launch;
  unsigned first = c.warp->index * WARP;
  unsigned v = WHICH == 1   ? launch.block
               : WHICH == 2 ? c.block->index
               : WHICH == 3 ? launch.grid
               : WHICH == 5 ? 1
                            : 0;
  lanes (m, [=] (int l) {
    d[l] = WHICH == 0 ? first + (unsigned)l : WHICH == 4 ? (unsigned)l : v;
  });
}

/* ---- where lanes meet ----------------------------------------------------- */

template <int MODE>
static void
shuffle (Context &c, const Instruction &i, uint32_t m)
{
  auto *d = to<uint32_t> (c, i.d[0]);
  auto *a = from<uint32_t> (c, i.s[0]);
  auto *b = from<uint32_t> (c, i.s[1]);
  auto *k = from<uint32_t> (c, i.s[2]);
  uint32_t values[WARP], bits = 0;

  memcpy (values, a, sizeof values);
  for (uint32_t r = m; r; r &= r - 1) {
    int lane = first_lane (r), j;
    int bval = b[lane] & 31, cval = k[lane] & 31, seg = k[lane] >> 8 & 31;
    int max_lane = (lane & seg) | (cval & ~seg), min_lane = lane & seg;
    bool in;

    if (MODE == 0)
      j = lane - bval, in = j >= max_lane;
    else if (MODE == 1)
      j = lane + bval, in = j <= max_lane;
    else if (MODE == 2)
      j = lane ^ bval, in = j <= max_lane;
    else
      j = min_lane | (bval & ~seg), in = j <= max_lane;
    if (!in)
      j = lane;
    if (!(m >> j & 1))
      fail (c, i, lane, "a shuffle from a lane that takes no part");
    d[lane] = values[j];
    bits |= (uint32_t)in << lane;
  }
  if (i.d[1].offset)
    set_mask (c, i.d[1], m, bits);
}
template <int MODE>
static void
vote (Context &c, const Instruction &i, uint32_t m)
{
  uint32_t p = mask_of (c, i.s[0]) & m;
  if (MODE == 2) {
    auto *d = to<uint32_t> (c, i.d[0]);
    lanes (m, [=] (int l) { d[l] = p; });
  } else {
    set_mask (c, i.d[0], m, (MODE == 0 ? p == m : p != 0) ? ALL : 0);
  }
}
static void
warp_sync (Context &c, const Instruction &, uint32_t m)
{
  if (m == c.warp->alive)
    c.warp->n_syncs++;
}
static void
fence (Context &c, const Instruction &, uint32_t m)
{
  memory_fence (c, m);
}
static void
nothing (Context &, const Instruction &, uint32_t)
{
}

/* ---- the table ------------------------------------------------------------- */

void
add_lanes (Table &t)
{
  t["and.pred"] = { logic<0>, K_INT, "p", "pp" };
  t["or.pred"] = { logic<1>, K_INT, "p", "pp" };
  t["xor.pred"] = { logic<2>, K_INT, "p", "pp" };
  t["not.pred"] = { logic<3>, K_INT, "p", "p" };
  t["mov.pred"] = { logic<4>, K_MOVE, "p", "p" };
  t["pack"] = { pack, K_MOVE, "8", "44" };
  t["unpack"] = { unpack, K_MOVE, "44", "8" };
  t["%tid.x"] = { special<0>, K_MOVE, "4", "" };
  t["%ntid.x"] = { special<1>, K_MOVE, "4", "" };
  t["%ctaid.x"] = { special<2>, K_MOVE, "4", "" };
  t["%nctaid.x"] = { special<3>, K_MOVE, "4", "" };
  t["%laneid"] = { special<4>, K_MOVE, "4", "" };
  for (const char *n : { "%ntid.y", "%ntid.z", "%nctaid.y", "%nctaid.z" })
    t[n] = { special<5>, K_MOVE, "4", "" };
  for (const char *n : { "%tid.y", "%tid.z", "%ctaid.y", "%ctaid.z" })
    t[n] = { special<6>, K_MOVE, "4", "" };
  t["shfl.sync.up.b32"] = { shuffle<0>, K_SHUFFLE, "4p", "4444",
    Flow::collective };
  t["shfl.sync.down.b32"] = { shuffle<1>, K_SHUFFLE, "4p", "4444",
    Flow::collective };
  t["shfl.sync.bfly.b32"] = { shuffle<2>, K_SHUFFLE, "4p", "4444",
    Flow::collective };
  t["shfl.sync.idx.b32"] = { shuffle<3>, K_SHUFFLE, "4p", "4444",
    Flow::collective };
  t["vote.sync.all.pred"] = { vote<0>, K_SHUFFLE, "p", "p4", Flow::collective };
  t["vote.sync.any.pred"] = { vote<1>, K_SHUFFLE, "p", "p4", Flow::collective };
  t["vote.sync.ballot.b32"] = { vote<2>, K_SHUFFLE, "4", "p4",
    Flow::collective };
  t["bar.warp.sync"] = { warp_sync, K_BARRIER, "", "4", Flow::collective };
  t["bar.sync"] = { nothing, K_BARRIER, "", "4", Flow::barrier };
  t["barrier.sync"] = t["bar.sync"];
  t["barrier.sync.aligned"] = t["bar.sync"];
  t["membar.gl"] = { fence, K_BARRIER, "", "" };
  t["fence.acq_rel.gpu"] = t["membar.gl"];
  t["fence.sc.gpu"] = t["membar.gl"];
  t["nanosleep.u32"] = { nothing, K_CONTROL, "", "4", Flow::sleep };
  t["ret"] = { nothing, K_CONTROL, "", "", Flow::ret };
  t["exit"] = t["ret"];
}

static Table
make_table (void)
{
  Table t;

  add_arithmetic (t);
  add_lanes (t);
  return t;
}

const Spec *
find_operation (const std::string &opcode)
{
  static const Table table = make_table ();
  auto it = table.find (opcode);

  return it == table.end () ? nullptr : &it->second;
}
} // namespace ptx
