/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_cuda_memory.c: CUDA memory for audio does what GStreamer expects of
 * memory: sizes, maps, parts, copies, order of work, failures.
 */
#include <string.h>

#include "cudacheck.h"

static const gsize sizes[] = { 1, 2, 3, 4, 5, 7, 100, 300, 511, 512, 513, 4000,
  4096, 4097, 1 << 20, (3 << 20) + 1 };

/* ---- one memory ----------------------------------------------------------------- */

/* Written on one side, then on the other, then in part; and copied on the device, also
 * of sizes that are no pitch that the driver gives. */
GST_START_TEST (test_map)
{
  gsize n = sizes[__i__];
  guint8 *a = cuda_check_bytes (n, 1), *b = cuda_check_bytes (n, 2);
  GstMapInfo map;

  for (gint on_device = 0; on_device < 2; on_device++) {
    GstMemory *memory = cuda_check_memory (a, n, on_device), *copy;
    guint8 written = b[0];

    fail_unless (gst_is_cuda_memory (memory));
    fail_unless (gst_memory_is_type (memory, GST_CUDA_MEMORY_TYPE_NAME));
    fail_unless (gst_tfx_cuda_allocator_owns (memory));
    fail_unless (GST_CUDA_MEMORY_CAST (memory)->context == cuda_check_context);
    fail_unless_equals_uint64 (memory->size, n);
    fail_unless_equals_uint64 (memory->maxsize, n);
    fail_unless_equals_uint64 (memory->offset, 0);
    cuda_check_holds (memory, a, n);
    copy = gst_memory_copy (memory, 0, -1);
    fail_unless (gst_is_cuda_memory (copy));
    cuda_check_holds (copy, a, n);
    gst_memory_unref (copy);
    cuda_check_fill (memory, b, n, TRUE);
    cuda_check_holds (memory, b, n);

    /* What a writer does not write stays. */
    cuda_check_fill (memory, a, n, TRUE);
    fail_unless (gst_memory_map (memory, &map, GST_MAP_WRITE));
    map.data[n / 2] = written;
    gst_memory_unmap (memory, &map);
    memcpy (b, a, n);
    b[n / 2] = written;
    cuda_check_holds (memory, b, n);
    gst_memory_unref (memory);
    b = (g_free (b), cuda_check_bytes (n, 2));
  }
  g_free (a);
  g_free (b);
}
GST_END_TEST;

/* Smaller before the CPU sees it for the first time, and larger again. */
GST_START_TEST (test_resize)
{

  for (gint first = 0; first < 2; first++) {
    GstMemory *memory = cuda_check_memory (bytes_a, N_BYTES, first);

    gst_memory_resize (memory, 100, 200);
    cuda_check_holds (memory, bytes_a + 100, 200);
    gst_memory_resize (memory, -50, 3000);
    cuda_check_holds (memory, bytes_a + 50, 3000);
    gst_memory_resize (memory, -50, N_BYTES);
    cuda_check_holds (memory, bytes_a, N_BYTES);
    gst_memory_unref (memory);
  }
}
GST_END_TEST;

/* ---- parts ---------------------------------------------------------------------- */

GST_START_TEST (test_share)
{
  GstMemory *memory = cuda_check_memory (bytes_a, N_BYTES, __i__);
  GstMemory *part = gst_memory_share (memory, 1001, 2000);
  GstMemory *part_of_part = gst_memory_share (part, 10, -1);
  GstMapInfo map;

  fail_unless (gst_is_cuda_memory (part));
  fail_unless (GST_CUDA_MEMORY_CAST (part)->context == cuda_check_context);
  fail_unless (part->parent == memory && part_of_part->parent == memory);
  fail_unless (GST_MEMORY_IS_READONLY (part));
  fail_if (gst_memory_map (part, &map, GST_MAP_WRITE));
  fail_if (gst_memory_map (part, &map, GST_MAP_WRITE | GST_MAP_CUDA));
  cuda_check_holds (part_of_part, bytes_a + 1011, 1990);
  cuda_check_holds (part, bytes_a + 1001, 2000);
  cuda_check_holds (memory, bytes_a, N_BYTES);

  /* The whole goes first. */
  gst_memory_unref (memory);
  cuda_check_holds (part, bytes_a + 1001, 2000);
  gst_memory_unref (part);
  cuda_check_holds (part_of_part, bytes_a + 1011, 1990);
  gst_memory_unref (part_of_part);
}
GST_END_TEST;

