/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stage.c: filter stages; immutable and reference-counted. */
#include <stdlib.h>
#include <string.h>

#include "kind.h"

uint64_t
tfx_stage_new_id (void)
{
  static uint64_t last;
  return __atomic_add_fetch (&last, 1, __ATOMIC_RELAXED);
}

TfxStage *
tfx_stage_alloc (uint64_t id, const TfxKind *kind)
{
  TfxStage *stage = calloc (1, sizeof *stage);

  if (!stage)
    return NULL;
  stage->refs = 1;
  stage->id = id;
  stage->kind = kind;
  return stage;
}

static double
get_field (const TfxStage *stage, const TfxField *field)
{
  const char *at = (const char *)stage + field->offset;

  switch (field->type) {
    case TFX_FIELD_SIZE:
      return (double)*(const size_t *)at;
    case TFX_FIELD_BOOL:
      return *(const bool *)at;
    default:
      return *(const double *)at;
  }
}

bool
tfx_stage_is_valid (const TfxStage *stage)
{
  const TfxKind *kind = stage->kind;

  for (size_t i = 0; i < kind->n_fields; i++) {
    const double value = get_field (stage, &kind->fields[i]);

    if (!(value >= kind->fields[i].min && value <= kind->fields[i].max))
      return false;
  }
  return !kind->is_valid || kind->is_valid (stage);
}

static bool
are_fields_same (const TfxStage *a, const TfxStage *b, bool are_params)
{
  for (size_t i = 0; i < a->kind->n_fields; i++) {
    const TfxField *field = &a->kind->fields[i];

    if ((field->type == TFX_FIELD_PARAM) == are_params &&
        get_field (a, field) != get_field (b, field))
      return false;
  }
  return true;
}

bool
tfx_stage_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->kind == b->kind && are_fields_same (a, b, false) &&
         (!a->kind->is_same_structure || a->kind->is_same_structure (a, b));
}

bool
tfx_stage_is_same (const TfxStage *a, const TfxStage *b)
{
  return tfx_stage_is_same_structure (a, b) && are_fields_same (a, b, true) &&
         (!a->kind->is_same || a->kind->is_same (a, b));
}

void
tfx_stage_params (const TfxStage *stage, double *values)
{
  for (size_t i = 0; i < stage->kind->n_fields; i++) {
    if (stage->kind->fields[i].type == TFX_FIELD_PARAM)
      *values++ = get_field (stage, &stage->kind->fields[i]);
  }
}

TfxStage *
tfx_stage_new_like (const TfxStage *values)
{
  TfxStage *stage = NULL;

  if (tfx_stage_is_valid (values))
    stage = tfx_stage_alloc (values->id, values->kind);
  if (stage)
    stage->u = values->u;
  return stage;
}

bool
tfx_stage_is_unshared (const TfxStage *stage)
{
  return __atomic_load_n (&stage->refs, __ATOMIC_ACQUIRE) == 1;
}

bool
tfx_stage_take (TfxStage *stage, const TfxStage *values)
{
  if (!tfx_stage_is_unshared (stage) || !tfx_stage_is_valid (values) ||
      !tfx_stage_is_same_structure (stage, values))
    return false;
  stage->u = values->u;
  return true;
}

size_t
tfx_stage_latency (const TfxStage *stage)
{
  return stage->kind->latency ? stage->kind->latency (stage) : 0;
}

bool
tfx_stage_is_identity (const TfxStage *stage)
{
  return stage->kind->is_identity && stage->kind->is_identity (stage);
}

size_t
tfx_stage_state_size (const TfxStage *stage)
{
  return stage->kind->state_size ? stage->kind->state_size (stage) : 0;
}

void *
tfx_stage_copy (const void *items, size_t n, size_t size)
{
  void *copy = n < SIZE_MAX / size ? malloc ((n ? n : 1) * size) : NULL;

  if (copy && n > 0)
    memcpy (copy, items, n * size);
  return copy;
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
  if (s->kind->clear)
    s->kind->clear (s);
  tfx_stage_unref (&s->parts[0]);
  tfx_stage_unref (&s->parts[1]);
  free (s);
}

uint64_t
tfx_stage_id (const TfxStage *stage)
{
  return stage->id;
}

size_t
tfx_stage_grid_frames (const TfxStage *stage)
{
  return stage->kind->grid_frames ? stage->kind->grid_frames (stage)
                                  : TFX_GRID_FRAMES;
}

int
tfx_stage_prepare (TfxStage *stage, const TfxFilterSpec *spec)
{
  return stage->kind->prepare ? stage->kind->prepare (stage, spec) : 0;
}

int
tfx_stage_prepare_values (TfxStage *stage, void *unit, const TfxUnitSpec *spec,
    void **values)
{
  const TfxUnitKind *kind = stage->kind->unit;

  *values = NULL;
  if (!unit)
    return 0;
  if (kind->prepare_values)
    return kind->prepare_values (unit, stage, spec, values);
  *values = tfx_stage_ref (stage);
  return 0;
}

void
tfx_stage_drop_values (const TfxStage *stage, void **values)
{
  TfxStage *own = *values;

  if (!own)
    return;
  if (stage->kind->unit->drop_values)
    stage->kind->unit->drop_values (*values);
  else
    tfx_stage_unref (&own);
  *values = NULL;
}
