/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxchainparam.h: parameters of the catalogue as properties of an object.
 */
#ifndef GST_TFX_CHAIN_PARAM_H
#define GST_TFX_CHAIN_PARAM_H

#include <gst/gst.h>

#include "lang/expr.h"

G_BEGIN_DECLS

/* The properties of a parameter.  The one of its name is the number; if the parameter can
 * also be a list, the first of the list.  Further ones are the whole list, and the
 * second number if there are two at most. */
typedef enum
{
  GST_TFX_CHAIN_PARAM_WHOLE, /* "cutoff" */
  GST_TFX_CHAIN_PARAM_UPPER, /* "cutoff-upper" */
  GST_TFX_CHAIN_PARAM_LIST,  /* "cutoff-list" */
  GST_TFX_CHAIN_PARAM_FILE,  /* "b-file", for a list in a file */
  GST_TFX_CHAIN_PARAM_N_PARTS
} GstTfxChainParamPart;

/* The property for a part of a parameter; NULL if it does not have that part. */
GParamSpec *gst_tfx_chain_param_make_spec (const TfxParam *param,
    GstTfxChainParamPart part);

/* The name of that property, to be freed. */
gchar *gst_tfx_chain_param_make_name (const TfxParam *param,
    GstTfxChainParamPart part);

/* Whether that property is the name of a file. */
gboolean
gst_tfx_chain_param_is_file (const TfxParam *param, GstTfxChainParamPart part);

/* Stores a part of @from in @to, which has the property's type. */
void gst_tfx_chain_param_get (const TfxParam *param, GstTfxChainParamPart part,
    const TfxValue *from, GValue *to);

/* The value @to of @old with one part set.  Clear it with gst_tfx_chain_param_clear().  A
 * list of two at most is in @pair, so that a ramp of the edges of a band allocates
 * nothing.  The file of a text has not been read. */
void gst_tfx_chain_param_set (const TfxParam *param, GstTfxChainParamPart part,
    const TfxValue *old, const GValue *from, TfxValue *to, gdouble pair[2]);
void gst_tfx_chain_param_clear (TfxValue *to, const gdouble pair[2]);

G_END_DECLS

#endif /* GST_TFX_CHAIN_PARAM_H */
