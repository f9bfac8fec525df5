"""Two counts give one bit away, a minimum size is no help, and a session bounds what they tell."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import duckdb
import numpy as np
import pyarrow as arrow
import pytest

import discreet as dp
from discreet.attacks import (
    Charged,
    Flip,
    MinimumSize,
    ceiling,
    difference,
    difference_chance,
    differencing,
    noisy_run,
    tracker,
)
from discreet.data import hospital_database
from discreet.errors import (
    InputError,
    ParameterError,
    QueryRefused,
)
from discreet.laws import DiscreteGaussian, DiscreteLaplace
from discreet.privacy import PureDP
from discreet.query import Session
from tests.chances import fewest, most

PEOPLE = 630
PATIENTS = hospital_database(people=PEOPLE, seed=5).patients
QUESTION = {"table": "patients", "secret": "marker = 1"}
CROWD, WOMEN = "practice % 2 = 0", "sex = 'female'"


def target(patient: int) -> str:
    return f"practice = {patient // 63} AND card = {patient % 63 + 1}"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = hospital_database(people=PEOPLE, seed=5).to_duckdb(tmp_path_factory.mktemp("base") / "hospital.duckdb")
    with duckdb.connect(str(path), read_only=True) as connection:
        yield lambda text: connection.execute(text).fetchall()


@pytest.fixture
def session():
    frame = {name: PATIENTS.column(name).copy() for name in ("patient_id", "practice", "card", "sex", "marker")}
    with Session.from_frames(
        patients=arrow.table(frame),
        unit="patient_id",
        rows=1,
        budget=PureDP(1),
        columns={
            "practice": {"min": 0, "max": 9},
            "card": {"min": 1, "max": 63},
            "marker": {"min": 0, "max": 1},
            "sex": {"values": ["female", "male"]},
        },
    ) as opened:
        yield opened


@pytest.mark.theorem("differencing.accuracy")
@pytest.mark.parametrize("patient", range(0, PEOPLE, 37))
def test_two_counts_give_a_bit_away_through_plain_sql(run, patient):
    found = differencing(run, **QUESTION, target=target(patient), truth=PATIENTS.marker[patient], exact=True)
    assert found.right
    assert found.sure
    assert (found.queries, found.refused, found.expected) == (2, 0, 1.0)
    assert found.guess == bool(PATIENTS.marker[patient])
    texts = [
        "SELECT COUNT(*) FROM patients WHERE marker = 1",
        f"SELECT COUNT(*) FROM patients WHERE marker = 1 AND NOT ({target(patient)})",  # noqa: S608
    ]
    assert difference(run, everyone=texts[0], but_one=texts[1]) == PATIENTS.marker[patient]


@pytest.mark.theorem("tracker.accuracy")
@pytest.mark.parametrize("padding", [{"within": CROWD}, {"pad": WOMEN}], ids=["individual", "general"])
@pytest.mark.parametrize("patient", [0, 5, 127, 300, 601])
@pytest.mark.parametrize("two_sided", [False, True])
def test_a_minimum_size_refuses_the_question_and_answers_the_padded_one(run, padding, patient, two_sided):
    least = 200
    engine = MinimumSize(run, least=least, people=PEOPLE if two_sided else None)
    with pytest.raises(QueryRefused, match="too small"):
        engine(f"SELECT COUNT(*) FROM patients WHERE marker = 1 AND {target(patient)}")  # noqa: S608
    if "within" in padding:
        padding = {"within": f"practice % 2 = {patient // 63 % 2}"}
    found = tracker(
        engine, **QUESTION, **padding, target=target(patient), truth=bool(PATIENTS.marker[patient]), exact=True
    )
    assert found.right
    assert found.sure
    assert found.refused == 0
    assert found.queries == (2 if "within" in padding else 4)


@pytest.mark.theorem("difference_chance.accuracy", "differencing.accuracy")
@pytest.mark.parametrize("noise", [DiscreteLaplace(1), DiscreteLaplace(3.5), DiscreteGaussian(2)], ids=str)
@pytest.mark.parametrize("queries", [2, 4])
def test_the_chance_of_a_right_guess_is_that_of_enumerating_the_noise(noise, queries):
    law = np.asarray(noise.pmf(np.arange(-150, 151)))
    total = np.ones(1)
    for _ in range(queries):
        total = np.convolve(total, law)
    middle = len(total) // 2
    right_for_zero, right_for_one = total[: middle + 1].sum(), total[middle:].sum()
    assert difference_chance(noise, queries=queries) == pytest.approx((right_for_zero + right_for_one) / 2, abs=1e-9)


@pytest.mark.theorem("differencing.privacy", "differencing.accuracy", "tracker.privacy")
@pytest.mark.parametrize("queries", [2, 4])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2])
def test_the_expected_chance_stays_below_the_ceiling_of_the_price(epsilon, queries):
    mechanism = dp.Laplace(
        epsilon=epsilon, sensitivity=dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    )
    chance = difference_chance(mechanism.law(0), queries=queries)
    of_one = ceiling(mechanism.loss, flip=Flip.ONE_ROW)
    assert chance <= of_one.upper <= ceiling(mechanism.loss * queries, flip=Flip.ONE_ROW).upper


def test_a_noisy_curator_gives_away_what_theory_says(run):
    rounds = 1500
    noise = DiscreteLaplace(1)
    curator = noisy_run(cache(run), dp.Laplace(scale=1, sensitivity=1))
    right = 0
    for place in range(rounds):
        patient = place % 10
        found = differencing(curator, **QUESTION, target=target(patient), truth=PATIENTS.marker[patient], noise=noise)
        right += bool(found.right)
    chance = difference_chance(noise)
    assert found.expected == chance
    assert not found.sure
    assert fewest(rounds, chance) <= right <= most(rounds, chance)


@pytest.mark.theorem("differencing.privacy", "tracker.privacy")
def test_a_session_charges_both_counts_and_its_ceiling_is_that_of_the_price(session):
    asked = Charged(session, epsilon=0.1)
    assert asked.loss is None
    found = differencing(asked, **QUESTION, target=target(12), truth=bool(PATIENTS.marker[12]))
    assert session.balance.spent.epsilon == pytest.approx(0.2)
    assert (asked.answered, asked.replayed) == (2, 0)
    assert found.right is not None
    two = PureDP(0.1, relation=dp.Relation.ADD_REMOVE).loss * 2
    assert found.ceiling.upper == ceiling(two, flip=Flip.ONE_ROW).upper
    assert 0.5 < found.ceiling.upper < 0.526
    again = differencing(asked, **QUESTION, target=target(12))
    assert again.difference == found.difference
    assert session.balance.spent.epsilon == pytest.approx(0.2)
    padded = tracker(Charged(session, epsilon=0.1), **QUESTION, target=target(12), pad=WOMEN)
    assert session.balance.spent.epsilon == pytest.approx(0.6)
    assert 0.526 < padded.ceiling.upper < 0.56
    assert repr(asked) == "<Charged: 4 answered, 2 of them stored answers>"


@pytest.mark.theorem("differencing.privacy")
def test_answers_that_were_paid_for_earlier_count_in_the_ceiling_too(session):
    first = differencing(Charged(session, epsilon=0.1), **QUESTION, target=target(12))
    # the count over everybody is a stored answer now, and still one of the two that the guess is made from
    other = Charged(session, epsilon=0.1)
    second = differencing(other, **QUESTION, target=target(13))
    assert (other.answered, other.replayed) == (2, 1)
    assert second.ceiling.upper == first.ceiling.upper
    again = Charged(session, epsilon=0.1)
    assert differencing(again, **QUESTION, target=target(13)).ceiling.upper == first.ceiling.upper
    assert again.replayed == 2
    # asked thrice, an answer is still one
    differencing(again, **QUESTION, target=target(13))
    assert again.loss.max_loss().upper == pytest.approx(0.2)
    assert session.balance.spent.epsilon == pytest.approx(0.3)


def test_a_spent_budget_leaves_no_guess(session):
    found = differencing(
        Charged(session, epsilon=0.6), **QUESTION, target=target(12), truth=True, noise=DiscreteLaplace(1)
    )
    assert found.expected is None
    assert found.refused == 1
    assert found.guess is None
    assert found.right is None
    assert session.balance.spent.epsilon == pytest.approx(0.6)


def test_results_show_how_it_went_and_nobodys_bit(run):
    loss = PureDP(1, relation=dp.Relation.ADD_REMOVE).loss
    shown = []
    for patient in (0, 1, 2, 3, 4, 5):
        found = differencing(
            run, **QUESTION, target=target(patient), truth=PATIENTS.marker[patient], exact=True, loss=loss
        )
        shown += [repr(found), found._repr_html_()]
    assert len(set(shown)) == 2
    for text in shown:
        assert "100.0 %" in text
        assert "73.2 %" in text
    assert len(found.plot().figure.axes[0].patches) == 3
    assert found.plot().svg().startswith("<?xml")


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), "41", b"1", 10**400])
def test_what_is_no_count_is_no_ground_for_a_guess(value):
    with pytest.raises(InputError, match="one number"):
        differencing(lambda _: [(value,)], **QUESTION, target="id = 1")
    with pytest.raises(InputError, match="one number"):
        MinimumSize(lambda _: [(value,)], least=1)("SELECT COUNT(*) FROM t")


def test_noise_goes_over_one_number_also_behind_a_minimum_size():
    behind = noisy_run(MinimumSize(lambda _: [(41,)], least=2), dp.Laplace(scale=0.01, sensitivity=1))
    assert list(behind("SELECT COUNT(*) FROM t")) == [(41,)]  # off with a chance of 2 e^-100
    for rows in ([(1, 2)], [], [(1,), (2,)]):
        with pytest.raises(InputError, match="one number"):
            noisy_run(lambda _, rows=rows: rows, lambda count: count)("SELECT 1")


@pytest.mark.theorem("difference_chance.accuracy")
@pytest.mark.parametrize("scale", [1, 20])
@pytest.mark.parametrize("units", [2, 8])
@pytest.mark.parametrize("queries", [2, 3, 4])
def test_noise_on_a_finer_grid_has_the_chance_of_enumerating_it(scale, units, queries):
    law = np.asarray(DiscreteLaplace(scale).pmf(np.arange(-900, 901)))
    total = np.ones(1)
    for _ in range(queries):
        total = np.convolve(total, law)
    sums = np.arange(len(total)) - len(total) // 2
    right = total[sums <= units / 2].sum() + total[sums > -units / 2].sum()
    found = difference_chance(DiscreteLaplace(scale), queries=queries, grid=Fraction(1, units))
    assert found == pytest.approx(right / 2, abs=1e-9)


@pytest.mark.theorem("difference_chance.accuracy")
@pytest.mark.parametrize("scale", [2, 1500, 2500, 10**5, 10**9])
def test_wide_noise_costs_no_memory_and_keeps_its_digits(scale):
    # for two integer Laplace noises P(W = 0) = (1-q)^2/(1+q)^2 (1+q^2)/(1-q^2), q = e^(-1/scale)
    q = math.exp(-1 / scale)
    zero = (math.expm1(-1 / scale) / (1 + q)) ** 2 * (1 + q * q) / -math.expm1(-2 / scale)
    assert difference_chance(DiscreteLaplace(scale)) == pytest.approx((1 + zero) / 2, abs=1e-9)
    # a session's grid: two Laplace noises of this many people, P(W <= 1/2) = 1 - e^-x (1/2 + x/4) at x = 1/(2 scale)
    fine = difference_chance(DiscreteLaplace(scale << 20), grid=Fraction(1, 1 << 20))
    x = 1 / (2 * scale)
    assert fine == pytest.approx(1 - math.exp(-x) * (1 / 2 + x / 4), abs=1e-7)


@pytest.mark.parametrize("changed", [{"queries": 0}, {"queries": -1}, {"grid": 3}, {"grid": 2}, {"grid": 0}])
def test_what_has_no_chance_is_refused(changed):
    with pytest.raises(ParameterError, match=next(iter(changed))):
        difference_chance(DiscreteLaplace(1), **changed)
    with pytest.raises(ParameterError, match="2\\^54"):
        difference_chance(DiscreteLaplace(1 << 60))


def test_answers_that_are_no_single_number_are_refused():
    with pytest.raises(InputError, match="one number"):
        differencing(lambda _: [(1, 2)], **QUESTION, target="id = 1")
    with pytest.raises(ParameterError, match="exact"):
        differencing(lambda _: [(1,)], **QUESTION, target="id = 1", exact=True, noise=DiscreteLaplace(1))
