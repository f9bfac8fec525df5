"""The statistical audit: any black box, run many times on neighbouring inputs, against its claim.

A race over the pairs of neighbours finds the most telling one; an event is learned from more runs on it; fresh runs,
which had no say in any choice, are counted. Two Clopper-Pearson bounds turn the counts into a lower confidence bound on
the loss (`Until.SPENT`), or a bet against the claim on each pair of runs is settled until the claim is refuted or
cannot be any more (`Until.DECIDED`). Runs can refute a claim, and never certify it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.audit.statistical.betting import Tally, hopeless, log_wealth, loss_refuted
from discreet.audit.statistical.learning import Event, learned
from discreet.audit.statistical.loss_bound import allowed_error, largest_bound, loss_at_least
from discreet.audit.statistical.outcomes import Encoder, Outcomes
from discreet.audit.statistical.screening import BatchFailed, Entrant, Race, Runner, encoded
from discreet.audit.statistical.targets import Aim, targets_of
from discreet.audit.verdict import Level, Outcome, Until, Verdict, Witness
from discreet.errors import ParameterError
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


def audit_statistical(
    mechanism: Callable[[Any], Any],
    claim: Guarantee,
    neighbours: Iterable[tuple[Any, Any]],
    *,
    draws: int,
    confidence: float = 0.95,
    suite: int = 1,
    until: Until = Until.SPENT,
    progress: Callable[[float], None] | None = None,
) -> Verdict:
    """Run the mechanism `draws` times in all and bound its loss from below; see the module for how."""
    pairs = list(neighbours)
    if not pairs:
        raise ParameterError("an audit needs at least one pair of neighbouring inputs", parameter="neighbours")
    rest = allowed_error(confidence, suite)
    if draws < _FEWEST * len(pairs):
        raise ParameterError(
            f"{len(pairs)} pairs of inputs need at least draws={_FEWEST * len(pairs)}", parameter="draws"
        )
    one_by_one = False
    while True:
        trial = _Trial(Runner(mechanism, draws, progress, one_by_one=one_by_one), claim, pairs, rest)
        try:
            return trial.verdict(until, confidence)
        except BatchFailed:
            one_by_one = True


@dataclass
class _Trial:
    """One audit from the first run to the last."""

    runner: Runner
    claim: Guarantee
    neighbours: list[tuple[Any, Any]]
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
            claim=self.claim,
            level=Level.STATISTICAL,
            outcome=Outcome.REFUTED if low > limit else Outcome.NOT_REFUTED,
            low=low,
            high=None,
            confidence=confidence,
            witness=Witness(inputs[0], inputs[1], str(event)),
            findings=("the claim is above the cap: this audit can only pass",) if limit >= ceiling else (),
            pairs=2 * len(self.neighbours),
            samples=self.runner.taken,
            seconds=time.perf_counter() - started,
            cap=ceiling,
        )

    def _learned(self) -> tuple[tuple[Entrant, Entrant], Encoder, list[Event], Aim]:
        """Find the most telling pair and events on it, and say what is left to test them."""
        draws = self.runner.total
        aim = Aim(
            targets_of(self.claim),
            test=int(draws * (1.0 - _SCREENED - _TRAINED) / 2),
            rest=self.rest,
            shares=not isinstance(self.claim, PureDP | ApproxDP),
        )
        pair = Race.between(self.neighbours, aim).run(self.runner, int(_SCREENED * draws))
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

    runner: Runner
    encoder: Encoder
    pair: tuple[Entrant, Entrant]
    aim: Aim

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
        """Return the bound of one of so many events, in the claim's terms."""
        seen, other = counts[::-1] if event.swapped else counts
        runs, rest = self.aim.test, self.aim.rest / events
        loss = float(loss_at_least(seen, runs, other, runs, delta=event.target.delta, rest=rest))
        return self.aim.in_terms(loss, event.target)

    def bet(self, event: Event) -> tuple[float, Event]:
        """Bet on pairs of runs until the claim is refuted, cannot be refuted any more, or the runs are spent."""
        epsilon, delta, enough = event.target.epsilon, event.target.delta, math.log(1.0 / self.aim.rest)
        one, two = self.pair[::-1] if event.swapped else self.pair
        tally, look, refuted = Tally(), 0, False
        while tally.pairs < self.aim.test and not refuted:
            look += 1
            more = min(max(_FIRST_LOOK, tally.pairs // 4), self.aim.test - tally.pairs, _CHUNK)
            fresh = self.runner.both((one.value, two.value), more)
            shown, other = (event.shown(self.encoder.encode(runs)) for _, runs in fresh)
            tally = tally + Tally.of(shown, other)
            refuted = log_wealth(tally, epsilon, delta) >= enough
            if hopeless(tally, epsilon, delta, self.aim.rest, left=self.aim.test - tally.pairs, look=look):
                break
        reach = largest_bound(self.aim.test, delta=0.0, rest=self.aim.rest)
        low = self.aim.in_terms(loss_refuted(tally, delta, self.aim.rest, reach=reach), event.target)
        # the claim itself need not be on the grid of losses that are bet against to find the bound
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
