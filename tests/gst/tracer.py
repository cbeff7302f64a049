#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tracer tfx, as TAP: what its files say of pipelines, checked event by event.

    tracer.py FOLDER-OF-THE-STAND-IN... (none: without a device)
"""

import collections
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

n_cases = 0


def case(name, ok, *why):
    global n_cases
    n_cases += 1
    print('ok' if ok else 'not ok', n_cases, '- tfx tracer:', name)
    if not ok:
        print('#', *why)


def play(line, file='trace.json', **variables):
    """A pipeline to its end; what it says."""
    env = dict(os.environ, GST_TRACERS='tfx(file=%s)' % file, **variables)
    done = subprocess.run(
        ['gst-launch-1.0', '-q', *shlex.split(line)], env=env, timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def read(path='trace.json'):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def read_killed(path):
    """Killed in the middle of a write it may have no end: whole events all the same."""
    with open(path) as file:
        text = file.read()
    return json.loads(text if text.endswith('\n]\n') else text + ']')


def ns(us):
    return round(1000 * us)


class Trace:
    """Slices by thread, and what lies within what."""

    def __init__(self, events):
        self.events = events
        self.slices = [e for e in events if e['ph'] == 'X']
        self.threads = collections.defaultdict(list)
        for e in self.slices:
            e['from'], e['to'] = ns(e['ts']), ns(e['ts']) + ns(e['dur'])
            e['within'] = None
            self.threads[e['tid']].append(e)
        self.is_nested = all(map(self.nest, self.threads.values()))

    def nest(self, slices):
        """False if two slices of a thread overlap."""
        open_slices = []
        for e in sorted(slices, key=lambda e: (e['from'], -e['to'])):
            while open_slices and open_slices[-1]['to'] <= e['from']:
                open_slices.pop()
            if open_slices and e['to'] > open_slices[-1]['to']:
                return False
            e['within'] = open_slices[-1] if open_slices else None
            open_slices.append(e)
        return True

    def named(self, name, category='element'):
        return [e for e in self.slices if (e['name'], e['cat']) == (name, category)]

    def rows(self):
        return [e for e in self.slices if e['cat'] == 'row']

    def at(self, thread, time):
        """The innermost slice of a thread at a time."""
        found = [e for e in self.threads[thread] if e['from'] <= time <= e['to']]
        return max(found, key=lambda e: e['from'], default=None)

    def arrows(self):
        """From which slice to which slice, by name; None where one is missing."""
        ends = collections.defaultdict(dict)
        for e in self.events:
            if e['ph'] in 'sf':
                ends[e['id']][e['ph']] = e
        for both in ends.values():
            if len(both) != 2:
                yield None
                continue
            s, f = ((both[k], ns(both[k]['ts'])) for k in 'sf')
            yield (self.at(s[0]['tid'], s[1])['name'],
                   self.at(f[0]['tid'], f[1])['name'], s[1] <= f[1])


SOURCE = 'audiotestsrc num-buffers=%d ! audio/x-raw,format=F32LE,channels=2 ! '


def check_fused():
    play(SOURCE % 50 + 'tfxbutterworth name=a ! tfxchebyshev name=b ! '
         'tfxchain name=c chain="Gain(2)|LoButterworth(99)" ! fakesink name=end')
    trace = Trace(read())
    rows = trace.rows()
    case('a fused row runs once for each buffer', len(rows) == 50 and all(
        r['name'] == 'a | b | c' and r['args']['row'] == ['a', 'b', 'c'] and
        r['args']['frames'] == 1024 and r['args']['dispatches'] == 1 and
        r['args']['device'] == 'cpu' and r['args']['sections'] > 4
        for r in rows), rows[:2])
    case('slices lie in each other', trace.is_nested)
    case('the row runs in its last element, that in those before', all(
        r['within']['name'] == 'c' and r['within']['within']['name'] == 'b' and
        r['within']['within']['within']['name'] == 'a' for r in rows))
    case('each element has each buffer', all(
        len(trace.named(name)) == 50 for name in ('a', 'b', 'c', 'end')))
    arrows = collections.Counter(trace.arrows())
    case('an arrow goes from who leaves a buffer to who runs it', arrows == {
        ('a', 'a | b | c', True): 50, ('b', 'a | b | c', True): 50}, arrows)
    times = [e['from'] for e in rows]
    case('times go on', times == sorted(times) and all(
        e['ts'] >= 0 and e['dur'] >= 0 for e in trace.slices))


def check_unfused():
    play(SOURCE % 20 + 'tfxbutterworth name=a fuse=false ! '
         'tfxchebyshev name=b ! fakesink')
    trace = Trace(read())
    names = collections.Counter(r['name'] for r in trace.rows())
    case('what is not fused has a row each', names == {'a': 20, 'b': 20} and
         not list(trace.arrows()), names)


def check_threads():
    play(SOURCE % 30 + 'tfxbutterworth name=a ! tfxbutterworth name=b ! queue ! '
         'tfxchebyshev name=d ! level ! tfxchebyshev name=e ! fakesink')
    trace = Trace(read())
    threads = collections.defaultdict(set)
    for row in trace.rows():
        threads[row['name']].add(row['tid'])
    names = {e['tid']: e['args']['name'] for e in trace.events if e['ph'] == 'M'}
    case('each thread has its own slices, and a name', trace.is_nested and
         set(threads) == {'a | b', 'd', 'e'} and threads['d'] == threads['e'] and
         not threads['a | b'] & threads['d'] and
         all(names[t] for t in trace.threads), threads, names)
    play(SOURCE % 30 + 'tee name=t ! queue ! tfxbutterworth name=a ! tfxchebyshev '
         'name=b ! fakesink t. ! queue ! tfxbutterworth name=c ! tfxchebyshev '
         'name="d\\"" ! fakesink')
    trace = Trace(read())
    names = collections.Counter(r['name'] for r in trace.rows())
    case('two branches at once, and a name with a quote', trace.is_nested and
         names == {'a | b': 30, 'c | d"': 30}, names)
    play(SOURCE % 5 + 'queue name=äöüäöüäöü ! tfxbutterworth ! fakesink')
    names = {e['args']['name'] for e in read() if e['ph'] == 'M'}
    case('a thread whose name the system cuts within a letter',
         'äöüäöüä\ufffd' in names, names)


def check_killed():
    """At any moment the file has whole events."""
    env = dict(os.environ, GST_TRACERS='tfx(file=killed.json)')
    sizes = []
    for i in range(8):
        if os.path.exists('killed.json'):
            os.remove('killed.json')
        process = subprocess.Popen(
            ['gst-launch-1.0', '-q', 'audiotestsrc', '!', 'tfxbutterworth', '!',
             'tfxchebyshev', '!', 'fakesink'], env=env)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (
                os.path.exists('killed.json') and
                os.path.getsize('killed.json') > 150000 + 10000 * i):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
        sizes.append(len(Trace(read_killed('killed.json')).rows()))
    case('a program that is killed leaves a file that can be read',
         min(sizes) > 100, sizes)


def check_options():
    status, said = play(SOURCE % 3 + 'tfxbutterworth ! fakesink', 'no/such.json')
    case('a file that cannot be written is told of, once, and the sound goes on',
         status == 0 and said.count('cannot be written to no/such.json') == 1, said)
    env = dict(os.environ, GST_TRACERS='tfx(name=x)')
    done = subprocess.run(
        ['gst-launch-1.0', '-q', 'audiotestsrc', 'num-buffers=3', '!',
         'tfxbutterworth', '!', 'fakesink'], env=env, timeout=120,
        stderr=subprocess.PIPE, text=True)
    case('what it does not know is told of, and a file of its own is written',
         'it must be tfx(file=NAME)' in done.stderr and
         len(Trace(read('tfx-trace.json')).rows()) == 3, done.stderr)


def check_device(folders):
    path = ':'.join([*folders, os.environ.get('LD_LIBRARY_PATH', '')])
    play('audiotestsrc num-buffers=12 samplesperbuffer=4096 ! '
         'audio/x-raw,format=F32LE,channels=2 ! tfxbutterworth name=a device=cuda '
         '! tfxchebyshev name=b device=cuda ! fakesink',
         LD_LIBRARY_PATH=path, XDG_CACHE_HOME=os.getcwd())
    trace = Trace(read())
    rows = [r for r in trace.rows() if r['args']['device'] == 'cuda']
    inside = collections.Counter(
        (e['within']['from'], e['cat'], e['name'])
        for e in trace.slices if e['within'] and e['within']['cat'] == 'row')
    launches = [sum(n for (row, kind, _), n in inside.items()
                    if (row, kind) == (r['from'], 'launch')) for r in rows]
    case('a row on a device has its launches in it', trace.is_nested and
         len(rows) >= 8 and launches == [r['args']['launches'] for r in rows] and
         min(launches) >= 1, launches, rows[:1])
    case('and copies there and back, with their bytes', all(
        inside[r['from'], 'copy', 'upload'] >= 1 and
        inside[r['from'], 'copy', 'download'] >= 1 and
        r['args']['uploads'] >= 1 and r['args']['downloads'] >= 1 for r in rows) and
        any(e['cat'] == 'copy' and e['args']['bytes'] == 2 * 4 * 4096
            for e in trace.slices), inside)
    case('kernels have their names', any(
        e['cat'] == 'launch' and e['name'].startswith('tfx_cascade')
        for e in trace.slices))


def main():
    with tempfile.TemporaryDirectory() as folder:
        folders = [os.path.abspath(f) for f in sys.argv[1:]]
        os.chdir(folder)
        check_fused()
        check_unfused()
        check_threads()
        check_killed()
        check_options()
        if folders:
            check_device(folders)
        print('1..%d' % n_cases)


main()
