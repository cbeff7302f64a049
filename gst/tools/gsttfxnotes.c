/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxnotes.c: values of a chain that are probably not what was meant.
 *
 * All of them are valid.  The limits are far from what a chain of the field has:
 * a wrong unit is off by a factor of 1000, or by a logarithm.
 */
#include "gsttfxnotes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Factors up to this are taken for factors: twice is a usual one. */
#define MAX_FACTOR 2.0
/* Shorter delays in samples are taken for milliseconds, longer than those of a comb. */
#define MIN_DELAY_S 0.03
#define COMB_SAMPLES 20.0
/* Lower frequencies are taken for kilohertz, except those of a high-pass. */
#define MIN_HZ 10.0
/* Attenuations of a stop band below it, and ripples of a pass band above it. */
#define MIN_STOP_DB 10.0

typedef struct Finder
{
  const TfxExpr *expr;
  gsize stage;
  const TfxClass *klass;
  gdouble rate_hz;
  GPtrArray *notes;
} Finder;

/* ---- values ----------------------------------------------------------------------- */

gchar *
gst_tfx_notes_format_db (gdouble level_db)
{
  return fabs (level_db) < 0.05 ? g_strdup ("0.0 dB")
                                : g_strdup_printf ("%+.1f dB", level_db);
}

static gboolean
get_number (const Finder *finder, const gchar *param, gdouble *number)
{
  TfxValue value;

  if (tfx_expr_get (finder->expr, finder->stage, param, &value) < 0 ||
      value.type != TFX_VALUE_NUMBER)
    return FALSE;
  *number = value.number;
  return TRUE;
}

static gboolean
is_word (const Finder *finder, const gchar *param, const gchar *word)
{
  TfxValue value;

  return tfx_expr_get (finder->expr, finder->stage, param, &value) == 0 &&
         value.type == TFX_VALUE_WORD && strcmp (value.word, word) == 0;
}

static gboolean
is_class (const Finder *finder, const gchar *name)
{
  return strcmp (finder->klass->name, name) == 0;
}

/* The stage with another word: its text, to be freed. */
static gchar *
rewrite (const Finder *finder, const gchar *param, const gchar *word)
{
  TfxExpr *copy = tfx_expr_copy (finder->expr);
  char *printed = NULL;
  gchar *text;

  if (copy && tfx_expr_set_word (copy, finder->stage, param, word, NULL) == 0)
    printed = tfx_expr_print_stage (copy, finder->stage);
  text = g_strdup (printed);
  free (printed);
  if (copy)
    tfx_expr_free (&copy);
  return text;
}

/* "attack=0.005", to be freed. */
static gchar *
assign (const gchar *param, gdouble number)
{
  return g_strdup_printf ("%s=%.6g", param, number);
}

/* Adds "Gain(-6): ", the reason, and the suggestion unless it is NULL; frees that. */
static void add_note (Finder *finder, gchar *suggestion, const gchar *format,
    ...) G_GNUC_PRINTF (3, 4);

static void
add_note (Finder *finder, gchar *suggestion, const gchar *format, ...)
{
  char *text = tfx_expr_print_stage (finder->expr, finder->stage);
  va_list args;
  gchar *why;

  va_start (args, format);
  why = g_strdup_vprintf (format, args);
  va_end (args);
  g_ptr_array_add (finder->notes,
      g_strdup_printf ("%s: %s%s%s%s", text ? text : finder->klass->name, why,
          suggestion ? "; did you mean " : "", suggestion ? suggestion : "",
          suggestion ? "?" : ""));
  g_free (suggestion);
  g_free (why);
  free (text);
}

/* ---- what may be wrong ------------------------------------------------------------ */

/* A factor that may have been meant in dB. */
static void
look_at_gain (Finder *finder)
{
  const gboolean is_shelf = strstr (finder->klass->name, "Shelving") != NULL;
  const gchar *scale = is_shelf ? "gain_scale" : "gain_type";
  gdouble gain;
  gchar *level;

  if ((!is_shelf && !is_class (finder, "Gain")) ||
      !get_number (finder, "gain", &gain) ||
      !is_word (finder, scale, is_shelf ? "linear" : "amplitude"))
    return;
  if (gain == 0.0) {
    add_note (finder, rewrite (finder, scale, "db"),
        "a gain of 0 is a factor, silence");
    return;
  }
  /* A shelf with a factor of 1 does nothing; whole numbers are probably decibels. */
  if (is_shelf ? gain < 1.0 || (gain < MAX_FACTOR && gain != rint (gain))
               : gain >= -1.0 && gain <= MAX_FACTOR)
    return;
  level = gst_tfx_notes_format_db (20.0 * log10 (fabs (gain)));
  add_note (finder, rewrite (finder, scale, "db"),
      "a gain of %.15g is a factor, %s%s", gain, level,
      gain < 0.0 ? " and inverted" : "");
  g_free (level);
}

