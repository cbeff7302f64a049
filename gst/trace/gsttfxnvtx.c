/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxnvtx.c: fused rows as NVTX ranges, in the domain "gst-tfx".
 *
 * Each run of a row is a range on its thread, with the names of the row's
 * elements; its category is the kind of run.  Only in builds with NVTX's
 * headers, which open the library that a tool names in the environment.
 */
#include "gsttfxnvtx.h"

#include <nvtx3/nvToolsExt.h>

#include "gsttfxtrace.h"

static nvtxDomainHandle_t domain;

static GMutex lock;
/* TfxFilter to the interned name of its element.  Under the lock. */
static GHashTable *names;

/* Category 1 is the first. */
static const gchar *const categories[] = { "run", "start", "finish", "rest" };

static guint32
gst_tfx_nvtx_get_category (const gchar *what)
{
  for (guint i = 0; i < G_N_ELEMENTS (categories); i++) {
    if (g_str_equal (categories[i], what))
      return i + 1;
  }
  return 0;
}

static void
gst_tfx_nvtx_name (const TfxFilter *filter, GstElement *element)
{
  const gchar *name = g_intern_string (GST_OBJECT_NAME (element));

  /* A freed filter may have had the same address. */
  g_mutex_lock (&lock);
  g_hash_table_replace (names, (gpointer)filter, (gpointer)name);
  g_mutex_unlock (&lock);
}

static void
gst_tfx_nvtx_begin (const GstTfxTraceRun *run)
{
  nvtxEventAttributes_t range = { .version = NVTX_VERSION,
    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
    .category = gst_tfx_nvtx_get_category (run->what),
    .messageType = NVTX_MESSAGE_TYPE_ASCII };
  GString *name = g_string_new (NULL);

  g_mutex_lock (&lock);
  for (gsize i = 0; i < run->n; i++) {
    const gchar *element = g_hash_table_lookup (names, run->filters[i]);

    g_string_append_printf (name, "%s%s", i > 0 ? " | " : "",
        element ? element : "trial");
  }
  g_mutex_unlock (&lock);
  range.message.ascii = name->str;
  nvtxDomainRangePushEx (domain, &range);
  g_string_free (name, TRUE);
}

static void
gst_tfx_nvtx_end (const GstTfxTraceRun *run)
{
  nvtxDomainRangePop (domain);
}

void
gst_tfx_nvtx_init (void)
{
  static GstTfxTraceHooks hooks = { .name = gst_tfx_nvtx_name,
    .begin = gst_tfx_nvtx_begin,
    .end = gst_tfx_nvtx_end };

  domain = nvtxDomainCreateA ("gst-tfx");
  if (!domain)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (categories); i++)
    nvtxDomainNameCategoryA (domain, i + 1, categories[i]);
  names = g_hash_table_new (NULL, NULL);
  gst_tfx_trace_add (&hooks);
}
