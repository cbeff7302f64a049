/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchaintext.c: the text of a tfxchain, its stages and their parameters.
 *
 * All values are in the expression.  A text is parsed into a new expression without the
 * object lock, which protects only the exchange.  Setting a parameter changes the current
 * expression.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gsttfxbytes.h"
#include "gsttfxchainprivate.h"
#include "gsttfxchainreader.h"

#define GST_CAT_DEFAULT gst_tfx_chain_debug

GstTfxChainExpr *
gst_tfx_chain_get_expr (GstTfxChain *self)
{
  GstTfxChainExpr *expr;

  GST_OBJECT_LOCK (self);
  expr = gst_tfx_chain_expr_ref (self->expr);
  GST_OBJECT_UNLOCK (self);
  return expr;
}

GPtrArray *
gst_tfx_chain_get_stages (GstTfxChain *self)
{
  GPtrArray *stages;

  GST_OBJECT_LOCK (self);
  stages = g_ptr_array_ref (self->stages);
  GST_OBJECT_UNLOCK (self);
  return stages;
}

void
gst_tfx_chain_notify_text (GstTfxChain *self)
{
  g_object_notify (G_OBJECT (self), "chain");
}

/* ---- a new text ------------------------------------------------------------------ */

/* A change from one set of stages to another. */
typedef struct
{
  TfxExpr *parsed; /* the parsed text */
  const gchar *text;
  const gchar *fault; /* or its error */
  const gchar *folder;
  GPtrArray *files;

  GstTfxChainExpr *old_expr, *expr;
  GPtrArray *old_stages, *stages;
  GPtrArray *added, *removed; /* of the two above */
} Change;

static const GstTfxChainStageValues stage_values;

/* Maps names to stages; the keys are borrowed from the expression. */
static GHashTable *
index_stages (const TfxExpr *expr, GPtrArray *stages)
{
  GHashTable *table = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < stages->len; i++)
    g_hash_table_insert (table, (gpointer)tfx_expr_stage_name (expr, i),
        stages->pdata[i]);
  return table;
}

/* A stage of the same name and class stays the same object. */
static void
gst_tfx_chain_choose_stages (GstTfxChain *self, Change *change)
{
  const TfxExpr *expr = change->expr->expr;
  GHashTable *old = index_stages (change->old_expr->expr, change->old_stages);

  change->stages = g_ptr_array_new_with_free_func (gst_object_unref);
  change->added = g_ptr_array_new ();
  change->removed = g_ptr_array_new ();
  for (gsize i = 0; i < tfx_expr_n_stages (expr); i++) {
    const gchar *name = tfx_expr_stage_name (expr, i);
    const TfxClass *klass = tfx_expr_stage_class (expr, i);
    GstTfxChainStage *stage = g_hash_table_lookup (old, name);

    if (stage && gst_tfx_chain_stage_get_klass (stage) == klass) {
      g_hash_table_remove (old, name);
      g_ptr_array_add (change->stages, gst_object_ref (stage));
    } else {
      stage = gst_object_ref_sink (
          gst_tfx_chain_stage_new (klass, name, &stage_values));
      gst_object_set_parent (GST_OBJECT (stage), GST_OBJECT (self));
      g_ptr_array_add (change->added, stage);
      g_ptr_array_add (change->stages, stage);
    }
  }
  for (guint i = 0; i < change->old_stages->len; i++) {
    gpointer stage = change->old_stages->pdata[i];

    if (g_hash_table_lookup (old,
            tfx_expr_stage_name (change->old_expr->expr, i)) == stage)
      g_ptr_array_add (change->removed, stage);
  }
  g_hash_table_unref (old);
}

/* Prepares the change from the current stages.  FALSE if memory is short. */
static gboolean
gst_tfx_chain_begin (GstTfxChain *self, Change *change)
{
  TfxExpr *expr = tfx_expr_copy (change->parsed);

  if (!expr)
    return FALSE;
  change->expr = gst_tfx_chain_expr_new (expr);
  GST_OBJECT_LOCK (self);
  change->old_expr = gst_tfx_chain_expr_ref (self->expr);
  change->old_stages = g_ptr_array_ref (self->stages);
  GST_OBJECT_UNLOCK (self);

  /* (If memory is short, fewer stages keep their state.) */
  tfx_expr_adopt_ids (expr, change->old_expr->expr);
  tfx_expr_take_prepared (expr, change->old_expr->expr);
  gst_tfx_chain_choose_stages (self, change);
  return TRUE;
}

