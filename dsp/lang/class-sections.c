/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-sections.c: classes of single sections: those of the Audio EQ Cookbook, rows
 * and a bank of them, and sections given by their coefficients. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "class.h"
#include "design/rbj.h"
#include "error.h"

/* ---- one section ------------------------------------------------------------------ */

#define MAX_GAIN_DB 120.0

/* Whether gain is in decibels: gain_scale says it, or there is no gain_scale. */
static bool
gain_is_db (const TfxNode *node)
{
  return !tfx_class_has (node, "gain_scale") ||
         tfx_class_is (node, "gain_scale", "db");
}

static int
biquad_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const double gain =
      tfx_class_has (node, "gain") ? tfx_class_number (node, "gain") : 1.0;

  if (gain_is_db (node) && fabs (gain) > MAX_GAIN_DB)
    return tfx_error_set (error, -ERANGE,
        "gain of %s is %s dB, out of range (-120 to 120 dB)", thing,
        TFX_NUMBER_TEXT (gain));
  if (!gain_is_db (node) && (gain < 1e-6 || gain > 1e6))
    return tfx_error_set (error, -ERANGE,
        "gain of %s is %s, out of range for a factor (1e-06 to 1e+06); for "
        "decibels add gain_scale='db'",
        thing, TFX_NUMBER_TEXT (gain));
  return 0;
}

/* The quality factor of a section: its q, or that of a bandwidth between the analog
 * points of half the gain in dB (of -3 dB), mapped to the rate as in the Audio EQ
 * Cookbook. */
static double
find_q (const TfxBuild *build, const TfxNode *node, double freq_hz)
{
  const double q =
      tfx_class_has (node, "q") ? tfx_class_number (node, "q") : 1.0;
  const double w = 2.0 * M_PI *
                   tfx_class_clamp_frequency (build, freq_hz, 1e-6) /
                   build->rate_hz;

  if (!tfx_class_has (node, "q_scale") ||
      !tfx_class_is (node, "q_scale", "octaves"))
    return q;
  return 0.5 / sinh (0.5 * M_LN2 * q * w / sin (w));
}

/* The section at *freq_hz, or at the nearest frequency with a stable one, which
 * *freq_hz becomes. */
static int
make_section (const TfxBuild *build, TfxRbjKind kind, const char *param,
    double *freq_hz, double q, double gain, TfxSos *sos)
{
  const double asked = *freq_hz;
  int code = tfx_rbj_section (kind, asked, q, gain, build->rate_hz, sos);

  for (double margin = 1e-6; code < 0 && margin < 0.11; margin *= 10.0) {
    *freq_hz = tfx_class_clamp_frequency (build, asked, margin);
    code = tfx_rbj_section (kind, *freq_hz, q, gain, build->rate_hz, sos);
    if (code == 0)
      tfx_class_fit_frequency (build, param, -1, asked, margin);
  }
  return code < 0 ? tfx_class_refuse (build,
                        "its section is unstable in double precision")
                  : 0;
}

static int
biquad_design (TfxBuild *build, const TfxNode *node)
{
  const char *param = tfx_class_has (node, "cutoff") ? "cutoff" : "frequency";
  double gain = 1.0, freq_hz = tfx_class_number (node, param);
  TfxSos sos;
  int code;

  if (tfx_class_has (node, "gain")) {
    gain = tfx_class_number (node, "gain");
    if (gain_is_db (node))
      gain = pow (10.0, gain / 20.0);
  }
  code = make_section (build, (TfxRbjKind)node->klass->variant, param, &freq_hz,
      find_q (build, node, freq_hz), gain, &sos);
  return code < 0 ? code : tfx_class_make_sections (build, &sos, NULL, 1);
}

const TfxClassOps tfx_biquad_ops = {
  .design = biquad_design,
  .check = biquad_check,
  .n_sections = 1,
};

/* ---- Hum -------------------------------------------------------------------------- */

/* Notches at the frequency and its multiples, all as wide as the first.  Those above
 * half the rate change nothing. */
