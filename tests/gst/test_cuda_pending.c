/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_pending.c: buffers in CUDA memory on which filters are still to run,
 * and somebody who looks into them, copies, keeps or drops them: what is seen is
 * filtered, and each filter hears each sample once.
 *
 * Between two tfx elements stands a probe that the first one does not look for.
 */
#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <string.h>

#include "deck.h"
#include "devices.h"

#define RATE 48000
#define N_BUFFERS 12
#define N_FRAMES 480

#define FIRST                                                                  \
  "tfxbutterworth mode=high-pass cutoff=100 order=3 DEVICE ! MEMORY ! "
#define LAST "tfxbutterworth name=last mode=high-pass cutoff=30 DEVICE"

/* What is left to the elements behind "probed" is seen in front of the next. */
static const gchar *const lines[] = {
  FIRST "tfxchebyshev name=probed cutoff=3000 order=5 DEVICE ! " LAST,
  FIRST "tfxchebyshev cutoff=3000 order=5 DEVICE ! tfxfir taps=61 align=false "
        "DEVICE ! tfxchain name=probed DEVICE "
        "chain=\"LoButterworth(900)+Echo(700,0.4)\" ! " LAST " ! MEMORY",
};

/* ---- somebody --------------------------------------------------------------------- */

typedef enum
{
  LOOK_BY_CPU,
  LOOK_ON_DEVICE,
  LOOK_TWICE,
  COPY,
  SHARE,
  KEEP, /* and look when the stream has ended */
  WRITE,
  DROP,
  N_DEEDS
} Deed;

typedef struct
{
  Deed deed;
  const Deck *deck;
  guint n_buffers, n_device;
  GArray *seen; /* of gdouble */
  GPtrArray *kept;
} Guest;

static void
see (Guest *guest, GstBuffer *buffer)
{
  gsize n;
  gdouble *x = tfx_check_samples (buffer, &guest->deck->info, &n);

  g_array_append_vals (guest->seen, x, n * guest->deck->info.channels);
  g_free (x);
}

/* By a copy of its own, on no stream of ours. */
static void
see_on_device (Guest *guest, GstBuffer *buffer)
{
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  GstCudaContext *context = GST_CUDA_MEMORY_CAST (memory)->context;
  GstBuffer *host = gst_buffer_copy (buffer);
  CUDA_MEMCPY2D copy = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
    .dstMemoryType = CU_MEMORYTYPE_HOST,
    .Height = 1 };
  GstMapInfo map;
  gpointer data;

  fail_unless (gst_buffer_map (buffer, &map,
      (GstMapFlags)(GST_MAP_READ | GST_MAP_CUDA)));
  data = g_malloc (map.size);
  copy.srcDevice = (guintptr)map.data;
  copy.dstHost = data;
  copy.WidthInBytes = copy.srcPitch = copy.dstPitch = map.size;
  /* It may be made to fail, once. */
  fail_unless (
      gst_cuda_context_push (context) || gst_cuda_context_push (context));
  fail_unless (gst_cuda_result (CuMemcpy2D (&copy)));
  gst_cuda_context_pop (NULL);
  gst_buffer_replace_all_memory (host,
      gst_memory_new_wrapped (0, data, map.size, 0, map.size, data, g_free));
  gst_buffer_unmap (buffer, &map);
  see (guest, host);
  gst_buffer_unref (host);
}

static GstBuffer *
copy_parts (GstBuffer *buffer)
{
  gsize size = gst_buffer_get_size (buffer), half = size / 2 / 64 * 64;
  GstBuffer *made =
      gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 0, half);

  return gst_buffer_append (made,
      gst_buffer_copy_region (buffer, GST_BUFFER_COPY_MEMORY, half, -1));
}

/* All samples half as loud, on every other buffer. */
static GstBuffer *
write_half (GstBuffer *buffer)
{
  GstMapInfo map;

  buffer = gst_buffer_make_writable (buffer);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READWRITE));
  for (gsize i = 0; i < map.size / sizeof (gdouble); i++)
    ((gdouble *)(gpointer)map.data)[i] *= 0.5;
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static GstPadProbeReturn
meet (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info), *made = NULL;
  Guest *guest = data;
  gboolean is_device = gst_memory_is_type (gst_buffer_peek_memory (buffer, 0),
      GST_CUDA_MEMORY_TYPE_NAME);

  guest->n_device += is_device;
  /* Some go by as they are. */
  if (guest->n_buffers++ % 4 == 3)
    return GST_PAD_PROBE_OK;
  switch (guest->deed) {
    case LOOK_TWICE:
      see (guest, buffer);
      /* fall through */
    case LOOK_ON_DEVICE:
      if (is_device)
        see_on_device (guest, buffer);
      else
        see (guest, buffer);
      break;
    case LOOK_BY_CPU:
      see (guest, buffer);
      break;
    case COPY:
      made = gst_buffer_copy_deep (buffer);
      see (guest, made);
      break;
    case SHARE:
      made = copy_parts (buffer);
      see (guest, made);
      break;
    case KEEP:
      g_ptr_array_add (guest->kept, gst_buffer_ref (buffer));
      break;
    case WRITE:
      GST_PAD_PROBE_INFO_DATA (info) = write_half (buffer);
      break;
    case DROP:
      return guest->n_buffers % 3 ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
    default:
      break;
  }
  gst_clear_buffer (&made);
  return GST_PAD_PROBE_OK;
}

