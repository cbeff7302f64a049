/* SPDX-License-Identifier: LGPL-2.1-or-later
 * plain.h: stages and chains that do what tfx.h says they do, one sample after
 * the other and from rest, in place of the engine's.
 *
 * A test linked with plain.c has these definitions of tfx_stage_...() and
 * tfx_chain_...() instead of the library's: it sees what a chain was made of,
 * and what it does, without the plan and the kernels. */
#ifndef TEST_PLAIN_H
#define TEST_PLAIN_H

#include "lang/pending.h"

typedef enum
{
  PLAIN_SECTIONS,
  PLAIN_GAIN,
  PLAIN_FIR,
  PLAIN_DELAY,
  PLAIN_SUM
} PlainKind;

struct TfxStage
{
  unsigned refs;
  uint64_t id;
  PlainKind kind;
  TfxSos *sos;
  double gain; /* of a gain; of a delay the direct one */
  double *taps;
  TfxFirMethod method;
  TfxTap *echoes;
  TfxChain **branches;
  size_t n; /* of whichever list the kind has */
};

struct TfxChain
{
  unsigned refs;
  size_t n_stages;
  TfxStage **stages;
};

/* Runs samples[n_channels][n_frames] through the chain, in place. */
void plain_run (const TfxChain *chain, double *samples, unsigned n_channels,
    size_t n_frames);

/* How many stages and chains there are that were not given back. */
long plain_n_alive (void);

#endif /* TEST_PLAIN_H */
