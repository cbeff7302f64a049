/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_follow.c: long FIRs that take over while samples flow: the past is
 * handed over a little with each block, and is all there at the end.
 */
#include "common.h"
#include "fircase.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/convolver.h"
#include "plan.h"

/* ---- convolvers ----------------------------------------------------------- */

static const struct
{
  size_t n_old, n_new, block;
  unsigned n_channels;
} pairs[] = {
  { 20000, 20000, 256, 2 },
  { 60000, 40000, 256, 1 },
  { 40000, 40000, 1000, 1 },
  { 30000, 30000, 4096, 1 },
  { 20000, 20000, 37, 1 },
  { 50000, 600, 480, 2 },
  { 600, 500, 1024, 2 },
  { 600, 600, 1024, 1 },
  { 3000, 3000, 64, 3 },
  { 700, 20000, 256, 1 },
  { 1, 1, 100, 1 },
  { 20000, 1, 100, 1 },
};

/* No call may run over more frames of the past than this for each frame that
 * has come, and a block of the largest head. */
#define MOST_FRAMES 12
#define MOST_HEAD 4096

static size_t
follow_pair (TapMany *many, size_t p, TfxSample type)
{
  const size_t block = pairs[p].block;
  const size_t n_frames =
      pairs[p].n_old + 3 * pairs[p].n_new + 60000 / block * block;
  FirCase *c = fir_case_new (FIR_DECAY, pairs[p].n_new, 1, pairs[p].n_channels,
      n_frames, 400);
  FirCase *old_case =
      fir_case_new (FIR_NOISE, pairs[p].n_old, 1, pairs[p].n_channels, 1, 1);
  const TfxConvolverSpec spec = fir_case_spec (c, type, TFX_FIR_AUTO, block);
  const TfxConvolverSpec old_spec =
      fir_case_spec (old_case, type, TFX_FIR_AUTO, block);
  TfxConvolver *leader = fir_convolver_new (&old_spec);
  TfxConvolver *follower = fir_convolver_new (&spec);
  const size_t start = (pairs[p].n_old + 5000) / block * block;
  double *out = test_alloc (c->n_channels * n_frames * sizeof *out);
  size_t at = 0, most = 0, exact;

  fir_split_frames = block;
  fir_case_run (c, leader, type, fir_split_fixed, 0, start, out);
  tap_many_check (many, tfx_convolver_follow_start (follower, leader),
      "pair %zu cannot follow", p);
  for (at = start; at + block < n_frames;) {
    size_t left;

    fir_case_run (c, leader, type, fir_split_all, at, block, out);
    at += block;
    left = tfx_convolver_follow (follower, leader, block);
    if (tfx_convolver_follow_work (follower) > most)
      most = tfx_convolver_follow_work (follower);
    if (left == 0)
      break;
  }
  tap_many_check (many, most <= MOST_FRAMES * block + MOST_HEAD,
      "pair %zu: a call ran over %zu frames for %zu", p, most, block);
  tap_many_check (many,
      at - start <= pairs[p].n_new + 32768 && at + pairs[p].n_new < n_frames,
      "pair %zu takes %zu frames", p, at - start);
  fir_case_run (c, follower, type, fir_split_fixed, at, n_frames - at, out);
  /* what the leader had not kept is not to be had */
  exact = pairs[p].n_new <= pairs[p].n_old ? at : at + pairs[p].n_new;
  tap_many_check (many,
      fir_case_error_db (c, out, exact) <= fir_bound_db (TFX_FIR_FFT, type),
      "pair %zu, type %d: %.1f dB", p, type, fir_case_error_db (c, out, exact));
  free (out);
  tfx_convolver_free (&leader);
  tfx_convolver_free (&follower);
  fir_case_free (&c);
  fir_case_free (&old_case);
  return at - start;
}

static void
test_follow (void)
{
  TapMany many = tap_many ("a convolver gets to where another one is");

  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    for (int type = 0; type < 2; type++) {
      size_t n = follow_pair (&many, p, (TfxSample)type);
      if (pairs[p].n_new >= 20000)
        tap_diag ("%zu taps after %zu, blocks of %zu: %zu frames",
            pairs[p].n_new, pairs[p].n_old, pairs[p].block, n);
    }
  }
  tap_many_end (&many);
}

