"""Certified numbers of the accountant, guarantees and their conversions, and records of releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from discreet import privacy
from discreet.errors import DiscreetError
from discreet.privacy import PrivacyLoss, Relation, ReleaseRecord, Sampler
from tools.golden.written import Lines, block, written

ADD_REMOVE, CHANGE_ONE = Relation.ADD_REMOVE, Relation.CHANGE_ONE
DELTAS = (1e-9, 1e-5)


def price_lines() -> Lines:
    """Return epsilon at two deltas, delta at an epsilon and the largest loss of many compositions."""
    for name, loss in _compositions():
        for delta in DELTAS:
            yield f"{name}/epsilon({delta})", _enclosed(partial(loss.epsilon, delta))
        yield f"{name}/delta(1)", _enclosed(partial(loss.delta, 1))
    for name, loss in _single():
        yield f"{name}/largest loss", _enclosed(loss.max_loss)
        yield f"{name}/epsilon(1e-05)", _enclosed(partial(loss.epsilon, 1e-5))
    yield from _calibrations()


def _single() -> Iterator[tuple[str, PrivacyLoss]]:
    """Return the price of one release of every kind."""
    yield "gaussian_loss", privacy.gaussian_loss(2)
    yield "laplace_loss", privacy.laplace_loss(2)
    yield "discrete_gaussian_loss", privacy.discrete_gaussian_loss(3, sensitivity=2)
    yield "discrete_laplace_loss", privacy.discrete_laplace_loss(3, sensitivity=2)
    yield "randomized_response_loss", privacy.randomized_response_loss(Fraction(1, 2))
    yield "bounded_range_loss", privacy.bounded_range_loss(Fraction(1, 2))
    yield "above_threshold_loss", privacy.above_threshold_loss(Fraction(1, 2))
    chances = [Fraction(3, 4), Fraction(1, 4)]
    yield "table_loss", privacy.table_loss(chances, chances[::-1])
    yield "group_loss", privacy.group_loss(privacy.laplace_loss(10, relation=ADD_REMOVE), 3)
    yield "change_one_loss", privacy.change_one_loss(privacy.laplace_loss(10, relation=ADD_REMOVE))


def _compositions() -> Iterator[tuple[str, PrivacyLoss]]:
    """Return the price of many releases."""
    people: dict[str, Any] = {"relation": ADD_REMOVE}
    gaussian, laplace = privacy.gaussian_loss(50, **people), privacy.laplace_loss(50, **people)
    step = privacy.subsample(privacy.gaussian_loss(1, **people), rate=0.01)
    yield "1000 gaussian", gaussian * 1000
    yield "1000 laplace", laplace * 1000
    yield "100 discrete gaussian", privacy.discrete_gaussian_loss(20, **people) * 100
    yield "100 discrete laplace", privacy.discrete_laplace_loss(30, **people) * 100
    yield "500 randomized responses", privacy.randomized_response_loss(0.05) * 500
    yield "100 of bounded range", privacy.bounded_range_loss(0.1) * 100
    yield "30 streams", privacy.above_threshold_loss(0.1) * 30
    yield "1000 sampled gaussian", step * 1000
    yield "200 sampled laplace", privacy.subsample(privacy.laplace_loss(2, **people), rate=0.05) * 200
    yield (
        "100 gaussian, fixed size",
        privacy.subsample(privacy.gaussian_loss(2, relation=CHANGE_ONE), rate=0.1, sampler=Sampler.FIXED_SIZE) * 100,
    )
    yield "mixed", privacy.compose([gaussian * 300, laplace * 100, privacy.discrete_laplace_loss(20, **people) * 10])
    yield "mixed with samples", privacy.compose([step * 100, laplace * 20])
    guarantees = (privacy.PureDP(0.1), privacy.ApproxDP(0.1, 1e-8), privacy.ZCDP(0.005), privacy.GaussianDP(0.1))
    for guarantee in guarantees:
        yield f"20 times {written(guarantee)}", guarantee.loss * 20


def _calibrations() -> Lines:
    """Return the noise for targets, and how many releases fit."""
    found = privacy.calibrate(lambda sigma: privacy.gaussian_loss(sigma) * 100, epsilon=1, delta=1e-6)
    yield "calibrate/gaussian", f"{float(found):.9g}"
    found = privacy.calibrate(lambda scale: privacy.laplace_loss(scale) * 100, epsilon=2, delta=1e-6)
    yield "calibrate/laplace", f"{float(found):.9g}"
    yield "largest_count", written(privacy.largest_count(privacy.gaussian_loss(10), epsilon=1, delta=1e-6))


def _enclosed(ask: Callable[[], Any]) -> str:
    """Return an enclosed number, its method, or why there is none."""
    try:
        found = ask()
    except DiscreetError as refused:
        return f"{type(refused).__name__}: {refused}"
    return f"[{found.lower:.12g}, {found.upper:.12g}] by {found.method}"


def guarantee_lines() -> Lines:
    """Return guarantees as code and as words, and what follows from them."""
    for guarantee in _guarantees():
        key = repr(guarantee)
        yield f"{key}/words", str(guarantee)
        yield f"{key}/group of 3", _guaranteed(partial(privacy.group_privacy, guarantee, 3))
        yield f"{key}/10 times", _guaranteed(partial(privacy.repeated, guarantee, 10))
        yield f"{key}/advanced", _guaranteed(partial(privacy.advanced_composition, guarantee, 100, 1e-6))
        yield f"{key}/sampled", _guaranteed(partial(_sampled, guarantee))
        for other in _guarantees():
            yield f"{key}/implies {other!r}", _guaranteed(partial(privacy.implies, guarantee, other))
    yield "split", written(privacy.split(0.5, 1e-6, times=1000), 12)
    yield from _filters()


def _sampled(guarantee: Any) -> privacy.Guarantee:
    """Return what a release on a Poisson sample of a tenth guarantees."""
    found: privacy.Guarantee = privacy.amplify_by_poisson(guarantee, 0.1)
    return found


def _guarantees() -> list[privacy.Guarantee]:
    """Return guarantees of every notion and relation."""
    return [
        privacy.PureDP(1),
        privacy.PureDP(0.5, relation=ADD_REMOVE),
        privacy.ApproxDP(1, 1e-6, relation=CHANGE_ONE),
        privacy.ZCDP(0.5),
        privacy.ZCDP(0.125, delta=1e-9, relation=ADD_REMOVE),
        privacy.GaussianDP(0.5),
        privacy.RenyiDP(4, 0.5),
    ]


def _guaranteed(ask: Callable[[], Any]) -> str:
    """Return what follows, or why nothing does."""
    try:
        return written(ask(), 12)
    except DiscreetError as refused:
        return f"{type(refused).__name__}: {refused}"


def _filters() -> Lines:
    """Return how many equal releases live budgets admit."""
    price = privacy.PureDP(0.05)
    for budget in (privacy.PureDP(1), privacy.ApproxDP(1, 1e-6), privacy.ZCDP(0.5), privacy.GaussianDP(1)):
        keeper = privacy.privacy_filter(budget)
        yield f"privacy_filter/{budget!r}", f"{type(keeper).__name__} {_guaranteed(partial(keeper.fits, price))}"


def record_lines() -> Lines:
    """Return records of releases as JSON, their digests, and the price of all of them together."""
    records = list(_records())
    for place, record in enumerate(records):
        yield f"{place}/json", record.to_json()
        yield f"{place}/digest", record.digest
        yield f"{place}/repr", repr(record)
    yield "all/json", block(privacy.records_to_json(records))
    yield "all/read again", str(list(privacy.records_from_json(privacy.records_to_json(records))) == records)
    yield "all/epsilon(1e-06)", _enclosed(lambda: privacy.replay(records).epsilon(1e-6))


def _records() -> Iterator[ReleaseRecord]:
    """Return a record of every kind that is often written."""
    people: dict[str, Any] = {"relation": "add/remove", "unit": "patient"}
    chances = [Fraction(3, 4), Fraction(1, 4)]
    made = [
        ReleaseRecord.of("pure", epsilon=0.5, **people),
        ReleaseRecord.of("approx", epsilon=0.5, delta=1e-7, **people),
        ReleaseRecord.of("zcdp", rho=Fraction(1, 8), **people),
        ReleaseRecord.of("renyi", alpha=4, epsilon=0.25, **people),
        ReleaseRecord.of("gaussian dp", mu=0.5, **people),
        ReleaseRecord.of("laplace", scale=4, count=2, **people),
        ReleaseRecord.of("gaussian", scale=3, sampler="poisson", rate=0.01, count=100, **people),
        ReleaseRecord.of("discrete gaussian", scale=10, sensitivity=2, **people),
        ReleaseRecord.of("discrete laplace", scale=10, **people),
        ReleaseRecord.of("randomized response", epsilon=0.25, categories=5, **people),
        ReleaseRecord.of("bounded range", epsilon=0.25, **people),
        ReleaseRecord.of("above threshold", epsilon=0.25, **people),
        ReleaseRecord.of("table", with_person=chances, without_person=chances[::-1], **people),
    ]
    for record in made:
        yield replace(record, library="golden")  # a new version of discreet is not another release
