/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops-avx2.c: the innermost loops of the FIR engine for AVX2 and FMA. */
#include "convolver-vec-avx2.h"

#include "convolver-ops_isa.c"
