/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_catalogue.c: what each class does, against tests/golden/catalogue.txt,
 * and its names, parameters and defaults.
 */
#include "common.h"
#include "lang/expr.h"
#include "plain.h"
#include "tap.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- golden values -------------------------------------------------------- */

#define MAX_POINTS 16
#define MAX_VALUES 256
#define MAX_PATHS 4

typedef struct Path
{
  unsigned from, to;
  size_t n, index[MAX_VALUES];
  double value[MAX_VALUES];
} Path;

typedef struct Case
{
  char text[256];
  double rate_hz;
  unsigned n_channels;
  size_t n_points, n_paths;
  double freq_hz[MAX_POINTS];
  TfxComplex response[MAX_POINTS];
  Path paths[MAX_PATHS];
} Case;

/* Reads a line of a case; false: it is not as catalogue.py writes it. */
static bool
read_line (Case *c, char *line)
{
  TfxComplex *h = &c->response[c->n_points];
  Path *path = &c->paths[c->n_paths];
  int used;

  if (line[0] == 'f')
    return c->n_points < MAX_POINTS &&
           sscanf (line, "f %lf %lf %lf", &c->freq_hz[c->n_points++], &h->re,
               &h->im) == 3;
  if (c->n_paths++ == MAX_PATHS ||
      sscanf (line, "i %u %u%n", &path->from, &path->to, &used) != 2)
    return false;
  path->n = 0;
  for (char *at = line + used; *at == ' '; path->n++) {
    if (path->n == MAX_VALUES)
      return false;
    path->index[path->n] = strtoul (at, &at, 10);
    if (*at != '=')
      return false;
    path->value[path->n] = strtod (at + 1, &at);
  }
  return true;
}

/* Calls check, unless it is NULL, for each case of the golden file; whether there is one
 * whose text begins with start. */
typedef void (*Check) (TapMany *many, const Case *c, double *worst);

static bool
for_cases (const char *start, Check check, TapMany *many, double *worst)
{
  FILE *file = fopen (tap_data (CATALOGUE_FILE), "r");
  char *line = NULL;
  size_t size = 0;
  bool found = false, is_end = !file;
  Case c = { .rate_hz = 0.0 };

  while (!is_end) {
    is_end = getline (&line, &size, file) < 0;
    if (is_end || strncmp (line, "chain ", 6) == 0) {
      found = found || strncmp (c.text, start, strlen (start)) == 0;
      if (check && c.rate_hz > 0.0)
        check (many, &c, worst);
      c.n_points = c.n_paths = 0;
    }
    if (is_end || line[0] == '#' ||
        sscanf (line, "chain %lf %u %255[^\n]", &c.rate_hz, &c.n_channels,
            c.text) == 3 ||
        read_line (&c, line))
      continue;
    printf ("Bail out! not as catalogue.py writes it: %s\n", line);
    exit (1);
  }
  if (file)
    fclose (file);
  free (line);
  return found;
}

static void
check_cases (const char *name, Check check, const char *worst_text)
{
  TapMany many = tap_many (name);
  double worst = -INFINITY;

  for_cases ("", check, &many, &worst);
  tap_diag (worst_text, worst);
  tap_many_check (&many, many.n_cases > 100, "%lu cases", many.n_cases);
  tap_many_end (&many);
}

/* ---- response ---------------------------------------------------------------- */

/* A coefficient of a section is off by up to half a unit of its last place,
 * and SciPy's too; roots and gain are computed to a few units.  `slack` of the
 * response is what that comes to, in units of DBL_EPSILON, by its derivatives
 * with respect to the coefficients; see plain_response(). */
#define SLACK_UNITS 16.0
#define SLACK_RELATIVE 1e-12

/* tfx_chain_response_at() is plain double: four times the bound. */
static void
check_response (TapMany *many, const Case *c, double *worst)
{
  TfxChain *chain = test_build_at (c->text, c->rate_hz, c->n_channels);

  for (size_t i = 0; i < c->n_points; i++) {
    const double f = c->freq_hz[i];
    const TfxComplex wanted = c->response[i];
    const PlainResponse found = plain_response (chain, f, c->rate_hz);
    const TfxComplex h = tfx_chain_response_at (chain, 0, f, c->rate_hz);
    const double error = hypot (found.h.re - wanted.re, found.h.im - wanted.im);
    const double public_error = hypot (h.re - wanted.re, h.im - wanted.im);
    const double bound = SLACK_UNITS * DBL_EPSILON * found.slack +
                         SLACK_RELATIVE * hypot (found.h.re, found.h.im);

    *worst = fmax (*worst, error / bound);
    tap_many_check (many, error <= bound && public_error <= 4.0 * bound,
        "%s at %g Hz: %.17g%+.17gj, not %.17g%+.17gj, off by %.2g, and "
        "tfx_chain_response_at() by %.2g, of %.2g",
        c->text, f, found.h.re, found.h.im, wanted.re, wanted.im, error,
        public_error, bound);
  }
  tfx_chain_unref (&chain);
}

