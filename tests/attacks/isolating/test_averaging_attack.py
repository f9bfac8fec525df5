"""Sticky noise is averaged away by asking in other words; a session hands out one answer, or charges each."""

from __future__ import annotations

import math
from functools import cache

import duckdb
import numpy as np
import pyarrow as arrow
import pytest

import discreet as dp
from discreet.attacks import (
    Averaging,
    Charged,
    NoiseShape,
    StickyNoise,
    averaging,
    rephrasings,
    spellings,
    splits,
    thresholds,
)
from discreet.data import hospital_database
from discreet.errors import BudgetExceeded, InputError, ParameterError
from discreet.privacy import ZCDP, PureDP
from discreet.query import Session

PEOPLE = 630
PATIENTS = hospital_database(people=PEOPLE, seed=5).patients
CONDITIONS = ("marker = 1", "sex = 'female'", "age >= 18")
DUMMIES = ("card >= 0", "practice >= 0", "age >= 0")
TRUTH = int(np.count_nonzero((PATIENTS.marker == 1) & (PATIENTS.sex == "female") & (PATIENTS.age >= 18)))
ALARM = 1e-9
# a condition that everybody meets and that is not literally true is another question to a session
DUMMY_QUESTIONS = [
    wording for level in range(60) for wording in rephrasings("patients", [*CONDITIONS, f"card >= -{level}"], count=1)
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = hospital_database(people=PEOPLE, seed=5).to_duckdb(tmp_path_factory.mktemp("base") / "hospital.duckdb")
    with duckdb.connect(str(path), read_only=True) as connection:
        yield cache(lambda text: connection.execute(text).fetchall())


def session(budget) -> Session:
    names = ("patient_id", "practice", "card", "age", "sex", "marker")
    return Session.from_frames(
        patients=arrow.table({name: PATIENTS.column(name).copy() for name in names}),
        unit="patient_id",
        rows=1,
        budget=budget,
        columns={
            "practice": {"min": 0, "max": 9},
            "card": {"min": 1, "max": 63},
            "age": {"min": 0, "max": 102},
            "marker": {"min": 0, "max": 1},
            "sex": {"values": ["female", "male"]},
        },
    )


@pytest.mark.parametrize("wordings", [spellings("patients", CONDITIONS, count=60),
                                      rephrasings("patients", CONDITIONS, count=60, dummies=DUMMIES),
                                      splits("patients", CONDITIONS, thresholds("age", range(19, 99)))],
                         ids=["spellings", "rephrasings", "splits"])  # fmt: skip
def test_every_wording_adds_up_to_the_same_count(run, wordings):
    assert len(set(wordings)) == len(wordings)
    for wording in wordings:
        assert sum(run(text)[0][0] for text in wording) == TRUTH


def test_conditions_with_or_and_with_words_of_sql_in_them_keep_their_meaning(run):
    either = ["sex = 'female' OR age >= 60", "marker = 1"]
    truth = run("SELECT COUNT(*) FROM patients WHERE (sex = 'female' OR age >= 60) AND marker = 1")
    for words in (
        rephrasings("patients", either, count=30, dummies=["card >= 0 or card < 0"]),
        spellings("patients", either, count=30),
    ):
        assert {tuple(run(text)) for (text,) in words} == {tuple(truth)}
    (halves,) = splits("patients", either, [["age < 40 OR age > 60", "NOT (age < 40 OR age > 60)"]])
    assert sum(run(text)[0][0] for text in halves) == truth[0][0]
    named = ["sex <> 'FROM AS people SELECT COUNT'", "marker = 1"]
    assert all("'FROM AS people SELECT COUNT'" in text for (text,) in spellings('"FROM here"', named, count=40))
    assert all('"FROM here"' in text for (text,) in spellings('"FROM here"', named, count=40))


@pytest.mark.parametrize("conditions", [[], "marker = 1"])
def test_what_is_no_list_of_conditions_is_refused(conditions):
    for make in (spellings, rephrasings):
        with pytest.raises(ParameterError, match="conditions"):
            make("t", conditions, count=1)
    with pytest.raises(ParameterError, match="conditions"):
        splits("t", ["a = 1"], [conditions])


@pytest.mark.parametrize("wording", [(), "SELECT COUNT(*) FROM t"])
def test_what_is_no_wording_is_refused(wording):
    with pytest.raises(InputError, match="tuple of at least one text"):
        averaging(lambda _: [(1,)], [wording])


def test_rows_are_known_by_keys_of_any_kind():
    engine = StickyNoise(
        lambda text: [(2,)] if "COUNT" in text else [(None,), ("é",), (1,)], deviation=1, seed=1, key='"the key"'
    )
    assert engine("SELECT COUNT(*) FROM t") == engine("SELECT COUNT(*) FROM t WHERE 1 = 1")


def test_the_same_text_gets_the_same_noise_and_other_words_other_noise(run):
    engine = StickyNoise(run, deviation=7, seed=3)
    texts = [text for (text,) in rephrasings("patients", CONDITIONS, count=50, dummies=DUMMIES)]
    first, again = ([engine(text)[0][0] for text in texts] for _ in range(2))
    assert first == again
    assert len(set(first)) == 50
    other = StickyNoise(run, deviation=7, seed=4)
    assert all(other(text)[0][0] != answer for text, answer in zip(texts, first, strict=True))


def test_noise_of_the_rows_does_not_depend_on_words(run):
    engine = StickyNoise(run, deviation=7, seed=3, key="patient_id")
    words = (
        *rephrasings("patients", CONDITIONS, count=30, dummies=DUMMIES),
        *spellings("patients", CONDITIONS, count=40),
    )
    assert len({engine(text)[0][0] for (text,) in words}) == 1
    cells = [text for wording in splits("patients", CONDITIONS, thresholds("age", (30, 60))) for text in wording]
    assert len({engine(text)[0][0] for text in cells}) == 4


@pytest.mark.theorem("averaging.accuracy")
@pytest.mark.parametrize("shape", list(NoiseShape))
@pytest.mark.parametrize("seed", range(4))
def test_rephrasing_takes_the_noise_of_a_text_away(run, shape, seed):
    # the noise comes from a seed: nothing here is left to chance
    sigma, count = 20.0, 900
    engine = StickyNoise(run, deviation=sigma, seed=seed, shape=shape)
    wordings = rephrasings("patients", CONDITIONS, count=count, dummies=DUMMIES)
    found = averaging(engine, wordings, deviation=sigma, truth=TRUTH)
    assert found.standard_error == pytest.approx(sigma / math.sqrt(count))
    assert found.error < 4 * found.standard_error
    assert np.std(found.estimates - TRUTH) == pytest.approx(sigma, rel=0.15)
    assert (found.queries, found.replayed, found.refused) == (count, 0, False)
    if shape is NoiseShape.BOUNDED:
        assert np.abs(found.estimates - TRUTH).max() <= math.sqrt(3) * sigma
        # Hoeffding's bound, at the false alarm of this suite
        assert found.error <= math.sqrt(3) * sigma * math.sqrt(2 * math.log(2 / ALARM) / count)


@pytest.mark.theorem("averaging.accuracy")
@pytest.mark.parametrize("seed", range(4))
def test_sums_over_partitions_take_the_noise_of_the_rows_away(run, seed):
    sigma = 20.0
    engine = StickyNoise(run, deviation=sigma, seed=seed, key="patient_id")
    partitions = [
        *thresholds("age", range(19, 99)),
        *thresholds("card", range(2, 64)),
        *([f"practice % {number} = {rest}" for rest in range(number)] for number in range(2, 6)),
    ]
    found = averaging(engine, splits("patients", CONDITIONS, partitions), deviation=sigma, truth=TRUTH)
    sizes = np.array([len(cells) for cells in partitions])
    assert found.standard_error == pytest.approx(sigma / math.sqrt((1 / sizes).sum()))
    assert found.standard_error < 2.5
    # neighboring ages may select the same rows, whose noise is then the same: a little more error than theory
    assert found.error < 5 * found.standard_error
    assert found.queries == sizes.sum()


@pytest.mark.theorem("averaging.accuracy")
def test_no_other_weights_do_better():
    sizes = np.array([1, 2, 5, 9])
    best = 1 / (1 / sizes).sum()
    random = np.random.default_rng(1)
    for _ in range(200):
        weights = random.dirichlet(np.ones(4))
        assert (weights**2 * sizes).sum() >= best - 1e-12
    given = Averaging(np.array([4.0, 8.0, 1.0, 3.0]), sizes, 17, 0, False, 1.0, None, None)
    weights = (1 / sizes) * best
    assert given.value == pytest.approx(float(weights @ [4, 8, 1, 3]))
    assert given.standard_error == pytest.approx(math.sqrt(best))
    assert given.running[0] == 4.0
    assert given.error is None


@pytest.mark.theorem("averaging.privacy")
def test_a_session_takes_other_spellings_for_one_question():
    with session(PureDP(1)) as opened:
        asked = Charged(opened, epsilon=0.25)
        wordings = spellings("patients", CONDITIONS, count=80)
        found = averaging(asked, wordings, truth=TRUTH)
        assert found.queries == 80
        assert found.replayed == 79
        assert len(set(found.estimates.tolist())) == 1
        assert opened.balance.spent.epsilon == pytest.approx(0.25)
        assert found.loss.max_loss().upper == pytest.approx(0.25)


@pytest.mark.theorem("averaging.privacy")
def test_a_session_takes_conditions_in_another_order_or_doubled_for_one_question():
    with session(PureDP(1)) as opened:
        asked = Charged(opened, epsilon=0.25)
        found = averaging(asked, rephrasings("patients", CONDITIONS, count=12), deviation=1, truth=TRUTH)
        assert (found.queries, found.replayed) == (12, 11)
        assert found.standard_error is None  # one answer twelve times: nothing is averaged away
        assert opened.balance.spent.epsilon == pytest.approx(0.25)


@pytest.mark.theorem("averaging.privacy")
def test_a_session_charges_other_conditions_each_and_then_refuses():
    with session(PureDP(1)) as opened:
        asked = Charged(opened, epsilon=0.125)
        found = averaging(asked, DUMMY_QUESTIONS, deviation=math.sqrt(2) / 0.125)
        assert found.refused
        assert len(found.estimates) == found.queries == 8
        assert found.replayed == 0
        assert opened.balance.spent.epsilon == pytest.approx(1)
        assert found.loss.max_loss().upper == pytest.approx(1)
        # the same budget in one question has a smaller error, by the square root of the number of questions
        assert found.standard_error == pytest.approx(math.sqrt(8) * math.sqrt(2) / 1)
        later = averaging(Charged(opened, epsilon=0.125), DUMMY_QUESTIONS[:4])
        assert later.replayed == 4
        assert later.loss.max_loss().upper == pytest.approx(0.5)  # four answers, whoever paid for them
        again = averaging(asked, DUMMY_QUESTIONS[:8])
        assert again.replayed == 8
        assert again.value == found.value
        with pytest.raises(BudgetExceeded):
            asked("SELECT COUNT(*) FROM patients")
        with pytest.raises(InputError, match="no wording was answered"):
            averaging(asked, [("SELECT COUNT(*) FROM patients",)])


@pytest.mark.theorem("averaging.privacy")
def test_a_session_charges_the_cells_of_a_partition_each():
    with session(ZCDP(0.5, delta=1e-6)) as opened:
        asked = Charged(opened, rho=0.1)
        found = averaging(asked, splits("patients", CONDITIONS, thresholds("age", (40, 60, 70))))
        assert found.refused
        assert len(found.estimates) == 2
        assert found.queries == 5
        assert opened.balance.spent.rho == pytest.approx(0.5)


@pytest.mark.theorem("averaging.privacy")
@pytest.mark.parametrize("count", [1, 4, 25, 100])
def test_averaging_answers_of_a_session_gains_nothing_over_one_answer_of_the_whole_price(count):
    rho, epsilon = 1 / 2, 1
    one, many = (dp.Gaussian(scale=math.sqrt(1 / (2 * price)), sensitivity=1) for price in (rho, rho / count))
    assert float(many.noise.scale) / math.sqrt(count) == pytest.approx(float(one.noise.scale))
    assert (many.loss * count).epsilon(1e-6).lower <= ZCDP(rho, delta=0).to_approx(delta=1e-6).epsilon
    # the exact variance of integer Laplace noise is 2q/(1-q)^2 with q = e^-epsilon, below 2/epsilon^2
    of_one, of_many = (2 * math.exp(-e) / math.expm1(-e) ** 2 for e in (epsilon, epsilon / count))
    assert of_many / count >= of_one
    assert of_many == pytest.approx(2 * count**2, rel=0.1)


def test_the_result_tells_itself_and_draws_itself(run):
    engine = StickyNoise(run, deviation=5, seed=1)
    found = averaging(engine, rephrasings("patients", CONDITIONS, count=20, dummies=DUMMIES), deviation=5, truth=TRUTH)
    for text in (repr(found), found._repr_html_()):
        assert "20" in text
        assert "1.12" in text
    names = [text.get_text() for text in found.plot().figure.legends[0].get_texts()]
    assert names == ["2 standard errors", "average so far", "true count"]
    blind = averaging(engine, rephrasings("patients", CONDITIONS, count=20))
    assert [text.get_text() for text in blind.plot().figure.legends[0].get_texts()] == ["average so far"]
    assert blind.standard_error is None
    with pytest.raises(ValueError, match="read-only"):
        found.estimates[0] = 1


@pytest.mark.parametrize(
    ("changed", "named"), [({"deviation": 0}, "deviation"), ({"seed": -1}, "seed"), ({"shape": "flat"}, "shape")]
)
def test_what_makes_no_engine_is_refused_by_name(changed, named):
    with pytest.raises(ParameterError, match=named):
        StickyNoise(lambda _: [(1,)], **({"deviation": 1, "seed": 1} | changed))


def test_what_the_toy_engine_or_the_words_cannot_do_is_refused():
    with pytest.raises(InputError, match="COUNT"):
        StickyNoise(lambda _: [(1,)], deviation=1, seed=1, key="id")("SELECT SUM(x) FROM t")
    with pytest.raises(ParameterError, match="only 7 such wordings"):
        rephrasings("t", ["a = 1"], count=8, dummies=["b >= 0"])
    assert repr(NoiseShape.BOUNDED) == "NoiseShape.BOUNDED"
