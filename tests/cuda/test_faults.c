/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_faults.c: calls into the driver that fail: each one, once; all of them from one
 * on; and those for memory until some block.
 *
 * A stream runs on the backend "cuda" until a call fails, and then on the CPU, from
 * the same sample on with the state of the filter: no sample is wrong, none is lost,
 * and the error text names the call.  In rows of each kind of stage, in floats and
 * doubles, interleaved and in planes, in pageable and pinned memory, in place, in
 * parts, with blocks in flight and with changes of settings. */
#include "core/block.h"
#include "chains.h"
#include "engine.h"
#include "lang/expr.h"
#include "part.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_CHANNELS 2
#define N_BLOCKS 6
#define N_BLOCKS_FIRST 4 /* of the first line */
#define N_FRAMES 900
#define CHANGES_AT 2 /* block */
/* More calls than a stream makes. */
#define MAX_CALLS 4000

typedef struct Line
{
  const char *text, *then; /* then: from a block on; NULL: it stays */
  bool is_double, is_planar, is_pinned, in_flight;
  size_t part;       /* samples of a part; 0: the default */
  unsigned n_frames; /* of a block; 0: N_FRAMES */
  const char *way;   /* when asynchronous work is done; NULL: at once */
  bool has_matrix;   /* of kernels, after the text */
} Line;

static const Line lines[] = {
  /* Cascades of two groups and of one, FIRs by transforms and directly, a delay line, a
   * sum; more than a tile.  The tests of everything but single calls take it alone. */
  { "HiButterworth(50, order=18) | DesignableFIR(2000, 301, conv_mode='fft') | "
    "Delay(100, mix=0.5, strategy='ping-pong') | (LoButterworth(3000, order=4) "
    "+ Gain(1)) | Gain(0.5) | HiButterworth(80, order=6) | "
    "FIR([0.5, 0.25, -0.125])",
      NULL, false, false, false, false, 0, 2400, NULL },
  { "Compressor(-30, 4) | Gate(-60)", "Compressor(-20, 2) | Gate(-50)", false,
      true, false, false, 0, 0, "apart:1" },
  { "Compressor(-30, 4, detector='rms', link=True)", NULL, true, false, true,
      false, 600, 0, "late" },
  { "Expander(-20, 3) | Gain(3, clamp=True)", NULL, false, false, true, true, 0,
      0, NULL },
  { "Limiter(-12, 0.002)", "Limiter(-18, 0.002)", true, true, false, false, 700,
      0, "apart:1" },
  { "Limiter(-12, 0.002, link=True)", NULL, false, false, false, true, 0, 0,
      "apart:2" },
  /* Short: kernels read and write the host's memory. */
  { "HiButterworth(80, order=6) | Limiter(-12, 0.002)",
      "HiButterworth(90, order=6) | Limiter(-18, 0.002)", false, false, true,
      false, 0, 400, "apart:1" },
  { "Gain(3, clamp=True) | Compressor(-30, 4)", NULL, true, true, false, true,
      0, 400, "apart:2" },
  { "Reverb(0.4, mix=0.5)", "Reverb(0.7, mix=0.2)", false, false, false, false,
      900, 0, NULL },
  { "Reverb(0.4) | Mix([[0.5, 0.5], [0.5, -0.5]])", NULL, true, true, true,
      true, 0, 0, "apart:1" },
  { "DesignableFIR(2000, 301, conv_mode='fft')",
      "DesignableFIR(3000, 301, conv_mode='fft')", false, true, true, false, 0,
      0, "apart:2" },
  { "DesignableFIR(2000, 2001, conv_mode='fft')", NULL, true, false, false,
      true, 0, 0, "apart:1" },
  { "DesignableFIR(2000, 41, conv_mode='direct') | Echo(700)",
      "DesignableFIR(4000, 41, conv_mode='direct') | Echo(500)", true, false,
      true, false, 400, 0, "late" },
  { "ch[0]: LoButterworth(900) | Echo(50); ch[1]: DesignableFIR(500, 31)", NULL,
      false, false, true, false, 0, 0, NULL },
  { "HiButterworth(80, order=10) | (LoButterworth(300) + Delay(100, taps=2))",
      "HiButterworth(100, order=10) | (LoButterworth(500) + Delay(100, "
      "taps=2))",
      false, true, true, false, 800, 0, "apart:1" },
  { "Gain(0.25)", NULL, false, false, false, false, 1300, 0, "apart:1", true },
};

