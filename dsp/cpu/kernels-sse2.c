/* SPDX-License-Identifier: LGPL-2.1-or-later
 * kernels-sse2.c: the kernels for SSE2. */
#include "vec-sse2.h"

#include "cascade_tmpl.c"