static void
test_response (void)
{
  check_cases ("frequency response", check_response,
      "the largest error is %.2g of the bound for rounding");
}

/* ---- impulse response -------------------------------------------------------- */

static void
check_paths (TapMany *many, const Case *c, double *worst)
{
  TfxChain *chain = test_build_at (c->text, c->rate_hz, c->n_channels);

  tap_many_check (many, c->n_paths > 0, "%s: none", c->text);
  for (const Path *path = c->paths; path < c->paths + c->n_paths; path++) {
    const size_t n = path->index[path->n - 1] + 1;
    double *x = test_alloc_f64 (c->n_channels * n), largest = 0.0;
    const double *found = x + path->to * n;

    memset (x, 0, c->n_channels * n * sizeof *x);
    x[path->from * n] = 1.0;
    plain_run (chain, x, c->n_channels, n);
    for (size_t i = 0; i < path->n; i++)
      largest = fmax (largest, fabs (path->value[i]));
    for (size_t i = 0; i < path->n; i++) {
      const double error = fabs (found[path->index[i]] - path->value[i]);

      *worst = fmax (*worst, error / largest);
      tap_many_check (many, error <= 1e-12 * largest,
          "%s, channel %u to %u, sample %zu: %.17g, not %.17g", c->text,
          path->from, path->to, path->index[i], found[path->index[i]],
          path->value[i]);
    }
    free (x);
  }
  tfx_chain_unref (&chain);
}

static void
test_impulse (void)
{
  check_cases ("impulse response, to 1e-12 of its largest sample", check_paths,
      "at most %.2g off");
}

/* ---- the engine --------------------------------------------------------------- */

#define N_FRAMES 3000

/* Noise through the engine and through plain_run(). */
static void
check_engine (TapMany *many, const Case *c, double *worst)
{
  const size_t n = c->n_channels * (size_t)N_FRAMES;
  TfxChain *chain = test_build_at (c->text, c->rate_hz, c->n_channels);
  double *plain = test_alloc_f64 (n), *engine, sum = 0.0, power = 0.0;
  const TfxFilterSpec spec = { c->rate_hz, c->n_channels, TFX_SAMPLE_F64, 0 };
  TestFilter *row = test_filter_for (chain, &spec, tfx_cpu_backend ());
  TfxBlock block;
  int code = -1;

  test_noise_f64 (plain, n);
  engine = test_copy_f64 (plain, n);
  block = tfx_block_planar (engine, TFX_SAMPLE_F64, c->n_channels, N_FRAMES,
      N_FRAMES);
  if (row)
    code = test_filter_run (row, &block, &block);
  plain_run (chain, plain, c->n_channels, N_FRAMES);
  for (size_t i = 0; i < n; i++) {
    sum += (engine[i] - plain[i]) * (engine[i] - plain[i]);
    power += plain[i] * plain[i];
  }
  *worst = fmax (*worst, 10.0 * log10 (sum / power));
  tap_many_check (many, code == 0 && sum <= 1e-18 * power,
      "%s: code %d, %.1f dB", c->text, code, 10.0 * log10 (sum / power));
  test_filter_free (&row);
  tfx_chain_unref (&chain);
  free (plain);
  free (engine);
}

static void
test_engine (void)
{
  check_cases ("the engine does the same, to -180 dB", check_engine,
      "at most %.1f dB off");
}

/* ---- the table ----------------------------------------------------------------- */

/* The signatures of TorchFX 0.8.0, one by one, but for FIR's conv_mode, which
 * is 'fft' there, and for what is ours: beta, and the classes between
 * BiquadAllPass and LogFilterBank. */
