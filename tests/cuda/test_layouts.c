/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_layouts.c: how the cascade is laid out on cards that there are. */
#include "cards.h"
#include "kernels/args.h"
#include "shape.h"
#include "tap.h"

#include <string.h>

/* Of each block's shared memory, the system's. */
#define SHARED_OF_SYSTEM 1024

static void
check (TapMany *many, const StandinCard *card, TfxShapeAsk ask)
{
  /* Numbers of eight bytes take twice the room. */
  const size_t want = ask.sample_size == 4 ? 5 : 3;
  TfxShape s;
  size_t n_blocks, n_warps;

  ask.n_frames = 1 << 24;
  ask.n_multiprocessors = (unsigned)card->n_multiprocessors;
  ask.max_shared = (unsigned)card->block_shared * 1024;
  ask.shared = (unsigned)card->shared * 1024;
  s = tfx_shape_choose (&ask, -1, -1);
  n_blocks = ask.shared / (s.shared_size + SHARED_OF_SYSTEM);
  n_warps = n_blocks * s.n_warps;
  tap_many_check (many, s.shared_size <= ask.max_shared && n_warps >= want,
      "%s, %u channels%s, %u sections, samples of %u bytes: segments of %u "
      "frames, blocks of %u warps and %zu bytes, %zu warps of a multiprocessor",
      card->name, ask.n_channels, ask.by_channel ? "" : ", planar", ask.group,
      ask.sample_size, 1u << s.segment_log2, s.n_warps, s.shared_size, n_warps);
}

/* Each multiprocessor has the warps that keep its four schedulers going. */
static void
test_warps (void)
{
  static const unsigned channels[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 64 };
  TapMany many = tap_many ("warps of a multiprocessor");

  for (unsigned i = 0; standin_card_at (i); i++) {
    for (size_t k = 0; k < sizeof channels / sizeof *channels; k++) {
      for (unsigned group = 1; group <= TFX_GROUP_MAX; group++) {
        for (unsigned way = 0; way < 4; way++) {
          TfxShapeAsk ask;

          memset (&ask, 0, sizeof ask);
          ask.n_channels = channels[k];
          ask.by_channel = way & 1;
          ask.group = group;
          ask.sample_size = way & 2 ? 8 : 4;
          ask.in_rounds = ask.sample_size == 4;
          ask.max_threads = ask.sample_size == 8 && group > 4 ? 128 : 256;
          ask.overhead = ask.sample_size == 8 ? 18 : 7;
          check (&many, standin_card_at (i), ask);
        }
      }
    }
  }
  tap_many_end (&many);
}

/* Where there is room, long segments, which cost less. */
static void
test_room (void)
{
  static const struct
  {
    const char *card;
    unsigned n_channels, want;
  } cases[] = { { "h100", 8, 8 }, { "h100", 1, 8 }, { "a100", 8, 8 },
    { "4090", 8, 8 }, { "t4", 8, 5 } };
  TapMany many = tap_many ("segments are as long as there is room for");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const StandinCard *card = standin_card_find (cases[i].card);
    const TfxShapeAsk ask = { .n_frames = 1 << 24,
      .n_channels = cases[i].n_channels,
      .by_channel = true,
      .group = 6,
      .sample_size = 4,
      .in_rounds = true,
      .n_multiprocessors = (unsigned)card->n_multiprocessors,
      .max_threads = 256,
      .max_shared = (unsigned)card->block_shared * 1024,
      .shared = (unsigned)card->shared * 1024,
      .overhead = 7 };
    TfxShape s = tfx_shape_choose (&ask, -1, -1);

    tap_many_check (&many, s.segment_log2 == cases[i].want,
        "%s, %u channels: segments of %u frames", cases[i].card,
        cases[i].n_channels, 1u << s.segment_log2);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "warps", test_warps },
  { "room", test_room },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
