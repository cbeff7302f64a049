/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_motion.c: values that move, in the output: jumps, sweeps, and the
 * filter that is designed anew at every sample.
 */
#include "common.h"
#include "design/rbj.h"
#include "rows.h"
#include "design/svf.h"
#include "tap.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000
#define GRID TFX_GRID_FRAMES
#define ID 1

/* ---- what is measured ---------------------------------------------------------------- */

#define SPECTRUM 16384 /* a third of a second */

static void
transform (const double complex *x, size_t stride, double complex *y, size_t n)
{
  if (n == 1) {
    *y = *x;
    return;
  }
  transform (x, 2 * stride, y, n / 2);
  transform (x + stride, 2 * stride, y + n / 2, n / 2);
  for (size_t k = 0; k < n / 2; k++) {
    const double complex a = y[k];
    const double complex b = y[n / 2 + k] * cexp (-2 * M_PI * I * k / n);

    y[k] = a + b;
    y[n / 2 + k] = a - b;
  }
}

/* The energy of x[SPECTRUM] further than apart_hz above hz, against that of a
 * sine of that amplitude, in dB. */
static double
energy_above (const double *x, double hz, double amplitude)
{
  static double complex in[SPECTRUM], out[SPECTRUM];
  double energy = 0, all = 0;

  for (size_t i = 0; i < SPECTRUM; i++) {
    const double t = 2 * M_PI * (double)i / SPECTRUM;
    const double w = 0.42 - 0.5 * cos (t) + 0.08 * cos (2 * t);

    in[i] = w * x[i];
    all += 0.5 * amplitude * amplitude * w * w;
  }
  transform (in, 1, out, SPECTRUM);
  for (size_t k = (size_t)(hz * SPECTRUM / RATE); k <= SPECTRUM / 2; k++)
    energy += 2 * creal (out[k] * conj (out[k])) / SPECTRUM;
  return 10 * log10 (energy / all + 1e-30);
}

/* ---- filters -------------------------------------------------------------------------- */

static TfxStage *
stage_of (const TfxDesign *d)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_design_sections (d, RATE, sos);

  return tfx_stage_new_sections (ID, sos, (size_t)n);
}

static double
gain_at (const TfxDesign *d, double hz)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = tfx_design_sections (d, RATE, sos);
  TfxComplex h = tfx_response_at (sos, (size_t)n, hz, RATE);

  return hypot (h.re, h.im);
}

/* ---- jumps ----------------------------------------------------------------------------- */

#define SETTLE 24000
#define LENGTH (SETTLE + 24000)
#define SINE_HZ 440
#define AMPLITUDE 0.5

typedef struct Jump
{
  double above_db; /* energy above 2 kHz */
  double bend;     /* second difference, against that of the louder sine */
  double peak_db;  /* against the louder sine */
} Jump;

/* x[LENGTH], a setting at SETTLE; `loud` is the amplitude of the louder one. */
static Jump
measure_jump (const double *x, double loud)
{
  const double w = 2 * sin (M_PI * SINE_HZ / RATE);
  Jump j = { energy_above (x + SETTLE + 240 - SPECTRUM / 2, 2000, AMPLITUDE), 0,
    0 };

  for (size_t i = SETTLE; i < LENGTH; i++) {
    j.bend = fmax (j.bend, fabs (x[i] - 2 * x[i - 1] + x[i - 2]));
    j.peak_db = fmax (j.peak_db, fabs (x[i]));
  }
  j.bend /= loud * w * w;
  j.peak_db = 20 * log10 (j.peak_db / loud);
  return j;
}

static void
fill_sine (double *x, double phase)
{
  for (size_t i = 0; i < LENGTH; i++)
    x[i] = AMPLITUDE *
           sin (2 * M_PI * SINE_HZ / RATE * ((double)i - SETTLE) + phase);
}

