#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""capture.py: what is played into a sink of PulseAudio comes out of its monitor,
through a tfxchain whose parameters move all the time, with nothing missing.

    capture.py SINK SECONDS [lose]

The left channel counts frames, and the chain leaves it alone: so whatever is lost
or doubled is seen, and whether it was lost before the chain or in it.  A busy machine may
lose something before; the source tells of it, mostly.  The right one is a sine that is equalised: it has
no steps.  Prints what it found; the exit status is 1 where something is wrong.  With
"lose" a buffer is lost in front of the chain, and nobody is told: that is wrong.
"""
import array
import math
import os
import sys
import tempfile

import gi

gi.require_version('Gst', '1.0')
from gi.repository import GLib, Gst  # noqa: E402

RATE = 48000
# Counted in steps that F32 has, for two seconds: whole periods of the sine.
PERIOD = 2 * RATE
STEP = 1 / 2 ** 17
HZ, AMPLITUDE, MOST_DB = 1000, 0.05, 12
CHAIN = 'ch[1]: eq=ParametricEQ(1000, q=1, gain=0) | low=LoButterworth(5000)'
# The second difference of the sine where it is loudest, and half as much again:
# a gain that moves bends it.  A sample that is lost makes 0.026 of it.
BEND = 1.5 * AMPLITUDE * 10 ** (MOST_DB / 20) * (2 * math.pi * HZ / RATE) ** 2


def write_sound(path):
    samples = array.array('f')
    for k in range(PERIOD):
        samples.append((k + 1) * STEP)
        samples.append(AMPLITUDE * math.sin(2 * math.pi * HZ * k / RATE))
    with open(path, 'wb') as file:
        samples.tofile(file)


class Watch:
    """Looks at each buffer at a place."""

    def __init__(self):
        self.table = array.array('f', ((k % PERIOD + 1) * STEP
                                       for k in range(2 * PERIOD)))
        self.frames = 0      # that were heard
        self.wanted = None   # the next count
        self.pauses = 0      # frames that the player left out
        self.lost = []       # places where the count jumps, told of or not
        self.told = 0
        self.shifts = set()  # stamps minus counts, in frames
        self.past = []       # the last frames of the right channel
        self.bend = 0.0
        self.lateness = {}   # least, of 10 s each

    def see(self, buffer, now):
        taken, area = buffer.map(Gst.MapFlags.READ)
        assert taken
        samples = array.array('f', bytes(area.data))
        buffer.unmap(area)
        left, right = samples[0::2], samples[1::2]
        if self.wanted is None:
            if left[0] == 0:
                return
            self.wanted = round(left[0] / STEP) - 1
        told = buffer.has_flags(Gst.BufferFlags.DISCONT) and self.frames > 0
        self.told += told
        ten = buffer.pts // (10 * Gst.SECOND)
        self.lateness[ten] = min(self.lateness.get(ten, math.inf),
                                 now - buffer.pts)
        self.frames += len(left)
        if left == self.table[self.wanted:self.wanted + len(left)]:
            self.note_stamp(buffer.pts)
            self.note_steps(right)
            self.wanted = (self.wanted + len(left)) % PERIOD
        else:
            self.past = []
            self.count(left, told)

    def note_stamp(self, pts):
        shift = pts * RATE / Gst.SECOND - self.wanted - self.pauses
        shift -= PERIOD * math.floor(shift / PERIOD + 0.5)
        self.shifts.add(round(shift))

    def note_steps(self, right):
        x = self.past + right.tolist()
        self.past = x[-2:]
        # The filter hears the sine from amidst it, which is a step at first.
        if self.frames < RATE:
            return
        bend = max(abs(a - 2 * b + c) for a, b, c in zip(x, x[1:], x[2:]))
        self.bend = max(self.bend, bend)

    def count(self, left, told):
        for x in left:
            if x == 0:
                self.pauses += 1
                continue
            if x != self.table[self.wanted]:
                self.lost.append((x / STEP - 1 - self.wanted, told))
                self.wanted = round(x / STEP) - 1
            self.wanted = (self.wanted + 1) % PERIOD


class Capture:
    def __init__(self, sink, seconds, sound, lose):
        self.seconds, self.failed, self.ticks = seconds, [], 0
        self.waits = 0
        self.latencies = set()
        self.loop = GLib.MainLoop()
        self.player = Gst.parse_launch(
            'multifilesrc loop=true location=%s blocksize=38400 ! rawaudioparse '
            'format=pcm pcm-format=f32le sample-rate=%d num-channels=2 ! '
            'pulsesink device=%s buffer-time=1500000' % (sound, RATE, sink))
        self.capture = Gst.parse_launch(
            'pulsesrc name=source device=%s.monitor ! '
            'audio/x-raw,format=F32LE,rate=%d,channels=2 ! '
            'tfxchain name=chain chain="%s" ! fakesink sync=true'
            % (sink, RATE, CHAIN))
        self.chain = self.capture.get_by_name('chain')
        self.source, self.watch = Watch(), Watch()
        for element, watch in ('source', self.source), ('chain', self.watch):
            self.capture.get_by_name(element).get_static_pad('src').add_probe(
                Gst.PadProbeType.BUFFER, self.on_buffer, watch)
        self.lose = lose
        if lose:
            self.chain.get_static_pad('sink').add_probe(
                Gst.PadProbeType.BUFFER, self.on_input)
        for pipeline in self.player, self.capture:
            pipeline.bus.add_signal_watch()
            pipeline.bus.connect('message', self.on_message)

    def on_buffer(self, pad, info, watch):
        clock = self.capture.get_clock()
        now = clock.get_time() - self.capture.base_time if clock else 0
        watch.see(info.get_buffer(), now)
        return Gst.PadProbeReturn.OK

    def on_input(self, pad, info):
        if self.lose and self.watch.frames > RATE:
            self.lose = False
            return Gst.PadProbeReturn.DROP
        return Gst.PadProbeReturn.OK

    def on_message(self, bus, message):
        if message.type == Gst.MessageType.ERROR:
            self.failed.append(str(message.parse_error()))
            self.loop.quit()
        elif message.type == Gst.MessageType.WARNING:
            # A source that lost something says so.
            print('# warning:', *message.parse_warning())
            self.watch.told += 1

    def move(self):
        """Each 50 ms: where to, no two parameters ever stand still."""
        if not self.watch.frames and not self.failed and self.waits < 1200:
            self.waits += 1
            return True
        t = self.ticks * 0.05
        eq, low = (self.chain.get_child_by_name(x) for x in ('eq', 'low'))
        eq.set_property('gain', MOST_DB * math.sin(2 * math.pi * 0.3 * t))
        eq.set_property('frequency', 1000 * 2 ** math.sin(0.7 * t))
        low.set_property('cutoff', 6000 + 2000 * math.sin(2.1 * t))
        self.ticks += 1
        if self.ticks % 20 == 0:
            query = Gst.Query.new_latency()
            if self.capture.query(query):
                self.latencies.add(query.parse_latency()[1] / Gst.MSECOND)
        if t < self.seconds:
            return True
        self.loop.quit()
        return False

    def run(self):
        self.player.set_state(Gst.State.PLAYING)
        self.player.get_state(10 * Gst.SECOND)
        self.capture.set_state(Gst.State.PLAYING)
        GLib.timeout_add(50, self.move)
        self.loop.run()
        stats = self.chain.get_property('stats')
        self.capture.set_state(Gst.State.NULL)
        self.player.set_state(Gst.State.NULL)
        self.report(stats)
        return self.failed

    def expect(self, holds, what):
        print(what)
        if not holds:
            self.failed.append(what)

    def report(self, stats):
        watch = self.watch
        self.expect(watch.frames >= 0.5 * self.seconds * RATE,
                    '%.1f s were heard' % (watch.frames / RATE))
        print('the player left out %d frames' % watch.pauses)
        print('late buffers of the chain: %d, the worst load %.3f' % (
            stats.get_value('late'), stats.get_value('load-worst')))
        print('told: %d breaks' % watch.told)
        print('lost by the source, in frames, and whether it was told: %s'
              % self.source.lost[:10])
        lost, before = ([n for n, _ in w.lost] for w in (watch, self.source))
        # One buffer may be between the two.
        self.expect(lost in (before, before[:-1]),
                    'jumps of the count behind the chain: %s' % lost[:10])
        self.expect(len(self.latencies) == 1,
                    'latency told: %s ms' % sorted(self.latencies))
        print('stamps minus counts at the source: %s frames'
              % sorted(self.source.shifts)[:10])
        self.expect(watch.shifts and watch.shifts <= self.source.shifts,
                    'and behind the chain: %s frames' % sorted(watch.shifts)[:10])
        self.expect(0 < watch.bend < BEND, 'the sine bends by %.5f, at most %.5f'
                    % (watch.bend, BEND))
        least = [watch.lateness[k] / Gst.MSECOND for k in sorted(watch.lateness)]
        print('a buffer came at the earliest, in each 10 s, %.2f to %.2f ms after '
              'its time' % (min(least), max(least)))


def main():
    Gst.init([])
    with tempfile.TemporaryDirectory() as folder:
        sound = os.path.join(folder, 'count.f32')
        write_sound(sound)
        failed = Capture(sys.argv[1], float(sys.argv[2]), sound,
                         'lose' in sys.argv[3:]).run()
    for what in failed:
        print('wrong:', what)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
