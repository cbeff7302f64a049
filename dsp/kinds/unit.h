/* SPDX-License-Identifier: LGPL-2.1-or-later
 * unit.h: what units share: their start and end, parameter ramps, blocks as doubles (see
 * TfxUnitKind). */
#ifndef TFX_UNIT_H
#define TFX_UNIT_H

#include "core/kind.h"
#include "cpu/dynamics.h"

/* ---- parameter ramps ------------------------------------------------------------ */

/* The parameters of a stage.  They ramp to other values one change after the other; of
 * several changes that wait the last one counts. */
typedef struct TfxParams
{
  double now[TFX_PARAMS_MAX]; /* at the next frame */
  double from[TFX_PARAMS_MAX], to[TFX_PARAMS_MAX], waiting[TFX_PARAMS_MAX];
  size_t done, length; /* frames of the ramp; length 0: there is none */
  size_t waiting_length;
  TfxWeight weight, waiting_weight;
} TfxParams;

/* Ramps to the stage's values over n_frames, after the current ramp; 0: sets them at
 * once.  Drops the reference to the stage. */
void tfx_params_take (TfxParams *params, TfxStage *stage, size_t n_frames,
    TfxWeight weight);

/* Writes the values of a parameter at the next n frames, at most to the end of the
 * ramp.  The first frame of a ramp has 1 / length of the change, the last one all of it. */
void
tfx_params_read (const TfxParams *params, unsigned i, double *values, size_t n);

/* Advances n frames, at most to the end of the ramp.  Requires a ramp. */
void tfx_params_advance (TfxParams *params, size_t n);

/* Ends all ramps. */
void tfx_params_finish (TfxParams *params);

static inline bool
tfx_params_are_ramping (const TfxParams *params)
{
  return params->length > 0;
}

/* Whether the ramp changes a parameter. */
static inline bool
tfx_params_change (const TfxParams *p, unsigned i)
{
  return tfx_params_are_ramping (p) && p->from[i] != p->to[i];
}

/* Frames to the end of the grid cell of the ramp, at most n_frames.  Values that need
 * not change at each frame, such as times, may change at cells. */
static inline size_t
tfx_params_cell (const TfxParams *p, size_t n_frames)
{
  const size_t in_cell = TFX_GRID_FRAMES - p->done % TFX_GRID_FRAMES;
  const size_t left = p->length - p->done;
  const size_t n = in_cell < left ? in_cell : left;

  return n < n_frames ? n : n_frames;
}

/* powers[n] = the parameter to the power of n + 1; during a ramp, that at the end of its
 * grid cell. */
void tfx_params_powers (const TfxParams *params, unsigned i,
    double powers[TFX_DYNAMICS_SLACK]);

/* The same for values that are more than parameters, such as taps: ramps from stage to
 * stage.  Owns the stages. */
typedef struct TfxStageRamp
{
  TfxStage *now, *next, *waiting; /* next NULL: no ramp */
  size_t done, length, waiting_length;
  TfxWeight weight, waiting_weight;
} TfxStageRamp;

void tfx_stage_ramp_take (TfxStageRamp *ramp, TfxStage *stage, size_t n_frames,
    TfxWeight weight);
void tfx_stage_ramp_advance (TfxStageRamp *ramp, size_t n);
void tfx_stage_ramp_finish (TfxStageRamp *ramp);
void tfx_stage_ramp_clear (TfxStageRamp *ramp);

/* ---- units ---------------------------------------------------------------------- */

/* The first member of a unit. */
typedef struct TfxUnit
{
  const char *kernel; /* name of the kernels */
  const TfxDynamicsKernels *kernels;
  unsigned n_channels;
  size_t part_frames; /* of a part, which stays in the cache */
  TfxParams params;
  double *memory; /* of all arrays */
  /* Of tfx_unit_run(): runs n_frames of samples, a part, in place.  type: of the output. */
  double *samples;
  void (*run_part) (void *unit, size_t n_frames, TfxSample type);
} TfxUnit;

/* Makes arrays out of one allocation. */
typedef struct TfxRoom
{
  double *memory; /* NULL: counts only */
  size_t n;
} TfxRoom;

/* n zeros, with `front` before them and the slack of kernels after them.  The zeros in front
 * begin at a line of the cache. */
double *tfx_room_take (TfxRoom *room, size_t front, size_t n);

/* A unit of `size` bytes, all 0 but the members above.  lay_out takes the arrays; it runs
 * twice, and the first time they are NULL.  NULL without memory. */
void *tfx_unit_new (size_t size, const TfxStage *stage, const TfxUnitSpec *spec,
    void (*lay_out) (void *unit, const TfxStage *stage, TfxRoom *room));

/* Entries of tables, of units that begin with TfxUnit. */
void tfx_unit_free (void *unit);
void tfx_unit_set_values (void *unit, void *values, size_t n_frames,
    TfxWeight weight);
bool tfx_unit_is_changing (const void *unit);
int tfx_unit_run (void *unit, const TfxBlock *in, const TfxBlock *out);

/* get_kernel: that of the CPU backend. */
const char *tfx_unit_cpu_kernel (void);

/* cost in ns for a sample.  costs[4]: of the kernel c; of the others with one channel,
 * with up to seven, and with eight or more. */
double tfx_unit_cost (const double *costs, const TfxUnitSpec *spec);

/* ---- blocks as interleaved doubles ---------------------------------------------- */

/* Samples of a part. */
#define TFX_SAMPLES_PART 1024

static inline size_t
tfx_samples_part_frames (unsigned n_channels)
{
  return n_channels < TFX_SAMPLES_PART ? TFX_SAMPLES_PART / n_channels : 1;
}

/* Replaces samples that are not finite by 0, and returns at least how many they are. */
size_t tfx_samples_load (const TfxDynamicsKernels *kernels, const TfxBlock *in,
    double *samples);
void tfx_samples_store (const TfxDynamicsKernels *kernels,
    const double *samples, const TfxBlock *out);

/* Runs a block in parts of at most part_frames.  Loads each part into samples, calls
 * run (unit, n_frames, type of out), and stores result, which may be samples.  Returns 1
 * if there were samples that are not finite, else 0. */
int tfx_samples_run (TfxUnit *unit, const TfxBlock *in, const TfxBlock *out,
    double *samples, const double *result, size_t part_frames,
    void (*run) (void *unit, size_t n_frames, TfxSample type));

/* The first channels, which a linked unit measures; all if none remained. */
static inline unsigned
tfx_unit_measured (unsigned n_channels, size_t n_unmeasured)
{
  return n_unmeasured < n_channels ? n_channels - (unsigned)n_unmeasured
                                   : n_channels;
}

#endif
