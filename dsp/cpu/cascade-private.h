/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-private.h: what cascade.c and cascade-state.c share. */
#ifndef TFX_CASCADE_PRIVATE_H
#define TFX_CASCADE_PRIVATE_H

#include "cascade-forms.h"
#include "cascade.h"

/* Doubles: 16 KiB, half of a small first-level cache. */
#define SCRATCH_SIZE 2048
#define MAX_WIDTH 8
/* Values of a group of the form segments. */
#define MAX_GROUP (TFX_SEGMENT_FRAMES * MAX_WIDTH)

typedef enum
{
  FORM_DIRECT,
  FORM_FACTORED,
  FORM_SEGMENTS1,
  FORM_SEGMENTS2,
  N_FORMS
} FormIndex;

/* Channels that are run together. */
typedef struct Group
{
  unsigned first_channel, n_channels;
  unsigned lanes;  /* of the scratch; those beyond n_channels are idle */
  unsigned stride; /* of the state: 1, W, or of segments, lanes */
  const TfxCascadeForm *form;
  /* One of them: over the scratch, from rows to rows, over segments. */
  TfxCascadeKernel kernel;
  TfxRowsKernel rows;
  TfxSegmentsKernel segments;
  double *state;             /* [n_sos][form->n_state][stride] */
  unsigned n_pending;        /* frames of an unfinished group of segments */
  double pending[MAX_GROUP]; /* [n_pending][lanes] */
} Group;

struct TfxCascade
{
  const TfxKernels *kernels;
  unsigned n_channels, n_groups;
  size_t n_sos;
  TfxSample type; /* that the groups are made for */
  TfxSos *sos;
  double gain;
  bool mute;
  TfxCascadeForm forms[N_FORMS];
  Group *groups;
  double *states, *scratch;
  double *exchange; /* [n_channels][n_sos][2]: the state between types */
};

/* Frames of a group of the form segments. */
static inline unsigned
tfx_cascade_group_frames (const Group *g)
{
  return TFX_SEGMENT_FRAMES * g->form->width / g->lanes;
}

/* Filters the channels of g, whose form is segments, in place or apart. */
void tfx_cascade_run_segments (TfxCascade *cascade, Group *g,
    const TfxBlock *in, const TfxBlock *out);

#endif
