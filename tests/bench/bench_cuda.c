/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_cuda.c: the backend "cuda" on the card of this machine: the api chain
 * against a copy of the same bytes, TorchFX's matrices, live buffers, counts of
 * launches.  Prints the tables of docs/benchmarks.md.
 *
 * A figure is the median of many runs; ratios are taken within a round, in which
 * all that is compared has its turn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "bench.h"
#include "card.h"
#include "cascades.h"
#include "options.h"
#include "statistics.h"
#include "torchfx.h"

#define TOLERANCE_DB -130.0 /* two float32 streams of the same filters */
#define CHECK_FRAMES 5000
#define MAX_RUNS 20000

typedef struct Gpu
{
  Card card;
  BenchOptions options;
  Torchfx *torchfx; /* NULL: absent */
  FILE *csv;
  bool failed;
  unsigned shorter; /* on the stand-in: so many times */
} Gpu;

static void
fail (Gpu *g, const char *what)
{
  char text[512];

  tfx_cuda_error (g->card.cuda, text, sizeof text);
  fflush (stdout);
  fprintf (stderr, "error: %s: %s\n", what, *text ? text : "failed");
  g->failed = true;
}

static void
write_row (Gpu *g, const char *group, const char *subject, size_t n_frames,
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
append_fir (TfxChain **chain, double hz, size_t n_taps)
{
  const TfxFirDesign design = { .mode = TFX_MODE_LOW_PASS,
    .n_taps = n_taps,
    .window = TFX_WINDOW_HAMMING,
    .lower_hz = hz };
  double *taps = calloc (n_taps, sizeof *taps);
  const double *const kernels[] = { taps };

  tfx_fir_design (&design, CASCADES_RATE, taps);
  append (chain, tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, n_taps, 0,
                     TFX_FIR_AUTO));
  free (taps);
}

/* "api", "iir", "fir", "taps:N" or a number of sections. */
static TfxChain *
chain_new (const char *name)
{
  TfxChain *chain = tfx_chain_new ();

  if (strcmp (name, "iir") == 0) {
    for (size_t i = 0; i < 4; i++)
      append_sections (&chain, &iir_designs[i]);
  } else if (strcmp (name, "fir") == 0) {
    for (size_t i = 0; i < 5; i++)
      append_fir (&chain, fir_designs[i].hz, fir_designs[i].n_taps);
  } else if (strncmp (name, "taps:", 5) == 0) {
    append_fir (&chain, 1000, strtoul (name + 5, NULL, 10));
  } else {
    size_t n =
        strcmp (name, "api") == 0 ? CASCADES_N_API : strtoul (name, NULL, 10);
    for (size_t i = 0; i < n; i++)
      append_sections (&chain, &cascades_api[i % CASCADES_N_API]);
  }
  return chain;
}

static TfxExec *
exec_new (const char *name, unsigned n_channels, size_t n_frames,
    const TfxBackend *backend)
{
  TfxChain *chain = chain_new (name);
  const TfxPlanSpec spec = { .rate_hz = CASCADES_RATE,
    .n_channels = n_channels,
    .sample = TFX_SAMPLE_F32,
    .block_frames = n_frames,
    .backend = backend };
  TfxPlan *plan = NULL;
  TfxExec *exec = NULL;

  if (tfx_plan_compile_for (chain, &spec, &plan) == 0)
    tfx_exec_new (plan, &exec);
  tfx_plan_unref (&plan);
  tfx_chain_unref (&chain);
  return exec;
}

static TfxBlock
block_of (void *data, unsigned n_channels, size_t n_frames, bool planar)
{
  return planar ? tfx_block_planar (data, TFX_SAMPLE_F32, n_channels, n_frames,
                      n_frames)
                : tfx_block_interleaved (data, TFX_SAMPLE_F32, n_channels,
                      n_frames);
}

