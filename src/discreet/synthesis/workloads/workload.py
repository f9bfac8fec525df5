"""Workloads: very many counting queries in one form, a conjunction or parity of literals each, some negated.

Queries in words: which values a literal accepts, joined by and, or, and exclusive or.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled
from discreet.errors import InputError, ParameterError
from discreet.synthesis.domain import Attribute, Domain, Records

PADDING = -1
_CHECKED = 1 << 24  # entries of a table of literals that are looked at together


@dataclass(frozen=True, eq=False)
class Literals:
    """Statements about one attribute each: literal p holds for a record whose code there is c if `accepts[p, c]`.

    A value, its negation, a range and any set of values are all literals. `accepts` has a column for each code of the
    longest attribute and is padded with False.
    """

    attribute: NDArray[np.int32]
    accepts: NDArray[np.bool_]

    def __post_init__(self) -> None:
        object.__setattr__(self, "attribute", _small(self.attribute, name="attribute"))
        object.__setattr__(self, "accepts", np.ascontiguousarray(self.accepts, dtype=np.bool_))

    def __len__(self) -> int:
        return len(self.attribute)

    def check(self, domain: Domain) -> None:
        """Refuse literals about attributes or codes that the domain does not have."""
        sizes = np.array(domain.sizes)
        if self.attribute.ndim != 1 or not len(self) or self.attribute.min() < 0 or self.attribute.max() >= len(sizes):
            raise ParameterError("a literal must be about an attribute of the domain", parameter="attribute")
        if (
            self.accepts.ndim != 2
            or self.accepts.shape[0] != len(self)
            or self.accepts.shape[1] < sizes[self.attribute].max()
        ):
            raise ParameterError(
                "accepts must have a row for each literal and a column for each code", parameter="accepts"
            )
        codes, step = np.arange(self.accepts.shape[1]), max(_CHECKED // self.accepts.shape[1], 1)
        for start in range(0, len(self), step):
            part = slice(start, start + step)
            if np.any(self.accepts[part] & (codes >= sizes[self.attribute[part]][:, None])):
                raise ParameterError("a literal must accept only codes that its attribute has", parameter="accepts")

    def joined(self, other: Literals) -> Literals:
        """Return these literals and then those of another list."""
        codes = max(self.accepts.shape[1], other.accepts.shape[1])
        accepts = [np.pad(one.accepts, ((0, 0), (0, codes - one.accepts.shape[1]))) for one in (self, other)]
        return Literals(np.concatenate([self.attribute, other.attribute]), np.concatenate(accepts))

    def truths(self, record: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """Return which literals hold for one record."""
        held: NDArray[np.bool_] = self.accepts[np.arange(len(self)), record[self.attribute]]
        return held


@dataclass(frozen=True, eq=False, repr=False)
class Workload:
    """Counting queries: the frequency of records for which all literals hold, or an odd number of them, or not.

    `members[q]` lists the literals of query q, padded at the end with -1. Where `parity[q]`, the query holds for
    records with an odd number of true literals, else for those where all are true. `negated[q]` turns it round.
    The negation of every query is always understood to be asked too: its answer follows.
    """

    domain: Domain
    literals: Literals
    members: NDArray[np.int32]
    parity: NDArray[np.bool_]
    negated: NDArray[np.bool_]
    description: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", _small(self.members, name="members"))
        for name in ("parity", "negated"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=np.bool_))
        members, count = self.members, len(self.members)
        if members.ndim != 2 or members.size == 0 or self.parity.shape != (count,) or self.negated.shape != (count,):
            raise ParameterError("a workload needs at least one query, and arrays of one length", parameter="members")
        if members.max() >= len(self.literals) or members.min() < PADDING or np.any(members[:, 0] < 0):
            raise ParameterError(
                "a query must name at least one literal, all of them in the workload", parameter="members"
            )
        if np.any((members[:, :-1] == PADDING) & (members[:, 1:] != PADDING)):
            raise ParameterError("padding must stand after the literals of a query", parameter="members")
        self.literals.check(self.domain)

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self):,} queries: {self.description})"

    def __add__(self, other: Workload) -> Workload:
        if self.domain != other.domain:
            raise ParameterError("workloads must be over the same domain to be added", parameter="domain")
        literals, ways = len(self.literals), max(self.members.shape[1], other.members.shape[1])
        moved = np.where(other.members == PADDING, PADDING, other.members + literals)
        return Workload(
            self.domain,
            self.literals.joined(other.literals),
            np.concatenate([_widened(self.members, ways), _widened(moved, ways)]),
            np.concatenate([self.parity, other.parity]),
            np.concatenate([self.negated, other.negated]),
            f"{self.description}; {other.description}",
        )

    def __getitem__(self, places: int | slice | NDArray[Any]) -> Workload:
        if isinstance(places, int | np.integer):
            places = np.array([range(len(self))[places]])
        members = self.members[places]
        used = np.zeros(len(self.literals) + 1, dtype=np.bool_)
        used[members] = True  # padding, -1, marks the entry beyond the last literal
        renamed = np.append(np.cumsum(used[:-1]) - 1, PADDING).astype(np.int32)
        return Workload(
            self.domain,
            Literals(self.literals.attribute[used[:-1]], self.literals.accepts[used[:-1]]),
            renamed[members],
            self.parity[places],
            self.negated[places],
            f"{len(members):,} of {self.description}",
        )

    def text(self, place: int) -> str:
        """Return one query in words.

        >>> from discreet.synthesis import Domain, queries
        >>> rooms = Domain.of(sex=["f", "m"], rooms=range(1, 6))
        >>> queries(rooms, [{"sex": "f", "rooms": [1, 2]}]).text(0)
        "sex = 'f' and rooms in (1, 2)"
        """
        place = range(len(self))[place]
        parity, negated = bool(self.parity[place]), bool(self.negated[place])
        listed = self.members[place][self.members[place] != PADDING]
        turn = negated and not parity  # not (a and b) reads better as (not a or not b)
        statements = [
            literal(self.domain.attributes[self.literals.attribute[one]], self.literals.accepts[one] ^ turn)
            for one in listed
        ]
        return query(statements, parity=parity, negated=negated)

    @cached_property
    def digest(self) -> str:
        """A public name for exactly these queries over this domain."""
        parts = [repr(self.domain).encode(), self.literals.attribute.tobytes(), self.literals.accepts.tobytes()]
        parts += [
            str(self.members.shape).encode(),
            self.members.tobytes(),
            self.parity.tobytes(),
            self.negated.tobytes(),
        ]
        hashed = hashlib.sha256()
        for part in parts:
            hashed.update(len(part).to_bytes(8, "big") + part)
        return hashed.hexdigest()

    def truths(self, record: NDArray[np.uint16]) -> NDArray[np.bool_]:
        """Return which queries one record satisfies."""
        held = self.literals.truths(record)
        if not available():
            return truths_by_numpy(held, self.members, self.parity, self.negated)
        satisfied = np.empty(len(self), dtype=np.bool_)
        _truths(held, self.members, self.parity, self.negated, satisfied)
        return satisfied

    def counts(self, records: Records) -> NDArray[np.int64]:
        """Return, exactly, how many records satisfy each query."""
        from discreet.synthesis.workloads.counting import counts

        return counts(self, records)

    def weighted_counts(self, records: Records, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of the records that satisfy each query, in double precision."""
        from discreet.synthesis.workloads.counting import weighted_counts

        return weighted_counts(self, records, weights)

    def frequencies(self, records: Records, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return the frequency of records, or their part of the weight, for each query; zeros where there are none."""
        if weights is None:
            return self.counts(records) / max(len(records), 1)
        total = float(np.sum(weights))
        return self.weighted_counts(records, weights) / (total if total > 0 else 1.0)


def require_own(workload: Workload, records: Records) -> None:
    """Refuse records whose codes mean something else."""
    if records.domain != workload.domain:
        raise InputError("the records must be of the same domain as the workload")


def checked_weights(weights: NDArray[np.float64], records: Records) -> NDArray[np.float64]:
    """Return weights in double precision, one for each record."""
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape != (len(records),):
        raise InputError("weights must be one number for each record")
    return weights


def _small(given: NDArray[Any], *, name: str) -> NDArray[np.int32]:
    """Return whole numbers in 32 bits, refusing those that would become others there."""
    numbers, limits = np.asarray(given), np.iinfo(np.int32)
    if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < limits.min or numbers.max() > limits.max):
        raise ParameterError(f"{name} must be whole numbers, at most 2^31 - 1", parameter=name)
    return np.ascontiguousarray(numbers, dtype=np.int32)


def _widened(members: NDArray[np.int32], ways: int) -> NDArray[np.int32]:
    """Return queries padded to a number of literals."""
    return np.pad(members, ((0, 0), (0, ways - members.shape[1])), constant_values=PADDING)


@compiled
def _truths(
    held: NDArray[np.bool_],
    members: NDArray[np.int32],
    parity: NDArray[np.bool_],
    negated: NDArray[np.bool_],
    satisfied: NDArray[np.bool_],
) -> None:
    """Fill in which queries hold, from which literals do."""
    for query in range(members.shape[0]):
        odd, all_held = False, True
        for place in range(members.shape[1]):
            member = members[query, place]
            if member < 0:
                break
            odd ^= held[member]
            all_held &= held[member]
        satisfied[query] = (odd if parity[query] else all_held) ^ negated[query]


def truths_by_numpy(
    held: NDArray[np.bool_], members: NDArray[np.int32], parity: NDArray[np.bool_], negated: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which queries hold, from which literals do, without a compiler."""
    read = np.append(held, True)[members]  # padding reads the last: true
    satisfied = read.all(axis=1)
    if parity.any():
        odd = np.logical_xor.reduce(read & (members != PADDING), axis=1)
        satisfied = np.where(parity, odd, satisfied)
    turned: NDArray[np.bool_] = satisfied ^ negated
    return turned


_MOST_LISTED = 6


def literal(attribute: Attribute, accepts: NDArray[np.bool_]) -> str:
    """Return what a literal says.

    >>> literal(Attribute("rooms", (1, 2, 3, 4)), np.array([True, False, True, False]))
    'rooms in (1, 3)'
    """
    accepted = np.flatnonzero(accepts[: len(attribute)])
    refused = np.flatnonzero(~accepts[: len(attribute)])
    return f"{attribute.name} {_said(attribute, accepted, refused)}"


def _said(attribute: Attribute, accepted: NDArray[np.intp], refused: NDArray[np.intp]) -> str:
    """Return what is said about an attribute, in the shortest of the usual forms."""
    if len(accepted) == 0 or len(refused) == 0:
        return "is anything" if len(accepted) else "is nothing"
    if len(accepted) == 1:
        return f"= {attribute.label(int(accepted[0]))}"
    if len(refused) == 1:
        return f"!= {attribute.label(int(refused[0]))}"
    if len(accepted) > 2 and accepted[-1] - accepted[0] == len(accepted) - 1 and accepted[-1] < len(attribute.values):
        return f"from {attribute.label(int(accepted[0]))} to {attribute.label(int(accepted[-1]))}"
    if len(accepted) <= len(refused):
        return f"in ({_listed(attribute, accepted)})"
    return f"not in ({_listed(attribute, refused)})"


def _listed(attribute: Attribute, codes: NDArray[np.intp]) -> str:
    """Return the labels of codes, the first few of many."""
    shown = [attribute.label(int(code)) for code in codes[:_MOST_LISTED]]
    more = len(codes) - len(shown)
    return ", ".join([*shown, f"and {more} more"] if more else shown)


def query(statements: list[str], *, parity: bool, negated: bool) -> str:
    """Return what a query says; the statements of a negated conjunction are those that refuse.

    >>> query(["a = 1", "b = 1"], parity=True, negated=False)
    'an odd number of: a = 1, b = 1'
    """
    if parity:
        return f"an {'even' if negated else 'odd'} number of: {', '.join(statements)}"
    return (" or " if negated else " and ").join(statements)
