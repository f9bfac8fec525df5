"""Literals that say an attribute has a value or has not: each listed once, however many queries share it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.synthesis.domain.domain import Domain
from discreet.synthesis.workloads.workload import Literals

_MOST_ENTRIES = 1 << 30
MOST_QUERIES = 100_000_000


def value_literals(
    domain: Domain, attributes: NDArray[np.int64], codes: NDArray[np.int64], negated: NDArray[np.bool_]
) -> tuple[Literals, NDArray[np.int32]]:
    """Return the distinct literals among arrays of (attribute, code, negated), and an array of their positions.

    Not having one of two values is having the other: that is one literal.
    """
    sizes = np.array(domain.sizes)
    binary = sizes[attributes] == 2
    codes = np.where(binary & negated, 1 - codes, codes)
    names = 2 * (domain.offsets[attributes] + codes) + (negated & ~binary)
    used = np.zeros(2 * domain.width, dtype=np.bool_)
    used[names] = True
    listed = np.flatnonzero(used)
    members = (np.cumsum(used) - 1)[names].astype(np.int32)
    attribute = np.searchsorted(domain.offsets, listed // 2, side="right") - 1
    room = int(sizes[attribute].max())
    check_room(len(listed), room)
    accepts = np.zeros((len(listed), room), dtype=np.bool_)
    accepts[np.arange(len(listed)), listed // 2 - domain.offsets[attribute]] = True
    accepts ^= (listed % 2 == 1)[:, None]
    accepts &= np.arange(room) < sizes[attribute][:, None]
    return Literals(attribute.astype(np.int32), accepts), members


def check_room(literals: int, codes: int) -> None:
    """Refuse literals that would need gigabytes for the codes they accept."""
    if literals * codes > _MOST_ENTRIES:
        raise ParameterError(
            f"{literals:,} literals over attributes of up to {codes:,} values are too many; put the values into fewer"
            " bins or categories",
            parameter="domain",
        )
