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
 */
#ifndef TFX_H
#define TFX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* What the cutoff of a Bessel filter is; SciPy's words. */
typedef enum
{
  TFX_NORM_PHASE,    /* the phase is half way through, as a Butterworth's */
  TFX_NORM_DELAY,    /* the delay at 0 Hz is 1 / (2 pi cutoff) */
  TFX_NORM_MAGNITUDE /* -3 dB */
} TfxNorm;

/* What is asked of a filter.  The designs are those of scipy.signal: butter,
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

/* 0 if the design can be met at rate_hz, otherwise -EINVAL, and *why (unless
 * NULL) points to a static text that names the field that cannot be met and
 * its range. */
int
tfx_design_check (const TfxDesign *design, double rate_hz, const char **why);

/* Writes the sections of the design to sos (room for TFX_DESIGN_MAX_SECTIONS)
 * and returns their number, or -EINVAL as tfx_design_check() does.  The order
 * of the sections keeps the response of every partial cascade flat over the
 * pass band, and depends on family, order, ripple and attenuation alone, so
 * that section k stays the same one while a frequency moves. */
int tfx_design_sections (const TfxDesign *design, double rate_hz, TfxSos *sos);

/* Remembers what of a design does not depend on its frequencies, which is most
 * of the work, for the last few kinds of filter that it designed.  One thread
 * at a time.  NULL if memory is short. */
typedef struct TfxDesigner TfxDesigner;
TfxDesigner *tfx_designer_new (void);
void tfx_designer_free (TfxDesigner **designer);
/* tfx_design_sections(), the same to the bit; allocates nothing.  designer may
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

/* What is asked of a windowed-sinc filter.  The designs are those of
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

/* 0 if the design can be met at rate_hz, otherwise -EINVAL, and *why (unless
 * NULL) points to a static text that names the field that cannot be met and
 * its range. */
int tfx_fir_design_check (const TfxFirDesign *design, double rate_hz,
    const char **why);

/* Writes the taps to taps[n_taps]; allocates nothing.  0 or -EINVAL as
 * tfx_fir_design_check() says. */
int tfx_fir_design (const TfxFirDesign *design, double rate_hz, double *taps);

/* How many frames the points are from each other at which a kernel of so many taps
 * takes other values under a curve, see tfx_stage_grid_frames(). */
size_t tfx_fir_grid_frames (size_t n_taps);

/* The filter that does what filter a and then filter b do, in one:
 * taps[n_a + n_b - 1] = a * b.  n_a, n_b >= 1; taps apart from both.  Takes
 * n_a n_b multiplications. */
void tfx_fir_convolve (const double *a, size_t n_a, const double *b, size_t n_b,
    double *taps);

/* ---- stages and chains -------------------------------------------------- */

/* What one filter is.  Two stages with one id are two settings of the same
 * filter: the second takes over the state of the first. */
typedef struct TfxStage TfxStage;

/* An immutable list of stages in series. */
typedef struct TfxChain TfxChain;

/* A number that no other stage of this process has; never 0. */
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
                   * split of a stream into blocks changes the output by
                   * rounding */
} TfxFirMethod;

/* A finite impulse response, y[n] = sum over k of kernel[k] x[n - k].  Copies kernels[n_kernels][n_taps]: one for every channel (n_kernels = 1), or
 * one for each.  n_taps is 1 to TFX_FIR_MAX_TAPS. */
TfxStage *tfx_stage_new_fir (uint64_t id, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method);

/* Which channel of a pair (0 and 1, 2 and 3 ...) a tap is added to. */
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

/* A gain that follows the level of each channel, as a compressor, an expander or
 * a gate does.  With r = abs x, or the root of a mean square that goes by the
 * attack, the level is
 *   y1[n] = max (r, release y1[n - 1]),
 *   y[n] = attack y[n - 1] + (1 - attack) y1[n].
 * With o its dB above the threshold, or below it, W the knee, the gain is
 *   0 dB                          for o <= -W / 2,
 *   slope (o + W / 2)^2 / (2 W)   in between,
 *   slope o                       for o >= W / 2,
 * no less than the floor, and makeup. */
#define TFX_DYNAMICS_LOWEST_DB -1000.0

