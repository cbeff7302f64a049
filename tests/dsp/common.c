/* SPDX-License-Identifier: LGPL-2.1-or-later
 * common.c: see common.h.
 */
#include "common.h"
#include "core/backend.h"
#include "cpu/kernels.h"
#include "uppers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const test_kernels[TEST_N_KERNELS] = { "c", "sse2", "avx2",
  "avx512", "neon", "avx512, elsewhere" };

static bool
halves_elsewhere (void)
{
  return !tfx_cpu_halves_avx512 ();
}

const TfxBackend *
test_backend_for (const char *name)
{
  const TfxBackend *here = tfx_cpu_backend_for ("avx512");
  static TfxKernels kernels;
  static TfxBackend backend;

  if (strcmp (name, test_kernels[TEST_N_KERNELS - 1]) != 0)
    return tfx_cpu_backend_for (name);
  if (!here)
    return NULL;
  if (!backend.name) {
    kernels = *tfx_kernels_for (here->kernel);
    kernels.halves = halves_elsewhere;
    backend = *here;
    backend.data = &kernels;
  }
  return &backend;
}

const char *
test_kernel (size_t k)
{
  for (unsigned i = 0; i < TEST_N_KERNELS; i++) {
    if (test_backend_for (test_kernels[i]) && k-- == 0)
      return test_kernels[i];
  }
  return NULL;
}

TfxExpr *
test_parse (const char *text)
{
  TfxExprError error;
  TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);

  if (expr)
    return expr;
  printf ("Bail out! %s: %s\n", text, error.message);
  exit (1);
}

static TfxChain *
build_at (const TfxExpr *expr, double rate_hz, unsigned n_channels)
{
  TfxExprError error;
  TfxChain *chain = NULL;

  if (tfx_expr_build (expr, rate_hz, n_channels, NULL, NULL, &chain, &error) ==
      0)
    return chain;
  printf ("Bail out! at %g Hz: %s\n", rate_hz, error.message);
  exit (1);
}

TfxChain *
test_build_expr (const TfxExpr *expr, unsigned n_channels)
{
  return build_at (expr, 48000, n_channels);
}

TfxChain *
test_build_at (const char *text, double rate_hz, unsigned n_channels)
{
  TfxExpr *expr = test_parse (text);
  TfxChain *chain = build_at (expr, rate_hz, n_channels);

  tfx_expr_free (&expr);
  return chain;
}

TfxChain *
test_build (const char *text, unsigned n_channels)
{
  return test_build_at (text, 48000, n_channels);
}

const char *
test_design_text (const TfxDesign *d, double rate_hz, char *text)
{
  static const char *const families[] = { "butter", "cheby1", "cheby2", "ellip",
    "bessel" };
  static const char *const modes[] = { "low", "high", "band", "stop" };
  char kind[40] = "", edges[48];

  if (d->family == TFX_FAMILY_CHEBYSHEV1)
    snprintf (kind, sizeof kind, " %g dB", d->ripple_db);
  if (d->family == TFX_FAMILY_CHEBYSHEV2)
    snprintf (kind, sizeof kind, " %g dB", d->attenuation_db);
  if (d->family == TFX_FAMILY_ELLIPTIC)
    snprintf (kind, sizeof kind, " %g, %g dB", d->ripple_db, d->attenuation_db);
  if (d->mode == TFX_MODE_LOW_PASS || d->mode == TFX_MODE_HIGH_PASS)
    snprintf (edges, sizeof edges, "%.10g", d->lower_hz);
  else
    snprintf (edges, sizeof edges, "%.10g-%.10g", d->lower_hz, d->upper_hz);
  snprintf (text, TEST_TEXT_SIZE, "%s%s %s order %u, %s Hz of %g Hz",
      families[d->family], kind, modes[d->mode], d->order, edges, rate_hz);
  return text;
}

void
test_noise_f32 (float *samples, size_t n)
{
  for (size_t i = 0; i < n; i++)
    samples[i] = (float)((int)(tap_random () >> 40) - (1 << 23)) * 0x1p-23f;
}

void
test_noise_f64 (double *samples, size_t n)
{
  for (size_t i = 0; i < n; i++)
    samples[i] = tap_random_uniform (-1, 1);
}

