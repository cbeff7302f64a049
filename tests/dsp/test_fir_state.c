/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fir_state.c: what the FIR engine keeps: history, other taps in a
 * cross-fade, rest, samples that are not finite; and how it reads and writes
 * blocks.
 */
#include "buffer.h"
#include "common.h"
#include "fircase.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For one channel and two: three kernels, one of them twice. */
static const int matrices[2][4] = { { 2 }, { 1, 0, -1, 1 } };

/* One spec for each form, in both types. */
static const struct
{
  size_t n_taps;
  TfxFirMethod method;
  size_t block_frames;
  const char *text; /* how its form begins */
} forms[] = {
  { 1, TFX_FIR_DIRECT, 0, "direct" },
  { 77, TFX_FIR_DIRECT, 0, "direct" },
  { 500, TFX_FIR_FFT, 1024, "block" },
  { 300, TFX_FIR_FFT, 64, "partitioned" },
  { 20000, TFX_FIR_FFT, 128, "partitioned" },
  { 20000, TFX_FIR_FFT, 0, "partitioned" },
};

#define N_FORMS (sizeof forms / sizeof *forms)

/* A case for a form, and a convolver for it that has not run. */
typedef struct Rig
{
  size_t form, size; /* size: bytes of out */
  FirCase *c;
  TfxConvolverSpec spec;
  TfxConvolver *convolver;
  double *out, *expected; /* [n_channels][n_frames], 0 */
} Rig;

/* A check for each form from `first` on, in both types or in doubles, with n_taps (0: the
 * form's) and n_times n_taps + n_more frames. */
typedef struct Rigs
{
  const char *name;
  void (*check) (TapMany *many, Rig *rig);
  size_t first, n_taps;
  unsigned n_channels;
  size_t n_times, n_more, n_points;
  bool is_double;
} Rigs;

static double *
new_output (const FirCase *c)
{
  double *out = test_alloc (c->n_channels * c->n_frames * sizeof *out);

  memset (out, 0, c->n_channels * c->n_frames * sizeof *out);
  return out;
}

static void
check_rigs (const Rigs *rigs)
{
  TapMany many = tap_many (rigs->name);

  for (size_t i = 2 * rigs->first; i < 2 * N_FORMS; i++) {
    const size_t f = i / 2;
    const size_t n_taps = rigs->n_taps ? rigs->n_taps : forms[f].n_taps;
    FirCase *c = fir_case_new_matrix (FIR_NOISE, n_taps, i % 2 ? 3 : 1,
        rigs->n_channels, i % 2 ? matrices[rigs->n_channels - 1] : NULL,
        rigs->n_times * n_taps + rigs->n_more, rigs->n_points);

    for (int type = rigs->is_double; type < 2; type++) {
      Rig rig = { .form = f,
        .size = c->n_channels * c->n_frames * sizeof (double),
        .c = c,
        .spec = fir_case_spec (c, (TfxSample)type, forms[f].method,
            forms[f].block_frames),
        .out = new_output (c),
        .expected = new_output (c) };

      rig.convolver = fir_convolver_new (&rig.spec);
      rigs->check (&many, &rig);
      tfx_convolver_free (&rig.convolver);
      free (rig.out);
      free (rig.expected);
    }
    fir_case_free (&c);
  }
  tap_many_end (&many);
}

/* Frames [first, end) by a rig's convolver. */
static void
run (Rig *rig, FirSplit split, size_t first, size_t end, double *out)
{
  fir_case_run (rig->c, rig->convolver, rig->spec.precision, split, first,
      end - first, out);
}

/* The error of out against other, both [n_channels][n_frames], in frames
 * [first, first + n). */
static double
distance_db (const FirCase *c, const double *out, const double *other,
    size_t first, size_t n)
{
  double error = 0.0, power = 0.0;

  for (unsigned k = 0; k < c->n_channels; k++) {
    for (size_t i = first; i < first + n; i++) {
      const double e = out[k * c->n_frames + i] - other[k * c->n_frames + i];
      error += e * e;
      power += other[k * c->n_frames + i] * other[k * c->n_frames + i];
    }
  }
  if (!isfinite (error))
    return INFINITY;
  return error > 0.0 ? 10.0 * log10 (error / power) : -999.0;
}