/* ---- a stream with them ------------------------------------------------------------- */

/* @fail: what the stand-in makes fail meanwhile, or NULL. */
static Deck *
play (const gchar *launch, DeckSide side, Guest *guest, Deed deed,
    const gchar *fail)
{
  GstAudioInfo info = tfx_check_info (GST_AUDIO_FORMAT_F64, RATE, 2,
      GST_AUDIO_LAYOUT_INTERLEAVED);
  Deck *deck = deck_new (launch, side, &info);
  GstPad *pad = deck_pad (deck, "last", "sink");

  *guest =
      (Guest){ deed, deck, 0, 0, g_array_new (FALSE, FALSE, sizeof (gdouble)),
        g_ptr_array_new_with_free_func ((GDestroyNotify)gst_buffer_unref) };
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, meet, guest, NULL);
  if (fail)
    g_setenv ("TFX_STANDIN_FAIL", fail, TRUE);
  deck_push_many (deck, N_BUFFERS * N_FRAMES, N_FRAMES);
  deck_end (deck);
  g_unsetenv ("TFX_STANDIN_FAIL");
  for (guint i = 0; i < guest->kept->len; i++)
    see (guest, guest->kept->pdata[i]);
  gst_object_unref (pad);
  return deck;
}

static void
guest_clear (Guest *guest)
{
  g_array_unref (guest->seen);
  g_ptr_array_unref (guest->kept);
}

static void
expect_same (const Deck *cpu, const Guest *seen_on_cpu, const Deck *cuda,
    const Guest *seen, const gchar *what)
{
  gdouble d;

  fail_unless_equals_int (seen_on_cpu->seen->len, seen->seen->len);
  d = tfx_check_distance ((gpointer)seen_on_cpu->seen->data,
      (gpointer)seen->seen->data, seen->seen->len);
  fail_unless (d < 1e-11, "%s: seen: %g", what, d);
  deck_expect_same_times (cpu, cuda, what);
  fail_unless (deck_distance_db (cpu, cuda) < -220.0, "%s: heard: %g dB", what,
      deck_distance_db (cpu, cuda));
}

GST_START_TEST (test_guest)
{
  const gchar *launch = lines[__i__ / N_DEEDS];
  Guest guests[2];
  Deck *cpu = play (launch, DECK_CPU, &guests[0], __i__ % N_DEEDS, NULL);
  Deck *cuda = play (launch, DECK_CUDA, &guests[1], __i__ % N_DEEDS, NULL);

  expect_same (cpu, &guests[0], cuda, &guests[1], launch);
  tfx_check_expect_no_warning (cuda->bus);
  /* They came on the device, and unfiltered. */
  fail_unless_equals_int (guests[1].n_device, N_BUFFERS);
  fail_unless_equals_uint64 (deck_stat (cuda, "probed", "deferred"), N_BUFFERS);
  guest_clear (&guests[0]);
  guest_clear (&guests[1]);
  deck_free (cpu);
  deck_free (cuda);
}
GST_END_TEST;

/* ---- calls of the driver that fail meanwhile ------------------------------------------- */

static const gchar *const functions[] = { "cuLaunchKernel", "cuMemAlloc_v2",
  "cuMemAllocHost_v2", "cuMemAllocPitch_v2", "cuMemcpy2DAsync_v2",
  "cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2", "cuPointerGetAttribute", "cuEventQuery",
  "cuCtxPushCurrent_v2" };
static const Deed deeds[] = { LOOK_BY_CPU, LOOK_TWICE, KEEP, DROP };

#define N_USES 12

/* What is seen and heard is right all the same.  All of the uses are tried with
 * late work, every other one else. */
GST_START_TEST (test_fault)
{
  const gchar *function = functions[__i__ % G_N_ELEMENTS (functions)];
  const Deed deed = deeds[__i__ / G_N_ELEMENTS (functions)];
  const guint step = g_getenv ("TFX_STANDIN_ASYNC") ? 1 : 2;
  Guest expected, guest;
  Deck *cpu = play (lines[1], DECK_CPU, &expected, deed, NULL);

  for (guint n = 1; n <= N_USES; n += step) {
    gchar *fail = g_strdup_printf ("%s:%u,%d", function, n, n % 3 ? 719 : 2);
    Deck *cuda = play (lines[1], DECK_CUDA, &guest, deed, fail);

    expect_same (cpu, &expected, cuda, &guest, fail);
    guest_clear (&guest);
    deck_free (cuda);
    g_free (fail);
  }
  guest_clear (&expected);
  deck_free (cpu);
}
GST_END_TEST;

/* ---- suite ----------------------------------------------------------------------------- */

static Suite *
make_suite (void)
{
  Suite *s = suite_create ("cuda_pending");
  TCase *tc = tcase_create ("all");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_guest, 0, N_DEEDS * G_N_ELEMENTS (lines));
  if (devices_are_standin ()) {
    tfx_check_add_part (tc, test_fault,
        G_N_ELEMENTS (functions) * G_N_ELEMENTS (deeds), 3);
  }
  return s;
}

int
main (int argc, char **argv)
{
  return tfx_check_main (argc, argv, make_suite ());
}
