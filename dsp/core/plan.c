/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plan.c: a plan for a row of filters: it borrows their state, runs them from one
 * change to the next, and is compiled anew where the structure changes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "block.h"
#include "borrow.h"
#include "change.h"
#include "compile.h"
#include "denormal.h"
#include "automation.h"
#include "step.h"

/* ---- compiling ------------------------------------------------------------------- */

/* Exchanges the results of the compiler, and the engines. */
static void
swap_compiled (TfxPlan *a, TfxPlan *b)
{
  const TfxPlan was = *a;

#define SWAP(member)                                                           \
  do {                                                                         \
    a->member = b->member;                                                     \
    b->member = was.member;                                                    \
  } while (0)
  SWAP (engine);
  SWAP (top);
  SWAP (parts);
  SWAP (sos);
  SWAP (scratch);
  SWAP (n_parts);
  SWAP (n_sos);
  SWAP (n_all_steps);
  SWAP (n_chain_stages);
  SWAP (is_stale);
  SWAP (is_fading);
#undef SWAP
}

static void
free_compiled (TfxPlan *plan)
{
  if (plan->engine) {
    plan->backend->add_stats (plan->engine, &plan->freed);
    plan->backend->engine_free (plan->engine);
    plan->engine = NULL;
  }
  tfx_compile_clear (plan);
}

/* An engine refers to its plan by address, so it is freed there. */
static void
free_spare (TfxPlan *plan)
{
  if (!plan->spare)
    return;
  swap_compiled (plan, plan->spare);
  free_compiled (plan);
  swap_compiled (plan, plan->spare);
  free (plan->spare);
  plan->spare = NULL;
}

/* Compiles a plan that has nothing compiled; is_cut: see tfx_compile_steps(). */
static int
make_engine (TfxPlan *plan, bool is_cut)
{
  int ret = tfx_compile_steps (plan, is_cut);

  if (ret == 0)
    ret = plan->backend->engine_new (plan, &plan->engine);
  if (ret < 0)
    tfx_compile_clear (plan);
  return ret;
}

/* Whether a slot that is, or may become, automated shares its step with others. */
static bool
has_shared (const TfxPlan *plan, bool may_become)
{
  bool found = false;

  for (size_t i = 0; !found && i < plan->n_parts; i++) {
    const TfxPlanPart *part = &plan->parts[i];

    found = plan->known[part->filter].serial ==
                plan->filters[part->filter]->serial &&
            part->step->n_parts > 1 &&
            (may_become ? part->slot->is_reserved : part->slot->is_automated);
  }
  return found;
}

/* The same steps, but cut at every slot that may become automated while samples flow: the
 * plan changes to them without allocation.  Without memory there is no spare. */
static void
make_spare (TfxPlan *plan)
{
  TfxPlan *spare = NULL;

  free_spare (plan);
  if (plan->backend->update_step && !plan->is_fading && has_shared (plan, true))
    spare = calloc (1, sizeof *spare);
  if (!spare)
    return;
  swap_compiled (plan, spare);
  if (make_engine (plan, true) == 0)
    plan->spare = spare;
  swap_compiled (plan, spare);
  if (!plan->spare)
    free (spare);
}

static void
set_known (TfxPlan *plan)
{
  for (size_t i = 0; i < plan->n_filters; i++) {
    const TfxFilter *f = plan->filters[i];

    plan->known[i] = (TfxPlanKnown){ f->serial, f->n_values, f->n_settings };
  }
}

/* Whether all filters have the structure that the plan was compiled for. */
static bool
knows_structure (const TfxPlan *plan)
{
  bool is_known = true;

  for (size_t i = 0; is_known && i < plan->n_filters; i++)
    is_known = plan->known[i].serial == plan->filters[i]->serial;
  return is_known;
}

