/* SPDX-License-Identifier: LGPL-2.1-or-later
 * part.h: how much of a wide sweep a test does.
 *
 * All of it, or a part: in a build that runs several times slower, with the
 * address sanitizer or in an emulator, and where TFX_TEST_PART is set, to a number
 * that says which part.  `tests/run.sh` sets it but for --all, and so do tests that are
 * run again in other surroundings, each to another number.
 */
#ifndef TEST_PART_H
#define TEST_PART_H

#include <stdbool.h>

/* True in a build that runs several times slower, with the address sanitizer or in an
 * emulator. */
bool part_build_is_slow (void);

/* True if but a part is to be done: fewer cases of the same kinds. */
bool part_is_wanted (void);

/* Whether case number i of a sweep is to be done: each, or of a part every n-th. */
bool part_has (unsigned i, unsigned n);

#endif /* TEST_PART_H */
