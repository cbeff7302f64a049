/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class-fir.c: the FIR classes: taps as numbers or from a file, and windowed sincs. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "design/band.h"
#include "design/window.h"
#include "error.h"

static TfxFirMethod
find_method (const TfxNode *node)
{
  return (TfxFirMethod)tfx_class_word (node, "conv_mode");
}

/* ---- FIR, Convolve ------------------------------------------------------------- */

size_t
tfx_impulse_find_peak (const TfxImpulse *impulse)
{
  const size_t n = impulse->n_taps;
  size_t peak = 0;
  double most = 0.0;

  for (size_t i = 0; i < n; i++) {
    for (unsigned k = 0; k < impulse->n_kernels; k++) {
      if (fabs (impulse->taps[k * n + i]) > most) {
        most = fabs (impulse->taps[k * n + i]);
        peak = i;
      }
    }
  }
  return peak;
}

/* The taps or the file. */
static const TfxValue *
find_kernel (const TfxNode *node)
{
  return tfx_class_value (node,
      tfx_class_has (node, "location") ? "location" : "b");
}

/* The channel of the file, or -1. */
static int
find_channel (const TfxNode *node)
{
  const TfxValue *channel = tfx_class_value (node, "channel");

  return channel->type == TFX_VALUE_NUMBER ? (int)channel->number : -1;
}

static void
fit_delay (const TfxNode *node, size_t n, TfxExprClamp *fit)
{
  const double asked = tfx_class_number (node, "delay");

  if (n == 0 || tfx_class_is (node, "delay", "peak"))
    return;
  *fit = (TfxExprClamp){ "delay", -1, asked, fmin (asked, (double)n - 1.0), 0.0,
    (double)n - 1.0, "must be less than the number of taps" };
}

static void
kernel_fit (const TfxNode *node, TfxExprClamp *fit)
{
  const TfxValue *kernel = find_kernel (node);

  fit_delay (node, kernel->file ? kernel->file->n_frames : kernel->n_list, fit);
}

static int
kernel_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *kernel = find_kernel (node);
  const int channel = find_channel (node);

  if (kernel->file && !kernel->file->fit)
    return tfx_error_set (error, -EINVAL,
        "'%s' of %s has an impulse response for each direction; HRIR uses it",
        TFX_ERROR_QUOTE (80, kernel->text), thing);
  if (tfx_class_word (node, "phase") != TFX_PHASE_ORIGINAL &&
      (tfx_class_is (node, "delay", "peak") ||
          tfx_class_number (node, "delay") != 0.0))
    return tfx_error_set (error, -EINVAL,
        "delay of %s is for phase='original'; a minimum phase has no delay, "
        "and that of a linear phase is its middle",
        thing);
  if (channel >= 0 && kernel->type != TFX_VALUE_TEXT)
    return tfx_error_set (error, -EINVAL,
        "channel of %s selects a channel of a file, but the taps are numbers",
        thing);
  if (tfx_layout_find (node))
    return tfx_layout_check (node, thing, error);
  if (channel < 0 || !kernel->file ||
      (unsigned)channel < kernel->file->n_channels)
    return 0;
  return tfx_error_set (error, -ERANGE,
      "channel of %s is %d, but '%s' has %u channel%s, counted from 0", thing,
      channel, TFX_ERROR_QUOTE (80, kernel->text), kernel->file->n_channels,
      kernel->file->n_channels == 1 ? "" : "s");
}

/* A file has one kernel for all channels, or one for each. */
static int
kernel_check_channels (const TfxNode *node, unsigned n_channels,
    const char *thing, TfxExprError *error)
{
  const TfxValue *kernel = find_kernel (node);
  const TfxFile *file = kernel->file;

  if (!file || find_channel (node) >= 0 || tfx_layout_find (node) ||
      file->n_channels == 1 || file->n_channels == n_channels)
    return 0;
  return tfx_error_set (error, -EINVAL,
      "%s: '%s' has %u channels, but the input has %u; channel=0 uses its "
      "first channel for all",
      thing, TFX_ERROR_QUOTE (80, kernel->text), file->n_channels, n_channels);
}

