/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-eq-plot.c: the response of the chain, drawn, with a point for each band that
 * can be dragged.
 *
 * The response is what the chain says of itself: the action signal "response" of
 * tfxchain and of its stages, asked anew for each picture.
 */
#include <math.h>

#include "tfx-eq.h"

#define N_POINTS 480
#define REACH 24.0 /* how near to a point it is meant, in pixels */
/* Of the spectrum behind the curves. */
#define FLOOR_DB (-90.0)
#define CEILING_DB (-6.0)

/* The rectangle that has the curves; labels lie around it. */
typedef struct
{
  gdouble x, y, width, height;
} Frame;

static Frame
frame_of (gint width, gint height)
{
  return (Frame){ 52.0, 16.0, width - 52.0 - 18.0, height - 16.0 - 44.0 };
}

static gdouble
x_of (const Frame *frame, gdouble hz)
{
  return frame->x + frame->width * log (hz / MIN_HZ) / log (MAX_HZ / MIN_HZ);
}

static gdouble
y_of (const Frame *frame, gdouble db)
{
  return frame->y + frame->height * (0.5 - db / (2.0 * MAX_GAIN_DB));
}

/* ---- colours --------------------------------------------------------------------- */

static void
set_color (cairo_t *cr, const GdkRGBA *color, gdouble alpha)
{
  cairo_set_source_rgba (cr, color->red, color->green, color->blue, alpha);
}

static void
fill_paper (cairo_t *cr, gboolean is_light, gdouble x, gdouble y, gdouble width,
    gdouble height)
{
  gdouble paper = is_light ? 1.0 : 0.085;

  cairo_rectangle (cr, x, y, width, height);
  cairo_set_source_rgb (cr, paper, paper, is_light ? 1.0 : paper + 0.012);
  cairo_fill (cr);
}

/* ---- the grid ------------------------------------------------------------------ */

/* Sharp, one pixel wide. */
static void
line (cairo_t *cr, gdouble x0, gdouble y0, gdouble x1, gdouble y1)
{
  cairo_move_to (cr, floor (x0) + 0.5, floor (y0) + 0.5);
  cairo_line_to (cr, floor (x1) + 0.5, floor (y1) + 0.5);
  cairo_stroke (cr);
}

static void
draw_frequencies (const Plot *plot, cairo_t *cr, const Frame *frame)
{
  static const gdouble named[] = { 20, 50, 100, 200, 500, 1000, 2000, 5000,
    10000, 20000 };
  gdouble bottom = frame->y + frame->height;

  for (gdouble decade = 10.0; decade < MAX_HZ; decade *= 10.0) {
    for (gint i = 1; i < 10; i++) {
      gdouble hz = i * decade;

      if (hz < MIN_HZ || hz > MAX_HZ)
        continue;
      draw_ink (cr, plot->is_light, i == 1 ? 0.16 : 0.06);
      line (cr, x_of (frame, hz), frame->y, x_of (frame, hz), bottom);
    }
  }
  for (gsize i = 0; i < G_N_ELEMENTS (named); i++) {
    gchar *text = named[i] < 1000.0 ? g_strdup_printf ("%g", named[i])
                                    : g_strdup_printf ("%gk", named[i] / 1e3);

    draw_ink (cr, plot->is_light, 0.65);
    draw_text (cr, plot->area, x_of (frame, named[i]), bottom + 12.0, 0.5,
        text);
    g_free (text);
  }
  draw_text (cr, plot->area, frame->x + frame->width / 2.0, bottom + 32.0, 0.5,
      "Frequency in Hz");
}

static void
draw_gains (const Plot *plot, cairo_t *cr, const Frame *frame)
{
  for (gdouble db = -MAX_GAIN_DB; db <= MAX_GAIN_DB; db += 6.0) {
    gchar *text = g_strdup_printf (db > 0.0   ? "+%g"
                                   : db < 0.0 ? "−%g"
                                              : "0",
        fabs (db));
    gdouble y = y_of (frame, db);

    draw_ink (cr, plot->is_light, db == 0.0 ? 0.3 : 0.08);
    line (cr, frame->x, y, frame->x + frame->width, y);
    draw_ink (cr, plot->is_light, 0.65);
    draw_text (cr, plot->area, frame->x - 8.0, y, 1.0, text);
    g_free (text);
  }
  cairo_save (cr);
  cairo_translate (cr, 12.0, frame->y + frame->height / 2.0);
  cairo_rotate (cr, -G_PI / 2.0);
  draw_text (cr, plot->area, 0.0, 0.0, 0.5, "Gain in dB");
  cairo_restore (cr);
}

/* ---- the curves ------------------------------------------------------------------ */

/* The gains of an element or a stage, in dB; how many of them are below half the
 * rate, 0 before the rate is known. */
