/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_channels.c: mixed channels, and chains for single channels: the device has the
 * output of the CPU, for samples in all kinds of memory. */
#include "buffer.h"
#include "chains.h"
#include "lang/expr.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TfxCuda *cuda;

static const struct
{
  const char *text;
  unsigned n_channels, n_launches; /* of a block */
} cases[] = {
  { "Mix([[0, 1], [1, 0]])", 2, 1 },
  { "Mix([[0.5, 0.5], [0, 0]])", 2, 1 },
  { "Mix([[-2]])", 1, 1 },
  { "Mix([[1, 0, 0.25], [0, 1, -0.5], [0.1, 0.2, 0.3]]) | Gain(0.5)", 3, 1 },
  { "HiButterworth(100) | Mix([[1, 1], [1, -1]]) | LoButterworth(9000)", 2, 3 },
  { "Gain(0.5) + Mix([[0, 1], [1, 0]]) + HiButterworth(100)", 2, 3 },
  { "(Mix([[0, 1], [1, 0]]) + Gain(0.25) + Mix([[1, 2], [3, 4]])) | Gain(0.1)",
      2, 4 },
  { "Mix([[1, 0.5, 0, 0.1, 0], [0, 0, 0, 0, 0], [0, 1, 0, 0, 0], "
    "[0, 0, 1, 0, 0], [1, 1, 1, 1, 0]]) | Delay(37, mix=0.3)",
      5, 2 },
  { "ch[0]: LoButterworth(1000); ch[1]: HiButterworth(1000)", 2, 2 },
  /* The others go through as they are. */
  { "ch[1]: LoButterworth(1000)", 3, 2 },
  { "ch[0:4]: LoButterworth(1000)", 4, 1 },
  { "ch[0, 2, 4]: Delay(50, mix=0.5); ch[1, 3]: FIR([0.5, 0.25, 0.125])", 5,
      2 },
  /* Channels that are not evenly spaced are gathered, and put back. */
  { "ch[0, 1, 3]: LoButterworth(1000) | Mix([[0, 1, 0], [1, 0, 0], [0, 0, 1]])",
      5, 5 },
  { "ch[0, 1, 3]: Mix([[0, 1, 0], [1, 0, 0], [0, 0, 1]]); "
    "ch[2]: Gain(2, clamp=True)",
      4, 4 },
  { "HiButterworth(30) | (ch[0, 3]: Compressor(-20, link=True); ch[1]: "
    "Reverb()) | LoButterworth(15000)",
      5, 5 },
  { "ch[0, 1]: (ch[1]: LoButterworth(500)) | Gain(0.5); ch[2]: Gain(0.5)", 3,
      4 },
  /* In a sum, whose gain all channels get. */
  { "((ch[1]: HiButterworth(1000)) + LoButterworth(1000)) | Gain(0.25)", 3, 4 },
  { "(Gain(0.25) + (ch[0, 1, 3]: LoButterworth(500) + Delay(7, mix=0.5); "
    "ch[2]: "
    "FIR([1, 2])))",
      5, 7 },
  { "ch[0, 1, 63]: Gain(2, clamp=True)", 66, 4 },
  { "(ch[0]: Gain(2)) | (ch[1]: Limiter(-6, lookahead=0))", 2, 4 },
};

/* The chain of a text; or the program ends. */
static TfxChain *
build (const char *text, unsigned n_channels)
{
  TfxExprError error = { 0 };
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);
  TfxChain *chain = NULL;

  if (!expr ||
      tfx_expr_build (expr, RATE, n_channels, NULL, NULL, &chain, &error) < 0) {
    printf ("Bail out! %s: %s\n", text, error.message);
    exit (1);
  }
  tfx_expr_free (&expr);
  return chain;
}

/* ---- layouts --------------------------------------------------------------------- */

/* Two blocks of a layout through the row. */
static int
run_buffer (CudaRow *row, TestBuffer *in, TestBuffer *out, double *samples,
    size_t n)
{
  int ret = 0;

  for (unsigned k = 0; ret == 0 && k < 2; k++) {
    test_buffer_set (in, samples + k * n);
    ret = cuda_row_run (row, &in->block, &out->block);
    if (ret == 0)
      test_buffer_get (out, samples + k * n);
  }
  return ret < 0 ? ret : test_buffer_is_guarded (out) ? 0 : -1;
}

