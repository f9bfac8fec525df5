"""Simulated releases tell what a model's intervals hold, how wide they would be, and at what price; no data is read.

Noise is drawn by the real laws, so nothing here is repeated by a seed: every bound on a share or a mean is 6.2 standard
errors (5.7e-10 for a normal law), and every p-value is compared with 1e-9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas
import pytest

import discreet as dp
from discreet.bayes.planning import ExpectedWidth, calibration, cheapest_price, counts_plan, expected_width
from discreet.errors import MissingParameter, NotConverged, ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.privacy import PureDP, Relation
from tests.bayes.small_models import Coins, Mixed, plan

SURE = 6.2
ADD = Relation.ADD_REMOVE


@pytest.fixture(scope="module")
def right():
    return calibration(Coins(60), plan(groups=2, scale=5), reps=250, seed=1)


@pytest.mark.theorem("CalibrationCheck.accuracy")
def test_a_right_model_holds_what_it_says(right):
    found = right.coverage("share")
    assert abs(found.value - 0.95) < SURE * math.sqrt(0.95 * 0.05 / 500)
    assert right.uniform("share") > 1e-9
    assert right.uniform("heads", "a") > 1e-9
    assert right.failed == 0
    assert right.reps == 250


@pytest.mark.theorem("CalibrationCheck.accuracy")
def test_intervals_for_integers_are_held_as_often_as_their_mass(right):
    held, mass = right.coverage("heads"), right.mass("heads")
    assert mass.value > 0.95
    assert abs(held.value - mass.value) < SURE * math.hypot(held.error, mass.error)


def test_a_wrong_model_is_found_out():
    """Shares .6 too high in the prior, and noise that hides it: all truths are in the upper half."""
    wrong = calibration(Coins(60, prior_off=0.6), plan(groups=2, scale=200), reps=200, seed=1)
    assert wrong.uniform("share") < 1e-9
    assert "KS p" in str(wrong)


@dataclass(frozen=True)
class Sometimes(Coins):
    """A sampler that gets stuck in a third of its runs."""

    def fit(self, measurements, *, generator, progress):
        stuck = generator.random() < 1 / 3
        return replace(self, chains="stuck" if stuck else "good").fit_as(measurements, generator, progress)

    def fit_as(self, measurements, generator, progress):
        return Coins(self.people, chains=self.chains).fit(measurements, generator=generator, progress=progress)


@pytest.mark.theorem("CalibrationCheck.accuracy")
def test_runs_that_failed_are_counted_and_count_as_not_held():
    found = calibration(Sometimes(30), plan(groups=1), reps=60, seed=1)
    assert 0 < found.failed < 60
    assert np.isnan(found.ranks["share"]).sum() == found.failed
    assert not found.held["share"][np.isnan(found.ranks["share"])].any()
    assert found.coverage("share").value <= 1 - found.failed / 60
    assert f"{found.failed} of them failed" in str(found)


def test_where_all_runs_fail_nothing_is_told():
    with pytest.raises(NotConverged, match="all 20 simulated runs failed"):
        calibration(Coins(30, chains="stuck"), plan(groups=1), reps=20)
    with pytest.raises(NotConverged, match="20 of 20 simulated runs failed"):
        expected_width(Coins(30, chains="stuck"), plan(groups=1), reps=20)


def test_groups_have_rows_of_their_own_and_a_picture(right):
    assert [row[0] for row in right.by_group("share").rows] == ["a", "b"]
    assert right.plot("share").svg().startswith("<?xml")
    assert right.coverage("share", "a").error > 0
    assert right._repr_html_().count("<tr>") == 3


def test_progress_tells_the_runs_done_and_the_runs_in_all():
    told = []
    calibration(Coins(10), plan(groups=1), reps=20, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 20) for done in range(1, 21)]


def expected(people, scale, confidence=0.95):
    """Return the expected width of the share's interval: a sum over all that may be released."""
    counts, law = np.arange(people + 1), DiscreteLaplace(scale)
    total = 0.0
    for z in range(-40 * scale, people + 40 * scale + 1):
        weights = law.pmf(z - counts) / (people + 1)
        if weights.sum() > 1e-12:
            low, high = Mixed(weights / weights.sum(), 1 + counts, 1 + people - counts).ends(confidence)
            total += weights.sum() * (high - low)
    return total


@pytest.mark.theorem("expected_width.accuracy")
def test_the_expected_width_is_the_sum_over_all_releases():
    found = expected_width(Coins(20), plan(groups=1, scale=2), reps=200, seed=1)
    assert found.parameter == "share"
    assert abs(found.value - expected(20, 2)) < SURE * found.error


def test_the_cheapest_price_gives_the_width_and_a_third_less_does_not():
    """Simulated widths err by about 1 %, a price by some 3 %: a third of the price is beyond any doubt."""
    wanted = expected(20, 2)  # at epsilon 1/2
    found = cheapest_price(Coins(20), counts_plan(relation=ADD), width=wanted, reps=150, seed=2)
    assert found.width.value <= wanted
    assert 0.5 / 1.5 < found.value < 0.5 * 1.5
    assert str(found).startswith("epsilon 0.")


