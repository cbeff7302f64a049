/* SPDX-License-Identifier: LGPL-2.1-or-later
 * loudness.c: the loudness of a programme, and true peaks. */
#include "loudness.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/block.h"
#include "core/positions.h"

#define LOWEST_LUFS -70.0
#define PER_LU 100
/* Up to 30 LUFS, which is far above full scale. */
#define N_CLASSES 10000

#define MOMENTARY_STEPS 4
#define SHORT_STEPS 30

/* Blocks of one class. */
typedef struct Class
{
  double n, power;
} Class;

struct TfxLoudness
{
  TfxLoudnessSpec spec;
  const TfxDynamicsKernels *kernels;
  TfxPeakLine line;
  size_t stride;
  /* [TFX_N_WEIGHED][stride]: of each channel the sum of squares of the step that has
   * begun, and the state of both sections. */
  double *weighed;
  double *weights; /* [n_channels] */
  /* From here on all is 0 at rest. */
  Class blocks[N_CLASSES], ranges[N_CLASSES];
  size_t in_step, n_steps;
  size_t n_silent;                       /* frames since the last sound */
  double largest, momentary, short_term; /* the highest */
  double steps[SHORT_STEPS]; /* powers of the last ones, from n_steps on */
};

#define FIRST_READING offsetof (TfxLoudness, blocks)

/* ---- true peaks ------------------------------------------------------------------- */

int
tfx_peak_line_init (TfxPeakLine *l, const TfxDynamicsKernels *kernels,
    unsigned n_channels, size_t most_frames)
{
  const size_t n = most_frames * n_channels + TFX_TRUE_PEAK_SLACK;

  l->kernels = kernels;
  l->n_channels = n_channels;
  l->samples =
      tfx_block_new_samples (TFX_PEAK_LINE_PAST * (size_t)n_channels + n);
  l->peaks = tfx_block_new_samples (n);
  tfx_true_peak_init (&l->true_peak);
  return l->samples && l->peaks ? 0 : -ENOMEM;
}

void
tfx_peak_line_clear (TfxPeakLine *l)
{
  free (l->samples);
  free (l->peaks);
  l->samples = l->peaks = NULL;
}

void
tfx_peak_line_reset (TfxPeakLine *l)
{
  memset (l->samples, 0,
      TFX_PEAK_LINE_PAST * (size_t)l->n_channels * sizeof *l->samples);
}

/* A point is at most TFX_TRUE_PEAK_MOST times the largest of its samples. */
const double *
tfx_peak_line_find (TfxPeakLine *l, const double *samples, size_t n_frames,
    double *most)
{
  const size_t n_past = TFX_PEAK_LINE_PAST * (size_t)l->n_channels;
  const size_t n = n_frames * l->n_channels;
  double loudest = 0.0;

  memcpy (l->samples + n_past, samples, n * sizeof *samples);
  if (most)
    l->kernels->find_most (l->samples, n_past + n, 1, &loudest);
  if (!most || loudest * TFX_TRUE_PEAK_MOST > *most)
    l->kernels->find_true_peaks (&l->true_peak, l->samples, l->peaks, n,
        l->n_channels);
  if (most && loudest * TFX_TRUE_PEAK_MOST > *most)
    l->kernels->find_most (l->peaks, n, 1, most);
  memmove (l->samples, l->samples + n, n_past * sizeof *l->samples);
  return l->peaks;
}

/* ---- life ------------------------------------------------------------------------- */

