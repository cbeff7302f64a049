/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain-private.h: what plain.c and its loops share. */
#ifndef PLAIN_PRIVATE_H
#define PLAIN_PRIVATE_H

#include "tfx.h"

#define PLAIN_ORDERS 3

typedef struct Plain
{
  const void *in;
  void *out;
  ptrdiff_t frame_stride, channel_stride;
  size_t n_frames, n_sos;
  unsigned n_channels;
  const TfxSos *sos;
  double *state; /* [n_channels][n_sos][2] or [n_sos][2][n_channels] */
  double *row;   /* of a channel or a frame */
} Plain;

/* By TfxSample and order. */
typedef struct PlainLoops
{
  void (*run[2][PLAIN_ORDERS]) (Plain *);
} PlainLoops;

extern const PlainLoops plain_loops_base;
extern const PlainLoops plain_loops_avx2;
extern const PlainLoops plain_loops_avx512;

#endif /* PLAIN_PRIVATE_H */
