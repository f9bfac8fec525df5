"""The search for heavy hitters: the evidence of all levels added up along the paths of a tree of prefixes.

Heavy prefixes are peeled: taken out of the table of their level, so that nothing else collides with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress, silent
from discreet.local.heavy_hitters.addresses import Address
from discreet.local.heavy_hitters.levels import PRIOR, survivors
from discreet.local.keys import Sketch, Words
from discreet.local.protocol import Floats, Integers

_KEPT = 1 << 12  # whole keys that are handed on
_MOST_HEAVY = 1 << 12  # prefixes of a level that are looked at again and again
_MOST_KNOWN = 256
_SEARCH_SWEEPS = 3
_FIELDS = ("nodes", "holders", "prior", "roots", "belief")
_CERTAIN, _POSSIBLE = 5.0, 3.0  # standard errors
_ROUNDS = 24
_MOST = 1024
_NEAR = 0.6
_PEELING_SWEEPS = 2


@dataclass(frozen=True, eq=False)
class Paths:
    """Prefixes that are followed, each with what all levels so far say about it.

    `holders` is the estimated number of people with this prefix, of all who reported on it or on a shorter one;
    `prior` the logarithm of what we believed of it before any report; `roots` the number of the root it grew from;
    `belief` the logarithm of the odds that it is the prefix of a heavy key. Paths from one root stand together.
    """

    nodes: Words
    holders: Floats
    prior: Floats
    roots: Integers
    belief: Floats

    def __len__(self) -> int:
        return len(self.nodes)

    def at(self, places: NDArray[np.int64]) -> Paths:
        """Return some of the paths."""
        return Paths(*(getattr(self, name)[places] for name in _FIELDS))


@dataclass(frozen=True, eq=False)
class FoundAddresses:
    """Whole addresses, the most frequent first, with frequencies and the probability that each is a real key's."""

    addresses: Words
    frequencies: Floats
    probabilities: Floats


def search(
    address: Address,
    levels: tuple[int, ...],
    sketches: tuple[Sketch, ...],
    progress: Progress = silent,
) -> FoundAddresses:
    """Follow the best prefixes from level to level, twice, and return the best whole addresses.

    All levels ask the same: what part of their people hold a prefix. A heavy key is the only frequent one behind its
    prefixes, so that all its levels can be taken together: n people of whom estimated n f hold it speak for it with the
    likelihood ratio of `likelihood_ratio`. Before any report a prefix of b bits has odds of 4 / 2^b.

    Children inherit what their parent has, the wrong ones too. But from one of 65,536 roots there grows one heavy key,
    seldom two: so the odds of a path are divided by one plus the odds of all others from its root. Where one path
    stands out the others lose what they inherited; where none does, all keep it; and a path that was behind by chance
    recovers at later levels. The paths with the best odds are followed.

    The keys found are then taken out of all levels, with frequencies that all levels estimate together, better than any
    one of them could alone. What is left is searched again: keys that collisions or a common root had hidden appear.
    """
    steps = 2 * len(levels)
    first, people = _walked(address, levels, sketches, lambda done: progress(done, steps))
    known = first.at(_best(np.where(first.belief >= 0, first.holders, -np.inf), _MOST_KNOWN))
    known = known.at(np.flatnonzero(known.belief >= 0))
    if not len(known):
        progress(steps, steps)
        return _ranked(first, people)
    frequencies, tables = _together(address, levels, sketches, known.nodes, known.holders / people)
    cleared = [
        tempered(table, address.prefix(known.nodes, length), frequencies)
        for length, table in zip(levels, tables, strict=True)
    ]
    rest, _ = _walked(address, levels, tuple(cleared), lambda done: progress(len(levels) + done, steps))
    rest = rest.at(np.flatnonzero(~_among(rest.nodes, known.nodes)))
    return _ranked(_rescored(address, levels, sketches, known, rest, people), people)


def _walked(
    address: Address, levels: tuple[int, ...], sketches: tuple[Sketch, ...], tell: Callable[[int], None]
) -> tuple[Paths, int]:
    """Go from the roots to whole addresses once; return the best, and the number of people who were asked."""
    people, length = 0, 0
    paths, followed = _roots(address), survivors(_per_node(levels), address.bits)
    for place, (longer, sketch) in enumerate(zip(levels, sketches, strict=True)):
        if place:
            paths = _children(address, paths, length, longer)
        length = longer
        estimates = _estimates(sketch, paths.nodes)
        people += sketch.people
        frequencies = (paths.holders + sketch.people * estimates) / max(people, 1)
        paths = _weighed(paths, frequencies, people, sketch)
        paths = paths.at(_best(paths.belief, _KEPT if longer == levels[-1] else followed))
        tell(place + 1)
    return paths.at(np.flatnonzero(address.genuine(paths.nodes))), people


