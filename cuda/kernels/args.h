/* SPDX-License-Identifier: LGPL-2.1-or-later
 * args.h: what the host hands to the kernels.  Compiled by the C compiler, by
 * nvcc and by NVRTC, with the same layout. */
#ifndef TFX_KERNEL_ARGS_H
#define TFX_KERNEL_ARGS_H

/* An address on the device.  The compilers of device code take a pointer in
 * the arguments for global memory; the host has the bare number. */
#if defined(__CUDACC__) || defined(TFX_KERNEL_HOST)
#define TFX_DEVICE(type) type *
#else
#define TFX_DEVICE(type) unsigned long long
#endif

/* Sections that one group has at most.  A longer cascade is run group after
 * group within the launch. */
#define TFX_GROUP_MAX 6

/* Rows of the input matrix: the longest half of a segment. */
#define TFX_CONTROL_ROWS 32

/* Powers of the cascade's state matrix in the tables: A^(2^i), i below this.
 * Segments of 2^3 to 2^8 frames, 2^5 of them in a tile, 2^5 tiles in a node,
 * and a scan over 2^5 nodes reaches A^(2^(8 + 5 + 5 + 4)). */
#define TFX_N_POWERS 23

#define TFX_SEGMENT_MIN_LOG2 3
#define TFX_SEGMENT_MAX_LOG2 8

/* Frames of a segment that a round of step 1 takes (cascade.h). */
#define TFX_ROUND_LOG2 6

/* The tables of a group of g sections, in numbers (double, or two floats):
 *
 *   section   [g][6]       c1 c2 a1 a2 b0 r; the state that is carried is s and
 *                          s2 + r s
 *   scale     [g][2]       from s1, s2 to s, s2, and back
 *   gain      [2]          behind the group, and an unused one
 *   control   [32][2 g]    row n: A^(31 - n) B
 *   power     [23][g (g + 1) / 2][4]
 *
 * and, of the only group of a float stream in double, behind them:
 *
 *   drive     [2 g to whole fours][2 g]  A^64, turned, and rows of nought
 *             [64][2 g]    row n: A^(63 - n) B
 *             [16]         unused
 *
 * A section runs without its output being fed back, which would bring its own
 * rounding along.  Plain, or normalised, with b0 taken out and s1 = c1 s:
 *
 *   y = b0 x + s;  s' = c1 x - a1 s + s2;  s2' = c2 x - a2 s
 *   y = x + c1 s;  s' =    x - a1 s + s2;  s2' = c2 x - a2 s
 *
 * A power is block lower triangular.  Its 2 x 2 blocks are row-major, first
 * the g diagonal ones, then (row 1, column 0), (2, 0), (2, 1), (3, 0) ... */
#define TFX_TABLE_SCALE(g) (6 * (g))
#define TFX_TABLE_GAIN(g) (8 * (g))
#define TFX_TABLE_CONTROL(g) (8 * (g) + 2)
#define TFX_TABLE_POWERS(g) (TFX_TABLE_CONTROL (g) + TFX_CONTROL_ROWS * 2 * (g))
#define TFX_POWER_SIZE(g) (2 * (g) * ((g) + 1))
#define TFX_TABLE_SIZE(g)                                                      \
  (TFX_TABLE_POWERS (g) + TFX_N_POWERS * TFX_POWER_SIZE (g))
#define TFX_DRIVE_STATES(g) ((2 * (g) + 3) / 4 * 4)
#define TFX_DRIVE_SIZE(g)                                                      \
  ((TFX_DRIVE_STATES (g) + (1 << TFX_ROUND_LOG2)) * 2 * (g) + 16)

/* The tables of a launch with one group, passed as arguments, because arguments are
 * operands of the arithmetic and need no load.
 *
 *   section to control     as above
 *   half      [2]          powers: of half a round of step 1, and of a round
 *   level     [3]          for scans over segments, tiles and nodes of m frames:
 *     diagonal  [5][g][4]    of A^m, A^2m, A^4m, A^8m, A^16m
 *     below     [g (g - 1) / 2][4]  the other blocks of A^m */