static int
hum_design (TfxBuild *build, const TfxNode *node)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const size_t n = (size_t)tfx_class_number (node, "harmonics");
  const double q = tfx_class_number (node, "q");
  const double freq_hz = tfx_class_fit_frequency (build, "frequency", -1,
      tfx_class_number (node, "frequency"), 1e-6);

  for (size_t i = 0; i < n; i++) {
    const double times = (double)(i + 1);

    if (tfx_rbj_section (TFX_RBJ_NOTCH, times * freq_hz, times * q, 1.0,
            build->rate_hz, &sos[i]) < 0)
      sos[i] = (TfxSos){ 1.0, 0.0, 0.0, 0.0, 0.0 };
  }
  return tfx_class_make_sections (build, sos, NULL, n);
}

const TfxClassOps tfx_hum_ops = {
  .design = hum_design,
  .sections = "harmonics",
};

/* ---- LogFilterBank ---------------------------------------------------------------- */

/* A sum of band-passes, whose centres are spread evenly over the logarithm of the
 * frequency from f_min to f_max. */
static int
bank_design (TfxBuild *build, const TfxNode *node)
{
  const size_t n = (size_t)tfx_class_number (node, "n_bands");
  const double q = tfx_class_number (node, "q");
  double f_min = tfx_class_number (node, "f_min");
  double f_max = tfx_class_number (node, "f_max");
  TfxChain *branches[TFX_EXPR_MAX_BANDS] = { NULL };
  TfxSos sos;
  int code =
      make_section (build, TFX_RBJ_BAND_PASS, "f_max", &f_max, q, 1.0, &sos);

  if (code == 0 && f_min >= f_max)
    f_min = tfx_class_fit_frequency (build, "f_min", -1, f_min, 0.01);
  if (code == 0)
    code =
        make_section (build, TFX_RBJ_BAND_PASS, "f_min", &f_min, q, 1.0, &sos);
  for (size_t k = 0; k < n && code == 0; k++) {
    const double part = (double)k / (double)(n - 1);
    double centre = k == n - 1 ? f_max : f_min * pow (f_max / f_min, part);
    TfxStage *band;

    code = make_section (build, TFX_RBJ_BAND_PASS, "a centre", &centre, q, 1.0,
        &sos);
    if (code < 0)
      break;
    band = tfx_stage_new_sections (TFX_ID_OF_BAND (node->id, k), &sos, 1);
    branches[k] = tfx_chain_append (NULL, band);
    tfx_stage_unref (&band);
    if (!branches[k])
      code = tfx_class_refuse (build, NULL);
  }
  if (code == 0)
    code = tfx_class_take (build, tfx_stage_new_sum (node->id, branches, n));
  for (size_t k = 0; k < n; k++)
    tfx_chain_unref (&branches[k]);
  return code;
}

const TfxClassOps tfx_bank_ops = {
  .design = bank_design,
  .check = tfx_class_check_range,
  .sections = "n_bands",
  .is_rebuilt = true,
};

/* ---- Crossfeed -------------------------------------------------------------------- */

/* direct + low (1 - a) / (1 - a / z), a one-pole low-pass and the input. */
static TfxSos
one_pole (double freq_hz, double rate_hz, double direct, double low)
{
  const double a = exp (-2.0 * M_PI * freq_hz / rate_hz);

  return (TfxSos){ direct + low * (1.0 - a), -direct * a, 0.0, -a, 0.0 };
}

/* As libbs2b 3.1 of B. Mikhaylov has it: each channel with its lows lowered, and the
 * lows of the other one.  The gains at 0 Hz differ by the level. */
