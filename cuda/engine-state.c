/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-state.c: the state of an engine's stages, from and to the host. */
#include "engine-private.h"

#include <math.h>
#include <string.h>

#include "units.h"

static void
state_is_lost (TfxEngine *e)
{
  __atomic_store_n (&e->cuda->lost, true, __ATOMIC_RELEASE);
}

/* Tries each call twice: a device that has just failed often succeeds. */
static int
try_get_state (TfxEngine *e, const TfxPlanPart *s, double *state)
{
  Node *node = &e->nodes[s->step->index];
  int ret = tfx_context_enter (e->cuda);

  if (ret < 0)
    return ret;
  if (node->cascade)
    ret = tfx_cuda_cascade_get_state (node->cascade, s->first_sos, s->n_sos,
        state);
  else if (node->unit)
    ret = tfx_cuda_units_get_state (node->unit, state);
  tfx_context_leave (e->cuda);
  return ret;
}

void
tfx_cuda_engine_get_state (TfxEngine *e, const TfxPlanPart *s, double *state)
{

  if (try_get_state (e, s, state) == 0 || try_get_state (e, s, state) == 0)
    return;
  memset (state, 0,
      e->nodes[s->step->index].n_channels * s->state_size * sizeof *state);
  state_is_lost (e);
}

static int
try_set_state (TfxEngine *e, const TfxPlanPart *s, const double *state)
{
  Node *node = &e->nodes[s->step->index];
  int ret = tfx_context_enter (e->cuda);

  if (ret < 0)
    return ret;
  if (node->cascade)
    ret = tfx_cuda_cascade_set_state (node->cascade, s->first_sos, s->n_sos,
        state);
  else if (node->unit)
    ret = tfx_cuda_units_set_state (node->unit, state);
  tfx_context_leave (e->cuda);
  return ret;
}

int
tfx_cuda_engine_set_state (TfxEngine *e, const TfxPlanPart *s,
    const double *state)
{
  return try_set_state (e, s, state) == 0 ? 0 : try_set_state (e, s, state);
}

double
tfx_cuda_engine_state_peak (const TfxEngine *e)
{
  double peak = 0.0;

  if (tfx_context_enter (e->cuda) < 0)
    return INFINITY;
  for (size_t i = 0; i < e->n_nodes; i++) {
    const Node *node = &e->nodes[i];
    double p = 0.0;

    if (node->cascade)
      p = tfx_cuda_cascade_state_peak (node->cascade);
    else if (node->unit)
      p = tfx_cuda_units_state_peak (node->unit);
    peak = p > peak ? p : peak;
  }
  tfx_context_leave (e->cuda);
  return peak;
}