#define TFX_FIXED_HALF(g) TFX_TABLE_POWERS (g)
#define TFX_LEVEL_SIZE(g) (TFX_POWER_SIZE (g) + 16 * (g))
#define TFX_FIXED_LEVEL(g, i)                                                  \
  (TFX_FIXED_HALF (g) + 2 * TFX_POWER_SIZE (g) + (i)*TFX_LEVEL_SIZE (g))
#define TFX_FIXED_SIZE(g) TFX_FIXED_LEVEL (g, 3)

/* Words of 8 bytes that one carry takes for a group of g sections, times 32:
 * see carry.h. */
#define TFX_CARRY_WORDS(g) (4 * (g)*32)

/* Samples where they lie; strides in samples. */
typedef struct TfxKernelBlock
{
  TFX_DEVICE (void) data;
  long long frame_stride, channel_stride;
  unsigned is_double;
  unsigned unused;
} TfxKernelBlock;

/* What the arguments of all kernels begin with that run one stage: out = stage (in) +
 * sum. */
typedef struct TfxKernelRun
{
  TfxKernelBlock in, out, sum;
  unsigned long long n_frames;
  unsigned n_channels;
  unsigned by_channel; /* 1: neighbouring threads take neighbouring channels */
  /* [channel]: set to 1 where a sample or a state was not finite and counted as 0. */
  TFX_DEVICE (unsigned char) cleared;
} TfxKernelRun;

typedef struct TfxCascadeArgs
{
  TfxKernelBlock in, out;
  TfxKernelBlock sum; /* double; added to the output unless its data is 0 */
  unsigned long long n_frames;
  unsigned n_channels;
  unsigned n_sections; /* of the whole cascade */
  unsigned n_groups;

  /* 1: every b0 is 1 and the gains are behind the groups, as they always are in
   * the kernels with one group. */
  unsigned normalised;
  /* 1: neighbouring threads take neighbouring channels, not frames. */
  unsigned in_by_channel, out_by_channel;

  unsigned segment_log2; /* frames of a thread's segment */
  unsigned round_log2;   /* those that are in shared memory at a time */
  unsigned lanes_log2;   /* threads of a warp that share a channel */
  unsigned n_tiles;      /* per channel */
  unsigned n_blocks;     /* channel groups: the blocks that one tile takes */
  unsigned pitch;        /* of a channel in shared memory, in samples */

  TFX_DEVICE (const void) tables;
  TFX_DEVICE (const double) state_in; /* [channel][section][2] */
  TFX_DEVICE (double) state_out;
  /* For more than one tile: the carries, all zero at first, and
   * { ticket, finished blocks, epoch }, all zero at first. */
  TFX_DEVICE (unsigned long long) carry;
  TFX_DEVICE (unsigned) control;
  /* [channel]: set to 1 where a state that was not finite was cleared. */
  TFX_DEVICE (unsigned char) cleared;
  unsigned unused; /* the size is a multiple of 16 */
} TfxCascadeArgs;

/* For the kernels with one group: the arguments, aligned to 16 bytes, and
 * TFX_FIXED_SIZE numbers of the arithmetic behind them. */

/* The last inputs of a channel, a ring: double[channel][size]. Frame -1 of a block
 * is at index `position` - 1. The frames of the block from `first` on, which later
 * blocks need, are written from `position` on, where this block reads nothing. */
typedef struct TfxKernelRing
{
  TFX_DEVICE (double) data; /* 0: none */
  unsigned long long size, position, first;
} TfxKernelRing;

typedef struct TfxKernelTap
{
  unsigned long long delay;
  double gain;
  unsigned swap;   /* from the other channel of a pair */
  unsigned parity; /* added to even channels (bit 0), to odd ones (bit 1) */
} TfxKernelTap;

/* out = direct in + sum over taps of gain in[n - delay] + sum. */
typedef struct TfxDelayArgs
{
  TfxKernelRun run;
  unsigned n_taps, unused;
  double direct;
  TFX_DEVICE (const TfxKernelTap) taps;
  TfxKernelRing ring; /* none if there are no taps */
} TfxDelayArgs;

/* Threads of a block of the FIR kernel; outputs of a thread; most taps in shared
 * memory at a time; and how many of n_taps that are, rounded up to whole runs. */
