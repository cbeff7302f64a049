/* SPDX-License-Identifier: LGPL-2.1-or-later
 * node.h: values, and the tree of calls behind an expression. */
#ifndef TFX_LANG_NODE_H
#define TFX_LANG_NODE_H

#include "expr.h"

/* ---- values -------------------------------------------------------------------- */

TfxValue tfx_value_number (double number);

/* The word of a value of that type, cut to its size, so that a longer one is unknown
 * to every parameter. */
void tfx_value_set_word (TfxValue *value, const char *word);

/* Frees what it owns; the value is None then. */
void tfx_value_clear (TfxValue *value);

/* Makes to, which owns nothing, a copy.  0 or -ENOMEM. */
int tfx_value_copy (TfxValue *to, const TfxValue *from);

/* Makes the value one that the parameter takes: an alias becomes its word, and None
 * the default where this is allowed.  thing is the parameter's owner in messages
 * ("HiButterworth").  0, -EINVAL, -ERANGE. */
int tfx_value_fit (TfxValue *value, const TfxParam *param, const char *thing,
    TfxExprError *error);

/* ---- numbers: decimal text, whatever the locale ---------------------------------- */

#define TFX_NUMBER_SIZE 40

/* The double nearest to a decimal number of C (digits, '.', exponent), if text is one
 * and nothing else.  False if it is not finite or memory is short. */
bool tfx_number_parse (const char *text, double *number);

/* Writes a finite number with the fewest digits that read back as the same double:
 * "1000", "0.1", "-2.5e-07".  Returns text. */
char *tfx_number_print (double number, char text[TFX_NUMBER_SIZE]);

/* The same, valid until the end of the enclosing block. */
#define TFX_NUMBER_TEXT(number)                                                \
  tfx_number_print (number, (char[TFX_NUMBER_SIZE]){ 0 })

/* ---- note values -------------------------------------------------------------------- */

/* Reads "n/d", "n/dd" (dotted: half as long again) or "n/dt" (triplet: three
 * in the time of two), n and d from 1 to 999, as a fraction of a whole note; or a
 * time such as "2.5ms" as seconds.  Leaves the other number alone. */
bool tfx_note_parse (const char *text, double *fraction, double *seconds);

/* ---- the tree -------------------------------------------------------------------- */

typedef enum
{
  TFX_NODE_CALL,   /* the children are its chains */
  TFX_NODE_SERIES, /* two children or more, or none; none of them a series */
  TFX_NODE_SUM,    /* two children or more, none of them a sum */
  TFX_NODE_SPLIT   /* children with channels of their own */
} TfxNodeKind;

typedef struct TfxNode TfxNode;

/* The stage of a call, kept for the next time that the call is built; shared by the
 * copies of an expression. */
typedef struct TfxNodeMade
{
  unsigned refs; /* atomic */
  TfxStage *stage;
  double rate_hz; /* it was made for */
  unsigned n_channels, n_room;
  uint64_t positions;
  size_t n_fits;
  TfxExprClamp fits[];
} TfxNodeMade;

struct TfxNode
{
  TfxNodeKind kind;
  uint64_t id;  /* of its stage; a series has none */
  size_t index; /* among the calls, or the groups, of the expression */

  TfxNode **children;
  size_t n_children, room;
  /* Of a part, which is a child of a split: its channels by number and by position, a
   * bit for each; and the inputs of the split, 0: those of the stream.  Else 0. */
  uint64_t channels, positions;
  unsigned n_whole;
  size_t channels_place; /* of "ch[" in the text, in bytes from 1 */
  const TfxNode *outer;  /* the part that it is in, or NULL */

  /* A call: */
  const TfxClass *klass;
  TfxValue *values; /* [klass->n_params] */
  size_t place;     /* of its class, likewise */
  char name[TFX_EXPR_MAX_NAME + 1];
  bool is_named;     /* the name was given, not generated */
  unsigned number;   /* of a generated one, and 1 */
  unsigned n_fixed;  /* input channels; 0: those of the stream */
  uint64_t serial;   /* a later set has a higher one; 0: never set */
  TfxNodeMade *made; /* or NULL */
  TfxNode *absorber; /* the call whose stage is made of this one, or NULL */
};

