/* SPDX-License-Identifier: LGPL-2.1-or-later
 * tfx.h: the public interface of the filter core.
 *
 * The way of a sample
 * -------------------
 *
 *   TfxDesign --tfx_design_sections()--> TfxSos[] --tfx_stage_new_sections()-->
 *   TfxStage --tfx_chain_append()--> TfxChain --tfx_filter_new()-->
 *   TfxFilter --tfx_plan_new()--> TfxPlan --tfx_plan_run()--> samples
 *
 * For example, 512 frames of stereo through a low-pass, in place:
 *
 *   int
 *   filter (float samples[1024])
 *   {
 *     const TfxDesign design = {
 *       .family = TFX_FAMILY_BUTTERWORTH, .mode = TFX_MODE_LOW_PASS,
 *       .order = 4, .lower_hz = 1000.0
 *     };
 *     const TfxFilterSpec spec = { 48000.0, 2, TFX_SAMPLE_F32, 512 };
 *     TfxBlock block = tfx_block_interleaved (samples, TFX_SAMPLE_F32, 2, 512);
 *     TfxSos sos[TFX_DESIGN_MAX_SECTIONS];
 *     TfxStage *stage = NULL;
 *     TfxChain *chain = NULL;
 *     TfxFilter *filter = NULL;
 *     TfxPlan *plan = NULL;
 *     int ret = tfx_design_sections (&design, 48000.0, sos);
 *
 *     if (ret < 0)
 *       return ret;
 *     stage = tfx_stage_new_sections (tfx_stage_new_id (), sos, (size_t)ret);
 *     chain = tfx_chain_append (NULL, stage);
 *     ret = chain ? tfx_filter_new (chain, &spec, &filter) : -ENOMEM;
 *     if (ret == 0) {
 *       tfx_filter_lock (filter);
 *       ret = tfx_plan_new (&filter, 1, tfx_cpu_backend (), &plan);
 *       if (ret == 0)
 *         ret = tfx_plan_run (plan, &block, &block);
 *       tfx_plan_free (&plan);
 *       tfx_filter_unlock (filter);
 *     }
 *     tfx_filter_unref (&filter);
 *     tfx_chain_unref (&chain);
 *     tfx_stage_unref (&stage);
 *     return ret;
 *   }
 *
 * Signs and form
 * --------------
 *
 * A section is H(z) = (b0 + b1 z^-1 + b2 z^-2) / (1 + a1 z^-1 + a2 z^-2), the
 * form of scipy.signal with a0 = 1.  It is run in transposed direct form II:
 *
 *   y = b0 x + s1;  s1 = b1 x - a1 y + s2;  s2 = b2 x - a2 y
 *
 * (s1, s2) is the state of a section wherever a state is exchanged; it is what
 * scipy.signal calls zi.  State and arithmetic are double for every sample
 * type.
 *
 * Errors, threads, ownership
 * --------------------------
 *
 * Functions that can fail return 0 (or a count) or a negative errno value;
 * those that return an object return NULL when memory is short or an argument
 * is out of its documented range.  TfxStage and TfxChain are immutable and
 * reference-counted: any thread may read, ref and unref them.  A TfxFilter has
 * all state, and a lock; a TfxPlan runs filters whose locks the caller holds.
 * An unref or a free takes the address of the caller's pointer and sets it to
 * NULL; a NULL there is allowed.
 *
 * The library
 * -----------
 *
 * libtfx exports the functions of tfx.h, tfx-expr.h and tfx-cuda.h, and no other
 * symbol; the program is compiled with `pkg-config --cflags --libs tfx`.  The members
 * of structs and the values of enumerators and macros are part of the ABI: a change of
 * them, or of a function, comes with another soname.  Initialize the members of a
 * struct by their names and the rest with zero.  New members are added at the end, and
 * zero in them keeps the old meaning.
 */
#ifndef TFX_H
#define TFX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- sections ---------------------------------------------------------- */

/* One second-order section, a0 = 1. */
typedef struct TfxSos
{
  double b0, b1, b2, a1, a2;
} TfxSos;

typedef struct TfxComplex
{
  double re, im;
} TfxComplex;

/* True if both poles lie inside the unit circle and all five are finite. */
bool tfx_sos_is_stable (const TfxSos *sos);

/* Frequency response of a cascade at freq_hz; H(exp(j 2 pi f / rate)).
 * freq_hz may have any value; rate_hz > 0. */
TfxComplex tfx_response_at (const TfxSos *sos, size_t n_sos, double freq_hz,
    double rate_hz);

/* Group delay of a cascade at freq_hz, -d phase / d omega, in samples. */
double tfx_response_group_delay (const TfxSos *sos, size_t n_sos,
    double freq_hz, double rate_hz);

/* ---- design ------------------------------------------------------------ */

#define TFX_DESIGN_MAX_ORDER 64
/* A band mode doubles the number of poles. */
#define TFX_DESIGN_MAX_SECTIONS TFX_DESIGN_MAX_ORDER
#define TFX_DESIGN_MAX_ROOTS (2 * TFX_DESIGN_MAX_ORDER)

typedef enum
{
  TFX_FAMILY_BUTTERWORTH,
  TFX_FAMILY_CHEBYSHEV1,
  TFX_FAMILY_CHEBYSHEV2,
  TFX_FAMILY_ELLIPTIC,
  TFX_FAMILY_BESSEL
} TfxFamily;

typedef enum
{
  TFX_MODE_LOW_PASS,
  TFX_MODE_HIGH_PASS,
  TFX_MODE_BAND_PASS,
  TFX_MODE_BAND_REJECT
} TfxMode;

