/* SPDX-License-Identifier: LGPL-2.1-or-later
 * test_lang.c: reading and printing the chain language, and its errors.
 */
#include "chaingen.h"
#include "lang/expr.h"
#include "lang/node.h"
#include "tap.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TfxExpr *
parse (const char *text, TfxExprError *error)
{
  return tfx_expr_parse (text, strlen (text), error);
}

/* ---- what is read ------------------------------------------------------------- */

/* Tables. */
/* clang-format off */

/* A text and its canonical form; no form: it is its own. */
static const struct
{
  const char *text, *canonical;
} readings[] = {
  { "", NULL },
  { " \n# nothing\n", "" },
  { "Gain(2)", NULL },
  { "Gain(gain=2)", "Gain(2)" },
  { "Gain(2,)", "Gain(2)" },
  { "Gain ( 2 , 'amplitude' , False , )", "Gain(2)" },
  { "fx.effect.Gain(2)", "Gain(2)" },
  { "a . b\n. Gain(2)", "Gain(2)" },
  { "((Gain(2)))", "Gain(2)" },
  { "vol=Gain(2)", NULL },
  { "vol = fx.Gain(2)", "vol=Gain(2)" },
  { "(vol=Gain(2))", "vol=Gain(2)" },
  { "Gain(\n  2, # twice\n  gain_type = \"db\"\n)", "Gain(2, gain_type='db')" },
  { "Gain(2, 'dB')", "Gain(2, gain_type='db')" },
  { "Gain(2, db)", "Gain(2, gain_type='db')" },
  { "Gain(1)|\\\nGain(2)\\\r\n|Gain(3)", "Gain(1) | Gain(2) | Gain(3)" },
  /* "+" binds tighter than "|"; groups that change nothing vanish */
  { "Gain(1)|Gain(2)+Gain(3)", "Gain(1) | (Gain(2) + Gain(3))" },
  { "Gain(1)+Gain(2)|Gain(3)", "(Gain(1) + Gain(2)) | Gain(3)" },
  { "Gain(1)+(Gain(2)|Gain(3))", "Gain(1) + (Gain(2) | Gain(3))" },
  { "(Gain(1)|Gain(2))|Gain(3)", "Gain(1) | Gain(2) | Gain(3)" },
  { "Gain(1)|(Gain(2)|Gain(3))", "Gain(1) | Gain(2) | Gain(3)" },
  { "Gain(1)+(Gain(2)+(Gain(3)))", "Gain(1) + Gain(2) + Gain(3)" },
  { "(Gain(1)+Gain(2))+Gain(3)", "Gain(1) + Gain(2) + Gain(3)" },
  { "((Gain(1)|Gain(2))+Gain(3))|Gain(4)",
      "((Gain(1) | Gain(2)) + Gain(3)) | Gain(4)" },
  /* numbers */
  { "Gain(1_000)", "Gain(1000)" },
  { "Compressor(-18, "
      "float('inf'))|Expander(ratio=math.inf)|Compressor(ratio=1e6)",
      "Compressor(threshold=-18, ratio=inf) | Expander(ratio=inf) | "
      "Compressor(ratio=inf)" },
  { "Gain(.5)|Gain(5.)|Gain(5e-1)|Gain(5E+1)",
      "Gain(0.5) | Gain(5) | Gain(0.5) | Gain(50)" },
  { "Gain(0x10)|Gain(0o1_7)|Gain(0b11)|Gain(0Xf_F)",
      "Gain(16) | Gain(15) | Gain(3) | Gain(255)" },
  { "Gain(-2)|Gain(+2)|Gain(--2)|Gain(-+-2)|Gain(- 2)",
      "Gain(-2) | Gain(2) | Gain(2) | Gain(2) | Gain(-2)" },
  { "Gain(00)|Gain(0)|Gain(-0.0)", "Gain(0) | Gain(0) | Gain(-0)" },
  { "Gain(0.1)|Gain(1e-7)|Gain(0.30000000000000004)|Gain(123456.789)",
      "Gain(0.1) | Gain(1e-7) | Gain(0.30000000000000004) | Gain(123456.789)" },
  { "LoButterworth(1000.0, order=4.0)", "LoButterworth(1000, order=4)" },
  { "Gain((2))|Gain((-2))", "Gain(2) | Gain(-2)" },
  /* strings */
  { "Gain(2, '\\x64b')", "Gain(2, gain_type='db')" },
  { "Gain(2, ('db'))", "Gain(2, gain_type='db')" },
  /* lists and tuples */
  { "FIR([1,2.5,-3,])", "FIR([1, 2.5, -3])" },
  { "FIR(b=(1,))", "FIR([1])" },
  { "SOS(((1, 0, 0, 1, -0.5, 0), [1,0,0,2,0,0.5,],))",
      "SOS([[1, 0, 0, 1, -0.5, 0], [1, 0, 0, 2, 0, 0.5]])" },
  { "SOS([1, 0, 0, 1, -0.5, 0])", "SOS([[1, 0, 0, 1, -0.5, 0]])" },
  { "Butterworth('bp', (100, 200))", "Butterworth('bandpass', [100, 200])" },
  { "DesignableFIR(100, 51, window=('kaiser', 8))",
      "DesignableFIR(100, num_taps=51, window=('kaiser', 8))" },
  { "DesignableFIR(100, 51, window='kaiser', beta=8)",
      "DesignableFIR(100, num_taps=51, window=('kaiser', 8))" },
  { "DesignableFIR(100, 51, window=('hann'))",
      "DesignableFIR(100, num_taps=51, window='hann')" },
  { "DesignableFIR(100, 51, None, False)",
      "DesignableFIR(100, num_taps=51, pass_zero=False)" },
  { "curve(((20, -3), (100, 2.5)), minimum, None, 'auto', 48000)",
      "Curve([[20, -3], [100, 2.5]], phase='minimum', fs=48000)" },
  { "FIR([1, 2], phase='minimum', conv_mode='fft')",
      "FIR([1, 2], conv_mode='fft', phase='minimum')" },
  { "FIR([1, 2], phase='original')", "FIR([1, 2])" },
  { "Curve([1000, 1e-3], taps=31)", "Curve([[1000, 0.001]], taps=31)" },
  { "Curve([[9, 1]], 'mixed')", "Curve([[9, 1]], phase='mixed')" },
  { "Denoise(9, profile=((50, -60), (1e3, -72.5)))",
      "Denoise(reduction=9, profile=[[50, -60], [1000, -72.5]])" },
  /* chains */
  { "multiband([200,2e3], low=Gain(1)|Gain(2), None, Gain(1)+Gain(2), order=2,)",
      "Multiband([200, 2000], low=Gain(1) | Gain(2), None, Gain(1) + Gain(2), "
      "order=2)" },
  { "Multiband(crossovers=500, order=8, x = fx.Gain(1), (order=Gain(1)))",
      "Multiband(500, x=Gain(1), (order=Gain(1)), order=8)" },
  { "Multiband([500], ch[0]: Gain(1); ch[1]: Gain(2), (ch[0]: Gain(3)), )",
      "Multiband([500], (ch[0]: Gain(1); ch[1]: Gain(2)), (ch[0]: Gain(3)))" },
  { "m=Multiband(500, Multiband(90, None, (fs=Gain(2) + Gain(3)) | Gain(4)), "
      "None) | Gain(5)",
      "m=Multiband(500, Multiband(90, None, ((fs=Gain(2) + Gain(3)) | "
      "Gain(4))), None) | Gain(5)" },
  { "compressor(-9, key_filter = hp=HiButterworth(80)|Notch(50,1), key=[2,0,])",
      "Compressor(threshold=-9, key=[2, 0], key_filter=hp=HiButterworth(80) | "
      "Notch(50, q=1))" },
  { "Gate(key=None, key_filter=(key=Notch(50, q=2)), floor=None) | Gate()",
      "Gate(floor=None, key_filter=(key=Notch(50, q=2))) | Gate()" },
  { "Expander(key_filter=None, ratio=float('inf'))", "Expander(ratio=inf)" },
  { "linearphase(taps=31, x=Gain(2)|y=Notch(50,1), conv_mode=fft,)",
      "LinearPhase(x=Gain(2) | y=Notch(50, q=1), taps=31, conv_mode='fft')" },
  { "LinearPhase(x=Gain(2))", "LinearPhase(x=Gain(2))" },
  { "LinearPhase(None, taps=None)", "LinearPhase(None)" },
  /* values that are the default are left out, wherever they stand */
  { "HiButterworth(80, 5, 'linear', None)", "HiButterworth(80)" },
  { "Echo(4410, 0.5, 0.5)", "Echo()" },
  { "Delay(None, 120)", "Delay(bpm=120)" },
  { "Delay(10, strategy=None)", "Delay(delay_samples=10)" },
  { "Delay(10, strategy=fx.effect.MonoDelayStrategy())",
      "Delay(delay_samples=10)" },
  { "Delay(10, strategy='ping-pong')",
      "Delay(delay_samples=10, strategy=PingPongDelayStrategy())" },
  { "Notch(50, 30, fs=44100)", "Notch(50, q=30, fs=44100)" },
  { "Notch(50, 2, q_scale='octave')", "Notch(50, q=2, q_scale='octaves')" },
  { "Biquad(1, 0, 0, 1, 0, 0, 48000)", "Biquad(1, 0, 0, 1, 0, 0, fs=48000)" },
  { "Delay(delay_time='2.50ms', mix=1)",
      "Delay(delay_time='2.50ms', mix=1)" },
  /* the names of TorchFX's command line */
  { "lowpass(100, 1)", "BiquadLPF(100, q=1)" },
  { "highpass(100, 1)", "BiquadHPF(100, q=1)" },
  { "bandpass(100, 1)", "BiquadBPF(100, q=1)" },
  { "bandpasspeak(100, 1)", "BiquadBPFPeak(100, q=1)" },
  { "notch(100, 1)", "BiquadNotch(100, q=1)" },
  { "allpass(100, 1)", "BiquadAllPass(100, q=1)" },
  { "iirnotch(100, 1)", "Notch(100, q=1)" },
  { "iirallpass(100, 1)", "AllPass(100, q=1)" },
  { "hibutterworth(80) | compressor()", "HiButterworth(80) | Compressor()" },
  /* a minus as pages print it */
  { "Gain(\xe2\x88\x92" "6, 'db')", "Gain(-6, gain_type='db')" },
  { "FIR([\xe2\x88\x92" "1, \xe2\x88\x92" "0.5])", "FIR([-1, -0.5])" },
  { "Gain(1e\xe2\x88\x92" "3)", "Gain(0.001)" },
  /* no band without a list, no filters of FFmpeg, and no thousands */
  { "Butterworth('lowpass', 2, 4)", "Butterworth('lowpass', 2)" },
  { "highpass=HiButterworth(80) | volume=Gain(2)", NULL },
  { "DesignableFIR(1000,100)", "DesignableFIR(1000, num_taps=100)" },
};

