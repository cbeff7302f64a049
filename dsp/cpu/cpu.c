/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cpu.c: the backend "cpu": the choice of the kernels, and an engine that runs
 * the steps of a plan. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../backend.h"
#include "cascade.h"

struct TfxEngine
{
  const TfxPlan *plan;
  size_t n_steps;
  TfxCascade **cascades; /* one for each step */
};

static void
engine_free (TfxEngine *e)
{
  if (!e)
    return;
  for (size_t i = 0; e->cascades && i < e->n_steps; i++)
    tfx_cascade_free (&e->cascades[i]);
  free (e->cascades);
  free (e);
}

static void
engine_update (TfxEngine *e, const TfxPlan *plan)
{
  e->plan = plan;
  for (size_t i = 0; i < e->n_steps; i++)
    tfx_cascade_set_sections (e->cascades[i], plan->steps[i].sos,
        plan->steps[i].gain);
}

static int
engine_new (const TfxPlan *plan, TfxEngine **engine)
{
  const TfxKernels *kernels = plan->backend->data;
  TfxEngine *e = calloc (1, sizeof *e);

  *engine = NULL;
  if (!e)
    return -ENOMEM;
  e->n_steps = plan->n_steps;
  e->cascades = calloc (plan->n_steps, sizeof *e->cascades);
  for (size_t i = 0; e->cascades && i < plan->n_steps; i++) {
    if (tfx_cascade_new (kernels, plan->n_channels, plan->steps[i].n_sos,
            &e->cascades[i]))
      break;
  }
  if (!e->cascades || !e->cascades[plan->n_steps - 1]) {
    engine_free (e);
    return -ENOMEM;
  }
  engine_update (e, plan);
  *engine = e;
  return 0;
}

static int
engine_run (TfxEngine *e, const TfxBlock *in, const TfxBlock *out)
{
  int n_cleared = 0;

  for (size_t i = 0; i < e->n_steps; i++)
    n_cleared += tfx_cascade_run (e->cascades[i], i == 0 ? in : out, out);
  return n_cleared;
}

static void
engine_get_state (TfxEngine *e, size_t stage, double *state)
{
  const TfxPlanStage *s = &e->plan->stages[stage];
  tfx_cascade_get_state (e->cascades[s->step], s->first_sos, s->n_sos, state);
}

static void
engine_set_state (TfxEngine *e, size_t stage, const double *state)
{
  const TfxPlanStage *s = &e->plan->stages[stage];
  tfx_cascade_set_state (e->cascades[s->step], s->first_sos, s->n_sos, state);
}

static void
engine_reset (TfxEngine *e)
{
  for (size_t i = 0; i < e->n_steps; i++)
    tfx_cascade_reset (e->cascades[i]);
}

static double
engine_state_peak (const TfxEngine *e)
{
  double peak = 0.0;

  for (size_t i = 0; i < e->n_steps; i++) {
    double p = tfx_cascade_state_peak (e->cascades[i]);
    peak = p > peak ? p : peak;
  }
  return peak;
}

static void
engine_add_stats (const TfxEngine *e, TfxStats *stats)
{
  (void)e;
  (void)stats; /* no launches, no transfers */
}

#define CPU_BACKEND(variant)                                                   \
  {                                                                            \
    "cpu", #variant, &tfx_kernels_##variant, engine_new, engine_free,          \
        engine_run, engine_update, engine_get_state, engine_set_state,         \
        engine_reset, engine_state_peak, engine_add_stats                      \
  }

/* From the plainest to the best. */
static const TfxBackend backends[] = {
  CPU_BACKEND (c),
#if defined(__x86_64__)
  CPU_BACKEND (sse2),
  CPU_BACKEND (avx2),
  CPU_BACKEND (avx512),
#endif
};

#define N_BACKENDS (sizeof backends / sizeof backends[0])

static bool
is_supported (const char *kernel)
{
#if defined(__x86_64__)
  if (strcmp (kernel, "avx512") == 0)
    return __builtin_cpu_supports ("avx512f") &&
           __builtin_cpu_supports ("avx512dq") &&
           __builtin_cpu_supports ("avx512vl");
  if (strcmp (kernel, "avx2") == 0)
    return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma");
#endif
  return true;
}

const TfxBackend *
tfx_cpu_backend_for (const char *kernel)
{
  for (size_t i = 0; i < N_BACKENDS; i++) {
    if (strcmp (backends[i].kernel, kernel) == 0)
      return is_supported (kernel) ? &backends[i] : NULL;
  }
  return NULL;
}

const TfxBackend *
tfx_cpu_backend (void)
{
  static const TfxBackend *chosen;
  const TfxBackend *backend = __atomic_load_n (&chosen, __ATOMIC_ACQUIRE);
  const char *asked;

  if (backend)
    return backend;
  asked = getenv ("TFX_CPU");
  if (asked)
    backend = tfx_cpu_backend_for (asked);
  for (size_t i = N_BACKENDS; !backend && i-- > 0;)
    backend = tfx_cpu_backend_for (backends[i].kernel);
  __atomic_store_n (&chosen, backend, __ATOMIC_RELEASE);
  return backend;
}
