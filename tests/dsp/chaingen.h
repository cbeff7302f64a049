/* SPDX-License-Identifier: LGPL-2.1-or-later
 * chaingen.h: random texts of the chain language. */
#ifndef TEST_CHAINGEN_H
#define TEST_CHAINGEN_H

#include <stddef.h>
#include <stdint.h>

/* xorshift; state is never 0. */
uint64_t chaingen_random (uint64_t *state);
/* 0 to n - 1 */
unsigned chaingen_below (uint64_t *state, unsigned n);

/* Writes a chain of up to about max_stages stages, closed by a NUL, and returns
 * its length: every class, each parameter by position or name, values that
 * mostly are in range, groups, names, prefixes, comments, white space where it
 * may be.  The text is cut where the buffer ends. */
size_t
chaingen_write (uint64_t *state, unsigned max_stages, char *text, size_t size);

#endif /* TEST_CHAINGEN_H */
