/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-private.h: what the files of the FIR engine share: kernels, the
 * transform, layouts, taps, the object, and its forms. */
#ifndef TFX_CONVOLVER_PRIVATE_H
#define TFX_CONVOLVER_PRIVATE_H

#include "convolver.h"
#include "kernels.h"

/* ---- kernels (convolver-kernels.c) -----------------------------------------
 *
 * The innermost loops of the FIR engine, one table for each
 * instruction set and sample type T (float or double).
 *
 * A complex array is split: re[], im[].  A tile is one leaf of a transform
 * (see the transform): re[32], im[32].  Pointers to T are aligned to 64 bytes
 * unless a comment says otherwise; sizes are multiples of 32.  Arrays do not
 * overlap unless a comment allows it.  The loops cannot fail. */

#define TFX_LEAF 32
#define TFX_TILE (2 * TFX_LEAF)
#define TFX_LEAF_BATCH 8

/* A sum of products of tiles over all terms, sum_p x[p] h[p]: of each term the first n[0]
 * tiles x at x[0], n[1] more at x[1], and h one after the other.  That is for leaf 0;
 * those of the following leaves lie x_stride and h_stride values further on.
 *
 * `ahead` has the next sum without its newest product: that of the same x and the h
 * before each.  Leaves take turns: one of two computes both sums, reading each tile
 * once, the other adds its newest product to the sum from `ahead`. */
typedef struct TfxTileTerm
{
  const void *x[2], *h;
} TfxTileTerm;

typedef struct TfxTileSum
{
  const TfxTileTerm *terms;
  size_t n_terms; /* at least 1 */
  size_t n[2];
  size_t x_stride, h_stride;
  void *ahead;   /* T[leaf][64], or NULL */
  size_t turn;   /* even: leaf 0 computes both */
  bool is_known; /* the sum before this one was computed, and began it */
} TfxTileSum;

/* How many sums leaf number `leaf` computes.  0: it adds the newest product to a sum that
 * was begun before. */
static inline unsigned
tfx_tile_sums (const TfxTileSum *sum, size_t leaf)
{
  if (sum->ahead && (sum->turn + leaf) % 2 == 0)
    return 2;
  return sum->ahead && sum->is_known ? 0 : 1;
}

typedef struct TfxConvolverOps
{
  /* y[n] = sum_k taps[k] x[n - k], n < n_frames, k < n_taps.  No alignment.
   * Of more than n_plain taps the largest is 0 among the others; it follows them, and
   * then its number.
   * Frames up to the next multiple of 64 are read from x, of 16 written to y.
   * Each y[n] is the same to the bit whatever n_frames is. */
  void (*direct) (void *y, const void *x, const void *taps, size_t n_taps,
      size_t n_frames);
  size_t n_plain;

  /* The same with taps and sums in double.  Frames from n_taps + 6 before x on are
   * read. */
  void (*direct_exact) (void *y, const void *x, const void *taps, size_t n_taps,
      size_t n_frames);

  /* Split n_blocks polynomials of radix * m coefficients into radix of m, and
   * join them again; radix 2, 3 and 4 at index 0 to 2.  factors are those
   * of the pass, see convolver-transform.c.  Only the first n_columns of each m
   * coefficients are done.  split: src may be dst; it needs no alignment. */
  void (*split[3]) (void *re, void *im, const void *src_re, const void *src_im,
      const void *factors, size_t n_blocks, size_t m, size_t n_columns);
  void (*join[3]) (void *re, void *im, const void *factors, size_t n_blocks,
      size_t m, size_t n_columns);

  /* n_leaves leaves at re, im, transformed, to tiles, stride values apart.
   * Number i of the functions takes a group, 4 << i polynomials of 8 coefficients, at a
   * time, up to max_lanes; n_leaves is a multiple of 1 << i, the weights are made for
   * it. */
  size_t max_lanes;
  void (*leaves_forward[3]) (void *tiles, size_t stride, const void *re,
      const void *im, const void *weights, size_t n_leaves);
  /* Tiles transformed back, to re, im, or, if h is not NULL, their products with those
   * at h. */
  void (*leaves_back[3]) (void *re, void *im, const void *tiles, size_t stride,
      const void *h, size_t h_stride, const void *weights, size_t n_leaves);
  /* For each of n_leaves leaves from `first` on the sum of products, to tiles that follow
   * each other. */
  void (*sums) (void *tiles, const TfxTileSum *sum, size_t first,
      size_t n_leaves);

  /* y += a; any n, no alignment. */
  void (*add) (void *y, const void *a, size_t n);

  /* True if no sample is infinite, NaN or beyond what a transform can carry
   * (2^100 for float, 2^1000 for double); any n, no alignment. */
  bool (*is_sound) (const void *x, size_t n);
} TfxConvolverOps;

