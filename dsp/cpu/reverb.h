/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb.h: the innermost loop of a reverb, one build for each instruction set. */
#ifndef TFX_CPU_REVERB_H
#define TFX_CPU_REVERB_H

#include <stddef.h>

#include "tfx.h"

/* Frames of the past that the loop reads, of a comb's output and of its one-pole's. */
#define TFX_REVERB_PAST 3
#define TFX_REVERB_POLE 4

#define TFX_REVERB_LINES (TFX_REVERB_COMBS + TFX_REVERB_ALL_PASSES)

/* Rows of channels, one for each frame: the channels of a row lie side by side in a
 * vector, and as many rows as it has room for.  Combs, then all-passes.  Row i of a line
 * holds what comes out of it, and gets what goes in.
 *
 *   pole[n] = (1 - d) out[n] + d pole[n - 1],  in[n] = a x[n] + f pole[n]
 *
 * With two rows in a vector pole[n - 1] is replaced once, with more three times, so that
 * four frames lie side by side:
 *
 *   z[n] = out[n] + d out[n - 1]
 *   pole[n] = (1 - d) z[n] + d^2 pole[n - 2]
 *           = (1 - d) (z[n] + d^2 z[n - 2]) + d^4 pole[n - 4]
 *
 * Older frames are not used. */
typedef struct TfxReverbPart
{
  unsigned
      n_channels; /* of a row: 1, 2, 4 or 8, no more than there are lanes */
  double *line[TFX_REVERB_LINES];
  /* The newest last.  Up to TFX_REVERB_MAX_LANES values in front and behind are read. */
  double *past; /* [combs][TFX_REVERB_PAST] rows */
  double *pole; /* [combs][TFX_REVERB_POLE] rows */
  double *x;    /* in and out */
  double *wet;  /* room for as much */
  double damp, feedback, dry_gain, wet_gain;
} TfxReverbPart;

/* The next row is the newest of n. */
static inline void
tfx_reverb_keep (double *rows, unsigned n, unsigned n_channels,
    unsigned channel, double next)
{
  for (unsigned i = 0; i + 1 < n; i++)
    rows[i * n_channels + channel] = rows[(i + 1) * n_channels + channel];
  rows[(n - 1) * n_channels + channel] = next;
}

/* How many frames back a one-pole is looked up. */
static inline unsigned
tfx_reverb_look (unsigned n_lanes, unsigned n_channels)
{
  const unsigned n_rows = n_lanes / n_channels;

  return n_rows < TFX_REVERB_POLE ? n_rows : TFX_REVERB_POLE;
}

/* n rows, no more than the shortest line has.  bad[channel] becomes 0, or what is no number
 * if the sum of the channel's lines is none. */
typedef void (*TfxReverbRun) (const TfxReverbPart *part, size_t n, double *bad);

typedef struct TfxReverbKernel
{
  TfxReverbRun run;
  unsigned n_lanes;
} TfxReverbKernel;

extern const TfxReverbKernel tfx_reverb_c;
extern const TfxReverbKernel tfx_reverb_sse2;
extern const TfxReverbKernel tfx_reverb_avx2;
extern const TfxReverbKernel tfx_reverb_avx512;
extern const TfxReverbKernel tfx_reverb_neon;

#define TFX_REVERB_MAX_LANES 8

/* That of the CPU backend of that name. */
const TfxReverbKernel *tfx_reverb_kernel_for (const char *name);

#endif
