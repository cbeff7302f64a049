/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_filter_change.c: running filters that get other settings: glides,
 * cross-fades at the stage, and the other stages. */
#include "common.h"
#include "jump.h"
#include "design/rbj.h"
#include "rows.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000
#define FADE 480 /* 10 ms */
#define GRID 32

/* ---- plain filters to compare with ----------------------------------------------- */

/* A section of one channel as a state-variable filter. */
typedef struct Plain
{
  double g, k, low, band, high;
  double m, l;
} Plain;

static Plain
plain_of (const TfxSos *s)
{
  const double d0 = 1 + s->a1 + s->a2, d2 = 1 - s->a1 + s->a2;
  const double g = sqrt (d0 / d2);

  return (Plain){ g, 2 * (1 - s->a2) / (d2 * g), (s->b0 + s->b1 + s->b2) / d0,
    2 * (s->b0 - s->b2) / (d2 * g), (s->b0 - s->b1 + s->b2) / d2, 0, 0 };
}

static double
plain_run (Plain *p, double x)
{
  const double h =
      (x - (p->g + p->k) * p->m - p->l) / (1 + p->g * (p->g + p->k));
  const double v = p->m + p->g * h, w = p->l + p->g * v;

  p->m = 2 * v - p->m;
  p->l = 2 * w - p->l;
  return p->high * h + p->band * v + p->low * w;
}

static double
smooth (double t)
{
  return t < 1 ? t * t * t * (10 + t * (6 * t - 15)) : 1;
}

/* t of the way; the integrators keep their state. */
static void
plain_between (Plain *p, const Plain *from, const Plain *to, double t)
{
  p->g = from->g * pow (to->g / from->g, t);
  p->k = from->k * pow (to->k / from->k, t);
  p->low = from->low + t * (to->low - from->low);
  p->band = from->band + t * (to->band - from->band);
  p->high = from->high + t * (to->high - from->high);
}

/* Where a glide is, its frame i: smoothly from point to point, straight on the
 * way. */
static double
glide_at (size_t i)
{
  const double a = smooth ((double)(i / GRID * GRID) / FADE);
  const double b = smooth ((double)((i / GRID + 1) * GRID) / FADE);

  return a + (b - a) * (double)(i % GRID) / GRID;
}

/* The weight of the new stage, at frame i of the fade. */
static double
weight (size_t i)
{
  const double t = (double)(i + 1) / (FADE + 1);

  return i < FADE ? t * t * t * (10 + t * (6 * t - 15)) : 1.0;
}

/* The same, of values: it is over with the last frame. */
static double
value_weight (size_t i)
{
  const double t = (double)(i + 1) / FADE;

  return i < FADE ? t * t * t * (10 + t * (6 * t - 15)) : 1.0;
}

/* ---- glides ----------------------------------------------------------------------- */

#define N 4000

static TfxSos
low_pass (double hz)
{
  const TfxDesign d = { .family = TFX_FAMILY_BUTTERWORTH,
    .mode = TFX_MODE_LOW_PASS,
    .order = 2,
    .lower_hz = hz };
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];

  tfx_design_sections (&d, RATE, sos);
  return sos[0];
}

/* A requested value, and the frame where it begins: the next point of the grid; or
 * where what runs already has come to its end. */
typedef struct Move
{
  size_t frame, first;
  double hz;
  bool is_far;
} Move;

static const Move moves[] = {
  { 320, 320, 1400, false },
  { 500, 800, 1100, false },
  { 700, 800, 1000, false }, /* in place of the one before */
  { 1301, 1312, 9000, true },
  { 1400, 1792, 20, true },
  { 2300, 1792 + 1344, 30, false },
};

#define N_MOVES (sizeof moves / sizeof moves[0])

/* A cross-fade ends when the new filter has swung in by 2.5 neper, but takes no less
 * than 10 ms and no more than 40. */
static size_t
far_frames (const Plain *to)
{
  const double frames = 2.5 / (atan (to->g) * to->k);

  return (size_t)fmin (fmax (frames, FADE), 4 * FADE) / GRID * GRID;
}

static void
run_plain (double *x, size_t n)
{
  TfxSos sos = low_pass (1000);
  Plain now = plain_of (&sos), old = now, from, to;
  const Move *move = NULL;

  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < N_MOVES; k++) {
      if (moves[k].first != i || (k + 1 < N_MOVES && moves[k + 1].first == i))
        continue;
      if (move && !move->is_far)
        plain_between (&now, &from, &to, 1);
      move = &moves[k];
      sos = low_pass (move->hz);
      from = old = now;
      to = plain_of (&sos);
      if (move->is_far)
        now = to;
    }
    if (move && !move->is_far)
      plain_between (&now, &from, &to,
          i - move->first < FADE ? glide_at (i - move->first) : 1);
    if (move && move->is_far && i - move->first < far_frames (&to)) {
      const double t = (double)(i - move->first);
      const double y = plain_run (&old, x[i]);
      const double new = plain_run (&now, smooth (2 * t / FADE) * x[i]);

      x[i] = y + smooth (t / (double)far_frames (&to)) * (new - y);
    } else {
      x[i] = plain_run (&now, x[i]);
    }
  }
}

