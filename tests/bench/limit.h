/* SPDX-License-Identifier: LGPL-2.1-or-later
 * limit.h: how many multiply-adds a core can do, one instruction set each.
 *
 * The time is per multiply-add of doubles: W of them in an instruction of W
 * lanes.  Where there is no fused one ("c", "sse2") it is a multiplication and
 * an addition. */
#ifndef LIMIT_H
#define LIMIT_H

#include "bench.h"

/* Makes a subject of it.  `kernel` is a name that tfx_cpu_backend_for() knows;
 * false if this machine lacks it. */
bool limit_init_subject (BenchSubject *subject, const char *kernel);

#endif /* LIMIT_H */