static guint
get_gains (gpointer object, const gdouble *hz, gdouble *gain_db, gdouble *rate)
{
  GVariant *response = NULL, *real, *imaginary;
  const gdouble *re, *im;
  guint n = 0;
  gsize size;

  g_signal_emit_by_name (object, "response",
      g_variant_new_fixed_array (G_VARIANT_TYPE_DOUBLE, hz, N_POINTS,
          sizeof *hz),
      0, &response);
  if (!response)
    return 0;
  g_variant_lookup (response, "rate", "d", rate);
  real = g_variant_lookup_value (response, "real", NULL);
  imaginary = g_variant_lookup_value (response, "imaginary", NULL);
  re = g_variant_get_fixed_array (real, &size, sizeof *re);
  im = g_variant_get_fixed_array (imaginary, &size, sizeof *im);
  for (; n < size && hz[n] < *rate / 2.0; n++)
    gain_db[n] = 20.0 * log10 (hypot (re[n], im[n]) + 1e-9);
  g_variant_unref (real);
  g_variant_unref (imaginary);
  g_variant_unref (response);
  return n;
}

static void
trace_curve (cairo_t *cr, const Frame *frame, const gdouble *hz,
    const gdouble *gain_db, guint n)
{
  for (guint i = 0; i < n; i++)
    cairo_line_to (cr, x_of (frame, hz[i]), y_of (frame, gain_db[i]));
}

/* What it is between two lines. */
static void
fill_curve (cairo_t *cr, const Frame *frame, const gdouble *hz,
    const gdouble *gain_db, guint n, gdouble base_db)
{
  cairo_move_to (cr, frame->x, y_of (frame, base_db));
  trace_curve (cr, frame, hz, gain_db, n);
  cairo_line_to (cr, x_of (frame, hz[n - 1]), y_of (frame, base_db));
  cairo_fill (cr);
}

/* Between two lines of the spectrum, or the loudest one where many are near. */
static gdouble
spectrum_at (const Plot *plot, gdouble line)
{
  guint from = line / 1.01, to = line * 1.01, n = plot->n_spectrum;
  gdouble db;

  if (to >= n)
    return plot->spectrum_db[n - 1];
  if (to < from + 2) {
    guint k = MIN (line, n - 2);

    return plot->spectrum_db[k] +
           (line - k) * (plot->spectrum_db[k + 1] - plot->spectrum_db[k]);
  }
  db = plot->spectrum_db[from];
  for (guint k = from + 1; k <= to; k++)
    db = MAX (db, plot->spectrum_db[k]);
  return db;
}

/* From FLOOR_DB at the bottom to CEILING_DB at the top. */
static void
draw_spectrum (const Plot *plot, cairo_t *cr, const Frame *frame,
    const gdouble *hz, guint n, gdouble rate)
{
  gdouble height[N_POINTS];

  if (plot->n_spectrum < 2)
    return;
  for (guint i = 0; i < n; i++)
    height[i] = MAX_GAIN_DB *
                (2.0 *
                        (spectrum_at (plot,
                             hz[i] / (rate / 2.0) * (plot->n_spectrum - 1)) -
                            FLOOR_DB) /
                        (CEILING_DB - FLOOR_DB) -
                    1.0);
  draw_ink (cr, plot->is_light, 0.10);
  fill_curve (cr, frame, hz, height, n, -MAX_GAIN_DB);
}

static void
draw_curves (const Plot *plot, cairo_t *cr, const Frame *frame)
{
  gdouble hz[N_POINTS], gain_db[N_POINTS], rate;
  guint n;

  for (guint i = 0; i < N_POINTS; i++)
    hz[i] = MIN_HZ * pow (MAX_HZ / MIN_HZ, i / (N_POINTS - 1.0));
  n = get_gains (plot->filter, hz, gain_db, &rate);
  if (n == 0)
    return;
  draw_spectrum (plot, cr, frame, hz, n, rate);
  for (guint b = 0; b < N_BANDS; b++) {
    const Band *band = &plot->bands[b];
    gdouble own_db[N_POINTS];

    if (get_gains (band->stage, hz, own_db, &rate) != n)
      continue;
    set_color (cr, &band->color, (gint)b == plot->selected ? 0.45 : 0.22);
    fill_curve (cr, frame, hz, own_db, n, 0.0);
  }
  trace_curve (cr, frame, hz, gain_db, n);
  draw_ink (cr, plot->is_light, 0.14);
  cairo_set_line_width (cr, 7.0);
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_ROUND);
  cairo_stroke_preserve (cr);
  draw_ink (cr, plot->is_light, 1.0);
  cairo_set_line_width (cr, 2.2);
  cairo_stroke (cr);
}

/* ---- the points -------------------------------------------------------------------- */

static void
point_of (const Frame *frame, const Band *band, gdouble *x, gdouble *y)
{
  *x = x_of (frame, pow (10.0, gtk_adjustment_get_value (band->log_hz)));
  *y = y_of (frame, gtk_adjustment_get_value (band->gain_db));
}

