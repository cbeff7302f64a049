/* SPDX-License-Identifier: LGPL-2.1-or-later
 * expr.h: the chain language: text to expression, expression to chain.  It is
 * installed as tfx-expr.h.
 *
 *   HiButterworth(80, order=4) | eq=ParametricEQ(1000, q=2, gain=3)
 *     | (LoChebyshev1(5000) + Gain(-6, gain_type='db'))
 *
 * "|" puts stages in series; "+" adds branches and binds tighter, as in Python;
 * parentheses group.  "ch[0]: ...; ch[1, LFE]: ..." at the start of the text or after
 * a "(" gives channels their own chains; other channels pass unchanged.  "name="
 * before a call names the stage.  A call is a class of the catalogue with positional
 * and keyword arguments: numbers, strings, True, False, None, lists and tuples; a
 * parameter for a file takes its name as a string.  Some classes take chains after
 * their positional values, such as Multiband(500, low=Gain(2) | Limiter(), None);
 * None is the chain that changes nothing.  A module prefix such as
 * "fx.filter." is skipped.  White space, newlines and comments are free, as inside
 * the parentheses of a Python expression.  An empty text is an expression without
 * stages, which changes nothing.
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
 * One thread at a time uses a TfxExpr; the catalogue is static, for any thread.  Functions return 0 or a negative errno value unless documented
 * otherwise.  A TfxExprError argument may be NULL, and is written only on failure.
 * Numbers are read and written independently of the locale.
 */
#ifndef TFX_LANG_EXPR_H
#define TFX_LANG_EXPR_H

#include "tfx.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- bounds -------------------------------------------------------------- */

/* Limits of a text.  A larger one is an error, so that reading takes at most a few
 * megabytes and a tenth of a second.  (Building the longest kernels takes seconds.) */
#define TFX_EXPR_MAX_TEXT (1u << 20) /* bytes */
#define TFX_EXPR_MAX_STAGES 1024u    /* calls */
#define TFX_EXPR_MAX_DEPTH 64u       /* parentheses within parentheses */
#define TFX_EXPR_MAX_NAME 63u        /* bytes of a name or a word */
#define TFX_EXPR_MAX_LIST 65536u     /* numbers in a list */
#define TFX_EXPR_MAX_BANDS 256u      /* bands of one filter bank */
#define TFX_EXPR_MAX_ECHOES 1024u    /* taps of one Delay */
/* Limits of all stages of an expression together. */
#define TFX_EXPR_MAX_SECTIONS 16384u   /* second-order sections */
#define TFX_EXPR_MAX_TAPS (1u << 20)   /* FIR taps */
#define TFX_EXPR_MAX_DELAY (1u << 24)  /* frames of delay */
#define TFX_EXPR_MAX_ALL_ECHOES 16384u /* taps of all delays */

/* ---- errors ---------------------------------------------------------------- */

typedef struct TfxExprError
{
  int code;              /* the negative errno value */
  unsigned line, column; /* from 1, in characters; 0: no place in a text */
  size_t place;          /* of the stage in the text, in bytes from 1; or 0 */
  char message[320];     /* one sentence: the thing, the value, the range */
  /* The place, the message, the line of the text and a caret below it; only the
   * message if there is no place. */
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
  TFX_VALUE_TEXT = 1 << 5    /* text, the name of a file; and the file, or
                              * list[n_list] if it has a curve */
} TfxValueType;

#define TFX_VALUE_WORD_SIZE 40

typedef struct TfxValue
{
  TfxValueType type;
  double number;
  char word[TFX_VALUE_WORD_SIZE]; /* closed by a NUL */
  double *list;                   /* each function documents the owner */
  size_t n_list;
  size_t n_columns;     /* of a list in rows; else 0 */
  char *text;           /* closed by a NUL; has the same owner */
  struct TfxFile *file; /* likewise, a reference; NULL: not read */
} TfxValue;

bool tfx_value_equal (const TfxValue *a, const TfxValue *b);

/* ---- the catalogue ------------------------------------------------------------ */