static void
kernel_measure (const TfxNode *node, double rate_hz, TfxExtent *extent)
{
  const TfxValue *kernel = find_kernel (node);
  const TfxPhase phase = (TfxPhase)tfx_class_word (node, "phase");
  const TfxFile *file = kernel->file;
  size_t n = kernel->n_list;

  if (file && file->rate_hz > 0.0 && rate_hz > 0.0)
    n = (size_t)ceil (file->n_frames * (rate_hz / file->rate_hz));
  else if (file)
    n = file->n_frames;
  extent->taps += phase == TFX_PHASE_LINEAR ? 2 * n : n;
  if (phase != TFX_PHASE_ORIGINAL)
    extent->phase_taps += n * (file ? file->n_channels : 1);
  if (file && tfx_layout_find (node))
    extent->more_taps += (file->n_channels - 1) * n;
}

/* The latency in frames of the stream.  scale: frames of the stream per frame of the
 * file. */
static size_t
find_delay (const TfxNode *node, const TfxImpulse *impulse, double scale)
{
  const double delay = tfx_class_number (node, "delay");
  size_t n_late;

  if (tfx_class_has (node, "phase") &&
      tfx_class_word (node, "phase") != TFX_PHASE_ORIGINAL)
    return impulse->beginning;
  if (tfx_class_is (node, "delay", "peak"))
    return tfx_impulse_find_peak (impulse);
  if (delay == 0.0)
    return 0;
  n_late = impulse->beginning + (size_t)(delay * scale + 0.5);
  return n_late < impulse->n_taps ? n_late : impulse->n_taps - 1;
}

/* Sets impulse to the kernels, for free(). */
static int
find_impulse (TfxBuild *build, const TfxNode *node, TfxImpulse *impulse)
{
  const TfxValue *kernel = find_kernel (node);
  const TfxFile *file = kernel->file;
  char why[TFX_FILE_WHY_SIZE];
  int code;

  if (kernel->type == TFX_VALUE_LIST) {
    *impulse = (TfxImpulse){ malloc (kernel->n_list * sizeof *kernel->list), 1,
      kernel->n_list, 0 };
    if (!impulse->taps)
      return tfx_class_refuse (build, NULL);
    memcpy (impulse->taps, kernel->list, kernel->n_list * sizeof *kernel->list);
    return 0;
  }
  if (!file)
    return tfx_class_refuse_unread (build, kernel);
  code = file->fit (file, build->rate_hz,
      tfx_layout_find (node) ? 0 : build->n_channels, find_channel (node),
      impulse, why);
  return code < 0
             ? tfx_error_set (build->error, code, "%s: %s", build->thing, why)
             : 0;
}

/* Gives the kernels their phase; the beginning is then the delay. */
static int
set_phase (TfxBuild *build, const TfxNode *node, TfxImpulse *impulse)
{
  const TfxPhase phase = (TfxPhase)tfx_class_word (node, "phase");
  double *taps;
  int code;

  if (phase == TFX_PHASE_ORIGINAL)
    return 0;
  code = tfx_fir_set_phase (phase, impulse->taps, impulse->n_kernels,
      impulse->n_taps, &taps, &impulse->n_taps, &impulse->beginning);
  if (code < 0)
    return tfx_class_refuse (build,
        code == -ENOMEM  ? NULL
        : code == -E2BIG ? "its kernel is too long for another phase (at most "
                           "1048576 taps)"
        : phase == TFX_PHASE_MINIMUM
            ? "no minimum-phase kernel of its length has its magnitude to "
              "-100 dB of the peak"
            : "no linear-phase kernel of twice its length has its magnitude "
              "to -100 dB of the peak: the notches are too deep or too narrow");
  free (impulse->taps);
  impulse->taps = taps;
  return 0;
}

/* Channels above the n_kernels of the file are idle and get the first kernel.  The
 * input is mixed in at the tap of the latency, or at time 0 if there is none. */
