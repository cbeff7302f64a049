/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_ramps.c: values move while a row runs on a device.  The CPU runs the ramps, as in an
 * element, and the device continues with the engine that it has. */
#include "chains.h"
#include "levels.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_CHANNELS 2
#define N_FRAMES 512
#define N_BLOCKS 30
#define FIRST_CHANGE 4
#define N_STAGES 8

/* Waits of a ramp for each stage: before and after each of three copies, which read the state,
 * write it, and write the new values. */
#define MAX_WAITS 6

static TfxCuda *cuda;

/* ---- calls of the driver -------------------------------------------------------- */

static TfxDriver *driver, real;
static unsigned n_allocs, n_frees, n_modules, n_waits, n_ups;

static CUresult CUDAAPI
count_alloc (CUdeviceptr *memory, size_t size)
{
  n_allocs++;
  return real.mem_alloc (memory, size);
}

static CUresult CUDAAPI
count_host_alloc (void **memory, size_t size, unsigned flags)
{
  n_allocs++;
  return real.mem_host_alloc (memory, size, flags);
}

static CUresult CUDAAPI
count_free (CUdeviceptr memory)
{
  n_frees++;
  return real.mem_free (memory);
}

static CUresult CUDAAPI
count_free_host (void *memory)
{
  n_frees++;
  return real.mem_free_host (memory);
}

static CUresult CUDAAPI
count_event (CUevent *event, unsigned flags)
{
  n_allocs++;
  return real.event_create (event, flags);
}

static CUresult CUDAAPI
count_stream (CUstream *stream, unsigned flags)
{
  n_allocs++;
  return real.stream_create (stream, flags);
}

static CUresult CUDAAPI
count_module (CUmodule *module, const void *image)
{
  n_modules++;
  return real.module_load_data (module, image);
}

static uint64_t
now (void)
{
  return 0;
}

static void
did (const char *what, const char *name, size_t n_bytes, uint64_t start)
{
  (void)n_bytes, (void)start;
  n_waits += strcmp (what, "wait") == 0;
  n_ups += strcmp (name, "upload") == 0;
}

static const TfxCudaObserver observer = { now, did };

static void
clear_counts (void)
{
  n_allocs = n_frees = n_modules = n_waits = n_ups = 0;
}

static void
count_calls (void)
{
  driver = (TfxDriver *)tfx_driver_get (NULL);
  real = *driver;
  driver->mem_alloc = count_alloc;
  driver->mem_host_alloc = count_host_alloc;
  driver->mem_free = count_free;
  driver->mem_free_host = count_free_host;
  driver->event_create = count_event;
  driver->stream_create = count_stream;
  driver->module_load_data = count_module;
}

/* ---- stages ----------------------------------------------------------------------- */

static const char *const names[N_STAGES] = { "sections", "gain", "FIR", "delay",
  "FIR by FFT", "matrix of kernels", "compressor", "reverb" };

static TfxStage *
make_fir (uint64_t id, size_t n_taps, TfxFirMethod method, double cutoff,
    const int *matrix)
{
  double *taps = test_alloc (n_taps * sizeof *taps);
  const double *const kernels[] = { taps };
  TfxStage *stage;

  for (size_t i = 0; i < n_taps; i++) {
    const double t = (double)i - 0.5 * (double)(n_taps - 1);

    taps[i] = cutoff *
              (t == 0.0 ? 1.0 : sin (M_PI * cutoff * t) / (M_PI * cutoff * t));
  }
  stage = matrix ? tfx_stage_new_fir_matrix (id, N_CHANNELS, matrix, kernels, 1,
                       n_taps, method)
                 : tfx_stage_new_fir (id, kernels, 1, n_taps, method);
  free (taps);
  return stage;
}

