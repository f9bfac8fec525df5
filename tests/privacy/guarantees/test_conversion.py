"""Conversion as a whole: what is refused and why, what implies what, and that nothing is gained on the way."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import MissingParameter, NoSoundConversion, ParameterError, RelationMismatch
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, Relation, RenyiDP, convert, implies

sizes = st.floats(0.0, 30.0)
chances = st.floats(0.0, 1.0)
with_worst_pair = st.one_of(st.builds(PureDP, sizes), st.builds(ApproxDP, sizes, chances), st.builds(GaussianDP, sizes))
guarantees = st.one_of(
    with_worst_pair, st.builds(ZCDP, sizes, chances), st.builds(RenyiDP, st.floats(1.01, 100.0), sizes)
)
targets = st.sampled_from(
    [
        (PureDP, {}),
        (ApproxDP, {"delta": 1e-5}),
        (ApproxDP, {"delta": 0.3}),
        (ZCDP, {}),
        (ZCDP, {"delta": 0.01}),
        (RenyiDP, {"alpha": 3}),
        (RenyiDP, {"alpha": 50.5}),
        (GaussianDP, {}),
    ]
)

REFUSED = [
    (ApproxDP(1, 1e-6), PureDP, {}, "rare outcomes"),
    (ApproxDP(1, 1e-6), GaussianDP, {}, "complete disclosure"),
    (ApproxDP(1, 1e-6), GaussianDP, {"delta": 1e-9}, "larger delta"),
    (ApproxDP(1, 1e-6), RenyiDP, {"alpha": 2}, "may be infinite"),
    (ApproxDP(1, 1e-6), ApproxDP, {"delta": 1e-9}, "larger delta"),
    (ApproxDP(1, 1e-6), ZCDP, {"delta": 1e-9}, "larger delta"),
    (ZCDP(1), PureDP, {}, "rare outcomes"),
    (ZCDP(1), ApproxDP, {"delta": 0}, "larger delta"),
    (ZCDP(1, 1e-6), ApproxDP, {"delta": 1e-6}, "larger delta"),
    (ZCDP(1, 1e-6), ApproxDP, {"delta": 1e-9}, "larger delta"),
    (ZCDP(1, 1e-6), ZCDP, {"delta": 1e-9}, "larger delta"),
    (ZCDP(1, 1e-6), RenyiDP, {"alpha": 2}, "may be infinite"),
    (ZCDP(1, 1e-6), GaussianDP, {}, "complete disclosure"),
    (ZCDP(1, 1e-6), GaussianDP, {"delta": 1e-9}, "larger delta"),
    (GaussianDP(1, 1e-6), GaussianDP, {"delta": 1e-9}, "larger delta"),
    (GaussianDP(1, 1e-6), ApproxDP, {"delta": 1e-6}, "larger delta"),
    (GaussianDP(1, 1e-6), RenyiDP, {"alpha": 2}, "may be infinite"),
    (RenyiDP(2, 1), PureDP, {}, "rare outcomes"),
    (RenyiDP(2, 1), RenyiDP, {"alpha": 2.5}, "higher order"),
    (RenyiDP(2, 1), ZCDP, {}, "one order only"),
    (RenyiDP(2, 1), GaussianDP, {}, "exponential tail"),
    (GaussianDP(1), PureDP, {}, "rare outcomes"),
    (GaussianDP(1), ApproxDP, {"delta": 0}, "larger delta"),
]


@pytest.mark.theorem("convert.privacy")
@pytest.mark.parametrize(("source", "target", "arguments", "reason"), REFUSED)
def test_what_does_not_follow_is_refused_with_the_reason(source, target, arguments, reason):
    with pytest.raises(NoSoundConversion, match=reason):
        convert(source, target, **arguments)


@pytest.mark.theorem("convert.privacy", "implies.privacy")
@given(guarantees, targets)
def test_what_was_converted_is_implied_by_its_source(source, target):
    notion, arguments = target
    try:
        found = convert(source, notion, **arguments)
    except (NoSoundConversion, MissingParameter):
        return
    assert source.implies(found)


@pytest.mark.theorem("convert.privacy")
@given(with_worst_pair, targets, targets)
def test_a_detour_never_gains_over_the_direct_way_where_the_worst_pair_is_known(source, first, second):
    try:
        through = convert(convert(source, first[0], **first[1]), second[0], **second[1])
    except (NoSoundConversion, MissingParameter):
        return
    granted = {"delta": through.delta} if second[0] is ZCDP else second[1]
    try:
        direct = convert(source, second[0], **granted)
    except NoSoundConversion:
        pytest.fail(f"{source!r} reached {through!r} on a detour that the direct way refuses")
    assert strength(direct) <= strength(through) * (1 + 1e-9) + 1e-300


def strength(guarantee: Guarantee) -> float:
    """Return the number that is compared between guarantees of one notion at equal delta and order."""
    names = {PureDP: "epsilon", ApproxDP: "epsilon", ZCDP: "rho", RenyiDP: "epsilon", GaussianDP: "mu"}
    return float(getattr(guarantee, names[type(guarantee)]))


@pytest.mark.theorem("implies.privacy")
@given(guarantees, st.floats(0.0, 1.0))
def test_every_guarantee_implies_itself_and_its_weakenings_but_nothing_stronger(guarantee, more):
    assert guarantee.implies(guarantee)
    weaker = {PureDP: "epsilon", ApproxDP: "epsilon", ZCDP: "rho", RenyiDP: "epsilon", GaussianDP: "mu"}[
        type(guarantee)
    ]
    values = dict(guarantee._parameters())
    assert guarantee.implies(type(guarantee)(**{**values, weaker: values[weaker] + more}))
    if values[weaker] > 1e-3 and values.get("delta", 0) < 0.5:
        assert not guarantee.implies(type(guarantee)(**{**values, weaker: values[weaker] * 0.5}))


@given(guarantees, guarantees, guarantees)
def test_implication_is_transitive(first, second, third):
    if first.implies(second) and second.implies(third):
        assert first.implies(third)


@pytest.mark.theorem("convert.privacy")
@pytest.mark.parametrize("nothing", [PureDP(0), ApproxDP(0, 0), ZCDP(0), RenyiDP(7, 0), GaussianDP(0)])
def test_perfect_privacy_in_any_notion_is_perfect_in_every_other(nothing):
    assert convert(nothing, PureDP).epsilon == 0
    assert convert(nothing, ApproxDP) == ApproxDP(0, 0)
    assert convert(nothing, ZCDP) == ZCDP(0)
    assert convert(nothing, RenyiDP, alpha=99).epsilon == 0
    assert convert(nothing, GaussianDP).mu == 0


def test_a_guarantee_without_delta_is_its_pure_or_concentrated_self():
    assert convert(ApproxDP(Fraction(1, 3), 0), PureDP) == PureDP(Fraction(1, 3))
    assert convert(ApproxDP(1, 0), GaussianDP) == PureDP(1).to_gaussian()
    assert convert(ZCDP(0, 0.01), ApproxDP) == ApproxDP(0, 0.01)
    assert convert(PureDP(1), ApproxDP) == ApproxDP(1, 0)


def test_a_granted_delta_buys_a_smaller_rho():
    for source in (PureDP(1), GaussianDP(1), ZCDP(0.5), ApproxDP(1, 1e-6)):
        assert convert(source, ZCDP, delta=0.4).rho < convert(source, ZCDP).rho
        assert convert(source, ZCDP, delta=0.4).delta == 0.4


def test_what_is_missing_or_misplaced_is_named():
    with pytest.raises(MissingParameter, match="pass delta="):
        ZCDP(1).to_approx()
    with pytest.raises(MissingParameter, match="pass alpha="):
        PureDP(1).to_renyi()
    with pytest.raises(ParameterError, match="delta is for"):
        convert(PureDP(1), RenyiDP, alpha=2, delta=0.1)
    with pytest.raises(ParameterError, match="alpha is for"):
        convert(PureDP(1), ZCDP, alpha=2)
    with pytest.raises(ParameterError, match="to must be"):
        convert(PureDP(1), Guarantee)
    with pytest.raises(ParameterError, match="not float"):
        convert(1.0, ZCDP)
    with pytest.raises(ParameterError, match="not int"):
        implies(PureDP(1), 1)


@pytest.mark.theorem("implies.privacy")
def test_a_guarantee_for_one_relation_is_concluded_from_the_same_relation_only():
    stated = PureDP(1, relation=Relation.ADD_REMOVE)
    assert stated.implies(PureDP(1, relation=Relation.ADD_REMOVE))
    assert stated.implies(PureDP(1))
    with pytest.raises(RelationMismatch, match="group_privacy"):
        stated.implies(PureDP(5, relation=Relation.CHANGE_ONE))
    with pytest.raises(RelationMismatch, match="State it"):
        PureDP(1).implies(stated)


@given(guarantees, targets)
def test_conversion_is_deterministic_and_weaker_sources_give_weaker_results(guarantee, target):
    notion, arguments = target
    name = {PureDP: "epsilon", ApproxDP: "epsilon", ZCDP: "rho", RenyiDP: "epsilon", GaussianDP: "mu"}[type(guarantee)]
    values = dict(guarantee._parameters())
    weaker = type(guarantee)(**{**values, name: values[name] * 1.5 + 0.01})
    try:
        low, high = convert(guarantee, notion, **arguments), convert(weaker, notion, **arguments)
    except (NoSoundConversion, MissingParameter):
        return
    assert low == convert(guarantee, notion, **arguments)
    assert strength(low) <= strength(high) * (1 + 1e-9)
