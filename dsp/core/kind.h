/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind.h: the table of functions of a kind of stage.
 *
 * A kind is one file with its constructors and its table: kind-<name>.c here, or
 * kinds/<name>.c with its unit, which the CPU runs.  No other file depends on the kind of
 * a stage. */
#ifndef TFX_KIND_H
#define TFX_KIND_H

#include <stddef.h>

#include "stage.h"
#include "design/weight.h"

/* How a plan runs a kind. */
typedef enum
{
  TFX_STEP_CASCADE, /* sos[n_sos]; n_sos may be 0 */
  TFX_STEP_FIR,     /* stage */
  TFX_STEP_UNIT,    /* stage, of a kind that not every device supports */
  TFX_STEP_SUM,     /* branches[n_branches] */
  TFX_STEP_SPLIT,   /* branches, each for some of the channels */
  TFX_STEP_FADE     /* from the first of two branches to the second */
} TfxStepKind;

/* A number of a stage's setting.  Validity, equality and ramps follow from the table. */
typedef enum
{
  TFX_FIELD_PARAM, /* a double, which can be ramped */
  TFX_FIELD_SIZE,  /* a size_t; another value is another structure */
  TFX_FIELD_BOOL   /* the same */
} TfxFieldType;

typedef struct TfxField
{
  TfxFieldType type;
  size_t offset; /* in the stage */
  double min, max;
} TfxField;

#define TFX_PARAM(member, min, max)                                            \
  {                                                                            \
    TFX_FIELD_PARAM, offsetof (TfxStage, u.member), min, max                   \
  }
#define TFX_SIZE(member, min, max)                                             \
  {                                                                            \
    TFX_FIELD_SIZE, offsetof (TfxStage, u.member), min, max                    \
  }
#define TFX_BOOL(member)                                                       \
  {                                                                            \
    TFX_FIELD_BOOL, offsetof (TfxStage, u.member), 0, 1                        \
  }

/* In a kind's table: its fields. */
#define TFX_FIELDS(table)                                                      \
  .fields = table, .n_fields = sizeof table / sizeof *table

/* The largest double below 1. */
#define TFX_BELOW_1 0x1.fffffffffffffp-1

/* The stream that a unit is made for. */
typedef struct TfxUnitSpec
{
  unsigned n_channels;
  TfxSample sample;
  size_t block_frames; /* 0: not known */
  const char *kernel;  /* of the CPU backend */
} TfxUnitSpec;

/* A unit runs a stage on the CPU, and has its state.  One thread uses it at a time. */
typedef struct TfxUnitKind
{
  /* A unit suits only the sample type and block length of its spec. */
  bool is_for_format;

  /* The name of the default kernels of the CPU. */
  const char *(*get_kernel) (void);

  /* A unit at rest.  0 or negative errno. */
  int (*make) (TfxStage *stage, const TfxUnitSpec *spec, void **unit);
  void (*free) (void *unit);

  /* Filters in to out, in place or apart, in blocks of any length, without allocation.
   * Returns the number of channels with samples that were not finite. */
  int (*run) (void *unit, const TfxBlock *in, const TfxBlock *out);

  /* New values of the same structure.  prepare_values makes them: 0 or negative errno.
   * set_values takes them, and ramps to them in n_frames (0: at once).  drop_values frees
   * values that are not set.  If prepare_values and drop_values are NULL, the values are a
   * reference to the stage. */
  int (*prepare_values) (void *unit, TfxStage *stage, const TfxUnitSpec *spec,
      void **values);
  void (*set_values) (void *unit, void *values, size_t n_frames,
      TfxWeight weight);
  void (*drop_values) (void *values);
  bool (*is_changing) (const void *unit);

  /* Clears the state, and ends all ramps. */
  void (*reset) (void *unit);
  /* The largest magnitude in the state; 0 at rest.  A unit that only knows whether silence
   * gives silence returns 0 or 1; one that changes in silence too returns 1.  NULL: there is
   * no state. */
  double (*state_peak) (const void *unit);
  /* The sample type of the stream changes.  NULL: the unit does not depend on it. */
  void (*set_sample) (void *unit, TfxSample sample);
  /* The state, double[n_channels][state size]: the last inputs, the newest last.  NULL:
   * there is none, or no device runs the kind. */
  void (*get_state) (const void *unit, double *state);
  void (*set_state) (void *unit, const double *state);

  /* When the format changes during a ramp: the unit, made for the new format, takes over
   * state and ramp of the elder, and frees it.  n_state is the size of the state.  False
   * without memory.  NULL: set_state is enough. */
  bool (*succeed) (void *unit, void *elder, size_t n_state);

  /* Warm-up: a unit at rest takes over the history of another one of its kind, the source.
   * start: begins; false: impossible; NULL: always possible.
   * catch_up: a step, after the source has run n_frames, at most catch_up_frames() (NULL:
   * any number), or SIZE_MAX to do all at once; returns 0 when it is complete.  NULL: the
   * kind has no history. */
  bool (*catch_up_start) (void *unit, const void *source);
  size_t (*catch_up) (void *unit, const void *source, size_t n_frames);
  size_t (*catch_up_frames) (size_t block_frames);
  /* Whether to warm up step by step.  May be NULL. */
  bool (*is_prepared) (const TfxStage *stage, const TfxUnitSpec *spec);

  /* Reports levels and gains.  NULL: there are none. */
  void (*read) (void *unit, TfxReadings *readings);
} TfxUnitKind;

