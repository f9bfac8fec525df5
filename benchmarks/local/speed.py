"""The cost of a report to its sender and to the collector, beside pure-ldp's, and a domain of millions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from benchmarks.common.bars import Bar
from benchmarks.common.measure import cpu_seconds, in_turns
from benchmarks.common.report import duration
from benchmarks.local.child import collected
from benchmarks.local.data import Integers, batches, zipf
from benchmarks.local.errors import EXPONENT, optimum
from benchmarks.local.protocols_of_peers import LocalPeer, PureLDP, started
from discreet.local import FrequencyOracle, design

DOMAINS, EPSILONS, ROUNDS = (1024, 65_536), (1.0, 4.0), 3
CLIENTS, SERVED, BATCH = 1_000_000, 10_000_000, 1_000_000
CLIENT_BAR, SERVER_BAR, COMPARABLE = 10, 1000, 1.1
# items: (oracle: people on whom its error is measured); one with few shared hashes is judged where they matter
ORACLES = {
    1024: {"OLH": 1000, "OUE": 2000, "HR": 10_000, "FLH": 100_000},
    65_536: {"OLH": 50, "OUE": 300, "HR": 30_000, "FLH": 100_000},
}
DRAWS = {1024: 5, 65_536: 1}  # so that a measured error is good to two percent
TIMED = {"OLH": 20_000, "OUE": 300, "HR": 10_000, "FLH": 20_000}
AGGREGATED = 50
LARGE_DOMAIN, LARGE_EPSILON, LARGE_RATIO, LARGE_MEMORY = 3_307_948, 5.0, 1.06, 2000.0
PUBLISHED = "published, C++, n = 1e4: 36.9 s (projective geometry response), 5.9 s (its hybrid form)"
INDEPENDENT = 1.05


class Rival(NamedTuple):
    """An oracle of the peer: its name, its error over the optimum, the CPU seconds of a report."""

    oracle: str
    ratio: float
    seconds: float


def client_rows() -> Iterator[Bar]:
    """Time a report, many at once, against the peer's fastest oracle whose error is comparable."""
    with started(PureLDP) as peer:
        for items in DOMAINS:
            held = zipf(CLIENTS, items, EXPONENT, items)
            if peer is not None:
                peer.keep("held", held[: max(ORACLES[items].values())])
            for epsilon in EPSILONS:
                yield from _client(peer, items, epsilon, held)


def _client(peer: LocalPeer | None, items: int, epsilon: float, held: Integers) -> Iterator[Bar]:
    """Compare one domain at one epsilon; the sides take turns."""
    what = f"d = {items}, epsilon {epsilon:g}: a report"
    spec = design(people=held.size, categories=items, epsilon=epsilon).spec
    spec.client().report_many(held[:1000])
    ours = partial(cpu_seconds, lambda: spec.client().report_many(held))
    if peer is None:
        yield Bar(what, duration(min(ours() for _ in range(ROUNDS)) / held.size))
        return
    rivals = [_rival(peer, oracle, items, epsilon) for oracle in ORACLES[items]]
    words = "; ".join(f"{one.oracle} {one.ratio:.3g}, {duration(one.seconds)}" for one in rivals)
    yield Bar(f"d = {items}, epsilon {epsilon:g}: {peer.version}, error over the optimum and time of a report", words)
    fastest = min((one for one in rivals if one.ratio <= COMPARABLE), key=lambda one: one.seconds)
    request = {"oracle": fastest.oracle, "epsilon": epsilon, "items": items, "column": "held"}

    def theirs() -> float:
        return float(peer.measured("clients", people=TIMED[fastest.oracle], **request)["client"])

    best = in_turns({"ours": ours, "theirs": theirs}, rounds=ROUNDS)
    yield _faster(what, best["ours"] / held.size, f"{peer.name} {fastest.oracle}", best["theirs"], CLIENT_BAR)


def _rival(peer: LocalPeer, oracle: str, items: int, epsilon: float) -> Rival:
    """Measure one oracle of the peer."""
    people = ORACLES[items][oracle]
    request = {"oracle": oracle, "epsilon": epsilon, "items": items, "column": "held"}
    found = [peer.measured("frequencies", people=people, **request) for _ in range(DRAWS[items])]
    error = sum(one["error"] for one in found) / len(found)
    return Rival(oracle, error / optimum(epsilon, people), min(one["client"] for one in found))


