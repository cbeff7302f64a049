/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cpu.c: the backend "cpu" and the choice of its kernels. */
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "engine.h"

#define CPU_BACKEND(variant)                                                   \
  {                                                                            \
    .name = "cpu", .kernel = #variant, .data = &tfx_kernels_##variant,         \
    .engine_new = tfx_engine_new, .engine_free = tfx_engine_free,              \
    .run = tfx_engine_run, .update = tfx_engine_update,                        \
    .get_state = tfx_engine_get_state, .set_state = tfx_engine_set_state,      \
    .state_peak = tfx_engine_state_peak, .add_stats = tfx_engine_add_stats,    \
    .uses_units = true, .update_step = tfx_engine_update_step                  \
  }

/* From the plainest to the best; meson.build has the list. */
static const TfxBackend backends[] = { CPU_BACKEND (c),
  TFX_EACH_SET (CPU_BACKEND) };

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

/* Zen 4 does, AMD's family 25 (Zen 3, in the same family, has no AVX-512); Granite Rapids runs
 * them whole.  Others have not been measured and count as those that run them whole.
 * Under a hypervisor to ask takes microseconds: it is done once. */
bool
tfx_cpu_halves_avx512 (void)
{
#if defined(__x86_64__)
  enum
  {
    UNKNOWN,
    NO,
    YES
  };
  static int known;
  int answer = __atomic_load_n (&known, __ATOMIC_RELAXED);
  unsigned a = 0, unused;

  if (answer == UNKNOWN) {
    __get_cpuid (1, &a, &unused, &unused, &unused);
    answer = __builtin_cpu_is ("amd") && (a >> 8 & 15) + (a >> 20 & 255) == 25
                 ? YES
                 : NO;
    __atomic_store_n (&known, answer, __ATOMIC_RELAXED);
  }
  return answer == YES;
#else
  return false;
#endif
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

const char *
tfx_cpu_kernel (size_t index)
{
  for (size_t i = 0; i < N_BACKENDS; i++) {
    if (is_supported (backends[i].kernel) && index-- == 0)
      return backends[i].kernel;
  }
  return NULL;
}

const char *
tfx_cpu_unknown (void)
{
  const char *asked = secure_getenv ("TFX_CPU");

  return asked && *asked && !tfx_cpu_backend_for (asked) ? asked : NULL;
}

const TfxBackend *
tfx_cpu_backend (void)
{
  static const TfxBackend *chosen;
  const TfxBackend *backend = __atomic_load_n (&chosen, __ATOMIC_ACQUIRE);
  const char *asked;

  if (backend)
    return backend;
  asked = secure_getenv ("TFX_CPU");
  if (asked)
    backend = tfx_cpu_backend_for (asked);
  for (size_t i = N_BACKENDS; !backend && i-- > 0;)
    backend = tfx_cpu_backend_for (backends[i].kernel);
  __atomic_store_n (&chosen, backend, __ATOMIC_RELEASE);
  return backend;
}
