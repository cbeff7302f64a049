/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cost.c: see cost.h.
 *
 * The time of a kernel is the longest time that one of the card's units needs, or,
 * in short blocks, the time of one thread.  A block from host to host is split
 * (engine-run.c): its time is that of one part, plus the longest stage for each
 * further part.  Counts are multiplied by SLACK, because units wait for each other.
 * Launches and waits are not counted; they have the times of known drivers, rounded
 * up. */
#include "cost.h"

#include <math.h>

#include "core/block.h"
#include "core/branches.h"
#include "copy.h"
#include "engine-private.h"
#include "fft-cut.h"
#include "core/kind.h"
#include "shape.h"
#include "units.h"

#define LAUNCH 5e3   /* ns to start a kernel, */
#define TRANSFER 6e3 /* a transfer, */
#define FAR 2e3      /* a kernel's read across the bus, of 256 frames, */
#define WAIT 10e3    /* and to wait for the end of a run */
#define HOST 10.0    /* bytes a ns that a core copies to pinned memory */
#define SLACK 2.0    /* times what the counts say */

#define LATENCY 4.0 /* clocks until a result can be used */

/* ---- cards ------------------------------------------------------------------- */

/* By compute capability: lanes for floats of a multiprocessor, and bytes a ns of
 * the bus, each way, in a slot as most have it.  Others are not known. */
static const struct
{
  int compute;
  double n_float, bus;
} generations[] = {
  { 70, 64, 11 },   /* Volta */
  { 72, 64, 11 },   /* Xavier */
  { 75, 64, 11 },   /* Turing */
  { 80, 64, 20 },   /* Ampere */
  { 86, 128, 20 },  /* Ampere */
  { 87, 128, 20 },  /* Orin */
  { 89, 128, 20 },  /* Ada */
  { 90, 128, 40 },  /* Hopper */
  { 100, 128, 40 }, /* Blackwell, B200 */
  { 120, 128, 40 }, /* Blackwell, RTX 50 */
};

/* What the card does in a ns. */
typedef struct Rates
{
  double clock;                            /* GHz */
  double issued, n_float, n_double, n_int; /* instructions of threads */
  double passes, cached, memory, bus;      /* bytes, but for passes */
} Rates;

/* False: the card is not known, or its driver does not say. */
static bool
get_rates (const TfxCudaCard *card, Rates *r)
{
  const double n = card->n_multiprocessors, clock = 1e-6 * card->clock_khz;

  for (size_t i = 0; i < sizeof generations / sizeof *generations; i++) {
    if (generations[i].compute != card->compute)
      continue;
    *r = (Rates){ .clock = clock,
      .issued = n * clock * 128.0,
      .n_float = n * clock * generations[i].n_float,
      .n_double = n * clock * generations[i].n_float / card->double_ratio,
      .n_int = n * clock * 64.0,
      .passes = n * clock,
      .cached = n * clock * 64.0,
      /* Two words a clock. */
      .memory = 2e-6 * card->memory_khz * card->memory_bits / 8.0,
      .bus = generations[i].bus };
    return card->double_ratio > 0 && r->issued > 0.0 && r->memory > 0.0;
  }
  return false;
}

/* ---- counts ------------------------------------------------------------------ */

/* For a sample.  Instructions: all, of the arithmetic, of integers; passes over
 * shared memory; and bytes to and from the second-level cache. */
typedef struct Count
{
  double issued, arithmetic, integer, passes, cached;
} Count;

/* Groups of sections: for each sample; for that and a group, and a section; for the
 * segment of a thread, for that and a section, and for that and a section
 * squared. */
typedef struct GroupCount
{
  Count sample, group, section, segment, segment_section, segment_squared;
} GroupCount;

/* In double one group of a float stream, groups of as many sections as there may be,
 * and others; and pairs of floats. */
static const GroupCount only_group = { { 28.4, 0.3, 12, 0.2 }, { 0 },
  { 4.55, 7.1, 0, 0.012 }, { 560, 1.5, 290, 1.8 }, { 270, 76, 130, 0.4 },
  { 0, 7.0 } };
static const GroupCount full_groups = { { 0, 0, 14 }, { 29, 0.3, 3, 0.15 },
  { 6.9, 7.1 }, { 430, 1.5, 150, 1.8 }, { 329, 76, 85, 0.4 }, { 9.6, 7.0 } };
static const GroupCount double_groups = { { 0, 0, 14 }, { 29, 0.3, 3, 0.15 },
  { 6.9, 7.1 }, { 430, 1.5, 290, 1.8 }, { 329, 76, 130, 0.4 }, { 9.6, 7.0 } };