static void
check_layout (TapMany *many, unsigned i, TestLayout layout, TfxSample type,
    bool is_in_place)
{
  const unsigned n_channels = cases[i].n_channels;
  const size_t n_frames = 500, n = n_frames * n_channels;
  const TfxFilterSpec spec = { RATE, n_channels, type, 0 };
  TfxChain *chain = build (cases[i].text, n_channels);
  CudaRow *rows[2] = { cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda)),
    cuda_row_new_for (chain, &spec, tfx_cpu_backend_for ("c")) };
  double *x[2] = { test_cuda_noise (2 * n), test_alloc (2 * n * sizeof *x[1]) };
  TestBuffer in = test_buffer_new (layout, type, n_channels, n_frames, 1);
  TestBuffer out = test_buffer_new (layout, type, n_channels, n_frames, 3);
  int ret = rows[0] && rows[1] ? 0 : -1;

  memcpy (x[1], x[0], 2 * n * sizeof *x[1]);
  for (unsigned k = 0; ret == 0 && k < 2; k++)
    ret = run_buffer (rows[k], &in, is_in_place ? &in : &out, x[k], n);
  tap_many_check (many,
      ret == 0 && rows[0]->n_by_cpu == 0 &&
          test_cuda_distance (x[0], x[1], 2 * n) <
              (type == TFX_SAMPLE_F32 ? 1e-6 : 1e-12),
      "%s, layout %d, type %d, %s: returns %d, %g", cases[i].text, (int)layout,
      (int)type, is_in_place ? "in place" : "apart", ret,
      test_cuda_distance (x[0], x[1], 2 * n));
  for (unsigned k = 0; k < 2; k++) {
    cuda_row_free (&rows[k]);
    free (x[k]);
  }
  test_buffer_clear (&in);
  test_buffer_clear (&out);
  tfx_chain_unref (&chain);
}

static void
test_layouts (void)
{
  TapMany many = tap_many ("channels are what the CPU makes of them");

  for (unsigned i = 0; i < N_OF (cases); i++) {
    for (unsigned k = 0; k < TEST_N_LAYOUTS; k++)
      check_layout (&many, i, (TestLayout)k,
          (i + k) % 2 ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32, k % 3 == 1);
  }
  tap_many_end (&many);
}

