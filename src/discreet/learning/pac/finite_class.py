"""Any finite class of hypotheses: the exponential mechanism over the number of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError, QueryFailed
from discreet.frames import ColumnKind, FrameColumn
from discreet.laws import Law
from discreet.laws.number import Number
from discreet.learning.exact import listed_cells, matrix, stated_relation, targets
from discreet.mechanisms import Exponential, Mechanism
from discreet.privacy import Guarantee, Norm, PrivacyLoss, Relation, Sensitivity

Labeled = tuple[Any, Any]
Hypothesis = Callable[[NDArray[Any]], Any]


class FiniteClassLearner(Mechanism):
    """Choose a hypothesis with probability growing in the number of rows that it labels rightly.

    A hypothesis is a function from rows to labels, one label a row, each a function of its own row alone. Rows are an
    array, or a frame; cells of lists that are not all whole numbers reach it as objects. Hypotheses may come from a
    generator: then they are tried one after the other and none is kept but the best so far, and the learner can be
    called once.

    Privacy. epsilon-DP: the exponential mechanism with minus the number of errors as score, one row a person.
        Proof: one person changes the number of errors of every hypothesis by at most 1; under add/remove all of them in
        the same direction, so that the scores are monotone.
    Accuracy. `sample_sizes` says how many people suffice.
    Cost. Every hypothesis once on every row.
    Reference. Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011.

    >>> learner = FiniteClassLearner(
    ...     [lambda rows, place=place: rows[:, place] for place in range(3)],
    ...     epsilon=1,
    ...     relation=Relation.ADD_REMOVE,
    ... )
    >>> rows = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]] * 100)
    >>> learner((rows, rows[:, 1]))(np.array([[0, 1, 0]]))
    array([1])
    """

    def __init__(self, hypotheses: Iterable[Hypothesis], *, epsilon: Number, relation: Relation) -> None:
        if callable(hypotheses) or not isinstance(hypotheses, Iterable):
            raise ParameterError(
                "hypotheses must be a list or a generator of functions, fixed before any row is seen; got another. A "
                "class that is made from the rows is not covered by the price",
                parameter="hypotheses",
            )
        stated_relation(relation)
        self._hypotheses = hypotheses if isinstance(hypotheses, Iterator) else tuple(hypotheses)
        if not isinstance(self._hypotheses, Iterator) and not self._hypotheses:
            raise ParameterError("hypotheses must not be empty; got none, write at least one", parameter="hypotheses")
        if not isinstance(self._hypotheses, Iterator) and not all(map(callable, self._hypotheses)):
            raise ParameterError(
                "hypotheses must be functions from rows to labels; got another object among them, write "
                "[lambda rows: rows[:, 0] > 3, ...]",
                parameter="hypotheses",
            )
        self._spent = False
        self._choice = Exponential(
            epsilon=epsilon,
            sensitivity=Sensitivity(1, norm=Norm.LINF, relation=relation),
            monotone=relation is Relation.ADD_REMOVE,
        )

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the exponential mechanism."""
        return self._choice.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range."""
        return self._choice.loss

    def __call__(self, value: Labeled) -> Hypothesis:
        """Return a hypothesis for rows and labels."""
        rows, labels = labeled(value)
        if isinstance(self._hypotheses, Iterator):
            if self._spent:
                raise InputError(
                    "a generator gives its hypotheses once; this one was used, write a list to call the learner again"
                )
            self._spent = True
            chosen: Hypothesis = self._choice.choose(self._hypotheses, score=lambda one: -errors(one, rows, labels))
            return chosen
        return self._hypotheses[self._choice([-errors(one, rows, labels) for one in self._hypotheses])]

    def outcome(self, value: Labeled) -> int:
        """Return the place of the chosen hypothesis, as `law` has it."""
        rows, labels = labeled(value)
        return int(self._choice([-errors(one, rows, labels) for one in self._listed()]))

    def law(self, value: Labeled) -> Law[Any]:
        """Return the law of the place of the chosen hypothesis."""
        rows, labels = labeled(value)
        return self._choice.law([-errors(one, rows, labels) for one in self._listed()])

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """No pair is known without a domain of rows: audits are given pairs."""
        return iter(())

    def __repr__(self) -> str:
        known = "a generator" if isinstance(self._hypotheses, Iterator) else f"{len(self._hypotheses):,}"
        return f"FiniteClassLearner(hypotheses={known}, {self.guarantee!r})"

    def _listed(self) -> tuple[Hypothesis, ...]:
        if isinstance(self._hypotheses, Iterator):
            raise ParameterError("the law needs all hypotheses at once; write a list instead of a generator")
        return self._hypotheses


def labeled(value: Labeled) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and labels as arrays, a label a row; cells of lists stay as they are, whatever is beside them."""
    try:
        rows, labels = (_listed(part) if isinstance(part, list | tuple) else np.asarray(part) for part in value)
    except Exception:  # what it says may show a cell
        raise InputError("a learner must be given (rows, labels); got another, write learner((X, y))") from None
    if rows.ndim != 2 or labels.shape != (len(rows),):
        raise InputError("rows must be a matrix and labels have one entry a row; got other shapes")
    return rows, labels


def _listed(part: Any) -> NDArray[Any]:
    """Return lists as an array of objects: no cell has a say in the type of the others."""
    made = listed_cells(part)
    if made is None:
        raise ValueError("rows of different lengths")
    return made


def bits_of(value: Labeled, features: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the rows whose cells and label are all 0 or 1, with their labels; others count for nothing. Private."""
    rows, labels = labeled(value)
    check_bits(value, rows, features)
    cells, truth = matrix(rows), targets(labels)
    usable = np.isin(cells, (0, 1)).all(axis=1) & np.isin(truth, (0, 1))
    return cells[usable].astype(np.uint8), truth[usable].astype(np.uint8)


def check_bits(value: Labeled, rows: NDArray[Any], features: int) -> None:
    """Refuse another number of columns, and labels whose type, which is public, holds no 0 and 1."""
    if rows.shape[1] != features:
        raise InputError("rows must have as many columns as the learner has features; got another number")
    if FrameColumn.read(value[1]).kind not in (ColumnKind.NUMERIC, ColumnKind.BOOLEAN, ColumnKind.OBJECT):
        raise InputError('labels must be 0 and 1, or booleans; got texts, times or another type, write y == "yes"')


def errors(hypothesis: Hypothesis, rows: NDArray[Any], labels: NDArray[Any]) -> int:
    """Return how many rows a hypothesis labels wrongly; whatever it raises becomes one constant message."""
    wrong: Any = None
    try:
        given = np.asarray(hypothesis(rows))
        wrong = _differing(given, labels) if given.shape == labels.shape else None
    except Exception:  # what it says may show a row
        wrong = None
    if wrong is None:
        raise QueryFailed(
            "a hypothesis must return one label a row, whatever the rows are; one of them did not. Nothing was released"
        )
    return int(wrong)


def _differing(given: NDArray[Any], labels: NDArray[Any]) -> int:
    """Return how many labels differ; one that cannot be compared does."""
    if "O" not in (given.dtype.kind, labels.dtype.kind):
        return int(np.count_nonzero(given != labels))
    return sum(not _same(one, other) for one, other in zip(given.tolist(), labels.tolist(), strict=True))


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:  # a foreign object may raise anything
        return False
