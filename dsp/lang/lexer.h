/* SPDX-License-Identifier: LGPL-2.1-or-later
 * lexer.h: reading a text: its tokens, the errors at their places, the arguments of a
 * call, and errors that know better. */
#ifndef TFX_LANG_LEXER_H
#define TFX_LANG_LEXER_H

#include "node.h"

typedef enum
{
  TFX_TOKEN_END,
  TFX_TOKEN_NAME,
  TFX_TOKEN_NUMBER,
  TFX_TOKEN_STRING,
  /* One character each, in length 1. */
  TFX_TOKEN_PIPE,
  TFX_TOKEN_PLUS,
  TFX_TOKEN_MINUS,
  TFX_TOKEN_OPEN,
  TFX_TOKEN_CLOSE,
  TFX_TOKEN_OPEN_LIST,
  TFX_TOKEN_CLOSE_LIST,
  TFX_TOKEN_COMMA,
  TFX_TOKEN_EQUALS,
  TFX_TOKEN_DOT,
  TFX_TOKEN_OPERATOR /* one of Python's that the language lacks */
} TfxTokenType;

typedef struct TfxToken
{
  TfxTokenType type;
  size_t offset, length; /* in the text */
  double number;
  /* A name, or a string with its escapes resolved, cut to this size. */
  char string[TFX_EXPR_MAX_NAME + 1];
  size_t n_string; /* bytes of the whole string */
} TfxToken;

/* A copy of a lexer reads ahead; with another error or NULL, without an effect. */
typedef struct TfxLexer
{
  const char *text;
  size_t length, at;
  TfxToken token; /* the current one */
  unsigned depth; /* open brackets */
  /* The first error: later ones are ignored, and all tokens are the end. */
  TfxExprError *error; /* or NULL */
  int code;            /* 0: none yet */
} TfxLexer;

/* Begins at the first token. */
void tfx_lexer_init (TfxLexer *lexer, const char *text, size_t length,
    TfxExprError *error);

void tfx_lexer_next (TfxLexer *lexer);

/* Moves on if the current token has this type. */
bool tfx_lexer_accept (TfxLexer *lexer, TfxTokenType type);

/* Whether it is this character, one that the language lacks. */
bool tfx_lexer_is_mark (const TfxLexer *lexer, char mark);

/* Moves on over an opening bracket, and counts it; depth is counted down where it is
 * closed. */
void tfx_lexer_enter (TfxLexer *lexer);

/* The whole string of a token, for free(); NULL with an error if memory is short. */
char *tfx_lexer_copy_string (TfxLexer *lexer, const TfxToken *token);

/* Sets the error at byte offset of the text. */
void tfx_lexer_fail (TfxLexer *lexer, size_t offset, int code,
    const char *format, ...) __attribute__ ((format (printf, 4, 5)));

/* Without a place. */
void tfx_lexer_fail_no_memory (TfxLexer *lexer);

/* "expected ..., found" the current token */
void tfx_lexer_fail_expected (TfxLexer *lexer, const char *expected);

/* Gives its place to the error with this code that another function has set; code
 * may be 0. */
void tfx_lexer_place (TfxLexer *lexer, size_t offset, int code);

/* The message for "Hz" after a number. */
#define TFX_LEXER_NO_UNIT                                                      \
  "numbers are written without a unit or suffix (each parameter has its "      \
  "unit: Hz, dB, s or samples)"

/* Whether the name is one of the words, which spaces separate. */
bool tfx_lexer_is_word (const char *name, const char *words);

/* The classes of <ctype.h> depend on the locale; these do not. */
static inline bool
tfx_lexer_is_digit (int c)
{
  return c >= '0' && c <= '9';
}

static inline bool
tfx_lexer_is_letter (int c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static inline bool
tfx_lexer_is_space (int c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- calls (arguments.c) --------------------------------------------------------- */

/* Skips "fx.filter." of a name, its current token; *name becomes the last part. */
void tfx_lexer_skip_prefix (TfxLexer *lexer, TfxToken *name);

/* Reads a chain that is an argument; NULL or a part of it after an error. */
typedef TfxNode *(*TfxArgumentsChain) (void *data);

/* Reads the arguments from "(" to ")" into the values and chains of a new call, and
 * checks that all required ones are there.  name is the class in the text, files reads
 * the files or is NULL, read_chain the chains.  *has_thousands: the call has "1,500",
 * which may be one number. */
void tfx_arguments_read (TfxLexer *lexer, TfxNode *call, const TfxToken *name,
    const TfxFileReader *files, TfxArgumentsChain read_chain, void *data,
    bool *has_thousands);

/* At "(": refuses the name of a file without quotes, which would be the first
 * parameter, of that name. */
void tfx_arguments_check_file_name (TfxLexer *lexer, const char *klass,
    const char *param);

/* ---- names of other programs and of TorchFX (hints.c) ------------------------------ */

/* Why a class of TorchFX is not in the catalogue; NULL: it is unknown. */
const char *tfx_hints_absent (const char *name);

/* Sets the error for a class that the catalogue lacks, with the reason or the class
 * that was meant, without a place; returns its code. */
int tfx_hints_refuse_class (const char *name, TfxExprError *error);

/* text[length] begins with a name where a stage is expected.  Sets an error and
 * returns its code if this is a filter of FFmpeg or SoX, a line of Equalizer APO, or
 * the name of a channel; the message has the translation if there is one.  Else
 * returns 0; no valid chain is refused. */
int
tfx_hints_refuse_text (const char *text, size_t length, TfxExprError *error);

/* The part of it for FFmpeg and SoX (translate.c). */
int tfx_translate_refuse (const char *text, size_t length, TfxExprError *error);

#endif /* TFX_LANG_LEXER_H */
