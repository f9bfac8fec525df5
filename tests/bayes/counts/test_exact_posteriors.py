"""Exact posteriors equal the list of all tables: counts, people, shares and evidence, to 1e-12."""

import math

import numpy as np
import pytest

from discreet.bayes.counts import (
    BetaBinomial,
    DirichletMultinomial,
    NegativeBinomialPeople,
    PoissonGamma,
    PoissonPeople,
)
from discreet.bayes.evidence import LatentCounts, Observation
from discreet.laws.noise import DiscreteGaussian, DiscreteLaplace
from tests.bayes.counts.enumeration import gaussian, laplace, listed, ways

RNG = np.random.default_rng(5)
LAWS = [(DiscreteLaplace(0.6), laplace(0.6)), (DiscreteGaussian(1.5), gaussian(1.5))]
PRIORS = {
    "flat": (None, np.ones),
    "poisson": (PoissonPeople(7), lambda top: math.exp(-7) * np.cumprod([1, *(7 / n for n in range(1, top))])),
    "negative binomial": (
        NegativeBinomialPeople(mean=6, dispersion=2),
        lambda top: ways(top, 2.0) * 0.75 ** np.arange(top) * 0.25**2,
    ),
}


def latent(cells, seen):
    names = tuple(f"key {i}" for i in range(len(cells[0])))
    return LatentCounts(names, tuple(cells), tuple(Observation(m, z, law, w) for m, z, law, w in seen))


def only(public):
    """A public total: one for n, zero elsewhere."""
    return lambda top: np.eye(top)[public]


def pooled(prior, a):
    """p(n) / c(n, A)."""
    return lambda top: prior(top) / ways(top, a)


def cell(a):
    return lambda top: ways(top, a)


def agrees(law, masses, tolerance=1e-12):
    whole = np.zeros(max(len(masses), law.start + len(law.masses)))
    whole[law.start : law.start + len(law.masses)] = law.masses
    whole[: len(masses)] -= masses
    assert np.abs(whole).max() <= tolerance


def share_agrees(marginal, reference, a, rest):
    """Compare moments and the distribution function of a share with the mixture over all tables."""
    from scipy.stats import beta

    def alpha(counts):
        return a + counts

    assert marginal.mean == pytest.approx(reference.mean(lambda t: alpha(t[0]) / (alpha(t[0]) + rest(t))), rel=1e-12)
    square = reference.mean(
        lambda t: alpha(t[0]) * (alpha(t[0]) + 1) / ((alpha(t[0]) + rest(t)) * (alpha(t[0]) + rest(t) + 1))
    )
    assert marginal.deviation**2 + marginal.mean**2 == pytest.approx(square, rel=1e-11)
    for x in (0.1, 0.5, 0.8):
        wanted = reference.mean(lambda t, x=x: beta.cdf(x, alpha(t[0]), rest(t)))
        assert marginal.cdf(x) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.theorem("BetaBinomial.accuracy")
@pytest.mark.parametrize(("law", "pmf"), LAWS, ids=["laplace", "gaussian"])
@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.4, 2.5), (3.0, 0.7)])
@pytest.mark.parametrize("released", [-3, 0, 5, 14])
@pytest.mark.parametrize("people", [0, 1, 12])
def test_yes_among_a_public_number_of_people(law, pmf, a, b, released, people):
    found = BetaBinomial(a, b, people=people).posterior_of(latent([("x",)], [((0,), released, law, 1)]), generator=RNG)
    reference = listed(
        (people + 1, people + 1), [cell(a), cell(b)], [((0,), released, pmf, 1)], total=pooled(only(people), a + b)
    )
    agrees(found.exact["count"][0], reference.law(0))
    share_agrees(found.exact["share"][0], reference, a, lambda t: b + t[1])
    assert found.log_evidence == pytest.approx(math.log(reference.weights.sum()), abs=1e-12)
    assert found.method == "exact to 1e-15"


