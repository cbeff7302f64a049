/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolvers.c: runs the FIR engine over blocks of noise. */
#include "convolvers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/convolver.h"
#include "core/denormal.h"

typedef struct Convolvers
{
  unsigned n_filters;
  TfxConvolver *filters[8];
  TfxBlock in, out;
  void *samples[2];
  char variant[64];
} Convolvers;

static void
convolvers_free (void *data)
{
  Convolvers *self = data;

  if (!self)
    return;
  for (unsigned i = 0; i < self->n_filters; i++)
    tfx_convolver_free (&self->filters[i]);
  free (self->samples[0]);
  free (self->samples[1]);
  free (self);
}

static bool
add_filter (Convolvers *self, const ConvolverCase *c, unsigned i)
{
  const TfxConvolverSpec spec = { .taps = c->taps[i],
    .n_taps = c->n_taps[i],
    .n_kernels = c->n_kernels ? c->n_kernels : 1,
    .n_channels = c->n_channels,
    .matrix = c->matrix,
    .precision = c->type,
    .method = c->method,
    .block_frames = c->n_frames,
    .kernel = c->kernel };
  TfxConvolverTaps *taps;
  bool ok;

  if (tfx_convolver_taps_new (&spec, &taps))
    return false;
  if (i == 0)
    snprintf (self->variant, sizeof self->variant, "%s%s, %s", c->kernel,
        c->type == TFX_SAMPLE_F64 ? " F64" : "",
        tfx_convolver_taps_text (taps));
  ok = tfx_convolver_new (taps, &self->filters[i]) == 0;
  tfx_convolver_taps_unref (&taps);
  self->n_filters += ok;
  return ok;
}

static bool
make_blocks (Convolvers *self, const ConvolverCase *c)
{
  const size_t n = c->n_frames * c->n_channels;
  float *noise = malloc (n * sizeof *noise);

  for (int i = 0; i < 2; i++) {
    self->samples[i] = aligned_alloc (64, (n * sizeof (double) + 63) / 64 * 64);
    if (!self->samples[i] || !noise) {
      free (noise);
      return false;
    }
    memset (self->samples[i], 0, n * sizeof (double));
  }
  bench_fill_noise (noise, n);
  for (size_t i = 0; i < n; i++) {
    if (c->type == TFX_SAMPLE_F32)
      ((float *)self->samples[0])[i] = noise[i];
    else
      ((double *)self->samples[0])[i] = noise[i];
  }
  free (noise);
  self->in = tfx_block_interleaved (self->samples[0], c->type, c->n_channels,
      c->n_frames);
  self->out = tfx_block_interleaved (self->samples[1], c->type, c->n_channels,
      c->n_frames);
  return true;
}

static Convolvers *
convolvers_new (const ConvolverCase *c)
{
  Convolvers *self = calloc (1, sizeof *self);
  bool ok = self && make_blocks (self, c);

  for (unsigned i = 0; ok && i < c->n_filters; i++)
    ok = add_filter (self, c, i);
  if (!ok) {
    convolvers_free (self);
    return NULL;
  }
  return self;
}

static void
run_block (Convolvers *self)
{
  for (unsigned i = 0; i < self->n_filters; i++)
    tfx_convolver_run (self->filters[i], i == 0 ? &self->in : &self->out,
        &self->out);
}

static bool
run_blocks (void *data, unsigned n_blocks, BenchTime *time)
{
  Convolvers *self = data;
  const TfxDenormalMode mode = tfx_denormal_enter ();
  const BenchTime start = bench_time_now ();

  for (unsigned i = 0; i < n_blocks; i++)
    run_block (self);
  *time = bench_time_since (start);
  tfx_denormal_leave (mode);
  return true;
}

bool
convolvers_init_subject (BenchSubject *subject, const ConvolverCase *c)
{
  Convolvers *self = convolvers_new (c);

  if (!self)
    return false;
  *subject = (BenchSubject){
    .name = "tfx",
    .variant = self->variant,
    .n_channels = c->n_channels,
    .n_frames = c->n_frames,
    .units =
        (double)c->n_frames * (c->n_outputs ? c->n_outputs : c->n_channels),
    .limit = BENCH_NONE,
    .run = run_blocks,
    .data = self,
    .free = convolvers_free,
  };
  return true;
}

bool
convolvers_filter_noise (const ConvolverCase *c, unsigned n_blocks, float *out)
{
  const size_t n = c->n_frames * c->n_channels;
  Convolvers *self = convolvers_new (c);

  if (!self)
    return false;
  for (unsigned k = 0; k < n_blocks; k++) {
    run_block (self);
    for (size_t i = 0; i < n; i++)
      out[k * n + i] = c->type == TFX_SAMPLE_F32
                           ? ((float *)self->samples[1])[i]
                           : (float)((double *)self->samples[1])[i];
  }
  convolvers_free (self);
  return true;
}

#define WORST_PASSES 40

double
convolvers_worst_block (const ConvolverCase *c)
{
  const size_t n_blocks = c->n_taps[0] * 3 / 2 / c->n_frames + 64;
  Convolvers *self = convolvers_new (c);
  double *best = malloc (n_blocks * sizeof *best);
  double sum = 0.0, worst = 0.0;
  TfxDenormalMode mode;

  if (!self || !best) {
    convolvers_free (self);
    free (best);
    return 0.0;
  }
  mode = tfx_denormal_enter ();
  for (size_t i = 0; i < n_blocks; i++)
    best[i] = INFINITY;
  for (int pass = 0; pass < WORST_PASSES; pass++) {
    for (unsigned i = 0; i < self->n_filters; i++)
      tfx_convolver_reset (self->filters[i]);
    for (size_t i = 0; i < n_blocks; i++) {
      const BenchTime start = bench_time_now ();
      run_block (self);
      best[i] = fmin (best[i], bench_time_since (start).elapsed_ns);
    }
  }
  tfx_denormal_leave (mode);
  for (size_t i = 0; i < n_blocks; i++) {
    sum += best[i];
    worst = fmax (worst, best[i]);
  }
  convolvers_free (self);
  free (best);
  return worst / (sum / (double)n_blocks);
}
