#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gst-tfx serve: every command and error, what it refuses, and that no frame is lost.

  serve.py [[--without] NAME… | --skip]
"""
import json
import math
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.parse
import wave

from client import CLOSE, PING, RATE, TEXT, Server, Socket, amplitude, roughness

EQ = 'eq=ParametricEQ(1000, 1, 0)'
# Of a steady sine in F32; a frame that is missing makes it 1000 times as large.
SMOOTH = 1e-5
# Of a gain that ramps over 20 dB in 0.4 s, if the server is late by some buffers; in
# 10 ms it would be three times as much.
SMOOTH_RAMP = 1e-4
# Of small changes and new chains, in 10 ms.
SMOOTH_SET = 1e-3


def db(ratio):
    return 20 * math.log10(ratio)


def check(condition, *told):
    if not condition:
        raise AssertionError(*told)


def check_error(answer, status, word=''):
    got, text = answer
    check(got == status and word in text['error']['message'], answer)


def check_smooth(server, most=SMOOTH):
    """No frame is missing, and no step was heard, since 0.1 s after the start."""
    server.sound.wait(RATE // 4)
    rough = roughness(server.sound.samples[RATE // 10:], server.freq_hz)
    check(rough < most, rough)


# ---- commands ------------------------------------------------------------------------


def test_reading_commands():
    with Server(EQ) as server:
        server.sound.wait(4800)
        status, state = server.get('state')
        state = state['ok']
        check(status == 200 and state['rate'] == RATE and
              state['channels'] == 1 and state['output_channels'] == 1 and
              state['playing'] and not state['bypassed'] and
              state['clients'] == 0 and 0 <= state['load'] <= 1 and
              state['position_s'] > 0 and state['dropped'] == 0, state)
        chain = server.get('chain')[1]['ok']
        check(chain['chain'] == EQ)
        stage, = chain['stages']
        check(stage['name'] == 'eq' and stage['class'] == 'ParametricEQ')
        frequency = stage['parameters'][0]
        check(frequency == {
            'name': 'frequency', 'unit': 'Hz', 'value': 1000.0, 'default': None,
            'min': 0.0, 'max': RATE / 2, 'log': True, 'integer': False,
            'choices': None, 'doc': 'centre frequency'}, frequency)
        check(server.get('parameters')[1]['ok']['stages'] == chain['stages'])
        classes = {c['name']: c for c in server.get('classes')[1]['ok']}
        check('octaves' in next(
            p for p in classes['ParametricEQ']['parameters']
            if p['name'] == 'q_scale')['choices'])
        for klass in classes.values():
            status, answer = server.post('check', chain=klass['example'])
            check(status == 200 or 'files are not allowed' in
                  answer['error']['message'] or 'channel' in
                  answer['error']['message'], klass['name'], answer)
        check(server.http('GET', '/')[0] == 200)
        check(server.http('GET', '/page.js')[0] == 200)
        for path in ('/../../etc/passwd', '/%2e%2e/%2e%2e/etc/passwd',
                     '//etc/passwd', '/page.js/../../../serve.conf', '/none',
                     '/api/v1/../../etc/passwd', '/api/v2/state'):
            status, text = server.http('GET', path)
            check(status in (400, 404) and b'root:' not in text, path, status)


def test_errors():
    with Server(EQ) as server:
        check_error(server.get('no-such'), 404, "no command 'no-such'")
        check_error(server.get('set'), 405, 'POST')
        check_error(server.post('set', stage='x', parameter='gain', value=1),
                    422, "no stage 'x'")
        check_error(server.post('set', stage='eq', parameter='x', value=1),
                    422, "no parameter 'x'")
        check_error(server.post('set', stage='eq', parameter='gain'), 400)
        check_error(server.post('set', stage='eq', parameter='gain',
                                value={'a': 1}), 400)
        check_error(server.post('set', stage='eq', parameter='gain',
                                value=121), 422, 'out of range')
        check_error(server.post('set', stage='eq', parameter='q_scale',
                                value='x'), 422, "'octaves'")
        check_error(server.post('set', stage='eq', parameter='gain', value=1,
                                ramp_ms=-1), 400, 'ramp_ms is -1, but must be from 0 to 60000')
        check_error(server.post('set', stage='eq', parameter='q_scale',
                                value='octaves', ramp_ms=10), 422, 'ramp')
        check_error(server.post('set-chain'), 400, 'chain')
        check_error(server.post('bypass', on=1), 400, 'on')
        check_error(server.post('seek', position_s=1), 422, 'sought')
        check_error(server.get('response?points=1'), 400, 'points')
        check_error(server.get('response?from=0'), 400, 'from is 0')
        check_error(server.get('response?from=30000'), 400,
                    'from is 30000 Hz, but must not be above to, 20000 Hz')
        server.sound.wait(4800)
        check_error(server.get('response?channel=1'), 400,
                    'channel is 1, but must be from 0 to 0')
        check_error(server.post('load-preset', name='x'), 422, '--presets')
        status, text = server.http('POST', '/api/v1/set', '[1]')
        check(status == 400)
        status, answer = server.post('check', chain=EQ + ' | Gian(2)')
        check(status == 422 and answer['error']['line'] == 1 and
              answer['error']['column'] == len(EQ) + 4 and
              answer['error']['length'] == 4 and
              "'Gain'" in answer['error']['message'], answer)
        # What is refused changes nothing.
        check(server.post('set-chain', chain='Gain(')[0] == 422)
        check(server.get('chain')[1]['ok']['chain'] == EQ)
        check_smooth(server, SMOOTH)


def test_two_clients():
    """Both see what one of them changes, and by whom."""
    with Server(EQ) as server:
        a, b = Socket(server), Socket(server)
        me = a.ok('state')['client']
        check(b.ok('state')['client'] != me and b.ok('state')['clients'] == 2)
        check(a.ok('set', stage='eq', parameter='gain', value=3)['value'] == 3)
        event = b.event('parameter')
        check(event == {'event': 'parameter', 'stage': 'eq', 'by': me,
                        'parameter': 'gain', 'value': 3.0}, event)
        check(a.event('parameter') == event)
        # A word, a list and None go through the text.
        check(a.ok('set', stage='eq', parameter='q_scale',
                   value='octaves')['value'] == 'octaves')
        check(b.event('parameter')['value'] == 'octaves')
        new = 'm=Mix([[1]]) | d=Delay(480)'
        check(a.ok('set-chain', chain=new)['chain'] == new)
        event = b.event('chain')
        check(event['by'] == me and event['chain'] == new and
              len(event['stages']) == 2, event)
        check(a.ok('set', stage='m', parameter='gains',
                   value=[[0.5]])['value'] == [[0.5]])
        check(b.event('parameter')['value'] == [[0.5]])
        server.post('bypass', on=True)
        check(b.event('state')['bypassed'])
        # None of two changes at once is lost; one may have to be made again.
        a.ok('set-chain', chain=EQ)
        for i in range(20):
            a.send({'id': 'a', 'do': 'set', 'stage': 'eq',
                    'parameter': 'q_scale',
                    'value': 'linear' if i % 2 else 'octaves'})
            b.ok('set', stage='eq', parameter='gain', value=i)
            while (answer := a.receive()).get('id') != 'a':
                pass
            check('ok' in answer or 'try again' in answer['error']['message'])
            chain = b.ok('chain')['chain']
            check(f'gain={i}' in chain and ('error' in answer or
                  (i % 2 == 0) == ('octaves' in chain)), chain, answer)
        # Nor is one of two slots that two clients exchange.
        a.ok('ab')
        a.ok('set-chain', chain='g=Gain(0.5)')
        for _ in range(5):
            for client in a, b:
                client.send({'id': 'ab', 'do': 'ab'})
            for client in a, b:
                while (answer := client.receive()).get('id') != 'ab':
                    pass
                check('ok' in answer or 'try again' in answer['error']['message'])
        check({a.ok('chain')['chain'], a.ok('ab')['chain']} == {chain, 'g=Gain(0.5)'})
        # Answers have the ids of their requests, in their order.
        for i in 'xyz':
            a.send({'id': [i, None], 'do': 'check', 'chain': EQ})
        check([a.receive()['id'][0] for _ in 'xyz'] == list('xyz')
              if not a.events else True)
        a.close()
        while b.ok('state')['clients'] > 1:
            time.sleep(0.05)


def test_subscriptions():
    with Server(EQ + ' | Limiter(-30)') as server:
        a = Socket(server)
        check(a.ok('subscribe', meters=50, spectrum=10) ==
              {'meters': 50, 'spectrum': 10})
        a.event('meters')
        # (Momentary loudness begins after 0.4 s of sound.)
        server.sound.wait(RATE)
        events = [a.event('meters') for _ in range(100)]
        meters = events[-1]
        # The sine has 0.25 of full scale.
        check(abs(meters['input']['peak_db'][0] - db(0.25)) < 0.05, meters)
        # (An event need not have whole periods.)
        rms = sorted(e['input']['rms_db'][0] for e in events[-50:])[25]
        check(abs(rms - db(0.25) + 3.01) < 0.05, rms)
        check(abs(meters['output']['peak_db'][0] + 30) < 0.1, meters)
        check(-36 < meters['output']['momentary_lufs'] < -30, meters)
        check(abs(meters['reduction_db']['limiter0'] + 30 + db(0.25)) < 0.5,
              meters)
        spectrum = a.event('spectrum')
        n = len(spectrum['db'])
        lines = [spectrum['from_hz'] * (spectrum['to_hz'] / spectrum['from_hz'])
                 ** (i / (n - 1)) for i in range(n)]
        loudest = max(range(n), key=lambda i: spectrum['db_input'][i])
        check(abs(math.log2(lines[loudest] / 1000)) < 1 / 24, lines[loudest])
        check(a.ok('subscribe', meters=0, spectrum=0) ==
              {'meters': 0, 'spectrum': 0})


def test_rates():
    """Events come at the rate that was asked for."""
    with Server(EQ) as server:
        clients = [(hz, Socket(server)) for hz in (1, 7, 33, 50)]
        for hz, client in clients:
            client.ok('subscribe', meters=hz)
        for hz, client in clients:
            # (A busy machine may delay the first or the last one.)
            took, last = [], client.event('meters')['time_s']
            while not took or abs(took[-1] - 2) > 0.05:
                check(len(took) < 6, hz, took)
                first = last
                for _ in range(2 * hz):
                    last = client.event('meters')['time_s']
                took.append(last - first)


def test_many_channels():
    """A spectrum has the same level, whatever the number of channels."""
    levels = {}
    for n in 1, 63:
        source = (f'audiotestsrc is-live=true freq={Server.freq_hz} ! audio/x-raw,'
                  f'rate={RATE},channels={n},channel-mask=(bitmask)0')
        with Server('Gain(1)' if n == 1 else f'Mix([[{"1," + 62 * "0,"}]])',
                    source=source) as server:
            a = Socket(server)
            check(a.ok('subscribe', spectrum=10)['spectrum'] == 10)
            server.sound.wait(RATE)
            for _ in range(20):
                spectrum = a.event('spectrum')
            levels[n] = max(spectrum['db_input'])
    check(abs(levels[1] - levels[63]) < 0.1, levels)


def test_channels():
    """A chain that the input or the sink cannot have is refused."""
    source = ('audiotestsrc is-live=true samplesperbuffer=128 ! '
              f'audio/x-raw,rate={RATE},channels=2')
    with Server('Mix([[1, 0]])', source=source) as server:
        a = Socket(server)
        server.sound.wait(4800)
        for chain, word in (('Mix([[1, 0, 0]])', '2 channels'),
                            ('Mix([[1, 0], [0, 1], [1, 1]])', '3 output channels')):
            for do in 'set-chain', 'check':
                error = a.ask(do, chain=chain).get('error')
                check(error and word in error['message'], chain, error)
        error = a.ask('set', stage='mix0', parameter='gains',
                      value=[[1, 0], [0, 1], [1, 1]]).get('error')
        check(error and '3 output channels' in error['message'], error)
        a.ok('set-chain', chain='Mix([[1, 0], [0, 1]])')
        check(a.ok('chain')['chain'] == 'Mix([[1, 0], [0, 1]])')
        server.sound.wait(RATE)
        check(a.ok('state')['output_channels'] == 2)
    # The sink may give positions to others.
    with Server('Gain(1)', '-o', 'audio/x-raw,channels=4,channel-mask=(bitmask)0x33 ! '
                'fakesink sync=true', source=source) as server:
        a = Socket(server)
        while a.ok('state')['output_channels'] == 0:
            time.sleep(0.05)
        check('error' in a.ask('set-chain', chain='Mix([[1, 0], [0, 1], [1, 1]])'))
        a.ok('set-chain', chain='Mix([[1, 0], [0, 1], [1, 0], [0, 1]])')
        while a.ok('state')['output_channels'] != 4:
            time.sleep(0.05)
    # What a chain takes away, bypass would bring back.
    with Server('m=Mix([[1, 0, 0], [0, 1, 0]])', '-o',
                'audio/x-raw,channels=2 ! fakesink sync=true',
                source=source[:-1] + '3,channel-mask=(bitmask)0') as server:
        a = Socket(server)
        while a.ok('state')['output_channels'] == 0:
            time.sleep(0.05)
        for do, more in ('bypass', {'on': True}), ('set-chain', {'chain': 'Gain(0.01)'}):
            error = a.ask(do, **more).get('error')
            check(error and '3 ' in error['message'] and
                  'which the sink does not take' in error['message'], do, error)
        check(not a.ok('state')['bypassed'] and a.ok('chain')['chain'].startswith('m=Mix'))
    # Channels of the input keep their positions.
    with Server('Gain(1)', source=source[:-1] + '6,channel-mask=(bitmask)0x3f') as server:
        a = Socket(server)
        server.sound.wait(4800)
        a.ok('set-chain', chain='Gain(0.5)')
        server.sound.wait(RATE)
        check(a.ok('state')['output_channels'] == 6)


def test_long_chain():
    """The server answers at once, whatever the length of the chain."""
    with Server(' | '.join(1000 * ['Gain(1)'])) as server:
        a = Socket(server)
        a.ok('subscribe', meters=50)
        server.sound.wait(4800)
        took = []
        for _ in range(10):
            begin = time.monotonic()
            a.ok('state')
            took.append(time.monotonic() - begin)
        check(min(took) < 0.3, took)


def test_peaks_for_all():
    """Each client gets each peak, whatever its rate and the others'."""
    first = f'Mix([[{", ".join("1" + 31 * "0")}]])'
    with Server(first + ' | Limiter(-30)', source=(
            # (GStreamer 1.22 leaves memory between wave=ticks unset.)
            'audiotestsrc is-live=true samplesperbuffer=128 freq=2 ! '
            f'audio/x-raw,rate={RATE},channels=32,channel-mask=(bitmask)0')
                ) as server:
        server.sound.wait(RATE // 2)
        slow = [Socket(server) for _ in 'xy']
        fast = Socket(server)
        for client in slow:
            client.ok('subscribe', meters=1)
        fast.ok('subscribe', meters=50)
        for client in slow:
            client.event('meters')
            events = [client.event('meters') for _ in range(5)]
            # (A source on a busy machine may be late.)
            good = [all(db is not None and db > -2 for db in e['input']['peak_db'])
                    and e['reduction_db']['limiter0'] < -27.9 for e in events]
            check(sum(good) >= 4, events)


# ---- the sound -----------------------------------------------------------------------


def test_response_is_the_sound():
    """The level of the sink changes as the response says."""
    with Server(EQ) as server:
        a = Socket(server)
        for gain, q, hz in (0, 1, 1000), (6, 1, 1000), (-12, 2, 700), (9, 1, 1500):
            for name, value in ('gain', gain), ('q', q), ('frequency', hz):
                a.ok('set', stage='eq', parameter=name, value=value)
            said = a.ok('response', **{'from': 1000, 'to': 1000.001, 'points': 2})
            server.sound.wait(RATE // 4)
            heard = db(amplitude(server.sound.wait(RATE // 4)) / server.level)
            check(abs(heard - said['db'][0]) < 0.1, heard, said)
        check(0 < a.ok('state')['load'] < 1)
        # That of another chain; its phase.
        said = a.ok('response', chain='Gain(-2)', points=3)
        check(max(abs(d - db(2)) for d in said['db']) < 1e-9 and
              abs(abs(said['phase_rad'][1]) - math.pi) < 1e-9, said)
        check(said['frequencies'][0] == 20 and
              abs(said['frequencies'][2] - 20000) < 1e-6)


def find_ramp(samples, low, high):
    """The number of samples between the last peak below one level and the first above
    another, or the other way round."""
    half = RATE // Server.freq_hz // 2
    peaks = [max(abs(x) for x in samples[i:i + half])
             for i in range(0, len(samples) - half, half)]
    rising = peaks[-1] > peaks[0]
    peaks = peaks if rising else peaks[::-1]
    first = max(i for i, p in enumerate(peaks) if p < low)
    last = min(i for i, p in enumerate(peaks) if p > high)
    return (last - first) * half


def test_ramp():
    """A ramp has no click, takes its time, and ends at its value."""
    with Server("g=Gain(0, gain_type='db')") as server:
        a = Socket(server)
        server.sound.wait(RATE // 10)
        first = server.sound.count()
        a.ok('set', stage='g', parameter='gain', value=-20, ramp_ms=400)
        server.sound.wait(RATE)
        samples = server.sound.samples[first:]
        check(roughness(samples, 1000) < SMOOTH_RAMP, roughness(samples, 1000))
        after = amplitude(samples[-RATE // 10:]) / server.level
        check(abs(db(after) + 20) < 0.01, db(after))
        # From 1 % of the way to 99 %, in dB.
        span = find_ramp(samples, 0.25 * 10 ** (-19.8 / 20),
                         0.25 * 10 ** (-0.2 / 20))
        check(abs(span - 0.98 * 0.4 * RATE) < 0.03 * RATE, span)
        # A shorter one of another parameter does not end it.
        server.post('set-chain', chain="g=Gain(0, gain_type='db') | h=Gain(1)")
        server.sound.wait(RATE // 2)
        a.ok('set', stage='g', parameter='gain', value=-30, ramp_ms=3000)
        a.ok('set', stage='h', parameter='gain', value=0.9, ramp_ms=10)
        server.sound.wait(5 * RATE // 4)
        levels = []
        for _ in range(6):
            levels.append(db(amplitude(server.sound.wait(RATE // 10)) / server.level))
        check(all(abs(y - x + 1) < 0.2 for x, y in zip(levels, levels[1:])), levels)
        server.post('set-chain', chain="g=Gain(-20, gain_type='db')")
        server.sound.wait(RATE // 2)
        # Another ramp takes over where the first one is.
        first = server.sound.count()
        a.ok('set', stage='g', parameter='gain', value=0, ramp_ms=500)
        server.sound.wait(RATE // 8)
        a.ok('set', stage='g', parameter='gain', value=-20, ramp_ms=300)
        server.sound.wait(2 * RATE)
        samples = server.sound.samples[first:]
        check(roughness(samples, 1000) < SMOOTH_RAMP, roughness(samples, 1000))
        check(a.ok('chain')['chain'] == "g=Gain(-20, gain_type='db')")
        after = amplitude(server.sound.wait(RATE // 10)) / server.level
        check(abs(db(after) + 20) < 0.01, db(after))


def levels_of(samples, server):
    """In dB, of each 0.1 s."""
    return [db(max(amplitude(samples[i:i + 4800]) / server.level, 1e-9))
            for i in range(0, len(samples) - 4800, 4800)]


def test_ramp_goes_on():
    """A ramp waits while the stream is paused, and survives the new start of a live stream
    for another look-ahead."""
    with Server("g=Gain(0, gain_type='db')") as server:
        a = Socket(server)
        server.sound.wait(RATE // 10)
        first = server.sound.count()
        a.ok('set', stage='g', parameter='gain', value=-40, ramp_ms=4000)
        server.sound.wait(RATE)
        a.ok('pause')
        time.sleep(6)
        a.ok('play')
        server.sound.wait(6 * RATE)
        levels = levels_of(server.sound.samples[first:], server)
        # (1 dB in each 0.1 s, but where the stream was paused.)
        check(abs(levels[-1] + 40) < 0.1, levels)
        check(max(abs(y - x) for x, y in zip(levels, levels[1:])) < 4, levels)
        a.ok('set-chain', chain="g=Gain(0, gain_type='db')")
        server.sound.wait(RATE)
        for do, more in (('set-chain', {'chain': "g=Gain(0, gain_type='db') | Limiter(0)"}),
                         ('set', {'stage': 'g', 'parameter': 'gain', 'value': -40,
                                  'ramp_ms': 4000})):
            a.send({'id': do, 'do': do, **more})
        server.sound.wait(RATE // 2)
        first = server.sound.count()
        server.sound.wait(5 * RATE)
        levels = levels_of(server.sound.samples[first:], server)
        check(levels[0] > -20 and abs(levels[-1] + 40) < 0.1, levels)
        check(max(abs(y - x) for x, y in zip(levels, levels[1:])) < 4, levels)


def test_chains_and_slots():
    """Chains with and without look-ahead replace each other; both slots keep theirs."""
    with Server('g=Gain(1)') as server:
        a = Socket(server)
        check(a.ok('state')['slot'] == 'a')
        answer = a.ok('ab')
        check(answer == {'slot': 'b', 'chain': 'g=Gain(1)'}, answer)
        a.ok('set-chain', chain='g=Gain(0.5)')
        server.sound.wait(RATE // 4)
        check(abs(amplitude(server.sound.wait(4800)) - 0.125) < 1e-3)
        check_smooth(server, 0.01)
        check(a.ok('ab') == {'slot': 'a', 'chain': 'g=Gain(1)'})
        server.sound.wait(RATE // 4)
        check(abs(amplitude(server.sound.wait(4800)) - 0.25) < 1e-3)
        # Another look-ahead needs a new start.
        a.ok('set-chain', chain='l=Limiter(-20, lookahead=0.01)')
        server.sound.wait(RATE // 2)
        check(abs(amplitude(server.sound.wait(4800)) - 0.1) < 1e-2)
        # A limiter's becomes another without one.
        first = server.sound.count()
        for ahead in 0.002, 0.005, 0.02:
            a.ok('set', stage='l', parameter='lookahead', value=ahead)
            server.sound.wait(RATE // 4)
        rough = roughness(server.sound.samples[first:], 1000)
        check(rough < SMOOTH_SET, rough)
        a.ok('bypass', on=True)
        server.sound.wait(RATE // 2)
        check(abs(amplitude(server.sound.wait(4800)) - 0.25) < 1e-3)
        # A bypassed chain can be changed.
        a.ok('set', stage='l', parameter='threshold', value=-26)
        check('-26' in a.ok('chain')['chain'])
        a.ok('bypass', on=False)
        server.sound.wait(RATE // 2)
        check(abs(amplitude(server.sound.wait(4800)) - 0.05) < 5e-3)
        # So does the delay of a FIR, of one frame.
        a.ok('set-chain', chain='f=FIR([1, 1])')
        check(a.ok('set', stage='f', parameter='delay', value=3) == {'value': 1})
        check(a.ok('chain')['chain'] == 'f=FIR([1, 1], delay=1)')
        server.sound.wait(RATE // 4)
        check(not [e for e in a.events if e.get('event') == 'warning'],
              a.events)


def test_file():
    """A file is sought, paused, played to its end, and repeated."""
    folder = os.environ.get('TMPDIR', '/tmp')
    path = os.path.join(folder, f'tfx-serve-{os.getpid()}.wav')
    subprocess.run(['gst-launch-1.0', '-q', 'audiotestsrc', 'num-buffers=50',
                    'samplesperbuffer=960', '!', f'audio/x-raw,rate={RATE}',
                    '!', 'wavenc', '!', 'filesink', f'location={path}'],
                   check=True)
    try:
        with Server('Gain(1)', '--input', path) as server:
            a = Socket(server)
            server.sound.wait(1)
            a.ok('pause')
            check(not a.ok('state')['playing'])
            a.ok('seek', position_s=0.5)
            while abs(a.ok('state')['position_s'] - 0.5) > 0.01:
                time.sleep(0.01)
            a.events.clear()
            a.ok('play')
            a.event('state')
            check(not a.event('state')['playing'])  # its end
            a.ok('play')
            check(a.ok('state')['position_s'] < 0.9)
        with Server('Gain(1)', '--input', path, '--loop') as server:
            server.sound.wait(3 * RATE)
        # One without frames ends.
        with wave.open(path, 'wb') as file:
            file.setparams((1, 2, RATE, 0, 'NONE', None))
        with Server('Gain(1)', '--input', path, '--loop') as server:
            a = Socket(server)
            while a.ok('state')['playing']:
                time.sleep(0.05)
    finally:
        os.unlink(path)


def test_live_end():
    """A live source that has ended begins again, too."""
    source = ('audiotestsrc is-live=true num-buffers=10 samplesperbuffer=2400 ! '
              f'audio/x-raw,rate={RATE},channels=1')
    with Server(EQ, '-o', 'fakesink sync=true', source=source) as server:
        a = Socket(server)
        for _ in range(2):
            begin = time.monotonic()
            while a.ok('state')['playing']:
                check(time.monotonic() - begin < 20)
                time.sleep(0.05)
            check(a.ok('play')['playing'])


CAMILLA = """
devices: {samplerate: 48000, chunksize: 1024}
filters:
  less: {type: Gain, parameters: {gain: -6, inverted: false}}
pipeline:
  - {type: Filter, channels: [0], names: [less]}
"""


def test_camilla():
    """The commands of CamillaDSP, at its path."""
    with Server(EQ) as server:
        client = Socket(server, '/')

        def ask(command, *argument):
            client.send({command: argument[0]} if argument else f'"{command}"')
            answer = client.receive()
            check(list(answer) == [command], answer)
            return answer[command]

        def value(command, *argument):
            answer = ask(command, *argument)
            check(answer['result'] == 'Ok', command, answer)
            return answer.get('value')

        server.sound.wait(RATE // 2)
        check(value('GetVersion').count('.') == 2)
        check(value('GetState') == 'Running')
        check(value('GetCaptureRate') == RATE)
        check(value('GetVolume') == 0 and value('GetMute') is False)
        check(abs(value('GetCaptureSignalPeak')[0] - db(0.25)) < 0.05)
        check(abs(value('GetSignalRange') - 0.5) < 0.01)
        for command in ('GetStopReason', 'GetSupportedDeviceTypes',
                        'GetUpdateInterval', 'GetProcessingLoad',
                        'GetRateAdjust', 'GetCaptureSignalRms',
                        'GetPlaybackSignalPeak', 'GetPlaybackSignalRms',
                        'GetClippedSamples', 'GetBufferLevel',
                        'GetResamplerLoad', 'GetConfigFilePath',
                        'GetStateFilePath', 'GetStateFileUpdated',
                        'GetChannelLabels'):
            value(command)
        check(value('GetAvailablePlaybackDevices', 'Alsa') == [])
        # The level of the sine: of the last block, of 0.3 s, since the last request.
        sides = {f'{side}_{kind}' for side in ('capture', 'playback')
                 for kind in ('peak', 'rms')}
        for suffix, argument in ('', ()), ('Since', (0.3,)), ('SinceLast', ()):
            for side, kind, level in (
                    ('Capture', 'Peak', 0), ('Playback', 'Rms', -3.01)):
                levels = value(f'Get{side}Signal{kind}{suffix}', *argument)
                check(abs(levels[0] - db(0.25) - level) < 0.05, suffix, levels)
            check(set(value('GetSignalLevels' + suffix, *argument)) == sides)
        # There is nothing since the last request, or one block.
        check([] in [value('GetCaptureSignalPeakSinceLast') for _ in range(9)])
        check(len(value('GetPlaybackSignalPeakSinceLast')) == 1)
        value('SetVolume', -20)
        check(value('AdjustVolume', -6) == -26 and value('GetVolume') == -26)
        check(value('AdjustVolume', [-50, -30, 0]) == -30)
        check(value('AdjustFaderVolume', [0, 4]) == [0, -26])
        check(value('GetFaderVolume', 0) == [0, -26])
        check(value('GetFaderMute', 4) == [4, False])
        check([f['volume'] for f in value('GetFaders')] == [-26, 0, 0, 0, 0])
        for command, argument in ('SetFaderVolume', [1, 0]), ('GetFaderMute', 5):
            check(ask(command, argument)['result'] == 'InvalidFaderError', command)
        server.sound.wait(RATE // 4)
        heard = db(amplitude(server.sound.wait(4800)) / 0.25)
        check(abs(heard + 26) < 0.05, heard)
        check(value('ToggleMute') is True)
        server.sound.wait(RATE // 4)
        check(amplitude(server.sound.wait(4800)) < 1e-5)
        check(value('ToggleFaderMute', 0) == [0, False])
        value('SetFaderMute', [0, True])
        check(value('GetMute') is True)
        value('SetMute', False)
        value('SetFaderVolume', [0, 0])
        check(value('GetConfig') == 'null')
        check(value('ValidateConfig', CAMILLA) == CAMILLA)
        check(server.get('chain')[1]['ok']['chain'] == EQ)
        value('SetConfig', CAMILLA)
        check(value('GetConfig') == CAMILLA)
        config = json.loads(value('GetConfigJson'))
        check(config['devices'] == {'samplerate': 48000, 'chunksize': 1024})
        check(config['filters']['less']['parameters'] == {
            'gain': -6, 'inverted': False}, config)
        check(value('ValidateConfigJson', json.dumps(config)) == json.dumps(config))
        server.post('set-chain', chain=EQ)
        value('Reload')
        server.sound.wait(RATE // 4)
        heard = db(amplitude(server.sound.wait(4800)) / 0.25)
        check(abs(heard + 6) < 0.05, heard)
        for bad in 'x', CAMILLA + 'wrong: 1', CAMILLA.replace(
                'type: Gain', 'type: Conv').replace(
                    'gain: -6, inverted: false', 'type: Wav, filename: /x.wav'):
            (error, reason), = ask('SetConfig', bad)['result'].items()
            check(error in ('ConfigReadError', 'ConfigValidationError') and reason)
        for bad in ('SetVolume', 'x'), ('SetMute', 1), ('NoSuch',):
            check('InvalidRequestError' in ask(*bad)['result'], bad)
        value('Stop')
        check(value('GetState') == 'Paused')
        value('SetConfigJson', json.dumps(config))
        check(value('GetState') == 'Running')
        client.send('{')
        check('error' in client.receive())
        client.send('"Exit"')
        check(server.process.wait(60) == 0)


# ---- presets, files ------------------------------------------------------------------


def test_presets():
    with Server(EQ) as folder:
        presets = folder.path('presets')
        with Server(EQ, '--presets', presets) as server:
            a = Socket(server)
            check(a.ok('presets') == {'names': [], 'current': None})
            a.ok('save-preset', name='ä b')
            check(a.event('preset')['name'] == 'ä b')
            a.ok('set-chain', chain='Gain(0.5)')
            check(a.ok('save-preset', name='half') ==
                  {'names': ['half', 'ä b'], 'current': 'half'})
            check(a.ok('load-preset', name='ä b')['chain'] == EQ)
            check(a.ok('state')['preset'] == 'ä b')
            for name in ('../x', '/x', '', '.x', 'a/b', 'a\\b', 'x' * 101,
                         'a\nb', 3, None):
                for do in 'load-preset', 'save-preset', 'delete-preset':
                    check('error' in a.ask(do, name=name), do, name)
            check(os.listdir(presets) and all(
                n.endswith('.chain') for n in os.listdir(presets)))
            with open(os.path.join(presets, 'bad.chain'), 'w') as file:
                file.write('Gain(2) | Gian(1)')
            answer = a.ask('load-preset', name='bad')
            check(answer['error']['column'] == 11, answer)
            a.ok('save-preset', name='half')
            a.events.clear()
            check(a.ok('delete-preset', name='half') ==
                  {'names': ['bad', 'ä b'], 'current': None})
            check(a.event('preset')['name'] is None)
            check('error' in a.ask('delete-preset', name='half'))
        # A preset may have the files that the owner's chain had when it was saved.
        write_kernel(folder.path('k.txt'))
        chain = f"Convolve('{folder.path('k.txt')}')"
        with Server(chain, '--presets', presets) as server:
            a = Socket(server)
            a.ok('save-preset', name='k')
            a.ok('set-chain', chain=EQ)
            check(a.ok('load-preset', name='k')['chain'] == chain)
            check('error' in a.ask('set-chain', chain=chain))


def write_kernel(path):
    with open(path, 'w') as file:
        file.write('0.5\n0.25\n')


def test_files():
    """Clients name files below --files alone; no link leads out."""
    with Server(EQ) as outer:
        files = outer.path('files')
        os.makedirs(files + '/sub')
        write_kernel(files + '/in.txt')
        write_kernel(files + '/sub/in.txt')
        write_kernel(outer.path('out.txt'))
        os.symlink(outer.path('out.txt'), files + '/link.txt')
        os.symlink(outer.folder, files + '/up')
        os.symlink('in.txt', files + '/good.txt')
        with Server(f"Convolve('{outer.path('out.txt')}')", '--files',
                    files) as server:
            a = Socket(server)
            for name in 'in.txt', 'sub/in.txt', 'good.txt', files + '/in.txt':
                a.ok('set-chain', chain=f"c=Convolve('{name}')")
                check(files + '/' in a.ok('chain')['chain'])
            for name in ('link.txt', 'up/out.txt', '../out.txt',
                         outer.path('out.txt'), '/etc/passwd', '.', '',
                         'none.txt', files, 'sub/../../out.txt'):
                for do in 'check', 'set-chain', 'response':
                    answer = a.ask(do, chain=f"Convolve('{name}')")
                    check('error' in answer, name)
                answer = a.ask('set', stage='c', parameter='location',
                               value=name)
                check('error' in answer, name)
            check(a.ok('set', stage='c', parameter='location',
                       value='sub/in.txt')['value'] == files + '/sub/in.txt')


# ---- who may ask ---------------------------------------------------------------------


def test_hosts_and_origins():
    with Server(EQ) as server:
        own = f'localhost:{server.port}'
        for host, origin, status in (
                (own, None, 200), (own, 'http://' + own, 200),
                ('127.0.0.1', None, 200), ('[::1]:99', None, 200),
                ('evil.example', None, 403), ('localhost.evil.example', None, 403),
                ('127.0.0.1.evil.example', None, 403), ('', None, 400),
                (own, 'http://evil.example', 403), (own, 'null', 403),
                (own, 'http://localhost', 403), (own, 'http://' + own + '0', 403),
                (own, 'file://' + own, 403)):
            headers = {'Host': host}
            if origin:
                headers['Origin'] = origin
            got, text = server.http('GET', '/api/v1/state', headers=headers)
            check(got == status or (status == 400 and got == 403), host, origin,
                  got)
        check(Socket(server, headers=['Origin: http://evil.example']).status ==
              403)
        check(Socket(server, headers=['Origin: http://' + own]).status == 101)
    # That of a proxy.
    with Server(EQ, '--host', 'eq.example') as server:
        for host, origin, status in (
                ('eq.example', 'https://eq.example', 200),
                ('EQ.example:81', 'http://eq.example:81', 200),
                ('eq.example', 'https://evil.example', 403),
                ('evil.example', 'https://evil.example', 403)):
            got, _ = server.http('GET', '/api/v1/state',
                                 headers={'Host': host, 'Origin': origin})
            check(got == status, host, origin, got)


def test_token():
    with Server(EQ) as outer:
        path = outer.path('new/token')
        with Server(EQ, '--listen', '127.0.0.1', '--token-file', path) as server:
            with open(path) as file:
                token = file.read()
            check(os.stat(path).st_mode & 0o777 == 0o600 and len(token) == 48)
            check(server.url.endswith('#token=' + token))
            for given, status in (
                    (None, 401), ('', 401), (token[:-1], 401),
                    (token[:-1] + 'x', 401), (token + 'x', 401), (token, 200)):
                headers = {}
                if given is not None:
                    headers['Authorization'] = 'Bearer ' + given
                got, _ = server.http('GET', '/api/v1/state', headers=headers,
                                     host='127.0.0.1')
                check(got == status, given, got)
            get = '/api/v1/state?token='
            check(server.http('GET', get + token, host='127.0.0.1')[0] == 200)
            check(server.http('GET', get + 'x', host='127.0.0.1')[0] == 401)
            check(Socket(server).status == 401)
            check(Socket(server, '/api/v1/socket?token=' + token).status == 101)
            # The page itself has no secrets.
            check(server.http('GET', '/', host='127.0.0.1')[0] == 200)
        # One that is somebody's own; the printed address has it whole.
        with open(path, 'w') as file:
            file.write('a+b/c==&d%41e #f')
        with Server(EQ, '--listen', '::1', '--token-file', path) as server:
            said = urllib.parse.urlsplit(server.url)
            check(said.hostname == '::1')
            check(urllib.parse.parse_qs(said.fragment) == {'token': ['a+b/c==&d%41e #f']})
            got, _ = server.http('GET', '/api/v1/state?' + said.fragment, host='::1')
            check(got == 200, got)


def test_silent_connections():
    """Connections without a whole request keep nobody out."""
    with Server(EQ) as server:
        a = Socket(server)
        silent = []
        for i in range(800):
            silent.append(socket.create_connection(('127.0.0.1', server.port)))
            silent[-1].sendall(b'GET / HTTP/1.1\r\nX: ' if i % 2 else
                               b'POST /api/v1/set HTTP/1.1\r\nHost: evil.example\r\n'
                               b'Content-Length: 9\r\n\r\n{')
        check(server.get('state')[0] == 200)
        check(a.ok('state')['playing'])
        for client in silent:
            client.close()
        check_smooth(server)


def run(*arguments):
    done = subprocess.run(
        ['gst-tfx', 'serve', '-s', 'audiotestsrc', '-o', 'fakesink', *arguments],
        capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_statuses():
    """Exit statuses: 0 after a signal, 1 if it cannot serve, 2 for wrong options."""
    with Server(EQ) as outer:
        wide, short = outer.path('wide'), outer.path('short')
        for path, mode in (wide, 0o644), (short, 0o600):
            with open(path, 'w') as file:
                file.write('x' * (32 if path == wide else 5))
            os.chmod(path, mode)
        for status, word, arguments in (
                (1, '', ['--port', str(outer.port), EQ]),
                (1, '/none.wav: cannot be read: No such file',
                 ['--port', '0', '--input', '/none.wav', EQ]),
                (2, '/none: it is not a folder', ['--files', '/none', EQ]),
                (2, 'wide/x: Not a directory', ['--presets', wide + '/x', EQ]),
                (2, '--token-file', ['--listen', '0.0.0.0', EQ]),
                (2, 'chmod 600', ['--token-file', wide, EQ]),
                (2, '16 characters', ['--token-file', short, EQ]),
                (2, 'port', ['--port', '65536', EQ]),
                (2, 'chain', []), (2, 'chain', [EQ, EQ]),
                (2, 'no class', ['Gian(1)'])):
            got, errors = run(*arguments)
            check(got == status and word in errors, arguments, got, errors)
    for number in signal.SIGTERM, signal.SIGINT:
        server = Server(EQ)
        Socket(server).ok('state')
        server.process.send_signal(number)
        check(server.process.wait(60) == 0, number)
        server.sound.join(60)
    # Also if there is more to do at any time.
    chain = ' | '.join(100 * ['HiButterworth(80, order=8)'])
    server = Server(EQ)

    def hurry(client):
        try:
            while True:
                for _ in range(50):
                    client.send({'do': 'check', 'chain': chain})
                for _ in range(25):
                    client.receive()
        except (OSError, EOFError):
            pass

    for _ in range(3):
        threading.Thread(target=hurry, args=[Socket(server)], daemon=True).start()
    time.sleep(1)
    server.process.send_signal(signal.SIGTERM)
    try:
        check(server.process.wait(60) == 0)
    finally:
        server.process.kill()


def test_config():
    """The file has the options; its chain is taken when it is saved, and a wrong one
    is reported."""
    with Server(EQ) as outer:
        path = outer.path('serve.conf')

        def save(chain, more=''):
            with open(path + '.new', 'w') as file:
                file.write(f'[serve]\nchain={chain}\nloop=false\n{more}')
            os.rename(path + '.new', path)

        save('g=Gain(0.5)')
        with Server(None, '--config', path) as server:
            a = Socket(server)
            check(a.ok('chain')['chain'] == 'g=Gain(0.5)')
            save('g=Gain(0.25)')
            check(a.event('chain')['chain'] == 'g=Gain(0.25)')
            save('g=Gian(1)')
            said = server.process.stderr.readline()
            check("no class 'Gian'" in said, said,
                  server.process.stderr.readline() if said == '\n' else '')
            check(a.ok('chain')['chain'] == 'g=Gain(0.25)')
            save('g=Gain(0.125)')
            check(a.event('chain')['chain'] == 'g=Gain(0.125)')
        for more, word in (
                ('prt=1', "no option 'prt'"),
                ('port=x', "port is 'x', but must be a whole number"),
                ('quiet=x', "quiet is 'x', but must be true or false")):
            save('g=Gain(1)', more + '\n')
            status, errors = run('--config', path)
            check(status == 2 and word in errors, errors)
        chain = outer.path('x.chain')
        with open(chain, 'w') as file:
            file.write('Gain(0.5)')
        with Server(None, '--chain-file', chain) as server:
            a = Socket(server)
            with open(chain, 'w') as file:
                file.write('Gain(0.25)  # less')
            check(a.event('chain')['chain'] == 'Gain(0.25)  # less')


def test_units():
    """systemd takes both units, which are confined."""
    if not shutil.which('systemd-analyze'):
        return '# SKIP systemd-analyze is not installed'
    program = os.path.realpath(shutil.which('gst-tfx') + '/../../serve/gst-tfx-serve')
    with tempfile.TemporaryDirectory(prefix='tfx-serve-') as folder:
        unit = os.path.join(folder, 'gst-tfx-serve.service')
        for kind, exposure in ('system', 20), ('user', 67):
            with open(f'{program}-{kind}.service') as file:
                text = re.sub(r'ExecStart=\S+', 'ExecStart=' + program, file.read())
            with open(unit, 'w') as file:
                file.write(text)
            for command in (['verify'],
                            ['security', '--offline=yes', f'--threshold={exposure}']):
                done = subprocess.run(
                    ['systemd-analyze', '--' + kind, '--man=no', *command, unit],
                    capture_output=True, text=True,
                    env={**os.environ, 'XDG_RUNTIME_DIR': folder})
                check(done.returncode == 0 and 'gst-tfx' not in done.stderr, done)


# ---- bad clients ---------------------------------------------------------------------


def ended(client, n=10000):
    """Whether a client comes to the end of its connection."""
    try:
        for _ in range(n):
            client.receive()
    except (EOFError, ConnectionError):
        return True
    return False


def test_large_requests():
    with Server(EQ) as server:
        before = server.memory()
        check(server.http('POST', '/api/v1/set-chain', 'x' * 70000)[0] == 413)
        check(server.http('POST', '/api/v1/set-chain', 'x' * 60000)[0] == 400)
        check(server.http('POST', '/api/v1/check', '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n',
                          {'Transfer-Encoding': 'chunked'})[0] == 413)
        check(server.http('POST', '/api/v1/check', '[' * 60000)[0] == 400)
        check(server.http('POST', '/api/v1/check', '{"a":' * 12000)[0] == 400)
        try:
            check(server.http('GET', '/' + 'x' * 100000)[0] == 400)
        except ConnectionError:
            pass
        a = Socket(server)
        a.send('{"id": 1, "do": "' + 'x' * 60000 + '"}')
        check('no command' in a.receive()['error']['message'])
        for text in '{"do": "state\\u0000"}', '[' * 60000, 'null', '{"do":', '\x00', '{"do": 3}', '{}':
            a.send(text)
            check('error' in a.receive(), text[:10])
        a.send('{"do": "' + 'x' * 70000 + '"}')
        check(ended(a))
        a = Socket(server)
        a.send_frame(2, b'{"do": "state"}')
        check('error' in a.receive())
        a.send_frame(TEXT, b'{"do": "\xff"}')
        check(ended(a))
        # 1 GB: a body is thrown away as it comes, a message refused by its length.
        with socket.create_connection(('127.0.0.1', server.port), 60) as client:
            client.sendall(b'POST /api/v1/check HTTP/1.1\r\nHost: localhost\r\n'
                           b'Content-Length: 1073741824\r\n\r\n{')
            for _ in range(32):
                client.sendall(b' ' * (1 << 20))
                check(server.get('state')[0] == 200)
        a = Socket(server)
        a.socket.sendall(b'\x81\xff' + struct.pack('>Q', 1 << 30) + bytes(100))
        check(ended(a))
        # A message without end.
        a = Socket(server)
        a.send_frame(TEXT, b'{', fin=False)
        try:
            for _ in range(10000):
                a.send_frame(0, b' ' * 1000, fin=False)
            check(ended(a))
        except ConnectionError:
            pass
        check(server.memory() - before < 16 << 20, server.memory() - before)
        check(server.get('state')[0] == 200)
        check_smooth(server, SMOOTH)


def test_slow_client():
    """A client that does not read is dropped before it costs memory; others and the
    sound do not notice."""
    with Server(EQ) as server:
        good = Socket(server)
        chains = [' | '.join([f'Gain({gain})'] * 100) for gain in (1, 1.001)]
        for chain in chains:
            good.ok('set-chain', chain=chain)
        before = server.memory()
        slow = [Socket(server, receive=4096) for _ in range(8)]
        for client in slow:
            client.socket.settimeout(0.5)
            client.send({'do': 'subscribe', 'meters': 50, 'spectrum': 50})
            try:
                for _ in range(1000):
                    client.send({'do': 'chain'})
            except OSError:
                pass
        # Each of these is an event of 40 KB for each of them.
        n_done, left = 0, 9
        while n_done < 150 or left > 1:
            good.ok('set-chain', chain=chains[n_done % 2])
            n_done += 1
            check(n_done < 1000)
            left = good.ok('state')['clients']
        grown = server.memory() - before
        check(grown < len(slow) * (2 << 20), grown)
        check_smooth(server, SMOOTH_SET)


def test_leaving():
    """Clients leave during their requests, and in the midst of them."""
    chain = ' | '.join(['HiButterworth(80, order=8)'] * 100)
    body = json.dumps({'chain': chain}).encode()
    with Server(EQ) as server:
        for i in range(60):
            command = ('check', 'set-chain', 'response')[i % 3]
            request = (f'POST /api/v1/{command} HTTP/1.1\r\nHost: localhost\r\n'
                       f'Content-Length: {len(body)}\r\n\r\n').encode() + body
            with socket.create_connection(('127.0.0.1', server.port)) as client:
                client.sendall(request[:len(request) * (i % 5 + 1) // 5])
            client = Socket(server)
            client.send({'do': 'subscribe', 'meters': 50, 'spectrum': 50})
            client.send({'do': command, 'chain': chain})
            if i % 4 == 0:
                client.send_frame(CLOSE, b'\x03\xe8')
            elif i % 4 == 1:
                client.socket.sendall(bytes(range(200)))
            client.close()
        good = Socket(server)
        while good.ok('state')['clients'] > 1:
            time.sleep(0.05)


def test_flood():
    """Requests and pings without end do not keep the server from others."""
    with Server(EQ) as server:
        before = server.memory()
        over = threading.Event()

        def flood(opcode, data):
            while not over.is_set():
                try:
                    client = Socket(server)
                    while not over.is_set():
                        client.send_frame(opcode, data)
                except (OSError, EOFError):
                    pass

        threads = [threading.Thread(target=flood, args=a, daemon=True) for a in (
            (TEXT, b'{"do": "state"}'), (TEXT, b'{"do": "check", "chain": "Gain(1)"}'),
            (PING, b'x' * 100))]
        for thread in threads:
            thread.start()
        good = Socket(server)
        for i in range(10):
            good.ok('set', stage='eq', parameter='gain', value=i % 2)
            server.sound.wait(RATE // 20)
        over.set()
        for thread in threads:
            thread.join(60)
        check(server.memory() - before < 32 << 20, server.memory() - before)
        # What is too much for a second is refused, and more ends the connection.
        a = Socket(server)
        a.send_many('{"do": "state"}', 1000)
        answers = [a.receive() for _ in range(1000)]
        check(any('error' in x for x in answers) and
              any('ok' in x for x in answers))
        reader = threading.Thread(target=ended, args=[a, 1 << 30], daemon=True)
        reader.start()
        try:
            for _ in range(100):
                a.send_many('{"do": "state"}', 1000)
        except OSError:
            pass
        reader.join(60)
        check(not reader.is_alive())
        check_smooth(server, SMOOTH_SET)


def test_long_requests():
    """Requests that take seconds keep nobody from changing the chain, nor the server
    from ending."""
    chain = ' | '.join(1000 * ['HiButterworth(80, order=16)'])

    def ask():
        try:
            server.post('response', chain=chain, points=4096)
        except (OSError, ValueError):
            pass

    server = Server(EQ)
    a = Socket(server)
    # One that is slow at each frequency has an end.
    error = a.ask('response', points=4096, chain='DesignableFIR(1000, num_taps=1000001)')
    check('fewer points' in error.get('error', {}).get('message', ''), error)
    for _ in range(30):
        threading.Thread(target=ask, daemon=True).start()
    time.sleep(1)
    begin = time.monotonic()
    a.ok('set-chain', chain='Gain(0.5)')
    took = time.monotonic() - begin
    server.process.send_signal(signal.SIGTERM)
    try:
        check(server.process.wait(60) == 0)
    finally:
        server.process.kill()
    check(took < 30, took)


def test_many_clients():
    """200 clients with meters at 20/s, as many as there may be, and one more."""
    with Server(EQ + ' | Limiter(-3)') as server:
        clients = [Socket(server) for _ in range(200)]
        before = server.memory()
        for client in clients:
            client.ok('subscribe', meters=20)
        first = server.sound.count()
        for _ in range(20):
            for client in clients:
                client.event('meters')
        server.sound.wait(1)
        check_smooth(server, SMOOTH)
        check(server.memory() - before < 16 << 20, server.memory() - before)
        check(server.sound.count() > first)
        check(clients[0].ok('state')['dropped'] == 0)
        clients += [Socket(server) for _ in range(56)]
        check(clients[-1].status == 101)
        check(Socket(server).status == 503)


def main():
    if sys.argv[1:] == ['--skip']:
        print('1..0 # SKIP built without libsoup 3 and JSON-GLib')
        return 0
    names = sys.argv[1:]
    is_without = names[:1] == ['--without']
    tests = [(name[5:], function) for name, function in globals().items()
             if name.startswith('test_') and
             (not names or (name[5:] in names) != is_without)]
    print(f'1..{len(tests)}')
    failed = 0
    for i, (name, function) in enumerate(tests):
        try:
            print(f'ok {i + 1} - {name}', function() or '', flush=True)
        except Exception:
            failed += 1
            print(f'not ok {i + 1} - {name}')
            for line in traceback.format_exc().splitlines():
                print('#', line, flush=True)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
