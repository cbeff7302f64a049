/* SPDX-License-Identifier: LGPL-2.1-or-later
 * jump.h: how audible a change of settings is. */
#ifndef TEST_JUMP_H
#define TEST_JUMP_H

#include "common.h"

/* A sine below 2 kHz where the settings of its filter change. */
typedef struct TestJump
{
  double
      high_db; /* energy above 2 kHz, as a part of all, in a third of a second around
                   * the change */
  double
      bend; /* largest second difference, as a part of the larger one before and
                   * after */
  double peak_db; /* the largest value, likewise */
  double loud;    /* the larger value of before and after */
} TestJump;

/* The energy above 2 kHz of 16384 frames of 48 kHz, against all of it. */
double test_jump_high_db (const double *frames);

/* The largest second difference of n frames. */
double test_jump_bend (const double *frames, size_t n);

/* Of 48000 frames of 48 kHz, with the change at frame 24000. */
TestJump test_jump_measure (const double *frames);

/* A sine of 440 Hz and amplitude 0.5, channel 0 of so many, through one chain and
 * at frame 24000 through another, in blocks.  Lets go of both. */
TestJump test_jump_between (TfxChain *before, TfxChain *after,
    unsigned n_channels, size_t block_frames);

typedef enum
{
  TEST_FADE_REST, /* both filters have had the sine from the start */
  TEST_FADE_BEGIN /* the second one has it from the change on */
} TestFade;

/* A cross-fade of 10 ms at frame 24000 between the outputs of two filters that do not change,
 * of the same sine.  Lets go of both chains. */
TestJump test_jump_fade (TfxChain *before, TfxChain *after, unsigned n_channels,
    TestFade fade);

#endif
