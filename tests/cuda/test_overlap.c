/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_overlap.c: blocks that go in parts, and blocks that are started before the
 * one before has ended: the same samples in whatever order the streams do their
 * work, and a timeline on which copies and kernels overlap. */
#include "core/block.h"
#include "core/state.h"
#include "chains.h"
#include "context.h"
#include "engine.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

/* ---- samples ---------------------------------------------------------------- */

/* Runs in as blocks of n_frames; the engine of the plan splits them into parts of
 * `part` samples. */
static int
run_parts (TfxCuda *cuda, TfxChain *chain, const TfxBlock *in,
    const TfxBlock *out, size_t part)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = in->n_channels,
    .sample = in->type };
  CudaRow *row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
  int ret = 0;

  if (!row)
    return -1;
  tfx_cuda_engine_force_parts (row->plan->engine, part);
  for (size_t first = 0; ret == 0 && first < in->n_frames;) {
    size_t n = in->n_frames - first < 5000 ? in->n_frames - first : 5000;
    TfxBlock from = tfx_block_part (in, first, n, 0, in->n_channels);
    TfxBlock to = tfx_block_part (out, first, n, 0, in->n_channels);

    ret = cuda_row_run (row, &from, &to);
    first += n;
  }
  cuda_row_free (&row);
  return ret;
}

/* Streams that run apart put out the bits that come one after the other. */
static void
test_parts (void)
{
  static const char *const ways[] = { "late", "apart:1", "apart:2", "apart:3" };
  TapMany many = tap_many ("parts in any order of the streams");
  TfxCuda *cuda = test_cuda_new (TEST_CUDA_DOUBLE);

  for (unsigned i = 0; i < 16; i++) {
    /* Apart, in one part, and with streams that run apart. */
    static const size_t part[] = { 700, 1 << 20, 700 };
    const unsigned n_channels = 1 + i % 3;
    const size_t n = 12000, size = n * n_channels;
    TfxChain *chain = test_cuda_random_chain (2, 900);
    double *in = test_cuda_noise (size), *out[3];
    int ret[3];

    for (unsigned k = 0; k < 3; k++) {
      TfxBlock from =
          i % 2 ? tfx_block_planar (in, TFX_SAMPLE_F64, n_channels, n, n)
                : tfx_block_interleaved (in, TFX_SAMPLE_F64, n_channels, n);
      TfxBlock to = from;

      out[k] = test_alloc (size * sizeof *out[k]);
      memcpy (out[k], in, size * sizeof *in);
      to.data = out[k];
      test_cuda_set ("TFX_STANDIN_ASYNC", k == 2 ? ways[i % 4] : NULL);
      ret[k] = run_parts (cuda, chain, k == 2 && i % 4 == 3 ? &to : &from, &to,
          part[k]);
    }
    test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
    tap_many_check (&many,
        ret[0] == 0 && ret[2] == 0 &&
            memcmp (out[2], out[0], size * sizeof *in) == 0,
        "chain %u, %s: %d, %d, %g", i, ways[i % 4], ret[0], ret[2],
        test_cuda_distance (out[2], out[0], size));
    tap_many_check (&many,
        ret[1] == 0 && test_cuda_distance (out[0], out[1], size) < 1e-11,
        "chain %u, against one part: %d, %g", i, ret[1],
        test_cuda_distance (out[0], out[1], size));
    tfx_chain_unref (&chain);
    for (unsigned k = 0; k < 3; k++)
      free (out[k]);
    free (in);
  }
  tfx_cuda_unref (&cuda);
  tap_many_end (&many);
}

/* ---- sections ------------------------------------------------------------------- */

/* Four sections, of one channel, on a device that splits blocks into parts; x: noise,
 * to be filtered in place. */
typedef struct Setup
{
  TfxCuda *cuda;
  CudaRow *row;
  double *x, *expected;
  size_t n;
} Setup;

static Setup
setup_new (const char *compute, size_t n, size_t part)
{
  Setup s = { .cuda = test_cuda_new (compute),
    .x = test_cuda_noise (n),
    .expected = test_alloc (n * sizeof (double)),
    .n = n };
  TfxSos sos[4];

  test_cuda_equaliser (sos, 4);
  test_run_f64 (sos, 4, s.x, s.expected, n, NULL);
  s.row = cuda_row_new_sections (sos, 4, 1, tfx_cuda_backend (s.cuda));
  tfx_cuda_engine_force_parts (s.row->plan->engine, part);
  return s;
}

