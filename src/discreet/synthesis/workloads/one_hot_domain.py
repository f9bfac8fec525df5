"""The form of records without categories: every value of every attribute a yes or no of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.synthesis.domain import Attribute, Domain, Records
from discreet.synthesis.workloads.workload import Literals, Workload

_YES_OR_NO = ("no", "yes")


def unconstrained_domain(domain: Domain) -> Domain:
    """Return the domain with a yes or no for each value: its records may have two colors, or none.

    >>> unconstrained_domain(Domain.of(color=["red", "green"])).names
    ("color = 'red'", "color = 'green'")
    """
    return Domain(tuple(Attribute(name, _YES_OR_NO) for one in domain for name in _names(one)))


def unconstrained(workload: Workload) -> Workload:
    """Return the same queries over yes or no for each value, as in the paper that introduced DualQuery.

    Every query keeps its number and, on `one_hot` records, its answer; but a method that invents records may now invent
    some with two values of an attribute, or with none. Literals must be one value or all but one.

    Accuracy. Query q of the result holds for the one-hot form of a record exactly if q of the workload holds for it.
        Proof: of the answers about one attribute exactly one is yes, that about the record's value. So "value is v" is
        yes at v, and "value is not v" is no at v; literals agree, and queries combine them alike.
    Reference. Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014, whose experiments drop the constraint.

    >>> from discreet.synthesis import Domain, Literals
    >>> domain = Domain.of(color=["red", "green", "blue"])
    >>> literals = Literals(
    ...     np.zeros(2, dtype=np.int32), np.array([[1, 0, 0], [1, 1, 0]], dtype=bool)
    ... )
    >>> no = np.zeros(2, dtype=bool)
    >>> workload = Workload(
    ...     domain,
    ...     literals,
    ...     np.array([[0], [1]], dtype=np.int32),
    ...     no,
    ...     no,
    ...     "red, not blue",
    ... )
    >>> unconstrained(workload).truths(
    ...     np.array([1, 1, 0], dtype=np.uint16)
    ... ).tolist()  # red and green at once
    [True, True]
    """
    value, holds = _single_values(workload)
    first = np.append(0, np.cumsum(workload.domain.sizes))
    column = first[workload.literals.attribute] + value
    return Workload(
        unconstrained_domain(workload.domain),
        Literals(column.astype(np.int32), np.stack([~holds, holds], axis=1)),
        workload.members,
        workload.parity,
        workload.negated,
        f"{workload.description}, records unconstrained",
    )


def one_hot(records: Records) -> Records:
    """Return records of a domain as yes or no for each value."""
    codes = [
        row == np.arange(size, dtype=np.uint16)[:, None]
        for row, size in zip(records.codes, records.domain.sizes, strict=True)
    ]
    return Records(unconstrained_domain(records.domain), np.concatenate(codes).astype(np.uint16))


def _names(attribute: Attribute) -> list[str]:
    """Return a name for each value."""
    named = [f"{attribute.name} = {value!r}" for value in attribute.values]
    return [*named, f"{attribute.name} is missing"][: len(attribute)]


def _single_values(workload: Workload) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return for each literal the value it is about, and whether it asks for it or for all others."""
    accepts, attribute = workload.literals.accepts, workload.literals.attribute
    inside = np.arange(accepts.shape[1]) < np.array(workload.domain.sizes)[attribute][:, None]
    holds = np.count_nonzero(accepts, axis=1) == 1
    odd_one = np.where(holds[:, None], accepts, inside & ~accepts)
    if np.any(np.count_nonzero(odd_one, axis=1) != 1):
        raise ParameterError(
            "the unconstrained form needs literals that are one value or all but one; "
            "write ranges and sets as disjunctions of values",
            parameter="workload",
        )
    return np.argmax(odd_one, axis=1), holds
