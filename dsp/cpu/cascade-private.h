/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-private.h: what cascade.c, cascade-shapes.c, cascade-groups.c and
 * cascade-state.c share. */
#ifndef TFX_CASCADE_PRIVATE_H
#define TFX_CASCADE_PRIVATE_H

#include "cascade-forms.h"
#include "cascade-parallel.h"
#include "cascade.h"

/* The most channels of a shape. */
#define MAX_SHAPE_CHANNELS 8

/* Doubles of a group's frames on their way: 16 KiB, half of a small first-level
 * cache. */
#define TFX_CASCADE_SCRATCH 2048

/* How some channels are run: their form, what lies in the lanes. */
typedef enum
{
  SHAPE_ONE,                                  /* one channel without vectors */
  SHAPE_WAVE,                                 /* of 1, 2, 4, 8 channels */
  SHAPE_HALF = SHAPE_WAVE + TFX_MAX_SHAPES,   /* in vectors half as wide */
  SHAPE_FRAMES = SHAPE_HALF + TFX_MAX_SHAPES, /* of 1 and 2 channels */
  SHAPE_PARALLEL = SHAPE_FRAMES + 2,          /* of 1, 2 and W channels */
  SHAPE_PARALLEL_HALF = SHAPE_PARALLEL + TFX_PARALLEL_SHAPES, /* half as wide */
  SHAPE_ABREAST = SHAPE_PARALLEL_HALF + TFX_PARALLEL_SHAPES,  /* of 1, 2, W */
  SHAPE_ABREAST_HALF = SHAPE_ABREAST + TFX_PARALLEL_SHAPES,
  N_SHAPES = SHAPE_ABREAST_HALF + TFX_PARALLEL_SHAPES
} ShapeIndex;

typedef struct Shape
{
  unsigned channels, width; /* C, W */
  unsigned n_together;      /* sections of a vector */
  unsigned n_idle;          /* fewer in the first one */
  size_t n_vectors, n_pass; /* all, and those of a full pass */
  unsigned s2_vectors;      /* passes of so many have s2 */
  TfxWaveKernel wave;
  TfxFramesKernel frames; /* one of the two */
  bool is_parallel;       /* the wave is a sum of sections */
  bool is_abreast;        /* or one of cascades */
  unsigned n_sections;    /* what the wave is told */
} Shape;

/* Where the state of a sum of sections is. */
typedef enum
{
  STATE_OF_KERNEL,
  STATE_OF_BOTH,
  STATE_OF_SECTIONS
} StateOf;

/* Channels that are run together. */
typedef struct Group
{
  unsigned first_channel, n_channels;
  const Shape *shape;
  double *state; /* [n_vectors][TFX_STATE][width] */
  /* Vectors, or columns; and of the first pass and of the others, [2][width].  Those of the
   * first group of the same shape, but where channels differ. */
  double *coef, *gain;
  /* Of sums of sections: [n_channels][n_sos][2], as the sections in a row have it, made
   * when it is asked for.  The kernel has the state alone while samples flow. */
  double *rest;
  StateOf state_of;
  TfxPending pending;
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
  /* What is run as one, each with sections of sos. */
  TfxTermsForm terms_form;
  TfxCascadeTerm *terms;
  double *gains; /* [n_terms]: in front of the first section of each */
  size_t n_terms;
  size_t n_abreast, depth; /* those that have sections, and the most of one */
  size_t n_row;            /* sections of a channel, in a row or abreast */
  TfxCascadeSection *sections;
  double gain;
  bool mute;
  bool wants_parts;   /* if they are exact, sums of sections cost least */
  bool has_parts;     /* they are */
  bool has_no_frames; /* these would not be exact enough */
  TfxParallelPart parts[TFX_PARALLEL_MAX_SECTIONS];
  double direct;
  Shape shapes[N_SHAPES];
  Group *groups;       /* [n_channels] */
  size_t chunk_frames; /* that the scratch has room for */
  size_t memory_size;
  double *memory;   /* of groups */
  double *exchange; /* [n_channels][n_sos][2]: the state between types */
};

