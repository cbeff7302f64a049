/* SPDX-License-Identifier: LGPL-2.1-or-later
 * meter.c: libebur128, if it is there, as a subject of a benchmark. */
#include "meter.h"

#ifdef HAVE_EBUR128

#include <ebur128.h>
#include <stdlib.h>

#define MODES                                                                  \
  (EBUR128_MODE_I | EBUR128_MODE_LRA | EBUR128_MODE_TRUE_PEAK |                \
      EBUR128_MODE_HISTOGRAM)

typedef struct Meter
{
  ebur128_state *state;
  TfxBlock in;
} Meter;

static bool
run (void *data, unsigned n_blocks, BenchTime *time)
{
  Meter *m = data;
  const BenchTime start = bench_time_now ();
  int ret = 0;

  for (unsigned i = 0; i < n_blocks; i++)
    ret |= ebur128_add_frames_float (m->state, m->in.data, m->in.n_frames);
  *time = bench_time_since (start);
  return ret == 0;
}

static void
meter_free (void *data)
{
  Meter *m = data;

  ebur128_destroy (&m->state);
  free (m->in.data);
  free (m);
}

unsigned
meter_add (Bench *bench, const CoreCase *c)
{
  Meter *m = calloc (1, sizeof *m);

  if (!m || !core_new_block (c, true, &m->in))
    bench_fail (bench, "no memory");
  else
    m->state = ebur128_init (c->n_channels, CASCADES_RATE, MODES);
  if (!m || !m->state) {
    free (m);
    return BENCH_NONE;
  }
  return bench_add (bench, &(BenchSubject){ .name = "libebur128",
                               .variant = "",
                               .n_channels = c->n_channels,
                               .n_frames = c->n_frames,
                               .units = (double)c->n_frames * c->n_channels,
                               .limit = BENCH_NONE,
                               .run = run,
                               .data = m,
                               .free = meter_free });
}

#else

unsigned
meter_add (Bench *bench, const CoreCase *c)
{
  bench_note (bench, "libebur128 was not there when this was built");
  return BENCH_NONE;
}

#endif
