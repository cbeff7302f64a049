/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind-sections.c: stages that are a cascade of second-order sections. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "design/svf-design.h"

static bool
are_stable (const TfxSos *sos, size_t n_sos)
{
  for (size_t i = 0; i < n_sos; i++) {
    if (!tfx_sos_is_stable (&sos[i]))
      return false;
  }
  return true;
}

TfxStage *
tfx_stage_new_sections (uint64_t id, const TfxSos *sos, size_t n_sos)
{
  TfxStage *stage;

  if (!are_stable (sos, n_sos))
    return NULL;
  stage = tfx_stage_alloc (id, &tfx_kind_sections);
  if (!stage)
    return NULL;
  stage->u.sections.n = n_sos;
  stage->u.sections.sos = tfx_stage_copy (sos, n_sos, sizeof *sos);
  stage->u.sections.shapes = calloc (n_sos + 1, sizeof (TfxSvf));
  if (!stage->u.sections.sos || !stage->u.sections.shapes)
    tfx_stage_unref (&stage);
  return stage;
}

bool
tfx_stage_reuse_sections (TfxStage *stage, const TfxSos *sos, size_t n_sos)
{
  if (stage->kind != &tfx_kind_sections || stage->u.sections.n != n_sos ||
      !tfx_stage_is_unshared (stage) || !are_stable (sos, n_sos))
    return false;
  stage->u.sections.has_shapes = false;
  if (n_sos > 0)
    memcpy (stage->u.sections.sos, sos, n_sos * sizeof *sos);
  return true;
}

bool
tfx_stage_reuse_shapes (TfxStage *stage, const TfxSos *sos,
    const TfxSvf *shapes, size_t n_sos)
{
  if (!tfx_stage_reuse_sections (stage, sos, n_sos))
    return false;
  memcpy (stage->u.sections.shapes, shapes, n_sos * sizeof *shapes);
  stage->u.sections.has_shapes = true;
  return true;
}

int
tfx_designer_move (TfxDesigner *designer, const TfxDesign *design,
    double rate_hz, TfxStage *stage)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  TfxSvf shapes[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_designer_shapes (designer, design, rate_hz, sos, shapes);

  if (!designer)
    return -EINVAL;
  if (n > 0)
    return tfx_stage_reuse_shapes (stage, sos, shapes, (size_t)n) ? 0 : -EINVAL;
  n = tfx_designer_sections (designer, design, rate_hz, sos);
  if (n < 0 || !tfx_stage_reuse_sections (stage, sos, (size_t)n))
    return -EINVAL;
  return 0;
}

static bool
sections_is_identity (const TfxStage *stage)
{
  for (size_t i = 0; i < stage->u.sections.n; i++) {
    const TfxSos *s = &stage->u.sections.sos[i];
    if (s->b0 != 1.0 || s->b1 != s->a1 || s->b2 != s->a2)
      return false;
  }
  return true;
}

static bool
sections_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  return a->u.sections.n == b->u.sections.n;
}

static bool
sections_is_same (const TfxStage *a, const TfxStage *b)
{
  return memcmp (a->u.sections.sos, b->u.sections.sos,
             a->u.sections.n * sizeof (TfxSos)) == 0;
}

static size_t
sections_state_size (const TfxStage *stage)
{
  return 2 * stage->u.sections.n;
}

static void
sections_clear (TfxStage *stage)
{
  free (stage->u.sections.sos);
  free (stage->u.sections.shapes);
}

static TfxComplex
sections_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  return tfx_response_at (stage->u.sections.sos, stage->u.sections.n, freq_hz,
      rate_hz);
}

/* The angle of a complex pair of roots of c0 z^2 + c1 z + c2 as a frequency; negative
 * if the roots are real. */
static double
root_frequency (double c0, double c1, double c2, double rate_hz)
{
  const double discriminant = 4.0 * c0 * c2 - c1 * c1;

  if (!(discriminant > 0.0))
    return -1.0;
  return atan2 (sqrt (discriminant), c0 > 0.0 ? -c1 : c1) / (2.0 * M_PI) *
         rate_hz;
}

static size_t
sections_resonances (const TfxStage *stage, double rate_hz, double *freq_hz,
    size_t max)
{
  size_t n = 0;

  for (size_t i = 0; i < stage->u.sections.n; i++) {
    const TfxSos *s = &stage->u.sections.sos[i];
    const double roots[] = { root_frequency (1.0, s->a1, s->a2, rate_hz),
      root_frequency (s->b0, s->b1, s->b2, rate_hz) };

    for (unsigned k = 0; k < 2; k++) {
      if (roots[k] < 0.0)
        continue;
      if (n < max)
        freq_hz[n] = roots[k];
      n++;
    }
  }
  return n;
}

const TfxKind tfx_kind_sections = {
  .step = TFX_STEP_CASCADE,
  .is_identity = sections_is_identity,
  .is_same_structure = sections_is_same_structure,
  .is_same = sections_is_same,
  .state_size = sections_state_size,
  .response = sections_response,
  .resonances = sections_resonances,
  .clear = sections_clear,
};
