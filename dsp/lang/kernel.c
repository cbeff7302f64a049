/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernel.c: the FIR classes. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "error.h"
#include "core/kind.h"
#include "number.h"
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

/* ---- delay ---------------------------------------------------------------------- */

/* Latency in frames of the stream.  scale: frames of the stream per frame of the
 * file. */
static size_t
find_delay (const TfxNode *node, const TfxImpulse *impulse, double scale)
{
  const double delay = tfx_class_number (node, "delay");
  size_t n_late;

  if (tfx_class_is (node, "delay", "peak"))
    return tfx_impulse_find_peak (impulse);
  if (delay == 0.0)
    return 0;
  n_late = impulse->beginning + (size_t)(delay * scale + 0.5);
  return n_late < impulse->n_taps ? n_late : impulse->n_taps - 1;
}

void
tfx_kernel_fit (const TfxNode *node, TfxFit *fit)
{
  const TfxValue *b = tfx_class_value (node,
      tfx_class_has (node, "location") ? "location" : "b");
  const size_t n = b->file ? b->file->n_frames : b->n_list;
  const double asked = tfx_class_number (node, "delay");

  if (n == 0 || tfx_class_is (node, "delay", "peak"))
    return;
  *fit = (TfxFit){ "delay", asked, fmin (asked, (double)n - 1.0), 0.0,
    (double)n - 1.0, "must be less than the number of taps" };
}

static int
make_stage (const TfxBuild *build, const TfxNode *node, const double *taps,
    size_t n_taps, TfxStage **stage)
{
  *stage = tfx_stage_new_fir (node->id, &taps, 1, n_taps, find_method (node));
  return *stage ? 0 : tfx_class_refuse (build, NULL);
}

/* ---- files -------------------------------------------------------------------- */

/* The channel of the file, or -1. */
static int
find_channel (const TfxNode *node)
{
  const TfxValue *channel = tfx_class_value (node, "channel");

  return channel->type == TFX_VALUE_NUMBER ? (int)channel->number : -1;
}

static int
check_file (const TfxNode *node, const TfxValue *name, const char *thing,
    TfxExprError *error)
{
  const int channel = find_channel (node);
  char quoted[80];

  if (channel >= 0 && name->type != TFX_VALUE_TEXT)
    return tfx_error_set (error, -EINVAL,
        "channel of %s selects a channel of a file, but the taps are numbers",
        thing);
  if (channel < 0 || !name->file || (unsigned)channel < name->file->n_channels)
    return 0;
  tfx_error_quote (quoted, sizeof quoted, name->text, strlen (name->text));
  return tfx_error_set (error, -ERANGE,
      "channel of %s is %d, but '%s' has %u channel%s, counted from 0", thing,
      channel, quoted, name->file->n_channels,
      name->file->n_channels == 1 ? "" : "s");
}

/* The file has one kernel for all channels, or one for each. */
static int
check_file_channels (const TfxNode *node, const TfxValue *name,
    unsigned n_channels, const char *thing, TfxExprError *error)
{
  const TfxFile *file = name->file;
  char quoted[80];

  if (!file || find_channel (node) >= 0 || file->n_channels == 1 ||
      file->n_channels == n_channels)
    return 0;
  tfx_error_quote (quoted, sizeof quoted, name->text, strlen (name->text));
  return tfx_error_set (error, -EINVAL,
      "%s: '%s' has %u channels, but the input has %u; channel=0 uses its "
      "first channel for all",
      thing, quoted, file->n_channels, n_channels);
}

static void
measure_file (const TfxFile *file, double rate_hz, TfxExtent *extent)
{
  if (!file)
    return;
  if (file->rate_hz > 0.0 && rate_hz > 0.0)
    extent->taps += (size_t)ceil (file->n_frames * (rate_hz / file->rate_hz));
  else
    extent->taps += file->n_frames;
}

/* The impulse response in the file, to be freed. */
static int
read_file (const TfxBuild *build, const TfxNode *node, const TfxValue *name,
    TfxImpulse *impulse)
{
  char why[TFX_FILE_WHY_SIZE], quoted[80];
  int code;

  if (!name->file) {
    tfx_error_quote (quoted, sizeof quoted, name->text, strlen (name->text));
    return tfx_error_set (build->error, -ENOENT,
        "%s: '%s' was not read: files cannot be read here", build->thing,
        quoted);
  }
  code = name->file->fit (name->file, build->rate_hz, build->n_channels,
      find_channel (node), impulse, why);
  if (code < 0)
    tfx_error_set (build->error, code, "%s: %s", build->thing, why);
  return code;
}

/* The part "mix" of the output comes from the kernels, the rest is the input, at the
 * tap `direct`. */
