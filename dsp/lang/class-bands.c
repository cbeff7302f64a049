/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-bands.c: Multiband, a chain for each band of a crossover.
 *
 * A Linkwitz-Riley low-pass L and high-pass H are two Butterworth filters in series.
 * B(s) B(-s) = 1 + (-1)^n s^2n for the Butterworth polynomial B of order n, so
 *
 *   L = 1 / B(s)^2,  H = (-1)^n s^2n / B(s)^2,  L + H = B(-s) / B(s) = A,
 *
 * an all-pass.  Of m crossovers, the band below the k-th is
 * H_1 ... H_k-1 L_k A_k+1 ... A_m, and the last one H_1 ... H_m.  The all-passes make the
 * sum of all bands A_1 ... A_m. */
#include <errno.h>
#include <string.h>

#include "class.h"
#include "error.h"

/* Sections of B, at most. */
#define MAX_SECTIONS ((TFX_BANDS_MAX_ORDER / 2 + 1) / 2)

typedef struct Crossover
{
  size_t n; /* sections of B */
  TfxSos low[2 * MAX_SECTIONS], high[2 * MAX_SECTIONS], all[MAX_SECTIONS];
} Crossover;

static size_t
count_crossovers (const TfxNode *node)
{
  const TfxValue *freq_hz = tfx_class_value (node, "crossovers");

  return freq_hz->type == TFX_VALUE_LIST ? freq_hz->n_list : 1;
}

static double
get_crossover (const TfxNode *node, size_t i)
{
  const TfxValue *freq_hz = tfx_class_value (node, "crossovers");

  return freq_hz->type == TFX_VALUE_LIST ? freq_hz->list[i] : freq_hz->number;
}

static int
bands_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const unsigned order = (unsigned)tfx_class_number (node, "order");
  const size_t n = count_crossovers (node);

  if (order % 2 != 0)
    return tfx_error_set (error, -ERANGE,
        "order of %s is %u, but must be even, from 2 to %d", thing, order,
        TFX_BANDS_MAX_ORDER);
  for (size_t i = 1; i < n; i++) {
    if (!(get_crossover (node, i - 1) < get_crossover (node, i)))
      return tfx_error_set (error, -ERANGE,
          "crossovers of %s are not in rising order: %s Hz, %s Hz", thing,
          TFX_NUMBER_TEXT (get_crossover (node, i - 1)),
          TFX_NUMBER_TEXT (get_crossover (node, i)));
  }
  if (node->n_children != n + 1)
    return tfx_error_set (error, -EINVAL,
        "%s has %zu chains, but %zu crossover%s make%s %zu bands; the chain of "
        "a band that passes unchanged is None",
        thing, node->n_children, n, n == 1 ? "" : "s", n == 1 ? "s" : "",
        n + 1);
  return 0;
}

/* Each band has a low-pass or high-pass for the crossovers up to its upper end, and an
 * all-pass for the others. */
static void
bands_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const size_t order = (size_t)tfx_class_number (node, "order");
  const size_t n = count_crossovers (node), n_part = (order / 2 + 1) / 2;

  extent->sections += n_part * (n * (n + 3) + n * (n - 1) / 2);
}

/* Makes the filters of a frequency, or of the nearest one with stable sections. */
static int
make_crossover (TfxBuild *build, const TfxNode *node, size_t index,
    Crossover *c)
{
  TfxSos low[TFX_DESIGN_MAX_SECTIONS], high[TFX_DESIGN_MAX_SECTIONS];
  const double asked_hz = get_crossover (node, index), rate_hz = build->rate_hz;
  const int place = count_crossovers (node) > 1 ? (int)index : -1;
  TfxDesign design = { .family = TFX_FAMILY_BUTTERWORTH,
    .order = (unsigned)tfx_class_number (node, "order") / 2 };
  int n = -EINVAL;

  for (double margin = 1e-6; n < 0 && margin < 0.11; margin *= 10.0) {
    design.lower_hz = tfx_class_clamp_frequency (build, asked_hz, margin);
    design.mode = TFX_MODE_LOW_PASS;
    n = tfx_designer_sections (build->designer, &design, rate_hz, low);
    design.mode = TFX_MODE_HIGH_PASS;
    if (n > 0)
      n = tfx_designer_sections (build->designer, &design, rate_hz, high);
    if (n > 0)
      tfx_class_fit_frequency (build, "crossovers", place, asked_hz, margin);
  }
  if (n < 0)
    return tfx_class_refuse (build,
        "a section is unstable in double precision");
  c->n = (size_t)n;
  for (size_t i = 0; i < c->n; i++) {
    const TfxSos s = low[i];

    c->low[i] = c->low[c->n + i] = low[i];
    c->high[i] = c->high[c->n + i] = high[i];
    /* (A section of the first order has no z^-2.) */
    c->all[i] = s.b2 == 0.0 ? (TfxSos){ s.a1, 1.0, 0.0, s.a1, 0.0 }
                            : (TfxSos){ s.a2, s.a1, 1.0, s.a1, s.a2 };
  }
  if (design.order % 2 != 0) {
    c->high[0].b0 = -c->high[0].b0;
    c->high[0].b1 = -c->high[0].b1;
    c->high[0].b2 = -c->high[0].b2;
  }
  return 0;
}

/* The band, and its chain after it. */
static int
make_band (TfxBuild *build, const Crossover *crossovers, size_t n, size_t band,
    TfxChain **branch)
{
  TfxSos sos[2 * MAX_SECTIONS * TFX_BANDS_MAX_CROSSOVERS];
  const TfxChain *chain = build->chains[band];
  size_t n_sos = 0;
  int code;

  for (size_t i = 0; i < n; i++) {
    const Crossover *c = &crossovers[i];
    const size_t n_more = i <= band ? 2 * c->n : c->n;

    memcpy (sos + n_sos,
        i < band    ? c->high
        : i == band ? c->low
                    : c->all,
        n_more * sizeof *sos);
    n_sos += n_more;
  }
  code = tfx_class_append (build, branch,
      tfx_stage_new_sections (TFX_ID_OF_BAND (build->node->id, band), sos,
          n_sos));
  for (size_t i = 0; i < chain->n_stages && code == 0; i++)
    code = tfx_class_append (build, branch, tfx_stage_ref (chain->stages[i]));
  return code;
}

static int
bands_design (TfxBuild *build, const TfxNode *node)
{
  const size_t n = count_crossovers (node);
  Crossover crossovers[TFX_BANDS_MAX_CROSSOVERS];
  TfxChain *branches[TFX_BANDS_MAX_CROSSOVERS + 1] = { NULL };
  uint64_t ids[TFX_BANDS_MAX_CROSSOVERS + 1];
  int code = 0;

  for (size_t i = 0; i < n && code == 0; i++)
    code = make_crossover (build, node, i, &crossovers[i]);
  for (size_t i = 0; i <= n && code == 0; i++) {
    ids[i] = TFX_ID_OF_BAND (node->id, i);
    code = make_band (build, crossovers, n, i, &branches[i]);
  }
  if (code == 0)
    code = tfx_class_align (build, branches, ids, n + 1);
  if (code == 0)
    code =
        tfx_class_take (build, tfx_stage_new_sum (node->id, branches, n + 1));
  for (size_t i = 0; i <= n; i++)
    tfx_chain_unref (&branches[i]);
  return code;
}

const TfxClassOps tfx_bands_ops = {
  .design = bands_design,
  .check = bands_check,
  .measure = bands_measure,
  .is_rebuilt = true,
};
