/* SPDX-License-Identifier: LGPL-2.1-or-later
 * torchfx.h: TorchFX on the same card: a Python process that runs the same
 * filters over noise of its own and says how long they took. */
#ifndef TORCHFX_H
#define TORCHFX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Torchfx Torchfx;

/* Starts script with python3; NULL if there is no Python with TorchFX and a
 * CUDA device.  text is then the reason, else the versions. */
Torchfx *torchfx_open (const char *script, char *text, size_t size);
void torchfx_close (Torchfx **torchfx);

/* Milliseconds on the wall, the end of the device's work included: the median
 * and the 99th percentile of n_runs runs of a chain ("api", "iir", "fir" or a
 * number of sections) over n_frames frames that lie on the device, or from
 * host to host.  False if it failed. */
bool torchfx_run (Torchfx *torchfx, const char *chain, size_t n_frames,
    unsigned n_channels, unsigned n_runs, bool from_host, double *median_ms,
    double *worst_ms);

#endif /* TORCHFX_H */
