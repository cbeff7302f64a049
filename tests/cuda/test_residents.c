/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_residents.c: the state of a filter stays on the device while rows change:
 * it goes from plan to plan without the host, and to the host when the CPU wants
 * it. */
#include "chains.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define N_CHANNELS 2
#define N_FRAMES 1500
#define N_ROW 4
#define N_BLOCKS 8

static TfxCuda *cuda;

/* Copies between host and device, each way. */
static unsigned n_ups, n_downs, n_launches;

static uint64_t
now (void)
{
  return 0;
}

static void
did (const char *what, const char *name, size_t n_bytes, uint64_t start)
{
  (void)what, (void)n_bytes, (void)start;
  n_launches += strcmp (what, "launch") == 0;
  n_ups += strcmp (name, "upload") == 0;
  n_downs += strcmp (name, "download") == 0;
}

static const TfxCudaObserver observer = { now, did };

/* ---- rows ----------------------------------------------------------------------- */

/* Each kind of state. */
static const char *const texts[N_ROW] = {
  "HiButterworth(80, order=4) | Delay(1000, feedback=0.5, mix=0.4)",
  "LoButterworth(5000, order=6) | Compressor(-20, 4) | Reverb(0.4)",
  "DesignableFIR(2000, 701) | (LoButterworth(300) + HiChebyshev1(3000))",
  ("DesignableFIR(4000, 11) | ParametricEQ(1000, 2, 6) | Limiter(-12, 0.05) | "
   "Limiter(-14, 0.002)"),
};

static TfxFilter *
make_filter (const char *text, TfxSample sample)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = N_CHANNELS,
    .sample = sample };
  TfxChain *chain = test_cuda_parse (text, N_CHANNELS);
  TfxFilter *filter = NULL;

  if (tfx_filter_new (chain, &spec, &filter) < 0) {
    tap_diag ("no filter for \"%s\"", text);
    exit (1);
  }
  tfx_chain_unref (&chain);
  return filter;
}

/* The filters of a row, and, as in an element, the plan of each filter that is the
 * last one of a fused row. */
typedef struct Row
{
  TfxFilter *filters[N_ROW];
  TfxPlan *plans[N_ROW];
} Row;

static void
row_init (Row *row, TfxSample sample)
{
  *row = (Row){ 0 };
  for (unsigned i = 0; i < N_ROW; i++)
    row->filters[i] = make_filter (texts[i], sample);
  tfx_filter_lock_all (row->filters, N_ROW);
}

static void
row_clear (Row *row)
{
  for (unsigned i = 0; i < N_ROW; i++)
    tfx_plan_free (&row->plans[i]);
  tfx_filter_unlock_all (row->filters, N_ROW);
  for (unsigned i = 0; i < N_ROW; i++)
    tfx_filter_unref (&row->filters[i]);
}

/* Filters [first, end) as one.  *is_new: the plan is. */
static int
row_run (Row *row, size_t first, size_t end, const TfxBackend *backend,
    const TfxBlock *block, bool *is_new)
{
  TfxPlan **plan = &row->plans[end - 1];
  TfxFilter *const *filters = row->filters + first;
  int ret = 0;

  *is_new = !*plan || !tfx_plan_is_for (*plan, filters, end - first, backend);
  if (*is_new) {
    tfx_plan_free (plan);
    ret = tfx_plan_new (filters, end - first, backend, plan);
  }
  return ret < 0 ? ret : tfx_plan_run (*plan, block, block);
}

static TfxBlock
block_of (void *samples, TfxSample sample, size_t index, size_t n_frames)
{
  const size_t width =
      sample == TFX_SAMPLE_F32 ? sizeof (float) : sizeof (double);

  return tfx_block_interleaved ((char *)samples +
                                    index * N_FRAMES * N_CHANNELS * width,
      sample, N_CHANNELS, n_frames);
}

/* Uploads of an engine at rest and its first block: taps and coefficients. */
static unsigned
count_engine_ups (const TfxPlan *plan, TfxSample sample)
{
  double *silence = calloc (N_FRAMES * N_CHANNELS, sizeof *silence);
  const TfxBlock block = block_of (silence, sample, 0, N_FRAMES);
  const TfxBackend *backend = tfx_cuda_backend (cuda);
  const unsigned before = n_ups;
  TfxEngine *engine = NULL;

  if (backend->engine_new (plan, &engine) < 0 ||
      backend->run (engine, &block, &block) < 0)
    tap_diag ("no engine");
  backend->engine_free (engine);
  free (silence);
  return n_ups - before;
}

