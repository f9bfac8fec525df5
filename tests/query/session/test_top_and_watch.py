"""Top keys and watched counts: sensitivities, monotone scores, one charge, and what is refused."""

from __future__ import annotations

import copy
import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import Outcome, audit
from discreet.errors import (
    BudgetExceeded,
    MissingParameter,
    NotCopyable,
    ParameterError,
    QueryFailed,
    QueryRefused,
    StreamSpent,
    UnsupportedSQL,
)
from discreet.ledger import MemoryLedger
from discreet.mechanisms import Top as TopMechanism
from discreet.privacy import ZCDP, ApproxDP, PureDP, Relation
from discreet.query import Session
from discreet.query.plan.bounding import Noise
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.plan.request import WEIGHT, SumRequest
from discreet.query.policy import terms_of
from discreet.query.session.top import TopKeys
from tests.query.small_tables import (
    Slow,
    Told,
    asked,
    persons,
    policy_for,
    priced_for,
    public_key,
    stored,
    table_policy,
)

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
KEYED = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
COUNT = "SELECT COUNT(*) AS n FROM t"


def session_on(engine, budget=None, table=None):
    policy = policy_for(table or table_policy(rows=2, groups=2), budget or PureDP(8))
    return Session(policy, analyst="ana", engine=engine, ledger=MemoryLedger(terms_of(policy)))


