/* SPDX-License-Identifier: LGPL-2.1-or-later
 * work.c: what a plan costs on the CPU, so that another device can be compared
 * with it. */
#include <string.h>

#include "../backend.h"
#include "../kind.h"

/* ns for a section and a sample: of many channels, and of a single one.  From
 * the table of the api chain in docs/benchmarks.md, divided by its six
 * sections. */
static const struct
{
  const char *kernel;
  double many, single;
  unsigned lanes;
} sections[] = {
  { "c", 1.03, 1.0, 1 },
  { "sse2", 0.38, 1.0, 2 },
  { "avx2", 0.17, 0.64, 8 },
  { "neon", 0.34, 0.9, 2 },
  { "avx512", 0.085, 0.35, 8 },
};

/* ns for a step and a sample: a pass over memory in the cache. */
#define STEP 0.1

/* Channels that do not fill a vector cost as much as if they did. */
static double
section_cost (unsigned n_channels)
{
  const char *kernel = tfx_cpu_backend ()->kernel;
  size_t i = sizeof sections / sizeof *sections - 1;
  double filled;

  while (i > 0 && strcmp (sections[i].kernel, kernel) != 0)
    i--;
  if (n_channels >= sections[i].lanes)
    return sections[i].many;
  filled = sections[i].many * sections[i].lanes / n_channels;
  return filled < sections[i].single ? filled : sections[i].single;
}

/* ns for a frame of one channel. */
static double
add_steps (const TfxPlan *plan, const TfxSteps *list, size_t block_frames,
    TfxWork *work)
{
  double cost = 0.0;

  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];

    cost += STEP;
    if (s->kind == TFX_STEP_CASCADE) {
      work->n_sections += s->n_sos;
      cost += (double)s->n_sos * section_cost (plan->n_channels);
    } else if (s->stage) {
      const TfxUnitSpec spec = { plan->n_channels, plan->sample, block_frames,
        tfx_cpu_backend ()->kernel };

      work->n_taps += s->stage->kind->n_taps (s->stage);
      cost += s->stage->kind->cost (s->stage, &spec);
    }
    for (size_t k = 0; k < s->n_branches; k++)
      cost += add_steps (plan, &s->branches[k], block_frames, work);
    work->n_steps++;
  }
  return cost;
}

void
tfx_plan_work (const TfxPlan *plan, size_t block_frames, TfxWork *work)
{
  *work = (TfxWork){ 0 };
  work->cpu_ns =
      plan->n_channels * add_steps (plan, &plan->top, block_frames, work);
}
