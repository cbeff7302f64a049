# SPDX-License-Identifier: LGPL-2.1-or-later
"""The classes, by TorchFX's module for filters.  As in the chain language, any class
has this prefix."""

import sys

from . import classes
from .classes import *  # noqa: F403

__all__ = classes.__all__

# TorchFX's modules of filters.
iir = biquad = fir = filterbank = sys.modules[__name__]
