/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-eq-window.c: the window of tfx-eq.  An adjustment for each parameter of each
 * stage, bound to the property; sliders and the drawing move the adjustments.
 */
#include <math.h>

#include "tfx-eq.h"

/* ---- the bands --------------------------------------------------------------------- */

static gboolean
to_number (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  g_value_set_double (to, pow (10.0, g_value_get_double (from)));
  return TRUE;
}

/* Flat, as long as the sound is compared with what came in. */
static gboolean
to_gain (GBinding *binding, const GValue *from, GValue *to, gpointer data)
{
  GtkToggleButton *compare = data;

  g_value_set_double (to,
      gtk_toggle_button_get_active (compare) ? 0.0 : g_value_get_double (from));
  return TRUE;
}

static void
on_compare (GtkToggleButton *compare, gpointer data)
{
  App *app = data;

  for (guint b = 0; b < N_BANDS; b++)
    g_object_notify (G_OBJECT (app->bands[b].gain_db), "value");
}

static void
on_flat (GtkButton *button, gpointer data)
{
  App *app = data;

  for (guint b = 0; b < N_BANDS; b++)
    gtk_adjustment_set_value (app->bands[b].gain_db, 0.0);
}

/* The adjustments lead the properties of the stage. */
static void
bind_band (App *app, Band *band)
{
  GObject *stage =
      gst_child_proxy_get_child_by_name (GST_CHILD_PROXY (app->plot.filter),
          band->name);

  /* The element keeps it. */
  band->stage = stage;
  g_object_unref (stage);
  band->log_hz = gtk_adjustment_new (log10 (band->hz), log10 (MIN_HZ),
      log10 (MAX_HZ), 0.01, 0.1, 0.0);
  band->gain_db =
      gtk_adjustment_new (0.0, -MAX_GAIN_DB, MAX_GAIN_DB, 0.5, 3.0, 0.0);
  band->log_q = gtk_adjustment_new (log10 (band->q), -1.0, 1.0, 0.02, 0.1, 0.0);
  g_object_bind_property_full (band->log_hz, "value", stage, band->frequency,
      G_BINDING_DEFAULT, to_number, NULL, NULL, NULL);
  g_object_bind_property_full (band->log_q, "value", stage, "q",
      G_BINDING_DEFAULT, to_number, NULL, NULL, NULL);
  g_object_bind_property_full (band->gain_db, "value", stage, "gain",
      G_BINDING_DEFAULT, to_gain, NULL, app->compare, NULL);
  g_signal_connect_swapped (stage, "notify", G_CALLBACK (gtk_widget_queue_draw),
      app->plot.area);
}

/* ---- the window ---------------------------------------------------------------------- */

static const gchar style[] =
    "window { background: #202124; color: #f2f2f2; }"
    "window.light { background: #f4f4f5; color: #1a1a1a; }"
    "headerbar { background: transparent; box-shadow: none; border: none; }"
    ".band { background: alpha(currentColor, .05); border-radius: 10px;"
    "  padding: 12px 14px 8px; }"
    ".band .value { font-size: smaller; font-feature-settings: 'tnum'; }"
    ".band .what { font-size: smaller; opacity: .6; }"
    "scale { padding: 6px 2px; }"
    "scale trough { background: alpha(currentColor, .18); border: none; }"
    ".error { background: #b3261e; color: white; padding: 8px 14px; }";

/* "1.25 kHz" and the like beside a slider. */
static void
show_value (GtkAdjustment *adjustment, GtkLabel *label)
{
  const gchar *unit = g_object_get_data (G_OBJECT (label), "unit");
  gdouble value = gtk_adjustment_get_value (adjustment);
  gchar *text;

  if (g_str_equal (unit, "dB"))
    text = g_strdup_printf ("%s%.1f dB", value < 0.0 ? "−" : "+", fabs (value));
  else if (g_str_equal (unit, ""))
    text = g_strdup_printf ("%.2f", pow (10.0, value));
  else if (value < 3.0)
    text = g_strdup_printf ("%.0f Hz", pow (10.0, value));
  else
    text = g_strdup_printf ("%.2f kHz", pow (10.0, value - 3.0));
  gtk_label_set_text (label, text);
  g_free (text);
}

static void
add_slider (GtkGrid *grid, gint row, const gchar *what, const gchar *unit,
    GtkAdjustment *adjustment)
{
  GtkWidget *label = gtk_label_new (what), *value = gtk_label_new (NULL);
  GtkWidget *scale = gtk_scale_new (GTK_ORIENTATION_HORIZONTAL, adjustment);

  gtk_widget_add_css_class (label, "what");
  gtk_widget_add_css_class (value, "value");
  gtk_label_set_xalign (GTK_LABEL (label), 0.0);
  gtk_label_set_xalign (GTK_LABEL (value), 1.0);
  gtk_scale_set_has_origin (GTK_SCALE (scale), FALSE);
  gtk_widget_set_hexpand (scale, TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (scale),
      GTK_ACCESSIBLE_PROPERTY_LABEL, what, -1);
  gtk_grid_attach (grid, label, 0, row, 1, 1);
  gtk_grid_attach (grid, value, 1, row, 1, 1);
  gtk_grid_attach (grid, scale, 0, row + 1, 2, 1);
  g_object_set_data (G_OBJECT (value), "unit", (gpointer)unit);
  g_signal_connect (adjustment, "value-changed", G_CALLBACK (show_value),
      value);
  show_value (adjustment, GTK_LABEL (value));
}