/* ---- forms --------------------------------------------------------------- */

static void
check_form (TapMany *many, Rig *rig)
{
  TfxConvolverTaps *taps = fir_taps_new (&rig->spec);
  const char *text = tfx_convolver_taps_text (taps);
  const char *expected = forms[rig->form].text;

  tap_many_check (many, strncmp (text, expected, strlen (expected)) == 0,
      "%zu taps, blocks of %zu: %s", rig->spec.n_taps, rig->spec.block_frames,
      text);
  tfx_convolver_taps_unref (&taps);
}

/* ---- history ------------------------------------------------------------- */

/* True if history[n_channels][n_taps - 1] is the case's signal up to frame
 * `end`. */
static bool
is_history (const FirCase *c, const double *history, size_t end)
{
  const size_t n = c->n_taps - 1;

  for (unsigned k = 0; k < c->n_channels; k++) {
    for (size_t i = 0; i < n; i++) {
      const double x =
          end + i >= n ? c->signal[k * c->n_frames + end + i - n] : 0.0;
      if (history[k * n + i] != x)
        return false;
    }
  }
  return true;
}

static void
check_history (TapMany *many, Rig *rig)
{
  const FirCase *c = rig->c;
  const size_t n = c->n_taps - 1;
  const size_t places[] = { 0, 100, 4096, c->n_taps + 3333 };
  double *history = test_alloc ((c->n_channels * n + 1) * sizeof *history);
  const double bound = fir_bound_db (rig->spec.method, rig->spec.precision) +
                       (c->matrix ? FIR_MATRIX_DB : 0.0);

  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const size_t at = places[i];
    Rig other = *rig;
    double error;

    other.convolver = fir_convolver_new (&rig->spec);
    other.out = rig->expected;
    tfx_convolver_reset (rig->convolver);
    run (rig, fir_split_random, 0, at, rig->out);
    tfx_convolver_get_history (rig->convolver, history);
    tap_many_check (many, is_history (c, history, at),
        "%zu taps after %zu frames: not the last input", c->n_taps, at);
    /* the other one has seen other samples before */
    run (&other, fir_split_random, 0, 999, other.out);
    tfx_convolver_set_history (other.convolver, history);
    run (rig, fir_split_random, at, c->n_frames, rig->out);
    run (&other, fir_split_random, at, c->n_frames, other.out);
    error = distance_db (c, other.out, rig->out, at, c->n_frames - at);
    tap_many_check (many,
        error <= bound && fir_case_error_db (c, other.out, at) <= bound,
        "%zu taps, %s, set after %zu frames: %.1f dB", c->n_taps,
        rig->spec.kernel, at, error);
    tfx_convolver_get_history (other.convolver, history);
    tap_many_check (many, is_history (c, history, c->n_frames),
        "%zu taps: the history after the run", c->n_taps);
    tfx_convolver_free (&other.convolver);
  }
  free (history);
}

/* ---- other taps ---------------------------------------------------------- */

/* Expected output: from a to b, linearly, over `length` frames from frame `start`
 * on. */
static void
mix (const FirCase *c, double *a, const double *b, size_t start, size_t length)
{
  for (unsigned k = 0; k < c->n_channels; k++) {
    for (size_t i = start; i < c->n_frames; i++) {
      double *y = a + k * c->n_frames + i;
      const double to = b[k * c->n_frames + i];
      const size_t done = i - start + 1;
      *y = done >= length ? to : *y + (to - *y) * (double)done / (double)length;
    }
  }
}

/* The same signal as c, other taps. */
static FirCase *
with_other_taps (const FirCase *c, FirKind kind)
{
  FirCase *other = fir_case_new_matrix (kind, c->n_taps, c->n_kernels,
      c->n_channels, c->matrix, c->n_frames, c->n_points);

  memcpy (other->signal, c->signal,
      c->n_channels * c->n_frames * sizeof *c->signal);
  return other;
}

