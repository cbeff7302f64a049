/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxpicture.c: curves over a logarithmic axis, as SVG; GStreamer's elements make
 * PNG of it.
 */
#include "gsttfxpicture.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>
#include <gst/gst.h>

#include "gsttfxlabel.h"
#include "gsttfxpart.h"
#include "gsttfxscale.h"
#include "gsttfxtool.h"

/* In pixels; the curves are within margins, the legend is right of them. */
#define WIDTH 800.0
#define HEIGHT 400.0
/* Of each part below the first, and between two. */
#define HEIGHT_BELOW 200.0
#define BETWEEN 30.0
#define LEFT 66.0
#define RIGHT 20.0
#define TOP 40.0
#define BOTTOM 50.0
#define LEGEND 160.0
#define LEGEND_LINE 20.0
/* Between labels. */
#define GAP 6.0
/* Fewer lines down than this have others. */
#define MIN_TICKS 3

/* Okabe and Ito's colours, which can be told apart with any colour vision. */
static const gchar *const colours[] = { "#0072B2", "#D55E00", "#009E73",
  "#CC79A7", "#202020", "#E69F00", "#56B4E9", "#999999" };

/* Solid for the first eight curves. */
static const gchar *const dashes[] = { "", " stroke-dasharray='8 4'",
  " stroke-dasharray='2 4'" };

typedef struct Drawing
{
  const GstTfxPicture *picture; /* the part that is drawn */
  GString *svg;
  gdouble right;       /* edge of the curves */
  gdouble top, bottom; /* edges of the part */
  guint part;          /* from 0 */
  gdouble x_free;      /* behind the last label of the lines down */
} Drawing;

static gdouble
x_of (const Drawing *drawing, gdouble x)
{
  const GstTfxPicture *picture = drawing->picture;

  return LEFT + (drawing->right - LEFT) * log (x / picture->low_x) /
                    log (picture->high_x / picture->low_x);
}

static gdouble
y_of (const Drawing *drawing, gdouble y)
{
  const GstTfxPicture *picture = drawing->picture;

  return drawing->top + (drawing->bottom - drawing->top) *
                            (picture->high_y - y) /
                            (picture->high_y - picture->low_y);
}

/* Text with its middle, its begin or its end at a point. */
static void
draw_text (Drawing *drawing, gdouble x, gdouble y, const gchar *anchor,
    const gchar *text, gdouble max_width)
{
  gchar *fitting = gst_tfx_label_fit (text, max_width);
  gchar *escaped = g_markup_escape_text (fitting, -1);

  g_string_append_printf (drawing->svg,
      "<text x='%.1f' y='%.1f' text-anchor='%s'>%s</text>\n", x, y, anchor,
      escaped);
  g_free (escaped);
  g_free (fitting);
}

static void
draw_line (Drawing *drawing, const gchar *class, gdouble x1, gdouble y1,
    gdouble x2, gdouble y2)
{
  g_string_append_printf (drawing->svg,
      "<path class='%s' d='M%.1f %.1fL%.1f %.1f'/>\n", class, x1, y1, x2, y2);
}

/* From the left to the right: a label that would be on another one is left out. */
static void
draw_tick (Drawing *drawing, gdouble at)
{
  const gdouble x = x_of (drawing, at);
  const gboolean is_short = !drawing->picture->ticks && at >= 1000.0;
  gchar *text = g_strdup_printf ("%g%s", is_short ? at / 1000.0 : at,
      is_short ? "k" : "");
  const gdouble half = gst_tfx_label_measure (text) / 2.0;

  draw_line (drawing, "grid", x, drawing->top, x, drawing->bottom);
  if (!drawing->picture->below && x - half >= drawing->x_free) {
    draw_text (drawing, x, drawing->bottom + 18.0, "middle", text, WIDTH);
    drawing->x_free = x + half + GAP;
  }
  g_free (text);
}

