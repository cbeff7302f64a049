/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_cuda.c: the backend "cuda" on the card of this machine: the api chain
 * against a copy of the same bytes, TorchFX's matrices, live buffers, counts of
 * launches.  Prints the tables of docs/dev/benchmarks-gpu.md.
 *
 * A figure is the median of many runs; ratios are taken within a round, in which
 * all that is compared has its turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "bench.h"
#include "cascades.h"
#include "gpu.h"
#include "statistics.h"

#define MAX_RUNS 20000

static void
print_peer (double peer, double own)
{
  if (peer > 0)
    printf (" %.3f | %.1f |\n", peer, peer / own);
  else
    printf (" | |\n");
}

static void
measure_api (Gpu *g)
{
  size_t n_frames = (size_t)120 * CASCADES_RATE / g->shorter;

  if (!bench_options_select (&g->options, "api") || !gpu_check (g, "api"))
    return;
  printf ("\n### The api chain, 8 channels × %.3g s, on the device\n\n"
          "| layout | chain, ms | copy of the same bytes, ms | times the copy "
          "| "
          "chain, GB/s | wall, ms | TorchFX, ms | times |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
      (double)n_frames / CASCADES_RATE);
  for (int planar = 1; planar >= 0; planar--) {
    GpuFigures f;

    if (!gpu_measure (g, "api", n_frames, 8, planar, &f)) {
      gpu_fail (g, "api");
      return;
    }
    printf ("| %s | %.3f | %.3f | %.2f | %.0f | %.3f |",
        planar ? "planar" : "interleaved", f.device_ms, f.copy_ms, f.ratio,
        (double)n_frames * 8 * 8 / f.device_ms / 1e6, f.wall_ms);
    print_peer (planar ? gpu_peer_ms (g, "api", n_frames, 8, false, NULL) : 0,
        f.wall_ms);
    gpu_write_row (g, "api", planar ? "planar" : "interleaved", n_frames, 8, 6,
        f.device_ms, f.copy_ms);
    fflush (stdout);
  }
}

static void
measure_matrix (Gpu *g, const char *name, const unsigned *seconds,
    unsigned n_seconds)
{
  static const unsigned channels[] = { 1, 2, 4, 8, 12 };

  if (!bench_options_select (&g->options, name) || !gpu_check (g, name))
    return;
  printf ("\n### The %s matrix, on the device\n\n"
          "| seconds × channels | device, ms | wall, ms | ps per sample | "
          "times "
          "a copy | TorchFX, ms | times |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
      name);
  for (unsigned i = 0; i < n_seconds; i++) {
    for (unsigned k = 0; k < 5; k++) {
      size_t n_frames = (size_t)seconds[i] * CASCADES_RATE / g->shorter;
      GpuFigures f;

      if (!gpu_measure (g, name, n_frames, channels[k], true, &f)) {
        gpu_fail (g, name);
        return;
      }
      printf ("| %u × %u | %.4f | %.4f | %.1f | %.2f |", seconds[i],
          channels[k], f.device_ms, f.wall_ms,
          f.device_ms * 1e9 / ((double)n_frames * channels[k]), f.ratio);
      print_peer (gpu_peer_ms (g, name, n_frames, channels[k], false, NULL),
          f.wall_ms);
      gpu_write_row (g, name, "device", n_frames, channels[k], 0, f.device_ms,
          f.wall_ms);
      fflush (stdout);
    }
  }
}

/* One FIR of many taps. */
static void
measure_taps (Gpu *g)
{
  static const char *const names[] = { "taps:101", "taps:511", "taps:4095",
    "taps:65535" };
  size_t n_frames = (size_t)60 * CASCADES_RATE / g->shorter;

  if (!bench_options_select (&g->options, "taps"))
    return;
  printf ("\n### One FIR, 8 channels × %.3g s, on the device\n\n"
          "| taps | device, ms | wall, ms | ps per sample | times a copy |\n"
          "| --- | ---: | ---: | ---: | ---: |\n",
      (double)n_frames / CASCADES_RATE);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    GpuFigures f;

    if (!gpu_check (g, names[i]) ||
        !gpu_measure (g, names[i], n_frames, 8, true, &f)) {
      gpu_fail (g, names[i]);
      return;
    }
    printf ("| %s | %.4f | %.4f | %.1f | %.2f |\n", names[i] + 5, f.device_ms,
        f.wall_ms, f.device_ms * 1e9 / ((double)n_frames * 8), f.ratio);
    gpu_write_row (g, "taps", names[i] + 5, n_frames, 8, 1, f.device_ms,
        f.wall_ms);
    fflush (stdout);
  }
}

