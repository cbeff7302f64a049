/* SPDX-License-Identifier: LGPL-2.1-or-later
 * units.cu: the kernels of kinds of stage that have one each, by name.  With
 * UNITS_ONLY and UNITS_DYNAMICS ... defined there is that one only. */
#include "dynamics.h"

#if !defined(UNITS_ONLY) || defined(UNITS_DYNAMICS)
TFX_KERNEL (tfx_dynamics, TfxDynamicsArgs, TFX_UNIT_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  dynamics_run (args, shared);
}
#endif
