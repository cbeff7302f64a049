/* SPDX-License-Identifier: LGPL-2.1-or-later
 * print.c: the canonical text of an expression.
 *
 * One line; " | " and " + " between stages, a sum within a series in
 * parentheses; "ch[0, 1]: " in front of the chain of channels, "; " between two; the leading required parameters by position, the others by
 * name and only where they differ from their default. */
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "error.h"
#include "value.h"

typedef struct Text
{
  char *bytes;
  size_t length, room;
  bool failed; /* memory was short */
} Text;

static void
add_bytes (Text *text, const char *bytes, size_t n)
{
  if (text->failed)
    return;
  if (text->room - text->length < n + 1) {
    size_t room = 2 * (text->length + n + 1);
    char *grown = realloc (text->bytes, room);

    if (!grown) {
      text->failed = true;
      return;
    }
    text->bytes = grown;
    text->room = room;
  }
  memcpy (text->bytes + text->length, bytes, n);
  text->length += n;
  text->bytes[text->length] = '\0';
}

static void
add (Text *text, const char *string)
{
  add_bytes (text, string, strlen (string));
}

static void
add_number (Text *text, double number)
{
  char digits[TFX_NUMBER_SIZE];

  tfx_number_print (number, digits);
  add (text, digits);
}

static void
add_row (Text *text, const double *numbers, size_t n)
{
  add (text, "[");
  for (size_t i = 0; i < n; i++) {
    if (i > 0)
      add (text, ", ");
    add_number (text, numbers[i]);
  }
  add (text, "]");
}

static void
add_list (Text *text, const TfxValue *value)
{
  const size_t n = value->n_columns;

  if (n == 0) {
    add_row (text, value->list, value->n_list);
    return;
  }
  add (text, "[");
  for (size_t i = 0; i < value->n_list; i += n) {
    if (i > 0)
      add (text, ", ");
    add_row (text, value->list + i, n);
  }
  add (text, "]");
}

/* Words are the catalogue's or note values: they need no escapes. */
static void
add_word (Text *text, const TfxParam *param, const char *word)
{
  for (const TfxWord *w = param->words; w && w->word; w++) {
    if (w->call && strcmp (w->word, word) == 0) {
      add (text, w->call);
      return;
    }
  }
  add (text, "'");
  add (text, word);
  add (text, "'");
}

/* As Python reads it.  Bytes that are not UTF-8, which names of files may have, are
 * escaped, so that the text is UTF-8. */
static void
add_string (Text *text, const char *string)
{
  static const char digits[] = "0123456789abcdef";
  size_t n = strlen (string), length;

  add (text, "'");
  for (const char *c = string; n > 0; c += length, n -= length) {
    const unsigned char byte = (unsigned char)*c;
    const char hex[] = { '\\', 'x', digits[byte >> 4], digits[byte & 15] };
    const size_t valid = tfx_error_sequence (c, n);

    length = valid ? valid : 1;
    if (*c == '\\' || *c == '\'')
      add (text, *c == '\\' ? "\\\\" : "\\'");
    else if (*c == '\n' || *c == '\t')
      add (text, *c == '\n' ? "\\n" : "\\t");
    else if (byte < 0x20 || byte == 0x7f || valid == 0)
      add_bytes (text, hex, sizeof hex);
    else
      add_bytes (text, c, length);
  }
  add (text, "'");
}

static void
add_value (Text *text, const TfxParam *param, const TfxValue *value)
{
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
        add_number (text, value->number);
      break;
    case TFX_VALUE_WORD:
      add_word (text, param, value->word);
      break;
    case TFX_VALUE_LIST:
      add_list (text, value);
      break;
    case TFX_VALUE_TEXT:
      add_string (text, value->text);
      break;
  }
}

static bool
is_initial (const TfxNode *node, int index)
{
  const TfxParam *param = &node->klass->params[index];

  return !(param->flags & TFX_PARAM_REQUIRED) &&
         tfx_value_equal (&node->values[index], &param->initial);
}

/* The number that a tuple gives along with a word: the index of its parameter,
 * or -1 if it has its default or there is no such parameter. */
