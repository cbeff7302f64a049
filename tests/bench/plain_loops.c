/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain_loops.c: the textbook's transposed direct form II as anybody would
 * write it, in three orders; compiled with -O3 for several processors, whose
 * name PLAIN_ISA is. */
#include "plain-private.h"

#define CAT2(a, b) a##_##b
#define CAT(a, b) CAT2 (a, b)

#define SAMPLE float
#define NAME(order) CAT (order, f32)
#include "plain_tmpl.c"
#undef SAMPLE
#undef NAME
#define SAMPLE double
#define NAME(order) CAT (order, f64)
#include "plain_tmpl.c"

const PlainLoops CAT (plain_loops, PLAIN_ISA) = { {
    { by_section_f32, by_sample_f32, by_frame_f32 },
    { by_section_f64, by_sample_f64, by_frame_f64 },
} };
