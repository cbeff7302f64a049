/* SPDX-License-Identifier: LGPL-2.1-or-later
 * biquad.c: the classes of one section, and the bank of them. */
#include <errno.h>
#include <math.h>

#include "class.h"
#include "error.h"
#include "number.h"
#include "design/rbj.h"

static const char unstable[] = "its section is unstable in double precision";

/* gain is in decibels if gain_scale says so, or if there is no gain_scale. */
static bool
gain_is_db (const TfxNode *node)
{
  return !tfx_class_has (node, "gain_scale") ||
         tfx_class_is (node, "gain_scale", "db");
}

#define MAX_GAIN_DB 120.0

int
tfx_biquad_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  double gain;

  if (!tfx_class_has (node, "gain"))
    return 0;
  gain = tfx_class_number (node, "gain");
  if (gain_is_db (node)) {
    if (fabs (gain) > MAX_GAIN_DB)
      return tfx_error_set (error, -ERANGE,
          "gain of %s is %s dB, out of range (-120 to 120 dB)", thing,
          TFX_NUMBER_TEXT (gain));
  } else if (gain < 1e-6 || gain > 1e6) {
    return tfx_error_set (error, -ERANGE,
        "gain of %s is %s, out of range for a factor (1e-06 to 1e+06); for "
        "decibels add gain_scale='db'",
        thing, TFX_NUMBER_TEXT (gain));
  }
  return 0;
}

void
tfx_biquad_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections++;
}

/* A section at the frequency or the nearest one that makes a stable one, which
 * takes its place. */
static int
find_section (const TfxBuild *build, TfxRbjKind kind, const char *param,
    double *freq_hz, double q, double gain, TfxSos *sos)
{
  TfxBuild quiet = *build;
  double asked = *freq_hz;
  int code = tfx_rbj_section (kind, asked, q, gain, build->rate_hz, sos);

  quiet.report = NULL;
  for (double margin = 1e-6; code < 0 && margin < 0.11; margin *= 10.0) {
    *freq_hz = tfx_class_fit_frequency (&quiet, param, -1, asked, margin);
    code = tfx_rbj_section (kind, *freq_hz, q, gain, build->rate_hz, sos);
    if (code == 0)
      tfx_class_fit_frequency (build, param, -1, asked, margin);
  }
  return code < 0 ? tfx_class_refuse (build, unstable) : 0;
}

int
tfx_biquad_design (const TfxBuild *build, const TfxNode *node, TfxMoved *moved)
{
  const char *frequency =
      tfx_class_has (node, "cutoff") ? "cutoff" : "frequency";
  double gain = 1.0, freq_hz = tfx_class_number (node, frequency);
  double q = tfx_class_has (node, "q") ? tfx_class_number (node, "q") : 1.0;

  if (tfx_class_has (node, "gain")) {
    gain = tfx_class_number (node, "gain");
    if (gain_is_db (node))
      gain = pow (10.0, gain / 20.0);
  }
  moved->n_sos = 1;
  return find_section (build, (TfxRbjKind)node->klass->ops->variant, frequency,
      &freq_hz, q, gain, moved->sos);
}

/* ---- LogFilterBank --------------------------------------------------------- */

int
tfx_bank_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  double f_min = tfx_class_number (node, "f_min");
  double f_max = tfx_class_number (node, "f_max");

  if (f_min < f_max)
    return 0;
  return tfx_error_set (error, -ERANGE,
      "f_min of %s is %s Hz, but must be lower than f_max, %s Hz", thing,
      TFX_NUMBER_TEXT (f_min), TFX_NUMBER_TEXT (f_max));
}

void
tfx_bank_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->sections += (size_t)tfx_class_number (node, "n_bands");
}

/* A chain of one band. */
static TfxChain *
make_branch (uint64_t id, const TfxSos *sos)
{
  TfxStage *stage = tfx_stage_new_sections (id, sos, 1);
  TfxChain *branch = tfx_chain_append (NULL, stage);

  tfx_stage_unref (&stage);
  return branch;
}

/* The two ends, or the nearest ones that make stable sections. */
static int
fit_ends (const TfxBuild *build, const TfxNode *node, double *f_min,
    double *f_max)
{
  double q = tfx_class_number (node, "q");
  TfxSos sos;
  int code;

  *f_min = tfx_class_number (node, "f_min");
  *f_max = tfx_class_number (node, "f_max");
  code = find_section (build, TFX_RBJ_BAND_PASS, "f_max", f_max, q, 1.0, &sos);
  if (code == 0 && *f_min >= *f_max)
    *f_min = tfx_class_fit_frequency (build, "f_min", -1, *f_min, 0.01);
  if (code == 0)
    code =
        find_section (build, TFX_RBJ_BAND_PASS, "f_min", f_min, q, 1.0, &sos);
  return code;
}

/* The centres are spread evenly over the logarithm of the frequency from f_min
 * to f_max, both of which are centres. */
static int
make_branches (const TfxBuild *build, const TfxNode *node, TfxChain **branches,
    size_t n)
{
  double q = tfx_class_number (node, "q"), f_min, f_max;
  int code = fit_ends (build, node, &f_min, &f_max);

  for (size_t k = 0; k < n && code == 0; k++) {
    double part = (double)k / (double)(n - 1);
    double centre = k == n - 1 ? f_max : f_min * pow (f_max / f_min, part);
    TfxSos sos;

    code = find_section (build, TFX_RBJ_BAND_PASS, "a centre", &centre, q, 1.0,
        &sos);
    if (code < 0)
      break;
    branches[k] = make_branch (node->band_ids[k], &sos);
    if (!branches[k])
      code = tfx_class_refuse (build, NULL);
  }
  return code;
}

int
tfx_bank_build (const TfxBuild *build, const TfxNode *node, TfxStage **stage)
{
  size_t n = (size_t)tfx_class_number (node, "n_bands");
  TfxChain *branches[TFX_EXPR_MAX_BANDS] = { NULL };
  int code = make_branches (build, node, branches, n);

  if (code == 0) {
    *stage = tfx_stage_new_sum (node->id, branches, n);
    if (!*stage)
      code = tfx_class_refuse (build, NULL);
  }
  for (size_t k = 0; k < n; k++)
    tfx_chain_unref (&branches[k]);
  return code;
}