/* A cutoff that moves, again while it still moves, between a gain and a section
 * that stay. */
static void
test_glide (void)
{
  static double x[N * 2], want[N];
  const TfxSos first = low_pass (1000), behind = low_pass (12000);
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stages[] = { tfx_stage_new_gain (tfx_stage_new_id (), 0.5),
    tfx_stage_new_sections (id, &first, 1),
    tfx_stage_new_sections (tfx_stage_new_id (), &behind, 1) };
  TfxFilter *f;
  TfxPlan *plan = rows_open (stages, 3, 2, TFX_SAMPLE_F64, &f);
  bool was_changing = true;
  double worst = 0;

  test_noise_f64 (x, N);
  for (size_t i = N; i-- > 0;) {
    want[i] = 0.5 * x[i];
    x[2 * i] = x[i];
    x[2 * i + 1] = -x[i];
  }
  run_plain (want, N);
  test_run_f64 (&behind, 1, want, want, N, NULL);
  for (size_t i = 0, m = 0, n; i < N; i += n) {
    for (; m < N_MOVES && moves[m].frame == i; m++) {
      const TfxSos to = low_pass (moves[m].hz);
      rows_set (f, tfx_stage_new_sections (id, &to, 1));
      was_changing = was_changing && tfx_filter_is_changing (f);
    }
    n = (m < N_MOVES ? moves[m].frame : N) - i;
    rows_run (plan, x + 2 * i, 2, n);
  }
  for (size_t i = 0; i < N; i++)
    worst = fmax (worst,
        fmax (fabs (x[2 * i] - want[i]), fabs (x[2 * i + 1] + want[i])));
  tap_check (worst < 1e-11, "a cutoff glides, or is cross-faded: %g", worst);
  tap_check (was_changing && !tfx_filter_is_changing (f),
      "and is changing until it is there");
  rows_free (&plan);
}

/* ---- cross-fades at the stage -------------------------------------------------------- */

/* y of sections from frame `first` on, from rest there. */
static void
run_from (const TfxSos *sos, size_t n_sos, const double *x, double *y,
    size_t first)
{
  memset (y, 0, first * sizeof *y);
  test_run_f64 (sos, n_sos, x + first, y + first, N - first, NULL);
}

enum
{
  REPLACED,
  EXCHANGED, /* for another filter */
  INSERTED,
  REMOVED,
  N_WAYS
};

/* Three stages; the one in the middle changes, comes or goes. */
static void
test_fade (void)
{
  static const char *const names[] = { "replaced", "exchanged", "inserted",
    "removed" };
  TapMany many = tap_many ("a stage is cross-faded at its place");

  for (int way = 0; way < N_WAYS; way++) {
    static double x[N], want[N], a[N], old[N], new[N], y[N];
    const uint64_t ids[4] = { tfx_stage_new_id (), tfx_stage_new_id (),
      tfx_stage_new_id (), tfx_stage_new_id () };
    const TfxSos front = test_random_section (0.9);
    const TfxSos back = test_random_section (0.9);
    const TfxSos one = test_random_section (0.9);
    const TfxSos two[2] = { test_random_section (0.9),
      test_random_section (0.9) };
    const size_t at = 777;
    TfxStage *before[3], *after[3];
    size_t n_before = 0, n_after = 0;
    TfxFilter *f;
    TfxPlan *plan;

    before[n_before++] = tfx_stage_new_sections (ids[0], &front, 1);
    if (way != INSERTED)
      before[n_before++] = tfx_stage_new_sections (ids[1], &one, 1);
    before[n_before++] = tfx_stage_new_sections (ids[2], &back, 1);
    after[n_after++] = tfx_stage_new_sections (ids[0], &front, 1);
    if (way != REMOVED)
      after[n_after++] =
          tfx_stage_new_sections (ids[way == EXCHANGED ? 3 : 1], two, 2);
    after[n_after++] = tfx_stage_new_sections (ids[2], &back, 1);
    plan = rows_open (before, n_before, 1, TFX_SAMPLE_F64, &f);

    test_noise_f64 (x, N);
    test_run_f64 (&front, 1, x, a, N, NULL);
    memcpy (old, a, sizeof a);
    memcpy (new, a, sizeof a);
    if (way != INSERTED)
      test_run_f64 (&one, 1, a, old, N, NULL);
    if (way != REMOVED)
      run_from (two, 2, a, new, at);
    for (size_t i = 0; i < N; i++) {
      double w = i < at ? 0.0 : weight (i - at);
      y[i] = old[i] + w * (new[i] - old[i]);
    }
    test_run_f64 (&back, 1, y, want, N, NULL);

    rows_run (plan, x, 1, at);
    rows_set_chain (f, rows_chain (after, n_after));
    rows_run (plan, x + at, 1, 100);
    tap_many_check (&many, tfx_filter_is_changing (f), "%s: is changing",
        names[way]);
    rows_run (plan, x + at + 100, 1, N - at - 100);
    tap_many_check (&many, !tfx_filter_is_changing (f), "%s: is there",
        names[way]);
    tap_many_check (&many, test_distance (x, want, N) < 1e-11, "%s: %g",
        names[way], test_distance (x, want, N));
    rows_free (&plan);
  }
  tap_many_end (&many);
}

