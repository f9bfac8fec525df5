"""One draw from a posterior as a private mechanism: to be understood, and then left for noisy statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws import Softmax
from discreet.laws.number import Number, exact_rational, positive_rational
from discreet.mechanisms import Exponential, Mechanism
from discreet.mechanisms.mechanism import one_of, positive_epsilon
from discreet.mechanisms.noise import floor_log2, two_to
from discreet.privacy import Guarantee, Norm, PrivacyLoss, Relation, Sensitivity
from discreet.privacy.numbers import whole

Floats = NDArray[np.float64]
LogLikelihood = Callable[[NDArray[Any], Any], ArrayLike]
_STEPS_BITS = 32  # of the range of one record: their sum fits into 64 bits for a thousand million records
_LEAST_CLIP, _MOST_PARAMETERS = Fraction(1, 10**9), 100_000
_WIDEST = 10**200
_FAR, _MOST = 600, 2000  # the least chance of a parameter stays within floats


class PosteriorDraw(Mechanism):
    """Draw one parameter from the posterior on a public grid, the likelihood of every record clipped and tempered.

    Parameter j comes with a probability proportional to prior_j exp(t sum_i g(x_i, j)). g is the logarithm of the
    likelihood of one record, clipped to `bounds` and rounded to a public grid; t is the tempering, 1 for the posterior
    itself. A record about which the function raises an error, or gives no number for a parameter, counts as the lower
    bound there. The function sees one record at a time, and must depend on nothing else.

    Privacy. Let B = high - low of the bounds. epsilon-DP with epsilon = t B under add/remove, one record a person, and
        with epsilon = 2 t B under change-one; in both cases the losses of two parameters differ by at most epsilon
        (bounded range), so that (epsilon^2/8)-zCDP holds too. The prior has no part in it.
        Proof: a record more multiplies the weight of parameter j by e^(t g_j), g_j within the bounds, and the sum of
        the weights by an average of these factors; the loss of j is t g_j minus the logarithm of that average, so that
        all losses lie within t B of each other, and 0 is among the values between them. A record changed for another
        multiplies by e^(t (g'_j - g_j)), whose exponents span at most 2 t B. The prior multiplies weights by the same
        factors on both tables: it changes the average, whose bounds are those of the factors, whatever the weights.
        Rounding comes after clipping, record by record, to whole steps between the bounds: g is what was rounded.
        It is `Exponential` with the scores sum_i (g(x_i, j) - low) + ln(prior_j) / t, of sensitivity B, monotone under
        add/remove.
    Accuracy. It is exact for its own posterior, but one draw pays for the whole likelihood what a noisy count pays for
        one number. Root mean squared error for the share of ones among 100 records, the shares 0, .01, ..., 1 equally
        likely, 99 parameters from .01 to .99, flat prior, computed from the laws; `Laplace` is the noisy count over
        100, cut to 0 and 1:

            epsilon   one draw   Laplace   ratio
            0.1       .252       .126      2.0
            1         .0885      .0134     6.6
            10        .0276      .0001     291

        Release the count, and compute the posterior from it with `discreet.bayes.posterior`.
    Cost. One call of the function a record, on all parameters.
    Reference. Dimitrakakis, Nelson, Mitrokotsa, Rubinstein 2014; Wang, Fienberg, Smola 2015; bounded range: Dong,
        Durfee, Rogers 2020.

    >>> draw = PosteriorDraw(  # of a Poisson rate
    ...     [1.0, 2.0, 4.0],
    ...     lambda rate, record: record * np.log(rate) - rate,
    ...     bounds=(-4, 0),
    ...     examples=[0, 3],
    ...     tempering=0.5,
    ...     relation=Relation.ADD_REMOVE,
    ... )
    >>> draw.guarantee
    PureDP(epsilon=2.0, relation=Relation.ADD_REMOVE)
    >>> draw([1] * 400)
    1.0
    """

    def __init__(
        self,
        parameters: ArrayLike,
        log_likelihood: LogLikelihood,
        *,
        bounds: tuple[Number, Number],
        examples: Sequence[Any],
        relation: Relation,
        epsilon: Number | None = None,
        tempering: Number | None = None,
        prior: Sequence[float] | None = None,
    ) -> None:
        self.parameters = _listed(parameters)
        self.relation = _stated(relation)
        self.bounds = low, high = _ends(bounds)
        self._low, self._high = float(low), float(high)
        self._step = two_to(floor_log2(high - low) - _STEPS_BITS)
        self._span = int((high - low) / self._step)
        sides = 1 if relation is Relation.ADD_REMOVE else 2
        if one_of(epsilon=epsilon, tempering=tempering) == "tempering":
            epsilon = positive_rational(tempering, name="tempering") * sides * self._span * self._step
        exact = positive_epsilon(epsilon)
        self.tempering = exact / (sides * self._span * self._step)
        self._choice = Exponential(
            epsilon=exact,
            sensitivity=Sensitivity(self._span, norm=Norm.LINF, relation=relation),
            monotone=relation is Relation.ADD_REMOVE,
        )
        self._log_likelihood = log_likelihood
        self.examples = self._tried(examples)
        self._head_start = self._of_prior(prior)

    @classmethod
    def of_frequency(
        cls,
        *,
        clip: Number,
        count: int,
        relation: Relation,
        epsilon: Number | None = None,
        tempering: Number | None = None,
        prior: tuple[float, float] = (1.0, 1.0),
    ) -> Self:
        """Return the draw of the frequency of ones among records 0 and 1, under a beta prior on a grid.

        The frequencies are `count` points from `clip` to 1 - `clip`, the same distance apart, so that nothing is
        clipped and B = ln((1 - clip) / clip). Other records say nothing.

        >>> draw = PosteriorDraw.of_frequency(
        ...     clip=0.01, count=99, epsilon=1, relation=Relation.ADD_REMOVE
        ... )
        >>> round(float(draw.tempering), 4)  # 1 / ln(99)
        0.2176
        >>> draw([1] * 100_000)
        0.99
        """
        exact = exact_rational(clip, name="clip")
        if not _LEAST_CLIP <= exact < Fraction(1, 2):
            raise ParameterError("clip must be from 1e-9 to below 1/2; got another, write 0.01", parameter="clip")
        if not 2 <= whole(count, name="count") <= _MOST_PARAMETERS:
            raise ParameterError(
                f"count must be from 2 to {_MOST_PARAMETERS:,}; got another, write 99", parameter="count"
            )
        edge = float(exact)
        try:
            a, b = (float(positive_rational(one, name="prior")) for one in prior)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(
                "prior must be the two positive numbers of a beta law; got another, write (1, 1)", parameter="prior"
            ) from None
        grid = np.round(np.linspace(edge, 1 - edge, count), 15)  # the points as they are written
        log_prior = (a - 1) * np.log(grid) + (b - 1) * np.log1p(-grid)
        return cls(
            grid,
            _log_of_frequency,
            bounds=(float(np.log(grid[0])), float(np.log1p(-grid[0]))),
            examples=(0, 1),
            relation=relation,
            epsilon=epsilon,
            tempering=tempering,
            prior=np.exp(np.maximum(log_prior - log_prior.max(), -700.0)).tolist(),
        )

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy at the tempering times the range, or twice that under change-one."""
        return self._choice.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range."""
        return self._choice.loss

    def __call__(self, value: Any) -> Any:
        """Return one parameter drawn from the posterior given the records."""
        drawn = self.parameters[self.outcome(value)]
        return float(drawn) if self.parameters.ndim == 1 else drawn.copy()

    def outcome(self, value: Any) -> int:
        """Return the place of a drawn parameter, as `law` has it."""
        return self._choice(self._scores(value))

    def law(self, value: Any) -> Softmax:
        """Return the law of the place of the drawn parameter."""
        return self._choice.law(self._scores(value))

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield few and many equal examples with another one more, or with another in the place of one of them."""
        many = min(int(_FAR / (self.tempering * self._span * self._step)) + 2, _MOST)
        pairs = list(permutations(self.examples, 2)) or [(self.examples[0], self.examples[0])]
        for count in (0, 1, many):
            for one, other in pairs:
                changed = [one] if self.relation is Relation.CHANGE_ONE else []
                yield [one] * count + changed, [one] * count + [other]

    def _scores(self, value: Any) -> list[int]:
        """Return the sum of log-likelihoods in steps above the lower bound, and the head start of the prior."""
        total = np.zeros(len(self.parameters), dtype=np.int64)
        with np.errstate(all="ignore"):
            for record in _records(value):
                total += self._steps(record)
        return [start + score for start, score in zip(self._head_start, total.tolist(), strict=True)]

    def _steps(self, record: Any) -> NDArray[np.int64]:
        """Return the log-likelihoods of a record in steps from 0 to the range; what raises or is no number is at 0."""
        found = self._given(record)
        if found is None:
            return np.zeros(len(self.parameters), dtype=np.int64)
        above = np.clip(np.where(np.isnan(found), self._low, found), self._low, self._high) - self._low
        return np.clip(np.rint(above / float(self._step)).astype(np.int64), 0, self._span)

    def _given(self, record: Any) -> Floats | None:
        """Return one number for every parameter, or None: what the function raises may show the record."""
        try:
            given = np.asarray(self._log_likelihood(self.parameters, record))
            found = None if given.dtype.kind == "c" else given.astype(np.float64)  # complex ones come with a warning
        except Exception:
            return None
        return found if found is not None and found.shape == (len(self.parameters),) else None

    def _tried(self, examples: Sequence[Any]) -> tuple[Any, ...]:
        """Return the made-up records, having seen that the function has a number for every parameter about each."""
        listed = tuple(_records(examples))
        if not listed:
            raise ParameterError(
                "examples must be made-up records, on which the likelihood is tried and audits start; got none, write "
                "for example [0, 1]",
                parameter="examples",
            )
        for example in listed:
            with np.errstate(all="ignore"):
                found = self._given(example)
            if found is None or np.isnan(found).any():
                raise ParameterError(
                    "log_likelihood must take the array of parameters and one record and return one number a "
                    "parameter; got another for an example, write lambda parameters, record: ...",
                    parameter="log_likelihood",
                )
        return listed

    def _of_prior(self, prior: Sequence[float] | None) -> list[int]:
        """Return ln(prior) / t in steps: public, and the same on all tables."""
        if prior is None:
            return [0] * len(self.parameters)
        weights = _as_floats(prior)
        if (
            weights is None
            or weights.shape != (len(self.parameters),)
            or not np.all(np.isfinite(weights) & (weights > 0))
        ):
            raise ParameterError(
                "prior must have one positive number a parameter; got another, leave parameters out that cannot be",
                parameter="prior",
            )
        return [round(Fraction(one) / (self.tempering * self._step)) for one in np.log(weights).tolist()]

    def __repr__(self) -> str:
        return f"PosteriorDraw(parameters={len(self.parameters):,}, {self.guarantee!r})"


def _log_of_frequency(frequencies: NDArray[Any], record: Any) -> Floats:
    """Return the log-likelihoods of a record 0 or 1; raise ValueError for another."""
    if record not in (0, 1):
        raise ValueError
    return np.asarray(np.log(frequencies) if record == 1 else np.log1p(-frequencies), dtype=np.float64)


def _listed(parameters: ArrayLike) -> Floats:
    """Return the public grid of parameters, numbers or rows of numbers, which nobody can change.

    It lies in bytes: a function that is called on it with a record could make an array of its own writable again, and
    write the record where parameters are drawn from.
    """
    made = _as_floats(parameters)
    if made is None or made.ndim not in (1, 2) or len(made) < 2 or not np.all(np.isfinite(made)):
        raise ParameterError(
            "parameters must be at least two finite numbers, or rows of numbers, fixed before any record is seen; got "
            "another, write for example [0.1, 0.5, 0.9]",
            parameter="parameters",
        )
    return np.frombuffer(made.tobytes(), dtype=np.float64).reshape(made.shape)


def _as_floats(numbers: Any) -> Floats | None:
    """Return public numbers as a new array, or None for what are none."""
    try:
        given = np.asarray(numbers)
        return np.array(given, dtype=np.float64) if given.dtype.kind in "iufO" else None
    except (TypeError, ValueError, OverflowError):
        return None


def _stated(relation: Relation) -> Relation:
    """Return a relation that says what one person changes."""
    if not isinstance(relation, Relation) or relation is Relation.UNSTATED:
        raise MissingParameter(
            "relation= must say who differs, for the guarantee depends on it: Relation.ADD_REMOVE or "
            "Relation.CHANGE_ONE",
            parameter="relation",
        )
    return relation


def _ends(bounds: tuple[Number, Number]) -> tuple[Fraction, Fraction]:
    """Return the bounds of one record's log-likelihood, exactly."""
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError(
            "bounds must be the two ends to which a record's log-likelihood is clipped; got another, write (-5, 0)",
            parameter="bounds",
        )
    low, high = (exact_rational(end, name="bounds") for end in bounds)
    if not low < high:
        raise ParameterError("bounds must be (low, high) with low < high; write (-5, 0)", parameter="bounds")
    if not Fraction(1, _WIDEST) <= high - low <= _WIDEST or max(abs(low), abs(high)) > _WIDEST:
        raise ParameterError(
            "bounds must be from 1e-200 to 1e200 apart, so that floats hold all steps between; write (-5, 0)",
            parameter="bounds",
        )
    return low, high


def _records(value: Any) -> list[Any]:
    """Return the records, one an entry or row; how many there are is no secret of this refusal."""
    listed: list[Any] | None = None
    if isinstance(value, list | tuple | range):
        listed = list(value)
    elif hasattr(value, "__array__") and np.ndim(value) > 0:
        listed = list(np.asarray(value))
    if listed is None:
        raise InputError("records must be a list or an array, one entry or row a person; got another, write [0, 1, 1]")
    return listed