static void
test_others (void)
{
  FirCase *c = fir_case_new (FIR_NOISE, 3000, 1, 2, 1, 1);
  TfxConvolverSpec spec = fir_case_spec (c, TFX_SAMPLE_F32, TFX_FIR_AUTO, 256);
  TfxConvolver *a = fir_convolver_new (&spec), *b;

  spec.precision = TFX_SAMPLE_F64;
  b = fir_convolver_new (&spec);
  tap_check (!tfx_convolver_follow_start (b, a),
      "another precision is refused");
  tfx_convolver_free (&b);
  spec.precision = TFX_SAMPLE_F32;
  spec.n_channels = 1;
  b = fir_convolver_new (&spec);
  tap_check (!tfx_convolver_follow_start (b, a), "so are other channels");
  tfx_convolver_free (&b);
  tfx_convolver_free (&a);
  fir_case_free (&c);
}

/* ---- executors ------------------------------------------------------------- */

#define N_TAPS 20000
#define BLOCK 480
#define FADE 240
#define N_BLOCKS 200
#define N_FRAMES (N_BLOCKS * BLOCK)
#define CHANGE 70 /* the block before which the plan changes */

static const TfxSos section = { 0.5, 0.25, 0.125, -0.5, 0.25 };

/* Plans of a section, a FIR and a section: 0 to 2 differ in the FIR. */
static TfxPlan *plans[3];
/* What each of them puts out from the start. */
static double *outputs[3];
static double *noise;

static TfxPlan *
plan_new (unsigned number)
{
  double *taps = test_alloc (N_TAPS * sizeof *taps);
  const double *kernels[1] = { taps };
  const TfxPlanSpec spec = { .rate_hz = 48000.0,
    .n_channels = 1,
    .sample = TFX_SAMPLE_F64,
    .block_frames = BLOCK,
    .backend = tfx_cpu_backend () };
  TfxChain *chain = tfx_chain_new ();
  TfxPlan *plan = NULL;

  test_noise_f64 (taps, N_TAPS);
  for (unsigned i = 0; i < 3; i++) {
    /* ids 1 to 3 */
    TfxStage *stage = i == 1 ? tfx_stage_new_fir (2, kernels, 1,
                                   N_TAPS - number, 0, TFX_FIR_AUTO)
                             : tfx_stage_new_sections (i + 1, &section, 1);
    TfxChain *longer = stage ? tfx_chain_append (chain, stage) : NULL;
    tfx_stage_unref (&stage);
    tfx_chain_unref (&chain);
    chain = longer;
  }
  if (!chain || tfx_plan_compile_for (chain, &spec, &plan)) {
    printf ("Bail out! no plan\n");
    exit (1);
  }
  tfx_chain_unref (&chain);
  free (taps);
  return plan;
}

static TfxExec *
exec_new (TfxPlan *plan)
{
  TfxExec *exec;

  if (tfx_exec_new (plan, &exec)) {
    printf ("Bail out! no executor\n");
    exit (1);
  }
  return exec;
}

static void
run_blocks (TfxExec *exec, double *samples, size_t first, size_t n)
{
  for (size_t i = first; i < first + n; i++)
    test_exec_f64 (exec, samples + i * BLOCK, 1, BLOCK);
}

static double *
copy_noise (void)
{
  double *samples = test_alloc (N_FRAMES * sizeof *samples);

  memcpy (samples, noise, N_FRAMES * sizeof *samples);
  return samples;
}

static void
set_up (void)
{
  noise = test_alloc (N_FRAMES * sizeof *noise);
  test_noise_f64 (noise, N_FRAMES);
  for (unsigned i = 0; i < 3; i++) {
    TfxExec *exec;

    plans[i] = plan_new (i);
    exec = exec_new (plans[i]);
    outputs[i] = copy_noise ();
    run_blocks (exec, outputs[i], 0, N_BLOCKS);
    tfx_exec_free (&exec);
  }
}

static void
clear (void)
{
  for (unsigned i = 0; i < 3; i++) {
    tfx_plan_unref (&plans[i]);
    free (outputs[i]);
  }
  free (noise);
}

static bool
is_near (double a, double b)
{
  return fabs (a - b) < 1e-9;
}

/* The output goes from plan 0 to plan `to` in one cross-fade; how many frames
 * after the change it begins, SIZE_MAX if it does not. */
