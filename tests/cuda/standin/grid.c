/* SPDX-License-Identifier: LGPL-2.1-or-later
 * grid.c: the threads of a grid as fibers, in one queue. */
#include "grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fiber.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#define STACK_SIZE (128 * 1024)
#define WARP 32

/* Sleeps of all threads together after which it is said that nothing will
 * come any more. */
#define MAX_SLEEPS 20000000

typedef struct Warp
{
  unsigned n_threads, n_waiting, n_done;
  const char *file; /* where its lanes wait */
  int line;
  unsigned parity;
  uint64_t values[2][WARP];
} Warp;

typedef struct Block
{
  unsigned index, n_waiting, n_done;
  const char *file;
  int line;
  unsigned char *shared;
  struct Fiber *fibers;
  Warp *warps;
} Block;

typedef struct Fiber
{
  StandinThread thread; /* first, so that standin_self leads here */
  StandinFiber fiber;
  Block *block;
  Warp *warp;
  void *stack;
  bool waits_for_block, waits_for_warp;
} Fiber;

StandinThread *standin_self;

static const StandinGrid *grid;
static StandinFiber scheduler;
static uint64_t random_state;
static char failure[512];
static bool failed;
static unsigned n_sleeps;
static Block *ended; /* its last thread has just ended */

/* Stacks, kept from grid to grid. */
static void **stacks;
static size_t n_stacks;

/* Those that can run, a ring. */
static Fiber **queue;
static size_t queue_size, queue_first, queue_length;

static uint64_t
random_next (void)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return random_state;
}

/* The i-th of n in the grid's order, given a permutation for random. */
static unsigned
place (unsigned i, unsigned n, const unsigned *permutation)
{
  if (grid->order == STANDIN_FORWARD)
    return i;
  return grid->order == STANDIN_REVERSE ? n - 1 - i : permutation[i];
}

static void
permute (unsigned *values, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    values[i] = i;
  for (unsigned i = n; i > 1; i--) {
    unsigned j = (unsigned)(random_next () % i), value = values[i - 1];
    values[i - 1] = values[j];
    values[j] = value;
  }
}

static void
push (Fiber *fiber)
{
  queue[(queue_first + queue_length++) % queue_size] = fiber;
}

/* Runs the next one; comes back when this one is run again. */
static void
give_way (void)
{
  Fiber *self = (Fiber *)standin_self;
  Fiber *next;

  if (queue_length == 0 || failed) {
    standin_fiber_switch (&self->fiber, &scheduler);
    return;
  }
  next = queue[queue_first];
  queue_first = (queue_first + 1) % queue_size;
  queue_length--;
  if (next == self)
    return;
  standin_self = &next->thread;
  standin_fiber_switch (&self->fiber, &next->fiber);
}

void
standin_fail (const char *file, int line, const char *what)
{
  Fiber *self = (Fiber *)standin_self;

  if (!failed)
    snprintf (failure, sizeof failure,
        "%s:%d: %s (kernel %s, block %u, thread %u)", file, line, what,
        grid->kernel->name, self->thread.block, self->thread.thread);
  failed = true;
  for (;;)
    standin_fiber_switch (&self->fiber, &scheduler);
}

/* Makes those of a block or of a warp that wait ready again. */
static void
release (Fiber *fibers, unsigned n, bool of_warp)
{
  unsigned permutation[1024];

  if (grid->order == STANDIN_RANDOM)
    permute (permutation, n);
  for (unsigned i = 0; i < n; i++) {
    Fiber *fiber = &fibers[place (i, n, permutation)];
    bool *waits = of_warp ? &fiber->waits_for_warp : &fiber->waits_for_block;
    if (!*waits)
      continue;
    *waits = false;
    push (fiber);
  }
}

void
standin_sync_threads (const char *file, int line)
{
  Fiber *self = (Fiber *)standin_self;
  Block *block = self->block;

  if (block->n_waiting > 0 && (block->line != line || block->file != file))
    standin_fail (file, line,
        "__syncthreads while other threads wait in another place");
  if (block->n_done > 0)
    standin_fail (file, line, "__syncthreads after other threads have ended");
  block->file = file;
  block->line = line;
  if (++block->n_waiting < grid->block_dim) {
    self->waits_for_block = true;
    give_way ();
    return;
  }
  block->n_waiting = 0;
  n_sleeps = 0;
  release (block->fibers, grid->block_dim, false);
  push (self);
  give_way ();
}

const uint64_t *
standin_share (uint64_t value, const char *file, int line)
{
  Fiber *self = (Fiber *)standin_self;
  Warp *warp = self->warp;
  uint64_t *values = warp->values[warp->parity];

  if (warp->n_waiting > 0 && (warp->line != line || warp->file != file))
    standin_fail (file, line,
        "a warp function while other lanes wait in another place");
  if (warp->n_done > 0)
    standin_fail (file, line, "a warp function after other lanes have ended");
  warp->file = file;
  warp->line = line;
  values[self->thread.thread % WARP] = value;
  if (++warp->n_waiting < warp->n_threads) {
    self->waits_for_warp = true;
    give_way ();
    return values;
  }
  /* The other buffer is free: to get here each lane has read it. */
  warp->n_waiting = 0;
  warp->parity ^= 1;
  release (self->block->fibers + self->thread.thread / WARP * WARP,
      warp->n_threads, true);
  push (self);
  give_way ();
  return values;
}

