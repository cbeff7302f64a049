# SPDX-License-Identifier: LGPL-2.1-or-later
"""Curves: arrays for parameters."""

import numpy as np
import pytest

import gst_tfx as fx

RATE = 48000


def noise(*shape):
    return np.random.default_rng(1).standard_normal(shape)


def play(chain, x, size):
    return np.concatenate([chain.process(x[:, i:i + size])
                           for i in range(0, x.shape[1], size)], axis=1)


@pytest.mark.parametrize("size", [1, 100, 777, 48000])
def test_curve(size):
    curve = np.linspace(1, 3, 48000)
    x = noise(2, 48000)
    chain = fx.Chain("g=Gain(1)", RATE, 2, dtype=np.float64)
    chain.set("g.gain", curve)
    y = np.concatenate([chain.process(x[:, i:i + size])
                        for i in range(0, 4 * size if size == 1 else 48000, size)],
                       axis=1)
    n = y.shape[1]
    # The last point is behind the end, and has the last value.
    assert np.abs(y - x[:, :n] * curve[:n]).max() < 1e-3
    assert size < 48000 or np.abs(y - x * curve)[:, :-32].max() < 1e-12


def test_curve_goes_on_after_reset():
    chain = fx.Chain("g=Gain(1)", RATE, dtype=np.float64)
    chain.set("g.gain", np.linspace(1, 3, 4000))
    chain.process(np.ones((1, 3000)))
    chain.reset()
    y = chain.process(np.ones((1, 3000)))[0]
    assert np.abs(y[:1000] - np.linspace(1, 3, 4000)[3000:]).max() < 0.02
    assert y[-1] == 3


def test_short_curves_arrive():
    x = noise(1, 5000)

    def play(size):
        chain = fx.Chain("c=LoudnessContour(50)", RATE, dtype=np.float64)
        chain.process(x[:, :5])
        chain.set("c.phon", np.linspace(50, 60, 10))
        return np.concatenate([chain.process(x[:, i:i + size])
                               for i in range(0, 5000, size)], axis=1)

    assert np.allclose(play(5000), play(5), rtol=0, atol=1e-12)


def test_curves_of_frequencies_do_not_depend_on_the_split():
    curve = np.geomspace(200, 5000, 40000)
    x = noise(1, 50000)

    def play(size):
        chain = fx.Chain("f=LoButterworth(1000)", RATE, dtype=np.float64)
        chain.set("f.cutoff", curve)
        return np.concatenate([chain.process(x[:, i:i + size])
                               for i in range(0, 50000, size)], axis=1)

    assert np.array_equal(play(50000), play(640))


def test_two_curves_of_a_stage():
    """First 1 kHz and 3 dB, at the end 4 kHz and -6 dB."""
    x = noise(1, 30000)
    parts = []
    for size in 77, 30000:
        chain = fx.Chain("e=ParametricEQ(1000, q=1, gain=3)", RATE, dtype=np.float64)
        chain.set("e.gain", np.interp(np.arange(15000), [7000, 12000], [3, -6]))
        chain.set("e.frequency", np.interp(np.arange(14000), [6000, 11000], [1000, 4000]))
        parts.append(play(chain, x, size))
        assert str(chain) == "e=ParametricEQ(4000, q=1, gain=-6)"
    assert np.array_equal(*parts)
    for text, part in (("ParametricEQ(1000, q=1, gain=3)", np.s_[:, :5900]),
                       ("ParametricEQ(4000, q=1, gain=-6)", np.s_[:, 20000:])):
        expected = fx.Chain(text, RATE, dtype=np.float64)(x)
        assert np.abs(parts[0] - expected)[part].max() < 1e-11


def test_a_value_besides_a_curve():
    """Another value of the stage does not end the curve, nor do other stages."""
    curve = np.linspace(1, 3, 20000)
    x = np.ones((1, 20000))
    chain = fx.Chain("e=ParametricEQ(1000, q=1, gain=0) | g=Gain(1)", RATE,
                     dtype=np.float64)
    chain.set("e.gain", np.linspace(0, 6, 20000))
    chain.set("g.gain", curve)
    y = [chain.process(x[:, :10001])]
    chain.set("e.q", 2)
    y.append(chain.process(x[:, 10001:]))
    # At 0 Hz an equalizer has no gain, but an echo of the change.
    error = np.abs(np.concatenate(y, axis=1) - curve)[0]
    assert error[:10001].max() < 1e-3 and error[11000:-32].max() < 1e-3
    assert str(chain) == "e=ParametricEQ(1000, q=2, gain=6) | g=Gain(3)"


@pytest.mark.parametrize("text", ["g=Gain(1) | Limiter(40)", "Limiter(40) | g=Gain(1)"])
def test_look_ahead_does_not_move_a_curve(text):
    """A value for a frame of the input is that of the frame in the output."""
    curve = np.repeat([1.0, 2.0, 1.0], 1600)
    chain = fx.Chain(text, RATE, dtype=np.float64)
    chain.set("g.gain", curve)
    y = chain(np.ones(4800))
    is_flat = np.abs(np.arange(4800) % 1600 - 800) < 760
    assert chain.latency == 240 and np.abs(y - curve)[is_flat].max() < 1e-12


def test_the_array_may_change_later():
    curve = np.linspace(1, 2, 1000)
    chain = fx.Chain("g=Gain(1)", RATE, dtype=np.float64)
    chain.set("g.gain", curve)
    curve[:] = 100
    assert chain(np.ones(1000)).max() <= 2


@pytest.mark.parametrize("values", [[1, 2, -200], [np.nan, 1], [1, np.inf]])
def test_a_wrong_curve_changes_nothing(values):
    chain = fx.Chain("e=ParametricEQ(1000, q=1, gain=3)", RATE)
    chain.set("e.gain", np.full(5000, 6))
    with pytest.raises(fx.ChainError, match="gain of stage 'e'"):
        chain.set("e.gain", np.array(values))
    chain.process(np.ones(6000, np.float32))
    assert str(chain) == "e=ParametricEQ(1000, q=1, gain=6)"


def test_a_curve_that_fails_ends():
    chain = fx.Chain("f=HiButterworth(80) | g=Gain(1)", RATE)
    chain.set("f.order", np.linspace(2, 8, 5000))
    chain.set("g.gain", np.full(5000, 2))
    x = np.ones(6000, np.float32)
    with pytest.raises(fx.ChainError, match="order of stage 'f'"):
        chain.process(x)
    chain.process(x)
    assert "g=Gain(2)" in str(chain)


def test_a_curve_warns_when_it_is_set():
    chain = fx.Chain("f=LoButterworth(1000)", RATE)
    with pytest.warns(UserWarning, match="30000") as caught:
        chain.set("f.cutoff", np.linspace(1000, 30000, 20000))
    assert len(caught) == 1 and caught[0].filename == __file__
    assert np.isfinite(chain.process(np.ones(30000, np.float32))).all()