typedef struct TfxDynamics
{
  bool is_downward; /* it acts on what is below the threshold */
  bool is_rms;
  bool is_linked;      /* all channels go by the loudest one */
  double threshold_db; /* -400 to 400 */
  double slope;        /* -10^6 to 0 dB for each dB */
  double knee_db;      /* its width, 0 to 400 */
  double floor_db;     /* TFX_DYNAMICS_LOWEST_DB to 0 */
  double makeup_db;    /* -400 to 400 */
  /* 0 <= a < 1: exp (-1 / (seconds rate)). */
  double attack, release;
} TfxDynamics;

/* NULL if a number is out of its range. */
TfxStage *tfx_stage_new_dynamics (uint64_t id, const TfxDynamics *dynamics);

/* Freeverb: all channels by themselves, with
 *   w = sum of the combs, through the all-passes in series,
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

/* A gain that keeps each channel below a threshold T, n_ahead frames late; it hears
 * all of it n_late frames late.  With p the largest magnitude of the n_ahead + 1
 * last inputs and r = min (1, T / p),
 *   g[n] = a g[n - 1] + (1 - a) r[n], a = r[n] < g[n - 1] ? attack : release,
 *   y[n] = g[n] x[n - n_ahead], limited to T,
 * and g = 1 as long as no input has come out. */
typedef struct TfxLimiter
{
  double threshold_db; /* -400 to 400 */
  size_t n_ahead, n_late;
  double attack, release; /* as of TfxDynamics */
  bool is_linked;
} TfxLimiter;

TfxStage *tfx_stage_new_limiter (uint64_t id, const TfxLimiter *limiter);

#define TFX_MIX_MAX_CHANNELS 64

/* Channels that are sums of channels: y[c] = sum over k of gains[c][k] x[k].
 * Copies gains[n_channels][n_channels], finite; n_channels is that of the filter,
 * or of the branch of a split that it is in, 1 to TFX_MIX_MAX_CHANNELS. */
TfxStage *
tfx_stage_new_mix (uint64_t id, unsigned n_channels, const double *gains);

#define TFX_SPLIT_MAX_CHANNELS 64 /* with a bit */

/* Channels with chains of their own: branch b runs those channels whose bit is set
 * in channels[b], which become its channels 0, 1, 2 …; no two branches have one in
 * common.  Channels of no branch go through as they are.  Takes references to
 * branches[n], copies channels[n].  As deep as sums. */
TfxStage *tfx_stage_new_split (uint64_t id, TfxChain *const *branches,
    const uint64_t *channels, size_t n);

/* gain x, limited to -1 ... 1. */
TfxStage *tfx_stage_new_clip (uint64_t id, double gain);

/* A gain that is found cell by cell of the stream, ahead of what comes out, and goes
 * from one cell to the next in a line.  With n_ahead, n_smooth and n_window
 * cells, n_smooth < n_ahead <= n_window,
 *   m = the measure of the last n_window cells,
 *   r = the least of 10^(max_gain / 20) and target / m,
 *   h = the least of r and release h before + (1 - release) 10^(max_gain / 20),
 *   the gain behind a cell = the mean of the last n_smooth h,
 * n_ahead cells late: so no peak that is measured comes out above the target.
 * Of the loudness, which is that of all up to now,
 *   r = target - m, in dB, at most max_gain; the gain goes there by at most
 *   `step` with each cell, from the first that comes out on.
 * As long as nothing is heard the gain stays, at first at 1. */
typedef enum
{
  TFX_AGC_PEAK,
  TFX_AGC_TRUE_PEAK, /* between samples too, ITU-R BS.1770-4, annex 2 */
  TFX_AGC_RMS,       /* of frames that are not silent */
  TFX_AGC_LOUDNESS   /* EBU R 128; cells of 100 ms */
} TfxAgcMeasure;

/* The square, for the RMS the sum of those of all channels that have one gain, up to
 * which a level is silence: -130 dB.  So neither what a FIR rounds next to a sound nor what
 * a filter rings with down to the smallest number is heard as one. */
#define TFX_AGC_SILENT 1e-13

#define TFX_AGC_MAX_BLOCKS 1024u
#define TFX_AGC_MAX_BLOCK (1u << 17)