/* The device does what the CPU does, or nothing is measured. */
static bool
check_chain (Gpu *g, const char *name)
{
  enum
  {
    N = CHECK_FRAMES * 2
  };
  float *in = malloc (2 * N * sizeof *in), *out = in + N;
  TfxExec *here, *there;
  double error = 0, power = 0;
  TfxBlock a, b;
  bool good = false;

  if (!in)
    return false;
  bench_fill_noise (in, N);
  memcpy (out, in, N * sizeof *in);
  a = block_of (in, 2, CHECK_FRAMES, false);
  b = block_of (out, 2, CHECK_FRAMES, false);
  here = exec_new (name, 2, CHECK_FRAMES, tfx_cuda_backend (g->card.cuda));
  there = exec_new (name, 2, CHECK_FRAMES, tfx_cpu_backend ());
  if (here && there && tfx_exec_run (here, &a, &a) == 0 &&
      tfx_exec_run (there, &b, &b) == 0) {
    for (size_t i = 0; i < N; i++) {
      error += ((double)in[i] - out[i]) * ((double)in[i] - out[i]);
      power += (double)out[i] * out[i];
    }
    good = power > 0 && 10 * log10 (error / power + 1e-30) < TOLERANCE_DB;
  }
  if (!here)
    fail (g, "no executor on the device");
  else if (!good)
    fail (g, "the device's output differs from the CPU's");
  tfx_exec_free (&here);
  tfx_exec_free (&there);
  free (in);
  return good;
}

/* ---- on the device ---------------------------------------------------------------- */

typedef struct Figures
{
  double device_ms, wall_ms, copy_ms, ratio;
} Figures;

/* A chain over one block on the device, in rounds with a copy of the same bytes;
 * false if there is no room or a call fails. */
static bool
measure_device (Gpu *g, const char *name, size_t n_frames, unsigned n_channels,
    bool planar, Figures *figures)
{
  const unsigned n = g->options.n_rounds;
  size_t size = n_frames * n_channels * sizeof (float);
  double *ms = calloc (3 * n, sizeof *ms);
  void *in = card_alloc (&g->card, size), *out = card_alloc (&g->card, size);
  TfxExec *exec =
      exec_new (name, n_channels, n_frames, tfx_cuda_backend (g->card.cuda));
  TfxBlock from = block_of (in, n_channels, n_frames, planar);
  TfxBlock to = block_of (out, n_channels, n_frames, planar);
  bool good = ms && in && out && exec;
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

    good = card_begin (&g->card) && tfx_exec_run (exec, &from, &to) == 0 &&
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
    *figures = (Figures){ statistics_quantile (ms, n, 0.5),
      statistics_quantile (ms + n, n, 0.5),
      statistics_quantile (ms + 2 * n, n, 0.5),
      statistics_ratio (ms, ms + 2 * n, n) };
  tfx_exec_free (&exec);
  card_free (&g->card, in);
  card_free (&g->card, out);
  free (ms);
  return good;
}

/* TorchFX's median for the same, or 0. */
static double
peer_ms (Gpu *g, const char *name, size_t n_frames, unsigned n_channels,
    bool from_host, double *worst)
{
  double median = 0, p99 = 0;
  unsigned n = from_host ? 200 : g->options.n_rounds;

  if (g->torchfx && !torchfx_run (g->torchfx, name, n_frames, n_channels, n,
                        from_host, &median, &p99))
    median = p99 = 0;
  if (worst)
    *worst = p99;
  return median;
}

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

  if (!bench_options_select (&g->options, "api") || !check_chain (g, "api"))
    return;
  printf ("\n### The api chain, 8 channels × %.3g s, on the device\n\n"
          "| layout | chain, ms | copy of the same bytes, ms | times the copy "
          "| "
          "chain, GB/s | wall, ms | TorchFX, ms | times |\n"
          "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
      (double)n_frames / CASCADES_RATE);
  for (int planar = 1; planar >= 0; planar--) {
    Figures f;

    if (!measure_device (g, "api", n_frames, 8, planar, &f)) {
      fail (g, "api");
      return;
    }
    printf ("| %s | %.3f | %.3f | %.2f | %.0f | %.3f |",
        planar ? "planar" : "interleaved", f.device_ms, f.copy_ms, f.ratio,
        (double)n_frames * 8 * 8 / f.device_ms / 1e6, f.wall_ms);
    print_peer (planar ? peer_ms (g, "api", n_frames, 8, false, NULL) : 0,
        f.wall_ms);
    write_row (g, "api", planar ? "planar" : "interleaved", n_frames, 8, 6,
        f.device_ms, f.copy_ms);
    fflush (stdout);
  }
}

