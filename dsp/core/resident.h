/* SPDX-License-Identifier: LGPL-2.1-or-later
 * resident.h: the state of a stage that stays in a device's memory while no
 * engine has it.  It belongs to the stage's slot. */
#ifndef TFX_RESIDENT_H
#define TFX_RESIDENT_H

typedef struct TfxResident TfxResident;

/* The head of a backend's own structure. */
struct TfxResident
{
  const void *device; /* the data of the backend that has made it */
  double *room;       /* borrow.c's: to read it into, if the slot has a unit */

  /* state[n_channels][state size], as of TfxBackend.get_state. */
  void (*read) (TfxResident *resident, double *state);
  void (*free) (TfxResident *resident);
};

#endif
