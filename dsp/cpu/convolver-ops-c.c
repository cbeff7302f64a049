/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops-c.c: the innermost loops of the FIR engine for plain C: the reference. */
#include "convolver-vec-c.h"

#include "convolver-ops_isa.c"
