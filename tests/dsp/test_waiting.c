/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_waiting.c: stages follow curves, or are set, while a chain waits for the end of
 * a cross-fade. */
#include "rows.h"
#include "common.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GRID TFX_GRID_FRAMES
#define N_FRAMES 3000
/* Off the grid, as buffers may be: the second change waits for the first one. */
#define FIRST_CHANGE 77
#define SECOND_CHANGE 177

enum
{
  LEVEL, /* stays */
  ECHO,  /* stays */
  EQ,    /* stays, but in another place */
  COMES, /* is there in the chain that waits */
  NEW_ECHO,
  MARK, /* of the first change */
  LAST, /* of the second one */
  N_STAGES
};

static uint64_t ids[N_STAGES];

static void
make_ids (void)
{
  for (int i = 0; i < N_STAGES; i++)
    ids[i] = tfx_stage_new_id ();
}

/* The setting of a stage at a frame. */
static TfxStage *
stage_at (int which, uint64_t frame)
{
  const double part = (double)frame / N_FRAMES;
  const TfxTap tap = { 77, part, false, TFX_TAP_BOTH };

  switch (which) {
    case LEVEL:
      return tfx_stage_new_gain (ids[which], 1.0 + part);
    case ECHO:
    case NEW_ECHO:
      return tfx_stage_new_delay (ids[which], 1.0, &tap, 1);
    case EQ:
    case COMES:
      return rows_low_pass (ids[which], 2, 1000.0 + 3000.0 * part);
    default:
      return rows_low_pass (ids[which], 2, 15000.0);
  }
}

static TfxChain *
chain_at (const int *which, size_t n, uint64_t frame)
{
  TfxStage *stages[N_STAGES];

  for (size_t i = 0; i < n; i++)
    stages[i] = stage_at (which[i], frame);
  return rows_chain (stages, n);
}

static const int at_first[] = { EQ, LEVEL, ECHO };
static const int then[] = { EQ, LEVEL, ECHO, MARK };
static const int at_last[] = { LEVEL, ECHO, LAST, EQ, COMES, NEW_ECHO };

static void
set_chain (TfxFilter *f, const int *which, size_t n, uint64_t frame)
{
  tap_check (rows_set_chain (f, chain_at (which, n, frame)) == 0,
      "a chain is taken");
}

/* The points ahead, as an element asks its curves: one that a chain that
 * waits does not have, is refused. */
static void
queue_up_to (TfxFilter *f, uint64_t *next, uint64_t end)
{
  for (; *next < end + GRID; *next += GRID) {
    for (int i = 0; i <= NEW_ECHO; i++)
      rows_queue (f, *next, stage_at (i, *next));
  }
}

/* Noise in blocks; two changes of structure, at once and behind its cross-fade. */
static void
run (size_t block, double *x)
{
  TfxChain *chain = chain_at (at_first, 3, 0);
  TfxFilter *f = rows_filter_of (chain, 1, TFX_SAMPLE_F64);
  TfxPlan *plan = rows_plan (&f, 1);
  const size_t changes[] = { FIRST_CHANGE, SECOND_CHANGE, N_FRAMES };
  uint64_t next = GRID;
  size_t at = 0;

  tfx_chain_unref (&chain);
  for (int k = 0; k < 3; k++) {
    while (at < changes[k]) {
      const size_t left = changes[k] - at, n = block < left ? block : left;

      queue_up_to (f, &next, at + n);
      rows_run (plan, x + at, 1, n);
      at += n;
    }
    if (k == 0)
      set_chain (f, then, 4, next - GRID);
    if (k == 1)
      set_chain (f, at_last, 6, next - GRID);
  }
  rows_free (&plan);
  rows_clear (&f, 1);
}

static void
test_curves (void)
{
  static const size_t blocks[] = { 1, 17, 32, 480, 1000 };
  double *in = test_alloc (N_FRAMES * sizeof *in);
  double *want = test_alloc (N_FRAMES * sizeof *in);
  double *have = test_alloc (N_FRAMES * sizeof *in);

  make_ids ();
  test_noise_f64 (in, N_FRAMES);
  memcpy (want, in, N_FRAMES * sizeof *in);
  run (N_FRAMES, want);
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    memcpy (have, in, N_FRAMES * sizeof *in);
    run (blocks[i], have);
    tap_check (memcmp (have, want, N_FRAMES * sizeof *in) == 0,
        "blocks of %zu: the same to the bit (%g)", blocks[i],
        test_distance (have, want, N_FRAMES));
  }
  free (in);
  free (want);
  free (have);
}

/* The chain that waits is not forgotten for a stage that gets another structure. */
static void
test_structure (void)
{
  double x[100];
  TfxFilter *f;
  TfxPlan *plan;
  TfxChain *chain;

  make_ids ();
  chain = chain_at (at_first, 3, 0);
  f = rows_filter_of (chain, 1, TFX_SAMPLE_F64);
  plan = rows_plan (&f, 1);
  tfx_chain_unref (&chain);
  test_noise_f64 (x, 100);
  rows_run (plan, x, 1, 100);
  set_chain (f, then, 4, 0);
  rows_run (plan, x, 1, 100);
  set_chain (f, at_last, 6, 0);
  tap_check (rows_set (f, rows_low_pass (ids[EQ], 6, 1000.0)) == 0,
      "a stage is taken");
  tap_check (rows_set (f, stage_at (MARK, 0)) == 0, "so is one that will go");
  for (int i = 0; i < 20; i++)
    rows_run (plan, x, 1, 100);
  tap_check (tfx_filter_get_chain (f, &chain) == 0 &&
                 tfx_chain_n_stages (chain) == 6,
      "the chain that waited is in force");
  tfx_chain_unref (&chain);
  rows_free (&plan);
  rows_clear (&f, 1);
}

