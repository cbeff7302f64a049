# SPDX-License-Identifier: LGPL-2.1-or-later
# The public names of core.c.
from typing import Any

class ChainError(ValueError):
    message: str
    line: int
    column: int

def catalogue() -> list[tuple[Any, ...]]: ...
def __getattr__(name: str) -> Any: ...
