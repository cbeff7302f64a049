/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit-reverb.c: a reverb on the CPU, and how its numbers move.
 *
 * A line is a window that slides through memory: what comes out is read at its
 * start, what goes in is written behind its end.  When the memory ends, what the
 * line holds is moved back to the front of it.  So a part of the stream lies in
 * one piece, and parts are no longer than the shortest line.
 *
 * While numbers move, and until the frames that the kernel looks back at have the
 * last ones, the one-poles run frame by frame. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../block.h"
#include "../cpu/reverb.h"
#include "kind-reverb.h"
#include "numbers.h"
#include "samples.h"
#include "unit.h"

#define MAX_PART 256
/* What a line has room for behind its end: how rarely it is moved. */
#define ROOM 4096

enum
{
  FEEDBACK,
  DAMP,
  DRY,
  WET
};

typedef struct Line
{
  size_t past, length; /* frames kept in front of it, and its own */
  size_t offset;       /* of its memory, within that of a channel */
} Line;

typedef struct Unit
{
  TfxReverbKernel kernel;
  const TfxDynamicsKernels *samples;
  unsigned n_channels;
  Line lines[TFX_REVERB_LINES]; /* combs, then all-passes */
  size_t size;                  /* of a channel's memory */
  size_t longest_part;
  size_t at;      /* where all lines start, behind their past */
  double *memory; /* [n_channels][size] */
  double (*poles)[TFX_REVERB_COMBS][TFX_REVERB_POLE];
  TfxNumbers numbers;
  unsigned n_unsettled; /* frames to go one by one */
  double x[MAX_PART], fed[MAX_PART], wet[MAX_PART];
  /* At each frame of a part. */
  double moving[4][MAX_PART];
} Unit;

static void
get_numbers (const TfxStage *stage, double numbers[TFX_NUMBERS_MAX])
{
  memset (numbers, 0, TFX_NUMBERS_MAX * sizeof *numbers);
  numbers[FEEDBACK] = stage->u.reverb.feedback;
  numbers[DAMP] = stage->u.reverb.damp;
  numbers[DRY] = stage->u.reverb.dry;
  numbers[WET] = stage->u.reverb.wet;
}

/* ---- life ----------------------------------------------------------------------- */

static void
unit_free (void *data)
{
  Unit *u = data;

  free (u->memory);
  free (u->poles);
  free (u);
}

static void
lay_out (Unit *u, const TfxReverb *r)
{
  u->longest_part = MAX_PART;
  for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
    Line *line = &u->lines[i];
    const bool is_comb = i < TFX_REVERB_COMBS;

    line->past = is_comb ? TFX_REVERB_PAST : 0;
    line->length = is_comb ? r->combs[i] : r->all_passes[i - TFX_REVERB_COMBS];
    line->offset = u->size;
    u->size += line->past + line->length + ROOM;
    if (line->length < u->longest_part)
      u->longest_part = line->length;
  }
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  double numbers[TFX_NUMBERS_MAX];
  Unit *u = calloc (1, sizeof *u);

  if (!u)
    return -ENOMEM;
  u->kernel = tfx_reverb_kernel_for (spec->kernel);
  u->samples = tfx_dynamics_kernels_for (spec->kernel);
  u->n_channels = spec->n_channels;
  lay_out (u, &stage->u.reverb);
  get_numbers (stage, numbers);
  tfx_numbers_init (&u->numbers, numbers);
  u->memory = calloc (u->size, u->n_channels * sizeof *u->memory);
  u->poles = calloc (u->n_channels, sizeof *u->poles);
  if (!u->memory || !u->poles) {
    unit_free (u);
    return -ENOMEM;
  }
  *unit = u;
  return 0;
}

/* ---- lines ---------------------------------------------------------------------- */

/* Where what comes out of a line stands. */
static double *
line_start (const Unit *u, unsigned channel, unsigned i)
{
  return u->memory + channel * u->size + u->lines[i].offset + u->lines[i].past +
         u->at;
}

/* What the lines hold moves to the front. */
static void
move_back (Unit *u)
{
  for (unsigned c = 0; c < u->n_channels; c++) {
    for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
      const Line *line = &u->lines[i];
      double *front = u->memory + c * u->size + line->offset;

      memmove (front, front + u->at,
          (line->past + line->length) * sizeof *front);
    }
  }
  u->at = 0;
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
      double *pole = p->pole[k];
      const double y = (1.0 - d) * p->out[k][i] + d * pole[TFX_REVERB_POLE - 1];

      wet += p->out[k][i];
      p->in[k][i] = TFX_REVERB_INPUT * p->x[i] + f * y;
      memmove (pole, pole + 1, (TFX_REVERB_POLE - 1) * sizeof *pole);
      pole[TFX_REVERB_POLE - 1] = y;
    }
    for (unsigned k = TFX_REVERB_COMBS; k < TFX_REVERB_LINES; k++) {
      p->in[k][i] = wet + 0.5 * p->out[k][i];
      wet = p->out[k][i] - wet;
    }
    bad += 0.0 * wet;
    p->x[i] = u->moving[DRY][i] * p->x[i] + u->moving[WET][i] * wet;
  }
  return bad;
}

