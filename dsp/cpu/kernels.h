/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels.h: the innermost loops of the CPU backend, one table for each
 * instruction set.
 *
 * A section runs in one of these forms:
 *
 *   textbook   transposed direct form II as tfx.h has it: the reference.
 *   direct     the same without its output fed back.
 *   factored   b0 taken out: one operation less of five.
 *
 * Its state in the last two is s, the s before it and the input before it; see
 * cascade-forms.c.  What lies in the lanes of a vector:
 *
 *   wave       W / C sections of C channels; C = W: channels alone.
 *   frames     W / C frames of C channels, 1 or 2, through all sections at
 *              once: the block form of the whole cascade.
 *   parallel   W / C sections of C channels, 1, 2 or W, that all hear the input.
 *   abreast    W / C cascades of C channels, 1, 2 or W, that all hear the input.
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

/* Vectors of coefficients and of state for a vector of sections. */
#define TFX_WAVE_COEF 5
#define TFX_STATE 3

/* The most vectors of a pass: more do not fit the registers. */
#define TFX_WAVE_MAX_VECTORS 4

/* Runs n_sections sections, in as many vectors as they fill, over n frames, from
 * rows to rows of the same memory or apart, all aligned to 64 bytes but the rows.
 *
 *   gain = g of each lane;  coef = for each vector
 *     direct:   b0, c1, c2, a1, a2
 *       y = b0 x + s;  s' = c1 x + c2 (last x) - a2 (last s) - a1 s
 *     factored: c, -, r, a1, a2;  first x = g x
 *       y = x + c s;  s' = x + r (last x) - a2 (last s) - a1 s
 *     textbook: b0, b1, b2, a1, a2, and its state is s1, -, s2;
 *   state = for each vector s, last s, last x; or s, -, s2 = c2 (last x) - a2 (last s),
 *   in the form factored with r for c2;
 *   each a vector of W numbers, with C = 2 W of 2 W, but g: lane i is channel i % C of a section, the
 *   last lanes those of the last section.  With C = 2 W the coefficients of all channels are the
 *   same.
 *   W = 1 for the textbook form.
 * Returns whether all numbers of the state are finite. */
typedef bool (*TfxWaveKernel) (const TfxRows *in, const TfxRows *out, size_t n,
    double *state, const double *gain, const double *coef, unsigned n_sections);

/* Frames of a group that has begun, and has been run as far as it goes. */
typedef struct TfxPending
{
  unsigned n;  /* frames, fewer than a group has */
  double x[8]; /* [n][C] */
} TfxPending;

/* The most sections of the shape frames, times C. */
#define TFX_FRAMES_MAX_SECTIONS 4
/* Numbers of state in a column: a multiple of these, or of W if that is less. */
#define TFX_FRAMES_NUMBERS 4

/* Runs all sections over n frames.  Groups of frames_vectors W / C frames are
 * counted from where the state was set; the state is that at the start of the
 * last group, whose frames are in *pending.
 *   coef = for each frame of a group the columns of H and B that its samples go
 *   into, then for each number of state those of O and A: y = H x + O s,
 *   s' = B x + A s;  the columns are as many vectors as y and s;
 *   state = s1, s2 of each section, C numbers each, as tfx.h has them.
 * Rows of two channels may lie in planes on both sides, as floats.  Returns whether
 * all numbers of the state are finite. */
typedef bool (*TfxFramesKernel) (const TfxRows *in, const TfxRows *out,
    size_t n, double *state, const double *coef, unsigned n_sections,
    TfxPending *pending);

/* Vectors of coefficients of a vector of parts, and the most vectors with C < W. */
#define TFX_PARALLEL_COEF 4
#define TFX_PARALLEL_MAX_VECTORS 4
/* 1, 2 and W channels. */
#define TFX_PARALLEL_SHAPES 3
/* Vectors of coefficients of cascades abreast, of so many sections. */
#define TFX_ABREAST_COEF(n_sections) (TFX_WAVE_COEF * (n_sections) + 1)

/* Planes of samples, stride samples apart, to rows of n samples side by side; and
 * back.  Not in place. */
