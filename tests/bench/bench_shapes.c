/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench_shapes.c: cascades of all shapes, every kernel beside a plain C loop
 * that is compiled for the same processors; lists the shapes that are slower
 * than that loop, than another run of this program, or in planes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "before.h"
#include "bench.h"
#include "core.h"
#include "limit.h"
#include "plain.h"

#define MAX_SLOW 4096
#define SLOW_SIZE 160

/* What counts as slower, when it is seen twice: of two equal ones hardly any do
 * on a busy machine. */
#define SLOWER 1.04
/* The price of planes. */
#define PLANAR 1.1

#define MAX_KERNELS 8

/* A kernel in one layout: its subject, and those of the plain loop and of the
 * other tree. */
typedef struct Trio
{
  unsigned core, plain, before;
} Trio;

typedef struct Shape
{
  size_t n_sections, n_frames;
  unsigned n_channels;
  TfxSample type;
} Shape;

/* [kernel][planar]; BENCH_NONE where there is none. */
typedef Trio Trios[MAX_KERNELS][2];

typedef struct Shapes
{
  Bench *bench;
  Process *before;                  /* or NULL */
  const char *kernels[MAX_KERNELS]; /* to be measured; NULL behind them */
  TfxSos sos[BEFORE_MAX_SECTIONS];
  char slow[MAX_SLOW][SLOW_SIZE];
  unsigned n_slow, n_trios;
} Shapes;

static const char *
type_name (TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? "F32" : "F64";
}

/* The one that is no subject of before_init_subject() has no such kernel. */
static unsigned
add_before (Shapes *s, const CoreCase *c, const char *variant)
{
  BenchSubject subject;

  if (!s->before || !before_init_subject (s->before, &subject, c))
    return BENCH_NONE;
  subject.variant = variant;
  return bench_add (s->bench, &subject);
}

/* One that fails is told of by the benchmark's end. */
static Trio
add_trio (Shapes *s, const CoreCase *c, unsigned limit)
{
  Trio trio = { BENCH_NONE, BENCH_NONE, BENCH_NONE };
  char variant[64];
  BenchSubject subject;

  snprintf (variant, sizeof variant, "%s%s%s", c->kernel,
      c->planar ? ", planar" : "", c->type == TFX_SAMPLE_F64 ? ", F64" : "");
  if (core_init_subject (&subject, c)) {
    subject.limit = limit;
    trio.core = bench_add (s->bench, &subject);
  }
  trio.before = add_before (s, c, variant);
  if (!plain_init_subject (&subject, c)) {
    bench_fail (s->bench, "%s: the plain loop puts out something else",
        c->kernel);
    return trio;
  }
  subject.variant = variant;
  trio.plain = bench_add (s->bench, &subject);
  return trio;
}

static bool
is_trio (const Trio *trio)
{
  return trio->core != BENCH_NONE && trio->plain != BENCH_NONE;
}

static void
add_slow (Shapes *s, const char *group, const char *variant, const char *than,
    double times)
{
  if (s->n_slow < MAX_SLOW)
    snprintf (s->slow[s->n_slow], SLOW_SIZE, "%s, %s: %.2f times %s", group,
        variant, times, than);
  s->n_slow++;
}

/* Whether anything was slow in the shape measured last, but the reference: the
 * plain loop has vectors of it.  It is kept for the list at the end. */
