/* SPDX-License-Identifier: LGPL-2.1-or-later
 * heap.h: what a test program asks of the heap, and memory that runs short.
 *
 * Programs that use it are linked with heap.c and its linker arguments (-Wl,
 * --wrap; see meson.build): every call of the program and of the core comes by
 * here, those of shared libraries do not.  For one thread at a time.
 */
#ifndef TEST_HEAP_H
#define TEST_HEAP_H

#include <stddef.h>

/* What was called since heap_watch(). */
typedef struct HeapCounts
{
  unsigned n_allocations, n_frees;
  unsigned n_locks; /* pthread_mutex_lock() */
  size_t n_bytes;   /* asked for */
  size_t n_freed;   /* bytes */
} HeapCounts;

/* Starts to count; the fail-th allocation from here on fails (0: none). */
void heap_watch (unsigned fail);

/* The same, and so do all those behind it. */
void heap_watch_from (unsigned fail);

/* Stops, and tells. */
HeapCounts heap_unwatch (void);

/* Allocations less frees of the whole program so far. */
long heap_n_alive (void);

#endif
