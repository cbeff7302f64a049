/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxcurves.c: the frequency responses of a chain, sampled where they bend.
 *
 * Starts from a logarithmic grid with the marks, poles and zeros.  Passes over all
 * neighbours then add the geometric mean of two where a straight line misses the
 * curve.  Golden-section search adds the minima.
 */
#include "gsttfxcurves.h"

#include <math.h>
#include <string.h>

#include "gsttfxtool.h"

/* Error of a straight line in dB: this, plus a part of the depth below the highest
 * gain.  Gains are clipped at CLIP_DB below the highest one. */
#define TOLERANCE_DB 0.02
#define TOLERANCE_OF_DEPTH 0.004
#define CLIP_DB 120.0
/* Error of a group delay, as a part of the longest one, or of LEAST_DELAY frames. */
#define TOLERANCE_OF_DELAY 0.02
#define LEAST_DELAY 1.0
/* Least distance of points on a logarithmic scale, as a part of the range; and next to
 * a mark, a pole or a zero. */
#define CLOSEST 1.7e-4
#define CLOSEST_TO_MARK 1e-5
/* Limits of the work: points, and multiplications in FIRs. */
#define MAX_POINTS 12800
#define MIN_POINTS 1000
#define MAX_PRODUCTS 4e8
#define MAX_RESONANCES 4096
#define MAX_CURVES 64
/* Points in a period of a ripple, unless CLOSEST forbids them. */
#define POINTS_OF_PERIOD 8.0
/* Point of division of a rippled interval.  Even points alias with the ripple. */
#define UNEVEN 0.382
/* Memory in frames that makes a ripple. */
#define LONG_MEMORY 256
/* Minima to search: how many, how deep, and in how many steps. */
#define MAX_MINIMA 400
#define MINIMUM_DB 0.5
#define MINIMUM_STEPS 70
/* A gain that is this much below the gain beside it is 0 except for rounding. */
#define ZERO_DB 100.0
#define BESIDE 1e-4
/* Relative distance of frequencies that count as one. */
#define SAME 1e-7
/* Frequencies at which pairs of channels are compared. */
#define N_PROBES 48

typedef struct Sample
{
  gdouble gain_db, phase_deg, delay; /* in frames */
} Sample;

typedef struct Sampler
{
  const GstTfxCurvesSpec *spec;
  GArray *curves; /* of GstTfxCurve */
  gdouble highest_db, longest_delay;
  gdouble ripple_hz; /* INFINITY: none */
  guint max_points;
  gdouble max_steps; /* evaluations of one curve */
} Sampler;

typedef struct Point
{
  gdouble freq_hz;
  gboolean is_mark,
      is_done;     /* is_done: the line to the next point is straight */
  Sample *samples; /* [number of curves] */
} Point;

/* ---- one point -------------------------------------------------------------------- */

static void
spread_from (const GstTfxCurvesSpec *spec, guint from, gdouble freq_hz,
    TfxComplex *h)
{
  memset (h, 0, TFX_MIX_MAX_CHANNELS * sizeof *h);
  h[from].re = 1.0;
  tfx_chain_spread (spec->chain, h, freq_hz, spec->rate_hz);
}

static gdouble
gain_of (TfxComplex h)
{
  return fmax (20.0 * log10 (hypot (h.re, h.im)), GST_TFX_CURVES_FLOOR_DB);
}

static gdouble
phase_of (TfxComplex h)
{
  return atan2 (h.im, h.re) * 180.0 / G_PI;
}

static gdouble
gain_at (const Sampler *sampler, const GstTfxCurve *curve, gdouble freq_hz)
{
  TfxComplex h[TFX_MIX_MAX_CHANNELS];

  spread_from (sampler->spec, curve->from, freq_hz, h);
  return gain_of (h[curve->to]);
}

/* (Curves are in the order of their inputs.) */
static Point
make_point (const Sampler *sampler, gdouble freq_hz, gboolean is_mark)
{
  const GstTfxCurvesSpec *spec = sampler->spec;
  Point point = { freq_hz, is_mark, FALSE,
    g_new (Sample, sampler->curves->len) };
  TfxComplex h[TFX_MIX_MAX_CHANNELS];
  gint from = -1;

  for (guint i = 0; i < sampler->curves->len; i++) {
    const GstTfxCurve *curve = &g_array_index (sampler->curves, GstTfxCurve, i);

    if (from != (gint)curve->from)
      spread_from (spec, curve->from, freq_hz, h);
    from = (gint)curve->from;
    point.samples[i] =
        (Sample){ gain_of (h[curve->to]), phase_of (h[curve->to]),
          tfx_chain_group_delay_between (spec->chain, curve->from, curve->to,
              freq_hz, spec->rate_hz) };
  }
  return point;
}