def server_rows() -> Iterator[Bar]:
    """Count and decode ten million reports, and show that memory does not grow with them."""
    items = DOMAINS[-1]
    held = zipf(SERVED, items, EXPONENT, items)
    with started(PureLDP) as peer:
        if peer is not None:
            peer.keep("held", held[:AGGREGATED])
        for epsilon in EPSILONS:
            spec = design(people=SERVED, categories=items, epsilon=epsilon).spec
            client = spec.client()
            reports = [client.report_many(part) for part in batches(held, BATCH)]
            _served(spec, reports[:1])
            ours = partial(_served, spec, reports)
            what = f"n = 1e7, d = {items}, epsilon {epsilon:g}: count and decode, a report"
            if peer is None:
                yield Bar(what, duration(min(ours() for _ in range(ROUNDS)) / SERVED))
                continue
            request = {"oracle": "OLH", "epsilon": epsilon, "items": items, "column": "held", "people": AGGREGATED}
            theirs = partial(lambda asked: float(peer.measured("frequencies", **asked)["server"]), request)
            best = in_turns({"ours": ours, "theirs": theirs}, rounds=ROUNDS)
            name = f"{peer.name} OLH ({AGGREGATED} reports; its cost is linear in them)"
            yield _faster(what, best["ours"] / SERVED, name, best["theirs"], SERVER_BAR)
            yield Bar(f"n = 1e7, d = {items}, epsilon {epsilon:g}: count and decode, all", duration(best["ours"]))
    yield from _memory(items)


def _served(spec: FrequencyOracle, reports: list[Integers]) -> float:
    """Return the CPU seconds of counting all reports and estimating all frequencies."""

    def serve() -> None:
        aggregator = spec.aggregator()
        for part in reports:
            aggregator.add(part)
        aggregator.estimate()

    return cpu_seconds(serve)


def _memory(items: int) -> Iterator[Bar]:
    """Compare the peak memory of two collections, one ten times the other, each in a process of its own."""
    for epsilon in EPSILONS:
        small, large = (
            collected(items=items, epsilon=epsilon, people=people, batch=BATCH // 10)
            for people in (SERVED // 10, SERVED)
        )
        growth = large["megabytes"] / small["megabytes"]
        measured = (
            f"{small['megabytes']:.0f} MB for n = 1e6, {large['megabytes']:.0f} MB for n = 1e7; "
            f"the aggregate has {large['state']:.2f} MB"
        )
        what = f"d = {items}, epsilon {epsilon:g}: peak memory of a whole collection, batches of 100 000"
        yield Bar(what, measured, "independent of n", growth <= INDEPENDENT)


def large_rows() -> Iterator[Bar]:
    """Collect over millions of items in a process of its own."""
    yield Bar(f"d = {LARGE_DOMAIN:,}, epsilon {LARGE_EPSILON:g}", PUBLISHED)
    for people in (10_000, 1_000_000):
        found = collected(items=LARGE_DOMAIN, epsilon=LARGE_EPSILON, people=people, batch=BATCH)
        what = f"d = {LARGE_DOMAIN:,}, epsilon {LARGE_EPSILON:g}, n = {people:,}"
        steps = ", ".join(f"{step} {duration(found[step])}" for step in ("design", "client", "ingest", "decode"))
        yield Bar(f"{what}: all, wall time", f"{duration(found['seconds'])} (CPU: {steps})")
        memory = found["megabytes"]
        yield Bar(f"{what}: peak memory", f"{memory:.0f} MB", "< 2 GB", memory < LARGE_MEMORY)
        measured = f"exact {found['exact']:.4f} (at worst {found['worst']:.4f}), measured {found['ratio']:.4f}"
        within = max(found["exact"], found["ratio"]) <= LARGE_RATIO
        yield Bar(f"{what}: error over the optimum", measured, f"<= {LARGE_RATIO}", within)


def _faster(what: str, ours: float, name: str, theirs: float, bar: int) -> Bar:
    """Return the line of two times of a report."""
    measured = f"{duration(ours)} against {duration(theirs)} of {name}: 1/{theirs / ours:,.3g}"
    return Bar(what, measured, f"<= 1/{bar}", theirs >= bar * ours)
