/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gpu.h: what the GPU's benchmark measures: chains of filters on the card. */
#ifndef GPU_H
#define GPU_H

#include <stdio.h>

#include "card.h"
#include "options.h"
#include "torchfx.h"

typedef struct Gpu
{
  Card card;
  BenchOptions options;
  Process *torchfx; /* NULL: absent */
  FILE *csv;
  bool failed;
  unsigned shorter; /* on the stand-in: so many times */
} Gpu;

typedef struct GpuFigures
{
  double device_ms, wall_ms, copy_ms;
  double ratio; /* of device_ms to copy_ms */
} GpuFigures;

/* Says on stderr what failed, and the driver's words for it. */
void gpu_fail (Gpu *gpu, const char *what);

void gpu_write_row (Gpu *gpu, const char *group, const char *subject,
    size_t n_frames, unsigned n_channels, size_t n_filters, double median,
    double other);

/* A filter of a float stream and the plan that runs it; the filter's lock is held
 * from new to free. */
typedef struct GpuFilter
{
  TfxFilter *filter;
  TfxPlan *plan;
} GpuFilter;

/* At rest.  Chains: "api", "iir", "fir", "taps:N" or "direct:N" or "fft:N", or a
 * number of sections.  False if it failed; it is to be cleared either way. */
bool gpu_filter_init (GpuFilter *filter, const char *name, unsigned n_channels,
    size_t n_frames, const TfxBackend *backend);
void gpu_filter_clear (GpuFilter *filter);

TfxBlock
gpu_block (void *data, unsigned n_channels, size_t n_frames, bool planar);

/* The device does what the CPU does, or nothing is measured. */
bool gpu_check (Gpu *gpu, const char *name);

/* A chain over one block on the device, in rounds with a copy of the same bytes;
 * false if there is no room or a call fails. */
bool gpu_measure (Gpu *gpu, const char *name, size_t n_frames,
    unsigned n_channels, bool planar, GpuFigures *figures);

/* TorchFX's median for the same, or 0; worst (unless NULL): the 99th
 * percentile. */
double gpu_peer_ms (Gpu *gpu, const char *name, size_t n_frames,
    unsigned n_channels, bool from_host, double *worst);

#endif /* GPU_H */
