"""What a posterior interval would be worth: its expected width at a price, and the cheapest price for a width."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.bayes.base import Model, stated_seed
from discreet.bayes.planning.plans import WORDS, plans_at, simulated, stated_runs
from discreet.display import Progress, format_number, listener
from discreet.errors import NotConverged, ParameterError, SenselessParameter
from discreet.statistics.pricing import stated_confidence

_LEAST, _LARGEST = 2.0**-12, 2.0**10
_STEP = 1.03


@dataclass(frozen=True, slots=True)
class ExpectedWidth:
    """How wide the posterior intervals of a parameter are on the average, over releases that a model makes.

    `error` is the standard error of `value` over `reps` simulated releases; `failed` of them failed their diagnostics
    and are in no average.

    >>> print(ExpectedWidth("share", 0.081, 0.002, 0.95, 200, 0))
    share: 95 % interval 0.081 wide on the average (standard error 0.002, 200 releases)
    """

    parameter: str
    value: float
    error: float
    confidence: float
    reps: int
    failed: int

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        lost = f", {self.failed:,} failed" if self.failed else ""
        return (
            f"{self.parameter}: {100 * self.confidence:.6g} % interval {format_number(self.value)} wide on the average "
            f"(standard error {format_number(self.error, digits=2)}, {self.reps:,} releases{lost})"
        )

    def to_dict(self) -> dict[str, float | str | int]:
        """Return the numbers by name."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class CheapestPrice:
    """The least price at which posterior intervals are on the average no wider than wanted.

    It is known to 3 %, and to the error of the simulated width.

    >>> width = ExpectedWidth("share", 0.0995, 0.001, 0.95, 200, 0)
    >>> print(CheapestPrice("epsilon", 0.25, width))
    epsilon 0.25: share: 95 % interval 0.0995 wide on the average (standard error 0.001,
        200 releases)
    """

    word: str
    value: float
    width: ExpectedWidth

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.word} {format_number(self.value)}: {self.width}"


def expected_width(
    model: Model,
    plan: Any,
    *,
    name: str | None = None,
    confidence: float = 0.95,
    reps: int = 200,
    seed: int | None = None,
    progress: Progress | None = None,
    epsilon: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    delta: float | None = None,
) -> ExpectedWidth:
    """Return how wide a parameter's interval would be on the average, before anything is paid. No data is read.

    Args:
        model: the model, with a proper prior.
        plan: what will be measured, or a function of a price that returns it (see `calibration`).
        name: the parameter, the first by default; over groups, the mean of their widths.
        confidence: of the intervals.
        reps: how many releases are simulated.
        seed: for parameters and people; the noise comes from its own law, without a seed.
        progress: called with the runs done and the runs in all.
        epsilon: the price, where `plan` is a function of it; or `rho`, or `mu`.
        rho: see `epsilon`.
        mu: see `epsilon`.
        delta: beside `epsilon`.

    Privacy. Costs nothing: neither data nor a session's ledger is reached.
        Proof: everything is drawn from the model and from the laws of noise, which are public.
    Accuracy. The mean over simulated releases, with its standard error.

    >>> from discreet.bayes.counts import BetaBinomial
    >>> from discreet.bayes.planning import counts_plan
    >>> from discreet.privacy import Relation
    >>> asked = counts_plan(relation=Relation.ADD_REMOVE)
    >>> found = expected_width(
    ...     BetaBinomial(1, 1, people=50), asked, epsilon=0.5, reps=50
    ... )
    >>> bool(0.15 < found.value < 0.4)
    True
    """
    plans = plans_at(plan, {"epsilon": epsilon, "delta": delta, "rho": rho, "mu": mu})
    runs, held, seed = stated_runs(reps), stated_confidence(confidence), stated_seed(seed)
    widths: list[float] = []
    found = ""
    for _, posterior in simulated(model, plans, runs, seed, listener(progress)):
        if posterior is not None:
            found = posterior.parameter(name).name
            ends = [law.ends(held) for law in posterior.marginals(found)]
            widths.append(sum(high - low for low, high in ends) / len(ends))
    if len(widths) < runs / 2:
        raise NotConverged(
            f"{runs - len(widths):,} of {runs:,} simulated runs failed their diagnostics; write a narrower prior, or "
            "plan a higher price"
        )
    error = float(np.std(widths, ddof=1)) / math.sqrt(len(widths))
    return ExpectedWidth(found, float(np.mean(widths)), error, held, runs, runs - len(widths))