static void
gst_tfx_chain_end (Change *change)
{
  g_clear_pointer (&change->expr, gst_tfx_chain_expr_unref);
  g_clear_pointer (&change->old_expr, gst_tfx_chain_expr_unref);
  g_clear_pointer (&change->added, g_ptr_array_unref);
  g_clear_pointer (&change->removed, g_ptr_array_unref);
  g_clear_pointer (&change->stages, g_ptr_array_unref);
  g_clear_pointer (&change->old_stages, g_ptr_array_unref);
}

static void
unparent_all (GPtrArray *stages)
{
  for (guint i = 0; i < stages->len; i++)
    gst_object_unparent (stages->pdata[i]);
}

/* The new value of the property, which must be UTF-8.  NULL if the text is not: it is
 * printed from its expression.  In an invalid text \\xNN replaces other bytes. */
static gchar *
keep_text (const Change *change)
{
  if (change->text && !g_utf8_validate (change->text, -1, NULL))
    return change->fault ? gst_tfx_bytes_escape (change->text) : NULL;
  return g_strdup (change->text);
}

typedef enum
{
  EXCHANGED,
  REFUSED,
  TOO_LATE /* another thread has exchanged the stages */
} Exchange;

static Exchange
gst_tfx_chain_exchange (GstTfxChain *self, Change *change)
{
  Exchange result = EXCHANGED;
  GstTfxChainExpr *old_expr = NULL;

  GST_OBJECT_LOCK (self);
  if (change->fault && self->is_started) {
    result = REFUSED;
  } else if (self->stages != change->old_stages) {
    result = TOO_LATE;
  } else {
    for (guint i = 0; i < change->removed->len; i++)
      gst_tfx_chain_stage_retire (change->removed->pdata[i], self->expr);
    for (guint i = 0; i < change->stages->len; i++)
      gst_tfx_chain_stage_set_index (change->stages->pdata[i], i);
    old_expr = self->expr;
    self->expr = gst_tfx_chain_expr_ref (change->expr);
    g_ptr_array_unref (self->stages);
    g_atomic_pointer_set (&self->stages, g_ptr_array_ref (change->stages));
    g_free (self->text);
    self->text = keep_text (change);
    g_free (self->fault);
    self->fault = g_strdup (change->fault);
    g_free (self->folder);
    self->folder = g_strdup (change->folder);
    g_ptr_array_unref (self->files);
    self->files = g_ptr_array_ref (change->files);
  }
  GST_OBJECT_UNLOCK (self);

  if (result != EXCHANGED) {
    unparent_all (change->added);
    return result;
  }
  GST_DEBUG_OBJECT (self, "%u stages, %u added, %u removed",
      change->stages->len, change->added->len, change->removed->len);
  /* Its values may be newer than those at the start of the change. */
  gst_tfx_chain_expr_unref (change->old_expr);
  change->old_expr = old_expr;
  return result;
}

/* Notifies of changed parameters of stages that stay. */
static void
gst_tfx_chain_notify_stages (Change *change)
{
  GHashTable *old = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < change->old_stages->len; i++)
    g_hash_table_insert (old, change->old_stages->pdata[i],
        GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < change->stages->len; i++) {
    GstTfxChainStage *stage = change->stages->pdata[i];
    const TfxClass *klass = gst_tfx_chain_stage_get_klass (stage);
    guint was = GPOINTER_TO_UINT (g_hash_table_lookup (old, stage));

    for (guint k = 0; was > 0 && k < klass->n_params; k++) {
      TfxValue before, now;

      tfx_expr_get (change->old_expr->expr, was - 1, klass->params[k].name,
          &before);
      tfx_expr_get (change->expr->expr, i, klass->params[k].name, &now);
      if (!tfx_value_equal (&before, &now))
        gst_tfx_chain_stage_notify (stage, k);
    }
  }
  g_hash_table_unref (old);
}

/* Notifies of the change.  With no lock held, since a handler may set the chain again. */
static void
gst_tfx_chain_tell (GstTfxChain *self, Change *change)
{
  GstChildProxy *proxy = GST_CHILD_PROXY (self);

  for (guint i = 0; i < change->removed->len; i++) {
    GstObject *stage = change->removed->pdata[i];

    gst_child_proxy_child_removed (proxy, G_OBJECT (stage),
        GST_OBJECT_NAME (stage));
    gst_object_unparent (stage);
  }
  for (guint i = 0; i < change->added->len; i++) {
    GstObject *stage = change->added->pdata[i];

    gst_child_proxy_child_added (proxy, G_OBJECT (stage),
        GST_OBJECT_NAME (stage));
  }
  gst_tfx_chain_notify_stages (change);
}

