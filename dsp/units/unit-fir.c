/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-fir.c: a FIR stage on the CPU: a convolver; and long ones that are
 * made ready in another thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../backend.h"
#include "kind-fir.h"
#include "unit.h"
#include "../cpu/convolver.h"

/* FIRs of so many taps and more are worth to be made ready before. */
#define LONG_TAPS 16384

/* ---- made ready before -------------------------------------------------------- */

/* What hangs on a stage. */
typedef struct Ready
{
  TfxUnitSpec spec; /* what for */
  TfxConvolverTaps *taps;
  TfxConvolver *spare; /* atomic; at rest, for who comes first */
} Ready;

static void
ready_free (void *data)
{
  Ready *ready = data;

  tfx_convolver_free (&ready->spare);
  tfx_convolver_taps_unref (&ready->taps);
  free (ready);
}

static TfxConvolverSpec
convolver_spec (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return (TfxConvolverSpec){ .taps = stage->u.fir.taps,
    .gain = 1.0,
    .n_taps = stage->u.fir.n_taps,
    .n_leading = stage->u.fir.n_leading,
    .n_trailing = stage->u.fir.n_trailing,
    .n_kernels = stage->u.fir.n_kernels,
    .n_channels = spec->n_channels,
    .precision = spec->sample,
    .method = stage->u.fir.method,
    .block_frames = spec->block_frames,
    .kernel = spec->kernel };
}

static int
prepare (TfxStage *stage, const TfxFilterSpec *spec)
{
  const TfxUnitSpec unit = { spec->n_channels, spec->sample, spec->block_frames,
    tfx_cpu_backend ()->kernel };
  const TfxConvolverSpec convolver = convolver_spec (stage, &unit);
  Ready *ready;
  int ret;

  if (stage->u.fir.n_taps < LONG_TAPS || stage->ready)
    return 0;
  ready = calloc (1, sizeof *ready);
  if (!ready)
    return -ENOMEM;
  ready->spec = unit;
  ret = tfx_convolver_taps_new (&convolver, &ready->taps);
  if (ret == 0)
    ret = tfx_convolver_new (ready->taps, &ready->spare);
  if (ret < 0) {
    ready_free (ready);
    return ret;
  }
  stage->ready = ready;
  stage->ready_free = ready_free;
  return 0;
}

/* What was made ready for just that; or NULL. */
static Ready *
find_ready (const TfxStage *stage, const TfxUnitSpec *spec)
{
  Ready *ready = stage->ready;

  if (!ready || stage->ready_free != ready_free ||
      ready->spec.n_channels != spec->n_channels ||
      ready->spec.sample != spec->sample ||
      ready->spec.block_frames != spec->block_frames ||
      strcmp (ready->spec.kernel, spec->kernel) != 0)
    return NULL;
  return ready;
}

static bool
unit_is_prepared (const TfxStage *stage, const TfxUnitSpec *spec)
{
  const Ready *ready = find_ready (stage, spec);

  return ready && __atomic_load_n (&ready->spare, __ATOMIC_ACQUIRE);
}

/* ---- taps ---------------------------------------------------------------------- */

/* A convolver, and taps that it had: kept, so that those that come take no
 * memory. */
typedef struct Unit
{
  TfxConvolver *convolver;
  TfxConvolverFiller *filler; /* NULL: there was no need */
  TfxConvolverTaps **pool;
  size_t n_pool, pool_room;
} Unit;

static int
make_taps (const TfxStage *stage, const TfxUnitSpec *spec,
    TfxConvolverTaps **taps)
{
  const TfxConvolverSpec convolver = convolver_spec (stage, spec);
  const Ready *ready = find_ready (stage, spec);

  if (!ready)
    return tfx_convolver_taps_new (&convolver, taps);
  *taps = tfx_convolver_taps_ref (ready->taps);
  return 0;
}

/* Taps that nobody uses any more become those of the stage; NULL: all are in use. */
static TfxConvolverTaps *
refill_taps (Unit *u, const TfxStage *stage, const TfxUnitSpec *spec)
{
  const TfxConvolverSpec convolver = convolver_spec (stage, spec);

  for (size_t i = 0; u->filler && i < u->n_pool; i++) {
    if (tfx_convolver_taps_refill (u->pool[i], &convolver, u->filler))
      return tfx_convolver_taps_ref (u->pool[i]);
  }
  return NULL;
}

/* More of them; without memory for that they are made again each time. */
static void
keep_taps (Unit *u, TfxConvolverTaps *taps)
{
  if (!u->filler && tfx_convolver_filler_new (taps, &u->filler) < 0)
    return;
  if (u->n_pool == u->pool_room) {
    const size_t room = u->pool_room > 0 ? 2 * u->pool_room : 8;
    TfxConvolverTaps **pool = realloc (u->pool, room * sizeof *pool);

    if (!pool)
      return;
    u->pool = pool;
    u->pool_room = room;
  }
  u->pool[u->n_pool++] = tfx_convolver_taps_ref (taps);
}