GST_START_TEST (test_span)
{
  gsize offset = 0;
  GstMemory *memory = cuda_check_memory (bytes_a, 1000, TRUE);
  GstMemory *one = gst_memory_share (memory, 100, 200);
  GstMemory *two = gst_memory_share (memory, 300, 50);
  GstMemory *three = gst_memory_share (memory, 351, 50);

  fail_unless (gst_memory_is_span (one, two, &offset));
  fail_unless_equals_uint64 (offset, 100);
  fail_if (gst_memory_is_span (two, three, &offset));
  fail_if (gst_memory_is_span (two, one, &offset));
  gst_memory_unref (one);
  gst_memory_unref (two);
  gst_memory_unref (three);
  gst_memory_unref (memory);
}
GST_END_TEST;

/* ---- copies ------------------------------------------------------------------------ */

static void
check_copy (GstMemory *memory, const guint8 *bytes, gssize offset, gssize size,
    gsize n)
{
  GstMemory *copy = gst_memory_copy (memory, offset, size);
  gboolean held = n > 0;

  fail_unless (gst_is_cuda_memory (copy));
  fail_unless (copy->parent == NULL);
  fail_unless_equals_uint64 (copy->size, n);
  fail_unless_equals_uint64 (copy->offset, 0);
  if (held)
    cuda_check_holds (copy, bytes, n);
  gst_memory_unref (copy);
}

GST_START_TEST (test_copy)
{
  GstMemory *memory = cuda_check_memory (bytes_a, N_BYTES, __i__);
  GstMemory *part;

  check_copy (memory, bytes_a, 0, -1, N_BYTES);
  check_copy (memory, bytes_a, 0, N_BYTES, N_BYTES);
  check_copy (memory, bytes_a + 1, 1, -1, N_BYTES - 1);
  check_copy (memory, bytes_a + 1234, 1234, 1, 1);
  check_copy (memory, bytes_a + 3000, 3000, 1000, 1000);
  check_copy (memory, bytes_a, 17, 0, 0);
  part = gst_memory_share (memory, 100, 300);
  check_copy (part, bytes_a + 100, 0, -1, 300);
  check_copy (part, bytes_a + 150, 50, 70, 70);
  gst_memory_unref (part);
  gst_memory_resize (memory, 10, 20);
  check_copy (memory, bytes_a + 10, 0, -1, 20);
  check_copy (memory, bytes_a + 15, 5, 7, 7);
  gst_memory_unref (memory);
}
GST_END_TEST;

GST_START_TEST (test_copy_is_apart)
{
  GstMemory *memory = cuda_check_memory (bytes_a, N_BYTES, __i__ & 1);
  GstMemory *copy = gst_memory_copy (memory, 0, -1);

  cuda_check_fill (memory, bytes_b, N_BYTES, __i__ & 2);
  cuda_check_holds (copy, bytes_a, N_BYTES);
  cuda_check_holds (memory, bytes_b, N_BYTES);

  /* It lives on by itself. */
  gst_memory_unref (memory);
  cuda_check_holds (copy, bytes_a, N_BYTES);
  gst_memory_unref (copy);
}
GST_END_TEST;

/* ---- the order of work ----------------------------------------------------------------- */

/* What is still on the stream has been done for whoever maps without knowing of it,
 * and for memory that is freed meanwhile. */
static const struct
{
  gboolean is_overwritten[2]; /* what is read: by the CPU, by another stream */
  gboolean has_waited;        /* another map did, before the work came */
  gboolean is_freed;          /* what is read */
  gboolean is_new; /* what is written; another stream reads it first */
} orders[] = {
  { { FALSE, FALSE }, FALSE, FALSE, FALSE },
  { { TRUE, FALSE }, FALSE, FALSE, FALSE },
  { { FALSE, TRUE }, FALSE, FALSE, FALSE },
  { { TRUE, TRUE }, FALSE, FALSE, FALSE },
  { { FALSE, FALSE }, TRUE, FALSE, FALSE },
  { { TRUE, FALSE }, TRUE, FALSE, FALSE },
  { { FALSE, TRUE }, TRUE, FALSE, FALSE },
  { { TRUE, TRUE }, TRUE, FALSE, FALSE },
  { { FALSE, FALSE }, FALSE, FALSE, TRUE },
  { { FALSE, FALSE }, FALSE, TRUE, TRUE },
};

