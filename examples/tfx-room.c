/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx-room.c: writes the impulse response of a room that never was, for
 * tfxfir's kernel-location.
 *
 *   tfx-room location=/tmp/church.wav seconds=4 reverb=-9
 *
 * The sound itself comes first, then, after a pause, noise that dies away.  As
 * in a room its high frequencies die away faster, and each channel has a noise
 * of its own.
 */
#include <errno.h>
#include <math.h>
#include <sndfile.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* High frequencies lose as much in this part of the time. */
#define HIGH_PART 0.3

typedef struct
{
  const char *location;
  double rate, channels;
  double seconds;  /* until the reverberation is 60 dB down, and is cut */
  double predelay; /* seconds before it begins */
  double direct;   /* level of the sound itself, dB; below -200 there is none */
  double reverb;   /* energy of the reverberation, dB */
} Room;

static const char usage[] =
    "Usage: tfx-room location=FILE.wav [rate=HZ] [channels=N] [seconds=S]\n"
    "                [predelay=S] [direct=DB] [reverb=DB]\n";

typedef struct
{
  const char *name;
  double *value;
  double lowest, highest;
} Option;

/* -EINVAL if the text is no NAME=NUMBER that there is. */
static int
set_option (Room *room, const char *text)
{
  const Option options[] = {
    { "rate", &room->rate, 1000.0, 768000.0 },
    { "channels", &room->channels, 1.0, 64.0 },
    { "seconds", &room->seconds, 0.01, 60.0 },
    { "predelay", &room->predelay, 0.0, 1.0 },
    { "direct", &room->direct, -1000.0, 60.0 },
    { "reverb", &room->reverb, -1000.0, 60.0 },
  };
  const char *equals = strchr (text, '=');
  char *end;

  if (!equals)
    return -EINVAL;
  if (strncmp (text, "location=", 9) == 0) {
    room->location = equals + 1;
    return *room->location ? 0 : -EINVAL;
  }
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    const Option *o = &options[i];
    double value = strtod (equals + 1, &end);

    if (strlen (o->name) != (size_t)(equals - text) ||
        strncmp (o->name, text, equals - text) != 0)
      continue;
    if (end == equals + 1 || *end != '\0' || !(value >= o->lowest) ||
        !(value <= o->highest)) {
      fprintf (stderr, "tfx-room: %s must be a number from %g to %g\n", o->name,
          o->lowest, o->highest);
      return -EINVAL;
    }
    *o->value = value;
    return 0;
  }
  return -EINVAL;
}

/* Uniform noise in -1 to 1; the same on every machine. */
static double
next_noise (uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return (int32_t)*state / 2147483648.0;
}

/* One channel of the reverberation, every step-th of n samples of x.  A
 * one-pole low-pass that closes as time goes by takes the high frequencies. */
static void
make_reverb (const Room *room, uint32_t seed, float *x, size_t step, size_t n)
{
  const double decay = log (1e-3) / (room->seconds * room->rate);
  const size_t first = (size_t)(room->predelay * room->rate);
  double low = 0.0, energy = 0.0, scale;

  for (size_t i = first; i < n; i++) {
    double t = (double)(i - first);
    double open = exp (decay * t * (1.0 / HIGH_PART - 1.0));

    low += (0.02 + 0.98 * open) * (next_noise (&seed) - low);
    x[i * step] = (float)(low * exp (decay * t));
    energy += (double)x[i * step] * x[i * step];
  }
  scale = energy > 0.0 ? pow (10.0, room->reverb / 20.0) / sqrt (energy) : 0.0;
  for (size_t i = first; i < n; i++)
    x[i * step] *= (float)scale;
}

static int
write_room (const Room *room, const float *x, size_t n)
{
  SF_INFO info = { .samplerate = (int)room->rate,
    .channels = (int)room->channels,
    .format = SF_FORMAT_WAV | SF_FORMAT_FLOAT };
  SNDFILE *file = sf_open (room->location, SFM_WRITE, &info);
  int failed;

  if (!file) {
    fprintf (stderr, "tfx-room: cannot write %s: %s\n", room->location,
        sf_strerror (NULL));
    return -EIO;
  }
  failed = sf_writef_float (file, x, (sf_count_t)n) != (sf_count_t)n;
  failed |= sf_close (file) != 0;
  if (failed)
    fprintf (stderr, "tfx-room: %s could not be written to its end\n",
        room->location);
  return failed ? -EIO : 0;
}

int
main (int argc, char **argv)
{
  Room room = { .rate = 48000.0,
    .channels = 2.0,
    .seconds = 2.0,
    .predelay = 0.02,
    .direct = 0.0,
    .reverb = -6.0 };
  size_t n, n_channels;
  float *x;
  int ret;

  for (int i = 1; i < argc; i++) {
    if (set_option (&room, argv[i]) < 0) {
      fprintf (stderr, "tfx-room: cannot use \"%s\"\n%s", argv[i], usage);
      return 1;
    }
  }
  if (!room.location) {
    fprintf (stderr, "tfx-room: no location\n%s", usage);
    return 1;
  }

  n_channels = (size_t)room.channels;
  n = (size_t)((room.predelay + room.seconds) * floor (room.rate)) + 1;
  x = calloc (n * n_channels, sizeof *x);
  if (!x) {
    fprintf (stderr, "tfx-room: no memory for %zu frames\n", n);
    return 1;
  }
  for (size_t c = 0; c < n_channels; c++) {
    make_reverb (&room, (uint32_t)(c + 1) * 2654435761u, x + c, n_channels, n);
    if (room.direct >= -200.0)
      x[c] += (float)pow (10.0, room.direct / 20.0);
  }
  ret = write_room (&room, x, n);
  free (x);
  return ret < 0;
}