def cheapest_price(
    model: Model,
    plan: Any,
    *,
    width: float,
    word: str = "epsilon",
    name: str | None = None,
    confidence: float = 0.95,
    reps: int = 200,
    seed: int | None = None,
    progress: Progress | None = None,
) -> CheapestPrice:
    """Return the cheapest price at which intervals are on the average no wider than wanted. No data is read.

    The price is found by bisection on its logarithm, to 3 %. Every price sees the same simulated people, and noise of
    its own, so that the answer carries the standard error that its width has.

    Args:
        model: the model, with a proper prior.
        plan: a function of a price that returns what will be measured, such as `counts_plan([...])` or
            `lambda **price: session.explain(sql, **price)`.
        width: how wide the interval may be on the average, high minus low.
        word: the notion of the price: epsilon, rho or mu.
        name: the parameter, the first by default.
        confidence: of the intervals.
        reps: how many releases are simulated at each price.
        seed: for parameters and people.
        progress: called with the prices tried, and None: how many there will be is not known.

    Privacy. Costs nothing: neither data nor a session's ledger is reached.
        Proof: everything is drawn from the model and from the laws of noise, which are public.

    >>> from discreet.bayes.counts import BetaBinomial
    >>> from discreet.bayes.planning import counts_plan
    >>> from discreet.privacy import Relation
    >>> asked = counts_plan(relation=Relation.ADD_REMOVE)
    >>> found = cheapest_price(BetaBinomial(1, 1, people=50), asked, width=0.3, reps=50)
    >>> bool(found.width.value <= 0.3)
    True
    """
    if not isinstance(word, str) or word not in WORDS:
        raise ParameterError(
            'word must be "epsilon", "rho" or "mu"; got another, write word="epsilon"', parameter="word"
        )
    if isinstance(width, bool) or not isinstance(width, int | float) or not 0 < width < math.inf:
        raise ParameterError("width must be a positive number; got another, write width=0.1", parameter="width")
    told, tried = listener(progress), 0
    options: dict[str, Any] = {"name": name, "confidence": confidence, "reps": reps, "seed": _kept(seed)}

    def at(amount: float) -> ExpectedWidth:
        nonlocal tried
        with warnings.catch_warnings():  # prices that protect nobody are tried too, and told with the result if chosen
            warnings.simplefilter("ignore", SenselessParameter)
            found = expected_width(model, plan, **options | {word: amount})
        tried += 1
        told(tried, None)
        return found

    low, high, found = _bracketed(at, width)
    while high / low > _STEP:
        middle = math.sqrt(low * high)
        made = at(middle)
        if made.value <= width:
            high, found = middle, made
        else:
            low = middle
    return CheapestPrice(word, high, found)


def _kept(seed: int | None) -> int:
    """Return the seed, or one from the operating system that all prices share."""
    return int(np.random.default_rng().integers(1 << 62)) if seed is None else int(stated_seed(seed) or 0)


def _bracketed(at: Callable[[float], ExpectedWidth], width: float) -> tuple[float, float, ExpectedWidth]:
    """Return a price that is too low and one that suffices, a factor of two apart, with the width that it gave.

    The width of a second simulation would be another one, and might be too wide.
    """
    amount = 1.0
    found = at(amount)
    if found.value <= width:
        while amount > _LEAST and (made := at(amount / 2)).value <= width:
            amount, found = amount / 2, made
        if amount <= _LEAST:
            raise ParameterError(
                "width must be smaller than what the prior alone allows; got one that it keeps without any answer, "
                "write a smaller width",
                parameter="width",
            )
        return amount / 2, amount, found
    while amount < _LARGEST:
        amount *= 2
        found = at(amount)
        if found.value <= width:
            return amount / 2, amount, found
    raise ParameterError(
        "width must be one that some price reaches; got one below what the number of people alone leaves open, write a "
        "larger width, or ask about more people",
        parameter="width",
    )
