/* SPDX-License-Identifier: LGPL-2.1-or-later
 * options.h: the arguments of a benchmark, and what machine it runs on. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>

typedef struct BenchOptions
{
  bool full;
  unsigned n_rounds;
  double turn_ms;
  char *csv;        /* path */
  const char *only; /* shell pattern of group titles, or NULL */
} BenchOptions;

/* Exits the program when the arguments are wrong or only ask for help. */
void bench_options_read (BenchOptions *options, int argc, char **argv,
    const char *name);
void bench_options_clear (BenchOptions *options);

/* Whether a group of this title is to be measured. */
bool bench_options_select (const BenchOptions *options, const char *title);

/* The CPU as the kernel names it, and how busy the machine is. */
void bench_options_print_machine (void);

#endif /* OPTIONS_H */