static size_t
find_fade (const double *y, unsigned to, size_t n)
{
  const double *a = outputs[0], *b = outputs[to];
  size_t begin = 0, end = n;

  while (begin < n && is_near (y[begin], a[begin]))
    begin++;
  while (end > begin && is_near (y[end - 1], b[end - 1]))
    end--;
  return begin < n && end > begin && end - begin <= FADE &&
                 begin >= CHANGE * BLOCK
             ? begin - CHANGE * BLOCK
             : SIZE_MAX;
}

static void
test_exec (void)
{
  TfxExec *exec = exec_new (plans[0]);
  double *y = copy_noise ();
  TfxWaste *waste;
  size_t begin;

  run_blocks (exec, y, 0, CHANGE);
  tap_check (tfx_plan_prepare (plans[1]) == 0, "a plan is prepared");
  tap_check (tfx_exec_set_plan (exec, plans[1], FADE) == 0, "and set");
  tap_check (tfx_exec_is_fading (exec), "it waits for its state");
  run_blocks (exec, y, CHANGE, N_BLOCKS - CHANGE);
  begin = find_fade (y, 1, N_FRAMES);
  tap_check (begin > BLOCK && begin < N_TAPS + 32768,
      "then it is faded in, with all of the past (after %zu frames)", begin);
  tap_check (!tfx_exec_is_fading (exec), "and that is over");
  waste = tfx_exec_take_waste (exec);
  tap_check (waste != NULL, "the old one is left over");
  tfx_waste_free (&waste);
  tap_check (!waste && !tfx_exec_take_waste (exec), "once");

  /* Nothing is left of what was prepared: at once. */
  tap_check (tfx_exec_set_plan (exec, plans[0], 0) == 0 &&
                 !tfx_exec_is_fading (exec),
      "a plan that was not prepared is not waited for");
  tfx_exec_free (&exec);
  free (y);
}

static void
test_replaced (void)
{
  TfxPlan *first = plan_new (1), *second = plan_new (2);
  TfxExec *exec = exec_new (plans[0]);
  double *y = copy_noise (), *last;

  tfx_plan_prepare (first);
  tfx_plan_prepare (second);
  run_blocks (exec, y, 0, CHANGE);
  tfx_exec_set_plan (exec, first, FADE);
  run_blocks (exec, y, CHANGE, 3);
  tfx_exec_set_plan (exec, second, FADE);
  run_blocks (exec, y, CHANGE + 3, N_BLOCKS - CHANGE - 3);
  tfx_exec_free (&exec);

  /* plan_new() takes other noise each time */
  exec = exec_new (second);
  last = outputs[2];
  outputs[2] = copy_noise ();
  run_blocks (exec, outputs[2], 0, N_BLOCKS);
  tap_check (find_fade (y, 2, N_FRAMES) != SIZE_MAX,
      "a plan that is set while another one waits takes its place");
  free (outputs[2]);
  outputs[2] = last;
  tfx_exec_free (&exec);
  tfx_plan_unref (&first);
  tfx_plan_unref (&second);
  free (y);
}

/* What ends the waiting. */
static void
test_ended (void)
{
  TfxPlan *plan;
  TfxExec *exec = exec_new (plans[0]), *other;
  double *y = copy_noise (), *expected = copy_noise ();
  TfxBlock block = tfx_block_interleaved (y, TFX_SAMPLE_F64, 1, BLOCK);
  bool is_same = true;

  /* the end of the stream: the new filter rings on with all of its past */
  tfx_plan_prepare (plans[2]);
  run_blocks (exec, y, 0, CHANGE);
  tfx_exec_set_plan (exec, plans[2], FADE);
  run_blocks (exec, y, CHANGE, 2);
  block.data = y + (CHANGE + 2) * BLOCK;
  tfx_exec_drain (exec, &block);
  other = exec_new (plans[2]);
  memcpy (expected, noise, N_FRAMES * sizeof *expected);
  run_blocks (other, expected, 0, CHANGE + 2);
  block.data = expected + (CHANGE + 2) * BLOCK;
  tfx_exec_drain (other, &block);
  /* the section behind it has to forget the old one first */
  for (size_t i = (CHANGE + 2) * BLOCK + 100; i < (CHANGE + 3) * BLOCK; i++)
    is_same = is_same && is_near (y[i], expected[i]);
  tap_check (is_same && !tfx_exec_is_fading (exec), "the end of the stream");
  tfx_exec_free (&other);

  /* a reset: the new filter from rest */
  tfx_exec_free (&exec);
  exec = exec_new (plans[0]);
  plan = plan_new (1);
  tfx_plan_prepare (plan);
  memcpy (y, noise, N_FRAMES * sizeof *y);
  run_blocks (exec, y, 0, CHANGE);
  tfx_exec_set_plan (exec, plan, FADE);
  run_blocks (exec, y, CHANGE, 2);
  tfx_exec_reset (exec);
  memcpy (y, noise, N_FRAMES * sizeof *y);
  run_blocks (exec, y, 0, N_BLOCKS);
  other = exec_new (plan);
  memcpy (expected, noise, N_FRAMES * sizeof *expected);
  run_blocks (other, expected, 0, N_BLOCKS);
  is_same = true;
  for (size_t i = 0; i < N_FRAMES; i++)
    is_same = is_same && is_near (y[i], expected[i]);
  tap_check (is_same, "a reset");
  tfx_exec_free (&other);
  tfx_exec_free (&exec);
  tfx_plan_unref (&plan);
  free (y);
  free (expected);
}

