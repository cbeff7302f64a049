/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_channels.c: mixed channels, and chains for single channels: the device has the
 * output of the CPU, for samples in all kinds of memory. */
#include "buffer.h"
#include "chains.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

/* ---- layouts --------------------------------------------------------------------- */

/* Two blocks of a layout through both sides of the pair. */
static void
run_buffers (CudaPair *p, TestBuffer *in, TestBuffer *out)
{
  for (unsigned k = 0; p->ret == 0 && k < 4; k++) {
    double *samples = (k < 2 ? p->have : p->want) + k % 2 * (p->n / 2);

    test_buffer_set (in, samples);
    p->ret = cuda_row_run (k < 2 ? p->row : p->plain, &in->block, &out->block);
    test_buffer_get (out, samples);
    if (p->ret == 0 && !test_buffer_is_guarded (out))
      p->ret = -1000;
  }
}

static void
test_layouts (void)
{
  TapMany many = tap_many ("channels are what the CPU makes of them");

  for (unsigned i = 0; i < N_OF (cases) * TEST_N_LAYOUTS; i++) {
    const TestLayout layout = (TestLayout)(i % TEST_N_LAYOUTS);
    const char *text = cases[i / TEST_N_LAYOUTS].text;
    const unsigned n_channels = cases[i / TEST_N_LAYOUTS].n_channels;
    const TfxSample type = (i / TEST_N_LAYOUTS + i % TEST_N_LAYOUTS) % 2
                               ? TFX_SAMPLE_F64
                               : TFX_SAMPLE_F32;
    const bool is_in_place = layout % 3 == 1;
    const TfxFilterSpec spec = { RATE, n_channels, type, 0 };
    CudaPair p = cuda_pair_new_for (test_cuda_parse (text, n_channels), &spec,
        1000, cuda);
    TestBuffer in = test_buffer_new (layout, type, n_channels, 500, 1);
    TestBuffer out = test_buffer_new (layout, type, n_channels, 500, 3);

    run_buffers (&p, &in, is_in_place ? &in : &out);
    tap_many_check (&many,
        cuda_pair_agrees (&p, type == TFX_SAMPLE_F32 ? 1e-6 : 1e-12),
        "%s, layout %d, type %d, %s: returns %d, %g", text, (int)layout,
        (int)type, is_in_place ? "in place" : "apart", p.ret,
        cuda_pair_distance (&p));
    cuda_pair_free (&p);
    test_buffer_clear (&in);
    test_buffer_clear (&out);
  }
  tap_many_end (&many);
}

/* ---- rows ------------------------------------------------------------------------- */

/* Each case in device memory, in place; from the device to the CPU and back, in blocks
 * of any length; and one way up, one down, and the launches that
 * docs/dev/cuda-backend.md says. */
static void
test_cases (void)
{
  TapMany there = tap_many ("in place in device memory");
  TapMany turns =
      tap_many ("the state goes from the device to the CPU and back");
  TapMany work =
      tap_many ("one upload, one download, and the expected launches");

  for (unsigned i = 0; i < N_OF (cases); i++) {
    const unsigned n_channels = cases[i].n_channels;
    TfxChain *chain = test_cuda_parse (cases[i].text, n_channels);
    CudaPair p = cuda_pair_new (tfx_chain_ref (chain), n_channels, 700, cuda);
    const size_t size = p.n * sizeof *p.have;
    void *memory = test_cuda_alloc (cuda, size);
    TfxBlock block =
        tfx_block_interleaved (memory, TFX_SAMPLE_F64, n_channels, 700);

    test_cuda_upload (cuda, memory, p.have, size);
    p.ret = cuda_row_run (p.row, &block, &block);
    test_cuda_download (cuda, p.have, memory, size);
    cuda_pair_there (&p, 0, 700);
    tap_many_check (&there, cuda_pair_agrees (&p, 1e-12), "%s: returns %d, %g",
        cases[i].text, p.ret, cuda_pair_distance (&p));
    test_cuda_free (cuda, memory);
    cuda_pair_free (&p);

    p = cuda_pair_new (tfx_chain_ref (chain), n_channels, 6 * 300, cuda);
    cuda_pair_run (&p, 6, 200);
    tap_many_check (&turns, cuda_pair_agrees (&p, 1e-11), "%s: returns %d, %g",
        cases[i].text, p.ret, cuda_pair_distance (&p));
    cuda_pair_free (&p);

    p = cuda_pair_new (chain, n_channels, 1, cuda);
    cuda_row_check_work (&work, p.row, cuda, n_channels, TFX_SAMPLE_F64, 600,
        cases[i].n_launches, cases[i].text);
    cuda_pair_free (&p);
  }
  tap_many_end (&there);
  tap_many_end (&turns);
  tap_many_end (&work);
}

/* New gains are ramped on the CPU; the device continues with them. */
static void
test_new_gains (void)
{
  static const double gains[][4] = { { 1, 0, 0, 1 }, { 0, 1, 1, 0 },
    { 0.5, 0.5, 0.25, -0.25 } };
  const uint64_t id = tfx_stage_new_id ();
  const size_t n = 2000;
  CudaPair p;

  for (unsigned i = 0; i < 3; i++) {
    TfxChain *chain = test_cuda_chain_of (tfx_stage_new_mix (id, 2, gains[i]));

    if (i == 0)
      p = cuda_pair_new (chain, 2, 3 * n, cuda);
    else
      cuda_pair_set_chain (&p, chain);
    cuda_pair_here (&p, i * n, n, 500);
    cuda_pair_there (&p, i * n, n);
  }
  tap_check (p.ret == 0 && cuda_pair_distance (&p) < 1e-12,
      "gains that are set: %d, %g", p.ret, cuda_pair_distance (&p));
  tap_check (p.row->n_by_cpu > 0 && p.row->n_by_cpu < 3000,
      "%d of %d frames by the CPU", (int)p.row->n_by_cpu, (int)(3 * n));
  cuda_pair_free (&p);
}

