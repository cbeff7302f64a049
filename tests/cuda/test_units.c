/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_units.c: kinds of stage that have a kernel, compared with plain
 * recursions: any split of the stream, their state, and in rows. */
#include "chains.h"
#include "levels.h"
#include "tap.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static TfxCuda *cuda;

/* The largest difference, as a part of each value wanted. */
static double
find_error (const double *have, const double *want, size_t n)
{
  double worst = 0.0;

  for (size_t i = 0; i < n; i++) {
    const double error = fabs (have[i] - want[i]);

    /* A NaN is an error. */
    if (!(error <= worst * fmax (fabs (want[i]), 1e-15)))
      worst = error / fmax (fabs (want[i]), 1e-15);
  }
  return worst;
}

/* ---- gains that follow the level -------------------------------------------- */

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

static TfxChain *
dynamics_chain (const TfxDynamics *d)
{
  TfxChain *chain = tfx_chain_new ();

  test_cuda_append (&chain, tfx_stage_new_dynamics (tfx_stage_new_id (), d));
  return chain;
}

static void
check_dynamics (TapMany *many, unsigned i, const TfxDynamics *d,
    unsigned n_channels, size_t n_frames, unsigned piece)
{
  const size_t n = n_frames * n_channels;
  TfxChain *chain = dynamics_chain (d);
  CudaRow *row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
  double *have = test_alloc (n * sizeof *have);
  double *want = test_alloc (n * sizeof *want);
  double error = NAN;

  levels_signal (have, n_frames, n_channels);
  memcpy (want, have, n * sizeof *want);
  levels_run (d, want, n_frames, n_channels);
  if (row && cuda_row_pieces (row, have, n_channels, n_frames, piece) == 0)
    error = find_error (have, want, n);
  tap_many_check (many, error < 1e-7 && row->n_by_cpu == 0,
      "setting %u, %u channels, %zu frames, blocks to %u: %g", i, n_channels,
      n_frames, piece, error);
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  free (have);
  free (want);
}

static void
test_dynamics (void)
{
  static const unsigned channels[] = { 1, 2, 3, 8 };
  static const unsigned pieces[] = { 40, 700, 3000, 9000 };
  TapMany many = tap_many ("dynamics are the plain recursion");
  TfxDynamics d[N_DYNAMICS];

  make_dynamics (d);
  for (unsigned i = 0; i < N_DYNAMICS; i++) {
    if (!part_has (i, 3))
      continue;
    check_dynamics (&many, i, &d[i], channels[i % N_OF (channels)], 9000,
        pieces[(i + i / 4) % N_OF (pieces)]);
    check_dynamics (&many, i, &d[i], 2, 700, 1 + i);
  }
  tap_many_end (&many);
}

/* More tiles than a node has, and a node's start that waits for another one's. */
static void
test_nodes (void)
{
  TapMany many = tap_many ("dynamics over many tiles");
  TfxDynamics d[N_DYNAMICS];

  make_dynamics (d);
  check_dynamics (&many, 0, &d[0], 1, 150000, 150000);
  check_dynamics (&many, 7, &d[7], 2, 70000, 70000);
  tap_many_end (&many);
}

/* ---- limiters ----------------------------------------------------------------- */

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

/* By the CPU. */
static void
run_plain (TfxChain *chain, double *samples, size_t n_frames,
    unsigned n_channels)
{
  CudaRow *row = cuda_row_new (chain, n_channels, tfx_cpu_backend_for ("c"));

  if (!row || cuda_row_f64 (row, samples, n_channels, n_frames) < 0)
    samples[0] = NAN;
  cuda_row_free (&row);
}

static void
check_limiter (TapMany *many, unsigned i, unsigned n_channels, size_t n_frames,
    unsigned piece)
{
  const TfxLimiter l = make_limiter (i);
  const double threshold = pow (10.0, l.threshold_db / 20.0);
  const size_t n = n_frames * n_channels;
  TfxChain *chain = tfx_chain_new ();
  double *have = test_alloc (n * sizeof *have);
  double *want = test_alloc (n * sizeof *want);
  double error = NAN, peak = 0.0;
  CudaRow *row;

  test_cuda_append (&chain, tfx_stage_new_limiter (tfx_stage_new_id (), &l));
  row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
  levels_signal (have, n_frames, n_channels);
  memcpy (want, have, n * sizeof *want);
  /* What searches a long window each time takes its time. */
  if (i < FIRST_FAR)
    levels_limit (&l, want, n_frames, n_channels);
  else
    run_plain (chain, want, n_frames, n_channels);
  if (row && cuda_row_pieces (row, have, n_channels, n_frames, piece) == 0)
    error = find_error (have, want, n);
  for (size_t k = 0; k < n; k++)
    peak = fmax (peak, fabs (have[k]));
  tap_many_check (many,
      error < 1e-11 && peak <= threshold && row->n_by_cpu == 0,
      "limiter %u, %u channels, %zu frames, blocks to %u: %g, peak %g of %g", i,
      n_channels, n_frames, piece, error, peak, threshold);
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  free (have);
  free (want);
}

