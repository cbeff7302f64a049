/* SPDX-License-Identifier: LGPL-2.1-or-later
 * work.c: the cost of a plan on the CPU, for comparison with other devices. */
#include <string.h>

#include "core/backend.h"
#include "core/branches.h"

/* ns for a section and a sample: of many channels, and of a single one, F32 and F64.
 * The least that has been measured of the api chain, on a Zen 5 or a Zen 4, divided by
 * its six sections: a device is chosen only if it is faster than all of them.  Those of
 * AArch64, which has not been measured, are near those of SSE2. */
static const struct
{
  const char *kernel;
  double many, single[2];
} sections[] = {
  { "c", 1.03, { 1.0, 1.0 } },
  { "sse2", 0.38, { 0.45, 0.65 } },
  { "avx2", 0.17, { 0.25, 0.33 } },
  { "neon", 0.34, { 0.45, 0.65 } },
  { "avx512", 0.085, { 0.2, 0.35 } },
};

/* ns for a step and a sample: a pass over memory in the cache. */
#define STEP 0.1

/* Sections fill the lanes that channels leave. */
static double
section_cost (const TfxPlan *plan, unsigned n_channels)
{
  const char *kernel = tfx_cpu_backend ()->kernel;
  size_t i = sizeof sections / sizeof *sections - 1;
  double shared;

  while (i > 0 && strcmp (sections[i].kernel, kernel) != 0)
    i--;
  shared = sections[i].single[plan->sample] / n_channels;
  return shared > sections[i].many ? shared : sections[i].many;
}

/* ns for a frame of n_channels channels; n_lanes: channels that share vectors, as those of all
 * branches of a split do. */
static double
steps_cost (const TfxPlan *plan, const TfxSteps *list, unsigned n_channels,
    unsigned n_lanes, size_t block_frames)
{
  double cost = 0.0;

  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    double sample = STEP;

    if (s->kind == TFX_STEP_CASCADE) {
      sample += (double)s->n_sos * section_cost (plan, n_lanes);
    } else if (s->stage && s->stage->kind->cost) {
      const TfxUnitSpec spec = { n_channels, plan->sample, block_frames,
        tfx_cpu_backend ()->kernel };

      sample += s->stage->kind->cost (s->stage, &spec);
    }
    cost += n_channels * sample;
    for (size_t k = 0; k < s->n_branches; k++) {
      const unsigned n = s->kind == TFX_STEP_SPLIT
                             ? tfx_branches_n_channels (s->stage, k, n_channels)
                             : n_channels;

      cost += steps_cost (plan, &s->branches[k], n, n_lanes, block_frames);
    }
  }
  return cost;
}

double
tfx_plan_cost (const TfxPlan *plan, size_t block_frames)
{
  return steps_cost (plan, &plan->top, plan->n_channels, plan->n_channels,
      block_frames);
}
