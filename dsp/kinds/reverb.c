/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb.c: Freeverb.
 *
 * A line is a ring of its length, so the input overwrites the output, which is in the
 * cache.  A part that crosses the end of a ring is copied to the space after the end
 * before it is read, and back after it is written, so it is contiguous.  Parts are no
 * longer than the shortest line.
 *
 * During a ramp of feedback or damping, and until the frames in the kernel's look-back
 * have the last values, the one-poles run frame by frame.
 *
 * Channels run side by side in groups that fit in a vector. */
#include <complex.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "cpu/reverb.h"
#include "unit.h"

/* Numbers of a channel: the combs' past outputs, and their one-poles. */
#define TFX_REVERB_PASTS (TFX_REVERB_COMBS * TFX_REVERB_PAST)
#define TFX_REVERB_POLES (TFX_REVERB_COMBS * TFX_REVERB_POLE)

/* The parameters. */
enum
{
  FEEDBACK,
  DAMP,
  DRY,
  WET
};

static const TfxField fields[] = {
  TFX_PARAM (reverb.feedback, 0, TFX_BELOW_1),
  TFX_PARAM (reverb.damp, 0, TFX_BELOW_1),
  TFX_PARAM (reverb.dry, 0, 1),
  TFX_PARAM (reverb.wet, 0, 1),
};

static bool
reverb_is_valid (const TfxStage *stage)
{
  const TfxReverb *r = &stage->u.reverb;

  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++) {
    if (r->combs[i] < 1 || r->combs[i] > TFX_REVERB_MAX_FRAMES)
      return false;
  }
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++) {
    if (r->all_passes[i] < 1 || r->all_passes[i] > TFX_REVERB_MAX_FRAMES)
      return false;
  }
  return true;
}

TfxStage *
tfx_stage_new_reverb (uint64_t id, const TfxReverb *reverb)
{
  const TfxStage values = { .id = id,
    .kind = &tfx_kind_reverb,
    .u.reverb = *reverb };

  return tfx_stage_new_like (&values);
}

static bool
reverb_is_identity (const TfxStage *stage)
{
  return stage->u.reverb.dry == 1.0 && stage->u.reverb.wet == 0.0;
}

static bool
reverb_is_same_structure (const TfxStage *a, const TfxStage *b)
{
  const TfxReverb *r = &a->u.reverb, *s = &b->u.reverb;

  return memcmp (r->combs, s->combs, sizeof r->combs) == 0 &&
         memcmp (r->all_passes, s->all_passes, sizeof r->all_passes) == 0;
}

static size_t
reverb_state_size (const TfxStage *stage)
{
  size_t n = TFX_REVERB_POLES;

  for (unsigned i = 0; i < TFX_REVERB_COMBS; i++)
    n += stage->u.reverb.combs[i] + TFX_REVERB_PAST;
  for (unsigned i = 0; i < TFX_REVERB_ALL_PASSES; i++)
    n += stage->u.reverb.all_passes[i];
  return n;
}

static double
reverb_cost (const TfxStage *stage, const TfxUnitSpec *spec)
{
  static const double costs[] = { 8.0, 5.2, 4.5, 3.4 };

  return tfx_unit_cost (costs, spec);
}

/* 1/z to the power of a delay. */
static double complex
delay_by (unsigned n_frames, double freq_hz, double rate_hz)
{
  return cexp (-I * 2.0 * M_PI * fmod (n_frames * freq_hz, rate_hz) / rate_hz);
}

static TfxComplex
reverb_response (const TfxStage *stage, unsigned channel, double freq_hz,
    double rate_hz)
{
  const TfxReverb *r = &stage->u.reverb;
  const double complex pole =
      (1.0 - r->damp) / (1.0 - r->damp * delay_by (1, freq_hz, rate_hz));
  double complex h = 0.0;

  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++) {
    const double complex z = delay_by (r->combs[k], freq_hz, rate_hz);

    h += TFX_REVERB_INPUT * z / (1.0 - r->feedback * z * pole);
  }
  for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++) {
    const double complex z = delay_by (r->all_passes[k], freq_hz, rate_hz);

    h *= (1.5 * z - 1.0) / (1.0 - 0.5 * z);
  }
  h = r->dry + r->wet * h;
  return (TfxComplex){ creal (h), cimag (h) };
}

/* ---- the unit ------------------------------------------------------------------- */

/* Values of a part of a group. */
#define MAX_PART 256
/* Doubles of a line of the caches. */
#define CACHE_LINE 8

