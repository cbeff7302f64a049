/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cards.h: properties of devices.
 *
 * The figures are NVIDIA's: its white papers (Turing, Ampere GA102, Ada, A100,
 * H100, RTX Blackwell, Jetson AGX Orin), and the tables of compute capabilities
 * and of arithmetic throughput in the CUDA C++ Programming Guide.  Of the B200
 * there is HGX B200's data sheet: 148 multiprocessors at 1965 MHz are its 75
 * TFLOPS in float and 37 in double. */
#ifndef TFX_STANDIN_CARDS_H
#define TFX_STANDIN_CARDS_H

#include <stdbool.h>

typedef struct StandinCard
{
  const char *name;  /* in TFX_STANDIN_CARD */
  const char *title; /* as a driver says it */
  int compute;       /* 90 for 9.0 */
  int n_multiprocessors;
  int clock_mhz;
  /* Shared memory in KB: of a block that asks for more than 48, and of a
   * multiprocessor. */
  int block_shared, shared;
  int n_threads, n_blocks; /* of a multiprocessor, at most */
  /* Lanes a clock of a multiprocessor. */
  int n_float, n_double, n_int;
  int memory_gb_s; /* gigabytes a second */
  int bus_bits, memory_mhz;
  bool is_integrated;
} StandinCard;

/* By name; NULL: there is none. */
const StandinCard *standin_card_find (const char *name);
/* NULL behind the last one. */
const StandinCard *standin_card_at (unsigned i);

#endif