static const GroupCount twofold_groups = { { 0 }, { 26, 0.6, 17, 0.15 },
  { 94, 90, 1.25, 0.035 }, { 349, 0, 290, 1.8 }, { 1020, 850, 130, 0.4 },
  { 97, 93 } };

/* Groups of one section in segments of 128 frames, in doubles: for each sample; and
 * for that and a section. */
static const Count alone_sample = { 21, 0, 16, 0.12 };
static const Count alone_section = { 20, 8.3, 5.1, 0.2 };

/* A FIR in direct form: for each sample; and for that and a tap.  In double as a product
 * of matrices; where there are no units for that, double itself sets the limit. */
static const Count fir_sample[] = {
  [TFX_REAL_DOUBLE] = { 64.5, 17, 43, 0.5 },
  [TFX_REAL_TWOFOLD] = { 93, 52, 25.5, 0.43 },
};
static const Count fir_tap[] = {
  [TFX_REAL_DOUBLE] = { 0.32, 1.02, 0.125, 0.006 },
  [TFX_REAL_TWOFOLD] = { 13.6, 13.25, 0.1, 0.016 },
};

/* By transforms: for each sample of a tile and a pass of radix 2; and for that and
 * a partition but the first. */
static const Count fft_pass[] = {
  [TFX_REAL_DOUBLE] = { 22.1, 12.9, 5.5, 0.17, 5.5 },
  [TFX_REAL_TWOFOLD] = { 104, 90, 9.3, 0.21, 8.2 },
};
static const Count fft_partition[] = {
  [TFX_REAL_DOUBLE] = { 23.7, 0.3, 12.3, 0.022, 21 },
  [TFX_REAL_TWOFOLD] = { 19.8, 3.8, 9.9, 0.022, 22 },
};

/* A delay line, in doubles: for each sample; and for that and a tap. */
static const Count delay_sample = { 69, 2.3, 43 };
static const Count delay_tap = { 30.5, 2.7, 16.4, 0, 8 };

static void
add (TfxCost *cost, const Count *count, double times)
{
  cost->issued += times * count->issued;
  cost->arithmetic += times * count->arithmetic;
  cost->integer += times * count->integer;
  cost->passes += times * count->passes;
  cost->cached += times * count->cached;
}

static void
add_cascade (const TfxCudaCard *card, const TfxStep *step, unsigned n_channels,
    size_t n_frames, TfxCost *cost)
{
  const TfxGroups g =
      tfx_tables_group (step->n_sos, step->plan->sample == TFX_SAMPLE_F64);
  const bool is_narrow = g.n == 1 && step->plan->sample == TFX_SAMPLE_F32;
  const GroupCount *count = cost->real == TFX_REAL_TWOFOLD ? &twofold_groups
                            : is_narrow                    ? &only_group
                            : g.size == TFX_GROUP_MAX      ? &full_groups
                                                           : &double_groups;
  TfxShapeAsk ask;
  double frames;

  tfx_shape_ask (card, g, cost->real, is_narrow, &ask);
  ask.n_frames = n_frames;
  ask.n_channels = n_channels;
  ask.by_channel = true; /* as most streams are */
  ask.max_threads = is_narrow || g.size < 5 ? 256 : 128; /* cascade.cu */
  frames = ldexp (1.0, (int)tfx_shape_choose (&ask, -1, -1).segment_log2);
  if (ask.min_segment_log2 > 0) {
    add (cost, &alone_sample, 1);
    add (cost, &alone_section, g.n);
  } else {
    add (cost, &count->sample, 1);
    add (cost, &count->group, g.n);
    add (cost, &count->section, g.n * g.size);
    add (cost, &count->segment, g.n / frames);
    add (cost, &count->segment_section, g.n * g.size / frames);
    add (cost, &count->segment_squared, g.n * g.size * g.size / frames);
  }
  cost->serial = frames * cost->issued;
}

/* Kernels of an output: the mean, and the most. */
static double
count_kernels (const TfxStage *stage, double *most)
{
  const unsigned n = stage->u.fir.n_channels;
  double all = 0.0;

  *most = 1.0;
  if (!stage->u.fir.matrix)
    return 1.0;
  for (unsigned c = 0; c < n; c++) {
    double count = 0.0;

    for (unsigned k = 0; k < n; k++)
      count += stage->u.fir.matrix[c * n + k] >= 0;
    all += count;
    *most = fmax (*most, count);
  }
  return all / n;
}