static void
random_roots (double radius, double *c1, double *c2)
{
  double r = radius * sqrt (tap_random_uniform (0, 1));

  if (tap_random_below (4)) {
    double angle = tap_random_uniform (0, M_PI);
    *c1 = -2 * r * cos (angle);
    *c2 = r * r;
  } else {
    double other = tap_random_uniform (-radius, radius);
    *c1 = -(r + other);
    *c2 = r * other;
  }
}

void
test_noise_low (double *samples, size_t n_frames, unsigned n_channels)
{
  const TfxDesign design = { .family = TFX_FAMILY_BUTTERWORTH,
    .mode = TFX_MODE_LOW_PASS,
    .order = 12,
    .lower_hz = 0.3 };
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const int n = tfx_design_sections (&design, 1.0, sos);

  test_noise_f64 (samples, n_frames * n_channels);
  for (unsigned c = 0; c < n_channels; c++) {
    for (int k = 0; k < n; k++) {
      double s1 = 0, s2 = 0;

      for (size_t i = 0; i < n_frames; i++) {
        double *x = &samples[i * n_channels + c], y = sos[k].b0 * *x + s1;

        s1 = sos[k].b1 * *x - sos[k].a1 * y + s2;
        s2 = sos[k].b2 * *x - sos[k].a2 * y;
        *x = y;
      }
    }
  }
}

TfxSos
test_random_section (double radius)
{
  TfxSos s = { .b0 = 1 };
  double peak = 0;

  random_roots (radius, &s.a1, &s.a2);
  random_roots (1.0, &s.b1, &s.b2);
  for (int i = 0; i <= 64; i++) {
    TfxComplex h = tfx_response_at (&s, 1, i, 128);
    peak = fmax (peak, hypot (h.re, h.im));
  }
  s.b0 /= peak;
  s.b1 /= peak;
  s.b2 /= peak;
  return s;
}

uint64_t
test_parse_positions (const char *text)
{
  uint64_t positions = 0;
  char name[8];

  for (int n; sscanf (text, " %7[A-Z0-9]%n", name, &n) == 1; text += n) {
    positions |= (uint64_t)1 << tfx_position_find (name);
    n += text[n] == ',';
  }
  return positions;
}

void *
test_alloc (size_t size)
{
  void *memory = malloc (size ? size : 1);

  if (!memory) {
    printf ("Bail out! no memory for %zu bytes\n", size);
    exit (1);
  }
  return memory;
}

double *
test_alloc_f64 (size_t n)
{
  return test_alloc (n * sizeof (double));
}

double *
test_copy_f64 (const double *samples, size_t n)
{
  return memcpy (test_alloc_f64 (n), samples, n * sizeof *samples);
}

TfxChain *
test_chain_of (const TestStage *stages, size_t n_stages)
{
  TfxChain *chain = tfx_chain_new ();

  for (size_t i = 0; chain && i < n_stages; i++) {
    const TestStage *s = &stages[i];
    TfxStage *stage = s->sos ? tfx_stage_new_sections (s->id, s->sos, s->n_sos)
                             : tfx_stage_new_gain (s->id, s->gain);
    TfxChain *longer = stage ? tfx_chain_append (chain, stage) : NULL;
    tfx_stage_unref (&stage);
    tfx_chain_unref (&chain);
    chain = longer;
  }
  if (!chain)
    tap_diag ("no chain");
  return chain;
}

TfxChain *
test_chain_of_one (TfxStage *stage)
{
  TfxChain *chain = tfx_chain_append (NULL, stage);

  tfx_stage_unref (&stage);
  return chain;
}

TestFilter *
test_filter_for (TfxChain *chain, const TfxFilterSpec *spec,
    const TfxBackend *backend)
{
  TestFilter *row = calloc (1, sizeof *row);
  int err = row ? tfx_filter_new (chain, spec, &row->filter) : -1;

  if (err == 0) {
    tfx_filter_lock (row->filter);
    err = tfx_plan_new (&row->filter, 1, backend, &row->plan);
    tfx_filter_unlock (row->filter);
  }
  if (err == 0)
    return row;
  tap_diag ("no plan: error %d", err);
  test_filter_free (&row);
  return NULL;
}

