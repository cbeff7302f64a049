/* SPDX-License-Identifier: LGPL-2.1-or-later
 * catalogue.c: the classes, their parameters in TorchFX's order, and their
 * defaults.  docs/classes.md has the formulas. */
#include <math.h>
#include <string.h>

#include "class.h"
#include "design/rbj.h"

/* Tables. */
/* clang-format off */

/* ---- words ------------------------------------------------------------------ */

#define PLAIN(word) { word, { NULL }, NULL }

static const TfxWord btypes[] = {
  { "lowpass", { "low", "lp", "l", "low-pass" }, NULL },
  { "highpass", { "high", "hp", "h", "high-pass" }, NULL },
  { "bandpass", { "band", "pass", "bp", "band-pass" }, NULL },
  { "bandstop", { "stop", "bands", "bs", "band-stop", "band-reject" }, NULL },
  { NULL }
};
static const TfxWord scales[] = {
  PLAIN ("linear"), { "db", { "dB" }, NULL }, { NULL }
};
static const TfxWord q_scales[] = {
  PLAIN ("linear"), { "octaves", { "octave" }, NULL }, { NULL }
};
static const TfxWord norms[] = {
  PLAIN ("phase"), PLAIN ("delay"), { "mag", { "magnitude" }, NULL }, { NULL }
};
static const TfxWord gain_types[] = {
  PLAIN ("amplitude"), { "db", { "dB" }, NULL }, PLAIN ("power"), { NULL }
};
static const TfxWord windows[] = {
  { "hamming", { "ham" }, NULL },
  { "hann", { "han", "hanning" }, NULL },
  { "blackman", { "black", "blk" }, NULL },
  { "blackmanharris", { "blackman-harris", "blackharr", "bkh" }, NULL },
  { "nuttall", { "nutl", "nut" }, NULL },
  { "flattop", { "flat", "flt" }, NULL },
  { "bartlett", { "bart", "brt" }, NULL },
  { "boxcar", { "rectangular", "rect", "box", "ones" }, NULL },
  { "kaiser", { "ksr" }, NULL },
  { "parzen", { "parz", "par" }, NULL },
  { "bohman", { "bman", "bmn" }, NULL },
  { "barthann", { "brthan", "bth" }, NULL },
  { NULL }
};
static const TfxWord conv_modes[] = {
  PLAIN ("auto"), PLAIN ("direct"), PLAIN ("fft"), { NULL }
};
static const TfxWord phases[] = {
  PLAIN ("original"), PLAIN ("minimum"), PLAIN ("linear"), { NULL }
};
static const TfxWord curve_phases[] = {
  PLAIN ("linear"), PLAIN ("minimum"), PLAIN ("mixed"), { NULL }
};
static const TfxWord layouts[] = {
  PLAIN ("true-stereo"), PLAIN ("hesuvi"), { NULL }
};
static const TfxWord delays[] = { PLAIN ("peak"), { NULL } };
static const TfxWord riaa_modes[] = {
  { "playback", { "reproduction" }, NULL }, PLAIN ("recording"), { NULL }
};
static const TfxWord units[] = {
  PLAIN ("ms"), PLAIN ("m"), PLAIN ("ft"), PLAIN ("samples"), { NULL }
};
static const TfxWord curves[] = {
  { "A", { "a" }, NULL }, { "C", { "c" }, NULL }, { "K", { "k" }, NULL },
  { NULL }
};
static const TfxWord detectors[] = {
  PLAIN ("peak"), { "rms", { "RMS" }, NULL }, { NULL }
};
static const TfxWord levels[] = {
  { "peak", { "PeakNormalizationStrategy" }, "PeakNormalizationStrategy()" },
  { "rms", { "RMSNormalizationStrategy", "RMS" },
      "RMSNormalizationStrategy()" },
  { "per-channel", { "PerChannelNormalizationStrategy", "per_channel" },
      "PerChannelNormalizationStrategy()" },
  { NULL }
};
static const TfxWord strategies[] = {
  { "mono", { "MonoDelayStrategy" }, "MonoDelayStrategy()" },
  { "ping-pong", { "PingPongDelayStrategy", "pingpong" },
      "PingPongDelayStrategy()" },
  { NULL }
};

/* ---- parameters ------------------------------------------------------------- */

enum
{
  REQUIRED = TFX_PARAM_REQUIRED,
  WHOLE = TFX_PARAM_INTEGER,
  ABOVE = TFX_PARAM_ABOVE_MINIMUM,
  BELOW = TFX_PARAM_BELOW_MAXIMUM,
  HZ = TFX_PARAM_FREQUENCY | TFX_PARAM_ABOVE_MINIMUM,
  KEYWORD = TFX_PARAM_KEYWORD,
  STRUCTURE = TFX_PARAM_STRUCTURE,
  DEPENDENT = TFX_PARAM_DEPENDENT,
  SCALED = TFX_PARAM_SCALED,
  OR_NONE = TFX_PARAM_NONE_IS_DEFAULT
};

#define NONE { .type = TFX_VALUE_NONE }
#define N(n) { .type = TFX_VALUE_NUMBER, .number = (n) }
#define W(w) { .type = TFX_VALUE_WORD, .word = w }
#define B(b) { .type = TFX_VALUE_BOOL, .number = (b) }

/* A number; one that may be None, with its default; a word; True or False, which is
 * the default; and a list. */