/* clang-format on */

static void
test_read (void)
{
  TapMany many = tap_many ("texts read as they should");

  for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
    const char *wanted = readings[i].canonical;
    TfxExprError error;
    TfxExpr *expr = parse (readings[i].text, &error);
    char *found;

    if (!wanted)
      wanted = readings[i].text;
    if (!tap_many_check (&many, expr, "%s: %s", readings[i].text,
            expr ? "" : error.rendered))
      continue;
    found = tfx_expr_print (expr);
    tap_many_check (&many, found && strcmp (found, wanted) == 0,
        "%s: %s, not %s", readings[i].text, found, wanted);
    free (found);
    tfx_expr_free (&expr);
  }
  tap_many_end (&many);
}

/* Whether the texts of the stages begin in that of the expression, in their order. */
static bool
has_stages (const TfxExpr *expr, const char *text)
{
  for (size_t i = 0; text && i < tfx_expr_n_stages (expr); i++) {
    char *stage = tfx_expr_print_stage (expr, i);

    text = stage ? strstr (text, stage) : NULL;
    text = text ? text + 1 : NULL;
    free (stage);
  }
  return text && !tfx_expr_print_stage (expr, tfx_expr_n_stages (expr));
}

/* Random expressions come back the same from their canonical text. */
static void
test_round_trip (void)
{
  TapMany many = tap_many ("print and read give the same expression");
  uint64_t state = tap_random () | 1;
  char text[8192];

  for (unsigned i = 0; i < 5000; i++) {
    size_t n = chaingen_write (&state, 1 + i % 20, text, sizeof text);
    TfxExpr *expr = tfx_expr_parse (text, n, NULL), *again = NULL;
    char *first, *second = NULL;

    if (!expr)
      continue;
    first = tfx_expr_print (expr);
    if (first)
      again = parse (first, NULL);
    if (again)
      second = tfx_expr_print (again);
    tap_many_check (&many,
        second && tfx_expr_equal (expr, again) && strcmp (first, second) == 0,
        "%s\n%s\n%s", text, first, second ? second : "not read");
    tap_many_check (&many, has_stages (expr, first), "the stages of %s", first);
    free (first);
    free (second);
    tfx_expr_free (&expr);
    tfx_expr_free (&again);
  }
  tap_check (many.n_cases > 1000, "%lu of 5000 random texts are chains",
      many.n_cases);
  tap_many_end (&many);
}

static void
test_equal (void)
{
  static const char *const texts[] = { "", "Gain(1)", "Gain(2)", "x=Gain(1)",
    "y=Gain(1)", "Gain(1) | Gain(1)", "Gain(1) + Gain(1)", "FIR([1])",
    "FIR([1, 0])", "FIR([2])", "Gain(1, 'power')", "Delay(1)", "Delay(bpm=1)",
    "Multiband(9, None, None)", "Multiband(9, Gain(1), None)",
    "Multiband(9, None, Gain(1))", "Multiband(9, None, Gain(1) | Gain(1))" };
  const size_t n = sizeof texts / sizeof texts[0];
  TapMany many = tap_many ("equal only to itself");

  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < n; k++) {
      TfxExpr *a = parse (texts[i], NULL), *b = parse (texts[k], NULL);

      tap_many_check (&many, a && b && tfx_expr_equal (a, b) == (i == k),
          "%s and %s", texts[i], texts[k]);
      tfx_expr_free (&a);
      tfx_expr_free (&b);
    }
  }
  tap_many_end (&many);
}

/* ---- what is refused ------------------------------------------------------------- */

/* clang-format off */

/* A text, the column of the error, a part of the message, the code (0: -EINVAL or
 * -ERANGE) and the line (0: the first). */