typedef void (*TfxInterleaveKernel) (void *rows, const void *planes,
    ptrdiff_t stride, unsigned n, size_t n_frames);
typedef void (*TfxDeinterleaveKernel) (void *planes, ptrdiff_t stride,
    const void *rows, unsigned n, size_t n_frames);

/* out[n] = gain in[n], in place or apart; sum[n] += x[n]; and out[n] = in[n], 0 for
 * what is not finite. */
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

/* The most log2 C + 1. */
#define TFX_MAX_SHAPES 4

/* Sections as state-variable filters whose values move, over up to a cell of the
 * grid; see ramp.h.  All instruction sets give the same bits.
 *
 * What their values make of them at each frame of a cell:
 *   values = g, k, low, band, high at the first frame, rates = how they go on from
 *   frame to frame: each [5][stride];
 *   coef = [n_sections][TFX_SVF_COEF][TFX_GRID_FRAMES]. */
typedef void TfxMovingCoefKernel (const double *values, const double *rates,
    size_t stride, size_t n_sections, double *coef);

/* Runs them over x[n][n_lanes] in place; n_lanes, a power of two up to W, is that of
 * the channels.  coef begins with the coefficients of the first frame;
 *   state = m[n_sections][stride], l[n_sections][stride], of which the lanes are
 *   the first. */
typedef void TfxMovingKernel (double *x, size_t n, unsigned n_lanes,
    double *state, size_t stride, const double *coef, size_t n_sections);

TfxMovingCoefKernel tfx_moving_coef_c, tfx_moving_coef_sse2,
    tfx_moving_coef_avx2, tfx_moving_coef_avx512, tfx_moving_coef_neon;
TfxMovingKernel tfx_moving_c, tfx_moving_sse2, tfx_moving_avx2,
    tfx_moving_avx512, tfx_moving_neon;

typedef struct TfxKernels
{
  const char *name;
  unsigned width; /* W */
  /* Waves, rows and sums of vectors half as wide, or NULL. */
  const struct TfxKernels *half;
  /* Whether this processor runs a vector in halves; NULL: none does. */
  bool (*halves) (void);
  /* One channel, section after section, textbook; if W = 1, else NULL. */
  TfxWaveKernel one;
  /* By log2 C, up to 2 W.  NULL if W = 1, and where another one costs less. */
  TfxWaveKernel direct[TFX_MAX_SHAPES], factored[TFX_MAX_SHAPES];
  /* The most vectors of a pass of theirs, with C < W, and with C = W if factored; else
   * TFX_WAVE_MAX_VECTORS. */
  unsigned wave_vectors, factored_vectors;
  /* Those with C = 2 W, two vectors in turns, take so many sections; 0: there are none. */
  unsigned paired_direct, paired_factored;
  /* Waves have s2 in passes of so many vectors: s2_wave and s2_wave_factored those with
   * C < W, the others those with C = W. */
  unsigned s2_wave, s2_wave_factored, s2_direct, s2_factored;
  TfxFramesKernel frames[2]; /* or NULL */
  unsigned frames_vectors;
  /* Sums of sections, of 1, 2 and W channels, or NULL; as TfxWaveKernel, but
   *   gain = d;  coef = c1, c2, a1, a2 for each vector
   *     y = d x + sum (c1 u' + c2 u'');  u = x - a1 u' - a2 u''
   *   state = u', u'', - for each vector.
   * Rows of 1 and 2 are as those of TfxFramesKernel; those of up to W side by side. */
  TfxWaveKernel parallel[TFX_PARALLEL_SHAPES];
  /* Cascades side by side, of 1, 2 and W channels, or NULL; as TfxWaveKernel in the form direct
   * without s2, but n_sections are those of each,
   *   gain = d;  coef has g of the lanes behind those of the sections
   *     y = d x + the sum of g (what a lane comes to).
   * W channels: gain[W] is the number of cascades; state and coef of each, one after the other.
   * Rows are as those of `parallel`. */
  TfxWaveKernel abreast[TFX_PARALLEL_SHAPES];
  TfxMovingCoefKernel *moving_coef;
  TfxMovingKernel *moving;
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