/* One of the stages, with one of two settings of the same structure. */
static TfxStage *
make_stage (unsigned which, uint64_t id, bool is_second)
{
  static const int matrix[N_CHANNELS * N_CHANNELS] = { 0, 0, -1, 0 };
  const double x = is_second ? 1.5 : 1.0;
  const TfxDesign design = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS, 8,
    2000.0 * x, 0, 0, 0 };
  const TfxTap taps[] = { { .delay = 700, .gain = 0.4 * x },
    { .delay = 1000, .gain = 0.3 } };
  const TfxDynamics dynamics = levels_compressor (-30.0 * x, 4, 0.005, 0.05, 6);
  TfxReverb reverb = {
    .combs = { 1116, 1188, 1277, 1356, 1422, 1491, 1557, 1617 },
    .all_passes = { 556, 441, 341, 225 },
    .feedback = 0.8,
    .damp = 0.2,
    .dry = 0.7,
    .wet = 0.3,
  };
  TfxSos sos[4];

  switch (which) {
    case 0:
      tfx_design_sections (&design, RATE, sos);
      return tfx_stage_new_sections (id, sos, 4);
    case 1:
      return tfx_stage_new_gain (id, 0.5 * x);
    case 2:
      return make_fir (id, 61, TFX_FIR_DIRECT, 0.1 * x, NULL);
    case 3:
      return tfx_stage_new_delay (id, 0.5, taps, N_OF (taps));
    case 4:
      return make_fir (id, 1501, TFX_FIR_FFT, 0.1 * x, NULL);
    case 5:
      return make_fir (id, 801, TFX_FIR_AUTO, 0.1 * x, matrix);
    case 6:
      return tfx_stage_new_dynamics (id, &dynamics);
    default:
      reverb.wet *= x;
      return tfx_stage_new_reverb (id, &reverb);
  }
}

/* ---- a row ------------------------------------------------------------------------- */

typedef struct Row
{
  TfxFilter *filter;
  TfxPlan *plan;
  const TfxBackend *backend;
  size_t n_by_device; /* blocks */
} Row;

static void
row_init (Row *row, TfxChain *chain, const TfxBackend *backend)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = N_CHANNELS,
    .sample = TFX_SAMPLE_F64,
    .block_frames = N_FRAMES };

  *row = (Row){ .backend = backend };
  if (tfx_filter_new (chain, &spec, &row->filter) < 0 ||
      tfx_plan_new (&row->filter, 1, backend, &row->plan) < 0) {
    tap_diag ("no plan on %s", backend->name);
    exit (1);
  }
}

static void
row_clear (Row *row)
{
  tfx_plan_free (&row->plan);
  tfx_filter_unref (&row->filter);
}

/* As an element: the CPU runs the ramp. */
static int
row_run (Row *row, double *samples)
{
  TfxBlock block =
      tfx_block_interleaved (samples, TFX_SAMPLE_F64, N_CHANNELS, N_FRAMES);
  int ret = 0;

  if (!tfx_filter_is_changing (row->filter))
    ret = tfx_plan_switch (&row->plan, row->backend);
  if (ret == 0)
    ret = tfx_plan_run (row->plan, &block, &block);
  if (ret == -ENOTSUP && tfx_plan_n_done (row->plan) == 0) {
    ret = tfx_plan_switch (&row->plan, tfx_cpu_backend_for ("c"));
    return ret < 0 ? ret : tfx_plan_run (row->plan, &block, &block);
  }
  row->n_by_device += ret == 0 && row->backend != tfx_cpu_backend_for ("c");
  return ret;
}

/* ---- changes ------------------------------------------------------------------------ */

typedef enum
{
  CHANGE_SET,  /* by an application */
  CHANGE_CURVE /* at three grid points */
} ChangeKind;

/* One of two settings of n stages.  Frames: since rest. */
static int
change (Row *row, ChangeKind kind, unsigned first, unsigned n,
    const uint64_t *ids, unsigned number)
{
  const uint64_t frame = tfx_filter_n_frames (row->filter);
  int ret = 0;

  for (unsigned i = 0; ret == 0 && i < n; i++) {
    for (unsigned k = 0; ret == 0 && k < (kind == CHANGE_SET ? 1 : 3); k++) {
      TfxStage *stage = make_stage (first + i, ids[i], (number + k) % 2 == 0);
      const size_t n_grid = tfx_stage_grid_frames (stage);

      ret = kind == CHANGE_SET ? tfx_filter_set_stage (row->filter, stage)
                               : tfx_filter_queue_stage (row->filter,
                                     (frame / n_grid + 2 + k) * n_grid, stage);
      tfx_stage_unref (&stage);
    }
  }
  return ret;
}

/* Every sixth block the values of n stages change.  The first blocks load kernels and allocate
 * memory. */
