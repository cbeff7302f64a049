/* SPDX-License-Identifier: LGPL-2.1-or-later
 * parser.h: the tokens of a text, for whoever reads it. */
#ifndef TFX_LANG_PARSER_H
#define TFX_LANG_PARSER_H

#include "lexer.h"
#include "node.h"

typedef struct TfxParser TfxParser;

struct TfxParser
{
  TfxLexer lexer;
  TfxToken token;              /* the one ahead */
  TfxExprError *error;         /* never NULL */
  const TfxFileReader *reader; /* or NULL */
  size_t file_offset; /* where the file is named that is read; 0: none is */
  unsigned depth;     /* open brackets */
  bool has_thousands; /* the call has "1,500", which may be one number */
  unsigned n_stages;
  size_t n_names;
  const char *names[TFX_EXPR_MAX_STAGES]; /* the given ones, in the nodes */
  /* What the grammar reads a series by, for calls that stand elsewhere. */
  int (*parse_series) (TfxParser *parser, TfxNode **node);
};

/* Each returns 0, or the code of the error, which has its place. */
int tfx_parser_advance (TfxParser *parser);

/* A bracket is ahead: counts it.  What closes it counts depth down. */
int tfx_parser_enter (TfxParser *parser);

/* Adds the place to the error that is set; returns its code. */
int tfx_parser_fail_at (TfxParser *parser, size_t offset);

/* An error with its place; returns code. */
int tfx_parser_fail (TfxParser *parser, size_t offset, int code,
    const char *format, ...) __attribute__ ((format (printf, 4, 5)));

/* "expected ..., found the token ahead" */
int tfx_parser_fail_expected (TfxParser *parser, const char *expected);

#endif /* TFX_LANG_PARSER_H */
