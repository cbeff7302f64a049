/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels.h: the innermost loops of the CPU backend, one table for each
 * instruction set.
 *
 * A cascade runs in a shape, which is a row of the table `shapes`.  The row has the layout of
 * the lanes, the kernel, its limits and its measured cost; from it follow the choice
 * (cascade-shapes.c), the coefficients and the state (cascade-groups.c).
 *
 * Kernels cannot fail. */
#ifndef TFX_KERNELS_H
#define TFX_KERNELS_H

#include "design/svf.h"
#include "design/weight.h"

typedef enum
{
  TFX_FORM_TEXTBOOK,
  TFX_FORM_DIRECT,
  TFX_FORM_FACTORED
} TfxForm;

/* Rows of n samples, stride samples from one to the next, that lie side by side,
 * or, if stride is 1, in planes. */
typedef struct TfxRows
{
  void *data;
  TfxSample type;
  ptrdiff_t stride;
  ptrdiff_t apart; /* samples from one plane to the next, or 0 */
  unsigned n;
} TfxRows;

/* Contents of the lanes of a vector of W numbers. */
typedef enum
{
  TFX_LAYOUT_PIPELINED, /* W / C sections of C channels, section after section */
  TFX_LAYOUT_FRAMES, /* W / C frames of C channels through all sections at once */
  TFX_LAYOUT_PARALLEL, /* W / C sections of C channels, all with the same input */
  TFX_LAYOUT_MERGED /* W / C cascades of C channels, all with the same input */
} TfxLayout;

/* Runs sections over n frames, from `in` to `out`, which are the same memory or apart.
 * n_sections counts those of a pass (PIPELINED), of each cascade (MERGED), or all.  state, gain
 * and coef are aligned to 64 bytes.  Returns whether all numbers of the state are finite.
 *
 * PIPELINED.  For each vector coef has TFX_SECTION_COEF vectors, state TFX_STATE vectors.  Lane i
 * is channel i % C of a section; idle lanes come first.
 *   gain = g of each lane;  coef =
 *     textbook: b0, b1, b2, a1, a2:  transposed direct form II, as tfx.h has it
 *     direct:   b0, c1, c2, a1, a2
 *       y = b0 x + s;  s' = c1 x + c2 x[n-1] - a2 s[n-1] - a1 s
 *     factored: c, -, r, a1, a2, for an input times g
 *       y = x + c s;  s' = x + r x[n-1] - a2 s[n-1] - a1 s
 *   state = s, s[n-1], x[n-1];  or, if textbook or merged (TfxShape.s2_vectors),
 *           s, -, s2 = c2 x[n-1] - a2 s[n-1], where factored has r for c2.
 *   Pairs have 2 W numbers in place of W, and the same coefficients for all channels.
 *
 * FRAMES.  A group has max_vectors W / C frames.  Groups are counted from the frame where the
 * state was set.
 *   coef = the columns of H and B for each frame of a group, then those of O and A for each
 *   number of state: y = H x + O s, s' = B x + A s, as many vectors as y and s;
 *   state = s1, s2 of each section at the start of the last group, C numbers each, to whole
 *   vectors; x[n][C] of the unfinished group, room for TFX_GROUP samples; n.
 *
 * PARALLEL.  coef = c1, c2, a1, a2 for each vector;  gain = d
 *     y = d x + sum (c1 u[n-1] + c2 u[n-2]);  u = x - a1 u[n-1] - a2 u[n-2]
 *   state = u[n-1], u[n-2], - for each vector.
 *
 * MERGED.  As direct without s2; coef has g of the lanes after the sections of a cascade.
 *   gain = d;  C = W: gain[W] is the number of cascades, state and coef are one after the other.
 *     y = d x + sum (g times the output of a lane) */
typedef bool (*TfxCascadeKernel) (const TfxRows *in, const TfxRows *out,
    size_t n, double *state, const double *gain, const double *coef,
    unsigned n_sections);

#define TFX_SECTION_COEF 5
#define TFX_STATE 3
#define TFX_PARALLEL_COEF 4
#define TFX_MERGED_COEF(n_sections) (TFX_SECTION_COEF * (n_sections) + 1)

/* The most vectors of a pass: more do not fit the registers. */
#define TFX_MAX_VECTORS 4
/* The most sections of FRAMES, times C, and samples of a group. */
#define TFX_FRAMES_MAX_SECTIONS 4
#define TFX_GROUP 8
/* The most sections of the parallel form. */
#define TFX_PARALLEL_MAX_SECTIONS 16

/* Where the channels of `in` and `out` may be planes of floats, in place of interleaved. */
typedef enum
{
  TFX_PLANAR_NEVER,
  TFX_PLANAR_ONE_PASS, /* of all sections */
  TFX_PLANAR_ALWAYS
} TfxPlanar;

/* ns for a frame: of a pass, for each vector in it, and for missing channels. */
typedef struct TfxCost
{
  double pass, vector, partial;
} TfxCost;