static void
test_limiters (void)
{
  TapMany many = tap_many ("limiters are the plain recursion, and never above");

  for (unsigned i = 0; i < FIRST_FAR; i++) {
    check_limiter (&many, i, 1 + i % 3, 5000, 5000);
    check_limiter (&many, i, 2, 3000, 60 + 300 * i);
  }
  tap_many_end (&many);
}

static void
test_far (void)
{
  TapMany many = tap_many ("so are those that look far ahead");

  for (unsigned i = FIRST_FAR; i < N_LIMITERS; i++) {
    check_limiter (&many, i, 1 + i % 2, 16000, 16000);
    check_limiter (&many, i, 1, 14000, 3000);
  }
  check_limiter (&many, FIRST_FAR + 1, 2, 8000, 400);
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
    TfxChain *chain = tfx_chain_new ();
    CudaRow *row;

    test_cuda_append (&chain, tfx_stage_new_gain (tfx_stage_new_id (), 0.5));
    test_cuda_append (&chain, tfx_stage_new_agc (tfx_stage_new_id (), &all[i]));
    row = cuda_row_new (chain, 2, tfx_cpu_backend ());
    tap_many_check (&many,
        row && !tfx_filter_runs_on (row->filter, tfx_cuda_backend (cuda)),
        "measure %u", (unsigned)all[i].measure);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
}

/* ---- damage --------------------------------------------------------------------- */

/* The end of a sine with one other sample. */
static void
hear_damage (TfxChain *chain, double damage, double *samples, size_t n)
{
  CudaRow *row = cuda_row_new (chain, 1, tfx_cuda_backend (cuda));

  for (size_t i = 0; i < n; i++)
    samples[i] = 0.3 * sin (2.0 * M_PI / 50.0 * (double)i);
  samples[2345] += damage;
  if (!row || cuda_row_pieces (row, samples, 1, n, 700) < 0 ||
      row->n_by_cpu > 0)
    samples[n - 1] = NAN;
  cuda_row_free (&row);
}

static void
test_damage (void)
{
  static const double damage[] = { DBL_MAX, 1e160, 1e38 };
  const size_t n = 60000, n_end = 1000;
  TapMany many = tap_many ("a huge sample is forgotten");
  TfxDynamics rms = levels_compressor (-20, 4, 0.001, 0.001, 6);

  rms.is_rms = true;
  for (unsigned i = 0; i < N_OF (damage); i++) {
    TfxStage *stage = tfx_stage_new_dynamics (tfx_stage_new_id (), &rms);
    TfxChain *chain = tfx_chain_new ();
    double *have = test_alloc (n * sizeof *have);
    double *want = test_alloc (n * sizeof *want), error;

    test_cuda_append (&chain, stage);
    hear_damage (chain, damage[i], have, n);
    hear_damage (chain, 0.0, want, n);
    error = test_cuda_distance (have + n - n_end, want + n - n_end, n_end);
    tap_many_check (&many, error < 1e-9, "rms, %g: %g apart at the end",
        damage[i], error);
    tfx_chain_unref (&chain);
    free (have);
    free (want);
  }
  tap_many_end (&many);
}

/* ---- reverbs -------------------------------------------------------------------- */

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

