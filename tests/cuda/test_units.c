/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_units.c: kinds of stage that have a kernel, compared with plain
 * recursions: any split of the stream, their state, and in rows. */
#include "chains.h"
#include "levels.h"
#include "tap.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TfxCuda *cuda;

/* The largest difference, as a part of each value wanted. */
static double
find_error (const double *have, const double *want, size_t n)
{
  double worst = 0.0;

  for (size_t i = 0; i < n; i++)
    worst = test_cuda_worse (worst,
        fabs (have[i] - want[i]) / fmax (fabs (want[i]), 1e-15));
  return worst;
}

/* ---- the units ---------------------------------------------------------------- */

#define N_DYNAMICS 8

static void
make_dynamics (TfxDynamics d[N_DYNAMICS])
{
  d[0] = levels_compressor (-20, 4, 0.005, 0.05, 6);
  d[1] = levels_compressor (-30, 1e6, 0.001, 0.2, 0);
  d[2] = levels_compressor (-10, 2, 0, 0, 12);
  d[3] = levels_compressor (-24, 3, 0.01, 0.1, 6);
  d[3].is_rms = true;
  d[3].makeup_db = 17.5;
  d[4] = levels_expander (-40, 2, 0.005, 0.05, 6, -240);
  d[5] = levels_expander (-50, 1e6 + 1, 0.001, 0.05, 3, -80);
  d[6] = levels_compressor (-20, 4, 0.005, 0.05, 6);
  d[6].is_linked = true;
  d[7] = levels_expander (-30, 10, 0.01, 0.2, 6, -60);
  d[7].is_linked = d[7].is_rms = true;
}

#define N_LIMITERS 11
#define FIRST_FAR 7 /* that looks ahead for more than shared memory holds */

static TfxLimiter
make_limiter (unsigned i)
{
  static const size_t ahead[N_LIMITERS] = { 240, 0, 5, 8, 63, 1000, 2048, 2049,
    4096, 5000, 11000 };
  const double seconds = (double)ahead[i] / RATE;

  return (TfxLimiter){ .threshold_db = -12.0 - i,
    .n_ahead = ahead[i],
    .attack = seconds > 0.0 ? exp (-1.0 / (seconds * RATE)) : 0.0,
    /* Sometimes faster than the attack. */
    .release = exp (-1.0 / ((i % 3 == 2 ? 0.0001 : 0.05) * RATE)),
    .is_linked = i % 2 == 0 };
}

#define N_REVERBS 3

/* As at 44100 Hz; and shorter ones. */
static TfxReverb
make_reverb (unsigned i)
{
  static const size_t combs[] = { 1116, 1188, 1277, 1356, 1422, 1491, 1557,
    1617 };
  static const size_t all_passes[] = { 556, 441, 341, 225 };
  static const size_t parts[N_REVERBS] = { 1, 7, 40 };
  TfxReverb r = { .feedback = 0.84, .damp = 0.2, .dry = 0.7, .wet = 0.3 };

  for (unsigned k = 0; k < TFX_REVERB_COMBS; k++)
    r.combs[k] = combs[k] / parts[i];
  for (unsigned k = 0; k < TFX_REVERB_ALL_PASSES; k++)
    r.all_passes[k] = all_passes[k] / parts[i];
  r.damp = i == 1 ? 0.0 : 0.2 + 0.3 * i;
  return r;
}

/* Gains that clip. */
static const double clip_gains[] = { -1.5, 0.75, -3.0, 1e308, 0.0 };

/* The first of each; the tests of all kinds take one clip. */
enum
{
  LIMITER = N_DYNAMICS,
  FAR = LIMITER + FIRST_FAR,
  REVERB = LIMITER + N_LIMITERS,
  CLIP = REVERB + N_REVERBS,
  N_KINDS = CLIP + 1
};