/* 1, 2 and 5 of each decade, or the decades alone; where they are few, as on an even axis. */
static GArray *
choose_ticks (const GstTfxPicture *picture)
{
  static const gint steps[] = { 1, 2, 5 };
  const gdouble range = picture->high_x - picture->low_x;
  const gdouble step = gst_tfx_scale_choose_step (range);
  const gint first = (gint)floor (log10 (picture->low_x));
  const gint last = (gint)ceil (log10 (picture->high_x));
  GArray *ticks = g_array_new (FALSE, FALSE, sizeof (gdouble));

  for (gint decade = first; decade <= last; decade++) {
    for (gsize i = 0; i < (last - first <= 6 ? G_N_ELEMENTS (steps) : 1); i++) {
      const gdouble x = steps[i] * pow (10.0, decade);

      if (x >= picture->low_x && x <= picture->high_x)
        g_array_append_val (ticks, x);
    }
  }
  if (ticks->len >= MIN_TICKS)
    return ticks;
  g_array_set_size (ticks, 0);
  for (gdouble k = ceil (picture->low_x / step); k * step <= picture->high_x;
       k++) {
    const gdouble x = k * step;

    g_array_append_val (ticks, x);
  }
  return ticks;
}

static void
draw_ticks (Drawing *drawing)
{
  const GstTfxPicture *picture = drawing->picture;
  GArray *ticks;

  if (picture->ticks) {
    ticks = g_array_new (FALSE, FALSE, sizeof (gdouble));
    g_array_append_vals (ticks, picture->ticks, (guint)picture->n_ticks);
    g_array_sort (ticks, (GCompareFunc)gst_tfx_tool_compare_doubles);
  } else {
    ticks = choose_ticks (picture);
  }
  for (guint i = 0; i < ticks->len; i++)
    draw_tick (drawing, g_array_index (ticks, gdouble, i));
  g_array_unref (ticks);
}

static void
draw_levels (Drawing *drawing)
{
  const GstTfxPicture *picture = drawing->picture;
  const gdouble range = picture->high_y - picture->low_y;
  const gdouble step = picture->step_y > 0.0
                           ? picture->step_y
                           : gst_tfx_scale_choose_step (range);

  for (gdouble k = ceil (picture->low_y / step - 1e-9);
       k * step <= picture->high_y + 1e-9 * range; k++) {
    const gdouble level = k == 0.0 ? 0.0 : k * step; /* no -0 */
    const gdouble y = y_of (drawing, level);
    gchar *text = g_strdup_printf ("%.6g", level);

    draw_line (drawing, level == 0.0 ? "zero" : "grid", LEFT, y, drawing->right,
        y);
    draw_text (drawing, LEFT - GAP, y + 4.0, "end", text, LEFT);
    g_free (text);
  }
}

static const gchar *
get_colour (gsize index)
{
  return colours[index % G_N_ELEMENTS (colours)];
}

static const gchar *
get_dashes (gsize index)
{
  return dashes[index / G_N_ELEMENTS (colours) % G_N_ELEMENTS (dashes)];
}

/* NaN leaves a gap. */
static void
draw_curve (Drawing *drawing, gsize index)
{
  const GstTfxPictureCurve *curve = &drawing->picture->curves[index];
  gchar command = 'M';

  g_string_append_printf (drawing->svg,
      "<path class='curve' stroke='%s'%s clip-path='url(#inside%u)' d='",
      get_colour (index), get_dashes (index), drawing->part);
  for (gsize i = 0; i < curve->n; i++) {
    if (!isfinite (curve->y[i])) {
      command = 'M';
      continue;
    }
    g_string_append_printf (drawing->svg, "%c%.2f %.2f", command,
        x_of (drawing, curve->x[i]), y_of (drawing, curve->y[i]));
    command = 'L';
  }
  /* A single point is a dot. */
  g_string_append_printf (drawing->svg, "%s'/>\n", curve->n == 1 ? "h0" : "");
}