static void
setup_free (Setup *s)
{
  cuda_row_free (&s->row);
  tfx_cuda_unref (&s->cuda);
  free (s->x);
  free (s->expected);
}

static TfxBlock
block_of (const Setup *s, size_t first, size_t n)
{
  return tfx_block_interleaved (s->x + first, TFX_SAMPLE_F64, 1, n);
}

/* The CPU runs what follows the first n_done frames: how far off all of it is. */
static double
finish_by_cpu (Setup *s, size_t n_done)
{
  TfxBlock rest = block_of (s, n_done, s->n - n_done);

  if (rest.n_frames > 0) {
    cuda_row_go_to (s->row, tfx_cpu_backend_for ("c"));
    cuda_row_run (s->row, &rest, &rest);
  }
  return test_cuda_distance (s->x, s->expected, s->n);
}

/* Parts before the failed one are complete, and the CPU continues after them. */
static void
test_failure (void)
{
  const size_t part = 500;
  TapMany many = tap_many ("parts before a failure stand");

  for (unsigned i = 1; i < 20; i += 3) {
    Setup s = setup_new (TEST_CUDA_DOUBLE, 10000, part);
    TfxBlock block = block_of (&s, 0, s.n);
    char setting[64];
    size_t n_done;
    double error;
    int ret;

    snprintf (setting, sizeof setting, "cuLaunchKernel:%u", i);
    test_cuda_set ("TFX_STANDIN_ASYNC", "apart");
    test_cuda_set ("TFX_STANDIN_FAIL", setting);
    tfx_filter_lock (s.row->filter);
    ret = tfx_plan_run (s.row->plan, &block, &block);
    tfx_filter_unlock (s.row->filter);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    n_done = tfx_plan_n_done (s.row->plan);
    error = finish_by_cpu (&s, n_done);
    test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
    tap_many_check (&many,
        ret < 0 && n_done == (i - 1) * part && !tfx_cuda_is_lost (s.cuda) &&
            error < 1e-11,
        "launch %u: returns %d, %zu frames done, %g", i, ret, n_done, error);
    setup_free (&s);
  }
  tap_many_end (&many);
}

/* No work of a failed part runs when the call returns: the same plan continues at
 * once, in larger memory. */
static void
test_again (void)
{
  const size_t part = 500;
  Setup s = setup_new (TEST_CUDA_DOUBLE, 9000, part);
  TfxBlock block = block_of (&s, 0, s.n), rest;
  size_t n_done;
  int ret[2];

  if (test_cuda_copies (s.cuda, 1) == 0) {
    tap_skip ("there are no copies", "a part that fails");
    setup_free (&s);
    return;
  }
  test_cuda_report ();
  test_cuda_set ("TFX_STANDIN_ASYNC", "late");
  test_cuda_set ("TFX_STANDIN_FAIL", "cuStreamWaitEvent:1");
  tfx_filter_lock (s.row->filter);
  ret[0] = tfx_plan_run (s.row->plan, &block, &block);
  test_cuda_set ("TFX_STANDIN_FAIL", NULL);
  n_done = tfx_plan_n_done (s.row->plan);
  rest = block_of (&s, n_done, s.n - n_done);
  tfx_cuda_engine_force_parts (s.row->plan->engine, 8 * part);
  ret[1] = tfx_plan_run (s.row->plan, &rest, &rest);
  tfx_filter_unlock (s.row->filter);
  test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
  tap_check (ret[0] < 0 && n_done == 0 && ret[1] == 0 &&
                 test_cuda_distance (s.x, s.expected, s.n) < 1e-11,
      "after a failure the same plan continues: %d, %zu done, %d, %g", ret[0],
      n_done, ret[1], test_cuda_distance (s.x, s.expected, s.n));
  setup_free (&s);
  tap_check (!strstr (test_cuda_report (), "queued work"),
      "no memory is freed that a failed part still needs");
  test_cuda_set ("TFX_STANDIN_REPORT", NULL);
}

/* Blocks of n_each frames in place, each started before the one before is
 * finished.  A launch that fails is that of the block `failing`.  How many of the
 * frames in front stand. */