static void
clear_point (gpointer data)
{
  g_free (((Point *)data)->samples);
}

static void
look_at (Sampler *sampler, const Point *point)
{
  for (guint i = 0; i < sampler->curves->len; i++) {
    sampler->highest_db = fmax (sampler->highest_db, point->samples[i].gain_db);
    sampler->longest_delay =
        fmax (sampler->longest_delay, fabs (point->samples[i].delay));
  }
}

static void
add_point (Sampler *sampler, GArray *points, Point point)
{
  look_at (sampler, &point);
  g_array_append_val (points, point);
}

/* ---- the first points ------------------------------------------------------------- */

typedef struct Place
{
  gdouble freq_hz;
  gint rank; /* of two that are one the lower is kept: mark, resonance, grid */
} Place;

/* Of places and of points, which begin with it. */
static gint
compare_frequencies (gconstpointer a, gconstpointer b)
{
  const gdouble *p = a, *q = b;

  return *p < *q ? -1 : *p > *q;
}

static void
add_place (GArray *places, const GstTfxCurvesSpec *spec, gdouble freq_hz,
    gint rank)
{
  const Place place = { freq_hz, rank };

  if (freq_hz >= spec->from_hz && freq_hz <= spec->to_hz)
    g_array_append_val (places, place);
}

static gdouble
grid_at (const GstTfxCurvesSpec *spec, guint i, guint n)
{
  return spec->from_hz *
         pow (spec->to_hz / spec->from_hz, (gdouble)i / (gdouble)(n - 1));
}

/* All numbers of the chain that are frequencies. */
static void
add_marks (GArray *places, const GstTfxCurvesSpec *spec)
{
  for (gsize i = 0; i < tfx_expr_n_stages (spec->expr); i++) {
    const TfxClass *klass = tfx_expr_stage_class (spec->expr, i);

    for (guint k = 0; k < klass->n_params; k++) {
      gdouble freq_hz;

      if (!(klass->params[k].flags & TFX_PARAM_FREQUENCY))
        continue;
      for (gsize n = 0; tfx_expr_get_number (spec->expr, i,
                            klass->params[k].name, n, &freq_hz) == 0;
           n++)
        add_place (places, spec, freq_hz, 0);
    }
  }
}

/* All of them, in order, each once. */
static GArray *
list_places (const GstTfxCurvesSpec *spec)
{
  GArray *places = g_array_new (FALSE, FALSE, sizeof (Place));
  gdouble *found = g_new (gdouble, MAX_RESONANCES);
  const gsize n_found = MIN (tfx_chain_resonances (spec->chain, spec->rate_hz,
                                 found, MAX_RESONANCES),
      MAX_RESONANCES);
  guint n = 0;

  for (guint i = 0; i < spec->n_points; i++) {
    const Place place = { grid_at (spec, i, spec->n_points), 2 };

    g_array_append_val (places, place);
  }
  if (!spec->is_grid)
    add_marks (places, spec);
  for (gsize i = 0; !spec->is_grid && i < n_found; i++)
    add_place (places, spec, found[i], 1);
  g_free (found);
  if (spec->is_grid)
    return places;
  g_array_sort (places, compare_frequencies);
  for (guint i = 0; i < places->len; i++) {
    const Place *place = &g_array_index (places, Place, i);
    Place *last = n > 0 ? &g_array_index (places, Place, n - 1) : NULL;

    if (!last || place->freq_hz > last->freq_hz * (1.0 + SAME))
      g_array_index (places, Place, n++) = *place;
    else if (place->rank < last->rank)
      *last = *place;
  }
  g_array_set_size (places, n);
  return places;
}

/* ---- the points between ----------------------------------------------------------- */

static gboolean
is_straight (const Sampler *sampler, const Point *a, const Point *mid,
    const Point *b)
{
  const gdouble lowest = sampler->highest_db - CLIP_DB;

  for (guint i = 0; i < sampler->curves->len; i++) {
    const Sample *at = &mid->samples[i];
    const gdouble mean = (fmax (a->samples[i].gain_db, lowest) +
                             fmax (b->samples[i].gain_db, lowest)) /
                         2.0;
    const gdouble gain = fmax (at->gain_db, lowest);
    const gdouble delay = (a->samples[i].delay + b->samples[i].delay) / 2.0;

    if (fabs (gain - mean) >
        TOLERANCE_DB + TOLERANCE_OF_DEPTH * (sampler->highest_db - gain))
      return FALSE;
    if (!isfinite (sampler->ripple_hz) && gain > lowest &&
        fabs (at->delay - delay) >
            TOLERANCE_OF_DELAY * fmax (sampler->longest_delay, LEAST_DELAY))
      return FALSE;
  }
  return TRUE;
}

