/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cost.c: what blocks would take on cards, and which of them the CPU is
 * better for. */
#include "cardcase.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

static const CardCase api = { .n_sections = 6,
  .n_channels = 8,
  .type = TFX_SAMPLE_F32 };
static const CardCase room = { .n_taps = 65536,
  .n_channels = 2,
  .type = TFX_SAMPLE_F32 };

/* More work takes longer, whatever it is more of. */
static void
test_grows (void)
{
  CardCase deep = api, wide = api, doubles = api;

  deep.n_sections = 60;
  wide.n_channels = 64;
  doubles.type = TFX_SAMPLE_F64;
  for (unsigned i = 0; standin_card_at (i); i++) {
    const StandinCard *s = standin_card_at (i);
    TfxCudaCard card = cardcase_card (s);
    double ns = cardcase_estimate (&card, &api, 48000, false);

    tap_check (ns < cardcase_estimate (&card, &api, 96000, false) &&
                   ns < cardcase_estimate (&card, &deep, 48000, false) &&
                   ns < cardcase_estimate (&card, &wide, 48000, false) &&
                   ns < cardcase_estimate (&card, &doubles, 48000, false) &&
                   ns > cardcase_estimate (&card, &api, 48000, true) &&
                   ns > 0.0,
        "%s: more takes longer than %.0f ns", s->title, ns);
  }
}

/* A matrix of kernels takes a launch more than one kernel, and longer with more
 * inputs. */
static void
test_matrix (void)
{
  CardCase alone = room, one = room, all = room;

  alone.n_channels = one.n_channels = all.n_channels = 8;
  one.n_inputs = 1;
  all.n_inputs = 8;
  for (unsigned i = 0; standin_card_at (i); i++) {
    const StandinCard *s = standin_card_at (i);
    TfxCudaCard card = cardcase_card (s);

    for (size_t n = 256; n <= 65536; n *= 256) {
      const double ns = cardcase_estimate (&card, &one, n, true);

      tap_check (cardcase_estimate (&card, &alone, n, true) < ns - 1e3 &&
                     2.0 * ns < cardcase_estimate (&card, &all, n, true),
          "%s, %zu frames: more inputs take longer than %.0f ns", s->title, n,
          ns);
    }
  }
}

/* Never less than what the samples take on the bus, or in device memory; and not ten
 * times that where nothing else counts but the starts of kernels, 10 us for each
 * part of 2^20 samples, and a wait of 20. */
static void
test_bounds (void)
{
  const size_t n_frames = 4000000;
  const double bytes = 4.0 * 8.0 * (double)n_frames;
  const double starts = 1e4 * ceil (8.0 * (double)n_frames / 0x1p20) + 2e4;
  const CardCase none = { .n_channels = 8, .type = TFX_SAMPLE_F32 };

  for (unsigned i = 0; standin_card_at (i); i++) {
    const StandinCard *s = standin_card_at (i);
    TfxCudaCard card = cardcase_card (s);
    double moved = cardcase_estimate (&card, &api, n_frames, false);
    double stays = cardcase_estimate (&card, &none, n_frames, true);

    tap_check (s->is_integrated || moved > bytes / 32.0,
        "%s: %.0f ns are more than the bus takes", s->title, moved);
    tap_check (stays > 2.0 * bytes / s->memory_gb_s &&
                   stays - starts < 20.0 * bytes / s->memory_gb_s,
        "%s: %.0f ns are what memory takes", s->title, stays);
  }
}

/* A long block's upload, kernel and download overlap. */
static void
test_overlaps (void)
{
  const CardCase deep = { .n_sections = 96,
    .n_channels = 8,
    .type = TFX_SAMPLE_F32 };
  TfxCudaCard card = cardcase_card (standin_card_find ("t4"));
  double part = cardcase_estimate (&card, &deep, 131072, false);
  double many = cardcase_estimate (&card, &deep, 16 * 131072, false);
  double run = cardcase_estimate (&card, &deep, 131072, true);

  tap_check (many < 16.0 * run + 2.0 * part && many > 15.0 * run * 0.9,
      "16 parts take %.0f ns, one of them %.0f, its kernel %.0f", many, part,
      run);
}

/* A card that is newer than this, or a driver that does not tell. */
static void
test_unknown (void)
{
  const TfxCudaCard known = cardcase_card (standin_card_find ("h100"));
  TfxCudaCard cards[] = { known, known, known, known, known };

  cards[0].compute = 199;
  cards[1].clock_khz = 0;
  cards[2].memory_khz = 0;
  cards[3].n_multiprocessors = 0;
  cards[4].double_ratio = 0;
  tap_check (!isnan (cardcase_estimate (&known, &api, 48000, false)),
      "an H100 is known");
  for (size_t i = 0; i < N_OF (cards); i++)
    tap_check (isnan (cardcase_estimate (&cards[i], &api, 48000, false)),
        "case %zu is not known", i);
  /* Related cards, some with another rate of doubles, are not known. */
  cards[0].compute = 103;
  tap_check (isnan (cardcase_estimate (&cards[0], &api, 48000, false)),
      "compute capability 10.3 is not known");
}

