/* SPDX-License-Identifier: LGPL-2.1-or-later
 * engine-private.h: what engine.c and engine-run.c share. */
#ifndef TFX_ENGINE_PRIVATE_H
#define TFX_ENGINE_PRIVATE_H

#include "cascade.h"
#include "engine.h"

/* What a step of the plan has at run time, by its index. */
typedef struct Node
{
  TfxCascade *cascade;
  double *sum, *branch; /* a chunk each; sums and cross-fades */
  double *between;      /* a chunk; first steps of several in series */
} Node;

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

#endif
