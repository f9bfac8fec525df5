"""The report of a release: its numbers, what is private in it, baselines, and what it draws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.privacy import ZCDP, PureDP, Relation
from discreet.synthesis import (
    Domain,
    Literals,
    Neighbors,
    Records,
    Synthesizer,
    SyntheticRelease,
    SyntheticTable,
    Workload,
)
from discreet.synthesis.methods.dual_query.method import Weights
from discreet.synthesis.methods.dual_query.theorem import dual_query_error
from discreet.synthesis.reporting.error_report import (
    WARNING,
    Baseline,
    Errors,
    baseline_answers,
    marginals_of,
    one_way_shares,
    report,
)
from discreet.synthesis.reporting.plot import error_curve
from discreet.synthesis.workloads.marginal_workload import Marginals

DOMAIN = Domain.of(sex=["f", "m"], rooms=[1, 2, 3], smoker=["no", "yes"])
NEIGHBORS = Neighbors(Relation.CHANGE_ONE, 400)


def one_literal_each():
    """Return a literal for every code of every attribute, and the attribute and code of each."""
    places = [(place, code) for place, size in enumerate(DOMAIN.sizes) for code in range(size)]
    accepts = np.zeros((len(places), max(DOMAIN.sizes)), dtype=bool)
    for row, (_, code) in enumerate(places):
        accepts[row, code] = True
    return Literals(np.array([place for place, _ in places], dtype=np.int32), accepts), places


def mixed(random, queries=300, width=3):
    """Return random queries: repeated attributes, parities and negations among them."""
    literals, _ = one_literal_each()
    members = random.integers(0, len(literals), (queries, width)).astype(np.int32)
    members[random.random(queries) < 0.3, -1] = -1
    return Workload(DOMAIN, literals, members, random.random(queries) < 0.4, random.random(queries) < 0.5, "mixed")


def invented(random, people=400):
    return Records(DOMAIN, np.stack([random.integers(0, size, people) for size in DOMAIN.sizes]).astype(np.uint16))


def released(workload, records, *, method="by hand", **more):
    table = SyntheticTable(records)
    stated = {"guarantee": ZCDP(Fraction(1, 10), relation=Relation.CHANGE_ONE), "plan": {}, **more}
    return SyntheticRelease(
        method=method,
        workload=workload,
        neighbors=NEIGHBORS,
        table=table,
        answers=stated.pop("answers", workload.frequencies(records)),
        **stated,
    )


@pytest.fixture
def random():
    return np.random.default_rng(5)


def test_the_four_errors_are_what_their_names_say(random):
    asked, truth = Marginals(DOMAIN, [(0, 1), (2,)]), invented(random)
    off = np.linspace(-0.02, 0.05, len(asked))
    found = report(released(asked, truth, answers=asked.frequencies(truth) + off), truth).errors[0]
    assert found.average == pytest.approx(np.abs(off).mean())
    assert found.maximum == pytest.approx(0.05)
    assert found.root_mean_square == pytest.approx(np.sqrt((off**2).mean()))
    assert found.l1 == pytest.approx(np.abs(off).sum() / 2)


def test_l1_is_for_marginals_only(random):
    truth = invented(random)
    assert marginals_of(Marginals(DOMAIN, [(0, 1), (2,)])).tolist() == [0] * 6 + [1] * 2
    assert "L1" in report(released(Marginals(DOMAIN, [(0,)]), truth), truth).table().columns
    assert "L1" not in report(released(mixed(random), truth), truth).table().columns


def product_answers(asked, shares):
    """Answer from the product of one-way shares, record by record."""
    records = np.array(list(product(*map(range, DOMAIN.sizes))), dtype=np.uint16)
    chances = [np.prod([one[code] for one, code in zip(shares, row, strict=True)]) for row in records]
    return sum(chance * asked.truths(row) for chance, row in zip(chances, records, strict=True))


def test_baselines_answer_as_they_are_described(random):
    asked, truth = mixed(random), invented(random)
    shares = one_way_shares(truth)
    modal = np.array([np.bincount(codes).argmax() for codes in truth.codes], dtype=np.uint16)
    assert not baseline_answers(Baseline.ZERO, asked, shares).any()
    assert baseline_answers(Baseline.MODAL, asked, shares).tolist() == asked.truths(modal).tolist()
    everyone = Records(DOMAIN, np.array(list(product(*map(range, DOMAIN.sizes)))).T.astype(np.uint16))
    assert baseline_answers(Baseline.UNIFORM, asked, shares) == pytest.approx(asked.frequencies(everyone))
    assert baseline_answers(Baseline.INDEPENDENT, asked, shares) == pytest.approx(product_answers(asked, shares))


def test_one_way_shares_follow_the_weights(random):
    truth = invented(random, people=50)
    weights = random.random(50)
    first = one_way_shares(truth, weights)[0]
    assert first[0] == pytest.approx(weights[truth.codes[0] == 0].sum() / weights.sum())


def test_a_report_from_the_truth_says_that_it_is_private(random):
    asked, truth = mixed(random), invented(random)
    found = report(released(asked, invented(random)), truth)
    assert found.private
    assert WARNING in str(found)
    assert WARNING in found._repr_html_()
    assert [one.name for one in found.errors] == ["by hand", "zero", "uniform", "modal record", "product of one-ways"]


def test_a_table_that_answers_differently_has_a_line_of_its_own(random):
    asked, truth, rows = Marginals(DOMAIN, [(0, 1), (2,)]), invented(random), invented(random, people=30)
    weighted = SyntheticTable(rows, random.random(30))
    release = replace(released(asked, rows, answers=asked.frequencies(truth)), table=weighted)
    found = report(release, truth, beside=[released(asked, rows, method="other")])
    assert [one.name for one in found.errors[:4]] == ["by hand", "its table", "other", "zero"]
    counted = asked.frequencies(rows, weighted.weights)
    assert found.errors[0].maximum == 0
    assert found.errors[1] == Errors.between("its table", counted, asked.frequencies(truth), marginals_of(asked))
    assert found.errors[1].l1 > 0
    assert "its table" in str(found)
    assert "its table" not in str(report(release))


def test_a_table_that_gives_the_answers_has_no_line_of_its_own(random):
    asked, truth, rows = mixed(random), invented(random), invented(random)
    rounded = asked.frequencies(rows) * (1 + 1e-12)
    for release in (released(asked, rows), released(asked, rows, answers=rounded)):
        assert "its table" not in str(report(release, truth))


def test_the_prediction_stands_below_the_answers_that_it_is_about(random):
    asked, truth = mixed(random), invented(random)
    answers, deviations = asked.frequencies(truth) + 0.01, np.full(len(asked), 0.01)
    found = report(released(asked, truth, answers=answers, deviations=deviations), truth)
    assert [row[0] for row in found.table().rows[:3]] == ["by hand", "by hand, predicted (95 %)", "its table"]


def test_a_report_without_the_truth_is_made_of_the_release_alone(random):
    asked = mixed(random)
    release = released(asked, invented(random))
    found = report(release)
    assert not found.private
    assert not found.errors
    assert WARNING not in str(found)
    assert "no prediction" in str(found)
    own = product_answers(asked, one_way_shares(release.table.records))
    expected = Errors.between("distance to product of one-ways", release.answers, own)
    assert found.distances[-1].average == pytest.approx(expected.average)
    assert found.distances[-1].maximum == pytest.approx(expected.maximum)
    with pytest.raises(MissingParameter, match="truth=records"):
        found.plot()


def test_answers_with_known_noise_are_predicted(random):
    asked = mixed(random)
    spread = np.linspace(0.01, 0.03, len(asked))
    concentrated = report(released(asked, invented(random), deviations=spread)).prediction
    pure = report(
        released(asked, invented(random), deviations=spread, guarantee=PureDP(1, relation=Relation.CHANGE_ONE))
    ).prediction
    assert concentrated.root_mean_square == pytest.approx(np.sqrt((spread**2).mean()))
    assert concentrated.average == pytest.approx(0.02)
    assert 0.03 < concentrated.maximum < pure.maximum
    assert "predicted (95 %)" in str(report(released(asked, invented(random), deviations=spread)))


def test_dual_query_is_predicted_by_its_theorem_and_never_beyond_one(random):
    asked = mixed(random)
    plan = {"eta": Fraction(1, 50), "rounds": 2_000, "draws": 9_000, "weights": Weights.EQUAL.value}
    gaps = tuple((turn, 0.01) for turn in range(1, 2_001))
    found = report(released(asked, invented(random), plan=plan, evidence={"gaps": gaps}))
    expected = dual_query_error(eta=0.02, rounds=2_000, draws=9_000, queries=len(asked), records=12, gap=0.01)
    assert found.prediction.maximum == pytest.approx(expected)
    assert expected < 1
    assert "solver gap: 1 % of a round's draws, on average over 2000 rounds" in str(found)
    assert "best one" not in str(found)
    short = report(released(asked, invented(random), plan={**plan, "eta": 1, "rounds": 5}))
    assert short.prediction.maximum == 1
    assert "if every record was the best one" in str(short)


def test_other_weights_than_equal_ones_are_not_predicted(random):
    plan = {"eta": Fraction(1, 50), "rounds": 2_000, "draws": 9_000, "weights": Weights.LIKELY.value}
    assert report(released(mixed(random), invented(random), plan=plan)).prediction is None


def test_other_releases_stand_beside_and_must_answer_the_same(random):
    asked, truth = mixed(random), invented(random)
    first, second = (released(asked, invented(random), method=name) for name in ("first", "second"))
    found = report(first, truth, baselines=(Baseline.ZERO,), beside=[second])
    assert [one.name for one in found.errors] == ["first", "second", "zero"]
    other = released(mixed(random), invented(random))
    with pytest.raises(InputError, match="the same queries"):
        report(first, truth, beside=[other])
    elsewhere = Records(Domain.of(a=[1, 2]), np.zeros((1, 3), dtype=np.uint16))
    with pytest.raises(InputError, match="same domain as the release"):
        report(first, elsewhere)


def test_a_report_draws_its_errors_and_the_prediction(random):
    asked, truth = mixed(random, queries=2000), invented(random)
    release = released(asked, invented(random), deviations=np.full(2000, 0.02))
    assert report(release, truth).plot().svg().startswith("<?xml")
    perfect = released(asked, truth)
    assert report(perfect, truth, baselines=()).plot().svg().startswith("<?xml")


class Shifted(Synthesizer):
    """A synthesizer for tests: answers that are wrong by 1/epsilon hundredths."""

    name = "shifted"

    def __init__(self, workload, epsilon):
        self.workload, self.epsilon = workload, epsilon

    @property
    def plan(self):
        return {}

    def _release(self, records, progress):
        progress(1, 1)
        return released(self.workload, records, answers=self.workload.frequencies(records) + 0.01 / self.epsilon)


def test_an_error_curve_has_a_line_for_each_method_and_a_point_for_each_epsilon(random):
    asked, truth = mixed(random), invented(random)
    methods = {"one": lambda epsilon: Shifted(asked, epsilon), "two": lambda epsilon: Shifted(asked, 2 * epsilon)}
    found = error_curve(methods, truth, [0.1, 1, 10], repeats=2)
    assert found.average == pytest.approx(np.array([[0.1, 0.01, 0.001], [0.05, 0.005, 0.0005]]))
    assert found.maximum == pytest.approx(found.average)
    assert "do not publish" in str(found)
    assert "do not publish" in found._repr_html_()
    assert found.plot().svg().startswith("<?xml")
    assert repr(found) == "ErrorCurves(one, two; 3 epsilons, private)"


@pytest.mark.parametrize("wrong", [{"epsilons": []}, {"repeats": 0}, {"epsilons": [0]}], ids=str)
def test_an_error_curve_without_points_is_refused(random, wrong):
    stated = {"epsilons": [1], "repeats": 1, **wrong}
    with pytest.raises(ParameterError):
        error_curve({"one": lambda epsilon: Shifted(mixed(random), epsilon)}, invented(random), **stated)