/* State that comes from elsewhere while a plan waits for it. */
static void
test_adopted (void)
{
  TfxPlan *plan = plan_new (1);
  TfxExec *exec = exec_new (plans[0]), *other = exec_new (plans[0]);
  double *y = copy_noise (), *b = copy_noise (), *last = outputs[1];

  tfx_plan_prepare (plan);
  run_blocks (other, y, 0, CHANGE);
  /* it has heard nothing but some noise of its own */
  run_blocks (exec, b, 0, 5);
  tfx_exec_set_plan (exec, plan, FADE);
  run_blocks (exec, b, 5, 2);
  tap_check (tfx_exec_adopt (exec, other) == 0, "state is adopted");
  run_blocks (exec, y, CHANGE, N_BLOCKS - CHANGE);
  tfx_exec_free (&other);
  other = exec_new (plan);
  memcpy (b, noise, N_FRAMES * sizeof *b);
  run_blocks (other, b, 0, N_BLOCKS);
  outputs[1] = b;
  tap_check (find_fade (y, 1, N_FRAMES) != SIZE_MAX,
      "and handed over to the plan that waits");
  outputs[1] = last;
  tfx_exec_free (&exec);
  tfx_exec_free (&other);
  tfx_plan_unref (&plan);
  free (y);
  free (b);
}

/* What has taken over follows no longer: state that comes from elsewhere after
 * as many frames is another one. */
static void
test_adopted_later (void)
{
  TfxPlan *plan = plan_new (1);
  TfxExec *exec = exec_new (plans[0]), *other = exec_new (plan);
  TfxExec *right = exec_new (plan);
  double *y = copy_noise (), *b = copy_noise (), *expected = copy_noise ();
  size_t n = 0;
  bool is_same = true;

  tfx_plan_prepare (plan);
  tfx_exec_set_plan (exec, plan, 1);
  /* in the first frame of the last block the fade is over */
  for (; tfx_exec_is_fading (exec); n++)
    run_blocks (exec, y, n, 1);
  test_noise_f64 (b, N_FRAMES / 2);
  memcpy (expected, b, N_FRAMES / 2 * sizeof *b);
  run_blocks (other, b, 0, n - 1);
  run_blocks (right, expected, 0, n - 1);
  tap_check (tfx_exec_adopt (exec, other) == 0, "state is adopted later");
  run_blocks (exec, y, n - 1 + 100, 50);
  run_blocks (right, expected, n - 1 + 100, 50);
  for (size_t i = (n - 1 + 100) * BLOCK; i < (n - 1 + 150) * BLOCK; i++)
    is_same = is_same && is_near (y[i], expected[i]);
  tap_check (is_same, "and is what runs on");
  tfx_exec_free (&exec);
  tfx_exec_free (&other);
  tfx_exec_free (&right);
  tfx_plan_unref (&plan);
  free (y);
  free (b);
  free (expected);
}

