/* SPDX-License-Identifier: LGPL-2.1-or-later
 * stage.h: what a stage and a chain are made of, for plan.c. */
#ifndef TFX_STAGE_H
#define TFX_STAGE_H

#include "tfx.h"

typedef enum
{
  TFX_STAGE_SECTIONS,
  TFX_STAGE_GAIN
} TfxStageKind;

struct TfxStage
{
  unsigned refs; /* atomic */
  uint64_t id;
  TfxStageKind kind;
  double gain;  /* TFX_STAGE_GAIN */
  size_t n_sos; /* TFX_STAGE_SECTIONS */
  TfxSos sos[];
};

struct TfxChain
{
  unsigned refs; /* atomic */
  size_t n_stages;
  TfxStage *stages[];
};

#endif
