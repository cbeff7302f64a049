/* SPDX-License-Identifier: LGPL-2.1-or-later
 * channels.c: which channels a chain is for: ch[0, 2], ch[0:4], ch[LFE]. */
#include "channels.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

bool
tfx_channels_is_mark (const TfxParser *parser, char mark)
{
  return parser->token.type == TFX_TOKEN_OPERATOR &&
         parser->lexer.text[parser->token.offset] == mark;
}

/* Whether "ch[" begins here. */
bool
tfx_channels_are_ahead (const TfxParser *parser)
{
  TfxLexer ahead = parser->lexer;
  TfxToken next;
  TfxExprError ignored;

  return parser->token.type == TFX_TOKEN_NAME &&
         strcmp (parser->token.string, "ch") == 0 &&
         tfx_lexer_next (&ahead, &next, &ignored) == 0 &&
         next.type == TFX_TOKEN_OPEN_LIST;
}

static int
parse_number (TfxParser *parser, unsigned *channel, unsigned most)
{
  const TfxToken number = parser->token;

  if (number.type != TFX_TOKEN_NUMBER)
    return tfx_parser_fail_expected (parser,
        "the number of a channel, counted from 0, or its position, such as "
        "LFE");
  if (!(number.number >= 0.0 && number.number <= most) ||
      number.number != (unsigned)number.number)
    return tfx_parser_fail (parser, number.offset, -ERANGE,
        "a channel is a whole number from 0 to %u", most);
  *channel = (unsigned)number.number;
  return tfx_parser_advance (parser);
}

/* Adds one to a set; name: for the error, or NULL for a number. */
static int
take (TfxParser *parser, size_t offset, uint64_t *set, uint64_t *taken,
    unsigned bit, const char *name)
{
  const uint64_t one = (uint64_t)1 << bit;
  char number[12];

  snprintf (number, sizeof number, "%u", bit);
  if (*taken & one)
    return tfx_parser_fail (parser, offset, -EINVAL,
        "channel %s already has a chain; write its stages in one chain",
        name ? name : number);
  *set |= one;
  *taken |= one;
  return 0;
}

/* One channel, or first:end, which is none of them. */
static int
parse_channels (TfxParser *parser, TfxChannels *channels, TfxChannels *taken)
{
  const size_t offset = parser->token.offset;
  const int position = parser->token.type == TFX_TOKEN_NAME
                           ? tfx_position_find (parser->token.string)
                           : -1;
  unsigned first = 0, end;
  int code;

  if (position >= 0) {
    code = take (parser, offset, &channels->positions, &taken->positions,
        (unsigned)position, tfx_position_name ((unsigned)position));
    return code < 0 ? code : tfx_parser_advance (parser);
  }
  code = parse_number (parser, &first, TFX_EXPR_MAX_CHANNELS - 1);
  end = first + 1;
  if (code == 0 && tfx_channels_is_mark (parser, ':')) {
    code = tfx_parser_advance (parser);
    if (code == 0)
      code = parse_number (parser, &end, TFX_EXPR_MAX_CHANNELS);
    if (code == 0 && end <= first)
      return tfx_parser_fail (parser, offset, -ERANGE,
          "%u:%u has no channels; the second number is the first channel after "
          "the range",
          first, end);
  }
  for (unsigned c = first; code == 0 && c < end; c++)
    code = take (parser, offset, &channels->numbers, &taken->numbers, c, NULL);
  return code;
}

/* "ch[0, 2]:" */
int
tfx_channels_parse (TfxParser *parser, TfxChannels *channels,
    TfxChannels *taken)
{
  int code = tfx_parser_advance (parser);

  if (code == 0)
    code = tfx_parser_advance (parser);
  *channels = (TfxChannels){ 0 };
  while (code == 0) {
    code = parse_channels (parser, channels, taken);
    if (code < 0 || parser->token.type == TFX_TOKEN_CLOSE_LIST)
      break;
    if (parser->token.type != TFX_TOKEN_COMMA)
      return tfx_parser_fail_expected (parser, "',' or ']'");
    code = tfx_parser_advance (parser);
  }
  if (code == 0)
    code = tfx_parser_advance (parser);
  if (code == 0 && !tfx_channels_is_mark (parser, ':'))
    return tfx_parser_fail_expected (parser, "':' after ch[…]");
  return code < 0 ? code : tfx_parser_advance (parser);
}
