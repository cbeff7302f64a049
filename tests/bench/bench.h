/* SPDX-License-Identifier: LGPL-2.1-or-later
 * bench.h: the frame of the benchmarks.
 *
 * Subjects that are to be compared form a group.  A group is measured in
 * rounds: every round gives each subject one turn of a few milliseconds, so
 * that a machine that is slow for a while is slow for all of them.  What is
 * reported is the median over the rounds, and ratios are taken within each
 * round before their median is.
 *
 * The clock is the CPU time of the thread that works: other programs on a
 * shared machine lengthen the wait, not the result.  Elapsed time is kept
 * beside it, and the share of a core that the benchmark had is printed.
 *
 *   Bench *bench = bench_open (argc, argv, "iir");
 *   if (bench_begin_group (bench, "api chain, 8 channels")) {
 *     unsigned peer = bench_add (bench, &peer_subject);
 *     unsigned own = bench_add (bench, &own_subject);
 *     bench_set_reference (bench, peer);
 *     if (bench_measure (bench))
 *       bench_goal (bench, "8 channels", 10.0, peer, own);
 *   }
 *   return bench_close (&bench);
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds that a turn took. */
typedef struct BenchTime
{
  double cpu_ns, elapsed_ns;
} BenchTime;

/* Now, for this thread. */
BenchTime bench_time_now (void);
BenchTime bench_time_since (BenchTime start);

#define BENCH_NONE UINT32_MAX

/* One of the things that are compared.  Texts are copied. */
typedef struct BenchSubject
{
  const char *name, *variant; /* "tfx", "avx2, planar" */
  unsigned n_channels;
  size_t n_frames;   /* of a block; 0: it has no blocks */
  size_t n_sections; /* 0: does not filter */
  double n_fmas;     /* multiply-adds of a sample; 0: four a section */
  double units;      /* samples of a block: the time is per unit */
  unsigned limit;    /* subject that measures its multiply-adds, or none */
  /* Works on n blocks; false if that failed. */
  bool (*run) (void *data, unsigned n_blocks, BenchTime *time);
  void *data;
  void (*free) (void *data); /* may be NULL; called with data, also on error */
} BenchSubject;

typedef struct Bench Bench;

/* Reads the arguments and prints what machine this is.  Exits the program
 * when the arguments are wrong or only ask for help. */
Bench *bench_open (int argc, char **argv, const char *name);

/* True for the long run. */
bool bench_is_full (const Bench *bench);

/* Begins a group; false if the arguments leave it out. */
bool bench_begin_group (Bench *bench, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Returns the subject's number within the group.  A failure (no memory, more
 * subjects than a group takes) is kept and told by bench_measure(). */
unsigned bench_add (Bench *bench, const BenchSubject *subject);

/* Ratios are printed against this subject. */
void bench_set_reference (Bench *bench, unsigned subject);

/* Runs the rounds, prints the table, writes the CSV rows. */
bool bench_measure (Bench *bench);

/* Its parts, for a benchmark with tables of its own: the rounds, once or again,
 * and the CSV rows of the last ones. */
bool bench_run (Bench *bench);
void bench_write (Bench *bench);

/* Of the group measured last: ns per unit, and how many times as fast as
 * `reference` a subject is. */
double bench_median (const Bench *bench, unsigned subject);
double bench_ratio (const Bench *bench, unsigned reference, unsigned subject);
/* The part of its time that its multiply-adds alone would take, or 0. */
double bench_part_of_limit (const Bench *bench, unsigned subject);

/* Notes how many times as fast as the reference a subject should be and is,
 * for the list at the end. */
void bench_goal (Bench *bench, const char *what, double goal,
    unsigned reference, unsigned subject);

/* A line for the list at the end: something that could not be measured, and
 * why. */
void bench_note (Bench *bench, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Something went wrong: the exit status says so. */
void bench_fail (Bench *bench, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* A figure that is no time per sample, for the CSV alone, where it stands in
 * that column. */
void bench_figure (Bench *bench, const char *name, unsigned n_channels,
    size_t n_frames, double value);

/* Prints the goals and where the CSV is; the exit status for main(). */
int bench_close (Bench **bench);

/* White noise between -1 and 1, the same each time. */
void bench_fill_noise (float *samples, size_t n);

#endif /* BENCH_H */
