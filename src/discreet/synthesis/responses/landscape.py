"""Drawn queries laid out for a search that changes one attribute of a record at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.responses.drawn import Drawn, Integers


@dataclass(frozen=True, eq=False)
class Landscape:
    """Drawn queries sorted for the search: by attribute the factors about it, by term the attributes it is about.

    Factor e of attribute a, for e from `edges[a]` to `edges[a + 1]`, belongs to term[e] and has row[e]. As the code
    rises from 0, row r changes between true and false at `place[k]`, up if `sign[k]` is 1 and down if -1, for k from
    `steps[r]` to `steps[r + 1]`: two places for a value, for its negation and for a range.
    """

    sizes: Integers
    weights: Integers
    parity: NDArray[np.bool_]
    edges: Integers
    term: Integers
    row: Integers
    starts: Integers
    attribute: Integers
    accepts: NDArray[np.bool_]
    steps: Integers
    place: Integers
    sign: Integers

    @classmethod
    def of(cls, drawn: Drawn) -> Landscape:
        """Sort the factors of drawn queries."""
        order = np.argsort(drawn.attribute, kind="stable")
        count = np.bincount(drawn.attribute, minlength=len(drawn.sizes))
        used = np.zeros(len(drawn.accepts), dtype=np.int64)
        used[drawn.row] = drawn.sizes[drawn.attribute]
        changed, before = np.nonzero(drawn.accepts[:, 1:] != drawn.accepts[:, :-1])
        inside = before + 1 < used[changed]  # beyond the last code there is padding
        changed, place = changed[inside], before[inside] + 1
        return cls(
            sizes=drawn.sizes,
            weights=drawn.weights,
            parity=drawn.parity,
            edges=np.append(0, np.cumsum(count)),
            term=drawn.owner[order],
            row=drawn.row[order],
            starts=drawn.starts,
            attribute=drawn.attribute,
            accepts=np.ascontiguousarray(drawn.accepts),
            steps=np.append(0, np.cumsum(np.bincount(changed, minlength=len(drawn.accepts)))),
            place=place,
            sign=np.where(drawn.accepts[changed, place], 1, -1),
        )

    def greedy(self, otherwise: Integers) -> Integers:
        """Return, for each attribute, the code with the largest mean over uniform others; no factor, no change."""
        record = otherwise.copy()
        share = np.count_nonzero(self.accepts, axis=1)[self.row] / np.repeat(self.sizes, np.diff(self.edges))
        odd = self.parity[self.term]
        factor = np.where(odd, 1 - 2 * share, share)
        others = np.ones(len(self.weights))
        np.multiply.at(others, self.term, np.where(factor == 0, 1, factor))
        zeros = np.bincount(self.term[factor == 0], minlength=len(self.weights))
        alone = zeros[self.term] == (factor == 0)  # else another factor of the parity is a fair coin
        slope = np.where(alone, self.weights[self.term] * others[self.term] / np.where(factor == 0, 1, factor), 0)
        offset = np.append(0, np.cumsum(self.sizes))
        count = np.diff(self.steps)[self.row]
        step = np.repeat(self.steps[self.row] - np.cumsum(count) + count, count) + np.arange(count.sum())
        at = np.repeat(np.repeat(offset[:-1], np.diff(self.edges)), count) + self.place[step]
        change = np.bincount(at, weights=np.repeat(slope, count) * self.sign[step], minlength=int(offset[-1]))
        for attribute in np.flatnonzero(np.diff(self.edges)):
            record[attribute] = np.argmax(np.cumsum(change[offset[attribute] : offset[attribute + 1]]))
        return record