typedef struct Line
{
  size_t length; /* its delay in frames */
  size_t at;     /* the oldest frame, the next output */
  size_t offset; /* of its memory in that of a channel */
} Line;

/* Channels that run side by side, interleaved. */
typedef struct Group
{
  unsigned first, n;
  double *memory; /* [size] rows */
  double *past;   /* [TFX_REVERB_COMBS][TFX_REVERB_PAST] rows */
  double *poles;  /* [TFX_REVERB_COMBS][TFX_REVERB_POLE] rows */
} Group;

typedef struct Unit
{
  TfxUnit unit;
  const TfxReverbKernel *kernel;
  Line lines[TFX_REVERB_LINES]; /* combs, then all-passes */
  size_t size;                  /* of a channel's memory */
  size_t longest_part;
  Group *groups;
  unsigned n_groups;
  double *memory, *last; /* of all groups: lines; pasts and one-poles */
  double *x;             /* [longest_part][n_channels] */
  /* Frames until the one-poles of the kernel are settled. */
  unsigned n_unsettled;
  double rows[MAX_PART], wet[MAX_PART], dry[MAX_PART];
  /* The parameters at each frame of a part. */
  double moving[4][MAX_PART];
} Unit;

/* ---- life ----------------------------------------------------------------------- */

/* Channels of a row, at most n_channels. */
static unsigned
row_of (const Unit *u, unsigned n_channels)
{
  unsigned n = u->kernel->n_lanes;

  while (n > n_channels)
    n /= 2;
  return n;
}

/* All lines have the same alignment.  Kernels read before the first group's numbers and
 * after the last one's. */
static void
lay_out (void *data, const TfxStage *stage, TfxRoom *room)
{
  const TfxReverb *r = &stage->u.reverb;
  Unit *u = data;
  const unsigned n_channels = u->unit.n_channels;
  size_t most;

  u->kernel = tfx_reverb_kernel_for (u->unit.kernel);
  u->longest_part = most = MAX_PART / row_of (u, n_channels);
  u->size = 0;
  for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
    Line *line = &u->lines[i];
    const bool is_comb = i < TFX_REVERB_COMBS;

    line->length = is_comb ? r->combs[i] : r->all_passes[i - TFX_REVERB_COMBS];
    line->offset = u->size;
    u->size += (line->length + most + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    if (line->length < u->longest_part)
      u->longest_part = line->length;
  }
  if (u->longest_part > CACHE_LINE)
    u->longest_part -= u->longest_part % CACHE_LINE;
  u->memory = tfx_room_take (room, 0, n_channels * u->size);
  u->last = tfx_room_take (room, TFX_REVERB_MAX_LANES,
      n_channels * (TFX_REVERB_PASTS + TFX_REVERB_POLES));
  u->x = tfx_room_take (room, 0, n_channels * u->longest_part);
}

static void
unit_free (void *data)
{
  free (((Unit *)data)->groups);
  tfx_unit_free (data);
}

static void
unit_reset (void *data)
{
  Unit *u = data;
  const unsigned n_channels = u->unit.n_channels;

  memset (u->memory, 0, n_channels * u->size * sizeof *u->memory);
  memset (u->last, 0,
      n_channels * (TFX_REVERB_PASTS + TFX_REVERB_POLES) * sizeof *u->last);
  u->n_unsettled = 0;
  tfx_params_finish (&u->unit.params);
}

static int
unit_make (TfxStage *stage, const TfxUnitSpec *spec, void **unit)
{
  Unit *u = tfx_unit_new (sizeof *u, stage, spec, lay_out);

  if (!u)
    return -ENOMEM;
  u->groups = calloc (spec->n_channels, sizeof *u->groups);
  if (!u->groups) {
    unit_free (u);
    return -ENOMEM;
  }
  for (unsigned c = 0; c < spec->n_channels;) {
    Group *g = &u->groups[u->n_groups++];

    g->first = c;
    g->n = row_of (u, spec->n_channels - c);
    g->memory = u->memory + c * u->size;
    g->past = u->last + c * (TFX_REVERB_PASTS + TFX_REVERB_POLES);
    g->poles = g->past + g->n * TFX_REVERB_PASTS;
    c += g->n;
  }
  *unit = u;
  return 0;
}

/* ---- lines ---------------------------------------------------------------------- */

static double *
find_line (const Unit *u, const Group *g, unsigned i)
{
  return g->memory + g->n * u->lines[i].offset;
}

