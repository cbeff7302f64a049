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

static const TfxWord btypes[] = {
  { "lowpass", { "low", "lp", "l", "low-pass" }, NULL },
  { "highpass", { "high", "hp", "h", "high-pass" }, NULL },
  { "bandpass", { "band", "pass", "bp", "band-pass" }, NULL },
  { "bandstop", { "stop", "bands", "bs", "band-stop", "band-reject" }, NULL },
  { NULL }
};

static const TfxWord order_scales[] = {
  { "linear", { NULL }, NULL }, { "db", { "dB" }, NULL }, { NULL }
};

static const TfxWord norms[] = {
  { "phase", { NULL }, NULL },
  { "delay", { NULL }, NULL },
  { "mag", { "magnitude" }, NULL },
  { NULL }
};

static const TfxWord gain_types[] = {
  { "amplitude", { NULL }, NULL },
  { "db", { "dB" }, NULL },
  { "power", { NULL }, NULL },
  { NULL }
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
  { "auto", { NULL }, NULL },
  { "direct", { NULL }, NULL },
  { "fft", { NULL }, NULL },
  { NULL }
};

static const TfxWord delays[] = { { "peak", { NULL }, NULL }, { NULL } };

static const TfxWord riaa_modes[] = {
  { "playback", { "reproduction" }, NULL },
  { "recording", { NULL }, NULL },
  { NULL }
};

static const TfxWord curves[] = {
  { "A", { "a" }, NULL }, { "C", { "c" }, NULL }, { "K", { "k" }, NULL },
  { NULL }
};

