/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-fir.c: a FIR stage on the CPU: a convolver; and long ones that are
 * made ready in another thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/backend.h"
#include "core/block.h"
#include "kind-fir.h"
#include "unit.h"

/* FIRs of so many taps and more are worth to be made ready before. */
#define LONG_TAPS 16384

/* ---- made ready before -------------------------------------------------------- */

/* What hangs on a stage. */
typedef struct TfxFirReady
{
  TfxUnitSpec spec; /* what for */
  TfxConvolverTaps *taps;
  TfxConvolver *spare; /* atomic; at rest, for who comes first */
} Ready;

void
tfx_unit_fir_free_ready (TfxStage *stage)
{
  Ready *ready = stage->u.fir.ready;

  stage->u.fir.ready = NULL;
  if (!ready)
    return;
  tfx_convolver_free (&ready->spare);
  tfx_convolver_taps_unref (&ready->taps);
  free (ready);
}

TfxConvolverSpec
tfx_unit_fir_spec (const TfxStage *stage, const TfxUnitSpec *spec)
{
  return (TfxConvolverSpec){ .taps = stage->u.fir.taps,
    .n_taps = stage->u.fir.n_taps,
    .n_leading = stage->u.fir.n_leading,
    .n_trailing = stage->u.fir.n_trailing,
    .n_sounding = stage->u.fir.n_sounding,
    .n_kernels = stage->u.fir.n_kernels,
    .n_channels = spec->n_channels,
    .precision = spec->sample,
    .method = stage->u.fir.method,
    .block_frames = spec->block_frames,
    .kernel = spec->kernel };
}

int
tfx_unit_fir_prepare (TfxStage *stage, const TfxFilterSpec *spec)
{
  const TfxUnitSpec unit = { spec->n_channels, spec->sample, spec->block_frames,
    tfx_cpu_backend ()->kernel };
  const TfxConvolverSpec convolver = tfx_unit_fir_spec (stage, &unit);
  Ready *ready;
  int ret;

  if (stage->u.fir.n_taps < LONG_TAPS || stage->u.fir.ready)
    return 0;
  ready = calloc (1, sizeof *ready);
  if (!ready)
    return -ENOMEM;
  stage->u.fir.ready = ready;
  ready->spec = unit;
  ret = tfx_convolver_taps_new (&convolver, &ready->taps);
  if (ret == 0)
    ret = tfx_convolver_new (ready->taps, &ready->spare);
  if (ret < 0)
    tfx_unit_fir_free_ready (stage);
  return ret;
}

