# SPDX-License-Identifier: LGPL-2.1-or-later
"""A running gst-tfx serve, and clients of it: HTTP, WebSocket (RFC 6455), and the sound.

Only the standard library: the server must not be tested with its own.
"""
import array
import base64
import http.client
import json
import math
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import urllib.parse

RATE = 48000
TEXT, PING, PONG, CLOSE = 1, 9, 10, 8


class Sound(threading.Thread):
    """Reads the samples of the sink from a named pipe."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.samples = path, array.array('f')
        self.changed = threading.Condition()
        self.start()

    def run(self):
        with open(self.path, 'rb', buffering=0) as pipe:
            rest = b''
            while data := pipe.read(65536):
                data = rest + data
                whole = len(data) // 4 * 4
                rest = data[whole:]
                with self.changed:
                    self.samples.frombytes(data[:whole])
                    self.changed.notify_all()

    def count(self):
        return len(self.samples)

    def wait(self, n):
        """Waits for n samples more; returns them."""
        with self.changed:
            first = len(self.samples)
            if not self.changed.wait_for(
                    lambda: len(self.samples) >= first + n, 60):
                raise AssertionError('the sound has stopped')
            return self.samples[first:first + n]


def amplitude(samples):
    return math.sqrt(2 * sum(x * x for x in samples) / len(samples))


def roughness(samples, freq_hz):
    """The largest distance of a sample from what the two before it predict for a sine,
    which a missing or repeated frame, or a step, makes large."""
    c = 2 * math.cos(2 * math.pi * freq_hz / RATE)
    return max(abs(samples[i] - c * samples[i - 1] + samples[i - 2])
               for i in range(2, len(samples)))


class Server:
    """Serves a sine of freq_hz, with 128 frames in a buffer."""

    freq_hz = 1000
    level = 0.25

    def __init__(self, chain=None, *options, source=None, chain_last=True):
        self.folder = tempfile.mkdtemp(prefix='tfx-serve-')
        fifo = self.path('sound')
        os.mkfifo(fifo)
        self.sound = Sound(fifo)
        source = source or (
            f'audiotestsrc is-live=true samplesperbuffer=128 '
            f'freq={self.freq_hz} volume={self.level} ! '
            f'audio/x-raw,rate={RATE},channels=1')
        sink = (f'audio/x-raw,format=F32LE,rate={RATE},channels=1 ! '
                f'filesink location={fifo} sync=true buffer-mode=unbuffered')
        command = ['gst-tfx', 'serve', '--port', '0', '-s', source, '-o', sink,
                   *options]
        self.process = subprocess.Popen(
            command + ([chain] if chain is not None else []),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, 'G_DEBUG': 'fatal-criticals', **self.sanitizer()})
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError(self.process.stderr.read())
        self.port = urllib.parse.urlsplit(self.url).port

    def sanitizer(self):
        """What a build with the address sanitizer needs.  GLib leaks a table of
        quarks, libsoup and JSON-GLib the words of what they refuse."""
        known = self.path('known-leaks')
        with open(known, 'w') as file:
            file.write('leak:_dl_init\nleak:g_intern_string\n'
                       'leak:soup_headers_parse_request\n'
                       'leak:json_parser_load\nleak:libfontconfig\nleak:OpenNI2\n')
        return {'ASAN_OPTIONS': os.environ.get('ASAN_OPTIONS', '') +
                ':fast_unwind_on_malloc=0:malloc_context_size=12:quarantine_size_mb=16',
                'LSAN_OPTIONS': f'suppressions={known}:print_suppressions=0'}

    def path(self, name):
        return os.path.join(self.folder, name)

    def http(self, method, path, body=None, headers=None, host='localhost'):
        connection = http.client.HTTPConnection(host, self.port, timeout=60)
        if isinstance(body, dict):
            body = json.dumps(body)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text

    def get(self, command):
        status, text = self.http('GET', '/api/v1/' + command)
        return status, json.loads(text)

    def post(self, command, **members):
        status, text = self.http('POST', '/api/v1/' + command, members)
        return status, json.loads(text)

    def memory(self):
        """Resident bytes."""
        with open(f'/proc/{self.process.pid}/statm') as file:
            return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the server; returns its exit status and standard error."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=60)
        shutil.rmtree(self.folder)
        return self.process.returncode, errors


class Socket:
    """A WebSocket client."""

    def __init__(self, server, path='/api/v1/socket', headers=(), receive=None):
        self.socket = socket.socket()
        if receive:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        self.socket.settimeout(60)
        self.socket.connect(('127.0.0.1', server.port))
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f'GET {path} HTTP/1.1', f'Host: localhost:{server.port}',
                 'Upgrade: websocket', 'Connection: Upgrade',
                 f'Sec-WebSocket-Key: {key}', 'Sec-WebSocket-Version: 13',
                 *headers]
        self.socket.sendall(('\r\n'.join(lines) + '\r\n\r\n').encode())
        self.buffer, self.events, self.last = b'', [], 0
        head = b''
        while not head.endswith(b'\r\n\r\n'):
            head += self._read(1)
        self.status = int(head.split()[1])

    def _read(self, n):
        while len(self.buffer) < n:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError
            self.buffer += data
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def send_frame(self, opcode, data, fin=True):
        head = bytes([opcode | (0x80 if fin else 0)])
        if len(data) < 126:
            head += bytes([0x80 | len(data)])
        elif len(data) < 65536:
            head += b'\xfe' + struct.pack('>H', len(data))
        else:
            head += b'\xff' + struct.pack('>Q', len(data))
        self.socket.sendall(head + bytes(4) + data)  # (a mask of zeros)

    def send(self, message):
        text = message if isinstance(message, str) else json.dumps(message)
        self.send_frame(TEXT, text.encode())

    def send_many(self, text, n):
        """A short message n times, at once."""
        head = bytes([TEXT | 0x80, 0x80 | len(text)]) + bytes(4)
        self.socket.sendall((head + text.encode()) * n)

    def receive(self):
        """The next message; EOFError at the end."""
        while True:
            first, second = self._read(2)
            n = second & 0x7f
            if n == 126:
                n = struct.unpack('>H', self._read(2))[0]
            elif n == 127:
                n = struct.unpack('>Q', self._read(8))[0]
            data = self._read(n)
            if first & 0xf == PING:
                self.send_frame(PONG, data)
            elif first & 0xf == CLOSE:
                raise EOFError
            elif first & 0xf == TEXT:
                return json.loads(data)

    def ask(self, do, **members):
        """The answer to a request; events are kept."""
        self.last += 1
        self.send({'id': self.last, 'do': do, **members})
        while (answer := self.receive()).get('id') != self.last:
            self.events.append(answer)
        return answer

    def ok(self, do, **members):
        answer = self.ask(do, **members)
        if 'ok' not in answer:
            raise AssertionError(answer)
        return answer['ok']

    def event(self, name):
        """The next event of that name."""
        while True:
            event = self.events.pop(0) if self.events else self.receive()
            if event.get('event') == name:
                return event

    def close(self):
        self.socket.close()
