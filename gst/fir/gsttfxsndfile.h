/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxsndfile.h: libsndfile, loaded when the first file is read, since it needs
 * nine libraries that most pipelines do not use.
 */
#ifndef GST_TFX_SNDFILE_H
#define GST_TFX_SNDFILE_H

#include <gst/gst.h>
#include <sndfile.h>

typedef struct
{
  SNDFILE *(*open_fd) (int fd, int mode, SF_INFO *info, int close_fd);
  sf_count_t (*readf_double) (SNDFILE *file, double *to, sf_count_t n_frames);
  const char *(*strerror) (SNDFILE *file);
  int (*close) (SNDFILE *file);
} GstTfxSndfile;

/* NULL if the library cannot be loaded, with the reason in *why, which is static. */
const GstTfxSndfile *gst_tfx_sndfile_get (const gchar **why);

#endif
