/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxscale.c: the vertical scale of a picture: chosen, or what its curves take.
 */
#include "gsttfxscale.h"

#include <math.h>
#include <string.h>

#include "gsttfxtool.h"

#define MAX_LINES 8
#define MAX_DB 1000.0
/* How much of a steep curve is shown; the lobes of its stop band, which are LOBE_DB
 * below its highest point, with so much below them, and no more than that. */
#define SPAN_DB 60.0
#define LOBE_DB 20.0
#define BELOW_LOBE_DB 20.0
#define MAX_SPAN_DB 140.0
/* Of the range, at both ends. */
#define MARGIN 0.05

gboolean
gst_tfx_scale_read (const gchar *text, GstTfxScale *scale)
{
  gchar **words, *plain, *low_end = NULL, *high_end = NULL;
  gboolean is_good;

  if (!text)
    return TRUE;
  /* A minus may be a typographic one. */
  words = g_strsplit (text, "\xe2\x88\x92", -1);
  plain = g_strjoinv ("-", words);
  g_strfreev (words);
  scale->low = g_ascii_strtod (plain, &low_end);
  is_good = low_end != plain && *low_end == ':';
  if (is_good)
    scale->high = g_ascii_strtod (low_end + 1, &high_end);
  is_good = is_good && high_end != low_end + 1 && *high_end == '\0' &&
            scale->low >= -MAX_DB && scale->high <= MAX_DB &&
            scale->high - scale->low >= 0.1;
  g_free (plain);
  if (!is_good)
    gst_tfx_tool_error ("range is '%s', but must be the lowest and the highest "
                        "level in dB, from -1000 to 1000, such as -30:12",
        text);
  return is_good;
}

gdouble
gst_tfx_scale_choose_step (gdouble range)
{
  const gdouble least = range / MAX_LINES;
  const gdouble decade = pow (10.0, floor (log10 (least)));

  return decade * (least <= decade * (1.0 + 1e-9)            ? 1.0
                      : least <= 2.0 * decade * (1.0 + 1e-9) ? 2.0
                      : least <= 5.0 * decade * (1.0 + 1e-9) ? 5.0
                                                             : 10.0);
}

/* The highest peak that is far below the highest value; -INFINITY if there is none. */
static gdouble
find_lobe (const gdouble *values, gsize n, gdouble highest)
{
  gdouble lobe = -INFINITY;

  for (gsize i = 1; i + 1 < n; i++) {
    if (values[i] > values[i - 1] && values[i] >= values[i + 1] &&
        values[i] < highest - LOBE_DB)
      lobe = fmax (lobe, values[i]);
  }
  return lobe;
}

void
gst_tfx_scale_add_gains (GstTfxScale *scale, const gdouble *values, gsize n)
{
  gdouble highest = -INFINITY, lowest = INFINITY, shown, lobe;

  for (gsize i = 0; i < n; i++) {
    highest = fmax (highest, values[i]);
    lowest = fmin (lowest, values[i]);
  }
  shown = highest - SPAN_DB;
  lobe = find_lobe (values, n, highest) - BELOW_LOBE_DB;
  if (lobe >= highest - MAX_SPAN_DB)
    shown = fmin (shown, lobe);
  lowest = fmax (lowest, shown);
  if (scale->low == 0.0 && scale->high == 0.0)
    *scale = (GstTfxScale){ lowest, highest };
  scale->low = fmin (scale->low, lowest);
  scale->high = fmax (scale->high, highest);
}

void
gst_tfx_scale_finish (GstTfxScale *scale, gdouble least)
{
  gdouble range = scale->high - scale->low, step;

  if (range < least) {
    scale->low -= (least - range) / 2.0;
    scale->high += (least - range) / 2.0;
    range = least;
  }
  step = gst_tfx_scale_choose_step (range);
  scale->low = floor ((scale->low - MARGIN * range) / step) * step;
  scale->high = ceil ((scale->high + MARGIN * range) / step) * step;
}