static void
check_ramps (TapMany *calls, TapMany *samples, ChangeKind kind,
    const char *name, unsigned first, unsigned n)
{
  const size_t n_block = N_FRAMES * N_CHANNELS, n_all = N_BLOCKS * n_block;
  double *have = test_cuda_noise (n_all);
  double *want = test_alloc (n_all * sizeof *want);
  TfxChain *chain = tfx_chain_new ();
  uint64_t ids[N_STAGES];
  unsigned n_changes = 0;
  Row row, plain;
  int ret = 0;

  memcpy (want, have, n_all * sizeof *want);
  for (unsigned i = 0; i < n; i++) {
    ids[i] = tfx_stage_new_id ();
    test_cuda_append (&chain, make_stage (first + i, ids[i], false));
  }
  row_init (&row, chain, tfx_cuda_backend (cuda));
  row_init (&plain, chain, tfx_cpu_backend_for ("c"));
  for (unsigned k = 0; ret == 0 && k < N_BLOCKS; k++) {
    if (k == FIRST_CHANGE) {
      row.n_by_device = 0;
      clear_counts ();
    }
    if (k % 6 == FIRST_CHANGE) {
      ret = change (&row, kind, first, n, ids, n_changes);
      if (ret == 0)
        ret = change (&plain, kind, first, n, ids, n_changes);
      n_changes++;
    }
    if (ret == 0)
      ret = row_run (&row, have + k * n_block);
    if (ret == 0)
      ret = row_run (&plain, want + k * n_block);
  }
  tap_many_check (calls,
      ret == 0 && row.n_by_device >= n_changes &&
          row.n_by_device <= N_BLOCKS - FIRST_CHANGE - n_changes &&
          n_allocs + n_frees + n_modules == 0 &&
          n_waits <= row.n_by_device + n_changes * n * MAX_WAITS,
      "%s: returns %d, %zu blocks on the device, %u changes: "
      "%u allocations, %u frees, %u modules, %u waits",
      name, ret, row.n_by_device, n_changes, n_allocs, n_frees, n_modules,
      n_waits);
  tap_many_check (samples, test_cuda_distance (have, want, n_all) < 1e-9,
      "%s: %g", name, test_cuda_distance (have, want, n_all));
  row_clear (&row);
  row_clear (&plain);
  tfx_chain_unref (&chain);
  free (have);
  free (want);
}

static void
check_kind (ChangeKind kind, const char *calls_name, const char *samples_name)
{
  TapMany calls = tap_many (calls_name);
  TapMany samples = tap_many (samples_name);

  for (unsigned i = 0; i < N_STAGES; i++)
    check_ramps (&calls, &samples, kind, names[i], i, 1);
  check_ramps (&calls, &samples, kind, "all", 0, N_STAGES);
  tap_many_end (&calls);
  tap_many_end (&samples);
}

static void
test_ramps (void)
{
  check_kind (CHANGE_SET, "a ramp allocates nothing on the device",
      "ramps sound as on the CPU");
}

static void
test_curves (void)
{
  check_kind (CHANGE_CURVE, "a curve allocates nothing on the device",
      "curves sound as on the CPU");
}

/* Sections before a compressor whose threshold changes: the state of both is written, and no
 * coefficients.  Kernels read the blocks, which are short, in the host's memory. */
static void
test_others (void)
{
  const uint64_t ids[] = { tfx_stage_new_id (), tfx_stage_new_id () };
  double *samples = test_cuda_noise (N_FRAMES * N_CHANNELS);
  TfxChain *chain = tfx_chain_new ();
  Row row;
  int ret = 0;

  test_cuda_append (&chain, make_stage (0, ids[0], false));
  test_cuda_append (&chain, make_stage (6, ids[1], false));
  row_init (&row, chain, tfx_cuda_backend (cuda));
  for (unsigned k = 0; ret == 0 && k < 2 * FIRST_CHANGE; k++) {
    if (k == FIRST_CHANGE) {
      clear_counts ();
      row.n_by_device = 0;
      ret = change (&row, CHANGE_SET, 6, 1, &ids[1], 0);
    }
    if (ret == 0)
      ret = row_run (&row, samples);
  }
  tap_check (ret == 0 && row.n_by_device > 0 && n_ups == 2,
      "a ramp uploads the values that have changed: %d, %zu blocks, %u uploads",
      ret, row.n_by_device, n_ups);
  row_clear (&row);
  tfx_chain_unref (&chain);
  free (samples);
}

/* ---- structure, and blocks in flight --------------------------------------------------- */

static TfxChain *
make_low_pass (uint64_t id, unsigned n_sos)
{
  const TfxDesign design = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS,
    2 * n_sos, 2000, 0, 0, 0 };
  TfxSos sos[8];

  tfx_design_sections (&design, RATE, sos);
  return test_cuda_chain (id, sos, n_sos);
}

/* A change of the order frees the engine while the CPU runs the cross-fade. The counts of the
 * plans are kept. */
