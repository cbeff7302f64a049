/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels.h: the innermost loops of the CPU backend, one table for each
 * instruction set.
 *
 * Kernels work in place on a scratch of doubles, frame after frame of
 * `lanes` channels each: x[frame][lane].  Coefficients and state are arrays of
 * doubles whose layout the form fixes; cascade.c prepares them.  All of them
 * are aligned to 64 bytes.
 *
 * A section takes one of three forms:
 *
 *   direct     transposed direct form II, its poles just as the section has
 *              them: for float64 streams, and for the reference.
 *   factored   b0 taken out: one operation less of five.  What its rounded
 *              coefficients do to a 20 Hz filter is near -210 dB: for float32
 *              streams.
 *   grouped    the block form, y = H x + O s, of G frames of L channels at a
 *              time (G L = W, a vector's width): for float32 streams of one or
 *              two channels, where channels alone do not fill a vector.
 *
 * Kernels cannot fail. */
#ifndef TFX_KERNELS_H
#define TFX_KERNELS_H

#include "../tfx.h"

typedef enum
{
  TFX_FORM_DIRECT,
  TFX_FORM_FACTORED,
  TFX_FORM_GROUPED
} TfxForm;

/* Coefficients of a section in the form direct. */
#define TFX_DIRECT_SIZE 7

/* The most sections of a pass: more do not fit the registers. */
#define TFX_PASS_MAX_SECTIONS 4
#define TFX_FACTORED_MAX_SECTIONS 3

/* Runs n_sections sections over the scratch, in place.
 *
 * direct, one channel: n frames;
 *   coef[section] = b0 b1 b2 a1 a2 c1 c2, c1 = b1 - a1 b0, c2 = b2 - a2 b0:
 *     y = b0 x + s1;  s1 = c1 x - a1 s1 + s2;  s2 = c2 x - a2 s1
 *   (the s1 on the right is the old one), or, the same but for rounding, with b1
 *   and b2 as in tfx.h;  state[section] = s1 s2.
 *
 * grouped: n groups of G frames of L channels; n_sections = 1;
 *   coef = H[G][W], P[W], Q[W], then seven numbers, each W times:
 *     b0, A11, A12, A21, A22, sign c2, -sign a2;  state = s1[W], q[W],
 *   see cascade-forms.c. */
typedef void (*TfxCascadeKernel) (double *x, size_t n, double *state,
    const double *coef, unsigned n_sections);

/* Where a kernel finds its rows of W doubles or floats, stride in samples: the
 * scratch (aligned, stride W), or the caller's block itself. */
typedef enum
{
  TFX_ROWS_SCRATCH,
  TFX_ROWS_F32,
  TFX_ROWS_F64
} TfxRowsKind;

typedef struct TfxRows
{
  void *data;
  TfxRowsKind kind;
  ptrdiff_t stride;
} TfxRows;

/* Runs n_sections sections over n frames of W channels side by side, from
 * rows to rows, in place or apart.
 *
 * direct: rows of the scratch and of doubles;
 *   coef as for one channel, state[section] = s1[W], s2[W].
 *
 * factored: rows of the scratch and of floats, at most
 * TFX_FACTORED_MAX_SECTIONS sections;
 *   coef = g, then for each section c, -a1, -a2, r:
 *     x = g x;  y = x + c u;
 *     u = x + r (last x) - a2 (last u) - a1 u;
 *   state[section] = u[W], (last u)[W], (last x)[W]. */
typedef void (*TfxRowsKernel) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *coef, unsigned n_sections);

/* Samples of channels [0, n_channels) into lanes [0, n_channels) of x, zero
 * into the remaining ones; and back. */
typedef void (*TfxPackKernel) (double *x, unsigned lanes, const TfxBlock *in);
typedef void (
    *TfxUnpackKernel) (const double *x, unsigned lanes, const TfxBlock *out);

typedef struct TfxKernels
{
  const char *name;
  unsigned width;              /* W */
  TfxCascadeKernel direct_one; /* one channel */
  TfxRowsKernel direct;        /* W channels; NULL if W = 1 */
  TfxRowsKernel factored;      /* W channels; NULL: use direct */
  TfxCascadeKernel grouped[2]; /* L = 1 and L = 2; NULL: use the others */
  TfxPackKernel pack[2];       /* by TfxSample */
  TfxUnpackKernel unpack[2];
} TfxKernels;

extern const TfxKernels tfx_kernels_c;
extern const TfxKernels tfx_kernels_sse2;
extern const TfxKernels tfx_kernels_avx2;
extern const TfxKernels tfx_kernels_avx512;

#endif