typedef struct TfxAgc
{
  TfxAgcMeasure measure;
  bool is_linked; /* all channels have one gain; loudness always */
  size_t n_block; /* frames, 1 to TFX_AGC_MAX_BLOCK */
  /* Cells, up to TFX_AGC_MAX_BLOCKS; n_ahead may be 0, then nothing is
   * changed and all is measured. */
  size_t n_ahead, n_smooth, n_window;
  double target_db;    /* -400 to 400, or LUFS */
  double max_gain_db;  /* 0 to 400 */
  double release;      /* 0 <= a < 1, for each cell */
  double step_db;      /* from 0 */
  TfxSos weighting[2]; /* of loudness */
  uint64_t positions;  /* of loudness: the channels weigh by ITU-R BS.1770-5 */
} TfxAgc;

TfxStage *tfx_stage_new_agc (uint64_t id, const TfxAgc *agc);

#define TFX_SUM_MAX_DEPTH 16

/* The sum of n_branches chains (at least one) that all have the same input;
 * an empty chain is the input itself.  Takes references to the chains.  Sums
 * may contain sums, to a depth of TFX_SUM_MAX_DEPTH. */
TfxStage *
tfx_stage_new_sum (uint64_t id, TfxChain *const *branches, size_t n_branches);

TfxStage *tfx_stage_ref (TfxStage *stage);
void tfx_stage_unref (TfxStage **stage);
uint64_t tfx_stage_id (const TfxStage *stage);

/* An empty chain. */
TfxChain *tfx_chain_new (void);

/* A new chain: the stages of chain, or none if that is NULL, then stage.  Both
 * arguments stay the caller's.  NULL if stage is, or memory is short. */
TfxChain *tfx_chain_append (const TfxChain *chain, TfxStage *stage);

TfxChain *tfx_chain_ref (TfxChain *chain);
void tfx_chain_unref (TfxChain **chain);
size_t tfx_chain_n_stages (const TfxChain *chain);
/* The frames by which it makes a stream late in order to look ahead: of a sum
 * the most of its branches. */
size_t tfx_chain_latency (const TfxChain *chain);
/* What takes the place of a running chain and is no less late, limiter by limiter,
 * found by their ids: *kept is chain with those that look less far ahead than
 * the running ones later by as much; *step is the running one with those that are
 * to look further ahead later by as much, or NULL if there are none.  It does what
 * the running one does, and is as late as what comes then: for
 * tfx_filter_set_chain_at_once().  0; -ERANGE: something else looks ahead otherwise
 * than it did, or behind a limiter that is to look further is more than gains, which
 * would hear a gap; -ENOMEM. */
int tfx_chain_keep_latency (const TfxChain *chain, const TfxChain *running,
    TfxChain **kept, TfxChain **step);
/* Frequency response H (exp (j 2 pi f / rate)) of the chain from a channel to the
 * same channel (from 0), also by way of others.  Stages whose gain follows the level
 * count as 1, and the frames of tfx_chain_latency() do not count.  Any thread. */
TfxComplex tfx_chain_response_at (const TfxChain *chain, unsigned channel,
    double freq_hz, double rate_hz);
/* From all channels to all channels: replaces the amplitudes
 * h[TFX_MIX_MAX_CHANNELS] at the input by those at the output.  With 1 at one
 * input and 0 at the others, h is the response from that input. */
void tfx_chain_spread (const TfxChain *chain, TfxComplex *h, double freq_hz,
    double rate_hz);
/* Group delay of a chain, -d phase / d omega, in samples: from a channel to itself,
 * or from one to another. */
double tfx_chain_group_delay_at (const TfxChain *chain, unsigned channel,
    double freq_hz, double rate_hz);
double tfx_chain_group_delay_between (const TfxChain *chain, unsigned from,
    unsigned to, double freq_hz, double rate_hz);
/* Frequencies in Hz of the complex poles and zeros of all sections, those within
 * branches too: where a response may have a peak or a notch that is narrower than
 * a grid.  Writes at most max of them, in no order, and returns how many there are. */
size_t tfx_chain_resonances (const TfxChain *chain, double rate_hz,
    double *freq_hz, size_t max);
/* Longest memory of a FIR, a delay line or a reverb of the chain, in frames: the
 * response may have a ripple with a period of rate / memory.  0 if there is none. */
