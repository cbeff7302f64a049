/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain.c: stages and chains, one sample after the other; see plain.h. */
#include "plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static long n_alive;

long
plain_n_alive (void)
{
  return n_alive;
}

/* ---- making ------------------------------------------------------------------ */

uint64_t
tfx_stage_new_id (void)
{
  static uint64_t last;
  return ++last;
}

/* Copies n elements of size bytes; the stage is freed if that fails. */
static TfxStage *
stage_new (uint64_t id, PlainKind kind, void **list, const void *from, size_t n,
    size_t size)
{
  TfxStage *stage = calloc (1, sizeof *stage);

  if (!stage)
    return NULL;
  *list = malloc (n * size + 1);
  if (!*list) {
    free (stage);
    return NULL;
  }
  if (n > 0)
    memcpy (*list, from, n * size);
  stage->refs = 1;
  stage->id = id;
  stage->kind = kind;
  stage->n = n;
  n_alive++;
  return stage;
}

TfxStage *
tfx_stage_new_sections (uint64_t id, const TfxSos *sos, size_t n_sos)
{
  TfxStage *stage;
  void *list;

  for (size_t i = 0; i < n_sos; i++) {
    if (!tfx_sos_is_stable (&sos[i]))
      return NULL;
  }
  stage = stage_new (id, PLAIN_SECTIONS, &list, sos, n_sos, sizeof *sos);
  if (stage)
    stage->sos = list;
  return stage;
}

TfxStage *
tfx_stage_new_gain (uint64_t id, double gain)
{
  void *list;
  TfxStage *stage;

  if (!isfinite (gain))
    return NULL;
  stage = stage_new (id, PLAIN_GAIN, &list, NULL, 0, 1);
  if (stage) {
    stage->taps = list;
    stage->gain = gain;
  }
  return stage;
}

TfxStage *
tfx_stage_new_fir (uint64_t id, const double *const *taps, unsigned n_kernels,
    size_t n_taps, TfxFirMethod method)
{
  void *list;
  TfxStage *stage;

  if (n_kernels != 1 || n_taps < 1)
    return NULL;
  stage = stage_new (id, PLAIN_FIR, &list, taps[0], n_taps, sizeof *taps[0]);
  if (stage) {
    stage->taps = list;
    stage->method = method;
  }
  return stage;
}

TfxStage *
tfx_stage_new_delay (uint64_t id, double direct, const TfxTap *taps,
    size_t n_taps)
{
  void *list;
  TfxStage *stage =
      stage_new (id, PLAIN_DELAY, &list, taps, n_taps, sizeof *taps);

  if (stage) {
    stage->echoes = list;
    stage->gain = direct;
  }
  return stage;
}

TfxStage *
tfx_stage_new_sum (uint64_t id, TfxChain *const *branches, size_t n)
{
  void *list;
  TfxStage *stage =
      stage_new (id, PLAIN_SUM, &list, branches, n, sizeof *branches);

  if (stage) {
    stage->branches = list;
    for (size_t i = 0; i < n; i++)
      tfx_chain_ref (branches[i]);
  }
  return stage;
}

TfxStage *
tfx_stage_ref (TfxStage *stage)
{
  stage->refs++;
  return stage;
}

void
tfx_stage_unref (TfxStage **stage)
{
  TfxStage *s = *stage;

  *stage = NULL;
  if (!s || --s->refs > 0)
    return;
  if (s->kind == PLAIN_SUM) {
    for (size_t i = 0; i < s->n; i++)
      tfx_chain_unref (&s->branches[i]);
  }
  free (s->sos);
  free (s->taps);
  free (s->echoes);
  free (s->branches);
  free (s);
  n_alive--;
}

uint64_t
tfx_stage_id (const TfxStage *stage)
{
  return stage->id;
}

static TfxChain *
chain_alloc (size_t n_stages)
{
  TfxChain *chain = calloc (1, sizeof *chain);

  if (!chain)
    return NULL;
  chain->stages = calloc (n_stages + 1, sizeof *chain->stages);
  if (!chain->stages) {
    free (chain);
    return NULL;
  }
  chain->refs = 1;
  chain->n_stages = n_stages;
  n_alive++;
  return chain;
}