/* Costs in ns on the machine where bench_fir measured them; the ratios are what
 * counts. */
typedef struct TfxConvolverCost
{
  double direct;       /* a tap and a frame, direct form */
  double direct_call;  /* a tap, whatever the number of frames of the call */
  double direct_frame; /* a frame, whatever the number of taps, */
  size_t direct_few;   /* if there are more taps than this */
  double sum_near;     /* a product of a tile sum, all tiles in 24 KiB */
  double sum;          /* in 512 KiB, for two blocks at a time */
  double sum_far;      /* in 16 MiB */
  /* a leaf's transform, one way, with one product on the way back, in groups of 1, 2
   * and 4; where there are no such groups, in the largest */
  double leaf[3];
  double sum_leaf; /* the fixed cost of a sum in place of that product */
  size_t
      near_size; /* the largest transform whose values and tiles take 32 KiB */
  double pass;   /* a complex value through a split or join of radix 4 */
  double call;   /* fixed cost of a block of one channel */
  double head;   /* and of one of the first level of partitions */
} TfxConvolverCost;

typedef struct TfxConvolverKernels
{
  const char *name;
  TfxConvolverOps ops[2]; /* by TfxSample */
  /* On processors that run vectors in halves, and on those that do not. */
  TfxConvolverCost cost[2], whole[2];
} TfxConvolverKernels;

static inline const TfxConvolverCost *
tfx_convolver_costs (const TfxConvolverKernels *kernels, TfxSample type)
{
  return tfx_cpu_halves_avx512 () ? &kernels->cost[type]
                                  : &kernels->whole[type];
}

extern const TfxConvolverKernels tfx_convolver_kernels_c;
extern const TfxConvolverKernels tfx_convolver_kernels_sse2;
extern const TfxConvolverKernels tfx_convolver_kernels_avx2;
extern const TfxConvolverKernels tfx_convolver_kernels_avx512;
extern const TfxConvolverKernels tfx_convolver_kernels_neon;

/* The kernels called name (c, sse2, avx2, avx512, neon), NULL if this build has
 * none of that name.  Whether the machine can run them the caller knows.  c is what
 * every machine of the architecture has: sse2, neon, or plain C. */
const TfxConvolverKernels *tfx_convolver_kernels_for (const char *name);

/* Value number i of an array of the type. */
static inline void
tfx_convolver_set_value (TfxSample type, void *array, size_t i, double value)
{
  if (type == TFX_SAMPLE_F32)
    ((float *)array)[i] = (float)value;
  else
    ((double *)array)[i] = value;
}

/* ---- the transform (convolver-transform.c) ---------------------------------
 *
 * A product of polynomials modulo z^N - i, N complex values for 2 N real ones.  One
 * spectrum can be multiplied with several, and a sum of products be transformed back as
 * one, times N. */

#define TFX_FFT_MAX_PASSES 14
/* The sizes: 32 times a power of two, or that times three. */

typedef struct TfxFftPass
{
  unsigned radix;
  size_t n_blocks, m;  /* n_blocks polynomials of radix * m coefficients */
  const void *factors; /* T[n_blocks][radix - 1][2] */
} TfxFftPass;

typedef struct TfxFft
{
  TfxSample type; /* T */
  size_t size;    /* N */
  size_t n_leaves;
  unsigned group; /* leaves of a group are 1 << group */
  const TfxConvolverOps *ops;
  size_t n_passes;
  TfxFftPass passes[TFX_FFT_MAX_PASSES];
  void *factors; /* of all passes */
  void *weights; /* T[n_leaves][64], see convolver-transform_tmpl.c */
} TfxFft;

/* The numbers of a transform of a size that is one, without its tables; not to
 * be cleared. */
void tfx_fft_plan (TfxFft *fft, size_t size, const TfxConvolverOps *ops);

/* The radix of the first pass for n_leaves > 1. */
unsigned tfx_fft_radix (size_t n_leaves);

/* 0 or -ENOMEM; the object is then as after tfx_fft_clear(). */
int tfx_fft_init (TfxFft *fft, const TfxConvolverOps *ops, TfxSample type,
    size_t size);

/* The index of value k (real) of polynomial number `quarter` of a leaf, in consecutive
 * tiles. */
size_t tfx_fft_place (const TfxFft *fft, size_t leaf, size_t quarter, size_t k);

void tfx_fft_clear (TfxFft *fft);

