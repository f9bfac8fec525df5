"""Any finite class of hypotheses: the exponential mechanism over the number of errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.frames import ColumnKind, FrameColumn, frame_library
from discreet.laws import Law
from discreet.laws.number import Number
from discreet.learning.exact import listed_cells, listed_column, matrix, stated_relation, targets, unheard
from discreet.mechanisms import Exponential, Mechanism
from discreet.privacy import Guarantee, Norm, PrivacyLoss, Relation, Sensitivity

Labeled = tuple[Any, Any]
Hypothesis = Callable[[NDArray[Any]], Any]
_BITS = (ColumnKind.NUMERIC, ColumnKind.BOOLEAN, ColumnKind.OBJECT)


class FiniteClassLearner(Mechanism):
    """Choose a hypothesis with probability growing in the number of rows that it labels rightly.

    A hypothesis is a function from rows to labels, one label a row, each a function of its own row alone. It must have
    a label for a row of zeros, which it is asked first; a row about which it raises an error is labeled wrongly. Rows
    are an array, or a frame, and cannot be changed; cells of lists reach it as objects. Hypotheses may come from a
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


def labeled(value: Labeled, *, features: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rows and labels as arrays, a label a row; cells of lists stay as they are, whatever is beside them.

    An empty list of rows has as many columns as there are features: somebody more or less changes no shape. Where there
    are features, labels are bits: those of a type that holds none are refused. A list has no type.
    """
    rows, labels, given = _parts(value)
    if rows is None or labels is None:
        raise InputError("a learner must be given (rows, labels); got another, write learner((X, y))")
    if features is not None and rows.shape == (0, 0):
        rows = rows.reshape(0, features)
    if rows.ndim != 2 or labels.shape != (len(rows),):
        raise InputError("rows must be a matrix and labels have one entry a row; got other shapes")
    if features is not None and rows.shape[1] != features:
        raise InputError("rows must have as many columns as the learner has features; got another number")
    typed = labels if frame_library(given) is None else given
    if features is not None and FrameColumn.read(typed).kind not in _BITS:
        raise InputError('labels must be 0 and 1, or booleans; got texts, times or another type, write y == "yes"')
    return rows, labels


def _parts(value: Any) -> tuple[NDArray[Any] | None, NDArray[Any] | None, Any]:
    """Return rows and labels as arrays, None for what is none, and the labels as they are.

    What numpy says about rows and labels that are none may show a cell.
    """
    try:
        rows, labels = value
        return _array(rows, listed_cells), _array(labels, listed_column), labels
    except Exception:
        return None, None, None


def _array(part: Any, listed: Callable[[Any], NDArray[Any] | None]) -> NDArray[Any] | None:
    """Return lists as an array of objects: no cell has a say in the type of the others; masked cells are None."""
    if isinstance(part, Sequence) and not isinstance(part, str | bytes) and not hasattr(part, "__array__"):
        return listed(list(part))
    if isinstance(part, np.ma.MaskedArray):
        held = np.array(part.data, dtype=object)
        held[np.ma.getmaskarray(part)] = None
        return held
    return np.asarray(part)


def bits_of(value: Labeled, features: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the rows whose cells and label are all 0 or 1, with their labels; others count for nothing. Private."""
    rows, labels = labeled(value, features=features)
    cells, truth = matrix(rows), targets(labels)
    usable = np.isin(cells, (0, 1)).all(axis=1) & np.isin(truth, (0, 1))
    return cells[usable].astype(np.uint8), truth[usable].astype(np.uint8)


def errors(hypothesis: Hypothesis, rows: NDArray[Any], labels: NDArray[Any]) -> int:
    """Return how many rows a hypothesis labels wrongly; those about which it says nothing are among them.

    Whether it is one at all is decided by a row of zeros, which is public, and never by the rows.
    """
    held = rows.view()
    held.flags.writeable = False
    with unheard():
        if len(held) and _given(hypothesis, _zeros(held)) is None:
            raise ParameterError(
                "a hypothesis must return one label a row, whatever the rows are; one of them does not for a row of "
                "zeros. Nothing was released",
                parameter="hypotheses",
            )
        return _wrong(hypothesis, held, labels)


def _zeros(rows: NDArray[Any]) -> NDArray[Any]:
    """Return a row of zeros of the type of the rows, which cannot be changed either."""
    made = np.zeros((1, rows.shape[1]), dtype=rows.dtype)
    made.flags.writeable = False
    return made


def _wrong(hypothesis: Hypothesis, rows: NDArray[Any], labels: NDArray[Any]) -> int:
    """Return how many rows are labeled wrongly; where there are no labels for all of them, each half is tried."""
    given = _given(hypothesis, rows) if len(rows) else np.empty(0)
    if given is not None:
        return _differing(given, labels)
    if len(rows) == 1:
        return 1
    half = len(rows) // 2
    return _wrong(hypothesis, rows[:half], labels[:half]) + _wrong(hypothesis, rows[half:], labels[half:])


def _given(hypothesis: Hypothesis, rows: NDArray[Any]) -> NDArray[Any] | None:
    """Return the labels of a hypothesis, None where there is not one a row; what it raises may show a row."""
    try:
        given = _array(hypothesis(rows), listed_column)
    except Exception:
        return None
    return given if given is not None and given.shape == (len(rows),) else None


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