/* Also where they are on the device already, and stay there: in place. */
static void
test_memory (void)
{
  TapMany many = tap_many ("in place in device memory");

  for (unsigned i = 0; i < N_OF (cases); i++) {
    const unsigned n_channels = cases[i].n_channels;
    const size_t n_frames = 700, n = n_frames * n_channels;
    TfxChain *chain = build (cases[i].text, n_channels);
    CudaRow *row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
    CudaRow *plain =
        cuda_row_new (chain, n_channels, tfx_cpu_backend_for ("c"));
    double *a = test_cuda_noise (n), *b = test_alloc (n * sizeof *b);
    void *memory = test_cuda_alloc (cuda, n * sizeof *a);
    TfxBlock block =
        tfx_block_interleaved (memory, TFX_SAMPLE_F64, n_channels, n_frames);
    int ret = -1;

    memcpy (b, a, n * sizeof *b);
    test_cuda_upload (cuda, memory, a, n * sizeof *a);
    if (row && plain)
      ret = cuda_row_run (row, &block, &block) ||
            cuda_row_f64 (plain, b, n_channels, n_frames);
    test_cuda_download (cuda, a, memory, n * sizeof *a);
    tap_many_check (&many,
        ret == 0 && row->n_by_cpu == 0 && test_cuda_distance (a, b, n) < 1e-12,
        "%s: returns %d, %g", cases[i].text, ret, test_cuda_distance (a, b, n));
    cuda_row_free (&row);
    cuda_row_free (&plain);
    test_cuda_free (cuda, memory);
    tfx_chain_unref (&chain);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* ---- rows ------------------------------------------------------------------------- */

/* From the device to the CPU and back, in blocks of any length. */
static void
test_hand_over (void)
{
  TapMany many =
      tap_many ("the state goes from the device to the CPU and back");

  for (unsigned i = 0; i < N_OF (cases); i++) {
    const TfxBackend *backends[2] = { tfx_cuda_backend (cuda),
      tfx_cpu_backend_for ("c") };
    const unsigned n_channels = cases[i].n_channels;
    const size_t n = 300, n_all = 6 * n * n_channels;
    TfxChain *chain = build (cases[i].text, n_channels);
    CudaRow *row = cuda_row_new (chain, n_channels, backends[0]);
    CudaRow *plain = cuda_row_new (chain, n_channels, backends[1]);
    double *a = test_cuda_noise (n_all), *b = test_alloc (n_all * sizeof *b);
    int ret = row && plain ? 0 : -1;

    memcpy (b, a, n_all * sizeof *b);
    for (unsigned k = 0; ret == 0 && k < 6; k++) {
      if (k > 0)
        ret = cuda_row_go_to (row, backends[k % 2]);
      if (ret == 0)
        ret = cuda_row_pieces (row, a + k * n * n_channels, n_channels, n, 200);
    }
    if (ret == 0)
      ret = cuda_row_f64 (plain, b, n_channels, 6 * n);
    tap_many_check (&many,
        ret == 0 && test_cuda_distance (a, b, n_all) < 1e-11 &&
            row->n_by_cpu == 0,
        "%s: returns %d, %g", cases[i].text, ret,
        test_cuda_distance (a, b, n_all));
    cuda_row_free (&row);
    cuda_row_free (&plain);
    tfx_chain_unref (&chain);
    free (a);
    free (b);
  }
  tap_many_end (&many);
}

/* One way up, one down, and the launches that docs/dev/cuda-backend.md says. */
static void
test_launches (void)
{
  const size_t n = 300;
  TapMany many = tap_many ("one upload, one download, and so many launches");

  for (unsigned i = 0; i < N_OF (cases); i++) {
    const unsigned n_channels = cases[i].n_channels;
    TfxChain *chain = build (cases[i].text, n_channels);
    CudaRow *row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
    double *x = test_cuda_noise (n * n_channels);
    TfxStats stats = { 0 };

    if (row && cuda_row_f64 (row, x, n_channels, n) == 0 &&
        cuda_row_f64 (row, x, n_channels, n) == 0)
      stats = cuda_row_stats (row);
    tap_many_check (&many,
        stats.launches == 2 * cases[i].n_launches &&
            stats.uploads == test_cuda_copies (cuda, 2) &&
            stats.downloads == test_cuda_copies (cuda, 2),
        "%s: two blocks are %d launches, %d uploads, %d downloads",
        cases[i].text, (int)stats.launches, (int)stats.uploads,
        (int)stats.downloads);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
    free (x);
  }
  tap_many_end (&many);
}

/* New gains are ramped on the CPU; the device continues with them. */
static void
test_new_gains (void)
{
  static const double gains[][4] = { { 1, 0, 0, 1 }, { 0, 1, 1, 0 },
    { 0.5, 0.5, 0.25, -0.25 } };
  const uint64_t id = tfx_stage_new_id ();
  const size_t n = 2000;
  double *a = test_cuda_noise (6 * n), *b = test_alloc (6 * n * sizeof *b);
  CudaRow *here = NULL, *there = NULL;
  int ret = 0;

  memcpy (b, a, 6 * n * sizeof *b);
  for (unsigned i = 0; ret == 0 && i < 3; i++) {
    TfxChain *chain = tfx_chain_new ();

    test_cuda_append (&chain, tfx_stage_new_mix (id, 2, gains[i]));
    if (i == 0) {
      here = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
      there = cuda_row_new (chain, 2, tfx_cpu_backend_for ("c"));
      ret = here && there ? 0 : -1;
    } else {
      ret =
          cuda_row_set_chain (here, chain) || cuda_row_set_chain (there, chain);
    }
    if (ret == 0)
      ret = cuda_row_pieces (here, a + i * 2 * n, 2, n, 500) ||
            cuda_row_f64 (there, b + i * 2 * n, 2, n);
    tfx_chain_unref (&chain);
  }
  tap_check (ret == 0 && test_cuda_distance (a, b, 6 * n) < 1e-12,
      "gains that are set: %d, %g", ret, test_cuda_distance (a, b, 6 * n));
  tap_check (here && here->n_by_cpu > 0 && here->n_by_cpu < 3000,
      "%d of %d frames by the CPU", here ? (int)here->n_by_cpu : -1,
      (int)(3 * n));
  cuda_row_free (&here);
  cuda_row_free (&there);
  free (a);
  free (b);
}

/* Each channel that is cleared counts once, whichever branch it is in. */
static void
test_recoveries (void)
{
  TfxChain *chain = build ("ch[0, 2]: LoButterworth(1000); "
                           "ch[1]: Compressor(-20); ch[3, 4, 6]: FIR([1, 2])",
      7);
  CudaRow *row = cuda_row_new (chain, 7, tfx_cuda_backend (cuda));
  double *x = test_cuda_noise (7 * 100);
  int ret;

  for (unsigned c = 0; c < 7; c++)
    x[7 * 50 + c] = NAN;
  ret = row ? cuda_row_f64 (row, x, 7, 100) : -1;
  tap_check (ret == 0 && cuda_row_stats (row).recoveries == 6,
      "what is not finite: %d, %d of 6 channels are cleared", ret,
      row ? (int)cuda_row_stats (row).recoveries : -1);
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  free (x);
}

static const TapTest tests[] = {
  { "layouts", test_layouts },
  { "memory", test_memory },
  { "hand-over", test_hand_over },
  { "launches", test_launches },
  { "new-gains", test_new_gains },
  { "recoveries", test_recoveries },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  int ret;

  cuda = test_cuda_new (NULL);
  ret = tap_main (argc, argv, tests);
  tfx_cuda_unref (&cuda);
  return ret;
}
