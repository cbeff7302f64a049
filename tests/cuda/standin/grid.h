/* SPDX-License-Identifier: LGPL-2.1-or-later
 * grid.h: runs a grid of threads on the host, one at a time.
 *
 * Several orders of execution find faults that depend on the order: blocks start in
 * index order, in reverse or in random order, one or several at a time, and the
 * threads of a block likewise. */
#ifndef TFX_STANDIN_GRID_H
#define TFX_STANDIN_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct StandinKernel
{
  const char *name;
  size_t args_size;
  unsigned max_threads;
  void (*run) (const void *args);
  struct StandinKernel *next;
} StandinKernel;

void standin_kernel_register (StandinKernel *kernel);

typedef enum
{
  STANDIN_FORWARD,
  STANDIN_REVERSE,
  STANDIN_RANDOM
} StandinOrder;

typedef struct StandinGrid
{
  const StandinKernel *kernel;
  const void *args;
  unsigned grid_dim, block_dim;
  size_t shared_size;
  StandinOrder order;
  unsigned n_resident; /* blocks that run at a time */
  uint64_t seed;
} StandinGrid;

/* Runs the grid.  Returns NULL, or a text that names the fault at which it stopped. */
const char *standin_grid_run (const StandinGrid *grid);

/* ---- for the kernels ------------------------------------------------------------ */

typedef struct StandinThread
{
  unsigned thread, block, block_dim, grid_dim;
  unsigned char *shared;
} StandinThread;

/* The thread that runs. */
extern StandinThread *standin_self;

void standin_sync_threads (const char *file, int line);

/* Waits for all lanes of the warp; returns what each of the 32 gave.  Valid
 * until the lane's next call. */
const uint64_t *standin_share (uint64_t value, const char *file, int line);

/* Lets others run. */
void standin_sleep (void);

/* Stops the grid. */
void standin_fail (const char *file, int line, const char *what);

#ifdef __cplusplus
}
#endif

#endif
