/* SPDX-License-Identifier: LGPL-2.1-or-later
 * expr.h: the chain language: text to expression, expression to chain.
 *
 *   HiButterworth(80, order=4) | eq=ParametricEQ(1000, q=2, gain=3)
 *     | (LoChebyshev1(5000) + Gain(-6, gain_type='db'))
 *
 * "|" puts stages in series; "+" adds branches and binds tighter, as in
 * Python; parentheses group; "ch[0]: ...; ch[1, LFE]: ..." at the start of the text
 * or behind a "(" gives channels chains of their own, and leaves others as they
 * are; "name=" in front of a call names the stage.  A
 * call is a class of the catalogue with positional and keyword arguments:
 * numbers, strings, True, False, None, lists and tuples; where it takes a file,
 * a string is its name.  A module prefix such
 * as "fx.filter." is skipped.  White space, newlines and comments are free, as
 * inside the parentheses of a Python expression.  An empty text is an
 * expression without stages, which changes nothing.
 *
 * For example, the chain of a text whose stage "eq" gets another gain:
 *
 *   int
 *   build (const char *text, TfxChain **chain)
 *   {
 *     TfxExprError error;
 *     TfxExpr *expr = tfx_expr_parse (text, strlen (text), &error);
 *     int ret = expr ? tfx_expr_find (expr, "eq") : error.code;
 *
 *     if (!expr)
 *       fprintf (stderr, "%s\n", error.rendered);
 *     if (ret >= 0)
 *       ret = tfx_expr_set_number (expr, (size_t)ret, "gain", 0, -3.0, NULL);
 *     if (ret == 0)
 *       ret = tfx_expr_build (expr, 48000.0, 2, NULL, NULL, chain, NULL);
 *     tfx_expr_free (&expr);
 *     return ret;
 *   }
 *
 * A TfxExpr belongs to one thread at a time; the catalogue is static and free
 * for all.  Functions return 0 or a negative errno value unless they say
 * otherwise.  A TfxExprError argument may be NULL; it is written only when a
 * function fails.  The locale plays no part in reading and writing numbers.
 */
#ifndef TFX_LANG_EXPR_H
#define TFX_LANG_EXPR_H

#include "design/svf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- bounds -------------------------------------------------------------- */

/* What a text may hold.  More is refused with a message, so that no text takes
 * more than a few megabytes, or to read it more than a tenth of a second.  (To
 * build the longest kernels takes up to seconds.) */
#define TFX_EXPR_MAX_TEXT (1u << 20) /* bytes */
#define TFX_EXPR_MAX_STAGES 1024u    /* calls */
#define TFX_EXPR_MAX_DEPTH 64u       /* parentheses within parentheses */
#define TFX_EXPR_MAX_NAME 63u        /* bytes of a name or a word */
#define TFX_EXPR_MAX_LIST 65536u     /* numbers in a list */
#define TFX_EXPR_MAX_BANDS 256u      /* bands of one filter bank */
#define TFX_EXPR_MAX_ECHOES 1024u    /* taps of one Delay */
/* What the stages of one expression may hold in all. */
#define TFX_EXPR_MAX_SECTIONS 16384u   /* second-order sections */
#define TFX_EXPR_MAX_TAPS (1u << 20)   /* FIR taps */
#define TFX_EXPR_MAX_DELAY (1u << 24)  /* frames of delay */
#define TFX_EXPR_MAX_ALL_ECHOES 16384u /* taps of all delays */

/* ---- errors ---------------------------------------------------------------- */

typedef struct TfxExprError
{
  int code;              /* the negative errno value */
  unsigned line, column; /* from 1, in characters; 0: no place in a text */
  size_t place; /* that of the stage in the text that was read, from 1; or 0 */
  char message[320]; /* one sentence: the thing, the value, the range */
  /* The message after its place, the line of the text and a caret below it;
   * only the message if there is no place. */
  char rendered[768];
} TfxExprError;

/* ---- values ----------------------------------------------------------------- */

/* A set: a parameter may take values of several types. */
typedef enum
{
  TFX_VALUE_NONE = 1 << 0,   /* Python's None: not given */
  TFX_VALUE_BOOL = 1 << 1,   /* number is 0 or 1 */
  TFX_VALUE_NUMBER = 1 << 2, /* number, finite */
  TFX_VALUE_WORD = 1 << 3,   /* word, one of the parameter's words */
  TFX_VALUE_LIST = 1 << 4,   /* list[n_list], finite */
  TFX_VALUE_TEXT = 1 << 5    /* text, the name of a file; and the file */
} TfxValueType;