struct TfxExpr
{
  TfxNode *root;    /* a series without children if there are no stages */
  TfxNode **stages; /* the calls, in the order of the text */
  size_t n_stages, n_groups;
  unsigned n_out, n_most; /* channels, see tfx_flow_fix() */
  unsigned sum_depth;     /* levels of sums, splits and banks */
  uint64_t positions;     /* of all parts */
  uint64_t structure;     /* a number, equal in copies until it is changed */
};

/* A call of a class with the defaults, or a group (klass NULL) without children; with
 * a new id.  NULL if memory is short. */
TfxNode *tfx_node_new (TfxNodeKind kind, const TfxClass *klass);

/* Adds child, which it takes over even on failure; the children of a series in a series,
 * or of a sum in a sum, are added in its place.  0 or -ENOMEM. */
int tfx_node_add (TfxNode *node, TfxNode *child);

/* The node if it is a part, or the part around it; NULL outside of splits. */
static inline const TfxNode *
tfx_node_part (const TfxNode *node)
{
  return node->channels || node->positions ? node : node->outer;
}

/* Keeps the stage of the call, and adds a reference; NULL forgets it. */
void tfx_node_keep (TfxNode *node, TfxNodeMade *made);

/* Frees node and all below it; NULL is allowed. */
void tfx_node_free (TfxNode *node);

/* A copy with the same ids and names; NULL if memory is short. */
TfxNode *tfx_node_copy (const TfxNode *node);

bool tfx_node_equal (const TfxNode *a, const TfxNode *b);

/* Whether two calls have the same class and the same values of the parameters with
 * these flags. */
bool
tfx_node_has_values_of (const TfxNode *a, const TfxNode *b, unsigned flags);

/* The parameter that a misspelt one was meant to be; NULL: none is near. */
const char *tfx_class_suggest_param (const TfxClass *klass, const char *name);

/* The name of a stage in messages: "stage 'eq' (ParametricEQ)". */
#define TFX_NODE_THING_SIZE (2 * TFX_EXPR_MAX_NAME + 16)
void tfx_node_describe (const TfxNode *node, char thing[TFX_NODE_THING_SIZE]);

/* ---- channels ------------------------------------------------------------------
 * A Mix or a layout sets the number of channels after it, "ch[...]" that of its chain;
 * elsewhere it is that of the stream, written as 0.  The same number as the stream's has
 * its positions; in "ch[...]" they keep them; after a Mix that makes more or fewer there
 * are none. */

/* The input of an expression. */
typedef struct TfxFlow
{
  unsigned n_channels; /* 0: any number */
  uint64_t positions;  /* 0: none; or TFX_FLOW_ANY: all that the text names */
} TfxFlow;

#define TFX_FLOW_ANY UINT64_MAX

/* Sets n_fixed of all stages, and n_out and n_most of the expression: the number of
 * outputs, and the largest fixed number outside of "ch[...]". */
void tfx_flow_fix (TfxExpr *expr);

/* Whether all numbers fit each other.  0, or the code of the error. */
int tfx_flow_check (const TfxExpr *expr, const TfxFlow *stream,
    TfxExprError *error);

/* The positions of the input of a part's stages; outside of all parts (NULL), of
 * n_fixed channels (0: those of the stream). */
uint64_t tfx_flow_positions (const TfxNode *part, unsigned n_fixed,
    const TfxFlow *stream);

/* The channels of a part, a bit for each. */
uint64_t tfx_flow_channels (const TfxNode *part, const TfxFlow *stream);

/* ---- the whole ------------------------------------------------------------------ */

/* Makes an expression of a tree, which it takes over even on failure: lists the stages
 * and generates missing names.  NULL if memory is short. */
TfxExpr *tfx_expr_new (TfxNode *root);

#endif /* TFX_LANG_NODE_H */
