/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchaintext.c: the text of a tfxchain and its stages.
 *
 * A text is parsed into a new expression without the object lock, which
 * protects only the exchange.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gsttfxbytes.h"
#include "gsttfxchain.h"
#include "gsttfxchainreader.h"

#define GST_CAT_DEFAULT gst_tfx_chain_debug

/* The stages of a new expression.  A stage of the same name and class stays the
 * same object; was[i] is its index in the old expression, or -1 for a new
 * stage. */
static GPtrArray *
gst_tfx_chain_choose_stages (GstTfxChain *self, const TfxExpr *expr,
    const TfxExpr *old_expr, const GPtrArray *old_stages, gint *was)
{
  GPtrArray *stages = g_ptr_array_new_with_free_func (gst_object_unref);
  GHashTable *old = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < old_stages->len; i++)
    g_hash_table_insert (old, (gpointer)tfx_expr_stage_name (old_expr, i),
        GUINT_TO_POINTER (i + 1));
  for (gsize i = 0; i < tfx_expr_n_stages (expr); i++) {
    const gchar *name = tfx_expr_stage_name (expr, i);
    const TfxClass *klass = tfx_expr_stage_class (expr, i);
    GstTfxChainStage *stage;

    was[i] = GPOINTER_TO_INT (g_hash_table_lookup (old, name)) - 1;
    if (was[i] >= 0 && tfx_expr_stage_class (old_expr, was[i]) == klass) {
      stage = gst_object_ref (old_stages->pdata[was[i]]);
    } else {
      was[i] = -1;
      stage = gst_object_ref_sink (gst_tfx_chain_stage_new (klass, name));
      gst_object_set_parent (GST_OBJECT (stage), GST_OBJECT (self));
    }
    g_ptr_array_add (stages, stage);
  }
  g_hash_table_unref (old);
  return stages;
}

/* Notifies of the parameters of a stage that have changed. */
static void
gst_tfx_chain_notify_stage (GstTfxChainStage *stage, const TfxExpr *old,
    gsize old_index, const TfxExpr *expr, gsize index)
{
  const TfxClass *klass = tfx_expr_stage_class (expr, index);

  for (guint i = 0; i < klass->n_params; i++) {
    TfxValue before, now;

    tfx_expr_get (old, old_index, klass->params[i].name, &before);
    tfx_expr_get (expr, index, klass->params[i].name, &now);
    if (!tfx_value_equal (&before, &now))
      gst_tfx_chain_stage_notify (stage, i);
  }
}

typedef enum
{
  EXCHANGED,
  REFUSED,
  TOO_LATE, /* another thread has exchanged the stages */
  NO_MEMORY
} Exchange;

/* Replaces the expression, the stages and the text, and notifies of the
 * stages. */
static Exchange
gst_tfx_chain_exchange (GstTfxChain *self, const TfxExpr *parsed,
    const gchar *text, const gchar *folder, const gchar *fault,
    GPtrArray *files)
{
  GstChildProxy *proxy = GST_CHILD_PROXY (self);
  TfxExpr *copy = tfx_expr_copy (parsed);
  GPtrArray *stages, *old_stages, *removed;
  GstTfxChainExpr *expr, *old_expr;
  Exchange result = EXCHANGED;
  gint *was;

  if (!copy)
    return NO_MEMORY;
  GST_OBJECT_LOCK (self);
  old_expr = gst_tfx_chain_expr_ref (self->expr);
  old_stages = g_ptr_array_ref (self->stages);
  GST_OBJECT_UNLOCK (self);
  /* (If memory is short, fewer stages keep their state.) */
  tfx_expr_adopt_ids (copy, old_expr->expr);
  tfx_expr_take_prepared (copy, old_expr->expr);
  expr = gst_tfx_chain_expr_new (copy);
  was = g_new (gint, tfx_expr_n_stages (copy));
  stages =
      gst_tfx_chain_choose_stages (self, copy, old_expr->expr, old_stages, was);
  removed = g_ptr_array_new ();

  GST_OBJECT_LOCK (self);
  if (fault && self->is_started) {
    result = REFUSED;
  } else if (self->stages != old_stages) {
    result = TOO_LATE;
  } else {
    for (guint i = 0; i < stages->len; i++)
      ((GstTfxChainStage *)stages->pdata[i])->index = i;
    for (guint i = 0; i < old_stages->len; i++) {
      GstTfxChainStage *stage = old_stages->pdata[i];

      if (stage->index >= stages->len || stages->pdata[stage->index] != stage) {
        stage->last = gst_tfx_chain_expr_ref (self->expr);
        g_ptr_array_add (removed, stage);
      }
    }
    /* Its values may be newer than those above. */
    gst_tfx_chain_expr_unref (old_expr);
    old_expr = self->expr;
    self->expr = gst_tfx_chain_expr_ref (expr);
    g_ptr_array_unref (self->stages);
    g_atomic_pointer_set (&self->stages, g_ptr_array_ref (stages));
    /* The property must be UTF-8.  A valid text that is not is printed from its
     * expression; in an invalid one \\xNN replaces other bytes. */
    g_free (self->text);
    if (g_utf8_validate (text, -1, NULL))
      self->text = g_strdup (text);
    else
      self->text = fault ? gst_tfx_bytes_escape (text) : NULL;
    g_free (self->fault);
    self->fault = g_strdup (fault);
    g_free (self->folder);
    self->folder = g_strdup (folder);
    g_ptr_array_unref (self->files);
    self->files = g_ptr_array_ref (files);
  }
  GST_OBJECT_UNLOCK (self);

  /* With no lock held, since a handler may set the chain again. */
  if (result == EXCHANGED)
    GST_DEBUG_OBJECT (self, "%u stages, %u added, %u removed", stages->len,
        stages->len + removed->len - old_stages->len, removed->len);
  for (guint i = 0; i < removed->len; i++) {
    GstObject *stage = removed->pdata[i];

    gst_child_proxy_child_removed (proxy, G_OBJECT (stage),
        GST_OBJECT_NAME (stage));
    gst_object_unparent (stage);
  }
  for (guint i = 0; i < stages->len; i++) {
    GstObject *stage = stages->pdata[i];

    if (was[i] < 0 && result == EXCHANGED)
      gst_child_proxy_child_added (proxy, G_OBJECT (stage),
          GST_OBJECT_NAME (stage));
    else if (was[i] < 0)
      gst_object_unparent (stage);
  }
  for (guint i = 0; i < stages->len && result == EXCHANGED; i++) {
    if (was[i] >= 0)
      gst_tfx_chain_notify_stage (stages->pdata[i], old_expr->expr, was[i],
          copy, i);
  }
  gst_tfx_chain_expr_unref (expr);
  gst_tfx_chain_expr_unref (old_expr);
  g_ptr_array_unref (removed);
  g_ptr_array_unref (stages);
  g_ptr_array_unref (old_stages);
  g_free (was);
  return result;
}

