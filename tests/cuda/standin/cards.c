/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cards.c: see cards.h. */
#include "cards.h"

#include <stddef.h>
#include <string.h>

static const StandinCard cards[] = {
  { "t4", "Tesla T4", 75, 40, 1590, 64, 64, 1024, 16, 64, 2, 64, 320, 256, 5001,
      false },
  { "3070", "NVIDIA GeForce RTX 3070", 86, 46, 1725, 99, 100, 1536, 16, 128, 2,
      64, 448, 256, 7001, false },
  { "4090", "NVIDIA GeForce RTX 4090", 89, 128, 2520, 99, 100, 1536, 24, 128, 2,
      64, 1008, 384, 10501, false },
  { "a100", "NVIDIA A100-SXM4-40GB", 80, 108, 1410, 163, 164, 2048, 32, 64, 32,
      64, 1555, 5120, 1215, false },
  { "h100", "NVIDIA H100 80GB HBM3", 90, 132, 1980, 227, 228, 2048, 32, 128, 64,
      64, 3350, 5120, 2619, false },
  { "b200", "NVIDIA B200", 100, 148, 1965, 227, 228, 2048, 32, 128, 64, 64,
      8000, 8192, 3996, false },
  { "5090", "NVIDIA GeForce RTX 5090", 120, 170, 2407, 99, 100, 1536, 24, 128,
      2, 64, 1792, 512, 14001, false },
  { "orin", "Orin", 87, 16, 1300, 163, 164, 1536, 16, 128, 2, 64, 204, 256,
      3199, true },
};

const StandinCard *
standin_card_find (const char *name)
{
  for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
    if (strcmp (cards[i].name, name) == 0)
      return &cards[i];
  }
  return NULL;
}

const StandinCard *
standin_card_at (unsigned i)
{
  return i < sizeof cards / sizeof *cards ? &cards[i] : NULL;
}
