/* SPDX-License-Identifier: LGPL-2.1-or-later
 * drive.h: the zero-state response of a segment at its end, step 1 of cascade.h.
 *
 * It is the sum of A^(M - 1 - n) B x[n], a product of two matrices: the table, and
 * the samples, with a column for each segment of the warp.  Devices with fast double
 * arithmetic have tensor cores for double (DMMA), which read the table once for
 * eight segments.  On other devices, and for one or two sections, which would use a
 * quarter or half of a tensor core, each thread computes its segment. */
#ifndef TFX_KERNEL_DRIVE_H
#define TFX_KERNEL_DRIVE_H

#include "matrix.h"
#include "round.h"
#include "scan.h"

/* The frames of a segment from n on, in shared memory. */
template <typename W, typename R, bool FIXED>
TFX_DEVICE_FN unsigned
drive_bring (const TfxCascadeArgs &args, const volatile Tile &tile, unsigned n,
    W *samples)
{
  unsigned place = n & ((1u << args.round_log2) - 1);

  if constexpr (FIXED) {
    if (round_is_part (args)) {
      if (n > 0)
        round_turn<R> (args, tile, n, samples);
      round_announce (args, tile,
          (n + (1u << args.round_log2)) & ((1u << args.segment_log2) - 1));
    }
  }
  return place;
}

/* ---- thread by thread ------------------------------------------------------------ */

/* N rows of the control matrix times the samples of two halves of a round.  The
 * rows for a half are the last ones. */
template <int N, typename W, typename R, int G>
TFX_DEVICE_FN void
drive_rows (const W *sample, const R *control, int half, R (&early)[2 * G],
    R (&late)[2 * G])
{
#pragma unroll
  for (int row = 0; row < N; row++) {
    W x = sample[row], y = sample[row + half];

#pragma unroll
    for (int k = 0; k < G; k++) {
      Pair<R> c = ((const Pair<R> *)(control + row * 2 * G))[k];

      early[2 * k] = real_gather (c.a, x, early[2 * k]);
      early[2 * k + 1] = real_gather (c.b, x, early[2 * k + 1]);
      late[2 * k] = real_gather (c.a, y, late[2 * k]);
      late[2 * k + 1] = real_gather (c.b, y, late[2 * k + 1]);
    }
  }
}

/* Two halves of a round are taken at once, so that a number of the table serves
 * two samples. */
template <typename W, typename R, int G, bool FIXED>
TFX_DEVICE_FN void
drive_by_thread (const TfxCascadeArgs &args, const volatile Tile &tile,
    W *samples, const W *segment, const Table<R, G, FIXED> &table, R *stash)
{
  const bool is_short = real_is_short (R ());
  /* As many rows at a time as registers allow. */
  const int n_rows = is_short ? G < (FIXED ? 3 : 2) ? 4 : 1 : FIXED ? 2 : 1;
  unsigned m_log2 = args.segment_log2;
  unsigned half_log2 = (m_log2 <= TFX_ROUND_LOG2 ? m_log2 : TFX_ROUND_LOG2) - 1;
  const R *control = table_control (table);
  int half = 1 << half_log2;

#pragma unroll 1
  for (unsigned n = 0; n < 1u << m_log2; n += 2 * half) {
    const W *begin =
        segment + drive_bring<W, R, FIXED> (args, tile, n, samples);
    R early[2 * G], late[2 * G];

#pragma unroll
    for (int i = 0; i < 2 * G; i++) {
      real_set (0.0f, &early[i]);
      real_set (0.0f, &late[i]);
    }
#pragma unroll 1
    for (int row = 0; row < half; row += n_rows)
      drive_rows<n_rows, W, R, G> (begin + row,
          control + (TFX_CONTROL_ROWS - half + row) * 2 * G, half, early, late);
      /* The first half at the end of the round, and what came before it. */
#pragma unroll(is_short ? 2 : 1)
    for (int i = 0; i < 2; i++) {
      unsigned unhoisted = half_log2;

      if (i == 1 && n == 0)
        break;
      TFX_OPAQUE (unhoisted);
#pragma unroll
      for (int k = 0; k < 2 * G; k++)
        early[k] = i == 0 ? real_settle (early[k]) : stash[k * TFX_WARP];
      power_apply<R, G> (table_half (table, unhoisted, i), early, late);
    }
#pragma unroll
    for (int i = 0; i < 2 * G; i++)
      stash[i * TFX_WARP] = late[i];
  }
}

/* ---- as a product of matrices ----------------------------------------------------- */

#if TFX_HAS_MATRIX

/* Four rows at a time of the transposed table of `drive` (args.h): 2 G rows, times
 * the given samples of the 32 segments. */
template <int G> struct Drive
{
  static const int N = (2 * G + 7) / 8;
  double sum[4][N][2];
};

/* row: the lane's number of the first eight; b: of eight segments each. */
template <int G>
TFX_DEVICE_FN void
drive_add (Drive<G> &drive, const double *row, const double (&b)[4])
{
  double a[Drive<G>::N];

#pragma unroll
  for (int i = 0; i < Drive<G>::N; i++)
    a[i] = row[8 * i];
#pragma unroll
  for (int k = 0; k < 4; k++)
    matrix_add (a, b[k], drive.sum[k]);
}

