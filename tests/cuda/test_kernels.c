/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_kernels.c: the cascade kernels over lengths, channels, depths, layouts
 * and tiles, against the recursion in long double.
 *
 * What must not matter -- the order of blocks and threads, how many run at a
 * time, the layout, in place or apart -- is compared to the bit.  The bound on
 * errors is taken from the sections: what plain double arithmetic makes of
 * them, times ERROR_FACTOR, or where that is very little FLOOR of the largest
 * output; for two floats times what these have fewer bits. */
#include "buffer.h"
#include "common-cuda.h"
#include "engine.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_FACTOR 4
/* -240 dB.  The state of a section is put together from those of the sections
 * before it, which may be larger by far. */
#define FLOOR 1e-12
/* 48 bits instead of 53, and a bit for what an operation may lose more. */
#define TWOFOLD_FACTOR 64

#define N_OF(array) (sizeof array / sizeof *array)

static TfxCuda *cudas[2]; /* double, twofold */

typedef struct Case
{
  TfxCuda *cuda;
  TfxSample type;
  const TfxSos *sos;
  size_t n_sos;
  double rounding;
  unsigned n_channels;
  size_t n_frames;
  int segment_log2, lanes_log2; /* -1: as it likes */
  unsigned max_grid;            /* 0: likewise */
} Case;

static const char *
case_text (const Case *c)
{
  static char text[256];

  snprintf (text, sizeof text,
      "%s %s, %zu sections, %u channels, %zu frames, "
      "segments 2^%d",
      tfx_cuda_backend (c->cuda)->kernel,
      c->type == TFX_SAMPLE_F32 ? "F32" : "F64", c->n_sos, c->n_channels,
      c->n_frames, c->segment_log2);
  return text;
}

/* From rest; in and out are [n_frames][n_channels].  How many channels have
 * been cleared, or an error. */
static int
run_case (const Case *c, TestLayout layout, bool in_place, const double *in,
    double *out)
{
  TestBuffer from =
      test_buffer_new (layout, c->type, c->n_channels, c->n_frames, 3);
  TestBuffer to =
      test_buffer_new (layout, c->type, c->n_channels, c->n_frames, 2);
  TfxBlock *target = in_place ? &from.block : &to.block;
  TfxPlan *plan;
  TfxEngine *engine =
      test_cuda_engine (c->cuda, c->sos, c->n_sos, c->n_channels, &plan);
  int ret;

  tfx_cuda_engine_force (engine, c->segment_log2, c->lanes_log2, c->max_grid);
  test_buffer_set (&from, in);
  ret = plan->backend->run (engine, &from.block, target);
  test_buffer_get (in_place ? &from : &to, out);
  if (!test_buffer_is_guarded (&from) || !test_buffer_is_guarded (&to))
    ret = -1000;
  plan->backend->engine_free (engine);
  tfx_plan_unref (&plan);
  test_buffer_clear (&from);
  test_buffer_clear (&to);
  return ret;
}

/* The largest error in units of what is allowed. */
static double
error_of (const Case *c, const double *in, const double *out)
{
  size_t n = c->n_frames;
  double *one = test_alloc (n * sizeof *one);
  long double *exact = test_alloc (n * sizeof *exact);
  double worst = 0;

  for (unsigned channel = 0; channel < c->n_channels; channel++) {
    double base = ERROR_FACTOR * c->rounding;
    long double peak = 0;

    for (size_t i = 0; i < n; i++)
      one[i] = in[i * c->n_channels + channel];
    test_run_long (c->sos, c->n_sos, one, exact, n);
    for (size_t i = 0; i < n; i++)
      peak = fmaxl (peak, fabsl (exact[i]));
    base = fmax (base, FLOOR * (double)peak);
    if (c->type == TFX_SAMPLE_F32 && c->cuda == cudas[1])
      base *= TWOFOLD_FACTOR;
    for (size_t i = 0; i < n; i++) {
      double e = fabs ((double)(out[i * c->n_channels + channel] - exact[i]));
      double allowed = base + DBL_MIN;
      if (c->type == TFX_SAMPLE_F32)
        allowed +=
            FLT_EPSILON / 2 * ((double)fabsl (exact[i]) + base) + FLT_MIN;
      if (!(e / allowed <= worst))
        worst = e / allowed;
    }
  }
  free (one);
  free (exact);
  return worst;
}