/* A kernel whose gain at 0 Hz is `gain`. */
static TfxStage *
kernel (uint64_t id, size_t n_taps, double gain)
{
  const double taps[8] = { gain };

  return rows_fir (id, taps, n_taps, TFX_FIR_DIRECT);
}

static TfxStage *
limiter (uint64_t id, double threshold_db)
{
  const TfxLimiter values = { .threshold_db = threshold_db,
    .n_ahead = 100,
    .attack = 0.5,
    .release = 0.9999 };

  return tfx_stage_new_limiter (id, &values);
}

/* Sets two stages, or one of them; returns the result. */
static int
set_stages (TfxFilter *f, TfxStage *a, TfxStage *b)
{
  TfxStage *stages[2] = { a, b };

  return rows_set_chain (f, rows_chain (stages, b ? 2 : 1));
}

/* The output after n frames of 1, in blocks. */
static double
run_ones (TfxPlan *plan, size_t n)
{
  double x[64];

  for (size_t i = 0; i < n; i += 64) {
    for (size_t k = 0; k < 64; k++)
      x[k] = 1.0;
    rows_run (plan, x, 1, 64);
  }
  return x[63];
}

/* Look-ahead cannot be added: the setting that was accepted before comes, whether its
 * cross-fade runs already or not. */
static void
test_refused (void)
{
  for (int is_fading = 0; is_fading < 3; is_fading++) {
    static const char *const when[] = { "before a cross-fade", "in one",
      "behind one that waits" };
    TfxStage *stage;
    TfxFilter *f;
    TfxPlan *plan;
    double gain;
    int ret;

    make_ids ();
    stage = kernel (ids[EQ], 3, 1.0);
    plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
    run_ones (plan, 640);
    ret = set_stages (f, kernel (ids[EQ], 5, 0.25), NULL);
    if (is_fading > 0)
      run_ones (plan, 64);
    if (is_fading == 2)
      ret |= set_stages (f, kernel (ids[EQ], 6, 0.125), NULL);
    tap_check (ret == 0 && set_stages (f, kernel (ids[EQ], 7, 0.5),
                               limiter (ids[LAST], 0.0)) == -ENOTSUP,
        "look-ahead is refused %s", when[is_fading]);
    gain = run_ones (plan, 6400);
    tap_check (fabs (gain - (is_fading == 2 ? 0.125 : 0.25)) < 1e-12,
        "%s: the accepted setting comes: %g", when[is_fading], gain);
    rows_free (&plan);
  }
}

/* Two FIRs run as one, and neither is set alone, also behind a change of another stage. */
static void
test_joined (void)
{
  TfxStage *stages[3];
  TfxFilter *f;
  TfxPlan *plan;
  double gain;

  make_ids ();
  stages[0] = kernel (ids[LEVEL], 3, 0.5);
  stages[1] = kernel (ids[ECHO], 3, 0.25);
  stages[2] = rows_low_pass (ids[EQ], 2, 1000.0);
  plan = rows_open (stages, 3, 1, TFX_SAMPLE_F64, &f);
  run_ones (plan, 640);
  tap_check (rows_set (f, rows_low_pass (ids[EQ], 6, 1000.0)) == 0,
      "another order");
  tap_check (rows_set (f, kernel (ids[LEVEL], 3, 1.0)) == -ENOENT,
      "one of two joined FIRs is not set");
  gain = run_ones (plan, 6400);
  tap_check (fabs (gain - 0.125) < 1e-9, "both are there: %g", gain);
  rows_free (&plan);
}

/* A limiter comes in place of another one of the same look-ahead, but not with its
 * state: the other's gain would take seconds to rise. */
static void
test_ids (void)
{
  TfxStage *stages[2];
  TfxFilter *f;
  TfxPlan *plan;
  double gain;

  make_ids ();
  stages[0] = limiter (ids[EQ], -40.0);
  stages[1] = limiter (ids[COMES], 6.0);
  plan = rows_open (stages, 2, 1, TFX_SAMPLE_F64, &f);
  gain = run_ones (plan, 6400);
  tap_check (fabs (gain - 0.01) < 1e-9, "a limiter limits: %g", gain);
  tap_check (set_stages (f, limiter (ids[LAST], 6.0), limiter (ids[EQ], 6.0)) ==
                 0,
      "others come in their places");
  gain = run_ones (plan, 2048);
  tap_check (fabs (gain - 1.0) < 1e-9, "with a state of their own: %g", gain);
  rows_free (&plan);
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = {
    { "curves", test_curves },
    { "structure", test_structure },
    { "refused", test_refused },
    { "ids", test_ids },
    { "joined", test_joined },
    { NULL, NULL },
  };

  return tap_main (argc, argv, tests);
}