#define NUMBER(name, flags, unit, low, high, n, doc) \
  { name, TFX_VALUE_NUMBER, flags, unit, low, high, 0, 0, NULL, N (n), doc }
#define MAYBE(name, flags, unit, low, high, doc, ...) \
  { name, TFX_VALUE_NUMBER | TFX_VALUE_NONE, flags, unit, low, high, 0, 0, \
    NULL, __VA_ARGS__, doc }
#define WORD(name, flags, words, w, doc) \
  { name, TFX_VALUE_WORD, flags, "", 0, 0, 0, 0, words, W (w), doc }
#define BOOL(name, flags, doc) \
  { name, TFX_VALUE_BOOL, flags, "", 0, 0, 0, 0, NULL, B (0.0), doc }
#define LIST(name, flags, unit, low, high, n_min, n_max, doc) \
  { name, TFX_VALUE_LIST, flags, unit, low, high, n_min, n_max, NULL, NONE, \
    doc }
#define EDGES(n_min, n_max, doc) \
  { "cutoff", TFX_VALUE_NUMBER | TFX_VALUE_LIST, REQUIRED | HZ, "Hz", 0.0, \
    INFINITY, n_min, n_max, NULL, N (1000.0), doc }

#define FREQUENCY(name, flags, n, doc) \
  NUMBER (name, (flags) | HZ, "Hz", 0.0, INFINITY, n, doc)
#define CUTOFF(doc) FREQUENCY ("cutoff", REQUIRED, 1000.0, doc)
#define FS \
  MAYBE ("fs", WHOLE | TFX_PARAM_STREAM, "Hz", 1.0, 1e9, \
    "sample rate; if given, it must be that of the stream", NONE)

/* Of IIR filters. */
#define MAX_ORDER ((double) TFX_DESIGN_MAX_ORDER)
/* The orders that order_scale='db' needs: 6 dB per octave each. */
#define MAX_SLOPE (6.0 * MAX_ORDER + 5.0)
#define BTYPE \
  WORD ("btype", REQUIRED | STRUCTURE, btypes, "lowpass", "filter type")
#define BAND EDGES (2, 2, "cutoff frequency, or [lower, upper] of a band")
#define ORDER(n, low, high) \
  NUMBER ("order", WHOLE | STRUCTURE | DEPENDENT, "", low, high, n, \
    "order of the analog prototype")
#define ORDER_SCALE \
  WORD ("order_scale", STRUCTURE, scales, "linear", \
    "unit of order; 'db': slope in dB per octave, 6 per order")
#define RIPPLE(name, n, doc) NUMBER (name, ABOVE, "dB", 0.0, 400.0, n, doc)
#define RIPPLES \
  RIPPLE ("passband_ripple", 0.1, "pass-band ripple"), \
  RIPPLE ("stopband_attenuation", 40.0, "stop-band attenuation")
#define NORM \
  WORD ("norm", 0, norms, "phase", \
    "what cutoff refers to: phase midpoint, delay at 0 Hz, or -3 dB")

static const TfxParam butterworth[]
    = { BTYPE, BAND, ORDER (4, 1.0, MAX_SLOPE), ORDER_SCALE, FS };
static const TfxParam butterworth_side[] = { CUTOFF ("-3 dB frequency"),
  ORDER (5, 1.0, MAX_SLOPE), ORDER_SCALE, FS };
static const TfxParam chebyshev1[] = { BTYPE, BAND, ORDER (4, 1.0, MAX_ORDER),
  RIPPLE ("ripple", 0.1, "pass-band ripple"), FS };
static const TfxParam chebyshev1_side[] = { CUTOFF ("pass-band edge"),
  ORDER (4, 1.0, MAX_ORDER), RIPPLE ("ripple", 0.1, "pass-band ripple"), FS };
static const TfxParam chebyshev2[] = { BTYPE, BAND, ORDER (4, 1.0, MAX_ORDER),
  RIPPLE ("ripple", 0.1, "stop-band attenuation"), FS };
static const TfxParam chebyshev2_side[] = { CUTOFF ("stop-band edge"),
  ORDER (4, 1.0, MAX_ORDER),
  RIPPLE ("ripple", 0.1, "stop-band attenuation"), FS };
static const TfxParam elliptic[]
    = { BTYPE, BAND, ORDER (4, 1.0, MAX_ORDER), RIPPLES, FS };
static const TfxParam elliptic_side[]
    = { CUTOFF ("pass-band edge"), ORDER (4, 1.0, MAX_ORDER), RIPPLES, FS };
static const TfxParam bessel[]
    = { BTYPE, BAND, ORDER (4, 1.0, MAX_ORDER), NORM, FS };
static const TfxParam bessel_side[]
    = { CUTOFF ("cutoff frequency, defined by norm"),
        ORDER (4, 1.0, MAX_ORDER), NORM, FS };
static const TfxParam linkwitz_riley[]
    = { BTYPE, BAND, ORDER (4, 2.0, 2.0 * MAX_SLOPE), ORDER_SCALE, FS };
static const TfxParam linkwitz_riley_side[] = { CUTOFF ("-6 dB frequency"),
  ORDER (4, 2.0, 2.0 * MAX_SLOPE), ORDER_SCALE, FS };

