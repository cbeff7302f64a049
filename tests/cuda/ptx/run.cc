/* SPDX-License-Identifier: LGPL-2.1-or-later
 * run.cc: the blocks of a grid. */
#include <algorithm>

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "ptx.h"

namespace ptx {
/* Sleeps of all warps together, with no block ending, after which it is said
 * that nothing will come any more. */
static constexpr uint64_t MAX_SLEEPS = 3000000;
static constexpr long QUANTUM = 20000;

static void
start (Grid &g, Block &b, unsigned index)
{
  const Launch &launch = *g.launch;
  unsigned n_warps = (launch.block + WARP - 1) / WARP;

  b.index = index;
  b.n_barriers = 0;
  b.n_alive = launch.block;
  b.n_waiting = 0;
  /* Memory that was not written reads as NaN. */
  b.shared.assign (launch.shared + g.kernel->static_shared, 0xff);
  if (launch.options.races)
    b.shadow.assign (b.shared.size () / 4 + 1, Shadow ());
  b.cache.clear ();
  b.fenced.clear ();
  b.heard.clear ();
  if (launch.options.races) {
    b.clock.assign (launch.grid, 0);
    b.clock[index] = 1;
  }
  b.warps.resize (n_warps);
  for (unsigned k = 0; k < n_warps; k++) {
    Warp &w = b.warps[k];
    unsigned n = std::min (launch.block - k * WARP, (unsigned)WARP);

    w.block = &b;
    w.index = k;
    w.alive = n == WARP ? ALL : (1u << n) - 1;
    w.at_barrier = w.at_collective = 0;
    w.n_syncs = 0;
    memset (w.pc, 0, sizeof w.pc);
    w.registers.assign (g.kernel->register_bytes, 0xff);
  }
}

static void
report_stuck (const Grid &g, const Block &b)
{
  std::string text =
      g.kernel->name + ": block " + std::to_string (b.index) + " never ends;";

  for (const Warp &w : b.warps) {
    text += " warp " + std::to_string (w.index) + ":";
    if (!w.alive)
      text += " ended";
    if (w.at_barrier)
      text += " at the barrier of line " +
              std::to_string (
                  g.kernel->code[(size_t)w.pc[first_lane (w.at_barrier)]].line);
    if (w.at_collective)
      text +=
          " meets at line " +
          std::to_string (
              g.kernel->code[(size_t)w.pc[first_lane (w.at_collective)]].line);
    text += ";";
    if (text.size () > 400)
      break;
  }
  throw Fault (text);
}

/* In which order blocks start. */
static std::vector<unsigned>
make_order (Grid &g)
{
  unsigned n = g.launch->grid;
  Order o = g.launch->options.order;
  std::vector<unsigned> order (n);

  for (unsigned k = 0; k < n; k++)
    order[k] = o == Order::reverse ? n - 1 - k : k;
  if (o == Order::random)
    std::shuffle (order.begin (), order.end (), g.random);
  return order;
}

/* A turn for each warp of the block; false if none did anything. */
static bool
run_block (Context &c, Block &b)
{
  Grid &g = *c.grid;
  const Options &o = g.launch->options;
  bool is_random = o.order == Order::random, any = false;
  size_t n = b.warps.size (), from = is_random ? g.random () % n : 0;

  c.block = &b;
  for (size_t j = 0; j < n; j++) {
    Warp &w = b.warps[o.order == Order::reverse ? n - 1 - j : (from + j) % n];

    if (!w.alive)
      continue;
    c.warp = &w;
    c.registers = w.registers.data ();
    c.base[0] = c.registers;
    any |= run_warp (c, is_random && g.random () % 4 == 0
                            ? 1 + (long)(g.random () % 200)
                            : QUANTUM);
    if (o.weak)
      memory_settle (g, b);
  }
  return any;
}

static void
run_grid (Grid &g)
{
  const Launch &launch = *g.launch;
  const Options &o = launch.options;
  unsigned n_resident = std::min (std::max (o.n_resident, 1u), launch.grid);
  std::vector<unsigned> order = make_order (g);
  unsigned started = 0, ended = 0;
  Context c = {};

  for (; started < n_resident; started++) {
    g.blocks.emplace_back (new Block);
    start (g, *g.blocks.back (), order[started]);
  }
  c.grid = &g;
  c.base[1] = g.kernel->constants.data ();
  while (ended < launch.grid) {
    bool any = false;
    size_t n = g.blocks.size ();
    size_t first = o.order == Order::random ? g.random () % n : 0;

    for (size_t k = 0; k < n; k++) {
      Block &b = *g.blocks[(first + k) % n];

      if (b.n_alive == 0) {
        /* Its last stores become visible. */
        if (o.weak)
          memory_settle (g, b);
        continue;
      }
      any |= run_block (c, b);
      if (b.n_alive > 0)
        continue;
      any = true;
      ended++;
      g.n_sleeps = 0;
      if (started < launch.grid) {
        memory_drain (g, b, 0);
        start (g, b, order[started++]);
      }
    }
    for (auto &b : g.blocks) {
      if (!any && b->n_alive)
        report_stuck (g, *b);
    }
    if (g.n_sleeps > MAX_SLEEPS)
      throw Fault (g.kernel->name + ": waits for what nobody will write");
  }
  for (auto &b : g.blocks)
    memory_drain (g, *b, 0);
}

static void
add_up (const Grid &g, Totals *t)
{
  for (auto &allocation : g.touched) {
    const Touched &touched = allocation.second;
    for (auto *seen : { &touched.read, &touched.written })
      t->sectors_touched +=
          (uint64_t)std::count (seen->begin (), seen->end (), true);
  }
  for (const Instruction &i : g.kernel->code) {
    t->warp[i.kind] += i.n_warp * i.n_multiplies;
    t->thread[i.kind] += i.n_thread * i.n_multiplies;
    if (i.n_multiplies > 1) {
      t->mma_issued += i.n_warp;
      t->mma_multiplies += i.n_warp * i.n_multiplies;
    }
    if (i.kind == K_LOAD_GLOBAL || i.kind == K_ATOMIC)
      t->sectors_read += i.n_sectors;
    else if (i.kind == K_STORE_GLOBAL)
      t->sectors_written += i.n_sectors;
    t->shared_passes += i.n_passes;
    t->shared_ideal += i.n_ideal;
  }
}

std::string
run (const Launch &launch, Totals *totals)
{
  static uint32_t n_launches;
  Grid g;
  std::string failure;

#ifdef __SSE__
  /* The device keeps subnormal numbers, whatever the caller's thread does. */
  unsigned mxcsr = _mm_getcsr ();
  _mm_setcsr (0x1f80);
#endif
  for (const Instruction &i : launch.kernel->code) {
    i.n_warp = i.n_thread = i.n_sectors = i.n_passes = i.n_ideal = 0;
    i.low = i.high = 0;
  }
  g.launch = &launch;
  g.kernel = launch.kernel;
  g.args.assign ((const uint8_t *)launch.args,
      (const uint8_t *)launch.args + launch.kernel->param_size);
  g.random.seed (launch.options.seed);
  g.id = ++n_launches;
  try {
    run_grid (g);
  } catch (const Fault &fault) {
    failure = fault.what ();
  }
#ifdef __SSE__
  _mm_setcsr (mxcsr);
#endif
  if (totals)
    add_up (g, totals);
  return failure;
}
} // namespace ptx
