/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-private.h: what cascade.c, cascade-shapes.c, cascade-groups.c and
 * cascade-state.c share. */
#ifndef TFX_CASCADE_PRIVATE_H
#define TFX_CASCADE_PRIVATE_H

#include "cascade-forms.h"
#include "cascade.h"

/* The most channels of a shape. */
#define MAX_SHAPE_CHANNELS 8

/* Doubles of a group's frames on their way: 16 KiB, half of a small first-level
 * cache. */
#define TFX_CASCADE_SCRATCH 2048

/* A row of the table of shapes, and how a cascade's sections fill its vectors. */
typedef struct Fit
{
  const TfxShape *shape;
  unsigned n_together;      /* sections of a vector */
  unsigned n_idle;          /* fewer in the first one */
  unsigned n_sections;      /* for the kernel, in a single pass */
  size_t n_vectors, n_pass; /* all, and those of a full pass */
} Fit;

/* Where the state is. */
typedef enum
{
  STATE_OF_KERNELS,
  STATE_OF_BOTH,
  STATE_OF_SECTIONS
} StateOf;

/* Channels that run together. */
typedef struct Group
{
  unsigned first_channel, n_channels;
  Fit fit;
  /* As TfxCascadeKernel has them; gain is [2][lanes], of the first pass and of the others.  coef
   * and gain are those of the first group of the same shape, unless channels differ. */
  double *state, *coef, *gain;
} Group;

struct TfxCascade
{
  const TfxKernels *kernels;
  unsigned n_channels, n_groups;
  size_t n_sos;
  TfxSample type;       /* that of the stream */
  TfxSample dealt_type; /* what the groups are made for */
  TfxForm form;
  TfxSos *sos;
  /* Cascades that run as one, each with sections of sos. */
  TfxTermsForm terms_form;
  TfxCascadeTerm *terms;
  double *gains; /* [n_terms]: before the first section of each */
  size_t n_terms;
  size_t n_merged, depth; /* terms that have sections, and the most of one */
  size_t n_row;           /* sections of a channel, in series or in parallel */
  TfxCascadeSection *sections;
  double gain;
  bool mute;
  bool wants_parts;   /* the parallel form costs least, if it is exact */
  bool has_parts;     /* it is exact */
  bool has_no_frames; /* FRAMES would not be exact enough */
  TfxParallelPart parts[TFX_PARALLEL_MAX_SECTIONS];
  double direct;
  Group *groups;       /* [n_channels] */
  size_t chunk_frames; /* that the scratch has room for */
  size_t memory_size;
  double *memory; /* of groups */
  /* [n_channels][n_sos][2], s1 and s2 of sos in series: converted on demand.  Only the kernels
   * have the state while samples flow. */
  double *state;
  StateOf state_of;
};

/* The fits that cost least, by the number of channels that are left. */
typedef struct ShapeChoice
{
  Fit full; /* of the widest shape; its channels or more */
  Fit first
      [MAX_SHAPE_CHANNELS]; /* of the first channels, where fewer are left */
  double ns;                /* for a frame of all; or NEVER */
} ShapeChoice;

/* No shape fits. */
#define NEVER 1e9

/* Sets n_terms, n_sos, n_merged, depth and n_row, by terms_form. */
void tfx_cascade_shapes_count (TfxCascade *cascade, const TfxCascadeTerm *terms,
    size_t n_terms);
void tfx_cascade_shapes_choose (const TfxCascade *cascade, ShapeChoice *choice);

/* Doubles that all groups take, for either type. */
size_t tfx_cascade_groups_size (TfxCascade *cascade);

/* Distributes the channels for the cascade's type and form, and computes the coefficients.
 * The state is undefined.  False if a merged form would not be exact enough. */
bool tfx_cascade_groups_set (TfxCascade *cascade);

/* Doubles of a group's state; number i is for channel i modulo C.  TFX_LAYOUT_FRAMES
 * has one more, the number of unfinished frames. */
size_t tfx_cascade_fit_state_size (const TfxCascade *cascade, const Fit *fit);

/* The state of the kernels from that of the sections, and back, unless they have it. */
void tfx_cascade_state_import (TfxCascade *cascade);
void tfx_cascade_state_export (TfxCascade *cascade);

static inline bool
tfx_cascade_is_sum (const TfxCascade *c)
{
  return c->terms_form == TFX_TERMS_PARTS ||
         c->terms_form == TFX_TERMS_CASCADES;
}

/* Whether frames with other channels between its own have to be packed. */
static inline bool
tfx_cascade_takes_dense (const TfxShape *s)
{
  return s->layout == TFX_LAYOUT_FRAMES ||
         (s->layout != TFX_LAYOUT_PIPELINED && s->channels < s->lanes);
}

/* The term of section k, and the section's number in it. */
static inline const TfxCascadeTerm *
tfx_cascade_term_of (const TfxCascade *c, size_t k, size_t *own)
{
  const TfxCascadeTerm *t = c->terms;

  for (; k >= t->n_sos; t++)
    k -= t->n_sos;
  *own = k;
  return t;
}

/* The term of a channel, where each has one. */
static inline const TfxCascadeTerm *
tfx_cascade_term_for (const TfxCascade *c, unsigned channel)
{
  const TfxCascadeTerm *t = c->terms, *last = t + c->n_terms - 1;

  while (t < last && (channel >= 64 || !(t->channels >> channel & 1)))
    t++;
  return t;
}

#endif