/* Of sections. */
#define Q \
  NUMBER ("q", REQUIRED, "", 0.001, 10000.0, 0.7071067811865476, \
    "quality factor")
#define Q_SCALE \
  WORD ("q_scale", KEYWORD, q_scales, "linear", \
    "unit of q: a quality factor ('linear') or the bandwidth in octaves")
#define GAIN(doc) \
  NUMBER ("gain", REQUIRED | SCALED, "", -120.0, 1e6, 1.0, doc)
#define GAIN_SCALE(flags) \
  WORD ("gain_scale", flags, scales, "linear", \
    "unit of gain: a factor ('linear') or dB ('db')")
#define COEFFICIENT(name, n) \
  NUMBER (name, REQUIRED, "", -1e6, 1e6, n, \
    "coefficient (all are divided by a0)")

static const TfxParam shelving[] = { CUTOFF ("shelf midpoint frequency"), Q,
  GAIN ("shelf gain, in the unit of gain_scale"), GAIN_SCALE (0), FS };
static const TfxParam first_order[] = { CUTOFF ("shelf midpoint frequency"),
  GAIN ("shelf gain, in the unit of gain_scale"), GAIN_SCALE (0), FS };
static const TfxParam parametric[] = {
  FREQUENCY ("frequency", REQUIRED, 1000.0, "centre frequency"), Q,
  NUMBER ("gain", REQUIRED, "dB", -120.0, 120.0, 0.0, "gain at the centre"),
  FS, Q_SCALE };
static const TfxParam peaking[] = { CUTOFF ("centre frequency"), Q,
  GAIN ("gain at the centre, in the unit of gain_scale"),
  GAIN_SCALE (REQUIRED), FS, Q_SCALE };
static const TfxParam corner[] = { CUTOFF ("corner frequency"), Q, FS,
  Q_SCALE };
static const TfxParam centre[] = { CUTOFF ("centre frequency"), Q, FS,
  Q_SCALE };
static const TfxParam bank[] = {
  NUMBER ("n_bands", REQUIRED | WHOLE | STRUCTURE, "", 2.0, TFX_EXPR_MAX_BANDS,
      10.0, "number of bands"),
  FREQUENCY ("f_min", 0, 20.0, "lowest centre frequency"),
  FREQUENCY ("f_max", 0, 20000.0, "highest centre frequency"),
  NUMBER ("q", 0, "", 0.001, 10000.0, 1.414, "quality factor of each band"),
  FS };
static const TfxParam biquad[] = { COEFFICIENT ("b0", 1.0),
  COEFFICIENT ("b1", 0.0), COEFFICIENT ("b2", 0.0), COEFFICIENT ("a0", 1.0),
  COEFFICIENT ("a1", 0.0), COEFFICIENT ("a2", 0.0), FS };
static const TfxParam sos[] = {
  { "sos", TFX_VALUE_LIST, REQUIRED, "", -1e6, 1e6, 6,
      6 * TFX_DESIGN_MAX_SECTIONS, NULL, NONE,
      "sections, each [b0, b1, b2, a0, a1, a2]", NULL, 6 } };
static const TfxParam hum[] = {
  FREQUENCY ("frequency", 0, 50.0, "mains frequency"),
  NUMBER ("harmonics", WHOLE | STRUCTURE, "", 1.0, TFX_DESIGN_MAX_SECTIONS, 8.0,
      "number of notches, including the fundamental"),
  NUMBER ("q", 0, "", 0.1, 10000.0, 30.0, "quality factor of each notch"),
  FS };
static const TfxParam graphic[] = {
  LIST ("gains", REQUIRED, "dB", -24.0, 24.0, 2, 31, "gain of each band"),
  FREQUENCY ("f_min", 0, 31.25, "centre of the first band"),
  FREQUENCY ("f_max", 0, 16000.0, "centre of the last band"), FS };
static const TfxParam riaa[] = {
  WORD ("mode", 0, riaa_modes, "playback",
      "direction; 'recording' is the inverse of 'playback'"), FS };
static const TfxParam weighting[] = {
  WORD ("curve", REQUIRED, curves, "A", "weighting curve"), FS };
static const TfxParam bands[] = {
  { "crossovers", TFX_VALUE_NUMBER | TFX_VALUE_LIST, REQUIRED | HZ, "Hz", 0.0,
    INFINITY, 1, TFX_BANDS_MAX_CROSSOVERS, NULL, N (1000.0),
    "crossover frequency, or a list in rising order" },
  NUMBER ("order", WHOLE | KEYWORD | STRUCTURE, "", 2.0, TFX_BANDS_MAX_ORDER,
      4.0, "order of the crossovers, even: 6 dB per octave each"),
  FS };

/* Of FIR filters. */
#define CONV_MODE \
  WORD ("conv_mode", 0, conv_modes, "auto", "convolution method")
#define CHANNEL \
  MAYBE ("channel", WHOLE | KEYWORD, "", 0.0, TFX_EXPR_MAX_CHANNELS - 1, \
    "channel of the file to use for all channels", NONE)
#define DELAY \
  { "delay", TFX_VALUE_NUMBER | TFX_VALUE_WORD, WHOLE | KEYWORD, "samples", \
    0.0, TFX_FIR_MAX_TAPS - 1, 0, 0, delays, N (0.0), \
    "delay of the impulse response, reported as latency" }
