/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-eq.h: what the files of tfx-eq share.
 */
#ifndef TFX_EQ_H
#define TFX_EQ_H

#include <gst/gst.h>
#include <gtk/gtk.h>

#define N_BANDS 5
#define MIN_HZ 20.0
#define MAX_HZ 20000.0
#define MAX_GAIN_DB 18.0
#define N_CHANNELS 2

/* A stage of the chain.  Its sliders, and its point in the drawing, move the same
 * three adjustments; frequency and Q as log10. */
typedef struct
{
  const gchar *name, *title, *class_name,
      *frequency; /* as the class calls it */
  gdouble hz, q;  /* to begin with */
  GdkRGBA color;
  GObject *stage;
  GtkAdjustment *log_hz, *gain_db, *log_q;
} Band;

typedef struct
{
  const gchar *title;
  const gboolean *is_light;
  gdouble rms_db[N_CHANNELS], peak_db[N_CHANNELS];
  GtkWidget *area;
} Meter;

typedef struct
{
  GstElement *filter;
  Band *bands;
  gint selected;          /* the band under the pointer, or -1 */
  gdouble grab_x, grab_y; /* where its point was when the button went down */
  gboolean is_light;
  gfloat *spectrum_db; /* from 0 Hz to half the rate */
  guint n_spectrum;
  GtkWidget *area;
} Plot;

typedef struct
{
  /* What is asked. */
  gchar *input, *output;
  gboolean is_light;

  GstElement *pipeline;
  guint watch;
  Band bands[N_BANDS];
  Plot plot;
  Meter in, out;
  GtkApplication *application;
  GtkWidget *compare, *error_bar, *error_label;
  gboolean failed;
} App;

/* Ink on paper, whichever of them is dark. */
void draw_ink (cairo_t *cr, gboolean is_light, gdouble alpha);
/* At a point that is left, middle or right (0, 0.5, 1) of the text. */
void draw_text (cairo_t *cr, GtkWidget *widget, gdouble x, gdouble y,
    gdouble align, const gchar *text);

GtkWidget *plot_new (Plot *plot);
GtkWidget *meter_new (Meter *meter);
GtkWidget *window_new (App *app);
void window_show_error (App *app, const gchar *text);

#endif /* TFX_EQ_H */