/* Part number `part` of pass number i (from 0) of n_passes: from a + i b, or in
 * place, to re, im.  All of T[size]; a and b need no alignment.  n_parts is 1 or a
 * power of two, and size then one of at least 128 n_parts. */
void tfx_fft_split (const TfxFft *fft, size_t i, size_t part, size_t n_parts,
    void *re, void *im, const void *a, const void *b);

/* The passes undone, number n_passes - 1 first, each in place. */
void tfx_fft_join (const TfxFft *fft, size_t i, size_t part, size_t n_parts,
    void *re, void *im);

/* n_leaves leaves from first on, both multiples of a group's, after the last split, to tiles that are
 * stride values apart. */
void tfx_fft_leaves_forward (const TfxFft *fft, size_t first, size_t n_leaves,
    const void *re, const void *im, void *tiles, size_t stride);

/* n_leaves leaves from first on: sums of products, transformed back.  The sum
 * describes leaf 0. */
void tfx_fft_leaves_back (const TfxFft *fft, size_t first, size_t n_leaves,
    const TfxTileSum *sum, void *re, void *im);

/* All of it: a + i b to tiles, with re, im for scratch. */
void tfx_fft_forward (const TfxFft *fft, const void *a, const void *b, void *re,
    void *im, void *tiles, size_t stride);

/* All of it: sums of products to re, im. */
void
tfx_fft_back (const TfxFft *fft, const TfxTileSum *sum, void *re, void *im);

/* ---- the form in which a filter costs least (convolver-layout.c) ----------- */

typedef enum
{
  TFX_CONVOLVER_DIRECT,
  TFX_CONVOLVER_BLOCK,
  TFX_CONVOLVER_PARTITIONED
} TfxConvolverForm;

#define TFX_CONVOLVER_MAX_LEVELS 6
/* The least partitions for sums that are computed for two blocks at a time, so that
 * spectra are read half as often. */
#define TFX_CONVOLVER_AHEAD_PARTS 6
/* Frames that are worked on at a time; longer blocks are cut. */
#define TFX_CONVOLVER_MAX_SEGMENT ((size_t)16384)
#define TFX_CONVOLVER_MAX_LEVEL ((size_t)1 << 17) /* the longest partition */

/* n_parts partitions of size taps from tap `first` on. */
typedef struct TfxConvolverLevel
{
  size_t size, n_parts, first;
  size_t n_step; /* block: frames that one transform gives */
} TfxConvolverLevel;

/* block: sizes to choose from for each call, the largest first.
 * partitioned: level 0 is the head, first = 0, whose blocks are transformed
 * as they come.  first = 2 size for every other level: its work is spread
 * over a block. */
typedef struct TfxConvolverLayout
{
  TfxConvolverForm form;
  size_t n_levels;
  TfxConvolverLevel levels[TFX_CONVOLVER_MAX_LEVELS];
  size_t n_few; /* block: the most frames that are summed up directly */
  double cost;  /* ns for a frame of one channel */
} TfxConvolverLayout;

/* The one that costs least. */
void tfx_convolver_layout_choose (const TfxConvolverSpec *spec,
    const TfxConvolverKernels *kernels, TfxConvolverLayout *layout);

/* ns for a leaf of a transform of `size`, one way. */
double
tfx_convolver_layout_leaf_cost (const TfxConvolverCost *cost, size_t size);

/* ns for all passes of a transform of `size`, one way. */
double
tfx_convolver_layout_pass_cost (const TfxConvolverCost *cost, size_t size);

/* ns for a transform of `size` there, and back after one product. */
double
tfx_convolver_layout_step_cost (const TfxConvolverCost *cost, size_t size);

/* block: how many of n frames come next, and by which level (n_levels: direct): by the
 * smallest that gives all. */
size_t tfx_convolver_layout_next (const TfxConvolverLayout *layout, size_t n,
    size_t *level);

bool tfx_convolver_layout_is_equal (const TfxConvolverLayout *a,
    const TfxConvolverLayout *b);

/* ---- which kernels lead where (convolver-paths.c) ---------------------------- */

#define TFX_CONVOLVER_NONE UINT32_MAX

/* A term of an output: an input, by its number among those in use, and its kernel. */
typedef struct TfxConvolverPath
{
  uint32_t in, kernel;
} TfxConvolverPath;

/* Inputs and outputs without a kernel take no work: the others are numbered.  Without a
 * matrix each channel is an input and an output, of one path. */
typedef struct TfxConvolverPaths
{
  bool is_matrix;
  unsigned n_ins, n_outs;
  size_t n, most;   /* paths of all outputs, and the most of one */
  uint32_t *ins;    /* [n_ins]: channels */
  uint32_t *in_of;  /* [n_channels]: numbers of inputs, or TFX_CONVOLVER_NONE */
  uint32_t *out_of; /* likewise */
  uint32_t *firsts; /* [n_outs + 1]: the first path of each output */
  TfxConvolverPath *paths; /* by output */
} TfxConvolverPaths;

