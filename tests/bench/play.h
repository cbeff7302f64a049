/* SPDX-License-Identifier: LGPL-2.1-or-later
 * play.h: a pipeline of filters as a subject of a benchmark. */
#ifndef PLAY_H
#define PLAY_H

#include <gst/gst.h>

#include "core.h"

/* Filters as gst-launch-1.0 takes them, each an element or several. */
typedef struct PlayContestant
{
  const char *name, *variant;
  const char *elements[CASCADES_N_API]; /* all NULL: no filter */
  gboolean own;                         /* is the core's api chain */
  gboolean late;                        /* holds the first frames back */
} PlayContestant;

/* Plays the filters on noise, checks what comes out, and adds them to the
 * benchmark.  The number of the subject, or BENCH_NONE after a message. */
unsigned
play_add (Bench *bench, const PlayContestant *contestant, const CoreCase *core);

/* Takes the elements from that file; false after a message. */
gboolean play_load_plugin (Bench *bench, const char *path);

#endif