/* Noise of values that a float holds. */
static double *
noise_new (size_t n)
{
  double *noise = test_alloc ((n + 1) * sizeof *noise);
  float *floats = test_alloc ((n + 1) * sizeof *floats);

  test_noise_f32 (floats, n);
  for (size_t i = 0; i < n; i++)
    noise[i] = floats[i];
  free (floats);
  return noise;
}

static void
check_error (TapMany *many, const Case *c)
{
  size_t n = c->n_frames * c->n_channels;
  double *in = noise_new (n), *out = test_alloc (n * sizeof *out);
  int ret = run_case (c, TEST_LAYOUT_INTERLEAVED, false, in, out);
  double error = ret == 0 ? error_of (c, in, out) : NAN;

  tap_many_check (many, error <= 1,
      "%s: returns %d, %.3g times the error allowed", case_text (c), ret,
      error);
  free (in);
  free (out);
}

/* Both types, both arithmetics. */
static void
check_errors (TapMany *many, Case c)
{
  static const struct
  {
    unsigned cuda;
    TfxSample type;
  } ways[] = { { 0, TFX_SAMPLE_F32 }, { 0, TFX_SAMPLE_F64 },
    { 1, TFX_SAMPLE_F32 } };

  c.rounding = test_cuda_rounding (c.sos, c.n_sos);
  for (size_t i = 0; i < N_OF (ways); i++) {
    c.cuda = cudas[ways[i].cuda];
    c.type = ways[i].type;
    check_error (many, &c);
  }
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
      if (test_is_sanitized () && lengths[i] * channels[j] > 3000)
        continue;
      test_cuda_random (sos, depth);
      check_errors (&many, (Case){ .sos = sos,
                               .n_sos = depth,
                               .n_channels = channels[j],
                               .n_frames = lengths[i],
                               .segment_log2 = -1,
                               .lanes_log2 = -1 });
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
    if (test_is_sanitized () &&
        shapes[i].n_channels * shapes[i].n_frames > 70000)
      continue;
    test_cuda_random (sos, 2);
    check_errors (&many, (Case){ .sos = sos,
                             .n_sos = 2,
                             .n_channels = shapes[i].n_channels,
                             .n_frames = shapes[i].n_frames,
                             .segment_log2 = -1,
                             .lanes_log2 = -1 });
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
      if (test_is_sanitized () && n_frames > 300 && depths[i] > 13)
        continue;
      /* A chain of very many sections at random has no sense, and parts of it
       * cancel each other. */
      if (depths[i] <= 10)
        test_cuda_random (sos, depths[i]);
      else
        test_cuda_equaliser (sos, depths[i]);
      check_errors (&many, (Case){ .sos = sos,
                               .n_sos = depths[i],
                               .n_channels = 2,
                               .n_frames = n_frames,
                               .segment_log2 = -1,
                               .lanes_log2 = -1 });
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
        check_errors (&many, (Case){ .sos = sos,
                                 .n_sos = 3,
                                 .n_channels = 5,
                                 .n_frames = tile - (size_t)less * (tile / 3),
                                 .segment_log2 = segment,
                                 .lanes_log2 = lanes });
    }
  }
  tap_many_end (&many);
}

/* A gain of nought, sections whose b0 is nought, and poles at the edges of
 * what is stable. */
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
      check_errors (&many, (Case){ .sos = &odd[i],
                               .n_sos = 1,
                               .n_channels = 1,
                               .n_frames = n_frames,
                               .segment_log2 = -1,
                               .lanes_log2 = -1 });
  }
  tap_many_end (&many);
}

/* ---- tiles and orders --------------------------------------------------------------- */

static void
set_order (const char *order, const char *resident)
{
  test_cuda_set ("TFX_STANDIN_ORDER", order);
  test_cuda_set ("TFX_STANDIN_RESIDENT", resident);
}

/* Runs on a device that is there, whose order is its own. */
#define N_REPEATS 20

/* Blocks and threads in several orders, more and fewer at a time, or again and
 * again; the same bits, and the right ones. */
