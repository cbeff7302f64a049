/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-private.h: what cascade.c and cascade-state.c share. */
#ifndef TFX_CASCADE_PRIVATE_H
#define TFX_CASCADE_PRIVATE_H

#include "cascade-forms.h"
#include "cascade.h"

/* Doubles: 16 KiB, half of a small first-level cache. */
#define SCRATCH_SIZE 2048
#define MAX_WIDTH 8

typedef enum
{
  FORM_DIRECT,
  FORM_FACTORED,
  FORM_GROUPED1,
  FORM_GROUPED2,
  N_FORMS
} FormIndex;

/* Channels that are run together. */
typedef struct Group
{
  unsigned first_channel, n_channels;
  unsigned lanes;  /* of the scratch; those beyond n_channels are idle */
  unsigned stride; /* of the state: 1 or W */
  const TfxCascadeForm *form;
  TfxCascadeKernel kernel; /* over the scratch, or ... */
  TfxRowsKernel rows;      /* ... from rows to rows */
  double *state;           /* [n_sos][form->n_state][stride] */
  unsigned n_pending;
  double pending[MAX_WIDTH]; /* [n_pending][lanes] */
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
  double *states, *spare_state, *scratch;
  double *exchange; /* [n_channels][n_sos][2]: the state between types */
};

#endif
