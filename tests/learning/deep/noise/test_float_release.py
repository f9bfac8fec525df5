"""Floating-point noise says that it is not exact, and otherwise behaves like the exact one."""

from __future__ import annotations

import copy

import pytest

torch = pytest.importorskip("torch")

from discreet.errors import NotCopyable, ParameterError, StreamSpent  # noqa: E402  torch comes first
from discreet.learning.deep.noise import FloatRelease  # noqa: E402
from tests.randomness.sources import in_child  # noqa: E402


def test_it_is_labelled():
    assert FloatRelease.exact is False
    assert "not exact" in FloatRelease.__doc__


def test_sums_add_up_and_start_anew_each_step():
    release = FloatRelease([(2,), (3, 1)], deviation=1e-9, steps=3)
    given = [torch.ones(2), torch.ones(3, 1)]
    release.add(given)
    release.add(given)
    assert [one.numpy().round(3).tolist() for one in release.release(0)] == [[2.0, 2.0], [[2.0], [2.0], [2.0]]]
    assert given[0].tolist() == [1.0, 1.0]
    release.add(given)
    release.clear()
    assert float(release.release(1)[0].abs().max()) < 1e-6


def test_the_noise_has_its_deviation():
    (noise,) = FloatRelease([(200_000,)], deviation=3.0, steps=1).release(0)
    # the mean square of 2e5 normals has a relative deviation of sqrt(2 / 2e5) = .0032: 2 % is 6.3 of them, 3e-10
    assert noise.dtype == torch.float32
    assert float(noise.square().mean()) == pytest.approx(9.0, rel=0.02)


def test_steps_shapes_forks_and_copies_are_guarded():
    release = FloatRelease([(2,)], deviation=1.0, steps=2)
    release.release(0)
    for step in (0, 2):
        with pytest.raises(StreamSpent):
            release.release(step)
    with pytest.raises(ParameterError, match="shapes"):
        release.add([torch.ones(3)])
    with pytest.raises(ParameterError, match="deviation"):
        FloatRelease([(2,)], deviation=0.0, steps=2)
    with pytest.raises(NotCopyable):
        copy.copy(release)

    def child():
        try:
            release.release(1)
        except NotCopyable as refused:
            return str(refused)
        return None

    assert "another process" in in_child(child)