static const struct
{
  const char *text;
  unsigned column;
  const char *part;
  int code;
  unsigned line;
} refusals[] = {
  /* grammar */
  { "Gain(1) |", 10,
      "expected a stage, such as LoButterworth(1000), found the end" },
  { "| Gain(1)", 1, "there is no stage before this '|'" },
  { "Gain(1) | | Gain(2)", 11, "there is no stage before this '|'" },
  { "Gain(1) Gain(2)", 9, "expected '|', '+' or the end, found 'Gain'" },
  { "(Gain(1)", 1, "this '(' is not closed" },
  { "Gain(1))", 8, "there is no '(' for this ')'" },
  { "()", 1, "these parentheses are empty" },
  { "Gain", 5, "Gain needs parentheses, for example Gain(" },
  { "Gain(1", 5, "this '(' is not closed" },
  { "FIR([1, 2", 5, "this bracket is not closed" },
  { "Gain(1) * Gain(2)", 9, "joined by '|' (series) or '+' (sum)" },
  { "2 * Gain(1)", 1, "a number is not a stage" },
  { "x=y=Gain(1)", 4, "a stage has one name" },
  { "x=(Gain(1) | Gain(2))", 3, "expected the class of the named stage" },
  { "a.b=Gain(1)", 4, "without '.'" },
  { "True=Gain(1)", 1, "cannot be named True" },
  { "wave | Gain(1)", 1, "leave out \"wave |\"" },
  { "x=Gain(1) | x=Gain(2)", 13, "two stages have the name 'x'" },
  { "Gain(1)\n  | Gain(2)\n  | Bain(3)", 5, "did you mean 'Gain'", 0, 3 },
  { "Gain(1) # caf\xc3\xa9\n| \xc3\xa9()", 3, "character '\xc3\xa9'", 0, 2 },
  { "x\xc3\xa9=1", 2, "unexpected character" },
  { "Gain(\xe2\x80\x98" "db\xe2\x80\x99)", 6, "typographic quote" },
  { "Gain(1) $", 9, "unexpected character '$'" },
  { "Gain(1) \x01", 9, "unexpected character '?'" },
  { "Gain(1) \xff", 9, "unexpected character '?'" },
  { "Gain(1) \\ | Gain(2)", 9, "unexpected character '\\'" },
  /* numbers and strings */
  { "LoButterworth(1000Hz)", 19, "'Hz' after the number 1000" },
  { "LoButterworth(1k)", 16, "numbers are written without a unit" },
  { "Gain(1__0)", 7, "'__0' after the number 1" },
  { "Gain(007)", 6, "must not begin with 0 (write 7)" },
  { "Gain(1e999)", 6, "too large" },
  { "Gain(0x)", 6, "no digits of base 16" },
  { "Gain(0b12)", 9, "'2' after the number 0b1" },
  { "Gain(1j)", 7, "'j' after" },
  { "Gain(-)", 7, "expected a number, found ')'" },
  { "Gain('db)", 6, "the string has no closing '" },
  { "Gain(1, \"db\n\")", 9, "the string has no closing \"" },
  { "Gain(1, 'd\\b')", 11, "unknown escape sequence" },
  { "Gain(1/3)", 7, "has no arithmetic" },
  { "Gain(2**0.5)", 7, "has no arithmetic" },
  { "Gain(3+3)", 7, "has no arithmetic" },
  { "HiButterworth(80; order=2)", 17, "expected ',' or ')', found ';'" },
  { "HiButterworth(80: order=2)", 17, "expected ',' or ')', found ':'" },
  { "LoButterworth(fs/2)", 15, "'fs' is not a value" },
  { "LoButterworth(true)", 15, "write True" },
  { "Gain(1, clamp=false)", 15, "write False" },
  { "FIR([])", 5, "the list is empty" },
  { "FIR([1, [2]])", 9, "expected a number in the list" },
  { "FIR([[1, 2]])", 5, "b of FIR is a plain list, without rows" },
  { "SOS([[1, 0, 0, 1, 0, 0], 3])", 26, "expected a row in the list" },
  { "SOS([[1, 0, 0, 1, 0, 0], [3]])", 26, "the rows have different lengths" },
  { "SOS([[1, 2, 3]])", 5, "rows of 3 numbers, but needs rows of 6" },
  { "SOS([1, 2, 3])", 5, "3 numbers, but needs rows of 6" },
  { "SOS([[]])", 6, "the row is empty" },
  { "SOS([[1, 0, 0, 1, 0, 0], [1, 0, 0, 1, -3, 0]])", 1,
      "section 1 of SOS is unstable: a1 = -3 and a2 = 0" },
  { "Biquad(1, 0, 0, 0, 0, 0)", 1, "a0 of Biquad is 0" },
  { "Biquad(1, 0, 0, 2, 4.5, 0)", 1, "Biquad is unstable: a1 = 2.25" },
  { "FIR([1, 'x'])", 9, "expected a number in the list, found ''x''" },
  { "FIR([1 2])", 8, "expected ',' or ']', found '2'" },
  { "FIR(['x', 1])", 5, "a list may contain numbers only" },
  { "DesignableFIR(1, 3, window=('kaiser', 1, 2))", 28,
      "only one number may follow the string" },
  { "DesignableFIR(1, 3, window=('kaiser', -1))", 28,
      "beta of DesignableFIR is -1" },
  /* chains */
  { "Multiband([200, 2000], Gain(1))", 1,
      "Multiband needs 2 chains or more, but has 1; for example Multiband(" },
  { "Multiband([200, 2000], Gain(1), None)", 1,
      "Multiband has 2 chains, but 2 crossovers make 3 bands" },
  { "Multiband(200, None, None, None)", 1, "1 crossover makes 2 bands" },
  { "Multiband(Gain(1), Gain(1))", 11,
      "crossovers of Multiband comes before its chains" },
  { "Multiband(2,000, None, None)", 13, "a large number is written 1000" },
  { "Multiband(200, ordr=4, None, None)", 16, "did you mean 'order'?" },
  { "Multiband(200, None, low=None)", 22, "no parameter 'low'" },
  { "Multiband(200, None, None, 5)", 28, "a number is not a stage" },
  { "Multiband(200, order=2, order=4, None, None)", 25, "is given twice" },
  { "Multiband(200, order=Gain(1), None)", 27, "expected ')'" },
  { "Multiband(200, None None)", 21, "expected ',' or ')', found 'None'" },
  { "Multiband(200, None | Gain(1))", 21, "expected ',' or ')', found '|'" },
  { "Multiband(200, None, ())", 22, "these parentheses are empty" },
  { "Multiband(200, None, Gain(1)", 10, "this '(' is not closed" },
  { "Multiband(200, None, Gian(1))", 22, "did you mean 'Gain'?" },
  { "Multiband(200, None, x=Gain(1)) | x=Gain(2)", 35, "the name 'x'" },
  { "Multiband(200, None, LoButterworth(100, 65))", 22, "1 to 64" },
  { "Multiband(200, None, Gain(1) - Gain(2))", 30, "has no arithmetic" },
  { "Multiband(200, Mix([[1, 0]]), Mix([[1, 0], [0, 1]]))", 31,
      "the chains of a Multiband have different channel counts: this one has 2 "
      "channels, those before it 1" },
  { "Compressor(key=[2, 0, 2])", 1, "key of Compressor has channel 2 twice" },
  { "Gate(key=[64])", 10, "key of Gate is 64, out of range (0 to 63)" },
  { "Gate(key=[0.5])", 10, "key of Gate is 0.5, but must be an integer" },
  { "Gate(key=[])", 10, "the list is empty" },
  { "Gate(key=(Notch(50, 1)))", 10,
      "key of Gate is no chain; write key_filter=Notch(…)" },
  { "Gate(-9, Notch(50, 1))", 10,
      "a chain in Gate needs its name: write key_filter=Notch(…)" },
  { "Align(-1.7, 'm')", 7, "delay of Align is -1.7, out of range (0 to" },
  { "Align(1e300)", 7, "delay of Align is 1e300, out of range (0 to" },
  { "Gate(key_filter=Notch(50, 1), -9)", 31, "cannot follow one with name=" },
  { "Gate(key_filter=Notch(50, 1), key_filter=None)", 31,
      "key_filter of Gate is given twice" },
  { "Gate(key_fliter=None)", 6, "did you mean 'key_filter'?" },
  { "Gate(x=None)", 6, "link, key, key_filter" },
  { "Gate(key_filter=9)", 17, "a number is not a stage" },
  { "Gate(key_filter=Notch(50, 1) | Gain(2))", 1,
      "key_filter of Gate takes IIR filters in series, such as HiButterworth, "
      "not Gain" },
  { "Gate(key_filter=Notch(50, 1) + Notch(60, 1))", 1, "not a sum" },
  { "Gate(key_filter=(ch[0]: Notch(50, 1)))", 1, "not ch[…]" },
  { "Mix([[1, 0]]) | Multiband(9, Mix([[1], [1]]), None)", 17,
      "this one has 1 channel, those before it 2" },
  { "LinearPhase()", 1, "LinearPhase needs 1 chain, but has 0; for example" },
  { "LinearPhase(31)", 13, "a number is not a stage" },
  { "LinearPhase(None, None)", 19, "LinearPhase takes at most 1 chain" },
  { "LinearPhase(None, 31)", 19, "LinearPhase takes at most 1 chain" },
  { "LinearPhase(None, taps=30)", 1, "taps of LinearPhase is 30, but must be odd" },
  { "LinearPhase(None, taps=131073)", 24, "out of range (1 to 131071)" },
  { "LinearPhase(Gain(1) | Compressor())", 1,
      "LinearPhase takes IIR filters and gains, also in sums and banks, but not "
      "Compressor: write it before or after LinearPhase(…)" },
  { "LinearPhase(Notch(50, 1) + (Gain(2) | x=Delay(50)))", 1, "not Delay" },
  { "LinearPhase(Multiband(90, None, Reverb()))", 1, "not Reverb" },
  { "LinearPhase(Curve([[90, 1]]))", 1, "not Curve" },
  { "LinearPhase(LinearPhase(None))", 1, "not LinearPhase" },
  { "LinearPhase(Mix([[1, 0], [0, 1]]))", 1, "not Mix" },
  { "LinearPhase(Crossfeed())", 1, "not Crossfeed" },
  { "LinearPhase(Width(2))", 1, "not Width" },
  { "LinearPhase(Gain(1, clamp=True))", 1, "not Gain with clamp" },
  { "LinearPhase(ch[0]: Gain(1))", 1, "not ch[…]" },
  { "Gate(key_filter=LinearPhase(None))", 1, "not LinearPhase" },
  { "Multiband([200, 100], None, None, None)", 1,
      "crossovers of Multiband are not in rising order: 200 Hz, 100 Hz" },
  { "Multiband(200, None, None, order=5)", 1,
      "order of Multiband is 5, but must be even, from 2 to 8" },
  { "Multiband([1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16], None)", 11,
      "16 numbers" },
  { "Multiband(9, None, None, None, None, None, None, None, None, None, None, "
      "None, None, None, None, None, None,\nNone)", 1, "at most 16 chains", 0, 2 },
  /* classes */
  { "HiButerworth(80)", 1, "did you mean 'HiButterworth'" },
  { "HIButterworth(80)", 1, "did you mean 'HiButterworth'" },
  { "Buterworth(80)", 1, "did you mean 'Butterworth' or 'LoButterworth'?" },
  { "fx.filter.ParametricEq(80)", 11, "did you mean 'ParametricEQ'?" },
  { "Chebychev1('lp', 80)", 1, "did you mean 'Chebyshev1'" },
  { "Linkwitz(80)", 1, "did you mean 'LinkwitzRiley'?" },
  { "eq(1000, 1, 3)", 1, "mean 'ParametricEQ' or 'GraphicEQ'?" },
  { "Gian(1)", 1, "did you mean 'Gain'?" },
  { "Zarquon(1)", 1, "there is no class 'Zarquon' (gst-tfx list shows all)" },
  { "FilterSettings('rew.txt')", 16, "files cannot be read here" },
  { "PercentileNormalizationStrategy()", 1, "it needs the whole signal" },
  { "Normalize(0.5, strategy='percentile')", 25,
      "use one of 'peak', 'rms', 'per-channel'" },
  { "Normalize(strategy=PercentileNormalizationStrategy(99))", 20,
      "it needs the whole signal" },
  { "Normalize(strategy=te.CustomNormalizationStrategy(f))", 23,
      "it runs Python code" },
  { "Normalize(strategy=Peak(1))", 25, "expected ')'" },
  { "Normalize(0)", 11, "peak of Normalize is 0, out of range" },
  { "Loudness(-23, 3, 0)", 18, "speed of Loudness is 0 dB/s" },
  { "Compressor(ratio=0.5)", 18, "ratio of Compressor is 0.5" },
  { "NoiseGate()", 1, "it is called Gate" },
  { "FilterChain()", 1, "a | b" },
  /* likely slips */
  { "my-eq=Notch(50, 3)", 3, "letters, digits and '_', but not '-'" },
  { "eq-2nd = Notch(50, 3)", 3, "letters, digits and '_', but not '-'" },
  { "Gain(2) || Gain(3)", 10, "joined by a single '|'" },
  { "ch[0]: Gain(2), ch[1]: Gain(3)", 15, "separated by ';', not ','" },
  { "Butterworth(500)", 13,
      "btype of Butterworth must be a string ('lowpass', 'highpass', " },
  { "Gain(2), Gain(3)", 8, "joined by '|' (series) or '+'" },
  { "(Gain(2), Gain(3))", 9, "joined by '|' (series) or '+'" },
  { "Gain(2); Gain(3)", 8, "joined by '|' (series) or '+'" },
  { "LoButterworth(1000 Hz)", 20, "'Hz' after a number: numbers are" },
  { "Gain(-6 dB)", 9, "'dB' after a number: numbers are written without" },
  { "LoButterworth(cutoff:1000)", 21, "joined by '=': cutoff=…" },
  { "LoButterworth(1,000)", 17, "a large number is written 1000 or 1_000" },
  { "LoButterworth(12,024)", 18, "a large number is written 1000 or" },
  { "Gain(1,000)", 8, "a large number is written 1000 or 1_000" },
  { "LoButterworth(1,500)", 1,
      "in series (a | b); ',' separates two values, a large number is "
      "written" },
  { "LoButterworth(1000, 400)", 1,
      "is 400, out of range (1 to 64): higher orders exceed" },
  /* arguments */
  { "Gain()", 1, "Gain needs gain" },
  { "highpass(80)", 1,
      "highpass is BiquadHPF, which needs q, for example BiquadHPF(80" },
  { "ParametricEQ()", 1, "ParametricEQ needs frequency, q, gain" },
  { "Peaking(100, 1, 2)", 1, "Peaking needs gain_scale" },
  { "Gain(1, gain=2)", 9, "gain of Gain is given twice" },
  { "Gain(gain=1, gain=2)", 14, "gain of Gain is given twice" },
  { "Gain(gain=1, 'db')", 14, "without name= cannot follow one with" },
  { "Gain(1, 'db', False, 3)", 22, "at most 3 values without name=" },
  { "DesignableFIR(1, 3, None, True, 'hann', 'auto', 8)", 49,
      "at most 6 values" },
  { "LoButterworth(80, ordr=3)", 19, "did you mean 'order'?" },
  { "ParametricEQ(f=1000)", 14, "'f'; it has frequency, q, gain" },
  { "ParametricEQ(Q=1)", 14, "did you mean 'q'?" },
  { "Weighting('B')", 11, "use one of 'A', 'C', 'K'" },
  { "LoButterworth(80, Q=3)", 19, "it has cutoff, order, order_scale, fs" },
  { "LoButterworth(80, *a)", 19, "expected a value, found '*'" },
  { "LoButterworth(,)", 15, "expected a value, found ','" },
  { "LoButterworth(80 90)", 18, "expected ',' or ')', found '90'" },
  { "LoButterworth(80, order=)", 25, "expected a value, found ')'" },
  /* values */
  { "LoButterworth('80')", 15,
      "cutoff of LoButterworth must be a number, not a string" },
  { "LoButterworth([80])", 15, "must be a number, not a list" },
  { "LoButterworth(None)", 15, "must be a number, not None" },
  { "LoButterworth(True)", 15, "must be a number, not True or False" },
  { "Gain(1, clamp=1)", 15, "must be True or False, not a number" },
  { "Gain(1, None)", 9,
      "must be a string ('amplitude', 'db', 'power'), not None" },
  { "LoButterworth(0)", 15,
      "cutoff of LoButterworth is 0 Hz, out of range (above 0 Hz and below "
      "half" },
  { "LoButterworth(-5)", 15, "-5 Hz, out of range" },
  { "LoChebyshev1(80, order=65)", 1, "is 65, out of range (1 to 64" },
  { "LoButterworth(80, order=0)", 25, "is 0, out of range (at least 1" },
  { "LoButterworth(80, order=2.5)", 25, "2.5, but must be an integer" },
  { "LoButterworth(80, 65)", 1, "is 65, out of range (1 to 64" },
  { "LoButterworth(80, 5, 'db')", 1,
      "order of LoButterworth is 0 (order_scale is 'db'" },
  { "LinkwitzRiley('lp', 80, 3)", 1, "must be even, from 2 to 128" },
  { "Butterworth('lowpas', 1)", 13, "did you mean 'lowpass'?" },
  { "Butterworth('zzz', 1)", 13,
      "use one of 'lowpass', 'highpass', 'bandpass', 'bandstop'" },
  { "Butterworth('lowpass', [1, 2])", 1, "must be a single number" },
  { "Butterworth('bandpass', 1)", 1, "must be a list of two frequencies" },
  { "Butterworth('bandpass', [2, 1])", 1, "first frequency must be lower" },
  { "Butterworth('bandpass', [1, 2, 3])", 25,
      "a list of 3 numbers, but needs 2" },
  { "Elliptic('lp', 1, 4, 50)", 1, "must be greater than the passband_ripple" },
  { "ParametricEQ(1, 1, 200)", 20, "200 dB, out of range (-120 to 120" },
  { "ParametricEQ(1, 0, 2)", 17, "q of ParametricEQ is 0, out of" },
  { "HiShelving(1, 1, 0)", 1, "out of range for a factor" },
  { "HiShelving(1, 1, 2e6)", 1, "for a factor (1e-06 to 1e+06)" },
  { "LoShelving(1, 1, -200, 'db')", 1,
      "is -200 dB, out of range (-120 to 120 dB" },
  { "Gain(-1, 'power')", 1, "for a power factor" },
  { "Gain(500, 'db')", 1, "-400 to 400 dB" },
  { "Gain(-401, 'db')", 1, "-400 to 400 dB" },
  { "Echo(decay=1)", 12,
      "decay of Echo is 1, out of range (above 0 and below 1" },
  { "Echo(0)", 6, "delay of Echo is 0 samples" },
  { "Reverb(delay=4410)", 8,
      "Reverb has no parameter 'delay', only room_size, damping, mix, fs; "
      "the Reverb of TorchFX 0.6 is now Echo(delay, decay, mix)" },
  { "Reverb(0.5, decay=0.5)", 13, "is now Echo(delay, decay, mix)" },
  { "Reverb(1.5)", 8, "room_size of Reverb is 1.5, out of range" },
  { "Delay()", 1, "needs delay_samples, or bpm and delay_time" },
  { "Delay(1, delay_time='1/0')", 21, "'1/0' is not a note value" },
  { "Delay(1, delay_time='1/8x')", 21, "'1/8x' is not a note value" },
  { "Delay(1, delay_time='1/8/')", 21, "'1/8/' is not a note value" },
  { "Delay(1, delay_time='1/8dt')", 21, "'1/8dt' is not a note value" },
  { "Delay(1, delay_time='1/1234')", 21, "'1/1234' is not a note value" },
  { "Delay(1, delay_time='-1ms')", 21, "'-1ms' is not a note value" },
  { "Delay(1, delay_time='0ms')", 21, "or a time in ms: '2.5ms'" },
  { "Delay(1, delay_time='+1/8')", 21, "'+1/8' is not a note value" },
  { "Delay(1, delay_time='1/ 8')", 21, "'1/ 8' is not a note value" },
  { "Delay(1, strategy='pong')", 19, "use one of 'mono', 'ping-pong'" },
  { "LogFilterBank(1)", 15, "n_bands of LogFilterBank is 1" },
  { "LogFilterBank(3, 200, 100)", 1, "must be lower than f_max" },
  { "DesignableFIR(100, 64, pass_zero=False)", 1, "must be odd" },
  { "DesignableFIR([2, 1], 63)", 1, "edge 2 (1 Hz) is not higher than edge 1" },
  { "DesignableFIR([1, 2], 63, pass_zero='lowpass')", 1, "needs one" },
  { "DesignableFIR(1, 63, pass_zero='bandpass')", 1, "needs two or more" },
  { "DesignableFIR(1, 63, window='kaiser')", 1, "TorchFX uses 0.5" },
  { "Curve([[1, 2, 3]])", 7, "has rows of 3 numbers, but needs rows of 2" },
  { "Curve([1, 2, 3])", 7, "is a list of 3 numbers, but needs rows of 2" },
  { "Curve([[0, 1]])", 1, "point 1 is at 0 Hz, but must be above 0 Hz" },
  { "Curve([[1, 1], [2, 120.5]])", 1, "point 2 is 120.5 dB, out of range" },
  { "Curve([[1, 0], [1, 1]])", 1, "point 2 is at 1 Hz, but must be above the one before it" },
  { "Curve([[1, 0]], taps=100)", 1, "taps of Curve is 100, but must be odd" },
  { "Curve([[1, 0]], taps=131073)", 22, "out of range (1 to 131071)" },
  { "FIR([1, 2], phase='linear', delay=1)", 1,
      "delay of FIR is for phase='original'" },
  { "FIR([1, 2], delay='peak', phase='minimum')", 1, "is for phase='original'" },
  { "FIR([1, 2], phase='mixed')", 19,
      "use one of 'original', 'minimum', 'linear'" },
  { "Curve([[1, 0]], 'excess')", 17, "use one of 'linear', 'minimum', 'mixed'" },
  { "Denoise(profile=[[9, -80], [8, -80]])", 1,
      "profile of Denoise: point 2 is at 8 Hz, but must be above the one" },
  { "Denoise(profile=[[9, -301]])", 1,
      "point 1 is -301 dB, out of range (-300 to 120 dB)" },
  { "Denoise(learn=1, profile=[[9, -80]])", 1,
      "Denoise has learn and profile, which both set the noise" },
  /* a band without a list */
  { "Butterworth('bandpass', 500, 2000)", 25, "write [500, 2000]" },
  { "Butterworth('bandpass', 500, 2000, 6)", 25, "write [500, 2000]" },
  { "Chebyshev1('bs', 20, 50.5, 4, 1)", 18, "'bandstop': write [20, 50.5]" },
  { "Gain(1) | LinkwitzRiley('bandpass', 20, 50)", 37, "write [20, 50]" },
  { "Butterworth('bandpass', 500, 4)", 1, "list of two frequencies" },
  /* files without quotes */
  { "FIR(room.wav)", 5, "must be in quotes: FIR('room.wav')" },
  { "FIR( my room-1.wav , channel=0)", 6, "quotes: FIR('my room-1.wav')" },
  { "Convolve(/home/me/2ch.wav, mix=0.5)", 10, "('/home/me/2ch.wav')" },
  { "Convolve(location=2ch.wav)", 19, "Convolve('2ch.wav')" },
  { "FIR(b = ../a.wav)", 9, "FIR('../a.wav')" },
  { "FilterSettings(rew.txt)", 16, "FilterSettings('rew.txt')" },
  { "FIR(room)", 5, "must be in quotes: 'room'" },
  { "FIR(0.5)", 5, "must be a list of numbers or the name of a file" },
  /* channels by other names */
  { "ch0: Gain(2)", 1, "write ch[0]: in place of ch0:" },
  { "ch 1 : Gain(2)", 1, "write ch[1]:" },
  { "left: Gain(2); right: Gain(3)", 1, "write ch[0]: in place of left:" },
  { "ch[0]: Gain(2); right: Gain(3)", 17, "write ch[1]: in place of right:" },
  { "Gain(2) | (FR: Gain(3))", 12, "write ch[1]: in place of FR:" },
  { "mid: Gain(2)", 1, "there is no channel 'mid'" },
  { "ch(0): Gain(2)", 1, "channels are written ch[0]: …; ch[1]: …" },
  { "Gain: 2", 5, "Gain needs parentheses, for example Gain(-6" },
  /* FFmpeg */
  { "highpass=f=80", 1,
      "the syntax of FFmpeg; the same chain here is HiButterworth(80, "
      "order=2)" },
  { "highpass=80", 1, "is HiButterworth(80, order=2)" },
  { "lowpass=f=3k:t=q:w=1", 1, "is BiquadLPF(3000, q=1)" },
  { "lowpass", 8, "BiquadLPF needs parentheses" },
  { "equalizer=f=1000:t=q:w=1:g=2", 1, "is ParametricEQ(1000, q=1, gain=2)" },
  { "equalizer=f=440:width_type=o:width=2:g=-5", 1,
      "the same chain here is ParametricEQ(440, q=2, gain=-5, "
      "q_scale='octaves')" },
  { "lowpass 800 1.9o", 1,
      "the same chain here is BiquadLPF(800, q=1.9, q_scale='octaves')" },
  { "bass=f=440:t=o:w=2:g=-5", 1, "the nearest chain here is LoShelving(440" },
  { "equalizer=f=1000:width_type=h:width=200:g=-10", 1,
      "is ParametricEQ(1000, q=5, gain=-10)" },
  { "highpass=f=80, volume=-6dB,bass=g=3", 1,
      "is HiButterworth(80, order=2) | Gain(-6, gain_type='db') | "
      "LoShelving(100, q=0.7071, gain=3, gain_scale='db')" },
  { "bandpass=f=1000:csg=1", 1, "is BiquadBPFPeak(1000, q=0.5)" },
  { "volume=0.5", 1, "is Gain(0.5)" },
  { "highpass=f=80:m=0.5", 1,
      "the syntax of FFmpeg; here HiButterworth is a call, for example "
      "HiButterworth(80, order=4)" },
  { "highpass=f=80,loudnorm=I=-16", 1, "HiButterworth(80, order=2) | …" },
  { "loudnorm=I=-16:TP=-1.5", 1, "for example Loudness(target=-16)" },
  { "afftdn=nr=12:nf=-40", 1, "for example Denoise(reduction=12)" },
  { "Gain(2) | highpass=f=80", 11, "is HiButterworth(80, order=2)" },
  /* SoX */
  { "highpass 80", 1,
      "the syntax of SoX; the same chain here is HiButterworth(80, order=2)" },
  { "equalizer 1k 1q 3", 1, "is ParametricEQ(1000, q=1, gain=3)" },
  { "equalizer 1000 200h -3", 1, "is ParametricEQ(1000, q=5, gain=-3)" },
  { "highpass -1 80", 1, "nearest chain here is HiButterworth(80, order=1)" },
  { "highpass 80 equalizer 1000 1q 3 gain -6", 1,
      "is HiButterworth(80, order=2) | ParametricEQ(1000, q=1, gain=3) | "
      "Gain(-6, gain_type='db')" },
  { "bass +6", 1, "is LoShelving(100, q=0.4926, gain=6, gain_scale='db')" },
  { "treble -3 4k 0.7q", 1,
      "is HiShelving(4000, q=0.7, gain=-3, gain_scale='db')" },
  { "bandreject 50 5", 1, "is Notch(50, q=10)" },
  { "vol 0.5", 1, "is Gain(0.5)" },
  { "reverb 50", 1, "here Reverb is a call, for example Reverb(" },
  { "sinc -n 101 300-3k", 1, "for example DesignableFIR(1000" },
  /* Equalizer APO */
  { "Preamp: -6 dB", 1, "read from a file: FilterSettings('settings.txt')" },
  { "Filter 1: ON PK Fc 63 Hz Gain -5 dB Q 4", 1, "FilterSettings(" },
  { "Filter: ON PK Fc 63 Hz Gain -5 dB Q 4", 1, "FilterSettings(" },
  { "Filter Settings file", 1, "FilterSettings(" },
  { "GraphicEQ: 25 0; 40 1.5; 63 2", 1,
      "GraphicEQ: lines of Equalizer APO are not supported; write "
      "Curve([[25, 0], [40, 1.5], …], phase='minimum')" },
  { "Channel: L", 1, "ch[0]: FilterSettings('left.txt')" },
  { "Convolution: room.wav", 1, "not supported" },
  /* classes by other names */
  { "PEQ(1000, 1, 3)", 1,
      "there is no class 'PEQ'; did you mean 'ParametricEQ', for example "
      "ParametricEQ(1000, q=1, gain=3)? (gst-tfx list shows all)" },
  { "LowShelf(100, 3)", 1, "for example LoShelving(120, q=0.7, gain=3, " },
  { "High_Shelf(100, 3)", 1, "for example HiShelving(8000, q=0.7, gain=3, " },
  { "Lowpass(1000)", 1, "mean 'LoButterworth', for example LoButterworth(" },
  { "LowPass(1000)", 1, "mean 'LoButterworth', for example LoButterworth(" },
  { "HPF(80)", 1, "mean 'HiButterworth', for example HiButterworth(80" },
  { "Bandpass(80, 90)", 1, "for example Butterworth('bandpass', [300, " },
  { "Volume(2)", 1, "mean 'Gain', for example Gain(" },
  { "Bell(1000)", 1, "mean 'ParametricEQ'" },
  /* other dashes and spaces */
  { "Gain(\xe2\x80\x93" "6)", 6,
      "a typographic dash; write - for a minus sign" },
  { "Gain(\xe2\x80\x94" "6)", 6, "a typographic dash" },
  { "Gain(1,\xc2\xa0'db')", 8, "a no-break space" },
  { "Gain(3\xe2\x88\x92" "3)", 7, "no arithmetic" },
  { "\xe2\x88\x92Gain(3)", 1, "expected a stage" },
  /* numbers beyond a range, and one step beyond it */
  { "DesignableFIR(1, 1000000000)", 18, "out of range", -ERANGE },
  { "Delay(1, taps=1000000000)", 15, "out of range", -ERANGE },
  { "LogFilterBank(1e9)", 15, "out of range", -ERANGE },
  { "Echo(1e15)", 6, "out of range", -ERANGE },
  { "Gain(400.00000000000006, gain_type='db')", 1, "400.00000000000006 dB",
      -ERANGE },
  { "Gain(-5e-324, gain_type='power')", 1, "-5e-324", -ERANGE },
  { "Peaking(1000, 1, 120.00000000000001, 'db')", 1, "120.00000000000001 dB",
      -ERANGE },
  { "Peaking(1000, 1, 9.999999999999997e-7, 'linear')", 1,
      "9.999999999999997e-7", -ERANGE },
  { "Butterworth('bandpass', [1000, 999.9999999999999])", 1,
      "[1000, 999.9999999999999]", -ERANGE },
  { "LoElliptic(1000, 4, 40.00000000000001, 40)", 1, "of 40.00000000000001 dB",
      -ERANGE },
  { "DesignableFIR([1000, 999.9999999999999], 3)", 1, "(999.9999999999999 Hz)",
      -ERANGE },
  { "LogFilterBank(3, 1000, 999.9999999999999)", 1, "999.9999999999999 Hz",
      -ERANGE },
  { "DesignableFIR(1000,101,window='kaiser')", 1, "TorchFX uses 0.5" },
  { "DesignableFIR(0.5,101,window='kaiser')", 1, "TorchFX uses 0.5" },
};