/* Each channel that is cleared counts once, whichever branch it is in. */
static void
test_recoveries (void)
{
  CudaPair p = cuda_pair_new (test_cuda_parse ("ch[0, 2]: LoButterworth(1000); "
                                               "ch[1]: Compressor(-20); "
                                               "ch[3, 4, 6]: FIR([1, 2])",
                                  7),
      7, 100, cuda);

  for (unsigned c = 0; c < 7; c++)
    p.have[7 * 50 + c] = NAN;
  cuda_pair_here (&p, 0, 100, 0);
  tap_check (p.ret == 0 && cuda_row_stats (p.row).recoveries == 6,
      "what is not finite: %d, %d of 6 channels are cleared", p.ret,
      (int)cuda_row_stats (p.row).recoveries);
  cuda_pair_free (&p);
}

/* ---- matrices of kernels ------------------------------------------------------------ */

/* A matrix from n inputs to two outputs, as layouts of a Convolve make them, with kernels
 * of noise, and a gain, which the taps include. */
static TfxChain *
matrix_chain (uint64_t id, unsigned n, unsigned n_kernels, size_t n_taps,
    TfxFirMethod method)
{
  TfxChain *chain = tfx_chain_new ();
  double *taps = test_cuda_noise (n_kernels * n_taps);
  const double *kernels[16];
  int matrix[8 * 8];

  for (unsigned k = 0; k < n_kernels; k++)
    kernels[k] = taps + k * n_taps;
  for (unsigned i = 0; i < n * n; i++)
    matrix[i] = i < 2 * n ? (int)(i * 3 % n_kernels) : -1;
  test_cuda_append (&chain, tfx_stage_new_fir_matrix (id, n, matrix, kernels,
                                n_kernels, n_taps, method));
  test_cuda_append (&chain, tfx_stage_new_gain (2, 0.25));
  free (taps);
  return chain;
}

/* The device runs all frames, in two launches, whatever the method.  The state goes to the
 * CPU and back.  The CPU fades new taps in, and the device continues with them. */
static void
test_matrix (void)
{
  static const struct
  {
    unsigned n, n_kernels;
    size_t n_taps;
    TfxFirMethod method;
  } shapes[] = { { 2, 4, 3, TFX_FIR_DIRECT }, { 2, 4, 700, TFX_FIR_AUTO },
    { 7, 7, 90, TFX_FIR_AUTO }, { 8, 14, 1300, TFX_FIR_FFT } };
  TapMany turns = tap_many ("matrices go to the CPU and back"),
          work = tap_many ("a matrix is two launches"),
          changes = tap_many ("matrices of other taps");

  for (unsigned i = 0; i < N_OF (shapes); i++) {
    const unsigned n = shapes[i].n, n_kernels = shapes[i].n_kernels;
    const size_t n_taps = shapes[i].n_taps;
    char what[40];
    CudaPair p =
        cuda_pair_new (matrix_chain (1, n, n_kernels, n_taps, shapes[i].method),
            n, 6000, cuda);

    snprintf (what, sizeof what, "%u channels, %zu taps", n, n_taps);
    cuda_pair_run (&p, 6, 700);
    tap_many_check (&turns, cuda_pair_agrees (&p, 1e-12), "%s: returns %d, %g",
        what, p.ret, cuda_pair_distance (&p));
    cuda_pair_free (&p);

    p = cuda_pair_new (matrix_chain (1, n, n_kernels, n_taps, shapes[i].method),
        n, 6000, cuda);
    for (unsigned k = 0; k < 3; k++) {
      cuda_pair_here (&p, k * 2000, 2000, 500);
      cuda_pair_there (&p, k * 2000, 2000);
      cuda_pair_set_chain (&p,
          matrix_chain (1, n, n_kernels, n_taps, shapes[i].method));
    }
    tap_many_check (&changes,
        p.ret == 0 && cuda_pair_distance (&p) < 1e-12 && p.row->n_by_cpu > 0 &&
            p.row->n_by_cpu < 3000,
        "%s: returns %d, %g, %d frames by the CPU", what, p.ret,
        cuda_pair_distance (&p), (int)p.row->n_by_cpu);
    cuda_pair_free (&p);

    p = cuda_pair_new (matrix_chain (1, n, n_kernels, n_taps, shapes[i].method),
        n, 1, cuda);
    cuda_row_check_work (&work, p.row, cuda, n, TFX_SAMPLE_F64, 600, 2, what);
    cuda_pair_free (&p);
  }
  tap_many_end (&turns);
  tap_many_end (&work);
  tap_many_end (&changes);
}

static const TapTest tests[] = {
  { "layouts", test_layouts },
  { "matrix", test_matrix },
  { "cases", test_cases },
  { "new-gains", test_new_gains },
  { "recoveries", test_recoveries },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, tests, NULL, &cuda);
}
