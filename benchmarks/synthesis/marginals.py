"""All three-way marginals of Adult: independent, tree, DualQuery, and opendp's MST and AIM within a limit of time.

DualQuery is asked for the cells of all one-way and two-way marginals, and its table is judged on the three-way ones.
Asked for the 2.6 million three-way cells themselves, nearly all of them empty, it spends its draws on cells that do not
matter: at epsilon 1 that took five minutes and gave an L1 error of 1.04.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.bars import Bar
from benchmarks.common.peers import Peer
from benchmarks.synthesis.data import Loaded, adult_in_full
from discreet.privacy import Relation
from discreet.synthesis import Allowance, DualQuery, Independent, Marginals, Neighbors, Synthesizer, Tree, marginals

EPSILONS, DELTA, RUNS = (0.1, 1, 10), 1e-9, 5
LIMIT_SECONDS: Mapping[str, int] = {"MST": 150, "AIM": 90}
ATTEMPTS = 8
GAINS: Mapping[float, float] = {
    1: 0.35,
    10: 0.50,
}  # by how much the tree's L1 error is to be below that of independence
Make = Callable[..., Synthesizer]

# any synthesizer may be added: how to make it, and how many releases to average
METHODS: Mapping[str, tuple[Make, int]] = {"independent": (Independent.of, RUNS), "tree": (Tree.of, RUNS)}
DUAL_QUERY = "DualQuery, asked for one-way and two-way cells"


@dataclass(frozen=True)
class Error:
    """The mean over marginals of the L1 distance of shares, the largest error of a cell, and seconds."""

    l1: float
    cell: float
    seconds: float

    def __str__(self) -> str:
        """Say all three."""
        return f"L1 {self.l1:.3f} / cell {self.cell:.3f} / {self.seconds:.2f} s"


class OpenDPMarginals(Peer):
    """Ask opendp for a table that models the marginals; the extra pins mbi and Polars."""

    name, module = "opendp-mbi", "benchmarks.peers.opendp.marginals"
    requirements = ("opendp[mbi]==0.16.0",)

    def three_ways(self, path: Path, algorithm: str, rho: float) -> Error | str:
        """Return the errors of one release, or say why there are none: too slow, refused, or broken down.

        Where the parts of a rho add up to more than it by rounding, a rho larger by a millionth is tried afresh.
        """
        late, limit = Event(), LIMIT_SECONDS[algorithm]
        clock = Timer(limit, self._stop, [late])
        clock.start()
        try:
            for attempt in range(ATTEMPTS):
                more = 1 + attempt * 1e-6
                found = self._ask(task="three_ways", path=str(path), algorithm=algorithm, rho=rho * more)
                if isinstance(found, dict):
                    return Error(**found)
                if found is not None:
                    return f"refused: {found}"
        except (RuntimeError, BrokenPipeError):
            return f"no result in {limit} s" if late.is_set() else f"broke down (status {self._process.wait()})"
        finally:
            clock.cancel()
        return f"refused {ATTEMPTS} times: the parts of its budget add up to more than the whole"

    def _stop(self, late: Event) -> None:
        """End the process, and note that time was the reason."""
        late.set()
        self._process.kill()


def rows() -> Iterator[Bar]:
    """Measure our methods under both relations, then the peers under add/remove."""
    loaded = adult_in_full()
    asked = marginals(loaded.records.domain, ways=3)
    exact = asked.counts(loaded.records) / loaded.size
    for relation in (Relation.ADD_REMOVE, Relation.CHANGE_ONE):
        for epsilon in EPSILONS:
            found = dict(_ours(loaded, asked, exact, relation, epsilon))
            for method, error in found.items():
                yield _line(loaded, asked, f"{relation.value}, epsilon {epsilon}: {method}", error)
            if epsilon in GAINS:
                yield _gain(loaded, relation, epsilon, found)
    yield from _peers(loaded, asked)


def _ours(
    loaded: Loaded, asked: Marginals, exact: NDArray[np.float64], relation: Relation, epsilon: float
) -> Iterator[tuple[str, Error]]:
    """Release with every method; with DualQuery, whose budget buys too little below epsilon 1, under change-one."""
    neighbors = Neighbors(relation, loaded.size)
    for method, (make, runs) in METHODS.items():
        synthesizer = make(asked, neighbors, epsilon=epsilon, delta=DELTA)
        yield method, mean_error([release_error(synthesizer, loaded, asked, exact) for _ in range(runs)])
    if epsilon >= 1 and relation is Relation.CHANGE_ONE:
        cells = marginals(asked.domain, ways=1) + marginals(asked.domain, ways=2)
        playing = DualQuery.of(cells, neighbors, epsilon=epsilon, delta=DELTA)
        yield DUAL_QUERY, release_error(playing, loaded, asked, exact)


def release_error(synthesizer: Synthesizer, loaded: Loaded, asked: Marginals, exact: NDArray[np.float64]) -> Error:
    """Release once and compare the answers, or those of the table where something else was asked for."""
    started = time.perf_counter()
    release = synthesizer(loaded.records)
    answers = release.answers
    if release.workload is not asked:
        answers = asked.frequencies(release.table.records, release.table.weights)
    seconds = time.perf_counter() - started
    off = np.abs(answers - exact)
    return Error(float(off.sum() / len(asked.sets)), float(off.max()), seconds)


def mean_error(errors: list[Error]) -> Error:
    """Return means, and the median of the seconds: the first release may compile."""
    seconds = float(np.median([one.seconds for one in errors]))
    return Error(float(np.mean([one.l1 for one in errors])), float(np.mean([one.cell for one in errors])), seconds)


def _gain(loaded: Loaded, relation: Relation, epsilon: float, found: dict[str, Error]) -> Bar:
    """Hold the tree against independence."""
    gain, wanted = 1 - found["tree"].l1 / found["independent"].l1, GAINS[epsilon]
    what = f"{relation.value}, epsilon {epsilon}: L1 of the tree below that of independence"
    if not loaded.real:
        return Bar(what, f"{gain:.0%}")
    return Bar(what, f"{gain:.0%}", f">= {wanted:.0%}", gain >= wanted)


def _peers(loaded: Loaded, asked: Marginals) -> Iterator[Bar]:
    """Ask opendp once for each algorithm and price."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.npz"
        np.savez(path, codes=loaded.records.codes, sizes=np.array(loaded.records.domain.sizes))
        for algorithm in ("MST", "AIM"):
            for epsilon in (1, 10):
                allowance = Allowance.of(Neighbors(Relation.ADD_REMOVE, loaded.size), epsilon=epsilon, delta=DELTA)
                with OpenDPMarginals() as peer:
                    error = peer.three_ways(path, algorithm, float(allowance.amount))
                    what = f"add/remove, epsilon {epsilon}: opendp {peer.version} {algorithm}"
                yield _line(loaded, asked, what, error)


def _line(loaded: Loaded, asked: Marginals, what: str, error: Error | str) -> Bar:
    """Return a line without a bar."""
    return Bar(f"{loaded.name}, {len(asked.sets)} three-way marginals, delta {DELTA:g}, {what}", str(error))
