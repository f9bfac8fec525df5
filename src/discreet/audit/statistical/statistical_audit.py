"""The statistical audit: any black box, run many times on neighboring inputs, against its guarantee.

A race over the pairs of neighbors finds the most telling one; an event is learned from more runs on it; fresh runs,
which had no say in any choice, are counted. Two Clopper-Pearson bounds turn the counts into a lower confidence bound on
the loss (`Until.SPENT`), or a bet against the guarantee on each pair of runs is settled until the guarantee is refuted
or cannot be any more (`Until.DECIDED`). Runs can refute a guarantee, and never certify it.

A bet is against a guarantee: a true guarantee cannot make its wealth grow, so that an audit may stop whenever it likes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, replace
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.audit.statistical.learning import Event, learned
from discreet.audit.statistical.loss_bound import allowed_error, largest_bound, loss_at_least
from discreet.audit.statistical.outcomes import Encoder, Outcomes
from discreet.audit.statistical.screening import BatchFailed, Entrant, MechanismRunner, PairRace, encoded
from discreet.audit.statistical.targets import LearningAim, targets_of
from discreet.audit.verdict import Level, Outcome, Until, Verdict, Witness
from discreet.display import Progress, silent
from discreet.errors import ParameterError
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most
from discreet.privacy import ApproxDP, Guarantee, PureDP

DRAWS = 200_000
_SCREENED, _TRAINED = 0.25, 0.15
_FEWEST = 40
_CHUNK = 1 << 17
_FIRST_LOOK = 256
_MOST_EVENTS = 3
_NEAR, _ALIKE = 0.85, 0.75
_LOOKED_AT = 200_000
_SHOWN = 60
Floats = npt.NDArray[np.float64]
_STAKES = np.geomspace(1.0, 1e-4, 24)  # shares of the largest stake that cannot lose more than everything
_FUTILE = 0.01
_LARGEST = 700.0  # no number of pairs that can be run refutes a guarantee as large


def audit_statistical(
    mechanism: Callable[[Any], Any],
    guarantee: Guarantee,
    neighbors: Iterable[tuple[Any, Any]],
    *,
    draws: int,
    confidence: float = 0.95,
    suite: int = 1,
    until: Until = Until.SPENT,
    progress: Progress | None = None,
) -> Verdict:
    """Run the mechanism `draws` times in all and bound its loss from below; see the module for how."""
    pairs = list(neighbors)
    if not pairs:
        raise ParameterError("an audit needs at least one pair of neighboring inputs", parameter="neighbors")
    rest = allowed_error(confidence, suite)
    if draws < _FEWEST * len(pairs):
        raise ParameterError(
            f"{len(pairs)} pairs of inputs need at least draws={_FEWEST * len(pairs)}", parameter="draws"
        )
    one_by_one = False
    while True:
        trial = _Trial(
            MechanismRunner(mechanism, draws, progress or silent, one_by_one=one_by_one), guarantee, pairs, rest
        )
        try:
            return trial.verdict(until, confidence)
        except BatchFailed:
            one_by_one = True


@dataclass
class _Trial:
    """One audit from the first run to the last."""

    runner: MechanismRunner
    guarantee: Guarantee
    neighbors: list[tuple[Any, Any]]
    rest: float

    def verdict(self, until: Until, confidence: float) -> Verdict:
        """Screen, learn and test."""
        started = time.perf_counter()
        pair, encoder, events, aim = self._learned()
        test = _Test(self.runner, encoder, pair, aim)
        low, event = test.counted(events) if until is Until.SPENT else test.bet(events[0])
        limit = 1.0 if aim.shares else event.target.epsilon
        ceiling = aim.in_terms(largest_bound(aim.test, delta=event.target.delta, rest=self.rest), event.target)
        inputs = [_shown(one.value) for one in (pair[::-1] if event.swapped else pair)]
        return Verdict(
            guarantee=self.guarantee,
            level=Level.STATISTICAL,
            outcome=Outcome.REFUTED if low > limit else Outcome.NOT_REFUTED,
            low=low,
            high=None,
            confidence=confidence,
            witness=Witness(inputs[0], inputs[1], str(event)),
            findings=("the guarantee is above the cap: this audit can only pass",) if limit >= ceiling else (),
            pairs=2 * len(self.neighbors),
            samples=self.runner.taken,
            seconds=time.perf_counter() - started,
            cap=ceiling,
        )

    def _learned(self) -> tuple[tuple[Entrant, Entrant], Encoder, list[Event], LearningAim]:
        """Find the most telling pair and events on it, and say what is left to test them."""
        draws = self.runner.total
        aim = LearningAim(
            targets_of(self.guarantee),
            test=int(draws * (1.0 - _SCREENED - _TRAINED) / 2),
            rest=self.rest,
            shares=not isinstance(self.guarantee, PureDP | ApproxDP),
        )
        pair = PairRace.between(self.neighbors, aim).run(self.runner, int(_SCREENED * draws))
        for one in pair:
            one.extend(self.runner, max(int(_TRAINED * draws / 2), _FEWEST // 4))
        encoder, (first, second) = encoded(*pair)
        aim = replace(aim, test=max((draws - self.runner.taken) // 2, 1))
        events = learned(first, second, (pair[0].value, pair[1].value), aim)
        return pair, encoder, _chosen(events, (first, second)), aim


def _chosen(events: list[Event], runs: tuple[Outcomes, Outcomes]) -> list[Event]:
    """Return the events to test: the best, and a few that are about as good and do not say the same.

    Each of several has a smaller error allowed to it, but the best of them need not be known beforehand.
    """
    chosen: list[Event] = []
    masks: list[Any] = []
    few = [side.part(0, _LOOKED_AT) for side in runs]
    for event in events:
        if len(chosen) == _MOST_EVENTS:
            break
        if event.expected < _NEAR * events[0].expected:
            continue
        mask = np.concatenate([event.shown(side) for side in few])
        if all(np.count_nonzero(mask & one) < _ALIKE * np.count_nonzero(mask | one) for one in masks) or not chosen:
            chosen.append(event)
            masks.append(mask)
    return chosen


@dataclass
class _Test:
    """Fresh runs on the pair that was chosen, and what they say about events that were chosen without them."""

    runner: MechanismRunner
    encoder: Encoder
    pair: tuple[Entrant, Entrant]
    aim: LearningAim

    def counted(self, events: list[Event]) -> tuple[float, Event]:
        """Count in all runs and return the largest bound, those of all events holding together."""
        counts = np.zeros((len(events), 2), dtype=np.int64)
        for side, runs in self.runner.both((self.pair[0].value, self.pair[1].value), self.aim.test):
            fresh = self.encoder.encode(runs)
            for place, event in enumerate(events):
                counts[place, side] += np.count_nonzero(event.shown(fresh))
        bounds = [self._bound(event, count, len(events)) for event, count in zip(events, counts.tolist(), strict=True)]
        best = int(np.argmax(bounds))
        return bounds[best], events[best]

    def _bound(self, event: Event, counts: list[int], events: int) -> float:
        """Return the bound of one of `events` events, in the guarantee's terms."""
        seen, other = counts[::-1] if event.swapped else counts
        runs, rest = self.aim.test, self.aim.rest / events
        loss = float(loss_at_least(seen, runs, other, runs, delta=event.target.delta, rest=rest))
        return self.aim.in_terms(loss, event.target)

    def bet(self, event: Event) -> tuple[float, Event]:
        """Bet on pairs of runs until the guarantee is refuted, cannot be refuted any more, or the runs are spent."""
        epsilon, delta, enough = event.target.epsilon, event.target.delta, math.log(1.0 / self.aim.rest)
        one, two = self.pair[::-1] if event.swapped else self.pair
        tally, look, refuted = EventTally(), 0, False
        while tally.pairs < self.aim.test and not refuted:
            look += 1
            more = min(max(_FIRST_LOOK, tally.pairs // 4), self.aim.test - tally.pairs, _CHUNK)
            fresh = self.runner.both((one.value, two.value), more)
            shown, other = (event.shown(self.encoder.encode(runs)) for _, runs in fresh)
            tally = tally + EventTally.of(shown, other)
            refuted = log_wealth(tally, epsilon, delta) >= enough
            if hopeless(tally, epsilon, delta, self.aim.rest, left=self.aim.test - tally.pairs, look=look):
                break
        reach = largest_bound(self.aim.test, delta=0.0, rest=self.aim.rest)
        low = self.aim.in_terms(loss_refuted(tally, delta, self.aim.rest, reach=reach), event.target)
        # the guarantee itself need not be on the grid of losses that are bet against to find the bound
        limit = 1.0 if self.aim.shares else epsilon
        return max(low, math.nextafter(limit, math.inf)) if refuted else min(low, limit), event


def _shown(value: Any) -> Any:
    """Return an input as something short to print; inputs of an audit are made up, not taken from anybody."""
    try:
        plain = value.tolist() if hasattr(value, "tolist") else value
        text = repr(plain)
    except Exception:  # inputs may be anything at all
        return f"an input of type {type(value).__name__}"
    return plain if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


@dataclass(frozen=True, slots=True)
class EventTally:
    """How often an event was shown by both runs of a pair, by the first only, by the second only, and by neither."""

    both: int = 0
    first: int = 0
    second: int = 0
    neither: int = 0

    def __add__(self, other: EventTally) -> EventTally:
        return EventTally(*map(add, astuple(self), astuple(other)))

    @property
    def pairs(self) -> int:
        """The number of pairs of runs."""
        return self.both + self.first + self.second + self.neither

    @classmethod
    def of(cls, shown: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> EventTally:
        """Count pairs of runs, one on each input."""
        counts = np.bincount(2 * shown.astype(np.int64) + other.astype(np.int64), minlength=4)
        return cls(int(counts[3]), int(counts[2]), int(counts[1]), int(counts[0]))


def log_wealth(tally: EventTally, epsilon: float, delta: float) -> float:
    """Return the logarithm of what a capital of 1 has become by betting against P(S) <= e^epsilon Q(S) + delta.

    Each pair of runs, X = 1 if the run on the first input shows S and Y = 1 if the run on the second does, multiplies a
    capital by 1 + stake (X - e^epsilon Y - delta). Capital is spread evenly over stakes between 0 and the largest one
    that can lose no more than everything, and is left there.

    Accuracy. If the guarantee holds for S, the wealth ever reaches 1 / alpha with probability at most alpha, at
        whatever time one looks: an audit that stops and refutes at 1 / alpha is wrong with probability at most alpha.
        Proof: fix a stake s with 0 <= s <= 1 / (e^epsilon + delta). The factor is at least 1 - s (e^epsilon + delta)
        >= 0. Given the past its mean is 1 + s (P(S) - e^epsilon Q(S) - delta) <= 1, because pairs are independent of
        the past and S was fixed before them. So the capital on each stake is a non-negative supermartingale that starts
        at 1, and so is the average over the stakes. By Ville's inequality a non-negative supermartingale that starts at
        1 reaches 1 / alpha at any time with probability at most alpha.
    Reference. Ville 1939; Waudby-Smith, Ramdas 2024 for means of bounded numbers.

    >>> log_wealth(EventTally(), 0.5, 0.0)
    0.0
    >>> math.exp(
    ...     log_wealth(EventTally(first=200, second=50, neither=750), 0.5, 0.0)
    ... ) > 1e6
    True
    """
    return float(log_wealths(tally, np.array([epsilon]), delta)[0])


def log_wealths(tally: EventTally, epsilons: Floats, delta: float) -> Floats:
    """Return the logarithm of the wealth against each of several claims."""
    factor = np.exp(np.minimum(epsilons, _LARGEST))[:, None]
    stakes = _STAKES[None, :] / (factor + delta)
    with np.errstate(divide="ignore"):
        total = np.zeros(stakes.shape)
        for count, gain in (
            (tally.both, 1.0 - factor - delta),
            (tally.first, 1.0 - delta + 0.0 * factor),
            (tally.second, -factor - delta),
            (tally.neither, -delta + 0.0 * factor),
        ):
            if count:
                total = total + count * np.log(np.maximum(1.0 + stakes * gain, 0.0))
    top = np.max(total, axis=1, keepdims=True)
    steady = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray((steady + np.log(np.mean(np.exp(total - steady), axis=1, keepdims=True)))[:, 0])


def loss_refuted(tally: EventTally, delta: float, rest: float, *, reach: float, points: int = 400) -> float:
    """Return a lower bound on the loss that holds with probability at least 1 - rest at any stopping time.

    Each epsilon of a fixed grid up to `reach` is bet against; the bound is the largest below which all are refuted.

    Accuracy. Let e be the least epsilon for which the guarantee holds for S, and g the first point of the grid that is
        at least e. If the bound exceeds e then g was refuted, though the guarantee holds at g; that happens with
        probability at most rest.
    """
    grid = np.linspace(0.0, reach, points)
    refuted = log_wealths(tally, grid, delta) >= math.log(1.0 / rest)
    firsts = int(np.argmin(refuted)) if not refuted.all() else points
    return float(grid[firsts - 1]) if firsts else 0.0


def hopeless(tally: EventTally, epsilon: float, delta: float, rest: float, *, left: int, look: int) -> bool:
    """Say whether the pairs that are left can hardly refute the guarantee; stopping then can cause no false alarm.

    The chances of S are bounded by what was seen (at a level that makes all looks together hold), and the wealth is let
    grow as fast as chances within these bounds allow, with three standard deviations of luck.
    """
    level = _FUTILE / (look * (look + 1))
    p = float(chance_at_most(tally.both + tally.first, tally.pairs, level))
    q = float(chance_at_least(tally.both + tally.second, tally.pairs, level))
    factor = math.exp(min(epsilon, _LARGEST))
    stakes = _STAKES / (factor + delta)
    gains = np.array([1.0 - factor - delta, 1.0 - delta, -factor - delta, -delta])
    chances = np.array([p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q)])
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(1.0 + stakes[:, None] * gains[None, :], 1e-300))
    growth = logs @ chances
    luck = np.sqrt(np.maximum((logs**2) @ chances - growth**2, 0.0))
    best = float(np.max(np.maximum(growth * left + 3.0 * luck * math.sqrt(left), 0.0)))
    return log_wealth(tally, epsilon, delta) + best < math.log(1.0 / rest)
