"""Records without categories answer every query as before, and the best response may then be impossible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.synthesis import Domain, Literals, Records, Workload, best_response, one_hot, unconstrained
from discreet.synthesis.workloads.one_hot_domain import unconstrained_domain


def signed_workload(seed: int, sizes: list[int], *, missing: bool = False) -> Workload:
    """Return random products and parities of values and negated values."""
    coins = np.random.default_rng(seed)
    domain = Domain.of({f"a{place}": range(size) for place, size in enumerate(sizes)}, missing=missing)
    attribute = np.repeat(np.arange(len(sizes)), domain.sizes)
    code = np.concatenate([np.arange(size) for size in domain.sizes])
    one = code[:, None] == np.arange(max(domain.sizes))
    inside = np.arange(max(domain.sizes)) < np.array(domain.sizes)[attribute][:, None]
    literals = Literals(np.tile(attribute, 2).astype(np.int32), np.concatenate([one, inside & ~one]))
    usable = np.flatnonzero(literals.accepts.any(axis=1))
    members = coins.choice(usable, size=(30, 3)).astype(np.int32)
    return Workload(domain, literals, members, coins.random(30) < 0.3, coins.random(30) < 0.5, "signed")


@pytest.mark.theorem("unconstrained.accuracy")
@given(st.integers(0, 2**32), st.lists(st.integers(2, 5), min_size=1, max_size=4), st.booleans())
def test_every_query_has_the_same_answer_on_one_hot_records(seed: int, sizes: list[int], missing: bool) -> None:
    workload = signed_workload(seed, sizes, missing=missing)
    coins = np.random.default_rng(seed)
    codes = np.stack([coins.integers(size, size=20) for size in workload.domain.sizes]).astype(np.uint16)
    records = Records(workload.domain, codes)
    free = unconstrained(workload)
    assert free.domain == one_hot(records).domain
    assert free.domain.width == 2 * workload.domain.width
    assert free.counts(one_hot(records)).tolist() == workload.counts(records).tolist()
    assert np.all(one_hot(records).codes.sum(axis=0) == len(sizes))


def test_a_free_record_can_have_two_values_and_so_a_larger_value() -> None:
    domain = Domain.of(color=["red", "green", "blue"])
    literals = Literals(np.zeros(3, dtype=np.int32), np.eye(3, dtype=bool))
    no = np.zeros(3, dtype=bool)
    workload = Workload(domain, literals, np.array([[0], [1], [2]], dtype=np.int32), no, no, "colors")
    assert best_response(workload, [0, 1, 2], [2, 1, -1]).value == 2
    free = best_response(unconstrained(workload), [0, 1, 2], [2, 1, -1])
    assert (free.value, free.record.tolist()) == (3, [1, 1, 0])


def test_literals_about_several_values_are_refused() -> None:
    domain = Domain.of(rooms=range(4))
    literals = Literals(np.zeros(1, dtype=np.int32), np.array([[1, 1, 0, 0]], dtype=bool))
    no = np.zeros(1, dtype=bool)
    workload = Workload(domain, literals, np.array([[0]], dtype=np.int32), no, no, "at most 1")
    with pytest.raises(ParameterError, match="all but one"):
        unconstrained(workload)


def test_values_and_missing_have_names() -> None:
    assert unconstrained_domain(Domain.of({"sex": ["f", "m"]}, missing=True)).names == (
        "sex = 'f'",
        "sex = 'm'",
        "sex is missing",
    )
