/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gpu.c: see gpu.h. */
#include "gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "cascades.h"
#include "statistics.h"

#define TOLERANCE_DB -130.0 /* two float32 streams of the same filters */
#define CHECK_FRAMES 5000

void
gpu_fail (Gpu *g, const char *what)
{
  char text[512];

  tfx_cuda_error (g->card.cuda, text, sizeof text);
  fflush (stdout);
  fprintf (stderr, "error: %s: %s\n", what, *text ? text : "failed");
  g->failed = true;
}

void
gpu_write_row (Gpu *g, const char *group, const char *subject, size_t n_frames,
    unsigned n_channels, size_t n_filters, double median, double worst)
{
  fprintf (g->csv, "%s,%s,%zu,%u,%zu,%.6g,%.6g\n", group, subject, n_frames,
      n_channels, n_filters, median, worst);
}

/* ---- chains ---------------------------------------------------------------------- */

#define HIGH(f, hz)                                                            \
  {                                                                            \
    .family = f, .mode = TFX_MODE_HIGH_PASS, .order = 2, .lower_hz = hz,       \
    .ripple_db = 0.5                                                           \
  }
#define LOW(f, hz)                                                             \
  {                                                                            \
    .family = f, .mode = TFX_MODE_LOW_PASS, .order = 2, .lower_hz = hz,        \
    .ripple_db = 0.5                                                           \
  }

static const TfxDesign iir_designs[4] = { HIGH (TFX_FAMILY_BUTTERWORTH, 1000),
  LOW (TFX_FAMILY_BUTTERWORTH, 5000), HIGH (TFX_FAMILY_CHEBYSHEV1, 1500),
  LOW (TFX_FAMILY_CHEBYSHEV1, 1800) };

static const struct
{
  double hz;
  size_t n_taps;
} fir_designs[5] = { { 1000, 101 }, { 5000, 102 }, { 1500, 103 }, { 1800, 104 },
  { 1850, 105 } };

static void
append (TfxChain **chain, TfxStage *stage)
{
  TfxChain *longer = tfx_chain_append (*chain, stage);

  tfx_chain_unref (chain);
  tfx_stage_unref (&stage);
  *chain = longer;
}

static void
append_sections (TfxChain **chain, const TfxDesign *design)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_design_sections (design, CASCADES_RATE, sos);

  append (chain, tfx_stage_new_sections (tfx_stage_new_id (), sos, (size_t)n));
}

static void
append_fir (TfxChain **chain, double hz, size_t n_taps, TfxFirMethod method)
{
  const TfxFirDesign design = { .mode = TFX_MODE_LOW_PASS,
    .n_taps = n_taps,
    .window = TFX_WINDOW_HAMMING,
    .lower_hz = hz };
  double *taps = calloc (n_taps, sizeof *taps);
  const double *const kernels[] = { taps };

  tfx_fir_design (&design, CASCADES_RATE, taps);
  append (chain,
      tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, n_taps, method));
  free (taps);
}

/* "api", "iir", "fir", "taps:N" or "direct:N" or "fft:N", or a number of
 * sections. */
static TfxChain *
chain_new (const char *name)
{
  TfxChain *chain = tfx_chain_new ();

  if (strcmp (name, "iir") == 0) {
    for (size_t i = 0; i < 4; i++)
      append_sections (&chain, &iir_designs[i]);
  } else if (strcmp (name, "fir") == 0) {
    for (size_t i = 0; i < 5; i++)
      append_fir (&chain, fir_designs[i].hz, fir_designs[i].n_taps,
          TFX_FIR_AUTO);
  } else if (strchr (name, ':')) {
    append_fir (&chain, 1000, strtoul (strchr (name, ':') + 1, NULL, 10),
        name[0] == 'd'   ? TFX_FIR_DIRECT
        : name[0] == 'f' ? TFX_FIR_FFT
                         : TFX_FIR_AUTO);
  } else {
    size_t n =
        strcmp (name, "api") == 0 ? CASCADES_N_API : strtoul (name, NULL, 10);
    for (size_t i = 0; i < n; i++)
      append_sections (&chain, &cascades_api[i % CASCADES_N_API]);
  }
  return chain;
}

bool
gpu_filter_init (GpuFilter *filter, const char *name, unsigned n_channels,
    size_t n_frames, const TfxBackend *backend)
{
  TfxChain *chain = chain_new (name);
  const TfxFilterSpec spec = { .rate_hz = CASCADES_RATE,
    .n_channels = n_channels,
    .sample = TFX_SAMPLE_F32,
    .block_frames = n_frames };
  int ret;

  *filter = (GpuFilter){ NULL, NULL };
  ret = tfx_filter_new (chain, &spec, &filter->filter);
  tfx_chain_unref (&chain);
  if (ret < 0)
    return false;
  tfx_filter_lock (filter->filter);
  return tfx_plan_new (&filter->filter, 1, backend, &filter->plan) == 0;
}

void
gpu_filter_clear (GpuFilter *filter)
{
  if (!filter->filter)
    return;
  tfx_plan_free (&filter->plan);
  tfx_filter_unlock (filter->filter);
  tfx_filter_unref (&filter->filter);
}