/* Adds the counts of a plan and of its engine. */
static void
add_stats (const TfxPlan *plan, TfxStats *stats)
{
  stats->dispatches += plan->n_dispatches + plan->freed.dispatches;
  stats->recoveries += plan->n_recoveries + plan->freed.recoveries;
  stats->launches += plan->freed.launches;
  stats->uploads += plan->freed.uploads;
  stats->downloads += plan->freed.downloads;
  if (plan->engine)
    plan->backend->add_stats (plan->engine, stats);
  if (plan->other)
    add_stats (plan->other, stats);
}

/* Frees the plan for the other backend if it would have to be compiled anew: its memory is
 * better used by this one. */
static void
free_stale_other (TfxPlan *plan)
{
  if (!plan->other || knows_structure (plan->other))
    return;
  add_stats (plan->other, &plan->freed);
  tfx_plan_free (&plan->other);
}

/* Other plans give the state back. */
static void
give_back_all (TfxPlan *plan)
{
  for (size_t i = 0; i < plan->n_filters; i++) {
    if (plan->backend->uses_units)
      tfx_borrow_from_device (plan->filters[i]);
    tfx_borrow_give_back (plan->filters[i]);
  }
}

/* The slots have the state before and after. */
static int
compile (TfxPlan *plan)
{
  TfxPlan old = { 0 };
  int ret;

  plan->sample = plan->filters[0]->spec.sample;
  plan->block_frames = plan->filters[0]->spec.block_frames;
  for (size_t i = 0; plan->backend->uses_units && i < plan->n_filters; i++) {
    if (!plan->filters[i]->kernel)
      plan->filters[i]->kernel = plan->backend->kernel;
  }
  swap_compiled (plan, &old);
  ret = make_engine (plan, false);
  swap_compiled (plan, &old);
  if (ret < 0)
    return ret;
  free_compiled (plan);
  swap_compiled (plan, &old);
  set_known (plan);
  make_spare (plan);
  for (size_t i = 0; i < plan->n_filters; i++)
    tfx_change_settle (plan->filters[i]);
  set_known (plan);
  free_stale_other (plan);
  return 0;
}

/* ---- making ready ------------------------------------------------------------------- */

/* Takes values that have changed at once, or while another plan ran, and the state. */
static int
load (TfxPlan *plan)
{
  bool are_known = true;
  int ret = 0;

  for (size_t i = 0; i < plan->n_filters; i++)
    are_known = are_known &&
                plan->known[i].n_values == plan->filters[i]->n_values &&
                plan->known[i].n_settings == plan->filters[i]->n_settings;
  if (!are_known) {
    tfx_compile_set_values (plan);
    ret = plan->backend->update (plan->engine, plan);
  }
  if (ret < 0)
    return ret;
  ret = tfx_borrow_load (plan);
  if (ret == 0)
    set_known (plan);
  return ret;
}

static inline bool
is_held (const TfxPlan *plan, size_t i)
{
  const TfxFilter *f = plan->filters[i];

  return f->holder == plan && plan->known[i].serial == f->serial &&
         plan->known[i].n_values == f->n_values &&
         (plan->backend->uses_units ||
             plan->known[i].n_settings == f->n_settings);
}

/* The engine gets the state and the values of all filters, in the structure that
 * they have now. */
static int
take_hold (TfxPlan *plan)
{
  const bool is_needed = !plan->engine || !knows_structure (plan);
  bool is_wanted = plan->is_stale;
  int ret;

  give_back_all (plan);
  for (size_t i = 0; i < plan->n_filters; i++)
    is_wanted = is_wanted || plan->filters[i]->wants_compile;
  if (is_needed || is_wanted) {
    ret = compile (plan);
    /* Without memory the old engine runs, and the next run tries again. */
    if (ret < 0 && (is_needed || ret == -ENOTSUP))
      return ret;
  }
  return load (plan);
}

/* Automated slots become separate steps: of the spare, unless the best cut is wanted.  Where
 * cross-fades run, the next plan has the best cut. */
