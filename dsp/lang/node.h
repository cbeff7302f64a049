/* SPDX-License-Identifier: LGPL-2.1-or-later
 * node.h: the tree behind an expression. */
#ifndef TFX_LANG_NODE_H
#define TFX_LANG_NODE_H

#include "expr.h"

typedef enum
{
  TFX_NODE_CALL,
  TFX_NODE_SERIES, /* two children or more, none of them a series */
  TFX_NODE_SUM,    /* two children or more, none of them a sum */
  TFX_NODE_SPLIT   /* children with channels of their own */
} TfxNodeKind;

typedef struct TfxNode TfxNode;

/* A number that could not be met, as in TfxExprClamp. */
typedef struct TfxNodeClamp
{
  const char *param;
  int index;
  double asked, used, lowest, highest;
} TfxNodeClamp;

/* The stage of a call, kept for the next time that the call is built; shared by the
 * copies of an expression. */
typedef struct TfxNodeMade
{
  unsigned refs; /* atomic */
  TfxStage *stage;
  double rate_hz; /* it was made for */
  unsigned n_channels, n_room;
  size_t n_clamped;
  TfxNodeClamp clamped[];
} TfxNodeMade;

struct TfxNode
{
  TfxNodeKind kind;
  uint64_t id; /* of the stage that it becomes; a series becomes none */

  size_t index; /* among the calls, or the groups, of the expression */

  TfxNode **children;
  size_t n_children, room;
  /* Of a split's child, a part: its channels by number and by position, a bit for
   * each, and how many come to the split (0: those of the stream).  Else 0. */
  uint64_t channels, positions;
  unsigned n_whole;
  size_t channels_place; /* in the text that was read, from 1: of "ch[" */
  const TfxNode *outer;  /* the part that it is in, or NULL */

  /* A call: */
  const TfxClass *klass;
  TfxValue *values; /* [klass->n_params] */
  size_t place;     /* of its class, likewise */
  char name[TFX_EXPR_MAX_NAME + 1];
  bool is_named;      /* the name was given, not generated */
  unsigned n_fixed;   /* channels that come to it; 0: those of the stream */
  uint64_t *band_ids; /* [TFX_EXPR_MAX_BANDS], of a bank; else NULL */
  uint64_t serial;    /* a higher number for whatever was set later; 0: never */
  TfxNodeMade *made;  /* or NULL */
};

struct TfxExpr
{
  TfxNode *root;    /* NULL: no stages */
  TfxNode **stages; /* the calls, in the order of the text */
  size_t n_stages, n_groups;
  unsigned n_out, n_most; /* channels, see flow.h */
  uint64_t structure;     /* a number that a copy shares, until it is changed */
};

/* A call of a class with the defaults, or a group (klass NULL) without children; with
 * a new id.  NULL if memory is short. */
TfxNode *tfx_node_new (TfxNodeKind kind, const TfxClass *klass);

/* Takes child over, whatever comes of it; the children of one of the same
 * kind become children of node.  0 or -ENOMEM. */
int tfx_node_add (TfxNode *node, TfxNode *child);

/* The part that it is, or is in; NULL outside of splits. */
static inline const TfxNode *
tfx_node_part (const TfxNode *node)
{
  return node->channels || node->positions ? node : node->outer;
}

/* A new id, for another filter. */
void tfx_node_renew_id (TfxNode *node);

/* Keeps what it was made into, with a reference of its own; NULL: nothing, as it is
 * to become something else. */
void tfx_node_keep (TfxNode *node, TfxNodeMade *made);

/* Frees node and all below it; NULL is allowed. */
void tfx_node_free (TfxNode *node);

/* A copy with the same ids and names; NULL if memory is short. */
TfxNode *tfx_node_copy (const TfxNode *node);

bool tfx_node_equal (const TfxNode *a, const TfxNode *b);

/* Whether two calls have the same class and values. */
bool tfx_node_has_values_of (const TfxNode *a, const TfxNode *b);

/* What messages call a stage: "stage 'eq' (ParametricEQ)". */
#define TFX_NODE_THING_SIZE (2 * TFX_EXPR_MAX_NAME + 16)
void tfx_node_describe (const TfxNode *node, char thing[TFX_NODE_THING_SIZE]);

/* The expression of a tree, which it takes over, whatever comes of it: lists
 * the stages and generates the names that are missing.  NULL if memory is
 * short. */
TfxExpr *tfx_expr_new (TfxNode *root);

#endif /* TFX_LANG_NODE_H */