static const char *const signatures[] = {
  "Butterworth(btype, cutoff, order=4, order_scale='linear', fs=None)",
  "LoButterworth(cutoff, order=5, order_scale='linear', fs=None)",
  "HiButterworth(cutoff, order=5, order_scale='linear', fs=None)",
  "Chebyshev1(btype, cutoff, order=4, ripple=0.1, fs=None)",
  "LoChebyshev1(cutoff, order=4, ripple=0.1, fs=None)",
  "HiChebyshev1(cutoff, order=4, ripple=0.1, fs=None)",
  "Chebyshev2(btype, cutoff, order=4, ripple=0.1, fs=None)",
  "LoChebyshev2(cutoff, order=4, ripple=0.1, fs=None)",
  "HiChebyshev2(cutoff, order=4, ripple=0.1, fs=None)",
  "Elliptic(btype, cutoff, order=4, passband_ripple=0.1, "
  "stopband_attenuation=40, fs=None)",
  "LoElliptic(cutoff, order=4, passband_ripple=0.1, "
  "stopband_attenuation=40, fs=None)",
  "HiElliptic(cutoff, order=4, passband_ripple=0.1, "
  "stopband_attenuation=40, fs=None)",
  "Bessel(btype, cutoff, order=4, norm='phase', fs=None)",
  "LoBessel(cutoff, order=4, norm='phase', fs=None)",
  "HiBessel(cutoff, order=4, norm='phase', fs=None)",
  "LinkwitzRiley(btype, cutoff, order=4, order_scale='linear', fs=None)",
  "LoLinkwitzRiley(cutoff, order=4, order_scale='linear', fs=None)",
  "HiLinkwitzRiley(cutoff, order=4, order_scale='linear', fs=None)",
  "HiShelving(cutoff, q, gain, gain_scale='linear', fs=None)",
  "LoShelving(cutoff, q, gain, gain_scale='linear', fs=None)",
  "ParametricEQ(frequency, q, gain, fs=None, q_scale='linear')",
  "Peaking(cutoff, q, gain, gain_scale, fs=None, q_scale='linear')",
  "Notch(cutoff, q, fs=None, q_scale='linear')",
  "AllPass(cutoff, q, fs=None, q_scale='linear')",
  "BiquadLPF(cutoff, q, fs=None, q_scale='linear')",
  "BiquadHPF(cutoff, q, fs=None, q_scale='linear')",
  "BiquadBPF(cutoff, q, fs=None, q_scale='linear')",
  "BiquadBPFPeak(cutoff, q, fs=None, q_scale='linear')",
  "BiquadNotch(cutoff, q, fs=None, q_scale='linear')",
  "BiquadAllPass(cutoff, q, fs=None, q_scale='linear')",
  "LoShelving1(cutoff, gain, gain_scale='linear', fs=None)",
  "HiShelving1(cutoff, gain, gain_scale='linear', fs=None)",
  "Biquad(b0, b1, b2, a0, a1, a2, fs=None)",
  "SOS(sos)",
  "Hum(frequency=50, harmonics=8, q=30, fs=None)",
  "GraphicEQ(gains, f_min=31.25, f_max=16000, fs=None)",
  "RIAA(mode='playback', fs=None)",
  "Weighting(curve, fs=None)",
  "LogFilterBank(n_bands, f_min=20, f_max=20000, q=1.414, fs=None)",
  "Multiband(crossovers, chain, chain, order=4, fs=None)",
  "FIR(b, conv_mode='auto', channel=None, delay=0, phase='original')",
  "Convolve(location, mix=1, conv_mode='auto', channel=None, delay=0, "
  "phase='original', layout=None)",
  "HRIR(location, conv_mode='auto', azimuth=None, elevation=None)",
  "DesignableFIR(cutoff, num_taps, fs=None, pass_zero=True, "
  "window='hamming', conv_mode='auto', beta=None, delay=0)",
  "Curve(points, phase='linear', taps=None, conv_mode='auto', fs=None)",
  "LoudnessContour(phon, reference=80, phase='minimum', taps=None, "
  "conv_mode='auto', fs=None)",
  "LinearPhase(chain, taps=None, conv_mode='auto', fs=None)",
  "Gain(gain, gain_type='amplitude', clamp=False)",
  "Mix(gains)",
  "Width(amount)",
  "Crossfeed(frequency=700, level=4.5, fs=None)",
  "Reverb(room_size=0.5, damping=0.5, mix=0.3, fs=None)",
  "Echo(delay=4410, decay=0.5, mix=0.5)",
  "Delay(delay_samples=None, bpm=None, delay_time='1/8', fs=None, "
  "feedback=0.3, mix=0.2, taps=3, strategy='mono')",
  "Align(delay, unit='ms')",
  "Compressor(threshold=-20, ratio=4, attack=0.005, release=0.05, knee=6, "
  "makeup_gain=0, detector='peak', fs=None, link=False, key=None, "
  "key_filter=None)",
  "Expander(threshold=-40, ratio=2, attack=0.005, release=0.05, knee=6, "
  "floor=None, detector='peak', fs=None, link=False, key=None, "
  "key_filter=None)",
  "Gate(threshold=-50, attack=0.001, release=0.05, floor=-80, knee=3, "
  "detector='peak', fs=None, link=False, key=None, key_filter=None)",
  "DynamicEQ(frequency, q, threshold=-30, ratio=4, attack=0.005, "
  "release=0.05, range=-12, fs=None, link=False)",
  "DeEss(frequency=6000, threshold=-30, ratio=4, attack=0.001, "
  "release=0.05, range=-12, fs=None, link=False)",
  "Limiter(threshold=-1, lookahead=0.005, release=0.05, fs=None, "
  "link=False, true_peak=False)",
  "Normalize(peak=1, strategy='peak', window=3, max_gain=30)",
  "Loudness(target=-23, lookahead=3, speed=3, max_gain=20, fs=None)",
  "Denoise(reduction=12, learn=None, smoothing=0.4, fs=None, link=False, "
  "profile=None)",
};

