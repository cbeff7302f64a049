/* SPDX-License-Identifier: LGPL-2.1-or-later
 * shuffle.h: permutes the lanes of vectors by a vector of lane numbers.
 *
 * tfx_shuffle (a, lanes): lane i is lane lanes[i] of a.
 * tfx_shuffle2 (a, b, lanes): lane i is lane lanes[i] of a followed by b.
 *
 * GCC has a builtin; Clang has one for literal lane numbers alone, but folds these
 * loops where the numbers are constant. */
#ifndef TFX_SHUFFLE_H
#define TFX_SHUFFLE_H

#ifndef __clang__
#define tfx_shuffle(a, lanes) __builtin_shuffle (a, lanes)
#define tfx_shuffle2(a, b, lanes) __builtin_shuffle (a, b, lanes)
#else
#define tfx_shuffle(a, lanes)                                                  \
  tfx_shuffle2 (a, a, (lanes) & (TFX_N_LANES (a) - 1))
#define tfx_shuffle2(a, b, lanes)                                              \
  ({                                                                           \
    __typeof__ (+(a)) a_ = (a), b_ = (b), r_ = a_;                             \
    const __typeof__ (lanes) l_ = (lanes);                                     \
    for (int i_ = 0, n_ = TFX_N_LANES (r_); i_ < n_; i_++)                     \
      r_[i_] = l_[i_] & n_ ? b_[l_[i_] & (n_ - 1)] : a_[l_[i_] & (n_ - 1)];    \
    r_;                                                                        \
  })
#define TFX_N_LANES(v) (int)(sizeof (v) / sizeof (v)[0])
#endif

#endif /* TFX_SHUFFLE_H */