int
tfx_loudness_new (const TfxLoudnessSpec *spec,
    const TfxDynamicsKernels *kernels, size_t most_frames,
    TfxLoudness **loudness)
{
  TfxLoudness *l = *loudness = calloc (1, sizeof *l);

  if (!l)
    return -ENOMEM;
  l->spec = *spec;
  l->kernels = kernels;
  l->stride = tfx_dynamics_stride (spec->n_channels);
  l->weighed = tfx_block_new_samples (TFX_N_WEIGHED * l->stride);
  l->weights = tfx_block_new_samples (spec->n_channels);
  if (!l->weighed || !l->weights ||
      tfx_peak_line_init (&l->line, l->kernels, spec->n_channels, most_frames) <
          0) {
    tfx_loudness_free (loudness);
    return -ENOMEM;
  }
  for (unsigned c = 0; c < spec->n_channels; c++)
    l->weights[c] = tfx_positions_weight (spec->positions, c);
  return 0;
}

void
tfx_loudness_free (TfxLoudness **loudness)
{
  TfxLoudness *l = *loudness;

  *loudness = NULL;
  if (!l)
    return;
  tfx_peak_line_clear (&l->line);
  free (l->weighed);
  free (l->weights);
  free (l);
}

void
tfx_loudness_reset (TfxLoudness *l)
{
  memset ((char *)l + FIRST_READING, 0, sizeof *l - FIRST_READING);
  memset (l->weighed, 0, TFX_N_WEIGHED * l->stride * sizeof *l->weighed);
  tfx_peak_line_reset (&l->line);
}

/* ---- adding ----------------------------------------------------------------------- */

size_t
tfx_loudness_step_left (const TfxLoudness *l)
{
  return l->spec.step_frames - l->in_step;
}

/* Of the last n steps. */
static double
mean_power (const TfxLoudness *l, size_t n)
{
  double sum = 0.0;

  for (size_t i = 1; i <= n; i++)
    sum += l->steps[(l->n_steps - i) % SHORT_STEPS];
  return sum / (double)n;
}

/* What rings on for ever in the weighting is silence: -300 LUFS. */
#define LEAST_POWER 1e-30

static double
power_to_lufs (double power)
{
  return power > LEAST_POWER ? 10.0 * log10 (power) - 0.691 : -INFINITY;
}

static void
count (Class *classes, double power, double lufs)
{
  const double at = (lufs - LOWEST_LUFS) * PER_LU;
  Class *k;

  if (!(at >= 0.0))
    return;
  k = &classes[at < N_CLASSES ? (size_t)at : N_CLASSES - 1];
  k->n += 1.0;
  k->power += power;
}

/* A louder step is damage and counts as silence: as a block of the programme it would
 * put all others below the gate for ever. */
static double
take_power (TfxLoudness *l, unsigned channel)
{
  double *weighed = l->weighed + channel;
  const double power = *weighed;

  *weighed = 0.0;
  if (power <= TFX_LOUDNESS_MOST_POWER * (double)l->spec.step_frames)
    return l->weights[channel] * power;
  for (unsigned i = 1; i < TFX_N_WEIGHED; i++)
    weighed[i * l->stride] = 0.0;
  return 0.0;
}

static void
end_step (TfxLoudness *l)
{
  double power = 0.0;

  for (unsigned c = 0; c < l->spec.n_channels; c++)
    power += take_power (l, c);
  l->steps[l->n_steps++ % SHORT_STEPS] = power / (double)l->spec.step_frames;
  l->in_step = 0;
  if (l->n_steps >= MOMENTARY_STEPS) {
    power = mean_power (l, MOMENTARY_STEPS);
    count (l->blocks, power, power_to_lufs (power));
    l->momentary = fmax (l->momentary, power);
  }
  if (l->n_steps >= SHORT_STEPS) {
    power = mean_power (l, SHORT_STEPS);
    count (l->ranges, power, power_to_lufs (power));
    l->short_term = fmax (l->short_term, power);
  }
}

static void
count_silence (TfxLoudness *l, const double *samples, size_t n_frames)
{
  size_t n = n_frames * l->spec.n_channels;

  while (n > 0 && samples[n - 1] * samples[n - 1] <= TFX_AGC_SILENT)
    n--;
  l->n_silent = n > 0 ? n_frames - (n - 1) / l->spec.n_channels - 1
                      : l->n_silent + n_frames;
}