/* Output of the whole stream in double. */
static double *
run_alone (const FirCase *c, TfxConvolverSpec spec)
{
  TfxConvolver *convolver;
  double *out = new_output (c);

  spec.precision = TFX_SAMPLE_F64;
  convolver = fir_convolver_new (&spec);
  fir_case_run (c, convolver, TFX_SAMPLE_F64, fir_split_all, 0, c->n_frames,
      out);
  tfx_convolver_free (&convolver);
  return out;
}

/* Taps of the spec come in over fade_frames; what tfx_convolver_set_taps() returns. */
static int
set_taps (TfxConvolver *convolver, const TfxConvolverSpec *spec,
    size_t fade_frames)
{
  TfxConvolverTaps *taps = fir_taps_new (spec);
  const int result =
      tfx_convolver_set_taps (convolver, taps, fade_frames, TFX_WEIGHT_LINEAR);

  tfx_convolver_taps_unref (&taps);
  return result;
}

typedef struct Change
{
  size_t at, fade_frames;
} Change;

/* Taps change at two places; the second change may fall into the cross-fade of
 * the first, and then waits for its end. */
static void
check_change (TapMany *many, Rig *rig, const Change changes[2])
{
  const FirCase *c = rig->c;
  double *expected = run_alone (c, rig->spec);
  size_t at = 0, free_from = 0;
  int result = 0;
  double error;

  tfx_convolver_reset (rig->convolver);
  set_taps (rig->convolver, &rig->spec, 0);
  for (int i = 0; i < 2; i++) {
    FirCase *other = with_other_taps (c, i == 0 ? FIR_DECAY : FIR_LOW_PASS);
    TfxConvolverSpec spec = rig->spec;
    double *to;

    spec.taps = other->taps;
    run (rig, fir_split_random, at, changes[i].at, rig->out);
    at = changes[i].at;
    result |= set_taps (rig->convolver, &spec, changes[i].fade_frames);

    to = run_alone (other, spec);
    if (free_from < at)
      free_from = at;
    mix (c, expected, to, free_from, changes[i].fade_frames);
    free_from += changes[i].fade_frames;
    free (to);
    fir_case_free (&other);
  }
  run (rig, fir_split_random, at, c->n_frames, rig->out);
  error = distance_db (c, rig->out, expected, 0, c->n_frames);
  tap_many_check (many,
      result == 0 &&
          error <= fir_bound_db (rig->spec.method, rig->spec.precision),
      "%zu taps, changes at %zu (%zu) and %zu (%zu): %d, %.1f dB", c->n_taps,
      changes[0].at, changes[0].fade_frames, changes[1].at,
      changes[1].fade_frames, result, error);
  free (expected);
}

static void
check_changes (TapMany *many, Rig *rig)
{
  static const Change changes[][2] = {
    { { 2000, 0 }, { 3000, 0 } },
    { { 0, 480 }, { 5000, 1 } },
    { { 2049, 1000 }, { 6001, 333 } },
    { { 1024, 2000 }, { 1500, 700 } }, /* one waits */
    { { 1031, 2000 }, { 1500, 0 } },
    { { 1031, 0 }, { 1031, 100 } },
  };

  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    check_change (many, rig, changes[i]);
}

static void
scale_taps (FirCase *c, double gain)
{
  for (size_t i = 0; i < c->n_kernels * c->n_taps; i++)
    c->taps[i] *= gain;
}

/* The last of several that are set within a cross-fade counts; the convolver
 * lets go of all of them. */
static void
check_waiting (TapMany *many, Rig *rig)
{
  double *expected;

  for (size_t i = 0; i < 20; i++) {
    scale_taps (rig->c, 1.1);
    set_taps (rig->convolver, &rig->spec, 1000);
    run (rig, fir_split_random, i * 100, i * 100 + 100, rig->out);
  }
  run (rig, fir_split_random, 2000, 20000, rig->out);
  expected = run_alone (rig->c, rig->spec);
  tap_many_check (many,
      distance_db (rig->c, rig->out, expected, 4000, 16000) < -240.0,
      "form %zu", rig->form);
  free (expected);
}

