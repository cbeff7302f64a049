/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-private.h: what engine.c and engine-run.c share. */
#ifndef TFX_ENGINE_PRIVATE_H
#define TFX_ENGINE_PRIVATE_H

#include "cascade.h"
#include "engine.h"

typedef struct TfxJoint TfxJoint;

/* Data of a step of the plan at run time, by its index. */
typedef struct Node
{
  TfxCascade *cascade;
  double *sum, *branch; /* a chunk each; sums, splits and cross-fades */
  /* Splits, by the type of the stream: branches run in planes, to which all is turned. */
  bool is_planar[2];
  double *between;  /* a chunk, the same for all of several in series */
  TfxJoint *joints; /* sums, splits; those of each form one after the other */
  size_t n_joints;
  TfxCascadeTerm *terms; /* [n_branches + 1]; of joints */
  /* Those that the cascade is part of, or NULL, and the first of its sections there. */
  TfxJoint *joint[TFX_N_TERMS_FORMS];
  size_t joint_sos[TFX_N_TERMS_FORMS];
} Node;

/* Branches of a sum that are run as one: cascades, gains, and what lets all pass; or what
 * branches of a split begin with.  Each cascade is there alone, too, and has the state while
 * none of its joints is on, as while its values move. */
struct TfxJoint
{
  TfxTermsForm form;
  bool pays[2];    /* by the type of the stream */
  size_t first, n; /* branches */
  size_t n_terms;  /* theirs, and that of the channels of no branch */
  const TfxSteps *branches;
  TfxCascade *cascade;
  TfxCascadeTerm *terms; /* [n_terms], of the step's */
  double *state;         /* of a branch, on its way */
  bool is_known;         /* it has the values of the branches, */
  bool is_exact;         /* and is as exact with them as they are */
  bool is_on;
};

/* Doubles of all channels that are turned from rows to planes in one go, of 16 KiB. */
#define TFX_TURN_SIZE 2048

/* Samples of a line of the cache.  Planes are an odd number of lines apart: if they begin a
 * multiple of 4096 bytes apart, they share the places of the cache. */
#define TFX_LINE_F64 8
#define TFX_LINE_F32 16

struct TfxEngine
{
  const TfxPlan *plan;
  size_t n_nodes;
  /* Frames of a chunk, the most that are run at a time if in and out are planes; and the
   * most otherwise, by the type of the stream, where rows are turned to planes. */
  size_t chunk_frames, turn_frames[2];
  Node *nodes;
  double *chunks; /* [n_chunks][their frames][n_channels] */
  size_t n_chunks;
  TfxStep *alone; /* the only step, if it needs no chunks */
  TfxSample type; /* of the stream */
  size_t n_done;  /* frames of the block that has begun */
};

/* Finds the joints of a sum or a split, whose cascades are made.  0 or -ENOMEM. */
int tfx_joint_make (TfxEngine *e, const TfxStep *step, unsigned n_channels);
void tfx_joint_free (Node *node);

/* What of a branch can be in one, or NULL: it lets all pass. */
TfxStep *tfx_joint_step (const TfxSteps *branch);

/* Whether the branches of a split have more than what is in its joint. */
bool tfx_joint_has_rest (const TfxStep *split);

/* Whether a joint of the step runs in place of its branches.  Moves their state to it, or
 * back. */
bool tfx_joint_enter (TfxEngine *e, const Node *step, TfxJoint *joint,
    bool is_wanted);

/* The cascade that has the state of a step, and which of its sections is the step's first. */
TfxCascade *tfx_joint_find (const Node *node, size_t *first);

/* The state is that of the branches again.  `forgets`: one is about to have other values. */
void tfx_joint_leave (TfxEngine *e, const Node *node, bool forgets);

#endif
