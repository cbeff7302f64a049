/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade-private.h: the structure of a cascade, for cascade.c, cascade-state.c and
 * variant.c. */
#ifndef TFX_CUDA_CASCADE_PRIVATE_H
#define TFX_CUDA_CASCADE_PRIVATE_H

#include "cascade.h"

/* The arguments of a kernel that has its tables in them. */
typedef struct TfxFixedArgs
{
  TfxCascadeArgs args;
  _Alignas(16) double table[TFX_FIXED_SIZE (TFX_GROUP_MAX)];
} TfxFixedArgs;

_Static_assert(sizeof (TfxCascadeArgs) % 16 == 0, "the table follows at once");

/* A kernel and the tables for it.  A float stream and one of doubles may need
 * different ones. */
typedef struct TfxVariant
{
  TfxKernel kernel;
  TfxKernelId id;
  TfxGroups groups;
  bool is_ready;
  bool is_missing; /* this device or compiler has no such kernel */
  bool tables_are_old;
  TfxFixedArgs *fixed;    /* of the narrow one */
  unsigned fixed_segment; /* the segment_log2 that its tables are for */
  TfxBuffer tables;
  TfxPinned staging;
  CUevent uploaded; /* the staging may be written again */

  /* The last launch's layout. */
  TfxShapeAsk ask;
  TfxShape shape;
  unsigned resident; /* blocks that fit the device */
} TfxVariant;

enum
{
  VARIANT_NARROW, /* float in and out, one group */
  VARIANT_ANY,    /* anything, in the arithmetic of float streams */
  VARIANT_DOUBLE, /* anything, in double */
  N_VARIANTS
};

struct TfxCudaCascade
{
  TfxCudaStream *stream;
  unsigned n_channels;
  size_t n_sos;
  TfxSos *sos;
  double gain;
  bool has_sections;
  bool can_normalise[2]; /* by arithmetic */
  TfxVariant variants[N_VARIANTS];

  TfxBuffer state[2];
  unsigned current;
  TfxPinned host; /* a copy of the current state */
  bool host_is_valid, host_is_newer;
  bool is_moving; /* its upload may still run */

  TfxBuffer carry, control;
  bool is_broken; /* carry and control must be cleared */

  int force_segment, force_lanes;
  unsigned force_grid;
};

/* The kernel for such samples, made ready.  0 or a negative errno. */
int tfx_variant_choose (TfxCudaCascade *cascade, bool is_float,
    bool double_arithmetic, TfxVariant **variant);

/* True if the variant's tables are, for the cascade's sections. */
bool tfx_variant_is_normalised (const TfxCudaCascade *cascade,
    const TfxVariant *variant);

/* Coefficients that are new go to the device.  0 or a negative errno. */
int tfx_variant_upload (TfxCudaCascade *cascade, TfxVariant *variant);

/* The layout for a launch, and the memory that it takes.  0 or a negative
 * errno. */
int tfx_variant_shape (TfxCudaCascade *cascade, TfxVariant *variant,
    size_t n_frames, bool by_channel);

/* Bytes of the state of all channels. */
size_t tfx_cascade_state_size (const TfxCudaCascade *cascade);

/* What the host has changed of the state goes to the device.  0 or a negative
 * errno. */
int tfx_cascade_state_push (TfxCudaCascade *cascade);

#endif