size_t tfx_chain_memory (const TfxChain *chain);
/* The frame of a FIR's largest tap, in any of its kernels, which is about its delay.
 * 0; -ENOENT: it is no FIR. */
int tfx_stage_fir_peak (const TfxStage *stage, size_t *frame);
/* The static curve of dynamics: the gain in dB at a level that stays.  0; -ENOENT:
 * its gain does not go by the level. */
int tfx_stage_gain_at (const TfxStage *stage, double level_db, double *gain_db);

/* ---- positions ----------------------------------------------------------- */

/* Where the channels of a stream stand: a set of positions, a bit for each.  The
 * channels are in the order of the bits; an empty set is a stream without positions.
 * The names are those of WAVE files and FFmpeg, the order is GStreamer's. */
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

/* "FL"; NULL above the last one. */
const char *tfx_position_name (unsigned position);
/* The position of that name, or -ENOENT. */
int tfx_position_find (const char *name);

#define TFX_POSITIONS_TEXT_SIZE 160
/* Writes the names of a set, "FL, FR, LFE", into text. */
void
tfx_positions_print (uint64_t positions, char text[TFX_POSITIONS_TEXT_SIZE]);

/* What is assumed of channels without positions: mono, stereo, 3.0, quadrophony, 5.0,
 * 5.1, 6.1 and 7.1; the first six channels of more than eight are 5.1. */
uint64_t tfx_positions_default (unsigned n_channels);

/* ---- blocks ------------------------------------------------------------- */

#define TFX_MAX_CHANNELS 65536u

typedef enum
{
  TFX_SAMPLE_F32,
  TFX_SAMPLE_F64
} TfxSample;

/* Samples where they lie: sample (frame, channel) is at
 * data[frame * frame_stride + channel * channel_stride], strides in samples.
 * Data needs the alignment of its type, no more. */
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

/* One running filter: what it is set to, the state of each of its stages, and
 * a change that is under way.  Whoever runs it borrows its state for a block.
 * Reference-counted; everything but ref, unref and lock is done with its lock
 * held. */
typedef struct TfxFilter TfxFilter;

typedef struct TfxFilterSpec
{
  double rate_hz;
  unsigned n_channels; /* 1 to TFX_MAX_CHANNELS */
  /* The samples of the stream.  Others can be run too: FIRs then have the
   * precision of these. */
  TfxSample sample;
  size_t block_frames; /* how long the blocks are going to be; 0: not known */
} TfxFilterSpec;

/* A filter at rest.  0; -EINVAL: a number out of range, or a FIR of as many
 * kernels as there are no channels; -ERANGE: a tap that the precision of the
 * stream does not hold (above 2^100 in float, 2^1000 in double); -ENOMEM. */
int
tfx_filter_new (TfxChain *chain, const TfxFilterSpec *spec, TfxFilter **filter);
/* Any thread.  unref clears the caller's pointer. */
TfxFilter *tfx_filter_ref (TfxFilter *filter);
void tfx_filter_unref (TfxFilter **filter);

/* What changes of structure have replaced.  Freeing a long FIR takes milliseconds, so
 * that the thread that runs the filter leaves it to another one. */
typedef struct TfxSlot TfxRetired;

/* Takes it out of the filter; NULL if there is nothing.  Any thread, with the lock or
 * without.  Settings of structure and the last unref free what is left. */
TfxRetired *tfx_filter_take_retired (TfxFilter *filter);
/* Any thread that may block; without the lock.  Clears the caller's pointer. */
void tfx_retired_free (TfxRetired **retired);

/* The lock for whoever runs or reads the filter.  Not recursive. */
void tfx_filter_lock (TfxFilter *filter);
void tfx_filter_unlock (TfxFilter *filter);
/* All of them, in an order in which no two threads wait for each other.  No
 * filter stands among them twice. */
void tfx_filter_lock_all (TfxFilter *const *filters, size_t n);
void tfx_filter_unlock_all (TfxFilter *const *filters, size_t n);

