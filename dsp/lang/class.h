/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class.h: how the classes of the catalogue become stages. */
#ifndef TFX_LANG_CLASS_H
#define TFX_LANG_CLASS_H

#include "core/kind.h"
#include "node.h"

/* Ids of stages that have no node, made of a node's: the delay of its branch, and a
 * band of its bank.  (Ids count up from 1.) */
#define TFX_ID_OF_DELAY(id) ((id) | (uint64_t)1 << 63)
#define TFX_ID_OF_BAND(id, band) ((id) | ((uint64_t)(band) + 1) << 48)

/* The size of a stage, for the bounds of expr.h. */
typedef struct TfxExtent
{
  size_t sections, taps, echoes;
  size_t phase_taps; /* those that get another phase, which takes long */
  size_t more_taps;  /* of further kernels of a matrix: no bound, but work */
  double delay;      /* frames */
} TfxExtent;

/* The conditions that a stage is made for, and the stage. */
typedef struct TfxBuild
{
  double rate_hz;
  unsigned n_channels;  /* input of the stage */
  unsigned n_room;      /* n_channels and idle ones; 0 for a value that moves */
  uint64_t positions;   /* of the channels; 0: none; a stage's has no keys */
  unsigned n_keys;      /* of a stage: last channels; 0 if all are keys */
  TfxExprReport report; /* or NULL */
  void *data;
  TfxExprError *error;
  const TfxFilterSpec *spec; /* long FIRs are prepared for it; or NULL */

  /* For values that move: */
  bool is_move;            /* values may be out of range */
  bool is_curve;           /* for a point of a curve: fast */
  TfxDesigner *designer;   /* or NULL */
  const TfxStage *running; /* the stage of this id in force, or NULL */
  TfxStage *const *spares; /* stages to refill if nobody else holds them */
  size_t n_spares;

  const TfxNode *node; /* of the stage */
  TfxChain **chains;   /* of its children, as they are built; or NULL */
  char thing
      [TFX_NODE_THING_SIZE]; /* "stage 'eq' (ParametricEQ)", for messages */
  TfxStage *stage;           /* the result: a reference for the caller */
} TfxBuild;

/* The channels of a stage that has other ones after it than before. */
typedef struct TfxChannelChange
{
  const char *param;    /* which sets them; NULL: as many after it as before */
  unsigned n_in, n_out; /* n_in 0: any number */
} TfxChannelChange;

/* The functions of a class, in the table tfx_<name>_ops of its file.  Only design is
 * needed.  Each returns 0 or the code of the error that it sets. */
struct TfxClassOps
{
  /* Makes the stage, with one of the functions tfx_class_make...() below. */
  int (*design) (TfxBuild *build, const TfxNode *node);
  /* Whether the values fit each other. */
  int (*check) (const TfxNode *node, const char *thing, TfxExprError *error);
  /* The channels; NULL: as many after it as before. */
  TfxChannelChange (*channels) (const TfxNode *node);
  /* Whether the input may have n_channels. */
  int (*check_channels) (const TfxNode *node, unsigned n_channels,
      const char *thing, TfxExprError *error);
  /* Adds the size of the stage; rate_hz is 0 if it is not known.  The shorter form:
   * the number of sections, or the parameter with the number of sections or taps, or
   * with a number or row for each section. */
  void (*measure) (const TfxNode *node, double rate_hz, TfxExtent *extent);
  size_t n_sections;
  const char *sections, *taps;
  /* Whether values may move: design then allocates nothing if there is a spare
   * stage.  NULL: they may, unless is_rebuilt. */
  bool (*can_move) (const TfxNode *node);
  bool is_rebuilt;
  /* Its stage has the numbers of its chains, not their stages.  While its own values move,
   * unless it is rebuilt, design takes these numbers from build->running. */
  bool absorbs_chains;
  /* The number with a range that depends on others. */
  void (*fit) (const TfxNode *node, TfxExprClamp *fit);
};