static void
cut_steps (TfxPlan *plan, TfxCut cut)
{
  const bool is_wanted = has_shared (plan, false);

  if (plan->is_fading && cut == TFX_CUT_SPARE)
    return;
  if (is_wanted && plan->spare && cut == TFX_CUT_SPARE) {
    give_back_all (plan);
    swap_compiled (plan, plan->spare);
    for (size_t i = 0; i < plan->n_filters; i++)
      plan->known[i].n_values--;
  } else if (is_wanted || (!plan->spare && has_shared (plan, true))) {
    plan->is_stale = true;
  }
}

/* Settings that waited come into force, and automation begins. */
static void
begin_changes (TfxPlan *plan)
{
  for (size_t i = 0; i < plan->n_filters; i++) {
    TfxFilter *f = plan->filters[i];

    if (f->is_changing) {
      tfx_change_begin_next (f);
      tfx_automation_wake (f);
    }
    if (f->wants_cut && plan->backend->update_step)
      cut_steps (plan, f->wants_cut);
    f->wants_cut = TFX_CUT_NONE;
  }
}

/* Whether nothing has to be done before a run: the engine is up to date; and, if `at_rest`, no
 * value moves and no filter changes. */
static inline bool
look_at_row (const TfxPlan *plan, const bool at_rest)
{
  if (plan->is_stale || !plan->engine || (at_rest && plan->is_moving))
    return false;
  for (size_t i = 0; i < plan->n_filters; i++) {
    const TfxFilter *f = plan->filters[i];

    if ((at_rest && f->is_changing) || f->wants_compile || f->wants_cut ||
        !is_held (plan, i))
      return false;
  }
  return true;
}

/* Prepares the next frames.  *n_frames is reduced to those before the next change. */
static int
get_ready (TfxPlan *plan, size_t *n_frames)
{
  bool is_changing = false;
  int ret = 0;

  for (size_t i = 0; i < plan->n_filters; i++)
    is_changing = is_changing || plan->filters[i]->is_changing;
  if (is_changing && !plan->backend->update_step)
    return -ENOTSUP;
  /* Twice: a cross-fade may end here, and the setting that waits for it begin. */
  for (int i = 0; ret == 0 && i < 1 + is_changing; i++) {
    begin_changes (plan);
    if (!look_at_row (plan, false))
      ret = take_hold (plan);
  }
  if (plan->is_moving || is_changing)
    tfx_step_mark_moving (plan);
  if (!is_changing || ret < 0)
    return ret;
  for (size_t i = 0; i < plan->n_filters; i++) {
    TfxFilter *f = plan->filters[i];
    size_t n;

    if (!f->is_changing)
      continue;
    n = tfx_change_frames (f);
    *n_frames = n < *n_frames ? n : *n_frames;
  }
  return 0;
}

/* ---- life ----------------------------------------------------------------------------- */

int
tfx_plan_new (TfxFilter *const *filters, size_t n, const TfxBackend *backend,
    TfxPlan **out)
{
  TfxPlan *plan;
  size_t n_frames = 1;
  int ret;

  *out = NULL;
  if (n < 1 || !backend)
    return -EINVAL;
  for (size_t i = 1; i < n; i++) {
    if (filters[i]->spec.rate_hz != filters[0]->spec.rate_hz ||
        filters[i]->spec.n_channels != filters[0]->spec.n_channels ||
        filters[i]->spec.sample != filters[0]->spec.sample)
      return -EINVAL;
  }
  plan = calloc (1, sizeof *plan);
  if (!plan)
    return -ENOMEM;
  plan->filters = calloc (n, sizeof *plan->filters);
  plan->known = calloc (n, sizeof *plan->known);
  if (!plan->filters || !plan->known) {
    free (plan->filters);
    free (plan->known);
    free (plan);
    return -ENOMEM;
  }
  pthread_mutex_init (&plan->lock, NULL);
  plan->backend = backend;
  plan->n_channels = filters[0]->spec.n_channels;
  for (plan->n_filters = 0; plan->n_filters < n; plan->n_filters++)
    plan->filters[plan->n_filters] = tfx_filter_ref (filters[plan->n_filters]);
  ret = get_ready (plan, &n_frames);
  if (ret < 0)
    tfx_plan_free (&plan);
  *out = plan;
  return ret;
}