/* Whether there may be a point between two. */
static gboolean
is_wide (const Sampler *sampler, const Point *a, const Point *b)
{
  const GstTfxCurvesSpec *spec = sampler->spec;
  const gdouble part = log (b->freq_hz / a->freq_hz);
  const gdouble range = log (spec->to_hz / spec->from_hz);

  return !a->is_done &&
         part > (a->is_mark || b->is_mark ? CLOSEST_TO_MARK : CLOSEST * range);
}

/* Adds the point between two if they need one.  Whether it did. */
static gboolean
split (Sampler *sampler, GArray *points, Point *a, const Point *b)
{
  const gboolean is_coarse =
      b->freq_hz - a->freq_hz > sampler->ripple_hz / POINTS_OF_PERIOD;
  Point mid;

  if (!is_wide (sampler, a, b))
    return FALSE;
  mid = make_point (sampler,
      a->freq_hz * pow (b->freq_hz / a->freq_hz, is_coarse ? UNEVEN : 0.5),
      FALSE);
  if (is_coarse || !is_straight (sampler, a, &mid, b)) {
    add_point (sampler, points, mid);
    return TRUE;
  }
  a->is_done = TRUE;
  g_array_index (points, Point, points->len - 1).is_done = TRUE;
  clear_point (&mid);
  return FALSE;
}

/* Each pass may double the number of points. */
static GArray *
refine (Sampler *sampler, GArray *points)
{
  gboolean is_more = TRUE;

  while (is_more && 2 * points->len <= sampler->max_points) {
    GArray *next = g_array_new (FALSE, FALSE, sizeof (Point));

    is_more = FALSE;
    for (guint i = 0; i < points->len; i++) {
      Point *a = &g_array_index (points, Point, i);

      g_array_append_val (next, *a);
      if (i + 1 < points->len &&
          split (sampler, next, a, &g_array_index (points, Point, i + 1)))
        is_more = TRUE;
    }
    g_array_free (points, TRUE);
    points = next;
  }
  return points;
}

/* ---- the minima ------------------------------------------------------------------- */

/* Between two frequencies, by golden-section search. */
static gdouble
find_minimum (const Sampler *sampler, const GstTfxCurve *curve, gdouble low_hz,
    gdouble high_hz)
{
  const gdouble golden = (sqrt (5.0) - 1.0) / 2.0;
  gdouble a = high_hz - golden * (high_hz - low_hz);
  gdouble b = low_hz + golden * (high_hz - low_hz);
  gdouble at_a = gain_at (sampler, curve, a);
  gdouble at_b = gain_at (sampler, curve, b);

  for (gint i = 0; i < MINIMUM_STEPS && a < b; i++) {
    if (at_a < at_b) {
      high_hz = b;
      b = a;
      at_b = at_a;
      a = high_hz - golden * (high_hz - low_hz);
      at_a = gain_at (sampler, curve, a);
    } else {
      low_hz = a;
      a = b;
      at_a = at_b;
      b = low_hz + golden * (high_hz - low_hz);
      at_b = gain_at (sampler, curve, b);
    }
  }
  return at_a < at_b ? a : b;
}

static gboolean
is_minimum (const GArray *points, guint i, guint curve)
{
  const Point *at = &g_array_index (points, Point, i);
  const gdouble gain = at->samples[curve].gain_db + MINIMUM_DB;

  return gain < at[-1].samples[curve].gain_db &&
         gain < at[1].samples[curve].gain_db && !at->is_mark;
}

static void
add_minima (Sampler *sampler, GArray *points)
{
  const guint n = points->len;
  guint n_left = (guint)CLAMP (sampler->max_steps / MINIMUM_STEPS, 1.0,
      (gdouble)MAX_MINIMA);

  for (guint c = 0; c < sampler->curves->len; c++) {
    for (guint i = 1; i + 1 < n && n_left > 0; i++) {
      const GstTfxCurve *curve =
          &g_array_index (sampler->curves, GstTfxCurve, c);
      const Point *at = &g_array_index (points, Point, i);
      gdouble freq_hz;

      if (!is_minimum (points, i, c))
        continue;
      freq_hz = find_minimum (sampler, curve, at[-1].freq_hz, at[1].freq_hz);
      if (freq_hz != at->freq_hz)
        add_point (sampler, points, make_point (sampler, freq_hz, TRUE));
      n_left--;
    }
  }
  g_array_sort (points, compare_frequencies);
}

