/* SPDX-License-Identifier: LGPL-2.1-or-later
 * copy.c: see copy.h. */
#include "copy.h"

#include "kernels/unit-args.h"

int
tfx_cuda_copy_prepare (TfxCudaCopy *copy)
{
  return tfx_cuda_unit_load (copy->stream, "copy", &copy->kernel);
}

static TfxChannelMap
map_of (uint64_t channels)
{
  TfxChannelMap map = { .next = channels ? 64 : 0 };

  for (; channels; channels &= channels - 1)
    map.places[map.n++] = (unsigned char)__builtin_ctzll (channels);
  return map;
}

int
tfx_cuda_copy_run (TfxCudaCopy *copy, const TfxUnitRun *run,
    const TfxCudaChannels *channels, double gain)
{
  TfxCopyArgs args = { .run = tfx_cuda_unit_args (run, channels->n),
    .gain = gain,
    .from = map_of (channels->from),
    .to = map_of (channels->to) };
  int ret = tfx_cuda_copy_prepare (copy);

  return ret < 0 ? ret
                 : tfx_cuda_unit_run_points (copy->stream, &copy->kernel,
                       run->n_frames * channels->n, &args);
}

void
tfx_cuda_copy_cost (TfxCost *cost)
{
  cost->issued = 60.0;
  cost->arithmetic = 2.0;
  cost->integer = 33.0;
  cost->serial = cost->issued;
}