static void
check_reset (TapMany *many, Rig *rig)
{
  Rig fresh = *rig;

  for (int i = 0; i < 3; i++) {
    scale_taps (rig->c, 3.0);
    run (rig, fir_split_random, 0, 3001, rig->out);
    set_taps (rig->convolver, &rig->spec, 5000);
  }
  tfx_convolver_reset (rig->convolver);
  tap_many_check (many, tfx_convolver_is_silent (rig->convolver),
      "form %zu: at rest", rig->form);
  fresh.convolver = fir_convolver_new (&rig->spec);
  run (rig, fir_split_all, 0, rig->c->n_frames, rig->out);
  run (&fresh, fir_split_all, 0, rig->c->n_frames, rig->expected);
  tap_many_check (many, memcmp (rig->out, rig->expected, rig->size) == 0,
      "form %zu: output of a new one", rig->form);
  tfx_convolver_free (&fresh.convolver);
}

static void
test_set_refused (void)
{
  FirCase *c = fir_case_new (FIR_NOISE, 600, 1, 2, 10, 1);
  const TfxConvolverSpec spec =
      fir_case_spec (c, TFX_SAMPLE_F32, TFX_FIR_AUTO, 256);
  TfxConvolver *convolver = fir_convolver_new (&spec);
  TfxConvolverSpec others[6];

  for (int i = 0; i < 6; i++)
    others[i] = spec;
  others[0].n_taps = 599;
  others[1].n_channels = 1;
  others[2].precision = TFX_SAMPLE_F64;
  others[3].method = TFX_FIR_DIRECT;
  others[4].block_frames = 64;
  others[5].matrix = (const int[]){ 0, -1, 0, 0 };
  for (int i = 0; i < 6; i++)
    tap_check (set_taps (convolver, &others[i], 10) == -EINVAL,
        "taps of another shape are refused (%d)", i);
  tfx_convolver_free (&convolver);
  fir_case_free (&c);
}

/* ---- rest and samples that are not finite -------------------------------- */

static void
check_silence (TapMany *many, Rig *rig)
{
  FirCase *c = rig->c;
  size_t quiet_at = 0;
  bool is_quiet = true;

  memset (c->signal + 3000, 0, (c->n_frames - 3000) * sizeof *c->signal);
  run (rig, fir_split_random, 0, 3000, rig->out);
  tap_many_check (many,
      c->n_taps == 1 || !tfx_convolver_is_silent (rig->convolver),
      "form %zu: loud", rig->form);
  for (size_t at = 3000; at + 500 <= c->n_frames; at += 500) {
    if (!quiet_at && tfx_convolver_is_silent (rig->convolver))
      quiet_at = at;
    run (rig, fir_split_random, at, at + 500, rig->out);
    for (size_t i = at; quiet_at && i < at + 500; i++)
      is_quiet &= rig->out[i] == 0.0;
  }
  tap_many_check (many, quiet_at && is_quiet, "form %zu: quiet from %zu on",
      rig->form, quiet_at);
}

/* Frames of a channel that are not sound. */
static const double bad_samples[] = { NAN, INFINITY, -INFINITY, 1e308 };

static void
check_unsound (TapMany *many, Rig *rig)
{
  double *bad = rig->c->signal + 1500;

  for (size_t i = 0; i < 4; i++)
    bad[i * 301] = 0.0;
  run (rig, fir_split_all, 0, rig->c->n_frames, rig->expected);
  for (size_t i = 0; i < 4; i++)
    bad[i * 301] = bad_samples[i];
  tfx_convolver_reset (rig->convolver);
  run (rig, fir_split_all, 0, rig->c->n_frames, rig->out);
  tap_many_check (many, memcmp (rig->out, rig->expected, rig->size) == 0,
      "form %zu, %d", rig->form, rig->spec.precision);
}

