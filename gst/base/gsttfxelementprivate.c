/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxelementprivate.c: functions of GstTfxElement for its files and
 * subclasses.
 */
#include "gsttfxelementprivate.h"

GST_DEBUG_CATEGORY (gst_tfx_element_debug);
#define GST_CAT_DEFAULT gst_tfx_element_debug

#define PRIVATE(self) gst_tfx_element_get_private (self)

gint gst_tfx_element_private_offset;

gboolean
gst_tfx_element_is_controlling (GstTfxElement *self)
{
  return g_atomic_pointer_get (&PRIVATE (self)->control_thread) ==
         g_thread_self ();
}

void
gst_tfx_element_mark_dirty (GstTfxElement *self)
{
  GstTfxElementPrivate *priv = PRIVATE (self);

  if (!gst_tfx_element_is_controlling (self))
    g_atomic_int_set (&priv->set_by_hand, TRUE);
  g_atomic_int_set (&priv->dirty, TRUE);
}

void
gst_tfx_element_mark_ready (GstTfxElement *self)
{
  g_atomic_int_set (&PRIVATE (self)->dirty, TRUE);
}

void
gst_tfx_element_report_clamp (GstTfxElement *self, const GstTfxClamp *clamp,
    gdouble rate)
{
  if (!gst_tfx_clamp_report_note (&PRIVATE (self)->clamps, clamp, rate))
    return;

  if (clamp->because) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s=%.12g%s %s; using %.12g%s.", clamp->property, clamp->asked,
            clamp->unit, clamp->because, clamp->used, clamp->unit),
        (NULL));
    return;
  }
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("%s=%.12g%s is out of range at %.12g Hz (%.12g–%.12g%s); using %.12g%s.",
          clamp->property, clamp->asked, clamp->unit, rate, clamp->lowest,
          clamp->highest, clamp->lowest_is ? clamp->lowest_is : "", clamp->used,
          clamp->unit),
      (NULL));
}

gboolean
gst_tfx_element_has_clamped (GstTfxElement *self)
{
  return PRIVATE (self)->clamps.n_clamped > 0;
}

void
gst_tfx_element_report_refusal (GstTfxElement *self, const GError *error)
{
  gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_WARNING,
      error->domain, error->code,
      g_strdup_printf ("The filter cannot be changed: %s. The previous "
                       "settings "
                       "stay in use.",
          error->message),
      NULL, __FILE__, GST_FUNCTION, __LINE__);
}

void
gst_tfx_element_ask_upstream (GstTfxElement *self)
{
  gst_pad_push_event (gst_tfx_element_get_private (self)->sink,
      gst_event_new_reconfigure ());
}
