/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops-sse2.c: the innermost loops of the FIR engine for SSE2. */
#include "convolver-vec-sse2.h"

#include "convolver-ops_isa.c"
