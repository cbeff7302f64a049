/* SPDX-License-Identifier: LGPL-2.1-or-later
 * module.c: finds kernels by name in loaded modules, and loads more. */
#include "module.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "embedded.h"

/* A loaded image. */
typedef struct TfxModule
{
  CUmodule module;
  const void *embedded;            /* the image, if it is one of the embedded */
  char name[TFX_KERNEL_NAME_SIZE]; /* otherwise its only kernel */
  struct TfxModule *next;
} TfxModule;

/* The loaded modules, the newest first.  A module stays on the list, so that only the
 * head needs the lock. */
static TfxModule *
modules (TfxCuda *cuda)
{
  TfxModule *first;

  pthread_mutex_lock (&cuda->lock);
  first = cuda->modules;
  pthread_mutex_unlock (&cuda->lock);
  return first;
}

/* Loads an image; embedded: whether it is one of the embedded.  The driver takes long, so the
 * lock is held for the list only; two threads that load one image get a module each. */
static int
load (TfxCuda *cuda, const void *image, const char *name, bool embedded,
    TfxModule **out)
{
  TfxModule *m = calloc (1, sizeof *m);
  CUresult result;
  char text[128];

  if (!m)
    return -ENOMEM;
  result = cuda->driver->module_load_data (&m->module, image);
  if (result != CUDA_SUCCESS) {
    tfx_driver_describe (cuda->driver, result, text, sizeof text);
    tfx_context_set_error (cuda, "%s: loading %s failed: %s", cuda->name,
        *name ? name : "the kernels", text);
    free (m);
    return -EIO;
  }
  snprintf (m->name, sizeof m->name, "%s", name);
  m->embedded = embedded ? image : NULL;
  pthread_mutex_lock (&cuda->lock);
  m->next = cuda->modules;
  cuda->modules = m;
  pthread_mutex_unlock (&cuda->lock);
  *out = m;
  return 0;
}

static TfxModule *
find (TfxCuda *cuda, const char *name)
{
  for (TfxModule *m = modules (cuda); m; m = m->next) {
    if (strcmp (m->name, name) == 0)
      return m;
  }
  return NULL;
}

/* A driver loads machine code of toolkits of the same major version or older, and
 * PTX of the same version or older. */
static bool
suits_driver (bool machine_code)
{
  int version = tfx_driver_get_version ();

  if (version == 0)
    return true;
  return machine_code ? tfx_kernel_toolkit / 1000 <= version / 1000
                      : tfx_kernel_toolkit <= version;
}

/* The newest machine code that the device runs, else PTX; 0: neither. */
static int
best_arch (int compute, bool machine_code)
{
  int best = 0;

  if (!suits_driver (machine_code))
    return 0;
  for (size_t i = 0; i < tfx_n_kernel_images; i++) {
    const TfxKernelImage *image = &tfx_kernel_images[i];

    if ((image->is_machine_code != 0) == machine_code &&
        image->arch <= compute && image->arch > best &&
        (!machine_code || image->arch / 10 == compute / 10))
      best = image->arch;
  }
  return best;
}

static bool
is_loaded (TfxCuda *cuda, const void *embedded)
{
  for (const TfxModule *m = modules (cuda); m; m = m->next) {
    if (m->embedded == embedded)
      return true;
  }
  return false;
}

/* Loads the embedded images of an architecture, each once. */
static int
load_embedded (TfxCuda *cuda, int arch, bool machine_code)
{
  int ret = 0;

  for (size_t i = 0; ret == 0 && i < tfx_n_kernel_images; i++) {
    const TfxKernelImage *image = &tfx_kernel_images[i];
    TfxModule *m;

    if (image->arch != arch || (image->is_machine_code != 0) != machine_code ||
        is_loaded (cuda, image->data))
      continue;
    ret = load (cuda, image->data, "", true, &m);
  }
  return ret;
}

static bool
find_embedded (TfxCuda *cuda, const char *name, CUfunction *function)
{
  for (TfxModule *m = modules (cuda); m; m = m->next) {
    if (m->embedded && cuda->driver->module_get_function (function, m->module,
                           name) == CUDA_SUCCESS)
      return true;
  }
  return false;
}