typedef enum
{
  TFX_PARAM_REQUIRED = 1 << 0,      /* has no default */
  TFX_PARAM_INTEGER = 1 << 1,       /* a whole number */
  TFX_PARAM_ABOVE_MINIMUM = 1 << 2, /* the minimum itself is not valid */
  TFX_PARAM_BELOW_MAXIMUM = 1 << 3, /* nor is the maximum */
  TFX_PARAM_FREQUENCY = 1 << 4,     /* in Hz, and below half the sample rate */
  TFX_PARAM_KEYWORD = 1 << 5,       /* not given by position */
  TFX_PARAM_STREAM = 1 << 6,        /* comes from the stream, not from a user */
  TFX_PARAM_NONE_IS_DEFAULT = 1 << 7, /* None means the default */
  /* Another value makes another filter, which cannot use the old state: the stage
   * gets a new id. */
  TFX_PARAM_STRUCTURE = 1 << 8,
  /* The maximum depends on another parameter; this one is the largest. */
  TFX_PARAM_DEPENDENT = 1 << 9,
  TFX_PARAM_ROWS = 1 << 10,     /* a list in rows of any one length */
  TFX_PARAM_INFINITE = 1 << 11, /* the maximum means infinity, written inf */
  /* Another parameter selects the unit, or the columns have different ones; the class
   * checks the range of each unit. */
  TFX_PARAM_SCALED = 1 << 12
} TfxParamFlags;

/* A word that a parameter takes, and its aliases.  call is a Python object without
 * arguments, printed in place of the word. */
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
  TfxValue initial;          /* the default; never a list */
  const char *doc;           /* one line */
  /* The parameter that the number of a tuple sets, as in window=('kaiser', 8.6); or
   * NULL. */
  const char *second;
  size_t n_columns; /* of a list in rows, [[…], […]]; 0: a plain list */
} TfxParam;

/* The kind of stage that a class makes. */
typedef enum
{
  TFX_CLASS_SECTIONS,
  TFX_CLASS_GAIN,
  TFX_CLASS_FIR,
  TFX_CLASS_DELAY,
  TFX_CLASS_DYNAMICS,
  TFX_CLASS_REVERB,
  TFX_CLASS_MIX,
  TFX_CLASS_BANK, /* a sum of branches */
  TFX_CLASS_OTHER /* several kinds, or one in a separate file */
} TfxClassKind;

#define TFX_CLASS_MAX_PARAMS 10

typedef struct TfxClassOps TfxClassOps;

typedef struct TfxClass
{
  const char *name;
  const char *aliases[3]; /* up to a NULL */
  TfxClassKind kind;
  unsigned n_positional;  /* number of arguments printed by position */
  const TfxParam *params; /* in the order of positional arguments, then those by
                           * keyword only */
  unsigned n_params;
  const char *doc;     /* one line */
  const char *example; /* a valid call */
  const TfxClassOps *ops;
  int variant, mode; /* what tells the classes with the same ops apart */
  /* The number of chains, after the positional values; at most 0: it takes none. */
  unsigned min_chains, max_chains;
  const char *chain_doc;  /* of a chain, one line */
  const char *chain_name; /* the keyword of the only chain; NULL: it has none */
} TfxClass;

/* The classes in the order of the documentation. */
size_t tfx_catalogue_n_classes (void);
const TfxClass *tfx_catalogue_class (size_t index);

/* By name or alias, NULL if there is none. */
const TfxClass *tfx_catalogue_find (const char *name);

/* The index of a parameter, or -ENOENT. */
int tfx_class_find_param (const TfxClass *klass, const char *name);

/* ---- files ---------------------------------------------------------------------
 * A text names files; the caller's reader opens them. */

/* Room for the reason why a file cannot be used: one sentence without a full stop. */
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

/* Degrees: to the left from the front, and up. */
typedef struct TfxDirection
{
  double azimuth, elevation;
} TfxDirection;

/* The impulse response in a file at the time of reading; the reader's own struct
 * begins with it.  Immutable; any thread. */
typedef struct TfxFile
{
  int refs;            /* atomic; 1 at first */
  unsigned n_channels; /* in the file */
  size_t n_frames;
  double rate_hz; /* 0: that of any stream */

  void (*free) (struct TfxFile *file);
  /* Whether two files of one kind have the same samples. */
  bool (*is_same) (const struct TfxFile *a, const struct TfxFile *b);
  /* Makes the impulse response for a stream of n_channels (0: with all channels of the
   * file); from one channel of the file unless channel is -1.  0, or a negative errno value with the reason. */
  int (*fit) (const struct TfxFile *file, double rate_hz, unsigned n_channels,
      int channel, TfxImpulse *impulse, char why[TFX_FILE_WHY_SIZE]);
  /* Likewise with two kernels, for the left and the right ear, for each direction.
   * Files of head-related impulse responses have this function alone, others fit(). */
  int (*fit_ears) (const struct TfxFile *file, double rate_hz,
      const TfxDirection *directions, unsigned n, TfxImpulse *impulse,
      char why[TFX_FILE_WHY_SIZE]);
} TfxFile;

TfxFile *tfx_file_ref (TfxFile *file);
void tfx_file_unref (TfxFile **file); /* a NULL is allowed */

