/* SPDX-License-Identifier: LGPL-2.1-or-later
 * sets.c: the kernels of each instruction set by its name. */
#include <string.h>

#include "convolver-private.h"
#include "dynamics.h"
#include "kernels.h"
#include "reverb.h"

typedef struct KernelSet
{
  const char *name;
  const TfxKernels *cascade;
  const TfxConvolverKernels *convolver;
  const TfxDynamicsKernels *dynamics;
  const TfxReverbKernel *reverb;
} KernelSet;

#define CAT2(a, b) a##b
#define CAT(a, b) CAT2 (a, b)
#define SET(set)                                                               \
  {                                                                            \
    .name = #set, .cascade = &tfx_kernels_##set,                               \
    .convolver = &tfx_convolver_kernels_##set,                                 \
    .dynamics = &tfx_dynamics_##set, .reverb = &tfx_reverb_##set               \
  }

/* Those that this build has; meson.build has the list.  FIRs and reverbs of `c` are
 * those that every machine can run. */
static const KernelSet sets[] = {
  { "c", &tfx_kernels_c, &CAT (tfx_convolver_kernels_, TFX_PLAINEST_SET),
      &tfx_dynamics_c, &CAT (tfx_reverb_, TFX_PLAINEST_SET) },
  TFX_EACH_SET (SET)
};

static const KernelSet *
find_set (const char *name)
{
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    if (strcmp (sets[i].name, name) == 0)
      return &sets[i];
  }
  return NULL;
}

const TfxConvolverKernels *
tfx_convolver_kernels_for (const char *name)
{
  const KernelSet *set = find_set (name);

  return set ? set->convolver : NULL;
}

/* The others are asked for names that there are. */
const TfxKernels *
tfx_kernels_for (const char *name)
{
  return find_set (name)->cascade;
}

const TfxDynamicsKernels *
tfx_dynamics_kernels_for (const char *name)
{
  return find_set (name)->dynamics;
}

const TfxReverbKernel *
tfx_reverb_kernel_for (const char *name)
{
  return find_set (name)->reverb;
}
