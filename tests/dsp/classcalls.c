/* SPDX-License-Identifier: LGPL-2.1-or-later
 * classcalls.c: calls of all classes, and where their numbers go.
 */
#include "classcalls.h"

#include <stdio.h>
#include <string.h>

/* ---- the calls ------------------------------------------------------------------ */

const char *const class_calls[] = {
  "Butterworth('lowpass', 300)",
  "Butterworth('bandpass', [300, 900])",
  "Butterworth('bandstop', [420, 900])",
  "LoButterworth(300)",
  "HiButterworth(300)",
  "Chebyshev1('lowpass', 300)",
  "Chebyshev1('bandpass', [300, 900])",
  "LoChebyshev1(300)",
  "HiChebyshev1(300)",
  "Chebyshev2('lowpass', 300, ripple=30)",
  "Chebyshev2('bandpass', [300, 900], ripple=30)",
  "LoChebyshev2(300, ripple=30)",
  "HiChebyshev2(300, ripple=30)",
  "Elliptic('lowpass', 300)",
  "Elliptic('bandpass', [300, 900])",
  "LoElliptic(300)",
  "HiElliptic(300)",
  "Bessel('lowpass', 300)",
  "Bessel('bandpass', [300, 900])",
  "LoBessel(300)",
  "HiBessel(300)",
  "LinkwitzRiley('lowpass', 300)",
  "LinkwitzRiley('bandpass', [300, 900])",
  "LoLinkwitzRiley(300)",
  "HiLinkwitzRiley(300)",
  "HiShelving(300, 0.7, 2)",
  "LoShelving(300, 0.7, 2)",
  "ParametricEQ(300, 1, 6)",
  "Peaking(300, 1, 2, 'linear')",
  "Notch(300, 1)",
  "AllPass(300, 1)",
  "BiquadLPF(300, 1)",
  "BiquadHPF(300, 1)",
  "BiquadBPF(300, 1)",
  "BiquadBPFPeak(300, 1)",
  "BiquadNotch(300, 1)",
  "BiquadAllPass(300, 1)",
  "LoShelving1(300, 2)",
  "HiShelving1(300, 2)",
  "Biquad(1, 0.2, 0.1, 1, -0.5, 0.1)",
  "SOS([[1, 0.2, 0.1, 1, -0.5, 0.1], [1, 0, 0, 2, 0, 0.5]])",
  "Hum(60, harmonics=7, q=2)",
  "GraphicEQ([3, -6, 2, 0, 6, -3, 1, 0, 2, 1])",
  "LogFilterBank(5)",
  "Multiband([300, 2000], None, Gain(2), None)",
  "FIR([0.5, 0.25, 0.125, 0.25])",
  "FIR([0.5, 0.25, 1, 0.25], phase='minimum')",
  "Convolve('" CLASS_CALLS_FILE "', mix=0.5)",
  "DesignableFIR(300, 101)",
  "DesignableFIR(300, 101, window=('kaiser', 4))",
  "DesignableFIR([300, 900], 501, pass_zero=False)",
  "Curve([[300, -6], [3000, 6]], taps=101)",
  "Curve([[300, -6], [3000, 6]], phase='minimum', taps=101)",
  "Curve([[300, -6], [3000, 6]], phase='mixed', taps=101)",
  "LoudnessContour(50, taps=101)",
  "LinearPhase(LoButterworth(3000), taps=101)",
  "Gain(1)",
  "Gain(-6, gain_type='db')",
  "Gain(1, gain_type='power')",
  "Gain(1, clamp=True)",
  "Mix([[0.5]])",
  "Width(1.5)",
  "Crossfeed()",
  "Reverb()",
  "Echo(1000)",
  "Delay(1000)",
  "Delay(bpm=240)",
  "Align(100.5, unit='samples')",
  "Compressor()",
  "Compressor(detector='rms')",
  "Compressor(key_filter=HiButterworth(300))",
  "Expander(-3)",
  "Expander(-3, floor=-10)",
  "Gate(-3, floor=-20)",
  "DynamicEQ(300, 1)",
  "DynamicEQ(300, 1, range=3)",
  "DeEss(300)",
  "Limiter(-12)",
  "Limiter(-12, true_peak=True)",
  "Normalize(0.5, window=0.05)",
  "Normalize(0.5, strategy='rms', window=0.05)",
  "Loudness(-15, 0.2, 20)",
  "Denoise(20)",
  "Denoise(20, learn=0.1, link=True)",
  "Denoise(20, profile=[[300, -40], [3000, -60]])",
  NULL,
};

