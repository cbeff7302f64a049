/* SPDX-License-Identifier: LGPL-2.1-or-later
 * nvrtc.c: NVRTC itself (the library that TFX_NVRTC names), but what is said to
 * be machine code is PTX of the same architecture, which can be interpreted. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__ ((visibility ("default")))
#define MAX_OPTIONS 32

typedef int Result;
typedef struct Program *Program;

API Result nvrtcVersion (int *major, int *minor);
API const char *nvrtcGetErrorString (Result result);
API Result nvrtcGetNumSupportedArchs (int *n);
API Result nvrtcGetSupportedArchs (int *archs);
API Result nvrtcCreateProgram (Program *program, const char *source,
    const char *name, int n_headers, const char *const *headers,
    const char *const *names);
API Result nvrtcCompileProgram (Program program, int n_options,
    const char *const *options);
API Result nvrtcDestroyProgram (Program *program);
API Result nvrtcGetProgramLogSize (Program program, size_t *size);
API Result nvrtcGetProgramLog (Program program, char *text);
API Result nvrtcGetCUBINSize (Program program, size_t *size);
API Result nvrtcGetCUBIN (Program program, char *image);
API Result nvrtcGetPTXSize (Program program, size_t *size);
API Result nvrtcGetPTX (Program program, char *image);

/* A function of the real one; the program ends if there is none. */
static void *
real (const char *name)
{
  static void *library;
  const char *path = getenv ("TFX_NVRTC");
  void *function = NULL;

  if (!library)
    library = path ? dlopen (path, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library)
    function = dlsym (library, name);
  if (!function) {
    fprintf (stderr, "TFX_NVRTC=%s: no %s\n", path ? path : "", name);
    abort ();
  }
  return function;
}

Result
nvrtcVersion (int *major, int *minor)
{
  return ((Result (*) (int *, int *))real (__func__)) (major, minor);
}

const char *
nvrtcGetErrorString (Result result)
{
  return ((const char *(*)(Result))real (__func__)) (result);
}

Result
nvrtcGetNumSupportedArchs (int *n)
{
  return ((Result (*) (int *))real (__func__)) (n);
}

Result
nvrtcGetSupportedArchs (int *archs)
{
  return ((Result (*) (int *))real (__func__)) (archs);
}

Result
nvrtcCreateProgram (Program *program, const char *source, const char *name,
    int n_headers, const char *const *headers, const char *const *names)
{
  return ((Result (*) (Program *, const char *, const char *, int,
      const char *const *, const char *const *))real (__func__)) (program,
      source, name, n_headers, headers, names);
}

Result
nvrtcCompileProgram (Program program, int n_options, const char *const *options)
{
  static const char machine_code[] = "--gpu-architecture=sm_";
  const char *changed[MAX_OPTIONS];
  char arch[64];

  for (int i = 0; i < n_options && i < MAX_OPTIONS; i++) {
    changed[i] = options[i];
    if (strncmp (options[i], machine_code, strlen (machine_code)) == 0) {
      snprintf (arch, sizeof arch, "--gpu-architecture=compute_%s",
          options[i] + strlen (machine_code));
      changed[i] = arch;
    }
  }
  return ((Result (*) (Program, int, const char *const *))real (
      __func__)) (program, n_options, changed);
}

Result
nvrtcDestroyProgram (Program *program)
{
  return ((Result (*) (Program *))real (__func__)) (program);
}

Result
nvrtcGetProgramLogSize (Program program, size_t *size)
{
  return ((Result (*) (Program, size_t *))real (__func__)) (program, size);
}

Result
nvrtcGetProgramLog (Program program, char *text)
{
  return ((Result (*) (Program, char *))real (__func__)) (program, text);
}

Result
nvrtcGetPTXSize (Program program, size_t *size)
{
  return ((Result (*) (Program, size_t *))real (__func__)) (program, size);
}

Result
nvrtcGetPTX (Program program, char *image)
{
  return ((Result (*) (Program, char *))real (__func__)) (program, image);
}

Result
nvrtcGetCUBINSize (Program program, size_t *size)
{
  return nvrtcGetPTXSize (program, size);
}

Result
nvrtcGetCUBIN (Program program, char *image)
{
  return nvrtcGetPTX (program, image);
}
