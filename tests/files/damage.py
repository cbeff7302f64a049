#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""damage.py: damaged files, and several files in one, never lose sound without a word,
as TAP.

    damage.py [KIND...]

Each damage is ten random bytes at a random place.  gst-tfx process then has to do one of
these:

    fail, name the file, and leave no output, or warn of it
    say nothing, with as many frames as before: the damage lies where no sound is, or it
    altered the samples near it alone; in kinds with checksums (CHECKED) not even those

Without TFX_TEST_PART there are 30 damages of each kind, otherwise two.  ffmpeg makes the
files; kinds that GStreamer cannot read here are skipped.
"""
import array
import concurrent.futures
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PART = os.environ.get('TFX_TEST_PART')
TIMEOUT_S = 60
SECONDS = 6
RATE_HZ = 48000
FRAME = 4
# Samples that a damage may alter in a kind without checksums.
NEAR = RATE_HZ // 2 * 2

# What ffmpeg gets for the file of each name.
KINDS = {
    'vorbis.ogg': ['-c:a', 'libvorbis'],
    'opus.opus': ['-c:a', 'libopus'],
    'flac.oga': ['-c:a', 'flac'],
    'flac.flac': ['-c:a', 'flac'],
    'live.flac': ['-c:a', 'flac'],
    'wavpack.wv': ['-c:a', 'wavpack'],
    'vorbis.mka': ['-c:a', 'libvorbis'],
    'opus.mka': ['-c:a', 'libopus'],
    'flac.mka': ['-c:a', 'flac'],
    'alac.m4a': ['-c:a', 'alac'],
    'aac.m4a': ['-c:a', 'aac'],
    'aac.aac': ['-c:a', 'aac'],
    'mp3.mp3': ['-c:a', 'libmp3lame'],
    'mp2.ts': ['-c:a', 'mp2'],
    'aac.ts': ['-c:a', 'aac'],
}
CHECKED = ('vorbis.ogg', 'opus.opus', 'flac.oga', 'flac.flac', 'live.flac', 'wavpack.wv',
           'flac.mka')
WRITTEN = ('wav', 'flac', 'ogg') if PART else ('wav', 'flac', 'ogg', 'mka', 'wv', 'opus')


class Fault(Exception):
    pass


def expect(is_so, *what):
    if not is_so:
        raise Fault(' '.join(str(word) for word in what))


def ffmpeg(*arguments):
    subprocess.run(['ffmpeg', '-v', 'error', '-y', *arguments], check=True,
                   stdin=subprocess.DEVNULL)


def gst_tfx(*arguments, **options):
    """Its exit status and what it said on standard error."""
    done = subprocess.run(['gst-tfx', *arguments], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False,
                          **{'stdin': subprocess.DEVNULL, **options})
    return done.returncode, done.stderr.decode(errors='replace')


def process(source, output, *options):
    return gst_tfx('process', '-q', '-f', '--dither', 'none', *options, source, output,
                   'Gain(1)')


def read_samples(name):
    """The 16-bit samples of a file, by ffmpeg, as bytes."""
    return subprocess.run(['ffmpeg', '-v', 'error', '-i', name, '-f', 's16le', '-'],
                          stdout=subprocess.PIPE, check=True,
                          stdin=subprocess.DEVNULL).stdout


def count_altered(one, other):
    """The number of samples from the first to the last that differs, by more than a
    decoder's rounding."""
    one, other = array.array('h', one), array.array('h', other)
    places = [i for i, (x, y) in enumerate(zip(one, other)) if abs(x - y) > 2]
    return places[-1] - places[0] + 1 if places else 0


def damage(name, number):
    """A copy with ten random bytes, by number; its name."""
    with open(name, 'rb') as file:
        data = bytearray(file.read())
    chance = random.Random(number)
    at = chance.randrange(len(data) - 10)
    data[at:at + 10] = chance.randbytes(10)
    stem, extension = os.path.splitext(name)
    copy = f'{stem}-{number}{extension}'
    with open(copy, 'wb') as file:
        file.write(data)
    return copy