/* Another setting.  Stages are told by their ids, in order.  One whose values
 * alone differ glides there in 10 ms, from a multiple of 32 frames on counted from
 * the first frame since the filter was at rest; sections that go further than an
 * octave, all of them together, are cross-faded instead; what is set meanwhile
 * waits for the end, the last one alone.  The taps of a FIR or a delay line are
 * mixed over 10 ms.  One of another structure, or that comes or goes, is
 * cross-faded at its place in 10 ms; stages in front and behind go on as they
 * are.  A FIR or a delay line that gets another length keeps its past.  Another
 * structure waits for the end of a cross-fade that is under way; only the last
 * one counts.  A filter that has not run since it was at rest takes the setting
 * at once.  What looks ahead runs beside what it comes for until it has heard as
 * much, and is cross-faded then; the stages that look ahead must be as late as
 * those that they come for, one by one, so that frames keep their times.
 * 0, or as tfx_filter_new(), or -ENOTSUP: they are not; it then goes on as it
 * was. */
int tfx_filter_set_chain (TfxFilter *filter, TfxChain *chain);

/* The same, but what has another structure takes over at once, with no
 * cross-fade; values glide.  For a chain that does what the one in force does:
 * a FIR with zeros in front that make it late, while the caller drops as many
 * frames of the output, goes on to the very sample.  -EBUSY while something
 * changes, see tfx_filter_is_changing(). */
int tfx_filter_set_chain_at_once (TfxFilter *filter, TfxChain *chain);

/* One stage of the chain, the one with the same id, within sums too, gets other
 * values: as in tfx_filter_set_chain(), and nothing is allocated where
 * sections or a gain move.  The filter keeps no reference to a stage of
 * sections or a gain.  0; -ENOENT: there is no such stage, or it has become one
 * with others; else as tfx_filter_set_chain(). */
int tfx_filter_set_stage (TfxFilter *filter, TfxStage *stage);

/* The same, for who follows a curve: the stage has these values at `frame`, a
 * multiple of TFX_GRID_FRAMES, counted as tfx_filter_n_frames() counts; the 32
 * frames before that it goes there.  Frames of one stage come in order, each at
 * least 32 frames ahead of what has run.  A gain that glides from before gets the
 * value as its new end; sections take it up when they are there.  There may be
 * 4096 values of a stage at a time; room is made for the most that there ever
 * were.  The filter keeps a reference to the stage unless that is one of sections
 * or a gain.
 * 0; -ENOBUFS: there is no room for one more; -ENOENT: there is no such stage of
 * that structure; -EINVAL: not a frame that is ahead; else as tfx_filter_new(). */
int tfx_filter_queue_stage (TfxFilter *filter, uint64_t frame, TfxStage *stage);

#define TFX_GRID_FRAMES 32

/* Makes room for moves of a stage, so that the first of them takes nothing from the
 * heap either: for values that are set, and for those that are queued for n_frames
 * ahead.  FIRs and delay lines have a place for that once the CPU has run them; for
 * queues of theirs, and for large ones of sections, room is made only if
 * will_follow.  Memory that is short is taken when it is needed.
 * Plans run sections or a gain that follow a curve as a separate step, so that their
 * neighbours are as fast as without: with will_follow from the next run on, else from the
 * first point of the curve on, or, if room was made without will_follow, from the next
 * change of structure on. */
void tfx_filter_reserve (TfxFilter *filter, uint64_t id, size_t n_frames,
    bool will_follow);

/* The frames that have run since the filter was at rest. */
uint64_t tfx_filter_n_frames (const TfxFilter *filter);

/* Other samples, or blocks of another length: the state stays.  0, -EINVAL,
 * -ERANGE or -ENOMEM: it then goes on as it was. */
int tfx_filter_set_format (TfxFilter *filter, TfxSample sample,
    size_t block_frames);

/* To rest: all state is zero, and changes have come to their end. */
void tfx_filter_reset (TfxFilter *filter);

/* True if the output is the input, and nothing is under way. */
bool tfx_filter_is_identity (const TfxFilter *filter);
/* True if silence at the input gives nothing but silence at the output: no
 * state is above 1e-20 (-400 dB). */
bool tfx_filter_is_silent (const TfxFilter *filter);
/* True while values glide, a long FIR gets its past, or a cross-fade runs or
 * waits. */
bool tfx_filter_is_changing (const TfxFilter *filter);
/* By EBU R 128: LUFS, -INFINITY where there is nothing that counts; LU; and dB. */
typedef struct TfxLoudnessValues
{
  double integrated, momentary, momentary_max, short_term, short_term_max;
  double range, true_peak_db;
} TfxLoudnessValues;

