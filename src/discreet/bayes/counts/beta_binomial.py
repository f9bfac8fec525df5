"""Shares of yes: a Beta prior of each group's share, people who say yes or no, noisy counts of them and of totals."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Draws, Parameter, Posterior, Values, positive
from discreet.bayes.counts.groups import YesNo, groups_of
from discreet.bayes.counts.model import CountModel, groups_shown, method
from discreet.bayes.counts.people import People, stated_by_group, stated_people
from discreet.bayes.counts.yes_and_no import SolvedGroups
from discreet.bayes.evidence import LatentCounts
from discreet.errors import InputError, ParameterError, SenselessParameter
from discreet.privacy import Target
from discreet.statistics.measurement import Measurement

_BY_PRIOR = (
    "the number of people is unknown and only a count of yes was released: the posterior of the share is driven by the "
    "prior, ask COUNT(*) too or state people="
)


@dataclass(frozen=True)
class BetaBinomial(CountModel):
    """A share of yes for each group from one Beta prior, and people who each say yes with that chance, independently.

    Released are noisy counts of yes, of no, of both together, or of several of these. Groups are independent a priori:
    an A/B test is two groups. `share` describes the population, `count` how many of these people said yes.

    Accuracy. Exact: the error of the sums, in `method`, is bounded by the theorem of `windows`, and by that of `sums`
        where the number of people is unknown.
        Proof: with the share integrated out P(T | n) = c(T, a) c(n - T, b) / c(n, a + b), c(t, a) = Gamma(t + a) /
        (Gamma(a) t!), so the posterior of T is a list of products; given T the share is Beta(a + T, b + n - T), so its
        law is a mixture of those. Unknown n, flat prior: where yes and no, or yes and a total, were released the sum
        over both counts is finite. Where yes alone was, sum over n of P(T | n) = E[1 / share] = (a + b - 1) / (a - 1)
        for a > 1, whatever T is, and infinite for a <= 1. So for a <= 1 there is no posterior; for a > 1 the share has
        the law Beta(a - 1, b), whatever was released: that is the prior speaking, and a warning says so.
    Cost. A group with public n: 0.2 ms, and 1 ms for both ends of an interval. Unknown n: 2 ms; exact marginals of the
        share up to some 10^5 pairs of counts in a group, 10^7 in all groups; draws beyond. With 10^5 pairs, as noise of
        scale 10 leaves, an interval takes some .3 s a group, and planning that many times as long as it has releases.
    Reference. Skellam 1948.

    Args:
        a: of the Beta prior; worth as many people who say yes.
        b: of the Beta prior; worth as many people who say no.
        people: the public number of people in the group; a mapping from each group to it; a prior, such as
            PoissonPeople(1000); or None where it is unknown.
        success: the name of a key of the answer, and the value of it that is a yes. Left out where every released count
            is one of yes.
        one_row_a_person: states that nobody has two rows, where the policy does not say so.
        exhaustive: states that every row is in a listed group, where a total was released too.

    >>> BetaBinomial(1, 1, people={"a": 500, "b": 510}).people["b"]
    510
    """

    a: float
    b: float
    people: People | Mapping[Any, People] = None
    success: tuple[str, Any] | None = None
    one_row_a_person: bool = False
    exhaustive: bool = False

    def __post_init__(self) -> None:
        positive(self.a, "a")
        positive(self.b, "b")
        stated = stated_by_group(self.people, "people")
        for value in stated.values() if stated else [self.people]:
            stated_people(value)

    def posterior_of(
        self, latent: LatentCounts, *, generator: np.random.Generator, measurements: Sequence[Measurement] = ()
    ) -> Posterior:
        """Return the exact posterior of shares, counts of yes and, where they are unknown, numbers of people."""
        groups = groups_of(latent, self.success, self.people)
        self._require_proper(groups)
        solved = SolvedGroups.of(latent, groups, float(self.a), float(self.b))
        keys = tuple(group.key for group in groups)

        def drawn(chains: int, draws: int) -> Draws:
            found = solved.drawn(chains * draws, generator)
            return {
                name: groups_shown(values.reshape(chains, draws, -1), keys)
                for name, values in found.items()
                if name != "people" or _unknown(groups)
            }

        return Posterior(
            model=self,
            measurements=tuple(measurements),
            parameters=_parameters(groups, _names(latent, self.success)),
            drawn=drawn,
            method=method(solved.error),
            exact=solved.marginals(),
            log_evidence=solved.log_evidence,
            notes=latent.notes + ((_BY_PRIOR,) if any(_yes_alone(group) for group in groups) else ()),
        )

    def _require_proper(self, groups: Sequence[YesNo]) -> None:
        """Refuse a flat number of people where only yes was released, unless the prior makes up for it: then warn."""
        for group in groups:
            if _yes_alone(group):
                if self.a <= 1:
                    raise InputError(
                        "the number of people must be known somehow: every number is as likely as any other, and "
                        "only one count was released; ask COUNT(*) too, state people=, or give a proper prior, "
                        "people=NegativeBinomialPeople(mean=1000, dispersion=1)"
                    )
                warnings.warn(_BY_PRIOR, SenselessParameter, stacklevel=5)

    def drawn_prior(self, latent: LatentCounts, generator: np.random.Generator) -> Values:
        """Draw shares, numbers of people, and counts of yes."""
        groups = groups_of(latent, self.success, self.people)
        shares = generator.beta(self.a, self.b, size=len(groups))
        people = np.array([_drawn_people(group.people, generator) for group in groups])
        values = {"share": shares, "count": generator.binomial(people, shares), "people": people}
        keys = tuple(group.key for group in groups)
        return {name: groups_shown(values[name], keys) for name in values if name != "people" or _unknown(groups)}

    def drawn_cells(self, latent: LatentCounts, values: Values, generator: np.random.Generator) -> list[int]:
        """Return yes and no of every group, drawn from the shares where the counts are not given."""
        groups = groups_of(latent, self.success, self.people)
        people: list[int] = [int(one) for one in _stated(groups, values)]
        count = values.get("count")
        yes: NDArray[Any] = generator.binomial(people, np.ravel(values["share"])) if count is None else np.ravel(count)
        cells = [0] * len(latent.cells)
        for group, own, all_of_them in zip(groups, yes, people, strict=True):
            cells[group.yes] = int(own)
            if group.no is not None:
                cells[group.no] = all_of_them - int(own)
        return cells


def _unknown(groups: Sequence[YesNo]) -> bool:
    """Say whether any number of people is unknown."""
    return any(not isinstance(group.people, int) for group in groups)


def _yes_alone(group: YesNo) -> bool:
    """Say whether nothing bounds the number of people of a group."""
    return group.people is None and group.no is None


def _drawn_people(people: People, generator: np.random.Generator) -> int:
    """Return a public number of people, or draw it."""
    if isinstance(people, int):
        return people
    if people is None:
        raise ParameterError(
            "people must be stated, or have a proper prior, where people are drawn; got none, write people=1000 or "
            "people=NegativeBinomialPeople(mean=1000, dispersion=1)",
            parameter="people",
        )
    return people.draw(generator)


def _stated(groups: Sequence[YesNo], values: Values) -> NDArray[Any]:
    """Return the number of people of every group, stated or in the values."""
    if "people" in values:
        return np.ravel(values["people"])
    return np.array([group.people for group in groups])


def _names(latent: LatentCounts, success: tuple[str, Any] | None) -> tuple[str, ...]:
    """Return the names of the keys that groups are told apart by."""
    return latent.key_names if success is None else tuple(one for one in latent.key_names if one != success[0])


def _parameters(groups: Sequence[YesNo], names: tuple[str, ...]) -> tuple[Parameter, ...]:
    """Return what the posterior is about."""
    keys = tuple(group.key for group in groups)
    keys = keys if keys != ((),) else ()
    found = (
        Parameter("share", "share of yes in the population", Target.POPULATION, keys, names),
        Parameter("count", "number of people who said yes", Target.TABLE, keys, names),
        Parameter("people", "number of people", Target.TABLE, keys, names),
    )
    return found if _unknown(groups) else found[:2]