/* ---- FIRs and delay lines -------------------------------------------------------------- */

static void
convolve (const double *x, const double *taps, size_t n_taps, double *y)
{
  for (size_t i = 0; i < N; i++) {
    y[i] = 0.0;
    for (size_t k = 0; k < n_taps && k <= i; k++)
      y[i] += taps[k] * x[i - k];
  }
}

/* Other taps: of the same number, linearly; of another, with the weight of a
 * cross-fade.  Both use the past. */
static void
test_fir (void)
{
  static const struct
  {
    size_t n_old, n_new;
    TfxFirMethod method;
  } cases[] = { { 50, 50, TFX_FIR_DIRECT }, { 50, 80, TFX_FIR_DIRECT },
    { 200, 60, TFX_FIR_DIRECT }, { 900, 900, TFX_FIR_FFT },
    { 900, 400, TFX_FIR_FFT }, { 300, 1200, TFX_FIR_AUTO } };
  TapMany many = tap_many ("a FIR gets other taps, and keeps its past");

  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    static double x[N], a[N], b[N], want[N];
    const size_t at = 1300, n_old = cases[k].n_old, n_new = cases[k].n_new;
    double *old = test_alloc (n_old * sizeof *old);
    double *new = test_alloc (n_new * sizeof *new);
    const double *kernels[2] = { old, new };
    const uint64_t id = tfx_stage_new_id ();
    TfxStage *stage[2];
    TfxFilter *f;
    TfxPlan *plan;

    test_noise_f64 (x, N);
    test_noise_f64 (old, n_old);
    test_noise_f64 (new, n_new);
    stage[0] = tfx_stage_new_fir (id, &kernels[0], 1, n_old, cases[k].method);
    stage[1] = tfx_stage_new_fir (id, &kernels[1], 1, n_new, cases[k].method);
    plan = rows_open (&stage[0], 1, 1, TFX_SAMPLE_F64, &f);
    convolve (x, old, n_old, a);
    convolve (x, new, n_new, b);
    for (size_t i = 0; i < N; i++) {
      double w = i < at           ? 0.0
                 : n_old != n_new ? weight (i - at)
                                  : value_weight (i - at);
      want[i] = a[i] + w * (b[i] - a[i]);
    }
    rows_run (plan, x, 1, at);
    rows_set_chain (f, rows_chain (&stage[1], 1));
    rows_run (plan, x + at, 1, N - at);
    tap_many_check (&many,
        !tfx_filter_is_changing (f) && test_distance (x, want, N) < 1e-10,
        "%zu to %zu taps: %g", n_old, n_new, test_distance (x, want, N));
    free (old);
    free (new);
    rows_free (&plan);
  }
  tap_many_end (&many);
}

static double
delayed (const double *x, size_t i, const TfxTap *tap)
{
  return i >= tap->delay ? tap->gain * x[i - tap->delay] : 0.0;
}

static void
test_delay (void)
{
  static const TfxTap taps[3] = { { 100, 0.5, false, TFX_TAP_BOTH },
    { 100, -0.8, false, TFX_TAP_BOTH }, { 40, 0.3, false, TFX_TAP_BOTH } };
  TapMany many = tap_many ("a delay line gets other taps, and keeps its past");

  for (int k = 1; k <= 2; k++) {
    static double x[N], want[N];
    const size_t at = 901;
    const uint64_t id = tfx_stage_new_id ();
    TfxStage *stage[2] = { tfx_stage_new_delay (id, 1.0, &taps[0], 1),
      tfx_stage_new_delay (id, 0.5, &taps[k], 1) };
    TfxFilter *f;
    TfxPlan *plan = rows_open (&stage[0], 1, 1, TFX_SAMPLE_F64, &f);

    test_noise_f64 (x, N);
    for (size_t i = 0; i < N; i++) {
      double a = x[i] + delayed (x, i, &taps[0]);
      double b = 0.5 * x[i] + delayed (x, i, &taps[k]);
      double w = i < at   ? 0.0
                 : k == 2 ? weight (i - at)
                          : value_weight (i - at);
      want[i] = a + w * (b - a);
    }
    rows_run (plan, x, 1, at);
    rows_set_chain (f, rows_chain (&stage[1], 1));
    rows_run (plan, x + at, 1, N - at);
    tap_many_check (&many,
        !tfx_filter_is_changing (f) && test_distance (x, want, N) < 1e-12,
        "%zu frames: %g", taps[k].delay, test_distance (x, want, N));
    rows_free (&plan);
  }
  tap_many_end (&many);
}