static void
add_fft (const TfxCudaCard *card, const TfxStage *stage, double n_samples,
    size_t n_frames, unsigned log2, TfxCost *cost)
{
  const TfxReal real = cost->real;
  const size_t n_taps = stage->u.fir.n_taps;
  const double size = ldexp (1.0, (int)log2);
  double n_partitions, numbers = size / TFX_FFT_THREADS;
  const double work = tfx_cuda_fft_work (n_taps, n_frames, log2, &n_partitions);
  double most;
  const double mean = count_kernels (stage, &most);

  cost->n_launches = stage->u.fir.matrix ? 2 : 1;
  add (cost, &fft_pass[real], work * log2);
  add (cost, &fft_partition[real],
      work * fmax (n_partitions * mean - 1.0, 0.0));
  /* Of a thread; fewer where a few tiles have the device to themselves (fft.c). */
  if (n_partitions <= 1.0 || work * n_samples / size > card->n_multiprocessors)
    numbers = fmax (numbers, TFX_FFT_RUN);
  cost->serial = numbers * (cost->issued + work * n_partitions * (most - mean) *
                                               fft_partition[real].issued);
}

static void
add_fir (const TfxCudaCard *card, const TfxStep *step, unsigned n_channels,
    size_t n_frames, TfxCost *cost)
{
  const TfxReal real = cost->real;
  const size_t n_taps = step->stage->u.fir.n_taps;
  const unsigned log2 =
      tfx_cuda_fft_choose (real, n_taps, n_frames, (size_t)card->max_shared);

  if (step->stage->u.fir.matrix ||
      tfx_cuda_fft_method (step->stage->u.fir.method, real, n_taps, n_frames,
          log2) == TFX_FIR_FFT) {
    add_fft (card, step->stage, (double)n_frames * n_channels, n_frames, log2,
        cost);
  } else {
    add (cost, &fir_sample[real], 1.0);
    add (cost, &fir_tap[real], (double)n_taps);
    cost->serial = TFX_FIR_RUN * cost->issued;
  }
}

TfxCost
tfx_cost_step (const TfxCudaCard *card, const TfxStep *step,
    unsigned n_channels, size_t n_frames)
{
  const double size = (double)tfx_sample_size (step->plan->sample);
  const TfxCudaUnitKind *unit =
      step->kind == TFX_STEP_UNIT ? tfx_cuda_units_find (step->stage) : NULL;
  TfxCost cost = { .n_launches = 1,
    .bytes = 2.0 * size,
    .real = step->plan->sample == TFX_SAMPLE_F32 ? tfx_card_real (card)
                                                 : TFX_REAL_DOUBLE };

  if (step->kind == TFX_STEP_CASCADE && step->n_sos > 0) {
    add_cascade (card, step, n_channels, n_frames, &cost);
  } else if (step->kind == TFX_STEP_FIR) {
    add_fir (card, step, n_channels, n_frames, &cost);
  } else if (step->kind == TFX_STEP_SUM || step->kind == TFX_STEP_SPLIT) {
    cost = (TfxCost){ 0 };
  } else if (unit && unit->cost) {
    cost.real = TFX_REAL_DOUBLE;
    unit->cost (step->stage, n_channels, n_frames, &cost);
  } else { /* a gain, or a delay line */
    const double n_taps = unit ? (double)step->stage->u.delay.n_taps : 0.0;

    cost.real = TFX_REAL_DOUBLE;
    add (&cost, &delay_sample, 1.0);
    add (&cost, &delay_tap, n_taps);
    cost.serial = cost.issued;
  }
  return cost;
}

/* ---- a plan ------------------------------------------------------------------ */

/* ns of a kernel. */
static double
kernel_time (const Rates *r, const TfxCost *c, double n_samples)
{
  const double arithmetic =
      c->real == TFX_REAL_DOUBLE ? r->n_double : r->n_float;
  const double units =
      fmax (fmax (c->issued / r->issued, c->arithmetic / arithmetic),
          fmax (fmax (c->integer / r->n_int, c->passes / r->passes),
              fmax (c->bytes / r->memory, c->cached / r->cached)));
  /* A warp waits longer where few lanes do its arithmetic. */
  const double lanes = arithmetic / r->passes;
  const double clocks = lanes < 8.0 ? 32.0 / lanes : LATENCY;

  return SLACK * (n_samples * units + c->serial * clocks / r->clock);
}

/* ns of a copy of some channels. */
static double
copy_time (const Rates *r, const TfxPlan *plan, unsigned n_channels,
    size_t n_frames, unsigned *launches)
{
  TfxCost cost = { .bytes = 2.0 * (double)tfx_sample_size (plan->sample),
    .real = TFX_REAL_DOUBLE };

  tfx_cuda_copy_cost (&cost);
  *launches += 1;
  return kernel_time (r, &cost, (double)n_frames * n_channels);
}

