"""The search for best responses beside proofs: real rounds of DualQuery, and random draws given to two solvers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from subprocess import CalledProcessError
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.bars import Bar
from benchmarks.common.peers import Peer
from benchmarks.common.report import duration
from benchmarks.synthesis.data import Loaded, adult
from discreet.synthesis import Domain, Workload, best_response, conjunctions, exact_response
from discreet.synthesis.responses.drawn import Drawn
from discreet.synthesis.responses.response_search import ResponseProgram

QUERIES, DRAWS, ROUNDS, EVERY, ETA = 100_000, 2_000, 60, 3, 1.0
RUNS, PROOF_SECONDS, LONGER = 2, 60.0, 50
BITS, RANDOM_DRAWS, RANDOM_CASES, SOLVER_SECONDS = 100, 1_000, 10, 1.0


class Instance(NamedTuple):
    """Drawn queries of a workload with signed counts, and the round they are of."""

    workload: Workload
    queries: NDArray[np.int64]
    weights: NDArray[np.int64]
    turn: int


class Answered(NamedTuple):
    """What the search found on a real round, in how long, beside the best known value and whether it is proven."""

    value: int
    seconds: float
    best: int
    proven: bool


class CPSAT(Peer):
    """Google's constraint solver."""

    name, requirements, module = "ortools", ("ortools==9.15.6755",), "benchmarks.peers.ortools.synthesis"

    def value(self, drawn: Drawn, seconds: float) -> int:
        """Return the best value found for products over bits."""
        ends = zip(drawn.starts[:-1], drawn.starts[1:], strict=True)
        wanted = drawn.accepts[drawn.row, 1].astype(int).tolist()
        factors = [list(pair) for pair in zip(drawn.attribute.tolist(), wanted, strict=True)]
        products = [factors[low:high] for low, high in ends]
        request = {"attributes": len(drawn.sizes), "products": products, "weights": drawn.weights.tolist()}
        found: dict[str, float] = self._ask(task="solve", seconds=seconds, **request)
        return drawn.constant + round(found["value"])


def rows() -> Iterator[Bar]:
    """Yield one line a bar."""
    yield from real_rounds()
    yield from random_draws()


def real_rounds() -> Iterator[Bar]:
    """Compare with proofs on rounds of DualQuery without noise in anything but its draws."""
    loaded = adult(dead=False)
    found = [answered(one) for run in range(RUNS) for one in instances(loaded, seed=run)]
    proven = [one for one in found if one.proven]
    where = f"{loaded.name}, {len(found)} rounds of {DRAWS:,} draws"
    hits = sum(one.value == one.best for one in proven)
    share = hits / max(len(proven), 1)
    measured = f"{hits} of the {len(proven)} that HiGHS proved within {PROOF_SECONDS:.0f} s"
    yield Bar(f"{where}: optimum found", measured, ">= 90 %", share >= 0.9)
    worst = max((one.best - one.value) / abs(one.best) for one in found)
    measured = f"{worst:.2%} at worst, of the best that HiGHS or a search {LONGER} times as long found"
    yield Bar(f"{where}: shortfall", measured, "<= 2 %", worst <= 0.02)
    yield Bar(f"{where}: time of a call", f"median {duration(float(np.median([one.seconds for one in found])))}")


def instances(loaded: Loaded, *, seed: int) -> Iterator[Instance]:
    """Run DualQuery with floating-point draws, and yield every few rounds what the oracle is asked."""
    workload = conjunctions(loaded.records.domain, ways=3, count=QUERIES, seed=seed)
    coins = np.random.default_rng(seed)
    shares, satisfied = workload.frequencies(loaded.records), np.zeros(QUERIES)
    for turn in range(1, ROUNDS + 1):
        score = ETA * ((turn - 1) * shares - satisfied)
        odds = np.exp(np.concatenate([score, -score]) - np.abs(score).max())
        counts = coins.multinomial(DRAWS, odds / odds.sum())
        net = counts[:QUERIES] - counts[QUERIES:]
        queries = np.flatnonzero(net)
        if turn % EVERY == 0:
            yield Instance(workload, queries, net[queries], turn)
        satisfied += workload.truths(best_response(workload, queries, net[queries], turn=turn).record)


def answered(one: Instance) -> Answered:
    """Search, then search longer, then prove."""
    best_response(*one[:3], turn=one.turn)  # compiled before the clock starts
    started = time.perf_counter()
    found = best_response(*one[:3], turn=one.turn)
    seconds = time.perf_counter() - started
    longer = best_response(*one[:3], turn=one.turn, starts=64, work=LONGER * found.evaluations)
    best = max(found, longer, key=lambda response: response.value)
    optimum = exact_response(*one[:3], known=best.record, seconds=PROOF_SECONDS, nodes=10**9)
    return Answered(found.value, seconds, optimum.value, optimum.proven)


def random_draws() -> Iterator[Bar]:
    """Compare with HiGHS and CP-SAT, a second each on one thread, on draws without structure."""
    domain = Domain.of({f"bit {place}": (0, 1) for place in range(BITS)})
    ours, highs, seconds, cases = [], [], [], []
    for seed in range(1, RANDOM_CASES + 1):
        workload = conjunctions(domain, ways=3, count=RANDOM_DRAWS, seed=seed)
        weights = np.where(np.random.default_rng(seed).random(RANDOM_DRAWS) < 0.5, 1, -1)
        drawn = Drawn.of(workload, np.arange(RANDOM_DRAWS), weights)
        started = time.perf_counter()
        ours.append(best_response(workload, np.arange(RANDOM_DRAWS), weights).value)
        seconds.append(time.perf_counter() - started)
        solved = ResponseProgram.of(drawn).solve(nodes=10**9, seconds=SOLVER_SECONDS).record
        highs.append(-RANDOM_DRAWS if solved is None else drawn.value(solved))
        cases.append(drawn)
    where = f"{RANDOM_CASES} random cases of {BITS} bits and {RANDOM_DRAWS:,} signed draws"
    yield Bar(f"{where}: HiGHS, 1 s", *_against(ours, highs, float(np.median(seconds))))
    try:
        with CPSAT() as peer:
            theirs = [peer.value(drawn, SOLVER_SECONDS) for drawn in cases]
            yield Bar(f"{where}: CP-SAT {peer.version}, 1 s", *_against(ours, theirs, float(np.median(seconds))))
    except (CalledProcessError, OSError) as problem:
        yield Bar(f"{where}: CP-SAT, 1 s", f"not here: {type(problem).__name__}")


def _against(ours: list[int], theirs: list[int], seconds: float) -> tuple[str, str, bool]:
    """Return the measurement, the bar and whether it is met."""
    wins = sum(one > other for one, other in zip(ours, theirs, strict=True))
    means = f"mean value {np.mean(ours):.0f} in {duration(seconds)} against {np.mean(theirs):.0f}"
    return f"{means}; larger in {wins} of {len(ours)}", "larger in all", wins == len(ours)