/* clang-format on */

static void
test_refuse (void)
{
  TapMany many = tap_many ("errors name what is wrong and where");

  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const char *text = refusals[i].text, *part = refusals[i].part, *caret;
    const unsigned line = refusals[i].line ? refusals[i].line : 1;
    TfxExprError error;
    TfxExpr *expr = parse (text, &error);

    if (!tap_many_check (&many, !expr, "%s: accepted", text)) {
      tfx_expr_free (&expr);
      continue;
    }
    tap_many_check (&many,
        error.line == line && error.column == refusals[i].column,
        "%s: line %u, column %u, not %u, %u (%s)", text, error.line,
        error.column, line, refusals[i].column, error.message);
    /* "large number": only where one number with a comma may be meant. */
    tap_many_check (&many,
        strstr (error.message, part) &&
            !strstr (error.message, "large number") ==
                !strstr (part, "large number"),
        "%s: \"%s\" has not \"%s\"", text, error.message, part);
    tap_many_check (&many,
        refusals[i].code ? error.code == refusals[i].code
                         : error.code == -EINVAL || error.code == -ERANGE,
        "%s: code %d", text, error.code);
    /* Two columns of indent, then the caret below its character. */
    caret = strrchr (error.rendered, '\n');
    tap_many_check (&many,
        caret && strlen (caret + 1) == 2 + error.column &&
            caret[strlen (caret) - 1] == '^',
        "%s: the caret is elsewhere:\n%s", text, error.rendered);
  }
  tap_many_end (&many);
}

