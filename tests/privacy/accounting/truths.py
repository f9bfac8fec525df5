"""Values of epsilon that the accountant must contain, and how each was computed: closed forms or integrals in balls."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from tests.privacy.accounting import line_integral as contour
from tests.privacy.accounting.line_integral import Contour
from tests.privacy.accounting.references import Curve, gaussian, pure

DELTA = 1e-5


def spread(low: float, high: float, count: int = 1000) -> list[float]:
    """Return evenly spaced numbers, as floats."""
    return [float(Fraction(low) + (Fraction(high) - Fraction(low)) * index / (count - 1)) for index in range(count)]


GAUSSIAN_SCALES = spread(20, 100)
LAPLACE_SCALES = [1 / epsilon for epsilon in spread(0.005, 0.05)]

GAUSSIAN_THOUSAND = 2.594383380527607027563322375  # scale 50, a thousand times
GAUSSIAN_MILLION = 4.377178095681224608553985889  # scale 1000, a million times
GAUSSIAN_DIFFERENT = 2.945899702988302004927366804  # scales 20 to 100
LAPLACE_MILLION = 4.37632606161102226756  # scale 1000, a million times
LAPLACE_DIFFERENT = 4.14375496652  # scales 1 / 0.005 to 1 / 0.05
LAPLACE_DIFFERENT_DOUBT = 1e-8  # what is proven of it; atoms that nearly coincide make the integral converge slowly
SUBSAMPLED_REMOVE = 6.187712389971539200606  # rate 0.01, scale 1, ten thousand steps
SUBSAMPLED_ADD = 5.611508617651981017532
PURE_THOUSAND = 2.590618990173756000488410218  # epsilon 0.02, a thousand times
SMALL_DELTAS = {  # scale 50, a thousand times
    1e-12: 4.424474305283804623037603344,
    1e-15: 5.014709386374568473214177077,
    1e-30: 7.287484745029119704026513640,
    1e-300: 23.56083726033164337270764127,
}
# the scale at which ten thousand steps at rate 0.01 cost epsilon 2 lies between these two
CALIBRATED = (2.1273754, 2.1273755)


def gaussian_different() -> Curve:
    """The thousand different Gaussians."""
    return gaussian(sum(1 / Fraction(scale) ** 2 for scale in GAUSSIAN_SCALES))


CLOSED: dict[str, tuple[Callable[[], Curve], float, float]] = {
    "Gaussian, a thousand": (lambda: gaussian(Fraction(1000, 2500)), DELTA, GAUSSIAN_THOUSAND),
    "Gaussian, a million": (lambda: gaussian(1), DELTA, GAUSSIAN_MILLION),
    "Gaussian, a thousand different": (gaussian_different, DELTA, GAUSSIAN_DIFFERENT),
    "pure, a thousand": (lambda: pure(0.02, 1000), DELTA, PURE_THOUSAND),
    **{
        f"Gaussian at delta {delta:g}": (lambda: gaussian(Fraction(1000, 2500)), delta, value)
        for delta, value in SMALL_DELTAS.items()
    },
}


def laplace_million() -> Contour:
    """A million Laplace releases of scale 1000."""
    return contour.laplace([1000], 10**6, order=5.0, step=0.25, last=5000.0)


def laplace_different() -> Contour:
    """The thousand different Laplace releases."""
    return contour.laplace(LAPLACE_SCALES, 1, order=5.0, step=0.7, last=2500.0)


def subsampled(scale: float = 1.0, *, order: float = 3.0, removing: bool = True) -> Contour:
    """Ten thousand Gaussian releases, each on a sample of rate 0.01."""
    return contour.subsampled_gaussian(0.01, scale, 10_000, removing=removing, order=order, step=0.3, last=400.0)


# how each is computed, at which delta, its value and how much of it is proven
INTEGRALS: dict[str, tuple[Callable[[], Contour], float, float, float]] = {
    "Laplace, a million": (laplace_million, DELTA, LAPLACE_MILLION, 1e-14),
    "Laplace, a thousand different": (laplace_different, DELTA, LAPLACE_DIFFERENT, LAPLACE_DIFFERENT_DOUBT),
    "subsampled Gaussian, removing": (subsampled, DELTA, SUBSAMPLED_REMOVE, 1e-14),
    "subsampled Gaussian, adding": (lambda: subsampled(order=4.0, removing=False), DELTA, SUBSAMPLED_ADD, 1e-14),
}