/* ---- on the device ---------------------------------------------------------------- */

/* Neighbours are fused and separated again with each block: only the blocks are
 * downloaded, and only blocks, taps and coefficients are uploaded. (The first state
 * is on the host.) */
static void
check_rows (TapMany *copies, TapMany *sound, unsigned number, TfxSample sample)
{
  const size_t n = N_BLOCKS * N_FRAMES * N_CHANNELS;
  double *a = test_cuda_noise (n), *b = test_alloc (n * sizeof *b);
  const TfxBlock all = block_of (b, sample, 0, N_BLOCKS * N_FRAMES);
  unsigned want_ups = 0, want_downs = 0, ups = 0, downs = 0;
  bool is_new;
  Row row, plain;
  int ret;

  if (sample == TFX_SAMPLE_F32)
    test_noise_f32 ((float *)a, n);
  memcpy (b, a, n * sizeof *b);
  row_init (&row, sample);
  row_init (&plain, sample);
  ret = row_run (&plain, 0, N_ROW, tfx_cpu_backend_for ("c"), &all, &is_new);
  for (unsigned k = 0; ret == 0 && k < N_BLOCKS; k++) {
    const TfxBlock block = block_of (a, sample, k, N_FRAMES);

    if (k == 1)
      ups = want_ups = 0;
    for (size_t first = 0, end; ret == 0 && first < N_ROW; first = end) {
      const unsigned ups_before = n_ups, downs_before = n_downs;

      end = first + 1 + tap_random_below ((unsigned)(N_ROW - first));
      ret =
          row_run (&row, first, end, tfx_cuda_backend (cuda), &block, &is_new);
      ups += n_ups - ups_before;
      downs += n_downs - downs_before;
      want_ups += is_new ? count_engine_ups (row.plans[end - 1], sample)
                         : test_cuda_copies (cuda, 1);
      want_downs += test_cuda_copies (cuda, 1);
    }
  }
  tap_many_check (copies, ret == 0 && ups == want_ups && downs == want_downs,
      "rows %u: returns %d, %u of %u copies go up, %u of %u come down", number,
      ret, ups, want_ups, downs, want_downs);
  if (sample == TFX_SAMPLE_F32) {
    for (size_t i = n; i-- > 0;) {
      a[i] = ((float *)a)[i];
      b[i] = ((float *)b)[i];
    }
  }
  tap_many_check (sound, test_cuda_distance (a, b, n) < 1e-6, "rows %u: %g",
      number, test_cuda_distance (a, b, n));
  row_clear (&row);
  row_clear (&plain);
  free (a);
  free (b);
}

static void
test_rows (void)
{
  TapMany copies = tap_many ("rows change without a copy through the host");
  TapMany sound = tap_many ("and sound as if they did not");

  for (unsigned i = 0; i < 4; i++)
    check_rows (&copies, &sound, i, i % 2 ? TFX_SAMPLE_F32 : TFX_SAMPLE_F64);
  tap_many_end (&copies);
  tap_many_end (&sound);
}

/* ---- and off it --------------------------------------------------------------------- */

static unsigned n_held;

static void
hold (void *data)
{
  (void)data;
  n_held++;
}

static void
release (void *data)
{
  (void)data;
  n_held--;
}

/* State that no plan has holds the device and whose context it is, until the CPU
 * wants it, it is cleared, or the filter goes. */