#define TFX_VALUE_WORD_SIZE 40

typedef struct TfxValue
{
  TfxValueType type;
  double number;
  char word[TFX_VALUE_WORD_SIZE]; /* closed by a NUL */
  double *list;                   /* whose it is, each function says */
  size_t n_list;
  size_t n_columns;     /* of a list in rows; else 0 */
  char *text;           /* closed by a NUL; whose it is, as with list */
  struct TfxFile *file; /* NULL: nobody has read it; a reference, likewise */
} TfxValue;

bool tfx_value_equal (const TfxValue *a, const TfxValue *b);

/* ---- the catalogue ------------------------------------------------------------ */

typedef enum
{
  TFX_PARAM_REQUIRED = 1 << 0,      /* has no default */
  TFX_PARAM_INTEGER = 1 << 1,       /* a whole number */
  TFX_PARAM_ABOVE_MINIMUM = 1 << 2, /* the minimum itself is no valid value */
  TFX_PARAM_BELOW_MAXIMUM = 1 << 3, /* nor is the maximum */
  TFX_PARAM_FREQUENCY = 1 << 4,     /* in Hz, and below half the sample rate */
  TFX_PARAM_KEYWORD = 1 << 5,       /* may not be given by position */
  TFX_PARAM_STREAM = 1 << 6,        /* comes from the stream: not for a user */
  TFX_PARAM_NONE_IS_DEFAULT = 1 << 7, /* None may stand for the default */
  /* Another value makes another filter: the state of the old one means nothing
   * to it, so the stage gets a new id. */
  TFX_PARAM_STRUCTURE = 1 << 8,
  /* How large it may be depends on another parameter, too: the maximum is the
   * largest that it can be. */
  TFX_PARAM_DEPENDENT = 1 << 9,
  /* A list in rows of any one length. */
  TFX_PARAM_ROWS = 1 << 10,
  /* Its maximum stands for infinity, and is written inf. */
  TFX_PARAM_INFINITE = 1 << 11,
  /* Another parameter says in what unit: each unit has its own range, which the class
   * checks. */
  TFX_PARAM_SCALED = 1 << 12
} TfxParamFlags;

/* A word that a parameter takes.  Its aliases mean the same; call is the form
 * of a Python object without arguments, printed in the place of the word. */
typedef struct TfxWord
{
  const char *word;
  const char *aliases[6]; /* up to a NULL */
  const char *call;       /* or NULL */
} TfxWord;

typedef struct TfxParam
{
  const char *name;
  unsigned types;            /* a set of TfxValueType */
  unsigned flags;            /* a set of TfxParamFlags */
  const char *unit;          /* "Hz", "dB", "samples", ... or "" */
  double minimum, maximum;   /* of a number, or of each number of a list */
  size_t min_list, max_list; /* length of a list */
  const TfxWord *words;      /* up to one whose word is NULL; or NULL */
  TfxValue initial;          /* the default; a list never is one */
  const char *doc;           /* one line */
  /* The parameter whose number a tuple of a word and a number gives along, as
   * in window=('kaiser', 8.6); or NULL */
  const char *second;
  /* A list in rows of so many numbers, [[…], […]]; 0: one row alone. */
  size_t n_columns;
} TfxParam;

/* What a class becomes. */
typedef enum
{
  TFX_CLASS_SECTIONS,
  TFX_CLASS_GAIN,
  TFX_CLASS_FIR,
  TFX_CLASS_DELAY,
  TFX_CLASS_DYNAMICS,
  TFX_CLASS_REVERB,
  TFX_CLASS_MIX,
  TFX_CLASS_BANK /* a sum of branches */
} TfxClassKind;

#define TFX_CLASS_MAX_PARAMS 9

typedef struct TfxClassOps TfxClassOps;

typedef struct TfxClass
{
  const char *name;
  const char *aliases[3]; /* up to a NULL */
  TfxClassKind kind;
  unsigned n_positional;  /* how many arguments are printed by position */
  const TfxParam *params; /* in the order of positional arguments, those by
                           * keyword alone last */
  unsigned n_params;
  const char *doc;     /* one line */
  const char *example; /* a call that reads without an error */
  const TfxClassOps *ops;
  int variant, mode; /* what tells the classes with the same ops apart */
} TfxClass;

/* The classes in the order of the documentation. */
size_t tfx_catalogue_n_classes (void);
const TfxClass *tfx_catalogue_class (size_t index);