static TfxStage *
new_unit (unsigned kind)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxDynamics d[N_DYNAMICS];
  TfxLimiter limiter;
  TfxReverb reverb;

  make_dynamics (d);
  if (kind < LIMITER)
    return tfx_stage_new_dynamics (id, &d[kind]);
  if (kind < REVERB) {
    limiter = make_limiter (kind - LIMITER);
    return tfx_stage_new_limiter (id, &limiter);
  }
  if (kind < CLIP) {
    reverb = make_reverb (kind - REVERB);
    return tfx_stage_new_reverb (id, &reverb);
  }
  return tfx_stage_new_clip (id, clip_gains[kind - CLIP]);
}

/* ---- each by itself -------------------------------------------------------------- */

/* Dynamics and limiters are plain recursions, reverbs and clips what the CPU makes of
 * them; so are limiters that look far ahead: to search a long window each time takes
 * its time.  A limiter is never above its threshold; a clip has the same bits, and
 * clips where it must. */
static void
check_unit (TapMany *many, unsigned kind, unsigned n_channels, size_t n_frames,
    unsigned piece)
{
  CudaPair p = cuda_pair_new (test_cuda_chain_of (new_unit (kind)), n_channels,
      n_frames, cuda);
  const bool is_level = kind < REVERB;
  double error, limit, peak = 0.0, threshold = INFINITY;
  size_t n_clipped = 0;
  bool is_right = true;

  if (is_level) {
    levels_signal (p.have, n_frames, n_channels);
    memcpy (p.want, p.have, p.n * sizeof *p.want);
  }
  cuda_pair_here (&p, 0, n_frames, piece);
  if (kind < LIMITER) {
    TfxDynamics d[N_DYNAMICS];

    make_dynamics (d);
    levels_run (&d[kind], p.want, n_frames, n_channels);
  } else if (kind < FAR) {
    const TfxLimiter l = make_limiter (kind - LIMITER);

    levels_limit (&l, p.want, n_frames, n_channels);
  } else {
    cuda_pair_there (&p, 0, n_frames);
  }
  for (size_t k = 0; k < p.n; k++) {
    peak = fmax (peak, fabs (p.have[k]));
    n_clipped += fabs (p.have[k]) == 1.0;
  }
  if (kind >= LIMITER && kind < REVERB)
    threshold = pow (10.0, make_limiter (kind - LIMITER).threshold_db / 20.0);
  if (kind >= CLIP)
    is_right = memcmp (p.have, p.want, p.n * sizeof *p.want) == 0 &&
               (n_clipped > 0) == (fabs (clip_gains[kind - CLIP]) > 1.0);
  error = is_level ? find_error (p.have, p.want, p.n) : cuda_pair_distance (&p);
  limit = kind < LIMITER ? 1e-7 : kind < REVERB ? 1e-11 : 1e-13;
  tap_many_check (many,
      p.ret == 0 && p.row->n_by_cpu == 0 && error < limit &&
          peak <= threshold && is_right,
      "unit %u, %u channels, %zu frames, blocks to %u: returns %d, %g, peak %g "
      "of %g, %zu samples are clipped",
      kind, n_channels, n_frames, piece, p.ret, error, peak, threshold,
      n_clipped);
  cuda_pair_free (&p);
}

static void
test_dynamics (void)
{
  static const unsigned channels[] = { 1, 2, 3, 8 };
  static const unsigned pieces[] = { 40, 700, 3000, 9000 };
  TapMany many = tap_many ("dynamics are the plain recursion");

  for (unsigned i = 0; i < N_DYNAMICS; i++) {
    if (!part_has (i, 3))
      continue;
    check_unit (&many, i, channels[i % N_OF (channels)], 9000,
        pieces[(i + i / 4) % N_OF (pieces)]);
    check_unit (&many, i, 2, 700, 1 + i);
  }
  tap_many_end (&many);
}

/* More tiles than a node has, and a node's start that waits for another one's. */
static void
test_nodes (void)
{
  TapMany many = tap_many ("dynamics over many tiles");

  check_unit (&many, 0, 1, 150000, 150000);
  check_unit (&many, 7, 2, 70000, 70000);
  tap_many_end (&many);
}

