/* SPDX-License-Identifier: LGPL-2.1-or-later
 * compile.c: NVRTC, found at run time. */
#include "compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "driver.h"
#include "embedded.h"

typedef int NvrtcResult; /* 0: success */
typedef struct _nvrtcProgram *NvrtcProgram;

typedef struct Nvrtc
{
  NvrtcResult (*version) (int *major, int *minor);
  const char *(*error_string) (NvrtcResult result);
  NvrtcResult (*n_archs) (int *n);
  NvrtcResult (*archs) (int *archs);
  NvrtcResult (*create) (NvrtcProgram *program, const char *source,
      const char *name, int n_headers, const char *const *headers,
      const char *const *names);
  NvrtcResult (*compile) (NvrtcProgram program, int n_options,
      const char *const *options);
  NvrtcResult (*destroy) (NvrtcProgram *program);
  NvrtcResult (*log_size) (NvrtcProgram program, size_t *size);
  NvrtcResult (*log) (NvrtcProgram program, char *text);
  NvrtcResult (*cubin_size) (NvrtcProgram program, size_t *size);
  NvrtcResult (*cubin) (NvrtcProgram program, char *image);
  NvrtcResult (*ptx_size) (NvrtcProgram program, size_t *size);
  NvrtcResult (*ptx) (NvrtcProgram program, char *image);
} Nvrtc;

static const struct
{
  const char *name;
  size_t offset;
} symbols[] = {
  { "nvrtcVersion", offsetof (Nvrtc, version) },
  { "nvrtcGetErrorString", offsetof (Nvrtc, error_string) },
  { "nvrtcGetNumSupportedArchs", offsetof (Nvrtc, n_archs) },
  { "nvrtcGetSupportedArchs", offsetof (Nvrtc, archs) },
  { "nvrtcCreateProgram", offsetof (Nvrtc, create) },
  { "nvrtcCompileProgram", offsetof (Nvrtc, compile) },
  { "nvrtcDestroyProgram", offsetof (Nvrtc, destroy) },
  { "nvrtcGetProgramLogSize", offsetof (Nvrtc, log_size) },
  { "nvrtcGetProgramLog", offsetof (Nvrtc, log) },
  { "nvrtcGetCUBINSize", offsetof (Nvrtc, cubin_size) },
  { "nvrtcGetCUBIN", offsetof (Nvrtc, cubin) },
  { "nvrtcGetPTXSize", offsetof (Nvrtc, ptx_size) },
  { "nvrtcGetPTX", offsetof (Nvrtc, ptx) },
};

/* The newest first. */
static const char *const libraries[] = { "libnvrtc.so.13", "libnvrtc.so.12",
  "libnvrtc.so.11.2", "libnvrtc.so" };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static Nvrtc nvrtc;
static bool usable;
static char reason[256];

static bool
look_up (void *library, Nvrtc *found)
{
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    void *address = dlsym (library, symbols[i].name);

    if (!address) {
      snprintf (reason, sizeof reason, "NVRTC is too old: it has no %s",
          symbols[i].name);
      return false;
    }
    *(void **)((char *)found + symbols[i].offset) = address;
  }
  return true;
}

/* A driver loads images of compilers of the same major version or older. */
static bool
suits_driver (const Nvrtc *found)
{
  int major = 0, minor = 0, most = tfx_driver_get_major ();

  if (found->version (&major, &minor) != 0 || most == 0 || major <= most)
    return true;
  snprintf (reason, sizeof reason,
      "NVRTC is of CUDA %d.%d and the driver of CUDA %d: it needs NVRTC of "
      "CUDA %d or older (libnvrtc.so.%d)",
      major, minor, most, most, most);
  return false;
}

static void
nvrtc_open (void)
{
  snprintf (reason, sizeof reason,
      "there is no kernel for this device in the plugin, and no NVRTC to "
      "compile one (libnvrtc.so of the CUDA toolkit 11.2 or newer)");
  for (size_t i = 0; !usable && i < sizeof libraries / sizeof *libraries; i++) {
    void *library = dlopen (libraries[i], RTLD_NOW | RTLD_LOCAL);

    if (!library)
      continue;
    usable = look_up (library, &nvrtc) && suits_driver (&nvrtc);
    if (!usable)
      dlclose (library);
  }
}

