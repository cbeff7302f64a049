/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stage.h: stages and chains. */
#ifndef TFX_STAGE_H
#define TFX_STAGE_H

#include "design/svf.h"

typedef struct TfxKind TfxKind; /* see kind.h */

/* Parameters of a stage, at most. */
#define TFX_PARAMS_MAX 8

struct TfxStage
{
  unsigned refs; /* atomic */
  uint64_t id;
  const TfxKind *kind;
  TfxStage *parts[2]; /* references: the stages that were joined; or NULL */
  union
  {
    double gain; /* gains and clips */
    struct
    {
      size_t n;
      TfxSos *sos;
      /* The same as state-variable filters, if the design has made them. */
      bool has_shapes;
      TfxSvf *shapes;
    } sections;
    struct
    {
      unsigned n_kernels;
      size_t n_taps;
      /* Zeros at both ends of all kernels, if omitting them pays; another number is another
       * structure. */
      size_t n_leading, n_trailing;
      size_t n_sounding; /* from the first tap that is not 0 to the last */
      TfxFirMethod method;
      size_t n_late; /* latency: the tap at time 0; set before it is shared */
      double *taps;  /* [n_kernels][n_taps] */
      /* [n_channels][n_channels], of the kernels from inputs to outputs; or NULL. */
      int *matrix;
      unsigned n_channels;
      double peak; /* the largest magnitude of them */
      /* Prepared by tfx_stage_prepare(), or NULL. */
      struct TfxFirReady *ready;
    } fir;
    struct
    {
      double direct;
      size_t n_taps, longest; /* longest: the largest delay */
      bool is_wait;           /* a delay that counts as latency */
      TfxTap *taps;
    } delay;
    TfxDynamics dynamics;
    struct
    {
      double g;               /* tan (pi f / rate) */
      double damping;         /* 1 / Q */
      double threshold_db;    /* of the level of the band */
      double slope;           /* dB of gain per dB of level, -1 to 0 */
      double range_db;        /* the largest cut if negative, or boost */
      double attack, release; /* as those of TfxDynamics */
      bool is_shelf, is_linked;
      size_t n_unmeasured; /* as in TfxDynamics */
    } dynamic_eq;
    TfxReverb reverb;
    TfxLimiter limiter;
    TfxAgc agc;
    /* See kinds/denoise.c; a, b and c for steps of a quarter of the window. */
    struct
    {
      double reduction_db;              /* 0 to 400 */
      double smoothing;                 /* c */
      double noise_keep, presence_keep; /* a, b */
      size_t n_window;                  /* of tfx_stft_window() */
      size_t n_learn; /* frames to learn the noise from; 0: it is given */
      bool is_following, is_linked;
      size_t n_unmeasured; /* as in TfxDynamics */
      double *noise; /* [n_window / 2]: the given power of each bin; or NULL */
    } denoise;
    struct
    {
      unsigned n_channels;
      double *gains; /* [n_channels][n_channels] */
    } mix;
    /* Sums and splits. */
    struct
    {
      size_t n;
      unsigned depth; /* 1: no branches inside */
      TfxChain **branches;
      uint64_t *channels; /* [n] of a split: a bit for each channel; or NULL */
    } sum;
    double own[TFX_PARAMS_MAX]; /* of kinds without a member here */
  } u;
};

struct TfxChain
{
  unsigned refs; /* atomic */
  size_t n_stages;
  TfxStage *stages[];
};

/* Appends a stage, whose reference it takes.  0, or -ENOMEM, also without a stage. */
int tfx_chain_take (TfxChain **chain, TfxStage *stage);

/* Stages that were joined (TfxStage.parts), for later settings with the same parts.
 * Starts with all zero. */
typedef struct TfxJoins
{
  TfxStage **stages;
  size_t n, n_used; /* the last setting uses the first n_used */
} TfxJoins;

/* The stages of a chain; neighbours are joined if that costs less. */
typedef struct TfxJoined
{
  size_t n;
  TfxStage **stages; /* references */
  bool *are_joined;
} TfxJoined;

/* Checks and joins the stages of a chain.  joins may be NULL.  0, -ENOMEM, or as
 * TfxKind.check. */
int tfx_join_stages (const TfxChain *chain, const TfxFilterSpec *spec,
    TfxJoins *joins, TfxJoined *joined);
void tfx_join_clear (TfxJoined *joined);

/* A setting begins; it is in force, and joined stages that it does not use are dropped. */
void tfx_joins_begin (TfxJoins *joins);
void tfx_joins_trim (TfxJoins *joins);

/* Latency in frames. */
size_t tfx_stage_latency (const TfxStage *stage);

/* Whether its output is its input. */
bool tfx_stage_is_identity (const TfxStage *stage);

/* Doubles of state per channel. */
size_t tfx_stage_state_size (const TfxStage *stage);

/* A delay that counts as latency, to align branches.  NULL without memory. */
TfxStage *tfx_stage_new_wait (uint64_t id, size_t n_frames);

/* A stage without values; NULL without memory. */
TfxStage *tfx_stage_alloc (uint64_t id, const TfxKind *kind);

/* Whether all numbers are in their ranges. */
bool tfx_stage_is_valid (const TfxStage *stage);
/* Whether b is the same stage as a but for its values; and whether these are equal too. */
bool tfx_stage_is_same_structure (const TfxStage *a, const TfxStage *b);
bool tfx_stage_is_same (const TfxStage *a, const TfxStage *b);
/* The parameters in the order of the kind's fields, values[TFX_PARAMS_MAX]. */
void tfx_stage_params (const TfxStage *stage, double *values);

/* A stage that is no more than numbers, with these.  NULL if one of them is out of its
 * range, or memory is short. */
TfxStage *tfx_stage_new_like (const TfxStage *values);

/* Whether nobody else holds it, so that somebody may write into it. */
bool tfx_stage_is_unshared (const TfxStage *stage);

/* Writes such numbers into it.  False if that cannot be: somebody else holds it, they
 * are of another kind or structure, or out of their range. */
bool tfx_stage_take (TfxStage *stage, const TfxStage *values);

/* A copy of n items; never NULL for want of items. */
void *tfx_stage_copy (const void *items, size_t n, size_t size);

/* As tfx_stage_reuse_sections(), with the sections' shapes. */
bool tfx_stage_reuse_shapes (TfxStage *stage, const TfxSos *sos,
    const TfxSvf *shapes, size_t n_sos);

#endif