struct TfxKind
{
  TfxStepKind step;        /* in a plan */
  const TfxUnitKind *unit; /* NULL: plans have steps for it */

  /* 0; -EINVAL: the number of channels does not suit; -ERANGE: the sample type cannot
   * represent a value.  May be NULL. */
  int (*check) (const TfxStage *stage, const TfxFilterSpec *spec);
  /* The numbers of the setting; NULL: none. */
  const TfxField *fields;
  size_t n_fields;
  /* In addition to the fields; each may be NULL.  Whether the numbers are consistent;
   * whether two of a kind differ only in values; whether these are equal too. */
  bool (*is_valid) (const TfxStage *stage);
  bool (*is_identity) (const TfxStage *stage); /* NULL: never */
  bool (*is_same_structure) (const TfxStage *a, const TfxStage *b);
  bool (*is_same) (const TfxStage *a, const TfxStage *b);
  /* Doubles of state per channel.  NULL: none. */
  size_t (*state_size) (const TfxStage *stage);
  /* Joins two in series, with the id of the first, if that costs less; else *both is
   * NULL.  0 or -ENOMEM.  May be NULL. */
  int (*join) (const TfxStage *first, const TfxStage *second,
      const TfxFilterSpec *spec, TfxStage **both);
  /* See tfx_stage_grid_frames().  NULL: TFX_GRID_FRAMES. */
  size_t (*grid_frames) (const TfxStage *stage);
  /* See tfx_stage_prepare().  May be NULL. */
  int (*prepare) (TfxStage *stage, const TfxFilterSpec *spec);
  /* Latency in frames; NULL if there is none, or if the delay is intended. */
  size_t (*latency) (const TfxStage *stage);
  /* The frequency response in a channel, H (exp (j 2 pi f / rate)).  NULL: the kind depends
   * on the level or on time; it counts as 1. */
  TfxComplex (*response) (const TfxStage *stage, unsigned channel,
      double freq_hz, double rate_hz);
  /* The same for the amplitudes h[TFX_MIX_MAX_CHANNELS] of all channels.  NULL: no
   * channel depends on another one. */
  void (*spread) (const TfxStage *stage, TfxComplex *h, double freq_hz,
      double rate_hz);
  /* Complex poles and zeros, see tfx_chain_resonances().  NULL: none. */
  size_t (*resonances) (const TfxStage *stage, double rate_hz, double *freq_hz,
      size_t max);
  /* The gain in dB at a steady level.  NULL: it does not depend on the level. */
  double (*gain_at) (const TfxStage *stage, double level_db);
  /* ns per frame and channel on the CPU; NULL counts as 0. */
  double (*cost) (const TfxStage *stage, const TfxUnitSpec *spec);
  void (*clear) (TfxStage *stage);
};

/* Prepares values of a stage for a unit of its kind; NULL without a unit.  0 or negative
 * errno. */
int tfx_stage_prepare_values (TfxStage *stage, void *unit,
    const TfxUnitSpec *spec, void **values);
/* Drops values of a stage's kind, unless NULL, and clears the pointer. */
void tfx_stage_drop_values (const TfxStage *stage, void **values);

static inline TfxComplex
tfx_complex_product (TfxComplex a, TfxComplex b)
{
  return (TfxComplex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* Of a gain, and of a clip below its limits. */
TfxComplex tfx_gain_response (const TfxStage *stage, unsigned channel,
    double freq_hz, double rate_hz);

/* Whether a stage has branches. */
static inline bool
tfx_branches_are_in (const TfxStage *stage)
{
  return stage->kind->step == TFX_STEP_SUM ||
         stage->kind->step == TFX_STEP_SPLIT;
}

extern const TfxKind tfx_kind_sections;
extern const TfxKind tfx_kind_gain;
extern const TfxKind tfx_kind_fir;
extern const TfxKind tfx_kind_delay;
extern const TfxKind tfx_kind_dynamics;
extern const TfxKind tfx_kind_dynamic_eq;
extern const TfxKind tfx_kind_reverb;
extern const TfxKind tfx_kind_limiter;
extern const TfxKind tfx_kind_mix;
extern const TfxKind tfx_kind_clip;
extern const TfxKind tfx_kind_agc;
extern const TfxKind tfx_kind_denoise;
extern const TfxKind tfx_kind_sum;
extern const TfxKind tfx_kind_split;

#endif
