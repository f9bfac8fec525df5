"""Trees of sums: Fourier transforms and tilts lose nothing that matters; draws follow the laws and add up."""

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.bayes.counts.trees import CellPart, SolvedTree, balanced, nested
from discreet.bayes.counts.weights import CellWeight, PoolWeight, ReleasedWeight, WeightProduct
from discreet.errors import InputError, NotConverged
from discreet.laws.noise import DiscreteGaussian, DiscreteLaplace


def cells(law, released, a=1.0, high=None):
    return [CellPart(WeightProduct((CellWeight(a), ReleasedWeight(law, z))), high=high) for z in released]


def directly(law, released, a, top):
    """The weights of each cell and of their sum below `top`, by direct convolution of logarithms' exponentials."""
    weights = [np.exp(CellWeight(a).log(0, top) + ReleasedWeight(law, z).log(0, top)) for z in released]
    sums = weights[0]
    for one in weights[1:]:
        sums = np.convolve(sums, one)[:top]
    return weights, sums


@pytest.mark.theorem("convolution.accuracy")
@pytest.mark.parametrize("law", [DiscreteLaplace(80), DiscreteGaussian(300)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("a", [0.5, 1.0, 4.0])
def test_transforms_agree_with_direct_sums(law, a):
    """Windows of thousands of counts, four of them: the direct sums keep every digit, the transforms what matters."""
    released = [3000, 150, -200, 1200]
    parts = cells(law, released, a)
    root = balanced(parts)
    root.multiply(PoolWeight(4 * a))
    tree = SolvedTree(root)
    weights, sums = directly(law, released, a, 16_000)
    posterior = sums * np.exp(PoolWeight(4 * a).log(0, 16_000))
    assert tree.log_weight == pytest.approx(np.log(posterior.sum()), abs=1e-11)
    found = tree.law(root)
    wanted = posterior / posterior.sum()
    assert np.abs(found.masses - wanted[found.start : found.start + len(found.masses)]).max() <= 1e-13
    others = directly(law, released[1:], a, 16_000)[1]
    pool = np.exp(PoolWeight(4 * a).log(0, 16_000))
    first = tree.law(parts[0])
    for t in (2500, 2900, 3000, 3050):
        mass = weights[0][t] * (others[: 16_000 - t] * pool[t:]).sum() / posterior.sum()
        assert first.pmf(t) == pytest.approx(mass, rel=1e-9)


@pytest.mark.theorem("convolution.accuracy")
@pytest.mark.parametrize("law", [DiscreteLaplace(80), DiscreteGaussian(100)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("total", [40, 2500, 4150, 6000])
def test_a_public_total_far_from_the_release_keeps_its_digits(law, total):
    """At 6000 the noise of four cells is 8 to 12 deviations off: without tilts the transforms have no digit there."""
    released = [3000, 150, -200, 1200]
    if total == 40 and isinstance(law, DiscreteGaussian):
        released = [300, 150, -200, 200]
    parts = cells(law, released, 0.7, high=total)
    tree = SolvedTree(balanced(parts), total)
    weights, sums = directly(law, released, 0.7, total + 1)
    assert tree.log_weight == pytest.approx(np.log(sums[total]), abs=1e-11)
    others = directly(law, released[1:], 0.7, total + 1)[1]
    wanted = weights[0] * others[::-1] / sums[total]
    found = tree.law(parts[0])
    assert np.abs(found.masses - wanted[found.start : found.start + len(found.masses)]).max() <= 1e-12
    assert sum(tree.law(part).mean for part in parts) == pytest.approx(total, rel=1e-11)


def test_a_total_that_was_released_far_from_its_cells_is_added_up():
    law = DiscreteLaplace(20)
    released = [500, 300, 200]
    parts = cells(law, released)
    tree = SolvedTree(nested(parts, [(frozenset({0, 1, 2}), ReleasedWeight(law, 1900))])[0])
    _, sums = directly(law, released, 1.0, 8_000)
    posterior = sums * np.exp(ReleasedWeight(law, 1900).log(0, 8_000))
    assert tree.log_weight == pytest.approx(np.log(posterior.sum()), abs=1e-11)


def test_a_cell_of_which_nothing_was_released_is_what_the_total_leaves():
    """The other cell has some 10^12 people: it is listed within what the noise of the rest allows."""
    law = DiscreteLaplace(5)
    parts = [*cells(law, [100, 200]), CellPart(CellWeight(2.5))]
    for part in parts:
        part.high = 10**12
    tree = SolvedTree(balanced(parts), 10**12)
    alone = [SolvedTree(part) for part in cells(law, [100, 200])]
    for part, one in zip(parts, alone, strict=False):
        assert tree.law(part).mean == pytest.approx(one.law(one.root).mean, rel=1e-9)
    draws = tree.drawn(100, np.random.default_rng(1))
    assert (sum(draws[part] for part in parts) == 10**12).all()


@pytest.mark.theorem("drawn.accuracy")
def test_draws_follow_the_exact_laws_and_add_up():
    """Fixed seed: chi-square of 40 000 joint draws against the list of all tables of 3 cells and 12 people."""
    law = DiscreteLaplace(2)
    parts = cells(law, [2, 7, 1], high=12)
    tree = SolvedTree(balanced(parts), 12)
    draws = tree.drawn(40_000, np.random.default_rng(7))
    table = np.stack([draws[part] for part in parts])
    assert (table.sum(axis=0) == 12).all()
    weights, _ = directly(law, [2, 7, 1], 1.0, 13)
    wanted = {(i, j): weights[0][i] * weights[1][j] * weights[2][12 - i - j] for i in range(13) for j in range(13 - i)}
    counts = np.zeros((13, 13))
    np.add.at(counts, (table[0], table[1]), 1)
    expected = np.array(list(wanted.values())) / sum(wanted.values()) * 40_000
    observed = np.array([counts[place] for place in wanted])
    rare = expected < 10
    pooled = [np.append(one[~rare], one[rare].sum()) for one in (observed, expected)]
    assert chisquare(*pooled).pvalue > 1e-4


def test_huge_counts_stay_exact_integers():
    law = DiscreteGaussian(3)
    parts = cells(law, [2**80, 2**81 + 5])
    tree = SolvedTree(nested(parts, [(frozenset({0, 1}), ReleasedWeight(law, 3 * 2**80))])[0])
    draws = tree.drawn(50, np.random.default_rng(1))
    for part, z in zip(parts, [2**80, 2**81 + 5], strict=True):
        assert all(isinstance(one, int) and abs(one - z) < 60 for one in draws[part].tolist())


def test_a_total_out_of_reach_is_refused():
    law = DiscreteLaplace(2)
    with pytest.raises(InputError, match="cannot reach"):
        SolvedTree(balanced(cells(law, [10, 20], high=4000)), 4000)


def test_sets_that_cross_are_refused():
    law = DiscreteLaplace(2)
    weight = ReleasedWeight(law, 5)
    with pytest.raises(InputError, match="nested or disjoint"):
        nested(cells(law, [1, 2, 3]), [(frozenset({0, 1}), weight), (frozenset({1, 2}), weight)])


def test_a_total_far_from_its_cells_is_added_up_or_refused():
    """Gaussian noise of deviation 1 and flat priors: normal laws, whose precisions 1/2 and 1 add up."""
    law = DiscreteGaussian(1)
    for released in (60, 200, 10**4):
        parts = cells(law, [10, 20])
        root = nested(parts, [(frozenset({0, 1}), ReleasedWeight(law, released))])[0]
        try:
            tree = SolvedTree(root)
        except NotConverged:
            assert released > 200
        else:
            assert tree.law(root).mean == pytest.approx((30 / 2 + released) / 1.5, abs=1e-6)
            assert tree.law(root).deviation == pytest.approx(1.5**-0.5, abs=1e-3)  # integers, not a normal law


@pytest.mark.parametrize("law", [DiscreteLaplace(30), DiscreteGaussian(60)], ids=["laplace", "gaussian"])
@pytest.mark.parametrize("a", [3.0, 15.0])
def test_an_unknown_total_may_be_spread_wider_than_any_tilted_sum(law, a):
    """With A = 60 the cells have their mass within an eighth of n, and the noise allows n from 0 to over 1000."""
    released = [60, -20, 35, 10]
    parts = cells(law, released, a)
    root = balanced(parts)
    root.multiply(PoolWeight(4 * a))
    tree = SolvedTree(root)
    _, sums = directly(law, released, a, 4000)
    with np.errstate(divide="ignore"):
        logs = np.log(sums) + PoolWeight(4 * a).log(0, 4000)
    wanted = np.exp(logs - logs.max())
    assert tree.log_weight == pytest.approx(logs.max() + np.log(wanted.sum()), abs=1e-9)
    found = tree.law(root)
    dense = np.zeros(4000)
    dense[found.start : found.start + len(found.masses)] = found.masses
    assert np.abs(dense - wanted / wanted.sum()).max() <= 1e-12
    assert sum(tree.law(part).mean for part in parts) == pytest.approx(found.mean, rel=1e-9)
    draws = tree.drawn(20_000, np.random.default_rng(3))
    assert abs(draws[root].mean() - found.mean) <= 5 * found.deviation / 141
    assert (sum(draws[part] for part in parts) == draws[root]).all()