/* The shapes that cost the least, by the type of the stream, channels and sections. */
typedef struct ShapeChoice
{
  unsigned full, n_full;              /* of as many channels as are left */
  unsigned first[MAX_SHAPE_CHANNELS]; /* of the first, where fewer are */
  double ns;                          /* for a frame of all; or NEVER */
} ShapeChoice;

/* There is no code for it. */
#define NEVER 1e9

void tfx_cascade_shapes_choose (const TfxCascade *cascade, ShapeChoice *choice);

/* Whether the kernels have the shape for the cascade, and what it looks like. */
bool tfx_cascade_shape_describe (const TfxCascade *cascade, unsigned index,
    Shape *shape);

/* Doubles that all groups take, for either type. */
size_t tfx_cascade_groups_size (TfxCascade *cascade);

/* Deals the channels out for the cascade's type and form, and computes the
 * coefficients.  The state is undefined.  False if a sum would not be exact enough. */
bool tfx_cascade_groups_set (TfxCascade *cascade);

/* The state of a group's sum of sections, from the sections' own. */
void tfx_cascade_state_wake (const TfxCascade *cascade, Group *group);

static inline bool
tfx_cascade_is_sum (const TfxCascade *c)
{
  return c->terms_form == TFX_TERMS_PARTS ||
         c->terms_form == TFX_TERMS_CASCADES;
}

/* Whose section k is, and which of its own. */
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

/* Which vector has section k of the group, and which of those in it that is.  The last
 * sections of several in the lanes, or of each channel, are in the same vector. */
static inline size_t
tfx_cascade_vector_of (const TfxCascade *c, const Shape *s, size_t k,
    size_t *number)
{
  const TfxCascadeTerm *t;
  size_t own, before = 0;

  if (c->terms_form == TFX_TERMS_CHANNELS) {
    t = tfx_cascade_term_of (c, k, &own);
    k = c->depth - t->n_sos + own;
  }
  if (!s->is_abreast) {
    *number = (k + s->n_idle) % s->n_together;
    return (k + s->n_idle) / s->n_together;
  }
  t = tfx_cascade_term_of (c, k, &own);
  for (const TfxCascadeTerm *i = c->terms; i < t; i++)
    before += i->n_sos > 0;
  *number = s->channels < s->width ? before : 0;
  own += c->depth - t->n_sos;
  return s->channels < s->width ? own : before * c->depth + own;
}

/* Number i of the state of section k of the group's channel; of the shape
 * frames the first and the last are all. */
static inline double *
tfx_cascade_state_at (const TfxCascade *c, const Group *g, size_t k, unsigned i,
    unsigned channel)
{
  const Shape *s = g->shape;
  size_t vector, number;

  if (s->frames)
    return g->state + (2 * k + (i > 0)) * s->channels + channel;
  vector = tfx_cascade_vector_of (c, s, k, &number);
  return g->state + (vector * TFX_STATE + i) * s->width + number * s->channels +
         channel;
}

/* Whether rows with other channels between its own have to be packed. */
static inline bool
tfx_cascade_takes_dense_rows (const Shape *s)
{
  return s->frames ||
         ((s->is_parallel || s->is_abreast) && s->channels < s->width);
}

/* Whether the state of section k has s2 in the place of the last x. */
static inline bool
tfx_cascade_has_s2 (const TfxCascade *c, const Group *g, size_t k)
{
  const Shape *s = g->shape;
  size_t number;
  const size_t vector = tfx_cascade_vector_of (c, s, k, &number);
  const size_t left = s->n_vectors - vector / s->n_pass * s->n_pass;

  return s->frames || (s->n_pass >= s->s2_vectors && left >= s->s2_vectors);
}

#endif
