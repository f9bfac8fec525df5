"""What bad inputs are told, over all rooms: the kind of the error and its words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from discreet import (
    attacks,
    data,
    display,
    laws,
    ledger,
    local,
    mechanisms,
    privacy,
    query,
    randomness,
    statistics,
    synthesis,
)  # fmt: skip
from discreet.audit import audit
from discreet.errors import DiscreetError, SenselessParameter
from discreet.privacy import ApproxDP, PureDP, Relation
from discreet.testing.museum import exhibit_named
from tools.golden.tables import session_of
from tools.golden.written import Lines, without_modules

HERE = Path()
ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE


def refusal_lines() -> Lines:
    """Return a line for every bad input; one that is taken after all says so."""
    for key, ask in _bad_inputs():
        yield key, _told(ask)


def _told(ask: Callable[[], Any]) -> str:
    """Return the error, or the warning, in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            ask()
        except (DiscreetError, SenselessParameter) as refused:
            words = " | ".join(without_modules(str(refused)).split("\n"))
            parameter = getattr(refused, "parameter", None)
            return f"{type(refused).__name__}{f' ({parameter})' if parameter else ''}: {words}"
    return "taken"


def _bad_inputs() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return bad inputs of every room."""
    yield from _of_mechanisms()
    yield from _of_prices()
    yield from _of_statistics()
    yield from _of_queries()
    yield from _of_local()
    yield from _of_synthesis()
    yield from _of_other_rooms()


def _of_mechanisms() -> Iterator[tuple[str, Callable[[], Any]]]:
    m = mechanisms
    yield "randomness/bernoulli beyond one", lambda: randomness.bernoulli(Fraction(3, 2))
    yield "randomness/a negative count", lambda: randomness.words(-1)
    yield "laws/a scale of zero", lambda: laws.DiscreteLaplace(0)
    yield "laws/chances that do not add up", lambda: laws.Finite([1, 2], [Fraction(1, 2), Fraction(1, 3)])
    yield "laws/an unhashable outcome", lambda: laws.Softmax([0, 1], Fraction(1)).pmf({})
    yield "mechanisms/no price", lambda: m.Laplace(sensitivity=1)
    yield "mechanisms/two prices", lambda: m.Laplace(epsilon=1, scale=2, sensitivity=1)
    yield "mechanisms/a negative epsilon", lambda: m.Laplace(epsilon=-1, sensitivity=1)
    yield "mechanisms/epsilon as text", lambda: m.Laplace(epsilon="1", sensitivity=1)  # type: ignore[arg-type]
    yield "mechanisms/no sensitivity", lambda: m.Gaussian(epsilon=1, delta=1e-6)
    yield "mechanisms/a float for integers", lambda: m.Laplace(epsilon=1, sensitivity=1)(0.5)
    yield "mechanisms/an array for one number", lambda: m.Laplace(epsilon=1, sensitivity=1)(np.array([1, 2]))
    yield "mechanisms/no candidates", lambda: m.Exponential(epsilon=1, sensitivity=1)([])
    yield "mechanisms/a category too many", lambda: m.RandomizedResponse(epsilon=1, categories=2)(2)
    yield "mechanisms/no threshold", lambda: m.AboveThreshold(epsilon=1, sensitivity=1)
    yield "mechanisms/no relation of keys", lambda: m.ThresholdedHistogram(epsilon=1, delta=1e-6, keys=1)


def _of_prices() -> Iterator[tuple[str, Callable[[], Any]]]:
    p = privacy
    yield "privacy/infinite epsilon", lambda: PureDP(float("inf"))
    yield "privacy/delta of one", lambda: ApproxDP(1, 2)
    yield (
        "privacy/mixed relations",
        lambda: p.compose([p.gaussian_loss(1, relation=ADD_REMOVE), p.gaussian_loss(1, relation=CHANGE_ONE)]),
    )
    yield "privacy/no conversion", lambda: p.convert(ApproxDP(1, 1e-6), PureDP)
    yield "privacy/shuffled batches", lambda: p.subsample(p.gaussian_loss(1), rate=0.1, sampler="shuffled")
    yield "privacy/a record without a price", lambda: p.ReleaseRecord.of("magic", relation="add/remove", unit="x")
    yield "privacy/records that are no list", lambda: p.records_from_json("{}")
    yield "privacy/senseless epsilon", lambda: p.warn_if_senseless(PureDP(50), people=100)
    yield "audit/no guarantee", lambda: audit(lambda value: value)
    yield "audit/no neighbors", lambda: audit(lambda value: value, PureDP(1))
    yield "testing/no exhibit", lambda: exhibit_named("nobody")


def _of_statistics() -> Iterator[tuple[str, Callable[[], Any]]]:
    s = statistics
    people: dict[str, Any] = {"relation": ADD_REMOVE, "epsilon": 1}
    yield "statistics/no bounds", lambda: s.mean([1.0, 2.0], **people)
    yield "statistics/bounds the wrong way", lambda: s.sum([1.0], bounds=(5, 1), **people)
    yield "statistics/no relation", lambda: s.count([1], epsilon=1)
    yield "statistics/public number of rows", lambda: s.count([1], relation=CHANGE_ONE, epsilon=1)
    yield "statistics/texts", lambda: s.sum(["a"], bounds=(0, 1), **people)
    yield "statistics/no keys stated", lambda: s.histogram(["a"], **people)
    yield "statistics/private keys without delta", lambda: s.histogram(["a"], keys=None, **people)
    yield "statistics/level beyond one", lambda: s.quantile([1.0], 1.5, bounds=(0, 1), **people)
    yield (
        "statistics/units of another length",
        lambda: s.sum([1.0, 2.0], bounds=(0, 1), unit=["a"], contribution=1, **people),
    )
    yield "statistics/units without a contribution", lambda: s.count([1, 2], unit=["a", "a"], **people)


def _of_queries() -> Iterator[tuple[str, Callable[[], Any]]]:
    small = session_of("people", PureDP(1, relation=ADD_REMOVE))
    count = "SELECT COUNT(*) FROM people"
    yield "query/no price", lambda: small.sql(count)
    yield "query/two prices", lambda: small.sql(count, epsilon=1, rho=1)
    yield "query/beyond the budget", lambda: small.sql(count, epsilon=2)
    yield "query/no bound", lambda: session_of("hospital").sql("SELECT SUM(fee) FROM visits", epsilon=1)
    yield (
        "query/a sum without range",
        lambda: session_of("hospital").sql("SELECT SUM(patient_id) FROM visits", epsilon=1),
    )
    yield (
        "query/private keys",
        lambda: session_of("hospital").sql("SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis", epsilon=1),
    )
    yield "query/not SQL", lambda: small.sql("how many?", epsilon=1)
    yield "query/a policy without anything", lambda: query.parse_policy("", folder=HERE)
    yield (
        "query/a policy with mistakes",
        lambda: query.parse_policy('[data]\nsource = 3\n[protect]\nunits = "x"\n', folder=HERE),
    )
    yield "query/no frames", lambda: query.Session.from_frames(unit="row", budget=PureDP(1))
    request = ledger.Request(analyst="ana", price=PureDP(1), digest="0" * 64, description="x")
    yield "ledger/a short digest", lambda: ledger.Request(analyst="a", price=PureDP(1), digest="0", description="x")
    terms = ledger.Terms(lineage="x", unit="y", budget=PureDP(1, relation=ADD_REMOVE), caps={"ana": None})
    yield "ledger/another relation", lambda: ledger.MemoryLedger(terms).obtain(request)


def _of_local() -> Iterator[tuple[str, Callable[[], Any]]]:
    lo, one = local, Fraction(1)
    yield "local/no epsilon", lambda: lo.DirectResponse(categories=2)  # type: ignore[call-arg]
    yield "local/one value", lambda: lo.DirectResponse(epsilon=one, categories=1)
    yield "local/a value too many", lambda: lo.DirectResponse(epsilon=one, categories=2).client().report(2)
    yield "local/no prime", lambda: lo.ProjectiveGeometry(epsilon=one, categories=7, prime=4, dimension=3)
    yield (
        "local/keys of no kind",
        lambda: lo.HashedGeometry(epsilon=one, keys="color", prime=2, dimension=3, rows=2, seed=1),
    )
    yield "local/a spec that is none", lambda: lo.Spec.from_json("{}")
    yield "local/a batch that is none", lambda: lo.ReportBatch.from_bytes(b"no")
    yield "local/bounds the wrong way", lambda: lo.DuchiBit(epsilon=one, bounds=(1, 0))
    yield "local/no rounds", lambda: lo.lifetime(lo.DirectResponse(epsilon=one, categories=2))
    yield "local/a design of nothing", lo.design


def _of_synthesis() -> Iterator[tuple[str, Callable[[], Any]]]:
    s = synthesis
    domain = s.Domain.of(a=range(2), b=range(3))
    asked, neighbors = s.marginals(domain, ways=2), s.Neighbors(ADD_REMOVE, 10)
    yield "synthesis/no workload", lambda: s.Tree.of(None, neighbors, epsilon=1)  # type: ignore[arg-type]
    yield "synthesis/no neighbors", lambda: s.Tree.of(asked, None, epsilon=1)  # type: ignore[arg-type]
    yield "synthesis/no price", lambda: s.Tree.of(asked, neighbors)
    yield "synthesis/a table that is none", lambda: s.Tree.of(asked, neighbors, epsilon=1)([1])  # type: ignore[arg-type]
    yield "synthesis/too many ways", lambda: s.marginals(domain, ways=5)
    yield "synthesis/no relation", lambda: s.Neighbors(Relation.UNSTATED, 10)
    yield "synthesis/no method", lambda: s.synthesize(session_of("people"), "people", asked, method="magic", epsilon=1)


def _of_other_rooms() -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "data/nobody", lambda: data.population(0, seed=1)
    yield "data/no seed", lambda: data.hospital_database(people=10, seed=-1)
    yield "display/rows of unequal length", lambda: display.Table(["a", "b"], [[1]])
    yield "attacks/a price of nothing", lambda: attacks.ceiling(0.5)  # type: ignore[arg-type]
    yield "attacks/no bits", lambda: attacks.RandomSubsets(0, 0, seed=1)