def _together(
    address: Address, levels: tuple[int, ...], sketches: tuple[Sketch, ...], nodes: Words, frequencies: Floats
) -> tuple[Floats, list[Sketch]]:
    """Estimate whole addresses from all levels, each with all others taken out; return frequencies and what is left.

    Frequencies that depend on one another settle in a few sweeps.
    """
    prefixes = [address.prefix(nodes, length) for length in levels]
    people = np.array([sketch.people for sketch in sketches])
    frequencies = possible(frequencies)
    for _ in range(_SEARCH_SWEEPS):
        left = [
            sketch.without_words(words, frequencies).frequencies(words)
            for sketch, words in zip(sketches, prefixes, strict=True)
        ]
        frequencies = possible(frequencies + people @ np.array(left) / people.sum())
    return frequencies, [
        sketch.without_words(words, frequencies) for sketch, words in zip(sketches, prefixes, strict=True)
    ]


def _rescored(
    address: Address, levels: tuple[int, ...], sketches: tuple[Sketch, ...], known: Paths, rest: Paths, people: int
) -> Paths:
    """Return the paths of both searches, the believed ones with the frequencies that they have beside one another.

    Those behind one root need not compete any more: frequencies that are estimated together explain each other away.
    """
    both = Paths(*(np.concatenate([getattr(known, name), getattr(rest, name)]) for name in _FIELDS))
    believed = both.at(np.flatnonzero(both.belief >= 0))
    frequencies, _ = _together(address, levels, sketches, believed.nodes, believed.holders / people)
    evidence = likelihood_ratio(frequencies, people, sketches[0])
    more = evidence - likelihood_ratio(believed.holders / people, people, sketches[0])
    alone = np.bincount(believed.roots)[believed.roots] == 1
    places = np.flatnonzero(both.belief >= 0)
    both.holders[places] = people * frequencies
    both.belief[places] = np.where(alone, believed.belief + more, evidence + believed.prior)
    return both


def _among(nodes: Words, known: Words) -> NDArray[np.bool_]:
    """Say which addresses are among known ones."""
    names = {row.tobytes() for row in np.ascontiguousarray(known)}
    return np.array([row.tobytes() in names for row in np.ascontiguousarray(nodes)], dtype=np.bool_)


def sketch_variance(sketch: Sketch) -> float:
    """Return the variance of the estimated frequency of a rare key."""
    spec = sketch.spec
    r = float(spec.shared)
    return r * (1 - r) / (max(sketch.people, 1) * float(spec.preference - spec.shared) ** 2)


def _per_node(levels: tuple[int, ...]) -> float:
    """Return the most children that a node has at any level."""
    return float(max((1 << (there - here) for here, there in pairwise(levels)), default=1))


def _roots(address: Address) -> Paths:
    """Return all prefixes at the root, equally likely."""
    nodes = address.roots()
    nothing = np.zeros(len(nodes))
    return Paths(nodes, nothing, np.full(len(nodes), math.log(PRIOR / len(nodes))), np.arange(len(nodes)), nothing)


def _children(address: Address, paths: Paths, length: int, longer: int) -> Paths:
    """Return the children of all paths, with what they inherit."""
    nodes, counts, weights = address.children(paths.nodes, length, longer)
    parents = np.repeat(np.arange(len(paths)), counts)
    prior = paths.prior[parents] + weights
    return Paths(nodes, paths.holders[parents], prior, paths.roots[parents], paths.belief[parents])


def _estimates(sketch: Sketch, nodes: Words) -> Floats:
    """Estimate the frequencies of prefixes at their level, cleared of collisions with the heavy ones among them."""
    estimates = sketch.frequencies(nodes)
    error = math.sqrt(sketch_variance(sketch))
    among = _best(estimates, _MOST_HEAVY)
    cleared, found, frequencies = peeled(sketch, nodes[among], estimates[among], error)
    if found.size:
        estimates = cleared.frequencies(nodes)
        estimates[among[found]] += frequencies
    return estimates


def _weighed(paths: Paths, frequencies: Floats, people: int, sketch: Sketch) -> Paths:
    """Return the paths with what their level adds, and the others from the same root taken into account."""
    odds = likelihood_ratio(frequencies, people, sketch) + paths.prior
    belief = odds - _relatives(odds, paths.roots)
    return Paths(paths.nodes, people * frequencies, paths.prior, paths.roots, belief)


def likelihood_ratio(frequencies: Floats, people: int, sketch: Sketch) -> Floats:
    """Return the logarithm of the likelihood ratio of frequencies against none: n KL(r + f (p - r), r), for f > 0."""
    p, r = float(sketch.spec.preference), float(sketch.spec.shared)
    found = np.zeros(len(frequencies))
    above = np.flatnonzero(frequencies > 0)
    chance = np.minimum(r + (p - r) * frequencies[above], 1 - 1e-12)
    found[above] = people * (chance * np.log(chance / r) + (1 - chance) * np.log((1 - chance) / (1 - r)))
    return found


