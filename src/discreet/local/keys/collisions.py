"""What collisions of keys do to an estimate: its standard error, and intervals that know how rare they are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.local.estimates.normal import two_sided_normal
from discreet.local.estimates.support import Support
from discreet.local.protocol.inputs import Integers
from discreet.privacy import Target

Floats = NDArray[np.float64]
_GRID = 64
_STEPS = 40
_ROUNDS = 3
_MANY = 50  # so many collisions are normal; with ten, fewer and heavier keys were worse already
_SEVERAL = 10
_CUT = 1e-3  # of the allowed error may be cut off the law of collisions


@dataclass(frozen=True, eq=False)
class CollidedSupport(Support):
    """Counts of reports to which other keys add by collisions, in each of `rows` with probability `collision`.

    `counts`, `preference` and `shared` are those of what is left when known keys were taken out; `reports` has all the
    reports, whose noise stays. `squares` estimates the sum of the squared shares of all keys, and `most_squares` is
    probably not exceeded by it.

    Accuracy. Collisions add collision / (rows (1 - collision)) times the sum F of the squared shares of the other keys
        to the variance of a share. Intervals are approximate: the lower end is the farther of two, that of a normal law
        with the variance of reports and collisions together, and that of a normal law of the reports plus the
        collisions of m equal keys with these squares, for the worst m of 1, 2, 4, ... that may hold so much.
        Proof: for the variance see `HashedGeometry`. In units of 1 / (rows (1 - c)) a key of share f adds f (N - E N),
        N being binomial. If keys meet independently, the logarithm of the moment generating function of all collisions
        at t > 0 is at most the sum of rows c (exp(t f) - 1 - t f) over the keys (Bennett), and since (exp(u) - 1 - u) /
        u^2 grows with u, this is largest for a given F when one key holds all of it: so one key has the heaviest far
        tail. Nearer, where one key is met too rarely to matter, several may be worse; m keys of share sqrt(F / m) make
        m sqrt(F / m) <= 1, so m <= 1 / F. At t < 0 the logarithm is at most rows c F t^2 / 2: collisions make no
        estimate too low that a normal law would not. F is what is left of all squares beside the key's own, which is
        taken at the lower end itself: where a share may be nothing but a collision, the interval says so.
    Reference. Bennett 1962.
    """

    rows: int
    collision: float
    squares: float
    most_squares: float
    reports: Support | None = None

    def standard_errors(self, target: Target = Target.TABLE) -> Floats:
        """Return the standard errors, collisions included."""
        return np.asarray(np.sqrt(self._all.standard_errors(target) ** 2 + self._variance(self.shares)))

    def interval(self, rest: float, target: Target, chosen: Integers | None = None) -> tuple[Floats, Floats]:
        """Return ends that miss a share with probability `rest`."""
        places = slice(None) if chosen is None else chosen
        low, high = self._all.interval(rest, target, chosen)
        centre, middle = self.shares[places], self._all.shares[places]
        below, above = np.maximum(middle - low, 0.0), np.maximum(high - middle, 0.0)
        level = two_sided_normal(rest)
        errors = np.maximum(below / level, self._all.standard_errors(target)[places])
        tails = list(self._tails(float(np.min(errors, initial=math.inf)), rest))
        end = np.zeros_like(centre)
        for _ in range(_ROUNDS):  # every round is a bound: a smaller share than `end` has been ruled out
            spread = np.sqrt(below**2 + level**2 * self._variance(end))
            end = centre - np.maximum(spread, self._reach(end, errors, tails))
        return end, centre + np.sqrt(above**2 + level**2 * self._variance(centre))

    @property
    def _all(self) -> Support:
        """All the reports, with those of keys that were taken out."""
        return self.reports or Support(self.counts, self.people, self.preference, self.shared)

    def _variance(self, shares: Floats) -> Floats:
        """Return the variance of collisions with the other keys."""
        return np.asarray(self.collision / (self.rows * (1 - self.collision)) * _others(self.squares, shares))

    def _reach(self, shares: Floats, errors: Floats, tails: list[tuple[int, Floats, Floats]]) -> Floats:
        """Return how far an estimate may lie above its share, if the other squares belong to equal keys."""
        jumps = np.sqrt(_others(self.most_squares, shares)) / (self.rows * (1 - self.collision)) / errors
        least = _others(max(2 * self.squares - self.most_squares, 0.0), shares)
        reach = np.zeros_like(errors)
        for keys, grid, levels in tails:
            possible = keys * least < 2
            reach = np.where(possible, np.maximum(reach, np.interp(jumps, grid, levels) * errors), reach)
        return reach

    def _tails(self, error: float, rest: float) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield for 1, 2, 4, ... equal keys the level of every jump, up to the largest: jump and level in errors."""
        top = math.sqrt(self.most_squares) / (self.rows * (1 - self.collision)) / error
        if top == 0:
            return
        grid, keys = np.concatenate([[0.0], np.geomspace(1e-4 * top, top, _GRID)]), 1
        while keys * self.rows * self.collision <= (_MANY if keys == 1 else _SEVERAL):
            yield keys, grid, _levels(grid / math.sqrt(keys), keys * self.rows, self.collision, rest)
            keys *= 2


def _others(squares: float, shares: Floats) -> Floats:
    """Return what is left of squared shares beside those of the key itself."""
    return np.asarray(np.maximum(squares - np.maximum(shares, 0.0) ** 2, 0.0))


def _levels(jumps: Floats, trials: int, chance: float, rest: float) -> Floats:
    """Solve P(Z + jump (N - E N) > level) = rest / 2 for a normal Z and a binomial N, by bisection."""
    from scipy.special import ndtr

    chances, beyond = _binomial(trials, chance, rest * _CUT)
    moves = jumps[:, None] * (np.arange(chances.size) - trials * chance)
    low = np.full(jumps.size, -two_sided_normal(rest)) + moves[:, 0]
    high = np.full(jumps.size, 2 * two_sided_normal(rest)) + moves[:, -1]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        over = ndtr(moves - middle[:, None]) @ chances > rest / 2 - beyond
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return high


def _binomial(trials: int, chance: float, rest: float) -> tuple[Floats, float]:
    """Return the probabilities of 0, 1, 2, ... successes until at most `rest` is beyond, and what is beyond.

    By Chernoff P(N >= k) <= exp(-k) for k >= e^2 E N, so that few numbers are looked at.
    """
    from scipy.special import bdtrc

    enough = min(trials, math.ceil(math.exp(2) * trials * chance - math.log(rest)))
    beyond = bdtrc(np.arange(enough + 1), trials, chance)
    count = int(np.argmax(beyond <= rest)) + 1
    return -np.diff(beyond[:count], prepend=1.0), float(beyond[count - 1])