static void
clear_channel (Unit *u, unsigned channel)
{
  memset (u->memory + channel * u->size, 0, u->size * sizeof *u->memory);
  memset (u->poles[channel], 0, sizeof u->poles[channel]);
}

/* u->x in place.  Returns whether the lines had to be cleared: a sum that is
 * beyond all numbers would never leave them. */
static bool
run_channel (Unit *u, unsigned channel, size_t n, bool is_moving)
{
  TfxReverbPart part = { .pole = u->poles[channel],
    .x = u->x,
    .fed = u->fed,
    .wet = u->wet,
    .damp = u->numbers.now[DAMP],
    .feedback = u->numbers.now[FEEDBACK],
    .dry_gain = u->numbers.now[DRY],
    .wet_gain = u->numbers.now[WET] };
  double bad;

  for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
    double *out = line_start (u, channel, k);

    part.out[k] = out;
    part.in[k] = out + u->lines[k].length;
  }
  bad = is_moving ? run_moving (u, &part, n) : u->kernel (&part, n);
  if (bad == 0.0)
    return false;
  clear_channel (u, channel);
  memset (u->x, 0, n * sizeof *u->x);
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

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  int n_bad = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    bool is_moving = tfx_numbers_are_moving (&u->numbers) || u->n_unsettled > 0;

    n = find_part (u, in->n_frames - i);
    if (u->at + n > ROOM)
      move_back (u);
    if (is_moving)
      step_numbers (u, n);
    for (unsigned c = 0; c < u->n_channels; c++) {
      const TfxBlock from = tfx_block_part (in, i, n, c, 1);
      const TfxBlock to = tfx_block_part (out, i, n, c, 1);
      const bool is_bad = tfx_samples_load (u->samples, &from, u->x) > 0;

      n_bad += run_channel (u, c, n, is_moving) || is_bad;
      tfx_samples_store (u->samples, u->x, &to);
    }
    u->at += n;
  }
  return n_bad;
}

/* ---- values --------------------------------------------------------------------- */

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;
  TfxStage *stage = values;
  double numbers[TFX_NUMBERS_MAX];

  get_numbers (stage, numbers);
  tfx_numbers_set (&u->numbers, numbers, n_frames, weight);
  u->n_unsettled = TFX_REVERB_POLE;
  tfx_stage_unref (&stage);
}

static bool
unit_is_changing (const void *unit)
{
  return tfx_numbers_are_moving (&((const Unit *)unit)->numbers);
}

/* ---- state ---------------------------------------------------------------------- */

static void
unit_reset (void *data)
{
  Unit *u = data;

  for (unsigned c = 0; c < u->n_channels; c++)
    clear_channel (u, c);
  u->n_unsettled = 0;
  tfx_numbers_finish (&u->numbers);
}

static double
unit_state_peak (const void *data)
{
  const Unit *u = data;
  double peak = 0.0;

  for (unsigned c = 0; c < u->n_channels; c++) {
    for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
      const double *line = line_start (u, c, k);

      for (size_t i = 0; i < u->lines[k].length; i++)
        peak = fmax (peak, fabs (line[i]));
    }
    for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
      peak = fmax (peak, fabs (u->poles[c][k][TFX_REVERB_POLE - 1]));
  }
  return peak;
}

static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;

  for (unsigned c = 0; c < u->n_channels; c++) {
    for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
      const Line *line = &u->lines[k];
      const size_t n = line->past + line->length;

      memcpy (state, line_start (u, c, k) - line->past, n * sizeof *state);
      state += n;
    }
    memcpy (state, u->poles[c], sizeof u->poles[c]);
    state += TFX_REVERB_POLES;
  }
}

static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  u->at = 0;
  u->n_unsettled = 0;
  for (unsigned c = 0; c < u->n_channels; c++) {
    for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
      const Line *line = &u->lines[k];
      const size_t n = line->past + line->length;

      memcpy (line_start (u, c, k) - line->past, state, n * sizeof *state);
      state += n;
    }
    memcpy (u->poles[c], state, sizeof u->poles[c]);
    state += TFX_REVERB_POLES;
  }
}

/* Lines of other lengths begin empty: only another rate makes them. */
static bool
unit_catch_up_start (void *data, const void *source)
{
  return false;
}

static size_t
unit_catch_up (void *data, const void *source, size_t n_frames)
{
  return 0;
}

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
  .catch_up_start = unit_catch_up_start,
  .catch_up = unit_catch_up,
  .catch_up_frames = tfx_unit_all_frames,
};
