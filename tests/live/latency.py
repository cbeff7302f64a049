#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""latency.py: how late an RTSP client hears what goes into the server.

    latency.py PORT URL TOLD_MS

Sends sound to the server's source as raw L16, mono, by UDP, with a click each half
second; listens at URL (L24), and notes for each click when it was sent, which time
its RTP stamp has by the sender's reports, and when it came.  The latency that the
server told is the way of the stamps, and no click comes much later.
"""
import socket
import statistics
import struct
import sys
import threading
import time

import gi

gi.require_version('Gst', '1.0')
from gi.repository import Gst  # noqa: E402

RATE, BLOCK = 48000, 480
SECONDS = 7
TO_1970 = 2208988800


class Sender(threading.Thread):
    """The first frame of each 50th block is a click."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.clicks, self.ended = port, [], False

    def run(self):
        out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        begin, n = time.time(), 0
        while not self.ended:
            time.sleep(max(0, begin + n * BLOCK / RATE - time.time()))
            block = bytearray(2 * BLOCK)
            if n % 50 == 0:
                block[0:2] = struct.pack('>h', 16384)
                self.clicks.append(time.time())
            out.sendto(block, ('127.0.0.1', self.port))
            n += 1


class Listener:
    def __init__(self, url):
        self.clicks = []  # when they came, and their RTP stamps
        self.pipeline = Gst.parse_launch(
            'rtspsrc name=source location=%s protocols=udp latency=0 ! '
            'rtpL24depay name=depay ! fakesink sync=false' % url)
        self.pipeline.get_by_name('depay').get_static_pad('sink').add_probe(
            Gst.PadProbeType.BUFFER, self.on_packet)

    def on_packet(self, pad, info):
        now = time.time()
        packet = info.get_buffer().extract_dup(0, info.get_buffer().get_size())
        stamp, = struct.unpack('>I', packet[4:8])
        for i in range(12, len(packet) - 2, 3):
            # Half of full scale is some 4 million.
            if int.from_bytes(packet[i:i + 3], 'big', signed=True) > 2000000:
                self.clicks.append((now, stamp + (i - 12) // 3))
        return Gst.PadProbeReturn.OK

    def find_report(self):
        """The time of a stamp, by the sender's last report."""
        manager = self.pipeline.get_by_name('source').get_by_name('manager')
        session = manager.emit('get-internal-session', 0)
        for source in session.props.sources:
            stats = source.props.stats
            if stats.get_value('have-sr') and not stats.get_value('internal'):
                return (stats.get_value('sr-ntptime') / 2 ** 32 - TO_1970,
                        stats.get_value('sr-rtptime'))
        raise SystemExit("there was no sender's report")

    def listen(self):
        self.pipeline.set_state(Gst.State.PLAYING)
        time.sleep(SECONDS)
        report_time, report_stamp = self.find_report()
        self.pipeline.set_state(Gst.State.NULL)
        return [(came, report_time + (stamp - report_stamp) / RATE)
                for came, stamp in self.clicks]


def main(port, url, told):
    Gst.init([])
    sender = Sender(port)
    sender.start()
    found = Listener(url).listen()
    sender.ended = True
    stamps, ways = [], []
    for came, stamp in found:
        sent = max((c for c in sender.clicks if c < came - told / 2), default=None)
        if sent:
            stamps.append(1000 * (stamp - sent))
            ways.append(1000 * (came - sent))
    assert len(ways) >= 5, '%d clicks came' % len(ways)
    told *= 1000
    print('told %.1f ms; by the stamps %.1f ms (%.1f to %.1f); they took %.1f ms at '
          'least, %.1f at most' % (told, statistics.median(stamps), min(stamps),
                                   max(stamps), min(ways), max(ways)))
    # Datagrams that waited while the server began shift the stamps a little.
    wrong = (not -25 < statistics.median(stamps) - told < 100
             or min(ways) < told - 25 or min(ways) > told + 150)
    return int(wrong)


if __name__ == '__main__':
    sys.exit(main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) / 1000))