/* When asynchronous work is done, if the line does not say it. */
static const char *environment_way;

/* ---- samples ------------------------------------------------------------------- */

static size_t
sample_size (const Line *l)
{
  return l->is_double ? sizeof (double) : sizeof (float);
}

static size_t
n_frames (const Line *l)
{
  return l->n_frames ? l->n_frames : N_FRAMES;
}

static unsigned
n_blocks (const Line *l)
{
  return l == lines ? N_BLOCKS_FIRST : N_BLOCKS;
}

static size_t
n_samples (const Line *l)
{
  return n_blocks (l) * n_frames (l) * N_CHANNELS;
}

static TfxBlock
block_of (const Line *l, void *samples, unsigned i)
{
  const TfxSample type = l->is_double ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32;
  const size_t n = n_frames (l);
  char *at = (char *)samples + i * n * N_CHANNELS * sample_size (l);

  return l->is_planar ? tfx_block_planar (at, type, N_CHANNELS, n, n)
                      : tfx_block_interleaved (at, type, N_CHANNELS, n);
}

static void
fill (const Line *l, const double *noise, void *samples)
{
  for (size_t i = 0; i < n_samples (l); i++) {
    if (l->is_double)
      ((double *)samples)[i] = noise[i];
    else
      ((float *)samples)[i] = (float)noise[i];
  }
}

static double
distance (const Line *l, const void *a, const void *b)
{
  double most = 0, peak = 0;

  for (size_t i = 0; i < n_samples (l); i++) {
    double x = l->is_double ? ((const double *)a)[i] : ((const float *)a)[i];
    double y = l->is_double ? ((const double *)b)[i] : ((const float *)b)[i];

    most = test_cuda_worse (most, fabs (x - y));
    peak = fmax (peak, fabs (y));
  }
  return most / peak;
}

/* ---- a stream ------------------------------------------------------------------- */

/* A block that has been started. */
typedef struct Flight
{
  TfxBlock block;
  TfxFlight flight;
} Flight;

typedef struct Stream
{
  const Line *line;
  TfxFilter *filter;
  TfxCuda *cuda;
  TfxPlan *device, *cpu;
  unsigned again; /* the device is tried again with each block; 0: it is not */
  bool is_off;    /* the CPU runs */
  bool has_device, has_failed;
  char error[512]; /* the first one */
  Flight flights[2], *held;
} Stream;

static void
run_by_cpu (Stream *s, const TfxBlock *block, size_t n_done)
{
  const TfxBackend *backend = tfx_cpu_backend_for ("c");
  TfxBlock rest = tfx_block_part (block, n_done, block->n_frames - n_done, 0,
      block->n_channels);
  int ret = 0;

  if (s->cpu && !tfx_plan_is_for (s->cpu, &s->filter, 1, backend))
    tfx_plan_free (&s->cpu);
  if (!s->cpu)
    ret = tfx_plan_new (&s->filter, 1, backend, &s->cpu);
  if (ret == 0)
    ret = tfx_plan_run (s->cpu, &rest, &rest);
  if (ret < 0)
    tap_diag ("the CPU: %d", ret);
}

/* The device is left. */
static void
leave (Stream *s)
{
  if (s->cuda && !s->has_failed)
    tfx_cuda_error (s->cuda, s->error, sizeof s->error);
  s->has_failed = true;
  s->is_off = true;
}

