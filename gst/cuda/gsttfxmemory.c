/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxmemory.c: caps for system memory and CUDA memory.
 *
 * The order of caps decides.  An element requests the first of its downstream
 * peer's caps as output.  It offers CUDA memory first as input, but system
 * memory first as output.  So two elements on the device agree on CUDA memory,
 * and a peer that accepts both gets system memory.
 */
#include "gsttfxmemory.h"

static GstCaps *
gst_tfx_memory_make (GstCaps *caps, gboolean cuda)
{
  GstCaps *made = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *s = gst_structure_copy (gst_caps_get_structure (caps, i));

    made = gst_caps_merge_structure_full (made, s,
        cuda ? gst_caps_features_new (GST_TFX_CUDA_FEATURE, NULL) : NULL);
  }
  return made;
}

GstCaps *
gst_tfx_memory_make_template (const gchar *text)
{
  GstCaps *caps = gst_caps_from_string (text);

  if (!gst_tfx_cuda_init ())
    return caps;
  return gst_caps_merge (caps, gst_tfx_memory_make (caps, TRUE));
}

/* Returns the structures for system memory. */
static GstCaps *
gst_tfx_memory_keep_system (GstCaps *caps)
{
  GstCaps *kept = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features (caps, i);

    if (gst_caps_features_is_any (features) ||
        gst_caps_features_contains (features,
            GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY))
      gst_caps_append_structure_full (kept,
          gst_structure_copy (gst_caps_get_structure (caps, i)),
          gst_caps_features_copy (features));
  }
  return kept;
}

GstCaps *
gst_tfx_memory_transform_caps (GstTfxMemory memory, GstPadDirection direction,
    GstCaps *caps)
{
  GstCaps *of_system, *of_cuda, *mine;

  if (memory == GST_TFX_MEMORY_SYSTEM) {
    mine = gst_tfx_memory_keep_system (caps);
    of_system = gst_tfx_memory_make (mine, FALSE);
    gst_caps_unref (mine);
    return of_system;
  }
  of_system = gst_tfx_memory_make (caps, FALSE);
  of_cuda = gst_tfx_memory_make (caps, TRUE);
  if (direction == GST_PAD_SRC && memory == GST_TFX_MEMORY_CUDA_FIRST)
    return gst_caps_merge (of_cuda, of_system);
  return gst_caps_merge (of_system, of_cuda);
}

GstCaps *
gst_tfx_memory_prefer (GstTfxMemory memory, GstCaps *caps)
{
  GstCaps *of_system;

  if (memory == GST_TFX_MEMORY_CUDA_FIRST)
    return caps;
  of_system = gst_tfx_memory_keep_system (caps);
  if (gst_caps_is_empty (of_system)) {
    gst_caps_unref (of_system);
    return caps;
  }
  gst_caps_unref (caps);
  return of_system;
}

gboolean
gst_tfx_memory_is_cuda (GstCaps *caps)
{
  return gst_caps_features_contains (gst_caps_get_features (caps, 0),
      GST_TFX_CUDA_FEATURE);
}

GstCaps *
gst_tfx_memory_to_system (GstCaps *caps)
{
  return gst_tfx_memory_make (caps, FALSE);
}