@pytest.mark.theorem("TopKeys.privacy")
@pytest.mark.parametrize("budget", [PureDP(4), ZCDP(2)])
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        (MeasureKind.COUNT_ROWS, (0, 5)),
        (MeasureKind.COUNT_UNITS, (0, 5)),
        (MeasureKind.SUM, (0, 5)),
        (MeasureKind.SUM, (-3, 5)),
        (MeasureKind.SUM, (-5, -1)),
    ],
)
@pytest.mark.parametrize("form", [{"unit": "row"}, {"rows": 2}, {"groups": 2, "rows_per_group": 1}])
def test_no_person_moves_a_score_further_than_the_sensitivity_of_the_choice(kind, bounds, form, relation, budget):
    low, high = bounds
    if kind is MeasureKind.COUNT_UNITS and "rows" in form:
        form = {"rows": 2, "groups": 2}
    table = table_policy(**form, low=low, high=high, people=3 if relation is CHANGE_ONE else None)
    aggregate = asked(kind, low=low, high=high)
    made = priced_for(table, aggregate, keys=(public_key(),), budget=budget, share=0.5)
    choice = TopKeys(made, 1).mechanism
    assert isinstance(choice, TopMechanism)
    (measure,) = made.measures
    policy = policy_for(table)
    scores = []
    for rows in persons((low, 0 if low <= 0 <= high else high, high), most=1 if "unit" in form else 3):
        request = SumRequest(
            made.query.aggregation.source, made.query.aggregation.keys, made.bounding.form, measure.cells
        )
        sums = Slow(policy, {"t": stored(rows)}).run(request)
        found = dict(zip(sums.keys, sums.cells[0], strict=True))
        scores.append([found.get((group,), 0) for group in (0, 1)])
    pairs = itertools.product(scores, scores) if relation is CHANGE_ONE else [(one, [0, 0]) for one in scores]
    moved = max(max(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs)
    assert moved == choice.sensitivity.value
    assert choice.monotone == (relation is ADD_REMOVE and all(entry >= 0 for one in scores for entry in one))
    assert choice.relation is relation
    amount = Fraction(choice.guarantee.rho if made.cost.noise is Noise.GAUSSIAN else choice.guarantee.epsilon)
    assert amount == made.cost.amount
    assert choice.guarantee == made.guarantee


@pytest.mark.theorem("TopKeys.privacy")
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
def test_the_exact_law_of_the_chosen_keys_keeps_the_price(relation):
    table = table_policy(unit="row", people=3 if relation is CHANGE_ONE else None)
    made = priced_for(table, asked(MeasureKind.COUNT_ROWS), keys=(public_key((0, 1, 2)),), epsilon=1)
    choice = TopKeys(made, 2).mechanism
    before = [3, 3, 2]
    if relation is ADD_REMOVE:
        pairs = [(before, [4, 3, 2]), (before, [3, 3, 3]), ([0, 0, 0], [1, 0, 0])]
    else:
        pairs = [(before, [2, 4, 2]), (before, [2, 3, 3]), (before, [3, 2, 2])]
    assert audit(choice, neighbors=pairs, search=0).outcome is Outcome.KEPT


def test_top_names_the_largest_public_keys_at_one_charge_and_again_for_free():
    private = 876_543_210_987
    engine = Told(([(1,)], {"One": [private * WEIGHT]}))
    session = session_on(engine)
    best = session.top(KEYED, k=1, epsilon=1)
    assert best.to_dict() == {best.names[0]: [best.keys[0][0]]}
    assert best.to_pandas().to_dict("list") == best.to_polars().to_dict(as_series=False) == best.to_dict()
    assert best.to_arrow().to_pydict() == best.to_dict()
    assert best.cost.epsilon(0).upper == 1
    assert "guarantee:" in str(best)
    assert list(best) == [1]
    assert len(best) == 1
    assert best.guarantee == PureDP(1, relation=ADD_REMOVE)
    assert not best.record.replayed
    again = session.top(KEYED, k=1, epsilon=1)
    assert again.keys == best.keys
    assert again.record.replayed
    assert engine.reads == 1
    assert session.balance.spent.epsilon == 1
    both = session.top(KEYED, k=2, epsilon=1)
    assert sorted(both) == [0, 1]
    assert session.balance.spent.epsilon == 2
    # Twelve digits: an entry's digest holds any given three of them once in seventy runs.
    assert str(private) not in str(best) + best._repr_html_() + repr(best)
    assert "place" in str(best)


@pytest.mark.parametrize(
    ("sql", "arguments", "error"),
    [
        (COUNT, {"k": 1, "epsilon": 1}, UnsupportedSQL),
        ("SELECT g, AVG(x) AS m FROM t GROUP BY g", {"k": 1, "epsilon": 1}, UnsupportedSQL),
        ("SELECT g, COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY g", {"k": 1, "epsilon": 1}, UnsupportedSQL),
        (KEYED, {"k": 0, "epsilon": 1}, ParameterError),
        (KEYED, {"k": 3, "epsilon": 1}, ParameterError),
        (KEYED, {"k": True, "epsilon": 1}, ParameterError),
        (KEYED, {"k": 1.0, "epsilon": 1}, ParameterError),
        (KEYED, {"k": 1, "epsilon": 9}, BudgetExceeded),
    ],
)
def test_what_top_cannot_choose_is_refused_before_it_is_charged(sql, arguments, error):
    engine = Told()
    session = session_on(engine)
    before = len(list(session.ledger.entries()))
    with pytest.raises(error):
        session.top(sql, **arguments)
    assert len(list(session.ledger.entries())) == before
    assert engine.reads == 0


def test_top_takes_no_private_keys():
    session = session_on(Told(), ApproxDP(8, 1e-3))
    with pytest.raises(Exception, match=r"Nothing was spent\.$"):
        session.top("SELECT w, COUNT(*) AS n FROM t GROUP BY w", k=1, epsilon=1)


@pytest.mark.theorem("Watch.privacy")
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
@pytest.mark.parametrize("stated", [{"unit": "row"}, {"rows": 2}, {"groups": 2, "rows_per_group": 2}])
def test_a_watch_is_a_stream_with_the_contribution_of_its_first_question(stated, relation):
    table = table_policy(**stated, people=3 if relation is CHANGE_ONE else None)
    session = session_on(Told(([()], {"One": [0]})), table=table)
    watch = session.watch(10, epsilon=0.5, hits=2)
    assert session.balance.spent.epsilon == 0
    watch.ask(COUNT)
    stream = watch._stream
    unit = 1 if "unit" in stated else WEIGHT
    rows = {"unit": 1, "rows": 2, "groups": 4}[next(iter(stated))]
    assert stream.sensitivity.value == rows * unit
    assert stream.sensitivity.relation is relation
    assert stream.monotone is (relation is ADD_REMOVE)
    assert stream.guarantee == PureDP(0.5, relation=relation)
    assert stream.hits == 2
    assert session.balance.spent.epsilon == 0.5


@pytest.mark.theorem("Watch.privacy")
def test_a_watch_is_charged_once_however_often_it_is_asked():
    engine = Told(([()], {"One": [0]}))
    session = session_on(engine, table=table_policy(unit="row"))
    watch = session.watch(1000, epsilon=1)
    assert [watch.ask(f"{COUNT} WHERE x > {one}") for one in range(20)] == [False] * 20
    assert session.balance.spent.epsilon == 1
    engine.sums = ([()], {"One": [5000]})
    assert watch.ask(COUNT)
    assert watch.remaining == 0
    reads = engine.reads
    with pytest.raises(StreamSpent, match="open another one"):
        watch.ask(COUNT)
    assert engine.reads == reads
    assert session.balance.spent.epsilon == 1
    assert repr(watch) == "Watch(threshold=1000, hits=1, remaining=0)"


@pytest.mark.theorem("Watch.privacy")
def test_a_question_that_a_unit_moves_further_is_refused():
    first, second = table_policy(rows=2), table_policy(rows=3)
    from dataclasses import replace

    policy = policy_for(first, PureDP(8), tables={"t": first, "s": replace(second, name="s")})
    engine = Told(([()], {"One": [0]}))
    session = Session(policy, analyst="ana", engine=engine, ledger=MemoryLedger(terms_of(policy)))
    watch = session.watch(1000, epsilon=1)
    watch.ask(COUNT)
    with pytest.raises(ParameterError, match="open another watch"):
        watch.ask("SELECT COUNT(*) AS n FROM s")
    other = session.watch(1000, epsilon=1)
    other.ask("SELECT COUNT(*) AS n FROM s")
    assert other.ask(COUNT) is False


@pytest.mark.parametrize(
    "sql",
    [
        KEYED,
        "SELECT SUM(x) AS s FROM t",
        "SELECT COUNT(*) AS n, COUNT(x) AS m FROM t",
        "SELECT MEDIAN(x) AS m FROM t",
    ],
)
def test_a_watch_takes_one_count_and_charges_nothing_for_anything_else(sql):
    session = session_on(Told())
    with pytest.raises(UnsupportedSQL, match="one count without groups"):
        session.watch(10, epsilon=1).ask(sql)
    assert session.balance.spent.epsilon == 0


def test_what_a_watch_needs_is_refused_at_once():
    session = session_on(Told(), ZCDP(1))
    for arguments in (
        {"threshold": float("nan"), "epsilon": 1},
        {"threshold": "ten", "epsilon": 1},
        {"threshold": 1, "epsilon": 1, "hits": 0},
        {"threshold": 1, "epsilon": 1, "hits": True},
        {"threshold": 1, "share": 0.5},
        {"threshold": 1, "epsilon": -1},
        {"threshold": 1},
    ):
        with pytest.raises(ParameterError):
            session.watch(arguments.pop("threshold"), **arguments)
    tight = session_on(Told(([()], {"One": [0]})), PureDP(1))
    with pytest.raises(BudgetExceeded):
        tight.watch(10, epsilon=2).ask(COUNT)


def test_a_watch_without_a_price_is_offered_the_prices_that_it_takes():
    with pytest.raises(MissingParameter, match="epsilon= or share=") as refusal:
        session_on(Told(), ZCDP(1)).watch(5)
    assert "rho=" not in str(refusal.value)
    assert "error=" not in str(refusal.value)


def test_hits_of_a_watch_may_come_from_numpy():
    assert session_on(Told(), ZCDP(1)).watch(5, epsilon=1, hits=np.int64(2)).remaining == 2


@pytest.mark.theorem("Watch.privacy")
def test_a_watch_ends_when_the_engine_fails():
    engine = Told(([()], {"One": [0]}))
    session = session_on(engine)
    watch = session.watch(1000, epsilon=1)
    watch.ask(COUNT)
    engine.sums = None
    with pytest.raises(QueryFailed):
        watch.ask(COUNT)
    engine.sums = ([()], {"One": [0]})
    reads = engine.reads
    with pytest.raises((StreamSpent, QueryRefused), match="open another"):
        watch.ask(COUNT)
    assert engine.reads == reads
    assert session.balance.spent.epsilon == 1


def test_units_are_watched_one_by_one():
    session = session_on(Told(([()], {"Units": [0]})))
    watch = session.watch(500, epsilon=1)
    assert watch.ask("SELECT COUNT(DISTINCT u) AS c FROM t") is False
    assert watch._stream.sensitivity.value == 1


@pytest.mark.theorem("Watch.privacy")
@pytest.mark.parametrize("budget", [PureDP(8), ApproxDP(8, 1e-6), ZCDP(8)])
def test_noisy_counts_of_hits_are_charged_with_the_verdicts_before_the_first_answer(budget):
    engine = Told(([()], {"One": [0]}))
    session = session_on(engine, budget, table=table_policy(unit="row"))
    watch = session.watch(1000, epsilon=0.1, answer_epsilon=0.2)
    assert watch.answer(COUNT) is None
    entry = list(session.ledger.entries())[-1]
    assert entry.cost == PureDP(Fraction(3, 10), relation=ADD_REMOVE)
    assert watch._stream._guaranteed == Fraction(3, 10)
    engine.sums = ([()], {"One": [5000]})
    found = watch.answer(COUNT)
    assert isinstance(found, int)
    assert abs(found - 5000) < 1000  # Laplace noise of scale 5: beyond 200 scales
    assert watch.remaining == 0


@pytest.mark.theorem("Watch.privacy")
def test_numbers_of_a_watch_are_rows_whatever_a_row_weighs():
    engine = Told(([()], {"One": [5000 * WEIGHT]}))
    session = session_on(engine, PureDP(100), table=table_policy(rows=2))
    watch = session.watch(1000, epsilon=1, answer_epsilon=1, gap=True, hits=3)
    gap, count = watch.gap(COUNT), watch.answer(COUNT)
    assert isinstance(gap, float)
    assert abs(gap - 4000) < 2000  # noise of scale below 20 rows: beyond 100 scales
    assert abs(count - 5000) < 2000
    assert watch.ask(COUNT) is True
    assert watch.remaining == 0


def test_a_watch_tells_its_accuracy_before_and_after_the_first_question_and_charges_nothing_for_it():
    engine = Told(([()], {"One": [0]}))
    session = session_on(engine, PureDP(100), table=table_policy(rows=2))
    watch = session.watch(1000.3, epsilon=1, answer_epsilon=2)
    for ask in (
        lambda **sql: watch.alpha(queries=50, beta=0.05, **sql),
        lambda **sql: watch.error(confidence=0.95, **sql),
    ):
        with pytest.raises(ParameterError, match="sql="):
            ask()
        planned = ask(sql=COUNT)
        assert session.balance.spent.epsilon == 0
        assert engine.reads == 0
        assert planned > 0
    before = watch.alpha(queries=50, beta=0.05, sql=COUNT)
    assert watch.alpha(queries=50, beta=0.05, sql="SELECT COUNT(DISTINCT u) AS c FROM t") < before
    watch.ask(COUNT)
    assert watch.alpha(queries=50, beta=0.05) == before
    stream = watch._stream
    assert before * WEIGHT >= stream.alpha(queries=50, beta=0.05)
    assert before * WEIGHT <= stream.alpha(queries=50, beta=0.05) + 2
    assert watch.error(confidence=0.95) * WEIGHT == stream.answer_noise.half_width(0.95)


@pytest.mark.parametrize("ask", ["gap", "answer"])
def test_numbers_that_were_not_asked_for_are_refused_and_charge_nothing(ask):
    engine = Told(([()], {"One": [0]}))
    session = session_on(engine)
    watch = session.watch(10, epsilon=1)
    with pytest.raises(MissingParameter, match=r"state (gap=True|answer_epsilon=)"):
        getattr(watch, ask)(COUNT)
    with pytest.raises(MissingParameter, match="answer_epsilon="):
        watch.error(confidence=0.95, sql=COUNT)
    assert engine.reads == 0
    assert session.balance.spent.epsilon == 0


@pytest.mark.parametrize("given", [{"answer_epsilon": 0}, {"answer_epsilon": -1}, {"answer_epsilon": "x"}, {"gap": 1}])
def test_what_numbers_cost_is_checked_when_a_watch_is_opened(given):
    with pytest.raises(ParameterError):
        session_on(Told()).watch(10, epsilon=1, **given)


@pytest.mark.theorem("Watch.privacy")
def test_an_engine_that_fails_while_a_number_is_asked_ends_the_watch():
    engine = Told(([()], {"One": [0]}))
    watch = session_on(engine).watch(1000, epsilon=1, answer_epsilon=1, gap=True)
    assert watch.gap(COUNT) is None
    engine.sums = None
    with pytest.raises(QueryFailed):
        watch.answer(COUNT)
    with pytest.raises((StreamSpent, QueryRefused), match="open another"):
        watch.gap(COUNT)


def test_a_watch_is_not_copied():
    watch = session_on(Told()).watch(5, epsilon=1)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable):
            copied(watch)