static void
test_limiters (void)
{
  TapMany many = tap_many ("limiters are the plain recursion, and never above");

  for (unsigned i = 0; i < FIRST_FAR; i++) {
    check_unit (&many, LIMITER + i, 1 + i % 3, 5000, 5000);
    check_unit (&many, LIMITER + i, 2, 3000, 60 + 300 * i);
  }
  tap_many_end (&many);
}

static void
test_far (void)
{
  TapMany many = tap_many ("so are those that look far ahead");

  for (unsigned i = FIRST_FAR; i < N_LIMITERS; i++) {
    check_unit (&many, LIMITER + i, 1 + i % 2, 16000, 16000);
    check_unit (&many, LIMITER + i, 1, 14000, 3000);
  }
  check_unit (&many, FAR + 1, 2, 8000, 400);
  tap_many_end (&many);
}

static void
test_reverbs (void)
{
  static const unsigned pieces[] = { 9000, 500, 3 };
  TapMany many = tap_many ("reverbs are what the CPU makes of them");

  for (unsigned i = 0; i < 3 * N_REVERBS; i++)
    check_unit (&many, REVERB + i / 3, 1 + i % 2,
        i % 3 == 2 ? 60
        : i < 3    ? 5000
                   : 1000,
        pieces[i % 3]);
  tap_many_end (&many);
}

static void
test_clips (void)
{
  TapMany many = tap_many ("a gain that clips is what the CPU makes of it");

  for (unsigned i = 0; i < 2 * N_OF (clip_gains); i++)
    check_unit (&many, CLIP + i / 2, 1 + i % 3, 3000, i % 2 ? 7 : 3000);
  tap_many_end (&many);
}

/* ---- AGC ------------------------------------------------------------------------ */