/* Reads the files of a text.  Both functions return NULL with the reason. */
typedef struct TfxFileReader
{
  void *data;
  TfxFile *(*open_impulse) (void *data, const char *name,
      char why[TFX_FILE_WHY_SIZE]);
  /* Filter settings as a chain of calls, from malloc(). */
  char *(*read_settings) (void *data, const char *name,
      char why[TFX_FILE_WHY_SIZE]);
  /* The text of a curve, in UTF-8, from malloc(). */
  char *(
      *read_text) (void *data, const char *name, char why[TFX_FILE_WHY_SIZE]);
} TfxFileReader;

/* Reads the file of a value for this parameter, whose text is its name: an impulse
 * response to its file, or a curve to its list, from malloc().  0, or a negative errno
 * value with the reason. */
int tfx_arguments_read_file (TfxValue *value, const TfxParam *param,
    const TfxFileReader *files, char why[TFX_FILE_WHY_SIZE]);

/* ---- expressions ----------------------------------------------------------- */

typedef struct TfxExpr TfxExpr;

/* Reads text[length].  NULL with the error if it is not valid.  Impulse responses are
 * not read, so building their stages is an error. */
TfxExpr *tfx_expr_parse (const char *text, size_t length, TfxExprError *error);

/* Reads files too.  An error in a file has the place of its name. */
TfxExpr *tfx_expr_parse_with_files (const char *text, size_t length,
    const TfxFileReader *reader, TfxExprError *error);

/* Adds line, column and caret to an error with a place in this text. */
void
tfx_expr_place_error (TfxExprError *error, const char *text, size_t length);

/* The expression without stages, a static one: never NULL; freeing it has no effect.
 * Any thread. */
TfxExpr *tfx_expr_empty (void);

/* The same stages with the same ids; NULL if memory is short. */
TfxExpr *tfx_expr_copy (const TfxExpr *expr);

/* Frees the expression, clears the caller's pointer; NULL there is allowed. */
void tfx_expr_free (TfxExpr **expr);

/* Whether both have the same stages with the same given names and values. */
bool tfx_expr_equal (const TfxExpr *a, const TfxExpr *b);

/* The canonical text, for free(); NULL if memory is short.  One line that reads back as
 * an equal expression, and as a TorchFX program (but for "name=").  Defaults are left
 * out. */
char *tfx_expr_print (const TfxExpr *expr);
/* The text of one stage; NULL also if there is no such stage. */
char *tfx_expr_print_stage (const TfxExpr *expr, size_t stage);
/* "ch[0]: " if the stage is in the chain of these channels, else "". */
char *tfx_expr_print_stage_channels (const TfxExpr *expr, size_t stage);

/* ---- stages -------------------------------------------------------------------
 * The calls of the text, in its order.  A stage without a given name has a
 * generated one: its class in lower case and a number, "parametriceq0". */

size_t tfx_expr_n_stages (const TfxExpr *expr);

/* Valid until the expression is freed. */
const char *tfx_expr_stage_name (const TfxExpr *expr, size_t stage);
const TfxClass *tfx_expr_stage_class (const TfxExpr *expr, size_t stage);
uint64_t tfx_expr_stage_id (const TfxExpr *expr, size_t stage);

/* The stage of that name, or -ENOENT. */
int tfx_expr_find (const TfxExpr *expr, const char *name);

/* ---- parameters ---------------------------------------------------------------- */

/* The value of a parameter of a stage; its list is the expression's, and valid until
 * the next set.  -EINVAL: no such stage; -ENOENT: no such parameter. */
int tfx_expr_get (const TfxExpr *expr, size_t stage, const char *param,
    TfxValue *value);

/* Sets a parameter; a list is copied.  -ENOENT, -EINVAL for a wrong type or word,
 * -ERANGE for a value out of range, or -ENOMEM; the expression is then unchanged.
 * Building, not setting, checks parameters that must fit each other (btype='bandpass'
 * and a cutoff of two edges), so that they can be set one after the other.  A whole
 * number with a range that depends on another parameter (order on order_scale) is
 * built and printed as the nearest valid one. */
int tfx_expr_set (TfxExpr *expr, size_t stage, const char *param,
    const TfxValue *value, TfxExprError *error);

/* One number: the value itself (index 0), or an element of the list.  For automated
 * properties. */
int tfx_expr_get_number (const TfxExpr *expr, size_t stage, const char *param,
    size_t index, double *number);
int tfx_expr_set_number (TfxExpr *expr, size_t stage, const char *param,
    size_t index, double number, TfxExprError *error);

/* Sets a word. */
int tfx_expr_set_word (TfxExpr *expr, size_t stage, const char *param,
    const char *word, TfxExprError *error);

