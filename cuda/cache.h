/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cache.h: compiled kernels on disk, in $XDG_CACHE_HOME/gst-tfx or
 * ~/.cache/gst-tfx.  A file that is damaged counts as none; that it cannot be
 * written is no error. */
#ifndef TFX_CUDA_CACHE_H
#define TFX_CUDA_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* FNV-1a over size bytes, going on from hash; begin with TFX_CACHE_SEED. */
#define TFX_CACHE_SEED 0xcbf29ce484222325u
uint64_t tfx_cache_hash (uint64_t hash, const void *data, size_t size);

/* True if there was an entry; the caller frees *data, which ends in a zero
 * that does not count. */
bool tfx_cache_read (const char *name, uint64_t key, void **data, size_t *size);
void
tfx_cache_write (const char *name, uint64_t key, const void *data, size_t size);

#endif