/* Takes the flights that have ended off the list.  Frames that were lost do not count, since
 * another plan runs them again. */
static void
end_flights (TfxPlan *plan)
{
  for (TfxFlight **link = &plan->flights; *link;) {
    TfxFlight *flight = *link;

    if (flight->n_parts > 0) {
      link = &flight->next;
      continue;
    }
    for (size_t i = 0; i < plan->n_filters; i++)
      plan->filters[i]->n_run -= flight->n_advanced - flight->n_done;
    *link = flight->next;
  }
}

void
tfx_plan_free (TfxPlan **plan)
{
  TfxPlan *p = *plan;

  *plan = NULL;
  if (!p)
    return;
  tfx_plan_free (&p->other);
  for (size_t i = 0; i < p->n_filters; i++) {
    if (p->filters[i]->holder == p)
      tfx_borrow_give_back (p->filters[i]);
  }
  free_spare (p);
  free_compiled (p);
  end_flights (p);
  for (size_t i = 0; i < p->n_filters; i++)
    tfx_filter_unref (&p->filters[i]);
  pthread_mutex_destroy (&p->lock);
  free (p->filters);
  free (p->known);
  free (p);
}

bool
tfx_plan_is_for (const TfxPlan *plan, TfxFilter *const *filters, size_t n,
    const TfxBackend *backend)
{
  return plan->backend == backend && plan->n_filters == n &&
         memcmp (plan->filters, filters, n * sizeof *filters) == 0;
}

bool
tfx_plan_is_in_progress (const TfxBackend *backend)
{
  return backend->is_busy && backend->is_busy (backend);
}

size_t
tfx_plan_n_filters (const TfxPlan *plan)
{
  return plan->n_filters;
}

TfxFilter *const *
tfx_plan_filters (const TfxPlan *plan)
{
  return plan->filters;
}

/* ---- frames go by ------------------------------------------------------------------------ */

static bool
fits (const TfxPlan *plan, const TfxBlock *in, const TfxBlock *out)
{
  return in->type <= TFX_SAMPLE_F64 && in->type == out->type &&
         in->n_channels == plan->n_channels &&
         out->n_channels == plan->n_channels && in->n_frames == out->n_frames;
}

static void
advance_filters (TfxPlan *plan, size_t n_frames)
{
  for (size_t i = 0; i < plan->n_filters; i++)
    tfx_change_advance (plan->filters[i], n_frames);
}

/* As many frames as come before something changes. */
static int
run_part (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out)
{
  const TfxBackend *backend = plan->backend;
  size_t n = in->n_frames - plan->n_done;
  int ret = look_at_row (plan, true) ? 0 : get_ready (plan, &n);

  if (ret < 0)
    return ret;
  if (backend->max_samples > 0 && n > backend->max_samples / in->n_channels)
    n = backend->max_samples / in->n_channels;
  if (n < in->n_frames) {
    const TfxBlock from =
        tfx_block_part (in, plan->n_done, n, 0, in->n_channels);
    const TfxBlock to =
        tfx_block_part (out, plan->n_done, n, 0, in->n_channels);

    ret = backend->run (plan->engine, &from, &to);
  } else {
    ret = backend->run (plan->engine, in, out);
  }
  if (ret < 0)
    n = backend->n_done ? backend->n_done (plan->engine) : 0;
  else
    plan->n_recoveries += (uint64_t)ret;
  plan->n_done += n;
  advance_filters (plan, n);
  return ret < 0 ? ret : 0;
}

int
tfx_plan_run (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out)
{
  TfxDenormalMode mode;
  int ret;

  plan->n_done = 0;
  if (!fits (plan, in, out))
    return -EINVAL;
  if (in->n_frames == 0)
    return 0;
  plan->run_frames = in->n_frames;
  mode = tfx_denormal_enter ();
  do
    ret = run_part (plan, in, out);
  while (ret == 0 && plan->n_done < in->n_frames);
  tfx_denormal_leave (mode);
  /* A run that fails before the first frame does not count. */
  if (ret == 0 || plan->n_done > 0)
    plan->n_dispatches++;
  return ret;
}

