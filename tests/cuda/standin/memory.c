/* SPDX-License-Identifier: LGPL-2.1-or-later
 * memory.c: device and pinned memory of the stand-in.
 *
 * An allocation has a page without access on either side.  The rest of its last page
 * holds a pattern that is checked after each kernel.  It starts as NaN. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "standin.h"

#define EDGE 0xa5
/* What cuMemAlloc aligns to. */
#define ALIGNMENT 512

typedef struct Allocation
{
  unsigned char *data;
  size_t size, mapped; /* mapped: with the pages around */
  unsigned char *map;
  CUcontext context;
  bool is_device;
  struct Allocation *next;
} Allocation;

static Allocation *allocations;

static Allocation *
find (uint64_t at)
{
  for (Allocation *a = allocations; a; a = a->next) {
    if (at >= (uintptr_t)a->data && at < (uintptr_t)a->data + a->size)
      return a;
  }
  return NULL;
}

static CUresult
allocate (size_t size, bool is_device, Allocation **out)
{
  size_t page = (size_t)sysconf (_SC_PAGESIZE);
  size_t rounded = (size + 2 * ALIGNMENT + page - 1) & ~(page - 1);
  Allocation *a;

  if (size == 0)
    return CUDA_ERROR_INVALID_VALUE;
  /* More than a device has. */
  if (size > (size_t)1 << 38)
    return CUDA_ERROR_OUT_OF_MEMORY;
  a = calloc (1, sizeof *a);
  if (!a)
    return CUDA_ERROR_OUT_OF_MEMORY;
  a->mapped = rounded + 2 * page;
  a->map = mmap (NULL, a->mapped, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (a->map == MAP_FAILED) {
    free (a);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  mprotect (a->map, page, PROT_NONE);
  mprotect (a->map + page + rounded, page, PROT_NONE);
  /* Near the end of the page: what misses by little spoils the pattern, what
   * misses by more ends the program. */
  a->data =
      a->map + page + ((rounded - size - ALIGNMENT) & ~(size_t)(ALIGNMENT - 1));
  a->size = size;
  a->is_device = is_device;
  a->context = standin_context ();
  memset (a->map + page, EDGE, rounded);
  memset (a->data, 0xff, size);
  a->next = allocations;
  allocations = a;
  standin_timeline_memory (is_device, (long)size);
  *out = a;
  return CUDA_SUCCESS;
}

/* All bytes equal their neighbour, and the first one has not changed: libc compares
 * many at a time. */
static bool
is_edge (const unsigned char *p, const unsigned char *end)
{
  return p >= end ||
         (*p == EDGE && memcmp (p, p + 1, (size_t)(end - p) - 1) == 0);
}

static bool
edges_are_whole (const Allocation *a)
{
  size_t page = (size_t)sysconf (_SC_PAGESIZE);
  const unsigned char *first = a->map + page;
  const unsigned char *end = a->map + a->mapped - page;

  return is_edge (first, a->data) && is_edge (a->data + a->size, end);
}

static CUresult
release (uint64_t at, bool is_device, const char *function)
{
  for (Allocation **link = &allocations; *link; link = &(*link)->next) {
    Allocation *a = *link;

    if ((uintptr_t)a->data != at || a->is_device != is_device)
      continue;
    if (standin_is_in_use (at, at + a->size))
      return standin_fault (CUDA_ERROR_ILLEGAL_ADDRESS,
          "%s of %zu bytes that queued work still needs", function, a->size);
    standin_timeline_memory (is_device, -(long)a->size);
    *link = a->next;
    munmap (a->map, a->mapped);
    free (a);
    return CUDA_SUCCESS;
  }
  return standin_fault (CUDA_ERROR_INVALID_VALUE,
      "%s: no allocation is at %#llx", function, (unsigned long long)at);
}

CUresult
standin_memory_alloc (CUdeviceptr *at, size_t size)
{
  Allocation *a;
  CUresult result = allocate (size, true, &a);

  *at = result == CUDA_SUCCESS ? (uintptr_t)a->data : 0;
  return result;
}

CUresult
standin_memory_free (CUdeviceptr at)
{
  return at == 0 ? CUDA_SUCCESS : release (at, true, "cuMemFree");
}

CUresult
standin_host_alloc (void **at, size_t size)
{
  Allocation *a;
  CUresult result = allocate (size, false, &a);

  *at = result == CUDA_SUCCESS ? a->data : NULL;
  return result;
}

CUresult
standin_host_free (void *at)
{
  return release ((uintptr_t)at, false, "cuMemFreeHost");
}

void
standin_memory_drop (CUcontext context)
{
  for (Allocation **link = &allocations; *link;) {
    Allocation *a = *link;

    if (a->context != context) {
      link = &a->next;
      continue;
    }
    *link = a->next;
    munmap (a->map, a->mapped);
    free (a);
  }
}

bool
standin_is_device (uint64_t at)
{
  const Allocation *a = find (at);

  return a && a->is_device;
}

bool
standin_is_pinned (uint64_t at)
{
  const Allocation *a = find (at);

  return a && !a->is_device;
}

CUcontext
standin_memory_owner (uint64_t at)
{
  const Allocation *a = find (at);

  return a ? a->context : NULL;
}

CUresult
standin_memory_check (uint64_t at, size_t size, const char *what)
{
  const Allocation *a = find (at);

  if (size == 0)
    return CUDA_SUCCESS;
  if (!a)
    return standin_fault (CUDA_ERROR_INVALID_VALUE,
        "%s: %#llx is in no allocation", what, (unsigned long long)at);
  if (at + size > (uintptr_t)a->data + a->size)
    return standin_fault (CUDA_ERROR_INVALID_VALUE,
        "%s: %zu bytes at %zu of an allocation of %zu bytes", what, size,
        (size_t)(at - (uintptr_t)a->data), a->size);
  return CUDA_SUCCESS;
}

/* The address sanitizer maps what two small numbers look like side by side. */
#ifdef __SANITIZE_ADDRESS__
#define LOWEST_ADDRESS ((uint64_t)1 << 45)
#else
#define LOWEST_ADDRESS 65536
#endif

/* An address of this program that can be read. */
static bool
is_mapped (uint64_t at)
{
  uint64_t page = (uint64_t)sysconf (_SC_PAGESIZE);

  return at >= LOWEST_ADDRESS && at < (uint64_t)1 << 47 &&
         msync ((void *)(uintptr_t)(at & ~(page - 1)), page, MS_ASYNC) == 0;
}

CUresult
standin_memory_check_arguments (const char *kernel, const void *args,
    size_t size)
{
  CUcontext context = standin_context ();

  for (size_t i = 0; standin_is_strict () && i < size / 8; i++) {
    const Allocation *a;
    uint64_t at;

    memcpy (&at, (const char *)args + 8 * i, sizeof at);
    a = find (at);
    /* Where something ends. */
    if (!a)
      a = find (at - 1);
    if (a && a->is_device && a->context && context &&
        a->context->device != context->device)
      return standin_fault (CUDA_ERROR_ILLEGAL_ADDRESS,
          "%s gets a pointer into device %d on device %d", kernel,
          a->context->device, context->device);
    if (!a && is_mapped (at))
      return standin_fault (CUDA_ERROR_ILLEGAL_ADDRESS,
          "%s gets a pointer to memory that no device reaches: %#llx", kernel,
          (unsigned long long)at);
  }
  return CUDA_SUCCESS;
}

CUresult
standin_memory_check_edges (const char *what)
{
  for (const Allocation *a = allocations; a; a = a->next) {
    if (!edges_are_whole (a))
      return standin_fault (CUDA_ERROR_ILLEGAL_ADDRESS,
          "%s wrote beside an allocation of %zu bytes", what, a->size);
  }
  return CUDA_SUCCESS;
}

bool
standin_memory_range (uint64_t at, uint64_t *low, uint64_t *high)
{
  const Allocation *a = find (at);

  if (!a)
    return false;
  *low = (uintptr_t)a->data;
  *high = (uintptr_t)a->data + a->size;
  return true;
}
