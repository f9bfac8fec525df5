"""A budget for a live session: each release is charged before it happens, and refused when it does not fit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import reduce

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy.adaptive.notions import Amounts, Books
from discreet.privacy.adaptive.pricing import Spendable
from discreet.privacy.adaptive.session_account import Account
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, Guarantee
from discreet.privacy.relation import Relation, combine


class Filter(Account):
    """A budget that holds whatever is asked next in view of the answers so far, the prices of the questions included.

    Whether a release is admitted depends on the promises alone, never on the data, so a refusal tells nothing.

    Privacy. The whole session keeps `budget`, for an analyst who chooses each release, its price and when to stop in
        view of all earlier answers; a refused release is one that says nothing, at no price.
        Proof: fix two neighbours. Let B(b, n) be the claim that the answers of any n further releases whose prices
        add up to at most b along every path keep the promise b. B(b, 0) holds: there is no answer. Let the claim hold
        for n - 1 releases. The first release keeps a promise of price p <= b, and whatever its answer y, the rest is a
        session of n - 1 releases with prices of at most b - p along every path: by B(b - p, n - 1) it keeps the promise
        b - p, the same one for every y. Two releases, a first of price p and a second that for every y keeps one
        promise of price b - p, keep b together: each notion proves this step in its class. A session without an end is
        the limit of its beginnings: every event is approximated by events of finitely many answers.
    Cost. Constant time and memory a release.
    Reference. Rogers, Roth, Ullman, Vadhan 2016; Feldman, Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu 2023.
    """

    __slots__ = ("_budget",)

    def __init__(self, budget: Guarantee, books: Books, caps: tuple[Fraction, ...]) -> None:
        """Open a session whose books are capped so that it keeps the budget."""
        if isinstance(budget, ApproxDP | ZCDP) and budget.delta >= 1:
            raise ParameterError("a budget with delta = 1 promises nothing: name a delta below 1", parameter="delta")
        super().__init__(books, caps, budget.relation)
        self._budget = budget

    @property
    def budget(self) -> Guarantee:
        """The promise that the whole session keeps."""
        return self._budget.under(self.relation)

    @property
    def remaining(self) -> Guarantee:
        """What can still be spent, exactly (an irrational mu is rounded down)."""
        now = self._now()
        return self._books.write([self._books.down(left) for left in self._left(now)], now.relation)

    def admits(self, promise: Spendable, *, at_delta: Number | None = None) -> bool:
        """Say whether a release would fit now; spends nothing."""
        amounts, relation = self._price(promise, at_delta)
        return self._within(self._now().after(amounts, relation))

    def fits(self, promise: Spendable, *, at_delta: Number | None = None) -> int:
        """Return how many more releases like this one would fit; spends nothing."""
        amounts, relation = self._price(promise, at_delta)
        now = self._now()
        now.joined(relation)
        rows = zip(now.tallies, amounts, self._caps, strict=True)
        counts = [count for count in (tally.room(amount, cap) for tally, amount, cap in rows) if count is not None]
        if not counts:
            raise ParameterError("a release that costs nothing always fits, any number of times", parameter="promise")
        return min(counts)

    def _reserve(
        self, budgets: Mapping[Hashable, Guarantee], together: Callable[[Sequence[Amounts]], Amounts]
    ) -> dict[Hashable, Filter]:
        """Charge what several budgets cost together, then open a filter in the same books for each of them."""
        prices = {part: self._price(budget, None) for part, budget in budgets.items()}
        relation = reduce(combine, (stated for _, stated in prices.values()), self.relation)
        self._charge(together([amounts for amounts, _ in prices.values()]), relation)
        return {part: self._part(amounts, relation) for part, (amounts, _) in prices.items()}

    def _part(self, amounts: Amounts, relation: Relation) -> Filter:
        budget = self._books.write([self._books.down(amount) for amount in amounts], relation)
        return Filter(budget, self._books, amounts)

    def _rows(self) -> list[tuple[str, str]]:
        return [("budget", repr(self.budget)), *super()._rows(), ("remaining", repr(self.remaining))]
