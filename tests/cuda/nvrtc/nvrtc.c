/* SPDX-License-Identifier: LGPL-2.1-or-later
 * nvrtc.c: a stand-in for libnvrtc, for machines without the toolkit.
 *
 * What it compiles is nothing; the stand-in driver runs the kernels by their
 * names.  It checks that the caller gives it what NVRTC needs, and its version,
 * part of the key of the disk cache, is that of TFX_NVRTC_VERSION (13).
 * TFX_NVRTC_FAIL set: nothing compiles.  TFX_NVRTC_LOG: a file that gets a line
 * for each compilation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__ ((visibility ("default")))

typedef int Result;
typedef struct Program
{
  int has_source, n_headers;
} * Program;

static const char machine_code[] = "\177ELF stand-in";
static const char ptx[] = ".version 0.0 // stand-in";

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

static const int supported[] = { 75, 80, 86, 90, 100, 120 };
#define N_SUPPORTED (int)(sizeof supported / sizeof *supported)

static const char failure_log[] =
    "cascade.h(1): note: it would work with a compiler\n"
    "cascade.h(2): error: this is a stand-in\n";

Result
nvrtcVersion (int *major, int *minor)
{
  const char *version = getenv ("TFX_NVRTC_VERSION");

  *major = version ? atoi (version) : 13;
  *minor = 0;
  return 0;
}

const char *
nvrtcGetErrorString (Result result)
{
  return result == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

Result
nvrtcGetNumSupportedArchs (int *n)
{
  *n = N_SUPPORTED;
  return 0;
}

Result
nvrtcGetSupportedArchs (int *archs)
{
  memcpy (archs, supported, sizeof supported);
  return 0;
}

Result
nvrtcCreateProgram (Program *program, const char *source, const char *name,
    int n_headers, const char *const *headers, const char *const *names)
{
  Program p = calloc (1, sizeof *p);

  p->has_source = source && strstr (source, "TFX_KERNEL") && name;
  for (int i = 0; i < n_headers; i++)
    p->n_headers += headers[i] && names[i] && headers[i][0] != '\0';
  *program = p;
  return 0;
}

Result
nvrtcCompileProgram (Program program, int n_options, const char *const *options)
{
  const char *path = getenv ("TFX_NVRTC_LOG");
  FILE *file = path ? fopen (path, "a") : NULL;
  int has_arch = 0;

  for (int i = 0; i < n_options; i++)
    has_arch |= strncmp (options[i], "--gpu-architecture=", 19) == 0;
  if (file) {
    for (int i = 0; i < n_options; i++)
      fprintf (file, "%s%s", options[i], i + 1 < n_options ? " " : "\n");
    fclose (file);
  }
  if (!program->has_source || program->n_headers < 5 || !has_arch ||
      getenv ("TFX_NVRTC_FAIL"))
    return 6;
  return 0;
}

Result
nvrtcDestroyProgram (Program *program)
{
  free (*program);
  *program = NULL;
  return 0;
}

Result
nvrtcGetProgramLogSize (Program program, size_t *size)
{
  *size = sizeof failure_log;
  return program ? 0 : 4;
}

Result
nvrtcGetProgramLog (Program program, char *text)
{
  memcpy (text, failure_log, sizeof failure_log);
  return program ? 0 : 4;
}

Result
nvrtcGetCUBINSize (Program program, size_t *size)
{
  *size = sizeof machine_code;
  return program ? 0 : 4;
}

Result
nvrtcGetCUBIN (Program program, char *image)
{
  memcpy (image, machine_code, sizeof machine_code);
  return program ? 0 : 4;
}

Result
nvrtcGetPTXSize (Program program, size_t *size)
{
  *size = sizeof ptx;
  return program ? 0 : 4;
}

Result
nvrtcGetPTX (Program program, char *image)
{
  memcpy (image, ptx, sizeof ptx);
  return program ? 0 : 4;
}
