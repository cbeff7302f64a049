/* SPDX-License-Identifier: LGPL-2.1-or-later
 * model.c: what should come out of a pipeline of delays, frame by frame.
 */
#include "model.h"

#include <math.h>
#include <string.h>

typedef struct
{
  TfxModelDeed deed;
  guint64 from, to;
} Mark;

typedef struct
{
  guint64 from;
  gsize n;
  gdouble *values;
} Sight;

#define FRAME(array, i) g_array_index (array, TfxModelFrame, i)

gboolean
tfx_model_is_same (gdouble a, gdouble b)
{
  return fabs (a - b) < 0.2;
}

/* ---- nodes ---------------------------------------------------------------- */

static void
free_sight (gpointer data)
{
  Sight *sight = data;

  g_free (sight->values);
  g_free (sight);
}

static void
spot_open (TfxModelSpot *spot)
{
  spot->marks = g_array_new (FALSE, FALSE, sizeof (Mark));
  spot->visits = g_array_new (FALSE, FALSE, sizeof (Mark));
  spot->sights = g_ptr_array_new_with_free_func (free_sight);
}

static void
spot_close (TfxModelSpot *spot)
{
  g_array_unref (spot->marks);
  g_array_unref (spot->visits);
  g_ptr_array_unref (spot->sights);
}

TfxModelNode *
tfx_model_node_new (const gchar *name, gsize delay)
{
  TfxModelNode *node = g_new0 (TfxModelNode, 1);

  node->name = g_strdup (name);
  node->delay = delay;
  node->gone = TFX_MODEL_NEVER;
  node->resets = g_array_new (FALSE, FALSE, sizeof (guint64));
  spot_open (&node->before);
  spot_open (&node->after);
  return node;
}

void
tfx_model_node_free (TfxModelNode *node)
{
  g_free (node->name);
  g_array_unref (node->resets);
  spot_close (&node->before);
  spot_close (&node->after);
  g_free (node);
}

void
tfx_model_node_reset (TfxModelNode *node, guint64 number)
{
  g_array_append_val (node->resets, number);
}

void
tfx_model_spot_mark (TfxModelSpot *spot, TfxModelDeed deed, guint64 from,
    gsize n)
{
  Mark mark = { deed, from, from + n };

  g_array_append_val (spot->marks, mark);
}

void
tfx_model_spot_visit (TfxModelSpot *spot, guint64 from, gsize n)
{
  Mark visit = { TFX_MODEL_DROP, from, from + n };

  g_array_append_val (spot->visits, visit);
}

void
tfx_model_spot_see (TfxModelSpot *spot, guint64 from, const gdouble *values,
    gsize n)
{
  Sight *sight = g_new (Sight, 1);

  *sight = (Sight){ from, n, g_memdup2 (values, n * sizeof *values) };
  g_ptr_array_add (spot->sights, sight);
}

/* ---- the way of the frames ------------------------------------------------- */

GArray *
tfx_model_source (const GArray *eras)
{
  GArray *frames = g_array_new (FALSE, FALSE, sizeof (TfxModelFrame));

  for (guint e = 0; e < eras->len; e++) {
    const TfxModelEra *era = &g_array_index (eras, TfxModelEra, e);

    for (guint64 n = era->from; n < era->to; n++) {
      TfxModelFrame frame = { n, e, n + 1.0 };

      g_array_append_val (frames, frame);
    }
  }
  return frames;
}

static const Mark *
find_mark (const TfxModelSpot *spot, guint64 number)
{
  for (guint i = 0; i < spot->marks->len; i++) {
    const Mark *mark = &g_array_index (spot->marks, Mark, i);

    if (number >= mark->from && number < mark->to)
      return mark;
  }
  return NULL;
}

/* What is done to the frames at a place. */
static GArray *
pass_spot (const TfxModelSpot *spot, GArray *frames)
{
  GArray *out;

  if (spot->marks->len == 0)
    return frames;
  out = g_array_new (FALSE, FALSE, sizeof (TfxModelFrame));
  for (guint i = 0; i < frames->len; i++) {
    TfxModelFrame frame = FRAME (frames, i);
    const Mark *mark = find_mark (spot, frame.number);

    if (mark && mark->deed == TFX_MODEL_DROP)
      continue;
    if (mark)
      frame.value = mark->deed == TFX_MODEL_MUTE ? 0.0 : -frame.value;
    g_array_append_val (out, frame);
  }
  g_array_unref (frames);
  return out;
}