def _relatives(odds: Floats, roots: Integers) -> Floats:
    """Return the logarithm of one plus the odds of the others of each family; members of a family stand together.

    For all but the best of a family its own odds are counted too, which are at most half of the sum.
    """
    starts = np.flatnonzero(np.diff(roots, prepend=-1))
    if len(starts) == len(odds):
        return np.zeros(len(odds))
    counts = np.diff(starts, append=len(odds))
    tops = np.maximum.reduceat(odds, starts)
    relative = np.exp(odds - np.repeat(tops, counts))
    against = np.repeat(np.logaddexp(0.0, tops + np.log(np.add.reduceat(relative, starts))), counts)
    ties = np.flatnonzero(relative == 1.0)
    family, first = np.unique(np.searchsorted(starts, ties, side="right") - 1, return_index=True)
    best = ties[first]
    relative[best] = 0.0
    others = np.maximum(np.add.reduceat(relative, starts), 1e-300)[family]
    against[best] = np.logaddexp(0.0, tops[family] + np.log(others))
    return against


def _best(scores: Floats, count: int) -> Integers:
    """Return the places of the largest scores, in their order of places."""
    if len(scores) <= count:
        return np.arange(len(scores))
    return np.sort(np.argpartition(-scores, count)[:count])


def _ranked(paths: Paths, people: int) -> FoundAddresses:
    """Sort by the frequency that a key may be expected to have: its estimate times the probability that it is real."""
    frequencies, probabilities = paths.holders / max(people, 1), 1 / (1 + np.exp(-np.clip(paths.belief, -700.0, 700.0)))
    order = np.argsort(-frequencies * probabilities, kind="stable")
    return FoundAddresses(paths.nodes[order], frequencies[order], probabilities[order])


def peeled(sketch: Sketch, nodes: Words, estimates: Floats, error: float) -> tuple[Sketch, Integers, Floats]:
    """Return the sketch without the heavy ones of some prefixes with estimates; which ones; and their frequencies.

    A prefix that shares a bucket of one row with a heavy one of frequency f seems to have f / rows. So the heaviest are
    real: all within 0.6 of the largest are taken out together, then the largest of what is left, until nothing stands
    out by 5 standard errors. Taking out makes the others seem rarer, but for the collisions expected of all; so
    those below 3 errors less these are looked at once. Each frequency is then estimated again with all the others taken
    out. The reports of heavy keys leave more noise behind in their buckets than there is elsewhere, and `tempered`
    divides it.
    """
    found = np.zeros(0, dtype=np.int64)
    frequencies = np.zeros(0)
    cleared, usual = sketch, 2 * float(sketch.spec.hash.collision)
    left = np.arange(len(nodes))
    for _ in range(_ROUNDS):
        top = float(estimates.max(initial=0.0))
        if top < _CERTAIN * error or found.size >= _MOST:
            break
        heavy = estimates >= max(_NEAR * top, _CERTAIN * error)
        found, frequencies = (
            np.concatenate([found, left[heavy]]),
            possible(np.concatenate([frequencies, estimates[heavy]])),
        )
        cleared = tempered(sketch.without_words(nodes[found], frequencies), nodes[found], frequencies)
        left = left[~heavy & (estimates >= _POSSIBLE * error - usual)]
        estimates = cleared.frequencies(nodes[left])
    for _ in range(_PEELING_SWEEPS if found.size else 0):
        cleared = sketch.without_words(nodes[found], frequencies)
        frequencies = possible(frequencies + cleared.frequencies(nodes[found]))
    if not found.size:
        return sketch, found, frequencies
    return tempered(sketch.without_words(nodes[found], frequencies), nodes[found], frequencies), found, frequencies


def tempered(cleared: Sketch, nodes: Words, frequencies: Floats) -> Sketch:
    """Divide what is left in the buckets of keys that were taken out, so that they are as noisy as all the others.

    A report is on a given plane with variance r (1 - r), that of a holder on the plane of its own key with p (1 - p).
    """
    spec = cleared.spec
    p, r = float(spec.preference), float(spec.elsewhere)
    rows, buckets = np.arange(spec.rows)[None, :], spec.hash.buckets(nodes)
    added = np.zeros(cleared.table.shape)
    np.add.at(added, (rows, buckets), (frequencies * p * (1 - p) / (r * (1 - r)))[:, None])
    usual = cleared.in_row * (r + (p - r) * float(spec.hash.collision) * max(1.0 - cleared.removed, 0.0))
    left = (cleared.table - usual[:, None])[rows, buckets] / np.sqrt(1 + added[rows, buckets])
    table = cleared.table.copy()
    table[rows, buckets] = np.rint(usual + left).astype(np.int64)
    return Sketch(spec, cleared.people, table, cleared.in_row, cleared.removed)


def possible(frequencies: Floats) -> Floats:
    """Return frequencies cut to be possible: none negative, at most one together, the largest kept.

    >>> possible(np.array([-0.5, 0.25, 0.875, 0.125]))
    array([0.   , 0.125, 0.875, 0.   ])
    """
    order = np.argsort(-frequencies, kind="stable")
    kept = np.clip(frequencies, 0.0, 1.0)
    before = np.cumsum(kept[order]) - kept[order]
    kept[order] = np.minimum(kept[order], np.maximum(1.0 - before, 0.0))
    return kept
