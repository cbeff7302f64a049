/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_tiles.c: cascade kernels give the same bits for any order of blocks and
 * threads, number of resident blocks and layout, in place or not. */
#include "kernelcase.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
check_orders (TapMany *right, TapMany *same, const KernelCase *c)
{
  static const char *const orders[][2] = { { "forward", "1" },
    { "reverse", "1" }, { "reverse", "16" }, { "random:1", "3" },
    { "random:2", "16" }, { "forward", "7" } };
  size_t n = c->n_frames * c->n_channels;
  double *in = kernel_noise_new (n), *out = test_alloc (n * sizeof *out);
  double *again = test_alloc (n * sizeof *again);
  bool is_standin = test_cuda_is_standin ();
  double error = NAN;

  set_order ("forward", "4");
  if (kernel_case_run (c, TEST_LAYOUT_PLANAR, false, in, out) == 0)
    error = kernel_case_error (c, in, out);
  tap_many_check (right, error <= 1, "%s: %.3g times the error allowed",
      kernel_case_text (c), error);
  for (size_t i = 0; i < (is_standin ? N_OF (orders) : N_REPEATS); i++) {
    const char *const *order = orders[i % N_OF (orders)];
    int ret;

    set_order (order[0], order[1]);
    ret = kernel_case_run (c, TEST_LAYOUT_PLANAR, true, in, again);
    tap_many_check (same, ret == 0 && memcmp (out, again, n * sizeof *out) == 0,
        "%s: run %zu, %s, %s blocks at a time: returns %d",
        kernel_case_text (c), i, order[0], order[1], ret);
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
      KernelCase c = { .cuda = kernel_cudas[k == 2],
        .type = (TfxSample)(k == 1),
        .sos = sos,
        .n_sos = k == 0 ? 8 : 2,
        .n_channels = 1 + k,
        .n_frames = tiles[i] * 256,
        .segment_log2 = 3,
        .lanes_log2 = 5,
        .max_grid = k == 0 ? 0 : 5 };

      if (part_is_wanted () && tiles[i] > 34)
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

  if (part_is_wanted ()) {
    tap_skip ("takes too long with sanitizers", "a thousand tiles");
    return;
  }
  for (size_t i = 0; i < N_OF (tiles); i++) {
    KernelCase c = { .cuda = kernel_cudas[i % 2],
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

/* All layouts, in place and not, against the interleaved one; its error, if that
 * is wanted. */
static void
check_layouts (TapMany *many, TapMany *right, const KernelCase *c)
{
  size_t n = c->n_frames * c->n_channels;
  double *in = kernel_noise_new (n), *plain = test_alloc (n * sizeof *plain);
  double *out = test_alloc (n * sizeof *out);
  int ret = kernel_case_run (c, TEST_LAYOUT_INTERLEAVED, false, in, plain);

  if (right)
    tap_many_check (right, ret == 0 && kernel_case_error (c, in, plain) <= 1,
        "%s: returns %d", kernel_case_text (c), ret);
  for (unsigned layout = 0; layout < TEST_N_LAYOUTS; layout++) {
    for (unsigned in_place = 0; in_place < 2; in_place++) {
      if (ret == 0)
        ret = kernel_case_run (c, (TestLayout)layout, in_place, in, out);
      tap_many_check (many,
          ret == 0 && memcmp (out, plain, n * sizeof *out) == 0,
          "%s: layout %u, in place %u: returns %d", kernel_case_text (c),
          layout, in_place, ret);
    }
  }
  free (in);
  free (plain);
  free (out);
}

static void
test_layouts (void)
{
  static const size_t lengths[] = { 1, 100, 1000, 3000 };
  static const unsigned channels[] = { 1, 2, 7, 12, 40 };
  TapMany many = tap_many ("layout and place do not matter");
  TfxSos sos[6];

  test_cuda_api (sos);
  for (size_t i = 0; i < N_OF (lengths) * N_OF (channels) * 2; i++) {
    if (!part_has ((unsigned)i, 5))
      continue;
    KernelCase c = { .cuda = kernel_cudas[i % 3 == 2],
      .type = (TfxSample)(i % 2),
      .sos = sos,
      .n_sos = 6,
      .n_channels = channels[i / 8 % 5],
      .n_frames = lengths[i / 2 % 4] };

    /* One shape for both orders of samples. */
    c.segment_log2 = 5;
    c.lanes_log2 = c.n_frames <= 32 ? 0 : 5;
    check_layouts (&many, NULL, &c);
  }
  tap_many_end (&many);
}

/* Segments that are only partly in shared memory at a time. */
static void
test_rounds (void)
{
  static const size_t lengths[] = { 129, 3000, 8192, 8193, 16390, 33000 };
  static const unsigned channels[] = { 1, 3, 8, 9 };
  TapMany right = tap_many ("errors over segments in rounds");
  TapMany same = tap_many ("layout and place do not matter, in rounds");
  TfxSos sos[6];

  for (size_t i = 0; i < N_OF (lengths) * N_OF (channels); i++) {
    KernelCase c = { .cuda = kernel_cudas[i % 5 == 4],
      .type = TFX_SAMPLE_F32,
      .sos = sos,
      .n_sos = 1 + i % 6,
      .n_channels = channels[i % N_OF (channels)],
      .n_frames = lengths[i / N_OF (channels)],
      .segment_log2 = 7 + (int)(i % 3 > 0),
      .lanes_log2 = 5 };

    if (!part_has ((unsigned)i, 5))
      continue;
    test_cuda_random (sos, c.n_sos);
    c.rounding = test_cuda_rounding (sos, c.n_sos);
    check_layouts (&same, &right, &c);
  }
  tap_many_end (&right);
  tap_many_end (&same);
}

static const TapTest tests[] = {
  { "tiles", test_tiles },
  { "many-tiles", test_many_tiles },
  { "layouts", test_layouts },
  { "rounds", test_rounds },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main_both (argc, argv, tests, kernel_cudas);
}