/* ---- names ------------------------------------------------------------------- */

void
tfx_kernel_name (const TfxKernelId *id, char *name)
{
  const char *real = id->real == TFX_REAL_DOUBLE ? "double" : "twofold";

  switch (id->kind) {
    case TFX_KERNEL_CASCADE:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_cascade_%s_%s_g%u",
          id->is_narrow ? "f32" : "any", real, id->group);
      break;
    case TFX_KERNEL_DELAY:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_delay");
      break;
    case TFX_KERNEL_UNIT:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_%s", id->unit);
      break;
    case TFX_KERNEL_FIR:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_fir_%s", real);
      break;
    case TFX_KERNEL_FFT:
      snprintf (name, TFX_KERNEL_NAME_SIZE, "tfx_fft_f%s%s",
          id->is_narrow ? "32_" : "64", id->is_narrow ? real : "");
      break;
  }
}

/* ---- options ------------------------------------------------------------------ */

#define MAX_OPTIONS 8

typedef struct Options
{
  const char *source; /* the file */
  bool is_machine_code;
  int n;
  char text[MAX_OPTIONS][80];
} Options;

static void __attribute__ ((format (printf, 2, 3)))
add_option (Options *options, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  vsnprintf (options->text[options->n++], sizeof options->text[0], format,
      args);
  va_end (args);
}

/* Machine code if NVRTC knows the device; otherwise PTX of the newest that it
 * knows and the device is not older than. */
static int
choose_arch (int compute, Options *options, char *why, size_t why_size)
{
  int archs[64], n = 0, best = 0;

  if (nvrtc.n_archs (&n) != 0 || n > 64 || nvrtc.archs (archs) != 0)
    n = 0;
  for (int i = 0; i < n; i++) {
    if (archs[i] <= compute && archs[i] > best)
      best = archs[i];
  }
  if (best == 0) {
    snprintf (why, why_size,
        "NVRTC compiles nothing for compute capability %d.%d", compute / 10,
        compute % 10);
    return -ENOTSUP;
  }
  options->is_machine_code = best == compute;
  add_option (options, "--gpu-architecture=%s_%d",
      options->is_machine_code ? "sm" : "compute", best);
  add_option (options, "--std=c++17");
  return 0;
}

static void
describe_kernel (const TfxKernelId *id, Options *options)
{
  const char *real = id->real == TFX_REAL_DOUBLE ? "double" : "Twofold";
  char name[TFX_KERNEL_NAME_SIZE];

  if (id->kind == TFX_KERNEL_CASCADE) {
    tfx_kernel_name (id, name);
    options->source = "cascade.cu";
    add_option (options, "-DCASCADE_NAME=%s", name);
    add_option (options, "-DCASCADE_ONLY=CASCADE_%s",
        id->is_narrow ? "FIXED" : "ANY");
    add_option (options, "-DCASCADE_REAL=%s", real);
    add_option (options, "-DCASCADE_GROUP=%u", id->group);
    return;
  }
  if (id->kind == TFX_KERNEL_FFT) {
    options->source = "fft.cu";
    add_option (options, "-DFFT_ONLY");
    add_option (options, "-DFFT_%s%s", id->is_narrow ? "FLOAT_" : "",
        id->is_narrow && id->real == TFX_REAL_TWOFOLD ? "TWOFOLD" : "DOUBLE");
    return;
  }
  if (id->kind == TFX_KERNEL_UNIT) {
    options->source = "units.cu";
    add_option (options, "-DUNITS_ONLY");
    add_option (options, "-DUNITS_%s", id->unit);
    return;
  }
  options->source = "window.cu";
  add_option (options, "-DWINDOW_ONLY");
  if (id->kind != TFX_KERNEL_FIR)
    add_option (options, "-DWINDOW_DELAY");
  else if (id->real == TFX_REAL_DOUBLE)
    add_option (options, "-DWINDOW_FIR_DOUBLE");
  else
    add_option (options, "-DWINDOW_FIR_TWOFOLD");
}