size_t
tfx_plan_n_done (const TfxPlan *plan)
{
  return plan->n_done;
}

int
tfx_plan_pass (TfxPlan *plan, size_t n_frames)
{
  for (plan->n_done = 0; plan->n_done < n_frames;) {
    size_t n = n_frames - plan->n_done;
    const int ret = look_at_row (plan, true) ? 0 : get_ready (plan, &n);

    if (ret == -ENOTSUP || ret == -EINPROGRESS)
      return ret;
    /* What there is no memory for now, is done when it runs. */
    if (ret < 0)
      n = n_frames - plan->n_done;
    plan->n_done += n;
    advance_filters (plan, n);
  }
  return 0;
}

/* ---- several blocks in flight --------------------------------------------------------- */

bool
tfx_plan_can_start (const TfxPlan *plan)
{
  return plan->backend->start && look_at_row (plan, true);
}

int
tfx_plan_start (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out,
    TfxFlight *flight)
{
  int ret;

  *flight = (TfxFlight){ 0 };
  /* One call of the backend, or none that is not waited for. */
  if (!tfx_plan_can_start (plan) || !fits (plan, in, out) ||
      in->n_frames > plan->backend->max_samples / in->n_channels) {
    ret = tfx_plan_run (plan, in, out);
    flight->n_done = plan->n_done;
    return ret;
  }
  ret = plan->backend->start (plan->engine, in, out, flight);
  plan->n_done = ret < 0 ? flight->n_done : in->n_frames;
  advance_filters (plan, plan->n_done);
  flight->n_advanced = plan->n_done;
  flight->next = plan->flights;
  plan->flights = flight;
  end_flights (plan);
  plan->n_recoveries += ret < 0 ? 0 : (uint64_t)ret;
  if (plan->n_done > 0)
    plan->n_dispatches++;
  return ret < 0 ? ret : 0;
}

int
tfx_plan_finish (TfxPlan *plan, TfxFlight *flight)
{
  int ret = 0;

  if (flight->n_parts > 0)
    ret = plan->backend->finish (plan->engine, flight);
  end_flights (plan);
  plan->n_recoveries += ret < 0 ? 0 : (uint64_t)ret;
  return ret < 0 ? ret : 0;
}

int
tfx_plan_switch (TfxPlan **plan, const TfxBackend *backend)
{
  TfxPlan *from = *plan, *to = from->other;
  int ret = 0;

  if (from->backend == backend)
    return 0;
  /* The last one; the backend finishes the older ones first. */
  while (ret == 0 && from->flights)
    ret = tfx_plan_finish (from, from->flights);
  if (ret == 0 && !(to && to->backend == backend))
    ret = tfx_plan_new (from->filters, from->n_filters, backend, &to);
  if (ret < 0)
    return ret;
  if (from->other != to)
    tfx_plan_free (&from->other);
  from->other = NULL;
  to->other = from;
  free_stale_other (to);
  *plan = to;
  return 0;
}

bool
tfx_plan_is_silent (const TfxPlan *plan)
{
  bool is_silent = true;

  for (size_t i = 0; is_silent && i < plan->n_filters; i++)
    is_silent = tfx_filter_is_silent (plan->filters[i]);
  return is_silent;
}

void
tfx_plan_get_stats (const TfxPlan *plan, TfxStats *stats)
{
  *stats = (TfxStats){
    .device = plan->backend->name,
    .kernel = plan->backend->kernel,
  };
  add_stats (plan, stats);
}

size_t
tfx_plan_n_stages (const TfxPlan *plan)
{
  return plan->n_chain_stages;
}

size_t
tfx_plan_n_sections (const TfxPlan *plan)
{
  return plan->n_sos;
}
