/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.c: what most units have in their tables. */
#include "unit.h"

#include <string.h>

#include "core/backend.h"

const char *
tfx_unit_cpu_kernel (void)
{
  return tfx_cpu_backend ()->kernel;
}

double
tfx_unit_cost (const double *costs, const TfxUnitSpec *spec)
{
  const unsigned n = spec->n_channels;

  if (strcmp (spec->kernel, "c") == 0)
    return costs[0];
  return costs[n == 1 ? 1 : n < 8 ? 2 : 3];
}

int
tfx_unit_keep_stage (void *unit, TfxStage *stage, const TfxUnitSpec *spec,
    void **values)
{
  *values = tfx_stage_ref (stage);
  return 0;
}

void
tfx_unit_drop_stage (void *values)
{
  TfxStage *stage = values;

  tfx_stage_unref (&stage);
}

double
tfx_unit_no_state_peak (const void *data)
{
  return 0.0;
}

void
tfx_unit_no_get_state (const void *data, double *state)
{
}

void
tfx_unit_no_set_state (void *data, const double *state)
{
}
