/* SPDX-License-Identifier: LGPL-2.1-or-later
 * svf-design.h: designs as state-variable filters, for frequencies that move. */
#ifndef TFX_SVF_DESIGN_H
#define TFX_SVF_DESIGN_H

#include "prototype.h"
#include "svf.h"

/* A prototype's factors as resonances: p0 = |pole|, k = 1 / quality, and the gain
 * at infinity of one with gain 1 at DC. */
typedef struct TfxResonances
{
  unsigned n;
  struct TfxResonance
  {
    double p0, k, far;
  } of[TFX_PROTOTYPE_MAX_FACTORS];
} TfxResonances;

void
tfx_svf_design_init (TfxResonances *resonances, const TfxPrototype *prototype);

/* The sections of a valid design of that prototype as shapes; returns how many, or
 * 0 where its frequencies are so near 0, half the rate or each other that doubles
 * do not do.  In double precision: right to some units of the last place. */
int tfx_svf_design_sections (const TfxPrototype *prototype,
    const TfxResonances *resonances, const TfxDesign *design, double rate_hz,
    TfxSvf *shapes);

/* The same of any design, with what the designer remembers, as sections too; 0 for an
 * invalid one as well. */
int tfx_designer_shapes (TfxDesigner *designer, const TfxDesign *design,
    double rate_hz, TfxSos *sos, TfxSvf *shapes);

/* Whether section k is one of the first order. */
bool tfx_svf_design_is_first_order (const TfxPrototype *prototype,
    const TfxDesign *design, unsigned k);

#endif