/* Copies the start of each line that ends within the next n frames to the space after its
 * end, or back. */
static void
wrap_lines (const Unit *u, const Group *g, size_t n, bool is_back)
{
  for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
    const Line *l = &u->lines[i];
    double *start = find_line (u, g, i), *end = start + g->n * l->length;

    if (l->at + n > l->length)
      memcpy (is_back ? start : end, is_back ? end : start,
          g->n * (l->at + n - l->length) * sizeof *start);
  }
}

/* ---- a part --------------------------------------------------------------------- */

/* The parameters that change at each frame: none, only dry and wet, or all. */
typedef enum
{
  STEADY,
  MIX_MOVES,
  POLES_MOVE
} Motion;

/* The kernel with dry and wet of each frame. */
static void
run_mixed (Unit *u, TfxReverbPart *p, size_t n, double *bad)
{
  const unsigned m = p->n_channels;

  memcpy (u->dry, p->x, n * m * sizeof *u->dry);
  p->dry_gain = 0.0;
  p->wet_gain = 1.0;
  u->kernel->run (p, n, bad);
  for (size_t i = 0; i < n; i++) {
    for (size_t at = i * m; at < (i + 1) * m; at++)
      p->x[at] = u->moving[DRY][i] * u->dry[at] + u->moving[WET][i] * p->x[at];
  }
}

/* The kernel with parameters of each frame. */
static void
run_moving (Unit *u, const TfxReverbPart *p, size_t n, double *bad)
{
  const unsigned m = p->n_channels;

  memset (bad, 0, m * sizeof *bad);
  for (size_t at = 0; at < n * m; at++) {
    const size_t i = at / m;
    const unsigned channel = at % m;
    const double d = u->moving[DAMP][i], f = u->moving[FEEDBACK][i];
    double wet = 0.0;

    for (unsigned k = 0; k < TFX_REVERB_COMBS; k++) {
      double *past = p->past + m * k * TFX_REVERB_PAST;
      double *pole = p->pole + m * k * TFX_REVERB_POLE;
      const double out = p->line[k][at];
      const double y =
          (1.0 - d) * out + d * pole[m * (TFX_REVERB_POLE - 1) + channel];

      wet += out;
      p->line[k][at] = TFX_REVERB_INPUT * p->x[at] + f * y;
      tfx_reverb_keep (past, TFX_REVERB_PAST, m, channel, out);
      tfx_reverb_keep (pole, TFX_REVERB_POLE, m, channel, y);
    }
    for (unsigned k = TFX_REVERB_COMBS; k < TFX_REVERB_LINES; k++) {
      const double out = p->line[k][at];

      p->line[k][at] = wet + 0.5 * out;
      wet = out - wet;
    }
    bad[channel] += 0.0 * wet;
    p->x[at] = u->moving[DRY][i] * p->x[at] + u->moving[WET][i] * wet;
  }
}

static inline __attribute__ ((always_inline)) void
copy_fixed (double *to, size_t to_stride, const double *from,
    size_t from_stride, const unsigned m, size_t n)
{
  for (size_t i = 0; i < n; i++)
    memcpy (to + i * to_stride, from + i * from_stride, m * sizeof *to);
}

/* Copies n rows of m values: 1, 2, 4 or 8. */
static void
copy_rows (double *to, size_t to_stride, const double *from, size_t from_stride,
    unsigned m, size_t n)
{
  if (m == 1)
    copy_fixed (to, to_stride, from, from_stride, 1, n);
  else if (m == 2)
    copy_fixed (to, to_stride, from, from_stride, 2, n);
  else
    for (unsigned k = 0; k < m; k += 4)
      copy_fixed (to + k, to_stride, from + k, from_stride, 4, n);
}

static void
clear_channel (const Unit *u, const Group *g, unsigned channel)
{
  for (size_t i = channel; i < g->n * u->size; i += g->n)
    g->memory[i] = 0.0;
  for (size_t i = channel; i < g->n * TFX_REVERB_PASTS; i += g->n)
    g->past[i] = 0.0;
  for (size_t i = channel; i < g->n * TFX_REVERB_POLES; i += g->n)
    g->poles[i] = 0.0;
}

/* Runs the group's part of u->x in place.  Returns whether it cleared lines: an infinite
 * sum would never leave them. */
