/* SPDX-License-Identifier: LGPL-2.1-or-later
 * torchfx.h: TorchFX: a Python process that runs the same filters over noise of
 * its own and says how long they took. */
#ifndef TORCHFX_H
#define TORCHFX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Torchfx Torchfx;

/* Starts script with python3; NULL if there is no Python with TorchFX (and a CUDA
 * device, if the script wants one).  text is then the reason, else the versions. */
Torchfx *torchfx_open (const char *script, char *text, size_t size);
void torchfx_close (Torchfx **torchfx);

/* Sends a line, "run ...\n", to which the answer is the two times that the script
 * says it is.  False if it failed. */
bool torchfx_ask (Torchfx *torchfx, double *a, double *b, const char *format,
    ...) __attribute__ ((format (printf, 4, 5)));

#endif /* TORCHFX_H */
