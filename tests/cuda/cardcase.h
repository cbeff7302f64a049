/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cardcase.h: the estimated time of a plan on a card that the stand-in imitates. */
#ifndef TEST_CARDCASE_H
#define TEST_CARDCASE_H

#include "cards.h"
#include "chains.h"

typedef struct CardCase
{
  size_t n_sections, n_taps;
  unsigned n_channels;
  TfxSample type;
  /* Of each output of a matrix of kernels with 8 channels; 0: no matrix. */
  unsigned n_inputs;
} CardCase;

/* The card with the properties that its driver reports. */
TfxCudaCard cardcase_card (const StandinCard *card);

/* A plan on the CPU; the caller frees it. */
CudaRow *cardcase_row (const CardCase *c);

/* ns; NaN: unknown */
double cardcase_estimate (const TfxCudaCard *card, const CardCase *c,
    size_t n_frames, bool on_device);

#endif