/* One frame late by `delay`: a line, or a FIR of two taps. */
static TfxStage *
make_echo (uint64_t id, bool is_fir, size_t delay)
{
  const TfxTap tap = { delay, 0.9, false, TFX_TAP_BOTH };
  double *taps;
  TfxStage *stage;

  if (!is_fir)
    return tfx_stage_new_delay (id, 1.0, &tap, 1);
  taps = test_alloc ((delay + 1) * sizeof *taps);
  memset (taps, 0, (delay + 1) * sizeof *taps);
  taps[0] = 1.0;
  taps[delay] = 0.9;
  stage = rows_fir (id, taps, delay + 1, TFX_FIR_AUTO);
  free (taps);
  return stage;
}

#define N_LONG_PAST 12000

/* A line or a FIR over x, which gets another length at each end but the last. */
static void
run_lengths (bool is_fir, const size_t *delays, const size_t *ends, double *x)
{
  const uint64_t id = tfx_stage_new_id ();
  TfxStage *stage = make_echo (id, is_fir, delays[0]);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);

  for (size_t k = 0, i = 0; k < 3; i = ends[k++]) {
    if (k > 0) {
      stage = make_echo (id, is_fir, delays[k]);
      rows_set_chain (f, rows_chain (&stage, 1));
    }
    rows_run_blocks (plan, x + i, 1, ends[k] - i, 64);
  }
  rows_free (&plan);
}

/* A line that has become short has little past: that of a longer line rises out of
 * silence, without a step.  A line that has run for long since gives all of its past. */
static void
test_lengths (void)
{
  static const size_t soon[2][3] = { { 2000, 300, 2500 },
    { 6000, 6600, N_LONG_PAST } };
  static const size_t late[2][3] = { { 100, 3000, 2500 },
    { 1000, 9000, N_LONG_PAST } };
  static double x[N_LONG_PAST], y[N_LONG_PAST];
  TapMany many = tap_many ("a line gets other lengths");

  for (int is_fir = 0; is_fir < 2; is_fir++) {
    const char *name = is_fir ? "FIR" : "delay line";
    double bend, worst = 0;

    for (size_t i = 0; i < N_LONG_PAST; i++)
      x[i] = sin (2 * M_PI * 100.0 * (double)i / RATE);
    run_lengths (is_fir, soon[0], soon[1], x);
    /* The sine bends by 1.7e-4 and its echo by as much; a rise over 512 frames adds to
     * that. */
    bend = test_jump_bend (x + 4999, N_LONG_PAST - 4999);
    tap_many_check (&many, bend < 2e-3, "%s, soon after: %g", name, bend);

    test_noise_f64 (x, N_LONG_PAST);
    memcpy (y, x, sizeof y);
    run_lengths (is_fir, late[0], late[1], y);
    for (size_t i = 9000 + 600; i < 9000 + 1600; i++)
      worst = fmax (worst, fabs (y[i] - (x[i] + 0.9 * x[i - 2500])));
    tap_many_check (&many, worst < 1e-9, "%s, with its past: %g", name, worst);
  }
  tap_many_end (&many);
}

/* An echo that comes into a running chain gets no edge, which it would repeat later. */
static void
test_enters (void)
{
  enum
  {
    N_SINE = 16000
  };
  TapMany many = tap_many ("an echo is brought into a chain");

  for (int i = 0; i < 6; i++) {
    static double x[N_SINE];
    TfxStage *stages[2] = { tfx_stage_new_gain (tfx_stage_new_id (), 1.0),
      make_echo (tfx_stage_new_id (), i % 3 == 1, 3000) };
    TfxFilter *f;
    TfxPlan *plan = rows_open (&stages[0], 1, 1, TFX_SAMPLE_F64, &f);
    double bend;

    if (i % 3 == 2) {
      stages[1] = rows_sum (tfx_stage_new_id (), rows_chain (&stages[1], 1),
          tfx_chain_new ());
    }
    stages[0] = tfx_stage_new_gain (tfx_stage_new_id (), 1.0);
    for (size_t k = 0; k < N_SINE; k++)
      x[k] = cos (2 * M_PI * 100.0 * (double)k / RATE);
    rows_run (plan, x, 1, 6000);
    rows_set_chain (f, rows_chain (stages, 2));
    rows_run_blocks (plan, x + 6000, 1, N_SINE - 6000, i < 3 ? N_SINE : 100);
    bend = test_jump_bend (x + 4999, N_SINE - 4999);
    tap_many_check (&many, bend < 2e-3, "%s: %g",
        i % 3 == 0   ? "delay line"
        : i % 3 == 1 ? "FIR"
                     : "sum",
        bend);
    rows_free (&plan);
  }
  tap_many_end (&many);
}

static TfxStage *
make_delay (void)
{
  const TfxTap tap = { 1000, 0.0, false, TFX_TAP_BOTH };

  return tfx_stage_new_delay (tfx_stage_new_id (), 1.0, &tap, 1);
}

static TfxStage *
make_limiter (void)
{
  const TfxLimiter limiter = { .n_ahead = 12, .attack = 0.9, .release = 0.9 };

  return tfx_stage_new_limiter (tfx_stage_new_id (), &limiter);
}

