/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_compile.c: kernels compiled at run time, and kept on disk.
 *
 * With the stand-in for NVRTC: its options, the cache, the messages.
 * With NVRTC: it compiles every kernel. */
#include "chains.h"
#include "compile.h"
#include "module.h"
#include "tap.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], log_path[96];
static const char *program;
static bool is_real, is_absent;

static const char *const units[] = { "clip", "copy", "dynamics", "limiter",
  "limiter_far", "mix", "reverb" };

/* All kernels of an arithmetic. */
static unsigned
kernels_of (TfxReal real, TfxKernelId *ids)
{
  unsigned n = 0;

  for (unsigned group = 1; group <= TFX_GROUP_MAX; group++) {
    ids[n++] = (TfxKernelId){ TFX_KERNEL_CASCADE, real, true, group, NULL };
    ids[n++] = (TfxKernelId){ TFX_KERNEL_CASCADE, real, false, group, NULL };
  }
  ids[n++] = (TfxKernelId){ .kind = TFX_KERNEL_FIR, .real = real };
  for (int is_narrow = 0; is_narrow < 2; is_narrow++)
    ids[n++] = (TfxKernelId){ TFX_KERNEL_FFT, real, is_narrow, 0, NULL };
  ids[n++] = (TfxKernelId){ .kind = TFX_KERNEL_DELAY };
  for (size_t i = 0; i < N_OF (units); i++)
    ids[n++] = (TfxKernelId){ .kind = TFX_KERNEL_UNIT, .unit = units[i] };
  return n;
}

#define MAX_KERNELS (2 * TFX_GROUP_MAX + 4 + N_OF (units))

static bool
contains (const void *data, size_t size, const char *text)
{
  return memmem (data, size, text, strlen (text)) != NULL;
}

static void
check_kernels (TapMany *many, TfxReal real, int compute)
{
  TfxKernelId ids[MAX_KERNELS];
  unsigned n = kernels_of (real, ids);

  for (unsigned i = 0; i < n; i++) {
    char name[TFX_KERNEL_NAME_SIZE], why[512] = "";
    void *image = NULL;
    size_t size = 0;
    int ret =
        tfx_compile_kernel (&ids[i], compute, &image, &size, why, sizeof why);

    tfx_kernel_name (&ids[i], name);
    tap_many_check (many,
        ret == 0 && (!is_real || (size > 1000 && contains (image, size, name))),
        "%s for %d: %d, %zu bytes, %s", name, compute, ret, size, why);
    free (image);
  }
}

static void
test_real (void)
{
  TapMany many = tap_many ("NVRTC compiles every kernel");

  if (!is_real) {
    tap_skip ("there is no NVRTC", "NVRTC compiles every kernel");
    return;
  }
  check_kernels (&many, TFX_REAL_DOUBLE, 90);
  check_kernels (&many, TFX_REAL_TWOFOLD, 86);
  tap_many_end (&many);
}

/* ---- with the stand-in ---------------------------------------------------------- */

/* Or the test is skipped. */
static bool
has_standin (const char *test)
{
  if (is_real || is_absent)
    tap_skip ("needs the stand-in for NVRTC", "%s", test);
  return !is_real && !is_absent;
}

static unsigned
count_lines (const char *path, char *last, size_t size)
{
  FILE *file = fopen (path, "r");
  char line[512];
  unsigned n = 0;

  while (file && fgets (line, sizeof line, file)) {
    snprintf (last, size, "%s", line);
    n++;
  }
  if (file)
    fclose (file);
  return n;
}

static unsigned
compilations (void)
{
  char line[512];

  return count_lines (log_path, line, sizeof line);
}

static int
compile_one (int compute, char *why, size_t why_size)
{
  const TfxKernelId id = { TFX_KERNEL_CASCADE, TFX_REAL_DOUBLE, true, 3, NULL };
  void *image = NULL;
  size_t size;
  int ret = tfx_compile_kernel (&id, compute, &image, &size, why, why_size);

  free (image);
  return ret;
}

