/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stage.c: what one filter is; immutable and reference-counted. */
#include "stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t
tfx_stage_new_id (void)
{
  static uint64_t last;
  return __atomic_add_fetch (&last, 1, __ATOMIC_RELAXED);
}

static TfxStage *
stage_new (uint64_t id, TfxStageKind kind)
{
  TfxStage *stage = calloc (1, sizeof *stage);

  if (!stage)
    return NULL;
  stage->refs = 1;
  stage->id = id;
  stage->kind = kind;
  return stage;
}

/* A copy of n items; never NULL for want of items. */
static void *
copy_items (const void *items, size_t n, size_t size)
{
  void *copy = n < SIZE_MAX / size ? malloc ((n ? n : 1) * size) : NULL;

  if (copy && n > 0)
    memcpy (copy, items, n * size);
  return copy;
}

TfxStage *
tfx_stage_new_sections (uint64_t id, const TfxSos *sos, size_t n_sos)
{
  TfxStage *stage;

  for (size_t i = 0; i < n_sos; i++) {
    if (!tfx_sos_is_stable (&sos[i]))
      return NULL;
  }
  stage = stage_new (id, TFX_STAGE_SECTIONS);
  if (!stage)
    return NULL;
  stage->u.sections.n = n_sos;
  stage->u.sections.sos = copy_items (sos, n_sos, sizeof *sos);
  if (!stage->u.sections.sos)
    tfx_stage_unref (&stage);
  return stage;
}

TfxStage *
tfx_stage_new_gain (uint64_t id, double gain)
{
  TfxStage *stage;

  if (!isfinite (gain))
    return NULL;
  stage = stage_new (id, TFX_STAGE_GAIN);
  if (stage)
    stage->u.gain = gain;
  return stage;
}

static TfxStage *
fir_new (uint64_t id, unsigned n_kernels, size_t n_taps, TfxFirMethod method)
{
  TfxStage *stage = stage_new (id, TFX_STAGE_FIR);

  if (!stage)
    return NULL;
  stage->u.fir.n_kernels = n_kernels;
  stage->u.fir.n_taps = n_taps;
  stage->u.fir.method = method;
  stage->u.fir.taps = calloc (n_kernels * n_taps, sizeof (double));
  if (!stage->u.fir.taps)
    tfx_stage_unref (&stage);
  return stage;
}

/* Fewer zeros at one end are no matter. */
#define MIN_ZEROS 32

static void
find_zeros (TfxStage *stage)
{
  const size_t n = stage->u.fir.n_taps;
  const double *taps = stage->u.fir.taps;
  size_t front = n - 1, back = n - 1;

  for (unsigned k = 0; k < stage->u.fir.n_kernels; k++, taps += n) {
    size_t i = 0;
    while (i < front && taps[i] == 0.0)
      i++;
    front = i;
    for (i = 0; i < back && taps[n - 1 - i] == 0.0;)
      i++;
    back = i;
  }
  /* zeros alone */
  if (front + back > n - 1)
    back = 0;
  stage->u.fir.n_front = front < MIN_ZEROS ? 0 : front;
  stage->u.fir.n_back = back < MIN_ZEROS ? 0 : back;
}

TfxStage *
tfx_stage_new_fir (uint64_t id, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, size_t delay, TfxFirMethod method)
{
  TfxStage *stage;

  if (n_kernels < 1 || n_kernels > TFX_MAX_CHANNELS || n_taps < 1 ||
      n_taps > TFX_FIR_MAX_TAPS || delay >= n_taps ||
      (unsigned)method > TFX_FIR_FFT)
    return NULL;
  for (unsigned k = 0; k < n_kernels; k++) {
    for (size_t i = 0; i < n_taps; i++) {
      if (!isfinite (kernels[k][i]))
        return NULL;
    }
  }
  stage = fir_new (id, n_kernels, n_taps, method);
  if (stage)
    stage->u.fir.delay = delay;
  for (unsigned k = 0; stage && k < n_kernels; k++)
    memcpy (stage->u.fir.taps + k * n_taps, kernels[k],
        n_taps * sizeof (double));
  if (stage)
    find_zeros (stage);
  return stage;
}

/* The method of two kernels in one: a wish for one method holds if the other
 * kernel has none against it. */
static TfxFirMethod
common_method (TfxFirMethod a, TfxFirMethod b)
{
  if (a == TFX_FIR_AUTO)
    return b;
  return b == TFX_FIR_AUTO || a == b ? a : TFX_FIR_AUTO;
}

TfxFirShape
tfx_stage_fir_shape (const TfxStage *s)
{
  return (TfxFirShape){ s->u.fir.n_kernels, s->u.fir.n_taps, s->u.fir.n_front,
    s->u.fir.n_back, s->u.fir.method };
}

TfxFirShape
tfx_stage_convolved_shape (const TfxFirShape *a, const TfxFirShape *b)
{
  return (
      TfxFirShape){ a->n_kernels > b->n_kernels ? a->n_kernels : b->n_kernels,
    a->n_taps + b->n_taps - 1, a->n_front + b->n_front, a->n_back + b->n_back,
    common_method (a->method, b->method) };
}