static bool
find_slow (Shapes *s, Trios trios, TfxSample type, const char *group,
    bool is_kept)
{
  bool is_slow = false;

  for (size_t k = 0; s->kernels[k]; k++) {
    for (unsigned planar = 0; planar < 2; planar++) {
      const Trio *trio = &trios[k][planar], *other = &trios[k][0];
      double plain, before = 0.0, layout = 0.0;
      char variant[64];

      if (!is_trio (trio) || strcmp (s->kernels[k], "c") == 0)
        continue;
      snprintf (variant, sizeof variant, "%s%s%s", s->kernels[k],
          planar ? ", planar" : "", type == TFX_SAMPLE_F64 ? ", F64" : "");
      plain = bench_ratio (s->bench, trio->core, trio->plain);
      if (trio->before != BENCH_NONE)
        before = bench_ratio (s->bench, trio->core, trio->before);
      if (planar)
        layout = bench_ratio (s->bench, trio->core, other->core);
      is_slow = is_slow || plain > SLOWER || before > SLOWER || layout > PLANAR;
      if (is_kept && plain > SLOWER)
        add_slow (s, group, variant, "the plain loop", plain);
      if (is_kept && before > SLOWER)
        add_slow (s, group, variant, "before", before);
      if (is_kept && layout > PLANAR)
        add_slow (s, group, variant, "interleaved", layout);
    }
  }
  return is_slow;
}

static void
print_head (const Shapes *s)
{
  printf (
      "\nns per sample, how many times as fast as a plain loop for the same "
      "processor%s, and the part of the core's limit\n%4s %4s %6s %-15s %8s",
      s->before ? ", as before" : "", "sec.", "ch.", "frames", "", "plain");
  for (size_t k = 0; s->kernels[k]; k++)
    printf (" %8s           %s", s->kernels[k], s->before ? "      " : "");
  putchar ('\n');
}

static void
print_shape (const Shapes *s, Trios trios, const Shape *shape)
{
  for (unsigned planar = 0; planar < 2; planar++) {
    bool is_first = true;

    for (size_t k = 0; s->kernels[k]; k++) {
      const Trio *trio = &trios[k][planar];

      if (!is_trio (trio))
        continue;
      if (is_first)
        printf ("%4zu %4u %6zu %s %-11s %8.3f", shape->n_sections,
            shape->n_channels, shape->n_frames, type_name (shape->type),
            planar ? "planar" : "interleaved",
            bench_median (s->bench, trio->plain));
      is_first = false;
      printf (" %8.3f %5.2f", bench_median (s->bench, trio->core),
          bench_ratio (s->bench, trio->plain, trio->core));
      if (trio->before != BENCH_NONE)
        printf (" %5.2f", bench_ratio (s->bench, trio->before, trio->core));
      printf (" %3.0f%%", 100.0 * bench_part_of_limit (s->bench, trio->core));
    }
    if (!is_first)
      putchar ('\n');
  }
  fflush (stdout);
}

static unsigned
add_limit (Shapes *s, const char *kernel)
{
  BenchSubject subject;

  return limit_init_subject (&subject, kernel) ? bench_add (s->bench, &subject)
                                               : BENCH_NONE;
}

static void
measure (Shapes *s, const Shape *shape)
{
  CoreCase c = { .type = shape->type,
    .n_channels = shape->n_channels,
    .n_frames = shape->n_frames,
    .sos = s->sos,
    .n_sos = shape->n_sections };
  char group[96];
  Trios trios;

  snprintf (group, sizeof group, "sections %zu, channels %u, frames %zu, %s",
      shape->n_sections, shape->n_channels, shape->n_frames,
      type_name (shape->type));
  if (!bench_begin_group (s->bench, "%s", group))
    return;
  for (size_t k = 0; s->kernels[k]; k++) {
    const unsigned limit = add_limit (s, s->kernels[k]);

    for (unsigned planar = 0; planar < 2; planar++) {
      trios[k][planar] = (Trio){ BENCH_NONE, BENCH_NONE, BENCH_NONE };
      if (planar && shape->n_channels == 1)
        continue;
      c.kernel = s->kernels[k];
      c.planar = planar;
      trios[k][planar] = add_trio (s, &c, limit);
      s->n_trios++;
    }
  }
  if (!bench_run (s->bench))
    return;
  /* Seen once it may be the machine. */
  if (find_slow (s, trios, shape->type, group, false) && bench_run (s->bench))
    find_slow (s, trios, shape->type, group, true);
  print_shape (s, trios, shape);
  bench_write (s->bench);
}