/* Each class has an example, which reads, and which a call without arguments names. */
static void
test_examples (void)
{
  TapMany many = tap_many ("an example for each class");

  for (size_t i = 0; i < tfx_catalogue_n_classes (); i++) {
    const TfxClass *klass = tfx_catalogue_class (i);
    const size_t n = strlen (klass->name);
    char text[TFX_EXPR_MAX_NAME + 3];
    TfxExprError error;
    TfxExpr *expr = parse (klass->example, &error);

    tap_many_check (&many,
        expr && tfx_expr_stage_class (expr, 0) == klass &&
            (tfx_expr_n_stages (expr) == 1 || klass->max_chains > 0) &&
            strncmp (klass->example, klass->name, n) == 0 &&
            klass->example[n] == '(',
        "%s: %s", klass->example, expr ? "another class" : error.rendered);
    tfx_expr_free (&expr);
    for (int with = 0; with < 2; with++) {
      snprintf (text, sizeof text, "%s%s", klass->name, with ? "()" : "");
      expr = parse (text, &error);
      tap_many_check (&many,
          (expr && with) || (!expr && strstr (error.message, klass->example)),
          "%s: %s", text, expr ? "accepted" : error.message);
      tfx_expr_free (&expr);
    }
  }
  tap_many_end (&many);
}

