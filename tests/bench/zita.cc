/* SPDX-License-Identifier: LGPL-2.1-or-later
 * zita.cc: runs zita-convolver over blocks of noise. */
#include "zita.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <new>
#include <sched.h>
#include <thread>
#include <vector>

#include <zita-convolver.h>

struct Zita
{
  Convproc proc;
  unsigned n_channels;
  size_t n_frames;
  std::vector<float> noise; /* [n_frames][n_channels] */
  std::vector<float> out;
  char variant[64];
};

static double
process_ns (void)
{
  struct timespec t;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A block, from and to interleaved samples as the other subjects have them. */
static void
run_block (Zita *z)
{
  for (unsigned c = 0; c < z->n_channels; c++) {
    float *in = z->proc.inpdata (c);
    for (size_t i = 0; i < z->n_frames; i++)
      in[i] = z->noise[i * z->n_channels + c];
  }
  z->proc.process (true);
  for (unsigned c = 0; c < z->n_channels; c++) {
    const float *out = z->proc.outdata (c);
    for (size_t i = 0; i < z->n_frames; i++)
      z->out[i * z->n_channels + c] = out[i];
  }
}

static bool
zita_run (void *data, unsigned n_blocks, BenchTime *time)
{
  Zita *z = (Zita *)data;
  const BenchTime start = bench_time_now ();
  const double cpu = process_ns ();

  for (unsigned i = 0; i < n_blocks; i++)
    run_block (z);
  time->elapsed_ns = bench_time_since (start).elapsed_ns;
  time->cpu_ns = process_ns () - cpu;
  return true;
}

static void
zita_free (void *data)
{
  Zita *z = (Zita *)data;

  z->proc.stop_process ();
  z->proc.cleanup ();
  delete z;
}

static bool
set_up (Zita *z, const float *taps, size_t n_taps, bool is_uniform)
{
  const unsigned n = z->n_channels, frames = (unsigned)z->n_frames;
  const unsigned longest = is_uniform ? frames : (unsigned)Convproc::MAXPART;

  z->proc.set_options (Convproc::OPT_FFTW_MEASURE | Convproc::OPT_VECTOR_MODE);
  if (z->proc.configure (n, n, (unsigned)n_taps, frames, frames, longest, 0.0f))
    return false;
  for (unsigned c = 0; c < n; c++) {
    if (z->proc.impdata_create (c, c, 1, (float *)taps, 0, (int)n_taps))
      return false;
  }
  if (z->proc.start_process (0, SCHED_OTHER))
    return false;
  /* A thread that is not up by the first block is taken for none: the output of
   * its partitions is then out of step. */
  std::this_thread::sleep_for (std::chrono::milliseconds (100));
  return true;
}

bool
zita_init_subject (BenchSubject *subject, const float *taps, size_t n_taps,
    unsigned n_channels, size_t n_frames, bool is_uniform, unsigned n_blocks,
    float *out)
{
  Zita *z = new (std::nothrow) Zita;
  const size_t n = n_frames * n_channels;

  if (!z)
    return false;
  z->n_channels = n_channels;
  z->n_frames = n_frames;
  z->noise.resize (n);
  z->out.resize (n);
  bench_fill_noise (z->noise.data (), n);
  std::snprintf (z->variant, sizeof z->variant, "%s, all threads",
      is_uniform ? "uniform" : "non-uniform");
  if (!set_up (z, taps, n_taps, is_uniform)) {
    zita_free (z);
    return false;
  }
  for (unsigned k = 0; k < n_blocks; k++) {
    run_block (z);
    std::memcpy (out + k * n, z->out.data (), n * sizeof *out);
  }
  *subject = BenchSubject ();
  subject->name = "zita-convolver";
  subject->variant = z->variant;
  subject->n_channels = n_channels;
  subject->n_frames = n_frames;
  subject->units = (double)n;
  subject->limit = BENCH_NONE;
  subject->run = zita_run;
  subject->data = z;
  subject->free = zita_free;
  return true;
}
