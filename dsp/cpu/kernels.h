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
 *   direct     transposed direct form II, just as the section has it: for
 *              float64 streams, and for the reference.
 *   factored   b0 taken out: one operation less of five; for float32 streams.
 *   segments   the factored form over segments of the stream side by side,
 *              each from rest, and then corrected: for float32 streams of one
 *              or two channels, which alone do not fill a vector.
 *
 * Kernels cannot fail. */
#ifndef TFX_KERNELS_H
#define TFX_KERNELS_H

#include "../tfx.h"

typedef enum
{
  TFX_FORM_DIRECT,
  TFX_FORM_FACTORED,
  TFX_FORM_SEGMENTS
} TfxForm;

/* Coefficients of a section in the form direct. */
#define TFX_DIRECT_SIZE 7

/* The most sections of a pass: more do not fit the registers. */
#define TFX_PASS_MAX_SECTIONS 4
#define TFX_FACTORED_MAX_SECTIONS 3

/* Frames of a segment. */
#define TFX_SEGMENT_FRAMES 8

/* Coefficients of a section in the form segments; see cascade-forms.c.  All
 * matrices are of (u, d), row by row. */
typedef struct TfxSegmentCoef
{
  double c, r, na1, na2, sign;
  double p[TFX_SEGMENT_FRAMES], q[TFX_SEGMENT_FRAMES];
  double power[3][4]; /* over 1, 2 and 4 segments */
  double group[4];    /* over W / L segments */
  double padding[3];
} TfxSegmentCoef;

#define TFX_SEGMENT_COEF_SIZE (sizeof (TfxSegmentCoef) / sizeof (double))
_Static_assert(TFX_SEGMENT_COEF_SIZE % 8 == 0, "vectors follow, aligned");

/* Runs n_sections sections over the scratch, in place.
 *
 * direct, one channel: n frames;
 *   coef[section] = b0 b1 b2 a1 a2 c1 c2, c1 = b1 - a1 b0, c2 = b2 - a2 b0:
 *     y = b0 x + s1;  s1 = c1 x - a1 s1 + s2;  s2 = c2 x - a2 s1
 *   (the s1 on the right is the old one), or, the same but for rounding, with b1
 *   and b2 as in tfx.h;  state[section] = s1 s2. */
typedef void (*TfxCascadeKernel) (double *x, size_t n, double *state,
    const double *coef, unsigned n_sections);

/* Runs a section over n > 0 groups of TFX_SEGMENT_FRAMES W / L frames of L
 * channels, in place; if is_unfinished, the last of them leaves no trace in
 * the state.
 *   x[group][frame of a segment][W]: lane i is channel i % L of segment i / L;
 *   coef = a TfxSegmentCoef, then four vectors: in lane i the matrix that takes
 *   a state through i / L segments without input;
 *   state = u[L], d[L], (last x)[L], where d = u - sign (last u). */
typedef void (*TfxSegmentsKernel) (double *x, size_t n, bool is_unfinished,
    double *state, const double *coef);

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

/* Whole groups of the form segments, times the gain; and back.  lanes is L,
 * and n_channels as well. */
typedef void (*TfxPackSegments) (double *x, unsigned lanes, const TfxBlock *in,
    double gain);
typedef void (
    *TfxUnpackSegments) (const double *x, unsigned lanes, const TfxBlock *out);

typedef struct TfxKernels
{
  const char *name;
  unsigned width;                /* W */
  TfxCascadeKernel direct_one;   /* one channel */
  TfxRowsKernel direct;          /* W channels; NULL if W = 1 */
  TfxRowsKernel factored;        /* W channels; NULL: use direct */
  TfxSegmentsKernel segments[2]; /* L = 1 and L = 2; NULL: use the others */
  TfxPackKernel pack[2];         /* by TfxSample */
  TfxUnpackKernel unpack[2];
  TfxPackSegments pack_segments[2];
  TfxUnpackSegments unpack_segments[2];
} TfxKernels;

extern const TfxKernels tfx_kernels_c;
extern const TfxKernels tfx_kernels_sse2;
extern const TfxKernels tfx_kernels_avx2;
extern const TfxKernels tfx_kernels_avx512;
extern const TfxKernels tfx_kernels_neon;

#endif