static size_t
start_blocks (Setup *s, size_t n_each, size_t failing)
{
  TfxPlan *plan = s->row->plan;
  TfxFlight flights[2] = { { 0 } };
  size_t n_done = 0;
  int ret = 0;

  tfx_filter_lock (s->row->filter);
  for (size_t i = 0; ret == 0 && i * n_each < s->n; i++) {
    TfxBlock block = block_of (s, i * n_each, n_each);

    if (i == failing)
      test_cuda_set ("TFX_STANDIN_FAIL", "cuLaunchKernel:1");
    ret = tfx_plan_start (plan, &block, &block, &flights[i % 2]);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    if (i > 0 && tfx_plan_finish (plan, &flights[(i + 1) % 2]) == 0)
      n_done += flights[(i + 1) % 2].n_done;
    if (ret == 0 && (i + 1) * n_each >= s->n &&
        tfx_plan_finish (plan, &flights[i % 2]) == 0)
      n_done += flights[i % 2].n_done;
  }
  tfx_filter_unlock (s->row->filter);
  return n_done;
}

/* Two blocks in flight, also of several parts, in any order of the streams; the
 * block before a failure is complete. */
static void
test_flights (void)
{
  static const char *const ways[] = { "", "late", "apart:1", "apart:2" };
  static const size_t parts[] = { 1 << 20, 400, 130 };
  TapMany many = tap_many ("blocks that are started before others have ended");

  for (unsigned i = 0; i < 48; i++) {
    /* The host's memory is copied, or kernels read and write it. */
    const size_t n_each = i < 24 ? 1000 : 400;
    Setup s = setup_new (TEST_CUDA_DOUBLE, 12 * n_each, parts[i % 3]);
    const size_t failing = i % 2 ? 1 + i / 2 % 11 : 12;
    size_t n_done;
    double error;

    test_cuda_set ("TFX_STANDIN_ASYNC", ways[i % N_OF (ways)]);
    n_done = start_blocks (&s, n_each, failing);
    error = finish_by_cpu (&s, n_done);
    test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
    tap_many_check (&many, n_done == failing * n_each && error < 1e-11,
        "%s, blocks of %zu, parts of %zu, launch of block %zu fails: %zu done, "
        "%g",
        ways[i % N_OF (ways)], n_each, parts[i % 3], failing, n_done, error);
    setup_free (&s);
  }
  tap_many_end (&many);
}

/* Frames of a flight that is lost count once, when the CPU runs them: finished first, or
 * only by freeing the plan. */
static void
test_lost_count (void)
{
  const size_t n = 1000;
  TapMany many = tap_many ("frames of lost flights count once");

  for (unsigned i = 0; i < 4; i++) {
    const unsigned n_finished = i % 2;
    Setup s = setup_new (TEST_CUDA_DOUBLE, 2 * n, i < 2 ? n : 300);
    TfxFlight flights[2] = { { 0 } };
    size_t n_done, n_run;
    int ret = 0;

    tfx_filter_lock (s.row->filter);
    for (unsigned b = 0; ret == 0 && b < 2; b++) {
      TfxBlock block = block_of (&s, b * n, n);

      ret = tfx_plan_start (s.row->plan, &block, &block, &flights[b]);
    }
    /* From here on no wait succeeds. */
    test_cuda_set ("TFX_STANDIN_FAIL", "1,719,sticky");
    if (n_finished)
      tfx_plan_finish (s.row->plan, &flights[0]);
    tfx_plan_free (&s.row->plan);
    n_done = flights[0].n_done + flights[1].n_done;
    n_run = s.row->filter->n_run;
    tfx_filter_unlock (s.row->filter);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    tap_many_check (&many, ret == 0 && n_done < 2 * n && n_run == n_done,
        "%u finished: returns %d, %zu done, %zu counted", n_finished, ret,
        n_done, n_run);
    setup_free (&s);
  }
  tap_many_end (&many);
}

/* ---- the timeline ------------------------------------------------------------- */

typedef struct Timeline
{
  unsigned n_up, n_kernels, n_down;
  double busy[3];    /* us: up, kernels, down */
  double begin, end; /* of all of it */
  double device, pinned;
} Timeline;

