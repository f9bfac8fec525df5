"""How much work a call is, counted and not timed: the functions that Python calls on the way.

A loop whose length depends on private values tells them by its time, and one without a bound gives no answer at all.
Counting calls sees both on any machine under any load; work inside one call of numpy is not seen.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

_CALLS = ("call", "c_call")


class _Enough(BaseException):
    """Ends a run that has made as many calls as were to be counted; nothing that a mechanism may catch."""


def calls_made(action: Callable[[], object], *, most: int) -> int:
    """Return how many calls an action makes, `most` where it makes more, which ends it.

    >>> calls_made(lambda: [abs(number) for number in range(100)], most=50)
    50
    """
    made = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal made
        made += event in _CALLS
        if made >= most:
            raise _Enough

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action()
    except _Enough:
        return most
    finally:
        sys.setprofile(before)
    return made
