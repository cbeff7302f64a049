#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""files.py: gst-tfx process beside SoX and FFmpeg, whole programs on the same job.

    files.py [--full] [--rounds N] [--files N] [--minutes N] GST-TFX

In each round every program has its turn: ten minutes of stereo from FLAC to FLAC and
to WAV, and files of ten seconds from FLAC to FLAC: with --full five rounds of 200, so
that they are 1,000.  All six filters are sections of the second order at the same frequencies, and
FLAC is written at level 5.  For the many files gst-tfx is one process with --jobs 1;
the others are started for each.

Printed are medians over the rounds: elapsed and processor time in seconds, peak memory
in MB, and the ratios of the times to those of gst-tfx in the same round.
"""
import argparse
import array
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import wave

RATE = 44100
HIGH_HZ, LOW_HZ = (20, 60, 65), (5000, 4900, 4850)
CHAIN = ' | '.join([f'HiChebyshev1({f}, order=2, ripple=0.5)' for f in HIGH_HZ]
                   + [f'LoButterworth({f}, order=2)' for f in LOW_HZ])
SOX = sum([['highpass', str(f)] for f in HIGH_HZ]
          + [['lowpass', str(f)] for f in LOW_HZ], [])
FFMPEG = ','.join([f'highpass=f={f}' for f in HIGH_HZ]
                  + [f'lowpass=f={f}' for f in LOW_HZ])
# Between two looks at a program's memory.
LOOK_S = 0.004


def make_strings(path):
    """Ten seconds of plucked strings (Karplus and Strong), each channel its own."""
    noise = random.Random(1)
    sound = [[0.0] * (10 * RATE) for _ in range(2)]
    for pluck in range(120):
        n = int(RATE / (80 * 2 ** (noise.randrange(36) / 12)))
        line = [noise.uniform(-0.2, 0.2) for _ in range(n)]
        channel, at = sound[pluck % 2], noise.randrange(9 * RATE)
        for i in range(min(RATE, 10 * RATE - at)):
            x = line[i % n]
            channel[at + i] += x
            line[i % n] = 0.498 * (x + line[(i + 1) % n])
    samples = array.array('h', (int(32767 * max(-1.0, min(1.0, x)))
                                for frame in zip(*sound) for x in frame))
    with wave.open(path, 'wb') as file:
        file.setparams((2, 2, RATE, 0, 'NONE', None))
        file.writeframes(samples)


def run(command):
    """Elapsed and processor seconds and peak memory in MB.  (What the kernel tells a
    parent of its child's memory has the parent's own in it.)"""
    start, peak_kb = time.monotonic(), 0
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL)
    done = (0, 0, None)
    while not done[0]:
        try:
            with open(f'/proc/{child.pid}/status', encoding='ascii') as status:
                for line in status:
                    if line.startswith('VmHWM:'):
                        peak_kb = max(peak_kb, int(line.split()[1]))
        except OSError:
            pass
        time.sleep(LOOK_S)
        done = os.wait4(child.pid, os.WNOHANG)
    elapsed = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(done[1])
    if child.returncode:
        raise SystemExit(f'{command[0]} has ended with {child.returncode}')
    return elapsed, done[2].ru_utime + done[2].ru_stime, peak_kb / 1024


def run_each(commands):
    """One after the other: times add up, memory does not."""
    figures = [run(command) for command in commands]
    return (sum(f[0] for f in figures), sum(f[1] for f in figures),
            max(f[2] for f in figures))


def list_jobs(tool, folder, sounds):
    """[(what, {program: [command]})]"""
    def one(program, source, target):
        return {
            'gst-tfx': [tool, 'process', '-q', '-f', source, target, CHAIN],
            'SoX': ['sox', source, *(['-C', '5'] if target.endswith('.flac') else []),
                    target, *SOX],
            'FFmpeg': ['ffmpeg', '-v', 'error', '-nostdin', '-y', '-i', source, '-af',
                       FFMPEG, '-compression_level', '5', target],
        }[program]

    programs = ('gst-tfx', 'SoX', 'FFmpeg')
    jobs = []
    for kind in ('flac', 'wav'):
        target = os.path.join(folder, 'out.' + kind)
        jobs.append((f'one long file, FLAC to {kind.upper()}',
                     {p: [one(p, os.path.join(folder, 'long.flac'), target)]
                      for p in programs}))
    many = {p: [one(p, s, os.path.join(folder, 'out', os.path.basename(s)))
                for s in sounds] for p in programs}
    # Without its journal it would do nothing in the next round.
    many['gst-tfx'] = [[tool, 'process', '-q', '-f', '--jobs', '1', '--journal',
                        '/dev/null', '--out', os.path.join(folder, 'out'), '--chain',
                        CHAIN, *sounds]]
    jobs.append((f'{len(sounds)} files of ten seconds, FLAC to FLAC', many))
    return jobs


def make_sounds(folder, minutes, n_files):
    strings = os.path.join(folder, 'strings.wav')
    make_strings(strings)
    first = os.path.join(folder, 'first.flac')
    subprocess.run(['sox', strings, '-C', '5', first], check=True)
    subprocess.run(['sox', strings, '-C', '5', os.path.join(folder, 'long.flac'),
                    'repeat', str(6 * minutes - 1)], check=True)
    os.mkdir(os.path.join(folder, 'in'))
    os.mkdir(os.path.join(folder, 'out'))
    sounds = [os.path.join(folder, 'in', f'{i}.flac') for i in range(n_files)]
    for sound in sounds:
        shutil.copy(first, sound)
    return sounds


def print_job(what, rounds):
    """rounds: [{program: figures}]"""
    for program in rounds[0]:
        columns = list(zip(*(r[program] for r in rounds)))
        ratios = [statistics.median(r[program][k] / r['gst-tfx'][k] for r in rounds)
                  for k in (0, 1)]
        elapsed, cpu, memory = (statistics.median(c) for c in columns)
        print(f'{what},{program},{elapsed:.2f},{cpu:.2f},{memory:.0f},'
              f'{ratios[0]:.2f},{ratios[1]:.2f}', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--full', action='store_true',
                        help='five rounds, 200 files in each')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--files', type=int, default=20)
    parser.add_argument('--minutes', type=int, default=10)
    parser.add_argument('tool', help='gst-tfx; GST_PLUGIN_PATH says where its plugin is')
    arguments = parser.parse_args()
    if arguments.full:
        arguments.rounds, arguments.files = 5, 200
    for program in ('sox', 'ffmpeg'):
        if not shutil.which(program):
            raise SystemExit(f'there is no {program} to compare with')
    with tempfile.TemporaryDirectory() as folder:
        sounds = make_sounds(folder, arguments.minutes, arguments.files)
        print('job,program,elapsed_s,processor_s,peak_mb,elapsed_ratio,processor_ratio',
              flush=True)
        for what, programs in list_jobs(arguments.tool, folder, sounds):
            run_each(programs['gst-tfx'][:1])  # GStreamer's registry, the disk's cache
            print_job(what, [{p: run_each(c) for p, c in programs.items()}
                             for _ in range(arguments.rounds)])


if __name__ == '__main__':
    main()