TfxStage *
tfx_stage_convolve (const TfxStage *first, const TfxStage *second)
{
  const unsigned n_a = first->u.fir.n_kernels, n_b = second->u.fir.n_kernels;
  const size_t len_a = first->u.fir.n_taps, len_b = second->u.fir.n_taps;
  const unsigned n = n_a > n_b ? n_a : n_b;
  TfxStage *stage;

  stage = fir_new (first->id, n, len_a + len_b - 1,
      common_method (first->u.fir.method, second->u.fir.method));
  for (unsigned k = 0; stage && k < n; k++) {
    const double *a = first->u.fir.taps + (n_a == 1 ? 0 : k) * len_a;
    const double *b = second->u.fir.taps + (n_b == 1 ? 0 : k) * len_b;
    double *out = stage->u.fir.taps + k * stage->u.fir.n_taps;

    tfx_fir_convolve (a, len_a, b, len_b, out);
  }
  if (stage)
    find_zeros (stage);
  return stage;
}

TfxStage *
tfx_stage_lengthen (const TfxStage *fir, size_t n_taps)
{
  const unsigned n = fir->u.fir.n_kernels;
  const size_t n_has = fir->u.fir.n_taps;
  TfxStage *stage = fir_new (fir->id, n, n_taps, fir->u.fir.method);

  if (!stage)
    return NULL;
  stage->u.fir.delay = fir->u.fir.delay;
  for (unsigned k = 0; k < n; k++)
    memcpy (stage->u.fir.taps + k * n_taps, fir->u.fir.taps + k * n_has,
        n_has * sizeof (double));
  find_zeros (stage);
  return stage;
}

TfxStage *
tfx_stage_new_delay (uint64_t id, double direct, const TfxTap *taps,
    size_t n_taps)
{
  TfxStage *stage;

  if (!isfinite (direct))
    return NULL;
  for (size_t i = 0; i < n_taps; i++) {
    if (!isfinite (taps[i].gain) || taps[i].delay > TFX_DELAY_MAX)
      return NULL;
  }
  stage = stage_new (id, TFX_STAGE_DELAY);
  if (!stage)
    return NULL;
  stage->u.delay.direct = direct;
  stage->u.delay.n_taps = n_taps;
  for (size_t i = 0; i < n_taps; i++) {
    if (taps[i].delay > stage->u.delay.longest)
      stage->u.delay.longest = taps[i].delay;
  }
  stage->u.delay.taps = copy_items (taps, n_taps, sizeof *taps);
  if (!stage->u.delay.taps)
    tfx_stage_unref (&stage);
  return stage;
}

static unsigned
chain_depth (const TfxChain *chain)
{
  unsigned depth = 0;

  for (size_t i = 0; i < chain->n_stages; i++) {
    const TfxStage *s = chain->stages[i];
    if (s->kind == TFX_STAGE_SUM && s->u.sum.depth > depth)
      depth = s->u.sum.depth;
  }
  return depth;
}

TfxStage *
tfx_stage_new_sum (uint64_t id, TfxChain *const *branches, size_t n_branches)
{
  TfxStage *stage;
  unsigned depth = 0;

  if (n_branches < 1)
    return NULL;
  for (size_t i = 0; i < n_branches; i++) {
    unsigned d = chain_depth (branches[i]);
    depth = d > depth ? d : depth;
  }
  if (depth >= TFX_SUM_MAX_DEPTH)
    return NULL;
  stage = stage_new (id, TFX_STAGE_SUM);
  if (!stage)
    return NULL;
  stage->u.sum.depth = depth + 1;
  stage->u.sum.branches = copy_items (branches, n_branches, sizeof *branches);
  if (!stage->u.sum.branches) {
    tfx_stage_unref (&stage);
    return NULL;
  }
  stage->u.sum.n = n_branches;
  for (size_t i = 0; i < n_branches; i++)
    tfx_chain_ref (branches[i]);
  return stage;
}

TfxStage *
tfx_stage_ref (TfxStage *stage)
{
  __atomic_add_fetch (&stage->refs, 1, __ATOMIC_RELAXED);
  return stage;
}

void
tfx_stage_unref (TfxStage **stage)
{
  TfxStage *s = *stage;

  *stage = NULL;
  if (!s || __atomic_sub_fetch (&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  if (s->ready)
    s->ready_free (s->ready);
  switch (s->kind) {
    case TFX_STAGE_SECTIONS:
      free (s->u.sections.sos);
      break;
    case TFX_STAGE_GAIN:
      break;
    case TFX_STAGE_FIR:
      free (s->u.fir.taps);
      break;
    case TFX_STAGE_DELAY:
      free (s->u.delay.taps);
      break;
    case TFX_STAGE_SUM:
      for (size_t i = 0; i < s->u.sum.n; i++)
        tfx_chain_unref (&s->u.sum.branches[i]);
      free (s->u.sum.branches);
      break;
  }
  free (s);
}

uint64_t
tfx_stage_id (const TfxStage *stage)
{
  return stage->id;
}