#define PHASE \
  WORD ("phase", KEYWORD, phases, "original", \
    "original: the taps as they are; minimum, linear: with the same magnitude")

static const TfxParam fir[] = {
  { "b", TFX_VALUE_LIST | TFX_VALUE_TEXT, REQUIRED, "", -1e6, 1e6, 1,
      TFX_EXPR_MAX_LIST, NULL, NONE, "taps, or the name of a file" },
  CONV_MODE, CHANNEL, DELAY, PHASE };
static const TfxParam convolve[] = {
  { "location", TFX_VALUE_TEXT, REQUIRED, "", 0, 0, 0, 0, NULL, NONE,
      "impulse response file" },
  NUMBER ("mix", 0, "", 0.0, 1.0, 1.0, "wet/dry balance, 1 is fully wet"),
  CONV_MODE, CHANNEL, DELAY, PHASE,
  { "layout", TFX_VALUE_NONE | TFX_VALUE_WORD | TFX_VALUE_LIST,
      WHOLE | KEYWORD | TFX_PARAM_ROWS, "", -1.0, 1023.0, 1,
      TFX_EXPR_MAX_CHANNELS * TFX_EXPR_MAX_CHANNELS, layouts, NONE,
      "one row per output channel: the channels of the file for each input, "
      "-1 for none" } };
#define ANGLES(name, most, doc) \
  { name, TFX_VALUE_LIST | TFX_VALUE_NONE, KEYWORD, "degrees", -(most), most, \
    1, TFX_EXPR_MAX_CHANNELS, NULL, NONE, doc }
static const TfxParam hrir[] = {
  { "location", TFX_VALUE_TEXT, REQUIRED, "", 0, 0, 0, 0, NULL, NONE,
      "file of head-related impulse responses (SOFA)" },
  CONV_MODE,
  ANGLES ("azimuth", 360.0,
      "direction of each input, to the left; None: by its position"),
  ANGLES ("elevation", 90.0,
      "direction of each input, up; None: 0, or by its position") };
static const TfxParam designable[] = {
  EDGES (1, 64, "cutoff frequency, or band edges in rising order"),
  NUMBER ("num_taps", REQUIRED | WHOLE, "", 1.0, TFX_EXPR_MAX_TAPS, 101.0,
      "number of taps"),
  FS,
  { "pass_zero", TFX_VALUE_BOOL | TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, btypes,
      B (1.0), "True if 0 Hz passes, or the filter type" },
  { "window", TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, windows, W ("hamming"),
      "window function; ('kaiser', beta) sets beta too", "beta" },
  CONV_MODE,
  MAYBE ("beta", KEYWORD, "", 0.0, 700.0, "beta of the Kaiser window", NONE),
  DELAY };

#define CURVE_PHASE(w) \
  WORD ("phase", 0, curve_phases, w, \
    "linear: with latency; minimum: without; mixed: half of it")
#define TAPS \
  MAYBE ("taps", WHOLE, "", 1.0, TFX_CURVE_MAX_TAPS, \
      "number of taps, odd; None: a tap for each 5 Hz of the sample rate", NONE)
#define PHON(name, flags, n, doc) \
  NUMBER (name, flags, "phon", 20.0, 90.0, n, doc)

static const TfxParam curve[] = {
  { "points", TFX_VALUE_LIST | TFX_VALUE_TEXT, REQUIRED | SCALED, "", -1e9,
      1e9, 2, TFX_EXPR_MAX_LIST, NULL, NONE,
      "points, each [Hz, dB], in rising order, or the name of a file", NULL,
      2 },
  CURVE_PHASE ("linear"), TAPS, CONV_MODE, FS };
static const TfxParam contour[] = {
  PHON ("phon", REQUIRED, 60.0, "loudness level of listening"),
  PHON ("reference", 0, 80.0, "loudness level that the sound is made for"),
  CURVE_PHASE ("minimum"), TAPS, CONV_MODE, FS };
static const TfxParam linear[] = {
  MAYBE ("taps", WHOLE | KEYWORD, "", 1.0, TFX_CURVE_MAX_TAPS,
      "number of taps, odd; None: enough for a magnitude true to -100 dB",
      NONE),
  CONV_MODE, FS };

/* Of effects. */
#define PART(name, n, doc) NUMBER (name, 0, "", 0.0, 1.0, n, doc)
#define MIX(n) PART ("mix", n, "wet/dry balance, 1 is fully wet")

static const TfxParam mix[] = {
  LIST ("gains", REQUIRED | TFX_PARAM_ROWS, "", -1e6, 1e6, 1,
      TFX_EXPR_MAX_CHANNELS * TFX_EXPR_MAX_CHANNELS,
      "one row per output channel: the gains of the input channels") };
static const TfxParam width[] = {
  NUMBER ("amount", REQUIRED, "", 0.0, 4.0, 1.0,
      "gain of the side: 0 is mono, 1 no change, more is wider") };
static const TfxParam crossfeed[] = {
  NUMBER ("frequency", 0, "Hz", 300.0, 2000.0, 700.0,
      "cutoff of the crossfeed"),
  NUMBER ("level", 0, "dB", 1.0, 15.0, 4.5,
      "level of the own lows above those of the other channel"),
  FS };
