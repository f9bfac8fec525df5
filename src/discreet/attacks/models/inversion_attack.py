"""Model inversion: somebody's secret bit from a model and the rest of their record, for members and for outsiders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.ceilings import Flip, ceiling
from discreet.attacks.models.people import attacked_people, chances_of_own, is_frame, predicted_numbers
from discreet.attacks.results import read_only
from discreet.display.result import Row, percent, told_in_rows
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy import PrivacyLoss
from discreet.privacy.numbers import positive, probability

Floats = NDArray[np.float64]


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Inversion:
    """The frequency of secret bits guessed rightly, of members and of outsiders, a number a model.

    Results of several models add up by `+`. `ceiling`, if the price of the models was given, is one that the expected
    gap between members and outsiders does not exceed, whatever the attack.
    """

    members: Floats
    outsiders: Floats
    ceiling: float | None

    def __post_init__(self) -> None:
        read_only(self.members, self.outsiders)

    def __add__(self, other: Inversion) -> Inversion:
        if not isinstance(other, Inversion):
            return NotImplemented
        known = [one for one in (self.ceiling, other.ceiling) if one is not None]
        return Inversion(
            np.concatenate([self.members, other.members]),
            np.concatenate([self.outsiders, other.outsiders]),
            max(known) if len(known) == 2 else None,
        )

    @property
    def member_rate(self) -> float:
        """The frequency of members whose bit was guessed rightly."""
        return float(self.members.mean())

    @property
    def outsider_rate(self) -> float:
        """The frequency of outsiders whose bit was guessed rightly: what the population gives away."""
        return float(self.outsiders.mean())

    @property
    def gap(self) -> float:
        """The frequency of members less that of outsiders: what a model gives away about those it was trained on."""
        return self.member_rate - self.outsider_rate

    @property
    def gap_error(self) -> float | None:
        """The standard error of the gap, from the gaps of the models; None for one model."""
        gaps = self.members - self.outsiders
        return float(gaps.std(ddof=1) / math.sqrt(len(gaps))) if len(gaps) > 1 else None

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order; the ceiling is rounded up."""
        top = None if self.ceiling is None else f"{math.ceil(1000 * self.ceiling) / 10:.1f} %"
        return [
            ("models", f"{len(self.members):,}"),
            ("members", percent(self.member_rate)),
            ("outsiders", percent(self.outsider_rate)),
            ("gap", percent(self.gap)),
            ("ceiling of the gap", top),
        ]


def inversion(
    model: Any,
    members: tuple[Any, Any],
    outsiders: tuple[Any, Any],
    *,
    secret: int | str,
    frequency: Number = Fraction(1, 2),
    deviation: Number | None = None,
    loss: PrivacyLoss | None = None,
) -> Inversion:
    """Guess the secret bits of people whose model, whose other columns and whose labels are known.

    `members` and `outsiders` are rows and labels as scikit-learn takes them, pandas frames among them; the column
    `secret`, a number, or a name in a frame, holds the bits, which the attack itself never reads. Somebody's bit is
    guessed to be the value under which the model finds their label more likely, weighed by its `frequency` among
    people: by `predict_proba` of a classifier, and for a regression by errors that are normal with the standard
    deviation `deviation`, which a fair bit does without.

    Privacy. Where the training has the price `loss` and members and outsiders are drawn alike, the frequency of members
        exceeds that of outsiders by at most `gap_ceiling(loss)` in expectation, for any attack.
        Proof: let an attack be right about a member a with the chance p, and about an outsider b with the chance q; it
        sees the model and one record without its bit. Put b in the place of a: one step under change-one, two under
        add/remove. As both are drawn alike, the attack is now right about a, an outsider, with the chance q, and
        delta(0) of these steps is the most by which the chances of an event can differ.
    Cost. Two predictions a person.
    Reference. Fredrikson, Lantz, Jha, Lin, Page, Ristenpart 2014.

    >>> from sklearn.linear_model import LinearRegression
    >>> from discreet.attacks import invented_doses
    >>> members, outsiders = invented_doses(people=60, columns=50, seed=10)
    >>> found = inversion(
    ...     LinearRegression().fit(*members), members, outsiders, secret=0
    ... )
    >>> found.member_rate > 0.9, found.outsider_rate < 0.6
    (True, True)
    """
    chance = float(probability(frequency, name="frequency"))
    if not 0 < chance < 1:
        raise ParameterError("frequency must lie strictly between 0 and 1; got an end", parameter="frequency")
    top = None if loss is None else gap_ceiling(loss)
    shares = [_right(model, people, secret, chance, deviation) for people in (members, outsiders)]
    return Inversion(np.array([shares[0]]), np.array([shares[1]]), top)


