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

#define MAX_SECTIONS 50
#define MAX_SLOW 4096
#define SLOW_SIZE 160

/* What counts as slower, when it is seen twice: of two equal ones hardly any do
 * on a busy machine. */
#define SLOWER 1.04
/* The price of planes. */
#define PLANAR 1.1

#define MAX_KERNELS 8

/* A kernel in one layout: its subject, and that of the plain loop. */
typedef struct Pair
{
  unsigned core, plain;
} Pair;

typedef struct Shape
{
  size_t n_sections, n_frames;
  unsigned n_channels;
  TfxSample type;
} Shape;

/* [kernel][planar]; BENCH_NONE where there is none. */
typedef Pair Pairs[MAX_KERNELS][2];

typedef struct Shapes
{
  Bench *bench;
  Before *before;                   /* or NULL */
  const char *kernels[MAX_KERNELS]; /* to be measured; NULL behind them */
  TfxSos sos[MAX_SECTIONS];
  char slow[MAX_SLOW][SLOW_SIZE];
  unsigned n_slow, n_pairs;
} Shapes;

static const char *
type_name (TfxSample type)
{
  return type == TFX_SAMPLE_F32 ? "F32" : "F64";
}

/* One that fails is told of by the benchmark's end. */
static Pair
add_pair (Shapes *s, const CoreCase *c)
{
  Pair pair = { BENCH_NONE, BENCH_NONE };
  char variant[64];
  BenchSubject subject;

  if (core_init_subject (&subject, c))
    pair.core = bench_add (s->bench, &subject);
  if (!plain_init_subject (&subject, c)) {
    bench_fail (s->bench, "%s: the plain loop puts out something else",
        c->kernel);
    return pair;
  }
  snprintf (variant, sizeof variant, "%s%s%s", c->kernel,
      c->planar ? ", planar" : "", c->type == TFX_SAMPLE_F64 ? ", F64" : "");
  subject.variant = variant;
  pair.plain = bench_add (s->bench, &subject);
  return pair;
}

static bool
is_pair (const Pair *pair)
{
  return pair->core != BENCH_NONE && pair->plain != BENCH_NONE;
}

/* How many times its time in the other run a subject takes, each as a part of
 * the plain loop's there. */
static double
times_before (const Shapes *s, const Pair *pair, const char *group,
    const char *variant)
{
  double core, plain;

  if (!s->before)
    return 0.0;
  core = before_find (s->before, group, "core", variant);
  plain = before_find (s->before, group, "plain loop", variant);
  return core > 0.0 && plain > 0.0
             ? plain / core / bench_ratio (s->bench, pair->plain, pair->core)
             : 0.0;
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
find_slow (Shapes *s, Pairs pairs, TfxSample type, const char *group,
    bool is_kept)
{
  bool is_slow = false;

  for (size_t k = 0; s->kernels[k]; k++) {
    for (unsigned planar = 0; planar < 2; planar++) {
      const Pair *pair = &pairs[k][planar], *other = &pairs[k][0];
      double plain, before, layout = 0.0;
      char variant[64];

      if (!is_pair (pair) || strcmp (s->kernels[k], "c") == 0)
        continue;
      snprintf (variant, sizeof variant, "%s%s%s", s->kernels[k],
          planar ? ", planar" : "", type == TFX_SAMPLE_F64 ? ", F64" : "");
      plain = bench_ratio (s->bench, pair->core, pair->plain);
      before = times_before (s, pair, group, variant);
      if (planar)
        layout = bench_ratio (s->bench, pair->core, other->core);
      is_slow = is_slow || plain > SLOWER || before > SLOWER || layout > PLANAR;
      if (is_kept && plain > SLOWER)
        add_slow (s, group, variant, "the plain loop", plain);
      if (is_kept && before > SLOWER)
        add_slow (s, group, variant, "the other run", before);
      if (is_kept && layout > PLANAR)
        add_slow (s, group, variant, "interleaved", layout);
    }
  }
  return is_slow;
}

static void
print_head (const Shapes *s)
{
  printf ("\nns per sample, and how many times as fast as a plain loop for the "
          "same processor\n%4s %4s %6s %-15s %8s",
      "sec.", "ch.", "frames", "", "plain");
  for (size_t k = 0; s->kernels[k]; k++)
    printf (" %8s      ", s->kernels[k]);
  putchar ('\n');
}

static void
print_shape (const Shapes *s, Pairs pairs, const Shape *shape)
{
  for (unsigned planar = 0; planar < 2; planar++) {
    bool is_first = true;

    for (size_t k = 0; s->kernels[k]; k++) {
      const Pair *pair = &pairs[k][planar];

      if (!is_pair (pair))
        continue;
      if (is_first)
        printf ("%4zu %4u %6zu %s %-11s %8.3f", shape->n_sections,
            shape->n_channels, shape->n_frames, type_name (shape->type),
            planar ? "planar" : "interleaved",
            bench_median (s->bench, pair->plain));
      is_first = false;
      printf (" %8.3f %5.2f", bench_median (s->bench, pair->core),
          bench_ratio (s->bench, pair->plain, pair->core));
    }
    if (!is_first)
      putchar ('\n');
  }
  fflush (stdout);
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
  Pairs pairs;

  snprintf (group, sizeof group, "sections %zu, channels %u, frames %zu, %s",
      shape->n_sections, shape->n_channels, shape->n_frames,
      type_name (shape->type));
  if (!bench_begin_group (s->bench, "%s", group))
    return;
  for (size_t k = 0; s->kernels[k]; k++) {
    for (unsigned planar = 0; planar < 2; planar++) {
      pairs[k][planar] = (Pair){ BENCH_NONE, BENCH_NONE };
      if (planar && shape->n_channels == 1)
        continue;
      c.kernel = s->kernels[k];
      c.planar = planar;
      pairs[k][planar] = add_pair (s, &c);
      s->n_pairs++;
    }
  }
  if (!bench_run (s->bench))
    return;
  /* Seen once it may be the machine. */
  if (find_slow (s, pairs, shape->type, group, false) && bench_run (s->bench))
    find_slow (s, pairs, shape->type, group, true);
  print_shape (s, pairs, shape);
  bench_write (s->bench);
}

static void
measure_limit (Shapes *s)
{
  /* Also where it was not asked for. */
  bench_begin_group (s->bench, "limit");
  for (size_t k = 0; s->kernels[k]; k++) {
    BenchSubject subject;

    if (limit_init_subject (&subject, s->kernels[k]))
      bench_add (s->bench, &subject);
  }
  bench_measure (s->bench);
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
      s->n_pairs, s->n_slow ? ":" : " than something.");
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
      s->before = before_read (argv[i] + 9);
      if (!s->before)
        exit (2);
      continue;
    }
    if (strncmp (argv[i], "--kernel=", 9) == 0) {
      only = argv[i] + 9;
      continue;
    }
    if (strcmp (argv[i], "--help") == 0)
      puts ("  --before=FILE    the CSV of another run, to compare with\n"
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
  cascades_repeat_api (s->sos, MAX_SECTIONS);
  measure_limit (s);
  print_head (s);
  measure_all (s);
  print_slow (s);
  status = bench_close (&s->bench);
  before_free (&s->before);
  free (args);
  free (s);
  return status;
}
