/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_kernels.c: the cascade kernels over lengths, channels, depths and shapes,
 * against the recursion in long double. */
#include "cudarow.h"
#include "kernelcase.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
check_error (TapMany *many, const KernelCase *c)
{
  size_t n = c->n_frames * c->n_channels;
  double *in = kernel_noise_new (n), *out = test_alloc (n * sizeof *out);
  int ret = kernel_case_run (c, TEST_LAYOUT_INTERLEAVED, false, in, out);
  double error = ret == 0 ? kernel_case_error (c, in, out) : NAN;

  tap_many_check (many, error <= 1,
      "%s: returns %d, %.3g times the error allowed", kernel_case_text (c), ret,
      error);
  free (in);
  free (out);
}

/* Both types, both arithmetics. */
static void
check_errors (TapMany *many, KernelCase c)
{
  static const struct
  {
    unsigned cuda;
    TfxSample type;
  } ways[] = { { 0, TFX_SAMPLE_F32 }, { 0, TFX_SAMPLE_F64 },
    { 1, TFX_SAMPLE_F32 } };

  c.rounding = test_cuda_rounding (c.sos, c.n_sos);
  for (size_t i = 0; i < N_OF (ways); i++) {
    c.cuda = kernel_cudas[ways[i].cuda];
    c.type = ways[i].type;
    check_error (many, &c);
  }
}

/* In the shape that it chooses. */
static void
check_shape (TapMany *many, const TfxSos *sos, size_t n_sos,
    unsigned n_channels, size_t n_frames)
{
  check_errors (many, (KernelCase){ .sos = sos,
                          .n_sos = n_sos,
                          .n_channels = n_channels,
                          .n_frames = n_frames,
                          .segment_log2 = -1,
                          .lanes_log2 = -1 });
}

/* ---- the grid -------------------------------------------------------------------- */

static void
test_lengths (void)
{
  static const size_t lengths[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    14, 15, 16, 17, 31, 32, 33, 64, 127, 255, 256, 257, 511, 1023, 1024, 1025,
    2047, 2048, 2049, 4096, 4097 };
  static const unsigned channels[] = { 1, 2, 3, 8, 11 };
  static const size_t depths[] = { 1, 2, 6, 7 };
  TapMany many = tap_many ("errors over lengths, channels and depths");
  TfxSos sos[8];

  for (size_t i = 0; i < N_OF (lengths); i++) {
    for (size_t j = 0; j < N_OF (channels); j++) {
      size_t depth = depths[(i + j) % N_OF (depths)];
      if (part_is_wanted () && lengths[i] * channels[j] > 3000)
        continue;
      test_cuda_random (sos, depth);
      check_shape (&many, sos, depth, channels[j], lengths[i]);
    }
  }
  tap_many_end (&many);
}

static void
test_channels (void)
{
  static const struct
  {
    unsigned n_channels;
    size_t n_frames;
  } shapes[] = { { 16, 64 }, { 33, 100 }, { 64, 1024 }, { 100, 256 },
    { 256, 128 }, { 1023, 64 }, { 1024, 64 }, { 1024, 200 }, { 24, 5000 } };
  TapMany many = tap_many ("errors with many channels");
  TfxSos sos[2];

  for (size_t i = 0; i < N_OF (shapes); i++) {
    if (part_is_wanted () && shapes[i].n_channels * shapes[i].n_frames > 70000)
      continue;
    test_cuda_random (sos, 2);
    check_shape (&many, sos, 2, shapes[i].n_channels, shapes[i].n_frames);
  }
  tap_many_end (&many);
}

static void
test_depths (void)
{
  static const size_t depths[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
    17, 20, 25, 31, 50, 64 };
  TapMany many = tap_many ("errors over depths");
  TfxSos sos[64];

  for (size_t i = 0; i < N_OF (depths); i++) {
    for (size_t n_frames = 300; n_frames <= 3300; n_frames += 3000) {
      if (part_is_wanted () && n_frames > 300 && depths[i] > 13)
        continue;
      /* A chain of very many sections at random has no sense, and parts of it
       * cancel each other. */
      if (depths[i] <= 10)
        test_cuda_random (sos, depths[i]);
      else
        test_cuda_equaliser (sos, depths[i]);
      check_shape (&many, sos, depths[i], 2, n_frames);
    }
  }
  tap_many_end (&many);
}