static const TfxWord detectors[] = {
  { "peak", { NULL }, NULL }, { "rms", { "RMS" }, NULL }, { NULL }
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

/* ---- parameters --------------------------------------------------------------- */

#define NUMBER(n) { .type = TFX_VALUE_NUMBER, .number = (n) }
#define WORD(w) { .type = TFX_VALUE_WORD, .word = w }
#define BOOL(b) { .type = TFX_VALUE_BOOL, .number = (b) }
#define NONE { .type = TFX_VALUE_NONE }
#define MAX_ORDER ((double) TFX_DESIGN_MAX_ORDER)

#define FS \
  { "fs", TFX_VALUE_NUMBER | TFX_VALUE_NONE, \
    TFX_PARAM_INTEGER | TFX_PARAM_STREAM, "Hz", 1.0, 1e9, 0, 0, NULL, NONE, \
    "sample rate; if given, it must be that of the stream" }
#define BTYPE \
  { "btype", TFX_VALUE_WORD, TFX_PARAM_REQUIRED | TFX_PARAM_STRUCTURE, "", 0, \
    0, 0, 0, btypes, WORD ("lowpass"), "filter type" }
#define CUTOFF(text) \
  { "cutoff", TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED | TFX_PARAM_ABOVE_MINIMUM \
    | TFX_PARAM_FREQUENCY, "Hz", 0.0, INFINITY, 0, 0, NULL, NUMBER (1000.0), \
    text }
#define EDGES \
  { "cutoff", TFX_VALUE_NUMBER | TFX_VALUE_LIST, TFX_PARAM_REQUIRED \
    | TFX_PARAM_ABOVE_MINIMUM | TFX_PARAM_FREQUENCY, "Hz", 0.0, INFINITY, 2, \
    2, NULL, NUMBER (1000.0), "cutoff frequency, or [lower, upper] of a band" }
#define ORDER(n, low, high) \
  { "order", TFX_VALUE_NUMBER, TFX_PARAM_INTEGER | TFX_PARAM_STRUCTURE \
    | TFX_PARAM_DEPENDENT, "", low, high, 0, 0, NULL, NUMBER (n), \
    "order of the analog prototype" }
#define ORDER_SCALE \
  { "order_scale", TFX_VALUE_WORD, TFX_PARAM_STRUCTURE, "", 0, 0, 0, 0, \
    order_scales, WORD ("linear"), \
    "unit of order; 'db': slope in dB per octave, 6 per order" }
#define DB(name, text, n) \
  { name, TFX_VALUE_NUMBER, TFX_PARAM_ABOVE_MINIMUM, "dB", 0.0, 400.0, 0, 0, \
    NULL, NUMBER (n), text }
#define Q \
  { "q", TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED, "", 0.001, 10000.0, 0, 0, \
    NULL, NUMBER (0.7071067811865476), "quality factor" }
#define SCALED_GAIN(text) \
  { "gain", TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED | TFX_PARAM_SCALED, "", \
    -120.0, 1e6, 0, 0, NULL, NUMBER (1.0), text }
#define GAIN_SCALE(flags) \
  { "gain_scale", TFX_VALUE_WORD, flags, "", 0, 0, 0, 0, order_scales, \
    WORD ("linear"), "unit of gain: a factor ('linear') or dB ('db')" }
#define CONV_MODE \
  { "conv_mode", TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, conv_modes, \
    WORD ("auto"), "convolution method" }
#define MIX(n) \
  { "mix", TFX_VALUE_NUMBER, 0, "", 0.0, 1.0, 0, 0, NULL, NUMBER (n), \
    "wet/dry balance, 1 is fully wet" }

/* The orders that order_scale='db' needs: 6 dB per octave each. */
#define SCALED (6.0 * MAX_ORDER + 5.0)

static const TfxParam butterworth[]
    = { BTYPE, EDGES, ORDER (4, 1.0, SCALED), ORDER_SCALE, FS };
static const TfxParam butterworth_side[] = { CUTOFF ("-3 dB frequency"),
  ORDER (5, 1.0, SCALED), ORDER_SCALE, FS };
static const TfxParam chebyshev1[] = { BTYPE, EDGES, ORDER (4, 1.0, MAX_ORDER),
  DB ("ripple", "pass-band ripple", 0.1), FS };
static const TfxParam chebyshev1_side[]
    = { CUTOFF ("pass-band edge"), ORDER (4, 1.0, MAX_ORDER),
        DB ("ripple", "pass-band ripple", 0.1), FS };
static const TfxParam chebyshev2[] = { BTYPE, EDGES, ORDER (4, 1.0, MAX_ORDER),
  DB ("ripple", "stop-band attenuation", 0.1), FS };
static const TfxParam chebyshev2_side[]
    = { CUTOFF ("stop-band edge"), ORDER (4, 1.0, MAX_ORDER),
        DB ("ripple", "stop-band attenuation", 0.1), FS };
static const TfxParam elliptic[] = { BTYPE, EDGES, ORDER (4, 1.0, MAX_ORDER),
  DB ("passband_ripple", "pass-band ripple", 0.1),
  DB ("stopband_attenuation", "stop-band attenuation", 40.0), FS };
static const TfxParam elliptic_side[] = { CUTOFF ("pass-band edge"),
  ORDER (4, 1.0, MAX_ORDER),
  DB ("passband_ripple", "pass-band ripple", 0.1),
  DB ("stopband_attenuation", "stop-band attenuation", 40.0), FS };
#define NORM \
  { "norm", TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, norms, WORD ("phase"), \
    "what cutoff refers to: phase midpoint, delay at 0 Hz, or -3 dB" }
static const TfxParam bessel[]
    = { BTYPE, EDGES, ORDER (4, 1.0, MAX_ORDER), NORM, FS };
static const TfxParam bessel_side[]
    = { CUTOFF ("cutoff frequency, defined by norm"), ORDER (4, 1.0, MAX_ORDER), NORM, FS };
static const TfxParam linkwitz_riley[]
    = { BTYPE, EDGES, ORDER (4, 2.0, 2.0 * SCALED), ORDER_SCALE, FS };
static const TfxParam linkwitz_riley_side[] = { CUTOFF ("-6 dB frequency"),
  ORDER (4, 2.0, 2.0 * SCALED), ORDER_SCALE, FS };

static const TfxParam shelving[] = { CUTOFF ("shelf midpoint frequency"), Q,
  SCALED_GAIN ("shelf gain, in the unit of gain_scale"),
  GAIN_SCALE (0), FS };
static const TfxParam parametric[] = {
  { "frequency", TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED | TFX_PARAM_ABOVE_MINIMUM
      | TFX_PARAM_FREQUENCY, "Hz", 0.0, INFINITY, 0, 0, NULL, NUMBER (1000.0),
      "centre frequency" },
  Q,
  { "gain", TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED, "dB", -120.0, 120.0, 0, 0,
      NULL, NUMBER (0.0), "gain at the centre" },
  FS };
static const TfxParam peaking[] = { CUTOFF ("centre frequency"), Q,
  SCALED_GAIN ("gain at the centre, in the unit of gain_scale"),
  GAIN_SCALE (TFX_PARAM_REQUIRED), FS };
static const TfxParam corner[] = { CUTOFF ("corner frequency"), Q, FS };
static const TfxParam centre[] = { CUTOFF ("centre frequency"), Q, FS };
static const TfxParam bank[] = {
  { "n_bands", TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED | TFX_PARAM_INTEGER
      | TFX_PARAM_STRUCTURE, "", 2.0, TFX_EXPR_MAX_BANDS, 0, 0, NULL,
      NUMBER (10.0), "number of bands" },
  { "f_min", TFX_VALUE_NUMBER, TFX_PARAM_ABOVE_MINIMUM | TFX_PARAM_FREQUENCY,
      "Hz", 0.0, INFINITY, 0, 0, NULL, NUMBER (20.0), "lowest centre frequency" },
  { "f_max", TFX_VALUE_NUMBER, TFX_PARAM_ABOVE_MINIMUM | TFX_PARAM_FREQUENCY,
      "Hz", 0.0, INFINITY, 0, 0, NULL, NUMBER (20000.0), "highest centre frequency" },
  { "q", TFX_VALUE_NUMBER, 0, "", 0.001, 10000.0, 0, 0, NULL, NUMBER (1.414),
      "quality factor of each band" },
  FS };

#define COEFFICIENT(name, n) \
  { name, TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED, "", -1e6, 1e6, 0, 0, NULL, \
    NUMBER (n), "coefficient (all are divided by a0)" }
static const TfxParam biquad[] = { COEFFICIENT ("b0", 1.0),
  COEFFICIENT ("b1", 0.0), COEFFICIENT ("b2", 0.0), COEFFICIENT ("a0", 1.0),
  COEFFICIENT ("a1", 0.0), COEFFICIENT ("a2", 0.0) };
static const TfxParam sos[] = {
  { "sos", TFX_VALUE_LIST, TFX_PARAM_REQUIRED, "", -1e6, 1e6, 6,
      6 * TFX_DESIGN_MAX_SECTIONS, NULL, NONE,
      "sections, each [b0, b1, b2, a0, a1, a2]", NULL, 6 } };
static const TfxParam hum[] = {
  { "frequency", TFX_VALUE_NUMBER, TFX_PARAM_ABOVE_MINIMUM
      | TFX_PARAM_FREQUENCY, "Hz", 0.0, INFINITY, 0, 0, NULL, NUMBER (50.0),
      "mains frequency" },
  { "harmonics", TFX_VALUE_NUMBER, TFX_PARAM_INTEGER | TFX_PARAM_STRUCTURE, "",
      1.0, TFX_DESIGN_MAX_SECTIONS, 0, 0, NULL, NUMBER (8.0),
      "number of notches, including the fundamental" },
  { "q", TFX_VALUE_NUMBER, 0, "", 0.1, 10000.0, 0, 0, NULL, NUMBER (30.0),
      "quality factor of each notch" },
  FS };
static const TfxParam graphic[] = {
  { "gains", TFX_VALUE_LIST, TFX_PARAM_REQUIRED, "dB", -24.0, 24.0, 2, 31,
      NULL, NONE, "gain of each band" },
  { "f_min", TFX_VALUE_NUMBER, TFX_PARAM_ABOVE_MINIMUM | TFX_PARAM_FREQUENCY,
      "Hz", 0.0, INFINITY, 0, 0, NULL, NUMBER (31.25),
      "centre of the first band" },
  { "f_max", TFX_VALUE_NUMBER, TFX_PARAM_ABOVE_MINIMUM | TFX_PARAM_FREQUENCY,
      "Hz", 0.0, INFINITY, 0, 0, NULL, NUMBER (16000.0),
      "centre of the last band" },
  FS };
static const TfxParam first_order[] = { CUTOFF ("shelf midpoint frequency"),
  SCALED_GAIN ("shelf gain, in the unit of gain_scale"),
  GAIN_SCALE (0), FS };
static const TfxParam riaa[] = {
  { "mode", TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, riaa_modes, WORD ("playback"),
      "direction; 'recording' is the inverse of 'playback'" },
  FS };
static const TfxParam weighting[] = {
  { "curve", TFX_VALUE_WORD, TFX_PARAM_REQUIRED, "", 0, 0, 0, 0, curves,
      WORD ("A"), "weighting curve" },
  FS };

/* Of a file. */
#define CHANNEL \
  { "channel", TFX_VALUE_NUMBER | TFX_VALUE_NONE, \
    TFX_PARAM_INTEGER | TFX_PARAM_KEYWORD, "", 0.0, TFX_EXPR_MAX_CHANNELS - 1, \
    0, 0, NULL, NONE, "channel of the file to use for all channels" }

#define DELAY \
  { "delay", TFX_VALUE_NUMBER | TFX_VALUE_WORD, \
    TFX_PARAM_INTEGER | TFX_PARAM_KEYWORD, "samples", 0.0, \
    TFX_FIR_MAX_TAPS - 1, 0, 0, delays, NUMBER (0.0), \
    "delay of the impulse response, reported as latency" }

static const TfxParam fir[] = {
  { "b", TFX_VALUE_LIST | TFX_VALUE_TEXT, TFX_PARAM_REQUIRED, "", -1e6, 1e6, 1,
      TFX_EXPR_MAX_LIST, NULL, NONE, "taps, or the name of a file" },
  CONV_MODE, CHANNEL, DELAY };
static const TfxParam convolve[] = {
  { "location", TFX_VALUE_TEXT, TFX_PARAM_REQUIRED, "", 0, 0, 0, 0, NULL, NONE,
      "impulse response file" },
  { "mix", TFX_VALUE_NUMBER, 0, "", 0.0, 1.0, 0, 0, NULL, NUMBER (1.0),
      "wet/dry balance, 1 is fully wet" },
  CONV_MODE, CHANNEL, DELAY };
static const TfxParam designable[] = {
  { "cutoff", TFX_VALUE_NUMBER | TFX_VALUE_LIST, TFX_PARAM_REQUIRED
      | TFX_PARAM_ABOVE_MINIMUM | TFX_PARAM_FREQUENCY, "Hz", 0.0, INFINITY, 1,
      64, NULL, NUMBER (1000.0), "cutoff frequency, or band edges in rising order" },
  { "num_taps", TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED | TFX_PARAM_INTEGER,
      "", 1.0, TFX_EXPR_MAX_TAPS, 0, 0, NULL, NUMBER (101.0),
      "number of taps" },
  FS,
  { "pass_zero", TFX_VALUE_BOOL | TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, btypes,
      BOOL (1.0), "True if 0 Hz passes, or the filter type" },
  { "window", TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, windows, WORD ("hamming"),
      "window function; ('kaiser', beta) sets beta too", "beta" },
  CONV_MODE,
  { "beta", TFX_VALUE_NUMBER | TFX_VALUE_NONE, TFX_PARAM_KEYWORD, "", 0.0,
      700.0, 0, 0, NULL, NONE, "beta of the Kaiser window" } };

static const TfxParam mix[] = {
  { "gains", TFX_VALUE_LIST, TFX_PARAM_REQUIRED | TFX_PARAM_ROWS, "", -1e6,
      1e6, 1, TFX_EXPR_MAX_CHANNELS * TFX_EXPR_MAX_CHANNELS, NULL, NONE,
      "one row per output channel: the gains of the input channels" }
};
static const TfxParam gain[] = {
  { "gain", TFX_VALUE_NUMBER, TFX_PARAM_REQUIRED, "", -1e6, 1e6, 0, 0, NULL,
      NUMBER (1.0), "gain, in the unit of gain_type" },
  { "gain_type", TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, gain_types,
      WORD ("amplitude"), "unit of gain: a factor, dB, or a power factor" },
  { "clamp", TFX_VALUE_BOOL, TFX_PARAM_STRUCTURE, "", 0, 0, 0, 0, NULL,
      BOOL (0.0), "True: clip the output at -1 and 1" } };
#define PART(name, n, text) \
  { name, TFX_VALUE_NUMBER, 0, "", 0.0, 1.0, 0, 0, NULL, NUMBER (n), text }
static const TfxParam reverb[] = {
  PART ("room_size", 0.5, "room size: larger rings longer"),
  PART ("damping", 0.5, "high-frequency damping"),
  MIX (0.3), FS };
static const TfxParam echo[] = {
  { "delay", TFX_VALUE_NUMBER, TFX_PARAM_INTEGER, "samples", 1.0,
      TFX_EXPR_MAX_DELAY, 0, 0, NULL, NUMBER (4410.0), "delay of the echo" },
  { "decay", TFX_VALUE_NUMBER, TFX_PARAM_ABOVE_MINIMUM
      | TFX_PARAM_BELOW_MAXIMUM, "", 0.0, 1.0, 0, 0, NULL, NUMBER (0.5),
      "gain factor of the echo" },
  MIX (0.5) };
static const TfxParam delay[] = {
  { "delay_samples", TFX_VALUE_NUMBER | TFX_VALUE_NONE, TFX_PARAM_INTEGER,
      "samples", 1.0, TFX_EXPR_MAX_DELAY, 0, 0, NULL, NONE,
      "time between echoes; None: set by bpm and delay_time" },
  { "bpm", TFX_VALUE_NUMBER | TFX_VALUE_NONE, 0, "beats per minute", 1.0,
      10000.0, 0, 0, NULL, NONE, "tempo" },
  { "delay_time", TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, NULL, WORD ("1/8"),
      "time between echoes as a note: 1/8, 1/8d (dotted), 1/8t (triplet)" },
  FS,
  { "feedback", TFX_VALUE_NUMBER, 0, "", 0.0, 0.95, 0, 0, NULL, NUMBER (0.3),
      "gain factor from echo to echo" },
  MIX (0.2),
  { "taps", TFX_VALUE_NUMBER, TFX_PARAM_INTEGER, "", 1.0, TFX_EXPR_MAX_ECHOES,
      0, 0, NULL, NUMBER (3.0), "number of echoes" },
  { "strategy", TFX_VALUE_WORD, TFX_PARAM_NONE_IS_DEFAULT, "", 0, 0, 0, 0,
      strategies, WORD ("mono"),
      "'ping-pong': echoes of a stereo stream alternate sides" } };

#define THRESHOLD(n) \
  { "threshold", TFX_VALUE_NUMBER, 0, "dB", -200.0, 100.0, 0, 0, NULL, \
    NUMBER (n), "threshold; 0 dB is full scale" }
#define RATIO(n, text) \
  { "ratio", TFX_VALUE_NUMBER, TFX_PARAM_INFINITE, "", 1.0, TFX_RATIO_INFINITE, 0, 0, NULL, NUMBER (n), text }
#define SECONDS(name, n, text) \
  { name, TFX_VALUE_NUMBER, 0, "s", 0.0, 100.0, 0, 0, NULL, NUMBER (n), text }
#define KNEE(n) \
  { "knee", TFX_VALUE_NUMBER, 0, "dB", 0.0, 120.0, 0, 0, NULL, NUMBER (n), \
    "knee width" }
#define FLOOR(value) \
  { "floor", TFX_VALUE_NUMBER | TFX_VALUE_NONE, 0, "dB", \
    TFX_EXPR_NO_FLOOR_DB, 0.0, 0, 0, NULL, value, "lowest gain" }
#define DETECTOR \
  { "detector", TFX_VALUE_WORD, 0, "", 0, 0, 0, 0, \
    detectors, WORD ("peak"), "level detector" }
#define LINK \
  { "link", TFX_VALUE_BOOL, TFX_PARAM_KEYWORD, "", 0, 0, 0, 0, NULL, \
    BOOL (0.0), "True: one gain for all channels, set by the loudest" }

static const TfxParam compressor[] = { THRESHOLD (-20.0),
  RATIO (4.0, "compression ratio: input dB per output dB"),
  SECONDS ("attack", 0.005, "attack time constant"),
  SECONDS ("release", 0.05, "release time constant"), KNEE (6.0),
  { "makeup_gain", TFX_VALUE_NUMBER, 0, "dB", -120.0, 120.0, 0, 0, NULL,
      NUMBER (0.0), "make-up gain" },
  DETECTOR, FS, LINK };
static const TfxParam expander[] = { THRESHOLD (-40.0),
  RATIO (2.0, "expansion ratio: output dB per input dB"),
  SECONDS ("attack", 0.005, "attack time constant"),
  SECONDS ("release", 0.05, "release time constant"), KNEE (6.0),
  FLOOR (NONE), DETECTOR, FS, LINK };
static const TfxParam gate[] = { THRESHOLD (-50.0),
  SECONDS ("attack", 0.001, "attack time constant"),
  SECONDS ("release", 0.05, "release time constant"),
  FLOOR (NUMBER (-80.0)), KNEE (3.0), DETECTOR, FS, LINK };
static const TfxParam limiter[] = { THRESHOLD (-1.0),
  { "lookahead", TFX_VALUE_NUMBER, 0, "s", 0.0, 10.0, 0, 0, NULL,
      NUMBER (0.005), "look-ahead time" },
  SECONDS ("release", 0.05, "release time constant"), FS, LINK,
  { "true_peak", TFX_VALUE_BOOL, TFX_PARAM_KEYWORD | TFX_PARAM_STRUCTURE, "", 0,
      0, 0, 0, NULL, BOOL (0.0),
      "True: limit peaks between samples too" } };
#define MAX_GAIN(n) \
  { "max_gain", TFX_VALUE_NUMBER, TFX_PARAM_KEYWORD, "dB", 0.0, 120.0, 0, 0, \
    NULL, NUMBER (n), "highest gain" }
static const TfxParam normalize[] = {
  { "peak", TFX_VALUE_NUMBER, 0, "", 1e-6, 1e6, 0, 0, NULL, NUMBER (1.0),
      "target level, as a sample value" },
  { "strategy", TFX_VALUE_WORD, TFX_PARAM_NONE_IS_DEFAULT | TFX_PARAM_STRUCTURE,
      "", 0, 0, 0, 0, levels, WORD ("peak"), "level to measure" },
  { "window", TFX_VALUE_NUMBER, TFX_PARAM_KEYWORD, "s", 0.01, 60.0, 0, 0, NULL,
      NUMBER (3.0), "measuring window, half of it look-ahead" },
  MAX_GAIN (30.0) };
static const TfxParam loudness[] = {
  { "target", TFX_VALUE_NUMBER | TFX_VALUE_NONE, 0, "LUFS", -70.0, 0.0, 0, 0,
      NULL, NUMBER (-23.0), "integrated loudness to reach; None: measure only" },
  { "lookahead", TFX_VALUE_NUMBER, 0, "s", 0.2, 30.0, 0, 0, NULL, NUMBER (3.0),
      "look-ahead time" },
  { "speed", TFX_VALUE_NUMBER, 0, "dB/s", 0.01, 1000.0, 0, 0, NULL,
      NUMBER (3.0), "fastest change of the gain" },
  MAX_GAIN (20.0), FS };

/* ---- classes -------------------------------------------------------------------- */

#define PARAMS(list) list, sizeof list / sizeof list[0]
#define CLASS(name, kind, n, list, doc, example, ops) \
  { name, { NULL }, kind, n, PARAMS (list), doc, example, &(ops), 0, 0 }
#define IIR(name, n, list, doc, example, family, mode) \
  { name, { NULL }, TFX_CLASS_SECTIONS, n, PARAMS (list), doc, example, \
    &tfx_iir_ops, family, mode }
#define BIQUAD(name, alias, list, doc, example, kind) \
  { name, { alias }, TFX_CLASS_SECTIONS, 1, PARAMS (list), doc, example, \
    &tfx_biquad_ops, kind, 0 }
#define DYNAMICS(name, list, doc, example, variant) \
  { name, { NULL }, TFX_CLASS_DYNAMICS, 0, PARAMS (list), doc, example, \
    &tfx_dynamics_ops, variant, 0 }

static const TfxClass classes[] = {
  IIR ("Butterworth", 2, butterworth,
      "maximally flat pass band",
      "Butterworth('bandpass', [300, 3400])",
      TFX_FAMILY_BUTTERWORTH, TFX_CLASS_MODE_BTYPE),
  IIR ("LoButterworth", 1, butterworth_side,
      "low-pass, maximally flat pass band",
      "LoButterworth(1000, order=4)",
      TFX_FAMILY_BUTTERWORTH, TFX_MODE_LOW_PASS),
  IIR ("HiButterworth", 1, butterworth_side,
      "high-pass, maximally flat pass band",
      "HiButterworth(80, order=4)",
      TFX_FAMILY_BUTTERWORTH, TFX_MODE_HIGH_PASS),
  IIR ("Chebyshev1", 2, chebyshev1,
      "ripple in the pass band",
      "Chebyshev1('bandpass', [300, 3400], ripple=0.5)",
      TFX_FAMILY_CHEBYSHEV1, TFX_CLASS_MODE_BTYPE),
  IIR ("LoChebyshev1", 1, chebyshev1_side,
      "low-pass, ripple in the pass band",
      "LoChebyshev1(5000, ripple=0.5)", TFX_FAMILY_CHEBYSHEV1,
      TFX_MODE_LOW_PASS),
  IIR ("HiChebyshev1", 1, chebyshev1_side,
      "high-pass, ripple in the pass band",
      "HiChebyshev1(80, ripple=0.5)", TFX_FAMILY_CHEBYSHEV1,
      TFX_MODE_HIGH_PASS),
  IIR ("Chebyshev2", 2, chebyshev2,
      "ripple in the stop band",
      "Chebyshev2('bandstop', [900, 1100], ripple=40)",
      TFX_FAMILY_CHEBYSHEV2, TFX_CLASS_MODE_BTYPE),
  IIR ("LoChebyshev2", 1, chebyshev2_side,
      "low-pass, ripple in the stop band",
      "LoChebyshev2(5000, ripple=40)", TFX_FAMILY_CHEBYSHEV2,
      TFX_MODE_LOW_PASS),
  IIR ("HiChebyshev2", 1, chebyshev2_side,
      "high-pass, ripple in the stop band",
      "HiChebyshev2(80, ripple=40)", TFX_FAMILY_CHEBYSHEV2,
      TFX_MODE_HIGH_PASS),
  IIR ("Elliptic", 2, elliptic,
      "ripple in both bands, steepest transition",
      "Elliptic('bandpass', [300, 3400])",
      TFX_FAMILY_ELLIPTIC, TFX_CLASS_MODE_BTYPE),
  IIR ("LoElliptic", 1, elliptic_side,
      "low-pass, ripple in both bands",
      "LoElliptic(5000, stopband_attenuation=60)",
      TFX_FAMILY_ELLIPTIC, TFX_MODE_LOW_PASS),
  IIR ("HiElliptic", 1, elliptic_side,
      "high-pass, ripple in both bands",
      "HiElliptic(80, stopband_attenuation=60)",
      TFX_FAMILY_ELLIPTIC, TFX_MODE_HIGH_PASS),
  IIR ("Bessel", 2, bessel,
      "maximally flat group delay",
      "Bessel('lowpass', 5000, norm='mag')",
      TFX_FAMILY_BESSEL, TFX_CLASS_MODE_BTYPE),
  IIR ("LoBessel", 1, bessel_side,
      "low-pass, maximally flat group delay",
      "LoBessel(5000, norm='mag')",
      TFX_FAMILY_BESSEL, TFX_MODE_LOW_PASS),
  IIR ("HiBessel", 1, bessel_side,
      "high-pass from a Bessel prototype",
      "HiBessel(80, norm='mag')",
      TFX_FAMILY_BESSEL, TFX_MODE_HIGH_PASS),
  IIR ("LinkwitzRiley", 2, linkwitz_riley,
      "crossover: two Butterworth filters of half the order in series",
      "LinkwitzRiley('lowpass', 2000, order=4)",
      TFX_CLASS_LINKWITZ_RILEY, TFX_CLASS_MODE_BTYPE),
  IIR ("LoLinkwitzRiley", 1, linkwitz_riley_side,
      "low-pass of a crossover",
      "LoLinkwitzRiley(2000, order=4)",
      TFX_CLASS_LINKWITZ_RILEY, TFX_MODE_LOW_PASS),
  IIR ("HiLinkwitzRiley", 1, linkwitz_riley_side,
      "high-pass of a crossover",
      "HiLinkwitzRiley(2000, order=4)",
      TFX_CLASS_LINKWITZ_RILEY, TFX_MODE_HIGH_PASS),

  BIQUAD ("HiShelving", NULL, shelving,
      "high shelf",
      "HiShelving(8000, q=0.7, gain=3, gain_scale='db')",
      TFX_RBJ_HIGH_SHELF),
  BIQUAD ("LoShelving", NULL, shelving,
      "low shelf",
      "LoShelving(120, q=0.7, gain=3, gain_scale='db')",
      TFX_RBJ_LOW_SHELF),
  BIQUAD ("ParametricEQ", NULL, parametric,
      "peaking equaliser band, gain in dB",
      "ParametricEQ(1000, q=1, gain=3)",
      TFX_RBJ_PEAKING),
  BIQUAD ("Peaking", NULL, peaking,
      "peaking equaliser band, gain as a factor or in dB",
      "Peaking(1000, q=1, gain=3, gain_scale='db')",
      TFX_RBJ_PEAKING),
  BIQUAD ("Notch", "iirnotch", centre,
      "removes one frequency",
      "Notch(50, q=30)", TFX_RBJ_NOTCH),
  BIQUAD ("AllPass", "iirallpass", centre,
      "changes the phase only",
      "AllPass(1000, q=0.7)",
      TFX_RBJ_ALL_PASS),
  BIQUAD ("BiquadLPF", "lowpass", corner,
      "second-order low-pass",
      "BiquadLPF(1000, q=0.7071)",
      TFX_RBJ_LOW_PASS),
  BIQUAD ("BiquadHPF", "highpass", corner,
      "second-order high-pass",
      "BiquadHPF(80, q=0.7071)",
      TFX_RBJ_HIGH_PASS),
  BIQUAD ("BiquadBPF", "bandpass", centre,
      "second-order band-pass, 0 dB at the centre",
      "BiquadBPF(1000, q=2)",
      TFX_RBJ_BAND_PASS),
  BIQUAD ("BiquadBPFPeak", "bandpasspeak", centre,
      "second-order band-pass, gain q at the centre",
      "BiquadBPFPeak(1000, q=2)", TFX_RBJ_BAND_PASS_PEAK),
  BIQUAD ("BiquadNotch", "notch", centre,
      "removes one frequency",
      "BiquadNotch(50, q=30)",
      TFX_RBJ_NOTCH),
  BIQUAD ("BiquadAllPass", "allpass", centre,
      "changes the phase only",
      "BiquadAllPass(1000, q=0.7)",
      TFX_RBJ_ALL_PASS),
  BIQUAD ("LoShelving1", NULL, first_order,
      "first-order low shelf",
      "LoShelving1(120, gain=3, gain_scale='db')", TFX_RBJ_LOW_SHELF1),
  BIQUAD ("HiShelving1", NULL, first_order,
      "first-order high shelf",
      "HiShelving1(8000, gain=3, gain_scale='db')", TFX_RBJ_HIGH_SHELF1),
  CLASS ("Biquad", TFX_CLASS_SECTIONS, 6, biquad,
      "one second-order section, given by its coefficients",
      "Biquad(1, -2, 1, 1, -1.98, 0.9801)", tfx_given_ops),
  CLASS ("SOS", TFX_CLASS_SECTIONS, 1, sos,
      "second-order sections, given by their coefficients",
      "SOS([[1, -2, 1, 1, -1.98, 0.9801]])", tfx_sos_ops),
  CLASS ("Hum", TFX_CLASS_SECTIONS, 1, hum,
      "removes mains hum and its harmonics",
      "Hum(50, harmonics=8)", tfx_hum_ops),
  CLASS ("GraphicEQ", TFX_CLASS_SECTIONS, 1, graphic,
      "graphic equaliser, bands evenly spaced in octaves",
      "GraphicEQ([4, 2, 0, 0, 0, 0, 0, 1, 2, 2])", tfx_graphic_ops),
  CLASS ("RIAA", TFX_CLASS_SECTIONS, 0, riaa,
      "equalisation of vinyl records",
      "RIAA('playback')", tfx_riaa_ops),
  CLASS ("Weighting", TFX_CLASS_SECTIONS, 1, weighting,
      "frequency weighting A, C or K",
      "Weighting('A')", tfx_weighting_ops),
  CLASS ("LogFilterBank", TFX_CLASS_BANK, 1, bank,
      "sum of band-passes, evenly spaced in octaves",
      "LogFilterBank(10, f_min=50, f_max=10000)", tfx_bank_ops),

  CLASS ("FIR", TFX_CLASS_FIR, 1, fir,
      "FIR filter, taps as numbers or from a file",
      "FIR([0.25, 0.5, 0.25])", tfx_kernel_ops),
  CLASS ("Convolve", TFX_CLASS_FIR, 1, convolve,
      "convolution with an impulse response from a file",
      "Convolve('room.wav', mix=0.3)", tfx_kernel_ops),
  CLASS ("DesignableFIR", TFX_CLASS_FIR, 1, designable,
      "windowed-sinc FIR filter, linear phase",
      "DesignableFIR(1000, num_taps=101)", tfx_windowed_ops),

  CLASS ("Gain", TFX_CLASS_GAIN, 1, gain,
      "gain as a factor or in dB",
      "Gain(-6, gain_type='db')", tfx_gain_ops),
  CLASS ("Mix", TFX_CLASS_MIX, 1, mix,
      "channel matrix",
      "Mix([[0.5, 0.5], [0.5, 0.5]])", tfx_mix_ops),
  CLASS ("Reverb", TFX_CLASS_REVERB, 0, reverb,
      "artificial reverberation",
      "Reverb(room_size=0.7, mix=0.2)", tfx_reverb_ops),
  CLASS ("Echo", TFX_CLASS_DELAY, 0, echo,
      "one echo",
      "Echo(delay=12000, decay=0.5)", tfx_echo_ops),
  CLASS ("Delay", TFX_CLASS_DELAY, 0, delay,
      "decaying echoes",
      "Delay(bpm=120, delay_time='1/8')", tfx_delay_ops),

  DYNAMICS ("Compressor", compressor,
      "dynamic range compressor",
      "Compressor(threshold=-20, ratio=4)", TFX_CLASS_COMPRESSOR),
  DYNAMICS ("Expander", expander,
      "downward expander",
      "Expander(threshold=-40, ratio=2)", TFX_CLASS_EXPANDER),
  DYNAMICS ("Gate", gate,
      "noise gate",
      "Gate(threshold=-50)", TFX_CLASS_GATE),
  CLASS ("Limiter", TFX_CLASS_DYNAMICS, 0, limiter,
      "look-ahead limiter",
      "Limiter(threshold=-1)", tfx_limiter_ops),
  CLASS ("Normalize", TFX_CLASS_DYNAMICS, 0, normalize,
      "automatic gain to a peak or RMS level",
      "Normalize(peak=0.5, strategy='rms')", tfx_normalize_ops),
  CLASS ("Loudness", TFX_CLASS_DYNAMICS, 0, loudness,
      "automatic gain to a loudness, EBU R 128",
      "Loudness(target=-16)", tfx_loudness_ops),
};

/* clang-format on */

#define N_CLASSES (sizeof classes / sizeof classes[0])

size_t
tfx_catalogue_n_classes (void)
{
  return N_CLASSES;
}

const TfxClass *
tfx_catalogue_class (size_t index)
{
  return index < N_CLASSES ? &classes[index] : NULL;
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
  for (size_t i = 0; i < N_CLASSES; i++) {
    if (strcmp (classes[i].name, name) == 0)
      return &classes[i];
    for (size_t k = 0; classes[i].aliases[k]; k++) {
      if (strcmp (classes[i].aliases[k], name) == 0)
        return &classes[i];
    }
  }
  /* TorchFX's command line writes them so. */
  for (size_t i = 0; i < N_CLASSES; i++) {
    if (is_lower_case_of (name, classes[i].name))
      return &classes[i];
  }
  return NULL;
}