TfxBlock
gpu_block (void *data, unsigned n_channels, size_t n_frames, bool planar)
{
  return planar ? tfx_block_planar (data, TFX_SAMPLE_F32, n_channels, n_frames,
                      n_frames)
                : tfx_block_interleaved (data, TFX_SAMPLE_F32, n_channels,
                      n_frames);
}

/* The device does what the CPU does, or nothing is measured. */
bool
gpu_check (Gpu *g, const char *name)
{
  enum
  {
    N = CHECK_FRAMES * 2
  };
  float *in = malloc (2 * N * sizeof *in), *out = in + N;
  GpuFilter here, there;
  double error = 0, power = 0;
  TfxBlock a, b;
  bool good = false, has_device;

  if (!in)
    return false;
  bench_fill_noise (in, N);
  memcpy (out, in, N * sizeof *in);
  a = gpu_block (in, 2, CHECK_FRAMES, false);
  b = gpu_block (out, 2, CHECK_FRAMES, false);
  has_device = gpu_filter_init (&here, name, 2, CHECK_FRAMES,
      tfx_cuda_backend (g->card.cuda));
  if (gpu_filter_init (&there, name, 2, CHECK_FRAMES, tfx_cpu_backend ()) &&
      has_device && tfx_plan_run (here.plan, &a, &a) == 0 &&
      tfx_plan_run (there.plan, &b, &b) == 0) {
    for (size_t i = 0; i < N; i++) {
      error += ((double)in[i] - out[i]) * ((double)in[i] - out[i]);
      power += (double)out[i] * out[i];
    }
    good = power > 0 && 10 * log10 (error / power + 1e-30) < TOLERANCE_DB;
  }
  if (!has_device)
    gpu_fail (g, "no plan for the device");
  else if (!good)
    gpu_fail (g, "the device's output differs from the CPU's");
  gpu_filter_clear (&here);
  gpu_filter_clear (&there);
  free (in);
  return good;
}

/* ---- on the device ---------------------------------------------------------------- */

/* A chain over one block on the device, in rounds with a copy of the same bytes;
 * false if there is no room or a call fails. */
bool
gpu_measure (Gpu *g, const char *name, size_t n_frames, unsigned n_channels,
    bool planar, GpuFigures *figures)
{
  const unsigned n = g->options.n_rounds;
  size_t size = n_frames * n_channels * sizeof (float);
  double *ms = calloc (3 * n, sizeof *ms);
  void *in = card_alloc (&g->card, size), *out = card_alloc (&g->card, size);
  GpuFilter filter;
  bool has_filter = gpu_filter_init (&filter, name, n_channels, n_frames,
      tfx_cuda_backend (g->card.cuda));
  TfxBlock from = gpu_block (in, n_channels, n_frames, planar);
  TfxBlock to = gpu_block (out, n_channels, n_frames, planar);
  bool good = ms && in && out && has_filter;
  float *noise = malloc (size);

  if (good && noise) {
    bench_fill_noise (noise, n_frames * n_channels);
    good = card_upload (&g->card, in, noise, size);
  }
  free (noise);
  tfx_cuda_set_waiting (g->card.cuda, false);
  /* Two rounds to warm up. */
  for (int i = -2; good && i < (int)n; i++) {
    CardTime own = { 0, 0 }, copy = { 0, 0 };

    good = card_begin (&g->card) &&
           tfx_plan_run (filter.plan, &from, &to) == 0 &&
           card_end (&g->card, &own) && card_begin (&g->card) &&
           card_copy (&g->card, out, in, size) && card_end (&g->card, &copy);
    if (i >= 0) {
      ms[i] = own.device_ms;
      ms[n + (unsigned)i] = own.wall_ms;
      ms[2 * n + (unsigned)i] = copy.device_ms;
    }
  }
  tfx_cuda_set_waiting (g->card.cuda, true);
  if (good)
    *figures = (GpuFigures){ statistics_quantile (ms, n, 0.5),
      statistics_quantile (ms + n, n, 0.5),
      statistics_quantile (ms + 2 * n, n, 0.5),
      statistics_ratio (ms, ms + 2 * n, n) };
  gpu_filter_clear (&filter);
  card_free (&g->card, in);
  card_free (&g->card, out);
  free (ms);
  return good;
}

/* TorchFX's median for the same, or 0: milliseconds on the wall, the end of the
 * device's work included.  The chain is "api", "iir", "fir" or a number of
 * sections. */
double
gpu_peer_ms (Gpu *g, const char *name, size_t n_frames, unsigned n_channels,
    bool from_host, double *worst)
{
  double median = 0, p99 = 0;
  unsigned n = from_host ? 200 : g->options.n_rounds;

  if (g->torchfx &&
      !process_ask (g->torchfx, &median, &p99, "run %s %zu %u %u %s\n", name,
          n_frames, n_channels, n, from_host ? "host" : "device"))
    median = p99 = 0;
  if (worst)
    *worst = p99;
  return median;
}
