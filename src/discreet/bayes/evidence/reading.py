"""What was handed over, read as measurements: each one once, all about the same data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from discreet.errors import InputError
from discreet.statistics.measurement import Group, Measurement

_DEEPEST = 8  # lists within lists


def distinct_measurements(released: Any) -> tuple[Measurement, ...]:
    """Return the measurements of an answer, a release, a measurement, or a list of them, each of them once.

    A replay of a stored answer is the measurement that it repeats. Measurements of other data, or of another version of
    it, have no common people and are refused; so are rehearsals beside real answers. Adaptive choice of questions needs
    no correction where all answers that led to it are handed over.

    >>> from discreet.bayes.evidence import noisy_counts
    >>> from discreet.laws import DiscreteLaplace
    >>> smokers = noisy_counts(412, noise=DiscreteLaplace(2), table="survey")
    >>> len(distinct_measurements([smokers, smokers]))
    1
    """
    found: dict[tuple[Any, ...], Measurement] = {}
    contents: dict[tuple[Any, ...], Measurement] = {}
    for one in _flat(released):
        if one.identity in found:
            found[one.identity] = _with_groups(found[one.identity], one)
            continue
        _require_other(contents, one)
        found[one.identity] = one
    if not found:
        raise InputError("released must hold at least one measurement; got none, write posterior(answer, model)")
    first, *others = found.values()
    for other in others:
        _require_same_data(first, other)
    return tuple(found.values())


def _flat(released: Any, depth: int = 0) -> Iterator[Measurement]:
    """Yield the measurements of whatever was handed over."""
    if isinstance(released, Measurement):
        yield released
        return
    if isinstance(released, list | tuple) and depth < _DEEPEST:
        for one in released:
            yield from _flat(one, depth + 1)
        return
    measurements = getattr(released, "measurements", None)
    if not isinstance(measurements, tuple) or not measurements:
        raise _nothing(released)
    yield from measurements


def _nothing(released: Any) -> InputError:
    """Return the error for something without noisy sums, which is named by its kind and, for answers, its columns."""
    kind = type(released).__name__
    if kind == "Answer":
        return InputError(
            "released must hold noisy counts or sums; got an answer without any, as quantiles, numbers of different "
            "values, correlations, and what sums= clips for each unit are none over rows, ask COUNT(*), SUM, AVG or "
            "VARIANCE instead"
        )
    if kind in ("TopAnswer", "Watch", "Hit"):
        asked = "session.top" if kind == "TopAnswer" else "session.watch"
        return InputError(
            f"released must hold noisy counts or sums; got what {asked} returned, which tells an order or a side of a "
            "threshold and no number, ask the counts with session.sql"
        )
    if kind == "SyntheticRelease":
        return InputError(
            "released must hold noisy counts; got a synthetic release whose method measures no histogram with "
            "independent noise, or an old one, take independent, tree or residual with Laplace noise"
        )
    return InputError(
        f"released must be an answer, a measurement, or a list of them; got {kind}, write the answer that session.sql "
        "returned, statistic.measurements(...) or noisy_counts(...)"
    )


def _with_groups(known: Measurement, again: Measurement) -> Measurement:
    """Return a measurement with the groups of another that has its identity, perhaps about other groups of it."""
    _require_one_release(known, again)
    held = dict(zip(known.plan.keys, zip(*known.released, strict=True), strict=True))
    repeated = dict(zip(_in_order_of(known, again), zip(*again.released, strict=True), strict=True))
    if any(held.get(key, integers) != integers for key, integers in repeated.items()):
        raise _other_release("integers")
    if repeated.keys() <= held.keys():
        return known
    every = {**held, **repeated}
    plan = replace(known.plan, keys=tuple(every))
    return replace(known, plan=plan, released=tuple(zip(*every.values(), strict=True)))


def _in_order_of(known: Measurement, again: Measurement) -> list[Group]:
    """Return the groups of a measurement, their values in the order of another's keys: a replay may swap them."""
    order = [again.plan.source.keys.index(key) for key in known.plan.source.keys]
    return [tuple(group[place] for place in order) for group in again.plan.keys]


def _require_one_release(known: Measurement, again: Measurement) -> None:
    """Refuse two measurements with one identity that no single release can have given."""
    one, other = known.plan, again.plan
    if sorted(one.source.keys) != sorted(other.source.keys):
        raise _other_release("keys")
    if (one.noise, one.adds_up) != (other.noise, other.adds_up):
        raise _other_release("noise or sums")
    if any(getattr(one.source, part) != getattr(other.source, part) for part in ("lineage", "version", "rows")):
        raise _other_release("data")


def _other_release(what: str) -> InputError:
    """Return the error for two releases under one name."""
    return InputError(
        f"two measurements have the name of one release and hold other {what}; give each release a name of its own, "
        'release="first" and release="second"'
    )


def _require_other(contents: dict[tuple[Any, ...], Measurement], one: Measurement) -> None:
    """Refuse what was released by hand, without a name, and cannot be told from another such release."""
    groups = frozenset(zip(one.plan.keys, zip(*one.released, strict=True), strict=True))
    content = (replace(one.plan, keys=()), groups)  # in whatever order
    if one.unnamed and contents.setdefault(content, one) is not one:
        raise InputError(
            "two measurements by hand hold the same integers, and one release must not count twice; give one of them, "
            'or name both, release="first" and release="second"'
        )


def _require_same_data(first: Measurement, other: Measurement) -> None:
    """Refuse two measurements that nothing says are about the same people at the same time."""
    if first.rehearsed != other.rehearsed:
        raise InputError(
            "released must not mix rehearsals, which are about made-up rows, with real answers; give one kind alone"
        )
    one, two = first.plan.source, other.plan.source
    if not one.lineage and not two.lineage and first.release == other.release:
        return
    if not one.lineage or not two.lineage:
        raise InputError(
            'nothing says that these releases are about the same people: name their data, table="...", or give one '
            "of them"
        )
    if one.lineage != two.lineage:
        raise InputError(
            f"released must be about one table's people; got the data {one.lineage!r} and {two.lineage!r}, whose "
            "people may or may not be the same, give the answers of one"
        )
    if one.version != two.version:
        raise InputError(
            f"released must be about one version of the data; got the versions {one.version!r} and {two.version!r} of "
            f"{one.lineage!r}, between which rows may have changed, give the answers of one version"
        )
