/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-filter.c: filters raw samples with libtfx, without GStreamer.
 *
 *   cc tfx-filter.c -o tfx-filter $(pkg-config --cflags --libs tfx)
 *   ./tfx-filter 48000 2 "HiButterworth(80) | Limiter(-1)" < in.raw > out.raw
 *
 * Input and output are interleaved floats in the byte order of the machine.  The output
 * has the length of the input: the latency of the chain is cut off at the beginning, and
 * silence after the end drains it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tfx.h>
#include <tfx-expr.h>

#define BLOCK_FRAMES 512

static void
report_clamp (const TfxExprClamp *clamped, void *data)
{
  fprintf (stderr, "warning: %s\n", clamped->message);
}

/* Reads the text and builds its chain.  Prints errors. */
static int
build_chain (const char *text, const TfxFilterSpec *spec, TfxChain **chain)
{
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);
  unsigned n_out, n_most;
  int ret;

  if (!expr) {
    fprintf (stderr, "%s\n", error.rendered);
    return error.code;
  }
  ret = tfx_expr_build (expr, spec->rate_hz, spec->n_channels, report_clamp,
      NULL, chain, &error);
  if (ret < 0)
    fprintf (stderr, "%s\n", error.rendered);
  tfx_expr_channels (expr, spec->n_channels, &n_out, &n_most);
  tfx_expr_free (&expr);
  if (ret == 0 && n_most != spec->n_channels) {
    fprintf (stderr, "the chain changes the number of channels\n");
    tfx_chain_unref (chain);
    ret = -EINVAL;
  }
  return ret;
}

/* Filters standard input to its end, in place, block by block. */
static int
filter_stream (TfxPlan *plan, unsigned n_channels, size_t latency)
{
  const size_t frame_size = n_channels * sizeof (float);
  float *samples = malloc (BLOCK_FRAMES * frame_size);
  size_t n_early = latency, n_late = latency;
  int ret = samples ? 0 : -ENOMEM;

  while (ret == 0) {
    size_t n_frames = fread (samples, frame_size, BLOCK_FRAMES, stdin);
    size_t n_cut;
    TfxBlock block;

    if (n_frames == 0) {
      n_frames = n_late < BLOCK_FRAMES ? n_late : BLOCK_FRAMES;
      n_late -= n_frames;
      memset (samples, 0, n_frames * frame_size);
    }
    if (n_frames == 0)
      break;
    block =
        tfx_block_interleaved (samples, TFX_SAMPLE_F32, n_channels, n_frames);
    ret = tfx_plan_run (plan, &block, &block);
    n_cut = n_early < n_frames ? n_early : n_frames;
    n_early -= n_cut;
    n_frames -= n_cut;
    if (ret == 0 && fwrite (samples + n_cut * n_channels, frame_size, n_frames,
                        stdout) < n_frames)
      ret = -EIO;
  }
  free (samples);
  if (ret == 0 && (ferror (stdin) || fflush (stdout) != 0))
    ret = -EIO;
  return ret;
}

int
main (int argc, char **argv)
{
  TfxFilterSpec spec = { .sample = TFX_SAMPLE_F32,
    .block_frames = BLOCK_FRAMES };
  TfxChain *chain = NULL;
  TfxFilter *filter = NULL;
  TfxPlan *plan = NULL;
  int ret;

  if (argc != 4) {
    fprintf (stderr, "usage: tfx-filter RATE CHANNELS CHAIN < IN > OUT\n");
    return 2;
  }
  spec.rate_hz = strtod (argv[1], NULL);
  spec.n_channels = (unsigned)strtoul (argv[2], NULL, 10);
  if (!(spec.rate_hz > 0.0) || spec.n_channels < 1 ||
      spec.n_channels > TFX_EXPR_MAX_CHANNELS) {
    fprintf (stderr, "the rate must be above 0, and channels from 1 to %u\n",
        TFX_EXPR_MAX_CHANNELS);
    return 2;
  }
  if (build_chain (argv[3], &spec, &chain) < 0)
    return 1;

  ret = tfx_filter_new (chain, &spec, &filter);
  if (ret == 0) {
    /* Threads that change the chain take the lock between blocks; this program has
     * none, and keeps it. */
    tfx_filter_lock (filter);
    ret = tfx_plan_new (&filter, 1, tfx_cpu_backend (), &plan);
    if (ret == 0) {
      fprintf (stderr, "latency: %zu frames\n", tfx_chain_latency (chain));
      ret = filter_stream (plan, spec.n_channels, tfx_chain_latency (chain));
    }
    tfx_plan_free (&plan);
    tfx_filter_unlock (filter);
  }
  tfx_filter_unref (&filter);
  tfx_chain_unref (&chain);
  if (ret < 0)
    fprintf (stderr, "error: %s\n", strerror (-ret));
  return ret < 0;
}