/* The meaning of a Bessel filter's cutoff, by SciPy's names. */
typedef enum
{
  TFX_NORM_PHASE,    /* the phase is at its midpoint, as a Butterworth's */
  TFX_NORM_DELAY,    /* the delay at 0 Hz is 1 / (2 pi cutoff) */
  TFX_NORM_MAGNITUDE /* -3 dB */
} TfxNorm;

/* The parameters of a filter.  The designs are those of scipy.signal: butter,
 * cheby1, cheby2, ellip and bessel with output='sos' and fs=rate. */
typedef struct TfxDesign
{
  TfxFamily family;
  TfxMode mode;
  unsigned order;        /* of the analog prototype, 1 to 64 */
  double lower_hz;       /* the cutoff, or the lower edge of a band */
  double upper_hz;       /* the upper edge; band modes only */
  double ripple_db;      /* Chebyshev 1 and elliptic: in the pass band, > 0 */
  double attenuation_db; /* Chebyshev 2: in the stop band, > 0; elliptic:
                          * also above ripple_db */
  TfxNorm norm;          /* Bessel */
} TfxDesign;

/* Zeros, poles and gain: H(z) = gain prod (z - zero) / prod (z - pole).
 * Conjugates stand next to each other, the upper one first. */
typedef struct TfxZpk
{
  size_t n_zeros, n_poles;
  TfxComplex zeros[TFX_DESIGN_MAX_ROOTS];
  TfxComplex poles[TFX_DESIGN_MAX_ROOTS];
  double gain;
} TfxZpk;

/* 0 if all fields are in their ranges at rate_hz, else -EINVAL, and *why (unless
 * NULL) points to a static text that names the field and its range. */
int
tfx_design_check (const TfxDesign *design, double rate_hz, const char **why);

/* Writes the sections of the design to sos (room for TFX_DESIGN_MAX_SECTIONS)
 * and returns their number, or -EINVAL as tfx_design_check() does.  The order
 * of the sections keeps the response of every partial cascade flat over the
 * pass band.  It depends on family, order, ripple and attenuation only, so
 * section k keeps its role while a frequency moves. */
int tfx_design_sections (const TfxDesign *design, double rate_hz, TfxSos *sos);

/* A cache for repeated designs: keeps the prototypes of the last few kinds of
 * filter, which do not depend on frequencies and are most of the work.  One
 * thread at a time.  NULL if memory is short. */
typedef struct TfxDesigner TfxDesigner;
TfxDesigner *tfx_designer_new (void);
void tfx_designer_free (TfxDesigner **designer);
/* As tfx_design_sections(), with the same bits; allocates nothing.  designer may
 * be NULL. */
int tfx_designer_sections (TfxDesigner *designer, const TfxDesign *design,
    double rate_hz, TfxSos *sos);

/* The same filter as zeros, poles and gain.  0 or -EINVAL. */
int tfx_design_zpk (const TfxDesign *design, double rate_hz, TfxZpk *zpk);

/* ---- FIR design ---------------------------------------------------------- */

typedef enum
{
  TFX_WINDOW_HAMMING,
  TFX_WINDOW_HANN,
  TFX_WINDOW_BLACKMAN,
  TFX_WINDOW_BLACKMAN_HARRIS,
  TFX_WINDOW_NUTTALL,
  TFX_WINDOW_FLATTOP,
  TFX_WINDOW_BARTLETT,
  TFX_WINDOW_RECTANGULAR,
  TFX_WINDOW_KAISER
} TfxWindow;

#define TFX_FIR_MAX_TAPS (1u << 24)
#define TFX_FIR_MAX_BETA 700.0

/* The parameters of a windowed-sinc filter.  The designs are those of
 * scipy.signal.firwin with scale=True and fs=rate: the response is 1 at 0 Hz,
 * at half the rate (high-pass) or in the middle of the band (band-pass).  The
 * taps are symmetric: the delay is (n_taps - 1) / 2 samples. */
typedef struct TfxFirDesign
{
  TfxMode mode;
  TfxWindow window;
  double beta;     /* kaiser only, 0 to TFX_FIR_MAX_BETA */
  size_t n_taps;   /* 1 to TFX_FIR_MAX_TAPS; odd for high-pass and
                    * band-reject: an even number gives 0 at half the rate */
  double lower_hz; /* the cutoff (-6 dB), or the lower edge of a band */
  double upper_hz; /* the upper edge; band modes only */
} TfxFirDesign;

/* 0 if all fields are in their ranges at rate_hz, else -EINVAL, and *why (unless
 * NULL) points to a static text that names the field and its range. */
int tfx_fir_design_check (const TfxFirDesign *design, double rate_hz,
    const char **why);

/* Writes the taps to taps[n_taps]; allocates nothing.  0 or -EINVAL as
 * tfx_fir_design_check() says. */
int tfx_fir_design (const TfxFirDesign *design, double rate_hz, double *taps);

typedef enum TfxPhase
{
  TFX_PHASE_ORIGINAL, /* the taps as they are */
  TFX_PHASE_MINIMUM,  /* as early as the magnitude allows */
  TFX_PHASE_LINEAR    /* symmetric */
} TfxPhase;

/* The largest error of the magnitude, as a part of its peak: -100 dB. */
#define TFX_PHASE_ERROR 1e-5
/* 21 seconds at 48 kHz. */
#define TFX_PHASE_MAX_TAPS (1u << 20)

