/* SPDX-License-Identifier: LGPL-2.1-or-later
 * ptx.h: an interpreter of PTX for the host, one warp at a time.
 *
 * parse.cc and decode.cc read the text, allocate.cc gives registers their
 * place; arithmetic.cc, lanes.cc and matrix.cc have what an instruction does to
 * 32 lanes, memory.cc the loads and stores, order.cc what orders them, warp.cc
 * and run.cc the warps, blocks and barriers; image.cc is the way in from the
 * stand-in.
 *
 * Every thread has its own program counter; lanes at the same place run
 * together.  Registers lie as [register][lane]; a predicate is a mask.
 *
 * Always checked: alignment and bounds (parameters, shared, global), lanes
 * missing from a shuffle, vote or barrier, waits that never end; an opcode that
 * is not known is refused.  Not modelled: loads that pass earlier loads, real
 * caches, time. */
#ifndef PTX_H
#define PTX_H

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptx {
constexpr int WARP = 32;
constexpr uint32_t ALL = 0xffffffffu;
/* Those of a product of matrices: 4 + 2 + 4 numbers, and which lanes meet. */
constexpr int MAX_SOURCES = 11;

struct Context;
struct Instruction;
typedef void (*Operation) (Context &, const Instruction &, uint32_t mask);

/* What the program counter does. */
enum class Flow : uint8_t
{
  next,
  branch,
  ret,
  barrier,
  collective,
  sleep
};

/* For the counts. */
enum Kind : uint8_t
{
  K_FP64,
  K_FP32,
  K_INT,
  K_MOVE,
  K_CONVERT,
  K_PARAM,
  K_LOAD_GLOBAL,
  K_STORE_GLOBAL,
  K_LOAD_SHARED,
  K_STORE_SHARED,
  K_SHUFFLE,
  K_CONTROL,
  K_BARRIER,
  K_ATOMIC,
  N_KINDS
};
extern const char *const kind_names[N_KINDS];

enum Space : uint8_t
{
  S_NONE,
  S_PARAM,
  S_SHARED,
  S_GLOBAL
};

/* Of a register or of a constant: where its lanes begin. */
struct Operand
{
  uint32_t offset = 0;
  uint32_t is_constant = 0;
};

struct Instruction
{
  Operation run = nullptr;
  Flow flow = Flow::next;
  Kind kind = K_MOVE;
  Space space = S_NONE;
  uint8_t n_vector = 1;
  bool is_strong = false; /* volatile, or past the first cache */
  bool is_volatile = false;
  bool narrow_address = false; /* in a register of 4 bytes a lane */
  int32_t predicate = -1;      /* offset of its mask */
  bool negated = false;
  int32_t target = -1;
  int64_t displacement = 0; /* of an address */
  uint8_t n_multiplies = 1; /* of a product of matrices: multiply-adds a lane */
  Operand d[4], s[MAX_SOURCES];
  int line = 0;
  std::string text;
  /* Counts, and the last allocation that was seen here. */
  mutable uint64_t n_warp = 0, n_thread = 0, n_sectors = 0;
  mutable uint64_t n_passes = 0, n_ideal = 0;
  mutable uint64_t low = 0, high = 0;
};

struct Kernel
{
  std::string name, origin;
  std::vector<Instruction> code;
  uint32_t register_bytes = 0;
  std::vector<uint8_t> constants;
  size_t param_size = 0;
  size_t static_shared = 0;
  unsigned max_threads = 1024;
};

/* Kernels by name; throws what it does not understand. */
std::map<std::string, std::unique_ptr<Kernel>>
parse (const std::string &text, const std::string &origin);

struct Spec
{
  Operation run;
  Kind kind;
  /* Of the operands: '4' and '8' bytes a lane, 'p' a predicate. */
  std::string to, from;
  Flow flow = Flow::next;
};
const Spec *find_operation (const std::string &opcode);
/* Loads and stores, for the memory type ("u32") and registers of 8 or 4 bytes a
 * lane; NULL: there is none. */
Operation find_load (const std::string &type, bool wide);
Operation find_store (const std::string &type, bool wide);
/* All that it does is to look at the address. */
Operation find_prefetch (void);

/* matrix.cc: a product of matrices of doubles. */
struct Matrix
{
  const char *shape;
  int compute; /* 90 for 9.0: the least that has it */
  Operation run;
  unsigned n_a, n_b, n_c; /* numbers of a lane */
};
/* Of "m8n8k4"; NULL: there is none. */
const Matrix *find_matrix (const std::string &shape);

/* ---- running -------------------------------------------------------------- */

/* Of blocks and warps. */
enum class Order : uint8_t
{
  forward,
  reverse,
  random
};

struct Options
{
  uint64_t seed = 1;
  unsigned n_resident = 4; /* blocks at a time */
  Order order = Order::forward;
  /* 0: lanes run together where possible; 1: groups of lanes in random order; 2:
   * groups are also split at random. */
  int divergence = 0;
  bool races = false;  /* look for unordered accesses */
  bool weak = false;   /* stores arrive late, caches are stale */
  bool counts = false; /* of memory: sectors, bank passes */
};

struct Range
{
  uint64_t low, high;
};
/* The allocation around an address; false: none. */
typedef bool (*FindRange) (uint64_t at, Range *range);

struct Launch
{
  const Kernel *kernel;
  const void *args;
  unsigned grid, block;
  size_t shared;
  Options options;
  FindRange find;
};

struct Totals
{
  uint64_t warp[N_KINDS] = {}, thread[N_KINDS] = {};
  /* Products of matrices: how many instructions of warps, and for how many
   * multiply-adds of warps they stand, which is what they count as in `warp` and
   * `thread`. */
  uint64_t mma_issued = 0, mma_multiplies = 0;
  uint64_t sectors_read = 0, sectors_written = 0;
  /* The different ones among them. */
  uint64_t sectors_touched = 0;
  /* Over the banks; ideal: with no two lanes in each other's way. */
  uint64_t shared_passes = 0, shared_ideal = 0;
};

/* "": all went well; else what the kernel did wrong. */
std::string run (const Launch &launch, Totals *totals);

/* ---- inside ---------------------------------------------------------------- */

/* Who was at a word of shared or global memory last. */
struct Shadow
{
  uint32_t write_block = 0, write_thread = 0, write_barrier = 0, write_sync = 0;
  uint32_t read_block = 0, read_barrier = 0, read_warps = 0;
  uint32_t read_warp = 0, read_sync = 0, read_lanes = 0;
  uint32_t write_clock = 0, read_clock = 0; /* of the blocks */
  uint32_t launch = 0;
  bool write_volatile = false;
};

struct PendingStore
{
  uint64_t at, data;
  uint32_t size, thread, barrier, sync;
};

struct Block;

struct Warp
{
  Block *block = nullptr;
  unsigned index = 0;
  uint32_t alive = 0, at_barrier = 0, at_collective = 0;
  int32_t pc[WARP] = {};
  uint32_t n_syncs = 0;
  std::vector<uint8_t> registers;
};

struct Block
{
  unsigned index = 0;
  std::vector<Warp> warps;
  std::vector<uint8_t> shared;
  std::vector<Shadow> shadow;
  uint32_t n_barriers = 0;
  unsigned n_alive = 0, n_waiting = 0;
  /* The times of other blocks that are known to have passed, by fences and by
   * values handed over after them.  `fenced`: for others; `heard`: received, and
   * known after the next fence here. */
  std::vector<uint32_t> clock, fenced, heard;
  /* Weak memory. */
  std::vector<PendingStore> pending;
  std::unordered_map<uint64_t, std::vector<uint8_t>> cache;
};

/* Which sectors of an allocation have been read, and written. */
struct Touched
{
  std::vector<bool> read, written;
};

struct Grid
{
  const Launch *launch;
  const Kernel *kernel;
  std::vector<uint8_t> args;
  std::mt19937_64 random;
  std::vector<std::unique_ptr<Block>> blocks;
  uint64_t n_sleeps = 0;
  uint32_t id = 0;
  /* By address: the times handed over; the readers. */
  std::unordered_map<uint64_t, std::vector<uint32_t>> handed, readers;
  std::map<uint64_t, Touched> touched; /* by where the allocation begins */
};

struct Context
{
  const uint8_t *base[2]; /* registers, constants */
  uint8_t *registers;
  Warp *warp;
  Block *block;
  Grid *grid;
  uint32_t group = 0; /* lanes of this instruction, also those not predicated */
};

struct Fault : std::runtime_error
{
  using std::runtime_error::runtime_error;
};

/* Stops the grid; says where and what. */
[[noreturn]] inline void
fail (const Context &c, const Instruction &i, int lane, const std::string &what)
{
  throw Fault (c.grid->kernel->name + ", block " +
               std::to_string (c.block->index) + ", thread " +
               std::to_string (c.warp->index * WARP + (unsigned)lane) + ": " +
               what + " (" + c.grid->kernel->origin + ":" +
               std::to_string (i.line) + ": " + i.text + ")");
}

inline std::string
hex (uint64_t value)
{
  char text[32];

  snprintf (text, sizeof text, "%#llx", (unsigned long long)value);
  return text;
}

/* The lowest of the lanes. */
inline int
first_lane (uint32_t mask)
{
  return __builtin_ctz (mask);
}

/* allocate.cc: registers whose values never live at the same time share their
 * place. */
void allocate (Kernel &kernel, const std::map<uint32_t, uint32_t> &bytes_of);

/* warp.cc: runs the warp until it waits, sleeps or has had its turn.  False if
 * it did nothing. */
bool run_warp (Context &c, long quantum);

/* order.cc: called for each access where something looks for races, or memory
 * is weak. */
void race_access (Context &c, const Instruction &i, int lane, uint64_t at,
    unsigned size, bool write);
/* An atomic function of a place. */
void race_atomic (Context &c, uint64_t at);
void
weak_store (Context &c, int lane, uint64_t at, const void *data, unsigned size);
void weak_load (Context &c, const Instruction &i, uint64_t at, void *data,
    unsigned size);
/* What the block itself has stored there arrives. */
void weak_arrive (Context &c, uint64_t at, unsigned size);
void memory_fence (Context &c, uint32_t mask);
void memory_drain (Grid &grid, Block &block, size_t keep);
void memory_settle (Grid &grid, Block &block);
} // namespace ptx

#endif
