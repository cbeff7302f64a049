/* SPDX-License-Identifier: LGPL-2.1-or-later
 * units.cu: the kernels of kinds of stage that have one each, by name.  With
 * UNITS_ONLY and UNITS_clip ... defined there is that one only. */
#include "clip.h"
#include "copy.h"
#include "dynamics.h"
#include "limiter.h"
#include "mix.h"
#include "reverb.h"

#if !defined(UNITS_ONLY) || defined(UNITS_clip)
TFX_KERNEL (tfx_clip, TfxClipArgs, TFX_UNIT_THREADS, 1)
{
  clip_run (args);
}
#endif

#if !defined(UNITS_ONLY) || defined(UNITS_copy)
TFX_KERNEL (tfx_copy, TfxCopyArgs, TFX_UNIT_THREADS, 1)
{
  copy_run (args);
}
#endif

#if !defined(UNITS_ONLY) || defined(UNITS_dynamics)
TFX_KERNEL (tfx_dynamics, TfxDynamicsArgs, TFX_UNIT_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  dynamics_run (args, shared);
}
#endif

#if !defined(UNITS_ONLY) || defined(UNITS_limiter)
TFX_KERNEL (tfx_limiter, TfxLimiterArgs, TFX_UNIT_THREADS, 1)
{
  TFX_DYNAMIC_SHARED (shared);
  limiter_run<false> (args, shared);
}
#endif

#if !defined(UNITS_ONLY) || defined(UNITS_limiter_far)
TFX_KERNEL (tfx_limiter_far, TfxLimiterArgs, TFX_UNIT_THREADS, 1)
{
  TFX_DYNAMIC_SHARED (shared);
  limiter_run<true> (args, shared);
}
#endif

#if !defined(UNITS_ONLY) || defined(UNITS_mix)
TFX_KERNEL (tfx_mix, TfxMixArgs, TFX_UNIT_THREADS, 1)
{
  mix_run (args);
}
#endif

#if !defined(UNITS_ONLY) || defined(UNITS_reverb)
TFX_KERNEL (tfx_reverb, TfxReverbArgs, TFX_UNIT_THREADS, 2)
{
  TFX_DYNAMIC_SHARED (shared);
  reverb_run (args, shared);
}
#endif