static void
draw_points (const Plot *plot, cairo_t *cr, const Frame *frame)
{
  for (gint b = 0; b < N_BANDS; b++) {
    gdouble radius = b == plot->selected ? 10.0 : 7.5, x, y;

    point_of (frame, &plot->bands[b], &x, &y);
    cairo_arc (cr, x, y, radius, 0.0, 2.0 * G_PI);
    set_color (cr, &plot->bands[b].color, 1.0);
    cairo_fill_preserve (cr);
    cairo_set_source_rgb (cr, 1.0, 1.0, 1.0);
    cairo_set_line_width (cr, 2.0);
    cairo_stroke (cr);
  }
}

static void
draw_plot (GtkDrawingArea *area, cairo_t *cr, int width, int height,
    gpointer data)
{
  const Plot *plot = data;
  Frame frame = frame_of (width, height);

  fill_paper (cr, plot->is_light, frame.x, frame.y, frame.width, frame.height);
  cairo_set_line_width (cr, 1.0);
  draw_frequencies (plot, cr, &frame);
  draw_gains (plot, cr, &frame);
  cairo_save (cr);
  cairo_rectangle (cr, frame.x, frame.y, frame.width, frame.height);
  cairo_clip (cr);
  draw_curves (plot, cr, &frame);
  cairo_restore (cr);
  draw_points (plot, cr, &frame);
}

/* ---- the pointer ------------------------------------------------------------------- */

static Frame
get_frame (const Plot *plot)
{
  return frame_of (gtk_widget_get_width (plot->area),
      gtk_widget_get_height (plot->area));
}

static void
select_nearest (Plot *plot, gdouble x, gdouble y)
{
  Frame frame = get_frame (plot);
  gdouble nearest = REACH;

  plot->selected = -1;
  for (gint b = 0; b < N_BANDS; b++) {
    gdouble at_x, at_y;

    point_of (&frame, &plot->bands[b], &at_x, &at_y);
    if (hypot (x - at_x, y - at_y) < nearest) {
      nearest = hypot (x - at_x, y - at_y);
      plot->selected = b;
    }
  }
  gtk_widget_queue_draw (plot->area);
}

static void
on_motion (GtkEventControllerMotion *motion, gdouble x, gdouble y,
    gpointer data)
{
  /* While a button is down the point stays the same. */
  if (!(gtk_event_controller_get_current_event_state (
            GTK_EVENT_CONTROLLER (motion)) &
          GDK_BUTTON1_MASK))
    select_nearest (data, x, y);
}

/* A point keeps its distance from the pointer that has it. */
static void
on_drag_begin (GtkGestureDrag *drag, gdouble x, gdouble y, gpointer data)
{
  Plot *plot = data;
  Frame frame = get_frame (plot);

  select_nearest (plot, x, y);
  if (plot->selected >= 0)
    point_of (&frame, &plot->bands[plot->selected], &plot->grab_x,
        &plot->grab_y);
}

static void
on_drag (GtkGestureDrag *drag, gdouble dx, gdouble dy, gpointer data)
{
  Plot *plot = data;
  Frame frame = get_frame (plot);
  gdouble x = plot->grab_x + dx, y = plot->grab_y + dy;

  if (plot->selected < 0)
    return;
  gtk_adjustment_set_value (plot->bands[plot->selected].log_hz,
      log10 (MIN_HZ) + (x - frame.x) / frame.width * log10 (MAX_HZ / MIN_HZ));
  gtk_adjustment_set_value (plot->bands[plot->selected].gain_db,
      MAX_GAIN_DB * (1.0 - 2.0 * (y - frame.y) / frame.height));
}

static gboolean
on_scroll (GtkEventControllerScroll *scroll, gdouble dx, gdouble dy,
    gpointer data)
{
  Plot *plot = data;
  GtkAdjustment *log_q;

  if (plot->selected < 0)
    return FALSE;
  log_q = plot->bands[plot->selected].log_q;
  gtk_adjustment_set_value (log_q,
      gtk_adjustment_get_value (log_q) - 0.05 * dy);
  return TRUE;
}

GtkWidget *
plot_new (Plot *plot)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_VERTICAL);
  GtkGesture *drag = gtk_gesture_drag_new ();

  plot->area = gtk_drawing_area_new ();
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (plot->area), draw_plot,
      plot, NULL);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), plot);
  g_signal_connect (scroll, "scroll", G_CALLBACK (on_scroll), plot);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), plot);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag), plot);
  gtk_widget_add_controller (plot->area, motion);
  gtk_widget_add_controller (plot->area, scroll);
  gtk_widget_add_controller (plot->area, GTK_EVENT_CONTROLLER (drag));
  return plot->area;
}
