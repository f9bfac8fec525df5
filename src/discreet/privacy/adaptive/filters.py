"""A budget for a live session: each release is charged before it happens, and refused when it does not fit.

There is one filter for each notion that stays sound when every price may depend on all earlier answers. Of budgets for
separate parts of a table a person pays only for the parts that hold their data.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.privacy.adaptive.notions import (
    Amounts,
    ApproxBooks,
    Books,
    ConcentratedBooks,
    GaussianBooks,
    PureBooks,
    RenyiBooks,
    books_for,
    not_a_guarantee,
)
from discreet.privacy.adaptive.pricing import Spendable
from discreet.privacy.adaptive.session_account import Account
from discreet.privacy.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    basic_composition,
)
from discreet.privacy.numbers import probability, whole, written
from discreet.privacy.price import largest_rho
from discreet.privacy.relation import Relation, combine


class Filter(Account):
    """A budget that holds even if every question and its price are chosen in view of the answers so far.

    Whether a release is admitted depends on the guarantees alone, never on the data, so a refusal tells nothing.

    Privacy. The whole session keeps `budget`, for an analyst who chooses each release, its price and when to stop in
        view of all earlier answers; a refused release is one that says nothing, at no price.
        Proof: fix two neighbors. Let B(b, n) be the guarantee that the answers of any n further releases whose prices
        add up to at most b along every path keep the guarantee b. B(b, 0) holds: there is no answer. Let the guarantee
        hold for n - 1 releases. The first release keeps a guarantee of price p <= b, and whatever its answer y, the
        rest is a
        session of n - 1 releases with prices of at most b - p along every path: by B(b - p, n - 1) it keeps the
        guarantee b - p, the same one for every y. Two releases, a first of price p and a second that for every y keeps
        one
        guarantee of price b - p, keep b together: each notion proves this step in its class. A session without an end
        is the limit of its beginnings: every event is approximated by events of finitely many answers.
    Cost. Constant time and memory a release.
    Reference. Rogers, Roth, Ullman, Vadhan 2016; Feldman, Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu 2023.
    """

    __slots__ = ("_budget",)

    def __init__(self, budget: Guarantee, books: Books, caps: tuple[Fraction, ...]) -> None:
        if isinstance(budget, ApproxDP | ZCDP | GaussianDP) and budget.delta >= 1:
            raise ParameterError("a budget with delta = 1 guarantees nothing: name a delta below 1", parameter="delta")
        super().__init__(books, caps, budget.relation)
        self._budget = budget

    @property
    def budget(self) -> Guarantee:
        """The guarantee that the whole session keeps."""
        return self._budget.under(self.relation)

    @property
    def remaining(self) -> Guarantee:
        """What can still be spent, exactly (an irrational mu is rounded down)."""
        now = self._now()
        return self._books.write(self._books.down(self._left(now)), now.relation)

    def admits(self, guarantee: Spendable, *, at_delta: Number | None = None) -> bool:
        """Say whether a release would fit now; spends nothing."""
        amounts, relation = self._price(guarantee, at_delta)
        return self._within(self._now().after(amounts, relation))

    def fits(self, guarantee: Spendable, *, at_delta: Number | None = None) -> int:
        """Return how many more releases like this one would fit; spends nothing."""
        amounts, relation = self._price(guarantee, at_delta)
        now = self._now()
        now.joined(relation)
        rows = zip(now.tallies, amounts, self._caps, strict=True)
        counts = [count for count in (tally.room(amount, cap) for tally, amount, cap in rows) if count is not None]
        if not counts:
            raise ParameterError("a release that costs nothing always fits, any number of times", parameter="guarantee")
        return min(counts)

    def _reserve(
        self, budgets: Mapping[Hashable, Guarantee], together: Callable[[Sequence[Amounts]], Amounts]
    ) -> dict[Hashable, Filter]:
        """Charge what several budgets cost together, then open a filter in the same notion for each of them."""
        prices = {part: self._price(budget, None) for part, budget in budgets.items()}
        relation = reduce(combine, (stated for _, stated in prices.values()), self.relation)
        self._charge(together([amounts for amounts, _ in prices.values()]), relation)
        return {part: self._part(amounts, relation) for part, (amounts, _) in prices.items()}

    def _part(self, amounts: Amounts, relation: Relation) -> Filter:
        budget = self._books.write(self._books.down(amounts), relation)
        return Filter(budget, self._books, amounts)

    def _rows(self) -> list[tuple[str, str]]:
        return [("budget", repr(self.budget)), *super()._rows(), ("remaining", repr(self.remaining))]


class PureFilter(Filter):
    """A budget of pure differential privacy: epsilons add up to at most epsilon.

    Floats are read as they are written, here and in every filter: ten guarantees of 0.1 fit into 1.

    Privacy. The session is epsilon-DP.
        Proof: along every path the likelihood ratio of the answers is the product of the ratios of the releases given
        the past, hence at most e to the sum of their epsilons, which is at most epsilon.
    Reference. Rogers, Roth, Ullman, Vadhan 2016.

    >>> session = PureFilter(1)
    >>> session.spend(PureDP(Fraction(1, 3)))
    >>> (
    ...     session.remaining,
    ...     session.fits(PureDP(Fraction(1, 3))),
    ...     session.admits(PureDP(0.7)),
    ... )
    (PureDP(epsilon=Fraction(2, 3)), 2, False)
    >>> session.spend(PureDP(0.7))
    Traceback (most recent call last):
    ...
    discreet.errors.BudgetExceeded: this release costs epsilon 0.7, and 0.666666 is
        left. Nothing was spent. ...
    """

    __slots__ = ()

    def __init__(self, epsilon: Number, *, relation: Relation = Relation.UNSTATED) -> None:
        budget = PureDP(epsilon, relation=relation)
        super().__init__(budget, PureBooks(), (written(budget.epsilon),))


class ApproxFilter(Filter):
    """A budget of approximate differential privacy: by sums, or at the advanced rate with a slack set apart.

    Without `slack`, epsilons and deltas add. With it, books are kept in approximate zCDP, where many small releases
    cost far less, and only the budget is translated, once, when the session is opened; `spent` and `remaining` are then
    `ZCDP` guarantees.

    Privacy. The session is (epsilon, delta)-DP.
        Proof: sums: let the first release be (e1, d1)-DP, with answer y, and let the rest be (e2, d2)-DP for every y;
        e1 + e2 = epsilon, d1 + d2 = delta. For an event S with sections S_y, the rest has chance at most g(y) + d2 with
        g(y) = min(1, e^e2 Q_y(S_y)). As g has values in [0, 1], its mean under the first table is at most e^e1 times
        that under the second, plus d1. Together e^epsilon Q(S) + d1 + d2. (The same lines with d2 + (1-d2) h(y), h(y) =
        min(1, e^e2 Q_y(S_y)/(1-d2)), for the rest give d2 + (1-d2) d1: the chances 1 - delta may be multiplied. The
        sum, which is larger by a share of at most delta, is kept because it stays exact.)
        With a slack: every (e, d)-DP release is d-approximate (e tanh(e/2))-zCDP (`approx_to_zcdp`). The session is, by
        `ZCDPFilter`, (delta - slack)-approximate rho-zCDP for the largest rho with which rho-zCDP implies (epsilon,
        slack)-DP; so its delta at epsilon is at most (delta - slack) + slack.
    Reference. Rogers, Roth, Ullman, Vadhan 2016; Whitehouse, Ramdas, Rogers, Wu 2023 for the advanced rate.

    >>> small = PureDP(Fraction(1, 100))
    >>> ApproxFilter(1, 1e-6).fits(small), ApproxFilter(1, 1e-6, slack=1e-6).fits(small)
    (100, 487)
    """

    __slots__ = ("_slack",)

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        *,
        slack: Number | None = None,
        relation: Relation = Relation.UNSTATED,
    ) -> None:
        budget = ApproxDP(epsilon, delta, relation=relation)
        self._slack = slack
        if slack is None:
            super().__init__(budget, ApproxBooks(), (written(budget.epsilon), written(budget.delta)))
            return
        spare = written(probability(slack, name="slack"))
        if not 0 < spare <= written(budget.delta):
            raise ParameterError("slack must be a part of delta: above 0 and at most delta", parameter="slack")
        caps = largest_rho(written(budget.epsilon), spare), written(budget.delta) - spare
        super().__init__(budget, ConcentratedBooks(), caps)

    @property
    def slack(self) -> Number | None:
        """The part of delta set apart for the advanced rate; None if epsilons simply add."""
        return self._slack


class ZCDPFilter(Filter):
    """A budget of zero-concentrated differential privacy: rhos add, and deltas where there are any.

    Privacy. The session is rho-zCDP, delta-approximate if there is a delta.
        Proof: let the first release be d1-approximate r1-zCDP, with parts A, A' of weight 1 - d1 on two neighbors, and
        let the rest after answer y be d2-approximate r2-zCDP for every y, with parts A_y, A'_y; r1 + r2 = rho and
        (1-d1)(1-d2) = 1 - delta. The law of both answers is (1-d1)(1-d2) A(y) A_y(z) and something of weight delta, on
        the neighbor with A' for A. The moment sum of A^alpha A'^(1-alpha) A_y^alpha A'_y^(1-alpha), over z and then
        over y, is at most e^((alpha-1) alpha r2) e^((alpha-1) alpha r1). That the parts of the second release depend on
        y does not matter, only that r2 and d2 do not; a guarantee with less delta may be restated with d2, by moving
        weight from the first part to the other. So the chances 1 - delta multiply, also for adaptive choice. As
        (1-d1)(1-d2) >= 1 - d1 - d2, deltas that add up to delta are enough: the filter keeps the sum, which stays exact
        and exceeds 1 - prod(1 - d) by a share of at most delta.
    Reference. Bun, Steinke 2016; Feldman, Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu 2023.

    >>> session = ZCDPFilter(0.5, delta=1e-6)
    >>> session.spend(GaussianDP(0.5))
    >>> session.spend(ApproxDP(0.5, 1e-7))
    >>> session.spent
    ZCDP(rho=0.247459331201...)
    """

    __slots__ = ()

    def __init__(self, rho: Number, delta: Number = 0, *, relation: Relation = Relation.UNSTATED) -> None:
        budget = ZCDP(rho, delta, relation=relation)
        super().__init__(budget, ConcentratedBooks(), (written(budget.rho), written(budget.delta)))


class RenyiFilter(Filter):
    """A budget of Renyi differential privacy at one order, fixed when the session is opened: divergences add.

    Privacy. The session has divergence at most epsilon at the order alpha.
        Proof: with first laws P, P' and, after answer y, laws R_y, R'_y of the rest, of divergence at most e2 for every
        y, the moment is the sum over y of P^alpha P'^(1-alpha) times e^((alpha-1) D_alpha(R_y, R'_y)) <= e^((alpha-1)
        e2); the sum is at most e^((alpha-1) e1).
        One order only: watching several and stopping by whichever is best at the end compares different budgets on
        different paths, for which this step fails.
    Reference. Feldman, Zrnic 2021; Lecuyer 2021.

    >>> RenyiFilter(8, 2).fits(ZCDP(Fraction(1, 100)))
    25
    """

    __slots__ = ()

    def __init__(self, alpha: Number, epsilon: Number, *, relation: Relation = Relation.UNSTATED) -> None:
        budget = RenyiDP(alpha, epsilon, relation=relation)
        super().__init__(budget, RenyiBooks(budget.alpha), (written(budget.epsilon),))


class GaussianFilter(Filter):
    """A budget of Gaussian differential privacy: mus add in squares, and deltas where there are any.

    Privacy. The session is mu-Gaussian DP, delta-approximate if there is a delta; so its delta at epsilon is at most
        delta + (1 - delta) times that of telling N(0, 1) from N(mu, 1).
        Proof: the first release is a post-processing of one draw from N(m1, 1) or N(0, 1); the rest, after answer y, of
        a fresh draw from N(m2, 1) or N(0, 1), the same pair for every y though the post-processing differs. So all
        answers are a post-processing of two independent normal draws whose means differ by (m1, m2), and these are as
        hard to tell apart as N(0, 1) from N(sqrt(m1^2 + m2^2), 1): turn the axes.
        With deltas: a first release that is d1-approximate is a post-processing of its normal draw and of a coin that
        with chance d1 shows which table it is; so is the rest after every y, with a fresh draw and a coin of chance d2
        (a guarantee with less delta may be restated with d2). Unless a coin shows the table, which has the same chance
        1 - (1-d1)(1-d2) <= d1 + d2 on both tables, the answers are a post-processing of the two normal draws. So they
        are a mixture as `GaussianDP` asks, with delta d1 + d2: the filter keeps the sum, which stays exact.
    Reference. Dong, Roth, Su 2022; Smith, Thakurta 2022 for filters.

    >>> session = GaussianFilter(5)
    >>> session.spend(GaussianDP(3))
    >>> session.remaining
    GaussianDP(mu=4)
    """

    __slots__ = ()

    def __init__(self, mu: Number, delta: Number = 0, *, relation: Relation = Relation.UNSTATED) -> None:
        budget = GaussianDP(mu, delta, relation=relation)
        super().__init__(budget, GaussianBooks(), (written(budget.mu) ** 2, written(budget.delta)))


def privacy_filter(budget: Guarantee) -> Filter:
    """Open a session that keeps a guarantee.

    >>> privacy_filter(ZCDP(0.5))
    ZCDPFilter(budget=ZCDP(rho=0.5, delta=0.0), spent=ZCDP(rho=0, delta=0),
        remaining=ZCDP(rho=0.5, delta=0))
    """
    match budget:
        case PureDP():
            return PureFilter(budget.epsilon, relation=budget.relation)
        case ApproxDP():
            return ApproxFilter(budget.epsilon, budget.delta, relation=budget.relation)
        case ZCDP():
            return ZCDPFilter(budget.rho, budget.delta, relation=budget.relation)
        case RenyiDP():
            return RenyiFilter(budget.alpha, budget.epsilon, relation=budget.relation)
        case GaussianDP():
            return GaussianFilter(budget.mu, budget.delta, relation=budget.relation)
    raise not_a_guarantee(budget)


def parallel(guarantees: Iterable[Guarantee], *, relation: Relation, parts_per_person: int = 1) -> Guarantee:
    """Return the guarantee of one release on each part of a table, the parts being fixed beforehand.

    Which part a row belongs to is decided by the row alone (a column, say), by a rule that is public before any of the
    releases: by public keys, or by what an earlier release found. Each guarantee is about the whole table: it holds for
    its release seen as a function of the table that looks at one part's rows only. Mind change-one: a guarantee that
    takes the number of rows *of a part* as public is not one, as a changed row may move from part to part.

    Privacy. For a person with data in at most m parts: under add/remove the m largest guarantees compose; under
        change-one the 2 m largest, as the old data lie in m parts and the new data in m others. Where a guarantee has
        two numbers, the largest of each are taken.
        Proof: fix two neighbors. They differ in at most m parts (add/remove) or 2 m (change-one), the others hold the
        same rows in both, and a release on one of those has the same law on both tables: it keeps every guarantee. By
        `basic_composition` all releases together keep the sum of what the parts that differ guarantee, and no sum over
        that many parts exceeds that of the largest ones. That change-one needs twice as many is sharp: a row that moves
        between two parts changes the likelihood ratio of both.
    Reference. McSherry 2009.

    >>> from discreet.privacy.guarantees.guarantee import PureDP
    >>> counts = [PureDP(0.5), PureDP(0.25), PureDP(0.125)]
    >>> parallel(counts, relation=Relation.ADD_REMOVE)
    PureDP(epsilon=0.5, relation=Relation.ADD_REMOVE)
    >>> parallel(counts, relation=Relation.CHANGE_ONE)
    PureDP(epsilon=0.75, relation=Relation.CHANGE_ONE)
    """
    given = list(guarantees)
    together = basic_composition(given)  # refuses an empty list, mixed notions and mixed relations
    stated = combine(together.relation, relation)
    books = books_for(together)
    amounts = largest([books.read(one) for one in given], touched_parts(stated, parts_per_person))
    return books.write(books.up(amounts, amounts), stated)


def touched_parts(relation: Relation, parts_per_person: int) -> int:
    """Return in how many parts two neighbors can differ."""
    count = whole(parts_per_person, name="parts_per_person")
    if relation is Relation.UNSTATED:
        raise MissingParameter(
            "what a person can change in separate parts depends on the neighbor relation: state it, "
            "relation=Relation.ADD_REMOVE or relation=Relation.CHANGE_ONE",
            parameter="relation",
        )
    return count if relation is Relation.ADD_REMOVE else 2 * count


def largest(amounts: Sequence[Amounts], count: int) -> Amounts:
    """Return, for each quantity, the sum of its largest values."""
    return tuple(sum(sorted(column, reverse=True)[:count], Fraction(0)) for column in zip(*amounts, strict=True))


class Partition(Mapping[Hashable, Filter]):
    """Budgets for separate parts of a table in a live session, reserved together before the first release on a part.

    Each part is a filter of its own, with the session's notion and relation. Releases on parts and on the whole table
    may be mixed in any order; a release is charged to the smallest part that holds all rows it looks at. What a part
    does not spend stays reserved.

    Privacy. The session keeps its budget.
        Proof: fix two neighbors and a path. Say what each release costs *for these neighbors*: nothing, if it looks
        at a part in which they do not differ, and its guarantee otherwise. Along the path the releases on a part cost
        at most its budget, and the neighbors differ in at most m parts (add/remove) or 2 m (change-one), so the
        releases
        on parts cost at most what was reserved, the sum of that many largest budgets. With what the whole table cost
        this is at most the session's budget, and the induction of `Filter`, which is about two fixed neighbors,
        applies.
    Reference. McSherry 2009; Feldman, Zrnic 2021 for costs that depend on the neighbors.

    >>> from discreet.privacy.adaptive import PureFilter
    >>> from discreet.privacy.guarantees.guarantee import PureDP
    >>> from discreet.privacy.relation import Relation
    >>> session = PureFilter(1, relation=Relation.ADD_REMOVE)
    >>> regions = Partition(session, {"north": PureDP(0.5), "south": PureDP(0.25)})
    >>> session.remaining.epsilon
    0.5
    >>> regions["south"].spend(PureDP(0.25))
    >>> regions["south"].remaining.epsilon, regions["north"].remaining.epsilon
    (0, 0.5)
    """

    def __init__(self, session: Filter, budgets: Mapping[Hashable, Guarantee], *, parts_per_person: int = 1) -> None:
        if not isinstance(session, Filter):
            raise ParameterError(f"a filter is needed, not {type(session).__name__}", parameter="session")
        if not isinstance(budgets, Mapping) or not budgets:
            raise ParameterError(
                "budgets must be a mapping from each part to its guarantee, with at least one part", parameter="budgets"
            )
        touched = touched_parts(session.relation, parts_per_person)
        self._parts = session._reserve(budgets, lambda amounts: largest(amounts, touched))

    def __getitem__(self, part: Hashable) -> Filter:
        return self._parts[part]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)