static void
gst_tfx_chain_report_no_memory (GstTfxChain *self)
{
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("Out of memory; the previous chain stays in use."), (NULL));
}

static gboolean
gst_tfx_chain_replace (GstTfxChain *self, Change *change)
{
  Exchange result;

  do {
    if (!gst_tfx_chain_begin (self, change)) {
      gst_tfx_chain_report_no_memory (self);
      return FALSE;
    }
    result = gst_tfx_chain_exchange (self, change);
    if (result == EXCHANGED)
      gst_tfx_chain_tell (self, change);
    gst_tfx_chain_end (change);
  } while (result == TOO_LATE);

  if (result == REFUSED)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Invalid chain; the previous chain stays in use: %s", change->fault),
        (NULL));
  return result == EXCHANGED;
}

/* Logs and frees the notes. */
static void
gst_tfx_chain_log_notes (GstTfxChain *self, GPtrArray *notes)
{
  for (guint i = 0; i < notes->len; i++)
    GST_INFO_OBJECT (self, "%s", (const gchar *)notes->pdata[i]);
  g_ptr_array_unref (notes);
}

/* Sets a text, or the fault of its file. */
static gboolean
gst_tfx_chain_take (GstTfxChain *self, const gchar *text, const gchar *folder,
    const gchar *fault)
{
  Change change = { .text = text,
    .folder = folder,
    .files = g_ptr_array_new_with_free_func (gst_tfx_chain_seen_free) };
  GPtrArray *notes = g_ptr_array_new_with_free_func (g_free);
  TfxExprError error = { 0 };
  gboolean is_set = FALSE;

  if (!fault)
    change.parsed =
        gst_tfx_chain_reader_parse (text, folder, change.files, notes, &error);
  gst_tfx_chain_log_notes (self, notes);
  if (!change.parsed && error.code == -ENOMEM) {
    gst_tfx_chain_report_no_memory (self);
  } else {
    if (!change.parsed) {
      change.fault = fault ? fault : error.rendered;
      change.parsed = tfx_expr_empty ();
    }
    GST_DEBUG_OBJECT (self, "chain: %s", change.fault ? change.fault : text);
    is_set = gst_tfx_chain_replace (self, &change);
  }
  tfx_expr_free (&change.parsed);
  g_ptr_array_unref (change.files);
  if (is_set)
    gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (self));
  return is_set;
}

gboolean
gst_tfx_chain_set_text (GstTfxChain *self, const gchar *text)
{
  return gst_tfx_chain_take (self, text, NULL, NULL);
}

/* Stores the version of the file before it is read, so that a later save is noticed. */
static void
gst_tfx_chain_see_location (GstTfxChain *self, const gchar *location)
{
  GstTfxChainSeen *seen = gst_tfx_chain_seen_new (location);

  GST_OBJECT_LOCK (self);
  if (self->location && strcmp (self->location->path, location) == 0) {
    GstTfxChainSeen *old = self->location;

    self->location = seen;
    seen = old;
  }
  GST_OBJECT_UNLOCK (self);
  gst_tfx_chain_seen_free (seen);
}

void
gst_tfx_chain_set_file (GstTfxChain *self)
{
  GPtrArray *notes;
  gchar *location = NULL, *folder, *text, *fault = NULL;

  GST_OBJECT_LOCK (self);
  if (self->location)
    location = g_strdup (self->location->path);
  GST_OBJECT_UNLOCK (self);
  if (!location)
    return;
  gst_tfx_chain_see_location (self, location);
  notes = g_ptr_array_new_with_free_func (g_free);
  text = gst_tfx_chain_file_read (location, notes, &fault);
  gst_tfx_chain_log_notes (self, notes);
  folder = g_path_get_dirname (location);
  if (gst_tfx_chain_take (self, text ? text : "", folder, fault))
    gst_tfx_chain_notify_text (self);
  g_free (text);
  g_free (fault);
  g_free (folder);
  g_free (location);
}

void
gst_tfx_chain_read_again (GstTfxChain *self)
{
  gboolean is_in_file;
  gchar *text;

  GST_OBJECT_LOCK (self);
  is_in_file = self->folder != NULL;
  GST_OBJECT_UNLOCK (self);
  if (is_in_file) {
    gst_tfx_chain_set_file (self);
    return;
  }
  text = gst_tfx_chain_get_text (self);
  if (text && gst_tfx_chain_set_text (self, text))
    gst_tfx_chain_notify_text (self);
  g_free (text);
}