static Timeline
read_timeline (void)
{
  static const char *const names[] = { "up", "kernel", "down" };
  Timeline t = { .begin = INFINITY };
  FILE *file = fopen (path, "r");
  char line[256];

  while (file && fgets (line, sizeof line, file)) {
    char name[16];
    double begin, end;

    sscanf (line, "memory %lf %lf", &t.device, &t.pinned);
    if (sscanf (line, "%15s %*s %lf %lf", name, &begin, &end) != 3)
      continue;
    for (unsigned i = 0; i < 3; i++) {
      if (strcmp (name, names[i]) != 0)
        continue;
      t.busy[i] += end - begin;
      t.n_up += i == 0;
      t.n_kernels += i == 1;
      t.n_down += i == 2;
      t.begin = fmin (t.begin, begin);
      t.end = fmax (t.end, end);
    }
  }
  if (file)
    fclose (file);
  unlink (path);
  return t;
}

static void
begin_timeline (void)
{
  static unsigned n_begun;

  /* Another file, another count of memory. */
  snprintf (path, sizeof path, "/tmp/tfx-timeline-%d-%u", (int)getpid (),
      n_begun++);
  test_cuda_set ("TFX_STANDIN_TIMELINE", path);
}

/* A file of floats in stereo that comes as one block; kernels are not run. */
static Timeline
play_file (size_t n_frames)
{
  const TfxFilterSpec spec = { .rate_hz = 44100,
    .n_channels = 2,
    .sample = TFX_SAMPLE_F32,
    .block_frames = n_frames };
  TfxCuda *cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  float *x = test_alloc (n_frames * 2 * sizeof *x);
  TfxSos sos[TEST_API_SECTIONS];
  TfxChain *chain;
  CudaRow *row;
  Timeline t;

  test_cuda_api (sos);
  chain = test_cuda_chain (tfx_stage_new_id (), sos, TEST_API_SECTIONS);
  begin_timeline ();
  test_cuda_set ("TFX_STANDIN_KERNELS", "none");
  row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
  if (cuda_row_f32 (row, x, 2, n_frames) < 0 || row->n_by_cpu > 0)
    tap_diag ("it was not run");
  test_cuda_set ("TFX_STANDIN_KERNELS", NULL);
  test_cuda_set ("TFX_STANDIN_TIMELINE", NULL);
  t = read_timeline ();
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  tfx_cuda_unref (&cuda);
  free (x);
  return t;
}

static void
test_timeline (void)
{
  const size_t minute = 60 * 44100;
  TfxCuda *cuda = test_cuda_new (NULL);
  const bool has_copies = test_cuda_copies (cuda, 1) > 0;
  Timeline short_one, long_one;
  double *busy = long_one.busy, all, longest;

  tfx_cuda_unref (&cuda);
  if (!has_copies) {
    tap_skip ("there are no copies", "a timeline");
    return;
  }
  short_one = play_file (minute);
  long_one = play_file (10 * minute);
  all = busy[0] + busy[1] + busy[2];
  longest = fmax (busy[0], fmax (busy[1], busy[2]));
  tap_diag ("10 minutes: %u parts, up %.1f ms, kernels %.1f ms, down %.1f ms, "
            "all of it %.1f ms, of %.1f ms one after the other",
      long_one.n_kernels, busy[0] / 1e3, busy[1] / 1e3, busy[2] / 1e3,
      (long_one.end - long_one.begin) / 1e3, all / 1e3);
  tap_diag ("device memory %.1f MB, pinned memory %.1f MB",
      long_one.device / 1e6, long_one.pinned / 1e6);
  tap_check (long_one.n_kernels > 40 && long_one.n_up >= long_one.n_kernels &&
                 long_one.n_down == long_one.n_kernels,
      "there are parts: %u", long_one.n_kernels);
  tap_check (long_one.end - long_one.begin < 1.15 * longest,
      "upload, kernels and downloads overlap: all takes %.2f times the longest",
      (long_one.end - long_one.begin) / longest);
  tap_check (long_one.device + long_one.pinned < 100e6,
      "in at most 100 MB of device and pinned memory");
  tap_check (long_one.device == short_one.device &&
                 long_one.pinned == short_one.pinned,
      "whatever its length");
}

/* Planes in pinned memory, whose parts are not contiguous: transferred without
 * staging, in place, in any order of the streams. */
