/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fft.c: FIRs by transforms, of the backend "cuda", against exact sums. */
#include "buffer.h"
#include "chains.h"
#include "engine-private.h"
#include "fft.h"
#include "fft-cut.h"
#include "fir.h"
#include "fircase.h"
#include "cudarow.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Errors that are allowed, in dB: of float streams, whose spectra are floats, or, of one
 * partition in double, doubles. */
#define BOUND_F32 -135
#define BOUND_F32_ALONE -150
#define BOUND_F64 -300

/* Double, two floats. */
static TfxCuda *cudas[2];

static double
bound_db (TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? BOUND_F32 : BOUND_F64;
}

static CudaRow *
row_of (const FirCase *c, TfxSample type, TfxFirMethod method,
    size_t block_frames, TfxCuda *cuda)
{
  const double **kernels = test_alloc (c->n_kernels * sizeof *kernels);
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = c->n_channels,
    .sample = type,
    .block_frames = block_frames };
  TfxChain *chain = tfx_chain_new ();
  CudaRow *row;

  for (unsigned k = 0; k < c->n_kernels; k++)
    kernels[k] = c->taps + k * c->n_taps;
  test_cuda_append (&chain,
      c->matrix ? tfx_stage_new_fir_matrix (tfx_stage_new_id (), c->n_channels,
                      c->matrix, kernels, c->n_kernels, c->n_taps, method)
                : tfx_stage_new_fir (tfx_stage_new_id (), kernels, c->n_kernels,
                      c->n_taps, method));
  row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
  tfx_chain_unref (&chain);
  free (kernels);
  return row;
}

/* Frames [first, first + n) of the case's signal in blocks as split says, which lie
 * in all ways in turn, to out[n_channels][n_frames]. */
static int
run_blocks (const FirCase *c, TfxEngine *engine, const CudaRow *row,
    TfxSample type, FirSplit split, size_t first, size_t n, double *out)
{
  double *values = test_alloc (n * c->n_channels * sizeof *values);
  int ret = 0;

  for (size_t done = 0; ret >= 0 && done < n;) {
    size_t block = split (n - done);
    size_t at = first + done;
    TestBuffer buffer =
        test_buffer_new ((TestLayout)((at + block) % TEST_N_LAYOUTS), type,
            c->n_channels, block, (unsigned)(at % 3));

    for (size_t i = 0; i < block * c->n_channels; i++)
      values[i] =
          c->signal[i % c->n_channels * c->n_frames + at + i / c->n_channels];
    test_buffer_set (&buffer, values);
    ret = row->plan->backend->run (engine, &buffer.block, &buffer.block);
    test_buffer_get (&buffer, values);
    if (!test_buffer_is_guarded (&buffer))
      ret = -1000;
    for (size_t i = 0; i < block * c->n_channels; i++)
      out[i % c->n_channels * c->n_frames + at + i / c->n_channels] = values[i];
    test_buffer_clear (&buffer);
    done += block;
  }
  free (values);
  return ret;
}

/* All of the signal by transforms of 2^log2; 0: as it likes.  In dB. */
static double
error_of (const FirCase *c, TfxCuda *cuda, TfxSample type, unsigned log2,
    unsigned max_tiles, FirSplit split)
{
  double *out = test_alloc (c->n_frames * c->n_channels * sizeof *out);
  CudaRow *row = row_of (c, type, TFX_FIR_FFT, fir_split_frames, cuda);
  TfxEngine *engine = cuda_row_engine (row);
  double error = NAN;

  if (log2 > 0)
    tfx_cuda_engine_force_fft (engine, log2, max_tiles);
  if (run_blocks (c, engine, row, type, split, 0, c->n_frames, out) == 0)
    error = fir_case_error_db (c, out, 0);
  row->plan->backend->engine_free (engine);
  cuda_row_free (&row);
  free (out);
  return error;
}

static const struct
{
  unsigned cuda;
  TfxSample type;
} ways[] = { { 0, TFX_SAMPLE_F32 }, { 0, TFX_SAMPLE_F64 },
  { 1, TFX_SAMPLE_F32 } };