static void
make_plan (Stream *s)
{
  if (s->device &&
      !tfx_plan_is_for (s->device, &s->filter, 1, tfx_cuda_backend (s->cuda)))
    tfx_plan_free (&s->device);
  if (s->device || s->is_off)
    return;
  if (tfx_plan_new (&s->filter, 1, tfx_cuda_backend (s->cuda), &s->device) < 0)
    leave (s);
  else if (s->line->part)
    tfx_cuda_engine_force_parts (s->device->engine, s->line->part);
  s->has_device = s->has_device || s->device;
}

/* Finishes the block in flight. */
static void
land (Stream *s)
{
  Flight *f = s->held;

  s->held = NULL;
  if (!f)
    return;
  if (s->device && tfx_plan_finish (s->device, &f->flight) < 0) {
    leave (s);
    tfx_plan_free (&s->device);
  }
  if (f->flight.n_done < f->block.n_frames)
    run_by_cpu (s, &f->block, f->flight.n_done);
}

static void
start_block (Stream *s, const TfxBlock *block)
{
  Flight *f = &s->flights[s->held == &s->flights[0]];

  f->block = *block;
  if (tfx_plan_start (s->device, block, block, &f->flight) == 0) {
    land (s);
    s->held = f;
    return;
  }
  leave (s);
  land (s);
  tfx_plan_free (&s->device);
  run_by_cpu (s, block, f->flight.n_done);
}

static void
run_block (Stream *s, const TfxBlock *block)
{
  size_t n_done = 0;
  int ret = 0;

  if (s->held && (!s->device || !tfx_plan_is_for (s->device, &s->filter, 1,
                                    tfx_cuda_backend (s->cuda))))
    land (s);
  make_plan (s);
  if (!s->is_off && s->line->in_flight && tfx_plan_can_start (s->device)) {
    start_block (s, block);
    return;
  }
  land (s);
  if (!s->is_off) {
    ret = tfx_plan_run (s->device, block, block);
    n_done = tfx_plan_n_done (s->device);
    if (ret < 0 && ret != -ENOTSUP)
      leave (s);
  }
  if (s->is_off || ret < 0)
    run_by_cpu (s, block, n_done);
}

/* A line with its chains and samples. */
typedef struct Case
{
  const Line *line;
  TfxChain *chains[2];
  TfxCuda *cuda;
  double *noise;
  void *expected, *out; /* of the CPU, of the device */
} Case;

static TfxFilter *
new_filter (const Case *c)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = N_CHANNELS,
    .sample = c->line->is_double ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32 };
  TfxFilter *filter = NULL;

  if (tfx_filter_new (c->chains[0], &spec, &filter) < 0) {
    printf ("Bail out! no filter\n");
    exit (1);
  }
  return filter;
}

/* Runs the stream; on the device until it fails, or again with each block, where its
 * calls work again from block `again` on.  The caller frees the device. */
static Stream
run_stream (const Case *c, void *samples, bool on_device, unsigned again)
{
  Stream s = { .line = c->line, .filter = new_filter (c), .again = again };

  fill (c->line, c->noise, samples);
  if (on_device && tfx_cuda_new (-1, &s.cuda, s.error, sizeof s.error) < 0)
    s.has_failed = true;
  tfx_filter_lock (s.filter);
  for (unsigned i = 0; i < n_blocks (c->line); i++) {
    TfxBlock block = block_of (c->line, samples, i);

    if (again && i == again)
      test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    s.is_off = !s.cuda || (s.is_off && !again);
    if (i == CHANGES_AT && c->chains[1]) {
      land (&s);
      tfx_filter_set_chain (s.filter, c->chains[1]);
    }
    run_block (&s, &block);
  }
  land (&s);
  tfx_plan_free (&s.device);
  tfx_plan_free (&s.cpu);
  tfx_filter_unlock (s.filter);
  tfx_filter_unref (&s.filter);
  if (s.cuda && !s.has_failed)
    tfx_cuda_error (s.cuda, s.error, sizeof s.error);
  return s;
}

