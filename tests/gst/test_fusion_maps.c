/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_fusion_maps.c: memory of others that is mapped to be filtered, and what other
 * threads do to elements at that time.
 */
#include "calling.h"
#include "tfxcheck.h"

#define N_BYTES (64 * sizeof (gdouble))

static void
stop_element (GstElement *element)
{
  gst_element_set_state (element, GST_STATE_READY);
}

static GstPadProbeReturn
map_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstMapInfo map;

  fail_unless (
      gst_buffer_map (GST_PAD_PROBE_INFO_BUFFER (info), &map, GST_MAP_READ));
  gst_buffer_unmap (GST_PAD_PROBE_INFO_BUFFER (info), &map);
  return GST_PAD_PROBE_OK;
}

/* Memory that is mapped may run what is pending in it, and that takes the locks
 * of its filters: whoever maps it holds none, in a row, and where somebody else
 * reads what is pending.  So an element which has run the same filters before can
 * stop. */
static const struct
{
  const gchar *name;
  void (*deed) (GstElement *element);
  const gchar *target;
  gboolean is_split;   /* the second buffer */
  gboolean has_reader; /* of what is pending, between the two */
  gboolean at_unmap;
} meanwhiles[] = {
  { "an element stops", stop_element, "c", .is_split = TRUE },
  { "a response is read", calling_read_response, "b" },
  { "a response is read by another", calling_read_response, "b",
      .has_reader = TRUE },
  { "unmapped", calling_read_response, "b", .at_unmap = TRUE },
  { "unmapped by another", calling_read_response, "b", .has_reader = TRUE,
      .at_unmap = TRUE },
};

GST_START_TEST (test_while_mapped)
{
  GstAudioInfo info = tfx_check_f64 (48000, 1);
  g_autoptr (TfxHarness) h =
      tfx_check_harness ("tfxbutterworth name=b ! tfxbutterworth name=c",
          &info);
  g_autoptr (GstElement) c = gst_bin_get_by_name (GST_BIN (h->element), "c");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (c, "sink");
  g_autoptr (GstElement) target =
      gst_bin_get_by_name (GST_BIN (h->element), meanwhiles[__i__].target);
  CallingDeed deed = { .deed = meanwhiles[__i__].deed,
    .element = target,
    .at_unmap = meanwhiles[__i__].at_unmap,
    .seconds = 90 };

  gst_harness_push (h, calling_buffer_new (N_BYTES, NULL));
  if (meanwhiles[__i__].is_split)
    g_object_set (c, "fuse", FALSE, NULL);
  if (meanwhiles[__i__].has_reader)
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, map_buffer, NULL, NULL);
  gst_harness_push (h, calling_buffer_new (N_BYTES, &deed));
  calling_expect_done (&deed, meanwhiles[__i__].name);
  if (!meanwhiles[__i__].is_split)
    fail_unless_equals_uint64 (tfx_check_stat (target, "deferred"), 2);
}
GST_END_TEST;

int
main (int argc, char **argv)
{
  TCase *tc = tcase_create ("fusion_maps");

  tcase_add_loop_test (tc, test_while_mapped, 0, G_N_ELEMENTS (meanwhiles));
  return tfx_check_run (argc, argv, tc);
}
