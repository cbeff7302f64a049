/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver.h: FIR filters on the CPU, from one tap to minutes of them.
 *
 * TfxConvolverTaps is an impulse response made ready to run: immutable,
 * reference-counted, for any thread.  TfxConvolver runs it over blocks and
 * holds the state, for one thread at a time.
 *
 *   y[n] = sum_k taps[k] x[n - k], with no delay added.
 *
 * A matrix of kernels leads from each input to each output.  Each input is transformed
 * once, the products of an output are summed up, and the sum is transformed back once.
 *
 * Three forms, chosen by what they cost (convolver-layout.c):
 *
 *   direct        sums of products.  Any split of a stream into blocks gives
 *                 the same output to the bit.
 *   block         overlap-save: the samples of a call, and the taps' length of
 *                 history, in one transform.
 *   partitioned   the taps cut into partitions that grow towards the end.  The
 *                 first taps are summed up directly or, where a call covers a
 *                 whole block of the grid, transformed too; the work for long
 *                 partitions is spread over the blocks before they are due.
 *
 * Memory, in values of 4 bytes for float and 8 for double, for K taps and
 * blocks of N frames (taken as 1024 to 16384): the taps at most 4 K + 4 N
 * (direct: K, or 2 K); state, tables and scratch at most 8 K + 16 N + 16384 for each
 * channel, however many kernels a matrix has.  Long partitioned taps take about 2 K, a channel 4 to 6 K.
 *
 * Accuracy: direct, in float -150 dB where it is asked for (TFX_FIR_DIRECT: sums in
 * double); where it is only what costs least, -145 dB; -290 dB in double.  By transforms,
 * better than -128 dB and -280 dB.  A matrix rounds each term and their sum: -147 dB.
 *
 * Zeros before the taps (n_leading) delay the input: a line is read further
 * back, and partitions get their input later.
 *
 * A sample that is not finite, or has a magnitude above 2^100 (2^1000 in
 * double), counts as 0. */
#ifndef TFX_CONVOLVER_H
#define TFX_CONVOLVER_H

#include "tfx.h"
#include "design/weight.h"

typedef struct TfxConvolverTaps TfxConvolverTaps;
typedef struct TfxConvolver TfxConvolver;

typedef struct TfxConvolverSpec
{
  const double *taps; /* taps[n_kernels][n_taps] */
  size_t n_taps;      /* 1 to TFX_FIR_MAX_TAPS */
  /* Taps at both ends, of all kernels, that are 0: they cost nothing but the
   * memory of the past; less than n_taps in all. */
  size_t n_leading, n_trailing;
  /* From the first tap of all kernels that is not 0 to the last; 0: all that are left. */
  size_t n_sounding;
  unsigned
      n_kernels; /* 1, for all channels, or n_channels; any with a matrix */
  unsigned n_channels;
  /* [n_channels][n_channels]: for each output and input the number of the kernel, or -1;
   * at least one kernel.  NULL: each channel is filtered alone. */
  const int *matrix;
  TfxSample precision; /* of samples and sums */
  TfxFirMethod method;
  size_t block_frames; /* how long the blocks are going to be, 0: not known.
                          * Other lengths work, and cost more */
  const char *kernel;  /* c, sse2, avx2, avx512; the machine must have it */
} TfxConvolverSpec;

/* Copies the taps.  0, -EINVAL (a number out of range), -ERANGE (a tap of 2^100
 * or more in float, 2^1000 in double, or not finite), or -ENOMEM. */
int
tfx_convolver_taps_new (const TfxConvolverSpec *spec, TfxConvolverTaps **taps);
TfxConvolverTaps *tfx_convolver_taps_ref (TfxConvolverTaps *taps);
void tfx_convolver_taps_unref (TfxConvolverTaps **taps);

/* Scratch memory to fill taps of the same shape.  0 or -ENOMEM. */
typedef struct TfxConvolverFiller TfxConvolverFiller;
int tfx_convolver_filler_new (const TfxConvolverTaps *taps,
    TfxConvolverFiller **filler);
void tfx_convolver_filler_free (TfxConvolverFiller **filler);

/* Other values for taps that nobody else holds; nothing else of the spec differs
 * from the one that they were made from.  Allocates nothing.  False if somebody
 * holds them, or a tap is too large. */
bool tfx_convolver_taps_refill (TfxConvolverTaps *taps,
    const TfxConvolverSpec *spec, TfxConvolverFiller *filler);

/* The form in words, such as "partitioned 256x16 2048x30", static to taps. */
const char *tfx_convolver_taps_text (const TfxConvolverTaps *taps);

/* The cost of a filter of spec->n_taps taps, in ns for each frame and channel
 * on the machine where the costs were measured; spec->taps may be NULL.  The
 * ratio of two costs is what counts: two filters in series are better one
 * filter of n_a + n_b - 1 taps if that costs less than both. */
double tfx_convolver_cost (const TfxConvolverSpec *spec);

/* A convolver at rest; takes its own reference.  0 or -ENOMEM. */
int tfx_convolver_new (TfxConvolverTaps *taps, TfxConvolver **convolver);
/* Clears the caller's pointer. */
void tfx_convolver_free (TfxConvolver **convolver);

/* Filters in to out: both of n_channels and the same number of frames, of any
 * type and strides; the same memory with the same type and strides, or memory
 * that does not overlap.  Allocates nothing.  Returns in how many channels
 * samples were not finite. */
unsigned tfx_convolver_run (TfxConvolver *convolver, const TfxBlock *in,
    const TfxBlock *out);

/* All state to zero; a running cross-fade is ended. */
void tfx_convolver_reset (TfxConvolver *convolver);

/* The state: the last n_taps - 1 frames of input, double[n_channels][n_taps -
 * 1], the oldest first.  Setting it has the effect of feeding
 * the convolver with them, in less time. */
void tfx_convolver_get_history (const TfxConvolver *convolver, double *history);
void tfx_convolver_set_history (TfxConvolver *convolver, const double *history);

/* A convolver at rest takes over the history of another one, the source, a
 * little with each block: the work of each call is bounded.
 *
 * start: from now on.  False if that cannot be done, as channels or precision
 * differ: the way is then to get and set the history.
 *
 * catch_up: after the source has run n_frames, at most
 * tfx_convolver_catch_up_frames() of its block_frames since the last call.  0 if
 * the convolver has the same history as the source: it can run now in place of the
 * source, or catch up further.  Otherwise a number above 0. */
size_t tfx_convolver_catch_up_frames (size_t block_frames);
bool tfx_convolver_catch_up_start (TfxConvolver *convolver,
    const TfxConvolver *source);
size_t tfx_convolver_catch_up (TfxConvolver *convolver,
    const TfxConvolver *source, size_t n_frames);

/* Whether output depends on no past input above TFX_SILENCE, not even by rounding
 * errors.  Takes no longer for long taps. */
bool tfx_convolver_is_silent (const TfxConvolver *convolver);

/* Goes to other taps over fade_frames frames (0: at once), from the next run
 * on.  While a cross-fade runs both are computed, and taps that are
 * set during it wait for its end; only the last of them count.  Allocates
 * nothing; for partitioned taps the call itself costs about what two blocks of
 * the longest partition do.
 * 0, or -EINVAL if the taps differ in channels, precision, kernel or form: a
 * new convolver that is given the history is the way then. */
int tfx_convolver_set_taps (TfxConvolver *convolver, TfxConvolverTaps *taps,
    size_t fade_frames, TfxWeight weight);
/* Frames of the running cross-fade that are left; 0 if there is none. */
size_t tfx_convolver_fade_frames (const TfxConvolver *convolver);

#endif