static int
make_kernels (TfxBuild *build, const TfxNode *node, TfxImpulse *impulse)
{
  const double mix =
      tfx_class_has (node, "mix") ? tfx_class_number (node, "mix") : 1.0;
  const TfxFile *file = find_kernel (node)->file;
  const double *kernels[TFX_EXPR_MAX_CHANNELS];
  const size_t n_taps = impulse->n_taps;
  const size_t n_late = find_delay (node, impulse,
      file && file->rate_hz > 0.0 ? build->rate_hz / file->rate_hz : 1.0);
  const size_t direct = n_late > 0 || tfx_class_is (node, "delay", "peak")
                            ? n_late
                            : impulse->beginning;
  const bool is_matrix = tfx_layout_find (node) != NULL;
  const unsigned n_kernels =
      impulse->n_kernels > 1 && !is_matrix ? build->n_room : 1;
  int code;

  if (n_kernels > TFX_EXPR_MAX_CHANNELS)
    return tfx_error_set (build->error, -ERANGE,
        "%s has a kernel for each of %u channels; at most %u are allowed",
        build->thing, n_kernels, TFX_EXPR_MAX_CHANNELS);
  for (unsigned k = 0; mix != 1.0 && k < impulse->n_kernels; k++) {
    double *taps = impulse->taps + k * n_taps;

    for (size_t i = 0; i < n_taps; i++)
      taps[i] *= mix;
    if (!is_matrix)
      taps[direct] += 1.0 - mix;
  }
  for (unsigned k = 0; k < n_kernels; k++)
    kernels[k] = impulse->taps + (k < impulse->n_kernels ? k : 0) * n_taps;
  code = is_matrix ? tfx_layout_make (build, node, impulse, mix, direct)
                   : tfx_class_make_fir (build, kernels, n_kernels, n_taps,
                         find_method (node));
  if (code == 0)
    build->stage->u.fir.n_late = n_late;
  return code;
}

static int
kernel_design (TfxBuild *build, const TfxNode *node)
{
  TfxImpulse impulse = { NULL, 0, 0, 0 };
  int code = find_impulse (build, node, &impulse);

  if (code == 0)
    code = set_phase (build, node, &impulse);
  if (code == 0)
    code = make_kernels (build, node, &impulse);
  free (impulse.taps);
  return code;
}

const TfxClassOps tfx_kernel_ops = {
  .design = kernel_design,
  .check = kernel_check,
  .channels = tfx_layout_channels,
  .check_channels = kernel_check_channels,
  .measure = kernel_measure,
  .fit = kernel_fit,
  .is_rebuilt = true,
};

/* ---- DesignableFIR -----------------------------------------------------------------
 * As scipy.signal.firwin makes it.  tfx_fir_design() makes one or two edges with the
 * windows of TfxWindow.  Others are the same sum over more bands, [left, right] in
 * units of half the rate, m samples from the middle:
 *
 *   h(m) = w(m) sum_bands (right sinc (right m) - left sinc (left m)) */

#define MAX_EDGES 64
#define MARGIN 1e-6 /* of the rate, between edges and to 0 and half the rate */

/* Words for windows after those of TfxWindow. */
enum
{
  PARZEN = TFX_WINDOW_KAISER + 1,
  BOHMAN,
  BARTHANN
};

typedef struct Sinc
{
  double edges[MAX_EDGES]; /* Hz, rising, above 0 and below half the rate */
  size_t n_edges;
  bool pass_zero;  /* whether the lowest band passes */
  unsigned window; /* a TfxWindow, or PARZEN, BOHMAN, BARTHANN */
  bool is_simple;  /* tfx_fir_design() makes it, without memory */
  double beta;
  size_t n_taps;
} Sinc;

static Sinc
describe (const TfxNode *node)
{
  const TfxValue *cutoff = tfx_class_value (node, "cutoff");
  const TfxValue *pass_zero = tfx_class_value (node, "pass_zero");
  const unsigned mode = tfx_class_word (node, "pass_zero");
  const bool is_list = cutoff->type == TFX_VALUE_LIST;
  Sinc sinc = { .n_edges = is_list ? cutoff->n_list : 1,
    .window = tfx_class_word (node, "window"),
    .beta = tfx_class_number (node, "beta"),
    .n_taps = (size_t)tfx_class_number (node, "num_taps") };

  memcpy (sinc.edges, is_list ? cutoff->list : &cutoff->number,
      sinc.n_edges * sizeof *sinc.edges);
  sinc.pass_zero =
      pass_zero->type == TFX_VALUE_BOOL
          ? pass_zero->number != 0.0
          : mode == TFX_MODE_LOW_PASS || mode == TFX_MODE_BAND_REJECT;
  sinc.is_simple = sinc.window <= TFX_WINDOW_KAISER && sinc.n_edges <= 2;
  return sinc;
}