/* A half of each of two. */
static TfxStage *
make_halves (TfxStage *(*make) (void))
{
  TfxChain *branches[2];

  for (int k = 0; k < 2; k++) {
    TfxStage *stages[2] = { tfx_stage_new_gain (tfx_stage_new_id (), 0.5),
      make () };

    branches[k] = rows_chain (stages, 2);
  }
  return rows_sum (tfx_stage_new_id (), branches[0], branches[1]);
}

/* How far a constant goes off it from frame `from` on, while others come in the stage's
 * place at frame n_before; lets go of all of them. */
static double
find_dip (TfxStage *stage, TfxStage **others, size_t n, double constant,
    size_t n_before, size_t from)
{
  enum
  {
    N_EVEN = 6000
  };
  static double x[N_EVEN];
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  double off = 0.0;

  for (size_t k = 0; k < N_EVEN; k++)
    x[k] = constant;
  rows_run (plan, x, 1, n_before);
  rows_set_chain (f, rows_chain (others, n));
  for (size_t k = n_before; k < N_EVEN; k += 100)
    rows_run (plan, x + k, 1, 100);
  for (size_t k = from; k < N_EVEN; k++)
    off = fmax (off, fabs (x[k] - constant));
  rows_free (&plan);
  return off;
}

/* The signal keeps its level during the change: its input rises, and is not faded
 * in once more. */
static void
test_enters_evenly (void)
{
  static const double one[1000] = { 1.0 };
  TfxStage *stages[] = { tfx_stage_new_gain (tfx_stage_new_id (), 1.0),
    make_delay (), rows_fir (tfx_stage_new_id (), one, 1000, TFX_FIR_AUTO),
    make_halves (make_delay) };
  const double off = find_dip (tfx_stage_new_gain (tfx_stage_new_id (), 1.0),
      stages, 4, 1.0, 1000, 0);

  tap_check (off < 1e-12, "a constant stays one while echoes come: %g", off);
}

/* The same where another new stage has look-ahead, so that the fade begins later. */
static void
test_enters_evenly_late (void)
{
  TfxStage *stages[] = { make_delay (), make_halves (make_limiter) };
  const double off = find_dip (make_limiter (), stages, 2, 0.5, 2000, 1000);

  tap_check (off < 1e-4, "a constant stays one where look-ahead comes too: %g",
      off);
}

static TfxStage *
delay_setting (uint64_t id, unsigned i)
{
  const TfxTap taps[2] = { { 50, 0.7, true, TFX_TAP_BOTH },
    { 50, 0.31, true, TFX_TAP_BOTH } };

  return tfx_stage_new_delay (id, i == 0 ? 0.37 : 0.63, &taps[i], 1);
}

static TfxStage *
fir_setting (uint64_t id, unsigned i)
{
  static const double taps[3][3] = { { 1, 0.5, 0.2 }, { -1, 0.3, 0.7 },
    { 0.1, 0.9, -0.4 } };

  return rows_fir (id, taps[i], 3, TFX_FIR_DIRECT);
}

/* The same bits however the blocks lie in a change, also after its end: from setting 0 to the
 * last one, each set before the one before it is there. */
static void
test_unit_splits (void)
{
  static const struct
  {
    TfxStage *(*make) (uint64_t id, unsigned i);
    unsigned n_settings;
    const char *name;
  } cases[] = { { delay_setting, 2, "a delay line's gains" },
    { fir_setting, 3, "a FIR's taps" } };
  static const size_t sizes[3] = { N, 64, 7 };
  static double in[N], x[N], want[N];
  TapMany many = tap_many ("values of units change, in any split");

  test_noise_f64 (in, N);
  for (size_t k = 0; k < 6; k++) {
    const uint64_t id = tfx_stage_new_id ();
    TfxStage *stage = cases[k / 3].make (id, 0);
    TfxFilter *f;
    TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);

    memcpy (x, in, sizeof x);
    rows_run (plan, x, 1, 901);
    for (unsigned i = 1; i < cases[k / 3].n_settings; i++) {
      stage = cases[k / 3].make (id, i);
      rows_set_chain (f, rows_chain (&stage, 1));
    }
    rows_run_blocks (plan, x + 901, 1, N - 901, sizes[k % 3]);
    if (k % 3 == 0)
      memcpy (want, x, sizeof x);
    tap_many_check (&many, memcmp (x, want, sizeof x) == 0,
        "%s, blocks of %zu: %g", cases[k / 3].name, sizes[k % 3],
        test_distance (x, want, N));
    rows_free (&plan);
  }
  tap_many_end (&many);
}

/* ---- many changes --------------------------------------------------------------------- */

#define N_LONG 12000
#define N_EVENTS 60

/* A change at a frame: another chain, or another setting of a stage. */
typedef struct Event
{
  size_t frame;
  TfxChain *chain;
  TfxStage *stage;
} Event;

static int
compare_events (const void *a, const void *b)
{
  const Event *s = a, *t = b;

  return s->frame < t->frame ? -1 : s->frame > t->frame;
}