TestFilter *
test_filter_of (const TestStage *stages, size_t n_stages, unsigned n_channels,
    const TfxBackend *backend)
{
  const TfxFilterSpec spec = { 48000, n_channels, TFX_SAMPLE_F64, 0 };
  TfxChain *chain = test_chain_of (stages, n_stages);
  TestFilter *row = chain ? test_filter_for (chain, &spec, backend) : NULL;

  tfx_chain_unref (&chain);
  return row;
}

TestFilter *
test_filter_new (const TfxSos *sos, size_t n_sos, unsigned n_channels,
    const TfxBackend *backend)
{
  const TestStage stage = { tfx_stage_new_id (), sos, n_sos, 0 };

  return test_filter_of (&stage, 1, n_channels, backend);
}

TestFilter *
test_filter_start_chain (TfxChain *chain, unsigned n_channels,
    const char *kernel)
{
  const TfxFilterSpec spec = { 48000, n_channels, TFX_SAMPLE_F64, 0 };
  TestFilter *row = test_filter_for (chain, &spec,
      kernel ? test_backend_for (kernel) : tfx_cpu_backend ());

  tfx_chain_unref (&chain);
  return row;
}

TestFilter *
test_filter_start (TfxStage *stage, unsigned n_channels, const char *kernel)
{
  return test_filter_start_chain (test_chain_of_one (stage), n_channels,
      kernel);
}

void
test_filter_free (TestFilter **row)
{
  TestFilter *r = *row;

  *row = NULL;
  if (!r)
    return;
  if (r->plan) {
    tfx_filter_lock (r->filter);
    tfx_plan_free (&r->plan);
    tfx_filter_unlock (r->filter);
  }
  tfx_filter_unref (&r->filter);
  free (r);
}

int
test_filter_set_chain (TestFilter *row, TfxChain *chain)
{
  int ret;

  tfx_filter_lock (row->filter);
  ret = tfx_filter_set_chain (row->filter, chain);
  tfx_filter_unlock (row->filter);
  tfx_chain_unref (&chain);
  return ret;
}

int
test_filter_set_stage (TestFilter *row, TfxStage *stage)
{
  int ret;

  tfx_filter_lock (row->filter);
  ret = tfx_filter_set_stage (row->filter, stage);
  tfx_filter_unlock (row->filter);
  tfx_stage_unref (&stage);
  return ret;
}

int
test_filter_queue_stage (TestFilter *row, uint64_t frame, TfxStage *stage)
{
  int ret;

  tfx_filter_lock (row->filter);
  ret = tfx_filter_queue_stage (row->filter, frame, stage);
  tfx_filter_unlock (row->filter);
  tfx_stage_unref (&stage);
  return ret;
}

int
test_filter_set_format (TestFilter *row, TfxSample sample, size_t max_frames)
{
  int ret;

  tfx_filter_lock (row->filter);
  ret = tfx_filter_set_format (row->filter, sample, max_frames);
  tfx_filter_unlock (row->filter);
  return ret;
}

TfxReadings
test_filter_read (TestFilter *row, uint64_t id)
{
  TfxReadings readings = { NAN };

  tfx_filter_lock (row->filter);
  tfx_filter_read (row->filter, id, &readings);
  tfx_filter_unlock (row->filter);
  return readings;
}

int
test_filter_run (TestFilter *row, const TfxBlock *in, const TfxBlock *out)
{
  int ret;

  tfx_filter_lock (row->filter);
  ret = tfx_plan_run (row->plan, in, out);
  tfx_filter_unlock (row->filter);
  if (uppers_are_left ()) {
    printf ("Bail out! upper halves of vectors are left in use\n");
    fflush (stdout);
    abort ();
  }
  return ret;
}

int
test_filter_f64 (TestFilter *row, double *samples, unsigned n_channels,
    size_t n_frames)
{
  TfxBlock block =
      tfx_block_interleaved (samples, TFX_SAMPLE_F64, n_channels, n_frames);

  return test_filter_run (row, &block, &block);
}

int
test_filter_f32 (TestFilter *row, float *samples, unsigned n_channels,
    size_t n_frames)
{
  TfxBlock block =
      tfx_block_interleaved (samples, TFX_SAMPLE_F32, n_channels, n_frames);

  return test_filter_run (row, &block, &block);
}