static bool
run_group (Unit *u, const Group *g, size_t n, Motion motion)
{
  const bool is_all = g->n == u->unit.n_channels;
  double *x = u->x + g->first;
  TfxReverbPart part = { .n_channels = g->n,
    .past = g->past,
    .pole = g->poles,
    .x = is_all ? x : u->rows,
    .wet = u->wet,
    .damp = u->unit.params.now[DAMP],
    .feedback = u->unit.params.now[FEEDBACK],
    .dry_gain = u->unit.params.now[DRY],
    .wet_gain = u->unit.params.now[WET] };
  double bad[TFX_REVERB_MAX_LANES];
  bool is_bad = false;

  wrap_lines (u, g, n, false);
  for (unsigned i = 0; i < TFX_REVERB_LINES; i++)
    part.line[i] = find_line (u, g, i) + g->n * u->lines[i].at;
  if (!is_all)
    copy_rows (part.x, g->n, x, u->unit.n_channels, g->n, n);
  if (motion == POLES_MOVE)
    run_moving (u, &part, n, bad);
  else if (motion == MIX_MOVES)
    run_mixed (u, &part, n, bad);
  else
    u->kernel->run (&part, n, bad);
  wrap_lines (u, g, n, true);
  for (unsigned c = 0; c < g->n; c++) {
    if (bad[c] == 0.0)
      continue;
    clear_channel (u, g, c);
    for (size_t i = 0; i < n; i++)
      part.x[i * g->n + c] = 0.0;
    is_bad = true;
  }
  if (!is_all)
    copy_rows (x, u->unit.n_channels, part.x, g->n, g->n, n);
  return is_bad;
}

static bool
has_moving_poles (const Unit *u)
{
  return tfx_params_change (&u->unit.params, FEEDBACK) ||
         tfx_params_change (&u->unit.params, DAMP);
}

/* Advances n frames: finds the parameters of each. */
static void
step_params (Unit *u, size_t n)
{
  TfxParams *p = &u->unit.params;

  if (has_moving_poles (u))
    u->n_unsettled = TFX_REVERB_POLE;
  else if (u->n_unsettled > 0)
    u->n_unsettled -= (unsigned)n;
  for (unsigned k = 0; k < 4; k++) {
    if (tfx_params_are_ramping (p))
      tfx_params_read (p, k, u->moving[k], n);
    for (size_t i = 0; !tfx_params_are_ramping (p) && i < n; i++)
      u->moving[k][i] = p->now[k];
  }
  if (tfx_params_are_ramping (p))
    tfx_params_advance (p, n);
}

/* Frames of the next part. */
static size_t
find_part (const Unit *u, size_t left)
{
  const size_t to_end = u->unit.params.length - u->unit.params.done;
  size_t n = left < u->longest_part ? left : u->longest_part;

  if (tfx_params_are_ramping (&u->unit.params) && n > to_end)
    n = to_end;
  if (u->n_unsettled > 0 && !has_moving_poles (u) && n > u->n_unsettled)
    n = u->n_unsettled;
  return n;
}

static int
unit_run (void *data, const TfxBlock *in, const TfxBlock *out)
{
  Unit *u = data;
  int n_bad = 0;

  for (size_t i = 0, n; i < in->n_frames; i += n) {
    const Motion motion = u->n_unsettled > 0 || has_moving_poles (u)
                              ? POLES_MOVE
                          : tfx_params_are_ramping (&u->unit.params) ? MIX_MOVES
                                                                     : STEADY;
    TfxBlock from, to;

    n = find_part (u, in->n_frames - i);
    if (motion != STEADY)
      step_params (u, n);
    from = tfx_block_part (in, i, n, 0, u->unit.n_channels);
    to = tfx_block_part (out, i, n, 0, u->unit.n_channels);
    n_bad += tfx_samples_load (u->unit.kernels, &from, u->x) > 0;
    for (unsigned g = 0; g < u->n_groups; g++)
      n_bad += run_group (u, &u->groups[g], n, motion);
    tfx_samples_store (u->unit.kernels, u->x, &to);
    for (unsigned k = 0; k < TFX_REVERB_LINES; k++)
      u->lines[k].at = (u->lines[k].at + n) % u->lines[k].length;
  }
  return n_bad;
}

/* ---- values --------------------------------------------------------------------- */

static void
unit_set_values (void *data, void *values, size_t n_frames, TfxWeight weight)
{
  Unit *u = data;

  tfx_params_take (&u->unit.params, values, n_frames, weight);
  if (n_frames == 0)
    u->n_unsettled = TFX_REVERB_POLE;
}