/* Any of up to 300 samples, by each kernel. */
static void
test_unsound_places (void)
{
  TapMany many = tap_many ("one sample that is not finite, wherever it is");
  const char *kernels[8];
  const size_t n_kernels = fir_kernels (kernels);
  double *samples = test_alloc (300 * sizeof *samples);

  for (size_t k = 0; k < 2 * n_kernels; k++) {
    const double tap = 1.0;
    const TfxConvolverSpec spec = { .taps = &tap,
      .n_taps = 1,
      .n_kernels = 1,
      .n_channels = 1,
      .precision = (TfxSample)(k % 2),
      .kernel = kernels[k / 2] };
    TfxConvolver *convolver = fir_convolver_new (&spec);

    for (size_t n = 1; n < 300; n += n < 140 ? 1 : 53) {
      /* place n: none */
      for (size_t place = 0; place <= n; place++) {
        const TfxBlock block =
            tfx_block_interleaved (samples, spec.precision, 1, n);
        const double bad = bad_samples[place % 4];

        memset (samples, 0, 300 * sizeof *samples);
        if (place < n && k % 2)
          samples[place] = bad;
        else if (place < n)
          ((float *)samples)[place] = (float)bad;
        tap_many_check (&many,
            tfx_convolver_run (convolver, &block, &block) == (place < n),
            "%s, type %zu, place %zu of %zu", spec.kernel, k % 2, place, n);
      }
    }
    tfx_convolver_free (&convolver);
  }
  free (samples);
  tap_many_end (&many);
}

static void
test_unsound_count (void)
{
  FirCase *c = fir_case_new (FIR_NOISE, 50, 1, 3, 10, 1);
  const TfxConvolverSpec spec =
      fir_case_spec (c, TFX_SAMPLE_F32, TFX_FIR_AUTO, 256);
  TfxConvolver *convolver = fir_convolver_new (&spec);
  float samples[3][20] = { { 0 } };
  TfxBlock block = tfx_block_planar (samples, TFX_SAMPLE_F32, 3, 20, 20);

  tap_check (tfx_convolver_run (convolver, &block, &block) == 0, "none");
  samples[0][3] = samples[2][0] = samples[2][19] = NAN;
  tap_check (tfx_convolver_run (convolver, &block, &block) == 2,
      "two of three channels were not sound");
  tfx_convolver_free (&convolver);
  fir_case_free (&c);
}

/* ---- blocks -------------------------------------------------------------- */

static void
check_layout (TapMany *many, const FirCase *c, const TfxConvolverSpec *spec,
    TestLayout layout, TfxSample type, bool in_place)
{
  const size_t n = c->n_frames;
  TestBuffer in = test_buffer_new (layout, type, c->n_channels, n, 3);
  TestBuffer out = test_buffer_new (layout, type, c->n_channels, n, 1);
  double *frames = test_alloc (c->n_channels * n * sizeof *frames);
  double *got = new_output (c);
  TfxConvolver *convolver = fir_convolver_new (spec);
  TestBuffer *to = in_place ? &in : &out;
  const bool is_double =
      spec->precision == TFX_SAMPLE_F64 && type == TFX_SAMPLE_F64;
  double error;

  for (size_t i = 0; i < n; i++) {
    for (unsigned k = 0; k < c->n_channels; k++)
      frames[i * c->n_channels + k] = c->signal[k * n + i];
  }
  test_buffer_set (&in, frames);
  for (size_t i = 0, piece; i < n; i += piece) {
    TfxBlock from, part;
    piece = fir_split_random (n - i);
    from = test_block_part (&in.block, i, piece);
    part = test_block_part (&to->block, i, piece);
    tfx_convolver_run (convolver, &from, &part);
  }
  test_buffer_get (to, frames);
  for (size_t i = 0; i < n; i++) {
    for (unsigned k = 0; k < c->n_channels; k++)
      got[k * n + i] = frames[i * c->n_channels + k];
  }
  error = fir_case_error_db (c, got, 0);
  tap_many_check (many,
      error <= (is_double ? -240.0 : -128.0) && test_buffer_is_guarded (&in) &&
          test_buffer_is_guarded (&out),
      "%zu taps, %u channels, layout %d, type %d in %d, in place %d: %.1f dB",
      c->n_taps, c->n_channels, layout, type, spec->precision, in_place, error);
  test_buffer_clear (&in);
  test_buffer_clear (&out);
  tfx_convolver_free (&convolver);
  free (frames);
  free (got);
}

