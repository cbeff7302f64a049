#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plays sound through a preset of tfxchain, or through a chain of one's own, and
moves parameters of its stages meanwhile, by controllers.

    tfx-equaliser.py --picture=before-and-after.png f100::gain=6 f1000::gain=-4

The stages of tfxchain are children: a GstControlSource can be bound to each of
their properties, and then they follow the time of the stream, however fast that
runs.  (Set by hand they glide: gst_child_proxy_set (chain, "eq::gain", -3.0, NULL).)

It needs Debian's python3-gi, gir1.2-gstreamer-1.0 and
gir1.2-gst-plugins-base-1.0, and gnuplot for a picture.
"""

import argparse
import array
import cmath
import math
import os
import subprocess
import sys
import tempfile

import gi

gi.require_version('Gst', '1.0')
gi.require_version('GstApp', '1.0')
gi.require_version('GstController', '1.0')
from gi.repository import GLib, Gst, GstApp, GstController  # noqa: E402, F401

EQUALISER = 'Graphic equaliser, 31 bands'

# The response is that of an impulse of so many frames.
RATE = 48000
LENGTH = 16384
N_POINTS = 300


def fail(text):
    sys.exit('tfx-equaliser.py: ' + text)


def make_pipeline(options):
    if options.input:
        source = 'filesrc name=in ! decodebin'
    else:
        source = (
            'audiotestsrc wave=pink-noise samplesperbuffer=480 num-buffers=%d ! '
            'audio/x-raw,rate=48000,channels=2' % (round(100 * options.seconds) + 1)
        )
    if options.output:
        sink = 'wavenc ! filesink name=out'
    else:
        sink = 'autoaudiosink'
    try:
        pipeline = Gst.parse_launch(
            '%s ! audioconvert ! tfxchain name=filter ! audioconvert ! %s'
            % (source, sink)
        )
    except GLib.Error as error:
        fail(error.message)
    if options.input:
        pipeline.get_by_name('in').set_property('location', options.input)
    if options.output:
        pipeline.get_by_name('out').set_property('location', options.output)
    return pipeline


def load_chain(tfxchain, options):
    if options.chain is not None:
        tfxchain.set_property('chain', options.chain)
    elif not tfxchain.load_preset(options.preset):
        names = tfxchain.get_preset_names()
        fail(
            "there is no preset '%s'; there are: %s"
            % (options.preset, '; '.join(names) or 'none (see GST_PRESET_PATH)')
        )


def move(tfxchain, setting, seconds):
    """Binds a parameter to a line from its present value to that of a setting,
    "stage::parameter=value"."""
    path, equals, text = setting.partition('=')
    stage, colons, parameter = path.partition('::')
    try:
        value = float(text if colons else '')
    except ValueError:
        fail('not of the form STAGE::PARAMETER=NUMBER: %s' % setting)
    child = tfxchain.get_child_by_name(stage)
    if child is None:
        fail("the chain has no stage '%s'" % stage)
    spec = child.find_property(parameter)
    if spec is None or not hasattr(spec, 'minimum'):
        fail("stage '%s' has no number '%s'" % (stage, parameter))
    if not spec.minimum <= value <= spec.maximum:
        fail(
            '%s cannot be %g, but must be from %g to %g'
            % (path, value, spec.minimum, spec.maximum)
        )

    line = GstController.InterpolationControlSource()
    line.set_property('mode', GstController.InterpolationMode.LINEAR)
    line.set(0, child.get_property(parameter))
    line.set(round(seconds * Gst.SECOND), value)
    child.add_control_binding(
        GstController.DirectControlBinding.new_absolute(child, spec.name, line)
    )


def play(pipeline):
    """To the end of the sound."""
    bus = pipeline.get_bus()
    pipeline.set_state(Gst.State.PLAYING)
    ended = False
    while not ended:
        message = bus.timed_pop_filtered(
            Gst.CLOCK_TIME_NONE,
            Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING,
        )
        if message.type == Gst.MessageType.WARNING:
            print('warning: ' + message.parse_warning()[0].message, file=sys.stderr)
        elif message.type == Gst.MessageType.ERROR:
            error = message.parse_error()[0].message
            name = message.src.get_name()
            if message.src.find_property('location'):
                name = message.src.props.location
            pipeline.set_state(Gst.State.NULL)
            fail('%s: %s' % (name, error))
        else:
            ended = True
    pipeline.set_state(Gst.State.NULL)


def measure_impulse(text):
    """The impulse response of a chain, with nothing but appsrc and appsink
    around it."""
    pipeline = Gst.parse_launch(
        'appsrc name=in format=time caps=audio/x-raw,format=F64LE,'
        'layout=interleaved,channels=1,rate=%d ! tfxchain name=filter ! '
        'appsink name=out sync=false' % RATE
    )
    source, sink = pipeline.get_by_name('in'), pipeline.get_by_name('out')
    pipeline.get_by_name('filter').set_property('chain', text)
    impulse = Gst.Buffer.new_wrapped(
        array.array('d', [1.0] + [0.0] * (LENGTH - 1)).tobytes()
    )
    impulse.pts = 0
    pipeline.set_state(Gst.State.PLAYING)
    source.push_buffer(impulse)
    source.end_of_stream()
    sample = sink.pull_sample()
    response = None
    if sample:
        data = sample.get_buffer().extract_dup(0, LENGTH * 8)
        response = array.array('d', data)
    pipeline.set_state(Gst.State.NULL)
    return response


def gain_db(response, hz):
    """|sum over n of h[n] z^-n| at z = exp (2 pi j hz / rate), by Horner."""
    step = cmath.exp(-2j * math.pi * hz / RATE)
    total = 0j
    for h in reversed(response):
        total = total * step + h
    return 20.0 * math.log10(abs(total) + 1e-15)


def write_table(path, names, chains):
    responses = [measure_impulse(chain) for chain in chains]
    if None in responses:
        fail('no response of the chain')
    with open(path, 'w', encoding='utf-8') as table:
        table.write('\t'.join(['Hz'] + names) + '\n')
        for k in range(N_POINTS):
            hz = 20.0 * 1000.0 ** (k / (N_POINTS - 1.0))
            gains = ['%.4f' % gain_db(r, hz) for r in responses]
            table.write('\t'.join(['%.6g' % hz] + gains) + '\n')


def draw(options, title, chains):
    with tempfile.TemporaryDirectory() as folder:
        table = options.table or os.path.join(folder, 'table')
        write_table(table, ['before', 'after'], chains)
        if not options.picture:
            return
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'chain.gp')
        try:
            subprocess.run(
                ['gnuplot', '-c', script, options.picture, table, title], check=True
            )
        except (OSError, subprocess.CalledProcessError) as error:
            fail(str(error))
        print('Picture: ' + options.picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--preset', default=EQUALISER)
    parser.add_argument('--chain', help='a chain in place of a preset')
    parser.add_argument('--input', help='a sound file (default: noise)')
    parser.add_argument('--output', help='a WAV file (default: the loudspeaker)')
    parser.add_argument('--seconds', type=float, default=4.0)
    parser.add_argument('--table', help='where to leave the responses')
    parser.add_argument('--picture', help='where to draw them, as PNG')
    parser.add_argument(
        'settings', nargs='*', metavar='STAGE::PARAMETER=NUMBER', help='where to go'
    )
    options = parser.parse_args()
    if not options.seconds > 0.0:
        fail('--seconds must be above 0')

    Gst.init(None)
    pipeline = make_pipeline(options)
    tfxchain = pipeline.get_by_name('filter')
    load_chain(tfxchain, options)
    before = tfxchain.get_property('chain')
    for setting in options.settings:
        move(tfxchain, setting, options.seconds)
    play(pipeline)
    after = tfxchain.get_property('chain')
    print(after)
    if options.table or options.picture:
        title = ' '.join(options.settings) or options.preset
        draw(options, title, [before, after])


if __name__ == '__main__':
    main()