/* By name or alias, NULL if there is none. */
const TfxClass *tfx_catalogue_find (const char *name);

/* The index of a parameter, or -ENOENT. */
int tfx_class_find_param (const TfxClass *klass, const char *name);

/* ---- files ---------------------------------------------------------------------
 * A text names files that others read: there are no sound files in here. */

/* Room for why something is not to be had from a file: one sentence without a stop
 * at its end. */
#define TFX_FILE_WHY_SIZE 320

/* An impulse response for a stream: taps[n_kernels][n_taps], from malloc(); time 0
 * is at taps[beginning]. */
typedef struct TfxImpulse
{
  double *taps;
  unsigned n_kernels; /* 1 for all channels, or one for each */
  size_t n_taps, beginning;
} TfxImpulse;

/* The frame with the largest magnitude in any channel. */
size_t tfx_impulse_find_peak (const TfxImpulse *impulse);

/* The impulse response in a file, as it was when it was read: whoever reads files
 * begins a struct of his own with it.  Immutable; any thread. */
typedef struct TfxFile
{
  int refs;            /* atomic; 1 at first */
  unsigned n_channels; /* in the file */
  size_t n_frames;
  double rate_hz; /* 0: that of the stream, whatever it is */

  void (*free) (struct TfxFile *file);
  /* Whether another one of the same kind has the same samples. */
  bool (*is_same) (const struct TfxFile *a, const struct TfxFile *b);
  /* For a stream of so many channels, of one channel of the file alone unless
   * channel is -1.  0, or a negative errno value with why not. */
  int (*fit) (const struct TfxFile *file, double rate_hz, unsigned n_channels,
      int channel, TfxImpulse *impulse, char why[TFX_FILE_WHY_SIZE]);
} TfxFile;

TfxFile *tfx_file_ref (TfxFile *file);
void tfx_file_unref (TfxFile **file); /* a NULL is allowed */

/* Reads what a text names.  Both return NULL with why not. */
typedef struct TfxFileReader
{
  void *data;
  TfxFile *(*open_impulse) (void *data, const char *name,
      char why[TFX_FILE_WHY_SIZE]);
  /* Filter settings as a chain of calls, from malloc(). */
  char *(*read_settings) (void *data, const char *name,
      char why[TFX_FILE_WHY_SIZE]);
} TfxFileReader;

/* ---- expressions ----------------------------------------------------------- */

typedef struct TfxExpr TfxExpr;

/* Reads text[length].  NULL if it is wrong, with the error.  An impulse response
 * that it names stays unread: to build its stage is an error. */
TfxExpr *tfx_expr_parse (const char *text, size_t length, TfxExprError *error);

/* The same with what is in the files that it names.  An error of these has the
 * place of the name. */
TfxExpr *tfx_expr_parse_with_files (const char *text, size_t length,
    const TfxFileReader *reader, TfxExprError *error);

/* Gives an error of an expression its place in the text that it was read from, if it
 * has one. */
void
tfx_expr_place_error (TfxExprError *error, const char *text, size_t length);

/* The expression without stages.  It takes no memory, so it is never short of
 * any: there is one for all, and to free it changes nothing.  Any thread. */
TfxExpr *tfx_expr_empty (void);

/* The same stages with the same ids; NULL if memory is short. */
TfxExpr *tfx_expr_copy (const TfxExpr *expr);

/* Frees the expression, clears the caller's pointer; NULL there is allowed. */
void tfx_expr_free (TfxExpr **expr);

/* The same stages with the same given names and values in the same order. */
bool tfx_expr_equal (const TfxExpr *a, const TfxExpr *b);

/* The canonical text, to be freed by free(); NULL if memory is short.  It is
 * one line, reads back as an equal expression, and pastes into a TorchFX
 * program (but for "name=").  Values that are the default are left out. */
char *tfx_expr_print (const TfxExpr *expr);
/* The same of one stage alone; NULL also if there is no such stage. */
char *tfx_expr_print_stage (const TfxExpr *expr, size_t stage);
/* "ch[0]: " if the stage is for those channels alone, else "". */
char *tfx_expr_print_stage_channels (const TfxExpr *expr, size_t stage);

/* ---- stages -------------------------------------------------------------------
 * The calls of the text, in its order.  A stage without a given name has a
 * generated one: its class in lower case and a number, "parametriceq0". */

size_t tfx_expr_n_stages (const TfxExpr *expr);

