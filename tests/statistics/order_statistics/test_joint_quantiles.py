"""Quantiles chosen all at once: the chain's draws against enumeration, the law's price, the errors of the ranks."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet import statistics
from discreet.audit import goodness_of_fit
from discreet.statistics.order_statistics import joint_draw
from discreet.statistics.order_statistics.joint import JointQuantiles
from discreet.statistics.order_statistics.joint_draw import JointDraw, distance_of
from discreet.statistics.order_statistics.tree import QuantileTree
from discreet.statistics.ranks.ranked import Ranked
from discreet.testing import Subject, conformance_checks
from tests.chances import ALARM
from tests.conftest import Rounds
from tests.statistics.tables import neighbors, tables

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
THIRDS, QUARTERS = (Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))
TEN = tuple(Fraction(place, 11) for place in range(1, 11))


def _enumerated(rows: np.ndarray, means: list[Fraction], rate: Fraction, steps: int) -> dict[tuple[int, ...], float]:
    weights: dict[tuple[int, ...], float] = {}
    for places in product(range(steps + 1), repeat=len(means) - 1):
        ordered = tuple(sorted(places))
        ranks = [int(rank) for rank in np.searchsorted(rows, ordered, side="right")]
        weights[ordered] = weights.get(ordered, 0.0) + math.exp(-float(rate * distance_of(ranks, means, rows.size)))
    return weights


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 5), max_size=7),
    st.lists(st.fractions(0, 4, max_denominator=9), min_size=3, max_size=4),
    st.fractions(Fraction(1, 20), 6, max_denominator=20),
)
def test_the_total_of_the_chain_is_just_above_what_all_tuples_weigh(
    table: list[int], means: list[Fraction], rate: Fraction
) -> None:
    rows = np.sort(np.array(table, dtype=np.int64))
    drawn = JointDraw(rows, means, rate, 5)
    exact = sum(_enumerated(rows, means, rate, 5).values()) / math.factorial(len(means) - 1)
    total = math.exp(drawn._total)
    kept = math.exp(-4 * (len(means) - 1) * float(drawn._half * rate))  # at least, where ranks are taken in blocks
    assert kept >= math.exp(-1) - 1e-9
    assert exact * (1 - 1e-12) <= total <= exact * (1 + 1e-5) / kept


@pytest.mark.parametrize(
    ("table", "rate", "margin"),
    [
        ([0, 1, 1, 2, 4, 4, 5, 6, 6, 7], Fraction(1, 2), None),
        ([0, 1, 1, 2, 4, 4, 5, 6, 6, 7], Fraction(1, 2), 1.0),
        ([0, 1, 1, 2, 4, 4, 5, 6, 6, 7], Fraction(1, 20), None),  # blocks of 5 ranks
        ([0, 1, 1, 2, 4, 4, 5, 6, 6, 7], Fraction(1, 12), 0.1),
        ([3] * 10, Fraction(1, 9), None),
        ([0] * 5 + [7] * 5, Fraction(1, 3), None),
    ],
)
def test_draws_follow_the_enumerated_law_inside_and_outside_the_windows(
    table: list[int], rate: Fraction, margin: float | None, monkeypatch: pytest.MonkeyPatch, rounds: Rounds
) -> None:
    rows, means = np.array(table), [Fraction(3), Fraction(5, 2), Fraction(4)]
    if margin is not None:
        monkeypatch.setattr(joint_draw, "_NEGLIGIBLE", margin - 2 * math.log(8))
    drawn = JointDraw(rows, means, rate, 7)
    assert bool(drawn._odds) is (margin is not None)
    weights = _enumerated(rows, means, rate, 7)
    count = rounds(sample=2000, full=100_000)
    seen = Counter(tuple(drawn.draw()) for _ in range(count))
    total = sum(weights.values())
    for outcome, weight in weights.items():
        expected = count * weight / total
        assert abs(seen[outcome] - expected) < 6.5 * math.sqrt(expected) + 12


@pytest.mark.theorem("JointQuantiles.privacy")
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
@pytest.mark.parametrize("levels", [THIRDS, QUARTERS])
def test_distances_of_tuples_move_by_the_sensitivity_and_by_no_more(
    relation: dp.Relation, levels: tuple[Fraction, ...]
) -> None:
    joint = JointQuantiles(levels=levels, epsilon=1, relation=relation, steps=3)
    means = joint._means(5)
    largest = Fraction(0)
    for pair in neighbors(range(4), 4, relation):
        for outcome in combinations_with_replacement(range(4), len(levels)):
            one, two = (
                distance_of(
                    [int(np.searchsorted(sorted(table), at, side="right")) for at in outcome], means, len(table)
                )
                for table in pair
            )
            largest = max(largest, abs(one - two))
    assert largest == joint.sensitivity


@pytest.mark.theorem("JointQuantiles.privacy")
@pytest.mark.parametrize(("relation", "public"), [(ADD_REMOVE, False), (CHANGE_ONE, False), (CHANGE_ONE, True)])
@pytest.mark.parametrize(("levels", "steps"), [(THIRDS, 3), (QUARTERS, 2)])
def test_the_exact_law_keeps_epsilon_on_all_neighbors_of_small_tables(
    relation: dp.Relation, public: bool, levels: tuple[Fraction, ...], steps: int
) -> None:
    joint = JointQuantiles(levels=levels, epsilon=6, relation=relation, steps=steps, tie_bits=0, size_is_public=public)
    laws = {table: joint.law(list(table)) for table in tables(range(steps + 1), 3)}
    worst = 0.0
    # a law is that of the rows in any order, and both directions of a pair are looked at
    pairs = neighbors(range(steps + 1), 3, relation)
    apart = {frozenset((tuple(sorted(one)), tuple(sorted(two)))) for one, two in pairs}
    for first, second in (pair for pair in apart if len(pair) == 2):
        pair = laws[first].pair(laws[second])
        worst = max(worst, pair.max_loss().upper, pair.reversed().max_loss().upper)
    assert worst <= 6 + 1e-9
    assert worst > 1


def test_draws_follow_the_law_with_its_noisy_count_and_its_random_bits(rounds: Rounds) -> None:
    joint = JointQuantiles(levels=THIRDS, epsilon=8, relation=ADD_REMOVE, steps=2, tie_bits=1)
    law = joint.law([0, 1])
    assert not goodness_of_fit(law, law.sample(rounds(sample=2000, full=50_000))).alarm(ALARM)


@pytest.mark.theorem("JointQuantiles.accuracy")
@pytest.mark.parametrize(("relation", "public"), [(ADD_REMOVE, False), (CHANGE_ONE, True)])
def test_all_answers_are_within_their_rank_errors_as_often_as_guaranteed(
    relation: dp.Relation, public: bool, rounds: Rounds
) -> None:
    joint = JointQuantiles(levels=TEN, epsilon=1, relation=relation, steps=1 << 30, size_is_public=public)
    rows = np.random.default_rng(6).integers(0, 1 << 30, 4000)
    rows[:1500] = 12_345
    ranked, bounds = Ranked.of(rows, steps=1 << 30), joint.error(0.9, rows_expected=4000)
    for _ in range(rounds(sample=30, full=1000)):
        answers = joint(rows)
        assert list(answers) == sorted(answers)
        assert all(
            ranked.distance(at, level * 4000) <= bound for at, level, bound in zip(answers, TEN, bounds, strict=True)
        )


def test_the_predicted_rank_error_is_the_one_that_is_seen(rounds: Rounds) -> None:
    joint = JointQuantiles(levels=TEN, epsilon=0.5, relation=ADD_REMOVE, steps=1 << 30)
    rows = np.sort(np.random.default_rng(7).integers(0, 1 << 30, 20_000))
    count = rounds(sample=400, full=1000)
    wanted = np.array([float(level) for level in TEN]) * rows.size
    ranks = np.array([np.searchsorted(rows, joint(rows), side="right") for _ in range(count)])
    errors = ((ranks - wanted) ** 2).mean(axis=1)
    # one mean square is 0.65 of the prediction with standard deviation 0.7, so 400 of them stray by 0.3 below 1e-12
    assert 0.35 * joint.variance() < errors.mean() < 1.3 * joint.variance()


def test_a_count_is_bought_only_where_the_number_of_rows_is_private() -> None:
    public = JointQuantiles(levels=TEN, epsilon=1, relation=CHANGE_ONE, steps=100, size_is_public=True)
    assert public.count is None
    assert public.choice_epsilon == 1
    for relation in (ADD_REMOVE, CHANGE_ONE):
        private = JointQuantiles(levels=TEN, epsilon=1, relation=relation, steps=100)
        assert private.count is not None
        assert private.choice_epsilon + Fraction(private.count.guarantee.epsilon) == 1  # type: ignore[attr-defined]
        assert private.loss.satisfies(private.guarantee)
    concentrated = JointQuantiles(levels=TEN, rho=0.1, relation=ADD_REMOVE, steps=100)
    assert concentrated.loss.satisfies(concentrated.guarantee)


@pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")
@pytest.mark.parametrize("rows", [[], [5], [5] * 1000, [0] * 500 + [1000] * 500])
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 1e4])
def test_odd_tables_and_prices_get_an_answer(rows: list[int], epsilon: float) -> None:
    joint = JointQuantiles(levels=TEN, epsilon=epsilon, relation=ADD_REMOVE, steps=1000)
    answers = joint(rows)
    assert list(answers) == sorted(answers)
    assert 0 <= answers[0] <= answers[-1] <= 1000


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("levels", [20, 40])
def test_many_levels_of_few_rows_are_drawn_soon(rows, levels):
    joint = JointQuantiles(
        levels=[Fraction(i, levels + 1) for i in range(1, levels + 1)],
        epsilon=1,
        relation=dp.Relation.CHANGE_ONE,
        size_is_public=True,
        steps=1000,
    )
    assert len(joint(list(range(rows)))) == levels


@pytest.mark.parametrize("tie_bits", [4, 7])
def test_equal_rows_that_random_bits_do_not_tell_apart_are_drawn_soon(tie_bits):
    joint = JointQuantiles(
        levels=(0.25, 0.75),
        epsilon=1,
        relation=dp.Relation.CHANGE_ONE,
        size_is_public=True,
        steps=1000,
        tie_bits=tie_bits,
    )
    assert joint([500] * 20_000) == (500, 500)


KINDS = {
    "equal": lambda size: np.full(size, 1 << 29),
    "lowest": lambda size: np.zeros(size, dtype=np.int64),
    "sorted": lambda size: np.arange(size) * ((1 << 30) // size),
    "two": lambda size: np.where(np.arange(size) % 2, 0, 1 << 30),
    "adjacent": lambda size: (1 << 29) + np.arange(size) % 2,
    "one far": lambda size: np.where(np.arange(size) == 0, 1 << 30, 0),
    "doubling": lambda size: np.sort(1 << (np.arange(size) % 30)),
    "spread": lambda size: np.random.default_rng(3).integers(0, 1 << 30, size),
}
PRICES = [{"epsilon": 1}, {"epsilon": 1e-4}, {"epsilon": 500}, {"rho": 1e-6}, {"rho": 20}, {"rho": 1e5}]


class _Counted:
    """Counts the cells of the bounds and the tuples proposed, and ends what proposes without bound."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
        self.cells = self.proposals = 0
        counted, chain = self, joint_draw.Chain

        class Chain(chain):  # type: ignore[misc, valid-type]
            def __init__(self, windows, *rest):
                counted.cells += sum(window.lengths.size for window in windows)
                super().__init__(windows, *rest)

            def draw(self):
                counted.proposals += 1
                assert counted.proposals <= most
                return super().draw()

        monkeypatch.setattr(joint_draw, "Chain", Chain)


@pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")
@pytest.mark.parametrize("price", PRICES, ids=str)
@pytest.mark.parametrize(("steps", "tie_bits"), [(1 << 30, 16), (1 << 10, 0)])
def test_the_work_is_bounded_by_public_numbers_whatever_the_rows(
    steps: int, tie_bits: int, price: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    joint = JointQuantiles(
        levels=TEN, relation=CHANGE_ONE, steps=steps, tie_bits=tie_bits, size_is_public=True, **price
    )
    reach = float((10 * math.log(joint._fine_steps + 1) + 45) / joint.rate)  # twice the margin of a window
    for table in KINDS.values():
        # a proposal is kept with probability 1/e at least: the chance that 2 draws take more than 70 is below 1e-12
        counted = _Counted(monkeypatch, most=70)
        rows = table(3000) >> (30 - steps.bit_length() + 1)
        for _ in range(2):
            joint(rows)
        ties = 3000 if not tie_bits else 8  # 9 of 3000 rows share 16 bits with a chance below 1e-13
        widest = min(reach + 20 * (ties + 2) + 22, min(3000, joint._fine_steps) + 1)
        assert counted.cells <= 2 * 10 * widest


@pytest.mark.filterwarnings("ignore::discreet.errors.SenselessParameter")
@pytest.mark.parametrize("tie_bits", [0, 16])
def test_the_conformance_kit_sees_no_more_work_on_equal_rows(tie_bits: int) -> None:
    (check,) = [one for one in conformance_checks() if one.name == "the work does not depend on the values"]
    inputs = [(table(2000) >> 20).tolist() for table in KINDS.values()]
    check(
        Subject(
            lambda: JointQuantiles(levels=TEN, rho=50, relation=ADD_REMOVE, steps=1 << 10, tie_bits=tie_bits), inputs
        )
    )


def test_positions_that_cannot_be_told_apart_are_refused_by_public_numbers() -> None:
    for steps, tie_bits in ((1 << 50, 16), (1 << 30, 15), (1 << 17, 0), (1000, 8)):
        with pytest.raises(dp.errors.ParameterError, match="tie_bits must be 16"):
            JointQuantiles(levels=THIRDS, epsilon=1, relation=ADD_REMOVE, steps=steps, tie_bits=tie_bits)
    with pytest.raises(dp.errors.ParameterError, match="at most 100 levels"):
        JointQuantiles(levels=[Fraction(i, 120) for i in range(1, 120)], epsilon=1, relation=ADD_REMOVE, steps=1000)


def test_all_at_once_only_where_it_is_drawn_soon_on_every_table():
    asked = {"bounds": (0, 1), "relation": dp.Relation.ADD_REMOVE}
    few, many = [Fraction(i, 11) for i in range(1, 11)], [Fraction(i, 30) for i in range(1, 30)]
    assert isinstance(statistics.Quantiles(levels=few, epsilon=1, **asked).mechanism, JointQuantiles)
    assert isinstance(statistics.Quantiles(levels=few, epsilon=9, **asked).mechanism, JointQuantiles)  # at every price
    public = {"bounds": (0, 1), "relation": CHANGE_ONE, "missing": 0}
    for rho in (0.001, 10):
        assert isinstance(statistics.Quantiles(levels=few[::2], rho=rho, **public).mechanism, JointQuantiles)
    for levels, epsilon, tie_bits in ((many, 1, 16), (few, 1, 4)):
        found = statistics.Quantiles(levels=levels, epsilon=epsilon, tie_bits=tie_bits, **asked)
        assert isinstance(found.mechanism, QuantileTree)