def check_damage(name, whole, number):
    """Whether gst-tfx noticed it."""
    copy = damage(name, number)
    output = copy + '.wav'
    status, said = process(copy, output)
    *warnings, last = said.split('\n')[:-1] or ['']
    expect(all(line.startswith(f'warning: {copy}: ') for line in warnings), said)
    if status == 0 and said == '':
        samples = read_samples(output)
        os.remove(output)
        expect(len(samples) == len(whole), copy, 'lost',
               (len(whole) - len(samples)) // FRAME, 'frames')
        if samples != whole:
            expect(name not in CHECKED and count_altered(samples, whole) <= NEAR, copy,
                   'has other samples')
        os.remove(copy)
        return False
    expect(last.startswith(f'{"error" if status == 1 else "warning"}: {copy}: '), status,
           said)
    expect(status == 0 or not os.path.exists(output), copy, 'left an output')
    if 'allow-cut' in last:
        status, said = process(copy, output, '--allow-cut')
        expect(status == 0 and said.startswith(f'warning: {copy}: ') or status == 1,
               copy, status, said)
    os.remove(copy)
    return True


def check_damages(name):
    status, said = process(name, name + '.wav')
    if 'lacks a plugin' in said:
        return said
    expect(status == 0 and said == '', name, status, said)
    whole = read_samples(name + '.wav')
    numbers = range(30) if PART is None else [(2 * int(PART) + i) % 30 for i in (0, 1)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        n = sum(pool.map(lambda number: check_damage(name, whole, number), numbers))
    print(f'# {name}: {n} of {len(numbers)} were noticed')
    return None


def join(name, *parts):
    with open(name, 'wb') as file:
        for part in parts:
            with open(part, 'rb') as source:
                file.write(source.read())


def check_joined(*parts):
    """One file after the other has the sound of both, in each format."""
    name = 'joined-' + parts[0]
    join(name, *parts)
    wanted = b''
    for part in parts:
        expect(process(part, 'part.wav') == (0, ''), part)
        wanted += read_samples('part.wav')
    for kind in WRITTEN:
        expect(process(name, 'joined.' + kind) == (0, ''), name, kind)
        samples = read_samples('joined.' + kind)
        # (Of one MP3 alone the silence may be left out that its encoder added.)
        if kind == 'wav' and not name.endswith('.mp3'):
            expect(samples == wanted, name, kind, len(samples), len(wanted))
        else:
            expect(abs(len(samples) - len(wanted)) <= 4096 * FRAME, name, kind,
                   len(samples), len(wanted))
    status, said = gst_tfx('play', '-q', '-o', 'filesink location=heard.raw', name,
                           'Gain(1)')
    expect(status == 0 and said == '', 'play', name, status, said)
    # (Its samples have more bits.)
    expect(os.path.getsize('heard.raw') >= len(wanted), 'play', name)


def check_changing(*parts):
    """The second one has another rate and one channel."""
    name = 'changing-' + parts[0]
    join(name, *parts)
    for kind in WRITTEN:
        status, said = process(name, 'changing.' + kind)
        expect(status == 0 and said.count('\n') == 1 and
               'it changes to 44100 Hz and 1 channel, and is converted to 48000 Hz and 2'
               in said, name, kind, status, said)
        n = len(read_samples('changing.' + kind)) // FRAME
        expect(abs(n - 2 * SECONDS * RATE_HZ) < 10000, name, kind, n, 'frames')


def check_whole():
    """Files that are whole, though their sound begins late or has other lengths than
    their container."""
    late, scene = ['-itsoffset', '0.7'], ['-f', 'lavfi', '-i', 'testsrc=d=8:s=64x48:r=5']
    for name, before, arguments in (
            ('late.mka', late, ['-c:a', 'libopus']), ('late.m4a', late, ['-c:a', 'aac']),
            ('short-frames.mka', [], ['-c:a', 'libopus', '-frame_duration', '2.5']),
            ('slow.m4a', [], ['-c:a', 'aac', '-ar', '8000', '-ac', '1']),
            ('fragments.mp4', [], ['-c:a', 'aac', '-movflags',
                                   'frag_keyframe+empty_moov+default_base_moof']),
            ('video.mkv', scene, ['-c:v', 'mjpeg', '-c:a', 'libvorbis'])):
        ffmpeg(*before, '-i', 'sound.wav', *arguments, name)
        expect(process(name, 'x.wav') == (0, ''), name, process(name, 'x.wav'))


def write_live(name, *arguments):
    """To a pipe, as live muxers write: the segment has no size and no duration."""
    with open(name, 'wb') as file:
        subprocess.run(['ffmpeg', '-v', 'error', *arguments, '-live', '1', '-f', 'matroska',
                        '-'], stdout=file, check=True, stdin=subprocess.DEVNULL)


def check_lost_ends():
    """The end of a Matroska or WebM, overwritten or not there, beside video too."""
    scene = ['-f', 'lavfi', '-i', f'testsrc=d={SECONDS}:s=320x240:r=10', '-i', 'sound.wav']
    video = ['-c:v', 'mjpeg', '-c:a', 'libvorbis']
    ffmpeg(*scene, *video, 'end.mkv')
    ffmpeg(*scene, '-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libopus', 'end.webm')
    ffmpeg('-i', 'sound.wav', '-c:a', 'libvorbis', 'end.mka')
    write_live('live.mkv', *scene, *video)
    write_live('live.mka', '-i', 'sound.wav', '-c:a', 'flac')
    for name in 'end.mkv', 'end.webm', 'end.mka', 'live.mkv', 'live.mka':
        expect(process(name, 'x.wav') == (0, ''), name, process(name, 'x.wav'))
        with open(name, 'rb') as file:
            data = file.read()
        kept = [len(data) * n // 10 for n in (5, 8, 9)]
        for n, what in itertools.product(kept, ('cut', 'zeros', 'noise')):
            lost = 0 if what == 'cut' else len(data) - n
            end = bytes(lost) if what == 'zeros' else random.Random(n).randbytes(lost)
            copy = f'{what}-{name}'
            with open(copy, 'wb') as file:
                file.write(data[:n] + end)
            status, said = process(copy, 'y.wav')
            expect(status == 1 and f'error: {copy}: it is ' in said and
                   not os.path.exists('y.wav'), copy, n, status, said)
            status, said = process(copy, 'x.wav', '--allow-cut')
            # (matroskademux may give up where it finds noise.)
            expect((status == 0 or what == 'noise') and f'warning: {copy}: it is ' in said,
                   copy, n, status, said)


def check_tracks():
    """Tracks that are not used have decoders too."""
    ffmpeg('-i', 'sound.wav', '-ar', '48000', '-c:a', 'pcm_s24le', 'deep.wav')
    for inputs in ('sound.wav', 'deep.wav'), ('deep.wav', 'sound.wav'):
        ffmpeg('-i', inputs[0], '-i', inputs[1], '-map', '0', '-map', '1', '-c:a', 'flac', 'two.mka')
        status, said = process('two.mka', 'x.wav')
        expect(status == 0 and said.count('\n') == 1 and '2 audio tracks' in said, inputs, said)


def check_empty_link():
    """Links that end with their headers, as of a station that was heard for a moment."""
    with open('vorbis.ogg', 'rb') as file:
        data = file.read()
    second = data.index(b'OggS', 4)
    headers = data[:data.index(b'OggS', second + 4)]
    with open('empty.ogg', 'wb') as file:
        file.write(headers + data + headers + data + headers)
    status, said = process('empty.ogg', 'empty.wav')
    expect(status == 1 and 'it is damaged: a page is wrong or missing' in said, said)
    status, said = process('empty.ogg', 'empty.wav', '--allow-cut')
    expect(status == 0 and said.count('\n') == 1, status, said)
    expect(process('vorbis.ogg', 'whole.wav') == (0, ''))
    expect(read_samples('empty.wav') == 2 * read_samples('whole.wav'), 'other samples')


def check_stdin():
    """Links that only come one after the other."""
    with open('joined-vorbis.ogg', 'rb') as file:
        status, said = gst_tfx('process', '-q', '-f', '-', 'stdin.flac', 'Gain(1)',
                               stdin=file)
    expect(status == 0 and said == '', status, said)
    n = len(read_samples('stdin.flac')) // FRAME
    # (GStreamer 1.22 does not trim the end of what it cannot seek in.)
    expect(0 <= n - 2 * SECONDS * RATE_HZ < 4096, n, 'frames')
    with open('aac.m4a', 'rb') as file:
        status, said = gst_tfx('process', '-q', '-f', '-', 'stdin.flac', 'Gain(1)', stdin=file)
    n = len(read_samples('stdin.flac')) // FRAME
    expect((status, said, n) == (0, '', SECONDS * RATE_HZ), status, said, n)


def check_batch():
    """Each bad file fails alone, with one worker too."""
    os.mkdir('in')
    n_bad = 0
    for name in (name for name in KINDS if process(name, 'x.wav')[0] == 0):
        with open(name, 'rb') as file:
            data = file.read()
        middle = len(data) // 2
        copy = name.replace('.', '-') + os.path.splitext(name)[1]
        for kind, content in (('bad', data[:middle] + bytes(9000) + data[middle + 9000:]),
                              ('good', data)):
            with open(os.path.join('in', f'{kind}-{copy}'), 'wb') as file:
                file.write(content)
        n_bad += 1
    expect(n_bad > 0, 'nothing to do')
    join('in/changing.ogg', 'vorbis.ogg', 'other.ogg', 'vorbis.ogg')
    names = sorted(os.listdir('in'))
    paths = [os.path.join('in', name) for name in names]
    for jobs in '1', '4':
        out = 'out' + jobs
        status, said = gst_tfx('process', '-q', '-o', out, '-e', 'flac', '-j', jobs,
                               '-c', 'Gain(0.5)', *paths)
        errors = [line for line in said.split('\n') if line.startswith('error: in/')]
        expect(status == 1 and len(errors) == n_bad and
               all(line.startswith('error: in/bad-') for line in errors), said)
        done = sorted(name for name in os.listdir(out) if not name.startswith('.'))
        expect(done == [os.path.splitext(name)[0] + '.flac' for name in names
                        if not name.startswith('bad')], done)
        expect(os.listdir(out).count('.gst-tfx-journal') == 1 and
               len(os.listdir(out)) == len(done) + 1, os.listdir(out))


def make_files():
    """Six seconds of two channels, and others to come after them."""
    sound = ['-f', 'lavfi', '-i', f'sine=440:r={RATE_HZ}:d={SECONDS}', '-f', 'lavfi',
             '-i', f'anoisesrc=r={RATE_HZ}:d={SECONDS}:a=0.3:seed=1', '-filter_complex',
             '[0][1]amerge', '-c:a', 'pcm_s16le', 'sound.wav']
    other = ['-ar', '44100', '-ac', '1']
    ffmpeg(*sound)
    for name, codec in KINDS.items():
        ffmpeg('-i', 'sound.wav', *codec, name)
    # To a pipe: without a length.
    with open('live.flac', 'wb') as file:
        subprocess.run(['ffmpeg', '-v', 'error', '-i', 'sound.wav', '-f', 'flac', '-'],
                       stdout=file, check=True, stdin=subprocess.DEVNULL)
    ffmpeg('-i', 'sound.wav', '-af', 'areverse', *KINDS['vorbis.ogg'], 'second.ogg')
    ffmpeg('-i', 'sound.wav', '-c:a', 'mp2', 'mp2.mp2')
    for name in ('vorbis.ogg', 'flac.flac', 'aac.aac', 'mp2.mp2'):
        ffmpeg('-i', 'sound.wav', *other, *KINDS.get(name, ['-c:a', 'mp2']),
               'other' + os.path.splitext(name)[1])


def run(cases):
    n_failed = 0
    for number, (name, check, arguments) in enumerate(cases, 1):
        try:
            skipped = check(*arguments)
        except (Fault, OSError, subprocess.SubprocessError) as fault:
            # gstreamer1.0-libav is not installed.
            if 'GStreamer lacks a plugin' in str(fault):
                print(f'ok {number} - {name} # SKIP GStreamer lacks a plugin here', flush=True)
                continue
            n_failed += 1
            print(f'not ok {number} - {name}\n# {fault}', flush=True)
        else:
            skip = f' # SKIP {skipped.strip()}' if skipped else ''
            print(f'ok {number} - {name}{skip}', flush=True)
    print(f'1..{len(cases)}')
    return 1 if n_failed else 0


def main():
    kinds = sys.argv[1:] or KINDS
    cases = [(f'damaged: {name}', check_damages, [name]) for name in kinds]
    cases += [] if sys.argv[1:] else [
        ('whole files', check_whole, []),
        ('lost ends of Matroska', check_lost_ends, []),
        ('two tracks', check_tracks, []),
        ('one after the other: Ogg', check_joined, ['vorbis.ogg', 'second.ogg']),
        ('one after the other: Ogg with one serial number', check_joined,
         ['opus.opus', 'opus.opus']),
        ('one after the other: FLAC', check_joined, ['flac.flac', 'flac.flac']),
        ('one after the other: MP3', check_joined, ['mp3.mp3', 'mp3.mp3']),
        ('another rate: Ogg', check_changing, ['vorbis.ogg', 'other.ogg']),
        ('another rate: FLAC', check_changing, ['flac.flac', 'other.flac']),
        ('another rate: AAC', check_changing, ['aac.aac', 'other.aac']),
        ('another rate: MP2', check_changing, ['mp2.mp2', 'other.mp2']),
        ('a chained Ogg with links of headers', check_empty_link, []),
        ('a chained Ogg from standard input', check_stdin, []),
        ('a batch with bad files', check_batch, []),
    ]
    if not shutil.which('ffmpeg'):
        print('ok 1 - damaged files # SKIP no ffmpeg\n1..1')
        return 0
    os.environ['PATH'] = f'{ROOT}/build/gst/tools:{os.environ["PATH"]}'
    os.environ['GST_PLUGIN_PATH'] = os.pathsep.join(
        filter(None, [f'{ROOT}/build/gst', os.environ.get('GST_PLUGIN_PATH')]))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ['GST_REGISTRY'] = os.path.join(folder, 'registry.bin')
        make_files()
        return run(cases)


if __name__ == '__main__':
    sys.exit(main())