size_t
tfx_loudness_n_silent (const TfxLoudness *l)
{
  return l->n_silent;
}

bool
tfx_loudness_add (TfxLoudness *l, const double *samples, size_t n_frames)
{
  l->kernels->weigh (samples, n_frames, l->spec.n_channels, l->spec.weighting,
      l->weighed);
  if (!l->spec.skips_true_peaks)
    tfx_peak_line_find (&l->line, samples, n_frames, &l->largest);
  count_silence (l, samples, n_frames);
  l->in_step += n_frames;
  if (tfx_loudness_step_left (l) > 0)
    return false;
  end_step (l);
  return true;
}

void
tfx_loudness_merge (TfxLoudness *l, const TfxLoudness *other)
{
  for (size_t i = 0; i < N_CLASSES; i++) {
    l->blocks[i].n += other->blocks[i].n;
    l->blocks[i].power += other->blocks[i].power;
    l->ranges[i].n += other->ranges[i].n;
    l->ranges[i].power += other->ranges[i].power;
  }
  l->largest = fmax (l->largest, other->largest);
  l->momentary = fmax (l->momentary, other->momentary);
  l->short_term = fmax (l->short_term, other->short_term);
}

/* ---- reading ----------------------------------------------------------------------- */

/* From a class on. */
static Class
add_up (const Class *classes, size_t from)
{
  Class all = { 0.0, 0.0 };

  for (size_t i = from; i < N_CLASSES; i++) {
    all.n += classes[i].n;
    all.power += classes[i].power;
  }
  return all;
}

/* The first class above the gate, `below` LU under the mean of all.  The last class also
 * has all louder blocks, even if the gate is above it. */
static size_t
find_gate (const Class *classes, double below)
{
  const Class all = add_up (classes, 0);
  double at;

  if (all.n == 0.0)
    return 0;
  at = (power_to_lufs (all.power / all.n) - below - LOWEST_LUFS) * PER_LU;
  at = fmin (at, N_CLASSES - 1);
  return at > 0.0 ? (size_t)(at + 0.5) : 0;
}

double
tfx_loudness_integrated (const TfxLoudness *l)
{
  const Class all = add_up (l->blocks, find_gate (l->blocks, 10.0));

  return all.n > 0.0 ? power_to_lufs (all.power / all.n) : -INFINITY;
}

/* Below which that part of them lies, in LUFS. */
static double
find_part (const Class *classes, size_t from, double n, double part)
{
  const double at = floor ((n - 1.0) * part + 0.5);
  double below = 0.0;
  size_t i = from;

  while (i + 1 < N_CLASSES && below + classes[i].n <= at)
    below += classes[i++].n;
  return LOWEST_LUFS + ((double)i + 0.5) / PER_LU;
}

static double
find_range (const TfxLoudness *l)
{
  const size_t from = find_gate (l->ranges, 20.0);
  const double n = add_up (l->ranges, from).n;

  if (n == 0.0)
    return 0.0;
  return find_part (l->ranges, from, n, 0.95) -
         find_part (l->ranges, from, n, 0.1);
}

TfxLoudnessValues
tfx_loudness_read (const TfxLoudness *l)
{
  const bool has_block = l->n_steps >= MOMENTARY_STEPS;
  const bool has_short = l->n_steps >= SHORT_STEPS;

  return (TfxLoudnessValues){
    .integrated = tfx_loudness_integrated (l),
    .momentary =
        has_block ? power_to_lufs (mean_power (l, MOMENTARY_STEPS)) : -INFINITY,
    .momentary_max = power_to_lufs (l->momentary),
    .short_term =
        has_short ? power_to_lufs (mean_power (l, SHORT_STEPS)) : -INFINITY,
    .short_term_max = power_to_lufs (l->short_term),
    .range = find_range (l),
    .true_peak_db = l->largest > 0.0 ? 20.0 * log10 (l->largest) : -INFINITY,
  };
}