/* ---- compile tasks -------------------------------------------------------------- */

/* A kernel that a thread compiles, so that no streaming thread waits for it. */
typedef struct TfxCompileTask
{
  TfxKernelId id;
  char name[TFX_KERNEL_NAME_SIZE];
  int compute;
  pthread_t thread;
  bool has_ended; /* atomic; until then the thread owns the members below */
  int ret;
  void *image;
  size_t size;
  char why[256];
  struct TfxCompileTask *next;
} TfxCompileTask;

static void *
task_run (void *data)
{
  TfxCompileTask *task = data;

  task->ret = tfx_compile_kernel (&task->id, task->compute, &task->image,
      &task->size, task->why, sizeof task->why);
  __atomic_store_n (&task->has_ended, true, __ATOMIC_RELEASE);
  return NULL;
}

static bool
has_ended (const TfxCompileTask *task)
{
  return __atomic_load_n (&task->has_ended, __ATOMIC_ACQUIRE);
}

/* Starts a task.  -EINPROGRESS; or -EAGAIN without memory or a thread. */
static int
task_start (TfxCuda *cuda, const TfxKernelId *id, const char *name)
{
  TfxCompileTask *task = calloc (1, sizeof *task);

  if (!task)
    return -EAGAIN;
  task->id = *id;
  task->compute = cuda->card.compute;
  snprintf (task->name, sizeof task->name, "%s", name);
  if (pthread_create (&task->thread, NULL, task_run, task) != 0) {
    free (task);
    return -EAGAIN;
  }
  task->next = cuda->tasks;
  cuda->tasks = task;
  return -EINPROGRESS;
}

/* As tfx_compile_kernel(), but in a thread that the first call starts; -EINPROGRESS until
 * it has ended.  -EAGAIN: no thread can be created, so the caller compiles the kernel. */
static int
compile_in_thread (TfxCuda *cuda, const TfxKernelId *id, const char *name,
    void **image, char *why, size_t why_size)
{
  TfxCompileTask **link = &cuda->tasks, *task;
  int ret = -EINPROGRESS;

  pthread_mutex_lock (&cuda->lock);
  while (*link && strcmp ((*link)->name, name) != 0)
    link = &(*link)->next;
  task = *link;
  if (!task) {
    ret = task_start (cuda, id, name);
  } else if (has_ended (task)) {
    pthread_join (task->thread, NULL);
    *link = task->next;
    *image = task->image;
    snprintf (why, why_size, "%s", task->why);
    ret = task->ret;
    free (task);
  }
  pthread_mutex_unlock (&cuda->lock);
  return ret;
}

/* ---- kernels ---------------------------------------------------------------------- */

static int
compiled (TfxCuda *cuda, const TfxKernelId *id, const char *name,
    TfxModule **module)
{
  char why[TFX_CONTEXT_ERROR_SIZE] = "";
  void *image;
  size_t size;
  int ret = -EAGAIN;

  *module = find (cuda, name);
  if (*module)
    return 0;
  if (!__atomic_load_n (&cuda->waiting, __ATOMIC_RELAXED))
    ret = compile_in_thread (cuda, id, name, &image, why, sizeof why);
  if (ret == -EAGAIN)
    ret = tfx_compile_kernel (id, cuda->card.compute, &image, &size, why,
        sizeof why);
  if (*why)
    tfx_context_set_error (cuda, "%s", why);
  if (ret < 0)
    return ret;
  ret = load (cuda, image, name, false, module);
  free (image);
  return ret;
}

/* Adds the reason why embedded code was refused to the error. */
static void
explain (TfxCuda *cuda, const char *refused)
{
  char text[TFX_CONTEXT_ERROR_SIZE];

  if (!*refused)
    return;
  snprintf (text, sizeof text, "%s", tfx_context_error (cuda));
  tfx_context_set_error (cuda, "%.200s; %.300s", refused, text);
}

