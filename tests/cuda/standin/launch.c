/* SPDX-License-Identifier: LGPL-2.1-or-later
 * launch.c: modules, functions and launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "standin.h"

#define SHARED_DEFAULT (48 * 1024)
/* What the system takes of each block's. */
#define SHARED_OF_SYSTEM 1024

struct CUmod_st
{
  CUcontext context;
  StandinImage *image;
  struct CUfunc_st *functions;
  struct CUmod_st *next;
};

struct CUfunc_st
{
  const StandinKernel *kernel;
  int max_shared;
  struct CUfunc_st *next;
};

static CUmodule modules;

static StandinOrder
order_setting (uint64_t *seed)
{
  const char *value = getenv ("TFX_STANDIN_ORDER");

  *seed = 1;
  if (!value || !*value || strcmp (value, "forward") == 0)
    return STANDIN_FORWARD;
  if (strcmp (value, "reverse") == 0)
    return STANDIN_REVERSE;
  if (strncmp (value, "random:", 7) == 0)
    *seed = strtoull (value + 7, NULL, 10);
  return STANDIN_RANDOM;
}

CUresult
standin_launch (const StandinWork *work)
{
  StandinGrid grid = {
    .kernel = work->kernel,
    .args = work->args,
    .grid_dim = work->grid_dim,
    .block_dim = work->block_dim,
    .shared_size = work->shared_size,
    .n_resident = (unsigned)standin_setting ("TFX_STANDIN_RESIDENT", 4),
  };
  const char *failure, *none = getenv ("TFX_STANDIN_KERNELS");

  if (none && strcmp (none, "none") == 0)
    return CUDA_SUCCESS;
  grid.order = order_setting (&grid.seed);
  failure = standin_kernel_run (&grid);
  if (failure)
    return standin_fault (CUDA_ERROR_LAUNCH_FAILED, "%s", failure);
  return standin_memory_check_edges (work->kernel->name);
}

STANDIN_API
cuModuleLoadData (CUmodule *module, const void *image)
{
  StandinImage *loaded = NULL;
  CUresult result;

  standin_hold ();
  result = standin_enter (__func__);
  *module = NULL;
  if (result == CUDA_SUCCESS && !standin_context ())
    result = CUDA_ERROR_INVALID_CONTEXT;
  if (result == CUDA_SUCCESS)
    result = standin_image_check (image);
  if (result == CUDA_SUCCESS)
    result = standin_image_new (image, &loaded);
  if (result == CUDA_SUCCESS) {
    *module = calloc (1, sizeof **module);
    (*module)->image = loaded;
    (*module)->context = standin_context ();
    (*module)->next = modules;
    modules = *module;
  }
  return standin_leave (result);
}

STANDIN_API
cuModuleUnload (CUmodule module)
{
  CUresult result = standin_enter (__func__);

  for (CUmodule *link = &modules; result == CUDA_SUCCESS && *link;
       link = &(*link)->next) {
    if (*link != module)
      continue;
    *link = module->next;
    while (module->functions) {
      CUfunction next = module->functions->next;
      free (module->functions);
      module->functions = next;
    }
    standin_image_free (module->image);
    free (module);
    break;
  }
  return standin_leave (result);
}

STANDIN_API
cuModuleGetFunction (CUfunction *function, CUmodule module, const char *name)
{
  CUresult result = standin_enter (__func__);
  const StandinKernel *kernel = NULL;

  *function = NULL;
  if (result == CUDA_SUCCESS)
    kernel = standin_image_find (module->image, name);
  if (result == CUDA_SUCCESS && !kernel)
    result = CUDA_ERROR_NOT_FOUND;
  if (result == CUDA_SUCCESS) {
    CUfunction f = calloc (1, sizeof *f);
    f->kernel = kernel;
    f->max_shared = SHARED_DEFAULT;
    f->next = module->functions;
    module->functions = f;
    *function = f;
  }
  return standin_leave (result);
}

STANDIN_API
cuFuncGetAttribute (int *value, CUfunction_attribute attribute,
    CUfunction function)
{
  CUresult result = standin_enter (__func__);

  *value = 0;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    *value = (int)function->kernel->max_threads;
  else if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    *value = function->max_shared;
  return standin_leave (result);
}

STANDIN_API
cuFuncSetAttribute (CUfunction function, CUfunction_attribute attribute,
    int value)
{
  CUresult result = standin_enter (__func__);

  if (result == CUDA_SUCCESS &&
      attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    if (value > standin_card ()->block_shared * 1024)
      result = CUDA_ERROR_INVALID_VALUE;
    else
      function->max_shared = value;
  }
  return standin_leave (result);
}

STANDIN_API
cuOccupancyMaxActiveBlocksPerMultiprocessor (int *n_blocks, CUfunction function,
    int block_size, size_t shared_size)
{
  CUresult result = standin_enter (__func__);
  const StandinCard *card = standin_card ();
  size_t most = (size_t)card->shared * 1024 / (shared_size + SHARED_OF_SYSTEM);

  /* What registers allow is not known here. */
  *n_blocks = card->n_blocks;
  if (card->n_threads / block_size < *n_blocks)
    *n_blocks = card->n_threads / block_size;
  if ((size_t)*n_blocks > most)
    *n_blocks = (int)most;
  if (shared_size > (size_t)function->max_shared)
    *n_blocks = 0;
  return standin_leave (result);
}

STANDIN_API
cuLaunchKernel (CUfunction function, unsigned grid_x, unsigned grid_y,
    unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_size, CUstream stream, void **arguments, void **extra)
{
  CUresult result = standin_enter (__func__);
  const StandinKernel *kernel;
  StandinWork work = { .kind = STANDIN_LAUNCH };

  if (result != CUDA_SUCCESS)
    return standin_leave (result);
  kernel = function->kernel;
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 ||
      block_y != 1 || block_z != 1)
    result = standin_fault (CUDA_ERROR_INVALID_VALUE,
        "%s: grid %u x %u x %u, block %u x %u x %u", kernel->name, grid_x,
        grid_y, grid_z, block_x, block_y, block_z);
  else if (block_x > kernel->max_threads || block_x % 32 != 0)
    result = standin_fault (CUDA_ERROR_INVALID_VALUE,
        "%s: %u threads in a block, %u are allowed", kernel->name, block_x,
        kernel->max_threads);
  else if (shared_size > (unsigned)function->max_shared)
    result = standin_fault (CUDA_ERROR_INVALID_VALUE,
        "%s: %u bytes of shared memory, %d are allowed", kernel->name,
        shared_size, function->max_shared);
  else if (!standin_stream_is_valid (stream))
    result = CUDA_ERROR_INVALID_HANDLE;
  else
    result = standin_memory_check_arguments (kernel->name, arguments[0],
        kernel->args_size);
  if (result == CUDA_SUCCESS) {
    work.kernel = kernel;
    work.args = malloc (kernel->args_size);
    memcpy (work.args, arguments[0], kernel->args_size);
    work.grid_dim = grid_x;
    work.block_dim = block_x;
    work.shared_size = shared_size;
    result = standin_submit (stream, &work);
  }
  return standin_leave (result);
}
