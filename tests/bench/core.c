/* SPDX-License-Identifier: LGPL-2.1-or-later
 * core.c: runs rows of filters over blocks of noise. */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILTERS 64

typedef struct Core
{
  BenchFilter filters[MAX_FILTERS];
  unsigned n_filters;
  TfxBlock in, out;
  char variant[64];
} Core;

static void
core_free (void *data)
{
  Core *core = data;

  if (!core)
    return;
  for (unsigned i = 0; i < core->n_filters; i++)
    bench_filter_clear (&core->filters[i]);
  free (core->in.data);
  free (core->out.data);
  free (core);
}

/* noise[n_frames][n_channels] into a block of any type and layout. */
static void
fill (const TfxBlock *block, const float *noise)
{
  for (size_t i = 0; i < block->n_frames; i++) {
    for (unsigned c = 0; c < block->n_channels; c++) {
      ptrdiff_t at = (ptrdiff_t)i * block->frame_stride +
                     (ptrdiff_t)c * block->channel_stride;
      float sample = noise[i * block->n_channels + c];

      if (block->type == TFX_SAMPLE_F32)
        ((float *)block->data)[at] = sample;
      else
        ((double *)block->data)[at] = sample;
    }
  }
}

static bool
fill_with_noise (const TfxBlock *block)
{
  size_t n = block->n_frames * block->n_channels;
  float *noise = malloc (n * sizeof *noise);

  if (!noise)
    return false;
  bench_fill_noise (noise, n);
  fill (block, noise);
  free (noise);
  return true;
}

/* Aligned to a page: input and output lie to each other as they do where a filter
 * works in place, as elements do. */
bool
core_new_block (const CoreCase *c, bool noise, TfxBlock *block)
{
  const size_t size =
      c->n_frames * c->n_channels *
      (c->type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double));
  void *samples = aligned_alloc (4096, (size + 4095) / 4096 * 4096);

  *block = c->planar ? tfx_block_planar (samples, c->type, c->n_channels,
                           c->n_frames, c->n_frames)
                     : tfx_block_interleaved (samples, c->type, c->n_channels,
                           c->n_frames);
  if (!samples)
    return false;
  memset (samples, 0, size);
  return !noise || fill_with_noise (block);
}

double
core_get_sample (const TfxBlock *b, size_t frame, unsigned channel)
{
  const ptrdiff_t at = (ptrdiff_t)frame * b->frame_stride +
                       (ptrdiff_t)channel * b->channel_stride;

  return b->type == TFX_SAMPLE_F32 ? ((const float *)b->data)[at]
                                   : ((const double *)b->data)[at];
}

static bool
add_executors (Core *core, const CoreCase *c, const TfxBackend *backend)
{
  unsigned n = c->n_executors > 0 ? c->n_executors : 1;
  size_t share = c->n_sos / n;

  if (n > MAX_FILTERS || share * n != c->n_sos)
    return false;
  while (core->n_filters < n) {
    if (!bench_filter_init (&core->filters[core->n_filters],
            c->sos + core->n_filters * share, share, c->n_channels, backend))
      return false;
    core->n_filters++;
  }
  return true;
}

static Core *
core_new (const CoreCase *c)
{
  const TfxBackend *backend = tfx_cpu_backend_for (c->kernel);
  Core *core = calloc (1, sizeof *core);

  if (!core)
    return NULL;
  if (!backend || !core_new_block (c, true, &core->in) ||
      !core_new_block (c, false, &core->out) ||
      !add_executors (core, c, backend)) {
    core_free (core);
    return NULL;
  }
  return core;
}

/* With its lock, as elements have it. */
static int
run_filter (BenchFilter *c, const TfxBlock *in, const TfxBlock *out)
{
  int ret;

  tfx_filter_lock (c->filter);
  ret = tfx_plan_run (c->plan, in, out);
  tfx_filter_unlock (c->filter);
  return ret;
}

static bool
core_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Core *core = data;
  BenchTime start = bench_time_now ();
  int ret = 0;

  for (unsigned i = 0; i < n_blocks; i++) {
    ret |= run_filter (&core->filters[0], &core->in, &core->out);
    for (unsigned k = 1; k < core->n_filters; k++)
      ret |= run_filter (&core->filters[k], &core->out, &core->out);
  }
  *time = bench_time_since (start);
  return ret == 0;
}

bool
core_init_subject (BenchSubject *subject, const CoreCase *c)
{
  Core *core = core_new (c);

  if (!core)
    return false;
  snprintf (core->variant, sizeof core->variant, "%s%s%s", c->kernel,
      c->planar ? ", planar" : "", c->type == TFX_SAMPLE_F64 ? ", F64" : "");
  *subject = (BenchSubject){
    .name = c->n_executors > 1 ? "core, one by one" : "core",
    .variant = core->variant,
    .n_channels = c->n_channels,
    .n_frames = c->n_frames,
    .n_sections = c->n_sos,
    .units = (double)c->n_frames * c->n_channels,
    .limit = BENCH_NONE,
    .run = core_run,
    .data = core,
    .free = core_free,
  };
  return true;
}

bool
core_filter_noise (const CoreCase *c, float *out)
{
  CoreCase plain = *c;
  BenchTime time;
  Core *core;
  bool ok;

  plain.planar = false;
  plain.type = TFX_SAMPLE_F32;
  core = core_new (&plain);
  if (!core)
    return false;
  ok = core_run (core, 1, &time);
  memcpy (out, core->out.data, c->n_frames * c->n_channels * sizeof *out);
  core_free (core);
  return ok;
}