static GtkWidget *
new_band (Band *band)
{
  GtkWidget *grid = gtk_grid_new (), *title = gtk_label_new (NULL);
  gchar *markup =
      g_strdup_printf ("<span color='#%02x%02x%02x'>●</span>  <b>%s</b>",
          (guint)(255 * band->color.red), (guint)(255 * band->color.green),
          (guint)(255 * band->color.blue), band->title);

  gtk_label_set_markup (GTK_LABEL (title), markup);
  gtk_label_set_xalign (GTK_LABEL (title), 0.0);
  g_free (markup);
  gtk_widget_add_css_class (grid, "band");
  gtk_widget_add_css_class (grid, band->name);
  gtk_grid_set_row_spacing (GTK_GRID (grid), 2);
  gtk_grid_attach (GTK_GRID (grid), title, 0, 0, 2, 1);
  add_slider (GTK_GRID (grid), 1, "Frequency", "Hz", band->log_hz);
  add_slider (GTK_GRID (grid), 3, "Gain", "dB", band->gain_db);
  add_slider (GTK_GRID (grid), 5, "Q", "", band->log_q);
  return grid;
}

static GtkWidget *
new_header (App *app)
{
  GtkWidget *header = gtk_header_bar_new ();
  GtkWidget *flat = gtk_button_new_with_label ("Flat");

  gtk_widget_set_tooltip_text (flat, "All gains to 0 dB");
  g_signal_connect (flat, "clicked", G_CALLBACK (on_flat), app);
  app->compare = gtk_toggle_button_new_with_label ("Compare");
  gtk_widget_set_tooltip_text (app->compare, "Hear it as it came in");
  g_signal_connect (app->compare, "toggled", G_CALLBACK (on_compare), app);
  gtk_header_bar_pack_start (GTK_HEADER_BAR (header), flat);
  gtk_header_bar_pack_start (GTK_HEADER_BAR (header), app->compare);
  return header;
}

static GtkWidget *
new_error_bar (App *app)
{
  app->error_label = gtk_label_new (NULL);
  gtk_label_set_wrap (GTK_LABEL (app->error_label), TRUE);
  gtk_label_set_xalign (GTK_LABEL (app->error_label), 0.0);
  gtk_widget_add_css_class (app->error_label, "error");
  app->error_bar = gtk_revealer_new ();
  gtk_revealer_set_child (GTK_REVEALER (app->error_bar), app->error_label);
  return app->error_bar;
}

static void
set_style (App *app, GtkWidget *window)
{
  GtkCssProvider *provider = gtk_css_provider_new ();
  GString *css = g_string_new (style);

  for (guint b = 0; b < N_BANDS; b++) {
    gchar *color = gdk_rgba_to_string (&app->bands[b].color);

    g_string_append_printf (css,
        ".%s slider { background: %s; border: 1px solid white; }",
        app->bands[b].name, color);
    g_free (color);
  }
  gtk_css_provider_load_from_data (provider, css->str, -1);
  g_string_free (css, TRUE);
  gtk_style_context_add_provider_for_display (gdk_display_get_default (),
      GTK_STYLE_PROVIDER (provider), GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  g_object_unref (provider);
  g_object_set (gtk_settings_get_default (),
      "gtk-application-prefer-dark-theme", !app->is_light, NULL);
  if (app->is_light)
    gtk_widget_add_css_class (window, "light");
}

GtkWidget *
window_new (App *app)
{
  GtkWidget *window = gtk_application_window_new (app->application);
  GtkWidget *all = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *top = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  GtkWidget *bands = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 10);

  gtk_window_set_title (GTK_WINDOW (window), "Equaliser");
  gtk_window_set_default_size (GTK_WINDOW (window), 1060, 640);
  gtk_window_set_titlebar (GTK_WINDOW (window), new_header (app));
  gtk_widget_set_hexpand (plot_new (&app->plot), TRUE);
  gtk_widget_set_vexpand (app->plot.area, TRUE);
  gtk_box_append (GTK_BOX (top), app->plot.area);
  gtk_box_append (GTK_BOX (top), meter_new (&app->in));
  gtk_box_append (GTK_BOX (top), meter_new (&app->out));
  gtk_box_set_homogeneous (GTK_BOX (bands), TRUE);
  gtk_widget_set_margin_start (bands, 14);
  gtk_widget_set_margin_end (bands, 14);
  gtk_widget_set_margin_bottom (bands, 14);
  for (guint b = 0; b < N_BANDS; b++) {
    bind_band (app, &app->bands[b]);
    gtk_box_append (GTK_BOX (bands), new_band (&app->bands[b]));
  }
  gtk_box_append (GTK_BOX (all), new_error_bar (app));
  gtk_box_append (GTK_BOX (all), top);
  gtk_box_append (GTK_BOX (all), bands);
  gtk_window_set_child (GTK_WINDOW (window), all);
  set_style (app, window);
  return window;
}

void
window_show_error (App *app, const gchar *text)
{
  g_printerr ("tfx-eq: %s\n", text);
  gtk_label_set_text (GTK_LABEL (app->error_label), text);
  gtk_revealer_set_reveal_child (GTK_REVEALER (app->error_bar), TRUE);
}