/* The state before the round, advanced to its end. */
template <int G>
TFX_DEVICE_FN void
drive_add_past (Drive<G> &drive, const double *table, const double *stash)
{
  unsigned lane = threadIdx.x % TFX_WARP;

#pragma unroll
  for (unsigned row = 0; row < TFX_DRIVE_STATES (G); row += 4) {
    unsigned state = row + lane % 4;
    double b[4];

#pragma unroll
    for (unsigned k = 0; k < 4; k++)
      b[k] = state < 2 * G ? stash[state * TFX_WARP + 8 * k + lane / 4] : 0.0;
    drive_add<G> (drive, table + state * 2 * G + lane / 4, b);
  }
}

/* The samples of a round of `length` frames.  The four of a lane's neighbours that
 * go together are an eighth of a round apart, up to eight frames, so that the lanes
 * meet no bank twice. */
template <typename W, int G>
TFX_DEVICE_FN void
drive_add_samples (Drive<G> &drive, const double *table, unsigned length,
    const W *const (&column)[4], unsigned apart)
{
  unsigned lane = threadIdx.x % TFX_WARP;
  const double *row = table +
                      (TFX_DRIVE_STATES (G) + (1u << TFX_ROUND_LOG2) - length +
                          lane % 4 * apart) *
                          (2 * G) +
                      lane / 4;

#pragma unroll 1
  for (unsigned first = 0; first < length; first += 4 * apart) {
    /* apart is 2, 4 or 8. */
#pragma unroll 1
    for (unsigned n = first; n < first + apart; n += 2) {
#pragma unroll
      for (unsigned i = 0; i < 2; i++) {
        double b[4];

#pragma unroll
        for (unsigned k = 0; k < 4; k++)
          b[k] = (double)column[k][n + i];
        drive_add<G> (drive, row + i * 2 * G, b);
      }
      row += 2 * 2 * G;
    }
    row += 3 * apart * 2 * G;
  }
}

template <typename W, int G, bool FIXED>
TFX_DEVICE_FN void
drive_by_matrix (const TfxCascadeArgs &args, const volatile Tile &tile,
    W *samples, const Table<double, G, FIXED> &table, double *stash)
{
  const double *numbers = table.all + TFX_TABLE_SIZE (G);
  unsigned lane = threadIdx.x % TFX_WARP;
  unsigned m_log2 = args.segment_log2;
  unsigned length = 1u << (m_log2 < TFX_ROUND_LOG2 ? m_log2 : TFX_ROUND_LOG2);
  unsigned apart = length / 4 < 8 ? length / 4 : 8;
  const W *column[4];

  stash -= lane;
#pragma unroll
  for (unsigned k = 0; k < 4; k++) {
    unsigned thread = threadIdx.x - lane + 8 * k + lane / 4;
    unsigned segment = thread & ((1u << args.lanes_log2) - 1);

    column[k] = samples + (thread >> args.lanes_log2) * args.pitch +
                segment * ((1u << args.round_log2) + 1) + lane % 4 * apart;
  }
#pragma unroll 1
  for (unsigned n = 0; n < 1u << m_log2; n += length) {
    unsigned place = drive_bring<W, double, FIXED> (args, tile, n, samples);
    const W *at[4];
    Drive<G> drive;

#pragma unroll
    for (int k = 0; k < 4; k++) {
      at[k] = column[k] + place;
#pragma unroll
      for (int i = 0; i < Drive<G>::N; i++)
        drive.sum[k][i][0] = drive.sum[k][i][1] = 0.0;
    }
    if (n > 0)
      drive_add_past<G> (drive, numbers, stash);
    drive_add_samples<W, G> (drive, numbers, length, at, apart);
    __syncwarp ();
#pragma unroll
    for (unsigned i = 0; i < Drive<G>::N; i++) {
      unsigned state = 8 * i + lane / 4;

#pragma unroll
      for (unsigned k = 0; k < 4; k++) {
        if (state < 2 * G)
          *(Pair<double> *)(stash + state * TFX_WARP + 8 * k + lane % 4 * 2) =
              Pair<double>{ drive.sum[k][i][0], drive.sum[k][i][1] };
      }
    }
    __syncwarp ();
  }
}

#endif

/* In rounds of up to 64 samples; what the segment leaves behind is in stash. */
template <typename W, typename R, int G, bool FIXED>
TFX_DEVICE_FN void
cascade_drive (const TfxCascadeArgs &args, const volatile Tile &tile,
    W *samples, const W *segment, const Table<R, G, FIXED> &table, R *stash)
{
#if TFX_HAS_MATRIX
  if constexpr (FIXED && real_is_short (R ()) && G > 2) {
    drive_by_matrix<W, G, FIXED> (args, tile, samples, table, stash);
    return;
  }
#endif
  drive_by_thread<W, R, G, FIXED> (args, tile, samples, segment, table, stash);
  __syncwarp ();
}

#endif