static void
check_orders (TapMany *right, TapMany *same, const Case *c)
{
  static const char *const orders[][2] = { { "forward", "1" },
    { "reverse", "1" }, { "reverse", "16" }, { "random:1", "3" },
    { "random:2", "16" }, { "forward", "7" } };
  size_t n = c->n_frames * c->n_channels;
  double *in = noise_new (n), *out = test_alloc (n * sizeof *out);
  double *again = test_alloc (n * sizeof *again);
  bool is_standin = test_cuda_is_standin ();
  double error = NAN;

  set_order ("forward", "4");
  if (run_case (c, TEST_LAYOUT_PLANAR, false, in, out) == 0)
    error = error_of (c, in, out);
  tap_many_check (right, error <= 1, "%s: %.3g times the error allowed",
      case_text (c), error);
  for (size_t i = 0; i < (is_standin ? N_OF (orders) : N_REPEATS); i++) {
    const char *const *order = orders[i % N_OF (orders)];
    int ret;

    set_order (order[0], order[1]);
    ret = run_case (c, TEST_LAYOUT_PLANAR, true, in, again);
    tap_many_check (same, ret == 0 && memcmp (out, again, n * sizeof *out) == 0,
        "%s: run %zu, %s, %s blocks at a time: returns %d", case_text (c), i,
        order[0], order[1], ret);
  }
  set_order (NULL, NULL);
  free (in);
  free (out);
  free (again);
}

static void
test_tiles (void)
{
  static const size_t tiles[] = { 1, 2, 3, 31, 32, 33, 34, 63, 64, 65, 96, 97 };
  TapMany right = tap_many ("errors over numbers of tiles");
  TapMany same = tap_many ("the same bits in every order");
  TfxSos sos[8];

  for (size_t i = 0; i < N_OF (tiles); i++) {
    for (unsigned k = 0; k < 3; k++) {
      Case c = { .cuda = cudas[k == 2],
        .type = (TfxSample)(k == 1),
        .sos = sos,
        .n_sos = k == 0 ? 8 : 2,
        .n_channels = 1 + k,
        .n_frames = tiles[i] * 256,
        .segment_log2 = 3,
        .lanes_log2 = 5,
        .max_grid = k == 0 ? 0 : 5 };

      if (test_is_sanitized () && tiles[i] > 34)
        continue;
      /* Whole tiles, one frame more, some less. */
      c.n_frames += k == 1 ? 1 : k == 2 ? (size_t)-117 : 0;
      test_cuda_random (sos, c.n_sos);
      c.rounding = test_cuda_rounding (sos, c.n_sos);
      check_orders (&right, &same, &c);
    }
  }
  tap_many_end (&right);
  tap_many_end (&same);
}

/* More than a super node: 1024 tiles and some. */
static void
test_many_tiles (void)
{
  static const size_t tiles[] = { 1023, 1024, 1025, 1057, 2081 };
  TapMany right = tap_many ("errors over a thousand tiles");
  TapMany same = tap_many ("the same bits in every order");
  TfxSos sos[1];

  if (test_is_sanitized ()) {
    tap_skip ("takes too long with sanitizers", "a thousand tiles");
    return;
  }
  for (size_t i = 0; i < N_OF (tiles); i++) {
    Case c = { .cuda = cudas[i % 2],
      .type = TFX_SAMPLE_F32,
      .sos = sos,
      .n_sos = 1,
      .n_channels = 1,
      .n_frames = tiles[i] * 256 - 13,
      .segment_log2 = 3,
      .lanes_log2 = 5,
      .max_grid = 40 };
    test_cuda_random (sos, 1);
    c.rounding = test_cuda_rounding (sos, 1);
    check_orders (&right, &same, &c);
  }
  tap_many_end (&right);
  tap_many_end (&same);
}

/* ---- layouts --------------------------------------------------------------------------- */

