"""Families of queries: random conjunctions and disjunctions, parities, ranges, and queries written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.invention import coins
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.synthesis.domain import Attribute, Domain
from discreet.synthesis.workloads.literals import (
    MOST_QUERIES,
    check_room,
    checked_count,
    checked_ways,
    random_attributes,
    random_codes,
    value_literals,
)
from discreet.synthesis.workloads.workload import PADDING, Literals, Workload


def conjunctions(
    domain: Domain,
    *,
    ways: int = 3,
    count: int = 100_000,
    seed: int = 1,
    repeats: bool = True,
    negation: bool = True,
) -> Workload:
    """Return random queries that ask for all of `ways` literals: an attribute each, a value of it, perhaps negated.

    Attribute and value are uniform; attributes may repeat within a query unless `repeats` is False, and each literal
    is negated with probability 1/2 unless `negation` is False. The seed is public, as the queries are.

    Reference. Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014, section 5: what their experiments call 3-way marginals.

    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"])
    >>> conjunctions(domain, count=1_000)
    Workload(1,000 queries: random 3-literal conjunctions, seed 1)
    """
    return _random_queries(domain, ways, count, seed, repeats, negation, either=False)


def disjunctions(
    domain: Domain,
    *,
    ways: int = 3,
    count: int = 100_000,
    seed: int = 1,
    repeats: bool = True,
    negation: bool = True,
) -> Workload:
    """Return random queries that ask for at least one of `ways` literals, drawn as `conjunctions` draws them.

    `a or b` is the negation of `not a and not b`, and that is how it is kept.

    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"])
    >>> disjunctions(domain, ways=2, count=10).text(0).count(" or ")
    1
    """
    return _random_queries(domain, ways, count, seed, repeats, negation, either=True)


def _random_queries(
    domain: Domain, ways: int, count: int, seed: int, repeats: bool, negation: bool, *, either: bool
) -> Workload:
    """Return random conjunctions or, with all literals and the queries turned round, disjunctions."""
    ways = checked_ways(ways, len(domain), repeats=repeats)
    count = checked_count(count, ways=ways)
    flips = coins(seed)
    chosen = random_attributes(flips, len(domain), ways=ways, count=count, repeats=repeats)
    values = random_codes(flips, domain, chosen)
    negated = flips.integers(0, 2, size=chosen.shape) == 1 if negation else np.zeros(chosen.shape, dtype=np.bool_)
    literals, members = value_literals(domain, chosen, values, negated ^ either)
    description = f"random {ways}-literal {'disjunctions' if either else 'conjunctions'}, seed {seed}"
    turned = np.full(count, either, dtype=np.bool_)
    return Workload(domain, literals, members, np.zeros_like(turned), turned, description)


def parities(domain: Domain, *, ways: int, count: int | None = None, seed: int = 1) -> Workload:
    """Return queries that ask for an odd number of true literals among `ways` about different attributes.

    The literal of an attribute with two values is that it has the second. Without `count` every set of `ways`
    attributes is asked about, which takes attributes of two values; with it, random sets, and for an attribute of more
    values a random one.

    >>> domain = Domain.of(
    ...     smokes=["no", "yes"], drinks=["no", "yes"], runs=["no", "yes"]
    ... )
    >>> parities(domain, ways=2).text(0)
    "an odd number of: smokes = 'yes', drinks = 'yes'"
    """
    ways = checked_ways(ways, len(domain), repeats=False)
    if count is None:
        chosen, values = _every(domain, ways)
    else:
        chosen, values = _random(domain, ways, checked_count(count, ways=ways), seed)
    literals, members = value_literals(domain, chosen, values, np.zeros(chosen.shape, dtype=np.bool_))
    drawn = "all" if count is None else "random"
    seeded = "" if count is None else f", seed {seed}"
    odd = np.ones(len(members), dtype=np.bool_)
    return Workload(domain, literals, members, odd, ~odd, f"{drawn} {ways}-literal parities{seeded}")


def _every(domain: Domain, ways: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all sets of attributes, and the second code of each."""
    if any(size != 2 for size in domain.sizes):
        raise MissingParameter(
            "all parities are those of attributes with two values; state count= for random ones", parameter="count"
        )
    sets = comb(len(domain), ways)
    if sets > MOST_QUERIES:
        raise ParameterError(f"there are {sets:,} such parities; state count= for random ones", parameter="count")
    chosen = np.fromiter(
        (place for one in combinations(range(len(domain)), ways) for place in one), dtype=np.int64, count=sets * ways
    ).reshape(sets, ways)
    return chosen, np.ones(chosen.shape, dtype=np.int64)


