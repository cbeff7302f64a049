/* SPDX-License-Identifier: LGPL-2.1-or-later
 * fft.c: the radix-2 transform with decimation in time. */
#include "fft.h"

#include <math.h>
#include <stdlib.h>

TfxComplex *
tfx_fft_new_turns (size_t n)
{
  TfxComplex *turns = malloc (n / 2 * sizeof *turns);

  for (size_t i = 0; turns && i < n / 2; i++) {
    const double angle = -2.0 * M_PI * (double)i / (double)n;

    turns[i] = (TfxComplex){ cos (angle), sin (angle) };
  }
  return turns;
}

/* Moves each point to the index with its bits in reverse order. */
static void
reverse_bits (TfxComplex *x, size_t n)
{
  for (size_t i = 1, k = 0; i < n; i++) {
    size_t bit = n >> 1;

    for (; k & bit; bit >>= 1)
      k ^= bit;
    k ^= bit;
    if (i < k) {
      const TfxComplex other = x[i];

      x[i] = x[k];
      x[k] = other;
    }
  }
}

void
tfx_fft_run (const TfxComplex *turns, TfxComplex *x, size_t n)
{
  reverse_bits (x, n);
  for (size_t half = 1; half < n; half *= 2) {
    const size_t stride = n / (2 * half);

    for (size_t start = 0; start < n; start += 2 * half) {
      for (size_t i = 0; i < half; i++) {
        const TfxComplex w = turns[i * stride];
        TfxComplex *a = &x[start + i], *b = a + half;
        const double re = w.re * b->re - w.im * b->im;
        const double im = w.re * b->im + w.im * b->re;

        *b = (TfxComplex){ a->re - re, a->im - im };
        *a = (TfxComplex){ a->re + re, a->im + im };
      }
    }
  }
}