/* Stages that the CPU alone runs. */
static void
test_no_kernel (void)
{
  const TfxLimiter limiter = { .n_late = 1 };
  const TfxFilterSpec spec = { RATE, 2, TFX_SAMPLE_F32, 0 };
  const TfxCudaCard card = cardcase_card (standin_card_find ("h100"));
  const TfxCudaJob job = { .n_frames = 48000 };
  TfxChain *chain = tfx_chain_new ();
  CudaRow *row;
  double ns;

  test_cuda_append (&chain,
      tfx_stage_new_limiter (tfx_stage_new_id (), &limiter));
  row = cuda_row_new_for (chain, &spec, tfx_cpu_backend ());
  tap_check (row && !tfx_cuda_estimate (&card, row->plan, &job, &ns),
      "a limiter that stays late is not known");
  cuda_row_free (&row);
  tfx_chain_unref (&chain);
}

/* What the driver says is what is read. */
static void
test_read (void)
{
  TfxCudaCard card, other;

  if (!tfx_driver_get (NULL) || !test_cuda_is_standin ()) {
    tap_skip ("there is no stand-in", "cards");
    return;
  }
  for (unsigned i = 0; standin_card_at (i); i++) {
    const TfxCudaCard expected = cardcase_card (standin_card_at (i));

    test_cuda_set ("TFX_STANDIN_CARD", standin_card_at (i)->name);
    tap_check (tfx_cuda_get_card (-1, &card) == 0 &&
                   card.compute == expected.compute &&
                   card.n_multiprocessors == expected.n_multiprocessors &&
                   card.clock_khz == expected.clock_khz &&
                   card.memory_khz == expected.memory_khz &&
                   card.memory_bits == expected.memory_bits &&
                   card.double_ratio == expected.double_ratio &&
                   card.max_shared == expected.max_shared &&
                   card.is_integrated == expected.is_integrated,
        "%s is read", standin_card_at (i)->title);
  }
  test_cuda_set ("TFX_STANDIN_CARD", NULL);
  tap_check (tfx_cuda_get_card (77, &other) < 0, "there is no device 77");
}

/* Long FIRs go by transforms: twice the taps are not twice the time. */
static void
test_transforms (void)
{
  TfxCudaCard card = cardcase_card (standin_card_find ("h100"));
  CardCase longer = room;
  double ns = cardcase_estimate (&card, &room, 1 << 20, true);

  longer.n_taps *= 2;
  tap_check (ns > 0.0 &&
                 cardcase_estimate (&card, &longer, 1 << 20, true) < 2.0 * ns,
      "%zu taps take %.0f ns", room.n_taps, ns);
}

/* Where transfers and kernels are faster than the host, each part of 2^20 samples
 * takes the host's time: two copies at 10 GB/s and a wait of 10 us. */
static void
test_host (void)
{
  const TfxCudaCard card = cardcase_card (standin_card_find ("h100"));
  const double host = 2.0 * 4.0 * 0x1p20 / 10.0 + 1e4;
  const double one = cardcase_estimate (&card, &api, 1 << 17, false);
  const double many = cardcase_estimate (&card, &api, 16 << 17, false);

  tap_check (fabs (many - one - 15.0 * host) < 1.0,
      "15 more parts take %.0f ns, of the host %.0f", many - one, 15.0 * host);
}

/* ns for which samples move. */
static double
time_moved (const TfxCudaCard *card, const CardCase *c, size_t n_frames)
{
  return cardcase_estimate (card, c, n_frames, false) -
         cardcase_estimate (card, c, n_frames, true);
}

/* Without the starts of two copies; of one where samples are read more than once. */
static void
test_short (void)
{
  const CardCase fir = { .n_taps = 101,
    .n_channels = 2,
    .type = TFX_SAMPLE_F32 };
  CardCase stereo = api;

  stereo.n_channels = 2;
  for (unsigned i = 0; standin_card_at (i); i++) {
    const StandinCard *s = standin_card_at (i);
    const TfxCudaCard card = cardcase_card (s);
    const double more =
        time_moved (&card, &stereo, 513) - time_moved (&card, &stereo, 512);
    const double fir_more =
        time_moved (&card, &fir, 513) - time_moved (&card, &fir, 512);

    tap_check (s->is_integrated
                   ? more < 10.0 && fir_more < 10.0
                   : more > 4e3 && fir_more > 3e3 && fir_more < more,
        "%s: 513 frames take %.0f ns more to move than 512, of a FIR %.0f",
        s->title, more, fir_more);
  }
}

int
main (int argc, char **argv)
{
  static const TapTest tests[] = { { "grows", test_grows },
    { "matrix", test_matrix }, { "bounds", test_bounds },
    { "overlaps", test_overlaps }, { "unknown", test_unknown },
    { "read", test_read }, { "transforms", test_transforms },
    { "no-kernel", test_no_kernel }, { "host", test_host },
    { "short", test_short }, { NULL, NULL } };

  return tap_main (argc, argv, tests);
}