/* x is the distance from the middle, 1 at both ends. */
static long double
window_at (const Sinc *sinc, size_t i)
{
  const size_t n = sinc->n_taps;
  long double x, r;

  if (n == 1)
    return 1.0L;
  x = fabsl (2.0L * (long double)i / (long double)(n - 1) - 1.0L);
  /* The distance in units of n / 2. */
  r = x * (long double)(n - 1) / (long double)n;
  switch (sinc->window) {
    case BARTHANN:
      return 0.62L - 0.24L * x + 0.38L * cosl (M_PIl * x);
    case BOHMAN:
      return i == 0 || i == n - 1
                 ? 0.0L
                 : (1.0L - x) * cosl (M_PIl * x) + sinl (M_PIl * x) / M_PIl;
    case PARZEN:
      return x > 0.5L ? 2.0L * (1.0L - r) * (1.0L - r) * (1.0L - r)
                      : 1.0L - 6.0L * r * r * (1.0L - r);
    default:
      return tfx_window_at ((TfxWindow)sinc->window, sinc->beta, i, n);
  }
}

static long double
ideal_low_pass (long double c, long double m)
{
  return m == 0.0L ? c : sinl (M_PIl * c * m) / (M_PIl * m);
}

/* Writes taps[n_taps], with a response of 1 in the middle of the lowest band that
 * passes (at its end, if that is 0 or half the rate).  0, -ENOMEM, or -EINVAL if the
 * response there is 0, or if an even number of taps is to pass half the rate. */
static int
design_sinc (const Sinc *sinc, double rate_hz, double *taps)
{
  const size_t n = sinc->n_taps, n_half = (n + 1) / 2;
  const long double nyquist = 0.5L * rate_hz;
  long double *half, sum = 0.0L, magnitude = 0.0L, scale = 0.0L;
  bool passes = sinc->pass_zero;

  if (sinc->is_simple) {
    const TfxFirDesign design = { .mode = sinc->n_edges == 1
                                              ? passes ? TFX_MODE_LOW_PASS
                                                       : TFX_MODE_HIGH_PASS
                                          : passes ? TFX_MODE_BAND_REJECT
                                                   : TFX_MODE_BAND_PASS,
      .window = (TfxWindow)sinc->window,
      .beta = sinc->beta,
      .n_taps = n,
      .lower_hz = sinc->edges[0],
      .upper_hz = sinc->n_edges == 1 ? 0.0 : sinc->edges[1] };

    return tfx_fir_design (&design, rate_hz, taps);
  }
  if (n % 2 == 0 && passes == (sinc->n_edges % 2 == 0))
    return -EINVAL;
  if (!passes)
    scale =
        sinc->n_edges == 1
            ? 1.0L
            : 0.5L * ((long double)sinc->edges[0] + sinc->edges[1]) / nyquist;
  half = malloc (n_half * sizeof *half);
  if (!half)
    return -ENOMEM;
  for (size_t i = 0; i < n_half; i++) {
    const long double m = (long double)i - 0.5L * (long double)(n - 1);
    const long double count = i == n - 1 - i ? 1.0L : 2.0L;
    long double ideal = 0.0L;

    /* Bands pass and stop in turn; the highest reaches half the rate. */
    passes = sinc->pass_zero;
    for (size_t k = 0; k < sinc->n_edges; k++, passes = !passes) {
      const long double edge = ideal_low_pass (sinc->edges[k] / nyquist, m);

      ideal += passes ? edge : -edge;
    }
    if (passes)
      ideal += ideal_low_pass (1.0L, m);
    half[i] = window_at (sinc, i) * ideal;
    sum += count * half[i] * cosl (M_PIl * m * scale);
    magnitude += count * fabsl (half[i]);
  }
  if (!(fabsl (sum) > 1e-13L * magnitude && magnitude > DBL_MIN))
    sum = 0.0L;
  for (size_t i = 0; i < n_half && sum != 0.0L; i++)
    taps[i] = taps[n - 1 - i] = (double)(half[i] / sum);
  free (half);
  return sum == 0.0L ? -EINVAL : 0;
}

