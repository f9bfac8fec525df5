"""Guarantees that several files of this room test with."""

from __future__ import annotations

from collections.abc import Iterator

import flint
import pytest

from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP


@pytest.fixture(scope="module", autouse=True)
def precise_reference() -> Iterator[None]:
    """Compare with reference values in balls of 300 bits; the room itself chooses its own precision."""
    with flint.ctx.workprec(300):
        yield


@pytest.fixture
def relation_pairs():
    """Every sound conversion, once."""
    stated = {"relation": Relation.CHANGE_ONE}
    with_delta, with_order = {"delta": 1e-3}, {"alpha": 1.5}
    return [
        (PureDP(1, **stated), PureDP, {}),
        (PureDP(1, **stated), ApproxDP, {}),
        (PureDP(1, **stated), ApproxDP, with_delta),
        (PureDP(1, **stated), ZCDP, {}),
        (PureDP(1, **stated), ZCDP, with_delta),
        (PureDP(1, **stated), RenyiDP, with_order),
        (PureDP(1, **stated), GaussianDP, {}),
        (ApproxDP(1, 1e-6, **stated), ApproxDP, with_delta),
        (ApproxDP(1, 1e-6, **stated), ZCDP, {}),
        (ApproxDP(1, 1e-6, **stated), ZCDP, with_delta),
        (ApproxDP(1, 0, **stated), PureDP, {}),
        (ZCDP(0.5, **stated), ApproxDP, with_delta),
        (ZCDP(0.5, 1e-6, **stated), ApproxDP, with_delta),
        (ZCDP(0.5, 1e-6, **stated), ZCDP, with_delta),
        (ZCDP(0.5, **stated), RenyiDP, with_order),
        (ZCDP(0.5, **stated), GaussianDP, {}),
        (RenyiDP(2, 0.5, **stated), RenyiDP, with_order),
        (RenyiDP(2, 0.5, **stated), ApproxDP, with_delta),
        (RenyiDP(2, 0.5, **stated), ZCDP, with_delta),
        (GaussianDP(1, **stated), ApproxDP, with_delta),
        (GaussianDP(1, **stated), ZCDP, {}),
        (GaussianDP(1, **stated), ZCDP, with_delta),
        (GaussianDP(1, **stated), RenyiDP, with_order),
        (GaussianDP(1, **stated), GaussianDP, {}),
    ]