void
standin_sleep (void)
{
  Fiber *self = (Fiber *)standin_self;

  if (++n_sleeps > MAX_SLEEPS)
    standin_fail (grid->kernel->name, 0, "waits for what nobody will write");
  push (self);
  give_way ();
}

/* Where a fiber begins. */
static void
thread_run (void)
{
  Fiber *self = (Fiber *)standin_self;

  grid->kernel->run (grid->args);
  self = (Fiber *)standin_self;
  if (self->block->n_waiting > 0)
    standin_fail (self->block->file, self->block->line,
        "a thread ends while others wait in __syncthreads");
  if (self->warp->n_waiting > 0)
    standin_fail (self->warp->file, self->warp->line,
        "a lane ends while others wait in a warp function");
  self->block->n_done++;
  self->warp->n_done++;
  n_sleeps = 0;
  if (self->block->n_done == grid->block_dim)
    ended = self->block;
  standin_fiber_leave (&self->fiber, &scheduler);
}

/* ---- blocks ---------------------------------------------------------------------- */

static void
block_start (Block *block, unsigned index)
{
  unsigned n = grid->block_dim;
  unsigned permutation[1024];

  block->index = index;
  block->n_waiting = block->n_done = 0;
  /* What the kernel has not written must not look like a number. */
  memset (block->shared, 0xff, grid->shared_size);
  memset (block->warps, 0, sizeof (Warp) * ((n + WARP - 1) / WARP));
  if (grid->order == STANDIN_RANDOM)
    permute (permutation, n);
  for (unsigned i = 0; i < n; i++) {
    unsigned t = place (i, n, permutation);
    Fiber *fiber = &block->fibers[t];

    fiber->thread =
        (StandinThread){ t, index, n, grid->grid_dim, block->shared };
    fiber->block = block;
    fiber->warp = &block->warps[t / WARP];
    fiber->warp->n_threads++;
    fiber->waits_for_block = fiber->waits_for_warp = false;
    ASAN_UNPOISON_MEMORY_REGION (fiber->stack, STACK_SIZE);
    standin_fiber_init (&fiber->fiber, fiber->stack, STACK_SIZE, thread_run);
    push (fiber);
  }
}

static Block *
blocks_alloc (unsigned n_blocks)
{
  Block *blocks = calloc (n_blocks, sizeof *blocks);
  unsigned n = grid->block_dim;
  size_t n_fibers = (size_t)n_blocks * n;

  if (n_fibers > n_stacks) {
    stacks = realloc (stacks, n_fibers * sizeof *stacks);
    while (n_stacks < n_fibers)
      stacks[n_stacks++] = mmap (NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  for (unsigned b = 0; b < n_blocks; b++) {
    Block *block = &blocks[b];
    /* On the heap, of the exact size: the sanitizer sees its end. */
    block->shared = aligned_alloc (16, (grid->shared_size + 31) & ~(size_t)15);
    block->fibers = calloc (n, sizeof *block->fibers);
    block->warps = calloc ((n + WARP - 1) / WARP, sizeof *block->warps);
    for (unsigned i = 0; i < n; i++)
      block->fibers[i].stack = stacks[(size_t)b * n + i];
  }
  return blocks;
}

static void
blocks_free (Block *blocks, unsigned n_blocks)
{
  for (unsigned b = 0; b < n_blocks; b++) {
    free (blocks[b].shared);
    free (blocks[b].fibers);
    free (blocks[b].warps);
  }
  free (blocks);
}

static void
report_stuck (const Block *block)
{
  if (failed)
    return;
  failed = true;
  snprintf (failure, sizeof failure,
      "kernel %s: block %u never ends: %u of %u threads wait at %s:%d",
      grid->kernel->name, block->index, block->n_waiting, grid->block_dim,
      block->n_waiting ? block->file : block->warps[0].file,
      block->n_waiting ? block->line : block->warps[0].line);
}

/* Runs until all blocks have ended. */
static void
run_blocks (Block *blocks, unsigned n_resident, const unsigned *permutation)
{
  unsigned started = 0, finished = 0;

  for (; started < n_resident; started++)
    block_start (&blocks[started],
        place (started, grid->grid_dim, permutation));
  while (finished < grid->grid_dim && !failed) {
    Fiber *next;

    if (queue_length == 0) {
      report_stuck (&blocks[0]);
      return;
    }
    next = queue[queue_first];
    queue_first = (queue_first + 1) % queue_size;
    queue_length--;
    standin_self = &next->thread;
    standin_fiber_switch (&scheduler, &next->fiber);
    if (!ended)
      continue;
    finished++;
    if (started < grid->grid_dim)
      block_start (ended, place (started++, grid->grid_dim, permutation));
    ended = NULL;
  }
}

const char *
standin_grid_run (const StandinGrid *g)
{
  unsigned n_resident =
      g->n_resident < g->grid_dim ? g->n_resident : g->grid_dim;
  unsigned *permutation = calloc (g->grid_dim, sizeof *permutation);
  Block *blocks;

  grid = g;
  standin_fiber_init_here (&scheduler);
  failed = false;
  ended = NULL;
  n_sleeps = 0;
  random_state = g->seed * 2654435761u + 88172645463325252u;
  permute (permutation, g->grid_dim);
  queue_size = (size_t)n_resident * g->block_dim;
  queue = calloc (queue_size, sizeof *queue);
  queue_first = queue_length = 0;
  blocks = blocks_alloc (n_resident);
  run_blocks (blocks, n_resident, permutation);
  blocks_free (blocks, n_resident);
  free (queue);
  free (permutation);
  return failed ? failure : NULL;
}