static int
unit_prepare_values (void *unit, TfxStage *stage, const TfxUnitSpec *spec,
    void **values)
{
  Unit *u = unit;
  const bool is_ready = find_ready (stage, spec) != NULL;
  TfxConvolverTaps *taps = is_ready ? NULL : refill_taps (u, stage, spec);
  int ret = 0;

  if (!taps) {
    ret = make_taps (stage, spec, &taps);
    if (ret == 0 && !is_ready)
      keep_taps (u, taps);
  }
  *values = taps;
  return ret;
}

static void
unit_drop_values (void *values)
{
  TfxConvolverTaps *taps = values;

  tfx_convolver_taps_unref (&taps);
}

/* ---- the unit ------------------------------------------------------------------- */

static void
unit_free (void *unit)
{
  Unit *u = unit;

  tfx_convolver_free (&u->convolver);
  tfx_convolver_filler_free (&u->filler);
  for (size_t i = 0; i < u->n_pool; i++)
    tfx_convolver_taps_unref (&u->pool[i]);
  free (u->pool);
  free (u);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Ready *ready = find_ready (stage, spec);
  Unit *u = calloc (1, sizeof *u);
  TfxConvolver *none = NULL;
  TfxConvolverTaps *taps;
  int ret = 0;

  *unit = u;
  if (!u)
    return -ENOMEM;
  if (ready)
    __atomic_exchange (&ready->spare, &none, &u->convolver, __ATOMIC_ACQ_REL);
  if (!u->convolver) {
    ret = make_taps (stage, spec, &taps);
    if (ret == 0)
      ret = tfx_convolver_new (taps, &u->convolver);
    tfx_convolver_taps_unref (&taps);
  }
  if (ret < 0) {
    unit_free (u);
    *unit = NULL;
  }
  return ret;
}

static int
unit_run (void *unit, const TfxBlock *in, const TfxBlock *out)
{
  return (int)tfx_convolver_run (((Unit *)unit)->convolver, in, out);
}

static void
unit_set_values (void *unit, void *values, size_t n_frames, TfxWeight weight)
{
  tfx_convolver_set_taps (((Unit *)unit)->convolver, values, n_frames, weight);
  unit_drop_values (values);
}

static bool
unit_is_changing (const void *unit)
{
  return tfx_convolver_is_fading (((const Unit *)unit)->convolver);
}

static void
unit_reset (void *unit)
{
  tfx_convolver_reset (((const Unit *)unit)->convolver);
}

static double
unit_state_peak (const void *unit)
{
  return tfx_convolver_state_peak (((const Unit *)unit)->convolver);
}

static void
unit_get_state (const void *unit, double *state)
{
  tfx_convolver_get_history (((const Unit *)unit)->convolver, state);
}

static void
unit_set_state (void *unit, const double *state)
{
  tfx_convolver_set_history (((const Unit *)unit)->convolver, state);
}

static bool
unit_catch_up_start (void *unit, const void *source)
{
  return tfx_convolver_catch_up_start (((Unit *)unit)->convolver,
      ((const Unit *)source)->convolver);
}

static size_t
unit_catch_up (void *unit, const void *source, size_t n_frames)
{
  return tfx_convolver_catch_up (((Unit *)unit)->convolver,
      ((const Unit *)source)->convolver, n_frames);
}

const TfxUnitKind tfx_fir_unit = {
  .is_for_format = true,
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .prepare_values = unit_prepare_values,
  .set_values = unit_set_values,
  .drop_values = unit_drop_values,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .catch_up_start = unit_catch_up_start,
  .catch_up = unit_catch_up,
  .catch_up_frames = tfx_convolver_catch_up_frames,
  .is_prepared = unit_is_prepared,
};

static double
get_cost (const TfxFirShape *shape, const TfxUnitSpec *spec)
{
  const TfxConvolverSpec convolver = { .gain = 1.0,
    .n_taps = shape->n_taps,
    .n_leading = shape->n_leading,
    .n_trailing = shape->n_trailing,
    .n_kernels = shape->n_kernels,
    .n_channels = spec->n_channels,
    .precision = spec->sample,
    .method = shape->method,
    .block_frames = spec->block_frames,
    .kernel = spec->kernel };

  return tfx_convolver_cost (&convolver);
}

const TfxFirFunctions tfx_fir_functions = {
  .prepare = prepare,
  .cost = get_cost,
};
