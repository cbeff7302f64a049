/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops-c.c: the innermost loops of the FIR engine for any
 * processor. */
#include "convolver-vec-c.h"

#include "convolver-ops_isa.c"
