/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-reverb.c: a reverb on the CPU, and how its numbers move.
 *
 * A line is a ring of its length, so that what goes in takes the place of what comes
 * out, which the cache has.  There is room behind its end: of a part that goes beyond
 * the end the front is copied there before it is read, and back after it was written,
 * so that it lies in one piece.  Parts are no longer than the shortest line.
 *
 * While numbers move, and until the frames that the kernel looks back at have the
 * last ones, the one-poles run frame by frame. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"
#include "../cpu/copy.h"
#include "../cpu/reverb.h"
#include "kind-reverb.h"
#include "numbers.h"
#include "samples.h"
#include "unit.h"

#define MAX_PART 256
/* Doubles of a row of the caches, and from one channel's part to the next one's: not
 * a power of two, or they would lie in the same rows. */
#define ROW 8
#define PLANE (MAX_PART + ROW)

enum
{
  FEEDBACK,
  DAMP,
  DRY,
  WET
};

typedef struct Line
{
  size_t length; /* what comes out has gone in so many frames ago */
  size_t at;     /* what comes out next, the oldest */
  size_t offset; /* of its memory, within that of a channel */
} Line;

/* Of a channel's combs. */
typedef struct Last
{
  double past[TFX_REVERB_COMBS][TFX_REVERB_PAST];
  double poles[TFX_REVERB_COMBS][TFX_REVERB_POLE];
} Last;

typedef struct Unit
{
  TfxReverbKernel kernel;
  const TfxDynamicsKernels *samples;
  unsigned n_channels;
  Line lines[TFX_REVERB_LINES]; /* combs, then all-passes */
  size_t size;                  /* of a channel's memory */
  size_t longest_part;
  double *memory; /* [n_channels][size] */
  Last *last;     /* [n_channels] */
  double *x;      /* [n_channels][PLANE] */
  TfxNumbers numbers;
  unsigned n_unsettled; /* frames to go one by one */
  double wet[MAX_PART];
  /* At each frame of a part. */
  double moving[4][MAX_PART];
} Unit;

static TfxNumberSet
get_numbers (const TfxStage *stage)
{
  return (TfxNumberSet){ { [FEEDBACK] = stage->u.reverb.feedback,
      [DAMP] = stage->u.reverb.damp,
      [DRY] = stage->u.reverb.dry,
      [WET] = stage->u.reverb.wet } };
}

/* ---- life ----------------------------------------------------------------------- */

static void
unit_free (void *data)
{
  Unit *u = data;

  free (u->memory);
  free (u->last);
  free (u->x);
  free (u);
}

/* So that all lines lie the same way. */
static size_t
round_up (size_t n)
{
  return (n + ROW - 1) / ROW * ROW;
}

static void
lay_out (Unit *u, const TfxReverb *r)
{
  u->longest_part = MAX_PART;
  for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
    Line *line = &u->lines[i];
    const bool is_comb = i < TFX_REVERB_COMBS;

    line->length = is_comb ? r->combs[i] : r->all_passes[i - TFX_REVERB_COMBS];
    line->offset = u->size;
    u->size += round_up (line->length + MAX_PART);
    if (line->length < u->longest_part)
      u->longest_part = line->length;
  }
  if (u->longest_part > ROW)
    u->longest_part -= u->longest_part % ROW;
}

static void
clear_channel (Unit *u, unsigned channel)
{
  memset (u->memory + channel * u->size, 0, u->size * sizeof *u->memory);
  memset (&u->last[channel], 0, sizeof u->last[channel]);
}

static void
unit_reset (void *data)
{
  Unit *u = data;

  for (unsigned c = 0; c < u->n_channels; c++)
    clear_channel (u, c);
  u->n_unsettled = 0;
  tfx_numbers_finish (&u->numbers);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernel = tfx_reverb_kernel_for (spec->kernel);
  u->samples = tfx_dynamics_kernels_for (spec->kernel);
  u->n_channels = spec->n_channels;
  lay_out (u, &stage->u.reverb);
  tfx_numbers_init (&u->numbers, get_numbers (stage).n);
  u->memory = tfx_block_new_samples (u->n_channels * u->size);
  u->last = calloc (u->n_channels, sizeof *u->last);
  u->x = tfx_block_new_samples (u->n_channels * PLANE);
  if (!u->memory || !u->last || !u->x) {
    unit_free (u);
    return -ENOMEM;
  }
  unit_reset (u);
  *unit = u;
  return 0;
}