/* Gives each of kernels[n_kernels][n_taps] another phase, with the same magnitude.
 * Sets *made[n_kernels][*n_made], from malloc(), and *delay to the tap of time 0: the
 * first one of a minimum phase, the middle of a linear one.  Kernels that are symmetric
 * or antisymmetric keep their linear phase; others get 2 n_taps - 1 taps.  It takes up
 * to 340 MB, and seconds for long kernels.  0, -ENOMEM, -E2BIG for more than
 * TFX_PHASE_MAX_TAPS, or -ERANGE if the error of the magnitude would be larger than
 * TFX_PHASE_ERROR, measured at 8 points per tap or more. */
int
tfx_fir_set_phase (TfxPhase phase, const double *kernels, unsigned n_kernels,
    size_t n_taps, double **made, size_t *n_made, size_t *delay);

/* The parameter grid of a kernel of n_taps, see tfx_stage_grid_frames(). */
size_t tfx_fir_grid_frames (size_t n_taps);

/* Joins two filters in series: taps[n_a + n_b - 1] is the convolution of a and b.
 * n_a, n_b >= 1; taps must not overlap a or b.  Takes n_a n_b multiplications. */
void tfx_fir_convolve (const double *a, size_t n_a, const double *b, size_t n_b,
    double *taps);

/* ---- stages and chains -------------------------------------------------- */

/* The setting of one filter stage.  Two stages with one id are two settings of the
 * same filter stage: the second takes over the state of the first. */
typedef struct TfxStage TfxStage;

/* An immutable list of stages in series. */
typedef struct TfxChain TfxChain;

/* An id that is unique in this process; never 0. */
uint64_t tfx_stage_new_id (void);

/* A cascade of sections; copies sos[n_sos].  n_sos may be 0 (an identity).
 * NULL if a section is unstable or not finite, or memory is short. */
TfxStage *tfx_stage_new_sections (uint64_t id, const TfxSos *sos, size_t n_sos);

/* A factor, finite. */
TfxStage *tfx_stage_new_gain (uint64_t id, double gain);

typedef enum
{
  TFX_FIR_AUTO,   /* whichever is cheaper */
  TFX_FIR_DIRECT, /* multiply and add, tap by tap */
  TFX_FIR_FFT     /* partitioned convolution by FFT, without added latency; the
                   * output depends on the split into blocks by rounding */
} TfxFirMethod;

/* A finite impulse response, y[n] = sum over k of kernel[k] x[n - k].  Copies
 * kernels[n_kernels][n_taps]: one kernel for all channels (n_kernels = 1), or one
 * per channel.  n_taps is 1 to TFX_FIR_MAX_TAPS. */
TfxStage *tfx_stage_new_fir (uint64_t id, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method);

/* A matrix of them: y[c] = sum over k of kernels[matrix[c][k]] * x[k].  Copies
 * matrix[n_channels][n_channels], numbers of kernels or -1 for none, at least one of them a
 * kernel.  n_channels is that of the filter, or of the branch of a split that contains the
 * stage, 1 to TFX_MIX_MAX_CHANNELS; n_kernels is at most TFX_MAX_CHANNELS.  Each input is
 * transformed once, and each output once.  Devices do not run it. */
TfxStage *tfx_stage_new_fir_matrix (uint64_t id, unsigned n_channels,
    const int *matrix, const double *const *kernels, unsigned n_kernels,
    size_t n_taps, TfxFirMethod method);

/* The channel of a pair (0 and 1, 2 and 3 ...) that a tap is added to. */
typedef enum
{
  TFX_TAP_BOTH,
  TFX_TAP_LEFT,
  TFX_TAP_RIGHT
} TfxTapSide;

/* One tap of a delay line. */
typedef struct TfxTap
{
  size_t delay; /* samples, 0 to TFX_DELAY_MAX */
  double gain;
  bool swap; /* from the other channel of the pair */
  TfxTapSide side;
} TfxTap;

#define TFX_DELAY_MAX (1u << 26)

/* y[n] = direct x[n] + sum over taps of gain x[n - delay].  Copies
 * taps[n_taps]. */
TfxStage *tfx_stage_new_delay (uint64_t id, double direct, const TfxTap *taps,
    size_t n_taps);

/* A gain that depends on the level of each channel: a compressor, an expander or a
 * gate.  With r = abs x, or the RMS with the time constant of the attack, the level is
 *   y1[n] = max (r, release y1[n - 1]),
 *   y[n] = attack y[n - 1] + (1 - attack) y1[n].
 * With o its dB above the threshold, or below it, W the knee, the gain is
 *   0 dB                          for o <= -W / 2,
 *   slope (o + W / 2)^2 / (2 W)   in between,
 *   slope o                       for o >= W / 2,
 * no less than the floor, and makeup. */
#define TFX_DYNAMICS_LOWEST_DB -1000.0
#define TFX_DYNAMICS_MAX_KEY 63 /* channels; their numbers are up to this */
#define TFX_DYNAMICS_MAX_KEY_SOS 8

typedef struct TfxDynamics
{
  bool is_downward; /* acts on levels below the threshold */
  bool is_rms;
  bool is_linked; /* all channels use the level of the loudest one */
  /* If linked and without key: last channels that are not measured. */
  size_t n_unmeasured;
  double threshold_db; /* -400 to 400 */
  double slope;        /* dB of gain per dB of level, -10^6 to 0 */
  double knee_db;      /* width of the knee, 0 to 400 */
  double floor_db;     /* TFX_DYNAMICS_LOWEST_DB to 0 */
  double makeup_db;    /* -400 to 400 */
  /* 0 <= a < 1: exp (-1 / (seconds rate)). */
  double attack, release;
  /* Key channels, a bit for each: the level of the loudest one is that of all other
   * channels, and key channels pass unchanged.  0: there are none. */
  uint64_t key;
  /* Stable sections that filter what the level is measured of, not the output. */
  size_t n_key_sos; /* 0 to TFX_DYNAMICS_MAX_KEY_SOS */
  TfxSos key_sos[TFX_DYNAMICS_MAX_KEY_SOS];
} TfxDynamics;