/* Replaces gains that are 0 except for rounding by the floor, and their phase by that
 * beside them. */
static void
settle_zeros (const Sampler *sampler, GArray *points)
{
  for (guint i = 0; i < points->len; i++) {
    Point *point = &g_array_index (points, Point, i);

    for (guint c = 0; point->is_mark && c < sampler->curves->len; c++) {
      const GstTfxCurve *curve =
          &g_array_index (sampler->curves, GstTfxCurve, c);
      Sample *sample = &point->samples[c];
      TfxComplex h[TFX_MIX_MAX_CHANNELS];

      spread_from (sampler->spec, curve->from, point->freq_hz * (1.0 + BESIDE),
          h);
      if (sample->gain_db > gain_of (h[curve->to]) - ZERO_DB)
        continue;
      sample->gain_db = GST_TFX_CURVES_FLOOR_DB;
      sample->phase_deg = phase_of (h[curve->to]);
    }
  }
}

/* ---- which curves there are ------------------------------------------------------- */

/* A pair of channels and what it does at each probe. */
typedef struct Pair
{
  guint from, to;
  gboolean is_heard;
  TfxComplex h[N_PROBES];
} Pair;

static GArray *
probe_pairs (const GstTfxCurvesSpec *spec)
{
  GArray *pairs = g_array_new (FALSE, TRUE, sizeof (Pair));
  TfxComplex h[TFX_MIX_MAX_CHANNELS];

  g_array_set_size (pairs, spec->n_in * spec->n_out);
  for (guint p = 0; p < N_PROBES; p++) {
    for (guint from = 0; from < spec->n_in; from++) {
      spread_from (spec, from, grid_at (spec, p, N_PROBES), h);
      for (guint to = 0; to < spec->n_out; to++) {
        Pair *pair = &g_array_index (pairs, Pair, from * spec->n_out + to);

        pair->from = from;
        pair->to = to;
        pair->h[p] = h[to];
        pair->is_heard = pair->is_heard || h[to].re != 0.0 || h[to].im != 0.0;
      }
    }
  }
  return pairs;
}

/* "channels 0-2, 5" */
static gchar *
name_channels (const GArray *channels)
{
  GString *name = g_string_new (channels->len > 1 ? "channels " : "channel ");

  for (guint i = 0; i < channels->len; i++) {
    const guint first = g_array_index (channels, guint, i);
    guint last = first;

    while (i + 1 < channels->len &&
           g_array_index (channels, guint, i + 1) == last + 1) {
      last++;
      i++;
    }
    g_string_append_printf (name, "%s%u",
        name->str[name->len - 1] == ' ' ? "" : ", ", first);
    if (last > first)
      g_string_append_printf (name, "%c%u", last == first + 1 ? ',' : '-',
          last);
  }
  return g_string_free (name, FALSE);
}

/* The curve of a pair and of all later ones with the same response, which are then
 * marked as done. */
static GstTfxCurve
take_pair (GArray *pairs, guint index, gboolean is_diagonal)
{
  const Pair *first = &g_array_index (pairs, Pair, index);
  GstTfxCurve curve = { first->from, first->to, NULL, NULL, NULL, NULL };
  GArray *channels = g_array_new (FALSE, FALSE, sizeof (guint));
  GString *names = g_string_new (NULL);

  for (guint i = index; i < pairs->len; i++) {
    Pair *pair = &g_array_index (pairs, Pair, i);

    if (!pair->is_heard || memcmp (pair->h, first->h, sizeof first->h) != 0)
      continue;
    g_array_append_val (channels, pair->to);
    g_string_append_printf (names, "%s%u to %u", names->len > 0 ? ", " : "",
        pair->from, pair->to);
    if (i > index)
      pair->is_heard = FALSE;
  }
  curve.name = is_diagonal ? name_channels (channels) : g_strdup (names->str);
  g_string_free (names, TRUE);
  g_array_unref (channels);
  return curve;
}

static void
clear_curve (gpointer data)
{
  GstTfxCurve *curve = data;

  g_free (curve->name);
  g_free (curve->gain_db);
  g_free (curve->phase_deg);
  g_free (curve->delay_ms);
}