static const TfxParam gain[] = {
  NUMBER ("gain", REQUIRED, "", -1e6, 1e6, 1.0,
      "gain, in the unit of gain_type"),
  WORD ("gain_type", 0, gain_types, "amplitude",
      "unit of gain: a factor, dB, or a power factor"),
  BOOL ("clamp", STRUCTURE, "True: clip the output at -1 and 1") };
static const TfxParam reverb[] = {
  PART ("room_size", 0.5, "room size: larger rings longer"),
  PART ("damping", 0.5, "high-frequency damping"), MIX (0.3), FS };
static const TfxParam echo[] = {
  NUMBER ("delay", WHOLE, "samples", 1.0, TFX_EXPR_MAX_DELAY, 4410.0,
      "delay of the echo"),
  NUMBER ("decay", ABOVE | BELOW, "", 0.0, 1.0, 0.5, "gain factor of the echo"),
  MIX (0.5) };
static const TfxParam delay[] = {
  MAYBE ("delay_samples", WHOLE, "samples", 1.0, TFX_EXPR_MAX_DELAY,
      "time between echoes; None: set by bpm and delay_time", NONE),
  MAYBE ("bpm", 0, "beats per minute", 1.0, 10000.0, "tempo", NONE),
  WORD ("delay_time", 0, NULL, "1/8",
      "time between echoes: a note 1/8, 1/8d (dotted), 1/8t (triplet), or 2.5ms"),
  FS,
  NUMBER ("feedback", 0, "", 0.0, 0.95, 0.3, "gain factor from echo to echo"),
  MIX (0.2),
  NUMBER ("taps", WHOLE, "", 1.0, TFX_EXPR_MAX_ECHOES, 3.0,
      "number of echoes"),
  WORD ("strategy", OR_NONE, strategies, "mono",
      "'ping-pong': echoes of a stereo stream alternate sides") };

static const TfxParam align[] = {
  NUMBER ("delay", REQUIRED, "", 0.0, TFX_EXPR_MAX_DELAY, 0.0,
      "delay, in the unit of unit"),
  WORD ("unit", 0, units, "ms",
      "unit of delay: ms, samples, or the way of sound in m or ft") };

/* Of dynamics. */
#define THRESHOLD(n) \
  NUMBER ("threshold", 0, "dB", -200.0, 100.0, n, \
    "threshold; 0 dB is full scale")
#define RATIO(n, doc) \
  NUMBER ("ratio", TFX_PARAM_INFINITE, "", 1.0, TFX_RATIO_INFINITE, n, doc)
#define SECONDS(name, high, n, doc) NUMBER (name, 0, "s", 0.0, high, n, doc)
#define TIMES(attack, release) \
  SECONDS ("attack", 100.0, attack, "attack time constant"), \
  SECONDS ("release", 100.0, release, "release time constant")
#define KNEE(n) NUMBER ("knee", 0, "dB", 0.0, 120.0, n, "knee width")
#define FLOOR(...) \
  MAYBE ("floor", 0, "dB", TFX_EXPR_NO_FLOOR_DB, 0.0, "lowest gain", \
    __VA_ARGS__)
#define RANGE \
  NUMBER ("range", 0, "dB", -120.0, 120.0, -12.0, \
    "lowest gain of the band, or its highest if positive")
#define DETECTOR WORD ("detector", 0, detectors, "peak", "level detector")
#define LINK \
  BOOL ("link", KEYWORD, \
    "True: one gain for all channels, set by the loudest")
#define KEY \
  LIST ("key", OR_NONE | KEYWORD | WHOLE | STRUCTURE, "", 0.0, \
    TFX_DYNAMICS_MAX_KEY, 1, TFX_DYNAMICS_MAX_KEY, \
    "channels, from 0, whose level sets the gain of all others")
#define MAX_GAIN(n) \
  NUMBER ("max_gain", KEYWORD, "dB", 0.0, 120.0, n, "highest gain")

static const TfxParam compressor[] = { THRESHOLD (-20.0),
  RATIO (4.0, "compression ratio: input dB per output dB"),
  TIMES (0.005, 0.05), KNEE (6.0),
  NUMBER ("makeup_gain", 0, "dB", -120.0, 120.0, 0.0, "make-up gain"),
  DETECTOR, FS, LINK, KEY };
static const TfxParam expander[] = { THRESHOLD (-40.0),
  RATIO (2.0, "expansion ratio: output dB per input dB"),
  TIMES (0.005, 0.05), KNEE (6.0), FLOOR (NONE), DETECTOR, FS, LINK, KEY };
static const TfxParam gate[] = { THRESHOLD (-50.0), TIMES (0.001, 0.05),
  FLOOR (N (-80.0)), KNEE (3.0), DETECTOR, FS, LINK, KEY };
static const TfxParam dynamic_eq[] = {
  FREQUENCY ("frequency", REQUIRED, 1000.0, "centre frequency"), Q,
  THRESHOLD (-30.0),
  RATIO (4.0, "dB of the band's level per dB that remains"),
  TIMES (0.005, 0.05), RANGE, FS, LINK };
static const TfxParam de_ess[] = {
  FREQUENCY ("frequency", 0, 6000.0, "shelf midpoint frequency"),
  THRESHOLD (-30.0),
  RATIO (4.0, "dB of the high band's level per dB that remains"),
  TIMES (0.001, 0.05), RANGE, FS, LINK };