static Jump
run_jump (TfxStage *before, TfxStage *after, double phase, double loud)
{
  static double x[LENGTH];
  TfxFilter *f;
  TfxPlan *plan = rows_open (&before, 1, 1, TFX_SAMPLE_F64, &f);

  fill_sine (x, phase);
  rows_run (plan, x, 1, SETTLE);
  rows_set (f, after);
  rows_run (plan, x + SETTLE, 1, LENGTH - SETTLE);
  rows_free (&plan);
  return measure_jump (x, loud);
}

static void
check_jump (TapMany *many, const Jump *j, Jump *worst, const char *text)
{
  tap_many_check (many, j->above_db < -80, "%s: %.1f dB above 2 kHz", text,
      j->above_db);
  tap_many_check (many, j->bend < 1.5, "%s: bends %.2f times", text, j->bend);
  tap_many_check (many, j->peak_db < 1, "%s: peak %.2f dB", text, j->peak_db);
  worst->above_db = fmax (worst->above_db, j->above_db);
  worst->bend = fmax (worst->bend, j->bend);
  worst->peak_db = fmax (worst->peak_db, j->peak_db);
}

/* Less than this of the sine is as good as silence before and after: what either
 * setting does when it starts counts against this. */
#define LEAST 0.25

/* Cutoffs that jump, up and down, far and near. */
static void
test_jumps (void)
{
  static const double pairs[][2] = { { 500, 5000 }, { 20, 20000 }, { 20, 1000 },
    { 200, 2000 }, { 1000, 1100 }, { 1000, 1010 }, { 400, 440 }, { 430, 440 },
    { 100, 110 }, { 5000, 20000 }, { 300, 600 }, { 440, 622 }, { 440, 460 } };
  static const unsigned orders[] = { 2, 4, 8, 16, 64 };
  TapMany many = tap_many ("a cutoff jumps without a click");
  Jump worst = { -300, 0, -300 };

  for (unsigned i = 0; i < 5 * 3 * 13 * 2; i++) {
    const double *pair = pairs[i % 13];
    const bool is_down = i / 13 % 2;
    TfxDesign a = { .family = TFX_FAMILY_BUTTERWORTH,
      .mode = (TfxMode)(i / 26 % 3),
      .order = orders[i / 78],
      .lower_hz = pair[is_down] };
    TfxDesign b = a;
    char text[TEST_TEXT_SIZE], way[TEST_TEXT_SIZE + 40];
    double loud;

    b.lower_hz = pair[!is_down];
    if (a.mode == TFX_MODE_BAND_PASS) {
      a.order = b.order = a.order > 2 ? a.order / 2 : 1;
      a.upper_hz = fmin (1.5 * a.lower_hz, 23000);
      b.upper_hz = fmin (1.5 * b.lower_hz, 23000);
    }
    loud = fmax (fmax (gain_at (&a, SINE_HZ), gain_at (&b, SINE_HZ)), LEAST);
    snprintf (way, sizeof way, "%s to %g Hz", test_design_text (&a, RATE, text),
        b.lower_hz);
    for (int phase = 0; phase < 3; phase++) {
      const Jump j = run_jump (stage_of (&a), stage_of (&b), phase * M_PI / 3,
          AMPLITUDE * loud);
      check_jump (&many, &j, &worst, way);
    }
  }
  tap_diag ("at most %.1f dB above 2 kHz, bent %.2f times, peak %.2f dB",
      worst.above_db, worst.bend, worst.peak_db);
  tap_many_end (&many);
}

