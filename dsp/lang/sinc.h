/* SPDX-License-Identifier: LGPL-2.1-or-later
 * sinc.h: windowed-sinc designs with any number of edges, as
 * scipy.signal.firwin makes them. */
#ifndef TFX_LANG_SINC_H
#define TFX_LANG_SINC_H

#include <stdbool.h>
#include <stddef.h>

typedef struct TfxSinc
{
  const double *edges; /* Hz, rising, above 0 and below half the rate */
  size_t n_edges;
  bool pass_zero;     /* whether the lowest band passes */
  const char *window; /* a word of the catalogue */
  double beta;        /* of the kaiser window */
  size_t n_taps;
  double rate_hz;
} TfxSinc;

/* Whether a design takes no memory: one or two edges, a window of TfxWindow. */
bool tfx_sinc_is_simple (const char *window, size_t n_edges);

/* Writes taps[n_taps], with a response of 1 in the middle of the lowest band
 * that passes (at its end, if that is 0 or half the rate).  0, -ENOMEM, or
 * -EINVAL if the response there is 0, or if an even number of taps is to pass
 * half the rate. */
int tfx_sinc_design (const TfxSinc *sinc, double *taps);

#endif /* TFX_LANG_SINC_H */
