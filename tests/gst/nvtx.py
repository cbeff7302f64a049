#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""NVTX ranges, as TAP: what a tool is told of pipelines, range by range.

    nvtx.py NVTXTOOL.SO FOLDER-OF-THE-STAND-IN... (none: without a device)
"""

import collections
import json
import os
import shlex
import subprocess
import sys
import tempfile

n_cases = 0
TOOL = os.path.abspath(sys.argv[1])


def case(name, ok, *why):
    global n_cases
    n_cases += 1
    print('ok' if ok else 'not ok', n_cases, '- tfx NVTX:', name)
    if not ok:
        print('#', *why)


class Told:
    """A pipeline to its end, with a tool: what that is told."""

    def __init__(self, line, **variables):
        if os.path.exists('log'):
            os.remove('log')
        env = {'NVTX_INJECTION64_PATH': TOOL, 'TFX_NVTX_LOG': 'log', **variables}
        done = subprocess.run(
            ['gst-launch-1.0', '-q', *shlex.split(line)],
            env={**os.environ, **env}, timeout=120,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.status, self.said = done.returncode, done.stdout
        self.domains, self.categories, self.ranges = set(), {}, []
        self.is_balanced = True
        is_open = {}
        for event in open('log') if os.path.exists('log') else []:
            what, *rest = event.rstrip('\n').split(' ', 1)
            if what == 'domain':
                self.domains.add(rest[0])
            elif what == 'category':
                number, name = rest[0].split(' ')
                self.categories[number] = name
            elif what == 'push':
                thread, category, name = rest[0].split(' ', 2)
                self.is_balanced &= not is_open.get(thread)
                is_open[thread] = True
                self.ranges.append((thread, self.categories[category], name))
            else:
                self.is_balanced &= is_open.pop(rest[0], False)
        self.is_balanced &= not is_open

    def names(self):
        return collections.Counter(name for _, _, name in self.ranges)

    def kinds(self):
        return collections.Counter((kind, name) for _, kind, name in self.ranges)


SOURCE = 'audiotestsrc num-buffers=%d ! audio/x-raw,format=F32LE,channels=2 ! '
FUSED = SOURCE % 50 + ('tfxbutterworth name=a ! tfxchebyshev name=b ! '
                       'tfxchain name=c chain="Gain(2)|LoButterworth(99)" ! fakesink')


def check_fused():
    told = Told(FUSED)
    case('a range for each run of a fused row, with its elements\' names',
         told.status == 0 and told.kinds() == {('run', 'a | b | c'): 50},
         told.said, told.kinds())
    case('in a domain of its own, with categories that have names',
         told.domains == {'gst-tfx'} and
         set(told.categories.values()) == {'run', 'start', 'finish', 'rest'},
         told.domains, told.categories)
    case('each range ends before the next one begins', told.is_balanced)
    told = Told(SOURCE % 20 + 'tfxbutterworth name=a fuse=false ! '
                'tfxchebyshev name=b ! fakesink')
    case('what is not fused has ranges of its own', told.is_balanced and
         told.names() == {'a': 20, 'b': 20}, told.names())


def check_threads():
    told = Told(SOURCE % 30 + 'tee name=t ! queue ! tfxbutterworth name=a ! '
                'tfxchebyshev name=b ! fakesink t. ! queue ! '
                'tfxbutterworth name=c ! tfxchebyshev name="d e" ! fakesink')
    threads = {name: {t for t, _, n in told.ranges if n == name}
               for name in told.names()}
    case('each thread has its own', told.is_balanced and
         told.names() == {'a | b': 30, 'c | d e': 30} and
         all(len(t) == 1 for t in threads.values()) and
         not threads['a | b'] & threads['c | d e'], threads, told.names())


def check_tracer():
    told = Told(FUSED, GST_TRACERS='tfx(file=trace.json)')
    with open('trace.json') as file:
        rows = [e['name'] for e in json.load(file) if e.get('cat') == 'row']
    case('the tracer tfx is told of the same beside it', told.is_balanced and
         len(rows) == 50 and told.names() == collections.Counter(rows),
         told.names(), rows[:2])


def check_without():
    told = Told(FUSED, NVTX_INJECTION64_PATH='')
    case('without a tool nobody is told', told.status == 0 and
         not told.domains and not told.said, told.said)
    for why, variables in (
            ('that cannot be loaded', {'NVTX_INJECTION64_PATH': '/no/such.so'}),
            ('that refuses', {'TFX_NVTX_REFUSES': '1'})):
        told = Told(FUSED, **variables)
        case('the sound goes on with a tool ' + why,
             told.status == 0 and not told.ranges, told.said)


def check_device(folders):
    env = {'LD_LIBRARY_PATH': ':'.join([*folders, os.environ.get('LD_LIBRARY_PATH', '')]),
           'XDG_CACHE_HOME': os.getcwd()}
    line = ('audiotestsrc num-buffers=12 samplesperbuffer=4096 ! '
            'audio/x-raw,format=F32LE,channels=2 ! tfxbutterworth name=a device=cuda '
            '! tfxchebyshev name=b device=cuda device-delay=%d ! fakesink')
    told = Told(line % 1, **env)
    kinds = told.kinds()
    case('a row in flight is begun and finished', told.is_balanced and
         set(told.names()) == {'a | b'} and
         kinds['start', 'a | b'] == kinds['finish', 'a | b'] >= 8, told.said, kinds)
    for delay in 0, 1:
        told = Told(line % delay, TFX_STANDIN_FAIL='cuLaunchKernel:6,sticky', **env)
        kinds = told.kinds()
        case('what a device that fails has left is a range too, at a delay of %d' % delay,
             told.is_balanced and kinds['rest', 'a | b'] == 1 + delay and
             kinds['run', 'a | b'] >= 5, told.said, kinds)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folders = [os.path.abspath(f) for f in sys.argv[2:]]
        os.chdir(folder)
        check_fused()
        check_threads()
        check_tracer()
        check_without()
        if folders:
            check_device(folders)
        print('1..%d' % n_cases)


main()
