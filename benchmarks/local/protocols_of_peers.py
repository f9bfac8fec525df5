"""The two peers of the local benchmarks, each in an environment of its own, with the versions they still run on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import CalledProcessError
from typing import Any, Self

import numpy as np

from benchmarks.common.peers import Peer


class LocalPeer(Peer):
    """A library of frequency oracles: it keeps a column of values, and reports times and errors."""

    def keep(self, column: str, values: Any) -> Self:
        """Hand over a column under a name, in the place of the last one."""
        self._ask(task="keep", column=column, values=np.asarray(values).tolist())
        return self

    def measured(self, task: str, **request: Any) -> dict[str, Any]:
        """Return what the peer measured."""
        found: dict[str, Any] = self._ask(task=task, **request)
        return found


class PureLDP(LocalPeer):
    """Frequency oracles and heavy hitters; it needs packages that it does not ask for, and a numpy before 2."""

    name, module = "pure-ldp", "benchmarks.peers.pure_ldp.local"
    requirements = ("pure-ldp==1.2.0", "xxhash<4", "numpy<2", "scikit-learn", "statsmodels")
    newest_python = (3, 12)


class MultiFreq(LocalPeer):
    """Frequency oracles with compiled clients, published as sources."""

    name, module = "multi-freq-ldpy", "benchmarks.peers.multi_freq.local"
    requirements, sources = ("multi-freq-ldpy==0.2.5", "xxhash<4"), ("multi-freq-ldpy",)


@contextmanager
def started(kind: type[LocalPeer]) -> Iterator[LocalPeer | None]:
    """Start a peer, or say that it is left out where it cannot be installed or started."""
    try:
        peer = kind()
    except (CalledProcessError, OSError, RuntimeError):
        print(f"  {kind.name} could not be installed or started here, and is left out", file=sys.stderr, flush=True)
        yield None
        return
    with peer:
        yield peer