GPtrArray *
gst_tfx_chain_list_files (GstTfxChain *self)
{
  GPtrArray *files;

  GST_OBJECT_LOCK (self);
  files = g_ptr_array_copy (self->files, gst_tfx_chain_seen_copy, NULL);
  if (self->location && (self->folder || files->len == 0))
    g_ptr_array_insert (files, 0,
        gst_tfx_chain_seen_copy (self->location, NULL));
  GST_OBJECT_UNLOCK (self);
  return files;
}

void
gst_tfx_chain_init_text (GstTfxChain *self)
{
  self->text = g_strdup ("");
  self->files = g_ptr_array_new_with_free_func (gst_tfx_chain_seen_free);
  self->expr = gst_tfx_chain_expr_new (tfx_expr_empty ());
  self->stages = g_ptr_array_new_with_free_func (gst_object_unref);
}

gchar *
gst_tfx_chain_get_text (GstTfxChain *self)
{
  gchar *text;

  GST_OBJECT_LOCK (self);
  text = g_strdup (self->text);
  GST_OBJECT_UNLOCK (self);
  return text ? text : gst_tfx_chain_print (self);
}

gchar *
gst_tfx_chain_print (GstTfxChain *self)
{
  GstTfxChainExpr *expr = NULL;
  gchar *printed, *text;

  GST_OBJECT_LOCK (self);
  if (!self->fault)
    expr = gst_tfx_chain_expr_ref (self->expr);
  GST_OBJECT_UNLOCK (self);

  if (!expr)
    return NULL;
  printed = tfx_expr_print (expr->expr);
  text = g_strdup (printed);
  free (printed);
  gst_tfx_chain_expr_unref (expr);
  return text;
}

void
gst_tfx_chain_drop_stages (GstTfxChain *self)
{
  GPtrArray *stages;

  GST_OBJECT_LOCK (self);
  stages = self->stages;
  self->stages = g_ptr_array_new_with_free_func (gst_object_unref);
  for (guint i = 0; i < stages->len; i++)
    gst_tfx_chain_stage_retire (stages->pdata[i], self->expr);
  GST_OBJECT_UNLOCK (self);
  unparent_all (stages);
  g_ptr_array_unref (stages);
}

/* ---- parameters ---------------------------------------------------------------------- */

/* With the object lock held. */
static gboolean
gst_tfx_chain_has (GstTfxChain *self, GstTfxChainStage *stage)
{
  guint index = gst_tfx_chain_stage_get_index (stage);

  return index < self->stages->len && self->stages->pdata[index] == stage;
}

static guint64
gst_tfx_chain_get_stage_id (GstObject *chain, GstTfxChainStage *stage)
{
  GstTfxChain *self = GST_TFX_CHAIN (chain);
  guint64 id = 0;

  GST_OBJECT_LOCK (self);
  if (gst_tfx_chain_has (self, stage))
    id = tfx_expr_stage_id (self->expr->expr,
        gst_tfx_chain_stage_get_index (stage));
  GST_OBJECT_UNLOCK (self);
  return id;
}

static gboolean
gst_tfx_chain_get_param (GstObject *chain, GstTfxChainStage *stage, guint param,
    GstTfxChainParamPart part, GValue *value)
{
  GstTfxChain *self = GST_TFX_CHAIN (chain);
  const TfxParam *spec = &gst_tfx_chain_stage_get_klass (stage)->params[param];
  TfxValue now;
  gboolean has;

  GST_OBJECT_LOCK (self);
  has = gst_tfx_chain_has (self, stage);
  if (has) {
    tfx_expr_get (self->expr->expr, gst_tfx_chain_stage_get_index (stage),
        spec->name, &now);
    gst_tfx_chain_param_get (spec, part, &now, value);
  }
  GST_OBJECT_UNLOCK (self);
  return has;
}

