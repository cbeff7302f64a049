/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_iir.c: cascades of sections in the core, kernel by kernel, against
 * scipy.signal.sosfilt and against what the processor can do; other shapes are
 * bench_shapes.c's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core.h"
#include "limit.h"
#include "scipy.h"

#define BLOCK_FRAMES 1024
#define MAX_SECTIONS 64

#define MAX_KERNELS 8

typedef struct Iir
{
  Bench *bench;
  Process *scipy; /* NULL: absent */
  /* From the plainest to the best of this machine. */
  const char *kernels[MAX_KERNELS];
  size_t n_kernels;
  const char *best;
  unsigned limits[MAX_KERNELS]; /* subjects of the present group */
} Iir;

/* What a group filters. */
typedef struct Cascade
{
  TfxSos sos[MAX_SECTIONS];
  size_t n_sos;
} Cascade;

static const char *
plural (unsigned n_channels)
{
  return n_channels == 1 ? "" : "s";
}

static CoreCase
describe (const Iir *iir, const Cascade *cascade, unsigned n_channels,
    size_t n_frames)
{
  return (CoreCase){ .kernel = iir->best,
    .type = TFX_SAMPLE_F32,
    .n_channels = n_channels,
    .n_frames = n_frames,
    .sos = cascade->sos,
    .n_sos = cascade->n_sos };
}

/* How fast the processor can be with all kernels or with one of them, for the
 * percentages of the group. */
static void
add_limits (Iir *iir, const char *only)
{
  for (size_t i = 0; i < iir->n_kernels; i++) {
    BenchSubject subject;

    iir->limits[i] = BENCH_NONE;
    if (only && strcmp (only, iir->kernels[i]) != 0)
      continue;
    if (limit_init_subject (&subject, iir->kernels[i]))
      iir->limits[i] = bench_add (iir->bench, &subject);
  }
}

static unsigned
limit_of (const Iir *iir, const char *kernel)
{
  for (size_t i = 0; i < iir->n_kernels; i++) {
    if (strcmp (iir->kernels[i], kernel) == 0)
      return iir->limits[i];
  }
  return BENCH_NONE;
}

static unsigned
add_core (Iir *iir, const CoreCase *c)
{
  BenchSubject subject;

  if (!core_init_subject (&subject, c)) {
    bench_fail (iir->bench, "the core cannot run %zu sections on %u channels",
        c->n_sos, c->n_channels);
    return BENCH_NONE;
  }
  subject.limit = limit_of (iir, c->kernel);
  return bench_add (iir->bench, &subject);
}

/* SciPy in double, which is the reference, and from float32 to float32. */
static unsigned
add_scipy (Iir *iir, const CoreCase *c, bool convert)
{
  float *expected;
  BenchSubject subject;
  bool ok;

  if (!iir->scipy)
    return BENCH_NONE;
  expected = malloc (c->n_frames * c->n_channels * sizeof *expected);
  ok = expected && core_filter_noise (c, expected) &&
       scipy_init_subject (iir->scipy, &subject, c->sos, c->n_sos, 1,
           c->n_channels, c->n_frames, convert, expected);
  free (expected);
  if (!ok) {
    bench_fail (iir->bench, "SciPy cannot be compared");
    return BENCH_NONE;
  }
  return bench_add (iir->bench, &subject);
}

/* The goals are against SciPy at its fastest: on double arrays. */
static void
note_goals (Iir *iir, unsigned n_channels, unsigned scipy, unsigned best,
    unsigned c)
{
  char what[64];

  if (scipy == BENCH_NONE)
    return;
  snprintf (what, sizeof what, "api chain, %u channel%s, %s", n_channels,
      plural (n_channels), iir->best);
  if (n_channels == 1)
    bench_goal (iir->bench, what, 3.0, scipy, best);
  if (n_channels == 8)
    bench_goal (iir->bench, what, 10.0, scipy, best);
  snprintf (what, sizeof what, "api chain, %u channel%s, c", n_channels,
      plural (n_channels));
  bench_goal (iir->bench, what, 1.0, scipy, c);
}

