/* SPDX-License-Identifier: LGPL-2.1-or-later
 * positions.c: positions of channels. */
#include "positions.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BIT(position) ((uint64_t)1 << TFX_POSITION_##position)
#define SIDES (BIT (SL) | BIT (SR) | BIT (SDL) | BIT (SDR))

/* Degrees, as in ITU-R BS.2051. */
static const struct
{
  const char *name;
  int azimuth, elevation;
} table[TFX_N_POSITIONS] = {
  { "FL", 30, 0 },
  { "FR", -30, 0 },
  { "FC", 0, 0 },
  { "LFE", 45, -30 },
  { "BL", 135, 0 },
  { "BR", -135, 0 },
  { "FLC", 15, 0 },
  { "FRC", -15, 0 },
  { "BC", 180, 0 },
  { "LFE2", -45, -30 },
  { "SL", 90, 0 },
  { "SR", -90, 0 },
  { "TFL", 45, 30 },
  { "TFR", -45, 30 },
  { "TFC", 0, 30 },
  { "TC", 0, 90 },
  { "TBL", 135, 30 },
  { "TBR", -135, 30 },
  { "TSL", 90, 30 },
  { "TSR", -90, 30 },
  { "TBC", 180, 30 },
  { "BFC", 0, -30 },
  { "BFL", 45, -30 },
  { "BFR", -45, -30 },
  { "WL", 60, 0 },
  { "WR", -60, 0 },
  { "SDL", 110, 0 },
  { "SDR", -110, 0 },
};

const char *
tfx_position_name (unsigned position)
{
  return position < TFX_N_POSITIONS ? table[position].name : NULL;
}

int
tfx_position_find (const char *name)
{
  for (int i = 0; i < TFX_N_POSITIONS; i++) {
    if (strcmp (table[i].name, name) == 0)
      return i;
  }
  return -ENOENT;
}

void
tfx_positions_print (uint64_t positions, char text[TFX_POSITIONS_TEXT_SIZE])
{
  *text = '\0';
  for (unsigned i = 0; i < TFX_N_POSITIONS; i++) {
    if (!(positions >> i & 1))
      continue;
    strcat (text, *text ? ", " : "");
    strcat (text, table[i].name);
  }
}

uint64_t
tfx_positions_default (unsigned n_channels)
{
  static const uint64_t usual[] = { 0, BIT (FC), BIT (FL) | BIT (FR),
    BIT (FL) | BIT (FR) | BIT (FC), BIT (FL) | BIT (FR) | BIT (BL) | BIT (BR),
    BIT (FL) | BIT (FR) | BIT (FC) | BIT (BL) | BIT (BR), 0x3f, 0x3f | BIT (BC),
    0x3f | BIT (SL) | BIT (SR) };

  return n_channels < sizeof usual / sizeof *usual ? usual[n_channels] : 0x3f;
}

uint64_t
tfx_positions_find_channels (uint64_t positions, uint64_t wanted)
{
  uint64_t channels = 0;

  for (uint64_t channel = 1; positions; channel <<= 1) {
    const uint64_t position = positions & -positions;

    channels |= wanted & position ? channel : 0;
    positions &= ~position;
  }
  return channels;
}

uint64_t
tfx_positions_of_channels (uint64_t positions, uint64_t channels)
{
  uint64_t found = 0;

  for (; positions; channels >>= 1) {
    const uint64_t position = positions & -positions;

    found |= channels & 1 ? position : 0;
    positions &= ~position;
  }
  return found;
}

/* Without channels at the sides those at the back are the surround channels of 5.1,
 * at 110 degrees. */
double
tfx_positions_weight (uint64_t positions, unsigned channel)
{
  const uint64_t at = channel < 64 ? tfx_positions_of_channels (positions,
                                         (uint64_t)1 << channel)
                                   : 0;
  int azimuth;

  if (at == 0)
    return 1.0;
  if (at & (BIT (LFE) | BIT (LFE2)))
    return 0.0;
  azimuth = abs (table[__builtin_ctzll (at)].azimuth);
  if ((at & (BIT (BL) | BIT (BR))) && !(positions & SIDES))
    azimuth = 110;
  return abs (table[__builtin_ctzll (at)].elevation) < 30 && azimuth >= 60 &&
                 azimuth <= 120
             ? 1.41
             : 1.0;
}

bool
tfx_positions_find_direction (uint64_t positions, unsigned channel,
    double *azimuth, double *elevation, bool *is_lfe)
{
  const uint64_t back = BIT (BL) | BIT (BR), sides = BIT (SL) | BIT (SR);
  const uint64_t at = channel < 64 ? tfx_positions_of_channels (positions,
                                         (uint64_t)1 << channel)
                                   : 0;

  if (at == 0 || at >> TFX_N_POSITIONS)
    return false;
  *is_lfe = at & (BIT (LFE) | BIT (LFE2));
  *azimuth = *is_lfe ? 0.0 : table[__builtin_ctzll (at)].azimuth;
  *elevation = *is_lfe ? 0.0 : table[__builtin_ctzll (at)].elevation;
  if (((at & back) && !(positions & SIDES)) ||
      ((at & sides) && !(positions & back)))
    *azimuth = copysign (110.0, *azimuth);
  return true;
}
