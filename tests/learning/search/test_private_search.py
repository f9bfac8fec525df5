"""Private search: what it releases, what it keeps secret, and what it refuses."""

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import DiscreetError, QueryFailed
from discreet.learning import (
    AdditiveClassifier,
    AdditiveRegressor,
    CategoricalNB,
    LogisticRegression,
    Poisson,
    PrivateSearch,
    TruncatedNegativeBinomial,
)
from discreet.learning.exact import STEPS, measurements
from discreet.learning.search.price import SearchPrice
from discreet.ledger import MemoryLedger, Terms
from discreet.ledger.contract import EntryKind
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation

ROWS = np.random.default_rng(3).uniform(0, 1, (300, 2))
LABELS = (ROWS[:, 0] > 0.5).astype(int)
SETTINGS = [{"bins": 3}, {"bins": 12}]
STATED: dict[str, Any] = {"relation": Relation.ADD_REMOVE, "people": 300}


def _search(**changed: Any) -> PrivateSearch:
    stated = {**STATED, "runs": 5, "epsilon": 3, "delta": 1e-6, **changed}
    return PrivateSearch(AdditiveClassifier(bounds=(0, 1), classes=[0, 1]), SETTINGS, **stated)


def _ledger(relation: Relation) -> MemoryLedger:
    budget = ApproxDP(10, 1e-5, relation=relation)
    return MemoryLedger(Terms(lineage="trial", unit="person", budget=budget, caps={"ann": None}))


