/* SPDX-License-Identifier: LGPL-2.1-or-later
 * reverb.h: a reverb (dsp/tfx.h), a block of threads for each channel.
 *
 * A block is processed in parts no longer than the shortest line, so that all
 * outputs of lines in a part were written before it.  A warp runs a comb: its
 * one-pole is a scan over the lanes.  After that all frames of a part are independent.
 *
 * A line is a ring of its length and of TFX_REVERB_OLD earlier frames, which the CPU
 * needs.  For frame f of the block index (at + f) has the input of one length before;
 * the new input is written one length further.  The rings before the block and those
 * after it are separate: see state.h. */
#ifndef TFX_KERNEL_REVERB_H
#define TFX_KERNEL_REVERB_H

#include "decay.h"
#include "unit.h"

#define REVERB_COMBS (TFX_UNIT_THREADS / TFX_WARP)
#define REVERB_PLACES TFX_UNIT_PLACES (TFX_REVERB_PART)

/* A channel. */
struct Reverb
{
  const double *before; /* the rings; none at rest */
  double *rings;
  unsigned channel;
  long long cleared; /* what went in before this frame counts as 0 */
};

/* The output at frame f, at this index. */
TFX_DEVICE_FN double
reverb_get (const Reverb &r, const TfxReverbLine &line, long long f,
    unsigned place)
{
  const long long in = f - line.length;

  if (in < r.cleared || (in < 0 && r.before == nullptr))
    return 0.0;
  return in < 0 ? r.before[line.offset + place] : r.rings[line.offset + place];
}

/* i behind a place, i no more than the ring is long. */
TFX_DEVICE_FN unsigned
reverb_place (const TfxReverbLine &line, unsigned place, unsigned i)
{
  place += i;
  return place >= line.size ? place - line.size : place;
}

/* Frames [first, first + n) of a comb, by a warp. sums: all outputs; poles: the
 * last states of the one-pole, newest last. */
TFX_DEVICE_FN void
reverb_comb (const TfxReverbArgs &args, const Reverb &r, unsigned comb,
    long long first, unsigned n, const double *x, double *sums, double *poles)
{
  const TfxReverbLine line = args.lines[comb];
  unsigned lane = threadIdx.x % TFX_WARP, run = lane * TFX_UNIT_RUN;
  unsigned base = (line.at + (unsigned)first) % line.size;
  double o[TFX_UNIT_RUN], e = 0.0, before, y;

#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++) {
    unsigned k = run + (unsigned)i;

    o[i] = k < n ? reverb_get (r, line, first + k, reverb_place (line, base, k))
                 : 0.0;
    sums[unit_place (k)] = o[i];
    o[i] = __dmul_rn (__dsub_rn (1.0, args.damp.once), o[i]);
    e = __fma_rn (args.damp.once, e, o[i]);
  }
  e = decay_scan_lanes<false> (args.damp.powers, lane, e);
  before = real_shuffle_up (e, 1, TFX_WARP);
  y = decay_join<false> (decay_power (args.damp.powers, lane),
      poles[TFX_REVERB_POLES_KEPT - 1], lane > 0 ? before : 0.0);
  __syncwarp ();
  /* Of a part that is shorter than what is kept, some stay. */
  if (lane == 0) {
    for (unsigned i = 0; i + n < TFX_REVERB_POLES_KEPT; i++)
      poles[i] = poles[i + n];
  }
  __syncwarp ();
#pragma unroll
  for (int i = 0; i < TFX_UNIT_RUN; i++) {
    unsigned k = run + (unsigned)i;

    y = __fma_rn (args.damp.once, y, o[i]);
    if (k >= n)
      continue;
    if (k + TFX_REVERB_POLES_KEPT >= n)
      poles[k + TFX_REVERB_POLES_KEPT - n] = y;
    r.rings[line.offset +
            reverb_place (line, reverb_place (line, base, k), line.length)] =
        __fma_rn (args.feedback, y, __dmul_rn (args.input, x[k]));
  }
}