/* Without a cross-fade nothing is waited for. */
static void
test_at_once (void)
{
  TfxPlan *plan = plan_new (1);
  TfxExec *exec = exec_new (plans[0]), *other = exec_new (plan);
  double *y = copy_noise (), *b = copy_noise ();
  bool is_same = true;

  tfx_plan_prepare (plan);
  run_blocks (exec, y, 0, CHANGE);
  run_blocks (other, b, 0, N_BLOCKS);
  tfx_exec_set_plan (exec, plan, FADE);
  run_blocks (exec, y, CHANGE, 2);
  tap_check (tfx_exec_set_plan (exec, plan, 0) == 0 &&
                 !tfx_exec_is_fading (exec),
      "a plan that waits can be set at once");
  run_blocks (exec, y, CHANGE + 2, N_BLOCKS - CHANGE - 2);
  for (size_t i = (CHANGE + 2) * BLOCK + 100; i < N_FRAMES; i++)
    is_same = is_same && is_near (y[i], b[i]);
  tap_check (is_same, "with all of the past");
  tfx_exec_free (&exec);
  tfx_exec_free (&other);
  tfx_plan_unref (&plan);
  free (y);
  free (b);
}

static void
test_executors (void)
{
  set_up ();
  test_exec ();
  test_replaced ();
  test_ended ();
  test_adopted ();
  test_adopted_later ();
  test_at_once ();
  clear ();
}

/* ---- several as one ---------------------------------------------------------- */

#define N_ROW 3
static const size_t row_taps[N_ROW] = { 40, 101, 75 };

static TfxPlan *
row_plan (double *const taps[N_ROW], bool keep_stages)
{
  const TfxPlanSpec spec = { .rate_hz = 48000.0,
    .n_channels = 2,
    .sample = TFX_SAMPLE_F64,
    .block_frames = BLOCK,
    .backend = tfx_cpu_backend (),
    .keep_stages = keep_stages };
  TfxChain *chain = tfx_chain_new ();
  TfxPlan *plan;

  for (unsigned i = 0; i < N_ROW; i++) {
    /* the second has a kernel for each channel; a gain behind each */
    const double *kernels[2] = { taps[i], taps[i] + row_taps[i] };
    TfxStage *stages[2] = { tfx_stage_new_fir (i + 1, kernels, i == 1 ? 2 : 1,
                                row_taps[i], 0, TFX_FIR_AUTO),
      tfx_stage_new_gain (100, 0.5 + i) };
    for (int k = 0; k < 2; k++) {
      TfxChain *longer = tfx_chain_append (chain, stages[k]);
      tfx_stage_unref (&stages[k]);
      tfx_chain_unref (&chain);
      chain = longer;
    }
  }
  if (tfx_plan_compile_for (chain, &spec, &plan)) {
    printf ("Bail out! no plan\n");
    exit (1);
  }
  tfx_chain_unref (&chain);
  return plan;
}

/* Filters that are one go on apart, and one that is given the state of one of
 * them, as if they had always been. */
static void
test_row (void)
{
  const size_t n = 6 * BLOCK;
  double *taps[N_ROW], *in = test_alloc (2 * n * sizeof *in);
  double *expected = test_alloc (2 * n * sizeof *in);
  double *y = test_alloc (2 * n * sizeof *in);
  TfxPlan *one, *apart;
  TfxExec *exec, *other;
  double distance[3] = { 0.0 };

  for (unsigned i = 0; i < N_ROW; i++) {
    taps[i] = test_alloc (2 * row_taps[i] * sizeof *taps[i]);
    test_noise_f64 (taps[i], 2 * row_taps[i]);
  }
  test_noise_f64 (in, 2 * n);
  one = row_plan (taps, false);
  apart = row_plan (taps, true);
  tap_check (one->top.n == 1 && apart->top.n == N_ROW &&
                 tfx_plan_n_states (one) == 1 &&
                 tfx_plan_n_states (apart) == N_ROW,
      "three FIRs are one, or three");

  memcpy (expected, in, 2 * n * sizeof *in);
  exec = exec_new (apart);
  test_exec_f64 (exec, expected, 2, n);
  tfx_exec_free (&exec);

  memcpy (y, in, 2 * n * sizeof *in);
  exec = exec_new (one);
  test_exec_f64 (exec, y, 2, n / 2);
  tfx_exec_set_plan (exec, apart, 0);
  test_exec_f64 (exec, y + n, 2, n / 2);
  tfx_exec_free (&exec);
  for (size_t i = 0; i < 2 * n; i++)
    distance[0] = fmax (distance[0], fabs (y[i] - expected[i]));
  tap_check (distance[0] < 1e-9, "one goes on as three: %g", distance[0]);

  /* from one as one to another as one, stage by stage */
  memcpy (y, in, 2 * n * sizeof *in);
  exec = exec_new (one);
  test_exec_f64 (exec, y, 2, n / 2);
  other = exec_new (one);
  for (unsigned i = 0; i < N_ROW; i++)
    tap_check (tfx_exec_adopt_stage (other, exec, i + 1) == 0,
        "the state of %u is adopted", i);
  test_exec_f64 (other, y + n, 2, n / 2);
  tfx_exec_free (&exec);
  tfx_exec_free (&other);
  for (size_t i = 0; i < 2 * n; i++)
    distance[1] = fmax (distance[1], fabs (y[i] - expected[i]));
  tap_check (distance[1] < 1e-9, "another one goes on with it: %g",
      distance[1]);

  tfx_plan_unref (&one);
  tfx_plan_unref (&apart);
  for (unsigned i = 0; i < N_ROW; i++)
    free (taps[i]);
  free (in);
  free (expected);
  free (y);
}