typedef struct TfxShape
{
  TfxLayout layout;
  TfxForm form;      /* of PIPELINED */
  unsigned channels; /* C */
  unsigned lanes;    /* W, or 2 W of a pair of vectors */
  bool is_pair;
  unsigned min_sections, max_sections; /* of a cascade, or of a merged one */
  unsigned max_vectors;                /* of a pass, or of a group of frames */
  unsigned s2_vectors; /* least vectors of a pass with s2; 0: none */
  TfxPlanar planar;
  TfxCascadeKernel run;
  /* Where the processor runs a vector at once, and where in halves. */
  TfxCost cost[2];
} TfxShape;

/* Planes of samples, stride samples apart, to rows of n samples side by side; and
 * back.  Not in place. */
typedef void (*TfxInterleaveKernel) (void *rows, const void *planes,
    ptrdiff_t stride, unsigned n, size_t n_frames);
typedef void (*TfxDeinterleaveKernel) (void *planes, ptrdiff_t stride,
    const void *rows, unsigned n, size_t n_frames);

/* out[n] = gain in[n], in place or apart; sum[n] += x[n]; and out[n] = in[n], or 0 if
 * that is not finite. */
typedef void (*TfxScaleKernel) (void *out, TfxSample to, const void *in,
    TfxSample from, size_t n, double gain);
typedef void (*TfxAddKernel) (double *sum, const double *x, size_t n);
typedef void (
    *TfxCleanKernel) (double *out, const void *in, TfxSample from, size_t n);

/* out[n] = sum over k < n_rows of gains[k] rows[k][n], added up in this order; out
 * may be a row. */
#define TFX_SUM_MAX_ROWS 5
typedef void (*TfxSumKernel) (void *out, TfxSample to,
    const double *const *rows, const double *gains, unsigned n_rows, size_t n);

/* x += w (y - x), x and y [n_frames][n_channels]; w of frame i is that of done + i + 1
 * of `length` frames.  All instruction sets give the same bits. */
typedef void (*TfxFadeKernel) (double *x, const double *y, size_t n_frames,
    unsigned n_channels, TfxWeight weight, size_t done, size_t length);

/* out[n_frames][n_channels] = gains[n_frames] in, in place or apart; gains has room
 * for 8 more.  All instruction sets give the same bits. */
typedef void (*TfxRampKernel) (void *out, TfxSample to, const void *in,
    TfxSample from, size_t n_frames, unsigned n_channels, const double *gains);

/* Sections as state-variable filters whose values move, over up to a cell of the
 * grid; see ramp.h.  All instruction sets give the same bits.
 *
 * What their values make of them at each frame of a cell:
 *   values = g, k, low, band, high at the first frame, rates = their change from
 *   frame to frame: each [5][stride];
 *   coef = [n_sections][TFX_SVF_COEF][TFX_GRID_FRAMES]. */
typedef void TfxMovingCoefKernel (const double *values, const double *rates,
    size_t stride, size_t n_sections, double *coef);

/* Runs them over x[n][n_channels] in place.  coef begins with the coefficients of the first
 * frame;  state = m[n_sections][stride], l[n_sections][stride], channel by channel. */
typedef void TfxMovingKernel (double *x, size_t n, unsigned n_channels,
    double *state, size_t stride, const double *coef, size_t n_sections);

TfxMovingCoefKernel tfx_moving_coef_c, tfx_moving_coef_sse2,
    tfx_moving_coef_avx2, tfx_moving_coef_vl, tfx_moving_coef_avx512,
    tfx_moving_coef_neon;
TfxMovingKernel tfx_moving_c, tfx_moving_sse2, tfx_moving_avx2, tfx_moving_vl,
    tfx_moving_avx512, tfx_moving_neon;

typedef struct TfxKernels
{
  const char *name;
  unsigned width; /* W */
  const TfxShape *shapes;
  size_t n_shapes;
  /* Shapes of vectors half as wide, or NULL. */
  const struct TfxKernels *half;
  /* Whether this processor runs a vector in halves; NULL: none does. */
  bool (*halves) (void);
  /* ns for a frame and channel to make a frame's channels dense, and for a sample to add a
   * cascade's output. */
  double packing, adding;
  TfxMovingCoefKernel *moving_coef;
  TfxMovingKernel *moving, *moving_one; /* a single channel */
  TfxInterleaveKernel interleave[2];
  TfxDeinterleaveKernel deinterleave[2];
  TfxScaleKernel scale;
  TfxAddKernel add;
  TfxCleanKernel clean;
  TfxSumKernel sum;
  TfxFadeKernel fade;
  TfxRampKernel ramp;
} TfxKernels;

extern const TfxKernels tfx_kernels_c;
extern const TfxKernels tfx_kernels_sse2;
extern const TfxKernels tfx_kernels_vl; /* half of avx512 */
extern const TfxKernels tfx_kernels_avx2;
extern const TfxKernels tfx_kernels_avx512;
extern const TfxKernels tfx_kernels_neon;

/* Those of that name, which is one of them (sets.c). */
const TfxKernels *tfx_kernels_for (const char *name);

#endif