/* What was made ready for just that; or NULL. */
static Ready *
find_ready (const TfxStage *stage, const TfxUnitSpec *spec)
{
  Ready *ready = stage->u.fir.ready;

  if (!ready || ready->spec.n_channels != spec->n_channels ||
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
 * memory.
 *
 * Where the stream gets another format in the middle of a cross-fade the unit of
 * the one before runs until that is over; its past then becomes that of this one,
 * and values that have come meanwhile begin. */
typedef struct Unit
{
  TfxConvolver *convolver;
  TfxConvolverFiller *filler; /* NULL: there was no need */
  TfxConvolverTaps **pool;
  size_t n_pool, pool_room;

  struct Unit *elder; /* NULL: there is none */
  bool is_over;       /* the elder has run, and is kept until it can be freed */
  double *past;       /* room for its past */
  TfxConvolverTaps *next;
  size_t next_frames;
  TfxWeight next_weight;

  const TfxConvolver *source; /* whose past it takes over step by step */
} Unit;

static int
make_taps (const TfxStage *stage, const TfxUnitSpec *spec,
    TfxConvolverTaps **taps)
{
  const TfxConvolverSpec convolver = tfx_unit_fir_spec (stage, spec);
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
  const TfxConvolverSpec convolver = tfx_unit_fir_spec (stage, spec);

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

static void unit_free (void *unit);

static void
free_elder (Unit *u)
{
  if (u->elder)
    unit_free (u->elder);
  u->elder = NULL;
  free (u->past);
  u->past = NULL;
}

static int
unit_prepare_values (void *unit, TfxStage *stage, const TfxUnitSpec *spec,
    void **values)
{
  Unit *u = unit;
  const bool is_ready = find_ready (stage, spec) != NULL;
  TfxConvolverTaps *taps = is_ready ? NULL : refill_taps (u, stage, spec);
  int ret = 0;

  if (u->is_over)
    free_elder (u);
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

  free_elder (u);
  tfx_convolver_taps_unref (&u->next);
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

/* ---- another format ------------------------------------------------------------- */

/* The one whose past and cross-fade are in force. */
static const Unit *
find_runner (const Unit *u)
{
  while (u->elder && !u->is_over)
    u = u->elder;
  return u;
}

static bool
unit_is_changing (const void *unit)
{
  const Unit *u = unit;

  return find_runner (u) != u || tfx_convolver_is_fading (u->convolver);
}

static void
begin_next (Unit *u)
{
  u->is_over = true;
  if (u->next)
    tfx_convolver_set_taps (u->convolver, u->next, u->next_frames,
        u->next_weight);
  tfx_convolver_taps_unref (&u->next);
}

/* What is over makes way. */
static void
take_over (Unit *u)
{
  if (!u->elder || u->is_over)
    return;
  take_over (u->elder);
  if (unit_is_changing (u->elder))
    return;
  tfx_convolver_get_history (u->elder->convolver, u->past);
  tfx_convolver_set_history (u->convolver, u->past);
  begin_next (u);
}

static bool
unit_succeed (void *unit, void *elder, size_t n_state)
{
  Unit *u = unit;

  u->past = calloc (n_state + 1, sizeof *u->past);
  if (!u->past)
    return false;
  u->elder = elder;
  return true;
}

/* ---- frames ---------------------------------------------------------------------- */

static int
unit_run (void *unit, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = unit;
  unsigned n_unsound = 0, n_more;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const Unit *runner;
    TfxBlock from, to;

    take_over (u);
    runner = find_runner (u);
    n = in->n_frames - i;
    if (runner != u) {
      const size_t left = tfx_convolver_fade_frames (runner->convolver);

      n = n < left ? n : left;
    }
    from = tfx_block_part (in, i, n, 0, in->n_channels);
    to = tfx_block_part (out, i, n, 0, out->n_channels);
    n_more = tfx_convolver_run (runner->convolver, &from, &to);
    n_unsound = n_more > n_unsound ? n_more : n_unsound;
  }
  return (int)n_unsound;
}

/* ---- values and state ------------------------------------------------------------ */

static void
unit_set_values (void *unit, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = unit;

  take_over (u);
  if (find_runner (u) != u) {
    tfx_convolver_taps_unref (&u->next);
    u->next = values;
    u->next_frames = n_frames;
    u->next_weight = weight;
    return;
  }
  tfx_convolver_set_taps (u->convolver, values, n_frames, weight);
  unit_drop_values (values);
}

static void
unit_reset (void *unit)
{
  Unit *u = unit;

  if (find_runner (u) != u)
    begin_next (u);
  tfx_convolver_reset (u->convolver);
}

static double
unit_state_peak (const void *unit)
{
  return tfx_convolver_is_silent (find_runner (unit)->convolver) ? 0.0 : 1.0;
}

static void
unit_get_state (const void *unit, double *state)
{
  tfx_convolver_get_history (find_runner (unit)->convolver, state);
}

static void
unit_set_state (void *unit, const double *state)
{
  Unit *u = unit;

  if (find_runner (u) != u)
    begin_next (u);
  tfx_convolver_set_history (u->convolver, state);
}

static bool
unit_catch_up_start (void *unit, const void *source)
{
  Unit *u = unit;

  u->source = find_runner (source)->convolver;
  return tfx_convolver_catch_up_start (u->convolver, u->source);
}

static size_t
unit_catch_up (void *unit, const void *source, size_t n_frames)
{
  Unit *u = unit;

  /* It has taken over from its elder. */
  if (u->source != find_runner (source)->convolver) {
    tfx_convolver_reset (u->convolver);
    if (!unit_catch_up_start (unit, source))
      return 0;
  }
  return tfx_convolver_catch_up (u->convolver, u->source, n_frames);
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
  .succeed = unit_succeed,
  .catch_up_start = unit_catch_up_start,
  .catch_up = unit_catch_up,
  .catch_up_frames = tfx_convolver_catch_up_frames,
  .is_prepared = unit_is_prepared,
};