/* ---- where each number goes ----------------------------------------------------- */

typedef struct Way
{
  const char *param; /* "name", or "Class.name" before */
  double to[CLASS_CALLS_VALUES];
} Way;

static const Way ways[] = {
  /* Past the level, and to where the level throws a switch. */
  { "Gate.threshold", { -30, 6 } },
  { "Expander.ratio", { 20, 1.1, 1e6 } },
  { "Hum.frequency", { 50, 110 } },
  { "Hum.q", { 10, 1 } },
  { "ParametricEQ.gain", { -6, 12 } },
  { "Gain.gain", { 2, 0.5 } },
  { "GraphicEQ.f_min", { 50 } },
  { "GraphicEQ.f_max", { 9000 } },
  { "Chebyshev2.ripple", { 60, 12 } },
  { "LoChebyshev2.ripple", { 60, 12 } },
  { "HiChebyshev2.ripple", { 60, 12 } },
  { "SOS.sos", { 0.4 } },
  { "Biquad.a0", { 2 } },
  { "DynamicEQ.frequency", { 600, 23999.9, 1 } },
  { "DeEss.frequency", { 600, 23999.9, 1 } },
  { "cutoff", { 600, 440 } },
  { "frequency", { 600, 440 } },
  { "order", { 2, 8 } },
  { "q", { 4, 0.5 } },
  { "gain", { 4, 0.5 } },
  { "ripple", { 3, 0.01 } },
  { "passband_ripple", { 3, 0.01 } },
  { "stopband_attenuation", { 80, 20 } },
  { "n_bands", { 9, 2 } },
  { "f_min", { 200 } },
  { "f_max", { 2000 } },
  { "b0", { 0.5, 2 } },
  { "b1", { -0.5, 1 } },
  { "b2", { -0.5, 1 } },
  { "a1", { -0.9, 0.5 } },
  { "a2", { 0.3, -0.2 } },
  { "crossovers", { 600, 440 } },
  { "harmonics", { 8, 3 } },
  { "gains", { -6, 0.25 } },
  { "amount", { 0, 4 } },
  { "level", { 9.5, 1 } },
  { "b", { -1, 0.75 } },
  { "points", { 900, 600 } },
  { "profile", { 900, 600 } },
  { "num_taps", { 301, 31 } },
  { "beta", { 12, 1 } },
  { "mix", { 0.9, 0.1 } },
  { "room_size", { 1, 0.1 } },
  { "damping", { 1, 0.1 } },
  { "delay", { 3000, 50 } },
  { "delay_samples", { 3000, 50 } },
  { "bpm", { 480, 100 } },
  { "decay", { 0.9, 0.1 } },
  { "feedback", { 0.9, 0.1 } },
  { "taps", { 8, 1 } },
  { "threshold", { -30, -8 } },
  { "ratio", { 1e6, 1.5 } },
  { "attack", { 0.1, 0.001 } },
  { "release", { 1, 0.01 } },
  { "knee", { 40, 0.01 } },
  { "phon", { 20, 90 } },
  { "reference", { 60, 20 } },
  { "range", { -3, 6 } },
  { "makeup_gain", { 12, -12 } },
  { "floor", { -60, -1 } },
  { "peak", { 1, 0.1 } },
  { "max_gain", { 1, 40 } },
  { "target", { -30, -10 } },
  { "speed", { 100, 1 } },
  { "reduction", { 40, 1 } },
  { "smoothing", { 1, 0.01 } },
};

bool
class_number_is_fixed (const TfxParam *param)
{
  return strcmp (param->name, "fs") == 0 || strcmp (param->name, "key") == 0 ||
         strcmp (param->name, "channel") == 0 ||
         strcmp (param->name, "layout") == 0 ||
         strcmp (param->name, "azimuth") == 0 ||
         strcmp (param->name, "elevation") == 0 ||
         (strcmp (param->name, "delay") == 0 &&
             (param->types & TFX_VALUE_WORD)) ||
         (strcmp (param->name, "taps") == 0 &&
             (param->types & TFX_VALUE_NONE)) ||
         strcmp (param->name, "lookahead") == 0 ||
         strcmp (param->name, "learn") == 0 ||
         strcmp (param->name, "window") == 0;
}

const double *
class_number_way (const TfxClass *klass, const TfxParam *param)
{
  char full[100];

  snprintf (full, sizeof full, "%s.%s", klass->name, param->name);
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    if (strcmp (ways[i].param, full) == 0 ||
        strcmp (ways[i].param, param->name) == 0)
      return ways[i].to;
  }
  return NULL;
}