/* Other values that jump: a gain, and sections of the Audio EQ Cookbook. */
static void
test_values (void)
{
  static const struct
  {
    TfxRbjKind kind;
    double hz[2], q[2], gain_db[2];
  } cases[] = {
    { TFX_RBJ_PEAKING, { 1000, 1000 }, { 2, 2 }, { 3, -24 } },
    { TFX_RBJ_PEAKING, { 440, 440 }, { 2, 2 }, { 3, -24 } },
    { TFX_RBJ_PEAKING, { 440, 440 }, { 8, 8 }, { 24, -24 } },
    { TFX_RBJ_PEAKING, { 440, 440 }, { 0.5, 30 }, { 12, 12 } },
    { TFX_RBJ_PEAKING, { 200, 8000 }, { 1, 1 }, { 12, 12 } },
    { TFX_RBJ_PEAKING, { 440, 440 }, { 1, 1 }, { 0, 12 } },
    { TFX_RBJ_LOW_SHELF, { 1000, 1000 }, { 0.7, 0.7 }, { 12, -12 } },
    { TFX_RBJ_LOW_SHELF, { 440, 440 }, { 0.7, 0.7 }, { 24, -24 } },
    { TFX_RBJ_HIGH_SHELF, { 440, 440 }, { 0.7, 0.7 }, { 12, -12 } },
    { TFX_RBJ_HIGH_SHELF, { 100, 5000 }, { 0.7, 0.7 }, { 12, 12 } },
    { TFX_RBJ_HIGH_SHELF, { 440, 440 }, { 0.7, 0.7 }, { 24, -24 } },
    { TFX_RBJ_HIGH_SHELF, { 1000, 1000 }, { 0.7, 0.7 }, { 24, -24 } },
    { TFX_RBJ_LOW_SHELF, { 1000, 1000 }, { 0.7, 0.7 }, { 24, -24 } },
    { TFX_RBJ_NOTCH, { 440, 440 }, { 0.5, 30 }, { 0, 0 } },
    { TFX_RBJ_NOTCH, { 440, 440 }, { 1, 10 }, { 0, 0 } },
    { TFX_RBJ_NOTCH, { 440, 1000 }, { 5, 5 }, { 0, 0 } },
    { TFX_RBJ_NOTCH, { 1000, 1000 }, { 30, 0.5 }, { 0, 0 } },
    { TFX_RBJ_ALL_PASS, { 440, 2000 }, { 1, 1 }, { 0, 0 } },
    { TFX_RBJ_ALL_PASS, { 440, 600 }, { 1, 1 }, { 0, 0 } },
    { TFX_RBJ_BAND_PASS, { 440, 4400 }, { 3, 3 }, { 0, 0 } },
    { TFX_RBJ_LOW_PASS, { 440, 440 }, { 0.5, 10 }, { 0, 0 } },
    { TFX_RBJ_HIGH_PASS, { 440, 440 }, { 0.5, 10 }, { 0, 0 } },
  };
  const size_t n_cases = sizeof cases / sizeof cases[0];
  TapMany many =
      tap_many ("a gain, a quality or a section jumps without a click");
  Jump worst = { -300, 0, -300 };

  for (unsigned i = 0; i < (n_cases + 1) * 6; i++) {
    const unsigned k = i / 6, is_back = i % 2;
    const double phase = i / 2 % 3 * M_PI / 3;
    TfxStage *stages[2];
    double loud = LEAST;
    char text[60];
    Jump j;

    for (int n = 0; n < 2; n++) {
      TfxSos sos;
      TfxComplex h = { n ? 0.1 : 0.9, 0 };

      if (k < n_cases) {
        tfx_rbj_section (cases[k].kind, cases[k].hz[n], cases[k].q[n],
            pow (10, cases[k].gain_db[n] / 20), RATE, &sos);
        h = tfx_response_at (&sos, 1, SINE_HZ, RATE);
        stages[n] = tfx_stage_new_sections (ID, &sos, 1);
      } else {
        stages[n] = tfx_stage_new_gain (ID, h.re);
      }
      loud = fmax (loud, hypot (h.re, h.im));
    }
    snprintf (text, sizeof text, "case %u%s", k, is_back ? " back" : "");
    j = run_jump (stages[is_back], stages[!is_back], phase, AMPLITUDE * loud);
    check_jump (&many, &j, &worst, text);
  }
  tap_diag ("at most %.1f dB above 2 kHz, bent %.2f times, peak %.2f dB",
      worst.above_db, worst.bend, worst.peak_db);
  tap_many_end (&many);
}