/* Valid as long as the expression. */
const char *tfx_expr_stage_name (const TfxExpr *expr, size_t stage);
/* Whether the name was given in the text. */
bool tfx_expr_stage_is_named (const TfxExpr *expr, size_t stage);
const TfxClass *tfx_expr_stage_class (const TfxExpr *expr, size_t stage);
uint64_t tfx_expr_stage_id (const TfxExpr *expr, size_t stage);

/* The stage of that name, or -ENOENT. */
int tfx_expr_find (const TfxExpr *expr, const char *name);

/* ---- parameters ---------------------------------------------------------------- */

/* The value of a parameter of a stage; its list stays the expression's, valid
 * until the next set.  -EINVAL if there is no such stage, -ENOENT if it has no
 * such parameter. */
int tfx_expr_get (const TfxExpr *expr, size_t stage, const char *param,
    TfxValue *value);

/* Sets a parameter; a list is copied.  -ENOENT, -EINVAL for a wrong type or
 * word, -ERANGE for a value out of range, or -ENOMEM, the expression is then as
 * before.  Parameters that must fit each other (btype='bandpass' and a cutoff
 * of two edges) are looked at when the chain is built, so that they can be set
 * one after the other.  So is a whole number whose range another parameter says
 * (order, by order_scale): the nearest one that works then stands in for it, and
 * is what is printed. */
int tfx_expr_set (TfxExpr *expr, size_t stage, const char *param,
    const TfxValue *value, TfxExprError *error);

/* The same for one number: the number itself (index 0), or an element of the
 * list that the parameter has.  For properties that are automated. */
int tfx_expr_get_number (const TfxExpr *expr, size_t stage, const char *param,
    size_t index, double *number);
int tfx_expr_set_number (TfxExpr *expr, size_t stage, const char *param,
    size_t index, double number, TfxExprError *error);

/* The same for a word, as text. */
int tfx_expr_set_word (TfxExpr *expr, size_t stage, const char *param,
    const char *word, TfxExprError *error);

/* ---- channels -------------------------------------------------------------------
 * A Mix may make more or fewer channels than come to it. */

#define TFX_EXPR_MAX_CHANNELS 64u /* of a Mix, and of "ch[...]" */

/* The number of channels that must come in, where the number that comes out is
 * fixed; 0: any. */
unsigned tfx_expr_n_inputs (const TfxExpr *expr);

/* As many as can come in, at least so many if any number can; that if none can.
 * positions: a set of as many that has those that the expression names, 0 if it names
 * none. */
unsigned tfx_expr_find_channels (const TfxExpr *expr, unsigned least,
    uint64_t *positions);

/* How many channels come out where n_channels come in, and the most that there are
 * on the way: what a chain is built for. */
void tfx_expr_channels (const TfxExpr *expr, unsigned n_channels,
    unsigned *n_out, unsigned *n_most);

/* ---- building --------------------------------------------------------------------- */

/* A number that cannot be met at this rate, or with the other parameters of its
 * stage, and the nearest one that can, which stands in for it. */
typedef struct TfxExprClamp
{
  const char *stage; /* its name */
  const char *param, *unit;
  int index; /* in the parameter's list; -1: the parameter is the number */
  double asked, used;
  double lowest, highest; /* what can be met at present */
  /* What the number must be, whatever the rate is: a static text that begins
   * with "must"; or NULL. */
  const char *because;
  const char *message; /* all of this in a sentence */
} TfxExprClamp;

/* Called for each of them; clamped is valid until it returns. */
typedef void (*TfxExprReport) (const TfxExprClamp *clamped, void *data);

/* Whether the parameters of each stage fit each other, at any rate. */
int tfx_expr_check (const TfxExpr *expr, TfxExprError *error);

/* The chain at a rate, for a number of channels without positions that come in; it
 * is one for filters of the most channels that tfx_expr_channels() says.  A
 * frequency that the rate does not allow, or an order out of its range, is replaced
 * and reported (report may be NULL).  -EINVAL, -ERANGE or -ENOMEM. */
int tfx_expr_build (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    TfxExprReport report, void *data, TfxChain **chain, TfxExprError *error);

/* The same for channels at these positions, as many as n_channels, or none.  Where as
 * many channels come to a stage as to the chain they are at the same ones; where a Mix
 * has made more or fewer they have none. */
int tfx_expr_build_at (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions, TfxExprReport report, void *data, TfxChain **chain,
    TfxExprError *error);

/* One of its stages alone, in the same way. */
int tfx_expr_build_stage (const TfxExpr *expr, size_t stage, double rate_hz,
    unsigned n_channels, uint64_t positions, TfxStage **made,
    TfxExprError *error);

