/* SPDX-License-Identifier: LGPL-2.1-or-later
 * shape.h: how a launch of the cascade is laid out over the device. */
#ifndef TFX_CUDA_SHAPE_H
#define TFX_CUDA_SHAPE_H

#include "tables.h"
#include "tfx-cuda.h"

/* What there is to do, and with what. */
typedef struct TfxShapeAsk
{
  size_t n_frames;
  unsigned n_channels;
  bool by_channel;      /* interleaved */
  unsigned group;       /* sections */
  unsigned sample_size; /* bytes of a sample in shared memory */
  unsigned n_multiprocessors;
  unsigned max_threads;      /* of a block */
  unsigned max_shared;       /* bytes of a block */
  unsigned shared;           /* bytes of a multiprocessor */
  unsigned min_segment_log2; /* 0: no matter */
  bool in_rounds;            /* segments need not be in shared memory at once */
  /* Fixed cost of a segment, in samples. */
  unsigned overhead;
} TfxShapeAsk;

typedef struct TfxShape
{
  unsigned segment_log2; /* frames of a thread */
  unsigned round_log2;   /* those in shared memory at a time */
  unsigned lanes_log2;   /* threads of a channel in a warp */
  unsigned n_warps;      /* of a block */
  unsigned n_tiles;      /* per channel */
  unsigned n_blocks;     /* for all channels of one tile */
  unsigned pitch;        /* samples of a channel in shared memory */
  size_t shared_size;    /* bytes of a block */
} TfxShape;

/* What the card and the kernel for these groups make of it; is_narrow: of floats, in
 * rounds.  The rest is 0, also between the members, which memcmp() compares. */
void tfx_shape_ask (const TfxCudaCard *card, TfxGroups groups, TfxReal real,
    bool is_narrow, TfxShapeAsk *ask);

/* n_frames and n_channels are at least 1.  segment_log2 and lanes_log2 of -1:
 * what suits best; tests give others (lanes below 32 only where one tile
 * holds all frames). */
TfxShape
tfx_shape_choose (const TfxShapeAsk *ask, int segment_log2, int lanes_log2);

/* Words of 8 bytes that the carries of n_groups groups take. */
size_t tfx_shape_carry_words (const TfxShape *shape, unsigned n_channels,
    unsigned group, unsigned n_groups);

#endif