/* The numbers of inputs, outputs and paths of a valid spec; no arrays. */
TfxConvolverPaths tfx_convolver_paths_count (const TfxConvolverSpec *spec);

/* NULL without memory; for free(). */
TfxConvolverPaths *tfx_convolver_paths_new (const TfxConvolverSpec *spec);

bool tfx_convolver_paths_are_equal (const TfxConvolverPaths *a,
    const TfxConvolverPaths *b, unsigned n_channels);

/* ---- taps and the object (convolver-taps.c, convolver.c) ------------------- */

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
  size_t n_sounding;        /* n_core without the zeros at both ends */
  unsigned n_kernels, n_channels;
  TfxConvolverPaths *paths;
  TfxSample precision;
  size_t block_frames;
  bool is_exact; /* the direct form was asked for: in double */
  const TfxConvolverKernels *kernels;
  TfxConvolverLayout layout;
  char text[128];

  /* T, or double if is_exact, [n_kernels][n_direct + 2]: all taps, or those of the
   * first partition. */
  void *direct;
  size_t n_direct;

  /* Spectra of the partitions of each level, over the transform's size,
   * T[n_kernels][leaf][partition][64], the last partition first. */
  void *spectra[TFX_CONVOLVER_MAX_LEVELS];
  /* block: makes the spectra when they are first used; NULL: they are there. */
  TfxConvolverFiller *filler;
};

/* block: makes the spectra, where that was put off. */
void tfx_convolver_taps_fill_block (TfxConvolverTaps *taps);

/* As tfx_convolver_taps_new(), in a layout of one's own; NULL for the best. */
int tfx_convolver_taps_lay_out (const TfxConvolverSpec *spec,
    const TfxConvolverLayout *layout, TfxConvolverTaps **taps);

/* The direct form: y[n] = sum over k < n_direct of direct[k] x[n - k], for n_frames
 * and no more.  x is the input of channel 0; channels lie stride values apart. */
void tfx_convolver_taps_sum_up (const TfxConvolverTaps *taps, unsigned out,
    void *y, const void *x, size_t stride, size_t n_frames);

typedef struct TfxConvolverOverlap TfxConvolverOverlap;
typedef struct TfxConvolverPartitions TfxConvolverPartitions;
typedef struct TfxConvolverWays TfxConvolverWays;

/* A convolver that takes over the history of another one (convolver-past.c). */
typedef struct TfxConvolverCatchUp
{
  uint64_t begin; /* of the past, among the source's frames */
  bool is_cut;    /* a longer one was wanted: it fades in over `rise` frames */
  size_t rise;
  uint64_t at;    /* the next of the source's frames to be copied */
  bool is_copied; /* all of the past; now it is transformed */
  double credit;  /* ns of work that may be done now; may be below 0 */
} TfxConvolverCatchUp;

struct TfxConvolver
{
  size_t n_taps, n_leading, n_core;
  unsigned n_channels;
  TfxSample precision;
  size_t value_size; /* of T */
  const TfxConvolverOps *ops;
  const TfxKernels *copies;
  TfxConvolverCost cost;
  TfxConvolverLayout layout;

  /* Both compute from the same input.  One is NULL but in a cross-fade. */
  TfxConvolverTaps *fade_pair[2];
  unsigned active; /* the one in force, or that fades out */
  size_t fade_done, fade_frames;
  TfxWeight weight;
  TfxConvolverTaps *waiting; /* for the end of the cross-fade, or NULL */
  size_t waiting_fade_frames;
  TfxWeight waiting_weight;
  TfxConvolverTaps *retired[2]; /* freed by a call that may block */

  void *output; /* T[n_channels][output_stride]: a segment */
  size_t output_stride;
  uint64_t n_run; /* frames that have come, counted from TFX_CONVOLVER_START */
  uint64_t known; /* input before this frame is unknown; 0: all is known */
  TfxConvolverCatchUp catch_up;
  /* partitioned: ns of work that is done before it is due; and that of another convolver
   * beside it, which has its turn first */
  double work_ahead, work_beside;
  /* partitioned: ns for a frame of all channels, by the model */
  double mean_work;
  void *other;        /* T[output_stride]: what fades in */
  TfxTileTerm *terms; /* scratch: of one output */
  TfxFft fft[TFX_CONVOLVER_MAX_LEVELS];
  const TfxConvolverWays *ways;       /* of the form */
  TfxConvolverOverlap *overlap;       /* forms direct and block */
  TfxConvolverPartitions *partitions; /* form partitioned */
  size_t n_window; /* frames that output depends on, be it by rounding */
  size_t n_quiet;  /* frames since the last one above TFX_SILENCE */
  size_t n_kept;   /* frames that the form keeps */
  void *arena;     /* all arrays */
};