static void
test_signatures (void)
{
  size_t n = sizeof signatures / sizeof signatures[0];
  TapMany many = tap_many ("names, order and defaults");

  tap_check (tfx_catalogue_n_classes () == n, "%zu classes",
      tfx_catalogue_n_classes ());
  for (size_t i = 0; i < n && i < tfx_catalogue_n_classes (); i++) {
    const TfxClass *klass = tfx_catalogue_class (i);
    char text[256];
    size_t used = (size_t)snprintf (text, sizeof text, "%s(", klass->name);

    for (unsigned k = 0; k < klass->n_params; k++) {
      const TfxParam *param = &klass->params[k];
      const TfxValue *value = &param->initial;
      const bool is_word = value->type == TFX_VALUE_WORD;
      char number[32];
      const char *initial = value->type == TFX_VALUE_NONE     ? "None"
                            : is_word                         ? value->word
                            : value->type == TFX_VALUE_NUMBER ? number
                            : value->number                   ? "True"
                                                              : "False";

      for (unsigned c = 0; k == klass->n_positional && c < klass->min_chains;
           c++)
        used += (size_t)snprintf (text + used, sizeof text - used, "%schain",
            k + c ? ", " : "");
      snprintf (number, sizeof number, "%g", value->number);
      used += (size_t)snprintf (text + used, sizeof text - used, "%s%s",
          text[used - 1] == '(' ? "" : ", ", param->name);
      if (!(param->flags & TFX_PARAM_REQUIRED))
        used += (size_t)snprintf (text + used, sizeof text - used,
            is_word ? "='%s'" : "=%s", initial);
    }
    if (klass->chain_name)
      used += (size_t)snprintf (text + used, sizeof text - used, ", %s=None",
          klass->chain_name);
    snprintf (text + used, sizeof text - used, ")");
    tap_many_check (&many, strcmp (text, signatures[i]) == 0, "%s, not %s",
        text, signatures[i]);
    tap_many_check (&many, tfx_catalogue_find (klass->name) == klass,
        "%s: not found by its name", klass->name);
    for (size_t k = 0; klass->aliases[k]; k++)
      tap_many_check (&many, tfx_catalogue_find (klass->aliases[k]) == klass,
          "%s: not found", klass->aliases[k]);
  }
  tap_many_end (&many);
  tap_check (!tfx_catalogue_find ("Wave") && !tfx_catalogue_find ("") &&
                 !tfx_catalogue_class (n),
      "nothing else");
}

/* Programs make properties of the parameters and rely on this. */
static void
test_table (void)
{
  TapMany many = tap_many ("the table holds together");

  for (size_t i = 0; i < tfx_catalogue_n_classes (); i++) {
    const TfxClass *klass = tfx_catalogue_class (i);

    tap_many_check (&many,
        klass->doc && klass->doc[0] && klass->n_params > 0 &&
            klass->n_params <= TFX_CLASS_MAX_PARAMS,
        "%s: %u parameters", klass->name, klass->n_params);
    for (unsigned k = 0; k < klass->n_params; k++) {
      const TfxParam *p = &klass->params[k];
      const TfxValue *v = &p->initial;
      bool number = v->type == TFX_VALUE_NUMBER;

      tap_many_check (&many, p->doc && p->doc[0] && p->unit, "%s.%s: no text",
          klass->name, p->name);
      tap_many_check (&many,
          (v->type & p->types) ||
              (!(p->types & ~(TFX_VALUE_LIST | TFX_VALUE_TEXT)) &&
                  v->type == TFX_VALUE_NONE),
          "%s.%s: the default has another type", klass->name, p->name);
      tap_many_check (&many,
          !number || (v->number >= p->minimum && v->number <= p->maximum),
          "%s.%s: the default is out of range", klass->name, p->name);
      tap_many_check (&many,
          !(p->types & TFX_VALUE_LIST) ||
              (p->min_list >= 1 && p->min_list <= p->max_list),
          "%s.%s: list of %zu to %zu", klass->name, p->name, p->min_list,
          p->max_list);
      tap_many_check (&many,
          !(p->types & TFX_VALUE_NUMBER) || p->minimum < p->maximum,
          "%s.%s: range", klass->name, p->name);
    }
  }
  tap_many_end (&many);
}