static void
check_error (TapMany *many, const FirCase *c, unsigned way, unsigned log2,
    unsigned max_tiles, FirSplit split)
{
  TfxSample type = ways[way].type;
  TfxCuda *cuda = cudas[ways[way].cuda];
  double error = error_of (c, cuda, type, log2, max_tiles, split);
  bool is_alone = ways[way].cuda == 0 && type == TFX_SAMPLE_F32 && log2 > 0 &&
                  c->n_taps <= (size_t)1 << log2;

  tap_many_check (many, error <= (is_alone ? BOUND_F32_ALONE : bound_db (type)),
      "%s %s, %zu taps, %u kernels, %u channels, 2^%u, %u tiles, blocks %s "
      "(%zu): %.1f dB",
      tfx_cuda_backend (cuda)->kernel, type == TFX_SAMPLE_F32 ? "F32" : "F64",
      c->n_taps, c->n_kernels, c->n_channels, log2, max_tiles,
      split == fir_split_all     ? "of all"
      : split == fir_split_fixed ? "of some"
                                 : "at random",
      fir_split_frames, error);
}

/* ---- the grid -------------------------------------------------------------------- */

/* Every size of transform, one partition and several, whole ones and not. */
static void
test_sizes (void)
{
  TapMany many = tap_many ("errors over sizes of transforms");

  for (unsigned log2 = TFX_FFT_MIN_LOG2; log2 <= TFX_FFT_MAX_LOG2; log2++) {
    size_t size = (size_t)1 << log2;
    const size_t taps[] = { 1, 2, size / 2 + 1, size, size + 1, 3 * size - 7 };

    for (size_t i = 0; i < N_OF (taps); i++) {
      FirCase *c;

      if (part_is_wanted () && (log2 > 9 || i % 2))
        continue;
      /* The largest one does not fit on every device. */
      if (TFX_FFT_SHARED (log2) > test_cuda_max_shared (cudas[0]))
        continue;
      c = fir_case_new (FIR_NOISE, taps[i], 1, 1, 2 * size + 100 + taps[i],
          200);
      for (unsigned way = 0; way < 3; way++)
        check_error (&many, c, way, log2, 0,
            (i + way) % 3 ? fir_split_all : fir_split_random);
      fir_case_free (&c);
    }
  }
  tap_many_end (&many);
}

/* As it chooses, over lengths, kinds, kernels, channels and blocks. */
static void
test_grid (void)
{
  static const size_t taps[] = { 33, 500, 1023, 2049, 7000 };
  static const size_t blocks[] = { 1, 64, 480, 1024, 5000 };
  static const unsigned channels[] = { 1, 2, 3, 5, 11 };
  TapMany many = tap_many ("errors over taps, blocks and channels");

  for (size_t i = 0; i < N_OF (taps) * N_OF (blocks); i++) {
    size_t n_taps = taps[i % N_OF (taps)], block = blocks[i / N_OF (taps)];
    unsigned n_channels = channels[(i + i / 5) % N_OF (channels)];
    FirCase *c;

    if (part_is_wanted () && i % 4)
      continue;
    c = fir_case_new ((FirKind)(i % 3), n_taps, i % 2 ? n_channels : 1,
        n_channels, block == 1 ? 200 : n_taps + 3000, 150);
    fir_split_frames = block;
    check_error (&many, c, (unsigned)(i % 3), 0, 0, fir_split_fixed);
    if (block > 1)
      check_error (&many, c, (unsigned)((i + 1) % 3), 0, 0, fir_split_random);
    fir_case_free (&c);
  }
  fir_split_frames = 0;
  tap_many_end (&many);
}