TfxChain *
tfx_chain_new (void)
{
  return chain_alloc (0);
}

TfxChain *
tfx_chain_append (const TfxChain *chain, TfxStage *stage)
{
  TfxChain *longer = chain_alloc (chain->n_stages + 1);

  for (size_t i = 0; longer && i < chain->n_stages; i++)
    longer->stages[i] = tfx_stage_ref (chain->stages[i]);
  if (longer)
    longer->stages[chain->n_stages] = tfx_stage_ref (stage);
  return longer;
}

TfxChain *
tfx_chain_ref (TfxChain *chain)
{
  chain->refs++;
  return chain;
}

void
tfx_chain_unref (TfxChain **chain)
{
  TfxChain *c = *chain;

  *chain = NULL;
  if (!c || --c->refs > 0)
    return;
  for (size_t i = 0; i < c->n_stages; i++)
    tfx_stage_unref (&c->stages[i]);
  free (c->stages);
  free (c);
  n_alive--;
}

size_t
tfx_chain_n_stages (const TfxChain *chain)
{
  return chain->n_stages;
}

/* ---- running ------------------------------------------------------------------ */

static void
run_section (const TfxSos *s, double *x, size_t n)
{
  double s1 = 0.0, s2 = 0.0;

  for (size_t i = 0; i < n; i++) {
    double y = s->b0 * x[i] + s1;

    s1 = s->b1 * x[i] - s->a1 * y + s2;
    s2 = s->b2 * x[i] - s->a2 * y;
    x[i] = y;
  }
}

static void
run_fir (const double *taps, size_t n_taps, double *x, size_t n)
{
  for (size_t i = n; i-- > 0;) {
    double sum = 0.0;

    for (size_t k = 0; k < n_taps && k <= i; k++)
      sum += taps[k] * x[i - k];
    x[i] = sum;
  }
}

static void
run_delay (const TfxStage *stage, double *x, unsigned n_channels, size_t n)
{
  double *in = malloc (n_channels * n * sizeof *in);

  if (!in)
    abort ();
  memcpy (in, x, n_channels * n * sizeof *in);
  for (unsigned c = 0; c < n_channels; c++) {
    for (size_t i = 0; i < n; i++)
      x[c * n + i] *= stage->gain;
    for (size_t k = 0; k < stage->n; k++) {
      const TfxTap *tap = &stage->echoes[k];
      unsigned from = tap->swap ? c ^ 1u : c;

      if ((tap->side == TFX_TAP_LEFT && c % 2 != 0) ||
          (tap->side == TFX_TAP_RIGHT && c % 2 != 1))
        continue;
      for (size_t i = tap->delay; i < n; i++)
        x[c * n + i] += tap->gain * in[from * n + i - tap->delay];
    }
  }
  free (in);
}

static void
run_sum (const TfxStage *stage, double *x, unsigned n_channels, size_t n)
{
  size_t size = n_channels * n * sizeof *x;
  double *in = malloc (size), *branch = malloc (size);

  if (!in || !branch)
    abort ();
  memcpy (in, x, size);
  memset (x, 0, size);
  for (size_t b = 0; b < stage->n; b++) {
    memcpy (branch, in, size);
    plain_run (stage->branches[b], branch, n_channels, n);
    for (size_t i = 0; i < n_channels * n; i++)
      x[i] += branch[i];
  }
  free (in);
  free (branch);
}

void
plain_run (const TfxChain *chain, double *x, unsigned n_channels, size_t n)
{
  for (size_t k = 0; k < chain->n_stages; k++) {
    const TfxStage *stage = chain->stages[k];

    if (stage->kind == PLAIN_DELAY)
      run_delay (stage, x, n_channels, n);
    else if (stage->kind == PLAIN_SUM)
      run_sum (stage, x, n_channels, n);
    for (unsigned c = 0; c < n_channels; c++) {
      double *at = x + c * n;

      if (stage->kind == PLAIN_FIR)
        run_fir (stage->taps, stage->n, at, n);
      for (size_t i = 0; stage->kind == PLAIN_SECTIONS && i < stage->n; i++)
        run_section (&stage->sos[i], at, n);
      for (size_t i = 0; stage->kind == PLAIN_GAIN && i < n; i++)
        at[i] *= stage->gain;
    }
  }
}