/* A chain of FIRs of as many taps; stages apart. */
static TfxPlan *
lengths_plan (const size_t *n_taps, unsigned n)
{
  const TfxPlanSpec spec = { .rate_hz = 48000.0,
    .n_channels = 1,
    .sample = TFX_SAMPLE_F64,
    .block_frames = BLOCK,
    .backend = tfx_cpu_backend (),
    .keep_stages = true };
  TfxChain *chain = tfx_chain_new ();
  TfxPlan *plan;

  for (unsigned i = 0; i < n; i++) {
    double *taps = test_alloc (n_taps[i] * sizeof *taps);
    const double *kernels[1] = { taps };
    TfxStage *stage;
    TfxChain *longer;

    test_noise_f64 (taps, n_taps[i]);
    stage = tfx_stage_new_fir (i + 1, kernels, 1, n_taps[i], 0, TFX_FIR_DIRECT);
    longer = tfx_chain_append (chain, stage);
    tfx_stage_unref (&stage);
    tfx_chain_unref (&chain);
    chain = longer;
    free (taps);
  }
  if (tfx_plan_compile_for (chain, &spec, &plan)) {
    printf ("Bail out! no plan\n");
    exit (1);
  }
  tfx_chain_unref (&chain);
  return plan;
}

/* State is adopted while a plan of longer filters waits for a cross-fade: what
 * is handed over to that still has room. */
static void
test_room (void)
{
  static const size_t lengths[3] = { 10, 20, 5000 };
  TfxPlan *row[3];
  TfxExec *exec, *other;
  double *y = test_alloc (8 * BLOCK * sizeof *y);
  double distance = 0.0;

  for (unsigned i = 0; i < 3; i++)
    row[i] = lengths_plan (&lengths[i], 1);
  test_noise_f64 (y, 8 * BLOCK);
  exec = exec_new (row[0]);
  tfx_exec_set_plan (exec, row[1], FADE);
  tfx_exec_set_plan (exec, row[2], FADE);
  other = exec_new (row[0]);
  tap_check (tfx_exec_adopt (exec, other) == 0,
      "state is adopted before a longer filter comes");
  tfx_exec_free (&other);
  for (unsigned i = 0; i < 8; i++)
    test_exec_f64 (exec, y + i * BLOCK, 1, BLOCK);
  tap_check (!tfx_exec_is_fading (exec), "which takes over");
  for (size_t i = 0; i < 8 * BLOCK; i++)
    distance = fmax (distance, fabs (y[i]));
  tap_check (isfinite (distance) && distance > 0.0, "and is heard");
  tfx_exec_free (&exec);
  for (unsigned i = 0; i < 3; i++)
    tfx_plan_unref (&row[i]);
  free (y);
}

/* Short FIRs do not become one where a long one would have to come along. */
static void
test_long_row (void)
{
  static const size_t lengths[3] = { 60, 50, 40000 };
  TfxPlan *two = lengths_plan (lengths, 2), *all = lengths_plan (lengths, 3);

  tap_check (tfx_plan_past (two) == 109, "two short FIRs can become one: %zu",
      tfx_plan_past (two));
  tap_check (tfx_plan_past (all) == 0, "not with a long one in the plan");
  tfx_plan_unref (&two);
  tfx_plan_unref (&all);
}

static const TapTest tests[] = {
  { "follow", test_follow },
  { "others", test_others },
  { "executors", test_executors },
  { "row", test_row },
  { "room", test_room },
  { "long_row", test_long_row },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
