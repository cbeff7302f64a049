/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-private.h: what the files of the FIR engine share. */
#ifndef TFX_CONVOLVER_PRIVATE_H
#define TFX_CONVOLVER_PRIVATE_H

#include "convolver-fft.h"
#include "convolver-layout.h"

/* Values that loops may read and write beyond the end of a line. */
#define TFX_CONVOLVER_PAD 64

/* A multiple of all sizes, and more than any history. */
#define TFX_CONVOLVER_START ((uint64_t)1 << 40)

/* Ready taps.  T is the precision's type. */
struct TfxConvolverTaps
{
  unsigned n_refs;
  size_t n_taps;
  size_t n_leading, n_core; /* zeros in front, and the taps that are computed */
  unsigned n_kernels, n_channels;
  TfxSample precision;
  size_t block_frames;
  bool is_reproducible;
  bool is_fft_asked; /* the direct form only where nothing else is possible */
  const TfxConvolverKernels *kernels;
  TfxConvolverLayout layout;
  size_t memory;
  char text[128];

  /* T[n_kernels][n_direct]: all taps, or those of the first partition. */
  void *direct;
  size_t n_direct;

  /* Spectra of the partitions of each level, over the transform's size,
   * T[n_kernels][leaf][partition][64], the last partition first. */
  void *spectra[TFX_CONVOLVER_MAX_LEVELS];
};

/* As tfx_convolver_taps_new(), in a layout of one's own; NULL for the best. */
int tfx_convolver_taps_lay_out (const TfxConvolverSpec *spec,
    const TfxConvolverLayout *layout, TfxConvolverTaps **taps);

typedef struct TfxConvolverLine TfxConvolverLine;
typedef struct TfxConvolverGrid TfxConvolverGrid;

/* A convolver on its way to where another one is (convolver-catch-up.c). */
typedef struct TfxConvolverCatchUp
{
  bool is_on;
  uint64_t begin; /* of the past, among the source's frames */
  bool is_cut;    /* a longer one was wanted */
  uint64_t at;    /* the next of the source's frames */
  size_t size;    /* of the longest partitions */
  bool is_right;  /* the output would be, once it is there */
  double credit;  /* ns of work that may be done now */
  size_t n_done;  /* frames in the last call */
} TfxConvolverCatchUp;

struct TfxConvolver
{
  size_t n_taps, n_leading, n_core;
  unsigned n_channels;
  TfxSample precision;
  size_t value_size; /* of T */
  const TfxConvolverOps *ops;
  TfxConvolverCost cost;
  TfxConvolverLayout layout;

  /* Both compute from the same input.  One is NULL but in a cross-fade. */
  TfxConvolverTaps *fade_pair[2];
  unsigned active; /* which of the two is heard, or fades out */
  size_t fade_done, fade_frames;
  TfxWeight weight;
  TfxConvolverTaps *waiting; /* for the end of the cross-fade, or NULL */
  size_t waiting_fade_frames;
  TfxWeight waiting_weight;
  TfxConvolverTaps *retired[2]; /* to be let go of where that may take time */

  void *output; /* T[n_channels][output_stride]: a segment */
  size_t output_stride;
  uint64_t n_run; /* frames that have come, counted from TFX_CONVOLVER_START */
  TfxConvolverCatchUp catch_up;
  bool spectra_only; /* computes spectra, but no outputs */
  void *other;       /* T[output_stride]: what fades in */
  TfxFft fft[TFX_CONVOLVER_MAX_LEVELS];
  TfxConvolverLine *line; /* forms direct and block */
  TfxConvolverGrid *grid; /* form partitioned */
  void *past;         /* the same: T[n_channels][past_length], input, what the
                           * partitions see at t at t % past_length */
  size_t past_length; /* a multiple of all levels' sizes */
  void *arena;        /* all arrays */
};

/* Room for arrays, laid out twice: without base for the size, then to place
 * them. */
typedef struct TfxArena
{
  char *base;
  size_t used;
} TfxArena;

static inline void *
tfx_arena_take (TfxArena *arena, size_t n_bytes)
{
  const size_t at = arena->used;

  arena->used += (n_bytes + 63) / 64 * 64;
  return arena->base ? arena->base + at : NULL;
}

/* Value number i of an array of T. */
static inline void *
tfx_convolver_at (const TfxConvolver *c, const void *array, size_t i)
{
  return (char *)array + i * c->value_size;
}

/* The kernel of a channel among n_kernels. */
static inline size_t
tfx_convolver_kernel (const TfxConvolverTaps *taps, size_t channel)
{
  return taps->n_kernels > 1 ? channel : 0;
}

static inline const void *
tfx_convolver_direct_taps (const TfxConvolver *c, const TfxConvolverTaps *taps,
    size_t channel)
{
  return tfx_convolver_at (c, taps->direct,
      tfx_convolver_kernel (taps, channel) * taps->n_direct);
}

