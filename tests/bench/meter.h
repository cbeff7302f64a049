/* SPDX-License-Identifier: LGPL-2.1-or-later
 * meter.h: libebur128, if it is there, as a subject of a benchmark. */
#ifndef METER_H
#define METER_H

#include "core.h"

/* It measures noise of a case: loudness, its range and true peaks.  The subject's
 * number, or BENCH_NONE. */
unsigned meter_add (Bench *bench, const CoreCase *c);

#endif /* METER_H */
