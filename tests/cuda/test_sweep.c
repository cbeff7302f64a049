/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_sweep.c: each call into the driver failing once, for each kind of stage.
 *
 * As test_faults.c, but in rows of each kind, in floats and doubles, interleaved
 * and in planes, in pageable and pinned memory, in place, in parts, with blocks in
 * flight and with changes of settings: the CPU continues from the same sample with
 * the state of the filters, so the output equals that of the CPU alone. */
#include "core/block.h"
#include "common-cuda.h"
#include "cudarow.h"
#include "engine.h"
#include "lang/expr.h"
#include "part.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RATE 48000.0
#define N_CHANNELS 2
#define N_BLOCKS 6
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
} Line;

static const Line lines[] = {
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
};

static char report_path[64];

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

static size_t
n_samples (const Line *l)
{
  return N_BLOCKS * n_frames (l) * N_CHANNELS;
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

    if (!(fabs (x - y) <= most))
      most = fabs (x - y);
    peak = fmax (peak, fabs (y));
  }
  return most / peak;
}

/* ---- a stream ------------------------------------------------------------------- */

static TfxChain *
build (const TfxExpr *expr)
{
  TfxChain *chain = NULL;

  if (tfx_expr_build (expr, RATE, N_CHANNELS, NULL, NULL, &chain, NULL) < 0) {
    printf ("Bail out! no chain\n");
    exit (1);
  }
  return chain;
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
  bool has_failed;
  char error[512];
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
  if (s->cuda)
    tfx_cuda_error (s->cuda, s->error, sizeof s->error);
  s->has_failed = true;
}

static void
make_plan (Stream *s)
{
  if (s->device &&
      !tfx_plan_is_for (s->device, &s->filter, 1, tfx_cuda_backend (s->cuda)))
    tfx_plan_free (&s->device);
  if (s->device || s->has_failed)
    return;
  if (tfx_plan_new (&s->filter, 1, tfx_cuda_backend (s->cuda), &s->device) < 0)
    leave (s);
  else if (s->line->part)
    tfx_cuda_engine_force_parts (s->device->engine, s->line->part);
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
  if (!s->has_failed && s->line->in_flight && tfx_plan_can_start (s->device)) {
    start_block (s, block);
    return;
  }
  land (s);
  if (!s->has_failed) {
    ret = tfx_plan_run (s->device, block, block);
    n_done = tfx_plan_n_done (s->device);
    if (ret < 0 && ret != -ENOTSUP)
      leave (s);
  }
  if (s->has_failed || ret < 0)
    run_by_cpu (s, block, n_done);
}

/* Runs the stream, on the device until it fails. */
static Stream
play (const Line *l, TfxChain *const chains[2], void *samples, bool on_device)
{
  const TfxFilterSpec spec = { .rate_hz = RATE,
    .n_channels = N_CHANNELS,
    .sample = l->is_double ? TFX_SAMPLE_F64 : TFX_SAMPLE_F32 };
  Stream s = { .line = l };

  if (tfx_filter_new (chains[0], &spec, &s.filter) < 0) {
    printf ("Bail out! no filter\n");
    exit (1);
  }
  s.has_failed =
      !on_device || tfx_cuda_new (-1, &s.cuda, s.error, sizeof s.error) < 0;
  tfx_filter_lock (s.filter);
  for (unsigned i = 0; i < N_BLOCKS; i++) {
    TfxBlock block = block_of (l, samples, i);

    if (i == CHANGES_AT && chains[1]) {
      land (&s);
      tfx_filter_set_chain (s.filter, chains[1]);
    }
    run_block (&s, &block);
  }
  land (&s);
  tfx_plan_free (&s.device);
  tfx_plan_free (&s.cpu);
  tfx_filter_unlock (s.filter);
  tfx_filter_unref (&s.filter);
  return s;
}

/* ---- what fails ------------------------------------------------------------------- */

/* The injected failure, "" without one; and faults of the caller. */
static const char *
injected (bool *is_good)
{
  static char text[1024];
  FILE *file = fopen (report_path, "r");
  size_t n = 0;

  if (file) {
    n = fread (text, 1, sizeof text - 1, file);
    fclose (file);
  }
  text[n] = '\0';
  *is_good = !strstr (text, "queued work");
  return text;
}

/* Out of memory, a launch that failed, an illegal address, no permission, unknown. */
static const int codes[] = { 2, 719, 700, 800, 999 };

