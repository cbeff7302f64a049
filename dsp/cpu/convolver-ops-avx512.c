/* SPDX-License-Identifier: LGPL-2.1-or-later
 * convolver-ops-avx512.c: the innermost loops of the FIR engine for AVX-512. */
#include "convolver-vec-avx512.h"

#include "convolver-ops_isa.c"
