/* SPDX-License-Identifier: LGPL-2.1-or-later
 * card.h: a CUDA device as the benchmark needs it: memory, copies, and the time
 * that work takes on it. */
#ifndef CARD_H
#define CARD_H

#include "driver.h"
#include "tfx-cuda.h"

typedef struct Card
{
  TfxCuda *cuda;
  const TfxDriver *driver;
  CUcontext context;
  CUstream stream;
  CUevent start, end;
  bool is_standin; /* of the tests: no device, and no time to speak of */
  int driver_version;
} Card;

/* The first device; false and a text if there is none. */
bool card_open (Card *card, char *why, size_t why_size);
void card_close (Card *card);

/* Memory on the device; NULL if there is not enough. */
void *card_alloc (Card *card, size_t size);
void card_free (Card *card, void *memory);

/* Both wait. */
bool card_upload (Card *card, void *to, const void *from, size_t size);
bool card_download (Card *card, void *to, const void *from, size_t size);

/* Does not wait. */
bool card_copy (Card *card, void *to, const void *from, size_t size);

/* Around what is to be measured.  card_begin() waits for all that has been
 * asked for before, card_end() for all since: milliseconds by the device's
 * events, and by the clock on the wall. */
typedef struct CardTime
{
  double device_ms, wall_ms;
} CardTime;

bool card_begin (Card *card);
bool card_end (Card *card, CardTime *time);

#endif /* CARD_H */