static void
test_rendered (void)
{
  static const char text[] = "Gain(1)\n  | b\xc3\xa4=Gain(2)";
  char longer[400];
  TfxExprError error;

  tap_check (!parse ("Gain(1)\n\t| Bain(2) | Gain(3)", &error) &&
                 strcmp (error.rendered,
                     "line 2, column 4: there is no class 'Bain'; did you "
                     "mean 'Gain'? (gst-tfx list shows all)\n"
                     "   | Bain(2) | Gain(3)\n"
                     "     ^") == 0,
      "line and caret");
  tap_check (!parse (text, &error) && error.line == 2 && error.column == 6 &&
                 strstr (error.rendered, "\n    | b\xc3\xa4=Gain(2)\n       ^"),
      "characters, not bytes, are counted");

  snprintf (longer, sizeof longer, "%*s | Bain(2) | %*s", 150, "Gain(1)", 200,
      "Gain(3)");
  tap_check (!parse (longer, &error) && error.column == 154 &&
                 strlen (error.rendered) < 300,
      "a long line is cut on both sides");
  {
    const char *line = strchr (error.rendered, '\n') + 1;
    const char *caret = strrchr (error.rendered, '\n') + 1;

    tap_check (strncmp (line, "  ...", 5) == 0 &&
                   strncmp (line + strlen (caret) - 1, "Bain", 4) == 0,
        "and the caret stays below the place");
  }
}