static TfxStage *
random_stage (uint64_t id, int depth)
{
  const TfxTap tap = { tap_random_below (300), tap_random_uniform (-1, 1),
    tap_random_below (2), TFX_TAP_BOTH };
  TfxSos sos[3] = { test_random_section (0.9), test_random_section (0.9),
    test_random_section (0.9) };
  double taps[40];
  TfxChain *branches[2];
  TfxStage *stage;

  switch ((id * 7 + tap_random_below (2)) % (depth > 0 ? 5 : 4)) {
    case 0:
      return tfx_stage_new_gain (id,
          tap_random_below (4) ? tap_random_uniform (-1, 1) : 1.0);
    case 1:
      return tfx_stage_new_delay (id, 0.5, &tap, 1);
    case 2:
      test_noise_f64 (taps, 40);
      return rows_fir (id, taps, 20 + tap_random_below (2) * 20,
          TFX_FIR_DIRECT);
    case 4:
      for (int k = 0; k < 2; k++)
        branches[k] = rows_random_chain (id * 100 + 10 * (uint64_t)k, 3,
            depth - 1, random_stage);
      stage = tfx_stage_new_sum (id, branches, 1 + tap_random_below (2));
      tfx_chain_unref (&branches[0]);
      tfx_chain_unref (&branches[1]);
      return stage;
    default:
      return tfx_stage_new_sections (id, sos, 1 + tap_random_below (3));
  }
}

static void
run_events (TfxFilter **row, size_t n_row, const Event *events, double *x,
    unsigned most)
{
  TfxPlan *plan = rows_plan (row, n_row);
  size_t e = 0;

  for (size_t i = 0; i < N_LONG;) {
    size_t n = 1 + tap_random_below (most);

    for (; e < N_EVENTS && events[e].frame == i; e++) {
      TfxFilter *f = row[e % n_row];

      tfx_filter_lock (f);
      if (events[e].chain)
        tfx_filter_set_chain (f, events[e].chain);
      else
        tfx_filter_set_stage (f, events[e].stage);
      tfx_filter_unlock (f);
    }
    if (e < N_EVENTS && n > events[e].frame - i)
      n = events[e].frame - i;
    if (n > N_LONG - i)
      n = N_LONG - i;
    rows_run (plan, x + 2 * i, 2, n);
    i += n;
  }
  rows_free (&plan);
}

/* Chains take turns, in the middle of the changes from one to the next: in the end
 * the filter is what was set last. */
static void
test_last (void)
{
  static double x[2 * N_LONG], want[2 * N_LONG];
  const int n_rounds = part_is_wanted () ? 20 : 60;
  TapMany many = tap_many ("the chain that was set last is in force");

  for (int round = 0; round < n_rounds; round++) {
    TfxChain *chains[3];
    TfxFilter *f, *plain;
    TfxPlan *plan, *plain_plan;
    unsigned last = 0;

    for (int k = 0; k < 3; k++)
      chains[k] = rows_random_chain (100, 5, 2, random_stage);
    f = rows_filter_of (chains[0], 2, TFX_SAMPLE_F64);
    plan = rows_plan (&f, 1);
    test_noise_f64 (x, 2 * N_LONG);
    for (size_t i = 0, n; i < 2000; i += n) {
      n = 1 + tap_random_below (400);
      rows_run (plan, x + 2 * i, 2, n);
      last = tap_random_below (3);
      rows_set_chain (f, tfx_chain_ref (chains[last]));
    }
    if (round % 2)
      rows_run (plan, x, 2, N_LONG);
    tap_many_check (&many, round % 2 == 0 || !tfx_filter_is_changing (f),
        "round %d: it has ended", round);
    rows_reset (&f, 1);
    plain = rows_filter_of (chains[last], 2, TFX_SAMPLE_F64);
    plain_plan = rows_plan (&plain, 1);
    test_noise_f64 (x, 2000);
    memcpy (want, x, sizeof want);
    rows_run (plan, x, 2, 1000);
    rows_run (plain_plan, want, 2, 1000);
    tap_many_check (&many, test_distance (x, want, 2000) < 1e-9, "round %d: %g",
        round, test_distance (x, want, 2000));
    rows_free (&plan);
    rows_free (&plain_plan);
    tfx_filter_unref (&f);
    tfx_filter_unref (&plain);
    for (int k = 0; k < 3; k++)
      tfx_chain_unref (&chains[k]);
  }
  tap_many_end (&many);
}

/* A chain waits for a cross-fade: values that are set or queued before then, of a stage
 * that is in that one alone are there when it is. */
