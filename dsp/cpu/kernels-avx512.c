/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-avx512.c: the kernels for AVX-512. */
#include "vec-avx512.h"

#include "cascade_tmpl.c"
