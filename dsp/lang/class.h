/* SPDX-License-Identifier: LGPL-2.1-or-later
 * class.h: how the classes of the catalogue become stages. */
#ifndef TFX_LANG_CLASS_H
#define TFX_LANG_CLASS_H

#include "node.h"

/* What a stage takes, to be held against the bounds of expr.h. */
typedef struct TfxExtent
{
  size_t sections, taps, echoes;
  double delay; /* frames */
} TfxExtent;

/* What building a stage needs to know. */
typedef struct TfxBuild
{
  double rate_hz;
  unsigned n_channels;  /* that come to the stage */
  unsigned n_room;      /* that it is built for, some of them idle */
  uint64_t positions;   /* of the channels; 0: none */
  TfxExprReport report; /* or NULL */
  void *data;
  const TfxNode *node; /* of the stage */
  const char *thing;   /* the stage in messages: "stage 'eq' (ParametricEQ)" */
  TfxExprError *error;
  TfxDesigner *designer;     /* or NULL */
  const TfxFilterSpec *spec; /* long FIRs are made ready for it; or NULL */
  bool is_curve;             /* for one of its points: quickly */
} TfxBuild;

/* A number whose range depends on other parameters of its stage, and the nearest
 * one that works. */
typedef struct TfxFit
{
  const char *param;
  double asked, used, lowest, highest;
  const char *because; /* what it must be, a static text after "it" */
} TfxFit;

/* Whether the values fit each other. */
typedef int
TfxClassCheck (const TfxNode *node, const char *thing, TfxExprError *error);
/* Whether a stream of so many channels can come to it. */
typedef int TfxClassCheckChannels (const TfxNode *node, unsigned n_channels,
    const char *thing, TfxExprError *error);
/* rate_hz is 0 while no rate is known. */
typedef void
TfxClassMeasure (const TfxNode *node, double rate_hz, TfxExtent *extent);
/* What the stage becomes, without any memory; and where that is no cascade and
 * no gain, a stage with the node's id.  0, or the code of the error that is set. */
typedef int
TfxClassDesign (const TfxBuild *build, const TfxNode *node, TfxMoved *moved);
typedef int
TfxClassBuild (const TfxBuild *build, const TfxNode *node, TfxStage **stage);

typedef struct TfxClassOps
{
  int variant; /* what else tells the classes of one kind apart */
  int mode;    /* a TfxMode, or TFX_CLASS_MODE_BTYPE */

  TfxClassCheck *check;                  /* NULL: they always do */
  TfxClassCheckChannels *check_channels; /* NULL: any can */
  TfxClassMeasure *measure;              /* NULL: no sections, no delay */
  /* One of them is there. */
  TfxClassDesign *design;
  TfxClassBuild *build;
  /* Whether one that has both can be designed; NULL: it always can. */
  bool (*can_design) (const TfxNode *node);
  /* The number of which that is so; NULL if the class has none. */
  void (*fit) (const TfxNode *node, TfxFit *fit);
} TfxClassOps;

#define TFX_CLASS_MODE_BTYPE -1

/* The value of a parameter that the node's class is known to have. */
const TfxValue *tfx_class_value (const TfxNode *node, const char *param);
double tfx_class_number (const TfxNode *node, const char *param);
bool tfx_class_has (const TfxNode *node, const char *param);
/* Whether its word is this one. */
bool tfx_class_is (const TfxNode *node, const char *param, const char *word);

/* Checks the values of a node, rates aside. */
int
tfx_class_check (const TfxNode *node, const char *thing, TfxExprError *error);

/* A node that stands in for another one, whose lists it has. */
typedef struct TfxFittedNode
{
  TfxNode node;
  TfxValue values[TFX_CLASS_MAX_PARAMS];
} TfxFittedNode;

/* The node as it can be used: itself, or the one in *fitted, with the nearest
 * number that works; fit (unless NULL) then says which, else its param is
 * NULL. */
const TfxNode *
tfx_class_fit (const TfxNode *node, TfxFittedNode *fitted, TfxFit *fit);

/* The frequency of a parameter, or of number `index` of its list (-1: it is
 * none), or the nearest one that the rate allows, which is reported.  margin
 * keeps it away from 0 and from half the rate, as a part of the rate. */
