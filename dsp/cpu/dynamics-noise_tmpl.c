/* SPDX-License-Identifier: LGPL-2.1-or-later
 * dynamics-noise_tmpl.c: the kernel of a noise suppressor, one build for each instruction
 * set. */
#include "dynamics.h"
#include "dynamics-math.h"

/* Vectors at a time: 32 numbers at most. */
#define N_NOISE 4

/* a where `is` has all bits set, b where it has none. */
INLINE V
choose (VBits is, V a, V b)
{
  return (V)((is & (VBits)a) | (~is & (VBits)b));
}

/* The noise after the powers. */
INLINE VSide
follow_noise (const TfxSuppression *s, size_t at, VSide noise, VSide powers,
    const VPower *power)
{
  const unsigned n_side = N_NOISE;
  const V slope = v_set1 (TFX_PRESENCE_SLOPE * 1.4426950408889634);
  const V keep = v_set1 (s->presence_keep),
          go = v_set1 (1.0 - s->presence_keep);
  const V noise_keep = v_set1 (s->noise_keep);
  const V noise_go = v_set1 (1.0 - s->noise_keep);
  const V one = v_set1 (1.0), most = v_set1 (TFX_PRESENCE_MOST);
  VSide p, mean, part;

  EACH p.v[k] =
      v_min (slope * v_divide (powers.v[k], noise.v[k]), v_set1 (1000.0));
  p = v_power (p, power, true, n_side);
  EACH p.v[k] = v_divide (one, one + p.v[k]);
  EACH mean.v[k] =
      v_fma (keep, v_load_f64 (s->presence + at + k * W), go * p.v[k]);
  EACH v_store_f64 (s->presence + at + k * W, mean.v[k]);
  EACH part.v[k] =
      choose ((VBits)(mean.v[k] > most), v_min (p.v[k], most), p.v[k]);
  EACH p.v[k] = v_fma (part.v[k], noise.v[k] - powers.v[k], powers.v[k]);
  EACH noise.v[k] = v_fma (noise_keep, noise.v[k], noise_go * p.v[k]);
  return noise;
}

static void
suppress (const TfxSuppression *s, const double *powers, double *gains,
    size_t n)
{
  const unsigned n_side = N_NOISE;
  const VPower power = v_power_of (TFX_PRESENCE_FACTOR);
  const V zero = v_set1 (0.0), one = v_set1 (1.0);
  const V least = v_set1 (TFX_NOISE_LOWEST), lowest = v_set1 (s->lowest);
  const V factor = v_set1 (TFX_NOISE_FACTOR);
  const V keep = v_set1 (s->prior_keep), go = v_set1 (1.0 - s->prior_keep);

  for (size_t i = 0; i < n; i += N_NOISE * W) {
    VSide p, noise, g, prior, gain;

    EACH p.v[k] = v_load_f64 (powers + i + k * W);
    EACH noise.v[k] = v_max (v_load_f64 (s->noise + i + k * W), least);
    if (s->is_following) {
      noise = follow_noise (s, i, noise, p, &power);
      EACH noise.v[k] = v_max (noise.v[k], least);
    }
    EACH v_store_f64 (s->noise + i + k * W, noise.v[k]);
    EACH g.v[k] = v_divide (p.v[k], factor * noise.v[k]);
    EACH prior.v[k] = v_fma (keep, v_load_f64 (s->prior + i + k * W),
        go * v_max (g.v[k] - one, zero));
    EACH gain.v[k] = v_divide (prior.v[k], one + prior.v[k]);
    EACH v_store_f64 (s->prior + i + k * W, gain.v[k] * gain.v[k] * g.v[k]);
    EACH v_store_f64 (gains + i + k * W, v_max (gain.v[k], lowest));
  }
}
