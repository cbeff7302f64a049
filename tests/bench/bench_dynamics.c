/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_dynamics.c: gains that follow the level, reverb and meter: the core, the
 * element in a pipeline, and beside them GStreamer's audiodynamic in the same, TorchFX
 * on one thread of the CPU and libebur128. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chains.h"
#include "limit.h"
#include "meter.h"
#include "play.h"
#include "torchfx.h"

#define N_FRAMES 1024
/* What TorchFX gets at once, so that its calls cost next to nothing. */
#define N_LONG_FRAMES 65536

/* The multiplications and additions of the formulas, two a multiply-add; what
 * compares, or takes a logarithm or a power, counts for one. */
static const struct
{
  const char *text;
  const char *gstreamer; /* NULL: there is none */
  double n_fmas;
  double goals[9]; /* ns a sample, by channels; 0: none */
  unsigned (*add_peer) (Bench *bench, const CoreCase *c);
  bool is_own; /* nobody plays the same: the core alone */
} effects[] = {
  /* Level: 2 products, a sum and a maximum; curve: 6; gain: 1. */
  { "Compressor(-20)",
      "audiodynamic mode=compressor characteristics=soft-knee threshold=0.1 "
      "ratio=0.25",
      8.0, { [1] = 3.0, [8] = 1.0 } },
  /* Window: 3 comparisons; target: 2; gain: 3; limit: 3. */
  { "Limiter(-12)",
      "audiodynamic mode=compressor characteristics=hard-knee threshold=0.25 "
      "ratio=0",
      8.0, { [1] = 3.0, [8] = 1.0 } },
  /* A comb: 4, 8 of them; an all-pass: 2, 4 of them; mix: 3. */
  { "Reverb()", NULL, 38.0, { [1] = 6.0, [8] = 6.0 } },
  /* Magnitude, gain and its way: 4. */
  { "Normalize()", NULL, 4.0, { 0.0 }, NULL, true },
  /* Points: 24 each, 3 of them, the same from both sides. */
  { "Limiter(-12, true_peak=True)", NULL, 48.0, { 0.0 }, NULL, true },
  /* The same; two sections, 5 each, and a square. */
  { "Loudness(None)", NULL, 59.0, { 0.0 }, meter_add, true },
};

typedef struct Peer
{
  Process *torchfx;
  const char *text;
  unsigned n_channels;
} Peer;

static bool
peer_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Peer *p = data;

  return process_ask (p->torchfx, &time->cpu_ns, &time->elapsed_ns,
      "run %u %u %u %s\n", p->n_channels, N_LONG_FRAMES, n_blocks, p->text);
}

static unsigned
add_torchfx (Bench *bench, Process *torchfx, size_t i, unsigned n_channels)
{
  Peer *peer = calloc (1, sizeof *peer);

  if (!peer)
    return BENCH_NONE;
  *peer = (Peer){ torchfx, effects[i].text, n_channels };
  return bench_add (bench, &(BenchSubject){ .name = "TorchFX",
                               .variant = "one thread",
                               .n_channels = n_channels,
                               .n_frames = N_LONG_FRAMES,
                               .units = (double)N_LONG_FRAMES * n_channels,
                               .limit = BENCH_NONE,
                               .run = peer_run,
                               .data = peer,
                               .free = free });
}

/* A chain of the language in a tfxchain. */
static void
add_elements (Bench *bench, const CoreCase *c, size_t i)
{
  char chain[96];
  const PlayContestant own = { .name = "tfxchain",
    .elements = { chain },
    .late = TRUE };

  snprintf (chain, sizeof chain, "tfxchain device=cpu chain=\"%s\"",
      effects[i].text);
  play_add (bench, &own, c);
  if (effects[i].gstreamer) {
    const PlayContestant peer = { .name = "audiodynamic",
      .elements = { effects[i].gstreamer } };

    play_add (bench, &peer, c);
  }
}

static void
measure (Bench *bench, Process *torchfx, size_t i, unsigned n_channels)
{
  CoreCase c = { .kernel = "",
    .type = TFX_SAMPLE_F32,
    .n_channels = n_channels,
    .n_frames = N_FRAMES };
  unsigned limit, own = BENCH_NONE;
  const char *kernel;
  BenchSubject subject;

  if (!bench_begin_group (bench, "%s, %u channels", effects[i].text,
          n_channels))
    return;
  if (torchfx && !effects[i].is_own)
    bench_set_reference (bench, add_torchfx (bench, torchfx, i, n_channels));
  if (effects[i].add_peer)
    bench_set_reference (bench, effects[i].add_peer (bench, &c));
  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    /* The best kernel, or all of them. */
    if (!bench_is_full (bench) && tfx_cpu_kernel (k + 1))
      continue;
    c.kernel = kernel;
    limit = limit_init_subject (&subject, kernel) ? bench_add (bench, &subject)
                                                  : BENCH_NONE;
    own = chains_add (bench, &c, effects[i].text,
        chains_parse (effects[i].text, n_channels), limit, effects[i].n_fmas);
  }
  if (!effects[i].is_own)
    add_elements (bench, &c, i);
  if (bench_measure (bench) && effects[i].goals[n_channels] > 0.0)
    bench_note (bench, "%s, %u channels: at most %g ns a sample, is %.2f",
        effects[i].text, n_channels, effects[i].goals[n_channels],
        bench_median (bench, own));
}

int
main (int argc, char **argv)
{
  static const unsigned channels[] = { 1, 2, 8 };
  Bench *bench = bench_open (argc, argv, "dynamics");
  char text[256];
  Process *torchfx = torchfx_open (DYNAMICS_PEER, text, sizeof text);

  gst_init (NULL, NULL);
  if (torchfx)
    printf ("%s\n", text);
  else
    bench_note (bench, "TorchFX: %s", text);
  for (size_t i = 0; play_load_plugin (bench, TFX_PLUGIN) &&
                     i < sizeof effects / sizeof *effects;
       i++) {
    for (size_t k = 0; k < sizeof channels / sizeof *channels; k++)
      measure (bench, torchfx, i, channels[k]);
  }
  process_close (&torchfx);
  return bench_close (&bench);
}
