/* SPDX-License-Identifier: LGPL-2.1-or-later
 * torchfx.h: TorchFX: a Python process that runs the same filters over noise of
 * its own and says how long they took. */
#ifndef TORCHFX_H
#define TORCHFX_H

#include "process.h"

/* Starts script with python3; NULL if there is no Python with TorchFX (and a CUDA
 * device, if the script wants one).  text is then the reason, else the versions. */
Process *torchfx_open (const char *script, char *text, size_t size);

#endif /* TORCHFX_H */