static void
test_alone (void)
{
  const TfxCudaOwner owner = { NULL, hold, release };
  const size_t n = 3 * N_FRAMES * N_CHANNELS;
  double *a = test_cuda_noise (n), *b = test_alloc (n * sizeof *b);
  TfxCuda *own = test_cuda_new (TEST_CUDA_DOUBLE);
  const TfxBlock all = block_of (b, TFX_SAMPLE_F64, 0, 3 * N_FRAMES);
  unsigned downs, n_with_state;
  bool is_new, is_silent;
  Row row, plain;
  int ret;

  memcpy (b, a, n * sizeof *b);
  tfx_cuda_set_owner (own, &owner);
  row_init (&row, TFX_SAMPLE_F64);
  row_init (&plain, TFX_SAMPLE_F64);
  ret = row_run (&plain, 0, N_ROW, tfx_cpu_backend_for ("c"), &all, &is_new);
  for (unsigned k = 0; ret == 0 && k < 3; k++) {
    const TfxBlock block = block_of (a, TFX_SAMPLE_F64, k, N_FRAMES);

    if (k == 2)
      tfx_cuda_unref (&own);
    ret = row_run (&row, 0, N_ROW,
        k < 2 ? tfx_cuda_backend (own) : tfx_cpu_backend_for ("c"), &block,
        &is_new);
    tfx_plan_free (&row.plans[N_ROW - 1]);
    tap_check (ret == 0 && (k < 2) == (n_held > 0),
        "block %u: returns %d, %u on the device", k, ret, n_held);
  }
  tap_check (test_cuda_distance (a, b, n) < 1e-6,
      "the CPU continues after the device: %g", test_cuda_distance (a, b, n));

  own = test_cuda_new (TEST_CUDA_DOUBLE);
  tfx_cuda_set_owner (own, &owner);
  memcpy (a, b, n * sizeof *b);
  for (unsigned k = 0; ret == 0 && k < 2; k++) {
    const TfxBlock block = block_of (a, TFX_SAMPLE_F64, k, N_FRAMES);

    ret = row_run (&row, k, k + 1, tfx_cuda_backend (own), &block, &is_new);
    tfx_plan_free (&row.plans[k]);
  }
  n_with_state = n_held;
  tfx_filter_reset (row.filters[0]);
  downs = n_downs;
  is_silent = tfx_filter_is_silent (row.filters[0]);
  tap_check (ret == 0 && n_held > 0 && n_held < n_with_state && is_silent &&
                 n_downs == downs,
      "what is cleared is: %u of %u held", n_held, n_with_state);
  tap_check (!tfx_filter_is_silent (row.filters[1]) && n_held == 0,
      "what is looked at comes back");
  ret = row_run (&row, 0, 2, tfx_cuda_backend (own), &all, &is_new);
  tfx_plan_free (&row.plans[1]);
  tap_check (ret == 0 && n_held > 0, "returns %d, %u held", ret, n_held);
  tfx_cuda_unref (&own);
  row_clear (&row);
  row_clear (&plain);
  tap_check (n_held == 0, "a filter that goes leaves nothing");
  free (a);
  free (b);
}

/* A stream whose samples become others gets its taps transformed once for each time,
 * however long its blocks are. */
static void
test_format (void)
{
  const size_t n_frames = 8000;
  TfxFilter *filter = make_filter ("DesignableFIR(2000, 9001, conv_mode='fft')",
      TFX_SAMPLE_F32);
  TapMany many = tap_many ("taps are transformed once");
  double *samples = test_alloc (n_frames * N_CHANNELS * sizeof *samples);
  TfxPlan *plan = NULL;

  tfx_filter_lock (filter);
  tfx_plan_new (&filter, 1, tfx_cuda_backend (cuda), &plan);
  for (unsigned i = 0; i < 6; i++) {
    const TfxSample sample = i % 2 ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32;
    const TfxBlock block =
        tfx_block_interleaved (samples, sample, N_CHANNELS, n_frames);
    int ret = tfx_filter_set_format (filter, sample, 0);

    n_launches = 0;
    if (ret == 0)
      ret = tfx_plan_run (plan, &block, &block);
    tap_many_check (&many, ret == 0 && n_launches == 2,
        "samples %u: %d, %u launches", i, ret, n_launches);
  }
  tap_many_end (&many);
  tfx_plan_free (&plan);
  tfx_filter_unlock (filter);
  tfx_filter_unref (&filter);
  free (samples);
}

static const TapTest tests[] = {
  { "rows", test_rows },
  { "format", test_format },
  { "alone", test_alone },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  tfx_cuda_observe (&observer);
  return test_cuda_main (argc, argv, tests, TEST_CUDA_DOUBLE, &cuda);
}