static void
test_reverbs (void)
{
  static const unsigned pieces[] = { 9000, 500, 3 };
  TapMany many = tap_many ("reverbs are what the CPU makes of them");

  for (unsigned i = 0; i < 3 * N_REVERBS; i++) {
    const TfxReverb r = make_reverb (i / 3);
    const unsigned n_channels = 1 + i % 2, piece = pieces[i % 3];
    const size_t n_frames = piece == 3 ? 60 : i < 3 ? 5000 : 1000;
    const size_t n = n_frames * n_channels;
    TfxChain *chain = tfx_chain_new ();
    double *have = test_cuda_noise (n), *want = test_alloc (n * sizeof *want);
    CudaRow *row, *plain;
    double error = NAN;

    test_cuda_append (&chain, tfx_stage_new_reverb (tfx_stage_new_id (), &r));
    row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
    plain = cuda_row_new (chain, n_channels, tfx_cpu_backend_for ("c"));
    memcpy (want, have, n * sizeof *want);
    if (row && plain &&
        cuda_row_pieces (row, have, n_channels, n_frames, piece) == 0 &&
        cuda_row_f64 (plain, want, n_channels, n_frames) == 0)
      error = test_cuda_distance (have, want, n);
    tap_many_check (&many, error < 1e-13 && row->n_by_cpu == 0,
        "reverb %u, %u channels, blocks to %u: %g", i / 3, n_channels, piece,
        error);
    cuda_row_free (&row);
    cuda_row_free (&plain);
    tfx_chain_unref (&chain);
    free (have);
    free (want);
  }
  tap_many_end (&many);
}

/* A state that overflows is cleared, reported, and continues. */
static void
test_overflow (void)
{
  TfxReverb r = make_reverb (2);
  const size_t n = 2000;
  TfxChain *chain = tfx_chain_new ();
  double *x = test_cuda_noise (n), peak = 0.0;
  CudaRow *row;
  int ret = -1;

  r.feedback = 0.99;
  test_cuda_append (&chain, tfx_stage_new_reverb (tfx_stage_new_id (), &r));
  row = cuda_row_new (chain, 1, tfx_cuda_backend (cuda));
  for (size_t i = 100; i < 900; i++)
    x[i] = 1.5e308;
  if (row)
    ret = cuda_row_f64 (row, x, 1, n);
  for (size_t i = 0; i < n; i++)
    peak = fmax (peak, isfinite (x[i]) ? fabs (x[i]) : INFINITY);
  tap_check (ret == 0 && isfinite (peak) && cuda_row_stats (row).recoveries > 0,
      "a reverb that is cleared goes on: returns %d, peak %g", ret, peak);
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
  free (x);
}

/* ---- gains that clip ------------------------------------------------------------- */

/* The same bits as on the CPU, and some of them are clipped. */
static void
test_clips (void)
{
  static const double gains[] = { 0.75, -3.0, 1e308, 0.0 };
  const size_t n = 3000;
  TapMany many = tap_many ("a gain that clips is what the CPU makes of it");

  for (unsigned i = 0; i < 2 * N_OF (gains); i++) {
    const unsigned n_channels = 1 + i % 3;
    TfxChain *chain = tfx_chain_new ();
    double *have = test_cuda_noise (n * n_channels);
    double *want = test_alloc (n * n_channels * sizeof *want);
    CudaRow *row, *plain;
    size_t n_clipped = 0;
    int ret = -1;

    test_cuda_append (&chain,
        tfx_stage_new_clip (tfx_stage_new_id (), gains[i / 2]));
    row = cuda_row_new (chain, n_channels, tfx_cuda_backend (cuda));
    plain = cuda_row_new (chain, n_channels, tfx_cpu_backend_for ("c"));
    memcpy (want, have, n * n_channels * sizeof *want);
    if (row && plain)
      ret = cuda_row_pieces (row, have, n_channels, n, i % 2 ? 7 : 3000) ||
            cuda_row_f64 (plain, want, n_channels, n);
    for (size_t k = 0; k < n * n_channels; k++)
      n_clipped += fabs (have[k]) == 1.0;
    tap_many_check (&many,
        ret == 0 && row->n_by_cpu == 0 &&
            memcmp (have, want, n * n_channels * sizeof *want) == 0 &&
            (n_clipped > 0) == (fabs (gains[i / 2]) > 1.0),
        "a gain of %g, %u channels: returns %d, %zu samples are clipped",
        gains[i / 2], n_channels, ret, n_clipped);
    cuda_row_free (&row);
    cuda_row_free (&plain);
    tfx_chain_unref (&chain);
    free (have);
    free (want);
  }
  tap_many_end (&many);
}

/* ---- all kinds ---------------------------------------------------------------- */

static TfxStage *
new_unit (unsigned kind)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxDynamics d[N_DYNAMICS];
  TfxLimiter limiter;
  TfxReverb reverb;

  make_dynamics (d);
  if (kind < N_DYNAMICS)
    return tfx_stage_new_dynamics (id, &d[kind]);
  if (kind < N_DYNAMICS + N_LIMITERS) {
    limiter = make_limiter (kind - N_DYNAMICS);
    return tfx_stage_new_limiter (id, &limiter);
  }
  kind -= N_DYNAMICS + N_LIMITERS;
  if (kind < N_REVERBS) {
    reverb = make_reverb (kind);
    return tfx_stage_new_reverb (id, &reverb);
  }
  return tfx_stage_new_clip (id, -1.5);
}