/* Times in seconds that may have been meant in milliseconds. */
static void
look_at_times (Finder *finder)
{
  static const struct
  {
    const gchar *klass, *param; /* klass NULL: any */
    gdouble longest_s;
  } times[] = {
    { NULL, "attack", 0.5 },
    { NULL, "release", 5.0 },
    { "Limiter", "lookahead", 0.2 },
    { "Normalize", "window", 30.0 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (times); i++) {
    gdouble seconds;

    if ((times[i].klass && !is_class (finder, times[i].klass)) ||
        !get_number (finder, times[i].param, &seconds) ||
        seconds < times[i].longest_s)
      continue;
    add_note (finder,
        g_strdup_printf ("%s=%.6g (%.6g ms)", times[i].param, seconds / 1000.0,
            seconds),
        "%s is in seconds, %.15g s", times[i].param, seconds);
  }
}

/* Delays in samples that may have been meant in milliseconds. */
static void
look_at_samples (Finder *finder)
{
  const gchar *param = is_class (finder, "Echo") ? "delay" : "delay_samples";
  gdouble samples;

  if ((!is_class (finder, "Echo") && !is_class (finder, "Delay")) ||
      !get_number (finder, param, &samples) || samples < COMB_SAMPLES ||
      samples >= MIN_DELAY_S * finder->rate_hz)
    return;
  add_note (finder, NULL,
      "%s is in samples, %.3g ms at %.15g Hz; for %.15g ms write %s=%.0f",
      param, 1000.0 * samples / finder->rate_hz, finder->rate_hz, samples,
      param, rint (samples * finder->rate_hz / 1000.0));
}

/* Levels above full scale: factors, or without their minus. */
static void
look_at_levels (Finder *finder)
{
  gdouble level;
  gchar *above;

  if (get_number (finder, "threshold", &level) && level > 0.0)
    add_note (finder,
        assign ("threshold",
            level < 1.0 ? rint (200.0 * log10 (level)) / 10.0 : -level),
        "threshold is in dB, %.15g dB is above full scale", level);
  if (is_class (finder, "Normalize") && get_number (finder, "peak", &level) &&
      level > 1.0) {
    above = gst_tfx_notes_format_db (20.0 * log10 (level));
    add_note (finder,
        assign ("peak", rint (1000.0 * pow (10.0, -level / 20.0)) / 1000.0),
        "peak is a factor, %.15g is %s above full scale", level, above);
    g_free (above);
  }
}

/* A ripple in the wrong band. */
static void
look_at_ripples (Finder *finder)
{
  const gboolean is_stop = strstr (finder->klass->name, "Chebyshev2") != NULL;
  const gboolean is_pass = strstr (finder->klass->name, "Chebyshev1") != NULL;
  gdouble ripple;

  if (is_stop && get_number (finder, "ripple", &ripple) && ripple < MIN_STOP_DB)
    add_note (finder, assign ("ripple", 40.0),
        "ripple is the attenuation of its stop band, %.15g dB", ripple);
  if (is_pass && get_number (finder, "ripple", &ripple) &&
      ripple >= MIN_STOP_DB)
    add_note (finder, assign ("ripple", 0.5),
        "ripple is that of its pass band, %.15g dB", ripple);
  if (get_number (finder, "passband_ripple", &ripple) && ripple >= MIN_STOP_DB)
    add_note (finder, assign ("passband_ripple", 0.5),
        "the ripple of its pass band is %.15g dB", ripple);
  if (get_number (finder, "stopband_attenuation", &ripple) &&
      ripple < MIN_STOP_DB)
    add_note (finder, assign ("stopband_attenuation", 40.0),
        "the attenuation of its stop band is %.15g dB", ripple);
}

static gboolean
is_high_pass (const Finder *finder)
{
  const gchar *name = finder->klass->name;

  return (g_str_has_prefix (name, "Hi") && !strstr (name, "Shelving")) ||
         strcmp (name, "BiquadHPF") == 0 || strstr (name, "AllPass") ||
         is_word (finder, "btype", "highpass") ||
         is_word (finder, "pass_zero", "highpass");
}

static void
look_at_frequencies (Finder *finder)
{
  for (guint i = 0; i < finder->klass->n_params && !is_high_pass (finder);
       i++) {
    const TfxParam *param = &finder->klass->params[i];
    gdouble freq_hz;

    if ((param->flags & TFX_PARAM_FREQUENCY) &&
        get_number (finder, param->name, &freq_hz) && freq_hz < MIN_HZ)
      add_note (finder, assign (param->name, 1000.0 * freq_hz),
          "%s is in Hz, %.15g Hz is below what is audible", param->name,
          freq_hz);
  }
}

GPtrArray *
gst_tfx_notes_find (const TfxExpr *expr, gdouble rate_hz)
{
  Finder finder = { expr, 0, NULL, rate_hz,
    g_ptr_array_new_with_free_func (g_free) };

  for (; finder.stage < tfx_expr_n_stages (expr); finder.stage++) {
    finder.klass = tfx_expr_stage_class (expr, finder.stage);
    look_at_gain (&finder);
    look_at_times (&finder);
    look_at_samples (&finder);
    look_at_levels (&finder);
    look_at_ripples (&finder);
    look_at_frequencies (&finder);
  }
  return finder.notes;
}