def test_widths_that_no_price_reaches_or_none_needs_are_refused():
    with pytest.raises(ParameterError, match="width must be one that some price reaches"):
        cheapest_price(Coins(20), counts_plan(relation=ADD), width=1e-6, reps=20)
    with pytest.raises(ParameterError, match="the prior alone"):
        cheapest_price(Coins(20), counts_plan(relation=ADD), width=0.99, reps=20)


@pytest.mark.theorem("calibration.privacy", "expected_width.privacy", "cheapest_price.privacy")
def test_planning_reads_no_data_and_charges_nothing(monkeypatch):
    frame = pandas.DataFrame({"person": range(90), "ward": ["a", "b", "b"] * 30})
    columns = {"ward": {"values": ["a", "b"]}}
    with dp.Session.from_frames(t=frame, unit="person", rows=1, budget=PureDP(2), columns=columns) as session:
        before = str(session.balance)
        monkeypatch.setattr(type(session), "sql", None)
        monkeypatch.setattr(type(session.engine), "run", None, raising=False)

        def asked(**price):
            return session.explain("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", **price)

        assert calibration(Coins(20), asked(epsilon=0.5), reps=20).parameters[0].groups == (("a",), ("b",))
        assert expected_width(Coins(20), asked, epsilon=0.5, reps=20).value > 0
        assert cheapest_price(Coins(20), asked, width=0.5, reps=20).value > 0
        assert str(session.balance) == before


def test_counts_are_planned_at_any_price():
    one, two = (
        counts_plan(["a", "b"], key="region", relation=ADD),
        counts_plan(["a", "b"], relation=Relation.CHANGE_ONE),
    )
    assert one(epsilon=0.5).noise == DiscreteLaplace(2)
    assert two(epsilon=0.5).noise == DiscreteLaplace(4)
    assert one(rho=0.125).noise == DiscreteGaussian(2)
    assert one(mu=0.5).noise.scale == 2
    assert one(epsilon=0.5, delta=1e-6).noise.scale > 2
    assert counts_plan(relation=Relation.CHANGE_ONE)(epsilon=0.5).noise == DiscreteLaplace(2)
    assert one(epsilon=1).keys == (("a",), ("b",))


def test_statistics_and_lists_of_plans_are_read():
    count = dp.statistics.Count(relation=ADD, epsilon=1)
    assert expected_width(Coins(20), count, reps=20).value > 0
    assert expected_width(Coins(20), [plan(groups=1)], reps=20).value > 0
    assert expected_width(Coins(20), lambda **price: dp.statistics.Count(relation=ADD, **price), rho=0.1, reps=20)


@pytest.mark.parametrize(
    ("made", "price", "kind", "words"),
    [
        (plan(), {"epsilon": 1}, ParameterError, "epsilon= must go with a maker"),
        (counts_plan(relation=ADD), {}, MissingParameter, "the price must be given"),
        (counts_plan(relation=ADD), {"epsilon": 1, "rho": 1}, ParameterError, "price must be given once"),
        ("SELECT 1", {}, ParameterError, "plan must say what will be measured"),
        ([], {}, ParameterError, "plan must say"),
        (lambda **price: price, {"epsilon": 1}, ParameterError, "a maker of plans must return plans"),
    ],
)
def test_bad_plans_are_refused(made, price, kind, words):
    with pytest.raises(kind, match=words):
        expected_width(Coins(20), made, reps=20, **price)


@pytest.mark.parametrize("wrong", [0, 19, 2.5, True, "many"])
def test_bad_numbers_of_runs_are_refused(wrong):
    with pytest.raises(ParameterError, match="reps must be"):
        calibration(Coins(20), plan(), reps=wrong)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"width": 0}, "width must be a positive"),
        ({"width": math.inf}, "width must be a positive"),
        ({"width": 0.1, "word": "delta"}, "word must be"),
        ({"width": 0.1, "name": "other", "reps": 20}, "name must be one of"),
    ],
)
def test_bad_widths_are_refused(wrong, words):
    with pytest.raises(ParameterError, match=words):
        cheapest_price(Coins(20), counts_plan(relation=ADD), **wrong)


def test_no_relation_no_plan():
    with pytest.raises(MissingParameter, match="relation="):
        counts_plan(["a"])
    with pytest.raises(ParameterError, match="groups must be different"):
        counts_plan(["a", "a"], relation=ADD)


def test_draws_and_laws_have_the_same_ranks():
    """A truth among N draws has the rank of one more draw: (below + U (equal + 1)) / (N + 1)."""
    exact, drawn = (
        calibration(Coins(20, chains=kind), plan(groups=1, scale=1), reps=40, seed=3) for kind in ("", "good")
    )
    assert exact.uniform("heads") > 1e-9
    assert drawn.uniform("heads") > 1e-9


def test_no_price_is_simulated_twice_so_that_the_width_told_is_the_one_that_chose_it(monkeypatch):
    """A second simulation has other noise: its width may be above the one that was wanted."""
    tried = []

    def simulated(_model, _plan, **options):
        assert options["epsilon"] not in tried
        tried.append(options["epsilon"])
        return ExpectedWidth("share", 1 / options["epsilon"], 0.01, 0.95, 20, 0)

    monkeypatch.setattr("discreet.bayes.planning.width.expected_width", simulated)
    for wanted in (0.9, 0.3, 3.0):
        tried.clear()
        assert cheapest_price(Coins(20), counts_plan(relation=ADD), width=wanted, reps=20).width.value <= wanted