/* ---- bounds ------------------------------------------------------------------------ */

/* head, n times middle, tail: read (part is empty), or refused for its size. */
static const struct
{
  const char *head, *middle;
  size_t n;
  const char *tail, *part;
} bounds[] = {
  { "", "(", 63,
      "Gain(1)"
      ")))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))",
      "" },
  { "", "(", 65, "Gain(1)", "more than 64 levels of brackets" },
  { "", "(", 1000000, "", "more than 64 levels of brackets" },
  { "Gain(1)", "|Gain(1)", 1023, "", "" },
  { "Gain(1)", "|Gain(1)", 1024, "", "more than 1024 stages" },
  { "Gain(1)", "+Gain(1)", 100000, "", "more than 1024 stages" },
  { "", "n", 63, "=Gain(1)", "" },
  { "", "n", 64, "=Gain(1)", "64 letters" },
  { "", "n", 1000000, "=Gain(1)", "1000000 letters" },
  { "Gain(1, '", "n", 1000000, "')", "longer than 63 bytes" },
  { "", " ", 1 << 20, "Gain(1)", "bytes of text" },
  { "", " ", (1 << 20) - 7, "Gain(1)", "" },
  { "FIR([", "1,", 65536, "])", "" },
  { "FIR([", "1,", 65537, "])", "more than 65536 numbers" },
  { "Gain(1", "0", 1000000, ")", "more than 400 digits" },
  { "LogFilterBank(256)", "|LogFilterBank(256)", 64, "", "sections in total" },
  { "DesignableFIR(1, 1048575)", "", 0, "", "" },
  { "DesignableFIR(1, 1048575)", "|DesignableFIR(1, 3)", 1, "",
      "FIR taps in total" },
  { "Delay(1, taps=1024)", "|Delay(1, taps=1024)", 16, "", "echoes in total" },
  { "Delay(10000000)", "", 0, "", "samples in total" },
  { "Echo(16777216)", "|Echo(1)", 1, "", "samples in total" },
};

