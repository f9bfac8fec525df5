"""A promise to one person is a weaker promise to a group: a family, or one person with several rows."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import NoSoundConversion, ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.numbers.arguments import whole
from discreet.privacy.numbers.rounding import number, upward


def group_privacy(guarantee: Guarantee, size: int) -> Guarantee:
    """Return what a promise for one person means for any group of `size` people together.

    Two tables that differ in the group are joined by a chain of `size` steps between neighbours, x_0 to x_k, with laws
    P_0 to P_k. Under add/remove the group's data is added or removed; a change of one row is a group of two.

    Privacy. (epsilon, delta) gives (k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1)), which is at most the
        textbook's k e^((k-1) epsilon) delta; rho-zCDP gives k^2 rho; mu-Gaussian DP gives k mu.
        Proof: Approximate: P_0(S) <= e^epsilon P_1(S) + delta <= ... <= e^(k epsilon) P_k(S) + delta (1 + e^epsilon +
        ... + e^((k-1) epsilon)); the largest of the k terms is the last.
        zCDP, by induction on k: by Hoelder with exponents p = (k alpha - 1)/(alpha (k-1)) and q = (k alpha - 1)/(alpha
        - 1), D_alpha(P_0, P_k) <= (k alpha/(k alpha - 1)) D_beta(P_0, P_(k-1)) + D_(k alpha)(P_(k-1), P_k) with beta =
        (k alpha - 1)/(k - 1); put in (k-1)^2 rho beta and rho k alpha: k alpha (k-1) rho + k alpha rho = k^2 alpha rho.
        Gaussian: a test with chance a under P_0 has chance at most F(F^-1(a) + mu) under P_1, and so on: F(F^-1(a) + k
        mu) under P_k.
    Reference. Dwork, Roth 2014; Vadhan 2017; Bun, Steinke 2016, proposition 27; Dong, Roth, Su 2022.

    >>> group_privacy(PureDP(0.5), 3)
    PureDP(epsilon=1.5)
    >>> group_privacy(GaussianDP(0.5), 4)
    GaussianDP(mu=2.0)
    """
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(f"a promise is needed, not {type(guarantee).__name__}", parameter="guarantee")
    count = whole(size, name="size")
    if count == 1:
        return guarantee
    relation = guarantee.relation
    match guarantee:
        case PureDP():
            return PureDP(_times(guarantee.epsilon, count), relation=relation)
        case ApproxDP():
            return ApproxDP(_times(guarantee.epsilon, count), _group_delta(guarantee, count), relation=relation)
        case ZCDP(delta=0):
            return ZCDP(_times(guarantee.rho, count * count), relation=relation)
        case GaussianDP():
            return GaussianDP(_times(guarantee.mu, count), relation=relation)
    raise NoSoundConversion(_refusal(guarantee))


def _times(value: Number, count: int) -> float:
    return round_up(Fraction(value) * count)


def _group_delta(guarantee: ApproxDP, count: int) -> float:
    """Return delta (1 + e^epsilon + ... + e^((count-1) epsilon)), rounded up, at most 1."""
    epsilon, delta = Fraction(guarantee.epsilon), Fraction(guarantee.delta)
    if delta == 0:
        return 0.0
    if epsilon == 0:
        return min(round_up(delta * count), 1.0)
    # in powers of e^-epsilon, so that a large epsilon gives a large number and not infinity over infinity
    log_factor = (count - 1) * epsilon
    return min(
        upward(
            lambda: (
                (number(delta).log() + number(log_factor)).exp()
                * (-number(count * epsilon)).expm1()
                / (-number(epsilon)).expm1()
            )
        ),
        1.0,
    )


def _refusal(guarantee: Guarantee) -> str:
    """Say why there is no group promise of the same notion, and what to use."""
    if isinstance(guarantee, ZCDP):
        return (
            f"each step of a group's chain splits the law in the middle in its own way, so the parts of {guarantee!r} "
            "do not join. Convert to ApproxDP with a delta first, and apply group_privacy to that."
        )
    if isinstance(guarantee, RenyiDP):
        return (
            f"joining the steps of a group's chain needs higher orders than the one {guarantee!r} bounds. Start from "
            "ZCDP, which covers all orders, or convert to ApproxDP with a delta first."
        )
    return f"no group promise is known for {type(guarantee).__name__}"