/* At most MAX_CURVES; n_more: how many more there are. */
static GArray *
find_curves (const GstTfxCurvesSpec *spec, guint *n_more)
{
  GArray *curves = g_array_new (FALSE, FALSE, sizeof (GstTfxCurve));
  GArray *pairs;
  gboolean is_diagonal = spec->n_in == spec->n_out;
  GstTfxCurve curve = { (guint)MAX (spec->from, 0), (guint)MAX (spec->to, 0),
    NULL, NULL, NULL, NULL };

  g_array_set_clear_func (curves, clear_curve);
  if (spec->from < 0) {
    pairs = probe_pairs (spec);
    for (guint i = 0; i < pairs->len; i++) {
      const Pair *pair = &g_array_index (pairs, Pair, i);

      is_diagonal = is_diagonal && (!pair->is_heard || pair->from == pair->to);
    }
    /* Without paths between channels, each channel has one, silent or not. */
    for (guint i = 0; is_diagonal && i < pairs->len; i++) {
      Pair *pair = &g_array_index (pairs, Pair, i);

      pair->is_heard = pair->from == pair->to;
    }
    for (guint i = 0; i < pairs->len; i++) {
      if (!g_array_index (pairs, Pair, i).is_heard)
        continue;
      curve = take_pair (pairs, i, is_diagonal);
      if (curves->len < MAX_CURVES) {
        g_array_append_val (curves, curve);
      } else {
        clear_curve (&curve);
        (*n_more)++;
      }
    }
    g_array_unref (pairs);
    if (curves->len > 0)
      return curves;
  }
  curve.name = curve.from == curve.to
                   ? g_strdup_printf ("channel %u", curve.from)
                   : g_strdup_printf ("%u to %u", curve.from, curve.to);
  g_array_append_val (curves, curve);
  return curves;
}

/* ---- all of it -------------------------------------------------------------------- */

static gdouble
round_off (gdouble value, gdouble least)
{
  return fabs (value) < least ? 0.0 : value;
}

static GstTfxCurves *
collect (const Sampler *sampler, const GArray *points)
{
  GstTfxCurves *curves = g_new0 (GstTfxCurves, 1);

  curves->n = points->len;
  curves->curves = sampler->curves;
  curves->freq_hz = g_new (gdouble, points->len);
  for (guint c = 0; c < sampler->curves->len; c++) {
    GstTfxCurve *curve = &g_array_index (sampler->curves, GstTfxCurve, c);

    curve->gain_db = g_new (gdouble, points->len);
    curve->phase_deg = g_new (gdouble, points->len);
    curve->delay_ms = g_new (gdouble, points->len);
    for (guint i = 0; i < points->len; i++) {
      const Point *point = &g_array_index (points, Point, i);
      const Sample *sample = &point->samples[c];

      curves->freq_hz[i] = point->freq_hz;
      /* A table would print smaller values as -0. */
      curve->gain_db[i] = round_off (sample->gain_db, 5e-10);
      curve->phase_deg[i] = round_off (sample->phase_deg, 5e-7);
      curve->delay_ms[i] =
          round_off (1000.0 / sampler->spec->rate_hz * sample->delay, 5e-7);
    }
  }
  return curves;
}

GstTfxCurves *
gst_tfx_curves_new (const GstTfxCurvesSpec *spec)
{
  const gsize memory = tfx_chain_memory (spec->chain);
  guint n_more = 0;
  Sampler sampler = { .spec = spec,
    .curves = find_curves (spec, &n_more),
    .highest_db = GST_TFX_CURVES_FLOOR_DB,
    .ripple_hz =
        memory > LONG_MEMORY ? spec->rate_hz / (gdouble)memory : INFINITY,
    .max_steps = MAX_PRODUCTS / (gdouble)(memory + 1) };
  GArray *points = g_array_new (FALSE, FALSE, sizeof (Point));
  GArray *places = list_places (spec);
  GstTfxCurves *curves;

  /* (Gain and delay of a point take three evaluations.) */
  sampler.max_points =
      (guint)CLAMP (sampler.max_steps / (3.0 * sampler.curves->len),
          (gdouble)MIN_POINTS, (gdouble)MAX_POINTS);
  for (guint i = 0; i < places->len; i++) {
    const Place *place = &g_array_index (places, Place, i);

    add_point (&sampler, points,
        make_point (&sampler, place->freq_hz, place->rank < 2));
  }
  g_array_unref (places);
  if (!spec->is_grid) {
    points = refine (&sampler, points);
    add_minima (&sampler, points);
    settle_zeros (&sampler, points);
  }
  curves = collect (&sampler, points);
  curves->n_more = n_more;
  for (guint i = 0; i < points->len; i++)
    clear_point (&g_array_index (points, Point, i));
  g_array_unref (points);
  return curves;
}

void
gst_tfx_curves_free (GstTfxCurves *curves)
{
  if (!curves)
    return;
  g_array_unref (curves->curves);
  g_free (curves->freq_hz);
  g_free (curves);
}