static void
test_next (void)
{
  static double x[N_LONG];
  const TfxTap tap = { .delay = 40, .gain = 0.5 };
  TfxStage *both[2] = { tfx_stage_new_gain (1, 0.5),
    tfx_stage_new_gain (6, 0.5) };
  TfxFilter *f;
  TfxPlan *plan = rows_open (both, 2, 1, TFX_SAMPLE_F64, &f);
  TfxStage *next[4], *stage;
  TfxChain *chain = NULL;

  for (size_t i = 0; i < N_LONG; i++)
    x[i] = 1.0;
  rows_run (plan, x, 1, 100);
  both[0] = tfx_stage_new_delay (2, 1.0, &tap, 1);
  both[1] = tfx_stage_new_gain (6, 0.5);
  rows_set_chain (f, rows_chain (both, 2));
  rows_run (plan, x + 100, 1, 100);
  next[0] = tfx_stage_new_gain (3, 2.0);
  next[1] = tfx_stage_new_gain (4, 3.0);
  next[2] = tfx_stage_new_gain (5, 5.0);
  next[3] = tfx_stage_new_gain (6, 0.5);
  rows_set_chain (f, rows_chain (next, 4));
  /* One that there is now and then. */
  tap_check (rows_set (f, tfx_stage_new_gain (6, 2.0)) == 0,
      "what stays is set");
  tap_check (rows_set (f, tfx_stage_new_gain (3, 7.0)) == 0, "it is set");
  tap_check (rows_queue (f, 320, tfx_stage_new_gain (4, 11.0)) == 0,
      "it is queued");
  /* One that there is now, but not then. */
  stage = tfx_stage_new_delay (2, 0.5, &tap, 1);
  tap_check (rows_set (f, tfx_stage_ref (stage)) == 0 &&
                 rows_queue (f, 320, stage) == 0,
      "and what goes");
  tap_check (tfx_filter_get_chain (f, &chain) == 0 &&
                 tfx_chain_n_stages (chain) == 4,
      "that is its chain now");
  tfx_chain_unref (&chain);
  rows_run (plan, x + 200, 1, N_LONG - 200);
  tap_check (fabs (x[N_LONG - 1] - 7.0 * 11.0 * 5.0 * 2.0) < 1e-9 &&
                 !tfx_filter_is_changing (f),
      "in the chain that waited: %g", x[N_LONG - 1]);
  rows_free (&plan);
}

/* Three filters change at random, and any split gives the same bits. */
static void
test_splits (void)
{
  static double x[2 * N_LONG], want[2 * N_LONG], noise[2 * N_LONG];
  const int n_rounds = part_is_wanted () ? 6 : 30;
  TapMany many = tap_many ("changes do not depend on the split into blocks");

  for (int round = 0; round < n_rounds; round++) {
    Event events[N_EVENTS];
    TfxChain *first[3];

    test_noise_f64 (noise, 2 * N_LONG);
    for (int k = 0; k < 3; k++)
      first[k] =
          rows_random_chain (100 * (uint64_t)(k + 1), 5, 2, random_stage);
    for (int k = 0; k < N_EVENTS; k++)
      events[k] = (Event){ .frame = tap_random_below (N_LONG) };
    qsort (events, N_EVENTS, sizeof events[0], compare_events);
    for (uint64_t k = 0; k < N_EVENTS; k++) {
      const uint64_t base = 100 * (k % 3 + 1);

      if (tap_random_below (2))
        events[k].chain = rows_random_chain (base, 5, 2, random_stage);
      else
        events[k].stage = random_stage (base + tap_random_below (5), 2);
    }
    for (int way = 0; way < 3; way++) {
      TfxFilter *row[3];
      bool is_sane = true;

      for (int k = 0; k < 3; k++)
        row[k] = rows_filter_of (first[k], 2, TFX_SAMPLE_F64);
      memcpy (x, noise, sizeof x);
      run_events (row, 3, events, x, way == 0 ? N_LONG : way == 1 ? 400 : 33);
      for (int k = 0; k < 3; k++)
        tfx_filter_unref (&row[k]);
      if (way == 0)
        memcpy (want, x, sizeof x);
      for (size_t i = 0; i < 2 * N_LONG; i++)
        is_sane = is_sane && fabs (x[i]) < 1e12;
      tap_many_check (&many, is_sane, "round %d: numbers", round);
      for (size_t i = 0; way > 0 && i < 2 * N_LONG; i++) {
        if (x[i] == want[i])
          continue;
        tap_diag ("round %d: frame %zu: %g, not %g", round, i / 2, x[i],
            want[i]);
        break;
      }
      tap_many_check (&many, !memcmp (x, want, sizeof x), "round %d, way %d",
          round, way);
    }
    for (int k = 0; k < N_EVENTS; k++) {
      tfx_chain_unref (&events[k].chain);
      tfx_stage_unref (&events[k].stage);
    }
    for (int k = 0; k < 3; k++)
      tfx_chain_unref (&first[k]);
  }
  tap_many_end (&many);
}

/* ---- other rows ------------------------------------------------------------------------ */

#define N_ROW 3

static TfxStage *
row_stage (int k, double hz)
{
  const TfxDesign d = { .family = TFX_FAMILY_BUTTERWORTH,
    .mode = k == 2 ? TFX_MODE_HIGH_PASS : TFX_MODE_LOW_PASS,
    .order = 2 * (unsigned)k + 2,
    .lower_hz = hz };
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_design_sections (&d, RATE, sos);

  return tfx_stage_new_sections ((uint64_t)k + 10, sos, (size_t)n);
}

/* Three filters that move, in rows of one to three that are others for each
 * block; way 0: alone. */