/* ns of the copies of a split: of channels that are gathered, and given back, and of
 * those that have no branch. */
static double
split_time (const Rates *r, const TfxStep *s, unsigned n_channels,
    size_t n_frames, unsigned *launches)
{
  unsigned n_rest = n_channels;
  double time = 0.0;

  for (size_t k = 0; k < s->n_branches; k++) {
    const unsigned n = tfx_branches_n_channels (s->stage, k, n_channels);
    unsigned first, step;

    n_rest -= n;
    if (tfx_branches_find_even (s->stage->u.sum.channels[k], &first, &step))
      continue;
    time += copy_time (r, s->plan, n, n_frames, launches);
    time += copy_time (r, s->plan, n, n_frames, launches);
  }
  if (n_rest > 0)
    time += copy_time (r, s->plan, n_rest, n_frames, launches);
  return time;
}

/* ns of the kernels of steps in series; launches counts them. */
static double
list_time (const TfxCudaCard *card, const Rates *r, const TfxPlan *plan,
    const TfxSteps *list, unsigned n_channels, size_t n_frames,
    unsigned *launches)
{
  const double n_samples = (double)n_frames * n_channels;
  double time = 0.0;

  if (list->n == 0)
    return copy_time (r, plan, n_channels, n_frames, launches);
  for (size_t i = 0; i < list->n; i++) {
    const TfxStep *s = &list->steps[i];
    const TfxCost cost = tfx_cost_step (card, s, n_channels, n_frames);

    if (tfx_cuda_engine_is_folded (list, i))
      continue;
    *launches += cost.n_launches;
    time += kernel_time (r, &cost, n_samples);
    if (s->kind == TFX_STEP_SPLIT)
      time += split_time (r, s, n_channels, n_frames, launches);
    for (size_t k = 0; k < s->n_branches; k++) {
      const unsigned n = s->kind == TFX_STEP_SPLIT
                             ? tfx_branches_n_channels (s->stage, k, n_channels)
                             : n_channels;

      time += list_time (card, r, plan, &s->branches[k], n, n_frames, launches);
    }
  }
  return time;
}

/* Whether engine.c makes all of it. */
static bool
can_run (const TfxSteps *list)
{
  bool can = true;

  for (size_t i = 0; can && i < list->n; i++) {
    const TfxStep *s = &list->steps[i];

    can = s->kind != TFX_STEP_FADE &&
          ((s->kind != TFX_STEP_UNIT && s->kind != TFX_STEP_FIR) ||
              tfx_cuda_units_find (s->stage));
    for (size_t k = 0; can && k < s->n_branches; k++)
      can = can_run (&s->branches[k]);
  }
  return can;
}

/* The stages of a part, ns: the host's copies and its wait, upload, kernels and
 * download. */
typedef struct Stages
{
  double host, up, run, down;
} Stages;

static double
longest (const Stages *s)
{
  return fmax (fmax (s->host, s->run), fmax (s->up, s->down));
}

bool
tfx_cuda_estimate (const TfxCudaCard *card, const TfxPlan *plan,
    const TfxCudaJob *job, double *ns)
{
  const size_t most = 1 + (TFX_PART_SAMPLES - 1) / plan->n_channels;
  const size_t n_frames = job->n_frames > most ? most : job->n_frames;
  const double n_parts = ceil ((double)job->n_frames / (double)n_frames);
  const double bytes = (double)n_frames * plan->n_channels *
                       (double)tfx_sample_size (plan->sample);
  const double n_ways = !job->from_device + !job->to_device;
  const bool is_short =
      tfx_transfer_is_short (n_frames, plan->n_channels, plan->sample);
  unsigned n_launches = 0;
  Stages s;
  Rates r;

  if (!get_rates (card, &r) || job->n_frames == 0 || !can_run (&plan->top))
    return false;
  s.host = WAIT + n_ways * bytes / HOST;
  s.up = s.down = 0.0;
  if (!job->from_device && !card->is_integrated)
    s.up = is_short && tfx_cuda_engine_reads_once (plan)
               ? FAR * ceil ((double)n_frames / 256.0) + 2.0 * bytes / r.bus
               : TRANSFER + bytes / r.bus;
  if (!job->to_device && !card->is_integrated)
    s.down = is_short ? FAR + 2.0 * bytes / r.bus : TRANSFER + bytes / r.bus;
  s.run = job->only_moves ? 0.0
                          : list_time (card, &r, plan, &plan->top,
                                plan->n_channels, n_frames, &n_launches);
  s.run += n_launches * LAUNCH;
  *ns = s.host + s.up + s.run + s.down + (n_parts - 1.0) * longest (&s);
  return true;
}
