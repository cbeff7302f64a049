/* SPDX-License-Identifier: LGPL-2.1-or-later
 * foreign.c: text that was written for another program.
 *
 *   highpass=f=80     FFmpeg, SoX: see translate.c
 *   Preamp: -6 dB     Equalizer APO
 *   left: ...         a channel */
#include "foreign.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "lexer.h"
#include "translate.h"

/* ---- lines of Equalizer APO ------------------------------------------------------- */

#define ONLY                                                                   \
  "only Filter: and Preamp: are read, from a file: "                           \
  "FilterSettings('settings.txt')"

/* The rest of the text follows the name and its spaces. */
static int
refuse_setting (const char *name, const char *rest, size_t length,
    TfxExprError *error)
{
  static const char *const commands[] = { "Device", "Convolution", "Include",
    "Copy", "Delay", "Stage", "Eval" };
  const char *line_end = memchr (rest, '\n', length);
  const size_t n_line = line_end ? (size_t)(line_end - rest) : length;
  const bool has_colon = length > 0 && rest[0] == ':';

  if ((strcasecmp (name, "Filter") == 0 && memchr (rest, ':', n_line)) ||
      (strcmp (name, "Filter") == 0 && n_line >= 8 &&
          memcmp (rest, "Settings", 8) == 0) ||
      (strcasecmp (name, "Preamp") == 0 && has_colon))
    return tfx_error_set (error, -EINVAL,
        "this is a line of filter settings (REW, Equalizer APO), which are "
        "read "
        "from a file: FilterSettings('settings.txt'), the property location or "
        "the option --chain-file");
  if (!has_colon)
    return 0;
  if (strcasecmp (name, "Channel") == 0)
    return tfx_error_set (error, -EINVAL,
        "this is a line of Equalizer APO; here channels are numbers: "
        "ch[0]: FilterSettings('left.txt'); ch[1]: "
        "FilterSettings('right.txt')");
  if (strcasecmp (name, "GraphicEQ") == 0)
    return tfx_error_set (error, -EINVAL,
        "GraphicEQ: lines of Equalizer APO are not supported; of its "
        "lines " ONLY);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    if (strcmp (name, commands[i]) == 0)
      return tfx_error_set (error, -EINVAL,
          "%s: looks like a line of Equalizer APO, which is not supported; of "
          "its lines " ONLY,
          name);
  }
  return 0;
}

/* ---- channels ------------------------------------------------------------------------ */

/* The number of the channel that a name means, -1 if it means none. */
static int
find_channel (const char *name)
{
  static const char *const names[][5] = { { "left", "l", "fl", "front_left",
                                              NULL },
    { "right", "r", "fr", "front_right", NULL } };
  int channel;
  char after;

  for (int c = 0; c < 2; c++) {
    for (size_t i = 0; names[c][i]; i++) {
      if (strcasecmp (name, names[c][i]) == 0)
        return c;
    }
  }
  if (sscanf (name, "ch%2d%c", &channel, &after) == 1 ||
      sscanf (name, "channel%2d%c", &channel, &after) == 1)
    return channel >= 0 && channel < (int)TFX_EXPR_MAX_CHANNELS ? channel : -1;
  return -1;
}

/* "left:", "ch0:", "ch 0:"; the lexer is after the name. */
static int
refuse_channel (TfxLexer *lexer, const char *name, TfxExprError *error)
{
  char full[TFX_EXPR_MAX_NAME + 16];
  TfxExprError ignored;
  TfxToken next;
  int channel, code = tfx_lexer_next (lexer, &next, &ignored);
  bool has_number = code == 0 && next.type == TFX_TOKEN_NUMBER;

  snprintf (full, sizeof full, "%s", name);
  if (has_number) {
    if (!(next.number < TFX_EXPR_MAX_CHANNELS))
      return 0;
    snprintf (full, sizeof full, "%s%u", name, (unsigned)next.number);
    code = tfx_lexer_next (lexer, &next, &ignored);
  }
  if (code < 0 || next.type != TFX_TOKEN_OPERATOR ||
      lexer->text[next.offset] != ':')
    return 0;
  channel = find_channel (full);
  if (channel >= 0)
    return tfx_error_set (error, -EINVAL,
        "channels are numbers from 0: write ch[%d]: in place of %s:", channel,
        full);
  if (has_number || tfx_catalogue_find (name))
    return 0;
  return tfx_error_set (error, -EINVAL,
      "there is no channel '%s'; the chain of the first channel begins with "
      "ch[0]:, that of the second with ch[1]:",
      name);
}

int
tfx_foreign_refuse (const char *text, size_t length, TfxExprError *error)
{
  TfxLexer lexer;
  TfxToken name;
  TfxExprError ignored;
  int code = tfx_translate_refuse (text, length, error);
  size_t rest;

  tfx_lexer_init (&lexer, text, length);
  if (code < 0 || tfx_lexer_next (&lexer, &name, &ignored) < 0 ||
      name.type != TFX_TOKEN_NAME)
    return code;
  rest = lexer.at;
  while (rest < length && (text[rest] == ' ' || text[rest] == '\t'))
    rest++;
  code = refuse_setting (name.string, text + rest, length - rest, error);
  return code < 0 ? code : refuse_channel (&lexer, name.string, error);
}