GST_START_TEST (test_waits)
{
  const gboolean *is_overwritten = orders[__i__].is_overwritten;
  GstMemory *from = cuda_check_memory (bytes_a, N_BYTES, FALSE);
  GstMemory *to =
      orders[__i__].is_new
          ? gst_tfx_cuda_allocator_alloc (cuda_check_context, N_BYTES)
          : cuda_check_memory (bytes_b, N_BYTES, FALSE);
  guint8 *found = g_malloc (N_BYTES);
  GstMapInfo map;

  if (orders[__i__].has_waited) {
    fail_unless (gst_memory_map (from, &map, GST_MAP_READ | GST_MAP_CUDA));
    gst_memory_unmap (from, &map);
  }
  cuda_check_queue_copy (to, from, N_BYTES);
  if (orders[__i__].is_freed)
    from = (gst_memory_unref (from), NULL);
  for (gint on_device = 0; on_device < 2; on_device++) {
    if (is_overwritten[on_device])
      cuda_check_fill (from, bytes_b, N_BYTES, on_device);
  }
  if (orders[__i__].is_new && !orders[__i__].is_freed) {
    fail_unless (gst_memory_map (to, &map, GST_MAP_READ | GST_MAP_CUDA));
    cuda_check_read (map.data, found, N_BYTES);
    fail_unless (memcmp (found, bytes_a, N_BYTES) == 0);
    gst_memory_unmap (to, &map);
  }
  cuda_check_holds (to, bytes_a, N_BYTES);
  if (from) {
    cuda_check_holds (from,
        is_overwritten[0] || is_overwritten[1] ? bytes_b : bytes_a, N_BYTES);
    gst_memory_unref (from);
  }
  gst_memory_unref (to);
  g_free (found);
}
GST_END_TEST;

static gpointer
read_often (gpointer data)
{
  gpointer *given = data;
  GstMemory *memory = given[0];
  guint8 *expected = given[1];
  guint n_wrong = 0;

  for (gint i = 0; i < 200; i++) {
    GstMapInfo map;

    if (!gst_memory_map (memory, &map, GST_MAP_READ)) {
      n_wrong++;
      continue;
    }
    n_wrong += memcmp (map.data, expected, map.size) != 0;
    gst_memory_unmap (memory, &map);
  }
  return GUINT_TO_POINTER (n_wrong);
}

