/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kind.h: what the core has to know of a kind of stage.
 *
 * A kind is one file, kind-<name>.c, which has its constructors and its table;
 * those that the CPU runs as units are in units/.  Nothing else asks of what
 * kind a stage is. */
#ifndef TFX_KIND_H
#define TFX_KIND_H

#include <stddef.h>

#include "plan.h"
#include "stage.h"
#include "design/weight.h"

/* Parameters of a stage, at most. */
#define TFX_PARAMS_MAX 8

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

/* What a unit is made for. */
typedef struct TfxUnitSpec
{
  unsigned n_channels;
  TfxSample sample;
  size_t block_frames; /* 0: not known */
  const char *kernel;  /* of the CPU backend */
} TfxUnitSpec;

/* How the CPU runs a stage with all of its state: FIRs, delay lines.  A unit
 * belongs to one thread at a time. */
typedef struct TfxUnitKind
{
  /* It is made for the samples and the blocks of its spec; else any will do. */
  bool is_for_format;

  /* The name of the kernels that the CPU takes unless it is told. */
  const char *(*get_kernel) (void);

  /* At rest.  0 or negative errno. */
  int (*make) (TfxStage *stage, const TfxUnitSpec *spec, void **unit);
  void (*free) (void *unit);

  /* Filters in to out, in place or apart, in blocks of any length; allocates
   * nothing.  Returns in how many channels samples were not finite. */
  int (*run) (void *unit, const TfxBlock *in, const TfxBlock *out);

  /* Other values of the same structure: makes them ready (0 or negative errno);
   * goes there over n_frames (0: at once), and takes them; or drops them. */
  int (*prepare_values) (void *unit, TfxStage *stage, const TfxUnitSpec *spec,
      void **values);
  void (*set_values) (void *unit, void *values, size_t n_frames,
      TfxWeight weight);
  void (*drop_values) (void *values);
  bool (*is_changing) (const void *unit);

  /* All state to zero; what changes has come to its end. */
  void (*reset) (void *unit);
  /* The largest magnitude in the state; 0 is rest. */
  double (*state_peak) (const void *unit);
  /* The sample type of the stream changes.  NULL: the unit does not depend on it. */
  void (*set_sample) (void *unit, TfxSample sample);
  /* The last inputs, double[n_channels][state size], the newest last.  NULL: no device
   * runs the kind. */
  void (*get_state) (const void *unit, double *state);
  void (*set_state) (void *unit, const double *state);

  /* In the middle of a change the stream gets another format: a unit made for that
   * goes on as another one of the same stage, and frees it; n_state doubles are its
   * state.  False if memory is short.  NULL: set_state says all. */
  bool (*succeed) (void *unit, void *elder, size_t n_state);

  /* A unit at rest takes over the past of another one of the same kind, the
   * source.  start: from now on; false if it cannot; NULL: it always can.
   * catch_up: after the source has run n_frames, at most catch_up_frames() since the
   * last time (NULL: any number); 0 if all is there; NULL: there is nothing to take
   * over.  SIZE_MAX frames: at once. */
  bool (*catch_up_start) (void *unit, const void *source);
  size_t (*catch_up) (void *unit, const void *source, size_t n_frames);
  size_t (*catch_up_frames) (size_t block_frames);
  /* Whether that should go step by step.  May be NULL. */
  bool (*is_prepared) (const TfxStage *stage, const TfxUnitSpec *spec);

  /* What it makes of the level.  NULL: nothing. */
  void (*read) (void *unit, TfxReadings *readings);
} TfxUnitKind;

struct TfxKind
{
  TfxStepKind step;        /* what a plan makes of it */
  const TfxUnitKind *unit; /* NULL: plans have steps for it */

  /* 0; -EINVAL: not for so many channels; -ERANGE: a value that the samples do
   * not hold.  May be NULL. */
  int (*check) (const TfxStage *stage, const TfxFilterSpec *spec);
  /* The numbers of the setting; NULL: none. */
  const TfxField *fields;
  size_t n_fields;
  /* What the fields do not say; each may be NULL.  Whether the numbers fit each other;
   * whether two of a kind differ in values alone; whether these are equal too. */
  bool (*is_valid) (const TfxStage *stage);
  bool (*is_identity) (const TfxStage *stage); /* NULL: it never is one */
  bool (*is_same_structure) (const TfxStage *a, const TfxStage *b);
  bool (*is_same) (const TfxStage *a, const TfxStage *b);
  /* Doubles for a channel.  NULL: none. */
  size_t (*state_size) (const TfxStage *stage);
  /* Two in series as one, with the id of the first, if that costs less.  *both
   * is NULL if not.  0 or -ENOMEM.  May be NULL. */
  int (*join) (const TfxStage *first, const TfxStage *second,
      const TfxFilterSpec *spec, TfxStage **both);
  /* See tfx_stage_grid_frames().  NULL: as others. */
  size_t (*grid_frames) (const TfxStage *stage);
  /* See tfx_stage_prepare().  May be NULL. */
  int (*prepare) (TfxStage *stage, const TfxFilterSpec *spec);
  /* Frames by which the output is late.  NULL: none, or they are meant. */
  size_t (*latency) (const TfxStage *stage);
  /* What it does to a channel at a frequency, H (exp (j 2 pi f / rate)).  NULL: as
   * much as the level asks for. */
  TfxComplex (*response) (const TfxStage *stage, unsigned channel,
      double freq_hz, double rate_hz);
  /* The same for the amplitudes h[TFX_MIX_MAX_CHANNELS] of the channels, in their
   * place.  NULL: none of them hears another one. */
  void (*spread) (const TfxStage *stage, TfxComplex *h, double freq_hz,
      double rate_hz);
  /* The complex poles and zeros: see tfx_chain_resonances().  NULL: none. */
  size_t (*resonances) (const TfxStage *stage, double rate_hz, double *freq_hz,
      size_t max);
  /* The gain in dB at a steady level.  NULL: it does not go by the level. */
  double (*gain_at) (const TfxStage *stage, double level_db);
  /* ns for a frame of one channel on the CPU. */
  double (*cost) (const TfxStage *stage, const TfxUnitSpec *spec);
  void (*clear) (TfxStage *stage);
};

static inline TfxComplex
tfx_complex_product (TfxComplex a, TfxComplex b)
{
  return (TfxComplex){ a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re };
}

/* Of a gain, and of a clip below its limits. */
TfxComplex tfx_gain_response (const TfxStage *stage, unsigned channel,
    double freq_hz, double rate_hz);

extern const TfxKind tfx_kind_sections;
extern const TfxKind tfx_kind_gain;
extern const TfxKind tfx_kind_fir;
extern const TfxKind tfx_kind_delay;
extern const TfxKind tfx_kind_dynamics;
extern const TfxKind tfx_kind_reverb;
extern const TfxKind tfx_kind_limiter;
extern const TfxKind tfx_kind_mix;
extern const TfxKind tfx_kind_clip;
extern const TfxKind tfx_kind_leveller;
extern const TfxKind tfx_kind_sum;
extern const TfxKind tfx_kind_split;

#endif
