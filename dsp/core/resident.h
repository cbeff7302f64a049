/* SPDX-License-Identifier: LGPL-2.1-or-later
 * resident.h: the state of a stage in a device's memory while no engine has it.  The
 * stage's slot owns it. */
#ifndef TFX_RESIDENT_H
#define TFX_RESIDENT_H

typedef struct TfxResident TfxResident;

/* The head of a backend's own structure. */
struct TfxResident
{
  const void *device; /* the data of its backend */
  double *room;       /* for borrow.c, if the slot has a unit */

  /* state[n_channels][state size], as of TfxBackend.get_state. */
  void (*read) (TfxResident *resident, double *state);
  void (*free) (TfxResident *resident);
};

#endif