static void
test_layouts (void)
{
  /* 102: two, and a matrix */
  static const unsigned channels[] = { 1, 2, 3, 4, 8, 11, 102 };
  TapMany many = tap_many ("every layout, in place and apart, and guards");

  for (size_t f = 1; f + 2 < N_FORMS; f++) {
    for (size_t k = 0; k < sizeof channels / sizeof *channels; k++) {
      const unsigned n = channels[k] % 100;
      const bool is_matrix = channels[k] != n;
      FirCase *c = fir_case_new_matrix (FIR_NOISE, forms[f].n_taps,
          is_matrix ? 3 : 1, n, is_matrix ? matrices[n - 1] : NULL, 2000, 100);
      for (int i = 0; i < TEST_N_LAYOUTS * 8; i++) {
        const TfxConvolverSpec spec = fir_case_spec (c, (TfxSample)(i / 2 % 2),
            forms[f].method, forms[f].block_frames);
        check_layout (&many, c, &spec, (TestLayout)(i / 8),
            (TfxSample)(i / 4 % 2), i % 2);
      }
      fir_case_free (&c);
    }
  }
  tap_many_end (&many);
}

/* No frames, no change. */
static void
check_empty (TapMany *many, Rig *rig)
{
  TfxBlock none = tfx_block_planar (rig->out, TFX_SAMPLE_F64, 1, 0, 0);

  tfx_convolver_run (rig->convolver, &none, &none);
  run (rig, fir_split_random, 0, 1500, rig->out);
  tfx_convolver_run (rig->convolver, &none, &none);
  run (rig, fir_split_random, 1500, 3000, rig->out);
  tap_many_check (many, fir_case_error_db (rig->c, rig->out, 0) < -240.0,
      "form %zu", rig->form);
}

/* ---- the table of rigs ------------------------------------------------------ */

static const Rigs rigs[] = {
  { "specs take the form that the tests mean", check_form, 0, 0, 1, 0, 10, 1,
      false },
  { "history goes from one convolver to another", check_history, 0, 0, 2, 2,
      5000, 300, false },
  { "other taps come in by a cross-fade", check_changes, 0, 0, 2, 1, 9000, 1,
      false },
  { "of taps that wait the last ones count", check_waiting, 1, 500, 1, 0, 20000,
      1, true },
  { "a reset is a new start, with the newest taps", check_reset, 0, 0, 2, 0,
      6000, 1, false },
  { "is_silent means that the output is 0", check_silence, 0, 0, 1, 8, 40000, 1,
      false },
  { "samples that are not finite count as 0", check_unsound, 0, 0, 2, 1, 6000,
      1, false },
  { "a block without frames changes nothing", check_empty, 0, 0, 1, 0, 3000,
      100, true },
};

static void
test_rigs (void)
{
  for (size_t i = 0; i < sizeof rigs / sizeof *rigs; i++)
    check_rigs (&rigs[i]);
}

/* ---- numbers ------------------------------------------------------------- */

