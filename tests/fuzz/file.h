/* SPDX-License-Identifier: LGPL-2.1-or-later
 * file.h: an input as a file. */
#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

/* The path of a file in memory with these bytes, until the next call.  Ends the
 * program if there can be none. */
const char *fuzz_file_write (const uint8_t *data, size_t size);

#endif /* FUZZ_FILE_H */
