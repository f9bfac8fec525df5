"""What a release is named by: all parameters of a method, so that no two releases share a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.privacy import ApproxDP, Relation
from discreet.query import Session
from discreet.synthesis import Allowance, Domain, Neighbors, Workload, marginals
from discreet.synthesis.methods import METHODS
from discreet.synthesis.methods.dual_query.method import DualQuery, Responder, Weights
from discreet.synthesis.methods.dual_query.price import Accounting
from discreet.synthesis.methods.forest.tree import Tree
from discreet.synthesis.methods.residual.allocation import Aim
from discreet.synthesis.methods.residual.method import Residual
from discreet.synthesis.sessions.asking import domain_of
from discreet.synthesis.sessions.asking import explain_synthesis as explain
from discreet.synthesis.sessions.release import prepare
from discreet.synthesis.sessions.stored import in_full
from tests.query.small_tables import Untouchable
from tests.synthesis.sessions.test_sessions import open_session, workload_of


def test_values_that_differ_in_anything_differ() -> None:
    values = [
        0, 0.0, False, "0", None, (), [], {}, Fraction(0), (0,), [0], ((0,),), {0: 1}, {1: 0}, Aim.SUM, Aim.LARGEST,
        Weights.EQUAL, np.zeros(1), np.zeros(2), np.zeros((1, 2)), np.zeros(2, dtype=np.int64), np.ones(2), np.bool_(0),
    ]  # fmt: skip
    found = [str(in_full(value)) for value in values]
    assert len(set(found)) == len(values)
    assert found == [str(in_full(value)) for value in values]


def test_a_field_that_came_later_is_left_out_at_its_default_alone() -> None:
    neighbors = Neighbors(Relation.ADD_REMOVE, people=100)
    as_rho = Allowance.of(neighbors, rho=1)
    assert [one[0] for one in in_full(as_rho)[1:]] == ["guarantee", "amount", "neighbors"]
    target = Allowance.of(neighbors, epsilon=1, delta=1e-6)
    assert in_full(target.for_noise()) != in_full(target)
    assert in_full(target.for_noise())[-1] == ["gaussian", ["bool", "True"]]


@pytest.mark.parametrize(
    "changes",
    [
        {"certify": 2}, {"oracle": Responder.EXACT}, {"weights": Weights.EQUAL}, {"rounds": 3}, {"eta": Fraction(1, 3)},
        {"accounting": Accounting.PAPER},
    ],
)  # fmt: skip
def test_every_parameter_of_dual_query_makes_another_release(
    changes: dict[str, Any], unchanged: tuple[Callable[..., str], str]
) -> None:
    digest, usual = unchanged
    assert digest(**changes) != usual
    assert digest() == usual


@pytest.fixture(scope="module")
def unchanged() -> Iterator[tuple[Callable[..., str], str]]:
    """The digest of a release by DualQuery as a function of its parameters, and that of the usual ones."""
    with open_session(ApproxDP(4, 1e-3)) as session:
        workload = workload_of(session)

        def digest(**more: Any) -> str:
            given: Any = {"eta": Fraction(1, 4), "rounds": 4, **more}
            price = {"people": 6000, "epsilon": 1, "delta": 1e-6}
            return prepare(
                session, "visits", workload, lambda w, n, p: DualQuery.of(w, n, **p.amounts(), **given), **price
            ).digest

        yield digest, digest()


class OtherWorkload(Workload):
    """The same queries, which a method may look at in another way."""


def test_the_same_queries_in_workloads_of_two_kinds_differ() -> None:
    cells = marginals(Domain.of(sex=["f", "m"], smokes=["no", "yes"]), ways=2)
    one, two = (
        kind(cells.domain, cells.literals, cells.members, cells.parity, cells.negated, cells.description)
        for kind in (Workload, OtherWorkload)
    )
    assert one.digest == two.digest
    assert in_full(one) != in_full(two)


def test_every_field_of_a_method_is_in_its_digest() -> None:
    with open_session() as session:
        cells = marginals(domain_of(session, "visits", ["region", "smokes"]), ways=1)
        for method in METHODS:
            made = explain(session, "visits", cells, method=method, people=60, epsilon=1)
            words = str(in_full(made.made))
            assert all(f"'{one.name}'" in words for one in fields(made.made))  # type: ignore[arg-type]
        residual = [
            explain(session, "visits", cells, method="residual", people=60, epsilon=1),
            prepare(
                session,
                "visits",
                cells,
                lambda w, n, p: Residual.of(w, n, **p.amounts(), aim=Aim.LARGEST),
                people=60,
                epsilon=1,
            ),
            prepare(
                session, "visits", cells, lambda w, n, p: Tree.of(w, n, **p.amounts(), size=77), people=60, epsilon=1
            ),
            explain(session, "visits", cells, method="tree", people=60, epsilon=1),
        ]
        assert len({one.digest for one in residual}) == 4
        other = Session(
            replace(session.policy, version="2"), analyst="analyst", engine=Untouchable(), ledger=session.ledger
        )
        assert explain(other, "visits", cells, method="tree", people=60, epsilon=1).digest != residual[3].digest