/* As many curves as there is room for, and how many more there are. */
static void
draw_legend (Drawing *drawing)
{
  const GstTfxPicture *picture = drawing->picture;
  const gsize room = (gsize)((HEIGHT - TOP - BOTTOM) / LEGEND_LINE);
  const gsize n = picture->n_curves > room ? room - 1 : picture->n_curves;
  const gdouble x = drawing->right + 30.0;

  for (gsize i = 0; picture->n_curves > 1 && i < n; i++) {
    const gdouble y = TOP + LEGEND_LINE * ((gdouble)i + 0.5);

    g_string_append_printf (drawing->svg,
        "<path stroke='%s'%s stroke-width='2' d='M%.1f %.1fh16'/>\n",
        get_colour (i), get_dashes (i), drawing->right + 10.0, y);
    draw_text (drawing, x, y + 4.0, "start", picture->curves[i].name,
        WIDTH - GAP - x);
  }
  if (n < picture->n_curves) {
    gchar *text =
        g_strdup_printf ("and %" G_GSIZE_FORMAT " more", picture->n_curves - n);

    draw_text (drawing, x, TOP + LEGEND_LINE * ((gdouble)n + 0.5) + 4.0,
        "start", text, WIDTH - GAP - x);
    g_free (text);
  }
}

static void
draw_part (Drawing *drawing)
{
  const gdouble y = (drawing->top + drawing->bottom) / 2.0;

  g_string_append_printf (drawing->svg,
      "<clipPath id='inside%u'><rect x='%g' y='%g' width='%g' height='%g'/>"
      "</clipPath>\n<g transform='rotate(-90 16 %g)'>\n",
      drawing->part, LEFT - 2.0, drawing->top, drawing->right - LEFT + 4.0,
      drawing->bottom - drawing->top, y);
  draw_text (drawing, 16.0, y, "middle", drawing->picture->y_label,
      drawing->bottom - drawing->top);
  g_string_append (drawing->svg, "</g>\n");
  draw_ticks (drawing);
  draw_levels (drawing);
  for (gsize i = 0; i < drawing->picture->n_curves; i++)
    draw_curve (drawing, i);
}

static gchar *
print_svg (const GstTfxPicture *picture)
{
  Drawing drawing = { picture, g_string_new (NULL),
    WIDTH - (picture->n_curves > 1 ? LEGEND : RIGHT), TOP, HEIGHT - BOTTOM };
  gdouble height = HEIGHT;

  for (const GstTfxPicture *p = picture->below; p; p = p->below)
    height += HEIGHT_BELOW;
  g_string_append_printf (drawing.svg,
      "<svg xmlns='http://www.w3.org/2000/svg' width='%g' height='%g' "
      "viewBox='0 0 %g %g'>\n"
      "<style>text{font:13px sans-serif;fill:#333}"
      ".grid{stroke:#ddd;fill:none}.zero{stroke:#aaa;fill:none}"
      ".curve{stroke-width:2;stroke-linecap:round;stroke-linejoin:round;"
      "fill:none}</style>\n<rect width='%g' height='%g' fill='#fff'/>\n",
      WIDTH, height, WIDTH, height, WIDTH, height);
  draw_text (&drawing, WIDTH / 2.0, 24.0, "middle", picture->title,
      WIDTH - 2.0 * GAP);
  draw_legend (&drawing);
  for (; drawing.picture; drawing.picture = drawing.picture->below) {
    draw_part (&drawing);
    drawing.top = drawing.bottom + BETWEEN;
    drawing.bottom += HEIGHT_BELOW;
    drawing.part++;
  }
  drawing.picture = picture;
  draw_text (&drawing, (LEFT + drawing.right) / 2.0, height - 10.0, "middle",
      picture->x_label, WIDTH);
  g_string_append (drawing.svg, "</svg>\n");
  return g_string_free (drawing.svg, FALSE);
}

/* ---- PNG ------------------------------------------------------------------------------- */

