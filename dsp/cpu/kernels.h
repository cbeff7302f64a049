/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels.h: the innermost loops of the CPU backend, one table for each
 * instruction set.
 *
 * Kernels work in place on a scratch of doubles, frame after frame of
 * `lanes` channels each: x[frame][lane].  Coefficients and state are arrays of
 * doubles whose layout the form fixes; cascade.c prepares them.  All of them
 * are aligned to 64 bytes.
 *
 * Three ways to fill the lanes of a vector (W doubles wide):
 *
 *   plain      one channel, no vectors: the reference.
 *   channels   W channels side by side.
 *   samples    G = W / L frames of L channels (1 or 2) at a time: the block
 *              form of a section, y = H x + O s.
 *
 * Kernels cannot fail. */
#ifndef TFX_KERNELS_H
#define TFX_KERNELS_H

#include "../tfx.h"

typedef enum
{
  TFX_FORM_PLAIN,
  TFX_FORM_CHANNELS,
  TFX_FORM_SAMPLES
} TfxForm;

/* The most sections that the forms plain and channels take in one pass over
 * the scratch. */
#define TFX_PASS_MAX_SECTIONS 4

/* Runs n_sections sections over n_groups groups of frames, in place.
 *
 * plain: a group is a frame of one channel.
 *   coef[section] = b0 b1 b2 a1 a2, state[section] = s1 s2.
 *
 * channels: a group is a frame of W channels; b0 is factored out.
 *   coef = g, then for each section c, -a1, r, -q:
 *     x = g x;  y = x + c u;  u = x - a1 u + r t;  t = x - q u;
 *   state[section] = u[W], t[W].
 *
 * samples: a group is G frames of L channels; n_sections = 1.
 *   coef = H[G][W], P[W], Q[W], then eight numbers, each W times:
 *     b0, A11, A12, A21, A22, sign c2, -sign a2, 0;  state = s1[W], q[W],
 *   see cascade-forms.c. */
typedef void (*TfxCascadeKernel) (double *x, size_t n_groups, double *state,
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

/* The form channels from rows to rows, in place or apart.  in and out are of
 * one kind, or one of them is the scratch. */
typedef void (*TfxRowsKernel) (const TfxRows *in, const TfxRows *out,
    size_t n_groups, double *state, const double *coef, unsigned n_sections);

/* Samples of channels [0, n_channels) into lanes [0, n_channels) of x, zero
 * into the remaining ones; and back. */
typedef void (*TfxPackKernel) (double *x, unsigned lanes, const TfxBlock *in);
typedef void (
    *TfxUnpackKernel) (const double *x, unsigned lanes, const TfxBlock *out);

typedef struct TfxKernels
{
  const char *name;
  unsigned width;              /* W */
  TfxForm form;                /* plain, or channels with W lanes */
  TfxCascadeKernel cascade;    /* plain; in place over the scratch */
  TfxRowsKernel rows;          /* channels */
  TfxCascadeKernel samples[2]; /* L = 1 and L = 2; NULL: use `cascade` */
  TfxPackKernel pack[2];       /* by TfxSample */
  TfxUnpackKernel unpack[2];
} TfxKernels;

extern const TfxKernels tfx_kernels_c;
extern const TfxKernels tfx_kernels_sse2;
extern const TfxKernels tfx_kernels_avx2;
extern const TfxKernels tfx_kernels_avx512;

#endif