static void
test_channels (void)
{
  static const unsigned channels[] = { 64, 333, 1024 };
  TapMany many = tap_many ("errors with many channels");

  for (size_t i = 0; i < N_OF (channels); i++) {
    FirCase *c;

    if (part_is_wanted () && channels[i] > 64)
      continue;
    c = fir_case_new (FIR_NOISE, 70, i == 1 ? channels[i] : 1, channels[i], 280,
        20);
    for (unsigned way = 0; way < 3; way++)
      check_error (&many, c, way, 8, 0, fir_split_all);
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

/* Matrices: true stereo, a kernel for two paths and an input without one, HeSuVi's seven
 * inputs to two ears, and 25 to two.  The error must not grow with the inputs. */
static void
test_matrices (void)
{
  static const int stereo[] = { 0, 2, 1, 3 },
                   few[] = { 1, -1, 1, -1, -1, -1, 0, -1, 1 };
  static int seven[7 * 7], many_in[25 * 25];
  static const struct
  {
    const int *matrix;
    unsigned n_kernels, n_channels;
  } shapes[] = { { stereo, 4, 2 }, { few, 2, 3 }, { seven, 14, 7 },
    { many_in, 50, 25 } };
  static const size_t taps[] = { 1, 100, 1500, 5000 };
  TapMany many = tap_many ("errors of matrices");

  for (int i = 0; i < 25 * 25; i++)
    many_in[i] = i < 2 * 25 ? i : -1;
  for (int i = 0; i < 7 * 7; i++)
    seven[i] = i < 2 * 7 ? (i * 5 + 3) % 14 : -1;
  for (size_t i = 0; i < N_OF (shapes) * N_OF (taps); i++) {
    const size_t shape = i / N_OF (taps), n_taps = taps[i % N_OF (taps)];
    FirCase *c;

    if (part_is_wanted () && (i % 3 || shape == 3))
      continue;
    c = fir_case_new_matrix (FIR_NOISE, n_taps, shapes[shape].n_kernels,
        shapes[shape].n_channels, shapes[shape].matrix, n_taps + 1000, 60);
    for (unsigned way = 0; way < 3; way++) {
      check_error (&many, c, way, 0, 0,
          (i + way) % 2 ? fir_split_all : fir_split_random);
      check_error (&many, c, way, 8, (unsigned)(i % 3), fir_split_random);
    }
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

/* A low-pass leaves a hundredth of the noise: the error is small beside that. */
static void
test_quiet (void)
{
  TapMany many = tap_many ("errors beside a quiet output");
  FirCase *c = fir_case_new (FIR_LOW_PASS, 4095, 1, 1,
      part_is_wanted () ? 8000 : 20000, 300);

  for (unsigned way = 0; way < 3; way++)
    check_error (&many, c, way, 0, 0, fir_split_random);
  fir_case_free (&c);
  tap_many_end (&many);
}

/* A launch has room for a few tiles only: several in a row. */
static void
test_parts (void)
{
  TapMany many = tap_many ("errors of blocks in several launches");

  for (unsigned n = 1; n <= 4; n++) {
    FirCase *c = fir_case_new (FIR_NOISE, n == 1 ? 200 : 1200, 1, 2, 4000, 200);

    for (unsigned way = 0; way < 3; way++) {
      check_error (&many, c, way, 8, n, fir_split_all);
      check_error (&many, c, way, 8, n, fir_split_random);
    }
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

/* Each block has three times the length of the previous one. */
static size_t
split_growing (size_t n_left)
{
  static size_t last;
  const size_t n = last ? 3 * last : 16;

  last = n < n_left ? n : 0;
  return n < n_left ? n : n_left;
}

/* Blocks that become longer want other transforms, or transforms at all. */
static void
test_growing (void)
{
  static const size_t taps[] = { 1, 90, 300, 1500, 9000 };
  TapMany many = tap_many ("errors of blocks that become longer");

  for (size_t i = 0; i < N_OF (taps); i++) {
    FirCase *c = fir_case_new (FIR_NOISE, taps[i], 2, 2, 20000, 200);

    for (unsigned way = 0; way < 3 && !(part_is_wanted () && i % 2); way++) {
      CudaRow *row =
          row_of (c, ways[way].type, TFX_FIR_AUTO, 16, cudas[ways[way].cuda]);
      TfxEngine *engine = cuda_row_engine (row);
      double *out = test_alloc (c->n_frames * 2 * sizeof *out);
      int ret = run_blocks (c, engine, row, ways[way].type, split_growing, 0,
          c->n_frames, out);
      double error = fir_case_error_db (c, out, 0);

      tap_many_check (&many, ret == 0 && error <= bound_db (ways[way].type),
          "way %u, %zu taps: returns %d, %.1f dB", way, taps[i], ret, error);
      row->plan->backend->engine_free (engine);
      cuda_row_free (&row);
      free (out);
    }
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

/* ---- what must not matter ------------------------------------------------------------ */

/* The order of blocks and threads; or again and again on a device. */
static void
test_orders (void)
{
  static const char *const orders[][2] = { { "reverse", "1" },
    { "reverse", "16" }, { "random:1", "3" }, { "random:2", "16" },
    { "forward", "7" } };
  TapMany many = tap_many ("the same bits in every order");
  FirCase *c = fir_case_new (FIR_NOISE, 2000, 1, 3, 6000, 100);
  size_t size = c->n_frames * c->n_channels * sizeof (double);
  double *first = test_alloc (size), *out = test_alloc (size);

  for (unsigned way = 0; way < 3; way++) {
    CudaRow *row =
        row_of (c, ways[way].type, TFX_FIR_FFT, 0, cudas[ways[way].cuda]);

    for (size_t i = 0; i <= N_OF (orders) * (test_cuda_is_standin () ? 1 : 4);
         i++) {
      const char *const *order = i ? orders[i % N_OF (orders)] : NULL;
      TfxEngine *engine;
      int ret;

      test_cuda_set ("TFX_STANDIN_ORDER", order ? order[0] : NULL);
      test_cuda_set ("TFX_STANDIN_RESIDENT", order ? order[1] : NULL);
      engine = cuda_row_engine (row);
      tfx_cuda_engine_force_fft (engine, 8, 0);
      fir_split_frames = 1700;
      ret = run_blocks (c, engine, row, ways[way].type, fir_split_fixed, 0,
          c->n_frames, i ? out : first);
      tap_many_check (&many, ret == 0 && (!i || !memcmp (out, first, size)),
          "way %u: %s, %s blocks at a time: returns %d", way,
          order ? order[0] : "forward", order ? order[1] : "4", ret);
      row->plan->backend->engine_free (engine);
    }
    cuda_row_free (&row);
  }
  fir_split_frames = 0;
  test_cuda_set ("TFX_STANDIN_ORDER", NULL);
  test_cuda_set ("TFX_STANDIN_RESIDENT", NULL);
  tap_many_end (&many);
  fir_case_free (&c);
  free (first);
  free (out);
}

/* The epoch of a launch wraps around after 49 days of blocks of 1 ms.  It must not become
 * 0, which is that of a slot that was never filled. */
static void
test_epoch (void)
{
  FirCase *c = fir_case_new (FIR_NOISE, 600, 1, 1, 2000, 100);
  CudaRow *row = row_of (c, TFX_SAMPLE_F64, TFX_FIR_FFT, 0, cudas[0]);
  TfxEngine *engine = cuda_row_engine (row);
  double *out = test_alloc (c->n_frames * sizeof *out);
  unsigned control[3] = { 0 };
  TfxCudaFft *fft;
  int ret;

  tfx_cuda_engine_force_fft (engine, 8, 0);
  fft = tfx_cuda_fir_fft (engine->nodes[0].unit);
  fft->force_epoch = 0xfffffffe;
  fir_split_frames = 1000;
  ret = run_blocks (c, engine, row, TFX_SAMPLE_F64, fir_split_fixed, 0, 2000,
      out);
  fir_split_frames = 0;
  tfx_context_enter (fft->stream->cuda);
  tfx_buffer_download (fft->stream, control, fft->control.data, sizeof control);
  tfx_context_leave (fft->stream->cuda);
  tap_check (ret == 0 && control[2] == 1 &&
                 fir_case_error_db (c, out, 0) <= bound_db (TFX_SAMPLE_F64),
      "epoch 1 follows 0xffffffff: returns %d, epoch %u, %.1f dB", ret,
      control[2], fir_case_error_db (c, out, 0));
  row->plan->backend->engine_free (engine);
  cuda_row_free (&row);
  fir_case_free (&c);
  free (out);
}

/* The past is replaced and restored in the middle of a tile, and the sample type
 * changes: the old spectra must not be used. */
static void
test_new_past (void)
{
  TapMany many = tap_many ("a past that is set");
  FirCase *c = fir_case_new (FIR_NOISE, 1500, 2, 2, 5000, 200);
  double *out = test_alloc (c->n_frames * 2 * sizeof *out);
  double *state = test_alloc (1499 * 2 * sizeof *state);
  double *zeros = calloc (1499 * 2, sizeof *zeros);

  for (unsigned way = 0; way < 3; way++) {
    TfxSample type = ways[way].type;
    CudaRow *row = row_of (c, type, TFX_FIR_FFT, 512, cudas[ways[way].cuda]);
    TfxSample other = way == 0 ? TFX_SAMPLE_F64 : type;
    TfxEngine *engine;
    double error;
    int ret;

    engine = cuda_row_engine (row);
    ret = run_blocks (c, engine, row, type, fir_split_random, 0, 1777, out);
    row->plan->backend->get_state (engine, row->plan->parts, state);
    row->plan->backend->set_state (engine, row->plan->parts, zeros);
    row->plan->backend->set_state (engine, row->plan->parts, state);
    if (ret == 0)
      ret =
          run_blocks (c, engine, row, other, fir_split_random, 1777, 1501, out);
    row->plan->backend->get_state (engine, row->plan->parts, state);
    row->plan->backend->set_state (engine, row->plan->parts, zeros);
    row->plan->backend->set_state (engine, row->plan->parts, state);
    if (ret == 0)
      ret =
          run_blocks (c, engine, row, type, fir_split_random, 3278, 1722, out);
    error = fir_case_error_db (c, out, 0);
    tap_many_check (&many, ret == 0 && error <= bound_db (type),
        "way %u: returns %d, %.1f dB", way, ret, error);
    row->plan->backend->engine_free (engine);
    cuda_row_free (&row);
  }
  tap_many_end (&many);
  fir_case_free (&c);
  free (out);
  free (state);
  free (zeros);
}

/* ---- what it costs ------------------------------------------------------------------- */

static TfxStage *
noise_fir (size_t n_taps)
{
  double *kernel = test_cuda_noise (n_taps);
  const double *const kernels[] = { kernel };
  TfxStage *stage =
      tfx_stage_new_fir (tfx_stage_new_id (), kernels, 1, n_taps, TFX_FIR_AUTO);

  free (kernel);
  return stage;
}

/* Sections before a long FIR: two launches; a FIR alone: one. */
static void
test_launches (void)
{
  static const size_t taps[] = { 101, 511, 4000, 20000 };
  static const size_t blocks[] = { 600, 1024, 3000 };
  TapMany many = tap_many ("one launch for a FIR, two with sections");
  TfxSos sos[12];

  test_cuda_equaliser (sos, 12);
  for (size_t i = 0; i < N_OF (taps) * N_OF (blocks) * 2; i++) {
    const bool is_alone = i % 2;
    const size_t n_taps = taps[i / 2 % N_OF (taps)];
    const TfxFilterSpec spec = { RATE, 2, TFX_SAMPLE_F32,
      blocks[i / 2 / N_OF (taps)] };
    TfxChain *chain = tfx_chain_new ();
    CudaRow *row;
    char what[64];

    if (!is_alone) {
      test_cuda_append (&chain,
          tfx_stage_new_sections (tfx_stage_new_id (), sos, 12));
      test_cuda_append (&chain, tfx_stage_new_gain (tfx_stage_new_id (), 0.5));
    }
    test_cuda_append (&chain, noise_fir (n_taps));
    if (!is_alone)
      test_cuda_append (&chain, noise_fir (50));
    row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cudas[0]));
    snprintf (what, sizeof what, "%zu taps, %s", n_taps,
        is_alone ? "alone" : "with sections");
    cuda_row_check_work (&many, row, cudas[0], 2, TFX_SAMPLE_F32,
        spec.block_frames, is_alone ? 1 : 2, what);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
}

/* The cost model decides; few taps and few frames use the direct form. */
static void
test_choice (void)
{
  static const struct
  {
    TfxReal real;
    size_t n_taps, n_frames;
    bool transforms;
  } cases[] = { { TFX_REAL_DOUBLE, 1, 1024, false },
    { TFX_REAL_DOUBLE, 63, 1 << 20, false },
    { TFX_REAL_DOUBLE, 200, 1 << 20, true },
    { TFX_REAL_DOUBLE, 511, 64, false },
    { TFX_REAL_DOUBLE, 511, 1 << 20, true },
    { TFX_REAL_DOUBLE, 4095, 1024, true }, { TFX_REAL_DOUBLE, 4095, 1, false },
    { TFX_REAL_DOUBLE, 65536, 64, true },
    { TFX_REAL_DOUBLE, 65536, 1 << 20, true },
    { TFX_REAL_DOUBLE, 1 << 20, 256, true },
    { TFX_REAL_TWOFOLD, 21, 1 << 20, false },
    { TFX_REAL_TWOFOLD, 101, 1 << 20, true },
    { TFX_REAL_TWOFOLD, 101, 64, false } };
  static const struct
  {
    size_t n_taps, n_frames;
    unsigned log2;
  } live[] = { { 4096, 256, 9 }, { 65536, 256, 9 }, { 131072, 256, 9 },
    { 4096, 1024, 10 }, { 16384, 1024, 10 }, { 65536, 1024, 10 },
    { 2048, 1 << 20, 12 }, { 65536, 1 << 20, 12 } };
  TapMany many = tap_many ("long FIRs by transforms");

  for (size_t i = 0; i < N_OF (cases); i++) {
    TfxReal real = cases[i].real;
    size_t n_taps = cases[i].n_taps, n_frames = cases[i].n_frames;
    unsigned log2 = tfx_cuda_fft_choose (real, n_taps, n_frames, 200000);
    double cost = tfx_cuda_fft_cost (real, n_taps, n_frames, log2);

    tap_many_check (&many, (cost < (double)n_taps) == cases[i].transforms,
        "%zu taps, blocks of %zu: cost %g by transforms of 2^%u", n_taps,
        n_frames, cost, log2);
    for (unsigned other = TFX_FFT_MIN_LOG2; other <= TFX_FFT_MAX_LOG2; other++)
      tap_many_check (&many,
          (other > 9 && n_frames < (size_t)1 << other) ||
              cost <= tfx_cuda_fft_cost (real, n_taps, n_frames, other),
          "%zu taps, blocks of %zu: 2^%u is not the best", n_taps, n_frames,
          log2);
  }
  tap_many_check (&many,
      tfx_cuda_fft_choose (TFX_REAL_DOUBLE, 1 << 20, 1 << 20, 65536) == 11,
      "no more shared memory than there is");
  /* As an H200 does them fastest. */
  for (size_t i = 0; i < N_OF (live); i++) {
    unsigned log2 = tfx_cuda_fft_choose (TFX_REAL_DOUBLE, live[i].n_taps,
        live[i].n_frames, 200000);

    tap_many_check (&many, log2 == live[i].log2,
        "%zu taps, blocks of %zu: transforms of 2^%u", live[i].n_taps,
        live[i].n_frames, log2);
  }
  tap_many_end (&many);
}

/* ---- samples that are not finite ------------------------------------------------------ */

/* They count as 0, directly and by transforms, as on the CPU. */
static void
test_unsound (void)
{
  static const double bad[] = { NAN, INFINITY, -INFINITY, 1e308 };
  static const TfxFirMethod methods[] = { TFX_FIR_DIRECT, TFX_FIR_FFT };
  TapMany many = tap_many ("samples that are not finite count as 0");

  for (size_t i = 0; i < N_OF (bad) * 2; i++) {
    FirCase *c = fir_case_new (FIR_NOISE, 700, 1, 2, 3000, 10);
    CudaRow *row = row_of (c, TFX_SAMPLE_F64, methods[i % 2], 0, cudas[0]);
    size_t n = c->n_frames, size = n * 2 * sizeof (double);
    double *out = test_alloc (size), *expected = test_alloc (size);
    TfxEngine *engine;
    int ret, clean;

    engine = cuda_row_engine (row);
    c->signal[1234] = c->signal[n + 2000] = 0;
    clean = run_blocks (c, engine, row, TFX_SAMPLE_F64, fir_split_all, 0, n,
        expected);
    row->plan->backend->engine_free (engine);
    engine = cuda_row_engine (row);
    c->signal[1234] = c->signal[n + 2000] = bad[i / 2];
    ret = run_blocks (c, engine, row, TFX_SAMPLE_F64, fir_split_all, 0, n, out);
    tap_many_check (&many,
        clean == 0 && ret == 2 && memcmp (out, expected, size) == 0,
        "%g, %s: returns %d and %d", bad[i / 2],
        i % 2 ? "by transforms" : "directly", clean, ret);
    row->plan->backend->engine_free (engine);
    cuda_row_free (&row);
    fir_case_free (&c);
    free (out);
    free (expected);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "sizes", test_sizes },
  { "grid", test_grid },
  { "channels", test_channels },
  { "matrices", test_matrices },
  { "quiet", test_quiet },
  { "parts", test_parts },
  { "growing", test_growing },
  { "orders", test_orders },
  { "epoch", test_epoch },
  { "new-past", test_new_past },
  { "launches", test_launches },
  { "choice", test_choice },
  { "unsound", test_unsound },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main_both (argc, argv, tests, cudas);
}
