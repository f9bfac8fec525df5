"""Heavy hitters among keys that nobody can list, beside pure-ldp's prefix extending method and a known dictionary."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from benchmarks.common.bars import Bar
from benchmarks.common.report import duration
from benchmarks.local.data import Integers, addresses, scattered, standard_error, zipf
from benchmarks.local.protocols_of_peers import LocalPeer, PureLDP, started
from discreet.local import design
from discreet.local.heavy_hitters.protocol import HeavyHitters

ITEMS, TOP, DRAWS = 100_000, 16, 10
EXPONENTS, EPSILONS, BITS, LONGER = (1.1, 1.5), (1.0, 2.0, 4.0), 48, 64
# (people, epsilon): the least F1 of each of the two laws; at epsilon 1 it is their mean that counts
BARS = {(1_000_000, 4.0): 0.95, (1_000_000, 2.0): 0.80, (100_000, 4.0): 0.70}
MEAN_BARS = {(1_000_000, 1.0): (0.45, 0.55)}
PEER_DRAWS = {1_000_000: 1, 100_000: 3}
TIME_BAR, CLOSE = 10, 0.05
TEXT_BYTES, TEXT_PEOPLE, TEXT_EPSILON, TEXT_DRAWS = 32, 1_000_000, 4.0, 5


@dataclass(frozen=True)
class Outcome:
    """What one search found: the list as returned, filled up if asked, the true top, and the server's CPU seconds."""

    listed: list[Any]
    filled: list[Any]
    truth: list[Any]
    server: float

    @property
    def score(self) -> float:
        """F1 of the list as returned."""
        return harmonic(self.listed, self.truth)


def rows() -> Iterator[Bar]:
    """Search at every size, law and epsilon; then compare the server's time."""
    with started(PureLDP) as peer:
        for people in PEER_DRAWS:
            for epsilon in EPSILONS:
                scores = []
                for exponent in EXPONENTS:
                    found = outcomes(people, exponent, epsilon, BITS)
                    scores.append(float(np.mean([one.score for one in found])))
                    yield from _ours(people, exponent, epsilon, found)
                    yield _ceiling(people, exponent, epsilon)
                    if peer is not None:
                        yield from _theirs(peer, people, exponent, epsilon, found)
                yield from _mean(people, epsilon, scores)


def longer_rows() -> Iterator[Bar]:
    """Do the same work with longer keys, and with texts."""
    for epsilon in EPSILONS:
        people = max(PEER_DRAWS)
        short, long = (
            np.array([one.score for exponent in EXPONENTS for one in outcomes(people, exponent, epsilon, bits)])
            for bits in (BITS, LONGER)
        )
        measured = f"F1 {long.mean():.3f} against {short.mean():.3f} +- {standard_error(long - short):.3f}"
        what = f"keys of 64 bits against 48, n = {people:,}, epsilon {epsilon:g}, both laws, {DRAWS} draws each"
        yield Bar(what, measured, "within .05", long.mean() >= short.mean() - CLOSE)
    yield from _texts()


@cache
def outcomes(people: int, exponent: float, epsilon: float, bits: int) -> tuple[Outcome, ...]:
    """Search as often as asked, each time other people, other hashes and other coins."""
    universe = scattered(ITEMS, bits, bits)
    words = f"  heavy hitters, n = {people:,}, Zipf {exponent}, epsilon {epsilon:g}, {bits} bits"
    found = []
    for draw in range(DRAWS):
        print(f"{words}: draw {draw + 1} of {DRAWS}", file=sys.stderr, flush=True)
        held = zipf(people, ITEMS, exponent, people, draw)
        truth = universe[heaviest(held)].tolist()
        found.append(search(universe[held], f"integer:{bits}", epsilon, truth, fill=bits == BITS))
    return tuple(found)


def search(keys: Any, kind: str, epsilon: float, truth: list[Any], *, fill: bool = False) -> Outcome:
    """Let everybody report, and find the most frequent keys."""
    spec = HeavyHitters.plan(people=len(keys), epsilon=epsilon, keys=kind)
    reports = spec.client().report_many(keys)
    start = time.process_time()
    aggregator = spec.aggregator().add(reports)
    listed = list(spec.find(aggregator, k=TOP).keys)
    server = time.process_time() - start
    filled = list(spec.find(aggregator, k=TOP, certainty=0.0).keys) if fill else []
    return Outcome(listed, filled, truth, server)


def heaviest(held: Integers) -> Integers:
    """Return the items that most people hold, the most frequent first."""
    counts = np.bincount(held, minlength=ITEMS)
    return np.argsort(-counts, kind="stable")[:TOP]


def harmonic(found: Sequence[Any], truth: Sequence[Any]) -> float:
    """Return F1, the harmonic mean of precision and recall."""
    return 2 * len(set(found) & set(truth)) / (len(found) + len(truth))


def ranked_recall(found: Sequence[Any], truth: Sequence[Any]) -> float:
    """Return the recall in which the first of k keys counts k, the last 1 (NCR)."""
    weights = {key: len(truth) - place for place, key in enumerate(truth)}
    return sum(weights.get(key, 0) for key in set(found)) / sum(weights.values())


def discounted_gain(found: Sequence[Any], truth: Sequence[Any]) -> float:
    """Return the gain of the list in its order over that of the true list, discounted by log2 of the place (NDCG)."""
    weights = {key: len(truth) - place for place, key in enumerate(truth)}

    def gain(listed: Sequence[Any]) -> float:
        return sum(weights.get(key, 0) / math.log2(place + 2) for place, key in enumerate(listed))

    return gain(found) / gain(truth)