/* Every shape that a launch may have. */
static void
test_shapes (void)
{
  TapMany many = tap_many ("errors over segments and lanes");
  TfxSos sos[3];

  test_cuda_random (sos, 3);
  for (int segment = 3; segment <= 7; segment++) {
    for (int lanes = 0; lanes <= 5; lanes++) {
      size_t tile = (size_t)1 << (segment + lanes);
      for (int less = 0; less < 3; less++)
        check_errors (&many, (KernelCase){ .sos = sos,
                                 .n_sos = 3,
                                 .n_channels = 5,
                                 .n_frames = tile - (size_t)less * (tile / 3),
                                 .segment_log2 = segment,
                                 .lanes_log2 = lanes });
    }
  }
  tap_many_end (&many);
}

/* A gain of 0, sections with b0 = 0, and poles at the edges of stability. */
static void
test_odd_sections (void)
{
  static const TfxSos odd[] = {
    { 0, 0, 0, 0, 0 },
    { 0, 0.5, 0.25, -0.5, 0.2 },
    { 1e-40, 1e-40, 0, -0.5, 0 },
    { 0.5, 0, 0, 0, 0 },
    { 1, 0, 0, -0.999999, 0 },
    { 1e-3, -1e-3, 0, 0.999999, 0 },
    { 1, -2, 1, -1.9999, 0.99990001 },
    { 0.3, 0.2, 0.1, 0, 0.998 },
  };
  TapMany many = tap_many ("errors of odd sections");

  for (size_t i = 0; i < N_OF (odd); i++) {
    for (size_t n_frames = 1000; n_frames <= 5000; n_frames += 4000)
      check_shape (&many, &odd[i], 1, 1, n_frames);
  }
  tap_many_end (&many);
}

/* ---- fidelity -------------------------------------------------------------------------- */

/* Noise through sections: errors against the exact output, by power. */
typedef struct Fidelity
{
  const TfxSos *sos;
  size_t n_sos, n_frames;
  double *in, *out;
  TestReference reference;
} Fidelity;

static Fidelity
fidelity_new (const TfxSos *sos, size_t n_sos, size_t n_frames)
{
  Fidelity f = { sos, n_sos, n_frames, kernel_noise_new (n_frames),
    test_alloc (n_frames * sizeof (double)) };

  f.reference = test_reference_new (sos, n_sos, f.in, n_frames);
  return f;
}

static void
fidelity_free (Fidelity *f)
{
  test_reference_clear (&f->reference);
  free (f->in);
  free (f->out);
}

static double
device_db (Fidelity *f, TfxCuda *cuda, TfxSample type)
{
  const KernelCase c = { .cuda = cuda,
    .type = type,
    .sos = f->sos,
    .n_sos = f->n_sos,
    .n_channels = 1,
    .n_frames = f->n_frames,
    .segment_log2 = -1,
    .lanes_log2 = -1 };

  if (kernel_case_run (&c, TEST_LAYOUT_INTERLEAVED, false, f->in, f->out) != 0)
    return NAN;
  return test_error_db_f64 (f->out, 1, 1, &f->reference);
}

/* The CPU's kernel of choice, or the plain recursion. */
static double
cpu_db (Fidelity *f, bool is_plain)
{
  CudaRow *row =
      cuda_row_new_sections (f->sos, f->n_sos, 1, tfx_cpu_backend ());
  int ret = 0;

  memcpy (f->out, f->in, f->n_frames * sizeof *f->out);
  if (is_plain)
    test_run_f64 (f->sos, f->n_sos, f->in, f->out, f->n_frames, NULL);
  else
    ret = cuda_row_f64 (row, f->out, 1, f->n_frames);
  cuda_row_free (&row);
  return ret == 0 ? test_error_db_f64 (f->out, 1, 1, &f->reference) : NAN;
}

static void
check_fidelity (TapMany *many, const char *name, const TfxSos *sos,
    size_t n_sos)
{
  Fidelity f = fidelity_new (sos, n_sos, part_is_wanted () ? 10000 : 48000);
  const double a = device_db (&f, kernel_cudas[0], TFX_SAMPLE_F32);
  const double b = device_db (&f, kernel_cudas[1], TFX_SAMPLE_F32);
  const double d = device_db (&f, kernel_cudas[0], TFX_SAMPLE_F64);
  const double plain = cpu_db (&f, true);

  tap_diag ("%s: F32 %.1f dB in double, %.1f dB in two floats; F64 %.1f dB "
            "(%.1f dB sample by sample)",
      name, a, b, d, plain);
  tap_many_check (many, a <= -140 && b <= -140, "%s F32: %.1f, %.1f dB", name,
      a, b);
  tap_many_check (many, d <= plain + 6, "%s F64: %.1f dB, plain %.1f dB", name,
      d, plain);
  fidelity_free (&f);
}