static const TfxParam limiter[] = { THRESHOLD (-1.0),
  SECONDS ("lookahead", 10.0, 0.005, "look-ahead time"),
  SECONDS ("release", 100.0, 0.05, "release time constant"), FS, LINK,
  BOOL ("true_peak", KEYWORD | STRUCTURE,
      "True: limit peaks between samples too") };
static const TfxParam normalize[] = {
  NUMBER ("peak", 0, "", 1e-6, 1e6, 1.0, "target level, as a sample value"),
  WORD ("strategy", OR_NONE | STRUCTURE, levels, "peak", "level to measure"),
  NUMBER ("window", KEYWORD, "s", 0.01, 60.0, 3.0,
      "measuring window, half of it look-ahead"),
  MAX_GAIN (30.0) };
static const TfxParam loudness[] = {
  MAYBE ("target", 0, "LUFS", -70.0, 0.0,
      "integrated loudness to reach; None: measure only", N (-23.0)),
  NUMBER ("lookahead", 0, "s", 0.2, 30.0, 3.0, "look-ahead time"),
  NUMBER ("speed", 0, "dB/s", 0.01, 1000.0, 3.0, "fastest change of the gain"),
  MAX_GAIN (20.0), FS };
static const TfxParam denoise[] = {
  NUMBER ("reduction", 0, "dB", 0.0, 40.0, 12.0, "attenuation of the noise"),
  MAYBE ("learn", STRUCTURE, "s", 0.05, 60.0,
      "time from the start that is noise alone; None: follow the noise", NONE),
  SECONDS ("smoothing", 10.0, 0.4,
      "time constant of the gain in noise; less: more musical noise"), FS,
  BOOL ("link", KEYWORD,
      "True: one gain for all channels, from their mean power"),
  { "profile", TFX_VALUE_NONE | TFX_VALUE_LIST | TFX_VALUE_TEXT,
      KEYWORD | SCALED, "", -1e9, 1e9, 2, TFX_EXPR_MAX_LIST, NULL, NONE,
      "noise, points [Hz, dBFS/Hz] in rising order, or the name of a file; "
      "None: measure it",
      NULL, 2 } };

/* ---- classes ---------------------------------------------------------------- */

