/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-private.h: what engine.c and engine-run.c share. */
#ifndef TFX_ENGINE_PRIVATE_H
#define TFX_ENGINE_PRIVATE_H

#include "cascade.h"
#include "engine.h"

typedef struct TfxJoint TfxJoint;

/* What a step of the plan has at run time, by its index. */
typedef struct Node
{
  TfxCascade *cascade;
  double *sum, *branch; /* a chunk each; sums and cross-fades */
  double *between;      /* a chunk; first steps of several in series */
  TfxJoint *joints;     /* sums */
  size_t n_joints;
  TfxCascadeTerm *terms; /* [n_branches]; of joints */
  TfxJoint *joint;       /* that the cascade is part of, or NULL */
  size_t joint_sos;      /* the first of its sections there */
} Node;

/* Branches of a sum that are run as one: cascades, gains, and what lets all pass.  Each
 * cascade is there alone, too, and has the state while the joint is off: while its values
 * move, and for doubles. */
struct TfxJoint
{
  size_t first, n; /* branches */
  const TfxSteps *branches;
  TfxCascade *cascade;
  TfxCascadeTerm *terms; /* [n], of the sum's */
  double *state;         /* of a branch, on its way */
  bool is_known;         /* it has the values of the branches, */
  bool is_exact;         /* of which it is as exact a sum as they are */
  bool is_on;
};

struct TfxEngine
{
  const TfxPlan *plan;
  size_t n_nodes, chunk_frames;
  Node *nodes;
  double *chunks; /* [n_chunks][chunk_frames][n_channels] */
  size_t n_chunks;
  TfxStep *alone; /* the only step, if it needs no chunks */
  TfxSample type; /* of the stream */
  size_t n_done;  /* frames of the block that has begun */
};

/* Finds the joints of a sum, whose cascades are made.  0 or -ENOMEM. */
int tfx_joint_make (TfxEngine *e, const TfxStep *sum, unsigned n_channels);
void tfx_joint_free (Node *node);

/* Whether it is to be run for its branches, whose state goes to it then, or back.  And
 * back in any case. */
bool tfx_joint_enter (TfxEngine *e, TfxJoint *joint);
void tfx_joint_leave (TfxEngine *e, TfxJoint *joint);

/* A branch is about to have other values.  The state is that of the branches. */
void tfx_joint_forget (TfxEngine *e, TfxJoint *joint);

#endif
