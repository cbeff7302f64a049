#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A stage of a tfxchain follows an LFO, and its neighbour a line, into a sound
file.

    tfx-automation.py OUTPUT.wav [SECONDS]

It needs Debian's python3-gi, gir1.2-gstreamer-1.0 and gir1.2-gst-plugins-base-1.0.
"""

import sys

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstController', '1.0')
from gi.repository import Gst, GstController  # noqa: E402

CHAIN = 'wah=ParametricEQ(800, q=4, gain=12) | level=Gain(1)'


def bind_line(stage, name, points):
    """Through values in the property's own unit: new_absolute()."""
    source = GstController.InterpolationControlSource()
    source.set_property('mode', GstController.InterpolationMode.LINEAR)
    for seconds, value in points:
        source.set(round(seconds * Gst.SECOND), value)
    stage.add_control_binding(
        GstController.DirectControlBinding.new_absolute(stage, name, source)
    )


def bind_lfo(stage, name, low, high, frequency):
    """An LFO swings within 0 to 1, which new() spreads over the property's range."""
    spec = stage.find_property(name)
    span = spec.maximum - spec.minimum
    source = GstController.LFOControlSource()
    source.set_property('waveform', GstController.LFOWaveform.SINE)
    source.set_property('frequency', frequency)
    source.set_property('amplitude', (high - low) / 2 / span)
    source.set_property('offset', ((low + high) / 2 - spec.minimum) / span)
    stage.add_control_binding(
        GstController.DirectControlBinding.new(stage, name, source)
    )


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith('-'):
        sys.exit(__doc__)
    try:
        seconds = float(sys.argv[2]) if len(sys.argv) == 3 else 4
    except ValueError:
        seconds = 0
    if not 0.01 <= seconds <= 3600:
        sys.exit(
            "tfx-automation.py: SECONDS is '%s', but must be from 0.01 to 3600"
            % sys.argv[2]
        )
    Gst.init(None)
    pipeline = Gst.parse_launch(
        'audiotestsrc wave=saw freq=110 volume=0.2 samplesperbuffer=480 '
        'num-buffers=%d ! audio/x-raw,rate=48000,channels=2 ! audioconvert ! '
        'tfxchain name=filter ! wavenc ! filesink name=out' % round(100 * seconds)
    )
    pipeline.get_by_name('out').set_property('location', sys.argv[1])
    tfxchain = pipeline.get_by_name('filter')
    tfxchain.set_property('chain', CHAIN)
    bind_lfo(tfxchain.get_child_by_name('wah'), 'frequency', 400, 2000, 2)
    bind_line(
        tfxchain.get_child_by_name('level'),
        'gain',
        [(0, 0), (seconds / 4, 1), (3 * seconds / 4, 1), (seconds, 0)],
    )

    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(
        Gst.CLOCK_TIME_NONE, Gst.MessageType.EOS | Gst.MessageType.ERROR
    )
    pipeline.set_state(Gst.State.NULL)
    if message.type == Gst.MessageType.ERROR:
        sys.exit('tfx-automation.py: ' + message.parse_error()[0].message)


if __name__ == '__main__':
    main()
