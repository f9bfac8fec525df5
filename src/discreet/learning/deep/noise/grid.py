"""The public grid that clipped sums are rounded to, and how far one person moves the integers that result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.errors import ParameterError

FINEST_BITS, COARSEST_BITS = 30, 10
_MOST_CARRY_BITS = 20
LARGEST_NOISE = 1 << 40  # the exact sampler is four times slower beyond
_SUM_LIMIT = 1 << 62
_ROOT_BITS = 40
_FARTHEST = 64  # in units of the noise's scale; beyond it integers would wrap, which no guarantee depends on
_LARGEST_EXPONENT = 400


@dataclass(frozen=True, kw_only=True)
class GradientGrid:
    """How sums of clipped gradients become integers: from public numbers alone.

    A step sums over at most `batches` physical batches of `physical` slots. Batch b gives floats S_b whose distance
    from the exact sum of its clipped gradients is at most E = `summation_error` * `norm` in L2, each clipped gradient
    having length at most `norm`. S_b is rounded to multiples of `step` / 2^`carry_bits` and added up in integers; the
    total X is rounded once more, to y, an integer vector that counts steps of the grid. `step` is a power of two, so
    that the division by it is exact in floats. `scale` is the noise's in units of `distance`, `weight` the sum of the
    integer coefficients that y is multiplied by before noise is added (1 without correlated noise); both set only how
    fine the grid may be.

    Privacy. Adding or removing one person moves y by at most `distance` in L2, changing one by twice that; with k = 1
        if slots are fixed and `batches` if they shift it is norm / step + sqrt(dimension) (1 + k / 2^carry_bits) +
        2 k E / step.
        Proof: rounding moves each of d coordinates by at most 1/2, so two vectors come at most sqrt(d) farther apart.
        If everyone else keeps a slot of a fixed number of public ones (drawn without regard to the person), only the
        person's own batch differs, given row independence: by one clipped gradient, twice E and one rounding. If slots
        shift, every batch may differ: the exact sums over the step still differ by one clipped gradient, and each of
        at most `batches` pairs adds twice E and one rounding, on the fine grid. Rounding X adds sqrt(d) once. With
        `carry_bits` = 0, which fixed slots use, X is y and nothing is rounded again, so the term in sqrt(d) is k
        sqrt(d). For `sizes`, groups clipped to norm / sqrt(number of groups) each, the same holds a group, and squares
        add up; the smaller of the two bounds is taken, both rounded up. A person who is changed is
        removed and added.
    Accuracy. The noise is larger than with real numbers by the factor `inflation`.
    Reference. Casacuberta, Shoemate, Vadhan, Wagaman 2022 (what summation errors do to a stated sensitivity).

    >>> grid = GradientGrid(
    ...     norm=Fraction(1),
    ...     dimension=10**6,
    ...     physical=64,
    ...     batches=4,
    ...     summation_error=Fraction(1, 10**11),
    ...     scale=Fraction(1),
    ...     fixed_slots=True,
    ... )
    >>> grid.bits, grid.distance, round(float(grid.inflation) - 1, 9)
    (30, 1073742825, 9.32e-07)
    """

    norm: Fraction
    dimension: int
    physical: int
    batches: int
    summation_error: Fraction
    scale: Fraction
    fixed_slots: bool
    sizes: tuple[int, ...] = ()
    weight: int = 1

    def __post_init__(self) -> None:
        for name in ("dimension", "physical", "batches", "weight"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ParameterError(f"{name} must be an int of at least 1; got {value!r}", parameter=name)
        for name in ("norm", "scale", "summation_error"):
            value = getattr(self, name)
            if not isinstance(value, Fraction) or value < 0 or (value == 0 and name != "summation_error"):
                raise ParameterError(f"{name} must be a positive Fraction; got {value!r}", parameter=name)
        if not Fraction(1, 1 << _LARGEST_EXPONENT) <= self.norm <= 1 << _LARGEST_EXPONENT:
            raise ParameterError("norm must lie between 2^-400 and 2^400", parameter="norm")
        if self.sizes and (sum(self.sizes) != self.dimension or min(self.sizes) < 1):
            raise ParameterError("sizes must be at least 1 each and add up to the dimension", parameter="sizes")
        _ = self.bits

    @cached_property
    def bits(self) -> int:
        """The largest number of bits, at most 30, for which the sums and the noise fit: 2^bits <= norm / step."""
        for bits in range(FINEST_BITS, COARSEST_BITS - 1, -1):
            if self._fits(bits):
                return bits
        raise ParameterError(
            "the noise scale, the rows of a step and the coefficients are too large for a grid of 64-bit integers; "
            "write a smaller scale, a lower rate, or fewer bands",
            parameter="scale",
        )

    @cached_property
    def exponent(self) -> int:
        """The binary logarithm of `step`."""
        return _floor_log2(self.norm) - self.bits

    @cached_property
    def step(self) -> Fraction:
        """The spacing of the grid, a power of two."""
        return Fraction(2) ** self.exponent

    @cached_property
    def carry_bits(self) -> int:
        """How many bits finer each batch is rounded than their sum; as many as one batch leaves room for."""
        return self._carry_bits(self.bits)

    @cached_property
    def between_carries(self) -> int:
        """How many batches fit into 64-bit integers before the fine bits must be carried."""
        return _SUM_LIMIT // self._one_batch(self.bits, self.carry_bits)

    @cached_property
    def distance(self) -> int:
        """How far one person moves y in L2, rounded up to an integer."""
        return self._distance(self.bits)

    @cached_property
    def inflation(self) -> Fraction:
        """The noise in units of the one that real numbers would need."""
        return self.distance * self.step / self.norm

    @cached_property
    def noise_scale(self) -> Fraction:
        """The scale of the noise, in steps of the grid."""
        return self.scale * self.distance

    def _fits(self, bits: int) -> bool:
        """Say whether neither a sum of all rows nor the noise on it leaves the range of its integers."""
        spread = self.scale * self._distance(bits)
        rows = self.physical * self.batches
        reach = self._in_steps(bits) * (rows + self.batches * self.summation_error) + self.batches + 1
        return spread <= LARGEST_NOISE and self.weight * reach + _FARTHEST * spread < _SUM_LIMIT

    def _carry_bits(self, bits: int) -> int:
        """Return the bits between the fine grid and this one: none where one rounding is all there is."""
        if self.fixed_slots or self.batches == 1:
            return 0
        free = 0
        while free < _MOST_CARRY_BITS and 2 * self._one_batch(bits, free + 1) <= _SUM_LIMIT:
            free += 1
        return free

    def _one_batch(self, bits: int, carry_bits: int) -> int:
        """Bound a coordinate of one rounded batch, on the fine grid."""
        return math.ceil(self._in_steps(bits) * (self.physical + self.summation_error) * (1 << carry_bits)) + 1

    def _in_steps(self, bits: int) -> Fraction:
        """Return norm / step, which lies in [2^bits, 2^(bits + 1))."""
        return self.norm / Fraction(2) ** (_floor_log2(self.norm) - bits)

    def _distance(self, bits: int) -> int:
        """Return the bound of the docstring for a number of bits, rounded up."""
        steps, changing = self._in_steps(bits), 1 if self.fixed_slots else self.batches
        carry_bits = self._carry_bits(bits)
        roundings = 1 + Fraction(changing, 1 << carry_bits) if carry_bits else Fraction(changing)
        summing = 2 * changing * self.summation_error * steps
        flat = steps + roundings * root_above(Fraction(self.dimension)) + summing
        if len(self.sizes) <= 1:
            return math.ceil(flat)
        clipped = steps * root_above(Fraction(1, len(self.sizes)))
        squares = [(clipped + roundings * root_above(Fraction(size)) + summing) ** 2 for size in self.sizes]
        return math.ceil(min(flat, root_above(sum(squares, Fraction(0)))))


def root_above(value: Fraction) -> Fraction:
    """Return a rational at least the square root, and at most 2^-39 above it.

    >>> root_above(Fraction(2)) ** 2 >= 2
    True
    """
    return Fraction(math.isqrt(math.ceil(value * (1 << (2 * _ROOT_BITS)))) + 1, 1 << _ROOT_BITS)


def _floor_log2(value: Fraction) -> int:
    """Return the largest k with 2^k <= value."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1
