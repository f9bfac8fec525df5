"""discreet's own audit covers every mechanism, finds nothing wrong, and would say so if it did."""

from __future__ import annotations

from typing import Any

import pytest

import discreet as dp
from discreet import mechanisms, statistics
from discreet.audit import Outcome
from discreet.mechanisms import Mechanism
from discreet.statistics.statistic import Statistic
from discreet.testing.own import OWN, Own, audit_own, in_short
from tests.conftest import Rounds

STATISTICS = [own for own in OWN if isinstance(own.make(), Statistic)]
GAUSSIANS = [own for own in OWN if own.name.startswith("Gaussian")]  # their exact audit takes a second or two each
MECHANISMS = [own for own in OWN if own not in [*STATISTICS, *GAUSSIANS]]


def kinds(room: Any) -> set[type]:
    listed = [getattr(room, name) for name in room.__all__]
    return {one for one in listed if isinstance(one, type) and issubclass(one, Mechanism) and one is not Mechanism}


def test_every_public_mechanism_and_statistic_is_on_the_list() -> None:
    made = {type(own.make()) for own in OWN}
    assert kinds(mechanisms) | kinds(statistics) <= made
    assert len({own.name for own in OWN}) == len(OWN)


@pytest.mark.parametrize("own", MECHANISMS, ids=[own.name for own in MECHANISMS])
def test_no_mechanism_of_ours_is_refuted(own: Own, rounds: Rounds) -> None:
    told: list[tuple[int, int | None]] = []
    draws = rounds(sample=800, full=40_000)
    (verdict,) = audit_own(draws=draws, subjects=[own], progress=lambda *step: told.append(step))
    assert told == [(0, 1), (1, 1)]
    assert not verdict.refuted
    assert verdict.outcome is Outcome.KEPT
    assert verdict.exact.low >= verdict.statistical.low


@pytest.mark.parametrize(("subjects", "sample"), [(STATISTICS, 3), (GAUSSIANS, 1)], ids=["statistics", "Gaussian"])
def test_no_slow_one_of_ours_is_refuted(subjects: list[Own], sample: int, rounds: Rounds) -> None:
    found = audit_own(draws=1600, subjects=subjects[: rounds(sample=sample, full=len(subjects))])
    assert found.refuted == ()
    assert all(verdict.outcome is Outcome.KEPT for verdict in found)


class Quiet(dp.Laplace):
    """Half the noise behind the law and the price of all of it."""

    def __call__(self, value: Any) -> Any:
        return value + self.noise.draw_one() // 2


def test_a_sampler_that_leaves_its_law_is_refuted() -> None:
    found = audit_own(draws=4000, subjects=[Own("quiet", lambda: Quiet(epsilon=0.5, sensitivity=1), 3)])
    assert found.refuted == ("quiet",)
    assert [one.outcome for one in found] == [Outcome.REFUTED]
    assert "refuted" in str(found.table())
    assert "<table>" in found._repr_html_()


def test_claims_are_written_in_short() -> None:
    assert in_short(dp.PureDP(0.5)) == "0.5-DP"
    assert in_short(dp.ApproxDP(1, 1e-5)) == "(1, 1e-05)-DP"
    assert in_short(dp.ZCDP(0.125)) == "0.125-zCDP"
    assert in_short(dp.ZCDP(0.125, 1e-6)) == "(0.125, 1e-06)-zCDP"
    assert in_short(dp.GaussianDP(1)) == "1-Gaussian differential privacy"