static void
test_fidelity (void)
{
  static const TfxMode modes[] = { TFX_MODE_LOW_PASS, TFX_MODE_HIGH_PASS };
  static const unsigned orders[] = { 2, 4, 8, 16, 32 };
  TapMany many = tap_many ("fidelity with 20 Hz filters");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];

  test_cuda_api (sos);
  check_fidelity (&many, "api", sos, TEST_API_SECTIONS);
  for (size_t i = 0; i < N_OF (modes); i++) {
    for (size_t j = 0; j < N_OF (orders); j++) {
      const TfxDesign design = { TFX_FAMILY_BUTTERWORTH, modes[i], orders[j],
        20, 0, 0, 0 };
      char text[TEST_TEXT_SIZE];
      int n = tfx_design_sections (&design, 48000, sos);

      check_fidelity (&many, test_design_text (&design, 48000, text), sos,
          (size_t)n);
    }
  }
  tap_many_end (&many);
}

static void
check_depth (TapMany *many, const char *name, const TfxSos *sos, size_t n_sos)
{
  Fidelity f = fidelity_new (sos, n_sos, 24000);
  const double device = device_db (&f, kernel_cudas[0], TFX_SAMPLE_F64);
  const double cpu = cpu_db (&f, false);

  tap_diag ("%s: %.1f dB, %.1f on the CPU", name, device, cpu);
  tap_many_check (many, device <= cpu + 6, "%s: %.1f dB, %.1f on the CPU", name,
      device, cpu);
  fidelity_free (&f);
}

/* Doubles through many sections are as exact as on the CPU. */
static void
test_deep (void)
{
  static const TfxDesign designs[] = {
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 24, 20, 0, 0, 0 },
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS, 48, 10000, 0, 0, 0 },
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_REJECT, 4, 20, 30, 0, 0 },
    { TFX_FAMILY_BUTTERWORTH, TFX_MODE_BAND_REJECT, 12, 1000, 1500, 0, 0 },
    { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_BAND_PASS, 24, 20, 30, 0.5, 0 },
    { TFX_FAMILY_CHEBYSHEV1, TFX_MODE_LOW_PASS, 48, 1000, 0, 0.5, 0 },
  };
  static const size_t depths[] = { 1, 6, 12, 25, 50 };
  TapMany many = tap_many ("many sections, in doubles");
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  char text[TEST_TEXT_SIZE];

  for (size_t i = 0; i < N_OF (designs); i++) {
    int n = tfx_design_sections (&designs[i], 48000, sos);
    check_depth (&many, test_design_text (&designs[i], 48000, text), sos,
        (size_t)n);
  }
  for (size_t i = 0; i < N_OF (depths); i++) {
    test_cuda_equaliser (sos, depths[i]);
    snprintf (text, sizeof text, "an equaliser of %zu sections", depths[i]);
    check_depth (&many, text, sos, depths[i]);
  }
  tap_many_end (&many);
}

/* Likewise where sections take away what others ring with, as they do in cascades
 * at random. */
static void
test_deep_random (void)
{
  static const size_t depths[] = { 12, 12, 12, 12, 16, 16, 24, 24, 32, 50 };
  TapMany many = tap_many ("many sections at random, in doubles");
  TfxSos sos[50];
  char text[TEST_TEXT_SIZE];

  for (size_t i = 0; i < N_OF (depths); i++) {
    test_cuda_random (sos, depths[i]);
    snprintf (text, sizeof text, "%zu sections at random", depths[i]);
    check_depth (&many, text, sos, depths[i]);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "lengths", test_lengths },
  { "channels", test_channels },
  { "depths", test_depths },
  { "shapes", test_shapes },
  { "odd-sections", test_odd_sections },
  { "fidelity", test_fidelity },
  { "deep", test_deep },
  { "deep-random", test_deep_random },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main_both (argc, argv, tests, kernel_cudas);
}
