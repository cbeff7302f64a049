/* SPDX-License-Identifier: LGPL-2.1-or-later
 * jump.h: how much of a change of settings is heard. */
#ifndef TEST_JUMP_H
#define TEST_JUMP_H

#include "common.h"

/* What a sine below 2 kHz does where a filter that it goes through changes. */
typedef struct TestJump
{
  double
      high_db; /* energy above 2 kHz against all of it, in a third of a second
                   * around the change */
  double
      bend; /* the largest second difference, against the larger one of before
                   * and after */
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
  TEST_FADE_REST, /* all of them have heard the sine from the start */
  TEST_FADE_BEGIN /* the second one hears it from there on */
} TestFade;

/* What two filters that do not change make of the same sine, in a cross-fade of 10 ms
 * at frame 24000.  Lets go of both. */
TestJump test_jump_fade (TfxChain *before, TfxChain *after, unsigned n_channels,
    TestFade fade);

#endif