def gap_ceiling(loss: PrivacyLoss) -> float:
    """Return by how much more often than about outsiders any attack is right about members, in expectation; rounded up.

    It is delta(0) of two steps under add/remove, 2 Phi(mu) - 1 for mu-Gaussian privacy, and of one under change-one.

    >>> from discreet.privacy import GaussianDP, PrivacyLoss, Relation
    >>> one = GaussianDP(0.268, relation=Relation.ADD_REMOVE)
    >>> round(gap_ceiling(PrivacyLoss.from_guarantee(one)), 3)
    0.211
    """
    return max(0.0, round_up(2 * Fraction(ceiling(loss, flip=Flip.TWO_ROWS).upper) - 1))


def _right(model: Any, people: tuple[Any, Any], secret: int | str, chance: float, deviation: Number | None) -> float:
    """Return the frequency of people whose bit is guessed rightly."""
    if not isinstance(people, tuple | list) or len(people) != 2:
        raise InputError("people must be rows and as many labels; got others, write (X, y)")
    rows, labels = attacked_people(*people, least=1)
    framed = is_frame(rows)
    place = _place(secret, list(rows.columns) if framed else list(range(rows.shape[1])))
    truth = np.array(rows.iloc[:, place] if framed else rows[:, place])
    if not _are_bits(truth):
        raise InputError("the secret column must hold bits, 0 or 1; got others")
    likely = []
    for bit, prior in ((0, 1 - chance), (1, chance)):
        bits = np.full_like(truth, bit)
        if framed:
            rows.isetitem(place, bits)
        else:
            rows[:, place] = bits
        likely.append(_log_likelihood(model, rows, labels, deviation, fair=chance == 0.5) + math.log(prior))
    return float(np.mean((likely[1] > likely[0]) == (truth == 1)))


def _are_bits(cells: NDArray[Any]) -> bool:
    """Say whether all cells are 0 or 1; what they raise where they cannot be compared is not passed on."""
    try:
        return bool(np.isin(cells, (0, 1)).all())
    except Exception:
        return False


def _place(secret: int | str, names: list[Any]) -> int:
    """Return the number of a column that is given by its number or, in a frame, by its name."""
    if isinstance(secret, str) and names.count(secret) == 1:
        return names.index(secret)
    if isinstance(secret, bool) or not isinstance(secret, int) or not 0 <= secret < len(names):
        raise ParameterError(
            "secret must be the number of a column, or its name in a frame; got another, write secret=0",
            parameter="secret",
        )
    return secret


def _log_likelihood(model: Any, rows: Any, labels: NDArray[Any], deviation: Number | None, *, fair: bool) -> Floats:
    """Return how likely the model finds each label, in logarithms, up to a constant."""
    if hasattr(model, "predict_proba"):
        return np.asarray(np.log(np.maximum(chances_of_own(model, rows, labels), 1e-300)))
    if deviation is None and not fair:
        raise MissingParameter(
            "deviation must say how far a regression is off where the bit is not a fair one; got none, write "
            "deviation=... in the unit of the label",
            parameter="deviation",
        )
    width = 1.0 if deviation is None else float(positive(deviation, name="deviation"))
    if labels.dtype.kind not in "biuf" or not np.isfinite(labels).all():
        raise InputError("labels must be finite numbers where the model is a regression; got others")
    with np.errstate(over="ignore"):  # a label that far off says nothing about a bit
        return np.asarray(-(((labels - predicted_numbers(model, rows)) / width) ** 2) / 2)