/* Logs and frees the notes. */
static void
gst_tfx_chain_log_notes (GstTfxChain *self, GPtrArray *notes)
{
  for (guint i = 0; i < notes->len; i++)
    GST_INFO_OBJECT (self, "%s", (const gchar *)notes->pdata[i]);
  g_ptr_array_unref (notes);
}

gboolean
gst_tfx_chain_set_text (GstTfxChain *self, const gchar *text,
    const gchar *folder, GPtrArray *included, const gchar *fault)
{
  GPtrArray *files =
      included ? g_ptr_array_ref (included)
               : g_ptr_array_new_with_free_func (gst_tfx_chain_seen_free);
  GPtrArray *notes = g_ptr_array_new_with_free_func (g_free);
  TfxExprError error = { 0 };
  Exchange result = NO_MEMORY;
  TfxExpr *parsed = NULL;

  if (!fault)
    parsed = gst_tfx_chain_reader_parse (text, folder, files, notes, &error);
  gst_tfx_chain_log_notes (self, notes);
  if (!parsed && error.code != -ENOMEM) {
    fault = fault ? fault : error.rendered;
    parsed = tfx_expr_empty ();
  }
  GST_DEBUG_OBJECT (self, "chain: %s", fault ? fault : text);
  if (parsed) {
    do
      result =
          gst_tfx_chain_exchange (self, parsed, text, folder, fault, files);
    while (result == TOO_LATE);
  }
  if (result == NO_MEMORY)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Out of memory; the previous chain stays in use."), (NULL));
  else if (result == REFUSED)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Invalid chain; the previous chain stays in use: %s", fault), (NULL));
  tfx_expr_free (&parsed);
  g_ptr_array_unref (files);
  if (result != EXCHANGED)
    return FALSE;
  gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (self));
  g_object_notify (G_OBJECT (self), "chain");
  return TRUE;
}

void
gst_tfx_chain_read_location (GstTfxChain *self)
{
  gchar *location = NULL, *folder, *text, *fault = NULL;
  GPtrArray *notes, *files;
  GstTfxChainVersion version;

  GST_OBJECT_LOCK (self);
  if (self->location)
    location = g_strdup (self->location->path);
  GST_OBJECT_UNLOCK (self);
  if (!location)
    return;
  /* The version before the file is read, so that a later save is noticed. */
  version = gst_tfx_chain_file_look (location);
  GST_OBJECT_LOCK (self);
  if (self->location && strcmp (self->location->path, location) == 0)
    self->location->version = version;
  GST_OBJECT_UNLOCK (self);
  notes = g_ptr_array_new_with_free_func (g_free);
  files = g_ptr_array_new_with_free_func (gst_tfx_chain_seen_free);
  text = gst_tfx_chain_file_read (location, files, notes, &fault);
  gst_tfx_chain_log_notes (self, notes);
  folder = g_path_get_dirname (location);
  gst_tfx_chain_set_text (self, text ? text : "", folder, files, fault);
  g_ptr_array_unref (files);
  g_free (text);
  g_free (fault);
  g_free (folder);
  g_free (location);
}

gchar *
gst_tfx_chain_get_text (GstTfxChain *self, gboolean is_printed)
{
  GstTfxChainExpr *expr = NULL;
  gchar *text = NULL;
  char *printed;

  GST_OBJECT_LOCK (self);
  if (self->text && !is_printed)
    text = g_strdup (self->text);
  else if (!self->fault)
    expr = gst_tfx_chain_expr_ref (self->expr);
  GST_OBJECT_UNLOCK (self);
  if (expr) {
    printed = tfx_expr_print (expr->expr);
    text = g_strdup (printed);
    free (printed);
    gst_tfx_chain_expr_unref (expr);
  }
  return text;
}
