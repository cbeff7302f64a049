/* SPDX-License-Identifier: LGPL-2.1-or-later
 * driver.h: what the fuzz targets share: random inputs, mutations of a corpus, and a
 * program around LLVMFuzzerTestOneInput() where there is no libFuzzer.
 */
#ifndef FUZZ_DRIVER_H
#define FUZZ_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the condition holds for the input; if not, it is printed and the program
 * aborts. */
#define FUZZ_MUST(condition)                                                   \
  do {                                                                         \
    if (!(condition))                                                          \
      fuzz_fail (#condition, __LINE__);                                        \
  } while (0)

int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

/* Called by a target first of all: what fuzz_fail() prints. */
void fuzz_begin (const uint8_t *data, size_t size);
void fuzz_fail (const char *what, int line);

typedef struct FuzzTarget
{
  /* Words that mutations insert. */
  const char *const *tokens;
  unsigned n_tokens;
  /* Writes an input of at most size bytes and returns its length; NULL: mutations of
   * the corpus alone. */
  size_t (*generate) (uint64_t *state, char *text, size_t size);
  /* Whether bytes have their places: some mutations leave those behind them where
   * they are. */
  bool is_binary;
  /* Whether n_runs inputs reached what the target is for, with a line about it. */
  bool (*judge) (unsigned long n_runs, char *line, size_t size);
} FuzzTarget;

/* Makes an empty folder, in memory if there is one for files, and returns its path; free
 * it. */
char *fuzz_make_folder (void);
void fuzz_remove_folder (const char *path);

/* PROGRAM [RUNS [SEED [FILE...]]]: runs the files, then that many inputs, a quarter
 * with TFX_TEST_PART; TFX_TEST_FUZZ_SECONDS sets the time instead.  Speaks TAP. */
int fuzz_main (const FuzzTarget *target, int argc, char **argv);

#endif /* FUZZ_DRIVER_H */
