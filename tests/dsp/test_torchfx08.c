/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_torchfx08.c: chains against the output of TorchFX 0.8.0 in double, see
 * tests/golden/torchfx08.py; in blocks of any length. */
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 64
#define N_CHANNELS 2

/* Against the largest sample and the energy. */
#define TOLERANCE 1e-7 /* -140 dB */

typedef struct Golden
{
  size_t n_frames, n_at, at[MAX_VALUES];
  double rate_hz;
  char text[512];
  double energy[N_CHANNELS], y[N_CHANNELS][MAX_VALUES];
} Golden;

/* TorchFX convolves with taps in single precision: half a unit of each. */
static bool
has_rounded_taps (const Golden *g)
{
  return strstr (g->text, "DesignableFIR") != NULL;
}

static void
make_noise (const Golden *g, double *samples)
{
  for (unsigned c = 0; c < N_CHANNELS; c++) {
    uint32_t x = c + 1;

    for (size_t i = 0; i < g->n_frames; i++) {
      x = 69069u * x + 1u;
      samples[i * N_CHANNELS + c] = x / 2147483648.0 - 1.0;
    }
  }
}

/* The largest error, as a part of the largest sample or of the energy. */
static double
find_error (const Golden *g, const double *samples)
{
  double largest = 0.0, error = 0.0, worst = 0.0;

  for (unsigned c = 0; c < N_CHANNELS; c++) {
    double energy = 0.0;

    for (size_t i = 0; i < g->n_frames; i++) {
      double y = samples[i * N_CHANNELS + c];

      largest = fmax (largest, fabs (y));
      energy += y * y;
    }
    for (size_t i = 0; i < g->n_at; i++)
      error =
          fmax (error, fabs (samples[g->at[i] * N_CHANNELS + c] - g->y[c][i]));
    worst = fmax (worst, fabs (energy / g->energy[c] - 1.0));
  }
  return fmax (worst, error / largest);
}

static void
check (TapMany *many, const Golden *g, double *worst)
{
  static const size_t lengths[] = { 0, 1000, 64, 7 };
  TfxChain *chain = test_build_at (g->text, g->rate_hz, N_CHANNELS);
  const TfxFilterSpec spec = { g->rate_hz, N_CHANNELS, TFX_SAMPLE_F64, 0 };
  /* Look-ahead delays the output. */
  const size_t late = tfx_chain_latency (chain);
  double *samples = test_alloc_f64 ((g->n_frames + late) * N_CHANNELS);

  for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
    TestFilter *row = test_filter_for (chain, &spec, tfx_cpu_backend ());
    double error = INFINITY;

    make_noise (g, samples);
    for (size_t i = 0; i < late * N_CHANNELS; i++)
      samples[g->n_frames * N_CHANNELS + i] = 0.0;
    if (test_filter_pieces (row, samples, N_CHANNELS, g->n_frames + late,
            lengths[k], 0, NULL) == 0)
      error = find_error (g, samples + late * N_CHANNELS);
    test_filter_free (&row);
    *worst = has_rounded_taps (g) ? *worst : fmax (*worst, error);
    tap_many_check (many, error <= TOLERANCE,
        "%s, blocks up to %zu: %.1f dB off", g->text, lengths[k],
        20.0 * log10 (error));
  }
  tfx_chain_unref (&chain);
  free (samples);
}

static void
test_chains (void)
{
  FILE *file = fopen (tap_data (GOLDEN_DIR "/torchfx08.txt"), "r");
  TapMany many = tap_many ("chains are TorchFX 0.8.0's to -140 dB");
  Golden g = { .n_frames = 0 };
  unsigned n_chains = 0, n_expected = 1;
  double worst = 0.0;
  char *line = NULL, *at;
  size_t size = 0;

  while (file && getline (&line, &size, file) >= 0) {
    if (sscanf (line, "chain %lf %511[^\n]", &g.rate_hz, g.text) == 2)
      continue;
    at = line + 2;
    if (strncmp (line, "at ", 3) == 0) {
      while (*at == ' ' && g.n_at < MAX_VALUES)
        g.at[g.n_at++] = strtoul (at, &at, 10);
    } else if (strncmp (line, "y ", 2) == 0) {
      const unsigned long channel = strtoul (at, &at, 10) % N_CHANNELS;

      g.energy[channel] = strtod (at, &at);
      for (size_t i = 0; i < g.n_at; i++)
        g.y[channel][i] = strtod (at, &at);
    } else if (sscanf (line, "frames %zu", &g.n_frames) == 1) {
      tap_diag ("%zu frames", g.n_frames);
    } else {
      sscanf (line, "end %u", &n_expected);
    }
    if (strncmp (line, "y 1", 3) == 0) {
      n_chains++;
      check (&many, &g, &worst);
    }
  }
  tap_diag ("at most %.1f dB off where TorchFX has taps in double",
      20.0 * log10 (worst));
  tap_check (n_chains >= 120 && n_chains == n_expected, "%u chains", n_chains);
  tap_many_end (&many);
  free (line);
  if (file)
    fclose (file);
}

static const TapTest tests[] = {
  { "chains", test_chains },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