typedef struct Sweep
{
  const Line *line;
  TfxChain *chains[2];
  double *noise;
  void *expected, *out;
  TapMany many;
  unsigned n_failed;
} Sweep;

/* False if there are fewer calls. */
static bool
sweep_call (Sweep *w, unsigned n)
{
  const Line *l = w->line;
  const char *what;
  char setting[64];
  bool is_lost, is_good;
  double error;
  Stream s;

  unlink (report_path);
  fill (l, w->noise, w->out);
  snprintf (setting, sizeof setting, "%u,%d", n,
      codes[n % (sizeof codes / sizeof *codes)]);
  test_cuda_set ("TFX_STANDIN_FAIL", setting);
  test_cuda_set ("TFX_STANDIN_ASYNC", l->way);
  s = play (l, w->chains, w->out, true);
  test_cuda_set ("TFX_STANDIN_FAIL", NULL);
  is_lost = s.cuda && tfx_cuda_is_lost (s.cuda);
  tfx_cuda_unref (&s.cuda);
  test_cuda_set ("TFX_STANDIN_ASYNC", NULL);
  what = injected (&is_good);
  if (what[0] == '\0')
    return false;
  error = distance (l, w->out, w->expected);
  w->n_failed += s.has_failed;
  tap_many_check (&w->many,
      error < (l->is_double ? 1e-9 : 1e-6) && !is_lost && is_good &&
          (!s.has_failed || s.error[0]),
      "call %u, %s: %g, failed %d, lost %d, \"%s\"", n, what, error,
      s.has_failed, is_lost, s.error);
  return true;
}

static void
sweep (const Line *l, unsigned number)
{
  const size_t size = n_samples (l) * sample_size (l);
  const unsigned step = part_is_wanted () ? 13 : 1;
  Sweep w = { .line = l, .many = tap_many (l->text) };
  TfxExpr *expr = parse (l->text);
  TfxCuda *cuda = test_cuda_new (NULL);
  void *memory =
      l->is_pinned ? test_cuda_alloc_pinned (cuda, size) : test_alloc (size);
  Stream s;
  unsigned n;

  w.chains[0] = build (expr);
  if (l->then) {
    TfxExpr *then = parse (l->then);

    tfx_expr_adopt_ids (then, expr);
    w.chains[1] = build (then);
    tfx_expr_free (&then);
  }
  w.noise = test_alloc (n_samples (l) * sizeof *w.noise);
  test_noise_f64 (w.noise, n_samples (l));
  w.expected = test_alloc (size);
  w.out = memory;
  fill (l, w.noise, w.expected);
  play (l, w.chains, w.expected, false);
  fill (l, w.noise, w.out);
  s = play (l, w.chains, w.out, true);
  tap_many_check (&w.many,
      !s.has_failed && distance (l, w.out, w.expected) < 1e-6,
      "nothing fails: %d, %g, %s", s.has_failed,
      distance (l, w.out, w.expected), s.error);
  tfx_cuda_unref (&s.cuda);
  for (n = 1 + number % step; n < MAX_CALLS && sweep_call (&w, n); n += step)
    ;
  tap_many_check (&w.many, n < MAX_CALLS && w.n_failed > 0,
      "%u calls, %u of them end the device's part", n - 1, w.n_failed);
  tap_many_end (&w.many);
  tap_diag ("%u calls, %u of them end the device's part", n - 1, w.n_failed);
  if (l->is_pinned)
    test_cuda_free_pinned (cuda, memory);
  else
    free (memory);
  tfx_cuda_unref (&cuda);
  tfx_chain_unref (&w.chains[0]);
  tfx_chain_unref (&w.chains[1]);
  tfx_expr_free (&expr);
  free (w.noise);
  free (w.expected);
  unlink (report_path);
}

static void
test_every_call (void)
{
  test_cuda_set ("TFX_STANDIN_REPORT", report_path);
  for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
    sweep (&lines[i], i);
  test_cuda_set ("TFX_STANDIN_REPORT", NULL);
}

static const TapTest tests[] = {
  { "every-call", test_every_call },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  snprintf (report_path, sizeof report_path, "/tmp/tfx-sweep-%d",
      (int)getpid ());
  if (tfx_driver_get (NULL) && !test_cuda_is_standin ()) {
    printf ("1..0 # SKIP needs the stand-in\n");
    return 0;
  }
  return tap_main (argc, argv, tests);
}
