# SPDX-License-Identifier: LGPL-2.1-or-later
"""TorchFX's module of effects: the classes, and its strategies, which return words of
the chain language."""

from typing import Literal

from . import classes
from .classes import *  # noqa: F403

def MonoDelayStrategy() -> Literal["mono"]: return "mono"
def PingPongDelayStrategy() -> Literal["ping-pong"]: return "ping-pong"
def PeakNormalizationStrategy() -> Literal["peak"]: return "peak"
def RMSNormalizationStrategy() -> Literal["rms"]: return "rms"
def PerChannelNormalizationStrategy() -> Literal["per-channel"]: return "per-channel"

__all__ = [name for name in dir() if name.endswith("Strategy")]
__all__ += classes.__all__
