/* SPDX-License-Identifier: LGPL-2.1-or-later
 * cascade.h: a cascade of sections over any number of channels. */
#ifndef TFX_CASCADE_H
#define TFX_CASCADE_H

#include "kernels.h"

typedef struct TfxCascade TfxCascade;

/* At rest, its sections not set.  0 or -ENOMEM. */
int tfx_cascade_new (const TfxKernels *kernels, unsigned n_channels,
    size_t n_sos, TfxCascade **cascade);
void tfx_cascade_free (TfxCascade **cascade);

/* y = gain * sections (x); sos[n_sos].  The state is undefined until it is
 * set. */
void
tfx_cascade_set_sections (TfxCascade *cascade, const TfxSos *sos, double gain);

/* One of several cascades that run as one: gain * sections (x).  Without sections it is
 * the gain alone. */
typedef struct TfxCascadeTerm
{
  const TfxSos *sos;
  size_t n_sos;
  double gain;
  /* TFX_TERMS_CHANNELS: its channels; the last term has those of no other.  The output of a term
   * without sections must be ignored. */
  uint64_t channels;
} TfxCascadeTerm;

/* How they are one. */
typedef enum
{
  TFX_TERMS_PARTS,    /* a sum in parallel form, F32 only */
  TFX_TERMS_CASCADES, /* a sum of merged cascades of few sections */
  TFX_TERMS_CHANNELS, /* no sum: each channel has one of them */
  TFX_TERMS_ONE       /* there is but one */
} TfxTermsForm;

/* Of several. */
#define TFX_N_TERMS_FORMS 3

/* The number of terms, from the first on, that cost less as one in this form, for a stream of
 * that type; 0: none.  Only their numbers of sections and their channels matter. */
size_t tfx_cascade_count_terms (const TfxKernels *kernels, unsigned n_channels,
    const TfxCascadeTerm *terms, size_t n_terms, TfxTermsForm form,
    TfxSample type);

/* A cascade of n_terms terms, whose sections follow one another; their values are not
 * set. */
int tfx_cascade_new_terms (const TfxKernels *kernels, unsigned n_channels,
    const TfxCascadeTerm *terms, size_t n_terms, TfxTermsForm form,
    TfxCascade **cascade);

/* As many terms with as many sections.  False if what they are as one would not be exact
 * enough, or a channel's gain is 0: it must not be run then.  The state is undefined until it is set. */
bool tfx_cascade_set_terms (TfxCascade *cascade, const TfxCascadeTerm *terms);

/* Filters a block, in place or apart, of any length and types, as exactly as
 * the type of the stream asks for.  Returns how many times a channel was
 * cleared. */
int tfx_cascade_run (TfxCascade *cascade, TfxSample stream, const TfxBlock *in,
    const TfxBlock *out);

/* state[n_channels][n] [2] of sections first to first + n - 1, which are of one term; the
 * channels are its own. */
void tfx_cascade_get_state (TfxCascade *cascade, size_t first, size_t n,
    double *state);
void tfx_cascade_set_state (TfxCascade *cascade, size_t first, size_t n,
    const double *state);
/* The largest magnitude of its numbers. */
double tfx_cascade_state_peak (TfxCascade *cascade);

#endif