/* What the choice between the two forms of a FIR should go by. */
static void
measure_forms (Gpu *g)
{
  static const size_t taps[] = { 32, 64, 128, 256, 512, 1024, 2048 };
  const size_t frames[] = { 1024, (size_t)60 * CASCADES_RATE / g->shorter };

  if (!bench_options_select (&g->options, "forms"))
    return;
  printf ("\n### A FIR directly and by transforms, 8 channels, on the device, "
          "ms\n\n"
          "| taps | 1024 frames, direct | by transforms | %zu frames, direct | "
          "by transforms |\n"
          "| --- | ---: | ---: | ---: | ---: |\n",
      frames[1]);
  for (size_t i = 0; i < sizeof taps / sizeof *taps; i++) {
    printf ("| %zu |", taps[i]);
    for (unsigned k = 0; k < 4; k++) {
      char name[32];
      GpuFigures f;

      snprintf (name, sizeof name, "%s:%zu", k % 2 ? "fft" : "direct", taps[i]);
      if (!gpu_check (g, name) ||
          !gpu_measure (g, name, frames[k / 2], 8, true, &f)) {
        gpu_fail (g, name);
        return;
      }
      printf (" %.4f |", f.device_ms);
      gpu_write_row (g, "forms", name, frames[k / 2], 8, 1, f.device_ms,
          f.wall_ms);
    }
    putchar ('\n');
    fflush (stdout);
  }
}

/* ---- from host to host ---------------------------------------------------------------- */

/* Microseconds on the wall of n runs of one block. */
static bool
time_runs (TfxPlan *plan, const TfxBlock *block, unsigned n, double *us)
{
  for (int i = -20; i < (int)n; i++) {
    BenchTime start = bench_time_now ();

    if (tfx_plan_run (plan, block, block) < 0)
      return false;
    if (i >= 0)
      us[i] = bench_time_since (start).elapsed_ns / 1e3;
  }
  return true;
}

static bool
measure_live_case (Gpu *g, unsigned n_frames, unsigned n_channels,
    unsigned n_sections, bool has_peer)
{
  const TfxBackend *backends[2] = { tfx_cuda_backend (g->card.cuda),
    tfx_cpu_backend () };
  unsigned n = (g->options.full ? MAX_RUNS : 2000) / g->shorter;
  float *samples = malloc (n_frames * n_channels * sizeof *samples);
  double *us = calloc (n, sizeof *us), median[2] = { 0 }, p99[2] = { 0 };
  TfxBlock block = gpu_block (samples, n_channels, n_frames, false);
  double peer = 0, peer_p99 = 0;
  bool good = samples && us;
  char name[16];

  snprintf (name, sizeof name, "%u", n_sections);
  for (unsigned i = 0; good && i < 2; i++) {
    GpuFilter filter;

    bench_fill_noise (samples, (size_t)n_frames * n_channels);
    good = gpu_filter_init (&filter, name, n_channels, n_frames, backends[i]) &&
           time_runs (filter.plan, &block, n, us);
    gpu_filter_clear (&filter);
    if (good) {
      median[i] = statistics_quantile (us, n, 0.5);
      p99[i] = statistics_quantile (us, n, 0.99);
    }
  }
  if (good && has_peer)
    peer = gpu_peer_ms (g, name, n_frames, n_channels, true, &peer_p99);
  if (good) {
    printf ("| %u × %u × %u | %.1f | %.1f | %.1f | %.1f |", n_frames,
        n_channels, n_sections, median[0], p99[0], median[1], p99[1]);
    if (peer > 0)
      printf (" %.1f | %.1f |\n", peer * 1e3, peer_p99 * 1e3);
    else
      printf (" | |\n");
    gpu_write_row (g, "live", "cuda", n_frames, n_channels, n_sections,
        median[0], p99[0]);
    gpu_write_row (g, "live", "cpu", n_frames, n_channels, n_sections,
        median[1], p99[1]);
  }
  fflush (stdout);
  free (samples);
  free (us);
  return good;
}

static void
measure_live (Gpu *g)
{
  static const unsigned cases[][3] = { { 1024, 64, 12 }, { 128, 1, 10 },
    { 256, 1, 10 }, { 512, 1, 2 }, { 512, 1, 5 }, { 512, 1, 10 },
    { 512, 2, 10 }, { 1024, 1, 10 }, { 1024, 2, 10 }, { 1024, 8, 6 },
    { 4096, 8, 6 }, { 4096, 64, 12 }, { 1024, 256, 12 }, { 1024, 1024, 12 } };

  if (!bench_options_select (&g->options, "live"))
    return;
  printf ("\n### Live buffers, host to host, microseconds on the wall\n\n"
          "| frames × channels × sections | CUDA, median | 99 %% | CPU, one "
          "core, median | 99 %% | TorchFX, median | 99 %% |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (g->card.is_standin && cases[i][1] > 64)
      continue;
    if (!measure_live_case (g, cases[i][0], cases[i][1], cases[i][2], true)) {
      gpu_fail (g, "live");
      return;
    }
  }
}

/* ---- launches --------------------------------------------------------------------------- */