/* ---- lines ---------------------------------------------------------------------- */

static double *
find_line (const Unit *u, unsigned channel, unsigned i)
{
  return u->memory + channel * u->size + u->lines[i].offset;
}

/* How many of the next n frames are beyond the end. */
static size_t
find_excess (const Line *line, size_t n)
{
  return line->at + n > line->length ? line->at + n - line->length : 0;
}

static void
open_lines (const Unit *u, unsigned channel, size_t n, TfxReverbPart *part)
{
  for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
    const Line *l = &u->lines[i];
    double *line = find_line (u, channel, i);

    if (find_excess (l, n) > 0)
      memcpy (line + l->length, line, find_excess (l, n) * sizeof *line);
    part->line[i] = line + l->at;
  }
}

static void
close_lines (const Unit *u, unsigned channel, size_t n)
{
  for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
    const Line *l = &u->lines[i];
    double *line = find_line (u, channel, i);

    if (find_excess (l, n) > 0)
      memcpy (line, line + l->length, find_excess (l, n) * sizeof *line);
  }
}

static void
advance (Unit *u, size_t n)
{
  for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
    Line *line = &u->lines[i];

    line->at += n;
    line->at -= line->at >= line->length ? line->length : 0;
  }
}

/* ---- a part --------------------------------------------------------------------- */

/* As the kernel, frame by frame, with numbers that move. */
static double
run_moving (Unit *u, const TfxReverbPart *p, size_t n)
{
  double bad = 0.0;

  for (size_t i = 0; i < n; i++) {
    const double d = u->moving[DAMP][i], f = u->moving[FEEDBACK][i];
    double wet = 0.0;

    for (unsigned k = 0; k < TFX_REVERB_COMBS; k++) {
      const double out = p->line[k][i];
      const double y = (1.0 - d) * out + d * p->pole[k][TFX_REVERB_POLE - 1];

      wet += out;
      p->line[k][i] = TFX_REVERB_INPUT * p->x[i] + f * y;
      tfx_reverb_keep (p->past[k], TFX_REVERB_PAST, out);
      tfx_reverb_keep (p->pole[k], TFX_REVERB_POLE, y);
    }
    for (unsigned k = TFX_REVERB_COMBS; k < TFX_REVERB_LINES; k++) {
      const double out = p->line[k][i];

      p->line[k][i] = wet + 0.5 * out;
      wet = out - wet;
    }
    bad += 0.0 * wet;
    p->x[i] = u->moving[DRY][i] * p->x[i] + u->moving[WET][i] * wet;
  }
  return bad;
}

/* The channel's part of u->x in place.  Returns whether the lines had to be cleared:
 * a sum that is beyond all numbers would never leave them. */
static bool
run_channel (Unit *u, unsigned channel, size_t n, bool is_moving)
{
  double *x = u->x + channel * PLANE;
  TfxReverbPart part = { .past = u->last[channel].past,
    .pole = u->last[channel].poles,
    .x = x,
    .wet = u->wet,
    .damp = u->numbers.now[DAMP],
    .feedback = u->numbers.now[FEEDBACK],
    .dry_gain = u->numbers.now[DRY],
    .wet_gain = u->numbers.now[WET] };
  double bad;

  open_lines (u, channel, n, &part);
  bad = is_moving ? run_moving (u, &part, n) : u->kernel (&part, n);
  close_lines (u, channel, n);
  if (bad == 0.0)
    return false;
  clear_channel (u, channel);
  memset (x, 0, n * sizeof *x);
  return true;
}

static void
step_numbers (Unit *u, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (tfx_numbers_are_moving (&u->numbers)) {
      tfx_numbers_step (&u->numbers);
      u->n_unsettled = TFX_REVERB_POLE;
    } else {
      u->n_unsettled--;
    }
    for (unsigned k = 0; k < 4; k++)
      u->moving[k][i] = u->numbers.now[k];
  }
}

/* How many frames the next part has. */
static size_t
find_part (const Unit *u, size_t left)
{
  size_t n = left < u->longest_part ? left : u->longest_part;

  if (tfx_numbers_are_moving (&u->numbers)) {
    const size_t to_end = u->numbers.length - u->numbers.done;

    return n < to_end ? n : to_end;
  }
  if (u->n_unsettled > 0 && n > u->n_unsettled)
    n = u->n_unsettled;
  return n;
}

