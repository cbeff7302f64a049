/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine.h: a plan made ready for the CPU, and its state. */
#ifndef TFX_ENGINE_H
#define TFX_ENGINE_H

#include "../backend.h"
#include "kernels.h"

/* See TfxBackend for what each of them does. */
int tfx_engine_new (const TfxPlan *plan, TfxEngine **engine);
void tfx_engine_free (TfxEngine *engine);
int tfx_engine_run (TfxEngine *engine, const TfxBlock *in, const TfxBlock *out);
int tfx_engine_update (TfxEngine *engine, const TfxPlan *plan);
void tfx_engine_update_step (TfxEngine *engine, const TfxStep *step);
void tfx_engine_get_state (TfxEngine *engine, size_t stage, double *state);
void
tfx_engine_set_state (TfxEngine *engine, size_t stage, const double *state);
int tfx_engine_drain (TfxEngine *engine, const TfxBlock *out);
size_t tfx_engine_get_skip (const TfxEngine *engine, size_t stage);
void tfx_engine_set_skip (TfxEngine *engine, size_t stage, size_t skip);
void tfx_engine_reset (TfxEngine *engine);
double tfx_engine_state_peak (const TfxEngine *engine);
double tfx_engine_fir_cost (const TfxPlan *plan, const TfxFirShape *shape);
int tfx_engine_prepare (const TfxPlan *plan);
bool tfx_engine_is_prepared (const TfxPlan *plan);
size_t tfx_engine_follow_frames (const TfxPlan *plan);
bool tfx_engine_follow_start (TfxEngine *engine, size_t stage, TfxEngine *from,
    size_t from_stage);
int tfx_engine_follow (TfxEngine *engine, size_t stage, TfxEngine *from,
    size_t from_stage, size_t n_frames);
void tfx_engine_add_stats (const TfxEngine *engine, TfxStats *stats);

#endif
