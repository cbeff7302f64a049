/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-private.h: what engine.c and engine-run.c share. */
#ifndef TFX_ENGINE_PRIVATE_H
#define TFX_ENGINE_PRIVATE_H

#include "cascade.h"
#include "engine.h"

/* Neighbouring branches of a sum that run as one cascade: cascades, gains and branches without
 * steps; or the leading cascades of all branches of a split.  Each branch has its own cascade
 * too, which has the state while `is_on` is false, as during ramps. */
typedef struct Merged
{
  TfxTermsForm form;
  bool pays[2];    /* by the type of the stream */
  bool has_rest;   /* a branch of the split has further steps */
  size_t first, n; /* branches */
  size_t n_terms;  /* branches, and the channels of no branch */
  const TfxSteps *branches;
  TfxCascade *cascade;
  TfxCascadeTerm *terms; /* [n_terms], into those of the node */
  double *state;         /* of a branch, to move it */
  bool is_known;         /* the cascade has the values of the branches */
  bool is_exact;         /* and, with these, their exactness */
  bool is_on;
} Merged;

/* A step of the plan at run time, by its index. */
typedef struct Node
{
  TfxStep *step;
  unsigned n_channels;
  TfxCascade *cascade;
  size_t between; /* a chunk of all steps in series */
  size_t chunks;  /* the first of two; sums, splits and cross-fades */
  unsigned
      n_slow; /* channels of a split that are slow to access unless in planes */
  Merged *merged; /* sums, splits; those of each form one after the other */
  size_t n_merged;
  TfxCascadeTerm *terms; /* [n_branches + 1]; of all `merged` */
  /* Those that the cascade is part of, or NULL, and its first section there. */
  Merged *member_of[TFX_N_TERMS_FORMS];
  size_t first_sos[TFX_N_TERMS_FORMS];
} Node;

/* Samples of a line of the cache. */
#define TFX_LINE_F64 8
#define TFX_LINE_F32 16

struct TfxEngine
{
  const TfxPlan *plan;
  size_t n_nodes;
  Node *nodes;
  unsigned kinds; /* of the steps, a bit for each TfxStepKind */
  /* The most that are run at a time: of planes, and of other blocks. */
  size_t chunk_frames, turn_frames;
  size_t chunk_size; /* doubles, a little more than these need */
  double *chunks;
  size_t n_chunks;
  TfxStep *alone; /* the only step, if it needs no chunks */
  TfxSample type; /* of the stream */
  size_t n_done;  /* frames of the block before those that are run */
};

/* The leading cascade of a branch, which can be merged, or NULL. */
static inline TfxStep *
leading_cascade (const TfxSteps *branch)
{
  return branch->n > 0 && branch->steps->kind == TFX_STEP_CASCADE
             ? branch->steps
             : NULL;
}

/* Whether to transpose all channels of a split, and back: about half of them are slow to
 * access. */
static inline bool
wants_planes (const Node *node, TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? 2 * node->n_slow >= node->n_channels
                                : 2 * node->n_slow > node->n_channels;
}

/* Whether the branches run merged, if that is wanted.  Moves their state there, or back. */
bool tfx_engine_enter_merged (TfxEngine *e, const Node *node, Merged *merged,
    bool is_wanted);

#endif
