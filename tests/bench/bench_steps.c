/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_steps.c: what is no filter of sections or taps, a copy, a gain, a delay,
 * a sum, dynamics and effects, and filters for each channel, beside a memcpy() of the same
 * samples. */
#include <stdio.h>
#include <string.h>

#include "chains.h"

#define N_FRAMES 1024

/* One tap, and a gain. */
#define DELAY 480
#define GAIN 0.7

typedef TfxChain *(*MakeChain) (void);

static TfxChain *
chain_of (TfxStage *stage)
{
  TfxChain *empty = tfx_chain_new ();
  TfxChain *chain = empty && stage ? tfx_chain_append (empty, stage) : empty;

  if (chain != empty)
    tfx_chain_unref (&empty);
  tfx_stage_unref (&stage);
  return chain;
}

static TfxChain *
make_copy (void)
{
  return tfx_chain_new ();
}

static TfxChain *
make_gain (void)
{
  return chain_of (tfx_stage_new_gain (tfx_stage_new_id (), GAIN));
}

static TfxChain *
make_delay (void)
{
  const TfxTap tap = { .delay = DELAY, .gain = GAIN };

  return chain_of (tfx_stage_new_delay (tfx_stage_new_id (), 1.0, &tap, 1));
}

static TfxChain *
make_sum (void)
{
  TfxChain *branches[] = { make_gain (), make_copy () };
  TfxStage *stage = tfx_stage_new_sum (tfx_stage_new_id (), branches, 2);

  tfx_chain_unref (&branches[0]);
  tfx_chain_unref (&branches[1]);
  return chain_of (stage);
}

/* Six equalisers for each channel, all of them others. */
static TfxChain *
make_channels (unsigned n_channels)
{
  char text[8 * 512] = "";

  for (unsigned c = 0; c < n_channels; c++) {
    char *end = text + strlen (text);

    end += sprintf (end, "%sch[%u]: ParametricEQ(%u, q=1, gain=2)",
        c > 0 ? "; " : "", c, 60 + c);
    for (unsigned k = 1; k < 6; k++)
      end +=
          sprintf (end, " | ParametricEQ(%u, q=1, gain=-%u)", (60 + c) << k, k);
  }
  return chains_parse (text, n_channels);
}

/* What each loudspeaker of a room gets. */
static TfxChain *
make_speakers (unsigned n_channels)
{
  char text[8 * 256] = "", *end = text;

  for (unsigned c = 0; c < n_channels; c++)
    end += sprintf (end,
        "%sch[%u]: HiButterworth(%u) | ParametricEQ(%u, q=2, gain=-3) | "
        "Gain(0.9) | Delay(%u, feedback=0, mix=1, taps=1)",
        c > 0 ? "; " : "", c, 60 + c, 400 + 100 * c, 40 + 7 * c);
  return chains_parse (text, n_channels);
}

static TfxChain *
make_one (unsigned n_channels)
{
  return chains_parse ("ch[1]: LoButterworth(120, order=4)", n_channels);
}

/* Of several channels. */
static const struct
{
  const char *name;
  TfxChain *(*make) (unsigned n_channels);
} splits[] = { { "six equalisers for each channel", make_channels },
  { "equaliser and delay for each channel", make_speakers },
  { "low-pass for one channel", make_one } };

/* Either is there; a text is its own name. */
static const struct
{
  const char *name;
  MakeChain make;
} cases[] = { { "copy", make_copy }, { "gain", make_gain },
  { "delay of one tap", make_delay }, { "gain + input", make_sum },
  { "Compressor(-20)" }, { "Compressor(-20, detector='rms')" }, { "Gate(-30)" },
  { "Limiter(-12)" }, { "Limiter(-12, true_peak=True)" }, { "Normalize()" },
  { "Loudness(None)" }, { "Gain(2, clamp=True)" }, { "Reverb()" } };

static void
measure (Bench *bench, const CoreCase *c)
{
  const char *kernel;

  if (!bench_begin_group (bench, "%u channels, %s, %s", c->n_channels,
          c->type == TFX_SAMPLE_F32 ? "F32" : "F64",
          c->planar ? "planar" : "interleaved"))
    return;
  bench_set_reference (bench,
      chains_add (bench, c, "memcpy", NULL, BENCH_NONE, 0.0));
  for (size_t k = 0; (kernel = tfx_cpu_kernel (k)); k++) {
    CoreCase kase = *c;

    /* The best kernel, or all of them. */
    if (!bench_is_full (bench) && tfx_cpu_kernel (k + 1))
      continue;
    kase.kernel = kernel;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      chains_add (bench, &kase, cases[i].name,
          cases[i].make ? cases[i].make ()
                        : chains_parse (cases[i].name, c->n_channels),
          BENCH_NONE, 0.0);
    for (size_t i = 0; c->n_channels > 1 && i < sizeof splits / sizeof *splits;
         i++)
      chains_add (bench, &kase, splits[i].name, splits[i].make (c->n_channels),
          BENCH_NONE, 0.0);
  }
  bench_measure (bench);
}

int
main (int argc, char **argv)
{
  static const unsigned channels[] = { 1, 2, 8 };
  Bench *bench = bench_open (argc, argv, "steps");

  for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
    for (unsigned layout = 0; layout < 2 && layout < channels[i]; layout++) {
      for (int type = 0; type < 2; type++) {
        const CoreCase c = { .kernel = "",
          .planar = layout == 1,
          .type = (TfxSample)type,
          .n_channels = channels[i],
          .n_frames = N_FRAMES };

        measure (bench, &c);
      }
    }
  }
  return bench_close (&bench);
}