static TfxExpr *
parse (const char *text)
{
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);

  if (!expr) {
    printf ("Bail out! %s: %s\n", text, error.message);
    exit (1);
  }
  return expr;
}

static void
append_matrix (TfxChain **chain)
{
  static const int matrix[N_CHANNELS * N_CHANNELS] = { 0, 1, 1, 0 };
  double *taps = test_cuda_noise (2 * 600);
  const double *const kernels[] = { taps, taps + 600 };

  test_cuda_append (chain,
      tfx_stage_new_fir_matrix (tfx_stage_new_id (), N_CHANNELS, matrix,
          kernels, 2, 600, TFX_FIR_AUTO));
  free (taps);
}

static Case
case_new (const Line *l)
{
  const size_t size = n_samples (l) * sample_size (l);
  Case c = { .line = l, .cuda = test_cuda_new (NULL) };
  TfxExpr *expr = parse (l->text), *then = l->then ? parse (l->then) : NULL;

  tfx_expr_build (expr, RATE, N_CHANNELS, NULL, NULL, &c.chains[0], NULL);
  if (then) {
    tfx_expr_adopt_ids (then, expr);
    tfx_expr_build (then, RATE, N_CHANNELS, NULL, NULL, &c.chains[1], NULL);
  }
  if (l->has_matrix)
    append_matrix (&c.chains[0]);
  tfx_expr_free (&expr);
  tfx_expr_free (&then);
  c.noise = test_alloc (n_samples (l) * sizeof *c.noise);
  test_noise_f64 (c.noise, n_samples (l));
  c.expected = test_alloc (size);
  c.out =
      l->is_pinned ? test_cuda_alloc_pinned (c.cuda, size) : test_alloc (size);
  run_stream (&c, c.expected, false, 0);
  return c;
}

static void
case_free (Case *c)
{
  test_cuda_set ("TFX_STANDIN_REPORT", NULL);
  if (c->line->is_pinned)
    test_cuda_free_pinned (c->cuda, c->out);
  else
    free (c->out);
  tfx_cuda_unref (&c->cuda);
  tfx_chain_unref (&c->chains[0]);
  tfx_chain_unref (&c->chains[1]);
  free (c->noise);
  free (c->expected);
}

/* ---- what fails ------------------------------------------------------------------- */

typedef struct Outcome
{
  char what[1024]; /* the injected failure; "": there are fewer calls */
  bool has_device, has_failed, is_lost;
  bool is_sound; /* no memory was freed that queued work still needs */
  char error[512];
  double distance;
} Outcome;

/* Plays the stream with this failure, or none. */
static Outcome
play (const Case *c, const char *setting, unsigned again)
{
  Outcome o = { .what = "" };
  Stream s;

  test_cuda_report ();
  test_cuda_set ("TFX_STANDIN_FAIL", setting);
  test_cuda_set ("TFX_STANDIN_ASYNC",
      c->line->way ? c->line->way : environment_way);
  s = run_stream (c, c->out, true, again);
  test_cuda_set ("TFX_STANDIN_FAIL", NULL);
  o.is_lost = s.cuda && tfx_cuda_is_lost (s.cuda);
  tfx_cuda_unref (&s.cuda);
  test_cuda_set ("TFX_STANDIN_ASYNC", environment_way);
  snprintf (o.what, sizeof o.what, "%.1000s", test_cuda_report ());
  o.has_device = s.has_device;
  o.has_failed = s.has_failed;
  o.is_sound = !strstr (o.what, "queued work");
  memcpy (o.error, s.error, sizeof o.error);
  o.distance = distance (c->line, c->out, c->expected);
  return o;
}

