"""Digests of query plans and what the engine would run, answers on fixed random words, and synthetic tables."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import synthesis
from discreet.errors import DiscreetError
from discreet.privacy import ApproxDP, PureDP, Relation
from discreet.query import Explanation, Session
from tools.golden.fixed import fixed_words
from tools.golden.tables import questions, session_of
from tools.golden.written import Line, Lines, block, written

DELTA = 1e-7
ANSWERED = 12  # of the questions of every session that have an answer; reading rows takes time


def plan_lines() -> Lines:
    """Return the digest, the price and the statement of every question, or the words of its refusal."""
    for room, place, session, sql in _asked():
        key = f"{room}/{place:02d}"
        yield f"{key}/question", sql
        try:
            found = _explained(session, sql)
        except DiscreetError as refused:
            yield f"{key}/refused", f"{type(refused).__name__}: {_one_line(refused)}"
            continue
        yield f"{key}/digest", found.digest
        yield f"{key}/cost", written(found.guarantee)
        yield f"{key}/groups", found.groups
        yield f"{key}/bounding", f"{found.bounding} | {found.bias}"
        yield f"{key}/statement", f"sha256 {hashlib.sha256(found.sql.encode()).hexdigest()}"


def _asked() -> Iterator[tuple[str, int, Session, str]]:
    """Return every question with its number and a session that others of the same name share."""
    sessions: dict[str, Session] = {}
    numbers: dict[str, int] = {}
    for room, sql in questions():
        if room not in sessions:
            sessions[room], numbers[room] = session_of(room), 0
        numbers[room] += 1
        yield room, numbers[room], sessions[room], sql


def _explained(session: Session, sql: str) -> Explanation:
    """Explain at a price without a delta, and where the keys need one, with it."""
    try:
        return session.explain(sql, epsilon=1)
    except DiscreetError as refused:
        if "delta" not in str(refused):
            raise
        return session.explain(sql, epsilon=1, delta=DELTA)


def _one_line(refused: DiscreetError) -> str:
    return " | ".join(str(refused).split("\n"))


def answer_lines() -> Lines:
    """Return answers to the first questions of every session that have one.

    Questions for private keys are left out: their noise is drawn in the order in which the engine finds the keys, and
    with several threads that order is not fixed. One with a single key is among the others below.
    """
    done: dict[str, int] = {}
    for room, place, session, sql in _asked():
        key = f"{room}/{place:02d}"
        if done.get(room, 0) >= ANSWERED:
            continue
        try:
            if isinstance(_explained(session, sql).guarantee, ApproxDP):
                continue
            with fixed_words(key):
                answer = session.sql(sql, epsilon=1)
        except DiscreetError:
            continue
        done[room] = done.get(room, 0) + 1
        yield f"{key}/question", sql
        yield f"{key}/answer", block("\n".join(_rows(answer)))
    yield from _other_answers()


def _rows(answer: Any) -> list[str]:
    """Return the rows of an answer with the ends of its intervals."""
    columns = answer.to_dict()
    names = list(columns)
    return [", ".join(names), *(", ".join(map(written, row)) for row in zip(*columns.values(), strict=True))]


def _other_answers() -> Lines:
    """Return the largest groups and a watch."""
    session = session_of("hospital")
    with fixed_words("private key"):
        sql = (
            "SELECT diagnosis, COUNT(*) AS n, SUM(cost) AS c FROM visits WHERE diagnosis = 'cancer' GROUP BY diagnosis"
        )
        yield "one private key", block("\n".join(_rows(session.sql(sql, epsilon=8, delta=DELTA))))
    with fixed_words("top"):
        found = session.top("SELECT department, COUNT(*) AS n FROM visits GROUP BY department", k=2, epsilon=1)
        yield "top", written(list(found))
    with fixed_words("watch"):
        watch = session.watch(100, epsilon=1, hits=2)
        asked = [f"SELECT COUNT(*) FROM visits WHERE nights > {nights}" for nights in (20, 0, 3, 12)]  # noqa: S608  our own
        yield "watch", written([watch.ask(sql) for sql in asked if watch.remaining])
    with fixed_words("certificate"):
        answer = session.sql("SELECT COUNT(*) AS n FROM patients", epsilon=1)
        fields = {
            name: value for name, value in answer.certificate().fields.items() if name not in ("date", "entry", "library")
        }
    for name, value in fields.items():
        yield f"certificate/{name}", written(value)


def synthesis_lines() -> Lines:
    """Return what every synthesizer plans and releases, and every function that releases on a session's table."""
    for key, made in _synthesizers():
        yield f"{key}/guarantee", written(made.guarantee, 12)
        yield f"{key}/plan", written(dict(made.plan))
        with fixed_words(key):
            release = made(_records(made.workload.domain))
        yield from _released(key, release)
    yield from _in_sessions()
    yield from _workloads()