int
test_filter_pieces (TestFilter *row, double *samples, unsigned n_channels,
    size_t n_frames, size_t longest, size_t at, TfxChain *next)
{
  int ret = row ? 0 : -1;

  for (size_t i = 0, n; ret == 0 && i < n_frames; i += n) {
    const size_t end = next && i < at ? at : n_frames;

    if (next && i == at)
      ret = test_filter_set_chain (row, next);
    n = longest > 0 ? 1 + tap_random_below ((unsigned)longest) : n_frames;
    n = n < end - i ? n : end - i;
    if (ret == 0)
      ret = test_filter_f64 (row, samples + i * n_channels, n_channels, n);
  }
  return ret;
}

void
test_check_splits (TapMany *many, const char *what, TfxChain *first,
    TfxChain *next, size_t at, const double *samples, size_t n_frames,
    unsigned n_channels, const char *kernel)
{
  static const size_t longest[] = { 0, 5, 120, 2041 };
  const size_t n = n_frames * n_channels;
  double *x[4];

  for (unsigned i = 0; i < 4; i++) {
    TestFilter *row =
        test_filter_start_chain (tfx_chain_ref (first), n_channels, kernel);

    int ret;

    x[i] = test_copy_f64 (samples, n);
    ret = test_filter_pieces (row, x[i], n_channels, n_frames, longest[i], at,
        next ? tfx_chain_ref (next) : NULL);
    test_filter_free (&row);
    tap_many_check (many,
        ret == 0 && memcmp (x[i], x[0], n * sizeof *samples) == 0,
        "%s, %u channels, %s, blocks of up to %zu: %d, %g", what, n_channels,
        kernel, longest[i], ret, test_difference (x[i], x[0], n));
  }
  for (unsigned i = 0; i < 4; i++)
    free (x[i]);
}

void
test_filter_reset (TestFilter *row)
{
  tfx_filter_lock (row->filter);
  tfx_filter_reset (row->filter);
  tfx_filter_unlock (row->filter);
}

bool
test_filter_is_silent (TestFilter *row)
{
  bool is_silent;

  tfx_filter_lock (row->filter);
  is_silent = tfx_plan_is_silent (row->plan);
  tfx_filter_unlock (row->filter);
  return is_silent;
}

bool
test_filter_is_changing (TestFilter *row)
{
  bool is_changing;

  tfx_filter_lock (row->filter);
  is_changing = tfx_filter_is_changing (row->filter);
  tfx_filter_unlock (row->filter);
  return is_changing;
}

void
test_filter_get_stats (TestFilter *row, TfxStats *stats)
{
  tfx_plan_get_stats (row->plan, stats);
}

void
test_run_f64 (const TfxSos *sos, size_t n_sos, const double *in, double *out,
    size_t n_frames, double (*state)[2])
{
  double (*rest)[2] = NULL;

  if (!state) {
    state = rest = test_alloc (n_sos * sizeof *rest);
    memset (rest, 0, n_sos * sizeof *rest);
  }
  for (size_t n = 0; n < n_frames; n++) {
    double x = in[n];
    for (size_t k = 0; k < n_sos; k++) {
      double y = sos[k].b0 * x + state[k][0];
      state[k][0] = sos[k].b1 * x - sos[k].a1 * y + state[k][1];
      state[k][1] = sos[k].b2 * x - sos[k].a2 * y;
      x = y;
    }
    out[n] = x;
  }
  free (rest);
}

void
test_run_quad (const TfxSos *sos, size_t n_sos, const double *in, TestQuad *out,
    size_t n_frames)
{
  for (size_t n = 0; n < n_frames; n++)
    out[n] = in[n];
  for (size_t k = 0; k < n_sos; k++) {
    const TestQuad b0 = sos[k].b0, b1 = sos[k].b1, b2 = sos[k].b2;
    const TestQuad a1 = sos[k].a1, a2 = sos[k].a2;
    TestQuad s1 = 0, s2 = 0;
    for (size_t n = 0; n < n_frames; n++) {
      TestQuad x = out[n], y = b0 * x + s1;
      s1 = b1 * x - a1 * y + s2;
      s2 = b2 * x - a2 * y;
      out[n] = y;
    }
  }
}

void
test_run_long (const TfxSos *sos, size_t n_sos, const double *in,
    long double *out, size_t n_frames)
{
  for (size_t n = 0; n < n_frames; n++)
    out[n] = in[n];
  for (size_t k = 0; k < n_sos; k++) {
    const long double b0 = sos[k].b0, b1 = sos[k].b1, b2 = sos[k].b2;
    const long double a1 = sos[k].a1, a2 = sos[k].a2;
    long double s1 = 0, s2 = 0;
    for (size_t n = 0; n < n_frames; n++) {
      long double x = out[n], y = b0 * x + s1;
      s1 = b1 * x - a1 * y + s2;
      s2 = b2 * x - a2 * y;
      out[n] = y;
    }
  }
}