static void
test_structure (void)
{
  const size_t n_block = N_FRAMES * N_CHANNELS, n_all = N_BLOCKS * n_block;
  const uint64_t id = tfx_stage_new_id ();
  double *have = test_cuda_noise (n_all);
  double *want = test_alloc (n_all * sizeof *want);
  TfxChain *chain = make_low_pass (id, 2);
  uint64_t n_dispatches = 0;
  Row row, plain;
  int ret = 0;

  memcpy (want, have, n_all * sizeof *want);
  row_init (&row, chain, tfx_cuda_backend (cuda));
  row_init (&plain, chain, tfx_cpu_backend_for ("c"));
  for (unsigned k = 0; ret == 0 && k < N_BLOCKS; k++) {
    TfxStats stats;

    if (k % 6 == FIRST_CHANGE) {
      tfx_chain_unref (&chain);
      chain = make_low_pass (id, 2 + k / 6 % 2 + 1);
      clear_counts ();
      ret = tfx_filter_set_chain (row.filter, chain);
      if (ret == 0)
        ret = tfx_filter_set_chain (plain.filter, chain);
    }
    if (ret == 0)
      ret = row_run (&row, have + k * n_block);
    if (ret == 0)
      ret = row_run (&plain, want + k * n_block);
    tfx_plan_get_stats (row.plan, &stats);
    n_dispatches++;
    if (stats.dispatches != n_dispatches || stats.launches != row.n_by_device ||
        (k % 6 == FIRST_CHANGE && n_frees == 0) ||
        (k % 6 == FIRST_CHANGE + 2 && n_allocs == 0)) {
      tap_diag ("block %u: %u allocations, %u frees; %u runs, %u launches", k,
          n_allocs, n_frees, (unsigned)stats.dispatches,
          (unsigned)stats.launches);
      ret = -EPROTO;
    }
  }
  tap_check (ret == 0 && row.n_by_device > FIRST_CHANGE,
      "a change of structure makes a new engine: %d, %zu blocks on the device",
      ret, row.n_by_device);
  tap_check (test_cuda_distance (have, want, n_all) < 1e-9,
      "it sounds as on the CPU: %g", test_cuda_distance (have, want, n_all));
  row_clear (&row);
  row_clear (&plain);
  tfx_chain_unref (&chain);
  free (have);
  free (want);
}

/* A plan that is left finishes what it has started. */
static void
test_flight (void)
{
  const size_t n_block = N_FRAMES * N_CHANNELS;
  double *have = test_cuda_noise (3 * n_block);
  double *want = test_alloc (3 * n_block * sizeof *want);
  TfxChain *chain = make_low_pass (tfx_stage_new_id (), 2);
  TfxFlight flights[2];
  Row row, plain;
  int ret = 0;

  memcpy (want, have, 3 * n_block * sizeof *want);
  row_init (&row, chain, tfx_cuda_backend (cuda));
  row_init (&plain, chain, tfx_cpu_backend_for ("c"));
  for (unsigned k = 0; ret == 0 && k < 2; k++) {
    const TfxBlock block = tfx_block_interleaved (have + k * n_block,
        TFX_SAMPLE_F64, N_CHANNELS, N_FRAMES);

    ret = tfx_plan_start (row.plan, &block, &block, &flights[k]);
  }
  if (ret == 0)
    ret = tfx_plan_switch (&row.plan, tfx_cpu_backend_for ("c"));
  tap_check (ret == 0 && flights[0].n_done == N_FRAMES &&
                 flights[1].n_done == N_FRAMES,
      "blocks in flight are finished: %d, %zu and %zu frames", ret,
      flights[0].n_done, flights[1].n_done);
  row.backend = tfx_cpu_backend_for ("c");
  ret = row_run (&row, have + 2 * n_block);
  for (unsigned k = 0; ret == 0 && k < 3; k++)
    ret = row_run (&plain, want + k * n_block);
  tap_check (ret == 0 && test_cuda_distance (have, want, 3 * n_block) < 1e-9,
      "the CPU continues after them: %d, %g", ret,
      test_cuda_distance (have, want, 3 * n_block));
  row_clear (&row);
  row_clear (&plain);
  tfx_chain_unref (&chain);
  free (have);
  free (want);
}

static const TapTest tests[] = {
  { "ramps", test_ramps },
  { "curves", test_curves },
  { "others", test_others },
  { "structure", test_structure },
  { "flight", test_flight },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  int status;

  tfx_cuda_observe (&observer);
  cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  count_calls ();
  status = tap_main (argc, argv, tests);
  tfx_cuda_unref (&cuda);
  return status;
}