@pytest.mark.parametrize(("law", "pmf"), LAWS, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("weight", [1, 4])
def test_yes_and_no_and_both_were_released_and_people_are_public(law, pmf, weight):
    seen = [((0,), 5 * weight, 1), ((1,), 5 * weight + 1, weight), ((0,), 3, 1), ((0, 1), 13 * weight, weight)]
    found = BetaBinomial(1.5, 2, people=12, success=("key 0", "yes")).posterior_of(
        latent([("yes",), ("no",)], [(m, z, law, w) for m, z, w in seen]), generator=RNG
    )
    reference = listed(
        (13, 13), [cell(1.5), cell(2)], [(m, z, pmf, w) for m, z, w in seen], total=pooled(only(12), 3.5)
    )
    agrees(found.exact["count"][0], reference.law(0))
    assert found.log_evidence == pytest.approx(math.log(reference.weights.sum()), abs=1e-11)


@pytest.mark.theorem("BetaBinomial.accuracy")
@pytest.mark.parametrize(("law", "pmf"), LAWS, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("seen", [[((0,), 4), ((1,), 9)], [((0,), 4), ((0, 1), 11)], [((1,), -2), ((0,), 0)]])
def test_yes_and_no_of_an_unknown_number_of_people(law, pmf, prior, seen):
    stated, table = PRIORS[prior]
    found = BetaBinomial(1.5, 0.8, people=stated, success=("key 0", "yes")).posterior_of(
        latent([("yes",), ("no",)], [(m, z, law, 1) for m, z in seen]), generator=RNG
    )
    reference = listed((60, 60), [cell(1.5), cell(0.8)], [(m, z, pmf, 1) for m, z in seen], total=pooled(table, 2.3))
    agrees(found.exact["count"][0], reference.law(0))
    agrees(found.exact["people"][0], reference.total_law())
    share_agrees(found.exact["share"][0], reference, 1.5, lambda t: 0.8 + t[1])
    if prior == "flat":
        assert found.log_evidence is None
    else:
        assert found.log_evidence == pytest.approx(math.log(reference.weights.sum()), abs=1e-11)


@pytest.mark.theorem("BetaBinomial.accuracy")
@pytest.mark.parametrize("prior", ["poisson", "negative binomial"])
def test_yes_alone_with_a_proper_prior_of_people(prior):
    stated, table = PRIORS[prior]
    law, pmf = LAWS[0]
    found = BetaBinomial(1, 2, people=stated).posterior_of(latent([("x",)], [((0,), 4, law, 1)]), generator=RNG)
    reference = listed((60, 300), [cell(1), cell(2)], [((0,), 4, pmf, 1)], total=pooled(table, 3))
    agrees(found.exact["count"][0], reference.law(0))
    agrees(found.exact["people"][0], reference.total_law())
    share_agrees(found.exact["share"][0], reference, 1, lambda t: 2 + t[1])


@pytest.mark.theorem("BetaBinomial.accuracy")
def test_yes_alone_with_a_flat_number_of_people_says_nothing_of_the_share():
    """The heavy tail of n is cut at 200 000 in the list; the rest has a mass of about 10 / 200 000^3."""
    law, pmf = LAWS[0]
    with pytest.warns(UserWarning, match="driven by the prior"):
        found = BetaBinomial(4, 2).posterior_of(latent([("x",)], [((0,), 3, law, 1)]), generator=RNG)
    reference = listed((30, 20_000), [cell(4), cell(2)], [((0,), 3, pmf, 1)], total=lambda top: 1 / ways(top, 6))
    agrees(found.exact["count"][0], reference.law(0), 1e-9)
    share = found.exact["share"][0]
    assert share.mean == pytest.approx(reference.mean(lambda t: (4 + t[0]) / (6 + t[0] + t[1])), abs=1e-8)
    assert share.mean == pytest.approx(3 / 5)
    draws = found.drawn(1, 100_000)
    ratio = ((4 + draws["count"]) / (6 + draws["people"])).mean()  # the share again, as a mean over the counts
    assert ratio == pytest.approx(3 / 5, abs=0.005)  # 5 standard errors are below .004


@pytest.mark.theorem("DirichletMultinomial.accuracy")
@pytest.mark.parametrize(("law", "pmf"), LAWS, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("people", [3, 12])
@pytest.mark.parametrize(
    "seen",
    [
        [((0,), 2), ((1,), 3), ((2,), 5)],
        [((0,), 2), ((1,), 3)],
        [((0,), 2), ((0, 1), 4), ((2,), -1), ((2,), 3)],
        [((0, 1, 2), 9), ((0, 2), 3), ((0,), 2)],
    ],
)
def test_three_cells_of_a_public_number_of_people(law, pmf, people, seen):
    a = [1.0, 0.5, 2.0]
    cells = [("a",), ("b",), ("c",)]
    found = DirichletMultinomial(dict(zip("abc", a, strict=True)), people=people).posterior_of(
        latent(cells, [(m, z, law, 1) for m, z in seen]), generator=RNG
    )
    reference = listed(
        (people + 1,) * 3, [cell(one) for one in a], [(m, z, pmf, 1) for m, z in seen], total=pooled(only(people), 3.5)
    )
    for j in range(3):
        agrees(found.exact["count"][j], reference.law(j))
        mean = reference.mean(lambda t, j=j: (a[j] + t[j]) / (3.5 + people))
        assert found.exact["share"][j].mean == pytest.approx(mean, rel=1e-12)
    assert found.log_evidence == pytest.approx(math.log(reference.weights.sum()), abs=1e-11)


@pytest.mark.theorem("DirichletMultinomial.accuracy")
@pytest.mark.parametrize(("law", "pmf"), LAWS, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(
    "seen",
    [
        [((0,), 2), ((1,), 3), ((2,), 5)],
        [((0,), 2), ((0, 1), 4), ((2,), -1)],
        [((0, 1, 2), 9), ((0, 2), 3), ((0,), 2)],
        [((0, 1, 2), 9)],
    ],
)
def test_three_cells_of_an_unknown_number_of_people(law, pmf, prior, seen):
    stated, table = PRIORS[prior]
    found = DirichletMultinomial(0.7, people=stated).posterior_of(
        latent([("a",), ("b",), ("c",)], [(m, z, law, 1) for m, z in seen]), generator=RNG
    )
    reference = listed((50,) * 3, [cell(0.7)] * 3, [(m, z, pmf, 1) for m, z in seen], total=pooled(table, 2.1))
    for j in range(3):
        agrees(found.exact["count"][j], reference.law(j))
    agrees(found.exact["people"][0], reference.total_law())
    if prior != "flat":
        assert found.log_evidence == pytest.approx(math.log(reference.weights.sum()), abs=1e-11)


@pytest.mark.theorem("BetaBinomial.accuracy")
def test_digits_that_a_prior_of_millions_takes_are_said():
    """Logarithms of some 10^7 have a rounding of some 10^-9."""
    seen = latent([("x",)], [((0,), 10**6, DiscreteLaplace(2), 1)])
    few = BetaBinomial(1, 1, people=4 * 10**6).posterior_of(seen, generator=RNG)
    many = BetaBinomial(1e6, 3e6, people=4 * 10**6).posterior_of(seen, generator=RNG)
    assert (few.method, many.method) == ("exact to 1e-15", "exact to 1e-08")


@pytest.mark.theorem("DirichletMultinomial.accuracy")
@pytest.mark.parametrize("a", [1e-3, 1e-12, 1e-40, 1e-100])
@pytest.mark.parametrize("released", [(9, 4), (6, -3, 3), (0, 0, 1)])
def test_a_concentration_however_tiny_leaves_all_totals_possible(a, released):
    """The heaviest total before the pool is counted in may be 0, and the mass that matters lie above it."""
    noise, pmf, cells = DiscreteLaplace(0.6), laplace(0.6), len(released)
    sums = [((j,), z) for j, z in enumerate(released)]
    found = DirichletMultinomial(a).posterior_of(
        latent([(str(j),) for j in range(cells)], [(m, z, noise, 1) for m, z in sums]), generator=RNG
    )
    reference = listed(
        (26,) * cells, [cell(a)] * cells, [(m, z, pmf, 1) for m, z in sums], total=pooled(np.ones, cells * a)
    )
    for j in range(cells):
        agrees(found.exact["count"][j], reference.law(j), 1e-10)


@pytest.mark.theorem("DirichletMultinomial.accuracy")
@pytest.mark.parametrize(
    ("people", "prior", "released"),
    [
        (5, None, ((3, 0, 6, -1), (2, 7), 11)),
        (12, None, ((0, 4, 2, -1), (1, 4), 5)),
        (PoissonPeople(7), "poisson", ((4, 1, 1, 3), (5, 4), 9)),
    ],
)
def test_nested_sums_with_several_hills_are_added_up_too(people, prior, released):
    """A tiny concentration puts all people into one cell or another: no tilt is right for all of these."""
    noise, pmf = DiscreteLaplace(2), laplace(2)
    single, pairs, total = released
    sums = [((j,), z) for j, z in enumerate(single)] + [((0, 1), pairs[0]), ((2, 3), pairs[1]), ((0, 1, 2, 3), total)]
    found = DirichletMultinomial(0.001, people=people).posterior_of(
        latent([("a",), ("b",), ("c",), ("d",)], [(m, z, noise, 1) for m, z in sums]), generator=RNG
    )
    table, top = (only(people), people + 1) if prior is None else (PRIORS[prior][1], 40)
    reference = listed((top,) * 4, [cell(0.001)] * 4, [(m, z, pmf, 1) for m, z in sums], total=pooled(table, 0.004))
    for j in range(4):
        agrees(found.exact["count"][j], reference.law(j))
    assert found.log_evidence == pytest.approx(math.log(reference.weights.sum()), abs=1e-11)
    assert (found.draws["count"].sum(axis=-1) == found.draws.get("people", people)).all()


@pytest.mark.theorem("PoissonGamma.accuracy")
@pytest.mark.parametrize(("law", "pmf"), LAWS, ids=["laplace", "gaussian"])
@pytest.mark.parametrize("seen", [[((0,), 2), ((1,), 5)], [((0,), 2), ((1,), 5), ((0, 1), 4)], [((0, 1), 9)]])
def test_rates_with_and_without_a_total(law, pmf, seen):
    found = PoissonGamma(shape=1.5, rate=2, exposures={"a": 3, "b": 0.5}).posterior_of(
        latent([("a",), ("b",)], [(m, z, law, 1) for m, z in seen]), generator=RNG
    )

    def negative_binomial(q):
        return lambda top: ways(top, 1.5) * q ** np.arange(top) * (1 - q) ** 1.5

    reference = listed((80, 60), [negative_binomial(3 / 5), negative_binomial(0.2)], [(m, z, pmf, 1) for m, z in seen])
    for j, exposure in enumerate((3, 0.5)):
        agrees(found.exact["count"][j], reference.law(j))
        mean = reference.mean(lambda t, j=j, e=exposure: (1.5 + t[j]) / (2 + e))
        assert found.exact["rate"][j].mean == pytest.approx(mean, rel=1e-12)
    assert found.log_evidence == pytest.approx(math.log(reference.weights.sum()), abs=1e-11)


def test_two_groups_with_a_common_total():
    """An A/B test whose first group has a public size; the total of all people was released too."""
    law, pmf = LAWS[0]
    cells = [("a", "yes"), ("a", "no"), ("b", "yes"), ("b", "no")]
    seen = [((0,), 3), ((2,), 4), ((3,), 2), ((0, 1, 2, 3), 15)]
    model = BetaBinomial(1, 2, people={"a": 7, "b": None}, success=("key 1", "yes"))
    found = model.posterior_of(latent(cells, [(m, z, law, 1) for m, z in seen]), generator=RNG)
    reference = listed((8, 8, 30, 30), [cell(1), cell(2)] * 2, [(m, z, pmf, 1) for m, z in seen])
    counts = reference.counts
    reference.weights *= (counts[0] + counts[1] == 7) / ways(60, 3)[counts[2] + counts[3]]
    agrees(found.exact["count"][0], reference.law(0))
    agrees(found.exact["count"][1], reference.law(2))
    share_agrees(found.exact["share"][1], type(reference)(np.moveaxis(reference.weights, 2, 0)), 1, lambda t: 2 + t[3])
    assert found.exact["people"][1].mean == pytest.approx(reference.mean(lambda t: t[2] + t[3]), rel=1e-12)
    assert found.exact["people"][0].quantile(0.3) == 7


def test_totals_of_yes_over_groups_of_public_size():
    law, pmf = LAWS[1]
    cells = [("a", "yes"), ("a", "no"), ("b", "yes"), ("b", "no")]
    seen = [((0,), 3), ((0, 2), 9), ((1, 3), 6), ((3,), 4)]
    model = BetaBinomial(1, 2, people={"a": 7, "b": 9}, success=("key 1", "yes"))
    found = model.posterior_of(latent(cells, [(m, z, law, 1) for m, z in seen]), generator=RNG)
    reference = listed((8, 8, 10, 10), [cell(1), cell(2)] * 2, [(m, z, pmf, 1) for m, z in seen])
    counts = reference.counts
    reference.weights *= (counts[0] + counts[1] == 7) * (counts[2] + counts[3] == 9) / ways(20, 3)[7] / ways(20, 3)[9]
    agrees(found.exact["count"][0], reference.law(0))
    agrees(found.exact["count"][1], reference.law(2))
    assert found.log_evidence == pytest.approx(math.log(reference.weights.sum()), abs=1e-11)
