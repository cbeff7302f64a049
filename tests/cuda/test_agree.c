/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_agree.c: random chains of every class: the device has the output of the CPU, for all
 * block lengths and layouts, in both arithmetics, and after moves from one to the other
 * and back. */
#include "buffer.h"
#include "chaingen.h"
#include "chains.h"
#include "lang/expr.h"
#include "part.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_CHAINS 120
#define N_FRAMES 700
#define MAX_CHANNELS 5
#define MAX_TEXT 4096

/* Largest difference of doubles and of floats, relative to the largest value; and
 * of two kernels of the CPU. */
#define ROUNDING_F64 1e-8
#define ROUNDING_F32 4e-6
#define ROUNDING_CPU 30

static TfxCuda *cudas[2];

typedef struct Case
{
  char text[MAX_TEXT];
  TfxChain *chain;
  TfxFilterSpec spec;
  double in[N_FRAMES * MAX_CHANNELS];
} Case;

/* One that can be built. */
static void
make_case (Case *c, uint64_t *state)
{
  static const double rates[] = { 48000, 44100, 8000, 2000 };

  c->chain = NULL;
  while (!c->chain) {
    TfxExpr *expr;

    c->spec = (TfxFilterSpec){ rates[tap_random_below (N_OF (rates))],
      1 + tap_random_below (MAX_CHANNELS),
      tap_random_below (2) ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32, 0 };
    chaingen_write (state, 1 + tap_random_below (6), c->text, MAX_TEXT);
    expr = tfx_expr_parse (c->text, strlen (c->text), NULL);
    if (expr)
      tfx_expr_build (expr, c->spec.rate_hz, c->spec.n_channels, NULL, NULL,
          &c->chain, NULL);
    tfx_expr_free (&expr);
  }
  /* Sound, and a part that is silence. */
  for (size_t i = 0; i < N_FRAMES * c->spec.n_channels; i++)
    c->in[i] = i / c->spec.n_channels % 300 < 200
                   ? (float)tap_random_uniform (-1, 1)
                   : 0.0;
}

static int
run_block (CudaRow *row, const Case *c, double *x, size_t n_frames)
{
  const TestLayout layout = (TestLayout)tap_random_below (TEST_N_LAYOUTS);
  TestBuffer buffer = test_buffer_new (layout, c->spec.sample,
      c->spec.n_channels, n_frames, tap_random_below (4));
  int ret;

  test_buffer_set (&buffer, x);
  ret = cuda_row_run (row, &buffer.block, &buffer.block);
  test_buffer_get (&buffer, x);
  test_buffer_clear (&buffer);
  return ret;
}

/* In blocks up to `longest`; the first of the backends is that of most of them. */
static bool
run_on (const Case *c, const TfxBackend *const *backends, unsigned n,
    unsigned longest, double *x)
{
  CudaRow *row = cuda_row_new_for (c->chain, &c->spec, backends[0]);
  int ret = row ? 0 : -1;

  memcpy (x, c->in, sizeof c->in);
  for (size_t i = 0, m; ret == 0 && i < N_FRAMES; i += m) {
    m = 1 + tap_random_below (longest);
    m = m < N_FRAMES - i ? m : N_FRAMES - i;
    if (n > 1 && tap_random_below (3) == 0)
      ret = cuda_row_go_to (row, backends[tap_random_below (n)]);
    if (ret == 0)
      ret = run_block (row, c, x + i * c->spec.n_channels, m);
  }
  cuda_row_free (&row);
  return ret == 0;
}

/* (A Loudness(None) is there to be read, which the device is not.) */
static bool
runs_on_device (const Case *c)
{
  TfxFilter *filter = NULL;
  bool runs = tfx_filter_new (c->chain, &c->spec, &filter) == 0 &&
              tfx_filter_runs_on (filter, tfx_cuda_backend (cudas[0]));

  tfx_filter_unref (&filter);
  return runs;
}

static void
check_case (TapMany *many, unsigned i, const Case *c)
{
  static double want[N_OF (c->in)], other[N_OF (c->in)], have[N_OF (c->in)];
  const TfxBackend *plain = tfx_cpu_backend_for ("c");
  const TfxBackend *best = tfx_cpu_backend ();
  const TfxBackend *backends[] = { tfx_cuda_backend (cudas[i % 2]), plain };
  const size_t n = N_FRAMES * c->spec.n_channels;
  double limit = c->spec.sample == TFX_SAMPLE_F64 ? ROUNDING_F64 : ROUNDING_F32;
  double most = 1e-3, error = 0;
  bool is_run = run_on (c, &plain, 1, N_FRAMES, want) &&
                run_on (c, &best, 1, N_FRAMES, other) &&
                run_on (c, backends, 1 + i / 2 % 2, 400, have);

  for (size_t k = 0; k < n; k++) {
    most = fmax (most, fabs (want[k]));
    limit = fmax (limit, ROUNDING_CPU * fabs (other[k] - want[k]) / most);
    error = test_cuda_worse (error, fabs (have[k] - want[k]));
  }
  tap_many_check (many, is_run && error <= limit * most,
      "%u: arithmetic %u, %u channels, %g Hz, type %d: %g of %g\n# %s", i,
      i % 2, c->spec.n_channels, c->spec.rate_hz, (int)c->spec.sample, error,
      most, c->text);
}

static void
test_agree (void)
{
  TapMany many = tap_many ("what the CPU puts out");
  uint64_t state = tap_random () | 1;
  Case *c = test_alloc (sizeof *c);

  for (unsigned i = 0; i < N_CHAINS; i++) {
    make_case (c, &state);
    if (part_has (i, 4) && runs_on_device (c))
      check_case (&many, i, c);
    tfx_chain_unref (&c->chain);
  }
  free (c);
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "agree", test_agree },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main_both (argc, argv, tests, cudas);
}
