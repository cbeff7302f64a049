/* SPDX-License-Identifier: LGPL-2.1-or-later
 * element.h: what fuzz targets of elements share. */
#ifndef FUZZ_ELEMENT_H
#define FUZZ_ELEMENT_H

#include <gst/audio/audio.h>
#include <gst/check/gstharness.h>

#include "driver.h"

#define FUZZ_ELEMENT_MAX_CHANNELS 3

/* Pushes a block of noise at frame *at, which advances, and drops the output.  The stream
 * may refuse it. */
void fuzz_element_run (GstHarness *h, const GstAudioInfo *info, guint64 *at);

/* fuzz_main() in a test of GStreamer's check library, which the tests' helpers need, with
 * GLib's log off.  Returns the exit status. */
int fuzz_element_main (const FuzzTarget *target, int argc, char **argv);

#endif /* FUZZ_ELEMENT_H */