/* ---- channels -------------------------------------------------------------------
 * A Mix, an HRIR or a Convolve with a layout may have more or fewer outputs than inputs. */

#define TFX_EXPR_MAX_CHANNELS 64u /* of a Mix or a layout, and of "ch[...]" */

/* The number of input channels that the expression needs.  0: any from *least on;
 * also if it accepts none, so that building it reports why. */
unsigned tfx_expr_n_inputs (const TfxExpr *expr, unsigned *least);

/* A number of input channels that the expression accepts: at least `least` if any
 * number is possible; `least` if none is.  positions: a set of this size with all
 * positions that the expression names; 0 if it names none. */
unsigned tfx_expr_find_channels (const TfxExpr *expr, unsigned least,
    uint64_t *positions);

/* The number of output channels for n_channels inputs, and the largest number on the
 * way, for which a chain is built. */
void tfx_expr_channels (const TfxExpr *expr, unsigned n_channels,
    unsigned *n_out, unsigned *n_most);

/* ---- building --------------------------------------------------------------------- */

/* A number out of its range at this rate, or with the other parameters of its stage,
 * and the nearest valid one, which is used. */
typedef struct TfxExprClamp
{
  const char *param;
  int index; /* in the parameter's list; -1: the parameter is the number */
  double asked, used;
  double lowest, highest; /* the current range */
  /* The condition if it does not depend on the rate: a static text that begins with
   * "must"; or NULL. */
  const char *because;
  const char *stage, *unit; /* the name of the stage */
  const char *message;      /* all of this in a sentence */
} TfxExprClamp;

/* Called for each of them; clamped is valid until it returns. */
typedef void (*TfxExprReport) (const TfxExprClamp *clamped, void *data);

/* Whether the parameters of each stage fit each other, at any rate. */
int tfx_expr_check (const TfxExpr *expr, TfxExprError *error);

/* Builds the chain for a rate and a number of input channels without positions.
 * Filters need room for the largest number of channels of tfx_expr_channels().  A
 * frequency that the rate does not allow, or an order out of its range, is replaced
 * and reported (report may be NULL).  -EINVAL, -ERANGE or -ENOMEM. */
int tfx_expr_build (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    TfxExprReport report, void *data, TfxChain **chain, TfxExprError *error);

/* Builds for channels at these positions: those of the first channels, at most
 * n_channels; 0: none.  Stages with as many channels as the input have its positions;
 * after a Mix that changes the number there are none. */
int tfx_expr_build_at (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions, TfxExprReport report, void *data, TfxChain **chain,
    TfxExprError *error);

/* Builds one stage in the same way. */
int tfx_expr_build_stage (const TfxExpr *expr, size_t stage, double rate_hz,
    unsigned n_channels, uint64_t positions, TfxStage **made,
    TfxExprError *error);

/* The design work for a chain: second-order sections and FIR taps of the stages that are
 * not prepared. */
void tfx_expr_effort (const TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions, size_t *n_sections, size_t *n_taps);

/* Designs the stages and keeps them for tfx_expr_build_at() with the same rate, channels
 * and positions, also in copies of the
 * expression; a set or adopted stage is designed again.  Stages that cannot be made are
 * left to tfx_expr_build(), which reports them.  Long FIRs are prepared for a filter of
 * the spec, unless it is NULL: see tfx_stage_prepare(). */
void tfx_expr_prepare (TfxExpr *expr, double rate_hz, unsigned n_channels,
    uint64_t positions, const TfxFilterSpec *spec);

/* Takes over prepared stages of `from`, for stages with the same id and values. */
void tfx_expr_take_prepared (TfxExpr *expr, const TfxExpr *from);

/* ---- values that move --------------------------------------------------------------
 * While a value moves, only its stage is designed, into the memory of an earlier one.
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
 * -ENOENT if there is none; -ENOTSUP if the chain must be built again: the
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
 * time; one if filters copy its values.  0, or negative errno. */
int
tfx_move_reserve (TfxMove *move, double rate_hz, unsigned n_channels, size_t n);

/* ---- ids ----------------------------------------------------------------------------- */

/* Gives stages of expr the ids of the stages of old that they are: those with the
 * same given name, wherever they stand; of the rest those at the same place.  Their
 * class must be the same, and so must each parameter with TFX_PARAM_STRUCTURE.  A
 * place is the order among the neighbours, so a stage added or removed between two
 * others moves neither; the chain of "ch[...]" has its channels for a place.  0 or
 * -ENOMEM (then fewer ids are kept). */
int tfx_expr_adopt_ids (TfxExpr *expr, const TfxExpr *old);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* TFX_LANG_EXPR_H */