static void
test_agc (void)
{
  static const TfxAgc all[] = {
    { TFX_AGC_PEAK, true, 10, 20, 10, 40, -6, 30, 0 },
    { TFX_AGC_TRUE_PEAK, true, 16, 15, 13, 15, -10, 0, 0.99 },
    { TFX_AGC_RMS, true, 7, 30, 12, 60, -20, 40, 0 },
    { TFX_AGC_LOUDNESS, true, 100, 4, 1, 4, -23, 20, 0, 0.3,
        { { 1.5, -2.7, 1.2, -1.69, 0.73 }, { 1, -2, 1, -1.98, 0.985 } } },
  };
  TapMany many = tap_many ("AGC and the row that contains it run on the CPU");

  for (size_t i = 0; i < N_OF (all); i++) {
    TfxChain *chain =
        test_cuda_chain_of (tfx_stage_new_gain (tfx_stage_new_id (), 0.5));
    CudaRow *row;

    test_cuda_append (&chain, tfx_stage_new_agc (tfx_stage_new_id (), &all[i]));
    row = cuda_row_new (chain, 2, tfx_cpu_backend ());
    tap_many_check (&many,
        !tfx_filter_runs_on (row->filter, tfx_cuda_backend (cuda)),
        "measure %u", (unsigned)all[i].measure);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
}

static void
test_keys (void)
{
  TfxDynamics keyed = levels_compressor (-20, 4, 0.005, 0.05, 6);
  TfxDynamics filtered = keyed, linked = keyed;
  const TfxDynamics *const all[] = { &keyed, &filtered, &linked };

  keyed.key = 1 << 1;
  filtered.key_sos[filtered.n_key_sos++] = (TfxSos){ 1, -1, 0, -0.99, 0 };
  linked.is_linked = true;
  linked.n_unmeasured = 1;
  for (size_t i = 0; i < N_OF (all); i++) {
    const size_t n = 2 * 3000;
    TfxChain *chain =
        test_cuda_chain_of (tfx_stage_new_gain (tfx_stage_new_id (), 0.5));
    double *have = test_alloc_f64 (n), *want;
    CudaRow *row;

    levels_signal (have, n / 2, 2);
    want = test_copy_f64 (have, n);
    for (size_t k = 0; k < n; k++)
      want[k] *= 0.5;
    levels_run (all[i], want, n / 2, 2);
    test_cuda_append (&chain,
        tfx_stage_new_dynamics (tfx_stage_new_id (), all[i]));
    row = cuda_row_new (chain, 2, tfx_cpu_backend ());
    cuda_row_f64 (row, have, 2, n / 2);
    tap_check (!tfx_filter_runs_on (row->filter, tfx_cuda_backend (cuda)) &&
                   test_relative (have, want, n, 1e-15) < 1e-7,
        "key %zu and the row that contains it run on the CPU", i);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
    free (have);
    free (want);
  }
}

/* ---- damage --------------------------------------------------------------------- */

/* The end of a sine with one other sample. */
static void
test_damage (void)
{
  static const double damage[] = { DBL_MAX, 1e160, 1e38 };
  const size_t n = 60000, n_end = 1000;
  TapMany many = tap_many ("a huge sample is forgotten");
  TfxDynamics rms = levels_compressor (-20, 4, 0.001, 0.001, 6);

  rms.is_rms = true;
  for (unsigned i = 0; i < N_OF (damage); i++) {
    TfxChain *chain =
        test_cuda_chain_of (tfx_stage_new_dynamics (tfx_stage_new_id (), &rms));
    double *x[2], error;
    int ret = 0;

    for (unsigned side = 0; side < 2; side++) {
      CudaRow *row = cuda_row_new (chain, 1, tfx_cuda_backend (cuda));

      x[side] = test_alloc (n * sizeof *x[side]);
      for (size_t k = 0; k < n; k++)
        x[side][k] = 0.3 * sin (2.0 * M_PI / 50.0 * (double)k);
      x[side][2345] += side ? 0.0 : damage[i];
      ret |= cuda_row_pieces (row, x[side], 1, n, 700) || row->n_by_cpu > 0;
      cuda_row_free (&row);
    }
    error = test_cuda_distance (x[0] + n - n_end, x[1] + n - n_end, n_end);
    tap_many_check (&many, ret == 0 && error < 1e-9,
        "rms, %g: returns %d, %g apart at the end", damage[i], ret, error);
    tfx_chain_unref (&chain);
    free (x[0]);
    free (x[1]);
  }
  tap_many_end (&many);
}

/* A state that overflows is cleared, reported, and continues. */
static void
test_overflow (void)
{
  TfxReverb r = make_reverb (2);
  double peak = 0.0;
  CudaPair p;

  r.feedback = 0.99;
  p = cuda_pair_new (test_cuda_chain_of (
                         tfx_stage_new_reverb (tfx_stage_new_id (), &r)),
      1, 2000, cuda);
  for (size_t i = 100; i < 900; i++)
    p.have[i] = 1.5e308;
  cuda_pair_here (&p, 0, p.n, 0);
  for (size_t i = 0; i < p.n; i++)
    peak = fmax (peak, isfinite (p.have[i]) ? fabs (p.have[i]) : INFINITY);
  tap_check (p.ret == 0 && isfinite (peak) &&
                 cuda_row_stats (p.row).recoveries > 0,
      "a reverb continues after a reset: returns %d, peak %g", p.ret, peak);
  cuda_pair_free (&p);
}

/* ---- all kinds ---------------------------------------------------------------- */

/* Sections, the unit, and sections. */
static TfxChain *
new_row (unsigned kind)
{
  TfxSos sos[3];
  TfxChain *chain;

  test_cuda_equaliser (sos, 3);
  chain = test_cuda_chain (tfx_stage_new_id (), sos, 2);
  test_cuda_append (&chain, new_unit (kind));
  test_cuda_append (&chain, tfx_stage_new_gain (tfx_stage_new_id (), 0.5));
  test_cuda_append (&chain,
      tfx_stage_new_sections (tfx_stage_new_id (), sos + 2, 1));
  return chain;
}

/* A unit, dry and through sections, and a gain that the sum has. */
static TfxChain *
new_sum (unsigned kind)
{
  TfxChain *branches[] = { new_row (kind), test_cuda_chain_of (new_unit (kind)),
    tfx_chain_new () };
  TfxChain *chain = test_cuda_chain_of (
      tfx_stage_new_sum (tfx_stage_new_id (), branches, N_OF (branches)));

  for (unsigned i = 0; i < N_OF (branches); i++)
    tfx_chain_unref (&branches[i]);
  test_cuda_append (&chain, tfx_stage_new_gain (tfx_stage_new_id (), -0.25));
  return chain;
}

static void
check_turns (TapMany *many, TfxChain *chain, unsigned kind, unsigned n_turns)
{
  /* So that something comes out. */
  const size_t n = kind >= FAR && kind < REVERB ? 1000 : 300;
  CudaPair p = cuda_pair_new (chain, 1 + kind % 3, 6 * n, cuda);

  levels_signal (p.have, p.n_frames, p.n_channels);
  memcpy (p.want, p.have, p.n * sizeof *p.want);
  cuda_pair_run (&p, n_turns, 200);
  tap_many_check (many, cuda_pair_agrees (&p, 2e-8), "unit %u: returns %d, %g",
      kind, p.ret, cuda_pair_distance (&p));
  cuda_pair_free (&p);
}

static void
test_rows (void)
{
  TapMany rows = tap_many ("in rows and sums: as on the CPU");
  TapMany many =
      tap_many ("the state goes from the device to the CPU and back");

  for (unsigned i = 0; i < N_KINDS; i++) {
    if (!part_has (i, 3))
      continue;
    check_turns (&rows, i % 2 ? new_sum (i) : new_row (i), i, 1);
    check_turns (&many, i % 2 ? new_row (i) : new_sum (i), i, 6);
  }
  tap_many_end (&rows);
  tap_many_end (&many);
}

/* One way up, one down, whatever the row; a launch for each step. */
static void
test_launches (void)
{
  TapMany many = tap_many ("a row with a unit is one upload and one download");

  for (unsigned i = 0; i < N_KINDS; i++) {
    TfxChain *chain = new_row (i);
    CudaRow *row = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
    char what[16];

    snprintf (what, sizeof what, "unit %u", i);
    cuda_row_check_work (&many, row, cuda, 2, TFX_SAMPLE_F64, 600, 3, what);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
}

static int
read_gain (CudaRow *row, uint64_t id, double *gain_db)
{
  TfxReadings readings = { 0 };
  int ret;

  tfx_filter_lock (row->filter);
  ret = tfx_filter_read (row->filter, id, &readings);
  tfx_filter_unlock (row->filter);
  *gain_db = readings.gain_db;
  return ret;
}

/* What the level made of a gain is the CPU's to tell. */
static void
test_readings (void)
{
  const TfxDynamics d = levels_compressor (-20, 4, 0, 0.05, 0);
  const size_t n = 1000;
  TfxChain *chain = test_cuda_chain_of (tfx_stage_new_dynamics (7, &d));
  CudaRow *row = cuda_row_new (chain, 1, tfx_cuda_backend (cuda));
  double *x = test_alloc (n * sizeof *x), gain_db;

  for (unsigned k = 0; k < 2; k++) {
    for (size_t i = 0; i < n; i++)
      x[i] = 1.0;
    cuda_row_f64 (row, x, 1, n);
    if (k == 0) {
      tap_check (row->n_by_cpu == 0 && read_gain (row, 7, &gain_db) == -ENOENT,
          "a gain is not read while a device runs its stage");
      cuda_row_go_to (row, tfx_cpu_backend ());
    } else {
      tap_check (read_gain (row, 7, &gain_db) == 0 &&
                     fabs (gain_db + 15.0) < 1e-6,
          "and is when the CPU has taken it over");
    }
  }
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  free (x);
}

/* One that stays late when it looks less far ahead. */
static void
test_late (void)
{
  TfxLimiter l = { .n_ahead = 48 };

  for (l.n_late = 0; l.n_late < 2; l.n_late++) {
    TfxChain *chain = test_cuda_chain_of (tfx_stage_new_limiter (7, &l));
    CudaRow *row = cuda_row_new (chain, 1, tfx_cpu_backend ());

    tap_check (tfx_filter_runs_on (row->filter, tfx_cuda_backend (cuda)) ==
                   (l.n_late == 0),
        "a limiter that is %zu frames later than it looks ahead", l.n_late);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
  }
}

/* Samples that are not finite count as 0, are reported, and leave no trace. */
static void
test_unsound (void)
{
  const TfxFilterSpec spec = { RATE, 2, TFX_SAMPLE_F32, 0 };
  const size_t n = 400;
  TapMany many = tap_many ("what is not finite counts as 0");
  float *zeros = test_alloc (2 * n * sizeof *zeros);
  float *bad = test_alloc (2 * n * sizeof *bad);

  for (unsigned i = 0; i < N_KINDS; i++) {
    TfxChain *chain = test_cuda_chain_of (new_unit (i));
    CudaRow *row = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
    CudaRow *plain = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
    bool is_same = true;
    int ret;

    test_noise_f32 (zeros, 2 * n);
    memcpy (bad, zeros, 2 * n * sizeof *bad);
    for (unsigned k = 0; k < 4; k++) {
      bad[2 * (50 + 80 * k) + 1] = k % 2 ? NAN : -INFINITY;
      zeros[2 * (50 + 80 * k) + 1] = 0.0f;
    }
    ret = cuda_row_f32 (row, bad, 2, n) || cuda_row_f32 (plain, zeros, 2, n);
    for (size_t k = 0; k < 2 * n; k++)
      is_same = is_same && bad[k] == zeros[k];
    tap_many_check (&many,
        ret == 0 && is_same && cuda_row_stats (row).recoveries > 0 &&
            cuda_row_stats (plain).recoveries == 0,
        "unit %u: returns %d, the samples are %s", i, ret,
        is_same ? "the same" : "others");
    cuda_row_free (&row);
    cuda_row_free (&plain);
    tfx_chain_unref (&chain);
  }
  free (zeros);
  free (bad);
  tap_many_end (&many);
}

/* The same bits in any order of blocks and threads, and after a reset. */
static void
test_orders (void)
{
  static const char *const orders[] = { NULL, "reverse", "random:3" };
  TapMany many = tap_many ("the same bits in every order, and after a reset");

  for (unsigned i = 0; i < N_KINDS; i++) {
    /* Only the first ones wait for each other. */
    const size_t n = i < N_DYNAMICS ? 5000 : 500;
    CudaPair p = cuda_pair_new (new_row (i), 2, n, cuda);
    double *in = test_alloc (p.n * sizeof *in);

    memcpy (in, p.have, p.n * sizeof *in);
    for (unsigned k = 0; k < N_OF (orders); k++) {
      test_cuda_set ("TFX_STANDIN_ORDER", orders[k]);
      memcpy (p.have, in, p.n * sizeof *in);
      cuda_pair_here (&p, 0, n, 0);
      if (k == 0)
        memcpy (p.want, p.have, p.n * sizeof *in);
      tap_many_check (&many,
          p.ret == 0 && memcmp (p.want, p.have, p.n * sizeof *in) == 0,
          "unit %u, %s: returns %d", i, orders[k] ? orders[k] : "forward",
          p.ret);
      cuda_row_reset (p.row);
    }
    tap_many_check (&many, cuda_row_is_silent (p.row), "unit %u: at rest", i);
    cuda_pair_free (&p);
    free (in);
  }
  test_cuda_set ("TFX_STANDIN_ORDER", NULL);
  tap_many_end (&many);
}

static const TapTest tests[] = { { "dynamics", test_dynamics },
  { "nodes", test_nodes }, { "limiters", test_limiters }, { "far", test_far },
  { "agc", test_agc }, { "keys", test_keys }, { "damage", test_damage },
  { "reverbs", test_reverbs }, { "overflow", test_overflow },
  { "clips", test_clips }, { "rows", test_rows }, { "launches", test_launches },
  { "readings", test_readings }, { "late", test_late },
  { "unsound", test_unsound }, { "orders", test_orders }, { NULL, NULL } };

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, tests, NULL, &cuda);
}