static bool
contains_one (const char *text, const char *const *words)
{
  while (*words && !strstr (text, *words))
    words++;
  return *words != NULL;
}

/* A call in vain must not be what the outcome hangs on. */
static bool
is_harmless (const char *what)
{
  static const char *const words[] = { "Destroy", "Free", "Unload", "Release",
    "PopCurrent", "PointerGetAttribute", "PushCurrent", "GetFunction",
    "DriverGetVersion", "ModuleLoad", NULL };

  return contains_one (what, words);
}

/* The state from the slots and back is asked for twice, and so are copies of samples,
 * records of events and waits, and transforms of taps that are set; state is cleared from the host, or read
 * there, where that fails on the device; the first failure is kept as the error. */
static bool
is_tried_again (const Line *l, const Outcome *o)
{
  static const char *const words[] = { "Memcpy", "Memset", "MemAlloc",
    "EventQuery", "EventRecord", NULL };

  return o->error[0] && (contains_one (o->what, words) ||
                            (l->then && strstr (o->what, "LaunchKernel")));
}

/* Out of memory, a launch that failed, an illegal address, no permission, unknown. */
static const int codes[] = { 2, 719, 700, 800, 999 };

/* Each call once, of the lines first to end - 1. */
static void
check_calls (unsigned first, unsigned end)
{
  for (unsigned i = first; i < end; i++) {
    const unsigned step = part_is_wanted () ? 13 : 1;
    TapMany many = tap_many (lines[i].text);
    Case c = case_new (&lines[i]);
    Outcome o = play (&c, NULL, 0);
    unsigned n, n_failed = 0;

    tap_many_check (&many, !o.has_failed && o.distance < 1e-6 && !o.what[0],
        "nothing fails: %d, %g, %s%s", o.has_failed, o.distance, o.error,
        o.what);
    for (n = 1 + i % step; n < MAX_CALLS; n += step) {
      char setting[64];

      snprintf (setting, sizeof setting, "%u,%d", n, codes[n % N_OF (codes)]);
      o = play (&c, setting, 0);
      if (!o.what[0])
        break;
      n_failed += o.has_failed;
      tap_many_check (&many,
          o.distance < (lines[i].is_double ? 1e-9 : 1e-6) && !o.is_lost &&
              o.is_sound &&
              (o.has_failed
                      ? o.error[0] != '\0'
                      : is_harmless (o.what) || is_tried_again (c.line, &o)),
          "call %u, %s: %g, failed %d, lost %d, \"%s\"", n, o.what, o.distance,
          o.has_failed, o.is_lost, o.error);
    }
    tap_many_check (&many,
        n > 100 && n < MAX_CALLS && n_failed > (step > 1 ? 0 : n / 4),
        "%u calls, %u of them end the device's part", n - 1, n_failed);
    tap_many_end (&many);
    tap_diag ("%u calls, %u of them end the device's part", n - 1, n_failed);
    case_free (&c);
  }
}

static void
test_every_call (void)
{
  check_calls (0, 1);
}

static void
test_sweep (void)
{
  check_calls (1, N_OF (lines));
}

/* Device memory is short from allocation n until block k. The CPU continues with
 * the state, the device takes it back, and no sample is lost. */
static void
test_shortage (void)
{
  static const char *const functions[] = { "cuMemAlloc_v2", "cuMemHostAlloc" };
  TapMany many = tap_many ("every sample is right while memory is short");
  Case c = case_new (&lines[0]);
  unsigned n_tried = 0;

  for (unsigned i = 0; i < N_OF (functions) * N_BLOCKS_FIRST; i++) {
    for (unsigned n = 1; n < MAX_CALLS; n++) {
      const unsigned until = 1 + i % N_BLOCKS_FIRST;
      char setting[64];
      Outcome o;

      snprintf (setting, sizeof setting, "%s:%u,2,short",
          functions[i / N_BLOCKS_FIRST], n);
      o = play (&c, setting, until);
      if (!o.what[0])
        break;
      tap_many_check (&many, o.distance < 1e-6 && !o.is_lost,
          "%s until block %u: %g%s", setting, until, o.distance,
          o.is_lost ? ", lost" : "");
      n_tried++;
    }
  }
  tap_many_end (&many);
  tap_check (n_tried > 100, "%u times", n_tried);
  case_free (&c);
}