/* Embedded machine code; else a kernel that NVRTC compiles, because the driver would
 * compile all of the PTX; else the PTX. */
static int
find_function (TfxCuda *cuda, const TfxKernelId *id, CUfunction *function)
{
  int machine_code = best_arch (cuda->card.compute, true);
  int ptx = best_arch (cuda->card.compute, false);
  char name[TFX_KERNEL_NAME_SIZE], text[128], refused[256] = "";
  CUresult result;
  TfxModule *m;
  int ret;

  tfx_kernel_name (id, name);
  if (machine_code && load_embedded (cuda, machine_code, true) < 0)
    snprintf (refused, sizeof refused, "%.255s", tfx_context_error (cuda));
  else if (machine_code && find_embedded (cuda, name, function))
    return 0;
  ret = compiled (cuda, id, name, &m);
  if (ret == -EINPROGRESS)
    return ret;
  if (ret < 0 && ptx && load_embedded (cuda, ptx, false) == 0 &&
      find_embedded (cuda, name, function))
    return 0;
  if (ret < 0) {
    explain (cuda, refused);
    return ret;
  }
  result = cuda->driver->module_get_function (function, m->module, name);
  if (result == CUDA_SUCCESS)
    return 0;
  tfx_driver_describe (cuda->driver, result, text, sizeof text);
  tfx_context_set_error (cuda, "%s: no kernel %s: %s", cuda->name, name, text);
  return -EIO;
}

int
tfx_module_kernel (TfxCuda *cuda, const TfxKernelId *id, TfxKernel *kernel)
{
  const TfxDriver *d = cuda->driver;
  TfxKernel found = { 0 };
  int ret;

  tfx_kernel_name (id, found.name);
  ret = find_function (cuda, id, &found.function);
  if (ret == 0)
    ret = tfx_context_check (cuda,
        d->func_get_attribute (&found.max_threads,
            CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, found.function),
        "asking for a kernel's properties");
  if (ret == 0)
    ret = tfx_context_check (cuda,
        d->func_set_attribute (found.function,
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            cuda->card.max_shared),
        "asking for shared memory");
  if (ret == 0)
    *kernel = found;
  return ret;
}

int
tfx_module_launch (TfxCudaStream *stream, const TfxKernel *kernel,
    size_t n_blocks, unsigned n_threads, size_t shared_size, void *args)
{
  const uint64_t start = tfx_driver_now ();
  CUresult result;

  /* The largest grid; a block of samples needs less. */
  if (n_blocks > 0x7fffffff)
    return -EINVAL;
  stream->n_launches++;
  result = stream->cuda->driver->launch_kernel (kernel->function,
      (unsigned)n_blocks, 1, 1, n_threads, 1, 1, (unsigned)shared_size,
      stream->handle, &args, NULL);
  tfx_driver_did ("launch", kernel->name, 0, start);
  return tfx_context_check (stream->cuda, result, "starting a kernel");
}

bool
tfx_module_is_compiling (TfxCuda *cuda)
{
  bool is_compiling = false;

  pthread_mutex_lock (&cuda->lock);
  for (TfxCompileTask *task = cuda->tasks; task; task = task->next)
    is_compiling = is_compiling || !has_ended (task);
  pthread_mutex_unlock (&cuda->lock);
  return is_compiling;
}

void
tfx_module_finish (TfxCuda *cuda)
{
  const struct timespec pause = { .tv_nsec = 2000000 };

  /* Without the lock, which streams take. */
  while (tfx_module_is_compiling (cuda))
    nanosleep (&pause, NULL);
}

void
tfx_module_clear (TfxCuda *cuda)
{
  while (cuda->tasks) {
    TfxCompileTask *next = cuda->tasks->next;

    pthread_join (cuda->tasks->thread, NULL);
    free (cuda->tasks->image);
    free (cuda->tasks);
    cuda->tasks = next;
  }
  while (cuda->modules) {
    TfxModule *next = cuda->modules->next;

    cuda->driver->module_unload (cuda->modules->module);
    free (cuda->modules);
    cuda->modules = next;
  }
}