/* ---- parameters: the node's class is known to have them ---------------------- */

const TfxValue *tfx_class_value (const TfxNode *node, const char *param);
double tfx_class_number (const TfxNode *node, const char *param);
bool tfx_class_has (const TfxNode *node, const char *param);
/* Whether its word is this one. */
bool tfx_class_is (const TfxNode *node, const char *param, const char *word);

/* The index of its word among the parameter's words.  Those of types, norms, methods
 * and windows are in the order of TfxMode, TfxNorm, TfxFirMethod and TfxWindow. */
unsigned tfx_class_word (const TfxNode *node, const char *param);

/* Checks the values of a node, rates aside. */
int
tfx_class_check (const TfxNode *node, const char *thing, TfxExprError *error);

/* check_channels: one or two of them. */
int tfx_class_check_stereo (const TfxNode *node, unsigned n_channels,
    const char *thing, TfxExprError *error);

/* Whether f_min is below f_max. */
int tfx_class_check_range (const TfxNode *node, const char *thing,
    TfxExprError *error);

/* A node with another number in one place; the lists are those of the node. */
typedef struct TfxFittedNode
{
  TfxNode node;
  TfxValue values[TFX_CLASS_MAX_PARAMS];
} TfxFittedNode;

/* The node, or *fitted with the nearest number in its range.  fit, unless NULL, gets
 * this number; its param is NULL if this is the node. */
const TfxNode *
tfx_class_fit (const TfxNode *node, TfxFittedNode *fitted, TfxExprClamp *fit);

/* ---- for design ---------------------------------------------------------------- */

/* The frequency moved to at least margin (a part of the rate) from 0 and from half
 * the rate.  The second form also reports a change; index: of a list, or -1.  A design
 * calls one of them for each frequency that may be above half the rate. */
double tfx_class_clamp_frequency (const TfxBuild *build, double freq_hz,
    double margin);
double tfx_class_fit_frequency (const TfxBuild *build, const char *param,
    int index, double freq_hz, double margin);

/* Reports the number that is used instead of another one. */
void tfx_class_report (const TfxBuild *build, const TfxExprClamp *fit);

/* The error of a stage that cannot be made: why is a static text, or NULL for
 * short memory. */
int tfx_class_refuse (const TfxBuild *build, const char *why);
/* The error of a file that was not read. */
int tfx_class_refuse_unread (const TfxBuild *build, const TfxValue *file);
/* The error of values that move and have another latency than the running stage. */
int tfx_class_refuse_latency (const TfxBuild *build);

/* Set build->stage to a stage of the node's id: a spare one with these values, or a
 * new one.  Arrays are copied.  shapes may be NULL.  tfx_class_make() sets kind and u of a
 * kind that is numbers alone; a number out of its field's range is an error, reported as
 * short memory.  tfx_class_take() takes a stage over. */
int tfx_class_make_sections (TfxBuild *build, const TfxSos *sos,
    const TfxSvf *shapes, size_t n_sos);
int tfx_class_make_fir (TfxBuild *build, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method);
int tfx_class_make_delay (TfxBuild *build, double direct, const TfxTap *taps,
    size_t n_taps);
/* A matrix of n_gains in rows of n_in; idle channels of the chain are silent. */
int tfx_class_make_mix (TfxBuild *build, uint64_t id, const double *gains,
    size_t n_gains, size_t n_in);
int tfx_class_make (TfxBuild *build, TfxStage values);
int tfx_class_take (TfxBuild *build, TfxStage *stage);

/* ---- branches -------------------------------------------------------------------- */

/* Appends a stage, which it takes over. */
int tfx_class_append (const TfxBuild *build, TfxChain **chain, TfxStage *stage);

/* The latency of the branches together. */
size_t tfx_class_latency (TfxChain *const *chains, size_t n);

/* Delays chains with less look-ahead than others; ids[n] are those of the branches. */
int tfx_class_align (const TfxBuild *build, TfxChain **chains,
    const uint64_t *ids, size_t n);