def _ours(people: int, exponent: float, epsilon: float, found: tuple[Outcome, ...]) -> Iterator[Bar]:
    """Report the list as returned, which the bar is about, and the list filled up."""
    scores = [one.score for one in found]
    filled = float(np.mean([harmonic(one.filled, one.truth) for one in found]))
    ranked = float(np.mean([ranked_recall(one.filled, one.truth) for one in found]))
    gain = float(np.mean([discounted_gain(one.filled, one.truth) for one in found]))
    length = float(np.mean([len(one.listed) for one in found]))
    measured = (
        f"{np.mean(scores):.3f} +- {standard_error(scores):.3f} ({length:.1f} listed); "
        f"all {TOP} filled {filled:.3f}, NCR {ranked:.3f}, NDCG {gain:.3f}"
    )
    least = BARS.get((people, epsilon))
    bar, met = ("", None) if least is None else (f">= {least:.2f}", float(np.mean(scores)) >= least)
    yield Bar(f"{_what(people, exponent, epsilon)}: F1, mean of {DRAWS} draws", measured, bar, met)


def _mean(people: int, epsilon: float, scores: list[float]) -> Iterator[Bar]:
    """Hold the mean of the two laws against its bar, where there is one."""
    if (people, epsilon) in MEAN_BARS:
        least, stretch = MEAN_BARS[people, epsilon]
        mean = float(np.mean(scores))
        what = f"n = {people:,}, epsilon {epsilon:g}: F1, mean of the two laws"
        yield Bar(what, f"{mean:.3f}", f">= {least:.2f} (stretch {stretch:.2f})", mean >= least)


def _ceiling(people: int, exponent: float, epsilon: float) -> Bar:
    """Ask everybody about a list of all keys that is known beforehand: no search does better."""
    spec = design(people=people, categories=ITEMS, epsilon=epsilon).spec
    scores = []
    for draw in range(DRAWS):
        held = zipf(people, ITEMS, exponent, people, draw)
        frequencies = spec.aggregator().add(spec.client().report_many(held)).estimate().value
        scores.append(harmonic(np.argsort(-frequencies)[:TOP].tolist(), heaviest(held).tolist()))
    what = f"{_what(people, exponent, epsilon)}: ceiling, the {ITEMS:,} keys known"
    return Bar(what, f"{np.mean(scores):.3f} +- {standard_error(scores):.3f}")


def _theirs(peer: LocalPeer, people: int, exponent: float, epsilon: float, ours: tuple[Outcome, ...]) -> Iterator[Bar]:
    """Give the peer the people of the first draws."""
    universe = scattered(ITEMS, BITS, BITS)
    lists, truths, seconds = [], [], []
    for draw in range(PEER_DRAWS[people]):
        held = zipf(people, ITEMS, exponent, people, draw)
        peer.keep("keys", universe[held])
        request = {"epsilon": epsilon, "bits": BITS, "column": "keys", "people": people, "k": TOP}
        found = peer.measured("heavy_hitters", **request)
        lists.append(found["keys"])
        truths.append(universe[heaviest(held)].tolist())
        seconds.append(found["ingest"] + found["find"])
    what = _what(people, exponent, epsilon)
    measured = ", ".join(
        f"{name} {np.mean([measure(*pair) for pair in zip(lists, truths, strict=True)]):.3f}"
        for name, measure in (("F1", harmonic), ("NCR", ranked_recall), ("NDCG", discounted_gain))
    )
    yield Bar(f"{what}: {peer.name} PEM, {'one draw' if len(lists) == 1 else f'{len(lists)} draws'}", measured)
    mine, theirs = min(one.server for one in ours), min(seconds)
    measured = f"{duration(mine)} against {duration(theirs)} of {peer.name} PEM: 1/{theirs / mine:.3g}"
    yield Bar(f"{what}: CPU time of the server", measured, f"<= 1/{TIME_BAR}", theirs >= TIME_BAR * mine)


def _texts() -> Iterator[Bar]:
    """Find the most visited pages of an invented fleet from texts of many lengths."""
    pages = addresses(ITEMS, TEXT_BYTES)
    table, known, lengths = np.array(pages, dtype=object), set(pages), [len(page.encode()) for page in pages]
    for exponent in EXPONENTS:
        found = []
        for draw in range(TEXT_DRAWS):
            held = zipf(TEXT_PEOPLE, ITEMS, exponent, TEXT_PEOPLE, draw)
            truth = table[heaviest(held)].tolist()
            found.append(search(table[held].tolist(), f"text:{TEXT_BYTES}", TEXT_EPSILON, truth))
        scores = [one.score for one in found]
        first = sum(one.truth[0] in one.listed for one in found)
        wrong = sum(key not in known for one in found for key in one.listed)
        measured = (
            f"F1 {np.mean(scores):.3f} +- {standard_error(scores):.3f}, most visited page found {first} times of "
            f"{TEXT_DRAWS}, {wrong} listed that do not exist; server {duration(min(one.server for one in found))}"
        )
        what = (
            f"page addresses of {min(lengths)} to {max(lengths)} bytes of UTF-8, Zipf {exponent}, "
            f"n = {TEXT_PEOPLE:,}, epsilon {TEXT_EPSILON:g}"
        )
        yield Bar(what, measured, "the most visited page found each time", first == TEXT_DRAWS)


def _what(people: int, exponent: float, epsilon: float) -> str:
    """Return the case in words."""
    return f"n = {people:,}, Zipf {exponent}, epsilon {epsilon:g}"
