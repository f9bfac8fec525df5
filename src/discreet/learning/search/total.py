"""The price of a whole search as it was stated, and what it leaves for one run, its fit and its score."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.display import format_number
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.learning.exact import FitPrice
from discreet.learning.search.price import (
    largest_base_epsilon,
    largest_base_mu,
    pure_search_epsilon,
    search_epsilon,
)
from discreet.learning.search.runs import RunsLaw
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    Price,
    PureDP,
    Relation,
    largest_mu,
)
from discreet.privacy.adaptive import root_down
from discreet.privacy.guarantees import epsilon_of
from discreet.privacy.numbers import exactly, positive_price, written, written_up


@dataclass(frozen=True)
class SearchPrice:
    """What a search guarantees, what one run of it costs, and which part of that its score gets."""

    guarantee: PureDP | ApproxDP
    run: FitPrice
    share: Fraction
    law: RunsLaw

    @classmethod
    def read(
        cls,
        *,
        law: RunsLaw,
        epsilon: Number | None,
        delta: Number | None,
        base: Any,
        share: Number | None,
        relation: Any,
    ) -> SearchPrice:
        """Read a price: epsilon of the whole search, or `base`, that of one run; delta beside it unless it is pure."""
        if relation not in (Relation.ADD_REMOVE, Relation.CHANGE_ONE):
            raise MissingParameter(
                "relation must say who is a neighbor; got none, write relation=Relation.ADD_REMOVE (a person more or "
                "less) or relation=Relation.CHANGE_ONE (a person's row replaced)",
                parameter="relation",
            )
        part = Fraction(0) if share is None else positive_price(share, name="share")
        if part >= 1:
            raise ParameterError("share must be below 1; got more, write share=0.1", parameter="share")
        if (epsilon is None) == (base is None):
            raise ConflictingParameters(
                "the price must be given once; write epsilon= (and delta=) of the whole search, or base= of one run",
                parameter="epsilon",
            )
        chance = None if delta is None else _chance(delta)
        if base is None:
            stated, run = _of_total(positive_price(epsilon, name="epsilon"), chance, law, relation)
        else:
            stated, run = _of_run(base, chance, law, relation)
        return cls(stated, FitPrice(run, relation), part, law)

    @property
    def relation(self) -> Relation:
        """Who is a neighbor."""
        return self.run.relation

    def fit_words(self) -> dict[str, Number]:
        """Return the price of the fit of one run, without its score, as a keyword."""
        if self.run.mu is None:
            return {"epsilon": (1 - self.share) * (self.run.stated.epsilon or 0)}
        return {"mu": written(root_down((1 - self.share) * self.run.mu**2))}

    def under(self, budget: Guarantee) -> Guarantee:
        """Return what a ledger with a budget is charged: the guarantee of the whole search.

        A budget in rho or mu is charged through it, with its delta, for which the budget must have room.
        """
        pure = isinstance(self.guarantee, PureDP)
        if isinstance(budget, ApproxDP) or (pure and isinstance(budget, PureDP | ZCDP | GaussianDP)):
            return self.guarantee
        if isinstance(budget, ZCDP | GaussianDP) and budget.delta:
            return self.guarantee
        raise ParameterError(
            "the budget must have a delta, because the price of a search has one; got a budget without, write pure "
            "runs (epsilon= alone), or let the curator state another budget. Nothing was spent.",
            parameter="ledger",
        )

    def told(self) -> str:
        """Say what one run costs, score included."""
        if self.run.mu is None:
            return f"epsilon {format_number(float(self.run.stated.epsilon or 0))}"
        alone = epsilon_of(self._alone(1), Fraction(getattr(self.guarantee, "delta", 0)))
        return f"mu {format_number(float(self.run.mu))}, alone epsilon {format_number(alone)} at the same delta"

    def composed(self) -> float:
        """Return the epsilon of the expected number of runs if all were told, at the delta of the search."""
        if self.run.mu is None:
            return float(self.run.stated.epsilon or 0) * self.law.mean
        return epsilon_of(self._alone(self.law.mean), Fraction(getattr(self.guarantee, "delta", 0)))

    def factor(self) -> float:
        """Return how many times the noise of one fit at the whole price the fit of a run has."""
        total = written(self.guarantee.epsilon)
        (left,) = self.fit_words().values()
        if isinstance(self.guarantee, ApproxDP):
            total = largest_mu(total, written(self.guarantee.delta))
        return float(total) / float(left)

    def _alone(self, runs: float) -> GaussianDP:
        return GaussianDP(float(self.run.mu or 0) * runs**0.5)


def _of_total(
    epsilon: Fraction, delta: Fraction | None, law: RunsLaw, relation: Relation
) -> tuple[PureDP | ApproxDP, Price]:
    """Return the guarantee of a search, and the price that it leaves for a run."""
    if delta is None:
        return PureDP(exactly(epsilon), relation=relation), Price(epsilon=largest_base_epsilon(epsilon, law))
    guarantee = ApproxDP(exactly(epsilon), exactly(delta), relation=relation)
    return guarantee, Price(mu=largest_base_mu(epsilon, delta, law))


def _of_run(base: Any, delta: Fraction | None, law: RunsLaw, relation: Relation) -> tuple[PureDP | ApproxDP, Price]:
    """Return the guarantee that a search with runs of a given price has, and that price."""
    if isinstance(base, PureDP) and written(base.epsilon) > 0:
        if delta is not None:
            raise ConflictingParameters(
                "delta= must be left out where runs are pure; got base=PureDP(...) and delta=", parameter="delta"
            )
        epsilon = written(base.epsilon)
        total = written_up(Fraction(pure_search_epsilon(epsilon, law)))
        return PureDP(total, relation=relation), Price(epsilon=epsilon)
    if delta is None:
        raise MissingParameter(
            "delta must be given: the price of a search over Gaussian runs depends on it; write delta=1e-6",
            parameter="delta",
        )
    if isinstance(base, GaussianDP) and not base.delta and written(base.mu) > 0:
        mu = written(base.mu)
    elif isinstance(base, ApproxDP) and base.delta:
        mu = largest_mu(written(base.epsilon), written(base.delta))
    else:
        raise ParameterError(
            "base must be the price of one run; got another, write GaussianDP(0.2), ApproxDP(1, 1e-6) or PureDP(1)",
            parameter="base",
        )
    total = written_up(Fraction(search_epsilon(mu, law, delta)))
    return ApproxDP(total, exactly(delta), relation=relation), Price(mu=mu)


def _chance(delta: Number) -> Fraction:
    chance = positive_price(delta, name="delta")
    if chance >= 1:
        raise ParameterError("delta must be a small probability; got 1 or more, write 1e-6", parameter="delta")
    return chance