/* A frame of the combs' sum through the all-passes. */
TFX_DEVICE_FN double
reverb_all_passes (const TfxReverbArgs &args, const Reverb &r, long long first,
    unsigned k, double w)
{
#pragma unroll
  for (unsigned i = REVERB_COMBS; i < TFX_REVERB_N_LINES; i++) {
    const TfxReverbLine line = args.lines[i];
    unsigned place =
        reverb_place (line, (line.at + (unsigned)first) % line.size, k);
    double o = reverb_get (r, line, first + k, place);

    r.rings[line.offset + reverb_place (line, place, line.length)] =
        __fma_rn (0.5, o, w);
    w = __dsub_rn (o, w);
  }
  return w;
}

/* A part; false if what came out was not finite. */
TFX_DEVICE_FN bool
reverb_part (const TfxReverbArgs &args, const Reverb &r, long long first,
    unsigned n, double *x, double *sums, double *poles,
    volatile unsigned *flags)
{
  unsigned k = threadIdx.x, comb = threadIdx.x / TFX_WARP;
  double w = 0.0;
  bool is_bad;

  if (k < n)
    x[k] = unit_read (args.run.in, r.channel, (unsigned long long)(first + k),
        args.run.cleared);
  __syncthreads ();
  reverb_comb (args, r, comb, first, n, x, sums + comb * REVERB_PLACES,
      poles + comb * TFX_REVERB_POLES_KEPT);
  __syncthreads ();
  if (k < n) {
    for (unsigned i = 0; i < REVERB_COMBS; i++)
      w = __dadd_rn (w, sums[i * REVERB_PLACES + unit_place (k)]);
    w = reverb_all_passes (args, r, first, k, w);
  }
  is_bad = unit_any (!isfinite (w), flags);
  if (k < n)
    unit_write (args.run.out, args.run.sum, r.channel,
        (unsigned long long)(first + k),
        is_bad ? 0.0 : __fma_rn (args.wet, w, __dmul_rn (args.dry, x[k])));
  return !is_bad;
}

/* Copies the part of the rings that the block has not reached. */
TFX_DEVICE_FN void
reverb_keep (const TfxReverbArgs &args, const Reverb &r)
{
  for (unsigned i = 0; i < TFX_REVERB_N_LINES; i++) {
    const TfxReverbLine line = args.lines[i];
    long long old = (long long)line.size - line.length;
    long long f = (long long)args.run.n_frames - old;

    for (f += threadIdx.x; f < line.length; f += TFX_UNIT_THREADS) {
      unsigned place = (line.at + line.size + (unsigned)f) % line.size;

      r.rings[line.offset + place] = reverb_get (r, line, f, place);
    }
  }
}

TFX_DEVICE_FN void
reverb_run (const TfxReverbArgs &args, unsigned char *shared)
{
  const unsigned n_poles = REVERB_COMBS * TFX_REVERB_POLES_KEPT;
  double *x = (double *)shared;
  double *sums = x + TFX_REVERB_PART;
  double *poles = sums + REVERB_COMBS * REVERB_PLACES;
  volatile unsigned *flags = (volatile unsigned *)(poles + n_poles);
  Reverb r;

  r.channel = blockIdx.x;
  r.rings = args.state_out + (size_t)r.channel * args.state_size;
  r.before = args.state_in != nullptr
                 ? args.state_in + (size_t)r.channel * args.state_size
                 : nullptr;
  r.cleared = -(1ll << 40);
  if (threadIdx.x < n_poles)
    poles[threadIdx.x] = r.before != nullptr
                             ? r.before[args.state_size - n_poles + threadIdx.x]
                             : 0.0;
  __syncthreads ();
#pragma unroll 1
  for (long long first = 0; first < (long long)args.run.n_frames;
       first += args.part) {
    long long left = (long long)args.run.n_frames - first;
    unsigned n = left < args.part ? (unsigned)left : args.part;

    if (!reverb_part (args, r, first, n, x, sums, poles, flags)) {
      r.cleared = first + n;
      if (threadIdx.x < n_poles)
        poles[threadIdx.x] = 0.0;
      if (threadIdx.x == 0)
        args.run.cleared[r.channel] = 1;
    }
    __syncthreads ();
  }
  reverb_keep (args, r);
  if (threadIdx.x < n_poles)
    r.rings[args.state_size - n_poles + threadIdx.x] = poles[threadIdx.x];
}

#endif
