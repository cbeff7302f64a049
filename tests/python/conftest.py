# SPDX-License-Identifier: LGPL-2.1-or-later
"""What several tests share."""

import sys

import pytest


@pytest.fixture(params=["soundfile", "plain"])
def reader(request, monkeypatch):
    """With the package soundfile, and as if there were none."""
    if request.param == "soundfile":
        pytest.importorskip("soundfile")
    else:
        monkeypatch.setitem(sys.modules, "soundfile", None)
    return request.param
