/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_example.c: the worked examples of the headers, as they stand there, do
 * what they say; without memory they fail and leave nothing behind.
 */
#include "heap.h"
#include "lang/expr.h"
#include "tap.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int filter (float samples[1024]);
int build (const char *text, TfxChain **chain);

#include "examples.inc"

#define N_FRAMES 512

static void
test_filter (void)
{
  TapMany many = tap_many ("without memory");
  float samples[2 * N_FRAMES];
  unsigned n_allocations;
  int ret;

  for (unsigned i = 0; i < N_FRAMES; i++) {
    samples[2 * i] = 1.0f;
    samples[2 * i + 1] = i % 2 ? -1.0f : 1.0f;
  }
  heap_watch (0);
  ret = filter (samples);
  n_allocations = heap_unwatch ().n_allocations;
  tap_check (ret == 0, "it runs: %d", ret);
  tap_check (samples[0] < 0.01f &&
                 fabsf (samples[2 * N_FRAMES - 2] - 1) < 1e-3f,
      "0 Hz passes: %g to %g", samples[0], samples[2 * N_FRAMES - 2]);
  tap_check (fabsf (samples[2 * N_FRAMES - 1]) < 1e-4f,
      "half the rate does not: %g", samples[2 * N_FRAMES - 1]);

  for (unsigned fail = 1; fail <= n_allocations; fail++) {
    long before = heap_n_alive ();

    heap_watch (fail);
    ret = filter (samples);
    heap_unwatch ();
    tap_many_check (&many, ret == -ENOMEM, "allocation %u: %d", fail, ret);
    tap_many_check (&many, heap_n_alive () == before,
        "allocation %u: %ld are left", fail, heap_n_alive () - before);
  }
  tap_many_end (&many);
}

static void
test_build (void)
{
  TapMany many = tap_many ("without memory");
  static const char text[] = "Gain(2) | eq=ParametricEQ(1000, 2, 3)";
  TfxChain *chain = NULL;
  unsigned n_allocations;
  int ret;

  heap_watch (0);
  ret = build (text, &chain);
  n_allocations = heap_unwatch ().n_allocations;
  tap_check (ret == 0 && tfx_chain_n_stages (chain) == 2, "it runs: %d", ret);
  tfx_chain_unref (&chain);
  tap_check (build ("Gain(2)", &chain) == -ENOENT && !chain,
      "a text without that stage");
  tap_check (build ("eq=Gain(", &chain) == -EINVAL && !chain,
      "a text that is wrong");

  for (unsigned fail = 1; fail <= n_allocations; fail++) {
    long before = heap_n_alive ();

    heap_watch (fail);
    ret = build (text, &chain);
    heap_unwatch ();
    tap_many_check (&many, ret == -ENOMEM && !chain, "allocation %u: %d", fail,
        ret);
    tap_many_check (&many, heap_n_alive () == before,
        "allocation %u: %ld are left", fail, heap_n_alive () - before);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "filter", test_filter },
  { "build", test_build },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