double tfx_class_fit_frequency (const TfxBuild *build, const char *param,
    int index, double freq_hz, double margin);

/* Reports a frequency that cannot be met. */
void tfx_class_report (const TfxBuild *build, const char *param, int index,
    double asked_hz, double used_hz, double lowest_hz, double highest_hz);

/* Reports a number that does not fit. */
void tfx_class_report_fit (const TfxBuild *build, const TfxFit *fit);

/* The error of a stage that cannot be made: why is a static text, or NULL for
 * short memory. */
int tfx_class_refuse (const TfxBuild *build, const char *why);

/* iir.c: variant is a TfxFamily, or TFX_CLASS_LINKWITZ_RILEY. */
#define TFX_CLASS_LINKWITZ_RILEY 100
TfxClassCheck tfx_iir_check;
void tfx_iir_fit (const TfxNode *node, TfxFit *fit);
TfxClassMeasure tfx_iir_measure;
TfxClassDesign tfx_iir_design;

/* biquad.c: variant is a TfxRbjKind. */
TfxClassCheck tfx_biquad_check;
TfxClassMeasure tfx_biquad_measure;
TfxClassDesign tfx_biquad_design;
TfxClassCheck tfx_bank_check;
TfxClassMeasure tfx_bank_measure;
TfxClassBuild tfx_bank_build;

/* mix.c */
TfxClassCheck tfx_mix_check;
TfxClassMeasure tfx_mix_measure;
TfxClassBuild tfx_mix_build;

/* given.c */
TfxClassCheck tfx_given_check;
TfxClassMeasure tfx_given_measure;
TfxClassDesign tfx_given_design;
TfxClassCheck tfx_sos_check;
TfxClassMeasure tfx_sos_measure;
TfxClassDesign tfx_sos_design;

/* equaliser.c */
TfxClassMeasure tfx_hum_measure;
TfxClassDesign tfx_hum_design;
TfxClassMeasure tfx_graphic_measure;
TfxClassDesign tfx_graphic_design;

/* weighting.c */
TfxClassMeasure tfx_riaa_measure;
TfxClassDesign tfx_riaa_design;
TfxClassMeasure tfx_weighting_measure;
TfxClassDesign tfx_weighting_design;

/* kernel.c */
TfxClassCheck tfx_kernel_check;
void tfx_kernel_fit (const TfxNode *node, TfxFit *fit);
TfxClassCheckChannels tfx_kernel_check_channels;
TfxClassCheck tfx_convolve_check;
TfxClassCheckChannels tfx_convolve_check_channels;
TfxClassMeasure tfx_convolve_measure;
TfxClassBuild tfx_convolve_build;
TfxClassMeasure tfx_kernel_measure;
TfxClassBuild tfx_kernel_build;
TfxClassCheck tfx_windowed_check;
TfxClassMeasure tfx_windowed_measure;
TfxClassBuild tfx_windowed_build;
bool tfx_windowed_can_design (const TfxNode *node);
TfxClassDesign tfx_windowed_design;

/* effect.c */
TfxClassCheck tfx_gain_check;
TfxClassDesign tfx_gain_design;
TfxClassMeasure tfx_echo_measure;
TfxClassDesign tfx_echo_design;
TfxClassMeasure tfx_reverb_measure;
TfxClassDesign tfx_reverb_design;
TfxClassCheck tfx_delay_check;
TfxClassMeasure tfx_delay_measure;
TfxClassDesign tfx_delay_design;

/* A ratio that stands for infinity. */
#define TFX_RATIO_INFINITE 1e6

/* dynamics.c */
TfxClassDesign tfx_compressor_design;
TfxClassDesign tfx_expander_design;
TfxClassDesign tfx_gate_design;
TfxClassMeasure tfx_limiter_measure;
TfxClassDesign tfx_limiter_design;

/* level.c */
TfxClassMeasure tfx_normalize_measure;
TfxClassDesign tfx_normalize_design;
TfxClassMeasure tfx_loudness_measure;
TfxClassDesign tfx_loudness_design;
/* What dynamics.c leaves to it. */
size_t tfx_true_peak_limiter_delay (const TfxNode *node, double rate_hz);
TfxClassDesign tfx_true_peak_limiter_design;

#endif /* TFX_LANG_CLASS_H */