/* NULL if a number is out of its range. */
TfxStage *tfx_stage_new_dynamics (uint64_t id, const TfxDynamics *dynamics);

/* Freeverb, for each channel separately:
 *   w = the sum of the combs, filtered by the all-passes in series,
 *   y = dry x + wet w.
 * A comb of length N has out[n] = in[n - N], and
 *   pole[n] = (1 - damp) out[n] + damp pole[n - 1],
 *   in[n] = TFX_REVERB_INPUT x[n] + feedback pole[n];
 * an all-pass o[n] = a[n - N], a[n] = s[n] + o[n] / 2, and s becomes o - s. */
#define TFX_REVERB_COMBS 8
#define TFX_REVERB_ALL_PASSES 4
#define TFX_REVERB_INPUT 0.015
#define TFX_REVERB_MAX_FRAMES (1u << 26)

typedef struct TfxReverb
{
  size_t combs[TFX_REVERB_COMBS]; /* frames, 1 to TFX_REVERB_MAX_FRAMES */
  size_t all_passes[TFX_REVERB_ALL_PASSES];
  double feedback, damp; /* from 0, below 1 */
  double dry, wet;       /* 0 to 1 */
} TfxReverb;

/* NULL if a number is out of its range. */
TfxStage *tfx_stage_new_reverb (uint64_t id, const TfxReverb *reverb);

#define TFX_LIMITER_MAX_AHEAD (1u << 24)

/* A gain that keeps each channel below a threshold T, with n_ahead frames of
 * look-ahead; n_late more frames of delay change nothing else.  With p the largest
 * magnitude of the n_ahead + 1 last inputs and r = min (1, T / p),
 *   g[n] = a g[n - 1] + (1 - a) r[n], a = r[n] < g[n - 1] ? attack : release,
 *   y[n] = g[n] x[n - n_ahead], limited to T,
 * and g = 1 until the first input is at the output. */
typedef struct TfxLimiter
{
  double threshold_db; /* -400 to 400 */
  size_t n_ahead, n_late;
  double attack, release; /* as in TfxDynamics */
  bool is_linked;
  size_t n_unmeasured; /* as in TfxDynamics */
} TfxLimiter;

TfxStage *tfx_stage_new_limiter (uint64_t id, const TfxLimiter *limiter);

#define TFX_MIX_MAX_CHANNELS 64

/* A channel matrix: y[c] = sum over k of gains[c][k] x[k].  Copies
 * gains[n_channels][n_channels], finite.  n_channels is that of the filter, or of
 * the branch of a split that contains the stage, 1 to TFX_MIX_MAX_CHANNELS. */
TfxStage *
tfx_stage_new_mix (uint64_t id, unsigned n_channels, const double *gains);

#define TFX_SPLIT_MAX_CHANNELS 64 /* a bit each */

/* Separate chains for groups of channels.  Branch b filters the channels whose bits
 * are set in channels[b], as its channels 0, 1, 2 …; branches have no channel in
 * common.  Other channels pass unchanged.  Takes references to branches[n], copies
 * channels[n].  Splits nest as deep as sums. */
TfxStage *tfx_stage_new_split (uint64_t id, TfxChain *const *branches,
    const uint64_t *channels, size_t n);

/* gain x, limited to -1 ... 1. */
TfxStage *tfx_stage_new_clip (uint64_t id, double gain);

/* Automatic gain: one gain per block of n_block frames, found with look-ahead, and
 * interpolated linearly between blocks.  With n_ahead, n_smooth and n_window in
 * blocks, n_smooth < n_ahead <= n_window,
 *   m = the measure over the last n_window blocks,
 *   r = min (10^(max_gain / 20), target / m),
 *   h = min (r, release h of the block before + (1 - release) 10^(max_gain / 20)),
 *   gain at the end of a block = the mean of the last n_smooth h,
 * applied with a latency of n_ahead blocks, so no measured peak exceeds the target.
 * TFX_AGC_LOUDNESS measures the whole stream so far:
 *   r = target - m in dB, at most max_gain; the gain moves towards it by at most
 *   `step` dB per block, from the first block of output on.
 * During silence the gain stays; it starts at 1. */
typedef enum
{
  TFX_AGC_PEAK,
  TFX_AGC_TRUE_PEAK, /* between samples too, ITU-R BS.1770-4, annex 2 */
  TFX_AGC_RMS,       /* over frames that are not silent */
  TFX_AGC_LOUDNESS   /* EBU R 128; blocks of 100 ms */
} TfxAgcMeasure;

/* Silence is a squared level up to this, -130 dB; for the RMS, the sum of squares of
 * all channels that share a gain.  It is above the rounding errors of a FIR and above
 * the decay of a filter towards the smallest numbers. */
#define TFX_AGC_SILENT 1e-13

#define TFX_AGC_MAX_BLOCKS 1024u
#define TFX_AGC_MAX_BLOCK (1u << 17)

typedef struct TfxAgc
{
  TfxAgcMeasure measure;
  bool is_linked; /* all channels share one gain; loudness always does */
  size_t n_block; /* frames, 1 to TFX_AGC_MAX_BLOCK */
  /* In blocks, up to TFX_AGC_MAX_BLOCKS.  n_ahead = 0: measures only, with a gain
   * of 1. */
  size_t n_ahead, n_smooth, n_window;
  double target_db;    /* -400 to 400, or LUFS */
  double max_gain_db;  /* 0 to 400 */
  double release;      /* 0 <= a < 1, per block */
  double step_db;      /* per block, at least 0 */
  TfxSos weighting[2]; /* loudness: the K weighting */
  /* Loudness: for the channel weights of ITU-R BS.1770-5.  With one gain for all
   * channels: the keys, which are not measured. */
  uint64_t positions;
} TfxAgc;