static void
test_layouts (void)
{
  static const size_t lengths[] = { 1, 100, 1000, 3000 };
  static const unsigned channels[] = { 1, 2, 7, 12, 40 };
  TapMany many = tap_many ("layout and place do not matter");
  TfxSos sos[6];

  test_cuda_api (sos);
  for (size_t i = 0; i < N_OF (lengths) * N_OF (channels) * 2; i++) {
    Case c = { .cuda = cudas[i % 3 == 2],
      .type = (TfxSample)(i % 2),
      .sos = sos,
      .n_sos = 6,
      .n_channels = channels[i / 8 % 5],
      .n_frames = lengths[i / 2 % 4],
      .segment_log2 = -1,
      .lanes_log2 = -1 };
    size_t n = c.n_frames * c.n_channels;
    double *in = noise_new (n), *plain = test_alloc (n * sizeof *plain);
    double *out = test_alloc (n * sizeof *out);
    int ret;

    /* One shape for both orders of samples. */
    c.segment_log2 = 5;
    c.lanes_log2 = c.n_frames <= 32 ? 0 : 5;
    ret = run_case (&c, TEST_LAYOUT_INTERLEAVED, false, in, plain);
    for (unsigned layout = 0; layout < TEST_N_LAYOUTS; layout++) {
      for (unsigned in_place = 0; in_place < 2; in_place++) {
        if (ret == 0)
          ret = run_case (&c, (TestLayout)layout, in_place, in, out);
        tap_many_check (&many,
            ret == 0 && memcmp (out, plain, n * sizeof *out) == 0,
            "%s: layout %u, in place %u: returns %d", case_text (&c), layout,
            in_place, ret);
      }
    }
    free (in);
    free (plain);
    free (out);
  }
  tap_many_end (&many);
}

/* ---- fidelity -------------------------------------------------------------------------- */

/* Against the exact output, by power. */
static double
fidelity_db (TfxCuda *cuda, TfxSample type, const TfxSos *sos, size_t n_sos,
    size_t n_frames, double *plain_db)
{
  double *in = noise_new (n_frames), *out = test_alloc (n_frames * sizeof *out);
  Case c = { .cuda = cuda,
    .type = type,
    .sos = sos,
    .n_sos = n_sos,
    .n_channels = 1,
    .n_frames = n_frames,
    .segment_log2 = -1,
    .lanes_log2 = -1 };
  TestReference reference = test_reference_new (sos, n_sos, in, n_frames);
  double db = NAN;

  if (run_case (&c, TEST_LAYOUT_INTERLEAVED, false, in, out) == 0)
    db = test_error_db_f64 (out, 1, 1, &reference);
  test_run_f64 (sos, n_sos, in, out, n_frames, NULL);
  *plain_db = test_error_db_f64 (out, 1, 1, &reference);
  test_reference_clear (&reference);
  free (in);
  free (out);
  return db;
}

static void
check_fidelity (TapMany *many, const char *name, const TfxSos *sos,
    size_t n_sos)
{
  size_t n_frames = test_is_sanitized () ? 10000 : 48000;
  double plain, a, b, d;

  a = fidelity_db (cudas[0], TFX_SAMPLE_F32, sos, n_sos, n_frames, &plain);
  b = fidelity_db (cudas[1], TFX_SAMPLE_F32, sos, n_sos, n_frames, &plain);
  d = fidelity_db (cudas[0], TFX_SAMPLE_F64, sos, n_sos, n_frames, &plain);
  tap_diag ("%s: F32 %.1f dB in double, %.1f dB in two floats; F64 %.1f dB "
            "(%.1f dB sample by sample)",
      name, a, b, d, plain);
  tap_many_check (many, a <= -140 && b <= -140, "%s F32: %.1f, %.1f dB", name,
      a, b);
  tap_many_check (many, d <= plain + 6, "%s F64: %.1f dB, plain %.1f dB", name,
      d, plain);
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

static const TapTest tests[] = {
  { "lengths", test_lengths },
  { "channels", test_channels },
  { "depths", test_depths },
  { "shapes", test_shapes },
  { "odd-sections", test_odd_sections },
  { "tiles", test_tiles },
  { "many-tiles", test_many_tiles },
  { "layouts", test_layouts },
  { "fidelity", test_fidelity },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  int status;

  cudas[0] = test_cuda_new (TEST_CUDA_DOUBLE);
  cudas[1] = test_cuda_new (TEST_CUDA_TWOFOLD);
  status = tap_main (argc, argv, tests);
  tfx_cuda_unref (&cudas[0]);
  tfx_cuda_unref (&cudas[1]);
  return status;
}