/* The spectra of a level for a channel. */
static inline const void *
tfx_convolver_spectra (const TfxConvolver *c, const TfxConvolverTaps *taps,
    size_t level, size_t channel)
{
  const TfxConvolverLevel *l = &taps->layout.levels[level];
  return tfx_convolver_at (c, taps->spectra[level],
      tfx_convolver_kernel (taps, channel) * 2 * l->size * l->n_parts);
}

/* ---- one sample type to another (convolver-io.c) --------------------------- */

/* Frames [first, first + n) of a block to values[n_channels][stride], or
 * back. */
void tfx_convolver_load (const TfxConvolver *c, void *values, size_t stride,
    const TfxBlock *block, size_t first, size_t n);
void tfx_convolver_store (const TfxConvolver *c, const void *values,
    size_t stride, const TfxBlock *block, size_t first, size_t n);
/* Value number i. */
void tfx_convolver_set_value (const TfxConvolver *c, void *values, size_t i,
    double value);
double
tfx_convolver_get_value (const TfxConvolver *c, const void *values, size_t i);
/* Samples that are not sound (TfxConvolverOps) become 0. */
void tfx_convolver_clean (const TfxConvolver *c, void *values, size_t n);
/* y[i] goes from y[i] to to[i] as (start + i + 1) / length goes to 1. */
void tfx_convolver_mix (const TfxConvolver *c, void *y, const void *to,
    size_t n, size_t start, size_t length, TfxWeight weight);
double tfx_convolver_peak (const TfxConvolver *c, const void *values, size_t n);
/* The direct form: y[n] = sum over k < n_taps of taps[k] x[n - k], for n_frames
 * and no more. */
void tfx_convolver_sum_up (const TfxConvolver *c, void *y, const void *x,
    const void *taps, size_t n_taps, size_t n_frames);

/* ---- forms direct and block (convolver-line.c) and partitioned
 * (convolver-grid.c) ----------------------------------------------------------
 *
 * A segment of a block goes through these steps:
 *
 *   n = begin (n_left)
 *   n frames to input ()
 *   for each channel:
 *     received (channel, n)
 *     for each side in use: render (side, channel, n, y)
 *   end (n)
 */

/* place: takes the arrays from the arena, and sets their addresses if it has a
 * base.  Returns the longest segment. */
size_t tfx_convolver_line_place (TfxConvolver *c, TfxArena *arena);
void tfx_convolver_line_reset (TfxConvolver *c);
size_t tfx_convolver_line_begin (TfxConvolver *c, size_t n_left);
/* T[n_channels][*stride] */
void *tfx_convolver_line_input (TfxConvolver *c, size_t *stride);
void tfx_convolver_line_render (TfxConvolver *c, unsigned side,
    unsigned channel, size_t n, void *y);
void tfx_convolver_line_end (TfxConvolver *c, size_t n);
void tfx_convolver_line_get_history (const TfxConvolver *c, double *history);
void tfx_convolver_line_set_history (TfxConvolver *c, const double *history);
double tfx_convolver_line_peak (const TfxConvolver *c);
/* Where the newest n frames of the history go, at rest. */
void *
tfx_convolver_line_history (const TfxConvolver *c, unsigned channel, size_t n);
/* The input `age` frames ago, at most *n frames of it, which becomes the number
 * that lies there in a row; NULL if it was not kept. */
size_t tfx_convolver_line_n_kept (const TfxConvolver *c);
const void *tfx_convolver_line_get_past (const TfxConvolver *c,
    unsigned channel, size_t age, size_t *n);

size_t tfx_convolver_grid_place (TfxConvolver *c, TfxArena *arena);
void tfx_convolver_grid_reset (TfxConvolver *c);
size_t tfx_convolver_grid_begin (TfxConvolver *c, size_t n_left);
void *tfx_convolver_grid_input (TfxConvolver *c, size_t *stride);
void tfx_convolver_grid_received (TfxConvolver *c, unsigned channel, size_t n);
void tfx_convolver_grid_render (TfxConvolver *c, unsigned side,
    unsigned channel, size_t n, void *y);
void tfx_convolver_grid_end (TfxConvolver *c, size_t n);
/* Makes a side ready whose taps are new. */
void tfx_convolver_grid_prime (TfxConvolver *c, unsigned side);
void tfx_convolver_grid_get_history (const TfxConvolver *c, double *history);
void tfx_convolver_grid_set_history (TfxConvolver *c, const double *history);
double tfx_convolver_grid_peak (const TfxConvolver *c);
const void *tfx_convolver_grid_get_past (const TfxConvolver *c,
    unsigned channel, size_t age, size_t *n);

#endif
