/* SPDX-License-Identifier: LGPL-2.1-or-later
 * common-cuda.c: see common-cuda.h. */
#include "common-cuda.h"

#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
stop (const char *what)
{
  printf ("Bail out! %s\n", what);
  exit (1);
}

static void
must (CUresult result, const char *what)
{
  char text[128];

  if (result == CUDA_SUCCESS)
    return;
  snprintf (text, sizeof text, "%s: CUDA error %d", what, (int)result);
  stop (text);
}

void
test_cuda_set (const char *name, const char *value)
{
  if (value)
    setenv (name, value, 1);
  else
    unsetenv (name);
}

const char *
test_cuda_report (void)
{
  static char path[64], text[4096];
  size_t n = 0;
  FILE *file;

  snprintf (path, sizeof path, "/tmp/tfx-report-%d", (int)getpid ());
  test_cuda_set ("TFX_STANDIN_REPORT", path);
  file = fopen (path, "r");
  if (file) {
    n = fread (text, 1, sizeof text - 1, file);
    fclose (file);
  }
  text[n] = '\0';
  unlink (path);
  return text;
}

TfxCuda *
test_cuda_new (const char *compute)
{
  TfxCuda *cuda;
  char why[256];

  if (compute) {
    test_cuda_set ("TFX_STANDIN_CC", compute);
    /* A device that is there, or is like one, is made to do either. */
    if (!test_cuda_is_standin () || getenv ("TFX_STANDIN_CARD"))
      test_cuda_set ("TFX_CUDA",
          strcmp (compute, TEST_CUDA_DOUBLE) == 0 ? "double" : "twofold");
  }
  if (tfx_cuda_new (-1, &cuda, why, sizeof why) < 0)
    stop (why);
  return cuda;
}

int
test_cuda_main (int argc, char **argv, const TapTest *tests,
    const char *compute, TfxCuda **cuda)
{
  int status;

  *cuda = test_cuda_new (compute);
  status = tap_main (argc, argv, tests);
  tfx_cuda_unref (cuda);
  return status;
}

int
test_cuda_main_both (int argc, char **argv, const TapTest *tests,
    TfxCuda *cudas[2])
{
  int status;

  cudas[0] = test_cuda_new (TEST_CUDA_DOUBLE);
  status = test_cuda_main (argc, argv, tests, TEST_CUDA_TWOFOLD, &cudas[1]);
  tfx_cuda_unref (&cudas[0]);
  return status;
}

int
test_cuda_main_standin (int argc, char **argv, const TapTest *tests)
{
  if (tfx_driver_get (NULL) && !test_cuda_is_standin ()) {
    printf ("1..0 # SKIP needs the stand-in\n");
    return 0;
  }
  return tap_main (argc, argv, tests);
}

bool
test_cuda_is_standin (void)
{
  const TfxDriver *d = tfx_driver_get (NULL);
  char name[64] = "";
  CUdevice device;

  if (d && d->device_get (&device, 0) == CUDA_SUCCESS)
    d->device_get_name (name, sizeof name, device);
  return strncmp (name, "stand-in", 8) == 0;
}

void
test_device_open (TestDevice *o, int ordinal)
{
  const TfxDriver *d = tfx_driver_get (NULL);

  d->device_get (&o->device, ordinal);
  d->primary_ctx_retain (&o->context, o->device);
  d->ctx_push (o->context);
  d->stream_create (&o->stream, CU_STREAM_NON_BLOCKING);
  d->module_load_data (&o->module, ".version 0.0");
}

void
test_device_close (TestDevice *o)
{
  const TfxDriver *d = tfx_driver_get (NULL);

  d->module_unload (o->module);
  d->stream_destroy (o->stream);
  d->ctx_pop (NULL);
  d->primary_ctx_release (o->device);
}

size_t
test_cuda_max_shared (TfxCuda *cuda)
{
  int size = 0;

  must (tfx_driver_get (NULL)->device_get_attribute (&size,
            CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            tfx_cuda_device (cuda)),
      "shared memory");
  return (size_t)size;
}

unsigned
test_cuda_copies (TfxCuda *cuda, unsigned n_blocks)
{
  int is_integrated = 0;

  must (tfx_driver_get (NULL)->device_get_attribute (&is_integrated,
            CU_DEVICE_ATTRIBUTE_INTEGRATED, tfx_cuda_device (cuda)),
      "properties");
  return is_integrated ? 0 : n_blocks;
}

/* ---- device memory ---------------------------------------------------------- */

static const TfxDriver *
enter (TfxCuda *cuda)
{
  const TfxDriver *d = tfx_driver_get (NULL);
  CUcontext context;

  must (d->primary_ctx_retain (&context, tfx_cuda_device (cuda)), "context");
  must (d->ctx_push (context), "context");
  return d;
}