TfxStage *tfx_stage_new_agc (uint64_t id, const TfxAgc *agc);

#define TFX_SUM_MAX_DEPTH 16

/* The sum of n_branches chains (at least one) with a common input; an empty chain
 * is the input itself.  Takes references to the chains.  Sums nest up to
 * TFX_SUM_MAX_DEPTH. */
TfxStage *
tfx_stage_new_sum (uint64_t id, TfxChain *const *branches, size_t n_branches);

TfxStage *tfx_stage_ref (TfxStage *stage);
void tfx_stage_unref (TfxStage **stage);
uint64_t tfx_stage_id (const TfxStage *stage);

/* An empty chain. */
TfxChain *tfx_chain_new (void);

/* A new chain: the stages of chain (NULL: none), then stage.  The caller keeps both
 * arguments.  NULL if stage is NULL, or memory is short. */
TfxChain *tfx_chain_append (const TfxChain *chain, TfxStage *stage);

TfxChain *tfx_chain_ref (TfxChain *chain);
void tfx_chain_unref (TfxChain **chain);
size_t tfx_chain_n_stages (const TfxChain *chain);
/* Latency in frames, from look-ahead; for a sum, the largest of its branches. */
size_t tfx_chain_latency (const TfxChain *chain);
/* Prepares a change from `running` to `chain` with another look-ahead, for which
 * frames must not be lost.  Limiters are matched by their ids.  *kept is chain, with
 * more delay in limiters whose look-ahead became shorter.  *step is running, with
 * more delay in limiters whose look-ahead becomes longer, or NULL if there are none:
 * it filters as running does, with the latency of *kept, and is for
 * tfx_filter_set_chain_at_once().  0; -ERANGE: another stage's look-ahead differs, or
 * a limiter with longer look-ahead is followed by more than gains, which would get a
 * gap; -ENOMEM. */
int tfx_chain_keep_latency (const TfxChain *chain, const TfxChain *running,
    TfxChain **kept, TfxChain **step);
/* Frequency response H (exp (j 2 pi f / rate)) of the chain from a channel to the
 * same channel (from 0), including paths through other channels.  Stages whose gain
 * depends on the level count as 1, and tfx_chain_latency() is left out.  Any
 * thread. */
TfxComplex tfx_chain_response_at (const TfxChain *chain, unsigned channel,
    double freq_hz, double rate_hz);
/* The response of all channels: replaces the amplitudes h[TFX_MIX_MAX_CHANNELS] at
 * the input by those at the output.  1 at one input and 0 at the others gives the
 * response from that input. */
void tfx_chain_spread (const TfxChain *chain, TfxComplex *h, double freq_hz,
    double rate_hz);
/* Group delay of a chain, -d phase / d omega, in samples: from a channel to itself,
 * or from one to another. */
double tfx_chain_group_delay_at (const TfxChain *chain, unsigned channel,
    double freq_hz, double rate_hz);
double tfx_chain_group_delay_between (const TfxChain *chain, unsigned from,
    unsigned to, double freq_hz, double rate_hz);
/* Frequencies in Hz of the complex poles and zeros of all sections, also in branches:
 * a response may have a narrow peak or notch there, between the points of a grid.
 * Writes at most max of them, in no order, and returns their number. */
size_t tfx_chain_resonances (const TfxChain *chain, double rate_hz,
    double *freq_hz, size_t max);
/* Longest memory of a FIR, a delay line or a reverb of the chain, in frames: the
 * response may have a ripple with a period of rate / memory.  0 if there is none. */
size_t tfx_chain_memory (const TfxChain *chain);
/* The frame of a FIR's largest tap, in any of its kernels, which approximates its
 * delay.  0; -ENOENT: the stage is not a FIR. */
int tfx_stage_fir_peak (const TfxStage *stage, size_t *frame);
/* The static curve of dynamics: the gain in dB at a constant level.  0; -ENOENT: the
 * gain does not depend on the level. */
int tfx_stage_gain_at (const TfxStage *stage, double level_db, double *gain_db);

/* ---- positions ----------------------------------------------------------- */

/* The channel positions of a stream are a set, one bit per position.  Channels are in
 * the order of the bits; an empty set is a stream without positions.  The names are
 * those of WAVE files and FFmpeg, the order is GStreamer's. */
typedef enum
{
  TFX_POSITION_FL,
  TFX_POSITION_FR,
  TFX_POSITION_FC,
  TFX_POSITION_LFE,
  TFX_POSITION_BL,
  TFX_POSITION_BR,
  TFX_POSITION_FLC,
  TFX_POSITION_FRC,
  TFX_POSITION_BC,
  TFX_POSITION_LFE2,
  TFX_POSITION_SL,
  TFX_POSITION_SR,
  TFX_POSITION_TFL,
  TFX_POSITION_TFR,
  TFX_POSITION_TFC,
  TFX_POSITION_TC,
  TFX_POSITION_TBL,
  TFX_POSITION_TBR,
  TFX_POSITION_TSL,
  TFX_POSITION_TSR,
  TFX_POSITION_TBC,
  TFX_POSITION_BFC,
  TFX_POSITION_BFL,
  TFX_POSITION_BFR,
  TFX_POSITION_WL,
  TFX_POSITION_WR,
  TFX_POSITION_SDL,
  TFX_POSITION_SDR,
  TFX_N_POSITIONS
} TfxPosition;