/* The api chain, each kernel. */
static void
measure_api (Iir *iir, unsigned n_channels)
{
  Cascade cascade = { .n_sos = CASCADES_N_API };
  unsigned scipy, best = BENCH_NONE, plain = BENCH_NONE;
  CoreCase c;

  if (!bench_begin_group (iir->bench, "api chain, %u channel%s, %d frames",
          n_channels, plural (n_channels), BLOCK_FRAMES))
    return;
  cascades_repeat_api (cascade.sos, cascade.n_sos);
  c = describe (iir, &cascade, n_channels, BLOCK_FRAMES);
  add_limits (iir, NULL);
  scipy = add_scipy (iir, &c, false);
  add_scipy (iir, &c, true);
  bench_set_reference (iir->bench, scipy);
  for (size_t i = 0; i < iir->n_kernels; i++) {
    c.kernel = iir->kernels[i];
    best = add_core (iir, &c);
    if (i == 0)
      plain = best;
  }
  if (bench_measure (iir->bench))
    note_goals (iir, n_channels, scipy, best, plain);
}

/* One filter of order 16: poles of all qualities in one cascade. */
static void
measure_order_16 (Iir *iir, unsigned n_channels)
{
  const TfxDesign design = { .family = TFX_FAMILY_BUTTERWORTH,
    .mode = TFX_MODE_LOW_PASS,
    .order = 16,
    .lower_hz = 1000.0 };
  Cascade cascade;
  CoreCase c;
  int n_sos;

  if (!bench_begin_group (iir->bench,
          "low-pass of order 16, %u channel%s, %d frames", n_channels,
          plural (n_channels), BLOCK_FRAMES))
    return;
  n_sos = cascades_design (&design, 1, cascade.sos, MAX_SECTIONS);
  if (n_sos < 0) {
    bench_fail (iir->bench, "the low-pass of order 16 cannot be designed");
    return;
  }
  cascade.n_sos = (size_t)n_sos;
  c = describe (iir, &cascade, n_channels, BLOCK_FRAMES);
  add_limits (iir, NULL);
  bench_set_reference (iir->bench, add_scipy (iir, &c, false));
  for (size_t i = 0; i < iir->n_kernels; i++) {
    c.kernel = iir->kernels[i];
    add_core (iir, &c);
  }
  bench_measure (iir->bench);
}

/* What a call costs, and what large blocks do to the caches. */
static void
measure_block (Iir *iir, unsigned n_channels, size_t n_frames)
{
  Cascade cascade = { .n_sos = CASCADES_N_API };
  unsigned scipy;
  CoreCase c;

  if (!bench_begin_group (iir->bench,
          "api chain in blocks of %zu, %u channel%s", n_frames, n_channels,
          plural (n_channels)))
    return;
  cascades_repeat_api (cascade.sos, cascade.n_sos);
  c = describe (iir, &cascade, n_channels, n_frames);
  add_limits (iir, iir->best);
  scipy = add_scipy (iir, &c, false);
  bench_set_reference (iir->bench, scipy);
  add_core (iir, &c);
  bench_measure (iir->bench);
}

static void
find_kernels (Iir *iir)
{
  const char *kernel;

  while (iir->n_kernels < MAX_KERNELS &&
         (kernel = tfx_cpu_kernel (iir->n_kernels)))
    iir->kernels[iir->n_kernels++] = iir->best = kernel;
}

int
main (int argc, char **argv)
{
  static const unsigned channels[] = { 1, 2, 3, 6, 8, 16, 64 };
  static const size_t frames[] = { 64, 128, 256, 512, 4096, 16384, 65536 };
  Iir iir = { .bench = bench_open (argc, argv, "iir") };
  char text[256];
  int status;

  find_kernels (&iir);
  iir.scipy = scipy_open (text, sizeof text);
  printf ("Peer: %s\n", text);
  if (!iir.scipy)
    bench_note (iir.bench, "SciPy was not measured: %s", text);

  for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++)
    measure_api (&iir, channels[i]);
  for (unsigned n = 1; n <= 8; n *= bench_is_full (iir.bench) ? 2 : 8)
    measure_order_16 (&iir, n);
  for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
    measure_block (&iir, 1, frames[i]);
    if (bench_is_full (iir.bench))
      measure_block (&iir, 2, frames[i]);
    measure_block (&iir, 8, frames[i]);
  }
  status = bench_close (&iir.bench);
  process_close (&iir.scipy);
  return status;
}
