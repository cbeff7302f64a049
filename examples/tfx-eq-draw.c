/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-eq-draw.c: ink and words for the drawings of tfx-eq.
 */
#include <math.h>

#include "tfx-eq.h"

void
draw_ink (cairo_t *cr, gboolean is_light, gdouble alpha)
{
  gdouble ink = is_light ? 0.1 : 1.0;

  cairo_set_source_rgba (cr, ink, ink, ink, alpha);
}

void
draw_text (cairo_t *cr, GtkWidget *widget, gdouble x, gdouble y, gdouble align,
    const gchar *text)
{
  PangoLayout *layout = gtk_widget_create_pango_layout (widget, NULL);
  gchar *markup = g_strdup_printf ("<span size='small'>%s</span>", text);
  gint width, height;

  pango_layout_set_markup (layout, markup, -1);
  pango_layout_get_pixel_size (layout, &width, &height);
  cairo_move_to (cr, round (x - align * width), round (y - height / 2.0));
  pango_cairo_show_layout (cr, layout);
  g_free (markup);
  g_object_unref (layout);
}