/* "FL"; NULL after the last one. */
const char *tfx_position_name (unsigned position);
/* The position of that name, or -ENOENT. */
int tfx_position_find (const char *name);

#define TFX_POSITIONS_TEXT_SIZE 160
/* Writes the names of a set, "FL, FR, LFE", into text. */
void
tfx_positions_print (uint64_t positions, char text[TFX_POSITIONS_TEXT_SIZE]);

/* Added to a set: the last n channels of the stream are keys (sidechains), which
 * linked stages do not measure. */
#define TFX_POSITIONS_KEYS(n) ((uint64_t)(n) << 32)

/* The positions assumed for channels without any: mono, stereo, 3.0, quadrophony, 5.0,
 * 5.1, 6.1 and 7.1; the first six channels of more than eight are 5.1. */
uint64_t tfx_positions_default (unsigned n_channels);

/* ---- blocks ------------------------------------------------------------- */

#define TFX_MAX_CHANNELS 65536u

typedef enum
{
  TFX_SAMPLE_F32,
  TFX_SAMPLE_F64
} TfxSample;

/* A view of samples: sample (frame, channel) is at
 * data[frame * frame_stride + channel * channel_stride], strides in samples.
 * Data only needs the alignment of its type. */
typedef struct TfxBlock
{
  void *data;
  TfxSample type;
  unsigned n_channels;
  size_t n_frames;
  ptrdiff_t frame_stride, channel_stride;
} TfxBlock;

TfxBlock tfx_block_interleaved (void *data, TfxSample type, unsigned n_channels,
    size_t n_frames);
/* plane_stride: samples from one channel's first sample to the next's. */
TfxBlock tfx_block_planar (void *data, TfxSample type, unsigned n_channels,
    size_t n_frames, size_t plane_stride);

/* ---- filters ------------------------------------------------------------- */

/* One running filter: its setting, the state of each of its stages, and a running
 * change.  A plan borrows the state for a block.  Reference-counted; all functions
 * but ref, unref and lock require its lock. */
typedef struct TfxFilter TfxFilter;

typedef struct TfxFilterSpec
{
  double rate_hz;
  unsigned n_channels; /* 1 to TFX_MAX_CHANNELS */
  /* The sample type of the stream.  Blocks of the other type can be run too, with
   * FIRs in this precision. */
  TfxSample sample;
  size_t block_frames; /* expected length of the blocks; 0: not known */
} TfxFilterSpec;

/* A filter at rest.  0; -EINVAL: a number out of range, or a FIR whose number of
 * kernels is neither 1 nor that of the channels; -ERANGE: a tap that is too large for
 * the sample type (above 2^100 in float, 2^1000 in double); -ENOMEM. */
int
tfx_filter_new (TfxChain *chain, const TfxFilterSpec *spec, TfxFilter **filter);
/* Any thread.  unref clears the caller's pointer. */
TfxFilter *tfx_filter_ref (TfxFilter *filter);
void tfx_filter_unref (TfxFilter **filter);

/* State that changes of structure have replaced.  Freeing a long FIR takes
 * milliseconds, so the thread that runs the filter leaves it to another one. */
typedef struct TfxSlot TfxRetired;

/* Takes the replaced state out of the filter; NULL if there is none.  Any thread, with
 * the lock or without.  Settings of structure and the last unref free the rest. */
TfxRetired *tfx_filter_take_retired (TfxFilter *filter);
/* Any thread that may block; without the lock.  Clears the caller's pointer. */
void tfx_retired_free (TfxRetired **retired);

/* The lock for running or reading the filter.  Not recursive. */
void tfx_filter_lock (TfxFilter *filter);
void tfx_filter_unlock (TfxFilter *filter);
/* Locks all filters, in an order that avoids deadlocks.  The filters are distinct. */
void tfx_filter_lock_all (TfxFilter *const *filters, size_t n);
void tfx_filter_unlock_all (TfxFilter *const *filters, size_t n);

/* Sets another chain.  Stages are matched by their ids.
 *
 * - New values ramp in 10 ms, from the next multiple of 32 frames since rest.
 *   Sections that move further than an octave are cross-faded together instead; the
 *   taps of a FIR or a delay line are mixed.  Values that are set during a ramp wait
 *   for its end; only the last ones count.
 * - A stage of another structure, or one that is added or removed, is cross-faded at
 *   its slot in 10 ms; all other stages keep running.  A FIR or a delay line of
 *   another length keeps its history.  A structure that is set during a cross-fade
 *   waits for its end; only the last one counts.
 * - A stage with look-ahead runs silently until its look-ahead is filled, and is then
 *   cross-faded in.  It must have the latency of the stage that it replaces, so that
 *   frames keep their times.
 * - A filter without any input since rest takes the setting at once.
 *
 * 0; as tfx_filter_new(); or -ENOTSUP: the latencies differ.  After an error the
 * filter keeps its setting. */
int tfx_filter_set_chain (TfxFilter *filter, TfxChain *chain);

/* The same, but stages of another structure start at once, without a cross-fade;
 * values ramp.  For a chain with the same output as the current one, such as a FIR with
 * leading zeros, whose added delay the caller drops from the output: it continues
 * sample by sample.  -EBUSY while something changes, see
 * tfx_filter_is_changing(). */
int tfx_filter_set_chain_at_once (TfxFilter *filter, TfxChain *chain);

/* Sets values of the stage with the same id, in branches too, as
 * tfx_filter_set_chain() does.  Allocates nothing for sections and gains, and keeps no
 * reference to such a stage.  0; -ENOENT: there is no such stage, or its structure is
 * another one; else as tfx_filter_set_chain(). */