#define N_KINDS (N_DYNAMICS + N_LIMITERS + N_REVERBS + 1)

static bool
is_far (unsigned kind)
{
  return kind >= N_DYNAMICS + FIRST_FAR && kind < N_DYNAMICS + N_LIMITERS;
}

/* Sections, the unit, and sections. */
static TfxChain *
new_row (unsigned kind)
{
  TfxChain *chain = tfx_chain_new ();
  TfxSos sos[3];

  test_cuda_equaliser (sos, 3);
  test_cuda_append (&chain,
      tfx_stage_new_sections (tfx_stage_new_id (), sos, 2));
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
  TfxChain *branches[3], *chain = tfx_chain_new ();
  TfxStage *sum;

  branches[0] = new_row (kind);
  branches[1] = tfx_chain_new ();
  test_cuda_append (&branches[1], new_unit (kind));
  branches[2] = tfx_chain_new ();
  sum = tfx_stage_new_sum (tfx_stage_new_id (), branches, 3);
  for (unsigned i = 0; i < 3; i++)
    tfx_chain_unref (&branches[i]);
  test_cuda_append (&chain, sum);
  test_cuda_append (&chain, tfx_stage_new_gain (tfx_stage_new_id (), -0.25));
  return chain;
}

/* Device, CPU, device … in turns: the output equals that of one of them. */
static void
check_hand_over (TapMany *many, TfxChain *chain, unsigned i, bool goes)
{
  const TfxBackend *backends[2] = { tfx_cuda_backend (cuda),
    tfx_cpu_backend_for ("c") };
  const unsigned n_channels = 1 + i % 3;
  /* So that something comes out. */
  const size_t n = is_far (i) ? 1000 : 300, n_all = 6 * n * n_channels;
  CudaRow *row = cuda_row_new (chain, n_channels, backends[0]);
  CudaRow *plain = cuda_row_new (chain, n_channels, backends[1]);
  double *a = test_alloc (n_all * sizeof *a),
         *b = test_alloc (n_all * sizeof *b);
  int ret = row && plain ? 0 : -1;

  levels_signal (a, 6 * n, n_channels);
  memcpy (b, a, n_all * sizeof *b);
  for (unsigned k = 0; ret == 0 && k < 6; k++) {
    if (goes && k > 0)
      ret = cuda_row_go_to (row, backends[k % 2]);
    if (ret == 0)
      ret = cuda_row_pieces (row, a + k * n * n_channels, n_channels, n, 200);
  }
  if (ret == 0)
    ret = cuda_row_f64 (plain, b, n_channels, 6 * n);
  tap_many_check (many,
      ret == 0 && test_cuda_distance (a, b, n_all) < 2e-8 && row->n_by_cpu == 0,
      "unit %u: returns %d, %g", i, ret, test_cuda_distance (a, b, n_all));
  cuda_row_free (&row);
  cuda_row_free (&plain);
  free (a);
  free (b);
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
    TfxChain *chains[] = { new_row (i), new_sum (i) };

    check_hand_over (&rows, chains[i % 2], i, false);
    check_hand_over (&many, chains[(i + 1) % 2], i, true);
    for (unsigned k = 0; k < 2; k++)
      tfx_chain_unref (&chains[k]);
  }
  tap_many_end (&rows);
  tap_many_end (&many);
}