static void
mix_in (TfxImpulse *impulse, double mix, size_t direct)
{
  const size_t n = impulse->n_taps;

  for (unsigned k = 0; mix != 1.0 && k < impulse->n_kernels; k++) {
    double *taps = impulse->taps + k * n;

    for (size_t i = 0; i < n; i++)
      taps[i] *= mix;
    taps[direct] += 1.0 - mix;
  }
}

/* (Channels that are idle have any of them.) */
static int
build_file (const TfxBuild *build, const TfxNode *node, const TfxValue *name,
    double mix, TfxStage **stage)
{
  const double *kernels[TFX_EXPR_MAX_CHANNELS];
  TfxImpulse impulse;
  unsigned n_kernels = 1;
  size_t n_late;
  int code = read_file (build, node, name, &impulse);

  if (code < 0)
    return code;
  if (impulse.n_kernels > 1)
    n_kernels = build->n_room;
  if (n_kernels > TFX_EXPR_MAX_CHANNELS) {
    free (impulse.taps);
    return tfx_error_set (build->error, -ERANGE,
        "%s has a kernel for each of %u channels; at most %u are allowed",
        build->thing, n_kernels, TFX_EXPR_MAX_CHANNELS);
  }
  n_late = find_delay (node, &impulse,
      name->file->rate_hz > 0.0 ? build->rate_hz / name->file->rate_hz : 1.0);
  mix_in (&impulse, mix,
      n_late > 0 || tfx_class_is (node, "delay", "peak") ? n_late
                                                         : impulse.beginning);
  for (unsigned k = 0; k < n_kernels; k++)
    kernels[k] =
        impulse.taps + (k < impulse.n_kernels ? k : 0) * impulse.n_taps;
  *stage = tfx_stage_new_fir (node->id, kernels, n_kernels, impulse.n_taps,
      find_method (node));
  free (impulse.taps);
  if (!*stage)
    return tfx_class_refuse (build, NULL);
  (*stage)->u.fir.n_late = n_late;
  return 0;
}

/* ---- FIR, Convolve -------------------------------------------------------------- */

int
tfx_kernel_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  return check_file (node, tfx_class_value (node, "b"), thing, error);
}

int
tfx_kernel_check_channels (const TfxNode *node, unsigned n_channels,
    const char *thing, TfxExprError *error)
{
  return check_file_channels (node, tfx_class_value (node, "b"), n_channels,
      thing, error);
}

void
tfx_kernel_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const TfxValue *b = tfx_class_value (node, "b");

  extent->taps += b->n_list;
  measure_file (b->file, rate_hz, extent);
}

int
tfx_kernel_build (const TfxBuild *build, const TfxNode *node, TfxStage **stage)
{
  const TfxValue *b = tfx_class_value (node, "b");
  const TfxImpulse impulse = { b->list, 1, b->n_list, 0 };
  int code;

  if (b->type == TFX_VALUE_TEXT)
    return build_file (build, node, b, 1.0, stage);
  code = make_stage (build, node, b->list, b->n_list, stage);
  if (code == 0)
    (*stage)->u.fir.n_late = find_delay (node, &impulse, 1.0);
  return code;
}

int
tfx_convolve_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  return check_file (node, tfx_class_value (node, "location"), thing, error);
}

int
tfx_convolve_check_channels (const TfxNode *node, unsigned n_channels,
    const char *thing, TfxExprError *error)
{
  return check_file_channels (node, tfx_class_value (node, "location"),
      n_channels, thing, error);
}

void
tfx_convolve_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  measure_file (tfx_class_value (node, "location")->file, rate_hz, extent);
}

int
tfx_convolve_build (const TfxBuild *build, const TfxNode *node,
    TfxStage **stage)
{
  return build_file (build, node, tfx_class_value (node, "location"),
      tfx_class_number (node, "mix"), stage);
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
          "cutoff of %s: edge %zu (%s Hz) is not higher than edge %zu (%s Hz)",
          thing, i + 1, TFX_NUMBER_TEXT (edges[i]), i,
          TFX_NUMBER_TEXT (edges[i - 1]));
  }
  if (pass_zero->type == TFX_VALUE_WORD) {
    bool one = strcmp (pass_zero->word, "lowpass") == 0 ||
               strcmp (pass_zero->word, "highpass") == 0;

    if (one != (n == 1))
      return tfx_error_set (error, -EINVAL,
          "cutoff of %s has %zu frequencies, but pass_zero='%s' needs %s",
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
        "num_taps of %s is %zu, but must be odd: an even number of taps gives "
        "a "
        "zero at half the sample rate, where this filter passes",
        thing, n_taps);
  if (kaiser && tfx_class_value (node, "beta")->type == TFX_VALUE_NONE)
    return tfx_error_set (error, -EINVAL,
        "window 'kaiser' of %s needs its beta: window=('kaiser', 8.6); TorchFX "
        "uses 0.5",
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
    return tfx_class_refuse (build, "with these edges, more taps are needed: "
                                    "the response is 0 where it should be 1");
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
  moved->kind = &tfx_kind_fir;
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