static int
windowed_check (const TfxNode *node, const char *thing, TfxExprError *error)
{
  const TfxValue *pass_zero = tfx_class_value (node, "pass_zero");
  const Sinc sinc = describe (node);
  const size_t n = sinc.n_edges;

  for (size_t i = 1; i < n; i++) {
    if (!(sinc.edges[i - 1] < sinc.edges[i]))
      return tfx_error_set (error, -ERANGE,
          "cutoff of %s: edge %zu (%s Hz) is not higher than edge %zu (%s Hz)",
          thing, i + 1, TFX_NUMBER_TEXT (sinc.edges[i]), i,
          TFX_NUMBER_TEXT (sinc.edges[i - 1]));
  }
  if (pass_zero->type == TFX_VALUE_WORD) {
    const bool one =
        !tfx_band_has_two ((TfxMode)tfx_class_word (node, "pass_zero"));

    if (one != (n == 1))
      return tfx_error_set (error, -EINVAL,
          "cutoff of %s has %zu frequencies, but pass_zero='%s' needs %s",
          thing, n, pass_zero->word, one ? "one" : "two or more");
  }
  /* Each edge changes from pass to stop or back. */
  if (sinc.n_taps % 2 == 0 && sinc.pass_zero == (n % 2 == 0))
    return tfx_error_set (error, -EINVAL,
        "num_taps of %s is %zu, but must be odd: an even number of taps gives "
        "a "
        "zero at half the sample rate, where this filter passes",
        thing, sinc.n_taps);
  if (tfx_class_is (node, "window", "kaiser") &&
      tfx_class_value (node, "beta")->type == TFX_VALUE_NONE)
    return tfx_error_set (error, -EINVAL,
        "window 'kaiser' of %s needs its beta: window=('kaiser', 8.6); TorchFX "
        "uses 0.5",
        thing);
  return 0;
}

static void
windowed_fit (const TfxNode *node, TfxExprClamp *fit)
{
  fit_delay (node, (size_t)tfx_class_number (node, "num_taps"), fit);
}

static bool
windowed_can_move (const TfxNode *node)
{
  const Sinc sinc = describe (node);

  return sinc.n_taps <= TFX_EXPR_MAX_MOVED_KERNEL && sinc.is_simple;
}

static int
windowed_design (TfxBuild *build, const TfxNode *node)
{
  double room[TFX_EXPR_MAX_MOVED_KERNEL], *taps = room, *allocated = NULL;
  const bool is_list = tfx_class_value (node, "cutoff")->type == TFX_VALUE_LIST;
  const double nyquist = 0.5 * build->rate_hz;
  Sinc sinc = describe (node);
  TfxImpulse impulse = { .n_kernels = 1, .n_taps = sinc.n_taps };
  int code;

  if (sinc.n_taps > TFX_EXPR_MAX_MOVED_KERNEL) {
    taps = allocated = calloc (sinc.n_taps, sizeof *allocated);
    if (!allocated)
      return tfx_class_refuse (build, NULL);
  }
  for (size_t i = 0; i < sinc.n_edges; i++) {
    double *edge = &sinc.edges[i], margin = 0.0;

    /* Room for the edges above, which must stay above. */
    if (!(*edge > 0.0 && *edge < nyquist))
      margin = MARGIN * (double)(sinc.n_edges - i);
    *edge = tfx_class_fit_frequency (build, "cutoff", is_list ? (int)i : -1,
        *edge, margin);
    if (i > 0 && *edge <= edge[-1])
      *edge = 0.5 * (edge[-1] + nyquist);
  }
  code = design_sinc (&sinc, build->rate_hz, taps);
  impulse.taps = taps;
  if (code == -ENOMEM)
    code = tfx_class_refuse (build, NULL);
  else if (code < 0)
    code = tfx_class_refuse (build,
        "with these edges, more taps are needed: the response is 0 where it "
        "should be 1");
  else if (build->running && find_delay (node, &impulse, 1.0) !=
                                 tfx_stage_latency (build->running))
    code = tfx_class_refuse_latency (build);
  else
    code = tfx_class_make_fir (build, (const double *const *)&taps, 1,
        sinc.n_taps, find_method (node));
  if (code == 0)
    build->stage->u.fir.n_late = find_delay (node, &impulse, 1.0);
  free (allocated);
  return code;
}

const TfxClassOps tfx_windowed_ops = {
  .design = windowed_design,
  .check = windowed_check,
  .taps = "num_taps",
  .can_move = windowed_can_move,
  .fit = windowed_fit,
};
