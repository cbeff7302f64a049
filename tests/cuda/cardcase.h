/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cardcase.h: what a plan would take on a card that the stand-in knows. */
#ifndef TEST_CARDCASE_H
#define TEST_CARDCASE_H

#include "cards.h"
#include "chains.h"

typedef struct CardCase
{
  size_t n_sections, n_taps;
  unsigned n_channels;
  TfxSample type;
} CardCase;

/* The card as its driver tells of it. */
TfxCudaCard cardcase_card (const StandinCard *card);

/* A plan on the CPU; the caller frees it. */
CudaRow *cardcase_row (const CardCase *c);

/* ns; NaN: nothing is known. */
double cardcase_estimate (const TfxCudaCard *card, const CardCase *c,
    size_t n_frames, bool on_device);

#endif
