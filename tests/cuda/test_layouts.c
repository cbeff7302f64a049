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

/* Planes of floats and one group of sections, in double. */
static TfxShapeAsk
narrow_ask (const StandinCard *card, size_t n_frames, unsigned n_channels,
    unsigned group)
{
  return (TfxShapeAsk){ .n_frames = n_frames,
    .n_channels = n_channels,
    .group = group,
    .sample_size = 4,
    .in_rounds = true,
    .n_multiprocessors = (unsigned)card->n_multiprocessors,
    .max_threads = 256,
    .max_shared = (unsigned)card->block_shared * 1024,
    .shared = (unsigned)card->shared * 1024,
    .overhead = 18 };
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
  TapMany many = tap_many ("segments fill the shared memory");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const StandinCard *card = standin_card_find (cases[i].card);
    TfxShapeAsk ask = narrow_ask (card, 1 << 24, cases[i].n_channels, 6);
    TfxShape s;

    ask.by_channel = true;
    ask.overhead = 7;
    s = tfx_shape_choose (&ask, -1, -1);

    tap_many_check (&many, s.segment_log2 == cases[i].want,
        "%s, %u channels: segments of %u frames", cases[i].card,
        cases[i].n_channels, 1u << s.segment_log2);
  }
  tap_many_end (&many);
}

/* Times of an H200 for four sections in segments of 16 to 256 frames, in 0.1 us:
 * the chosen segments are the fastest, or nearly. */
static void
test_measured (void)
{
  static const struct
  {
    unsigned seconds, n_channels, times[5];
  } cases[] = {
    { 1, 1, { 251, 276, 288, 338, 449 } },
    { 1, 2, { 249, 282, 285, 335, 461 } },
    { 1, 4, { 260, 288, 297, 393, 539 } },
    { 1, 8, { 276, 307, 322, 448, 670 } },
    { 1, 12, { 281, 298, 306, 399, 596 } },
    { 5, 1, { 258, 278, 335, 393, 469 } },
    { 5, 2, { 269, 276, 330, 391, 501 } },
    { 5, 4, { 318, 289, 333, 418, 572 } },
    { 5, 8, { 507, 355, 370, 499, 712 } },
    { 5, 12, { 623, 490, 380, 446, 631 } },
    { 180, 1, { 1824, 1215, 934, 762, 819 } },
    { 180, 2, { 3237, 2059, 1518, 1274, 1177 } },
    { 180, 4, { 6228, 3800, 2602, 2326, 2185 } },
    { 180, 8, { 12100, 7361, 5054, 4421, 4393 } },
    { 180, 12, { 19516, 11792, 7825, 6768, 6707 } },
    { 300, 1, { 2823, 1803, 1373, 1218, 1089 } },
    { 300, 2, { 5275, 3272, 2252, 2005, 2041 } },
    { 300, 4, { 10187, 6178, 4155, 3578, 3662 } },
    { 300, 8, { 19838, 11957, 8193, 7202, 6896 } },
    { 300, 12, { 32327, 19233, 12764, 10950, 10545 } },
    { 600, 1, { 5341, 3282, 2280, 1975, 1972 } },
    { 600, 2, { 10177, 6268, 4152, 3512, 3447 } },
    { 600, 4, { 20050, 11834, 7878, 6603, 6188 } },
    { 600, 8, { 39389, 23431, 15886, 13626, 12510 } },
    { 600, 12, { 64561, 38469, 25188, 21726, 20796 } },
  };
  const StandinCard *card = standin_card_find ("h100");
  TapMany many = tap_many ("segments are those that were the fastest");

  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const TfxShapeAsk ask = narrow_ask (card, (size_t)44100 * cases[i].seconds,
        cases[i].n_channels, 4);
    TfxShape s = tfx_shape_choose (&ask, -1, -1);
    unsigned best = cases[i].times[0];

    for (unsigned k = 1; k < 5; k++)
      best = cases[i].times[k] < best ? cases[i].times[k] : best;
    tap_many_check (&many,
        s.segment_log2 >= 4 && s.segment_log2 <= 8 &&
            cases[i].times[s.segment_log2 - 4] <= 1.06 * best,
        "%u s of %u channels: segments of %u frames", cases[i].seconds,
        cases[i].n_channels, 1u << s.segment_log2);
  }
  tap_many_end (&many);
}

static const TapTest tests[] = {
  { "warps", test_warps },
  { "room", test_room },
  { "measured", test_measured },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