int tfx_filter_set_stage (TfxFilter *filter, TfxStage *stage);

/* An automation event: the stage reaches these values at `frame`, a multiple of
 * TFX_GRID_FRAMES, counted as tfx_filter_n_frames() does, and ramps to them during the
 * 32 frames before.  Frames of a stage are queued in order, at least 32 frames after
 * the last one that has run.  A gain in a ramp takes the value as its new target;
 * sections use it after their ramp.  A stage has up to 4096 events; their memory is
 * kept.  The filter keeps a reference to the stage, except to sections and gains.
 * 0; -ENOBUFS: too many events; -ENOENT: there is no such stage of that structure;
 * -EINVAL: frame has passed, or is no grid point; else as tfx_filter_new(). */
int tfx_filter_queue_stage (TfxFilter *filter, uint64_t frame, TfxStage *stage);

#define TFX_GRID_FRAMES 32

/* Reserves memory for new values of a stage, so that not even the first of them
 * allocates: for values that are set, and for events up to n_frames ahead.  FIRs and
 * delay lines have memory for values after their first run on the CPU; for their
 * events, and for many events of sections, memory is reserved only with will_follow.
 * If memory is short, it is allocated when it is needed.
 *
 * Plans run sections or a gain under a curve as a separate step, so that their
 * neighbours keep their speed: with will_follow from the next run on; without, from the
 * first event on. */
void tfx_filter_reserve (TfxFilter *filter, uint64_t id, size_t n_frames,
    bool will_follow);

/* Frames since the filter was at rest. */
uint64_t tfx_filter_n_frames (const TfxFilter *filter);

/* Sets the sample type and block length; the state stays.  0, -EINVAL, -ERANGE or
 * -ENOMEM; after an error nothing has changed. */
int tfx_filter_set_format (TfxFilter *filter, TfxSample sample,
    size_t block_frames);

/* Clears all state, and ends all changes. */
void tfx_filter_reset (TfxFilter *filter);

/* True if the output equals the input, and nothing changes. */
bool tfx_filter_is_identity (const TfxFilter *filter);
/* True if silent input gives silent output: no state is above 1e-20 (-400 dB). */
bool tfx_filter_is_silent (const TfxFilter *filter);
/* True during a parameter ramp, the warm-up of a long FIR, and a cross-fade that runs
 * or waits. */
bool tfx_filter_is_changing (const TfxFilter *filter);
/* By EBU R 128, in LUFS (-INFINITY: nothing above the gate), LU and dB. */
typedef struct TfxLoudnessValues
{
  double integrated, momentary, momentary_max, short_term, short_term_max;
  double range, true_peak_db;
} TfxLoudnessValues;

/* The current gain and loudness of a stage that measures its input. */
typedef struct TfxReadings
{
  /* The lowest since the last call; of a dynamic equaliser, the farthest from 0; of Denoise,
   * the power of the output as a part of that of the input. */
  double gain_db;
  bool has_loudness;
  TfxLoudnessValues loudness;
} TfxReadings;

/* Reads a stage, in branches too.  -ENOENT: there is no such stage with readings, or
 * it has not run, or a device runs it. */
int tfx_filter_read (TfxFilter *filter, uint64_t id, TfxReadings *readings);
/* Latency in frames at the output of a stage, in branches too: its own and that of all
 * earlier stages.  Without such a stage, that of the chain. */
size_t tfx_filter_latency_at (const TfxFilter *filter, uint64_t id);
/* The chain in force, a reference for the caller.  FIRs that were joined are one stage.
 * 0 or -ENOMEM. */
int tfx_filter_get_chain (const TfxFilter *filter, TfxChain **chain);

/* Writes other values into a stage of n_sos sections with a single reference, in place
 * of making a new one.  False if that is impossible. */
bool
tfx_stage_reuse_sections (TfxStage *stage, const TfxSos *sos, size_t n_sos);
/* The same for a point of a curve, from a design: exact to rounding instead of to the
 * last bit, and several times as fast as tfx_designer_sections().  0; -EINVAL as
 * tfx_design_check(), or if the stage cannot be reused. */
int tfx_designer_move (TfxDesigner *designer, const TfxDesign *design,
    double rate_hz, TfxStage *stage);

/* The same for a FIR of as many kernels and taps, and the same method. */
bool tfx_stage_reuse_fir (TfxStage *stage, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method);
/* The same for a delay line of as many taps. */
bool tfx_stage_reuse_delay (TfxStage *stage, double direct, const TfxTap *taps,
    size_t n_taps);

/* The parameter grid of a stage in frames, at whose points values can be queued:
 * TFX_GRID_FRAMES, or a power of two times as much for a FIR of more than 512 taps. */
size_t tfx_stage_grid_frames (const TfxStage *stage);

/* Transforms the long FIRs of a stage for a filter of that spec, in a thread that may
 * block, before any filter gets the stage.  A running filter then warms the stage up
 * over many blocks, before the cross-fade.  0 or a negative errno value. */
int tfx_stage_prepare (TfxStage *stage, const TfxFilterSpec *spec);

/* ---- plans --------------------------------------------------------------- */

/* The machine that runs plans; see core/backend.h.  dsp/ has "cpu". */
typedef struct TfxBackend TfxBackend;

/* The CPU backend.  The first call chooses its kernels: the best of this machine, or
 * those that the environment variable TFX_CPU names (c, sse2, avx2, avx512, neon) if
 * the machine supports them.  Static; any thread. */
const TfxBackend *tfx_cpu_backend (void);

/* The CPU backend with the named kernels, NULL if this machine lacks them. */
const TfxBackend *tfx_cpu_backend_for (const char *kernel);

