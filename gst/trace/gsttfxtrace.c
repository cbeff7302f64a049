/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtrace.c: who is told which filters run.
 */
#include "gsttfxtrace.h"

const GstTfxTraceHooks *gst_tfx_trace_hooks;
