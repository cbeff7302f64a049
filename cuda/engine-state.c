/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-state.c: the state of an engine's stages: from and to the host; kept on the
 * device while no engine runs the stage; and moved to the next engine there. */
#include "engine-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

/* ---- from and to the host ------------------------------------------------------- */

/* Reads the state of a stage, or writes it if there is one to write.  Tries twice: a
 * device that has just failed often succeeds. */
static int
move_state (TfxEngine *e, const TfxPlanPart *s, double *read,
    const double *written)
{
  const Node *node = &e->nodes[s->step->index];
  int ret = -EIO;

  for (int i = 0; ret < 0 && i < 2; i++) {
    ret = tfx_context_enter (e->cuda);
    if (ret < 0)
      continue;
    if (node->cascade)
      ret = read ? tfx_cuda_cascade_get_state (node->cascade, s->first_sos,
                       s->n_sos, read)
                 : tfx_cuda_cascade_set_state (node->cascade, s->first_sos,
                       s->n_sos, written);
    else if (node->unit)
      ret = read ? tfx_cuda_units_get_state (node->unit, read)
                 : tfx_cuda_units_set_state (node->unit, written);
    tfx_context_leave (e->cuda);
  }
  return ret;
}

void
tfx_cuda_engine_get_state (TfxEngine *e, const TfxPlanPart *s, double *state)
{
  const unsigned n_channels = e->nodes[s->step->index].n_channels;

  if (move_state (e, s, state, NULL) == 0)
    return;
  memset (state, 0, n_channels * s->state_size * sizeof *state);
  __atomic_store_n (&e->cuda->lost, true, __ATOMIC_RELEASE);
}

int
tfx_cuda_engine_set_state (TfxEngine *e, const TfxPlanPart *s,
    const double *state)
{
  return move_state (e, s, NULL, state);
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

/* ---- without an engine ---------------------------------------------------------- */

/* A copy that does not refer to its engine: of a cascade, the sections of one stage; of
 * a unit, a unit that never runs. */
typedef struct Resident
{
  TfxResident base;
  TfxCudaStream stream; /* the device's */
  size_t n;             /* doubles */
  TfxCudaUnit *unit;    /* NULL: of a cascade: */
  TfxBuffer sections;   /* [n_channels][n_sos][2] */
} Resident;

static TfxCuda *
device_of (const Resident *r)
{
  return (TfxCuda *)r->base.device;
}

void
tfx_cuda_engine_free_resident (TfxResident *resident)
{
  Resident *r = (Resident *)resident;
  bool entered = tfx_context_enter (device_of (r)) == 0;

  tfx_buffer_free (&r->stream, &r->sections);
  tfx_cuda_units_free (&r->unit);
  if (entered)
    tfx_context_leave (device_of (r));
  free (r);
}

static void
resident_read (TfxResident *resident, double *state)
{
  Resident *r = (Resident *)resident;
  TfxCuda *cuda = device_of (r);
  int ret = -EIO;

  for (int i = 0; ret < 0 && i < 2; i++) {
    ret = tfx_context_enter (cuda);
    if (ret < 0)
      continue;
    ret = r->unit ? tfx_cuda_units_get_state (r->unit, state)
                  : tfx_buffer_download (&r->stream, state, r->sections.data,
                        r->n * sizeof *state);
    tfx_context_leave (cuda);
  }
  if (ret == 0)
    return;
  memset (state, 0, r->n * sizeof *state);
  __atomic_store_n (&cuda->lost, true, __ATOMIC_RELEASE);
}

static int
fill (Resident *r, TfxEngine *e, const TfxPlanPart *s)
{
  const Node *node = &e->nodes[s->step->index];
  int ret;

  if (node->cascade) {
    ret = tfx_buffer_reserve (&r->stream, &r->sections,
        r->n * sizeof (double) + 16);
    return ret < 0 ? ret
                   : tfx_cuda_cascade_copy_state (node->cascade, s->first_sos,
                         s->n_sos, r->sections.data, true);
  }
  ret = tfx_cuda_units_make (&r->stream, node->n_channels, s->step->stage,
      &r->unit);
  return ret < 0 ? ret : tfx_cuda_units_copy_state (r->unit, node->unit);
}

/* Waits for the copy, because the engine may be freed afterwards. */
TfxResident *
tfx_cuda_engine_keep_state (TfxEngine *e, const TfxPlanPart *s)
{
  const Node *node = &e->nodes[s->step->index];
  Resident *r;
  int ret;

  if ((node->unit && s->state_size == 0) || !(r = calloc (1, sizeof *r)))
    return NULL;
  r->base = (TfxResident){ .device = e->cuda, .read = resident_read };
  r->stream = (TfxCudaStream){ .cuda = e->cuda, .handle = e->cuda->stream };
  r->n = node->n_channels * s->state_size;
  ret = tfx_context_enter (e->cuda);
  if (ret == 0) {
    /* Earlier uploads of the state come first. */
    ret = tfx_context_drain (&e->stream);
    if (ret == 0)
      ret = fill (r, e, s);
    /* Also what was put there before one failed: the copy is freed then. */
    if (ret < 0)
      tfx_context_drain (&e->stream);
    else
      ret = tfx_context_drain (&r->stream);
    tfx_context_leave (e->cuda);
  }
  if (ret == 0)
    return &r->base;
  tfx_cuda_engine_free_resident (&r->base);
  return NULL;
}

bool
tfx_cuda_engine_take_state (TfxEngine *e, const TfxPlanPart *s,
    TfxResident *resident)
{
  const Node *node = &e->nodes[s->step->index];
  const Resident *r = (const Resident *)resident;
  int ret;

  if (r->base.device != e->cuda || tfx_context_enter (e->cuda) < 0)
    return false;
  if (node->cascade)
    ret = tfx_cuda_cascade_copy_state (node->cascade, s->first_sos, s->n_sos,
        r->sections.data, false);
  else
    ret = tfx_cuda_units_copy_state (node->unit, r->unit);
  /* The owner of the copy frees it, also after a failure here. */
  if (tfx_context_drain (&e->stream) < 0)
    ret = -EIO;
  tfx_context_leave (e->cuda);
  return ret == 0;
}
