/* SPDX-License-Identifier: LGPL-2.1-or-later
 * nvrtc.c: a stand-in for libnvrtc, for machines without the toolkit.
 *
 * It compiles nothing; the stand-in driver runs the kernels by their names.  It checks
 * the arguments that NVRTC needs.  Its version, part of the key of the disk cache, is
 * TFX_NVRTC_VERSION, or the one in the name of its file.
 * TFX_NVRTC_FAIL set: nothing compiles.  TFX_NVRTC_LOG: a file that gets a line
 * for each compilation.  TFX_NVRTC_HOLD: a file; while it is there a compilation
 * does not end, for half a minute at most. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__ ((visibility ("default")))

typedef int Result;
typedef struct Program
{
  int has_source, n_headers, arch;
} * Program;

/* The headers of an image, as a driver looks at them. */
#define MACHINE_CODE_SIZE 128
#define PTX_SIZE 64
#define ELF_MACHINE 190

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
  const char *name = NULL;
  Dl_info info;

  if (!version && dladdr ((void *)nvrtcVersion, &info))
    name = strstr (info.dli_fname, ".so.");
  if (!version)
    version = name ? name + 4 : "13";
  *major = atoi (version);
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
  const char *hold = getenv ("TFX_NVRTC_HOLD");
  int has_arch = 0, major, minor;

  for (int i = 0; hold && i < 3000 && access (hold, F_OK) == 0; i++)
    usleep (10000);
  nvrtcVersion (&major, &minor);
  for (int i = 0; i < n_options; i++) {
    const char *name = strrchr (options[i], '_');

    if (strncmp (options[i], "--gpu-architecture=", 19) != 0 || !name)
      continue;
    has_arch = 1;
    program->arch = atoi (name + 1);
  }
  if (file) {
    fprintf (file, "%d: ", major);
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
  *size = MACHINE_CODE_SIZE;
  return program ? 0 : 4;
}

Result
nvrtcGetCUBIN (Program program, char *image)
{
  unsigned short machine = ELF_MACHINE;
  unsigned flags;
  int major, minor;

  nvrtcVersion (&major, &minor);
  flags = (unsigned)program->arch << (major < 13 ? 0 : 8);
  memset (image, 0, MACHINE_CODE_SIZE);
  memcpy (image, "\177ELF", 4);
  image[8] = major < 13 ? 7 : 8;
  memcpy (image + 18, &machine, sizeof machine);
  memcpy (image + 48, &flags, sizeof flags);
  strcpy (image + 64, "stand-in");
  return program ? 0 : 4;
}

Result
nvrtcGetPTXSize (Program program, size_t *size)
{
  *size = PTX_SIZE;
  return program ? 0 : 4;
}

Result
nvrtcGetPTX (Program program, char *image)
{
  int major, minor;

  nvrtcVersion (&major, &minor);
  memset (image, 0, PTX_SIZE);
  snprintf (image, PTX_SIZE, ".version %d.0\n.target sm_%d // stand-in",
      major - 4, program->arch);
  return program ? 0 : 4;
}
