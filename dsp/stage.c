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
stage_new (uint64_t id, TfxStageKind kind, size_t n_sos)
{
  TfxStage *stage;

  if (n_sos > (SIZE_MAX - sizeof *stage) / sizeof (TfxSos))
    return NULL;
  stage = calloc (1, sizeof *stage + n_sos * sizeof (TfxSos));
  if (!stage)
    return NULL;
  stage->refs = 1;
  stage->id = id;
  stage->kind = kind;
  stage->n_sos = n_sos;
  stage->gain = 1.0;
  return stage;
}

TfxStage *
tfx_stage_new_sections (uint64_t id, const TfxSos *sos, size_t n_sos)
{
  TfxStage *stage;

  for (size_t i = 0; i < n_sos; i++) {
    if (!tfx_sos_is_stable (&sos[i]))
      return NULL;
  }
  stage = stage_new (id, TFX_STAGE_SECTIONS, n_sos);
  if (stage && n_sos > 0)
    memcpy (stage->sos, sos, n_sos * sizeof *sos);
  return stage;
}

TfxStage *
tfx_stage_new_gain (uint64_t id, double gain)
{
  TfxStage *stage;

  if (!isfinite (gain))
    return NULL;
  stage = stage_new (id, TFX_STAGE_GAIN, 0);
  if (stage)
    stage->gain = gain;
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
  if (s && __atomic_sub_fetch (&s->refs, 1, __ATOMIC_ACQ_REL) == 0)
    free (s);
}

uint64_t
tfx_stage_id (const TfxStage *stage)
{
  return stage->id;
}
