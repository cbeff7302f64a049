/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-eq-meter.c: a level meter: a bar for each channel, and a line at its peak.
 */
#include "tfx-eq.h"

#define FLOOR_DB (-60.0)
#define TOP 30.0
#define BOTTOM 24.0
#define BAR 13.0
#define GAP 4.0
#define BARS (N_CHANNELS * (BAR + GAP) - GAP)

static gdouble
y_of (gint height, gdouble db)
{
  return TOP + (height - TOP - BOTTOM) * CLAMP (db, FLOOR_DB, 0.0) / FLOOR_DB;
}

/* Green, yellow from -12 dB on, red at the top. */
static cairo_pattern_t *
new_colors (gint height)
{
  cairo_pattern_t *colors =
      cairo_pattern_create_linear (0.0, height - BOTTOM, 0.0, TOP);

  cairo_pattern_add_color_stop_rgb (colors, 0.0, 0.16, 0.60, 0.42);
  cairo_pattern_add_color_stop_rgb (colors, 0.72, 0.22, 0.74, 0.46);
  cairo_pattern_add_color_stop_rgb (colors, 0.86, 0.92, 0.75, 0.22);
  cairo_pattern_add_color_stop_rgb (colors, 1.0, 0.90, 0.28, 0.25);
  return colors;
}

static void
draw_bars (const Meter *meter, cairo_t *cr, gdouble x, gint height)
{
  cairo_pattern_t *colors = new_colors (height);

  for (gint i = 0; i < N_CHANNELS; i++, x += BAR + GAP) {
    gdouble y = y_of (height, meter->rms_db[i]);

    cairo_set_source_rgba (cr, 0.5, 0.5, 0.5, 0.2);
    cairo_rectangle (cr, x, TOP, BAR, height - TOP - BOTTOM);
    cairo_fill (cr);
    cairo_set_source (cr, colors);
    cairo_rectangle (cr, x, y, BAR, height - BOTTOM - y);
    cairo_fill (cr);
    if (meter->peak_db[i] <= FLOOR_DB)
      continue;
    cairo_rectangle (cr, x, y_of (height, meter->peak_db[i]), BAR, 2.0);
    cairo_fill (cr);
  }
  cairo_pattern_destroy (colors);
}

static void
draw_meter (GtkDrawingArea *area, cairo_t *cr, int width, int height,
    gpointer data)
{
  const Meter *meter = data;
  gdouble x = (width - BARS) / 2.0;
  gdouble peak_db = MAX (meter->peak_db[0], meter->peak_db[1]);
  gchar *text =
      peak_db > FLOOR_DB ? g_strdup_printf ("%.1f", peak_db) : g_strdup ("−∞");

  draw_bars (meter, cr, x, height);
  draw_ink (cr, *meter->is_light, 0.65);
  draw_text (cr, meter->area, width / 2.0, 14.0, 0.5, text);
  draw_text (cr, meter->area, width / 2.0, height - 12.0, 0.5, meter->title);
  draw_ink (cr, *meter->is_light, 0.25);
  for (gdouble db = 0.0; db > FLOOR_DB; db -= 6.0) {
    cairo_rectangle (cr, x - 7.0, (int)y_of (height, db), 4.0, 1.0);
    cairo_fill (cr);
  }
  g_free (text);
}

GtkWidget *
meter_new (Meter *meter)
{
  for (gint i = 0; i < N_CHANNELS; i++)
    meter->rms_db[i] = meter->peak_db[i] = FLOOR_DB;
  meter->area = gtk_drawing_area_new ();
  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (meter->area), 64);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (meter->area), draw_meter,
      meter, NULL);
  return meter->area;
}