/* What a stage that listens to its level makes of it. */
typedef struct TfxReadings
{
  double gain_db; /* the lowest since it was asked last */
  bool has_loudness;
  TfxLoudnessValues loudness;
} TfxReadings;

/* Of a stage, within sums too.  -ENOENT: no stage of that id has such a gain, or it
 * has not run, or a device runs it. */
int tfx_filter_read (TfxFilter *filter, uint64_t id, TfxReadings *readings);
/* The frames by which what a stage puts out, within sums too, is late: its own latency and
 * that of what stands in front of it.  Of all of the chain if it has no such stage. */
size_t tfx_filter_latency_at (const TfxFilter *filter, uint64_t id);
/* The chain that it is set to, a reference for the caller; FIRs that cost less as
 * one are one.  0 or -ENOMEM. */
int tfx_filter_get_chain (const TfxFilter *filter, TfxChain **chain);

/* A stage of sections that nobody else holds gets other values, of the same
 * number: in place of a new stage.  False if that cannot be done. */
bool
tfx_stage_reuse_sections (TfxStage *stage, const TfxSos *sos, size_t n_sos);
/* For a point of a curve: as tfx_designer_sections(), right to rounding but not to the last bit, and
 * several times as fast, into a stage of as many sections that nobody else holds.
 * 0, or -EINVAL as tfx_design_check(), or if
 * that is no such stage. */
int tfx_designer_move (TfxDesigner *designer, const TfxDesign *design,
    double rate_hz, TfxStage *stage);

/* The same for a FIR of as many kernels and taps, and the same method. */
bool tfx_stage_reuse_fir (TfxStage *stage, const double *const *kernels,
    unsigned n_kernels, size_t n_taps, TfxFirMethod method);
/* The same for a delay line of as many taps. */
bool tfx_stage_reuse_delay (TfxStage *stage, double direct, const TfxTap *taps,
    size_t n_taps);

/* How far the points are from each other at which values of a stage can be
 * queued: TFX_GRID_FRAMES, or for a FIR of more than 512 taps a power of two times
 * as much, by the number of taps. */
size_t tfx_stage_grid_frames (const TfxStage *stage);

/* Makes the long FIRs of a stage ready for a filter of that spec, in a thread
 * that may wait, before the stage is given to any filter or chain of one.  A
 * running filter that gets the stage then takes its past over a little with
 * each block, before the cross-fade.  0 or a negative errno value. */
int tfx_stage_prepare (TfxStage *stage, const TfxFilterSpec *spec);

/* ---- plans --------------------------------------------------------------- */

/* Where a plan runs; see backend.h.  dsp/ has "cpu". */
typedef struct TfxBackend TfxBackend;

/* The CPU backend.  Its kernels are chosen when it is first asked for: the
 * best that this machine has, or what the environment variable TFX_CPU names
 * (c, sse2, avx2, avx512) if the machine has it.  Static; any thread. */
const TfxBackend *tfx_cpu_backend (void);

/* The CPU backend with the named kernels, NULL if this machine lacks them. */
const TfxBackend *tfx_cpu_backend_for (const char *kernel);

/* Whether the backend runs all of its stages; the CPU's does. */
bool tfx_filter_runs_on (const TfxFilter *filter, const TfxBackend *backend);

/* The kernels that this machine has, by name, the plainest first; NULL behind
 * the last one. */
const char *tfx_cpu_kernel (size_t index);

/* Whether this processor runs AVX-512's vectors in halves: then other shapes are the
 * cheapest, and results of "avx512" differ by rounding from those of others. */
bool tfx_cpu_halves_avx512 (void);

/* What TFX_CPU asks for, if this machine has no kernels of that name and the
 * best ones are taken instead; NULL otherwise. */
const char *tfx_cpu_unknown (void);

/* A row of filters compiled for a backend. */
typedef struct TfxPlan TfxPlan;

typedef struct TfxStats
{
  uint64_t dispatches;         /* runs of the engine */
  uint64_t launches;           /* GPU kernel launches */
  uint64_t uploads, downloads; /* transfers between host and device */
  uint64_t recoveries;         /* times that a NaN or infinity was cleared */
  const char *device;          /* the backend's name, static */
  const char *kernel;          /* the kernel variant's name, static */
} TfxStats;