static void
measure_matrix (Gpu *g, const char *name, const unsigned *seconds,
    unsigned n_seconds)
{
  static const unsigned channels[] = { 1, 2, 4, 8, 12 };

  if (!bench_options_select (&g->options, name) || !check_chain (g, name))
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
      Figures f;

      if (!measure_device (g, name, n_frames, channels[k], true, &f)) {
        fail (g, name);
        return;
      }
      printf ("| %u × %u | %.4f | %.4f | %.1f | %.2f |", seconds[i],
          channels[k], f.device_ms, f.wall_ms,
          f.device_ms * 1e9 / ((double)n_frames * channels[k]), f.ratio);
      print_peer (peer_ms (g, name, n_frames, channels[k], false, NULL),
          f.wall_ms);
      write_row (g, name, "device", n_frames, channels[k], 0, f.device_ms,
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
    Figures f;

    if (!check_chain (g, names[i]) ||
        !measure_device (g, names[i], n_frames, 8, true, &f)) {
      fail (g, names[i]);
      return;
    }
    printf ("| %s | %.4f | %.4f | %.1f | %.2f |\n", names[i] + 5, f.device_ms,
        f.wall_ms, f.device_ms * 1e9 / ((double)n_frames * 8), f.ratio);
    write_row (g, "taps", names[i] + 5, n_frames, 8, 1, f.device_ms, f.wall_ms);
    fflush (stdout);
  }
}

/* ---- from host to host ---------------------------------------------------------------- */

/* Microseconds on the wall of n runs of one block. */
static bool
time_runs (TfxExec *exec, const TfxBlock *block, unsigned n, double *us)
{
  for (int i = -20; i < (int)n; i++) {
    BenchTime start = bench_time_now ();

    if (tfx_exec_run (exec, block, block) < 0)
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
  TfxBlock block = block_of (samples, n_channels, n_frames, false);
  double peer = 0, peer_p99 = 0;
  bool good = samples && us;
  char name[16];

  snprintf (name, sizeof name, "%u", n_sections);
  for (unsigned i = 0; good && i < 2; i++) {
    TfxExec *exec = exec_new (name, n_channels, n_frames, backends[i]);

    bench_fill_noise (samples, (size_t)n_frames * n_channels);
    good = exec && time_runs (exec, &block, n, us);
    tfx_exec_free (&exec);
    if (good) {
      median[i] = statistics_quantile (us, n, 0.5);
      p99[i] = statistics_quantile (us, n, 0.99);
    }
  }
  if (good && has_peer)
    peer = peer_ms (g, name, n_frames, n_channels, true, &peer_p99);
  if (good) {
    printf ("| %u × %u × %u | %.1f | %.1f | %.1f | %.1f |", n_frames,
        n_channels, n_sections, median[0], p99[0], median[1], p99[1]);
    if (peer > 0)
      printf (" %.1f | %.1f |\n", peer * 1e3, peer_p99 * 1e3);
    else
      printf (" | |\n");
    write_row (g, "live", "cuda", n_frames, n_channels, n_sections, median[0],
        p99[0]);
    write_row (g, "live", "cpu", n_frames, n_channels, n_sections, median[1],
        p99[1]);
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
      fail (g, "live");
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
  TfxBlock block = block_of (samples, 2, 1024, false);

  if (!bench_options_select (&g->options, "launches"))
    return;
  printf (
      "\n### What a buffer takes, 1024 frames × 2 channels, host to host\n\n"
      "| sections, or chain | launches | uploads | downloads |\n"
      "| --- | ---: | ---: | ---: |\n");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    TfxExec *exec =
        exec_new (names[i], 2, 1024, tfx_cuda_backend (g->card.cuda));
    TfxStats before, after;
    bool good = exec != NULL;

    bench_fill_noise (samples, 2 * 1024);
    good = good && tfx_exec_run (exec, &block, &block) == 0;
    if (good)
      tfx_exec_get_stats (exec, &before);
    good = good && tfx_exec_run (exec, &block, &block) == 0;
    if (good) {
      tfx_exec_get_stats (exec, &after);
      printf ("| %s | %llu | %llu | %llu |\n", names[i],
          (unsigned long long)(after.launches - before.launches),
          (unsigned long long)(after.uploads - before.uploads),
          (unsigned long long)(after.downloads - before.downloads));
      write_row (g, "launches", names[i], 1024, 2, 0,
          (double)(after.launches - before.launches), 0);
    } else {
      fail (g, names[i]);
    }
    tfx_exec_free (&exec);
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
              "Groups: api, iir, fir, taps, live, launches.  --turn is not "
              "used.\n\n");
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
    measure_live (&g);
    measure_launches (&g);
    printf ("\nCSV: %s\n", g.options.csv);
  }
  if (g.csv)
    fclose (g.csv);
  else if (!only_device)
    g.failed = true;
  torchfx_close (&g.torchfx);
  card_close (&g.card);
  bench_options_clear (&g.options);
  return g.failed ? 1 : 0;
}