#define TFX_FIR_THREADS 256
#define TFX_FIR_RUN 8
#define TFX_FIR_FRAMES (TFX_FIR_THREADS * TFX_FIR_RUN)
#define TFX_FIR_TAPS 512
#define TFX_FIR_REACH(n_taps)                                                  \
  ((n_taps) < TFX_FIR_TAPS                                                     \
          ? ((n_taps) + TFX_FIR_RUN - 1) / TFX_FIR_RUN * TFX_FIR_RUN           \
          : TFX_FIR_TAPS)

/* Numbers in shared memory: the taps with zeros before and behind, and a window with
 * at most two places left out after each run. */
#define TFX_FIR_MARGIN 16
#define TFX_FIR_NUMBERS(reach)                                                 \
  ((reach) + 2 * TFX_FIR_MARGIN +                                              \
      (TFX_FIR_FRAMES + (reach)) / TFX_FIR_RUN * (TFX_FIR_RUN + 2))

/* out = kernel * in + sum; kernels in the arithmetic's numbers.  A sample that is
 * not finite, or larger than limit, counts as 0. */
typedef struct TfxFirArgs
{
  TfxKernelRun run;
  unsigned n_taps;
  unsigned per_channel;         /* 1: a kernel for each channel */
  TFX_DEVICE (const void) taps; /* [kernel][n_taps] */
  TfxKernelRing ring;
  double limit;
} TfxFirArgs;

/* Sizes of the transforms: 2^log2 complex numbers for twice as many frames. */
#define TFX_FFT_MIN_LOG2 8
#define TFX_FFT_MAX_LOG2 12

/* Threads of a block, at most, and numbers of a transform that one has in registers. */
#define TFX_FFT_THREADS 256
#define TFX_FFT_RUN_LOG2 3
#define TFX_FFT_RUN (1 << TFX_FFT_RUN_LOG2)

/* Bytes of shared memory that a transform takes: numbers of 16 bytes, with one
 * place left out after each eight, and the header. */
#define TFX_FFT_HEADER 16
#define TFX_FFT_SHARED(log2) (TFX_FFT_HEADER + ((size_t)18 << (log2)))

/* The work of a launch: all of it; the spectra of taps, or of tiles, which it writes to
 * `history`; or the output, from the spectra of tiles in `history`. */
#define TFX_FFT_ALL 0
#define TFX_FFT_TAPS 1
#define TFX_FFT_FORWARD 2
#define TFX_FFT_BACKWARD 3

/* The same by transforms of 2 P frames, P = 2^log2, see fft.h.  The kernels are cut into
 * n_partitions of P taps; a tile is n_out of the frames, P if there are several
 * partitions.  Spectra have P numbers each. */
typedef struct TfxFftArgs
{
  TfxKernelRun run;
  unsigned log2;
  unsigned n_partitions, n_taps;
  unsigned per_channel;
  unsigned work;  /* TFX_FFT_ALL to TFX_FFT_BACKWARD */
  unsigned n_out; /* even */

  long long start;   /* of the first tile, in frames of the block */
  unsigned n_tiles;  /* of this launch */
  unsigned n_silent; /* the first of them that put nothing out */

  /* Spectra of the tiles: [channel][n_slots], the first one's in slot. */
  unsigned n_slots, slot;
  /* [3 P / 2]: from P - L on those of the pass over groups of L numbers, of radix
   * N: exp (-2 pi i j k / L), [n = 1 ... N - 1][j < L / N], where k is n in
   * bit-reversed order; from P on those that tell even samples from odd ones:
   * exp (-i pi k / P) for the i-th pair k, P - k, see fft.h. */
  TFX_DEVICE (const void) twiddles;
  TFX_DEVICE (const void) spectra; /* of the kernels: [kernel][n_partitions] */
  TFX_DEVICE (void) history;
  /* For more than one partition: { ticket, finished blocks, epoch, 0 }, then the
   * epoch in which a slot was filled: [channel][n_slots]; all zero at first. */
  TFX_DEVICE (unsigned) control;
  TfxKernelRing ring;
  double limit;
  /* For TFX_FFT_BACKWARD, [n_channels][n_channels]: for each output and input the
   * number of the kernel, or -1. */
  TFX_DEVICE (const int) matrix;
} TfxFftArgs;

#endif
