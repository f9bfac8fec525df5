"""How far one person can move a query's answer: a number, the norm it is measured in, and for which neighbors."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from enum import Enum
from fractions import Fraction

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy.numbers import positive, root_upward, whole
from discreet.privacy.relation import Relation


class Norm(Enum):
    """How the distance between two answers is measured over all coordinates."""

    L1 = "sum of absolute differences"
    L2 = "root of the sum of squared differences"
    LINF = "largest absolute difference"

    def __repr__(self) -> str:
        return f"Norm.{self.name}"


# L_p norms shrink as p grows; back again costs the number of coordinates to the difference of the two exponents 1/p.
_EXPONENTS = {Norm.L1: Fraction(1), Norm.L2: Fraction(1, 2), Norm.LINF: Fraction(0)}


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The most that one person can change an answer, over all neighboring tables of the stated relation.

    The value is kept as given: an int says that the query's answers are integers, a float or Fraction that they are
    real.

    >>> cost = Sensitivity(3, norm=Norm.L1, relation=Relation.ADD_REMOVE)
    >>> cost.is_integer, cost.exact
    (True, Fraction(3, 1))
    """

    value: Number
    _: KW_ONLY
    norm: Norm
    relation: Relation

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", positive(self.value, name="sensitivity"))
        if not isinstance(self.norm, Norm):
            raise ParameterError("norm must be Norm.L1, Norm.L2 or Norm.LINF", parameter="norm")
        if not isinstance(self.relation, Relation):
            raise ParameterError("relation must be one of Relation's members", parameter="relation")

    @property
    def exact(self) -> Fraction:
        """The value as a rational number."""
        return Fraction(self.value)

    @property
    def is_integer(self) -> bool:
        """Whether the value was given as an int: integer queries, integer noise."""
        return isinstance(self.value, int)

    def to_norm(self, norm: Norm, *, coordinates: int | None = None) -> Sensitivity:
        """Return the best sensitivity in another norm that follows from this one.

        Accuracy. A vector v of k coordinates has |v|_inf <= |v|_2 <= |v|_1, |v|_1 <= sqrt(k) |v|_2 and |v|_2 <= sqrt(k)
            |v|_inf; each is met with equality by some v, so nothing smaller follows.
            Proof: the first two by squaring; the others are Cauchy-Schwarz and a sum of k equal terms. Equality: one
            coordinate other than 0, respectively k equal ones.

        >>> Sensitivity(2, norm=Norm.L2, relation=Relation.CHANGE_ONE).to_norm(
        ...     Norm.L1, coordinates=9
        ... ).value
        6.0
        """
        gain = _EXPONENTS[norm] - _EXPONENTS[self.norm]
        if gain <= 0:
            return Sensitivity(self.value, norm=norm, relation=self.relation)
        if coordinates is None:
            raise MissingParameter(
                f"from {self.norm.name} to {norm.name} the bound grows with the dimension: pass coordinates=",
                parameter="coordinates",
            )
        count = whole(coordinates, name="coordinates")
        if gain == 1:
            grown = self.exact * count
            return Sensitivity(int(grown) if self.is_integer else round_up(grown), norm=norm, relation=self.relation)
        return Sensitivity(root_upward(self.exact**2 * count), norm=norm, relation=self.relation)