/* What documentation promises and no golden value shows. */
static void
test_promises (void)
{
  static const struct
  {
    const char *text;
    double freq_hz, gain;
  } cases[] = {
    /* gains in dB are the gains of the output */
    { "HiShelving(2000, 0.7, 6, 'db')", 23999.99, 1.9952623149688795 },
    { "HiShelving(2000, 0.7, 6, 'db')", 0.01, 1 },
    { "LoShelving(2000, 0.7, -6, 'db')", 0.01, 0.5011872336272722 },
    { "LoShelving(2000, 0.7, 4)", 0.01, 4 },
    { "ParametricEQ(1000, 3, 6)", 1000, 1.9952623149688795 },
    { "Peaking(1000, 3, -20, 'db')", 1000, 0.1 },
    { "Peaking(1000, 3, 0.25, 'linear')", 1000, 0.25 },
    { "BiquadBPFPeak(1000, 3)", 1000, 3 },
    { "BiquadBPF(1000, 3)", 1000, 1 },
    /* a bandwidth of two octaves at 48 kHz, by the cookbook's formula */
    { "BiquadBPF(8000, 2, q_scale='octaves')", 5000, 0.8604844175298837 },
    { "ParametricEQ(8000, 2, 9, q_scale='octaves')", 5000, 2.1195692058136637 },
    /* -3 dB, -6 dB, ripple and attenuation at the cutoff */
    { "HiButterworth(700, 7)", 700, 0.7071067811865476 },
    { "Butterworth('bandpass', [300, 3400])", 3400, 0.7071067811865476 },
    { "LoLinkwitzRiley(700)", 700, 0.5 },
    { "LoChebyshev1(700, ripple=3)", 700, 0.7079457843841379 },
    { "HiChebyshev2(700, ripple=40)", 700, 0.01 },
    { "LoElliptic(700, 5, 3)", 700, 0.7079457843841379 },
    /* the halves of a crossover */
    { "LoLinkwitzRiley(700) + HiLinkwitzRiley(700)", 500, 1 },
    { "LoLinkwitzRiley(700, 8) + HiLinkwitzRiley(700, 8)", 700, 1 },
    { "LoLinkwitzRiley(700, 2) + (HiLinkwitzRiley(700, 2) | Gain(-1))", 800,
        1 },
    { "LoLinkwitzRiley(700, 6) + (HiLinkwitzRiley(700, 6) | Gain(-1))", 700,
        1 },
    { "AllPass(900, 2)", 1000, 1 },
  };
  TapMany many = tap_many ("gains that are promised");

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    TfxChain *chain = test_build (cases[i].text, 1);
    const TfxComplex h = plain_response (chain, cases[i].freq_hz, 48000).h;
    const double found = hypot (h.re, h.im);

    tap_many_check (&many, fabs (found / cases[i].gain - 1) < 1e-9,
        "%s at %g Hz: %.12g, not %.12g", cases[i].text, cases[i].freq_hz, found,
        cases[i].gain);
    tfx_chain_unref (&chain);
  }
  tap_many_end (&many);
}

/* Each class of the table is in the golden file, but for those that other tests hold
 * against their formulas and curves. */
static void
test_covered (void)
{
  static const char elsewhere[] = " Convolve GraphicEQ HRIR RIAA Weighting ";
  TapMany many = tap_many ("every class has golden values");

  for (size_t i = 0; i < tfx_catalogue_n_classes (); i++) {
    const TfxClass *klass = tfx_catalogue_class (i);
    char start[64], name[64];

    snprintf (start, sizeof start, "%s(", klass->name);
    snprintf (name, sizeof name, " %s ", klass->name);
    tap_many_check (&many,
        klass->kind == TFX_CLASS_DYNAMICS || /* test_dynamics.c */
            klass->kind == TFX_CLASS_MIX ||  /* test_channels.c */
            strstr (elsewhere, name) || for_cases (start, NULL, NULL, NULL),
        "%s has none", klass->name);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "response", test_response },
  { "impulse", test_impulse },
  { "engine", test_engine },
  { "signatures", test_signatures },
  { "table", test_table },
  { "promises", test_promises },
  { "covered", test_covered },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
