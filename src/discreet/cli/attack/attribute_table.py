"""A table of invented people with public attributes and one secret bit each, behind a session with a budget of zCDP."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
from numpy.typing import NDArray

from discreet.cli.attack.people import SECRET, TABLE, secret_session
from discreet.data.invention import coins as invented_coins
from discreet.query.session.session import Session

__all__ = ["ATTRIBUTE", "SECRET", "TABLE", "attribute_session", "invented_attributes"]

ATTRIBUTE = "a"
Bits = NDArray[np.int64]


def invented_attributes(people: int, attributes: int, *, seed: int) -> Bits:
    """Return fair coins for every person and attribute."""
    return invented_coins(seed, 1).integers(0, 2, (people, attributes))


def attribute_session(attributes: Bits, secret: Bits, *, rho: float, purpose: str) -> AbstractContextManager[Session]:
    """Open a session over such people whose whole budget is rho; database and ledger end with the block."""
    columns = {f"{ATTRIBUTE}{place}": attributes[:, place].copy() for place in range(attributes.shape[1])}
    return secret_session(secret, rho=rho, purpose=purpose, attributes=columns)
