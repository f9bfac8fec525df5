"""Peeling: heavy prefixes are taken out of the table of their level, so that nothing else collides with them."""

from __future__ import annotations

import numpy as np

from discreet.local.heavy_hitters.heavy_hitters_prefixes import Floats, Integers
from discreet.local.keys.hashing import Words
from discreet.local.keys.sketch import Sketch

_CERTAIN, _POSSIBLE = 5.0, 3.0  # standard errors
_ROUNDS = 24
_MOST = 1024
_NEAR = 0.6
_SWEEPS = 2


def peeled(sketch: Sketch, nodes: Words, estimates: Floats, error: float) -> tuple[Sketch, Integers, Floats]:
    """Return the sketch without the heavy ones of some prefixes with estimates; which ones; and their shares.

    A prefix that shares a bucket of one row with a heavy one of share f seems to have f / rows. So the heaviest are
    real: all within 0.6 of the largest are taken out together, then the largest of what is left, until nothing stands
    out by 5 standard errors. Taking out makes the others seem rarer, but for the collisions expected of all; so
    those below 3 errors less these are looked at once. Each share is then estimated again with all the others taken
    out. The reports of heavy keys leave more noise behind in their buckets than there is elsewhere, and `tempered`
    divides it.
    """
    found = np.zeros(0, dtype=np.int64)
    shares = np.zeros(0)
    cleared, usual = sketch, 2 * float(sketch.spec.hash.collision)
    left = np.arange(len(nodes))
    for _ in range(_ROUNDS):
        top = float(estimates.max(initial=0.0))
        if top < _CERTAIN * error or found.size >= _MOST:
            break
        heavy = estimates >= max(_NEAR * top, _CERTAIN * error)
        found, shares = np.concatenate([found, left[heavy]]), possible(np.concatenate([shares, estimates[heavy]]))
        cleared = tempered(sketch.without_words(nodes[found], shares), nodes[found], shares)
        left = left[~heavy & (estimates >= _POSSIBLE * error - usual)]
        estimates = cleared.shares(nodes[left])
    for _ in range(_SWEEPS if found.size else 0):
        cleared = sketch.without_words(nodes[found], shares)
        shares = possible(shares + cleared.shares(nodes[found]))
    if not found.size:
        return sketch, found, shares
    return tempered(sketch.without_words(nodes[found], shares), nodes[found], shares), found, shares


def tempered(cleared: Sketch, nodes: Words, shares: Floats) -> Sketch:
    """Divide what is left in the buckets of keys that were taken out, so that they are as noisy as all the others.

    A report is on a given plane with variance r (1 - r), that of a holder on the plane of its own key with p (1 - p).
    """
    spec = cleared.spec
    p, r = float(spec.preference), float(spec.elsewhere)
    rows, buckets = np.arange(spec.rows)[None, :], spec.hash.buckets(nodes)
    added = np.zeros(cleared.table.shape)
    np.add.at(added, (rows, buckets), (shares * p * (1 - p) / (r * (1 - r)))[:, None])
    usual = cleared.in_row * (r + (p - r) * float(spec.hash.collision) * max(1.0 - cleared.removed, 0.0))
    left = (cleared.table - usual[:, None])[rows, buckets] / np.sqrt(1 + added[rows, buckets])
    table = cleared.table.copy()
    table[rows, buckets] = np.rint(usual + left).astype(np.int64)
    return Sketch(spec, cleared.people, table, cleared.in_row, cleared.removed)


def possible(shares: Floats) -> Floats:
    """Return shares that are not negative and make at most one together, the largest kept: hostile reports make others.

    >>> possible(np.array([-0.5, 0.25, 0.875, 0.125]))
    array([0.   , 0.125, 0.875, 0.   ])
    """
    order = np.argsort(-shares, kind="stable")
    kept = np.clip(shares, 0.0, 1.0)
    before = np.cumsum(kept[order]) - kept[order]
    kept[order] = np.minimum(kept[order], np.maximum(1.0 - before, 0.0))
    return kept
