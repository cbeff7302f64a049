# SPDX-License-Identifier: LGPL-2.1-or-later
"""TorchFX's module of filters.  As in the chain language, it has all classes."""

import sys

from . import classes
from .classes import *  # noqa: F403

__all__ = classes.__all__

# TorchFX's modules of filters.
iir = biquad = fir = filterbank = sys.modules[__name__]
