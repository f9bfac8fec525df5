"""The side of the person: a value goes in, one randomised integer comes out."""

from __future__ import annotations

from typing import Any

from discreet.errors import NotCopyable, StreamSpent
from discreet.local.protocol.batch import Batch
from discreet.local.protocol.inputs import Integers
from discreet.local.protocol.oracle import Oracle
from discreet.local.protocol.spec import checked_spec
from discreet.randomness.process import Process


class Client:
    """One person's client of a frequency protocol.

    `report` answers once: a second report of the same person would cost epsilon again (see `memoised` for reporting
    through time). A refused value spends nothing; of two threads one gets the report; a forked child gets none, since
    its parent may have reported. `report_many` and `batch` are for many people at once, one value each: a simulation,
    or a trusted gateway.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> client = DirectResponse(epsilon=1, values=4).client()
    >>> client.report(3) in range(4)
    True
    """

    def __init__(self, spec: Oracle) -> None:
        """A client knows its public spec, its process, and whether it has reported."""
        self.spec = checked_spec(spec)
        self._process = Process.here()
        self._tickets = [True]  # list.pop is atomic: two threads cannot both take the one ticket

    def report(self, value: Any) -> int:
        """Return the one report of this person."""
        items = self.spec.items([value])
        if Process.here() != self._process:
            raise StreamSpent("this client belongs to another process, which may have reported; make a new one")
        if not self._take_ticket():
            raise StreamSpent("this client has reported under this spec; a second report would cost epsilon again")
        return int(self.spec.randomise(items)[0])

    def _take_ticket(self) -> bool:
        """Take the right to report, if it is still there."""
        try:
            return self._tickets.pop()
        except IndexError:
            return False

    def report_many(self, values: Any) -> Integers:
        """Return one report for each value, each of another person."""
        return self.spec.randomise(self.spec.items(values))

    def batch(self, values: Any) -> Batch:
        """Return the reports of many people with the digest of the spec."""
        return Batch.of(self.spec, self.report_many(values))

    def __repr__(self) -> str:
        """Show the protocol only."""
        return f"Client({self.spec.protocol})"

    def __copy__(self) -> Client:
        """Refuse: a copy could report again."""
        raise NotCopyable("a client reports once for its person; make another from the spec for another person")

    def __deepcopy__(self, _: Any) -> Client:
        """Refuse like a copy."""
        return self.__copy__()

    def __reduce__(self) -> Any:
        """Refuse like a copy."""
        return self.__copy__()
