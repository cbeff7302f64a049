/* SPDX-License-Identifier: LGPL-2.1-or-later
 * print.c: the canonical text of an expression, in one line.
 *
 * " | " and " + " separate stages, with parentheses around a sum in a series; "ch[0,
 * 1]: " precedes the chain of channels, "; " separates two.  The first required
 * parameters have no names; others have, and are left out if they have their
 * default. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "core/positions.h"
#include "error.h"

typedef struct Text
{
  char *bytes;
  size_t length, room;
  bool failed; /* memory was short */
} Text;

static void add (Text *text, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

static void
add (Text *text, const char *format, ...)
{
  for (int n = 0; !text->failed;) {
    const size_t left = text->room - text->length;
    va_list args;
    char *grown;

    va_start (args, format);
    n = vsnprintf (text->bytes ? text->bytes + text->length : NULL, left,
        format, args);
    va_end (args);
    if ((size_t)n < left) {
      text->length += (size_t)n;
      return;
    }
    text->room = 2 * (text->length + (size_t)n + 1);
    grown = realloc (text->bytes, text->room);
    text->failed = !grown;
    text->bytes = grown ? grown : text->bytes;
  }
}

/* As Python reads it.  Bytes that are not UTF-8, which names of files may have, are
 * escaped, so that the text is UTF-8. */
static void
add_string (Text *text, const char *string)
{
  size_t n = strlen (string), length;

  add (text, "'");
  for (const char *c = string; n > 0; c += length, n -= length) {
    const unsigned char byte = (unsigned char)*c;
    const size_t valid = tfx_error_sequence (c, n);

    length = valid ? valid : 1;
    if (*c == '\\' || *c == '\'')
      add (text, "\\%c", *c);
    else if (*c == '\n' || *c == '\t')
      add (text, *c == '\n' ? "\\n" : "\\t");
    else if (byte < 0x20 || byte == 0x7f || valid == 0)
      add (text, "\\x%02x", byte);
    else
      add (text, "%.*s", (int)length, c);
  }
  add (text, "'");
}

static void
add_value (Text *text, const TfxParam *param, const TfxValue *value)
{
  const size_t n_columns = value->n_columns;
  const char *call = NULL;

  switch (value->type) {
    case TFX_VALUE_NONE:
      add (text, "None");
      break;
    case TFX_VALUE_BOOL:
      add (text, value->number != 0.0 ? "True" : "False");
      break;
    case TFX_VALUE_NUMBER:
      if ((param->flags & TFX_PARAM_INFINITE) &&
          value->number == param->maximum)
        add (text, "inf");
      else
        add (text, "%s", TFX_NUMBER_TEXT (value->number));
      break;
    case TFX_VALUE_WORD:
      /* A word of the catalogue, or a note: it needs no escapes. */
      for (const TfxWord *w = param->words; w && w->word; w++)
        call = strcmp (w->word, value->word) == 0 ? w->call : call;
      add (text, call ? "%s" : "'%s'", call ? call : value->word);
      break;
    case TFX_VALUE_LIST:
      for (size_t i = 0; i < value->n_list; i++) {
        const bool is_row = n_columns > 0 && i % n_columns == 0;

        add (text, "%s%s%s%s", is_row && i > 0 ? "]" : "", i > 0 ? ", " : "[",
            is_row ? "[" : "", TFX_NUMBER_TEXT (value->list[i]));
      }
      add (text, n_columns > 0 ? "]]" : "]");
      break;
    case TFX_VALUE_TEXT:
      add_string (text, value->text);
      break;
  }
}

static bool
is_initial (const TfxNode *node, unsigned index)
{
  const TfxParam *param = &node->klass->params[index];

  return !(param->flags & TFX_PARAM_REQUIRED) &&
         tfx_value_equal (&node->values[index], &param->initial);
}

static void add_node (Text *text, const TfxNode *node, bool is_part);

/* A chain of a call, in parentheses if its first name would be read as a parameter. */
static void
add_chain (Text *text, const TfxClass *klass, const TfxNode *chain)
{
  const TfxNode *first = chain;
  bool is_param;

  while (first->kind != TFX_NODE_CALL && first->n_children > 0)
    first = first->children[0];
  is_param = first->is_named && tfx_class_find_param (klass, first->name) >= 0;
  if (first->kind != TFX_NODE_CALL) {
    add (text, "None");
    return;
  }
  add (text, is_param ? "(" : "");
  add_node (text, chain, !is_param && chain->kind == TFX_NODE_SPLIT);
  add (text, is_param ? ")" : "");
}

/* The values in use, so that the text is valid.  The number of a tuple, as in
 * ('kaiser', 8.6), is printed there. */
static void
add_call (Text *text, const TfxNode *call)
{
  const TfxClass *klass = call->klass;
  const char *separator = "";
  bool is_second[TFX_CLASS_MAX_PARAMS] = { false };
  TfxFittedNode fitted;
  const TfxNode *node = tfx_class_fit (call, &fitted, NULL);
  const unsigned first_chain =
      klass->chain_name ? klass->n_params : klass->n_positional;

  if (node->is_named)
    add (text, "%s=", node->name);
  add (text, "%s(", klass->name);
  for (unsigned i = 0; i < klass->n_params; i++) {
    if (klass->params[i].second)
      is_second[tfx_class_find_param (klass, klass->params[i].second)] = true;
  }
  for (unsigned i = 0; i <= klass->n_params; i++) {
    const TfxParam *param = &klass->params[i];
    bool is_tuple;
    int second;

    for (size_t k = 0; i == first_chain && k < node->n_children; k++) {
      add (text, "%s", separator);
      if (klass->chain_name)
        add (text, "%s=", klass->chain_name);
      separator = ", ";
      add_chain (text, klass, node->children[k]);
    }
    if (i == klass->n_params)
      break;
    second = param->second ? tfx_class_find_param (klass, param->second) : -1;
    is_tuple = second >= 0 && !is_initial (node, (unsigned)second);
    if (is_second[i] || (is_initial (node, i) && !is_tuple))
      continue;
    add (text, "%s", separator);
    separator = ", ";
    if (i >= klass->n_positional)
      add (text, "%s=", param->name);
    if (is_tuple)
      add (text, "(");
    add_value (text, param, &node->values[i]);
    if (is_tuple)
      add (text, ", %s)", TFX_NUMBER_TEXT (node->values[second].number));
  }
  add (text, ")");
}

/* "ch[0, 2, LFE]: " */
static void
add_channels (Text *text, const TfxNode *part)
{
  char names[TFX_POSITIONS_TEXT_SIZE];
  const char *separator = "ch[";

  for (uint64_t left = part->channels; left != 0; left &= left - 1) {
    add (text, "%s%d", separator, __builtin_ctzll (left));
    separator = ", ";
  }
  tfx_positions_print (part->positions, names);
  add (text, "%s%s]: ", part->positions ? separator : "", names);
}

static void
add_node (Text *text, const TfxNode *node, bool is_part)
{
  const bool is_split = node->kind == TFX_NODE_SPLIT;
  const char *separator = node->kind == TFX_NODE_SUM ? " + "
                          : is_split                 ? "; "
                                                     : " | ";

  if (node->kind == TFX_NODE_CALL) {
    add_call (text, node);
    return;
  }
  add (text, is_part ? "(" : "");
  for (size_t i = 0; i < node->n_children; i++) {
    const TfxNode *child = node->children[i];

    add (text, "%s", i > 0 ? separator : "");
    if (is_split)
      add_channels (text, child);
    add_node (text, child, !is_split || child->kind == TFX_NODE_SPLIT);
  }
  add (text, is_part ? ")" : "");
}

/* The channels of the part and of the parts around it, the outermost first. */
static void
add_parts (Text *text, const TfxNode *part)
{
  if (!part)
    return;
  add_parts (text, part->outer);
  add_channels (text, part);
}

/* The text, or NULL if memory was short. */
static char *
finish (Text *text)
{
  add (text, "%s", "");
  if (!text->failed)
    return text->bytes;
  free (text->bytes);
  return NULL;
}

char *
tfx_expr_print (const TfxExpr *expr)
{
  Text text = { 0 };

  add_node (&text, expr->root, false);
  return finish (&text);
}

char *
tfx_expr_print_stage (const TfxExpr *expr, size_t stage)
{
  Text text = { 0 };

  if (stage >= expr->n_stages)
    return NULL;
  add_call (&text, expr->stages[stage]);
  return finish (&text);
}

char *
tfx_expr_print_stage_channels (const TfxExpr *expr, size_t stage)
{
  Text text = { 0 };

  if (stage >= expr->n_stages)
    return NULL;
  add_parts (&text, tfx_node_part (expr->stages[stage]));
  return finish (&text);
}