static void
measure_launches (Gpu *g)
{
  static const char *const names[] = { "2", "5", "10", "20", "50", "api", "iir",
    "fir", "taps:4095" };
  float samples[2 * 1024];
  TfxBlock block = gpu_block (samples, 2, 1024, false);

  if (!bench_options_select (&g->options, "launches"))
    return;
  printf (
      "\n### What a buffer takes, 1024 frames × 2 channels, host to host\n\n"
      "| sections, or chain | launches | uploads | downloads |\n"
      "| --- | ---: | ---: | ---: |\n");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    GpuFilter filter;
    TfxStats before, after;
    bool good = gpu_filter_init (&filter, names[i], 2, 1024,
        tfx_cuda_backend (g->card.cuda));

    bench_fill_noise (samples, 2 * 1024);
    good = good && tfx_plan_run (filter.plan, &block, &block) == 0;
    if (good)
      tfx_plan_get_stats (filter.plan, &before);
    good = good && tfx_plan_run (filter.plan, &block, &block) == 0;
    if (good) {
      tfx_plan_get_stats (filter.plan, &after);
      printf ("| %s | %llu | %llu | %llu |\n", names[i],
          (unsigned long long)(after.launches - before.launches),
          (unsigned long long)(after.uploads - before.uploads),
          (unsigned long long)(after.downloads - before.downloads));
      gpu_write_row (g, "launches", names[i], 1024, 2, 0,
          (double)(after.launches - before.launches), 0);
    } else {
      gpu_fail (g, names[i]);
    }
    gpu_filter_clear (&filter);
  }
}

/* ---- the program ------------------------------------------------------------------------- */

/* Takes the options that are ours out of argv. */
static int
read_options (int argc, char **argv, const char **peer, bool *only_device)
{
  int n = 1;

  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--device") == 0)
      *only_device = true;
    else if (strncmp (argv[i], "--peer=", 7) == 0)
      *peer = argv[i] + 7;
    else
      argv[n++] = argv[i];
    if (strcmp (argv[i], "--help") == 0)
      printf ("On the first CUDA device.  Of its own:\n\n"
              "  --device         names the device, and no more\n"
              "  --peer=SCRIPT    torchfx_peer.py; empty: no peer\n\n"
              "Groups: api, iir, fir, taps, forms, live, launches.  --turn "
              "is not used.\n\n");
  }
  return n;
}

static void
print_card (const Gpu *g)
{
  printf ("Card: %s (%s), driver for CUDA %d.%d\n",
      tfx_cuda_name (g->card.cuda), tfx_cuda_backend (g->card.cuda)->kernel,
      g->card.driver_version / 1000, g->card.driver_version % 1000 / 10);
}

static bool
open_all (Gpu *g, const char *peer)
{
  char text[256] = "not asked for";

  bench_options_print_machine ();
  if (g->card.is_standin) {
    printf ("This is the tests' stand-in for the driver: the timings mean "
            "nothing, and what is\nmeasured is shorter than it says.\n");
    g->shorter = 400;
    g->options.n_rounds = 2;
  } else {
    g->shorter = 1;
    if (*peer)
      g->torchfx = torchfx_open (peer, text, sizeof text);
    printf ("Peer: %s\n", text);
  }
  g->csv = fopen (g->options.csv, "w");
  if (!g->csv) {
    fprintf (stderr, "error: %s cannot be written\n", g->options.csv);
    return false;
  }
  fprintf (g->csv, "group,subject,frames,channels,filters,median,other\n");
  return true;
}

int
main (int argc, char **argv)
{
  static const unsigned iir_seconds[] = { 1, 5, 180, 300, 600 };
  static const unsigned fir_seconds[] = { 5, 60, 180, 300, 600 };
  const char *peer = TORCHFX_PEER;
  bool only_device = false;
  Gpu g = { .shorter = 1 };
  char why[256];

  argc = read_options (argc, argv, &peer, &only_device);
  bench_options_read (&g.options, argc, argv, "cuda");
  if (!card_open (&g.card, why, sizeof why)) {
    printf ("No CUDA device: %s\n", why);
    bench_options_clear (&g.options);
    /* What meson calls skipped. */
    return only_device ? 1 : 77;
  }
  print_card (&g);
  if (!only_device && open_all (&g, peer)) {
    measure_api (&g);
    measure_matrix (&g, "iir", iir_seconds, g.card.is_standin ? 2 : 5);
    measure_matrix (&g, "fir", fir_seconds, g.card.is_standin ? 1 : 5);
    measure_taps (&g);
    measure_forms (&g);
    measure_live (&g);
    measure_launches (&g);
    printf ("\nCSV: %s\n", g.options.csv);
  }
  if (g.csv)
    fclose (g.csv);
  else if (!only_device)
    g.failed = true;
  process_close (&g.torchfx);
  card_close (&g.card);
  bench_options_clear (&g.options);
  return g.failed ? 1 : 0;
}
