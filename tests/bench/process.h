/* SPDX-License-Identifier: LGPL-2.1-or-later
 * process.h: a program that works beside a benchmark, gets its turns by a pipe and
 * times itself, so that the pipe does not count. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stdio.h>

typedef struct Process
{
  int pid;
  FILE *to, *from; /* its input and output */
} Process;

/* Starts a program with its arguments, NULL behind them; NULL if that failed.  One
 * that is not there answers nothing. */
Process *process_open (const char *const *argv);
void process_close (Process **process);

/* Its next line, without the end; false if there is none. */
bool process_read (Process *process, char *line, size_t size);

/* Sends a line, "run ...\n", to which the answer is "time A B".  False if it
 * failed. */
bool process_ask (Process *process, double *a, double *b, const char *format,
    ...) __attribute__ ((format (printf, 4, 5)));

#endif /* PROCESS_H */