TestReference
test_reference_new (const TfxSos *sos, size_t n_sos, const double *in,
    size_t n_frames)
{
  TestReference r = { n_frames, test_alloc (n_frames * sizeof (double)),
    test_alloc (n_frames * sizeof (double)) };
  long double *out = test_alloc (n_frames * sizeof *out);

  test_run_long (sos, n_sos, in, out, n_frames);
  for (size_t n = 0; n < n_frames; n++) {
    r.high[n] = (double)out[n];
    r.low[n] = (double)(out[n] - r.high[n]);
  }
  free (out);
  return r;
}

void
test_reference_clear (TestReference *r)
{
  free (r->high);
  free (r->low);
  *r = (TestReference){ 0 };
}

double
test_error_db (const void *values, TfxSample type, size_t stride, double scale,
    const TestReference *r)
{
  const float *f32 = values;
  const double *f64 = values;
  /* Long double: a response far below one may square to less than the least double. */
  long double error = 0, power = 0;

  for (size_t n = 0; n < r->n; n++) {
    double x = type == TFX_SAMPLE_F32 ? f32[n * stride] : f64[n * stride];
    double d = (x * scale - r->high[n]) - r->low[n];

    error += (long double)d * d;
    power += (long double)r->high[n] * r->high[n];
  }
  return error == 0 ? -999 : (double)(10 * log10l (error / power));
}

double
test_error_db_f64 (const double *values, size_t stride, double scale,
    const TestReference *reference)
{
  return test_error_db (values, TFX_SAMPLE_F64, stride, scale, reference);
}

double
test_difference (const double *have, const double *want, size_t n)
{
  double worst = 0;

  for (size_t i = 0; i < n; i++)
    worst = test_worse (worst, fabs (have[i] - want[i]));
  return worst;
}

double
test_distance (const double *have, const double *want, size_t n)
{
  double worst = test_difference (have, want, n), peak = 0;

  for (size_t i = 0; i < n; i++)
    peak = fmax (peak, fabs (want[i]));
  return peak > 0 ? worst / peak : worst;
}

double
test_relative (const double *have, const double *want, size_t n, double least)
{
  double worst = 0;

  for (size_t i = 0; i < n; i++)
    worst = test_worse (worst,
        fabs (have[i] - want[i]) / fmax (fabs (want[i]), least));
  return worst;
}

bool
test_is_finite (const double *values, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (!isfinite (values[i]))
      return false;
  }
  return true;
}

TestQuadComplex
test_response_quad (const TfxSos *sos, size_t n_sos, double freq_hz,
    double rate_hz)
{
  TestQuad w = 2 * TEST_QUAD_PI * freq_hz / rate_hz;
  TestQuad c1 = test_quad_cos (w), s1 = -test_quad_sin (w);
  TestQuad c2 = c1 * c1 - s1 * s1, s2 = 2 * c1 * s1;
  TestQuadComplex h = { 1, 0 };

  for (size_t k = 0; k < n_sos; k++) {
    TestQuad nr = sos[k].b0 + sos[k].b1 * c1 + sos[k].b2 * c2;
    TestQuad ni = sos[k].b1 * s1 + sos[k].b2 * s2;
    TestQuad dr = 1 + sos[k].a1 * c1 + sos[k].a2 * c2;
    TestQuad di = sos[k].a1 * s1 + sos[k].a2 * s2;
    TestQuad m = dr * dr + di * di;
    TestQuad qr = (nr * dr + ni * di) / m, qi = (ni * dr - nr * di) / m;
    TestQuad re = h.re * qr - h.im * qi;
    h.im = h.re * qi + h.im * qr;
    h.re = re;
  }
  return h;
}

double
test_complex_distance (TestQuadComplex a, TestQuadComplex b)
{
  TestQuad dr = a.re - b.re, di = a.im - b.im;
  TestQuad m = b.re * b.re + b.im * b.im;

  return (double)test_quad_sqrt ((dr * dr + di * di) / m);
}
