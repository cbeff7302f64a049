/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernelcase.c: see kernelcase.h. */
#include "kernelcase.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

#define ERROR_FACTOR 4
/* -240 dB.  The state of a section is put together from those of the sections
 * before it, which may be larger by far. */
#define FLOOR 1e-12
/* 48 bits instead of 53, and a bit for what an operation may lose more. */
#define TWOFOLD_FACTOR 64

TfxCuda *kernel_cudas[2];

const char *
kernel_case_text (const KernelCase *c)
{
  static char text[256];

  snprintf (text, sizeof text,
      "%s %s, %zu sections, %u channels, %zu frames, "
      "segments 2^%d",
      tfx_cuda_backend (c->cuda)->kernel,
      c->type == TFX_SAMPLE_F32 ? "F32" : "F64", c->n_sos, c->n_channels,
      c->n_frames, c->segment_log2);
  return text;
}

int
kernel_case_run (const KernelCase *c, TestLayout layout, bool in_place,
    const double *in, double *out)
{
  TestBuffer from =
      test_buffer_new (layout, c->type, c->n_channels, c->n_frames, 3);
  TestBuffer to =
      test_buffer_new (layout, c->type, c->n_channels, c->n_frames, 2);
  TfxBlock *target = in_place ? &from.block : &to.block;
  CudaRow *row = cuda_row_new_sections (c->sos, c->n_sos, c->n_channels,
      tfx_cuda_backend (c->cuda));
  TfxEngine *engine = cuda_row_engine (row);
  int ret;

  tfx_cuda_engine_force (engine, c->segment_log2, c->lanes_log2, c->max_grid);
  test_buffer_set (&from, in);
  ret = row->plan->backend->run (engine, &from.block, target);
  test_buffer_get (in_place ? &from : &to, out);
  if (!test_buffer_is_guarded (&from) || !test_buffer_is_guarded (&to))
    ret = -1000;
  row->plan->backend->engine_free (engine);
  cuda_row_free (&row);
  test_buffer_clear (&from);
  test_buffer_clear (&to);
  return ret;
}

double
kernel_case_error (const KernelCase *c, const double *in, const double *out)
{
  size_t n = c->n_frames;
  double *one = test_alloc (n * sizeof *one);
  long double *exact = test_alloc (n * sizeof *exact);
  double worst = 0;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    double base = ERROR_FACTOR * c->rounding;
    long double peak = 0;

    for (size_t i = 0; i < n; i++)
      one[i] = in[i * c->n_channels + channel];
    test_run_long (c->sos, c->n_sos, one, exact, n);
    for (size_t i = 0; i < n; i++)
      peak = fmaxl (peak, fabsl (exact[i]));
    base = fmax (base, FLOOR * (double)peak);
    if (c->type == TFX_SAMPLE_F32 && c->cuda == kernel_cudas[1])
      base *= TWOFOLD_FACTOR;
    for (size_t i = 0; i < n; i++) {
      double e = fabs ((double)(out[i * c->n_channels + channel] - exact[i]));
      double allowed = base + DBL_MIN;
      if (c->type == TFX_SAMPLE_F32)
        allowed +=
            FLT_EPSILON / 2 * ((double)fabsl (exact[i]) + base) + FLT_MIN;
      worst = test_cuda_worse (worst, e / allowed);
    }
  }
  free (one);
  free (exact);
  return worst;
}

double *
kernel_noise_new (size_t n)
{
  double *noise = test_alloc ((n + 1) * sizeof *noise);
  float *floats = test_alloc ((n + 1) * sizeof *floats);

  test_noise_f32 (floats, n);
  for (size_t i = 0; i < n; i++)
    noise[i] = floats[i];
  free (floats);
  return noise;
}
