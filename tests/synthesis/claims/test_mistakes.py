"""What beginners write in the wrong place is refused in one sentence that says what belongs there."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from discreet.errors import InputError, ParameterError
from discreet.privacy import Relation
from discreet.synthesis import (
    Best,
    Domain,
    DualQuery,
    Independent,
    Mwem,
    Neighbors,
    NoisyAnswers,
    Residual,
    Reweighted,
    Tree,
    marginals,
    report,
)

DOMAIN = Domain.of(sex=["f", "m"], rooms=[1, 2, 3])
FRAME = pd.DataFrame({"sex": ["f", "m"] * 9, "rooms": [1, 2, 3] * 6})
ASKED = marginals(DOMAIN, ways=2)
PEOPLE = Neighbors(Relation.ADD_REMOVE, 18)
METHODS = (Best, DualQuery, Independent, Mwem, NoisyAnswers, Residual, Reweighted, Tree)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wrong", [5000, Relation.ADD_REMOVE, None, FRAME])
def test_what_is_no_neighbors_is_said_to_be_none(method: Any, wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"Neighbors\(Relation.ADD_REMOVE, 5000\)") as caught:
        method.of(ASKED, wrong, epsilon=1)
    assert caught.value.parameter == "neighbors"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wrong", [[{"sex": "f"}], DOMAIN, "sex", FRAME])
def test_what_is_no_workload_is_said_to_be_none(method: Any, wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"make one with queries\(domain, \[...\]\)") as caught:
        method.of(neighbors=PEOPLE, workload=wrong, epsilon=1)
    assert caught.value.parameter == "workload"


def test_a_checked_method_is_made_and_documented_as_before() -> None:
    assert isinstance(Tree.of(workload=ASKED, neighbors=PEOPLE, epsilon=1, size=10), Tree)
    assert "how many rows" in str(Tree.of.__doc__)
    with pytest.raises(TypeError, match=r"Tree.of\(\)"):
        Tree.of(ASKED, epsilon=1)  # type: ignore[call-arg]


def test_a_frame_is_told_to_be_encoded() -> None:
    method = Independent.of(ASKED, PEOPLE, epsilon=1)
    with pytest.raises(InputError, match=r"must be Records, not DataFrame; encode it first: domain.encode\(frame\)"):
        method(FRAME)
    release = method(DOMAIN.encode(FRAME))
    with pytest.raises(InputError, match=r"the truth must be Records, not DataFrame; encode it first"):
        report(release, FRAME)
    with pytest.raises(InputError, match="a report must be about a SyntheticRelease, not DataFrame"):
        report(FRAME)
