# SPDX-License-Identifier: LGPL-2.1-or-later
"""The classes of the chain language as Python classes, made from the catalogue.

    wave | LoButterworth(1000, order=4) | (Gain(2) + HiButterworth(80))
"""

import os

from . import _core
from .signatures import describe


def _text(value):
    """A value as the chain language writes it."""
    if hasattr(value, "tolist"):  # of NumPy or PyTorch
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text(v) for v in value) + "]"
    if isinstance(value, Effect):
        return str(value)
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return repr(value)


class Effect:
    """A part of a chain: | puts effects in series, + adds them."""

    def __or__(self, other):
        return _group("|", self, other)

    def __add__(self, other):
        return _group("+", self, other)

    def __repr__(self):
        return str(self)


def _group(operator, *effects):
    """A group without inner groups of the same operator, as long rows would nest."""
    parts = []
    for effect in effects:
        if not isinstance(effect, Effect):
            return NotImplemented
        parts += effect.parts if getattr(effect, "operator", None) == operator \
            else [effect]
    return _Group(operator, parts)


class _Group(Effect):
    def __init__(self, operator, parts):
        self.operator, self.parts = operator, parts

    def __str__(self):
        def inner(part):
            text = str(part)
            is_series = isinstance(part, _Group) and part.operator == "|"
            return f"({text})" if is_series and self.operator == "+" else text
        return f" {self.operator} ".join(inner(p) for p in self.parts)


class _Call(Effect):
    """The base of the classes of the catalogue."""

    def __init__(self, *args, **kwargs):
        bound = self.__signature__.bind(*args, **kwargs)
        self.arguments = dict(bound.arguments)

    def __str__(self):
        values = []
        for name, value in self.arguments.items():
            if name == "chains":
                values += [_text(chain) for chain in value]
            elif "chains" in self.arguments and name in self.positional:
                values.append(_text(value))
            else:
                values.append(f"{name}={_text(value)}")
        return f"{type(self).__name__}({', '.join(values)})"


def _make(name, doc, example, params, n_positional, *chains):
    text, signature = describe(doc, example, params, n_positional, *chains)
    return type(name, (_Call,), {"positional": [p[0] for p in params[:n_positional]],
                                 "__doc__": text, "__signature__": signature,
                                 "__module__": "gst_tfx"})


__all__ = []
for _entry in _core.catalogue():
    globals()[_entry[0]] = _make(*_entry)
    __all__.append(_entry[0])