/* Whether the backend runs all of its stages; the CPU's does. */
bool tfx_filter_runs_on (const TfxFilter *filter, const TfxBackend *backend);

/* The names of the kernels of this machine, "c" first; NULL after the last one. */
const char *tfx_cpu_kernel (size_t index);

/* Whether this processor executes AVX-512 in halves.  Then other shapes are the
 * cheapest, and results of "avx512" differ by rounding from those of other
 * processors. */
bool tfx_cpu_halves_avx512 (void);

/* The value of TFX_CPU if this machine has no kernels of that name, and uses the best
 * ones instead; else NULL. */
const char *tfx_cpu_unknown (void);

/* A row of filters compiled for a backend. */
typedef struct TfxPlan TfxPlan;

typedef struct TfxStats
{
  uint64_t dispatches;         /* runs of the engine */
  uint64_t launches;           /* GPU kernel launches */
  uint64_t uploads, downloads; /* transfers between host and device */
  uint64_t recoveries; /* blocks in which a NaN or infinity was cleared */
  const char *device;  /* the backend's name, static */
  const char *kernel;  /* the kernel variant's name, static */
} TfxStats;

/* A plan for a row of filters in series.  All have the same rate, channels and sample
 * type.  The plan takes references to the filters and borrows their state: all
 * functions but tfx_plan_is_for(), _n_filters(), _filters(), _n_done() and
 * _get_stats() require the locks of all filters of the row.  A plan is a cache:
 * another plan may run its filters in between, and freeing it loses nothing.
 * 0; -EINVAL: filters that do not fit together; -ENOTSUP: the backend cannot run
 * their current state; -EINPROGRESS: it prepares what it needs for that, see
 * tfx_plan_is_in_progress(); -ENOMEM, -EIO. */
int tfx_plan_new (TfxFilter *const *filters, size_t n,
    const TfxBackend *backend, TfxPlan **plan);
/* Returns the state to the filters; clears the caller's pointer. */
void tfx_plan_free (TfxPlan **plan);

/* Whether it is a plan for these filters, in this order. */
bool tfx_plan_is_for (const TfxPlan *plan, TfxFilter *const *filters, size_t n,
    const TfxBackend *backend);
size_t tfx_plan_n_filters (const TfxPlan *plan);

/* True while a backend prepares what a rejected plan needs; another backend can run
 * the filters during that time. */
bool tfx_plan_is_in_progress (const TfxBackend *backend);

TfxFilter *const *tfx_plan_filters (const TfxPlan *plan);

/* Filters in to out.  Both have the same shape and type, and are either the same memory
 * (with the same strides) or do not overlap.  Allocates nothing, unless the structure
 * of a filter's setting has changed.  Any split of a stream into blocks gives the same
 * output to the bit; FIRs by FFT, to rounding.  0; -EINVAL: a block does not fit;
 * -ENOMEM; on a device -EIO if it fails, and -ENOTSUP if it cannot run a change:
 * another plan can continue from there. */
int tfx_plan_run (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out);
/* A block in flight; all zero before its start. */
typedef struct TfxFlight
{
  size_t n_done;    /* frames that are complete */
  unsigned n_parts; /* parts that still run */
  /* Private: frames by which the filters have advanced; the plan's next flight. */
  size_t n_advanced;
  struct TfxFlight *next;
} TfxFlight;
/* Whether the next block can be started: the plan is on a device that filters one
 * block while it transfers another, and nothing changes. */
bool tfx_plan_can_start (const TfxPlan *plan);
/* As tfx_plan_run(), but output in host memory may be complete only after
 * tfx_plan_finish(), which takes started blocks in their order.  Until then both blocks
 * and the flight must stay in place; the input is read before out is written.  With a
 * block in flight the only other calls are those for more blocks, while
 * tfx_plan_can_start(); tfx_plan_free() finishes as much as possible.  Frames missing
 * after tfx_plan_finish() failed on the device; another plan can filter them from the
 * state that is left. */
int tfx_plan_start (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out,
    TfxFlight *flight);
int tfx_plan_finish (TfxPlan *plan, TfxFlight *flight);
/* Continues on another backend, in *plan, and keeps the plan that is left.  Switching back
 * to its backend reuses it, without allocation, unless the structure of a filter's setting
 * has changed.  Finishes started blocks.  0; or an error as of tfx_plan_new() or
 * tfx_plan_finish(): *plan is unchanged. */
int tfx_plan_switch (TfxPlan **plan, const TfxBackend *backend);
/* The number of frames that the last run filtered: all, or fewer if it failed.  The
 * rest of the input is unchanged, and the state is that after these frames. */
size_t tfx_plan_n_done (const TfxPlan *plan);
/* Advances a silent plan by n_frames of silence, as tfx_plan_run() would, whose output
 * would be silence.  0, -ENOTSUP or -EINPROGRESS as there. */
int tfx_plan_pass (TfxPlan *plan, size_t n_frames);
/* Whether all filters are: tfx_filter_is_silent(). */
bool tfx_plan_is_silent (const TfxPlan *plan);
/* Stages and sections of the row. */
size_t tfx_plan_n_stages (const TfxPlan *plan);
size_t tfx_plan_n_sections (const TfxPlan *plan);
void tfx_plan_get_stats (const TfxPlan *plan, TfxStats *stats);
/* Estimated cost on the CPU in ns per frame of all channels, in blocks of
 * block_frames, for any backend: by the best measurement with the kernels of
 * tfx_cpu_backend(). */
double tfx_plan_cost (const TfxPlan *plan, size_t block_frames);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* TFX_H */