/* ---- one stage ------------------------------------------------------------------- */

/* Makes the stage of a call, or takes the kept one, for an expression with these
 * conditions.  Sets *stage to a reference for the caller.  0, or the code of the
 * error; all->error is not NULL. */
int tfx_build_node (const TfxBuild *all, const TfxNode *node, TfxStage **stage);

/* ---- the tables ------------------------------------------------------------------ */

/* class-iir.c: variant is a TfxFamily, or TFX_CLASS_LINKWITZ_RILEY; mode a TfxMode,
 * or TFX_CLASS_MODE_BTYPE. */
#define TFX_CLASS_LINKWITZ_RILEY 100
#define TFX_CLASS_MODE_BTYPE -1
extern const TfxClassOps tfx_iir_ops;

/* class-sections.c: variant is a TfxRbjKind. */
extern const TfxClassOps tfx_biquad_ops, tfx_bank_ops, tfx_given_ops,
    tfx_hum_ops, tfx_crossfeed_ops;

/* class-bands.c */
#define TFX_BANDS_MAX_CROSSOVERS 15
#define TFX_BANDS_MAX_ORDER 8
extern const TfxClassOps tfx_bands_ops;

/* class-curves.c */
extern const TfxClassOps tfx_graphic_ops, tfx_riaa_ops, tfx_weighting_ops;

/* class-fir.c */
extern const TfxClassOps tfx_kernel_ops, tfx_windowed_ops;

/* layout.c: the layout of a Convolve, or NULL if it has none; the channels before and
 * after it, any number before HeSuVi's; and whether it fits the file and the other
 * values. */
const TfxValue *tfx_layout_find (const TfxNode *node);
TfxChannelChange tfx_layout_channels (const TfxNode *node);
int
tfx_layout_check (const TfxNode *node, const char *thing, TfxExprError *error);

/* Sets build->stage to the matrix of a layout.  The kernels are wet alone: 1 - mix of each
 * channel is added at frame `direct`. */
int tfx_layout_make (TfxBuild *build, const TfxNode *node,
    const TfxImpulse *impulse, double mix, size_t direct);

/* class-hrir.c */
extern const TfxClassOps tfx_hrir_ops;

/* class-drawn.c */
/* Finer than 3 Hz at 384 kHz. */
#define TFX_CURVE_MAX_TAPS 131071
extern const TfxClassOps tfx_drawn_ops;

/* Whether the list of a parameter is a curve. */
int tfx_drawn_check_points (const TfxNode *node, const char *param,
    const char *thing, TfxExprError *error);

/* Whether the parameter taps is odd, or None. */
int tfx_drawn_check_taps (const TfxNode *node, const char *thing,
    TfxExprError *error);

/* class-linear.c */
extern const TfxClassOps tfx_linear_ops;

/* class-effects.c */
extern const TfxClassOps tfx_gain_ops, tfx_mix_ops, tfx_width_ops,
    tfx_reverb_ops, tfx_echo_ops, tfx_delay_ops, tfx_align_ops;

/* class-dynamics.c: variant is a TfxDynamicsClass; the second for those with
 * look-ahead. */
typedef enum
{
  TFX_CLASS_COMPRESSOR,
  TFX_CLASS_EXPANDER,
  TFX_CLASS_GATE,
  TFX_CLASS_LIMITER,
  TFX_CLASS_NORMALIZE,
  TFX_CLASS_LOUDNESS,
  TFX_CLASS_DENOISE
} TfxDynamicsClass;
/* A ratio of infinity. */
#define TFX_RATIO_INFINITE 1e6
extern const TfxClassOps tfx_dynamics_ops, tfx_ahead_ops, tfx_denoise_ops;

/* class-dynamic-eq.c */
extern const TfxClassOps tfx_dynamic_eq_ops;

/* Classes in the file of their kind, for catalogue.c. */

#endif /* TFX_LANG_CLASS_H */