static int
find_second (const TfxNode *node, unsigned index)
{
  const char *second = node->klass->params[index].second;
  int found = second ? tfx_class_find_param (node->klass, second) : -1;

  return found >= 0 && !is_initial (node, found) ? found : -1;
}

/* Whether a tuple gives it along. */
static bool
is_second (const TfxClass *klass, unsigned index)
{
  bool found = false;

  for (unsigned i = 0; i < klass->n_params; i++)
    found = found ||
            (klass->params[i].second && strcmp (klass->params[i].second,
                                            klass->params[index].name) == 0);
  return found;
}

static void
add_argument (Text *text, const TfxNode *node, unsigned index)
{
  const TfxParam *param = &node->klass->params[index];
  int second = find_second (node, index);

  if (index >= node->klass->n_positional) {
    add (text, param->name);
    add (text, "=");
  }
  if (second >= 0)
    add (text, "(");
  add_value (text, param, &node->values[index]);
  if (second >= 0) {
    add (text, ", ");
    add_number (text, node->values[second].number);
    add (text, ")");
  }
}

/* What is used of it, so that it can be read again. */
static void
add_call (Text *text, const TfxNode *call)
{
  const TfxClass *klass = call->klass;
  const char *separator = "";
  TfxFittedNode fitted;
  const TfxNode *node = tfx_class_fit (call, &fitted, NULL);

  if (node->is_named) {
    add (text, node->name);
    add (text, "=");
  }
  add (text, klass->name);
  add (text, "(");
  for (unsigned i = 0; i < klass->n_params; i++) {
    if (is_second (klass, i) ||
        (is_initial (node, (int)i) && find_second (node, i) < 0))
      continue;
    add (text, separator);
    separator = ", ";
    add_argument (text, node, i);
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
    add (text, separator);
    add_number (text, __builtin_ctzll (left));
    separator = ", ";
  }
  if (part->positions)
    add (text, separator);
  tfx_positions_print (part->positions, names);
  add (text, names);
  add (text, "]: ");
}

static const char *
separator_of (TfxNodeKind kind)
{
  return kind == TFX_NODE_SUM ? " + " : kind == TFX_NODE_SPLIT ? "; " : " | ";
}

static void
add_node (Text *text, const TfxNode *node, bool is_part)
{
  if (node->kind == TFX_NODE_CALL) {
    add_call (text, node);
    return;
  }
  if (is_part)
    add (text, "(");
  for (size_t i = 0; i < node->n_children; i++) {
    const TfxNode *child = node->children[i];
    const bool is_split = node->kind == TFX_NODE_SPLIT;

    if (i > 0)
      add (text, separator_of (node->kind));
    if (is_split)
      add_channels (text, child);
    add_node (text, child, !is_split || child->kind == TFX_NODE_SPLIT);
  }
  if (is_part)
    add (text, ")");
}

/* The text, or NULL if memory was short. */
static char *
finish (Text *text)
{
  if (!text->failed)
    return text->bytes;
  free (text->bytes);
  return NULL;
}

char *
tfx_expr_print (const TfxExpr *expr)
{
  Text text = { 0 };

  add (&text, "");
  if (expr->root)
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

static bool
contains (const TfxNode *node, const TfxNode *call)
{
  bool is_in = node == call;

  for (size_t i = 0; i < node->n_children && !is_in; i++)
    is_in = contains (node->children[i], call);
  return is_in;
}

static void
add_place (Text *text, const TfxNode *node, const TfxNode *call)
{
  for (size_t i = 0; i < node->n_children; i++) {
    const TfxNode *child = node->children[i];

    if (!contains (child, call))
      continue;
    if (node->kind == TFX_NODE_SPLIT)
      add_channels (text, child);
    add_place (text, child, call);
  }
}

char *
tfx_expr_print_stage_channels (const TfxExpr *expr, size_t stage)
{
  Text text = { 0 };

  if (stage >= expr->n_stages)
    return NULL;
  add (&text, "");
  add_place (&text, expr->root, expr->stages[stage]);
  return finish (&text);
}