/* A block that the plan takes in parts: those that are done count. */
static void
test_parts (void)
{
  const size_t part = 500;
  TapMany many = tap_many ("parts of a block that fails count");
  Case c = case_new (&lines[0]);
  size_t most = 0;

  for (unsigned n = 1; n < 60; n += 4) {
    TfxBackend backend = *tfx_cuda_backend (c.cuda);
    Stream s = { .line = c.line, .filter = new_filter (&c) };
    TfxBlock block = tfx_block_interleaved (c.out, TFX_SAMPLE_F32, N_CHANNELS,
        N_BLOCKS_FIRST * n_frames (c.line));
    char setting[64];
    size_t n_done;
    int ret;

    backend.max_samples = part * N_CHANNELS;
    fill (c.line, c.noise, c.out);
    tfx_filter_lock (s.filter);
    ret = tfx_plan_new (&s.filter, 1, &backend, &s.device);
    snprintf (setting, sizeof setting, "cuLaunchKernel:%u", n);
    test_cuda_set ("TFX_STANDIN_FAIL", setting);
    if (ret == 0)
      ret = tfx_plan_run (s.device, &block, &block);
    test_cuda_set ("TFX_STANDIN_FAIL", NULL);
    n_done = tfx_plan_n_done (s.device);
    most = n_done > most ? n_done : most;
    if (ret < 0)
      run_by_cpu (&s, &block, n_done);
    tap_many_check (&many,
        ret < 0 && n_done % part == 0 &&
            distance (c.line, c.out, c.expected) < 1e-6,
        "launch %u: returns %d, %zu frames done, %g", n, ret, n_done,
        distance (c.line, c.out, c.expected));
    tfx_plan_free (&s.device);
    tfx_plan_free (&s.cpu);
    tfx_filter_unlock (s.filter);
    tfx_filter_unref (&s.filter);
  }
  tap_many_end (&many);
  tap_check (most > 2 * part, "up to %zu frames were done", most);
  case_free (&c);
}

/* A device that goes and does not come back: it is said, and nothing hangs. */
static void
test_device_lost (void)
{
  const unsigned step = part_is_wanted () ? 29 : 7;
  TapMany many = tap_many ("a device that has gone");
  Case c = case_new (&lines[0]);
  unsigned n_failed = 0;

  for (unsigned n = 1; n < MAX_CALLS; n += step) {
    char setting[64];
    Outcome o;

    snprintf (setting, sizeof setting, "%u,719,sticky", n);
    o = play (&c, setting, 0);
    if (!o.what[0])
      break;
    /* Gone while memory was being given back, it is not missed. */
    tap_many_check (&many,
        isfinite (o.distance) &&
            (o.is_lost || (o.has_failed ? !o.has_device
                                        : is_harmless (o.what) ||
                                              is_tried_again (c.line, &o))),
        "from call %u on, %s: failed %d, lost %d, \"%s\"", n, o.what,
        o.has_failed, o.is_lost, o.error);
    n_failed += o.has_failed;
  }
  tap_many_end (&many);
  tap_check (n_failed > 100 / step, "it has been missed %u times", n_failed);
  case_free (&c);
}

static const TapTest tests[] = {
  { "every-call", test_every_call },
  { "sweep", test_sweep },
  { "shortage", test_shortage },
  { "parts", test_parts },
  { "device-lost", test_device_lost },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  environment_way = getenv ("TFX_STANDIN_ASYNC");
  return test_cuda_main_standin (argc, argv, tests);
}
