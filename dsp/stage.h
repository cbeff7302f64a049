/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stage.h: what a stage and a chain are made of, for plan.c and the backends.
 */
#ifndef TFX_STAGE_H
#define TFX_STAGE_H

#include "tfx.h"

typedef enum
{
  TFX_STAGE_SECTIONS,
  TFX_STAGE_GAIN,
  TFX_STAGE_FIR,
  TFX_STAGE_DELAY,
  TFX_STAGE_SUM
} TfxStageKind;

struct TfxStage
{
  unsigned refs; /* atomic */
  uint64_t id;
  TfxStageKind kind;
  union
  {
    double gain;
    struct
    {
      size_t n;
      TfxSos *sos;
    } sections;
    struct
    {
      unsigned n_kernels;
      size_t n_taps;
      size_t delay;
      TfxFirMethod method;
      double *taps; /* [n_kernels][n_taps] */
    } fir;
    struct
    {
      double direct;
      size_t n_taps, longest; /* longest: the largest delay */
      TfxTap *taps;
    } delay;
    struct
    {
      size_t n;
      unsigned depth; /* 1: no sum inside */
      TfxChain **branches;
    } sum;
  } u;
};

struct TfxChain
{
  unsigned refs; /* atomic */
  size_t n_stages;
  TfxStage *stages[];
};

/* Two FIR stages in series as one, with the id of the first and without their
 * delays.  The number of kernels must be the same, or 1 for one of them.  NULL
 * if memory is short. */
TfxStage *tfx_stage_convolve (const TfxStage *first, const TfxStage *second);

/* The same FIR with zeros behind its taps, n_taps in all.  NULL if memory is
 * short. */
TfxStage *tfx_stage_lengthen (const TfxStage *fir, size_t n_taps);

#endif
