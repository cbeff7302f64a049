/* SPDX-License-Identifier: LGPL-2.1-or-later
 * before.h: the core of another tree as a subject of a benchmark: its
 * bench_shapes, a process that gets its turns by a pipe. */
#ifndef BEFORE_H
#define BEFORE_H

#include "core.h"
#include "process.h"

/* The most sections; they are those of cascades_repeat_api(). */
#define BEFORE_MAX_SECTIONS 50

/* Starts it; NULL, with a message, if it is no such program. */
Process *before_open (const char *program);

/* Makes a subject of a case with these sections; false if it cannot. */
bool
before_init_subject (Process *before, BenchSubject *subject, const CoreCase *c);

/* What that program does: answers standard input until it ends.  Returns the exit
 * status. */
int before_serve (void);

#endif /* BEFORE_H */
