/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-resident.c: keeps the state of a stage on the device while no engine runs
 * it, and moves it to the next engine without the host.
 *
 * A resident state is a copy that does not refer to its engine: of a cascade, the
 * sections of one stage; of a unit, a unit that never runs. The copy is waited for,
 * because the engine may be freed afterwards. */
#include "engine-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "units.h"

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

/* ---- to the host --------------------------------------------------------------- */

static int
read_state (Resident *r, double *state)
{
  int ret = tfx_context_enter (device_of (r));

  if (ret < 0)
    return ret;
  if (!r->unit)
    ret = tfx_buffer_download (&r->stream, state, r->sections.data,
        r->n * sizeof *state);
  else
    ret = tfx_cuda_units_get_state (r->unit, state);
  tfx_context_leave (device_of (r));
  return ret;
}

static void
resident_read (TfxResident *resident, double *state)
{
  Resident *r = (Resident *)resident;

  if (read_state (r, state) == 0 || read_state (r, state) == 0)
    return;
  memset (state, 0, r->n * sizeof *state);
  __atomic_store_n (&device_of (r)->lost, true, __ATOMIC_RELEASE);
}

/* ---- out of an engine, and into one ---------------------------------------------- */

static int
fill (Resident *r, TfxEngine *e, const TfxPlanPart *s)
{
  const Node *node = &e->nodes[s->step->index];
  int ret;

  if (node->cascade) {
    ret = tfx_buffer_reserve (&r->stream, &r->sections,
        r->n * sizeof (double) + 16);
    return ret < 0 ? ret
                   : tfx_cuda_cascade_keep_state (node->cascade, s->first_sos,
                         s->n_sos, r->sections.data);
  }
  ret = tfx_cuda_units_make (&r->stream, node->n_channels, s->step->stage,
      &r->unit);
  return ret < 0 ? ret : tfx_cuda_units_copy_state (r->unit, node->unit);
}

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
    ret = tfx_cuda_cascade_take_state (node->cascade, s->first_sos, s->n_sos,
        r->sections.data);
  else
    ret = tfx_cuda_units_copy_state (node->unit, r->unit);
  /* The owner of the copy frees it, also after a failure here. */
  if (tfx_context_drain (&e->stream) < 0)
    ret = -EIO;
  tfx_context_leave (e->cuda);
  return ret == 0;
}