static uint64_t
key_of (const Options *options)
{
  uint64_t key = TFX_CACHE_SEED;
  int version[2] = { 0, 0 };

  nvrtc.version (&version[0], &version[1]);
  key = tfx_cache_hash (key, version, sizeof version);
  for (int i = 0; i < options->n; i++)
    key = tfx_cache_hash (key, options->text[i], strlen (options->text[i]) + 1);
  for (size_t i = 0; i < tfx_n_kernel_sources; i++)
    key = tfx_cache_hash (key, tfx_kernel_sources[i].text,
        strlen (tfx_kernel_sources[i].text) + 1);
  return key;
}

/* ---- compiling ----------------------------------------------------------------- */

static int
get_image (NvrtcProgram program, bool is_machine_code, void **image,
    size_t *size)
{
  char *bytes;

  if ((is_machine_code ? nvrtc.cubin_size : nvrtc.ptx_size) (program, size))
    return -EIO;
  bytes = malloc (*size + 1);
  if (!bytes)
    return -ENOMEM;
  bytes[*size] = '\0';
  if ((is_machine_code ? nvrtc.cubin : nvrtc.ptx) (program, bytes)) {
    free (bytes);
    return -EIO;
  }
  *image = bytes;
  return 0;
}

/* The first line of NVRTC's log that speaks of an error. */
static void
describe_failure (NvrtcProgram program, NvrtcResult result, char *why,
    size_t why_size)
{
  size_t size = 0;
  char *log = NULL;
  const char *line = NULL;

  if (nvrtc.log_size (program, &size) == 0 && size > 1)
    log = calloc (size + 1, 1);
  if (log && nvrtc.log (program, log) == 0)
    line = strstr (log, "error");
  while (line && line > log && line[-1] != '\n')
    line--;
  snprintf (why, why_size, "NVRTC failed: %s%s%.*s",
      nvrtc.error_string (result), line ? ": " : "",
      line ? (int)strcspn (line, "\n") : 0, line ? line : "");
  free (log);
}

static int
compile (const Options *options, void **image, size_t *size, char *why,
    size_t why_size)
{
  const size_t n = tfx_n_kernel_sources;
  const char **texts = calloc (2 * n, sizeof *texts), **names;
  const char *arguments[MAX_OPTIONS];
  const char *source = NULL;
  NvrtcProgram program;
  NvrtcResult result;
  int ret = 0;

  if (!texts) {
    snprintf (why, why_size, "there is no memory for the kernels' sources");
    return -ENOMEM;
  }
  names = texts + n;
  for (size_t i = 0; i < n; i++) {
    if (strcmp (tfx_kernel_sources[i].name, options->source) == 0)
      source = tfx_kernel_sources[i].text;
    texts[i] = tfx_kernel_sources[i].text;
    names[i] = tfx_kernel_sources[i].name;
  }
  for (int i = 0; i < options->n; i++)
    arguments[i] = options->text[i];
  result =
      nvrtc.create (&program, source, options->source, (int)n, texts, names);
  if (result != 0) {
    snprintf (why, why_size, "NVRTC failed: %s", nvrtc.error_string (result));
    free (texts);
    return -EIO;
  }
  result = nvrtc.compile (program, options->n, arguments);
  if (result != 0) {
    describe_failure (program, result, why, why_size);
    ret = -EIO;
  } else {
    ret = get_image (program, options->is_machine_code, image, size);
    if (ret < 0)
      snprintf (why, why_size, "NVRTC compiled nothing");
  }
  nvrtc.destroy (&program);
  free (texts);
  return ret;
}

int
tfx_compile_kernel (const TfxKernelId *id, int compute, void **image,
    size_t *size, char *why, size_t why_size)
{
  char name[TFX_KERNEL_NAME_SIZE];
  Options options = { 0 };
  uint64_t key;
  int ret;

  pthread_once (&once, nvrtc_open);
  if (!usable) {
    snprintf (why, why_size, "%s", reason);
    return -ENOSYS;
  }
  ret = choose_arch (compute, &options, why, why_size);
  if (ret < 0)
    return ret;
  describe_kernel (id, &options);
  tfx_kernel_name (id, name);
  key = key_of (&options);
  if (tfx_cache_read (name, key, image, size))
    return 0;
  ret = compile (&options, image, size, why, why_size);
  if (ret == 0)
    tfx_cache_write (name, key, *image, *size);
  return ret;
}
