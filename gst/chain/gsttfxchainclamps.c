/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainclamps.c: numbers of a chain's stages that are out of range.
 */
#include "gsttfxchainclamps.h"

#include <string.h>

#include "gsttfxchainparam.h"

/* A number of a stage that was ever out of range. */
typedef struct
{
  gchar *stage, *param;
  gint index;
  gchar *name; /* of the property */
  gboolean is_clamped, was_clamped;
} Item;

static void
free_item (gpointer data)
{
  Item *item = data;

  g_free (item->stage);
  g_free (item->param);
  g_free (item->name);
  g_free (item);
}

/* "eq::cutoff", "eq::cutoff-upper"; a later number of a list, which is not a property,
 * is "fir::cutoff[2]". */
static gchar *
make_property_name (const TfxExpr *expr, const TfxExprClamp *clamp)
{
  const TfxClass *klass =
      tfx_expr_stage_class (expr, tfx_expr_find (expr, clamp->stage));
  gint param = tfx_class_find_param (klass, clamp->param);
  gboolean is_upper;
  gchar *path, *name;

  /* The centres of a bank are not a parameter. */
  if (param < 0)
    return g_strdup_printf ("%s::%s", clamp->stage, clamp->param);
  is_upper = clamp->index == 1 && klass->params[param].max_list == 2;
  name = gst_tfx_chain_param_make_name (&klass->params[param],
      is_upper ? GST_TFX_CHAIN_PARAM_UPPER : GST_TFX_CHAIN_PARAM_WHOLE);
  if (clamp->index > 0 && !is_upper)
    path = g_strdup_printf ("%s::%s[%d]", clamp->stage, name, clamp->index);
  else
    path = g_strdup_printf ("%s::%s", clamp->stage, name);
  g_free (name);
  return path;
}

/* Makes its name only once: a curve is reported at each of its points. */
static Item *
find_item (GstTfxChainClamps *self, const TfxExprClamp *clamp)
{
  Item *item;

  for (guint i = 0; self->items && i < self->items->len; i++) {
    item = self->items->pdata[i];
    if (item->index == clamp->index && !strcmp (item->param, clamp->param) &&
        !strcmp (item->stage, clamp->stage))
      return item;
  }
  item = g_new0 (Item, 1);
  item->stage = g_strdup (clamp->stage);
  item->param = g_strdup (clamp->param);
  item->index = clamp->index;
  item->name = make_property_name (self->expr, clamp);
  if (!self->items)
    self->items = g_ptr_array_new_with_free_func (free_item);
  g_ptr_array_add (self->items, item);
  return item;
}

void
gst_tfx_chain_clamps_report (const TfxExprClamp *clamp, void *data)
{
  GstTfxChainClamps *self = data;
  Item *item = find_item (self, clamp);
  GstTfxClamp value = { item->name, clamp->because ? "" : " Hz", clamp->asked,
    clamp->used, clamp->lowest, clamp->highest, NULL, clamp->because };

  gst_tfx_element_report_clamp (self->chain, &value, self->rate);
  item->is_clamped = TRUE;
}

static void
report_met (const GstTfxChainClamps *self, const gchar *name)
{
  GstTfxClamp met = { name, " Hz" };

  gst_tfx_element_report_clamp (self->chain, &met, self->rate);
}

static gboolean
is_clamped (const GstTfxChainClamps *self, const gchar *name)
{
  for (guint i = 0; self->items && i < self->items->len; i++) {
    const Item *item = self->items->pdata[i];

    if (item->is_clamped && !strcmp (item->name, name))
      return TRUE;
  }
  return FALSE;
}

void
gst_tfx_chain_clamps_replace (GstTfxChainClamps *self, GPtrArray **last)
{
  for (guint i = 0; *last && i < (*last)->len; i++) {
    const Item *item = (*last)->pdata[i];

    if (item->is_clamped && !is_clamped (self, item->name))
      report_met (self, item->name);
  }
  g_clear_pointer (last, g_ptr_array_unref);
  *last = self->items;
}

void
gst_tfx_chain_clamps_begin_stage (GstTfxChainClamps *self, const gchar *stage)
{
  for (guint i = 0; self->items && i < self->items->len; i++) {
    Item *item = self->items->pdata[i];

    if (strcmp (item->stage, stage) != 0)
      continue;
    item->was_clamped = item->is_clamped;
    item->is_clamped = FALSE;
  }
}

void
gst_tfx_chain_clamps_end_stage (GstTfxChainClamps *self, const gchar *stage,
    gboolean is_designed)
{
  for (guint i = 0; self->items && i < self->items->len; i++) {
    Item *item = self->items->pdata[i];

    if (strcmp (item->stage, stage) != 0 || !item->was_clamped)
      continue;
    if (!is_designed)
      item->is_clamped = TRUE;
    else if (!item->is_clamped)
      report_met (self, item->name);
  }
}
