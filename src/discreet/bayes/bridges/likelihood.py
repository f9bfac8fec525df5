"""The likelihood of a release as tables, for probabilistic languages: data, not code that guesses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import stated_flag
from discreet.bayes.evidence import distinct_measurements
from discreet.display import as_stated
from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.statistics.measurement import KEYS, Counts, Group, Measurement

_LEFT_OUT = 2.0**-50
_LONGEST = 1 << 20
_WHOLE = 1 << 12


@dataclass(frozen=True, eq=False)
class LikelihoodTable:
    """ln P(noise = released - weight t) for the counts t = start, start + 1, ... of every group.

    `log_likelihood` is (groups, counts), rectangular: every group has as many counts. A count model in any language
    adds ln of the sum over t of exp(log_likelihood) P(count = t | parameters).

    Accuracy. The entries have the law's own digits, about 14. With `people` of at most 4,095 all counts from 0 to
        `people` are there and nothing is left out. Else noise that far from 0 has a probability below 2^-50: that is
        small beside the rest unless the parameters make the released integer itself as improbable.

    >>> from discreet.bayes.evidence import noisy_counts
    >>> from discreet.laws import DiscreteLaplace
    >>> smokers = noisy_counts(
    ...     {"north": 3, "south": 1}, noise=DiscreteLaplace(2), key="region"
    ... )
    >>> (table,) = likelihood_tables(smokers, people=4)
    >>> table.start, table.log_likelihood.shape
    ((0, 0), (2, 5))
    >>> table.to_stan()["released"]
    [3, 1]
    """

    name: str
    key_names: tuple[str, ...]
    groups: tuple[Group, ...]
    released: tuple[int, ...]
    weight: int
    start: tuple[int, ...]
    log_likelihood: NDArray[np.float64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """The counts that the table is about: (groups, counts)."""
        return np.array(self.start)[:, np.newaxis] + np.arange(self.log_likelihood.shape[1])

    def to_stan(self) -> dict[str, Any]:
        """Return the data block of a program in Stan, as plain values that json.dumps takes; released is in counts."""
        return {
            "groups": len(self.groups),
            "counts": self.log_likelihood.shape[1],
            "released": [value if self.weight == 1 else value / self.weight for value in self.released],
            "start": list(self.start),
            "log_likelihood": self.log_likelihood.tolist(),
        }


def likelihood_tables(
    released: Any, *, people: int | None = None, one_row_a_person: bool = False
) -> tuple[LikelihoodTable, ...]:
    """Return the tables of a release of counts, one for every measurement.

    Several measurements of equal groups share their counts: add their tables over common counts, never their
    likelihoods of the parameters.

    Args:
        released: an answer, a measurement, or a list of them about the same people.
        people: the public number of people in each group, beyond which no count is possible.
        one_row_a_person: states that nobody has two rows, where the policy does not say so.

    Privacy. Costs nothing: only what was released is read.
        Proof: post-processing.

    >>> from discreet.bayes.evidence import noisy_counts
    >>> from discreet.laws import DiscreteLaplace
    >>> (table,) = likelihood_tables(noisy_counts(412, noise=DiscreteLaplace(2)))
    >>> table.start, table.log_likelihood.shape
    ((342,), (1, 141))
    """
    most = None if people is None else _whole_people(people)
    once = stated_flag(one_row_a_person, "one_row_a_person")
    return tuple(_table(one, most, once=once) for one in distinct_measurements(released))


def noise_terms(released: Any) -> tuple[Mapping[str, Any], ...]:
    """Return what a language needs to weigh sums that are no counts: integers, and the kind and scale of their noise.

    The sums themselves are taken as continuous there: ln of the likelihood of a sum s is -|z - s| / scale for Laplace
    noise and -(z - s)^2 / (2 scale^2) for Gaussian noise, up to a constant.

    >>> from discreet.bayes.evidence import noisy_counts
    >>> from discreet.laws import DiscreteGaussian
    >>> (term,) = noise_terms(noisy_counts(41, noise=DiscreteGaussian(3)))
    >>> term["noise"], term["scale"], term["released"]
    ('gaussian', 3.0, [[41]])
    """
    return tuple(
        {
            "name": one.plan.name,
            "groups": [list(group) for group in one.plan.keys],
            "released": [list(entry) for entry in one.released],
            "noise": _kind(one),
            "scale": float(one.plan.noise.scale),
        }
        for one in distinct_measurements(released)
    )


def _table(one: Measurement, people: int | None, *, once: bool) -> LikelihoodTable:
    """Return the table of one measurement of counts."""
    counted = one.plan.adds_up
    if not isinstance(counted, Counts):
        raise ParameterError(
            f"released must be counts; got sums of values in {one.plan.name!r}, write noise_terms(...) for those",
            parameter="released",
        )
    if not counted.once and not (once and counted.counted != KEYS):
        raise ParameterError(
            f"released must count people once; got weighted counts, which are not binomial: {counted.why}. Ask "
            "COUNT(DISTINCT ...) of the unit with groups = 1, or state one_row_a_person=True if you know that nobody "
            "has two rows",
            parameter="released",
        )
    weight, integers = counted.weight, one.released[0]
    reach = -(-one.plan.noise.half_width(1 - _LEFT_OUT) // weight) + 1
    length = 2 * reach + 1
    if people is not None and (people < _WHOLE or length > people):
        length, starts = people + 1, [0] * len(integers)
    else:
        starts = [max(value // weight - reach, 0) for value in integers]
        starts = starts if people is None else [min(start, people + 1 - length) for start in starts]
    if length * len(integers) > _LONGEST:
        raise ParameterError(
            f"the tables must have at most {_LONGEST:,} entries; got noise so wide that there are "
            f"{length * len(integers):,}, ask with more privacy budget, or give fewer groups",
            parameter="released",
        )
    steps = range(length)
    places = [[z - weight * (start + step) for step in steps] for z, start in zip(integers, starts, strict=True)]
    logs = np.array([np.asarray(one.plan.noise.log_pmf(row), dtype=np.float64) for row in places])
    plan = one.plan
    return LikelihoodTable(plan.name, plan.key_names, plan.keys, integers, weight, tuple(starts), logs)


def _kind(one: Measurement) -> str:
    """Return the word for a law of noise."""
    noise = one.plan.noise
    if isinstance(noise, DiscreteLaplace):
        return "laplace"
    if isinstance(noise, DiscreteGaussian | RoundedGaussian):
        return "gaussian"
    raise ParameterError(
        f"the noise must be Laplace or Gaussian; got {type(noise).__name__}, ask with epsilon= or rho= alone",
        parameter="released",
    )


def _whole_people(people: Any) -> int:
    """Return a public number of people."""
    if isinstance(people, bool) or not isinstance(people, int | np.integer) or people < 0:
        raise ParameterError(
            f"people must be a whole number of at least 0; got {as_stated(people)}, write the public number of people",
            parameter="people",
        )
    return int(people)