/* ---- state ---------------------------------------------------------------------- */

/* Up to the first value that is loud. */
static double
unit_state_peak (const void *data)
{
  const Unit *u = data;

  for (unsigned k = 0; k < u->n_groups; k++) {
    const Group *g = &u->groups[k];

    for (unsigned i = 0; i < TFX_REVERB_LINES; i++) {
      const double *line = find_line (u, g, i);

      for (size_t at = 0; at < g->n * u->lines[i].length; at++) {
        if (fabs (line[at]) > TFX_SILENCE)
          return 1.0;
      }
    }
    for (unsigned i = TFX_REVERB_POLE - 1; i < TFX_REVERB_POLES;
         i += TFX_REVERB_POLE) {
      for (unsigned c = 0; c < g->n; c++) {
        if (fabs (g->poles[i * g->n + c]) > TFX_SILENCE)
          return 1.0;
      }
    }
  }
  return 0.0;
}

/* Values of a channel in n rows of m. */
static void
get_rows (double **state, const double *rows, unsigned m, size_t n)
{
  copy_rows (*state, 1, rows, m, 1, n);
  *state += n;
}

static void
set_rows (double *rows, const double **state, unsigned m, size_t n)
{
  copy_rows (rows, m, *state, 1, 1, n);
  *state += n;
}

/* Each channel: line after line, a comb's past before it, then the one-poles; unused
 * numbers are 0. */
static void
unit_get_state (const void *data, double *state)
{
  const Unit *u = data;

  for (unsigned i = 0; i < u->n_groups; i++) {
    const Group *g = &u->groups[i];
    const unsigned n_old =
        TFX_REVERB_POLE - tfx_reverb_look (u->kernel->n_lanes, g->n);

    for (unsigned c = 0; c < g->n; c++) {
      for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
        const Line *l = &u->lines[k];
        const double *line = find_line (u, g, k) + c;

        if (k < TFX_REVERB_COMBS)
          get_rows (&state, g->past + g->n * k * TFX_REVERB_PAST + c, g->n,
              TFX_REVERB_PAST);
        get_rows (&state, line + g->n * l->at, g->n, l->length - l->at);
        get_rows (&state, line, g->n, l->at);
      }
      for (unsigned k = 0; k < TFX_REVERB_COMBS; k++) {
        const double *poles = g->poles + g->n * k * TFX_REVERB_POLE + c;

        for (unsigned old = 0; old < n_old; old++)
          *state++ = 0.0;
        get_rows (&state, poles + g->n * n_old, g->n, TFX_REVERB_POLE - n_old);
      }
    }
  }
}

static void
unit_set_state (void *data, const double *state)
{
  Unit *u = data;

  u->n_unsettled = 0;
  for (unsigned k = 0; k < TFX_REVERB_LINES; k++)
    u->lines[k].at = 0;
  for (unsigned i = 0; i < u->n_groups; i++) {
    const Group *g = &u->groups[i];

    for (unsigned c = 0; c < g->n; c++) {
      for (unsigned k = 0; k < TFX_REVERB_LINES; k++) {
        if (k < TFX_REVERB_COMBS)
          set_rows (g->past + g->n * k * TFX_REVERB_PAST + c, &state, g->n,
              TFX_REVERB_PAST);
        set_rows (find_line (u, g, k) + c, &state, g->n, u->lines[k].length);
      }
      set_rows (g->poles + c, &state, g->n, TFX_REVERB_POLES);
    }
  }
}

/* Only another rate changes lengths, so lines of other lengths begin empty: no catch_up. */
static const TfxUnitKind reverb_unit = {
  .get_kernel = tfx_unit_cpu_kernel,
  .make = unit_make,
  .free = unit_free,
  .run = unit_run,
  .set_values = unit_set_values,
  .is_changing = tfx_unit_is_changing,
  .reset = unit_reset,
  .state_peak = unit_state_peak,
  .get_state = unit_get_state,
  .set_state = unit_set_state,
};

const TfxKind tfx_kind_reverb = {
  .step = TFX_STEP_UNIT,
  .unit = &reverb_unit,
  TFX_FIELDS (fields),
  .is_valid = reverb_is_valid,
  .is_identity = reverb_is_identity,
  .is_same_structure = reverb_is_same_structure,
  .state_size = reverb_state_size,
  .response = reverb_response,
  .cost = reverb_cost,
};
