/* SPDX-License-Identifier: LGPL-2.1-or-later
 * common.c: see common.h.
 */
#include "common.h"
#include "core/backend.h"
#include "cpu/kernels.h"
#include "tap.h"
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

bool
test_environment_has (const char *name)
{
  const char *text = getenv (name);

  return text && *text && strcmp (text, "0") != 0;
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

static double
error_db (long double error, long double power)
{
  return error == 0 ? -999 : (double)(10 * log10l (error / power));
}

/* Long double sums: a response far below one may square to less than the least
 * double. */
double
test_error_db_f32 (const float *values, size_t stride, double scale,
    const TestReference *r)
{
  long double error = 0, power = 0;

  for (size_t n = 0; n < r->n; n++) {
    double d = (values[n * stride] * scale - r->high[n]) - r->low[n];
    error += (long double)d * d;
    power += (long double)r->high[n] * r->high[n];
  }
  return error_db (error, power);
}

double
test_error_db_f64 (const double *values, size_t stride, double scale,
    const TestReference *r)
{
  long double error = 0, power = 0;

  for (size_t n = 0; n < r->n; n++) {
    double d = (values[n * stride] * scale - r->high[n]) - r->low[n];
    error += (long double)d * d;
    power += (long double)r->high[n] * r->high[n];
  }
  return error_db (error, power);
}

double
test_distance (const double *have, const double *want, size_t n)
{
  double worst = 0, peak = 0;

  for (size_t i = 0; i < n; i++) {
    double d = fabs (have[i] - want[i]);
    if (!(d <= worst))
      worst = d;
    peak = fmax (peak, fabs (want[i]));
  }
  return peak > 0 ? worst / peak : worst;
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