/* A plan for a row of filters, which run one after the other as one.  All have
 * the same rate, channels and samples.  It takes references to the filters, and
 * borrows their state: the locks of all filters of the row are held in all of
 * these functions but tfx_plan_is_for(), _n_filters(), _filters(), _n_done()
 * and _get_stats().  A plan is a cache: any other plan may run its filters in
 * between, and nothing is lost when it is freed.
 * 0; -EINVAL: filters that do not fit together; -ENOTSUP: the backend cannot
 * run what they are doing just now; -EINPROGRESS: it makes ready what it needs
 * for that, see below; -ENOMEM, -EIO. */
int tfx_plan_new (TfxFilter *const *filters, size_t n,
    const TfxBackend *backend, TfxPlan **plan);
/* Gives the state back to the filters; clears the caller's pointer. */
void tfx_plan_free (TfxPlan **plan);

/* Whether it is a plan for just these, in this order. */
bool tfx_plan_is_for (const TfxPlan *plan, TfxFilter *const *filters, size_t n,
    const TfxBackend *backend);
size_t tfx_plan_n_filters (const TfxPlan *plan);

/* True while a backend makes ready what a plan asked for in vain: meanwhile
 * another backend can run the filters. */
bool tfx_plan_is_in_progress (const TfxBackend *backend);

TfxFilter *const *tfx_plan_filters (const TfxPlan *plan);

/* Filters in to out: the same shape and type; either the same memory (in
 * place, with the same strides) or memory that does not overlap.  Allocates
 * nothing, unless the structure of a filter's setting has changed.  Any split
 * of a stream into blocks gives the same output to the bit; FIRs by FFT, to
 * rounding.  0; -EINVAL: a block does not fit; -ENOMEM; or, of a device, -EIO if
 * it fails and -ENOTSUP if it cannot run a change that is under way: another
 * plan can, from where this one has come to. */
int tfx_plan_run (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out);
/* A block that was started; all zero before. */
typedef struct TfxFlight
{
  size_t n_done;    /* frames that stand, */
  unsigned n_parts; /* and parts that are still under way */
} TfxFlight;
/* Whether the next block can be started: the plan is on a device that does one
 * thing while it moves another, and nothing changes. */
bool tfx_plan_can_start (const TfxPlan *plan);
/* As tfx_plan_run(), but an output in host memory may be there no sooner than
 * tfx_plan_finish() has returned, which takes the blocks that were started in
 * their order.  Until then both blocks and the flight stay where they are; the
 * input is read before out is written.  While a block is under way the plan does
 * nothing but that, or tfx_plan_can_start() holds; who frees the plan finishes
 * what it can.  What a flight has not done when it is finished, the device has
 * failed to do, and another plan can, from the state that is left. */
int tfx_plan_start (TfxPlan *plan, const TfxBlock *in, const TfxBlock *out,
    TfxFlight *flight);
int tfx_plan_finish (TfxPlan *plan, TfxFlight *flight);
/* How many frames the last run filtered: all of them, or fewer if it failed.
 * The rest of its input is as it was, and the state is that behind these
 * frames. */
size_t tfx_plan_n_done (const TfxPlan *plan);
/* n_frames of silence went by while the plan was silent: as tfx_plan_run(),
 * which would have put out silence.  0, -ENOTSUP or -EINPROGRESS as there. */
int tfx_plan_pass (TfxPlan *plan, size_t n_frames);
/* Whether all of them are: tfx_filter_is_silent(). */
bool tfx_plan_is_silent (const TfxPlan *plan);
/* Of the row. */
size_t tfx_plan_n_stages (const TfxPlan *plan);
size_t tfx_plan_n_sections (const TfxPlan *plan);
void tfx_plan_get_stats (const TfxPlan *plan, TfxStats *stats);
/* About what a frame of all channels costs on the CPU in blocks of block_frames, in
 * ns, whatever backend the plan is for: by the least that has been measured with
 * the kernels of tfx_cpu_backend(). */
double tfx_plan_cost (const TfxPlan *plan, size_t block_frames);

#ifdef __cplusplus
}
#endif

#endif /* TFX_H */