/* Whether all these elements exist; FALSE with an error that names the package. */
static gboolean
check_elements (GError **error)
{
  static const struct
  {
    const gchar *element, *package;
  } needed[] = {
    { "rsvgdec", "gstreamer1.0-plugins-bad" },
    { "videoconvert", "gstreamer1.0-plugins-base" },
    { "pngenc", "gstreamer1.0-plugins-good" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (needed); i++) {
    GstElementFactory *factory = gst_element_factory_find (needed[i].element);

    if (!factory) {
      g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
          "to write .png there must be GStreamer's element %s (Debian: %s); "
          ".svg needs none",
          needed[i].element, needed[i].package);
      return FALSE;
    }
    gst_object_unref (factory);
  }
  return TRUE;
}

static gboolean
run_to_end (GstElement *pipeline, GError **error)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  gboolean is_done;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  is_done = GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  if (!is_done)
    gst_message_parse_error (message, error, NULL);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  return is_done;
}

/* One file into the other. */
static gboolean
convert (const gchar *svg, const gchar *png, GError **error)
{
  GstElement *pipeline = gst_parse_launch ("filesrc name=svg ! typefind ! "
                                           "rsvgdec ! videoconvert ! pngenc "
                                           "snapshot=true ! filesink name=png",
      error);
  GstElement *source, *sink;
  gboolean is_done;

  if (!pipeline)
    return FALSE;
  source = gst_bin_get_by_name (GST_BIN (pipeline), "svg");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "png");
  g_object_set (source, "location", svg, NULL);
  g_object_set (sink, "location", png, NULL);
  is_done = run_to_end (pipeline, error);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  return is_done;
}

static gboolean
write_png (const gchar *svg, const gchar *path, GError **error)
{
  GstTfxPart part = { NULL };
  gchar *name;
  gint file;
  gboolean is_done;

  if (!check_elements (error))
    return FALSE;
  file = g_file_open_tmp ("gst-tfx-XXXXXX.svg", &name, error);
  if (file < 0)
    return FALSE;
  close (file);
  is_done = g_file_set_contents (name, svg, -1, error) &&
            gst_tfx_part_open (&part, path, error);
  if (is_done) {
    is_done = convert (name, part.path, error) &&
              gst_tfx_part_publish (&part, TRUE, error);
    gst_tfx_part_close (&part);
  }
  g_unlink (name);
  g_free (name);
  return is_done;
}

/* (GLib's message names the temporary file.) */
static gboolean
write_text (const gchar *text, const gchar *path, GError **error)
{
  const gboolean is_done = g_file_set_contents (path, text, -1, error);

  if (!is_done)
    g_prefix_error (error, "%s cannot be written: ", path);
  return is_done;
}

gboolean
gst_tfx_picture_is_named (const gchar *path)
{
  return g_str_has_suffix (path, ".svg") || g_str_has_suffix (path, ".png");
}

gboolean
gst_tfx_picture_check_name (const gchar *path)
{
  if (!path || gst_tfx_picture_is_named (path) ||
      g_str_has_suffix (path, ".csv"))
    return TRUE;
  gst_tfx_tool_error ("output is %s, but its name must end in .svg, .png or "
                      ".csv",
      path);
  return FALSE;
}

static gboolean
write_picture (const GstTfxPicture *picture, const gchar *path, GError **error)
{
  gchar *svg = print_svg (picture);
  const gboolean is_done = g_str_has_suffix (path, ".png")
                               ? write_png (svg, path, error)
                               : write_text (svg, path, error);

  g_free (svg);
  return is_done;
}

gboolean
gst_tfx_picture_write_or_csv (const GstTfxPicture *picture, const gchar *csv,
    const gchar *path)
{
  GError *error = NULL;

  if (!path)
    g_print ("%s", csv);
  else if (gst_tfx_picture_is_named (path))
    write_picture (picture, path, &error);
  else
    write_text (csv, path, &error);
  if (!error)
    return TRUE;
  gst_tfx_tool_error ("%s", error->message);
  g_error_free (error);
  return FALSE;
}