/* ---- low cutoffs that are dragged ------------------------------------------------ */

/* The level of a sine behind a filter whose cutoff goes far each `every` frames, an
 * octave and more below it (a high-pass) or above it, in dB. */
static double
drag (double hz, const TfxDesign *at, size_t every)
{
  static double x[LENGTH];
  const bool is_high = at->mode == TFX_MODE_HIGH_PASS;
  const size_t from = LENGTH / 2;
  TfxStage *stage = stage_of (at);
  TfxFilter *f;
  TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
  TfxDesign d = *at;
  double energy = 0;

  for (size_t i = 0; i < LENGTH; i++)
    x[i] = sin (2 * M_PI * hz / RATE * (double)i);
  for (size_t i = 0; i < LENGTH; i += every) {
    const double far = tap_random_uniform (1, 4) * (i / every % 2 ? 5 : 1);

    d.lower_hz = is_high ? hz / 4 / far : hz * 4 * far;
    if (i >= LENGTH / 4)
      rows_set (f, stage_of (&d));
    rows_run (plan, x + i, 1, every < LENGTH - i ? every : LENGTH - i);
  }
  for (size_t i = from; i < LENGTH; i++)
    energy += 2 * x[i] * x[i];
  rows_free (&plan);
  return 10 * log10 (energy / (double)(LENGTH - from));
}

/* A new filter that began with the full weight after 10 ms had not seen enough of a
 * low wave: -1.9 dB. */
static void
test_drag (void)
{
  static const double hz[] = { 20, 30, 60 };
  TapMany many = tap_many ("a low cutoff that is dragged leaves the bass");
  double worst = 0;

  for (unsigned i = 0; i < 3 * 3 * 4; i++) {
    const TfxDesign d = { TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS,
      2 * (i / 9 + 1), hz[i % 3] / 4 };
    const double db = drag (hz[i % 3], &d, 480u << i / 3 % 3);

    tap_many_check (&many, fabs (db) < 0.5,
        "%g Hz, order %u, every %u: %.2f dB", hz[i % 3], d.order,
        480u << i / 3 % 3, db);
    worst = fmax (worst, fabs (db));
  }
  tap_diag ("off by at most %.2f dB", worst);
  tap_many_end (&many);
}

/* ---- curves ------------------------------------------------------------------------------ */

#define N_CURVE (SETTLE + 3 * 480)

/* Where a cutoff is: an octave in 10 ms, up or down, from frame SETTLE on. */
static double
octave_at (size_t frame, double way)
{
  const double t = ((double)frame - SETTLE) / 480;

  return 1000 * pow (2, way * fmin (fmax (t, 0), 1));
}

/* The filter that is designed anew at every sample, the integrators of its
 * sections keep their state; in place. */
static void
run_ideal (TfxDesign d, double way, double *x)
{
  double ml[TFX_DESIGN_MAX_SECTIONS][2] = { { 0 } };
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  int n = 0;

  for (size_t i = 0; i < N_CURVE; i++) {
    const double hz = octave_at (i, way);

    if (n == 0 || hz != d.lower_hz) {
      d.lower_hz = hz;
      n = tfx_design_sections (&d, RATE, sos);
    }
    for (int k = 0; k < n; k++) {
      const TfxSvf s = tfx_svf_of (&sos[k]);
      const double h =
          (x[i] - (s.g + s.k) * ml[k][0] - ml[k][1]) / (1 + s.g * (s.g + s.k));
      const double v = ml[k][0] + s.g * h, w = ml[k][1] + s.g * v;

      ml[k][0] = 2 * v - ml[k][0];
      ml[k][1] = 2 * w - ml[k][1];
      x[i] = s.high * h + s.band * v + s.low * w;
    }
  }
}

