/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench.c: rounds, medians, tables and CSV of the benchmarks. */
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "options.h"
#include "statistics.h"

#define MAX_SUBJECTS 48
#define MAX_NOTES 64
#define TEXT_SIZE 96

typedef struct Member
{
  BenchSubject subject;
  char name[TEXT_SIZE], variant[TEXT_SIZE];
  unsigned n_blocks; /* of a turn */
  double *ns;        /* [n_rounds], per unit */
} Member;

struct Bench
{
  BenchOptions options;
  char title[TEXT_SIZE];
  Member members[MAX_SUBJECTS];
  unsigned n_members, reference;
  unsigned n_groups;         /* that were not left out */
  double cpu_ns, elapsed_ns; /* of all turns */
  bool failed;
  char *notes[MAX_NOTES];
  unsigned n_notes;
  FILE *csv;
};

static double
clock_ns (clockid_t id)
{
  struct timespec t;

  clock_gettime (id, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

BenchTime
bench_time_now (void)
{
  return (BenchTime){ clock_ns (CLOCK_THREAD_CPUTIME_ID),
    clock_ns (CLOCK_MONOTONIC) };
}

BenchTime
bench_time_since (BenchTime start)
{
  BenchTime now = bench_time_now ();

  return (BenchTime){ now.cpu_ns - start.cpu_ns,
    now.elapsed_ns - start.elapsed_ns };
}

static void
add_note (Bench *b, const char *format, va_list args)
{
  char *text = NULL;

  if (b->n_notes < MAX_NOTES && vasprintf (&text, format, args) >= 0)
    b->notes[b->n_notes++] = text;
}

void
bench_note (Bench *b, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  add_note (b, format, args);
  va_end (args);
}

void
bench_fail (Bench *b, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  fflush (stdout);
  fputs ("error: ", stderr);
  vfprintf (stderr, format, args);
  fputc ('\n', stderr);
  va_end (args);
  b->failed = true;
}

Bench *
bench_open (int argc, char **argv, const char *name)
{
  Bench *b = calloc (1, sizeof *b);

  if (!b) {
    fprintf (stderr, "error: no memory\n");
    exit (1);
  }
  bench_options_read (&b->options, argc, argv, name);
  bench_options_print_machine ();
  b->csv = fopen (b->options.csv, "w");
  if (!b->csv) {
    bench_fail (b, "%s cannot be written: %s", b->options.csv,
        strerror (errno));
    exit (1);
  }
  fputs ("group,subject,variant,channels,frames,sections,rounds,"
         "ns_per_sample,ns_quartile_1,ns_quartile_3,part_of_limit,"
         "reference,times_as_fast\n",
      b->csv);
  return b;
}

bool
bench_is_full (const Bench *b)
{
  return b->options.full;
}

static void
clear_group (Bench *b)
{
  for (unsigned i = 0; i < b->n_members; i++) {
    Member *m = &b->members[i];
    if (m->subject.free)
      m->subject.free (m->subject.data);
    free (m->ns);
  }
  b->n_members = 0;
  b->reference = BENCH_NONE;
}

bool
bench_begin_group (Bench *b, const char *format, ...)
{
  va_list args;

  clear_group (b);
  va_start (args, format);
  vsnprintf (b->title, sizeof b->title, format, args);
  va_end (args);
  if (!bench_options_select (&b->options, b->title))
    return false;
  b->n_groups++;
  return true;
}

unsigned
bench_add (Bench *b, const BenchSubject *subject)
{
  double *ns = calloc (b->options.n_rounds, sizeof *ns);
  Member *m = &b->members[b->n_members];

  if (!ns || b->n_members == MAX_SUBJECTS) {
    bench_fail (b, "%s: no room for %s", b->title, subject->name);
    if (subject->free)
      subject->free (subject->data);
    free (ns);
    return BENCH_NONE;
  }
  m->subject = *subject;
  m->ns = ns;
  snprintf (m->name, sizeof m->name, "%s", subject->name);
  snprintf (m->variant, sizeof m->variant, "%s", subject->variant);
  return b->n_members++;
}

void
bench_set_reference (Bench *b, unsigned subject)
{
  b->reference = subject;
}

static bool
run_turn (Bench *b, Member *m, unsigned n_blocks, BenchTime *time)
{
  if (!m->subject.run (m->subject.data, n_blocks, time)) {
    bench_fail (b, "%s: %s (%s) failed", b->title, m->name, m->variant);
    return false;
  }
  b->cpu_ns += time->cpu_ns;
  b->elapsed_ns += time->elapsed_ns;
  return true;
}

/* How many blocks fill a turn; warms up as well. */
static bool
calibrate (Bench *b, Member *m)
{
  const double turn_ns = 1e6 * b->options.turn_ms;
  unsigned n = 1;
  BenchTime time;

  for (;;) {
    if (!run_turn (b, m, n, &time))
      return false;
    if (time.cpu_ns > turn_ns / 4 || n > 1u << 24)
      break;
    n *= 2;
  }
  n = (unsigned)(n * turn_ns / (time.cpu_ns + 1.0));
  m->n_blocks = n > 0 ? n : 1;
  return true;
}

static bool
run_rounds (Bench *b)
{
  for (unsigned i = 0; i < b->n_members; i++) {
    if (!calibrate (b, &b->members[i]))
      return false;
  }
  for (unsigned round = 0; round < b->options.n_rounds; round++) {
    for (unsigned i = 0; i < b->n_members; i++) {
      Member *m = &b->members[i];
      BenchTime time;

      if (!run_turn (b, m, m->n_blocks, &time))
        return false;
      m->ns[round] = time.cpu_ns / m->n_blocks / m->subject.units;
    }
  }
  return true;
}

double
bench_median (const Bench *b, unsigned subject)
{
  return statistics_quantile (b->members[subject].ns, b->options.n_rounds, 0.5);
}

double
bench_ratio (const Bench *b, unsigned reference, unsigned subject)
{
  return statistics_ratio (b->members[reference].ns, b->members[subject].ns,
      b->options.n_rounds);
}

/* Four multiply-adds a section and sample are the least that are known to do. */
double
bench_part_of_limit (const Bench *b, unsigned i)
{
  const Member *m = &b->members[i];
  const double n_fmas = m->subject.n_fmas > 0.0
                            ? m->subject.n_fmas
                            : 4.0 * (double)m->subject.n_sections;

  if (m->subject.limit == BENCH_NONE || n_fmas == 0.0)
    return 0.0;
  return bench_ratio (b, i, m->subject.limit) > 0.0
             ? n_fmas / bench_ratio (b, i, m->subject.limit)
             : 0.0;
}

static void
report_member (Bench *b, const Member *m, bool is_printed)
{
  const BenchSubject *s = &m->subject;
  const unsigned n = b->options.n_rounds, i = (unsigned)(m - b->members);
  const bool has_reference = b->reference != BENCH_NONE && s->n_frames > 0;
  double median = bench_median (b, i), part = bench_part_of_limit (b, i);
  double low = statistics_quantile (m->ns, n, 0.25);
  double high = statistics_quantile (m->ns, n, 0.75);
  double ratio = has_reference ? bench_ratio (b, b->reference, i) : 0.0;
  const char *reference = has_reference ? b->members[b->reference].name : "";

  fprintf (b->csv,
      "\"%s\",\"%s\",\"%s\",%u,%zu,%zu,%u,%.5g,%.5g,%.5g,%.4g,\"%s\",%.5g\n",
      b->title, m->name, m->variant, s->n_channels, s->n_frames, s->n_sections,
      n, median, low, high, part, reference, ratio);
  if (!is_printed)
    return;
  printf ("  %-24s %-24s %9.*f  %4.1f %%", m->name, m->variant,
      median < 0.1 ? 5 : 3, median, 100.0 * (high - low) / median);
  if (part > 0.0)
    printf ("   %5.1f %%", 100.0 * part);
  else
    printf ("  %8s", "");
  if (has_reference)
    printf ("  %8.2f", ratio);
  putchar ('\n');
}

bool
bench_run (Bench *b)
{
  return !b->failed && b->n_members > 0 && run_rounds (b);
}

void
bench_write (Bench *b)
{
  for (unsigned i = 0; i < b->n_members; i++)
    report_member (b, &b->members[i], false);
  fflush (b->csv);
}

bool
bench_measure (Bench *b)
{
  if (b->failed || b->n_members == 0)
    return false;
  printf ("\n%s\n", b->title);
  fflush (stdout);
  if (!bench_run (b))
    return false;

  printf ("  %-24s %-24s %9s  %6s  %8s", "", "", "ns/sample", "spread",
      "of limit");
  if (b->reference != BENCH_NONE)
    printf ("  as fast as %s", b->members[b->reference].name);
  putchar ('\n');
  for (unsigned i = 0; i < b->n_members; i++)
    report_member (b, &b->members[i], true);
  fflush (stdout);
  return true;
}

void
bench_goal (Bench *b, const char *what, double goal, unsigned reference,
    unsigned subject)
{
  double ratio = bench_ratio (b, reference, subject);

  bench_note (b, "goal %4.1f reached %5.1f%s  %s: %s against %s", goal, ratio,
      ratio >= goal ? "      " : " (not)", what, b->members[subject].name,
      b->members[reference].name);
}

void
bench_figure (Bench *b, const char *name, unsigned n_channels, size_t n_frames,
    double value)
{
  fprintf (b->csv, "\"%s\",\"%s\",\"\",%u,%zu,0,0,%.5g,0,0,0,\"\",0\n",
      b->title, name, n_channels, n_frames, value);
}

int
bench_close (Bench **bench)
{
  Bench *b = *bench;
  int status;

  *bench = NULL;
  clear_group (b);
  putchar ('\n');
  for (unsigned i = 0; i < b->n_notes; i++) {
    puts (b->notes[i]);
    free (b->notes[i]);
  }
  if (b->elapsed_ns > 0.0)
    printf ("While it worked the benchmark had %.1f %% of a core.\n",
        100.0 * b->cpu_ns / b->elapsed_ns);
  if (b->n_groups == 0 && b->options.only)
    bench_fail (b, "no group's title matches --only=%s", b->options.only);
  if (fclose (b->csv) != 0)
    bench_fail (b, "%s cannot be written: %s", b->options.csv,
        strerror (errno));
  else
    printf ("CSV: %s\n", b->options.csv);
  status = b->failed ? 1 : 0;
  bench_options_clear (&b->options);
  free (b);
  return status;
}

void
bench_fill_noise (float *samples, size_t n)
{
  uint64_t x = UINT64_C (0x9e3779b97f4a7c15);

  for (size_t i = 0; i < n; i++) {
    /* xorshift64; its upper bits are good enough for noise. */
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    samples[i] = (float)((double)(x >> 11) * 0x1p-52 - 1.0);
  }
}
