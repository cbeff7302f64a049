/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb.h: the innermost loop of a reverb, one build for each instruction set. */
#ifndef TFX_CPU_REVERB_H
#define TFX_CPU_REVERB_H

#include <stddef.h>

#include "../tfx.h"

/* Frames of the past that the loop looks at, of what a comb has put out and of what
 * its one-pole has. */
#define TFX_REVERB_PAST 3
#define TFX_REVERB_POLE 4

#define TFX_REVERB_LINES (TFX_REVERB_COMBS + TFX_REVERB_ALL_PASSES)

/* One channel over n frames, n at most the shortest line: combs, then all-passes.
 * line[i][0 ... n) holds what comes out of a line, and gets what goes in.
 *
 *   pole[n] = (1 - d) out[n] + d pole[n - 1],  in[n] = a x[n] + f pole[n]
 *
 * with pole[n - 1] replaced three times, so that four frames lie side by side:
 *
 *   z[n] = out[n] + d out[n - 1]
 *   pole[n] = (1 - d) (z[n] + d^2 z[n - 2]) + d^4 pole[n - 4] */
typedef struct TfxReverbPart
{
  double *line[TFX_REVERB_LINES];
  double (
      *past)[TFX_REVERB_PAST]; /* what came out of each comb, the newest last */
  double (*pole)[TFX_REVERB_POLE]; /* of each comb, the newest last */
  double *x;                       /* in and out */
  double *wet;                     /* room for n */
  double damp, feedback, dry_gain, wet_gain;
} TfxReverbPart;

/* The next one, the newest: last[n]. */
static inline void
tfx_reverb_keep (double *last, unsigned n, double next)
{
  for (unsigned i = 0; i + 1 < n; i++)
    last[i] = last[i + 1];
  last[n - 1] = next;
}

/* Returns 0, or what is no number if the sum of the lines is none. */
typedef double (*TfxReverbKernel) (const TfxReverbPart *part, size_t n);

double tfx_reverb_run_c (const TfxReverbPart *part, size_t n);
double tfx_reverb_run_sse2 (const TfxReverbPart *part, size_t n);
double tfx_reverb_run_avx2 (const TfxReverbPart *part, size_t n);
double tfx_reverb_run_avx512 (const TfxReverbPart *part, size_t n);
double tfx_reverb_run_neon (const TfxReverbPart *part, size_t n);

/* That of the CPU backend of that name. */
TfxReverbKernel tfx_reverb_kernel_for (const char *name);

#endif