static void
test_options (void)
{
  static const struct
  {
    int compute;
    const char *option;
  } cases[] = { { 90, "--gpu-architecture=sm_90 " },
    { 75, "--gpu-architecture=sm_75 " },
    { 89, "--gpu-architecture=compute_86 " },
    { 130, "--gpu-architecture=compute_120 " } };
  TapMany many = tap_many ("the architecture suits the device");
  char why[256];

  if (!has_standin ("architectures"))
    return;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char line[512] = "";
    int ret = compile_one (cases[i].compute, why, sizeof why);

    count_lines (log_path, line, sizeof line);
    tap_many_check (&many,
        ret == 0 && strstr (line, cases[i].option) &&
            strstr (line, "-DCASCADE_NAME=tfx_cascade_f32_double_g3 "),
        "%d: %d, %s", cases[i].compute, ret, line);
  }
  tap_many_check (&many,
      compile_one (61, why, sizeof why) == -ENOTSUP && strstr (why, "6.1"),
      "6.1: %s", why);
  tap_many_end (&many);
}

/* Each kernel's file is among the sources, whatever their number. */
static void
test_sources (void)
{
  TapMany many = tap_many ("NVRTC gets the source of every kernel");

  if (!has_standin ("sources"))
    return;
  check_kernels (&many, TFX_REAL_DOUBLE, 90);
  tap_many_end (&many);
}

/* The path of the only entry, or of the last one. */
static bool
find_entry (char *path, size_t size)
{
  char name[96];
  const struct dirent *entry;
  DIR *dir;
  bool found = false;

  snprintf (name, sizeof name, "%s/gst-tfx", folder);
  dir = opendir (name);
  while (dir && (entry = readdir (dir))) {
    if (entry->d_name[0] == '.')
      continue;
    snprintf (path, size, "%s/%s", name, entry->d_name);
    found = true;
  }
  if (dir)
    closedir (dir);
  return found;
}

static void
empty_cache (void)
{
  char path[PATH_MAX];

  while (find_entry (path, sizeof path))
    unlink (path);
}

static void
test_cache (void)
{
  char why[256], path[PATH_MAX];
  unsigned before;
  FILE *file;

  if (!has_standin ("the cache"))
    return;
  empty_cache ();
  before = compilations ();
  compile_one (90, why, sizeof why);
  compile_one (90, why, sizeof why);
  tap_check (compilations () == before + 1,
      "compiled once, then from the cache");

  /* A byte of the image changes, and then the file ends early. */
  tap_check (find_entry (path, sizeof path), "there is an entry");
  file = fopen (path, "r+");
  fseek (file, -3, SEEK_END);
  fputc ('#', file);
  fclose (file);
  tap_check (compile_one (90, why, sizeof why) == 0 &&
                 compilations () == before + 2,
      "a damaged entry is compiled afresh");
  tap_check (truncate (path, 20) == 0 &&
                 compile_one (90, why, sizeof why) == 0 &&
                 compilations () == before + 3,
      "so is a truncated one");
  compile_one (90, why, sizeof why);
  tap_check (compilations () == before + 3, "and is whole again");

  setenv ("TFX_NVRTC_VERSION", "12", 1);
  compile_one (90, why, sizeof why);
  tap_check (compilations () == before + 4, "another compiler, another entry");
  unsetenv ("TFX_NVRTC_VERSION");
  compile_one (80, why, sizeof why);
  tap_check (compilations () == before + 5, "another device, another entry");
}

