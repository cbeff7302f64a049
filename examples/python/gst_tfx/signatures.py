# SPDX-License-Identifier: LGPL-2.1-or-later
"""Signatures of the classes of the catalogue.

    signatures.py MODULE > classes.pyi

writes the type stubs of classes.py, with the module _core at that path.
"""

import importlib.util
import inspect
import sys

REQUIRED, INTEGER, KEYWORD, ROWS = 1 << 0, 1 << 1, 1 << 5, 1 << 10
NONE, BOOL, NUMBER, WORD, LIST, TEXT = (1 << i for i in range(6))

STUB = '''\
# Written by signatures.py.
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Numbers = Sequence[float] | npt.NDArray[Any]
Rows = Sequence[Sequence[float]] | npt.NDArray[Any]

class Effect:
    def __or__(self, other: Effect) -> Effect: ...
    def __add__(self, other: Effect) -> Effect: ...
'''


class _Type(str):
    """The text of an annotation, which a signature shows without quotes."""
    __repr__ = str.__str__


def _find_type(flags, default, types, words, has_pair, n_columns):
    number = "int" if flags & INTEGER else "float"
    names = [(NUMBER, number), (BOOL, "bool"), (TEXT, "str"),
             (LIST, "Rows" if n_columns or flags & ROWS else "Numbers"),
             (WORD, f"Literal[{', '.join(map(repr, words.split()))}]" if words else "str")]
    found = [name for bit, name in names if types & bit]
    if has_pair:
        found.append("tuple[str, float]")
    if types & NONE or (default is None and not flags & REQUIRED):
        found.append("None")
    return _Type(" | ".join(found))


def describe(doc, example, params, n_positional, max_chains, chain_name):
    """The documentation and the signature of a class."""
    Parameter = inspect.Parameter
    lines = [doc[:1].upper() + doc[1:] + ".", ""]
    parameters = []
    seen = False
    for i, (name, flags, default, unit, _, _, text, *types) in enumerate(params):
        is_required = bool(flags & REQUIRED)
        # A required parameter after an optional one is given by its name, and so is
        # each one after the chains.
        is_keyword = flags & KEYWORD or (seen and is_required) or \
            (max_chains and not chain_name and i >= n_positional)
        seen = seen or not is_required
        if flags & INTEGER and isinstance(default, float):
            default = int(default)
        parameters.append(Parameter(
            name,
            Parameter.KEYWORD_ONLY if is_keyword else Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if is_required else default,
            annotation=_find_type(flags, default, *types)))
        lines.append(f"{name}: {text}{f' ({unit})' if unit else ''}")
    if max_chains:
        parameters.append(
            Parameter(chain_name, Parameter.KEYWORD_ONLY, default=None,
                      annotation=_Type("Effect | None")) if chain_name else
            Parameter("chains", Parameter.VAR_POSITIONAL,
                      annotation=_Type("Effect | None")))
    lines += ["", f"Example: {example}"]
    parameters.sort(key=lambda p: p.kind)
    return "\n".join(lines), inspect.Signature(parameters)


def main(path):
    spec = importlib.util.spec_from_file_location("gst_tfx._core", path)
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    print(STUB)
    for name, *entry in core.catalogue():
        doc, signature = describe(*entry)
        doc = doc.replace("\n", "\n    ").replace("\n    \n", "\n\n")
        # (A catalogue has no quotes in threes, and no backslashes.)
        print(f'class {name}(Effect):\n    """{doc}\n    """\n'
              f"    def __init__(self, {str(signature)[1:-1]}) -> None: ...\n")
    print("__all__ =", [entry[0] for entry in core.catalogue()])


if __name__ == "__main__":
    main(sys.argv[1])