static void
test_pinned (const char *way, const char *card)
{
  enum
  {
    N_CHANNELS = 3,
    STRIDE = 70100
  };
  const size_t n = 70000, size = N_CHANNELS * STRIDE * sizeof (double);
  double *expected = test_cuda_noise (N_CHANNELS * STRIDE), *x = NULL;
  TfxSos sos[2];
  TfxCuda *cuda;
  CudaRow *row;
  Timeline t;
  int ret[2];

  test_cuda_equaliser (sos, 2);
  test_cuda_set ("TFX_STANDIN_CARD", card);
  cuda = test_cuda_new (TEST_CUDA_DOUBLE);
  tfx_context_enter (cuda);
  cuda->driver->mem_host_alloc ((void **)&x, size, CU_MEMHOSTALLOC_PORTABLE);
  memcpy (x, expected, size);
  for (unsigned i = 0; i < 2; i++) {
    TfxBlock block = tfx_block_planar (i ? x : expected, TFX_SAMPLE_F64,
        N_CHANNELS, n, STRIDE);

    row = cuda_row_new_sections (sos, 2, N_CHANNELS, tfx_cuda_backend (cuda));
    tfx_cuda_engine_force_parts (row->plan->engine, 30000);
    begin_timeline ();
    test_cuda_set ("TFX_STANDIN_ASYNC", i ? way : NULL);
    ret[i] = cuda_row_run (row, &block, &block) + row->n_by_cpu;
    test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
    test_cuda_set ("TFX_STANDIN_TIMELINE", NULL);
    t = read_timeline ();
    cuda_row_free (&row);
  }
  tap_check (ret[0] == 0 && ret[1] == 0 && memcmp (x, expected, size) == 0,
      "pinned planes, %s, %s: %g", way, card ? card : "any card",
      test_cuda_distance (x, expected, N_CHANNELS * STRIDE));
  tap_check (t.pinned < 1.2 * (double)size, "and they are not staged: %.2f",
      t.pinned / (double)size);
  cuda->driver->mem_free_host (x);
  tfx_context_leave (cuda);
  tfx_cuda_unref (&cuda);
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
  free (expected);
}

static void
test_planes (void)
{
  test_pinned ("late", NULL);
  test_pinned ("apart:1", NULL);
  test_pinned ("apart:2", "orin");
}

/* Memory of the host and of the device are one. */
static void
test_integrated (void)
{
  TfxStats stats;
  Setup s;
  int ret;

  test_cuda_set ("TFX_STANDIN_CARD", "orin");
  s = setup_new (NULL, 20000, 3000);
  ret = cuda_row_f64 (s.row, s.x, 1, s.n);
  stats = cuda_row_stats (s.row);
  tap_check (ret == 0 && s.row->n_by_cpu == 0 &&
                 test_cuda_distance (s.x, s.expected, s.n) < 1e-11,
      "an integrated device filters: %d, %g", ret,
      test_cuda_distance (s.x, s.expected, s.n));
  tap_check (stats.uploads == 0 && stats.downloads == 0 && stats.launches > 0,
      "and no copies");
  setup_free (&s);
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
}

/* A chain whose first step is the one of the case, and a block for it. */
typedef struct ShortCase
{
  const char *first;
  unsigned n_channels;
  TfxSample sample;
  bool is_planar;
  size_t n_frames;
  unsigned n_up, n_down;
} ShortCase;

static const ShortCase short_cases[] = {
  { "sections", 8, TFX_SAMPLE_F32, false, 256, 0, 0 },
  { "sections", 2, TFX_SAMPLE_F32, true, 100, 0, 0 },
  { "sections", 8, TFX_SAMPLE_F64, false, 512, 0, 0 },
  { "gain", 3, TFX_SAMPLE_F32, false, 480, 0, 0 },
  { "clip", 1, TFX_SAMPLE_F64, true, 480, 0, 0 },
  /* Samples that are read more than once, or by few threads. */
  { "fir", 2, TFX_SAMPLE_F32, false, 256, 1, 0 },
  { "many", 2, TFX_SAMPLE_F64, false, 256, 1, 0 },
  /* Too many frames, or bytes. */
  { "sections", 2, TFX_SAMPLE_F32, false, 513, 1, 1 },
  { "sections", 17, TFX_SAMPLE_F32, false, 512, 1, 1 },
};