/* The first frame with that number or a later one. */
static guint
find_frame (const GArray *frames, guint64 number)
{
  guint low = 0, high = frames->len;

  while (low < high) {
    guint middle = low + (high - low) / 2;

    if (FRAME (frames, middle).number < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static gchar *
check_sights (const TfxModelNode *node, const gchar *where,
    const TfxModelSpot *spot, const GArray *frames)
{
  for (guint i = 0; i < spot->sights->len; i++) {
    const Sight *sight = g_ptr_array_index (spot->sights, i);
    guint at = find_frame (frames, sight->from);

    for (gsize k = 0; k < sight->n; k++, at++) {
      guint64 number = sight->from + k;

      if (at >= frames->len || FRAME (frames, at).number != number)
        return g_strdup_printf ("%s %s: frame %" G_GUINT64_FORMAT
                                " was seen, but is not there",
            where, node->name, number);
      if (!tfx_model_is_same (sight->values[k], FRAME (frames, at).value))
        return g_strdup_printf ("%s %s: frame %" G_GUINT64_FORMAT
                                " looks like %g, should be %g",
            where, node->name, number, sight->values[k],
            FRAME (frames, at).value);
    }
  }
  return NULL;
}

/* Whoever sees all has seen each frame once. */
static gchar *
check_visits (const TfxModelNode *node, const TfxModelSpot *spot,
    const GArray *frames, const GArray *eras)
{
  guint at = 0;

  for (guint i = 0; spot->sees_all && i < frames->len; i++) {
    const TfxModelFrame *frame = &FRAME (frames, i);
    const Mark *visit = NULL;

    if (frame->number < node->came || frame->number >= node->gone ||
        g_array_index (eras, TfxModelEra, frame->era).is_cut)
      continue;
    for (; at < spot->visits->len; at++) {
      visit = &g_array_index (spot->visits, Mark, at);
      if (visit->to > frame->number)
        break;
    }
    if (at == spot->visits->len || visit->from > frame->number)
      return g_strdup_printf ("%s: frame %" G_GUINT64_FORMAT
                              " goes past the pad's function",
          node->name, frame->number);
  }
  return NULL;
}

/* One delay line, which forgets where an era begins and where it was reset. */
static void
pass_delay (const TfxModelNode *node, GArray *frames)
{
  gdouble *line = g_new0 (gdouble, node->delay + 1);
  guint at = 0, next_reset = 0;
  const TfxModelFrame *last = NULL;

  for (guint i = 0; i < frames->len; i++) {
    TfxModelFrame *frame = &FRAME (frames, i);
    gboolean is_reset = last && last->era != frame->era;

    if (frame->number < node->came || frame->number >= node->gone)
      continue;
    while (next_reset < node->resets->len &&
           g_array_index (node->resets, guint64, next_reset) <= frame->number) {
      is_reset = TRUE;
      next_reset++;
    }
    if (is_reset)
      memset (line, 0, (node->delay + 1) * sizeof *line);
    line[at] = frame->value;
    at = (at + 1) % (node->delay + 1);
    frame->value = line[at];
    last = frame;
  }
  g_free (line);
}

gchar *
tfx_model_node_pass (const TfxModelNode *node, GArray **frames,
    const GArray *eras)
{
  gchar *error = check_visits (node, &node->before, *frames, eras);

  *frames = pass_spot (&node->before, *frames);
  if (!error)
    error = check_sights (node, "before", &node->before, *frames);
  pass_delay (node, *frames);
  *frames = pass_spot (&node->after, *frames);
  if (!error)
    error = check_sights (node, "after", &node->after, *frames);
  return error;
}

/* ---- the verdict ------------------------------------------------------------ */

gchar *
tfx_model_compare (const GArray *heard, const GArray *expected,
    const GArray *eras)
{
  guint at = 0;

  for (guint e = 0; e < eras->len; e++) {
    const TfxModelEra *era = &g_array_index (eras, TfxModelEra, e);
    guint k = find_frame (expected, era->from);

    for (; at < heard->len && FRAME (heard, at).number < era->to; at++, k++) {
      const TfxModelFrame *is = &FRAME (heard, at);

      if (k >= expected->len || FRAME (expected, k).number >= era->to)
        return g_strdup_printf ("frame %" G_GUINT64_FORMAT
                                " (value %g) is too many",
            is->number, is->value);
      if (is->number != FRAME (expected, k).number)
        return g_strdup_printf ("frame %" G_GUINT64_FORMAT
                                " (value %g) comes where frame "
                                "%" G_GUINT64_FORMAT " (value %g) is due",
            is->number, is->value, FRAME (expected, k).number,
            FRAME (expected, k).value);
      if (!tfx_model_is_same (is->value, FRAME (expected, k).value))
        return g_strdup_printf ("frame %" G_GUINT64_FORMAT
                                " has the value %g, should have %g",
            is->number, is->value, FRAME (expected, k).value);
    }
    if (!era->is_cut && k < find_frame (expected, era->to))
      return g_strdup_printf ("frames are missing from %" G_GUINT64_FORMAT
                              " on: the last one is %" G_GUINT64_FORMAT,
          FRAME (expected, k).number,
          FRAME (expected, find_frame (expected, era->to) - 1).number);
  }
  if (at < heard->len)
    return g_strdup_printf ("frame %" G_GUINT64_FORMAT " is of no era",
        FRAME (heard, at).number);
  return NULL;
}
