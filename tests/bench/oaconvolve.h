/* SPDX-License-Identifier: LGPL-2.1-or-later
 * oaconvolve.h: scipy.signal.oaconvolve as a subject of a benchmark: a Python
 * process that lives as long as the subject and times itself. */
#ifndef OACONVOLVE_H
#define OACONVOLVE_H

#include "bench.h"

/* One channel of n_samples at once, in float32.  False if there is no Python
 * with SciPy. */
bool oaconvolve_init_subject (BenchSubject *subject, size_t n_taps,
    size_t n_samples);

#endif /* OACONVOLVE_H */