/* No cache is no error. */
static void
test_no_cache (void)
{
  char why[256];
  unsigned before = compilations ();

  if (!has_standin ("no cache"))
    return;
  setenv ("XDG_CACHE_HOME", "/proc/none", 1);
  tap_check (compile_one (90, why, sizeof why) == 0 &&
                 compile_one (90, why, sizeof why) == 0 &&
                 compilations () == before + 2,
      "a folder that cannot be made");
  unsetenv ("XDG_CACHE_HOME");
  unsetenv ("HOME");
  tap_check (compile_one (90, why, sizeof why) == 0, "no home");
  setenv ("XDG_CACHE_HOME", "relative", 1);
  tap_check (compile_one (90, why, sizeof why) == 0 &&
                 access ("relative", F_OK),
      "a path that is not absolute counts as none");
  setenv ("XDG_CACHE_HOME", folder, 1);
}

static void
test_message (void)
{
  char why[256] = "";
  int ret;

  if (!has_standin ("the message"))
    return;
  setenv ("TFX_NVRTC_FAIL", "1", 1);
  empty_cache ();
  ret = compile_one (90, why, sizeof why);
  unsetenv ("TFX_NVRTC_FAIL");
  tap_check (ret == -EIO &&
                 strcmp (why, "NVRTC failed: NVRTC_ERROR_COMPILATION: "
                              "cascade.h(2): error: this is a "
                              "stand-in") == 0,
      "\"%s\"", why);
}

/* Others could put kernels there, for us to run. */
static void
test_trust (void)
{
  static const struct
  {
    const char *what;
    unsigned base, folder;
  } cases[] = { { "that others can write", 0777, 0700 },
    { "that the group can write", 0770, 0700 },
    { "whose gst-tfx others can write", 0700, 0777 } };
  char why[256], name[96], path[PATH_MAX];

  if (!has_standin ("trust"))
    return;
  snprintf (name, sizeof name, "%s/gst-tfx", folder);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    unsigned before;

    empty_cache ();
    compile_one (90, why, sizeof why);
    before = compilations ();
    chmod (folder, cases[i].base);
    chmod (name, cases[i].folder);
    compile_one (90, why, sizeof why);
    tap_check (compilations () == before + 1,
        "no entry is read from a folder %s", cases[i].what);
    empty_cache ();
    compile_one (90, why, sizeof why);
    tap_check (!find_entry (path, sizeof path), "nor written there");
    chmod (folder, 0700);
    chmod (name, 0700);
  }
}

/* ---- versions ------------------------------------------------------------------- */

/* In a new process, with a driver for CUDA 12.8: the compiler of the last kernel,
 * from the log. */
static void
test_older_driver (void)
{
  char copy[256], command[768], line[512] = "";
  Dl_info info;
  void *library = dlopen ("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
  void *symbol = library ? dlsym (library, "nvrtcVersion") : NULL;

  if (is_real || is_absent || !symbol || !dladdr (symbol, &info)) {
    tap_skip ("needs the stand-in for NVRTC", "an older driver");
    return;
  }
  snprintf (copy, sizeof copy, "%s/libnvrtc.so.12", folder);
  snprintf (command, sizeof command,
      "cp '%s' '%s' && LD_LIBRARY_PATH='%s':\"$LD_LIBRARY_PATH\" "
      "TFX_STANDIN_DRIVER=12080 '%s' as-child",
      info.dli_fname, copy, folder, program);
  empty_cache ();
  tap_check (system (command) == 0, "a driver of CUDA 12 gets a plan");
  count_lines (log_path, line, sizeof line);
  tap_check (strncmp (line, "12: ", 4) == 0,
      "its kernels are made by NVRTC 12, though there is NVRTC 13: %.20s",
      line);
  unlink (copy);
  snprintf (command, sizeof command,
      "TFX_STANDIN_DRIVER=12080 '%s' as-child > /dev/null", program);
  empty_cache ();
  tap_check (system (command) != 0, "with NVRTC 13 alone there is none");
  dlclose (library);
}

/* Makes a plan, which takes a kernel; ends the process if it cannot. */
static int
run_as_child (void)
{
  const TfxSos sos[3] = { { .b0 = 1 }, { .b0 = 1 }, { .b0 = 1 } };
  const TfxFilterSpec spec = { RATE, 1, TFX_SAMPLE_F32, 0 };
  TfxChain *chain = test_cuda_chain (tfx_stage_new_id (), sos, 3);
  TfxCuda *cuda = test_cuda_new (NULL);
  CudaRow *row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));

  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  tfx_cuda_unref (&cuda);
  return 0;
}