/* n frames from frame i on, as planes. */
static TfxBlock
planes_of (const Unit *u, size_t n)
{
  return tfx_block_planar (u->x, TFX_SAMPLE_F64, u->n_channels, n, PLANE);
}

static int
load (Unit *u, const TfxBlock *in, size_t i, size_t n)
{
  const TfxBlock from = tfx_block_part (in, i, n, 0, u->n_channels);
  const TfxBlock to = planes_of (u, n);
  size_t n_bad = 0;

  if (u->n_channels == 1)
    return tfx_samples_load (u->samples, &from, u->x) > 0;
  tfx_cpu_copy (u->samples->copies, &from, &to, 1.0);
  for (unsigned c = 0; c < u->n_channels; c++) {
    double *x = u->x + c * PLANE;

    n_bad += u->samples->load[TFX_SAMPLE_F64](x, x, n);
  }
  return n_bad > 0;
}

static void
store (const Unit *u, const TfxBlock *out, size_t i, size_t n)
{
  const TfxBlock to = tfx_block_part (out, i, n, 0, u->n_channels);
  const TfxBlock from = planes_of (u, n);

  if (u->n_channels == 1)
    tfx_samples_store (u->samples, u->x, &to);
  else
    tfx_cpu_copy (u->samples->copies, &from, &to, 1.0);
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  int n_bad = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    bool is_moving = tfx_numbers_are_moving (&u->numbers) || u->n_unsettled > 0;

    n = find_part (u, in->n_frames - i);
    if (is_moving)
      step_numbers (u, n);
    n_bad += load (u, in, i, n);
    for (unsigned c = 0; c < u->n_channels; c++)
      n_bad += run_channel (u, c, n, is_moving);
    store (u, out, i, n);
    advance (u, n);
  }
  return n_bad;
}

/* ---- values --------------------------------------------------------------------- */

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  tfx_numbers_set (&u->numbers, get_numbers (values).n, n_frames, weight);
  tfx_unit_drop_stage (values);
  u->n_unsettled = TFX_REVERB_POLE;
}

static bool
unit_is_changing (const void *unit)
{
  return tfx_numbers_are_moving (&((const Unit *)unit)->numbers);
}

/* ---- state ---------------------------------------------------------------------- */

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  double peak = 0.0;

  for (unsigned c = 0; c < u->n_channels; c++) {
    for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
      const Line *l = &u->lines[k];
      const double *line = find_line (u, c, k);

      for (size_t i = 0; i < l->length; i++)
        peak = fmax (peak, fabs (line[i]));
    }
    for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
      peak = fmax (peak, fabs (u->last[c].poles[k][TFX_REVERB_POLE - 1]));
  }
  return peak;
}

/* Of a channel line after line, a comb's past in front of it, then the one-poles. */
static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;

  for (unsigned c = 0; c < u->n_channels; c++) {
    const Last *last = &u->last[c];

    for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
      const Line *l = &u->lines[k];
      const double *line = find_line (u, c, k);

      for (unsigned i = 0; k < TFX_REVERB_COMBS && i < TFX_REVERB_PAST; i++)
        *state++ = last->past[k][i];
      memcpy (state, line + l->at, (l->length - l->at) * sizeof *state);
      state += l->length - l->at;
      memcpy (state, line, l->at * sizeof *state);
      state += l->at;
    }
    memcpy (state, last->poles, sizeof last->poles);
    state += TFX_REVERB_POLES;
  }
}

static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  u->n_unsettled = 0;
  for (unsigned c = 0; c < u->n_channels; c++) {
    Last *last = &u->last[c];

    for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
      Line *l = &u->lines[k];

      for (unsigned i = 0; k < TFX_REVERB_COMBS && i < TFX_REVERB_PAST; i++)
        last->past[k][i] = *state++;
      l->at = 0;
      memcpy (find_line (u, c, k), state, l->length * sizeof *state);
      state += l->length;
    }
    memcpy (last->poles, state, sizeof last->poles);
    state += TFX_REVERB_POLES;
  }
}

/* Lines of other lengths begin empty, as only another rate makes them: no catch_up. */
const TfxUnitKind tfx_reverb_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .prepare_values = tfx_unit_keep_stage,
  .set_values = unit_set_values,
  .drop_values = tfx_unit_drop_stage,
  .is_changing = unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
};
