"""Group privacy: chains of neighbors, exactly."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import NoSoundConversion, ParameterError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP, group_privacy
from discreet.privacy.pairs.worst_pairs import NormalPair
from tests.privacy.reference import ORDERS, at_most, ball, exp, hockey_stick, law, renyi

guarantees = st.one_of(
    st.builds(PureDP, st.floats(0.0, 5.0)),
    st.builds(ApproxDP, st.floats(0.0, 5.0), st.floats(0.0, 0.1)),
    st.builds(ZCDP, st.floats(0.0, 5.0)),
    st.builds(GaussianDP, st.floats(0.0, 5.0)),
)


@given(guarantees)
def test_a_group_of_one_changes_nothing(guarantee):
    assert group_privacy(guarantee, 1) == guarantee


@given(guarantees, st.integers(1, 20))
def test_a_larger_group_is_guaranteed_no_more(guarantee, size):
    assert group_privacy(guarantee, size).implies(group_privacy(guarantee, size + 1))


@given(guarantees, st.integers(1, 5), st.integers(1, 5))
def test_groups_of_groups_are_groups(guarantee, inner, outer):
    nested, direct = group_privacy(group_privacy(guarantee, inner), outer), group_privacy(guarantee, inner * outer)
    for (_, one), (_, other) in zip(nested._parameters(), direct._parameters(), strict=True):
        assert float(one) == pytest.approx(float(other), rel=1e-12)


@pytest.mark.theorem("group_privacy.privacy")
@given(st.floats(0.01, 1.5), st.integers(2, 6))
def test_a_chain_of_shifted_geometric_laws_attains_the_pure_group_guarantee(epsilon, size):
    laws = [law(*(exp(-epsilon * abs(y - center)) for y in range(-5, 30))) for center in range(size + 1)]
    total = group_privacy(PureDP(epsilon * (1 + 1e-12)), size).epsilon
    assert at_most(hockey_stick(laws[0], laws[1], epsilon * (1 + 1e-12)), 1.0)
    ratio = max(float((a / b).log()) for a, b in zip(laws[0], laws[-1], strict=True))
    step = max(abs(float((a / b).log())) for a, b in zip(laws[0], laws[1], strict=True))
    assert ratio <= group_privacy(PureDP(step * (1 + 1e-12)), size).epsilon
    assert total == pytest.approx(size * epsilon)


@pytest.mark.theorem("group_privacy.privacy")
@given(st.floats(0.0, 1.0), st.floats(1e-6, 0.02), st.integers(1, 6))
def test_a_chain_that_loses_delta_at_every_step_attains_the_group_delta(epsilon, delta, size):
    # weight m_i on one outcome with m_i = e^epsilon m_(i+1) + delta: each step is (epsilon, delta)-DP on that event
    masses = [ball(0)]
    for _ in range(size):
        masses.append(exp(epsilon) * masses[-1] + ball(delta))
    if masses[-1] >= 1:
        return
    laws = [[mass, 1 - mass] for mass in masses]
    for second, first in pairwise(laws):
        assert at_most(hockey_stick(first, second, epsilon), delta, slack=1e-30)
    found = group_privacy(ApproxDP(epsilon, delta), size)
    truth = hockey_stick(laws[-1], laws[0], found.epsilon)
    assert at_most(truth, found.delta)
    assert float(truth) == pytest.approx(float(found.delta), rel=1e-9)


@pytest.mark.theorem("group_privacy.privacy")
@given(st.floats(0.0, 3.0), st.floats(1e-12, 1e-3), st.integers(1, 10))
def test_the_group_delta_is_at_most_the_textbooks(epsilon, delta, size):
    textbook = size * math.exp((size - 1) * epsilon) * delta
    assert group_privacy(ApproxDP(epsilon, delta), size).delta <= min(textbook * (1 + 1e-12), 1.0)


@pytest.mark.theorem("group_privacy.privacy")
@given(st.floats(0.05, 2.0), st.integers(2, 5))
def test_shifted_normals_attain_the_group_guarantees_of_zcdp_and_gaussian(mu, size):
    far = NormalPair(size * mu)
    grouped = group_privacy(GaussianDP(mu), size)
    assert far.delta(1.0).lower <= NormalPair(grouped.mu).delta(1.0).upper
    assert grouped.mu == pytest.approx(size * mu, rel=1e-15)
    assert group_privacy(GaussianDP(mu).to_zcdp(), size).rho == pytest.approx((size * mu) ** 2 / 2, rel=1e-14)


@pytest.mark.theorem("group_privacy.privacy")
@given(st.lists(st.lists(st.integers(1, 100), min_size=3, max_size=3), min_size=3, max_size=4))
def test_chains_of_concentrated_laws_keep_the_squared_guarantee(weights):
    laws = [law(*row) for row in weights]
    steps = list(pairwise(laws))
    orders = ORDERS[::6]
    rho = max(float(renyi(*pair, alpha)) / alpha for a, b in steps for pair in ((a, b), (b, a)) for alpha in orders)
    total = group_privacy(ZCDP(rho * 1.001 + 1e-30), len(steps)).rho
    for alpha in orders:
        assert at_most(renyi(laws[0], laws[-1], alpha), ball(total) * ball(alpha))


@pytest.mark.parametrize("guarantee", [RenyiDP(2, 1), ZCDP(1, 1e-6)])
def test_notions_without_a_group_guarantee_are_refused_with_what_to_use(guarantee):
    with pytest.raises(NoSoundConversion, match="ApproxDP"):
        group_privacy(guarantee, 2)


def test_the_group_delta_is_capped_and_survives_a_huge_epsilon():
    assert group_privacy(ApproxDP(700, 1e-9), 5).delta == 1.0
    assert group_privacy(ApproxDP(1e300, 1e-9), 2).delta == 1.0
    assert group_privacy(ApproxDP(1e-300, 1e-9), 3).delta == pytest.approx(3e-9, rel=1e-15)
    assert group_privacy(ApproxDP(0, 0.4), 3).delta == 1.0
    assert group_privacy(ApproxDP(3, 0), 3) == ApproxDP(9, 0)


@pytest.mark.parametrize("size", [0, -1, 2.0, True, "2", None, math.nan])
def test_sizes_that_are_no_counts_are_refused(size):
    with pytest.raises(ParameterError) as caught:
        group_privacy(PureDP(1), size)
    assert caught.value.parameter == "group_size"


def test_the_relation_is_kept_and_two_steps_make_a_change():
    grouped = group_privacy(PureDP(1, relation=Relation.ADD_REMOVE), 2)
    assert grouped.relation is Relation.ADD_REMOVE
    assert grouped.under(Relation.CHANGE_ONE) == PureDP(2, relation=Relation.CHANGE_ONE)