def _charges(ledger: MemoryLedger) -> list[Any]:
    return [entry for entry in ledger.entries() if entry.fields["kind"] == EntryKind.CHARGE.value]


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Release exact sums without noise, and keep them."""
    seen: list[Any] = []

    def exact(_: Any, sums: Any) -> Any:
        seen.append(np.array(sums))
        return np.asarray(sums, dtype=np.float64)

    monkeypatch.setattr(measurements, "noisy", exact)
    return seen


def _runs(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(TruncatedNegativeBinomial, "sample", lambda _: count)


@pytest.mark.theorem("PrivateSearch.privacy")
@pytest.mark.parametrize("changed", [{}, {"share": 0.3}, {"epsilon": None, "base": GaussianDP(0.3)}])
def test_fit_and_score_of_a_run_share_one_mu(changed: dict[str, Any]) -> None:
    price = _search(**changed)._price()
    mu = price.run.mu
    assert mu is not None
    fit = Fraction(price.fit_words()["mu"])
    assert fit**2 + price.share * mu**2 <= mu**2
    assert fit**2 + price.share * mu**2 > mu**2 * Fraction(999, 1000)


@pytest.mark.theorem("PrivateSearch.privacy")
def test_a_row_moves_a_score_by_its_own_prediction_alone(monkeypatch: pytest.MonkeyPatch, quiet: list[Any]) -> None:
    _runs(monkeypatch, 1)
    monkeypatch.setattr(LogisticRegression, "_learn", _fixed_model)
    totals = []
    for kept in (np.arange(300), np.arange(1, 300), np.arange(299), np.arange(0, 300, 2)):
        quiet.clear()
        model = LogisticRegression(bounds=(0, 1), classes=[0, 1])
        PrivateSearch(model, [{}], runs=5, epsilon=3, delta=1e-6, **STATED).fit(ROWS[kept], LABELS[kept])
        totals.append((int(quiet[-1][0]), kept))
    right = _alone()
    for total, kept in totals:
        assert total == STEPS * sum(right[place] for place in kept)


def _fixed_model(self: Any, public: Any, *_: Any) -> None:
    self._low, self._high, self.center_ = public.low, public.high, np.zeros(2)
    self.coef_, self.intercept_ = np.array([[-1.0, 0.1], [1.0, -0.1]]), np.zeros(2)


def _alone() -> list[int]:
    centered = 2 * ROWS - 1
    return [int((row @ [1.0, -0.1] > 0) == label) for row, label in zip(centered, LABELS, strict=True)]


def test_the_best_score_wins_and_odd_rows_count_for_nothing(monkeypatch: pytest.MonkeyPatch, quiet: list[Any]) -> None:
    _runs(monkeypatch, 40)  # both settings are tried but once in 2^39
    rows, target = ROWS.copy(), 10 * (ROWS[:, 0] > 0.5)
    rows[7, 1] = np.nan
    model = AdditiveRegressor(bounds=(0, 1), target_bounds=(0, 10))
    search = PrivateSearch(model, [{"bins": 2}, {"bins": 16}], runs=5, epsilon=50, delta=1e-3, **STATED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(rows, target)
    scores = [one[0] for one in quiet if one.shape == (1,)]
    assert len(scores) == 40
    assert search.best_score_ == max(scores) / STEPS / 300
    assert search.predict([[0.9, 0.5]])[0] > search.predict([[0.1, 0.5]])[0]


def test_a_row_whose_prediction_or_score_fails_counts_nothing_and_ends_no_run(
    monkeypatch: pytest.MonkeyPatch, quiet: list[Any]
) -> None:
    def score(truth: int, found: int) -> Any:
        if truth == 1:
            raise KeyError("a person of class 1")
        return {"odd": 1} if found == 1 else 1.0

    _runs(monkeypatch, 1)
    _search(scoring=score).fit(ROWS, LABELS)
    assert 0 < int(quiet[-1][0]) <= int((LABELS == 0).sum()) * STEPS
    whole = AdditiveClassifier._scores

    def failing(self: Any, rows: Any) -> Any:
        if rows[0, 0] > 0.5:
            raise MemoryError
        return whole(self, rows)

    monkeypatch.setattr(AdditiveClassifier, "_scores", failing)
    _search().fit(ROWS, LABELS)
    assert 0 < int(quiet[-1][0]) <= int((ROWS[:, 0] <= 0.5).sum()) * STEPS


def test_nothing_that_is_kept_or_written_tells_the_number_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    for count in (1, 9):
        _runs(monkeypatch, count)
        ledger = _ledger(Relation.ADD_REMOVE)
        search = _search(epsilon=1, people=30)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.fit(ROWS, LABELS, ledger=ledger)
        charges = [(one.fields["description"], str(one.fields["cost"])) for one in _charges(ledger)]
        seen.append((repr(search), sorted(vars(search)), sorted(vars(search.best_estimator_)), len(caught), charges,
                     repr(search.guarantee_), sorted(search.best_estimator_.plan_)))  # fmt: skip
    assert seen[0] == seen[1]
    assert [description for description, _ in seen[0][4]] == ["private search over AdditiveClassifier"]


def test_the_chosen_model_carries_the_price_of_the_whole_search() -> None:
    search = _search().fit(ROWS, LABELS)
    assert search.best_estimator_.guarantee_ == search.guarantee_ == ApproxDP(3, 1e-6, relation=Relation.ADD_REMOVE)
    assert search.loss_.epsilon(1e-6).upper <= 3
    assert search.best_params_ in SETTINGS


def test_pure_runs_make_a_pure_search() -> None:
    search = PrivateSearch(
        CategoricalNB(bounds=(0, 1), classes=[0, 1]), [{"bins": 2}, {"bins": 4}], runs=3, epsilon=2, **STATED
    )
    assert search.fit(ROWS, LABELS).guarantee_ == PureDP(2, relation=Relation.ADD_REMOVE)
    with pytest.raises(DiscreetError, match="delta"):
        _search(delta=None).fit(ROWS, LABELS)
    stated = PrivateSearch(search.estimator, search.settings, runs=3, base=PureDP(1), **STATED)._price().guarantee
    assert 1 < stated.epsilon <= 2


def test_no_run_returns_a_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Poisson, "sample", lambda _: 0)
    search = _search(runs=None, law=Poisson(2)).fit(ROWS, LABELS)
    assert (search.best_estimator_, search.best_score_, search.best_params_) == (None, None, None)
    with pytest.raises(DiscreetError, match="no run"):
        search.predict(ROWS)


class _Remembering:
    """A factory that tries to count its runs."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, *, level: float, mu: float) -> Any:
        assert mu > 0
        self.seen.append(level)

        def run(rows: Any, labels: Any) -> tuple[int, float]:
            assert labels is None
            rows.append(level)
            return len(self.seen) * len(rows), float("nan") if level == 0 else level

        return run


def test_a_factory_is_made_anew_for_every_run_and_sees_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    _runs(monkeypatch, 60)
    search = PrivateSearch(
        _Remembering(), [{"level": 0}, {"level": 1}, {"level": 2}], runs=3, epsilon=1, delta=1e-6,
        relation=Relation.CHANGE_ONE,
    )  # fmt: skip
    search.fit([5, 5])
    assert search.estimator.seen == []
    assert (search.best_estimator_, search.best_score_, search.best_params_) == (3, 2.0, {"level": 2})  # all but 3e-11