static void
leave (TfxCuda *cuda, const TfxDriver *d)
{
  CUcontext context;

  d->ctx_pop (&context);
  d->primary_ctx_release (tfx_cuda_device (cuda));
}

void *
test_cuda_alloc (TfxCuda *cuda, size_t size)
{
  const TfxDriver *d = enter (cuda);
  CUdeviceptr memory;

  must (d->mem_alloc (&memory, size), "memory");
  leave (cuda, d);
  return (void *)(uintptr_t)memory;
}

void
test_cuda_free (TfxCuda *cuda, void *memory)
{
  const TfxDriver *d = enter (cuda);

  must (d->mem_free ((uintptr_t)memory), "memory");
  leave (cuda, d);
}

void *
test_cuda_alloc_pinned (TfxCuda *cuda, size_t size)
{
  const TfxDriver *d = enter (cuda);
  void *memory;

  must (d->mem_host_alloc (&memory, size, CU_MEMHOSTALLOC_PORTABLE), "memory");
  leave (cuda, d);
  return memory;
}

void
test_cuda_free_pinned (TfxCuda *cuda, void *memory)
{
  const TfxDriver *d = enter (cuda);

  must (d->mem_free_host (memory), "memory");
  leave (cuda, d);
}

void
test_cuda_upload (TfxCuda *cuda, void *to, const void *from, size_t size)
{
  const TfxDriver *d = enter (cuda);
  CUstream stream = tfx_cuda_stream (cuda);

  must (d->memcpy_htod_async ((uintptr_t)to, from, size, stream), "copy");
  must (d->stream_synchronize (stream), "copy");
  leave (cuda, d);
}

void
test_cuda_download (TfxCuda *cuda, void *to, const void *from, size_t size)
{
  const TfxDriver *d = enter (cuda);
  CUstream stream = tfx_cuda_stream (cuda);

  must (d->memcpy_dtoh_async (to, (uintptr_t)from, size, stream), "copy");
  must (d->stream_synchronize (stream), "copy");
  leave (cuda, d);
}

/* ---- filters -------------------------------------------------------------------- */

void
test_cuda_api (TfxSos *sos)
{
  static const double high[] = { 20, 60, 65 }, low[] = { 5000, 4900, 4850 };

  for (unsigned i = 0; i < 3; i++) {
    const TfxDesign h = { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_HIGH_PASS, 2, high[i],
      0, 0.5, 0 };
    const TfxDesign l = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 2, low[i],
      0, 0, 0 };
    if (tfx_design_sections (&h, 44100, sos + i) != 1 ||
        tfx_design_sections (&l, 44100, sos + 3 + i) != 1)
      stop ("no design");
  }
}

void
test_cuda_random (TfxSos *sos, size_t n_sos)
{
  for (size_t k = 0; k < n_sos; k++) {
    double peak = 0;

    sos[k] = test_random_section (0.995);
    for (unsigned i = 0; i <= 256; i++) {
      TfxComplex h = tfx_response_at (sos, k + 1, i, 512);
      peak = fmax (peak, hypot (h.re, h.im));
    }
    sos[k].b0 /= peak;
    sos[k].b1 /= peak;
    sos[k].b2 /= peak;
  }
}

/* R. Bristow-Johnson, "Cookbook formulae for audio equalizer biquad filter
 * coefficients". */
void
test_cuda_equaliser (TfxSos *sos, size_t n_sos)
{
  for (size_t k = 0; k < n_sos; k++) {
    double gain = pow (10, tap_random_uniform (-6, 6) / 40);
    double w = 2 * M_PI * 20 * pow (800, tap_random_uniform (0, 1)) / 48000;
    double alpha = sin (w) / (2 * 0.5 * pow (16, tap_random_uniform (0, 1)));
    double a0 = 1 + alpha / gain;

    sos[k] = (TfxSos){ (1 + alpha * gain) / a0, -2 * cos (w) / a0,
      (1 - alpha * gain) / a0, -2 * cos (w) / a0, (1 - alpha / gain) / a0 };
  }
}

#define ROUNDING_FRAMES 4096

double
test_cuda_rounding (const TfxSos *sos, size_t n_sos)
{
  double *in = test_alloc (ROUNDING_FRAMES * sizeof *in);
  double *out = test_alloc (ROUNDING_FRAMES * sizeof *out);
  long double *exact = test_alloc (ROUNDING_FRAMES * sizeof *exact);
  double worst = 0;

  test_noise_f64 (in, ROUNDING_FRAMES);
  test_run_f64 (sos, n_sos, in, out, ROUNDING_FRAMES, NULL);
  test_run_long (sos, n_sos, in, exact, ROUNDING_FRAMES);
  for (size_t i = 0; i < ROUNDING_FRAMES; i++)
    worst = fmax (worst, (double)fabsl (out[i] - exact[i]));
  free (in);
  free (out);
  free (exact);
  return worst;
}
