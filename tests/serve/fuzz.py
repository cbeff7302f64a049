#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""fuzz.py: damaged HTTP requests and WebSocket messages for gst-tfx serve, as TAP.

    fuzz.py [SECONDS [SEED]]

Four clients send requests, most of them damaged, for so long.  Then the server must
answer, the sound must go on, the memory must be bounded, and the exit status must be 0;
a sanitizer's report makes it another one.
"""
import json
import os
import random
import socket
import sys
import tempfile
import threading
import time

from client import CLOSE, PING, PONG, TEXT, Server, Socket

CHAIN = 'eq=ParametricEQ(1000, q=1, gain=0) | comp=Compressor(-20) | Limiter(-1)'
MAX_GROWTH = 64 << 20  # bytes; three times as many with a sanitizer
REQUESTS = [
    {'do': 'state'}, {'do': 'chain'}, {'do': 'parameters'}, {'do': 'classes'},
    {'do': 'set-chain', 'chain': CHAIN}, {'do': 'check', 'chain': 'Gain(0.5)'},
    {'do': 'set-chain', 'chain': "FIR('x.wav') | ch[0]: Gain(1)"},
    {'do': 'set', 'stage': 'eq', 'parameter': 'gain', 'value': 3, 'ramp_ms': 20},
    {'do': 'set', 'stage': 'eq', 'parameter': 'q_scale', 'value': 'octaves'},
    {'do': 'response', 'from': 20, 'to': 2e4, 'points': 64, 'channel': 0},
    {'do': 'subscribe', 'meters': 50, 'spectrum': 50}, {'do': 'bypass', 'on': True},
    {'do': 'pause'}, {'do': 'play'}, {'do': 'seek', 'position_s': 1}, {'do': 'ab'},
    {'do': 'presets'}, {'do': 'save-preset', 'name': 'a'},
    {'do': 'load-preset', 'name': 'a'}, {'do': 'delete-preset', 'name': '../a'}]
CAMILLA = ['"GetVersion"', '{"SetVolume": -10}', '"GetState"', '"GetConfig"',
           '{"SetConfig": "filters:\\n  a:\\n    type: Gain\\n"}', '"ToggleMute"',
           '{"ValidateConfig": "pipeline: []"}', '"GetSignalLevels"', '"Reload"',
           '{"SetFaderVolume": [0, -3]}', '{"AdjustVolume": [1, -20, 0]}',
           '"GetFaders"', '{"GetFaderMute": 4}', '"GetConfigJson"',
           '{"GetSignalLevelsSince": 1e9}', '"GetCaptureSignalPeakSinceLast"']
VALUES = [None, True, -1, 0, 1e308, -1e-320, 2**63, '', 'x' * 300, '\u0000', [], {},
          [[]], [1, [2]], 'é' * 40, "Gain('", '|' * 50, '[' * 90, '../../etc/passwd']
HEADERS = ['Host: localhost', 'Host: evil.example', 'Origin: http://evil.example',
           'Origin: null', 'Content-Length: 9999999999', 'Content-Length: -1',
           'Transfer-Encoding: chunked', 'Range: bytes=5-2', 'Connection: Upgrade',
           'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Expect: 100-continue',
           'Sec-WebSocket-Key: x', 'Authorization: Bearer ' + 'x' * 500, 'X' * 3000]


def damage(rng, data):
    """Changes some bytes: another value, one less, some more, or the end cut off."""
    data = bytearray(data)
    for _ in range(rng.choice([0, 0, 1, 1, 2, 8])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0 and at < len(data):
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + 1]
        elif kind == 2:
            data[at:at] = bytes(rng.choices(b'{}[]",:\\\x00\xff9eE-', k=rng.randint(1, 9)))
        elif kind == 3 and rng.random() < 0.3:
            del data[at:]
    return bytes(data)


def make_request(rng):
    request = dict(rng.choice(REQUESTS), id=rng.randrange(1000))
    if rng.random() < 0.5:
        request[rng.choice(list(request))] = rng.choice(VALUES)
    return request


def talk(server, rng, path):
    """One WebSocket connection with some messages."""
    client = Socket(server, path)
    for _ in range(rng.randint(1, 60)):
        text = json.dumps(make_request(rng)) if path != '/' or rng.random() < 0.2 \
            else rng.choice(CAMILLA)
        opcode = rng.choices([TEXT, 2, 0, PING, PONG, CLOSE, rng.randrange(16)],
                             [60, 3, 3, 3, 3, 1, 1])[0]
        data = damage(rng, text.encode())
        if rng.random() < 0.02:
            data *= rng.randint(1, 2000)
        client.send_frame(opcode, data, fin=rng.random() > 0.03)
        if rng.random() < 0.05:
            client.socket.sendall(rng.randbytes(rng.randint(1, 200)))
        if rng.random() < 0.5:
            client.socket.settimeout(0.02)
            try:
                client.socket.recv(1 << 16)
            except TimeoutError:
                pass
            client.socket.settimeout(5)
    client.socket.close()


def request(server, rng):
    """One HTTP request."""
    path = rng.choice(['/', '/page.js', '/api/v1/socket', '/api/v1/' +
                       rng.choice(REQUESTS)['do'], '/%2e%2e/x', '/?' + 'a' * 99])
    body = json.dumps(make_request(rng)) if rng.random() < 0.7 else ''
    lines = [f'{rng.choice(["GET", "POST", "PUT", "BREW"])} {path} HTTP/1.1',
             f'Host: localhost:{server.port}', f'Content-Length: {len(body)}',
             *rng.sample(HEADERS, rng.randint(0, 2))]
    with socket.create_connection(('127.0.0.1', server.port), timeout=1) as client:
        client.sendall(damage(rng, '\r\n'.join([*lines, '', body]).encode()))
        if rng.random() < 0.8:
            client.settimeout(0.2)
            while client.recv(1 << 16):
                pass


def attack(server, seed, end, counts):
    rng = random.Random(seed)
    while time.monotonic() < end:
        kind = rng.choice(['http', 'http', '/api/v1/socket', '/'])
        try:
            if kind == 'http':
                request(server, rng)
            else:
                talk(server, rng, kind)
        except (OSError, EOFError, ValueError):
            pass  # the server has closed the connection, or waits for more
        counts.append(kind)


def main():
    if sys.argv[1:] == ['--skip']:
        print('1..0 # SKIP the server is not installed')
        return 0
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1 << 32)
    print(f'# seed {seed}', flush=True)
    is_sanitized = 'ASAN_OPTIONS' in os.environ
    counts, faults = [], []
    presets = tempfile.TemporaryDirectory(prefix='tfx-fuzz-')
    server = Server(CHAIN, '--presets', presets.name)
    server.sound.wait(4800)
    before, end = server.memory(), time.monotonic() + seconds
    threads = [threading.Thread(target=attack, args=(server, seed + i, end, counts))
               for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for _ in range(100):
        # (A flood of requests is refused for a second.)
        status, answer = server.post('play')
        if status != 429:
            break
        time.sleep(0.1)
    if status != 200:
        faults.append(f'play: {status} {answer}')
    try:
        server.sound.wait(4800)
    except AssertionError as error:
        faults.append(str(error))
    growth = server.memory() - before
    if growth > MAX_GROWTH * (3 if is_sanitized else 1):
        faults.append(f'memory has grown by {growth} bytes')
    status, errors = server.stop()
    if status != 0:
        faults.append(f'exit status {status}: {errors[-9000:]}')
    print(f'# {len(counts)} connections, {growth >> 10} KiB more')
    for fault in faults:
        print('#', fault.replace('\n', '\n# '))
    print(f'{"not ok" if faults else "ok"} 1 - the server survives damaged requests\n1..1')
    return bool(faults)


sys.exit(main())