static int
crossfeed_design (TfxBuild *build, const TfxNode *node)
{
  const double level_db = tfx_class_number (node, "level");
  const double freq_hz = tfx_class_fit_frequency (build, "frequency", -1,
      tfx_class_number (node, "frequency"), 1e-6);
  const double low_db = -5.0 / 6.0 * level_db - 3.0;
  const double low = pow (10.0, low_db / 20.0);
  const double high = 1.0 - pow (10.0, (level_db / 6.0 - 3.0) / 20.0);
  const double high_hz = freq_hz * exp2 ((low_db - 20.0 * log10 (high)) / 12.0);
  const double gain = 1.0 / (1.0 - high + low);
  const TfxSos own = one_pole (high_hz, build->rate_hz, gain, -gain * high);
  const TfxSos other = one_pole (freq_hz, build->rate_hz, 0.0, gain * low);
  const double one = 1.0, swap[] = { 0.0, 1.0, 1.0, 0.0 };
  const bool is_mono = build->n_channels == 1;
  TfxChain *branches[2] = { NULL };
  bool is_made;
  int code = tfx_class_make_mix (build, TFX_ID_OF_BAND (node->id, 2),
      is_mono ? &one : swap, is_mono ? 1 : 4, is_mono ? 1 : 2);

  if (code < 0)
    return code;
  is_made =
      tfx_chain_take (&branches[0],
          tfx_stage_new_sections (TFX_ID_OF_BAND (node->id, 0), &own, 1)) ==
          0 &&
      tfx_chain_take (&branches[1],
          tfx_stage_new_sections (TFX_ID_OF_BAND (node->id, 1), &other, 1)) ==
          0;
  is_made = tfx_chain_take (&branches[1], build->stage) == 0 && is_made;
  code = tfx_class_take (build,
      is_made ? tfx_stage_new_sum (node->id, branches, 2) : NULL);
  for (unsigned i = 0; i < 2; i++)
    tfx_chain_unref (&branches[i]);
  return code;
}

const TfxClassOps tfx_crossfeed_ops = {
  .design = crossfeed_design,
  .check_channels = tfx_class_check_stereo,
  .n_sections = 2,
  .is_rebuilt = true,
};

/* ---- Biquad, SOS ------------------------------------------------------------------ */

/* b0 b1 b2 a0 a1 a2, as a row of SciPy's sos. */
#define N_NUMBERS 6

/* The section of a row: a list has several, a Biquad has six numbers. */
static TfxSos
divide (const TfxNode *node, size_t row, double *a0)
{
  const TfxValue *values = node->values;
  double r[N_NUMBERS];

  for (size_t i = 0; i < N_NUMBERS; i++)
    r[i] = values->type == TFX_VALUE_LIST ? values->list[row * N_NUMBERS + i]
                                          : values[i].number;
  *a0 = r[3];
  return (TfxSos){ r[0] / r[3], r[1] / r[3], r[2] / r[3], r[4] / r[3],
    r[5] / r[3] };
}

static size_t
count_rows (const TfxNode *node)
{
  return node->values->type == TFX_VALUE_LIST ? node->values->n_list / N_NUMBERS
                                              : 1;
}

static int
given_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  char place[40] = "";
  double a0;

  for (size_t i = 0; i < count_rows (node); i++) {
    const TfxSos sos = divide (node, i, &a0);

    if (node->values->type == TFX_VALUE_LIST)
      snprintf (place, sizeof place, "section %zu of ", i);
    if (a0 == 0.0)
      return tfx_error_set (error, -ERANGE, "a0 of %s%s is 0", place, thing);
    if (!isfinite (sos.b0) || !isfinite (sos.b1) || !isfinite (sos.b2))
      return tfx_error_set (error, -ERANGE,
          "%s%s is not finite after division by its a0, %s", place, thing,
          TFX_NUMBER_TEXT (a0));
    if (!tfx_sos_is_stable (&sos))
      return tfx_error_set (error, -ERANGE,
          "%s%s is unstable: a1 = %.15g and a2 = %.15g (divided by a0) "
          "give a pole on or outside the unit circle",
          place, thing, sos.a1, sos.a2);
  }
  return 0;
}

static void
given_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections += count_rows (node);
}

static int
given_design (TfxBuild *build, const TfxNode *node)
{
  TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
  const size_t n = count_rows (node);
  double a0;

  for (size_t i = 0; i < n; i++)
    sos[i] = divide (node, i, &a0);
  return tfx_class_make_sections (build, sos, NULL, n);
}

const TfxClassOps tfx_given_ops = {
  .design = given_design,
  .check = given_check,
  .measure = given_measure,
};
