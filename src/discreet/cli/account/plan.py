"""Plans of releases as the command line states them: which options make which record, and the least noise that does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from discreet.display import LastDigit, format_number
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.privacy import Relation, ReleaseRecord, Sampler, calibrate
from discreet.privacy.records import ReleaseKind

UNNAMED = "person"
_RELATIONS = {"add-remove": Relation.ADD_REMOVE, "change-one": Relation.CHANGE_ONE}


@dataclass(frozen=True)
class Family:
    """A kind of release, the options that state it, and the one by which the noise is chosen.

    `options` map the words of the command line to the names of the record; `noise` grows with privacy (a scale), or
    falls with it (an epsilon) where `inverse`.
    """

    kind: ReleaseKind
    words: str
    noise: str
    options: Mapping[str, str]
    inverse: bool = False
    defaults: Mapping[str, int] | None = None

    @property
    def asks_by_epsilon(self) -> bool:
        """Whether --epsilon is free to ask for delta; else it states the release."""
        return "epsilon" not in self.options


def _noise(kind: ReleaseKind, words: str) -> Family:
    """Return a family of additive noise: a scale, for a sensitivity that everybody takes as 1."""
    options = {"scale": "scale", "sensitivity": "sensitivity"}
    return Family(kind, words, "scale", options, defaults={"sensitivity": 1})


def _price(kind: ReleaseKind, words: str, noise: str = "epsilon") -> Family:
    """Return a family of releases by the number that falls with privacy."""
    return Family(kind, words, noise, {noise: noise}, inverse=True)


FAMILIES: Mapping[str, Family] = {
    "gaussian": _noise(ReleaseKind.GAUSSIAN, "Gaussian noise"),
    "laplace": _noise(ReleaseKind.LAPLACE, "Laplace noise"),
    "discrete-gaussian": _noise(ReleaseKind.DISCRETE_GAUSSIAN, "integer Gaussian noise"),
    "discrete-laplace": _noise(ReleaseKind.DISCRETE_LAPLACE, "integer Laplace noise"),
    "randomized-response": Family(
        ReleaseKind.RANDOMIZED_RESPONSE, "randomized response", "epsilon",
        {"epsilon": "epsilon", "categories": "categories"}, inverse=True, defaults={"categories": 2},
    ),
    "exponential": _price(ReleaseKind.BOUNDED_RANGE, "a choice by the exponential mechanism"),
    "above-threshold": _price(ReleaseKind.ABOVE_THRESHOLD, "a watch by AboveThreshold"),
    "pure": _price(ReleaseKind.PURE, "a release that is epsilon-differentially private"),
    "approx": Family(
        ReleaseKind.APPROX, "a release that is (epsilon, delta)-differentially private", "epsilon",
        {"epsilon": "epsilon", "each-delta": "delta"}, inverse=True,
    ),
    "zcdp": Family(
        ReleaseKind.ZCDP, "a release that is rho-zCDP", "rho",
        {"rho": "rho", "each-delta": "delta"}, inverse=True, defaults={"each-delta": 0},
    ),
    "renyi": Family(
        ReleaseKind.RENYI, "a release with a Renyi guarantee of one order", "epsilon",
        {"alpha": "alpha", "epsilon": "epsilon"}, inverse=True,
    ),
    "gdp": _price(ReleaseKind.GAUSSIAN_DP, "a release that is mu-Gaussian private", "mu"),
}  # fmt: skip


@dataclass(frozen=True)
class SampledRows:
    """Which rows each release is run on, and for which neighbors the price is asked."""

    sampler: Sampler = Sampler.EVERYONE
    rate: Number | None = None
    relation: Relation = Relation.UNSTATED


def sampling(rate: Number | None, sampler: str | None, relation: str | None) -> SampledRows:
    """Return the sampling that the options state; a rate alone means Poisson, and each sampler implies its relation."""
    stated = None if relation is None else _RELATIONS[relation]
    if rate is None:
        if sampler is not None:
            raise MissingParameter(f"a {sampler} sample needs its rate, for example --rate 0.01", parameter="rate")
        return SampledRows(relation=stated or Relation.UNSTATED)
    how = Sampler.named((sampler or "poisson").replace("-", " "))
    needed = Relation.CHANGE_ONE if how is Sampler.FIXED_SIZE else Relation.ADD_REMOVE
    if stated not in (None, needed):
        raise ConflictingParameters(
            "Poisson sampling is priced for --relation add-remove, samples of a fixed size for --relation change-one: "
            "write --rate with --sampler poisson --relation add-remove, or with --fixed-size --relation change-one",
            parameter="relation",
        )
    return SampledRows(how, rate, needed)


@dataclass(frozen=True)
class ReleasePlan:
    """Some releases of one family with the same parameters, in the words of the command line; the unit may be open."""

    family: Family
    stated: Mapping[str, Number]
    rows: SampledRows
    count: int
    unit: str | None

    def record(self) -> ReleaseRecord:
        """Return the record of the plan."""
        for name in self.family.options:
            if name not in self.stated:
                raise MissingParameter(f"--{name} is missing: it is never guessed", parameter=name)
        named = {self.family.options[name]: value for name, value in self.stated.items()}
        try:
            return self._recorded(named)
        except ParameterError as problem:
            words = {**{inner: word for word, inner in self.family.options.items()}, "count": "steps", "rate": "rate"}
            option = words.get(problem.parameter or "")
            raise ParameterError(f"--{option}: {problem}" if option else str(problem)) from None

    def _recorded(self, named: Mapping[str, Number]) -> ReleaseRecord:
        return ReleaseRecord.of(
            self.family.kind, relation=self.rows.relation, unit=UNNAMED if self.unit is None else self.unit,
            sampler=self.rows.sampler, rate=self.rows.rate, count=self.count, **named,
        )  # fmt: skip

    def calibrated(self, epsilon: Number, delta: Number) -> ReleasePlan:
        """Return the plan with the least noise that is certified to meet a target."""
        if self.family.noise in self.stated:
            raise ConflictingParameters(
                f"--calibrate finds the {self.family.noise}: leave --{self.family.noise} out, or leave --calibrate out",
                parameter=self.family.noise,
            )
        found = calibrate(lambda noise: self._with(noise).record().loss, epsilon=epsilon, delta=delta)
        return self._with(float(found))

    @property
    def noise(self) -> str:
        """The option that states the noise, as one may write it: rounded to the safe side."""
        rounding = LastDigit.DOWN if self.family.inverse else LastDigit.UP
        value = format_number(self.stated[self.family.noise], digits=9, rounding=rounding).replace(",", "")
        return f"--{self.family.noise} {value}"

    def _with(self, noise: float) -> ReleasePlan:
        value = 1 / noise if self.family.inverse else noise
        return replace(self, stated={**self.stated, self.family.noise: value})
