/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb.c: a reverb on the device. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

_Static_assert(TFX_REVERB_N_LINES == TFX_REVERB_COMBS + TFX_REVERB_ALL_PASSES,
    "the kernel has the same lines");
_Static_assert(TFX_REVERB_COMBS == TFX_UNIT_THREADS / 32, "a warp runs a comb");

#define N_POLES (TFX_REVERB_COMBS * TFX_REVERB_POLES_KEPT)

typedef struct Unit
{
  TfxCudaUnit base;
  TfxReverbArgs args; /* arguments that are the same for all blocks */
  size_t n_running;   /* frames of the block that is being run */
  TfxKernel kernel;
} Unit;

static size_t
line_length (const TfxReverb *r, unsigned i)
{
  return i < TFX_REVERB_COMBS ? r->combs[i]
                              : r->all_passes[i - TFX_REVERB_COMBS];
}

/* What the kernel counts in 32 bits. */
static bool
can_run (const TfxStage *stage)
{
  size_t n = N_POLES;

  for (unsigned i = 0; i < TFX_REVERB_N_LINES; i++)
    n += line_length (&stage->u.reverb, i) + TFX_REVERB_OLD;
  return n < (size_t)1 << 28;
}

static int
unit_make (void *data, const TfxStage *stage)
{
  Unit *u = data;
  unsigned n = 0;

  u->args.part = TFX_REVERB_PART;
  for (unsigned i = 0; i < TFX_REVERB_N_LINES; i++) {
    const unsigned length = (unsigned)line_length (&stage->u.reverb, i);
    const unsigned old = i < TFX_REVERB_COMBS ? TFX_REVERB_OLD : 0;

    u->args.lines[i] = (TfxReverbLine){ length, length + old, n, 0 };
    n += length + old;
    if (length < u->args.part)
      u->args.part = length;
  }
  u->args.state_size = n + N_POLES;
  u->base.state.n_numbers = u->args.state_size;
  return 0;
}

static void
unit_set_stage (void *data)
{
  Unit *u = data;
  const TfxReverb *r = &u->base.stage->u.reverb;

  u->args.input = TFX_REVERB_INPUT;
  u->args.feedback = r->feedback;
  u->args.dry = u->base.gain * r->dry;
  u->args.wet = u->base.gain * r->wet;
  u->args.damp = tfx_cuda_unit_decay (r->damp);
}

/* ---- running -------------------------------------------------------------------- */

static int
unit_prepare (void *data, bool is_double, size_t n_frames)
{
  Unit *u = data;

  return tfx_cuda_unit_load (u->base.stream, "reverb", &u->kernel);
}

static int
unit_run (void *data, const TfxUnitRun *run)
{
  Unit *u = data;
  TfxReverbArgs args = u->args;

  args.run = tfx_cuda_unit_args (run, u->base.n_channels);
  args.state_in = tfx_cuda_state_in (&u->base.state);
  args.state_out = tfx_cuda_state_out (&u->base.state);
  u->n_running = run->n_frames;
  return tfx_module_launch (u->base.stream, &u->kernel, u->base.n_channels,
      TFX_UNIT_THREADS, TFX_REVERB_SHARED, &args);
}

static void
unit_commit (void *data)
{
  Unit *u = data;

  for (unsigned i = 0; i < TFX_REVERB_N_LINES; i++) {
    TfxReverbLine *line = &u->args.lines[i];

    line->at = (unsigned)((line->at + u->n_running) % line->size);
  }
}

/* ---- state ---------------------------------------------------------------------- */

/* From rings to lines that begin with what is oldest, or back; the one-poles stay
 * where they are. */
