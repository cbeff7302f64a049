/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-avx2.c: the kernels for AVX2 with FMA. */
#include "vec-avx2.h"

#include "cascade_tmpl.c"
