"""Top k: choose several candidates of high score in one pass, at the price of as many exponential mechanisms."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws import Peeling, Race
from discreet.laws.number import Number, round_down
from discreet.laws.samplers import as_scores
from discreet.mechanisms.choices.selection import Candidate, Selection, check_accuracy
from discreet.mechanisms.mechanism import one_of
from discreet.privacy import ZCDP, Guarantee, PrivacyLoss, PureDP, Sensitivity, bounded_range_loss, warn_if_senseless
from discreet.privacy.numbers import downward, number, positive, printed, upward, whole, written, written_up


class Top(Selection):
    """Return the positions of k scores, the first choice first: exponential mechanisms on what is left, k times.

    Privacy. For scores that one person moves by at most D each, with weights exp(e score / (2 D)), or exp(e score / D)
        if the scores are monotone: epsilon-DP for e = epsilon / k, and (k e^2 / 8)-zCDP, so that `rho=` gives e =
        sqrt(8 rho / k), rounded down to a float in both cases, so that the rounded sum of k prices is not above the
        guarantee. The price is that of k releases of bounded range e.
        Proof: given the choices before it, each choice is `Exponential` at e on the candidates left, which are the same
        on both tables; adaptive composition of k releases of bounded range e. The choices are made in one race: times
        E_i / w_i with independent standard exponential E_i, the k least in their order. The first is i with probability
        w_i / sum of w, independently of its time; by memorylessness the others' remaining times are again independent
        exponential variables with the same rates, so the second is j with probability w_j / (sum of w - w_i), and so
        on.
    Accuracy. With probability at least `confidence`, for every j the j-th chosen score is above the j-th largest score
        minus `error`: ln((k n - k (k + 1) / 2) / (1 - confidence)) over the slope e / (2 D) (or e / D).
        Proof: before the j-th choice one of the j largest scores is left. Of the n - j + 1 candidates left, each of the
        at most n - j with a score below by t or more is chosen with probability at most e^(-slope t). Add up over j.
    Cost. One 64-bit word and two logarithms a candidate, one pass, memory for k: candidates may come from a generator.
    Reference. McSherry, Talwar 2007; Durfee, Rogers 2019 for the one pass; Dong, Durfee, Rogers 2020 for its price.

    >>> top = Top(k=2, epsilon=1, sensitivity=1, monotone=True)
    >>> top([0, 2000, 0, 1000])
    (1, 3)
    >>> top.choose(["bus", "bicycle", "tram"], score=lambda name: 1000 * len(name))
    ['bicycle', 'tram']
    >>> float(Top(k=2, rho=0.25, sensitivity=1).slope)  # half of sqrt(8 * 0.25 / 2)
    0.5
    """

    def __init__(
        self,
        *,
        k: int | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        monotone: bool = False,
    ) -> None:
        if k is None:
            raise MissingParameter("k= is the number of candidates to choose", parameter="k")
        self.places = whole(k, name="k")
        super().__init__(sensitivity, monotone)
        given = one_of(epsilon=epsilon, rho=rho)
        exact = written(positive(printed(epsilon if given == "epsilon" else rho), name=given))
        self._price = f"{given}={float(exact):.6g}"
        part = _largest_part(exact, self.places, name=given)
        if given == "epsilon":
            self._share = Fraction(part)
            self._guarantee: Guarantee = PureDP(written_up(exact), relation=self.relation)
        else:
            # what its square over 8 is rounded up to is still within the part
            self._share = Fraction(downward(lambda: number(8 * Fraction(part)).sqrt()))
            self._guarantee = ZCDP(written_up(exact), relation=self.relation)
        warn_if_senseless(self._guarantee, people=None)

    @property
    def _each(self) -> Fraction:
        """The epsilon of one choice."""
        return self._share

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy if epsilon was given, zero-concentrated if rho was."""
        return self._guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of k releases of bounded range."""
        return bounded_range_loss(self._share, relation=self.relation) * self.places

    def __call__(self, value: Any) -> tuple[int, ...]:
        """Return the positions of the chosen scores, the first choice first."""
        return self._positions(self._enough(value))

    def choose(self, candidates: Iterable[Candidate], *, score: Callable[[Candidate], Any]) -> list[Candidate]:
        """Return k candidates, looking at each once and keeping only the best so far."""
        chosen = self._winners(candidates, score)
        if len(chosen) < self.places:
            raise InputError(_TOO_FEW)
        return chosen

    def law(self, value: Any) -> Peeling:
        """Return the law of the chosen positions in their order."""
        return Peeling(self._enough(value), self.slope, self.places)

    def error(self, confidence: float | Fraction, *, candidates: int) -> float:
        """Return how far the j-th chosen score is below the j-th largest at most, for all j together."""
        exact = check_accuracy(confidence, candidates=candidates, best=self.places)
        behind = self.places * int(candidates) - math.comb(self.places + 1, 2)
        if behind == 0:
            return 0.0
        odds = behind / (1 - exact)
        return max(upward(lambda: number(odds).log() / number(self.slope)), 0.0)

    def _race(self) -> Race:
        """Return a race with k places."""
        return Race(self.slope, self.places)

    def _enough(self, value: Any) -> Any:
        """Return scores, refusing fewer than there are places: how many there are is public."""
        scores = as_scores(value)
        if scores.size < self.places:
            raise InputError(_TOO_FEW)
        return scores

    def _larger(self, far: int) -> tuple[tuple[int, int], ...]:
        """Return larger cases that are small enough for the law."""
        return (3, 0), (3, far)

    def __repr__(self) -> str:
        return (
            f"Top(k={self.places}, {self._price}, sensitivity={self.sensitivity.value}, monotone={self.monotone}, "
            f"relation={self.relation.name})"
        )


def _largest_part(price: Fraction, places: int, *, name: str) -> float:
    """Return the largest float that k times is within the price: what one choice may be charged."""
    part = round_down(price / places)
    if part == 0.0:
        raise ParameterError(f"{name} / k is below every float: state a larger {name}= or a smaller k", parameter=name)
    return part


_TOO_FEW = "there are fewer candidates than places: pass at least k of them, or ask for a smaller k"