def _random(domain: Domain, ways: int, count: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return random sets of attributes, and a random code of each, the second where there are two."""
    flips = coins(seed)
    chosen = random_attributes(flips, len(domain), ways=ways, count=count, repeats=False)
    return chosen, np.where(np.array(domain.sizes)[chosen] == 2, 1, random_codes(flips, domain, chosen))


def ranges(
    domain: Domain,
    *,
    attributes: Sequence[str] | None = None,
    ways: int = 1,
    count: int | None = None,
    seed: int = 1,
) -> Workload:
    """Return queries that ask for values from one to another, in the order of the codes, of `ways` attributes at once.

    Without `count`: every range of every attribute named (all by default). With it: random boxes over `ways` different
    attributes, each range uniform among the m (m + 1) / 2 of an attribute with m values. No range takes in what is
    missing.

    >>> domain = Domain.of(rooms=range(1, 6), floor=range(4), sex=["f", "m"])
    >>> every = ranges(domain, attributes=["rooms", "floor"])
    >>> len(every), every.text(2), len(ranges(domain, ways=2, count=1_000))
    (25, 'rooms from 1 to 3', 1000)
    """
    named = np.array([domain.place(name) for name in (domain.names if attributes is None else attributes)], np.int64)
    if len(named) == 0 or len(set(named.tolist())) != len(named):
        raise ParameterError("name at least one attribute, each once", parameter="attributes")
    ways = checked_ways(ways, len(named), repeats=False)
    lengths = np.array([len(one.values) for one in domain.attributes], dtype=np.int64)
    if count is None:
        if ways > 1:
            raise MissingParameter("state count=: boxes of several attributes are drawn at random", parameter="count")
        chosen, ranks = _every_range(named, lengths)
        description = "all ranges of an attribute"
    else:
        flips, count = coins(seed), checked_count(count, ways=ways)
        chosen = named[random_attributes(flips, len(named), ways=ways, count=count, repeats=False)]
        ranks = flips.integers(0, lengths[chosen] * (lengths[chosen] + 1) // 2)
        description = f"random {ways}-attribute ranges, seed {seed}"
    literals, members = _range_literals(domain, lengths, chosen, ranks)
    none = np.zeros(len(members), dtype=np.bool_)
    return Workload(domain, literals, members, none, none.copy(), description)


def _every_range(named: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return an attribute and the rank of a range for every range."""
    each = lengths[named] * (lengths[named] + 1) // 2
    if int(each.sum()) > MOST_QUERIES:
        raise ParameterError(f"there are {int(each.sum()):,} ranges; state count= for random ones", parameter="count")
    ranks = np.concatenate([np.arange(ranges) for ranges in each])
    return np.repeat(named, each)[:, None], ranks[:, None]


def _range_literals(
    domain: Domain, lengths: NDArray[np.int64], chosen: NDArray[np.int64], ranks: NDArray[np.int64]
) -> tuple[Literals, NDArray[np.int32]]:
    """Return the distinct ranges and their positions; ranks list the ranges of m values by their first value."""
    most = int(lengths.max()) * (int(lengths.max()) + 1) // 2
    listed, positions = np.unique(chosen * most + ranks, return_inverse=True)
    attribute, rank = np.divmod(listed, most)
    low, high = _ends(rank, lengths[attribute])
    room = max(domain.sizes[place] for place in attribute)
    check_room(len(listed), room)
    code = np.arange(room)
    accepts = (code >= low[:, None]) & (code <= high[:, None])
    return Literals(attribute.astype(np.int32), accepts), positions.reshape(chosen.shape).astype(np.int32)


def _ends(rank: NDArray[np.int64], length: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and last code of ranges by rank: rank r of m values starts at the a with a m - a (a-1)/2 <= r.

    >>> [end.tolist() for end in _ends(np.arange(6), np.full(6, 3))]
    [[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    """
    low = np.floor(length + 0.5 - np.sqrt((length + 0.5) ** 2 - 2 * rank)).astype(np.int64)
    for _ in range(2):  # the root may be a rounding error off, to either side
        low -= low * length - low * (low - 1) // 2 > rank
        low += (low + 1) * length - (low + 1) * low // 2 <= rank
    return low, rank - (low * length - low * (low - 1) // 2) + low


_SHOWN = 8  # values that a message lists


def queries(domain: Domain, wanted: Iterable[Mapping[str, Any]], *, either: bool = False) -> Workload:
    """Return handwritten queries: each maps names of attributes to a value or to a list of values, None for missing.

    A query holds where all of its statements do or, with `either`, where at least one does.

    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6))
    >>> workload = queries(domain, [{"sex": "f", "rooms": [1, 2]}, {"rooms": 5}])
    >>> workload.counts(
    ...     domain.encode({"sex": ["f", "f", "m"], "rooms": [2, 5, 5]})
    ... ).tolist()
    [1, 2]
    """
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    rows = [_row(domain, query, known) for query in _listed(domain, wanted)]
    if not rows:
        raise ParameterError("write at least one query", parameter="wanted")
    members = np.full((len(rows), max(map(len, rows))), PADDING, dtype=np.int32)
    for place, row in enumerate(rows):
        members[place, : len(row)] = row
    turned = np.full(len(rows), either, dtype=np.bool_)
    return Workload(
        domain, _literals(domain, list(known), turn=either), members, ~np.ones_like(turned), turned, "stated queries"
    )


def _listed(domain: object, wanted: object) -> list[Mapping[str, Any]]:
    """Return the queries as a list, and raise unless it is a list of mappings over a domain."""
    if not isinstance(domain, Domain):
        raise ParameterError(
            f"the first argument must be a Domain, not {type(domain).__name__}: queries(domain, [...])",
            parameter="domain",
        )
    form = 'a list of queries is needed, each by attribute: queries(domain, [{"sex": "f", "rooms": [1, 2]}])'
    if isinstance(wanted, Mapping | str | bytes) or not isinstance(wanted, Iterable):
        raise ParameterError(form, parameter="wanted")
    listed = list(wanted)
    if not all(isinstance(query, Mapping) for query in listed):
        raise ParameterError(form, parameter="wanted")
    return listed


def _row(domain: Domain, query: Mapping[str, Any], known: dict[tuple[int, tuple[int, ...]], int]) -> list[int]:
    """Return the literals of one query, each met for the first time added to those that are known."""
    if not query:
        raise ParameterError("a query must name at least one attribute", parameter="wanted")
    row = []
    for name, values in query.items():
        place = domain.place(name)
        literal = place, _codes(domain.attributes[place], values)
        row.append(known.setdefault(literal, len(known)))
    return row


def _codes(attribute: Attribute, values: Any) -> tuple[int, ...]:
    """Return the codes of a value or of a list of values."""
    values = values.tolist() if isinstance(values, np.ndarray) else values  # an array has no one answer to ==
    several = isinstance(values, Sequence | set | frozenset) and not isinstance(values, str | bytes)
    listed = list(values) if several and values not in attribute.values else [values]
    try:
        codes = attribute.encode([value for value in listed if value is not None]).tolist()
    except InputError:
        codes = [len(attribute.values)]
    if len(attribute.values) in codes:
        raise ParameterError(
            f"{attribute.name} cannot have a value that a query asks for; it has {_shown(attribute)}",
            parameter="wanted",
        )
    if None in listed:
        if not attribute.missing:
            raise ParameterError(
                f"{attribute.name} has no code for missing values: leave None out, or write missing=True",
                parameter="wanted",
            )
        codes.append(len(attribute.values))
    if not codes:
        raise ParameterError(f"{attribute.name}: a query must list at least one value", parameter="wanted")
    return tuple(sorted(set(codes)))


def _shown(attribute: Attribute) -> str:
    """Return some of the values, which are public."""
    listed = [repr(value) for value in attribute.values[:_SHOWN]] + ["..."] * (len(attribute.values) > _SHOWN)
    return ", ".join(listed) + (", and None for missing" if attribute.missing else "")


def _literals(domain: Domain, listed: list[tuple[int, tuple[int, ...]]], *, turn: bool) -> Literals:
    """Return the literals, all turned round if asked."""
    room = max(domain.sizes[place] for place, _ in listed)
    check_room(len(listed), room)
    accepts: NDArray[np.bool_] = np.zeros((len(listed), room), dtype=np.bool_)
    for row, (place, codes) in enumerate(listed):
        accepts[row, list(codes)] = True
        if turn:
            accepts[row, : domain.sizes[place]] ^= True
    return Literals(np.array([place for place, _ in listed], dtype=np.int32), accepts)
