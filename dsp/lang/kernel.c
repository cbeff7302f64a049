/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernel.c: the FIR classes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "error.h"
#include "sinc.h"

static const struct
{
  const char *word;
  TfxFirMethod method;
} methods[] = { { "auto", TFX_FIR_AUTO }, { "direct", TFX_FIR_DIRECT },
  { "fft", TFX_FIR_FFT } };

static TfxFirMethod
find_method (const TfxNode *node)
{
  for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
    if (tfx_class_is (node, "conv_mode", methods[i].word))
      return methods[i].method;
  }
  return TFX_FIR_AUTO;
}

static int
make_stage (const TfxBuild *build, const TfxNode *node, const double *taps,
    size_t n_taps, TfxStage **stage)
{
  *stage = tfx_stage_new_fir (node->id, &taps, 1, n_taps, find_method (node));
  return *stage ? 0 : tfx_class_refuse (build, NULL);
}

/* ---- FIR -------------------------------------------------------------------- */

void
tfx_kernel_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->taps += tfx_class_value (node, "b")->n_list;
}

int
tfx_kernel_build (const TfxBuild *build, const TfxNode *node, TfxStage **stage)
{
  const TfxValue *b = tfx_class_value (node, "b");

  return make_stage (build, node, b->list, b->n_list, stage);
}

/* ---- DesignableFIR ------------------------------------------------------------- */

static bool
passes_zero (const TfxNode *node)
{
  if (tfx_class_value (node, "pass_zero")->type == TFX_VALUE_BOOL)
    return tfx_class_number (node, "pass_zero") != 0.0;
  return tfx_class_is (node, "pass_zero", "lowpass") ||
         tfx_class_is (node, "pass_zero", "bandstop");
}

/* The edges as a list, whatever form they were given in. */
static const double *
list_edges (const TfxNode *node, size_t *n)
{
  const TfxValue *cutoff = tfx_class_value (node, "cutoff");

  *n = cutoff->type == TFX_VALUE_LIST ? cutoff->n_list : 1;
  return cutoff->type == TFX_VALUE_LIST ? cutoff->list : &cutoff->number;
}

static int
check_edges (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *pass_zero = tfx_class_value (node, "pass_zero");
  size_t n;
  const double *edges = list_edges (node, &n);

  for (size_t i = 1; i < n; i++) {
    if (!(edges[i - 1] < edges[i]))
      return tfx_error_set (error, -ERANGE,
          "cutoff of %s: edge %zu (%.15g Hz) "
          "is not above edge %zu (%.15g Hz)",
          thing, i + 1, edges[i], i, edges[i - 1]);
  }
  if (pass_zero->type == TFX_VALUE_WORD) {
    bool one = strcmp (pass_zero->word, "lowpass") == 0 ||
               strcmp (pass_zero->word, "highpass") == 0;

    if (one != (n == 1))
      return tfx_error_set (error, -EINVAL,
          "cutoff of %s has %zu edges, but "
          "pass_zero='%s' needs %s",
          thing, n, pass_zero->word, one ? "one" : "two or more");
  }
  return 0;
}

int
tfx_windowed_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  size_t n_taps = (size_t)tfx_class_number (node, "num_taps"), n;
  bool kaiser = tfx_class_is (node, "window", "kaiser");
  int code = check_edges (node, thing, error);

  if (code < 0)
    return code;
  list_edges (node, &n);
  /* Each edge changes from pass to stop or back. */
  if (n_taps % 2 == 0 && passes_zero (node) == (n % 2 == 0))
    return tfx_error_set (error, -EINVAL,
        "num_taps of %s is %zu, but must be "
        "odd: an even number of taps gives 0 at half the rate, where this "
        "filter passes",
        thing, n_taps);
  if (kaiser && tfx_class_value (node, "beta")->type == TFX_VALUE_NONE)
    return tfx_error_set (error, -EINVAL,
        "window of %s is 'kaiser', which needs its beta: window=('kaiser', "
        "8.6)",
        thing);
  return 0;
}

void
tfx_windowed_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  extent->taps += (size_t)tfx_class_number (node, "num_taps");
}

#define MAX_EDGES 64
#define MARGIN 1e-6 /* of the rate, between edges and to 0 and half the rate */

/* The edges that the rate allows. */
static void
fit_edges (const TfxBuild *build, const TfxNode *node, double *used, size_t n)
{
  const TfxValue *cutoff = tfx_class_value (node, "cutoff");
  size_t n_given;
  const double *edges = list_edges (node, &n_given);

  for (size_t i = 0; i < n; i++) {
    /* Room for the edges above, which must stay above. */
    double margin = MARGIN * (double)(n - i);

    if (edges[i] > 0.0 && edges[i] < 0.5 * build->rate_hz)
      margin = 0.0;
    used[i] = tfx_class_fit_frequency (build, "cutoff",
        cutoff->type == TFX_VALUE_LIST ? (int)i : -1, edges[i], margin);
    if (i > 0 && used[i] <= used[i - 1])
      used[i] = 0.5 * (used[i - 1] + 0.5 * build->rate_hz);
  }
}

/* The kernel, into room for all of its taps. */
static int
design_windowed (const TfxBuild *build, const TfxNode *node, double *taps)
{
  double edges[MAX_EDGES];
  TfxSinc sinc = { .edges = edges,
    .pass_zero = passes_zero (node),
    .window = tfx_class_value (node, "window")->word,
    .beta = tfx_class_number (node, "beta"),
    .n_taps = (size_t)tfx_class_number (node, "num_taps"),
    .rate_hz = build->rate_hz };
  int code;

  list_edges (node, &sinc.n_edges);
  fit_edges (build, node, edges, sinc.n_edges);
  code = tfx_sinc_design (&sinc, taps);
  if (code == -ENOMEM)
    return tfx_class_refuse (build, NULL);
  if (code < 0)
    return tfx_class_refuse (build, "the response of that few taps to those "
                                    "edges is 0 where it is to be 1");
  return 0;
}

bool
tfx_windowed_can_design (const TfxNode *node)
{
  size_t n_edges;

  list_edges (node, &n_edges);
  return tfx_class_number (node, "num_taps") <= TFX_EXPR_MAX_MOVED_KERNEL &&
         tfx_sinc_is_simple (tfx_class_value (node, "window")->word, n_edges);
}

int
tfx_windowed_design (const TfxBuild *build, const TfxNode *node,
    TfxMoved *moved)
{
  moved->n_kernel = (size_t)tfx_class_number (node, "num_taps");
  moved->method = find_method (node);
  return design_windowed (build, node, moved->kernel);
}

int
tfx_windowed_build (const TfxBuild *build, const TfxNode *node,
    TfxStage **stage)
{
  const size_t n_taps = (size_t)tfx_class_number (node, "num_taps");
  double *taps = calloc (n_taps, sizeof *taps);
  int code;

  if (!taps)
    return tfx_class_refuse (build, NULL);
  code = design_windowed (build, node, taps);
  if (code == 0)
    code = make_stage (build, node, taps, n_taps, stage);
  free (taps);
  return code;
}