static TfxChain *
short_chain (const char *first)
{
  static const double taps[101] = { [0] = 0.5, [100] = 0.25 };
  const double *kernel = taps;
  TfxChain *chain = tfx_chain_new ();
  TfxStage *stage;
  TfxSos sos[7];

  test_cuda_equaliser (sos, 7);
  if (strcmp (first, "gain") == 0)
    stage = tfx_stage_new_gain (tfx_stage_new_id (), 0.5);
  else if (strcmp (first, "clip") == 0)
    stage = tfx_stage_new_clip (tfx_stage_new_id (), 2.0);
  else if (strcmp (first, "fir") == 0)
    stage = tfx_stage_new_fir (tfx_stage_new_id (), &kernel, 1, N_OF (taps),
        TFX_FIR_AUTO);
  else
    stage = tfx_stage_new_sections (tfx_stage_new_id (), sos,
        strcmp (first, "many") == 0 ? 7 : 3);
  test_cuda_append (&chain, stage);
  return chain;
}

/* Two blocks, in place; the copies of the second one.  On the device: in its memory,
 * without copies. */
static int
run_short (TfxCuda *cuda, const ShortCase *c, TfxChain *chain, const void *x,
    void *y, bool on_device, Timeline *t)
{
  const size_t size = c->n_frames * c->n_channels * tfx_sample_size (c->sample);
  const TfxFilterSpec spec = { RATE, c->n_channels, c->sample, c->n_frames };
  CudaRow *row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
  void *at = on_device ? test_cuda_alloc (cuda, size) : y;
  const TfxBlock block =
      c->is_planar
          ? tfx_block_planar (at, c->sample, c->n_channels, c->n_frames,
                c->n_frames)
          : tfx_block_interleaved (at, c->sample, c->n_channels, c->n_frames);
  int ret = 0;

  memcpy (y, x, size);
  if (on_device)
    test_cuda_upload (cuda, at, x, size);
  ret = cuda_row_run (row, &block, &block);
  begin_timeline ();
  if (ret == 0)
    ret = cuda_row_run (row, &block, &block);
  test_cuda_set ("TFX_STANDIN_TIMELINE", NULL);
  *t = read_timeline ();
  if (on_device) {
    test_cuda_download (cuda, y, at, size);
    test_cuda_free (cuda, at);
  }
  ret += (int)row->n_by_cpu;
  cuda_row_free (&row);
  return ret;
}

/* For short blocks, kernels of a device with separate memory read and write the host's:
 * the same bits, and no copies. */
static void
test_short (void)
{
  static const char *const cards[] = { "t4", "3070", "4090", "5090", "a100",
    "h100", "b200" };
  TapMany many = tap_many ("short blocks are not copied");

  for (unsigned i = 0; i < N_OF (cards) * N_OF (short_cases); i++) {
    const char *card = cards[i / N_OF (short_cases)];
    const ShortCase *c = &short_cases[i % N_OF (short_cases)];
    const size_t n = c->n_frames * c->n_channels;
    double *x = test_cuda_noise (n), *y[2];
    TfxChain *chain = short_chain (c->first);
    Timeline t[2];
    TfxCuda *cuda;
    int ret[2];

    if (c->sample == TFX_SAMPLE_F32)
      test_noise_f32 ((float *)x, n);
    test_cuda_set ("TFX_STANDIN_CARD", card);
    cuda = test_cuda_new (NULL);
    for (unsigned k = 0; k < 2; k++) {
      y[k] = test_alloc (n * sizeof *x);
      ret[k] = run_short (cuda, c, chain, x, y[k], k == 1, &t[k]);
    }
    tap_many_check (&many,
        ret[0] == 0 && ret[1] == 0 &&
            memcmp (y[0], y[1], n * tfx_sample_size (c->sample)) == 0 &&
            t[0].n_up == c->n_up && t[0].n_down == c->n_down &&
            t[0].n_kernels > 0,
        "%s, %s, %u channels, %zu frames: %d, %d, %u up, %u down", card,
        c->first, c->n_channels, c->n_frames, ret[0], ret[1], t[0].n_up,
        t[0].n_down);
    tfx_chain_unref (&chain);
    tfx_cuda_unref (&cuda);
    test_cuda_set ("TFX_STANDIN_CARD", NULL);
    free (x);
    free (y[0]);
    free (y[1]);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "parts", test_parts },
  { "failure", test_failure },
  { "again", test_again },
  { "flights", test_flights },
  { "lost-count", test_lost_count },
  { "timeline", test_timeline },
  { "planes", test_planes },
  { "integrated", test_integrated },
  { "short", test_short },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return test_cuda_main_standin (argc, argv, tests);
}