/* Readers in many threads, on either side, of the whole and of parts. */
GST_START_TEST (test_threads)
{
  GstMemory *memory = cuda_check_memory (bytes_a, N_BYTES, TRUE);
  GstMemory *part = gst_memory_share (memory, 500, 500);
  gpointer whole[] = { memory, bytes_a }, some[] = { part, bytes_a + 500 };
  GThread *threads[4];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new (NULL, read_often, i % 2 ? whole : some);
  for (gint i = 0; i < 100; i++) {
    GstMapInfo map;

    fail_unless (
        gst_memory_map (memory, &map, GST_MAP_READ | GST_TFX_MAP_CUDA_QUEUED));
    gst_memory_unmap (memory, &map);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    fail_unless_equals_int (GPOINTER_TO_UINT (g_thread_join (threads[i])), 0);
  gst_memory_unref (part);
  gst_memory_unref (memory);
}
GST_END_TEST;

/* ---- what a device refuses ------------------------------------------------------------ */

/* What goes while copies from and to it are under way is freed when they have
 * ended: the stand-in's frees do not wait, and its copies are late here. */
GST_START_TEST (test_free_waits)
{
  GstMemory *memory = cuda_check_memory (bytes_a, N_BYTES, TRUE), *copy;

  g_setenv ("TFX_STANDIN_ASYNC", "late", TRUE);
  copy = gst_memory_copy (memory, 0, -1);
  gst_memory_unref (memory);
  gst_memory_unref (gst_memory_copy (copy, 0, -1));
  cuda_check_holds (copy, bytes_a, N_BYTES);
  gst_memory_unref (copy);
  g_unsetenv ("TFX_STANDIN_ASYNC");
}
GST_END_TEST;

/* ---- failures ------------------------------------------------------------------------- */

GST_START_TEST (test_no_memory)
{
  GstMemory *memory, *copy;
  GstMapInfo map;

  fail_if (gst_tfx_cuda_allocator_alloc (cuda_check_context, 0));
  fail_if (gst_tfx_cuda_allocator_alloc (cuda_check_context, G_MAXINT32 - 510));
  if (!cuda_check_is_standin ())
    return;

  cuda_check_fail ("cuMemAllocPitch_v2:1,2");
  fail_if (gst_tfx_cuda_allocator_alloc (cuda_check_context, N_BYTES));
  memory = cuda_check_memory (bytes_a, N_BYTES, TRUE);

  /* A copy goes where there is memory. */
  cuda_check_fail ("cuMemAllocPitch_v2:1,2");
  copy = gst_memory_copy (memory, 100, 200);
  fail_unless (copy != NULL);
  fail_if (gst_is_cuda_memory (copy));
  fail_unless (gst_memory_map (copy, &map, GST_MAP_READ));
  fail_unless_equals_uint64 (map.size, 200);
  fail_unless (memcmp (map.data, bytes_a + 100, 200) == 0);
  gst_memory_unmap (copy, &map);
  gst_memory_unref (copy);
  gst_memory_unref (memory);

  /* The samples stay where they are. */
  memory = cuda_check_memory (bytes_a, N_BYTES, TRUE);
  cuda_check_fail ("cuMemHostAlloc:1,2,sticky");
  fail_if (gst_memory_map (memory, &map, GST_MAP_READ));
  cuda_check_fail (NULL);
  cuda_check_holds (memory, bytes_a, N_BYTES);
  gst_memory_unref (memory);
}
GST_END_TEST;

/* The device answers no more: what the CPU has it keeps, nothing hangs. */
GST_START_TEST (test_lost)
{
  GstMemory *here = cuda_check_memory (bytes_a, N_BYTES, FALSE);
  GstMemory *there = cuda_check_memory (bytes_a, N_BYTES, TRUE);
  GstMapInfo map;

  if (cuda_check_is_standin ()) {
    cuda_check_fail ("1,sticky");
    fail_unless (gst_memory_map (here, &map, GST_MAP_READ));
    fail_unless (memcmp (map.data, bytes_a, N_BYTES) == 0);
    gst_memory_unmap (here, &map);
    fail_if (gst_memory_map (here, &map, GST_MAP_READ | GST_MAP_CUDA));
    fail_if (gst_memory_map (there, &map, GST_MAP_READ));
    fail_if (gst_memory_copy (there, 0, -1));
    cuda_check_fail (NULL);
    cuda_check_holds (here, bytes_a, N_BYTES);
  }
  gst_memory_unref (here);
  gst_memory_unref (there);
}
GST_END_TEST;

static Suite *
cuda_memory_suite (void)
{
  Suite *suite = suite_create ("cuda_memory");
  TCase *tcase = tcase_create ("memory");

  tcase_add_checked_fixture (tcase, cuda_check_setup, cuda_check_teardown);
  tcase_add_loop_test (tcase, test_map, 0, G_N_ELEMENTS (sizes));
  tcase_add_test (tcase, test_resize);
  tcase_add_loop_test (tcase, test_share, 0, 2);
  tcase_add_test (tcase, test_span);
  tcase_add_loop_test (tcase, test_copy, 0, 2);
  tcase_add_loop_test (tcase, test_copy_is_apart, 0, 4);
  tcase_add_loop_test (tcase, test_waits, 0, G_N_ELEMENTS (orders));
  tcase_add_test (tcase, test_threads);
  tcase_add_test (tcase, test_free_waits);
  tcase_add_test (tcase, test_no_memory);
  tcase_add_test (tcase, test_lost);
  suite_add_tcase (suite, tcase);
  return suite;
}

GST_CHECK_MAIN (cuda_memory);
