/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.h: a plan made ready for the CPU, and its state. */
#ifndef TFX_ENGINE_H
#define TFX_ENGINE_H

#include "core/backend.h"
#include "kernels.h"

/* See TfxBackend for what each of them does. */
int tfx_engine_new (const TfxPlan *plan, TfxEngine **engine);
void tfx_engine_free (TfxEngine *engine);
int tfx_engine_run (TfxEngine *engine, const TfxBlock *in, const TfxBlock *out);
int tfx_engine_update (TfxEngine *engine, const TfxPlan *plan);
void tfx_engine_update_step (TfxEngine *engine, const TfxStep *step);
void tfx_engine_get_state (TfxEngine *engine, const TfxPlanPart *part,
    double *state);
int tfx_engine_set_state (TfxEngine *engine, const TfxPlanPart *part,
    const double *state);
double tfx_engine_state_peak (const TfxEngine *engine);
void tfx_engine_add_stats (const TfxEngine *engine, TfxStats *stats);

#endif
