/* SPDX-License-Identifier: LGPL-2.1-or-later
 * heap.c: counts what the program asks of the heap.
 */
#include "heap.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static bool watching;
static unsigned fail_at;
static bool fail_behind; /* all that come after it too */
static HeapCounts counts;
static long n_alive;

/* The linker's names for the functions that are wrapped and for those of the
 * library. */
void *__real_malloc (size_t size);
void *__real_calloc (size_t n, size_t size);
void *__real_realloc (void *memory, size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
int __real_posix_memalign (void **memory, size_t alignment, size_t size);
void __real_free (void *memory);
int __real_pthread_mutex_lock (pthread_mutex_t *mutex);

void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t n, size_t size);
void *__wrap_realloc (void *memory, size_t size);
void *__wrap_aligned_alloc (size_t alignment, size_t size);
int __wrap_posix_memalign (void **memory, size_t alignment, size_t size);
void __wrap_free (void *memory);
int __wrap_pthread_mutex_lock (pthread_mutex_t *mutex);

static bool
allocation_fails (size_t size)
{
  if (!watching)
    return false;
  counts.n_allocations++;
  counts.n_bytes += size;
  if (fail_at == 0 || counts.n_allocations < fail_at)
    return false;
  return counts.n_allocations == fail_at || fail_behind;
}

static void *
note (void *memory)
{
  n_alive += memory != NULL;
  return memory;
}

void *
__wrap_malloc (size_t size)
{
  return allocation_fails (size) ? NULL : note (__real_malloc (size));
}

void *
__wrap_calloc (size_t n, size_t size)
{
  return allocation_fails (n * size) ? NULL : note (__real_calloc (n, size));
}

void *
__wrap_realloc (void *old, size_t size)
{
  void *memory;

  if (allocation_fails (size))
    return NULL;
  memory = __real_realloc (old, size);
  return old ? memory : note (memory);
}

void *
__wrap_aligned_alloc (size_t alignment, size_t size)
{
  return allocation_fails (size)
             ? NULL
             : note (__real_aligned_alloc (alignment, size));
}

int
__wrap_posix_memalign (void **memory, size_t alignment, size_t size)
{
  int err = allocation_fails (size)
                ? ENOMEM
                : __real_posix_memalign (memory, alignment, size);

  n_alive += err == 0;
  return err;
}

void
__wrap_free (void *memory)
{
  if (watching && memory) {
    counts.n_frees++;
    counts.n_freed += malloc_usable_size (memory);
  }
  n_alive -= memory != NULL;
  __real_free (memory);
}

int
__wrap_pthread_mutex_lock (pthread_mutex_t *mutex)
{
  if (watching)
    counts.n_locks++;
  return __real_pthread_mutex_lock (mutex);
}

static void
watch (unsigned fail, bool behind)
{
  counts = (HeapCounts){ 0 };
  fail_at = fail;
  fail_behind = behind;
  watching = true;
}

void
heap_watch (unsigned fail)
{
  watch (fail, false);
}

void
heap_watch_from (unsigned fail)
{
  watch (fail, true);
}

HeapCounts
heap_unwatch (void)
{
  watching = false;
  return counts;
}

long
heap_n_alive (void)
{
  return n_alive;
}
