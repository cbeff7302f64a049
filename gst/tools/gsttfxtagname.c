/* SPDX-License-Identifier: LGPL-2.1-or-later
 * gsttfxtagname.c: what each container calls a tag.
 */
#include "gsttfxtagname.h"

#include <gst/tag/tag.h>

static const GstTfxTagName names[] = {
  { "TITLE", NULL, { "TIT2", "\251nam", "Title", "TITLE", "INAM" } },
  { "ARTIST", NULL, { "TPE1", "\251ART", "Artist", "ARTIST", "IART" } },
  { "ALBUM", NULL, { "TALB", "\251alb", "Album", "ALBUM", "IPRD" } },
  { "ALBUMARTIST", NULL,
      { "TPE2", "aART", "Album Artist", "ALBUM_ARTIST", "IAAR" } },
  { "COMPOSER", NULL, { "TCOM", "\251wrt", "Composer", "COMPOSER", "IMUS" } },
  { "CONDUCTOR", GST_TAG_CONDUCTOR,
      { "TPE3", NULL, "Conductor", "CONDUCTOR", NULL } },
  { "GENRE", NULL, { "TCON", "\251gen", "Genre", "GENRE", "IGNR" } },
  { "DATE", NULL, { "TDRC", "\251day", "Year", "DATE", "ICRD" } },
  { "TRACKNUMBER", NULL, { "TRCK", "trkn", "Track", "PART_NUMBER", "ITRK" } },
  { "TRACKTOTAL", NULL, { "", "", "", "TOTAL_PARTS", "" } },
  { "DISCNUMBER", NULL, { "TPOS", "disk", "Disc", "DISC", NULL } },
  { "DISCTOTAL", NULL, { "", "", "", "TOTAL_DISCS", "" } },
  { "COMMENT", NULL, { "COMM", "\251cmt", "Comment", "COMMENT", "ICMT" } },
  { "DESCRIPTION", NULL,
      { NULL, "desc", "Description", "DESCRIPTION", "ISBJ" } },
  { "COPYRIGHT", NULL, { "TCOP", "cprt", "Copyright", "COPYRIGHT", "ICOP" } },
  { "PUBLISHER", GST_TAG_PUBLISHER,
      { "TPUB", NULL, "Publisher", "PUBLISHER", "IPUB" } },
  { "ISRC", NULL, { "TSRC", NULL, "ISRC", "ISRC", "ISRC" } },
  { "BPM", NULL, { "TBPM", "tmpo", "BPM", "BPM", NULL } },
  { "LYRICS", GST_TAG_LYRICS, { "USLT", "\251lyr", "Lyrics", "LYRICS", NULL } },
  { "LANGUAGE", NULL, { "TLAN", NULL, "Language", "LANGUAGE", "ILNG" } },
  { "GROUPING", GST_TAG_GROUPING,
      { "TIT1", "\251grp", "Grouping", "GROUPING", NULL } },
  { "KEYWORDS", GST_TAG_KEYWORDS,
      { NULL, "keyw", "Keywords", "KEYWORDS", "IKEY" } },
  { "INITIALKEY", GST_TAG_MUSICAL_KEY,
      { "TKEY", NULL, "InitialKey", "INITIAL_KEY", NULL } },
  { "ENCODEDBY", GST_TAG_ENCODED_BY,
      { "TENC", NULL, "EncodedBy", "ENCODED_BY", "ITCH" } },
  { "REMIXER", GST_TAG_INTERPRETED_BY,
      { "TPE4", NULL, "MixArtist", "REMIXED_BY", NULL } },
  { "ENGINEER", NULL, { NULL, NULL, "Engineer", "SOUND_ENGINEER", "IENG" } },
  { "TITLESORT", NULL, { "TSOT", "sonm", "TITLESORT", "TITLESORT", NULL } },
  { "ARTISTSORT", NULL, { "TSOP", "soar", "ARTISTSORT", "ARTISTSORT", NULL } },
  { "ALBUMSORT", NULL, { "TSOA", "soal", "ALBUMSORT", "ALBUMSORT", NULL } },
  { "ALBUMARTISTSORT", NULL,
      { "TSO2", "soaa", "ALBUMARTISTSORT", "ALBUMARTISTSORT", NULL } },
  { "COMPOSERSORT", GST_TAG_COMPOSER_SORTNAME,
      { "TSOC", "soco", "COMPOSERSORT", "COMPOSERSORT", NULL } },
  { "MUSICBRAINZ_TRACKID", NULL,
      { NULL, "MusicBrainz Track Id", "MUSICBRAINZ_TRACKID",
          "MUSICBRAINZ_TRACKID", NULL } },
  { "MUSICBRAINZ_ALBUMID", NULL,
      { "MusicBrainz Album Id", "MusicBrainz Album Id", "MUSICBRAINZ_ALBUMID",
          "MUSICBRAINZ_ALBUMID", NULL } },
  { "MUSICBRAINZ_ARTISTID", NULL,
      { "MusicBrainz Artist Id", "MusicBrainz Artist Id",
          "MUSICBRAINZ_ARTISTID", "MUSICBRAINZ_ARTISTID", NULL } },
  { "MUSICBRAINZ_ALBUMARTISTID", NULL,
      { "MusicBrainz Album Artist Id", "MusicBrainz Album Artist Id",
          "MUSICBRAINZ_ALBUMARTISTID", "MUSICBRAINZ_ALBUMARTISTID", NULL } },
  { "MUSICBRAINZ_RELEASEGROUPID", NULL,
      { "MusicBrainz Release Group Id", "MusicBrainz Release Group Id",
          "MUSICBRAINZ_RELEASEGROUPID", "MUSICBRAINZ_RELEASEGROUPID", NULL } },
};

const GstTfxTagName *
gst_tfx_tagname_find (const gchar *vorbis)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    if (g_ascii_strcasecmp (names[i].vorbis, vorbis) == 0)
      return &names[i];
  }
  return NULL;
}

const gchar *
gst_tfx_tagname_find_vorbis (GstTfxTagsForm form, const gchar *id)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    const gchar *own = names[i].forms[form];

    if (own && g_ascii_strcasecmp (own, id) == 0)
      return names[i].vorbis;
  }
  return NULL;
}

const gchar *
gst_tfx_tagname_find_tag (const gchar *tag)
{
  for (gsize i = 0; i < G_N_ELEMENTS (names); i++) {
    if (g_strcmp0 (names[i].tag, tag) == 0)
      return names[i].vorbis;
  }
  return NULL;
}
