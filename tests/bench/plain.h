/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain.h: a plain C loop over the sections as a subject of a benchmark:
 * transposed direct form II in doubles, gcc -O3, for the processors that an
 * instruction set of ours is for. */
#ifndef PLAIN_H
#define PLAIN_H

#include "core.h"

/* Makes a subject of it, with the fastest of its orders, and checks it against
 * the core's output; false if they differ, or memory is short. */
bool plain_init_subject (BenchSubject *subject, const CoreCase *c);

#endif /* PLAIN_H */