/* ---- several threads ------------------------------------------------------------ */

static void *
find_kernel (void *data)
{
  const TfxKernelId id = { TFX_KERNEL_CASCADE, TFX_REAL_DOUBLE, true, 2, NULL };
  TfxCuda *cuda = data;
  TfxKernel kernel;

  if (tfx_context_enter (cuda) < 0)
    return NULL;
  tfx_module_kernel (cuda, &id, &kernel);
  tfx_context_leave (cuda);
  return NULL;
}

/* A pipeline takes its streams while another one waits for the compiler. */
static void
test_lock (void)
{
  TfxCuda *cuda =
      is_real || is_absent ? NULL : test_cuda_new (TEST_CUDA_DOUBLE);
  char hold[96];
  pthread_t thread;
  bool is_free;

  if (!cuda || cuda->real != TFX_REAL_DOUBLE) {
    tap_skip ("needs the stand-ins", "the lock is free during a compilation");
    tfx_cuda_unref (&cuda);
    return;
  }
  snprintf (hold, sizeof hold, "%s/hold", folder);
  fclose (fopen (hold, "w"));
  test_cuda_set ("TFX_NVRTC_HOLD", hold);
  /* NVRTC opens the log before it waits. */
  unlink (log_path);
  pthread_create (&thread, NULL, find_kernel, cuda);
  for (int i = 0; i < 500 && access (log_path, F_OK) < 0; i++)
    usleep (10000);
  is_free = pthread_mutex_trylock (&cuda->lock) == 0;
  if (is_free)
    pthread_mutex_unlock (&cuda->lock);
  unlink (hold);
  pthread_join (thread, NULL);
  test_cuda_set ("TFX_NVRTC_HOLD", NULL);
  tap_check (is_free, "the lock is free during a compilation");
  tfx_cuda_unref (&cuda);
}

static const TapTest tests[] = {
  { "real", test_real },
  { "options", test_options },
  { "sources", test_sources },
  { "cache", test_cache },
  { "no-cache", test_no_cache },
  { "message", test_message },
  { "trust", test_trust },
  { "lock", test_lock },
  { "older-driver", test_older_driver },
  { NULL, NULL },
};

/* The images of the stand-in contain its name. */
static bool
find_nvrtc (void)
{
  const TfxKernelId id = { .kind = TFX_KERNEL_DELAY };
  char why[256];
  void *image;
  size_t size;
  bool real;

  if (tfx_compile_kernel (&id, 90, &image, &size, why, sizeof why) < 0) {
    is_absent = strstr (why, "no NVRTC") != NULL;
    return false;
  }
  real = !contains (image, size, "stand-in");
  free (image);
  return real;
}

int
main (int argc, char **argv)
{
  char command[128];
  int status;

  if (argc == 2 && strcmp (argv[1], "as-child") == 0)
    return run_as_child ();
  program = argv[0];
  snprintf (folder, sizeof folder, "/tmp/tfx-compile-%d", (int)getpid ());
  snprintf (log_path, sizeof log_path, "%s/log", folder);
  mkdir (folder, 0700);
  setenv ("XDG_CACHE_HOME", folder, 1);
  setenv ("TFX_NVRTC_LOG", log_path, 1);
  is_real = find_nvrtc ();
  status = tap_main (argc, argv, tests);
  snprintf (command, sizeof command, "rm -rf %s", folder);
  if (system (command) != 0)
    status = 1;
  return status;
}