static void
test_refused (void)
{
  static const double taps[4] = { 1, 2, NAN, 1e300 };
  const TfxConvolverSpec good = { .taps = taps,
    .n_taps = 2,
    .n_kernels = 1,
    .n_channels = 1,
    .kernel = "c" };
  TfxConvolverSpec bad[16];
  TfxConvolverTaps *t;

  for (int i = 0; i < 16; i++)
    bad[i] = good;
  bad[0].n_taps = 0;
  bad[1].n_taps = TFX_FIR_MAX_TAPS + 1;
  bad[2].n_channels = 0;
  bad[3].n_channels = TFX_MAX_CHANNELS + 1;
  bad[4].n_kernels = 0;
  bad[5].n_kernels = 2;
  bad[6].precision = (TfxSample)2;
  bad[7].method = (TfxFirMethod)3;
  bad[8].kernel = "mmx";
  bad[9].kernel = NULL;
  bad[10].taps = NULL;
  bad[11].n_taps = 3;      /* a NaN */
  bad[12].taps = taps + 3; /* no float */
  bad[12].n_taps = 1;
  bad[13].matrix = (const int[]){ 1 }; /* there is no kernel 1 */
  bad[14].matrix = (const int[]){ -1 };
  bad[15].matrix = calloc (65 * 65, sizeof *bad[15].matrix);
  bad[15].n_channels = 65;
  for (int i = 0; i < 16; i++) {
    t = (TfxConvolverTaps *)taps;
    tap_check (tfx_convolver_taps_new (&bad[i], &t) ==
                       (i == 11 || i == 12 ? -ERANGE : -EINVAL) &&
                   !t,
        "a bad spec is refused (%d)", i);
  }
  free ((int *)bad[15].matrix);
  bad[12].precision = TFX_SAMPLE_F64;
  tap_check (tfx_convolver_taps_new (&bad[12], &t) == 0,
      "1e300 is a tap in double");
  tfx_convolver_taps_unref (&t);
  tap_check (tfx_convolver_taps_new (&good, &t) == 0, "a good one is not");
  tfx_convolver_taps_unref (&t);
  tap_check (!t, "unref clears the pointer");
  tfx_convolver_taps_unref (&t);
}

static double
cost_of (size_t n_taps, size_t block_frames, TfxFirMethod method)
{
  static const double none[1];
  const char *names[TEST_N_KERNELS];
  const size_t n = fir_kernels (names);
  const TfxConvolverSpec spec = { .taps = none,
    .n_taps = n_taps,
    .n_kernels = 1,
    .n_channels = 2,
    .method = method,
    .block_frames = block_frames,
    .kernel = names[n - 1] };

  return tfx_convolver_cost (&spec);
}

static void
test_cost (void)
{
  static const size_t hints[] = { 0, 32, 256, 1000, 1024 };
  TapMany many = tap_many ("auto costs what the cheaper method does");
  double five = 0.0;

  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
    for (size_t n = 1; n < 2000000; n = n * 2 + 1) {
      const double best = cost_of (n, hints[i], TFX_FIR_AUTO);
      tap_many_check (&many,
          best > 0.0 && best <= cost_of (n, hints[i], TFX_FIR_DIRECT) &&
              best <= cost_of (n, hints[i], TFX_FIR_FFT),
          "%zu taps, blocks of %zu", n, hints[i]);
    }
  }
  tap_many_end (&many);
  for (size_t n = 101; n <= 105; n++)
    five += cost_of (n, 1024, TFX_FIR_AUTO);
  tap_check (cost_of (511, 1024, TFX_FIR_AUTO) < 0.5 * five,
      "five filters of 101 to 105 taps are better one of 511");
  /* auto's sums are of floats, and cheaper */
  tap_check (cost_of (3, 1024, TFX_FIR_AUTO) < cost_of (3, 1024, TFX_FIR_FFT),
      "three taps are summed up directly");
  tap_check (cost_of (10000, 256, TFX_FIR_AUTO) <
                 0.2 * cost_of (10000, 256, TFX_FIR_DIRECT),
      "10000 taps are not");
}

static const TapTest tests[] = {
  { "rigs", test_rigs },
  { "set_refused", test_set_refused },
  { "unsound_places", test_unsound_places },
  { "unsound_count", test_unsound_count },
  { "layouts", test_layouts },
  { "refused", test_refused },
  { "cost", test_cost },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
