/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chains.c: any chain of the core as a subject of a benchmark. */
#include "chains.h"

#include <stdlib.h>
#include <string.h>

#include "lang/expr.h"

typedef struct Run
{
  TfxFilter *filter;
  TfxPlan *plan; /* NULL: memcpy() */
  TfxBlock in, out;
  size_t size;
} Run;

TfxChain *
chains_parse (const char *text, unsigned n_channels)
{
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), NULL);
  TfxChain *chain = NULL;

  if (expr)
    tfx_expr_build (expr, CASCADES_RATE, n_channels, NULL, NULL, &chain, NULL);
  tfx_expr_free (&expr);
  return chain;
}

static void
run_free (void *data)
{
  Run *r = data;

  if (r->plan) {
    tfx_filter_lock (r->filter);
    tfx_plan_free (&r->plan);
    tfx_filter_unlock (r->filter);
  }
  tfx_filter_unref (&r->filter);
  free (r->in.data);
  free (r->out.data);
  free (r);
}

static bool
run_blocks (void *data, unsigned n_blocks, BenchTime *time)
{
  Run *r = data;
  BenchTime start = bench_time_now ();
  int ret = 0;

  for (unsigned i = 0; i < n_blocks; i++) {
    if (r->plan) {
      tfx_filter_lock (r->filter);
      ret |= tfx_plan_run (r->plan, &r->in, &r->out);
      tfx_filter_unlock (r->filter);
    } else {
      memcpy (r->out.data, r->in.data, r->size);
      __asm__ volatile("" : : "r"(r->out.data) : "memory");
    }
  }
  *time = bench_time_since (start);
  return ret == 0;
}

unsigned
chains_add (Bench *bench, const CoreCase *c, const char *name, TfxChain *chain,
    unsigned limit, double n_fmas)
{
  const TfxFilterSpec spec = { CASCADES_RATE, c->n_channels, c->type,
    c->n_frames };
  Run *r = calloc (1, sizeof *r);
  BenchSubject subject = {
    .name = name,
    .variant = c->kernel,
    .n_channels = c->n_channels,
    .n_frames = c->n_frames,
    .units = (double)c->n_frames * c->n_channels,
    .limit = limit,
    .n_fmas = n_fmas,
    .run = run_blocks,
    .data = r,
    .free = run_free,
  };

  if (!r)
    return BENCH_NONE;
  r->size = c->n_frames * c->n_channels *
            (c->type == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double));
  if (!core_new_block (c, true, &r->in) || !core_new_block (c, false, &r->out))
    bench_fail (bench, "no memory");
  if (chain && tfx_filter_new (chain, &spec, &r->filter) < 0)
    bench_fail (bench, "%s cannot be made", name);
  if (r->filter) {
    tfx_filter_lock (r->filter);
    tfx_plan_new (&r->filter, 1, tfx_cpu_backend_for (c->kernel), &r->plan);
    tfx_filter_unlock (r->filter);
  }
  tfx_chain_unref (&chain);
  return bench_add (bench, &subject);
}