/* Room for arrays, laid out twice: without base for the size, then to place
 * them.  Sizes are powers of two, and what lies a multiple of 4096 bytes apart shares the
 * lines of the first-level cache, and its loads wait for stores: so there is a little room
 * behind large ones. */
typedef struct TfxArena
{
  char *base;
  size_t used;
} TfxArena;

/* A quarter of 4096 bytes and a line. */
#define TFX_ARENA_APART 1088

static inline void *
tfx_arena_take (TfxArena *arena, size_t n_bytes)
{
  const size_t at = arena->used;

  arena->used += (n_bytes + 63) / 64 * 64;
  if (n_bytes >= 2048)
    arena->used += TFX_ARENA_APART;
  return arena->base ? arena->base + at : NULL;
}

/* Value number i of an array of T. */
static inline void *
tfx_convolver_at (const TfxConvolver *c, const void *array, size_t i)
{
  return (char *)array + i * c->value_size;
}

static inline double
tfx_convolver_get_value (TfxSample type, const void *values, size_t i)
{
  return type == TFX_SAMPLE_F32 ? (double)((const float *)values)[i]
                                : ((const double *)values)[i];
}

static inline const TfxConvolverPaths *
tfx_convolver_paths (const TfxConvolver *c)
{
  return c->fade_pair[c->active]->paths;
}

/* How many inputs there are for each output, and paths. */
static inline double
tfx_convolver_paths_ins (const TfxConvolverPaths *paths)
{
  return (double)paths->n_ins / (double)paths->n_outs;
}

static inline double
tfx_convolver_paths_mean (const TfxConvolverPaths *paths)
{
  return (double)paths->n / (double)paths->n_outs;
}

/* How many of the last of n values are silence. */
size_t
tfx_convolver_count_quiet (const TfxConvolver *c, const void *values, size_t n);

/* Samples that are not sound (TfxConvolverOps) become 0. */
void tfx_convolver_clean (const TfxConvolver *c, void *values, size_t n);

/* The spectra of a kernel. */
static inline const void *
tfx_convolver_spectra (const TfxConvolver *c, const TfxConvolverTaps *taps,
    size_t level, size_t kernel)
{
  const TfxConvolverLevel *l = &taps->layout.levels[level];
  return tfx_convolver_at (c, taps->spectra[level],
      kernel * 2 * l->size * l->n_parts);
}

/* ---- the forms: direct and block (convolver.c), partitioned (convolver-partitions.c) ---
 *
 * A segment of a block goes through these steps:
 *
 *   n = begin (n_left)
 *   n frames to input ()
 *   for each channel: received (channel, n)
 *   for each output: for each side in use: render (side, out, n, y)
 *   end (n)
 *
 * Without a matrix a channel's output comes after its input, and before that of the next
 * channel.  prime, seek and restore may be NULL. */

struct TfxConvolverWays
{
  /* Takes the arrays from the arena, and sets their addresses if it has a base.
   * Returns the longest segment. */
  size_t (*place) (TfxConvolver *c, TfxArena *arena);
  void (*reset) (TfxConvolver *c);
  size_t (*begin) (TfxConvolver *c, size_t n_left);
  /* T[n_channels][*stride] */
  void *(*input) (TfxConvolver *c, size_t *stride);
  void (*received) (TfxConvolver *c, unsigned channel, size_t n);
  void (*render) (TfxConvolver *c, unsigned side, unsigned out, size_t n,
      void *y);
  void (*end) (TfxConvolver *c, size_t n);
  /* Makes a side ready whose taps are new. */
  void (*prime) (TfxConvolver *c, unsigned side);
  /* The input `age` frames ago, at most *n frames of it, which becomes the number
   * that lies there in a row; NULL if it was not kept. */
  void *(
      *past) (const TfxConvolver *c, unsigned channel, size_t age, size_t *n);
  /* Prepares restore() after n_run frames of past were written. */
  void (*seek) (TfxConvolver *c);
  /* Transforms the past, from frame `known` on, for about *credit ns, which it subtracts;
   * INFINITY: all at once.  True if the output is right from the next frame on. */
  bool (*restore) (TfxConvolver *c, double *credit);
};

extern const TfxConvolverWays tfx_convolver_partitions;

#endif