#define PARAMS(list) list, sizeof list / sizeof list[0]
#define CLASS(name, kind, n, list, ops, doc, example) \
  { name, { NULL }, TFX_CLASS_##kind, n, PARAMS (list), doc, example, \
    &tfx_##ops##_ops, 0, 0 }
#define CHAINS(name, kind, n, list, ops, doc, example, least, most, of) \
  { name, { NULL }, TFX_CLASS_##kind, n, PARAMS (list), doc, example, \
    &tfx_##ops##_ops, 0, 0, least, most, of }
#define IIR(name, n, list, family, mode, doc, example) \
  { name, { NULL }, TFX_CLASS_SECTIONS, n, PARAMS (list), doc, example, \
    &tfx_iir_ops, family, mode }
/* A family: any type, low-pass and high-pass. */
#define FAMILY(name, list, family, doc, lo, hi, example, lo_args, hi_args) \
  IIR (name, 2, list, family, TFX_CLASS_MODE_BTYPE, doc, name example), \
  IIR ("Lo" name, 1, list##_side, family, TFX_MODE_LOW_PASS, lo, \
      "Lo" name lo_args), \
  IIR ("Hi" name, 1, list##_side, family, TFX_MODE_HIGH_PASS, hi, \
      "Hi" name hi_args)
#define BIQUAD(name, alias, list, kind, doc, example) \
  { name, { alias }, TFX_CLASS_SECTIONS, 1, PARAMS (list), doc, name example, \
    &tfx_biquad_ops, TFX_RBJ_##kind, 0 }
#define DYNAMICS(name, list, ops, variant, doc, example) \
  { name, { NULL }, TFX_CLASS_DYNAMICS, 0, PARAMS (list), doc, example, \
    &tfx_##ops##_ops, TFX_CLASS_##variant, 0 }
#define KEYED(name, list, variant, doc, example) \
  { name, { NULL }, TFX_CLASS_DYNAMICS, 0, PARAMS (list), doc, example, \
    &tfx_dynamics_ops, TFX_CLASS_##variant, 0, 0, 1, \
    "filters in series that the level is measured behind; None: none", \
    "key_filter" }

static const TfxClass classes[] = {
  FAMILY ("Butterworth", butterworth, TFX_FAMILY_BUTTERWORTH,
      "maximally flat pass band", "low-pass, maximally flat pass band",
      "high-pass, maximally flat pass band", "('bandpass', [300, 3400])",
      "(1000, order=4)", "(80, order=4)"),
  FAMILY ("Chebyshev1", chebyshev1, TFX_FAMILY_CHEBYSHEV1,
      "ripple in the pass band", "low-pass, ripple in the pass band",
      "high-pass, ripple in the pass band",
      "('bandpass', [300, 3400], ripple=0.5)", "(5000, ripple=0.5)",
      "(80, ripple=0.5)"),
  FAMILY ("Chebyshev2", chebyshev2, TFX_FAMILY_CHEBYSHEV2,
      "ripple in the stop band", "low-pass, ripple in the stop band",
      "high-pass, ripple in the stop band",
      "('bandstop', [900, 1100], ripple=40)", "(5000, ripple=40)",
      "(80, ripple=40)"),
  FAMILY ("Elliptic", elliptic, TFX_FAMILY_ELLIPTIC,
      "ripple in both bands, steepest transition",
      "low-pass, ripple in both bands", "high-pass, ripple in both bands",
      "('bandpass', [300, 3400])", "(5000, stopband_attenuation=60)",
      "(80, stopband_attenuation=60)"),
  FAMILY ("Bessel", bessel, TFX_FAMILY_BESSEL, "maximally flat group delay",
      "low-pass, maximally flat group delay",
      "high-pass from a Bessel prototype", "('lowpass', 5000, norm='mag')",
      "(5000, norm='mag')", "(80, norm='mag')"),
  FAMILY ("LinkwitzRiley", linkwitz_riley, TFX_CLASS_LINKWITZ_RILEY,
      "crossover: two Butterworth filters of half the order in series",
      "low-pass of a crossover", "high-pass of a crossover",
      "('lowpass', 2000, order=4)", "(2000, order=4)", "(2000, order=4)"),

  BIQUAD ("HiShelving", NULL, shelving, HIGH_SHELF, "high shelf",
      "(8000, q=0.7, gain=3, gain_scale='db')"),
  BIQUAD ("LoShelving", NULL, shelving, LOW_SHELF, "low shelf",
      "(120, q=0.7, gain=3, gain_scale='db')"),
  BIQUAD ("ParametricEQ", NULL, parametric, PEAKING,
      "peaking equaliser band, gain in dB", "(1000, q=1, gain=3)"),
  BIQUAD ("Peaking", NULL, peaking, PEAKING,
      "peaking equaliser band, gain as a factor or in dB",
      "(1000, q=1, gain=3, gain_scale='db')"),
  BIQUAD ("Notch", "iirnotch", centre, NOTCH, "removes one frequency",
      "(50, q=30)"),
  BIQUAD ("AllPass", "iirallpass", centre, ALL_PASS, "changes the phase only",
      "(1000, q=0.7)"),
  BIQUAD ("BiquadLPF", "lowpass", corner, LOW_PASS, "second-order low-pass",
      "(1000, q=0.7071)"),
  BIQUAD ("BiquadHPF", "highpass", corner, HIGH_PASS, "second-order high-pass",
      "(80, q=0.7071)"),
  BIQUAD ("BiquadBPF", "bandpass", centre, BAND_PASS,
      "second-order band-pass, 0 dB at the centre", "(1000, q=2)"),
  BIQUAD ("BiquadBPFPeak", "bandpasspeak", centre, BAND_PASS_PEAK,
      "second-order band-pass, gain q at the centre", "(1000, q=2)"),
  BIQUAD ("BiquadNotch", "notch", centre, NOTCH, "removes one frequency",
      "(50, q=30)"),
  BIQUAD ("BiquadAllPass", "allpass", centre, ALL_PASS,
      "changes the phase only", "(1000, q=0.7)"),
  BIQUAD ("LoShelving1", NULL, first_order, LOW_SHELF1, "first-order low shelf",
      "(120, gain=3, gain_scale='db')"),
  BIQUAD ("HiShelving1", NULL, first_order, HIGH_SHELF1,
      "first-order high shelf", "(8000, gain=3, gain_scale='db')"),
  CLASS ("Biquad", SECTIONS, 6, biquad, given,
      "one second-order section, given by its coefficients",
      "Biquad(1, -2, 1, 1, -1.98, 0.9801)"),
  CLASS ("SOS", SECTIONS, 1, sos, given,
      "second-order sections, given by their coefficients",
      "SOS([[1, -2, 1, 1, -1.98, 0.9801]])"),
  CLASS ("Hum", SECTIONS, 1, hum, hum, "removes mains hum and its harmonics",
      "Hum(50, harmonics=8)"),
  CLASS ("GraphicEQ", SECTIONS, 1, graphic, graphic,
      "graphic equaliser, bands evenly spaced in octaves",
      "GraphicEQ([4, 2, 0, 0, 0, 0, 0, 1, 2, 2])"),
  CLASS ("RIAA", SECTIONS, 0, riaa, riaa, "equalisation of vinyl records",
      "RIAA('playback')"),
  CLASS ("Weighting", SECTIONS, 1, weighting, weighting,
      "frequency weighting A, C or K", "Weighting('A')"),
  CLASS ("LogFilterBank", BANK, 1, bank, bank,
      "sum of band-passes, evenly spaced in octaves",
      "LogFilterBank(10, f_min=50, f_max=10000)"),
  CHAINS ("Multiband", BANK, 1, bands, bands,
      "a chain for each band of a crossover; the bands sum to an all-pass",
      "Multiband([200, 2000], Compressor(-20), Compressor(-18), None)",
      2, TFX_BANDS_MAX_CROSSOVERS + 1,
      "chains of the bands, the lowest first; None: unchanged"),

  CLASS ("FIR", FIR, 1, fir, kernel,
      "FIR filter, taps as numbers or from a file", "FIR([0.25, 0.5, 0.25])"),
  CLASS ("Convolve", FIR, 1, convolve, kernel,
      "convolution with an impulse response from a file",
      "Convolve('room.wav', mix=0.3)"),
  CLASS ("HRIR", FIR, 1, hrir, hrir,
      "loudspeakers for headphones, with head-related impulse responses",
      "HRIR('head.sofa', azimuth=[30, -30])"),
  CLASS ("DesignableFIR", FIR, 1, designable, windowed,
      "windowed-sinc FIR filter, linear phase",
      "DesignableFIR(1000, num_taps=101)"),
  CLASS ("Curve", FIR, 1, curve, drawn,
      "FIR filter with the magnitude of a drawn curve",
      "Curve([[20, -3], [100, 2], [20000, 0]], phase='minimum')"),
  CLASS ("LoudnessContour", FIR, 1, contour, drawn,
      "balance for quiet listening, by equal-loudness contours",
      "LoudnessContour(60, reference=80)"),
  CHAINS ("LinearPhase", FIR, 0, linear, linear,
      "FIR filter with the magnitude of a chain of IIR filters",
      "LinearPhase(HiButterworth(40, order=2) | ParametricEQ(1000, q=1, gain=3))",
      1, 1, "IIR filters and gains, also in sums and banks"),

  CLASS ("Gain", GAIN, 1, gain, gain, "gain as a factor or in dB",
      "Gain(-6, gain_type='db')"),
  CLASS ("Mix", MIX, 1, mix, mix, "channel matrix",
      "Mix([[0.5, 0.5], [0.5, 0.5]])"),
  CLASS ("Width", OTHER, 1, width, width, "width of the stereo image",
      "Width(1.5)"),
  CLASS ("Crossfeed", BANK, 0, crossfeed, crossfeed,
      "crossfeed for headphones, Bauer stereo to binaural",
      "Crossfeed(frequency=700, level=4.5)"),
  CLASS ("Reverb", REVERB, 0, reverb, reverb, "artificial reverberation",
      "Reverb(room_size=0.7, mix=0.2)"),
  CLASS ("Echo", DELAY, 0, echo, echo, "one echo",
      "Echo(delay=12000, decay=0.5)"),
  CLASS ("Delay", DELAY, 0, delay, delay, "decaying echoes",
      "Delay(bpm=120, delay_time='1/8')"),
  CLASS ("Align", DELAY, 1, align, align,
      "delay that aligns channels or branches, in ms, m, ft or samples",
      "Align(2.5, unit='ms')"),

  KEYED ("Compressor", compressor, COMPRESSOR,
      "dynamic range compressor", "Compressor(threshold=-20, ratio=4)"),
  KEYED ("Expander", expander, EXPANDER, "downward expander",
      "Expander(threshold=-40, ratio=2)"),
  KEYED ("Gate", gate, GATE, "noise gate", "Gate(threshold=-50)"),
  { "DynamicEQ", { NULL }, TFX_CLASS_DYNAMICS, 2, PARAMS (dynamic_eq),
      "equaliser band whose gain follows its level",
      "DynamicEQ(3000, q=2, threshold=-30)", &tfx_dynamic_eq_ops, 0, 0 },
  { "DeEss", { NULL }, TFX_CLASS_DYNAMICS, 0, PARAMS (de_ess),
      "de-esser: a high shelf whose gain follows the level of the high band",
      "DeEss(6000, threshold=-30)", &tfx_dynamic_eq_ops, 0, 0 },
  DYNAMICS ("Limiter", limiter, ahead, LIMITER, "look-ahead limiter",
      "Limiter(threshold=-1)"),
  DYNAMICS ("Normalize", normalize, ahead, NORMALIZE,
      "automatic gain to a peak or RMS level",
      "Normalize(peak=0.5, strategy='rms')"),
  DYNAMICS ("Loudness", loudness, ahead, LOUDNESS,
      "automatic gain to a loudness, EBU R 128", "Loudness(target=-16)"),
  DYNAMICS ("Denoise", denoise, denoise, DENOISE,
      "reduces steady noise: hiss, hum, fans", "Denoise(reduction=12)"),
};

/* Classes that are in the file of their kind, up to a NULL. */
static const TfxClass *const others[] = {
  NULL
};

/* clang-format on */

#define N_CLASSES (sizeof classes / sizeof classes[0])
#define N_OTHERS (sizeof others / sizeof others[0] - 1)

size_t
tfx_catalogue_n_classes (void)
{
  return N_CLASSES + N_OTHERS;
}

const TfxClass *
tfx_catalogue_class (size_t index)
{
  return index < N_CLASSES              ? &classes[index]
         : index < N_CLASSES + N_OTHERS ? others[index - N_CLASSES]
                                        : NULL;
}

/* Whether the name is the class's in lower case. */
static bool
is_lower_case_of (const char *name, const char *klass)
{
  while (*name &&
         *name == (*klass >= 'A' && *klass <= 'Z' ? *klass + 32 : *klass)) {
    name++;
    klass++;
  }
  return *name == '\0' && *klass == '\0';
}

const TfxClass *
tfx_catalogue_find (const char *name)
{
  const TfxClass *klass;

  for (size_t i = 0; (klass = tfx_catalogue_class (i)); i++) {
    if (strcmp (klass->name, name) == 0)
      return klass;
    for (size_t k = 0; klass->aliases[k]; k++) {
      if (strcmp (klass->aliases[k], name) == 0)
        return klass;
    }
  }
  /* TorchFX's command line writes them so. */
  for (size_t i = 0; (klass = tfx_catalogue_class (i)); i++) {
    if (is_lower_case_of (name, klass->name))
      return klass;
  }
  return NULL;
}
