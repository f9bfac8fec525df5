"""A posterior: what is known about people and population after a release, as exact laws or as draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base.diagnostics import Diagnostics
from discreet.bayes.base.intervals import SHOWN, Label, Parameter, PosteriorInterval, shown_rows
from discreet.bayes.base.marginal import DrawnMarginal, Draws, Marginal, joint_rest
from discreet.bayes.base.probability import (
    FlatDraws,
    Probability,
    Statement,
    counted,
    stated_end,
    stated_flag,
    stated_seed,
)
from discreet.bayes.base.summary import summary_columns
from discreet.display import Table, definition_list, visible
from discreet.errors import DiscreetError, NotConverged, ParameterError
from discreet.frames import to_arrow, to_pandas, to_polars
from discreet.privacy import ApproxDP, Guarantee, PureDP, Target, basic_composition
from discreet.privacy.guarantees import with_notion
from discreet.statistics.measurement import Counts
from discreet.statistics.pricing import stated_confidence

if TYPE_CHECKING:
    from discreet.bayes.base.model import Model
    from discreet.bayes.base.release_check import ReleaseCheck
    from discreet.display.plots import Plot
    from discreet.statistics.measurement import Measurement

CHAINS, DRAWS = 4, 1000
_REPETITIONS, _LEAST_REPETITIONS, _MOST_REPEATED = 400, 40, 1 << 25
_LABELS = 12
_FREE = "nothing: it is computed from what was released and from public statements"
_REHEARSED = "these are made-up rows of the same schema: nothing was released, and nothing is known about people"


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is known after a release, at no further cost.

    Privacy. Costs nothing: everything is computed from what was released and from public statements. Seeds are allowed,
        because nothing private is drawn.
        Proof: a mechanism's guarantee holds for every function of what it released (Dwork, Roth 2014, proposition 2.1).
    Accuracy. Exact laws give exact numbers, and what is drawn says so with its Monte Carlo error. All of it holds under
        the model: `check` looks for what speaks against it.

    >>> from discreet.bayes import noisy_counts, posterior
    >>> from discreet.bayes.counts import BetaBinomial
    >>> from discreet.laws import DiscreteLaplace
    >>> smokers = noisy_counts(31, noise=DiscreteLaplace(2))
    >>> known = posterior(smokers, BetaBinomial(1, 1, people=100), seed=1)
    >>> print(known.interval("share"))
    share: 0.3124 [0.213, 0.4221] (95 %, population)
    >>> print(known.probability("share", above=0.25))
    0.8887 (exact)
    """

    model: Model = field(repr=False)
    measurements: tuple[Measurement, ...] = field(repr=False)
    parameters: tuple[Parameter, ...]
    drawn: Draws | Callable[[int, int], Draws] = field(repr=False)  # stored chains, or (chains, draws) -> fresh ones
    method: str  # in words, such as "exact to 1e-15" or "tempered sequential Monte Carlo, 4 runs"
    exact: Mapping[str, tuple[Marginal, ...]] = field(default_factory=dict, repr=False)  # one a group, or one
    log_evidence: float | None = (
        None  # ln of the probability of the release under the model, where it was computed, to within .3
    )
    k_hat: float | None = None  # of importance sampling
    notes: tuple[str, ...] = ()  # what the reader must know, such as answers that were left out

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", tuple(self._with_keys(one) for one in self.parameters))

    @property
    def independent(self) -> bool:
        """Whether the draws are independent draws from the exact posterior, so that no chain has to converge."""
        return callable(self.drawn)

    @cached_property
    def draws(self) -> Draws:
        """The draws by name, each an array (chains, draws, *groups); exact posteriors draw when first asked."""
        if not callable(self.drawn):
            return self.drawn
        with np.errstate(all="ignore"):  # what is not finite is refused where it is read
            return self.drawn(CHAINS, DRAWS)

    def parameter(self, name: str | None = None) -> Parameter:
        """Return a parameter by its name, or the first, which the model is about."""
        for one in self.parameters:
            if name is None or (isinstance(name, str) and one.name == name):
                return one
        names = ", ".join(one.name for one in self.parameters)
        raise ParameterError(f"name must be one of {names}; got another, write one of them", parameter="name")

    def __getitem__(self, name: Any) -> NDArray[Any]:
        return FlatDraws(self.draws, self.parameters)[name]

    def marginals(self, name: str | None = None) -> tuple[Marginal, ...]:
        """Return the laws of a parameter, one for each of its groups: exact where that is known, else of the draws."""
        parameter = self.parameter(name)
        if parameter.name not in self._marginals:
            own = self.exact.get(parameter.name)
            self._marginals[parameter.name] = own or tuple(map(DrawnMarginal, self._columns(parameter).T))
        return self._marginals[parameter.name]

    def mean(self, name: str | None = None) -> Any:
        """Return the posterior mean: a number, or an array over the groups."""
        return self.parameter(name).shaped([law.mean for law in self.marginals(name)])

    def deviation(self, name: str | None = None) -> Any:
        """Return the posterior standard deviation: a number, or an array over the groups."""
        return self.parameter(name).shaped([law.deviation for law in self.marginals(name)])

    def quantile(self, probability: float, name: str | None = None) -> Any:
        """Return the least value that the parameter exceeds with at most the rest of the probability."""
        return self.parameter(name).shaped([law.quantile(probability) for law in self.marginals(name)])

    def interval(
        self, name: str | None = None, confidence: float = 0.95, *, together: bool = False
    ) -> PosteriorInterval:
        """Return medians and equal-tailed intervals of a parameter, by default of the first.

        `together=True` widens the intervals of groups so that all hold at once with the confidence; how much that takes
        is counted in draws (see `joint_rest`), and is never more than by the union bound.
        """
        parameter, held = self.parameter(name), stated_confidence(confidence)
        laws = self.marginals(parameter.name)
        rest, together = 1.0 - held, stated_flag(together, "together")
        if together and len(laws) > 1:
            rest = joint_rest(self._columns(parameter), held)
        found = [(law.quantile(0.5), *law.ends(1.0 - rest)) for law in laws]
        values, lows, highs = zip(*((min(max(mid, low), high), low, high) for mid, low, high in found), strict=True)
        naive = self.naive(parameter.name)
        return PosteriorInterval(parameter, values, lows, highs, held, together, self.guarantee, naive)

    def probability(
        self,
        of: Statement | str,
        *,
        group: Any = None,
        above: float | None = None,
        below: float | None = None,
    ) -> Probability:
        """Return the posterior probability of a statement, with its Monte Carlo error.

        `of` is a function of the draws by name that returns True or False for each; or the name of a parameter, with
        `above` or `below` or both (and its `group`), whose probability is exact where the law of the parameter is.
        """
        if not isinstance(of, str):
            if not callable(of):
                raise ParameterError(
                    f"of must be the name of a parameter or a function of the draws; got {type(of).__name__}, write "
                    'for example probability("share", above=0.5)',
                    parameter="of",
                )
            if above is not None or below is not None or group is not None:
                raise ParameterError(
                    "above=, below= and group= must go with the name of a parameter; got them beside a function, write "
                    "the comparison inside the function",
                    parameter="of",
                )
            return counted(of, self.draws, self.parameters, independent=self.independent)
        parameter = self.parameter(of)
        if above is None and below is None:
            raise ParameterError(
                'above= or below= must be given with the name of a parameter; got neither, write probability("'
                f'{parameter.name}", above=0.5)',
                parameter="above",
            )
        if (group is None) == bool(parameter.groups):
            raise ParameterError(
                "group= must be given exactly where the parameter has groups; write the label of one, or leave it out",
                parameter="group",
            )
        place = parameter.place(group) if parameter.groups else 0
        low, high = stated_end(above, "above", -np.inf), stated_end(below, "below", np.inf)
        if of in self.exact:
            law = self.exact[of][place]
            upper, lower = (1.0 if below is None else law.below(high)), (0.0 if above is None else law.cdf(low))
            return Probability(max(0.0, upper - lower))
        return counted(
            lambda draws: (
                (draws[of].reshape(-1, max(len(parameter.groups), 1))[:, place] > low)
                & (draws[of].reshape(-1, max(len(parameter.groups), 1))[:, place] < high)
            ),
            self.draws,
            self.parameters,
            independent=self.independent,
        )

    def naive(self, name: str) -> tuple[float, ...] | None:
        """Return what was released as if it had no noise, where it is about the same numbers as the parameter."""
        parameter = self.parameter(name)
        told = self.model.naive(self.measurements)
        if name in told:
            return tuple(np.asarray(told[name], dtype=float).ravel().tolist())
        if parameter.target is not Target.TABLE:
            return None
        for one in self.measurements:
            if isinstance(one.plan.adds_up, Counts) and one.plan.keys == (parameter.groups or ((),)):
                return tuple(value / one.plan.adds_up.weight for value in one.released[0])
        return None

    @cached_property
    def diagnosed(self) -> dict[str, Diagnostics]:
        """The diagnostics of every parameter at its worst group; none for independent draws, which need none."""
        if self.independent:
            return {}
        return {one.name: Diagnostics.of(self.draws[one.name], self.k_hat) for one in self.parameters}

    def diagnostics(self) -> Table:
        """Return R-hat, effective draws in bulk and tails and k-hat of every parameter, at its worst group."""
        if self.independent:
            rows: list[list[object]] = [[one.name, *[None] * 4, "independent draws"] for one in self.parameters]
        else:
            rows = [
                [name, one.r_hat, one.bulk, one.tail, one.k_hat, one.complaint or "passed"]
                for name, one in self.diagnosed.items()
            ]
        columns = ["parameter", "R-hat", "draws in the bulk", "draws in the tails", "k-hat", "verdict"]
        return Table(columns, rows, f"Diagnostics: {self.method}")

    def require_convergence(self) -> Posterior:
        """Return the posterior itself; raise NotConverged where its draws failed their diagnostics."""
        failed = [f"{name}: {one.complaint}" for name, one in self.diagnosed.items() if not one.passed]
        if failed:
            raise NotConverged(
                f"draws from the posterior must pass their diagnostics; got {failed[0]} ({len(failed)} of "
                f"{len(self.parameters)} parameters failed), write a narrower prior, or more draws where the model "
                "takes their number"
            )
        return self

    def check(self, repetitions: int = _REPETITIONS, *, seed: int | None = None) -> ReleaseCheck:
        """Compare the release with repetitions of it: parameters, people and noise are drawn again, by the model.

        People are drawn anew from the parameters of the population; `Model.kept` names what is kept of the table.
        """
        from discreet.bayes.base.release_check import repeated_release

        most = max(_MOST_REPEATED // sum(len(entry) for one in self.measurements for entry in one.released), 1000)
        whole = isinstance(repetitions, int) and not isinstance(repetitions, bool)
        if not whole or not _LEAST_REPETITIONS <= repetitions <= most:
            raise ParameterError(
                f"repetitions must be a whole number of at least {_LEAST_REPETITIONS}, and at most {most:,} for so "
                f"many released integers; got another, write repetitions={_REPETITIONS}",
                parameter="repetitions",
            )
        return repeated_release(self, repetitions, np.random.default_rng(stated_seed(seed)))

    def plot(
        self, name: str | None = None, *, group: Any = None, confidence: float = 0.95, together: bool = False
    ) -> Plot:
        """Draw the intervals of all groups of a parameter; the law itself for a single number, or for one `group`."""
        parameter = self.parameter(name)
        found = self.interval(parameter.name, confidence, together=together)
        if parameter.groups and group is None:
            return found.plot()
        from discreet.bayes.base.density import density_plot

        place = parameter.place(group) if parameter.groups else 0
        return density_plot(self.marginals(parameter.name)[place], found[group] if parameter.groups else found)

    @property
    def releases(self) -> dict[Label, Guarantee | None]:
        """The releases that were read, each once, with their guarantees."""
        return {one.release: one.guarantee for one in self.measurements}

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee of all that was read, together; None where a release states none, or they do not add up."""
        stated = list(self.releases.values())
        kinds = {ApproxDP if isinstance(one, PureDP) else type(one) for one in stated}
        if None in stated or len(kinds) != 1:
            return None
        if len(stated) == 1:
            return stated[0]
        try:
            return basic_composition(one for one in stated if one is not None)
        except DiscreetError:  # of different neighbors, or of different orders
            return None

    @property
    def rehearsed(self) -> bool:
        """Whether it is about made-up rows."""
        return any(one.rehearsed for one in self.measurements)

    def facts(self) -> list[tuple[str, str]]:
        """Return what goes with the numbers: the model, how it was computed, what was charged, and what to know."""
        charged = [
            ("charged before", with_notion(one) if one is not None else "unknown: released by hand")
            for one in self.releases.values()
        ]
        left = len(charged) - _LABELS
        evidence = [] if self.log_evidence is None else [("log evidence", f"{self.log_evidence:.6g}")]
        return [
            *([("rehearsal", _REHEARSED)] if self.rehearsed else []),
            ("model", str(self.model)),
            ("method", self.method),
            ("cost of this posterior", _FREE),
            *([] if self.rehearsed else charged[:_LABELS]),
            *([("charged before", f"for {left:,} more releases")] if left > 0 and not self.rehearsed else []),
            *evidence,
            *(("note", one) for one in self.notes),
        ]

    def to_dict(self, confidence: float = 0.95) -> dict[str, list[Any]]:
        """Return columns by name, a row for every parameter and group: median, interval, mean, deviation."""
        return summary_columns(self.parameters, self.marginals, stated_confidence(confidence))

    def to_pandas(self, confidence: float = 0.95) -> Any:
        """Return a pandas frame."""
        return to_pandas(self.to_dict(confidence))

    def to_polars(self, confidence: float = 0.95) -> Any:
        """Return a Polars frame."""
        return to_polars(self.to_dict(confidence), strict=False)

    def to_arrow(self, confidence: float = 0.95) -> Any:
        """Return an Arrow table."""
        return to_arrow(self.to_dict(confidence))

    def to_arviz(self) -> Any:
        """Return an xarray DataTree that ArviZ reads: draws, released integers, and the record in its attributes."""
        from discreet.bayes.base.tree import data_tree, recorded

        words = {"model": str(self.model), "method": self.method, "cost": _FREE, "notes": "; ".join(self.notes)}
        words["rehearsal"] = _REHEARSED if self.rehearsed else ""
        words["record"] = "; ".join(", ".join(map(str, one)) for one in self.releases)
        record = recorded(self.guarantee, words, {"log_evidence": self.log_evidence, "k_hat": self.k_hat})
        return data_tree(self.draws, self.parameters, self.measurements, record)

    def table(self, confidence: float = 0.95) -> Table:
        """Return what people are shown: the first rows of all parameters, and how many more there are."""
        words = f"What is known, with {100 * stated_confidence(confidence):.6g} % intervals"
        shown = summary_columns(self.parameters, self.marginals, confidence, most=SHOWN)
        left = sum(max(len(one.groups), 1) for one in self.parameters) - len(shown["parameter"])
        return shown_rows(shown, f"{words}; {left:,} more rows" if left > 0 else words)

    def __str__(self) -> str:
        lines = [visible(f"{name}: {words}") for name, words in self.facts()]
        return "\n".join([str(self.table()), "", *lines])

    def _repr_html_(self) -> str:
        """Return the posterior for a notebook."""
        return self.table()._repr_html_() + definition_list(self.facts())

    @cached_property
    def _marginals(self) -> dict[str, tuple[Marginal, ...]]:
        return {}

    def _columns(self, parameter: Parameter) -> NDArray[Any]:
        """Return the draws of a parameter, one column for each group."""
        return np.asarray(self.draws[parameter.name]).reshape(-1, max(len(parameter.groups), 1))

    def _with_keys(self, parameter: Parameter) -> Parameter:
        """Return a parameter that knows the names of its keys, read off a measurement of its groups."""
        if not parameter.groups or parameter.key_names:
            return parameter
        groups = set(parameter.groups)
        for one in self.measurements:
            if groups & set(one.plan.keys) and len(one.plan.key_names) == len(parameter.groups[0]):
                return replace(parameter, key_names=one.plan.key_names)
        return parameter