static void
test_ideal (void)
{
  static const unsigned orders[] = { 1, 2, 4, 16, 64 };
  static double x[N_CURVE], want[N_CURVE];
  TapMany many =
      tap_many ("a curve is followed as by a design for each sample");
  double worst = -300;

  for (unsigned i = 0; i < 5 * 2 * 2; i++) {
    TfxDesign d = { .family = TFX_FAMILY_BUTTERWORTH,
      .mode = (TfxMode)(i / 5 % 2),
      .order = orders[i % 5],
      .lower_hz = 1000 };
    const double way = i / 10 ? -1 : 1;
    TfxStage *stage = stage_of (&d);
    TfxFilter *f;
    TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);
    double error = 0, all = 0, db;

    for (size_t n = 0; n < N_CURVE; n++)
      x[n] = want[n] = sin (2 * M_PI * 997 * (double)n / RATE);
    run_ideal (d, way, want);
    rows_run (plan, x, 1, SETTLE);
    for (size_t at = SETTLE + GRID; at <= SETTLE + 480; at += GRID) {
      d.lower_hz = octave_at (at, way);
      rows_queue (f, at, stage_of (&d));
    }
    rows_run (plan, x + SETTLE, 1, N_CURVE - SETTLE);
    for (size_t n = SETTLE; n < N_CURVE; n++) {
      error += (x[n] - want[n]) * (x[n] - want[n]);
      all += want[n] * want[n];
    }
    db = 10 * log10 (error / all);
    worst = fmax (worst, db);
    tap_many_check (&many, db < -60, "mode %d, order %u, way %g: %.1f dB",
        (int)d.mode, d.order, way, db);
    rows_free (&plan);
  }
  tap_diag ("at most %.1f dB from it", worst);
  tap_many_end (&many);
}

/* ---- a slow curve ----------------------------------------------------------------- */

#define N_SWEEP 65536

/* A cutoff that goes from 1000 to 2000 Hz in a second, over a sine of 440 Hz. */
static void
test_sweep (void)
{
  static const unsigned orders[] = { 4, 16 };
  static const size_t blocks[] = { 64, 1024, N_SWEEP };
  static double x[N_SWEEP];
  TapMany many = tap_many ("a sweep adds nothing above 2 kHz, to -90 dB");
  double worst = -300;

  for (unsigned i = 0; i < 2 * 3; i++) {
    TfxDesign d = { .family = TFX_FAMILY_BUTTERWORTH,
      .mode = (TfxMode)(i % 2),
      .order = orders[i % 2],
      .lower_hz = 1000 };
    const size_t block = blocks[i / 2];
    TfxStage *stage = stage_of (&d);
    TfxFilter *f;
    TfxPlan *plan = rows_open (&stage, 1, 1, TFX_SAMPLE_F64, &f);

    for (size_t n = 0; n < N_SWEEP; n++)
      x[n] = 0.5 * sin (2 * M_PI * 440 * (double)n / RATE);
    for (size_t first = 0, queued = 0; first < N_SWEEP; first += block) {
      /* As far ahead as the block goes; the first second is the sweep. */
      for (; queued < first + block; queued += GRID) {
        d.lower_hz = 1000 * (1 + fmin ((double)(queued + GRID) / RATE, 1));
        rows_queue (f, queued + GRID, stage_of (&d));
      }
      rows_run (plan, x + first, 1, block);
    }
    for (size_t at = 8192; at + SPECTRUM <= N_SWEEP; at += SPECTRUM / 2) {
      const double db = energy_above (x + at, 2000, 0.5);

      worst = fmax (worst, db);
      tap_many_check (&many, db <= -90,
          "mode %d, order %u, blocks of %zu, from frame %zu: %.1f dB",
          (int)d.mode, d.order, block, at, db);
    }
    rows_free (&plan);
  }
  tap_diag ("at most %.1f dB", worst);
  tap_many_end (&many);
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = {
    { "jumps", test_jumps },
    { "values", test_values },
    { "drag", test_drag },
    { "ideal", test_ideal },
    { "sweep", test_sweep },
    { NULL, NULL },
  };

  return tap_main (argc, argv, tests);
}