static void
turn (const Unit *u, double *rings, double *lines, bool from_rings)
{
  for (unsigned c = 0; c < u->base.n_channels; c++) {
    const size_t first = (size_t)c * u->args.state_size;
    const size_t poles = first + u->args.state_size - N_POLES;

    for (unsigned i = 0; i < TFX_REVERB_N_LINES; i++) {
      const TfxReverbLine *line = &u->args.lines[i];
      const size_t old = line->size - line->length;

      for (size_t k = 0; k < line->size; k++) {
        const size_t at = (line->at + line->size - old + k) % line->size;
        double *ring = &rings[first + line->offset + at];
        double *plain = &lines[first + line->offset + k];

        if (from_rings)
          *plain = *ring;
        else
          *ring = *plain;
      }
    }
    if (from_rings)
      memcpy (lines + poles, rings + poles, N_POLES * sizeof *lines);
    else
      memcpy (rings + poles, lines + poles, N_POLES * sizeof *lines);
  }
}

static size_t
n_doubles (const Unit *u)
{
  return (size_t)u->base.n_channels * u->args.state_size;
}

static int
unit_get_state (void *data, double *state)
{
  Unit *u = data;
  double *rings = malloc (n_doubles (u) * sizeof *rings);
  int ret = rings ? tfx_cuda_state_get (&u->base.state, rings) : -ENOMEM;

  if (ret == 0)
    turn (u, rings, state, true);
  free (rings);
  return ret;
}

static int
unit_set_state (void *data, const double *state)
{
  Unit *u = data;
  double *lines = malloc (2 * n_doubles (u) * sizeof *lines);
  double *rings = lines + n_doubles (u);
  int ret = -ENOMEM;

  if (!lines)
    return ret;
  memcpy (lines, state, n_doubles (u) * sizeof *lines);
  turn (u, rings, lines, false);
  ret = tfx_cuda_state_set (&u->base.state, rings);
  free (lines);
  return ret;
}

static int
unit_copy_state (void *data, const void *from)
{
  const Unit *other = from;
  Unit *u = data;

  for (unsigned i = 0; i < TFX_REVERB_N_LINES; i++)
    u->args.lines[i].at = other->args.lines[i].at;
  return 0;
}

/* As the CPU has it: without what it has put out. */
static double
unit_state_peak (const void *data, const double *state)
{
  const Unit *u = data;
  double peak = 0.0;

  for (unsigned c = 0; c < u->base.n_channels; c++) {
    const double *at = state + (size_t)c * u->args.state_size;

    for (unsigned i = 0; i < TFX_REVERB_N_LINES; i++) {
      const TfxReverbLine *line = &u->args.lines[i];

      for (size_t k = line->size - line->length; k < line->size; k++)
        peak = fmax (peak, fabs (at[line->offset + k]));
    }
    at += u->args.state_size - N_POLES;
    for (unsigned k = TFX_REVERB_POLES_KEPT - 1; k < N_POLES;
         k += TFX_REVERB_POLES_KEPT)
      peak = fmax (peak, fabs (at[k]));
  }
  return peak;
}

/* ---- cost ----------------------------------------------------------------------- */

/* Instructions that a thread could do while it waits for memory and for the other
 * threads in a part. */
#define PART_WAIT 900.0

/* Part after part. */
static void
unit_cost (const TfxStage *stage, unsigned n_channels, size_t n_frames,
    TfxCost *cost)
{
  size_t part = TFX_REVERB_PART;

  for (unsigned i = 0; i < TFX_REVERB_N_LINES; i++) {
    const size_t length = line_length (&stage->u.reverb, i);

    part = length < part ? length : part;
  }
  /* A part takes as long if it is short. */
  cost->issued = 793.0 * 225.0 / (double)part;
  cost->arithmetic = 83.0 * 225.0 / (double)part;
  cost->integer = 427.0 * 225.0 / (double)part;
  cost->passes = 6.3 * 225.0 / (double)part;
  cost->cached = 600.0;
  cost->serial = ceil ((double)n_frames / (double)part) * (700.0 + PART_WAIT);
}

const TfxCudaUnitKind tfx_cuda_reverb = {
  .kind = &tfx_kind_reverb,
  .can_run = can_run,
  .size = sizeof (Unit),
  .make = unit_make,
  .set_stage = unit_set_stage,
  .prepare = unit_prepare,
  .run = unit_run,
  .commit = unit_commit,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
  .copy_state = unit_copy_state,
  .state_peak = unit_state_peak,
  .cost = unit_cost,
};