def _workloads() -> Lines:
    """Return workloads by their texts and their counts, and what is foreseen about releases."""
    s = synthesis
    domain = s.Domain.of(a=range(2), b=range(3), c=range(4), d=range(2))
    bits = s.Domain.of(smokes=["no", "yes"], drinks=["no", "yes"], runs=["no", "yes"])
    made: dict[str, synthesis.Workload] = {
        "conjunctions": s.conjunctions(domain, count=8, ways=3, seed=1),
        "disjunctions": s.disjunctions(domain, count=8, ways=2, seed=1),
        "marginals": s.marginals(domain, ways=2),
        "parities": s.parities(bits, ways=2),
        "queries": s.queries(domain, [{"a": 1, "b": [0, 2]}, {"d": 0}]),
        "ranges": s.ranges(domain, attributes=["c"]),
        "unconstrained": s.unconstrained(s.conjunctions(domain, count=8, ways=3, seed=1)),
    }
    for key, workload in made.items():
        yield f"{key}/texts", written([workload.text(place) for place in range(min(len(workload), 4))])
        yield f"{key}/counts", written(workload.counts(_records(workload.domain)))
    asked = made["conjunctions"]
    response = s.best_response(asked, [0, 1, 2, 3], [3, 1, -2, 4])
    yield "best_response", written([response.record, response.value])
    yield "one_hot", written(s.one_hot(_records(domain)).codes[:, :3])
    yield "largest_noise", written(s.largest_noise(np.full(1000, 0.01), pure=False))
    yield (
        "dual_query_error",
        written(s.dual_query_error(eta=0.02, rounds=20_000, draws=50_000, queries=100, records=1024)),
    )
    neighbors = s.Neighbors(Relation.CHANGE_ONE, 30_162)
    for accounting in s.Accounting:
        found = s.most_draws(eta=0.8, rounds=40, neighbors=neighbors, epsilon=1, delta=1e-6, accounting=accounting)
        yield f"most_draws/{accounting.name}", written(found)
    with fixed_words("report"):
        release = s.Tree.of(asked, s.Neighbors(Relation.ADD_REMOVE, 200), epsilon=2)(_records(domain))
        yield "report", block(str(s.report(release, _records(domain))))
    yield "predict", written(str(s.predict(release)))


def _released(key: str, release: synthesis.SyntheticRelease) -> Iterator[Line]:
    """Return what left."""
    yield f"{key}/answers", _decimals(release.answers)
    codes = np.ascontiguousarray(release.table.records.codes)
    yield f"{key}/table", f"{codes.shape} sha256 {hashlib.sha256(codes.tobytes()).hexdigest()}"
    weights = release.table.weights
    yield f"{key}/weights", "none" if weights is None else _decimals(np.array([weights.sum(), weights.max()]))


def _decimals(values: NDArray[np.float64]) -> str:
    """Return numbers to six decimals: compiled loops may round the last ones otherwise."""
    return written(np.round(values, 6) + 0.0)


def _records(domain: synthesis.Domain) -> synthesis.Records:
    """Return two hundred records from remainders."""
    place = np.arange(200)
    codes = np.stack([(place * (7 + 2 * column) // 3) % size for column, size in enumerate(domain.sizes)])
    return synthesis.Records(domain, codes.astype(np.uint16))


def _synthesizers() -> Iterator[tuple[str, synthesis.Synthesizer]]:
    """Return every method, priced in epsilon and in rho."""
    s = synthesis
    domain = s.Domain.of(a=range(2), b=range(3), c=range(4), d=range(2))
    asked, cells = s.conjunctions(domain, count=17, ways=2, seed=1), s.marginals(domain, ways=2)
    methods: list[tuple[Any, synthesis.Workload]] = [
        (s.Best, asked), (s.DualQuery, asked), (s.Independent, asked), (s.Mwem, asked), (s.NoisyAnswers, asked),
        (s.Residual, cells), (s.Reweighted, asked), (s.Tree, asked),
    ]  # fmt: skip
    neighbors = s.Neighbors(Relation.ADD_REMOVE, 200)
    for method, workload in methods:
        yield f"{method.__name__}/epsilon", method.of(workload, neighbors, epsilon=Fraction(2))
        yield f"{method.__name__}/rho", method.of(workload, neighbors, rho=Fraction(1, 2))


def _in_sessions() -> Lines:
    """Return releases on a session's table, with the plans and the digests that the ledger was charged for."""
    s = synthesis
    columns, bins = ["sex", "age", "hours"], {"age": 4, "hours": 3}
    session = session_of("people", PureDP(1000, relation=Relation.ADD_REMOVE))
    domain = s.domain_of(session, "people", columns, bins=bins)
    yield "domain_of", written(domain.sizes)
    asked, cells = s.conjunctions(domain, count=12, ways=2, seed=1), s.marginals(domain, ways=2)
    functions: list[Callable[..., Any]] = [s.answers, s.best, s.dual_query, s.independent, s.mwem]
    functions += [s.residual, s.reweighted, s.synthesize, s.tree]
    for function in functions:
        key = function.__name__
        workload = cells if function is s.residual else asked
        with fixed_words(key):
            release = function(
                session, "people", workload, epsilon=1 if function is not s.synthesize else 2, people=300
            )
        yield from _released(key, release)
        charged = [entry.fields for entry in session.ledger.entries() if entry.fields["kind"] == "charge"][-1]
        yield f"{key}/digest", charged["digest"]
    for method in ("best", "tree", "residual", "dual-query"):
        made = s.explain_synthesis(session, "people", cells, method=method, epsilon=1, people=300)
        yield f"explain_synthesis/{method}", block(str(made))
