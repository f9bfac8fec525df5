"""An allowance: what each call costs on all small neighboring tables, shares that add up, and prices taken exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit import audit
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError, SenselessParameter
from discreet.mechanisms import Exponential
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, implies
from discreet.privacy.numbers import root_upward, written
from discreet.privacy.pairs import NormalPair
from discreet.synthesis import Allowance, Neighbors
from discreet.synthesis.base import allowance as subject
from tests.synthesis.base.units import SETS, counts, histogram, neighboring

ADD, CHANGE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
PRICES = {
    "pure": {"epsilon": Fraction(3, 2)},
    "concentrated": {"rho": Fraction(1, 7)},
    "gaussian": {"mu": Fraction(2, 3)},
}
both = pytest.mark.parametrize("relation", [ADD, CHANGE])
few = pytest.mark.parametrize("rows", [1, 2])
kinds = pytest.mark.parametrize("kind", PRICES)
SHARE = Fraction(2, 5)


def allowance_of(kind, relation, rows=1):
    return Allowance.of(Neighbors(relation, people=3, rows=rows), **PRICES[kind])


def worth(kind, amount, relation):
    """Return the guarantee that an amount stands for."""
    if kind == "gaussian":
        return GaussianDP(root_upward(2 * amount), relation=relation)
    return PureDP(amount, relation=relation) if kind == "pure" else ZCDP(amount, relation=relation)


def cost(mechanism, by):
    """Return what noise costs on integers that differ by so much: exactly, as epsilon (Laplace), rho or mu^2/2."""
    scale = Fraction(mechanism.noise.scale)
    if isinstance(mechanism.guarantee, PureDP):
        return Fraction(int(np.abs(by).sum())) / scale
    return Fraction(int(np.sum(np.square(by)))) / (2 * scale**2)


@pytest.mark.theorem("Allowance.privacy")
@both
@few
@kinds
@pytest.mark.parametrize("together", [1, 3])
def test_noise_on_histograms_costs_its_share_on_the_worst_neighbors_and_never_more(kind, relation, rows, together):
    allowance = allowance_of(kind, relation, rows)
    mechanism = allowance.noise(SHARE, histograms=together)
    costs = []
    for one, other in neighboring(relation, rows):
        moved = [histogram(one, part) - histogram(other, part) for part in SETS[:together]]
        costs.append(cost(mechanism, np.concatenate(moved)))
    allowed = SHARE * allowance.amount
    assert allowed * (1 - Fraction(1, 10**12)) <= max(costs) <= allowed


@pytest.mark.theorem("Allowance.privacy")
@both
@few
@kinds
def test_the_exact_laws_of_noisy_histograms_keep_the_share(kind, relation, rows):
    # little noise, to have few outcomes
    price = {"pure": {"epsilon": 3}, "concentrated": {"rho": 3 * rows**2}, "gaussian": {"mu": 2 * rows}}[kind]
    allowance = Allowance.of(Neighbors(relation, people=3, rows=rows), **price)
    worst = max(
        ((histogram(one, [0]), histogram(other, [0])) for one, other in neighboring(relation, rows, rest=0)),
        key=lambda pair: np.abs(pair[0] - pair[1]).sum(),
    )
    allowed = SHARE * allowance.amount
    assert not audit(allowance.noise(SHARE), worth(kind, allowed, relation), neighbors=[worst], search=0).refuted
    assert audit(allowance.noise(SHARE), worth(kind, allowed / 2, relation), neighbors=[worst], search=0).refuted


@pytest.mark.theorem("Allowance.privacy")
@both
@few
@kinds
@pytest.mark.parametrize("value", ["count", "swing"])
def test_one_measured_number_costs_its_share_on_the_worst_neighbors_and_never_more(kind, relation, rows, value):
    """The number of records moves by `count`, a centered count by `swing`."""
    allowance = allowance_of(kind, relation, rows)
    mechanism = allowance.single(SHARE, sensitivity=getattr(allowance.neighbors, value))
    costs = []
    for one, other in neighboring(relation, rows, rest=1):
        more = len(one) - len(other)
        by = np.array([more]) if value == "count" else 2 * (counts(one) - counts(other)) - more
        costs.append(max(cost(mechanism, [each]) for each in (by.min(), by.max())))
    allowed = SHARE * allowance.amount
    assert allowed * (1 - Fraction(1, 10**12)) <= max(costs) <= allowed


def chooser(monkeypatch, allowance, sensitivity):
    """Return the mechanism with which an allowance chooses."""
    made = []

    class Noting(Exponential):
        def __init__(self, **stated):
            super().__init__(**stated)
            made.append(self)

    monkeypatch.setattr(subject, "Exponential", Noting)
    allowance.choose([0, 1], SHARE, sensitivity=sensitivity)
    return made[0]


@pytest.mark.theorem("Allowance.privacy")
@both
@few
@kinds
def test_a_choice_by_centered_counts_costs_its_share_on_the_worst_neighbors_and_never_more(
    monkeypatch, kind, relation, rows
):
    allowance = allowance_of(kind, relation, rows)
    mechanism = chooser(monkeypatch, allowance, allowance.neighbors.swing)
    ranges = []
    for one, other in neighboring(relation, rows):
        moved = 2 * (counts(one) - counts(other)) - (len(one) - len(other))
        ranges.append(mechanism.slope * int(moved.max() - moved.min()))
    spent = float(max(ranges) if allowance.pure else max(ranges) ** 2 / 8) * (math.pi / 2 if allowance.gaussian else 1)
    allowed = float(SHARE * allowance.amount)
    assert allowed * (1 - 1e-12) <= spent <= allowed * (1 + 1e-15)


@pytest.mark.theorem("Allowance.privacy")
@kinds
def test_a_choice_has_the_law_that_its_share_prices(monkeypatch, kind):
    """On the exact law: the losses of all outcomes, and their moments of several orders."""
    allowance = allowance_of(kind, CHANGE)
    mechanism = chooser(monkeypatch, allowance, allowance.neighbors.swing)
    for one, other in neighboring(CHANGE, 1, rest=1):
        first, second = (mechanism.law((2 * counts(table) - len(table)).tolist()) for table in (one, other))
        chances = [(first.pmf(place), second.pmf(place)) for place in range(16)]
        losses = [math.log(mine / theirs) for mine, theirs in chances]
        allowed = float(SHARE * allowance.amount)
        if allowance.pure:
            assert max(map(abs, losses)) <= allowed + 1e-9
        for level in (0, 0.1, 0.3, 0.6) if allowance.gaussian else ():
            delta = sum(max(mine - math.exp(level) * theirs, 0.0) for mine, theirs in chances)
            assert delta <= float(NormalPair(math.sqrt(2 * allowed)).delta(Fraction(level)).upper) + 1e-12
        for order in (1.01, 2, 30) if kind == "concentrated" else ():
            moment = sum(mine * math.exp((order - 1) * loss) for (mine, _), loss in zip(chances, losses, strict=True))
            assert math.log(moment) / (order - 1) <= order * allowed + 1e-9


def amount_of(guarantee):
    """Return a guarantee as epsilon, rho or mu^2/2."""
    match guarantee:
        case PureDP(epsilon=level):
            return Fraction(level)
        case GaussianDP(mu=level):
            return Fraction(level) ** 2 / 2
    return Fraction(guarantee.rho)


@pytest.mark.theorem("Allowance.privacy")
@both
@kinds
def test_shares_that_add_up_to_one_cost_the_guarantee_and_parts_count_by_both_shares(kind, relation):
    allowance = allowance_of(kind, relation)
    part = allowance.part(Fraction(1, 3))
    assert part.amount == allowance.amount / 3
    assert type(part.guarantee) is type(allowance.guarantee)
    calls = [
        allowance.noise(Fraction(1, 3)), allowance.single(Fraction(1, 3), sensitivity=2),
        part.noise(Fraction(1, 4), histograms=2), part.single(Fraction(3, 4), sensitivity=1),
    ]  # fmt: skip
    spent = sum(amount_of(one.guarantee) for one in calls)
    assert allowance.amount * (1 - Fraction(1, 10**9)) <= spent <= allowance.amount * (1 + Fraction(1, 10**9))


@pytest.mark.theorem("Allowance.privacy")
@settings(max_examples=25)
@given(st.floats(1e-4, 30), st.floats(1e-14, 0.9))
@pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")
def test_the_amount_of_an_approximate_price_implies_it_and_hardly_more_would(epsilon, delta):
    allowance = Allowance.of(Neighbors(ADD, people=3), epsilon=epsilon, delta=delta)
    target = ApproxDP(written(epsilon), written(delta))
    assert implies(ZCDP(allowance.amount), target)
    assert not implies(ZCDP(allowance.amount * (1 + Fraction(1, 10**9))), target)


def test_prices_are_taken_exactly_and_shown_as_given():
    neighbors = Neighbors(ADD, people=3)
    assert Allowance.of(neighbors, epsilon=0.1).amount == Fraction(1, 10)  # as it is written, like a session's price
    assert Allowance.of(neighbors, rho=0.1).amount == Fraction(1, 10)
    approximate = Allowance.of(neighbors, epsilon=1, delta=1e-9)
    assert approximate.guarantee == ApproxDP(1, 1e-9, relation=ADD)
    assert "(1, 1e-09)-differential privacy" in str(approximate.guarantee)


@pytest.mark.parametrize(
    ("price", "error"),
    [({}, MissingParameter), ({"delta": 1e-6}, MissingParameter), ({"epsilon": 1, "rho": 1}, ConflictingParameters),
     ({"rho": 1, "mu": 1}, ConflictingParameters), ({"mu": 1, "delta": 1e-6}, ConflictingParameters),
     ({"mu": 0}, ParameterError),
     ({"rho": 1, "delta": 1e-6}, ConflictingParameters), ({"epsilon": 0}, ParameterError),
     ({"epsilon": -1}, ParameterError), ({"rho": 0}, ParameterError), ({"epsilon": 1, "delta": 0}, ParameterError),
     ({"epsilon": 1, "delta": 1}, ParameterError), ({"epsilon": 1, "delta": -0.5}, ParameterError),
     ({"epsilon": float("inf")}, ParameterError), ({"rho": float("nan")}, ParameterError)],
    ids=str,
)  # fmt: skip
def test_a_price_that_is_none_is_refused(price, error):
    with pytest.raises(error):
        Allowance.of(Neighbors(ADD, people=3), **price)


@pytest.mark.parametrize("share", [0, Fraction(-1, 2), Fraction(11, 10), float("nan"), None], ids=str)
@kinds
def test_a_share_that_is_none_is_refused(kind, share):
    allowance = allowance_of(kind, ADD)
    for call in (
        lambda: allowance.noisy(np.zeros(2, dtype=np.int64), share),
        lambda: allowance.noise(share),
        lambda: allowance.measure(3, share, sensitivity=1),
        lambda: allowance.choose([1, 2], share, sensitivity=1),
        lambda: allowance.part(share),
    ):
        with pytest.raises(ParameterError):
            call()


@kinds
def test_a_sensitivity_or_a_number_of_histograms_that_is_none_is_refused(kind):
    allowance = allowance_of(kind, ADD)
    for wrong in (0, -1, 0.5):
        with pytest.raises(ParameterError):
            allowance.measure(3, SHARE, sensitivity=wrong)
        with pytest.raises(ParameterError):
            allowance.noise(SHARE, histograms=wrong)
    for wrong in (0, -1):
        with pytest.raises(ParameterError):
            allowance.choose([1, 2], SHARE, sensitivity=wrong)


@pytest.mark.parametrize(
    ("guarantee", "amount", "gaussian"),
    [
        (PureDP(1, relation=ADD), 1, False), (ZCDP(1, relation=ADD), 1, False),
        (GaussianDP(1, relation=ADD), Fraction(1, 2), True),
        (ApproxDP(1, 1e-6, relation=ADD), Fraction(1, 50), False),
        (ApproxDP(1, 1e-6, relation=ADD), Fraction(1, 40), True),
    ],
    ids=str,
)  # fmt: skip
def test_a_allowance_with_more_than_its_guarantee_cannot_be_made(guarantee, amount, gaussian):
    neighbors = Neighbors(ADD, people=3)
    assert Allowance(guarantee, amount, neighbors, gaussian=gaussian).amount == amount
    with pytest.raises(ParameterError, match="more than the guarantee"):
        Allowance(guarantee, 2 * Fraction(amount), neighbors, gaussian=gaussian)
    with pytest.raises(ConflictingParameters):
        Allowance(guarantee, amount, Neighbors(CHANGE, people=3), gaussian=gaussian)
    with pytest.raises(ParameterError):
        Allowance(guarantee, 0, neighbors, gaussian=gaussian)


def test_a_guarantee_that_no_amount_is_known_for_cannot_be_made():
    for guarantee, gaussian in [
        (GaussianDP(1, relation=ADD), False), (GaussianDP(1, 0.5, relation=ADD), True),
        (ApproxDP(1, 0, relation=ADD), False), (ApproxDP(1, 0, relation=ADD), True),
        (PureDP(1, relation=ADD), True), (ZCDP(1, relation=ADD), True),
    ]:  # fmt: skip
        with pytest.raises(ParameterError, match="more than the guarantee"):
            Allowance(guarantee, Fraction(1, 100), Neighbors(ADD, people=3), gaussian=gaussian)


def test_a_delta_that_lets_a_record_be_published_is_warned_of():
    with pytest.warns(SenselessParameter, match="not below 1/500"):
        Allowance.of(Neighbors(ADD, people=500), epsilon=1, delta=0.01)
