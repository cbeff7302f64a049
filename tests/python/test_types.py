# SPDX-License-Identifier: LGPL-2.1-or-later
"""The type stubs: those of the catalogue, and what mypy makes of them."""

import ast
import importlib.util
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import gst_tfx as fx

PACKAGE = pathlib.Path(fx.__file__).parent

PROGRAM = """
import numpy as np
import gst_tfx as fx
from gst_tfx.effect import Delay, PingPongDelayStrategy

chain = fx.Chain(fx.LoButterworth(1000, order=4) | fx.Gain(2), 48000, 2)
x = np.zeros((2, 100), np.float32)
n: int = chain(x).shape[1] + chain.process(x).ndim + chain.latency
fx.Compressor(-20, key_filter=fx.HiButterworth(100), key=None)
fx.Multiband([200, 2000], fx.Gain(2), None, order=4)
fx.DesignableFIR(1000, 51, window=("kaiser", 8.6))
fx.Mix(np.eye(2)) + fx.Mix([[1, 0], [0, 1]])
fx.FIR("room.wav") | fx.FIR([1, 2]) | fx.Delay(bpm=120, delay_time="1/4")
fx.Wave(x, 48000) | (fx.Gain(1) + fx.Gain(2))
wave = fx.Wave.from_file("in.wav").to("cpu") | fx.filter.LoButterworth(100)
(wave | Delay(bpm=120, strategy=PingPongDelayStrategy())).save("out.wav")
m: int = wave.channels() + wave.ys.ndim + len(fx.effect.MonoDelayStrategy())
try:
    fx.process_many("Gain(2)", [x], 48000)[0].ndim
except fx.ChainError as error:
    error.line + 1
fx.LoButterworth("low")  # wrong
fx.Gain()  # wrong
fx.Butterworth("middle", 100)  # wrong
fx.LoButterworth(100, ordre=3)  # wrong
fx.Chain(3, 48000)  # wrong
fx.filter.LoButterworth("low")  # wrong
wave | 3  # wrong
fx.Gain(1) | 3  # wrong
fx.Multiband(200, "Gain(2)")  # wrong
fx.NoFilter(1)  # wrong
"""


@pytest.fixture(autouse=True)
def need_stubs():
    if not (PACKAGE / "classes.pyi").exists():
        pytest.skip("this build has no type stubs")


def test_stubs_are_the_classes():
    tree = ast.parse((PACKAGE / "classes.pyi").read_text())
    stubs = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for name, *_ in fx.catalogue():
        klass, stub = getattr(fx, name), stubs[name]
        assert ast.get_docstring(stub) == inspect.cleandoc(klass.__doc__)
        arguments = next(node for node in stub.body
                         if isinstance(node, ast.FunctionDef)).args
        kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD: [], inspect.Parameter.
                 VAR_POSITIONAL: [], inspect.Parameter.KEYWORD_ONLY: []}
        for parameter in inspect.signature(klass).parameters.values():
            kinds[parameter.kind].append(parameter.name)
        assert [[a.arg for a in arguments.args[1:]],
                [arguments.vararg.arg] if arguments.vararg else [],
                [a.arg for a in arguments.kwonlyargs]] == list(kinds.values())
        assert all(a.annotation for a in arguments.args[1:] + arguments.kwonlyargs)


def test_mypy(tmp_path):
    """It reports the wrong lines, and no others."""
    if not importlib.util.find_spec("mypy"):
        pytest.skip("mypy is not installed")
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent",
         "--cache-dir", tmp_path / "cache", "program.py"], cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent)}, capture_output=True,
        text=True)
    assert not done.stderr
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines()
             if ": error:" in line}
    wanted = {i for i, line in enumerate(PROGRAM.splitlines(), 1) if "# wrong" in line}
    assert found == wanted, done.stdout
