/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.h: what most units have in their tables; see TfxUnitKind. */
#ifndef TFX_UNIT_H
#define TFX_UNIT_H

#include "core/kind.h"

/* get_kernel: that of the CPU backend. */
const char *tfx_unit_cpu_kernel (void);

/* cost, in ns for a sample: costs[4] of the kernel c; and of the others with one
 * channel, with some, and with eight or more. */
double tfx_unit_cost (const double *costs, const TfxUnitSpec *spec);

/* prepare_values and drop_values of units whose values are those of a stage. */
int tfx_unit_keep_stage (void *unit, TfxStage *stage, const TfxUnitSpec *spec,
    void **values);
void tfx_unit_drop_stage (void *values);

/* Those of units that have no past. */
double tfx_unit_no_state_peak (const void *data);
void tfx_unit_no_get_state (const void *data, double *state);
void tfx_unit_no_set_state (void *data, const double *state);

#endif
