# SPDX-License-Identifier: LGPL-2.1-or-later
"""python -m gst_tfx: check and response of a chain."""

import argparse
import sys
import warnings

import numpy as np

from . import Chain, ChainError


def main(argv=None):
    parser = argparse.ArgumentParser(prog="python -m gst_tfx")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("check", "print the canonical text of a chain, and its stages"),
                       ("response", "print the frequency response as CSV")):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("chain", help="a chain, or @FILE")
        command.add_argument("--rate", type=float, default=48000,
                             help="sample rate in Hz (default %(default)g)")
        command.add_argument("--channels", type=int, default=2,
                             help="of the input (default %(default)d)")
    command.add_argument("--points", type=int, default=200,
                         help="from 20 Hz to 0.45 of the rate (default %(default)d)")
    args = parser.parse_args(argv)
    # As gst-tfx prints them, and with its exit status.
    warnings.showwarning = lambda message, *_: print(f"warning: {message}",
                                                     file=sys.stderr)
    try:
        make = Chain
        if args.chain.startswith("@"):
            make, args.chain = Chain.from_file, args.chain[1:]
        chain = make(args.chain, args.rate, args.channels)
    except (OSError, ValueError) as error:
        before = "error: "
        if isinstance(error, OSError):
            error = f"cannot read the chain from '{args.chain}': {error.strerror}"
        elif isinstance(error, ChainError):
            is_bare = args.command == "check" and make is Chain
            before = "" if is_bare else "error: the chain: "
        print(f"{before}{error}", file=sys.stderr)
        return 2
    if args.command == "check":
        print(chain)
        for name, klass, values in chain.stages:
            print(f"{name}: {klass}, " + ", ".join(
                f"{k}={v!r}" for k, v in values.items() if v is not None))
        print(f"{chain.channels} channels in, {chain.output_channels} out, "
              f"latency {chain.latency} frames")
        return 0
    frequencies = np.geomspace(20, 0.45 * args.rate, args.points)
    response = chain.response(frequencies)
    print("frequency_hz,gain_db,phase_degrees")
    for f, h in zip(frequencies, response):
        magnitude = 20 * np.log10(abs(h)) if h else -np.inf
        print(f"{f:.6g},{magnitude:.6f},{np.degrees(np.angle(h)):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