static void
run_in_rows (unsigned seed, bool alone, double *x)
{
  TfxPlan *plans[N_ROW][N_ROW] = { { NULL } };
  TfxFilter *f[N_ROW];

  for (int k = 0; k < N_ROW; k++) {
    TfxStage *stage = row_stage (k, 1000);
    f[k] = rows_filter (&stage, 1, 1, TFX_SAMPLE_F64);
  }
  for (size_t i = 0, n; i < N_LONG; i += n) {
    unsigned cuts;

    seed = seed * 1664525u + 1013904223u;
    n = 1 + (seed >> 8) % 400;
    n = n < N_LONG - i ? n : N_LONG - i;
    cuts = alone ? 3 : (seed >> 20) % 4;
    if ((seed >> 22) % 3 == 0) {
      const int k = (int)((seed >> 24) % N_ROW);
      const double hz = (seed >> 26) % 8 ? 900.0 + (seed >> 16) % 100 : 3000.0;

      rows_set (f[k], row_stage (k, hz));
    }
    for (size_t a = 0, b; a < N_ROW; a = b) {
      for (b = a + 1; b < N_ROW && !(cuts >> (b - 1) & 1);)
        b++;
      if (!plans[a][b - 1])
        plans[a][b - 1] = rows_plan (f + a, b - a);
      rows_run (plans[a][b - 1], x + i, 1, n);
    }
  }
  for (int k = 0; k < N_ROW; k++) {
    for (int j = 0; j < N_ROW; j++)
      if (plans[k][j])
        rows_free (&plans[k][j]);
  }
  rows_clear (f, N_ROW);
}

static void
test_rows (void)
{
  static double noise[N_LONG], x[N_LONG], want[N_LONG];
  TapMany many = tap_many ("filters keep moving in any row");

  for (unsigned round = 0; round < 20; round++) {
    const unsigned seed = tap_random_below (1 << 30);

    test_noise_f64 (noise, N_LONG);
    memcpy (want, noise, sizeof want);
    memcpy (x, noise, sizeof x);
    run_in_rows (seed, true, want);
    run_in_rows (seed, false, x);
    tap_many_check (&many, test_distance (x, want, N_LONG) < 1e-11,
        "round %u: %g", round, test_distance (x, want, N_LONG));
  }
  tap_many_end (&many);
}

/* An equaliser with a gain after it goes to 0 dB, where its output hides its state, and back.
 * Noise through it. */
static void
run_equaliser (const TfxBackend *backend, double level_db, double *x, size_t n)
{
  const double levels[] = { -1.0, level_db, -1.0 };
  TfxSos sos[3];
  const TestStage stages[] = { { 1, sos, 1, 0 }, { 2, NULL, 0, -0.56 } };
  TestFilter *f;

  for (int i = 0; i < 3; i++)
    tfx_rbj_section (TFX_RBJ_PEAKING, 150, 1, pow (10, levels[i] / 20), RATE,
        &sos[i]);
  f = test_filter_of (stages, 2, 1, backend);
  for (size_t i = 0; i < 3; i++) {
    if (i > 0 &&
        rows_set (f->filter, tfx_stage_new_sections (1, &sos[i], 1)) < 0)
      abort ();
    test_filter_f64 (f, x + i * n / 3, 1, n / 3);
  }
  test_filter_free (&f);
}

static void
test_unseen (void)
{
  static const double levels_db[] = { 0.0, 1e-9, 1e-6, 1e-3 };
  TapMany many = tap_many ("an equaliser leaves 0 dB without a thump");
  double x[9000], y[9000];

  for (unsigned k = 0; k < TEST_N_KERNELS; k++) {
    const TfxBackend *backend = test_backend_for (test_kernels[k]);

    for (unsigned i = 0; backend && i < 4; i++) {
      double most = 0, differs = 0;

      test_noise_f64 (x, 9000);
      memcpy (y, x, sizeof y);
      run_equaliser (backend, levels_db[i], x, 9000);
      run_equaliser (test_backend_for ("c"), levels_db[i], y, 9000);
      for (size_t j = 0; j < 9000; j++) {
        most = fmax (most, fabs (x[j]));
        differs = fmax (differs, fabs (x[j] - y[j]));
      }
      tap_many_check (&many, most < 0.6 && differs < 1e-7,
          "%s, %g dB: up to %g, %g from the reference", test_kernels[k],
          levels_db[i], most, differs);
    }
  }
  tap_many_end (&many);
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = {
    { "glide", test_glide },
    { "fade", test_fade },
    { "fir", test_fir },
    { "delay", test_delay },
    { "lengths", test_lengths },
    { "enters", test_enters },
    { "enters_evenly", test_enters_evenly },
    { "enters_evenly_late", test_enters_evenly_late },
    { "unit_splits", test_unit_splits },
    { "splits", test_splits },
    { "last", test_last },
    { "next", test_next },
    { "rows", test_rows },
    { "unseen", test_unseen },
    { NULL, NULL },
  };

  return tap_main (argc, argv, tests);
}