/* What there is to be designed before the chain is there: second-order sections
 * and FIR taps of the stages that are not prepared. */
void tfx_expr_effort (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    size_t *n_sections, size_t *n_taps);

/* Designs the stages and keeps them, so that tfx_expr_build() finds them done;
 * what is set, or adopted, is to be designed again.  A copy of the expression
 * has them too.  Stages that cannot be made are left for tfx_expr_build() to
 * tell of.  Long FIRs are made ready for a filter of the spec, unless it is NULL: see
 * tfx_stage_prepare(). */
void tfx_expr_prepare (TfxExpr *expr, double rate_hz, unsigned n_channels,
    const TfxFilterSpec *spec);

/* Takes over what `from` has prepared, for the stages that have the same id and
 * the same values there. */
void tfx_expr_take_prepared (TfxExpr *expr, const TfxExpr *from);

/* ---- values that move --------------------------------------------------------------
 * While a value moves, one stage of the chain changes: it is designed alone, into the
 * memory of a stage that was made before.
 *
 *   tfx_expr_build (expr, ..., &chain, ...);
 *   tfx_move_begin (move, expr, chain);
 *   ...
 *   tfx_expr_set_number (expr, ...);
 *   while ((ret = tfx_move_next (move, expr)) == 0)
 *     if (tfx_move_design (move, 48000.0, 2, NULL, NULL, &stage, NULL) == 0)
 *       tfx_filter_queue_stage (filter, stage, ...);
 *   if (ret != -ENOENT)
 *     ... build the chain again ...
 */

/* The lowest gain of an Expander or a Gate that has no floor. */
#define TFX_EXPR_NO_FLOOR_DB -240.0

/* The longest kernel with values that move: they are set at each point of the grid
 * (see tfx_stage_grid_frames()). */
#define TFX_EXPR_MAX_MOVED_KERNEL 512

/* The values in force of an expression, one of its stages with other values, and the
 * stages that it was designed into. */
typedef struct TfxMove TfxMove;

/* NULL if memory is short. */
TfxMove *tfx_move_new (void);
void tfx_move_free (TfxMove **move);

/* The expression is in force with its current values.  chain, or NULL, is the one in
 * force: stages with look-ahead keep the latency that they have in it. */
void tfx_move_begin (TfxMove *move, const TfxExpr *expr, TfxChain *chain);

/* Takes the stage that was set first since then, or since the last one taken.  0;
 * -ENOENT if there is none; -ENOTSUP if the chain is to be built again: the
 * expression or its structure is another one, or values of the class do not move. */
int tfx_move_next (TfxMove *move, const TfxExpr *expr);

/* Takes a stage with its current values.  0, or -ENOTSUP as above. */
int tfx_move_take (TfxMove *move, const TfxExpr *expr, size_t stage);

/* Whether designs from now on are for points of a curve: exact to rounding, not to
 * the last bit, and several times as fast. */
void tfx_move_follow (TfxMove *move, bool is_curve);

/* The name of the stage taken. */
const char *tfx_move_stage_name (const TfxMove *move);

/* Designs the stage taken; the expression may be gone.  Allocates nothing if a stage
 * with its id is there that nobody else holds.  *stage is valid until the next
 * tfx_move_begin(); take a reference to keep its values.  Reports and fails as
 * tfx_expr_build() does, or with -ENOTSUP: its latency in force is another one. */
int tfx_move_design (TfxMove *move, double rate_hz, unsigned n_channels,
    TfxExprReport report, void *data, TfxStage **stage, TfxExprError *error);

/* Makes stages of the one taken until there are n of them, for n that are held at a
 * time.  0, or negative errno. */
int
tfx_move_reserve (TfxMove *move, double rate_hz, unsigned n_channels, size_t n);

/* Whether filters copy the values of a stage: one of them is enough then. */
bool tfx_move_is_copied (const TfxStage *stage);

/* ---- ids ----------------------------------------------------------------------------- */

/* Gives stages of expr the ids of the stages of old that they are: those with the
 * same given name, wherever they stand; of the rest those at the same place.  Their
 * class must be the same, and so must each parameter with TFX_PARAM_STRUCTURE.  A
 * place is the order among the neighbours, so a stage added or removed between two
 * others moves neither; the chain of "ch[...]" has its channels for a place.  0 or
 * -ENOMEM (then fewer ids are kept). */
int tfx_expr_adopt_ids (TfxExpr *expr, const TfxExpr *old);

#ifdef __cplusplus
}
#endif

#endif /* TFX_LANG_EXPR_H */