static void
test_bounds (void)
{
  for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
    const char *head = bounds[i].head, *part = bounds[i].part;
    const size_t n_head = strlen (head), n_middle = strlen (bounds[i].middle);
    const size_t n = n_head + bounds[i].n * n_middle;
    char *text = malloc (n + strlen (bounds[i].tail) + 1);
    TfxExprError error = { 0 };
    TfxExpr *expr;

    memcpy (text, head, n_head);
    for (size_t at = n_head; at < n; at += n_middle)
      memcpy (text + at, bounds[i].middle, n_middle);
    strcpy (text + n, bounds[i].tail);
    expr = parse (text, &error);
    tap_check (*part ? !expr && strstr (error.message, part) &&
                           error.code == -E2BIG
                     : expr != NULL,
        "%s... of %zu: %s", head, bounds[i].n, error.message);
    tfx_expr_free (&expr);
    free (text);
  }
}

/* Sums within sums, as deep as the engine takes them. */
static void
test_sum_depth (void)
{
  for (unsigned depth = TFX_SUM_MAX_DEPTH; depth <= TFX_SUM_MAX_DEPTH + 1;
       depth++) {
    char text[1024] = "";
    TfxExprError error = { 0 };
    TfxExpr *expr;

    for (unsigned i = 0; i < depth; i++)
      strcat (text, i % 2 ? "Multiband(9, None, (" : "Gain(1) + (Gain(2) | (");
    strcat (text, "Gain(3)");
    for (unsigned i = 0; i < depth; i++)
      strcat (text, "))");
    expr = parse (text, &error);
    tap_check (!expr == (depth > TFX_SUM_MAX_DEPTH), "%u sums within sums: %s",
        depth, error.message);
    tfx_expr_free (&expr);
  }
}

/* A NUL is no end of the text. */
static void
test_nul (void)
{
  TfxExprError error;

  tap_check (!tfx_expr_parse ("Gain(1)\0Gain(2)", 15, &error) &&
                 error.column == 8,
      "a NUL is refused where it stands");
  tap_check (!tfx_expr_parse ("FIR('\0a.wav')", 13, &error) &&
                 error.column == 6,
      "and in a string");
  tap_check (!tfx_expr_parse ("Gain(1)", 6, NULL), "the length counts");
}

/* ---- numbers ------------------------------------------------------------------------ */

static void
test_numbers (void)
{
  static const struct
  {
    double number;
    const char *text;
  } cases[] = { { 0, "0" }, { 1, "1" }, { -1.5, "-1.5" }, { 0.1, "0.1" },
    { 1e15, "1000000000000000" }, { 1e16, "1e16" }, { 123e20, "1.23e22" },
    { 0.00001, "0.00001" }, { 0.000001, "1e-6" }, { 12345.678, "12345.678" },
    { 1.0 / 3.0, "0.3333333333333333" }, { 5e-324, "5e-324" },
    { 1.7976931348623157e308, "1.7976931348623157e308" },
    { 9007199254740993.0, "9007199254740992" }, { 100, "100" },
    { -1e-300, "-1e-300" } };
  TapMany many = tap_many ("numbers survive the way through text");
  char text[TFX_NUMBER_SIZE];
  double back;

  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tfx_number_print (cases[i].number, text);
    tap_check (strcmp (text, cases[i].text) == 0, "%.17g is %s",
        cases[i].number, text);
  }
  for (unsigned i = 0; i < 200000; i++) {
    uint64_t bits = tap_random ();
    double x;

    memcpy (&x, &bits, sizeof x);
    if (!isfinite (x))
      continue;
    tfx_number_print (x, text);
    tap_many_check (&many,
        tfx_number_parse (text, &back) && back == x && strlen (text) < 26,
        "%.17g is %s", x, text);
  }
  tap_many_end (&many);
}

/* A decimal comma in the locale changes nothing. */
static void
test_locale (void)
{
  static const char *const names[] = { "de_DE.UTF-8", "fr_FR.UTF-8",
    "de_DE.utf8", "fr_FR.utf8", "nl_NL.UTF-8" };
  const char *set = NULL;
  TfxExprError error;
  TfxExpr *expr;
  char *text;

  for (size_t i = 0; !set && i < sizeof names / sizeof names[0]; i++)
    set = setlocale (LC_ALL, names[i]);
  if (!set) {
    tap_skip ("no such locale here", "a locale with a decimal comma");
    return;
  }
  expr = parse ("Gain(0.5) | FIR([1.25, 1e-3])", &error);
  text = expr ? tfx_expr_print (expr) : NULL;
  tap_check (text && strcmp (text, "Gain(0.5) | FIR([1.25, 0.001])") == 0,
      "%s: %s", set, text ? text : error.message);
  free (text);
  tfx_expr_free (&expr);
  tap_check (!parse ("ParametricEQ(1, 1, 200.5)", &error) &&
                 strstr (error.message, "200.5 dB"),
      "%s", error.message);
  setlocale (LC_ALL, "C");
}

static const TapTest tests[] = {
  { "read", test_read },
  { "round-trip", test_round_trip },
  { "equal", test_equal },
  { "refuse", test_refuse },
  { "examples", test_examples },
  { "rendered", test_rendered },
  { "bounds", test_bounds },
  { "sum-depth", test_sum_depth },
  { "nul", test_nul },
  { "numbers", test_numbers },
  { "locale", test_locale },
  { NULL, NULL },
};

int
main (int argc, char **argv)
{
  return tap_main (argc, argv, tests);
}