def test_what_goes_wrong_inside_is_one_constant_message_and_stays_charged() -> None:
    def broken(**_: Any) -> Any:
        raise ValueError("row 7 holds 42")

    ledger = _ledger(Relation.CHANGE_ONE)
    search = PrivateSearch(broken, [{}], runs=3, epsilon=1, delta=1e-6, relation=Relation.CHANGE_ONE)
    with pytest.raises(QueryFailed) as caught:
        search.fit([1], ledger=ledger)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert len(_charges(ledger)) == 1


@pytest.mark.theorem("PrivateSearch.privacy")
def test_a_run_that_fails_is_the_worst_one_and_does_not_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the first failure the end, a search of 30 runs would hardly ever return a model, and one of a run would."""
    made: list[int] = []

    def factory(*, level: float, **_: float) -> Any:
        made.append(1)

        def run(*_: Any) -> tuple[float, float]:
            if level == 0:
                raise ValueError("row 7 holds 42")
            return level, level

        return run

    _runs(monkeypatch, 30)
    search = PrivateSearch(
        factory, [{"level": 0}, {"level": 1}], runs=3, epsilon=1, delta=1e-6, relation=Relation.CHANGE_ONE
    )
    assert search.fit([5]).best_params_ == {"level": 1}  # but for 2^-30
    assert len(made) == 30
    search.set_params(settings=[{"level": 0}])
    with pytest.raises(QueryFailed) as caught:
        search.fit([5])
    assert len(made) == 60
    assert caught.value.__context__ is None


class _Cheaper(Poisson):
    def winning(self, better: Any) -> Any:
        return better / better


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"runs": None, "law": _Cheaper(3)}, "law"),
        ({"settings": None}, "settings"),
        ({"settings": 3}, "settings"),
        ({"settings": iter([{"bins": 2}])}, "settings"),
        ({"share": None}, "share"),
        ({"delta": Fraction(1, 10**400)}, "delta"),
        ({"epsilon": 1e-300, "delta": 1e-300}, "epsilon"),
        ({"epsilon": None, "base": GaussianDP(1e100)}, "base"),
        ({"runs": None}, "runs"),
        ({"law": Poisson(3)}, "runs"),
        ({"runs": 0.5}, "runs"),
        ({"epsilon": None}, "price"),
        ({"base": PureDP(1)}, "price"),
        ({"epsilon": None, "base": ZCDP(1)}, "base"),
        ({"relation": None}, "relation"),
        ({"people": None}, "people"),
        ({"share": 1}, "share"),
        ({"delta": 1}, "delta"),
        ({"settings": []}, "settings"),
        ({"settings": {"bins": [1]}}, "settings"),
        ({"settings": [{"epsilon": 1}]}, "epsilon"),
        ({"settings": [{"bins": -1}]}, "bins"),
        ({"settings": [{"centered": True}]}, "centered"),
        ({"estimator": AdditiveClassifier(epsilon=1)}, "epsilon"),
        ({"estimator": 3}, "estimator"),
    ],
)
def test_what_cannot_be_searched_is_refused_before_the_charge(changed: dict[str, Any], word: str) -> None:
    ledger = _ledger(Relation.ADD_REMOVE)
    search = _search().set_params(**changed)
    with pytest.raises(DiscreetError, match=word):
        search.fit(ROWS, LABELS, ledger=ledger)
    assert not _charges(ledger)


def test_a_budget_without_delta_is_refused_and_one_with_it_is_not() -> None:
    price: SearchPrice = _search()._price()
    with pytest.raises(DiscreetError, match="delta"):
        price.under(ZCDP(1, relation=Relation.ADD_REMOVE))
    assert price.under(ZCDP(1, 1e-5, relation=Relation.ADD_REMOVE)) == price.guarantee


def test_explain_says_what_the_price_leaves_and_advises_against_searching() -> None:
    plan = _search(epsilon=1, delta=1e-5, runs=10).explain()
    told = str(plan)
    assert 1.3 < plan.factor < 1.7
    assert plan.composed > 1.5
    assert "do not search" in told
    assert "stays secret" in told
    assert plan.score_noise is not None
    assert plan.score_noise > 0