static void
measure_all (Shapes *s)
{
  static const size_t sections[] = { 1, 6, 2, 3, 4, 8, 12, 16, 24, 50, 0 };
  static const unsigned channels[] = { 1, 2, 3, 4, 6, 8, 9, 5, 7, 12, 16, 17,
    32, 64, 0 };
  static const size_t frames[] = { 16, 64, 1024, 32, 128, 256, 4096, 16384, 0 };
  const bool full = bench_is_full (s->bench);
  Shape shape;

  for (unsigned i = 0; sections[i] && (full || i < 2); i++) {
    for (unsigned j = 0; channels[j] && (full || j < 7); j++) {
      for (unsigned k = 0; frames[k] && (full || k < 3); k++) {
        shape = (Shape){ sections[i], frames[k], channels[j], TFX_SAMPLE_F32 };
        measure (s, &shape);
        shape.type = TFX_SAMPLE_F64;
        measure (s, &shape);
      }
    }
  }
}

static void
print_slow (const Shapes *s)
{
  printf ("\n%u of %u kernels, shapes and layouts are slower%s\n", s->n_slow,
      s->n_trios, s->n_slow ? ":" : " than something.");
  for (unsigned i = 0; i < s->n_slow && i < MAX_SLOW; i++)
    printf ("  %s\n", s->slow[i]);
}

static void
choose_kernels (Shapes *s, const char *only)
{
  const char *kernel;
  size_t n = 0;

  for (size_t i = 0; (kernel = tfx_cpu_kernel (i)) && n + 1 < MAX_KERNELS;
       i++) {
    if (!only || strcmp (kernel, only) == 0)
      s->kernels[n++] = kernel;
  }
  if (n == 0) {
    fprintf (stderr, "error: --kernel=%s: this machine has no such kernel\n",
        only);
    exit (2);
  }
}

/* Takes the options that are ours out of argv, and puts rounds that are enough
 * for so many shapes in front of the others. */
static int
read_options (Shapes *s, int argc, char **argv, char **out)
{
  static char rounds[] = "--rounds=9", turn[] = "--turn=1";
  const char *only = NULL;
  int n = 0;

  out[n++] = argv[0];
  out[n++] = rounds;
  out[n++] = turn;
  for (int i = 1; i < argc; i++) {
    if (strncmp (argv[i], "--before=", 9) == 0) {
      s->before = before_open (argv[i] + 9);
      if (!s->before)
        exit (2);
      continue;
    }
    if (strncmp (argv[i], "--kernel=", 9) == 0) {
      only = argv[i] + 9;
      continue;
    }
    if (strcmp (argv[i], "--serve") == 0)
      exit (before_serve ());
    if (strcmp (argv[i], "--help") == 0)
      puts ("  --before=PROGRAM bench_shapes of another tree, in turns\n"
            "  --serve          be that program\n"
            "  --kernel=NAME    this kernel alone\n"
            "\nRounds are 9, turns 1 ms, if nothing else is asked for.\n");
    out[n++] = argv[i];
  }
  choose_kernels (s, only);
  return n;
}

int
main (int argc, char **argv)
{
  Shapes *s = calloc (1, sizeof *s);
  char **args = calloc ((size_t)argc + 3, sizeof *args);
  int status;

  if (!s || !args) {
    fprintf (stderr, "error: no memory\n");
    return 1;
  }
  argc = read_options (s, argc, argv, args);
  s->bench = bench_open (argc, args, "shapes");
  cascades_repeat_api (s->sos, BEFORE_MAX_SECTIONS);
  print_head (s);
  measure_all (s);
  print_slow (s);
  status = bench_close (&s->bench);
  process_close (&s->before);
  free (args);
  free (s);
  return status;
}
