#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""matrix.py: each kind of sound file into each kind that gst-tfx writes, as TAP.

    matrix.py [BUILD]
    matrix.py --table

Inputs are made by FFmpeg and tagged by mutagen; outputs are read by these.  What has to be
equal: the codec, the number of frames, the samples where nothing is lossy, twenty tags and
the picture, after one generation and after three.  Of the pairs TFX_TEST_PART selects a
quarter.  --table prints what each kind holds, as docs/gst-tfx.md has it.
"""
import base64
import functools
import json
import os
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RATE, FRAMES = 44100, 33013
# A name, or more, for each kind of tag: Vorbis comment, ID3, MP4, APE, Matroska, INFO.
TAGS = {
    'TITLE': ('A, (B) \\ "C"', 'TIT2', '\xa9nam', 'Title', 'TITLE', 'INAM'),
    'ARTIST': ('Ännä', 'TPE1', '\xa9ART', 'Artist', 'ARTIST', 'IART'),
    'ALBUM': ('L', 'TALB', '\xa9alb', 'Album', 'ALBUM', 'IPRD'),
    'ALBUMARTIST': ('Various', 'TPE2', 'aART', 'Album Artist', 'ALBUM_ARTIST', 'IAAR'),
    'COMPOSER': ('K', 'TCOM', '\xa9wrt', 'Composer', 'COMPOSER', 'IMUS'),
    'CONDUCTOR': ('Co', 'TPE3', '', 'Conductor', 'CONDUCTOR', ''),
    'GENRE': ('Jazz', 'TCON', '\xa9gen', 'Genre', 'GENRE', 'IGNR'),
    'DATE': ('2003-05-06', 'TDRC', '\xa9day', 'Year', 'DATE', 'ICRD'),
    'TRACKNUMBER': ('3', 'TRCK', 'trkn', 'Track', 'PART_NUMBER', 'ITRK'),
    'TRACKTOTAL': ('12', '', '', '', 'TOTAL_PARTS', ''),
    'DISCNUMBER': ('1', 'TPOS', 'disk', 'Disc', 'DISC', ''),
    'DISCTOTAL': ('2', '', '', '', 'TOTAL_DISCS', ''),
    'COMMENT': ('two\nlines', 'COMM', '\xa9cmt', 'Comment', 'COMMENT', 'ICMT'),
    'COPYRIGHT': ('(C) 2003', 'TCOP', 'cprt', 'Copyright', 'COPYRIGHT', 'ICOP'),
    'PUBLISHER': ('Label', 'TPUB', '', 'Publisher', 'PUBLISHER', 'IPUB'),
    'ISRC': ('DEZ431529101', 'TSRC', '', 'ISRC', 'ISRC', 'ISRC'),
    'BPM': ('120', 'TBPM', 'tmpo', 'BPM', 'BPM', ''),
    'LYRICS': ('la\nla', 'USLT', '\xa9lyr', 'Lyrics', 'LYRICS', ''),
    'MOOD': ('calm', '', '', 'MOOD', 'MOOD', ''),
    'CATALOGNUMBER': ('C 7', '', '', 'CATALOGNUMBER', 'CATALOGNUMBER', ''),
}
ID3, MP4, APE, MKA, INFO = range(1, 6)
# name: how FFmpeg makes it, its codec and the kind of its tags (0: Vorbis comments).
INPUTS = {
    'wav': ('-c:a pcm_s16le', 'pcm_s16le', INFO),
    'flac': ('-c:a flac', 'flac', 0),
    'alac.m4a': ('-c:a alac', 'alac', MP4),
    'm4a': ('-c:a aac', 'aac', MP4),
    'mp3': ('-c:a libmp3lame', 'mp3', ID3),
    'ogg': ('-c:a libvorbis', 'vorbis', 0),
    'opus': ('-c:a libopus', 'opus', 0),
    'oga': ('-c:a flac -f oga', 'flac', 0),
    'mka': ('-c:a flac', 'flac', MKA),
    'wv': ('-c:a wavpack', 'wavpack', APE),
    'aiff': ('-c:a pcm_s16be', 'pcm_s16be', ID3),
}
# extension: its codec by default and its tags.
OUTPUTS = {'wav': ('pcm_s16le', INFO), 'flac': ('flac', 0), 'ogg': ('vorbis', 0), 'oga': ('vorbis', 0),
           'opus': ('opus', 0), 'mp3': ('mp3', ID3), 'm4a': ('aac', MP4), 'mka': ('flac', MKA), 'wv': ('wavpack', APE)}
# What --bits each codec has, lossy ones none; each kind's codecs, some rates that it has, and one that it has not.
BITS = {'pcm': ('16', '24', '32', 'float'), 'flac': ('16', '24'), 'wavpack': ('32',), 'alac': ('16', '24')}
FORMATS = {'wav': ('pcm', (48000, 11025, 192000), None), 'flac': ('flac', (48000, 11025, 192000), 700000),
           'ogg': ('vorbis', (48000, 11025, 192000), 300000), 'oga': ('flac', (48000, 192000), 700000),
           'opus': ('opus', (48000, 24000, 8000), 44100), 'mp3': ('mp3', (48000, 22050, 8000), 96000),
           'm4a': ('aac alac', (48000, 22050, 96000), 192000), 'mka': ('flac pcm', (48000, 11025, 192000), None),
           'wv': ('wavpack', (48000, 11025, 192000), 384000)}
LOSSLESS = ('pcm_s16le', 'pcm_s16be', 'flac', 'alac', 'wavpack')
# How each says how many frames it has.
LENGTHS = {'wav': 'exact', 'flac': 'exact', 'ogg': 'exact: the last page', 'oga': 'exact: the last page',
           'opus': 'exact, at 48 kHz', 'mp3': 'exact: the frame `Xing` of LAME', 'm4a': 'exact: the edit list',
           'mka': 'exact; of a lossy codec to the end of the last packet', 'wv': 'exact'}


def holds(kind, name):
    """Whether files with this kind of tags have a place for a tag."""
    return kind != INFO or bool(TAGS[name][INFO])


def run(*command):
    done = subprocess.run(command, capture_output=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.decode(errors='replace')}"
    return done.stdout


def probe(name):
    return json.loads(run('ffprobe', '-v', 'error', '-show_streams', '-show_format', '-of', 'json', name))


def decode(name):
    """Its samples as 16 bits; ffmpeg of old does not cut off what an edit list leaves out behind."""
    data = run('ffmpeg', '-v', 'error', '-i', name, '-f', 's16le', '-map', '0:a:0', '-')
    stream = [s for s in probe(name)['streams'] if s['codec_type'] == 'audio'][0]
    return data[:4 * int(stream['duration_ts'])] if stream['codec_name'] == 'aac' else data


# ---- tags ---------------------------------------------------------------------------

def read_info(wav):
    at, tags = 12, {}
    names = {v[INFO]: k for k, v in TAGS.items() if v[INFO]}
    while at + 8 <= len(wav):
        size = int.from_bytes(wav[at + 4:at + 8], 'little')
        if wav[at:at + 4] == b'LIST' and wav[at + 8:at + 12] == b'INFO':
            i = at + 12
            while i < at + 8 + size:
                n = int.from_bytes(wav[i + 4:i + 8], 'little')
                name = names.get(wav[i:i + 4].decode())
                tags[name] = wav[i + 8:i + 8 + n].rstrip(b'\0').decode()
                i += 8 + n + n % 2
        at += 8 + size + size % 2
    return tags


def split_totals(tags):
    for name, total in ('TRACKNUMBER', 'TRACKTOTAL'), ('DISCNUMBER', 'DISCTOTAL'):
        if '/' in tags.get(name, ''):
            tags[name], tags[total] = tags[name].split('/')
    return tags


def read_tags(name):
    """By the names of Vorbis comments; and the picture, or None."""
    import mutagen
    kind = {'wav': INFO, 'mka': MKA}.get(name.rsplit('.', 1)[1])
    if kind == INFO:
        return split_totals(read_info(open(name, 'rb').read())), None
    if kind == MKA:
        found = probe(name)
        names = dict({v[MKA]: k for k, v in TAGS.items()}, TRACK='TRACKNUMBER')
        tags = {names.get(k.upper()): v for k, v in found['format'].get('tags', {}).items()}
        covers = [s for s in found['streams'] if s['codec_type'] == 'video']
        cover = run('ffmpeg', '-v', 'error', '-i', name, '-map', '0:v', '-c', 'copy', '-f', 'image2pipe', '-') if covers else None
        return tags, cover
    file, tags, cover = mutagen.File(name), {}, None
    have = file.tags or {}
    for vorbis, (_, *names) in TAGS.items():
        kind = type(file).__name__
        if kind in ('MP3', 'AIFF'):
            got = have.get(names[ID3 - 1]) or (have.getall(names[ID3 - 1]) if names[ID3 - 1] else None)
            got = got[0] if isinstance(got, list) and got else got
            got = got or have.get('TXXX:' + vorbis)
            if got:
                tags[vorbis] = got.text if isinstance(got.text, str) else str(got.text[0])
        elif kind == 'MP4':
            key = names[MP4 - 1]
            if key in ('trkn', 'disk') and key in have:
                tags[vorbis] = '/'.join(map(str, have[key][0]))
            else:
                got = have.get(key) or have.get('----:com.apple.iTunes:' + vorbis)
                if got:
                    tags[vorbis] = got[0].decode() if isinstance(got[0], bytes) else str(got[0])
        elif kind == 'WavPack':
            if names[APE - 1] in have:
                tags[vorbis] = str(have[names[APE - 1]])
        elif vorbis in have:
            tags[vorbis] = have[vorbis][0]
    if type(file).__name__ in ('MP3', 'AIFF'):
        cover = next((f.data for f in have.getall('APIC')), None) if have else None
    elif type(file).__name__ == 'MP4':
        cover = bytes(have['covr'][0]) if 'covr' in have else None
    elif type(file).__name__ == 'WavPack':
        key = 'Cover Art (Front)'
        cover = have[key].value.split(b'\0', 1)[1] if key in have else None
    elif type(file).__name__ == 'FLAC':
        cover = file.pictures[0].data if file.pictures else None
    elif 'METADATA_BLOCK_PICTURE' in have:
        from mutagen.flac import Picture
        cover = Picture(base64.b64decode(have['METADATA_BLOCK_PICTURE'][0])).data
    return split_totals(tags), cover


def write_tags(name, cover):
    import mutagen
    from mutagen import apev2, flac, id3, mp4
    kind = INPUTS[name.split('.', 1)[1]][2]
    texts = {k: v[0] for k, v in TAGS.items()}
    joined = dict(texts, TRACKNUMBER='3/12', DISCNUMBER='1/2')
    if kind == INFO:
        wav = open(name, 'rb').read()
        items = b''
        for key, value in TAGS.items():
            if value[INFO]:
                text = joined[key].encode() + b'\0'
                items += value[INFO].encode() + struct.pack('<I', len(text)) + text + b'\0' * (len(text) % 2)
        # Before the sound, in front of "fmt ", where a few programs put them.
        body = b'WAVELIST' + struct.pack('<I', len(items) + 4) + b'INFO' + items + wav[12:]
        open(name, 'wb').write(b'RIFF' + struct.pack('<I', len(body)) + body)
        return
    if kind == MKA:
        command = ['ffmpeg', '-v', 'error', '-y', '-i', name, '-c', 'copy', '-attach', 'cover.png',
                   '-metadata:s:t', 'mimetype=image/png']
        for key, value in TAGS.items():
            command += ['-metadata', f'{value[MKA]}={value[0]}']
        run(*command, 'tagged.mka')
        os.replace('tagged.mka', name)
        return
    file = mutagen.File(name)
    if file.tags is None:
        file.add_tags()
    file.tags.clear()
    for key, value in TAGS.items():
        text = joined[key]
        if kind == 0:
            file[key] = texts[key]
        elif kind == ID3 and not (key.endswith('TOTAL')):
            frame = value[ID3]
            if frame in ('COMM', 'USLT'):
                file.tags.add(getattr(id3, frame)(encoding=3, lang='XXX', desc='', text=text))
            elif frame:
                file.tags.add(getattr(id3, frame)(encoding=3, text=text))
            else:
                file.tags.add(id3.TXXX(encoding=3, desc=key, text=text))
        elif kind == MP4 and not key.endswith('TOTAL'):
            if value[MP4] in ('trkn', 'disk'):
                file.tags[value[MP4]] = [tuple(map(int, text.split('/')))]
            elif value[MP4] == 'tmpo':
                file.tags['tmpo'] = [int(text)]
            elif value[MP4]:
                file.tags[value[MP4]] = [text]
            else:
                file.tags['----:com.apple.iTunes:' + key] = [text.encode()]
        elif kind == APE and not key.endswith('TOTAL'):
            file.tags[value[APE]] = text
    if kind == ID3:
        file.tags.add(id3.APIC(encoding=3, mime='image/png', type=3, desc='', data=cover))
    elif kind == MP4:
        file.tags['covr'] = [mp4.MP4Cover(cover, mp4.MP4Cover.FORMAT_PNG)]
    elif kind == APE:
        file.tags['Cover Art (Front)'] = apev2.APEValue(b'cover.png\0' + cover, apev2.BINARY)
    else:
        picture = flac.Picture()
        picture.type, picture.mime, picture.data = 3, 'image/png', cover
        if hasattr(file, 'add_picture'):
            file.add_picture(picture)
        else:
            file['METADATA_BLOCK_PICTURE'] = base64.b64encode(picture.write()).decode()
    file.save()


# ---- cases -----------------------------------------------------------------------------

def check_pair(name, out, generations=1):
    """What differs, in words."""
    kind, extension = name.split('.', 1)[1], out.rsplit('.', 1)[1]
    tags_in, tags_out = INPUTS[kind][2], OUTPUTS[extension][1]
    codec = OUTPUTS[extension][0]
    if name.rsplit('.', 1)[1] == extension:
        codec = INPUTS[kind][1]
    source = name
    for i in range(generations):
        target = out if i == generations - 1 else f'{i}.{out}'
        run('gst-tfx', 'process', '-q', '-f', '--dither', 'none', source, target, 'Gain(1)')
        source = target
    faults = []
    audio = [s for s in probe(out)['streams'] if s['codec_type'] == 'audio'][0]
    # (A lossy decoder gives floats.)
    if audio['codec_name'] != codec and not (extension == 'wav' and audio['codec_name'] == 'pcm_f32le'):
        faults.append(f"codec {audio['codec_name']}, not {codec}")
    n = round(FRAMES * 48000 / RATE) if 'opus' in (kind, codec) else FRAMES
    a, b = decode(name), decode(out)
    if len(b) // 4 != n:
        faults.append(f'{len(b) // 4} frames, not {n}')
    if INPUTS[kind][1] in LOSSLESS and codec in LOSSLESS and a != b:
        faults.append('other samples')
    tags, cover = read_tags(out)
    for key, value in TAGS.items():
        wanted = value[0] if holds(tags_in, key) and holds(tags_out, key) else None
        if key.endswith('TOTAL') and INFO in (tags_in, tags_out):
            wanted = None if 'DISC' in key else value[0]
        if tags.get(key) != wanted:
            faults.append(f'{key} is {tags.get(key)!r}, not {wanted!r}')
    has_cover = INFO not in (tags_in, tags_out)
    if (cover == open('cover.png', 'rb').read()) != has_cover:
        faults.append('another picture' if cover else 'no picture')
    return '; '.join(faults)


def check_codecs():
    """Names alone do not say which codec it is."""
    for name, how in ('flac.oga', '-c:a flac -f oga'), ('opus.ogg', '-c:a libopus'), ('alac.m4a', '-c:a alac'), (
            'vorbis.mka', '-c:a libvorbis'), ('aac.mka', '-c:a aac'), ('mp3.mka', '-c:a libmp3lame'), ('pcm.mka', '-c:a pcm_s24le'), ('mulaw.wav', '-c:a pcm_mulaw'), (
            'mp3.m4a', '-c:a libmp3lame -f mp4'):
        run('ffmpeg', '-v', 'error', '-y', '-i', 'noise.wav', *how.split(), 'kept-' + name)
    done = subprocess.run('gst-tfx process -q -o kept -c Gain(1)'.split() + [
        'kept-' + n for n in ('flac.oga', 'opus.ogg', 'alac.m4a', 'vorbis.mka', 'aac.mka', 'mp3.mka', 'pcm.mka', 'mulaw.wav', 'mp3.m4a')],
        capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count('error') == 1, done.stderr
    assert 'kept-mp3.m4a: its codec cannot be kept' in done.stderr, done.stderr
    for name in 'flac.oga', 'opus.ogg', 'alac.m4a', 'vorbis.mka', 'aac.mka', 'mp3.mka', 'pcm.mka':
        assert probe('kept/kept-' + name)['streams'][0]['codec_name'].split('_')[0] == name.split('.')[0], name
    assert probe('kept/kept-pcm.mka')['streams'][0]['codec_name'] == 'pcm_s24le'
    assert decode('kept/kept-pcm.mka') == decode('noise.wav')
    run('gst-tfx', 'process', '-q', '-o', 'kept', '-e', 'm4a', '-c', 'Gain(1)', 'kept-mp3.m4a')
    run('gst-tfx', 'process', '-q', '--codec', 'alac', 'noise.wav', 'given.m4a', 'Gain(1)')
    assert probe('given.m4a')['streams'][0]['codec_name'] == 'alac'


def check_opus_order():
    """The channels of a surround .opus are where other programs look for them."""
    for n, layout in (5, '5.0'), (6, '5.1'), (7, '6.1'), (8, '7.1'):
        tones = [300 + 200 * i for i in range(n)]
        sines = '|'.join(f'0.3*sin(2*PI*{f}*t)' for f in tones)
        run('ffmpeg', '-v', 'error', '-y', '-f', 'lavfi', '-i', f'aevalsrc={sines}:c={layout}:d=1:s=48000', '-c:a',
            'pcm_s16le', 'tones.wav')
        run('gst-tfx', 'process', '-q', '-f', 'tones.wav', 'tones.opus', 'Gain(1)')
        data = run('ffmpeg', '-v', 'error', '-i', 'tones.opus', '-af', f'aformat=channel_layouts={layout}', '-f', 's16le', '-')
        samples = memoryview(data).cast('h')
        for c in range(n):
            x = samples[c + 9600 * n:38400 * n:n]
            # Each of these has about two crossings of zero in a period.  (An LFE has low tones alone.)
            crossings = sum((a < 0) != (b < 0) for a, b in zip(x, x[1:]))
            found = crossings / 2 / (len(x) / 48000)
            assert abs(found - tones[c]) < 20, f'{layout}: channel {c} has {found} Hz, not {tones[c]}'


def check_bits(extension, codec):
    """Outputs have the bits that they are told, of the product in double precision, or fail with a word."""
    name = 'bits.' + extension
    x = memoryview(run('ffmpeg', '-v', 'error', '-i', 'noise.wav', '-f', 's16le', '-')).cast('h')
    for bits in '16', '24', '32', 'float':
        done = subprocess.run(['gst-tfx', 'process', '-q', '-f', '--dither', 'none', '--codec', codec, '--bits', bits,
                               'noise.wav', name, 'Gain(0.3)'], capture_output=True, text=True)
        if bits not in BITS.get(codec, ()):
            held = BITS.get(codec, ())
            has = (f"must have {', '.join(held[:-1])}{' or ' if held[1:] else ''}{held[-1]}" if held
                   else 'is lossy, and has no number of bits')
            wanted = f'noise.wav: bits is {bits}, but {codec} in a .{extension} {has}'
            assert done.returncode == 1 and wanted in done.stderr, done.stderr
            continue
        assert done.returncode == 0, done.stderr
        stream = probe(name)['streams'][0]
        depth = 32 if bits == 'float' else int(bits)
        found = stream.get('bits_per_raw_sample') or stream['bits_per_sample']
        assert int(found) == depth and stream['sample_fmt'].strip('p') == {'16': 's16', 'float': 'flt'}.get(bits, 's32'), stream
        how = ('f', 'f32le') if bits == 'float' else ('i', 's32le')
        y = memoryview(run('ffmpeg', '-v', 'error', '-i', name, '-f', how[1], '-')).cast(how[0])
        assert len(y) == len(x) == 2 * FRAMES, len(y)
        step = 1 if bits == 'float' else 2 ** (32 - depth)
        scale = 1.0 if bits == 'float' else 2.0 ** (depth - 1)
        error = max(abs(v / step - 0.3 * scale / 32768 * w) for v, w in zip(y, x))
        assert error <= {'float': 2 ** -25, '32': 1}.get(bits, 0.5 + 2 ** -8), f'{bits} bits: an error of {error} steps'


def check_rates(extension):
    """Outputs have the rate that they are told, and as many frames as that makes, or fail with a word."""
    name = 'rate.' + extension
    codecs, rates, refused = FORMATS[extension]
    for codec, rate in [(c, r) for c in codecs.split() for r in (*rates, refused) if r]:
        done = subprocess.run(['gst-tfx', 'process', '-q', '-f', '--codec', codec, '--rate', str(rate), 'noise.wav', name],
                              capture_output=True, text=True)
        if rate == refused:
            wanted = f'noise.wav: rate is {rate} Hz, but {codec} in a .{extension} must have '
            assert done.returncode == 1 and wanted in done.stderr, done.stderr
            continue
        assert done.returncode == 0, done.stderr
        found, n = int(probe(name)['streams'][0]['sample_rate']), len(decode(name)) // 4
        # (Opus decodes to 48 kHz.)
        assert found == (48000 if extension == 'opus' else rate), f'{rate}: {found} Hz'
        wanted = (2 * FRAMES * rate + RATE) // (2 * RATE) * found // rate
        assert n == wanted, f'{rate} Hz: {n} frames, not {wanted}'


def check_cuesheet():
    """The cue sheet of a .flac is the same, unless the length is another one."""
    from mutagen import flac
    run('ffmpeg', '-v', 'error', '-y', '-i', 'noise.wav', 'cue.flac')
    file = flac.FLAC('cue.flac')
    sheet = flac.CueSheet(None)
    sheet.media_catalog_number, sheet.lead_in_samples, sheet.compact_disc = b'0724354526725', 88200, True
    for number, at, isrc in (1, 0, b'DEZ431529101'), (2, 14700, b'DEZ431529102'), (170, FRAMES, b''):
        track = flac.CueSheetTrack(number, at, isrc, 0, number == 2)
        if number != 170:
            track.indexes = [flac.CueSheetTrackIndex(0, 0), flac.CueSheetTrackIndex(1, 588)]
        sheet.tracks.append(track)
    file.metadata_blocks.append(sheet)
    file.save()
    run('gst-tfx', 'process', '-q', 'cue.flac', 'cue2.flac', 'Gain(0.5)')
    assert flac.FLAC('cue2.flac').cuesheet == sheet
    run('ffmpeg', '-v', 'error', '-y', '-i', 'cue.flac', '-ar', '48000', '-c:a', 'flac', 'longer.flac')
    run('gst-tfx', 'process', '-q', '-f', 'longer.flac', 'cue2.flac', 'Gain(0.5)')
    assert flac.FLAC('cue2.flac').cuesheet is None


def check_other_tracks():
    """The sound of an MP4 with video or chapters is as long as it was."""
    with open('chapters.txt', 'w', encoding='utf-8') as file:
        file.write(';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=5000\ntitle=one\n')
    make = 'ffmpeg', '-v', 'error', '-y', '-i', 'noise.wav'
    run(*make, '-i', 'chapters.txt', '-map_metadata', '1', '-c:a', 'aac', 'tracks.m4a')
    run(*make, '-f', 'lavfi', '-i', 'testsrc=d=2:s=64x48:r=5', '-c:a', 'aac', '-c:v', 'mpeg4', 'tracks.mp4')
    run(*make, '-i', 'noise.wav', '-map', '0', '-map', '1', '-c:a', 'aac', 'tracks2.m4a')
    for name in 'tracks.m4a', 'tracks.mp4', 'tracks2.m4a':
        assert len(probe(name)['streams']) == 2, name
        run('gst-tfx', 'process', '-q', '-f', name, 'tracks.wav', 'Gain(1)')
        n_frames = len(decode('tracks.wav')) // 4
        assert n_frames == FRAMES, f'{name}: {n_frames} frames, not {FRAMES}'
    done = subprocess.run('cat tracks.mp4 | gst-tfx process -q -f - tracks.wav "Gain(1)"', shell=True, capture_output=True,
                          text=True)
    n_frames = len(decode('tracks.wav')) // 4
    assert done.returncode == 0 and (n_frames == FRAMES or 'an MP4 in a pipe' in done.stderr), done.stderr


def check_pictures():
    """All pictures of a .flac are in each kind, with all of their fields that it has."""
    from mutagen import flac, id3, mp4, oggopus, oggvorbis
    run('ffmpeg', '-v', 'error', '-y', '-i', 'noise.wav', 'pictures.flac')
    run('ffmpeg', '-v', 'error', '-y', '-i', 'cover.png', '-vf', 'negate', 'back.png')
    data = [open(name, 'rb').read() for name in ('cover.png', 'back.png', 'cover.png')]
    # Type, description, width, height, depth and colours; of the last one little is known.
    fields = [(3, 'the front, für dich', 600, 601, 24, 0), (4, 'back', 32, 33, 8, 16), (2, '', 0, 0, 0, 0)]

    def get(picture):
        return (picture.type, picture.desc, picture.width, picture.height, picture.depth, picture.colors)

    file = flac.FLAC('pictures.flac')
    for image, (kind, text, *numbers) in zip(data, fields):
        picture = flac.Picture()
        picture.data, picture.type, picture.mime, picture.desc = image, kind, 'image/png', text
        picture.width, picture.height, picture.depth, picture.colors = numbers
        file.add_picture(picture)
    file.save()
    for name, read in (('pictures2.flac', flac.FLAC), ('pictures.ogg', oggvorbis.OggVorbis),
                       ('pictures.opus', oggopus.OggOpus)):
        run('gst-tfx', 'process', '-q', 'pictures.flac', name, 'Gain(1)')
        file = read(name)
        found = file.pictures if name.endswith('.flac') else [
            flac.Picture(base64.b64decode(text)) for text in file['METADATA_BLOCK_PICTURE']]
        assert [get(picture) for picture in found] == fields, f'{name}: {[get(picture) for picture in found]}'
        assert [(picture.data, picture.mime) for picture in found] == [(d, 'image/png') for d in data], name
    run('sh', '-c', 'gst-tfx process -q pictures.flac -e flac - "Gain(1)" | cat > pictures3.flac')
    assert [get(picture) for picture in flac.FLAC('pictures3.flac').pictures] == fields, 'to a pipe'
    run('gst-tfx', 'process', '-q', 'pictures.flac', 'pictures.mp3', 'Gain(1)')
    found = [(int(p.type), p.desc, p.mime, p.data) for p in id3.ID3('pictures.mp3').getall('APIC')]
    wanted = [(kind, text, 'image/png', image) for image, (kind, text, *_) in zip(data, fields)]
    assert sorted(found) == sorted(wanted), found
    run('gst-tfx', 'process', '-q', 'pictures.flac', 'pictures.mka', 'Gain(1)')
    found = [s['tags'] for s in probe('pictures.mka')['streams'] if s['codec_type'] != 'audio']
    assert [tags.get('title', '') for tags in found] == [text for _, text, *_ in fields], found
    if 'm4a' in OUTPUTS:
        run('gst-tfx', 'process', '-q', 'pictures.flac', 'pictures.m4a', 'Gain(1)')
        assert [bytes(cover) for cover in mp4.MP4('pictures.m4a')['covr']] == data, 'pictures.m4a'


def check_frames():
    """Chapters of an .mp3 stay, and what tells of the old sound does not."""
    from mutagen import id3
    run('ffmpeg', '-v', 'error', '-y', '-i', 'noise.wav', '-map_metadata', '-1', 'chapters.mp3')
    for version in 3, 4:
        tags = id3.ID3()
        tags.add(id3.CTOC(element_id='toc', flags=3, child_element_ids=['a'], sub_frames=[]))
        tags.add(id3.CHAP(element_id='a', start_time=0, end_time=300, start_offset=0, end_offset=9,
                          sub_frames=[id3.TIT2(encoding=3, text='one')]))
        for name, text in ('REPLAYGAIN_TRACK_GAIN', '-7 dB'), ('Mood', 'calm'):
            tags.add(id3.TXXX(encoding=1, desc=name, text=text))
        for name in 'iTunNORM', 'iTunSMPB':
            tags.add(id3.COMM(encoding=3, lang='eng', desc=name, text=' 00000000 00000210'))
        tags.add(id3.TSSE(encoding=3, text='another encoder'))
        tags.save('chapters.mp3', v2_version=version)
        run('gst-tfx', 'process', '-q', '-f', 'chapters.mp3', 'chapters2.mp3', 'Gain(0.5)')
        found = id3.ID3('chapters2.mp3')
        assert sorted(found) == ['CHAP:a', 'CTOC:toc', 'TXXX:Mood'], sorted(found)
        assert found['CHAP:a'].end_time == 300 and found['CHAP:a'].sub_frames['TIT2'] == 'one'


# What --keep-video copies: name of the file, how FFmpeg makes it, whether its packets stay as they are.
VIDEOS = {
    'scene.mkv': ('-c:v libx264 -bf 2 -g 25 -c:a flac -c:s srt', True),
    'late.mkv': ('-c:v mpeg4 -bf 2 -c:a libvorbis', True),
    'vp9.webm': ('-c:v libvpx-vp9 -c:a libopus', True),
    'plain.webm': ('-pix_fmt yuv420p -c:v libvpx-vp9 -c:a libopus', True),
    'scene.mp4': ('-c:v libx264 -bf 2 -g 25 -c:a aac -c:s mov_text', True),
    'late.mp4': ('-c:v mpeg4 -c:a aac', True),
    'scene.ts': ('-c:v libx264 -bf 2 -g 25 -c:a aac', False),
}


def make_videos():
    """Two seconds; the sound of late files begins 0.7 s after the picture, all others have subtitles."""
    with open('subtitles.srt', 'w', encoding='utf-8') as file:
        file.write('1\n00:00:00,500 --> 00:00:00,900\nTom & Jerry <3\n\n2\n00:00:01,000 --> 00:00:01,500\ntwo\nlines\n')
    for name, (how, _) in VIDEOS.items():
        late = ['-itsoffset', '0.7'] if name.startswith('late') else []
        texts = ['-i', 'subtitles.srt'] if '-c:s' in how else []
        run('ffmpeg', '-v', 'error', '-y', '-f', 'lavfi', '-i', 'testsrc=d=2:s=64x48:r=25', *late, '-f', 'lavfi', '-i',
            'sine=440:r=48000:d=2', *texts, *how.split(), *(['-metadata:s:s:0', 'language=ger'] if texts else []), name)


def read_packets(name, kind):
    """Time and hash of each, from that of the first picture; without the empty ones of an .mp4 between its texts."""
    found = json.loads(run('ffprobe', '-v', 'error', '-show_packets', '-show_data_hash', 'md5', '-of', 'json', name))
    start = min(float(p['pts_time']) for p in found['packets'] if p['codec_type'] == 'video')
    return [(float(p['pts_time']) - start, p['data_hash']) for p in found['packets']
            if p['codec_type'] == kind and int(p['size']) > 2]


def find_onset(name):
    """When its sound begins, in seconds from the first picture."""
    data = memoryview(run('ffmpeg', '-v', 'error', '-i', name, '-map', '0:a:0', '-ac', '1', '-f', 's16le', '-')).cast('h')
    streams = {s['codec_type']: float(s['start_time']) for s in probe(name)['streams']}
    rate = [int(s['sample_rate']) for s in probe(name)['streams'] if s['codec_type'] == 'audio'][0]
    return next(i for i, x in enumerate(data) if abs(x) > 300) / rate + streams['audio'] - streams['video']


def check_video(name, out):
    """Pictures and subtitles are copied, and the sound stays where it is."""
    done = subprocess.run(['gst-tfx', 'process', '-q', '-f', '--keep-video', name, out, 'Gain(0.5)'],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == '', done.stderr
    for kind in 'video', 'subtitle':
        before, after = read_packets(name, kind), read_packets(out, kind)
        assert len(before) == len(after), f'{len(after)} packets of {kind}, not {len(before)}'
        far = max([abs(a[0] - b[0]) for a, b in zip(before, after)], default=0)
        assert far < 0.0011, f'{kind} moves by {far} s'
        same_form = name.rsplit('.', 1)[1] == out.rsplit('.', 1)[1] if kind == 'subtitle' else VIDEOS[name][1]
        assert not same_form or [h for _, h in before] == [h for _, h in after], f'other packets of {kind}'
    languages = [[s.get('tags', {}).get('language') for s in probe(n)['streams'] if s['codec_type'] == 'subtitle']
                 for n in (name, out)]
    # (GStreamer may write the other code of a language.)
    assert [x in ('ger', 'deu') for x in languages[0]] == [x in ('ger', 'deu') for x in languages[1]], languages
    moved = abs(find_onset(out) - find_onset(name))
    assert moved < 0.02, f'the sound moves by {moved} s'


def check_ogg_end():
    """What is behind the last page of an Ogg, and looks like one, does not change its length."""
    for extension in 'ogg', 'oga', 'opus':
        run('gst-tfx', 'process', '-q', '-f', 'noise.wav', 'end.' + extension, 'Gain(1)')
        run('gst-tfx', 'process', '-q', '-f', 'end.' + extension, 'end.wav', 'Gain(1)')
        with open('end.' + extension, 'ab') as file:
            file.write(b'OggS is no page here' * 4)
        run('gst-tfx', 'process', '-q', '-f', '--allow-cut', 'end.' + extension, 'end2.wav', 'Gain(1)')
        assert len(decode('end.wav')) == len(decode('end2.wav')), f'.{extension}: {len(decode("end2.wav")) // 4} frames'


def check_video_errors():
    """What cannot be kept is an error before anything is written; no video is none."""
    for name, out, words in (
            ('scene.mkv', 'x.wav', 'a .wav cannot have its stream of video/x-h264'),
            ('late.mkv', 'x.mp4', 'its video has no decoding times'),
            ('scene.avi', 'x.mkv', 'its video has no timestamps'),
            ('theora.mkv', 'x.mp4', 'a .mp4 cannot have its stream of video/x-theora'),
            ('vp9.webm', 'x.mp4', 'its stream of video/x-vp9')):
        if not os.path.exists(name):
            run('ffmpeg', '-v', 'error', '-y', '-i', 'late.mkv', '-c:v', 'libtheora' if 'theora' in name else 'mpeg4', '-c:a',
                'libvorbis' if 'theora' in name else 'libmp3lame', name)
        done = subprocess.run(['gst-tfx', 'process', '-f', '--keep-video', name, out, 'Gain(1)'], capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 1 and words in done.stderr, done.stderr
        assert not os.path.exists(out), out
    done = subprocess.run('gst-tfx process scene.mkv x.mkv Gain(1)'.split(), capture_output=True, text=True)
    assert done.returncode == 1 and 'a .mkv is written with --keep-video only' in done.stderr, done.stderr
    for option in '--rate=44100', '--manifest=m.json':
        done = subprocess.run(['gst-tfx', 'process', '--keep-video', option, 'scene.mkv', 'x.mkv', 'Gain(1)'],
                              capture_output=True, text=True)
        assert done.returncode == 2 and '--keep-video and' in done.stderr, done.stderr
    run('gst-tfx', 'process', '-q', '--keep-video', 'noise.wav', 'without.wav', 'Gain(1)')
    run('gst-tfx', 'process', '-q', '--keep-video', '--dither', 'none', 'noise.wav', 'without.mkv', 'Gain(1)')
    assert decode('without.mkv') == decode('noise.wav')


def print_table():
    print('| output | tags | pictures | number of frames |')
    print('|---|---|---|---|')
    for extension, (_, kind) in OUTPUTS.items():
        which = 'all' if kind != INFO else ', '.join(k.lower() for k in TAGS if holds(kind, k))
        print(f"| `.{extension}` | {which} | {'yes' if kind != INFO else 'no'} | {LENGTHS[extension]} |")


def check_faad():
    """faad, of gstreamer1.0-plugins-bad, loses frames at both ends of AAC."""
    run('ffmpeg', '-v', 'error', '-y', '-i', 'noise.wav', '-c:a', 'aac', 'faad.m4a')
    done = subprocess.run(['gst-tfx', 'process', '--force', 'faad.m4a', 'faad.wav', 'Gain(1)'], capture_output=True,
                          env={**os.environ, 'GST_PLUGIN_FEATURE_RANK': 'avdec_aac:NONE,avdec_aac_fixed:NONE'})
    assert done.returncode == 1 and b'gstreamer1.0-libav' in done.stderr, 'it is decoded'


# What gst-tfx says where gstreamer1.0-libav or gstreamer1.0-plugins-bad is not installed.
LACKING = ('GStreamer lacks a plugin', 'needs the GStreamer element')
# Pairs without those that cannot be kept.
VIDEO_PAIRS = [(name, 'kept.' + out) for name in VIDEOS for out in ('mkv', 'mp4', 'mov')
               if (name, out) not in (('late.mkv', 'mp4'), ('late.mkv', 'mov'), ('vp9.webm', 'mp4'), ('vp9.webm', 'mov'),
                                      ('plain.webm', 'mov'))]


def main():
    part = os.environ.get('TFX_TEST_PART')
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, 'build')
    os.environ['PATH'] = os.path.join(build, 'gst/tools') + ':' + os.environ['PATH']
    os.environ['GST_PLUGIN_PATH'] = os.path.join(build, 'gst')
    table = run(sys.executable, __file__, '--table').decode()
    n = 0

    def tell(name, fault):
        nonlocal n
        n += 1
        if any(words in str(fault) for words in LACKING):
            print(f'ok {n} - {name} # SKIP GStreamer lacks a plugin here', flush=True)
            return
        print(f"{'not ok' if fault else 'ok'} {n} - {name}", flush=True)
        if fault:
            print(f'# {fault}')

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run('ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'testsrc=size=64x64', '-frames:v', '1', 'cover.png')
        run('ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', f'anoisesrc=r={RATE}:a=0.3:seed=1', '-ac', '2', '-af',
            f'atrim=end_sample={FRAMES}', '-c:a', 'pcm_s16le', 'noise.wav')
        cover = open('cover.png', 'rb').read()
        for i, (kind, (how, _, _)) in enumerate(INPUTS.items()):
            name = 'in.' + kind
            wanted = [e for k, e in enumerate(OUTPUTS)
                      if not part or (i + k) % 4 == int(part) % 4 or name.endswith('.' + e)]
            run('ffmpeg', '-v', 'error', '-y', '-i', 'noise.wav', *how.split(), name)
            write_tags(name, cover)
            for extension in wanted:
                generations = 3 if name.endswith('.' + extension) else 1
                try:
                    fault = check_pair(name, f'out.{extension}', generations)
                except AssertionError as error:
                    fault = str(error)
                tell(f"{kind} to .{extension}{', three times' if generations == 3 else ''}", fault)
        make_videos()
        for i, (name, out) in enumerate(VIDEO_PAIRS):
            if part and i % 4 != int(part) % 4:
                continue
            try:
                check_video(name, out)
                tell(f'video of {name} in a .{out.rsplit(".", 1)[1]}', '')
            except (AssertionError, subprocess.TimeoutExpired) as error:
                lacks_timestamper = 'decoding times' in str(error) and subprocess.run(
                    ['gst-inspect-1.0', 'h264timestamper'], capture_output=True).returncode
                tell(f'video of {name} in a .{out.rsplit(".", 1)[1]}', LACKING[0] if lacks_timestamper else str(error))
        formats = [(f'bits of {codec} in .{extension}', functools.partial(check_bits, extension, codec))
                   for extension, found in FORMATS.items() for codec in found[0].split()]
        formats += [(f'rates of .{extension}', functools.partial(check_rates, extension)) for extension in FORMATS]
        for name, check in (*formats, ('video that cannot be kept', check_video_errors), ('the end of an Ogg', check_ogg_end), ('codecs are kept', check_codecs), ('the order of channels of Opus', check_opus_order),
                            ('a cue sheet', check_cuesheet), ('frames of ID3', check_frames),
                            ('several pictures', check_pictures), ('AAC without gstreamer1.0-libav', check_faad), ('sound beside other tracks', check_other_tracks)):
            try:
                check()
                tell(name, '')
            except AssertionError as error:
                tell(name, str(error) or 'not equal')
    page = open(os.path.join(ROOT, 'docs/gst-tfx.md'), encoding='utf-8').read()
    tell('the table in docs/gst-tfx.md', '' if table in page else 'it is not that of --table')
    print(f'1..{n}')


if sys.argv[1:2] == ['--table']:
    print_table()
else:
    main()