/* With the object lock held.  TRUE if something has changed. */
static gboolean
gst_tfx_chain_change_param (GstTfxChain *self, GstTfxChainStage *stage,
    const TfxParam *spec, GstTfxChainParamPart part, const GValue *value,
    TfxFile *file, TfxExprError *error)
{
  guint index = gst_tfx_chain_stage_get_index (stage);
  gboolean changed = FALSE;
  TfxValue old, now;
  gdouble pair[2];
  TfxExpr *expr;

  tfx_expr_get (self->expr->expr, index, spec->name, &old);
  gst_tfx_chain_param_set (spec, part, &old, value, &now, pair);
  now.file = file;
  if (!tfx_value_equal (&old, &now)) {
    expr = gst_tfx_chain_expr_edit (&self->expr);
    if (!expr) {
      error->code = -ENOMEM;
      g_snprintf (error->message, sizeof error->message,
          "%s cannot be set: out of memory", spec->name);
    }
    changed = expr && tfx_expr_set (expr, index, spec->name, &now, error) == 0;
  }
  if (changed)
    g_clear_pointer (&self->text, g_free);
  gst_tfx_chain_param_clear (&now, pair);
  return changed;
}

/* Reads the file of a file name property; NULL with the error. */
static TfxFile *
gst_tfx_chain_read_param (GstTfxChain *self, const TfxParam *spec,
    const GValue *value, TfxExprError *error)
{
  const gchar *name = g_value_get_string (value);
  gchar why[TFX_FILE_WHY_SIZE];
  TfxFile *file;
  gchar *folder;

  GST_OBJECT_LOCK (self);
  folder = g_strdup (self->folder);
  GST_OBJECT_UNLOCK (self);
  file = gst_tfx_chain_reader_open (name ? name : "", folder, why);
  if (!file) {
    error->code = -ENOENT;
    g_snprintf (error->message, sizeof error->message, "%s: %s", spec->name,
        why);
  }
  g_free (folder);
  return file;
}

static gboolean
gst_tfx_chain_set_param (GstObject *chain, GstTfxChainStage *stage, guint param,
    GstTfxChainParamPart part, const GValue *value)
{
  GstTfxChain *self = GST_TFX_CHAIN (chain);
  gboolean by_hand = !gst_tfx_element_is_controlling (GST_TFX_ELEMENT (self));
  const TfxParam *spec = &gst_tfx_chain_stage_get_klass (stage)->params[param];
  TfxExprError error = { 0 };
  gboolean has, changed = FALSE;
  TfxFile *file = NULL;

  if (gst_tfx_chain_param_is_file (spec, part))
    file = gst_tfx_chain_read_param (self, spec, value, &error);
  GST_OBJECT_LOCK (self);
  has = gst_tfx_chain_has (self, stage);
  if (has && error.code == 0)
    changed = gst_tfx_chain_change_param (self, stage, spec, part, value, file,
        &error);
  GST_OBJECT_UNLOCK (self);
  tfx_file_unref (&file);

  if (error.code < 0 && by_hand)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("%s. The previous value stays in use.", error.message), (NULL));
  else if (error.code < 0)
    GST_WARNING_OBJECT (self, "%s", error.message);
  if (!changed)
    return has;

  gst_tfx_element_mark_dirty (GST_TFX_ELEMENT (self));
  /* A control binding notifies itself; it does not notify of the text. */
  if (by_hand) {
    gst_tfx_chain_stage_notify (stage, param);
    gst_tfx_chain_notify_text (self);
  }
  return TRUE;
}

static TfxStage *
gst_tfx_chain_make_stage (GstObject *chain, GstTfxChainStage *stage,
    gdouble *rate)
{
  GstTfxChain *self = GST_TFX_CHAIN (chain);
  GstTfxChainExpr *expr = NULL;
  TfxStage *made = NULL;
  gboolean has_stream;
  guint n_channels, index = 0;
  guint64 positions;

  has_stream = gst_tfx_element_get_stream (GST_TFX_ELEMENT (self), rate,
      &n_channels, &positions);
  GST_OBJECT_LOCK (self);
  if (gst_tfx_chain_has (self, stage)) {
    expr = gst_tfx_chain_expr_ref (self->expr);
    index = gst_tfx_chain_stage_get_index (stage);
  }
  GST_OBJECT_UNLOCK (self);
  if (!expr)
    return NULL;
  if (!has_stream)
    n_channels = tfx_expr_find_channels (expr->expr, 2, &positions);
  tfx_expr_build_stage (expr->expr, index, *rate, n_channels, positions, &made,
      NULL);
  gst_tfx_chain_expr_unref (expr);
  return made;
}

static const GstTfxChainStageValues stage_values = { gst_tfx_chain_set_param,
  gst_tfx_chain_get_param, gst_tfx_chain_get_stage_id,
  gst_tfx_chain_make_stage };