/* One way up, one down, whatever the row; a launch for each step. */
static void
test_launches (void)
{
  const size_t n = 300;
  TapMany many = tap_many ("a row with a unit is one upload and one download");

  for (unsigned i = 0; i < N_KINDS; i++) {
    TfxChain *chain = new_row (i);
    CudaRow *row = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
    double *x = test_cuda_noise (2 * n);
    TfxStats stats;

    if (row && cuda_row_f64 (row, x, 2, n) == 0 &&
        cuda_row_f64 (row, x, 2, n) == 0)
      stats = cuda_row_stats (row);
    else
      memset (&stats, 0, sizeof stats);
    tap_many_check (&many,
        stats.launches == 6 && stats.uploads == test_cuda_copies (cuda, 2) &&
            stats.downloads == test_cuda_copies (cuda, 2),
        "unit %u: two blocks are %d launches, %d uploads, %d downloads", i,
        (int)stats.launches, (int)stats.uploads, (int)stats.downloads);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
    free (x);
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
  TfxChain *chain = tfx_chain_new ();
  double *x = test_alloc (n * sizeof *x), gain_db;
  CudaRow *row;

  test_cuda_append (&chain, tfx_stage_new_dynamics (7, &d));
  row = cuda_row_new (chain, 1, tfx_cuda_backend (cuda));
  for (unsigned k = 0; row && k < 2; k++) {
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
    TfxChain *chain = tfx_chain_new ();
    CudaRow *row;

    test_cuda_append (&chain, tfx_stage_new_limiter (7, &l));
    row = cuda_row_new (chain, 1, tfx_cpu_backend ());
    tap_check (row && tfx_filter_runs_on (row->filter,
                          tfx_cuda_backend (cuda)) == (l.n_late == 0),
        "a limiter that is %zu frames later than it looks ahead", l.n_late);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
  }
}

/* Samples that are not finite count as 0, are reported, and leave no trace. */
static void
test_unsound (void)
{
  const size_t n = 400;
  TapMany many = tap_many ("what is not finite counts as 0");

  for (unsigned i = 0; i < N_KINDS; i++) {
    const TfxFilterSpec spec = { RATE, 2, TFX_SAMPLE_F32, 0 };
    TfxChain *chain = tfx_chain_new ();
    float *x = test_alloc (2 * n * sizeof *x),
          *y = test_alloc (2 * n * sizeof *y);
    CudaRow *bad, *good;
    double most = 0.0;
    int ret = -1;

    test_cuda_append (&chain, new_unit (i));
    bad = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
    good = cuda_row_new_for (chain, &spec, tfx_cuda_backend (cuda));
    test_noise_f32 (x, 2 * n);
    memcpy (y, x, 2 * n * sizeof *x);
    for (unsigned k = 0; k < 4; k++) {
      x[2 * (50 + 80 * k) + 1] = k % 2 ? NAN : -INFINITY;
      y[2 * (50 + 80 * k) + 1] = 0.0f;
    }
    if (bad && good)
      ret = cuda_row_f32 (bad, x, 2, n) || cuda_row_f32 (good, y, 2, n);
    for (size_t k = 0; ret == 0 && k < 2 * n; k++)
      most = fmax (most, x[k] == y[k] ? 0.0 : 1.0);
    tap_many_check (&many,
        ret == 0 && most == 0.0 && cuda_row_stats (bad).recoveries > 0 &&
            cuda_row_stats (good).recoveries == 0,
        "unit %u: returns %d, is off by %g", i, ret, most);
    cuda_row_free (&bad);
    cuda_row_free (&good);
    tfx_chain_unref (&chain);
    free (x);
    free (y);
  }
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
    TfxChain *chain = new_row (i);
    CudaRow *row = cuda_row_new (chain, 2, tfx_cuda_backend (cuda));
    double *x = test_cuda_noise (2 * n);
    double *y = test_alloc (2 * n * sizeof *y),
           *first = test_alloc (2 * n * sizeof *y);

    for (unsigned k = 0; row && k < N_OF (orders); k++) {
      int ret;

      test_cuda_set ("TFX_STANDIN_ORDER", orders[k]);
      memcpy (y, x, 2 * n * sizeof *y);
      ret = cuda_row_f64 (row, y, 2, n);
      if (k == 0)
        memcpy (first, y, 2 * n * sizeof *y);
      tap_many_check (&many,
          ret == 0 && memcmp (first, y, 2 * n * sizeof *y) == 0,
          "unit %u, %s: returns %d", i, orders[k] ? orders[k] : "forward", ret);
      cuda_row_reset (row);
    }
    tap_many_check (&many, row && cuda_row_is_silent (row), "unit %u: at rest",
        i);
    cuda_row_free (&row);
    tfx_chain_unref (&chain);
    free (x);
    free (y);
    free (first);
  }
  test_cuda_set ("TFX_STANDIN_ORDER", NULL);
  tap_many_end (&many);
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = { { "dynamics", test_dynamics },
    { "nodes", test_nodes }, { "limiters", test_limiters }, { "far", test_far },
    { "agc", test_agc }, { "damage", test_damage }, { "reverbs", test_reverbs },
    { "overflow", test_overflow }, { "clips", test_clips },
    { "rows", test_rows }, { "launches", test_launches },
    { "readings", test_readings }, { "late", test_late },
    { "unsound", test_unsound }, { "orders", test_orders }, { NULL, NULL } };
  int ret;

  cuda = test_cuda_new (NULL);
  ret = tap_main (argc, argv, tests);
  tfx_cuda_unref (&cuda);
  return ret;
}
