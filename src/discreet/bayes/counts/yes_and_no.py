"""Groups of yes and no, added up: a list of counts where the number of people is public, two cells where it is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Marginal
from discreet.bayes.counts.groups import YesNo
from discreet.bayes.counts.marginals import IntegerMarginal, MixtureOfBetas
from discreet.bayes.counts.trees import CellPart, SolvedTree, SumPart, TreePart, nested
from discreet.bayes.counts.weights import (
    CellWeight,
    MirroredWeight,
    PoolWeight,
    ReleasedWeight,
    Weight,
    WeightProduct,
    log_ways,
)
from discreet.bayes.evidence import LatentCounts, Observation
from discreet.errors import InputError

_PAIRS = 1 << 18  # of counts of yes and no, up to which the law of a share is computed exactly
_ALL_PAIRS = 1 << 23  # of all groups together, some 200 MB
_LIGHT = 1e-22  # relative to the heaviest pair: 2^22 pairs together then weigh less than 1e-15
Known = tuple[frozenset[int], Weight]  # a set of leaves, and what is known of their sum


@dataclass(frozen=True)
class _Leaves:
    """The leaves of a group: its count of yes, and its count of no where the number of people is unknown."""

    group: YesNo
    yes: int
    no: int | None


@dataclass(frozen=True)
class SolvedGroups:
    """The trees of all groups; groups without a common total have trees of their own."""

    groups: tuple[_Leaves, ...]
    leaves: tuple[CellPart, ...]
    trees: tuple[SolvedTree, ...]
    a: float
    b: float
    log_evidence: float | None

    @classmethod
    def of(cls, latent: LatentCounts, groups: Sequence[YesNo], a: float, b: float) -> SolvedGroups:
        """Build the trees and add them up."""
        leaves: list[CellPart] = []
        placed: list[_Leaves] = []
        sets: list[Known] = []
        constant = 0.0
        for group in groups:
            yes = len(leaves)
            if isinstance(group.people, int):
                leaves.append(_public(group.people, a, b))
                constant -= float(log_ways(group.people, 1, a + b)[0])
                placed.append(_Leaves(group, yes, None))
            elif group.people is None and group.no is None:
                leaves.append(CellPart(CellWeight(1.0)))  # summed over n, every count of yes is as likely
                placed.append(_Leaves(group, yes, None))
            else:
                leaves += [CellPart(CellWeight(a)), CellPart(CellWeight(b))]
                placed.append(_Leaves(group, yes, yes + 1))
                sets += _pool(frozenset((yes, yes + 1)), group, a + b)
        for seen in latent.observations:
            members, weight, known = _read(seen, placed)
            if members:
                sets.append((members, weight))
            constant += known
        trees = tuple(SolvedTree(root) for root in nested(leaves, sets))
        improper = any(group.people is None for group in groups)
        evidence = None if improper else constant + sum(tree.log_weight for tree in trees)
        return cls(tuple(placed), tuple(leaves), trees, a, b, evidence)

    @property
    def error(self) -> float:
        """The largest relative error of a sum."""
        return max(tree.error for tree in self.trees)

    def drawn(self, size: int, generator: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw shares, counts of yes and numbers of people, the groups last."""
        found: dict[TreePart, NDArray[Any]] = {}
        for tree in self.trees:
            found.update(tree.drawn(size, generator))
        drawn = [self._of_group(one, found, generator) for one in self.groups]
        return {
            name: np.stack([group[place] for group in drawn], axis=-1)
            for place, name in enumerate(("share", "count", "people"))
        }

    def _of_group(
        self, one: _Leaves, found: Mapping[TreePart, NDArray[Any]], generator: np.random.Generator
    ) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Draw the share of a group given its counts, and the number of people where nothing else says it."""
        yes = found[self.leaves[one.yes]]
        if isinstance(one.group.people, int):
            share = generator.beta(self.a + yes.astype(float), self.b + (one.group.people - yes).astype(float))
            return share, yes, np.full_like(yes, one.group.people)
        if one.no is None:
            share = generator.beta(self.a - 1.0, self.b, size=len(yes))
            return share, yes, yes + _others(yes, share, generator)
        no = found[self.leaves[one.no]]
        return generator.beta(self.a + yes.astype(float), self.b + no.astype(float)), yes, yes + no

    def marginals(self) -> dict[str, tuple[Marginal, ...]]:
        """Return the exact laws: of counts always, of shares and people where every group has one."""
        trees = {leaf: tree for tree in self.trees for leaf in tree.root.cells()}
        counts = [trees[self.leaves[one.yes]].law(self.leaves[one.yes]) for one in self.groups]
        found: dict[str, tuple[Marginal, ...]] = {"count": tuple(counts)}
        shares = self._shares(trees, counts)
        people = [self._people(one, trees[self.leaves[one.yes]]) for one in self.groups]
        if shares is not None:
            found["share"] = tuple(shares)
        unknown = any(not isinstance(one.group.people, int) for one in self.groups)
        if unknown and all(one is not None for one in people):
            found["people"] = tuple(one for one in people if one is not None)
        return found

    def _shares(
        self, trees: Mapping[CellPart, SolvedTree], counts: Sequence[IntegerMarginal]
    ) -> list[MixtureOfBetas] | None:
        """Return the laws of the shares of all groups, None where one is too long, or all together are."""
        found: list[MixtureOfBetas] = []
        pairs = 0
        for one, count in zip(self.groups, counts, strict=True):
            law = self._share(one, trees[self.leaves[one.yes]], count)
            pairs += 0 if law is None else len(law.masses)
            if law is None or pairs > _ALL_PAIRS:
                return None
            found.append(law)
        return found

    def _share(self, one: _Leaves, tree: SolvedTree, count: IntegerMarginal) -> MixtureOfBetas | None:
        """Return the law of a share, None where it would be a mixture of too many."""
        if isinstance(one.group.people, int):
            return MixtureOfBetas(count.masses, self.a + count.counts, self.b + (one.group.people - count.counts))
        if one.no is None:
            return MixtureOfBetas(np.ones(1), np.full(1, self.a - 1.0), np.full(1, self.b))
        both = _above(tree.root, self.leaves[one.yes], self.leaves[one.no])
        if tree.pairs(both) > 16 * _PAIRS:
            return None
        columns: list[list[NDArray[np.float64]]] = [[], [], []]
        for yes, no, masses in tree.joint(both):
            heavy = masses > _LIGHT * masses.max()
            places = np.nonzero(heavy)
            found = (masses[heavy], self.a + yes + places[0], self.b + no + places[1])
            for column, values in zip(columns, found, strict=True):
                column.append(values.astype(np.float64))
        if sum(len(column) for column in columns[0]) > _PAIRS:
            return None
        return MixtureOfBetas(*(np.concatenate(column) for column in columns))

    def _people(self, one: _Leaves, tree: SolvedTree) -> IntegerMarginal | None:
        """Return the law of the number of people, where it is public or there is a sum for it."""
        if isinstance(one.group.people, int):
            return IntegerMarginal(one.group.people, np.ones(1))
        if one.no is None:
            return None
        return tree.law(_above(tree.root, self.leaves[one.yes], self.leaves[one.no]))


def _public(people: int, a: float, b: float) -> CellPart:
    """Return the count of yes among a public number of people."""
    return CellPart(WeightProduct((CellWeight(a), MirroredWeight(CellWeight(b), people))), high=people)


def _pool(pair: frozenset[int], group: YesNo, a: float) -> list[Known]:
    """Return what is known beforehand of the number of people in a group."""
    prior = None if group.people is None or isinstance(group.people, int) else group.people.weight
    return [(pair, PoolWeight(a)), *([(pair, prior)] if prior else [])]


def _others(yes: NDArray[np.int64], share: NDArray[np.float64], generator: np.random.Generator) -> NDArray[np.int64]:
    """Draw the number of those who say no: negative binomial, Poisson with a Gamma mean; at most 2^60 of them.

    Beyond 2^53 the mean itself is taken: a Poisson number lies within 1e-7 of it.
    """
    with np.errstate(divide="ignore", over="ignore"):
        means = generator.standard_gamma(yes + 1.0) * ((1.0 - share) / share)
    means = np.minimum(np.nan_to_num(means, nan=0.0, posinf=2.0**60), 2.0**60)
    few = means < 2.0**53
    return np.asarray(np.where(few, generator.poisson(np.where(few, means, 0.0)), means.astype(np.int64)))


def _above(root: TreePart, first: TreePart, second: TreePart) -> SumPart:
    """Return the sum of two leaves."""
    return next(part for part in root.sums() if set(part.parts) == {first, second})


def _read(seen: Observation, placed: Sequence[_Leaves]) -> tuple[frozenset[int], Weight, float]:
    """Return the leaves that a released integer is a sum of, its likelihood, and ln of what is known of constants.

    With n public the number of no is n less the number of yes. So a count of no is n minus the noisy number: as the
    noise is symmetric, that has the law of a noisy count of yes.
    """
    members = set(seen.members)
    plus: set[int] = set()
    minus: set[int] = set()
    constant = 0
    for one in placed:
        yes = one.group.yes in members
        no = one.group.no is not None and one.group.no in members
        if isinstance(one.group.people, int):
            constant += one.group.people * no
            (plus if yes else minus).update({one.yes} if yes != no else ())
        else:
            plus.update({one.yes} if yes else (), {one.no} if no and one.no is not None else ())
    if plus and minus:
        raise InputError(
            "a released sum must be of yes or of no, and not of one group's yes and another's no; got such a sum, "
            "give the measurements without it"
        )
    rest = seen.released - seen.weight * constant
    if not plus and not minus:
        return frozenset(), ReleasedWeight(seen.noise, rest), float(seen.noise.log_pmf(rest))
    return frozenset(plus or minus), ReleasedWeight(seen.noise, rest if plus else -rest, seen.weight), 0.0
